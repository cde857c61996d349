/* SPDX-License-Identifier: MIT
 *
 * The checks at the door: once per call, before anything is written. */
#include "core/door.h"
#include "core/encoding.h"
#include "core/place.h"
#include "core/pool.h"

#include <inttypes.h>
#include <string.h>

/* Of some 32-bit systems less than its size. */
static size_t dtype_align(pe_dtype t)
{
    return t == PE_F64 ? _Alignof(double) : t == PE_I64 ? _Alignof(int64_t) : pe_dtype_size(t);
}

bool checked_mul(int64_t *out, int64_t a, int64_t b)
{
    if (a < 0 || b < 0 || (a && b > INT64_MAX / a))
        return false;
    *out = a * b;
    return true;
}

bool checked_add(int64_t *out, int64_t a, int64_t b)
{
    if (a < 0 || b < 0 || b > INT64_MAX - a)
        return false;
    *out = a + b;
    return true;
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

static bool view_span(const pe_view *v, span *s)
{
    int64_t sum;
    *s = (span){ 0, v->dim };
    if (!v->batch || !v->tokens || !v->heads || !v->dim) {
        *s = (span){ 0, 0 };
        return true;
    }
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

static pe_status check_type(const char *name, pe_dtype type, unsigned types, pe_error *err)
{
    if ((unsigned)type < 32 && types & TYPE_BIT(type))
        return PE_OK;
    return pe_fail(err, PE_ERR_DTYPE, "%s: dtype is %d; needs %s", name, (int)type,
                   types == TYPE_BIT(PE_BOOL) ? "PE_BOOL"
                   : types == TYPES_CACHE     ? "PE_F32, PE_F16, PE_BF16, PE_F64, PE_Q8_0 or PE_Q4_0"
                                              : "PE_F32, PE_F16, PE_BF16 or PE_F64");
}

/* A row of blocks begins and ends with a block. */
static pe_status check_blocks(const pe_view *v, const char *name, pe_error *err)
{
    if (v->dtype != PE_Q8_0 && v->dtype != PE_Q4_0)
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

pe_status check_typed(pe_view *v, const char *name, extent size, unsigned types, use how, pe_error *err)
{
    span s;
    TRY(check_type(name, v->dtype, types, err));
    TRY(check_size(name, "batch", v->batch, size.batch, err));
    TRY(check_size(name, "tokens", v->tokens, size.tokens, err));
    TRY(check_size(name, "heads", v->heads, size.heads, err));
    TRY(check_size(name, "dim", v->dim, size.dim, err));
    if (!v->batch || !v->tokens || !v->heads || !v->dim) /* nothing there: strides that nobody checked must not count */
        v->batch_stride = v->token_stride = v->head_stride = 0;
    if (!view_span(v, &s))
        return pe_fail(err, PE_ERR_OVERFLOW, "%s: sizes and strides span more than memory can hold", name);
    TRY(check_blocks(v, name, err));
    int64_t elements = s.low + s.high;
    if (elements && !v->data)
        return pe_fail(err, PE_ERR_NULL, "%s: data is NULL; needs %" PRId64 " elements", name, elements);
    size_t align = v->dtype == PE_Q8_0 || v->dtype == PE_Q4_0 ? 2 : dtype_align(v->dtype);
    if ((uintptr_t)v->data % align)
        return pe_fail(err, PE_ERR_ALIGN, "%s: data is not aligned to its %zu-byte elements", name, align);
    return how == WRITES && elements ? check_written(v, name, err) : PE_OK;
}

pe_status check_view(pe_view *v, const char *name, extent size, use how, pe_error *err)
{
    return check_typed(v, name, size, TYPES_FLOAT, how, err);
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

pe_status check_run(pe_run *out, const pe_run *given, pe_error *err)
{
    *out = (pe_run){ .size = sizeof *out };
    if (!given)
        return PE_OK;
    CHECK_STRUCT(pe_run, out, given, "the run");
    return check_pool(out->pool, err);
}

pe_status check_pointer(const void *p, size_t align, const char *name, pe_error *err)
{
    if (!p)
        return pe_fail(err, PE_ERR_NULL, "%s is NULL", name);
    if ((uintptr_t)p % align)
        return pe_fail(err, PE_ERR_ALIGN, "%s is not aligned to %zu bytes", name, align);
    return PE_OK;
}

/* One of float64, before start and step are added to it. */
static pe_status check_real(double x, const char *name, int64_t token, bool fractions, pe_error *err)
{
    if (fabs(x) <= 2 * (double)PE_POSITION_MAX && (fractions || x == floor(x)))
        return PE_OK;
    return pe_fail(err, PE_ERR_POSITION, "%s: position of token %" PRId64 " is %s; needs %s-2^36 to 2^36", name, token,
                   text_show(x).text, fractions ? "" : "a whole number, ");
}

/* Every coordinate is within bounds, and whole where fractions are not taken. */
static pe_status check_coordinates(const pe_positions *p, const char *name, bool fractions, pe_error *err)
{
    int64_t rows = p->data && p->token_stride ? p->tokens : p->tokens > 1 ? 2 : p->tokens; /* of a run both ends tell */
    int64_t axes = p->data ? p->axes : p->axes > 0, batch = p->data && p->batch_stride ? p->batch : p->batch > 0;
    for (int64_t b = 0; b < batch; b++)
        for (int64_t r = 0; r < rows; r++)
            for (int64_t a = 0; a < axes; a++) {
                int64_t t = rows == 2 && r ? p->tokens - 1 : r, at;
                pe_positions one = positions_at(*p, b);
                if (p->data && p->dtype == PE_F64) {
                    double x = ((const double *)one.data)[t * p->token_stride + a * p->axis_stride], all[PE_AXES_MAX];
                    TRY(check_real(x, name, t, fractions, err));
                    position_real(one, t, all);
                    if (fractions && !(fabs(all[a]) <= (double)PE_POSITION_MAX))
                        return pe_fail(err, PE_ERR_POSITION,
                                       "%s: position of token %" PRId64 " is %s; needs -2^36 to 2^36", name, t,
                                       text_show(all[a]).text);
                    if (fractions)
                        continue;
                } else if (p->data && p->dtype == PE_I64) {
                    int64_t x = ((const int64_t *)one.data)[t * p->token_stride + a * p->axis_stride];
                    if (x > 2 * PE_POSITION_MAX || x < -2 * PE_POSITION_MAX)
                        return pe_fail(err, PE_ERR_POSITION,
                                       "%s: position of token %" PRId64 " is %" PRId64 "; needs -2^36 to 2^36", name, t,
                                       x);
                }
                at = coordinate(one, t, a);
                if (at > PE_POSITION_MAX || at < -PE_POSITION_MAX)
                    return pe_fail(err, PE_ERR_POSITION,
                                   "%s: position of token %" PRId64 " is %" PRId64 "; needs -2^36 to 2^36", name, t,
                                   at);
            }
    return PE_OK;
}

static pe_status check_run_of(const pe_positions *p, const char *name, pe_error *err)
{
    int64_t most = 2 * PE_POSITION_MAX;
    if (p->start > most || p->start < -most || p->step > most || p->step < -most ||
        (p->step && p->tokens > 1 && p->tokens - 1 > 4 * most / (p->step < 0 ? -p->step : p->step)))
        return pe_fail(err, PE_ERR_POSITION,
                       "%s: they start at %" PRId64 " and go by %" PRId64 "; positions need -2^36 to 2^36", name,
                       p->start, p->step);
    return PE_OK;
}

pe_status check_positions(pe_positions *p, const char *name, int64_t batch, int64_t tokens, int64_t axes, pe_error *err)
{
    return check_positions_real(p, name, batch, tokens, axes, false, err);
}

pe_status check_positions_real(pe_positions *p, const char *name, int64_t batch, int64_t tokens, int64_t axes,
                               bool fractions, pe_error *err)
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
    if (!p->tokens || !p->batch)
        return PE_OK;
    if (!p->data)
        return check_coordinates(p, name, fractions, err);
    if (p->dtype != PE_I64 && p->dtype != PE_I32 && p->dtype != PE_F64)
        return pe_fail(err, PE_ERR_DTYPE, "%s: dtype is %d; needs PE_I64, PE_I32 or PE_F64", name, (int)p->dtype);
    if ((uintptr_t)p->data % dtype_align(p->dtype))
        return pe_fail(err, PE_ERR_ALIGN, "%s: data is not aligned to its %d-byte elements", name,
                       (int)position_bytes(*p));
    if (!span_add(&s, p->batch, p->batch_stride) || !span_add(&s, p->tokens, p->token_stride) ||
        !span_add(&s, axes, p->axis_stride) || !checked_add(&sum, s.low, s.high) || sum > PTRDIFF_MAX / 8)
        return pe_fail(err, PE_ERR_OVERFLOW, "%s: sizes and strides span more than memory can hold", name);
    return check_coordinates(p, name, fractions, err);
}

pe_status check_block(pe_params w, const char *name, int64_t count, const char *why, bool written, pe_error *err)
{
    bool real = (unsigned)w.dtype < 32 && TYPES_FLOAT & TYPE_BIT(w.dtype);
    if (!real || (written && w.dtype != PE_F32 && w.dtype != PE_F64))
        return pe_fail(err, PE_ERR_DTYPE, "%s: dtype is %d; needs %s", name, (int)w.dtype,
                       written ? "PE_F32 or PE_F64" : "PE_F32, PE_F16, PE_BF16 or PE_F64");
    if (w.count != count)
        return pe_fail(err, PE_ERR_SHAPE, "%s: count is %" PRId64 "; needs %" PRId64 ", %s", name, w.count, count, why);
    if (count && !w.data)
        return pe_fail(err, PE_ERR_NULL, "%s: data is NULL; needs %" PRId64 " elements", name, count);
    size_t align = dtype_align(w.dtype);
    if ((uintptr_t)w.data % align)
        return pe_fail(err, PE_ERR_ALIGN, "%s: data is not aligned to its %zu-byte elements", name, align);
    return PE_OK;
}

static const char of_encoding[] = "as pe_encoding_param_count says";

pe_status check_params(const pe_encoding *e, pe_params w, pe_error *err)
{
    TRY(check_block(w, "params", e->param_count, of_encoding, false, err));
    for (int i = 0; i < e->parts; i++)
        if (e->part[i].row->check_params)
            TRY(e->part[i].row->check_params(&e->part[i], w, err));
    return PE_OK;
}

pe_status check_grads(const pe_encoding *e, pe_params dw, pe_error *err)
{
    return dw.data ? check_block(dw, "dparams", e->param_count, of_encoding, true, err) : PE_OK;
}
