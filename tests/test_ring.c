/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s
 *
 * Keys in pieces, as a ring of machines sees them: what the pieces give, merged and added up, is what all keys give at
 * once, forward and backward, for every row, in any order and with positions as they come. */
#include "test.h"

enum { T = 96, H = 4, G = 2, D = 16, PIECES = 3, EACH = T / PIECES };
static const pe_shape shape = { .heads = H, .kv_heads = G, .head_dim = D };

typedef struct ring {
    float q[T * H * D], k[T * G * D], v[T * G * D], dout[T * H * D], sinks[H];
    int64_t at[T * PE_AXES_MAX];
    pe_encoding *e;
    float *w;
    int64_t count, axes;
    bool counts;
    pe_params params;
    pe_mask mask;
    const int *order; /* key n of the ring is token order[n] */
} ring;

typedef struct results {
    float out[T * H * D], dq[T * H * D], dk[T * G * D], dv[T * G * D];
    double lse[T * H], dsinks[H];
    double *dw;
} results;

static ring r;
static int in_order[T]; /* each key at its own place */

AROUND(before_each)
{
    for (int n = 0; n < T; n++)
        in_order[n] = n;
}

static void open_ring(const char *spec, uint64_t seed, double size, pe_mask mask, const int *order)
{
    r.e = encoding_of(spec, shape);
    r.count = pe_encoding_param_count(r.e);
    r.axes = pe_encoding_axes(r.e);
    r.counts = pe_encoding_carries(r.e);
    r.w = take(r.count, sizeof *r.w);
    r.params = (pe_params){ r.w, PE_F32, r.count };
    assert_ok(pe_encoding_init(r.e, r.params, 3, &err));
    for (int i = 0; i < COUNT(r.q); i++)
        r.q[i] = (float)(size * test_uniform(&seed)), r.dout[i] = (float)test_uniform(&seed);
    for (int n = 0; n < T; n++)
        for (int d = 0; d < G * D; d++) {
            uint64_t own = seed + (uint64_t)(order[n] * G * D + d);
            r.k[n * G * D + d] = (float)(size * test_uniform(&own));
            r.v[n * G * D + d] = (float)test_uniform(&own);
        }
    for (int h = 0; h < H; h++)
        r.sinks[h] = (float)h / 2;
    for (int64_t n = 0; n < T * r.axes; n++)
        r.at[n] = order[n / r.axes];
    r.mask = mask;
    r.order = order;
}

static int64_t plain[T];

/* Keys first .. first + n - 1 of the ring. */
static pe_attention keys_of(results *to, int first, int n, bool sinks)
{
    for (int i = 0; i < T; i++)
        plain[i] = i;
    pe_positions q_at = { .data = plain, .dtype = PE_I64, .batch = 1, .tokens = T, .axes = r.axes, .token_stride = 1 };
    pe_attention a = PE_MAKE(pe_attention, .out = pe_view_of(to->out, PE_F32, 1, T, H, D),
                             .lse = pe_view_of(to->lse, PE_F64, 1, T, H, 1), .q = pe_view_of(r.q, PE_F32, 1, T, H, D),
                             .k = pe_view_of(r.k + first * G * D, PE_F32, 1, n, G, D),
                             .v = pe_view_of(r.v + first * G * D, PE_F32, 1, n, G, D), .q_at = q_at,
                             .k_at = pe_positions_of(r.at + first * r.axes, PE_I64, 1, n, r.axes), .mask = r.mask);
    a.mask.keys_after = T - first - n;
    a.mask.keys_before = first;
    if (sinks)
        a.sinks = (pe_params){ r.sinks, PE_F32, H };
    return a;
}

typedef pe_status sized(const pe_encoding *, const pe_attention *, const pe_run *, size_t *, pe_error *);

static pe_run run_for(const pe_attention *a, sized *size)
{
    pe_run run = PE_MAKE(pe_run, .params = r.params);
    assert_ok(size(r.e, a, &run, &run.work_bytes, &err));
    run.work = take((int64_t)run.work_bytes, 1);
    return run;
}

static void backward(results *to, int first, int n, bool piece, const double *carry, double *dcarry)
{
    pe_attention a = keys_of(to, first, n, true);
    pe_run run = run_for(&a, pe_attention_backward_work);
    pe_attention_grad g = PE_MAKE(pe_attention_grad, .dout = pe_view_of(r.dout, PE_F32, 1, T, H, D),
                                  .dq = pe_view_of(to->dq, PE_F32, 1, T, H, D),
                                  .dk = pe_view_of(to->dk + first * G * D, PE_F32, 1, n, G, D),
                                  .dv = pe_view_of(to->dv + first * G * D, PE_F32, 1, n, G, D),
                                  .dparams = { to->dw, PE_F64, r.count }, .piece = piece, .accumulate = piece,
                                  .carry = carry, .dcarry = dcarry);
    if (!piece || first == 0)
        g.dsinks = (pe_params){ to->dsinks, PE_F64, H };
    assert_ok(pe_attention_backward(r.e, &a, &g, &run, &err));
}

static void whole(results *to)
{
    pe_attention a = keys_of(to, 0, T, true);
    pe_run run = run_for(&a, pe_attention_work);
    assert_ok(pe_attention_forward(r.e, &a, &run, &err));
    backward(to, 0, T, false, NULL, NULL);
}

/* From the right, as terms that count keys want it; back from the left. */
static void in_pieces(results *to)
{
    static float out[2][T * H * D], max[2][T * H], sum[2][T * H];
    static double carry[PIECES + 1][H * T], dcarry[H * T];
    memset(carry, 0, sizeof carry);
    memset(dcarry, 0, sizeof dcarry);
    for (int n = PIECES - 1; n >= 0; n--) {
        pe_attention a = keys_of(to, n * EACH, EACH, false);
        pe_run run = run_for(&a, pe_attention_work);
        int into = n < PIECES - 1;
        memcpy(carry[n], carry[n + 1], sizeof carry[n]);
        pe_partial p = { out[into], max[into], sum[into], r.counts ? carry[n] : NULL };
        assert_ok(pe_attention_partial(r.e, &a, p, &run, &err));
        if (into)
            assert_ok(pe_attention_merge((pe_partial){ out[0], max[0], sum[0], NULL },
                                         (pe_partial){ out[1], max[1], sum[1], NULL }, T * H, D, &err));
        }
    pe_attention all = keys_of(to, 0, T, true);
    assert_ok(pe_attention_finish(r.e, &all, (pe_partial){ out[0], max[0], sum[0], NULL },
                                  &PE_MAKE(pe_run, .params = r.params), &err));
    for (int n = 0; n < PIECES; n++)
        backward(to, n * EACH, EACH, true, r.counts ? carry[n + 1] : NULL, r.counts ? dcarry : NULL);
}

/* Within the roundings of sums of float32: a bound on the largest of them. */
static void same(const char *spec, const char *what, const float *a, const float *b, int64_t n, double bound)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)b[i]));
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)a[i] - (double)b[i]) <= bound * (1 + most)))
            fail_msg("%s: %s %lld is %g in pieces and %g at once", spec, what, (long long)i, (double)a[i], (double)b[i]);
}

static void check(const char *spec, double size, pe_mask mask, const int *order, double bound)
{
    static results all, some;
    int mark = taken();
    double most = 0;
    memset(&all, 0, sizeof all);
    memset(&some, 0, sizeof some);
    open_ring(spec, 7, size, mask, order);
    all.dw = take(r.count, sizeof(double));
    some.dw = take(r.count, sizeof(double));
    whole(&all);
    in_pieces(&some);
    same(spec, "out", some.out, all.out, COUNT(all.out), bound);
    same(spec, "dq", some.dq, all.dq, COUNT(all.dq), bound);
    same(spec, "dk", some.dk, all.dk, COUNT(all.dk), bound);
    same(spec, "dv", some.dv, all.dv, COUNT(all.dv), bound);
    for (int64_t i = 0; i < r.count; i++)
        most = fmax(most, fabs(all.dw[i]));
    for (int64_t i = 0; i < r.count; i++)
        if (!(fabs(all.dw[i] - some.dw[i]) <= bound * (1 + most)))
            fail_msg("%s: dparams %lld is %g in pieces and %g at once", spec, (long long)i, some.dw[i], all.dw[i]);
    for (int h = 0; h < H; h++)
        assert_true(fabs(all.dsinks[h] - some.dsinks[h]) <= bound * (1 + fabs(all.dsinks[h])));
    give_back_to(mark);
}

/* Whether it has to do with attention, and its tables reach from one end to the other. */
static bool attends(const char *spec)
{
    static results none;
    size_t bytes;
    pe_encoding *e = encoding_if_any(spec, shape);
    if (!e)
        return false; /* an example for heads of 64 */
    bool some = pe_encoding_hooks(e) & ~PE_HOOK_EMBED;
    open_ring(spec, 7, 1, (pe_mask){ .causal = true }, in_order);
    pe_attention a = keys_of(&none, 0, T, false);
    some = some && !pe_attention_work(r.e, &a, NULL, &bytes, &err);
    return some;
}

TEST(every_row_in_pieces_is_the_whole)
{
    int rows = 0;
    for (int i = 0; pe_info_at(i); i++) {
        const pe_info *info = pe_info_at(i);
        for (int x = 0; x < info->example_count; x++)
            if (attends(info->examples[x])) {
                check(info->examples[x], 1, (pe_mask){ .causal = true }, in_order, 2e-5);
                rows++;
            }
        char longer[100];
        snprintf(longer, sizeof longer, "%s:%s=%d", info->name, info->key_length ? info->key_length : "", T);
        if (info->key_length && attends(longer)) {
            check(longer, 1, (pe_mask){ .causal = true }, in_order, 2e-5);
            rows++;
        }
    }
    assert_true(rows > 30);
}

/* Zigzag: a machine has a piece of the front and one of the back. Striped: every third token. */
TEST(any_order_of_keys_will_do_where_the_mask_goes_by_position)
{
    static const char *const specs[] = { "rope", "alibi", "t5:direction=causal", "kerple", "shaw", "deberta", "none" };
    int zigzag[T], striped[T];
    for (int n = 0; n < T; n++) {
        int half = EACH / 2, piece = n / EACH, in = n % EACH;
        zigzag[n] = in < half ? piece * half + in : T - (piece + 1) * half + in - half;
        striped[n] = in * PIECES + piece;
    }
    const pe_mask mask = { .causal = true, .align = PE_ALIGN_POSITION }, window = { .causal = true,
                                                                                      .align = PE_ALIGN_POSITION,
                                                                                      .window = 20 };
    for (int i = 0; i < COUNT(specs); i++) {
        check(specs[i], 1, mask, zigzag, 2e-5);
        check(specs[i], 1, mask, striped, 2e-5);
        check(specs[i], 1, window, striped, 2e-5);
    }
}

/* A piece knows where it stands in the sequence: from its start, from its end, and which are the first keys. */
TEST(a_piece_knows_its_place)
{
    static const char *const specs[] = { "none", "rope", "t5:direction=causal", "cope:positions=40" };
    static const pe_mask masks[] = { { .causal = true, .align = PE_ALIGN_START },
                                     { .causal = true, .align = PE_ALIGN_START, .window = 20, .first_keys = 5 },
                                     { .causal = true, .window = 10, .first_keys = 3 },
                                     { .causal = true, .window = 10, .first_keys = 40 } };
    for (int i = 0; i < COUNT(specs) * COUNT(masks); i++)
        check(specs[i % COUNT(specs)], 1, masks[i / COUNT(specs)], in_order, 2e-5);
}

/* Scores in the thousands: float32 has no digits left for the log of a sum beside them, a float64 has. */
TEST(large_scores_in_pieces_are_those_of_the_whole)
{
    check("none", 80, (pe_mask){ .causal = true }, in_order, 2e-3);
    check("alibi", 80, (pe_mask){ .causal = true }, in_order, 2e-3);
}
