/* SPDX-License-Identifier: MIT
 *
 * The value hook: out_i += sum over j of p(i, j) table[index(i - j)], and its gradient. */
#include "core/score.h"

typedef struct mix {
    pe_params w, dw;
    pe_view out, prob, dprob; /* out is dout in the gradient */
    pe_positions q_at, k_at;
    const uint8_t *seen;
    int64_t seen_stride;
} mix;

static bool sees(const mix *m, int64_t h, int64_t i, int64_t j)
{
    return !m->seen || m->seen[h * m->seen_stride + i * m->k_at.tokens + j];
}

static int64_t row_of(const part *p, const term *t, const mix *m, int64_t i, int64_t j)
{
    return t->index(p, coordinate(m->q_at, i, 0) - coordinate(m->k_at, j, 0));
}

/* Summed over the keys first, so that out is rounded once. */
static void term_add(const part *p, const term *t, const mix *m, int64_t h, int64_t i)
{
    double sum[PE_HEAD_DIM_MAX] = { 0 };
    for (int64_t j = 0; j < m->k_at.tokens; j++) {
        if (!sees(m, h, i, j))
            continue;
        int64_t r = row_of(p, t, m, i, j);
        double weight = vec_get(row_vec(m->prob, i, h), j);
        for (int64_t d = 0; d < m->out.dim; d++)
            sum[d] += weight * part_entry(p, m->w, t, r, h, d);
    }
    for (int64_t d = 0; d < m->out.dim; d++)
        vec_add(row_vec(m->out, i, h), d, sum[d]);
}

static void back(const part *p, const term *t, const mix *m, int64_t h, int64_t i)
{
    for (int64_t j = 0; j < m->k_at.tokens; j++) {
        if (!sees(m, h, i, j))
            continue;
        int64_t r = row_of(p, t, m, i, j);
        double weight = vec_get(row_vec(m->prob, i, h), j), sum = 0;
        for (int64_t d = 0; d < m->out.dim; d++) {
            double g = vec_get(row_vec(m->out, i, h), d);
            sum += g * part_entry(p, m->w, t, r, h, d);
            part_entry_grad(p, m->dw, t, r, h, d, weight * g);
        }
        vec_add(row_vec(m->dprob, i, h), j, sum);
    }
}

static void walk(const pe_encoding *e, const mix *m,
                 void (*visit)(const part *, const term *, const mix *, int64_t, int64_t))
{
    for (int n = 0; n < e->parts; n++)
        for (int k = 0; k < e->part[n].terms; k++)
            for (int64_t h = 0; e->part[n].term[k].side == PE_VALUE && h < m->out.heads; h++)
                for (int64_t i = 0; i < m->q_at.tokens; i++)
                    visit(&e->part[n], &e->part[n].term[k], m, h, i);
}

void value_add(const pe_encoding *e, pe_params w, pe_view out, pe_view prob, pe_positions q_at, pe_positions k_at,
               const uint8_t *seen, int64_t seen_stride)
{
    mix m = { .w = w, .out = out, .prob = prob, .q_at = q_at, .k_at = k_at, .seen = seen, .seen_stride = seen_stride };
    walk(e, &m, term_add);
}

void value_back(const pe_encoding *e, pe_params w, pe_params dw, pe_view dprob, pe_view prob, pe_view dout,
                pe_positions q_at, pe_positions k_at, const uint8_t *seen, int64_t seen_stride)
{
    mix m = { w, dw, dout, prob, dprob, q_at, k_at, seen, seen_stride };
    walk(e, &m, back);
}
