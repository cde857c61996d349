/* SPDX-License-Identifier: MIT
 *
 * Calls that fail, are cut short or are interrupted, as a test wishes (needs: wrap wrapio). */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

#include "common.h"
#include "heap.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/types.h>

typedef enum call { CALL_READ, CALL_PREAD, CALL_WRITE, CALL_FSYNC, CALL_CLOSE, CALL_RENAME, CALL_LINK, CALL_COUNT } call;

static struct {
    long fail_call[CALL_COUNT]; /* > 0: this many from now, one fails */
    int error;                  /* as this; 0: ENOSPC */
    long die;                   /* > 0: this many calls of any kind from now, the process is killed in front of one */
    bool stuck;                 /* reads and writes of no byte */
    bool no_links;              /* a file system without hard links */
    size_t slow;                /* > 0: reads and writes of so many bytes at the most, every other one interrupted */
    unsigned tick;
} play;

static inline void faults_reset(void)
{
    memset(&play, 0, sizeof play);
    memset(&heap, 0, sizeof heap);
}

#if defined __GLIBC__ && defined _FILE_OFFSET_BITS /* 32 bits: pread is a name for pread64 */
#define __real_pread __real_pread64
#define __wrap_pread __wrap_pread64
#define __wrap___pread_chk __wrap___pread64_chk
#endif
ssize_t __real_read(int, void *, size_t);
ssize_t __real_pread(int, void *, size_t, off_t);
ssize_t __real_write(int, const void *, size_t);
int __real_fsync(int);
int __real_close(int);
int __real_rename(const char *, const char *);
int __real_link(const char *, const char *);
ssize_t __wrap_read(int, void *, size_t);
ssize_t __wrap___read_chk(int, void *, size_t, size_t);
ssize_t __wrap_pread(int, void *, size_t, off_t);
ssize_t __wrap___pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __wrap_write(int, const void *, size_t);
int __wrap_fsync(int);
int __wrap_close(int);
int __wrap_rename(const char *, const char *);
int __wrap_link(const char *, const char *);

static inline bool call_fails(call c)
{
    if (play.die > 0 && --play.die == 0)
        raise(SIGKILL);
    if (play.fail_call[c] == 0 || --play.fail_call[c] > 0)
        return false;
    errno = play.error ? play.error : ENOSPC;
    return true;
}

static inline bool interrupted(size_t *size)
{
    if (!play.slow)
        return false;
    *size = *size > play.slow ? play.slow : *size;
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

ssize_t __wrap_pread(int fd, void *to, size_t size, off_t at)
{
    if (call_fails(CALL_PREAD) || interrupted(&size))
        return -1;
    return play.stuck ? 0 : __real_pread(fd, to, size, at);
}

ssize_t __wrap___pread_chk(int fd, void *to, size_t size, off_t at, size_t room)
{
    assert_true(size <= room);
    return __wrap_pread(fd, to, size, at);
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

int __wrap_link(const char *from, const char *to)
{
    if (play.no_links)
        errno = EPERM;
    return play.no_links || call_fails(CALL_LINK) ? -1 : __real_link(from, to);
}

#endif
