/* SPDX-License-Identifier: MIT
 *
 * Gradients of the reference: each query's probabilities are made again, then differentiated step by step. */
#include "attention/query.h"

static const rotation_mode transpose = { true, false };

static void clear(pe_view v)
{
    for (int64_t n = 0; n < v.tokens * v.heads * v.dim; n++)
        ((double *)v.data)[n] = 0;
}

/* dout through the rotated-back output, the mix of values and the softmax, to dscore. */
static void softmax_back(problem *p, pe_view dout, pe_params dw, int64_t i)
{
    int64_t H = p->e->shape.heads, Dv = p->a.v.dim, Tk = p->Tk;
    for (int64_t h = 0; h < H; h++)
        for (int64_t d = 0; d < Dv; d++)
            cell_of(p->m->dout, 0, h)[d] = vec_get(row_vec(dout, i, h), d);
    if (p->rotating && p->rotating->rotates_output)
        rotate_view(p->rotating, p->w, PE_OUTPUT, (rotation_mode){ false, true }, p->m->dout, p->m->dout,
                    query_at(p, i), 0);
    clear(p->m->dprob);
    for (int64_t h = 0; h < H; h++) {
        double *g = cell_of(p->m->dout, 0, h), *prob = cell_of(p->m->prob, 0, h);
        for (int64_t j = 0; j < Tk; j++)
            for (int64_t d = 0; prob[j] != 0 && d < Dv; d++) {
                cell_of(p->m->dprob, 0, h)[j] += g[d] * cell_of(p->m->v, j, kv_head(p, h))[d];
                cell_of(p->m->dv, j, kv_head(p, h))[d] += g[d] * prob[j];
            }
    }
    value_back(p->e, p->w, dw, p->m->dprob, p->m->prob, p->m->dout, query_at(p, i), p->a.k_at, p->m->seen, Tk);
}

static void scores_back(problem *p, const pe_attention_grad *g, int64_t i)
{
    int64_t H = p->e->shape.heads, Tk = p->Tk;
    for (int64_t h = 0; h < H; h++) {
        double *prob = cell_of(p->m->prob, 0, h), *dprob = cell_of(p->m->dprob, 0, h), mean = 0;
        for (int64_t j = 0; j < Tk; j++)
            mean += prob[j] * dprob[j];
        if (g->dsinks.data)
            num_add(g->dsinks.data, g->dsinks.dtype, h, -p->m->sink[h] * mean);
        for (int64_t j = 0; j < Tk; j++) {
            double ds = prob[j] != 0 ? prob[j] * (dprob[j] - mean) : 0;
            cell_of(p->m->dscore, 0, h)[j] = ds;
            if (g->dadditive.data)
                vec_add(mask_row(g->dadditive, i, h), j, ds);
        }
    }
}

/* Terms after the scale, the cap and the scale, terms before it, q.k. */
static void terms_back(problem *p, pe_params dw, int64_t i)
{
    int64_t H = p->e->shape.heads, D = p->e->shape.head_dim, Tk = p->Tk;
    pe_tile t;
    pe_tile_grad tg = { .dscore = p->m->dscore,
                        .dq = p->m->dq,
                        .dk = p->m->dk,
                        .dparams = dw,
                        .dq_gates = p->m->dq_gates,
                        .dk_gates = p->m->dk_gates,
                        .drelative = p->m->drelative };
    query_tile(p, i, &t);
    score_bias_back(p->e, PE_AFTER_SCALE, p->w, &t, &tg);
    score_content_back(p->e, PE_AFTER_SCALE, p->w, &t, &tg);
    for (int64_t n = 0; n < H * Tk; n++) {
        double cap = p->a.soft_cap, x = cap > 0 ? ((double *)p->m->capped.data)[n] / cap : 0;
        double *ds = (double *)p->m->dscore.data + n;
        *ds = *ds != 0 ? *ds * (1 - x * x) * p->scale : 0;
    }
    score_bias_back(p->e, PE_BEFORE_SCALE, p->w, &t, &tg);
    score_content_back(p->e, PE_BEFORE_SCALE, p->w, &t, &tg);
    for (int64_t h = 0; h < H; h++)
        for (int64_t j = 0; j < Tk; j++) {
            double ds = cell_of(p->m->dscore, 0, h)[j];
            for (int64_t d = 0; ds != 0 && d < D; d++) {
                cell_of(p->m->dq, 0, h)[d] += ds * cell_of(p->m->k, j, kv_head(p, h))[d];
                cell_of(p->m->dk, j, kv_head(p, h))[d] += ds * cell_of(p->m->q, 0, h)[d];
            }
        }
}

static void store(pe_view to, int64_t token, pe_view from, bool add)
{
    for (int64_t t = 0; to.data && t < from.tokens; t++)
        for (int64_t h = 0; h < from.heads; h++)
            for (int64_t d = 0; d < from.dim; d++) {
                vec v = row_vec(to, token + t, h);
                num_store(v.data, v.type, v.at + d, (add ? vec_get(v, d) : 0) + cell_of(from, t, h)[d]);
            }
}

/* Gradients of frequencies that are trained, from rotated vectors. */
static void frequencies_back(problem *p, pe_view y, pe_view dy, pe_positions where)
{
    for (int64_t t = 0; p->rotating && p->rotating->trained && p->g.dparams.data && t < y.tokens; t++) {
        spot at;
        spot_find(&at, where, t);
        for (int64_t h = 0; h < y.heads; h++)
            trained_back(p->rotating, p->g.dparams, trained_head(p->rotating, y.heads, h), &at, row_vec(y, t, h),
                         row_vec(dy, t, h));
    }
}

/* Turns dq back and stores it; keys that were rotated for this query alone are rotated back now and summed. */
static void rotations_back(problem *p, const pe_attention_grad *g, int64_t i)
{
    int64_t shift = query_shift(p, i);
    frequencies_back(p, p->m->q, p->m->dq, query_at(p, i));
    if (p->rotating)
        rotate_view(p->rotating, p->w, PE_QUERY, transpose, p->m->dq, p->m->dq, query_at(p, i), shift);
    store(g->dq, i, p->m->dq, g->accumulate);
    if (!p->recentres)
        return;
    rotate_view(p->rotating, p->w, PE_KEY, transpose, p->m->dk, p->m->dk, p->a.k_at, shift);
    int64_t width = p->m->dk.heads * p->m->dk.dim;
    for (int64_t j = 0; j < p->m->dk.tokens; j++) /* a hidden key's rotation may overflow, and 0 * inf is no gradient */
        for (int64_t n = j * width; p->m->any[j] && n < (j + 1) * width; n++)
            ((double *)p->m->dk_sum.data)[n] += ((double *)p->m->dk.data)[n];
    clear(p->m->dk);
}

static void reference_backward_pass(problem *p)
{
    pe_attention_grad *g = &p->g;
    clear(p->m->dk);
    clear(p->m->dv);
    clear(p->m->dk_sum);
    clear(p->m->dk_gates);
    for (int64_t i = 0; i < p->Tq; i++) {
        clear(p->m->dq);
        clear(p->m->dq_gates);
        clear(p->m->drelative);
        query_rotate_keys(p, i);
        query_probabilities(p, i);
        softmax_back(p, g->dout, g->dparams, i);
        scores_back(p, g, i);
        terms_back(p, g->dparams, i);
        rotations_back(p, g, i);
        store(g->dq_gates, i, p->m->dq_gates, g->accumulate);
        store(g->drelative, i, p->m->drelative, g->accumulate);
    }
    if (!p->a.rotated && p->Tq)
        frequencies_back(p, p->m->k, p->m->dk, p->a.k_at);
    if (p->recentres)
        p->m->dk = p->m->dk_sum;
    else if (p->rotating && !p->a.rotated)
        rotate_view(p->rotating, p->w, PE_KEY, transpose, p->m->dk, p->m->dk, p->a.k_at, 0);
    if (p->rotating && p->rotating->rotates_value && !p->a.rotated)
        rotate_view(p->rotating, p->w, PE_VALUE, transpose, p->m->dv, p->m->dv, p->a.k_at, 0);
    store(g->dk, 0, p->m->dk, g->accumulate);
    store(g->dv, 0, p->m->dv, g->accumulate);
    store(g->dk_gates, 0, p->m->dk_gates, g->accumulate);
}

pe_status pe_reference_backward(const pe_encoding *e, const pe_attention *a, const pe_attention_grad *grads,
                                const pe_run *run, pe_error *err)
{
    call c;
    TRY(reference_open(&c, e, a, run, err));
    c.a.out = c.a.lse = (pe_view){ 0 }; /* made again, not read */
    TRY(call_gradients(&c, grads, err));
    if (c.g.piece)
        return pe_fail(err, PE_ERR_UNSUITED, "piece is set; the definition has all keys at once");
    TRY(reference_reach(&c, err));
    for (int64_t s = 0; s < c.sequences; s++) {
        problem p;
        work m;
        call_sequence(&c, s, &p);
        p.m = &m;
        problem_cut(&p, c.run.work);
        reference_backward_pass(&p);
        call_clear_padding_back(&c, s);
    }
    return pe_pass(err);
}
