/* SPDX-License-Identifier: MIT
 *
 * Forward: parts.h has it as formulas. */
#include "model/parts.h"

#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct pass {
    model *m;
    const model_batch *b;
    const layer *l;
    const trace *t;
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

pe_status forward_layers(model *m, const model_batch *b, pe_error *err)
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

void forward_losses(model *m, const model_batch *b, uint8_t *right, real share)
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

pe_status check_batch(const model *m, const model_batch *b, pe_error *err)
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
    TRY(forward_layers(m, b, err));
    forward_losses(m, b, right, 0);
    memcpy(losses, m->losses, (size_t)(b->sequences * b->length) * sizeof(real));
    return PE_OK;
}

static pe_status forward_text(model *m, const int32_t *token, int64_t n, pe_error *err)
{
    model_batch b = { .token = token, .at = pe_positions_run(1, n, 0), .sequences = 1, .length = n };
    TRY(check_batch(m, &b, err));
    TRY(memory_for(m, &b, false, err));
    return forward_layers(m, &b, err);
}

pe_status model_logits(model *m, real *logits, const int32_t *token, int64_t n, pe_error *err)
{
    pe_status s = forward_text(m, token, n, err);
    if (!s)
        logits_of(m, logits, (piece){ n - 1, 1, 0, 0 });
    return s;
}

typedef struct all {
    const model *m;
    real *logits;
} all;

static void chunk_logits(void *arg, piece p)
{
    const all *a = arg;
    logits_of(a->m, a->logits + p.first * a->m->c.vocab, p);
}

pe_status model_all_logits(model *m, real *logits, const int32_t *token, int64_t n, pe_error *err)
{
    pe_status s = forward_text(m, token, n, err);
    if (!s)
        run_rows(m, chunk_logits, &(all){ m, logits }, n);
    return s;
}
