/* SPDX-License-Identifier: MIT
 *
 * Small files that a test makes: fuzz/corpus/KIND/NAME holds the same bytes for the fuzzer. With
 * POSENC_WRITE_CORPUS=fuzz/corpus in the environment the test writes them, without it compares. */
#ifndef TESTS_CORPUS_H
#define TESTS_CORPUS_H

#include "common.h"

#define CORPUS_FILE_MAX 2048

typedef struct blob {
    uint8_t data[1 << 13];
    size_t size;
} blob;

static inline void put(blob *b, const void *data, size_t size)
{
    assert_true(size <= sizeof b->data - b->size);
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static inline void put_number(blob *b, uint64_t v, int bytes) /* little-endian */
{
    for (int i = 0; i < bytes; i++)
        put(b, &(uint8_t){ (uint8_t)(v >> 8 * i) }, 1);
}

static inline void put_zeros(blob *b, size_t count)
{
    while (count-- > 0)
        put_number(b, 0, 1);
}

static inline void corpus_check(const blob *b, const char *kind, const char *name)
{
    const char *folder = getenv("POSENC_WRITE_CORPUS");
    char path[300];
    uint8_t there[CORPUS_FILE_MAX + 1];
    snprintf(path, sizeof path, "%s/%s/%s", folder ? folder : "fuzz/corpus", kind, name);
    assert_true(b->size <= CORPUS_FILE_MAX);
    FILE *f = fopen(path, folder ? "wb" : "rb");
    if (!f)
        fail_msg("%s: cannot be opened", path);
    if (folder)
        assert_int_equal(fwrite(b->data, 1, b->size, f), b->size);
    else if (fread(there, 1, sizeof there, f) != b->size || memcmp(there, b->data, b->size) != 0)
        fail_msg("%s: differs from what the test makes; POSENC_WRITE_CORPUS=fuzz/corpus writes it", path);
    assert_int_equal(fclose(f), 0);
}

#endif
