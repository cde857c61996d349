/* SPDX-License-Identifier: MIT
 *
 * Gradients of fused attention beside those of the definition, and the bound between the two. */
#ifndef TESTS_FUSED_BACK_CASE_H
#define TESTS_FUSED_BACK_CASE_H

#include "fused_case.h"

/* The bound. A score's gradient is p (dp - mean): p carries the relative error of its score (case_unit), dp and mean that
 * of a product of Dv terms, and what is made of them sums such terms, most of which cancel. What is off is therefore some
 * units of the largest gradient of the same tensor, or of one term where all of them cancel (a query with one key has no
 * gradient but rounding). Where outputs are float16 or bfloat16 the mean is made with what was rounded: each of Dv
 * products is off by half a unit in the last place, and gradients of a query no longer sum to 0, so that those of
 * parameters, where each is times a distance, are not held to a bound.
 *
 * Each gradient has its own bound, about twice the worst that was measured: 9.3 (queries of cope, positions far apart), 3.9
 * (keys of xpos), 0.7, 0.5 (the three of inputs, tests/test_inputs.c), 0.5, 8.2 (parameters of four biases at once, 150 tokens), 0.3. A unit is some 1e-6 of the largest
 * gradient, or of a term where that is larger: a factor of 1.001 on gradients near 0.1 is some 100 units, a tile that is
 * lost thousands. */
enum { DQ, DK, DV, DQ_GATES, DK_GATES, DRELATIVE, DADDITIVE, DPARAMS, DSINKS, GRADS };
static const char *const grad_names[GRADS] = { "dq", "dk", "dv", "dq_gates", "dk_gates", "drelative", "dadditive", "dparams", "dsinks" };
static const double back_bound[GRADS] = { 19, 8, 1.5, 1, 1, 1, 1, 16, 0.7 };

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
        l.at[n] = case_memory(l.count[n], pe_dtype_size(l.type[n]));
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

static inline void ledger_free(ledger *l)
{
    for (int n = 0; n < GRADS; n++)
        free(l->at[n]);
    free(l->dout);
}

/* What was made, without what it was added to. */
static inline double ledger_get(const ledger *l, int n, int64_t i)
{
    return num_load(l->at[n], l->type[n], i) - (n < DADDITIVE ? 0 : ledger_start(n, i));
}

/* The call, with work memory that ends where it says it does, and full of NaN. */
static inline pe_status twin_backward(const attention_case *c, const twin *t, const pe_attention_grad *g, pe_error *err)
{
    enum { CANARY = 4096 };
    size_t bytes;
    pe_run run = case_run(c, t->pool, NULL, 0);
    pe_status status = pe_attention_backward_work(c->e, &t->a, &run, &bytes, err);
    if (status)
        return status;
    unsigned char *work = case_memory((int64_t)bytes + CANARY, 1);
    memset(work, 0xff, bytes);
    memset(work + bytes, 0x5a, CANARY);
    run = case_run(c, t->pool, work, bytes);
    status = pe_attention_backward(c->e, &t->a, g, &run, err);
    for (int i = 0; i < CANARY; i++)
        if (work[bytes + (size_t)i] != 0x5a)
            fail_msg("%s: byte %d past the work memory was written", c->spec, i);
    free(work);
    return status;
}

/* ------------------------------------------------ comparing */

/* One unit of error of a score's gradient, as a share of its size. */
static inline double back_unit(const attention_case *c, pe_dtype type)
{
    double most = 0;
    for (int64_t r = 0; r < c->Tq * c->shape.heads; r++)
        most = isfinite(c->lse[r]) ? fmax(most, fabs(c->lse[r])) : most;
    return case_unit(c, most) + (type == PE_F32 ? 0 : half_ulp(type, 1) / 2);
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
    double worst = 0, unit = back_unit(c, out);
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
