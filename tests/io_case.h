/* SPDX-License-Identifier: MIT
 *
 * For tests of src/io (needs: io wrap wrapio): files that mean harm, disks that fill up and memory that runs out. */
#ifndef POSENC_TESTS_IO_CASE_H
#define POSENC_TESTS_IO_CASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "io/checked.h"
#include "io/io.h"

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

static inline bool alloc_fails(void)
{
    return play.fail_alloc > 0 && --play.fail_alloc == 0;
}

static inline void *counted(void *p)
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

static inline bool call_fails(call c)
{
    play.seen[c]++;
    if (play.fail_call[c] == 0 || --play.fail_call[c] > 0)
        return false;
    errno = play.error;
    return true;
}

static inline bool interrupted(size_t *size)
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

static inline const char *in_folder(const char *name)
{
    snprintf(path_text, sizeof path_text, "%s/%s", folder, name);
    return path_text;
}

static inline int each_test(void **state)
{
    (void)state;
    memset(&play, 0, sizeof play);
    return 0;
}

static inline int entries_in_folder(void)
{
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d))
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

static inline void empty_folder(void)
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
static inline io_bytes exact(const void *data, size_t size)
{
    io_bytes b = { __real_malloc(size ? size : 1), size, "file" };
    if (b.data && size)
        memcpy(b.data, data, size);
    play.live += malloc_usable_size(b.data);
    return b;
}

static inline void put_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}





static inline void expect(const char *claim, pe_status got, pe_status want, const pe_error *err)
{
    if (got != want)
        fail_msg("%s: status %d, not %d: %s", claim, (int)got, (int)want, err->text);
    if (want != PE_OK && (err->status != want || !err->text[0]))
        fail_msg("%s: says nothing", claim);
}

/* Peak heap at most 4n and this many MiB, the file's own bytes included. */
static inline void within_bound(const char *claim, size_t size, size_t slack)
{
    if (play.peak > 4 * size + (slack << 20))
        fail_msg("%s: %zu bytes of heap for a file of %zu", claim, play.peak, size);
}

/* Fails the first allocation of op, then the second, and so on until none is left to fail. */
static inline void any_failed_allocation_of(pe_status (*op)(pe_error *), const char *claim)
{
    pe_error err = { 0 };
    long k = 1;
    int entries = entries_in_folder();
    for (bool done = false; !done; k++) {
        memset(&play, 0, sizeof play);
        play.fail_alloc = k;
        pe_status s = op(&err);
        done = play.fail_alloc > 0; /* it was never reached */
        play.fail_alloc = 0;
        if (s != (done ? PE_OK : PE_ERR_NOMEM))
            fail_msg("%s, allocation %ld: status %d: %s", claim, k, (int)s, err.text);
        assert_int_equal(play.live, 0);
        assert_int_equal(entries_in_folder(), entries);
    }
    assert_true(k > 2);
}

#define CLAIM(f) cmocka_unit_test_setup(f, each_test)

/* In a folder of its own. */
static inline int run_claims(const struct CMUnitTest *tests, size_t count)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/posenc-io-XXXXXX", base && strlen(base) < 40 ? base : "/tmp");
    if (!mkdtemp(folder))
        return 1;
    int failed = _cmocka_run_group_tests("io", tests, count, NULL, NULL);
    empty_folder();
    rmdir(folder);
    return failed;
}

#endif
