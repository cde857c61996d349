/* SPDX-License-Identifier: MIT
 *
 * Bias by distance. Distances fall along rising keys: a stretch of scores meets a constant, a ramp, or a contiguous
 * stretch of a table. Where queries have shares of their own, the table holds measures, and each head's function of
 * measure times share is straight between a handful of knots. */
#include "attention/fused.h"

typedef struct distance_bias {
    const struct distance_bias *plan; /* whose tables it takes over; NULL: none */
    const part *p;
    const spacing *w;
    double factor;        /* the scale, where it comes before it */
    pe_lowered_bias form; /* what tiles read */
    /* what it points to */
    pe_segment *segment;
    float *level, *slope; /* (H, segments), or (H, knots + 1) */
    float *table;         /* (H, table_row) biases; (total) measures where queries have shares */
    double *knot;         /* (knots) rising */
    float *share;         /* (Tq) */
    double *number;       /* what functions of the row see of it */
    double extreme[2];    /* of the measures */
    double least, most;   /* x lies between */
    /* gradients: (splits, H, total) by distance; of knots (splits, H, knots + 1) sums of db and of db x, (items,
     * total) of measures, (items, Tq) of shares */
    float *dtable, *dmeasure, *dshare;
    double *dlevel, *dslope;
} distance_bias;

typedef struct distance_biases {
    distance_bias bias[PARTS_MAX];
    int count;
} distance_biases;

static distance_biases *own_biases(const fused *f)
{
    return kind_of(f, &kind_distance);
}

/* ------------------------------------------------ finding */

static bool distance_find(fused *f)
{
    distance_biases *all = own_biases(f);
    for (int n = 0; n < f->p.e->parts; n++) {
        const part *p = &f->p.e->part[n];
        if (p->hooks & PE_HOOK_BIAS && !p->absolute && !p->gates)
            all->bias[all->count++] = (distance_bias){ .p = p, .w = spacing_for(f, p) };
    }
    return all->count > 0;
}

static void put_segment(pe_segment *segment, pe_lowered_bias *b, pe_segment_kind kind, int64_t first, int64_t end)
{
    if (first >= end)
        return;
    if (segment)
        segment[b->segments] = (pe_segment){ kind, first, end - first, kind == PE_SEGMENT_TABLE ? b->table_row : 0 };
    b->segments++;
    b->table_row += kind == PE_SEGMENT_TABLE ? end - first : 0;
}

/* Which distances are told how, band by band; the pads go with their ends. A bias that is straight is so on each side
 * of 0; one that is flat from some distance on has a table up to there. */
static void lay_segments(const distance_bias *l, pe_lowered_bias *b, pe_segment *segment)
{
    b->segments = b->table_row = 0;
    for (const band *d = l->w->band; d < l->w->band + l->w->bands; d++) {
        int64_t zero = d->start + PAD + d->high; /* where distance 0 has its entry */
        int64_t end = d->start + 2 * PAD + d->high - d->low + 1;
        int64_t near = l->p->straight ? 0 : l->p->flat ? l->p->flat - 1 : INT64_MAX / 4;
        int64_t from = zero - near > d->start ? zero - near : d->start,
                to = zero + near + 1 < end ? zero + near + 1 : end;
        from = from < end ? from : end;
        to = to > d->start ? to : d->start;
        pe_segment_kind far = l->p->straight ? PE_SEGMENT_LINEAR : PE_SEGMENT_CONSTANT;
        put_segment(segment, b, far, d->start, l->p->straight ? to : from);
        put_segment(segment, b, PE_SEGMENT_TABLE, from, l->p->straight ? from : to);
        put_segment(segment, b, far, to, end);
    }
}

static void distance_size(fused *f)
{
    for (distance_bias *l = own_biases(f)->bias; l < own_biases(f)->bias + own_biases(f)->count; l++) {
        l->factor = l->p->stage == PE_BEFORE_SCALE ? f->p.scale : 1;
        if (f->plan && l->w->planned)
            l->plan = &own_biases(f->plan)->bias[l - own_biases(f)->bias];
        l->form = (pe_lowered_bias){ .stage = l->p->stage, .knots = -1, .by = &l->w->told };
        for (int t = 0; t < l->p->tensors; t++)
            l->form.params += l->p->tensor[t].count;
        l->form.params_first = l->p->tensors ? l->p->tensor[0].offset : 0;
        if (l->p->row->share)
            l->form.knots = l->p->row->knots(l->p);
        else
            lay_segments(l, &l->form, NULL);
    }
}

/* ------------------------------------------------ what a row's functions see of their part, as numbers */

static int64_t count_numbers(const fused *f, const part *p)
{
    return f->shell && p->tensors && p->row->device ? 2 + 5 * p->tensors + p->row->info.key_count : 0;
}

static void fill_numbers(distance_bias *l)
{
    const part *p = l->p;
    double *to = l->number;
    if (!to)
        return;
    *to++ = (double)p->shape.heads;
    *to++ = p->tensors;
    for (const tensor *t = p->tensor; t < p->tensor + p->tensors; t++) {
        for (int i = 0; i < 3; i++)
            *to++ = (double)t->shape[i];
        *to++ = (double)t->offset;
        *to++ = (double)t->count;
    }
    for (int i = 0; i < p->row->info.key_count; i++)
        *to++ = p->value[i].num;
    l->form.device = p->row->device;
    l->form.numbers = l->number;
    l->form.number_count = to - l->number;
}

static void cut_gradients(fused *f, distance_bias *l, char *memory, int64_t *used)
{
    const row *r = l->p->row;
    bool table = f->backward && l->p->tensors && !l->w->scattered, knots = table && l->form.knots >= 0;
    int64_t total = table ? l->w->total : 0, H = f->back.splits * f->H, items = f->back.splits * f->G;
    l->dtable = fused_take(memory, used, table && !knots ? H * total : 0, sizeof(float));
    l->dlevel = fused_take(memory, used, knots ? H * (l->form.knots + 1) : 0, sizeof(double));
    l->dslope = fused_take(memory, used, knots ? H * (l->form.knots + 1) : 0, sizeof(double));
    l->dmeasure = fused_take(memory, used, knots && r->measure_back ? items * total : 0, sizeof(float));
    l->dshare = fused_take(memory, used, knots && r->share_back ? items * f->Tq : 0, sizeof(float));
}

static void distance_cut(fused *f, char *memory, int64_t *used)
{
    for (distance_bias *l = own_biases(f)->bias; l < own_biases(f)->bias + own_biases(f)->count; l++) {
        const pe_lowered_bias *b = &l->form;
        bool knots = b->knots >= 0;
        int64_t straight = f->H * (knots ? b->knots + 1 : l->plan ? 0 : b->segments);
        l->segment = fused_take(memory, used, knots || l->plan ? 0 : b->segments, sizeof *l->segment);
        l->level = fused_take(memory, used, straight, sizeof(float));
        l->slope = fused_take(memory, used, straight, sizeof(float));
        l->table = fused_take(memory, used, l->plan ? 0 : knots ? l->w->total : f->H * b->table_row, sizeof(float));
        l->knot = fused_take(memory, used, knots ? b->knots + 2 : 0, sizeof(double));
        l->share = fused_take(memory, used, knots ? f->Tq : 0, sizeof(float));
        l->number = fused_take(memory, used, count_numbers(f, l->p), sizeof(double));
        cut_gradients(f, l, memory, used);
    }
}

/* ------------------------------------------------ filling: from a row's functions to data */

enum { BLOCK = 1024 };

typedef struct filling {
    fused *f;
    distance_bias *l;
    int64_t first, count; /* entries of the spacing's tables */
    float *to;            /* where the first goes, */
    int64_t apart;        /* and the next head's; 0: measures */
} filling;

/* Falling distances from d on. */
static void measure_block(const fused *f, const distance_bias *l, double *m, int64_t d, int64_t count)
{
    if (l->p->row->measures) {
        l->p->row->measures(l->p, m, d, count);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        m[i] = part_measure(l->p, f->p.w, (double)(d - i));
}

static double bias_at(const fused *f, const distance_bias *l, int64_t h, double x)
{
    return l->p->row->bias(l->p, f->p.w, h, x);
}

/* One block of distances, all heads; neighbours with one measure (far buckets) share a value. No pair that is seen
 * looks at a pad: it is 0, and of measures, which rise or fall all the way, it is as it is. */
static void fill_block(void *arg, int64_t n, int worker)
{
    const filling *g = arg;
    const distance_bias *l = g->l;
    double m[BLOCK];
    int64_t x = g->first + n * BLOCK, left = g->count - n * BLOCK, count = left < BLOCK ? left : BLOCK;
    (void)worker;
    measure_block(g->f, l, m, spacing_distance(l->w, x), count);
    for (int64_t i = 0; !g->apart && i < count; i++)
        g->to[n * BLOCK + i] = (float)m[i];
    for (int64_t h = 0; g->apart && h < g->f->H; h++) {
        float *to = g->to + h * g->apart + n * BLOCK;
        for (int64_t i = 0; i < count; i++)
            if (spacing_pads(l->w, x + i))
                to[i] = 0;
            else
                to[i] = i && m[i] == m[i - 1] && !spacing_pads(l->w, x + i - 1) ? to[i - 1]
                                                                                : (float)bias_at(g->f, l, h, m[i]);
    }
}

static void fill_table(fused *f, distance_bias *l, int64_t first, int64_t count, float *to, int64_t apart)
{
    pool_run(f->p.pool, fill_block, &(filling){ f, l, first, count, to, apart }, up_to(count, BLOCK) / BLOCK);
}

static double bias_of(const fused *f, const distance_bias *l, int64_t h, int64_t distance)
{
    return bias_at(f, l, h, part_measure(l->p, f->p.w, (double)distance));
}

/* A constant, or a line through two points of a piece: the slope from its ends, the level where the distance is 0. */
static void fill_straight(const fused *f, distance_bias *l, int64_t n)
{
    const pe_segment *s = &l->segment[n];
    int64_t far = spacing_distance(l->w, s->first), near = far - s->count + 1, mid = far - s->count / 2;
    for (int64_t h = 0; h < f->H; h++) {
        double a = bias_of(f, l, h, far), b = bias_of(f, l, h, near);
        double slope = s->kind == PE_SEGMENT_LINEAR && far != near ? (a - b) / (double)(far - near) : 0;
        int64_t at = s->kind == PE_SEGMENT_CONSTANT ? mid : llabs(near) < llabs(far) ? near : far;
        l->slope[h * l->form.segments + n] = (float)slope;
        l->level[h * l->form.segments + n] = (float)(bias_of(f, l, h, at) - slope * (double)at);
    }
}

static void fill_segments(fused *f, distance_bias *l)
{
    lay_segments(l, &l->form, l->segment);
    for (int64_t n = 0; n < l->form.segments; n++)
        if (l->segment[n].kind == PE_SEGMENT_TABLE)
            fill_table(f, l, l->segment[n].first, l->segment[n].count, l->table + l->segment[n].at, l->form.table_row);
        else
            fill_straight(f, l, n);
    l->form.segment = l->segment;
    l->form.level = l->level;
    l->form.slope = l->slope;
    l->form.table = l->table;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fill_shares(const fused *f, distance_bias *l)
{
    for (int64_t i = 0; i < f->Tq; i++) {
        double at[PE_AXES_MAX];
        l->share[i] = (float)l->p->row->share(l->p, f->p.w, position_real(f->p.a.q_at, i, at));
    }
}

/* What x = measure times share lies between. */
static void find_reach(const fused *f, distance_bias *l)
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

/* Two points between knots; one where these have no width. The first is about as near to 0 as any x there, so that the
 * level, bias(a) - slope a, is the difference of numbers no larger than the bias there; the second is far from it,
 * which gives the slope all its digits. Gradients are linear between them too. */
static void points_of(const distance_bias *l, int64_t s, double *a, double *b)
{
    double low = s ? fmax(l->knot[s - 1], l->least) : l->least,
           high = s < l->form.knots ? fmin(l->knot[s], l->most) : l->most;
    high = high > low ? high : low;
    double near = low > 0 ? low : high < 0 ? high : 0, width = near - low > high - near ? low - near : high - near;
    double inside = near != 0 ? fmin(fabs(near), fabs(width) / 3) : fabs(width) * 0x1p-30;
    *a = low < near && near < high ? near : near + copysign(inside, width);
    *b = near + width / 3 * 2;
}

/* One piece between knots, all heads. */
static void fill_between(void *arg, int64_t s, int worker)
{
    const filling *g = arg;
    const distance_bias *l = g->l;
    double a, b;
    (void)worker;
    points_of(l, s, &a, &b);
    for (int64_t h = 0; h < g->f->H; h++) {
        double at_a = bias_at(g->f, l, h, a), at_b = b != a ? bias_at(g->f, l, h, b) : at_a;
        double slope = b != a ? (at_b - at_a) / (b - a) : 0;
        l->slope[h * (l->form.knots + 1) + s] = (float)slope;
        l->level[h * (l->form.knots + 1) + s] = (float)(at_a - slope * a);
    }
}

/* Knots in order; one that x never reaches, and that would put points where nothing is, is infinitely far. */
static void fill_knots(fused *f, distance_bias *l)
{
    if (!l->plan)
        for (const band *d = l->w->band; d < l->w->band + l->w->bands; d++)
            fill_table(f, l, d->start, 2 * PAD + d->high - d->low + 1, l->table + d->start, 0);
    else {
        l->table = l->plan->table;
        l->extreme[0] = l->plan->extreme[0];
        l->extreme[1] = l->plan->extreme[1];
    }
    fill_shares(f, l);
    find_reach(f, l);
    for (int64_t i = 0; i < l->form.knots; i++) {
        double at = l->p->row->knot(l->p, f->p.w, i);
        l->knot[i] = at < l->least ? -INFINITY : at > l->most ? INFINITY : at;
    }
    qsort(l->knot, (size_t)l->form.knots, sizeof(double), by_size);
    pool_run(f->p.pool, fill_between, &(filling){ .f = f, .l = l }, l->form.knots + 1);
    l->form.knot = l->knot;
    l->form.level = l->level;
    l->form.slope = l->slope;
    l->form.table = l->table;
    l->form.share = l->share;
    l->form.shares = f->Tq;
}

static void clear_gradients(const fused *f, distance_bias *l)
{
    int64_t total = l->w->total, H = f->back.splits * f->H, items = f->back.splits * f->G;
    clear_floats(l->dtable, H * total);
    clear_floats(l->dmeasure, items * total);
    clear_floats(l->dshare, items * f->Tq);
    clear_doubles(l->dlevel, H * (l->form.knots + 1));
    clear_doubles(l->dslope, H * (l->form.knots + 1));
}

static void distance_fill(fused *f)
{
    for (distance_bias *l = own_biases(f)->bias; l < own_biases(f)->bias + own_biases(f)->count; l++) {
        clear_gradients(f, l);
        fill_numbers(l);
        if (l->w->scattered)
            continue;
        if (l->form.knots >= 0)
            fill_knots(f, l);
        else if (l->plan)
            l->form = l->plan->form;
        else
            fill_segments(f, l);
    }
}

const pe_lowered_bias *distance_form(const fused *f, int n)
{
    return n < own_biases(f)->count ? &own_biases(f)->bias[n].form : NULL;
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

/* The number of knots at or below x. */
static int64_t knots_below(const pe_lowered_bias *b, double x)
{
    int64_t low = 0, high = b->knots;
    while (low < high) {
        int64_t mid = (low + high) / 2;
        if (b->knot[mid] <= x)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Measures that rise or fall all the way cross one knot after the other: between which the first of n lies, and how
 * many follow that lie there too. */
static int64_t between(const pe_lowered_bias *b, int64_t i, int64_t x, int64_t n, int64_t *run)
{
    const float *m = b->table + x;
    double share = (double)b->share[i];
    int64_t at = knots_below(b, (double)m[0] * share);
    bool falls = n > 1 && m[n - 1] < m[0];
    *run = n;
    if (falls && at > 0)
        *run = until(m, n, (float)(b->knot[at - 1] / share), true);
    else if (!falls && at < b->knots)
        *run = until(m, n, (float)(b->knot[at] / share), false);
    *run = *run > 0 ? *run : 1;
    return at;
}

/* Distances fall along the keys; a measure changes direction at 0: of n, those before it. */
static int64_t before_zero(const spacing *w, int64_t x, int64_t n)
{
    const band *b = spacing_band(w, x);
    int64_t zero = b->start + PAD + b->high - x;
    return zero < 0 ? 0 : zero < n ? zero : n;
}

static void add_shared(const fused *f, const distance_bias *l, int64_t h, int64_t i, float *s, int64_t x, int64_t n)
{
    const pe_lowered_bias *b = &l->form;
    const float *slope = b->slope + h * (b->knots + 1), *level = b->level + h * (b->knots + 1);
    float factor = (float)l->factor;
    int64_t first = before_zero(l->w, x, n);
    for (int64_t j = 0, run; j < n; j += run) {
        int64_t at = between(b, i, x + j, j < first ? first - j : n - j, &run);
        f->k->line(s + j, b->table + x + j, factor * slope[at] * b->share[i], factor * level[at], run);
    }
}

static void add_segments(const fused *f, const distance_bias *l, int64_t h, float *s, int64_t x, int64_t n)
{
    const pe_lowered_bias *b = &l->form;
    const pe_segment *p = b->segment;
    float factor = (float)l->factor;
    for (int64_t j = 0, run; j < n; j += run) {
        while (x + j >= p->first + p->count)
            p++;
        int64_t at = h * b->segments + (p - b->segment), skip = x + j - p->first;
        run = p->count - skip < n - j ? p->count - skip : n - j;
        if (p->kind == PE_SEGMENT_TABLE && factor == 1)
            f->k->add(s + j, b->table + h * b->table_row + p->at + skip, run);
        else if (p->kind == PE_SEGMENT_TABLE)
            f->k->axpy(s + j, factor, b->table + h * b->table_row + p->at + skip, run);
        else if (p->kind == PE_SEGMENT_LINEAR)
            f->k->ramp(s + j, spacing_distance(l->w, x + j), factor * b->slope[at], factor * b->level[at], run);
        else
            f->k->add_one(s + j, factor * b->level[at], run);
    }
}

/* Places too far between for a table, or between whole ones: pair by pair, by the row's functions themselves. */
static double apart(const fused *f, const distance_bias *l, int64_t i, int64_t j)
{
    return l->w->between ? coordinate_real(f->p.a.q_at, i, 0) - coordinate_real(f->p.a.k_at, j, 0)
                         : (double)spacing_apart(l->w, i, j);
}

static void add_scattered(const fused *f, const distance_bias *l, int64_t h, int64_t i, const tile *t, float *s)
{
    const row *r = l->p->row;
    double at[PE_AXES_MAX], share = r->share ? r->share(l->p, f->p.w, position_real(f->p.a.q_at, i, at)) : 1;
    for (int64_t j = 0; j < t->n; j++)
        s[j] += (float)(l->factor * bias_at(f, l, h, share * part_measure(l->p, f->p.w, apart(f, l, i, t->j + j))));
}

static void add_row(const fused *f, const distance_bias *l, int64_t h, int64_t i, const tile *t, float *s)
{
    if (l->w->scattered) {
        add_scattered(f, l, h, i, t, s);
        return;
    }
    for (int64_t j = 0, length; j < t->n; j += length) {
        int64_t x = 0, skip, n = spacing_stretch(l->w, i, t->j + j, t->n - j, &x, &skip, &length);
        if (n > 0 && l->form.knots >= 0)
            add_shared(f, l, h, i, s + j + skip, x, n);
        else if (n > 0)
            add_segments(f, l, h, s + j + skip, x, n);
    }
}

static bool enters(const distance_bias *l, moment when)
{
    return when == (l->p->stage == PE_BEFORE_SCALE ? AT_BEFORE : AT_AFTER);
}

static void distance_add(const fused *f, scratch *s, const tile *t, const keys *k, state *st, moment when)
{
    const distance_biases *all = own_biases(f);
    (void)k, (void)st;
    for (int n = 0; n < all->count; n++)
        for (int64_t r = 0; enters(&all->bias[n], when) && r < t->heads * t->m; r++)
            add_row(f, &all->bias[n], t->h + r / t->m, t->i + r % t->m, t, s->S + r * BK);
}

/* ------------------------------------------------ gradients of a tile */

/* One stretch of measures that rise or fall all the way: sums between knots, and what goes on to measure and share. */
static void shared_back(const fused *f, const distance_bias *l, int64_t h, int64_t i, int64_t item, const float *ds,
                        int64_t x, int64_t n)
{
    const pe_lowered_bias *b = &l->form;
    int64_t total = l->w->total, at = (item / f->G * f->H + h) * (b->knots + 1);
    for (int64_t j = 0, run; j < n; j += run) {
        int64_t here = between(b, i, x + j, n - j, &run);
        const float *m = b->table + x + j;
        float share = b->share[i], slope = (float)l->factor * b->slope[h * (b->knots + 1) + here],
              dot = f->k->dot(ds + j, m, run);
        l->dlevel[at + here] += (double)f->k->sum(ds + j, run);
        l->dslope[at + here] += (double)dot * (double)share;
        if (l->dmeasure)
            f->k->axpy(l->dmeasure + item * total + x + j, slope * share, ds + j, run);
        if (l->dshare)
            l->dshare[item * f->Tq + i] += slope * dot;
    }
}

static void scattered_back(const fused *f, const distance_bias *l, int64_t h, int64_t i, const tile *t, const float *ds)
{
    const row *r = l->p->row;
    double at[PE_AXES_MAX];
    position_real(f->p.a.q_at, i, at);
    double share = r->share ? r->share(l->p, f->p.w, at) : 1;
    for (int64_t j = 0; j < t->n; j++) {
        if (ds[j] == 0)
            continue;
        double d = apart(f, l, i, t->j + j), m = part_measure(l->p, f->p.w, d);
        double dx = r->bias_back(l->p, f->p.w, f->p.g.dparams, h, m * share, l->factor * (double)ds[j]);
        if (r->measure_back)
            r->measure_back(l->p, f->p.w, f->p.g.dparams, d, dx * share);
        if (r->share_back)
            r->share_back(l->p, f->p.w, f->p.g.dparams, at, dx * m);
    }
}

static void row_back(const fused *f, const distance_bias *l, int64_t h, int64_t i, int64_t item, const tile *t,
                     const float *ds)
{
    int64_t total = l->w->total;
    if (l->w->scattered) {
        scattered_back(f, l, h, i, t, ds);
        return;
    }
    for (int64_t j = 0, length; j < t->n; j += length) {
        int64_t x = 0, skip, n = spacing_stretch(l->w, i, t->j + j, t->n - j, &x, &skip, &length);
        if (n <= 0)
            continue;
        if (l->form.knots < 0) {
            f->k->add(l->dtable + (item / f->G * f->H + h) * total + x, ds + j + skip, n);
            continue;
        }
        int64_t first = before_zero(l->w, x, n);
        shared_back(f, l, h, i, item, ds + j + skip, x, first);
        shared_back(f, l, h, i, item, ds + j + skip + first, x + first, n - first);
    }
}

static void distance_back(const fused *f, scratch *s, const tile *t, int64_t item, moment when)
{
    const distance_biases *all = own_biases(f);
    for (int n = 0; n < all->count; n++)
        for (int64_t r = 0; fused_learns(f, all->bias[n].p) && enters(&all->bias[n], when) && r < t->m; r++)
            row_back(f, &all->bias[n], t->h, t->i + r, item, t, s->dP + r * BK);
}

static bool distance_serial(const fused *f)
{
    bool scattered = false;
    for (int n = 0; n < own_biases(f)->count; n++)
        scattered = scattered || own_biases(f)->bias[n].w->scattered;
    return scattered;
}

/* ------------------------------------------------ gradients of parameters */

static void sum_table(const fused *f, const distance_bias *l)
{
    const row *r = l->p->row;
    int64_t total = l->w->total;
    for (int64_t x = 0; x < total; x++) {
        double d = (double)spacing_distance(l->w, x);
        if (spacing_pads(l->w, x))
            continue;
        double m = part_measure(l->p, f->p.w, d), dm = 0;
        for (int64_t h = 0; h < f->H; h++) {
            double db = back_over(l->dtable + h * total + x, f->back.splits, f->H * total);
            if (db != 0)
                dm += r->bias_back(l->p, f->p.w, f->p.g.dparams, h, m, l->factor * db);
        }
        if (r->measure_back)
            r->measure_back(l->p, f->p.w, f->p.g.dparams, d, dm);
    }
}

/* Between knots every gradient is linear in x: two points, weighted, stand for all that were there. */
static void sum_between(const fused *f, const distance_bias *l, int64_t h, int64_t s)
{
    double a, b, level = 0, slope = 0;
    points_of(l, s, &a, &b);
    for (int64_t c = 0; c < f->back.splits; c++) {
        level += l->dlevel[(c * f->H + h) * (l->form.knots + 1) + s];
        slope += l->dslope[(c * f->H + h) * (l->form.knots + 1) + s];
    }
    if (level == 0 && slope == 0)
        return;
    double at_b = b != a ? (slope - level * a) / (b - a) : 0;
    l->p->row->bias_back(l->p, f->p.w, f->p.g.dparams, h, a, l->factor * (level - at_b));
    l->p->row->bias_back(l->p, f->p.w, f->p.g.dparams, h, b, l->factor * at_b);
}

static void sum_shared(const fused *f, const distance_bias *l)
{
    int64_t total = l->w->total, items = f->back.splits * f->G;
    for (int64_t h = 0; h < f->H; h++)
        for (int64_t s = 0; s <= l->form.knots; s++)
            sum_between(f, l, h, s);
    for (int64_t x = 0; l->dmeasure && x < total; x++)
        if (!spacing_pads(l->w, x))
            l->p->row->measure_back(l->p, f->p.w, f->p.g.dparams, (double)spacing_distance(l->w, x),
                                    back_over(l->dmeasure + x, items, total));
    for (int64_t i = 0; l->dshare && i < f->Tq; i++) {
        double at[PE_AXES_MAX];
        l->p->row->share_back(l->p, f->p.w, f->p.g.dparams, position_real(f->p.a.q_at, i, at),
                              back_over(l->dshare + i, items, f->Tq));
    }
}

static void distance_sum(fused *f)
{
    for (const distance_bias *l = own_biases(f)->bias;
         f->p.g.dparams.data && l < own_biases(f)->bias + own_biases(f)->count; l++)
        if (l->dtable)
            sum_table(f, l);
        else if (l->dlevel)
            sum_shared(f, l);
}

const term_kind kind_distance = {
    .bytes = sizeof(distance_biases),
    .find = distance_find,
    .size = distance_size,
    .cut = distance_cut,
    .fill = distance_fill,
    .add = distance_add,
    .back = distance_back,
    .serial = distance_serial,
    .sum = distance_sum,
};
