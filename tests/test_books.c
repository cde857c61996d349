/* SPDX-License-Identifier: MIT
 * labels: data; tier: quick; cost: 1 s; needs: lab
 *
 * The eight novels: seven to train on, the eighth to test on, and nothing of Project Gutenberg's own in either. */
#include "data_case.h"

static const char *const title[] = { "1023", "1400-0", "145", "2554-0", "2701-0", "766-0", "98-0", "1342-0" };
static char path[8][300];

static void find_books(void)
{
    const char *shared = getenv("POSENC_SHARED");
    for (int i = 0; i < COUNT(title); i++) {
        snprintf(path[i], sizeof path[i], "%s/data/books/%s.txt", shared ? shared : "../shared", title[i]);
        if (access(path[i], R_OK) != 0)
            test_skip("no books in ../shared/data");
    }
}

/* All of a split that windows of 1024 reach, which is all but its first bytes. */
static bool says(const lab_data *d, const char *what)
{
    static char text[1026];
    lab_batch b = batch_of(d, 1, 1024);
    bool found = false;
    for (int64_t i = 0; i < lab_data_windows(d, 1024) && !found; i++) {
        lab_data_test(d, &b, i);
        for (int64_t t = 0; t < 1024; t++)
            text[t] = (char)b.token[t];
        found = strstr(text, what) != NULL;
    }
    lab_batch_free(&b);
    return found;
}

TEST(books_are_whole_and_hold_no_licence)
{
    static const char *const first[] = { "BLEAK HOUSE", "GREAT EXPECTATIONS", "MIDDLEMARCH", "CRIME AND PUNISHMENT",
                                         "MOBY", "DAVID COPPERFIELD", "A TALE OF TWO CITIES", "PRIDE AND PREJUDICE" };
    find_books();
    for (int i = 0; i < COUNT(title); i++) {
        const char *train = path[(i + 1) % 8], *test = path[i];
        lab_data *d;
        assert_ok(lab_data_open(
            &d, &(lab_source){ .name = "text", .file = &train, .files = 1, .test = &test, .tests = 1 }, &err));
        int64_t windows = lab_data_windows(d, 1024);
        print_message("%s, %s: %" PRId64 " windows of 1024\n", title[i], first[i], windows);
        assert_in_range(windows, 650, 2000);
        assert_false(says(d, "*** START") || says(d, "***START") || says(d, "*** END") || says(d, "***END"));
        assert_false(says(d, "Gutenberg-tm") || says(d, "\r"));
        lab_data_free(d);
    }
}

TEST(seven_train_and_the_eighth_tests)
{
    const char *file[8];
    find_books();
    for (int i = 0; i < 8; i++)
        file[i] = path[i];
    lab_data *d;
    assert_ok(
        lab_data_open(&d, &(lab_source){ .name = "text", .file = file, .files = 7, .test = file + 7, .tests = 1 }, &err));
    print_message("%" PRId64 " bytes to train on\n", lab_data_size(d));
    assert_in_range(lab_data_size(d), 9500000, 10200000);
    assert_true(says(d, "Netherfield"));
    lab_batch b = batch_of(d, 16, 256);
    static char text[257];
    for (int step = 0; step < 500; step++) {
        lab_data_train(d, &b, 1, step);
        for (int64_t row = 0; row < 16; row++) {
            for (int64_t t = 0; t < 256; t++)
                text[t] = (char)b.token[row * 256 + t];
            assert_null(strstr(text, "Netherfield"));
        }
    }
    lab_batch_free(&b);
    lab_data_free(d);
}
