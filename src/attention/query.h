/* SPDX-License-Identifier: MIT
 *
 * What both attentions share: a call, checked once as a whole, and its sequences, cut out of it one by one. The
 * reference works query by query, all heads at once, in float64: nothing of size n x n exists. */
#ifndef PE_QUERY_H
#define PE_QUERY_H

#include "core/door.h"
#include "core/encoding.h"
#include "core/place.h"
#include "core/pool.h"
#include "core/score.h"
#include "core/rotation.h"

/* A call: the caller's structs, checked. */
typedef struct call {
    const pe_encoding *e;
    pe_run run;
    pe_attention a;
    pe_attention_grad g;  /* backward */
    pe_partial piece;     /* where sums go instead of out and lse; out NULL: they do not */
    const part *rotating; /* the part that rotates, or NULL */
    double scale;
    bool outputs; /* out, lse, scores and probabilities are checked: no sequence has them before */
    int64_t sequences;
    int64_t Tk; /* of the longest view of keys */
} call;

/* Work memory of the reference, cut from the caller's block. Views are float64 and packed. */
typedef struct work {
    pe_view q;                   /* (1, H, D)     the query, rotated                     */
    pe_view k, v;                /* (Tk, Hkv, .)  keys and values, rotated               */
    pe_view score, prob, capped; /* (1, H, Tk)                                          */
    pe_view out;                 /* (1, H, Dv)                                          */
    pe_view dq, dk, dv;          /* gradients of q, k, v                                */
    pe_view dk_sum;              /* (Tk, Hkv, D)  of keys that are rotated per query     */
    pe_view dq_gates, drelative; /* (1, H, 1), (1, H, R) */
    pe_view dk_gates;            /* (Tk, H, 1)                                          */
    pe_view dscore, dprob, dout;
    double *lse, *sink;  /* (H)           log-sum-exp; the sink's probability   */
    uint8_t *seen, *any; /* (H, Tk), (Tk) seen by this head, by some head       */
    size_t bytes;
} work;

/* One sequence of a call: views of its real tokens. */
typedef struct problem {
    const pe_encoding *e;
    pe_params w;
    const pe_pool *pool;
    pe_attention a;
    pe_attention_grad g;
    pe_partial piece;
    int64_t carry_row; /* from one head's carry to the next */
    int64_t Tq, Tk;
    const int32_t *page; /* of its keys and values; NULL: they are not in pages */
    int64_t page_size;
    const uint8_t *used; /* (Tk) 0 hides a key from all; NULL: none is */
    const part *rotating;
    bool recentres; /* keys are rotated again for each query */
    double scale;
    work *m; /* of the reference */
} problem;

/* plan.c: a plan is of this encoding, and the run has its parameters; NULL is fine */
pe_status plan_check(const pe_plan *plan, const pe_encoding *e, pe_run *run, pe_error *err);

/* call.c: checks a whole call, once */
pe_status call_open(call *c, const pe_encoding *e, const pe_attention *a, const pe_run *run, pe_error *err);
pe_status call_outputs(call *c, bool written, pe_error *err); /* out, lse, scores, probabilities */
pe_status call_gradients(call *c, const pe_attention_grad *g, pe_error *err);
pe_status call_work(const call *c, size_t needed, const char *asked, pe_error *err);
pe_status call_apart(const call *c, const region *more, int count, bool params, pe_error *err);
void call_sequence(const call *c, int64_t s, problem *p);
void call_clear_padding(const call *c, int64_t s); /* outputs of tokens that are not there */
void call_clear_padding_back(const call *c, int64_t s);

/* reference.c */
bool problem_sees(const problem *p, int64_t h, int64_t i, int64_t j);

/* Where head h of key or value t begins. */
static inline void *problem_row(const problem *p, pe_view v, int64_t t, int64_t h)
{
    int64_t at = t * v.token_stride;
    if (p->page)
        at = p->page[t / p->page_size] * v.batch_stride + t % p->page_size * v.token_stride;
    return (char *)v.data + dtype_bytes(v.dtype, at + h * v.head_stride);
}

/* How many tokens from t on lie one token_stride after the other. */
static inline int64_t problem_stretch(const problem *p, int64_t t, int64_t n)
{
    int64_t left = p->page ? p->page_size - t % p->page_size : n;
    return left < n ? left : n;
}

static inline bool problem_blocks(pe_view v)
{
    return v.dtype == PE_Q8_0 || v.dtype == PE_Q4_0;
}

/* A row of a mask, which may be one for all heads or queries. */
static inline vec mask_row(pe_view v, int64_t i, int64_t h)
{
    return row_vec(v, v.tokens == 1 ? 0 : i, v.heads == 1 ? 0 : h);
}

static inline double *cell_of(pe_view v, int64_t token, int64_t head)
{
    return (double *)v.data + token * v.token_stride + head * v.head_stride;
}

static inline int64_t kv_head(const problem *p, int64_t h)
{
    return h / (p->e->shape.heads / p->e->shape.kv_heads);
}

#endif
