/* SPDX-License-Identifier: MIT
 *
 * What a call writes must overlap nothing else it touches: positions that change under way would lead past a table. */
#include "base/door.h"

#include <stdlib.h>

#include "base/block.h"
#include "base/checked.h"

/* Bytes that the steps below this level span. */
static int64_t line_of(const region *r, int level)
{
    int64_t line = r->width;
    for (int i = 0; i < level; i++)
        line += (r->count[i] - 1) * r->step[i];
    return line;
}

/* The nearest step first. */
static region in_order(const region *from)
{
    region r = *from;
    for (int i = 1; i < 3; i++)
        for (int at = i; at > 0 && r.step[at - 1] > r.step[at]; at--) {
            int64_t step = r.step[at], count = r.count[at];
            r.step[at] = r.step[at - 1];
            r.count[at] = r.count[at - 1];
            r.step[at - 1] = step;
            r.count[at - 1] = count;
        }
    return r;
}

static const region nothing = { .count = { 1, 1, 1 } };

/* Pieces of this width, n of them at each of three steps. Strides count only where there is more than one; the door has
 * seen that those fit. Elements that repeat are one. A stride that is negative begins at its other end. */
static inline region lattice(const char *name, const void *data, int type, int64_t width, const int64_t n[3],
                             const int64_t by[3], use how)
{
    int64_t back = 0, ahead = width;
    unsigned backwards = 0;
    for (int i = 0; i < 3; i++) {
        *(by[i] < 0 ? &back : &ahead) += (n[i] - 1) * (by[i] < 0 ? -by[i] : by[i]);
        backwards |= (unsigned)(by[i] < 0 && n[i] > 1) << i;
    }
    return (region){ name,
                     (uintptr_t)data - (uint64_t)back,
                     (uintptr_t)data + (uint64_t)ahead,
                     type,
                     width,
                     { llabs(by[0]), llabs(by[1]), llabs(by[2]) },
                     { by[0] ? n[0] : 1, by[1] ? n[1] : 1, by[2] ? n[2] : 1 },
                     how,
                     backwards };
}

region view_region(const char *name, pe_view v, use how)
{
    if (!v.data || !v.batch || !v.tokens || !v.heads || !v.dim)
        return nothing;
    return lattice(name, v.data, (int)v.dtype, dtype_bytes(v.dtype, v.dim), (int64_t[]){ v.batch, v.tokens, v.heads },
                   (int64_t[]){ v.batch > 1 ? dtype_bytes(v.dtype, v.batch_stride) : 0,
                                v.tokens > 1 ? dtype_bytes(v.dtype, v.token_stride) : 0,
                                v.heads > 1 ? dtype_bytes(v.dtype, v.head_stride) : 0 },
                   how);
}

region positions_region(const char *name, pe_positions p)
{
    int64_t size = position_bytes(p);
    if (!p.tokens || !p.batch || !p.data)
        return nothing;
    return lattice(name, p.data, -1, size, (int64_t[]){ p.batch, p.tokens, p.axes },
                   (int64_t[]){ p.batch > 1 ? p.batch_stride * size : 0, p.tokens > 1 ? p.token_stride * size : 0,
                                p.axes > 1 ? p.axis_stride * size : 0 },
                   READS);
}

region params_region(const char *name, pe_params w, use how)
{
    return array_region(name, w.data, w.count, pe_dtype_size(w.dtype), how);
}

region array_region(const char *name, const void *data, int64_t count, size_t size, use how)
{
    int64_t bytes;
    if (!data)
        return nothing;
    if (!checked_mul(&bytes, count, (int64_t)size))
        bytes = INT64_MAX;
    return (region){ name, (uintptr_t)data, (uintptr_t)data + (uint64_t)bytes, -1, bytes, { 0 }, { 1, 1, 1 }, how, 0 };
}

/* Both repeat with this period, and what each covers of it leaves room for the other: q, k and v of a fused block. */
static bool alternate(const region *a, const region *b, int64_t a_step, int64_t b_step, int64_t a_width,
                      int64_t b_width)
{
    uint64_t period = (uint64_t)(a_step > b_step ? a_step : b_step), wa = (uint64_t)a_width, wb = (uint64_t)b_width;
    if (!period || (a_step && b_step && a_step != b_step) || wa > period || wb > period)
        return false;
    uint64_t offset = b->at >= a->at ? (b->at - a->at) % period : (period - (a->at - b->at) % period) % period;
    return offset >= wa && offset + wb <= period;
}

/* Whether they alternate at this level: all further steps are whole multiples of its period. */
static bool apart_at(const region *a, const region *b, int level)
{
    int64_t period = a->step[level] > b->step[level] ? a->step[level] : b->step[level];
    for (int i = level + 1; period && i < 3; i++)
        if (a->step[i] % period || b->step[i] % period)
            return false;
    return alternate(a, b, a->step[level], b->step[level], line_of(a, level), line_of(b, level));
}

bool regions_overlap(const region *a, const region *b)
{
    if (!a->width || !b->width || a->end <= b->at || b->end <= a->at)
        return false;
    region x = in_order(a), y = in_order(b);
    return !apart_at(&x, &y, 2) && !apart_at(&x, &y, 1) && !apart_at(&x, &y, 0);
}

static bool same(const region *a, const region *b)
{
    bool steps = true;
    for (int i = 0; i < 3; i++)
        steps = steps && a->step[i] == b->step[i] && a->count[i] == b->count[i];
    return a->at == b->at && a->type >= 0 && a->type == b->type && a->backwards == b->backwards && steps;
}

pe_status check_memory(const region *s, int count, bool in_place, pe_error *err)
{
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++)
            if ((s[i].how == WRITES || s[j].how == WRITES) && !(in_place && same(&s[i], &s[j])) &&
                regions_overlap(&s[i], &s[j]))
                return pe_fail(err, PE_ERR_ALIAS, "%s and %s overlap; give %s", s[i].name, s[j].name,
                               in_place ? "the same view (in place) or memory apart" : "memory apart");
    return PE_OK;
}
