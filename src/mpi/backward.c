/* SPDX-License-Identifier: MIT
 *
 * Gradients on a ring: a block visits all ranks again, and the sum of what they find for its keys and values goes behind it,
 * each rank adding its own, until it is home. */
#include "mpi/ring.h"

#include <string.h>

#include "base/num.h"

/* Where a rank's own share of a block's gradients goes, and the gradients of its queries. */
typedef struct sums {
    char *to;
} sums;

static pe_view sum_view(const ring_call *c, char *to, int64_t at, pe_dtype type, int64_t heads, int64_t dim)
{
    return pe_view_of(to + at, type, c->a.q.batch, c->parts * c->s.per, heads, dim);
}

/* The count before these keys is that of all keys less theirs and those before: found anew, as memory for each block's
 * would grow with the number of ranks. */
static pe_status count_before(ring_call *c, const unit *u, pe_error *err)
{
    double *total = c->carry + u->row;
    pe_partial one = c->one;
    memset(c->carry_before, 0, (size_t)u->rows * sizeof(double));
    one.carry = c->carry_before;
    TRY(pe_attention_partial(c->e, &u->a, one, &c->run, err));
    for (int64_t r = 0; r < u->rows; r++) {
        total[r] -= c->carry_before[r];
        total[r] = total[r] < 0 ? 0 : total[r]; /* of rounding */
        c->carry_before[r] = total[r];
    }
    return PE_OK;
}

static pe_status backward_unit(ring_call *c, const unit *u, void *arg, pe_error *err)
{
    const sums *s = arg;
    const pe_attention_grad *given = &c->g;
    int64_t params = pe_encoding_param_count(c->e);
    pe_attention_grad g = PE_MAKE(pe_attention_grad, .piece = true, .accumulate = true);
    g.dout = view_cut(given->dout, u->q);
    g.dq = view_cut(given->dq, u->q);
    g.dq_gates = view_cut(given->dq_gates, u->q);
    g.drelative = view_cut(given->drelative, u->q);
    g.dk = view_cut(sum_view(c, s->to, c->dkv.k, PE_F32, c->shape.kv_heads, c->shape.head_dim), u->k);
    g.dv = view_cut(sum_view(c, s->to, c->dkv.v, PE_F32, c->shape.kv_heads, c->Dv), u->k);
    if (c->a.k_gates.data)
        g.dk_gates = view_cut(sum_view(c, s->to, c->dkv.gates, PE_F64, c->shape.heads, 1), u->k);
    if (given->dparams.data)
        g.dparams = (pe_params){ c->params, PE_F64, params };
    if (given->dsinks.data && u->own)
        g.dsinks = (pe_params){ c->params + params, PE_F64, c->shape.heads };
    if (c->counts) {
        TRY(count_before(c, u, err));
        g.carry = c->carry_before;
        g.dcarry = c->dcarry + u->row;
    }
    return pe_attention_backward(c->e, &u->a, &g, &c->run, err);
}

/* to += from, of a block. */
static void add_block(const ring_call *c, char *to, const char *from)
{
    float *x = (float *)(void *)to;
    const float *y = (const float *)(const void *)from;
    for (int64_t i = 0; i < c->dkv.gates / 4; i++)
        x[i] = y[i] + x[i];
    double *gate = (double *)(void *)(to + c->dkv.gates);
    const double *more = (const double *)(const void *)(from + c->dkv.gates);
    for (int64_t i = 0; i < (c->dkv.bytes - c->dkv.gates) / 8; i++)
        gate[i] = more[i] + gate[i];
}

/* One block's visit. Of its P ranks the owner keeps what it finds; the one after it begins the sum, the others add to what
 * arrives, and the last sends it home. */
static pe_status visit_block(ring_call *c, int step, pe_status *own, pe_error *err)
{
    int owner, part, slot = step % 2 ? SUM_OUT_2 : SUM_OUT;
    tour *t = &c->t;
    ring_block(c, step, true, &owner, &part);
    int passed = (t->rank - owner + t->ranks) % t->ranks;
    sums s = { passed ? c->sum[step % 2] : c->home + part * c->dkv.bytes };
    TRY(ring_step(c, step, true, err));
    if (passed > 1)
        TRY(tour_receive(t, SUM_IN, TAG_SUM, c->arriving, c->dkv.bytes, t->before, err));
    if (passed)
        memset(s.to, 0, (size_t)c->dkv.bytes);
    if (!*own)
        *own = share_units(c, owner, part, c->block[step % 2], backward_unit, &s, err);
    pe_error waiting; /* err has what this rank found */
    pe_status failed = tour_wait(t, SLOT(SUM_IN), &waiting);
    if (!failed && passed > 1)
        add_block(c, s.to, c->arriving);
    if (!failed && passed)
        failed = tour_send(t, slot, passed == t->ranks - 1 ? TAG_HOME : TAG_SUM, s.to, c->dkv.bytes, t->next, &waiting);
    if (!failed)
        failed = tour_wait(t, SLOT(KV_IN) | SLOT(KV_OUT) | SLOT(SUM_OUT + SUM_OUT_2 - slot), &waiting);
    return failed ? pe_fail(err, failed, "%s", waiting.text) : PE_OK;
}

static pe_status backward_pass(ring_call *c, pe_status *own, pe_error *err)
{
    int blocks = c->s.chunks / c->parts;
    for (int n = 0; n < blocks && c->t.ranks > 1; n++) /* in the order in which they come home */
        TRY(tour_receive(&c->t, HOME + n, TAG_HOME, c->homing + n * c->dkv.bytes, c->dkv.bytes, c->t.before, err));
    TRY(ring_start(c, true, err));
    for (int step = 0; step < c->steps; step++)
        TRY(visit_block(c, step, own, err));
    pe_error waiting;
    pe_status s = tour_wait(&c->t, SLOT(HOME) | SLOT(HOME_2) | SLOT(SUM_OUT) | SLOT(SUM_OUT_2), &waiting);
    if (s)
        return pe_fail(err, s, "%s", waiting.text);
    for (int n = 0; n < blocks && c->t.ranks > 1; n++)
        add_block(c, c->home + n * c->dkv.bytes, c->homing + n * c->dkv.bytes);
    return PE_OK;
}

/* ------------------------------------------------ the call */

static void clear_view(pe_view v)
{
    for (int64_t b = 0; v.data && b < v.batch; b++)
        for (int64_t t = 0; t < v.tokens; t++)
            for (int64_t h = 0; h < v.heads; h++)
                memset((char *)v.data +
                           (b * v.batch_stride + t * v.token_stride + h * v.head_stride) * (int64_t)pe_dtype_size(v.dtype),
                       0, (size_t)v.dim * pe_dtype_size(v.dtype));
}

/* A share of gradients, from blocks of float32 or float64, to the caller's view. */
static void unpack_view(const ring_call *c, pe_view v, int64_t at, pe_dtype type)
{
    int64_t tokens = c->parts * c->s.per;
    for (int64_t b = 0; v.data && b < v.batch; b++)
        for (int64_t t = 0; t < v.tokens; t++)
            for (int64_t h = 0; h < v.heads; h++) {
                const char *from = c->home + t / tokens * c->dkv.bytes + at;
                int64_t y = ((b * tokens + t % tokens) * v.heads + h) * v.dim;
                int64_t x = b * v.batch_stride + t * v.token_stride + h * v.head_stride;
                for (int64_t d = 0; d < v.dim; d++) {
                    double sum = num_load(from, type, y + d);
                    num_store(v.data, v.dtype, x + d, c->g.accumulate ? num_load(v.data, v.dtype, x + d) + sum : sum);
                }
            }
}

static pe_status sum_params(ring_call *c, pe_error *err)
{
    int64_t params = c->g.dparams.data ? c->g.dparams.count : 0, sinks = c->g.dsinks.data ? c->g.dsinks.count : 0;
    double *first = c->params + (params ? 0 : pe_encoding_param_count(c->e));
    if (params && sinks)
        first = c->params; /* sinks follow */
    TRY(tour_sum(&c->t, first, c->params_other, params + sinks, err));
    for (int64_t i = 0; i < params; i++)
        num_add(c->g.dparams.data, c->g.dparams.dtype, i, first[i]);
    for (int64_t i = 0; i < sinks; i++)
        num_add(c->g.dsinks.data, c->g.dsinks.dtype, i, first[params + i]);
    return PE_OK;
}

pe_status pe_ring_attention_backward(const pe_ring *ring, const pe_encoding *e, const pe_attention *a,
                                     const pe_attention_grad *g, const pe_run *run, pe_error *err)
{
    ring_call c;
    pe_status own = ring_open(&c, ring, e, a, g, run, err);
    if (!own) /* the others are told */
        own = check_pointer(g, 1, "the gradient", err);
    TRY(ring_begin(&c, own, "pe_ring_attention_backward_work", err));
    int64_t rows = c.a.q.batch * c.s.each * c.shape.heads;
    memset(c.params, 0, (size_t)(pe_encoding_param_count(e) + c.shape.heads) * sizeof(double));
    memset(c.home, 0, (size_t)(c.dkv.bytes * (c.s.chunks / c.parts)));
    if (!c.g.accumulate)
        clear_view(c.g.dq), clear_view(c.g.dq_gates), clear_view(c.g.drelative);
    if (c.counts) {
        memset(c.dcarry, 0, (size_t)rows * sizeof(double));
        TRY(ring_forward_pass(&c, &own, err));
    }
    TRY(backward_pass(&c, &own, err));
    TRY(tour_agree(&c.t, own, 0, err));
    unpack_view(&c, c.g.dk, c.dkv.k, PE_F32);
    unpack_view(&c, c.g.dv, c.dkv.v, PE_F32);
    unpack_view(&c, c.g.dk_gates, c.dkv.gates, PE_F64);
    TRY(sum_params(&c, err));
    return pe_pass(err);
}
