/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: lab
 *
 * What the lab's models are trained on: the same bits again, told before it is asked, and solvable from the window. */
#include "data_case.h"

/* ---------------------------------------------------------------- every source */

TEST(every_batch_is_whole)
{
    static const int64_t length[] = { 16, 17, 18, 19, 20, 21, 25, 31, 64, 100, 255, 256, 1000 };
    for (int i = 0; i < lab_source_count(); i++)
        for (int masked = 0; masked < 2; masked++)
            for (int k = 0; k < COUNT(length); k++) {
                lab_data *d = open_source(lab_source_at(i)->name, masked);
                lab_batch b = batch_of(d, 3, lab_data_length(d, length[k]));
                assert_true(b.length >= 16 && b.length <= length[k]);
                for (int step = 0; step < 8; step++) {
                    if (step < 4)
                        lab_data_train(d, &b, 7, step);
                    else
                        lab_data_test(d, &b, step);
                    check_whole(d, &b);
                }
                lab_batch_free(&b);
                lab_data_free(d);
            }
}

/* 15 % of 16 tokens are none in one window of 13: still something is asked, or a batch of one has no gradient. */
TEST(every_window_asks_something)
{
    for (int i = 0; i < lab_source_count(); i++)
        for (int masked = 0; masked < 2; masked++) {
            lab_data *d = open_source(lab_source_at(i)->name, masked);
            lab_batch b = batch_of(d, 1, 16);
            for (int step = 0; step < 400; step++) {
                lab_data_train(d, &b, 1, step);
                check_whole(d, &b);
                lab_data_test(d, &b, step);
                check_whole(d, &b);
            }
            lab_batch_free(&b);
            lab_data_free(d);
        }
}

static uint64_t hash(uint64_t h, const int32_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        h = (h ^ (uint32_t)x[i]) * 0x100000001b3u;
    return h;
}

static uint64_t hash_batch(const lab_batch *b)
{
    int64_t n = b->sequences * b->length;
    return hash(hash(hash(1, b->token, n), b->target, n), b->distance, n);
}

/* Golden: a change here changes what every run was trained on. */
TEST(every_source_is_the_same_bits_everywhere)
{
    static const uint64_t golden[][2] = {
        { 0x9a0a1e81e3e24853u, 0x6caa4206027d4029u },
        { 0xc240a4edf4866aebu, 0xfd8f24c7f213b76bu },
        { 0x562c9f74d18935dfu, 0xb480409990241161u },
        { 0xaa3113a6e218e0b7u, 0x85d09c9166c2261du },
        { 0xcc6c34c8bd754989u, 0x1ff7a20ec7fd86abu },
        { 0xe1befd22c41c9a00u, 0x314686ffeda8650cu },
        { 0x0581b4941add4f1bu, 0x787fc62253c60f36u },
        { 0xeb22aa92c1628473u, 0x8540ad4836cbbc22u },
        { 0x8d3605b837e7b4e5u, 0x1ca6e283cc57ba92u },
    };
    bool right = true;
    for (int i = 0; i < lab_source_count(); i++) {
        lab_data *d = open_source(lab_source_at(i)->name, false);
        lab_batch b = batch_of(d, 2, lab_data_length(d, 300));
        lab_data_train(d, &b, 42, 1000);
        uint64_t train = hash_batch(&b);
        lab_data_test(d, &b, 5);
        uint64_t test = hash_batch(&b);
        if (i >= COUNT(golden) || train != golden[i][0] || test != golden[i][1]) {
            print_message("%s: { 0x%016" PRIx64 "u, 0x%016" PRIx64 "u }\n", lab_source_at(i)->name, train, test);
            right = false;
        }
        lab_batch_free(&b);
        lab_data_free(d);
    }
    assert_true(right);
}

TEST(every_row_step_and_seed_is_another)
{
    for (int i = 0; i < lab_source_count(); i++) {
        lab_data *d = open_source(lab_source_at(i)->name, false);
        lab_batch b = batch_of(d, 2, 256);
        uint64_t seen[6];
        for (int k = 0; k < 3; k++) {
            lab_data_train(d, &b, k < 2 ? 1 : 2, k < 2 ? k : 0);
            for (int row = 0; row < 2; row++)
                seen[2 * k + row] = hash(1, b.token + row * 256, 256);
        }
        for (int k = 0; k < 6; k++)
            for (int j = 0; j < k; j++)
                assert_int_not_equal(seen[k], seen[j]);
        lab_batch_free(&b);
        lab_data_free(d);
    }
}

TEST(unknown_sources_and_sizes_are_refused)
{
    lab_data *d;
    assert_int_equal(lab_data_open(&d, &(lab_source){ .name = "poems" }, &err), PE_ERR_SPEC);
    assert_null(d);
    assert_non_null(strstr(err.text, "poems"));
    assert_non_null(strstr(err.text, "stories, copy"));
    const char *file = "x.txt";
    assert_int_equal(lab_data_open(&d, &(lab_source){ .name = "copy", .file = &file, .files = 1 }, &err), PE_ERR_SPEC);
    d = open_source("grid", false);
    lab_batch b;
    static const int64_t bad[][2] = { { 0, 64 }, { 1, 15 }, { 1, 65 }, { 1, -1 }, { 1, INT64_MAX } };
    for (int i = 0; i < COUNT(bad); i++)
        assert_int_equal(lab_batch_new(&b, d, LAB_BOTH, bad[i][0], bad[i][1], &err), PE_ERR_RANGE);
    assert_int_equal(lab_batch_new(&b, d, LAB_BOTH, INT64_MAX, 64, &err), PE_ERR_NOMEM);
    assert_null(b.token);
    assert_int_equal(lab_data_length(d, 0), 16);
    assert_int_equal(lab_data_length(d, 80), 64);
    lab_data_free(d);
    lab_data_free(NULL);
}

/* Of 60000 tokens: 14 and 16 % are 6 deviations away. */
TEST(masks_are_15_percent_and_only_they_are_asked)
{
    static const char *const name[] = { "stories", "text" };
    for (int i = 0; i < COUNT(name); i++) {
        lab_data *d = open_source(name[i], true);
        assert_int_equal(lab_data_vocab(d), 257);
        assert_false(lab_data_causal(d));
        lab_batch b = batch_of(d, 100, 600);
        lab_data_train(d, &b, 3, 4);
        check_whole(d, &b);
        int64_t masked = 0;
        for (int64_t t = 0; t < 60000; t++)
            masked += b.token[t] == 256;
        assert_in_range(masked, 8400, 9600);
        lab_batch_free(&b);
        lab_data_free(d);
    }
}

TEST(a_window_prints_with_what_is_recalled_in_brackets)
{
    char out[400];
    int64_t at[4] = { 0, 1, 2, 3 };
    int32_t token[4] = { 'a', 'b', '\x1b', 'a' }, target[4] = { 'b', 27, 'a', 'b' }, distance[4] = { 0, 0, 3, 3 };
    lab_batch b = { .token = token, .target = target, .distance = distance, .at = at, .sequences = 1, .length = 4,
                    .axes = 1, .causal = true };
    lab_batch_print(&b, 0, out, sizeof out);
    assert_string_equal(out, "ab?[ab]");
    for (size_t cap = 1; cap <= 8; cap++) {
        out[cap] = '#';
        lab_batch_print(&b, 0, out, cap);
        assert_true(strlen(out) < cap);
        assert_int_equal(out[cap], '#');
    }
    assert_memory_equal(out, "ab?[ab]", 8);
    token[1] = 256;
    target[1] = 'x';
    b.causal = false;
    lab_batch_print(&b, 0, out, sizeof out);
    assert_string_equal(out, "a[x]?a");
}
