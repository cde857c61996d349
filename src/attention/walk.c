/* SPDX-License-Identifier: MIT
 *
 * Distances: where queries and keys stand, and which distances are seen. */
#include "attention/fused.h"

#include <inttypes.h>

static int64_t place_of(const walk *w, pe_positions where, int64_t t)
{
    int64_t at[PE_AXES_MAX];
    if (!w->p)
        return where.at[t * where.token_stride];
    return part_place(w->p, position(where, t, at));
}

static int64_t distance(int64_t q, int64_t k)
{
    return (int64_t)((uint64_t)q - (uint64_t)k); /* hidden pairs may be any distance apart */
}

static bool rises(const walk *w, pe_positions where)
{
    for (int64_t t = 1; t < where.tokens; t++)
        if (place_of(w, where, t) < place_of(w, where, t - 1))
            return false;
    return true;
}

static void extremes(const walk *w, pe_positions where, int64_t *low, int64_t *high)
{
    *low = *high = place_of(w, where, 0);
    for (int64_t t = 1; t < where.tokens; t++) {
        int64_t at = place_of(w, where, t);
        *low = at < *low ? at : *low;
        *high = at > *high ? at : *high;
    }
}

/* Where places rise, the ends of what each query sees are the ends of its distances; elsewhere all pairs count. */
void walk_range(const fused *f, walk *w)
{
    pe_positions q = f->p.a.q_at, k = f->p.a.k_at;
    int64_t q_low, q_high, k_low, k_high;
    w->low = 0;
    w->high = -1;
    if (!f->Tq || !f->Tk)
        return;
    extremes(w, q, &q_low, &q_high);
    extremes(w, k, &k_low, &k_high);
    w->low = distance(q_low, k_high);
    w->high = distance(q_high, k_low);
    if (!rises(w, q) || !rises(w, k))
        return;
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (int64_t i = 0; i < f->Tq; i++) {
        int64_t from, to, at = place_of(w, q, i);
        mask_range(f, i, &from, &to);
        if (from == to)
            continue;
        int64_t near = distance(at, place_of(w, k, to - 1)), far = distance(at, place_of(w, k, from));
        low = near < low ? near : low;
        high = far > high ? far : high;
    }
    w->low = low <= high ? low : 0;
    w->high = low <= high ? high : -1;
}

static walk *walk_for(fused *f, const part *p)
{
    p = p->row->place ? p : NULL;
    for (int n = 0; n < f->walks; n++)
        if (f->walk[n].p == p)
            return &f->walk[n];
    walk *w = &f->walk[f->walks++];
    w->p = p;
    w->q_rises = rises(w, f->p.a.q_at);
    walk_range(f, w);
    int64_t most = 4 * (f->Tq + f->Tk) + 4096;
    w->scattered = w->high - w->low < -1 || w->high - w->low >= most;
    return w;
}

void walks_find(fused *f)
{
    for (int n = 0; n < f->p.e->parts; n++) {
        const part *p = &f->p.e->part[n];
        if (p->hooks & PE_HOOK_BIAS && !p->absolute)
            f->line[f->lines].w = walk_for(f, p);
        if (p->hooks & PE_HOOK_BIAS)
            f->line[f->lines++].p = p;
        for (int t = 0; t < p->terms; t++)
            f->lookup[f->lookups++] = (lookup){ .p = p, .t = &p->term[t], .w = walk_for(f, p) };
        if (p->count.on)
            f->count = p;
    }
}

int64_t walk_span(const walk *w)
{
    return w->scattered ? 0 : w->high - w->low + 1;
}

void walks_cut(fused *f, char *memory, int64_t *used)
{
    for (int n = 0; n < f->walks; n++) {
        walk *w = &f->walk[n];
        w->q = fused_take(memory, used, f->Tq, sizeof *w->q);
        w->k = fused_take(memory, used, f->Tk, sizeof *w->k);
        w->run = fused_take(memory, used, f->Tk, sizeof *w->run);
    }
}

void walks_fill(fused *f)
{
    for (int n = 0; n < f->walks; n++) {
        walk *w = &f->walk[n];
        for (int64_t i = 0; i < f->Tq; i++)
            w->q[i] = place_of(w, f->p.a.q_at, i);
        for (int64_t j = f->Tk - 1; j >= 0; j--) {
            w->k[j] = place_of(w, f->p.a.k_at, j);
            bool next = j + 1 < f->Tk && distance(w->k[j + 1], w->k[j]) == 1;
            w->run[j] = !next ? 1 : w->run[j + 1] < BK ? w->run[j + 1] + 1 : BK;
        }
    }
}

int64_t walk_stretch(const walk *w, int64_t i, int64_t j, int64_t n, int64_t *x, int64_t *skip, int64_t *length)
{
    int64_t total = 2 * PAD + walk_span(w);
    *length = w->run[j] < n ? w->run[j] : n;
    *skip = 0;
    int64_t d = distance(w->q[i], w->k[j]);
    if (d > w->high + PAD) { /* falls with each key, perhaps into the table */
        if (d - w->high - PAD >= *length)
            return 0;
        *skip = d - w->high - PAD;
        d -= *skip;
    }
    if (d < w->low - PAD)
        return 0;
    *x = PAD + w->high - d;
    int64_t left = *length - *skip, room = total - *x;
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
                return pe_fail(err, PE_ERR_POSITION,
                               "%s: query at %" PRId64 " and key at %" PRId64
                               " are further apart than its table reaches; make the table larger or hide the pair",
                               p->row->info.name, q[0], k[0]);
        }
    }
    return PE_OK;
}

/* What a row reaches is a box of offsets: where both its far corners are inside, all pairs are. */
static bool corners_inside(const fused *f, const part *p)
{
    int64_t least[PE_AXES_MAX] = { 0 }, most[PE_AXES_MAX] = { 0 }, none[PE_AXES_MAX] = { 0 };
    for (int64_t a = 0; a < p->axes; a++) {
        pe_positions q = f->p.a.q_at, k = f->p.a.k_at;
        int64_t q_low, q_high, k_low, k_high;
        q.at += a * q.axis_stride;
        k.at += a * k.axis_stride;
        walk first = { 0 };
        extremes(&first, q, &q_low, &q_high);
        extremes(&first, k, &k_low, &k_high);
        least[a] = q_low - k_high;
        most[a] = q_high - k_low;
    }
    walk first = { 0 };
    walk_range(f, &first);
    if (first.low > first.high)
        return true;
    least[0] = first.low;
    most[0] = first.high;
    return p->row->reaches(p, least, none) && p->row->reaches(p, most, none);
}

pe_status walks_reach(fused *f, pe_error *err)
{
    for (int n = 0; n < f->p.e->parts && f->Tq && f->Tk; n++) {
        const part *p = &f->p.e->part[n];
        if (p->row->reaches && !corners_inside(f, p))
            TRY(check_pairs(f, p, err));
    }
    return PE_OK;
}
