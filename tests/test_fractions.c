/* SPDX-License-Identifier: MIT
 * labels: core; needs: threads
 *
 * Rotations between whole positions. Truth of their cos and sin is test_exact.c's; here they are what the whole family
 * of calls does with them: where they are taken, every type, layout and rung, undone, transposed, from a table. */
#include "common.h"
#include "base/num.h"

enum { B = 2, T = 19, H = 4, G = 2, D = 64, P = D / 2, ROW = D + 3 };
#define EPS 0x1p-52

static const pe_shape shape = { .heads = H, .kv_heads = G, .head_dim = D };
static const pe_dtype types[] = { PE_F32, PE_F16, PE_BF16, PE_F64 };
typedef pe_status turn_call(const pe_encoding *, pe_side, pe_view, pe_view, pe_positions, const pe_run *, pe_error *);
static turn_call *const calls[] = { pe_rotate, pe_unrotate, pe_rotate_back };

/* An angle that a float32 pipeline forms, and a temperature, which goes by steps, have whole positions only. */
static bool continuous(const char *spec)
{
    return !strstr(spec, "precision=") && !strstr(spec, "temperature=");
}

static void each_rotation(void (*f)(const char *))
{
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; pe_info_at(i)->hooks & PE_HOOK_ROTATE && k < pe_info_at(i)->example_count; k++)
            f(pe_info_at(i)->examples[k]);
}

static void each_continuous(void (*f)(const char *))
{
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; pe_info_at(i)->hooks & PE_HOOK_ROTATE && k < pe_info_at(i)->example_count; k++)
            if (continuous(pe_info_at(i)->examples[k]))
                f(pe_info_at(i)->examples[k]);
}

/* Every third is whole on all axes, and some others on one. Near 0, where xpos serves every type, or anywhere. */
static void draw_positions(double *at, int64_t axes, bool near, uint64_t *seed)
{
    for (int64_t n = 0; n < B * T * axes; n++) {
        double x = near ? 400 * test_uniform(seed) : ldexp(test_uniform(seed), (int)test_range(seed, -20, 36));
        at[n] = n / axes % 3 == 0 || test_random(seed) % 8 == 0 ? trunc(x) : x;
    }
}

static void draw(pe_view v, uint64_t *seed) /* packed */
{
    for (int64_t n = 0; n < v.batch * v.tokens * v.heads * v.dim; n++)
        num_store(v.data, v.dtype, n, test_uniform(seed) * 4);
}

static int64_t index_of(pe_view v, int64_t b, int64_t t, int64_t h, int64_t d)
{
    return b * v.batch_stride + t * v.token_stride + h * v.head_stride + d;
}

static double get(pe_view v, int64_t b, int64_t t, int64_t h, int64_t d)
{
    return num_load(v.data, v.dtype, index_of(v, b, t, h, d));
}

static void assert_same(pe_view a, pe_view b, const char *spec, const char *what)
{
    size_t size = pe_dtype_size(a.dtype);
    for (int64_t n = 0; n < a.batch * a.tokens * a.heads * a.dim; n++) {
        int64_t d = n % a.dim, h = n / a.dim % a.heads, t = n / a.dim / a.heads % a.tokens,
                s = n / a.dim / a.heads / a.tokens;
        if (memcmp((char *)a.data + index_of(a, s, t, h, d) * (int64_t)size,
                   (char *)b.data + index_of(b, s, t, h, d) * (int64_t)size, size))
            fail_msg("%s, %s, type %d: sequence %d, token %d, head %d, element %d is %.9g; needs %.9g", spec, what,
                     (int)a.dtype, (int)s, (int)t, (int)h, (int)d, get(a, s, t, h, d), get(b, s, t, h, d));
    }
}

static _Alignas(8) unsigned char space[6][B * T * H * ROW * 8];

static pe_view packed(int n, pe_dtype type)
{
    return pe_view_of(space[n], type, B, T, H, D);
}

/* Heads before tokens, with gaps. */
static pe_view spaced(int n, pe_dtype type)
{
    return (pe_view){ space[n], type, B, T, H, D, H * T * ROW, ROW, T * ROW };
}

/* ------------------------------------------------ where they are taken */

static void expect(const char *spec, const char *call, pe_status got, bool taken, const pe_error *err)
{
    static const char sentence[] = "positions: position of token 1 is 4.5; needs a whole number, -2^36 to 2^36";
    if (got != (taken ? PE_OK : PE_ERR_POSITION) || (got && strcmp(err->text, sentence) != 0))
        fail_msg("%s, %s at 4.5: %s: %s", spec, call, pe_status_name(got), err->text);
}

static void check_taken(const char *spec)
{
    static double x[2 * H * D], y[2 * H * D], c[2 * G * P], s[2 * G * P], at[2 * PE_AXES_MAX];
    pe_error err;
    pe_encoding *e = test_encoding(spec, shape);
    bool taken = continuous(spec);
    int64_t axes = pe_encoding_axes(e), pairs = pe_encoding_pair_count(e), heads = test_table_heads(e);
    for (int64_t a = 0; a < axes; a++) {
        at[a] = 3;
        at[axes + a] = a ? 4 : 4.5;
    }
    pe_positions where = pe_positions_of(at, PE_F64, 1, 2, axes);
    pe_view from = pe_view_of(x, PE_F64, 1, 2, H, D), to = pe_view_of(y, PE_F64, 1, 2, H, D);
    pe_view cosine = pe_view_of(c, PE_F64, 1, 2, heads, pairs), sine = pe_view_of(s, PE_F64, 1, 2, heads, pairs);
    for (int i = 0; i < COUNT(calls); i++)
        expect(spec, "turned", calls[i](e, PE_QUERY, to, from, where, test_run(e), &err), taken, &err);
    expect(spec, "pe_rotate_table", pe_rotate_table(e, PE_KEY, cosine, sine, where, test_run(e), &err), taken, &err);
    expect(spec, "pe_rotate_grad", pe_rotate_grad(e, (pe_params){ 0 }, PE_KEY, to, from, where, test_run(e), &err), taken, &err);
    pe_rotation both = PE_MAKE(pe_rotation, .q = from, .q_out = to, .at = where);
    expect(spec, "pe_rotate_qk", pe_rotate_qk(e, &both, test_run(e), &err), taken, &err);
    pe_encoding_free(e);
}

static void fractions_are_taken_where_the_angle_is_continuous(void **state)
{
    (void)state;
    each_rotation(check_taken);
    check_taken("alibi+rope");
    check_taken("rope:learned=shared,temperature=0.1,floor=8"); /* refused before its parameters are looked for */
}

/* What does not turn is the identity at every position. */
static void what_does_not_turn_takes_fractions_too(void **state)
{
    (void)state;
    double x[2 * G * D], y[2 * G * D], at[2] = { 0.5, -7.25 };
    uint64_t seed = 1;
    pe_error err;
    static const char *const specs[] = { "alibi", "rope:temperature=0.1" };
    for (int n = 0; n < COUNT(specs); n++) {
        pe_encoding *e = test_encoding(specs[n], shape);
        pe_view from = pe_view_of(x, PE_F64, 1, 2, G, D), to = pe_view_of(y, PE_F64, 1, 2, G, D);
        draw(from, &seed);
        assert_ok(pe_rotate(e, PE_VALUE, to, from, pe_positions_of(at, PE_F64, 1, 2, 1), test_run(e), &err));
        assert_memory_equal(x, y, sizeof x);
        pe_encoding_free(e);
    }
}

static void what_is_no_position_is_an_error(void **state)
{
    (void)state;
    static const double wrong[] = { NAN, -NAN, INFINITY, -INFINITY, 0x1p36 + 0x1p-16, -0x1p36 - 0.5, 1e300 };
    static const char *const specs[] = { "rope", "xpos", "rope:learned=shared", "rope:precision=hf", "alibi" };
    static const double before[2 * H * D] = { 0 };
    double x[2 * H * D] = { 0 };
    pe_error err;
    for (int n = 0; n < COUNT(specs); n++)
        for (int i = 0; i < COUNT(wrong); i++) {
            double at[2] = { 1, wrong[i] }, w[P] = { 0 };
            pe_encoding *e = test_encoding(specs[n], shape);
            pe_run run = PE_MAKE(pe_run, .params = { w, PE_F64, pe_encoding_param_count(e) });
            pe_view v = pe_view_of(x, PE_F64, 1, 2, H, D);
            for (int c = 0; c < COUNT(calls); c++) {
                assert_int_equal(calls[c](e, PE_KEY, v, v, pe_positions_of(at, PE_F64, 1, 2, 1), &run, &err),
                                 PE_ERR_POSITION);
                assert_non_null(strstr(err.text, "position of token 1 is "));
                assert_non_null(strstr(err.text, "-2^36 to 2^36"));
            }
            assert_memory_equal(x, before, sizeof x);
            pe_encoding_free(e);
        }
}

/* xpos at 4 is past e^8, which float16 has room for; at 3 it is not: between the two nothing is served. */
static void xpos_serves_between_what_it_serves(void **state)
{
    (void)state;
    double x[D] = { 0 }, at = 2.5;
    pe_error err;
    pe_encoding *e = test_encoding("xpos:base=0.6", shape);
    pe_view k = pe_view_of(x, PE_F16, 1, 1, 1, D);
    pe_positions where = pe_positions_of(&at, PE_F64, 1, 1, 1);
    assert_ok(pe_rotate(e, PE_KEY, k, k, where, test_run(e), &err));
    at = 3.5;
    assert_int_equal(pe_rotate(e, PE_KEY, k, k, where, test_run(e), &err), PE_ERR_POSITION);
    at = -3.5;
    assert_int_equal(pe_rotate(e, PE_KEY, k, k, where, test_run(e), &err), PE_ERR_POSITION);
    pe_encoding_free(e);
}

/* ------------------------------------------------ whole positions among them */

static void check_whole(const char *spec)
{
    static double at[B * T * PE_AXES_MAX];
    static int64_t whole[B * T * PE_AXES_MAX];
    uint64_t seed = 2;
    pe_error err;
    pe_encoding *e = test_encoding(spec, shape);
    int64_t axes = pe_encoding_axes(e);
    bool near = strstr(spec, "xpos");
    for (int round = 0; round < COUNT(types) * COUNT(calls) * 2; round++) {
        pe_dtype type = types[round % 4];
        turn_call *call = calls[round / 4 % 3];
        pe_view x = packed(0, type), real = packed(1, type), y = packed(2, type);
        draw_positions(at, axes, near, &seed);
        for (int64_t n = 0; n < B * T * axes; n++) {
            if (round < 12 || !continuous(spec))
                at[n] = trunc(at[n]);
            whole[n] = (int64_t)at[n];
        }
        draw(x, &seed);
        assert_ok(call(e, PE_QUERY, real, x, pe_positions_of(at, PE_F64, B, T, axes), test_run(e), &err));
        assert_ok(call(e, PE_QUERY, y, x, pe_positions_of(whole, PE_I64, B, T, axes), test_run(e), &err));
        for (int64_t n = 0; n < B * T; n++) {
            bool same = true;
            for (int64_t a = 0; a < axes; a++)
                same = same && (double)whole[n * axes + a] == at[n * axes + a];
            pe_view got = pe_view_of((char *)real.data + n * H * D * (int64_t)pe_dtype_size(type), type, 1, 1, H, D);
            pe_view want = pe_view_of((char *)y.data + n * H * D * (int64_t)pe_dtype_size(type), type, 1, 1, H, D);
            if (same)
                assert_same(got, want, spec, "a whole position in float64");
        }
    }
    pe_encoding_free(e);
}

static void whole_positions_have_the_same_bits_in_every_type(void **state)
{
    (void)state;
    each_rotation(check_whole);
}

/* rope at t/4 is rope:scaling=linear,factor=4 at t: a power of two moves between position and frequency unrounded. */
static void a_quarter_of_a_position_is_interpolation_by_four(void **state)
{
    (void)state;
    static double at[B * T];
    static int64_t whole[B * T];
    uint64_t seed = 3;
    pe_error err;
    pe_encoding *plain = test_encoding("rope", shape), *linear = test_encoding("rope:scaling=linear,factor=4", shape);
    for (int n = 0; n < B * T; n++) {
        whole[n] = test_range(&seed, -PE_POSITION_MAX, PE_POSITION_MAX) >> test_range(&seed, 0, 34);
        at[n] = (double)whole[n] / 4;
    }
    for (int k = 0; k < COUNT(types); k++) {
        pe_view x = packed(0, types[k]), y = packed(1, types[k]), want = packed(2, types[k]);
        draw(x, &seed);
        assert_ok(pe_rotate(plain, PE_KEY, y, x, pe_positions_of(at, PE_F64, B, T, 1), test_run(plain), &err));
        assert_ok(pe_rotate(linear, PE_KEY, want, x, pe_positions_of(whole, PE_I64, B, T, 1), test_run(linear), &err));
        assert_same(y, want, "rope", "t/4");
    }
    pe_encoding_free(plain);
    pe_encoding_free(linear);
}

static void a_fraction_is_added_to_the_run_it_stands_in(void **state)
{
    (void)state;
    double own[B] = { 0.25, -1e-9 }, at[B * T];
    uint64_t seed = 4;
    pe_error err;
    pe_encoding *e = test_encoding("rope", shape);
    for (int n = 0; n < B * T; n++) /* in float64: far out a small one is lost */
        at[n] = (double)(PE_POSITION_MAX / 2 + 3 * (n % T)) + own[n / T];
    pe_positions run = { own, PE_F64, B, T, 1, 1, 0, 1, PE_POSITION_MAX / 2, 3 };
    pe_view x = packed(0, PE_F32), y = packed(1, PE_F32), want = packed(2, PE_F32);
    draw(x, &seed);
    assert_ok(pe_rotate(e, PE_KEY, y, x, run, test_run(e), &err));
    assert_ok(pe_rotate(e, PE_KEY, want, x, pe_positions_of(at, PE_F64, B, T, 1), test_run(e), &err));
    assert_same(y, want, "rope", "a run with a fraction");
    pe_encoding_free(e);
}

/* ------------------------------------------------ from the table */

/* y = x turned by the table, each product rounded; what does not turn is copied. */
static void define(const pe_encoding *e, pe_view y, pe_view x, pe_view c, pe_view s)
{
    static pe_pair pair[P];
    pe_error err;
    int64_t pairs = pe_encoding_pair_count(e);
    assert_ok(pe_encoding_pairs(e, pair, pairs, &err));
    for (int64_t row = 0; row < B * T * H; row++) {
        int64_t b = row / H / T, t = row / H % T, h = row % H;
        for (int64_t d = 0; d < D; d++)
            num_store(y.data, y.dtype, index_of(y, b, t, h, d), get(x, b, t, h, d));
        for (int64_t n = 0; n < pairs; n++) {
            double p = get(x, b, t, h, pair[n].x), q = get(x, b, t, h, pair[n].y);
            volatile double pc = p * get(c, b, t, 0, n), qs = q * get(s, b, t, 0, n), ps = p * get(s, b, t, 0, n),
                            qc = q * get(c, b, t, 0, n);
            if (x.dtype != PE_F64) { /* a product of two floats is a double, which float rounds once */
                pc = (float)pc, qs = (float)qs, ps = (float)ps, qc = (float)qc;
                pc = (float)pc - (float)qs, ps = (float)ps + (float)qc;
            } else
                pc = pc - qs, ps = ps + qc;
            num_store(y.data, y.dtype, index_of(y, b, t, h, pair[n].x_out), pc);
            num_store(y.data, y.dtype, index_of(y, b, t, h, pair[n].y_out), ps);
        }
    }
}

static void check_table(const char *spec)
{
    static double at[B * T * PE_AXES_MAX], across[B * T * PE_AXES_MAX];
    uint64_t seed = 5;
    pe_error err;
    pe_encoding *e = test_encoding(spec, shape);
    int64_t axes = pe_encoding_axes(e), pairs = pe_encoding_pair_count(e);
    for (int round = 0; test_table_heads(e) == 1 && round < 2 * COUNT(types); round++) { /* more heads: test_trained.c */
        pe_dtype type = types[round % 4], table = type == PE_F64 ? PE_F64 : PE_F32;
        pe_side side = round < 4 ? PE_QUERY : PE_KEY;
        draw_positions(at, axes, strstr(spec, "xpos"), &seed);
        for (int64_t n = 0; n < B * T * axes; n++) /* the same in (axes, tokens, batch) order, tokens backwards */
            across[(n % axes * T + (T - 1 - n / axes % T)) * B + n / axes / T] = at[n];
        pe_positions where = pe_positions_of(at, PE_F64, B, T, axes);
        pe_positions other = { across + (T - 1) * B, PE_F64, B, T, axes, 1, -B, T * B, 0, 0 };
        pe_view x = packed(0, type), want = packed(1, type), y = packed(2, type), far = spaced(3, type);
        pe_view c = pe_view_of(space[4], table, B, T, 1, pairs), s = pe_view_of(space[5], table, B, T, 1, pairs);
        draw(x, &seed);
        assert_ok(pe_rotate_table(e, side, c, s, where, test_run(e), &err));
        define(e, want, x, c, s);
        assert_ok(pe_rotate(e, side, y, x, where, test_run(e), &err));
        assert_same(y, want, spec, "rotated");
        assert_ok(pe_rotate(e, side, far, x, other, test_run(e), &err));
        assert_same(far, want, spec, "heads first, positions by strides");
        pe_rotation both = PE_MAKE(pe_rotation, .q = x, .q_out = y, .at = where, .q_table = { c, s, NULL });
        if (side == PE_QUERY) {
            memset(space[2], 0, sizeof space[2]);
            assert_ok(pe_rotate_qk(e, &both, test_run(e), &err));
            assert_same(y, want, spec, "with its table");
        }
        assert_ok(pe_rotate(e, side, x, x, where, test_run(e), &err));
        assert_same(x, want, spec, "in place");
    }
    pe_encoding_free(e);
}

static void a_rotation_is_its_table_with_each_product_rounded(void **state)
{
    (void)state;
    each_continuous(check_table);
}

static void check_together(const char *spec)
{
    static double at[B * T * PE_AXES_MAX];
    uint64_t seed = 6;
    pe_error err;
    pe_pool *pool;
    pe_encoding *e = test_encoding(spec, shape);
    assert_ok(pe_pool_new(&pool, 3, &err));
    draw_positions(at, pe_encoding_axes(e), strstr(spec, "xpos"), &seed);
    pe_positions where = pe_positions_of(at, PE_F64, B, T, pe_encoding_axes(e));
    for (int k = 0; k < COUNT(types); k++) {
        pe_view q = packed(0, types[k]), q_one = packed(1, types[k]), q_both = packed(2, types[k]);
        pe_view keys = pe_view_of(space[3], types[k], B, T, G, D), k_one = pe_view_of(space[4], types[k], B, T, G, D),
                k_both = pe_view_of(space[5], types[k], B, T, G, D);
        draw(q, &seed);
        draw(keys, &seed);
        assert_ok(pe_rotate(e, PE_QUERY, q_one, q, where, test_run(e), &err));
        assert_ok(pe_rotate(e, PE_KEY, k_one, keys, where, test_run(e), &err));
        pe_rotation both = PE_MAKE(pe_rotation, .q = q, .k = keys, .q_out = q_both, .k_out = k_both, .at = where);
        assert_ok(pe_rotate_qk(e, &both, &PE_MAKE(pe_run, .params = test_run(e)->params, .pool = pool), &err));
        assert_same(q_both, q_one, spec, "q");
        assert_same(k_both, k_one, spec, "k");
    }
    pe_pool_free(pool);
    pe_encoding_free(e);
}

static void q_and_k_together_are_each_alone(void **state)
{
    (void)state;
    each_continuous(check_together);
}

static void check_rungs(const char *spec)
{
    static double at[B * T * PE_AXES_MAX];
    uint64_t seed = 7;
    pe_error err;
    const char *name;
    pe_encoding *e = test_encoding(spec, shape), *scalar = test_encoding(spec, shape);
    int64_t axes = pe_encoding_axes(e), pairs = pe_encoding_pair_count(e), heads = test_table_heads(e);
    pe_positions where = pe_positions_of(at, PE_F64, B, T, axes);
    assert_ok(pe_encoding_set_kernels(scalar, pe_kernels_name(0), &err));
    for (int n = 1; (name = pe_kernels_name(n)); n++)
        for (int k = 0; k < COUNT(types) && !pe_encoding_set_kernels(e, name, NULL); k++) {
            pe_view x = packed(0, types[k]), y = packed(1, types[k]), want = packed(2, types[k]);
            pe_view c[2] = { pe_view_of(space[3], types[k], B, T, heads, pairs), pe_view_of(space[4], types[k], B, T, heads, pairs) };
            pe_view s = pe_view_of(space[5], types[k], B, T, heads, pairs);
            draw_positions(at, axes, strstr(spec, "xpos"), &seed);
            draw(x, &seed);
            for (int i = 0; i < COUNT(calls); i++) {
                assert_ok(calls[i](e, PE_QUERY, y, x, where, test_run(e), &err));
                assert_ok(calls[i](scalar, PE_QUERY, want, x, where, test_run(scalar), &err));
                assert_same(y, want, spec, name);
            }
            assert_ok(pe_rotate_table(e, PE_QUERY, c[0], s, where, test_run(e), &err));
            assert_ok(pe_rotate_table(scalar, PE_QUERY, c[1], s, where, test_run(scalar), &err));
            assert_same(c[0], c[1], spec, name);
        }
    pe_encoding_free(scalar);
    pe_encoding_free(e);
}

static void every_rung_gives_the_same_bits(void **state)
{
    (void)state;
    each_continuous(check_rungs);
}

/* ------------------------------------------------ backwards and undone */

static double dot(pe_view a, pe_view b, double *terms)
{
    double sum = 0;
    for (int64_t n = 0; n < B * T * H * D; n++) {
        double x = num_load(a.data, a.dtype, n) * num_load(b.data, b.dtype, n);
        sum += x;
        *terms += fabs(x);
    }
    return sum;
}

/* <R x, y> = <x, R^T y> within 64 eps of the terms' sizes, and back to x within 8 eps of a pair's length: as at whole
 * positions (test_rotate.c). */
static void check_back(const char *spec)
{
    static double at[B * T * PE_AXES_MAX];
    static const double eps[FLOAT_COUNT] = { [PE_F32] = 8 * 0x1p-23, [PE_F16] = 4 * 0x1p-10, [PE_BF16] = 4 * 0x1p-7,
                                             [PE_F64] = 8 * EPS };
    uint64_t seed = 8;
    pe_error err;
    pe_encoding *e = test_encoding(spec, shape);
    int64_t axes = pe_encoding_axes(e);
    draw_positions(at, axes, strstr(spec, "xpos"), &seed);
    pe_positions where = pe_positions_of(at, PE_F64, B, T, axes);
    for (int side = PE_QUERY; side <= PE_OUTPUT; side++) {
        double terms = 0;
        pe_view x = packed(0, PE_F64), y = packed(1, PE_F64), rx = packed(2, PE_F64), ry = packed(3, PE_F64);
        draw(x, &seed);
        draw(y, &seed);
        assert_ok(pe_rotate(e, (pe_side)side, rx, x, where, test_run(e), &err));
        assert_ok(pe_rotate_back(e, (pe_side)side, ry, y, where, test_run(e), &err));
        double left = dot(rx, y, &terms), right = dot(x, ry, &terms);
        if (!(fabs(left - right) <= 64 * EPS * terms))
            fail_msg("%s, side %d: <Rx, y> is %.17g, <x, R'y> is %.17g", spec, side, left, right);
        for (int k = 0; k < COUNT(types); k++) {
            pe_view v = packed(0, types[k]), turned = packed(1, types[k]), undone = packed(2, types[k]);
            draw(v, &seed);
            assert_ok(pe_rotate(e, (pe_side)side, turned, v, where, test_run(e), &err));
            assert_ok(pe_unrotate(e, (pe_side)side, undone, turned, where, test_run(e), &err));
            for (int64_t i = 0; i < B * T * H * D; i++) {
                double was = num_load(v.data, types[k], i), is = num_load(undone.data, types[k], i);
                if (!(fabs(was - is) <= eps[types[k]] * 4 * sqrt(2))) /* elements are below 4 */
                    fail_msg("%s, side %d, type %d: %.9g came back as %.9g", spec, side, k, was, is);
            }
        }
    }
    pe_encoding_free(e);
}

static void back_is_the_transpose_and_unrotate_undoes(void **state)
{
    (void)state;
    each_continuous(check_back);
}

/* q at 3.75 + n/8 and k at 1.5 + n/8, whatever n: 32 eps of the terms' sizes. */
static void scores_see_only_the_distance(void **state)
{
    (void)state;
    static const char *const specs[] = { "rope", "xpos", "rope:scaling=yarn,factor=4,trained=2048" };
    uint64_t seed = 9;
    pe_error err;
    for (int i = 0; i < COUNT(specs); i++) {
        double q[D], k[D], first = 0, turned[2][D];
        pe_encoding *e = test_encoding(specs[i], shape);
        for (int d = 0; d < D; d++) {
            q[d] = test_uniform(&seed);
            k[d] = test_uniform(&seed);
        }
        for (int n = 0; n < 200; n++) {
            double at[2] = { 3.75 + n / 8.0, 1.5 + n / 8.0 }, sum = 0, terms = 0;
            assert_ok(pe_rotate(e, PE_QUERY, pe_view_of(turned[0], PE_F64, 1, 1, 1, D), pe_view_of(q, PE_F64, 1, 1, 1, D),
                                pe_positions_of(&at[0], PE_F64, 1, 1, 1), NULL, &err));
            assert_ok(pe_rotate(e, PE_KEY, pe_view_of(turned[1], PE_F64, 1, 1, 1, D), pe_view_of(k, PE_F64, 1, 1, 1, D),
                                pe_positions_of(&at[1], PE_F64, 1, 1, 1), NULL, &err));
            for (int d = 0; d < D; d++) {
                sum += turned[0][d] * turned[1][d];
                terms += fabs(turned[0][d] * turned[1][d]);
            }
            first = n ? first : sum;
            assert_true(fabs(sum - first) <= 32 * EPS * terms);
        }
        pe_encoding_free(e);
    }
}

/* ------------------------------------------------ attention */

/* Queries and keys turned beforehand, then attention without an encoding. */
static void check_attention(const char *spec)
{
    uint64_t seed = 12;
    pe_error err;
    pe_encoding *e = test_encoding(spec, shape), *plain = test_encoding("none", shape);
    int64_t axes = pe_encoding_axes(e), count = pe_encoding_param_count(e);
    double at[B * T * PE_AXES_MAX], *w = calloc((size_t)count + 1, sizeof *w);
    static double x[4][B * T * H * D], turned[2][B * T * H * D], out[2][B * T * H * D];
    static float single[3][B * T * H * D], fused[B * T * H * D];
    draw_positions(at, axes, true, &seed);
    pe_params params = { w, PE_F64, count };
    assert_ok(pe_encoding_init(e, params, 4, &err));
    for (int n = 0; n < 3; n++)
        for (int i = 0; i < B * T * H * D; i++)
            x[n][i] = single[n][i] = (float)test_uniform(&seed);
    pe_positions where = pe_positions_of(at, PE_F64, B, T, axes);
    pe_attention a = PE_MAKE(pe_attention, .q = pe_view_of(x[0], PE_F64, B, T, H, D), .k = pe_view_of(x[1], PE_F64, B, T, G, D),
                             .v = pe_view_of(x[2], PE_F64, B, T, G, D), .out = pe_view_of(out[0], PE_F64, B, T, H, D),
                             .q_at = where, .k_at = where, .mask.causal = true, .scale = pe_encoding_scale(e));
    pe_attention right = a, fast = a;
    size_t bytes, more;
    assert_ok(pe_reference_work(e, &a, &bytes, &err));
    void *work = malloc(bytes + 1);
    pe_run run = PE_MAKE(pe_run, .params = params, .work = work, .work_bytes = bytes);
    assert_ok(pe_reference_forward(e, &a, &run, &err));
    right.q = pe_view_of(turned[0], PE_F64, B, T, H, D);
    right.k = pe_view_of(turned[1], PE_F64, B, T, G, D);
    right.out = pe_view_of(out[1], PE_F64, B, T, H, D);
    right.q_at = right.k_at = pe_positions_run(B, T, 0);
    assert_ok(pe_rotate(e, PE_QUERY, right.q, a.q, where, &run, &err));
    assert_ok(pe_rotate(e, PE_KEY, right.k, a.k, where, &run, &err));
    if (!strstr(spec, "turn=qkv")) {
        assert_ok(pe_reference_forward(plain, &right, &PE_MAKE(pe_run, .work = work, .work_bytes = bytes), &err));
        for (int i = 0; i < B * T * H * D; i++)
            if (!(fabs(out[0][i] - out[1][i]) <= 64 * EPS))
                fail_msg("%s: output %d is %.17g, of what was turned before %.17g", spec, i, out[0][i], out[1][i]);
    }
    fast.q = pe_view_of(single[0], PE_F32, B, T, H, D);
    fast.k = pe_view_of(single[1], PE_F32, B, T, G, D);
    fast.v = pe_view_of(single[2], PE_F32, B, T, G, D);
    fast.out = pe_view_of(fused, PE_F32, B, T, H, D);
    assert_ok(pe_attention_work(e, &fast, &PE_MAKE(pe_run, .params = params), &more, &err));
    void *room = malloc(more + 1);
    assert_ok(pe_attention_forward(e, &fast, &PE_MAKE(pe_run, .params = params, .work = room, .work_bytes = more), &err));
    for (int i = 0; i < B * T * H * D; i++)
        if (!(fabs((double)fused[i] - out[0][i]) <= 4e-6))
            fail_msg("%s: fused output %d is %.9g, should be %.9g", spec, i, (double)fused[i], out[0][i]);
    free(work), free(room), free(w);
    pe_encoding_free(e), pe_encoding_free(plain);
}

static void attention_turns_between_positions_too(void **state)
{
    (void)state;
    static const char *const more[] = { "rope:learned=heads", "rope:axes=2,learned=shared" };
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; strcmp(pe_info_at(i)->name, "rope") == 0 && k < pe_info_at(i)->example_count; k++)
            if (continuous(pe_info_at(i)->examples[k]))
                check_attention(pe_info_at(i)->examples[k]);
    for (int i = 0; i < COUNT(more); i++)
        check_attention(more[i]);
}

/* Where a table by distance or a mask by position would have to look between two places. */
static void attention_that_counts_places_takes_whole_ones(void **state)
{
    (void)state;
    static const char *const specs[] = { "alibi", "rope+t5", "shaw", "cope", "xpos", "rope" };
    static double x[2 * H * D], at[2] = { 0, 0.5 };
    for (int i = 0; i < COUNT(specs); i++) {
        size_t bytes;
        pe_error err;
        pe_encoding *e = test_encoding(specs[i], shape);
        pe_positions where = pe_positions_of(at, PE_F64, 1, 2, 1);
        pe_attention a = PE_MAKE(pe_attention, .q = pe_view_of(x, PE_F64, 1, 2, H, D), .k = pe_view_of(x, PE_F64, 1, 2, G, D),
                                 .v = pe_view_of(x, PE_F64, 1, 2, G, D), .q_at = where, .k_at = where,
                                 .mask = { .causal = true, .align = PE_ALIGN_POSITION });
        assert_int_equal(pe_reference_work(e, &a, &bytes, &err), PE_ERR_POSITION);
        assert_non_null(strstr(err.text, "0.5"));
        pe_encoding_free(e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fractions_are_taken_where_the_angle_is_continuous),
        cmocka_unit_test(what_does_not_turn_takes_fractions_too),
        cmocka_unit_test(what_is_no_position_is_an_error),
        cmocka_unit_test(xpos_serves_between_what_it_serves),
        cmocka_unit_test(whole_positions_have_the_same_bits_in_every_type),
        cmocka_unit_test(a_quarter_of_a_position_is_interpolation_by_four),
        cmocka_unit_test(a_fraction_is_added_to_the_run_it_stands_in),
        cmocka_unit_test(a_rotation_is_its_table_with_each_product_rounded),
        cmocka_unit_test(q_and_k_together_are_each_alone),
        cmocka_unit_test(every_rung_gives_the_same_bits),
        cmocka_unit_test(back_is_the_transpose_and_unrotate_undoes),
        cmocka_unit_test(scores_see_only_the_distance),
        cmocka_unit_test(attention_turns_between_positions_too),
        cmocka_unit_test(attention_that_counts_places_takes_whole_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
