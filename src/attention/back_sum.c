/* SPDX-License-Identifier: MIT
 *
 * Ledgers, one per item of work, added up in a fixed order into the caller's gradients: same bits for any pool. */
#include "attention/fused.h"

static void zero(float *x, int64_t n)
{
    for (int64_t i = 0; x && i < n; i++)
        x[i] = 0;
}

static void zero_doubles(double *x, int64_t n)
{
    for (int64_t i = 0; x && i < n; i++)
        x[i] = 0;
}

static int64_t count_heads(const fused *f)
{
    return f->count->tensor[f->count->count.table].shape[1];
}

void back_clear(fused *f)
{
    for (int n = 0; n < f->lines; n++) {
        line *l = &f->line[n];
        int64_t total = l->p->absolute ? 0 : l->w->total, H = f->splits * f->H, items = f->splits * f->G;
        zero(l->dtable, H * total);
        zero(l->dmeasure, items * total);
        zero(l->dshare, items * f->Tq);
        zero_doubles(l->dlevel, H * (l->knots + 1));
        zero_doubles(l->dslope, H * (l->knots + 1));
    }
    for (int n = 0; n < f->lookups; n++) {
        lookup *l = &f->lookup[n];
        zero(l->drows, fused_copies(f, l->heads) * l->columns * l->width);
        zero(l->dextra, f->splits * f->H * f->Dp);
    }
    const part *turns = f->p.turns;
    int64_t each = turns && turns->trained ? turns->axes * turns->pairs : 0;
    zero_doubles(f->dturn_q, f->splits * f->H * each);
    zero_doubles(f->dturn_k, up_to(f->Tk, LOAD) / LOAD * f->G * each);
    if (f->count)
        zero(f->dcount, fused_copies(f, count_heads(f)) * f->count_columns * f->Dp);
}

/* ------------------------------------------------ bias */

static double over_splits(const float *x, int64_t splits, int64_t apart)
{
    double sum = 0;
    for (int64_t c = 0; c < splits; c++)
        sum += (double)x[c * apart];
    return sum;
}

static void sum_table(const fused *f, const line *l)
{
    const row *r = l->p->row;
    int64_t total = l->w->total;
    for (int64_t x = 0; x < total; x++) {
        int64_t d = walk_distance(l->w, x);
        if (walk_pads(l->w, x))
            continue;
        double m = part_measure(l->p, f->p.w, d), dm = 0;
        for (int64_t h = 0; h < f->H; h++) {
            double db = over_splits(l->dtable + h * total + x, f->splits, f->H * total);
            if (db != 0)
                dm += r->bias_back(l->p, f->p.w, f->p.g.dparams, h, m, l->factor * db);
        }
        if (r->measure_back)
            r->measure_back(l->p, f->p.w, f->p.g.dparams, d, dm);
    }
}

/* Inside a piece every gradient is linear in x: two points of it, weighted, stand for all that were there. */
static void sum_piece(const fused *f, const line *l, int64_t h, int64_t s)
{
    double a, b, level = 0, slope = 0;
    line_points(l, s, &a, &b);
    for (int64_t c = 0; c < f->splits; c++) {
        level += l->dlevel[(c * f->H + h) * (l->knots + 1) + s];
        slope += l->dslope[(c * f->H + h) * (l->knots + 1) + s];
    }
    if (level == 0 && slope == 0)
        return;
    double at_b = b != a ? (slope - level * a) / (b - a) : 0;
    l->p->row->bias_back(l->p, f->p.w, f->p.g.dparams, h, a, l->factor * (level - at_b));
    l->p->row->bias_back(l->p, f->p.w, f->p.g.dparams, h, b, l->factor * at_b);
}

static void sum_pieces(const fused *f, const line *l)
{
    int64_t total = l->w->total, items = f->splits * f->G;
    for (int64_t h = 0; h < f->H; h++)
        for (int64_t s = 0; s <= l->knots; s++)
            sum_piece(f, l, h, s);
    for (int64_t x = 0; l->dmeasure && x < total; x++)
        if (!walk_pads(l->w, x))
            l->p->row->measure_back(l->p, f->p.w, f->p.g.dparams, walk_distance(l->w, x),
                                    over_splits(l->dmeasure + x, items, total));
    for (int64_t i = 0; l->dshare && i < f->Tq; i++) {
        int64_t at[PE_AXES_MAX];
        l->p->row->share_back(l->p, f->p.w, f->p.g.dparams, position(f->p.a.q_at, i, at),
                              over_splits(l->dshare + i, items, f->Tq));
    }
}

/* ------------------------------------------------ tables */

static void sum_lookup(const fused *f, const lookup *l)
{
    int64_t size = l->columns * l->width, dims = l->t->side == PE_VALUE ? f->Dv : f->D;
    int64_t apart = l->heads == 1 ? size : f->H * size, count = l->heads == 1 ? f->splits * f->G : f->splits;
    double factor = l->t->side == PE_QUERY ? 1 : l->factor;
    for (int64_t h = 0; h < l->heads; h++)
        for (int64_t c = 0; c < l->columns; c++)
            for (int64_t d = 0; d < dims; d++)
                part_entry_grad(l->p, f->p.g.dparams, l->t, lookups_row(l, c), h, d,
                                factor * over_splits(l->drows + h * size + c * l->width + d, count, apart));
}

static void sum_extra(const fused *f, const lookup *l)
{
    for (int64_t h = 0; h < f->H; h++)
        for (int64_t d = 0; d < f->D; d++)
            grad(l->p, f->p.g.dparams, l->t->extra, h * f->D + d,
                 over_splits(l->dextra + h * f->Dp + d, f->splits, f->H * f->Dp));
}

static void sum_counts(const fused *f)
{
    const part *p = f->count;
    int64_t heads = count_heads(f), size = f->count_columns * f->Dp;
    int64_t apart = heads == 1 ? size : f->H * size, count = heads == 1 ? f->splits * f->G : f->splits;
    for (int64_t h = 0; h < heads; h++)
        for (int64_t c = 0; c <= f->count_last; c++)
            for (int64_t d = 0; d < f->D; d++)
                grad(p, f->p.g.dparams, p->count.table, (c * heads + h) * f->D + d,
                     over_splits(f->dcount + h * size + c * f->Dp + d, count, apart));
}

static void sum_sinks(const fused *f)
{
    const pe_params sinks = f->p.a.sinks, to = f->p.g.dsinks;
    for (int64_t h = 0; h < f->H; h++) {
        double sink = num_load(sinks.data, sinks.dtype, h), sum = 0;
        for (int64_t i = 0; i < f->Tq && sink != -INFINITY; i++)
            sum -= exp(sink - (double)f->lse[h * f->Tq + i]) * (double)f->mean[h * f->Tq + i];
        num_add(to.data, to.dtype, h, sum);
    }
}

/* ------------------------------------------------ keys and values */

void fused_store(const fused *f, pe_view to, int64_t t, int64_t h, float *x)
{
    char *row_at = (char *)to.data + dtype_bytes(to.dtype, row_vec(to, t, h).at);
    if (f->p.g.accumulate)
        for (int64_t d = 0; d < to.dim; d++)
            x[d] = (float)((double)x[d] + num_load(row_at, to.dtype, d));
    f->k->narrow(row_at, to.dtype, x, to.dim);
}

typedef struct token_grad {
    fused *f;
    const float *from; /* (items, tiles BK, padded) */
    int64_t dim, padded;
    pe_view to;
    pe_side side;
    bool turn;
} token_grad;

/* Of frequencies that are trained: the ledger of these keys; x (count, G, D) has their gradients, still turned. */
static void frequencies_of_keys(const fused *f, float *x, int64_t t, int64_t count)
{
    const part *p = f->p.turns;
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < f->G; k++) {
            int64_t at[PE_AXES_MAX];
            trained_grad(
                p, position(f->p.a.k_at, t + i, at), (vec){ f->kr, PE_F32, (k * f->tiles * BK + t + i) * f->Dp },
                (vec){ x, PE_F32, (i * f->G + k) * f->D }, f->dturn_k + (t / LOAD * f->G + k) * p->axes * p->pairs);
        }
}

static void sum_frequencies(const fused *f)
{
    const part *p = f->p.turns;
    int64_t each = p->axes * p->pairs;
    for (int64_t n = 0; n < f->splits * f->H; n++)
        trained_store(p, f->p.g.dparams, trained_head(p, f->H, n % f->H), f->dturn_q + n * each);
    for (int64_t n = 0; f->dturn_k && n < up_to(f->Tk, LOAD) / LOAD * f->G; n++)
        trained_store(p, f->p.g.dparams, trained_head(p, f->G, n % f->G), f->dturn_k + n * each);
}

/* LOAD tokens, all heads: added up, turned back, stored. */
static void sum_tokens(void *arg, int64_t n, int worker)
{
    const token_grad *g = arg;
    const fused *f = g->f;
    float *x = f->scratch[worker].load;
    int64_t t = n * LOAD, count = f->Tk - t < LOAD ? f->Tk - t : LOAD, all = f->tiles * BK * g->padded;
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < f->G; k++)
            for (int64_t d = 0; d < g->dim; d++)
                x[(i * f->G + k) * g->dim + d] =
                    (float)over_splits(g->from + k * all + (t + i) * g->padded + d, f->splits, f->G * all);
    if (g->side == PE_KEY && f->dturn_k && f->p.g.dparams.data)
        frequencies_of_keys(f, x, t, count);
    if (g->turn)
        ready_turn(f, g->side, (turn_mode){ true, false }, x, 0, f->G, g->dim, f->p.a.k_at, t, count,
                   g->side == PE_KEY ? f->k_shift[t / BK] : 0);
    for (int64_t i = 0; g->to.data && i < count; i++)
        for (int64_t k = 0; k < f->G; k++)
            fused_store(f, g->to, t + i, k, x + (i * f->G + k) * g->dim);
}

static void sum_keys(fused *f)
{
    const part *turns = f->p.a.turned ? NULL : f->p.turns;
    token_grad k = { f, f->dk, f->D, f->Dp, f->p.g.dk, PE_KEY, turns != NULL };
    token_grad v = { f, f->dv, f->Dv, f->Dw, f->p.g.dv, PE_VALUE, turns && turns->turns_value };
    int64_t blocks = up_to(f->Tk, LOAD) / LOAD;
    if (k.to.data || f->dturn_k)
        pool_run(f->p.pool, sum_tokens, &k, blocks);
    if (v.to.data)
        pool_run(f->p.pool, sum_tokens, &v, blocks);
}

void back_sum(fused *f)
{
    sum_keys(f);
    if (f->p.g.dsinks.data && f->p.a.sinks.data)
        sum_sinks(f);
    if (!f->p.g.dparams.data)
        return;
    if (f->dturn_q)
        sum_frequencies(f);
    for (int n = 0; n < f->lines; n++)
        if (f->line[n].dtable)
            sum_table(f, &f->line[n]);
        else if (f->line[n].dlevel)
            sum_pieces(f, &f->line[n]);
    for (int n = 0; n < f->lookups; n++) {
        if (f->lookup[n].drows)
            sum_lookup(f, &f->lookup[n]);
        if (f->lookup[n].dextra)
            sum_extra(f, &f->lookup[n]);
    }
    if (f->count)
        sum_counts(f);
}
