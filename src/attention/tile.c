/* SPDX-License-Identifier: MIT
 *
 * One tile: scores with everything that position adds to them, weights, and their share of the output. */
#include "attention/fused.h"
#include "kernels/turn.h"

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

/* Queries and keys were each turned about a place of their own tile: what lies between the two places. */
const float *tile_recentred(const fused *f, scratch *s, const tile *t, const float *qs)
{
    const part *p = f->p.turns;
    double apart = (double)(f->q_shift[t->i / BQ] - f->k_shift[t->j / BK]);
    f->k->widen(s->qa, qs, PE_F32, t->heads * t->m * f->Dp);
    for (int64_t n = 0; n < p->pairs; n++) {
        double cosine, sine, factor = exp(p->decay[n] * apart);
        turn_cos_sin(apart, p->pair[n].frequency, &cosine, &sine);
        float c = (float)(factor * cosine), w = (float)(factor * sine);
        for (int64_t r = 0; r < t->heads * t->m; r++) {
            float *x = &s->qa[r * f->Dp + p->to[n].x], *y = &s->qa[r * f->Dp + p->to[n].y], a = *x;
            *x = a * c - *y * w;
            *y = a * w + *y * c;
        }
    }
    return s->qa;
}

void tile_recentred_back(const fused *f, scratch *s, const tile *t)
{
    const part *p = f->p.turns;
    double apart = (double)(f->q_shift[t->i / BQ] - f->k_shift[t->j / BK]);
    for (int64_t n = 0; n < p->pairs; n++) {
        double cosine, sine, factor = exp(p->decay[n] * apart);
        turn_cos_sin(apart, p->pair[n].frequency, &cosine, &sine);
        float c = (float)(factor * cosine), w = (float)(factor * sine);
        for (int64_t r = 0; r < t->m; r++) {
            float *x = &s->dqt[r * f->Dp + p->to[n].x], *y = &s->dqt[r * f->Dp + p->to[n].y], a = *x;
            *x = a * c + *y * w;
            *y = *y * c - a * w;
        }
    }
    f->k->add(s->dqs, s->dqt, t->m * f->Dp);
}

static void products(const fused *f, scratch *s, const tile *t, const keys *k, const float *qs)
{
    int64_t rows = t->heads * t->m;
    if (f->p.recentres)
        qs = tile_recentred(f, s, t, qs);
    if (f->direct) {
        f->k->dots(s->S, BK, qs, f->Dp, rows, k->k, k->k_type, k->k_row, t->n, f->D);
        return;
    }
    for (int64_t p = 0; p * PANEL < t->n; p++)
        f->k->gemm(s->S + p * PANEL, BK, qs, f->Dp, 1, k->kt + p * f->D * PANEL, PANEL, rows, PANEL, f->D, false);
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
    for (int64_t n = 0; f->p.a.soft_cap > 0 && f->backward && n < rows * BK; n++)
        s->capped[n] = s->S[n];
    lookups_add(f, s, t, k, false);
    lines_add(f, s, t, false);
    mask_scores(f, s, t, what, s->gate);
    for (int64_t r = 0; f->count && r < rows; r++)
        st->carry[r] = f->k->count(s->S + r * BK, s->gate + r * BK, t->n, st->carry[r],
                                   s->counts + r * f->count_columns, f->count_last);
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
        f->k->mix(st->O, f->Dw, s->S, BK, rows, k->v_raw, k->v_type, k->v_row, t->n, f->Dv);
    else
        (k->odd ? gemm_c : f->k->gemm)(st->O, f->Dw, s->S, BK, 1, k->v, f->Dw, rows, f->Dw, t->n, true);
    lookups_mix(f, s, t, st->O);
}
