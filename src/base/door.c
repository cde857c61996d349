/* SPDX-License-Identifier: MIT */
#include "base/door.h"

#include <inttypes.h>
#include <string.h>

#include "base/block.h"
#include "base/checked.h"

/* Of some 32-bit systems less than its size. */
size_t dtype_align(pe_dtype t)
{
    return t == PE_F64 ? _Alignof(double) : t == PE_I64 ? _Alignof(int64_t) : pe_dtype_size(t);
}

bool dtype_among(pe_dtype t, const dtypes *types)
{
    return (unsigned)t < 32 && types->bits & TYPE_BIT(t);
}

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
    if (view_empty(v))
        return true;
    return span_add(s, v->batch, v->batch_stride) && span_add(s, v->tokens, v->token_stride) &&
           span_add(s, v->heads, v->head_stride) && checked_add(&sum, s->low, s->high) && sum <= PTRDIFF_MAX / 8;
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
        return pe_fail(err, PE_ERR_SHAPE, "%s: %s is %" PRId64 "; needs 0 or more", name, what, is);
    if (wanted >= 0 && is != wanted)
        return pe_fail(err, PE_ERR_SHAPE, "%s: %s is %" PRId64 "; needs %" PRId64, name, what, is, wanted);
    return PE_OK;
}

/* A row of blocks begins and ends with a block. */
static pe_status check_blocks(const pe_view *v, const char *name, pe_error *err)
{
    if (!block_kind(v->dtype))
        return PE_OK;
    if (v->dim % BLOCK_WIDTH)
        return pe_fail(err, PE_ERR_SHAPE, "%s: dim is %" PRId64 "; blocks need a multiple of %d", name, v->dim,
                       BLOCK_WIDTH);
    if (v->batch_stride % BLOCK_WIDTH || v->token_stride % BLOCK_WIDTH || v->head_stride % BLOCK_WIDTH)
        return pe_fail(err, PE_ERR_RANGE,
                       "%s: strides are %" PRId64 ", %" PRId64 " and %" PRId64 "; blocks need multiples of %d elements",
                       name, v->batch_stride, v->token_stride, v->head_stride, BLOCK_WIDTH);
    return PE_OK;
}

static pe_status check_written(const pe_view *v, const char *name, pe_error *err)
{
    if ((v->batch > 1 && v->batch_stride < 0) || (v->tokens > 1 && v->token_stride < 0) ||
        (v->heads > 1 && v->head_stride < 0))
        return pe_fail(err, PE_ERR_RANGE,
                       "%s: strides are %" PRId64 ", %" PRId64 " and %" PRId64
                       "; what is written needs 0 or more (pe_view_of fills them in)",
                       name, v->batch_stride, v->token_stride, v->head_stride);
    if (overlaps_itself(v))
        return pe_fail(err, PE_ERR_ALIAS,
                       "%s: strides make elements that are written overlap; a stride of 0 repeats (pe_view_of fills "
                       "them in)",
                       name);
    return PE_OK;
}

pe_status check_typed(pe_view *v, const char *name, extent size, const dtypes *types, use how, pe_error *err)
{
    span s;
    if (!dtype_among(v->dtype, types))
        return pe_fail(err, PE_ERR_DTYPE, "%s: dtype is %d; %s", name, (int)v->dtype, types->needs);
    TRY(check_size(name, "batch", v->batch, size.batch, err));
    TRY(check_size(name, "tokens", v->tokens, size.tokens, err));
    TRY(check_size(name, "heads", v->heads, size.heads, err));
    TRY(check_size(name, "dim", v->dim, size.dim, err));
    if (view_empty(v)) /* nothing there: strides that nobody checked must not count */
        v->batch_stride = v->token_stride = v->head_stride = 0;
    if (!view_span(v, &s))
        return pe_fail(err, PE_ERR_OVERFLOW, "%s: sizes and strides span more than memory can hold", name);
    TRY(check_blocks(v, name, err));
    int64_t elements = s.low + s.high;
    if (elements && !v->data)
        return pe_fail(err, PE_ERR_NULL, "%s: data is NULL; needs %" PRId64 " elements", name, elements);
    size_t align = block_kind(v->dtype) ? 2 : dtype_align(v->dtype);
    if ((uintptr_t)v->data % align)
        return pe_fail(err, PE_ERR_ALIGN, "%s: data is not aligned to its %zu-byte elements", name, align);
    return how == WRITES && elements ? check_written(v, name, err) : PE_OK;
}

pe_status check_struct(void *out, size_t size, const void *given, const char *name, pe_error *err)
{
    size_t has;
    TRY(check_pointer(given, _Alignof(size_t), name, err));
    memcpy(&has, given, sizeof has);
    if (has < sizeof has || has > 1 << 16)
        return pe_fail(err, PE_ERR_SHAPE, "%s: size is %zu; make it with PE_MAKE, which fills it in", name, has);
    for (size_t i = size; i < has; i++)
        if (((const unsigned char *)given)[i])
            return pe_fail(err, PE_ERR_UNSUITED,
                           "%s has fields that this library, %s, does not know; load the library that its header "
                           "belongs to",
                           name, pe_version());
    if (has < size)
        memset((char *)out + has, 0, size - has);
    memcpy(out, given, has < size ? has : size);
    return PE_OK;
}

pe_status check_work(const pe_run *run, size_t needed, const char *where, const char *asked, pe_error *err)
{
    if (!needed)
        return PE_OK;
    if (!run->work)
        return pe_fail(err, PE_ERR_NULL, "work is NULL; needs %zu bytes%s", needed, where);
    if ((uintptr_t)run->work % 8)
        return pe_fail(err, PE_ERR_ALIGN, "work is not aligned to 8 bytes");
    if (run->work_bytes < needed)
        return pe_fail(err, PE_ERR_SHAPE, "work has %zu bytes; needs %zu (%s)", run->work_bytes, needed, asked);
    return PE_OK;
}

pe_status check_pointer(const void *p, size_t align, const char *name, pe_error *err)
{
    if (!p)
        return pe_fail(err, PE_ERR_NULL, "%s is NULL", name);
    if ((uintptr_t)p % align)
        return pe_fail(err, PE_ERR_ALIGN, "%s is not aligned to %zu bytes", name, align);
    return PE_OK;
}

/* Of a run without memory both ends tell. */
static pe_status check_run_of(const pe_positions *p, const char *name, pe_error *err)
{
    int64_t most = 2 * PE_POSITION_MAX;
    if (p->start > most || p->start < -most || p->step > most || p->step < -most ||
        (p->step && p->tokens > 1 && p->tokens - 1 > 4 * most / (p->step < 0 ? -p->step : p->step)))
        return pe_fail(err, PE_ERR_POSITION,
                       "%s: they start at %" PRId64 " and go by %" PRId64 "; positions need -2^36 to 2^36", name,
                       p->start, p->step);
    if (p->data || !p->batch || !p->tokens)
        return PE_OK;
    for (int end = 0; end < 2; end++) {
        int64_t t = end ? p->tokens - 1 : 0, at = p->start + t * p->step;
        if (at > PE_POSITION_MAX || at < -PE_POSITION_MAX)
            return pe_fail(err, PE_ERR_POSITION,
                           "%s: position of token %" PRId64 " is %" PRId64 "; needs -2^36 to 2^36", name, t, at);
    }
    return PE_OK;
}

pe_status check_positions_outside(pe_positions *p, const char *name, int64_t batch, int64_t tokens, int64_t axes,
                                  pe_error *err)
{
    span s = { 0, 1 };
    int64_t sum;
    TRY(check_size(name, "batch", p->batch, batch, err));
    TRY(check_size(name, "tokens", p->tokens, tokens, err));
    if (!p->data && p->axes <= 1)
        p->axes = axes; /* a run is the same on every axis */
    if (p->axes != axes)
        return pe_fail(err, PE_ERR_SHAPE, "%s: axes is %" PRId64 "; this encoding needs %" PRId64 " per token", name,
                       p->axes, axes);
    TRY(check_run_of(p, name, err));
    if (!p->tokens || !p->batch || !p->data)
        return PE_OK;
    if (p->dtype != PE_I64 && p->dtype != PE_I32 && p->dtype != PE_F64)
        return pe_fail(err, PE_ERR_DTYPE, "%s: dtype is %d; needs PE_I64, PE_I32 or PE_F64", name, (int)p->dtype);
    if ((uintptr_t)p->data % dtype_align(p->dtype))
        return pe_fail(err, PE_ERR_ALIGN, "%s: data is not aligned to its %d-byte elements", name,
                       (int)position_bytes(*p));
    if (!span_add(&s, p->batch, p->batch_stride) || !span_add(&s, p->tokens, p->token_stride) ||
        !span_add(&s, axes, p->axis_stride) || !checked_add(&sum, s.low, s.high) || sum > PTRDIFF_MAX / 8)
        return pe_fail(err, PE_ERR_OVERFLOW, "%s: sizes and strides span more than memory can hold", name);
    return PE_OK;
}
