/* SPDX-License-Identifier: MIT
 *
 * An attention call as a whole: its checks, and the cut into sequences. */
#include "attention/query.h"

#include <inttypes.h>

/* ------------------------------------------------ sequences */

static pe_status check_offsets(const pe_lengths *l, const char *name, pe_view v, pe_error *err)
{
    TRY(check_packed(l, name, v, err));
    CHECK_POINTER(int64_t, l->offset, name);
    if (l->offset[0] != 0)
        return pe_fail(err, PE_ERR_RANGE, "%s: offset 0 is %" PRId64 "; needs 0", name, l->offset[0]);
    for (int64_t s = 0; s < l->sequences; s++)
        if (l->offset[s + 1] < l->offset[s])
            return pe_fail(err, PE_ERR_RANGE,
                           "%s: offset %" PRId64 " is %" PRId64 " and the next %" PRId64 "; needs to rise from 0", name,
                           s, l->offset[s], l->offset[s + 1]);
    if (l->offset[l->sequences] != v.tokens)
        return pe_fail(err, PE_ERR_SHAPE, "%s: the last offset is %" PRId64 "; needs tokens, %" PRId64, name,
                       l->offset[l->sequences], v.tokens);
    return PE_OK;
}

static pe_status check_lengths(const pe_lengths *l, const char *name, int64_t batch, int64_t tokens, pe_error *err)
{
    if (!l->length)
        return PE_OK;
    CHECK_POINTER(int64_t, l->length, name);
    for (int64_t s = 0; s < batch; s++)
        if (l->length[s] < 0 || l->length[s] > tokens)
            return pe_fail(err, PE_ERR_RANGE, "%s: length %" PRId64 " is %" PRId64 "; needs 0 to %" PRId64, name, s,
                           l->length[s], tokens);
    return PE_OK;
}

/* How many sequences there are, and that queries and keys agree on it. */
static pe_status check_sequences(call *c, pe_error *err)
{
    pe_attention *a = &c->a;
    bool paged = a->pages.table != NULL;
    if (a->q_lengths.offset)
        TRY(check_offsets(&a->q_lengths, "q_lengths", a->q, err));
    if (paged && (a->k_lengths.offset || a->k_lengths.padded_left))
        return pe_fail(err, PE_ERR_UNSUITED, "k_lengths has %s and k lies in pages; needs length alone",
                       a->k_lengths.offset ? "offset" : "padded_left");
    if (a->k_lengths.offset)
        TRY(check_offsets(&a->k_lengths, "k_lengths", a->k, err));
    c->sequences = a->q_lengths.offset ? a->q_lengths.sequences : a->q.batch;
    int64_t keys = a->k_lengths.offset ? a->k_lengths.sequences : paged ? c->sequences : a->k.batch;
    TRY(check_as_many(c->sequences, keys, err));
    c->Tk = paged ? a->k_at.tokens : a->k.tokens;
    TRY(check_lengths(&a->q_lengths, "q_lengths", c->sequences, a->q.tokens, err));
    TRY(check_lengths(&a->k_lengths, "k_lengths", c->sequences, c->Tk, err));
    if (paged)
        TRY(check_pages(&a->pages, a->k, c->sequences, c->Tk, a->k_lengths.length, err));
    return PE_OK;
}

/* Which tokens of a view are those of sequence s. */
typedef struct stretch {
    int64_t batch, first, count;
} stretch;

static stretch stretch_of(const pe_lengths *l, int64_t s, int64_t tokens)
{
    if (l->offset)
        return (stretch){ 0, l->offset[s], l->offset[s + 1] - l->offset[s] };
    int64_t count = l->length ? l->length[s] : tokens;
    return (stretch){ s, l->padded_left ? tokens - count : 0, count };
}

static pe_view view_cut(pe_view v, stretch s)
{
    if (!v.data)
        return v;
    v = view_at(v, s.batch);
    v.data = (char *)v.data + dtype_bytes(v.dtype, s.first * v.token_stride);
    v.tokens = s.count;
    return v;
}

static pe_positions positions_cut(pe_positions p, stretch s)
{
    return positions_from(positions_at(p, s.batch), s.first, s.count);
}

/* A mask or a matrix of scores: rows of queries, columns of keys. */
static pe_view mask_cut(pe_view v, stretch q, stretch k)
{
    if (!v.data)
        return v;
    v = view_at(v, v.batch == 1 ? 0 : q.batch);
    v.data = (char *)v.data + dtype_bytes(v.dtype, (v.tokens == 1 ? 0 : q.first * v.token_stride) + k.first);
    v.tokens = v.tokens == 1 ? 1 : q.count;
    v.dim = k.count;
    return v;
}

static pe_partial piece_cut(const call *c, stretch q)
{
    int64_t first = (q.batch * c->a.q.tokens + q.first) * c->e->shape.heads;
    pe_partial p = c->piece;
    if (!p.out)
        return p;
    p.out += first * c->a.v.dim;
    p.max += first;
    p.sum += first;
    if (p.carry)
        p.carry += q.batch * c->e->shape.heads * c->a.q.tokens + q.first;
    return p;
}

void call_sequence(const call *c, int64_t s, problem *p)
{
    const pe_attention *a = &c->a;
    stretch q = stretch_of(&a->q_lengths, s, a->q.tokens), k = stretch_of(&a->k_lengths, s, c->Tk);
    *p = (problem){ .e = c->e,
                    .w = c->run.params,
                    .pool = c->run.pool,
                    .a = *a,
                    .g = c->g,
                    .piece = piece_cut(c, q),
                    .carry_row = a->q.tokens,
                    .Tq = q.count,
                    .Tk = k.count,
                    .rotating = c->rotating,
                    .recentres = c->rotating && c->rotating->recentres && !a->rotated,
                    .scale = c->scale };
    if (!c->outputs)
        p->a.out = p->a.lse = p->a.scores = p->a.probabilities = (pe_view){ 0 };
    pe_view *by_query[] = { &p->a.q,    &p->a.out, &p->a.lse,      &p->a.q_gates,  &p->a.relative,
                            &p->g.dout, &p->g.dq,  &p->g.dq_gates, &p->g.drelative };
    pe_view *in_pages[] = { &p->a.k, &p->a.v, &p->g.dk, &p->g.dv };
    pe_view *by_key[] = { &p->a.k_gates, &p->g.dk_gates };
    pe_view *by_both[] = { &p->a.mask.keep, &p->a.mask.additive, &p->a.scores, &p->a.probabilities, &p->g.dadditive };
    for (int i = 0; i < COUNT_OF(by_query); i++)
        *by_query[i] = view_cut(*by_query[i], q);
    for (int i = 0; i < COUNT_OF(in_pages) && !a->pages.table; i++)
        *in_pages[i] = view_cut(*in_pages[i], k);
    for (int i = 0; i < COUNT_OF(by_key); i++)
        *by_key[i] = view_cut(*by_key[i], k);
    for (int i = 0; i < COUNT_OF(by_both); i++)
        *by_both[i] = mask_cut(*by_both[i], q, k);
    p->a.q_at = positions_cut(a->q_at, q);
    p->a.k_at = positions_cut(a->k_at, k);
    if (a->pages.table) {
        p->page = a->pages.table + s * a->pages.columns;
        p->page_size = a->k.tokens;
    }
    if (c->g.carry)
        p->g.carry = c->g.carry + q.batch * c->e->shape.heads * a->q.tokens + q.first;
    if (c->g.dcarry)
        p->g.dcarry = c->g.dcarry + q.batch * c->e->shape.heads * a->q.tokens + q.first;
    pe_view keep = p->a.mask.keep;
    if (keep.data && keep.heads == 1 && (keep.tokens == 1 || !keep.token_stride))
        p->used = keep.data;
}

/* ------------------------------------------------ what stands where no token is */

static void fill_rows(pe_view v, int64_t from, int64_t to, double x)
{
    for (int64_t t = from; v.data && t < to; t++)
        for (int64_t h = 0; h < v.heads; h++)
            for (int64_t d = 0; d < v.dim; d++)
                num_store(v.data, v.dtype, row_vec(v, t, h).at + d, x);
}

static void fill_padding(pe_view v, stretch s, double x)
{
    v = view_at(v, s.batch);
    fill_rows(v, 0, s.first, x);
    fill_rows(v, s.first + s.count, v.tokens, x);
}

/* Columns of keys that are not there, in the rows of queries that are. */
static void fill_columns(pe_view v, stretch q, stretch k, double x)
{
    v = view_at(v, q.batch);
    for (int64_t t = q.first; v.data && t < q.first + q.count; t++)
        for (int64_t h = 0; h < v.heads; h++)
            for (int64_t d = 0; d < v.dim; d++)
                if (d < k.first || d >= k.first + k.count)
                    num_store(v.data, v.dtype, row_vec(v, t, h).at + d, x);
}

static void clear_piece(const call *c, stretch q)
{
    int64_t H = c->e->shape.heads, Tq = c->a.q.tokens;
    for (int64_t t = 0; c->piece.out && t < Tq; t++) {
        if (t >= q.first && t < q.first + q.count)
            continue;
        for (int64_t r = (q.batch * Tq + t) * H; r < (q.batch * Tq + t + 1) * H; r++) {
            c->piece.max[r] = -INFINITY;
            c->piece.sum[r] = 0;
            for (int64_t d = 0; d < c->a.v.dim; d++)
                c->piece.out[r * c->a.v.dim + d] = 0;
        }
    }
}

void call_clear_padding(const call *c, int64_t s)
{
    stretch q = stretch_of(&c->a.q_lengths, s, c->a.q.tokens), k = stretch_of(&c->a.k_lengths, s, c->Tk);
    if (c->a.q_lengths.offset) /* packed: there is none */
        return;
    if (c->piece.out)
        clear_piece(c, q);
    else {
        fill_padding(c->a.out, q, 0);
        fill_padding(c->a.lse, q, -INFINITY);
    }
    fill_padding(c->a.scores, q, -INFINITY);
    fill_padding(c->a.probabilities, q, 0);
    fill_columns(c->a.scores, q, k, -INFINITY);
    fill_columns(c->a.probabilities, q, k, 0);
}

void call_clear_padding_back(const call *c, int64_t s)
{
    if (c->g.accumulate)
        return;
    const pe_view by_query[] = { c->g.dq, c->g.dq_gates, c->g.drelative };
    const pe_view by_key[] = { c->g.dk, c->g.dv, c->g.dk_gates };
    for (int i = 0; i < COUNT_OF(by_query) && !c->a.q_lengths.offset; i++)
        fill_padding(by_query[i], stretch_of(&c->a.q_lengths, s, c->a.q.tokens), 0);
    for (int i = 0; i < COUNT_OF(by_key) && !c->a.k_lengths.offset; i++)
        fill_padding(by_key[i], stretch_of(&c->a.k_lengths, s, c->Tk), 0);
}

/* ------------------------------------------------ checks */

static pe_status check_keys(call *c, pe_error *err)
{
    pe_attention *a = &c->a;
    const pe_shape *s = &c->e->shape;
    bool same =
        c->e->hooks & PE_HOOK_VALUE || (c->rotating && (c->rotating->rotates_value || c->rotating->rotates_output));
    TRY(check_typed(&a->k, "k", (extent){ -1, -1, s->kv_heads, s->head_dim }, &types_cache, READS, err));
    TRY(check_typed(&a->v, "v", (extent){ a->k.batch, a->k.tokens, s->kv_heads, same ? s->head_dim : -1 }, &types_cache,
                    READS, err));
    if (a->v.dim > PE_HEAD_DIM_MAX)
        return pe_fail(err, PE_ERR_SHAPE, "v: dim is %" PRId64 "; needs %d at most", a->v.dim, PE_HEAD_DIM_MAX);
    return PE_OK;
}

static pe_status check_inputs(call *c, pe_error *err)
{
    pe_attention *a = &c->a;
    pe_inputs in = pe_encoding_inputs(c->e);
    int64_t H = c->e->shape.heads, keys = a->pages.table ? c->sequences : a->k.batch;
    TRY(check_input(&a->q_gates, "q_gates", in.gates, (extent){ a->q.batch, a->q.tokens, H, 1 }, err));
    TRY(check_input(&a->k_gates, "k_gates", in.gates, (extent){ keys, c->Tk, H, 1 }, err));
    return check_input(&a->relative, "relative", in.relative, (extent){ a->q.batch, a->q.tokens, H, in.relative }, err);
}

static pe_status check_numbers(const pe_attention *a, int64_t heads, pe_error *err)
{
    if (a->sinks.data)
        TRY(check_block(a->sinks, "sinks", heads, "one per head", false, err));
    if (!(a->soft_cap >= 0) || isinf(a->soft_cap))
        return pe_fail(err, PE_ERR_RANGE, "soft_cap is %s; needs 0 (none) or a finite number above",
                       text_show(a->soft_cap).text);
    if (!isfinite(a->scale))
        return pe_fail(err, PE_ERR_RANGE, "scale is %s; needs a finite number (0: the encoding's own)",
                       text_show(a->scale).text);
    return PE_OK;
}

/* A table by distance, a mask by position and a rotation that is centred at the query have whole positions. */
static bool takes_fractions(const call *c)
{
    return adds_between(c->e, ~0u) && rotates_between(c->rotating) && !(c->rotating && c->rotating->recentres) &&
           c->a.mask.align != PE_ALIGN_POSITION;
}

pe_status call_open(call *c, const pe_encoding *e, const pe_attention *given, const pe_run *run, pe_error *err)
{
    CHECK_POINTER(pe_encoding, e, "the encoding");
    *c = (call){ .e = e, .rotating = rotating_part(e, PE_QUERY) };
    CHECK_STRUCT(pe_attention, &c->a, given, "the attention problem");
    TRY(check_run(&c->run, run, err));
    TRY(plan_check(c->run.plan, e, &c->run, err));
    pe_attention *a = &c->a;
    c->scale = a->scale != 0 ? a->scale : e->scale;
    TRY(check_view(&a->q, "q", (extent){ -1, -1, e->shape.heads, e->shape.head_dim }, READS, err));
    TRY(check_keys(c, err));
    TRY(check_sequences(c, err));
    bool real = takes_fractions(c);
    int64_t keys = a->pages.table ? c->sequences : a->k.batch;
    TRY(check_positions_real(&a->q_at, "q_at", a->q.batch, a->q.tokens, e->axes, real, err));
    TRY(check_positions_real(&a->k_at, "k_at", keys, c->Tk, e->axes, real, err));
    extent scores = { c->sequences, a->q.tokens, e->shape.heads, c->Tk };
    TRY(check_mask(a, scores, &types_bool, &types_float, err));
    TRY(check_inputs(c, err));
    return check_numbers(a, e->shape.heads, err);
}

pe_status call_work(const call *c, size_t needed, const char *asked, pe_error *err)
{
    return check_work(&c->run, needed, "", asked, err);
}

#define INPUTS 18

/* Nothing that is written, `more`, overlaps what is read or the work memory. */
pe_status call_apart(const call *c, const region *more, int count, bool params, pe_error *err)
{
    const pe_attention *a = &c->a;
    const region read[INPUTS] = {
        view_region("q", a->q, READS),
        view_region("k", a->k, READS),
        view_region("v", a->v, READS),
        view_region("q_gates", a->q_gates, READS),
        view_region("k_gates", a->k_gates, READS),
        view_region("relative", a->relative, READS),
        view_region("mask.keep", a->mask.keep, READS),
        view_region("mask.additive", a->mask.additive, READS),
        positions_region("q_at", a->q_at),
        positions_region("k_at", a->k_at),
        params_region("params", params ? c->run.params : (pe_params){ 0 }, READS),
        params_region("sinks", a->sinks, READS),
        array_region("q_lengths.length", a->q_lengths.length, c->sequences, 8, READS),
        array_region("k_lengths.length", a->k_lengths.length, c->sequences, 8, READS),
        array_region("q_lengths.offset", a->q_lengths.offset, a->q_lengths.sequences + 1, 8, READS),
        array_region("k_lengths.offset", a->k_lengths.offset, a->k_lengths.sequences + 1, 8, READS),
        array_region("pages.table", a->pages.table, c->sequences * a->pages.columns, 4, READS),
        array_region("work", c->run.work, (int64_t)c->run.work_bytes, 1, WRITES),
    };
    region all[INPUTS + 16];
    for (int i = 0; i < INPUTS; i++)
        all[i] = read[i];
    for (int i = 0; i < count; i++)
        all[INPUTS + i] = more[i];
    return check_memory(all, INPUTS + count, false, err);
}

/* A matrix of scores for people who look. */
static pe_status check_scores(const call *c, pe_view *v, const char *name, pe_error *err)
{
    if (!v->data)
        return PE_OK;
    TRY(check_padded(&c->a, name, err));
    return check_view(v, name, (extent){ c->sequences, c->a.q.tokens, c->e->shape.heads, c->Tk }, WRITES, err);
}

pe_status call_outputs(call *c, bool written, pe_error *err)
{
    pe_attention *a = &c->a;
    int64_t heads = c->e->shape.heads, batch = a->q.batch, tokens = a->q.tokens;
    use how = written ? WRITES : READS;
    TRY(check_view(&a->out, "out", (extent){ batch, tokens, heads, a->v.dim }, how, err));
    if (a->lse.data)
        TRY(check_view(&a->lse, "lse", (extent){ batch, tokens, heads, 1 }, how, err));
    if (!written) {
        a->scores = a->probabilities = (pe_view){ 0 };
        c->outputs = true;
        return PE_OK;
    }
    TRY(check_scores(c, &a->scores, "scores", err));
    TRY(check_scores(c, &a->probabilities, "probabilities", err));
    c->outputs = true;
    const region s[] = { view_region("out", a->out, WRITES), view_region("lse", a->lse, WRITES),
                         view_region("scores", a->scores, WRITES),
                         view_region("probabilities", a->probabilities, WRITES) };
    return call_apart(c, s, COUNT_OF(s), true, err);
}

pe_status call_gradients(call *c, const pe_attention_grad *given, pe_error *err)
{
    CHECK_STRUCT(pe_attention_grad, &c->g, given, "the gradient");
    const pe_attention *a = &c->a;
    pe_attention_grad *g = &c->g;
    pe_view *written[] = { &g->dq, &g->dk, &g->dv, &g->dadditive, &g->dq_gates, &g->dk_gates, &g->drelative };
    static const char *const name[] = { "dq", "dk", "dv", "dadditive", "dq_gates", "dk_gates", "drelative" };
    const pe_view *like[] = { &a->q, &a->k, &a->v, &a->mask.additive, &a->q_gates, &a->k_gates, &a->relative };
    region s[14] = { 0 };
    if (a->pages.table || problem_blocks(a->k) || problem_blocks(a->v))
        return pe_fail(err, PE_ERR_UNSUITED,
                       "k and v lie in pages or blocks; gradients need them as sequences of float32, float16 or "
                       "bfloat16");
    TRY(check_view(&g->dout, "dout", (extent){ a->q.batch, a->q.tokens, c->e->shape.heads, a->v.dim }, READS, err));
    for (int i = 0; i < COUNT_OF(written); i++) {
        const pe_view *x = like[i];
        if (!written[i]->data)
            continue;
        if (!x->data && i >= 3)
            return pe_fail(err, i == 3 ? PE_ERR_NULL : PE_ERR_UNSUITED, "%s is given; %s", name[i],
                           i == 3 ? "the mask has no additive part" : "the encoding takes no such input");
        TRY(check_view(written[i], name[i], (extent){ x->batch, x->tokens, x->heads, x->dim }, WRITES, err));
        s[i + 1] = view_region(name[i], *written[i], WRITES);
    }
    if (g->dsinks.data)
        TRY(check_block(g->dsinks, "dsinks", c->e->shape.heads, "one per head", true, err));
    TRY(check_grads(c->e, g->dparams, err));
    if ((uintptr_t)g->carry % _Alignof(double) || (uintptr_t)g->dcarry % _Alignof(double))
        return pe_fail(err, PE_ERR_ALIGN, "carry and dcarry are not aligned to their 8-byte elements");
    int64_t rows = a->q.batch * a->q.tokens * c->e->shape.heads;
    s[0] = view_region("dout", g->dout, READS);
    s[8] = params_region("dparams", g->dparams, WRITES);
    s[9] = params_region("dsinks", g->dsinks, WRITES);
    s[10] = array_region("carry", g->carry, rows, sizeof(double), READS);
    s[11] = array_region("dcarry", g->dcarry, rows, sizeof(double), WRITES);
    s[12] = view_region("out", a->out, READS);
    s[13] = view_region("lse", a->lse, READS);
    return call_apart(c, s, COUNT_OF(s), true, err);
}
