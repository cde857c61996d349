/* SPDX-License-Identifier: MIT
 *
 * One tile: scores with everything that position adds to them, weights, and their share of the output. */
#include "attention/fused.h"

void tile_queries(const fused *f, const tile *t, float *qs)
{
    ready_raise(f, qs, t, f->ready.q, f->D, f->Dp, NULL, f->q_scale);
    if (f->bf16)
        ready_along(f, qs, qs, t->heads * t->m, f->Dp, f->Dp);
}

void tile_begin(const fused *f, scratch *s, const tile *t)
{
    const term_kind *kind;
    for (int n = 0; (kind = kind_next(f, &n));)
        if (kind->begin)
            kind->begin(f, s, t);
}

void tile_clear(const fused *f, const tile *t, state *st)
{
    int64_t rows = t->heads * t->m;
    for (int64_t r = 0; r < rows; r++) {
        st->max[r] = -INFINITY;
        st->sum[r] = 0;
    }
    clear_floats(st->O, rows * f->Dw);
}

/* Queries and keys each have magnitudes about a place of their own tile: y = x times what lies between the two. */
void tile_recentre(const fused *f, const tile *t, float *y, const float *x)
{
    const part *p = f->p.rotating;
    float factor[PE_HEAD_DIM_MAX];
    double apart = (double)(f->ready.q_shift[t->i / BQ] - f->ready.k_shift[t->j / BK]);
    for (int64_t d = 0; d < f->Dp; d++)
        factor[d] = 1;
    for (int64_t n = 0; n < p->pairs; n++)
        factor[p->to[n].x] = factor[p->to[n].y] = fused_small((float)exp(p->decay[n] * apart));
    for (int64_t r = 0; r < t->heads * t->m; r++)
        for (int64_t d = 0; d < f->Dp; d++)
            y[r * f->Dp + d] = x[r * f->Dp + d] * factor[d];
}

/* Keys where they lie, stretch by stretch. */
static void products_direct(const fused *f, scratch *s, const tile *t, const keys *k, const float *qs)
{
    for (int64_t j = 0, n; j < t->n; j += n) {
        n = t->n - j;
        kv_rows r = ready_rows(f, s, false, k, j, &n);
        f->k->dots(s->S + j, BK, qs, f->Dp, t->heads * t->m, r.data, r.type, r.stride, n, f->D, r.soon);
    }
}

static void products(const fused *f, scratch *s, const tile *t, const keys *k, const float *qs)
{
    const term_kind *kind;
    if (f->p.recentres) {
        tile_recentre(f, t, s->qa, qs);
        qs = s->qa;
    }
    for (int n = 0; (kind = kind_next(f, &n));)
        if (kind->meet)
            qs = kind->meet(f, s, t, qs);
    if (f->direct) {
        products_direct(f, s, t, k, qs);
        return;
    }
    int64_t rows = t->heads * t->m, depth = fused_places(f, f->D);
    for (int64_t p = 0; p * PANEL < t->n; p++)
        f->gemm(s->S + p * PANEL, BK, qs, f->Dp, 1, k->kt + p * depth * PANEL, PANEL, rows, PANEL, depth, false);
    for (int64_t r = 0; f->s_scale != 1 && r < rows; r++)
        f->k->scale(s->S + r * BK, f->s_scale, t->n);
}

static void add_terms(const fused *f, scratch *s, const tile *t, const keys *k, state *st, moment when)
{
    const term_kind *kind;
    for (int n = 0; (kind = kind_next(f, &n));)
        kind->add(f, s, t, k, st, when);
}

void tile_scores(const fused *f, scratch *s, const tile *t, const keys *k, const float *qs, state *st, sight what)
{
    int64_t rows = f->p.a.soft_cap > 0 ? t->heads * t->m : 0;
    products(f, s, t, k, qs);
    add_terms(f, s, t, k, st, AT_PRODUCT);
    add_terms(f, s, t, k, st, AT_BEFORE);
    for (int64_t r = 0; r < rows; r++)
        f->k->cap(s->S + r * BK, (float)f->p.a.soft_cap, t->n);
    for (int64_t r = 0; f->backward && r < rows; r++)
        f->k->widen(s->capped + r * BK, s->S + r * BK, PE_F32, t->n);
    add_terms(f, s, t, k, st, AT_AFTER);
    mask_scores(f, s, t, what, s->gate);
    add_terms(f, s, t, k, st, AT_MASKED);
}

/* Values that are not finite stand apart: 0 in the product, so that a weight of 0 hides them and all else keeps its
 * bits, and one by one where they weigh something. */
static const float *tame_values(const fused *f, scratch *s, const tile *t, const keys *k, float *O)
{
    pe_dtype type = f->bf16 ? PE_BF16 : PE_F32;
    int64_t rows = t->heads * t->m, Dw = f->Dw, apart = f->bf16 ? 2 : 1;
    f->k->widen(s->tame, k->v, PE_F32, fused_places(f, t->n) * Dw);
    for (int64_t n = 0; n < t->n * Dw; n++) {
        int64_t j = n / Dw, d = n % Dw, at = (j / apart * Dw + d) * apart + j % apart;
        float x = (float)num_load(k->v, type, at);
        if (isfinite(x))
            continue;
        num_store(s->tame, type, at, 0);
        for (int64_t r = 0; r < rows; r++)
            if (s->S[r * BK + j] != 0)
                O[r * Dw + d] += s->S[r * BK + j] * x;
    }
    return s->tame;
}

/* In bfloat16 the weights are used up. */
static void mix_packed(const fused *f, scratch *s, const tile *t, const keys *k, float *O)
{
    int64_t rows = t->heads * t->m;
    const float *v = k->odd ? tame_values(f, s, t, k, O) : k->v;
    if (f->bf16)
        ready_along(f, s->S, s->S, rows, t->n, BK);
    f->gemm(O, f->Dw, s->S, BK, 1, v, f->Dw, rows, f->Dw, fused_places(f, t->n), true);
}

/* Values where they lie, stretch by stretch. */
static void mix_direct(const fused *f, scratch *s, const tile *t, const keys *k, float *O)
{
    for (int64_t j = 0, n; j < t->n; j += n) {
        n = t->n - j;
        kv_rows r = ready_rows(f, s, true, k, j, &n);
        f->k->mix(O, f->Dw, s->S + j, BK, t->heads * t->m, r.data, r.type, r.stride, n, f->Dv, r.soon);
    }
}

void tile_step(const fused *f, scratch *s, const tile *t, const keys *k, const float *qs, state *st)
{
    sight what = mask_tile(f, t);
    int64_t rows = t->heads * t->m;
    if (what == SEES_NONE)
        return;
    tile_scores(f, s, t, k, qs, st, what);
    for (int64_t r = 0; r < rows; r++) {
        float factor, sum = f->k->soften(s->S + r * BK, up_to(t->n, LANES), &st->max[r], &factor);
        st->sum[r] = st->sum[r] * (double)factor + (double)sum;
        if (factor != 1)
            f->k->scale(st->O + r * f->Dw, factor, f->Dw);
    }
    const term_kind *kind;
    for (int n = 0; (kind = kind_next(f, &n));)
        if (kind->mix)
            kind->mix(f, s, t, st->O);
    if (f->direct)
        mix_direct(f, s, t, k, st->O);
    else
        mix_packed(f, s, t, k, st->O);
}
