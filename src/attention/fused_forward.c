/* SPDX-License-Identifier: MIT
 *
 * Fused attention, forward: many queries in tiles, each by one worker; few queries in pieces of the keys. */
#include "attention/fused.h"

/* Sums of rows to out and lse, or to the caller's piece. */
static void end_rows(const fused *f, const tile *t, const state *st)
{
    if (!f->piece.out) {
        finish_rows(&f->p, f->k, t, st->O, f->Dw, st->max, st->sum);
        return;
    }
    for (int64_t r = 0; r < t->heads * t->m; r++) {
        int64_t h = t->h + r / t->m, i = t->i + r % t->m, to = i * f->H + h;
        f->k->widen(f->piece.out + to * f->Dv, st->O + r * f->Dw, PE_F32, f->Dv);
        f->piece.max[to] = st->max[r];
        f->piece.sum[to] = (float)st->sum[r];
        if (f->count)
            f->piece.carry[h * f->Tq + i] = st->carry[r];
    }
}

static double carry_in(const fused *f, int64_t h, int64_t i)
{
    return f->piece.out && f->count ? f->piece.carry[h * f->Tq + i] : 0;
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
    tile_begin(f, s, &t, &st);
    for (int64_t b = 0; b < f->tiles; b++) {
        t.j = (f->count ? f->tiles - 1 - b : b) * BK;
        t.n = f->Tk - t.j < BK ? f->Tk - t.j : BK;
        if (mask_tile(f, &t) == SEES_NONE)
            continue;
        keys k = ready_tile(f, s, h / f->group, t.j, t.n);
        tile_step(f, s, &t, &k, s->qs, &st);
    }
    end_rows(f, &t, &st);
}

/* What every query has for every count, once for all keys: one piece has them all. */
static void count_queries(const fused *f, scratch *s)
{
    bool odd = false;
    for (int64_t h = 0; f->count && h < f->H; h++) {
        s->counts = f->counts + h * f->Tq * f->count_columns;
        lookups_counts(f, s, &(tile){ h, 1, 0, f->Tq, 0, 0 });
        odd = odd || s->counts_odd;
    }
    s->counts_odd = odd;
}

/* All heads meet one tile of keys: those of a group, or as many as fit, at a time. */
static void meet_keys(const fused *f, scratch *s, state *st, int64_t j, int64_t n)
{
    int64_t most = BQ / f->Tq;
    ready_touch(f, j, n);
    ready_keys(f, s, j, n);
    for (int64_t g = 0; g < f->G; g++) {
        keys k = ready_tile(f, s, g, j, n);
        for (int64_t h = g * f->group, heads; h < (g + 1) * f->group; h += heads) {
            heads = (g + 1) * f->group - h < most ? (g + 1) * f->group - h : most;
            tile t = { h, heads, 0, f->Tq, j, n };
            int64_t r = h * f->Tq;
            lookups_begin(f, s);
            s->counts = f->count ? f->counts + r * f->count_columns : NULL;
            tile_step(f, s, &t, &k, s->qs + r * f->Dp,
                      &(state){ st->O + r * f->Dw, st->max + r, st->sum + r, f->count ? st->carry + r : NULL });
        }
    }
}

static state chunk_state(const fused *f, int64_t c)
{
    int64_t rows = f->H * f->Tq;
    return (state){ f->part_O + c * rows * f->Dw, f->part_max + c * rows, f->part_sum + c * rows, f->part_carry };
}

static void one_chunk(void *arg, int64_t c, int worker)
{
    const fused *f = arg;
    scratch *s = &f->scratch[worker];
    int64_t from = c * f->chunk, to = from + f->chunk, low, high, unused;
    mask_range(f, 0, &low, &unused); /* ranges move right with the query: */
    mask_range(f, f->Tq - 1, &unused, &high);
    from = from > low ? from : low / BK * BK; /* no query sees what lies before this, or from there on */
    to = to < high ? to : high;
    tile all = { 0, f->H, 0, f->Tq, 0, 0 };
    state st = chunk_state(f, c);
    tile_queries(f, &all, s->qs);
    count_queries(f, s);
    for (int64_t r = 0; r < f->H * f->Tq; r++) {
        st.max[r] = -INFINITY;
        st.sum[r] = 0;
    }
    for (int64_t n = 0; n < f->H * f->Tq * f->Dw; n++)
        st.O[n] = 0;
    for (int64_t b = 0, tiles = to > from ? up_to(to - from, BK) / BK : 0; b < tiles; b++) {
        int64_t at = from + (f->count ? tiles - 1 - b : b) * BK; /* counted from the right */
        meet_keys(f, s, &st, at, to - at < BK ? to - at : BK);
    }
}

/* Pieces in order, whoever made them. */
static void join_chunks(const fused *f)
{
    state all = chunk_state(f, 0);
    int64_t rows = f->H * f->Tq;
    for (int64_t c = 1; c < f->chunks; c++) {
        state st = chunk_state(f, c);
        for (int64_t r = 0; r < rows; r++)
            merge_row(all.O + r * f->Dw, &all.max[r], &all.sum[r], st.O + r * f->Dw, st.max[r], st.sum[r], f->Dw);
    }
    end_rows(f, &(tile){ 0, f->H, 0, f->Tq, 0, 0 }, &all);
}

static void forward(fused *f)
{
    if (!f->Tq)
        return;
    fused_ready(f);
    if (!f->direct) {
        pool_run(f->p.a.pool, one_tile, f, fused_queries(f) * f->H);
        return;
    }
    for (int64_t r = 0; f->count && r < f->H * f->Tq; r++)
        f->part_carry[r] = carry_in(f, r / f->Tq, r % f->Tq);
    pool_run(f->p.a.pool, one_chunk, f, f->chunks);
    join_chunks(f);
}

pe_status pe_attention_forward(const pe_encoding *e, pe_params w, const pe_attention *a, void *memory, size_t bytes,
                               pe_error *err)
{
    fused f;
    TRY(fused_open(&f, e, w, a, false, memory, bytes, err));
    TRY(problem_outputs(&f.p, err));
    if (f.p.a.out.dtype == PE_F64)
        return pe_fail(err, PE_ERR_DTYPE, "out is float64; fused attention takes float32, float16 and bfloat16");
    forward(&f);
    return pe_pass(err);
}

pe_status pe_attention_partial(const pe_encoding *e, pe_params w, const pe_attention *a, pe_partial piece, void *memory,
                               size_t bytes, pe_error *err)
{
    fused f;
    TRY(fused_open(&f, e, w, a, false, memory, bytes, err));
    TRY(partial_check(&f.p, piece, err));
    f.piece = piece;
    forward(&f);
    return pe_pass(err);
}
