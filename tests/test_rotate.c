/* labels: core */
/* SPDX-License-Identifier: MIT
 *
 * What rotate, unrotate and rotate_back do to memory, bit for bit. Truth is pe_rotate_table, which test_exact.c holds
 * to MPFR: here only the arithmetic after it, the layouts and the views are at stake. */
#include "common.h"
#include "base/num.h" /* conversions of 16-bit numbers, which test_numbers.c proves */

#define T 5 /* tokens */
#define EPS 0x1p-52
#define PAIRS_MAX 64

typedef pe_status turn_call(const pe_encoding *, pe_side, pe_view, pe_view, pe_positions, const pe_run *, pe_error *);

static const pe_dtype types[] = { PE_F32, PE_F16, PE_BF16, PE_F64 };
static const pe_side sides[] = { PE_QUERY, PE_KEY, PE_VALUE, PE_OUTPUT };

/* Calls f with every example that rotates. */
static void each_rotation(void (*f)(const pe_info *, const char *))
{
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; pe_info_at(i)->hooks & PE_HOOK_ROTATE && k < pe_info_at(i)->example_count; k++)
            f(pe_info_at(i), pe_info_at(i)->examples[k]);
}

/* Specs with a magnitude other than 1, besides the examples. */
static const char *const sized[] = { "rope:magnitude=1.25,turn=qkvo",
                                     "rope:scaling=yarn,factor=4,trained=2048,turn=qkvo",
                                     "rope:pairs=adjacent-half,magnitude=0.7,turn=qkvo,dims=48,range=trailing", "xpos",
                                     "xpos:pairs=half,base=128,centre=100",
                                     "rope:magnitude=1.25,temperature=0.1,floor=64,shift=1,dims=32" };

/* Tokens' positions that every rotation serves (xpos: near its centre); axes differ. */
static pe_positions positions(const pe_encoding *e, int64_t *at, uint64_t *seed)
{
    int64_t axes = pe_encoding_axes(e);
    for (int64_t n = 0; n < T * axes; n++)
        at[n] = test_range(seed, -600, 900);
    return pe_positions_of(at, PE_I64, 1, T, axes);
}

static void fill(pe_view v, uint64_t *seed) /* packed */
{
    for (int64_t n = 0; n < v.tokens * v.heads * v.dim; n++)
        num_store(v.data, v.dtype, n, test_uniform(seed) * 4);
}

static double get(pe_view v, int64_t t, int64_t h, int64_t d)
{
    return num_load(v.data, v.dtype, t * v.token_stride + h * v.head_stride + d);
}

/* Bits of the element, as a number. */
static uint64_t bits(pe_view v, int64_t t, int64_t h, int64_t d)
{
    uint64_t b = 0;
    size_t size = pe_dtype_size(v.dtype);
    memcpy(&b, (char *)v.data + (size_t)(t * v.token_stride + h * v.head_stride + d) * size, size);
    return b;
}

static void assert_same(pe_view a, pe_view b, const char *what)
{
    for (int64_t t = 0; t < a.tokens; t++)
        for (int64_t h = 0; h < a.heads; h++)
            for (int64_t d = 0; d < a.dim; d++)
                if (bits(a, t, h, d) != bits(b, t, h, d))
                    fail_msg("%s: token %d, head %d, element %d is %.9g; needs %.9g", what, (int)t, (int)h, (int)d,
                             get(a, t, h, d), get(b, t, h, d));
}

/* Packed, by its strides. */
static pe_view view(void *data, pe_dtype type, int64_t heads, int64_t dim)
{
    return (pe_view){ data, type, 1, T, heads, dim, 0, heads * dim, dim };
}

/* ------------------------------------------------ float32: each product rounded */

static _Alignas(8) unsigned char space[8][T * 8 * 64 * 8];

typedef struct turning {
    double c[T][PAIRS_MAX], s[T][PAIRS_MAX];
    pe_pair pair[PAIRS_MAX];
    int64_t pairs;
} turning;

static void tables(turning *t, const pe_encoding *e, pe_side side, pe_dtype type, pe_positions at)
{
    pe_error err = { 0 };
    static _Alignas(8) unsigned char c[T * PAIRS_MAX * 8], s[T * PAIRS_MAX * 8];
    int64_t P = t->pairs = pe_encoding_pair_count(e);
    assert_ok(pe_encoding_pairs(e, t->pair, P, &err));
    assert_ok(test_table(e, side, view(c, type, 1, P), view(s, type, 1, P), at, &err));
    for (int64_t n = 0; n < T * P; n++) {
        t->c[n / P][n % P] = num_load(c, type, n);
        t->s[n / P][n % P] = num_load(s, type, n);
    }
}

/* x*c - y*s and x*s + y*c, products stored before they are added. */
static void turn_f32(float *out, const float *in, const turning *t, int64_t token, int64_t n)
{
    const pe_pair *p = &t->pair[n];
    float x = in[p->x], y = in[p->y], c = (float)t->c[token][n], s = (float)t->s[token][n];
    volatile float xc = x * c, ys = y * s, xs = x * s, yc = y * c;
    out[p->x_out] = xc - ys;
    out[p->y_out] = xs + yc;
}

static void turn_f64(double *out, const double *in, const turning *t, int64_t token, int64_t n)
{
    const pe_pair *p = &t->pair[n];
    double x = in[p->x], y = in[p->y], c = t->c[token][n], s = t->s[token][n];
    volatile double xc = x * c, ys = y * s, xs = x * s, yc = y * c;
    out[p->x_out] = xc - ys;
    out[p->y_out] = xs + yc;
}

/* The whole definition, for any type: float16 and bfloat16 go through float32 and are rounded once. */
static void define(pe_view y, pe_view x, const turning *t)
{
    float in[64], out[64];
    double in64[64], out64[64];
    for (int64_t row = 0; row < T * x.heads; row++) {
        for (int64_t d = 0; d < x.dim; d++) {
            out64[d] = in64[d] = num_load(x.data, x.dtype, row * x.dim + d);
            out[d] = in[d] = (float)in64[d];
        }
        for (int64_t n = 0; n < t->pairs; n++) {
            turn_f32(out, in, t, row / x.heads, n);
            turn_f64(out64, in64, t, row / x.heads, n);
        }
        for (int64_t d = 0; d < x.dim; d++)
            num_store(y.data, y.dtype, row * x.dim + d, x.dtype == PE_F64 ? out64[d] : (double)out[d]);
    }
}

static void check_definition(const pe_info *row, const char *spec)
{
    (void)row;
    uint64_t seed = 1;
    pe_error err = { 0 };
    int64_t at[T * PE_AXES_MAX];
    turning t;
    pe_encoding *e = test_encoding(spec, test_shape);
    for (int k = 0; k < COUNT(types); k++)
        for (int side = PE_QUERY; side <= PE_KEY; side++) {
            pe_positions where = positions(e, at, &seed);
            int64_t heads = side == PE_QUERY ? 8 : 4;
            pe_view x = view(space[0], types[k], heads, 64), y = view(space[1], types[k], heads, 64),
                want = view(space[2], types[k], heads, 64);
            fill(x, &seed);
            tables(&t, e, (pe_side)side, types[k] == PE_F64 ? PE_F64 : PE_F32, where);
            define(want, x, &t);
            assert_ok(pe_rotate(e, (pe_side)side, y, x, where, test_run(e), &err));
            assert_same(y, want, spec);
            memset(space[1], 0, sizeof space[1]);
            assert_ok(pe_rotate(e, (pe_side)side, pe_view_of(space[1], types[k], 1, T, heads, 64), pe_view_of(space[0], types[k], 1, T, heads, 64), where, test_run(e), &err));
            assert_same(y, want, "pe_view_of");
        }
    pe_encoding_free(e);
}

static void rotate_is_the_table_with_each_product_rounded(void **state)
{
    (void)state;
    each_rotation(check_definition); /* bit for bit: no tolerance */
}

/* One fused rounding would differ: the claim above is about something. */
static void contraction_would_show(void **state)
{
    (void)state;
    uint64_t seed = 2;
    int differ = 0;
    for (int n = 0; n < 1000; n++) {
        float x = (float)test_uniform(&seed), y = (float)test_uniform(&seed), c = (float)test_uniform(&seed),
            s = (float)test_uniform(&seed);
        volatile float xc = x * c, ys = y * s;
        volatile float plain = xc - ys, fused = fmaf(x, c, -ys);
        differ += plain != fused;
    }
    assert_true(differ > 100);
}

/* ------------------------------------------------ views */

static void in_place_equals_out_of_place_for(const pe_info *row, const char *spec)
{
    (void)row;
    uint64_t seed = 3;
    pe_error err = { 0 };
    int64_t at[T * PE_AXES_MAX];
    pe_encoding *e = test_encoding(spec, test_shape);
    pe_positions where = positions(e, at, &seed);
    static turn_call *const calls[] = { pe_rotate, pe_unrotate, pe_rotate_back };
    for (int k = 0; k < COUNT(types); k++)
        for (int c = 0; c < COUNT(calls); c++)
            for (int s = 0; s < COUNT(sides); s++) {
                pe_view x = view(space[0], types[k], 8, 64), y = view(space[1], types[k], 8, 64);
                fill(x, &seed);
                assert_ok(calls[c](e, sides[s], y, x, where, test_run(e), &err));
                assert_ok(calls[c](e, sides[s], x, x, where, test_run(e), &err));
                assert_same(x, y, spec);
            }
    pe_encoding_free(e);
}

static void in_place_equals_out_of_place(void **state)
{
    (void)state;
    each_rotation(in_place_equals_out_of_place_for);
}

/* A view inside a larger block of poison. */
typedef struct inlay {
    const char *name;
    int64_t token_stride, head_stride, first, size;
} inlay;

static const inlay inlays[] = {
    { "(heads, tokens, dim)", 64, T * 64, 0, 8 * T * 64 },
    { "gaps after heads and tokens", 8 * 67 + 5, 67, 3, T * (8 * 67 + 5) + 3 },
    { "q inside qkv", (8 + 4 + 4) * 64, 64, 0, T * 16 * 64 },
    { "last heads inside qkv", (8 + 8) * 64, 64, 8 * 64, T * 16 * 64 },
};
#define BLOCK (T * 16 * 64 + 64)

static void *poisoned(unsigned char *block)
{
    memset(block, 0xa5, BLOCK * 8);
    return block;
}

static pe_view inlaid(const inlay *i, unsigned char *block, pe_dtype type)
{
    return (pe_view){ block + (size_t)i->first * pe_dtype_size(type), type, 1, T, 8, 64, 0, i->token_stride, i->head_stride };
}

static void copy(pe_view to, pe_view from)
{
    size_t size = pe_dtype_size(to.dtype);
    for (int64_t t = 0; t < to.tokens; t++)
        for (int64_t h = 0; h < to.heads; h++)
            memcpy((char *)to.data + (size_t)(t * to.token_stride + h * to.head_stride) * size,
                   (char *)from.data + (size_t)(t * from.token_stride + h * from.head_stride) * size,
                   (size_t)to.dim * size);
}

/* Every byte of the block outside the view is still poison. */
static void assert_untouched(const inlay *i, unsigned char *block, pe_view v)
{
    static unsigned char inside[BLOCK * 8];
    size_t size = pe_dtype_size(v.dtype);
    memset(inside, 0, sizeof inside);
    for (int64_t t = 0; t < v.tokens; t++)
        for (int64_t h = 0; h < v.heads; h++)
            memset(inside + (size_t)(i->first + t * v.token_stride + h * v.head_stride) * size, 1,
                   (size_t)v.dim * size);
    for (size_t b = 0; b < sizeof inside; b++)
        if (!inside[b] && block[b] != 0xa5)
            fail_msg("%s: byte %zu outside the view was written", i->name, b);
}

static void strided_views_equal_packed_ones_and_touch_nothing_else(void **state)
{
    (void)state;
    static const char *const specs[] = { "rope", "rope:pairs=adjacent-half,dims=48,range=trailing",
                                         "rope:sections=8/12/12", "xpos", "rope:turn=qkvo,magnitude=0.8" };
    static _Alignas(8) unsigned char from[BLOCK * 8], to[BLOCK * 8];
    uint64_t seed = 4;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(specs); n++)
        for (int k = 0; k < COUNT(types); k++)
            for (int i = 0; i < COUNT(inlays) * COUNT(inlays); i++) {
                const inlay *a = &inlays[i % COUNT(inlays)], *b = &inlays[i / COUNT(inlays)];
                int64_t at[T * PE_AXES_MAX], turned[T * PE_AXES_MAX];
                pe_encoding *e = test_encoding(specs[n], test_shape);
                pe_positions where = positions(e, at, &seed), across = { .data = turned, .dtype = PE_I64, .batch = 1, .tokens = T, .axes = where.axes, .token_stride = 1, .axis_stride = T };
                for (int64_t p = 0; p < T * where.axes; p++) /* the same positions in (axes, tokens) order */
                    turned[p % where.axes * T + p / where.axes] = at[p];
                pe_view x = view(space[0], types[k], 8, 64), want = view(space[1], types[k], 8, 64);
                fill(x, &seed);
                assert_ok(pe_rotate(e, sides[i % COUNT(sides)], want, x, where, NULL, &err));
                poisoned(from);
                poisoned(to);
                pe_view sx = inlaid(a, from, types[k]), sy = inlaid(b, to, types[k]);
                copy(sx, x);
                assert_ok(pe_rotate(e, sides[i % COUNT(sides)], sy, sx, across, NULL, &err));
                assert_same(sy, want, b->name);
                assert_same(sx, x, "the input");
                assert_untouched(b, to, sy);
                assert_ok(pe_rotate(e, sides[i % COUNT(sides)], sx, sx, across, NULL, &err));
                assert_same(sx, want, a->name);
                assert_untouched(a, from, sx);
                pe_encoding_free(e);
            }
}

static void elements_that_do_not_turn_pass_through(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        int64_t first, last; /* what turns */
    } cases[] = { { "rope:dims=32", 0, 32 }, { "rope:fraction=0.25", 0, 16 }, { "rope:dims=32,range=trailing", 32, 64 },
                  { "rope:dims=24,range=trailing,pairs=adjacent,magnitude=3", 40, 64 }, { "rope:dims=0", 0, 0 } };
    uint64_t seed = 5;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(cases); n++)
        for (int k = 0; k < COUNT(types); k++) {
            int64_t at[T * PE_AXES_MAX];
            int changed = 0;
            pe_encoding *e = test_encoding(cases[n].spec, test_shape);
            pe_positions where = positions(e, at, &seed);
            pe_view x = view(space[0], types[k], 8, 64), y = view(space[1], types[k], 8, 64);
            fill(x, &seed);
            assert_ok(pe_rotate(e, PE_QUERY, y, x, where, NULL, &err));
            for (int64_t row = 0; row < T * 8; row++)
                for (int64_t d = 0; d < 64; d++) {
                    bool same = bits(x, row / 8, row % 8, d) == bits(y, row / 8, row % 8, d);
                    if (d >= cases[n].first && d < cases[n].last)
                        changed += !same;
                    else if (!same)
                        fail_msg("%s: element %d does not turn and was changed", cases[n].spec, (int)d);
                }
            assert_true(changed > T * 8 * (cases[n].last - cases[n].first) / 2 || cases[n].last == 0);
            pe_encoding_free(e);
        }
}

static void no_tokens_are_fine(void **state)
{
    (void)state;
    pe_error err = { 0 };
    pe_encoding *e = test_encoding("rope", test_shape);
    pe_view none = pe_view_of(NULL, PE_F32, 1, 0, 8, 64);
    assert_ok(pe_rotate(e, PE_QUERY, none, none, pe_positions_of(NULL, PE_I64, 1, 0, 1), NULL, &err));
    assert_ok(pe_unrotate(e, PE_KEY, none, none, pe_positions_of(NULL, PE_I64, 1, 0, 1), NULL, &err));
    assert_ok(pe_rotate_back(e, PE_VALUE, none, none, pe_positions_of(NULL, PE_I64, 1, 0, 1), NULL, &err));
    pe_view table = pe_view_of(NULL, PE_F32, 1, 0, 1, 32);
    assert_ok(pe_rotate_table(e, PE_KEY, table, table, pe_positions_of(NULL, PE_I64, 1, 0, 1), NULL, &err));
    pe_encoding_free(e);
}

/* NaN and infinity stay in their pair; the other 62 elements have the bits they have without. */
static void one_bad_pair_does_not_leak_into_another(void **state)
{
    (void)state;
    static const char *const specs[] = { "rope", "rope:pairs=adjacent", "rope:pairs=adjacent-half", "xpos" };
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    uint64_t seed = 6;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(specs); n++)
        for (int b = 0; b < COUNT(bad); b++) {
            int64_t at[T * PE_AXES_MAX];
            pe_pair pair[PAIRS_MAX];
            pe_encoding *e = test_encoding(specs[n], test_shape);
            pe_positions where = positions(e, at, &seed);
            pe_view x = view(space[0], PE_F32, 8, 64), good = view(space[1], PE_F32, 8, 64),
                y = view(space[2], PE_F32, 8, 64);
            assert_ok(pe_encoding_pairs(e, pair, 32, &err));
            fill(x, &seed);
            assert_ok(pe_rotate(e, PE_QUERY, good, x, where, NULL, &err));
            int64_t p = test_range(&seed, 0, 31), t = test_range(&seed, 0, T - 1), h = test_range(&seed, 0, 7);
            ((float *)x.data)[(t * 8 + h) * 64 + pair[p].x] = (float)bad[b];
            assert_ok(pe_rotate(e, PE_QUERY, y, x, where, NULL, &err));
            for (int64_t i = 0; i < T * 8 * 64; i++) {
                bool hit = i / 64 == t * 8 + h && (i % 64 == pair[p].x_out || i % 64 == pair[p].y_out);
                if (hit)
                    assert_true(!isfinite(((float *)y.data)[i]));
                else
                    assert_true(bits(y, 0, 0, i) == bits(good, 0, 0, i));
            }
            pe_encoding_free(e);
        }
}

/* ------------------------------------------------ backwards and undone */

static double dot(pe_view a, pe_view b, double *terms)
{
    double sum = 0;
    *terms = 0;
    for (int64_t n = 0; n < a.tokens * a.heads * a.dim; n++) {
        double x = num_load(a.data, a.dtype, n) * num_load(b.data, b.dtype, n);
        sum += x;
        *terms += fabs(x);
    }
    return sum;
}

/* <R x, y> = <x, R^T y> in float64; 64 eps of the terms' sizes: each element has a few roundings, the sum the rest. */
static void check_transpose(const pe_info *row, const char *spec)
{
    (void)row;
    uint64_t seed = 7;
    pe_error err = { 0 };
    int64_t at[T * PE_AXES_MAX];
    pe_encoding *e = test_encoding(spec, test_shape);
    pe_positions where = positions(e, at, &seed);
    for (int s = 0; s < COUNT(sides); s++) {
        pe_view x = view(space[0], PE_F64, 8, 64), y = view(space[1], PE_F64, 8, 64),
            rx = view(space[2], PE_F64, 8, 64), ry = view(space[3], PE_F64, 8, 64);
        double terms, more;
        fill(x, &seed);
        fill(y, &seed);
        assert_ok(pe_rotate(e, sides[s], rx, x, where, test_run(e), &err));
        assert_ok(pe_rotate_back(e, sides[s], ry, y, where, test_run(e), &err));
        double left = dot(rx, y, &terms), right = dot(x, ry, &more);
        if (fabs(left - right) > 64 * EPS * (terms + more))
            fail_msg("%s, side %d: <Rx, y> is %.17g, <x, R'y> is %.17g", spec, s, left, right);
    }
    pe_encoding_free(e);
}

static void rotate_back_is_the_transpose(void **state)
{
    (void)state;
    each_rotation(check_transpose);
    for (int n = 0; n < COUNT(sized); n++)
        check_transpose(NULL, sized[n]);
}

/* One side of one spec, float64: what rotate_back and unrotate are, from the table. The transpose reads where rotate
 * wrote: (x c + y s, y c - x s) with the same magnitude, bit for bit. The inverse is that over the magnitude squared. */
static void check_explicitly(const pe_encoding *e, pe_side side, const turning *t, pe_positions where, uint64_t *seed)
{
    pe_error err = { 0 };
    pe_view y = view(space[0], PE_F64, 8, 64), back = view(space[1], PE_F64, 8, 64),
        undone = view(space[2], PE_F64, 8, 64);
    fill(y, seed);
    assert_ok(pe_rotate_back(e, side, back, y, where, test_run(e), &err));
    assert_ok(pe_unrotate(e, side, undone, y, where, test_run(e), &err));
    for (int64_t row = 0; row < T * 8; row++)
        for (int64_t n = 0; n < t->pairs; n++) {
            const pe_pair *p = &t->pair[n];
            double a = get(y, row / 8, row % 8, p->x_out), b = get(y, row / 8, row % 8, p->y_out), c = t->c[row / 8][n],
                s = t->s[row / 8][n];
            volatile double ac = a * c, bs = b * s, as = a * s, bc = b * c;
            double x = get(back, row / 8, row % 8, p->x), z = get(back, row / 8, row % 8, p->y), square = c * c + s * s;
            assert_true(x == ac + bs && z == bc - as);
            /* two products, a sum, a division, c^2 + s^2 */
            double tolerance = 16 * EPS * (fabs(a) + fabs(b)) / sqrt(square);
            assert_true(fabs(get(undone, row / 8, row % 8, p->x) - x / square) <= tolerance);
            assert_true(fabs(get(undone, row / 8, row % 8, p->y) - z / square) <= tolerance);
        }
}

static void backward_keeps_the_magnitude_and_the_inverse_takes_its_reciprocal(void **state)
{
    (void)state;
    uint64_t seed = 8;
    for (int n = 0; n < COUNT(sized); n++)
        for (int side = PE_QUERY; side <= PE_KEY; side++) {
            int64_t at[T * PE_AXES_MAX];
            turning t;
            pe_encoding *e = test_encoding(sized[n], test_shape);
            pe_positions where = positions(e, at, &seed);
            tables(&t, e, (pe_side)side, PE_F64, where);
            double m = hypot(t.c[0][0], t.s[0][0]);
            if (at[0] != 0 && at[0] != 100)
                assert_true(fabs(m - 1) > 1e-6); /* there is a magnitude to get wrong */
            check_explicitly(e, (pe_side)side, &t, where, &seed);
            pe_encoding_free(e);
        }
}

/* Values turn as keys do; outputs are turned back: the inverse of what values had. */
static void outputs_undo_what_values_had(void **state)
{
    (void)state;
    static const char *const specs[] = { "rope:turn=qkvo,magnitude=0.8",
                                         "rope:turn=qkvo,magnitude=1.25,pairs=adjacent-half" };
    uint64_t seed = 9;
    pe_error err = { 0 };
    for (int n = 0; n < COUNT(specs); n++) {
        int64_t at[T * PE_AXES_MAX];
        pe_encoding *e = test_encoding(specs[n], test_shape);
        pe_positions where = positions(e, at, &seed);
        pe_view x = view(space[0], PE_F64, 4, 64), v = view(space[1], PE_F64, 4, 64), k = view(space[2], PE_F64, 4, 64),
            o = view(space[3], PE_F64, 4, 64),
                u = view(space[4], PE_F64, 4, 64);
        fill(x, &seed);
        assert_ok(pe_rotate(e, PE_VALUE, v, x, where, NULL, &err));
        assert_ok(pe_rotate(e, PE_KEY, k, x, where, NULL, &err));
        assert_same(v, k, "a value turns as a key");
        assert_ok(pe_rotate(e, PE_OUTPUT, o, x, where, NULL, &err));
        assert_ok(pe_unrotate(e, PE_VALUE, u, x, where, NULL, &err));
        assert_same(o, u, "an output turns back");
        pe_encoding_free(e);
    }
    static const struct {
        const char *spec;
        bool value, output;
    } turns[] = { { "rope", false, false }, { "rope:turn=qkv", true, false }, { "rope:turn=qko", false, true },
                  { "rope:turn=qkvo", true, true }, { "xpos", false, false } };
    for (int n = 0; n < COUNT(turns); n++) {
        int64_t at[T * PE_AXES_MAX];
        pe_encoding *e = test_encoding(turns[n].spec, test_shape);
        pe_positions where = positions(e, at, &seed);
        pe_view x = view(space[0], PE_F32, 4, 64), y = view(space[1], PE_F32, 4, 64);
        fill(x, &seed);
        assert_ok(pe_rotate(e, PE_VALUE, y, x, where, NULL, &err));
        assert_int_equal(memcmp(x.data, y.data, T * 4 * 64 * 4) != 0, turns[n].value);
        assert_ok(pe_rotate(e, PE_OUTPUT, y, x, where, NULL, &err));
        assert_int_equal(memcmp(x.data, y.data, T * 4 * 64 * 4) != 0, turns[n].output);
        pe_encoding_free(e);
    }
}

/* Back to x. float64 and float32: 8 eps of the pair's length for two turns of two products and a sum, factors rounded.
 * 16-bit types round the turned value to storage: one eps of it, and of x. */
static void check_undone(const pe_info *row, const char *spec)
{
    (void)row;
    static const double eps[FLOAT_COUNT] = { [PE_F32] = 8 * 0x1p-23, [PE_F16] = 4 * 0x1p-10, [PE_BF16] = 4 * 0x1p-7,
                                                [PE_F64] = 8 * EPS };
    uint64_t seed = 10;
    pe_error err = { 0 };
    int64_t at[T * PE_AXES_MAX];
    pe_encoding *e = test_encoding(spec, test_shape);
    pe_positions where = positions(e, at, &seed);
    for (int64_t n = 0; n < T * where.axes; n++)
        at[n] %= 500; /* so that float16 holds xpos */
    for (int k = 0; k < COUNT(types); k++)
        for (int s = 0; s < COUNT(sides); s++) {
            pe_view x = view(space[0], types[k], 8, 64), y = view(space[1], types[k], 8, 64),
                z = view(space[2], types[k], 8, 64);
            fill(x, &seed);
            assert_ok(pe_rotate(e, sides[s], y, x, where, test_run(e), &err));
            assert_ok(pe_unrotate(e, sides[s], z, y, where, test_run(e), &err));
            for (int64_t i = 0; i < T * 8 * 64; i++) {
                double a = num_load(x.data, types[k], i), b = num_load(z.data, types[k], i);
                if (fabs(a - b) > eps[types[k]] * 4 * sqrt(2)) /* elements are below 4 */
                    fail_msg("%s, side %d, type %d: %.9g came back as %.9g", spec, s, k, a, b);
            }
        }
    pe_encoding_free(e);
}

static void unrotate_undoes_rotate(void **state)
{
    (void)state;
    each_rotation(check_undone);
    for (int n = 0; n < COUNT(sized); n++)
        check_undone(NULL, sized[n]);
}

/* ------------------------------------------------ layouts */

/* to[d] = from[where d lies in the other layout]: half has pair i at i and i + 32, adjacent at 2i and 2i + 1. */
static void permute(pe_view to, pe_view from, bool to_adjacent)
{
    for (int64_t n = 0; n < T * 8 * 32; n++) {
        int64_t base = n / 32 * 64, i = n % 32, half[] = { base + i, base + i + 32 },
            adjacent[] = { base + 2 * i, base + 2 * i + 1 };
        for (int j = 0; j < 2; j++)
            ((float *)to.data)[to_adjacent ? adjacent[j] : half[j]] =
                ((float *)from.data)[to_adjacent ? half[j] : adjacent[j]];
    }
}

static void layouts_are_equal_under_the_permutation(void **state)
{
    (void)state;
    uint64_t seed = 11;
    pe_error err = { 0 };
    int64_t at[T];
    pe_encoding *half = test_encoding("rope:pairs=half", test_shape),
        *adjacent = test_encoding("rope:pairs=adjacent", test_shape),
                *both = test_encoding("rope:pairs=adjacent-half", test_shape);
    pe_positions where = positions(half, at, &seed);
    pe_view x = view(space[0], PE_F32, 8, 64), px = view(space[1], PE_F32, 8, 64), y = view(space[2], PE_F32, 8, 64),
        py = view(space[3], PE_F32, 8, 64),
            again = view(space[4], PE_F32, 8, 64);
    fill(x, &seed);
    permute(px, x, true);
    assert_ok(pe_rotate(half, PE_QUERY, y, x, where, NULL, &err));
    assert_ok(pe_rotate(adjacent, PE_QUERY, py, px, where, NULL, &err));
    permute(again, py, false);
    assert_same(again, y, "adjacent against half");
    assert_ok(pe_rotate(both, PE_QUERY, again, px, where, NULL, &err));
    assert_same(again, y, "adjacent in, half out"); /* so q.k adds the same products: the dot products are equal */
    pe_encoding_free(half);
    pe_encoding_free(adjacent);
    pe_encoding_free(both);
}

static void adjacent_half_gives_the_dot_products_of_adjacent(void **state)
{
    (void)state;
    uint64_t seed = 12;
    pe_error err = { 0 };
    int64_t at[T];
    double score[2], terms;
    static const char *const specs[] = { "rope:pairs=adjacent", "rope:pairs=adjacent-half" };
    pe_view q = view(space[0], PE_F64, 8, 64), k = view(space[1], PE_F64, 8, 64), rq = view(space[2], PE_F64, 8, 64),
        rk = view(space[3], PE_F64, 8, 64);
    fill(q, &seed);
    fill(k, &seed);
    for (int n = 0; n < 2; n++) {
        uint64_t same = 13;
        pe_encoding *e = test_encoding(specs[n], test_shape);
        assert_ok(pe_rotate(e, PE_QUERY, rq, q, positions(e, at, &same), NULL, &err));
        assert_ok(pe_rotate(e, PE_KEY, rk, k, positions(e, at, &same), NULL, &err));
        score[n] = dot(rq, rk, &terms);
        pe_encoding_free(e);
    }
    assert_true(fabs(score[0] - score[1]) <= 64 * 8 * T * EPS * terms); /* the same terms in another order */
    assert_true(fabs(score[0]) > 1e-3 * terms);
}

/* ------------------------------------------------ specs that must agree */

static void assert_same_tables(const char *a, const char *b, pe_side side, int64_t least, int64_t most, pe_dtype type)
{
    uint64_t seed = 14;
    pe_error err = { 0 };
    pe_encoding *e[2] = { test_encoding(a, test_shape), test_encoding(b, test_shape) };
    for (int round = 0; round < 50; round++) {
        int64_t at[PE_AXES_MAX], where = test_range(&seed, least, most);
        _Alignas(8) unsigned char c[2][64 * 8], s[2][64 * 8];
        for (int i = 0; i < PE_AXES_MAX; i++)
            at[i] = where;
        for (int i = 0; i < 2; i++)
            assert_ok(pe_rotate_table(e[i], side, pe_view_of(c[i], type, 1, 1, 1, 32), pe_view_of(s[i], type, 1, 1, 1, 32), pe_positions_of(at, PE_I64, 1, 1, pe_encoding_axes(e[i])), NULL, &err));
        if (memcmp(c[0], c[1], 32 * pe_dtype_size(type)) || memcmp(s[0], s[1], 32 * pe_dtype_size(type)))
            fail_msg("%s and %s differ at %" PRId64, a, b, where);
    }
    pe_encoding_free(e[0]);
    pe_encoding_free(e[1]);
}

#define ONES "1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1"

static void scaling_by_1_is_no_scaling(void **state)
{
    (void)state;
    static const char *const specs[] = { "rope:scaling=linear,factor=1", "rope:scaling=dynamic,factor=1,trained=2048",
                                         "rope:scaling=dynamic,factor=4,trained=2048,length=2048",
                                         "rope:scaling=ntk,alpha=1", "rope:scaling=yarn,factor=1,trained=2048",
                                         "rope:scaling=yarn,factor=1,trained=2048,truncate=no",
                                         "rope:scaling=longrope,factor=1,trained=2048,short=" ONES ",long=" ONES,
                                         "rope:scaling=llama3,factor=1,trained=8192",
                                         "rope:scaling=proportional,turning=1",
                                         "rope:scaling=proportional,turning=1,factor=1" };
    for (int n = 0; n < COUNT(specs); n++)
        assert_same_tables(specs[n], "rope", PE_QUERY, -PE_POSITION_MAX, PE_POSITION_MAX, PE_F32); /* bit for bit */
}

static void equal_coordinates_on_all_axes_are_one_axis(void **state)
{
    (void)state;
    static const char *const specs[] = { "rope:sections=8/12/12", "rope:sections=12/10/10,split=interleaved",
                                         "rope:axes=4", "rope:sections=32/0/0" };
    for (int n = 0; n < COUNT(specs); n++)
        assert_same_tables(specs[n], "rope", PE_KEY, -PE_POSITION_MAX, PE_POSITION_MAX, PE_F64);
}

static void temperature_multiplies_queries_only(void **state)
{
    (void)state;
    const char *spec = "rope:temperature=0.1,floor=64,shift=1,dims=32";
    pe_error err = { 0 };
    pe_encoding *e = test_encoding(spec, test_shape), *plain = test_encoding("rope:dims=32", test_shape);
    for (int64_t t = 0; t < 700; t += 7) {
        double gain = 1 + 0.1 * log(1 + floor((double)(t + 1) / 64)); /* Llama 4 */
        pe_positions where = pe_positions_of(&t, PE_I64, 1, 1, 1);
        pe_view x = view(space[0], PE_F64, 8, 64), q = view(space[1], PE_F64, 8, 64), k = view(space[2], PE_F64, 8, 64),
            want = view(space[3], PE_F64, 8, 64);
        x.tokens = q.tokens = k.tokens = want.tokens = 1;
        uint64_t seed = 15;
        fill(x, &seed);
        assert_ok(pe_rotate(e, PE_QUERY, q, x, where, NULL, &err));
        assert_ok(pe_rotate(e, PE_KEY, k, x, where, NULL, &err));
        assert_ok(pe_rotate(plain, PE_QUERY, want, x, where, NULL, &err));
        assert_same(k, want, "keys have no temperature");
        for (int64_t i = 0; i < 8 * 64; i++) { /* elements that do not turn too: it is the query that is multiplied */
            double a = ((double *)q.data)[i], b = ((double *)want.data)[i] * gain;
            assert_true(fabs(a - b) <= 8 * EPS * gain * 4 * sqrt(2)); /* a few roundings of numbers below 4 */
        }
        if (t < 63)
            assert_same(q, want, "before the first floor nothing happens");
        assert_true(fabs(pe_encoding_gain(e, PE_QUERY, t) - gain) <= 2 * EPS * gain);
        assert_true(pe_encoding_gain(e, PE_KEY, t) == 1 && pe_encoding_gain(plain, PE_QUERY, t) == 1);
    }
    pe_encoding_free(e);
    pe_encoding_free(plain);
}

/* The float pipelines, written out for theta 10000 and d 64; volatile keeps each rounding. transformers: 1.0 / theta^(2i/d)
 * and its scaling in float32, then pos * inv_freq. ggml: theta = pos, theta *= theta_scale per pair, then the frequency
 * factor or freq_scale and the ramp. cos and sin of that float are taken in double and rounded once. */
static float hf_power(int i)
{
    return powf(10000, (float)(2 * i) / 64.0f);
}

static float hf_plain(int i, int64_t at)
{
    volatile float inverse = 1.0f / hf_power(i);
    return (float)at * inverse;
}

static float hf_linear(int i, int64_t at)
{
    volatile float inverse = 1.0f / hf_power(i), slow = inverse / 3.0f;
    return (float)at * slow;
}

static float hf_longrope(int i, int64_t at)
{
    volatile float stretched = 1.7f * hf_power(i), inverse = 1.0f / stretched;
    return (float)at * inverse;
}

/* factor 4, trained 2048: 64 ln(2048/(64 pi))/(2 ln 10000) = 8.06, 64 ln(2048/(2 pi))/(2 ln 10000) = 20.1: pairs 8 to 21. */
static float ramp_of(int i)
{
    volatile float ramp = ((float)i - 8.0f) / 13.0f;
    return ramp < 0 ? 0 : ramp > 1 ? 1 : ramp;
}

static float hf_yarn(int i, int64_t at)
{
    volatile float power = hf_power(i), fast = 1.0f / power, stretched = 4.0f * power, slow = 1.0f / stretched;
    volatile float keep = 1.0f - ramp_of(i), a = slow * (1.0f - keep), b = fast * keep, inverse = a + b;
    return (float)at * inverse;
}

/* factor 8, trained 8192, low 1, high 4. */
static float hf_llama3(int i, int64_t at)
{
    volatile float inverse = 1.0f / hf_power(i), length = 6.2831855f / inverse;
    if (length > 8192.0f)
        inverse = inverse / 8.0f;
    else if (!(length < 2048.0f)) {
        volatile float turns = 8192.0f / length, smooth = (turns - 1.0f) / 3.0f, rest = 1.0f - smooth;
        volatile float part = rest * inverse, a = part / 8.0f, b = smooth * inverse;
        inverse = a + b;
    }
    return (float)at * inverse;
}

static float ggml_plain(int i, int64_t at)
{
    volatile float angle = (float)at, step = powf(10000, -2.0f / 64);
    for (int n = 0; n < i; n++)
        angle = angle * step;
    return angle;
}

static float ggml_linear(int i, int64_t at)
{
    volatile float scale = 1.0f / 3.0f;
    return scale * ggml_plain(i, at);
}

static float ggml_factors(int i, int64_t at)
{
    volatile float ratio = (float)(1 / (1 / 1.7));
    return ggml_plain(i, at) / ratio;
}

static float ggml_yarn(int i, int64_t at)
{
    volatile float fast = ggml_plain(i, at), slow = 0.25f * fast, mix = 1.0f - ramp_of(i);
    volatile float a = slow * (1.0f - mix), b = fast * mix;
    return mix != 0 ? a + b : slow;
}

static void check_pipeline(const char *spec, float (*angle_of)(int, int64_t), double magnitude)
{
    uint64_t seed = 16;
    pe_error err = { 0 };
    pe_encoding *e = test_encoding(spec, test_shape);
    for (int round = 0; round < 40; round++) {
        int64_t at = round < 2 ? round : test_range(&seed, -2000000, 2000000);
        float c[32], s[32];
        assert_ok(pe_rotate_table(e, PE_KEY, pe_view_of(c, PE_F32, 1, 1, 1, 32), pe_view_of(s, PE_F32, 1, 1, 1, 32), pe_positions_of(&at, PE_I64, 1, 1, 1), NULL, &err));
        for (int i = 0; i < 32; i++) {
            double angle = angle_of(i, at);
            if (c[i] != (float)(cos(angle) * magnitude) || s[i] != (float)(sin(angle) * magnitude))
                fail_msg("%s: pair %d at %" PRId64 " is (%.9g, %.9g); the pipeline gives (%.9g, %.9g)", spec, i, at,
                         (double)c[i], (double)s[i], cos(angle) * magnitude, sin(angle) * magnitude);
        }
    }
    pe_encoding_free(e);
}

#define EVENLY(x) x "/" x "/" x "/" x "/" x "/" x "/" x "/" x
#define ON_EVERY_PAIR(x) EVENLY(x) "/" EVENLY(x) "/" EVENLY(x) "/" EVENLY(x)
#define LONGROPE "scaling=longrope,magnitude=1,trained=64,short=" ON_EVERY_PAIR("1.7") ",long=" ON_EVERY_PAIR("1.7")

static void precision_reproduces_the_float_pipelines(void **state)
{
    (void)state;
    check_pipeline("rope:precision=hf", hf_plain, 1);
    check_pipeline("rope:precision=hf,magnitude=1.25", hf_plain, 1.25);
    check_pipeline("rope:precision=hf,scaling=linear,factor=3", hf_linear, 1);
    check_pipeline("rope:precision=hf,scaling=yarn,factor=4,trained=2048,magnitude=1", hf_yarn, 1);
    check_pipeline("rope:precision=hf,scaling=llama3,factor=8,trained=8192", hf_llama3, 1);
    check_pipeline("rope:precision=hf," LONGROPE, hf_longrope, 1);
    check_pipeline("rope:precision=ggml", ggml_plain, 1);
    check_pipeline("rope:precision=ggml,magnitude=0.75,pairs=adjacent", ggml_plain, 0.75);
    check_pipeline("rope:precision=ggml,scaling=linear,factor=3", ggml_linear, 1);
    check_pipeline("rope:precision=ggml,scaling=yarn,factor=4,trained=2048,magnitude=1", ggml_yarn, 1);
    check_pipeline("rope:precision=ggml," LONGROPE, ggml_factors, 1);
}

/* A caller's own kernel needs no more than the pairs: sign, phase and axis included. */
static void pairs_say_what_the_table_holds(const pe_info *row, const char *spec)
{
    (void)row;
    pe_error err = { 0 };
    pe_encoding *e = test_encoding(spec, test_shape);
    int64_t n = pe_encoding_pair_count(e), at[PE_AXES_MAX] = { 0, 5, 3, 4, 2, 1, 7, 6 };
    pe_pair pair[32];
    double c[32], s[32], magnitude = pe_encoding_magnitude(e);
    for (at[0] = 0; n && !strstr(spec, "precision") && at[0] < 20; at[0] += 4) {
        double gain = pe_encoding_gain(e, PE_QUERY, at[0]);
        assert_ok(pe_encoding_pairs(e, pair, n, &err));
        assert_ok(test_table(e, PE_QUERY, pe_view_of(c, PE_F64, 1, 1, 1, n), pe_view_of(s, PE_F64, 1, 1, 1, n), pe_positions_of(at, PE_I64, 1, 1, pe_encoding_axes(e)), &err));
        for (int64_t p = 0; p < n && (magnitude == 1 || !strstr(spec, "xpos")); p++) {
            double angle = (double)at[pair[p].axis] * pair[p].frequency + pair[p].phase, m = magnitude * gain;
            if (strstr(spec, "xpos")) /* its magnitude moves with the position */
                m = hypot(c[p], s[p]);
            if (fabs(c[p] - m * cos(angle)) > 1e-13 || fabs(s[p] - m * sin(angle)) > 1e-13)
                fail_msg("%s: pair %" PRId64 " at %" PRId64 " turns by another angle than it says", spec, p, at[0]);
            assert_true(fabs((pair[p].turns[0] + pair[p].turns[1]) * 6.283185307179586 - pair[p].frequency) <= 1e-15);
        }
    }
    pe_encoding_free(e);
}

static void every_pair_says_how_it_turns(void **state)
{
    (void)state;
    test_each_example(pairs_say_what_the_table_holds);
    pairs_say_what_the_table_holds(NULL, "rope:sign=negative");
    pairs_say_what_the_table_holds(NULL, "rope:sign=negative,axes=2,split=axial,coords=normalised,extent=9/7");
}

/* A magnitude that its type cannot hold is an error, not an infinity. */
static void xpos_stays_within_its_type(void **state)
{
    (void)state;
    static const struct {
        pe_dtype type;
        int64_t fits, fails;
    } tries[] = { { PE_F16, 3000, 20000 }, { PE_BF16, 30000, 36000 }, { PE_F32, 30000, 36000 }, { PE_F64, 200000, 300000 } };
    pe_error err = { 0 };
    pe_encoding *e = test_encoding("xpos", test_shape);
    for (int i = 0; i < COUNT(tries); i++) {
        double numbers[64] = { 0 };
        pe_view k = pe_view_of(numbers, tries[i].type, 1, 1, 1, 64);
        pe_positions at = pe_positions_of(&tries[i].fits, PE_I64, 1, 1, 1);
        assert_ok(pe_rotate(e, PE_KEY, k, k, at, NULL, &err));
        at.data = &tries[i].fails;
        assert_int_equal(pe_rotate(e, PE_KEY, k, k, at, NULL, &err), PE_ERR_POSITION);
    }
    pe_encoding_free(e);
}

/* The same holds of a table whose cos and sin differ in type: both must hold the magnitude. */
static void a_table_of_two_types_stays_within_the_narrower_one(void **state)
{
    (void)state;
    static const pe_dtype held[] = { PE_F16, PE_BF16, PE_F32, PE_F64 };
    static const int64_t fails[] = { 20000, 36000, 36000, 300000 }; /* as above, by type */
    pe_error err = { 0 };
    pe_encoding *e = test_encoding("xpos", test_shape);
    for (int i = 0; i < COUNT(held); i++)
        for (int j = 0; j < COUNT(held); j++)
            for (int f = 0; f < COUNT(fails); f++) {
                double c[32], s[32];
                pe_positions at = pe_positions_of(&fails[f], PE_I64, 1, 1, 1);
                pe_status got = pe_rotate_table(e, PE_KEY, pe_view_of(c, held[i], 1, 1, 1, 32),
                                                pe_view_of(s, held[j], 1, 1, 1, 32), at, NULL, &err);
                bool fits = fails[f] < fails[i] && fails[f] < fails[j];
                if (got != (fits ? PE_OK : PE_ERR_POSITION))
                    fail_msg("cos of type %d, sin of type %d at %" PRId64 ": status %d", held[i], held[j], fails[f],
                             got);
            }
    pe_encoding_free(e);
}

/* Where those code bases have no such pipeline, their precision still means the same angle, in float32. */
static void precision_keeps_every_other_key(void **state)
{
    (void)state;
    static const char *const rest[] = { "denominator=d-2", "theta=100,axes=2,split=axial,coords=normalised,extent=14/16",
                                        "scaling=proportional,turning=0.25", "dims=32", "axes=2,split=blocks" };
    pe_error err = { 0 };
    for (int i = 0; i < COUNT(rest); i++) {
        char text[160];
        snprintf(text, sizeof text, "rope:%s,precision=hf", rest[i]);
        pe_encoding *hf = test_encoding(text, test_shape);
        snprintf(text, sizeof text, "rope:%s", rest[i]);
        pe_encoding *exact = test_encoding(text, test_shape);
        int64_t at[] = { 3, 11 }, axes = pe_encoding_axes(hf), n = pe_encoding_pair_count(hf);
        double c[2][32], s[2][32];
        for (int k = 0; k < 2; k++)
            assert_ok(pe_rotate_table(k ? exact : hf, PE_KEY, pe_view_of(c[k], PE_F64, 1, 1, 1, n), pe_view_of(s[k], PE_F64, 1, 1, 1, n), pe_positions_of(at, PE_I64, 1, 1, axes), NULL, &err));
        for (int64_t p = 0; p < n; p++) /* angles below 24 rounded in float32 a few times */
            if (fabs(c[0][p] - c[1][p]) > 1e-5 || fabs(s[0][p] - s[1][p]) > 1e-5)
                fail_msg("%s: pair %" PRId64 " turns otherwise with precision=hf", text, p);
        pe_encoding_free(hf);
        pe_encoding_free(exact);
    }
}

static void precision_changes_only_angles(void **state)
{
    (void)state;
    static const char *const rest = "theta=500000,dims=48,range=trailing,pairs=adjacent-half,sign=negative,"
                                    "scaling=yarn,factor=4,trained=2048";
    static const char *const precision[] = { "hf", "ggml" };
    pe_error err = { 0 };
    char text[300];
    int64_t at[T] = { 0, 1, 5, 17, 300 };
    turning exact, other;
    snprintf(text, sizeof text, "rope:%s", rest);
    pe_encoding *e = test_encoding(text, test_shape);
    pe_positions where = pe_positions_of(at, PE_I64, 1, T, 1);
    tables(&exact, e, PE_KEY, PE_F64, where);
    for (int i = 0; i < COUNT(precision); i++) {
        snprintf(text, sizeof text, "rope:%s,precision=%s", rest, precision[i]);
        pe_encoding *f = test_encoding(text, test_shape);
        tables(&other, f, PE_KEY, PE_F64, where);
        assert_int_equal(exact.pairs, other.pairs);
        assert_true(pe_encoding_magnitude(e) == pe_encoding_magnitude(f));
        assert_true(pe_encoding_scale(e) == pe_encoding_scale(f));
        for (int64_t n = 0; n < exact.pairs; n++) {
            assert_memory_equal(&exact.pair[n], &other.pair[n], offsetof(pe_pair, frequency));
            for (int t = 0; t < T; t++) {
                double m = hypot(other.c[t][n], other.s[t][n]);
                assert_true(fabs(m - pe_encoding_magnitude(e)) < 4 * EPS * m);
                /* a float32 angle of up to 300 radians is off by 300 * 2^-24 per rounding; ggml has one per pair */
                assert_true(fabs(exact.c[t][n] - other.c[t][n]) < 1e-3 && fabs(exact.s[t][n] - other.s[t][n]) < 1e-3);
            }
        }
        /* turning with the table is all that happens: the definition holds for these too (rotate_is_the_table...) */
        pe_view x = view(space[0], PE_F32, 8, 64), y = view(space[1], PE_F32, 8, 64),
            want = view(space[2], PE_F32, 8, 64);
        uint64_t seed = 17;
        fill(x, &seed);
        tables(&other, f, PE_KEY, PE_F32, where);
        define(want, x, &other);
        assert_ok(pe_rotate(f, PE_KEY, y, x, where, NULL, &err));
        assert_same(y, want, text);
        pe_encoding_free(f);
    }
    pe_encoding_free(e);
}

/* ------------------------------------------------ canonical specs */

static void check_canonical(const pe_info *row, const char *spec)
{
    uint64_t seed = 18;
    int64_t at[T * PE_AXES_MAX];
    pe_encoding *e = test_encoding(spec, test_shape), *again = test_encoding(pe_encoding_spec(e), test_shape);
    assert_string_equal(pe_encoding_spec(e), pe_encoding_spec(again));
    assert_true(pe_encoding_fingerprint(e) == pe_encoding_fingerprint(again));
    if (row->hooks & PE_HOOK_ROTATE) {
        turning one, two;
        pe_positions where = positions(e, at, &seed);
        for (int side = PE_QUERY; side <= PE_KEY; side++) {
            tables(&one, e, (pe_side)side, PE_F64, where);
            tables(&two, again, (pe_side)side, PE_F64, where);
            assert_int_equal(one.pairs, two.pairs);
            for (int64_t n = 0; n < T * one.pairs; n++)
                assert_true(one.c[n / one.pairs][n % one.pairs] == two.c[n / one.pairs][n % one.pairs] &&
                            one.s[n / one.pairs][n % one.pairs] == two.s[n / one.pairs][n % one.pairs]);
            for (int64_t n = 0; n < one.pairs; n++)
                assert_memory_equal(&one.pair[n], &two.pair[n], sizeof(pe_pair));
        }
    }
    pe_encoding_free(e);
    pe_encoding_free(again);
}

static void a_canonical_spec_makes_the_same_encoding(void **state)
{
    (void)state;
    test_each_example(check_canonical);
    for (int n = 0; n < COUNT(sized); n++)
        check_canonical(&(pe_info){ .hooks = PE_HOOK_ROTATE }, sized[n]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotate_is_the_table_with_each_product_rounded),
        cmocka_unit_test(contraction_would_show),
        cmocka_unit_test(in_place_equals_out_of_place),
        cmocka_unit_test(strided_views_equal_packed_ones_and_touch_nothing_else),
        cmocka_unit_test(elements_that_do_not_turn_pass_through),
        cmocka_unit_test(no_tokens_are_fine),
        cmocka_unit_test(one_bad_pair_does_not_leak_into_another),
        cmocka_unit_test(rotate_back_is_the_transpose),
        cmocka_unit_test(backward_keeps_the_magnitude_and_the_inverse_takes_its_reciprocal),
        cmocka_unit_test(outputs_undo_what_values_had),
        cmocka_unit_test(unrotate_undoes_rotate),
        cmocka_unit_test(layouts_are_equal_under_the_permutation),
        cmocka_unit_test(adjacent_half_gives_the_dot_products_of_adjacent),
        cmocka_unit_test(scaling_by_1_is_no_scaling),
        cmocka_unit_test(equal_coordinates_on_all_axes_are_one_axis),
        cmocka_unit_test(temperature_multiplies_queries_only),
        cmocka_unit_test(precision_reproduces_the_float_pipelines),
        cmocka_unit_test(every_pair_says_how_it_turns),
        cmocka_unit_test(xpos_stays_within_its_type),
        cmocka_unit_test(a_table_of_two_types_stays_within_the_narrower_one),
        cmocka_unit_test(precision_keeps_every_other_key),
        cmocka_unit_test(precision_changes_only_angles),
        cmocka_unit_test(a_canonical_spec_makes_the_same_encoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
