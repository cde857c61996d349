/* SPDX-License-Identifier: MIT
 *
 * Where the encoding enters: at the embedding, and in attention, one sequence after another or side by side. */
#include "model/parts.h"

#include "io/io.h"

#include <stdlib.h>
#include <string.h>

#ifdef MODEL_DOUBLE
#define ATTENTION(what) pe_reference_##what
#define pe_reference_backward_work pe_reference_work
#else
#define ATTENTION(what) pe_attention_##what
#endif

/* ---------------------------------------------------------------- the embedding */

static void look_up(const model *m, const model_batch *b, int64_t s, real *x, int64_t stride)
{
    int64_t width = m->embed.in;
    real scale = (real)m->c.embed_scale;
    for (int64_t t = 0; t < b->length; t++) {
        const real *row = m->weights + m->embed.weight + b->token[s * b->length + t] * width;
        for (int64_t j = 0; j < width; j++)
            x[t * stride + j] = row[j] * scale;
    }
}

static pe_view wide_view(const real *x, int64_t tokens, int64_t width, int64_t stride)
{
    pe_view v = pe_view_packed((void *)(uintptr_t)x, MODEL_TYPE, tokens, 1, width);
    v.token_stride = stride;
    v.head_stride = width;
    return v;
}

/* Looked up where the final norm will be, which is free until then; the code goes on top on the way to x. */
pe_status embed_forward(model *m, const model_batch *b, real *x, pe_error *err)
{
    int64_t width = m->c.width, own = m->embed.in;
    bool coded = pe_encoding_hooks(m->at.e) & PE_HOOK_EMBED;
    for (int64_t s = 0; s < b->sequences; s++) {
        real *to = x + s * b->length * width, *from = coded ? m->h + s * b->length * width : to;
        look_up(m, b, s, from, width);
        if (coded)
            TRY(pe_encoding_embed(m->at.e, position_block(m, m->at.block, 0), wide_view(to, b->length, width, width),
                                  wide_view(from, b->length, own, width), b->at, err));
    }
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
    if (m->at.count && pe_encoding_hooks(m->at.e) & PE_HOOK_EMBED)
        for (int64_t s = 0; s < b->sequences; s++)
            TRY(pe_encoding_embed_back(m->at.e, position_block(m, m->at.block, 0), position_block(m, m->at.dblock, 0),
                                       (pe_view){ 0 }, wide_view(dx + s * b->length * width, b->length, width, width),
                                       b->at, err));
    run_rows(m, spread_columns, &(spread){ m, b, dx }, m->embed.in);
    return PE_OK;
}

/* ---------------------------------------------------------------- attention */

typedef struct attend {
    model *m;
    const model_batch *b;
    int64_t l;
    const pe_pool *pool; /* inside one sequence; NULL: sequences side by side */
    bool backward;
    pe_error *err; /* (workers) */
} attend;

static pe_view heads_view(real *x, int64_t tokens, int64_t heads, int64_t dim, int64_t stride)
{
    pe_view v = pe_view_packed(x, MODEL_TYPE, tokens, heads, dim);
    v.token_stride = stride;
    v.head_stride = dim;
    return v;
}

static pe_attention problem(const attend *a, int64_t s)
{
    const model *m = a->m;
    const model_config *c = &m->c;
    const trace *t = &m->trace[a->l];
    int64_t T = a->b->length, first = s * T, stride = m->layer[0].qkv.out, D = c->head_dim;
    real *q = t->qkv + first * stride, *k = q + c->heads * D, *v = k + c->kv_heads * D;
    pe_attention p = { .out = pe_view_packed(t->att + first * c->heads * D, MODEL_TYPE, T, c->heads, D),
                       .q = heads_view(q, T, c->heads, D, stride),
                       .k = heads_view(k, T, c->kv_heads, D, stride),
                       .v = heads_view(v, T, c->kv_heads, D, stride),
                       .q_at = a->b->at,
                       .k_at = a->b->at,
                       .mask = { .causal = c->causal },
                       .pool = a->pool };
    if (t->lse)
        p.lse = pe_view_packed(t->lse + first * c->heads, MODEL_TYPE, T, c->heads, 1);
    return p;
}

static pe_attention_grad gradient(const attend *a, int64_t s)
{
    const model *m = a->m;
    const model_config *c = &m->c;
    int64_t T = a->b->length, first = s * T, stride = m->layer[0].qkv.out, D = c->head_dim;
    real *dq = m->d.dqkv + first * stride, *dk = dq + c->heads * D, *dv = dk + c->kv_heads * D;
    real *own = m->d.dblock + s * m->at.count;
    pe_attention_grad g = { .dout = pe_view_packed(m->d.datt + first * c->heads * D, MODEL_TYPE, T, c->heads, D),
                            .dq = heads_view(dq, T, c->heads, D, stride),
                            .dk = heads_view(dk, T, c->kv_heads, D, stride),
                            .dv = heads_view(dv, T, c->kv_heads, D, stride) };
    if (m->at.count) {
        memset(own, 0, (size_t)m->at.count * sizeof(real));
        g.dparams = (pe_params){ own, MODEL_TYPE, m->at.count };
    }
    return g;
}

static void attend_sequence(void *arg, piece p)
{
    const attend *a = arg;
    const model *m = a->m;
    pe_attention problem_of = problem(a, p.first);
    pe_params block = position_block(m, m->at.block, a->l);
    void *work = (char *)m->work + (size_t)p.worker * m->work_bytes;
    pe_error *err = &a->err[p.worker], own;
    if (err->status)
        return;
    if (a->backward) {
        pe_attention_grad g = gradient(a, p.first);
        ATTENTION(backward)(m->at.e, block, &problem_of, &g, work, m->work_bytes, &own);
    } else
        ATTENTION(forward)(m->at.e, block, &problem_of, work, m->work_bytes, &own);
    if (own.status)
        *err = own;
}

/* One long sequence is split by attention itself; several go side by side. Both give the same bits. */
static const pe_pool *inner_pool(const model *m, const model_batch *b)
{
    return b->sequences < m->workers ? m->pool : NULL;
}

pe_status heads_ready(model *m, const model_batch *b, bool backward, pe_error *err)
{
    attend a = { .m = m, .b = b, .pool = inner_pool(m, b), .backward = backward };
    pe_attention p = problem(&a, 0);
    size_t bytes, more;
    TRY(ATTENTION(work)(m->at.e, &p, &bytes, err));
    if (backward) {
        TRY(ATTENTION(backward_work)(m->at.e, &p, &more, err));
        bytes = more > bytes ? more : bytes;
    }
    bytes = (bytes / 64 + 1) * 64;
    size_t sets = a.pool ? 1 : (size_t)m->workers; /* with a pool inside, one holds all workers' */
    if (m->work && m->work_bytes >= bytes && m->work_sets >= sets)
        return PE_OK;
    free(m->work);
    m->work_bytes = m->work_sets = 0;
    m->work = bytes < SIZE_MAX / 2 / sets ? malloc(bytes * sets) : NULL;
    if (!m->work)
        return io_fail(err, PE_ERR_NOMEM, "no memory for attention over %lld tokens", (long long)b->length);
    m->work_bytes = bytes;
    m->work_sets = sets;
    return PE_OK;
}

static pe_status run_attend(attend a, pe_error *err)
{
    const model *m = a.m;
    pe_status s = PE_OK;
    a.err = calloc((size_t)m->workers, sizeof *a.err);
    if (!a.err)
        return io_fail(err, PE_ERR_NOMEM, "no memory for attention");
    if (a.pool)
        for (int64_t n = 0; n < a.b->sequences; n++)
            attend_sequence(&a, (piece){ n, 1, n, 0 });
    else
        run_each(m, attend_sequence, &a, a.b->sequences);
    for (int w = 0; w < m->workers && !s; w++)
        s = a.err[w].status ? io_fail(err, a.err[w].status, "%s", a.err[w].text) : PE_OK;
    free(a.err);
    return s;
}

pe_status heads_forward(model *m, const model_batch *b, int64_t l, pe_error *err)
{
    return run_attend((attend){ .m = m, .b = b, .l = l, .pool = inner_pool(m, b) }, err);
}

pe_status heads_backward(model *m, const model_batch *b, int64_t l, pe_error *err)
{
    TRY(run_attend((attend){ .m = m, .b = b, .l = l, .pool = inner_pool(m, b), .backward = true }, err));
    real *sum = position_block(m, m->at.dblock, l).data;
    for (int64_t s = 0; s < b->sequences; s++)
        for (int64_t i = 0; i < m->at.count; i++)
            sum[i] += m->d.dblock[s * m->at.count + i];
    return PE_OK;
}
