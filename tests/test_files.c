/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: io wrap wrapio
 *
 * Reading and writing whole files, and what everything in src/io stands on. */
#include "io/sort.h"

#include "io_test.h"

/* ---------------------------------------------------------------- arithmetic and errors */

TEST(checked_arithmetic_tells_what_does_not_fit)
{
    size_t z;
    int64_t i;
    assert_true(io_mul(&z, SIZE_MAX / 2, 2) && z == SIZE_MAX - 1);
    assert_false(io_mul(&z, SIZE_MAX / 2 + 1, 2));
    assert_int_equal(z, 0);
    assert_true(io_add(&z, SIZE_MAX - 1, 1) && z == SIZE_MAX);
    assert_false(io_add(&z, SIZE_MAX, 1));
    assert_true(io_mul_i64(&i, INT64_MIN / 2, 2) && i == INT64_MIN);
    assert_false(io_mul_i64(&i, INT64_MIN, -1));
    assert_false(io_add_i64(&i, INT64_MAX, 1));
    assert_true(io_add_i64(&i, INT64_MAX, -1) && i == INT64_MAX - 1);
    assert_false(io_to_size(&z, -1));
    assert_true(io_shape_count(&i, NULL, 0) && i == 1);
    assert_true(io_shape_count(&i, (int64_t[]){ 0, INT64_MAX, INT64_MAX }, 3) && i == 0);
    assert_false(io_shape_count(&i, (int64_t[]){ INT64_MAX, INT64_MAX, 0 }, 3));
    assert_false(io_shape_count(&i, (int64_t[]){ -1, -1 }, 2));
    assert_false(io_byte_count(&z, INT64_MAX, 8));
}

TEST(an_error_text_is_cut_at_a_character_and_keeps_no_controls)
{
    char name[500];
    for (size_t i = 0; i + 1 < sizeof name; i += 2)
        memcpy(name + i, "\xC3\xA9", 2);
    name[sizeof name - 1] = name[sizeof name - 2] = '\0';
    for (int shift = 0; shift < 2; shift++) {
        assert_int_equal(io_fail(&err, PE_ERR_IO, "%s%s", shift ? "x" : "", name), PE_ERR_IO);
        size_t n = strlen(err.text);
        assert_string_equal(err.text + n - 3, "...");
        assert_int_equal((uint8_t)err.text[n - 4], 0xA9);
    }
    io_fail(&err, PE_ERR_IO, "a\x1b[2Jb\n\x7f\xC2\x9B.");
    assert_string_equal(err.text, "a?[2Jb????.");
    assert_int_equal(io_fail(NULL, PE_ERR_RANGE, "x"), PE_ERR_RANGE);
}

static int by_int(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

TEST(sorting_orders_any_input)
{
    int v[50];
    for (unsigned seed = 0; seed < 200; seed++) {
        size_t n = seed % COUNT(v);
        for (size_t i = 0; i < n; i++)
            v[i] = (int)((i * 7919u + seed * 104729u) % (seed % 7 + 3));
        io_sort(v, n, sizeof v[0], by_int);
        for (size_t i = 1; i < n; i++)
            assert_true(v[i - 1] <= v[i]);
    }
}

/* ---------------------------------------------------------------- files */

TEST(reading_refuses_what_is_no_regular_file)
{
    io_bytes b;
    assert_int_equal(io_read_file(&b, in_folder("absent"), 10, &err), PE_ERR_IO);
    assert_int_equal(io_read_file(&b, folder, 10, &err), PE_ERR_IO);
    assert_non_null(strstr(err.text, "folder"));
    assert_int_equal(io_read_file(&b, "/dev/zero", 10, &err), PE_ERR_IO);
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_int_equal(io_read_file(&b, path_text, 10, &err), PE_ERR_IO); /* and does not wait for a writer */
    assert_int_equal(io_read_file(&b, path_text, 10, NULL), PE_ERR_IO);
    assert_null(b.data);
    unlink(path_text);
}

TEST(reading_keeps_to_the_cap)
{
    io_bytes b;
    put_file(in_folder("ten"), "0123456789", 10);
    assert_int_equal(io_read_file(&b, path_text, 9, &err), PE_ERR_RANGE);
    assert_int_equal(io_read_file(&b, path_text, 10, &err), PE_OK);
    assert_int_equal(b.size, 10);
    assert_string_equal((char *)b.data, "0123456789");
    io_bytes_free(&b);
    unlink(path_text);
}

TEST(short_and_interrupted_calls_lose_nothing)
{
    io_bytes b;
    play.slow = 1;
    io_span parts[] = { { "hello, ", 7 }, { NULL, 0 }, { "world", 5 } };
    expect("write", io_write_file(in_folder("slow"), parts, 3, &err), PE_OK, &err);
    expect("read", io_read_file(&b, path_text, 100, &err), PE_OK, &err);
    assert_string_equal((char *)b.data, "hello, world");
    io_bytes_free(&b);
    unlink(path_text);
}

TEST(a_failed_read_says_why_and_keeps_nothing)
{
    io_bytes b;
    put_file(in_folder("bad"), "0123456789", 10);
    play.fail_call[CALL_READ] = 1;
    play.error = EIO;
    pe_status s = io_read_file(&b, path_text, 100, &err);
    assert_int_equal(s, PE_ERR_IO);
    assert_non_null(strstr(err.text, strerror(EIO)));
    assert_null(b.data);
    play.stuck = true;
    expect("shrank meanwhile", io_read_file(&b, path_text, 100, &err), PE_ERR_IO, &err);
    assert_null(b.data);
    unlink(path_text);
}

static void must_hold(const char *path, const char *text)
{
    io_bytes b;
    expect("old file", io_read_file(&b, path, 100, &err), PE_OK, &err);
    assert_string_equal((char *)b.data, text);
    io_bytes_free(&b);
}

TEST(a_failed_write_leaves_the_old_file_and_no_other)
{
    static const call steps[] = { CALL_WRITE, CALL_FSYNC, CALL_CLOSE, CALL_RENAME };
    io_span parts[] = { { "new", 3 }, { "er", 2 } };
    put_file(in_folder("kept"), "old", 3);
    for (size_t i = 0; i < COUNT(steps); i++)
        for (long nth = 1; nth <= (steps[i] == CALL_WRITE ? 2 : 1); nth++) {
            play.fail_call[steps[i]] = nth;
            play.error = ENOSPC;
            pe_status s = io_write_file(path_text, parts, 2, &err);
            expect("full disk", s, PE_ERR_IO, &err);
            assert_non_null(strstr(err.text, strerror(ENOSPC)));
            play.fail_call[steps[i]] = 0;
            must_hold(path_text, "old");
            assert_int_equal(entries_in_folder(), 1);
        }
    play.stuck = true;
    expect("stuck", io_write_file(path_text, parts, 2, &err), PE_ERR_IO, &err);
    play.stuck = false;
    must_hold(path_text, "old");
    expect("write", io_write_file(path_text, parts, 2, &err), PE_OK, &err);
    must_hold(path_text, "newer");
    unlink(path_text);
}

TEST(writing_refuses_what_a_rename_would_destroy)
{
    io_span part = { "x", 1 };
    expect("no folder", io_write_file(in_folder("absent/file"), &part, 1, &err), PE_ERR_IO, &err);
    expect("folder", io_write_file(folder, &part, 1, &err), PE_ERR_IO, &err);
    expect("device", io_write_file("/dev/null", &part, 1, &err), PE_ERR_IO, &err);
    expect("empty name", io_write_file("", &part, 1, &err), PE_ERR_IO, &err);
    assert_int_equal(symlink("target", in_folder("link")), 0);
    expect("link", io_write_file(path_text, &part, 1, &err), PE_ERR_IO, &err);
    unlink(path_text);
    assert_int_equal(entries_in_folder(), 0);
}

TEST(a_replaced_file_keeps_its_mode)
{
    io_span part = { "x", 1 };
    struct stat st;
    put_file(in_folder("private"), "old", 3);
    assert_int_equal(chmod(path_text, 0600), 0);
    assert_int_equal(io_write_file(path_text, &part, 1, NULL), PE_OK);
    assert_int_equal(stat(path_text, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    unlink(path_text);
}

static pe_status op_read(pe_error *why)
{
    io_bytes b;
    pe_status s = io_read_file(&b, in_folder("t"), 1000, why);
    io_bytes_free(&b);
    return s;
}

TEST(memory_that_runs_out_is_reported)
{
    put_file(in_folder("t"), "0123456789", 10);
    any_failed_allocation_of(op_read, "read");
    empty_folder();
}
