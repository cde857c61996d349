/* SPDX-License-Identifier: MIT
 *
 * An attention problem of a few tokens for any spec, with any of the features that a mask and a softmax may have; all
 * in float64, every number one that float32 holds. */
#ifndef TESTS_ATTENTION_CASE_H
#define TESTS_ATTENTION_CASE_H

#include "test.h"

enum {
    CAUSAL = 1,
    WINDOW = 2,
    PADDING = 4,
    SEGMENTS = 8,
    ADDITIVE_HEADS = 16, /* a mask per head, some of it -inf */
    ADDITIVE_ONE = 32,   /* one for all heads                */
    SOFT_CAP = 64,
    SINKS = 128,
    SCALE = 256,
    FEWER_QUERIES = 512,
    MORE_QUERIES = 1024,
    OTHER_VALUES = 2048, /* v wider than q, where the encoding lets it be */
    BETWEEN = 4096,      /* positions between whole ones, where it takes them */
    ALL_AT_ONCE = CAUSAL | WINDOW | PADDING | SEGMENTS | ADDITIVE_HEADS | SOFT_CAP | SINKS | SCALE | FEWER_QUERIES | OTHER_VALUES
};

static const unsigned case_features[] = {
    0, CAUSAL, CAUSAL | WINDOW, WINDOW, PADDING, CAUSAL | SEGMENTS, ADDITIVE_HEADS, ADDITIVE_ONE, SOFT_CAP, CAUSAL | SINKS, SCALE,
    CAUSAL | FEWER_QUERIES, CAUSAL | MORE_QUERIES | SINKS, OTHER_VALUES, SOFT_CAP | SINKS | ADDITIVE_ONE, ALL_AT_ONCE,
    BETWEEN, CAUSAL | BETWEEN, ALL_AT_ONCE | BETWEEN,
};

typedef struct attention_case {
    const char *spec;
    pe_encoding *e;
    pe_shape shape;
    int64_t axes, Tq, Tk, Dv;
    double *q, *k, *v, *out, *lse, *dout, *additive, *sinks, *w;
    double *q_gates, *k_gates, *relative; /* where the encoding takes them */
    int64_t *q_at, *k_at, *q_segment, *k_segment;
    uint8_t *key_used, *keep; /* keep: what key_used and the segments make, where they count (case_keep) */
    bool padded, segmented;
    pe_params params;
    pe_attention a;
    void *work;
    size_t bytes;
    int mark;
} attention_case;

static inline double *case_doubles(int64_t n)
{
    return take(n, sizeof(double));
}

static inline double *case_random(int64_t n, double size, uint64_t *r)
{
    double *x = case_doubles(n);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(size * test_uniform(r));
    return x;
}

/* What a call is given beside its problem. */
static inline pe_run case_run(const attention_case *c, const pe_pool *pool, void *work, size_t bytes)
{
    return PE_MAKE(pe_run, .params = c->params, .pool = pool, .work = work, .work_bytes = bytes);
}

/* The narrowest heads that the spec accepts. */
static inline pe_encoding *case_encoding(const char *spec)
{
    for (int64_t D = 8; D < 64; D *= 2) {
        pe_encoding *e = encoding_if_any(spec, (pe_shape){ 4, 2, D, 16 });
        if (e)
            return e;
    }
    return encoding_of(spec, (pe_shape){ 8, 4, 64, 16 });
}

/* Initial values, tables made large enough to matter and moved off the whole numbers where kinks lie, but never up:
 * kerple's r2 has a limit. */
static inline double *case_params(const pe_encoding *e, uint64_t *r)
{
    int64_t n = pe_encoding_param_count(e);
    double *w = case_doubles(n);
    assert_ok(pe_encoding_init(e, (pe_params){ w, PE_F64, n }, test_random(r), &err));
    for (int t = 0; t < pe_encoding_tensor_count(e); t++) {
        const pe_tensor *x = pe_encoding_tensor(e, t);
        double most = 0;
        for (int64_t i = x->offset; i < x->offset + x->count; i++)
            most = fmax(most, fabs(w[i]));
        for (int64_t i = x->offset; i < x->offset + x->count; i++)
            w[i] = (float)(w[i] * (1 - 0.03 * fabs(test_uniform(r))) * (x->rank > 1 && most < 0.2 ? 8 : 1));
    }
    return w;
}

/* Whether a score from position q to position k on one axis exists. */
static inline bool case_reaches(const pe_encoding *e, pe_params w, int64_t axis, int64_t q, int64_t k)
{
    pe_shape s = pe_encoding_shape(e);
    int64_t i[PE_AXES_MAX] = { 0 }, j[PE_AXES_MAX] = { 0 }, axes = pe_encoding_axes(e);
    double *score = case_doubles(s.heads), *x = case_doubles(s.heads * s.head_dim);
    i[axis] = q;
    j[axis] = k;
    pe_tile t = { .size = sizeof(pe_tile), .score = pe_view_of(score, PE_F64, 1, 1, s.heads, 1), .q = pe_view_of(x, PE_F64, 1, 1, s.heads, s.head_dim),
                  .k = pe_view_of(x, PE_F64, 1, 1, s.kv_heads, s.head_dim), .q_at = pe_positions_of(i, PE_I64, 1, 1, axes), .k_at = pe_positions_of(j, PE_I64, 1, 1, axes) };
    double *input = case_doubles(s.heads * (pe_encoding_inputs(e).relative + 1));
    if (pe_encoding_inputs(e).gates)
        t.q_gates = t.k_gates = pe_view_of(input, PE_F64, 1, 1, s.heads, 1);
    if (pe_encoding_inputs(e).relative)
        t.relative = pe_view_of(input, PE_F64, 1, 1, s.heads, pe_encoding_inputs(e).relative);
    return !pe_encoding_bias(e, PE_AFTER_SCALE, w, &t, NULL) && !pe_encoding_content(e, PE_BEFORE_SCALE, w, &t, NULL);
}

/* Keys at growing places, queries at those of their keys; further axes anywhere within reach. */
static inline void case_positions(attention_case *c, uint64_t *r)
{
    c->q_at = take(c->Tq * c->axes, sizeof(int64_t));
    c->k_at = take(c->Tk * c->axes, sizeof(int64_t));
    for (int64_t a = 0; a < c->axes; a++) {
        int64_t step = 5, most = 5, at = 3;
        while (step > 1 && !case_reaches(c->e, c->params, a, step * c->Tk, 0))
            step--;
        while (most > 0 && !case_reaches(c->e, c->params, a, most, 0))
            most--;
        for (int64_t j = 0; j < c->Tk; j++) {
            at += test_range(r, 1, step);
            c->k_at[j * c->axes + a] = c->axes > 1 ? test_range(r, 0, most) : at;
        }
        for (int64_t i = 0; i < c->Tq; i++) {
            int64_t j = i + c->Tk - c->Tq;
            c->q_at[i * c->axes + a] = j < 0 ? 0 : c->k_at[j * c->axes + a];
        }
    }
}

/* Says again which keys are hidden, after key_used or a segment has changed. */
static inline void case_keep(attention_case *c)
{
    int64_t rows = c->segmented ? c->Tq : 1;
    if (!c->padded && !c->segmented)
        return;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < c->Tk; j++)
            c->keep[i * c->Tk + j] = (!c->padded || c->key_used[j]) && (!c->segmented || c->q_segment[i] == c->k_segment[j]);
    c->a.mask.keep = pe_view_of(c->keep, PE_BOOL, 1, rows, 1, c->Tk);
}

static inline void case_mask(attention_case *c, unsigned features, uint64_t *r)
{
    int64_t H = c->shape.heads, heads = features & ADDITIVE_ONE ? 1 : H;
    pe_mask *m = &c->a.mask;
    bool one_way = !case_reaches(c->e, c->params, 0, 0, 1); /* keys ahead have no score at all */
    m->causal = features & CAUSAL || one_way;
    m->window = features & WINDOW ? 4 : 0;
    c->key_used = take(c->Tk, 1);
    for (int64_t j = 0; j < c->Tk; j++)
        c->key_used[j] = j != c->Tk / 2;
    c->padded = features & PADDING;
    c->segmented = features & SEGMENTS;
    c->keep = take(c->Tq * c->Tk, 1);
    c->q_segment = take(c->Tq, sizeof(int64_t));
    c->k_segment = take(c->Tk, sizeof(int64_t));
    for (int64_t i = 0; i < c->Tq; i++)
        c->q_segment[i] = i + c->Tk - c->Tq < 2 ? 0 : 1;
    for (int64_t j = 0; j < c->Tk; j++)
        c->k_segment[j] = j < 2 ? 0 : 1;
    case_keep(c);
    if (!(features & (ADDITIVE_HEADS | ADDITIVE_ONE)))
        return;
    c->additive = case_random(c->Tq * heads * c->Tk, 1, r);
    for (int64_t n = 0; n < c->Tq * heads * c->Tk; n++)
        if (test_range(r, 0, 4) == 0)
            c->additive[n] = -INFINITY;
    m->additive = pe_view_of(c->additive, PE_F64, 1, c->Tq, heads, c->Tk);
}

static inline void case_sizes(attention_case *c, unsigned features, int64_t n)
{
    pe_shape s = c->shape;
    c->Tk = n;
    c->Tq = features & FEWER_QUERIES ? n * 2 / 3 : features & MORE_QUERIES ? n + 2 : n;
    if (n < 0) { /* one query */
        c->Tk = -n;
        c->Tq = 1;
    }
    c->Dv = s.head_dim;
    if (features & OTHER_VALUES) {
        double *v = case_doubles(s.heads * (s.head_dim + 3));
        size_t bytes;
        pe_attention a = { .size = sizeof(pe_attention), .out = pe_view_of(v, PE_F64, 1, 0, s.heads, s.head_dim + 3),
                           .q = pe_view_of(v, PE_F64, 1, 0, s.heads, s.head_dim), .k = pe_view_of(v, PE_F64, 1, 0, s.kv_heads, s.head_dim),
                           .v = pe_view_of(v, PE_F64, 1, 0, s.kv_heads, s.head_dim + 3), .q_at = pe_positions_of(NULL, PE_I64, 1, 0, c->axes),
                           .k_at = pe_positions_of(NULL, PE_I64, 1, 0, c->axes) };
        if (pe_encoding_inputs(c->e).gates)
            a.q_gates = a.k_gates = pe_view_of(v, PE_F64, 1, 0, s.heads, 1);
        if (pe_encoding_inputs(c->e).relative)
            a.relative = pe_view_of(v, PE_F64, 1, 0, s.heads, pe_encoding_inputs(c->e).relative);
        if (!pe_reference_work(c->e, &a, &bytes, NULL))
            c->Dv += 3;
    }
}

/* Each position with a fraction that depends on it alone, so that a query stays where its key is; every eighth has none. */
static inline pe_positions case_fractions(const int64_t *at, int64_t tokens, int64_t axes)
{
    double *x = case_doubles(tokens * axes);
    for (int64_t n = 0; n < tokens * axes; n++)
        x[n] = (double)at[n] + (double)(at[n] * 29 % 8) / 8.5;
    return pe_positions_of(x, PE_F64, 1, tokens, axes);
}

static inline void case_between(attention_case *c)
{
    pe_attention a = c->a;
    size_t bytes;
    a.q_at = case_fractions(c->q_at, c->Tq, c->axes);
    a.k_at = case_fractions(c->k_at, c->Tk, c->axes);
    if (!pe_reference_work(c->e, &a, &bytes, NULL))
        c->a = a;
}

/* Takes e, and makes a problem of sizes that are settled: Tq, Tk, Dv. */
static inline attention_case case_made(attention_case c, unsigned features, uint64_t seed)
{
    uint64_t r = seed;
    int64_t H = c.shape.heads, G = c.shape.kv_heads, D = c.shape.head_dim;
    c.w = case_params(c.e, &r);
    c.params = (pe_params){ c.w, PE_F64, pe_encoding_param_count(c.e) };
    case_positions(&c, &r);
    case_mask(&c, features, &r);
    c.q = case_random(c.Tq * H * D, 1, &r);
    c.k = case_random(c.Tk * G * D, 1, &r);
    c.v = case_random(c.Tk * G * c.Dv, 1, &r);
    c.dout = case_random(c.Tq * H * c.Dv, 1, &r);
    c.out = case_doubles(c.Tq * H * c.Dv);
    c.lse = case_doubles(c.Tq * H);
    c.sinks = case_random(H, 1, &r);
    c.a.q = pe_view_of(c.q, PE_F64, 1, c.Tq, H, D);
    c.a.k = pe_view_of(c.k, PE_F64, 1, c.Tk, G, D);
    c.a.v = pe_view_of(c.v, PE_F64, 1, c.Tk, G, c.Dv);
    c.a.out = pe_view_of(c.out, PE_F64, 1, c.Tq, H, c.Dv);
    c.a.lse = pe_view_of(c.lse, PE_F64, 1, c.Tq, H, 1);
    c.a.q_at = pe_positions_of(c.q_at, PE_I64, 1, c.Tq, c.axes);
    c.a.k_at = pe_positions_of(c.k_at, PE_I64, 1, c.Tk, c.axes);
    pe_inputs in = pe_encoding_inputs(c.e);
    c.q_gates = case_random(in.gates ? c.Tq * H : 0, 1, &r);
    c.k_gates = case_random(in.gates ? c.Tk * H : 0, 1, &r);
    c.relative = case_random(c.Tq * H * in.relative, 1, &r);
    if (in.gates) {
        c.a.q_gates = pe_view_of(c.q_gates, PE_F64, 1, c.Tq, H, 1);
        c.a.k_gates = pe_view_of(c.k_gates, PE_F64, 1, c.Tk, H, 1);
    }
    if (in.relative)
        c.a.relative = pe_view_of(c.relative, PE_F64, 1, c.Tq, H, in.relative);
    if (features & SINKS)
        c.a.sinks = (pe_params){ c.sinks, PE_F64, H };
    c.a.soft_cap = features & SOFT_CAP ? 0.75 : 0;
    c.a.scale = features & SCALE ? 0.6 : 0;
    if (features & BETWEEN)
        case_between(&c);
    assert_ok(pe_reference_work(c.e, &c.a, &c.bytes, &err));
    c.work = take((int64_t)c.bytes, 1);
    return c;
}

/* e: what was taken last. */
static inline attention_case case_begun(const char *spec, pe_encoding *e)
{
    return (attention_case){ .spec = spec, .e = e, .shape = pe_encoding_shape(e), .a.size = sizeof(pe_attention),
                             .axes = pe_encoding_axes(e), .Dv = pe_encoding_shape(e).head_dim, .mark = taken() - 1 };
}

static inline attention_case case_sized(const char *spec, unsigned features, uint64_t seed, int64_t n)
{
    attention_case c = case_begun(spec, case_encoding(spec));
    case_sizes(&c, features, n);
    return case_made(c, features, seed);
}

/* Of so many queries and keys. */
static inline attention_case case_of(const char *spec, unsigned features, uint64_t seed, int64_t Tq, int64_t Tk)
{
    attention_case c = case_begun(spec, case_encoding(spec));
    c.Tq = Tq;
    c.Tk = Tk;
    return case_made(c, features, seed);
}

static inline attention_case case_new(const char *spec, unsigned features, uint64_t seed)
{
    return case_sized(spec, features, seed, 6);
}

/* The definition. */
static inline pe_status case_try(attention_case *c)
{
    pe_run run = case_run(c, NULL, c->work, c->bytes);
    return pe_reference_forward(c->e, &c->a, &run, &err);
}

static inline void case_forward(attention_case *c)
{
    if (case_try(c))
        fail_msg("%s: %s", c->spec, err.text);
}

static inline void case_backward(attention_case *c, const pe_attention_grad *g)
{
    pe_run run = case_run(c, NULL, c->work, c->bytes);
    if (pe_reference_backward(c->e, &c->a, g, &run, &err))
        fail_msg("%s: %s", c->spec, err.text);
}

/* Gives back a case and all that was taken after it. */
static inline void case_over(const attention_case *c)
{
    give_back_to(c->mark);
}

static inline double case_dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static inline double case_largest(const double *x, int64_t n)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

#endif
