/* SPDX-License-Identifier: MIT
 *
 * Terms by table: what they add to a tile's scores and outputs. */
#include "attention/lookups.h"

/* ------------------------------------------------ a tile of queries */

const float *lookups_take(const fused *f, scratch *s, int n, const tile *t)
{
    const lookup *l = &lookups_of(f)->lookup[n];
    worker_lookups *w = lookups_worker(s);
    if (!w->taken[n])
        ready_raise(f, w->A[n], t, l->t->input ? f->ready.relative : f->ready.q, l->depth, l->width, l->form.extra,
                    l->factor);
    w->taken[n] = true;
    return w->A[n];
}

void lookups_begin(const fused *f, scratch *s, const tile *t)
{
    worker_lookups *w = lookups_worker(s);
    (void)t;
    for (int n = 0; n < lookups_of(f)->count; n++) {
        w->taken[n] = false;
        for (int i = 0; i < RING / PANEL; i++)
            w->tag[n][i] = -1;
    }
}

/* from T^t for panels that are not in the ring yet; from (rows, width) NULL: the queries. */
void lookups_columns(const fused *f, scratch *s, int n, const tile *t, int64_t low, int64_t high, const float *from)
{
    const lookup *l = &lookups_of(f)->lookup[n];
    worker_lookups *w = lookups_worker(s);
    int64_t panels = up_to(l->form.columns, PANEL) / PANEL, ring = lookups_ring(l);
    for (int64_t p = low / PANEL; p <= high / PANEL; p++) {
        int64_t at = p * PANEL & (RING - 1);
        if (w->tag[n][at / PANEL] == p)
            continue;
        from = from ? from : lookups_take(f, s, n, t);
        for (int64_t h = 0; h < t->heads; h++) {
            int64_t of = l->form.heads == 1 ? 0 : t->h + h;
            f->k->gemm(w->G[n] + h * t->m * ring + at, ring, from + h * t->m * l->width, l->width, 1,
                       l->panels + (of * panels + p) * l->depth * PANEL, PANEL, t->m, PANEL, l->depth, false);
        }
        w->tag[n][at / PANEL] = p;
    }
}

/* One row of scores from its row of the ring. */
static void add_columns(const fused *f, const lookup *l, const float *G, float *s, int64_t x, int64_t n)
{
    for (int64_t j = 0, run; j < n; j += run) {
        int64_t c = l->column[x + j] & (RING - 1), even = l->even[x + j];
        run = even < 0 ? -even : even;
        run = run < n - j ? run : n - j;
        if (even > 0 && run > RING - c)
            run = RING - c;
        if (run < 4) {
            run = 1;
            s[j] += G[c];
        } else if (even > 0)
            f->k->add(s + j, G + c, run);
        else
            f->k->add_one(s + j, G[c], run);
    }
}

void lookups_add_columns(const fused *f, scratch *s, int n, const tile *t, float *to)
{
    const lookup *l = &lookups_of(f)->lookup[n];
    const float *G = lookups_worker(s)->G[n];
    for (int64_t r = 0; r < t->heads * t->m; r++)
        for (int64_t j = 0, length; j < t->n; j += length) {
            int64_t x = 0, skip, left = spacing_stretch(l->w, t->i + r % t->m, t->j + j, t->n - j, &x, &skip, &length);
            if (left > 0)
                add_columns(f, l, G + r * lookups_ring(l), to + r * BK + j + skip, x, left);
        }
}

/* ------------------------------------------------ a tile of keys */

/* A panel of keys at a time, so that few columns are made that no pair needs: E (columns, PANEL) = T k^t. */
static void add_panel(const fused *f, scratch *s, const lookup *l, const tile *t, const float *kt, int64_t p)
{
    tile u = { t->h, t->heads, t->i, t->m, t->j + p * PANEL, t->n - p * PANEL < PANEL ? t->n - p * PANEL : PANEL };
    float *E = lookups_worker(s)->E;
    int64_t low, high;
    if (!lookups_needed(l, &u, &low, &high))
        return;
    for (int64_t r = 0; r < u.heads * u.m; r++) {
        float *score = s->S + r * BK + p * PANEL;
        if (r == 0 || (r % u.m == 0 && l->form.heads > 1)) {
            f->k->gemm(E, PANEL, lookups_rows(l, u.h + r / u.m, low), l->width, 1, kt + p * f->D * PANEL, PANEL,
                       high - low + 1, PANEL, f->D, false);
            f->k->scale(E, (float)l->factor, (high - low + 1) * PANEL);
        }
        for (int64_t j = 0, length; j < u.n; j += length) {
            int64_t x = 0, skip, n = spacing_stretch(l->w, u.i + r % u.m, u.j + j, u.n - j, &x, &skip, &length);
            if (low == high && n > 0)
                f->k->add(score + j + skip, E + j + skip, n);
            for (int64_t e = 0; low != high && e < n; e++)
                score[j + skip + e] += E[(l->column[x + e] - low) * PANEL + j + skip + e];
        }
    }
}

/* One column for the whole tile: the same row of products for every query. */
static void add_line(const fused *f, scratch *s, const lookup *l, const tile *t, const float *kt, int64_t column)
{
    float *E = lookups_worker(s)->E;
    for (int64_t r = 0; r < t->heads * t->m; r++) {
        bool fresh = r == 0 || (r % t->m == 0 && l->form.heads > 1);
        for (int64_t p = 0; fresh && p * PANEL < t->n; p++)
            f->k->gemm(E + p * PANEL, BK, lookups_rows(l, t->h + r / t->m, column), l->width, 1, kt + p * f->D * PANEL,
                       PANEL, 1, PANEL, f->D, false);
        f->k->axpy(s->S + r * BK, (float)l->factor, E, t->n);
    }
}

/* Few queries, keys where they lie: a product per pair, of keys side by side that have one row at once. */
static void add_few(const fused *f, scratch *s, const lookup *l, const tile *t, const keys *k)
{
    float *E = lookups_worker(s)->E;
    for (int64_t r = 0; r < t->heads * t->m; r++)
        for (int64_t j = 0, length; j < t->n; j += length) {
            int64_t x = 0, skip, n = spacing_stretch(l->w, t->i + r % t->m, t->j + j, t->n - j, &x, &skip, &length);
            for (int64_t e = 0, run; e < n; e += run) {
                run = l->even[x + e] < 0 ? -l->even[x + e] : 1;
                run = run < n - e ? run : n - e;
                kv_rows rows = ready_rows(f, s, false, k, j + skip + e, &run);
                f->k->dots(E, BK, lookups_rows(l, t->h + r / t->m, l->column[x + e]), l->width, 1, rows.data, rows.type,
                           rows.stride, run, f->D, NULL);
                f->k->axpy(s->S + r * BK + j + skip + e, (float)l->factor, E, run);
            }
        }
}

static void add_keys(const fused *f, scratch *s, const lookup *l, const tile *t, const keys *k, int64_t low,
                     int64_t high)
{
    if (f->direct && t->m <= FEW) {
        add_few(f, s, l, t, k);
        return;
    }
    if (low == high)
        add_line(f, s, l, t, k->kt, low);
    for (int64_t p = 0; low != high && p * PANEL < t->n; p++)
        add_panel(f, s, l, t, k->kt, p);
}

/* ------------------------------------------------ pair by pair */

static double pair_dot(const fused *f, const lookup *l, const float *x, int64_t h, int64_t at)
{
    double sum = 0;
    for (int64_t d = 0; d < l->depth; d++)
        sum += ((double)x[d] + lookups_extra(f, l, h, d)) * lookups_entry(f, l, at, h, d);
    return l->factor * sum;
}

/* A key of a tile, wherever it lies. */
static void key_row(const fused *f, const scratch *s, const keys *k, int64_t j, float *x)
{
    int64_t one = 1;
    if (!k->kt) {
        kv_rows r = ready_rows(f, s, false, k, j, &one);
        f->k->widen(x, r.data, r.type, f->D);
    }
    for (int64_t d = 0; k->kt && d < f->D; d++)
        x[d] = k->kt[(j / PANEL * f->D + d) * PANEL + j % PANEL];
}

static void add_pairs(const fused *f, scratch *s, const lookup *l, const tile *t, const keys *k)
{
    float x[PE_HEAD_DIM_MAX];
    for (int64_t r = 0; r < t->heads * t->m; r++)
        for (int64_t j = 0; j < t->n; j++) {
            int64_t h = t->h + r / t->m, i = t->i + r % t->m, at = lookups_pair(f, l, i, t->j + j);
            if (at == NO_ROW)
                continue;
            if (l->t->side == PE_KEY)
                key_row(f, s, k, j, x);
            s->S[r * BK + j] += (float)pair_dot(f, l, l->t->side == PE_KEY ? x : lookups_query(f, l, h, i), h, at);
        }
}

/* ------------------------------------------------ what tiles ask for */

void lookups_add(const fused *f, scratch *s, const tile *t, const keys *k, state *st, moment when)
{
    const lookups *all = lookups_of(f);
    (void)st;
    for (int n = 0; n < all->count; n++) {
        const lookup *l = &all->lookup[n];
        int64_t low = 0, high = 0;
        if (!lookups_enters(l, when))
            continue;
        lookup_way way = lookups_way(l, t, &low, &high);
        if (way == BY_PAIRS)
            add_pairs(f, s, l, t, k);
        else if (way == BY_COLUMNS && l->t->side == PE_KEY && !(l->meets && low == high))
            add_keys(f, s, l, t, k, low, high);
        else if (way == BY_COLUMNS && l->t->side == PE_QUERY) {
            lookups_columns(f, s, n, t, low, high, NULL);
            lookups_add_columns(f, s, n, t, s->S);
        }
    }
}

/* Keys of a tile that all have one row: it meets them as part of the query. */
static bool meets(const lookup *l, const tile *t, int64_t *column)
{
    int64_t high;
    return l->meets && lookups_needed(l, t, column, &high) && *column == high;
}

const float *lookups_meet(const fused *f, scratch *s, const tile *t, const float *qs)
{
    const lookups *all = lookups_of(f);
    for (int n = 0; n < all->count; n++) {
        const lookup *l = &all->lookup[n];
        int64_t rows = t->heads * t->m, column;
        if (!meets(l, t, &column))
            continue;
        if (qs != s->qa)
            f->k->widen(s->qa, qs, PE_F32, rows * f->Dp);
        qs = s->qa;
        for (int64_t r = 0; r < rows; r++)
            f->k->axpy(s->qa + r * f->Dp, (float)l->factor, lookups_rows(l, t->h + r / t->m, column), f->D);
    }
    return qs;
}

bool lookups_panels(const fused *f, const tile *t)
{
    const lookups *all = lookups_of(f);
    bool wanted = false;
    for (int n = 0; t->m > FEW && n < all->count; n++) {
        const lookup *l = &all->lookup[n];
        int64_t low, high;
        wanted = wanted ||
                 (l->t->side == PE_KEY && lookups_way(l, t, &low, &high) == BY_COLUMNS && !(l->meets && low == high));
    }
    return wanted;
}

/* ------------------------------------------------ values */

/* Weights of one row gathered by column. */
static void gather_row(const fused *f, const lookup *l, float *W, const float *p, int64_t x, int64_t n, int64_t low)
{
    for (int64_t j = 0, run; j < n; j += run) {
        int64_t c = l->column[x + j] - low, even = l->even[x + j];
        run = even < 0 ? -even : even;
        run = run < n - j ? run : n - j;
        if (run < 4) {
            run = 1;
            W[c] += p[j];
        } else if (even > 0)
            f->k->add(W + c, p + j, run);
        else
            W[c] += f->k->sum(p + j, run);
    }
}

static void mix_pairs(const fused *f, const scratch *s, const lookup *l, const tile *t, float *O)
{
    for (int64_t r = 0; r < t->heads * t->m; r++)
        for (int64_t j = 0; j < t->n; j++) {
            int64_t h = t->h + r / t->m, i = t->i + r % t->m;
            float p = s->S[r * BK + j];
            int64_t at = p != 0 ? lookups_pair(f, l, i, t->j + j) : NO_ROW;
            for (int64_t d = 0; at != NO_ROW && d < f->Dv; d++)
                O[r * f->Dw + d] += p * (float)lookups_entry(f, l, at, h, d);
        }
}

void lookups_gather(const fused *f, const lookup *l, const tile *t, const float *p, float *W, int64_t low, int64_t high)
{
    int64_t width = high - low + 1;
    for (int64_t r = 0; r < t->heads * t->m; r++) {
        for (int64_t c = 0; c < width; c++)
            W[r * width + c] = 0;
        for (int64_t j = 0, length; j < t->n; j += length) {
            int64_t x = 0, skip, n = spacing_stretch(l->w, t->i + r % t->m, t->j + j, t->n - j, &x, &skip, &length);
            if (n > 0)
                gather_row(f, l, W + r * width, p + r * BK + j + skip, x, n, low);
        }
    }
}

static void mix_columns(const fused *f, scratch *s, const lookup *l, const tile *t, float *O, int64_t low, int64_t high)
{
    float *E = lookups_worker(s)->E;
    int64_t width = high - low + 1;
    lookups_gather(f, l, t, s->S, E, low, high);
    for (int64_t h = 0; h < t->heads; h++)
        (l->finite ? f->k->gemm : gemm_c)(O + h * t->m * f->Dw, f->Dw, E + h * t->m * width, width, 1,
                                          lookups_rows(l, t->h + h, low), f->Dw, t->m, f->Dw, width, true);
}

/* O += weights times value rows; S holds the weights. */
void lookups_mix(const fused *f, scratch *s, const tile *t, float *O)
{
    const lookups *all = lookups_of(f);
    for (int n = 0; n < all->count; n++) {
        const lookup *l = &all->lookup[n];
        int64_t low = 0, high = 0;
        lookup_way way = l->t->side == PE_VALUE ? lookups_way(l, t, &low, &high) : BY_NOTHING;
        if (way == BY_PAIRS)
            mix_pairs(f, s, l, t, O);
        else if (way == BY_COLUMNS)
            mix_columns(f, s, l, t, O, low, high);
    }
}
