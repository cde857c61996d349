/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <stdlib.h>
#include <string.h>

PyTypeObject *encoding_type;

pe_params encoding_params(const encoding_object *self)
{
    return (pe_params){ self->params, PE_F32, self->param_count };
}

/* ---------------------------------------------------------------- make and free */

static int make_params(encoding_object *self, uint64_t seed)
{
    pe_error err;
    self->param_count = pe_encoding_param_count(self->e);
    if (!self->param_count)
        return 0;
    self->params = calloc((size_t)self->param_count, sizeof(float));
    if (!self->params)
        return refuse(PE_ERR_NOMEM, "no memory for %lld parameters", (long long)self->param_count);
    return pe_encoding_init(self->e, encoding_params(self), seed, &err) ? (raise_error(&err), -1) : 0;
}

static PyObject *encoding_new(PyTypeObject *type, PyObject *args, PyObject *options)
{
    static char *names[] = { "spec", "heads", "head_dim", "kv_heads", "model_dim", "seed", NULL };
    const char *spec;
    long long heads = 0, head_dim = 0, kv_heads = 0, model_dim = 0;
    unsigned long long seed = 0;
    pe_error err;
    if (PyTuple_Size(args) > 1) {
        PyErr_SetString(PyExc_TypeError,
                        "only the spec comes without a name; needs Encoding(spec, heads=8, head_dim=64)");
        return NULL;
    }
    if (!PyArg_ParseTupleAndKeywords(args, options, "s|$LLLLK", names, &spec, &heads, &head_dim, &kv_heads, &model_dim,
                                     &seed))
        return NULL;
    if (!heads || !head_dim) {
        refuse(PE_ERR_SHAPE, "heads is %lld and head_dim %lld; needs both: Encoding(\"%.80s\", heads=8, head_dim=64)",
               heads, head_dim, spec);
        return NULL;
    }
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    encoding_object *self = (encoding_object *)allocate(type, 0);
    if (!self)
        return NULL;
    self->lock = PyThread_allocate_lock();
    pe_status failed = pe_encoding_new(&self->e, spec, (pe_shape){ heads, kv_heads, head_dim, model_dim }, &err);
    if (!failed && self->lock && !make_params(self, seed))
        return (PyObject *)self;
    if (failed)
        raise_error(&err);
    else if (!self->lock)
        PyErr_NoMemory();
    Py_DECREF(self);
    return NULL;
}

static void encoding_dealloc(PyObject *object)
{
    encoding_object *self = (encoding_object *)object;
    PyTypeObject *type = Py_TYPE(object);
    plans_drop(self->plans);
    gpu_plans_drop(self->gpu_plans);
    if (self->lock)
        PyThread_free_lock(self->lock);
    pe_encoding_free(self->e);
    free(self->params);
    free(self->work);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

/* The block of parameters as a buffer of float32, which NumPy wraps: what is written there is used from then on. */
static int encoding_buffer(PyObject *object, Py_buffer *buffer, int flags)
{
    encoding_object *self = (encoding_object *)object;
    static float none[1];
    void *data = self->params ? self->params : none;
    return PyBuffer_FillInfo(buffer, object, data, self->param_count * (Py_ssize_t)sizeof(float), 0, flags);
}

/* ---------------------------------------------------------------- rotation */

static const char *const sides[] = { "query", "key", "value", "output", NULL };

enum { R_X, R_POSITIONS, R_START, R_SIDE, R_OUT, R_LAYOUT, R_PARAMS, R_STREAM };
static arguments rotate_arguments = {
    "rotate", 2, 1, { "x", "positions", "start", "side", "out", "layout", "params", "stream" }, { 0 }
};

/* Everything that one call holds, freed in one place. */
typedef struct rotating {
    array x, y, at, params;
    pe_view from, to;
    pe_positions where;
    pe_run run;
    void *stream;
    int side;
} rotating;

static int read_rotating(encoding_object *self, rotating *r, PyObject **v)
{
    layout order;
    int64_t shape[4];
    r->run = PE_MAKE(pe_run, .params = encoding_params(self));
    if (read_layout(&order, v[R_LAYOUT]) || read_choice(&r->side, v[R_SIDE], "side", sides) ||
        array_get(&r->x, v[R_X], "x") || view_of(&r->from, &r->x, order, "x") ||
        params_of(&r->run.params, &r->params, v[R_PARAMS], "params") ||
        positions_of(&r->where, &r->at, v[R_POSITIONS], v[R_START], "positions", r->from.batch, r->from.tokens,
                     pe_encoding_axes(self->e), 0) ||
        array_stream(&r->stream, &r->x, v[R_STREAM]))
        return -1;
    if (v[R_OUT]
            ? array_get_out(&r->y, v[R_OUT], "out")
            : (view_shape(shape, &r->from, order, r->x.ndim), array_new(&r->y, &r->x, r->x.dtype, r->x.ndim, shape)))
        return -1;
    const named_array all[] = { { &r->x, "x" }, { &r->y, "out" }, { &r->at, "positions" }, { &r->params, "params" } };
    return view_of(&r->to, &r->y, order, "out") || arrays_together(all, 4);
}

static pe_status rotate_there(encoding_object *self, rotate_way way, rotating *r, pe_error *err)
{
    pe_side side = (pe_side)r->side;
    if (r->x.device)
        return gpu_rotate(self, r->x.device - 1, way, side, r->to, r->from, r->where, r->stream, err);
    r->run.pool =
        pool_borrow((double)r->from.batch * (double)r->from.tokens * (double)r->from.heads * (double)r->from.dim);
    pe_status s = way == ROTATE           ? pe_rotate(self->e, side, r->to, r->from, r->where, &r->run, err)
                  : way == ROTATE_INVERSE ? pe_unrotate(self->e, side, r->to, r->from, r->where, &r->run, err)
                                          : pe_rotate_back(self->e, side, r->to, r->from, r->where, &r->run, err);
    pool_return(r->run.pool);
    return s;
}

static PyObject *rotate_with(PyObject *object, rotate_way way, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    encoding_object *self = (encoding_object *)object;
    PyObject *value[ARGUMENTS_MAX], *out = NULL;
    rotating r = { 0 };
    pe_error err = { 0 };
    if (arguments_read(&rotate_arguments, value, args, count, names))
        return NULL;
    if (!read_rotating(self, &r, value)) {
        pe_status failed;
        Py_BEGIN_ALLOW_THREADS failed = rotate_there(self, way, &r, &err);
        Py_END_ALLOW_THREADS if (failed) raise_error(&err);
        else if (value[R_OUT]) Py_INCREF(out = value[R_OUT]);
        else out = array_take(&r.y);
    }
    array_free(&r.x);
    array_free(&r.y);
    array_free(&r.at);
    array_free(&r.params);
    return out;
}

static PyObject *encoding_rotate(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    return rotate_with(self, ROTATE, args, count, names);
}

static PyObject *encoding_unrotate(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    return rotate_with(self, ROTATE_INVERSE, args, count, names);
}

static PyObject *encoding_rotate_back(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    return rotate_with(self, ROTATE_BACK, args, count, names);
}

/* ---- queries and keys of the same positions, in one call */

enum { P_Q, P_K, P_POSITIONS, P_START, P_BACK, P_Q_OUT, P_K_OUT, P_LAYOUT, P_PARAMS, P_STREAM };
static arguments pair_arguments = {
    "rotate_qk", 3, 2, { "q", "k", "positions", "start", "back", "q_out", "k_out", "layout", "params", "stream" }, { 0 }
};

typedef struct rotating_pair {
    array x[2], y[2], at, params; /* of q and of k */
    pe_rotation r;
    pe_run run;
    void *stream;
    bool back;
} rotating_pair;

static int read_side(rotating_pair *p, int which, PyObject **v, layout order)
{
    static const char *const names[] = { "q", "k" }, *const out_names[] = { "q_out", "k_out" };
    array *x = &p->x[which], *y = &p->y[which];
    pe_view *from = which ? &p->r.k : &p->r.q, *to = which ? &p->r.k_out : &p->r.q_out;
    PyObject *out = v[which ? P_K_OUT : P_Q_OUT];
    int64_t shape[4];
    if (array_get(x, v[which ? P_K : P_Q], names[which]) || view_of(from, x, order, names[which]))
        return -1;
    if (out ? array_get_out(y, out, out_names[which])
            : (view_shape(shape, from, order, x->ndim), array_new(y, x, x->dtype, x->ndim, shape)))
        return -1;
    return view_of(to, y, order, out_names[which]);
}

static int read_pair(encoding_object *self, rotating_pair *p, PyObject **v)
{
    layout order;
    p->r = PE_MAKE(pe_rotation, .q = { 0 });
    p->run = PE_MAKE(pe_run, .params = encoding_params(self));
    if (read_layout(&order, v[P_LAYOUT]) || read_flag(&p->back, v[P_BACK]) || read_side(p, 0, v, order) ||
        read_side(p, 1, v, order) || params_of(&p->run.params, &p->params, v[P_PARAMS], "params") ||
        positions_of(&p->r.at, &p->at, v[P_POSITIONS], v[P_START], "positions", p->r.q.batch, p->r.q.tokens,
                     pe_encoding_axes(self->e), 0))
        return -1;
    const named_array all[] = { { &p->x[0], "q" },     { &p->x[1], "k" },       { &p->y[0], "q_out" },
                                { &p->y[1], "k_out" }, { &p->at, "positions" }, { &p->params, "params" } };
    return arrays_together(all, 6) || array_stream(&p->stream, &p->x[0], v[P_STREAM]);
}

static pe_status rotate_pair(encoding_object *self, rotating_pair *p, pe_error *err)
{
    const pe_rotation *r = &p->r;
    if (p->x[0].device)
        return gpu_rotate_qk(self, p->x[0].device - 1, p->back, r, p->stream, err);
    p->run.pool =
        pool_borrow((double)r->q.batch * (double)r->q.tokens * (double)(r->q.heads + r->k.heads) * (double)r->q.dim);
    pe_status s = p->back ? pe_rotate_back(self->e, PE_QUERY, r->q_out, r->q, r->at, &p->run, err)
                          : pe_rotate_qk(self->e, r, &p->run, err);
    if (p->back && !s)
        s = pe_rotate_back(self->e, PE_KEY, r->k_out, r->k, r->at, &p->run, err);
    pool_return(p->run.pool);
    return s;
}

static PyObject *encoding_rotate_qk(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    encoding_object *self = (encoding_object *)object;
    PyObject *v[ARGUMENTS_MAX], *out = NULL;
    rotating_pair p = { 0 };
    pe_error err = { 0 };
    if (arguments_read(&pair_arguments, v, args, count, names))
        return NULL;
    if (!read_pair(self, &p, v)) {
        pe_status failed;
        Py_BEGIN_ALLOW_THREADS failed = rotate_pair(self, &p, &err);
        Py_END_ALLOW_THREADS if (failed) raise_error(&err);
        else out = PyTuple_Pack(2, p.y[0].object, p.y[1].object);
    }
    for (int i = 0; i < 2; i++) {
        array_free(&p.x[i]);
        array_free(&p.y[i]);
    }
    array_free(&p.at);
    array_free(&p.params);
    return out;
}

enum { G_DY, G_X, G_DPARAMS, G_POSITIONS, G_START, G_SIDE, G_LAYOUT, G_PARAMS };
static arguments grad_arguments = {
    "rotate_grad", 3, 3, { "dy", "x", "dparams", "positions", "start", "side", "layout", "params" }, { 0 }
};

static PyObject *encoding_rotate_grad(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    encoding_object *self = (encoding_object *)object;
    PyObject *v[ARGUMENTS_MAX], *out = NULL;
    array x, dy, at, held, sum;
    pe_view from, grad;
    pe_positions where;
    pe_params dparams = { 0 };
    pe_run run = PE_MAKE(pe_run, .params = encoding_params(self));
    pe_error err;
    layout order;
    int side = 0;
    x = dy = at = held = sum = (array){ 0 };
    if (arguments_read(&grad_arguments, v, args, count, names))
        return NULL;
    if (!read_layout(&order, v[G_LAYOUT]) && !read_choice(&side, v[G_SIDE], "side", sides) &&
        !array_get(&x, v[G_X], "x") && !view_of(&from, &x, order, "x") && !array_get(&dy, v[G_DY], "dy") &&
        !view_of(&grad, &dy, order, "dy") && !params_of(&run.params, &held, v[G_PARAMS], "params") &&
        !params_of(&dparams, &sum, v[G_DPARAMS], "dparams") && !array_writes(&sum, "dparams") &&
        !positions_of(&where, &at, v[G_POSITIONS], v[G_START], "positions", from.batch, from.tokens,
                      pe_encoding_axes(self->e), 0) &&
        !arrays_on_cpu(
            (named_array[]){
                { &x, "x" }, { &dy, "dy" }, { &at, "positions" }, { &held, "params" }, { &sum, "dparams" } },
            5)) {
        if (pe_rotate_grad(self->e, dparams, (pe_side)side, grad, from, where, &run, &err))
            raise_error(&err);
        else
            Py_INCREF(out = Py_None);
    }
    array_free(&x);
    array_free(&dy);
    array_free(&at);
    array_free(&held);
    array_free(&sum);
    return out;
}

/* ---------------------------------------------------------------- tables of a rotation, and codes */

static const char *const float_names[] = { "float32", "float16", "bfloat16", "float64", NULL };

enum { T_POSITIONS, T_SIDE, T_DTYPE, T_PARAMS };
static arguments table_arguments = { "table", 1, 1, { "positions", "side", "dtype", "params" }, { 0 } };

/* A number n stands for positions 0 to n - 1. */
static int table_positions(pe_positions *out, array *held, PyObject *object, int64_t axes, bool *batched)
{
    int64_t n = 0;
    *held = (array){ 0 };
    *batched = false;
    if (is_number(object)) {
        if (read_int(&n, object, "positions"))
            return -1;
        if (n < 0)
            return refuse(PE_ERR_RANGE, "positions is %lld; needs 0 or more, or an array", (long long)n);
        *out = pe_positions_run(1, n, 0);
        out->axes = axes;
        return 0;
    }
    array peek;
    if (array_get_as(&peek, object, "positions", PE_F64))
        return -1;
    int rows = axes > 1 ? 2 : 1;
    int64_t tokens = peek.ndim >= rows ? peek.shape[peek.ndim - rows] : 0;
    *batched = peek.ndim == rows + 1;
    int64_t batch = *batched ? peek.shape[0] : 1;
    array_free(&peek);
    return positions_of(out, held, object, NULL, "positions", batch, tokens, axes, 0);
}

static PyObject *encoding_table(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    encoding_object *self = (encoding_object *)object;
    PyObject *v[ARGUMENTS_MAX], *out = NULL;
    array at = { 0 }, cosine = { 0 }, sine = { 0 }, held = { 0 }, numpy = { 0 };
    pe_positions where;
    pe_view c, s;
    pe_run run = PE_MAKE(pe_run, .params = encoding_params(self));
    pe_error err;
    int side = 0, dtype = PE_F32;
    bool batched;
    if (arguments_read(&table_arguments, v, args, count, names) || read_choice(&side, v[T_SIDE], "side", sides) ||
        read_choice(&dtype, v[T_DTYPE], "dtype", float_names) || params_of(&run.params, &held, v[T_PARAMS], "params"))
        return NULL;
    int64_t pairs = pe_encoding_pair_count(self->e);
    if (!pairs)
        refuse(PE_ERR_UNSUITED,
               "%s has no rotation; embed(positions=...) gives the codes of an encoding that adds them",
               pe_encoding_spec(self->e));
    else if (!table_positions(&where, &at, v[T_POSITIONS], pe_encoding_axes(self->e), &batched)) {
        int64_t shape[3] = { where.batch, where.tokens, pairs };
        int skip = !batched;
        if (!array_new(&cosine, &numpy, (pe_dtype)dtype, 3 - skip, shape + skip) &&
            !array_new(&sine, &numpy, (pe_dtype)dtype, 3 - skip, shape + skip) && !view_of_rows(&c, &cosine, "cos") &&
            !view_of_rows(&s, &sine, "sin") &&
            !arrays_on_cpu((named_array[]){ { &at, "positions" }, { &held, "params" } }, 2)) {
            if (pe_rotate_table(self->e, (pe_side)side, c, s, where, &run, &err))
                raise_error(&err);
            else {
                PyObject *first = array_take(&cosine), *second = array_take(&sine);
                out = PyTuple_Pack(2, first, second);
                Py_DECREF(first);
                Py_DECREF(second);
            }
        }
    }
    array_free(&at);
    array_free(&cosine);
    array_free(&sine);
    array_free(&held);
    return out;
}

enum { E_X, E_POSITIONS, E_START, E_OUT, E_DTYPE, E_PARAMS };
static arguments embed_arguments = { "embed", 2, 0, { "x", "positions", "start", "out", "dtype", "params" }, { 0 } };

typedef struct embedding {
    array x, y, at, params, numpy;
    pe_view from, to;
    pe_positions where;
    pe_run run;
} embedding;

/* Without x the positions say how many tokens there are. */
static int read_embedding(encoding_object *self, embedding *m, PyObject **v)
{
    int64_t shape[3], axes = pe_encoding_axes(self->e);
    int dtype = PE_F32, ndim;
    bool batched = false;
    m->run = PE_MAKE(pe_run, .params = encoding_params(self));
    if (params_of(&m->run.params, &m->params, v[E_PARAMS], "params") ||
        read_choice(&dtype, v[E_DTYPE], "dtype", float_names) || array_get(&m->x, v[E_X], "x"))
        return -1;
    if (m->x.object) {
        if (view_of_rows(&m->from, &m->x, "x") || positions_of(&m->where, &m->at, v[E_POSITIONS], v[E_START],
                                                               "positions", m->from.batch, m->from.tokens, axes, 0))
            return -1;
        ndim = m->x.ndim;
        dtype = (int)m->x.dtype;
    } else {
        if (!v[E_POSITIONS])
            return refuse(PE_ERR_NULL, "embed needs x, or positions for the codes alone");
        if (table_positions(&m->where, &m->at, v[E_POSITIONS], axes, &batched))
            return -1;
        ndim = 2 + batched;
        int64_t joined = pe_embed_width(self->e, 0), model = pe_encoding_shape(self->e).model_dim;
        m->from = pe_view_of(NULL, (pe_dtype)dtype, m->where.batch, m->where.tokens, 1, joined > 0 ? 0 : model);
    }
    if (v[E_OUT])
        return array_get_out(&m->y, v[E_OUT], "out") || view_of_rows(&m->to, &m->y, "out");
    shape[0] = m->from.batch;
    shape[1] = m->from.tokens;
    shape[2] = pe_embed_width(self->e, m->from.dim);
    return array_new(&m->y, &m->x, (pe_dtype)dtype, ndim, shape + 3 - ndim) || view_of_rows(&m->to, &m->y, "out");
}

static PyObject *encoding_embed(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    encoding_object *self = (encoding_object *)object;
    PyObject *v[ARGUMENTS_MAX], *out = NULL;
    embedding m = { 0 };
    pe_error err;
    if (arguments_read(&embed_arguments, v, args, count, names))
        return NULL;
    if (!read_embedding(self, &m, v) &&
        !arrays_on_cpu(
            (named_array[]){ { &m.x, "x" }, { &m.y, "out" }, { &m.at, "positions" }, { &m.params, "params" } }, 4)) {
        pe_status failed;
        m.run.pool = pool_borrow(16.0 * (double)m.to.batch * (double)m.to.tokens * (double)m.to.dim);
        Py_BEGIN_ALLOW_THREADS failed = pe_embed(self->e, m.to, m.from, m.where, &m.run, &err);
        Py_END_ALLOW_THREADS pool_return(m.run.pool);
        if (failed)
            raise_error(&err);
        else if (v[E_OUT])
            Py_INCREF(out = v[E_OUT]);
        else
            out = array_take(&m.y);
    }
    array_free(&m.x);
    array_free(&m.y);
    array_free(&m.at);
    array_free(&m.params);
    return out;
}

enum { B_DY, B_POSITIONS, B_START, B_DPARAMS, B_WIDTH };
static arguments embed_back_arguments = {
    "embed_back", 2, 1, { "dy", "positions", "start", "dparams", "width" }, { 0 }
};

/* Returns dx; dparams, float32 or float64, is added to. */
static PyObject *encoding_embed_back(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    encoding_object *self = (encoding_object *)object;
    PyObject *v[ARGUMENTS_MAX], *out = NULL;
    array dy = { 0 }, dx = { 0 }, at = { 0 }, sum = { 0 };
    pe_view from, to;
    pe_positions where;
    pe_params dparams = { 0 };
    pe_run run = PE_MAKE(pe_run, .params = encoding_params(self));
    pe_error err;
    if (arguments_read(&embed_back_arguments, v, args, count, names))
        return NULL;
    if (!array_get(&dy, v[B_DY], "dy") && !view_of_rows(&from, &dy, "dy") &&
        !params_of(&dparams, &sum, v[B_DPARAMS], "dparams") && !array_writes(&sum, "dparams") &&
        !positions_of(&where, &at, v[B_POSITIONS], v[B_START], "positions", from.batch, from.tokens,
                      pe_encoding_axes(self->e), 0)) {
        int64_t shape[3] = { from.batch, from.tokens, from.dim };
        if (!read_int(&shape[2], v[B_WIDTH], "width") && !array_new(&dx, &dy, dy.dtype, dy.ndim, shape + 3 - dy.ndim) &&
            !view_of_rows(&to, &dx, "dx") &&
            !arrays_on_cpu((named_array[]){ { &dy, "dy" }, { &at, "positions" }, { &sum, "dparams" } }, 3)) {
            if (pe_embed_back(self->e, dparams, to, from, where, &run, &err))
                raise_error(&err);
            else
                out = array_take(&dx);
        }
    }
    array_free(&dy);
    array_free(&dx);
    array_free(&at);
    array_free(&sum);
    return out;
}

/* ---------------------------------------------------------------- biases and caches */

enum { H_QUERIES, H_KEYS, H_STAGE, H_PARAMS, H_Q_GATES, H_K_GATES };
static arguments bias_arguments = {
    "bias", 2, 1, { "queries", "keys", "stage", "params", "q_gates", "k_gates" }, { 0 }
};
static const char *const stages[] = { "before", "after", NULL };

static int choose_stage(const encoding_object *self, PyObject *asked, int *stage)
{
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
static int read_gates(pe_view *out, array *held, PyObject *value, const char *name)
{
    if (!value)
        return 0;
    return array_get(held, value, name) || view_of_numbers(out, held, LAYOUT_BTHD, name);
}

static PyObject *encoding_bias(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    encoding_object *self = (encoding_object *)object;
    PyObject *v[ARGUMENTS_MAX], *out = NULL;
    array q_at = { 0 }, k_at = { 0 }, held = { 0 }, numpy = { 0 }, score = { 0 }, gates[2] = { { 0 } };
    pe_params params = encoding_params(self);
    pe_tile tile = { .size = sizeof tile };
    pe_error err;
    int stage = 0;
    bool batched = false;
    int64_t axes = pe_encoding_axes(self->e);
    if (arguments_read(&bias_arguments, v, args, count, names))
        return NULL;
    PyObject *keys = v[H_KEYS] ? v[H_KEYS] : v[H_QUERIES];
    if (!choose_stage(self, v[H_STAGE], &stage) && !params_of(&params, &held, v[H_PARAMS], "params") &&
        !table_positions(&tile.q_at, &q_at, v[H_QUERIES], axes, &batched) &&
        !table_positions(&tile.k_at, &k_at, keys, axes, &batched) &&
        !read_gates(&tile.q_gates, &gates[0], v[H_Q_GATES], "q_gates") &&
        !read_gates(&tile.k_gates, &gates[1], v[H_K_GATES], "k_gates")) {
        int64_t shape[3] = { pe_encoding_shape(self->e).heads, tile.q_at.tokens, tile.k_at.tokens };
        if (!array_new(&score, &numpy, PE_F32, 3, shape) && !view_of_scores(&tile.score, &score, "bias") &&
            !arrays_on_cpu((named_array[]){ { &q_at, "queries" },
                                            { &k_at, "keys" },
                                            { &held, "params" },
                                            { &gates[0], "q_gates" },
                                            { &gates[1], "k_gates" } },
                           5)) {
            memset(score.data, 0, sizeof(float) * (size_t)shape[0] * (size_t)shape[1] * (size_t)shape[2]);
            if (pe_encoding_bias(self->e, (pe_stage)stage, params, &tile, &err))
                raise_error(&err);
            else
                out = array_take(&score);
        }
    }
    array_free(&q_at);
    array_free(&k_at);
    array_free(&held);
    array_free(&score);
    array_free(&gates[0]);
    array_free(&gates[1]);
    return out;
}

enum { S_K, S_FROM, S_TO, S_PAGES, S_DTYPE, S_LAYOUT };
static arguments shift_arguments = {
    "shift", 3, 3, { "k", "positions", "to", "page_table", "dtype", "layout" }, { 0 }
};
static arguments rebase_arguments = {
    "rebase", 3, 3, { "k", "positions", "old", "page_table", "dtype", "layout" }, { 0 }
};

typedef struct cache_call {
    array k, pages, from, to;
    pe_view view;
    pe_pages table;
    pe_positions at, moved;
    const pe_pages *paged;
} cache_call;

/* Bytes of blocks become a view of their elements. */
int view_of_blocks(pe_view *v, const array *a, const char *type, const char *name)
{
    int block = !strcmp(type, "q8_0") ? 34 : !strcmp(type, "q4_0") ? 18 : 0;
    if (!block || a->dtype != DTYPE_U8)
        return refuse(PE_ERR_DTYPE, "%s: dtype is '%s' over %s; needs 'q8_0' or 'q4_0' over uint8", name, type,
                      dtype_name(a->dtype));
    int64_t *sizes[] = { &v->dim, &v->batch_stride, &v->token_stride, &v->head_stride };
    for (int i = 0; i < 4; i++) {
        if (*sizes[i] % block)
            return refuse(PE_ERR_SHAPE, "%s has a width or stride of %lld bytes; needs whole blocks of %d", name,
                          (long long)*sizes[i], block);
        *sizes[i] = *sizes[i] / block * 32;
    }
    v->dtype = block == 34 ? PE_Q8_0 : PE_Q4_0;
    return 0;
}

static int read_cache(encoding_object *self, cache_call *c, PyObject **v, bool moves)
{
    layout order;
    if (read_layout(&order, v[S_LAYOUT]) || array_get_out(&c->k, v[S_K], "k") || view_of(&c->view, &c->k, order, "k"))
        return -1;
    if (v[S_DTYPE]) {
        const char *type = PyUnicode_Check(v[S_DTYPE]) ? PyUnicode_AsUTF8AndSize(v[S_DTYPE], NULL) : "";
        if (!type || view_of_blocks(&c->view, &c->k, type, "k"))
            return -1;
    }
    int64_t batch = c->view.batch, tokens = c->view.tokens, axes = pe_encoding_axes(self->e);
    if (v[S_PAGES]) { /* positions are those of the sequences then */
        bool batched;
        if (array_get_as(&c->pages, v[S_PAGES], "page_table", PE_I32))
            return -1;
        if (c->pages.ndim != 2)
            return refuse(PE_ERR_SHAPE, "page_table has %d dimensions; needs (batch, columns)", c->pages.ndim);
        c->table = (pe_pages){ c->pages.data, c->pages.shape[1] };
        c->paged = &c->table;
        batch = c->pages.shape[0];
        tokens = c->pages.shape[1] * c->view.tokens; /* all of them, where a number says where they start */
        if (!is_number(v[S_FROM])) {
            if (table_positions(&c->at, &c->from, v[S_FROM], axes, &batched))
                return -1;
            tokens = c->at.tokens;
            array_free(&c->from);
        }
    }
    bool run = is_number(v[S_FROM]);
    if (positions_of(&c->at, &c->from, run ? NULL : v[S_FROM], run ? v[S_FROM] : NULL, "positions", batch, tokens, axes,
                     0))
        return -1;
    run = moves && is_number(v[S_TO]);
    return moves &&
           positions_of(&c->moved, &c->to, run ? NULL : v[S_TO], run ? v[S_TO] : NULL, "to", batch, tokens, axes, 0);
}

static PyObject *change_cache(PyObject *object, arguments *table, bool moves, PyObject *const *args, Py_ssize_t count,
                              PyObject *names)
{
    encoding_object *self = (encoding_object *)object;
    PyObject *v[ARGUMENTS_MAX], *out = NULL;
    cache_call c = { 0 };
    pe_error err;
    if (arguments_read(table, v, args, count, names))
        return NULL;
    if (!moves && !PyObject_TypeCheck(v[S_TO], encoding_type)) {
        PyErr_SetString(PyExc_TypeError, "rebase() needs old, the Encoding that the keys are rotated by now");
        return NULL;
    }
    if (!read_cache(self, &c, v, moves) &&
        !arrays_on_cpu(
            (named_array[]){ { &c.k, "k" }, { &c.pages, "page_table" }, { &c.from, "positions" }, { &c.to, "to" } },
            4)) {
        const pe_encoding *old = moves ? NULL : ((encoding_object *)v[S_TO])->e;
        pe_run run = PE_MAKE(pe_run, .params = encoding_params(self));
        pe_status failed;
        run.pool =
            pool_borrow((double)c.view.batch * (double)c.view.tokens * (double)c.view.heads * (double)c.view.dim);
        Py_BEGIN_ALLOW_THREADS failed = moves ? pe_cache_shift(self->e, c.view, c.paged, c.at, c.moved, &run, &err)
                                              : pe_cache_rebase(self->e, old, c.view, c.paged, c.at, &run, &err);
        Py_END_ALLOW_THREADS pool_return(run.pool);
        if (failed)
            raise_error(&err);
        else
            Py_INCREF(out = v[S_K]);
    }
    array_free(&c.k);
    array_free(&c.pages);
    array_free(&c.from);
    array_free(&c.to);
    return out;
}

static PyObject *encoding_shift(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    return change_cache(self, &shift_arguments, true, args, count, names);
}

static PyObject *encoding_rebase(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    return change_cache(self, &rebase_arguments, false, args, count, names);
}

/* ---------------------------------------------------------------- what an encoding says of itself */

static PyObject *encoding_tensors(PyObject *object, PyObject *unused)
{
    const pe_encoding *e = ((encoding_object *)object)->e;
    int n = pe_encoding_tensor_count(e);
    (void)unused;
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < n; i++) {
        const pe_tensor *t = pe_encoding_tensor(e, i);
        PyObject *shape = PyTuple_New(t->rank);
        for (int r = 0; shape && r < t->rank; r++)
            PyTuple_SetItem(shape, r, PyLong_FromLongLong(t->shape[r]));
        PyObject *row = shape ? Py_BuildValue("{s:s,s:N,s:L,s:L,s:s,s:d,s:d,s:d,s:d}", "name", t->name, "shape", shape,
                                              "offset", (long long)t->offset, "count", (long long)t->count, "about",
                                              t->about ? t->about : "", "min", t->min, "max", t->max, "rate", t->rate,
                                              "decay", t->decay)
                              : NULL;
        if (!row || PyList_Append(list, row))
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *encoding_embed_width(PyObject *object, PyObject *width)
{
    int64_t w = 0;
    if (read_int(&w, width, "width"))
        return NULL;
    return PyLong_FromLongLong(pe_embed_width(((encoding_object *)object)->e, w));
}

static PyObject *names_of(unsigned bits, const char *(*name)(unsigned))
{
    PyObject *list = PyList_New(0);
    for (unsigned bit = 1; list && bit; bit <<= 1) {
        const char *text = bits & bit ? name(bit) : NULL;
        PyObject *word = text ? PyUnicode_FromString(text) : NULL;
        if (text && (!word || PyList_Append(list, word)))
            Py_CLEAR(list);
        Py_XDECREF(word);
    }
    return list;
}

static PyObject *encoding_pairs(PyObject *object, PyObject *unused)
{
    const pe_encoding *e = ((encoding_object *)object)->e;
    int64_t n = pe_encoding_pair_count(e);
    pe_error err;
    (void)unused;
    pe_pair *pairs = malloc((size_t)(n ? n : 1) * sizeof *pairs);
    if (!pairs)
        return PyErr_NoMemory();
    PyObject *list = pe_encoding_pairs(e, pairs, n, &err) ? raise_error(&err) : PyList_New(0);
    for (int64_t i = 0; list && i < n; i++) {
        const pe_pair *p = &pairs[i];
        PyObject *row = Py_BuildValue("{s:L,s:L,s:L,s:L,s:L,s:d,s:d}", "x", (long long)p->x, "y", (long long)p->y,
                                      "x_out", (long long)p->x_out, "y_out", (long long)p->y_out, "axis",
                                      (long long)p->axis, "frequency", p->frequency, "phase", p->phase);
        if (!row || PyList_Append(list, row))
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    free(pairs);
    return list;
}

#define ENCODING_GETTER(name, expression)                                                                              \
    static PyObject *get_##name(PyObject *object, void *unused)                                                        \
    {                                                                                                                  \
        const pe_encoding *e = ((encoding_object *)object)->e;                                                         \
        (void)unused;                                                                                                  \
        return expression;                                                                                             \
    }
ENCODING_GETTER(spec, PyUnicode_FromString(pe_encoding_spec(e)))
ENCODING_GETTER(heads, PyLong_FromLongLong(pe_encoding_shape(e).heads))
ENCODING_GETTER(kv_heads, PyLong_FromLongLong(pe_encoding_shape(e).kv_heads))
ENCODING_GETTER(head_dim, PyLong_FromLongLong(pe_encoding_shape(e).head_dim))
ENCODING_GETTER(model_dim, PyLong_FromLongLong(pe_encoding_shape(e).model_dim))
ENCODING_GETTER(axes, PyLong_FromLongLong(pe_encoding_axes(e)))
ENCODING_GETTER(scale, PyFloat_FromDouble(pe_encoding_scale(e)))
ENCODING_GETTER(magnitude, PyFloat_FromDouble(pe_encoding_magnitude(e)))
ENCODING_GETTER(fingerprint, PyLong_FromUnsignedLongLong(pe_encoding_fingerprint(e)))
ENCODING_GETTER(hooks, names_of(pe_encoding_hooks(e), pe_hook_name))
ENCODING_GETTER(claims, names_of(pe_encoding_claims(e), pe_claim_name))
ENCODING_GETTER(kernels, PyUnicode_FromString(pe_encoding_kernels(e)))
ENCODING_GETTER(gates, PyBool_FromLong(pe_encoding_inputs(e).gates))
ENCODING_GETTER(relative_dim, PyLong_FromLongLong(pe_encoding_inputs(e).relative))

#define ENCODING_GET(name, doc)                                                                                        \
    {                                                                                                                  \
#name, get_##name, NULL, doc, NULL                                                                             \
    }
static PyGetSetDef getters[] = {
    ENCODING_GET(spec, "The canonical text of the spec."),
    ENCODING_GET(heads, "Number of query heads."),
    ENCODING_GET(kv_heads, "Number of key and value heads."),
    ENCODING_GET(head_dim, "Head dimension."),
    ENCODING_GET(model_dim, "Width of the embedding."),
    ENCODING_GET(axes, "Coordinates per token."),
    ENCODING_GET(scale, "The factor on q.k before the softmax."),
    ENCODING_GET(magnitude, "The factor on cos and sin."),
    ENCODING_GET(fingerprint, "A number that is equal for equal specs and shapes."),
    ENCODING_GET(hooks, "Where the encoding acts: embed, rotate, content, bias, value."),
    ENCODING_GET(claims, "What the encoding promises."),
    ENCODING_GET(kernels, "The kernels in use: avx512, avx2, neon or scalar."),
    ENCODING_GET(gates, "Whether attention needs q_gates and k_gates."),
    ENCODING_GET(relative_dim, "The width of the input relative of attention; 0: it takes none."),
    { 0 },
};

#define ENCODING_FAST(name, doc)                                                                                       \
    {                                                                                                                  \
#name, (PyCFunction)(void (*)(void))encoding_##name, METH_FASTCALL | METH_KEYWORDS, doc                        \
    }
static PyMethodDef methods[] = {
    ENCODING_FAST(rotate,
                  "rotate($self, x, positions=None, *, start=None, side='query', out=None, layout='bthd', "
                  "params=None, stream=None)\n--\n\nRotates queries or keys, (batch, tokens, heads, dim), by their "
                  "positions: an array, or start, start + 1 and so on.\nside: query, key, value or output. An "
                  "encoding without rotation changes nothing."),
    ENCODING_FAST(unrotate, "unrotate($self, x, positions=None, *, start=None, side='query', out=None, layout='bthd', "
                            "params=None, stream=None)\n--\n\nUndoes rotate."),
    ENCODING_FAST(rotate_back,
                  "rotate_back($self, x, positions=None, *, start=None, side='query', out=None, layout='bthd', "
                  "params=None, stream=None)\n--\n\nThe gradient of rotate's input from that of its output."),
    ENCODING_FAST(rotate_qk,
                  "rotate_qk($self, q, k, positions=None, *, start=None, back=False, q_out=None, k_out=None, "
                  "layout='bthd', params=None, stream=None)\n--\n\nRotates queries and keys of the same tokens in one "
                  "call: (q, k). back: gradients of the rotated ones give those of q and k."),
    ENCODING_FAST(rotate_grad,
                  "rotate_grad($self, dy, x, dparams, *, positions=None, start=None, side='query', layout='bthd', "
                  "params=None)\n--\n\nAdds the gradient of trained frequencies to dparams."),
    ENCODING_FAST(table, "table($self, positions, *, side='query', dtype='float32', params=None)\n--\n\ncos and sin of "
                         "the rotation at positions (or at 0 to n - 1): two arrays (tokens, pairs)."),
    ENCODING_FAST(
        embed,
        "embed($self, x=None, positions=None, *, start=None, out=None, dtype='float32', params=None)\n--\n\nAdds the "
        "codes of positions to x, (batch, tokens, width); without x the codes alone."),
    ENCODING_FAST(embed_back, "embed_back($self, dy, positions=None, *, start=None, dparams=None, "
                              "width=None)\n--\n\nThe gradient of embed's x; adds that of the parameters to dparams."),
    ENCODING_FAST(bias,
                  "bias($self, queries, keys=None, *, stage=None, params=None, q_gates=None, k_gates=None)\n--\n\nWhat "
                  "is added to scores at positions (or at 0 to n - 1): (heads, queries, keys). Gates are (tokens, "
                  "heads)."),
    ENCODING_FAST(
        attention,
        "attention($self, q, k, v, *, q_positions=None, k_positions=None, causal=False, align='end', window=0, "
        "first_keys=0, keep=None, mask=None, keys_before=0, keys_after=0, q_lengths=None, k_lengths=None, "
        "q_offsets=None, k_offsets=None, padding='right', page_table=None, keys=None, kv_dtype=None, sinks=None, "
        "soft_cap=0.0, scale=0.0, rotated=False, q_gates=None, k_gates=None, relative=None, params=None, "
        "layout='bthd', exact=False, out=None, lse=None, scores=None, probabilities=None, q_start=None, behind=None, "
        "ahead=None, work=None, stream=None)\n--\n\nFused attention with "
        "this encoding: q and k are rotated inside.\n\nPositions are arrays or a first position; without them keys "
        "count from 0 and queries are the last of the keys.\nmask is added to scores (bool: what is seen), keep hides "
        "where it is False: (batch, heads, queries, keys), any but the\nlast of size 1. window and first_keys hide "
        "distant keys but the first ones. lengths are of padded sequences, offsets of\nsequences stored end to end. "
        "page_table (batch, columns) selects pages of k and v, (pages, page size, heads, dim).\nkv_dtype q8_0 or q4_0 "
        "reads ggml's blocks. rotated: k and v of a cache are rotated already. lse=True returns (out, log\nof the sum "
        "of exponentials). scores and probabilities are arrays to fill. exact: the definition in float64.\n\nOn a GPU: "
        "stream is CUDA's (the current one "
        "of the tensors' library); behind and ahead bound distances where positions are arrays\nand the encoding has a "
        "bias; work is memory for libraries that make no new arrays."),
    ENCODING_FAST(
        attention_backward,
        "attention_backward($self, q, k, v, *, out, lse, dout, dq=None, dk=None, dv=None, dmask=None, dparams=None, "
        "dsinks=None, dq_gates=None, dk_gates=None, drelative=None, accumulate=False, **options)\n--\n\nThe gradients "
        "of attention: (dq, dk, dv, dq_gates, dk_gates, drelative), None where not wanted. True makes an array, "
        "an\narray is written to; dmask, dparams and dsinks are added to. options are those of attention."),
    ENCODING_FAST(shift, "shift($self, k, positions, to, *, page_table=None, dtype=None, layout='bthd')\n--\n\nMoves "
                         "rotated keys of a cache from positions to others, in place."),
    ENCODING_FAST(rebase,
                  "rebase($self, k, positions, old, *, page_table=None, dtype=None, layout='bthd')\n--\n\nTurns keys "
                  "rotated by the encoding old into keys rotated by this one, in place."),
    { "tensors", encoding_tensors, METH_NOARGS, "The learned parameters: name, shape, offset in the block." },
    { "embed_width", encoding_embed_width, METH_O, "The width of embed's output for an x of this width." },
    { "pairs", encoding_pairs, METH_NOARGS, "The rotation as data: elements and frequency of each pair." },
    { 0 },
};

static PyType_Slot slots[] = {
    { Py_tp_new, encoding_new },
    { Py_tp_dealloc, encoding_dealloc },
    { Py_tp_getset, getters },
    { Py_tp_methods, methods },
    { Py_bf_getbuffer, encoding_buffer },
    { Py_tp_doc, "An encoding: its spec and a shape. The C part; posenc.Encoding is the class to use." },
    { 0, NULL },
};
static PyType_Spec spec = { "posenc._core.Encoding", sizeof(encoding_object), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots };

int encoding_init_type(PyObject *module)
{
    arguments *const tables[] = { &rotate_arguments, &pair_arguments,  &grad_arguments,
                                  &table_arguments,  &embed_arguments, &embed_back_arguments,
                                  &bias_arguments,   &shift_arguments, &rebase_arguments };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (arguments_init(tables[i]))
            return -1;
    encoding_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return encoding_type ? PyModule_AddObjectRef(module, "Encoding", (PyObject *)encoding_type) : -1;
}
