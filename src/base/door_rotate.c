/* SPDX-License-Identifier: MIT */
#include "base/door.h"

#include <inttypes.h>

#include "base/checked.h"

pe_status check_side(pe_side side, pe_side last, pe_error *err)
{
    if ((int)side >= PE_QUERY && side <= last)
        return PE_OK;
    return pe_fail(err, PE_ERR_RANGE, "side is %d; needs %s", (int)side,
                   last == PE_KEY ? "PE_QUERY or PE_KEY" : "PE_QUERY, PE_KEY, PE_VALUE or PE_OUTPUT");
}

/* ---------------------------------------------------------------- q and k */

pe_status qk_open(qk_side sides[2], const pe_rotation *r, bool alike, const char *spec, bool *one_table, pe_error *err)
{
    sides[0] = (qk_side){ "q", "q_out", "q_table", PE_QUERY, r->q, r->q_out, r->q_table };
    sides[1] = (qk_side){ "k", "k_out", "k_table", PE_KEY, r->k, r->k_out, r->k_table };
    *one_table = r->q_table.cosine.data && !r->k_table.cosine.data && !r->k_table.sine.data && !r->k_table.row;
    if (*one_table && r->k.data && !alike)
        return pe_fail(err, PE_ERR_UNSUITED, "%s rotates q and k by different angles; give k_table too", spec);
    if (*one_table)
        sides[1].table = r->q_table;
    return PE_OK;
}

pe_status qk_check_side(qk_side *s, int64_t head_dim, const dtypes *types, pe_error *err)
{
    if (!s->x.data) {
        s->x = s->y = (pe_view){ 0 };
        s->table = (pe_table){ .row = NULL };
        return PE_OK;
    }
    TRY(check_typed(&s->x, s->name, (extent){ -1, -1, -1, head_dim }, types, READS, err));
    if (!s->y.data)
        s->y = s->x;
    TRY(check_typed(&s->y, s->out_name, (extent){ s->x.batch, s->x.tokens, s->x.heads, s->x.dim }, types, WRITES, err));
    if ((s->x.dtype == PE_F64) != (s->y.dtype == PE_F64))
        return pe_fail(err, PE_ERR_DTYPE, "%s and %s must both be PE_F64, or neither", s->name, s->out_name);
    return PE_OK;
}

pe_status qk_check_table(qk_side *s, int64_t heads, int64_t pairs, const dtypes *types, pe_error *err)
{
    pe_view *c = &s->table.cosine, *sine = &s->table.sine;
    pe_dtype wanted = s->x.dtype == PE_F64 ? PE_F64 : PE_F32;
    if (!c->data && !sine->data && !s->table.row)
        return PE_OK;
    if (pairs < 0)
        return pe_fail(err, PE_ERR_UNSUITED, "%s: this encoding does not rotate; it takes no table", s->table_name);
    if (!c->data && !sine->data)
        return pe_fail(err, PE_ERR_NULL, "%s: it has rows and no table; needs cosine and sine too, or none",
                       s->table_name);
    if (!c->data || !sine->data)
        return pe_fail(err, PE_ERR_NULL, "%s: it has %s; needs both, or none", s->table_name,
                       c->data ? "a cosine and no sine" : "a sine and no cosine");
    extent size = { c->batch == 1 ? 1 : s->x.batch, s->table.row ? -1 : s->x.tokens, heads, pairs };
    TRY(check_typed(c, s->table_name, size, types, READS, err));
    size.tokens = c->tokens;
    TRY(check_typed(sine, s->table_name, size, types, READS, err));
    if (c->dtype != wanted || sine->dtype != wanted)
        return pe_fail(err, PE_ERR_DTYPE, "%s: a table for %s needs %s", s->table_name, s->name,
                       wanted == PE_F64 ? "PE_F64, as the vectors have" : "PE_F32");
    return PE_OK;
}

static bool in_place(const qk_side *s)
{
    return s->y.data == s->x.data && s->y.dtype == s->x.dtype && s->y.batch_stride == s->x.batch_stride &&
           s->y.token_stride == s->x.token_stride && s->y.head_stride == s->x.head_stride;
}

/* What there is of one side that is only read: for one token an empty region costs as much as a full one. */
static int add_read(region *to, const qk_side *s)
{
    int n = 0;
    if (s->x.data && !in_place(s))
        to[n++] = view_region(s->name, s->x, READS);
    if (s->table.cosine.data) {
        to[n++] = view_region(s->table_name, s->table.cosine, READS);
        to[n++] = view_region(s->table_name, s->table.sine, READS);
        to[n++] = array_region(s->table_name, s->table.row, s->x.batch * s->x.tokens, sizeof(int64_t), READS);
    }
    return n;
}

pe_status qk_check_apart(const qk_side sides[2], pe_positions at, region params, pe_error *err)
{
    region s[12];
    int n = 0, outs;
    for (int i = 0; i < 2; i++)
        if (sides[i].y.data)
            s[n++] = view_region(sides[i].out_name, sides[i].y, WRITES);
    outs = n;
    for (int i = 0; i < 2; i++)
        n += add_read(s + n, &sides[i]);
    if (at.data)
        s[n++] = positions_region("positions", at);
    if (params.width)
        s[n++] = params;
    for (int out = 0; out < outs; out++)
        for (int i = out + 1; i < n; i++)
            if (regions_overlap(&s[out], &s[i])) {
                bool own = s[i].name == sides[s[out].name == sides[0].out_name ? 0 : 1].name;
                TRY(check_memory((region[]){ s[out], s[i] }, 2, own, err));
            }
    return PE_OK;
}

/* ---------------------------------------------------------------- caches */

pe_status check_cache(pe_view *k, int64_t head_dim, const char *spec, const dtypes *types, const pe_pages *pages,
                      pe_positions at, int64_t *batch, int64_t *tokens, pe_error *err)
{
    if (head_dim >= 0 && k->dim != head_dim)
        return pe_fail(err, PE_ERR_SHAPE, "the cache: dim is %" PRId64 "; needs %" PRId64 ", the head_dim of %.80s",
                       k->dim, head_dim, spec);
    TRY(check_typed(k, "the cache", (extent){ -1, -1, -1, -1 }, types, WRITES, err));
    *batch = pages ? at.batch : k->batch;
    *tokens = pages ? at.tokens : k->tokens;
    if (*batch < 0 || *tokens < 0)
        return pe_fail(err, PE_ERR_SHAPE, "positions: batch is %" PRId64 " and tokens %" PRId64 "; need 0 or more",
                       at.batch, at.tokens);
    return PE_OK;
}

pe_status check_page_table(const pe_pages *p, pe_view k, int64_t batch, int64_t tokens, pe_error *err)
{
    int64_t bytes;
    CHECK_POINTER(int32_t, p->table, "pages.table");
    if (p->columns < 0 || !checked_mul(&bytes, batch, p->columns) || !checked_mul(&bytes, bytes, sizeof(int32_t)))
        return pe_fail(err, PE_ERR_SHAPE, "pages: columns is %" PRId64 "; needs 0 or more", p->columns);
    if (k.tokens < 1)
        return pe_fail(err, PE_ERR_SHAPE, "pages: a page has %" PRId64 " tokens; needs 1 or more", k.tokens);
    if (tokens > 0 && (tokens - 1) / k.tokens >= p->columns)
        return pe_fail(err, PE_ERR_SHAPE,
                       "pages: %" PRId64 " tokens need %" PRId64 " pages of %" PRId64 "; columns is %" PRId64, tokens,
                       (tokens - 1) / k.tokens + 1, k.tokens, p->columns);
    return PE_OK;
}
