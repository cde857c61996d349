/* SPDX-License-Identifier: MIT
 *
 * Reading a whole file or stream. read() into memory rather than a mapping: see HAZARDS R12.
 */
#include "checked.h"
#include "io.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
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

static pe_status read_open(io_bytes *out, const io_file *f, size_t cap, pe_error *err)
{
    size_t room, got = 0, size = (size_t)f->size;
    if (f->size > cap)
        return io_fail(err, PE_ERR_RANGE, "%s: has %" PRIu64 " bytes; at most %zu are read", f->name, f->size, cap);
    if (!io_add(&room, size, 1) || !(out->data = malloc(room)))
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory for its %zu bytes", f->name, size);
    pe_status s = read_up_to(out->data, room, &got, f->fd, f->name, err); /* the byte past the end: a file that grew */
    if (s != PE_OK)
        return s;
    if (got != size)
        return io_fail(err, PE_ERR_IO, "%s: changed while it was read", f->name);
    out->data[size] = 0;
    out->size = size;
    out->name = f->name;
    return PE_OK;
}

pe_status io_read_file(io_bytes *out, const char *path, size_t cap, pe_error *err)
{
    *out = (io_bytes){ 0 };
    io_file f;
    pe_status s = io_file_open(&f, path, err);
    if (s != PE_OK)
        return s;
    s = read_open(out, &f, cap, err);
    io_file_close(&f);
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
