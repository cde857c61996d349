/* SPDX-License-Identifier: MIT
 *
 * The score hooks: content and bias, forward and backward, on a tile of all heads. Rows state what a term is (a table
 * and an index, a function of two positions, a count of keys); the loops are here, once. */
#include "core/score.h"

#include "core/rotation.h"

/* ---------------------------------------------------------------- terms that count keys (counting in row.h) */

double count_gate(const part *p, double dot)
{
    return 1 / (1 + exp(-dot * p->count.scale));
}

static double count_gate_slope(const part *p, double dot)
{
    double g = count_gate(p, dot);
    return g * (1 - g) * p->count.scale;
}

/* Element (position, d) of the table for this head. */
static int64_t table_element(const step *s, int64_t at, int64_t d)
{
    const int64_t *shape = s->p->tensor[s->p->count.table].shape;
    return (at * shape[1] + (shape[1] == 1 ? 0 : s->head)) * shape[2] + d;
}

static int64_t last_row(const step *s)
{
    return s->p->tensor[s->p->count.table].shape[0] - 1;
}

/* The rows around a count, and how far it is from the lower to the upper. */
static int64_t lower(const step *s, double *part_way)
{
    int64_t last = last_row(s);
    double count = s->sum < (double)last ? fmax(s->sum, 0) : (double)last; /* sums taken apart may end below 0 */
    int64_t at = (int64_t)floor(count);
    if (at == last)
        at--;
    *part_way = count - (double)at;
    return at;
}

double count_term(const step *s)
{
    double t, sum = 0;
    int64_t at = lower(s, &t);
    int table = s->p->count.table;
    for (int64_t d = 0; d < s->p->shape.head_dim; d++)
        sum += vec_get(s->q, d) * ((1 - t) * param(s->p, s->w, table, table_element(s, at, d)) +
                                   t * param(s->p, s->w, table, table_element(s, at + 1, d)));
    return sum;
}

/* gradient to s->sum; dq, dw are added to */
static double count_term_back(const step *s, double ds)
{
    double t, slope = 0;
    int64_t at = lower(s, &t);
    int table = s->p->count.table;
    for (int64_t d = 0; d < s->p->shape.head_dim; d++) {
        double below = param(s->p, s->w, table, table_element(s, at, d));
        double above = param(s->p, s->w, table, table_element(s, at + 1, d)), q = vec_get(s->q, d);
        slope += q * (above - below);
        vec_add(s->dq, d, ds * ((1 - t) * below + t * above));
        grad(s->p, s->dw, table, table_element(s, at, d), ds * (1 - t) * q);
        grad(s->p, s->dw, table, table_element(s, at + 1, d), ds * t * q);
    }
    return s->sum < (double)last_row(s) ? ds * slope : 0;
}

double part_entry(const part *p, pe_params w, const term *t, int64_t r, int64_t head, int64_t d)
{
    if (t->table < 0)
        return t->entry(p, r, d);
    const tensor *x = &p->tensor[t->table];
    if (r < 0 || r >= x->shape[0])
        return 0;
    int64_t h = x->shape[1] == 1 ? 0 : head;
    return param(p, w, t->table, (r * x->shape[1] + h) * x->shape[2] + d);
}

void part_entry_grad(const part *p, pe_params dw, const term *t, int64_t r, int64_t head, int64_t d, double x)
{
    if (t->table < 0)
        return;
    const tensor *s = &p->tensor[t->table];
    if (r < 0 || r >= s->shape[0])
        return;
    int64_t h = s->shape[1] == 1 ? 0 : head;
    grad(p, dw, t->table, (r * s->shape[1] + h) * s->shape[2] + d, x);
}

static int64_t depth(const part *p, const term *t)
{
    return t->input ? t->input : p->shape.head_dim;
}

static double extra_of(const part *p, pe_params w, const term *t, int64_t head, int64_t d)
{
    return t->extra < 0 ? 0 : param(p, w, t->extra, head * depth(p, t) + d);
}

/* The pair (i, j) of a tile, one head. */
typedef struct cell {
    const pe_encoding *e;
    pe_params w, dw;
    int64_t head;
    const uint8_t *seen; /* (Tk) of this query and head, or NULL */
    int64_t q_at[PE_AXES_MAX], k_at[PE_AXES_MAX];
    double q_real, k_real; /* first coordinates with their fractions */
    vec q, k, dq, dk, relative, drelative;
    double gain; /* of queries: q has it, relative not yet */
} cell;

static double term_value(const part *p, const term *t, const cell *c)
{
    int64_t r = t->index(p, c->q_at[0] - c->k_at[0]);
    vec x = t->input ? c->relative : t->side == PE_QUERY ? c->q : c->k;
    double sum = 0, gain = t->input ? c->gain : 1;
    for (int64_t d = 0; d < depth(p, t); d++)
        sum += (gain * vec_get(x, d) + extra_of(p, c->w, t, c->head, d)) * part_entry(p, c->w, t, r, c->head, d);
    return sum;
}

static void term_back(const part *p, const term *t, const cell *c, double ds)
{
    int64_t r = t->index(p, c->q_at[0] - c->k_at[0]), D = depth(p, t);
    vec x = t->input ? c->relative : t->side == PE_QUERY ? c->q : c->k;
    vec dx = t->input ? c->drelative : t->side == PE_QUERY ? c->dq : c->dk;
    double gain = t->input ? c->gain : 1;
    for (int64_t d = 0; d < D; d++) {
        double x_grad = ds * part_entry(p, c->w, t, r, c->head, d);
        vec_add(dx, d, gain * x_grad);
        if (t->extra >= 0)
            grad(p, c->dw, t->extra, c->head * D + d, x_grad);
        part_entry_grad(p, c->dw, t, r, c->head, d, ds * (gain * vec_get(x, d) + extra_of(p, c->w, t, c->head, d)));
    }
}

static double dot(vec a, vec b, int64_t n)
{
    double sum = 0;
    for (int64_t d = 0; d < n; d++)
        sum += vec_get(a, d) * vec_get(b, d);
    return sum;
}

/* Which keys count: those the caller marks, or those at or before the query. */
static bool counts(const cell *c, int64_t j)
{
    return c->seen ? c->seen[j] : c->k_real <= c->q_real;
}

static cell cell_of(const pe_encoding *e, pe_params w, const pe_tile *t, const pe_tile_grad *g, int64_t h, int64_t i)
{
    cell c = { .e = e, .w = w, .head = h };
    if (t->seen)
        c.seen = t->seen + h * t->seen_head_stride + i * t->k_at.tokens;
    c.q = row_vec(t->q, i, h);
    c.relative = row_vec(t->relative, i, h);
    if (g) {
        c.dw = g->dparams;
        c.dq = row_vec(g->dq, i, h);
        c.drelative = row_vec(g->drelative, i, h);
    }
    position(t->q_at, i, c.q_at);
    c.q_real = coordinate_real(t->q_at, i, 0);
    const part *gains = e->relative ? rotating_part(e, PE_QUERY) : NULL;
    c.gain = gains ? gain_at(gains, PE_QUERY, c.q_at) : 1;
    return c;
}

static void cell_key(cell *c, const pe_tile *t, const pe_tile_grad *g, int64_t j)
{
    int64_t h = c->head / (c->e->shape.heads / c->e->shape.kv_heads);
    c->k = row_vec(t->k, j, h);
    if (g)
        c->dk = row_vec(g->dk, j, h);
    position(t->k_at, j, c->k_at);
    c->k_real = coordinate_real(t->k_at, j, 0);
}

static step step_of(const part *p, const cell *c, double sum)
{
    return (step){ p, c->w, c->dw, c->head, c->q, c->dq, sum };
}

/* One query and head of a term that counts keys, from right to left. */
static void count_keys(const part *p, const pe_tile *t, cell *c, int64_t i)
{
    double *carry = t->carry ? &t->carry[c->head * t->q_at.tokens + i] : NULL;
    step s = step_of(p, c, carry ? *carry : 0);
    vec out = row_vec(t->score, i, c->head);
    for (int64_t j = t->k_at.tokens - 1; j >= 0; j--) {
        cell_key(c, t, NULL, j);
        if (!counts(c, j))
            continue;
        s.sum += count_gate(p, dot(c->q, c->k, p->shape.head_dim));
        vec_add(out, j, count_term(&s));
    }
    if (carry)
        *carry = s.sum;
}

/* Its gradient: the sum is taken apart again from left to right, while what later keys owe to it adds up. */
static void count_keys_back(const part *p, const pe_tile *t, const pe_tile_grad *g, cell *c, int64_t i)
{
    int64_t D = p->shape.head_dim;
    double dsum = 0;
    step s = step_of(p, c, 0);
    vec ds = row_vec(g->dscore, i, c->head);
    for (int64_t j = t->k_at.tokens - 1; j >= 0; j--) {
        cell_key(c, t, g, j);
        if (counts(c, j))
            s.sum += count_gate(p, dot(c->q, c->k, D));
    }
    for (int64_t j = 0; j < t->k_at.tokens; j++) {
        cell_key(c, t, g, j);
        if (!counts(c, j))
            continue;
        double qk = dot(c->q, c->k, D);
        dsum += count_term_back(&s, vec_get(ds, j));
        double ddot = dsum * count_gate_slope(p, qk);
        for (int64_t d = 0; d < D; d++) {
            vec_add(c->dq, d, ddot * vec_get(c->k, d));
            vec_add(c->dk, d, ddot * vec_get(c->q, d));
        }
        s.sum -= count_gate(p, qk);
    }
}

static void content_cell(const part *p, const pe_tile *t, const pe_tile_grad *g, const cell *c, int64_t i, int64_t j)
{
    double sum = 0;
    for (int n = 0; n < p->terms; n++)
        if (p->term[n].side == PE_VALUE)
            continue;
        else if (g)
            term_back(p, &p->term[n], c, vec_get(row_vec(g->dscore, i, c->head), j));
        else
            sum += term_value(p, &p->term[n], c);
    if (!g)
        vec_add(row_vec(t->score, i, c->head), j, sum);
}

static void content_of(const pe_encoding *e, const part *p, pe_params w, const pe_tile *t, const pe_tile_grad *g)
{
    if (p->polar.on) {
        polar_content(e, p, w, t, g);
        return;
    }
    for (int64_t h = 0; h < e->shape.heads; h++)
        for (int64_t i = 0; i < t->q_at.tokens; i++) {
            cell c = cell_of(e, w, t, g, h, i);
            if (p->count.on && g)
                count_keys_back(p, t, g, &c, i);
            else if (p->count.on)
                count_keys(p, t, &c, i);
            for (int64_t j = 0; !p->count.on && j < t->k_at.tokens; j++)
                if (!c.seen || c.seen[j]) {
                    cell_key(&c, t, g, j);
                    content_cell(p, t, g, &c, i, j);
                }
        }
}

static bool seen_at(const pe_tile *t, int64_t h, int64_t i, int64_t j)
{
    return !t->seen || t->seen[h * t->seen_head_stride + i * t->k_at.tokens + j];
}

int64_t place_by(const int64_t *weight, const int64_t *at, int64_t axes)
{
    uint64_t place = 0;
    for (int64_t a = 0; a < axes; a++)
        place += (uint64_t)weight[a] * (uint64_t)at[a];
    return (int64_t)place;
}

int64_t part_place(const part *p, const int64_t *at)
{
    return p->weighs ? place_by(p->weight, at, p->axes) : at[0];
}

double part_measure(const part *p, pe_params w, double distance)
{
    return p->row->measure ? p->row->measure(p, w, distance) : distance;
}

bool adds_between(const pe_encoding *e, unsigned hooks)
{
    for (int n = 0; n < e->parts; n++) {
        const part *p = &e->part[n];
        unsigned of = p->hooks & hooks;
        bool content = p->polar.on || p->count.on, bias = p->gates || (p->row->fractional && !p->absolute);
        if ((of & PE_HOOK_CONTENT && !content) || (of & PE_HOOK_BIAS && !bias) || of & PE_HOOK_VALUE)
            return false;
    }
    return true;
}

/* What a query and a key have between them; all heads share it. */
typedef struct gap {
    int64_t q[PE_AXES_MAX], k[PE_AXES_MAX];
    double q_real[PE_AXES_MAX];
    double distance, measure, share, x;
} gap;

static void gap_find(gap *g, const part *p, pe_params w, const pe_tile *t, int64_t i, int64_t j)
{
    position(t->q_at, i, g->q);
    position(t->k_at, j, g->k);
    position_real(t->q_at, i, g->q_real);
    g->share = 1;
    if (p->absolute)
        return;
    g->distance = p->weighs ? (double)(int64_t)((uint64_t)part_place(p, g->q) - (uint64_t)part_place(p, g->k))
                            : g->q_real[0] - coordinate_real(t->k_at, j, 0);
    g->measure = part_measure(p, w, g->distance);
    if (p->row->share)
        g->share = p->row->share(p, w, g->q_real);
    g->x = g->measure * g->share;
}

static double bias_value(const part *p, pe_params w, int64_t h, const gap *g)
{
    if (p->absolute)
        return p->row->absolute(p, h, g->k) - p->row->absolute(p, h, g->q);
    return p->row->bias(p, w, h, g->x);
}

static void bias_grad(const part *p, pe_params w, pe_params dw, int64_t h, const gap *g, double db)
{
    if (p->absolute || !p->row->bias_back)
        return;
    double dx = p->row->bias_back(p, w, dw, h, g->x, db);
    if (p->row->measure_back)
        p->row->measure_back(p, w, dw, g->distance, dx * g->share);
    if (p->row->share_back)
        p->row->share_back(p, w, dw, g->q_real, dx * g->measure);
}

/* Gates are the caller's: nothing of a position is in them. */
static void gates_of(const pe_encoding *e, const pe_tile *t, const pe_tile_grad *g)
{
    for (int64_t h = 0; h < e->shape.heads; h++)
        for (int64_t i = 0; i < t->q_at.tokens; i++)
            for (int64_t j = 0; j < t->k_at.tokens; j++) {
                if (!seen_at(t, h, i, j))
                    continue;
                double ds = g ? vec_get(row_vec(g->dscore, i, h), j) : 0;
                if (g) {
                    vec_add(row_vec(g->dq_gates, i, h), 0, ds);
                    vec_add(row_vec(g->dk_gates, j, h), 0, -ds);
                } else
                    vec_add(row_vec(t->score, i, h), j,
                            vec_get(row_vec(t->q_gates, i, h), 0) - vec_get(row_vec(t->k_gates, j, h), 0));
            }
}

/* A gap is measured once, for the first head that sees it. */
static void bias_of(const pe_encoding *e, const part *p, pe_params w, const pe_tile *t, const pe_tile_grad *g)
{
    if (p->gates) {
        gates_of(e, t, g);
        return;
    }
    for (int64_t i = 0; i < t->q_at.tokens; i++)
        for (int64_t j = 0; j < t->k_at.tokens; j++) {
            int64_t h = 0, H = e->shape.heads;
            gap between;
            while (h < H && !seen_at(t, h, i, j))
                h++;
            if (h == H)
                continue;
            gap_find(&between, p, w, t, i, j);
            for (; h < H; h++)
                if (!seen_at(t, h, i, j))
                    continue;
                else if (!g)
                    vec_add(row_vec(t->score, i, h), j, bias_value(p, w, h, &between));
                else
                    bias_grad(p, w, g->dparams, h, &between, vec_get(row_vec(g->dscore, i, h), j));
        }
}

static void walk(const pe_encoding *e, unsigned hook, pe_stage stage, pe_params w, const pe_tile *t,
                 const pe_tile_grad *g)
{
    for (int n = 0; n < e->parts; n++)
        if (e->part[n].hooks & hook && e->part[n].stage == stage)
            (hook == PE_HOOK_BIAS ? bias_of : content_of)(e, &e->part[n], w, t, g);
}

void score_content(const pe_encoding *e, pe_stage stage, pe_params w, const pe_tile *t)
{
    walk(e, PE_HOOK_CONTENT, stage, w, t, NULL);
}

void score_bias(const pe_encoding *e, pe_stage stage, pe_params w, const pe_tile *t)
{
    walk(e, PE_HOOK_BIAS, stage, w, t, NULL);
}

void score_content_back(const pe_encoding *e, pe_stage stage, pe_params w, const pe_tile *t, const pe_tile_grad *g)
{
    walk(e, PE_HOOK_CONTENT, stage, w, t, g);
}

void score_bias_back(const pe_encoding *e, pe_stage stage, pe_params w, const pe_tile *t, const pe_tile_grad *g)
{
    walk(e, PE_HOOK_BIAS, stage, w, t, g);
}
