/* SPDX-License-Identifier: MIT
 *
 * posenc._core, the Python module: arrays of NumPy, PyTorch and others in, calls of posenc.h, arrays out. Written
 * against the limited API of Python 3.11, so one build works with all later versions; free-threaded Pythons need their
 * own.
 *
 *   array.c      an array of the caller, where it lies: buffers, DLPack, DLPack's C exchange API; new arrays
 *   call.c       arguments by keyword, positions, views, threads, errors
 *   encoding.c   the type Encoding, and what an encoding says of itself
 *   method.c     what one call of a method holds
 *   rotate.c     rotations, their tables, caches
 *   embed.c      codes that are added to embeddings, biases
 *   attention.c  attention, its gradients, scores
 *   cuda.c       calls on a GPU
 *   module.c     the module
 *
 * The interpreter lock is released while the library works. Static variables are written by PyInit__core alone, except
 * the thread pool (call.c), the list of tensor types (array.c), the devices and the path of their compiler (cuda.c).
 */
#ifndef POSENC_PYTHON_CORE_H
#define POSENC_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN /* Py_LIMITED_API comes from the build (cmake/python.cmake) */
#include <Python.h>

#include "posenc.h"

/* ---------------------------------------------------------------- errors (call.c) */

extern PyObject *error_type;
/* Each sets a Python exception and returns NULL or -1. */
PyObject *raise_error(const pe_error *err);
int refuse(pe_status status, const char *format, ...);
/* Takes the item; without one, or without memory, the list becomes NULL. */
void list_add(PyObject **list, PyObject *item);

/* ---------------------------------------------------------------- arrays (array.c) */

#define ARRAY_DIMS 6
#define DTYPE_U8 ((pe_dtype)100) /* beside those of pe_dtype */

struct exchange;

/* Memory of a Python object. No copy is made; array_free gives it back. */
typedef struct array {
    PyObject *object; /* what the caller gave, borrowed; NULL: none                               */
    void *data;
    int device; /* 0: the CPU; n + 1: CUDA's device n                                       */
    pe_dtype dtype;
    int ndim;
    int64_t shape[ARRAY_DIMS];
    int64_t stride[ARRAY_DIMS]; /* in elements                                                              */
    bool writable;
    PyObject *kept;               /* owned: keeps the memory alive                                            */
    Py_buffer buffer;             /* buffer.obj NULL: none                                                    */
    const struct exchange *maker; /* of a tensor whose library makes new ones; NULL: NumPy does               */
} array;

/* name is the argument's, for errors. None leaves *out zero. Both return -1 with an exception. */
int array_get(array *out, PyObject *object, const char *name);
/* The same for an output: the array must be writable, which array_writes checks. */
int array_get_out(array *out, PyObject *object, const char *name);
int array_writes(const array *a, const char *name);
/* As array_get; NumPy makes a contiguous copy as int64, int32 or float64 where it is of another type, a list, or has
 * gaps. */
int array_get_as(array *out, PyObject *object, const char *name, pe_dtype type);
/* A new contiguous array of the same library as `like`; kept is the new object, which array_take hands over. */
int array_new(array *out, const array *like, pe_dtype dtype, int ndim, const int64_t *shape);
PyObject *array_take(array *a);
void array_free(array *a);
const char *dtype_name(pe_dtype t);
/* Arrays of one call with their names: all must lie where the first of them does. An array without an object does not
 * count. */
typedef struct named_array {
    const array *a;
    const char *name;
} named_array;
int arrays_together(const named_array *all, int count);
int arrays_on_cpu(const named_array *all, int count); /* the same, and that is the CPU */
/* The stream that a call uses: value, a number; where it is NULL, the current one of the library that `like` is of. */
int array_stream(void **out, const array *like, PyObject *value);
int arrays_init(void);

/* ---------------------------------------------------------------- arguments (call.c) */

#define ARGUMENTS_MAX 56
typedef struct arguments {
    const char *function;
    int positional, required;
    const char *names[ARGUMENTS_MAX];
    PyObject *interned[ARGUMENTS_MAX];
} arguments;
/* value gets borrowed references; NULL where an argument is not given or is None. */
int arguments_init(arguments *table); /* once, for every table */
int arguments_read(arguments *table, PyObject **value, PyObject *const *args, Py_ssize_t count, PyObject *names);

int read_int(int64_t *out, PyObject *value, const char *name); /* these leave *out as it is where value is NULL */
int read_double(double *out, PyObject *value, const char *name);
int read_flag(bool *out, PyObject *value);
int read_choice(int *out, PyObject *value, const char *name, const char *const *choices);

/* Which dimension of an array is the tokens' and which is the heads'. */
typedef enum layout { LAYOUT_BTHD, LAYOUT_BHTD } layout;
int read_layout(layout *out, PyObject *value);

/* (batch, tokens, heads, dim), (tokens, heads, dim) or (tokens, dim), tokens and heads swapped in the other layout. */
int view_of(pe_view *out, const array *a, layout order, const char *name);
/* (batch, heads, tokens, keys), without the first or the first two; of any layout: a matrix per head. */
int view_of_scores(pe_view *out, const array *a, const char *name);
/* (batch, width...) without heads: a view with one head. */
int view_of_rows(pe_view *out, const array *a, const char *name);
/* (batch, tokens, heads), (tokens, heads): one element per token and head. */
int view_of_numbers(pe_view *out, const array *a, layout order, const char *name);
/* The shape of a new array with the view's sizes in this order and as many dimensions as ndim. */
int view_shape(int64_t *shape, const pe_view *v, layout order, int ndim);
/* Bytes of blocks, q8_0 or q4_0, become a view of their elements. */
int view_of_blocks(pe_view *v, const array *a, const char *type, const char *name);

/* A number, which is not an array of one. */
bool is_number(PyObject *object);
/* positions: an array; start: a number or one per sequence. Both NULL: from `first` on. held is freed by the caller. */
int positions_of(pe_positions *out, array *held, PyObject *positions, PyObject *start, const char *name, int64_t batch,
                 int64_t tokens, int64_t axes, int64_t first);
/* An array that says itself how many there are, or a number n, which stands for positions 0 to n - 1. */
int table_positions(pe_positions *out, array *held, PyObject *object, int64_t axes, bool *batched);
/* A flat array of parameters; NULL leaves *out as it is. */
int params_of(pe_params *out, array *held, PyObject *object, const char *name);

/* The pool of the process where this much work (in multiplications) is worth waking it and no other call has it; else
 * NULL. Give it back. */
const pe_pool *pool_borrow(double work);
void pool_return(const pe_pool *pool);
PyObject *set_threads(PyObject *self, PyObject *count);
PyObject *get_threads(PyObject *self, PyObject *unused);

/* ---------------------------------------------------------------- the type (encoding.c) */

typedef struct kept_plan kept_plan;
typedef struct gpu_plan gpu_plan;

typedef struct encoding_object {
    PyObject_HEAD pe_encoding *e;
    float *params; /* float32 block of the learned parameters; NULL: none                            */
    int64_t param_count;
    void *work; /* of the last attention; taken out while a call uses it                          */
    size_t work_bytes;
    kept_plan *plans;        /* tables by distance, the last used first                                        */
    gpu_plan *gpu_plans;     /* of every device and distance that was needed                                   */
    PyThread_type_lock lock; /* of work and plans; held for a moment, or while a GPU's plan is made            */
} encoding_object;

extern PyTypeObject *encoding_type;
pe_params encoding_params(const encoding_object *self);
void plans_drop(kept_plan *plans);
int encoding_init_type(PyObject *module);
/* Each interns the names of its arguments. */
int rotate_init(void);
int embed_init(void);
int attention_init(void);

#define ENCODING_METHOD(name)                                                                                          \
    PyObject *encoding_##name(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
ENCODING_METHOD(rotate);
ENCODING_METHOD(unrotate);
ENCODING_METHOD(rotate_back);
ENCODING_METHOD(rotate_qk);
ENCODING_METHOD(rotate_grad);
ENCODING_METHOD(table);
ENCODING_METHOD(shift);
ENCODING_METHOD(rebase);
ENCODING_METHOD(embed);
ENCODING_METHOD(embed_back);
ENCODING_METHOD(bias);
ENCODING_METHOD(attention);
ENCODING_METHOD(attention_backward);

extern const char *const float_names[]; /* what the argument dtype may be, in the order of pe_dtype */

/* ---------------------------------------------------------------- one call of a method (method.c) */

#define HELD_MAX 6 /* the most that a method below has */

/* Its arguments, and every array that it uses, which method_close frees. */
typedef struct method_call {
    encoding_object *self;
    arguments *table;
    PyObject *v[ARGUMENTS_MAX]; /* the arguments, in the table's order */
    layout order;
    pe_run run; /* with the encoding's own parameters */
    pe_status failed; /* of the library's call, with err */
    pe_error err;
    PyObject *result[2]; /* borrowed; the second NULL: no pair; both NULL: an exception is set */
    array held[HELD_MAX];
    named_array all[HELD_MAX]; /* the same with their names */
    int count;
} method_call;

/* All return -1 or NULL with an exception. Argument `at` is named as in the table. Nothing needs to be closed after
 * method_open failed. */
int method_open(method_call *m, PyObject *self, arguments *table, PyObject *const *args, Py_ssize_t count,
                PyObject *names);
array *method_hold(method_call *m, const char *name); /* a place for one more */
array *method_array(method_call *m, int at);
array *method_view(method_call *m, pe_view *out, int at); /* view_of */
/* Argument `at`, which is written to; where it is not given, a new array. */
array *method_out(method_call *m, int at, const array *like, pe_dtype dtype, int ndim, const int64_t *shape);
int method_params(method_call *m, pe_params *out, int at);
int method_dparams(method_call *m, pe_params *out, int at); /* which are added to */
int method_positions(method_call *m, pe_positions *out, PyObject *positions, PyObject *start, const char *name,
                     int64_t batch, int64_t tokens);
PyObject *method_close(method_call *m); /* its result */

#define WITHOUT_LOCK(statement)                                                                                        \
    do {                                                                                                               \
        PyThreadState *without_lock = PyEval_SaveThread();                                                             \
        statement;                                                                                                     \
        PyEval_RestoreThread(without_lock);                                                                            \
    } while (0)

/* ---------------------------------------------------------------- calls on a GPU (cuda.c) */

/* Each finds or makes the device and the plan, and enqueues its work on the stream. device is CUDA's number. They work
 * without the interpreter lock. */
typedef struct gpu_reach {
    int64_t behind, ahead; /* distances between queries and keys that the call may have */
} gpu_reach;
typedef enum rotate_way { ROTATE, ROTATE_INVERSE, ROTATE_BACK } rotate_way;

int gpu_init(void);
PyObject *set_cuda_compiler(PyObject *self, PyObject *path);
void gpu_plans_drop(gpu_plan *plans);
pe_status gpu_rotate(encoding_object *self, int device, rotate_way way, pe_side side, pe_view y, pe_view x,
                     pe_positions at, void *stream, pe_error *err);
pe_status gpu_rotate_qk(encoding_object *self, int device, bool back, const pe_rotation *r, void *stream,
                        pe_error *err);
/* g NULL: forward. */
pe_status gpu_attention_work(encoding_object *self, int device, gpu_reach reach, const pe_attention *a,
                             const pe_attention_grad *g, size_t *bytes, pe_error *err);
pe_status gpu_attention(encoding_object *self, int device, gpu_reach reach, const pe_attention *a,
                        const pe_attention_grad *g, const pe_run *run, void *stream, pe_error *err);

#endif
