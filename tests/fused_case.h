/* SPDX-License-Identifier: MIT
 *
 * An attention problem in float32, float16 or bfloat16, for fused attention, beside the same numbers in float64 for the
 * definition; and the bound between the two. */
#ifndef TESTS_FUSED_CASE_H
#define TESTS_FUSED_CASE_H

#include <float.h>

#include "attention_case.h"
#include "base/num.h"

/* The bound. A score that weighs anything lies within a few units of the log-sum-exp. It is a product of D terms, 1/4
 * each here, times the scale, and a sum of float32 terms: it is off by some units of eps (4 + |lse| + scale D / 4).
 * Weights carry this as a relative error, outputs as an error relative to the largest value, which is 1 here. The worst
 * of all cases reaches 1.3; with xpos, whose keys ahead of their queries have larger terms than sums, 3.8. A bias off by
 * 1e-3 is some 300, a key that is lost 30,000. */
static inline double case_bound(const attention_case *c)
{
    return strstr(c->spec, "xpos") ? 8 : 3;
}

static inline double case_unit(const attention_case *c, double lse)
{
    double scale = c->a.scale != 0 ? c->a.scale : pe_encoding_scale(c->e);
    return isinf(lse) ? 0 : (double)FLT_EPSILON * (4 + fabs(lse) + scale * (double)c->shape.head_dim / 4);
}

static const unsigned case_features[] = {
    0, CAUSAL, CAUSAL | WINDOW, WINDOW, PADDING, CAUSAL | SEGMENTS, ADDITIVE_HEADS, ADDITIVE_ONE, SOFT_CAP, CAUSAL | SINKS, SCALE,
    CAUSAL | FEWER_QUERIES, CAUSAL | MORE_QUERIES | SINKS, OTHER_VALUES, SOFT_CAP | SINKS | ADDITIVE_ONE, ALL_AT_ONCE,
};

static const char *const case_combinations[] = {
    "sinusoidal+alibi", "rope+t5", "shaw+alibi:slopes=learned", "cope+rope:magnitude=1.25", "xpos+kerple",
    "deberta:buckets=8,max=32+fire:hidden=8", "transformer-xl+rope:turn=qkvo+alibi", "rope:axes=2,split=axial+window", "cope+shaw",
    "rope+deberta:buckets=8,max=32", "t5+alibi+kerple+fire", "rope:learned=heads", "rope:axes=2,learned=shared,pairs=adjacent",
};

typedef struct twin {
    pe_dtype type;
    void *q, *k, *v, *out;
    float *lse;
    pe_attention a;
    const pe_pool *pool;
    void *work;
    size_t bytes;
    pe_status status; /* of pe_attention_work */
} twin;

static int case_number; /* of the spec in a walk */

/* Every spec of the registry and the combinations. */
static inline void case_each(void (*f)(const char *spec))
{
    case_number = 0;
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; k < pe_info_at(i)->example_count; k++, case_number++)
            f(pe_info_at(i)->examples[k]);
    for (int i = 0; i < COUNT(case_combinations); i++, case_number++)
        f(case_combinations[i]);
}

/* The rungs of this CPU. */
static inline int case_rungs(const char *names[], int room)
{
    int count = 0;
    pe_encoding *e = test_encoding("none", test_shape);
    for (int i = 0; pe_kernels_name(i); i++)
        if (!pe_encoding_set_kernels(e, pe_kernels_name(i), NULL)) {
            assert_true(count < room);
            names[count++] = pe_kernels_name(i);
        }
    pe_encoding_free(e);
    return count;
}

/* Rounds x to the type, and returns it in the type. */
static inline void *case_typed(double *x, int64_t n, pe_dtype type)
{
    void *y = case_memory(n, pe_dtype_size(type));
    for (int64_t i = 0; i < n; i++) {
        num_store(y, type, i, x[i]);
        x[i] = num_load(y, type, i);
    }
    return y;
}

static inline pe_run twin_run(const attention_case *c, const twin *t)
{
    return case_run(c, t->pool, t->work, t->bytes);
}

static inline void twin_work(attention_case *c, twin *t)
{
    pe_error err = { 0 };
    pe_run run = case_run(c, t->pool, NULL, 0);
    free(t->work);
    t->status = pe_attention_work(c->e, &t->a, &run, &t->bytes, &err);
    if (t->status && t->status != PE_ERR_POSITION)
        fail_msg("%s: %s", c->spec, err.text);
    if (t->status)
        t->bytes = 0;
    t->work = case_memory((int64_t)t->bytes, 1);
    memset(t->work, 0xff, t->bytes); /* NaN: nothing may be read before it is written */
}

static inline twin twin_of(attention_case *c, pe_dtype type, const pe_pool *pool)
{
    int64_t H = c->shape.heads, G = c->shape.kv_heads, D = c->shape.head_dim;
    twin t = { .type = type, .a = c->a, .pool = pool };
    t.q = case_typed(c->q, c->Tq * H * D, type);
    t.k = case_typed(c->k, c->Tk * G * D, type);
    t.v = case_typed(c->v, c->Tk * G * c->Dv, type);
    t.out = case_memory(c->Tq * H * c->Dv, pe_dtype_size(type));
    t.lse = case_memory(c->Tq * H, sizeof(float));
    t.a.q = pe_view_of(t.q, type, 1, c->Tq, H, D);
    t.a.k = pe_view_of(t.k, type, 1, c->Tk, G, D);
    t.a.v = pe_view_of(t.v, type, 1, c->Tk, G, c->Dv);
    t.a.out = pe_view_of(t.out, type, 1, c->Tq, H, c->Dv);
    t.a.lse = pe_view_of(t.lse, PE_F32, 1, c->Tq, H, 1);
    twin_work(c, &t);
    return t;
}

static inline void twin_free(twin *t)
{
    free(t->q), free(t->k), free(t->v), free(t->out), free(t->lse), free(t->work);
}

static inline void twin_forward(attention_case *c, twin *t)
{
    pe_error err = { 0 };
    pe_run run = twin_run(c, t);
    if (pe_attention_forward(c->e, &t->a, &run, &err))
        fail_msg("%s: %s", c->spec, err.text);
}

/* Half a unit in the last place of the output's type; 0 for float32, whose rounding is in the bound. */
static inline double half_ulp(pe_dtype type, double y)
{
    int fraction = type == PE_F16 ? 10 : 7, least = type == PE_F16 ? -14 : -126, at = y == 0 ? least : ilogb(y);
    return type == PE_F32 ? 0 : ldexp(0.5, (at > least ? at : least) - fraction);
}

/* How far x is from y, past what storing it may cost; what is no number on one side only is infinitely far. */
static inline double case_off(double x, double y, double stored)
{
    if (!isfinite(x) || !isfinite(y))
        return x == y || (isnan(x) && isnan(y)) ? 0 : INFINITY;
    double off = fabs(x - y) - stored;
    return off > 0 ? off : 0;
}

typedef struct fault {
    bool found;
    char text[240];
    double most; /* the worst error in units of the bound */
} fault;

/* x should be y, within the bound: column -1 of row r is its log-sum-exp. */
static inline void fault_judge(fault *f, const attention_case *c, int64_t r, int64_t column, double x, double y, double off)
{
    int64_t H = c->shape.heads;
    double unit = case_unit(c, c->lse[r]);
    if (unit > 0 && off / unit > f->most)
        f->most = off / unit;
    if (f->found || off <= case_bound(c) * unit)
        return;
    f->found = true;
    snprintf(f->text, sizeof f->text, "%s of query %" PRId64 ", head %" PRId64 ", element %" PRId64 " is %.9g, should be %.9g: off by %.3g units",
             column < 0 ? "lse" : "out", r / H, r % H, column, x, y, off / unit);
}

static inline fault twin_fault(const attention_case *c, const twin *t)
{
    fault f = { 0 };
    for (int64_t r = 0; r < c->Tq * c->shape.heads; r++) {
        double x = t->lse[r], y = c->lse[r];
        fault_judge(&f, c, r, -1, x, y, case_off(x, y, 0));
        for (int64_t d = 0; d < c->Dv; d++) {
            x = num_load(t->out, t->type, r * c->Dv + d);
            y = c->out[r * c->Dv + d];
            fault_judge(&f, c, r, d, x, y, case_off(x, y, half_ulp(t->type, fmax(fabs(x), fabs(y)))) / fmax(1, fabs(y)));
        }
    }
    return f;
}

/* The worst error in units of the bound, after asserting that none is past it. */
static inline double twin_compare(const attention_case *c, const twin *t, const char *how)
{
    fault f = twin_fault(c, t);
    if (f.found)
        fail_msg("%s, %s: %s", c->spec, how, f.text);
    return f.most;
}

#endif
