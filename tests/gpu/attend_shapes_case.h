/* SPDX-License-Identifier: MIT
 *
 * Attention of the GPU library against the definition: every encoding, sizes, masks, sequences, the softmax, views. */
#ifndef TESTS_GPU_ATTEND_SHAPES_CASE_H
#define TESTS_GPU_ATTEND_SHAPES_CASE_H

#include "gpu/attend.h"

/* ------------------------------------------------ every row */

static int rows_taken, rows_refused;

/* Positions in memory where there are several axes, or not every distance exists. */
static void row_positions(att *t)
{
    int64_t axes = pe_encoding_axes(t->e), n = t->a.k.tokens, most[PE_AXES_MAX];
    double *w = case_params(t->e, &t->random);
    pe_params params = { w, PE_F64, pe_encoding_param_count(t->e) };
    if (axes == 1 && case_reaches(t->e, params, 0, n, 0))
        return;
    int64_t *at = att_numbers(n * axes, NULL);
    for (int64_t a = 0; a < axes; a++) {
        most[a] = 40;
        while (most[a] > 0 && !case_reaches(t->e, params, a, most[a], 0))
            most[a]--;
        for (int64_t i = 0; i < n; i++)
            at[i * axes + a] = test_range(&t->random, 0, most[a]);
    }
    t->a.k_at = pe_positions_of(at, PE_I64, 1, n, axes);
    t->a.q_at = pe_positions_of(at + (n - t->a.q.tokens) * axes, PE_I64, 1, t->a.q.tokens, axes);
}

static bool row_check(const char *spec, pe_dtype type, int64_t width, int64_t Tq, int64_t Tk, bool causal)
{
    pe_encoding *e = encoding_if_any(spec, (pe_shape){ 4, 2, width, 0 });
    if (!e)
        return true;
    att t = att_of(e, type, (att_size){ 1, Tq, Tk, 4, 2, width, width });
    double *w = case_params(e, &t.random);
    bool ahead = case_reaches(e, (pe_params){ w, PE_F64, t.params.count }, 0, 0, 1);
    row_positions(&t);
    t.a.mask.causal = causal || !ahead;
    if (!ahead)
        t.ahead = 0;
    pe_status s = att_run(&t);
    if (s == PE_ERR_UNSUITED)
        return false;
    assert_ok(s);
    att_compare(&t);
    return true;
}

static void each_row(const char *spec)
{
    bool taken_all = row_check(spec, PE_F32, 64, 100, 100, true);
    if (!taken_all) {
        print_message("refused: %s: %s\n", spec, err.text);
        rows_refused++;
        return;
    }
    rows_taken++;
    assert_true(row_check(spec, PE_F32, 64, 37, 70, false));
    if (emulated)
        return;
    assert_true(row_check(spec, PE_BF16, 64, 129, 129, true));
    assert_true(row_check(spec, PE_BF16, 64, 65, 300, false));
    assert_true(row_check(spec, PE_F16, 128, 140, 140, true));
}

TEST(every_row_that_the_gpu_takes_is_the_definition)
{
    static const char *const more[] = { "rope+alibi", "t5+alibi+kerple+fire", "rope:turn=qkvo", "rope+kerple" };
    rows_taken = rows_refused = 0;
    each_spec(each_row, more, COUNT(more));
    print_message("%d specs are taken, %d are refused\n", rows_taken, rows_refused);
    assert_true(rows_taken > 40);
}

/* ------------------------------------------------ sizes */

TEST(every_number_of_tokens_is_right)
{
    static const int64_t n[][2] = { { 1, 1 },    { 1, 129 },   { 7, 7 },     { 63, 65 },  { 65, 63 },
                                    { 64, 128 }, { 127, 129 }, { 129, 300 }, { 300, 127 } };
    for (int type = 0; type < att_type_count(); type++)
        for (int i = 0; i < COUNT(n); i++)
            for (int causal = 0; causal < 2; causal++) {
                att t = att_usual(causal ? "none" : "alibi", att_types[type], 2, n[i][0], n[i][1]);
                t.a.mask.causal = causal;
                att_check(&t);
            }
}

TEST(every_head_width_is_right)
{
    static const att_size sizes[] = { { 1, 33, 70, 2, 1, 8, 8 },      { 1, 33, 70, 2, 2, 80, 96 },
                                      { 1, 33, 70, 2, 1, 256, 256 },  { 1, 140, 150, 3, 3, 64, 128 },
                                      { 1, 140, 150, 3, 1, 128, 64 }, { 2, 140, 150, 8, 1, 128, 128 },
                                      { 1, 33, 70, 2, 1, 96, 80 } };
    for (int i = 0; i < COUNT(sizes) - 3 * emulated; i++) {
        att t = att_new("none", i % 2 ? PE_BF16 : PE_F16, sizes[i]);
        t.a.mask.causal = i % 3 == 0;
        att_check(&t);
    }
    att t = att_new("none", PE_F32, sizes[1]);
    att_check(&t);
}

TEST(no_tokens_give_nothing_or_zeros)
{
    static const int64_t n[][3] = { { 2, 0, 30 }, { 2, 30, 0 }, { 0, 30, 30 } }; /* the second: 0 and -inf */
    for (int i = 0; i < COUNT(n); i++) {
        att t = att_usual("alibi", PE_BF16, n[i][0], n[i][1], n[i][2]);
        att_check(&t);
    }
}

/* ------------------------------------------------ masks */

TEST(causal_windows_and_first_keys_in_every_alignment_are_right)
{
    static const int64_t windows[] = { 0, 1, 5, 100, INT64_MAX },
                         sizes[][2] = { { 140, 140 }, { 70, 200 }, { 200, 70 } };
    for (int n = 0; n < 3 * 5 * 3 * 4; n++) {
        int64_t align = n % 3, window = windows[n / 3 % 5], features = n / 45;
        const int64_t *size = sizes[n / 15 % 3];
        att t = att_usual(n % 2 ? "none" : "alibi", n % 4 < 2 ? PE_BF16 : PE_F32, 1, size[0], size[1]);
        t.a.mask.align = (pe_align)align;
        t.a.mask.window = window;
        t.a.mask.causal = features % 2;
        t.a.mask.first_keys = features / 2 * 3;
        if (align != PE_ALIGN_POSITION) {
            t.a.mask.keys_before = n % 7 == 0 ? 2 : 0;
            t.a.mask.keys_after = n % 5 == 0 && align == PE_ALIGN_END ? 9 : 0;
        } else {
            t.a.q_at.start += 7 * (n % 4);
            t.a.k_at.start = n / 3 % 2;
        }
        att_check(&t);
    }
}

TEST(first_keys_below_position_0_are_not_first)
{
    att t = att_usual("none", PE_F32, 1, 100, 100);
    t.a.mask = (pe_mask){ .causal = true, .align = PE_ALIGN_POSITION, .window = 6, .first_keys = 4 };
    t.a.q_at.start = t.a.k_at.start = -9;
    att_check(&t);
}

static pe_view mask_view(att *t, pe_dtype type, int64_t B, int64_t Tq, int64_t H)
{
    pe_view v = att_view(t, type == PE_BOOL ? PE_F32 : type, B, Tq, H, t->a.k.tokens, 1);
    for (int64_t n = 0; n < B * Tq * H * v.dim; n++)
        if (type == PE_BOOL)
            ((uint8_t *)v.data)[n] = test_range(&t->random, 0, 3) > 0;
        else if (test_range(&t->random, 0, 3) == 0)
            num_store(v.data, type, n, test_range(&t->random, 0, 9) ? -INFINITY : -3e38);
    v.dtype = type;
    return v;
}

TEST(masks_with_every_axis_of_one_are_right)
{
    for (int n = 0; n < 8; n++) {
        int64_t B = n & 1 ? 2 : 1, T = n & 2 ? 70 : 1, H = n & 4 ? 4 : 1;
        att t = att_usual("alibi", n % 3 ? PE_BF16 : PE_F32, 2, 70, 150);
        t.a.mask.causal = n % 2;
        t.a.mask.keep = mask_view(&t, PE_BOOL, B, T, H);
        att_check(&t);
        t = att_usual("alibi", n % 3 ? PE_BF16 : PE_F32, 2, 70, 150);
        t.a.mask.additive = mask_view(&t, n % 3 ? PE_BF16 : PE_F32, B, T, H);
        att_check(&t);
    }
}

TEST(the_least_number_of_a_mask_hides_nothing)
{
    att t = att_usual("none", PE_F32, 1, 20, 40);
    t.a.mask.additive = mask_view(&t, PE_F32, 1, 20, 1);
    for (int j = 0; j < 40; j++) /* every key of query 3, alike */
        ((float *)t.a.mask.additive.data)[3 * 40 + j] = -3.4028234e38F;
    t.a.lse = (pe_view){ 0 }; /* which would be that number times the scale */
    att_check(&t);
}

TEST(queries_that_see_no_key_get_exactly_0)
{
    for (int type = 0; type < att_type_count(); type++) {
        att t = att_usual("none", att_types[type], 1, 150, 40);
        t.a.mask.causal = true; /* the first 110 queries lie before all keys */
        att_check(&t);
        pe_view lse = att_after(t.a.lse), out = att_after(t.a.out);
        assert_true(view_get(lse, 0, 100, 2, 0) == -INFINITY && view_get(out, 0, 100, 2, 5) == 0);
    }
}

/* ------------------------------------------------ sequences */

TEST(padding_on_either_side_has_no_effect)
{
    static const int64_t q[] = { 0, 140, 33, 129 }, k[] = { 10, 0, 200, 128 };
    for (int n = 0; n < 8; n++) {
        att t = att_usual("rope+alibi", n % 4 == 3 ? PE_F32 : PE_BF16, 4, 140, 200);
        t.a.q_lengths = (pe_lengths){ .length = att_numbers(4, q), .padded_left = n & 1 };
        t.a.k_lengths = (pe_lengths){ .length = att_numbers(4, k), .padded_left = n & 2 };
        t.a.mask.causal = n & 4;
        t.a.mask.align = n & 2 ? PE_ALIGN_POSITION : PE_ALIGN_END;
        for (int64_t b = 0; b < 4; b++) /* NaN in all that is padding */
            for (int64_t i = 0; i < 200; i++) {
                bool real_q = n & 1 ? i >= 140 - q[b] : i < q[b], real_k = n & 2 ? i >= 200 - k[b] : i < k[b];
                for (int64_t d = 0; d < 256 && i < 140 && !real_q; d++)
                    num_store(t.a.q.data, t.a.q.dtype, (b * 140 + i) * 256 + d, NAN);
                for (int64_t d = 0; d < 128 && !real_k; d++) {
                    num_store(t.a.k.data, t.a.k.dtype, (b * 200 + i) * 128 + d, NAN);
                    num_store(t.a.v.data, t.a.v.dtype, (b * 200 + i) * 128 + d, d % 2 ? NAN : INFINITY);
                }
            }
        att_check(&t);
    }
}

static att packed_case(const char *spec, pe_dtype type, int64_t sequences, const int64_t *offset)
{
    att t = att_usual(spec, type, 1, offset[sequences], offset[sequences]);
    t.a.q_lengths = t.a.k_lengths =
        (pe_lengths){ .offset = att_numbers(sequences + 1, offset), .sequences = sequences };
    t.a.q_at = pe_positions_run(1, offset[sequences], 0);
    return t;
}

TEST(packed_sequences_do_not_see_their_neighbours)
{
    static const int64_t offset[] = { 0, 5, 5, 133, 262, 263, 400 };
    for (int n = 0; n < 6; n++) {
        att t = packed_case(n % 2 ? "alibi" : "rope", n % 3 == 2 ? PE_F32 : PE_BF16, 6, offset);
        t.a.mask.causal = n % 2;
        t.a.mask.align = n > 2 ? PE_ALIGN_POSITION : PE_ALIGN_END;
        t.a.mask.window = n == 5 ? 40 : 0;
        for (int64_t d = 0; d < 128; d++) { /* sequence 2, whose queries see it */
            num_store(t.a.v.data, t.a.v.dtype, 100 * 128 + d, NAN);
            num_store(t.a.k.data, t.a.k.dtype, 7 * 128 + d, NAN);
        }
        att_check(&t);
    }
}

TEST(packed_queries_may_have_padded_keys)
{
    static const int64_t offset[] = { 0, 50, 51, 200 }, keys[] = { 70, 90, 3 };
    att t = packed_case("none", PE_BF16, 3, offset);
    t.a.k = att_view(&t, PE_BF16, 3, 90, 2, 64, 1);
    t.a.v = att_view(&t, PE_BF16, 3, 90, 2, 64, 1);
    t.a.k_at = pe_positions_run(3, 90, 0);
    t.a.k_lengths = (pe_lengths){ .length = att_numbers(3, keys) };
    att_check(&t);
}

/* ------------------------------------------------ softmax */

TEST(sinks_caps_and_scales_are_right)
{
    static const struct {
        const char *spec;
        pe_dtype type;
        bool cap_alone;
    } cases[] = { { "none", PE_F32, false },  { "none", PE_BF16, false },  { "alibi", PE_F32, false },
                  { "alibi", PE_BF16, true }, { "t5+rope", PE_F32, true }, { "fire", PE_BF16, false } };
    for (int n = 0; n < COUNT(cases); n++) {
        att t = att_usual(cases[n].spec, cases[n].type, 1, 90, 140);
        float *sinks = arena_take(4, sizeof *sinks);
        sinks[0] = -1;
        sinks[1] = 2.5F;
        sinks[3] = -INFINITY;
        t.a.mask.causal = true;
        t.a.mask.align = PE_ALIGN_START; /* the ranges of queries are short */
        t.a.q_at.start = 0;
        t.a.sinks = (pe_params){ sinks, PE_F32, 4 };
        t.a.scale = 0.3;
        att_check(&t);
        t.a.soft_cap = 0.75;
        att_check(&t);
        t.a.scale = 0;
        if (cases[n].cap_alone)
            att_check(&t);
    }
    att t = att_usual("none", PE_BF16, 1, 90, 40);
    float *sinks = arena_take(4, sizeof *sinks);
    t.a.mask.causal = true;
    t.a.sinks = (pe_params){ sinks, PE_F32, 4 };
    att_check(&t); /* queries that see no key have the sink's logit */
}

TEST(float64_has_the_log_sum_exp_and_other_types_the_output)
{
    for (int n = 0; n < 3; n++) {
        att t = att_usual("none", att_types[n % 2], 1, 70, 70);
        att_outputs(&t, att_types[(n + 1) % 3], PE_F64);
        att_check(&t);
        t.a.lse = (pe_view){ 0 };
        att_check(&t);
    }
}

/* ------------------------------------------------ views */

TEST(any_strides_are_right)
{
    for (int n = 0; n < 6; n++) {
        att t = att_usual("none", n % 3 == 2 ? PE_F32 : PE_BF16, 2, 70, 70);
        size_t size = pe_dtype_size(t.a.q.dtype);
        pe_view *views[] = { &t.a.q, &t.a.k, &t.a.v, &t.a.out };
        if (n == 0 || n == 5) /* (B, H, T, D) */
            for (int i = 0; i < 4; i++) {
                views[i]->token_stride = 64;
                views[i]->head_stride = 64 * 70;
            }
        if (n == 1) { /* one block with q, k and v of each token */
            pe_view all = att_view(&t, t.a.q.dtype, 2, 70, 8, 64, 1);
            for (int i = 0; i < 3; i++) {
                views[i]->batch_stride = all.batch_stride;
                views[i]->token_stride = all.token_stride;
                views[i]->data = (char *)all.data + (size_t)(i ? 64 * (2 + 2 * i) : 0) * size;
            }
        }
        if (n == 2) { /* backwards, and one key head for all */
            t.a.k.data = (char *)t.a.k.data + (size_t)(69 * t.a.k.token_stride) * size;
            t.a.k.token_stride *= -1;
            t.a.v.head_stride = t.a.v.batch_stride = 0;
        }
        if (n == 3 || n == 4) { /* an address that the copy engine does not take */
            pe_view odd = att_view(&t, t.a.q.dtype, 2, 70, 3, 64, 1);
            odd.heads = 2;
            odd.data = (char *)odd.data + size * (n == 3 ? 1 : 3);
            t.a.k = odd;
            t.a.out = att_view(&t, t.a.q.dtype, 2, 70, 5, 64, 1);
            t.a.out.heads = 4;
            t.a.out.data = (char *)t.a.out.data + size;
        }
        att_check(&t);
    }
}

/* The keys are past 2^32 elements: 70 tokens, 2^26 elements apart, which is 9 GiB. */
TEST(offsets_past_2_to_the_32_are_right)
{
    const int64_t apart = INT64_C(1) << 26, n = 70;
    att t = att_usual("none", PE_BF16, 1, 70, n);
    size_t bytes = (size_t)((n - 1) * apart + 256) * 2;
    device_pointer far = device_take(bytes);
    if (!far)
        test_skip("the device has no 9 GiB to spare");
    pe_attention there = att_there(&t.a);
    for (int64_t i = 0; i < n; i++)
        device_write(far + (uint64_t)(i * apart) * 2, (char *)t.a.k.data + i * 256, 256);
    uintptr_t address = (uintptr_t)far;
    memcpy(&there.k.data, &address, sizeof there.k.data);
    there.k.token_stride = apart;
    there.k.batch_stride = n * apart;
    pe_status s = att_call(&t, &there, NULL);
    cuda_release(gpu, far);
    assert_ok(s);
    att_compare(&t);
}

#endif
