/* SPDX-License-Identifier: MIT
 *
 * Reading a file or stream, whole or in part. read() into memory rather than a mapping: see HAZARDS R12.
 */
#include "checked.h"
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP ((size_t)1 << 30) /* Linux moves at most 2 GiB - 4 KiB a call, others refuse more than INT_MAX */
#define STREAM_START ((size_t)1 << 16)

/* *got falls short of size at the end of the file only. */
static pe_status read_up_to(uint8_t *data, size_t size, size_t *got, int fd, const char *path, pe_error *err)
{
    for (*got = 0; *got < size;) {
        size_t left = size - *got;
        ssize_t n = read(fd, data + *got, left < STEP ? left : STEP);
        if (n == 0)
            break;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return io_fail(err, PE_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
        *got += (size_t)n;
    }
    return PE_OK;
}

static pe_status file_size(int64_t *size, int fd, const char *path, pe_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return io_fail(err, PE_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return io_fail(err, PE_ERR_IO, "%s: is a folder; needs a file", path);
    if (!S_ISREG(st.st_mode))
        return io_fail(err, PE_ERR_IO, "%s: is a pipe or a device; needs a regular file", path);
    *size = st.st_size;
    return PE_OK;
}

pe_status io_open_file(int *fd, int64_t *size, const char *path, pe_error *err)
{
    do
        *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* or a pipe without a writer would hang us here */
    while (*fd < 0 && errno == EINTR);
    if (*fd < 0)
        return io_fail(err, PE_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    pe_status s = file_size(size, *fd, path, err);
    if (s != PE_OK)
        close(*fd);
    return s;
}

pe_status io_read_at(void *to, size_t size, int64_t offset, int fd, const char *path, pe_error *err)
{
    for (size_t got = 0; got < size;) {
        size_t left = size - got;
        int64_t at;
        if (!io_add_i64(&at, offset, (int64_t)got))
            return io_fail(err, PE_ERR_OVERFLOW, "%s: nothing lies at byte %lld", path, (long long)offset);
        ssize_t n = pread(fd, (uint8_t *)to + got, left < STEP ? left : STEP, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return io_fail(err, PE_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
        if (n == 0)
            return io_fail(err, PE_ERR_IO, "%s: changed while it was read", path);
        got += (size_t)n;
    }
    return PE_OK;
}

static pe_status read_open(io_bytes *out, int fd, int64_t length, const char *path, size_t cap, pe_error *err)
{
    size_t size, room, got = 0;
    if (!io_to_size(&size, length) || size > cap)
        return io_fail(err, PE_ERR_RANGE, "%s: has %lld bytes; at most %zu are read", path, (long long)length, cap);
    if (!io_add(&room, size, 1) || !(out->data = malloc(room)))
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory for its %zu bytes", path, size);
    pe_status s = read_up_to(out->data, room, &got, fd, path, err); /* the byte past the end tells a file that grew */
    if (s != PE_OK)
        return s;
    if (got != size)
        return io_fail(err, PE_ERR_IO, "%s: changed while it was read", path);
    out->data[size] = 0;
    out->size = size;
    out->name = path;
    return PE_OK;
}

pe_status io_read_file(io_bytes *out, const char *path, size_t cap, pe_error *err)
{
    *out = (io_bytes){ 0 };
    int fd;
    int64_t size;
    pe_status s = io_open_file(&fd, &size, path, err);
    if (s != PE_OK)
        return s;
    s = read_open(out, fd, size, path, cap, err);
    close(fd);
    if (s != PE_OK)
        io_bytes_free(out);
    return s;
}

/* Fills out up to room bytes; fewer: that was the end. */
static pe_status read_more(io_bytes *out, size_t room, int fd, pe_error *err)
{
    size_t got, bytes;
    uint8_t *data = io_add(&bytes, room, 1) ? realloc(out->data, bytes) : NULL;
    if (!data)
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory for %zu bytes", out->name, room);
    out->data = data;
    pe_status s = read_up_to(data + out->size, room - out->size, &got, fd, out->name, err);
    out->size += got;
    data[out->size] = 0;
    return s;
}

pe_status io_read_stream(io_bytes *out, int fd, const char *name, size_t cap, pe_error *err)
{
    *out = (io_bytes){ .name = name };
    size_t room = cap < STREAM_START ? cap : STREAM_START;
    pe_status s = read_more(out, room, fd, err);
    while (s == PE_OK && out->size == room && room <= cap) {
        room = room > cap / 2 ? cap + 1 : 2 * room; /* the byte past the cap tells a stream that goes on */
        s = read_more(out, room, fd, err);
    }
    if (s == PE_OK && out->size > cap)
        s = io_fail(err, PE_ERR_RANGE, "%s: goes on after %zu bytes, the most that is read", name, cap);
    if (s != PE_OK)
        io_bytes_free(out);
    return s;
}

void io_bytes_free(io_bytes *b)
{
    free(b->data);
    *b = (io_bytes){ 0 };
}
