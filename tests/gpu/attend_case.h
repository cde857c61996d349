/* SPDX-License-Identifier: MIT
 *
 * Attention of the GPU library against the definition on the CPU: the cases of test_cuda_attention (on a GPU) and of
 * test_cuda_attention_emulated (its kernels for other GPUs, as C++ on the CPU).
 *
 * Bounds. A score is a product of D terms, 1/4 each here, times the scale, and a sum of float32 terms: it is off by
 * some units of 2^-24 (4 + |lse| + scale D / 4), of exp2 and log2 as the device has them 2^-22. Weights carry this as a
 * relative error, outputs as an error relative to the largest value, 1 here. On the matrix units weights are rounded to
 * the type of the values, and all outputs to their own: half a unit in 11 bits of float16, 8 of bfloat16. Rotated q and
 * k are rounded to their type once more: a score of D terms of 1/4 is off by twice that unit times scale D / 4 at most.
 */
#ifndef TESTS_GPU_ATTEND_CASE_H
#define TESTS_GPU_ATTEND_CASE_H

#include "base/num.h"
#include "attention_case.h"
#include "gpu/memory.h"

typedef struct att {
    const char *spec;
    pe_encoding *e;
    pe_attention a; /* in the arena */
    pe_params params;
    int64_t behind, ahead;
    uint64_t random;
} att;

typedef struct att_size {
    int64_t B, Tq, Tk, H, G, D, DV;
} att_size;

/* ------------------------------------------------ making */

static void att_fill(att *t, pe_view v, double size)
{
    for (int64_t n = 0; n < v.batch * v.tokens * v.heads * v.dim; n++)
        num_store(v.data, v.dtype, n, size * test_uniform(&t->random));
}

static pe_view att_view(att *t, pe_dtype type, int64_t B, int64_t T, int64_t H, int64_t D, double size)
{
    pe_view v = pe_view_of(arena_take(B * T * H * D, pe_dtype_size(type)), type, B, T, H, D);
    att_fill(t, v, size);
    return v;
}

static void att_outputs(att *t, pe_dtype type, pe_dtype lse)
{
    pe_view q = t->a.q;
    t->a.out = att_view(t, type, q.batch, q.tokens, q.heads, t->a.v.dim, 0);
    t->a.lse = att_view(t, lse, q.batch, q.tokens, q.heads, 1, 0);
    memset(t->a.out.data, 0xFF, (size_t)(q.batch * q.tokens * q.heads * t->a.v.dim) * pe_dtype_size(type));
    memset(t->a.lse.data, 0xFF, (size_t)(q.batch * q.tokens * q.heads) * pe_dtype_size(lse));
}

/* Queries at the end of their keys. */
static att att_of(pe_encoding *e, pe_dtype type, att_size s)
{
    att t = { .spec = pe_encoding_spec(e), .e = e, .behind = 1500, .ahead = 1500, .random = 77 };
    int64_t count = pe_encoding_param_count(e);
    case_ready();
    arena_reset();
    t.a.size = sizeof t.a;
    t.a.q = att_view(&t, type, s.B, s.Tq, s.H, s.D, 1);
    t.a.k = att_view(&t, type, s.B, s.Tk, s.G, s.D, 1);
    t.a.v = att_view(&t, type, s.B, s.Tk, s.G, s.DV, 1);
    t.a.q_at = pe_positions_run(s.B, s.Tq, s.Tk > s.Tq ? s.Tk - s.Tq : 0);
    t.a.k_at = pe_positions_run(s.B, s.Tk, 0);
    att_outputs(&t, type, PE_F32);
    if (count) {
        double *w = case_params(e, &t.random);
        float *params = arena_take(count, sizeof(float));
        for (int64_t i = 0; i < count; i++)
            params[i] = (float)w[i];
        t.params = (pe_params){ params, PE_F32, count };
    }
    return t;
}

static att att_new(const char *spec, pe_dtype type, att_size s)
{
    return att_of(encoding_of(spec, (pe_shape){ s.H, s.G, s.D, 0 }), type, s);
}

/* Heads of 64, four of them with two of keys. */
static att att_usual(const char *spec, pe_dtype type, int64_t B, int64_t Tq, int64_t Tk)
{
    return att_new(spec, type, (att_size){ B, Tq, Tk, 4, 2, 64, 64 });
}

static int64_t *att_numbers(int64_t count, const int64_t *from)
{
    int64_t *n = arena_take(count, sizeof *n);
    if (from)
        memcpy(n, from, (size_t)count * sizeof *n);
    return n;
}

/* ------------------------------------------------ running */

static pe_attention att_there(const pe_attention *a)
{
    pe_attention d = *a;
    pe_view *views[] = { &d.out, &d.lse, &d.q, &d.k, &d.v, &d.mask.keep, &d.mask.additive };
    for (int i = 0; i < COUNT(views); i++)
        views[i]->data = arena_there(views[i]->data);
    d.q_at.data = arena_there(d.q_at.data);
    d.k_at.data = arena_there(d.k_at.data);
    d.q_lengths.length = arena_there(d.q_lengths.length);
    d.q_lengths.offset = arena_there(d.q_lengths.offset);
    d.k_lengths.length = arena_there(d.k_lengths.length);
    d.k_lengths.offset = arena_there(d.k_lengths.offset);
    d.sinks.data = arena_there(d.sinks.data);
    return d;
}

/* With the arena on the device; what is there afterwards is in arena.after. */
static pe_status att_forward(const att *t, const pe_attention *there)
{
    pe_cuda_plan *plan = NULL;
    size_t bytes = 0;
    pe_run run = PE_MAKE(pe_run, .params = t->params);
    run.params.data = arena_there(t->params.data);
    pe_status s = pe_cuda_plan_new(&plan, gpu, t->e, t->behind, t->ahead, &err);
    if (!s)
        s = pe_cuda_attention_work(plan, there, &bytes, &err);
    if (!s) {
        run.work = work_take(bytes);
        run.work_bytes = bytes;
        device_write(arena.device, arena.host, arena.used);
        s = pe_cuda_attention_forward(plan, there, &run, NULL, &err);
        device_read(arena.after, arena.device, arena.used);
        work_check(bytes);
    }
    pe_cuda_plan_free(plan);
    return s;
}

static pe_status att_run(const att *t)
{
    pe_attention there = att_there(&t->a);
    return att_forward(t, &there);
}

/* The same view in what came back. */
static pe_view att_after(pe_view v)
{
    v.data = v.data ? arena.after + ((char *)v.data - arena.host) : NULL;
    return v;
}

static double view_get(pe_view v, int64_t b, int64_t t, int64_t h, int64_t d)
{
    return num_load(v.data, v.dtype, b * v.batch_stride + t * v.token_stride + h * v.head_stride + d);
}

/* ------------------------------------------------ comparing */

static void cover(char *touched, pe_view v)
{
    int64_t size = (int64_t)pe_dtype_size(v.dtype);
    for (int64_t b = 0; v.data && b < v.batch; b++)
        for (int64_t i = 0; i < v.tokens; i++)
            for (int64_t h = 0; h < v.heads; h++)
                memset(touched + ((char *)v.data - arena.host) +
                           (b * v.batch_stride + i * v.token_stride + h * v.head_stride) * size,
                       1, (size_t)(v.dim * size));
}

/* What came back becomes what is there. */
static void cover_copy(pe_view v)
{
    int64_t size = (int64_t)pe_dtype_size(v.dtype);
    for (int64_t b = 0; v.data && b < v.batch; b++)
        for (int64_t i = 0; i < v.tokens; i++)
            for (int64_t h = 0; h < v.heads; h++) {
                int64_t at = (char *)v.data - arena.host +
                             (b * v.batch_stride + i * v.token_stride + h * v.head_stride) * size;
                memcpy(arena.host + at, arena.after + at, (size_t)(v.dim * size));
            }
}

/* Nothing but the outputs has changed. */
static void assert_rest_kept(const att *t)
{
    char *touched = calloc(arena.used, 1);
    size_t n = 0;
    cover(touched, t->a.out);
    cover(touched, t->a.lse);
    while (n < arena.used && (touched[n] || arena.after[n] == arena.host[n]))
        n++;
    free(touched);
    if (n < arena.used)
        fail_msg("%s: byte %zu of %zu beside the outputs was written", t->spec, n, arena.used);
}

static double unit_of(pe_dtype type)
{
    return type == PE_F16 ? 0x1p-11 : type == PE_BF16 ? 0x1p-8 : 0x1p-24;
}

typedef struct bound {
    double lse, out;
} bound;

static bound bound_of(const att *t, double lse)
{
    double scale = t->a.scale != 0 ? t->a.scale : pe_encoding_scale(t->e), width = (double)t->a.q.dim;
    double type = unit_of(t->a.q.dtype), terms = scale * width / 4;
    double score = 16 * 0x1p-24 * (4 + fabs(lse) + terms) + 0x1p-20 * t->a.soft_cap;
    if (pe_encoding_pair_count(t->e) && type > 0x1p-24)
        score += 2 * type * terms;
    return (bound){ score, score + (type > 0x1p-24 ? type : 0) };
}

static bool near(double got, double want, double most)
{
    return isnan(want) ? isnan(got) : got == want || fabs(got - want) <= most;
}

static void compare_row(const att *t, int64_t b, int64_t i, int64_t h, pe_view want, double want_lse)
{
    bound most = bound_of(t, want_lse);
    pe_view out = att_after(t->a.out), lse = att_after(t->a.lse);
    if (t->a.lse.data && !near(view_get(lse, b, i, h, 0), want_lse, most.lse))
        fail_msg("%s, type %d: lse of sequence %d, query %d, head %d is %.9g, should be %.9g +- %.2g", t->spec,
                 (int)t->a.q.dtype, (int)b, (int)i, (int)h, view_get(lse, b, i, h, 0), want_lse, most.lse);
    for (int64_t d = 0; d < out.dim; d++) {
        double got = view_get(out, b, i, h, d), is = view_get(want, b, i, h, d);
        if (!near(got, is, isinf(want_lse) ? 0 : most.out + unit_of(out.dtype) * fabs(is)))
            fail_msg(
                "%s, type %d: output of sequence %d, query %d, head %d, element %d is %.9g, should be %.9g +- %.2g",
                t->spec, (int)t->a.q.dtype, (int)b, (int)i, (int)h, (int)d, got, is, most.out);
    }
}

/* The definition, of the same numbers. */
static void att_compare(const att *t)
{
    int mark = taken();
    pe_attention a = t->a;
    pe_view q = a.q;
    size_t bytes;
    a.out = pe_view_of(take(q.batch * q.tokens * q.heads * a.v.dim, 8), PE_F64, q.batch, q.tokens, q.heads, a.v.dim);
    a.lse = pe_view_of(take(q.batch * q.tokens * q.heads, 8), PE_F64, q.batch, q.tokens, q.heads, 1);
    assert_ok(pe_reference_work(t->e, &a, &bytes, &err));
    pe_run run = PE_MAKE(pe_run, .params = t->params, .work = take((int64_t)bytes, 1), .work_bytes = bytes);
    assert_ok(pe_reference_forward(t->e, &a, &run, &err));
    for (int64_t b = 0; b < q.batch; b++)
        for (int64_t i = 0; i < q.tokens; i++)
            for (int64_t h = 0; h < q.heads; h++)
                compare_row(t, b, i, h, a.out, view_get(a.lse, b, i, h, 0));
    assert_rest_kept(t);
    give_back_to(mark);
}

static void att_check(const att *t)
{
    assert_ok(att_run(t));
    att_compare(t);
}

/* Types of which the matrix units have two. */
static const pe_dtype att_types[] = { PE_F32, PE_BF16, PE_F16 };

static int att_type_count(void)
{
    return emulated ? 2 : 3;
}

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
    att t = att_usual("alibi", PE_BF16, 2, 0, 30);
    att_check(&t);
    t = att_usual("alibi", PE_BF16, 2, 30, 0);
    att_check(&t); /* every query sees no key: 0 and -inf */
    t = att_usual("alibi", PE_BF16, 0, 30, 30);
    att_check(&t);
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
    pe_status s = att_forward(&t, &there);
    cuda_release(gpu, far);
    assert_ok(s);
    att_compare(&t);
}

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
    pe_cuda_plan *plan = NULL;
    size_t bytes = 0;
    pe_attention there = att_there(&t->a);
    pe_attention_grad d = *g;
    pe_run run = PE_MAKE(pe_run, .params = t->params);
    assert_ok(att_run(t));
    cover_copy(t->a.out);
    cover_copy(t->a.lse);
    pe_view *views[] = { &d.dout, &d.dq, &d.dk, &d.dv };
    for (int i = 0; i < COUNT(views); i++)
        views[i]->data = arena_there(views[i]->data);
    d.dparams.data = arena_there(d.dparams.data);
    d.dsinks.data = arena_there(d.dsinks.data);
    run.params.data = arena_there(t->params.data);
    pe_status s = pe_cuda_plan_new(&plan, gpu, t->e, t->behind, t->ahead, &err);
    if (!s)
        s = pe_cuda_attention_backward_work(plan, &there, &d, &bytes, &err);
    if (!s) {
        run.work = work_take(bytes);
        run.work_bytes = bytes;
        device_write(arena.device, arena.host, arena.used);
        s = pe_cuda_attention_backward(plan, &there, &d, &run, NULL, &err);
        device_read(arena.after, arena.device, arena.used);
        work_check(bytes);
    }
    pe_cuda_plan_free(plan);
    return s;
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
    want.dq = exact_view(g->dq);
    want.dk = exact_view(g->dk);
    want.dv = exact_view(g->dv);
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
    if (g->dparams.data)
        compare_gradient(t, "dparams", want.dparams.data, block_view(g->dparams), most);
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
                                         "rope:turn=qkvo" };
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
    for (int n = 0; n < 4; n++) {
        att t = att_usual(n % 2 ? "t5" : "alibi:slopes=learned", n < 2 || emulated ? PE_F32 : PE_BF16, 1, 100, 100);
        int64_t *at = att_numbers(100, NULL);
        for (int64_t i = 0; i < 100; i++)
            at[i] = i ? at[i - 1] + test_range(&t.random, 0, 3) : 5;
        t.a.q_at = t.a.k_at = pe_positions_of(at, PE_I64, 1, 100, 1);
        t.a.mask = (pe_mask){ .causal = true, .align = PE_ALIGN_POSITION };
        pe_attention_grad g = att_gradients(&t, t.a.q.dtype, true);
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

TEST(gradients_have_the_same_bits_in_every_run)
{
    for (int type = 0; type < (emulated ? 1 : 3); type++) {
        att t = att_usual("rope+t5", att_types[type], 2, 300, 300);
        pe_attention_grad g = att_gradients(&t, att_types[type], true);
        char *first = take((int64_t)arena.used, 1);
        t.a.mask.causal = true;
        assert_ok(att_backward(&t, &g));
        memcpy(first, arena.after, arena.used);
        assert_ok(att_backward(&t, &g));
        assert_memory_equal(first, arena.after, arena.used);
    }
}

#endif
