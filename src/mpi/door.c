/* SPDX-License-Identifier: MIT
 *
 * What a call on a ring checks before it sends anything, the sizes of its messages, and its work memory. */
#include "mpi/ring.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"

/* ------------------------------------------------ checks */

static pe_status check_refused(const pe_attention *a, const pe_attention_grad *g, pe_error *err)
{
    const struct {
        const char *name;
        bool given;
        const char *instead;
    } refused[] = {
        { "mask.keep", a->mask.keep.data, "k_lengths, which say what is padding" },
        { "mask.additive", a->mask.additive.data, "an encoding with a bias" },
        { "mask.keys_before", a->mask.keys_before || a->mask.keys_after, "nothing there: the ring has all keys" },
        { "pages.table", a->pages.table, "keys and values as sequences" },
        { "scores or probabilities", a->scores.data || a->probabilities.data, "a small problem on one process" },
        { "q_at", a->q_at.data || a->q_at.tokens, "k_at alone, which has the positions of queries too" },
        { "q_lengths", a->q_lengths.length || a->q_lengths.offset, "k_lengths alone, which are those of queries too" },
        { "dadditive", g && g->dadditive.data, "nothing there: there is no such mask" },
        { "piece, carry or dcarry", g && (g->piece || g->carry || g->dcarry), "nothing there: the ring has all keys" },
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].given)
            return pe_fail(err, PE_ERR_UNSUITED, "%s is given; a ring needs %s", refused[i].name, refused[i].instead);
    return PE_OK;
}

/* Every view is a share of as many tokens; sums over ranks have more digits than float16. */
static pe_status check_views(const pe_attention *a, const pe_attention_grad *g, pe_error *err)
{
    static const pe_attention_grad none;
    const pe_attention_grad *d = g ? g : &none;
    const struct {
        const char *name;
        const pe_view *v;
        bool sum;
    } views[] = { { "q", &a->q, false },           { "k", &a->k, false },
                  { "v", &a->v, false },           { "out", &a->out, false },
                  { "lse", &a->lse, false },       { "q_gates", &a->q_gates, false },
                  { "k_gates", &a->k_gates, false }, { "relative", &a->relative, false },
                  { "dout", &d->dout, false },     { "dq", &d->dq, true },
                  { "dk", &d->dk, true },          { "dv", &d->dv, true },
                  { "dq_gates", &d->dq_gates, true }, { "dk_gates", &d->dk_gates, true },
                  { "drelative", &d->drelative, true } };
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        const pe_view *v = views[i].v;
        if (!v->data)
            continue;
        if (v->batch != a->q.batch || v->tokens != a->q.tokens)
            return pe_fail(err, PE_ERR_SHAPE,
                           "%s has %" PRId64 " sequences of %" PRId64 " tokens; a share needs those of q, %" PRId64
                           " and %" PRId64,
                           views[i].name, v->batch, v->tokens, a->q.batch, a->q.tokens);
        if (!pe_dtype_size(v->dtype))
            return pe_fail(err, PE_ERR_DTYPE, "%s lies in blocks; needs float32, float16 or bfloat16", views[i].name);
        if (views[i].sum && v->dtype != PE_F32 && v->dtype != PE_F64)
            return pe_fail(err, PE_ERR_DTYPE, "%s has too few digits for a sum over ranks; needs float32 or float64",
                           views[i].name);
    }
    return PE_OK;
}

static pe_status check_gradient(const ring_call *c, pe_error *err)
{
    const struct {
        const char *name;
        pe_params is;
        int64_t count;
    } sums[] = { { "dparams", c->g.dparams, pe_encoding_param_count(c->e) },
                 { "dsinks", c->g.dsinks, c->a.sinks.data ? c->shape.heads : 0 } };
    for (int i = 0; i < 2; i++) {
        const pe_params *p = &sums[i].is;
        if (p->data && (p->count != sums[i].count || (p->dtype != PE_F32 && p->dtype != PE_F64)))
            return pe_fail(err, PE_ERR_SHAPE,
                           "%s has %" PRId64 " numbers; needs %" PRId64 ", and float32 or float64 for a sum over ranks",
                           sums[i].name, p->count, sums[i].count);
    }
    return PE_OK;
}

/* All tokens as one call would have them, none of which is read but positions and lengths: what the library checks, reach
 * of tables and all, is checked here, on every rank. */
static pe_status check_whole(const ring_call *c, pe_error *err)
{
    pe_attention whole = c->a;
    size_t bytes;
    pe_view *shares[] = { &whole.q, &whole.k, &whole.v, &whole.q_gates, &whole.k_gates, &whole.relative };
    for (int i = 0; i < 6; i++) {
        shares[i]->tokens = shares[i]->data ? c->s.tokens : 0;
        shares[i]->token_stride = 0;
    }
    whole.out = whole.lse = (pe_view){ 0 };
    whole.q_at = c->a.k_at;
    whole.q_lengths = c->a.k_lengths;
    whole.mask.align = c->a.mask.causal || c->a.mask.window ? PE_ALIGN_POSITION : PE_ALIGN_END;
    return (c->back ? pe_attention_backward_work : pe_attention_work)(c->e, &whole, &c->run, &bytes, err);
}

static pe_status check_positions_ring(ring_call *c, pe_error *err)
{
    pe_positions *at = &c->a.k_at;
    const pe_mask *m = &c->a.mask;
    if (!at->data && !at->tokens) {
        *at = pe_positions_run(c->a.q.batch, c->s.tokens, 0);
        at->axes = pe_encoding_axes(c->e);
    }
    TRY(check_positions_outside(at, "k_at", c->a.q.batch, c->s.tokens, pe_encoding_axes(c->e), err));
    bool odd = at->data || at->step != 1 || (m->first_keys && at->start);
    if ((m->causal || m->window) && odd && m->align != PE_ALIGN_POSITION)
        return pe_fail(err, PE_ERR_UNSUITED,
                       "mask: on a ring causal and window go by position, and positions are not 0, 1, 2, ...; needs "
                       "PE_ALIGN_POSITION");
    return PE_OK;
}

static pe_status check_order(const ring_call *c, int order, pe_error *err)
{
    int parts = order == PE_RING_ZIGZAG ? 2 : 1;
    if (order < PE_RING_CONTIGUOUS || order > PE_RING_STRIPED)
        return pe_fail(err, PE_ERR_RANGE, "ring.order is %d; needs PE_RING_CONTIGUOUS, PE_RING_ZIGZAG or PE_RING_STRIPED",
                       order);
    if (c->a.q.tokens < parts || c->a.q.tokens % parts || c->a.q.tokens > PE_POSITION_MAX / c->t.ranks)
        return pe_fail(err, PE_ERR_SHAPE,
                       "q has %" PRId64 " tokens; a share needs %s: pad the sequence, and say so in k_lengths",
                       c->a.q.tokens, parts == 2 ? "an even number in the zigzag order" : "one or more");
    if (c->counts && order == PE_RING_STRIPED && c->t.ranks > 1)
        return pe_fail(err, PE_ERR_UNSUITED,
                       "%s counts keys from right to left, and in the striped order no rank has keys that follow each "
                       "other; needs PE_RING_ZIGZAG or PE_RING_CONTIGUOUS",
                       pe_encoding_spec(c->e));
    return PE_OK;
}

/* ------------------------------------------------ sizes */

static pe_status block_sizes(ring_call *c, pe_error *err)
{
    const pe_attention *a = &c->a;
    int64_t tokens, k, v, gates, rows;
    bool fit = checked_mul(&rows, a->q.batch * a->q.tokens, c->shape.heads * (c->Dv + 1)) && rows < INT64_MAX / 64 &&
               checked_mul(&tokens, a->q.batch, c->parts * c->s.per) &&
               checked_mul(&k, tokens, c->shape.kv_heads * c->shape.head_dim) &&
               checked_mul(&v, tokens, c->shape.kv_heads * c->Dv) && checked_mul(&gates, tokens, c->shape.heads) &&
               k < INT64_MAX / 64 && v < INT64_MAX / 64 && gates < INT64_MAX / 64;
    if (!fit)
        return pe_fail(err, PE_ERR_OVERFLOW, "keys of %" PRId64 " tokens do not fit 64-bit sizes", a->q.tokens);
    gates = a->k_gates.data ? gates : 0;
    int64_t k_bytes = (k * (int64_t)pe_dtype_size(a->k.dtype) + 7) / 8 * 8,
            v_bytes = (v * (int64_t)pe_dtype_size(a->v.dtype) + 7) / 8 * 8,
            gate_bytes = (gates * (int64_t)pe_dtype_size(a->k_gates.dtype) + 7) / 8 * 8;
    c->kv = (block){ 0, k_bytes, k_bytes + v_bytes, k_bytes + v_bytes + gate_bytes };
    k_bytes = (k * 4 + 7) / 8 * 8;
    v_bytes = (v * 4 + 7) / 8 * 8;
    c->dkv = (block){ 0, k_bytes, k_bytes + v_bytes, k_bytes + v_bytes + gates * 8 };
    return PE_OK;
}

/* What all ranks must have alike. */
static uint64_t problem_hash(const ring_call *c)
{
    const pe_attention *a = &c->a;
    const pe_mask *m = &a->mask;
    double numbers[2] = { a->soft_cap, a->scale };
    int64_t bits[2];
    memcpy(bits, numbers, sizeof bits);
    const int64_t said[] = { (int64_t)pe_encoding_fingerprint(c->e), c->back, c->s.order, a->q.batch, a->q.tokens,
                             a->q.dtype, a->k.dtype, a->v.dtype, c->Dv, a->k_gates.dtype, m->causal, m->window,
                             m->first_keys, a->k_at.data != NULL, a->k_at.start, a->k_at.step, a->rotated, bits[0],
                             bits[1], c->sequences, a->k_lengths.padded_left, a->sinks.data != NULL,
                             c->run.params.dtype, c->back && c->g.dparams.data, c->back && c->g.dsinks.data };
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        h = (h ^ (uint64_t)said[i]) * 1099511628211u, h ^= h >> 29;
    const int64_t *lengths = a->k_lengths.offset ? a->k_lengths.offset + 1 : a->k_lengths.length;
    for (int64_t n = 0; lengths && n < c->sequences; n++)
        h = (h ^ (uint64_t)lengths[n]) * 1099511628211u, h ^= h >> 29;
    return h;
}

/* ------------------------------------------------ work memory */

static void *ring_take(ring_call *c, int64_t count, size_t size)
{
    size_t at = (c->bytes + 63) / 64 * 64;
    c->bytes = at + (size_t)count * size;
    return c->run.work ? (char *)c->run.work + at : NULL;
}

static pe_partial take_partial(ring_call *c, int64_t rows)
{
    pe_partial p;
    p.out = ring_take(c, rows * c->Dv, sizeof(float));
    p.max = ring_take(c, rows, sizeof(float));
    p.sum = ring_take(c, rows, sizeof(float));
    p.carry = NULL;
    return p;
}

static void cut_work(ring_call *c)
{
    int64_t slice = c->s.per < SLICE ? c->s.per : SLICE, rows = c->a.q.batch * c->s.each * c->shape.heads;
    int64_t count = c->counts ? rows : 0, blocks = c->parts ? c->s.chunks / c->parts : 0;
    c->bytes = 0;
    for (int i = 0; i < 2; i++)
        c->block[i] = ring_take(c, c->kv.bytes, 1);
    if (!c->back || c->counts) {
        c->all = take_partial(c, rows);
        c->one = take_partial(c, slice * c->shape.heads);
        c->carry = ring_take(c, count, sizeof(double));
    }
    if (c->back) {
        int64_t params = pe_encoding_param_count(c->e) + c->shape.heads;
        for (int i = 0; i < 2; i++)
            c->sum[i] = ring_take(c, c->dkv.bytes, 1);
        c->arriving = ring_take(c, c->dkv.bytes, 1);
        c->home = ring_take(c, c->dkv.bytes * blocks, 1);
        c->homing = ring_take(c, c->dkv.bytes * blocks, 1);
        c->carry_before = ring_take(c, c->counts ? slice * c->shape.heads : 0, sizeof(double));
        c->dcarry = ring_take(c, count, sizeof(double));
        c->params = ring_take(c, params, sizeof(double));
        c->params_other = ring_take(c, params, sizeof(double));
    }
    c->unit = ring_take(c, (int64_t)c->unit_bytes, 1);
}

static pe_status measure_unit(ring_call *c, const unit *u, void *arg, pe_error *err)
{
    size_t bytes;
    (void)arg;
    if (c->back)
        TRY(pe_attention_backward_work(c->e, &u->a, &c->run, &bytes, err));
    if (c->back && bytes > c->unit_bytes)
        c->unit_bytes = bytes;
    if (!c->back || c->counts)
        TRY(pe_attention_work(c->e, &u->a, &c->run, &bytes, err));
    if (bytes > c->unit_bytes)
        c->unit_bytes = bytes;
    return PE_OK;
}

pe_status ring_open(ring_call *c, const pe_ring *ring, const pe_encoding *e, const pe_attention *a,
                    const pe_attention_grad *g, const pe_run *run, pe_error *err)
{
    pe_ring with;
    *c = (ring_call){ .e = e, .back = g != NULL };
    CHECK_STRUCT(pe_ring, &with, ring, "the ring");
    TRY(tour_open(&c->t, &with, err));
    TRY(check_pointer(e, 1, "the encoding", err));
    CHECK_STRUCT(pe_attention, &c->a, a, "the attention problem");
    if (g)
        CHECK_STRUCT(pe_attention_grad, &c->g, g, "the gradient");
    if (run)
        CHECK_STRUCT(pe_run, &c->run, run, "run");
    c->run.size = sizeof c->run;
    c->a.size = sizeof c->a;
    c->g.size = sizeof c->g;
    c->shape = pe_encoding_shape(e);
    c->counts = pe_encoding_carries(e);
    c->Dv = c->a.v.dim;
    TRY(check_refused(&c->a, g ? &c->g : NULL, err));
    TRY(check_views(&c->a, g ? &c->g : NULL, err));
    TRY(check_order(c, (int)with.order, err));
    c->s = share_of(with.order, c->t.ranks, c->a.q.tokens);
    c->parts = c->counts ? 1 : c->s.chunks;
    c->steps = c->t.ranks * c->s.chunks / c->parts;
    c->sequences = c->a.k_lengths.offset ? c->a.k_lengths.sequences : c->a.q.batch;
    TRY(check_positions_ring(c, err));
    TRY(check_whole(c, err));
    if (g)
        TRY(check_gradient(c, err));
    return block_sizes(c, err);
}

static pe_status ring_size(ring_call *c, pe_error *err)
{
    pe_run given = c->run;
    c->run.work = NULL;
    for (int owner = 0; owner < c->t.ranks; owner++)
        for (int part = 0; part < c->s.chunks; part += c->parts)
            TRY(share_units(c, owner, part, NULL, measure_unit, NULL, err));
    cut_work(c);
    c->run = given;
    return PE_OK;
}

pe_status ring_begin(ring_call *c, pe_status opened, const char *asked, pe_error *err)
{
    pe_status own = opened;
    if (!own)
        own = ring_size(c, err);
    if (!own)
        own = check_work(&c->run, c->bytes, "", asked, err);
    if (c->t.ranks) /* there is a ring that can be told */
        TRY(tour_agree(&c->t, own, own ? 0 : problem_hash(c), err));
    TRY(own);
    cut_work(c);
    c->run.work = c->unit;
    c->run.work_bytes = c->unit_bytes;
    return PE_OK;
}

static pe_status work_of(const pe_ring *ring, const pe_encoding *e, const pe_attention *a, const pe_attention_grad *g,
                         const pe_run *run, size_t *bytes, pe_error *err)
{
    ring_call c;
    CHECK_POINTER(size_t, bytes, "bytes");
    TRY(ring_open(&c, ring, e, a, g, run, err));
    TRY(ring_size(&c, err));
    *bytes = c.bytes;
    return pe_pass(err);
}

pe_status pe_ring_attention_work(const pe_ring *ring, const pe_encoding *e, const pe_attention *a, const pe_run *run,
                                 size_t *bytes, pe_error *err)
{
    return work_of(ring, e, a, NULL, run, bytes, err);
}

pe_status pe_ring_attention_backward_work(const pe_ring *ring, const pe_encoding *e, const pe_attention *a,
                                          const pe_attention_grad *g, const pe_run *run, size_t *bytes, pe_error *err)
{
    TRY(check_pointer(g, 1, "the gradient", err));
    return work_of(ring, e, a, g, run, bytes, err);
}

pe_status pe_ring_attention_bytes(const pe_ring *ring, const pe_encoding *e, const pe_attention *a,
                                  const pe_attention_grad *g, int64_t *bytes, pe_error *err)
{
    ring_call c;
    CHECK_POINTER(int64_t, bytes, "bytes");
    TRY(ring_open(&c, ring, e, a, g, NULL, err));
    int64_t blocks = (int64_t)(c.t.ranks - 1) * (c.s.chunks / c.parts);
    *bytes = blocks * c.kv.bytes;
    if (g)
        *bytes = blocks * (c.kv.bytes * (c.counts ? 2 : 1) + c.dkv.bytes) +
                 tour_sum_bytes(c.t.rank, c.t.ranks,
                                (c.g.dparams.data ? c.g.dparams.count : 0) + (c.g.dsinks.data ? c.g.dsinks.count : 0));
    return pe_pass(err);
}
