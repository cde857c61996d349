/* SPDX-License-Identifier: MIT
 *
 * Distances: where queries and keys stand, and which distances are seen. */
#include "attention/fused.h"

#include <string.h>

static int64_t place_of(const spacing *w, pe_positions where, int64_t t)
{
    int64_t at[PE_AXES_MAX];
    return w->weight ? place_by(w->weight, position(where, t, at), where.axes) : coordinate(where, t, 0);
}

static int64_t distance(int64_t q, int64_t k)
{
    return (int64_t)((uint64_t)q - (uint64_t)k); /* hidden pairs may be any distance apart */
}

/* Tokens and where they stand; those not used are hidden from all and stand nowhere. */
typedef struct places {
    pe_positions at;
    const uint8_t *used;
} places;

static places queries(const fused *f)
{
    return (places){ f->p.a.q_at, NULL };
}

static places all_keys(const fused *f)
{
    return (places){ f->p.a.k_at, f->p.used };
}

static bool used(places where, int64_t t)
{
    return !where.used || where.used[t];
}

static bool rises(const spacing *w, places where)
{
    bool some = false;
    if (!w->weight && positions_run(where.at) && where.at.step >= 0)
        return true;
    int64_t last = 0;
    for (int64_t t = 0; t < where.at.tokens; t++) {
        if (!used(where, t))
            continue;
        int64_t at = place_of(w, where.at, t);
        if (some && at < last)
            return false;
        some = true;
        last = at;
    }
    return true;
}

static bool extremes(const spacing *w, places where, int64_t *low, int64_t *high)
{
    bool some = false;
    *low = *high = 0;
    if (!w->weight && positions_run(where.at) && !where.used && where.at.tokens) { /* both ends tell */
        int64_t a = coordinate(where.at, 0, 0), b = coordinate(where.at, where.at.tokens - 1, 0);
        *low = a < b ? a : b;
        *high = a < b ? b : a;
        return true;
    }
    for (int64_t t = 0; t < where.at.tokens; t++) {
        if (!used(where, t))
            continue;
        int64_t at = place_of(w, where.at, t);
        *low = some && *low < at ? *low : at;
        *high = some && *high > at ? *high : at;
        some = true;
    }
    return some;
}

/* Where places rise, the ends of what each query sees are the ends of its distances. */
static void seen_range(const fused *f, spacing *w)
{
    const places q = queries(f), k = all_keys(f);
    int64_t low = INT64_MAX, high = INT64_MIN, first = 0, last = -1, next = 0; /* ranges move right with the query */
    for (int64_t i = 0; i < f->Tq; i++) {
        int64_t from, to, at = place_of(w, q.at, i);
        mask_range(f, i, &from, &to);
        for (; next < to; next++)
            last = used(k, next) ? next : last;
        while (first < to && (first < from || !used(k, first)))
            first++;
        if (first >= to || last < from)
            continue;
        int64_t near = distance(at, place_of(w, k.at, last)), far = distance(at, place_of(w, k.at, first));
        low = near < low ? near : low;
        high = far > high ? far : high;
    }
    w->low = low <= high ? low : 0;
    w->high = low <= high ? high : -1;
}

void spacing_range(const fused *f, spacing *w)
{
    int64_t q_low, q_high, k_low, k_high;
    w->low = 0;
    w->high = -1;
    if (!extremes(w, queries(f), &q_low, &q_high) || !extremes(w, all_keys(f), &k_low, &k_high))
        return;
    w->low = distance(q_low, k_high);
    w->high = distance(q_high, k_low);
    if (f->sight.by_range && rises(w, queries(f)) && rises(w, all_keys(f)))
        seen_range(f, w);
}

/* ------------------------------------------------ bands */

/* Joins what overlaps, or lies closer than pads; false: too many. */
static bool add_band(spacing *w, int64_t low, int64_t high)
{
    low = low > w->low ? low : w->low;
    high = high < w->high ? high : w->high;
    if (low > high)
        return true;
    for (int n = 0; n < w->bands; n++) {
        band *b = &w->band[n];
        if (low > b->high + 2 * PAD || high < b->low - 2 * PAD)
            continue;
        low = low < b->low ? low : b->low;
        high = high > b->high ? high : b->high;
        *b = w->band[--w->bands];
        n = -1; /* what it has become may touch others */
    }
    if (w->bands == BANDS_MAX)
        return false;
    w->band[w->bands++] = (band){ low, high, 0 };
    return true;
}

/* The next run of consecutive places from token *t on; false: none. */
static bool next_run(const spacing *w, places where, int64_t *t, int64_t *low, int64_t *high)
{
    while (*t < where.at.tokens && !used(where, *t))
        ++*t;
    if (*t == where.at.tokens)
        return false;
    *low = *high = place_of(w, where.at, *t);
    for (++*t; *t < where.at.tokens && used(where, *t) && distance(place_of(w, where.at, *t), *high) == 1; ++*t)
        ++*high;
    return true;
}

static int64_t count_runs(const spacing *w, places where)
{
    int64_t t = 0, low, high, runs = 0;
    while (next_run(w, where, &t, &low, &high))
        runs++;
    return runs;
}

/* A band per run of queries and run of keys: a context with a gap has few. */
static bool find_bands(const fused *f, spacing *w)
{
    int64_t i = 0, j, q_low, q_high, k_low, k_high;
    if (count_runs(w, queries(f)) > 4096 / (1 + count_runs(w, all_keys(f))))
        return false;
    while (next_run(w, queries(f), &i, &q_low, &q_high))
        for (j = 0; next_run(w, all_keys(f), &j, &k_low, &k_high);)
            if (!add_band(w, distance(q_low, k_high), distance(q_high, k_low)))
                return false;
    return true;
}

static int by_fall(const void *a, const void *b)
{
    int64_t x = ((const band *)a)->high, y = ((const band *)b)->high;
    return (x < y) - (x > y);
}

static void lay_bands(const fused *f, spacing *w)
{
    int64_t most = 16 * (f->Tq + f->Tk) + 4096, sum = 0;
    bool wide_range = w->high - w->low < -1 || w->high - w->low >= most, fits = true;
    if (!wide_range && w->low <= w->high)
        w->band[w->bands++] = (band){ w->low, w->high, 0 };
    else if (wide_range)
        fits = find_bands(f, w);
    qsort(w->band, (size_t)w->bands, sizeof(band), by_fall);
    for (int n = 0; n < w->bands; n++) {
        w->band[n].start = w->total;
        w->total += 2 * PAD + w->band[n].high - w->band[n].low + 1;
        sum += w->band[n].high - w->band[n].low + 1;
    }
    w->scattered = !fits || sum >= most || w->between;
    w->total = w->scattered ? 0 : w->total;
}

static bool has_fractions(pe_positions p)
{
    for (int64_t t = 0; p.data && p.dtype == PE_F64 && t < p.tokens; t++)
        if (coordinate_real(p, t, 0) != (double)coordinate(p, t, 0))
            return true;
    return false;
}

/* As a plan tells it: one band. */
static void tell_distances(spacing *w)
{
    w->told = (pe_distances){ .low = w->low, .high = w->high, .first = PAD, .count = w->total };
    w->told.weight[0] = 1;
    for (int64_t a = 0; w->weight && a < PE_AXES_MAX; a++)
        w->told.weight[a] = w->weight[a];
}

spacing *spacing_for(fused *f, const part *p)
{
    const int64_t *weight = p && p->weighs ? p->weight : NULL;
    for (int n = 0; n < f->spacings; n++)
        if (f->spacing[n].weight == weight)
            return &f->spacing[n];
    spacing *w = &f->spacing[f->spacings++];
    w->weight = weight;
    w->between = has_fractions(f->p.a.q_at) || has_fractions(f->p.a.k_at);
    w->q_rises = rises(w, queries(f));
    w->counted = !weight && positions_run(f->p.a.k_at) && f->p.a.k_at.step == 1;
    w->first = f->Tk ? coordinate(f->p.a.k_at, 0, 0) : 0;
    w->keys = f->Tk;
    spacing_range(f, w);
    if (weight && (f->shell || w->low < -p->reach)) /* those beyond are of no pair that is reached */
        w->low = -p->reach;
    if (weight && (f->shell || w->high > p->reach))
        w->high = p->reach;
    lay_bands(f, w);
    tell_distances(w);
    return w;
}

/* The distances of a call lie inside those of the plan: their tables are its tables. */
void spacings_plan(fused *f)
{
    for (int n = 0; f->plan && n < f->spacings; n++) {
        const spacing *from = &f->plan->spacing[n];
        spacing *w = &f->spacing[n];
        if (w->between || from->scattered || from->low > w->low || from->high < w->high)
            continue;
        memcpy(w->band, from->band, sizeof w->band);
        w->bands = from->bands;
        w->total = from->total;
        w->scattered = false;
        w->planned = true;
    }
}

const band *spacing_band(const spacing *w, int64_t x)
{
    const band *b = w->band;
    while (b + 1 < w->band + w->bands && b[1].start <= x)
        b++;
    return b;
}

int64_t spacing_distance(const spacing *w, int64_t x)
{
    const band *b = spacing_band(w, x);
    return b->high + PAD - (x - b->start);
}

bool spacing_pads(const spacing *w, int64_t x)
{
    const band *b = spacing_band(w, x);
    int64_t d = spacing_distance(w, x);
    return d < b->low || d > b->high;
}

int64_t spacing_apart(const spacing *w, int64_t i, int64_t j)
{
    return distance(w->q[i], spacing_key(w, j));
}

void spacings_cut(fused *f, char *memory, int64_t *used)
{
    for (int n = 0; n < f->spacings; n++) {
        spacing *w = &f->spacing[n];
        w->q = fused_take(memory, used, f->Tq, sizeof *w->q);
        w->k = fused_take(memory, used, w->counted ? 0 : f->Tk, sizeof *w->k);
        w->run = fused_take(memory, used, w->counted ? 0 : f->Tk, sizeof *w->run);
    }
}

void spacings_fill(fused *f)
{
    for (int n = 0; n < f->spacings; n++) {
        spacing *w = &f->spacing[n];
        for (int64_t i = 0; i < f->Tq; i++)
            w->q[i] = place_of(w, f->p.a.q_at, i);
        for (int64_t j = f->Tk - 1; w->k && j >= 0; j--) {
            w->k[j] = place_of(w, f->p.a.k_at, j);
            bool next = j + 1 < f->Tk && distance(w->k[j + 1], w->k[j]) == 1;
            w->run[j] = !next ? 1 : w->run[j + 1] < BK ? w->run[j + 1] + 1 : BK;
        }
    }
}

int64_t spacing_stretch(const spacing *w, int64_t i, int64_t j, int64_t n, int64_t *x, int64_t *skip, int64_t *length)
{
    const band *b = w->band, *end = w->band + w->bands;
    *length = spacing_run(w, j) < n ? spacing_run(w, j) : n;
    *skip = 0;
    int64_t d = distance(w->q[i], spacing_key(w, j));
    while (b < end && d < b->low - PAD)
        b++;
    if (b == end)
        return 0;
    if (d > b->high + PAD) { /* falls with each key, perhaps into the table */
        if (d - b->high - PAD >= *length)
            return 0;
        *skip = d - b->high - PAD;
        d -= *skip;
    }
    *x = b->start + PAD + b->high - d;
    int64_t left = *length - *skip, room = b->start + 2 * PAD + b->high - b->low + 1 - *x;
    return left < room ? left : room;
}

/* ------------------------------------------------ reach */

/* Each query and key that are seen, one by one. */
static pe_status check_pairs(const fused *f, const part *p, pe_error *err)
{
    for (int64_t i = 0; i < f->Tq; i++) {
        int64_t low, high, q[PE_AXES_MAX], k[PE_AXES_MAX];
        mask_range(f, i, &low, &high);
        for (int64_t j = low; j < high; j++) {
            bool seen = false;
            for (int64_t h = 0; h < f->H && !seen; h++)
                seen = mask_sees(f, h, i, j);
            if (seen && !p->row->reaches(p, position(f->p.a.q_at, i, q), position(f->p.a.k_at, j, k)))
                return fail_reach(p, q, k, err);
        }
    }
    return PE_OK;
}

/* Positions whose first coordinate is this one. */
static pe_positions axis_of(pe_positions p, int64_t axis)
{
    if (p.data)
        p.data = (const char *)p.data + axis * p.axis_stride * position_bytes(p);
    return p;
}

/* What a row reaches is a box of offsets: where both its far corners are inside, all pairs are. */
static bool corners_inside(const fused *f, const part *p)
{
    int64_t least[PE_AXES_MAX] = { 0 }, most[PE_AXES_MAX] = { 0 }, none[PE_AXES_MAX] = { 0 };
    for (int64_t a = 0; a < p->axes; a++) {
        places q = queries(f), k = all_keys(f);
        int64_t q_low, q_high, k_low, k_high;
        q.at = axis_of(q.at, a);
        k.at = axis_of(k.at, a);
        spacing first = { 0 };
        extremes(&first, q, &q_low, &q_high);
        extremes(&first, k, &k_low, &k_high);
        least[a] = q_low - k_high;
        most[a] = q_high - k_low;
    }
    spacing first = { 0 };
    spacing_range(f, &first);
    if (first.low > first.high)
        return true;
    least[0] = first.low;
    most[0] = first.high;
    return p->row->reaches(p, least, none) && p->row->reaches(p, most, none);
}

bool spacing_rises(const fused *f)
{
    spacing first = { 0 };
    return rises(&first, queries(f)) && rises(&first, (places){ f->p.a.k_at, NULL });
}

pe_status spacings_reach(fused *f, pe_error *err)
{
    for (int n = 0; n < f->p.e->parts && f->Tq && f->Tk; n++) {
        const part *p = &f->p.e->part[n];
        if (p->row->reaches && !corners_inside(f, p))
            TRY(check_pairs(f, p, err));
    }
    return PE_OK;
}
