/* SPDX-License-Identifier: MIT
 *
 * Caches: pe_cache_shift and pe_cache_rebase. Both turn keys that are turned already by the difference of two turns, in
 * the elements that the turn wrote; here they are checked and made into one kind of move. */
#include "core/cache.h"

#include <inttypes.h>

#include "kernels/block.h"

/* A cache of blocks becomes a view of its 16-bit units, so that one door serves all. */
static pe_status open_blocks(pe_cache *cache, pe_error *err)
{
    pe_view *k = &cache->k;
    int64_t units = block_bytes(cache->block) / 2, strides[] = { k->token_stride, k->head_stride };
    if (k->dim < 0 || k->dim % BLOCK_WIDTH)
        return pe_fail(err, PE_ERR_SHAPE, "the cache: dim is %" PRId64 "; blocks need a multiple of %d", k->dim,
                       BLOCK_WIDTH);
    for (int i = 0; i < 2; i++)
        if (strides[i] > 0 && !checked_mul(&strides[i], strides[i], units))
            return pe_fail(err, PE_ERR_OVERFLOW,
                           "the cache: strides are %" PRId64 " and %" PRId64 " blocks; their bytes do not fit 64 bits",
                           k->token_stride, k->head_stride);
    if (!checked_mul(&k->dim, k->dim / BLOCK_WIDTH, units))
        return pe_fail(err, PE_ERR_OVERFLOW, "the cache: the bytes of a row do not fit 64 bits");
    k->dtype = PE_F16;
    k->token_stride = strides[0];
    k->head_stride = strides[1];
    return PE_OK;
}

static pe_status open_cache(pe_cache *cache, const pe_encoding *e, pe_error *err)
{
    if ((int)cache->block < PE_BLOCK_NONE || cache->block >= PE_BLOCK_COUNT)
        return pe_fail(err, PE_ERR_RANGE, "block is %d; needs PE_BLOCK_NONE, PE_BLOCK_Q8_0 or PE_BLOCK_Q4_0",
                       (int)cache->block);
    if (turning(e, PE_KEY) && cache->k.dim != e->shape.head_dim)
        return pe_fail(err, PE_ERR_SHAPE, "the cache: dim is %" PRId64 "; needs %" PRId64 ", the head_dim of %.80s",
                       cache->k.dim, e->shape.head_dim, e->text);
    if (cache->block)
        TRY(open_blocks(cache, err));
    TRY(check_view(&cache->k, "the cache", -1, -1, -1, WRITES, err));
    return check_pool(cache->pool, err);
}

/* How far ln of a factor may go: both ends are served, but from one to the other it may still overflow. */
static pe_status check_decay(const move *m, pe_error *err)
{
    double most = m->k.dtype == PE_F64 ? 600 : 80;
    if (!m->to->decay && !m->from->decay)
        return PE_OK;
    for (int64_t t = 0; t < m->k.tokens; t++) {
        int64_t to[PE_AXES_MAX], from[PE_AXES_MAX];
        position(m->to_at, t, to);
        position(m->from_at, t, from);
        for (int64_t n = 0; n < m->to->pairs; n++)
            if (fabs(move_decay(m, to[0], from[0], n)) > most)
                return pe_fail(err, PE_ERR_POSITION,
                               "token %" PRId64 ": from position %" PRId64 " to %" PRId64
                               " its key would be multiplied by e^%s; needs e^-%s to e^%s: turn it in smaller steps",
                               t, from[0], to[0], text_show(move_decay(m, to[0], from[0], n)).text,
                               text_show(most).text, text_show(most).text);
    }
    return PE_OK;
}

/* What the two turns have in common, so that their difference is steps times one frequency, if that is so. */
static void settle(move *m)
{
    m->exact = m->to->exact && m->from->exact;
    m->first = m->to->shape.head_dim;
    for (int64_t n = 0; n < m->to->pairs; n++) {
        const pair *a = &m->to->pair[n], *b = &m->from->pair[n];
        lane at = m->to->to[n];
        int64_t low = at.x < at.y ? at.x : at.y, high = at.x + at.y - low;
        m->first = low < m->first ? low : m->first;
        m->last = high + 1 > m->last ? high + 1 : m->last;
        m->exact = m->exact && a->axis == b->axis && a->multiplier == b->multiplier && a->shift == b->shift;
        wide f = m->to == m->from ? a->frequency : wide_sub(a->frequency, b->frequency);
        for (int i = 0; i < 3; i++)
            m->frequency[i][n] = f.part[i];
    }
}

static pe_status run(move *m, pe_cache cache, pe_error *err)
{
    m->k = cache.k;
    m->block = cache.block;
    TRY(check_turning(m->from, PE_KEY, m->k.dtype, m->from_at, err));
    TRY(check_turning(m->to, PE_KEY, m->k.dtype, m->to_at, err));
    TRY(check_decay(m, err));
    if (!m->to->pairs || !m->k.heads)
        return pe_pass(err);
    settle(m);
    cache_turn(m, cache.pool);
    return pe_pass(err);
}

pe_status pe_cache_shift(const pe_encoding *e, pe_cache cache, pe_positions from, pe_positions to, pe_error *err)
{
    CHECK_POINTER(pe_encoding, e, "the encoding");
    TRY(open_cache(&cache, e, err));
    TRY(check_positions(&from, "the positions from", cache.k.tokens, e->axes, err));
    TRY(check_positions(&to, "the positions to", cache.k.tokens, e->axes, err));
    CHECK_MEMORY(false, view_region("the cache", cache.k, WRITES), positions_region("the positions from", from),
                 positions_region("the positions to", to),
                 array_region("the pool", cache.pool, 1, sizeof(pe_pool), READS));
    const part *p = turning(e, PE_KEY);
    if (!p)
        return pe_pass(err);
    move m = { .kernels = &e->kernels, .to = p, .from = p, .to_at = to, .from_at = from, .magnitude = 1 };
    return run(&m, cache, err);
}

/* Both turn the same pairs of elements, or neither turns any. */
static pe_status check_same_pairs(const pe_encoding *to, const pe_encoding *from, pe_error *err)
{
    const part *a = turning(to, PE_KEY), *b = turning(from, PE_KEY);
    if (!a != !b)
        return pe_fail(err, PE_ERR_UNSUITED,
                       "%.80s rotates and %.80s does not; turn these keys with pe_encoding_%srotate",
                       (a ? to : from)->text, (a ? from : to)->text, a ? "" : "un");
    if (!a)
        return PE_OK;
    if (to->shape.head_dim != from->shape.head_dim || a->pairs != b->pairs)
        return pe_fail(err, PE_ERR_UNSUITED,
                       "%.80s turns %" PRId64 " pairs of %" PRId64 " elements, %.80s %" PRId64 " of %" PRId64
                       "; both must turn the same elements",
                       to->text, a->pairs, to->shape.head_dim, from->text, b->pairs, from->shape.head_dim);
    for (int64_t n = 0; n < a->pairs; n++) {
        lane x = a->to[n], y = b->to[n], x_in = a->from[n], y_in = b->from[n];
        if (x.x != y.x || x.y != y.y || x_in.x != y_in.x || x_in.y != y_in.y)
            return pe_fail(err, PE_ERR_UNSUITED,
                           "pair %" PRId64 " of %.60s turns elements %" PRId64 " and %" PRId64 " into %" PRId64
                           " and %" PRId64 ", of %.60s %" PRId64 " and %" PRId64 " into %" PRId64 " and %" PRId64
                           "; both must turn the same elements",
                           n, to->text, x_in.x, x_in.y, x.x, x.y, from->text, y_in.x, y_in.y, y.x, y.y);
    }
    return PE_OK;
}

pe_status pe_cache_rebase(const pe_encoding *to, const pe_encoding *from, pe_cache cache, pe_positions at,
                          pe_error *err)
{
    CHECK_POINTER(pe_encoding, to, "the encoding to");
    CHECK_POINTER(pe_encoding, from, "the encoding from");
    if (to->axes != from->axes)
        return pe_fail(err, PE_ERR_UNSUITED, "%.80s has %" PRId64 " axes and %.80s %" PRId64 "; both need the same",
                       to->text, to->axes, from->text, from->axes);
    TRY(check_same_pairs(to, from, err));
    TRY(open_cache(&cache, to, err));
    TRY(check_positions(&at, "positions", cache.k.tokens, to->axes, err));
    CHECK_MEMORY(false, view_region("the cache", cache.k, WRITES), positions_region("positions", at),
                 array_region("the pool", cache.pool, 1, sizeof(pe_pool), READS));
    const part *a = turning(to, PE_KEY), *b = turning(from, PE_KEY);
    if (!a)
        return pe_pass(err);
    move m = { .kernels = &to->kernels,
               .to = a,
               .from = b,
               .to_at = at,
               .from_at = at,
               .magnitude = pe_encoding_magnitude(to) / pe_encoding_magnitude(from) };
    return run(&m, cache, err);
}
