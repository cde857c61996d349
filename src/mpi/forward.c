/* SPDX-License-Identifier: MIT
 *
 * Attention on a ring: each block of keys and values visits all ranks; what it gives each query is merged with what earlier
 * blocks gave. */
#include "mpi/ring.h"

#include <math.h>
#include <string.h>

#include "base/num.h"

/* ------------------------------------------------ keys and values on their way */

void ring_block(const ring_call *c, int step, bool rising, int *owner, int *part)
{
    int ranks = c->t.ranks, chunk = rising ? step : c->steps - 1 - step; /* of the sequence */
    *part = 0;
    if (!c->counts) {
        *owner = (c->t.rank + ranks - step) % ranks;
        return;
    }
    *owner = chunk < ranks ? chunk : 2 * ranks - 1 - chunk;
    *part = chunk >= ranks;
}

/* Sequences of `tokens` from the view, one after the other without gaps. */
static void pack_view(char *to, pe_view v, int64_t first, int64_t tokens)
{
    size_t size = pe_dtype_size(v.dtype), row = (size_t)v.dim * size;
    for (int64_t b = 0; b < v.batch; b++)
        for (int64_t t = first; t < first + tokens; t++)
            for (int64_t h = 0; h < v.heads; h++, to += row) {
                int64_t at = b * v.batch_stride + t * v.token_stride + h * v.head_stride;
                memcpy(to, (const char *)v.data + at * (int64_t)size, row);
            }
}

/* A block comes from its owner's own memory or from the rank before; this rank's buffers take turns. */
static pe_status fetch_block(ring_call *c, int step, bool rising, pe_error *err)
{
    int owner, part;
    char *to = c->block[step % 2];
    ring_block(c, step, rising, &owner, &part);
    if (owner != c->t.rank)
        return tour_receive(&c->t, KV_IN, TAG_KV, to, c->kv.bytes, c->t.before, err);
    int64_t first = part * c->s.per, tokens = c->parts * c->s.per;
    pack_view(to + c->kv.k, c->a.k, first, tokens);
    pack_view(to + c->kv.v, c->a.v, first, tokens);
    if (c->a.k_gates.data)
        pack_view(to + c->kv.gates, c->a.k_gates, first, tokens);
    return PE_OK;
}

pe_status ring_start(ring_call *c, bool rising, pe_error *err)
{
    TRY(fetch_block(c, 0, rising, err));
    return tour_wait(&c->t, SLOT(KV_IN), err);
}

pe_status ring_step(ring_call *c, int step, bool rising, pe_error *err)
{
    int owner, part;
    ring_block(c, step, rising, &owner, &part);
    if (owner != c->t.next)
        TRY(tour_send(&c->t, KV_OUT, TAG_KV, c->block[step % 2], c->kv.bytes, c->t.next, err));
    return step + 1 < c->steps ? fetch_block(c, step + 1, rising, err) : PE_OK;
}

/* ------------------------------------------------ queries */

static pe_partial partial_at(pe_partial p, int64_t row, int64_t dim)
{
    return (pe_partial){ p.out + row * dim, p.max + row, p.sum + row, NULL };
}

static pe_status forward_unit(ring_call *c, const unit *u, void *arg, pe_error *err)
{
    pe_partial one = c->one;
    (void)arg;
    one.carry = c->counts ? c->carry + u->row : NULL;
    TRY(pe_attention_partial(c->e, &u->a, one, &c->run, err));
    one.carry = NULL;
    return pe_attention_merge(partial_at(c->all, u->row, c->Dv), one, u->rows, c->Dv, err);
}

/* What a rank finds wrong after the ring began is its own: it goes on sending, so that nobody waits, and tells at the
 * end. A message that fails ends the call. */
pe_status ring_forward_pass(ring_call *c, pe_status *own, pe_error *err)
{
    int64_t rows = c->a.q.batch * c->s.each * c->shape.heads;
    memset(c->all.out, 0, (size_t)(rows * c->Dv) * sizeof(float));
    memset(c->all.sum, 0, (size_t)rows * sizeof(float));
    for (int64_t r = 0; r < rows; r++)
        c->all.max[r] = -INFINITY;
    for (int64_t r = 0; c->counts && r < rows; r++)
        c->carry[r] = 0;
    TRY(ring_start(c, false, err));
    for (int step = 0; step < c->steps; step++) {
        int owner, part;
        ring_block(c, step, false, &owner, &part);
        TRY(ring_step(c, step, false, err));
        if (!*own)
            *own = share_units(c, owner, part, c->block[step % 2], forward_unit, NULL, err);
        pe_error waiting;
        pe_status s = tour_wait(&c->t, SLOT(KV_IN) | SLOT(KV_OUT), &waiting);
        if (s)
            return pe_fail(err, s, "%s", waiting.text);
    }
    return PE_OK;
}

/* ------------------------------------------------ the call */

static pe_status finish_unit(ring_call *c, const unit *u, void *arg, pe_error *err)
{
    (void)arg;
    return pe_attention_finish(c->e, &u->a, partial_at(c->all, u->row, c->Dv), &c->run, err);
}

static void clear_token(pe_view v, int64_t b, int64_t t, double x)
{
    for (int64_t h = 0; v.data && h < v.heads; h++)
        for (int64_t d = 0; d < v.dim; d++)
            num_store(v.data, v.dtype, b * v.batch_stride + t * v.token_stride + h * v.head_stride + d, x);
}

/* Outputs of padding. */
static void clear_padding(const ring_call *c)
{
    for (int64_t b = 0; b < c->a.q.batch; b++)
        for (int64_t t = 0; t < c->s.each; t++)
            if (!share_has(c, b, t)) {
                clear_token(c->a.out, b, t, 0);
                clear_token(c->a.lse, b, t, -INFINITY);
            }
}

pe_status pe_ring_attention_forward(const pe_ring *ring, const pe_encoding *e, const pe_attention *a, const pe_run *run,
                                    pe_error *err)
{
    ring_call c;
    pe_status own = ring_open(&c, ring, e, a, NULL, run, err);
    TRY(ring_begin(&c, own, "pe_ring_attention_work", err));
    TRY(ring_forward_pass(&c, &own, err));
    TRY(tour_agree(&c.t, own, 0, err));
    TRY(share_slices(&c, finish_unit, NULL, err));
    clear_padding(&c);
    return pe_pass(err);
}
