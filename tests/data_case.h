/* SPDX-License-Identifier: MIT
 *
 * For tests of the lab's data: sources, one of them a file of our own, and what holds of every batch. */
#ifndef POSENC_TESTS_DATA_CASE_H
#define POSENC_TESTS_DATA_CASE_H

#include "common.h"
#include "lab/data.h"

#include <unistd.h>

static char sample_folder[64], sample_path[96];

static inline void write_bytes(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Numbered lines, so that every window is another. */
static inline lab_data *open_source(const char *name, bool masked)
{
    pe_error err = { 0 };
    lab_data *d;
    const char *file = sample_path;
    bool files = strcmp(name, "text") == 0;
    if (lab_data_open(&d, &(lab_source){ .name = name, .masked = masked, .file = &file, .files = files }, &err))
        fail_msg("%s", err.text);
    return d;
}

static inline lab_batch batch_of(const lab_data *d, int64_t sequences, int64_t length)
{
    pe_error err = { 0 };
    lab_batch b;
    if (lab_batch_new(&b, d, LAB_BOTH, sequences, length, &err))
        fail_msg("%s", err.text);
    return b;
}

/* Tokens and targets of the vocabulary; something is asked; a target is the next token or the one under a mask; what
 * was told stands inside the window, that many tokens before, and reads the same where it is repeated. */
static inline void check_whole(const lab_data *d, const lab_batch *b)
{
    int64_t T = b->length, vocab = lab_data_vocab(d);
    for (int64_t row = 0; row < b->sequences; row++) {
        const int32_t *token = b->token + row * T, *target = b->target + row * T, *distance = b->distance + row * T;
        int64_t asked = 0;
        for (int64_t t = 0; t < T; t++) {
            assert_true(token[t] >= 0 && token[t] < vocab);
            assert_true(target[t] >= -1 && target[t] < 256);
            if (distance[t] < 0 || distance[t] > (b->causal ? t + 1 : t))
                fail_msg("token %d of %d was told %d before", (int)t, (int)T, distance[t]);
            assert_true(distance[t] == 0 || target[t] >= 0);
            if (b->causal)
                assert_true(target[t] < 0 || t + 1 == T || target[t] == token[t + 1]);
            else
                assert_int_equal(token[t] == 256, target[t] >= 0);
            asked += target[t] >= 0;
        }
        assert_true(asked > 0);
    }
}

#include "test.h"

AROUND(before_all)
{
    snprintf(sample_folder, sizeof sample_folder, "/tmp/posenc-data-XXXXXX");
    assert_non_null(mkdtemp(sample_folder));
    snprintf(sample_path, sizeof sample_path, "%s/sample.txt", sample_folder);
    static char text[50000];
    int n = 0;
    for (int i = 0; i < 2000; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "line %d is text\n", i);
    write_bytes(sample_path, text, (size_t)n);
}

AROUND(after_all)
{
    unlink(sample_path);
    assert_int_equal(rmdir(sample_folder), 0);
}

#endif
