/* SPDX-License-Identifier: MIT
 *
 * The checks at the door: once per call, before anything is written. */
#include "core/core.h"

#include <inttypes.h>

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

/* Elements from the first to one past the last: (tokens-1)*ts + (heads-1)*hs + dim, and whether its bytes fit. */
static bool extent(const pe_view *v, int64_t *elements)
{
    int64_t a, b, sum, bytes;
    if (!v->tokens || !v->heads || !v->dim) {
        *elements = 0;
        return true;
    }
    return checked_mul(&a, v->tokens - 1, v->token_stride) && checked_mul(&b, v->heads - 1, v->head_stride) &&
           checked_add(&sum, a, b) && checked_add(elements, sum, v->dim) &&
           checked_mul(&bytes, *elements, (int64_t)pe_dtype_size(v->dtype)) && bytes <= PTRDIFF_MAX;
}

/* No element of a view that is written may stand in two places of it. */
static bool overlaps_itself(const pe_view *v)
{
    int64_t near = v->head_stride, near_count = v->heads, far = v->token_stride, far_count = v->tokens;
    if (near > far) {
        near = v->token_stride, near_count = v->tokens;
        far = v->head_stride, far_count = v->heads;
    }
    if (near_count > 1 && near < v->dim)
        return true;
    return far_count > 1 && far < (near_count - 1) * near + v->dim;
}

static pe_status check_size(const char *name, const char *what, int64_t is, int64_t wanted, pe_error *err)
{
    if (is < 0)
        return pe_fail(err, PE_ERR_SHAPE, "%s: %s is %" PRId64 "; needs 0 or more", name, what, is);
    if (wanted >= 0 && is != wanted)
        return pe_fail(err, PE_ERR_SHAPE, "%s: %s is %" PRId64 "; needs %" PRId64, name, what, is, wanted);
    return PE_OK;
}

pe_status check_view(pe_view *v, const char *name, int64_t tokens, int64_t heads, int64_t dim, use how, pe_error *err)
{
    int64_t elements;
    size_t size = pe_dtype_size(v->dtype);
    if (!size)
        return pe_fail(err, PE_ERR_DTYPE, "%s: dtype is %d; needs PE_F32, PE_F16, PE_BF16 or PE_F64", name,
                       (int)v->dtype);
    TRY(check_size(name, "tokens", v->tokens, tokens, err));
    TRY(check_size(name, "heads", v->heads, heads, err));
    TRY(check_size(name, "dim", v->dim, dim, err));
    if (v->token_stride < 0 || v->head_stride < 0)
        return pe_fail(err, PE_ERR_RANGE, "%s: strides are %" PRId64 " and %" PRId64 "; need 0 or more", name,
                       v->token_stride, v->head_stride);
    if (!v->token_stride && !v->head_stride) {
        v->head_stride = v->dim;
        if (!checked_mul(&v->token_stride, v->heads, v->dim))
            return pe_fail(err, PE_ERR_OVERFLOW, "%s: heads * dim does not fit 64 bits", name);
    }
    if (!v->tokens || !v->heads || !v->dim) /* nothing there: strides that nobody checked must not be multiplied */
        v->token_stride = v->head_stride = 0;
    if (!extent(v, &elements))
        return pe_fail(err, PE_ERR_OVERFLOW, "%s: tokens, heads, dim and strides span more than memory can hold", name);
    if (elements && !v->data)
        return pe_fail(err, PE_ERR_NULL, "%s: data is NULL; needs %" PRId64 " elements", name, elements);
    if ((uintptr_t)v->data % size)
        return pe_fail(err, PE_ERR_ALIGN, "%s: data is not aligned to its %zu-byte elements", name, size);
    if (how == WRITES && elements && overlaps_itself(v))
        return pe_fail(err, PE_ERR_ALIAS, "%s: strides make elements that are written overlap", name);
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

pe_status check_positions(pe_positions *p, const char *name, int64_t tokens, int64_t axes, pe_error *err)
{
    int64_t a, b, sum;
    TRY(check_size(name, "tokens", p->tokens, tokens, err));
    if (p->axes != axes)
        return pe_fail(err, PE_ERR_SHAPE, "%s: axes is %" PRId64 "; this encoding needs %" PRId64 " per token", name,
                       p->axes, axes);
    if (p->token_stride < 0 || p->axis_stride < 0)
        return pe_fail(err, PE_ERR_RANGE, "%s: strides are %" PRId64 " and %" PRId64 "; need 0 or more", name,
                       p->token_stride, p->axis_stride);
    if (!p->token_stride && !p->axis_stride) {
        p->token_stride = p->axes;
        p->axis_stride = 1;
    }
    if (!p->tokens)
        return PE_OK;
    if (!p->at)
        return pe_fail(err, PE_ERR_NULL, "%s: at is NULL; needs (tokens, axes) int64", name);
    if ((uintptr_t)p->at % sizeof(int64_t))
        return pe_fail(err, PE_ERR_ALIGN, "%s: at is not aligned to its 8-byte elements", name);
    if (!checked_mul(&a, p->tokens - 1, p->token_stride) || !checked_mul(&b, axes - 1, p->axis_stride) ||
        !checked_add(&sum, a, b) || sum >= PTRDIFF_MAX / 8)
        return pe_fail(err, PE_ERR_OVERFLOW, "%s: tokens, axes and strides span more than memory can hold", name);
    int64_t rows = p->token_stride ? p->tokens : 1; /* one row may serve all tokens */
    for (int64_t t = 0; t < rows; t++)
        for (int64_t x = 0; x < axes; x++) {
            int64_t at = p->at[t * p->token_stride + x * p->axis_stride];
            if (at > PE_POSITION_MAX || at < -PE_POSITION_MAX)
                return pe_fail(err, PE_ERR_POSITION,
                               "%s: position of token %" PRId64 " is %" PRId64 "; needs -2^36 to 2^36", name, t, at);
        }
    return PE_OK;
}

pe_status check_block(pe_params w, const char *name, int64_t count, const char *why, bool written, pe_error *err)
{
    size_t size = pe_dtype_size(w.dtype);
    if (!size || (written && w.dtype != PE_F32 && w.dtype != PE_F64))
        return pe_fail(err, PE_ERR_DTYPE, "%s: dtype is %d; needs %s", name, (int)w.dtype,
                       written ? "PE_F32 or PE_F64" : "PE_F32, PE_F16, PE_BF16 or PE_F64");
    if (w.count != count)
        return pe_fail(err, PE_ERR_SHAPE, "%s: count is %" PRId64 "; needs %" PRId64 ", %s", name, w.count, count, why);
    if (count && !w.data)
        return pe_fail(err, PE_ERR_NULL, "%s: data is NULL; needs %" PRId64 " elements", name, count);
    if ((uintptr_t)w.data % size)
        return pe_fail(err, PE_ERR_ALIGN, "%s: data is not aligned to its %zu-byte elements", name, size);
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
