/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s
 *
 * Traps that take two faults at once, or none: sizes that only together are wrong, numbers that only rounding brings
 * about, views that look as if they lay over each other. test_misuse makes one argument wrong at a time. */
#include "test.h"

enum { TQ = 3, H = 2, D = 8, C = 16 };
static const pe_shape shape = { H, 1, D, C };

TEST(a_bare_table_of_negative_width_is_refused)
{
    float y[TQ * 8] = { 0 };
    int64_t at[TQ] = { 0, 1, 2 };
    pe_positions where = pe_positions_of(at, PE_I64, 1, TQ, 1);
    pe_encoding *e = encoding_of("sinusoidal:join=concat,width=8", shape);
    for (int64_t width = -8; width < 0; width++) {
        pe_view out = pe_view_of(y, PE_F32, 1, TQ, 1, 8 + width), nothing = pe_view_of(NULL, PE_F32, 1, TQ, 1, width);
        assert_int_equal(pe_embed(e, out, nothing, where, NULL, &err), PE_ERR_SHAPE);
        assert_int_equal(pe_embed_back(e, (pe_params){ 0 }, nothing, out, where, NULL, &err), PE_ERR_SHAPE);
    }
    pe_view far = pe_view_of(NULL, PE_F32, 1, TQ, 1, INT64_MAX);
    assert_int_equal(pe_embed(e, pe_view_of(y, PE_F32, 1, TQ, 1, 8), far, where, NULL, &err), PE_ERR_OVERFLOW);
}

/* One row of positions may serve any number of tokens; the check must not walk them all. */
TEST(a_broadcast_of_positions_is_checked_once)
{
    int64_t at = 3;
    float q[H * D] = { 0 }, k[D] = { 0 };
    size_t bytes;
    pe_encoding *e = encoding_of("rope", shape);
    pe_attention a = { .size = sizeof(pe_attention), .q = pe_view_of(q, PE_F32, 1, 1, H, D), .q_at = pe_positions_of(&at, PE_I64, 1, 1, 1) };
    for (int shift = 40; shift < 63; shift++) {
        a.k = a.v = (pe_view){ k, PE_F32, 1, INT64_C(1) << shift, 1, D, 0, 0, D };
        a.k_at = (pe_positions){ .data = &at, .dtype = PE_I64, .batch = 1, .tokens = INT64_C(1) << shift, .axes = 1, .token_stride = 0, .axis_stride = 1 };
        assert_int_equal(pe_reference_work(e, &a, &bytes, &err), PE_ERR_OVERFLOW);
        assert_int_equal(pe_attention_work(e, &a, NULL, &bytes, &err), PE_ERR_OVERFLOW);
    }
    pe_partial piece = { q, q, q, NULL };
    a.k = a.v = pe_view_of(k, PE_F32, 1, 1, 1, D);
    a.k_at = pe_positions_of(&at, PE_I64, 1, 1, 1);
    for (int shift = 60; shift < 63; shift++) { /* a piece has a row for each query, however few those are */
        a.q = (pe_view){ q, PE_F32, 1, INT64_C(1) << shift, H, D, 0, 0, D };
        a.q_at = (pe_positions){ .data = &at, .dtype = PE_I64, .batch = 1, .tokens = INT64_C(1) << shift, .axes = 1, .token_stride = 0, .axis_stride = 1 };
        assert_int_equal(pe_attention_merge(piece, piece, INT64_C(1) << shift, D, &err), PE_ERR_OVERFLOW);
        assert_int_equal(pe_attention_partial(e, &a, piece, &PE_MAKE(pe_run, .work = q, .work_bytes = 8), &err), PE_ERR_OVERFLOW);
    }
}

/* The gradient takes cope's sum of gates apart again; rounding may leave less than nothing. */
TEST(cope_sums_below_zero_stay_inside_the_table)
{
    enum { N = 12, P = 4, WIDTH = 8 };
    uint64_t seed = 1;
    pe_encoding *e = encoding_of("cope:positions=4", (pe_shape){ 1, 1, WIDTH, WIDTH });
    double *w = calloc(P * WIDTH, sizeof *w), *dw = calloc(P * WIDTH, sizeof *dw); /* exact, so that ASan sees a step outside */
    for (int round = 0; round < 2000; round++) {
        double q[WIDTH] = { 1 }, k[N * WIDTH] = { 0 }, ds[N], dq[WIDTH] = { 0 }, dk[N * WIDTH] = { 0 };
        int64_t q_at[1] = { N - 1 }, k_at[N];
        for (int j = 0; j < N; j++) {
            k_at[j] = j;
            ds[j] = 1;
            k[j * WIDTH] = j < N - 1 ? 4 * test_uniform(&seed) : -1000;
        }
        pe_tile t = { .size = sizeof(pe_tile), .q = pe_view_of(q, PE_F64, 1, 1, 1, WIDTH), .k = pe_view_of(k, PE_F64, 1, N, 1, WIDTH),
                      .q_at = pe_positions_of(q_at, PE_I64, 1, 1, 1), .k_at = pe_positions_of(k_at, PE_I64, 1, N, 1) };
        pe_tile_grad g = { .size = sizeof(pe_tile_grad), .dscore = pe_view_of(ds, PE_F64, 1, 1, 1, N), .dq = pe_view_of(dq, PE_F64, 1, 1, 1, WIDTH), .dk = pe_view_of(dk, PE_F64, 1, N, 1, WIDTH), .dparams = { dw, PE_F64, P * WIDTH } };
        assert_ok(pe_encoding_content_back(e, PE_AFTER_SCALE, (pe_params){ w, PE_F64, P * WIDTH }, &t, &g, &err));
    }
    free(w);
    free(dw);
}

/* Keys far ahead are hidden, but rotated all the same: zero times infinity must not reach the gradient. */
TEST(a_hidden_key_whose_rotation_overflows_has_no_part)
{
    enum { N = 3, WIDTH = 4 };
    float x[N * WIDTH], out[3][N * WIDTH];
    double work[500];
    int64_t at[N] = { 0, 1, 1000000 };
    pe_encoding *e = encoding_of("xpos", (pe_shape){ 1, 1, WIDTH, WIDTH });
    for (int i = 0; i < N * WIDTH; i++)
        x[i] = (float)i / 7;
    pe_view v = pe_view_of(x, PE_F32, 1, N, 1, WIDTH);
    pe_attention a = { .size = sizeof(pe_attention), .out = pe_view_of(out[0], PE_F32, 1, N, 1, WIDTH), .q = v, .k = v, .v = v, .q_at = pe_positions_of(at, PE_I64, 1, N, 1),
                       .k_at = pe_positions_of(at, PE_I64, 1, N, 1), .mask = { .causal = true } };
    pe_attention_grad g = { .size = sizeof(pe_attention_grad), .dout = v, .dq = pe_view_of(out[0], PE_F32, 1, N, 1, WIDTH),
                            .dk = pe_view_of(out[1], PE_F32, 1, N, 1, WIDTH), .dv = pe_view_of(out[2], PE_F32, 1, N, 1, WIDTH) };
    assert_ok(pe_reference_forward(e, &a, &PE_MAKE(pe_run, .work = work, .work_bytes = sizeof work), &err));
    for (int i = 0; i < N * WIDTH; i++)
        assert_true(isfinite(out[0][i]));
    assert_ok(pe_reference_backward(e, &a, &g, &PE_MAKE(pe_run, .work = work, .work_bytes = sizeof work), &err));
    for (int i = 0; i < 3 * N * WIDTH; i++)
        assert_true(isfinite(out[i / (N * WIDTH)][i % (N * WIDTH)]));
    a.mask.causal = false; /* now that key would be read */
    assert_int_equal(pe_reference_forward(e, &a, &PE_MAKE(pe_run, .work = work, .work_bytes = sizeof work), &err), PE_ERR_POSITION);
}

/* Gradients of q, k and v in one block, as fused projections want them: (T, 3, H, D) and (T, H, 3, D). */
TEST(views_that_interleave_do_not_overlap)
{
    enum { N = 4, ALL = N * H * D };
    static float in[3 * ALL], dout[ALL], whole[2][3 * ALL], apart[3][ALL];
    static double work[4096];
    int64_t at[N] = { 0, 1, 2, 3 };
    uint64_t seed = 2;
    pe_encoding *e = encoding_of("rope", (pe_shape){ H, H, D, C });
    for (int i = 0; i < 3 * ALL; i++)
        in[i] = (float)test_uniform(&seed);
    for (int i = 0; i < ALL; i++)
        dout[i] = (float)test_uniform(&seed);
    pe_attention a = { .size = sizeof(pe_attention), .q = pe_view_of(in, PE_F32, 1, N, H, D), .k = pe_view_of(in + ALL, PE_F32, 1, N, H, D),
                       .v = pe_view_of(in + 2 * ALL, PE_F32, 1, N, H, D), .q_at = pe_positions_of(at, PE_I64, 1, N, 1), .k_at = pe_positions_of(at, PE_I64, 1, N, 1) };
    for (int layout = 0; layout < 3; layout++) {
        pe_attention_grad g = { .size = sizeof(pe_attention_grad), .dout = pe_view_of(dout, PE_F32, 1, N, H, D) };
        pe_view *d[3] = { &g.dq, &g.dk, &g.dv };
        for (int i = 0; i < 3; i++)
            *d[i] = layout == 0   ? (pe_view){ whole[0] + i * H * D, PE_F32, 1, N, H, D, 0, 3 * H * D, D }
                    : layout == 1 ? (pe_view){ whole[1] + i * D, PE_F32, 1, N, H, D, 0, 3 * H * D, 3 * D }
                                  : (pe_view){ apart[i], PE_F32, 1, N, H, D, 0, H * D, D };
        assert_ok(pe_reference_backward(e, &a, &g, &PE_MAKE(pe_run, .work = work, .work_bytes = sizeof work), &err));
        for (int i = 0; i < 2 && layout < 2; i++) { /* one element too far: into the next */
            pe_view kept = *d[i];
            d[i]->data = (float *)d[i]->data + 1;
            assert_int_equal(pe_reference_backward(e, &a, &g, &PE_MAKE(pe_run, .work = work, .work_bytes = sizeof work), &err), PE_ERR_ALIAS);
            *d[i] = kept;
        }
    }
    for (int t = 0; t < N; t++)
        for (int h = 0; h < H; h++)
            for (int i = 0; i < 3; i++) {
                assert_memory_equal(&apart[i][(t * H + h) * D], &whole[0][((t * 3 + i) * H + h) * D], D * sizeof(float));
                assert_memory_equal(&apart[i][(t * H + h) * D], &whole[1][((t * H + h) * 3 + i) * D], D * sizeof(float));
            }
}

/* A view that is empty or not wanted may hold any strides: they are never multiplied (UBSan watches). */
TEST(strides_of_nothing_are_not_used)
{
    int64_t at[] = { 0, 1, 2 };
    double numbers[3 * 64] = { 0 }, more[3 * 64] = { 0 };
    const int64_t far = INT64_MAX;
    pe_positions where = pe_positions_of(at, PE_I64, 1, 3, 1);
    pe_encoding *e = NULL;
    e = encoding_of("sinusoidal", (pe_shape){ 1, 1, 8, 8 });
    pe_view y = pe_view_of(numbers, PE_F64, 1, 3, 1, 8), bare = { NULL, PE_F64, 1, 3, 1, 8, far, far, far };
    assert_int_equal(pe_embed(e, y, bare, where, NULL, &err), PE_OK);
    e = encoding_of("cope:positions=2", (pe_shape){ 1, 1, 8, 8 });
    double rows[16] = { 0 };
    pe_params w = { rows, PE_F64, 16 };
    pe_tile t = { .size = sizeof(pe_tile), .q = pe_view_of(numbers, PE_F64, 1, 3, 1, 8), .k = pe_view_of(more, PE_F64, 1, 3, 1, 8), .q_at = where, .k_at = where };
    pe_tile_grad g = { .size = sizeof(pe_tile_grad), .dscore = pe_view_of(numbers, PE_F64, 1, 3, 1, 3), .dq = { NULL, PE_F64, 1, 3, 1, 8, far, far, far },
                       .dk = { NULL, PE_F64, 1, 3, 1, 8, far, far, far } };
    assert_int_equal(pe_encoding_content_back(e, PE_AFTER_SCALE, w, &t, &g, &err), PE_OK);
    t.k_at.tokens = 0;
    t.k.tokens = 0;
    t.score = (pe_view){ numbers, PE_F64, 1, 3, 1, 0, far, far, far };
    assert_int_equal(pe_encoding_content(e, PE_AFTER_SCALE, w, &t, &err), PE_OK);
    double work[4096];
    pe_attention a = { .size = sizeof(pe_attention), .q = t.q, .k = pe_view_of(more, PE_F64, 1, 3, 1, 8), .v = { more, PE_F64, 1, 3, 1, 0, far, far, far },
                       .out = { rows, PE_F64, 1, 3, 1, 0, far, far, far }, .q_at = where, .k_at = where };
    assert_int_equal(pe_reference_forward(e, &a, &PE_MAKE(pe_run, .params = w, .work = work, .work_bytes = sizeof work), &err), PE_OK);
    e = encoding_of("shaw:left=1,right=1", (pe_shape){ 1, 1, 8, 8 });
    double tables[48] = { 0 };
    assert_int_equal(pe_encoding_value_back(e, (pe_params){ tables, PE_F64, 48 }, (pe_params){ 0 },
                                            (pe_view){ NULL, PE_F64, 1, 3, 1, 3, far, far, far }, pe_view_of(more, PE_F64, 1, 3, 1, 3),
                                            pe_view_of(numbers, PE_F64, 1, 3, 1, 8), where, where, &err), PE_OK);
}
