/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 2 s; needs: io wrap wrapio
 *
 * The GGUF reader against a file for each class of bug that GGUF readers are known for. The cases named after
 * llama.cpp are those of its tests/test-gguf.cpp; the others stand in the lists of CVEs and issues beside them.
 */
#include "gguf_build.h"
#include "io/gguf.h"
#include "io_test.h"

#include <time.h>

/* ---------------------------------------------------------------- files that are as they should be */

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

#define VALID_DATA "start 2 0; data 32"
#define VALID_ALIGNMENT_1 "start 2 1; u32 general.alignment 1; data 1"
#define VALID_ZERO_DIM                                                                                                 \
    "start 1 0; number 4 8; text none; number 2 4; number 32 8; number 0 8; number 2 4; number 0 8; pad 32"

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

/* ---------------------------------------------------------------- files as text */

static uint64_t read_number(const char **text)
{
    char *end;
    uint64_t v = strtoull(*text, &end, 0); /* -1: all bits */
    assert_true(end != *text);
    *text = end;
    return v;
}

/* A word; - is the empty one. */
static const char *read_word(const char **text, char word[80])
{
    int used = 0;
    assert_int_equal(sscanf(*text, " %79[^ ;]%n", word, &used), 1);
    *text += used;
    return strcmp(word, "-") ? word : "";
}

/* A type of values, or of tensors, or its number. */
static uint32_t read_type(const char **text)
{
    static const struct {
        const char *name;
        uint32_t type;
    } ggml[] = { { "F32", F32 }, { "F16", F16 }, { "Q4_0", Q4_0 }, { "Q4_2", Q4_2 }, { "I8", I8 }, { "I64", I64 } };
    char word[80];
    read_word(text, word);
    for (int i = 0; i < IO_GGUF_TYPE_COUNT; i++)
        if (!strcmp(word, io_gguf_type_name((io_gguf_type)i)))
            return (uint32_t)i;
    for (int i = 0; i < COUNT(ggml); i++)
        if (!strcmp(word, ggml[i].name))
            return ggml[i].type;
    return (uint32_t)strtoul(word, NULL, 0);
}

/* One command: what is put, in the order of the file. */
static void write_command(blob *b, const char *command, const char **text)
{
    char word[80];
    if (!strcmp(command, "start")) { /* tensors, keys */
        uint64_t tensors = read_number(text);
        start(b, tensors, read_number(text));
    } else if (!strcmp(command, "u32")) { /* name, value */
        put_key(b, read_word(text, word), IO_GGUF_U32);
        put_number(b, read_number(text), 4);
    } else if (!strcmp(command, "key")) { /* name, type */
        const char *name = read_word(text, word);
        put_key(b, name, (io_gguf_type)read_type(text));
    } else if (!strcmp(command, "array")) { /* name, type, count */
        const char *name = read_word(text, word);
        uint32_t type = read_type(text);
        put_array(b, name, type, read_number(text));
    } else if (!strcmp(command, "tensor")) { /* name, size, type, offset */
        const char *name = read_word(text, word);
        uint64_t size = read_number(text);
        uint32_t type = read_type(text);
        put_tensor(b, name, size, type, read_number(text));
    } else if (!strcmp(command, "square")) { /* name, size, type */
        const char *name = read_word(text, word);
        uint64_t size = read_number(text);
        put_tensor2(b, name, size, size, read_type(text), 0);
    } else if (!strcmp(command, "text")) { /* bytes without a length */
        const char *bytes = read_word(text, word);
        put(b, bytes, strlen(bytes));
    } else if (!strcmp(command, "number")) { /* value, bytes */
        uint64_t v = read_number(text);
        put_number(b, v, (int)read_number(text));
    } else if (!strcmp(command, "zeros")) {
        put_zeros(b, (size_t)read_number(text));
    } else if (!strcmp(command, "pad")) {
        pad(b, (size_t)read_number(text));
    } else if (!strcmp(command, "data")) { /* two tensors and their numbers, aligned so */
        put_data(b, (size_t)read_number(text));
    } else if (!strcmp(command, "byte")) { /* place, value: instead of what is there */
        uint64_t at = read_number(text);
        b->data[at] = (uint8_t)read_number(text);
    } else if (!strcmp(command, "less")) {
        b->size -= (size_t)read_number(text);
    } else
        fail_msg("'%s' is no command", command);
}

static void write_text(blob *b, const char *text)
{
    while (*text) {
        char command[80];
        read_word(&text, command);
        write_command(b, command, &text);
        text += strspn(text, "; ");
    }
}

typedef struct row {
    const char *name; /* valid_...: accepted */
    const char *text; /* what it is made of */
    pe_status status;
    const char *says;
    bool corpus; /* the fuzzer begins with it */
    void (*make)(blob *); /* instead of the text */
} row;

#define ROW(name, text, status, says) { #name, text, status, says, true, NULL }
#define MORE(name, text, status, says) { #name, text, status, says, false, NULL } /* of a class that a ROW has */
#define MADE(name) { #name, NULL, PE_OK, NULL, true, name }

#define CONTROL "key 0 is not UTF-8 or holds a control character"

static const row rows[] = {
    /* llama.cpp, its header cases */
    ROW(bad_magic, "start 0 0; pad 32; byte 0 0x46; byte 1 0x55; byte 2 0x47; byte 3 0x47", PE_ERR_FORMAT,
        "does not begin with GGUF"),
    MORE(version_0, "start 0 0; pad 32; byte 4 0", PE_ERR_FORMAT, "version 0; needs 2 or 3"),
    ROW(version_1, "start 0 0; pad 32; byte 4 1", PE_ERR_FORMAT,
        "version 1, which no program reads any more; needs 2 or 3"),
    MORE(version_future, "start 0 0; pad 32; byte 4 4", PE_ERR_FORMAT, "version 4; needs 2 or 3"),
    ROW(key_count_max, "start 0 -1; zeros 40", PE_ERR_FORMAT,
        "claims 18446744073709551615 keys; its 40 bytes left hold 2 at most"),
    ROW(tensor_count_max, "start -1 0; zeros 40", PE_ERR_FORMAT,
        "claims 18446744073709551615 tensors; its 40 bytes left hold 1 at most"),
    ROW(valid_empty, "start 0 0; pad 32", PE_OK, NULL),
    /* its key cases; the value size is the one it had to take out */
    ROW(key_length_max, "start 0 1; number -1 8; text key1; number 4 4; number 1 4; pad 32", PE_ERR_FORMAT,
        "ends inside key 0: it needs 18446744073709551615 bytes, the file has 32 left"),
    ROW(key_empty, "start 0 1; u32 - 1", PE_ERR_FORMAT, "key 0 is empty"),
    ROW(value_type_unknown, "start 0 1; key key 13; number 1 4", PE_ERR_FORMAT, "key has value type 13; needs 0 to 12"),
    ROW(string_length_max, "start 0 1; key key string; number -1 8; text text", PE_ERR_FORMAT,
        "ends inside key: it needs 18446744073709551615 bytes, the file has 4 left"),
    ROW(key_twice, "start 0 3; u32 twin 1; u32 other 1; u32 twin 2", PE_ERR_FORMAT, "key twin comes twice"),
    MORE(alignment_13, "start 2 1; u32 general.alignment 13; data 32", PE_ERR_FORMAT,
         "general.alignment is 13; needs a power of two from 1 to 65536"),
    ROW(alignment_is_i32, "start 0 1; key general.alignment i32; number 32 4", PE_ERR_FORMAT,
        "general.alignment is of type i32; needs a u32"),
    MADE(valid_keys),
    /* its tensor cases; bad alignment comes with tensors above. Tensors without data pass there, not here. */
    ROW(name_too_long,
        "start 1 0; tensor a_name_of_sixty_four_bytes_which_is_one_more_than_ggml_can_take_ 16 F32 0; "
        "pad 32; zeros 64",
        PE_ERR_FORMAT, "the name of tensor 0 has 64 bytes; at most 63"),
    ROW(rank_5,
        "start 1 0; number 4 8; text deep; number 5 4; number 1 8; number 1 8; number 1 8; number 1 8; "
        "number 1 8; number 0 4; number 0 8",
        PE_ERR_SHAPE, "tensor deep has 5 dimensions; at most 4"),
    ROW(size_negative, "start 1 0; tensor t -1 F32 0; pad 32; zeros 64", PE_ERR_SHAPE,
        "tensor t has 18446744073709551615 for a size; needs 0 to 2^63 - 1"),
    ROW(valid_zero_dim, VALID_ZERO_DIM, PE_OK, NULL),
    MORE(elements_wrap, "start 1 0; square t 0x1fffffffc F32; pad 32", PE_ERR_OVERFLOW,
         "the shape of tensor t does not fit 64 bits"),
    ROW(bytes_wrap, "start 1 0; square t 0x80000000 I64; pad 32", PE_ERR_OVERFLOW, /* CVE-2026-33298: elements fit */
        "the shape of tensor t does not fit 64 bits"),
    ROW(tensor_type_unknown, "start 1 0; tensor t 16 43 0; pad 32; zeros 64", PE_ERR_DTYPE,
        "tensor t has type 43, which ggml does not have"),
    ROW(offset_max, "start 1 0; tensor t 16 F32 -1; pad 32; zeros 64", PE_ERR_FORMAT,
        "tensor t has offset 18446744073709551615; 0 is where the one before it ends"),
    ROW(name_twice, "start 2 0; tensor twin 8 F32 0; tensor twin 8 F32 32; pad 32; zeros 64", PE_ERR_FORMAT,
        "tensor twin comes twice"),
    MORE(inconsistent_alignment, "start 2 0; tensor a 3 F32 0; tensor b 3 F32 12; pad 32; zeros 64", PE_ERR_FORMAT,
         "tensor b has offset 12; 32 is where the one before it ends"),
    ROW(tensors_without_data, "start 1 0; tensor t 16 F32 0; pad 32", PE_ERR_FORMAT,
        "its tensors end at byte 128; the file ends at 64"),
    /* its data cases */
    ROW(data_cut, "start 2 0; data 32; less 23", PE_ERR_FORMAT, /* the last byte of the last tensor, and its padding */
        "its tensors end at byte 170; the file ends at 169"),
    ROW(ends_wrap, /* CVE-2026-27940: the sum of two sizes */
        "start 2 0; tensor a 0x7FFFFFFFFFFFFFC0 I8 0; tensor b 0x7FFFFFFFFFFFFFC0 I8 0x7FFFFFFFFFFFFFC0; pad 32; zeros "
        "32",
        PE_ERR_FORMAT, "tensor a has 9223372036854775744 bytes at offset 0; the file has 128 in all"),
    ROW(valid_data, VALID_DATA, PE_OK, NULL),
    ROW(valid_alignment_1, VALID_ALIGNMENT_1, PE_OK, NULL),
    /* Talos and Databricks 2024: products that wrap. CVE-2025-49847, -52566: a size_t made an int */
    ROW(key_count_wraps, "start 0 0x2000000000000001; zeros 40", PE_ERR_FORMAT, /* times a pointer: 8 */
        "claims 2305843009213693953 keys"),
    MORE(tensor_count_wraps, "start 0x2000000000000001 0; zeros 40", PE_ERR_FORMAT,
         "claims 2305843009213693953 tensors"),
    MORE(key_count_one_too_many, "start 0 3; zeros 40", PE_ERR_FORMAT,
         "claims 3 keys; its 40 bytes left hold 2 at most"),
    MORE(tensor_count_one_too_many, "start 2 0; zeros 40", PE_ERR_FORMAT,
         "claims 2 tensors; its 40 bytes left hold 1 at most"),
    MORE(key_count_past_int, "start 0 0x100000001; zeros 40", PE_ERR_FORMAT, "claims 4294967297 keys"),
    MORE(key_length_past_int, "start 0 1; number 0x100000004 8; text key1; number 4 4; number 1 4; pad 32",
         PE_ERR_FORMAT, "needs 4294967300 bytes"),
    MORE(string_length_past_int, "start 0 1; key key string; number 0x100000004 8; text text", PE_ERR_FORMAT,
         "needs 4294967300 bytes"),
    MORE(array_past_int, "start 0 1; array key u8 0x100000004; zeros 4", PE_ERR_FORMAT,
         "key claims 4294967300 values of u8; the bytes left hold 4 at most"),
    ROW(array_wraps, "start 0 1; array key u32 0x4000000000000001; zeros 4",
        PE_ERR_FORMAT, /* times 4: 4, which is there */
        "key claims 4611686018427387905 values of u32; the bytes left hold 1 at most"),
    MORE(strings_wrap, "start 0 1; array key string 0x2000000000000001; zeros 4", PE_ERR_FORMAT,
         "key claims 2305843009213693953 strings; the bytes left hold 0 at most"),
    /* llama.cpp#27188: a reader that goes by the count takes hours. 49 bytes are the fewest with a key. */
    ROW(array_2_63, "start 0 1; array k string 0x8000000000000000", PE_ERR_FORMAT,
        "k claims 9223372036854775808 strings; the bytes left hold 0 at most"),
    MORE(padding_wraps, "start 1 0; tensor t 0x7FFFFFFFFFFFFFFF I8 0; pad 32; zeros 64",
         PE_ERR_FORMAT, /* llama.cpp#24997 */
         "tensor t has 9223372036854775807 bytes at offset 0; the file has 128 in all"),
    ROW(past_the_end, "start 1 0; tensor t 17 F32 0; pad 32; zeros 64", PE_ERR_FORMAT, /* CVE-2026-7482 */
        "its tensors end at byte 132; the file ends at 128"),
    ROW(alignment_2_31, "start 2 1; u32 general.alignment 0x80000000; data 32", PE_ERR_FORMAT,
        "general.alignment is 2147483648; needs a power of two from 1 to 65536"),
    /* files that two readers take for two things */
    MORE(alignment_0, "start 2 1; u32 general.alignment 0; data 32", PE_ERR_FORMAT,
         "general.alignment is 0; needs a power of two from 1 to 65536"),
    MORE(alignment_is_array, "start 0 1; array general.alignment u32 1; number 32 4", PE_ERR_FORMAT,
         "general.alignment is an array of u32; needs a u32"),
    ROW(big_endian, "start 0 0; pad 32; byte 4 0; byte 7 3", PE_ERR_FORMAT,
        "is a big-endian GGUF file; needs a little-endian one"),
    ROW(key_not_utf8, "start 0 1; u32 a\xC0\xAF 1", PE_ERR_FORMAT, CONTROL),
    MORE(key_with_escape, "start 0 1; u32 a\x1b[2J 1", PE_ERR_FORMAT, CONTROL),
    MORE(key_with_delete, "start 0 1; u32 a\x7F 1", PE_ERR_FORMAT, CONTROL),
    MORE(key_with_c1, "start 0 1; u32 a\xC2\x9B 1", PE_ERR_FORMAT, CONTROL),
    MORE(valid_key_in_latin1, "start 0 1; u32 \xC2\xA0\xC3\xA9 1", PE_OK, NULL),
    MORE(key_with_zero, "start 0 1; u32 a.b 1; byte 33 0", PE_ERR_FORMAT, CONTROL),
    ROW(array_of_arrays, "start 0 1; array key array 1; number 0 4; zeros 16", PE_ERR_FORMAT,
        "key is an array of arrays; needs an array of plain values"),
    MORE(array_type_unknown, "start 0 1; array key 0x80000000 0", PE_ERR_FORMAT,
         "key has value type 2147483648; needs 0 to 12"),
    ROW(bool_2, "start 0 1; array flags bool 3; number 0x020100 3", PE_ERR_FORMAT,
        "flags is a bool of 2; needs 0 or 1"),
    MORE(tensor_type_removed, "start 1 0; tensor t 32 Q4_2 0; pad 32; zeros 64", PE_ERR_DTYPE,
         "tensor t has type 4, which ggml does not have"),
    ROW(row_not_of_blocks, "start 1 0; tensor t 33 Q4_0 0; pad 32; zeros 64", PE_ERR_SHAPE,
        "tensor t has rows of 33; Q4_0 needs a multiple of 32"),
    MORE(offset_unaligned, "start 1 0; tensor t 8 F32 16; pad 32; zeros 64", PE_ERR_FORMAT,
         "tensor t has offset 16; 0 is where the one before it ends"),
    ROW(hole, "start 2 0; tensor a 8 F32 0; tensor b 8 F32 64; pad 32; zeros 128", PE_ERR_FORMAT,
        "tensor b has offset 64; 32 is where the one before it ends"),
    ROW(overlap, "start 2 0; tensor a 8 F32 0; tensor b 8 F32 0; pad 32; zeros 128", PE_ERR_FORMAT,
        "tensor b has offset 0; 32 is where the one before it ends"),
    ROW(after_the_last, "start 2 0; data 32; number 0x04034b50 4", PE_ERR_FORMAT, "has 4 bytes after its last tensor"),
    MORE(after_the_keys, "start 0 0; pad 32; zeros 1", PE_ERR_FORMAT, "has 1 bytes after its last tensor"),
    MORE(valid_version2, "start 0 0; pad 32; byte 4 2", PE_OK, NULL),
    MADE(valid_model),
};

static void make_row(blob *b, const row *r)
{
    if (r->make)
        r->make(b);
    else
        write_text(b, r->text);
}

/* ---------------------------------------------------------------- helpers */

static pe_status parse(io_gguf **g, const blob *b, size_t size)
{
    forget_error();
    io_bytes file = exact(b->data, size);
    pe_status s = io_gguf_parse(g, &file, size, &err);
    assert_null(file.data);
    assert_true((s == PE_OK) == (*g != NULL));
    return s;
}

static io_gguf *must_parse(const blob *b)
{
    io_gguf *g;
    assert_ok(parse(&g, b, b->size));
    return g;
}

static io_gguf *parse_made(void (*make)(blob *))
{
    blob b = { .size = 0 };
    make(&b);
    return must_parse(&b);
}

static io_gguf *parse_text(const char *text)
{
    blob b = { .size = 0 };
    write_text(&b, text);
    return must_parse(&b);
}

/* Every getter on everything there is, for what it may read outside. */
static void touch_all(const io_gguf *g)
{
    for (size_t i = 0; i < g->key_count; i++) {
        io_gguf_value v;
        assert_true(io_gguf_find(&v, g, g->keys[i]));
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
    for (size_t i = 0; i < g->tensor_count; i++) {
        io_gguf_tensor t;
        float *values = NULL;
        assert_true(io_gguf_tensor_find(&t, g, g->tensors[i]));
        io_gguf_tensor_read_f32(&values, g, &t, NULL);
        free(values);
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---------------------------------------------------------------- claims */

TEST(each_class_of_bug_is_refused_with_its_sentence)
{
    for (int i = 0; i < COUNT(rows); i++) {
        blob b = { .size = 0 };
        io_gguf *g;
        make_row(&b, &rows[i]);
        pe_status s = parse(&g, &b, b.size);
        bool says = !rows[i].says || (strstr(err.text, rows[i].says) && strncmp(err.text, "file: ", 6) == 0);
        if (s != rows[i].status || !says)
            fail_msg("%s: %s: %s", rows[i].name, pe_status_name(s), err.text);
        if (g)
            touch_all(g);
        io_gguf_free(g);
        assert_int_equal(heap.live, 0);
    }
}

TEST(the_corpus_holds_the_same_files)
{
    for (int i = 0; i < COUNT(rows); i++) {
        blob b = { .size = 0 };
        char name[80];
        make_row(&b, &rows[i]);
        snprintf(name, sizeof name, "%s.gguf", rows[i].name);
        if (rows[i].corpus)
            corpus_check(&b, "gguf", name);
    }
}

TEST(values_come_back)
{
    io_gguf *g = parse_made(valid_keys);
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
    assert_int_equal(g->key_count, 26);
    assert_int_equal(g->version, 3);
    assert_int_equal(g->alignment, 32);
    io_gguf_free(g);
}

TEST(elements_come_back)
{
    io_gguf *g = parse_made(valid_keys);
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

TEST(no_value_is_converted)
{
    io_gguf *g = parse_made(valid_keys);
    io_gguf_list list;
    int64_t whole = -5;
    double real = -5;
    bool truth = false;
    const char *text = NULL;
    assert_says(io_gguf_real(&real, g, "one.u32", IO_OPTIONAL, &err), PE_ERR_FORMAT,
                "file: one.u32 is u32; needs a real number (f32, f64)");
    assert_says(io_gguf_int(&whole, g, "one.f32", IO_OPTIONAL, IO_ANY_INT, &err), PE_ERR_FORMAT,
                "file: one.f32 is f32; needs a whole number (u8 to i64)");
    assert_says(io_gguf_int(&whole, g, "one.bool", IO_OPTIONAL, IO_ANY_INT, &err), PE_ERR_FORMAT,
                "file: one.bool is bool; needs a whole number (u8 to i64)");
    assert_says(io_gguf_bool(&truth, g, "one.u8", IO_OPTIONAL, &err), PE_ERR_FORMAT,
                "file: one.u8 is u8; needs a bool");
    assert_says(io_gguf_string(&text, g, "list.string", IO_OPTIONAL, &err), PE_ERR_FORMAT,
                "file: list.string is an array of string; needs a string");
    assert_says(io_gguf_array(&list, g, "one.i32", IO_OPTIONAL, &err), PE_ERR_FORMAT,
                "file: one.i32 is i32; needs an array");
    assert_int_equal(list.count, 0);
    assert_ok(io_gguf_array(&list, g, "list.i8", IO_REQUIRED, &err)); /* llama.cpp#26690 */
    assert_says(io_gguf_list_real(&real, &list, 0, &err), PE_ERR_FORMAT,
                "file: list.i8 is an array of i8; needs a real number (f32, f64)");
    assert_says(io_gguf_list_int(&whole, &list, 2, IO_ANY_INT, &err), PE_ERR_RANGE,
                "file: list.i8[2] is past the end of the array");
    assert_int_equal(whole, -5);
    assert_true(real == -5 && !truth && !text);
    io_gguf_free(g);
}

TEST(numbers_stay_in_their_range)
{
    io_gguf *g = parse_made(valid_keys);
    io_gguf_list list;
    int64_t v = -5;
    assert_says(io_gguf_int(&v, g, "one.u8", IO_REQUIRED, (io_int_range){ 8, 9 }, &err), PE_ERR_RANGE,
                "file: one.u8 is 7; needs 8 to 9");
    assert_says(io_gguf_int(&v, g, "one.u8", IO_REQUIRED, (io_int_range){ -9, 6 }, &err), PE_ERR_RANGE,
                "file: one.u8 is 7; needs -9 to 6");
    assert_ok(io_gguf_array(&list, g, "list.u64", IO_REQUIRED, &err));
    assert_says(io_gguf_list_int(&v, &list, 1, (io_int_range){ 0, 9 }, &err), PE_ERR_RANGE,
                "file: list.u64[1] is 18446744073709551615; needs 0 to 9");
    assert_says(io_gguf_int(&v, g, "no.such", IO_REQUIRED, IO_ANY_INT, &err), PE_ERR_FORMAT,
                "file: no.such is missing");
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

#define ODD_VALUES                                                                                                     \
    "start 0 4; key nan f32; number 0x7FC00000 4; key inf f64; number 0x7FF0000000000000 8; key zero string; "         \
    "number 3 8; number 0x620061 3; array bytes string 2; number 4 8; text fine; number 1 8; number 0xFF 1"

TEST(what_no_text_or_number_is_is_refused_when_asked_for)
{
    io_gguf *g = parse_text(ODD_VALUES);
    double real;
    const char *text = NULL;
    io_gguf_list list;
    assert_says(io_gguf_real(&real, g, "nan", IO_REQUIRED, &err), PE_ERR_RANGE, "file: nan is NaN; needs a number");
    assert_says(io_gguf_real(&real, g, "inf", IO_REQUIRED, &err), PE_ERR_RANGE, "file: inf is infinite");
    assert_says(io_gguf_string(&text, g, "zero", IO_REQUIRED, &err), PE_ERR_FORMAT,
                "file: zero is not UTF-8 or holds a zero byte");
    assert_ok(io_gguf_array(&list, g, "bytes", IO_REQUIRED, &err));
    assert_ok(io_gguf_list_string(&text, &list, 0, &err));
    assert_says(io_gguf_list_string(&text, &list, 1, &err), PE_ERR_FORMAT,
                "file: bytes[1] is not UTF-8 or holds a zero byte");
    io_gguf_free(g);
}

TEST(tensors_say_where_they_are)
{
    io_gguf *g = parse_text(VALID_DATA);
    io_gguf_tensor t;
    assert_int_equal(g->tensor_count, 2);
    assert_true(io_gguf_tensor_find(&t, g, "half"));
    assert_string_equal(t.name, "half");
    assert_string_equal(t.type, "F16");
    assert_true(io_gguf_tensor_find(&t, g, "rope_freqs.weight"));
    assert_int_equal(t.rank, 1);
    assert_true(t.shape[0] == 3 && t.shape[1] == 1 && t.count == 3);
    assert_true(t.offset == 128 && t.bytes == 12);
    assert_false(io_gguf_tensor_find(&t, g, "rope_freqs"));
    io_gguf_free(g);
}

TEST(small_tensors_are_read)
{
    io_gguf *g = parse_text(VALID_DATA);
    io_gguf_tensor t;
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
    assert_says(io_gguf_tensor_read_f32(&v, g, &t, &err), PE_ERR_FORMAT, "file: no tensor is named none");
    io_gguf_free(g);
    g = parse_text(VALID_ZERO_DIM);
    assert_true(io_gguf_tensor_find(&t, g, "none"));
    assert_says(io_gguf_tensor_read_f32(&v, g, &t, &err), PE_ERR_DTYPE,
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
    return put_in_folder("far.gguf", data, at + 40);
}

TEST(far_tensors_are_read_from_the_file)
{
    const char *path = put_far_tensor();
    io_gguf *g;
    io_gguf_tensor t, brain;
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
    assert_refused(io_gguf_tensor_read_f32(&v, g, &brain, &err), PE_ERR_IO, "when it was opened");
    unlink(path);
    assert_int_equal(io_gguf_tensor_read_f32(&v, g, &brain, &err), PE_ERR_IO);
    io_gguf_free(g);
    assert_int_equal(heap.live, 0);
}

TEST(cut_anywhere_it_is_refused)
{
    for (int f = 0; f < 3; f++) {
        blob b = { .size = 0 };
        if (f == 2)
            write_text(&b, VALID_ALIGNMENT_1);
        else
            (f ? valid_keys : valid_model)(&b);
        size_t whole = b.size - padding; /* the last padding may be missing */
        for (size_t size = 0; size < b.size; size++) {
            io_gguf *g;
            if ((parse(&g, &b, size) == PE_OK) != (size >= whole))
                fail_msg("file %d cut to %zu of %zu bytes: %s", f, size, b.size, err.text);
            assert_null(strstr(err.text, "in memory")); /* all there is is */
            io_gguf_free(g);
            assert_int_equal(heap.live, 0);
            forget_error();
            io_bytes part = exact(b.data, size); /* the file is whole, memory is not */
            if (io_gguf_parse(&g, &part, b.size, &err) != PE_OK)
                assert_non_null(strstr(err.text, "of the file in memory"));
            io_gguf_free(g);
        }
    }
}

TEST(any_changed_byte_costs_no_memory_and_reads_nothing_outside)
{
    void (*const files[])(blob *) = { valid_model, valid_keys };
    for (int f = 0; f < COUNT(files); f++) {
        blob b = { .size = 0 };
        files[f](&b);
        for (size_t at = 0; at < b.size; at++)
            for (int flip = 1; flip < 256; flip++) {
                io_gguf *g;
                b.data[at] ^= (uint8_t)flip;
                heap.peak = heap.live;
                parse(&g, &b, b.size);
                if (g)
                    touch_all(g);
                io_gguf_free(g);
                b.data[at] ^= (uint8_t)flip;
                if (heap.live != 0 || heap.peak > 4 * b.size + (1 << 10)) /* 1 MiB would hide all */
                    fail_msg("byte %zu ^ %d: %zu bytes at most, %zu left", at, flip, heap.peak, heap.live);
            }
    }
}

TEST(memory_that_runs_out_is_said)
{
    blob b = { .size = 0 };
    valid_model(&b);
    const char *path = put_in_folder("model.gguf", b.data, b.size);
    long k = 0;
    for (pe_status s = PE_ERR_NOMEM; s != PE_OK;) {
        io_gguf *g;
        heap.fail = ++k;
        forget_error();
        s = io_gguf_open(&g, path, &err);
        heap.fail = 0;
        if (s != PE_OK && (s != PE_ERR_NOMEM || !err.text[0]))
            fail_msg("allocation %ld: %s: %s", k, pe_status_name(s), err.text);
        io_gguf_free(g);
        assert_int_equal(heap.live, 0);
    }
    assert_int_equal(k, 5); /* the piece, the reader, two tables, and none fails */
}

TEST(files_that_cannot_be_read_are_said)
{
    blob b = { .size = 0 };
    valid_model(&b);
    const char *path = put_in_folder("model.gguf", b.data, b.size);
    io_gguf *g;
    play.fail_call[CALL_PREAD] = 1;
    play.error = EIO;
    assert_int_equal(io_gguf_open(&g, path, &err), PE_ERR_IO);
    play.slow = 1;
    assert_ok(io_gguf_open(&g, path, &err));
    io_gguf_free(g);
    play.slow = 0;
    play.stuck = true;
    assert_refused(io_gguf_open(&g, path, &err), PE_ERR_IO, "changed while it was read");
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
TEST(a_file_of_any_size_costs_one_piece)
{
    blob b = { .size = 0 };
    start(&b, 1, 0);
    put_tensor(&b, "t", UINT64_C(96) << 30, I8, 0);
    pad(&b, 32);
    const char *path = put_in_folder("sparse.gguf", b.data, b.size);
    if (truncate(path, (off_t)((UINT64_C(96) << 30) + b.size)) != 0)
        return; /* a disk without holes */
    io_gguf *g;
    io_gguf_tensor t;
    assert_ok(io_gguf_open(&g, path, &err));
    assert_true(heap.peak < (1 << 20) + 8192); /* malloc counts whole pages */
    assert_true(io_gguf_tensor_find(&t, g, "t"));
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
        assert_refused(io_gguf_open(&g, path, &err), PE_ERR_RANGE, "the most that is read");
        assert_true(heap.peak < (1 << 20) + 8192);
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
    add(b, key, (size_t)length);
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
    b->size += (size_t)count * 8;
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

TEST(time_and_memory_follow_the_file)
{
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
        const char *path = put_in_folder("big.gguf", b.data, b.size);
        io_gguf *g;
        heap.peak = heap.live;
        double begin = seconds();
        assert_ok(io_gguf_open(&g, path, &err));
        double took = seconds() - begin, mib = (double)b.size / (1 << 20);
        printf("%s: %.2f MiB, %zu items, %.3f s per MiB, peak heap %.2f x file\n", shapes[i].name, mib,
               g->key_count + g->tensor_count, took / mib, (double)heap.peak / (double)b.size);
        assert_true(heap.peak <= 2 * b.size + (1 << 20));
        io_gguf_free(g);
        assert_int_equal(heap.live, 0);
        __real_free(b.data);
    }
}

TEST(keys_have_at_most_65535_bytes)
{
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
        forget_error();
        pe_status s = io_gguf_parse(&g, &file, b.size, &err);
        assert_int_equal(s, length == 65535 ? PE_OK : PE_ERR_FORMAT);
        if (s != PE_OK)
            assert_string_equal(err.text, "file: key 0 has 65536 bytes; at most 65535");
        io_gguf_free(g);
        __real_free(b.data);
    }
}
