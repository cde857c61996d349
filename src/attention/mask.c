/* SPDX-License-Identifier: MIT
 *
 * Which keys a query sees: a range of indices (causal, window), and what is hidden inside it. Where the mask goes by
 * positions that do not rise, the range is all keys and each pair is asked. */
#include "attention/fused.h"

#include <float.h>

void mask_find(fused *f)
{
    const pe_mask *m = &f->p.a.mask;
    bool ranges = m->causal || m->window;
    bool odd_start = m->window && m->first_keys && f->Tk && coordinate(f->p.a.k_at, 0, 0) < 0; /* not the first keys */
    f->sight.offset = m->align == PE_ALIGN_START ? -m->keys_before : f->Tk + m->keys_after - f->Tq;
    f->sight.by_range = !ranges || m->align != PE_ALIGN_POSITION || (spacing_rises(f) && !odd_start);
    f->sight.plain_ranges = f->sight.by_range && !(m->window && m->first_keys);
    f->sight.plain_views = !m->keep.data && !m->additive.data;
}

/* The first key whose position is at least `at`, where positions of keys rise. */
static int64_t key_at(const fused *f, int64_t at)
{
    pe_positions k = f->p.a.k_at;
    int64_t low = 0, high = f->Tk;
    if (positions_run(k) && k.step == 1 && f->Tk) {
        int64_t n = at - coordinate(k, 0, 0);
        return n < 0 ? 0 : n < f->Tk ? n : f->Tk;
    }
    while (low < high) {
        int64_t mid = (low + high) / 2;
        if (coordinate(k, mid, 0) < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void range_by_position(const fused *f, int64_t i, int64_t *low, int64_t *high)
{
    const pe_mask *m = &f->p.a.mask;
    int64_t at = coordinate(f->p.a.q_at, i, 0), far = m->window < PE_POSITION_MAX ? m->window : 4 * PE_POSITION_MAX;
    if (m->window)
        *low = key_at(f, at - far + 1);
    if (m->causal)
        *high = key_at(f, at + 1);
    else if (m->window)
        *high = key_at(f, at + far);
}

/* Keys low .. high - 1 by causal and window; where ranges do not tell, all. */
static void range_of(const fused *f, int64_t i, int64_t *low, int64_t *high)
{
    const pe_mask *m = &f->p.a.mask;
    int64_t at = i + f->sight.offset;
    *low = 0;
    *high = f->Tk;
    if (!f->sight.by_range)
        return;
    if (m->align == PE_ALIGN_POSITION) {
        range_by_position(f, i, low, high);
    } else {
        if (m->causal && at + 1 < *high)
            *high = at + 1;
        if (m->window && at >= m->window)
            *low = at - m->window + 1;
        if (m->window && at < f->Tk - m->window && at + m->window < *high)
            *high = at + m->window;
    }
    if (*high < 0)
        *high = 0;
    if (*low > *high)
        *low = *high;
}

/* How many keys at the start a query sees past its window, whose keys end at high. */
static int64_t first_keys(const fused *f, int64_t high)
{
    const pe_mask *m = &f->p.a.mask;
    if (!f->sight.by_range || !m->window || !m->first_keys)
        return 0;
    int64_t first = m->align == PE_ALIGN_POSITION ? key_at(f, m->first_keys) : m->first_keys - m->keys_before;
    first = first < 0 ? 0 : first < f->Tk ? first : f->Tk;
    return m->causal && high < first ? high : first;
}

void mask_range(const fused *f, int64_t i, int64_t *low, int64_t *high)
{
    range_of(f, i, low, high);
    int64_t first = first_keys(f, *high);
    if (first > 0) {
        *low = 0;
        *high = first > *high ? first : *high;
    }
}

bool mask_sees(const fused *f, int64_t h, int64_t i, int64_t j)
{
    return problem_sees(&f->p, h, i, j);
}

/* Whether by positions, in any order, all or none of a tile is seen. */
static sight tile_by_position(const fused *f, const tile *t)
{
    const pe_mask *m = &f->p.a.mask;
    int64_t q_low = INT64_MAX, q_high = INT64_MIN, k_low = INT64_MAX, k_high = INT64_MIN;
    for (int64_t i = t->i; i < t->i + t->m; i++) {
        int64_t at = coordinate(f->p.a.q_at, i, 0);
        q_low = at < q_low ? at : q_low;
        q_high = at > q_high ? at : q_high;
    }
    for (int64_t j = t->j; j < t->j + t->n; j++) {
        int64_t at = coordinate(f->p.a.k_at, j, 0);
        k_low = at < k_low ? at : k_low;
        k_high = at > k_high ? at : k_high;
    }
    bool first = m->window && m->first_keys > k_low;
    if ((m->causal && k_low > q_high) ||
        (m->window && !first && (q_low - k_high >= m->window || k_low - q_high >= m->window)))
        return SEES_NONE;
    bool all =
        (!m->causal || k_high <= q_low) && (!m->window || (q_high - k_low < m->window && k_high - q_low < m->window));
    return all && t->n % LANES == 0 ? SEES_ALL : SEES_SOME;
}

/* Ranges move right from query to query: the first and the last tell. */
sight mask_tile(const fused *f, const tile *t)
{
    int64_t first_low, first_high, last_low, last_high, end = t->j + t->n;
    if (!f->sight.by_range) {
        sight what = tile_by_position(f, t);
        return what == SEES_ALL && !f->sight.plain_views ? SEES_SOME : what;
    }
    range_of(f, t->i, &first_low, &first_high);
    range_of(f, t->i + t->m - 1, &last_low, &last_high);
    if (last_high <= t->j || first_low >= end)
        return t->j < first_keys(f, last_high) ? SEES_SOME : SEES_NONE;
    bool whole = last_low <= t->j && first_high >= end && t->n % LANES == 0;
    return whole && f->sight.plain_views ? SEES_ALL : SEES_SOME;
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

/* The mask's views, and pairs that no range tells, inside the range. */
static void hide_inside(const fused *f, scratch *s, const tile *t, int64_t r, float *score, float *gate, int64_t from,
                        int64_t to)
{
    const pe_mask *m = &f->p.a.mask;
    int64_t h = t->h + r / t->m, i = t->i + r % t->m;
    if (!f->sight.plain_ranges) {
        for (int64_t j = from; j < to; j++)
            if (!problem_sees(&f->p, h, i, t->j + j))
                hide(score, gate, j, j + 1);
    } else if (m->keep.data) {
        vec keep = mask_row(m->keep, i, h);
        const uint8_t *kept = (const uint8_t *)keep.data + keep.at + t->j;
        for (int64_t j = from; j < to; j++)
            if (!kept[j])
                hide(score, gate, j, j + 1);
    }
    if (!m->additive.data)
        return;
    widen_mask(f, s->row, mask_row(m->additive, i, h), t->j, t->n);
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
        if (!f->sight.plain_ranges || !f->sight.plain_views)
            hide_inside(f, s, t, r, score, gate ? gate + r * BK : NULL, low, high);
    }
}
