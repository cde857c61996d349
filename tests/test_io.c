/* SPDX-License-Identifier: MIT
 * labels: core; needs: io jansson wrap wrapio
 *
 * src/io against files that mean harm, disks that fill up and memory that runs out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../src/io/checked.h"
#include "../src/io/io.h"
#include "../src/io/sort.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---------------------------------------------------------------- faults */

typedef enum call { CALL_READ, CALL_WRITE, CALL_FSYNC, CALL_CLOSE, CALL_RENAME, CALL_COUNT } call;

static struct {
    long fail_alloc; /* > 0: this many allocations from now, one fails */
    size_t live, peak;
    long fail_call[CALL_COUNT];
    int error;
    bool stuck; /* reads and writes of no byte */
    bool slow; /* reads and writes of one byte, every other one interrupted */
    unsigned tick;
    unsigned long seen[CALL_COUNT];
} play;

void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void __real_free(void *);
ssize_t __real_read(int, void *, size_t);
ssize_t __real_write(int, const void *, size_t);
int __real_fsync(int);
int __real_close(int);
int __real_rename(const char *, const char *);
void *__wrap_malloc(size_t);
void *__wrap_calloc(size_t, size_t);
void *__wrap_realloc(void *, size_t);
void __wrap_free(void *);
ssize_t __wrap_read(int, void *, size_t);
ssize_t __wrap___read_chk(int, void *, size_t, size_t);
ssize_t __wrap_write(int, const void *, size_t);
int __wrap_fsync(int);
int __wrap_close(int);
int __wrap_rename(const char *, const char *);

static bool alloc_fails(void)
{
    return play.fail_alloc > 0 && --play.fail_alloc == 0;
}

static void *counted(void *p)
{
    play.live += malloc_usable_size(p);
    play.peak = play.live > play.peak ? play.live : play.peak;
    return p;
}

void *__wrap_malloc(size_t size)
{
    return alloc_fails() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return alloc_fails() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
    if (alloc_fails())
        return NULL;
    size_t before = malloc_usable_size(p);
    void *q = __real_realloc(p, size);
    if (q)
        play.live -= before;
    return q ? counted(q) : NULL;
}

void __wrap_free(void *p)
{
    play.live -= malloc_usable_size(p);
    __real_free(p);
}

static bool call_fails(call c)
{
    play.seen[c]++;
    if (play.fail_call[c] == 0 || --play.fail_call[c] > 0)
        return false;
    errno = play.error;
    return true;
}

static bool interrupted(size_t *size)
{
    if (!play.slow)
        return false;
    *size = *size > 1 ? 1 : *size;
    errno = EINTR;
    return play.tick++ % 2 == 0;
}

ssize_t __wrap_read(int fd, void *to, size_t size)
{
    if (call_fails(CALL_READ) || interrupted(&size))
        return -1;
    return play.stuck ? 0 : __real_read(fd, to, size);
}

ssize_t __wrap___read_chk(int fd, void *to, size_t size, size_t room) /* what a fortified build calls */
{
    assert_true(size <= room);
    return __wrap_read(fd, to, size);
}

ssize_t __wrap_write(int fd, const void *from, size_t size)
{
    if (call_fails(CALL_WRITE) || interrupted(&size))
        return -1;
    return play.stuck ? 0 : __real_write(fd, from, size);
}

int __wrap_fsync(int fd)
{
    return call_fails(CALL_FSYNC) ? -1 : __real_fsync(fd);
}

int __wrap_close(int fd)
{
    int rc = __real_close(fd); /* the descriptor goes even where close reports an error */
    return call_fails(CALL_CLOSE) ? -1 : rc;
}

int __wrap_rename(const char *from, const char *to)
{
    return call_fails(CALL_RENAME) ? -1 : __real_rename(from, to);
}

/* ---------------------------------------------------------------- helpers */

static char folder[64];
static char path_text[128];

static const char *in_folder(const char *name)
{
    snprintf(path_text, sizeof path_text, "%s/%s", folder, name);
    return path_text;
}

static int each_test(void **state)
{
    (void)state;
    memset(&play, 0, sizeof play);
    return 0;
}

static int entries_in_folder(void)
{
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

static void empty_folder(void)
{
    char path[512];
    DIR *d = opendir(folder);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        if (e->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
            if (unlink(path) != 0)
                rmdir(path);
        }
    if (d)
        closedir(d);
}

/* A copy of its exact size, so that the sanitizer sees one byte too many. */
static io_bytes exact(const void *data, size_t size)
{
    io_bytes b = { __real_malloc(size ? size : 1), size, "file" };
    if (b.data && size)
        memcpy(b.data, data, size);
    play.live += malloc_usable_size(b.data);
    return b;
}

static void put_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static uint8_t scratch[1 << 16];

/* A .npy file of this header text and so many bytes of zeros. */
static size_t make_npy(int major, const char *header, size_t length, size_t payload)
{
    size_t at = major == 1 ? 10 : 12;
    memset(scratch, 0, sizeof scratch);
    memcpy(scratch, "\x93NUMPY", 6);
    scratch[6] = (uint8_t)major;
    for (size_t i = 8; i < at; i++)
        scratch[i] = (uint8_t)(length >> 8 * (i - 8));
    memcpy(scratch + at, header, strlen(header));
    return at + strlen(header) + payload;
}

static size_t make_st(const char *json, size_t payload)
{
    size_t length = strlen(json);
    memset(scratch, 0, sizeof scratch);
    for (int i = 0; i < 8; i++)
        scratch[i] = (uint8_t)((uint64_t)length >> 8 * i);
    memcpy(scratch + 8, json, length);
    return 8 + length + payload;
}

static pe_status parse_npy(size_t size, unsigned flags, io_array *a, pe_error *err)
{
    io_bytes b = exact(scratch, size);
    pe_status s = io_npy_parse(a, &b, flags, err);
    io_bytes_free(&b);
    return s;
}

static pe_status parse_st(size_t size, io_safetensors **st, pe_error *err)
{
    io_bytes b = exact(scratch, size);
    pe_status s = io_safetensors_parse(st, &b, err);
    assert_null(b.data);
    return s;
}

static void expect(const char *claim, pe_status got, pe_status want, const pe_error *err)
{
    if (got != want)
        fail_msg("%s: status %d, not %d: %s", claim, (int)got, (int)want, err->text);
    if (want != PE_OK && (err->status != want || !err->text[0]))
        fail_msg("%s: says nothing", claim);
}

/* ---------------------------------------------------------------- arithmetic and errors */

static void checked_arithmetic_tells_what_does_not_fit(void **state)
{
    (void)state;
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

static void an_error_text_is_cut_at_a_character_and_keeps_no_controls(void **state)
{
    (void)state;
    char name[500];
    for (size_t i = 0; i + 1 < sizeof name; i += 2)
        memcpy(name + i, "\xC3\xA9", 2);
    name[sizeof name - 1] = name[sizeof name - 2] = '\0';
    for (int shift = 0; shift < 2; shift++) {
        pe_error err;
        assert_int_equal(io_fail(&err, PE_ERR_IO, "%s%s", shift ? "x" : "", name), PE_ERR_IO);
        size_t n = strlen(err.text);
        assert_string_equal(err.text + n - 3, "...");
        assert_int_equal((uint8_t)err.text[n - 4], 0xA9);
    }
    pe_error err;
    io_fail(&err, PE_ERR_IO, "a\x1b[2Jb\n\x7f\xC2\x9B.");
    assert_string_equal(err.text, "a?[2Jb????.");
    assert_int_equal(io_fail(NULL, PE_ERR_RANGE, "x"), PE_ERR_RANGE);
}

static int by_int(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void sorting_orders_any_input(void **state)
{
    (void)state;
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

static void reading_refuses_what_is_no_regular_file(void **state)
{
    (void)state;
    io_bytes b;
    pe_error err;
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

static void reading_keeps_to_the_cap(void **state)
{
    (void)state;
    io_bytes b;
    pe_error err;
    put_file(in_folder("ten"), "0123456789", 10);
    assert_int_equal(io_read_file(&b, path_text, 9, &err), PE_ERR_RANGE);
    assert_int_equal(io_read_file(&b, path_text, 10, &err), PE_OK);
    assert_int_equal(b.size, 10);
    assert_string_equal((char *)b.data, "0123456789");
    io_bytes_free(&b);
    unlink(path_text);
}

static void short_and_interrupted_calls_lose_nothing(void **state)
{
    (void)state;
    io_bytes b;
    pe_error err;
    play.slow = true;
    io_span parts[] = { { "hello, ", 7 }, { NULL, 0 }, { "world", 5 } };
    expect("write", io_write_file(in_folder("slow"), parts, 3, &err), PE_OK, &err);
    expect("read", io_read_file(&b, path_text, 100, &err), PE_OK, &err);
    assert_string_equal((char *)b.data, "hello, world");
    io_bytes_free(&b);
    unlink(path_text);
}

static void a_failed_read_says_why_and_keeps_nothing(void **state)
{
    (void)state;
    io_bytes b;
    pe_error err;
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
    pe_error err;
    expect("old file", io_read_file(&b, path, 100, &err), PE_OK, &err);
    assert_string_equal((char *)b.data, text);
    io_bytes_free(&b);
}

static void a_failed_write_leaves_the_old_file_and_no_other(void **state)
{
    (void)state;
    static const call steps[] = { CALL_WRITE, CALL_FSYNC, CALL_CLOSE, CALL_RENAME };
    io_span parts[] = { { "new", 3 }, { "er", 2 } };
    pe_error err;
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

static void writing_refuses_what_a_rename_would_destroy(void **state)
{
    (void)state;
    io_span part = { "x", 1 };
    pe_error err;
    expect("no folder", io_write_file(in_folder("absent/file"), &part, 1, &err), PE_ERR_IO, &err);
    expect("folder", io_write_file(folder, &part, 1, &err), PE_ERR_IO, &err);
    expect("device", io_write_file("/dev/null", &part, 1, &err), PE_ERR_IO, &err);
    expect("empty name", io_write_file("", &part, 1, &err), PE_ERR_IO, &err);
    assert_int_equal(symlink("target", in_folder("link")), 0);
    expect("link", io_write_file(path_text, &part, 1, &err), PE_ERR_IO, &err);
    unlink(path_text);
    assert_int_equal(entries_in_folder(), 0);
}

static void a_replaced_file_keeps_its_mode(void **state)
{
    (void)state;
    io_span part = { "x", 1 };
    struct stat st;
    put_file(in_folder("private"), "old", 3);
    assert_int_equal(chmod(path_text, 0600), 0);
    assert_int_equal(io_write_file(path_text, &part, 1, NULL), PE_OK);
    assert_int_equal(stat(path_text, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    unlink(path_text);
}

/* ---------------------------------------------------------------- npy */

static void npy_round_trips_every_type_and_rank(void **state)
{
    (void)state;
    uint8_t data[256];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)i;
    for (int t = 0; t < IO_F8_E4M3; t++)
        for (int rank = 0; rank <= IO_RANK_MAX; rank++) {
            io_array a = { .data = data, .type = (io_type)t, .rank = rank, .count = 1 }, b;
            for (int i = 0; i < rank; i++)
                a.count *= a.shape[i] = i < 3 ? i + 1 : 1;
            pe_error err;
            expect("save", io_npy_save(in_folder("a.npy"), &a, &err), PE_OK, &err);
            expect("load", io_npy_load(&b, path_text, t == IO_BF16 ? IO_NPY_BF16 : 0, &err), PE_OK, &err);
            assert_int_equal(b.type, a.type);
            assert_int_equal(b.rank, rank);
            assert_int_equal(b.count, a.count);
            assert_memory_equal(b.shape, a.shape, sizeof a.shape);
            assert_memory_equal(b.data, data, (size_t)a.count * io_type_size(a.type));
            io_array_free(&b);
            io_array_free(&b);
        }
    unlink(path_text);
}

static void npy_header_is_numpys_own(void **state)
{
    (void)state;
    char header[IO_NPY_HEADER_MAX];
    size_t size;
    io_array a = { .type = IO_F32, .rank = 2, .shape = { 3, 4 }, .count = 12 };
    assert_int_equal(io_npy_header(header, &size, &a, NULL), PE_OK);
    assert_int_equal(size, 128); /* 10 + 59 + 20 for growth + 1, filled up to a multiple of 64 */
    assert_memory_equal(header, "\x93NUMPY\x01\x00\x76\x00", 10);
    assert_memory_equal(header + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }  ", 61);
    assert_int_equal(header[127], '\n');
    io_array wide = { .type = IO_I8, .rank = 8, .count = 0 };
    for (int i = 1; i < 8; i++)
        wide.shape[i] = INT64_MAX;
    assert_int_equal(io_npy_header(header, &size, &wide, NULL), PE_OK);
    assert_int_equal(size, 256);
}

static void npy_writer_refuses_what_it_cannot_say(void **state)
{
    (void)state;
    const io_array bad[] = {
        { .type = IO_F8_E4M3, .count = 1 },
        { .type = IO_TYPE_COUNT, .count = 1 },
        { .type = IO_F32, .rank = 9, .count = 1 },
        { .type = IO_F32, .rank = -1, .count = 1 },
        { .type = IO_F32, .rank = 1, .shape = { -1 }, .count = -1 },
        { .type = IO_F32, .rank = 1, .shape = { 3 }, .count = 4 },
        { .type = IO_F32, .rank = 1, .shape = { 3 }, .count = 3, .data = NULL },
        { .type = IO_F32, .rank = 1, .shape = { INT64_MAX }, .count = INT64_MAX },
    };
    static const pe_status want[] = { PE_ERR_DTYPE,    PE_ERR_DTYPE, PE_ERR_SHAPE, PE_ERR_SHAPE,
                                      PE_ERR_OVERFLOW, PE_ERR_SHAPE, PE_ERR_NULL,  PE_ERR_OVERFLOW };
    pe_error err;
    for (size_t i = 0; i < COUNT(bad); i++)
        expect("save", io_npy_save(in_folder("no.npy"), &bad[i], &err), want[i], &err);
    assert_int_equal(entries_in_folder(), 0);
}

static void npy_takes_what_numpy_writes(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t payload;
    } good[] = {
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", 24 },
        { "{\"shape\":(2,3,),\"descr\":\"<f4\",\"fortran_order\":False}\n", 24 },
        { "{'descr': '<f4', 'fortran_order': True, 'shape': (3,), }\n", 12 },
        { "{'descr': '<i8', 'fortran_order': True, 'shape': (), }\n", 8 },
        { "{'descr': '|b1', 'fortran_order': False, 'shape': (0, 9223372036854775807), }\n", 0 },
    };
    pe_error err;
    io_array a;
    for (size_t i = 0; i < COUNT(good); i++)
        for (int major = 1; major <= 3; major++) {
            size_t n = make_npy(major, good[i].header, strlen(good[i].header), good[i].payload);
            expect(good[i].header, parse_npy(n, 0, &a, &err), PE_OK, &err);
            io_array_free(&a);
        }
}

#define NPY(descr, order, shape) "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }\n"

static void npy_refuses_hostile_headers(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t payload;
        pe_status want;
    } bad[] = {
        { NPY("'<f4'", "False", "(4294967296, 4294967296)"), 0, PE_ERR_OVERFLOW },    /* wraps to 0          */
        { NPY("'<f8'", "False", "(2305843009213693952,)"), 0, PE_ERR_OVERFLOW },      /* 2^61 * 8 wraps to 0 */
        { NPY("'<f8'", "False", "(2305843009213693953,)"), 8, PE_ERR_OVERFLOW },      /* and this one to 8   */
        { NPY("'<f4'", "False", "(1000000000000,)"), 16, PE_ERR_FORMAT },             /* huge in a tiny file */
        { NPY("'<f4'", "False", "(9223372036854775808,)"), 0, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(99999999999999999999999999999999999,)"), 0, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(-1,)"), 0, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(-1, -4)"), 16, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(04,)"), 16, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(4.0,)"), 16, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(2**2,)"), 16, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(4)"), 16, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(,)"), 4, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(2 2)"), 16, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "[4]"), 16, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(1,1,1,1,1,1,1,1,1)"), 4, PE_ERR_SHAPE },
        { NPY("'<f4'", "False", "(4,)"), 15, PE_ERR_FORMAT },
        { NPY("'<f4'", "False", "(4,)"), 17, PE_ERR_FORMAT },
        { NPY("'<f4'", "True", "(2, 2)"), 16, PE_ERR_FORMAT },
        { NPY("'<f4'", "0", "(4,)"), 16, PE_ERR_FORMAT },
        { NPY("'<f4'", "exit()", "(4,)"), 16, PE_ERR_FORMAT },
        { NPY("'|O'", "False", "(1,)"), 8, PE_ERR_DTYPE },                            /* pickled objects     */
        { NPY("'O'", "False", "(1,)"), 8, PE_ERR_DTYPE },
        { NPY("[('a', '<f4')]", "False", "(1,)"), 4, PE_ERR_DTYPE },
        { NPY("'>f4'", "False", "(1,)"), 4, PE_ERR_DTYPE },
        { NPY("'<V2'", "False", "(1,)"), 2, PE_ERR_DTYPE },
        { NPY("'<f16'", "False", "(1,)"), 16, PE_ERR_DTYPE },
        { NPY("''", "False", "(1,)"), 4, PE_ERR_DTYPE },
        { NPY("'\\x3cf4'", "False", "(1,)"), 4, PE_ERR_FORMAT },
        { NPY("__import__('os')", "False", "(1,)"), 4, PE_ERR_FORMAT },
        { "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n", 4, PE_ERR_FORMAT },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'shape': (9,), }\n", 4, PE_ERR_FORMAT },
        { "{'descr': '<f4', 'fortran_order': False, }\n", 4, PE_ERR_FORMAT },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1, }\n", 4, PE_ERR_FORMAT },
        { "{'descr' '<f4', 'fortran_order': False, 'shape': (1,), }\n", 4, PE_ERR_FORMAT },
        { "{'descr': '<f4' 'fortran_order': False, 'shape': (1,), }\n", 4, PE_ERR_FORMAT },
        { "{descr: '<f4', 'fortran_order': False, 'shape': (1,), }\n", 4, PE_ERR_FORMAT },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), } x\n", 4, PE_ERR_FORMAT },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 4, PE_ERR_FORMAT },
        { "{'descr': '<f4', 'fortran_order': False, 'shape': (1,\n", 4, PE_ERR_FORMAT },
        { "{'descr': '<f4\n", 4, PE_ERR_FORMAT },
        { "['descr']\n", 4, PE_ERR_FORMAT },
        { "{}\n", 4, PE_ERR_FORMAT },
        { "\n", 4, PE_ERR_FORMAT },
        { "", 4, PE_ERR_FORMAT },
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        io_array a;
        pe_error err = { 0 };
        play.peak = play.live;
        size_t n = make_npy(1, bad[i].header, strlen(bad[i].header), bad[i].payload), before = play.live;
        expect(bad[i].header, parse_npy(n, 0, &a, &err), bad[i].want, &err);
        assert_null(a.data);
        assert_true(play.peak - before <= n + 64); /* nothing but the file itself was allocated */
    }
}

static void npy_refuses_hostile_frames(void **state)
{
    (void)state;
    const char *good = NPY("'<f4'", "False", "(2,)");
    io_array a;
    pe_error err;
    size_t n = make_npy(2, good, 0xFFFFFFFFu, 8);
    expect("header of 4 GiB", parse_npy(n, 0, &a, &err), PE_ERR_FORMAT, &err);
    n = make_npy(2, good, 10001, 30000);
    expect("header past the cap", parse_npy(n, 0, &a, &err), PE_ERR_FORMAT, &err);
    n = make_npy(1, good, strlen(good) + 9, 8);
    expect("header past the end", parse_npy(n, 0, &a, &err), PE_ERR_FORMAT, &err);
    n = make_npy(4, good, strlen(good), 8);
    expect("version 4.0", parse_npy(n, 0, &a, &err), PE_ERR_FORMAT, &err);
    n = make_npy(1, good, strlen(good), 8);
    scratch[7] = 1;
    expect("version 1.1", parse_npy(n, 0, &a, &err), PE_ERR_FORMAT, &err);
    memcpy(scratch, "PK\x03\x04", 4);
    expect("zip magic", parse_npy(n, 0, &a, &err), PE_ERR_FORMAT, &err);
    for (int major = 1; major <= 2; major++) {
        n = make_npy(major, good, strlen(good), 8);
        for (size_t cut = 0; cut < n; cut++)
            expect("cut short", parse_npy(cut, 0, &a, &err), PE_ERR_FORMAT, &err);
    }
}

static void npy_survives_any_one_wrong_byte(void **state)
{
    (void)state;
    const char *good = NPY("'<f4'", "False", "(2, 1)");
    size_t n = make_npy(2, good, strlen(good), 8);
    for (size_t at = 0; at < n; at++) {
        uint8_t kept = scratch[at];
        for (int v = 0; v < 256; v++) {
            io_array a;
            scratch[at] = (uint8_t)v;
            parse_npy(n, IO_NPY_BF16, &a, NULL);
            io_array_free(&a);
        }
        scratch[at] = kept;
    }
}

static void npy_bfloat16_is_read_when_asked_for(void **state)
{
    (void)state;
    static const char *const descr[] = { NPY("'<V2'", "False", "(1,)"), NPY("'|V2'", "False", "(1,)"),
                                         NPY("'<u2'", "False", "(1,)") };
    for (size_t i = 0; i < COUNT(descr); i++) {
        io_array a;
        float *v;
        size_t n = make_npy(1, descr[i], strlen(descr[i]), 2);
        scratch[n - 2] = 0xC0, scratch[n - 1] = 0x3F;
        assert_int_equal(parse_npy(n, IO_NPY_BF16, &a, NULL), PE_OK);
        assert_int_equal(a.type, IO_BF16);
        assert_int_equal(io_array_to_f32(&v, &a, NULL), PE_OK);
        assert_true(v[0] == 1.5f);
        free(v);
        io_array_free(&a);
    }
}

/* ---------------------------------------------------------------- conversions */

static double one_real(io_type type, const void *value, pe_status *s)
{
    uint8_t odd[9] = { 0 };
    memcpy(odd + 1, value, io_type_size(type)); /* tensors start at any byte */
    io_tensor t = { .bytes = odd + 1, .type = type, .count = 1 };
    double *v, got = 0;
    *s = io_tensor_to_f64(&v, &t, NULL);
    if (*s == PE_OK)
        got = *v;
    free(v);
    return got;
}

static void halves_convert_exactly(void **state)
{
    (void)state;
    pe_status s;
    for (uint32_t h = 0; h < 0x10000; h++) {
        uint16_t bits = (uint16_t)h;
        uint32_t e = h >> 10 & 31, m = h & 1023;
        double want = e == 31 ? (m ? (double)NAN : (double)INFINITY) : e ? ldexp(1024 + m, (int)e - 25) : ldexp(m, -24);
        double got = one_real(IO_F16, &bits, &s);
        want = h >> 15 ? -want : want;
        assert_true(isnan(want) ? isnan(got) : got == want && !signbit(got) == !signbit(want));
    }
    uint16_t b = 0xC049;
    assert_true(one_real(IO_BF16, &b, &s) == -3.140625);
}

static void every_number_type_converts(void **state)
{
    (void)state;
    pe_status s;
    assert_true(one_real(IO_F32, &(float){ -1.5f }, &s) == -1.5);
    assert_true(one_real(IO_F64, &(double){ 0x1p-1074 }, &s) == 0x1p-1074);
    assert_true(one_real(IO_I64, &(int64_t){ -(INT64_C(1) << 53) }, &s) == -0x1p53);
    assert_true(one_real(IO_I32, &(int32_t){ INT32_MIN }, &s) == -0x1p31);
    assert_true(one_real(IO_I16, &(int16_t){ -2 }, &s) == -2);
    assert_true(one_real(IO_I8, &(int8_t){ -3 }, &s) == -3);
    assert_true(one_real(IO_U64, &(uint64_t){ 7 }, &s) == 7);
    assert_true(one_real(IO_U32, &(uint32_t){ UINT32_MAX }, &s) == 4294967295.0);
    assert_true(one_real(IO_U16, &(uint16_t){ 65535 }, &s) == 65535);
    assert_true(one_real(IO_U8, &(uint8_t){ 255 }, &s) == 255);
    assert_true(one_real(IO_BOOL, &(uint8_t){ 2 }, &s) == 1);
    one_real(IO_I64, &(int64_t){ (INT64_C(1) << 53) + 1 }, &s);
    assert_int_equal(s, PE_ERR_RANGE);
    one_real(IO_F8_E4M3, &(uint8_t){ 1 }, &s);
    assert_int_equal(s, PE_ERR_DTYPE);
}

static void only_whole_numbers_become_int64(void **state)
{
    (void)state;
    double good[] = { 0, -0.0, -3, 0x1p62, -0x1p63 }, bad[] = { 0.5, 0x1p63, -0x1.1p63, (double)NAN, (double)INFINITY };
    int64_t *v;
    pe_error err;
    io_array a = { .data = good, .type = IO_F64, .rank = 1, .shape = { COUNT(good) }, .count = COUNT(good) };
    expect("whole", io_array_to_i64(&v, &a, &err), PE_OK, &err);
    assert_true(v[2] == -3 && v[3] == INT64_C(1) << 62 && v[4] == INT64_MIN);
    free(v);
    for (size_t i = 0; i < COUNT(bad); i++) {
        io_array b = { .data = &bad[i], .type = IO_F64, .count = 1 };
        expect("not whole", io_array_to_i64(&v, &b, &err), PE_ERR_RANGE, &err);
        assert_null(v);
    }
    io_array u = { .data = &(uint64_t){ UINT64_MAX }, .type = IO_U64, .count = 1 };
    expect("past int64", io_array_to_i64(&v, &u, &err), PE_ERR_RANGE, &err);
    io_array i = { .data = &(int64_t){ INT64_MIN }, .type = IO_I64, .count = 1 };
    expect("int64", io_array_to_i64(&v, &i, &err), PE_OK, &err);
    free(v);
}

static void float32_overflow_is_told_and_infinity_kept(void **state)
{
    (void)state;
    float *v;
    double d[] = { 0x1.fffffep127, 0x1.fffffefp127, -0x1.fffffep127, (double)INFINITY, 0x1p-200 };
    io_array a = { .data = d, .type = IO_F64, .rank = 1, .shape = { COUNT(d) }, .count = COUNT(d) };
    assert_int_equal(io_array_to_f32(&v, &a, NULL), PE_OK);
    assert_true(v[1] == 0x1.fffffep127f && isinf(v[3]) && v[4] == 0);
    free(v);
    d[0] = -0x1.ffffffp127;
    assert_int_equal(io_array_to_f32(&v, &a, NULL), PE_ERR_RANGE);
    io_array none = { .type = IO_F32, .rank = 1 };
    assert_int_equal(io_array_to_f32(&v, &none, NULL), PE_OK);
    assert_non_null(v);
    free(v);
    io_array vast = { .data = d, .type = IO_U8, .count = INT64_MAX };
    assert_int_equal(io_array_to_f32(&v, &vast, NULL), PE_ERR_OVERFLOW);
}

static void library_types_have_their_file_types(void **state)
{
    (void)state;
    assert_int_equal(io_type_of(PE_F32), IO_F32);
    assert_int_equal(io_type_of(PE_F16), IO_F16);
    assert_int_equal(io_type_of(PE_BF16), IO_BF16);
    assert_int_equal(io_type_of(PE_F64), IO_F64);
    assert_int_equal(io_type_of(PE_DTYPE_COUNT), IO_TYPE_COUNT);
    assert_string_equal(io_type_name(IO_BF16), "BF16");
    assert_string_equal(io_type_name(IO_TYPE_COUNT), "?");
    assert_int_equal(io_type_size(IO_TYPE_COUNT), 0);
}

/* ---------------------------------------------------------------- safetensors */

#define T(name, dtype, shape, begin, end)                                                                              \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" #begin "," #end "]}"

static void safetensors_finds_by_name(void **state)
{
    (void)state;
    io_safetensors *st;
    const io_tensor *t;
    pe_error err;
    size_t n = make_st("{ " T("b", "F32", "2", 3, 11) " ,\n\"__metadata__\" : {\"format\":\"pt\",\"a\":\"\\n\"}," T(
                           "empty", "I64", "0,5", 3, 3) "," T("caf\\u00e9 \\ud83d\\ude00", "U8", "3", 0, 3) "}  ",
                       8 + 3);
    memcpy(scratch + n - 8, (float[]){ 1.5f, -2 }, 8);
    expect("parse", parse_st(n, &st, &err), PE_OK, &err);
    assert_int_equal(io_safetensors_count(st), 3);
    assert_string_equal(io_safetensors_at(st, 0)->name, "b");
    assert_null(io_safetensors_at(st, 3));
    assert_int_equal(io_safetensors_get(&t, st, "b", &err), PE_OK);
    assert_true(t->type == IO_F32 && t->rank == 1 && t->shape[0] == 2 && t->count == 2 && t->size == 8);
    float *v;
    assert_int_equal(io_tensor_to_f32(&v, t, &err), PE_OK);
    assert_true(v[0] == 1.5f && v[1] == -2);
    free(v);
    assert_non_null(io_safetensors_find(st, "caf\xC3\xA9 \xF0\x9F\x98\x80"));
    assert_int_equal(io_safetensors_find(st, "empty")->count, 0);
    expect("absent", io_safetensors_get(&t, st, "c", &err), PE_ERR_FORMAT, &err);
    assert_null(t);
    assert_string_equal(io_safetensors_meta(st, "format"), "pt");
    assert_string_equal(io_safetensors_meta(st, "a"), "\n");
    assert_null(io_safetensors_meta(st, "b"));
    io_safetensors_free(st);
    io_safetensors_free(NULL);
}

static void safetensors_may_be_empty(void **state)
{
    (void)state;
    io_safetensors *st;
    static const char *const none[] = { "{}", "{ }  ", "{\"__metadata__\":{}}" };
    for (size_t i = 0; i < COUNT(none); i++) {
        assert_int_equal(parse_st(make_st(none[i], 0), &st, NULL), PE_OK);
        assert_int_equal(io_safetensors_count(st), 0);
        assert_null(io_safetensors_find(st, "a"));
        assert_null(io_safetensors_meta(st, "a"));
        io_safetensors_free(st);
    }
}

static void safetensors_refuses_hostile_headers(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        size_t payload;
        pe_status want;
    } bad[] = {
        { "{" T("a", "F32", "4294967296,4294967296", 0, 0) "}", 0, PE_ERR_OVERFLOW },
        { "{" T("a", "F64", "2305843009213693952", 0, 0) "}", 0, PE_ERR_OVERFLOW },
        { "{" T("a", "F32", "1000000000000", 0, 4000000000000) "}", 8, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1", 9223372036854775804, 9223372036854775807) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1", 0, 18446744073709551615) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1", 18446744073709551612, 0) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "-1", 0, 4) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "-1,-1", 0, 4) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1.0", 0, 4) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1e0", 0, 4) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "01", 0, 4) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1,", 0, 4) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1,1,1,1,1,1,1,1,1", 0, 4) "}", 4, PE_ERR_SHAPE },
        { "{" T("a", "F32", "1", 0, 8) "}", 4, PE_ERR_FORMAT },                    /* past the end        */
        { "{" T("a", "F32", "1", 0, 8) "}", 8, PE_ERR_FORMAT },                    /* offsets and shape   */
        { "{" T("a", "F32", "1", 4, 0) "}", 4, PE_ERR_FORMAT },                    /* reversed            */
        { "{" T("a", "F32", "1", -4, 0) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1", 4, 8) "}", 8, PE_ERR_FORMAT },                    /* a hole in front     */
        { "{" T("a", "F32", "1", 0, 4) "," T("b", "F32", "1", 5, 9) "}", 9, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1", 0, 4) "," T("b", "F32", "1", 3, 7) "}", 7, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1", 0, 4) "," T("b", "F32", "1", 0, 4) "}", 4, PE_ERR_FORMAT },
        { "{" T("a", "F32", "1", 0, 4) "," T("b", "F32", "0", 2, 2) "}", 4, PE_ERR_FORMAT }, /* empty, inside */
        { "{" T("a", "F32", "1", 0, 4) "}", 5, PE_ERR_FORMAT },                    /* not all indexed     */
        { "{}", 1, PE_ERR_FORMAT },
        { "{" T("a", "U8", "1", 0, 1) "," T("a", "U8", "1", 1, 2) "}", 2, PE_ERR_FORMAT },
        { "{" T("a", "U8", "1", 0, 1) "," T("\\u0061", "U8", "1", 1, 2) "}", 2, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"data_offsets\":[0,1]}}", 1, PE_ERR_FORMAT },
        { "{\"__metadata__\":{},\"__metadata__\":{}}", 0, PE_ERR_FORMAT },
        { "{\"__metadata__\":{\"k\":\"1\",\"k\":\"1\"}}", 0, PE_ERR_FORMAT },
        { "{\"__metadata__\":{\"k\":1}}", 0, PE_ERR_FORMAT },
        { "{\"__metadata__\":{\"k\":{\"l\":\"m\"}}}", 0, PE_ERR_FORMAT },
        { "{\"__metadata__\":{\"k\"}}", 0, PE_ERR_FORMAT },
        { "{\"__metadata__\":{\"k\":\"v\"", 0, PE_ERR_FORMAT },
        { "{\"__metadata__\":[]}", 0, PE_ERR_FORMAT },
        { "{" T("a", "F33", "1", 0, 4) "}", 4, PE_ERR_DTYPE },
        { "{" T("a", "f32", "1", 0, 4) "}", 4, PE_ERR_DTYPE },
        { "{\"a\":{\"dtype\":0,\"shape\":[1],\"data_offsets\":[0,1]}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":1,\"data_offsets\":[0,1]}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1,\"data_offsets\":[0,1]}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1 1],\"data_offsets\":[0,1]}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,1]}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\" \"U8\"}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"x\":0}}", 1, PE_ERR_FORMAT },
        { "{\"a\":{}}", 0, PE_ERR_FORMAT },
        { "{\"a\":[]}", 0, PE_ERR_FORMAT },
        { "{\"a\":{\"dtype\":\"U8\"]", 0, PE_ERR_FORMAT },
        { "{\"a\"}", 0, PE_ERR_FORMAT },
        { "{" T("a", "U8", "1", 0, 1) ",}", 1, PE_ERR_FORMAT },
        { "{" T("a", "U8", "1", 0, 1) "]", 1, PE_ERR_FORMAT },
        { "{" T("a", "U8", "1", 0, 1) "}x", 1, PE_ERR_FORMAT },
        { "{" T("a", "U8", "1", 0, 1) "}{}", 1, PE_ERR_FORMAT },
        { "{", 0, PE_ERR_FORMAT },
        { "{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{", 0, PE_ERR_FORMAT },
        { " {}", 0, PE_ERR_FORMAT },
        { "[]", 0, PE_ERR_FORMAT },
        { "", 0, PE_ERR_FORMAT },
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        io_safetensors *st;
        pe_error err = { 0 };
        expect(bad[i].json, parse_st(make_st(bad[i].json, bad[i].payload), &st, &err), bad[i].want, &err);
        assert_null(st);
    }
}

/* The look at holes and overlaps would refuse these too, but only after a pointer past the buffer was made. */
static void safetensors_offsets_are_checked_before_they_become_pointers(void **state)
{
    (void)state;
    static const char *const bad[] = { "{" T("a", "F32", "2", 0, 8) "}", "{" T("a", "F32", "0", 8, 8) "}",
                                       "{" T("a", "F32", "1", 4, 0) "}" };
    for (size_t i = 0; i < COUNT(bad); i++) {
        io_safetensors *st;
        pe_error err = { 0 };
        expect(bad[i], parse_st(make_st(bad[i], 4), &st, &err), PE_ERR_FORMAT, &err);
        assert_non_null(strstr(err.text, "a lies at ["));
    }
}

static void safetensors_refuses_text_that_is_not_utf8(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\x80", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\x01", "\n", "\\u0000", "\\ud800", "\\udc00",
        "\\ud800\\u0041", "\\ud800x", "\\ud800\\n", "\\u12", "\\u00g0", "\\x", "\\",
    };
    static const char *const good[] = { "\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEF\xBF\xBF", "\xF0\x90\x80\x80",
                                        "\xF4\x8F\xBF\xBF", "\\u0001", "\\uD83D\\uDE00", "\\\"\\\\\\/\\b\\f\\n\\r\\t" };
    char json[100];
    io_safetensors *st;
    for (size_t i = 0; i < COUNT(bad) + COUNT(good); i++) {
        bool fine = i >= COUNT(bad);
        pe_error err = { 0 };
        snprintf(json, sizeof json, "{\"__metadata__\":{\"\":\"%s\"}}", fine ? good[i - COUNT(bad)] : bad[i]);
        expect(json, parse_st(make_st(json, 0), &st, &err), fine ? PE_OK : PE_ERR_FORMAT, &err);
        io_safetensors_free(st);
    }
}

static void safetensors_refuses_hostile_frames(void **state)
{
    (void)state;
    static const uint64_t lengths[] = { 3, 100000001, UINT64_C(1) << 63, UINT64_MAX, UINT64_MAX - 7, 0 };
    io_safetensors *st;
    pe_error err;
    for (size_t i = 0; i < COUNT(lengths); i++) {
        size_t n = make_st("{}", 0);
        memcpy(scratch, &lengths[i], 8);
        expect("length", parse_st(n, &st, &err), PE_ERR_FORMAT, &err);
    }
    size_t n = make_st("{" T("a", "F32", "2", 0, 8) "}", 8);
    for (size_t cut = 0; cut < n; cut++)
        expect("cut short", parse_st(cut, &st, &err), PE_ERR_FORMAT, &err);
}

static void safetensors_survives_any_one_wrong_byte(void **state)
{
    (void)state;
    const char *json = "{\"__metadata__\":{\"a\":\"\\u00e9\"}," T("a", "F16", "2,1", 0, 4) "," T(
                           "b", "U8", "", 4, 5) "}";
    size_t n = make_st(json, 5);
    for (size_t at = 0; at < n; at++) {
        uint8_t kept = scratch[at];
        for (int v = 0; v < 256; v++) {
            io_safetensors *st;
            scratch[at] = (uint8_t)v;
            parse_st(n, &st, NULL);
            io_safetensors_free(st);
        }
        scratch[at] = kept;
    }
}

/* Peak heap at most 4n and this many MiB, the file's own bytes included. */
static void within_bound(const char *claim, size_t size, size_t slack)
{
    if (play.peak > 4 * size + (slack << 20))
        fail_msg("%s: %zu bytes of heap for a file of %zu", claim, play.peak, size);
}

#define EMPTY4 "\"\",\"\",\"\",\"\","

static void safetensors_memory_is_bounded_by_the_file(void **state)
{
    (void)state;
    static const struct {
        const char *open, *item, *close;
    } forms[] = {
        { "{", "\"%x\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},", "\"\":0}" },
        { "{\"__metadata__\":{", "\"%x\":\"\",", "\"\":\"\"}}" },
        { "{\"__metadata__\":{", "\"{%x\":\"\",", "\"\":\"\"}}" },
        { "{\"__metadata__\":{\"\":\"\"},", "{%x", "" },
        { "{", "\"%x\",", "" },
        { "{\"__metadata__\":{", EMPTY4 EMPTY4 EMPTY4 EMPTY4 "\"\"{", "" }, /* a brace every 50 characters */
        { "{\"__metadata__\":{", EMPTY4, "{" },
        { "{\"__metadata__\":{", "\"\":\"\",", "\"\":\"\"},{" },
    };
    size_t room = (size_t)4 << 20;
    for (size_t f = 0; f < COUNT(forms); f++) {
        memset(&play, 0, sizeof play);
        io_bytes b = { malloc(room), 0, "big" };
        assert_non_null(b.data);
        char *at = (char *)b.data + 8, *end = (char *)b.data + room - 100;
        at += sprintf(at, "%s", forms[f].open);
        for (unsigned i = 1; at < end; i++)
            at += sprintf(at, forms[f].item, i);
        at += sprintf(at, "%s", forms[f].close);
        b.size = (size_t)(at - (char *)b.data);
        uint64_t length = b.size - 8;
        memcpy(b.data, &length, 8);
        io_safetensors *st;
        size_t n = b.size;
        io_safetensors_parse(&st, &b, NULL);
        within_bound(forms[f].item, n, 1);
        io_safetensors_free(st);
        assert_int_equal(play.live, 0);
    }
}

/* ---------------------------------------------------------------- JSON */

static pe_status parse_json(io_node *root, const char *text, pe_error *err)
{
    io_bytes b = exact(text, strlen(text));
    pe_status s = io_json_parse(root, "c.json", (char *)b.data, b.size, err);
    io_bytes_free(&b);
    return s;
}

static void json_getters_read_what_is_there(void **state)
{
    (void)state;
    io_node root, list, item, inner;
    pe_error err;
    const char *text = "{\"n\":7,\"r\":1e4,\"s\":\"x\",\"t\":true,\"z\":null,\"l\":[1,2.5,{\"k\":-1}]}";
    expect("parse", parse_json(&root, text, &err), PE_OK, &err);
    int64_t n = 0, kept = 5;
    double r = 0;
    const char *s = NULL;
    bool t = false;
    assert_int_equal(io_json_int(&n, &root, "n", IO_REQUIRED, (io_int_range){ 7, 7 }, &err), PE_OK);
    assert_int_equal(io_json_real(&r, &root, "r", IO_REQUIRED, &err), PE_OK);
    assert_int_equal(io_json_string(&s, &root, "s", IO_REQUIRED, &err), PE_OK);
    assert_int_equal(io_json_bool(&t, &root, "t", IO_REQUIRED, &err), PE_OK);
    assert_true(n == 7 && r == 1e4 && strcmp(s, "x") == 0 && t);
    assert_int_equal(io_json_real(&r, &root, "n", IO_OPTIONAL, &err), PE_OK);
    assert_true(r == 7);
    assert_int_equal(io_json_int(&kept, &root, "z", IO_OPTIONAL, IO_ANY_INT, &err), PE_OK);
    assert_int_equal(io_json_int(&kept, &root, "absent", IO_OPTIONAL, IO_ANY_INT, &err), PE_OK);
    assert_int_equal(kept, 5);
    assert_int_equal(io_json_real(&r, &root, "absent", IO_OPTIONAL, &err), PE_OK);
    assert_int_equal(io_json_bool(&t, &root, "absent", IO_OPTIONAL, &err), PE_OK);
    assert_int_equal(io_json_string(&s, &root, "absent", IO_OPTIONAL, &err), PE_OK);
    assert_int_equal(io_json_object(&inner, &root, "absent", IO_OPTIONAL, &err), PE_OK);
    assert_null(inner.json);
    assert_int_equal(io_json_array(&list, &root, "l", IO_REQUIRED, &err), PE_OK);
    assert_int_equal(io_json_size(&list), 3);
    assert_int_equal(io_json_item(&item, &list, 1, &err), PE_OK);
    assert_int_equal(io_json_real(&r, &item, NULL, IO_REQUIRED, &err), PE_OK);
    assert_true(r == 2.5);
    assert_int_equal(io_json_item(&item, &list, 2, &err), PE_OK);
    assert_int_equal(io_json_object(&inner, &item, NULL, IO_REQUIRED, &err), PE_OK);
    assert_int_equal(io_json_int(&n, &inner, "k", IO_REQUIRED, IO_ANY_INT, &err), PE_OK);
    assert_int_equal(n, -1);
    io_json_free(&root);
    io_json_free(&root);
}

static void json_errors_name_the_place(void **state)
{
    (void)state;
    io_node root, list, item, o, none;
    pe_error err;
    int64_t n = 0;
    double r;
    bool t;
    const char *s;
    const char *text = "{\"o\":{\"f\":\"x\",\"n\":-4,\"r\":2.0,\"l\":[1,{}]},\"l\":[true],\"z\":null}";
    expect("parse", parse_json(&root, text, &err), PE_OK, &err);
    io_json_object(&o, &root, "o", IO_REQUIRED, &err);
    expect("kind", io_json_real(&r, &o, "f", IO_REQUIRED, &err), PE_ERR_FORMAT, &err);
    assert_string_equal(err.text, "c.json: o.f is a string; needs a number");
    expect("range", io_json_int(&n, &o, "n", IO_OPTIONAL, (io_int_range){ 0, 9 }, &err), PE_ERR_RANGE, &err);
    assert_string_equal(err.text, "c.json: o.n is -4; needs 0 to 9");
    expect("real", io_json_int(&n, &o, "r", IO_REQUIRED, IO_ANY_INT, &err), PE_ERR_FORMAT, &err);
    assert_string_equal(err.text, "c.json: o.r is a real number; needs a whole number");
    assert_int_equal(n, 0);
    expect("missing", io_json_bool(&t, &o, "b", IO_REQUIRED, &err), PE_ERR_FORMAT, &err);
    assert_string_equal(err.text, "c.json: o.b is missing");
    expect("null", io_json_string(&s, &root, "z", IO_REQUIRED, &err), PE_ERR_FORMAT, &err);
    assert_string_equal(err.text, "c.json: z is null; needs a string");
    io_json_array(&list, &o, "l", IO_REQUIRED, &err);
    io_json_item(&item, &list, 1, &err);
    expect("item", io_json_bool(&t, &item, NULL, IO_REQUIRED, &err), PE_ERR_FORMAT, &err);
    assert_string_equal(err.text, "c.json: o.l[1] is an object; needs true or false");
    expect("past", io_json_item(&item, &list, 2, &err), PE_ERR_RANGE, &err);
    assert_string_equal(err.text, "c.json: o.l[2] is past the end of the array");
    expect("no object", io_json_int(&n, &list, "k", IO_OPTIONAL, IO_ANY_INT, &err), PE_ERR_FORMAT, &err);
    assert_string_equal(err.text, "c.json: o.l is an array; needs an object");
    expect("array", io_json_array(&none, &root, "o", IO_OPTIONAL, &err), PE_ERR_FORMAT, &err);
    assert_null(none.json);
    expect("object", io_json_object(&none, &root, "l", IO_OPTIONAL, &err), PE_ERR_FORMAT, &err);
    io_json_object(&none, &root, "absent", IO_OPTIONAL, &err);
    expect("below nothing", io_json_real(&r, &none, "k", IO_REQUIRED, &err), PE_ERR_FORMAT, &err);
    assert_string_equal(err.text, "c.json: absent is missing");
    assert_int_equal(io_json_size(&none), 0);
    io_json_free(&root);
}

static void json_paths_of_any_length_are_cut(void **state)
{
    (void)state;
    char key[120];
    memset(key, 'k', sizeof key);
    key[sizeof key - 1] = '\0';
    io_node nodes[6] = { { .json = json_object(), .key = "c.json" } };
    for (size_t i = 1; i < COUNT(nodes); i++)
        nodes[i] = (io_node){ nodes[0].json, &nodes[i - 1], i % 2 ? key : NULL, i };
    pe_error err;
    bool t;
    expect("long", io_json_bool(&t, &nodes[5], "b", IO_REQUIRED, &err), PE_ERR_FORMAT, &err);
    assert_non_null(strstr(err.text, "is missing"));
    io_json_free(&nodes[0]);
}

static void json_refuses_hostile_texts(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "{", "[1,]", "{\"a\":1,\"a\":2}", "{\"a\":{\"b\":1,\"b\":1}}", "[1] x", "[NaN]", "[Infinity]", "[1e999]",
        "[99999999999999999999]", "[01]", "[0x10]", "[\"\\u0000\"]", "{\"\\u0000\":1}", "[\"\xC0\x80\"]",
        "[\"\\ud800\"]", "[\"", "[\"\\", "7", "\"x\"", "null", "// c\n[]",
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        io_node root;
        pe_error err = { 0 };
        expect(bad[i], parse_json(&root, bad[i], &err), PE_ERR_FORMAT, &err);
        assert_null(root.json);
    }
    io_node root;
    pe_error err;
    assert_int_equal(io_json_parse(&root, "nul", "[1]\0", 4, &err), PE_ERR_FORMAT);
    char deep[5001];
    memset(deep, '[', 5000);
    deep[5000] = '\0';
    expect("deep", parse_json(&root, deep, &err), PE_ERR_FORMAT, &err);
    expect("larger than the cap", io_json_parse(&root, "big", deep, IO_CAP_TEXT + 1, &err), PE_ERR_RANGE, &err);
}

static void json_numbers_have_at_most_64_characters(void **state)
{
    (void)state;
    char text[200];
    io_node root;
    pe_error err;
    snprintf(text, sizeof text, "[0.%062d]", 1);
    expect("64", parse_json(&root, text, &err), PE_OK, &err);
    io_json_free(&root);
    snprintf(text, sizeof text, "[0.%063d]", 1);
    expect("65", parse_json(&root, text, &err), PE_ERR_FORMAT, &err);
    assert_non_null(strstr(err.text, "65 characters"));
    snprintf(text, sizeof text, "[\"\\\"%0100d\"]", 1);
    expect("digits in a string", parse_json(&root, text, &err), PE_OK, &err);
    io_json_free(&root);
}

/* jansson's own calls reach the counters this way; nothing but this test sets them. */
static void count_jansson(bool on)
{
    if (on)
        json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    else
        json_set_alloc_funcs(malloc, free);
}

static void below_an_absent_node_everything_optional_is_absent(void **state)
{
    (void)state;
    pe_error err;
    io_node root, scaling;
    double factor = 7;
    assert_int_equal(io_json_parse(&root, "c.json", "{}", 2, &err), PE_OK);
    assert_int_equal(io_json_object(&scaling, &root, "rope_scaling", IO_OPTIONAL, &err), PE_OK);
    assert_int_equal(io_json_real(&factor, &scaling, "factor", IO_OPTIONAL, &err), PE_OK);
    assert_true(factor == 7);
    assert_int_equal(io_json_real(&factor, &scaling, "factor", IO_REQUIRED, &err), PE_ERR_FORMAT);
    io_json_free(&root);
}

static void json_memory_is_bounded_by_the_text(void **state)
{
    (void)state;
    static const char *const items[] = { "[],", "{},", "0,", "1.5,", "\"\",", "[[]],", "{\"\":0},",
                                         "\"twenty characters...\"," };
    static const size_t counts[] = { 1, 100, 3000, 8000, 9300, 20000, 30000, 40000, 70000, 300000, 1000000 };
    int taken = 0;
    count_jansson(true);
    for (size_t i = 0; i <= COUNT(items) + 1; i++)
        for (size_t c = 0; c < COUNT(counts); c++) {
            memset(&play, 0, sizeof play);
            char *text = malloc(counts[c] * 32 + 64), *at = text;
            assert_non_null(text);
            size_t before = play.live, keys = i == COUNT(items), one = i == COUNT(items) + 1;
            at += sprintf(at, keys ? "{" : one ? "[\"" : "[");
            for (size_t k = 0; k < counts[c]; k++)
                at += keys ? sprintf(at, "\"%zx\":0,", k) : sprintf(at, "%s", one ? "xy" : items[i]);
            at += sprintf(at, keys ? "\"\":0}" : one ? "\"]" : "0]");
            size_t n = (size_t)(at - text);
            io_node root;
            play.peak = 0;
            pe_status s = io_json_parse(&root, "big", text, n, NULL);
            assert_true(s == PE_OK || s == PE_ERR_FORMAT);
            taken += s == PE_OK;
            play.peak = play.peak > before ? play.peak - before + n : 0;
            within_bound(keys ? "keys" : one ? "string" : items[i], n, 16);
            io_json_free(&root);
            free(text);
        }
    count_jansson(false);
    assert_true(taken >= 50); /* the bound refuses the monsters, not the files */
}

/* ---------------------------------------------------------------- out of memory */

static pe_status op_read(pe_error *err)
{
    io_bytes b;
    pe_status s = io_read_file(&b, in_folder("t.npy"), 1000, err);
    io_bytes_free(&b);
    return s;
}

static pe_status op_npy_load(pe_error *err)
{
    io_array a;
    float *v = NULL;
    int64_t *w = NULL;
    pe_status s = io_npy_load(&a, in_folder("t.npy"), 0, err);
    if (s == PE_OK)
        s = io_array_to_f32(&v, &a, err);
    if (s == PE_OK)
        s = io_array_to_i64(&w, &a, err);
    free(v);
    free(w);
    io_array_free(&a);
    return s;
}

static pe_status op_npy_save(pe_error *err)
{
    io_array a = { .data = &(float){ 3 }, .type = IO_F32, .rank = 1, .shape = { 1 }, .count = 1 };
    return io_npy_save(in_folder("t.npy"), &a, err);
}

static pe_status op_safetensors(pe_error *err)
{
    io_safetensors *st;
    double *v = NULL;
    pe_status s = io_safetensors_load(&st, in_folder("t.st"), err);
    if (s == PE_OK)
        s = io_tensor_to_f64(&v, io_safetensors_at(st, 0), err);
    free(v);
    io_safetensors_free(st);
    return s;
}

/* Short tokens, for jansson 2.14 drops a character and goes on when its token buffer, 16 bytes at first, cannot grow.
 * Where it has no memory for a string it calls the text malformed, hence two statuses below. */
static pe_status op_json(pe_error *err)
{
    io_node root;
    pe_status s = io_json_load(&root, in_folder("t.json"), err);
    io_json_free(&root);
    return s;
}

static void any_failed_allocation_is_reported_and_leaks_nothing(void **state)
{
    (void)state;
    static pe_status (*const ops[])(pe_error *) = { op_npy_save, op_read, op_npy_load, op_safetensors, op_json };
    const char *json = "{\"a\":[1,2.5,\"x\",true],\"b\":{\"c\":null},\"d\":[0,0,0,0,0,0,0,0,0,0]}";
    op_npy_save(NULL);
    put_file(in_folder("t.st"), scratch, make_st("{\"__metadata__\":{\"a\":\"b\"}," T("a", "U8", "2", 0, 2) "}", 2));
    put_file(in_folder("t.json"), json, strlen(json));
    count_jansson(true);
    for (size_t i = 0; i < COUNT(ops); i++) {
        pe_error err = { 0 };
        long k = 1;
        for (bool done = false; !done; k++) {
            memset(&play, 0, sizeof play);
            play.fail_alloc = k;
            pe_status s = ops[i](&err);
            done = play.fail_alloc > 0; /* it was never reached */
            play.fail_alloc = 0;
            bool blamed_text = ops[i] == op_json && s == PE_ERR_FORMAT;
            if (done ? s != PE_OK : s != PE_ERR_NOMEM && !blamed_text)
                fail_msg("operation %zu, allocation %ld: status %d: %s", i, k, (int)s, err.text);
            assert_int_equal(play.live, 0);
            assert_int_equal(entries_in_folder(), 3);
        }
        assert_true(k > 2);
    }
    count_jansson(false);
    empty_folder();
}

/* ---------------------------------------------------------------- golden files */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Every tensor that the index names is in the file and converts. */
static void check_golden(const char *json_path, const char *st_path)
{
    io_node root, cases, one, tensors;
    io_safetensors *st;
    pe_error err;
    const char *name, *field, *key;
    json_t *value, *text;
    expect(json_path, io_json_load(&root, json_path, &err), PE_OK, &err);
    expect(st_path, io_safetensors_load(&st, st_path, &err), PE_OK, &err);
    assert_true(io_safetensors_count(st) > 0);
    expect("cases", io_json_object(&cases, &root, "cases", IO_REQUIRED, &err), PE_OK, &err);
    json_object_foreach(cases.json, name, value) {
        expect(name, io_json_object(&one, &cases, name, IO_REQUIRED, &err), PE_OK, &err);
        expect(name, io_json_object(&tensors, &one, "tensors", IO_REQUIRED, &err), PE_OK, &err);
        json_object_foreach(tensors.json, field, text) {
            const io_tensor *t;
            double *v;
            expect(field, io_json_string(&key, &tensors, field, IO_REQUIRED, &err), PE_OK, &err);
            expect(key, io_safetensors_get(&t, st, key, &err), PE_OK, &err);
            expect(key, io_tensor_to_f64(&v, t, &err), PE_OK, &err);
            free(v);
        }
    }
    io_safetensors_free(st);
    io_json_free(&root);
}

static void golden_files_open_and_hold_what_their_index_says(void **state)
{
    (void)state;
    const char *from = getenv("POSENC_GOLDEN");
    from = from ? from : "tests/golden";
    char json_path[1024], st_path[1024];
    int files = 0;
    DIR *d = opendir(from);
    if (!d)
        skip();
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (!ends_with(e->d_name, ".safetensors"))
            continue;
        int stem = (int)(strlen(e->d_name) - strlen(".safetensors"));
        snprintf(st_path, sizeof st_path, "%s/%s", from, e->d_name);
        snprintf(json_path, sizeof json_path, "%s/%.*s.json", from, stem, e->d_name);
        check_golden(json_path, st_path);
        files++;
    }
    closedir(d);
    if (files == 0)
        skip();
}

#define CLAIM(f) cmocka_unit_test_setup(f, each_test)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        CLAIM(checked_arithmetic_tells_what_does_not_fit),
        CLAIM(an_error_text_is_cut_at_a_character_and_keeps_no_controls),
        CLAIM(sorting_orders_any_input),
        CLAIM(reading_refuses_what_is_no_regular_file),
        CLAIM(reading_keeps_to_the_cap),
        CLAIM(short_and_interrupted_calls_lose_nothing),
        CLAIM(a_failed_read_says_why_and_keeps_nothing),
        CLAIM(a_failed_write_leaves_the_old_file_and_no_other),
        CLAIM(writing_refuses_what_a_rename_would_destroy),
        CLAIM(a_replaced_file_keeps_its_mode),
        CLAIM(npy_round_trips_every_type_and_rank),
        CLAIM(npy_header_is_numpys_own),
        CLAIM(npy_writer_refuses_what_it_cannot_say),
        CLAIM(npy_takes_what_numpy_writes),
        CLAIM(npy_refuses_hostile_headers),
        CLAIM(npy_refuses_hostile_frames),
        CLAIM(npy_survives_any_one_wrong_byte),
        CLAIM(npy_bfloat16_is_read_when_asked_for),
        CLAIM(halves_convert_exactly),
        CLAIM(every_number_type_converts),
        CLAIM(only_whole_numbers_become_int64),
        CLAIM(float32_overflow_is_told_and_infinity_kept),
        CLAIM(library_types_have_their_file_types),
        CLAIM(safetensors_finds_by_name),
        CLAIM(safetensors_may_be_empty),
        CLAIM(safetensors_refuses_hostile_headers),
        CLAIM(safetensors_offsets_are_checked_before_they_become_pointers),
        CLAIM(safetensors_refuses_text_that_is_not_utf8),
        CLAIM(safetensors_refuses_hostile_frames),
        CLAIM(safetensors_survives_any_one_wrong_byte),
        CLAIM(safetensors_memory_is_bounded_by_the_file),
        CLAIM(json_getters_read_what_is_there),
        CLAIM(json_errors_name_the_place),
        CLAIM(json_paths_of_any_length_are_cut),
        CLAIM(json_refuses_hostile_texts),
        CLAIM(json_numbers_have_at_most_64_characters),
        CLAIM(below_an_absent_node_everything_optional_is_absent),
        CLAIM(json_memory_is_bounded_by_the_text),
        CLAIM(any_failed_allocation_is_reported_and_leaks_nothing),
        CLAIM(golden_files_open_and_hold_what_their_index_says),
    };
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/posenc-io-XXXXXX", base && strlen(base) < 40 ? base : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    empty_folder();
    rmdir(folder);
    return failed;
}
