/* SPDX-License-Identifier: MIT
 *
 * posenc_io: the readers and writers of the tools. Every file is taken to be hostile.
 *
 *     io_safetensors *st;                                      io_array a;
 *     io_safetensors_open(&st, path, &err);                    io_npy_load(&a, "q.npy", 0, &err);
 *     t = io_safetensors_find(st, "q_in");                     io_array_to_f32(&q, &a, &err);
 *     io_tensor_read(bytes, st, t, 0, t->size, &err);          io_array_free(&a);
 *     io_safetensors_free(st);                                 free(q);
 *
 * Rules
 *  - Outputs come first, the pe_error (which may be NULL) last. After a failure the output is empty (NULL, zeroed) and
 *    nothing is left to free. Messages begin with the file's name; control characters in them are replaced.
 *  - PE_ERR_IO: the system refused. PE_ERR_FORMAT: the file is not what it should be. PE_ERR_OVERFLOW: sizes whose
 *    product does not fit. PE_ERR_DTYPE: a type this call does not take. PE_ERR_RANGE: a value the target cannot hold.
 *  - Loading a file of n bytes takes at most 4n + 1 MiB of heap; a size in a file is compared with the bytes there are
 *    before anything is allocated for it. Only the io_*_to_* copies, made on request, may go past that (1 byte to 8).
 *  - Files are read, never mapped: a file that shrinks meanwhile is an error, not a SIGBUS.
 */
#ifndef POSENC_IO_H
#define POSENC_IO_H

#include "posenc.h"

#include <stdio.h>

#if defined __GNUC__
#define IO_PRINTF(text, args) __attribute__((format(printf, text, args)))
#else
#define IO_PRINTF(text, args)
#endif

/* ---------------------------------------------------------------- what the header leaves to its users */

#define CLAIM_COUNT 11 /* claims: the bits PE_CLAIM_UNIQUE to PE_CLAIM_LEARNED */
#define FLOAT_COUNT 4  /* element types of vectors: PE_F32 to PE_F64 */

/* A coordinate of a token of the first sequence: of a run, or of int64 in memory. */
int64_t io_position(pe_positions p, int64_t token, int64_t axis);
double io_position_real(pe_positions p, int64_t token, int64_t axis); /* fractions too */

/* ---------------------------------------------------------------- errors */

/* Fills *err and returns s, so that a check reads: if (bad) return io_fail(err, PE_ERR_FORMAT, "..."); */
pe_status io_fail(pe_error *err, pe_status s, const char *fmt, ...) IO_PRINTF(3, 4);
/* Marks a text that was cut to its room, at a place that does not split a UTF-8 character. */
void io_end_with_dots(char *text, size_t room);

/* ---------------------------------------------------------------- numbers as text */

/* The shortest text that reads back as x (or as the float x is), with a point whatever the locale. */
void io_print_real(char *out, size_t cap, double x);
void io_print_float(char *out, size_t cap, double x);

/* ---------------------------------------------------------------- the machine */

void io_cpu_name(char *out, size_t cap); /* "unknown CPU" where the system does not say */
double io_seconds(void);                 /* of a clock that only goes forward */

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
/* FOLDER/NAME, made in memory and put in its place in one step. */
typedef pe_status io_make(FILE *to, const void *with, pe_error *err);
pe_status io_make_file(const char *folder, const char *name, io_make *make, const void *with, pe_error *err);
/* The file at path, whose bytes these are, gets a second name that outlives the first: a hard link, or a copy of the
 * same mode where there are none. A file that has that name already is an error. */
pe_status io_keep_file(const char *path, io_span bytes, const char *kept, pe_error *err);
/* Makes names in the folder that path lies in outlive a power cut. A folder that may not be read, and a file system
 * that has no such call, are no error. */
pe_status io_sync_folder_of(const char *path, pe_error *err);
/* The process that made the temporary file of this name; 0: it is not one of ours. */
long io_temp_owner(const char *name);

/* ---------------------------------------------------------------- a sum over bytes */

/* XXH64 (github.com/Cyan4973/xxHash, doc/xxhash_spec.md), as the bytes come:
 *     io_hash h = io_hash_start(0);   io_hash_add(&h, data, size);   io_hash_end(&h) */
typedef struct io_hash {
    uint64_t lane[4], seed, size;
    uint8_t rest[32]; /* size % 32 bytes that wait for more */
} io_hash;

io_hash io_hash_start(uint64_t seed);
void io_hash_add(io_hash *h, const void *data, size_t size);
uint64_t io_hash_end(const io_hash *h); /* of all so far; more may follow */

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

typedef struct io_pair {
    const char *key, *value;
} io_pair;

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

/* The header alone, for files larger than memory: as strict as parse, and no tensor is read before io_tensor_read. */
pe_status io_safetensors_open(io_safetensors **out, const char *path, pe_error *err);
/* Takes file->data over, whatever comes of it: *file is empty afterwards. The header is decoded in place. */
pe_status io_safetensors_parse(io_safetensors **out, io_bytes *file, pe_error *err);
void io_safetensors_free(io_safetensors *st); /* NULL is fine */

size_t io_safetensors_count(const io_safetensors *st);
const io_tensor *io_safetensors_at(const io_safetensors *st, size_t index);       /* by name; NULL past the end */
const io_tensor *io_safetensors_find(const io_safetensors *st, const char *name); /* NULL if absent */
const char *io_safetensors_meta(const io_safetensors *st, const char *key);       /* of __metadata__; NULL if absent */
/* What stands in it under a key: PE_ERR_FORMAT where there is none, or it is no whole number (no number) from 0 on. */
pe_status io_safetensors_text(const char **out, const io_safetensors *st, const char *key, const char *name,
                              pe_error *err);
pe_status io_safetensors_whole(int64_t *out, const io_safetensors *st, const char *key, const char *name,
                               pe_error *err);
pe_status io_safetensors_real(double *out, const io_safetensors *st, const char *key, const char *name, pe_error *err);
/* A malloc'ed list of all tensors as their bytes follow one another in the file. */
pe_status io_safetensors_order(const io_tensor ***out, const io_safetensors *st, pe_error *err);
/* All that comes before the data in a file with the same tensors, in that order, and the same metadata, in which key is
 * set to value. The data starts at a multiple of 8. */
pe_status io_safetensors_head(io_bytes *out, const io_safetensors *st, const char *key, const char *value,
                              pe_error *err);

/* A new file, by io_writer: of each tensor name, type, rank, shape and bytes are given, and they follow one another in
 * this order. It is sealed: its metadata begins with its size and the XXH64 of all its bytes, the 16 digits of the sum
 * taken as zeros. */
pe_status io_safetensors_save(const char *path, const io_tensor *tensors, size_t count, const io_pair *meta,
                              size_t pairs, pe_error *err);
/* Whether the bytes are those that were saved: what is cut, or has a bit changed, is PE_ERR_FORMAT. Before parse. */
pe_status io_safetensors_check_seal(const io_bytes *file, pe_error *err);

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
FILE *io_writer_stream(io_writer *w);                    /* the same as a stream, the writer's; NULL: no memory */
pe_status io_writer_commit(io_writer *w, pe_error *err); /* w is gone afterwards, whatever comes of it */
void io_writer_abort(io_writer *w);                      /* so it is here; NULL is fine */

/* ---------------------------------------------------------------- JSON */

typedef enum io_json_kind {
    IO_JSON_ABSENT = 0,
    IO_JSON_NULL,
    IO_JSON_FALSE,
    IO_JSON_TRUE,
    IO_JSON_INT, /* written without point or exponent */
    IO_JSON_REAL,
    IO_JSON_STRING,
    IO_JSON_ARRAY,
    IO_JSON_OBJECT
} io_json_kind;

/* A place in a document. Messages name it by walking up, so a parent has to outlive its children, and stay put:
 *     config.json: rope_scaling.factor is a string; needs a number */
typedef struct io_node {
    const char *json;         /* in the root's text (io/json_text.h); NULL: a value that is not there */
    const struct io_node *up; /* NULL: the root */
    const char *key;          /* in the object up; NULL: an array element; the root's: the file's name */
    size_t index;             /* in the array or object up */
} io_node;

typedef enum io_need { IO_REQUIRED = 0, IO_OPTIONAL } io_need; /* null counts as absent */

typedef struct io_int_range {
    int64_t min, max;
} io_int_range;
#define IO_ANY_INT ((io_int_range){ INT64_MIN, INT64_MAX })

#define IO_JSON_NUMBER_MAX 64 /* characters of a number */
#define IO_JSON_KEY_MAX 65536 /* bytes of a key */
#define IO_JSON_DEPTH_MAX 512 /* objects and arrays in each other */
#define IO_JSON_PLACE_MAX 200

/* RFC 8259, an object or an array, and one thing more: NaN, Infinity and -Infinity, which Python's json writes into
 * config.json (Mamba-2's time_step_limit), are reals that io_json_real refuses by name. U+0000 and duplicate keys are
 * refused, whole numbers past int64, reals past the largest double, and what passes the limits above. root->json is
 * owned: io_json_free. The nodes below it need no freeing: they point into the one text. */
pe_status io_json_load(io_node *root, const char *path, pe_error *err);
pe_status io_json_parse(io_node *root, const char *name, const char *text, size_t size, pe_error *err); /* a copy */
void io_json_free(io_node *root);

/* Finding a value passes over the text in front of it: take what you need of a large array or object in one loop,
 *     for (io_node child = { 0 }; io_json_next(&child, &list);)
 * over its members (child.key) or elements (child.index) in their order. At the end child is zeroed again. */
io_json_kind io_json_kind_of(const io_node *at);
bool io_json_next(io_node *child, const io_node *container);
bool io_json_get(io_node *out, const io_node *object, const char *key); /* null is there; false: out->json is NULL */
/* "config.json: rope_scaling.factor"; of the root "config.json:". For a message that goes on: " is ..." */
const char *io_json_place(char out[IO_JSON_PLACE_MAX], const io_node *at);

/* at->key, or at itself where key is NULL. Optional and absent: *out is left as it was (a node: json is NULL).
 * A real takes any number; an int takes numbers written without point or exponent. */
pe_status io_json_int(int64_t *out, const io_node *at, const char *key, io_need need, io_int_range range,
                      pe_error *err);
pe_status io_json_real(double *out, const io_node *at, const char *key, io_need need, pe_error *err);
pe_status io_json_bool(bool *out, const io_node *at, const char *key, io_need need, pe_error *err);
pe_status io_json_string(const char **out, const io_node *at, const char *key, io_need need, pe_error *err);
pe_status io_json_array(io_node *out, const io_node *at, const char *key, io_need need, pe_error *err);
pe_status io_json_object(io_node *out, const io_node *at, const char *key, io_need need, pe_error *err);
/* Elements of an array: read with key NULL. Both walk the array. */
size_t io_json_size(const io_node *array); /* 0 if it is none */
pe_status io_json_item(io_node *out, const io_node *array, size_t index, pe_error *err);

/* ---------------------------------------------------------------- GGUF: what is known of a model, and where */

/*     io_gguf *g;                                                           io_gguf_tensor t;
 *     io_gguf_open(&g, path, &err);                                         io_gguf_tensor_find(&t, g, "rope_freqs");
 *     io_gguf_real(&base, g, "llama.rope.freq_base", IO_OPTIONAL, &err);    io_gguf_tensor_read_f32(&f, g, &t, &err);
 *     io_gguf_free(g);                                                      free(f);
 *
 * Versions 2 and 3, little-endian. All is checked at open, the place of every tensor too; weights are not read. */
typedef struct io_gguf io_gguf;

/* The numbers are the file's. */
typedef enum io_gguf_type {
    IO_GGUF_U8 = 0,
    IO_GGUF_I8,
    IO_GGUF_U16,
    IO_GGUF_I16,
    IO_GGUF_U32,
    IO_GGUF_I32,
    IO_GGUF_F32,
    IO_GGUF_BOOL,
    IO_GGUF_STRING,
    IO_GGUF_ARRAY,
    IO_GGUF_U64,
    IO_GGUF_I64,
    IO_GGUF_F64,
    IO_GGUF_TYPE_COUNT
} io_gguf_type;

/* A value, or an array of them. It lives as long as the io_gguf. */
typedef struct io_gguf_value {
    const io_gguf *file;
    const char *key;
    io_gguf_type type; /* an array's: of its elements; never IO_GGUF_ARRAY */
    bool array;
    size_t count;      /* 1 if it is no array */
    const uint8_t *at; /* NULL: an optional array that is not there */
} io_gguf_value;
typedef io_gguf_value io_gguf_list; /* where array is true */

#define IO_GGUF_RANK_MAX 4

typedef struct io_gguf_tensor {
    const char *name; /* lives as long as the io_gguf */
    const char *type; /* "F32", "Q4_K" */
    int rank;
    int64_t shape[IO_GGUF_RANK_MAX]; /* the fastest first, as ggml has them; 1 past the rank */
    int64_t count;                   /* product of shape */
    int64_t offset, bytes;           /* in the file */
} io_gguf_tensor;

#define IO_CAP_GGUF ((size_t)1 << 30)      /* metadata; the file may be as large as it likes */
#define IO_GGUF_READ_MAX ((size_t)1 << 20) /* bytes of a tensor that io_gguf_tensor_read_f32 takes */

pe_status io_gguf_open(io_gguf **out, const char *path, pe_error *err);
/* file holds the first file->size of file_size bytes, all of the metadata among them. Takes file->data over, whatever
 * comes of it: *file is empty afterwards. Names and strings are ended by 0 in place. */
pe_status io_gguf_parse(io_gguf **out, io_bytes *file, uint64_t file_size, pe_error *err);
void io_gguf_free(io_gguf *g); /* NULL is fine */

const char *io_gguf_type_name(io_gguf_type t); /* "u32"; "?" if unknown */
bool io_gguf_find(io_gguf_value *out, const io_gguf *g, const char *key);

/* Optional and absent: *out is left as it was (a list: count is 0, at is NULL). Nothing is converted: an int takes
 * whole numbers of any width that lie in range; a real takes f32 and f64, finite; a string is UTF-8 without 0. */
pe_status io_gguf_int(int64_t *out, const io_gguf *g, const char *key, io_need need, io_int_range range, pe_error *err);
pe_status io_gguf_real(double *out, const io_gguf *g, const char *key, io_need need, pe_error *err);
pe_status io_gguf_bool(bool *out, const io_gguf *g, const char *key, io_need need, pe_error *err);
pe_status io_gguf_string(const char **out, const io_gguf *g, const char *key, io_need need, pe_error *err);
pe_status io_gguf_array(io_gguf_list *out, const io_gguf *g, const char *key, io_need need, pe_error *err);
/* An element; of a value that is no array, element 0. The way to a string is as long as index. */
pe_status io_gguf_list_int(int64_t *out, const io_gguf_list *list, size_t index, io_int_range range, pe_error *err);
pe_status io_gguf_list_real(double *out, const io_gguf_list *list, size_t index, pe_error *err);
pe_status io_gguf_list_bool(bool *out, const io_gguf_list *list, size_t index, pe_error *err);
pe_status io_gguf_list_string(const char **out, const io_gguf_list *list, size_t index, pe_error *err);

bool io_gguf_tensor_find(io_gguf_tensor *out, const io_gguf *g, const char *name);
/* A malloc'ed copy of the t->count elements of an F32, F16, BF16 or F64 tensor of at most IO_GGUF_READ_MAX bytes. */
pe_status io_gguf_tensor_read_f32(float **out, const io_gguf *g, const io_gguf_tensor *t, pe_error *err);

/* ---------------------------------------------------------------- llama2.c: the header of a .bin model */

typedef struct io_llama2c {
    int version; /* 0: the legacy header of seven numbers; 1: float32; 2: int8 in groups */
    int64_t dim, hidden_dim, layers, heads, kv_heads, vocab_size, seq_len;
    int64_t head_size; /* dim / heads */
    bool shared_classifier;
    int64_t group_size; /* version 2; else 0 */
} io_llama2c;

/* The size of the file has to be exactly what the header implies. */
pe_status io_llama2c_open(io_llama2c *out, const char *path, pe_error *err);
/* bytes are the first size of file_size bytes: all, or 256 at least. */
pe_status io_llama2c_parse(io_llama2c *out, const uint8_t *bytes, size_t size, uint64_t file_size, const char *name,
                           pe_error *err);

/* ---------------------------------------------------------------- the header of a model that posenc trained */

/* A sealed .safetensors whose metadata has these words; its tensors are model/file.h's. Texts of one that was read live
 * as long as the io_safetensors. */
typedef struct io_model {
    const char *spec; /* it was trained with */
    int64_t vocab, layers, width, heads, kv_heads, head_dim, hidden;
    int64_t causal; /* 0 or 1 */
    double embed_scale;
    int64_t trained; /* length */
    int64_t steps, seed;
    const char *data; /* it was trained on, in words */
} io_model;

#define IO_MODEL_FORMAT "posenc model "
#define IO_MODEL_VERSION "1"
#define IO_MODEL_PAIRS 15
#define IO_MODEL_TEXT 40
bool io_is_model(const io_safetensors *st); /* of any version */
pe_status io_model_read(io_model *out, const io_safetensors *st, const char *name, pe_error *err);
void io_model_write(io_pair meta[IO_MODEL_PAIRS], char text[IO_MODEL_PAIRS][IO_MODEL_TEXT], const io_model *m);

#endif
