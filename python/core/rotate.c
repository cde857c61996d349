/* SPDX-License-Identifier: MIT */
#include "core.h"

static const char *const sides[] = { "query", "key", "value", "output", NULL };

static double elements(pe_view v)
{
    return (double)v.batch * (double)v.tokens * (double)v.heads * (double)v.dim;
}

/* Argument `at` as an output of the shape of x, or a new array. */
static array *out_like(method_call *m, pe_view *out, int at, const array *x, const pe_view *view)
{
    int64_t shape[4];
    view_shape(shape, view, m->order, x->ndim);
    array *y = method_out(m, at, x, x->dtype, x->ndim, shape);
    return y && !view_of(out, y, m->order, m->table->names[at]) ? y : NULL;
}

/* ---------------------------------------------------------------- one side */

enum { R_X, R_POSITIONS, R_START, R_SIDE, R_OUT, R_LAYOUT, R_PARAMS, R_STREAM };
static arguments rotate_arguments = {
    "rotate", 2, 1, { "x", "positions", "start", "side", "out", "layout", "params", "stream" }, { 0 }
};

static pe_status rotate_on_cpu(method_call *m, rotate_way way, pe_side side, pe_view y, pe_view x, pe_positions at)
{
    const pe_encoding *e = m->self->e;
    m->run.pool = pool_borrow(elements(x));
    pe_status s = way == ROTATE           ? pe_rotate(e, side, y, x, at, &m->run, &m->err)
                  : way == ROTATE_INVERSE ? pe_unrotate(e, side, y, x, at, &m->run, &m->err)
                                          : pe_rotate_back(e, side, y, x, at, &m->run, &m->err);
    pool_return(m->run.pool);
    return s;
}

static PyObject *rotate_with(PyObject *self, rotate_way way, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    method_call m;
    array *from, *to;
    pe_view x, y;
    pe_positions at;
    void *stream;
    int side = PE_QUERY;
    if (method_open(&m, self, &rotate_arguments, args, count, names))
        return NULL;
    if (!read_layout(&m.order, m.v[R_LAYOUT]) && !read_choice(&side, m.v[R_SIDE], "side", sides) &&
        (from = method_view(&m, &x, R_X)) && !method_params(&m, &m.run.params, R_PARAMS) &&
        !method_positions(&m, &at, m.v[R_POSITIONS], m.v[R_START], "positions", x.batch, x.tokens) &&
        !array_stream(&stream, from, m.v[R_STREAM]) && (to = out_like(&m, &y, R_OUT, from, &x)) &&
        !arrays_together(m.all, m.count)) {
        WITHOUT_LOCK(m.failed = from->device
                                    ? gpu_rotate(m.self, from->device - 1, way, (pe_side)side, y, x, at, stream, &m.err)
                                    : rotate_on_cpu(&m, way, (pe_side)side, y, x, at));
        m.result[0] = to->object;
    }
    return method_close(&m);
}

ENCODING_METHOD(rotate)
{
    return rotate_with(self, ROTATE, args, count, names);
}

ENCODING_METHOD(unrotate)
{
    return rotate_with(self, ROTATE_INVERSE, args, count, names);
}

ENCODING_METHOD(rotate_back)
{
    return rotate_with(self, ROTATE_BACK, args, count, names);
}

/* ---------------------------------------------------------------- q and k of the same positions */

enum { P_Q, P_K, P_POSITIONS, P_START, P_BACK, P_Q_OUT, P_K_OUT, P_LAYOUT, P_PARAMS, P_STREAM };
static arguments pair_arguments = {
    "rotate_qk", 3, 2, { "q", "k", "positions", "start", "back", "q_out", "k_out", "layout", "params", "stream" }, { 0 }
};

static pe_status rotate_pair_on_cpu(method_call *m, const pe_rotation *r, bool back)
{
    const pe_encoding *e = m->self->e;
    m->run.pool = pool_borrow(elements(r->q) + elements(r->k));
    pe_status s = back ? pe_rotate_back(e, PE_QUERY, r->q_out, r->q, r->at, &m->run, &m->err)
                       : pe_rotate_qk(e, r, &m->run, &m->err);
    if (back && !s)
        s = pe_rotate_back(e, PE_KEY, r->k_out, r->k, r->at, &m->run, &m->err);
    pool_return(m->run.pool);
    return s;
}

ENCODING_METHOD(rotate_qk)
{
    method_call m;
    array *q, *k, *q_out, *k_out;
    pe_rotation r = PE_MAKE(pe_rotation, .q = { 0 });
    void *stream;
    bool back = false;
    if (method_open(&m, self, &pair_arguments, args, count, names))
        return NULL;
    if (!read_layout(&m.order, m.v[P_LAYOUT]) && !read_flag(&back, m.v[P_BACK]) && (q = method_view(&m, &r.q, P_Q)) &&
        (q_out = out_like(&m, &r.q_out, P_Q_OUT, q, &r.q)) && (k = method_view(&m, &r.k, P_K)) &&
        (k_out = out_like(&m, &r.k_out, P_K_OUT, k, &r.k)) && !method_params(&m, &m.run.params, P_PARAMS) &&
        !method_positions(&m, &r.at, m.v[P_POSITIONS], m.v[P_START], "positions", r.q.batch, r.q.tokens) &&
        !arrays_together(m.all, m.count) && !array_stream(&stream, q, m.v[P_STREAM])) {
        WITHOUT_LOCK(m.failed = q->device ? gpu_rotate_qk(m.self, q->device - 1, back, &r, stream, &m.err)
                                          : rotate_pair_on_cpu(&m, &r, back));
        m.result[0] = q_out->object;
        m.result[1] = k_out->object;
    }
    return method_close(&m);
}

/* ---------------------------------------------------------------- trained frequencies; cos and sin */

enum { G_DY, G_X, G_DPARAMS, G_POSITIONS, G_START, G_SIDE, G_LAYOUT, G_PARAMS };
static arguments grad_arguments = {
    "rotate_grad", 3, 3, { "dy", "x", "dparams", "positions", "start", "side", "layout", "params" }, { 0 }
};

ENCODING_METHOD(rotate_grad)
{
    method_call m;
    pe_view x, dy;
    pe_positions at;
    pe_params dparams = { 0 };
    int side = PE_QUERY;
    if (method_open(&m, self, &grad_arguments, args, count, names))
        return NULL;
    if (!read_layout(&m.order, m.v[G_LAYOUT]) && !read_choice(&side, m.v[G_SIDE], "side", sides) &&
        method_view(&m, &x, G_X) && method_view(&m, &dy, G_DY) && !method_params(&m, &m.run.params, G_PARAMS) &&
        !method_dparams(&m, &dparams, G_DPARAMS) &&
        !method_positions(&m, &at, m.v[G_POSITIONS], m.v[G_START], "positions", x.batch, x.tokens) &&
        !arrays_on_cpu(m.all, m.count)) {
        m.failed = pe_rotate_grad(m.self->e, dparams, (pe_side)side, dy, x, at, &m.run, &m.err);
        m.result[0] = Py_None;
    }
    return method_close(&m);
}

enum { T_POSITIONS, T_SIDE, T_DTYPE, T_PARAMS };
static arguments table_arguments = { "table", 1, 1, { "positions", "side", "dtype", "params" }, { 0 } };

ENCODING_METHOD(table)
{
    method_call m;
    array numpy = { 0 };
    pe_view c, s;
    pe_positions at;
    int side = PE_QUERY, dtype = PE_F32;
    bool batched;
    if (method_open(&m, self, &table_arguments, args, count, names))
        return NULL;
    int64_t pairs = pe_encoding_pair_count(m.self->e);
    if (read_choice(&side, m.v[T_SIDE], "side", sides) || read_choice(&dtype, m.v[T_DTYPE], "dtype", float_names) ||
        method_params(&m, &m.run.params, T_PARAMS))
        return method_close(&m);
    if (!pairs)
        refuse(PE_ERR_UNSUITED,
               "%s has no rotation; embed(positions=...) gives the codes of an encoding that adds them",
               pe_encoding_spec(m.self->e));
    else if (!table_positions(&at, method_hold(&m, "positions"), m.v[T_POSITIONS], pe_encoding_axes(m.self->e),
                              &batched)) {
        int64_t shape[3] = { at.batch, at.tokens, pairs };
        int skip = !batched;
        array *cosine = method_hold(&m, "cos"), *sine = method_hold(&m, "sin");
        if (!array_new(cosine, &numpy, (pe_dtype)dtype, 3 - skip, shape + skip) &&
            !array_new(sine, &numpy, (pe_dtype)dtype, 3 - skip, shape + skip) && !view_of_rows(&c, cosine, "cos") &&
            !view_of_rows(&s, sine, "sin") && !arrays_on_cpu(m.all, m.count)) {
            m.failed = pe_rotate_table(m.self->e, (pe_side)side, c, s, at, &m.run, &m.err);
            m.result[0] = cosine->object;
            m.result[1] = sine->object;
        }
    }
    return method_close(&m);
}

/* ---------------------------------------------------------------- caches */

enum { S_K, S_FROM, S_TO, S_PAGES, S_DTYPE, S_LAYOUT };
static arguments shift_arguments = {
    "shift", 3, 3, { "k", "positions", "to", "page_table", "dtype", "layout" }, { 0 }
};
static arguments rebase_arguments = {
    "rebase", 3, 3, { "k", "positions", "old", "page_table", "dtype", "layout" }, { 0 }
};

/* Keys and the pages they lie in, and how many positions go with them. */
typedef struct cache_keys {
    pe_view k;
    pe_pages pages;
    int64_t batch, tokens;
} cache_keys;

static int read_pages(method_call *m, cache_keys *c)
{
    array *pages = method_hold(m, "page_table"), peek;
    pe_positions at;
    bool batched;
    if (array_get_as(pages, m->v[S_PAGES], "page_table", PE_I32))
        return -1;
    if (pages->ndim != 2)
        return refuse(PE_ERR_SHAPE, "page_table has %d dimensions; needs (batch, columns)", pages->ndim);
    c->pages = (pe_pages){ pages->data, pages->shape[1] };
    c->batch = pages->shape[0];
    c->tokens = pages->shape[1] * c->k.tokens; /* all of them, where a number says where they start */
    if (is_number(m->v[S_FROM]))
        return 0;
    int failed = table_positions(&at, &peek, m->v[S_FROM], pe_encoding_axes(m->self->e), &batched);
    array_free(&peek);
    c->tokens = failed ? 0 : at.tokens;
    return failed;
}

static int read_keys(method_call *m, cache_keys *c)
{
    array *k = read_layout(&m->order, m->v[S_LAYOUT]) ? NULL : method_array(m, S_K);
    if (!k || array_writes(k, "k") || view_of(&c->k, k, m->order, "k"))
        return -1;
    if (m->v[S_DTYPE]) {
        const char *type = PyUnicode_Check(m->v[S_DTYPE]) ? PyUnicode_AsUTF8AndSize(m->v[S_DTYPE], NULL) : "";
        if (!type || view_of_blocks(&c->k, k, type, "k"))
            return -1;
    }
    c->batch = c->k.batch;
    c->tokens = c->k.tokens;
    return m->v[S_PAGES] ? read_pages(m, c) : 0;
}

/* An array, or a number: the first position. */
static int cache_positions(method_call *m, const cache_keys *c, pe_positions *out, PyObject *value, const char *name)
{
    bool run = is_number(value);
    return method_positions(m, out, run ? NULL : value, run ? value : NULL, name, c->batch, c->tokens);
}

static PyObject *change_cache(PyObject *self, arguments *table, PyObject *const *args, Py_ssize_t count,
                              PyObject *names)
{
    method_call m;
    bool moves = table == &shift_arguments;
    cache_keys c = { .pages = { NULL, 0 } };
    pe_positions from, to;
    if (method_open(&m, self, table, args, count, names))
        return NULL;
    if (!moves && !PyObject_TypeCheck(m.v[S_TO], encoding_type))
        PyErr_SetString(PyExc_TypeError, "rebase() needs old, the Encoding that the keys are rotated by now");
    else if (!read_keys(&m, &c) && !cache_positions(&m, &c, &from, m.v[S_FROM], "positions") &&
             (!moves || !cache_positions(&m, &c, &to, m.v[S_TO], "to")) && !arrays_on_cpu(m.all, m.count)) {
        const pe_encoding *e = m.self->e, *old = moves ? NULL : ((encoding_object *)m.v[S_TO])->e;
        const pe_pages *pages = m.v[S_PAGES] ? &c.pages : NULL;
        m.run.pool = pool_borrow(elements(c.k));
        WITHOUT_LOCK(m.failed = moves ? pe_cache_shift(e, c.k, pages, from, to, &m.run, &m.err)
                                      : pe_cache_rebase(e, old, c.k, pages, from, &m.run, &m.err));
        pool_return(m.run.pool);
        m.result[0] = m.v[S_K];
    }
    return method_close(&m);
}

ENCODING_METHOD(shift)
{
    return change_cache(self, &shift_arguments, args, count, names);
}

ENCODING_METHOD(rebase)
{
    return change_cache(self, &rebase_arguments, args, count, names);
}

int rotate_init(void)
{
    return arguments_init(&rotate_arguments) || arguments_init(&pair_arguments) || arguments_init(&grad_arguments) ||
           arguments_init(&table_arguments) || arguments_init(&shift_arguments) || arguments_init(&rebase_arguments);
}
