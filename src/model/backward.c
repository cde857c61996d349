/* SPDX-License-Identifier: MIT
 *
 * Backward: forward's lines in reverse, then the weights' gradients of the whole layer, cut by rows of the weights. */
#include "model/parts.h"

#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct pass {
    model *m;
    const layer *l;
    const trace *t;
    int64_t rows;
} pass;

/* dx = add + gradient through the norm; the chunk's share of dw goes to its own place. */
static void norm_back(const model *m, normal n, real *dx, const real *add, const real *x, const real *size, piece p)
{
    int64_t C = m->c.width, at = p.first * C;
    rms_backward(dx + at, m->d.dnorm + p.index * C, add + at, m->d.dh + at, x + at, size + p.first,
                 m->weights + n.weight, p.count, C);
}

static void sum_norm(model *m, normal n, int64_t rows)
{
    int64_t C = m->c.width;
    real *dw = m->grads + n.weight;
    memset(dw, 0, (size_t)C * sizeof(real));
    for (int64_t i = 0; i < chunks_of(rows); i++)
        for (int64_t j = 0; j < C; j++)
            dw[j] += m->d.dnorm[i * C + j];
}

static void above_attention(void *arg, piece p)
{
    const pass *b = arg;
    const model *m = b->m;
    const slopes *d = &m->d;
    int64_t F = m->c.hidden;
    linear_input(m, b->l->down, d->dact, d->dy, p);
    swiglu_backward(d->dup + p.first * 2 * F, d->dact + p.first * F, b->t->up + p.first * 2 * F, p.count, F);
    linear_input(m, b->l->up, d->dh, d->dup, p);
    norm_back(m, b->l->norm2, d->dx2, d->dy, b->t->x2, b->t->size2, p);
    linear_input(m, b->l->out, d->datt, d->dx2, p);
}

static void below_attention(void *arg, piece p)
{
    const pass *b = arg;
    linear_input(b->m, b->l->qkv, b->m->d.dh, b->m->d.dqkv, p);
    norm_back(b->m, b->l->norm1, b->m->d.dx, b->m->d.dx2, b->t->x, b->t->size1, p);
}

/* ---------------------------------------------------------------- gradients of weights */

typedef struct weight_grad {
    linear l;
    real *dy, *x; /* (rows, out), (rows, in) */
} weight_grad;

typedef struct weight_pass {
    const model *m;
    weight_grad g[4];
    int64_t rows;
} weight_pass;

#define SLICE 256 /* rows of a weight; part of the definition */

static int64_t slices(linear l)
{
    return (l.out + SLICE - 1) / SLICE;
}

static void weight_slice(void *arg, piece p)
{
    const weight_pass *w = arg;
    int64_t n = p.first;
    const weight_grad *g = w->g;
    for (; n >= slices(g->l); g++)
        n -= slices(g->l);
    int64_t first = n * SLICE, left = g->l.out - first;
    matrix dw = { w->m->grads + g->l.weight + first * g->l.in, g->l.in };
    gemm_weight(dw, (matrix){ g->dy + first, g->l.out }, (matrix){ g->x, g->l.in }, w->rows,
                left < SLICE ? left : SLICE, g->l.in, 0);
}

static void layer_weights(model *m, const layer *l, const trace *t, int64_t rows)
{
    const slopes *d = &m->d;
    weight_pass w = { m,
                      { { l->down, d->dy, t->act },
                        { l->up, d->dup, t->h2 },
                        { l->out, d->dx2, t->att },
                        { l->qkv, d->dqkv, t->h1 } },
                      rows };
    run_each(m, weight_slice, &w, slices(l->down) + slices(l->up) + slices(l->out) + slices(l->qkv));
}

/* ---------------------------------------------------------------- the top */

/* dh = dlogits E, 0 in the columns of a joined code. */
static void below_logits(void *arg, piece p)
{
    const pass *b = arg;
    const model *m = b->m;
    int64_t C = m->c.width, V = m->c.vocab, own = m->output.in;
    matrix dh = rows_at(m->d.dh, C, p.first);
    gemm_input(dh, rows_at(m->d.dlogits, V, p.first), weight_of(m, m->output), p.count, V, own, 0);
    for (int64_t i = 0; own < C && i < p.count; i++)
        memset(dh.at + i * C + own, 0, (size_t)(C - own) * sizeof(real));
    memset(m->d.dy + p.first * C, 0, (size_t)(p.count * C) * sizeof(real));
    norm_back(m, m->final, m->d.dy, m->d.dy, b->t->y, m->size, p);
}

static void output_slice(void *arg, piece p)
{
    const pass *b = arg;
    const model *m = b->m;
    matrix dw = { m->grads + m->output.weight + p.first * m->output.in, m->output.in };
    gemm_weight(dw, (matrix){ m->d.dlogits + p.first, m->c.vocab }, (matrix){ m->h, m->c.width }, b->rows, p.count,
                m->output.in, 0);
}

static void top(model *m, int64_t rows)
{
    pass b = { m, NULL, &m->trace[m->c.layers - 1], rows };
    if (m->c.untied)
        memset(m->grads + m->embed.weight, 0, (size_t)(m->embed.out * m->embed.in) * sizeof(real));
    run_rows(m, below_logits, &b, rows);
    sum_norm(m, m->final, rows);
    run_rows(m, output_slice, &b, m->c.vocab);
}

pe_status backward_layers(model *m, const model_batch *batch, pe_error *err)
{
    int64_t rows = batch->sequences * batch->length;
    if (m->at.count)
        memset(m->at.dblock, 0, (size_t)(m->at.count * m->at.blocks) * sizeof(real));
    top(m, rows);
    for (int64_t l = m->c.layers - 1; l >= 0; l--) {
        pass b = { m, &m->layer[l], &m->trace[l], rows };
        run_rows(m, above_attention, &b, rows);
        sum_norm(m, b.l->norm2, rows);
        TRY(heads_backward(m, batch, l, err));
        run_rows(m, below_attention, &b, rows);
        sum_norm(m, b.l->norm1, rows);
        layer_weights(m, b.l, b.t, rows);
        real *dx = m->d.dx;
        m->d.dx = m->d.dy;
        m->d.dy = dx;
    }
    TRY(embed_backward(m, batch, m->d.dy, err));
    position_scatter(m);
    return PE_OK;
}

/* ---------------------------------------------------------------- the door */

/* Which output went wrong first. */
static pe_status name_the_layer(const model *m, int64_t rows, pe_error *err)
{
    if (!finite_all(m->trace[0].x, rows * m->c.width))
        return io_fail(err, PE_ERR_RANGE, "the loss is not finite: the embedding's output is not");
    for (int64_t l = 0; l < m->c.layers; l++) {
        const trace *t = &m->trace[l];
        const char *part = !finite_all(t->qkv, rows * m->layer[l].qkv.out)  ? "queries, keys and values"
                           : !finite_all(t->att, rows * m->layer[l].out.in) ? "attention"
                           : !finite_all(t->x2, rows * m->c.width)          ? "output projection"
                           : !finite_all(t->act, rows * m->c.hidden)        ? "hidden units"
                           : !finite_all(t->y, rows * m->c.width)           ? "down projection"
                                                                            : NULL;
        if (part)
            return io_fail(err, PE_ERR_RANGE, "the loss is not finite: layer %" PRId64 "'s %s %s not", l, part,
                           strchr(part, ' ') ? "are" : "is");
    }
    return io_fail(err, PE_ERR_RANGE, "the loss is not finite: the logits are not");
}

static bool trainable(const model_config *c)
{
    return c->norm == MODEL_RMS && c->mlp == MODEL_SWIGLU && !c->biases && !c->embed_norm;
}

pe_status model_gradients(model *m, const model_batch *b, double *loss, pe_error *err)
{
    double sum = 0;
    int64_t asked = 0, rows = b->sequences * b->length;
    if (!trainable(&m->c))
        return io_fail(err, PE_ERR_UNSUITED, "a model with layer norms, biases or GELU is evaluated here, not trained");
    TRY(check_batch(m, b, err));
    for (int64_t i = 0; i < rows; i++)
        asked += b->target[i] >= 0;
    if (!asked)
        return io_fail(err, PE_ERR_SHAPE, "a batch in which nothing is asked has no gradient");
    TRY(memory_for(m, b, true, err));
    TRY(forward_layers(m, b, err));
    forward_losses(m, b, NULL, (real)(1 / (double)asked));
    for (int64_t i = 0; i < rows; i++)
        sum += (double)m->losses[i];
    *loss = sum / (double)asked;
    if (!isfinite(*loss))
        return name_the_layer(m, rows, err);
    return backward_layers(m, b, err);
}
