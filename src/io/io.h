/* SPDX-License-Identifier: MIT
 *
 * posenc_io: the readers and writers of the tools. Every file is taken to be hostile.
 *
 *     io_safetensors *st;                                      io_array a;
 *     io_safetensors_load(&st, path, &err);                    io_npy_load(&a, "q.npy", 0, &err);
 *     io_safetensors_get(&t, st, "q_in", &err);                io_array_to_f32(&q, &a, &err);
 *     io_tensor_to_f32(&q, t, &err);                           io_array_free(&a);
 *     io_safetensors_free(st);                                 free(q);
 *
 * Rules
 *  - Outputs come first, the pe_error (which may be NULL) last. After a failure the output is empty (NULL, zeroed) and
 *    nothing is left to free. Messages begin with the file's name; control characters in them are replaced.
 *  - PE_ERR_IO: the system refused. PE_ERR_FORMAT: the file is not what it should be. PE_ERR_OVERFLOW: sizes whose
 *    product does not fit. PE_ERR_DTYPE: a type this call does not take. PE_ERR_RANGE: a value the target cannot hold.
 *  - Loading a file of n bytes takes at most 4n + 1 MiB of heap (JSON: 4n + 16 MiB, jansson's tree being larger than
 * the text); a size in a file is compared with the bytes there are before anything is allocated for it. Only the
 * io_*_to_* copies, made on request, may go past that (1 byte to 8).
 *  - Files are read, never mapped: a file that shrinks meanwhile is an error, not a SIGBUS.
 */
#ifndef POSENC_IO_H
#define POSENC_IO_H

#include "posenc.h"

#include <jansson.h>

#if defined __GNUC__
#define IO_PRINTF(text, args) __attribute__((format(printf, text, args)))
#else
#define IO_PRINTF(text, args)
#endif

/* ---------------------------------------------------------------- errors */

/* Fills *err and returns s, so that a check reads: if (bad) return io_fail(err, PE_ERR_FORMAT, "..."); */
pe_status io_fail(pe_error *err, pe_status s, const char *fmt, ...) IO_PRINTF(3, 4);

/* ---------------------------------------------------------------- whole files */

#define IO_CAP_TEXT ((size_t)64 << 20)                            /* JSON */
#define IO_CAP_DATA ((size_t)1 << (sizeof(size_t) > 4 ? 34 : 30)) /* arrays and tensors: 16 GiB; 1 GiB on 32 bit */

typedef struct io_bytes {
    uint8_t *data; /* malloc'ed; data[size] is 0 after io_read_file */
    size_t size;
    const char *name; /* the caller's, for messages */
} io_bytes;

typedef struct io_span {
    const void *data;
    size_t size;
} io_span;

/* Regular files of at most cap bytes; folders, pipes and devices are refused. */
pe_status io_read_file(io_bytes *out, const char *path, size_t cap, pe_error *err);
/* An open pipe, device or file to its end, at most cap bytes. name stands for the path. */
pe_status io_read_stream(io_bytes *out, int fd, const char *name, size_t cap, pe_error *err);
void io_bytes_free(io_bytes *b);
/* Puts the parts, one after the other, at path: all or nothing. A file already there is replaced in one step and keeps
 * its mode, or is left untouched. Links, folders and devices are refused, for the step would replace the link. */
pe_status io_write_file(const char *path, const io_span *parts, int count, pe_error *err);

/* ---------------------------------------------------------------- element types */

typedef enum io_type {
    IO_F32 = 0,
    IO_F64,
    IO_F16,
    IO_BF16,
    IO_I64,
    IO_I32,
    IO_I16,
    IO_I8,
    IO_U64,
    IO_U32,
    IO_U16,
    IO_U8,
    IO_BOOL,
    IO_F8_E4M3,
    IO_F8_E5M2,
    IO_F8_E8M0,
    IO_C64, /* safetensors has them; no converter takes them */
    IO_TYPE_COUNT
} io_type;

#define IO_RANK_MAX 8

const char *io_type_name(io_type t); /* as safetensors spells it: "F32"; "?" if unknown */
size_t io_type_size(io_type t);      /* bytes; 0 if unknown */
io_type io_type_of(pe_dtype t);      /* IO_TYPE_COUNT if unknown */

/* ---------------------------------------------------------------- arrays (.npy) */

/* Row-major, little-endian. data is malloc'ed by the reader; one that only goes to io_npy_save may point anywhere. */
typedef struct io_array {
    void *data;
    io_type type;
    int rank;
    int64_t shape[IO_RANK_MAX];
    int64_t count; /* product of shape; 1 for rank 0 */
} io_array;

/* NumPy has no bfloat16. io_npy_save writes the 16 bits of each element as '<u2'; in Python:
 *     x = (np.load(f).astype(np.uint32) << 16).view(np.float32)
 * With IO_NPY_BF16 the reader takes '<u2' and the '<V2', '|V2' of the ml_dtypes package for bfloat16. Without it V2 is
 * refused and '<u2' is a whole number. */
#define IO_NPY_BF16 1u
#define IO_NPY_HEADER_MAX 320

pe_status io_npy_load(io_array *out, const char *path, unsigned flags, pe_error *err);
pe_status io_npy_parse(io_array *out, const io_bytes *file, unsigned flags, pe_error *err); /* copies the elements */
/* By io_write_file. a->count is checked against the shape. */
pe_status io_npy_save(const char *path, const io_array *a, pe_error *err);
/* The bytes that come before the elements, for a caller with its own stream; *size of header is used. */
pe_status io_npy_header(char header[IO_NPY_HEADER_MAX], size_t *size, const io_array *a, pe_error *err);
void io_array_free(io_array *a); /* zeroed, half-built or freed before: fine */

/* A malloc'ed copy of all elements, the caller's to free; never NULL on success. Refused with PE_ERR_RANGE: a float
 * that is not a whole number or a number past int64 (to i64), a finite number past float32 (to f32), a whole number
 * past 2^53 (to f32, f64). float32 is rounded once. */
pe_status io_array_to_f32(float **out, const io_array *a, pe_error *err);
pe_status io_array_to_f64(double **out, const io_array *a, pe_error *err);
pe_status io_array_to_i64(int64_t **out, const io_array *a, pe_error *err);

/* ---------------------------------------------------------------- tensors (.safetensors) */

typedef struct io_safetensors io_safetensors;

typedef struct io_tensor {
    const char *name;     /* this and bytes live as long as the io_safetensors */
    const uint8_t *bytes; /* little-endian, aligned to nothing; NULL where the file is only open */
    size_t size;
    uint64_t offset; /* of the first byte, in the file */
    io_type type;
    int rank;
    int64_t shape[IO_RANK_MAX];
    int64_t count;
} io_tensor;

pe_status io_safetensors_load(io_safetensors **out, const char *path, pe_error *err);
/* The header alone, for files larger than memory: as strict as load, and no tensor is read before io_tensor_read. */
pe_status io_safetensors_open(io_safetensors **out, const char *path, pe_error *err);
/* Takes file->data over, whatever comes of it: *file is empty afterwards. The header is decoded in place. */
pe_status io_safetensors_parse(io_safetensors **out, io_bytes *file, pe_error *err);
void io_safetensors_free(io_safetensors *st); /* NULL is fine */

size_t io_safetensors_count(const io_safetensors *st);
const io_tensor *io_safetensors_at(const io_safetensors *st, size_t index);       /* by name; NULL past the end */
const io_tensor *io_safetensors_find(const io_safetensors *st, const char *name); /* NULL if absent */
pe_status io_safetensors_get(const io_tensor **out, const io_safetensors *st, const char *name, pe_error *err);
const char *io_safetensors_meta(const io_safetensors *st, const char *key); /* of __metadata__; NULL if absent */
/* A malloc'ed list of all tensors as their bytes follow one another in the file. */
pe_status io_safetensors_order(const io_tensor ***out, const io_safetensors *st, pe_error *err);
/* All that comes before the data in a file with the same tensors, in that order, and the same metadata, in which key is
 * set to value. The data starts at a multiple of 8. */
pe_status io_safetensors_head(io_bytes *out, const io_safetensors *st, const char *key, const char *value,
                              pe_error *err);

/* size bytes of a tensor of st from its byte from on; open or loaded. A file that shrank meanwhile is an error. */
pe_status io_tensor_read(void *out, const io_safetensors *st, const io_tensor *t, size_t from, size_t size,
                         pe_error *err);

pe_status io_tensor_to_f32(float **out, const io_tensor *t, pe_error *err); /* as io_array_to_f32 */
pe_status io_tensor_to_f64(double **out, const io_tensor *t, pe_error *err);
pe_status io_tensor_to_i64(int64_t **out, const io_tensor *t, pe_error *err);

/* ---------------------------------------------------------------- files in pieces */

typedef struct io_file {
    int fd; /* of a regular file */
    uint64_t size;
    const char *name; /* the caller's path, for messages */
} io_file;

pe_status io_file_open(io_file *out, const char *path, pe_error *err);
/* Exactly size bytes that start at byte at: a file that ends before is an error. */
pe_status io_file_read(void *out, const io_file *f, uint64_t at, size_t size, pe_error *err);
void io_file_close(io_file *f); /* twice: fine */

/* The header of an .npy: *out without data, and the byte at which its elements begin. */
pe_status io_npy_open(io_array *out, uint64_t *begin, const io_file *f, unsigned flags, pe_error *err);

/* io_write_file bit by bit: nothing is to be seen at path before the commit, and all of it after. */
typedef struct io_writer io_writer;
pe_status io_writer_open(io_writer **out, const char *path, pe_error *err);
pe_status io_writer_put(io_writer *w, io_span part, pe_error *err);
pe_status io_writer_commit(io_writer *w, pe_error *err); /* w is gone afterwards, whatever comes of it */
void io_writer_abort(io_writer *w);                      /* so it is here; NULL is fine */

/* ---------------------------------------------------------------- JSON */

/* A place in a document. Messages name it by walking up, so a parent has to outlive its children:
 *     config.json: rope_scaling.factor is a string; needs a number */
typedef struct io_node {
    json_t *json;             /* borrowed; NULL: an optional value that is not there */
    const struct io_node *up; /* NULL: the root */
    const char *key;          /* in the object up; NULL: an array element; the root's: the file's name */
    size_t index;             /* in the array up */
} io_node;

typedef enum io_need { IO_REQUIRED = 0, IO_OPTIONAL } io_need; /* null counts as absent */

typedef struct io_int_range {
    int64_t min, max;
} io_int_range;
#define IO_ANY_INT ((io_int_range){ INT64_MIN, INT64_MAX })

#define IO_JSON_NUMBER_MAX 64 /* characters of a number */

/* root->json is owned: io_json_free. Duplicate keys, numbers longer than IO_JSON_NUMBER_MAX, nesting past jansson's
 * 2048, and documents whose tree would take more than 3n + 1 MiB are refused. */
pe_status io_json_load(io_node *root, const char *path, pe_error *err);
pe_status io_json_parse(io_node *root, const char *name, const char *text, size_t size, pe_error *err);
void io_json_free(io_node *root);

/* at->key, or at itself where key is NULL. Optional and absent: *out is left as it was (a node: json is NULL).
 * A real takes any number; an int takes numbers written without point or exponent. */
pe_status io_json_int(int64_t *out, const io_node *at, const char *key, io_need need, io_int_range range,
                      pe_error *err);
pe_status io_json_real(double *out, const io_node *at, const char *key, io_need need, pe_error *err);
pe_status io_json_bool(bool *out, const io_node *at, const char *key, io_need need, pe_error *err);
pe_status io_json_string(const char **out, const io_node *at, const char *key, io_need need, pe_error *err);
pe_status io_json_array(io_node *out, const io_node *at, const char *key, io_need need, pe_error *err);
pe_status io_json_object(io_node *out, const io_node *at, const char *key, io_need need, pe_error *err);
/* Elements of an array: read with key NULL. An object's keys: json_object_foreach(at.json, key, value). */
size_t io_json_size(const io_node *array); /* 0 if it is none */
pe_status io_json_item(io_node *out, const io_node *array, size_t index, pe_error *err);

#endif
