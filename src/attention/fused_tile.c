/* SPDX-License-Identifier: MIT
 *
 * One tile: scores with everything that position adds to them, weights, and their share of the output. */
#include "attention/fused.h"

void tile_queries(const fused *f, const tile *t, float *qs)
{
    for (int64_t r = 0; r < t->heads * t->m; r++) {
        float *to = qs + r * f->Dp;
        f->k->widen(to, f->q + ((t->h + r / t->m) * f->Tq + t->i + r % t->m) * f->D, PE_F32, f->D);
        for (int64_t d = f->D; d < f->Dp; d++)
            to[d] = 0;
        f->k->scale(to, (float)f->p.scale, f->D);
        lookups_fold(f, to, t->h + r / t->m);
    }
}

void tile_begin(const fused *f, scratch *s, const tile *t, state *st)
{
    int64_t rows = t->heads * t->m;
    for (int64_t r = 0; r < rows; r++) {
        st->max[r] = -INFINITY;
        st->sum[r] = 0;
    }
    for (int64_t n = 0; n < rows * f->Dw; n++)
        st->O[n] = 0;
    lookups_begin(f, s);
    if (f->count)
        lookups_counts(f, s, t);
}

/* Queries and keys each have magnitudes about a place of their own tile: y = x times what lies between the two. */
void tile_recentre(const fused *f, const tile *t, float *y, const float *x)
{
    const part *p = f->p.turns;
    float factor[PE_HEAD_DIM_MAX];
    double apart = (double)(f->q_shift[t->i / BQ] - f->k_shift[t->j / BK]);
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
        f->k->dots(s->S + j, BK, qs, f->Dp, t->heads * t->m, r.data, r.type, r.stride, n, f->D);
    }
}

static void products(const fused *f, scratch *s, const tile *t, const keys *k, const float *qs)
{
    if (f->p.recentres) {
        tile_recentre(f, t, s->qa, qs);
        qs = s->qa;
    }
    if (f->direct) {
        products_direct(f, s, t, k, qs);
        return;
    }
    for (int64_t p = 0; p * PANEL < t->n; p++)
        f->k->gemm(s->S + p * PANEL, BK, qs, f->Dp, 1, k->kt + p * f->D * PANEL, PANEL, t->heads * t->m, PANEL, f->D,
                   false);
}

/* What is hidden stays so, whatever the query has for it. */
static double count_keys(const fused *f, scratch *s, int64_t r, int64_t n, double carry)
{
    float *score = s->S + r * BK;
    if (s->counts_odd)
        f->k->widen(s->row, score, PE_F32, n);
    carry = f->k->count(score, s->gate + r * BK, n, carry, s->counts + r * f->count_columns, f->count_last);
    for (int64_t j = 0; s->counts_odd && j < n; j++)
        score[j] = s->row[j] == -INFINITY ? s->row[j] : score[j];
    return carry;
}

void tile_scores(const fused *f, scratch *s, const tile *t, const keys *k, const float *qs, state *st, sight what)
{
    int64_t rows = t->heads * t->m;
    products(f, s, t, k, qs);
    for (int64_t r = 0; f->count && r < rows; r++)
        f->k->sigmoid(s->gate + r * BK, s->S + r * BK, (float)(f->count->count.scale / f->p.scale), t->n);
    lookups_add(f, s, t, k, true);
    lines_add(f, s, t, true);
    for (int64_t r = 0; f->p.a.soft_cap > 0 && r < rows; r++)
        f->k->cap(s->S + r * BK, (float)f->p.a.soft_cap, t->n);
    for (int64_t r = 0; f->p.a.soft_cap > 0 && f->backward && r < rows; r++)
        f->k->widen(s->capped + r * BK, s->S + r * BK, PE_F32, t->n);
    lookups_add(f, s, t, k, false);
    lines_add(f, s, t, false);
    mask_scores(f, s, t, what, s->gate);
    for (int64_t r = 0; f->count && r < rows; r++)
        st->carry[r] = count_keys(f, s, r, t->n, st->carry[r]);
}

/* Values that are not finite stand apart: 0 in the product, so that a weight of 0 hides them and all else keeps its
 * bits, then one by one where they weigh something. */
static void mix_odd(const fused *f, scratch *s, const tile *t, const keys *k, float *O)
{
    int64_t rows = t->heads * t->m, Dw = f->Dw;
    for (int64_t n = 0; n < t->n * Dw; n++)
        s->tame[n] = isfinite(k->v[n]) ? k->v[n] : 0;
    f->k->gemm(O, Dw, s->S, BK, 1, s->tame, Dw, rows, Dw, t->n, true);
    for (int64_t n = 0; n < t->n * Dw; n++)
        for (int64_t r = 0; !isfinite(k->v[n]) && r < rows; r++)
            if (s->S[r * BK + n / Dw] != 0)
                O[r * Dw + n % Dw] += s->S[r * BK + n / Dw] * k->v[n];
}

/* Values where they lie, stretch by stretch. */
static void mix_direct(const fused *f, scratch *s, const tile *t, const keys *k, float *O)
{
    for (int64_t j = 0, n; j < t->n; j += n) {
        n = t->n - j;
        kv_rows r = ready_rows(f, s, true, k, j, &n);
        f->k->mix(O, f->Dw, s->S + j, BK, t->heads * t->m, r.data, r.type, r.stride, n, f->Dv);
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
    if (f->direct)
        mix_direct(f, s, t, k, st->O);
    else if (k->odd)
        mix_odd(f, s, t, k, st->O);
    else
        f->k->gemm(st->O, f->Dw, s->S, BK, 1, k->v, f->Dw, rows, f->Dw, t->n, true);
    lookups_mix(f, s, t, st->O);
}
