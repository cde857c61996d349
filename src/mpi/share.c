/* SPDX-License-Identifier: MIT
 *
 * Which tokens of a sequence a rank has, and the problems that attention over all of them is cut into. */
#include "mpi/ring.h"

share share_of(pe_ring_order order, int ranks, int64_t each)
{
    int chunks = order == PE_RING_ZIGZAG ? 2 : 1;
    return (share){ order, ranks, chunks, each * ranks, each, each / chunks };
}

static int64_t chunk_first(const share *s, int rank, int chunk)
{
    if (s->order == PE_RING_STRIPED)
        return rank;
    return (chunk ? 2 * (int64_t)s->ranks - 1 - rank : rank) * s->per;
}

static int64_t chunk_step(const share *s)
{
    return s->order == PE_RING_STRIPED ? s->ranks : 1;
}

int64_t share_token(const share *s, int rank, int64_t i)
{
    return chunk_first(s, rank, (int)(i / s->per)) + i % s->per * chunk_step(s);
}

int64_t pe_ring_token(pe_ring_order order, int64_t tokens, int ranks, int rank, int64_t i)
{
    bool fits = order >= PE_RING_CONTIGUOUS && order <= PE_RING_STRIPED && ranks > 0 && rank >= 0 && rank < ranks &&
                tokens > 0 && tokens % ((int64_t)ranks * (order == PE_RING_ZIGZAG ? 2 : 1)) == 0;
    if (!fits || i < 0 || i >= tokens / ranks)
        return -1;
    share s = share_of(order, ranks, tokens / ranks);
    return share_token(&s, rank, i);
}

/* How many tokens of a chunk stand before this place of the sequence. */
static int64_t chunk_below(const share *s, int rank, int chunk, int64_t place)
{
    int64_t first = chunk_first(s, rank, chunk), step = chunk_step(s);
    int64_t n = place <= first ? 0 : (place - first + step - 1) / step;
    return n < s->per ? n : s->per;
}

/* ------------------------------------------------ sequences */

typedef struct sequence { /* its places */
    int64_t batch, low, high;
} sequence;

static sequence sequence_of(const ring_call *c, int64_t n)
{
    const pe_lengths *l = &c->a.k_lengths;
    if (l->offset)
        return (sequence){ 0, l->offset[n], l->offset[n + 1] };
    int64_t count = l->length ? l->length[n] : c->s.tokens, low = l->padded_left ? c->s.tokens - count : 0;
    return (sequence){ n, low, low + count };
}

bool share_has(const ring_call *c, int64_t batch, int64_t i)
{
    sequence q = sequence_of(c, c->a.k_lengths.offset ? 0 : batch);
    int64_t place = share_token(&c->s, c->t.rank, i);
    return c->a.k_lengths.offset || (place >= q.low && place < q.high);
}

/* Tokens of a sequence in a chunk, counted from the chunk's first. */
static span span_of(const ring_call *c, int rank, int chunk, sequence q)
{
    int64_t first = chunk_below(&c->s, rank, chunk, q.low);
    return (span){ q.batch, first, chunk_below(&c->s, rank, chunk, q.high) - first };
}

/* ------------------------------------------------ units */

pe_view view_cut(pe_view v, span s)
{
    int64_t size = (int64_t)pe_dtype_size(v.dtype);
    if (!v.data)
        return v;
    v.data = (char *)v.data + (s.batch * v.batch_stride + s.first * v.token_stride) * size;
    v.batch = 1;
    v.tokens = s.count;
    return v;
}

/* Of tokens of a chunk, from the positions of the whole sequence. */
static pe_positions positions_cut(const ring_call *c, int rank, int chunk, span s)
{
    pe_positions p = c->a.k_at;
    int64_t place = chunk_first(&c->s, rank, chunk) + s.first * chunk_step(&c->s);
    if (p.data)
        p.data = (const char *)p.data + (s.batch * p.batch_stride + place * p.token_stride) * position_bytes(p);
    p.token_stride *= chunk_step(&c->s);
    p.start += p.step * place;
    p.step *= chunk_step(&c->s);
    p.batch = 1;
    p.tokens = s.count;
    return p;
}

/* By positions that need no memory: no query sees any key. */
static bool hidden(const unit *u, const pe_mask *m)
{
    pe_positions q = u->a.q_at, k = u->a.k_at;
    if (q.data || q.step <= 0)
        return false;
    int64_t q_last = q.start + (q.tokens - 1) * q.step, k_last = k.start + (k.tokens - 1) * k.step;
    return (m->causal && k.start > q_last) ||
           (m->window && !m->first_keys && (q.start - k_last >= m->window || k.start - q_last >= m->window));
}

static unit unit_of(const ring_call *c, span q, int chunk)
{
    span here = { q.batch, q.first + chunk * c->s.per, q.count };
    unit u = { .q = here,
               .row = (here.batch * c->s.each + here.first) * c->shape.heads,
               .rows = here.count * c->shape.heads,
               .a = c->a };
    pe_view *by_query[] = { &u.a.q, &u.a.out, &u.a.lse, &u.a.q_gates, &u.a.relative };
    for (int i = 0; i < 5; i++)
        *by_query[i] = view_cut(*by_query[i], here);
    u.a.q_at = positions_cut(c, c->t.rank, chunk, q);
    u.a.k_lengths = (pe_lengths){ 0 };
    u.a.mask.align = c->a.mask.causal || c->a.mask.window ? PE_ALIGN_POSITION : PE_ALIGN_END;
    return u;
}

static void unit_keys(const ring_call *c, unit *u, int owner, int part, int chunk, span k, const char *kv)
{
    const pe_attention *a = &c->a;
    int64_t tokens = c->parts * c->s.per;
    span there = { k.batch, k.first + (chunk - part) * c->s.per, k.count };
    const char *at = kv ? kv : (const char *)a->k.data, *gates = kv ? kv + c->kv.gates : (const char *)a->k_gates.data;
    pe_view views[] = {
        pe_view_of((void *)(uintptr_t)(at + c->kv.k), a->k.dtype, a->k.batch, tokens, a->k.heads, a->k.dim),
        pe_view_of((void *)(uintptr_t)(kv ? at + c->kv.v : (const char *)a->v.data), a->v.dtype, a->v.batch, tokens,
                   a->v.heads, a->v.dim),
        pe_view_of((void *)(uintptr_t)gates, a->k_gates.dtype, a->k.batch, tokens, c->shape.heads, 1),
    };
    u->k = there;
    u->a.k = view_cut(views[0], there);
    u->a.v = view_cut(views[1], there);
    if (a->k_gates.data)
        u->a.k_gates = view_cut(views[2], there);
    u->a.k_at = positions_cut(c, owner, chunk, k);
    if (c->counts)
        u->a.mask.keys_after = c->s.tokens - k.count;
}

/* The slices of one chunk's queries of one sequence. */
typedef struct keys_of {
    int owner, part, chunk; /* chunk -1: none */
    span k;
    const char *kv;
} keys_of;

static pe_status visit_slices(ring_call *c, int chunk, span q, const keys_of *keys, unit_visit *visit, void *arg,
                              pe_error *err)
{
    for (int64_t at = 0; at < q.count; at += SLICE) {
        int64_t left = q.count - at;
        unit u = unit_of(c, (span){ q.batch, q.first + at, left < SLICE ? left : SLICE }, chunk);
        if (keys->chunk < 0) {
            u.a.k = view_cut(c->a.k, (span){ q.batch, 0, 0 });
            u.a.v = view_cut(c->a.v, (span){ q.batch, 0, 0 });
            u.a.k_gates = view_cut(c->a.k_gates, (span){ q.batch, 0, 0 });
            u.a.k_at = u.a.q_at;
            u.a.k_at.tokens = 0;
        } else {
            unit_keys(c, &u, keys->owner, keys->part, keys->chunk, keys->k, keys->kv);
            u.own = keys->owner == c->t.rank && keys->chunk == chunk;
            if (hidden(&u, &c->a.mask))
                continue;
        }
        TRY(visit(c, &u, arg, err));
        tour_poke(&c->t);
    }
    return PE_OK;
}

pe_status share_units(ring_call *c, int owner, int part, const char *kv, unit_visit *visit, void *arg, pe_error *err)
{
    for (int chunk = part; chunk < part + c->parts; chunk++)
        for (int64_t n = 0; n < c->sequences; n++) {
            keys_of keys = { owner, part, chunk, span_of(c, owner, chunk, sequence_of(c, n)), kv };
            for (int mine = 0; mine < c->s.chunks && keys.k.count; mine++)
                TRY(visit_slices(c, mine, span_of(c, c->t.rank, mine, sequence_of(c, n)), &keys, visit, arg, err));
        }
    return PE_OK;
}

pe_status share_slices(ring_call *c, unit_visit *visit, void *arg, pe_error *err)
{
    for (int64_t n = 0; n < c->sequences; n++)
        for (int mine = 0; mine < c->s.chunks; mine++)
            TRY(visit_slices(c, mine, span_of(c, c->t.rank, mine, sequence_of(c, n)), &(keys_of){ .chunk = -1 }, visit,
                             arg, err));
    return PE_OK;
}
