/* SPDX-License-Identifier: MIT
 *
 * An attention problem in float32, float16 or bfloat16, for fused attention, beside the same numbers in float64 for the
 * definition; its gradients beside those of the definition; and the bounds between the two. */
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

/* Where q, k and v are bfloat16 the rung of that name rounds what it multiplies: weights and gradients of scores, to
 * 2^-9 of themselves, and queries and keys that are rotated, by which a score is off by up to 2^-8 of its terms. Few
 * queries are float32. */
static inline bool case_rounds(const attention_case *c, pe_dtype type, bool backward)
{
    bool few = c->Tq <= 8 || (c->Tq <= 64 && c->Tk >= 2048);
    return type == PE_BF16 && (backward || !few) && !strcmp(pe_encoding_kernels(c->e), "bf16");
}

static inline double case_score_rounding(const attention_case *c)
{
    double scale = c->a.scale != 0 ? c->a.scale : pe_encoding_scale(c->e);
    return pe_encoding_hooks(c->e) & PE_HOOK_ROTATE ? 0x1p-8 * fabs(scale) * (double)c->shape.head_dim / 4 : 0;
}

static const char *const case_combinations[] = {
    "sinusoidal+alibi", "rope+t5", "shaw+alibi:slopes=learned", "cope+rope:magnitude=1.25", "xpos+kerple",
    "deberta:buckets=8,max=32+fire:hidden=8", "transformer-xl+rope:turn=qkvo+alibi", "rope:axes=2,split=axial+window", "cope+shaw",
    "rope+deberta:buckets=8,max=32", "t5+alibi+kerple+fire", "rope:learned=heads", "rope:axes=2,learned=shared,pairs=adjacent",
    "rope+forget", "forget+inkling:distances=9,width=3,floor=2", "rope:temperature=0.1,floor=4+inkling:distances=40,width=3",
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

static void (*case_each_call)(const char *spec);

static inline void case_counted(const char *spec)
{
    case_each_call(spec);
    case_number++;
}

/* Every spec of the registry and the combinations. */
static inline void case_each(void (*f)(const char *spec))
{
    case_number = 0;
    case_each_call = f;
    each_spec(case_counted, case_combinations, COUNT(case_combinations));
}

/* The rungs of this CPU. */
static inline int case_rungs(const char *names[], int room)
{
    int count = 0;
    pe_encoding *e = encoding_of("none", test_shape);
    for (int i = 0; pe_kernels_name(i); i++)
        if (!pe_encoding_set_kernels(e, pe_kernels_name(i), NULL)) {
            assert_true(count < room);
            names[count++] = pe_kernels_name(i);
        }
    return count;
}

/* Rounds x to the type, and returns it in the type. */
static inline void *case_typed(double *x, int64_t n, pe_dtype type)
{
    void *y = take(n, pe_dtype_size(type));
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
    pe_run run = case_run(c, t->pool, NULL, 0);
    t->status = pe_attention_work(c->e, &t->a, &run, &t->bytes, &err);
    if (t->status && t->status != PE_ERR_POSITION)
        fail_msg("%s: %s", c->spec, err.text);
    if (t->status)
        t->bytes = 0;
    t->work = take((int64_t)t->bytes, 1);
    memset(t->work, 0xff, t->bytes); /* NaN: nothing may be read before it is written */
}

static inline twin twin_of(attention_case *c, pe_dtype type, const pe_pool *pool)
{
    int64_t H = c->shape.heads, G = c->shape.kv_heads, D = c->shape.head_dim;
    twin t = { .type = type, .a = c->a, .pool = pool };
    t.q = case_typed(c->q, c->Tq * H * D, type);
    t.k = case_typed(c->k, c->Tk * G * D, type);
    t.v = case_typed(c->v, c->Tk * G * c->Dv, type);
    t.out = take(c->Tq * H * c->Dv, pe_dtype_size(type));
    t.lse = take(c->Tq * H, sizeof(float));
    t.a.q = pe_view_of(t.q, type, 1, c->Tq, H, D);
    t.a.k = pe_view_of(t.k, type, 1, c->Tk, G, D);
    t.a.v = pe_view_of(t.v, type, 1, c->Tk, G, c->Dv);
    t.a.out = pe_view_of(t.out, type, 1, c->Tq, H, c->Dv);
    t.a.lse = pe_view_of(t.lse, PE_F32, 1, c->Tq, H, 1);
    twin_work(c, &t);
    return t;
}

static inline pe_status twin_try(const attention_case *c, twin *t)
{
    pe_run run = twin_run(c, t);
    return pe_attention_forward(c->e, &t->a, &run, &err);
}

static inline void twin_forward(const attention_case *c, twin *t)
{
    if (twin_try(c, t))
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
static inline void fault_judge(fault *f, const attention_case *c, pe_dtype type, int64_t r, int64_t column, double x, double y, double off)
{
    int64_t H = c->shape.heads;
    double unit = case_unit(c, c->lse[r]);
    if (unit > 0 && case_rounds(c, type, false))
        unit += (column < 0 ? 0 : 0x1p-9) + case_score_rounding(c);
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
        fault_judge(&f, c, t->type, r, -1, x, y, case_off(x, y, 0));
        for (int64_t d = 0; d < c->Dv; d++) {
            x = num_load(t->out, t->type, r * c->Dv + d);
            y = c->out[r * c->Dv + d];
            fault_judge(&f, c, t->type, r, d, x, y, case_off(x, y, half_ulp(t->type, fmax(fabs(x), fabs(y)))) / fmax(1, fabs(y)));
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

/* ------------------------------------------------ gradients */

/* The bound. A score's gradient is p (dp - mean): p carries the relative error of its score (case_unit), dp and mean that
 * of a product of Dv terms, and what is made of them sums such terms, most of which cancel. What is off is therefore some
 * units of the largest gradient of the same tensor, or of one term where all of them cancel (a query with one key has no
 * gradient but rounding). Where outputs are float16 or bfloat16 the mean is made with what was rounded: each of Dv
 * products is off by half a unit in the last place, and gradients of a query no longer sum to 0, so that those of
 * parameters, where each is times a distance, are not held to a bound.
 *
 * Each gradient has its own bound, about twice the worst that was measured: 9.3 (queries of cope, positions far apart), 3.9
 * (keys of xpos), 0.7, 1.1 and 1.02 (gates in float16: their gradient is a sum that cancels), 1.2 (vectors of inkling in
 * bfloat16), 0.5, 8.2 (parameters of four biases at once, 150 tokens), 0.3. A unit is some 1e-6 of the largest gradient, or
 * of a term where that is larger: a factor of 1.001 on gradients near 0.1 is some 100 units, a tile that is lost
 * thousands. */
enum { DQ, DK, DV, DQ_GATES, DK_GATES, DRELATIVE, DADDITIVE, DPARAMS, DSINKS, GRADS };
static const char *const grad_names[GRADS] = { "dq", "dk", "dv", "dq_gates", "dk_gates", "drelative", "dadditive", "dparams", "dsinks" };
static const double back_bound[GRADS] = { 19, 8, 1.5, 2, 2, 2, 1, 16, 0.7 };

typedef struct ledger {
    void *at[GRADS], *dout;
    int64_t count[GRADS];
    pe_dtype type[GRADS];
    pe_attention_grad g;
} ledger;

/* What a gradient that is added to starts from; what is written starts as NaN. */
static inline double ledger_start(int n, int64_t i)
{
    return n < DADDITIVE ? NAN : 0.25 * (double)(i % 7 - 3);
}

/* type: of dout, dq, dk, dv; sums: of the rest. */
static inline ledger ledger_of(const attention_case *c, pe_dtype type, pe_dtype sums)
{
    int64_t H = c->shape.heads, G = c->shape.kv_heads, D = c->shape.head_dim, rows = c->a.mask.additive.heads;
    bool additive = c->a.mask.additive.data, gates = c->a.q_gates.data;
    int64_t R = c->a.relative.data ? c->a.relative.dim : 0;
    ledger l = { .g.size = sizeof l.g, .count = { c->Tq * H * D, c->Tk * G * D, c->Tk * G * c->Dv, gates ? c->Tq * H : 0,
                            gates ? c->Tk * H : 0, c->Tq * H * R, additive ? c->Tq * rows * c->Tk : 0, c->params.count,
                            c->a.sinks.data ? H : 0 } };
    l.dout = case_typed(c->dout, c->Tq * H * c->Dv, type);
    for (int n = 0; n < GRADS; n++) {
        l.type[n] = n < DADDITIVE ? type : sums;
        l.at[n] = take(l.count[n], pe_dtype_size(l.type[n]));
        for (int64_t i = 0; i < l.count[n]; i++)
            num_store(l.at[n], l.type[n], i, ledger_start(n, i));
    }
    l.g.dout = pe_view_of(l.dout, type, 1, c->Tq, H, c->Dv);
    l.g.dq = pe_view_of(l.at[DQ], type, 1, c->Tq, H, D);
    l.g.dk = pe_view_of(l.at[DK], type, 1, c->Tk, G, D);
    l.g.dv = pe_view_of(l.at[DV], type, 1, c->Tk, G, c->Dv);
    if (gates) {
        l.g.dq_gates = pe_view_of(l.at[DQ_GATES], type, 1, c->Tq, H, 1);
        l.g.dk_gates = pe_view_of(l.at[DK_GATES], type, 1, c->Tk, H, 1);
    }
    if (R)
        l.g.drelative = pe_view_of(l.at[DRELATIVE], type, 1, c->Tq, H, R);
    if (additive)
        l.g.dadditive = pe_view_of(l.at[DADDITIVE], sums, 1, c->Tq, rows, c->Tk);
    if (l.count[DPARAMS])
        l.g.dparams = (pe_params){ l.at[DPARAMS], sums, l.count[DPARAMS] };
    if (l.count[DSINKS])
        l.g.dsinks = (pe_params){ l.at[DSINKS], sums, H };
    return l;
}

/* What was made, without what it was added to. */
static inline double ledger_get(const ledger *l, int n, int64_t i)
{
    return num_load(l->at[n], l->type[n], i) - (n < DADDITIVE ? 0 : ledger_start(n, i));
}

/* The call, with work memory that ends where it says it does, and full of NaN. */
static inline pe_status twin_backward(const attention_case *c, const twin *t, const pe_attention_grad *g)
{
    enum { CANARY = 4096 };
    size_t bytes;
    pe_run run = case_run(c, t->pool, NULL, 0);
    pe_status status = pe_attention_backward_work(c->e, &t->a, &run, &bytes, &err);
    if (status)
        return status;
    unsigned char *work = take((int64_t)bytes + CANARY, 1);
    memset(work, 0xff, bytes);
    memset(work + bytes, 0x5a, CANARY);
    run = case_run(c, t->pool, work, bytes);
    status = pe_attention_backward(c->e, &t->a, g, &run, &err);
    for (int i = 0; i < CANARY; i++)
        if (work[bytes + (size_t)i] != 0x5a)
            fail_msg("%s: byte %d past the work memory was written", c->spec, i);
    return status;
}

/* ------------------------------------------------ comparing */

/* One unit of error of a score's gradient, as a share of its size; type: of the output, in: of q, k and v. */
static inline double back_unit(const attention_case *c, pe_dtype type, pe_dtype in)
{
    double most = 0;
    for (int64_t r = 0; r < c->Tq * c->shape.heads; r++)
        most = isfinite(c->lse[r]) ? fmax(most, fabs(c->lse[r])) : most;
    double rounding = case_rounds(c, in, true) ? 0x1p-9 + case_score_rounding(c) : 0;
    return case_unit(c, most) + (type == PE_F32 ? 0 : half_ulp(type, 1) / 2) + rounding;
}

/* A term that may cancel: a product of Dv numbers below 1. */
static inline double back_term(const attention_case *c)
{
    return sqrt((double)c->Dv) / 3;
}

/* Elements from .. from + count - 1 of gradient n; finite where the definition is, and only there. */
static inline fault ledger_fault(const attention_case *c, double unit, const ledger *mine, const ledger *right, int n, int64_t from, int64_t count)
{
    fault f = { 0 };
    double most = back_term(c);
    for (int64_t i = from; i < from + count; i++)
        most = isfinite(ledger_get(right, n, i)) ? fmax(most, fabs(ledger_get(right, n, i))) : most;
    for (int64_t i = from; i < from + count; i++) {
        double x = ledger_get(mine, n, i), y = ledger_get(right, n, i);
        if (!isfinite(y) && !isfinite(x))
            continue;
        double off = case_off(x, y, mine->type[n] == PE_F64 ? 0 : half_ulp(mine->type[n], fmax(fabs(x), fabs(y)))) / (unit * most);
        f.most = off > f.most ? off : f.most;
        if (off <= back_bound[n] || f.found)
            continue;
        f.found = true;
        snprintf(f.text, sizeof f.text, "[%" PRId64 "] is %.9g, should be %.9g: off by %.3g units (largest %.3g)", i - from, x, y, off, most);
    }
    return f;
}

static double back_most[GRADS]; /* the worst of each gradient, in units */

static inline double ledger_compare(const attention_case *c, double unit, const ledger *mine, const ledger *right, int n, int64_t from,
                                    int64_t count, const char *name, const char *how)
{
    fault f = ledger_fault(c, unit, mine, right, n, from, count);
    if (f.found)
        fail_msg("%s, %s: %s%s", c->spec, how, name, f.text);
    back_most[n] = fmax(back_most[n], f.most);
    return f.most;
}

/* A count near a whole number takes the slope of the other side where it is off by a rounding: one pair's share of the
 * gradients is another then, as large as it may be. Among many keys there are such pairs: counts of long cases meet a
 * table that is linear, exactly so in float32, and has one slope. (Past its end there is none: few counts are near it.) */
static inline void back_smooth(attention_case *c)
{
    for (int n = 0; pe_encoding_carries(c->e) && c->Tk > 40 && n < pe_encoding_tensor_count(c->e); n++) {
        const pe_tensor *t = pe_encoding_tensor(c->e, n);
        if (strcmp(t->name, "table") != 0 && strcmp(t->name, "cope.table") != 0)
            continue;
        int64_t each = t->count / t->shape[0];
        for (int64_t i = 0; i < t->count; i++) /* whole multiples of 2^-16 */
            c->w[t->offset + i] = ldexp((double)((i % each * 619) % 1024 - 512 + i / each * ((i % each * 389) % 1024 - 512)), -16);
    }
}

static inline double ledger_compare_all(const attention_case *c, pe_dtype out, const ledger *mine, const ledger *right, const char *how)
{
    double worst = 0, unit = back_unit(c, out, mine->type[DQ]);
    for (int n = 0; n < GRADS; n++)
        if (n < DADDITIVE || (n != DPARAMS && out == PE_F32))
            worst = fmax(worst, ledger_compare(c, unit, mine, right, n, 0, mine->count[n], grad_names[n], how));
    for (int n = 0; mine->g.dparams.data && out == PE_F32 && n < pe_encoding_tensor_count(c->e); n++) {
        const pe_tensor *t = pe_encoding_tensor(c->e, n);
        worst = fmax(worst, ledger_compare(c, unit, mine, right, DPARAMS, t->offset, t->count, t->name, how));
    }
    return worst;
}

static inline void ledger_assert_same_bits(const ledger *a, const ledger *b, int without, const char *spec, const char *how)
{
    for (int n = 0; n < GRADS; n++)
        if (n != without && memcmp(a->at[n], b->at[n], (size_t)a->count[n] * pe_dtype_size(a->type[n])) != 0)
            fail_msg("%s, %s: %s has other bits", spec, how, grad_names[n]);
}

#endif
