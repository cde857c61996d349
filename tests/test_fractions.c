/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 2 s; needs: threads
 *
 * Rotations between whole positions. Truth of their cos and sin is test_exact.c's; here they are what the whole family
 * of calls does with them: where they are taken, every type, layout and rung, undone, transposed, from a table. */
#include "views.h"

enum { B = 2, T = 19, H = 4, G = 2, D = 64, P = D / 2 };
#define EPS 0x1p-52

static const pe_shape shape = { .heads = H, .kv_heads = G, .head_dim = D };
/* An angle that a float32 pipeline forms, and a temperature, which goes by steps, have whole positions only. */
static bool continuous(const char *spec)
{
    return !strstr(spec, "precision=") && !strstr(spec, "temperature=");
}

static void (*continuous_call)(const char *spec);

static void call_if_continuous(const char *spec)
{
    if (continuous(spec))
        continuous_call(spec);
}

static void each_continuous(void (*f)(const char *))
{
    continuous_call = f;
    each_rotation(call_if_continuous);
}

/* Every third is whole on all axes, and some others on one. Near 0, where xpos serves every type, or anywhere. */
static void draw_positions(double *at, int64_t axes, bool near, uint64_t *seed)
{
    for (int64_t n = 0; n < B * T * axes; n++) {
        double x = near ? 400 * test_uniform(seed) : ldexp(test_uniform(seed), (int)test_range(seed, -20, 36));
        at[n] = n / axes % 3 == 0 || test_random(seed) % 8 == 0 ? trunc(x) : x;
    }
}

static pe_view vectors(pe_dtype type, uint64_t *seed)
{
    return drawn(type, B, T, H, D, seed);
}

/* ------------------------------------------------ where they are taken */

static void check_taken(const char *spec)
{
    static double x[2 * H * D], y[2 * H * D], c[2 * G * P], s[2 * G * P], at[2 * PE_AXES_MAX];
    pe_encoding *e = encoding_of(spec, shape);
    int64_t axes = pe_encoding_axes(e), pairs = pe_encoding_pair_count(e), heads = test_table_heads(e);
    for (int64_t a = 0; a < axes; a++) {
        at[a] = 3;
        at[axes + a] = a ? 4 : 4.5;
    }
    pe_positions where = pe_positions_of(at, PE_F64, 1, 2, axes);
    pe_view from = pe_view_of(x, PE_F64, 1, 2, H, D), to = pe_view_of(y, PE_F64, 1, 2, H, D);
    pe_view cosine = pe_view_of(c, PE_F64, 1, 2, heads, pairs), sine = pe_view_of(s, PE_F64, 1, 2, heads, pairs);
    pe_rotation both = PE_MAKE(pe_rotation, .q = from, .q_out = to, .at = where);
    pe_status wanted = continuous(spec) ? PE_OK : PE_ERR_POSITION;
    const char *says = wanted ? "positions: position of token 1 is 4.5; needs a whole number, -2^36 to 2^36" : "";
    for (int i = 0; i < ROTATE_CALLS; i++)
        assert_says(rotate_calls[i](e, PE_QUERY, to, from, where, test_run(e), &err), wanted, says);
    assert_says(pe_rotate_table(e, PE_KEY, cosine, sine, where, test_run(e), &err), wanted, says);
    assert_says(pe_rotate_grad(e, (pe_params){ 0 }, PE_KEY, to, from, where, test_run(e), &err), wanted, says);
    assert_says(pe_rotate_qk(e, &both, test_run(e), &err), wanted, says);
}

TEST(fractions_are_taken_where_the_angle_is_continuous)
{
    each_rotation(check_taken);
    check_taken("alibi+rope");
    check_taken("rope:learned=shared,temperature=0.1,floor=8"); /* refused before its parameters are looked for */
}

/* What does not turn is the identity at every position. */
TEST(what_does_not_rotate_takes_fractions_too)
{
    double at[2] = { 0.5, -7.25 };
    uint64_t seed = 1;
    static const char *const specs[] = { "alibi", "rope:temperature=0.1" };
    for (int n = 0; n < COUNT(specs); n++) {
        pe_encoding *e = encoding_of(specs[n], shape);
        pe_view from = drawn(PE_F64, 1, 2, G, D, &seed), to = fresh_like(from);
        assert_ok(pe_rotate(e, PE_VALUE, to, from, pe_positions_of(at, PE_F64, 1, 2, 1), test_run(e), &err));
        same(specs[n], to, from);
    }
}

TEST(what_is_no_position_is_an_error)
{
    static const double wrong[] = { NAN, -NAN, INFINITY, -INFINITY, 0x1p36 + 0x1p-16, -0x1p36 - 0.5, 1e300 };
    static const char *const specs[] = { "rope", "xpos", "rope:learned=shared", "rope:precision=hf", "alibi" };
    static const double before[2 * H * D] = { 0 };
    double x[2 * H * D] = { 0 };
    for (int n = 0; n < COUNT(specs); n++)
        for (int i = 0; i < COUNT(wrong); i++) {
            double at[2] = { 1, wrong[i] }, w[P] = { 0 };
            pe_encoding *e = encoding_of(specs[n], shape);
            pe_run run = PE_MAKE(pe_run, .params = { w, PE_F64, pe_encoding_param_count(e) });
            pe_view v = pe_view_of(x, PE_F64, 1, 2, H, D);
            for (int c = 0; c < ROTATE_CALLS; c++) {
                assert_refused(rotate_calls[c](e, PE_KEY, v, v, pe_positions_of(at, PE_F64, 1, 2, 1), &run, &err),
                               PE_ERR_POSITION, "position of token 1 is ");
                assert_non_null(strstr(err.text, "-2^36 to 2^36"));
            }
            assert_memory_equal(x, before, sizeof x);
        }
}

/* xpos at 4 is past e^8, which float16 has room for; at 3 it is not: between the two nothing is served. */
TEST(xpos_serves_between_what_it_serves)
{
    double x[D] = { 0 }, at = 2.5;
    pe_encoding *e = encoding_of("xpos:base=0.6", shape);
    pe_view k = pe_view_of(x, PE_F16, 1, 1, 1, D);
    pe_positions where = pe_positions_of(&at, PE_F64, 1, 1, 1);
    assert_ok(pe_rotate(e, PE_KEY, k, k, where, test_run(e), &err));
    at = 3.5;
    assert_int_equal(pe_rotate(e, PE_KEY, k, k, where, test_run(e), &err), PE_ERR_POSITION);
    at = -3.5;
    assert_int_equal(pe_rotate(e, PE_KEY, k, k, where, test_run(e), &err), PE_ERR_POSITION);
}

/* ------------------------------------------------ whole positions among them */

static void check_whole(const char *spec)
{
    static double at[B * T * PE_AXES_MAX];
    static int64_t whole[B * T * PE_AXES_MAX];
    uint64_t seed = 2;
    pe_encoding *e = encoding_of(spec, shape);
    int64_t axes = pe_encoding_axes(e);
    bool near = strstr(spec, "xpos");
    for (int round = 0; round < FLOAT_TYPES * ROTATE_CALLS * 2; round++) {
        pe_dtype type = float_types[round % 4];
        rotate_call *call = rotate_calls[round / 4 % 3];
        pe_view x = vectors(type, &seed), real = fresh_like(x), y = fresh_like(x);
        draw_positions(at, axes, near, &seed);
        for (int64_t n = 0; n < B * T * axes; n++) {
            if (round < 12 || !continuous(spec))
                at[n] = trunc(at[n]);
            whole[n] = (int64_t)at[n];
        }
        assert_ok(call(e, PE_QUERY, real, x, pe_positions_of(at, PE_F64, B, T, axes), test_run(e), &err));
        assert_ok(call(e, PE_QUERY, y, x, pe_positions_of(whole, PE_I64, B, T, axes), test_run(e), &err));
        for (int64_t n = 0; n < B * T; n++) {
            bool is_whole = true;
            for (int64_t a = 0; a < axes; a++)
                is_whole = is_whole && (double)whole[n * axes + a] == at[n * axes + a];
            if (is_whole)
                same(spec, cut(real, n / T, n % T, 1), cut(y, n / T, n % T, 1));
        }
    }
}

TEST(whole_positions_have_the_same_bits_in_every_type)
{
    each_rotation(check_whole);
}

/* rope at t/4 is rope:scaling=linear,factor=4 at t: a power of two moves between position and frequency unrounded. */
TEST(a_quarter_of_a_position_is_interpolation_by_four)
{
    static double at[B * T];
    static int64_t whole[B * T];
    uint64_t seed = 3;
    pe_encoding *plain = encoding_of("rope", shape), *linear = encoding_of("rope:scaling=linear,factor=4", shape);
    for (int n = 0; n < B * T; n++) {
        whole[n] = test_range(&seed, -PE_POSITION_MAX, PE_POSITION_MAX) >> test_range(&seed, 0, 34);
        at[n] = (double)whole[n] / 4;
    }
    for (int k = 0; k < FLOAT_TYPES; k++) {
        pe_view x = vectors(float_types[k], &seed), y = fresh_like(x), want = fresh_like(x);
        assert_ok(pe_rotate(plain, PE_KEY, y, x, pe_positions_of(at, PE_F64, B, T, 1), test_run(plain), &err));
        assert_ok(pe_rotate(linear, PE_KEY, want, x, pe_positions_of(whole, PE_I64, B, T, 1), test_run(linear), &err));
        same("t/4", y, want);
    }
}

TEST(a_fraction_is_added_to_the_run_it_stands_in)
{
    double own[B] = { 0.25, -1e-9 }, at[B * T];
    uint64_t seed = 4;
    pe_encoding *e = encoding_of("rope", shape);
    for (int n = 0; n < B * T; n++) /* in float64: far out a small one is lost */
        at[n] = (double)(PE_POSITION_MAX / 2 + 3 * (n % T)) + own[n / T];
    pe_positions run = { own, PE_F64, B, T, 1, 1, 0, 1, PE_POSITION_MAX / 2, 3 };
    pe_view x = vectors(PE_F32, &seed), y = fresh_like(x), want = fresh_like(x);
    assert_ok(pe_rotate(e, PE_KEY, y, x, run, test_run(e), &err));
    assert_ok(pe_rotate(e, PE_KEY, want, x, pe_positions_of(at, PE_F64, B, T, 1), test_run(e), &err));
    same("a run with a fraction", y, want);
}

/* ------------------------------------------------ from the table */

/* y = x rotated by the table, each product rounded; what does not turn is copied. */
static void define(const pe_encoding *e, pe_view y, pe_view x, pe_view c, pe_view s)
{
    static pe_pair pair[P];
    int64_t pairs = pe_encoding_pair_count(e);
    assert_ok(pe_encoding_pairs(e, pair, pairs, &err));
    for (int64_t r = 0; r < B * T * H; r++) {
        int64_t b = r / H / T, t = r / H % T, h = r % H;
        for (int64_t d = 0; d < D; d++)
            num_store(row(y, b, t, h), y.dtype, d, get(x, b, t, h, d));
        for (int64_t n = 0; n < pairs; n++) {
            double p = get(x, b, t, h, pair[n].x), q = get(x, b, t, h, pair[n].y);
            volatile double pc = p * get(c, b, t, 0, n), qs = q * get(s, b, t, 0, n), ps = p * get(s, b, t, 0, n),
                            qc = q * get(c, b, t, 0, n);
            if (x.dtype != PE_F64) { /* a product of two floats is a double, which float rounds once */
                pc = (float)pc, qs = (float)qs, ps = (float)ps, qc = (float)qc;
                pc = (float)pc - (float)qs, ps = (float)ps + (float)qc;
            } else
                pc = pc - qs, ps = ps + qc;
            num_store(row(y, b, t, h), y.dtype, pair[n].x_out, pc);
            num_store(row(y, b, t, h), y.dtype, pair[n].y_out, ps);
        }
    }
}

static void check_table(const char *spec)
{
    static double at[B * T * PE_AXES_MAX], across[B * T * PE_AXES_MAX];
    uint64_t seed = 5;
    pe_encoding *e = encoding_of(spec, shape);
    int64_t axes = pe_encoding_axes(e), pairs = pe_encoding_pair_count(e);
    for (int round = 0; test_table_heads(e) == 1 && round < 2 * FLOAT_TYPES; round++) { /* more heads: test_trained.c */
        pe_dtype type = float_types[round % 4], table = type == PE_F64 ? PE_F64 : PE_F32;
        pe_side side = round < 4 ? PE_QUERY : PE_KEY;
        draw_positions(at, axes, strstr(spec, "xpos"), &seed);
        for (int64_t n = 0; n < B * T * axes; n++) /* the same in (axes, tokens, batch) order, tokens backwards */
            across[(n % axes * T + (T - 1 - n / axes % T)) * B + n / axes / T] = at[n];
        pe_positions where = pe_positions_of(at, PE_F64, B, T, axes);
        pe_positions other = { across + (T - 1) * B, PE_F64, B, T, axes, 1, -B, T * B, 0, 0 };
        pe_view x = vectors(type, &seed), want = fresh_like(x), y = fresh_like(x), far = laid(x, orders[1]);
        pe_view c = fresh(table, B, T, 1, pairs), s = fresh_like(c);
        assert_ok(pe_rotate_table(e, side, c, s, where, test_run(e), &err));
        define(e, want, x, c, s);
        assert_ok(pe_rotate(e, side, y, x, where, test_run(e), &err));
        same("rotated", y, want);
        assert_ok(pe_rotate(e, side, far, x, other, test_run(e), &err));
        same("heads first, positions by strides", far, want);
        pe_rotation both = PE_MAKE(pe_rotation, .q = x, .q_out = y, .at = where, .q_table = { c, s, NULL });
        if (side == PE_QUERY) {
            spoil(y);
            assert_ok(pe_rotate_qk(e, &both, test_run(e), &err));
            same("with its table", y, want);
        }
        assert_ok(pe_rotate(e, side, x, x, where, test_run(e), &err));
        same("in place", x, want);
    }
}

TEST(a_rotation_is_its_table_with_each_product_rounded)
{
    each_continuous(check_table);
}

static void check_together(const char *spec)
{
    static double at[B * T * PE_AXES_MAX];
    uint64_t seed = 6;
    pe_pool *pool = pool_of(3);
    pe_encoding *e = encoding_of(spec, shape);
    draw_positions(at, pe_encoding_axes(e), strstr(spec, "xpos"), &seed);
    pe_positions where = pe_positions_of(at, PE_F64, B, T, pe_encoding_axes(e));
    for (int k = 0; k < FLOAT_TYPES; k++) {
        pe_view q = vectors(float_types[k], &seed), q_one = fresh_like(q), q_both = fresh_like(q);
        pe_view keys = drawn(float_types[k], B, T, G, D, &seed), k_one = fresh_like(keys), k_both = fresh_like(keys);
        assert_ok(pe_rotate(e, PE_QUERY, q_one, q, where, test_run(e), &err));
        assert_ok(pe_rotate(e, PE_KEY, k_one, keys, where, test_run(e), &err));
        pe_rotation both = PE_MAKE(pe_rotation, .q = q, .k = keys, .q_out = q_both, .k_out = k_both, .at = where);
        assert_ok(pe_rotate_qk(e, &both, &PE_MAKE(pe_run, .params = test_run(e)->params, .pool = pool), &err));
        same("q", q_both, q_one);
        same("k", k_both, k_one);
    }
}

TEST(q_and_k_together_are_each_alone)
{
    each_continuous(check_together);
}

static void check_rungs(const char *spec)
{
    static double at[B * T * PE_AXES_MAX];
    uint64_t seed = 7;
    const char *name;
    pe_encoding *e = encoding_of(spec, shape), *scalar = encoding_of(spec, shape);
    int64_t axes = pe_encoding_axes(e), pairs = pe_encoding_pair_count(e), heads = test_table_heads(e);
    pe_positions where = pe_positions_of(at, PE_F64, B, T, axes);
    assert_ok(pe_encoding_set_kernels(scalar, pe_kernels_name(0), &err));
    for (int n = 1; (name = pe_kernels_name(n)); n++)
        for (int k = 0; k < FLOAT_TYPES && !pe_encoding_set_kernels(e, name, NULL); k++) {
            pe_view x = vectors(float_types[k], &seed), y = fresh_like(x), want = fresh_like(x);
            pe_view s = fresh(float_types[k], B, T, heads, pairs), c[2] = { fresh_like(s), fresh_like(s) };
            draw_positions(at, axes, strstr(spec, "xpos"), &seed);
            for (int i = 0; i < ROTATE_CALLS; i++) {
                assert_ok(rotate_calls[i](e, PE_QUERY, y, x, where, test_run(e), &err));
                assert_ok(rotate_calls[i](scalar, PE_QUERY, want, x, where, test_run(scalar), &err));
                same(name, y, want);
            }
            assert_ok(pe_rotate_table(e, PE_QUERY, c[0], s, where, test_run(e), &err));
            assert_ok(pe_rotate_table(scalar, PE_QUERY, c[1], s, where, test_run(scalar), &err));
            same(name, c[0], c[1]);
        }
}

TEST(every_rung_gives_the_same_bits)
{
    each_continuous(check_rungs);
}

/* ------------------------------------------------ backwards and undone */

/* <R x, y> = <x, R^T y> within 64 eps of the terms' sizes, and back to x within 8 eps of a pair's length: as at whole
 * positions (test_rotate.c). */
static void check_back(const char *spec)
{
    static double at[B * T * PE_AXES_MAX];
    static const double eps[FLOAT_COUNT] = { [PE_F32] = 8 * 0x1p-23, [PE_F16] = 4 * 0x1p-10, [PE_BF16] = 4 * 0x1p-7,
                                             [PE_F64] = 8 * EPS };
    uint64_t seed = 8;
    pe_encoding *e = encoding_of(spec, shape);
    int64_t axes = pe_encoding_axes(e);
    draw_positions(at, axes, strstr(spec, "xpos"), &seed);
    pe_positions where = pe_positions_of(at, PE_F64, B, T, axes);
    for (int side = PE_QUERY; side <= PE_OUTPUT; side++) {
        double terms = 0;
        pe_view x = vectors(PE_F64, &seed), y = vectors(PE_F64, &seed), rx = fresh_like(x), ry = fresh_like(x);
        assert_ok(pe_rotate(e, (pe_side)side, rx, x, where, test_run(e), &err));
        assert_ok(pe_rotate_back(e, (pe_side)side, ry, y, where, test_run(e), &err));
        double left = view_dot(rx, y, &terms), right = view_dot(x, ry, &terms);
        if (!(fabs(left - right) <= 64 * EPS * terms))
            fail_msg("%s, side %d: <Rx, y> is %.17g, <x, R'y> is %.17g", spec, side, left, right);
        for (int k = 0; k < FLOAT_TYPES; k++) {
            pe_view v = vectors(float_types[k], &seed), rotated = fresh_like(v), undone = fresh_like(v);
            assert_ok(pe_rotate(e, (pe_side)side, rotated, v, where, test_run(e), &err));
            assert_ok(pe_unrotate(e, (pe_side)side, undone, rotated, where, test_run(e), &err));
            for (int64_t i = 0; i < B * T * H * D; i++) {
                double was = num_load(v.data, float_types[k], i), is = num_load(undone.data, float_types[k], i);
                if (!(fabs(was - is) <= eps[float_types[k]] * sqrt(2))) /* elements are below 1 */
                    fail_msg("%s, side %d, type %d: %.9g came back as %.9g", spec, side, k, was, is);
            }
        }
    }
}

TEST(back_is_the_transpose_and_unrotate_undoes)
{
    each_continuous(check_back);
}

/* q at 3.75 + n/8 and k at 1.5 + n/8, whatever n: 32 eps of the terms' sizes. */
TEST(scores_see_only_the_distance)
{
    static const char *const specs[] = { "rope", "xpos", "rope:scaling=yarn,factor=4,trained=2048" };
    uint64_t seed = 9;
    for (int i = 0; i < COUNT(specs); i++) {
        double q[D], k[D], first = 0, rotated[2][D];
        pe_encoding *e = encoding_of(specs[i], shape);
        for (int d = 0; d < D; d++) {
            q[d] = test_uniform(&seed);
            k[d] = test_uniform(&seed);
        }
        for (int n = 0; n < 200; n++) {
            double at[2] = { 3.75 + n / 8.0, 1.5 + n / 8.0 }, sum = 0, terms = 0;
            assert_ok(pe_rotate(e, PE_QUERY, pe_view_of(rotated[0], PE_F64, 1, 1, 1, D), pe_view_of(q, PE_F64, 1, 1, 1, D),
                                pe_positions_of(&at[0], PE_F64, 1, 1, 1), NULL, &err));
            assert_ok(pe_rotate(e, PE_KEY, pe_view_of(rotated[1], PE_F64, 1, 1, 1, D), pe_view_of(k, PE_F64, 1, 1, 1, D),
                                pe_positions_of(&at[1], PE_F64, 1, 1, 1), NULL, &err));
            for (int d = 0; d < D; d++) {
                sum += rotated[0][d] * rotated[1][d];
                terms += fabs(rotated[0][d] * rotated[1][d]);
            }
            first = n ? first : sum;
            assert_true(fabs(sum - first) <= 32 * EPS * terms);
        }
    }
}

/* ------------------------------------------------ attention */

/* Queries and keys rotated beforehand, then attention without an encoding. */
static void check_attention(const char *spec)
{
    uint64_t seed = 12;
    pe_encoding *e = encoding_of(spec, shape), *plain = encoding_of("none", shape);
    int64_t axes = pe_encoding_axes(e), count = pe_encoding_param_count(e);
    double at[B * T * PE_AXES_MAX], *w = take(count, sizeof *w);
    static double x[4][B * T * H * D], rotated[2][B * T * H * D], out[2][B * T * H * D];
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
    void *work = take((int64_t)bytes, 1);
    pe_run run = PE_MAKE(pe_run, .params = params, .work = work, .work_bytes = bytes);
    assert_ok(pe_reference_forward(e, &a, &run, &err));
    right.q = pe_view_of(rotated[0], PE_F64, B, T, H, D);
    right.k = pe_view_of(rotated[1], PE_F64, B, T, G, D);
    right.out = pe_view_of(out[1], PE_F64, B, T, H, D);
    right.q_at = right.k_at = pe_positions_run(B, T, 0);
    assert_ok(pe_rotate(e, PE_QUERY, right.q, a.q, where, &run, &err));
    assert_ok(pe_rotate(e, PE_KEY, right.k, a.k, where, &run, &err));
    if (!strstr(spec, "turn=qkv")) {
        assert_ok(pe_reference_forward(plain, &right, &PE_MAKE(pe_run, .work = work, .work_bytes = bytes), &err));
        for (int i = 0; i < B * T * H * D; i++)
            if (!(fabs(out[0][i] - out[1][i]) <= 64 * EPS))
                fail_msg("%s: output %d is %.17g, of what was rotated before %.17g", spec, i, out[0][i], out[1][i]);
    }
    fast.q = pe_view_of(single[0], PE_F32, B, T, H, D);
    fast.k = pe_view_of(single[1], PE_F32, B, T, G, D);
    fast.v = pe_view_of(single[2], PE_F32, B, T, G, D);
    fast.out = pe_view_of(fused, PE_F32, B, T, H, D);
    assert_ok(pe_attention_work(e, &fast, &PE_MAKE(pe_run, .params = params), &more, &err));
    void *room = take((int64_t)more, 1);
    assert_ok(pe_attention_forward(e, &fast, &PE_MAKE(pe_run, .params = params, .work = room, .work_bytes = more), &err));
    for (int i = 0; i < B * T * H * D; i++)
        if (!(fabs((double)fused[i] - out[0][i]) <= 4e-6))
            fail_msg("%s: fused output %d is %.9g, should be %.9g", spec, i, (double)fused[i], out[0][i]);
}

TEST(attention_rotates_between_positions_too)
{
    static const char *const more[] = { "rope:learned=heads", "rope:axes=2,learned=shared" };
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; strcmp(pe_info_at(i)->name, "rope") == 0 && k < pe_info_at(i)->example_count; k++)
            if (continuous(pe_info_at(i)->examples[k]))
                check_attention(pe_info_at(i)->examples[k]);
    for (int i = 0; i < COUNT(more); i++)
        check_attention(more[i]);
}

/* Where a table by distance or a mask by position would have to look between two places; test_attention, test_fused and
 * test_gradients hold attention to its definition where they are taken. */
TEST(attention_takes_fractions_where_nothing_is_a_table)
{
    static const char *const whole[] = { "t5", "rope+t5", "window", "shaw", "deberta", "transformer-xl", "inkling", "xpos", "rope:temperature=0.1",
                                         "alibi:convention=falcon,products=bf16", "rope:precision=hf+alibi" };
    static const char *const any[] = { "none", "alibi", "alibi:form=symmetric,slopes=learned", "kerple", "fire", "sandwich", "forget", "pope",
                                       "cope", "rope+alibi", "rope:learned=heads+fire", "fope" };
    static double x[2 * H * D], at[2] = { 0, 0.5 };
    for (int i = 0; i < COUNT(whole) + COUNT(any); i++) {
        size_t bytes;
        pe_encoding *e = encoding_of(i < COUNT(whole) ? whole[i] : any[i - COUNT(whole)], shape);
        pe_inputs in = pe_encoding_inputs(e);
        pe_positions where = pe_positions_of(at, PE_F64, 1, 2, 1);
        where.axes = pe_encoding_axes(e);
        where.axis_stride = 0;
        pe_attention a = PE_MAKE(pe_attention, .q = pe_view_of(x, PE_F64, 1, 2, H, D), .k = pe_view_of(x, PE_F64, 1, 2, G, D),
                                 .v = pe_view_of(x, PE_F64, 1, 2, G, D), .q_at = where, .k_at = where, .mask.causal = true);
        if (in.gates)
            a.q_gates = a.k_gates = pe_view_of(x, PE_F64, 1, 2, H, 1);
        if (in.relative)
            a.relative = pe_view_of(x, PE_F64, 1, 2, H, in.relative);
        if (i < COUNT(whole))
            assert_refused(pe_reference_work(e, &a, &bytes, &err), PE_ERR_POSITION, "position of token 1 is 0.5; needs a whole number");
        else
            assert_ok(pe_reference_work(e, &a, &bytes, &err));
        a.mask.align = PE_ALIGN_POSITION;
        assert_refused(pe_reference_work(e, &a, &bytes, &err), PE_ERR_POSITION, "0.5");
    }
}

/* A plan has tables by whole distance: a call between them has none. */
TEST(a_plan_changes_nothing_between_whole_positions)
{
    static const char *const specs[] = { "alibi", "kerple", "fire", "sandwich", "rope+alibi" };
    enum { N = 24 };
    static float x[3][N * H * D], out[2][N * H * D];
    double at[N];
    uint64_t seed = 8;
    for (int i = 0; i < COUNT(specs); i++) {
        pe_encoding *e = encoding_of(specs[i], shape);
        int64_t count = pe_encoding_param_count(e);
        double *w = take(count, sizeof *w);
        pe_plan *plan;
        assert_ok(pe_encoding_init(e, (pe_params){ w, PE_F64, count }, 4, &err));
        for (int n = 0; n < N; n++)
            at[n] = 1.3 * n;
        for (int n = 0; n < 3 * N * H * D; n++)
            x[n / (N * H * D)][n % (N * H * D)] = (float)test_uniform(&seed);
        pe_positions where = pe_positions_of(at, PE_F64, 1, N, 1);
        pe_attention a = PE_MAKE(pe_attention, .q = pe_view_of(x[0], PE_F32, 1, N, H, D), .k = pe_view_of(x[1], PE_F32, 1, N, G, D),
                                 .v = pe_view_of(x[2], PE_F32, 1, N, G, D), .q_at = where, .k_at = where, .mask.causal = true);
        assert_ok(pe_plan_new(&plan, e, 40, 0, &PE_MAKE(pe_run, .params = { w, PE_F64, count }), &err));
        for (int with = 0; with < 2; with++) {
            size_t bytes;
            pe_run run = PE_MAKE(pe_run, .params = { w, PE_F64, count }, .plan = with ? plan : NULL);
            a.out = pe_view_of(out[with], PE_F32, 1, N, H, D);
            assert_ok(pe_attention_work(e, &a, &run, &bytes, &err));
            run.work = take((int64_t)bytes, 1);
            run.work_bytes = bytes;
            assert_ok(pe_attention_forward(e, &a, &run, &err));
        }
        assert_memory_equal(out[0], out[1], sizeof out[0]);
        pe_plan_free(plan);
    }
}
