/* SPDX-License-Identifier: MIT
 *
 * Bias. A table by falling distance is read along rising keys: one contiguous load per vector of scores. Where queries
 * have shares of their own (or few queries make a table per head too dear), the table holds measures, and each head's
 * function of them is a handful of straight pieces. */
#include "attention/fused.h"

static bool by_pieces(const fused *f, const line *l)
{
    return l->p->row->share || (f->direct && l->p->row->knots && l->p->row->knots(l->p) == 0);
}

void lines_find(fused *f)
{
    for (int n = 0; n < f->lines; n++) {
        line *l = &f->line[n];
        l->factor = l->p->stage == PE_BEFORE_SCALE ? f->p.scale : 1;
        l->knots = by_pieces(f, l) ? l->p->row->knots(l->p) : -1;
    }
}

void lines_cut(fused *f, char *memory, int64_t *used)
{
    for (int n = 0; n < f->lines; n++) {
        line *l = &f->line[n];
        bool pieces = by_pieces(f, l), absolute = l->p->absolute;
        int64_t span = absolute || l->plan ? 0 : l->w->total;
        l->table = fused_take(memory, used, span * (pieces ? 1 : f->H), sizeof(float));
        l->key = fused_take(memory, used, absolute && !l->plan ? f->H * f->Tk : 0, sizeof(double));
        l->query = fused_take(memory, used, absolute ? f->H * f->Tq : 0, sizeof(double));
        l->knot = fused_take(memory, used, pieces ? l->knots + 2 : 0, sizeof(double));
        l->slope = fused_take(memory, used, pieces ? f->H * (l->knots + 1) : 0, sizeof(float));
        l->level = fused_take(memory, used, pieces ? f->H * (l->knots + 1) : 0, sizeof(float));
        l->share = fused_take(memory, used, pieces ? f->Tq : 0, sizeof(float));
    }
}

/* ------------------------------------------------ filling */

enum { BLOCK = 1024 };

typedef struct filling {
    fused *f;
    line *l;
    const band *b;
} filling;

/* Falling distances from d on. */
static void measure_block(const fused *f, const line *l, double *m, int64_t d, int64_t count)
{
    if (l->p->row->measures) {
        l->p->row->measures(l->p, m, d, count);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        m[i] = part_measure(l->p, f->p.w, d - i);
}

/* One block of a band's distances, all heads; neighbours with one measure (far buckets) share a value. */
static void fill_block(void *arg, int64_t n, int worker)
{
    const filling *g = arg;
    const line *l = g->l;
    const fused *f = g->f;
    double m[BLOCK];
    int64_t total = l->w->total, first = g->b->start + PAD + n * BLOCK, left = g->b->high - g->b->low + 1 - n * BLOCK;
    int64_t count = left < BLOCK ? left : BLOCK;
    (void)worker;
    measure_block(f, l, m, g->b->high - n * BLOCK, count);
    for (int64_t i = 0; l->knots >= 0 && i < count; i++)
        l->table[first + i] = (float)m[i];
    for (int64_t h = 0; l->knots < 0 && h < f->H; h++) {
        float *to = l->table + h * total + first;
        for (int64_t i = 0; i < count; i++)
            to[i] = i && m[i] == m[i - 1] ? to[i - 1] : (float)(l->factor * l->p->row->bias(l->p, f->p.w, h, m[i]));
    }
}

/* Hidden pairs look here; measures go on, so that those of a row rise or fall all the way. */
static void fill_pads(const fused *f, line *l)
{
    for (int64_t x = 0; x < l->w->total; x++) {
        if (!walk_pads(l->w, x))
            continue;
        for (int64_t h = 0; l->knots < 0 && h < f->H; h++)
            l->table[h * l->w->total + x] = 0;
        if (l->knots >= 0)
            l->table[x] = (float)part_measure(l->p, f->p.w, walk_distance(l->w, x));
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fill_shares(const fused *f, line *l)
{
    const row *r = l->p->row;
    for (int64_t i = 0; i < f->Tq; i++) {
        int64_t at[PE_AXES_MAX];
        l->share[i] = (float)(r->share ? r->share(l->p, f->p.w, position(f->p.a.q_at, i, at)) : 1);
    }
}

/* What x = measure times share lies between. */
static void find_reach(const fused *f, line *l)
{
    double *m = l->extreme, s[2] = { 0, 0 };
    for (int64_t x = 0; !l->plan && x < l->w->total; x++) {
        m[0] = x ? fmin(m[0], (double)l->table[x]) : (double)l->table[x];
        m[1] = x ? fmax(m[1], (double)l->table[x]) : (double)l->table[x];
    }
    for (int64_t i = 0; i < f->Tq; i++) {
        s[0] = i ? fmin(s[0], (double)l->share[i]) : (double)l->share[i];
        s[1] = i ? fmax(s[1], (double)l->share[i]) : (double)l->share[i];
    }
    l->least = fmin(fmin(m[0] * s[0], m[0] * s[1]), fmin(m[1] * s[0], m[1] * s[1]));
    l->most = fmax(fmax(m[0] * s[0], m[0] * s[1]), fmax(m[1] * s[0], m[1] * s[1]));
}

/* Two points inside a piece; one where it has no width. The first is about as near to 0 as any x of the piece, so that
 * the level, bias(a) - slope a, is the difference of numbers no larger than the bias there; the second is far from it,
 * which gives the slope all its digits. */
void line_points(const line *l, int64_t s, double *a, double *b)
{
    double low = s ? fmax(l->knot[s - 1], l->least) : l->least,
           high = s < l->knots ? fmin(l->knot[s], l->most) : l->most;
    high = high > low ? high : low;
    double near = low > 0 ? low : high < 0 ? high : 0, width = near - low > high - near ? low - near : high - near;
    double inside = near != 0 ? fmin(fabs(near), fabs(width) / 3) : fabs(width) * 0x1p-30;
    *a = low < near && near < high ? near : near + copysign(inside, width);
    *b = near + width / 3 * 2;
}

/* One piece, all heads: the line through two points of it. */
static void fill_piece(void *arg, int64_t s, int worker)
{
    const filling *g = arg;
    const fused *f = g->f;
    const line *l = g->l;
    const row *r = l->p->row;
    double a, b;
    (void)worker;
    line_points(l, s, &a, &b);
    for (int64_t h = 0; h < f->H; h++) {
        double at_a = r->bias(l->p, f->p.w, h, a), at_b = b != a ? r->bias(l->p, f->p.w, h, b) : at_a;
        double slope = b != a ? (at_b - at_a) / (b - a) : 0;
        l->slope[h * (l->knots + 1) + s] = (float)(l->factor * slope);
        l->level[h * (l->knots + 1) + s] = (float)(l->factor * (at_a - slope * a));
    }
}

/* Knots in order; one that x never reaches, and that would put points where nothing is, is infinitely far. */
static void fill_pieces(fused *f, line *l)
{
    find_reach(f, l);
    for (int64_t i = 0; i < l->knots; i++) {
        double at = l->p->row->knot(l->p, f->p.w, i);
        l->knot[i] = at < l->least ? -INFINITY : at > l->most ? INFINITY : at;
    }
    qsort(l->knot, (size_t)l->knots, sizeof(double), by_size);
    pool_run(f->p.pool, fill_piece, &(filling){ f, l, NULL }, l->knots + 1);
}

static void fill_absolute(const fused *f, line *l)
{
    int64_t at[PE_AXES_MAX];
    l->key_row = l->plan ? l->plan->key_row : f->Tk;
    if (l->plan)
        l->key = l->plan->key + coordinate(f->p.a.k_at, 0, 0);
    for (int64_t h = 0; h < f->H; h++) {
        for (int64_t j = 0; !l->plan && j < f->Tk; j++)
            l->key[h * f->Tk + j] = l->factor * l->p->row->absolute(l->p, h, position(f->p.a.k_at, j, at));
        for (int64_t i = 0; i < f->Tq; i++)
            l->query[h * f->Tq + i] = l->factor * l->p->row->absolute(l->p, h, position(f->p.a.q_at, i, at));
    }
}

void lines_fill(fused *f)
{
    for (int n = 0; n < f->lines; n++) {
        line *l = &f->line[n];
        if (l->p->absolute)
            fill_absolute(f, l);
        if (l->p->absolute || l->w->scattered)
            continue;
        if (l->plan) {
            l->table = l->plan->table;
            l->extreme[0] = l->plan->extreme[0];
            l->extreme[1] = l->plan->extreme[1];
        } else
            fill_pads(f, l);
        for (const band *b = l->w->band; !l->plan && b < l->w->band + l->w->bands; b++)
            pool_run(f->p.pool, fill_block, &(filling){ f, l, b }, up_to(b->high - b->low + 1, BLOCK) / BLOCK);
        if (l->knots >= 0)
            fill_shares(f, l);
        if (l->knots >= 0)
            fill_pieces(f, l);
    }
}

/* ------------------------------------------------ adding */

/* How many of n measures, which rise or fall all the way, are on the near side of the limit. */
static int64_t until(const float *m, int64_t n, float limit, bool falls)
{
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t mid = (low + high) / 2;
        if (falls ? m[mid] >= limit : m[mid] < limit)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The piece that holds x: the number of knots at or below it. */
static int64_t piece_of(const line *l, double x)
{
    int64_t low = 0, high = l->knots;
    while (low < high) {
        int64_t mid = (low + high) / 2;
        if (l->knot[mid] <= x)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Measures that rise or fall all the way cross one knot after the other. */
int64_t line_piece(const line *l, int64_t i, int64_t x, int64_t n, int64_t *run)
{
    const float *m = l->table + x;
    double share = (double)l->share[i];
    int64_t piece = piece_of(l, (double)m[0] * share);
    bool falls = n > 1 && m[n - 1] < m[0];
    *run = n;
    if (falls && piece > 0)
        *run = until(m, n, (float)(l->knot[piece - 1] / share), true);
    else if (!falls && piece < l->knots)
        *run = until(m, n, (float)(l->knot[piece] / share), false);
    *run = *run > 0 ? *run : 1;
    return piece;
}

/* Distances fall along the keys; a measure turns round at 0. */
int64_t line_turn(const line *l, int64_t x, int64_t n)
{
    const band *b = walk_band(l->w, x);
    int64_t zero = b->start + PAD + b->high - x;
    return zero < 0 ? 0 : zero < n ? zero : n;
}

static void add_pieces(const fused *f, const line *l, int64_t h, int64_t i, float *s, int64_t x, int64_t n)
{
    const float *slope = l->slope + h * (l->knots + 1), *level = l->level + h * (l->knots + 1);
    int64_t first = line_turn(l, x, n);
    for (int64_t j = 0, run; j < n; j += run) {
        int64_t piece = line_piece(l, i, x + j, j < first ? first - j : n - j, &run);
        f->k->line(s + j, l->table + x + j, slope[piece] * l->share[i], level[piece], run);
    }
}

/* Places too far between for a table: pair by pair. */
static void add_scattered(const fused *f, const line *l, int64_t h, int64_t i, const tile *t, float *s)
{
    const row *r = l->p->row;
    int64_t at[PE_AXES_MAX];
    double share = r->share ? r->share(l->p, f->p.w, position(f->p.a.q_at, i, at)) : 1;
    for (int64_t j = 0; j < t->n; j++) {
        int64_t d = (int64_t)((uint64_t)l->w->q[i] - (uint64_t)walk_key(l->w, t->j + j));
        s[j] += (float)(l->factor * r->bias(l->p, f->p.w, h, share * part_measure(l->p, f->p.w, d)));
    }
}

static void add_row(const fused *f, const line *l, int64_t h, int64_t i, const tile *t, float *s)
{
    if (l->p->absolute) {
        for (int64_t j = 0; j < t->n; j++)
            s[j] += (float)(l->key[h * l->key_row + t->j + j] - l->query[h * f->Tq + i]);
        return;
    }
    if (l->w->scattered) {
        add_scattered(f, l, h, i, t, s);
        return;
    }
    int64_t total = l->w->total;
    for (int64_t j = 0, length; j < t->n; j += length) {
        int64_t x = 0, skip, n = walk_stretch(l->w, i, t->j + j, t->n - j, &x, &skip, &length);
        if (n > 0 && l->knots >= 0)
            add_pieces(f, l, h, i, s + j + skip, x, n);
        else if (n > 0)
            f->k->add(s + j + skip, l->table + h * total + x, n);
    }
}

void lines_add(const fused *f, scratch *s, const tile *t, bool before)
{
    for (int n = 0; n < f->lines; n++)
        if ((f->line[n].p->stage == PE_BEFORE_SCALE) == before)
            for (int64_t r = 0; r < t->heads * t->m; r++)
                add_row(f, &f->line[n], t->h + r / t->m, t->i + r % t->m, t, s->S + r * BK);
}
