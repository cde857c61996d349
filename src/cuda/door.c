/* SPDX-License-Identifier: MIT */
#include "cuda/door.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool checked_mul(int64_t *out, int64_t a, int64_t b)
{
    if (a < 0 || b < 0 || (a && b > INT64_MAX / a))
        return false;
    *out = a * b;
    return true;
}

static bool checked_add(int64_t *out, int64_t a, int64_t b)
{
    if (a < 0 || b < 0 || b > INT64_MAX - a)
        return false;
    *out = a + b;
    return true;
}

/* ---------------------------------------------------------------- views */

/* What a view spans, from its lowest to one past its highest element, and whether its bytes fit. */
typedef struct span {
    int64_t low, high;
} span;

static bool span_add(span *s, int64_t count, int64_t stride)
{
    int64_t far, size = stride < 0 ? (stride == INT64_MIN ? -1 : -stride) : stride;
    if (!checked_mul(&far, count - 1, size))
        return false;
    return stride < 0 ? checked_add(&s->low, s->low, far) : checked_add(&s->high, s->high, far);
}

static bool view_empty(const pe_view *v)
{
    return !v->batch || !v->tokens || !v->heads || !v->dim;
}

static bool view_span(const pe_view *v, span *s)
{
    int64_t sum;
    *s = (span){ 0, view_empty(v) ? 0 : v->dim };
    return view_empty(v) ||
           (span_add(s, v->batch, v->batch_stride) && span_add(s, v->tokens, v->token_stride) &&
            span_add(s, v->heads, v->head_stride) && checked_add(&sum, s->low, s->high) && sum <= PTRDIFF_MAX / 8);
}

/* No element of a view that is written may stand in two places of it: each stride steps over all that lies nearer. */
static bool overlaps_itself(const pe_view *v)
{
    int64_t stride[3] = { v->batch_stride, v->token_stride, v->head_stride },
            count[3] = { v->batch, v->tokens, v->heads };
    int64_t line = v->dim;
    bool done[3] = { count[0] == 1, count[1] == 1, count[2] == 1 };
    for (int n = 0; n < 3; n++) {
        int near = -1;
        for (int i = 0; i < 3; i++)
            if (!done[i] && (near < 0 || stride[i] < stride[near]))
                near = i;
        if (near < 0)
            break;
        if (stride[near] < line)
            return true;
        line += (count[near] - 1) * stride[near];
        done[near] = true;
    }
    return false;
}

static pe_status check_size(const char *name, const char *what, int64_t is, int64_t wanted, pe_error *err)
{
    if (is < 0)
        return cuda_fail(err, PE_ERR_SHAPE, "%s: %s is %" PRId64 "; needs 0 or more", name, what, is);
    if (wanted >= 0 && is != wanted)
        return cuda_fail(err, PE_ERR_SHAPE, "%s: %s is %" PRId64 "; needs %" PRId64, name, what, is, wanted);
    return PE_OK;
}

static pe_status check_written(const pe_view *v, const char *name, pe_error *err)
{
    if ((v->batch > 1 && v->batch_stride < 0) || (v->tokens > 1 && v->token_stride < 0) ||
        (v->heads > 1 && v->head_stride < 0))
        return cuda_fail(err, PE_ERR_RANGE,
                         "%s: strides are %" PRId64 ", %" PRId64 " and %" PRId64
                         "; what is written needs 0 or more (pe_view_of fills them in)",
                         name, v->batch_stride, v->token_stride, v->head_stride);
    if (overlaps_itself(v))
        return cuda_fail(err, PE_ERR_ALIAS,
                         "%s: strides make elements that are written overlap; a stride of 0 repeats (pe_view_of fills "
                         "them in)",
                         name);
    return PE_OK;
}

pe_status cuda_check_view(pe_view *v, const char *name, cuda_extent size, cuda_use how, pe_error *err)
{
    return cuda_check_typed(v, name, size, CUDA_VECTORS, "PE_F32, PE_F16 or PE_BF16", how, err);
}

pe_status cuda_check_typed(pe_view *v, const char *name, cuda_extent size, unsigned types, const char *need,
                           cuda_use how, pe_error *err)
{
    span s;
    if ((unsigned)v->dtype > 31 || !(types & CUDA_TYPE(v->dtype)))
        return cuda_fail(err, PE_ERR_DTYPE, "%s: dtype is %d; on a GPU needs %s", name, (int)v->dtype, need);
    TRY(check_size(name, "batch", v->batch, size.batch, err));
    TRY(check_size(name, "tokens", v->tokens, size.tokens, err));
    TRY(check_size(name, "heads", v->heads, size.heads, err));
    TRY(check_size(name, "dim", v->dim, size.dim, err));
    if (view_empty(v)) /* nothing there: strides that nobody checked must not count */
        v->batch_stride = v->token_stride = v->head_stride = 0;
    if (!view_span(v, &s))
        return cuda_fail(err, PE_ERR_OVERFLOW, "%s: sizes and strides span more than memory can hold", name);
    int64_t elements = s.low + s.high;
    if (elements && !v->data)
        return cuda_fail(err, PE_ERR_NULL, "%s: data is NULL; needs %" PRId64 " elements", name, elements);
    if ((uintptr_t)v->data % pe_dtype_size(v->dtype))
        return cuda_fail(err, PE_ERR_ALIGN, "%s: data is not aligned to its %zu-byte elements", name,
                         pe_dtype_size(v->dtype));
    return how == CUDA_WRITES && elements ? check_written(v, name, err) : PE_OK;
}

/* ---------------------------------------------------------------- positions and structs */

/* A run without memory is known from its ends. */
static pe_status check_run(const pe_positions *p, const char *name, pe_error *err)
{
    int64_t most = 2 * PE_POSITION_MAX;
    if (p->start > most || p->start < -most || p->step > most || p->step < -most ||
        (p->step && p->tokens > 1 && p->tokens - 1 > 4 * most / (p->step < 0 ? -p->step : p->step)))
        return cuda_fail(err, PE_ERR_POSITION,
                         "%s: they start at %" PRId64 " and go by %" PRId64 "; positions need -2^36 to 2^36", name,
                         p->start, p->step);
    for (int64_t t = 0; !p->data && p->batch && t<p->tokens; t += p->tokens> 1 ? p->tokens - 1 : 1) {
        int64_t at = p->start + t * p->step;
        if (at > PE_POSITION_MAX || at < -PE_POSITION_MAX)
            return cuda_fail(err, PE_ERR_POSITION,
                             "%s: position of token %" PRId64 " is %" PRId64 "; needs -2^36 to 2^36", name, t, at);
    }
    return PE_OK;
}

static int64_t position_bytes(const pe_positions *p)
{
    return p->dtype == PE_I32 ? 4 : 8;
}

pe_status cuda_check_positions(pe_positions *p, const char *name, int64_t batch, int64_t tokens, int64_t axes,
                               pe_error *err)
{
    span s = { 0, 1 };
    int64_t sum;
    TRY(check_size(name, "batch", p->batch, batch, err));
    TRY(check_size(name, "tokens", p->tokens, tokens, err));
    if (!p->data && p->axes <= 1)
        p->axes = axes; /* a run is the same on every axis */
    if (p->axes != axes)
        return cuda_fail(err, PE_ERR_SHAPE, "%s: axes is %" PRId64 "; this encoding needs %" PRId64 " per token", name,
                         p->axes, axes);
    TRY(check_run(p, name, err));
    if (!p->tokens || !p->batch || !p->data)
        return PE_OK;
    if (p->dtype != PE_I64 && p->dtype != PE_I32 && p->dtype != PE_F64)
        return cuda_fail(err, PE_ERR_DTYPE, "%s: dtype is %d; needs PE_I64, PE_I32 or PE_F64", name, (int)p->dtype);
    if ((uintptr_t)p->data % (uintptr_t)position_bytes(p))
        return cuda_fail(err, PE_ERR_ALIGN, "%s: data is not aligned to its %d-byte elements", name,
                         (int)position_bytes(p));
    if (!span_add(&s, p->batch, p->batch_stride) || !span_add(&s, p->tokens, p->token_stride) ||
        !span_add(&s, axes, p->axis_stride) || !checked_add(&sum, s.low, s.high) || sum > PTRDIFF_MAX / 8)
        return cuda_fail(err, PE_ERR_OVERFLOW, "%s: sizes and strides span more than memory can hold", name);
    return PE_OK;
}

pe_status cuda_check_struct(void *out, size_t size, const void *given, const char *name, pe_error *err)
{
    size_t has;
    if (!given)
        return cuda_fail(err, PE_ERR_NULL, "%s is NULL", name);
    if ((uintptr_t)given % _Alignof(size_t))
        return cuda_fail(err, PE_ERR_ALIGN, "%s is not aligned to %zu bytes", name, _Alignof(size_t));
    memcpy(&has, given, sizeof has);
    if (has < sizeof has || has > 1 << 16)
        return cuda_fail(err, PE_ERR_SHAPE, "%s: size is %zu; make it with PE_MAKE, which fills it in", name, has);
    for (size_t i = size; i < has; i++)
        if (((const unsigned char *)given)[i])
            return cuda_fail(err, PE_ERR_UNSUITED,
                             "%s has fields that this library, %s, does not know; load the library that its header "
                             "belongs to",
                             name, pe_version());
    if (has < size)
        memset((char *)out + has, 0, size - has);
    memcpy(out, given, has < size ? has : size);
    return PE_OK;
}

/* ---------------------------------------------------------------- what overlaps (core/memory.c) */

/* Bytes that the steps below this level span. */
static int64_t line_of(const cuda_region *r, int level)
{
    int64_t line = r->width;
    for (int i = 0; i < level; i++)
        line += (r->count[i] - 1) * r->step[i];
    return line;
}

/* The nearest step first. */
static cuda_region in_order(const cuda_region *from)
{
    cuda_region r = *from;
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

static const cuda_region nothing = { .count = { 1, 1, 1 } };

/* Pieces of this width, n of them at each of three steps; elements that repeat are one, and a stride that is negative
 * begins at its other end. The door has seen that the strides of more than one fit. */
static cuda_region lattice(const char *name, const void *data, int type, int64_t width, const int64_t n[3],
                           const int64_t stride[3], cuda_use how)
{
    cuda_region r = {
        name, (uintptr_t)data, (uintptr_t)data + (uint64_t)width, type, width, { 0 }, { 1, 1, 1 }, how, 0
    };
    for (int i = 0; i < 3; i++) {
        int64_t by = n[i] > 1 ? stride[i] : 0, far = (n[i] - 1) * llabs(by);
        r.at -= by < 0 ? (uint64_t)far : 0;
        r.end += by > 0 ? (uint64_t)far : 0;
        r.backwards |= (unsigned)(by < 0) << i;
        r.step[i] = llabs(by);
        r.count[i] = by ? n[i] : 1;
    }
    return r;
}

cuda_region cuda_view_region(const char *name, pe_view v, cuda_use how)
{
    int64_t size = (int64_t)pe_dtype_size(v.dtype);
    if (!v.data || view_empty(&v))
        return nothing;
    return lattice(name, v.data, (int)v.dtype, v.dim * size, (int64_t[]){ v.batch, v.tokens, v.heads },
                   (int64_t[]){ v.batch > 1 ? v.batch_stride * size : 0, v.tokens > 1 ? v.token_stride * size : 0,
                                v.heads > 1 ? v.head_stride * size : 0 },
                   how);
}

cuda_region cuda_positions_region(const char *name, pe_positions p)
{
    int64_t size = position_bytes(&p);
    if (!p.tokens || !p.batch || !p.data)
        return nothing;
    return lattice(name, p.data, -1, size, (int64_t[]){ p.batch, p.tokens, p.axes },
                   (int64_t[]){ p.batch > 1 ? p.batch_stride * size : 0, p.tokens > 1 ? p.token_stride * size : 0,
                                p.axes > 1 ? p.axis_stride * size : 0 },
                   CUDA_READS);
}

cuda_region cuda_array_region(const char *name, const void *data, int64_t count, size_t size, cuda_use how)
{
    int64_t bytes;
    if (!data)
        return nothing;
    if (!checked_mul(&bytes, count, (int64_t)size))
        bytes = INT64_MAX;
    return (cuda_region){ name, (uintptr_t)data, (uintptr_t)data + (uint64_t)bytes, -1, bytes, { 0 }, { 1, 1, 1 }, how,
                          0 };
}

/* Both repeat with this period, and what each covers of it leaves room for the other: q, k and v of a fused block. */
static bool alternate(const cuda_region *a, const cuda_region *b, int64_t a_step, int64_t b_step, int64_t a_width,
                      int64_t b_width)
{
    uint64_t period = (uint64_t)(a_step > b_step ? a_step : b_step), wa = (uint64_t)a_width, wb = (uint64_t)b_width;
    if (!period || (a_step && b_step && a_step != b_step) || wa > period || wb > period)
        return false;
    uint64_t offset = b->at >= a->at ? (b->at - a->at) % period : (period - (a->at - b->at) % period) % period;
    return offset >= wa && offset + wb <= period;
}

/* Whether they alternate at this level: all further steps are whole multiples of its period. */
static bool apart_at(const cuda_region *a, const cuda_region *b, int level)
{
    int64_t period = a->step[level] > b->step[level] ? a->step[level] : b->step[level];
    for (int i = level + 1; period && i < 3; i++)
        if (a->step[i] % period || b->step[i] % period)
            return false;
    return alternate(a, b, a->step[level], b->step[level], line_of(a, level), line_of(b, level));
}

bool cuda_regions_overlap(const cuda_region *a, const cuda_region *b)
{
    if (!a->width || !b->width || a->end <= b->at || b->end <= a->at)
        return false;
    cuda_region x = in_order(a), y = in_order(b);
    return !apart_at(&x, &y, 2) && !apart_at(&x, &y, 1) && !apart_at(&x, &y, 0);
}

static bool same(const cuda_region *a, const cuda_region *b)
{
    bool steps = true;
    for (int i = 0; i < 3; i++)
        steps = steps && a->step[i] == b->step[i] && a->count[i] == b->count[i];
    return a->at == b->at && a->type >= 0 && a->type == b->type && a->backwards == b->backwards && steps;
}

pe_status cuda_check_memory(const cuda_region *s, int count, bool in_place, pe_error *err)
{
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++)
            if ((s[i].how == CUDA_WRITES || s[j].how == CUDA_WRITES) && !(in_place && same(&s[i], &s[j])) &&
                cuda_regions_overlap(&s[i], &s[j]))
                return cuda_fail(err, PE_ERR_ALIAS, "%s and %s overlap; give %s", s[i].name, s[j].name,
                                 in_place ? "the same view (in place) or memory apart" : "memory apart");
    return PE_OK;
}
