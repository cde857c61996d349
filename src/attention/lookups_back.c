/* SPDX-License-Identifier: MIT
 *
 * Terms by table: gradients. dP holds those of a tile's scores; what is hidden has 0 there. */
#include "attention/lookups.h"

void lookups_cut_back(fused *f, lookup *l, char *memory, int64_t *used)
{
    int64_t columns = l->t->table < 0 || l->odd || !f->backward ? 0 : l->form.columns;
    l->drows = fused_take(memory, used, columns ? fused_copies(f, l->form.heads) * columns : 0,
                          sizeof(float) * (size_t)l->width);
    l->dextra = fused_take(memory, used, l->t->extra < 0 || !f->backward ? 0 : f->back.splits * f->H,
                           sizeof(float) * (size_t)l->width);
}

void lookups_clear(const fused *f, lookup *l)
{
    clear_floats(l->drows, f->backward ? fused_copies(f, l->form.heads) * l->form.columns * l->width : 0);
    clear_floats(l->dextra, f->back.splits * f->H * l->width);
}

static float *drows_of(const fused *f, const lookup *l, int64_t h, int64_t item, int64_t low)
{
    return l->drows ? fused_copy(f, l->drows, l->form.heads, h, item, l->form.columns * l->width) + low * l->width
                    : NULL;
}

/* Where the gradient of a query's vector goes. */
static float *dquery_of(const lookup *l, scratch *s)
{
    return l->t->input ? s->drelative : s->dq;
}

static void query_back(const fused *f, scratch *s, int at, const tile *t, int64_t item, int64_t low, int64_t high,
                       gemm_fn *gemm)
{
    const lookup *l = &lookups_of(f)->lookup[at];
    int64_t columns = high - low + 1, width = l->width;
    float *drows = drows_of(f, l, t->h, item, low), *E = lookups_worker(s)->E;
    lookups_gather(f, l, t, s->dP, E, low, high);
    (l->finite ? f->k->gemm : gemm_c)(s->dqt, width, E, columns, 1, lookups_rows(l, t->h, low), width, t->m, width,
                                      columns, false);
    f->k->axpy(dquery_of(l, s), (float)l->factor, s->dqt, t->m * width);
    for (int64_t r = 0; l->dextra && r < t->m; r++)
        f->k->axpy(l->dextra + (item / f->G * f->H + t->h) * width, (float)l->factor, s->dqt + r * width, width);
    if (drows)
        gemm(drows, width, E, 1, columns, lookups_take(f, s, at, t), width, columns, width, t->m, true);
}

/* E (columns, PANEL): what dP gives to each column and key of a panel. */
static void panel_back(const fused *f, scratch *s, const lookup *l, const tile *t, int64_t item, int64_t p,
                       gemm_fn *gemm)
{
    tile u = { t->h, 1, t->i, t->m, t->j + p * PANEL, t->n - p * PANEL < PANEL ? t->n - p * PANEL : PANEL };
    int64_t low, high, Dp = f->Dp, at = t->h / f->group * f->tiles * BK + u.j;
    float *E = lookups_worker(s)->E;
    if (!lookups_needed(l, &u, &low, &high))
        return;
    float *drows = drows_of(f, l, t->h, item, low);
    for (int64_t n = 0; n < (high - low + 1) * PANEL; n++)
        E[n] = 0;
    for (int64_t r = 0; r < u.m; r++)
        for (int64_t j = 0, length; j < u.n; j += length) {
            int64_t x = 0, skip, n = spacing_stretch(l->w, u.i + r, u.j + j, u.n - j, &x, &skip, &length);
            for (int64_t e = j + skip; e < j + skip + n; e++)
                E[(l->column[x + e - j - skip] - low) * PANEL + e] += s->dP[r * BK + p * PANEL + e];
        }
    f->k->scale(E, (float)l->factor, (high - low + 1) * PANEL);
    (l->finite ? f->k->gemm : gemm_c)(f->back.dk + (item * f->tiles * BK + u.j) * Dp, Dp, E, 1, PANEL,
                                      lookups_rows(l, t->h, low), Dp, u.n, Dp, high - low + 1, true);
    if (drows)
        gemm(drows, Dp, E, PANEL, 1, f->ready.kr + at * Dp, Dp, high - low + 1, Dp, u.n, true);
}

/* One column for the whole tile: E (n) are sums over the queries. */
static void ring_row_back(const fused *f, scratch *s, const lookup *l, const tile *t, int64_t item, int64_t column,
                          gemm_fn *gemm)
{
    float *E = lookups_worker(s)->E, *drows = drows_of(f, l, t->h, item, column);
    int64_t Dp = f->Dp, at = t->h / f->group * f->tiles * BK + t->j;
    clear_floats(E, t->n);
    for (int64_t r = 0; r < t->m; r++)
        f->k->axpy(E, (float)l->factor, s->dP + r * BK, t->n);
    (l->finite ? f->k->gemm : gemm_c)(f->back.dk + (item * f->tiles * BK + t->j) * Dp, Dp, E, 1, BK,
                                      lookups_rows(l, t->h, column), Dp, t->n, Dp, 1, true);
    if (drows)
        gemm(drows, Dp, E, BK, 1, f->ready.kr + at * Dp, Dp, 1, Dp, t->n, true);
}

static void key_back(const fused *f, scratch *s, const lookup *l, const tile *t, int64_t item, int64_t low,
                     int64_t high, gemm_fn *gemm)
{
    if (low == high)
        ring_row_back(f, s, l, t, item, low, gemm);
    for (int64_t p = 0; low != high && p * PANEL < t->n; p++)
        panel_back(f, s, l, t, item, p, gemm);
}

/* Pair by pair, into the ledger's copy where there is one. */
static void pair_back(const fused *f, scratch *s, const lookup *l, int64_t r, int64_t j, const tile *t, int64_t item,
                      float ds)
{
    int64_t h = t->h, i = t->i + r, at = lookups_pair(f, l, i, t->j + j), width = l->width;
    bool key = l->t->side == PE_KEY;
    if (at == NO_ROW)
        return;
    float *dx = key ? f->back.dk + (item * f->tiles * BK + t->j + j) * width : dquery_of(l, s) + r * width;
    const float *x = key ? f->ready.kr + (h / f->group * f->tiles * BK + t->j + j) * width : lookups_query(f, l, h, i);
    float *drow = l->odd ? NULL : drows_of(f, l, h, item, lookups_column(l, at));
    for (int64_t d = 0; d < l->depth; d++) {
        float entry = (float)(l->factor * lookups_entry(f, l, at, h, d));
        double dentry = l->factor * (double)ds * ((double)x[d] + lookups_extra(f, l, h, d));
        dx[d] += ds * entry;
        if (l->dextra)
            l->dextra[(item / f->G * f->H + h) * width + d] += ds * entry;
        if (drow)
            drow[d] += (float)dentry;
        else if (l->odd)
            part_entry_grad(l->p, f->p.g.dparams, l->t, at, h, d, dentry);
    }
}

static void pairs_back(const fused *f, scratch *s, const lookup *l, const tile *t, int64_t item)
{
    for (int64_t r = 0; r < t->m; r++)
        for (int64_t j = 0; j < t->n; j++)
            if (s->dP[r * BK + j] != 0)
                pair_back(f, s, l, r, j, t, item, s->dP[r * BK + j]);
}

void lookups_back(const fused *f, scratch *s, const tile *t, int64_t item, moment when)
{
    const lookups *all = lookups_of(f);
    gemm_fn *gemm = s->odd ? gemm_c : f->k->gemm;
    for (int n = 0; n < all->count; n++) {
        const lookup *l = &all->lookup[n];
        int64_t low = 0, high = 0;
        if (!lookups_enters(l, when))
            continue;
        lookup_way way = lookups_way(l, t, &low, &high);
        if (way == BY_PAIRS)
            pairs_back(f, s, l, t, item);
        else if (way == BY_COLUMNS && l->t->side == PE_KEY)
            key_back(f, s, l, t, item, low, high, gemm);
        else if (way == BY_COLUMNS)
            query_back(f, s, n, t, item, low, high, gemm);
    }
}

/* ------------------------------------------------ values */

static void values_pair_back(const fused *f, scratch *s, const lookup *l, const tile *t, int64_t item, int64_t r,
                             int64_t j)
{
    float p = s->S[r * BK + j], sum = 0;
    int64_t at = p != 0 ? lookups_pair(f, l, t->i + r, t->j + j) : NO_ROW;
    if (at == NO_ROW)
        return;
    float *drow = l->odd ? NULL : drows_of(f, l, t->h, item, lookups_column(l, at));
    for (int64_t d = 0; d < f->Dv; d++) {
        float g = s->dO[r * f->Dw + d];
        sum += g * (float)lookups_entry(f, l, at, t->h, d);
        if (drow)
            drow[d] += p * g;
        else if (l->odd)
            part_entry_grad(l->p, f->p.g.dparams, l->t, at, t->h, d, (double)p * (double)g);
    }
    s->dP[r * BK + j] += sum;
}

/* dP += dO T^t by column; the table's own gradient from the weights in S. */
static void values_back(const fused *f, scratch *s, int n, const tile *t, int64_t item, int64_t low, int64_t high)
{
    const lookup *l = &lookups_of(f)->lookup[n];
    float *drows = drows_of(f, l, t->h, item, low), *E = lookups_worker(s)->E;
    lookups_columns(f, s, n, t, low, high, s->dO);
    lookups_add_columns(f, s, n, t, s->dP);
    if (!drows)
        return;
    lookups_gather(f, l, t, s->S, E, low, high);
    (s->odd ? gemm_c : f->k->gemm)(drows, f->Dw, E, 1, high - low + 1, s->dO, f->Dw, high - low + 1, f->Dw, t->m, true);
}

void lookups_mix_back(const fused *f, scratch *s, const tile *t, int64_t item)
{
    const lookups *all = lookups_of(f);
    for (int n = 0; n < all->count; n++) {
        const lookup *l = &all->lookup[n];
        int64_t low = 0, high = 0;
        lookup_way way = l->t->side == PE_VALUE ? lookups_way(l, t, &low, &high) : BY_NOTHING;
        for (int64_t p = 0; way == BY_PAIRS && p < t->m * t->n; p++)
            values_pair_back(f, s, l, t, item, p / t->n, p % t->n);
        if (way == BY_COLUMNS)
            values_back(f, s, n, t, item, low, high);
    }
}

/* ------------------------------------------------ ledgers */

static void sum_rows(const fused *f, const lookup *l)
{
    int64_t size = l->form.columns * l->width, splits = f->back.splits, heads = l->form.heads;
    int64_t apart = heads == 1 ? size : f->H * size, count = heads == 1 ? splits * f->G : splits;
    for (int64_t c = 0; c < l->form.columns; c++) {
        int64_t r = lookups_row(l, c);
        if (r < 0 || r >= l->p->tensor[l->t->table].shape[0])
            continue;
        for (int64_t h = 0; h < heads; h++)
            for (int64_t d = 0; d < l->depth; d++)
                part_entry_grad(l->p, f->p.g.dparams, l->t, r, h, d,
                                back_over(l->drows + h * size + c * l->width + d, count, apart));
    }
}

static void sum_extra(const fused *f, const lookup *l)
{
    for (int64_t h = 0; h < f->H; h++)
        for (int64_t d = 0; d < l->depth; d++)
            grad(l->p, f->p.g.dparams, l->t->extra, h * l->depth + d,
                 back_over(l->dextra + h * l->width + d, f->back.splits, f->H * l->width));
}

void lookups_sum(fused *f)
{
    const lookups *all = lookups_of(f);
    for (int n = 0; f->p.g.dparams.data && n < all->count; n++) {
        if (all->lookup[n].drows)
            sum_rows(f, &all->lookup[n]);
        if (all->lookup[n].dextra)
            sum_extra(f, &all->lookup[n]);
    }
}
