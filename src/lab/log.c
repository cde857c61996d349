/* SPDX-License-Identifier: MIT
 *
 * The log of a run that can be resumed: lines after the checkpoint are left out, and the resumed run writes them again.
 */
#include "io/io.h"
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pe_status refuse_log(const char *path, const char *what, pe_error *err)
{
    return io_fail(err, PE_ERR_IO, "%s: cannot be %s: %s", path, what, strerror(errno));
}

/* The end of the last complete line. */
static pe_status end_of_lines(int64_t *end, const io_file *f, pe_error *err)
{
    char text[4096];
    for (uint64_t to = f->size; to > 0;) {
        size_t size = to < sizeof text ? (size_t)to : sizeof text;
        pe_status s = io_file_read(text, f, to - size, size, err);
        if (s != PE_OK)
            return s;
        for (size_t i = size; i-- > 0; to--)
            if (text[i] == '\n') {
                *end = (int64_t)to;
                return PE_OK;
            }
    }
    *end = 0;
    return PE_OK;
}

static pe_status check_size(const io_file *f, int64_t size, pe_error *err)
{
    char last = '\n';
    if (f->size < (uint64_t)size)
        return io_fail(err, PE_ERR_FORMAT, "%s: has %" PRIu64 " bytes; the checkpoint goes with its first %" PRId64,
                       f->name, f->size, size);
    pe_status s = size > 0 ? io_file_read(&last, f, (uint64_t)size - 1, 1, err) : PE_OK;
    if (s == PE_OK && last != '\n')
        s = io_fail(err, PE_ERR_FORMAT, "%s: no line ends at byte %" PRId64 ", where the checkpoint was made", f->name,
                    size);
    return s;
}

/* A new file in place of the old one, of its first bytes. */
static pe_status renew_file(const io_file *f, int64_t size, pe_error *err)
{
    pe_status s = size < 0 ? end_of_lines(&size, f, err) : check_size(f, size, err);
    char *text = s == PE_OK ? malloc((size_t)size + 1) : NULL;
    if (s == PE_OK && !text)
        s = io_fail(err, PE_ERR_NOMEM, "%s: no memory for its %" PRId64 " bytes", f->name, size);
    if (s == PE_OK && size > 0)
        s = io_file_read(text, f, 0, (size_t)size, err);
    if (s == PE_OK)
        s = io_write_file(f->name, &(io_span){ text, (size_t)size }, 1, err);
    free(text);
    return s;
}

static pe_status open_file(io_file *f, const char *path, pe_error *err)
{
    struct stat st;
    *f = (io_file){ .fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0666),
                    .name = path };
    if (f->fd < 0 && errno == ELOOP) /* a symbolic link: its target is not the race's file */
        return io_fail(err, PE_ERR_IO, "%s: is a symbolic link; needs a regular file, or a name that is free", path);
    if (f->fd < 0 || fstat(f->fd, &st) != 0)
        return refuse_log(path, "opened", err);
    if (!S_ISREG(st.st_mode))
        return io_fail(err, PE_ERR_IO, "%s: is no regular file; needs one, or a name that is free", path);
    f->size = (uint64_t)st.st_size;
    return io_sync_folder_of(path, err);
}

pe_status lab_log_check(const char *path, int64_t size, pe_error *err)
{
    io_file f;
    if (size == 0)
        return PE_OK;
    pe_status s = io_file_open(&f, path, err);
    if (s != PE_OK)
        return s;
    s = check_size(&f, size, err);
    io_file_close(&f);
    return s;
}

pe_status lab_log_open(lab_log *out, const char *path, int64_t size, pe_error *err)
{
    io_file f;
    *out = (lab_log){ 0 };
    if (strlen(path) >= sizeof out->path)
        return io_fail(err, PE_ERR_RANGE, "%s: the name is too long; needs %zu bytes or less", path,
                       sizeof out->path - 1);
    pe_status s = open_file(&f, path, err);
    if (s == PE_OK)
        s = renew_file(&f, size, err);
    io_file_close(&f);
    if (s == PE_OK)
        s = open_file(&f, path, err);
    if (s == PE_OK && !(out->to = fdopen(f.fd, "ab")))
        s = refuse_log(path, "opened", err);
    if (s == PE_OK)
        strcpy(out->path, path);
    else
        io_file_close(&f);
    return s;
}

pe_status lab_log_sync(lab_log *l, int64_t *size, pe_error *err)
{
    struct stat st;
    if (ferror(l->to)) /* an earlier write failed; errno is about another call */
        return io_fail(err, PE_ERR_IO, "%s: cannot be written: a line was lost; is the disk full?", l->path);
    if (fflush(l->to) != 0 || fsync(fileno(l->to)) != 0 || fstat(fileno(l->to), &st) != 0)
        return refuse_log(l->path, "written", err);
    *size = (int64_t)st.st_size;
    return PE_OK;
}

void lab_log_close(lab_log *l)
{
    if (l->to)
        fclose(l->to);
    *l = (lab_log){ 0 };
}
