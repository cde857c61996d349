/* SPDX-License-Identifier: MIT
 *
 * Counts: a term whose position is the number of keys that a query finds relevant, from right to left (counting in
 * core/row.h). What a query has for every count is made once per tile of queries; keys then look it up. */
#include "attention/fused.h"

typedef struct counts {
    const part *p;
    float *panels; /* (heads of the table, columns / PANEL, D, PANEL) */
    float *rows;   /* (heads of the table, columns, Dp): backward */
    float *all;    /* (H, Tq, columns): direct */
    bool *odd;     /* (H) some of them is not finite */
    int64_t columns, last;
    int64_t heads; /* of the table */
    bool finite;   /* the table */
    float *dtable; /* (copies, columns, Dp) */
} counts;

typedef struct worker_counts {
    float *own, *at; /* (BQ, columns); direct: at is a place in those of all heads */
    float *grad;     /* (BQ, columns) */
    bool odd;        /* some of those at `at` is not finite */
} worker_counts;

static counts *own_counts(const fused *f)
{
    return kind_of(f, &kind_counts);
}

static worker_counts *of_worker(const scratch *s)
{
    return kind_worker(s, &kind_counts);
}

static bool counts_find(fused *f)
{
    counts *c = own_counts(f);
    for (int n = 0; n < f->p.e->parts && !f->shell; n++) /* a count is no distance: a plan has none */
        if (f->p.e->part[n].count.on)
            c->p = &f->p.e->part[n];
    f->carries = c->p != NULL;
    return c->p != NULL;
}

static void counts_size(fused *f)
{
    counts *c = own_counts(f);
    const tensor *table = &c->p->tensor[c->p->count.table];
    int64_t most = f->Tk + f->p.a.mask.keys_after + 2;
    c->heads = table->shape[1];
    c->last = (table->shape[0] < most ? table->shape[0] : most) - 1;
    c->columns = up_to(c->last + 1, PANEL);
}

static void counts_cut(fused *f, char *memory, int64_t *used)
{
    counts *c = own_counts(f);
    int64_t copies = f->backward ? fused_copies(f, c->heads) : 0;
    c->panels = fused_take(memory, used, c->heads * c->columns, sizeof(float) * (size_t)f->D);
    c->all = fused_take(memory, used, f->direct ? f->H * f->Tq : 0, sizeof(float) * (size_t)c->columns);
    c->odd = fused_take(memory, used, f->direct ? f->H : 0, sizeof(bool));
    c->rows = fused_take(memory, used, f->backward ? c->heads * c->columns : 0, sizeof(float) * (size_t)f->Dp);
    c->dtable = fused_take(memory, used, copies * c->columns, sizeof(float) * (size_t)f->Dp);
}

static void counts_cut_worker(const fused *f, scratch *s, char *memory, int64_t *used)
{
    int64_t columns = own_counts(f)->columns;
    worker_counts w = { .own = fused_take(memory, used, f->direct ? 0 : BQ * columns, sizeof(float)) };
    w.grad = fused_take(memory, used, f->backward ? BQ * columns : 0, sizeof(float));
    if (memory)
        *of_worker(s) = w;
}

/* PANEL rows of the table, as a panel and, for gradients, as rows. */
static void fill_panel(void *arg, int64_t n, int worker)
{
    const fused *f = arg;
    const counts *c = own_counts(f);
    int64_t panels = c->columns / PANEL, h = n / panels, c0 = n % panels * PANEL, at = h * c->columns + c0;
    int64_t left = c->last + 1 - c0, count = left < PANEL ? left : PANEL;
    float *rows = c->rows ? c->rows + at * f->Dp : f->scratch[worker].qa;
    for (int64_t e = 0; e < PANEL * f->Dp; e++)
        rows[e] = 0;
    for (int64_t r = 0; r < count; r++)
        ready_param(f, c->p, c->p->count.table, c0 + r, h, rows + r * f->Dp, f->D);
    ready_panel(f, c->panels + at * f->D, rows, f->Dp, count, f->D);
}

/* q T^t for a tile of queries; their q in qa. Returns whether some of it is not finite. */
static bool make_products(const fused *f, scratch *s, const tile *t, float *to)
{
    const counts *c = own_counts(f);
    ready_raise(f, s->qa, t, f->ready.q, f->D, f->Dp, NULL, c->p->stage == PE_BEFORE_SCALE ? f->p.scale : 1);
    for (int64_t h = 0; h < t->heads; h++)
        for (int64_t n = 0; n < c->columns; n += PANEL)
            f->k->gemm(to + h * t->m * c->columns + n, c->columns, s->qa + h * t->m * f->Dp, f->Dp, 1,
                       c->panels + ((c->heads == 1 ? 0 : t->h + h) * c->columns + n) * f->D, PANEL, t->m, PANEL, f->D,
                       false);
    return ready_odd(f, to, t->heads * t->m, c->columns, c->columns);
}

/* Few queries have theirs made once for all tiles of keys. */
static void fill_products(void *arg, int64_t h, int worker)
{
    const fused *f = arg;
    const counts *c = own_counts(f);
    c->odd[h] = make_products(f, &f->scratch[worker], &(tile){ h, 1, 0, f->Tq, 0, 0 }, c->all + h * f->Tq * c->columns);
}

static void counts_fill(fused *f)
{
    counts *c = own_counts(f);
    int64_t rows = c->heads * c->columns;
    pool_run(f->p.pool, fill_panel, f, rows / PANEL);
    pool_run(f->p.pool, fill_products, f, f->direct ? f->H : 0);
    c->finite = c->rows && !ready_odd(f, c->rows, 1, 0, rows * f->Dp);
    clear_floats(c->dtable, f->backward ? fused_copies(f, c->heads) * c->columns * f->Dp : 0);
}

static void counts_begin(const fused *f, scratch *s, const tile *t)
{
    const counts *c = own_counts(f);
    worker_counts *w = of_worker(s);
    for (int64_t n = 0; f->backward && n < t->m * c->columns; n++)
        w->grad[n] = 0;
    if (!f->direct) {
        w->at = w->own;
        w->odd = make_products(f, s, t, w->at);
        return;
    }
    w->at = c->all + t->h * f->Tq * c->columns;
    w->odd = false;
    for (int64_t h = t->h; h < t->h + t->heads; h++)
        w->odd = w->odd || c->odd[h];
}

/* What is hidden stays so, whatever the query has for it. */
static double count_keys(const fused *f, scratch *s, int64_t r, int64_t n, double carry)
{
    const counts *c = own_counts(f);
    const worker_counts *w = of_worker(s);
    float *score = s->S + r * BK;
    if (w->odd)
        f->k->widen(s->row, score, PE_F32, n);
    carry = f->k->count(score, s->gate + r * BK, n, carry, w->at + r * c->columns, c->last);
    for (int64_t j = 0; w->odd && j < n; j++)
        score[j] = s->row[j] == -INFINITY ? s->row[j] : score[j];
    return carry;
}

static void counts_add(const fused *f, scratch *s, const tile *t, const keys *k, state *st, moment when)
{
    int64_t rows = t->heads * t->m;
    (void)k;
    for (int64_t r = 0; when == AT_PRODUCT && r < rows; r++)
        f->k->sigmoid(s->gate + r * BK, s->S + r * BK, (float)(own_counts(f)->p->count.scale / f->p.scale), t->n);
    for (int64_t r = 0; when == AT_MASKED && r < rows; r++)
        st->carry[r] = count_keys(f, s, r, t->n, st->carry[r]);
}

/* ------------------------------------------------ gradients */

/* One row: counts again from the right, then gradients from the left; gate[j] becomes the gradient of the product that
 * it was made of. */
static double row_back(const fused *f, const float *G, float *dG, float *gate, const float *ds, int64_t n, double carry,
                       double dcarry)
{
    const counts *c = own_counts(f);
    double so_far[BK], scale = c->p->count.scale / f->p.scale, last = (double)c->last;
    for (int64_t j = n - 1; j >= 0; j--)
        so_far[j] = carry += (double)gate[j];
    for (int64_t j = 0; j < n; j++) {
        double place = so_far[j] < last ? so_far[j] : last, g = (double)gate[j], d = (double)ds[j];
        int64_t at = (int64_t)place;
        at -= at == c->last;
        double part_way = place - (double)at;
        dG[at] += (float)(d * (1 - part_way));
        dG[at + 1] += (float)(d * part_way);
        if (so_far[j] < last)
            dcarry += d * ((double)G[at + 1] - (double)G[at]);
        gate[j] = g != 0 ? (float)(dcarry * g * (1 - g) * scale) : 0; /* 0: hidden, whatever dcarry is */
    }
    return dcarry;
}

static void counts_back(const fused *f, scratch *s, const tile *t, int64_t item, moment when)
{
    const worker_counts *w = of_worker(s);
    int64_t C = own_counts(f)->columns;
    (void)item;
    for (int64_t r = 0; when == AT_MASKED && r < t->m; r++)
        s->dcarry[r] = row_back(f, w->at + r * C, w->grad + r * C, s->gate + r * BK, s->dP + r * BK, t->n,
                                s->carries[t->j / BK * BQ + r], s->dcarry[r]);
    for (int64_t r = 0; when == AT_PRODUCT && r < t->m; r++)
        f->k->add(s->dP + r * BK, s->gate + r * BK, t->n);
}

static void counts_end(const fused *f, scratch *s, const tile *t, int64_t item)
{
    const counts *c = own_counts(f);
    const float *grads = of_worker(s)->grad;
    int64_t C = c->columns, Dp = f->Dp;
    double factor = c->p->stage == PE_BEFORE_SCALE ? f->p.scale : 1;
    (c->finite ? f->k->gemm : gemm_c)(s->dqt, Dp, grads, C, 1, c->rows + (c->heads == 1 ? 0 : t->h) * C * Dp, Dp, t->m,
                                      Dp, C, false);
    f->k->axpy(s->dq, (float)factor, s->dqt, t->m * Dp);
    ready_raise(f, s->qa, t, f->ready.q, f->D, f->Dp, NULL, factor);
    (s->odd ? gemm_c : f->k->gemm)(fused_copy(f, c->dtable, c->heads, t->h, item, C * Dp), Dp, grads, 1, C, s->qa, Dp,
                                   C, Dp, t->m, true);
}

static void counts_sum(fused *f)
{
    const counts *c = own_counts(f);
    int64_t size_of = c->columns * f->Dp, splits = f->back.splits;
    int64_t apart = c->heads == 1 ? size_of : f->H * size_of, count = c->heads == 1 ? splits * f->G : splits;
    for (int64_t h = 0; f->p.g.dparams.data && h < c->heads; h++)
        for (int64_t r = 0; r <= c->last; r++)
            for (int64_t d = 0; d < f->D; d++)
                grad(c->p, f->p.g.dparams, c->p->count.table, (r * c->heads + h) * f->D + d,
                     back_over(c->dtable + h * size_of + r * f->Dp + d, count, apart));
}

const term_kind kind_counts = {
    .bytes = sizeof(counts),
    .worker_bytes = sizeof(worker_counts),
    .find = counts_find,
    .size = counts_size,
    .cut = counts_cut,
    .cut_worker = counts_cut_worker,
    .fill = counts_fill,
    .begin = counts_begin,
    .add = counts_add,
    .back = counts_back,
    .end = counts_end,
    .sum = counts_sum,
};
