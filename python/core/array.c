/* SPDX-License-Identifier: MIT */
#include "core.h"
#include "dlpack.h"

#include <string.h>

static PyObject *numpy_empty, *numpy_asarray, *numpy_casting, *numpy_ndarray, *name_dtype, *name_name, *name_exchange,
    *name_requires_grad, *name_is_neg, *name_version;
static PyObject *numpy_types[PE_BOOL + 1]; /* by pe_dtype; NULL: NumPy has none */

const char *dtype_name(pe_dtype t)
{
    static const char *const names[] = { "float32", "float16", "bfloat16", "float64", "q8_0",
                                         "q4_0",    "int64",   "int32",    "bool" };
    return t == DTYPE_U8 ? "uint8" : (unsigned)t <= PE_BOOL ? names[t] : "unknown";
}

/* The type as its own library calls it. */
static int refuse_type(const char *name, PyObject *object)
{
    PyObject *type = object ? PyObject_GetAttr(object, name_dtype) : NULL, *text = type ? PyObject_Str(type) : NULL;
    const char *word = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    PyErr_Clear();
    refuse(
        PE_ERR_DTYPE,
        "%s has elements of type %s; needs float32, float16, bfloat16 or float64 (positions: int64, int32 or float64; "
        "masks: bool)",
        name, word ? word : "unknown");
    Py_XDECREF(text);
    Py_XDECREF(type);
    return -1;
}

/* ---------------------------------------------------------------- buffers: NumPy and whoever else has them */

static int type_of_format(const char *format, Py_ssize_t size, pe_dtype *out)
{
    if (*format == '@' || *format == '=' || *format == '<' || *format == '|')
        format++;
    if (!format[0] || format[1])
        return -1;
    switch (*format) {
    case 'f': *out = PE_F32; return 0;
    case 'd': *out = PE_F64; return 0;
    case 'e': *out = PE_F16; return 0;
    case '?': *out = PE_BOOL; return 0;
    case 'B': *out = DTYPE_U8; return 0;
    case 'i':
    case 'l':
    case 'q':
    case 'n': *out = size == 8 ? PE_I64 : PE_I32; return size == 8 || size == 4 ? 0 : -1;
    default: return -1;
    }
}

static int buffer_dims(array *out, const char *name)
{
    const Py_buffer *b = &out->buffer;
    if (b->ndim > ARRAY_DIMS)
        return refuse(PE_ERR_SHAPE, "%s has %d dimensions; needs %d or fewer", name, b->ndim, ARRAY_DIMS);
    out->data = b->buf;
    out->ndim = b->ndim;
    out->writable = !b->readonly;
    for (int i = 0; i < b->ndim; i++) {
        if (b->strides[i] % b->itemsize)
            return refuse(PE_ERR_ALIGN, "%s has a stride of %zd bytes; needs whole elements of %zd bytes", name,
                          b->strides[i], b->itemsize);
        out->shape[i] = b->shape[i];
        out->stride[i] = b->strides[i] / b->itemsize;
    }
    return 0;
}

static int get_buffer(array *out, PyObject *object, const char *name)
{
    if (PyObject_GetBuffer(object, &out->buffer, PyBUF_STRIDED_RO | PyBUF_FORMAT))
        return -1;
    const char *format = out->buffer.format ? out->buffer.format : "B";
    if (type_of_format(format, out->buffer.itemsize, &out->dtype))
        return refuse_type(name, object);
    return buffer_dims(out, name);
}

/* ml_dtypes' bfloat16 has no buffer format: the same memory, seen as uint16, has. */
static int get_bfloat16(array *out, PyObject *object, const char *name)
{
    PyObject *type = PyObject_GetAttr(object, name_dtype), *text = type ? PyObject_GetAttr(type, name_name) : NULL;
    bool is = text && PyUnicode_Check(text) && PyUnicode_CompareWithASCIIString(text, "bfloat16") == 0;
    Py_XDECREF(type);
    Py_XDECREF(text);
    if (!is)
        return refuse_type(name, object);
    out->kept = PyObject_CallMethod(object, "view", "s", "uint16");
    if (!out->kept || PyObject_GetBuffer(out->kept, &out->buffer, PyBUF_STRIDED_RO))
        return -1;
    out->dtype = PE_BF16;
    return buffer_dims(out, name);
}

/* ---------------------------------------------------------------- DLPack: PyTorch and others */

static int type_of_dlpack(dl_type type, pe_dtype *out)
{
    static const struct {
        uint8_t code, bits;
        pe_dtype type;
    } known[] = { { DL_FLOAT, 32, PE_F32 }, { DL_FLOAT, 16, PE_F16 }, { DL_BFLOAT, 16, PE_BF16 },
                  { DL_FLOAT, 64, PE_F64 }, { DL_INT, 64, PE_I64 },   { DL_INT, 32, PE_I32 },
                  { DL_BOOL, 8, PE_BOOL },  { DL_UINT, 8, DTYPE_U8 } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (type.code == known[i].code && type.bits == known[i].bits && type.lanes == 1) {
            *out = known[i].type;
            return 0;
        }
    return -1;
}

static int take_tensor(array *out, const dl_tensor *t, const char *name)
{
    if (t->device_type != DL_CPU && t->device_type != DL_CUDA)
        return refuse(PE_ERR_UNSUITED,
                      "%s lies on another device (DLPack type %d); needs memory of the CPU or of a CUDA device", name,
                      (int)t->device_type);
    out->device = t->device_type == DL_CUDA ? t->device_id + 1 : 0;
    if (type_of_dlpack(t->type, &out->dtype))
        return refuse_type(name, out->object);
    if (t->ndim < 0 || t->ndim > ARRAY_DIMS)
        return refuse(PE_ERR_SHAPE, "%s has %d dimensions; needs %d or fewer", name, (int)t->ndim, ARRAY_DIMS);
    static double none[8]; /* of an empty tensor, whose memory may be NULL */
    out->data = t->data ? (char *)t->data + t->byte_offset : (char *)none;
    out->ndim = t->ndim;
    out->writable = true;
    int64_t next = 1;
    for (int i = t->ndim - 1; i >= 0; i--) {
        out->shape[i] = t->shape[i];
        out->stride[i] = t->strides ? t->strides[i] : next;
        next *= t->shape[i];
    }
    return 0;
}

/* The exchange of a type, or NULL. Types that have one are kept, so that no other gets their address. */
static const exchange *find_exchange(PyTypeObject *type)
{
#ifndef Py_GIL_DISABLED
    static struct {
        PyTypeObject *type;
        const exchange *found;
    } known[8];
    static int count;
    for (int i = 0; i < count; i++)
        if (known[i].type == type)
            return known[i].found;
#endif
    PyObject *capsule = PyObject_GetAttr((PyObject *)type, name_exchange);
    const exchange *found = capsule ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
    Py_XDECREF(capsule);
    PyErr_Clear();
    while (found && found->major > 1)
        found = found->older;
    if (found && !found->describe)
        found = NULL;
#ifndef Py_GIL_DISABLED
    if (found && count < 8) {
        Py_INCREF((PyObject *)type);
        known[count].type = type;
        known[count++].found = found;
    }
#endif
    return found;
}

static void free_managed(PyObject *capsule)
{
    PyObject *type, *value, *trace; /* an error of the call that the array was for */
    PyErr_Fetch(&type, &value, &trace);
    dl_managed *m = PyCapsule_GetPointer(capsule, "used_dltensor");
    if (m && m->deleter)
        m->deleter(m);
    PyErr_Restore(type, value, trace);
}

static void free_versioned(PyObject *capsule)
{
    PyObject *type, *value, *trace; /* an error of the call that the array was for */
    PyErr_Fetch(&type, &value, &trace);
    dl_versioned *m = PyCapsule_GetPointer(capsule, "used_dltensor_versioned");
    if (m && m->deleter)
        m->deleter(m);
    PyErr_Restore(type, value, trace);
}

/* The capsule is ours once it is renamed; it is freed with the array. */
static int take_capsule(array *out, PyObject *capsule, const char *name)
{
    out->kept = capsule;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        dl_versioned *m = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        if (m->major != 1)
            return refuse(PE_ERR_UNSUITED, "%s: DLPack %u; needs 1", name, (unsigned)m->major);
        PyCapsule_SetName(capsule, "used_dltensor_versioned");
        PyCapsule_SetDestructor(capsule, free_versioned);
        int failed = take_tensor(out, &m->tensor, name);
        out->writable = !(m->flags & DL_READ_ONLY);
        return failed;
    }
    dl_managed *m = PyCapsule_GetPointer(capsule, "dltensor");
    if (!m)
        return -1;
    PyCapsule_SetName(capsule, "used_dltensor");
    PyCapsule_SetDestructor(capsule, free_managed);
    return take_tensor(out, &m->tensor, name);
}

static int get_dlpack(array *out, PyObject *object, const char *name)
{
    PyObject *method = PyObject_GetAttrString(object, "__dlpack__");
    if (!method) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s is no array: needs one of NumPy, PyTorch or any other with __dlpack__", name);
        return -1;
    }
    PyObject *none = PyTuple_New(0), *options = Py_BuildValue("{s:(ii)}", "max_version", 1, 0);
    PyObject *capsule = none && options ? PyObject_Call(method, none, options) : NULL;
    if (!capsule && PyErr_ExceptionMatches(PyExc_TypeError)) { /* before DLPack 1 */
        PyErr_Clear();
        capsule = PyObject_CallNoArgs(method);
    }
    Py_XDECREF(none);
    Py_XDECREF(options);
    Py_DECREF(method);
    return capsule ? take_capsule(out, capsule, name) : -1;
}

/* ---------------------------------------------------------------- get, make, free */

/* A tensor that requires a gradient while PyTorch records; posenc.torch calls while it does not. */
static bool wants_gradient(PyObject *tensor)
{
    PyObject *flag = PyObject_GetAttr(tensor, name_requires_grad), *torch = NULL, *on = NULL;
    bool wants = flag == Py_True;
    if (wants) {
        torch = PyImport_ImportModule("torch");
        on = torch ? PyObject_CallMethod(torch, "is_grad_enabled", NULL) : NULL;
        wants = on == Py_True;
    }
    PyErr_Clear();
    Py_XDECREF(flag);
    Py_XDECREF(torch);
    Py_XDECREF(on);
    return wants;
}

/* PyTorch's mark on a tensor whose elements are to be read with the other sign: their memory has the wrong one. */
static bool is_negated(PyObject *tensor)
{
    PyObject *flag = PyObject_CallMethodObjArgs(tensor, name_is_neg, NULL);
    bool is = flag == Py_True;
    PyErr_Clear();
    Py_XDECREF(flag);
    return is;
}

/* PyTorch counts the changes of a tensor, so that autograd sees when one that it saved is no longer the same. A tensor
 * of inference mode has no count. */
static int count_change(PyObject *tensor)
{
    PyObject *version = PyObject_GetAttr(tensor, name_version);
    PyObject *graph = version ? PyImport_ImportModule("torch.autograd.graph") : NULL;
    PyObject *done = graph ? PyObject_CallMethod(graph, "increment_version", "O", tensor) : NULL;
    bool failed = version && !done;
    if (!failed)
        PyErr_Clear();
    Py_XDECREF(version);
    Py_XDECREF(graph);
    Py_XDECREF(done);
    return failed ? -1 : 0;
}

static int get_any(array *out, PyObject *object, const char *name)
{
    bool plain = (PyObject *)Py_TYPE(object) == numpy_ndarray;
    const exchange *maker = plain ? NULL : find_exchange(Py_TYPE(object));
    if (maker) {
        dl_tensor t;
        if (wants_gradient(object))
            return refuse(PE_ERR_UNSUITED,
                          "%s requires a gradient, which is lost here; use posenc.torch, or %s.detach()", name, name);
        if (is_negated(object))
            return refuse(PE_ERR_UNSUITED, "%s has PyTorch's negative bit; needs %s.resolve_neg()", name, name);
        if (maker->describe(object, &t))
            return -1;
        out->maker = maker;
        return take_tensor(out, &t, name);
    }
    if (!PyObject_CheckBuffer(object))
        return get_dlpack(out, object, name);
    if (!get_buffer(out, object, name))
        return 0;
    if (out->buffer.obj || !PyObject_HasAttrString(object, "dtype"))
        return -1;
    PyErr_Clear();
    return get_bfloat16(out, object, name);
}

int array_get(array *out, PyObject *object, const char *name)
{
    *out = (array){ 0 };
    if (!object || object == Py_None)
        return 0;
    out->object = object;
    if (!get_any(out, object, name))
        return 0;
    array_free(out);
    return -1;
}

int array_get_out(array *out, PyObject *object, const char *name)
{
    return array_get(out, object, name) || array_writes(out, name);
}

int array_writes(const array *a, const char *name)
{
    if (!a->object || a->writable)
        return a->maker ? count_change(a->object) : 0;
    return refuse(PE_ERR_ALIAS, "%s is read-only; needs an array that can be written", name);
}

static bool is_contiguous(const array *a)
{
    int64_t next = 1;
    for (int i = a->ndim - 1; i >= 0; i--) {
        if (a->shape[i] > 1 && a->stride[i] != next)
            return false;
        next *= a->shape[i];
    }
    return true;
}

/* By NumPy, without losing fractions: a float does not become a whole number. */
static PyObject *convert(PyObject *object, pe_dtype type)
{
    PyObject *from = PyObject_CallFunctionObjArgs(numpy_asarray, object, NULL);
    PyObject *method = from ? PyObject_GetAttrString(from, "astype") : NULL;
    PyObject *args = method ? PyTuple_Pack(1, numpy_types[type]) : NULL;
    PyObject *made = args ? PyObject_Call(method, args, numpy_casting) : NULL;
    Py_XDECREF(from);
    Py_XDECREF(method);
    Py_XDECREF(args);
    return made;
}

int array_get_as(array *out, PyObject *object, const char *name, pe_dtype type)
{
    bool is_array = PyObject_HasAttrString(object, "__dlpack__") || PyObject_CheckBuffer(object);
    if (is_array && !array_get(out, object, name)) {
        if (out->dtype == type && is_contiguous(out))
            return 0;
        if (out->device) {
            if (type == PE_F64) /* a table or a bias at positions */
                arrays_on_cpu(&(named_array){ out, name }, 1);
            else
                refuse(PE_ERR_DTYPE, "%s lies on a GPU as %s%s; needs %s there, contiguous", name,
                       dtype_name(out->dtype), is_contiguous(out) ? "" : " with gaps", dtype_name(type));
            array_free(out);
            return -1;
        }
        array_free(out);
    }
    PyErr_Clear();
    *out = (array){ 0 };
    PyObject *made = convert(object, type);
    if (!made || array_get(out, made, name)) {
        Py_XDECREF(made);
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s is a %R; needs %s, or an array or list of them", name, Py_TYPE(object),
                     type == PE_F64 ? "a number" : "a whole number");
        return -1;
    }
    out->kept = made;
    return 0;
}

static void keep_message(void *context, const char *kind, const char *message)
{
    (void)context;
    (void)kind;
    refuse(PE_ERR_NOMEM, "no new tensor: %s", message);
}

static int new_tensor(array *out, const array *beside, dl_type type, int ndim, const int64_t *shape)
{
    const exchange *maker = beside->maker;
    int64_t size[ARRAY_DIMS], stride[ARRAY_DIMS], next = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        size[i] = shape[i];
        stride[i] = next;
        next *= shape[i];
    }
    dl_tensor like = { .device_type = beside->device ? DL_CUDA : DL_CPU,
                       .device_id = beside->device ? beside->device - 1 : 0,
                       .ndim = ndim,
                       .type = type,
                       .shape = size,
                       .strides = stride };
    dl_versioned *made;
    void *object;
    if (maker->allocate(&like, &made, NULL, keep_message))
        return PyErr_Occurred() ? -1 : refuse(PE_ERR_NOMEM, "no new tensor");
    dl_tensor t = made->tensor;
    int failed = take_tensor(out, &t, "a new tensor"); /* its sizes, before they are handed over */
    if (maker->to_object(made, &object))
        return -1;
    out->kept = object;
    return failed;
}

static dl_type dlpack_type(pe_dtype t)
{
    static const dl_type types[] = { [PE_F32] = { DL_FLOAT, 32, 1 },
                                     [PE_F16] = { DL_FLOAT, 16, 1 },
                                     [PE_BF16] = { DL_BFLOAT, 16, 1 },
                                     [PE_F64] = { DL_FLOAT, 64, 1 },
                                     [PE_I64] = { DL_INT, 64, 1 } };
    return t == DTYPE_U8 ? (dl_type){ DL_UINT, 8, 1 } : types[t];
}

static PyObject *bfloat16_type(void)
{
    PyObject *module = PyImport_ImportModule("ml_dtypes");
    PyObject *type = module ? PyObject_GetAttrString(module, "bfloat16") : NULL;
    Py_XDECREF(module);
    if (!type) {
        PyErr_Clear();
        refuse(PE_ERR_DTYPE, "dtype is bfloat16, which NumPy has from the package ml_dtypes; install it");
    }
    return type;
}

static int new_numpy(array *out, const array *like, pe_dtype dtype, int ndim, const int64_t *shape)
{
    PyObject *type = NULL, *sizes = PyTuple_New(ndim);
    for (int i = 0; sizes && i < ndim; i++)
        PyTuple_SetItem(sizes, i, PyLong_FromLongLong(shape[i]));
    if (dtype == PE_BF16)
        type = like->object ? PyObject_GetAttr(like->object, name_dtype) : bfloat16_type();
    else if ((type = numpy_types[dtype]))
        Py_INCREF(type);
    PyObject *made = sizes && type ? PyObject_CallFunctionObjArgs(numpy_empty, sizes, type, NULL) : NULL;
    Py_XDECREF(sizes);
    Py_XDECREF(type);
    if (!made || array_get(out, made, "a new array")) {
        Py_XDECREF(made);
        return -1;
    }
    Py_XDECREF(out->kept); /* bfloat16's uint16 view; its buffer keeps the memory */
    out->kept = made;
    return 0;
}

int array_new(array *out, const array *like, pe_dtype dtype, int ndim, const int64_t *shape)
{
    *out = (array){ 0 };
    if (like->device && !like->maker)
        return refuse(PE_ERR_UNSUITED, "the arrays are on a GPU and of a library that makes no new ones for others; "
                                       "needs arrays to write to (out and, for attention, work)");
    if (dtype > PE_F64 && dtype != PE_I64 && !(dtype == DTYPE_U8 && like->maker))
        return refuse_type("the array", like->object);
    int failed =
        like->maker ? new_tensor(out, like, dlpack_type(dtype), ndim, shape) : new_numpy(out, like, dtype, ndim, shape);
    if (failed)
        array_free(out);
    else
        out->object = out->kept;
    return failed;
}

/* ---------------------------------------------------------------- where arrays lie */

static const char *place_name(int device, char *room, size_t size)
{
    PyOS_snprintf(room, size, "CUDA device %d", device - 1);
    return device ? room : "the CPU";
}

int arrays_together(const named_array *all, int count)
{
    const named_array *first = NULL;
    char here[40], there[40];
    for (int i = 0; i < count; i++) {
        if (!all[i].a->object)
            continue;
        if (!first)
            first = &all[i];
        if (all[i].a->device != first->a->device)
            return refuse(PE_ERR_UNSUITED, "%s lies on %s and %s on %s; all arrays of a call must be on one device",
                          first->name, place_name(first->a->device, here, sizeof here), all[i].name,
                          place_name(all[i].a->device, there, sizeof there));
    }
    return 0;
}

int arrays_on_cpu(const named_array *all, int count)
{
    char there[40];
    for (int i = 0; i < count; i++)
        if (all[i].a->object && all[i].a->device)
            return refuse(PE_ERR_UNSUITED, "%s lies on %s, where this call is not there yet; needs memory of the CPU",
                          all[i].name, place_name(all[i].a->device, there, sizeof there));
    return 0;
}

int array_stream(void **out, const array *like, PyObject *value)
{
    *out = NULL;
    if (value) {
        *out = PyLong_AsVoidPtr(value);
        return PyErr_Occurred() ? -1 : 0;
    }
    if (like->device && like->maker && like->maker->current_stream &&
        like->maker->current_stream(DL_CUDA, like->device - 1, out))
        return PyErr_Occurred() ? -1 : refuse(PE_ERR_DEVICE, "no current stream of CUDA device %d", like->device - 1);
    return 0;
}

PyObject *array_take(array *a)
{
    PyObject *object = a->kept;
    a->kept = NULL;
    array_free(a);
    return object;
}

void array_free(array *a)
{
    if (a->buffer.obj)
        PyBuffer_Release(&a->buffer);
    Py_XDECREF(a->kept);
    *a = (array){ 0 };
}

int arrays_init(void)
{
    static const char *const names[] = { "float32", "float16", NULL, "float64", NULL, NULL, "int64", "int32", "bool_" };
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (!numpy)
        return -1;
    for (int t = 0; t <= PE_BOOL; t++) {
        PyObject *type = names[t] ? PyObject_GetAttrString(numpy, names[t]) : NULL;
        numpy_types[t] = type ? PyObject_CallMethod(numpy, "dtype", "O", type) : NULL;
        Py_XDECREF(type);
        if (names[t] && !numpy_types[t])
            return -1;
    }
    numpy_empty = PyObject_GetAttrString(numpy, "empty");
    numpy_asarray = PyObject_GetAttrString(numpy, "asarray");
    numpy_casting = Py_BuildValue("{s:s,s:s}", "casting", "same_kind", "order", "C");
    numpy_ndarray = PyObject_GetAttrString(numpy, "ndarray");
    name_dtype = PyUnicode_InternFromString("dtype");
    name_name = PyUnicode_InternFromString("name");
    name_exchange = PyUnicode_InternFromString("__dlpack_c_exchange_api__");
    name_requires_grad = PyUnicode_InternFromString("requires_grad");
    name_is_neg = PyUnicode_InternFromString("is_neg");
    name_version = PyUnicode_InternFromString("_version");
    Py_DECREF(numpy);
    return numpy_empty && numpy_asarray && numpy_casting && numpy_ndarray && name_dtype && name_name && name_exchange &&
                   name_requires_grad && name_is_neg && name_version
               ? 0
               : -1;
}
