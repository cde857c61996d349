/* SPDX-License-Identifier: MIT
 *
 * A tile's gradients of position terms. dP holds the gradients of its scores; what is hidden has 0 there. */
#include "attention/fused.h"

static bool learns(const fused *f, const part *p)
{
    return p->tensors && f->p.g.dparams.data;
}

static void cut_line(fused *f, line *l, char *memory, int64_t *used)
{
    const row *r = l->p->row;
    bool table = l->p->tensors && !l->p->absolute && !l->w->scattered, pieces = table && l->knots >= 0;
    int64_t total = table ? l->w->total : 0, H = f->splits * f->H, items = f->splits * f->G;
    l->dtable = fused_take(memory, used, table && !pieces ? H * total : 0, sizeof(float));
    l->dlevel = fused_take(memory, used, pieces ? H * (l->knots + 1) : 0, sizeof(double));
    l->dslope = fused_take(memory, used, pieces ? H * (l->knots + 1) : 0, sizeof(double));
    l->dmeasure = fused_take(memory, used, pieces && r->measure_back ? items * total : 0, sizeof(float));
    l->dshare = fused_take(memory, used, pieces && r->share_back ? items * f->Tq : 0, sizeof(float));
}

void back_cut(fused *f, char *memory, int64_t *used)
{
    int64_t rows = f->H * f->Tq, items = f->splits * f->G * f->tiles * BK;
    f->dO = fused_take(memory, used, rows, sizeof(float) * (size_t)f->Dw);
    f->mean = fused_take(memory, used, rows, sizeof(float));
    f->lse = fused_take(memory, used, rows, sizeof(float));
    f->lse_low = fused_take(memory, used, rows, sizeof(float));
    f->dk = fused_take(memory, used, items, sizeof(float) * (size_t)f->Dp);
    f->dv = fused_take(memory, used, items, sizeof(float) * (size_t)f->Dw);
    const part *turns = f->p.turns;
    int64_t each = turns && turns->trained ? turns->axes * turns->pairs : 0;
    f->dturn_q = fused_take(memory, used, f->splits * f->H * each, sizeof(double));
    f->dturn_k = fused_take(memory, used, f->p.a.turned ? 0 : up_to(f->Tk, LOAD) / LOAD * f->G * each, sizeof(double));
    for (int n = 0; n < f->lines; n++)
        cut_line(f, &f->line[n], memory, used);
    for (int n = 0; n < f->lookups; n++) {
        lookup *l = &f->lookup[n];
        int64_t columns = l->t->table < 0 || l->odd ? 0 : l->columns;
        l->drows = fused_take(memory, used, fused_copies(f, l->heads) * columns, sizeof(float) * (size_t)l->width);
        l->dextra = fused_take(memory, used, l->t->extra < 0 ? 0 : f->splits * f->H, sizeof(float) * (size_t)f->Dp);
    }
    int64_t heads = f->count ? f->count->tensor[f->count->count.table].shape[1] : 0;
    f->count_rows = fused_take(memory, used, heads * f->count_columns, sizeof(float) * (size_t)f->Dp);
    f->dcount = fused_take(memory, used, f->count ? fused_copies(f, heads) * f->count_columns : 0,
                           sizeof(float) * (size_t)f->Dp);
}

/* ------------------------------------------------ bias */

/* One stretch of measures that rise or fall all the way: sums per piece, and what goes on to measure and share. */
static void pieces_back(const fused *f, const line *l, int64_t h, int64_t i, int64_t item, const float *ds, int64_t x,
                        int64_t n)
{
    int64_t total = l->w->total, at = (item / f->G * f->H + h) * (l->knots + 1);
    for (int64_t j = 0, run; j < n; j += run) {
        int64_t piece = line_piece(l, i, x + j, n - j, &run);
        const float *m = l->table + x + j;
        float share = l->share[i], slope = l->slope[h * (l->knots + 1) + piece], dot = f->k->dot(ds + j, m, run);
        l->dlevel[at + piece] += (double)f->k->sum(ds + j, run);
        l->dslope[at + piece] += (double)dot * (double)share;
        if (l->dmeasure)
            f->k->axpy(l->dmeasure + item * total + x + j, slope * share, ds + j, run);
        if (l->dshare)
            l->dshare[item * f->Tq + i] += slope * dot;
    }
}

static void scattered_back(const fused *f, const line *l, int64_t h, int64_t i, const tile *t, const float *ds)
{
    const row *r = l->p->row;
    int64_t at[PE_AXES_MAX];
    position(f->p.a.q_at, i, at);
    double share = r->share ? r->share(l->p, f->p.w, at) : 1;
    for (int64_t j = 0; j < t->n; j++) {
        if (ds[j] == 0)
            continue;
        int64_t d = (int64_t)((uint64_t)l->w->q[i] - (uint64_t)walk_key(l->w, t->j + j));
        double m = part_measure(l->p, f->p.w, d);
        double dx = r->bias_back(l->p, f->p.w, f->p.g.dparams, h, m * share, l->factor * (double)ds[j]);
        if (r->measure_back)
            r->measure_back(l->p, f->p.w, f->p.g.dparams, d, dx * share);
        if (r->share_back)
            r->share_back(l->p, f->p.w, f->p.g.dparams, at, dx * m);
    }
}

static void line_back(const fused *f, const line *l, int64_t h, int64_t i, int64_t item, const tile *t, const float *ds)
{
    int64_t total = l->w->total;
    if (l->w->scattered) {
        scattered_back(f, l, h, i, t, ds);
        return;
    }
    for (int64_t j = 0, length; j < t->n; j += length) {
        int64_t x = 0, skip, n = walk_stretch(l->w, i, t->j + j, t->n - j, &x, &skip, &length);
        int64_t first = line_turn(l, x, n);
        if (n <= 0)
            continue;
        if (l->knots < 0) {
            f->k->add(l->dtable + (item / f->G * f->H + h) * total + x, ds + j + skip, n);
            continue;
        }
        pieces_back(f, l, h, i, item, ds + j + skip, x, first);
        pieces_back(f, l, h, i, item, ds + j + skip + first, x + first, n - first);
    }
}

void back_lines(const fused *f, scratch *s, const tile *t, int64_t item, bool before)
{
    for (int n = 0; n < f->lines; n++) {
        const line *l = &f->line[n];
        if (!learns(f, l->p) || l->p->absolute || (l->p->stage == PE_BEFORE_SCALE) != before)
            continue;
        for (int64_t r = 0; r < t->m; r++)
            line_back(f, l, t->h, t->i + r, item, t, s->dP + r * BK);
    }
}

/* ------------------------------------------------ content */

static const float *rows_of(const lookup *l, int64_t h, int64_t low)
{
    return l->rows + ((l->heads == 1 ? 0 : h) * l->columns + low) * l->width;
}

static float *drows_of(const fused *f, const lookup *l, int64_t h, int64_t item, int64_t low)
{
    return l->drows ? fused_copy(f, l->drows, l->heads, h, item, l->columns * l->width) + low * l->width : NULL;
}

static void query_back(const fused *f, scratch *s, int at, const tile *t, int64_t item, int64_t low, int64_t high,
                       gemm_fn *gemm)
{
    const lookup *l = &f->lookup[at];
    int64_t width = high - low + 1, Dp = f->Dp;
    float *drows = drows_of(f, l, t->h, item, low);
    lookups_gather(f, l, t, s->dP, s->E, low, high);
    (l->finite ? f->k->gemm : gemm_c)(s->dqt, Dp, s->E, width, 1, rows_of(l, t->h, low), Dp, t->m, Dp, width, false);
    f->k->axpy(s->dq, (float)l->factor, s->dqt, t->m * Dp);
    for (int64_t r = 0; l->dextra && r < t->m; r++)
        f->k->axpy(l->dextra + (item / f->G * f->H + t->h) * Dp, (float)l->factor, s->dqt + r * Dp, Dp);
    if (drows)
        gemm(drows, Dp, s->E, 1, width, lookups_take(f, s, at, t), Dp, width, Dp, t->m, true);
}

/* E (columns, PANEL): what dP gives to each column and key of a panel. */
static void panel_back(const fused *f, scratch *s, const lookup *l, const tile *t, int64_t item, int64_t p,
                       gemm_fn *gemm)
{
    tile u = { t->h, 1, t->i, t->m, t->j + p * PANEL, t->n - p * PANEL < PANEL ? t->n - p * PANEL : PANEL };
    int64_t low, high, Dp = f->Dp, at = t->h / f->group * f->tiles * BK + u.j;
    if (!lookups_needed(l, &u, &low, &high))
        return;
    float *drows = drows_of(f, l, t->h, item, low);
    for (int64_t n = 0; n < (high - low + 1) * PANEL; n++)
        s->E[n] = 0;
    for (int64_t r = 0; r < u.m; r++)
        for (int64_t j = 0, length; j < u.n; j += length) {
            int64_t x = 0, skip, n = walk_stretch(l->w, u.i + r, u.j + j, u.n - j, &x, &skip, &length);
            for (int64_t e = j + skip; e < j + skip + n; e++)
                s->E[(l->column[x + e - j - skip] - low) * PANEL + e] += s->dP[r * BK + p * PANEL + e];
        }
    (l->finite ? f->k->gemm : gemm_c)(f->dk + (item * f->tiles * BK + u.j) * Dp, Dp, s->E, 1, PANEL,
                                      rows_of(l, t->h, low), Dp, u.n, Dp, high - low + 1, true);
    if (drows)
        gemm(drows, Dp, s->E, PANEL, 1, f->kr + at * Dp, Dp, high - low + 1, Dp, u.n, true);
}

static void key_back(const fused *f, scratch *s, const lookup *l, const tile *t, int64_t item, gemm_fn *gemm)
{
    for (int64_t p = 0; p * PANEL < t->n; p++)
        panel_back(f, s, l, t, item, p, gemm);
}

/* Pair by pair, into the ledger's copy where there is one. */
static void pair_back(const fused *f, scratch *s, const lookup *l, int64_t r, int64_t j, const tile *t, int64_t item,
                      float ds)
{
    int64_t h = t->h, i = t->i + r, Dp = f->Dp, at = lookups_pair(l, i, t->j + j);
    bool key = l->t->side == PE_KEY;
    float *dx = key ? f->dk + (item * f->tiles * BK + t->j + j) * Dp : s->dq + r * Dp;
    const float *x = key ? f->kr + (h / f->group * f->tiles * BK + t->j + j) * Dp : f->q + (h * f->Tq + i) * f->D;
    float *drow = l->odd ? NULL : drows_of(f, l, h, item, l->flip ? l->first + l->columns - 1 - at : at - l->first);
    for (int64_t d = 0; d < f->D; d++) {
        double extra = l->t->extra < 0 ? 0 : param(l->p, f->p.w, l->t->extra, h * f->D + d);
        float entry = (float)(l->factor * part_entry(l->p, f->p.w, l->t, at, h, d));
        double dentry = (double)ds * ((double)x[d] + extra);
        dx[d] += ds * entry;
        if (l->dextra)
            l->dextra[(item / f->G * f->H + h) * Dp + d] += ds * entry;
        if (drow)
            drow[d] += (float)(key ? dentry : l->factor * dentry);
        else if (l->odd)
            part_entry_grad(l->p, f->p.g.dparams, l->t, at, h, d, l->factor * dentry);
    }
}

static void pairs_back(const fused *f, scratch *s, const lookup *l, const tile *t, int64_t item)
{
    for (int64_t r = 0; r < t->m; r++)
        for (int64_t j = 0; j < t->n; j++)
            if (s->dP[r * BK + j] != 0)
                pair_back(f, s, l, r, j, t, item, s->dP[r * BK + j]);
}

void back_lookups(const fused *f, scratch *s, const tile *t, int64_t item, bool before)
{
    gemm_fn *gemm = s->odd ? gemm_c : f->k->gemm;
    for (int n = 0; n < f->lookups; n++) {
        const lookup *l = &f->lookup[n];
        int64_t low = 0, high = 0;
        if (l->t->side == PE_VALUE || l->before != before || l->fold)
            continue;
        lookup_way way = lookups_way(l, t, &low, &high);
        if (way == BY_PAIRS)
            pairs_back(f, s, l, t, item);
        else if (way == BY_COLUMNS && l->t->side == PE_KEY)
            key_back(f, s, l, t, item, gemm);
        else if (way == BY_COLUMNS)
            query_back(f, s, n, t, item, low, high, gemm);
    }
}

/* ------------------------------------------------ values */

static void value_pairs_back(const fused *f, scratch *s, const lookup *l, const tile *t, int64_t item)
{
    for (int64_t r = 0; r < t->m; r++)
        for (int64_t j = 0; j < t->n; j++) {
            float p = s->S[r * BK + j], sum = 0;
            int64_t at = p != 0 ? lookups_pair(l, t->i + r, t->j + j) : 0;
            float *drow = p == 0 || l->odd
                              ? NULL
                              : drows_of(f, l, t->h, item, l->flip ? l->first + l->columns - 1 - at : at - l->first);
            for (int64_t d = 0; p != 0 && d < f->Dv; d++) {
                float g = s->dO[r * f->Dw + d];
                sum += g * (float)part_entry(l->p, f->p.w, l->t, at, t->h, d);
                if (drow)
                    drow[d] += p * g;
                else if (l->odd)
                    part_entry_grad(l->p, f->p.g.dparams, l->t, at, t->h, d, (double)p * (double)g);
            }
            s->dP[r * BK + j] += sum;
        }
}

/* dP += dO T^t by column; the table's own gradient from the weights in S. */
void back_values(const fused *f, scratch *s, const tile *t, int64_t item)
{
    gemm_fn *gemm = s->odd ? gemm_c : f->k->gemm;
    for (int n = 0; n < f->lookups; n++) {
        const lookup *l = &f->lookup[n];
        int64_t low = 0, high = 0;
        lookup_way way = l->t->side == PE_VALUE ? lookups_way(l, t, &low, &high) : BY_NOTHING;
        if (way == BY_PAIRS)
            value_pairs_back(f, s, l, t, item);
        if (way != BY_COLUMNS)
            continue;
        float *drows = drows_of(f, l, t->h, item, low);
        lookups_columns(f, s, n, t, low, high, s->dO);
        lookups_add_columns(f, s, n, t, s->dP);
        if (!drows)
            continue;
        lookups_gather(f, l, t, s->S, s->E, low, high);
        gemm(drows, f->Dw, s->E, 1, high - low + 1, s->dO, f->Dw, high - low + 1, f->Dw, t->m, true);
    }
}

/* ------------------------------------------------ counts */

/* One row: counts again from the right, then gradients from the left; gate[j] becomes the gradient of the product that
 * it was made of. */
static double count_row(const fused *f, const float *G, float *dG, float *gate, const float *ds, int64_t n,
                        double carry, double dcarry)
{
    double sum[BK], scale = f->count->count.scale / f->p.scale, last = (double)f->count_last;
    for (int64_t j = n - 1; j >= 0; j--)
        sum[j] = carry += (double)gate[j];
    for (int64_t j = 0; j < n; j++) {
        double place = sum[j] < last ? sum[j] : last, g = (double)gate[j], d = (double)ds[j];
        int64_t at = (int64_t)place;
        at -= at == f->count_last;
        double part_way = place - (double)at;
        dG[at] += (float)(d * (1 - part_way));
        dG[at + 1] += (float)(d * part_way);
        if (sum[j] < last)
            dcarry += d * ((double)G[at + 1] - (double)G[at]);
        gate[j] = g != 0 ? (float)(dcarry * g * (1 - g) * scale) : 0; /* 0: hidden, whatever dcarry is */
    }
    return dcarry;
}

void back_counts(const fused *f, scratch *s, const tile *t)
{
    int64_t C = f->count_columns;
    for (int64_t r = 0; r < t->m; r++)
        s->dcarry[r] = count_row(f, s->counts + r * C, s->dcounts + r * C, s->gate + r * BK, s->dP + r * BK, t->n,
                                 s->carries[t->j / BK * BQ + r], s->dcarry[r]);
}

void back_counts_end(const fused *f, scratch *s, const tile *t, int64_t item)
{
    const part *p = f->count;
    int64_t heads = p->tensor[p->count.table].shape[1], C = f->count_columns, Dp = f->Dp;
    double factor = p->stage == PE_BEFORE_SCALE ? f->p.scale : 1;
    (f->count_finite ? f->k->gemm : gemm_c)(s->dqt, Dp, s->dcounts, C, 1,
                                            f->count_rows + (heads == 1 ? 0 : t->h) * C * Dp, Dp, t->m, Dp, C, false);
    f->k->axpy(s->dq, (float)factor, s->dqt, t->m * Dp);
    lookups_raise(f, s->qa, p, -1, factor, t);
    (s->odd ? gemm_c : f->k->gemm)(fused_copy(f, f->dcount, heads, t->h, item, C * Dp), Dp, s->dcounts, 1, C, s->qa, Dp,
                                   C, Dp, t->m, true);
}
