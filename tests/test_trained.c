/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s
 *
 * Rotations whose frequencies are trained, or mixed by trained shares: they begin as the fixed ones, and their gradients
 * are those of 4-point differences, through a rotation and through attention. */
#include "views.h"

enum { B = 2, T = 37, H = 4, G = 2, D = 8 };
static const pe_shape shape = { .heads = H, .kv_heads = G, .head_dim = D };
static const char *const specs[] = { "rope:learned=shared", "rope:learned=heads,pairs=adjacent",
                                     "rope:axes=2,learned=heads", "rope:dims=4,learned=heads,magnitude=0.8",
                                     "rope:learned=heads+alibi", "fope:trained=64", "fope:theta=100,mixed=2,heads=shared,still=1",
                                     "rope:axes=2,learned=heads,start=mixed" };

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
    uint64_t seed = 5;
    subject s = { .e = encoding_of(spec, shape) };
    s.count = pe_encoding_param_count(s.e);
    assert_in_range(s.count, 1, 256);
    assert_ok(pe_encoding_init(s.e, params(s.w, &s), 1, &err));
    for (int64_t i = 0; i < s.count; i++)
        s.w[i] += off * test_uniform(&seed);
    return s;
}

static pe_run run_of(subject *s)
{
    return PE_MAKE(pe_run, .params = params(s->w, s));
}

static pe_positions grid(const pe_encoding *e, int64_t batch)
{
    int64_t axes = pe_encoding_axes(e), *at = take(batch * T * axes, sizeof *at);
    for (int64_t n = 0; n < batch * T * axes; n++)
        at[n] = n / axes % T + 3 * (n % axes) - 5;
    return pe_positions_of(at, PE_I64, batch, T, axes);
}

/* The same grid in such steps, so that most are between whole positions. */
static pe_positions fractions(const pe_encoding *e, int64_t batch, double step)
{
    pe_positions whole = grid(e, batch);
    double *at = take(batch * T * whole.axes, sizeof *at);
    for (int64_t n = 0; n < batch * T * whole.axes; n++)
        at[n] = step * (double)((const int64_t *)whole.data)[n];
    return pe_positions_of(at, PE_F64, batch, T, whole.axes);
}

TEST(frequencies_begin_as_the_fixed_ones)
{
    static const char *const pairs[][2] = { { "rope:learned=heads", "rope" },
                                            { "rope:theta=500,pairs=adjacent,learned=shared", "rope:theta=500,pairs=adjacent" },
                                            { "rope:axes=2,learned=heads", "rope:axes=2" },
                                            { "rope:frequencies=1/0.5/0.25/0.125,learned=shared",
                                              "rope:frequencies=1/0.5/0.25/0.125" } };
    uint64_t seed = 1;
    pe_view x = drawn(PE_F32, B, T, H, D, &seed), y[2] = { fresh_like(x), fresh_like(x) };
    for (int n = 0; n < COUNT(pairs); n++) {
        subject s = open_subject(pairs[n][0], 0);
        pe_run run = run_of(&s);
        pe_positions where[2] = { grid(s.e, B), fractions(s.e, B, 0.375) };
        for (int k = 0; k < 2; k++) {
            assert_ok(pe_rotate(s.e, PE_QUERY, y[0], x, where[k], &run, &err));
            assert_ok(pe_rotate(encoding_of(pairs[n][1], shape), PE_QUERY, y[1], x, where[k], NULL, &err));
            nearly("a frequency of 53 bits, not 150", y[0], y[1], 4e-7); /* a last bit of cos */
        }
    }
}

TEST(a_rotation_wants_its_parameters)
{
    double x[T * H * D] = { 0 };
    subject s = open_subject("rope:learned=heads", 0);
    pe_view v = pe_view_of(x, PE_F64, 1, T, H, D), odd = pe_view_of(x, PE_F64, 1, T, 3, D);
    assert_int_equal(pe_rotate(s.e, PE_QUERY, v, v, pe_positions_run(1, T, 0), NULL, &err), PE_ERR_SHAPE);
    pe_run run = run_of(&s);
    assert_int_equal(pe_rotate(s.e, PE_QUERY, odd, odd, pe_positions_run(1, T, 0), &run, &err), PE_ERR_SHAPE);
}

/* loss = sum of dy y */
static double rotated(subject *s, pe_view x, pe_view dy, pe_positions where)
{
    pe_view y = fresh_like(x);
    pe_run run = run_of(s);
    assert_ok(pe_rotate(s->e, PE_QUERY, y, x, where, &run, &err));
    return view_dot(y, dy, &(double){ 0 });
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

TEST(gradients_of_a_rotation_are_differences)
{
    uint64_t seed = 1;
    pe_view x = drawn(PE_F64, 1, T, H, D, &seed), dy = drawn(PE_F64, 1, T, H, D, &seed);
    for (int n = 0; n < 2 * COUNT(specs); n++) {
        subject s = open_subject(specs[n / 2], 0.1);
        double difference;
        pe_run run = run_of(&s);
        pe_positions where = n % 2 ? fractions(s.e, 1, 0.375) : grid(s.e, 1);
        assert_ok(pe_rotate_grad(s.e, params(s.dw, &s), PE_QUERY, dy, x, where, &run, &err));
        for (int64_t i = 0; i < s.count; i++) {
            DIFFERENCE(s.w[i], rotated(&s, x, dy, where));
            assert_true(fabs(difference - s.dw[i]) <= 1e-6 * (1 + fabs(difference)));
        }
    }
}

TEST(tables_have_a_row_per_head_and_rotate_as_the_rotation_does)
{
    uint64_t seed = 3;
    subject s = open_subject("rope:learned=heads", 0.1);
    pe_run run = run_of(&s);
    pe_view x = drawn(PE_F32, 1, T, H, D, &seed), y[2] = { fresh_like(x), fresh_like(x) };
    pe_table t = { fresh(PE_F32, 1, T, G, D / 2), fresh(PE_F32, 1, T, G, D / 2), NULL };
    pe_positions where[2] = { pe_positions_run(1, T, 11), fractions(s.e, 1, 0.375) };
    for (int k = 0; k < 2; k++) {
        assert_ok(pe_rotate_table(s.e, PE_QUERY, t.cosine, t.sine, where[k], &run, &err));
        assert_ok(pe_rotate(s.e, PE_QUERY, y[0], x, where[k], &run, &err));
        pe_rotation with = PE_MAKE(pe_rotation, .q = x, .q_out = y[1], .at = where[k], .q_table = t);
        assert_ok(pe_rotate_qk(s.e, &with, &run, &err));
        same("by a table", y[1], y[0]);
    }
}

/* x back, and <R x, dy> = <x, R^T dy>: 16 eps of vectors below 1, and of the terms' sizes. */
TEST(fractions_are_undone_and_transposed)
{
    uint64_t seed = 6;
    pe_view x = drawn(PE_F64, 1, T, H, D, &seed), dy = drawn(PE_F64, 1, T, H, D, &seed), y = fresh_like(x),
            z = fresh_like(x), dx = fresh_like(x);
    for (int n = 0; n < COUNT(specs); n++) {
        double terms = 0;
        subject s = open_subject(specs[n], 0.1);
        pe_run run = run_of(&s);
        pe_positions where = fractions(s.e, 1, 0.375);
        assert_ok(pe_rotate(s.e, PE_QUERY, y, x, where, &run, &err));
        assert_ok(pe_unrotate(s.e, PE_QUERY, z, y, where, &run, &err));
        assert_ok(pe_rotate_back(s.e, PE_QUERY, dx, dy, where, &run, &err));
        nearly("undone", z, x, 16 * 0x1p-52);
        assert_true(fabs(view_dot(y, dy, &terms) - view_dot(x, dx, &terms)) <= 16 * 0x1p-52 * terms);
    }
}

TEST(a_shift_is_as_good_as_rotating_afresh)
{
    uint64_t seed = 4;
    pe_view x = drawn(PE_F64, 1, T, G, D, &seed), moved = fresh_like(x), afresh = fresh_like(x);
    for (int n = 0; n < COUNT(specs); n++) {
        subject s = open_subject(specs[n], 0.1);
        pe_run run = run_of(&s);
        pe_positions from = pe_positions_run(1, T, 100), to = pe_positions_run(1, T, 7);
        assert_ok(pe_rotate(s.e, PE_KEY, moved, x, from, &run, &err));
        if (strstr(specs[n], "fope")) { /* refused: the difference of positions is not enough */
            assert_int_equal(pe_cache_shift(s.e, moved, NULL, from, to, &run, &err), PE_ERR_UNSUITED);
            assert_ok(pe_unrotate(s.e, PE_KEY, moved, moved, from, &run, &err));
            assert_ok(pe_rotate(s.e, PE_KEY, moved, moved, to, &run, &err));
        } else
            assert_ok(pe_cache_shift(s.e, moved, NULL, from, to, &run, &err));
        assert_ok(pe_rotate(s.e, PE_KEY, afresh, x, to, &run, &err));
        nearly("moved", moved, afresh, 1e-13);
    }
}

/* ------------------------------------------------ attention */

/* The same numbers in two types. */
static pe_view in_type(pe_view v, pe_dtype type)
{
    pe_view to = fresh(type, v.batch, v.tokens, v.heads, v.dim);
    for (int64_t n = 0; n < row_count(v) * v.dim; n++)
        num_store(to.data, type, n, num_load(v.data, v.dtype, n));
    return to;
}

static pe_run with_work(subject *s, size_t needed)
{
    pe_run run = run_of(s);
    run.work = take((int64_t)needed, 1);
    run.work_bytes = needed;
    return run;
}

static double attended(subject *s, const pe_attention *a, pe_view dout, const pe_run *run)
{
    assert_ok(pe_reference_forward(s->e, a, run, &err));
    return view_dot(a->out, dout, &(double){ 0 });
}

TEST(gradients_through_attention_are_differences_and_fused_agrees)
{
    uint64_t seed = 1;
    pe_attention fast =
        PE_MAKE(pe_attention, .q = drawn(PE_F32, B, T, H, D, &seed), .k = drawn(PE_F32, B, T, G, D, &seed),
                .v = drawn(PE_F32, B, T, G, D, &seed), .out = fresh(PE_F32, B, T, H, D),
                .lse = fresh(PE_F32, B, T, H, 1), .mask = { .causal = true });
    for (int n = 0; n < COUNT(specs); n++) {
        subject s = open_subject(specs[n], 0.1);
        double difference, *fused = take(s.count, sizeof *fused);
        size_t needed, more;
        bool whole =
            pe_encoding_hooks(s.e) & PE_HOOK_BIAS; /* a table by distance: elsewhere three quarters of a place */
        fast.q_at = fast.k_at = fractions(s.e, B, whole ? 1 : 0.75);
        pe_attention a = fast;
        a.q = in_type(fast.q, PE_F64), a.k = in_type(fast.k, PE_F64), a.v = in_type(fast.v, PE_F64);
        a.out = fresh_like(a.q), a.lse = (pe_view){ 0 };
        pe_attention_grad grad = PE_MAKE(pe_attention_grad, .dout = drawn(PE_F64, B, T, H, D, &seed),
                                         .dparams = params(s.dw, &s));
        assert_ok(pe_reference_work(s.e, &a, &needed, &err));
        pe_run run = with_work(&s, needed);
        assert_ok(pe_reference_backward(s.e, &a, &grad, &run, &err));
        for (int64_t i = 0; i < s.count; i++) {
            DIFFERENCE(s.w[i], attended(&s, &a, grad.dout, &run));
            assert_true(fabs(difference - s.dw[i]) <= 1e-6 * (1 + fabs(difference)));
        }
        pe_run bare = run_of(&s);
        assert_ok(pe_attention_work(s.e, &fast, &bare, &needed, &err));
        assert_ok(pe_attention_backward_work(s.e, &fast, &bare, &more, &err));
        bare = with_work(&s, needed > more ? needed : more);
        assert_ok(pe_attention_forward(s.e, &fast, &bare, &err));
        attended(&s, &a, grad.dout, &run);
        nearly("fused", fast.out, a.out, 1e-5);
        grad.dparams = params(fused, &s);
        assert_ok(pe_attention_backward(s.e, &fast, &grad, &bare, &err));
        for (int64_t i = 0; i < s.count; i++) /* float32 products, positions up to 40 times them */
            assert_true(fabs(fused[i] - s.dw[i]) <= 2e-4 * (1 + fabs(s.dw[i])));
    }
}
