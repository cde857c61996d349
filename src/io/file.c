/* SPDX-License-Identifier: MIT
 *
 * Reading a whole file or stream. read() into memory rather than a mapping: a mapped
 * file that another process cuts short ends the reader with SIGBUS.
 */
#include "checked.h"

#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
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
        s = io_fail(err, PE_ERR_RANGE, "%s: is longer than %zu bytes, the most that is read", name, cap);
    if (s != PE_OK)
        io_bytes_free(out);
    return s;
}

void io_bytes_free(io_bytes *b)
{
    free(b->data);
    *b = (io_bytes){ 0 };
}

/* ---------------------------------------------------------------- folder */

/* What a writer owes the folder: its names are on the disk when the call returns, and a temporary file tells who left
 * it. */

#define PATH_ROOM 4096 /* PATH_MAX of Linux: a path that could be opened is shorter */

static void parent_of(char out[PATH_ROOM], const char *path)
{
    snprintf(out, PATH_ROOM, "%s", path);
    size_t end = strlen(out);
    while (end > 1 && out[end - 1] == '/')
        end--;
    while (end > 0 && out[end - 1] != '/')
        end--;
    out[end > 1 ? end - 1 : end] = '\0'; /* the slash goes, but not that of the root */
    if (end == 0)
        strcpy(out, ".");
}

static bool harmless(int error)
{
    return error == EINVAL || error == ENOTSUP || error == ENOSYS;
}

pe_status io_sync_folder_of(const char *path, pe_error *err)
{
    char folder[PATH_ROOM];
    parent_of(folder, path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return PE_OK; /* one may write in a folder that one may not read */
    int error = fsync(fd) == 0 ? 0 : errno;
    close(fd); /* nothing was written through it */
    if (error == 0 || harmless(error))
        return PE_OK;
    return io_fail(err, PE_ERR_IO, "%s: is written, but a power cut may undo it: its folder cannot be synced: %s", path,
                   strerror(error));
}

static const char *digits_before(const char *name, const char *end)
{
    while (end > name && end[-1] >= '0' && end[-1] <= '9')
        end--;
    return end;
}

/* PATH.PID-N.tmp, as io_writer_open names it. */
long io_temp_owner(const char *name)
{
    size_t length = strlen(name);
    const char *tail = name + length - (length < 4 ? 0 : 4);
    const char *n = digits_before(name, tail);
    const char *dash = n > name ? n - 1 : name;
    const char *pid = digits_before(name, dash);
    if (strcmp(tail, ".tmp") != 0 || n == tail || *dash != '-' || pid == dash || pid == name || pid[-1] != '.')
        return 0;
    long owner = 0;
    for (; pid < dash; pid++)
        if (__builtin_mul_overflow(owner, 10, &owner) || __builtin_add_overflow(owner, *pid - '0', &owner))
            return 0;
    return owner;
}
