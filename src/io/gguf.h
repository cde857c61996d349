/* SPDX-License-Identifier: MIT
 *
 * GGUF (github.com/ggml-org/ggml, docs/gguf.md), all little-endian:
 *     "GGUF" version:u32 tensors:u64 keys:u64
 *     keys x    { key:string type:u32 value }                 array value: type:u32 count:u64 elements
 *     tensors x { name:string rank:u32 sizes:u64[rank] type:u32 offset:u64 }
 *     padding, then the tensors, each padded to general.alignment
 * string: length:u64 and as many bytes, no 0 at the end.
 *
 * The bytes of the file are the data structure: values are decoded when asked for, and the only other memory is one
 * pointer for each key and each tensor, which takes 14 and 25 bytes of file at least. A string's length is below 2^56,
 * so the highest of its 8 length bytes carries nothing: the text moves one to the left onto it, and the byte that
 * becomes free at its end takes the 0. Names and strings are C strings then, without a copy.
 *     before  n n n n n n n n  t e x t            after  n n n n n n n  t e x t 0
 */
#ifndef POSENC_IO_GGUF_H
#define POSENC_IO_GGUF_H

#include "io.h"

struct io_gguf {
    io_bytes file;     /* the first bytes; its name is name below */
    int64_t file_size; /* of all */
    int64_t data;      /* where the tensors begin */
    int64_t alignment;
    uint32_t version;
    size_t key_count, tensor_count;
    const char **keys, **tensors; /* sorted; each points to its text inside file */
    char name[];
};

typedef enum io_gguf_kind { IO_GGUF_WHOLE, IO_GGUF_REAL, IO_GGUF_TRUTH, IO_GGUF_TEXT, IO_GGUF_LIST } io_gguf_kind;

typedef struct io_gguf_value_row {
    const char *name;
    size_t size;  /* 0: string, array */
    io_type type; /* IO_TYPE_COUNT: string, array */
    io_gguf_kind kind;
} io_gguf_value_row;

typedef struct io_gguf_tensor_row {
    const char *name;     /* NULL: no such type, or one that ggml has removed */
    int64_t block, bytes; /* bytes for each block of so many elements */
    io_type type;         /* IO_TYPE_COUNT: not a float one can read as it is */
} io_gguf_tensor_row;

const io_gguf_value_row *io_gguf_value_type(uint32_t type); /* NULL if unknown */

/* A place in the metadata that is being checked. */
typedef struct io_gguf_cursor {
    uint8_t *base;
    size_t at, have;   /* bytes in memory */
    int64_t file_size; /* bytes there are */
    size_t more;       /* set by a failure that more bytes in memory may cure: this many. No text is written then. */
    const char *name;  /* of the file */
    pe_error *err;
} io_gguf_cursor;

pe_status io_gguf_take_u32(uint32_t *out, io_gguf_cursor *c, const char *what);
pe_status io_gguf_take_u64(uint64_t *out, io_gguf_cursor *c, const char *what);
/* 1 to max bytes of UTF-8 without control characters. */
pe_status io_gguf_take_name(const char **out, io_gguf_cursor *c, uint64_t max, const char *what);

size_t io_gguf_length(const char *text); /* of a string that was taken */
uint32_t io_gguf_u32(const uint8_t *at); /* unaligned */
uint64_t io_gguf_u64(const uint8_t *at);

pe_status io_gguf_tensors(io_gguf *g, io_gguf_cursor *c, uint64_t count);

/* count pointers for items of min bytes or more. Refused before it is allocated where the file has no room for them. */
pe_status io_gguf_table(const char ***out, io_gguf_cursor *c, uint64_t count, uint64_t min, const char *what);
/* Sorts; the text that comes twice is an error. */
pe_status io_gguf_sort(const char **texts, size_t count, const io_gguf_cursor *c, const char *what);
const char *io_gguf_search(const char *const *texts, size_t count, const char *text); /* NULL if absent */

#endif
