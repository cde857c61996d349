/* SPDX-License-Identifier: MIT
 *
 * One process at a time in a folder. The file says which process; the operating system's lock on the file excludes
 * others and ends with its owner. The file is removed on release while the lock is still held, so a process that gets a
 * lock checks that the path still leads to the file it locked.
 */
#include "io/io.h"
#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TRIES 100

static pe_status refuse_lock(const char *path, const char *what, pe_error *err)
{
    return io_fail(err, PE_ERR_IO, "%s: %s: %s; needs a folder that can be written", path, what, strerror(errno));
}

/* ---------------------------------------------------------------- the folder */

static pe_status make_one(const char *path, pe_error *err)
{
    struct stat st;
    if (mkdir(path, 0777) == 0)
        return io_sync_folder_of(path, err);
    int error = errno;
    if (stat(path, &st) != 0) {
        errno = error;
        return refuse_lock(path, "cannot be made", err);
    }
    if (!S_ISDIR(st.st_mode))
        return io_fail(err, PE_ERR_IO, "%s: is a file; needs a folder, or a name that is free", path);
    return PE_OK;
}

pe_status lab_folder_new(const char *path, pe_error *err)
{
    char part[1100];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof part)
        return io_fail(err, PE_ERR_RANGE, "the folder's name has %zu bytes; needs 1 to %zu", length, sizeof part - 1);
    pe_status s = PE_OK;
    for (size_t i = 1; s == PE_OK && i <= length; i++) {
        if ((path[i] != '/' && path[i] != '\0') || path[i - 1] == '/')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        s = make_one(part, err);
    }
    return s;
}

pe_status lab_folder_lacks(const char *folder, const char *name, pe_error *err)
{
    char path[1300];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (lstat(path, &st))
        return PE_OK;
    return io_fail(err, PE_ERR_IO, "%s is there and would be lost; move it away, or take another folder", path);
}

/* Other processes may write reports here without the lock: their temporary files are kept. */
static void remove_leftovers(const char *folder)
{
    char path[1100];
    DIR *d = opendir(folder);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        long owner = io_temp_owner(e->d_name);
        bool dead = owner > 0 && (owner == (long)getpid() || (kill((pid_t)owner, 0) != 0 && errno == ESRCH));
        int length = snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (dead && length > 0 && (size_t)length < sizeof path)
            unlink(path);
    }
    if (d)
        closedir(d);
}

/* ---------------------------------------------------------------- the lock */

typedef struct owner {
    long pid;
    char host[256], since[64];
} owner;

/* Reads the owner from the file; false: there is none, or the text is not a lock's. */
static bool read_owner(const lab_lock *l, owner *o)
{
    char text[400] = "";
    int end = 0;
    ssize_t n = pread(l->fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    return sscanf(text, "process %ld on %255s since %63s%n", &o->pid, o->host, o->since, &end) == 3 && end > 0 &&
           !strcmp(text + end, "\n");
}

static pe_status say_owner(const lab_lock *l, pe_error *err)
{
    owner o;
    if (!read_owner(l, &o))
        return io_fail(err, PE_ERR_IO, "%s: is held by another process; wait for it, or take another folder", l->path);
    return io_fail(err, PE_ERR_IO,
                   "%s: is held by process %ld on %s since %s; wait for it, stop it, or take another folder", l->path,
                   o.pid, o.host, o.since);
}

/* A lock file is empty or names its owner; any other file of that name is kept and reported. */
static pe_status check_own(const lab_lock *l, const struct stat *st, pe_error *err)
{
    owner o;
    if (S_ISREG(st->st_mode) && st->st_nlink == 1 && (st->st_size == 0 || read_owner(l, &o)))
        return PE_OK;
    return io_fail(err, PE_ERR_IO, "%s: is there, and no lock of posenc's; move it away, or take another folder",
                   l->path);
}

static pe_status write_all(int fd, const char *text, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n < 0 ? errno : EIO;
            return PE_ERR_IO;
        }
        text += n;
        size -= (size_t)n;
    }
    return PE_OK;
}

static pe_status sign(const lab_lock *l, pe_error *err)
{
    char host[256] = "", since[64] = "", text[400];
    struct tm parts = { 0 };
    time_t now = time(NULL);
    gethostname(host, sizeof host - 1);
    if (gmtime_r(&now, &parts))
        strftime(since, sizeof since, "%Y-%m-%dT%H:%M:%SZ", &parts);
    int size = snprintf(text, sizeof text, "process %ld on %s since %s\n", (long)getpid(), host[0] ? host : "?", since);
    if (ftruncate(l->fd, 0) != 0 || write_all(l->fd, text, (size_t)size) != PE_OK)
        return refuse_lock(l->path, "cannot be written", err);
    return PE_OK;
}

/* *again: the path no longer leads to the locked file. */
static pe_status try_once(lab_lock *l, bool *recovered, bool *again, pe_error *err)
{
    struct stat ours, there;
    *again = false;
    l->fd = open(l->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (l->fd < 0)
        return refuse_lock(l->path, "cannot be opened", err);
    int rc;
    do
        rc = flock(l->fd, LOCK_EX | LOCK_NB);
    while (rc != 0 && errno == EINTR);
    if (rc != 0 && errno == EWOULDBLOCK)
        return say_owner(l, err);
    if (rc != 0 || fstat(l->fd, &ours) != 0)
        return io_fail(err, PE_ERR_IO, "%s: cannot be locked: %s; needs a file system with locks", l->path,
                       strerror(errno));
    *again = lstat(l->path, &there) != 0 || ours.st_ino != there.st_ino || ours.st_dev != there.st_dev;
    if (*again)
        return PE_OK;
    pe_status s = check_own(l, &ours, err);
    if (s != PE_OK)
        return s;
    *recovered = ours.st_size > 0;
    s = sign(l, err);
    if (s != PE_OK)
        unlink(l->path);
    return s;
}

static void let_go(lab_lock *l)
{
    if (l->fd >= 0)
        close(l->fd);
    *l = (lab_lock){ .fd = -1 };
}

pe_status lab_lock_take(lab_lock *out, const char *folder, bool *recovered, pe_error *err)
{
    lab_lock l = { .fd = -1 };
    bool again = true;
    pe_status s = PE_OK;
    *out = l;
    *recovered = false;
    int length = snprintf(l.path, sizeof l.path, "%s/lock", folder);
    if (length < 0 || (size_t)length >= sizeof l.path)
        return io_fail(err, PE_ERR_RANGE, "%s: the name is too long; needs %zu bytes or less", folder,
                       sizeof l.path - sizeof "/lock");
    for (int i = 0; i < TRIES && again && s == PE_OK; i++) {
        if (l.fd >= 0)
            close(l.fd);
        s = try_once(&l, recovered, &again, err);
    }
    if (s == PE_OK && again)
        s = io_fail(err, PE_ERR_IO, "%s: comes and goes as others lock it; try again", l.path);
    if (s != PE_OK) {
        let_go(&l);
        return s;
    }
    *out = l;
    remove_leftovers(folder);
    return PE_OK;
}

void lab_lock_release(lab_lock *l)
{
    if (!l->path[0])
        return;
    unlink(l->path);
    let_go(l);
}
