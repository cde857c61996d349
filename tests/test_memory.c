/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: wrap
 *
 * Memory: pe_encoding_new is the only function that allocates, beside pe_pool_new (test_pool). Each of its allocations
 * fails once; no other call makes one. */
#include "heap.h"
#include "test.h"

/* ------------------------------------------------ each allocation fails once */

static long failures;

/* The status that the spec gives when memory suffices, in which the n-th failure must end for some n. */
static void fail_each(const char *spec, pe_shape shape)
{
    pe_encoding *e = NULL;
    heap.fail = 0;
    pe_status wanted = pe_encoding_new(&e, spec, shape, &err);
    pe_encoding_free(e);
    for (long n = 1;; n++) {
        size_t before = heap.live;
        heap.made = 0;
        heap.fail = n;
        e = (pe_encoding *)(void *)&err;
        err = (pe_error){ 0 };
        pe_status s = pe_encoding_new(&e, spec, shape, n % 2 ? &err : NULL);
        bool reached = heap.made >= n;
        heap.fail = 0;
        if (s && e)
            fail_msg("%s: failed, but out is not NULL", spec);
        if (reached && s != PE_ERR_NOMEM)
            fail_msg("%s: allocation %ld failed, but the status is %s", spec, n, pe_status_name(s));
        if (reached && n % 2 && (err.status != PE_ERR_NOMEM || !strstr(err.text, "no memory")))
            fail_msg("%s: allocation %ld failed, but the sentence is '%s'", spec, n, err.text);
        if (!reached && s != wanted)
            fail_msg("%s: %s with memory, %s later", spec, pe_status_name(wanted), pe_status_name(s));
        if (!s)
            pe_encoding_free(e);
        if (heap.live != before)
            fail_msg("%s: %zu bytes leak when allocation %ld fails", spec, heap.live - before, n);
        if (!reached)
            break;
        failures++;
    }
}

static const char *const combinations[] = {
    "sinusoidal+alibi", "rope+t5:scale=sqrt", "learned:rows=14/14+window:window=14/14", "sinusoidal+rope+alibi+shaw",
    "rope:sections=8/12/12+learned:rows=2/3/4+t5:scale=sqrt+cope",
};

/* Wrong in every place where something has been allocated already. */
static const char *const wrong[] = {
    "", "rpe", "rope:", "rope:theta", "rope:theta=x", "rope:theta=-1", "rope:sections=1/2/x", "rope:sections=1/2/3",
    "rope:sections=16/16,sections=16/16", "rope:extent=1/2", "rope:dims=7", "rope:scaling=yarn",
    "rope:scaling=longrope,short=1/2,long=1/2,trained=4", "rope+rope", "t5+deberta", "t5:max=4", "t5:max=2", "window:window=1/2/x",
    "window:window=1.5", "learned:rows=1/2/3/4/5/6/7/8/9", "learned:rows=0", "hierarchical:alpha=0.5", "alibi:total=2",
    "alibi:convention=falcon,slopes=learned", "sinusoidal:axes=7", "sandwich:width=3", "wavelet:scales=7",
    "shaw:table=sinusoidal,heads=own",
    "rope+t5:scale=sqrt+nonsense", "none+none+none+none+none", "rope:theta=1,", "rope,theta=1", "rope:axes=2,coords=normalised",
    "rope:axes=2,coords=normalised,extent=1.5/2",
};

static void try_example(const char *spec)
{
    fail_each(spec, test_shape);
}

TEST(every_allocation_that_fails_is_reported_and_leaks_nothing)
{
    each_example(try_example);
    for (int i = 0; i < COUNT(combinations); i++)
        fail_each(combinations[i], test_shape);
    for (int i = 0; i < COUNT(wrong); i++) {
        pe_encoding *e;
        if (!pe_encoding_new(&e, wrong[i], test_shape, NULL))
            fail_msg("%s was accepted", wrong[i]);
        fail_each(wrong[i], test_shape);
    }
    fail_each("rope", (pe_shape){ 0 });
    printf("%ld allocations failed\n", failures);
}

/* Only allocations through the wrapped names count: that there are some proves that the wrapping works. */
TEST(making_an_encoding_allocates)
{
    heap.made = 0;
    pe_encoding_free(test_encoding("rope", test_shape));
    assert_true(heap.made >= 3);
}

/* ------------------------------------------------ nothing else allocates */

enum { H = 8, G = 4, D = 64, C = 512, TQ = 2, TK = 3, PARAMS = 1 << 20 };

static float q[TQ * H * D], k[TK * G * D], v[TK * G * D], y[TQ * C * 2], y2[TK * C], x[TQ * C * 2], score[TQ * H * TK], prob[TQ * H * TK];
static float lse[TQ * H], sinks[H], w[PARAMS], dw[PARAMS], dq[TQ * H * D], dk[TK * G * D], dv[TK * G * D], dadditive[TQ * H * TK];
static double work[40000];
static pe_pair pairs[D];
static int64_t zeros[TK * PE_AXES_MAX];

static const pe_params none = { NULL, PE_F32, 0 };

static void use_rotation(const pe_encoding *e, pe_positions at)
{
    int64_t n = pe_encoding_pair_count(e);
    pe_view in = pe_view_of(q, PE_F32, 1, TQ, H, D), out = pe_view_of(dq, PE_F32, 1, TQ, H, D);
    for (pe_side side = PE_QUERY; side <= PE_OUTPUT; side++) {
        assert_ok(pe_rotate(e, side, out, in, at, test_run(e), &err));
        assert_ok(pe_unrotate(e, side, out, in, at, test_run(e), &err));
        assert_ok(pe_rotate_back(e, side, out, in, at, test_run(e), &err));
    }
    pe_status wanted = pe_encoding_hooks(e) & PE_HOOK_ROTATE ? PE_OK : PE_ERR_UNSUITED;
    assert_int_equal(pe_encoding_pairs(e, pairs, n, &err), wanted);
    assert_int_equal(test_table(e, PE_KEY, pe_view_of(y, PE_F32, 1, TQ, 1, n), pe_view_of(y2, PE_F32, 1, TQ, 1, n), at, &err),
                     wanted);
}

static void use_embedding(const pe_encoding *e, pe_params p, pe_params dp, pe_positions at)
{
    int64_t width = pe_embed_width(e, C);
    pe_view wide_y = pe_view_of(y, PE_F32, 1, TQ, 1, width), wide_x = pe_view_of(x, PE_F32, 1, TQ, 1, width);
    assert_ok(pe_embed(e, wide_y, pe_view_of(x, PE_F32, 1, TQ, 1, C), at, &PE_MAKE(pe_run, .params = p), &err));
    assert_ok(pe_embed_back(e, dp, pe_view_of(y, PE_F32, 1, TQ, 1, C), wide_x, at, &PE_MAKE(pe_run, .params = p), &err));
}

static void use_tiles(const pe_encoding *e, pe_params p, pe_params dp, pe_positions q_at, pe_positions k_at)
{
    pe_tile t = { .size = sizeof(pe_tile), .score = pe_view_of(score, PE_F32, 1, TQ, H, TK), .q = pe_view_of(q, PE_F32, 1, TQ, H, D),
                  .k = pe_view_of(k, PE_F32, 1, TK, G, D), .q_at = q_at, .k_at = k_at };
    pe_tile_grad g = { .size = sizeof(pe_tile_grad), .dscore = pe_view_of(prob, PE_F32, 1, TQ, H, TK), .dq = pe_view_of(dq, PE_F32, 1, TQ, H, D), .dk = pe_view_of(dk, PE_F32, 1, TK, G, D), .dparams = dp };
    TEST_INPUTS(e, &t, TQ, TK);
    pe_view out = pe_view_of(dq, PE_F32, 1, TQ, H, D), in = pe_view_of(prob, PE_F32, 1, TQ, H, TK);
    for (pe_stage stage = PE_BEFORE_SCALE; stage <= PE_AFTER_SCALE; stage++) {
        assert_ok(pe_encoding_content(e, stage, p, &t, &err));
        assert_ok(pe_encoding_bias(e, stage, p, &t, &err));
        assert_ok(pe_encoding_content_back(e, stage, p, &t, &g, &err));
        assert_ok(pe_encoding_bias_back(e, stage, p, &t, &g, &err));
    }
    assert_ok(pe_encoding_value(e, p, out, in, q_at, k_at, &err));
    assert_ok(pe_encoding_value_back(e, p, dp, pe_view_of(score, PE_F32, 1, TQ, H, TK), in, out, q_at, k_at, &err));
}

static void use_attention(const pe_encoding *e, pe_params p, pe_params dp, pe_positions q_at, pe_positions k_at)
{
    size_t bytes;
    pe_attention a = { .size = sizeof(pe_attention), .out = pe_view_of(y, PE_F32, 1, TQ, H, D), .lse = pe_view_of(lse, PE_F32, 1, TQ, H, 1),
                       .q = pe_view_of(q, PE_F32, 1, TQ, H, D), .k = pe_view_of(k, PE_F32, 1, TK, G, D),
                       .v = pe_view_of(v, PE_F32, 1, TK, G, D), .q_at = q_at, .k_at = k_at,
                       .mask = { .causal = true, .additive = pe_view_of(score, PE_F32, 1, TQ, H, TK) },
                       .sinks = { sinks, PE_F32, H }, .soft_cap = 30 };
    pe_attention_grad g = { .size = sizeof(pe_attention_grad), .dout = pe_view_of(x, PE_F32, 1, TQ, H, D), .dq = pe_view_of(dq, PE_F32, 1, TQ, H, D),
                            .dk = pe_view_of(dk, PE_F32, 1, TK, G, D), .dv = pe_view_of(dv, PE_F32, 1, TK, G, D),
                            .dadditive = pe_view_of(dadditive, PE_F32, 1, TQ, H, TK), .dparams = dp };
    TEST_INPUTS(e, &a, TQ, TK);
    assert_ok(pe_reference_work(e, &a, &bytes, &err));
    assert_true(bytes <= sizeof work);
    assert_ok(pe_reference_forward(e, &a, &PE_MAKE(pe_run, .params = p, .work = work, .work_bytes = sizeof work), &err));
    assert_ok(pe_reference_backward(e, &a, &g, &PE_MAKE(pe_run, .params = p, .work = work, .work_bytes = sizeof work), &err));
}

static void use_getters(const pe_encoding *e)
{
    for (int i = 0; i < pe_encoding_tensor_count(e); i++)
        assert_non_null(pe_encoding_tensor(e, i));
    assert_null(pe_encoding_tensor(e, -1));
    assert_ok(pe_encoding_set_kernels((pe_encoding *)(uintptr_t)e, pe_encoding_kernels(e), &err));
    assert_int_equal(pe_encoding_set_kernels((pe_encoding *)(uintptr_t)e, "mmx", &err), PE_ERR_SPEC);
    assert_true(*pe_encoding_spec(e) && pe_encoding_fingerprint(e) && pe_encoding_shape(e).heads == H && pe_encoding_scale(e) > 0);
    assert_true(pe_encoding_magnitude(e) > 0 && pe_encoding_claims(e) < 1u << CLAIM_COUNT && pe_encoding_axes(e) >= 1);
    assert_true(pe_rotate(NULL, PE_QUERY, (pe_view){ 0 }, (pe_view){ 0 }, (pe_positions){ 0 }, NULL, &err) != PE_OK);
    (void)pe_encoding_carries(e);
    (void)pe_encoding_replaces(e);
    (void)pe_encoding_hooks_at(e, PE_AFTER_SCALE);
    (void)pe_encoding_gain(e, PE_QUERY, 100);
}

static void use_everything(const char *spec)
{
    pe_encoding *e = test_encoding(spec, test_shape);
    int64_t n = pe_encoding_param_count(e), axes = pe_encoding_axes(e);
    long before = heap.made;
    size_t live = heap.live;
    pe_params p = n ? (pe_params){ w, PE_F32, n } : none, dp = n ? (pe_params){ dw, PE_F32, n } : none;
    pe_positions q_at = pe_positions_of(zeros, PE_I64, 1, TQ, axes), k_at = pe_positions_of(zeros, PE_I64, 1, TK, axes);
    assert_true(n <= PARAMS);
    assert_ok(pe_encoding_init(e, p, 1, &err));
    use_rotation(e, q_at);
    use_embedding(e, p, dp, q_at);
    use_tiles(e, p, dp, q_at, k_at);
    use_attention(e, p, dp, q_at, k_at);
    use_getters(e);
    if (heap.made != before || heap.live != live)
        fail_msg("%s: a call other than pe_encoding_new made %ld allocations", spec, heap.made - before);
    pe_encoding_free(e);
}

static void use_example(const char *spec)
{
    use_everything(spec);
}

TEST(no_call_but_new_allocates)
{
    each_example(use_example);
    for (int i = 0; i < COUNT(combinations); i++)
        use_everything(combinations[i]);
}

TEST(helpers_allocate_nothing)
{
    int64_t at[24], offset[3] = { 0, 1, 4 };
    uint8_t used[4] = { 0, 1, 1, 1 };
    long before = heap.made;
    assert_int_equal(pe_positions_run(2, 4, 7).tokens, 4);
    assert_int_equal(pe_positions_of(at, PE_I64, 1, 8, 3).axis_stride, 1);
    assert_int_equal(pe_view_of(y, PE_F32, 2, 3, 4, 5).batch_stride, 60);
    assert_ok(pe_positions_masked(at, used, 4, 0, &err));
    assert_ok(pe_positions_packed(at, offset, 2, &err));
    assert_ok(pe_positions_grid(at, 2, 2, 2, 0, &err));
    for (int i = 0; i < pe_info_count(); i++)
        assert_true(pe_info_at(i)->name && (!pe_info_at(i)->key_count || pe_info_key(pe_info_at(i), 0)));
    assert_true(pe_agrees(PE_VERSION_MAJOR, PE_VERSION_MINOR));
    assert_true(pe_dtype_size(PE_F16) == 2 && *pe_version() && *pe_status_name(PE_OK) && pe_claim_name(1) && pe_hook_name(1));
    assert_int_equal(heap.made, before);
}
