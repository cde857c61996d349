/* SPDX-License-Identifier: MIT
 *
 * What a call writes must overlap nothing else it touches: positions that change under way would lead past a table. */
#include "core/core.h"

/* Strides count only where there is more than one; the door has seen that those fit. */
static region lattice(const char *name, const void *data, int type, int64_t width, int64_t size, const int64_t count[2],
                      const int64_t stride[2], use how)
{
    region r = { .name = name, .at = (uintptr_t)data, .type = type, .width = width, .how = how };
    int64_t a = count[0] > 1 ? stride[0] * size : 0, b = count[1] > 1 ? stride[1] * size : 0;
    int near = a > b;
    r.near = near ? b : a;
    r.far = near ? a : b;
    r.near_count = count[near];
    r.far_count = count[!near];
    return r;
}

static const region nothing = { .near_count = 1, .far_count = 1 };

region view_region(const char *name, pe_view v, use how)
{
    int64_t size = (int64_t)pe_dtype_size(v.dtype);
    if (!v.data || !v.tokens || !v.heads || !v.dim)
        return nothing;
    return lattice(name, v.data, (int)v.dtype, v.dim * size, size, (int64_t[]){ v.tokens, v.heads },
                   (int64_t[]){ v.token_stride, v.head_stride }, how);
}

region positions_region(const char *name, pe_positions p)
{
    if (!p.tokens)
        return nothing;
    return lattice(name, p.at, -1, 8, 8, (int64_t[]){ p.tokens, p.axes }, (int64_t[]){ p.token_stride, p.axis_stride },
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
    return (region){ name, (uintptr_t)data, -1, bytes, 0, 1, 0, 1, how };
}

/* Both repeat with this period, and what each covers of it leaves room for the other: q, k and v of a fused block. */
static bool take_turns(const region *a, const region *b, int64_t a_step, int64_t b_step, int64_t a_width,
                       int64_t b_width)
{
    uint64_t period = (uint64_t)(a_step > b_step ? a_step : b_step), wa = (uint64_t)a_width, wb = (uint64_t)b_width;
    if (!period || (a_step && b_step && a_step != b_step) || wa > period || wb > period)
        return false;
    uint64_t offset = b->at >= a->at ? (b->at - a->at) % period : (period - (a->at - b->at) % period) % period;
    return offset >= wa && offset + wb <= period;
}

static bool overlap(const region *a, const region *b)
{
    int64_t a_line = (a->near_count - 1) * a->near + a->width, b_line = (b->near_count - 1) * b->near + b->width;
    uint64_t a_end = a->at + (uint64_t)((a->far_count - 1) * a->far + a_line);
    uint64_t b_end = b->at + (uint64_t)((b->far_count - 1) * b->far + b_line);
    int64_t pitch = a->near > b->near ? a->near : b->near;
    if (!a->width || !b->width || a_end <= b->at || b_end <= a->at)
        return false;
    if (take_turns(a, b, a->far, b->far, a_line, b_line))
        return false;
    return !(pitch && a->far % pitch == 0 && b->far % pitch == 0 &&
             take_turns(a, b, a->near, b->near, a->width, b->width));
}

static bool same(const region *a, const region *b)
{
    return a->at == b->at && a->type >= 0 && a->type == b->type && a->near == b->near && a->far == b->far;
}

pe_status check_memory(const region *s, int count, bool in_place, pe_error *err)
{
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++)
            if ((s[i].how == WRITES || s[j].how == WRITES) && overlap(&s[i], &s[j]) &&
                !(in_place && same(&s[i], &s[j])))
                return pe_fail(err, PE_ERR_ALIAS, "%s and %s overlap; give %s", s[i].name, s[j].name,
                               in_place ? "the same view (in place) or memory apart" : "memory apart");
    return PE_OK;
}
