/* SPDX-License-Identifier: MIT
 *
 * One query: which keys it sees, its scores, its probabilities. */
#include "attention/query.h"

pe_positions query_at(const problem *p, int64_t i)
{
    return positions_from(p->a.q_at, i, 1);
}

int64_t query_shift(const problem *p, int64_t i)
{
    return p->recentres ? coordinate(p->a.q_at, i, 0) - p->rotating->centre : 0;
}

void query_seen(problem *p, int64_t i)
{
    int64_t Tk = p->Tk;
    for (int64_t j = 0; j < Tk; j++) {
        bool any = false;
        for (int64_t h = 0; h < p->e->shape.heads; h++) {
            bool seen = problem_sees(p, h, i, j);
            p->m->seen[h * Tk + j] = seen;
            any = any || seen;
        }
        p->m->any[j] = any;
    }
}

static pe_view token_of(pe_view v, int64_t i)
{
    if (v.data)
        v.data = (char *)v.data + dtype_bytes(v.dtype, i * v.token_stride);
    v.tokens = 1;
    return v;
}

void query_tile(const problem *p, int64_t i, pe_tile *t)
{
    *t = (pe_tile){ .size = sizeof *t,
                    .q_gates = token_of(p->a.q_gates, i),
                    .k_gates = p->a.k_gates,
                    .relative = token_of(p->a.relative, i),
                    .score = p->m->score,
                    .q = p->m->q,
                    .k = p->m->k,
                    .q_at = query_at(p, i),
                    .k_at = p->a.k_at,
                    .seen = p->m->seen,
                    .seen_head_stride = p->Tk };
}

/* score = cap((q.k + before) * scale) + after + mask, -inf where hidden. */
static void scores(problem *p, int64_t i)
{
    pe_tile t;
    int64_t H = p->e->shape.heads, D = p->e->shape.head_dim, Tk = p->Tk;
    pe_view add = p->a.mask.additive;
    query_tile(p, i, &t);
    for (int64_t h = 0; h < H; h++)
        for (int64_t j = 0; j < Tk; j++) {
            double *q = cell_of(p->m->q, 0, h), *k = cell_of(p->m->k, j, kv_head(p, h)), sum = 0;
            for (int64_t d = 0; p->m->seen[h * Tk + j] && d < D; d++)
                sum += q[d] * k[d];
            cell_of(p->m->score, 0, h)[j] = sum;
        }
    score_content(p->e, PE_BEFORE_SCALE, p->w, &t);
    score_bias(p->e, PE_BEFORE_SCALE, p->w, &t);
    for (int64_t n = 0; n < H * Tk; n++) {
        double *s = (double *)p->m->score.data + n, cap = p->a.soft_cap;
        *s *= p->scale;
        if (cap > 0)
            *s = cap * tanh(*s / cap);
        ((double *)p->m->capped.data)[n] = *s;
    }
    score_content(p->e, PE_AFTER_SCALE, p->w, &t);
    score_bias(p->e, PE_AFTER_SCALE, p->w, &t);
    for (int64_t h = 0; h < H; h++)
        for (int64_t j = 0; j < Tk; j++) {
            double *s = &cell_of(p->m->score, 0, h)[j];
            if (!p->m->seen[h * Tk + j])
                *s = -INFINITY;
            else if (add.data)
                *s += vec_get(mask_row(add, i, h), j);
        }
}

/* Softmax over what is seen, and the sink; all zero where there is nothing. */
void query_probabilities(problem *p, int64_t i)
{
    int64_t H = p->e->shape.heads, Tk = p->Tk;
    query_seen(p, i);
    scores(p, i);
    for (int64_t h = 0; h < H; h++) {
        double *s = cell_of(p->m->score, 0, h), *prob = cell_of(p->m->prob, 0, h), sum = 0;
        double sink = p->a.sinks.data ? num_load(p->a.sinks.data, p->a.sinks.dtype, h) : -INFINITY, most = sink;
        for (int64_t j = 0; j < Tk; j++)
            if (s[j] > most || isnan(s[j]))
                most = s[j];
        for (int64_t j = 0; j < Tk; j++) {
            prob[j] = s[j] == -INFINITY ? 0 : exp(s[j] - most);
            sum += prob[j];
        }
        p->m->sink[h] = sink == -INFINITY ? 0 : exp(sink - most);
        sum += p->m->sink[h];
        p->m->lse[h] = sum == 0 ? -INFINITY : most + log(sum);
        for (int64_t j = 0; sum != 0 && j < Tk; j++) /* what is hidden stays 0 where the sum is NaN */
            prob[j] = s[j] == -INFINITY ? 0 : prob[j] / sum;
        if (sum != 0)
            p->m->sink[h] /= sum;
    }
}
