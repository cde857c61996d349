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
        list_add(&list, row);
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
        if (text)
            list_add(&list, PyUnicode_FromString(text));
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
        list_add(&list, row);
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
ENCODING_GETTER(counts_keys, PyBool_FromLong(pe_encoding_carries(e)))
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
    ENCODING_GET(counts_keys, "Whether a score depends on the keys between: attention over parts of the keys needs an order."),
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
        "dsinks=None, dq_gates=None, dk_gates=None, drelative=None, piece=False, accumulate=False, **options)\n--\n\nThe gradients "
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
    encoding_type = (PyTypeObject *)PyType_FromSpec(&spec);
    return encoding_type ? PyModule_AddObjectRef(module, "Encoding", (PyObject *)encoding_type) : -1;
}
