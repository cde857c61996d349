/* SPDX-License-Identifier: MIT
 *
 * Caches: pe_cache_shift and pe_cache_rebase. Both rotate keys that are rotated already by the difference of two
 * rotations, in the elements that the rotation wrote; here they are checked and made into one kind of move. */
#include "core/cache.h"
#include "core/rotation.h"

#include <inttypes.h>

pe_status check_pages(const pe_pages *p, pe_view k, int64_t batch, int64_t tokens, const int64_t *length, pe_error *err)
{
    int64_t entries;
    CHECK_POINTER(int32_t, p->table, "pages.table");
    if (p->columns < 0 || !checked_mul(&entries, batch, p->columns))
        return pe_fail(err, PE_ERR_SHAPE, "pages: columns is %" PRId64 "; needs 0 or more", p->columns);
    if (k.tokens < 1)
        return pe_fail(err, PE_ERR_SHAPE, "pages: a page has %" PRId64 " tokens; needs 1 or more", k.tokens);
    if (tokens > 0 && (tokens - 1) / k.tokens >= p->columns)
        return pe_fail(err, PE_ERR_SHAPE,
                       "pages: %" PRId64 " tokens need %" PRId64 " pages of %" PRId64 "; columns is %" PRId64, tokens,
                       (tokens - 1) / k.tokens + 1, k.tokens, p->columns);
    for (int64_t b = 0; b < batch; b++) {
        int64_t used = length ? length[b] : tokens, pages = used > 0 ? (used - 1) / k.tokens + 1 : 0;
        for (int64_t n = 0; n < pages; n++)
            if (p->table[b * p->columns + n] < 0 || p->table[b * p->columns + n] >= k.batch)
                return pe_fail(err, PE_ERR_RANGE,
                               "pages: entry %" PRId64 " of sequence %" PRId64 " is %d; there are %" PRId64 " pages", n,
                               b, (int)p->table[b * p->columns + n], k.batch);
    }
    return PE_OK;
}

static pe_status open_cache(move *m, const pe_encoding *e, pe_view k, const pe_pages *pages, pe_positions at,
                            pe_error *err)
{
    if (pages)
        CHECK_POINTER(pe_pages, pages, "pages");
    if (rotating_part(e, PE_KEY) && k.dim != e->shape.head_dim)
        return pe_fail(err, PE_ERR_SHAPE, "the cache: dim is %" PRId64 "; needs %" PRId64 ", the head_dim of %.80s",
                       k.dim, e->shape.head_dim, e->text);
    TRY(check_typed(&k, "the cache", (extent){ -1, -1, -1, -1 }, TYPES_CACHE, WRITES, err));
    m->k = k;
    m->blocks = k.dtype == PE_Q8_0 || k.dtype == PE_Q4_0;
    m->batch = pages ? at.batch : k.batch;
    m->tokens = pages ? at.tokens : k.tokens;
    if (pages)
        m->pages = *pages;
    if (m->batch < 0 || m->tokens < 0)
        return pe_fail(err, PE_ERR_SHAPE, "positions: batch is %" PRId64 " and tokens %" PRId64 "; need 0 or more",
                       at.batch, at.tokens);
    return pages ? check_pages(pages, k, m->batch, m->tokens, NULL, err) : PE_OK;
}

static region table_region(const move *m)
{
    return array_region("pages.table", m->pages.table, m->pages.table ? m->batch * m->pages.columns : 0,
                        sizeof(int32_t), READS);
}

/* How far ln of a factor may go: both ends are served, but from one to the other it may still overflow. */
static pe_status check_decay(const move *m, pe_error *err)
{
    double most = m->k.dtype == PE_F64 ? 600 : 80;
    if (!m->to->decay && !m->from->decay)
        return PE_OK;
    for (int64_t r = 0; r < m->batch * m->tokens; r++) {
        int64_t to[PE_AXES_MAX], from[PE_AXES_MAX], t = r % m->tokens;
        position(positions_at(m->to_at, r / m->tokens), t, to);
        position(positions_at(m->from_at, r / m->tokens), t, from);
        for (int64_t n = 0; n < m->to->pairs; n++)
            if (fabs(move_decay(m, to[0], from[0], n)) > most)
                return pe_fail(err, PE_ERR_POSITION,
                               "token %" PRId64 ": from position %" PRId64 " to %" PRId64
                               " its key would be multiplied by e^%s; needs e^-%s to e^%s: shift it in smaller steps",
                               t, from[0], to[0], text_show(move_decay(m, to[0], from[0], n)).text,
                               text_show(most).text, text_show(most).text);
    }
    return PE_OK;
}

/* What the two rotations have in common, so that their difference is steps times one frequency, if that is so. */
static void settle_move(move *m)
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

static pe_status cache_rotate_keys(move *m, const pe_pool *pool, pe_error *err)
{
    pe_dtype type = m->blocks ? PE_F16 : m->k.dtype; /* the scale of a block */
    TRY(check_rotation(m->from, PE_KEY, type, m->from_at, err));
    TRY(check_rotation(m->to, PE_KEY, type, m->to_at, err));
    TRY(check_decay(m, err));
    if (!m->to->pairs || !m->k.heads || !m->tokens)
        return pe_pass(err);
    settle_move(m);
    cache_rotate(m, pool);
    return pe_pass(err);
}

pe_status pe_cache_shift(const pe_encoding *e, pe_view k, const pe_pages *pages, pe_positions from, pe_positions to,
                         const pe_run *given, pe_error *err)
{
    pe_run run;
    move m = { .magnitude = 1 };
    CHECK_POINTER(pe_encoding, e, "the encoding");
    TRY(check_run(&run, given, err));
    TRY(open_cache(&m, e, k, pages, from, err));
    TRY(check_positions(&from, "the positions from", m.batch, m.tokens, e->axes, err));
    TRY(check_positions(&to, "the positions to", m.batch, m.tokens, e->axes, err));
    CHECK_MEMORY(false, view_region("the cache", m.k, WRITES), positions_region("the positions from", from),
                 positions_region("the positions to", to), table_region(&m),
                 trained_region(rotating_part(e, PE_KEY), run.params),
                 array_region("the pool", run.pool, 1, sizeof(pe_pool), READS));
    const part *p = rotating_part(e, PE_KEY);
    if (!p)
        return pe_pass(err);
    TRY(check_trained(e, p, run.params, k.heads, err));
    m.kernels = &e->kernels;
    m.w = run.params;
    m.to = m.from = p;
    m.to_at = to;
    m.from_at = from;
    return cache_rotate_keys(&m, run.pool, err);
}

/* Both rotate the same pairs of elements, or neither rotates any. */
static pe_status check_same_pairs(const pe_encoding *to, const pe_encoding *from, pe_error *err)
{
    const part *a = rotating_part(to, PE_KEY), *b = rotating_part(from, PE_KEY);
    if (!a != !b)
        return pe_fail(err, PE_ERR_UNSUITED, "%.80s rotates and %.80s does not; rotate these keys with pe_%srotate",
                       (a ? to : from)->text, (a ? from : to)->text, a ? "" : "un");
    if (!a)
        return PE_OK;
    if (to->shape.head_dim != from->shape.head_dim || a->pairs != b->pairs)
        return pe_fail(err, PE_ERR_UNSUITED,
                       "%.80s rotates %" PRId64 " pairs of %" PRId64 " elements, %.80s %" PRId64 " of %" PRId64
                       "; both must rotate the same elements",
                       to->text, a->pairs, to->shape.head_dim, from->text, b->pairs, from->shape.head_dim);
    for (int64_t n = 0; n < a->pairs; n++) {
        lane x = a->to[n], y = b->to[n], x_in = a->from[n], y_in = b->from[n];
        if (x.x != y.x || x.y != y.y || x_in.x != y_in.x || x_in.y != y_in.y)
            return pe_fail(err, PE_ERR_UNSUITED,
                           "pair %" PRId64 " of %.60s rotates elements %" PRId64 " and %" PRId64 " into %" PRId64
                           " and %" PRId64 ", of %.60s %" PRId64 " and %" PRId64 " into %" PRId64 " and %" PRId64
                           "; both must rotate the same elements",
                           n, to->text, x_in.x, x_in.y, x.x, x.y, from->text, y_in.x, y_in.y, y.x, y.y);
    }
    return PE_OK;
}

pe_status pe_cache_rebase(const pe_encoding *to, const pe_encoding *from, pe_view k, const pe_pages *pages,
                          pe_positions at, const pe_run *given, pe_error *err)
{
    pe_run run;
    move m = { .magnitude = 1 };
    CHECK_POINTER(pe_encoding, to, "the encoding to");
    CHECK_POINTER(pe_encoding, from, "the encoding from");
    TRY(check_run(&run, given, err));
    if (to->axes != from->axes)
        return pe_fail(err, PE_ERR_UNSUITED, "%.80s has %" PRId64 " axes and %.80s %" PRId64 "; both need the same",
                       to->text, to->axes, from->text, from->axes);
    TRY(check_same_pairs(to, from, err));
    TRY(open_cache(&m, to, k, pages, at, err));
    TRY(check_positions(&at, "positions", m.batch, m.tokens, to->axes, err));
    CHECK_MEMORY(false, view_region("the cache", m.k, WRITES), positions_region("positions", at), table_region(&m),
                 array_region("the pool", run.pool, 1, sizeof(pe_pool), READS));
    m.to = rotating_part(to, PE_KEY);
    m.from = rotating_part(from, PE_KEY);
    if (!m.to)
        return pe_pass(err);
    if (m.to->trained || m.from->trained)
        return pe_fail(err, PE_ERR_UNSUITED,
                       "frequencies that are trained have no other encoding's to go to; use pe_unrotate and pe_rotate");
    m.kernels = &to->kernels;
    m.to_at = m.from_at = at;
    m.magnitude = pe_encoding_magnitude(to) / pe_encoding_magnitude(from);
    return cache_rotate_keys(&m, run.pool, err);
}
