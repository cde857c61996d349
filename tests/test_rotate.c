/* labels: core; tier: quick; cost: 1 s */
/* SPDX-License-Identifier: MIT
 *
 * What rotate, unrotate and rotate_back do to memory, bit for bit. Truth is pe_rotate_table, which test_exact.c holds
 * to MPFR: here only the arithmetic after it, the layouts and the views are at stake. */
#include "views.h"

#define T 5 /* tokens */
#define EPS 0x1p-52
#define PAIRS_MAX 64

static const pe_side sides[] = { PE_QUERY, PE_KEY, PE_VALUE, PE_OUTPUT };

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

/* Element n of two packed views. */
static bool equal(pe_view a, pe_view b, int64_t n)
{
    size_t size = pe_dtype_size(a.dtype);
    return !memcmp((char *)a.data + (size_t)n * size, (char *)b.data + (size_t)n * size, size);
}

/* ------------------------------------------------ float32: each product rounded */

typedef struct rotation {
    double c[T][PAIRS_MAX], s[T][PAIRS_MAX];
    pe_pair pair[PAIRS_MAX];
    int64_t pairs;
} rotation;

static void tables(rotation *t, const pe_encoding *e, pe_side side, pe_dtype type, pe_positions at)
{
    int64_t P = t->pairs = pe_encoding_pair_count(e);
    pe_view c = fresh(type, 1, T, 1, P), s = fresh_like(c);
    assert_ok(pe_encoding_pairs(e, t->pair, P, &err));
    assert_ok(test_table(e, side, c, s, at, &err));
    for (int64_t n = 0; n < T * P; n++) {
        t->c[n / P][n % P] = num_load(c.data, type, n);
        t->s[n / P][n % P] = num_load(s.data, type, n);
    }
}

/* x*c - y*s and x*s + y*c, products stored before they are added. */
static void define_f32(float *out, const float *in, const rotation *t, int64_t token, int64_t n)
{
    const pe_pair *p = &t->pair[n];
    float x = in[p->x], y = in[p->y], c = (float)t->c[token][n], s = (float)t->s[token][n];
    volatile float xc = x * c, ys = y * s, xs = x * s, yc = y * c;
    out[p->x_out] = xc - ys;
    out[p->y_out] = xs + yc;
}

static void define_f64(double *out, const double *in, const rotation *t, int64_t token, int64_t n)
{
    const pe_pair *p = &t->pair[n];
    double x = in[p->x], y = in[p->y], c = t->c[token][n], s = t->s[token][n];
    volatile double xc = x * c, ys = y * s, xs = x * s, yc = y * c;
    out[p->x_out] = xc - ys;
    out[p->y_out] = xs + yc;
}

/* The whole definition, for any type: float16 and bfloat16 go through float32 and are rounded once. */
static void define(pe_view y, pe_view x, const rotation *t)
{
    float in[64], out[64];
    double in64[64], out64[64];
    for (int64_t row = 0; row < T * x.heads; row++) {
        for (int64_t d = 0; d < x.dim; d++) {
            out64[d] = in64[d] = num_load(x.data, x.dtype, row * x.dim + d);
            out[d] = in[d] = (float)in64[d];
        }
        for (int64_t n = 0; n < t->pairs; n++) {
            define_f32(out, in, t, row / x.heads, n);
            define_f64(out64, in64, t, row / x.heads, n);
        }
        for (int64_t d = 0; d < x.dim; d++)
            num_store(y.data, y.dtype, row * x.dim + d, x.dtype == PE_F64 ? out64[d] : (double)out[d]);
    }
}

static void check_definition(const char *spec)
{
    uint64_t seed = 1;
    int64_t at[T * PE_AXES_MAX];
    rotation t;
    pe_encoding *e = encoding_of(spec, test_shape);
    for (int k = 0; k < FLOAT_TYPES; k++)
        for (int side = PE_QUERY; side <= PE_KEY; side++) {
            pe_positions where = positions(e, at, &seed);
            int64_t heads = side == PE_QUERY ? 8 : 4;
            pe_view x = drawn(float_types[k], 1, T, heads, 64, &seed), y = fresh_like(x), want = fresh_like(x);
            tables(&t, e, (pe_side)side, float_types[k] == PE_F64 ? PE_F64 : PE_F32, where);
            define(want, x, &t);
            assert_ok(pe_rotate(e, (pe_side)side, y, x, where, test_run(e), &err));
            same(spec, y, want);
        }
}

TEST(rotate_is_the_table_with_each_product_rounded)
{
    each_rotation(check_definition); /* bit for bit: no tolerance */
}

/* One fused rounding would differ: the claim above is about something. */
TEST(contraction_would_show)
{
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

static void in_place_equals_out_of_place_for(const char *spec)
{
    uint64_t seed = 3;
    int64_t at[T * PE_AXES_MAX];
    pe_encoding *e = encoding_of(spec, test_shape);
    pe_positions where = positions(e, at, &seed);
    for (int k = 0; k < FLOAT_TYPES; k++)
        for (int c = 0; c < ROTATE_CALLS; c++)
            for (int s = 0; s < COUNT(sides); s++) {
                pe_view x = drawn(float_types[k], 1, T, 8, 64, &seed), y = fresh_like(x);
                assert_ok(rotate_calls[c](e, sides[s], y, x, where, test_run(e), &err));
                assert_ok(rotate_calls[c](e, sides[s], x, x, where, test_run(e), &err));
                same(spec, x, y);
            }
}

TEST(in_place_equals_out_of_place)
{
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

TEST(strided_views_equal_packed_ones_and_touch_nothing_else)
{
    static const char *const specs[] = { "rope", "rope:pairs=adjacent-half,dims=48,range=trailing",
                                         "rope:sections=8/12/12", "xpos", "rope:turn=qkvo,magnitude=0.8" };
    static _Alignas(8) unsigned char from[BLOCK * 8], to[BLOCK * 8];
    uint64_t seed = 4;
    for (int n = 0; n < COUNT(specs); n++)
        for (int k = 0; k < FLOAT_TYPES; k++)
            for (int i = 0; i < COUNT(inlays) * COUNT(inlays); i++) {
                const inlay *a = &inlays[i % COUNT(inlays)], *b = &inlays[i / COUNT(inlays)];
                int64_t at[T * PE_AXES_MAX], rotated[T * PE_AXES_MAX];
                pe_encoding *e = encoding_of(specs[n], test_shape);
                pe_positions where = positions(e, at, &seed), across = { .data = rotated, .dtype = PE_I64, .batch = 1, .tokens = T, .axes = where.axes, .token_stride = 1, .axis_stride = T };
                for (int64_t p = 0; p < T * where.axes; p++) /* the same positions in (axes, tokens) order */
                    rotated[p % where.axes * T + p / where.axes] = at[p];
                pe_view x = drawn(float_types[k], 1, T, 8, 64, &seed), want = fresh_like(x);
                assert_ok(pe_rotate(e, sides[i % COUNT(sides)], want, x, where, NULL, &err));
                poisoned(from);
                poisoned(to);
                pe_view sx = inlaid(a, from, float_types[k]), sy = inlaid(b, to, float_types[k]);
                copy(sx, x);
                assert_ok(pe_rotate(e, sides[i % COUNT(sides)], sy, sx, across, NULL, &err));
                same(b->name, sy, want);
                same("the input", sx, x);
                assert_untouched(b, to, sy);
                assert_ok(pe_rotate(e, sides[i % COUNT(sides)], sx, sx, across, NULL, &err));
                same(a->name, sx, want);
                assert_untouched(a, from, sx);
            }
}

TEST(elements_that_do_not_rotate_pass_through)
{
    static const struct {
        const char *spec;
        int64_t first, last; /* what turns */
    } cases[] = { { "rope:dims=32", 0, 32 }, { "rope:fraction=0.25", 0, 16 }, { "rope:dims=32,range=trailing", 32, 64 },
                  { "rope:dims=24,range=trailing,pairs=adjacent,magnitude=3", 40, 64 }, { "rope:dims=0", 0, 0 } };
    uint64_t seed = 5;
    for (int n = 0; n < COUNT(cases); n++)
        for (int k = 0; k < FLOAT_TYPES; k++) {
            int64_t at[T * PE_AXES_MAX];
            int changed = 0;
            pe_encoding *e = encoding_of(cases[n].spec, test_shape);
            pe_positions where = positions(e, at, &seed);
            pe_view x = drawn(float_types[k], 1, T, 8, 64, &seed), y = fresh_like(x);
            assert_ok(pe_rotate(e, PE_QUERY, y, x, where, NULL, &err));
            for (int64_t row = 0; row < T * 8; row++)
                for (int64_t d = 0; d < 64; d++) {
                    bool kept = equal(x, y, row * 64 + d);
                    if (d >= cases[n].first && d < cases[n].last)
                        changed += !kept;
                    else if (!kept)
                        fail_msg("%s: element %d does not turn and was changed", cases[n].spec, (int)d);
                }
            assert_true(changed > T * 8 * (cases[n].last - cases[n].first) / 2 || cases[n].last == 0);
        }
}

TEST(no_tokens_are_fine)
{
    pe_encoding *e = encoding_of("rope", test_shape);
    pe_view none = pe_view_of(NULL, PE_F32, 1, 0, 8, 64);
    assert_ok(pe_rotate(e, PE_QUERY, none, none, pe_positions_of(NULL, PE_I64, 1, 0, 1), NULL, &err));
    assert_ok(pe_unrotate(e, PE_KEY, none, none, pe_positions_of(NULL, PE_I64, 1, 0, 1), NULL, &err));
    assert_ok(pe_rotate_back(e, PE_VALUE, none, none, pe_positions_of(NULL, PE_I64, 1, 0, 1), NULL, &err));
    pe_view table = pe_view_of(NULL, PE_F32, 1, 0, 1, 32);
    assert_ok(pe_rotate_table(e, PE_KEY, table, table, pe_positions_of(NULL, PE_I64, 1, 0, 1), NULL, &err));
}

/* NaN and infinity stay in their pair; the other 62 elements have the bits they have without. */
TEST(one_bad_pair_does_not_leak_into_another)
{
    static const char *const specs[] = { "rope", "rope:pairs=adjacent", "rope:pairs=adjacent-half", "xpos" };
    static const double bad[] = { NAN, INFINITY, -INFINITY };
    uint64_t seed = 6;
    for (int n = 0; n < COUNT(specs); n++)
        for (int b = 0; b < COUNT(bad); b++) {
            int64_t at[T * PE_AXES_MAX];
            pe_pair pair[PAIRS_MAX];
            pe_encoding *e = encoding_of(specs[n], test_shape);
            pe_positions where = positions(e, at, &seed);
            pe_view x = drawn(PE_F32, 1, T, 8, 64, &seed), good = fresh_like(x), y = fresh_like(x);
            assert_ok(pe_encoding_pairs(e, pair, 32, &err));
            assert_ok(pe_rotate(e, PE_QUERY, good, x, where, NULL, &err));
            int64_t p = test_range(&seed, 0, 31), t = test_range(&seed, 0, T - 1), h = test_range(&seed, 0, 7);
            ((float *)x.data)[(t * 8 + h) * 64 + pair[p].x] = (float)bad[b];
            assert_ok(pe_rotate(e, PE_QUERY, y, x, where, NULL, &err));
            for (int64_t i = 0; i < T * 8 * 64; i++) {
                bool hit = i / 64 == t * 8 + h && (i % 64 == pair[p].x_out || i % 64 == pair[p].y_out);
                if (hit)
                    assert_true(!isfinite(((float *)y.data)[i]));
                else
                    assert_true(equal(y, good, i));
            }
        }
}

/* ------------------------------------------------ backwards and undone */

/* <R x, y> = <x, R^T y> in float64; 64 eps of the terms' sizes: each element has a few roundings, the sum the rest. */
static void check_transpose(const char *spec)
{
    uint64_t seed = 7;
    int64_t at[T * PE_AXES_MAX];
    pe_encoding *e = encoding_of(spec, test_shape);
    pe_positions where = positions(e, at, &seed);
    for (int s = 0; s < COUNT(sides); s++) {
        pe_view x = drawn(PE_F64, 1, T, 8, 64, &seed), y = drawn(PE_F64, 1, T, 8, 64, &seed), rx = fresh_like(x),
                ry = fresh_like(x);
        double terms = 0;
        assert_ok(pe_rotate(e, sides[s], rx, x, where, test_run(e), &err));
        assert_ok(pe_rotate_back(e, sides[s], ry, y, where, test_run(e), &err));
        double left = view_dot(rx, y, &terms), right = view_dot(x, ry, &terms);
        if (fabs(left - right) > 64 * EPS * terms)
            fail_msg("%s, side %d: <Rx, y> is %.17g, <x, R'y> is %.17g", spec, s, left, right);
    }
}

TEST(rotate_back_is_the_transpose)
{
    each_rotation(check_transpose);
    for (int n = 0; n < COUNT(sized); n++)
        check_transpose(sized[n]);
}

/* One side of one spec, float64: what rotate_back and unrotate are, from the table. The transpose reads where rotate
 * wrote: (x c + y s, y c - x s) with the same magnitude, bit for bit. The inverse is that over the magnitude squared. */
static void check_explicitly(const pe_encoding *e, pe_side side, const rotation *t, pe_positions where, uint64_t *seed)
{
    pe_view y = drawn(PE_F64, 1, T, 8, 64, seed), back = fresh_like(y), undone = fresh_like(y);
    assert_ok(pe_rotate_back(e, side, back, y, where, test_run(e), &err));
    assert_ok(pe_unrotate(e, side, undone, y, where, test_run(e), &err));
    for (int64_t row = 0; row < T * 8; row++)
        for (int64_t n = 0; n < t->pairs; n++) {
            const pe_pair *p = &t->pair[n];
            double a = get(y, 0, row / 8, row % 8, p->x_out), b = get(y, 0, row / 8, row % 8, p->y_out),
                   c = t->c[row / 8][n], s = t->s[row / 8][n];
            volatile double ac = a * c, bs = b * s, as = a * s, bc = b * c;
            double x = get(back, 0, row / 8, row % 8, p->x), z = get(back, 0, row / 8, row % 8, p->y),
                   square = c * c + s * s;
            assert_true(x == ac + bs && z == bc - as);
            /* two products, a sum, a division, c^2 + s^2 */
            double tolerance = 16 * EPS * (fabs(a) + fabs(b)) / sqrt(square);
            assert_true(fabs(get(undone, 0, row / 8, row % 8, p->x) - x / square) <= tolerance);
            assert_true(fabs(get(undone, 0, row / 8, row % 8, p->y) - z / square) <= tolerance);
        }
}

TEST(backward_keeps_the_magnitude_and_the_inverse_takes_its_reciprocal)
{
    uint64_t seed = 8;
    for (int n = 0; n < COUNT(sized); n++)
        for (int side = PE_QUERY; side <= PE_KEY; side++) {
            int64_t at[T * PE_AXES_MAX];
            rotation t;
            pe_encoding *e = encoding_of(sized[n], test_shape);
            pe_positions where = positions(e, at, &seed);
            tables(&t, e, (pe_side)side, PE_F64, where);
            double m = hypot(t.c[0][0], t.s[0][0]);
            if (at[0] != 0 && at[0] != 100)
                assert_true(fabs(m - 1) > 1e-6); /* there is a magnitude to get wrong */
            check_explicitly(e, (pe_side)side, &t, where, &seed);
        }
}

/* Values turn as keys do; outputs are rotated back: the inverse of what values had. */
TEST(outputs_undo_what_values_had)
{
    static const char *const specs[] = { "rope:turn=qkvo,magnitude=0.8",
                                         "rope:turn=qkvo,magnitude=1.25,pairs=adjacent-half" };
    uint64_t seed = 9;
    for (int n = 0; n < COUNT(specs); n++) {
        int64_t at[T * PE_AXES_MAX];
        pe_encoding *e = encoding_of(specs[n], test_shape);
        pe_positions where = positions(e, at, &seed);
        pe_view x = drawn(PE_F64, 1, T, 4, 64, &seed), v = fresh_like(x), k = fresh_like(x), o = fresh_like(x),
                u = fresh_like(x);
        assert_ok(pe_rotate(e, PE_VALUE, v, x, where, NULL, &err));
        assert_ok(pe_rotate(e, PE_KEY, k, x, where, NULL, &err));
        same("a value turns as a key", v, k);
        assert_ok(pe_rotate(e, PE_OUTPUT, o, x, where, NULL, &err));
        assert_ok(pe_unrotate(e, PE_VALUE, u, x, where, NULL, &err));
        same("an output turns back", o, u);
    }
    static const struct {
        const char *spec;
        bool value, output;
    } turns[] = { { "rope", false, false }, { "rope:turn=qkv", true, false }, { "rope:turn=qko", false, true },
                  { "rope:turn=qkvo", true, true }, { "xpos", false, false } };
    for (int n = 0; n < COUNT(turns); n++) {
        int64_t at[T * PE_AXES_MAX];
        pe_encoding *e = encoding_of(turns[n].spec, test_shape);
        pe_positions where = positions(e, at, &seed);
        pe_view x = drawn(PE_F32, 1, T, 4, 64, &seed), y = fresh_like(x);
        assert_ok(pe_rotate(e, PE_VALUE, y, x, where, NULL, &err));
        assert_int_equal(memcmp(x.data, y.data, T * 4 * 64 * 4) != 0, turns[n].value);
        assert_ok(pe_rotate(e, PE_OUTPUT, y, x, where, NULL, &err));
        assert_int_equal(memcmp(x.data, y.data, T * 4 * 64 * 4) != 0, turns[n].output);
    }
}

/* Back to x. float64 and float32: 8 eps of the pair's length for two turns of two products and a sum, factors rounded.
 * 16-bit types round the rotated value to storage: one eps of it, and of x. */
static void check_undone(const char *spec)
{
    static const double eps[FLOAT_COUNT] = { [PE_F32] = 8 * 0x1p-23, [PE_F16] = 4 * 0x1p-10, [PE_BF16] = 4 * 0x1p-7,
                                                [PE_F64] = 8 * EPS };
    uint64_t seed = 10;
    int64_t at[T * PE_AXES_MAX];
    pe_encoding *e = encoding_of(spec, test_shape);
    pe_positions where = positions(e, at, &seed);
    for (int64_t n = 0; n < T * where.axes; n++)
        at[n] %= 500; /* so that float16 holds xpos */
    for (int k = 0; k < FLOAT_TYPES; k++)
        for (int s = 0; s < COUNT(sides); s++) {
            pe_view x = drawn(float_types[k], 1, T, 8, 64, &seed), y = fresh_like(x), z = fresh_like(x);
            assert_ok(pe_rotate(e, sides[s], y, x, where, test_run(e), &err));
            assert_ok(pe_unrotate(e, sides[s], z, y, where, test_run(e), &err));
            for (int64_t i = 0; i < T * 8 * 64; i++) {
                double a = num_load(x.data, float_types[k], i), b = num_load(z.data, float_types[k], i);
                if (fabs(a - b) > eps[float_types[k]] * sqrt(2)) /* elements are below 1 */
                    fail_msg("%s, side %d, type %d: %.9g came back as %.9g", spec, s, k, a, b);
            }
        }
}

TEST(unrotate_undoes_rotate)
{
    each_rotation(check_undone);
    for (int n = 0; n < COUNT(sized); n++)
        check_undone(sized[n]);
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

TEST(layouts_are_equal_under_the_permutation)
{
    uint64_t seed = 11;
    int64_t at[T];
    pe_encoding *half = encoding_of("rope:pairs=half", test_shape),
        *adjacent = encoding_of("rope:pairs=adjacent", test_shape),
                *both = encoding_of("rope:pairs=adjacent-half", test_shape);
    pe_positions where = positions(half, at, &seed);
    pe_view x = drawn(PE_F32, 1, T, 8, 64, &seed), px = fresh_like(x), y = fresh_like(x), py = fresh_like(x),
            again = fresh_like(x);
    permute(px, x, true);
    assert_ok(pe_rotate(half, PE_QUERY, y, x, where, NULL, &err));
    assert_ok(pe_rotate(adjacent, PE_QUERY, py, px, where, NULL, &err));
    permute(again, py, false);
    same("adjacent against half", again, y);
    assert_ok(pe_rotate(both, PE_QUERY, again, px, where, NULL, &err));
    same("adjacent in, half out", again, y); /* so q.k adds the same products: the dot products are equal */
}

TEST(adjacent_half_gives_the_dot_products_of_adjacent)
{
    uint64_t seed = 12;
    int64_t at[T];
    double score[2], terms = 0;
    static const char *const specs[] = { "rope:pairs=adjacent", "rope:pairs=adjacent-half" };
    pe_view q = drawn(PE_F64, 1, T, 8, 64, &seed), k = drawn(PE_F64, 1, T, 8, 64, &seed), rq = fresh_like(q),
            rk = fresh_like(q);
    for (int n = 0; n < 2; n++) {
        uint64_t same = 13;
        pe_encoding *e = encoding_of(specs[n], test_shape);
        assert_ok(pe_rotate(e, PE_QUERY, rq, q, positions(e, at, &same), NULL, &err));
        assert_ok(pe_rotate(e, PE_KEY, rk, k, positions(e, at, &same), NULL, &err));
        terms = 0;
        score[n] = view_dot(rq, rk, &terms);
    }
    assert_true(fabs(score[0] - score[1]) <= 64 * 8 * T * EPS * terms); /* the same terms in another order */
    assert_true(fabs(score[0]) > 1e-3 * terms);
}

/* ------------------------------------------------ specs that must agree */

static void assert_same_tables(const char *a, const char *b, pe_side side, int64_t least, int64_t most, pe_dtype type)
{
    uint64_t seed = 14;
    pe_encoding *e[2] = { encoding_of(a, test_shape), encoding_of(b, test_shape) };
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
}

#define ONES "1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1"

TEST(scaling_by_1_is_no_scaling)
{
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

TEST(equal_coordinates_on_all_axes_are_one_axis)
{
    static const char *const specs[] = { "rope:sections=8/12/12", "rope:sections=12/10/10,split=interleaved",
                                         "rope:axes=4", "rope:sections=32/0/0" };
    for (int n = 0; n < COUNT(specs); n++)
        assert_same_tables(specs[n], "rope", PE_KEY, -PE_POSITION_MAX, PE_POSITION_MAX, PE_F64);
}

TEST(temperature_multiplies_queries_only)
{
    const char *spec = "rope:temperature=0.1,floor=64,shift=1,dims=32";
    pe_encoding *e = encoding_of(spec, test_shape), *plain = encoding_of("rope:dims=32", test_shape);
    for (int64_t t = 0; t < 700; t += 7) {
        double gain = 1 + 0.1 * log(1 + floor((double)(t + 1) / 64)); /* Llama 4 */
        pe_positions where = pe_positions_of(&t, PE_I64, 1, 1, 1);
        uint64_t seed = 15;
        pe_view x = drawn(PE_F64, 1, T, 8, 64, &seed), q = fresh_like(x), k = fresh_like(x), want = fresh_like(x);
        x.tokens = q.tokens = k.tokens = want.tokens = 1;
        assert_ok(pe_rotate(e, PE_QUERY, q, x, where, NULL, &err));
        assert_ok(pe_rotate(e, PE_KEY, k, x, where, NULL, &err));
        assert_ok(pe_rotate(plain, PE_QUERY, want, x, where, NULL, &err));
        same("keys have no temperature", k, want);
        for (int64_t i = 0; i < 8 * 64; i++) { /* elements that do not turn too: it is the query that is multiplied */
            double a = ((double *)q.data)[i], b = ((double *)want.data)[i] * gain;
            assert_true(fabs(a - b) <= 8 * EPS * gain * sqrt(2)); /* a few roundings of numbers below 1 */
        }
        if (t < 63)
            same("before the first floor nothing happens", q, want);
        assert_true(fabs(pe_encoding_gain(e, PE_QUERY, t) - gain) <= 2 * EPS * gain);
        assert_true(pe_encoding_gain(e, PE_KEY, t) == 1 && pe_encoding_gain(plain, PE_QUERY, t) == 1);
    }
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
    pe_encoding *e = encoding_of(spec, test_shape);
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
}

#define EVENLY(x) x "/" x "/" x "/" x "/" x "/" x "/" x "/" x
#define ON_EVERY_PAIR(x) EVENLY(x) "/" EVENLY(x) "/" EVENLY(x) "/" EVENLY(x)
#define LONGROPE "scaling=longrope,magnitude=1,trained=64,short=" ON_EVERY_PAIR("1.7") ",long=" ON_EVERY_PAIR("1.7")

TEST(precision_reproduces_the_float_pipelines)
{
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
static void pairs_say_what_the_table_holds(const char *spec)
{
    pe_encoding *e = encoding_of(spec, test_shape);
    int64_t n = pe_encoding_pair_count(e), at[PE_AXES_MAX] = { 0, 5, 3, 4, 2, 1, 7, 6 };
    pe_pair pair[32];
    double c[32], s[32], magnitude = pe_encoding_magnitude(e);
    bool elsewhere = strstr(spec, "start=mixed") || (strstr(spec, "fope") && !strstr(spec, "spread=0")); /* as parameters say */
    for (at[0] = 0; n && !strstr(spec, "precision") && !elsewhere && at[0] < 20; at[0] += 4) {
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
}

TEST(every_pair_says_how_it_rotates)
{
    each_example(pairs_say_what_the_table_holds);
    pairs_say_what_the_table_holds("rope:sign=negative");
    pairs_say_what_the_table_holds("fope:spread=0");
    pairs_say_what_the_table_holds("fope:trained=64,mixed=4,spread=0,pairs=adjacent");
    pairs_say_what_the_table_holds("rope:sign=negative,axes=2,split=axial,coords=normalised,extent=9/7");
}

/* A magnitude that its type cannot hold is an error, not an infinity. */
TEST(xpos_stays_within_its_type)
{
    static const struct {
        pe_dtype type;
        int64_t fits, fails;
    } tries[] = { { PE_F16, 3000, 20000 }, { PE_BF16, 30000, 36000 }, { PE_F32, 30000, 36000 }, { PE_F64, 200000, 300000 } };
    pe_encoding *e = encoding_of("xpos", test_shape);
    for (int i = 0; i < COUNT(tries); i++) {
        double numbers[64] = { 0 };
        pe_view k = pe_view_of(numbers, tries[i].type, 1, 1, 1, 64);
        pe_positions at = pe_positions_of(&tries[i].fits, PE_I64, 1, 1, 1);
        assert_ok(pe_rotate(e, PE_KEY, k, k, at, NULL, &err));
        at.data = &tries[i].fails;
        assert_int_equal(pe_rotate(e, PE_KEY, k, k, at, NULL, &err), PE_ERR_POSITION);
    }
}

/* The same holds of a table whose cos and sin differ in type: both must hold the magnitude. */
TEST(a_table_of_two_types_stays_within_the_narrower_one)
{
    static const pe_dtype held[] = { PE_F16, PE_BF16, PE_F32, PE_F64 };
    static const int64_t fails[] = { 20000, 36000, 36000, 300000 }; /* as above, by type */
    pe_encoding *e = encoding_of("xpos", test_shape);
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
}

/* Where those code bases have no such pipeline, their precision still means the same angle, in float32. */
TEST(precision_keeps_every_other_key)
{
    static const char *const rest[] = { "denominator=d-2", "theta=100,axes=2,split=axial,coords=normalised,extent=14/16",
                                        "scaling=proportional,turning=0.25", "dims=32", "axes=2,split=blocks" };
    for (int i = 0; i < COUNT(rest); i++) {
        char text[160];
        snprintf(text, sizeof text, "rope:%s,precision=hf", rest[i]);
        pe_encoding *hf = encoding_of(text, test_shape);
        snprintf(text, sizeof text, "rope:%s", rest[i]);
        pe_encoding *exact = encoding_of(text, test_shape);
        int64_t at[] = { 3, 11 }, axes = pe_encoding_axes(hf), n = pe_encoding_pair_count(hf);
        double c[2][32], s[2][32];
        for (int k = 0; k < 2; k++)
            assert_ok(pe_rotate_table(k ? exact : hf, PE_KEY, pe_view_of(c[k], PE_F64, 1, 1, 1, n), pe_view_of(s[k], PE_F64, 1, 1, 1, n), pe_positions_of(at, PE_I64, 1, 1, axes), NULL, &err));
        for (int64_t p = 0; p < n; p++) /* angles below 24 rounded in float32 a few times */
            if (fabs(c[0][p] - c[1][p]) > 1e-5 || fabs(s[0][p] - s[1][p]) > 1e-5)
                fail_msg("%s: pair %" PRId64 " turns otherwise with precision=hf", text, p);
    }
}

TEST(precision_changes_only_angles)
{
    static const char *const rest = "theta=500000,dims=48,range=trailing,pairs=adjacent-half,sign=negative,"
                                    "scaling=yarn,factor=4,trained=2048";
    static const char *const precision[] = { "hf", "ggml" };
    char text[300];
    int64_t at[T] = { 0, 1, 5, 17, 300 };
    rotation exact, other;
    snprintf(text, sizeof text, "rope:%s", rest);
    pe_encoding *e = encoding_of(text, test_shape);
    pe_positions where = pe_positions_of(at, PE_I64, 1, T, 1);
    tables(&exact, e, PE_KEY, PE_F64, where);
    for (int i = 0; i < COUNT(precision); i++) {
        snprintf(text, sizeof text, "rope:%s,precision=%s", rest, precision[i]);
        pe_encoding *f = encoding_of(text, test_shape);
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
        /* rotating with the table is all that happens: the definition holds for these too (rotate_is_the_table...) */
        uint64_t seed = 17;
        pe_view x = drawn(PE_F32, 1, T, 8, 64, &seed), y = fresh_like(x), want = fresh_like(x);
        tables(&other, f, PE_KEY, PE_F32, where);
        define(want, x, &other);
        assert_ok(pe_rotate(f, PE_KEY, y, x, where, NULL, &err));
        same(text, y, want);
    }
}

/* ------------------------------------------------ canonical specs */

static void check_canonical(const char *spec)
{
    uint64_t seed = 18;
    int64_t at[T * PE_AXES_MAX];
    pe_encoding *e = encoding_of(spec, test_shape), *again = encoding_of(pe_encoding_spec(e), test_shape);
    assert_string_equal(pe_encoding_spec(e), pe_encoding_spec(again));
    assert_true(pe_encoding_fingerprint(e) == pe_encoding_fingerprint(again));
    if (pe_encoding_pair_count(e)) {
        rotation one, two;
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
}

TEST(a_canonical_spec_makes_the_same_encoding)
{
    each_spec(check_canonical, sized, COUNT(sized));
}
