/* SPDX-License-Identifier: MIT
 *
 * Terms by table: which rows the distances of a call need, and those rows as data. */
#include "attention/lookups.h"

static bool lookups_find(fused *f)
{
    lookups *all = lookups_of(f);
    for (int n = 0; n < f->p.e->parts; n++)
        for (int t = 0; t < f->p.e->part[n].terms; t++) {
            const part *p = &f->p.e->part[n];
            all->lookup[all->count++] = (lookup){ .p = p, .t = &p->term[t], .w = spacing_for(f, NULL) };
        }
    return all->count > 0;
}

/* The last row of the table; one that is computed has no end. */
static int64_t last_row(const lookup *l)
{
    return l->t->table < 0 ? INT64_MAX / 4 : l->p->tensor[l->t->table].shape[0] - 1;
}

/* The table's row at place x, -1 or one past its end where it has none; pads have that of the nearest distance that is
 * seen. */
static int64_t row_at(const lookup *l, int64_t x)
{
    const band *b = spacing_band(l->w, x);
    int64_t d = spacing_distance(l->w, x);
    d = d < b->low ? b->low : d > b->high ? b->high : d;
    int64_t r = l->t->index(l->p, d), end = last_row(l) + 1;
    return l->t->table < 0 ? r : r < 0 ? -1 : r < end ? r : end;
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
    l->form.columns = high - low + 1;
    l->flip = !rises;
    bool endless = l->t->table < 0 && l->form.columns > 16 * (f->Tq + f->Tk) + 4096; /* entries across a gap */
    l->odd = l->w->scattered || endless || (!rises && !falls);
}

static void size_one(fused *f, lookup *l)
{
    pe_side side = l->t->side;
    l->depth = side == PE_VALUE ? f->Dv : l->t->input ? f->R : f->D;
    l->width = side == PE_VALUE ? f->Dw : l->t->input ? f->Rp : f->Dp;
    l->before = l->p->stage == PE_BEFORE_SCALE;
    l->factor = l->before && side != PE_VALUE ? f->p.scale : 1;
    l->form = (pe_lowered_lookup){ .side = side, .stage = l->p->stage, .input = l->t->input, .by = &l->w->told };
    l->form.heads = l->t->table < 0 ? 1 : l->p->tensor[l->t->table].shape[1];
    l->form.dim = l->depth;
    l->form.row_stride = l->width;
    find_rows(f, l);
    l->meets = side == PE_KEY && l->before && !f->carries && !l->odd;
}

static void lookups_size(fused *f)
{
    lookups *all = lookups_of(f);
    for (int n = 0; n < all->count; n++) {
        lookup *l = &all->lookup[n];
        if (f->plan && l->w->planned) { /* all but where its keys stand, and the scale */
            const lookup *from = &lookups_of(f->plan)->lookup[n];
            const spacing *w = l->w;
            *l = *from;
            l->plan = from;
            l->w = w;
            l->factor = l->before && l->t->side != PE_VALUE ? f->p.scale : 1;
        } else
            size_one(f, l);
        f->ready.keys_meet = f->ready.keys_meet || l->t->side == PE_KEY;
        f->ready.load_panel = f->ready.load_panel || (l->t->side == PE_KEY && !l->odd);
    }
}

static bool wants_panels(const fused *f, const lookup *l)
{
    return !l->odd && (l->t->side == PE_QUERY || (l->t->side == PE_VALUE && f->backward));
}

static void lookups_cut(fused *f, char *memory, int64_t *used)
{
    lookups *all = lookups_of(f);
    for (int n = 0; n < all->count; n++) {
        lookup *l = &all->lookup[n];
        int64_t total = l->odd ? 0 : l->w->total, columns = l->odd ? 0 : l->form.columns;
        int64_t panels = wants_panels(f, l) ? l->form.heads * up_to(columns, PANEL) : 0;
        if (!l->plan) {
            l->column = fused_take(memory, used, total, sizeof *l->column);
            l->even = fused_take(memory, used, total, sizeof *l->even);
            l->panels = fused_take(memory, used, panels, sizeof(float) * (size_t)l->depth);
            l->rows = fused_take(memory, used, l->form.heads * columns, sizeof(float) * (size_t)l->width);
            l->extra = fused_take(memory, used, l->t->extra < 0 ? 0 : f->H, sizeof(float) * (size_t)l->width);
        }
        lookups_cut_back(f, l, memory, used);
    }
}

static void lookups_cut_worker(const fused *f, scratch *s, char *memory, int64_t *used)
{
    const lookups *all = lookups_of(f);
    worker_lookups w = { .E = fused_take(memory, used, NEED * BK, sizeof(float)) };
    for (int n = 0; n < all->count; n++) {
        const lookup *l = &all->lookup[n];
        int64_t ring = wants_panels(f, l) ? lookups_ring(l) : 0;
        w.G[n] = fused_take(memory, used, BQ * ring, sizeof(float));
        w.A[n] = fused_take(memory, used, l->t->side == PE_QUERY ? BQ * l->width : 0, sizeof(float));
    }
    if (memory)
        *lookups_worker(s) = w;
}

/* ------------------------------------------------ filling */

static void fill_columns(lookup *l)
{
    int64_t total = l->w->total;
    int32_t rising = 0, staying = 0;
    for (int64_t x = 0; x < total; x++)
        l->column[x] = (int32_t)lookups_column(l, row_at(l, x));
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

/* A row of the table, padded, in float32; outside the table 0. */
static void fill_row(const fused *f, const lookup *l, float *to, int64_t at, int64_t h)
{
    bool inside = l->t->table < 0 || (at >= 0 && at <= last_row(l));
    for (int64_t d = inside ? l->depth : 0; d < l->width; d++)
        to[d] = 0;
    if (inside && l->t->table >= 0)
        ready_param(f, l->p, l->t->table, at, h, to, l->depth);
    for (int64_t d = 0; l->t->table < 0 && d < l->depth; d++)
        to[d] = fused_small((float)l->t->entry(l->p, at, d));
}

/* PANEL columns of the table, as rows and, transposed, as a panel. */
static void fill_panel(void *arg, int64_t n, int worker)
{
    const filling *g = arg;
    const lookup *l = g->l;
    int64_t columns = l->form.columns, panels = up_to(columns, PANEL) / PANEL, h = n / panels, c0 = n % panels * PANEL;
    int64_t count = columns - c0 < PANEL ? columns - c0 : PANEL;
    float *rows = l->rows + (h * columns + c0) * l->width;
    (void)worker;
    for (int64_t c = 0; c < count; c++)
        fill_row(g->f, l, rows + c * l->width, lookups_row(l, c0 + c), h);
    if (l->panels)
        ready_panel(g->f, l->panels + (h * panels + n % panels) * l->depth * PANEL, rows, l->width, count, l->depth);
}

static void fill_extra(const fused *f, lookup *l)
{
    for (int64_t h = 0; l->extra && h < f->H; h++)
        for (int64_t d = 0; d < l->width; d++)
            l->extra[h * l->width + d] = d < l->depth ? (float)param(l->p, f->p.w, l->t->extra, h * l->depth + d) : 0;
}

static void lookups_fill(fused *f)
{
    lookups *all = lookups_of(f);
    for (int n = 0; n < all->count; n++) {
        lookup *l = &all->lookup[n];
        lookups_clear(f, l);
        if (l->plan) /* filled since its size was taken */
            l->finite = l->plan->finite;
        if (l->plan)
            continue;
        fill_extra(f, l);
        l->form.extra = l->extra;
        if (l->odd)
            continue;
        fill_columns(l);
        pool_run(f->p.pool, fill_panel, &(filling){ f, l }, l->form.heads * (up_to(l->form.columns, PANEL) / PANEL));
        l->finite = !ready_odd(f, l->rows, 1, 0, l->form.heads * l->form.columns * l->width);
        l->form.column = l->column;
        l->form.rows = l->rows;
    }
}

const pe_lowered_lookup *lookups_form(const fused *f, int n)
{
    const lookups *all = lookups_of(f);
    return n < all->count ? &all->lookup[n].form : NULL;
}

/* ------------------------------------------------ what a tile needs */

/* Widens low .. high by the columns of query i; false: it has none. */
static bool columns_of(const lookup *l, const tile *t, int64_t i, int64_t *low, int64_t *high)
{
    bool some = false;
    for (int64_t j = 0, length; j < t->n; j += length) {
        int64_t x = 0, skip, n = spacing_stretch(l->w, i, t->j + j, t->n - j, &x, &skip, &length);
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
    if (l->w->q_rises && spacing_run(l->w, t->j) >= t->n && columns_of(l, t, t->i, low, high) &&
        columns_of(l, t, t->i + t->m - 1, low, high))
        return true;
    for (int64_t i = t->i; i < t->i + t->m; i++)
        columns_of(l, t, i, low, high);
    return *high >= 0;
}

lookup_way lookups_way(const lookup *l, const tile *t, int64_t *low, int64_t *high)
{
    if (l->odd)
        return BY_PAIRS;
    if (!lookups_needed(l, t, low, high))
        return BY_NOTHING;
    return *high - *low >= NEED ? BY_PAIRS : BY_COLUMNS;
}

/* ------------------------------------------------ pair by pair, by the row's functions themselves */

int64_t lookups_pair(const fused *f, const lookup *l, int64_t i, int64_t j)
{
    int64_t q[PE_AXES_MAX], k[PE_AXES_MAX];
    if (l->p->row->reaches && !l->p->row->reaches(l->p, position(f->p.a.q_at, i, q), position(f->p.a.k_at, j, k)))
        return NO_ROW;
    int64_t r = l->t->index(l->p, spacing_apart(l->w, i, j));
    return l->t->table < 0 || (r >= 0 && r <= last_row(l)) ? r : NO_ROW;
}

double lookups_entry(const fused *f, const lookup *l, int64_t r, int64_t h, int64_t d)
{
    return part_entry(l->p, f->p.w, l->t, r, h, d);
}

double lookups_extra(const fused *f, const lookup *l, int64_t h, int64_t d)
{
    return l->t->extra < 0 ? 0 : param(l->p, f->p.w, l->t->extra, h * l->depth + d);
}

static bool lookups_serial(const fused *f)
{
    bool odd = false;
    for (int n = 0; n < lookups_of(f)->count; n++)
        odd = odd || lookups_of(f)->lookup[n].odd;
    return odd;
}

const term_kind kind_lookups = {
    .bytes = sizeof(lookups),
    .worker_bytes = sizeof(worker_lookups),
    .find = lookups_find,
    .size = lookups_size,
    .cut = lookups_cut,
    .cut_worker = lookups_cut_worker,
    .fill = lookups_fill,
    .panels = lookups_panels,
    .meet = lookups_meet,
    .begin = lookups_begin,
    .add = lookups_add,
    .mix = lookups_mix,
    .mix_back = lookups_mix_back,
    .back = lookups_back,
    .sum = lookups_sum,
    .serial = lookups_serial,
};
