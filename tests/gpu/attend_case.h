/* SPDX-License-Identifier: MIT
 *
 * Attention of the GPU library against the definition on the CPU: the cases of test_cuda_attention (on a GPU) and of
 * test_cuda_attention_emulated (its kernels for other GPUs, as C++ on the CPU). Those of attend_shapes_case.h, and
 * positions, NaN, bits, gradients. */
#ifndef TESTS_GPU_ATTEND_CASE_H
#define TESTS_GPU_ATTEND_CASE_H

#include "gpu/attend_shapes_case.h"

/* ------------------------------------------------ positions */

TEST(positions_with_gaps_in_memory_are_right)
{
    static const char *const specs[] = { "alibi", "alibi", "rope", "rope", "t5+rope", "fire", "fire" };
    for (int n = 0; n < COUNT(specs); n++) {
        att t = att_usual(specs[n], n % 2 ? PE_BF16 : PE_F32, 2, 70, 150);
        int64_t *q = att_numbers(2 * 70, NULL), *k = att_numbers(2 * 150, NULL);
        int32_t *small = arena_take(2 * 150, sizeof *small);
        for (int64_t i = 0; i < 300; i++) {
            k[i] = i % 150 ? k[i - 1] + test_range(&t.random, 1, 3) : test_range(&t.random, 0, 9);
            small[i] = (int32_t)k[i];
        }
        for (int64_t i = 0; i < 140; i++)
            q[i] = k[i / 70 * 150 + 80 + i % 70];
        t.a.q_at = pe_positions_of(q, PE_I64, 2, 70, 1);
        t.a.k_at = pe_positions_of(small, PE_I32, 2, 150, 1);
        t.a.mask = (pe_mask){ .causal = true, .align = PE_ALIGN_POSITION, .window = n % 4 ? 0 : 50, .first_keys = 20 };
        att_check(&t);
        t.a.mask.align = PE_ALIGN_END;
        if (n < 4)
            att_check(&t);
    }
}

TEST(sequences_may_start_at_positions_of_their_own)
{
    static const int64_t starts[] = { 3, 500, 0 };
    for (int n = 0; n < 4; n++) {
        att t = att_usual(n % 2 ? "rope+alibi" : "fire", n < 2 ? PE_BF16 : PE_F32, 3, 70, 150);
        int64_t *q = att_numbers(3, starts), *k = att_numbers(3, starts);
        t.a.q_at = (pe_positions){ q, PE_I64, 3, 70, 1, 1, 0, 0, 80, 1 };
        t.a.k_at = (pe_positions){ k, PE_I64, 3, 150, 1, 1, 0, 0, 0, 1 };
        t.a.mask = (pe_mask){ .causal = true, .align = PE_ALIGN_POSITION, .window = n % 2 ? 60 : 0, .first_keys = n };
        att_check(&t);
    }
}

TEST(one_query_has_a_position_in_memory)
{
    static const int64_t at[] = { 149, 120 };
    att t = att_usual("rope+alibi", PE_BF16, 2, 1, 150);
    t.a.q_at = pe_positions_of(att_numbers(2, at), PE_I64, 2, 1, 1);
    t.a.mask = (pe_mask){ .causal = true, .align = PE_ALIGN_POSITION };
    att_check(&t);
}

TEST(fractions_rotate)
{
    att t = att_usual("rope", PE_F32, 1, 60, 60);
    double *at = arena_take(60, sizeof *at);
    for (int i = 0; i < 60; i++)
        at[i] = 0.75 * i;
    t.a.q_at = t.a.k_at = pe_positions_of(at, PE_F64, 1, 60, 1);
    att_check(&t);
}

/* Vectors that shrink and grow with their position: sizes about any one centre would overflow here. */
TEST(a_decay_with_distance_is_right_far_from_its_centre)
{
    static const int64_t starts[] = { 0, 2000000, -70000 };
    static const char *const specs[] = { "xpos", "xpos:pairs=half,base=40,centre=100", "xpos+t5" };
    for (int n = 0; n < (emulated ? 3 : 9); n++) {
        att t = att_usual(specs[n % 3], att_types[n % att_type_count()], 2, 70, 150);
        int64_t *at = att_numbers(2, starts + n / 3 % 2);
        t.a.mask = (pe_mask){ .causal = n % 3 != 1, .align = PE_ALIGN_POSITION };
        t.a.k_at = (pe_positions){ at, PE_I64, 2, 150, 1, 1, 0, 0, 0, 1 };
        t.a.q_at = (pe_positions){ at, PE_I64, 2, 70, 1, 1, 0, 0, 80, 1 };
        att_check(&t);
        t.a.k_at = pe_positions_run(2, 150, starts[n % 3]);
        t.a.q_at = pe_positions_run(2, 70, starts[n % 3] + 80);
        att_check(&t);
        t.a.mask.causal = true; /* keys ahead would be very large */
        t.a.k_at.step = t.a.q_at.step = n % 3 ? 9 : 99;
        t.a.q_at.start = t.a.k_at.start + 80 * t.a.k_at.step;
        att_check(&t);
    }
}

TEST(keys_may_be_rotated_already)
{
    static const char *const specs[] = { "rope", "xpos", "rope:turn=qkvo" };
    for (int n = 0; n < COUNT(specs); n++) {
        att t = att_usual(specs[n], PE_F32, 1, 30, 90);
        t.a.rotated = true;
        t.a.mask.causal = true;
        assert_ok(pe_rotate(t.e, PE_KEY, t.a.k, t.a.k, t.a.k_at, NULL, &err));
        assert_ok(pe_rotate(t.e, PE_VALUE, t.a.v, t.a.v, t.a.k_at, NULL, &err));
        att_check(&t);
    }
}

/* ------------------------------------------------ NaN */

TEST(what_is_hidden_does_not_spread_and_what_is_seen_does)
{
    static const double odd[] = { NAN, INFINITY, -INFINITY };
    for (int n = 0; n < 12; n++) {
        att t = att_usual(n % 2 ? "alibi" : "none", att_types[n % (emulated ? 2 : 3)], 2, 150, 150);
        t.a.mask.causal = n < 6; /* queries before key 77 do not see it */
        if (n >= 6) {
            t.a.mask.keep = mask_view(&t, PE_BOOL, 1, 1, 1);
            ((uint8_t *)t.a.mask.keep.data)[77] = n >= 9;
        }
        pe_view spoilt = n % 4 < 2 ? t.a.v : t.a.k;
        bool infinite = n % 4 < 2 && n < 9 && spoilt.dtype != PE_F16; /* where a weight of 2^-25 is 0, times it NaN */
        num_store(spoilt.data, spoilt.dtype, (150 + 77) * 128 + 64 * (n % 2) + 3, infinite ? odd[n % 3] : NAN);
        att_check(&t);
    }
}

/* ------------------------------------------------ bits */

TEST(two_runs_have_the_same_bits_and_a_sequence_has_them_alone)
{
    for (int type = 0; type < att_type_count(); type++) {
        att t = att_usual("rope+alibi", att_types[type], 3, 140, 270);
        size_t row = 140 * 256 * pe_dtype_size(t.a.out.dtype), lse = 140 * 4 * sizeof(float);
        char *first = take((int64_t)arena.used, 1);
        t.a.mask.causal = true;
        att_check(&t);
        memcpy(first, arena.after, arena.used);
        assert_ok(att_run(&t));
        assert_memory_equal(first, arena.after, arena.used);
        att one = t;
        pe_view *views[] = { &one.a.q, &one.a.k, &one.a.v, &one.a.out, &one.a.lse };
        for (int i = 0; i < COUNT(views); i++) {
            views[i]->data = (char *)views[i]->data + (size_t)views[i]->batch_stride * pe_dtype_size(views[i]->dtype);
            views[i]->batch = 1;
        }
        one.a.q_at.batch = one.a.k_at.batch = 1;
        assert_ok(att_run(&one));
        assert_memory_equal(first + ((char *)one.a.out.data - arena.host), att_after(one.a.out).data, row);
        assert_memory_equal(first + ((char *)one.a.lse.data - arena.host), att_after(one.a.lse).data, lse);
    }
}

/* ------------------------------------------------ gradients */

/* Gradients of a call, in the arena; the arrays of gradients that are added to start as zeros. */
static pe_attention_grad att_gradients(att *t, pe_dtype type, bool params)
{
    pe_attention *a = &t->a;
    pe_attention_grad g = { .size = sizeof g };
    int64_t count = pe_encoding_param_count(t->e);
    g.dout = att_view(t, a->q.dtype, a->out.batch, a->out.tokens, a->out.heads, a->out.dim, 1);
    g.dq = att_view(t, type, a->q.batch, a->q.tokens, a->q.heads, a->q.dim, 0);
    g.dk = att_view(t, type, a->k.batch, a->k.tokens, a->k.heads, a->k.dim, 0);
    g.dv = att_view(t, type, a->v.batch, a->v.tokens, a->v.heads, a->v.dim, 0);
    if (params && count)
        g.dparams = (pe_params){ arena_take(count, sizeof(float)), PE_F32, count };
    if (a->sinks.data)
        g.dsinks = (pe_params){ arena_take(a->q.heads, sizeof(float)), PE_F32, a->q.heads };
    return g;
}

/* Forward, whose outputs go to the arena, and then backward. */
static pe_status att_backward(att *t, const pe_attention_grad *g)
{
    pe_attention there = att_there(&t->a);
    pe_attention_grad d = *g;
    assert_ok(att_run(t));
    cover_copy(t->a.out);
    cover_copy(t->a.lse);
    pe_view *views[] = { &d.dout, &d.dq, &d.dk, &d.dv, &d.dadditive };
    for (int i = 0; i < COUNT(views); i++)
        views[i]->data = arena_there(views[i]->data);
    d.dparams.data = arena_there(d.dparams.data);
    d.dsinks.data = arena_there(d.dsinks.data);
    return att_call(t, &there, &d);
}

/* The size of the difference over that of the gradient: sums of many terms that may cancel have no bound of their own.
 */
static void compare_gradient(const att *t, const char *name, const double *want, pe_view got, double most)
{
    double off = 0, size = 0;
    int64_t n = 0;
    for (int64_t b = 0; b < got.batch; b++)
        for (int64_t i = 0; i < got.tokens; i++)
            for (int64_t h = 0; h < got.heads; h++)
                for (int64_t d = 0; d < got.dim; d++, n++) {
                    double x = view_get(got, b, i, h, d);
                    if (isnan(x) != isnan(want[n]))
                        fail_msg("%s, type %d: %s of sequence %d, token %d, head %d is %g, should be %g", t->spec,
                                 (int)t->a.q.dtype, name, (int)b, (int)i, (int)h, x, want[n]);
                    off += isnan(x) ? 0 : (x - want[n]) * (x - want[n]);
                    size += isnan(x) ? 0 : want[n] * want[n];
                }
    if (!(sqrt(off) <= most * sqrt(size) + 1e-30))
        fail_msg("%s, type %d: %s is off by %.2g of its size; may be off by %.2g", t->spec, (int)t->a.q.dtype, name,
                 sqrt(off / (size + 1e-300)), most);
}

static pe_view exact_view(pe_view like)
{
    pe_view v = pe_view_of(take(like.batch * like.tokens * like.heads * like.dim, 8), PE_F64, like.batch, like.tokens,
                           like.heads, like.dim);
    memset(v.data, 0, (size_t)(like.batch * like.tokens * like.heads * like.dim) * 8);
    return v;
}

/* What is added to begins as what is there. */
static pe_view exact_gradient(bool added, pe_view v)
{
    pe_view to = exact_view(v);
    for (int64_t n = 0; added && n < v.batch * v.tokens * v.heads * v.dim; n++)
        ((double *)to.data)[n] = num_load(v.data, v.dtype, n);
    return to;
}

static pe_view block_view(pe_params p)
{
    pe_view v = pe_view_of(p.data, p.dtype, 1, 1, 1, p.count);
    return p.data ? att_after(v) : v;
}

/* Gradients of rotated vectors are rounded to their type before they are rotated back; weights and gradients of scores
 * are rounded to the type of q on the matrix units. Each of these is a relative error of half a unit of random sign. */
static void att_check_back(att *t, const pe_attention_grad *g)
{
    int mark = taken();
    pe_attention a = t->a;
    pe_attention_grad want = *g;
    size_t bytes;
    double most = t->a.q.dtype == PE_F32 ? 4e-6 : 3 * unit_of(t->a.q.dtype);
    assert_ok(att_backward(t, g));
    a.out = exact_view(a.out);
    a.lse = exact_view(a.lse);
    want.dq = exact_gradient(g->accumulate, g->dq);
    want.dk = exact_gradient(g->accumulate, g->dk);
    want.dv = exact_gradient(g->accumulate, g->dv);
    if (g->dadditive.data)
        want.dadditive = exact_gradient(true, g->dadditive);
    want.dparams = (pe_params){ take(g->dparams.count + 1, 8), PE_F64, g->dparams.count };
    want.dsinks = (pe_params){ take(g->dsinks.count + 1, 8), PE_F64, g->dsinks.count };
    memset(want.dparams.data, 0, (size_t)g->dparams.count * 8);
    memset(want.dsinks.data, 0, (size_t)g->dsinks.count * 8);
    if (!g->dparams.data)
        want.dparams.data = NULL;
    if (!g->dsinks.data)
        want.dsinks.data = NULL;
    assert_ok(pe_reference_work(t->e, &a, &bytes, &err));
    pe_run run = PE_MAKE(pe_run, .params = t->params, .work = take((int64_t)bytes, 1), .work_bytes = bytes);
    assert_ok(pe_reference_forward(t->e, &a, &run, &err));
    assert_ok(pe_reference_backward(t->e, &a, &want, &run, &err));
    compare_gradient(t, "dq", want.dq.data, att_after(g->dq), most);
    compare_gradient(t, "dk", want.dk.data, att_after(g->dk), most);
    compare_gradient(t, "dv", want.dv.data, att_after(g->dv), most);
    if (g->dparams.data) /* that of fire's c is the difference of two sums, of measures and of shares, as large as it */
        compare_gradient(t, "dparams", want.dparams.data, block_view(g->dparams),
                         strstr(t->spec, "fire") ? 3 * most : most);
    if (g->dadditive.data)
        compare_gradient(t, "dadditive", want.dadditive.data, att_after(g->dadditive), most);
    if (g->dsinks.data)
        compare_gradient(t, "dsinks", want.dsinks.data, block_view(g->dsinks), most);
    give_back_to(mark);
}

TEST(gradients_of_every_bias_and_rotation_are_the_definitions)
{
    static const char *const specs[] = { "none",
                                         "alibi",
                                         "rope",
                                         "rope:pairs=adjacent,scaling=yarn,factor=4,trained=64",
                                         "t5",
                                         "alibi:slopes=learned",
                                         "kerple",
                                         "kerple:form=power",
                                         "t5+alibi:slopes=learned",
                                         "rope+kerple",
                                         "sandwich",
                                         "rope:turn=qkvo",
                                         "xpos",
                                         "xpos:pairs=half,base=50+kerple",
                                         "fire",
                                         "fire:hidden=8,length=16",
                                         "t5+fire:hidden=3,length=100+alibi:slopes=learned+fire:hidden=150" };
    for (int n = 0; n < COUNT(specs); n++)
        for (int type = 0; type < (emulated ? 1 : 3); type++) {
            int64_t width = (n + type) % 2 ? 64 : 128;
            att t = att_new(specs[n], att_types[type], (att_size){ 2, 140, 201, 4, 2, width, width });
            pe_attention_grad g = att_gradients(&t, att_types[type], true);
            t.a.mask.causal = n % 3 != 1;
            att_check_back(&t, &g);
        }
}

TEST(gradients_with_every_mask_and_length_are_the_definitions)
{
    static const int64_t lengths[] = { 150, 1, 0, 90 }, offsets[] = { 0, 70, 71, 200, 300 };
    for (int n = 0; n < (emulated ? 8 : 16); n++) {
        att t = att_usual(n % 3 ? "t5" : "none",
                          n / 8                ? PE_BF16
                          : n % 2 && !emulated ? PE_F16
                                               : PE_F32,
                          n % 8 == 5 ? 1 : 4, n % 8 == 5 ? 300 : 150, n % 8 == 5 ? 300 : 150);
        switch (n % 8) {
        case 0: t.a.mask = (pe_mask){ .causal = true, .window = 40, .first_keys = 3 }; break;
        case 1: t.a.mask = (pe_mask){ .window = 33 }; break;
        case 2: t.a.mask.keep = mask_view(&t, PE_BOOL, 4, 150, 1); break;
        case 3: t.a.mask.additive = mask_view(&t, PE_F32, 1, 150, 4); break;
        case 4:
            t.a.q_lengths.length = t.a.k_lengths.length = att_numbers(4, lengths);
            t.a.q_lengths.padded_left = t.a.k_lengths.padded_left = n / 8;
            t.a.mask.causal = true;
            break;
        case 5:
            t.a.q_lengths.offset = t.a.k_lengths.offset = att_numbers(5, offsets);
            t.a.q_lengths.sequences = t.a.k_lengths.sequences = 4;
            t.a.mask.causal = true;
            break;
        case 6:
            t.a.sinks = (pe_params){ arena_take(4, sizeof(float)), PE_F32, 4 };
            for (int h = 0; h < 4; h++)
                ((float *)t.a.sinks.data)[h] = (float)h - 1;
            break;
        default: t.a.soft_cap = 2.5; break;
        }
        pe_attention_grad g = att_gradients(&t, t.a.q.dtype, n % 8 != 5);
        att_check_back(&t, &g);
    }
}

TEST(gradients_at_positions_in_memory_are_the_definitions)
{
    static const char *const specs[] = { "alibi:slopes=learned", "t5", "fire:length=40", "xpos:base=100" };
    for (int n = 0; n < (emulated ? 4 : 8); n++) {
        att t = att_usual(specs[n % 4], n < 4 ? PE_F32 : PE_BF16, 1, 100, 100);
        int64_t *at = att_numbers(100, NULL);
        for (int64_t i = 0; i < 100; i++)
            at[i] = i ? at[i - 1] + test_range(&t.random, 0, 3) : n % 4 == 3 ? 300000 : 5;
        t.a.q_at = t.a.k_at = pe_positions_of(at, PE_I64, 1, 100, 1);
        t.a.mask = (pe_mask){ .causal = true, .align = PE_ALIGN_POSITION };
        pe_attention_grad g = att_gradients(&t, t.a.q.dtype, true);
        att_check_back(&t, &g);
    }
}

/* What each encoding adds to the score is of other size with a scale of the call's own, and comes after the cap. */
TEST(gradients_of_biases_with_caps_scales_and_windows_are_the_definitions)
{
    static const char *const specs[] = { "t5", "fire:length=40", "rope+fire:hidden=5,length=9" };
    for (int n = 0; n < COUNT(specs); n++) {
        att t = att_usual(specs[n], PE_F32, 2, 70, 90);
        t.a.soft_cap = n != 1 ? 1.5 : 0;
        t.a.scale = n != 2 ? 0.3 : 0;
        t.a.mask = (pe_mask){ .window = 33, .first_keys = 2 };
        pe_attention_grad g = att_gradients(&t, PE_F32, true);
        att_check_back(&t, &g);
    }
}

TEST(what_is_hidden_has_no_gradient_and_spoils_none)
{
    for (int n = 0; n < (emulated ? 3 : 6); n++) {
        att t = att_usual("alibi", n < 3 ? PE_F32 : PE_BF16, 1, 150, 150);
        t.a.mask.causal = true;
        t.a.mask.keep = mask_view(&t, PE_BOOL, 1, 1, 1);
        ((uint8_t *)t.a.mask.keep.data)[77] = 0; /* no query sees key 77 */
        pe_attention_grad g = att_gradients(&t, t.a.q.dtype, true);
        pe_view spoilt = n % 3 ? n % 3 == 1 ? t.a.v : t.a.k : t.a.v;
        num_store(spoilt.data, spoilt.dtype, 77 * 128 + 3, n % 3 ? (double)NAN : (double)INFINITY);
        att_check_back(&t, &g);
    }
}

TEST(gradients_of_masks_with_every_axis_of_one_are_the_definitions)
{
    static const int64_t lengths[] = { 70, 40 };
    static const char *const specs[] = { "alibi", "rope", "xpos" };
    for (int n = 0; n < 8; n++) {
        int64_t B = n & 1 ? 2 : 1, T = n & 2 ? 70 : 1, H = n & 4 ? 4 : 1;
        pe_dtype type = n % 3 && !emulated ? PE_BF16 : PE_F32;
        att t = att_usual(specs[n % 3], type, 2, 70, 100);
        t.a.mask.additive = mask_view(&t, type, B, T, H);
        t.a.mask.causal = n % 2;
        t.a.soft_cap = n == 6 ? 2 : 0;
        if (n == 3 || n == 4)
            t.a.q_lengths = t.a.k_lengths = (pe_lengths){ .length = att_numbers(2, lengths), .padded_left = true };
        pe_attention_grad g = att_gradients(&t, type, false);
        g.dadditive = att_view(&t, n % 2 ? type : PE_F32, B, T, H, 100, 0.1);
        att_check_back(&t, &g);
    }
}

/* Padding keeps what it holds. */
TEST(gradients_are_added_to_those_that_are_there)
{
    static const int64_t lengths[] = { 150, 33 }, offsets[] = { 0, 70, 150 };
    static const char *const specs[] = { "none", "rope", "rope:turn=qkvo+t5", "xpos",
                                         "rope:scaling=yarn,factor=4,trained=64" };
    for (int n = 0; n < 15; n += emulated ? 2 : 1) {
        pe_dtype type = att_types[n % 2], of = n % 3 ? type : PE_F32;
        att t = att_usual(specs[n % 5], type, n / 5 == 1 ? 1 : 2, 150, 150);
        if (n / 5 == 1) {
            t.a.q_lengths.offset = t.a.k_lengths.offset = att_numbers(3, offsets);
            t.a.q_lengths.sequences = t.a.k_lengths.sequences = 2;
        } else if (n / 5 == 2)
            t.a.q_lengths.length = t.a.k_lengths.length = att_numbers(2, lengths);
        t.a.mask.causal = true;
        pe_attention_grad g = att_gradients(&t, of, true);
        g.accumulate = true;
        att_fill(&t, g.dq, 0.1);
        att_fill(&t, g.dk, 0.1);
        att_fill(&t, g.dv, 0.1);
        att_check_back(&t, &g);
    }
}

TEST(gradients_have_the_same_bits_in_every_run)
{
    static const char *const specs[] = { "rope+t5", "fire:length=64" };
    for (int n = 0; n < (emulated ? 2 : 6); n++) {
        pe_dtype type = att_types[n / 2];
        att t = att_usual(specs[n % 2], type, 2, 300, 300);
        pe_attention_grad g = att_gradients(&t, type, true);
        char *first = take((int64_t)arena.used, 1);
        t.a.mask.causal = true;
        assert_ok(att_backward(&t, &g));
        memcpy(first, arena.after, arena.used);
        assert_ok(att_backward(&t, &g));
        assert_memory_equal(first, arena.after, arena.used);
    }
}

#endif
