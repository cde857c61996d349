/* SPDX-License-Identifier: MIT
 *
 * One pass through the model: forward, then backward. */
#include "io/io.h"
#include "model/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- forward: parts.h has it as formulas */

typedef struct pass {
    model *m;
    const model_batch *b;
    const layer *l;
    const trace *t;
    int64_t rows; /* on the way back */
    uint8_t *right;
    real share; /* of each token in the mean; 0: nothing goes backward */
} pass;

static void norm_rows(const model *m, normal n, real *y, real *size, real *x, piece p)
{
    int64_t C = m->c.width;
    if (m->c.norm == MODEL_RMS)
        rms_forward(y + p.first * C, size + p.first, x + p.first * C, m->weights + n.weight, p.count, C, m->c.eps);
    else
        layer_forward(y + p.first * C, x + p.first * C, m->weights + n.weight, m->weights + n.bias, p.count, C,
                      m->c.eps);
}

static void before_attention(void *arg, piece p)
{
    const pass *f = arg;
    norm_rows(f->m, f->l->norm1, f->t->h1, f->t->size1, f->t->x, p);
    linear_forward(f->m, f->l->qkv, f->t->qkv, f->t->h1, p, 0);
    inputs_project(f->m, f->l, f->t, p);
}

/* y = x + more, where x may be y. */
static void carry(real *y, const real *x, int64_t width, piece p)
{
    if (y != x)
        memcpy(y + p.first * width, x + p.first * width, (size_t)(p.count * width) * sizeof(real));
}

static void activate(const model *m, const trace *t, piece p)
{
    int64_t F = m->c.hidden;
    if (m->c.mlp == MODEL_SWIGLU)
        swiglu_forward(t->act + p.first * F, t->up + p.first * 2 * F, p.count, F);
    else
        gelu_forward(t->act + p.first * F, t->up + p.first * F, p.count * F);
}

static void after_attention(void *arg, piece p)
{
    const pass *f = arg;
    const model *m = f->m;
    const trace *t = f->t;
    carry(t->x2, t->x, m->c.width, p);
    linear_forward(m, f->l->out, t->x2, t->att, p, 1);
    norm_rows(m, f->l->norm2, t->h2, t->size2, t->x2, p);
    linear_forward(m, f->l->up, t->up, t->h2, p, 0);
    activate(m, t, p);
    carry(t->y, t->x2, m->c.width, p);
    linear_forward(m, f->l->down, t->y, t->act, p, 1);
}

static void last_norm(void *arg, piece p)
{
    const pass *f = arg;
    norm_rows(f->m, f->m->final, f->m->h, f->m->size, f->t->y, p);
}

/* What is wanted of a layer, once its queries, keys and values are there. */
static pe_status look_at(const model *m, const model_inside *in, const model_batch *b, int64_t l, pe_error *err)
{
    const trace *t = &m->trace[l];
    int64_t n = b->length, wide = m->layer[l].qkv.out, map = n * m->c.heads * n;
    if (in->stream)
        memcpy(in->stream + l * n * m->c.width, t->x, (size_t)(n * m->c.width) * sizeof(real));
    if (in->qkv)
        memcpy(in->qkv + l * n * wide, t->qkv, (size_t)(n * wide) * sizeof(real));
    return heads_look(m, b, l, in->scores ? in->scores + l * map : NULL,
                      in->probabilities ? in->probabilities + l * map : NULL, err);
}

/* in NULL: nobody looks */
static pe_status forward_layers(model *m, const model_batch *b, const model_inside *in, pe_error *err)
{
    int64_t rows = b->sequences * b->length;
    pass f = { .m = m, .b = b };
    position_fill(m);
    TRY(heads_ready(m, b, m->backward, err));
    TRY(embed_forward(m, b, m->trace[0].x, err));
    for (int64_t l = 0; l < m->c.layers; l++) {
        f.l = &m->layer[l];
        f.t = &m->trace[l];
        run_rows(m, before_attention, &f, rows);
        if (in)
            TRY(look_at(m, in, b, l, err));
        TRY(heads_forward(m, b, l, err));
        run_rows(m, after_attention, &f, rows);
    }
    run_rows(m, last_norm, &f, rows);
    return PE_OK;
}

/* ---------------------------------------------------------------- logits and losses */

/* The tied embedding reads as many columns as it has: not those of a joined code. */
static void logits_of(const model *m, real *logits, piece p)
{
    matrix h = { m->h + p.first * m->c.width, m->c.width };
    gemm_forward((matrix){ logits, m->c.vocab }, h, weight_of(m, m->output), p.count, m->c.vocab, m->output.in, 0);
}

static void chunk_losses(void *arg, piece p)
{
    const pass *f = arg;
    const model *m = f->m;
    int64_t V = m->c.vocab;
    real *logits = f->share > 0 ? m->d.dlogits + p.first * V : m->scratch + (int64_t)p.worker * CHUNK * V;
    logits_of(m, logits, p);
    for (int64_t i = p.first; i < p.first + p.count; i++, logits += V) {
        int32_t target = f->b->target[i];
        m->losses[i] = target < 0 ? 0 : loss_row(logits, V, target, f->right ? &f->right[i] : NULL);
        if (f->right && target < 0)
            f->right[i] = 0;
        if (f->share > 0 && target >= 0)
            loss_slope(logits, V, target, m->losses[i], f->share);
        else if (f->share > 0)
            memset(logits, 0, (size_t)V * sizeof(real));
    }
}

static void forward_losses(model *m, const model_batch *b, uint8_t *right, real share)
{
    run_rows(m, chunk_losses, &(pass){ .m = m, .b = b, .right = right, .share = share }, b->sequences * b->length);
}

/* ---------------------------------------------------------------- the doors */

static pe_status check_tokens(const model *m, const int32_t *token, int64_t count, int32_t least, const char *what,
                              pe_error *err)
{
    for (int64_t i = 0; i < count; i++)
        if (token[i] < least || token[i] >= m->c.vocab)
            return io_fail(err, PE_ERR_RANGE, "%s %" PRId64 " is %" PRId32 "; needs %" PRId32 " to %" PRId64, what, i,
                           token[i], least, m->c.vocab - 1);
    return PE_OK;
}

static pe_status check_batch(const model *m, const model_batch *b, pe_error *err)
{
    int64_t most = INT64_C(1) << 32;
    if (b->sequences < 1 || b->length < 1 || b->length > most || b->sequences > most / b->length)
        return io_fail(err, PE_ERR_SHAPE, "a batch of %" PRId64 " sequences of %" PRId64 "; needs 1 or more of each",
                       b->sequences, b->length);
    TRY(check_tokens(m, b->token, b->sequences * b->length, 0, "token", err));
    return b->target ? check_tokens(m, b->target, b->sequences * b->length, -1, "target", err) : PE_OK;
}

pe_status model_losses(model *m, const model_batch *b, real *losses, uint8_t *right, pe_error *err)
{
    TRY(check_batch(m, b, err));
    TRY(memory_for(m, b, false, err));
    TRY(forward_layers(m, b, NULL, err));
    forward_losses(m, b, right, 0);
    memcpy(losses, m->losses, (size_t)(b->sequences * b->length) * sizeof(real));
    return PE_OK;
}

static pe_status forward_text(model *m, const model_inside *in, const int32_t *token, int64_t n, pe_error *err)
{
    model_batch b = { .token = token, .at = pe_positions_run(1, n, 0), .sequences = 1, .length = n };
    TRY(check_batch(m, &b, err));
    TRY(memory_for(m, &b, false, err));
    return forward_layers(m, &b, in, err);
}

pe_status model_logits(model *m, real *logits, const int32_t *token, int64_t n, pe_error *err)
{
    pe_status s = forward_text(m, NULL, token, n, err);
    if (!s)
        logits_of(m, logits, (piece){ n - 1, 1, 0, 0 });
    return s;
}

pe_status model_look(model *m, const model_inside *out, const int32_t *token, int64_t n, pe_error *err)
{
    int64_t layers = m->c.layers, size = n * m->c.width;
    TRY(forward_text(m, out, token, n, err));
    if (out->stream)
        memcpy(out->stream + layers * size, m->trace[layers - 1].y, (size_t)size * sizeof(real));
    return PE_OK;
}

/* Backward: forward's lines in reverse, then the weights' gradients of the whole layer, cut by rows of the
 * weights. */

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
    inputs_project_back(b->m, b->l, p);
    norm_back(b->m, b->l->norm1, b->m->d.dx, b->m->d.dx2, b->t->x, b->t->size1, p);
}

/* ---------------------------------------------------------------- gradients of weights */

typedef struct weight_grad {
    linear l;
    real *dy, *x; /* (rows, out), (rows, in) */
} weight_grad;

typedef struct weight_pass {
    const model *m;
    weight_grad g[6];
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
                        { l->qkv, d->dqkv, t->h1 },
                        { l->gates, d->dq_gates, t->h1 },
                        { l->relative, d->drelative, t->h1 } },
                      rows };
    int64_t count = 0;
    for (size_t i = 0; i < sizeof w.g / sizeof *w.g; i++)
        count += slices(w.g[i].l);
    run_each(m, weight_slice, &w, count);
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
    pass b = { .m = m, .t = &m->trace[m->c.layers - 1], .rows = rows };
    if (m->c.untied)
        memset(m->grads + m->embed.weight, 0, (size_t)(m->embed.out * m->embed.in) * sizeof(real));
    run_rows(m, below_logits, &b, rows);
    sum_norm(m, m->final, rows);
    run_rows(m, output_slice, &b, m->c.vocab);
}

static pe_status backward_layers(model *m, const model_batch *batch, pe_error *err)
{
    int64_t rows = batch->sequences * batch->length;
    if (m->at.count)
        memset(m->at.dblock, 0, (size_t)(m->at.count * m->at.blocks) * sizeof(real));
    top(m, rows);
    for (int64_t l = m->c.layers - 1; l >= 0; l--) {
        pass b = { .m = m, .l = &m->layer[l], .t = &m->trace[l], .rows = rows };
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
        const char *part = !finite_all(t->qkv, rows * m->layer[l].qkv.out) ? "queries, keys and values"
                           : !finite_all(t->logits, rows * m->layer[l].gates.out) ||
                                   !finite_all(t->relative, rows * m->layer[l].relative.out)
                               ? "inputs of the encoding"
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
    TRY(forward_layers(m, b, NULL, err));
    forward_losses(m, b, NULL, (real)(1 / (double)asked));
    for (int64_t i = 0; i < rows; i++)
        sum += (double)m->losses[i];
    *loss = sum / (double)asked;
    if (!isfinite(*loss))
        return name_the_layer(m, rows, err);
    return backward_layers(m, b, err);
}
