/* SPDX-License-Identifier: MIT
 *
 * q and k in one call, with tables from a cache or made on the fly. */
#include "core/rotation.h"

#include <inttypes.h>

/* Whether queries and keys rotate by the same numbers. */
static bool sides_alike(const part *p)
{
    return !p->decay && !p->gains;
}

static pe_status check_rows(const qk_side *s, int64_t rows, pe_error *err)
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

static pe_status check_one(const pe_encoding *e, const part *p, qk_side *s, pe_positions *at, pe_error *err)
{
    TRY(qk_check_side(s, p ? e->shape.head_dim : -1, &types_float, err));
    if (!s->x.data)
        return PE_OK;
    TRY(check_positions_real(at, "positions", s->x.batch, s->x.tokens, e->axes, rotates_between(p), err));
    TRY(check_rotation(p, s->side, s->y.dtype, *at, err));
    TRY(qk_check_table(s, p ? trained_heads(p) : 1, p ? p->pairs : -1, &types_float, err));
    return check_rows(s, s->table.cosine.tokens, err);
}

static void rotate_both(const pe_encoding *e, const part *p, const qk_side *sides, bool shared, pe_positions at,
                        const pe_run *run)
{
    rotation_job jobs[2];
    int count = 0;
    for (int i = 0; i < 2; i++) {
        const qk_side *s = &sides[i];
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
    qk_side sides[2];
    bool one_table;
    TRY(qk_open(sides, r, !p || sides_alike(p), e->text, &one_table, err));
    TRY(check_one(e, p, &sides[0], &at, err));
    TRY(check_one(e, p, &sides[1], &at, err));
    for (int i = 0; i < 2; i++)
        if (sides[i].x.data)
            TRY(check_trained(e, p, run.params, sides[i].x.heads, err));
    TRY(qk_check_apart(sides, at, trained_region(p, run.params), err));
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
