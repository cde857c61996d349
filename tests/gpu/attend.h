/* SPDX-License-Identifier: MIT
 *
 * Attention problems for tests of the GPU library: made in the arena (gpu/memory.h), run on the device, and compared
 * with the definition on the CPU.
 *
 * Bounds. A score is a product of D terms, 1/4 each here, times the scale, and a sum of float32 terms: it is off by
 * some units of 2^-24 (4 + |lse| + scale D / 4), of exp2 and log2 as the device has them 2^-22. Weights carry this as a
 * relative error, outputs as an error relative to the largest value, 1 here. On the matrix units weights are rounded to
 * the type of the values, and all outputs to their own: half a unit in 11 bits of float16, 8 of bfloat16. Rotated q and
 * k are rounded to their type once more: a score of D terms of 1/4 is off by twice that unit times scale D / 4 at most.
 */
#ifndef TESTS_GPU_ATTEND_H
#define TESTS_GPU_ATTEND_H

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

/* With the arena on the device; what is there afterwards is in arena.after. g, on the device: backward. */
static pe_status att_call(const att *t, const pe_attention *there, const pe_attention_grad *g)
{
    pe_cuda_plan *plan = NULL;
    size_t bytes = 0;
    pe_run run = PE_MAKE(pe_run, .params = t->params);
    run.params.data = arena_there(t->params.data);
    pe_status s = pe_cuda_plan_new(&plan, gpu, t->e, t->behind, t->ahead, &err);
    if (!s)
        s = g ? pe_cuda_attention_backward_work(plan, there, g, &bytes, &err)
              : pe_cuda_attention_work(plan, there, &bytes, &err);
    if (!s) {
        run.work = work_take(bytes);
        run.work_bytes = bytes;
        device_write(arena.device, arena.host, arena.used);
        s = g ? pe_cuda_attention_backward(plan, there, g, &run, NULL, &err)
              : pe_cuda_attention_forward(plan, there, &run, NULL, &err);
        device_read(arena.after, arena.device, arena.used);
        work_check(bytes);
    }
    pe_cuda_plan_free(plan);
    return s;
}

static pe_status att_run(const att *t)
{
    pe_attention there = att_there(&t->a);
    return att_call(t, &there, NULL);
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
    char *touched = calloc(arena.used, 1);
    cover(touched, v);
    for (size_t n = 0; n < arena.used; n++)
        arena.host[n] = touched[n] ? arena.after[n] : arena.host[n];
    free(touched);
}

/* Nothing but the outputs has changed. */
static void assert_rest_kept(const att *t)
{
    char *touched = calloc(arena.used, 1);
    cover(touched, t->a.out);
    cover(touched, t->a.lse);
    size_t n = 0;
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

#endif
