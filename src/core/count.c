/* SPDX-License-Identifier: MIT
 *
 * A content term whose position is a count of keys (counting in row.h), key by key, and its gradient. */
#include "core/score.h"

double count_gate(const part *p, double dot)
{
    return 1 / (1 + exp(-dot * p->count.scale));
}

double count_gate_slope(const part *p, double dot)
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

double count_term_back(const step *s, double ds)
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
