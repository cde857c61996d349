/* SPDX-License-Identifier: MIT
 *
 * q and k in one call, with tables from a cache or made on the fly. */
#include "core/rotation.h"

#include <inttypes.h>

/* One of the two, as the call gave it. */
typedef struct half {
    const char *name, *out_name, *table_name;
    pe_side side;
    pe_view x, y;
    pe_table table;
} half;

/* Whether queries and keys rotate by the same numbers. */
static bool sides_alike(const part *p)
{
    return !p->decay && !p->gains;
}

static pe_status check_rows(const half *s, int64_t rows, pe_error *err)
{
    if (!s->table.row || !s->x.tokens)
        return PE_OK;
    CHECK_POINTER(int64_t, s->table.row, s->table_name);
    for (int64_t t = 0; t < s->x.batch * s->x.tokens; t++)
        if (s->table.row[t] < 0 || s->table.row[t] >= rows)
            return pe_fail(err, PE_ERR_RANGE,
                           "%s: row of token %" PRId64 " is %" PRId64 "; the table has %" PRId64 " rows", s->table_name,
                           t, s->table.row[t], rows);
    return PE_OK;
}

static pe_status check_table(const part *p, half *s, pe_error *err)
{
    pe_view *c = &s->table.cosine, *sine = &s->table.sine;
    pe_dtype wanted = s->x.dtype == PE_F64 ? PE_F64 : PE_F32;
    if (!c->data && !sine->data && !s->table.row)
        return PE_OK;
    if (!p)
        return pe_fail(err, PE_ERR_UNSUITED, "%s: this encoding does not rotate; it takes no table", s->table_name);
    if (!c->data && !sine->data)
        return pe_fail(err, PE_ERR_NULL, "%s: it has rows and no table; needs cosine and sine too, or none",
                       s->table_name);
    if (!c->data || !sine->data)
        return pe_fail(err, PE_ERR_NULL, "%s: it has %s; needs both, or none", s->table_name,
                       c->data ? "a cosine and no sine" : "a sine and no cosine");
    int64_t batch = c->batch == 1 ? 1 : s->x.batch;
    TRY(check_view(c, s->table_name, (extent){ batch, s->table.row ? -1 : s->x.tokens, trained_heads(p), p->pairs },
                   READS, err));
    TRY(check_view(sine, s->table_name, (extent){ batch, c->tokens, trained_heads(p), p->pairs }, READS, err));
    if (c->dtype != wanted || sine->dtype != wanted)
        return pe_fail(err, PE_ERR_DTYPE, "%s: a table for %s needs %s", s->table_name, s->name,
                       wanted == PE_F64 ? "PE_F64, as the vectors have" : "PE_F32");
    return check_rows(s, c->tokens, err);
}

static pe_status check_half(const pe_encoding *e, const part *p, half *s, pe_positions *at, pe_error *err)
{
    if (!s->x.data) {
        s->x = s->y = (pe_view){ 0 };
        s->table = (pe_table){ .row = NULL };
        return PE_OK;
    }
    TRY(check_view(&s->x, s->name, (extent){ -1, -1, -1, p ? e->shape.head_dim : -1 }, READS, err));
    if (!s->y.data)
        s->y = s->x;
    TRY(check_view(&s->y, s->out_name, (extent){ s->x.batch, s->x.tokens, s->x.heads, s->x.dim }, WRITES, err));
    if ((s->x.dtype == PE_F64) != (s->y.dtype == PE_F64))
        return pe_fail(err, PE_ERR_DTYPE, "%s and %s must both be PE_F64, or neither", s->name, s->out_name);
    TRY(check_positions_real(at, "positions", s->x.batch, s->x.tokens, e->axes, rotates_between(p), err));
    TRY(check_rotation(p, s->side, s->y.dtype, *at, err));
    return check_table(p, s, err);
}

static bool in_place(const half *s)
{
    return s->y.data == s->x.data && s->y.dtype == s->x.dtype && s->y.batch_stride == s->x.batch_stride &&
           s->y.token_stride == s->x.token_stride && s->y.head_stride == s->x.head_stride;
}

/* What there is of one side that is only read: for one token an empty region costs as much as a full one. */
static int add_read(region *to, const half *s)
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

/* An output may be its own input and nothing else. */
static pe_status check_apart(const half *q, const half *k, pe_positions at, region params, pe_error *err)
{
    region s[12];
    int n = 0, outs;
    if (q->y.data)
        s[n++] = view_region(q->out_name, q->y, WRITES);
    if (k->y.data)
        s[n++] = view_region(k->out_name, k->y, WRITES);
    outs = n;
    n += add_read(s + n, q);
    n += add_read(s + n, k);
    if (at.data)
        s[n++] = positions_region("positions", at);
    if (params.width)
        s[n++] = params;
    for (int out = 0; out < outs; out++)
        for (int i = out + 1; i < n; i++)
            if (regions_overlap(&s[out], &s[i])) {
                bool own = s[i].name == (s[out].name == q->out_name ? q->name : k->name);
                TRY(check_memory((region[]){ s[out], s[i] }, 2, own, err));
            }
    return PE_OK;
}

static void rotate_both(const pe_encoding *e, const part *p, const half *sides, bool shared, pe_positions at,
                        const pe_run *run)
{
    rotation_job jobs[2];
    int count = 0;
    for (int i = 0; i < 2; i++) {
        const half *s = &sides[i];
        if (s->x.batch && s->x.tokens && s->x.heads && s->x.dim)
            jobs[count++] = (rotation_job){ &e->kernels, p, s->side, { false, false }, s->y, s->x, at, run->params,
                                            0,           0, 0,       s->table };
    }
    rotate_tokens(jobs, count, shared && count == 2, run->pool);
}

pe_status pe_rotate_qk(const pe_encoding *e, const pe_rotation *given, const pe_run *with, pe_error *err)
{
    pe_rotation both;
    const pe_rotation *r = &both;
    pe_run run;
    CHECK_POINTER(pe_encoding, e, "the encoding");
    CHECK_STRUCT(pe_rotation, &both, given, "the rotation");
    TRY(check_run(&run, with, err));
    const part *p = rotating_part(e, PE_QUERY);
    pe_positions at = r->at;
    half sides[2] = { { "q", "q_out", "q_table", PE_QUERY, r->q, r->q_out, r->q_table },
                      { "k", "k_out", "k_table", PE_KEY, r->k, r->k_out, r->k_table } };
    bool one_table = r->q_table.cosine.data && !r->k_table.cosine.data && !r->k_table.sine.data && !r->k_table.row;
    if (one_table && p && r->k.data && !sides_alike(p))
        return pe_fail(err, PE_ERR_UNSUITED, "%s rotates q and k by different angles; give k_table too", e->text);
    if (one_table)
        sides[1].table = r->q_table;
    TRY(check_half(e, p, &sides[0], &at, err));
    TRY(check_half(e, p, &sides[1], &at, err));
    for (int i = 0; i < 2; i++)
        if (sides[i].x.data)
            TRY(check_trained(e, p, run.params, sides[i].x.heads, err));
    TRY(check_apart(&sides[0], &sides[1], at, trained_region(p, run.params), err));
    if (!p)
        for (int i = 0; i < 2; i++)
            copy_view(sides[i].y, sides[i].x);
    else {
        bool made = !sides[0].table.cosine.data && !sides[1].table.cosine.data;
        bool single = sides[0].x.dtype != PE_F64 && sides[1].x.dtype != PE_F64;
        rotate_both(e, p, sides, single && sides_alike(p) && !p->trained && (made || one_table), at, &run);
    }
    return pe_pass(err);
}
