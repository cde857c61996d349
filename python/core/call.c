/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- errors */

PyObject *error_type;

/* What posenc.h calls a thing, and what Python's arguments do. */
static const char *const python_words[][2] = {
    { "PE_F32", "float32" },
    { "PE_F16", "float16" },
    { "PE_BF16", "bfloat16" },
    { "PE_F64", "float64" },
    { "PE_Q8_0", "q8_0" },
    { "PE_Q4_0", "q4_0" },
    { "PE_I64", "int64" },
    { "PE_I32", "int32" },
    { "PE_BOOL", "bool" },
    { "dtype is 0;", "dtype is float32;" },
    { "dtype is 1;", "dtype is float16;" },
    { "dtype is 2;", "dtype is bfloat16;" },
    { "dtype is 3;", "dtype is float64;" },
    { "dtype is 6;", "dtype is int64;" },
    { "dtype is 7;", "dtype is int32;" },
    { "dtype is 8;", "dtype is bool;" },
    { "dtype is 100;", "dtype is uint8;" },
    { "q_at", "q_positions" },
    { "k_at", "k_positions" },
    { "mask.additive", "mask" },
    { "mask.keep", "keep" },
    { "mask.keys_after", "keys_after" },
    { "mask: ", "" },
    { "dadditive", "dmask" },
    { "the mask has no additive part", "there is no mask of floats" },
    { "q_lengths: offset", "q_offsets: offset" },
    { "k_lengths: offset", "k_offsets: offset" },
    { "q_lengths: the last", "q_offsets: the last" },
    { "k_lengths: the last", "k_offsets: the last" },
    { "pages: ", "page_table: " },
    { "the input", "x" },
    { "the output", "out" },
    { "y: ", "out: " },
    { "the cache", "k" },
    { "the positions from", "positions" },
    { "the positions to", "to" },
    { "as pe_encoding_param_count says", "as many as the encoding has" },
    { "does not write them yet: use pe_reference_forward", "does not write them yet: use tensors of the CPU" },
    { "use pe_attention_forward", "use tensors of the CPU" },
    { "use pe_attention_backward", "use tensors of the CPU" },
    { "use pe_rotate on the host", "use tensors of the CPU" },
    { "use pe_cuda_rotate_qk with tables made by pe_rotate_table", "use tensors of the CPU" },
    { "pe_reference_forward", "exact=True" },
    { "pe_attention_forward", "attention" },
    { "pe_unrotate", "unrotate" },
    { "pe_rotate", "rotate" },
    { " (pe_encoding_inputs)", "" },
    { " (pe_view_of fills them in)", "" },
};

static bool of_a_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The length of a word of C where one begins at `at`, or 0; *word is Python's for it. */
static size_t find_word(const char *text, const char *at, const char **word)
{
    bool inside = at > text && of_a_word(at[-1]) && of_a_word(at[0]);
    for (size_t i = 0; !inside && i < sizeof python_words / sizeof *python_words; i++) {
        size_t n = strlen(python_words[i][0]);
        if (!strncmp(at, python_words[i][0], n)) {
            *word = python_words[i][1];
            return n;
        }
    }
    return 0;
}

/* A sentence of the library in Python's words. */
static void say_in_python(pe_error *out, const pe_error *err)
{
    size_t used = 0;
    *out = (pe_error){ .status = err->status };
    for (const char *at = err->text; *at && used + 1 < sizeof out->text;) {
        const char one[] = { *at, 0 }, *word = one;
        size_t length = find_word(err->text, at, &word);
        snprintf(out->text + used, sizeof out->text - used, "%s", word);
        used += strlen(out->text + used);
        at += length ? length : 1;
    }
}

PyObject *raise_error(const pe_error *original)
{
    pe_error said, *err = &said;
    say_in_python(err, original);
    PyObject *e = PyObject_CallFunction(error_type, "s", err->text);
    PyObject *status = PyUnicode_FromString(pe_status_name(err->status)), *sentence = PyUnicode_FromString(err->text);
    if (e && status && sentence && !PyObject_SetAttrString(e, "status", status) &&
        !PyObject_SetAttrString(e, "sentence", sentence))
        PyErr_SetObject(error_type, e);
    Py_XDECREF(status);
    Py_XDECREF(sentence);
    Py_XDECREF(e);
    return NULL;
}

int refuse(pe_status status, const char *format, ...)
{
    pe_error err = { .status = status };
    va_list list;
    va_start(list, format);
    vsnprintf(err.text, sizeof err.text, format, list);
    va_end(list);
    raise_error(&err);
    return -1;
}

void list_add(PyObject **list, PyObject *item)
{
    if (!item || PyList_Append(*list, item))
        Py_CLEAR(*list);
    Py_XDECREF(item);
}

/* ---------------------------------------------------------------- arguments */

static int find_name(arguments *t, PyObject *name)
{
    for (int i = 0; i < ARGUMENTS_MAX && t->names[i]; i++)
        if (name == t->interned[i])
            return i;
    for (int i = 0; i < ARGUMENTS_MAX && t->names[i]; i++)
        if (PyUnicode_CompareWithASCIIString(name, t->names[i]) == 0)
            return i;
    PyErr_Format(PyExc_TypeError, "%s() has no argument '%U'", t->function, name);
    return -1;
}

int arguments_init(arguments *t)
{
    for (int i = 0; i < ARGUMENTS_MAX && t->names[i]; i++)
        if (!(t->interned[i] = PyUnicode_InternFromString(t->names[i])))
            return -1;
    return 0;
}

int arguments_read(arguments *t, PyObject **value, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
    Py_ssize_t given = names ? PyTuple_Size(names) : 0;
    memset(value, 0, ARGUMENTS_MAX * sizeof *value);
    if (count > t->positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes %d positional arguments; got %zd", t->function, t->positional, count);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        value[i] = args[i];
    for (Py_ssize_t i = 0; i < given; i++) {
        int at = find_name(t, PyTuple_GetItem(names, i));
        if (at < 0)
            return -1;
        if (value[at]) {
            PyErr_Format(PyExc_TypeError, "%s() got '%s' twice", t->function, t->names[at]);
            return -1;
        }
        value[at] = args[count + i];
    }
    for (int i = 0; i < ARGUMENTS_MAX && t->names[i]; i++) {
        if (value[i] == Py_None)
            value[i] = NULL;
        if (i < t->required && !value[i]) {
            PyErr_Format(PyExc_TypeError, "%s() needs %s", t->function, t->names[i]);
            return -1;
        }
    }
    return 0;
}

int read_int(int64_t *out, PyObject *value, const char *name)
{
    if (!value)
        return 0;
    PyObject *whole = PyNumber_Index(value);
    int64_t n = whole ? PyLong_AsLongLong(whole) : -1;
    Py_XDECREF(whole);
    if (n == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s is %R; needs a whole number of 64 bits", name, value);
        return -1;
    }
    *out = n;
    return 0;
}

int read_double(double *out, PyObject *value, const char *name)
{
    if (!value)
        return 0;
    double x = PyFloat_AsDouble(value);
    if (x == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s is %R; needs a number", name, value);
        return -1;
    }
    *out = x;
    return 0;
}

int read_flag(bool *out, PyObject *value)
{
    int is = value ? PyObject_IsTrue(value) : 0;
    if (is < 0)
        return -1;
    if (value)
        *out = is;
    return 0;
}

int read_choice(int *out, PyObject *value, const char *name, const char *const *choices)
{
    if (!value)
        return 0;
    for (int i = 0; PyUnicode_Check(value) && choices[i]; i++)
        if (PyUnicode_CompareWithASCIIString(value, choices[i]) == 0) {
            *out = i;
            return 0;
        }
    char list[200] = "";
    for (int i = 0; choices[i]; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s'%s'", i ? ", " : "", choices[i]);
    PyObject *said = PyObject_Repr(value);
    const char *word = said ? PyUnicode_AsUTF8AndSize(said, NULL) : NULL;
    if (word)
        refuse(PE_ERR_RANGE, "%s is %s; needs one of %s", name, word, list);
    Py_XDECREF(said);
    return -1;
}

int read_layout(layout *out, PyObject *value)
{
    static const char *const choices[] = { "bthd", "bhtd", NULL };
    int at = LAYOUT_BTHD;
    int failed = read_choice(&at, value, "layout", choices);
    *out = (layout)at;
    return failed;
}

/* ---------------------------------------------------------------- views */

static int check_last(const array *a, const char *name)
{
    int last = a->ndim - 1;
    bool empty = false;
    for (int i = 0; i < a->ndim; i++)
        empty = empty || !a->shape[i];
    if (empty || a->shape[last] < 2 || a->stride[last] == 1)
        return 0;
    return refuse(PE_ERR_SHAPE,
                  "%s has a stride of %lld in its last dimension; needs 1 (a copy has it: numpy.ascontiguousarray, "
                  "Tensor.contiguous)",
                  name, (long long)a->stride[last]);
}

/* Puts dimension `from` of the array into a size and a stride of the view; from < 0: a size of 1. */
static void take_dim(int64_t *size, int64_t *stride, const array *a, int from)
{
    *size = from < 0 ? 1 : a->shape[from];
    *stride = from < 0 || a->shape[from] == 1 ? 0 : a->stride[from];
}

static void take_view(pe_view *v, const array *a, int batch, int tokens, int heads)
{
    *v = (pe_view){ .data = a->data, .dtype = a->dtype, .dim = a->shape[a->ndim - 1] };
    take_dim(&v->batch, &v->batch_stride, a, batch);
    take_dim(&v->tokens, &v->token_stride, a, tokens);
    take_dim(&v->heads, &v->head_stride, a, heads);
}

int view_of(pe_view *out, const array *a, layout order, const char *name)
{
    int n = a->ndim;
    if (n < 2 || n > 4)
        return refuse(PE_ERR_SHAPE, "%s has %d dimensions; needs %s", name, n,
                      order == LAYOUT_BTHD ? "(batch, tokens, heads, dim), (tokens, heads, dim) or (tokens, dim)"
                                           : "(batch, heads, tokens, dim), (heads, tokens, dim) or (tokens, dim)");
    int swapped = order == LAYOUT_BHTD && n > 2;
    take_view(out, a, n - 4, n == 2 ? 0 : n - 3 + swapped, n == 2 ? -1 : n - 2 - swapped);
    return check_last(a, name);
}

int view_of_scores(pe_view *out, const array *a, const char *name)
{
    int n = a->ndim;
    if (n < 2 || n > 4)
        return refuse(PE_ERR_SHAPE,
                      "%s has %d dimensions; needs (batch, heads, queries, keys), (heads, queries, keys) or (queries, "
                      "keys), where batch, heads and queries may be 1",
                      name, n);
    take_view(out, a, n - 4, n - 2, n - 3 < 0 ? -1 : n - 3);
    return check_last(a, name);
}

int view_of_rows(pe_view *out, const array *a, const char *name)
{
    int n = a->ndim;
    if (n < 2 || n > 3)
        return refuse(PE_ERR_SHAPE, "%s has %d dimensions; needs (batch, tokens, width) or (tokens, width)", name, n);
    take_view(out, a, n - 3, n - 2, -1);
    return check_last(a, name);
}

int view_of_numbers(pe_view *out, const array *a, layout order, const char *name)
{
    int n = a->ndim, swapped = order == LAYOUT_BHTD;
    if (n < 2 || n > 3)
        return refuse(PE_ERR_SHAPE, "%s has %d dimensions; needs %s", name, n,
                      swapped ? "(batch, heads, tokens) or (heads, tokens)"
                              : "(batch, tokens, heads) or (tokens, heads)");
    *out = (pe_view){ .data = a->data, .dtype = a->dtype, .dim = 1 };
    take_dim(&out->batch, &out->batch_stride, a, n - 3);
    take_dim(&out->tokens, &out->token_stride, a, n - 2 + swapped);
    take_dim(&out->heads, &out->head_stride, a, n - 1 - swapped);
    return 0;
}

int view_shape(int64_t *shape, const pe_view *v, layout order, int ndim)
{
    bool swapped = order == LAYOUT_BHTD;
    int64_t all[4] = { v->batch, swapped ? v->heads : v->tokens, swapped ? v->tokens : v->heads, v->dim };
    if (ndim == 2)
        memcpy(shape, (int64_t[]){ v->tokens, v->dim }, 2 * sizeof *shape);
    else
        memcpy(shape, all + 4 - ndim, (size_t)ndim * sizeof *shape);
    return ndim;
}

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

/* ---------------------------------------------------------------- positions and parameters */

static bool position_type(pe_dtype t)
{
    return t == PE_I64 || t == PE_I32 || t == PE_F64;
}

/* Any array or list of numbers, as it is where posenc reads its type; else as int64, or as float64 where it has
 * fractions. */
static int get_positions(array *held, PyObject *object, const char *name)
{
    bool is_array = PyObject_CheckBuffer(object) || PyObject_HasAttrString(object, "__dlpack__");
    if (is_array && !array_get(held, object, name)) {
        if (position_type(held->dtype))
            return 0;
        if (held->device) {
            refuse(PE_ERR_DTYPE, "%s lies on a GPU as %s; needs int64, int32 or float64 there", name,
                   dtype_name(held->dtype));
            array_free(held);
            return -1;
        }
        array_free(held);
    }
    PyErr_Clear();
    if (!array_get_as(held, object, name, PE_I64))
        return 0;
    PyErr_Clear();
    return array_get_as(held, object, name, PE_F64);
}

static int check_positions(const array *a, const char *name, int64_t batch, int64_t tokens, int64_t axes)
{
    int rows = axes > 1 ? 2 : 1, n = a->ndim;
    const int64_t *s = a->shape;
    bool by_axis = axes > 1 || n == 3;
    bool fits = by_axis ? (n == 2 || n == 3) && s[n - 1] == axes && s[n - 2] == tokens
                        : (n == 1 || n == 2) && s[n - 1] == tokens;
    bool batched = n == rows + 1 || n == 3;
    if (fits && (!batched || s[0] == batch || s[0] == 1))
        return 0;
    return refuse(PE_ERR_SHAPE,
                  axes > 1
                      ? "%s has %d dimensions, the first of %lld; needs (tokens, axes) or (batch, tokens, axes): "
                        "%lld sequences of %lld tokens, %lld axes"
                      : "%s has %d dimensions, the first of %lld; needs (tokens) or (batch, tokens): %lld sequences "
                        "of %lld tokens, %lld axis",
                  name, n, n ? (long long)s[0] : 1, (long long)batch, (long long)tokens, (long long)axes);
}

static int take_positions(pe_positions *out, array *held, PyObject *object, const char *name)
{
    if (get_positions(held, object, name) || check_positions(held, name, out->batch, out->tokens, out->axes))
        return -1;
    bool by_axis = out->axes > 1 || held->ndim == 3;
    int token = held->ndim - 1 - by_axis;
    out->data = held->data;
    out->dtype = held->dtype;
    out->token_stride = held->stride[token];
    out->axis_stride = by_axis ? held->stride[token + 1] : 1;
    out->batch_stride = token && held->shape[0] > 1 ? held->stride[0] : 0;
    return 0;
}

static int take_starts(pe_positions *out, array *held, PyObject *object, const char *name)
{
    if (get_positions(held, object, name))
        return -1;
    if (held->ndim != 1 || held->shape[0] != out->batch)
        return refuse(
            PE_ERR_SHAPE,
            "%s has %d dimensions, the first of %lld; needs a whole number, or a number for each of %lld sequences",
            name, held->ndim, held->ndim ? (long long)held->shape[0] : 1, (long long)out->batch);
    out->data = held->data;
    out->dtype = held->dtype;
    out->batch_stride = held->stride[0];
    out->step = 1;
    return 0;
}

bool is_number(PyObject *object)
{
    if (PyLong_Check(object))
        return true;
    bool sized = PyIndex_Check(object) && PyObject_Size(object) >= 0;
    PyErr_Clear();
    return PyIndex_Check(object) && !sized;
}

int positions_of(pe_positions *out, array *held, PyObject *positions, PyObject *start, const char *name, int64_t batch,
                 int64_t tokens, int64_t axes, int64_t first)
{
    *out = (pe_positions){ .batch = batch, .tokens = tokens, .axes = axes };
    *held = (array){ 0 };
    if (positions && start)
        return refuse(PE_ERR_POSITION, "%s and its start are both given; needs one of them", name);
    if (positions)
        return take_positions(out, held, positions, name);
    if (start && !is_number(start))
        return take_starts(out, held, start, "start");
    *out = pe_positions_run(batch, tokens, first);
    out->axes = axes;
    return read_int(&out->start, start, "start");
}

int table_positions(pe_positions *out, array *held, PyObject *object, int64_t axes, bool *batched)
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

int params_of(pe_params *out, array *held, PyObject *object, const char *name)
{
    *held = (array){ 0 };
    if (!object)
        return 0;
    if (array_get(held, object, name))
        return -1;
    if (held->ndim != 1 || (held->shape[0] > 1 && held->stride[0] != 1))
        return refuse(PE_ERR_SHAPE, "%s has %d dimensions; needs one, contiguous", name, held->ndim);
    *out = (pe_params){ held->data, held->dtype, held->shape[0] };
    return 0;
}

/* ---------------------------------------------------------------- threads */

static pe_pool *pool;
static atomic_flag pool_taken = ATOMIC_FLAG_INIT;
static int pool_workers; /* 0: as many as CPUs; made at the first use */

const pe_pool *pool_borrow(double work)
{
    if (work < 1 << 18 || pool_workers == 1 || atomic_flag_test_and_set(&pool_taken))
        return NULL;
    if (!pool)
        pe_pool_new(&pool, pool_workers, NULL); /* without one the calling thread does the work */
    if (!pool)
        atomic_flag_clear(&pool_taken);
    return pool;
}

void pool_return(const pe_pool *borrowed)
{
    if (borrowed)
        atomic_flag_clear(&pool_taken);
}

PyObject *set_threads(PyObject *self, PyObject *count)
{
    int64_t n = 0;
    (void)self;
    if (read_int(&n, count, "threads"))
        return NULL;
    if (n < 0 || n > 4096)
        return refuse(PE_ERR_RANGE, "threads is %lld; needs 0 (one per CPU) to 4096", (long long)n), NULL;
    while (atomic_flag_test_and_set(&pool_taken)) { /* a call is using it */
        WITHOUT_LOCK((void)0);
        if (PyErr_CheckSignals())
            return NULL;
    }
    pe_pool_free(pool);
    pool = NULL;
    pool_workers = (int)n;
    atomic_flag_clear(&pool_taken);
    Py_RETURN_NONE;
}

PyObject *get_threads(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    return PyLong_FromLong(pool_workers);
}
