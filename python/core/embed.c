/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <string.h>

const char *const float_names[] = { "float32", "float16", "bfloat16", "float64", NULL };

/* ---------------------------------------------------------------- codes added to embeddings */

enum { E_X, E_POSITIONS, E_START, E_OUT, E_DTYPE, E_PARAMS };
static arguments embed_arguments = { "embed", 2, 0, { "x", "positions", "start", "out", "dtype", "params" }, { 0 } };

/* x and its positions; without x the positions say how many tokens there are. The array that is written. */
static array *read_embedding(method_call *m, pe_view *x, pe_view *y, pe_positions *at)
{
    const pe_encoding *e = m->self->e;
    int dtype = PE_F32;
    bool batched = false;
    array none = { 0 }, *from = &none;
    if (m->v[E_X] && (!(from = method_array(m, E_X)) || view_of_rows(x, from, "x")))
        return NULL;
    if (method_params(m, &m->run.params, E_PARAMS) || read_choice(&dtype, m->v[E_DTYPE], "dtype", float_names))
        return NULL;
    if (m->v[E_X]) {
        if (method_positions(m, at, m->v[E_POSITIONS], m->v[E_START], "positions", x->batch, x->tokens))
            return NULL;
        dtype = (int)from->dtype;
    } else {
        if (!m->v[E_POSITIONS])
            return refuse(PE_ERR_NULL, "embed needs x, or positions for the codes alone"), NULL;
        if (table_positions(at, method_hold(m, "positions"), m->v[E_POSITIONS], pe_encoding_axes(e), &batched))
            return NULL;
        int64_t joined = pe_embed_width(e, 0), model = pe_encoding_shape(e).model_dim;
        *x = pe_view_of(NULL, (pe_dtype)dtype, at->batch, at->tokens, 1, joined > 0 ? 0 : model);
    }
    int ndim = m->v[E_X] ? from->ndim : 2 + batched;
    int64_t shape[3] = { x->batch, x->tokens, pe_embed_width(e, x->dim) };
    array *to = method_out(m, E_OUT, from, (pe_dtype)dtype, ndim, shape + 3 - ndim);
    return to && !view_of_rows(y, to, "out") ? to : NULL;
}

ENCODING_METHOD(embed)
{
    method_call m;
    array *to;
    pe_view x, y;
    pe_positions at;
    if (method_open(&m, self, &embed_arguments, args, count, names))
        return NULL;
    if ((to = read_embedding(&m, &x, &y, &at)) && !arrays_on_cpu(m.all, m.count)) {
        m.run.pool = pool_borrow(16.0 * (double)y.batch * (double)y.tokens * (double)y.dim);
        WITHOUT_LOCK(m.failed = pe_embed(m.self->e, y, x, at, &m.run, &m.err));
        pool_return(m.run.pool);
        m.result[0] = to->object;
    }
    return method_close(&m);
}

enum { B_DY, B_POSITIONS, B_START, B_DPARAMS, B_WIDTH };
static arguments embed_back_arguments = {
    "embed_back", 2, 1, { "dy", "positions", "start", "dparams", "width" }, { 0 }
};

/* Returns dx; dparams, float32 or float64, is added to. */
ENCODING_METHOD(embed_back)
{
    method_call m;
    array *from;
    pe_view dy, dx;
    pe_positions at;
    pe_params dparams = { 0 };
    if (method_open(&m, self, &embed_back_arguments, args, count, names))
        return NULL;
    if ((from = method_array(&m, B_DY)) && !view_of_rows(&dy, from, "dy") && !method_dparams(&m, &dparams, B_DPARAMS) &&
        !method_positions(&m, &at, m.v[B_POSITIONS], m.v[B_START], "positions", dy.batch, dy.tokens)) {
        int64_t shape[3] = { dy.batch, dy.tokens, dy.dim };
        array *to = method_hold(&m, "dx");
        if (!read_int(&shape[2], m.v[B_WIDTH], "width") &&
            !array_new(to, from, from->dtype, from->ndim, shape + 3 - from->ndim) && !view_of_rows(&dx, to, "dx") &&
            !arrays_on_cpu(m.all, m.count)) {
            m.failed = pe_embed_back(m.self->e, dparams, dx, dy, at, &m.run, &m.err);
            m.result[0] = to->object;
        }
    }
    return method_close(&m);
}

/* ---------------------------------------------------------------- biases */

enum { H_QUERIES, H_KEYS, H_STAGE, H_PARAMS, H_Q_GATES, H_K_GATES };
static arguments bias_arguments = {
    "bias", 2, 1, { "queries", "keys", "stage", "params", "q_gates", "k_gates" }, { 0 }
};

static int choose_stage(const encoding_object *self, PyObject *asked, int *stage)
{
    static const char *const stages[] = { "before", "after", NULL };
    bool before = pe_encoding_hooks_at(self->e, PE_BEFORE_SCALE) & PE_HOOK_BIAS;
    bool after = pe_encoding_hooks_at(self->e, PE_AFTER_SCALE) & PE_HOOK_BIAS;
    if (!before && !after)
        return refuse(PE_ERR_UNSUITED, "%s adds no bias to scores", pe_encoding_spec(self->e));
    *stage = before ? PE_BEFORE_SCALE : PE_AFTER_SCALE;
    if (before && after && !asked)
        return refuse(PE_ERR_UNSUITED,
                      "%s adds terms before the scale and after it, which cannot be summed; needs stage='before' or "
                      "stage='after'",
                      pe_encoding_spec(self->e));
    return read_choice(stage, asked, "stage", stages);
}

/* (tokens, heads), where they are given. */
static int read_gates(method_call *m, pe_view *out, int at)
{
    array *a = m->v[at] ? method_array(m, at) : NULL;
    return m->v[at] && (!a || view_of_numbers(out, a, LAYOUT_BTHD, m->table->names[at]));
}

ENCODING_METHOD(bias)
{
    method_call m;
    array numpy = { 0 };
    pe_tile tile = { .size = sizeof tile };
    int stage = 0;
    bool batched = false;
    if (method_open(&m, self, &bias_arguments, args, count, names))
        return NULL;
    int64_t axes = pe_encoding_axes(m.self->e);
    PyObject *keys = m.v[H_KEYS] ? m.v[H_KEYS] : m.v[H_QUERIES];
    if (!choose_stage(m.self, m.v[H_STAGE], &stage) && !method_params(&m, &m.run.params, H_PARAMS) &&
        !table_positions(&tile.q_at, method_hold(&m, "queries"), m.v[H_QUERIES], axes, &batched) &&
        !table_positions(&tile.k_at, method_hold(&m, "keys"), keys, axes, &batched) &&
        !read_gates(&m, &tile.q_gates, H_Q_GATES) && !read_gates(&m, &tile.k_gates, H_K_GATES)) {
        int64_t shape[3] = { pe_encoding_shape(m.self->e).heads, tile.q_at.tokens, tile.k_at.tokens };
        array *score = method_hold(&m, "bias");
        if (!array_new(score, &numpy, PE_F32, 3, shape) && !view_of_scores(&tile.score, score, "bias") &&
            !arrays_on_cpu(m.all, m.count)) {
            memset(score->data, 0, sizeof(float) * (size_t)shape[0] * (size_t)shape[1] * (size_t)shape[2]);
            m.failed = pe_encoding_bias(m.self->e, (pe_stage)stage, m.run.params, &tile, &m.err);
            m.result[0] = score->object;
        }
    }
    return method_close(&m);
}

int embed_init(void)
{
    return arguments_init(&embed_arguments) || arguments_init(&embed_back_arguments) || arguments_init(&bias_arguments);
}
