/* SPDX-License-Identifier: MIT
 *
 * Where the encoding enters: at the embedding, and in attention, each one call for all sequences of a batch. */
#include "model/parts.h"

#include "io/io.h"

#include <stdlib.h>

#ifdef MODEL_DOUBLE
#define ATTENTION(what) pe_reference_##what
#define attention_work(e, a, run, bytes, err) ((void)(run), pe_reference_work(e, a, bytes, err))
#define attention_backward_work attention_work
#else
#define ATTENTION(what) pe_attention_##what
#define attention_work pe_attention_work
#define attention_backward_work pe_attention_backward_work
#endif

/* (B, T, heads, dim), a token every stride numbers. */
static pe_view batch_view(const real *x, const model_batch *b, int64_t heads, int64_t dim, int64_t stride)
{
    pe_view v = pe_view_of((void *)(uintptr_t)x, MODEL_TYPE, b->sequences, b->length, heads, dim);
    v.token_stride = stride;
    v.batch_stride = b->length * stride;
    return v;
}

/* The same in each sequence. */
static pe_positions batch_positions(const model_batch *b)
{
    pe_positions at = b->at;
    at.batch = b->sequences;
    at.batch_stride = 0;
    return at;
}

static pe_run layer_run(const model *m, int64_t l)
{
    return PE_MAKE(pe_run, .params = position_block(m, m->at.block, l), .pool = m->pool, .work = m->work,
                   .work_bytes = m->work_bytes);
}

/* ---------------------------------------------------------------- the embedding */

static void look_up(const model *m, const model_batch *b, real *x)
{
    int64_t width = m->embed.in;
    real scale = (real)m->c.embed_scale;
    for (int64_t i = 0; i < b->sequences * b->length; i++) {
        const real *row = m->weights + m->embed.weight + b->token[i] * width;
        for (int64_t j = 0; j < width; j++)
            x[i * m->c.width + j] = row[j] * scale;
    }
}

/* Looked up where the final norm will be, which is free until then; the code goes on top on the way to x. */
pe_status embed_forward(model *m, const model_batch *b, real *x, pe_error *err)
{
    int64_t width = m->c.width;
    bool coded = pe_encoding_hooks(m->at.e) & PE_HOOK_EMBED;
    pe_run run = layer_run(m, 0);
    look_up(m, b, coded ? m->h : x);
    if (coded)
        TRY(pe_embed(m->at.e, batch_view(x, b, 1, width, width), batch_view(m->h, b, 1, m->embed.in, width),
                     batch_positions(b), &run, err));
    if (m->c.embed_norm)
        layer_forward(x, x, m->weights + m->embed_norm.weight, m->weights + m->embed_norm.bias,
                      b->sequences * b->length, width, m->c.eps);
    return PE_OK;
}

/* Rows of the embedding that several tokens share: each piece has its own columns, so that sums have one order. */
typedef struct spread {
    model *m;
    const model_batch *b;
    const real *dx;
} spread;

static void spread_columns(void *arg, piece p)
{
    const spread *s = arg;
    const model *m = s->m;
    real scale = (real)m->c.embed_scale;
    for (int64_t i = 0; i < s->b->sequences * s->b->length; i++) {
        real *row = m->grads + m->embed.weight + s->b->token[i] * m->embed.in;
        const real *dx = s->dx + i * m->c.width;
        for (int64_t j = p.first; j < p.first + p.count; j++)
            row[j] += dx[j] * scale;
    }
}

/* The gradient of a joined code stays in its own columns; dx of the tokens is then the first ones. */
pe_status embed_backward(model *m, const model_batch *b, const real *dx, pe_error *err)
{
    int64_t width = m->c.width;
    pe_run run = layer_run(m, 0);
    if (m->at.count && pe_encoding_hooks(m->at.e) & PE_HOOK_EMBED)
        TRY(pe_embed_back(m->at.e, position_block(m, m->at.dblock, 0), (pe_view){ 0 },
                          batch_view(dx, b, 1, width, width), batch_positions(b), &run, err));
    run_rows(m, spread_columns, &(spread){ m, b, dx }, m->embed.in);
    return PE_OK;
}

/* ---------------------------------------------------------------- attention */

static pe_attention problem(const model *m, const model_batch *b, int64_t l)
{
    const model_config *c = &m->c;
    const trace *t = &m->trace[l];
    int64_t stride = m->layer[0].qkv.out, D = c->head_dim;
    real *q = t->qkv, *k = q + c->heads * D, *v = k + c->kv_heads * D;
    pe_attention a =
        PE_MAKE(pe_attention, .out = batch_view(t->att, b, c->heads, D, c->heads * D),
                .lse = batch_view(t->lse, b, c->heads, 1, c->heads), .q = batch_view(q, b, c->heads, D, stride),
                .k = batch_view(k, b, c->kv_heads, D, stride), .v = batch_view(v, b, c->kv_heads, D, stride),
                .q_at = batch_positions(b), .k_at = batch_positions(b), .mask.causal = c->causal);
    inputs_give(m, t, b, &a);
    return a;
}

static pe_attention_grad gradient(const model *m, const model_batch *b, int64_t l)
{
    const model_config *c = &m->c;
    int64_t stride = m->layer[0].qkv.out, D = c->head_dim;
    real *dq = m->d.dqkv, *dk = dq + c->heads * D, *dv = dk + c->kv_heads * D;
    pe_attention_grad g =
        PE_MAKE(pe_attention_grad, .dout = batch_view(m->d.datt, b, c->heads, D, c->heads * D),
                .dq = batch_view(dq, b, c->heads, D, stride), .dk = batch_view(dk, b, c->kv_heads, D, stride),
                .dv = batch_view(dv, b, c->kv_heads, D, stride), .dparams = position_block(m, m->at.dblock, l));
    inputs_take(m, b, &g);
    return g;
}

pe_status heads_ready(model *m, const model_batch *b, bool backward, pe_error *err)
{
    pe_attention a = problem(m, b, 0);
    pe_run run = layer_run(m, 0);
    size_t bytes, more;
    TRY(attention_work(m->at.e, &a, &run, &bytes, err));
    if (backward) {
        TRY(attention_backward_work(m->at.e, &a, &run, &more, err));
        bytes = more > bytes ? more : bytes;
    }
    if (m->work && m->work_bytes >= bytes)
        return PE_OK;
    free(m->work);
    m->work = malloc(bytes ? bytes : 1);
    m->work_bytes = m->work ? bytes : 0;
    return m->work ? PE_OK
                   : io_fail(err, PE_ERR_NOMEM, "no memory for attention over %lld tokens", (long long)b->length);
}

pe_status heads_forward(model *m, const model_batch *b, int64_t l, pe_error *err)
{
    pe_attention a = problem(m, b, l);
    pe_run run = layer_run(m, l);
    inputs_forward(m, &m->trace[l], b);
    return ATTENTION(forward)(m->at.e, &a, &run, err);
}

pe_status heads_backward(model *m, const model_batch *b, int64_t l, pe_error *err)
{
    pe_attention a = problem(m, b, l);
    pe_attention_grad g = gradient(m, b, l);
    pe_run run = layer_run(m, l);
    TRY(ATTENTION(backward)(m->at.e, &a, &g, &run, err));
    inputs_backward(m, &m->layer[l], &m->trace[l], b);
    return PE_OK;
}

static pe_status reference_look(const pe_encoding *e, const pe_attention *a, pe_run run, pe_error *err)
{
    TRY(pe_reference_work(e, a, &run.work_bytes, err));
    run.work = malloc(run.work_bytes ? run.work_bytes : 1);
    pe_status s = run.work ? pe_reference_forward(e, a, &run, err)
                           : io_fail(err, PE_ERR_NOMEM, "no memory to look at %lld tokens", (long long)a->q.tokens);
    free(run.work);
    return s;
}

pe_status heads_look(const model *m, const model_batch *b, int64_t l, real *scores, real *probabilities, pe_error *err)
{
    if (!scores && !probabilities)
        return PE_OK;
    pe_attention a = problem(m, b, l);
    if (scores)
        a.scores = pe_view_of(scores, MODEL_TYPE, 1, b->length, m->c.heads, b->length);
    if (probabilities)
        a.probabilities = pe_view_of(probabilities, MODEL_TYPE, 1, b->length, m->c.heads, b->length);
    inputs_forward(m, &m->trace[l], b);
    return reference_look(m->at.e, &a, layer_run(m, l), err);
}
