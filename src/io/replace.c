/* SPDX-License-Identifier: MIT
 *
 * Writing a file, all or nothing: a temporary file beside it, fsync, rename, fsync of the folder. Whoever reads the
 * path at any moment sees the old file or the new one, whole; after success a power cut leaves the new one.
 */
#include "checked.h"

#include "io.h"
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP ((size_t)1 << 30)
#define TRIES 100

struct io_writer {
    int fd;
    FILE *stream; /* of fd; NULL: not asked for */
    bool made;    /* temp exists and is ours to remove */
    size_t room;
    char *path, *temp; /* both in text */
    char text[];
};

static pe_status refuse_path(const char *path, pe_error *err)
{
    return io_fail(err, PE_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
}

/* rename() would put a plain file where /dev/null or a link was: only a plain file, or nothing, may be there. */
static pe_status check_target(const char *path, mode_t *mode, bool *exists, pe_error *err)
{
    struct stat st;
    *exists = lstat(path, &st) == 0;
    if (!*exists)
        return errno == ENOENT ? PE_OK : refuse_path(path, err);
    *mode = st.st_mode & 0777;
    if (S_ISREG(st.st_mode))
        return PE_OK;
    if (S_ISLNK(st.st_mode))
        return io_fail(err, PE_ERR_IO, "%s: is a link; needs the file it points to, or another path (-o FILE)", path);
    return io_fail(err, PE_ERR_IO, "%s: is a %s; needs the path of a regular file", path,
                   S_ISDIR(st.st_mode) ? "folder" : "pipe or a device");
}

static io_writer *new_writer(const char *path)
{
    size_t length = strlen(path), own, room, bytes;
    if (!io_add(&own, length, 1) || !io_add(&room, length, 64) || !io_add(&bytes, room, own) ||
        !io_add(&bytes, bytes, sizeof(io_writer)))
        return NULL;
    io_writer *w = malloc(bytes);
    if (!w)
        return NULL;
    *w = (io_writer){ .fd = -1, .room = room, .path = w->text, .temp = w->text + own };
    memcpy(w->path, path, own);
    return w;
}

/* Not mkstemp: its files are 0600 whatever the umask says. */
static pe_status open_temp(io_writer *w, pe_error *err)
{
    for (int i = 0; i < TRIES && w->fd < 0; i++) {
        snprintf(w->temp, w->room, "%s.%ld-%d.tmp", w->path, (long)getpid(), i);
        w->fd = open(w->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (w->fd < 0 && errno != EEXIST && errno != EINTR)
            break;
    }
    w->made = w->fd >= 0;
    return w->made ? PE_OK : refuse_path(w->path, err);
}

pe_status io_writer_open(io_writer **out, const char *path, pe_error *err)
{
    mode_t mode = 0;
    bool exists = false;
    *out = NULL;
    pe_status s = check_target(path, &mode, &exists, err);
    if (s != PE_OK)
        return s;
    io_writer *w = new_writer(path);
    if (!w)
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory for its temporary name", path);
    s = open_temp(w, err);
    if (s == PE_OK && exists && fchmod(w->fd, mode) != 0)
        s = refuse_path(path, err);
    if (s == PE_OK)
        *out = w;
    else
        io_writer_abort(w);
    return s;
}

pe_status io_writer_put(io_writer *w, io_span part, pe_error *err)
{
    const char *at = part.data;
    for (size_t left = part.size; left > 0;) {
        ssize_t n = write(w->fd, at, left < STEP ? left : STEP);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = EIO;
            return refuse_path(w->path, err);
        }
        at += n;
        left -= (size_t)n;
    }
    return PE_OK;
}

FILE *io_writer_stream(io_writer *w)
{
    if (!w->stream)
        w->stream = fdopen(w->fd, "w");
    return w->stream;
}

static bool shut(io_writer *w)
{
    int fd = w->fd;
    FILE *stream = w->stream;
    w->fd = -1;
    w->stream = NULL;
    return (stream ? fclose(stream) : close(fd)) == 0;
}

static pe_status settle_file(io_writer *w, pe_error *err)
{
    if (w->stream && (fflush(w->stream) || ferror(w->stream)))
        return refuse_path(w->path, err);
    if (fsync(w->fd) != 0)
        return refuse_path(w->path, err);
    return shut(w) ? PE_OK : refuse_path(w->path, err); /* some file systems tell of a full disk only here */
}

/* In one step from the temporary file to the path. */
static pe_status replace_path(io_writer *w, pe_error *err)
{
    pe_status s = settle_file(w, err);
    if (s != PE_OK)
        return s;
    if (rename(w->temp, w->path) != 0)
        return refuse_path(w->path, err);
    w->made = false;
    return io_sync_folder_of(w->path, err);
}

pe_status io_writer_commit(io_writer *w, pe_error *err)
{
    pe_status s = replace_path(w, err);
    io_writer_abort(w);
    return s;
}

void io_writer_abort(io_writer *w)
{
    if (!w)
        return;
    if (w->fd >= 0)
        shut(w);
    if (w->made)
        unlink(w->temp);
    free(w);
}

pe_status io_write_file(const char *path, const io_span *parts, int count, pe_error *err)
{
    io_writer *w;
    pe_status s = io_writer_open(&w, path, err);
    for (int i = 0; s == PE_OK && i < count; i++)
        s = io_writer_put(w, parts[i], err);
    if (s == PE_OK)
        return io_writer_commit(w, err);
    io_writer_abort(w);
    return s;
}

/* ---------------------------------------------------------------- a second name */

/* O_EXCL, so that nothing that is there, or comes there now, is lost. */
static pe_status copy_to(const char *kept, io_span bytes, mode_t mode, pe_error *err)
{
    io_writer *w = new_writer(kept);
    if (!w)
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory for its name", kept);
    snprintf(w->temp, w->room, "%s", kept);
    w->fd = open(kept, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    w->made = w->fd >= 0;
    pe_status s = w->made && fchmod(w->fd, mode) == 0 ? PE_OK : refuse_path(kept, err);
    if (s == PE_OK)
        s = io_writer_put(w, bytes, err);
    if (s == PE_OK)
        s = settle_file(w, err);
    w->made = w->made && s != PE_OK;
    io_writer_abort(w);
    return s;
}

pe_status io_keep_file(const char *path, io_span bytes, const char *kept, pe_error *err)
{
    struct stat st;
    if (link(path, kept) == 0)
        return PE_OK;
    if (errno == EEXIST || lstat(path, &st) != 0)
        return refuse_path(kept, err);
    return copy_to(kept, bytes, st.st_mode & 0777, err);
}

/* ---------------------------------------------------------------- make */

pe_status io_make_file(const char *folder, const char *name, io_make *make, const void *with, pe_error *err)
{
    char path[4200], *text = NULL;
    size_t size = 0;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return io_fail(err, PE_ERR_RANGE, "%.60s...: the folder's name is too long", folder);
    FILE *to = open_memstream(&text, &size);
    pe_status s = to ? make(to, with, err) : PE_OK;
    bool whole = to && !ferror(to);
    whole = to && !fclose(to) && whole;
    if (s == PE_OK)
        s = whole ? io_write_file(path, &(io_span){ text, size }, 1, err)
                  : io_fail(err, PE_ERR_NOMEM, "%s: no memory for it", path);
    free(text);
    return s;
}
