/* SPDX-License-Identifier: MIT
 *
 * The reference works query by query, all heads at once, in float64: nothing of size n x n exists. */
#ifndef PE_QUERY_H
#define PE_QUERY_H

#include "core/core.h"

/* Work memory, cut from the caller's block. Views are float64 and packed. */
typedef struct work {
    pe_view q;                   /* (1, H, D)     the query, turned                     */
    pe_view k, v;                /* (Tk, Hkv, .)  keys and values, turned               */
    pe_view score, prob, capped; /* (1, H, Tk)                                          */
    pe_view out;                 /* (1, H, Dv)                                          */
    pe_view dq, dk, dv;          /* gradients of q, k, v                                */
    pe_view dk_sum;              /* (Tk, Hkv, D)  of keys that are turned per query     */
    pe_view dscore, dprob, dout;
    double *lse, *sink;  /* (H)           log-sum-exp; the sink's probability   */
    uint8_t *seen, *any; /* (H, Tk), (Tk) seen by this head, by some head       */
    size_t bytes;
} work;

typedef struct problem {
    const pe_encoding *e;
    pe_params w;
    pe_attention a;    /* strides filled in */
    const part *turns; /* the part that rotates, or NULL */
    bool recentres;    /* keys are turned again for each query */
    double scale;
    work m;
} problem;

pe_status problem_open(problem *p, const pe_encoding *e, pe_params w, const pe_attention *a, void *memory, size_t bytes,
                       pe_error *err);
pe_status problem_size(const pe_encoding *e, const pe_attention *a, size_t *bytes, pe_error *err);
/* What every attention call checks first; fills in strides. */
pe_status problem_check(problem *p, const pe_encoding *e, const pe_attention *a, pe_error *err);
pe_status problem_gradients(problem *p, pe_attention_grad *g, pe_error *err); /* fills in strides */
pe_status problem_outputs(problem *p, pe_error *err); /* out and lse; only forward writes them */
pe_status problem_reach(problem *p, pe_error *err);   /* writes to the work memory: after all other checks */
#define PROBLEM_REGIONS 12
void problem_regions(const problem *p, region s[PROBLEM_REGIONS]);

void query_turn_keys(problem *p, int64_t i); /* i: the query, for encodings that re-centre */
void query_probabilities(problem *p, int64_t i);
void query_tile(const problem *p, int64_t i, pe_tile *t);
int64_t query_shift(const problem *p, int64_t i);
pe_positions query_at(const problem *p, int64_t i);
void query_seen(problem *p, int64_t i);

static inline double *cell_of(pe_view v, int64_t token, int64_t head)
{
    return (double *)v.data + token * v.token_stride + head * v.head_stride;
}

static inline int64_t kv_head(const problem *p, int64_t h)
{
    return h / (p->e->shape.heads / p->e->shape.kv_heads);
}

#endif
