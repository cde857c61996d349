/* SPDX-License-Identifier: MIT
 *
 * Reading a file of any size piece by piece. pread, so that the pieces come in any order and no mapping can end in
 * SIGBUS, as one of a file that another process cuts short does.
 */
#include "checked.h"
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP ((size_t)1 << 30) /* as in file.c */

static pe_status refuse_path(const char *path, const char *what, pe_error *err)
{
    return io_fail(err, PE_ERR_IO, "%s: cannot be %s: %s", path, what, strerror(errno));
}

static pe_status measure_file(io_file *f, pe_error *err)
{
    struct stat st;
    if (fstat(f->fd, &st) != 0)
        return refuse_path(f->name, "read", err);
    if (S_ISDIR(st.st_mode))
        return io_fail(err, PE_ERR_IO, "%s: is a folder; needs a file", f->name);
    if (!S_ISREG(st.st_mode) || st.st_size < 0)
        return io_fail(err, PE_ERR_IO, "%s: is a pipe or a device; needs a regular file", f->name);
    f->size = (uint64_t)st.st_size;
    return PE_OK;
}

pe_status io_file_open(io_file *out, const char *path, pe_error *err)
{
    io_file f = { .fd = -1, .name = path };
    *out = f;
    do
        f.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* or a pipe without a writer would hang us here */
    while (f.fd < 0 && errno == EINTR);
    if (f.fd < 0)
        return refuse_path(path, "opened", err);
    pe_status s = measure_file(&f, err);
    if (s == PE_OK)
        *out = f;
    else
        close(f.fd);
    return s;
}

pe_status io_file_read(void *out, const io_file *f, uint64_t at, size_t size, pe_error *err)
{
    uint8_t *to = out;
    if (at > f->size || size > f->size - at) /* so that at fits off_t below */
        return io_fail(err, PE_ERR_RANGE, "%s: bytes %" PRIu64 " to %" PRIu64 " are past its end", f->name, at,
                       at + size);
    while (size > 0) {
        ssize_t n = pread(f->fd, to, size < STEP ? size : STEP, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return refuse_path(f->name, "read", err);
        if (n == 0)
            return io_fail(err, PE_ERR_IO, "%s: changed while it was read", f->name);
        to += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    return PE_OK;
}

void io_file_close(io_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}
