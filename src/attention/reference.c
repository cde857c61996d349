/* SPDX-License-Identifier: MIT
 *
 * Reference attention: the definition that fast versions are held to. */
#include "attention/query.h"

#include <inttypes.h>

/* ---------------------------------------------------------------- one sequence: its work memory, what it sees */

/* Takes (tokens, heads, dim) doubles from the block; with memory NULL only counts. */
static bool take_view(pe_view *v, char *memory, int64_t *used, int64_t tokens, int64_t heads, int64_t dim)
{
    int64_t n;
    *v = (pe_view){ memory ? memory + *used : NULL, PE_F64, 1, tokens, heads, dim, 0, heads * dim, dim };
    return checked_mul(&n, tokens, heads * dim) && checked_mul(&n, n, 8) && checked_add(used, *used, n);
}

static bool problem_cut(problem *p, char *memory)
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

/* ---------------------------------------------------------------- one query: what it sees, its scores */

static pe_positions query_at(const problem *p, int64_t i)
{
    return positions_from(p->a.q_at, i, 1);
}

static int64_t query_shift(const problem *p, int64_t i)
{
    return p->recentres ? coordinate(p->a.q_at, i, 0) - p->rotating->centre : 0;
}

static void query_seen(problem *p, int64_t i)
{
    int64_t Tk = p->Tk;
    for (int64_t j = 0; j < Tk; j++) {
        bool any = false;
        for (int64_t h = 0; h < p->e->shape.heads; h++) {
            bool seen = problem_sees(p, h, i, j);
            p->m->seen[h * Tk + j] = seen;
            any = any || seen;
        }
        p->m->any[j] = any;
    }
}

/* What every pair that is seen needs: a row in every table, and a magnitude that is a number. Writes
 * to the work memory: after all other checks. */
static pe_status problem_reach(problem *p, pe_error *err)
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

/* A key or value: in a view, in pages, in blocks. */
static void load_key(const problem *p, double *to, pe_view from, int64_t t, int64_t h)
{
    float block[BLOCK_WIDTH];
    const char *at = problem_row(p, from, t, h);
    for (int64_t d = 0; d < from.dim; d++) {
        if (problem_blocks(from) && d % BLOCK_WIDTH == 0)
            block_load(block, at + dtype_bytes(from.dtype, d), from.dtype);
        to[d] = problem_blocks(from) ? (double)block[d % BLOCK_WIDTH] : num_load(at, from.dtype, d);
    }
}

static void load_keys(const problem *p, pe_view to, pe_view from)
{
    for (int64_t t = 0; t < p->Tk; t++)
        for (int64_t h = 0; h < from.heads; h++)
            load_key(p, cell_of(to, t, h), from, t, h);
}

/* Loads query i, and the keys and values with the first query; keys again for each query where the rotation re-centres.
 */
static void query_rotate_keys(problem *p, int64_t i)
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

static pe_view token_of(pe_view v, int64_t i)
{
    if (v.data)
        v.data = (char *)v.data + dtype_bytes(v.dtype, i * v.token_stride);
    v.tokens = 1;
    return v;
}

static void query_tile(const problem *p, int64_t i, pe_tile *t)
{
    *t = (pe_tile){ .size = sizeof *t,
                    .q_gates = token_of(p->a.q_gates, i),
                    .k_gates = p->a.k_gates,
                    .relative = token_of(p->a.relative, i),
                    .score = p->m->score,
                    .q = p->m->q,
                    .k = p->m->k,
                    .q_at = query_at(p, i),
                    .k_at = p->a.k_at,
                    .seen = p->m->seen,
                    .seen_head_stride = p->Tk };
}

/* score = cap((q.k + before) * scale) + after + mask, -inf where hidden. */
static void scores(problem *p, int64_t i)
{
    pe_tile t;
    int64_t H = p->e->shape.heads, D = p->e->shape.head_dim, Tk = p->Tk;
    pe_view add = p->a.mask.additive;
    bool replaced = pe_encoding_replaces(p->e);
    query_tile(p, i, &t);
    for (int64_t h = 0; h < H; h++)
        for (int64_t j = 0; j < Tk; j++) {
            double *q = cell_of(p->m->q, 0, h), *k = cell_of(p->m->k, j, kv_head(p, h)), sum = 0;
            for (int64_t d = 0; !replaced && p->m->seen[h * Tk + j] && d < D; d++)
                sum += q[d] * k[d];
            cell_of(p->m->score, 0, h)[j] = sum;
        }
    score_content(p->e, PE_BEFORE_SCALE, p->w, &t);
    score_bias(p->e, PE_BEFORE_SCALE, p->w, &t);
    for (int64_t n = 0; n < H * Tk; n++) {
        double *s = (double *)p->m->score.data + n, cap = p->a.soft_cap;
        *s *= p->scale;
        if (cap > 0)
            *s = cap * tanh(*s / cap);
        ((double *)p->m->capped.data)[n] = *s;
    }
    score_content(p->e, PE_AFTER_SCALE, p->w, &t);
    score_bias(p->e, PE_AFTER_SCALE, p->w, &t);
    for (int64_t h = 0; h < H; h++)
        for (int64_t j = 0; j < Tk; j++) {
            double *s = &cell_of(p->m->score, 0, h)[j];
            if (!p->m->seen[h * Tk + j])
                *s = -INFINITY;
            else if (add.data)
                *s += vec_get(mask_row(add, i, h), j);
        }
}

/* Softmax over what is seen, and the sink; all zero where there is nothing. */
static void query_probabilities(problem *p, int64_t i)
{
    int64_t H = p->e->shape.heads, Tk = p->Tk;
    query_seen(p, i);
    scores(p, i);
    for (int64_t h = 0; h < H; h++) {
        double *s = cell_of(p->m->score, 0, h), *prob = cell_of(p->m->prob, 0, h), sum = 0;
        double sink = p->a.sinks.data ? num_load(p->a.sinks.data, p->a.sinks.dtype, h) : -INFINITY, most = sink;
        for (int64_t j = 0; j < Tk; j++)
            if (s[j] > most || isnan(s[j]))
                most = s[j];
        for (int64_t j = 0; j < Tk; j++) {
            prob[j] = s[j] == -INFINITY ? 0 : exp(s[j] - most);
            sum += prob[j];
        }
        p->m->sink[h] = sink == -INFINITY ? 0 : exp(sink - most);
        sum += p->m->sink[h];
        p->m->lse[h] = sum == 0 ? -INFINITY : most + log(sum);
        for (int64_t j = 0; sum != 0 && j < Tk; j++) /* what is hidden stays 0 where the sum is NaN */
            prob[j] = s[j] == -INFINITY ? 0 : prob[j] / sum;
        if (sum != 0)
            p->m->sink[h] /= sum;
    }
}

/* ---------------------------------------------------------------- the forward pass */

/* out = sum of p v, the value terms, rotated back where the spec says so. */
static void mix_values(problem *p, int64_t i)
{
    int64_t H = p->e->shape.heads, Dv = p->a.v.dim;
    for (int64_t h = 0; h < H; h++) {
        double *out = cell_of(p->m->out, 0, h), *prob = cell_of(p->m->prob, 0, h);
        for (int64_t d = 0; d < Dv; d++)
            out[d] = 0;
        for (int64_t j = 0; j < p->Tk; j++)
            for (int64_t d = 0; prob[j] != 0 && d < Dv; d++)
                out[d] += prob[j] * cell_of(p->m->v, j, kv_head(p, h))[d];
    }
    value_add(p->e, p->w, p->m->out, p->m->prob, query_at(p, i), p->a.k_at, p->m->seen, p->Tk);
    if (p->rotating && p->rotating->rotates_output)
        rotate_view(p->rotating, p->w, PE_OUTPUT, (rotation_mode){ true, true }, p->m->out, p->m->out, query_at(p, i),
                    0);
}

static void store_rows(pe_view to, int64_t i, pe_view from)
{
    for (int64_t h = 0; to.data && h < to.heads; h++)
        for (int64_t d = 0; d < to.dim; d++)
            num_store(to.data, to.dtype, row_vec(to, i, h).at + d, cell_of(from, 0, h)[d]);
}

static void reference_forward_pass(problem *p)
{
    for (int64_t i = 0; i < p->Tq; i++) {
        query_rotate_keys(p, i);
        query_probabilities(p, i);
        mix_values(p, i);
        store_rows(p->a.out, i, p->m->out);
        store_rows(p->a.scores, i, p->m->score);
        store_rows(p->a.probabilities, i, p->m->prob);
        for (int64_t h = 0; p->a.lse.data && h < p->e->shape.heads; h++)
            num_store(p->a.lse.data, p->a.lse.dtype, row_vec(p->a.lse, i, h).at, p->m->lse[h]);
    }
}

/* The largest sequence's. */
static pe_status measure_call(const call *c, size_t *bytes, pe_error *err)
{
    *bytes = 0;
    for (int64_t s = 0; s < c->sequences; s++) {
        problem p;
        work m;
        call_sequence(c, s, &p);
        p.m = &m;
        if (!problem_cut(&p, NULL))
            return pe_fail(err, PE_ERR_OVERFLOW, "the work memory for %" PRId64 " keys does not fit 64-bit sizes",
                           p.Tk);
        *bytes = p.m->bytes > *bytes ? p.m->bytes : *bytes;
    }
    return PE_OK;
}

pe_status pe_reference_work(const pe_encoding *e, const pe_attention *a, size_t *bytes, pe_error *err)
{
    call c;
    CHECK_POINTER(size_t, bytes, "bytes");
    TRY(call_open(&c, e, a, NULL, err));
    TRY(measure_call(&c, bytes, err));
    return pe_pass(err);
}

/* A call of either function, and what every pair that is seen needs. */
static pe_status reference_open(call *c, const pe_encoding *e, const pe_attention *a, const pe_run *run, pe_error *err)
{
    size_t bytes;
    TRY(call_open(c, e, a, run, err));
    TRY(measure_call(c, &bytes, err));
    TRY(check_params(e, c->run.params, err));
    TRY(call_work(c, bytes, "pe_reference_work", err));
    c->run.work_bytes = bytes;
    return PE_OK;
}

/* Sequence s, in the call's work memory. */
static void reference_sequence(const call *c, int64_t s, problem *p, work *m)
{
    call_sequence(c, s, p);
    p->m = m;
    problem_cut(p, c->run.work);
}

static pe_status reference_reach(const call *c, pe_error *err)
{
    for (int64_t s = 0; s < c->sequences; s++) {
        problem p;
        work m;
        reference_sequence(c, s, &p, &m);
        TRY(problem_reach(&p, err));
    }
    return PE_OK;
}

pe_status pe_reference_forward(const pe_encoding *e, const pe_attention *a, const pe_run *run, pe_error *err)
{
    call c;
    TRY(reference_open(&c, e, a, run, err));
    TRY(call_outputs(&c, true, err));
    TRY(reference_reach(&c, err));
    for (int64_t s = 0; s < c.sequences; s++) {
        problem p;
        work m;
        reference_sequence(&c, s, &p, &m);
        reference_forward_pass(&p);
        call_clear_padding(&c, s);
    }
    return pe_pass(err);
}

/* ---------------------------------------------------------------- gradients */

static const rotation_mode transpose = { true, false };

static void clear(pe_view v)
{
    for (int64_t n = 0; n < v.tokens * v.heads * v.dim; n++)
        ((double *)v.data)[n] = 0;
}

/* dout through the rotated-back output, the mix of values and the softmax, to dscore. */
static void softmax_back(problem *p, pe_view dout, pe_params dw, int64_t i)
{
    int64_t H = p->e->shape.heads, Dv = p->a.v.dim, Tk = p->Tk;
    for (int64_t h = 0; h < H; h++)
        for (int64_t d = 0; d < Dv; d++)
            cell_of(p->m->dout, 0, h)[d] = vec_get(row_vec(dout, i, h), d);
    if (p->rotating && p->rotating->rotates_output)
        rotate_view(p->rotating, p->w, PE_OUTPUT, (rotation_mode){ false, true }, p->m->dout, p->m->dout,
                    query_at(p, i), 0);
    clear(p->m->dprob);
    for (int64_t h = 0; h < H; h++) {
        double *g = cell_of(p->m->dout, 0, h), *prob = cell_of(p->m->prob, 0, h);
        for (int64_t j = 0; j < Tk; j++)
            for (int64_t d = 0; prob[j] != 0 && d < Dv; d++) {
                cell_of(p->m->dprob, 0, h)[j] += g[d] * cell_of(p->m->v, j, kv_head(p, h))[d];
                cell_of(p->m->dv, j, kv_head(p, h))[d] += g[d] * prob[j];
            }
    }
    value_back(p->e, p->w, dw, p->m->dprob, p->m->prob, p->m->dout, query_at(p, i), p->a.k_at, p->m->seen, Tk);
}

static void scores_back(problem *p, const pe_attention_grad *g, int64_t i)
{
    int64_t H = p->e->shape.heads, Tk = p->Tk;
    for (int64_t h = 0; h < H; h++) {
        double *prob = cell_of(p->m->prob, 0, h), *dprob = cell_of(p->m->dprob, 0, h), mean = 0;
        for (int64_t j = 0; j < Tk; j++)
            mean += prob[j] * dprob[j];
        if (g->dsinks.data)
            num_add(g->dsinks.data, g->dsinks.dtype, h, -p->m->sink[h] * mean);
        for (int64_t j = 0; j < Tk; j++) {
            double ds = prob[j] != 0 ? prob[j] * (dprob[j] - mean) : 0;
            cell_of(p->m->dscore, 0, h)[j] = ds;
            if (g->dadditive.data)
                vec_add(mask_row(g->dadditive, i, h), j, ds);
        }
    }
}

/* Terms after the scale, the cap and the scale, terms before it, q.k. */
static void terms_back(problem *p, pe_params dw, int64_t i)
{
    int64_t H = p->e->shape.heads, D = p->e->shape.head_dim, Tk = p->Tk;
    pe_tile t;
    pe_tile_grad tg = { .dscore = p->m->dscore,
                        .dq = p->m->dq,
                        .dk = p->m->dk,
                        .dparams = dw,
                        .dq_gates = p->m->dq_gates,
                        .dk_gates = p->m->dk_gates,
                        .drelative = p->m->drelative };
    query_tile(p, i, &t);
    score_bias_back(p->e, PE_AFTER_SCALE, p->w, &t, &tg);
    score_content_back(p->e, PE_AFTER_SCALE, p->w, &t, &tg);
    for (int64_t n = 0; n < H * Tk; n++) {
        double cap = p->a.soft_cap, x = cap > 0 ? ((double *)p->m->capped.data)[n] / cap : 0;
        double *ds = (double *)p->m->dscore.data + n;
        *ds = *ds != 0 ? *ds * (1 - x * x) * p->scale : 0;
    }
    score_bias_back(p->e, PE_BEFORE_SCALE, p->w, &t, &tg);
    score_content_back(p->e, PE_BEFORE_SCALE, p->w, &t, &tg);
    for (int64_t h = 0; !pe_encoding_replaces(p->e) && h < H; h++)
        for (int64_t j = 0; j < Tk; j++) {
            double ds = cell_of(p->m->dscore, 0, h)[j];
            for (int64_t d = 0; ds != 0 && d < D; d++) {
                cell_of(p->m->dq, 0, h)[d] += ds * cell_of(p->m->k, j, kv_head(p, h))[d];
                cell_of(p->m->dk, j, kv_head(p, h))[d] += ds * cell_of(p->m->q, 0, h)[d];
            }
        }
}

static void store(pe_view to, int64_t token, pe_view from, bool add)
{
    for (int64_t t = 0; to.data && t < from.tokens; t++)
        for (int64_t h = 0; h < from.heads; h++)
            for (int64_t d = 0; d < from.dim; d++) {
                vec v = row_vec(to, token + t, h);
                num_store(v.data, v.type, v.at + d, (add ? vec_get(v, d) : 0) + cell_of(from, t, h)[d]);
            }
}

/* Gradients of rotations that are trained, from vectors y that were rotated; query: which, or -1 for keys. */
static void frequencies_back(problem *p, int64_t query, pe_view y, pe_view dy, pe_positions where)
{
    double x[PE_HEAD_DIM_MAX];
    for (int64_t t = 0; p->rotating && p->rotating->trained && p->g.dparams.data && t < y.tokens; t++) {
        spot at;
        spot_find(&at, where, t);
        for (int64_t h = 0; h < y.heads; h++) {
            vec raw = { x, PE_F64, 0 };
            if (query >= 0)
                raw = row_vec(p->a.q, query, h);
            else if (trained_wants_x(p->rotating))
                load_key(p, x, p->a.k, t, h);
            trained_back(p->rotating, p->g.dparams, trained_head(p->rotating, y.heads, h), &at, raw, row_vec(y, t, h),
                         row_vec(dy, t, h));
        }
    }
}

/* Turns dq back and stores it; keys that were rotated for this query alone are rotated back now and summed. */
static void rotations_back(problem *p, const pe_attention_grad *g, int64_t i)
{
    int64_t shift = query_shift(p, i);
    frequencies_back(p, i, p->m->q, p->m->dq, query_at(p, i));
    if (p->rotating)
        rotate_view(p->rotating, p->w, PE_QUERY, transpose, p->m->dq, p->m->dq, query_at(p, i), shift);
    store(g->dq, i, p->m->dq, g->accumulate);
    if (!p->recentres)
        return;
    rotate_view(p->rotating, p->w, PE_KEY, transpose, p->m->dk, p->m->dk, p->a.k_at, shift);
    int64_t width = p->m->dk.heads * p->m->dk.dim;
    for (int64_t j = 0; j < p->m->dk.tokens; j++) /* a hidden key's rotation may overflow, and 0 * inf is no gradient */
        for (int64_t n = j * width; p->m->any[j] && n < (j + 1) * width; n++)
            ((double *)p->m->dk_sum.data)[n] += ((double *)p->m->dk.data)[n];
    clear(p->m->dk);
}

/* Each query's probabilities are made again, then differentiated step by step. */
static void reference_backward_pass(problem *p)
{
    pe_attention_grad *g = &p->g;
    clear(p->m->dk);
    clear(p->m->dv);
    clear(p->m->dk_sum);
    clear(p->m->dk_gates);
    for (int64_t i = 0; i < p->Tq; i++) {
        clear(p->m->dq);
        clear(p->m->dq_gates);
        clear(p->m->drelative);
        query_rotate_keys(p, i);
        query_probabilities(p, i);
        softmax_back(p, g->dout, g->dparams, i);
        scores_back(p, g, i);
        terms_back(p, g->dparams, i);
        rotations_back(p, g, i);
        store(g->dq_gates, i, p->m->dq_gates, g->accumulate);
        store(g->drelative, i, p->m->drelative, g->accumulate);
    }
    if (!p->a.rotated && p->Tq)
        frequencies_back(p, -1, p->m->k, p->m->dk, p->a.k_at);
    if (p->recentres)
        p->m->dk = p->m->dk_sum;
    else if (p->rotating && !p->a.rotated)
        rotate_view(p->rotating, p->w, PE_KEY, transpose, p->m->dk, p->m->dk, p->a.k_at, 0);
    if (p->rotating && p->rotating->rotates_value && !p->a.rotated)
        rotate_view(p->rotating, p->w, PE_VALUE, transpose, p->m->dv, p->m->dv, p->a.k_at, 0);
    store(g->dk, 0, p->m->dk, g->accumulate);
    store(g->dv, 0, p->m->dv, g->accumulate);
    store(g->dk_gates, 0, p->m->dk_gates, g->accumulate);
}

pe_status pe_reference_backward(const pe_encoding *e, const pe_attention *a, const pe_attention_grad *grads,
                                const pe_run *run, pe_error *err)
{
    call c;
    TRY(reference_open(&c, e, a, run, err));
    c.a.out = c.a.lse = (pe_view){ 0 }; /* made again, not read */
    TRY(call_gradients(&c, grads, err));
    if (c.g.piece)
        return pe_fail(err, PE_ERR_UNSUITED, "piece is set; the definition has all keys at once");
    TRY(reference_reach(&c, err));
    for (int64_t s = 0; s < c.sequences; s++) {
        problem p;
        work m;
        reference_sequence(&c, s, &p, &m);
        reference_backward_pass(&p);
        call_clear_padding_back(&c, s);
    }
    return pe_pass(err);
}
