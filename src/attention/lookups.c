/* SPDX-License-Identifier: MIT
 *
 * Terms by table: which rows a tile needs, and what they add. Columns of q T^t are made as tiles of keys first need
 * them and kept in a ring; T k^t is made per tile. Either costs a product per (query, row) or (row, key), never per
 * pair. */
#include "attention/fused.h"

/* ------------------------------------------------ which rows */

/* Distances between the ends may be out of reach of the table: no pair that is seen has them. */
/* The table's row at place x; pads have that of the nearest distance that is seen. */
static int64_t row_at(const lookup *l, int64_t x)
{
    const band *b = walk_band(l->w, x);
    int64_t d = walk_distance(l->w, x), last = l->t->table < 0 ? INT64_MAX : l->p->tensor[l->t->table].shape[0] - 1;
    d = d < b->low ? b->low : d > b->high ? b->high : d;
    int64_t r = l->t->index(l->p, d);
    return l->t->table >= 0 && r < 0 ? 0 : r < last ? r : last;
}

/* First row, number of rows, direction, from all distances that are seen. */
static void find_rows(const fused *f, lookup *l)
{
    int64_t low = 0, high = -1, last = 0;
    bool rises = true, falls = true;
    for (int64_t x = 0; x < l->w->total; x++) {
        int64_t r = row_at(l, x);
        low = x && low < r ? low : r;
        high = x && high > r ? high : r;
        rises = rises && (!x || r >= last);
        falls = falls && (!x || r <= last);
        last = r;
    }
    l->first = low;
    l->columns = high - low + 1;
    l->flip = !rises;
    bool endless = l->t->table < 0 && l->columns > 16 * (f->Tq + f->Tk) + 4096; /* entries across a gap */
    l->odd = l->w->scattered || endless || (!rises && !falls);
}

void lookups_find(fused *f)
{
    for (int n = 0; n < f->lookups; n++) {
        lookup *l = &f->lookup[n];
        if (l->plan) { /* all but where its keys stand */
            const lookup *from = l->plan;
            const walk *w = l->w;
            *l = *from;
            l->plan = from;
            l->w = w;
            continue;
        }
        l->before = l->p->stage == PE_BEFORE_SCALE;
        l->factor = l->before && l->t->side != PE_VALUE ? f->p.scale : 1;
        l->heads = l->t->table < 0 ? 1 : l->p->tensor[l->t->table].shape[1];
        l->width = l->t->side == PE_VALUE ? f->Dw : f->Dp;
        find_rows(f, l);
        l->fold = l->t->side == PE_KEY && l->columns == 1 && l->before && l->t->extra < 0 && !f->count && !l->odd;
    }
    if (f->count) {
        int64_t most = f->Tk + f->p.a.mask.keys_after + 2, rows = f->count->tensor[f->count->count.table].shape[0];
        f->count_last = (rows < most ? rows : most) - 1;
        f->count_columns = up_to(f->count_last + 1, PANEL);
    }
}

static bool wants_panels(const fused *f, const lookup *l)
{
    return !l->odd && (l->t->side == PE_QUERY || (l->t->side == PE_VALUE && f->backward));
}

void lookups_cut(fused *f, char *memory, int64_t *used)
{
    for (int n = 0; n < f->lookups; n++) {
        lookup *l = &f->lookup[n];
        int64_t total = l->odd ? 0 : l->w->total, columns = l->odd ? 0 : l->columns;
        bool panels = wants_panels(f, l);
        if (l->plan)
            continue;
        l->column = fused_take(memory, used, total, sizeof *l->column);
        l->even = fused_take(memory, used, total, sizeof *l->even);
        l->panels =
            fused_take(memory, used, panels ? l->heads * up_to(columns, PANEL) : 0, sizeof(float) * (size_t)f->D);
        l->rows = fused_take(memory, used, l->heads * columns, sizeof(float) * (size_t)l->width);
    }
    int64_t heads = f->count ? f->count->tensor[f->count->count.table].shape[1] : 0;
    f->count_panels = fused_take(memory, used, heads * f->count_columns, sizeof(float) * (size_t)f->D);
    f->counts = fused_take(memory, used, f->direct ? f->H * f->Tq : 0, sizeof(float) * (size_t)f->count_columns);
}

static int64_t ring_of(const lookup *l)
{
    return l->columns < RING ? up_to(l->columns, PANEL) : RING;
}

void lookups_scratch(const fused *f, scratch *s, char *memory, int64_t *used)
{
    for (int n = 0; n < f->lookups; n++) {
        const lookup *l = &f->lookup[n];
        int64_t ring = wants_panels(f, l) ? ring_of(l) : 0;
        s->G[n] = fused_take(memory, used, BQ * ring, sizeof(float));
        s->A[n] = fused_take(memory, used, l->t->side == PE_QUERY ? BQ * f->Dp : 0, sizeof(float));
    }
    s->counts = fused_take(memory, used, f->direct ? 0 : BQ * f->count_columns, sizeof(float));
}

/* ------------------------------------------------ filling */

int64_t lookups_row(const lookup *l, int64_t c)
{
    return l->flip ? l->first + l->columns - 1 - c : l->first + c;
}

static void fill_columns(lookup *l)
{
    int64_t total = l->w->total;
    int32_t rising = 0, staying = 0;
    for (int64_t x = 0; x < total; x++) {
        int64_t r = row_at(l, x);
        l->column[x] = (int32_t)(l->flip ? l->first + l->columns - 1 - r : r - l->first);
    }
    for (int64_t x = total - 1; x >= 0; x--) {
        int32_t by = x + 1 < total ? l->column[x + 1] - l->column[x] : 2;
        rising = by == 1 ? rising + 1 : 1;
        staying = by == 0 ? staying + 1 : 1;
        l->even[x] = rising >= staying ? rising : -staying;
    }
}

typedef struct filling {
    const fused *f;
    lookup *l;
} filling;

static void widen_row(const fused *f, const tensor *x, float *to, int64_t at, int64_t h, int64_t dims)
{
    int64_t first = x->offset + (at * x->shape[1] + h) * x->shape[2];
    f->k->widen(to, (const char *)f->p.w.data + first * (int64_t)pe_dtype_size(f->p.w.dtype), f->p.w.dtype, dims);
}

/* A row of the table, padded, in float32. */
static void fill_row(const fused *f, const lookup *l, float *to, int64_t at, int64_t h, int64_t dims)
{
    if (l->t->table >= 0)
        widen_row(f, &l->p->tensor[l->t->table], to, at, h, dims);
    for (int64_t d = 0; l->t->table < 0 && d < dims; d++)
        to[d] = fused_small((float)l->t->entry(l->p, at, d));
    for (int64_t d = dims; d < l->width; d++)
        to[d] = 0;
}

/* PANEL columns of the table, as rows and, transposed, as a panel. */
static void fill_panel(void *arg, int64_t n, int worker)
{
    const filling *g = arg;
    const fused *f = g->f;
    const lookup *l = g->l;
    int64_t panels = up_to(l->columns, PANEL) / PANEL, h = n / panels, c0 = n % panels * PANEL;
    int64_t dims = l->t->side == PE_VALUE ? f->Dv : f->D, count = l->columns - c0 < PANEL ? l->columns - c0 : PANEL;
    float *rows = l->rows + (h * l->columns + c0) * l->width;
    (void)worker;
    for (int64_t c = 0; c < count; c++)
        fill_row(f, l, rows + c * l->width, lookups_row(l, c0 + c), h, dims);
    if (l->panels)
        ready_panel(f, l->panels + (h * panels + n % panels) * f->D * PANEL, rows, l->width, count, f->D);
    if (l->t->side == PE_KEY) /* a query brings its own factor */
        f->k->scale(rows, (float)l->factor, count * l->width);
}

/* PANEL rows of the table that counts look up, as a panel and, for gradients, as rows. */
static void fill_counts(void *arg, int64_t n, int worker)
{
    const fused *f = arg;
    const tensor *x = &f->count->tensor[f->count->count.table];
    int64_t panels = f->count_columns / PANEL, h = n / panels, c0 = n % panels * PANEL, at = h * f->count_columns + c0;
    int64_t left = f->count_last + 1 - c0, count = left < PANEL ? left : PANEL;
    float *rows = f->count_rows ? f->count_rows + at * f->Dp : f->scratch[worker].qa;
    for (int64_t e = 0; e < PANEL * f->Dp; e++)
        rows[e] = 0;
    for (int64_t c = 0; c < count; c++)
        widen_row(f, x, rows + c * f->Dp, c0 + c, h, f->D);
    ready_panel(f, f->count_panels + at * f->D, rows, f->Dp, count, f->D);
}

void lookups_fill(fused *f)
{
    for (int n = 0; n < f->lookups; n++) {
        lookup *l = &f->lookup[n];
        if (l->odd || l->plan)
            continue;
        fill_columns(l);
        pool_run(f->p.pool, fill_panel, &(filling){ f, l }, l->heads * (up_to(l->columns, PANEL) / PANEL));
        l->finite = !ready_odd(l->rows, 1, 0, l->heads * l->columns * l->width);
    }
    int64_t rows = f->count ? f->count->tensor[f->count->count.table].shape[1] * f->count_columns : 0;
    pool_run(f->p.pool, fill_counts, f, rows / PANEL);
    f->count_finite = f->count_rows && !ready_odd(f->count_rows, 1, 0, rows * f->Dp);
}

/* ------------------------------------------------ a tile of queries */

/* Queries as a term takes them: (q + extra) times its factor, (rows, Dp). */
void lookups_raise(const fused *f, float *to, const part *p, int extra, double factor, const tile *t)
{
    for (int64_t r = 0; r < t->heads * t->m; r++, to += f->Dp) {
        int64_t h = t->h + r / t->m;
        f->k->widen(to, f->q + (h * f->Tq + t->i + r % t->m) * f->D, PE_F32, f->D);
        for (int64_t d = f->D; d < f->Dp; d++)
            to[d] = 0;
        for (int64_t d = 0; extra >= 0 && d < f->D; d++)
            to[d] += (float)param(p, f->p.w, extra, h * f->D + d);
        if (factor != 1)
            f->k->scale(to, (float)factor, f->D);
    }
}

const float *lookups_take(const fused *f, scratch *s, int n, const tile *t)
{
    const lookup *l = &f->lookup[n];
    if (!s->taken[n])
        lookups_raise(f, s->A[n], l->p, l->t->extra, l->factor, t);
    s->taken[n] = true;
    return s->A[n];
}

void lookups_begin(const fused *f, scratch *s)
{
    for (int n = 0; n < f->lookups; n++) {
        s->taken[n] = false;
        for (int i = 0; i < RING / PANEL; i++)
            s->tag[n][i] = -1;
    }
}

/* Widens low .. high by the columns of query i; false: it has none. */
static bool columns_of(const lookup *l, const tile *t, int64_t i, int64_t *low, int64_t *high)
{
    bool some = false;
    for (int64_t j = 0, length; j < t->n; j += length) {
        int64_t x = 0, skip, n = walk_stretch(l->w, i, t->j + j, t->n - j, &x, &skip, &length);
        if (n <= 0)
            continue;
        some = true;
        *low = l->column[x] < *low ? l->column[x] : *low;
        *high = l->column[x + n - 1] > *high ? l->column[x + n - 1] : *high;
    }
    return some;
}

/* Where queries rise and keys follow each other, the last query has the first column and the first the last, if they
 * have any. */
bool lookups_needed(const lookup *l, const tile *t, int64_t *low, int64_t *high)
{
    *low = INT64_MAX;
    *high = -1;
    if (l->w->q_rises && walk_run(l->w, t->j) >= t->n && columns_of(l, t, t->i, low, high) &&
        columns_of(l, t, t->i + t->m - 1, low, high))
        return true;
    for (int64_t i = t->i; i < t->i + t->m; i++)
        columns_of(l, t, i, low, high);
    return *high >= 0;
}

/* from T^t for panels that are not in the ring yet; from (rows, width) NULL: the queries. */
void lookups_columns(const fused *f, scratch *s, int n, const tile *t, int64_t low, int64_t high, const float *from)
{
    const lookup *l = &f->lookup[n];
    int64_t panels = up_to(l->columns, PANEL) / PANEL, ring = ring_of(l);
    for (int64_t p = low / PANEL; p <= high / PANEL; p++) {
        int64_t at = p * PANEL & (RING - 1);
        if (s->tag[n][at / PANEL] == p)
            continue;
        from = from ? from : lookups_take(f, s, n, t);
        for (int64_t h = 0; h < t->heads; h++) {
            int64_t of = l->heads == 1 ? 0 : t->h + h;
            f->k->gemm(s->G[n] + h * t->m * ring + at, ring, from + h * t->m * l->width, l->width, 1,
                       l->panels + (of * panels + p) * f->D * PANEL, PANEL, t->m, PANEL, f->D, false);
        }
        s->tag[n][at / PANEL] = p;
    }
}

/* One row of scores from its line of the ring. */
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
    const lookup *l = &f->lookup[n];
    for (int64_t r = 0; r < t->heads * t->m; r++)
        for (int64_t j = 0, length; j < t->n; j += length) {
            int64_t x = 0, skip, left = walk_stretch(l->w, t->i + r % t->m, t->j + j, t->n - j, &x, &skip, &length);
            if (left > 0)
                add_columns(f, l, s->G[n] + r * ring_of(l), to + r * BK + j + skip, x, left);
        }
}

/* ------------------------------------------------ a tile of keys */

/* A panel of keys at a time, so that few columns are made that no pair needs: E (columns, PANEL) = T k^t. */
static void add_panel(const fused *f, scratch *s, const lookup *l, const tile *t, const float *kt, int64_t p)
{
    tile u = { t->h, t->heads, t->i, t->m, t->j + p * PANEL, t->n - p * PANEL < PANEL ? t->n - p * PANEL : PANEL };
    int64_t low, high;
    if (!lookups_needed(l, &u, &low, &high))
        return;
    for (int64_t r = 0; r < u.heads * u.m; r++) {
        float *score = s->S + r * BK + p * PANEL;
        int64_t h = l->heads == 1 ? 0 : u.h + r / u.m;
        if (r == 0 || (r % u.m == 0 && l->heads > 1))
            f->k->gemm(s->E, PANEL, l->rows + (h * l->columns + low) * l->width, l->width, 1, kt + p * f->D * PANEL,
                       PANEL, high - low + 1, PANEL, f->D, false);
        for (int64_t j = 0, length; j < u.n; j += length) {
            int64_t x = 0, skip, n = walk_stretch(l->w, u.i + r % u.m, u.j + j, u.n - j, &x, &skip, &length);
            if (low == high && n > 0)
                f->k->add(score + j + skip, s->E + j + skip, n);
            for (int64_t e = 0; low != high && e < n; e++)
                score[j + skip + e] += s->E[(l->column[x + e] - low) * PANEL + j + skip + e];
        }
    }
}

/* One column for the whole tile: the same line of products for every query. */
static void add_line(const fused *f, scratch *s, const lookup *l, const tile *t, const float *kt, int64_t column)
{
    for (int64_t r = 0; r < t->heads * t->m; r++) {
        int64_t h = l->heads == 1 ? 0 : t->h + r / t->m;
        const float *row_of_table = l->rows + (h * l->columns + column) * l->width;
        for (int64_t p = 0; (r == 0 || (r % t->m == 0 && l->heads > 1)) && p * PANEL < t->n; p++)
            f->k->gemm(s->E + p * PANEL, BK, row_of_table, l->width, 1, kt + p * f->D * PANEL, PANEL, 1, PANEL, f->D,
                       false);
        f->k->add(s->S + r * BK, s->E, t->n);
    }
}

static void add_keys(const fused *f, scratch *s, const lookup *l, const tile *t, const keys *k, int64_t low,
                     int64_t high)
{
    if (low == high)
        add_line(f, s, l, t, k->kt, low);
    for (int64_t p = 0; low != high && p * PANEL < t->n; p++)
        add_panel(f, s, l, t, k->kt, p);
}

/* ------------------------------------------------ pair by pair */

static double pair_dot(const fused *f, const lookup *l, const float *x, int64_t h, int64_t at)
{
    double sum = 0;
    for (int64_t d = 0; d < f->D; d++)
        sum += ((double)x[d] + (l->t->extra < 0 ? 0 : param(l->p, f->p.w, l->t->extra, h * f->D + d))) *
               part_entry(l->p, f->p.w, l->t, at, h, d);
    return l->factor * sum;
}

int64_t lookups_pair(const lookup *l, int64_t i, int64_t j)
{
    return l->t->index(l->p, (int64_t)((uint64_t)l->w->q[i] - (uint64_t)walk_key(l->w, j)));
}

bool lookups_reaches(const fused *f, const lookup *l, int64_t i, int64_t j)
{
    int64_t q[PE_AXES_MAX], k[PE_AXES_MAX];
    return !l->p->row->reaches || l->p->row->reaches(l->p, position(f->p.a.q_at, i, q), position(f->p.a.k_at, j, k));
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
            int64_t h = t->h + r / t->m, i = t->i + r % t->m;
            if (!lookups_reaches(f, l, i, t->j + j))
                continue;
            if (l->t->side == PE_KEY)
                key_row(f, s, k, j, x);
            const float *of = l->t->side == PE_KEY ? x : f->q + (h * f->Tq + i) * f->D;
            s->S[r * BK + j] += (float)pair_dot(f, l, of, h, lookups_pair(l, i, t->j + j));
        }
}

/* ------------------------------------------------ what tiles ask for */

lookup_way lookups_way(const lookup *l, const tile *t, int64_t *low, int64_t *high)
{
    if (l->odd)
        return BY_PAIRS;
    if (!lookups_needed(l, t, low, high))
        return BY_NOTHING;
    return *high - *low >= NEED ? BY_PAIRS : BY_COLUMNS;
}

void lookups_add(const fused *f, scratch *s, const tile *t, const keys *k, bool before)
{
    for (int n = 0; n < f->lookups; n++) {
        const lookup *l = &f->lookup[n];
        int64_t low = 0, high = 0;
        if (l->t->side == PE_VALUE || l->before != before || l->fold)
            continue;
        lookup_way way = lookups_way(l, t, &low, &high);
        if (way == BY_PAIRS)
            add_pairs(f, s, l, t, k);
        else if (way == BY_COLUMNS && l->t->side == PE_KEY)
            add_keys(f, s, l, t, k, low, high);
        else if (way == BY_COLUMNS) {
            lookups_columns(f, s, n, t, low, high, NULL);
            lookups_add_columns(f, s, n, t, s->S);
        }
    }
}

void lookups_fold(const fused *f, float *qs, int64_t h)
{
    for (int n = 0; n < f->lookups; n++) {
        const lookup *l = &f->lookup[n];
        if (l->fold)
            f->k->add(qs, l->rows + (l->heads == 1 ? 0 : h) * l->width, f->D);
    }
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
            for (int64_t d = 0; p != 0 && d < f->Dv; d++)
                O[r * f->Dw + d] += p * (float)part_entry(l->p, f->p.w, l->t, lookups_pair(l, i, t->j + j), h, d);
        }
}

/* W (rows, columns low .. high): what p (rows, BK) gives to each column. */
void lookups_gather(const fused *f, const lookup *l, const tile *t, const float *p, float *W, int64_t low, int64_t high)
{
    int64_t width = high - low + 1;
    for (int64_t r = 0; r < t->heads * t->m; r++) {
        for (int64_t c = 0; c < width; c++)
            W[r * width + c] = 0;
        for (int64_t j = 0, length; j < t->n; j += length) {
            int64_t x = 0, skip, n = walk_stretch(l->w, t->i + r % t->m, t->j + j, t->n - j, &x, &skip, &length);
            if (n > 0)
                gather_row(f, l, W + r * width, p + r * BK + j + skip, x, n, low);
        }
    }
}

static void mix_columns(const fused *f, scratch *s, const lookup *l, const tile *t, float *O, int64_t low, int64_t high)
{
    int64_t width = high - low + 1;
    lookups_gather(f, l, t, s->S, s->E, low, high);
    for (int64_t h = 0; h < t->heads; h++)
        (l->finite ? f->k->gemm : gemm_c)(O + h * t->m * f->Dw, f->Dw, s->E + h * t->m * width, width, 1,
                                          l->rows + ((l->heads == 1 ? 0 : t->h + h) * l->columns + low) * f->Dw, f->Dw,
                                          t->m, f->Dw, width, true);
}

/* O += weights times value rows; S holds the weights. */
void lookups_mix(const fused *f, scratch *s, const tile *t, float *O)
{
    for (int n = 0; n < f->lookups; n++) {
        const lookup *l = &f->lookup[n];
        int64_t low = 0, high = 0;
        lookup_way way = l->t->side == PE_VALUE ? lookups_way(l, t, &low, &high) : BY_NOTHING;
        if (way == BY_PAIRS)
            mix_pairs(f, s, l, t, O);
        else if (way == BY_COLUMNS)
            mix_columns(f, s, l, t, O, low, high);
    }
}

void lookups_counts(const fused *f, scratch *s, const tile *t)
{
    const part *p = f->count;
    int64_t heads = p->tensor[p->count.table].shape[1], C = f->count_columns;
    lookups_raise(f, s->qa, p, -1, p->stage == PE_BEFORE_SCALE ? f->p.scale : 1, t);
    for (int64_t h = 0; h < t->heads; h++)
        for (int64_t c = 0; c < C; c += PANEL)
            f->k->gemm(s->counts + h * t->m * C + c, C, s->qa + h * t->m * f->Dp, f->Dp, 1,
                       f->count_panels + ((heads == 1 ? 0 : t->h + h) * C + c) * f->D, PANEL, t->m, PANEL, f->D, false);
    s->counts_odd = ready_odd(s->counts, t->heads * t->m, C, C);
}
