/* SPDX-License-Identifier: MIT
 *
 * Fused attention, forward: many queries in tiles, each by one worker; few queries in pieces of the keys. */
#include "attention/fused.h"

/* Sums of rows to out and lse, or to the caller's piece. */
static void end_rows(const fused *f, const tile *t, const state *st)
{
    if (!f->p.piece.out) {
        finish_rows(&f->p, f->k, t, st->O, f->Dw, st->max, st->sum);
        return;
    }
    for (int64_t r = 0; r < t->heads * t->m; r++) {
        int64_t h = t->h + r / t->m, i = t->i + r % t->m, to = i * f->H + h;
        f->k->widen(f->p.piece.out + to * f->Dv, st->O + r * f->Dw, PE_F32, f->Dv);
        f->p.piece.max[to] = st->max[r];
        f->p.piece.sum[to] = (float)st->sum[r];
        if (f->carries)
            f->p.piece.carry[h * f->p.carry_row + i] = st->carry[r];
    }
}

/* ------------------------------------------------ scores for people who look */

/* Scores of a tile, and weights by the row's log-sum-exp; what no tile holds is hidden. */
static void store_scores(const fused *f, const scratch *s, const tile *t, const double *lse)
{
    for (int64_t r = 0; r < t->heads * t->m; r++)
        for (int64_t j = 0; j < t->n; j++) {
            int64_t h = t->h + r / t->m, i = t->i + r % t->m;
            double x = (double)s->S[r * BK + j];
            pe_view to = f->p.a.scores, prob = f->p.a.probabilities;
            if (to.data)
                num_store(to.data, to.dtype, row_vec(to, i, h).at + t->j + j, x);
            if (prob.data)
                num_store(prob.data, prob.dtype, row_vec(prob, i, h).at + t->j + j,
                          x == -INFINITY ? 0 : exp(x - lse[r]));
        }
}

/* Softmax needs each row's sum first: there are two passes over the keys. */
static void scores_tile(const fused *f, scratch *s, tile *t, double *lse, bool store)
{
    state st = { s->O, s->max, s->sum, s->carry };
    tile_clear(f, t, &st);
    tile_begin(f, s, t);
    for (int64_t r = 0; r < t->heads * t->m; r++)
        st.carry[r] = 0;
    for (int64_t b = f->tiles - 1; b >= 0; b--) {
        t->j = b * BK;
        t->n = f->Tk - t->j < BK ? f->Tk - t->j : BK;
        sight what = mask_tile(f, t);
        for (int64_t n = 0; what == SEES_NONE && n < BQ * BK; n++)
            s->S[n] = -INFINITY;
        if (what != SEES_NONE) {
            ready_keys(f, s, t, true);
            keys k = ready_tile(f, s, t->h / f->group, t->j, t->n);
            tile_scores(f, s, t, &k, s->qs, &st, what);
        }
        if (store)
            store_scores(f, s, t, lse);
        for (int64_t r = 0; !store && r < t->heads * t->m; r++) {
            float factor, sum = f->k->soften(s->S + r * BK, up_to(t->n, LANES), &st.max[r], &factor);
            st.sum[r] = st.sum[r] * (double)factor + (double)sum;
        }
    }
}

static void scores_write(fused *f)
{
    scratch *s = &f->scratch[0];
    const pe_params sinks = f->p.a.sinks;
    double lse[BQ];
    for (int64_t h = 0; h < f->H; h++)
        for (int64_t i = 0; i < f->Tq; i += BQ) {
            tile t = { h, 1, i, f->Tq - i < BQ ? f->Tq - i : BQ, 0, 0 };
            tile_queries(f, &t, s->qs);
            scores_tile(f, s, &t, lse, false);
            for (int64_t r = 0; r < t.m; r++) {
                double sink = sinks.data ? num_load(sinks.data, sinks.dtype, h) : -INFINITY, max = (double)s->max[r];
                double most = sink > max ? sink : max;
                lse[r] = most + log((max == -INFINITY ? 0 : s->sum[r] * exp(max - most)) +
                                    (sink == -INFINITY ? 0 : exp(sink - most)));
            }
            scores_tile(f, s, &t, lse, true);
        }
}

/* ------------------------------------------------ sums of rows */

static double carry_in(const fused *f, int64_t h, int64_t i)
{
    return f->p.piece.out && f->carries ? count_step(f->p.piece.carry[h * f->p.carry_row + i]) : 0;
}

/* The last queries see most: they go first. */
static void one_tile(void *arg, int64_t n, int worker)
{
    const fused *f = arg;
    scratch *s = &f->scratch[worker];
    int64_t h = n % f->H, i = (fused_queries(f) - 1 - n / f->H) * BQ;
    tile t = { h, 1, i, f->Tq - i < BQ ? f->Tq - i : BQ, 0, 0 };
    state st = { s->O, s->max, s->sum, s->carry };
    for (int64_t r = 0; r < t.m; r++)
        st.carry[r] = carry_in(f, h, i + r);
    tile_queries(f, &t, s->qs);
    tile_clear(f, &t, &st);
    tile_begin(f, s, &t);
    for (int64_t b = 0; b < f->tiles; b++) {
        t.j = (f->carries ? f->tiles - 1 - b : b) * BK;
        t.n = f->Tk - t.j < BK ? f->Tk - t.j : BK;
        if (mask_tile(f, &t) == SEES_NONE)
            continue;
        keys k = ready_tile(f, s, h / f->group, t.j, t.n);
        tile_step(f, s, &t, &k, s->qs, &st);
    }
    end_rows(f, &t, &st);
}

/* All heads meet one tile of keys: those of a group, or as many as fit, at a time. only_count: for st's carry alone. */
static void meet_keys(const fused *f, scratch *s, state *st, int64_t j, int64_t n, bool first, bool only_count)
{
    int64_t most = BQ / f->Tq;
    const tile all = { 0, f->H, 0, f->Tq, j, n };
    if (mask_tile(f, &all) == SEES_NONE)
        return;
    ready_keys(f, s, &all, first);
    for (int64_t g = 0; g < f->G; g++) {
        keys k = ready_tile(f, s, g, j, n);
        for (int64_t h = g * f->group, heads; h < (g + 1) * f->group; h += heads) {
            heads = (g + 1) * f->group - h < most ? (g + 1) * f->group - h : most;
            tile t = { h, heads, 0, f->Tq, j, n };
            int64_t r = h * f->Tq;
            state here = { st->O + r * f->Dw, st->max + r, st->sum + r, f->carries ? st->carry + r : NULL };
            sight what = mask_tile(f, &t);
            tile_begin(f, s, &t);
            if (!only_count)
                tile_step(f, s, &t, &k, s->qs + r * f->Dp, &here);
            else if (what != SEES_NONE)
                tile_scores(f, s, &t, &k, s->qs + r * f->Dp, &here, what);
        }
    }
}

static state chunk_state(const fused *f, int64_t c)
{
    int64_t rows = f->H * f->Tq;
    return (state){ f->piece.O + c * rows * f->Dw, f->piece.max + c * rows, f->piece.sum + c * rows,
                    f->carries ? f->piece.carry + c * rows : NULL };
}

static void meet_chunk(const fused *f, scratch *s, int64_t c, bool only_count)
{
    int64_t from = c * f->piece.keys, to = from + f->piece.keys, low, high, unused;
    mask_range(f, 0, &low, &unused); /* ranges move right with the query: */
    mask_range(f, f->Tq - 1, &unused, &high);
    from = from > low ? from : low / BK * BK; /* no query sees what lies before this, or from there on */
    to = to < high ? to : high;
    tile all = { 0, f->H, 0, f->Tq, 0, 0 };
    state st = chunk_state(f, c);
    tile_queries(f, &all, s->qs);
    tile_clear(f, &all, &st);
    for (int64_t b = 0, tiles = to > from ? up_to(to - from, BK) / BK : 0; b < tiles; b++) {
        int64_t at = from + (f->carries ? tiles - 1 - b : b) * BK; /* counted from the right */
        meet_keys(f, s, &st, at, to - at < BK ? to - at : BK, b == 0, only_count);
    }
}

static void one_chunk(void *arg, int64_t c, int worker)
{
    const fused *f = arg;
    meet_chunk(f, &f->scratch[worker], c, false);
}

/* What chunk c + 1 counts, from 0. Nothing is left of the first. */
static void count_chunk(void *arg, int64_t c, int worker)
{
    const fused *f = arg;
    clear_doubles(chunk_state(f, c + 1).carry, f->H * f->Tq);
    meet_chunk(f, &f->scratch[worker], c + 1, true);
}

/* From what each chunk counts to what it begins with: what was counted right of it. */
static void place_chunks(const fused *f)
{
    int64_t rows = f->H * f->Tq;
    for (int64_t r = 0; r < rows; r++) {
        double so_far = carry_in(f, r / f->Tq, r % f->Tq);
        for (int64_t c = f->piece.count - 1; c >= 0; c--) {
            double *carry = &f->piece.carry[c * rows + r], own = c ? *carry : 0;
            *carry = so_far;
            so_far += own;
        }
    }
}

/* One worker goes on where the last chunk ended. Many count first, all chunks at once, and make their scores
 * twice. The bits are the same, because counts are summed in steps of a fixed size (count_step). */
static void counted_chunks(fused *f)
{
    int64_t rows = f->H * f->Tq, last = f->piece.count - 1;
    if (pool_workers(f->p.pool) > 2) {
        pool_run(f->p.pool, count_chunk, f, last);
        place_chunks(f);
        pool_run(f->p.pool, one_chunk, f, last + 1);
        return;
    }
    for (int64_t c = last; c >= 0; c--) {
        double *carry = f->piece.carry + c * rows;
        for (int64_t r = 0; r < rows; r++)
            carry[r] = c == last ? carry_in(f, r / f->Tq, r % f->Tq) : carry[rows + r];
        one_chunk(f, c, 0);
    }
}

/* Pieces in order, whoever made them. */
static void join_chunks(const fused *f)
{
    state all = chunk_state(f, 0);
    int64_t rows = f->H * f->Tq;
    for (int64_t c = 1; c < f->piece.count; c++) {
        state st = chunk_state(f, c);
        for (int64_t r = 0; r < rows; r++)
            merge_row(all.O + r * f->Dw, &all.max[r], &all.sum[r], st.O + r * f->Dw, st.max[r], st.sum[r], f->Dw);
    }
    end_rows(f, &(tile){ 0, f->H, 0, f->Tq, 0, 0 }, &all);
}

static void fused_forward_pass(fused *f)
{
    if (!f->Tq)
        return;
    fused_ready(f);
    if (!f->direct)
        pool_run(f->p.pool, one_tile, f, fused_queries(f) * f->H);
    else {
        if (f->carries)
            counted_chunks(f);
        else
            pool_run(f->p.pool, one_chunk, f, f->piece.count);
        join_chunks(f);
    }
    if (f->p.a.scores.data || f->p.a.probabilities.data)
        scores_write(f);
}

static void clear_padding(const call *c)
{
    for (int64_t s = 0; s < c->sequences; s++)
        call_clear_padding(c, s);
}

pe_status pe_attention_forward(const pe_encoding *e, const pe_attention *a, const pe_run *run, pe_error *err)
{
    fused_call f;
    TRY(fused_open(&f, e, a, run, false, err));
    TRY(fused_check(&f, err));
    TRY(call_outputs(&f.c, true, err));
    if (f.c.a.out.dtype == PE_F64)
        return pe_fail(err, PE_ERR_DTYPE, "out is float64; fused attention takes float32, float16 and bfloat16");
    fused_each(&f, fused_forward_pass);
    clear_padding(&f.c);
    return pe_pass(err);
}

pe_status pe_attention_partial(const pe_encoding *e, const pe_attention *a, pe_partial piece, const pe_run *run,
                               pe_error *err)
{
    fused_call f;
    TRY(fused_open(&f, e, a, run, false, err));
    TRY(fused_check(&f, err));
    TRY(partial_check(&f.c, piece, err));
    f.c.piece = piece;
    f.c.a.scores = f.c.a.probabilities = (pe_view){ 0 };
    fused_each(&f, fused_forward_pass);
    clear_padding(&f.c);
    return pe_pass(err);
}
