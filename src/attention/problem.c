/* SPDX-License-Identifier: MIT
 *
 * One sequence of the reference: its work memory, what it sees, its keys. */
#include "attention/query.h"

#include <inttypes.h>

/* Takes (tokens, heads, dim) doubles from the block; with memory NULL only counts. */
static bool take_view(pe_view *v, char *memory, int64_t *used, int64_t tokens, int64_t heads, int64_t dim)
{
    int64_t n;
    *v = (pe_view){ memory ? memory + *used : NULL, PE_F64, 1, tokens, heads, dim, 0, heads * dim, dim };
    return checked_mul(&n, tokens, heads * dim) && checked_mul(&n, n, 8) && checked_add(used, *used, n);
}

bool problem_cut(problem *p, char *memory)
{
    const pe_shape *s = &p->e->shape;
    int64_t H = s->heads, G = s->kv_heads, D = s->head_dim, Dv = p->a.v.dim, Tk = p->Tk, used = 0;
    work *m = p->m;
    pe_view lse = { 0 }, sink = { 0 };
    bool again = p->recentres;
    if (Tk > INT64_MAX / 65536 / PE_HEAD_DIM_MAX / 8) /* heads * Tk below stays in range */
        return false;
    bool fits = take_view(&m->q, memory, &used, 1, H, D) && take_view(&m->k, memory, &used, Tk, G, D) &&
                take_view(&m->v, memory, &used, Tk, G, Dv) && take_view(&m->score, memory, &used, 1, H, Tk) &&
                take_view(&m->prob, memory, &used, 1, H, Tk) && take_view(&m->capped, memory, &used, 1, H, Tk) &&
                take_view(&m->out, memory, &used, 1, H, Dv) && take_view(&m->dq, memory, &used, 1, H, D) &&
                take_view(&m->dk, memory, &used, Tk, G, D) && take_view(&m->dv, memory, &used, Tk, G, Dv) &&
                take_view(&m->dk_sum, memory, &used, again ? Tk : 0, G, D) &&
                take_view(&m->dscore, memory, &used, 1, H, Tk) && take_view(&m->dprob, memory, &used, 1, H, Tk) &&
                take_view(&m->dout, memory, &used, 1, H, Dv) && take_view(&m->dq_gates, memory, &used, 1, H, 1) &&
                take_view(&m->dk_gates, memory, &used, Tk, H, 1) &&
                take_view(&m->drelative, memory, &used, 1, H, p->e->relative) &&
                take_view(&lse, memory, &used, 1, H, 1) && take_view(&sink, memory, &used, 1, H, 1);
    m->lse = lse.data;
    m->sink = sink.data;
    m->seen = memory ? (uint8_t *)memory + used : NULL;
    m->any = memory ? m->seen + H * Tk : NULL;
    fits = fits && checked_add(&used, used, (H + 1) * Tk) && (uint64_t)used <= SIZE_MAX;
    m->bytes = (size_t)used;
    return fits;
}

/* How far key j stands behind query i, as the mask counts it; keys ahead are below 0. */
static int64_t behind(const problem *p, int64_t i, int64_t j)
{
    const pe_mask *m = &p->a.mask;
    if (m->align == PE_ALIGN_POSITION)
        return coordinate(p->a.q_at, i, 0) - coordinate(p->a.k_at, j, 0);
    return (m->align == PE_ALIGN_START ? i - m->keys_before : i + p->Tk + m->keys_after - p->Tq) - j;
}

static bool is_first(const problem *p, int64_t j)
{
    const pe_mask *m = &p->a.mask;
    int64_t at = m->align == PE_ALIGN_POSITION ? coordinate(p->a.k_at, j, 0) : j + m->keys_before;
    return at >= 0 && at < m->first_keys;
}

bool problem_sees(const problem *p, int64_t h, int64_t i, int64_t j)
{
    const pe_mask *m = &p->a.mask;
    int64_t back = behind(p, i, j);
    if (m->causal && back < 0)
        return false;
    if (m->window && (back >= m->window || back <= -m->window) && !is_first(p, j))
        return false;
    if (m->keep.data) {
        vec keep = mask_row(m->keep, i, h);
        if (!((const uint8_t *)keep.data)[keep.at + j])
            return false;
    }
    return !m->additive.data || vec_get(mask_row(m->additive, i, h), j) != -INFINITY;
}

/* What every pair that is seen needs: a row in every table, and a magnitude that is a number. */
pe_status problem_reach(problem *p, pe_error *err)
{
    bool again = p->recentres, limited = again;
    for (int n = 0; n < p->e->parts; n++)
        limited = limited || p->e->part[n].row->reaches;
    for (int64_t i = 0; p->a.rotated && p->rotating && p->rotating->row->check && i < p->Tq; i++) {
        int64_t at[PE_AXES_MAX];
        TRY(p->rotating->row->check(p->rotating, PE_QUERY, PE_F64, position(p->a.q_at, i, at), err));
    }
    for (int64_t i = 0; limited && i < p->Tq; i++) {
        query_seen(p, i);
        pe_tile t = { .q_at = query_at(p, i), .k_at = p->a.k_at, .seen = p->m->any };
        TRY(check_reach(p->e, ~0u, -1, &t, err));
        for (int64_t j = 0; again && j < p->Tk; j++) {
            int64_t at[PE_AXES_MAX];
            position(p->a.k_at, j, at);
            at[0] -= query_shift(p, i);
            if (p->m->any[j] && !(p->rotating->row->rotate(p->rotating, PE_KEY, at, 0).magnitude < 1e260))
                return pe_fail(err, PE_ERR_POSITION, "%s: a key %" PRId64 " ahead of its query overflows; hide it",
                               p->rotating->row->info.name, at[0] - p->rotating->centre);
        }
    }
    return PE_OK;
}

static void load_query(pe_view to, pe_view from, int64_t i)
{
    for (int64_t h = 0; h < from.heads; h++)
        for (int64_t d = 0; d < from.dim; d++)
            cell_of(to, 0, h)[d] = vec_get(row_vec(from, i, h), d);
}

/* Keys or values: in a view, in pages, in blocks. */
static void load_keys(const problem *p, pe_view to, pe_view from)
{
    float block[BLOCK_WIDTH];
    for (int64_t t = 0; t < p->Tk; t++)
        for (int64_t h = 0; h < from.heads; h++) {
            const char *at = problem_row(p, from, t, h);
            for (int64_t d = 0; d < from.dim; d++) {
                if (problem_blocks(from) && d % BLOCK_WIDTH == 0)
                    block_load(block, at + dtype_bytes(from.dtype, d), from.dtype);
                cell_of(to, t, h)[d] =
                    problem_blocks(from) ? (double)block[d % BLOCK_WIDTH] : num_load(at, from.dtype, d);
            }
        }
}

/* Loads query i, and the keys and values with the first query; keys again for each query where the rotation re-centres.
 */
void query_rotate_keys(problem *p, int64_t i)
{
    const rotation_mode forward = { false, false };
    bool keys = i == 0 || p->recentres;
    int64_t shift = query_shift(p, i);
    load_query(p->m->q, p->a.q, i);
    if (keys)
        load_keys(p, p->m->k, p->a.k);
    if (i == 0)
        load_keys(p, p->m->v, p->a.v);
    if (!p->rotating)
        return;
    rotate_view(p->rotating, p->w, PE_QUERY, forward, p->m->q, p->m->q, query_at(p, i), shift);
    if (keys && !p->a.rotated)
        rotate_view(p->rotating, p->w, PE_KEY, forward, p->m->k, p->m->k, p->a.k_at, shift);
    if (i == 0 && p->rotating->rotates_value && !p->a.rotated)
        rotate_view(p->rotating, p->w, PE_VALUE, forward, p->m->v, p->m->v, p->a.k_at, 0);
}
