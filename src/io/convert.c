/* SPDX-License-Identifier: MIT */
#include "io/io.h"

#include "checked.h"
#include "types.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int64_t io_position(pe_positions p, int64_t token, int64_t axis)
{
    int64_t at = p.start + token * p.step;
    return p.data ? at + ((const int64_t *)p.data)[token * p.token_stride + axis * p.axis_stride] : at;
}

double io_position_real(pe_positions p, int64_t token, int64_t axis)
{
    if (!p.data || p.dtype != PE_F64)
        return (double)io_position(p, token, axis);
    return (double)(p.start + token * p.step) + ((const double *)p.data)[token * p.token_stride + axis * p.axis_stride];
}

/* ---------------------------------------------------------------- convert */

/* Copies of an array's or a tensor's elements in a type one can compute with. */

#define EXACT (INT64_C(1) << 53) /* whole numbers up to here are doubles */

typedef struct source {
    const uint8_t *at;
    io_type type;
    int64_t count;
} source;

typedef bool put_one(void *out, const io_type_row *row, const uint8_t *at);

static bool put_f64(void *out, const io_type_row *row, const uint8_t *at)
{
    int64_t whole = 0;
    if (!row->real && (!row->integer(&whole, at) || whole > EXACT || whole < -EXACT))
        return false;
    double v = row->real ? row->real(at) : (double)whole;
    memcpy(out, &v, sizeof v);
    return true;
}

/* Past this a double rounds to infinity: half a step above the largest float. */
#define FLOAT_LIMIT (0x1.ffffffp127)

static bool put_f32(void *out, const io_type_row *row, const uint8_t *at)
{
    double v;
    if (!put_f64(&v, row, at) || (isfinite(v) && (v >= FLOAT_LIMIT || v <= -FLOAT_LIMIT)))
        return false;
    float f = (float)v;
    memcpy(out, &f, sizeof f);
    return true;
}

static bool put_i64(void *out, const io_type_row *row, const uint8_t *at)
{
    int64_t whole;
    if (row->integer) {
        if (!row->integer(&whole, at))
            return false;
    } else {
        double v = row->real(at);
        if (!(v >= -0x1p63 && v < 0x1p63)) /* NaN fails both */
            return false;
        whole = (int64_t)v;
        if ((double)whole != v)
            return false;
    }
    memcpy(out, &whole, sizeof whole);
    return true;
}

static pe_status convert(void **out, source src, io_type to, put_one *put, pe_error *err)
{
    *out = NULL;
    const io_type_row *row = io_type_get(src.type);
    size_t step = io_type_size(to), bytes;
    if (!row || (!row->real && !row->integer))
        return io_fail(err, PE_ERR_DTYPE, "elements are %s; needs a float, an integer or BOOL", io_type_name(src.type));
    if (src.count && !src.at)
        return io_fail(err, PE_ERR_NULL, "elements are not loaded; io_tensor_read reads those of an open file");
    if (!io_byte_count(&bytes, src.count, step))
        return io_fail(err, PE_ERR_OVERFLOW, "%lld elements of %zu bytes do not fit", (long long)src.count, step);
    uint8_t *copy = malloc(bytes ? bytes : 1);
    if (!copy)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %zu bytes", bytes);
    if (src.type == to && bytes)
        memcpy(copy, src.at, bytes); /* bit for bit, NaNs too */
    const uint8_t *from = src.at;
    uint8_t *end = copy + bytes;
    for (uint8_t *p = src.type == to ? end : copy; p < end; p += step, from += row->size)
        if (!put(p, row, from)) {
            size_t at = (size_t)(p - copy) / step;
            free(copy);
            return io_fail(err, PE_ERR_RANGE, "element %zu of %s cannot become %s: %s", at, row->name, io_type_name(to),
                           to == IO_I64 ? "needs a whole number within int64" : "it is too large");
        }
    *out = copy;
    return PE_OK;
}

/* One void * in the middle, for a float ** is not a void **. */
#define CONVERTERS(suffix, ctype, to)                                                                                  \
    pe_status io_array_to_##suffix(ctype **out, const io_array *a, pe_error *err)                                      \
    {                                                                                                                  \
        void *copy;                                                                                                    \
        pe_status s = convert(&copy, (source){ a->data, a->type, a->count }, to, put_##suffix, err);                   \
        *out = copy;                                                                                                   \
        return s;                                                                                                      \
    }                                                                                                                  \
    pe_status io_tensor_to_##suffix(ctype **out, const io_tensor *t, pe_error *err)                                    \
    {                                                                                                                  \
        void *copy;                                                                                                    \
        pe_status s = convert(&copy, (source){ t->bytes, t->type, t->count }, to, put_##suffix, err);                  \
        *out = copy;                                                                                                   \
        return s;                                                                                                      \
    }
CONVERTERS(f32, float, IO_F32)
CONVERTERS(f64, double, IO_F64)
CONVERTERS(i64, int64_t, IO_I64)
