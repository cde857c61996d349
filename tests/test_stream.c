/* SPDX-License-Identifier: MIT
 *
 * labels: core; tier: quick; cost: 1 s; needs: io wrap wrapio
 * Files in pieces: an open header is as strict as a loaded file, a written one appears whole or not at all, and a call
 * that fails at any moment of a conversion leaves the old file and nothing else. */
#include "io_case.h"
#include "io/pairs.h"
#include "test.h"

/* ---------------------------------------------------------------- helpers */

static char in_path[96], out_path[96];

AROUND(before_each)
{
    faults_reset();
    make_folder();
    snprintf(in_path, sizeof in_path, "%s/in", folder);
    snprintf(out_path, sizeof out_path, "%s/out", folder);
}

AROUND(after_each)
{
    unlink(in_path);
    unlink(out_path);
    assert_int_equal(rmdir(folder), 0); /* fails where a temporary file stayed behind */
}

static uint8_t scratch[1 << 16];

/* Length, JSON, and payload bytes 0, 1, 2, ... */
static size_t make_st(const char *json, size_t payload)
{
    size_t n = strlen(json);
    for (int i = 0; i < 8; i++)
        scratch[i] = (uint8_t)((uint64_t)n >> 8 * i);
    memcpy(scratch + 8, json, n);
    for (size_t i = 0; i < payload; i++)
        scratch[8 + n + i] = (uint8_t)i;
    return 8 + n + payload;
}

#define ONE(name, dtype, shape, begin, end)                                                                            \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" #begin "," #end "]}"
#define QK                                                                                                             \
    "{\"__metadata__\":{\"format\":\"pt\"}," ONE("e", "U8", "3", 0, 3) "," ONE(                                        \
        "x.q_proj.weight", "BF16", "8,2", 3, 35) "," ONE("x.k_proj.weight", "BF16", "8,2", 35, 67) "}"

/* ---------------------------------------------------------------- open */

TEST(opening_is_as_strict_as_loading)
{
    static const struct {
        const char *json;
        size_t payload;
    } cases[] = {
        { QK, 67 },
        { QK, 66 },
        { QK, 68 },
        { "{}", 0 },
        { "{}", 1 },
        { "[]", 0 },
        { "{" ONE("a", "F32", "2", 0, 8) "}", 8 },
        { "{" ONE("a", "F32", "2", 0, 8) "," ONE("b", "F32", "2", 4, 12) "}", 12 },
        { "{" ONE("a", "F32", "2", 0, 8) "," ONE("b", "F32", "1", 9, 13) "}", 13 },
        { "{" ONE("a", "F32", "2", 0, 8) "," ONE("a", "F32", "1", 8, 12) "}", 12 },
        { "{" ONE("a", "F32", "4611686018427387905", 0, 4) "}", 4 },
        { "{" ONE("a", "U8", "9223372036854775807", 0, 9223372036854775807) "}", 4 },
        { "{" ONE("a", "F32", "2", 8, 0) "}", 8 },
        { "{" ONE("a", "F33", "2", 0, 8) "}", 8 },
        { "{\"__metadata__\":{\"a\":\"b\",\"a\":\"c\"}}", 0 },
        { "{" ONE("a\\u0000", "U8", "1", 0, 1) "}", 1 },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        io_safetensors *a, *b;
        pe_error x = { 0 }, y = { 0 };
        put_file(in_path, scratch, make_st(cases[i].json, cases[i].payload));
        pe_status s = load_safetensors(&a, in_path, &x), t = io_safetensors_open(&b, in_path, &y);
        if (s != t || strcmp(x.text, y.text))
            fail_msg("case %d: '%s' when loaded, '%s' when opened", i, x.text, y.text);
        assert_int_equal(a == NULL, b == NULL);
        assert_int_equal(s == PE_OK, i == 0 || i == 3 || i == 6);
        io_safetensors_free(a);
        io_safetensors_free(b);
    }
    io_safetensors *st;
    assert_int_equal(io_safetensors_open(&st, folder, NULL), PE_ERR_IO);
    assert_int_equal(io_safetensors_open(&st, "/dev/zero", NULL), PE_ERR_IO);
    assert_int_equal(io_safetensors_open(&st, out_path, NULL), PE_ERR_IO);
}

TEST(a_tensor_is_read_in_pieces)
{
    io_safetensors *st[2];
    put_file(in_path, scratch, make_st(QK, 67));
    play.slow = 7;
    assert_ok(io_safetensors_open(&st[0], in_path, &err));
    assert_ok(load_safetensors(&st[1], in_path, &err));
    for (int i = 0; i < 2; i++) {
        const io_tensor *t = io_safetensors_find(st[i], "x.q_proj.weight");
        uint8_t got[64];
        float *v;
        assert_int_equal(t->bytes == NULL, i == 0);
        assert_int_equal(t->offset, 8 + strlen(QK) + 3);
        assert_ok(io_tensor_read(got, st[i], t, 0, 32, &err));
        for (int k = 0; k < 32; k++)
            assert_int_equal(got[k], 3 + k);
        assert_ok(io_tensor_read(got, st[i], t, 30, 2, &err));
        assert_int_equal(got[0], 33);
        assert_ok(io_tensor_read(got, st[i], t, 32, 0, &err));
        assert_int_equal(io_tensor_read(got, st[i], t, 31, 2, &err), PE_ERR_RANGE);
        assert_int_equal(io_tensor_read(got, st[i], t, 33, 0, &err), PE_ERR_RANGE);
        assert_int_equal(io_tensor_read(got, st[i], t, SIZE_MAX, 2, &err), PE_ERR_RANGE);
        assert_int_equal(io_tensor_to_f32(&v, t, &err), i ? PE_OK : PE_ERR_NULL);
        free(v);
        io_safetensors_free(st[i]);
    }
}

TEST(a_file_that_shrinks_is_an_error)
{
    io_safetensors *st;
    uint8_t got[64];
    put_file(in_path, scratch, make_st(QK, 67));
    assert_ok(io_safetensors_open(&st, in_path, &err));
    assert_int_equal(truncate(in_path, 8 + (off_t)strlen(QK) + 10), 0);
    assert_refused(io_tensor_read(got, st, io_safetensors_find(st, "x.q_proj.weight"), 0, 32, &err),
                   PE_ERR_IO, "changed while it was read");
    assert_non_null(strstr(err.text, in_path));
    io_safetensors_free(st);
}

TEST(a_file_larger_than_memory_opens)
{
    io_safetensors *st;
    uint8_t got[4] = { 1, 1, 1, 1 };
    const char *json = "{" ONE("big", "U8", "1099511627776", 0, 1099511627776) "}";
    put_file(in_path, scratch, make_st(json, 0));
    if (sizeof(size_t) < 8)
        test_skip("a tensor of 1 TiB needs 64 bits");
    if (truncate(in_path, (off_t)(8 + strlen(json)) + (off_t)1099511627776) != 0)
        test_skip("no sparse files of 1 TiB here");
    heap.peak = heap.live;
    size_t before = heap.live;
    assert_ok(io_safetensors_open(&st, in_path, &err));
    assert_ok(io_tensor_read(got, st, io_safetensors_at(st, 0), (size_t)(INT64_C(1099511627776) - 4), 4, &err));
    assert_int_equal(got[3], 0);
    assert_true(heap.peak - before < 4096);
    io_safetensors_free(st);
}

/* ---------------------------------------------------------------- write */

TEST(a_written_header_reads_back)
{
    static const char *const keys[] = { "a", "format", "zz", "k\x01\"\\\n" };
    put_file(
        in_path, scratch,
        make_st(
            "{\"__metadata__\":{\"format\":\"p\\u0001t\\\"\"},\"caf\xC3\xA9 \\\"\\\\\\n\\u007f\":{\"dtype\":\"F16\","
            "\"shape\":[1,2],\"data_offsets\":[1,5]}," ONE("empty", "F32", "0,7", 1, 1) "," ONE("scalar", "U8", "", 0,
                                                                                                1) "}",
            5));
    for (int i = 0; i < COUNT(keys); i++) {
        io_safetensors *a, *b;
        io_bytes head;
        uint8_t whole[1000];
        assert_ok(io_safetensors_open(&a, in_path, &err));
        assert_ok(io_safetensors_head(&head, a, keys[i], "new\t", &err));
        assert_int_equal(head.size % 8, 0);
        memcpy(whole, head.data, head.size);
        memset(whole + head.size, 0, 5);
        put_file(out_path, whole, head.size + 5);
        assert_ok(load_safetensors(&b, out_path, &err));
        assert_string_equal(io_safetensors_meta(b, keys[i]), "new\t");
        if (i != 1)
            assert_string_equal(io_safetensors_meta(b, "format"), "p\x01t\"");
        assert_int_equal(io_safetensors_count(b), 3);
        for (size_t t = 0; t < 3; t++) {
            const io_tensor *x = io_safetensors_at(a, t), *y = io_safetensors_at(b, t);
            assert_string_equal(x->name, y->name);
            assert_int_equal(x->type, y->type);
            assert_int_equal(x->rank, y->rank);
            assert_memory_equal(x->shape, y->shape, sizeof x->shape);
            assert_int_equal(y->offset - head.size, x->offset - io_safetensors_find(a, "scalar")->offset);
        }
        io_bytes_free(&head);
        io_safetensors_free(a);
        io_safetensors_free(b);
    }
}

TEST(nothing_is_seen_before_the_commit)
{
    io_writer *w;
    io_bytes b;
    put_file(out_path, "old", 3);
    for (int commit = 0; commit < 2; commit++) {
        assert_ok(io_writer_open(&w, out_path, &err));
        for (int i = 0; i < 3; i++)
            assert_ok(io_writer_put(w, (io_span){ "new", 3 }, &err));
        assert_ok(io_read_file(&b, out_path, 100, &err));
        assert_string_equal((char *)b.data, "old");
        io_bytes_free(&b);
        if (commit)
            assert_ok(io_writer_commit(w, &err));
        else
            io_writer_abort(w);
        assert_int_equal(entries_in_folder(), 1);
    }
    assert_ok(io_read_file(&b, out_path, 100, &err));
    assert_string_equal((char *)b.data, "newnewnew");
    io_bytes_free(&b);
    io_writer_abort(NULL);
    assert_int_equal(io_writer_open(&w, "/dev/full", &err), PE_ERR_IO);
    assert_null(w);
}

/* ---------------------------------------------------------------- a conversion that fails */

static pe_status weights(pe_error *error)
{
    io_safetensors *st;
    io_pairs_plan plan = { 0 };
    io_pairs_facts f = { IO_PAIRS_HALF, IO_PAIRS_ADJACENT, .heads = 2 };
    pe_status s = io_safetensors_open(&st, in_path, error);
    if (!s)
        s = io_pairs_plan_new(&plan, st, &f, error);
    if (!s)
        s = io_pairs_convert(out_path, st, &plan, NULL, error);
    io_pairs_plan_free(&plan);
    io_safetensors_free(st);
    return s;
}

static pe_status cache(pe_error *error)
{
    io_file in;
    io_array a;
    io_pairs_map map;
    uint64_t begin;
    io_pairs_facts f = { IO_PAIRS_HALF, IO_PAIRS_ADJACENT, .head_dim = 4 };
    pe_status s = io_file_open(&in, in_path, error);
    if (!s)
        s = io_npy_open(&a, &begin, &in, 0, error);
    if (!s)
        s = io_pairs_map_array(&map, &a, &f, error);
    if (!s)
        s = io_pairs_convert_array(out_path, &in, &a, begin, &map, NULL, error);
    io_file_close(&in);
    return s;
}

static pe_status plain_copy(pe_error *error)
{
    io_file in;
    pe_status s = io_file_open(&in, in_path, error);
    if (!s)
        s = io_copy_file(out_path, &in, NULL, error);
    io_file_close(&in);
    return s;
}

static pe_status (*const operations[])(pe_error *) = { weights, plain_copy, cache };

static void make_input(int operation)
{
    io_array a = { .data = scratch, .type = IO_F32, .rank = 2, .shape = { 6, 8 }, .count = 48 };
    put_file(in_path, scratch, make_st(QK, 67));
    if (operation == 2)
        assert_int_equal(io_npy_save(in_path, &a, NULL), PE_OK);
    put_file(out_path, "old", 3);
}

static struct stat stat_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st;
}

static void old_file_stands(const char *what, long nth)
{
    struct stat st = stat_of(out_path);
    if (st.st_size != 3 || entries_in_folder() != 2)
        fail_msg("%s %ld: %lld bytes, %d files", what, nth, (long long)st.st_size, entries_in_folder());
}

/* close of the file that is read, or of the folder, may fail without harm: nothing was written to it. */
TEST(any_failed_call_leaves_the_old_file_and_no_other)
{
    static const call calls[] = { CALL_PREAD, CALL_WRITE, CALL_FSYNC, CALL_RENAME, CALL_CLOSE };
    for (int o = 0; o < COUNT(operations); o++)
        for (int c = 0; c < COUNT(calls); c++) {
            long nth = 1;
            for (bool done = false; !done && nth < 100; nth++) {
                make_input(o);
                play.fail_call[calls[c]] = nth;
                forget_error();
                pe_status s = operations[o](&err);
                bool of_folder = calls[c] == CALL_FSYNC && nth == 2; /* the new file is there then */
                done = play.fail_call[calls[c]] > 0 || (calls[c] == CALL_CLOSE && nth == 2);
                play.fail_call[calls[c]] = 0;
                assert_int_equal(s, done ? PE_OK : PE_ERR_IO);
                if (!done && !of_folder)
                    old_file_stands("call", nth);
                assert_true(done || strstr(err.text, strerror(ENOSPC)));
            }
            assert_true(nth > 2); /* it failed at least once */
        }
}

TEST(any_failed_allocation_leaves_the_old_file_and_no_other)
{
    for (int o = 0; o < COUNT(operations); o++) {
        long nth = 1;
        for (bool done = false; !done && nth < 100; nth++) {
            make_input(o);
            size_t before = heap.live;
            heap.fail = nth;
            pe_status s = operations[o](NULL);
            done = heap.fail > 0;
            heap.fail = 0;
            assert_int_equal(s, done ? PE_OK : PE_ERR_NOMEM);
            assert_int_equal(heap.live, before);
            if (!done)
                old_file_stands("allocation", nth);
        }
        assert_true(nth > 3);
    }
}

TEST(slow_calls_lose_nothing)
{
    for (int o = 0; o < COUNT(operations); o++) {
        io_bytes fast, slow;
        make_input(o);
        assert_ok(operations[o](&err));
        assert_ok(io_read_file(&fast, out_path, 10000, &err));
        play.slow = 7;
        assert_ok(operations[o](&err));
        play.slow = 0;
        assert_ok(io_read_file(&slow, out_path, 10000, &err));
        assert_int_equal(fast.size, slow.size);
        assert_memory_equal(fast.data, slow.data, fast.size);
        io_bytes_free(&fast);
        io_bytes_free(&slow);
    }
}

static bool stop_soon(void *context, uint64_t done, uint64_t total)
{
    int *left = context;
    assert_true(done <= total + 1000); /* the header may grow */
    return (*left)-- > 0;
}

TEST(a_watcher_can_stop_it)
{
    for (int pieces = 0; pieces < 3; pieces++) {
        io_safetensors *st;
        io_pairs_plan plan;
        int left = pieces;
        io_watch watch = { stop_soon, &left };
        io_pairs_facts f = { IO_PAIRS_HALF, IO_PAIRS_ADJACENT, .heads = 2 };
        make_input(0);
        assert_ok(io_safetensors_open(&st, in_path, &err));
        assert_ok(io_pairs_plan_new(&plan, st, &f, &err));
        assert_int_equal(io_pairs_convert(out_path, st, &plan, &watch, &err), PE_ERR_IO);
        old_file_stands("piece", pieces);
        io_pairs_plan_free(&plan);
        io_safetensors_free(st);
    }
}

static void check_pieces(int columns)
{
    enum { ROWS = 12, HEAD = 4 };
    static const int source[HEAD] = { 0, 2, 1, 3 };
    char json[200];
    int count = ROWS * columns;
    snprintf(json, sizeof json, "{\"x.q_proj.weight\":{\"dtype\":\"F32\",\"shape\":[%d,%d],\"data_offsets\":[0,%d]}}",
             ROWS, columns, count * 4);
    float *x = malloc((size_t)count * 4);
    for (int i = 0; i < count; i++)
        x[i] = (float)i;
    io_span parts[] = { { scratch, make_st(json, 0) }, { x, (size_t)count * 4 } };
    assert_ok(io_write_file(in_path, parts, 2, &err));
    free(x);
    io_safetensors *st;
    io_pairs_plan plan;
    io_pairs_facts f = { IO_PAIRS_HALF, IO_PAIRS_ADJACENT, .head_dim = HEAD };
    assert_ok(io_safetensors_open(&st, in_path, &err));
    assert_ok(io_pairs_plan_new(&plan, st, &f, &err));
    assert_ok(io_pairs_convert(out_path, st, &plan, NULL, &err));
    io_pairs_plan_free(&plan);
    io_safetensors_free(st);
    assert_ok(load_safetensors(&st, out_path, &err));
    assert_ok(io_tensor_to_f32(&x, io_safetensors_at(st, 0), &err));
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < columns; c += 997)
            assert_int_equal((int)x[r * columns + c], (r / HEAD * HEAD + source[r % HEAD]) * columns + c);
    free(x);
    io_safetensors_free(st);
}

/* Pieces of all, of two and of one of three heads. */
TEST(pieces_do_not_show)
{
    check_pieces(1000);
    check_pieces(100000);
    check_pieces(300000);
}

/* ---------------------------------------------------------------- a second name */

TEST(a_kept_file_has_its_mode_and_replaces_none)
{
    io_bytes got;
    io_span bytes = { "text", 4 };
    char far[64] = "/dev/shm/posenc-keep-XXXXXX"; /* another file system: no hard link, so a copy */
    put_file(in_path, "text", 4);
    assert_int_equal(chmod(in_path, 0600), 0);
    assert_ok(io_keep_file(in_path, bytes, out_path, &err));
    assert_int_equal(stat_of(out_path).st_mode & 0777, 0600);
    unlink(out_path);
    put_file(out_path, "old", 3);
    assert_refused(io_keep_file(in_path, bytes, out_path, &err), PE_ERR_IO, "exists");
    int fd = mkstemp(far);
    if (fd < 0 || stat_of(far).st_dev == stat_of(in_path).st_dev)
        skip();
    close(fd);
    assert_int_equal(io_keep_file(in_path, bytes, far, &err), PE_ERR_IO);
    unlink(far);
    assert_ok(io_keep_file(in_path, bytes, far, &err));
    assert_int_equal(stat_of(far).st_mode & 0777, 0600);
    assert_ok(io_read_file(&got, far, 100, &err));
    assert_int_equal(got.size, 4);
    assert_memory_equal(got.data, "text", 4);
    io_bytes_free(&got);
    unlink(far);
    play.fail_call[CALL_FSYNC] = 1;
    assert_int_equal(io_keep_file(in_path, bytes, far, &err), PE_ERR_IO);
    assert_int_equal(access(far, F_OK), -1);
    faults_reset();
}
