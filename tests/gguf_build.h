/* SPDX-License-Identifier: MIT
 *
 * GGUF files, piece by piece. */
#ifndef TESTS_GGUF_BUILD_H
#define TESTS_GGUF_BUILD_H

#include "corpus.h"

#include "../src/io/io.h"

enum { F32 = 0, F16 = 1, Q4_0 = 2, Q4_2 = 4, I8 = 24, I64 = 27, F64 = 28, BF16 = 30, TYPES = 43 }; /* ggml's */

static inline void put_string(blob *b, const char *text)
{
    put_number(b, strlen(text), 8);
    put(b, text, strlen(text));
}

static inline void start(blob *b, uint64_t tensors, uint64_t keys)
{
    put(b, "GGUF", 4);
    put_number(b, 3, 4);
    put_number(b, tensors, 8);
    put_number(b, keys, 8);
}

static inline void put_key(blob *b, const char *key, io_gguf_type type)
{
    put_string(b, key);
    put_number(b, type, 4);
}

static inline void put_array(blob *b, const char *key, uint32_t type, uint64_t count)
{
    put_key(b, key, IO_GGUF_ARRAY);
    put_number(b, type, 4);
    put_number(b, count, 8);
}

static inline void put_u32_key(blob *b, const char *key, uint32_t v)
{
    put_key(b, key, IO_GGUF_U32);
    put_number(b, v, 4);
}

static inline void put_real(blob *b, double v, int bytes)
{
    float f = (float)v;
    uint32_t single;
    uint64_t twice;
    memcpy(&single, &f, sizeof single);
    memcpy(&twice, &v, sizeof twice);
    put_number(b, bytes == 4 ? single : twice, bytes);
}

static inline void put_tensor2(blob *b, const char *name, uint64_t rows, uint64_t columns, uint32_t type, uint64_t offset)
{
    put_string(b, name);
    put_number(b, 2, 4);
    put_number(b, columns, 8);
    put_number(b, rows, 8);
    put_number(b, type, 4);
    put_number(b, offset, 8);
}

static inline void put_tensor(blob *b, const char *name, uint64_t size, uint32_t type, uint64_t offset)
{
    put_string(b, name);
    put_number(b, 1, 4);
    put_number(b, size, 8);
    put_number(b, type, 4);
    put_number(b, offset, 8);
}

static size_t padding; /* what the last call put */

static inline void pad(blob *b, size_t alignment)
{
    padding = (alignment - b->size % alignment) % alignment;
    put_zeros(b, padding);
}

/* ---------------------------------------------------------------- a model, key by key */

typedef struct gguf_build {
    blob keys, tensors, data;
    uint64_t key_count, tensor_count, more; /* bytes of data that are not in memory */
    const char *arch;                       /* prefix of keys that start with a point */
} gguf_build;

static inline void build_key(gguf_build *b, const char *key, io_gguf_type type)
{
    char full[200];
    snprintf(full, sizeof full, "%s%s", *key == '.' ? b->arch : "", key);
    put_key(&b->keys, full, type);
    b->key_count++;
}

static inline void build_int(gguf_build *b, const char *key, uint32_t v)
{
    build_key(b, key, IO_GGUF_U32);
    put_number(&b->keys, v, 4);
}

static inline void build_real(gguf_build *b, const char *key, double v)
{
    build_key(b, key, IO_GGUF_F32);
    put_real(&b->keys, v, 4);
}

static inline void build_bool(gguf_build *b, const char *key, bool v)
{
    build_key(b, key, IO_GGUF_BOOL);
    put_number(&b->keys, v, 1);
}

static inline void build_text(gguf_build *b, const char *key, const char *v)
{
    build_key(b, key, IO_GGUF_STRING);
    put_string(&b->keys, v);
}

static inline void build_list(gguf_build *b, const char *key, io_gguf_type type, const int *v, int count)
{
    build_key(b, key, IO_GGUF_ARRAY);
    put_number(&b->keys, type, 4);
    put_number(&b->keys, (uint64_t)count, 8);
    for (int i = 0; i < count; i++)
        put_number(&b->keys, (uint64_t)v[i], type == IO_GGUF_BOOL ? 1 : 4);
}

static inline void build_floats(gguf_build *b, const char *name, const double *v, int count)
{
    put_tensor(&b->tensors, name, (uint64_t)count, F32, b->data.size);
    for (int i = 0; i < count; i++)
        put_real(&b->data, v[i], 4);
    pad(&b->data, 32);
    b->tensor_count++;
}

/* A table that is not in memory; the last of the tensors. */
static inline void build_table(gguf_build *b, const char *name, uint64_t rows, uint64_t columns)
{
    put_tensor2(&b->tensors, name, rows, columns, F32, b->data.size);
    b->more = rows * columns * 4;
    b->tensor_count++;
}

static inline pe_status build_open(io_gguf **out, const gguf_build *b, pe_error *err)
{
    blob head = { .size = 0 };
    start(&head, b->tensor_count, b->key_count);
    put(&head, b->keys.data, b->keys.size);
    put(&head, b->tensors.data, b->tensors.size);
    pad(&head, 32);
    size_t size = head.size + b->data.size;
    io_bytes file = { malloc(size), size, "model.gguf" };
    assert_non_null(file.data);
    memcpy(file.data, head.data, head.size);
    memcpy(file.data + head.size, b->data.data, b->data.size);
    return io_gguf_parse(out, &file, size + b->more, err);
}

#endif
