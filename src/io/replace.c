/* SPDX-License-Identifier: MIT
 *
 * Writing a whole file, all or nothing: a temporary file beside it, fsync, rename. Whoever reads the path at any moment
 * sees the old file or the new one, whole. (The folder is not synced: after a power cut it may still be the old one.)
 */
#include "checked.h"
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP ((size_t)1 << 30)
#define TRIES 100

typedef struct replacement {
    const char *path;
    char *temp;
    int fd;
    bool made; /* temp exists and is ours to remove */
    pe_error *err;
} replacement;

static pe_status refuse(const replacement *r)
{
    return io_fail(r->err, PE_ERR_IO, "%s: cannot be written: %s", r->path, strerror(errno));
}

/* rename() would put a plain file where /dev/null or a link was: only a plain file, or nothing, may be there. */
static pe_status check_target(const replacement *r, mode_t *mode, bool *exists)
{
    struct stat st;
    *exists = lstat(r->path, &st) == 0;
    if (!*exists)
        return errno == ENOENT ? PE_OK : refuse(r);
    *mode = st.st_mode & 0777;
    if (S_ISREG(st.st_mode))
        return PE_OK;
    return io_fail(r->err, PE_ERR_IO, "%s: is a %s; needs the path of a regular file", r->path,
                   S_ISDIR(st.st_mode)   ? "folder"
                   : S_ISLNK(st.st_mode) ? "link"
                                         : "pipe or a device");
}

/* Not mkstemp: its files are 0600 whatever the umask says. */
static pe_status open_temp(replacement *r)
{
    size_t room;
    if (!io_add(&room, strlen(r->path), 64) || !(r->temp = malloc(room)))
        return io_fail(r->err, PE_ERR_NOMEM, "%s: no memory for its temporary name", r->path);
    for (int i = 0; i < TRIES && r->fd < 0; i++) {
        snprintf(r->temp, room, "%s.%ld-%d.tmp", r->path, (long)getpid(), i);
        r->fd = open(r->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (r->fd < 0 && errno != EEXIST && errno != EINTR)
            break;
    }
    r->made = r->fd >= 0;
    return r->made ? PE_OK : refuse(r);
}

static pe_status write_part(const replacement *r, io_span part)
{
    const char *at = part.data;
    for (size_t left = part.size; left > 0;) {
        ssize_t n = write(r->fd, at, left < STEP ? left : STEP);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = EIO;
            return refuse(r);
        }
        at += n;
        left -= (size_t)n;
    }
    return PE_OK;
}

static pe_status fill_temp(replacement *r, const io_span *parts, int count)
{
    for (int i = 0; i < count; i++) {
        pe_status s = write_part(r, parts[i]);
        if (s != PE_OK)
            return s;
    }
    if (fsync(r->fd) != 0)
        return refuse(r);
    int fd = r->fd;
    r->fd = -1;
    return close(fd) == 0 ? PE_OK : refuse(r); /* some file systems tell of a full disk only here */
}

static void clean_up(replacement *r)
{
    if (r->fd >= 0)
        close(r->fd);
    if (r->made)
        unlink(r->temp);
    free(r->temp);
}

pe_status io_write_file(const char *path, const io_span *parts, int count, pe_error *err)
{
    replacement r = { .path = path, .fd = -1, .err = err };
    mode_t mode = 0;
    bool exists = false;
    pe_status s = check_target(&r, &mode, &exists);
    if (s == PE_OK)
        s = open_temp(&r);
    if (s == PE_OK && exists && fchmod(r.fd, mode) != 0)
        s = refuse(&r);
    if (s == PE_OK)
        s = fill_temp(&r, parts, count);
    if (s == PE_OK) {
        if (rename(r.temp, path) == 0)
            r.made = false;
        else
            s = refuse(&r);
    }
    clean_up(&r);
    return s;
}
