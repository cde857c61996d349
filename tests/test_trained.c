/* SPDX-License-Identifier: MIT
 * labels: core
 *
 * Rotations whose frequencies are trained: they begin as the fixed ones, and their gradients are those of 4-point
 * differences, through a rotation and through attention. */
#include "common.h"

enum { B = 2, T = 37, H = 4, G = 2, D = 8 };
static const pe_shape shape = { .heads = H, .kv_heads = G, .head_dim = D };
static const char *const specs[] = { "rope:learned=shared", "rope:learned=heads,pairs=adjacent",
                                     "rope:axes=2,learned=heads", "rope:dims=4,learned=heads,magnitude=0.8",
                                     "rope:learned=heads+alibi" };

/* A spec with its parameters, in float64, a little off where they start. */
typedef struct subject {
    pe_encoding *e;
    int64_t count;
    double w[256], dw[256];
} subject;

static pe_params params(double *data, const subject *s)
{
    return (pe_params){ data, PE_F64, s->count };
}

static subject open_subject(const char *spec, double off)
{
    pe_error err;
    uint64_t seed = 5;
    subject s = { 0 };
    assert_ok(pe_encoding_new(&s.e, spec, shape, &err));
    s.count = pe_encoding_param_count(s.e);
    assert_in_range(s.count, 1, 256);
    assert_ok(pe_encoding_init(s.e, params(s.w, &s), 1, &err));
    for (int64_t i = 0; i < s.count; i++)
        s.w[i] += off * test_uniform(&seed);
    return s;
}

static void fill(double *x, int64_t n, uint64_t seed)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = test_uniform(&seed);
}

static pe_positions grid(const pe_encoding *e, int64_t *at, int64_t batch, int64_t tokens)
{
    int64_t axes = pe_encoding_axes(e);
    for (int64_t n = 0; n < batch * tokens * axes; n++)
        at[n] = n / axes % tokens + 3 * (n % axes) - 5;
    return pe_positions_of(at, PE_I64, batch, tokens, axes);
}

/* The same grid in steps of 3/8, so that most are between whole positions. */
static pe_positions fractions(const pe_encoding *e, double *at, int64_t batch, int64_t tokens)
{
    int64_t axes = pe_encoding_axes(e);
    for (int64_t n = 0; n < batch * tokens * axes; n++)
        at[n] = 0.375 * (double)(n / axes % tokens + 3 * (n % axes) - 5);
    return pe_positions_of(at, PE_F64, batch, tokens, axes);
}

static void frequencies_begin_as_the_fixed_ones(void **state)
{
    (void)state;
    static const char *const pairs[][2] = { { "rope:learned=heads", "rope" },
                                            { "rope:theta=500,pairs=adjacent,learned=shared", "rope:theta=500,pairs=adjacent" },
                                            { "rope:axes=2,learned=heads", "rope:axes=2" },
                                            { "rope:frequencies=1/0.5/0.25/0.125,learned=shared",
                                              "rope:frequencies=1/0.5/0.25/0.125" } };
    static float x[B * T * H * D], y[2][B * T * H * D];
    pe_error err;
    uint64_t seed = 1;
    for (int i = 0; i < COUNT(x); i++)
        x[i] = (float)test_uniform(&seed);
    for (int n = 0; n < COUNT(pairs); n++) {
        subject s = open_subject(pairs[n][0], 0);
        pe_encoding *fixed;
        int64_t at[B * T * 2];
        double real[B * T * 2];
        pe_positions where[2] = { grid(s.e, at, B, T), fractions(s.e, real, B, T) };
        assert_ok(pe_encoding_new(&fixed, pairs[n][1], shape, &err));
        pe_view in = pe_view_of(x, PE_F32, B, T, H, D);
        for (int k = 0; k < 2; k++) {
            assert_ok(pe_rotate(s.e, PE_QUERY, pe_view_of(y[0], PE_F32, B, T, H, D), in, where[k],
                                &PE_MAKE(pe_run, .params = params(s.w, &s)), &err));
            assert_ok(pe_rotate(fixed, PE_QUERY, pe_view_of(y[1], PE_F32, B, T, H, D), in, where[k], NULL, &err));
            for (int i = 0; i < COUNT(x); i++) /* a frequency is a double here, 150 bits there: a last bit of cos */
                assert_true(fabsf(y[0][i] - y[1][i]) <= 4e-7f);
        }
        pe_encoding_free(fixed);
        pe_encoding_free(s.e);
    }
}

static void a_rotation_wants_its_parameters(void **state)
{
    (void)state;
    double x[T * H * D] = { 0 };
    pe_error err;
    subject s = open_subject("rope:learned=heads", 0);
    pe_view v = pe_view_of(x, PE_F64, 1, T, H, D), odd = pe_view_of(x, PE_F64, 1, T, 3, D);
    assert_int_equal(pe_rotate(s.e, PE_QUERY, v, v, pe_positions_run(1, T, 0), NULL, &err), PE_ERR_SHAPE);
    assert_int_equal(pe_rotate(s.e, PE_QUERY, odd, odd, pe_positions_run(1, T, 0),
                               &PE_MAKE(pe_run, .params = params(s.w, &s)), &err),
                     PE_ERR_SHAPE);
    pe_encoding_free(s.e);
}

/* loss = sum of dy y */
static double rotated(subject *s, const double *x, const double *dy, pe_positions where)
{
    static double y[T * H * D];
    pe_error err;
    double sum = 0;
    assert_ok(pe_rotate(s->e, PE_QUERY, pe_view_of(y, PE_F64, 1, T, H, D), pe_view_of((void *)x, PE_F64, 1, T, H, D),
                        where, &PE_MAKE(pe_run, .params = params(s->w, s)), &err));
    for (int i = 0; i < T * H * D; i++)
        sum += y[i] * dy[i];
    return sum;
}

/* Four points, so that the error is h^4. */
#define DIFFERENCE(w, loss)                                                                                            \
    do {                                                                                                               \
        const double h = 1e-4, old = (w);                                                                              \
        double f[4];                                                                                                   \
        const double step[4] = { -2 * h, -h, h, 2 * h };                                                               \
        for (int d = 0; d < 4; d++) {                                                                                  \
            (w) = old + step[d];                                                                                       \
            f[d] = loss;                                                                                               \
        }                                                                                                              \
        (w) = old;                                                                                                     \
        difference = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h);                                                   \
    } while (0)

static void gradients_of_a_rotation_are_differences(void **state)
{
    (void)state;
    static double x[T * H * D], dy[T * H * D];
    fill(x, COUNT(x), 1);
    fill(dy, COUNT(dy), 2);
    for (int n = 0; n < 2 * COUNT(specs); n++) {
        subject s = open_subject(specs[n / 2], 0.1);
        int64_t at[T * 2];
        double difference, real[T * 2];
        pe_error err;
        pe_positions where = n % 2 ? fractions(s.e, real, 1, T) : grid(s.e, at, 1, T);
        assert_ok(pe_rotate_grad(s.e, params(s.dw, &s), PE_QUERY, pe_view_of(dy, PE_F64, 1, T, H, D),
                                 pe_view_of(x, PE_F64, 1, T, H, D), where,
                                 &PE_MAKE(pe_run, .params = params(s.w, &s)), &err));
        for (int64_t i = 0; i < s.count; i++) {
            DIFFERENCE(s.w[i], rotated(&s, x, dy, where));
            assert_true(fabs(difference - s.dw[i]) <= 1e-6 * (1 + fabs(difference)));
        }
        pe_encoding_free(s.e);
    }
}

static void tables_have_a_row_per_head_and_turn_as_the_rotation_does(void **state)
{
    (void)state;
    static float x[T * H * D], y[2][T * H * D], c[T * G * D], sn[T * G * D];
    pe_error err;
    uint64_t seed = 3;
    for (int i = 0; i < COUNT(x); i++)
        x[i] = (float)test_uniform(&seed);
    subject s = open_subject("rope:learned=heads", 0.1);
    pe_run run = PE_MAKE(pe_run, .params = params(s.w, &s));
    pe_table t = { pe_view_of(c, PE_F32, 1, T, G, D / 2), pe_view_of(sn, PE_F32, 1, T, G, D / 2), NULL };
    double real[T];
    pe_positions where[2] = { pe_positions_run(1, T, 11), fractions(s.e, real, 1, T) };
    for (int k = 0; k < 2; k++) {
        assert_ok(pe_rotate_table(s.e, PE_QUERY, t.cosine, t.sine, where[k], &run, &err));
        pe_view in = pe_view_of(x, PE_F32, 1, T, H, D), out = pe_view_of(y[1], PE_F32, 1, T, H, D);
        assert_ok(pe_rotate(s.e, PE_QUERY, pe_view_of(y[0], PE_F32, 1, T, H, D), in, where[k], &run, &err));
        pe_rotation with = PE_MAKE(pe_rotation, .q = in, .q_out = out, .at = where[k], .q_table = t);
        assert_ok(pe_rotate_qk(s.e, &with, &run, &err));
        assert_memory_equal(y[0], y[1], sizeof y[0]);
    }
    pe_encoding_free(s.e);
}

/* x back, and <R x, dy> = <x, R^T dy>: 16 eps of vectors below 1, and of the terms' sizes. */
static void fractions_are_undone_and_transposed(void **state)
{
    (void)state;
    static double x[T * H * D], dy[T * H * D], y[T * H * D], z[T * H * D], dx[T * H * D];
    fill(x, COUNT(x), 6);
    fill(dy, COUNT(dy), 7);
    for (int n = 0; n < COUNT(specs); n++) {
        pe_error err;
        double real[T * 2], left = 0, right = 0, terms = 0;
        subject s = open_subject(specs[n], 0.1);
        pe_run run = PE_MAKE(pe_run, .params = params(s.w, &s));
        pe_positions where = fractions(s.e, real, 1, T);
        pe_view in = pe_view_of(x, PE_F64, 1, T, H, D), out = pe_view_of(y, PE_F64, 1, T, H, D);
        assert_ok(pe_rotate(s.e, PE_QUERY, out, in, where, &run, &err));
        assert_ok(pe_unrotate(s.e, PE_QUERY, pe_view_of(z, PE_F64, 1, T, H, D), out, where, &run, &err));
        assert_ok(pe_rotate_back(s.e, PE_QUERY, pe_view_of(dx, PE_F64, 1, T, H, D),
                                 pe_view_of(dy, PE_F64, 1, T, H, D), where, &run, &err));
        for (int i = 0; i < COUNT(x); i++) {
            assert_true(fabs(x[i] - z[i]) <= 16 * 0x1p-52);
            left += y[i] * dy[i];
            right += x[i] * dx[i];
            terms += fabs(y[i] * dy[i]) + fabs(x[i] * dx[i]);
        }
        assert_true(fabs(left - right) <= 16 * 0x1p-52 * terms);
        pe_encoding_free(s.e);
    }
}

static void a_shift_is_as_good_as_turning_afresh(void **state)
{
    (void)state;
    static double x[T * G * D], a[T * G * D], b[T * G * D];
    fill(x, COUNT(x), 4);
    for (int n = 0; n < COUNT(specs); n++) {
        pe_error err;
        subject s = open_subject(specs[n], 0.1);
        pe_run run = PE_MAKE(pe_run, .params = params(s.w, &s));
        pe_positions from = pe_positions_run(1, T, 100), to = pe_positions_run(1, T, 7);
        pe_view in = pe_view_of(x, PE_F64, 1, T, G, D), moved = pe_view_of(a, PE_F64, 1, T, G, D);
        assert_ok(pe_rotate(s.e, PE_KEY, moved, in, from, &run, &err));
        assert_ok(pe_cache_shift(s.e, moved, NULL, from, to, &run, &err));
        assert_ok(pe_rotate(s.e, PE_KEY, pe_view_of(b, PE_F64, 1, T, G, D), in, to, &run, &err));
        for (int i = 0; i < COUNT(x); i++)
            assert_true(fabs(a[i] - b[i]) < 1e-13);
        pe_encoding_free(s.e);
    }
}

/* ------------------------------------------------ attention */

typedef struct setting {
    double q[B * T * H * D], k[B * T * G * D], v[B * T * G * D], out[B * T * H * D], dout[B * T * H * D];
    float q32[B * T * H * D], k32[B * T * G * D], v32[B * T * G * D], out32[B * T * H * D], lse[B * T * H];
    int64_t at[B * T * 2];
    double real[B * T * 2];
    void *work;
    size_t bytes;
    pe_attention a;
} setting;

static setting g;

static void open_setting(const subject *s)
{
    pe_error err;
    fill(g.q, COUNT(g.q), 1);
    fill(g.k, COUNT(g.k), 2);
    fill(g.v, COUNT(g.v), 3);
    fill(g.dout, COUNT(g.dout), 4);
    for (int i = 0; i < COUNT(g.q); i++)
        g.q[i] = g.q32[i] = (float)g.q[i];
    for (int i = 0; i < COUNT(g.k); i++) {
        g.k[i] = g.k32[i] = (float)g.k[i];
        g.v[i] = g.v32[i] = (float)g.v[i];
    }
    pe_positions where = grid(s->e, g.at, B, T);
    bool whole = pe_encoding_hooks(s->e) & PE_HOOK_BIAS; /* a table by distance: elsewhere three quarters of a place */
    for (int i = 0; i < COUNT(g.at); i++)
        g.real[i] = whole ? (double)g.at[i] : 0.75 * (double)g.at[i];
    where.data = g.real;
    where.dtype = PE_F64;
    g.a = PE_MAKE(pe_attention, .out = pe_view_of(g.out, PE_F64, B, T, H, D), .q = pe_view_of(g.q, PE_F64, B, T, H, D),
                  .k = pe_view_of(g.k, PE_F64, B, T, G, D), .v = pe_view_of(g.v, PE_F64, B, T, G, D), .q_at = where,
                  .k_at = where, .mask = { .causal = true });
    assert_ok(pe_reference_work(s->e, &g.a, &g.bytes, &err));
    free(g.work);
    g.work = malloc(g.bytes);
}

static pe_run with_work(pe_params w)
{
    return PE_MAKE(pe_run, .params = w, .work = g.work, .work_bytes = g.bytes);
}

static double attended(subject *s)
{
    pe_error err;
    double sum = 0;
    pe_run run = with_work(params(s->w, s));
    assert_ok(pe_reference_forward(s->e, &g.a, &run, &err));
    for (int i = 0; i < COUNT(g.out); i++)
        sum += g.out[i] * g.dout[i];
    return sum;
}

static void gradients_through_attention_are_differences_and_fused_agrees(void **state)
{
    (void)state;
    for (int n = 0; n < COUNT(specs); n++) {
        subject s = open_subject(specs[n], 0.1);
        pe_error err;
        double difference, fused[256] = { 0 };
        size_t bytes, back;
        open_setting(&s);
        pe_attention_grad grad = PE_MAKE(pe_attention_grad, .dout = pe_view_of(g.dout, PE_F64, B, T, H, D),
                                         .dparams = params(s.dw, &s));
        pe_run run = with_work(params(s.w, &s));
        assert_ok(pe_reference_backward(s.e, &g.a, &grad, &run, &err));
        for (int64_t i = 0; i < s.count; i++) {
            DIFFERENCE(s.w[i], attended(&s));
            assert_true(fabs(difference - s.dw[i]) <= 1e-6 * (1 + fabs(difference)));
        }
        pe_attention a = g.a;
        a.q = pe_view_of(g.q32, PE_F32, B, T, H, D);
        a.k = pe_view_of(g.k32, PE_F32, B, T, G, D);
        a.v = pe_view_of(g.v32, PE_F32, B, T, G, D);
        a.out = pe_view_of(g.out32, PE_F32, B, T, H, D);
        a.lse = pe_view_of(g.lse, PE_F32, B, T, H, 1);
        pe_run fast = PE_MAKE(pe_run, .params = params(s.w, &s));
        assert_ok(pe_attention_work(s.e, &a, &fast, &bytes, &err));
        assert_ok(pe_attention_backward_work(s.e, &a, &fast, &back, &err));
        fast.work = malloc(bytes > back ? bytes : back);
        fast.work_bytes = bytes > back ? bytes : back;
        assert_ok(pe_attention_forward(s.e, &a, &fast, &err));
        attended(&s);
        for (int i = 0; i < COUNT(g.out); i++)
            assert_true(fabs((double)g.out32[i] - g.out[i]) < 1e-5);
        grad.dparams = params(fused, &s);
        assert_ok(pe_attention_backward(s.e, &a, &grad, &fast, &err));
        for (int64_t i = 0; i < s.count; i++) /* float32 products, positions up to 40 times them */
            assert_true(fabs(fused[i] - s.dw[i]) <= 2e-4 * (1 + fabs(s.dw[i])));
        free(fast.work);
        pe_encoding_free(s.e);
    }
    free(g.work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frequencies_begin_as_the_fixed_ones),
        cmocka_unit_test(a_rotation_wants_its_parameters),
        cmocka_unit_test(gradients_of_a_rotation_are_differences),
        cmocka_unit_test(tables_have_a_row_per_head_and_turn_as_the_rotation_does),
        cmocka_unit_test(fractions_are_undone_and_transposed),
        cmocka_unit_test(a_shift_is_as_good_as_turning_afresh),
        cmocka_unit_test(gradients_through_attention_are_differences_and_fused_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
