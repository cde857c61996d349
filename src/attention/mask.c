/* SPDX-License-Identifier: MIT
 *
 * Which keys a query sees: a range of indices (causal, window), and what is hidden inside it. */
#include "attention/fused.h"

#include <float.h>

void mask_range(const fused *f, int64_t i, int64_t *low, int64_t *high)
{
    const pe_mask *m = &f->p.a.mask;
    int64_t at = i + f->offset;
    *low = 0;
    *high = f->Tk;
    if (m->causal && at + 1 < *high)
        *high = at + 1;
    if (m->window && at >= m->window)
        *low = at - m->window + 1;
    if (m->window && at < f->Tk - m->window && at + m->window < *high)
        *high = at + m->window;
    if (*high < 0)
        *high = 0;
    if (*low > *high)
        *low = *high;
}

bool mask_sees(const fused *f, int64_t h, int64_t i, int64_t j)
{
    const pe_mask *m = &f->p.a.mask;
    if (m->key_used && !m->key_used[j])
        return false;
    if (m->q_segment && m->q_segment[i] != m->k_segment[j])
        return false;
    return !m->additive.data || vec_get(row_vec(m->additive, i, m->additive.heads == 1 ? 0 : h), j) != -INFINITY;
}

/* Whether some pair of these queries and keys can share a segment, as far as the ends of both ranges tell. */
static bool segments_meet(const pe_mask *m, const tile *t)
{
    int64_t q_low = m->q_segment[t->i], q_high = q_low, k_low = m->k_segment[t->j], k_high = k_low;
    for (int64_t i = 1; i < t->m; i++) {
        int64_t s = m->q_segment[t->i + i];
        q_low = s < q_low ? s : q_low;
        q_high = s > q_high ? s : q_high;
    }
    for (int64_t j = 1; j < t->n; j++) {
        int64_t s = m->k_segment[t->j + j];
        k_low = s < k_low ? s : k_low;
        k_high = s > k_high ? s : k_high;
    }
    return q_low <= k_high && k_low <= q_high;
}

/* Ranges move right from query to query: the first and the last tell. */
sight mask_tile(const fused *f, const tile *t)
{
    int64_t first_low, first_high, last_low, last_high;
    mask_range(f, t->i, &first_low, &first_high);
    mask_range(f, t->i + t->m - 1, &last_low, &last_high);
    if (last_high <= t->j || first_low >= t->j + t->n)
        return SEES_NONE;
    if (f->p.a.mask.q_segment && !segments_meet(&f->p.a.mask, t))
        return SEES_NONE;
    bool whole = last_low <= t->j && first_high >= t->j + t->n && t->n % LANES == 0;
    return whole && f->plain_mask ? SEES_ALL : SEES_SOME;
}

static void hide(float *s, float *gate, int64_t from, int64_t to)
{
    for (int64_t j = from; j < to; j++)
        s[j] = -INFINITY;
    for (int64_t j = from; gate && j < to; j++)
        gate[j] = 0;
}

/* n numbers from the mask's place on, as float32. Those of a float64 that are beyond it become the largest there are:
 * only -inf hides. */
static void widen_mask(const fused *f, float *y, vec add, int64_t at, int64_t n)
{
    f->k->widen(y, (const char *)add.data + (add.at + at) * (int64_t)pe_dtype_size(add.type), add.type, n);
    for (int64_t j = 0; add.type == PE_F64 && j < n; j++)
        if (isinf(y[j]) && isfinite(vec_get(add, at + j)))
            y[j] = copysignf(FLT_MAX, y[j]);
}

/* Padding, segments and the additive part, inside the range. */
static void hide_inside(const fused *f, scratch *s, const tile *t, int64_t r, float *score, float *gate, int64_t from,
                        int64_t to)
{
    const pe_mask *m = &f->p.a.mask;
    int64_t h = t->h + r / t->m, i = t->i + r % t->m;
    for (int64_t j = from; j < to; j++)
        if ((m->key_used && !m->key_used[t->j + j]) || (m->q_segment && m->q_segment[i] != m->k_segment[t->j + j]))
            hide(score, gate, j, j + 1);
    if (!m->additive.data)
        return;
    widen_mask(f, s->row, row_vec(m->additive, i, m->additive.heads == 1 ? 0 : h), t->j, t->n);
    for (int64_t j = from; j < to; j++)
        if (s->row[j] == -INFINITY)
            hide(score, gate, j, j + 1);
        else
            score[j] += s->row[j];
}

/* Scores of what is hidden become -inf and its gates 0; with gate given only those are touched. */
void mask_scores(const fused *f, scratch *s, const tile *t, sight what, float *gate)
{
    int64_t width = up_to(t->n, LANES);
    if (what == SEES_ALL)
        return;
    for (int64_t r = 0; r < t->heads * t->m; r++) {
        int64_t low, high;
        float *score = s->S + r * BK;
        mask_range(f, t->i + r % t->m, &low, &high);
        low = low < t->j ? 0 : low - t->j;
        high = high < t->j ? 0 : high - t->j;
        low = low < t->n ? low : t->n;
        high = high < t->n ? high : t->n;
        hide(score, gate ? gate + r * BK : NULL, 0, low);
        hide(score, gate ? gate + r * BK : NULL, high > low ? high : low, width);
        if (!f->plain_mask)
            hide_inside(f, s, t, r, score, gate ? gate + r * BK : NULL, low, high);
    }
}
