/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: io
 *
 * Headers of llama2.c models: whatever they say has to be the size of the file.
 */
#include "corpus.h"

#include "../src/io/io.h"

#include <unistd.h>
#include "test.h"

/* The header that the small models below share: (0.)..6. as export.py of llama2.c writes them. */
enum { DIM, HIDDEN, LAYERS, HEADS, KV_HEADS, VOCAB, SEQ, NUMBERS };
static const int32_t small[NUMBERS] = { 8, 4, 1, 2, 1, 3, 2 };

/* Weights of it, counted by hand: embedding 24; q and o 64 each, k and v 32 each; w1, w2, w3 32 each. */
enum { NORMS = 8 + 8 + 8, WEIGHTS = 24 + 64 + 64 + 32 + 32 + 3 * 32, TABLES = 2 * 2 * 2, GROUP = 4 };

static void put_numbers(blob *b, const int32_t *numbers)
{
    for (int i = 0; i < NUMBERS; i++)
        put_number(b, (uint32_t)numbers[i], 4);
}

static void put_head(blob *b, uint32_t version, uint8_t shared)
{
    put(b, "24ka", 4); /* 0x616b3432, little-endian */
    put_number(b, version, 4);
    put_numbers(b, small);
    put_number(b, shared, 1);
}

static void valid_version0(blob *b)
{
    put_numbers(b, small);
    put_zeros(b, 4 * (NORMS + WEIGHTS + TABLES));
}

static void valid_version0_own_classifier(blob *b)
{
    int32_t numbers[NUMBERS];
    memcpy(numbers, small, sizeof numbers);
    numbers[VOCAB] = -small[VOCAB];
    put_numbers(b, numbers);
    put_zeros(b, 4 * (NORMS + WEIGHTS + 24 + TABLES));
}

static void valid_version1(blob *b)
{
    put_head(b, 1, 1);
    put_zeros(b, 256 - b->size + 4 * (NORMS + WEIGHTS));
}

static void valid_version2(blob *b)
{
    put_head(b, 2, 0);
    put_number(b, GROUP, 4);
    put_zeros(b, 256 - b->size + 4 * NORMS + WEIGHTS + 24 + 4 * (WEIGHTS + 24) / GROUP);
}

static void sizes_wrap(blob *b)
{
    static const int32_t most[NUMBERS] = { INT32_MAX - 1, INT32_MAX, INT32_MAX, 1, 1, INT32_MAX, INT32_MAX };
    put_numbers(b, most);
}

static void text(blob *b)
{
    put(b, "this is a text file, not a model\n", 33);
}

/* A valid file with one fault: a byte that is another, a number of the header, bytes more or less. */
enum { NONE, BYTE, NUMBER, SIZE };

static const struct {
    const char *name;
    void (*of)(blob *); /* NULL: a header and 100 zeros */
    pe_status status;
    const char *says;
    int fault, where;
    int32_t value;
} rows[] = {
    { "valid_version0", valid_version0, PE_OK, NULL, NONE, 0, 0 },
    { "valid_version0_own_classifier", valid_version0_own_classifier, PE_OK, NULL, NONE, 0, 0 },
    { "valid_version1", valid_version1, PE_OK, NULL, NONE, 0, 0 },
    { "valid_version2", valid_version2, PE_OK, NULL, NONE, 0, 0 },
    { "version_3", valid_version1, PE_ERR_FORMAT, "is llama2.c version 3; needs 1 or 2", BYTE, 4, 3 },
    { "shared_2", valid_version1, PE_ERR_FORMAT, "shared_classifier is 2; needs 0 or 1", BYTE, 36, 2 },
    { "padding_not_zero", valid_version1, PE_ERR_FORMAT, "byte 255 of the header is 1; needs 0", BYTE, 255, 1 },
    { "group_0", valid_version2, PE_ERR_FORMAT, "group_size is 0; needs a divisor of dim, 8", BYTE, 37, 0 },
    { "group_not_a_divisor", valid_version2, PE_ERR_FORMAT, "group_size is 3; needs a divisor of dim, 8", BYTE, 37, 3 },
    { "one_byte_more", valid_version0, PE_ERR_FORMAT,
      "asks for 1404 bytes, the file has 1405; it may not be a llama2.c model at all", SIZE, 0, 1 },
    { "one_byte_less", valid_version2, PE_ERR_FORMAT, "asks for 1024 bytes, the file has 1023", SIZE, 0, -1 },
    { "heads_0", NULL, PE_ERR_FORMAT, "n_heads is 0; needs 1 or more", NUMBER, HEADS, 0 },
    { "layers_negative", NULL, PE_ERR_FORMAT, "n_layers is -1; needs 1 or more", NUMBER, LAYERS, -1 },
    { "vocab_least", NULL, PE_ERR_FORMAT, "asks for", NUMBER, VOCAB, INT32_MIN }, /* its absolute value is no int32 */
    { "heads_not_a_divisor", NULL, PE_ERR_SHAPE, "dim is 8 and n_heads 3; needs heads of one even size", NUMBER, HEADS,
      3 },
    { "heads_of_odd_size", NULL, PE_ERR_SHAPE, "dim is 8 and n_heads 8; needs heads of one even size", NUMBER, HEADS,
      8 },
    { "kv_heads_not_a_divisor", NULL, PE_ERR_SHAPE, "n_kv_heads is 5; needs a divisor of n_heads, 2", NUMBER, KV_HEADS,
      5 },
    { "sizes_wrap", sizes_wrap, PE_ERR_OVERFLOW, "do not fit 64 bits", NONE, 0, 0 },
    { "text", text, PE_ERR_SHAPE, "needs heads of one even size", NONE, 0, 0 },
};

static void make_row(blob *b, int i)
{
    int32_t numbers[NUMBERS];
    memcpy(numbers, small, sizeof numbers);
    if (rows[i].of)
        rows[i].of(b);
    if (rows[i].fault == BYTE)
        b->data[rows[i].where] = (uint8_t)rows[i].value;
    if (rows[i].fault == SIZE)
        b->size += (size_t)rows[i].value;
    if (rows[i].fault == NUMBER) {
        numbers[rows[i].where] = rows[i].value;
        put_numbers(b, numbers);
        put_zeros(b, 100);
    }
}

/* A copy of its exact size, so that the sanitizer sees one byte too many. */
static pe_status parse(io_llama2c *m, const blob *b, size_t size)
{
    forget_error();
    uint8_t *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, b->data, size);
    pe_status s = io_llama2c_parse(m, exact, size, size, "file", &err);
    free(exact);
    return s;
}

TEST(each_class_of_bug_is_refused_with_its_sentence)
{
    for (int i = 0; i < COUNT(rows); i++) {
        blob b = { .size = 0 };
        io_llama2c m;
        make_row(&b, i);
        pe_status s = parse(&m, &b, b.size);
        bool says = !rows[i].says || (strstr(err.text, rows[i].says) && strncmp(err.text, "file: ", 6) == 0);
        if (s != rows[i].status || !says)
            fail_msg("%s: %s: %s", rows[i].name, pe_status_name(s), err.text);
        assert_true((s == PE_OK) == (m.dim != 0));
    }
}

TEST(the_corpus_holds_the_same_files)
{
    for (int i = 0; i < COUNT(rows); i++) {
        blob b = { .size = 0 };
        char name[80];
        make_row(&b, i);
        snprintf(name, sizeof name, "%s.bin", rows[i].name);
        corpus_check(&b, "llama2c", name);
    }
}

TEST(headers_come_back)
{
    void (*const files[])(blob *) = { valid_version0, valid_version1, valid_version2 };
    for (int i = 0; i < COUNT(files); i++) {
        blob b = { .size = 0 };
        io_llama2c m;
        files[i](&b);
        assert_ok(parse(&m, &b, b.size));
        assert_int_equal(m.version, i);
        assert_true(m.dim == 8 && m.hidden_dim == 4 && m.layers == 1 && m.heads == 2 && m.kv_heads == 1);
        assert_true(m.vocab_size == 3 && m.seq_len == 2 && m.head_size == 4);
        assert_int_equal(m.shared_classifier, i < 2);
        assert_int_equal(m.group_size, i == 2 ? GROUP : 0);
    }
}

static void check_stories(const io_llama2c *m)
{
    assert_true(m->version == 0 && m->dim == 64 && m->hidden_dim == 172 && m->layers == 5 && m->heads == 8);
    assert_true(m->kv_heads == 4 && m->vocab_size == 512 && m->seq_len == 512 && m->shared_classifier);
}

/* The header and the size of a model in use, and the model itself where it is at hand. */
TEST(stories260k_is_read)
{
    static const int32_t numbers[NUMBERS] = { 64, 172, 5, 8, 4, 512, 512 };
    blob b = { .size = 0 };
    io_llama2c m;
    put_numbers(&b, numbers);
    assert_ok(io_llama2c_parse(&m, b.data, b.size, 1056540, "stories260K.bin", &err));
    check_stories(&m);
    const char *shared = getenv("POSENC_SHARED");
    char path[300];
    snprintf(path, sizeof path, "%s/data/stories260K.bin", shared ? shared : "../shared");
    if (access(path, R_OK) != 0)
        return;
    assert_ok(io_llama2c_open(&m, path, &err));
    check_stories(&m);
}

TEST(cut_or_changed_anywhere_it_is_refused_or_its_size_fits)
{
    void (*const files[])(blob *) = { valid_version0, valid_version0_own_classifier, valid_version1, valid_version2 };
    for (int i = 0; i < COUNT(files); i++) {
        blob b = { .size = 0 };
        io_llama2c m;
        files[i](&b);
        for (size_t size = 0; size < b.size; size++)
            assert_int_not_equal(parse(&m, &b, size), PE_OK);
        for (size_t at = 0; at < (i < 2 ? 28 : 256); at++)
            for (int flip = 1; flip < 256; flip++) {
                b.data[at] ^= (uint8_t)flip;
                bool number_of_seq = i >= 2 && at >= 32 && at < 36;       /* no table depends on it */
                bool heads = at >= (i < 2 ? 12 : 20) && at < (i < 2 ? 20 : 28); /* two heads for two of another size */
                if (parse(&m, &b, b.size) == PE_OK && !number_of_seq && !heads)
                    fail_msg("file %d: byte %zu ^ %d is taken", i, at, flip);
                b.data[at] ^= (uint8_t)flip;
            }
    }
}

TEST(files_are_opened_or_refused)
{
    io_llama2c m;
    blob b = { .size = 0 };
    char path[] = "/tmp/test_llama2c_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    valid_version2(&b);
    assert_int_equal(write(fd, b.data, b.size), (ssize_t)b.size);
    assert_ok(io_llama2c_open(&m, path, &err));
    assert_int_equal(m.group_size, GROUP);
    assert_int_equal(ftruncate(fd, 3), 0);
    assert_refused(io_llama2c_open(&m, path, &err), PE_ERR_FORMAT, "has 3 bytes; a llama2.c header has 28");
    close(fd);
    unlink(path);
    assert_int_equal(io_llama2c_open(&m, path, &err), PE_ERR_IO);
    assert_int_equal(io_llama2c_open(&m, "/", &err), PE_ERR_IO);
}
