/* SPDX-License-Identifier: MIT
 *
 * Checking an attention problem and cutting its work memory. */
#include "attention/query.h"

#include <inttypes.h>

static pe_status check_mask(pe_mask *m, const pe_attention *a, int64_t heads, pe_error *err)
{
    if (m->keys_after < 0 || m->keys_after > PE_POSITION_MAX)
        return pe_fail(err, PE_ERR_RANGE, "mask: keys_after is %" PRId64 "; needs 0 (none) to 2^36", m->keys_after);
    if (m->window < 0)
        return pe_fail(err, PE_ERR_RANGE, "mask: window is %" PRId64 "; needs 0 (none) or more", m->window);
    if (!m->q_segment != !m->k_segment)
        return pe_fail(err, PE_ERR_NULL, "mask: q_segment and k_segment must both be given, or neither");
    if ((uintptr_t)m->q_segment % 8 || (uintptr_t)m->k_segment % 8)
        return pe_fail(err, PE_ERR_ALIGN, "mask: segments are not aligned to their 8-byte elements");
    if (!m->additive.data)
        return PE_OK;
    TRY(check_view(&m->additive, "mask.additive", a->q.tokens, -1, a->k.tokens, READS, err));
    if (m->additive.heads != 1 && m->additive.heads != heads)
        return pe_fail(err, PE_ERR_SHAPE, "mask.additive: heads is %" PRId64 "; needs 1 or %" PRId64, m->additive.heads,
                       heads);
    return PE_OK;
}

static const part *turning_part(const pe_encoding *e)
{
    for (int i = 0; i < e->parts; i++)
        if (e->part[i].row->turn)
            return &e->part[i];
    return NULL;
}

static pe_status check_problem(problem *p, pe_error *err)
{
    pe_attention *a = &p->a;
    const pe_shape *s = &p->e->shape;
    bool same = p->e->hooks & PE_HOOK_VALUE || (p->turns && (p->turns->turns_value || p->turns->turns_output));
    TRY(check_view(&a->q, "q", -1, s->heads, s->head_dim, READS, err));
    TRY(check_view(&a->k, "k", -1, s->kv_heads, s->head_dim, READS, err));
    TRY(check_view(&a->v, "v", a->k.tokens, s->kv_heads, same ? s->head_dim : -1, READS, err));
    if (a->v.dim > PE_HEAD_DIM_MAX)
        return pe_fail(err, PE_ERR_SHAPE, "v: dim is %" PRId64 "; needs %d at most", a->v.dim, PE_HEAD_DIM_MAX);
    TRY(check_positions(&a->q_at, "q_at", a->q.tokens, p->e->axes, err));
    TRY(check_positions(&a->k_at, "k_at", a->k.tokens, p->e->axes, err));
    TRY(check_mask(&a->mask, a, s->heads, err));
    if (a->sinks.data)
        TRY(check_block(a->sinks, "sinks", s->heads, "one per head", false, err));
    if (!(a->soft_cap >= 0) || isinf(a->soft_cap))
        return pe_fail(err, PE_ERR_RANGE, "soft_cap is %s; needs 0 (none) or a finite number above",
                       text_show(a->soft_cap).text);
    if (!isfinite(a->scale))
        return pe_fail(err, PE_ERR_RANGE, "scale is %s; needs a finite number (0: the encoding's own)",
                       text_show(a->scale).text);
    return PE_OK;
}

pe_status problem_outputs(problem *p, pe_error *err)
{
    pe_attention *a = &p->a;
    int64_t heads = p->e->shape.heads;
    TRY(check_view(&a->out, "out", a->q.tokens, heads, a->v.dim, WRITES, err));
    if (a->lse.data)
        TRY(check_view(&a->lse, "lse", a->q.tokens, heads, 1, WRITES, err));
    region s[PROBLEM_REGIONS + 2] = { view_region("out", a->out, WRITES), view_region("lse", a->lse, WRITES) };
    problem_regions(p, s + 2);
    return check_memory(s, COUNT_OF(s), false, err);
}

/* What both calls read, and the work memory. */
void problem_regions(const problem *p, region s[PROBLEM_REGIONS])
{
    const pe_attention *a = &p->a;
    const region all[PROBLEM_REGIONS] = {
        view_region("q", a->q, READS),
        view_region("k", a->k, READS),
        view_region("v", a->v, READS),
        view_region("mask.additive", a->mask.additive, READS),
        positions_region("q_at", a->q_at),
        positions_region("k_at", a->k_at),
        params_region("params", p->w, READS),
        params_region("sinks", a->sinks, READS),
        array_region("mask.key_used", a->mask.key_used, a->k.tokens, 1, READS),
        array_region("mask.q_segment", a->mask.q_segment, a->q.tokens, 8, READS),
        array_region("mask.k_segment", a->mask.k_segment, a->k.tokens, 8, READS),
        array_region("work", p->m.q.data, (int64_t)p->m.bytes, 1, WRITES),
    };
    for (int i = 0; i < PROBLEM_REGIONS; i++)
        s[i] = all[i];
}

/* Takes (tokens, heads, dim) doubles from the block; with memory NULL only counts. */
static bool take(pe_view *v, char *memory, int64_t *used, int64_t tokens, int64_t heads, int64_t dim)
{
    int64_t n;
    *v = (pe_view){ memory ? memory + *used : NULL, PE_F64, tokens, heads, dim, heads * dim, dim };
    return checked_mul(&n, tokens, heads * dim) && checked_mul(&n, n, 8) && checked_add(used, *used, n);
}

static bool cut(problem *p, char *memory)
{
    const pe_shape *s = &p->e->shape;
    int64_t H = s->heads, G = s->kv_heads, D = s->head_dim, Dv = p->a.v.dim, Tk = p->a.k.tokens, used = 0;
    work *m = &p->m;
    pe_view lse = { 0 }, sink = { 0 };
    bool again = p->recentres;
    if (Tk > INT64_MAX / 65536 / PE_HEAD_DIM_MAX / 8) /* heads * Tk below stays in range */
        return false;
    bool fits = take(&m->q, memory, &used, 1, H, D) && take(&m->k, memory, &used, Tk, G, D) &&
                take(&m->v, memory, &used, Tk, G, Dv) && take(&m->score, memory, &used, 1, H, Tk) &&
                take(&m->prob, memory, &used, 1, H, Tk) && take(&m->capped, memory, &used, 1, H, Tk) &&
                take(&m->out, memory, &used, 1, H, Dv) && take(&m->dq, memory, &used, 1, H, D) &&
                take(&m->dk, memory, &used, Tk, G, D) && take(&m->dv, memory, &used, Tk, G, Dv) &&
                take(&m->dk_sum, memory, &used, again ? Tk : 0, G, D) && take(&m->dscore, memory, &used, 1, H, Tk) &&
                take(&m->dprob, memory, &used, 1, H, Tk) && take(&m->dout, memory, &used, 1, H, Dv) &&
                take(&lse, memory, &used, 1, H, 1) && take(&sink, memory, &used, 1, H, 1);
    m->lse = lse.data;
    m->sink = sink.data;
    m->seen = memory ? (uint8_t *)memory + used : NULL;
    m->any = memory ? m->seen + H * Tk : NULL;
    fits = fits && checked_add(&used, used, (H + 1) * Tk) && (uint64_t)used <= SIZE_MAX;
    m->bytes = (size_t)used;
    return fits;
}

pe_status problem_check(problem *p, const pe_encoding *e, const pe_attention *a, pe_error *err)
{
    CHECK_POINTER(pe_encoding, e, "the encoding");
    CHECK_POINTER(pe_attention, a, "the attention problem");
    *p = (problem){ .e = e, .a = *a, .turns = turning_part(e), .scale = a->scale != 0 ? a->scale : e->scale };
    p->recentres = p->turns && p->turns->recentres && !a->turned;
    return check_problem(p, err);
}

static pe_status open_sizes(problem *p, const pe_encoding *e, const pe_attention *a, pe_error *err)
{
    TRY(problem_check(p, e, a, err));
    if (!cut(p, NULL))
        return pe_fail(err, PE_ERR_OVERFLOW, "the work memory for %" PRId64 " keys does not fit 64-bit sizes",
                       a->k.tokens);
    return PE_OK;
}

pe_status problem_size(const pe_encoding *e, const pe_attention *a, size_t *bytes, pe_error *err)
{
    problem p;
    TRY(open_sizes(&p, e, a, err));
    *bytes = p.m.bytes;
    return PE_OK;
}

static void load(pe_view to, pe_view from, int64_t token, int64_t tokens)
{
    for (int64_t t = 0; t < tokens; t++)
        for (int64_t h = 0; h < from.heads; h++)
            for (int64_t d = 0; d < from.dim; d++)
                cell_of(to, t, h)[d] = vec_get(row_vec(from, token + t, h), d);
}

pe_status problem_open(problem *p, const pe_encoding *e, pe_params w, const pe_attention *a, void *memory, size_t bytes,
                       pe_error *err)
{
    TRY(open_sizes(p, e, a, err));
    p->w = w;
    TRY(check_params(e, w, err));
    if (!memory)
        return pe_fail(err, PE_ERR_NULL, "work is NULL; needs %zu bytes", p->m.bytes);
    if ((uintptr_t)memory % sizeof(double))
        return pe_fail(err, PE_ERR_ALIGN, "work is not aligned to 8 bytes");
    if (bytes < p->m.bytes)
        return pe_fail(err, PE_ERR_SHAPE, "work has %zu bytes; needs %zu (pe_reference_work)", bytes, p->m.bytes);
    cut(p, memory);
    return PE_OK;
}

/* What every pair that is seen needs: a row in every table, and a magnitude that is a number. */
pe_status problem_reach(problem *p, pe_error *err)
{
    bool again = p->recentres, limited = again;
    for (int n = 0; n < p->e->parts; n++)
        limited = limited || p->e->part[n].row->reaches;
    for (int64_t i = 0; p->a.turned && p->turns && p->turns->row->check && i < p->a.q.tokens; i++) {
        int64_t at[PE_AXES_MAX];
        TRY(p->turns->row->check(p->turns, PE_QUERY, PE_F64, position(p->a.q_at, i, at), err));
    }
    for (int64_t i = 0; limited && i < p->a.q.tokens; i++) {
        query_seen(p, i);
        pe_tile t = { .q_at = query_at(p, i), .k_at = p->a.k_at, .seen = p->m.any };
        TRY(check_reach(p->e, ~0u, -1, &t, err));
        for (int64_t j = 0; again && j < p->a.k.tokens; j++) {
            int64_t at[PE_AXES_MAX];
            position(p->a.k_at, j, at);
            at[0] -= query_shift(p, i);
            if (p->m.any[j] && !(p->turns->row->turn(p->turns, PE_KEY, at, 0).magnitude < 1e260))
                return pe_fail(err, PE_ERR_POSITION, "%s: a key %" PRId64 " ahead of its query overflows; hide it",
                               p->turns->row->info.name, at[0] - p->turns->centre);
        }
    }
    return PE_OK;
}

/* Loads query i, and the keys and values with the first query; keys again for each query where the turn re-centres. */
void query_turn_keys(problem *p, int64_t i)
{
    const turn_mode forward = { false, false };
    bool keys = i == 0 || p->recentres;
    int64_t shift = query_shift(p, i);
    load(p->m.q, p->a.q, i, 1);
    if (keys)
        load(p->m.k, p->a.k, 0, p->a.k.tokens);
    if (i == 0)
        load(p->m.v, p->a.v, 0, p->a.v.tokens);
    if (!p->turns)
        return;
    rotate_view(p->turns, PE_QUERY, forward, p->m.q, p->m.q, query_at(p, i), shift);
    if (keys && !p->a.turned)
        rotate_view(p->turns, PE_KEY, forward, p->m.k, p->m.k, p->a.k_at, shift);
    if (i == 0 && p->turns->turns_value && !p->a.turned)
        rotate_view(p->turns, PE_VALUE, forward, p->m.v, p->m.v, p->a.k_at, 0);
}
