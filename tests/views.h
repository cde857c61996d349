/* SPDX-License-Identifier: MIT
 *
 * Views of random numbers: made, laid out in memory in any way, cut, and compared to the bit. */
#ifndef TESTS_VIEWS_H
#define TESTS_VIEWS_H

#include "base/num.h" /* conversions of 16-bit numbers, which test_numbers.c proves */
#include "test.h"

static char case_text[240]; /* the case at hand, for messages */
#define CASE(...) snprintf(case_text, sizeof case_text, __VA_ARGS__)

/* ------------------------------------------------ views */

static inline bool in_blocks(pe_dtype type)
{
    return type == PE_Q8_0 || type == PE_Q4_0;
}

static inline int64_t bytes(pe_dtype type, int64_t elements)
{
    return type == PE_Q8_0   ? elements / 32 * 34
           : type == PE_Q4_0 ? elements / 32 * 18
                             : elements * (int64_t)pe_dtype_size(type);
}

static inline char *row(pe_view v, int64_t b, int64_t t, int64_t h)
{
    return (char *)v.data + bytes(v.dtype, b * v.batch_stride + t * v.token_stride + h * v.head_stride);
}

static inline double get(pe_view v, int64_t b, int64_t t, int64_t h, int64_t d)
{
    return num_load(row(v, b, t, h), v.dtype, d);
}

/* Row n of a view, in the order of sequences, tokens, heads; a view that is not there has none. */
static inline int64_t row_count(pe_view v)
{
    return v.data ? v.batch * v.tokens * v.heads : 0;
}

static inline char *row_at(pe_view v, int64_t n)
{
    return row(v, n / v.heads / v.tokens, n / v.heads % v.tokens, n % v.heads);
}

static inline pe_view fresh(pe_dtype type, int64_t batch, int64_t tokens, int64_t heads, int64_t dim)
{
    return pe_view_of(take(bytes(type, batch * tokens * heads * dim), 1), type, batch, tokens, heads, dim);
}

static inline pe_view fresh_like(pe_view v)
{
    return fresh(v.dtype, v.batch, v.tokens, v.heads, v.dim);
}

/* Numbers from -1 to 1; of blocks any codes, and scales that keep them below 1/2. */
static inline pe_view drawn(pe_dtype type, int64_t batch, int64_t tokens, int64_t heads, int64_t dim, uint64_t *seed)
{
    pe_view v = fresh(type, batch, tokens, heads, dim);
    unsigned char *at = v.data;
    int64_t block = bytes(type, 32), size = bytes(type, batch * tokens * heads * dim);
    for (int64_t n = 0; !in_blocks(type) && n < batch * tokens * heads * dim; n++)
        num_store(at, type, n, test_uniform(seed));
    for (int64_t n = 0; in_blocks(type) && n < size; n++)
        at[n] = n % block == 0   ? 0
                : n % block == 1 ? (type == PE_Q8_0 ? 0x1c : 0x2c)
                                 : (unsigned char)test_random(seed);
    return v;
}

/* Every byte 0xff: NaN, in every type of numbers. */
static inline void spoil(pe_view v)
{
    for (int64_t n = 0; n < row_count(v); n++)
        memset(row_at(v, n), 0xff, (size_t)bytes(v.dtype, v.dim));
}

static inline void copy(pe_view to, pe_view from)
{
    for (int64_t n = 0; n < row_count(to); n++)
        memcpy(row_at(to, n), row_at(from, n), (size_t)bytes(to.dtype, to.dim));
}

static inline pe_view copied(pe_view v)
{
    pe_view to = fresh_like(v);
    copy(to, v);
    return to;
}

static inline void draw_into(pe_view v, uint64_t *seed)
{
    copy(v, drawn(v.dtype, v.batch, v.tokens, v.heads, v.dim, seed));
}

/* Tokens first .. first + count - 1 of one sequence. */
static inline pe_view cut(pe_view v, int64_t b, int64_t first, int64_t count)
{
    if (!v.data)
        return v;
    v.data = row(v, b, first, 0);
    v.batch = 1;
    v.tokens = count;
    return v;
}

static inline pe_view sequence(pe_view v, int64_t b)
{
    return cut(v, b, 0, v.tokens);
}

static inline void alike(const char *name, pe_view x, pe_view y)
{
    if (x.batch != y.batch || x.tokens != y.tokens || x.heads != y.heads || x.dim != y.dim || !x.data != !y.data)
        fail_msg("%s: %s has another shape", case_text, name);
}

static inline void same(const char *name, pe_view x, pe_view y)
{
    alike(name, x, y);
    assert_int_equal(x.dtype, y.dtype);
    for (int64_t n = 0; n < row_count(x); n++)
        if (memcmp(row_at(x, n), row_at(y, n), (size_t)bytes(x.dtype, x.dim)))
            fail_msg("%s: row %d of %s has other bits", case_text, (int)n, name);
}

static inline void nearly(const char *name, pe_view x, pe_view y, double most)
{
    alike(name, x, y);
    for (int64_t n = 0; n < row_count(x) * x.dim; n++) {
        double a = num_load(row_at(x, n / x.dim), x.dtype, n % x.dim),
               b = num_load(row_at(y, n / y.dim), y.dtype, n % y.dim);
        if (a != b && !(fabs(a - b) <= most * fmax(1, fabs(b))))
            fail_msg("%s: row %d, element %d of %s is %.9g, should be %.9g", case_text, (int)(n / x.dim),
                     (int)(n % x.dim), name, a, b);
    }
}

static inline void all_are(const char *name, pe_view v, double x)
{
    for (int64_t n = 0; n < row_count(v) * v.dim; n++)
        if (num_load(row_at(v, n / v.dim), v.dtype, n % v.dim) != x)
            fail_msg("%s: row %d, element %d of %s should be %g", case_text, (int)(n / v.dim), (int)(n % v.dim), name,
                     x);
}

/* ------------------------------------------------ other places in memory for the same numbers */

/* The innermost axis first: 0 sequences, 1 tokens, 2 heads. The first is how pe_view_of lays them out. */
static const int orders[][3] = { { 2, 1, 0 }, { 1, 2, 0 }, { 2, 0, 1 }, { 0, 2, 1 }, { 1, 0, 2 }, { 0, 1, 2 } };

/* The strides of such a layout with gaps; returns how many elements it spans. */
static inline int64_t lay_strides(pe_view *v, const int order[3])
{
    const int64_t gap = in_blocks(v->dtype) ? 32 : 3, count[3] = { v->batch, v->tokens, v->heads };
    int64_t *stride[3] = { &v->batch_stride, &v->token_stride, &v->head_stride }, line = v->dim + gap;
    for (int n = 0; n < 3; n++) {
        *stride[order[n]] = line;
        line = line * count[order[n]] + gap;
    }
    return line;
}

static inline int64_t laid_bytes(pe_view v, const int order[3])
{
    return bytes(v.dtype, lay_strides(&v, order));
}

/* Bytes of 0x5a between the rows. */
static inline pe_view laid(pe_view from, const int order[3])
{
    pe_view v = from;
    if (!from.data)
        return from;
    int64_t size = bytes(v.dtype, lay_strides(&v, order));
    v.data = memset(take(size, 1), 0x5a, (size_t)size);
    copy(v, from);
    return v;
}

enum { SEQUENCES = 1, TOKENS = 2, HEADS = 4 };

/* One sequence, token or head stands for all along these axes. */
static inline pe_view repeating(pe_view v, unsigned axes)
{
    v.batch_stride *= axes & SEQUENCES ? 0 : 1;
    v.token_stride *= axes & TOKENS ? 0 : 1;
    v.head_stride *= axes & HEADS ? 0 : 1;
    return v;
}

/* These axes walked from their end. */
static inline pe_view backwards(pe_view from, unsigned axes)
{
    if (!from.data)
        return from;
    pe_view v = fresh_like(from);
    v.data =
        row(v, axes & SEQUENCES ? v.batch - 1 : 0, axes & TOKENS ? v.tokens - 1 : 0, axes & HEADS ? v.heads - 1 : 0);
    v.batch_stride *= axes & SEQUENCES ? -1 : 1;
    v.token_stride *= axes & TOKENS ? -1 : 1;
    v.head_stride *= axes & HEADS ? -1 : 1;
    copy(v, from);
    return v;
}

/* ------------------------------------------------ rotations */

typedef pe_status rotate_call(const pe_encoding *, pe_side, pe_view, pe_view, pe_positions, const pe_run *, pe_error *);
static rotate_call *const rotate_calls[] = { pe_rotate, pe_unrotate, pe_rotate_back };
static const pe_dtype float_types[] = { PE_F32, PE_F16, PE_BF16, PE_F64 };
enum { ROTATE_CALLS = COUNT(rotate_calls), FLOAT_TYPES = COUNT(float_types) };

/* Calls f with every example that rotates. */
static inline void each_rotation(void (*f)(const char *spec))
{
    int mark = taken();
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; pe_info_at(i)->hooks & PE_HOOK_ROTATE && k < pe_info_at(i)->example_count; k++) {
            f(pe_info_at(i)->examples[k]);
            give_back_to(mark);
        }
}

/* <a, b>, and the sum of the sizes of its terms, which is added to. */
static inline double view_dot(pe_view a, pe_view b, double *terms)
{
    double sum = 0;
    for (int64_t n = 0; n < row_count(a) * a.dim; n++) {
        double x =
            num_load(row_at(a, n / a.dim), a.dtype, n % a.dim) * num_load(row_at(b, n / b.dim), b.dtype, n % b.dim);
        sum += x;
        *terms += fabs(x);
    }
    return sum;
}

#endif
