/* SPDX-License-Identifier: MIT
 *
 * For tests of src/io (needs: io wrap wrapio): files that mean harm, disks that fill up and memory that runs out. */
#ifndef POSENC_TESTS_IO_CASE_H
#define POSENC_TESTS_IO_CASE_H

#include "common.h"
#include "faults.h"
#include "io/checked.h"
#include "io/io.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------------- helpers */

static char folder[64];
static char path_text[160];

static inline const char *in_folder(const char *name)
{
    snprintf(path_text, sizeof path_text, "%s/%s", folder, name);
    return path_text;
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
    heap.live += malloc_usable_size(b.data);
    return b;
}

static inline void put_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static inline const char *put_in_folder(const char *name, const void *data, size_t size)
{
    put_file(in_folder(name), data, size);
    return path_text;
}

static inline void expect(const char *claim, pe_status got, pe_status want, const pe_error *err)
{
    if (got != want)
        fail_msg("%s: status %d, not %d: %s", claim, (int)got, (int)want, err->text);
    if (want != PE_OK && (err->status != want || !err->text[0]))
        fail_msg("%s: says nothing", claim);
}

static inline pe_status load_safetensors(io_safetensors **out, const char *path, pe_error *err)
{
    io_bytes file;
    *out = NULL;
    pe_status s = io_read_file(&file, path, IO_CAP_DATA, err);
    return s == PE_OK ? io_safetensors_parse(out, &file, err) : s;
}

/* Peak heap at most 4n and this many MiB, the file's own bytes included. */
static inline void within_bound(const char *claim, size_t size, size_t slack)
{
    if (heap.peak > 4 * size + (slack << 20))
        fail_msg("%s: %zu bytes of heap for a file of %zu", claim, heap.peak, size);
}

/* Fails the first allocation of op, then the second, and so on until none is left to fail. */
static inline void any_failed_allocation_of(pe_status (*op)(pe_error *), const char *claim)
{
    pe_error err = { 0 };
    long k = 1;
    int entries = entries_in_folder();
    for (bool done = false; !done; k++) {
        faults_reset();
        heap.fail = k;
        pe_status s = op(&err);
        done = heap.fail > 0; /* it was never reached */
        heap.fail = 0;
        if (s != (done ? PE_OK : PE_ERR_NOMEM))
            fail_msg("%s, allocation %ld: status %d: %s", claim, k, (int)s, err.text);
        assert_int_equal(heap.live, 0);
        assert_int_equal(entries_in_folder(), entries);
    }
    assert_true(k > 2);
}

static inline void make_folder(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/posenc-io-XXXXXX", base && strlen(base) < 40 ? base : "/tmp");
    assert_non_null(mkdtemp(folder));
}

static inline void remove_folder(void)
{
    empty_folder();
    rmdir(folder);
}

#endif
