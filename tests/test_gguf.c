/* SPDX-License-Identifier: MIT
 * labels: core; needs: io wrap wrapio
 *
 * The GGUF reader against a file for each class of bug that GGUF readers are known for. The cases named after
 * llama.cpp are those of its tests/test-gguf.cpp; the others stand in the lists of CVEs and issues beside them.
 */
#include "common.h"
#include "corpus.h"
#include "faults.h"
#include "gguf_build.h"

#include "../src/io/io.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

static int each_test(void **state)
{
    (void)state;
    faults_reset();
    return 0;
}

/* ---------------------------------------------------------------- files that are as they should be */

static void valid_empty(blob *b)
{
    start(b, 0, 0);
    pad(b, 32);
}

/* A key of each type and an array of each type. */
static void valid_keys(blob *b)
{
    start(b, 0, 26);
    for (int array = 0; array < 2; array++)
        for (int type = 0; type < IO_GGUF_TYPE_COUNT; type++) {
            char key[20];
            snprintf(key, sizeof key, "%s.%s", array ? "list" : "one", io_gguf_type_name((io_gguf_type)type));
            if (type == IO_GGUF_ARRAY)
                put_array(b, key, IO_GGUF_U32, 0);
            else if (array)
                put_array(b, key, (uint32_t)type, 2);
            else
                put_key(b, key, (io_gguf_type)type);
            static const int sizes[IO_GGUF_TYPE_COUNT] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };
            for (int i = 0; i <= array; i++)
                if (type == IO_GGUF_STRING)
                    put_string(b, i ? "" : "h\xC3\xA9");
                else if (type == IO_GGUF_F32 || type == IO_GGUF_F64)
                    put_real(b, i ? -0.25 : 1e4, sizes[type]);
                else
                    put_number(b, type == IO_GGUF_BOOL ? 1 : i ? UINT64_MAX : 7, sizes[type]);
        }
    pad(b, 32);
}

static void valid_version2(blob *b)
{
    valid_empty(b);
    b->data[4] = 2;
}

static void put_data(blob *b, size_t alignment)
{
    put_tensor(b, "rope_freqs.weight", 3, F32, 0);
    put_tensor(b, "half", 5, F16, 12 + (alignment - 12 % alignment) % alignment);
    pad(b, alignment);
    put_real(b, 1, 4);
    put_real(b, 0.5, 4);
    put_real(b, 8, 4);
    pad(b, alignment);
    put_zeros(b, 2 * 4);
    put_number(b, 0x3C00, 2); /* 1 */
    pad(b, alignment);
}

static void valid_data(blob *b)
{
    start(b, 2, 0);
    put_data(b, 32);
}

static void valid_alignment_1(blob *b)
{
    start(b, 2, 1);
    put_u32_key(b, "general.alignment", 1);
    put_data(b, 1);
}

static void valid_zero_dim(blob *b)
{
    start(b, 1, 0);
    put_tensor2(b, "none", 0, 32, Q4_0, 0);
    pad(b, 32);
}

/* What a small model with one of everything looks like. */
static void valid_model(blob *b)
{
    start(b, 2, 6);
    put_key(b, "general.architecture", IO_GGUF_STRING);
    put_string(b, "llama");
    put_u32_key(b, "llama.context_length", 131072);
    put_key(b, "llama.rope.freq_base", IO_GGUF_F32);
    put_real(b, 5e5, 4);
    put_array(b, "llama.rope.dimension_sections", IO_GGUF_I32, 4);
    for (int i = 0; i < 4; i++)
        put_number(b, (uint64_t)i * 8, 4);
    put_array(b, "tokenizer.ggml.tokens", IO_GGUF_STRING, 2);
    put_string(b, "<s>");
    put_string(b, "\xFF");
    put_key(b, "llama.use_parallel_residual", IO_GGUF_BOOL);
    put_number(b, 1, 1);
    put_data(b, 32);
}

/* ---------------------------------------------------------------- files that mean harm */

static void bad_magic(blob *b)
{
    valid_empty(b);
    memcpy(b->data, "FUGG", 4);
}

#define VERSION(name, v)                                                                                               \
    static void name(blob *b)                                                                                          \
    {                                                                                                                  \
        valid_empty(b);                                                                                                \
        for (int i = 0; i < 4; i++)                                                                                    \
            b->data[4 + i] = (uint8_t)((uint32_t)(v) >> 8 * i);                                                        \
    }
VERSION(version_0, 0)
VERSION(version_1, 1)
VERSION(version_future, 4)
VERSION(big_endian, 3u << 24)

#define COUNTS(name, tensors, keys)                                                                                    \
    static void name(blob *b)                                                                                          \
    {                                                                                                                  \
        start(b, tensors, keys);                                                                                       \
        put_zeros(b, 40);                                                                                              \
    }
COUNTS(tensor_count_max, UINT64_MAX, 0)
COUNTS(key_count_max, 0, UINT64_MAX)
COUNTS(key_count_wraps, 0, (UINT64_C(1) << 61) + 1)    /* times a pointer: 8 */
COUNTS(tensor_count_wraps, (UINT64_C(1) << 61) + 1, 0) /* the same */
COUNTS(key_count_past_int, 0, (UINT64_C(1) << 32) + 1)
COUNTS(key_count_one_too_many, 0, 3)
COUNTS(tensor_count_one_too_many, 2, 0)

static void key_length(blob *b, uint64_t length)
{
    start(b, 0, 1);
    put_number(b, length, 8);
    put(b, "key1", 4);
    put_number(b, IO_GGUF_U32, 4);
    put_number(b, 1, 4);
    pad(b, 32);
}

static void key_length_max(blob *b)
{
    key_length(b, UINT64_MAX);
}

static void key_length_past_int(blob *b)
{
    key_length(b, (UINT64_C(1) << 32) + 4);
}

static void key_empty(blob *b)
{
    start(b, 0, 1);
    put_u32_key(b, "", 1);
}

#define KEY(name, text)                                                                                                \
    static void name(blob *b)                                                                                          \
    {                                                                                                                  \
        start(b, 0, 1);                                                                                                \
        put_u32_key(b, text, 1);                                                                                       \
    }
KEY(key_not_utf8, "a\xC0\xAF")
KEY(key_with_escape, "a\x1b[2J")
KEY(key_with_delete, "a\x7F")
KEY(key_with_c1, "a\xC2\x9B")
KEY(valid_key_in_latin1, "\xC2\xA0\xC3\xA9")

static void key_with_zero(blob *b)
{
    start(b, 0, 1);
    put_number(b, 3, 8);
    put(b, "a\0b", 3);
    put_number(b, IO_GGUF_U32, 4);
    put_number(b, 1, 4);
}

static void key_twice(blob *b)
{
    start(b, 0, 3);
    put_u32_key(b, "twin", 1);
    put_u32_key(b, "other", 1);
    put_u32_key(b, "twin", 2);
}

static void value_type_unknown(blob *b)
{
    start(b, 0, 1);
    put_u32_key(b, "key", 1);
    b->data[24 + 8 + 3] = IO_GGUF_TYPE_COUNT;
}

static void string_length(blob *b, uint64_t length)
{
    start(b, 0, 1);
    put_key(b, "key", IO_GGUF_STRING);
    put_number(b, length, 8);
    put(b, "text", 4);
}

static void string_length_max(blob *b)
{
    string_length(b, UINT64_MAX);
}

static void string_length_past_int(blob *b)
{
    string_length(b, (UINT64_C(1) << 32) + 4);
}

static void array_of_arrays(blob *b)
{
    start(b, 0, 1);
    put_array(b, "key", IO_GGUF_ARRAY, 1);
    put_number(b, IO_GGUF_U8, 4);
    put_zeros(b, 16);
}

static void array_type_unknown(blob *b)
{
    start(b, 0, 1);
    put_array(b, "key", 1u << 31, 0);
}

#define ARRAY(name, type, count)                                                                                       \
    static void name(blob *b)                                                                                          \
    {                                                                                                                  \
        start(b, 0, 1);                                                                                                \
        put_array(b, "key", type, count);                                                                              \
        put_zeros(b, 4);                                                                                               \
    }
ARRAY(array_wraps, IO_GGUF_U32, (UINT64_C(1) << 62) + 1)    /* times 4: 4, which is there */
ARRAY(strings_wrap, IO_GGUF_STRING, (UINT64_C(1) << 61) + 1)
ARRAY(array_past_int, IO_GGUF_U8, (UINT64_C(1) << 32) + 4)

/* llama.cpp#27188: a reader that goes by the count takes hours. 49 bytes are the fewest with a key. */
static void array_2_63(blob *b)
{
    start(b, 0, 1);
    put_array(b, "k", IO_GGUF_STRING, UINT64_C(1) << 63);
}

static void bool_2(blob *b)
{
    start(b, 0, 1);
    put_array(b, "flags", IO_GGUF_BOOL, 3);
    put(b, "\0\1\2", 3);
}

#define ALIGNMENT(name, v)                                                                                             \
    static void name(blob *b)                                                                                          \
    {                                                                                                                  \
        start(b, 2, 1);                                                                                                \
        put_u32_key(b, "general.alignment", v);                                                                        \
        put_data(b, 32);                                                                                               \
    }
ALIGNMENT(alignment_0, 0)
ALIGNMENT(alignment_13, 13)
ALIGNMENT(alignment_2_31, 1u << 31)

static void alignment_is_i32(blob *b)
{
    start(b, 0, 1);
    put_key(b, "general.alignment", IO_GGUF_I32);
    put_number(b, 32, 4);
}

static void alignment_is_array(blob *b)
{
    start(b, 0, 1);
    put_array(b, "general.alignment", IO_GGUF_U32, 1);
    put_number(b, 32, 4);
}

static void one_tensor(blob *b, const char *name, uint64_t size, uint32_t type, uint64_t offset)
{
    start(b, 1, 0);
    put_tensor(b, name, size, type, offset);
    pad(b, 32);
    put_zeros(b, 64);
}

static void name_too_long(blob *b)
{
    one_tensor(b, "a_name_of_sixty_four_bytes_which_is_one_more_than_ggml_can_take_", 16, F32, 0);
}

static void name_twice(blob *b)
{
    start(b, 2, 0);
    put_tensor(b, "twin", 8, F32, 0);
    put_tensor(b, "twin", 8, F32, 32);
    pad(b, 32);
    put_zeros(b, 64);
}

static void rank_5(blob *b)
{
    start(b, 1, 0);
    put_string(b, "deep");
    put_number(b, 5, 4);
    for (int i = 0; i < 5; i++)
        put_number(b, 1, 8);
    put_number(b, F32, 4);
    put_number(b, 0, 8);
}

static void size_negative(blob *b)
{
    one_tensor(b, "t", UINT64_MAX, F32, 0);
}

static void two_sizes(blob *b, uint64_t size, uint32_t type)
{
    start(b, 1, 0);
    put_tensor2(b, "t", size, size, type, 0);
    pad(b, 32);
}

static void elements_wrap(blob *b)
{
    two_sizes(b, UINT64_C(4) * INT32_MAX, F32);
}

static void bytes_wrap(blob *b) /* CVE-2026-33298: elements fit, bytes do not */
{
    two_sizes(b, UINT64_C(1) << 31, I64);
}

static void tensor_type_unknown(blob *b)
{
    one_tensor(b, "t", 16, TYPES, 0);
}

static void tensor_type_removed(blob *b)
{
    one_tensor(b, "t", 32, Q4_2, 0);
}

static void row_not_of_blocks(blob *b)
{
    one_tensor(b, "t", 33, Q4_0, 0);
}

static void offset_max(blob *b)
{
    one_tensor(b, "t", 16, F32, UINT64_MAX);
}

static void offset_unaligned(blob *b)
{
    one_tensor(b, "t", 8, F32, 16);
}

static void past_the_end(blob *b) /* CVE-2026-7482 */
{
    one_tensor(b, "t", 17, F32, 0);
}

static void tensors_without_data(blob *b)
{
    start(b, 1, 0);
    put_tensor(b, "t", 16, F32, 0);
    pad(b, 32);
}

static void two_tensors(blob *b, uint64_t second)
{
    start(b, 2, 0);
    put_tensor(b, "a", 8, F32, 0);
    put_tensor(b, "b", 8, F32, second);
    pad(b, 32);
    put_zeros(b, 128);
}

static void hole(blob *b)
{
    two_tensors(b, 64);
}

static void overlap(blob *b)
{
    two_tensors(b, 0);
}

static void inconsistent_alignment(blob *b)
{
    start(b, 2, 0);
    put_tensor(b, "a", 3, F32, 0);
    put_tensor(b, "b", 3, F32, 12);
    pad(b, 32);
    put_zeros(b, 64);
}

static void ends_wrap(blob *b) /* CVE-2026-27940: the sum of two sizes */
{
    start(b, 2, 0);
    put_tensor(b, "a", 0x7FFFFFFFFFFFFFC0u, I8, 0);
    put_tensor(b, "b", 0x7FFFFFFFFFFFFFC0u, I8, 0x7FFFFFFFFFFFFFC0u);
    pad(b, 32);
    put_zeros(b, 32);
}

static void padding_wraps(blob *b) /* llama.cpp#24997: rounding up */
{
    one_tensor(b, "t", INT64_MAX, I8, 0);
}

static void data_cut(blob *b)
{
    valid_data(b);
    b->size -= 32 - 9; /* the last byte of the last tensor, and its padding */
}

static void after_the_last(blob *b)
{
    valid_data(b);
    put(b, "PK\3\4", 4);
}

static void after_the_keys(blob *b)
{
    valid_empty(b);
    put_zeros(b, 1);
}

typedef struct row {
    const char *name; /* valid_...: accepted */
    void (*make)(blob *);
    pe_status status;
    const char *says;
    bool corpus; /* the fuzzer begins with it */
} row;

#define ROW(name, status, says) { #name, name, status, says, true }
#define MORE(name, status, says) { #name, name, status, says, false } /* of a class that a ROW has */

static const row rows[] = {
    /* llama.cpp, its header cases */
    ROW(bad_magic, PE_ERR_FORMAT, "does not begin with GGUF"),
    MORE(version_0, PE_ERR_FORMAT, "version 0; needs 2 or 3"),
    ROW(version_1, PE_ERR_FORMAT, "version 1, which no program reads any more; needs 2 or 3"),
    MORE(version_future, PE_ERR_FORMAT, "version 4; needs 2 or 3"),
    ROW(key_count_max, PE_ERR_FORMAT, "claims 18446744073709551615 keys; its 40 bytes left hold 2 at most"),
    ROW(tensor_count_max, PE_ERR_FORMAT, "claims 18446744073709551615 tensors; its 40 bytes left hold 1 at most"),
    ROW(valid_empty, PE_OK, NULL),
    /* its key cases; the value size is the one it had to take out */
    ROW(key_length_max, PE_ERR_FORMAT, "ends inside key 0: it needs 18446744073709551615 bytes, the file has 32 left"),
    ROW(key_empty, PE_ERR_FORMAT, "key 0 is empty"),
    ROW(value_type_unknown, PE_ERR_FORMAT, "key has value type 13; needs 0 to 12"),
    ROW(string_length_max, PE_ERR_FORMAT, "ends inside key: it needs 18446744073709551615 bytes, the file has 4 left"),
    ROW(key_twice, PE_ERR_FORMAT, "key twin comes twice"),
    MORE(alignment_13, PE_ERR_FORMAT, "general.alignment is 13; needs a power of two from 1 to 65536"),
    ROW(alignment_is_i32, PE_ERR_FORMAT, "general.alignment is of type i32; needs a u32"),
    ROW(valid_keys, PE_OK, NULL),
    /* its tensor cases; bad alignment comes with tensors above. Tensors without data pass there, not here. */
    ROW(name_too_long, PE_ERR_FORMAT, "the name of tensor 0 has 64 bytes; at most 63"),
    ROW(rank_5, PE_ERR_SHAPE, "tensor deep has 5 dimensions; at most 4"),
    ROW(size_negative, PE_ERR_SHAPE, "tensor t has 18446744073709551615 for a size; needs 0 to 2^63 - 1"),
    ROW(valid_zero_dim, PE_OK, NULL),
    MORE(elements_wrap, PE_ERR_OVERFLOW, "the shape of tensor t does not fit 64 bits"),
    ROW(bytes_wrap, PE_ERR_OVERFLOW, "the shape of tensor t does not fit 64 bits"),
    ROW(tensor_type_unknown, PE_ERR_DTYPE, "tensor t has type 43, which ggml does not have"),
    ROW(offset_max, PE_ERR_FORMAT, "tensor t has offset 18446744073709551615; 0 is where the one before it ends"),
    ROW(name_twice, PE_ERR_FORMAT, "tensor twin comes twice"),
    MORE(inconsistent_alignment, PE_ERR_FORMAT, "tensor b has offset 12; 32 is where the one before it ends"),
    ROW(tensors_without_data, PE_ERR_FORMAT, "its tensors end at byte 128; the file ends at 64"),
    /* its data cases */
    ROW(data_cut, PE_ERR_FORMAT, "its tensors end at byte 170; the file ends at 169"),
    ROW(ends_wrap, PE_ERR_FORMAT, "tensor a has 9223372036854775744 bytes at offset 0; the file has 128 in all"),
    ROW(valid_data, PE_OK, NULL),
    ROW(valid_alignment_1, PE_OK, NULL),
    /* Talos and Databricks 2024: products that wrap. CVE-2025-49847, -52566: a size_t made an int */
    ROW(key_count_wraps, PE_ERR_FORMAT, "claims 2305843009213693953 keys"),
    MORE(tensor_count_wraps, PE_ERR_FORMAT, "claims 2305843009213693953 tensors"),
    MORE(key_count_one_too_many, PE_ERR_FORMAT, "claims 3 keys; its 40 bytes left hold 2 at most"),
    MORE(tensor_count_one_too_many, PE_ERR_FORMAT, "claims 2 tensors; its 40 bytes left hold 1 at most"),
    MORE(key_count_past_int, PE_ERR_FORMAT, "claims 4294967297 keys"),
    MORE(key_length_past_int, PE_ERR_FORMAT, "needs 4294967300 bytes"),
    MORE(string_length_past_int, PE_ERR_FORMAT, "needs 4294967300 bytes"),
    MORE(array_past_int, PE_ERR_FORMAT, "key claims 4294967300 values of u8; the bytes left hold 4 at most"),
    ROW(array_wraps, PE_ERR_FORMAT, "key claims 4611686018427387905 values of u32; the bytes left hold 1 at most"),
    MORE(strings_wrap, PE_ERR_FORMAT, "key claims 2305843009213693953 strings; the bytes left hold 0 at most"),
    ROW(array_2_63, PE_ERR_FORMAT, "k claims 9223372036854775808 strings; the bytes left hold 0 at most"),
    MORE(padding_wraps, PE_ERR_FORMAT, "tensor t has 9223372036854775807 bytes at offset 0; the file has 128 in all"),
    ROW(past_the_end, PE_ERR_FORMAT, "its tensors end at byte 132; the file ends at 128"),
    ROW(alignment_2_31, PE_ERR_FORMAT, "general.alignment is 2147483648; needs a power of two from 1 to 65536"),
    /* files that two readers take for two things */
    MORE(alignment_0, PE_ERR_FORMAT, "general.alignment is 0; needs a power of two from 1 to 65536"),
    MORE(alignment_is_array, PE_ERR_FORMAT, "general.alignment is an array of u32; needs a u32"),
    ROW(big_endian, PE_ERR_FORMAT, "is a big-endian GGUF file; needs a little-endian one"),
    ROW(key_not_utf8, PE_ERR_FORMAT, "key 0 is not UTF-8 or holds a control character"),
    MORE(key_with_escape, PE_ERR_FORMAT, "key 0 is not UTF-8 or holds a control character"),
    MORE(key_with_delete, PE_ERR_FORMAT, "key 0 is not UTF-8 or holds a control character"),
    MORE(key_with_c1, PE_ERR_FORMAT, "key 0 is not UTF-8 or holds a control character"),
    MORE(valid_key_in_latin1, PE_OK, NULL),
    MORE(key_with_zero, PE_ERR_FORMAT, "key 0 is not UTF-8 or holds a control character"),
    ROW(array_of_arrays, PE_ERR_FORMAT, "key is an array of arrays; needs an array of plain values"),
    MORE(array_type_unknown, PE_ERR_FORMAT, "key has value type 2147483648; needs 0 to 12"),
    ROW(bool_2, PE_ERR_FORMAT, "flags is a bool of 2; needs 0 or 1"),
    MORE(tensor_type_removed, PE_ERR_DTYPE, "tensor t has type 4, which ggml does not have"),
    ROW(row_not_of_blocks, PE_ERR_SHAPE, "tensor t has rows of 33; Q4_0 needs a multiple of 32"),
    MORE(offset_unaligned, PE_ERR_FORMAT, "tensor t has offset 16; 0 is where the one before it ends"),
    ROW(hole, PE_ERR_FORMAT, "tensor b has offset 64; 32 is where the one before it ends"),
    ROW(overlap, PE_ERR_FORMAT, "tensor b has offset 0; 32 is where the one before it ends"),
    ROW(after_the_last, PE_ERR_FORMAT, "has 4 bytes after its last tensor"),
    MORE(after_the_keys, PE_ERR_FORMAT, "has 1 bytes after its last tensor"),
    MORE(valid_version2, PE_OK, NULL),
    ROW(valid_model, PE_OK, NULL),
};

/* ---------------------------------------------------------------- helpers */

/* A copy of its exact size, so that the sanitizer sees one byte too many. */
static io_bytes exact(const void *data, size_t size)
{
    io_bytes b = { malloc(size ? size : 1), size, "file" };
    if (b.data)
        memcpy(b.data, data, size);
    return b;
}

static pe_status parse(io_gguf **g, const blob *b, size_t size, pe_error *err)
{
    io_bytes file = exact(b->data, size);
    pe_status s = io_gguf_parse(g, &file, size, err);
    assert_null(file.data);
    assert_true((s == PE_OK) == (*g != NULL));
    return s;
}

static io_gguf *must_parse(void (*make)(blob *))
{
    blob b = { .size = 0 };
    pe_error err = { 0 };
    io_gguf *g;
    make(&b);
    assert_ok(parse(&g, &b, b.size, &err));
    return g;
}

/* Every getter on everything there is, for what it may read outside. */
static void touch_all(const io_gguf *g)
{
    for (size_t i = 0; i <= io_gguf_count(g); i++) {
        io_gguf_value v;
        if (!io_gguf_at(&v, g, i))
            continue;
        for (size_t k = 0; k < v.count; k++) {
            int64_t whole;
            double real;
            bool truth;
            const char *text;
            io_gguf_list_int(&whole, &v, k, IO_ANY_INT, NULL);
            io_gguf_list_real(&real, &v, k, NULL);
            io_gguf_list_bool(&truth, &v, k, NULL);
            io_gguf_list_string(&text, &v, k, NULL);
        }
    }
    for (size_t i = 0; i <= io_gguf_tensor_count(g); i++) {
        io_gguf_tensor t;
        float *values = NULL;
        if (io_gguf_tensor_at(&t, g, i))
            io_gguf_tensor_read_f32(&values, g, &t, NULL);
        free(values);
    }
}

static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *put_file(const char *name, const void *data, size_t size)
{
    const char *path = in_folder(name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    return path;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------- claims */

static void each_class_of_bug_is_refused_with_its_sentence(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(rows); i++) {
        blob b = { .size = 0 };
        pe_error err = { 0 };
        io_gguf *g;
        rows[i].make(&b);
        pe_status s = parse(&g, &b, b.size, &err);
        bool says = !rows[i].says || (strstr(err.text, rows[i].says) && strncmp(err.text, "file: ", 6) == 0);
        if (s != rows[i].status || !says)
            fail_msg("%s: %s: %s", rows[i].name, pe_status_name(s), err.text);
        if (g)
            touch_all(g);
        io_gguf_free(g);
        assert_int_equal(heap.live, 0);
    }
}

static void the_corpus_holds_the_same_files(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(rows); i++) {
        blob b = { .size = 0 };
        char name[80];
        rows[i].make(&b);
        snprintf(name, sizeof name, "%s.gguf", rows[i].name);
        if (rows[i].corpus)
            corpus_check(&b, "gguf", name);
    }
}

static void values_come_back(void **state)
{
    (void)state;
    io_gguf *g = must_parse(valid_keys);
    pe_error err = { 0 };
    static const char *const whole[] = { "one.u8", "one.i8", "one.u16", "one.i16", "one.u32", "one.i32", "one.u64", "one.i64" };
    for (int i = 0; i < COUNT(whole); i++) {
        int64_t v = 0;
        assert_ok(io_gguf_int(&v, g, whole[i], IO_REQUIRED, IO_ANY_INT, &err));
        assert_int_equal(v, 7);
    }
    double real = 0;
    bool truth = false;
    const char *text = NULL;
    assert_ok(io_gguf_real(&real, g, "one.f32", IO_REQUIRED, &err));
    assert_true(real == 1e4);
    assert_ok(io_gguf_real(&real, g, "one.f64", IO_REQUIRED, &err));
    assert_true(real == 1e4);
    assert_ok(io_gguf_bool(&truth, g, "one.bool", IO_REQUIRED, &err));
    assert_true(truth);
    assert_ok(io_gguf_string(&text, g, "one.string", IO_REQUIRED, &err));
    assert_string_equal(text, "h\xC3\xA9");
    assert_int_equal(io_gguf_count(g), 26);
    assert_int_equal(io_gguf_version(g), 3);
    assert_int_equal(io_gguf_alignment(g), 32);
    io_gguf_free(g);
}

static void elements_come_back(void **state)
{
    (void)state;
    io_gguf *g = must_parse(valid_keys);
    pe_error err = { 0 };
    io_gguf_list list;
    int64_t v = 0;
    static const struct {
        const char *key;
        int64_t second;
    } whole[] = { { "list.u8", UINT8_MAX },   { "list.i8", -1 },  { "list.u16", UINT16_MAX }, { "list.i16", -1 },
                  { "list.u32", UINT32_MAX }, { "list.i32", -1 }, { "list.i64", -1 } };
    for (int i = 0; i < COUNT(whole); i++) {
        assert_ok(io_gguf_array(&list, g, whole[i].key, IO_REQUIRED, &err));
        assert_int_equal(list.count, 2);
        assert_ok(io_gguf_list_int(&v, &list, 1, IO_ANY_INT, &err));
        assert_int_equal(v, whole[i].second);
    }
    double real = 0;
    bool truth = false;
    const char *text = NULL;
    assert_ok(io_gguf_array(&list, g, "list.f32", IO_REQUIRED, &err));
    assert_ok(io_gguf_list_real(&real, &list, 1, &err));
    assert_true(real == -0.25);
    assert_ok(io_gguf_array(&list, g, "list.bool", IO_REQUIRED, &err));
    assert_ok(io_gguf_list_bool(&truth, &list, 1, &err));
    assert_true(truth);
    assert_ok(io_gguf_array(&list, g, "list.string", IO_REQUIRED, &err));
    assert_ok(io_gguf_list_string(&text, &list, 0, &err));
    assert_string_equal(text, "h\xC3\xA9");
    assert_ok(io_gguf_list_string(&text, &list, 1, &err));
    assert_string_equal(text, "");
    assert_ok(io_gguf_array(&list, g, "one.array", IO_REQUIRED, &err));
    assert_int_equal(list.count, 0);
    io_gguf_free(g);
}

static void says(const pe_error *err, pe_status got, pe_status want, const char *text)
{
    if (got != want || strcmp(err->text, text) != 0)
        fail_msg("%s: '%s', not '%s'", pe_status_name(got), err->text, text);
}

static void no_value_is_converted(void **state)
{
    (void)state;
    io_gguf *g = must_parse(valid_keys);
    pe_error err = { 0 };
    io_gguf_list list;
    int64_t whole = -5;
    double real = -5;
    bool truth = false;
    const char *text = NULL;
    says(&err, io_gguf_real(&real, g, "one.u32", IO_OPTIONAL, &err), PE_ERR_FORMAT,
         "file: one.u32 is u32; needs a real number (f32, f64)");
    says(&err, io_gguf_int(&whole, g, "one.f32", IO_OPTIONAL, IO_ANY_INT, &err), PE_ERR_FORMAT,
         "file: one.f32 is f32; needs a whole number (u8 to i64)");
    says(&err, io_gguf_int(&whole, g, "one.bool", IO_OPTIONAL, IO_ANY_INT, &err), PE_ERR_FORMAT,
         "file: one.bool is bool; needs a whole number (u8 to i64)");
    says(&err, io_gguf_bool(&truth, g, "one.u8", IO_OPTIONAL, &err), PE_ERR_FORMAT, "file: one.u8 is u8; needs a bool");
    says(&err, io_gguf_string(&text, g, "list.string", IO_OPTIONAL, &err), PE_ERR_FORMAT,
         "file: list.string is an array of string; needs a string");
    says(&err, io_gguf_array(&list, g, "one.i32", IO_OPTIONAL, &err), PE_ERR_FORMAT,
         "file: one.i32 is i32; needs an array");
    assert_int_equal(list.count, 0);
    assert_ok(io_gguf_array(&list, g, "list.i8", IO_REQUIRED, &err)); /* llama.cpp#26690 */
    says(&err, io_gguf_list_real(&real, &list, 0, &err), PE_ERR_FORMAT,
         "file: list.i8 is an array of i8; needs a real number (f32, f64)");
    says(&err, io_gguf_list_int(&whole, &list, 2, IO_ANY_INT, &err), PE_ERR_RANGE,
         "file: list.i8[2] is past the end of the array");
    assert_int_equal(whole, -5);
    assert_true(real == -5 && !truth && !text);
    io_gguf_free(g);
}

static void numbers_stay_in_their_range(void **state)
{
    (void)state;
    io_gguf *g = must_parse(valid_keys);
    pe_error err = { 0 };
    io_gguf_list list;
    int64_t v = -5;
    says(&err, io_gguf_int(&v, g, "one.u8", IO_REQUIRED, (io_int_range){ 8, 9 }, &err), PE_ERR_RANGE,
         "file: one.u8 is 7; needs 8 to 9");
    says(&err, io_gguf_int(&v, g, "one.u8", IO_REQUIRED, (io_int_range){ -9, 6 }, &err), PE_ERR_RANGE,
         "file: one.u8 is 7; needs -9 to 6");
    assert_ok(io_gguf_array(&list, g, "list.u64", IO_REQUIRED, &err));
    says(&err, io_gguf_list_int(&v, &list, 1, (io_int_range){ 0, 9 }, &err), PE_ERR_RANGE,
         "file: list.u64[1] is 18446744073709551615; needs 0 to 9");
    says(&err, io_gguf_int(&v, g, "no.such", IO_REQUIRED, IO_ANY_INT, &err), PE_ERR_FORMAT, "file: no.such is missing");
    assert_ok(io_gguf_int(&v, g, "no.such", IO_OPTIONAL, IO_ANY_INT, &err));
    assert_int_equal(v, -5);
    double real = -5;
    bool truth = true;
    const char *text = "default";
    assert_ok(io_gguf_real(&real, g, "no.such", IO_OPTIONAL, &err));
    assert_ok(io_gguf_bool(&truth, g, "no.such", IO_OPTIONAL, &err));
    assert_ok(io_gguf_string(&text, g, "no.such", IO_OPTIONAL, &err));
    assert_true(real == -5 && truth && strcmp(text, "default") == 0);
    assert_ok(io_gguf_array(&list, g, "no.such", IO_OPTIONAL, &err));
    assert_true(list.count == 0 && !list.at);
    assert_int_equal(io_gguf_list_int(&v, &list, 0, IO_ANY_INT, &err), PE_ERR_RANGE);
    io_gguf_free(g);
}

static void make_odd_values(blob *b)
{
    start(b, 0, 4);
    put_key(b, "nan", IO_GGUF_F32);
    put_number(b, 0x7FC00000, 4);
    put_key(b, "inf", IO_GGUF_F64);
    put_number(b, UINT64_C(0x7FF) << 52, 8);
    put_key(b, "zero", IO_GGUF_STRING);
    put_number(b, 3, 8);
    put(b, "a\0b", 3);
    put_array(b, "bytes", IO_GGUF_STRING, 2);
    put_string(b, "fine");
    put_string(b, "\xFF");
}

static void what_no_text_or_number_is_is_refused_when_asked_for(void **state)
{
    (void)state;
    io_gguf *g = must_parse(make_odd_values);
    pe_error err = { 0 };
    double real;
    const char *text = NULL;
    io_gguf_list list;
    says(&err, io_gguf_real(&real, g, "nan", IO_REQUIRED, &err), PE_ERR_RANGE, "file: nan is NaN; needs a number");
    says(&err, io_gguf_real(&real, g, "inf", IO_REQUIRED, &err), PE_ERR_RANGE, "file: inf is infinite");
    says(&err, io_gguf_string(&text, g, "zero", IO_REQUIRED, &err), PE_ERR_FORMAT,
         "file: zero is not UTF-8 or holds a zero byte");
    assert_ok(io_gguf_array(&list, g, "bytes", IO_REQUIRED, &err));
    assert_ok(io_gguf_list_string(&text, &list, 0, &err));
    says(&err, io_gguf_list_string(&text, &list, 1, &err), PE_ERR_FORMAT,
         "file: bytes[1] is not UTF-8 or holds a zero byte");
    io_gguf_free(g);
}

static void tensors_say_where_they_are(void **state)
{
    (void)state;
    io_gguf *g = must_parse(valid_data);
    io_gguf_tensor t;
    assert_int_equal(io_gguf_tensor_count(g), 2);
    assert_true(io_gguf_tensor_at(&t, g, 0));
    assert_string_equal(t.name, "half");
    assert_string_equal(t.type, "F16");
    assert_true(io_gguf_tensor_find(&t, g, "rope_freqs.weight"));
    assert_int_equal(t.rank, 1);
    assert_true(t.shape[0] == 3 && t.shape[1] == 1 && t.count == 3);
    assert_true(t.offset == 128 && t.bytes == 12);
    assert_false(io_gguf_tensor_find(&t, g, "rope_freqs"));
    assert_false(io_gguf_tensor_at(&t, g, 2));
    io_gguf_free(g);
}

static void small_tensors_are_read(void **state)
{
    (void)state;
    io_gguf *g = must_parse(valid_data);
    io_gguf_tensor t;
    pe_error err = { 0 };
    float *v;
    assert_true(io_gguf_tensor_find(&t, g, "rope_freqs.weight"));
    assert_ok(io_gguf_tensor_read_f32(&v, g, &t, &err));
    assert_true(v[0] == 1 && v[1] == 0.5f && v[2] == 8);
    free(v);
    assert_true(io_gguf_tensor_find(&t, g, "half"));
    t.bytes = 1 << 30; /* the caller's copy is not believed */
    assert_ok(io_gguf_tensor_read_f32(&v, g, &t, &err));
    assert_true(v[0] == 0 && v[4] == 1);
    free(v);
    t.name = "none";
    says(&err, io_gguf_tensor_read_f32(&v, g, &t, &err), PE_ERR_FORMAT, "file: no tensor is named none");
    io_gguf_free(g);
    g = must_parse(valid_zero_dim);
    assert_true(io_gguf_tensor_at(&t, g, 0));
    says(&err, io_gguf_tensor_read_f32(&v, g, &t, &err), PE_ERR_DTYPE,
         "file: tensor none is Q4_0; needs F32, F16, BF16 or F64");
    io_gguf_free(g);
}

/* A tensor that lies past the piece that open reads, behind one too large to be read. */
static const char *put_far_tensor(void)
{
    static uint8_t data[(1 << 20) + 512];
    blob b = { .size = 0 };
    start(&b, 3, 0);
    put_tensor(&b, "large", (1 << 20) / 4 + 8, F32, 0);
    put_tensor(&b, "brain", 2, BF16, (1 << 20) + 32);
    put_tensor(&b, "twice", 1, F64, (1 << 20) + 64);
    pad(&b, 32);
    size_t begin = b.size, at = begin + (1 << 20) + 32;
    put_zeros(&b, 128); /* stands for the tail */
    memset(data, 0, sizeof data);
    memcpy(data, b.data, begin);
    data[at + 3] = 0xC0;       /* 0, -2 */
    data[at + 32 + 7] = 0x40;  /* 2 */
    return put_file("far.gguf", data, at + 40);
}

static void far_tensors_are_read_from_the_file(void **state)
{
    (void)state;
    const char *path = put_far_tensor();
    io_gguf *g;
    io_gguf_tensor t, brain;
    pe_error err = { 0 };
    float *v;
    assert_ok(io_gguf_open(&g, path, &err));
    assert_true(io_gguf_tensor_find(&t, g, "large"));
    assert_int_equal(io_gguf_tensor_read_f32(&v, g, &t, &err), PE_ERR_RANGE);
    assert_true(io_gguf_tensor_find(&brain, g, "brain"));
    play.slow = 1;
    assert_ok(io_gguf_tensor_read_f32(&v, g, &brain, &err));
    assert_true(v[0] == 0 && v[1] == -2);
    free(v);
    play.slow = 0;
    assert_true(io_gguf_tensor_find(&t, g, "twice"));
    assert_ok(io_gguf_tensor_read_f32(&v, g, &t, &err));
    assert_true(v[0] == 2);
    free(v);
    play.fail_call[CALL_PREAD] = 1;
    play.error = EIO;
    assert_int_equal(io_gguf_tensor_read_f32(&v, g, &brain, &err), PE_ERR_IO);
    heap.fail = 1;
    assert_int_equal(io_gguf_tensor_read_f32(&v, g, &brain, &err), PE_ERR_NOMEM);
    heap.fail = 2;
    assert_int_equal(io_gguf_tensor_read_f32(&v, g, &brain, &err), PE_ERR_NOMEM);
    heap.fail = 0;
    assert_int_equal(truncate(path, 1 << 20), 0);
    assert_int_equal(io_gguf_tensor_read_f32(&v, g, &brain, &err), PE_ERR_IO);
    assert_non_null(strstr(err.text, "when it was opened"));
    unlink(path);
    assert_int_equal(io_gguf_tensor_read_f32(&v, g, &brain, &err), PE_ERR_IO);
    io_gguf_free(g);
    assert_int_equal(heap.live, 0);
}

static void cut_anywhere_it_is_refused(void **state)
{
    (void)state;
    void (*const files[])(blob *) = { valid_model, valid_keys, valid_alignment_1 };
    for (int f = 0; f < COUNT(files); f++) {
        blob b = { .size = 0 };
        files[f](&b);
        size_t whole = b.size - padding; /* the last padding may be missing */
        for (size_t size = 0; size < b.size; size++) {
            io_gguf *g;
            pe_error err = { 0 };
            if ((parse(&g, &b, size, &err) == PE_OK) != (size >= whole))
                fail_msg("file %d cut to %zu of %zu bytes: %s", f, size, b.size, err.text);
            assert_null(strstr(err.text, "in memory")); /* all there is is */
            io_gguf_free(g);
            assert_int_equal(heap.live, 0);
            io_bytes part = exact(b.data, size); /* the file is whole, memory is not */
            if (io_gguf_parse(&g, &part, b.size, &err) != PE_OK)
                assert_non_null(strstr(err.text, "of the file in memory"));
            io_gguf_free(g);
        }
    }
}

static void any_changed_byte_costs_no_memory_and_reads_nothing_outside(void **state)
{
    (void)state;
    void (*const files[])(blob *) = { valid_model, valid_keys };
    for (int f = 0; f < COUNT(files); f++) {
        blob b = { .size = 0 };
        files[f](&b);
        for (size_t at = 0; at < b.size; at++)
            for (int flip = 1; flip < 256; flip++) {
                io_gguf *g;
                b.data[at] ^= (uint8_t)flip;
                heap.peak = heap.live;
                parse(&g, &b, b.size, NULL);
                if (g)
                    touch_all(g);
                io_gguf_free(g);
                b.data[at] ^= (uint8_t)flip;
                if (heap.live != 0 || heap.peak > 4 * b.size + (1 << 10)) /* 1 MiB would hide all */
                    fail_msg("byte %zu ^ %d: %zu bytes at most, %zu left", at, flip, heap.peak, heap.live);
            }
    }
}

static void memory_that_runs_out_is_said(void **state)
{
    (void)state;
    blob b = { .size = 0 };
    valid_model(&b);
    const char *path = put_file("model.gguf", b.data, b.size);
    long k = 0;
    for (pe_status s = PE_ERR_NOMEM; s != PE_OK;) {
        io_gguf *g;
        pe_error err = { 0 };
        heap.fail = ++k;
        s = io_gguf_open(&g, path, &err);
        heap.fail = 0;
        if (s != PE_OK && (s != PE_ERR_NOMEM || !err.text[0]))
            fail_msg("allocation %ld: %s: %s", k, pe_status_name(s), err.text);
        io_gguf_free(g);
        assert_int_equal(heap.live, 0);
    }
    assert_int_equal(k, 5); /* the piece, the reader, two tables, and none fails */
}

static void files_that_cannot_be_read_are_said(void **state)
{
    (void)state;
    blob b = { .size = 0 };
    valid_model(&b);
    const char *path = put_file("model.gguf", b.data, b.size);
    io_gguf *g;
    pe_error err = { 0 };
    play.fail_call[CALL_PREAD] = 1;
    play.error = EIO;
    assert_int_equal(io_gguf_open(&g, path, &err), PE_ERR_IO);
    play.slow = 1;
    assert_ok(io_gguf_open(&g, path, &err));
    io_gguf_free(g);
    play.slow = 0;
    play.stuck = true;
    assert_int_equal(io_gguf_open(&g, path, &err), PE_ERR_IO);
    assert_non_null(strstr(err.text, "changed while it was read"));
    play.stuck = false;
    assert_int_equal(io_gguf_open(&g, folder, &err), PE_ERR_IO);
    assert_int_equal(io_gguf_open(&g, in_folder("none"), &err), PE_ERR_IO);
    assert_int_equal(heap.live, 0);
    io_bytes some = exact(b.data, b.size);
    assert_int_equal(io_gguf_parse(&g, &some, b.size - 1, &err), PE_ERR_RANGE);
    some = exact(b.data, b.size);
    assert_int_equal(io_gguf_parse(&g, &some, UINT64_MAX, &err), PE_ERR_RANGE);
    assert_int_equal(heap.live, 0);
}

/* 100 GB of which the disk has a page: 96 GiB of I8 behind the metadata. */
static void a_file_of_any_size_costs_one_piece(void **state)
{
    (void)state;
    blob b = { .size = 0 };
    start(&b, 1, 0);
    put_tensor(&b, "t", UINT64_C(96) << 30, I8, 0);
    pad(&b, 32);
    const char *path = put_file("sparse.gguf", b.data, b.size);
    if (truncate(path, (off_t)((UINT64_C(96) << 30) + b.size)) != 0)
        return; /* a disk without holes */
    io_gguf *g;
    pe_error err = { 0 };
    io_gguf_tensor t;
    assert_ok(io_gguf_open(&g, path, &err));
    assert_true(heap.peak < (1 << 20) + 1024);
    assert_true(io_gguf_tensor_at(&t, g, 0));
    assert_true(t.bytes == INT64_C(96) << 30);
    io_gguf_free(g);
    blob keys = { .size = 0 }, string = { .size = 0 }; /* a file of that size could hold them; nobody reads that far */
    start(&keys, 0, UINT64_C(1) << 32);
    start(&string, 0, 1);
    put_key(&string, "long", IO_GGUF_STRING);
    put_number(&string, UINT64_C(1) << 31, 8);
    for (int i = 0; i < 2; i++) {
        const blob *changed = i ? &string : &keys;
        FILE *f = fopen(path, "r+b");
        assert_non_null(f);
        assert_int_equal(fwrite(changed->data, 1, changed->size, f), changed->size);
        assert_int_equal(fclose(f), 0);
        heap.peak = heap.live = 0;
        assert_int_equal(io_gguf_open(&g, path, &err), PE_ERR_RANGE);
        assert_non_null(strstr(err.text, "the most that is read"));
        assert_true(heap.peak < (1 << 20) + 1024);
    }
    unlink(path);
}

typedef struct big {
    uint8_t *data;
    size_t size;
} big;

static void add(big *b, const void *data, size_t size)
{
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static void add_key(big *b, const char *key, io_gguf_type type)
{
    uint64_t length = strlen(key);
    uint32_t t = type;
    add(b, &length, 8);
    add(b, key, length);
    add(b, &t, 4);
}

#define BIG ((size_t)3 << 20)

static void fill_small_keys(big *b) /* the most keys a file can hold, in the order that heapsort likes least */
{
    uint64_t count = 0;
    char key[16];
    while (b->size + 24 < BIG) {
        snprintf(key, sizeof key, "%llx", (unsigned long long)(count++ * 2654435761u % 1048583u));
        add_key(b, key, IO_GGUF_U8);
        add(b, "", 1);
    }
    memcpy(b->data + 16, &count, 8);
}

static void fill_long_keys(big *b) /* long equal beginnings */
{
    uint64_t count = 0;
    char key[1025];
    while (b->size + 1100 < BIG) {
        snprintf(key, sizeof key, "%01000d%06llu", 0, (unsigned long long)(count++ * 7919 % 10007));
        add_key(b, key, IO_GGUF_U8);
        add(b, "", 1);
    }
    memcpy(b->data + 16, &count, 8);
}

static void fill_strings(big *b)
{
    uint64_t count = 1;
    uint32_t type = IO_GGUF_STRING;
    memcpy(b->data + 16, &count, 8);
    add_key(b, "tokens", IO_GGUF_ARRAY);
    count = (BIG - b->size - 16) / 8;
    add(b, &type, 4);
    add(b, &count, 8);
    memset(b->data + b->size, 0, BIG - b->size);
    b->size += count * 8;
}

static void fill_tensors(big *b)
{
    uint64_t count = 0;
    char key[16];
    while (b->size + 80 < BIG) {
        snprintf(key, sizeof key, "%llx", (unsigned long long)(count++ * 2654435761u % 1048583u));
        add_key(b, key, (io_gguf_type)1); /* the rank, where a key has its type */
        uint64_t none[2] = { 0, I8 };     /* size 0; type, and the low half of offset 0 */
        add(b, none, 16);
        add(b, none, 4);
    }
    memset(b->data + b->size, 0, 32);
    b->size += (32 - b->size % 32) % 32;
    memcpy(b->data + 8, &count, 8);
}

static void time_and_memory_follow_the_file(void **state)
{
    (void)state;
    const struct {
        const char *name;
        void (*fill)(big *);
    } shapes[] = { { "small keys", fill_small_keys },
                   { "long keys", fill_long_keys },
                   { "strings", fill_strings },
                   { "tensors", fill_tensors } };
    for (int i = 0; i < COUNT(shapes); i++) {
        big b = { __real_malloc(BIG), 0 };
        add(&b, "GGUF\3\0\0\0", 8);
        memset(b.data + 8, 0, 16);
        b.size = 24;
        shapes[i].fill(&b);
        const char *path = put_file("big.gguf", b.data, b.size);
        io_gguf *g;
        pe_error err = { 0 };
        heap.peak = heap.live;
        double begin = seconds();
        assert_ok(io_gguf_open(&g, path, &err));
        double took = seconds() - begin, mib = (double)b.size / (1 << 20);
        printf("%s: %.2f MiB, %zu items, %.3f s per MiB, peak heap %.2f x file\n", shapes[i].name, mib,
               io_gguf_count(g) + io_gguf_tensor_count(g), took / mib, (double)heap.peak / (double)b.size);
        assert_true(took < mib);
        assert_true(heap.peak <= 2 * b.size + (1 << 20));
        io_gguf_free(g);
        assert_int_equal(heap.live, 0);
        __real_free(b.data);
    }
}

static void keys_have_at_most_65535_bytes(void **state)
{
    (void)state;
    for (size_t length = 65535; length < 65537; length++) {
        big b = { __real_malloc(1 << 17), 0 };
        uint64_t n = length;
        add(&b, "GGUF\3\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0", 24);
        add(&b, &n, 8);
        memset(b.data + b.size, 'k', length);
        b.size += length;
        add(&b, "\0\0\0\0\7", 5);
        io_bytes file = exact(b.data, b.size);
        io_gguf *g;
        pe_error err = { 0 };
        pe_status s = io_gguf_parse(&g, &file, b.size, &err);
        assert_int_equal(s, length == 65535 ? PE_OK : PE_ERR_FORMAT);
        if (s != PE_OK)
            assert_string_equal(err.text, "file: key 0 has 65536 bytes; at most 65535");
        io_gguf_free(g);
        __real_free(b.data);
    }
}

int main(void)
{
    snprintf(folder, sizeof folder, "/tmp/test_gguf_XXXXXX");
    if (!mkdtemp(folder))
        return 1;
#define TEST(name) cmocka_unit_test_setup(name, each_test)
    const struct CMUnitTest tests[] = {
        TEST(each_class_of_bug_is_refused_with_its_sentence),
        TEST(the_corpus_holds_the_same_files),
        TEST(values_come_back),
        TEST(elements_come_back),
        TEST(no_value_is_converted),
        TEST(numbers_stay_in_their_range),
        TEST(what_no_text_or_number_is_is_refused_when_asked_for),
        TEST(tensors_say_where_they_are),
        TEST(small_tensors_are_read),
        TEST(far_tensors_are_read_from_the_file),
        TEST(cut_anywhere_it_is_refused),
        TEST(any_changed_byte_costs_no_memory_and_reads_nothing_outside),
        TEST(memory_that_runs_out_is_said),
        TEST(files_that_cannot_be_read_are_said),
        TEST(a_file_of_any_size_costs_one_piece),
        TEST(time_and_memory_follow_the_file),
        TEST(keys_have_at_most_65535_bytes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    static const char *const names[] = { "far.gguf", "model.gguf", "sparse.gguf", "big.gguf" };
    for (int i = 0; i < COUNT(names); i++)
        unlink(in_folder(names[i]));
    rmdir(folder);
    return failed;
}
