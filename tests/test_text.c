/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: lab wrap
 *
 * Text files to train on: marks, line ends, splits that share nothing, and files that are none. */
#include "data_case.h"
#include "heap.h"

#include <sys/stat.h>

static char path[8][128];

static const char *file_of(int i, const char *bytes, size_t n)
{
    snprintf(path[i], sizeof path[i], "%s/%d.txt", sample_folder, i);
    write_bytes(path[i], bytes, n);
    return path[i];
}

static lab_data *open_files(const char *const *file, int files, const char *const *test, int tests)
{
    lab_data *d;
    assert_ok(lab_data_open(
        &d, &(lab_source){ .name = "text", .file = file, .files = files, .test = test, .tests = tests }, &err));
    return d;
}

/* The first test window of length n, with its last target. */
static void last_text(char *out, const lab_data *d, int64_t n)
{
    lab_batch b = batch_of(d, 1, n);
    lab_data_test(d, &b, 0);
    for (int64_t t = 0; t < n; t++)
        out[t] = (char)b.token[t];
    out[n] = (char)b.target[n - 1];
    out[n + 1] = '\0';
    lab_batch_free(&b);
}

TEST(what_stands_outside_the_marks_is_left_out)
{
    static const char *const book[] = {
        "\xef\xbb\xbfLicence\r\n*** START OF THIS PROJECT GUTENBERG EBOOK X ***\r\n\r\nIt was a day.\r\nIt was a night.\r\n\r\n"
        "*** END OF THIS PROJECT GUTENBERG EBOOK X ***\r\nMore licence\r\n*** START: FULL LICENSE ***\r\n",
        "Licence\n***START OF THE PROJECT GUTENBERG EBOOK X***\nIt was a day.\nIt was a night.\n"
        "***END OF THE PROJECT GUTENBERG EBOOK X***\nMore licence\n",
        "\xef\xbb\xbf\nIt was a day.\r\nIt was a night.\r\n\n", /* no marks */
    };
    for (int i = 0; i < COUNT(book); i++) {
        const char *file = file_of(0, book[i], strlen(book[i])), *train = sample_path;
        lab_data *d = open_files(&train, 1, &file, 1);
        char text[64];
        last_text(text, d, 28);
        assert_string_equal(text, "It was a day.\nIt was a night.");
        assert_int_equal(lab_data_windows(d, 28), 1);
        assert_int_equal(lab_data_windows(d, 29), 0);
        lab_data_free(d);
        unlink(file);
    }
}

/* A cut-off start mark and stars inside a text are text. */
TEST(other_stars_are_text)
{
    static const char book[] = "*** START OF IT\nOne.\n\n***\n *** END OF a line\n*****\n***";
    const char *file = file_of(0, book, sizeof book - 1), *train = sample_path;
    lab_data *d = open_files(&train, 1, &file, 1);
    char text[64];
    last_text(text, d, 36);
    assert_string_equal(text, "ne.\n\n***\n *** END OF a line\n*****\n***");
    lab_data_free(d);
    unlink(file);
}

/* Of two files of numbered words the last tenth of each: no number is both trained and tested on. */
TEST(the_held_back_tenth_is_never_trained_on)
{
    static char text[2][20000];
    for (int f = 0; f < 2; f++)
        for (int i = 0; i < 1000; i++)
            snprintf(text[f] + 10 * i, sizeof text[f] - 10 * (size_t)i, "%c%08d ", 'a' + f, i);
    const char *file[] = { file_of(0, text[0], 10000), file_of(1, text[1], 10000) };
    lab_data *d = open_files(file, 2, NULL, 0);
    assert_int_equal(lab_data_size(d), 18002);
    assert_int_equal(lab_data_windows(d, 100), 20);
    lab_batch b = batch_of(d, 64, 100);
    bool seen[2][1000] = { 0 };
    for (int step = 0; step < 100; step++) {
        lab_data_train(d, &b, 1, step);
        for (int64_t row = 0; row < 64; row++)
            for (int64_t t = 0; t + 9 < 100; t++) {
                int32_t *w = b.token + row * 100 + t;
                int number = 0;
                if (w[0] != 'a' && w[0] != 'b')
                    continue;
                for (int i = 1; i < 9; i++)
                    number = 10 * number + w[i] - '0';
                seen[w[0] - 'a'][number] = true;
            }
    }
    for (int f = 0; f < 2; f++)
        for (int i = 0; i < 1000; i++)
            if (i >= 10 && i < 890) /* nearer to the ends windows are rare */
                assert_true(seen[f][i]);
            else if (i >= 900)
                assert_false(seen[f][i]);
    lab_batch_free(&b);
    lab_data_free(d);
    unlink(file[0]);
    unlink(file[1]);
}

/* Test windows of 60 are, four by four, those of 240; all 20 of them differ; the 21st is the first again. */
TEST(windows_of_all_lengths_tile_the_same_text)
{
    lab_data *d = open_source("text", false);
    lab_batch a = batch_of(d, 4, 60), b = batch_of(d, 1, 240);
    int64_t windows = lab_data_windows(d, 240);
    assert_true(windows > 10);
    for (int64_t i = 0; i < windows; i++) {
        lab_data_test(d, &a, 4 * i);
        lab_data_test(d, &b, i);
        for (int64_t k = 0; k < 4; k++)
            assert_memory_equal(a.token + k * 60, b.token + (3 - k) * 60, 60 * sizeof(int32_t));
    }
    int32_t first[240];
    lab_data_test(d, &b, 0);
    memcpy(first, b.token, sizeof first);
    lab_data_test(d, &b, windows);
    assert_memory_equal(first, b.token, sizeof first);
    lab_batch_free(&a);
    lab_batch_free(&b);
    lab_data_free(d);
}

TEST(the_fingerprint_is_of_text_name_and_settings)
{
    const char *a = file_of(0, "one small text", 14), *b = file_of(1, "one small Text", 14), *test = sample_path;
    lab_data *d[5] = { open_files(&a, 1, &test, 1), open_files(&b, 1, &test, 1), open_source("text", false),
                       open_source("text", true), open_source("stories", false) };
    lab_data *again = open_files(&a, 1, &test, 1);
    assert_int_equal(lab_data_fingerprint(again), lab_data_fingerprint(d[0]));
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < i; j++)
            assert_int_not_equal(lab_data_fingerprint(d[i]), lab_data_fingerprint(d[j]));
    for (int i = 0; i < 5; i++)
        lab_data_free(d[i]);
    lab_data_free(again);
    unlink(a);
    unlink(b);
}

static void refused(const char *const *file, int files, const char *test, pe_status status, const char *says)
{
    lab_data *d;
    lab_source s = { .name = "text", .file = file, .files = files, .test = &test, .tests = test != NULL };
    assert_int_equal(lab_data_open(&d, &s, &err), status);
    assert_null(d);
    if (!strstr(err.text, says))
        fail_msg("'%s' does not say '%s'", err.text, says);
}

TEST(files_that_are_no_text_are_refused_by_name)
{
    const char *empty = file_of(0, "", 0), *blank = file_of(1, "\r\n\n", 3), *missing = path[3];
    static const char only_marks[] = "x\n*** START OF IT ***\n\n*** END OF IT ***\ny\n";
    const char *marks = file_of(2, only_marks, sizeof only_marks - 1), *fine = sample_path, *folder = sample_folder;
    snprintf(path[3], sizeof path[3], "%s/none.txt", sample_folder);
    refused(&empty, 1, NULL, PE_ERR_FORMAT, "0.txt: has no text");
    refused(&blank, 1, NULL, PE_ERR_FORMAT, "1.txt: has no text");
    refused(&marks, 1, NULL, PE_ERR_FORMAT, "2.txt: has no text");
    refused(&missing, 1, NULL, PE_ERR_IO, "none.txt");
    refused(&folder, 1, NULL, PE_ERR_IO, sample_folder);
    refused(NULL, 0, NULL, PE_ERR_SPEC, "no file");
    refused(&fine, 1, empty, PE_ERR_FORMAT, "0.txt: has no text");
    refused(&fine, 1, fine, PE_ERR_SPEC, "both trained and tested on");
    const char *link = path[4];
    snprintf(path[4], sizeof path[4], "%s/link.txt", sample_folder);
    assert_int_equal(symlink(fine, link), 0);
    refused(&fine, 1, link, PE_ERR_SPEC, "link.txt: is both trained and tested on");
    unlink(link);
    const char *two[] = { fine, missing };
    refused(two, 2, NULL, PE_ERR_IO, "none.txt");
    for (int i = 0; i < 3; i++)
        unlink(path[i]);
}

/* A tenth of 200 bytes is 20: windows of 19 and their next byte, no longer. */
TEST(text_shorter_than_a_window_is_refused)
{
    char text[201];
    memset(text, 'x', sizeof text);
    const char *file = file_of(0, text, 200), *fine = sample_path;
    lab_data *d = open_files(&file, 1, NULL, 0);
    lab_batch b = batch_of(d, 2, 19);
    lab_data_train(d, &b, 1, 1);
    lab_data_test(d, &b, 0);
    check_whole(d, &b);
    lab_batch_free(&b);
    assert_int_equal(lab_batch_new(&b, d, LAB_BOTH, 1, 20, &err), PE_ERR_RANGE);
    assert_string_equal(err.text, "text: 20 bytes to test on; a window of 20 needs 21 or more");
    lab_data_free(d);
    d = open_files(&file, 1, &fine, 1);
    assert_ok(lab_batch_new(&b, d, LAB_TEST, 1, 300, &err)); /* the text to train on is not asked about */
    lab_data_test(d, &b, 0);
    lab_batch_free(&b);
    b = batch_of(d, 1, 199); /* the one window there is */
    lab_data_train(d, &b, 1, 1);
    check_whole(d, &b);
    lab_batch_free(&b);
    assert_int_equal(lab_batch_new(&b, d, LAB_BOTH, 1, 200, &err), PE_ERR_RANGE);
    assert_string_equal(err.text, "text: 200 bytes to train on; a window of 200 needs 201 or more");
    lab_data_free(d);
    unlink(file);
}

/* Every allocation of opening two files and of a batch fails once: no crash, nothing kept, and the error says so. */
TEST(memory_that_runs_out_is_an_error)
{
    const char *file[] = { sample_path, file_of(0, "another small text", 18) };
    bool done = false;
    for (long k = 1; !done; k++) {
        lab_data *d;
        lab_batch b = { 0 };
        memset(&heap, 0, sizeof heap);
        heap.fail = k;
        pe_status s = lab_data_open(&d, &(lab_source){ .name = "text", .file = file, .files = 2 }, &err);
        if (s == PE_OK)
            s = lab_batch_new(&b, d, LAB_BOTH, 2, 64, &err);
        done = heap.fail > 0;
        assert_int_equal(s, done ? PE_OK : PE_ERR_NOMEM);
        assert_true(done || strstr(err.text, "memory"));
        lab_batch_free(&b);
        lab_data_free(d);
        assert_int_equal(heap.live, 0);
    }
    unlink(file[1]);
}
