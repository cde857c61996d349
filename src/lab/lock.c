/* SPDX-License-Identifier: MIT
 *
 * One process at a time in a folder, on one machine or on several that share a disk.
 *
 *     lock-1  free   12 on a since 2026-11-18T21:12:05Z machine 4f1c6a90 silence 60 beat 0000000041
 *     lock-2  held   40 on b since ...
 *
 * The newest file counts. Whoever finds it free, or its owner dead, makes the next one; making a name that is not there
 * succeeds for one process only, on a shared disk too. No file is removed or used again before nobody needs the lock
 * any more, so a process that stood still since it looked cannot undo what came after. On the owner's machine the
 * system's lock on the file says whether the owner lives. On another one, whose clock and process ids mean nothing
 * here, an owner is dead if the file's text, in which it counts, is the same for as long as its "silence".
 */
#include "base/try.h"
#include "io/io.h"
#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TRIES 100
#define BEATS 20 /* signs of life in a silence */

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

static bool is_newer(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec > b->st_mtim.tv_sec ||
           (a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec > b->st_mtim.tv_nsec);
}

/* Only what is not newer than that file, by the disk's clock. That clock may tick every few milliseconds: what a process
 * wrote just before it was killed has the same time as the lock of the next. */
static void tidy_folder(const char *folder, const struct stat *file)
{
    char path[1100];
    struct stat st;
    DIR *d = opendir(folder);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        long owner = io_temp_owner(e->d_name);
        bool dead = owner > 0 && (owner == (long)getpid() || (kill((pid_t)owner, 0) != 0 && errno == ESRCH));
        int length = snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (dead && length > 0 && (size_t)length < sizeof path && !lstat(path, &st) && !is_newer(&st, file))
            unlink(path);
    }
    if (d)
        closedir(d);
}

/* At a name that nobody has; its path comes back. */
static int open_new(char path[LAB_LOCK_PATH + 40], const char *name)
{
    int fd = -1;
    for (int i = 0; i < TRIES && fd < 0; i++) {
        snprintf(path, LAB_LOCK_PATH + 40, "%s.%ld-%d.tmp", name, (long)getpid(), i);
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST && errno != EINTR)
            break;
    }
    return fd;
}

void lab_folder_tidy(const char *folder, double age)
{
    char name[LAB_LOCK_PATH], path[LAB_LOCK_PATH + 40];
    struct stat now;
    int fd = snprintf(name, sizeof name, "%s/clock", folder) < (int)sizeof name ? open_new(path, name) : -1;
    if (fd < 0)
        return;
    bool known = !fstat(fd, &now);
    now.st_mtim.tv_sec -= (time_t)age;
    close(fd);
    unlink(path);
    if (known)
        tidy_folder(folder, &now);
}

/* ---------------------------------------------------------------- the text of a lock */

#define BEAT_DIGITS 10

typedef struct owner {
    char state[8], host[256], since[64], machine[64];
    long pid;
    double silence;
} owner;

/* The same for all processes that one kernel runs, in containers too; "-" where the system does not say. */
static void machine_name(char out[64])
{
    const char *told = getenv("POSENC_MACHINE");
    FILE *f = told ? NULL : fopen("/proc/sys/kernel/random/boot_id", "r");
    if (!told || sscanf(told, "%63s", out) != 1)
        if (!f || fscanf(f, "%63s", out) != 1)
            strcpy(out, "-");
    if (f)
        fclose(f);
}

static bool parse_owner(owner *o, const char *text)
{
    int end = 0;
    unsigned beat;
    return sscanf(text, "%7s %ld on %255s since %63s machine %63s silence %lf beat %10u%n", o->state, &o->pid, o->host,
                  o->since, o->machine, &o->silence, &beat, &end) == 7 &&
           !strcmp(text + end, "\n") && (!strcmp(o->state, "held") || !strcmp(o->state, "free")) && o->silence > 0 &&
           o->silence <= LAB_SILENCE_MAX;
}

static void write_owner(char out[LAB_LOCK_TEXT], double silence, bool locked)
{
    char host[256] = "", since[64] = "?", machine[64] = "-";
    struct tm parts = { 0 };
    time_t now = time(NULL);
    gethostname(host, sizeof host - 1);
    if (locked) /* else the system's lock says nothing, on this machine either */
        machine_name(machine);
    if (gmtime_r(&now, &parts))
        strftime(since, sizeof since, "%Y-%m-%dT%H:%M:%SZ", &parts);
    snprintf(out, LAB_LOCK_TEXT, "held %ld on %s since %s machine %s silence %g beat %0*u\n", (long)getpid(),
             host[0] ? host : "?", since, machine, silence, BEAT_DIGITS, 0);
}

/* ---------------------------------------------------------------- looking */

static pe_status lock_path(char out[LAB_LOCK_PATH], const char *folder, int number, pe_error *err)
{
    int length = snprintf(out, LAB_LOCK_PATH, "%s/lock-%d", folder, number);
    if (length < LAB_LOCK_PATH)
        return PE_OK;
    return io_fail(err, PE_ERR_RANGE, "%.60s...: the folder's name is too long", folder);
}

static bool lock_is_there(const char *folder, int number)
{
    char path[LAB_LOCK_PATH];
    struct stat st;
    return number > 0 && !lock_path(path, folder, number, NULL) && !lstat(path, &st);
}

static bool read_owner(char text[LAB_LOCK_TEXT], owner *o, int fd)
{
    ssize_t n = pread(fd, text, LAB_LOCK_TEXT - 1, 0);
    text[n > 0 ? n : 0] = 0;
    return parse_owner(o, text);
}

/* By what the file says over time. One that has no text yet is judged like any other. */
static void judge_by_text(lab_watch *w, const char *text, double silence)
{
    double now = io_seconds();
    bool known = w->since > 0, changed = known && strcmp(text, w->text) != 0;
    if (!known || changed) {
        snprintf(w->text, sizeof w->text, "%s", text);
        w->since = now;
    }
    w->beaten = w->beaten || changed;
    double still = now - w->since;
    w->left = still > silence;
    w->state = w->left                                     ? LAB_LOCK_FREE
               : w->beaten && still < silence * 4 / BEATS ? LAB_LOCK_HELD
                                                           : LAB_LOCK_UNSURE;
}

/* By the system's lock, which dead processes do not have. */
static void judge_by_lock(lab_watch *w, int fd, const char *text, double silence)
{
    owner o;
    char again[LAB_LOCK_TEXT];
    if (!flock(fd, LOCK_SH | LOCK_NB)) {
        bool whole = read_owner(again, &o, fd); /* it may have been released meanwhile */
        w->left = !whole || strcmp(o.state, "free") != 0;
        w->state = LAB_LOCK_FREE;
    } else if (errno == EWOULDBLOCK)
        w->state = LAB_LOCK_HELD;
    else
        judge_by_text(w, text, silence);
}

static int open_lock(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/* One that has no text yet is. */
static bool is_lock(int fd, bool whole)
{
    struct stat st;
    return !fstat(fd, &st) && S_ISREG(st.st_mode) && (whole || st.st_size == 0);
}

static pe_status judge(lab_watch *w, int fd, const char *path, pe_error *err)
{
    owner o = { .silence = LAB_SILENCE };
    char text[LAB_LOCK_TEXT], machine[64];
    bool whole = read_owner(text, &o, fd);
    if (!is_lock(fd, whole))
        return io_fail(err, PE_ERR_IO, "%s: is there, and no lock of posenc's; move it away, or take another folder",
                       path);
    machine_name(machine);
    w->left = false;
    if (whole)
        snprintf(w->owner, sizeof w->owner, "process %ld on %s since %s", o.pid, o.host, o.since);
    if (whole && !strcmp(o.state, "free"))
        w->state = LAB_LOCK_FREE;
    else if (whole && strcmp(machine, "-") != 0 && !strcmp(machine, o.machine))
        judge_by_lock(w, fd, text, o.silence);
    else
        judge_by_text(w, text, o.silence);
    return PE_OK;
}

pe_status lab_lock_look(lab_watch *w, const char *folder, pe_error *err)
{
    char path[LAB_LOCK_PATH];
    int newest = lock_is_there(folder, w->number) ? w->number : 0;
    while (lock_is_there(folder, newest + 1))
        newest++;
    if (newest != w->number)
        *w = (lab_watch){ .number = newest };
    TRY(lock_path(path, folder, newest, err));
    int fd = newest ? open_lock(path) : -1;
    if (fd < 0 && newest && errno != ENOENT)
        return refuse_lock(path, "cannot be opened", err);
    if (fd < 0) { /* removed by the last who needed it */
        *w = (lab_watch){ .state = LAB_LOCK_FREE };
        return PE_OK;
    }
    pe_status s = judge(w, fd, path, err);
    close(fd);
    return s;
}

pe_status lab_lock_refuse(const lab_watch *w, const char *folder, pe_error *err)
{
    return io_fail(err, PE_ERR_IO, "%s: is held by %s; wait for it, stop it, or take another folder", folder,
                   *w->owner ? w->owner : "another process");
}

/* ---------------------------------------------------------------- the sign of life */

struct lab_beat {
    pthread_t thread;
    int lock, stop[2]; /* descriptors: the lock's file; a pipe that ends the thread */
    int pause;         /* milliseconds */
    off_t at;          /* of the number */
};

static void *beat(void *with)
{
    struct lab_beat *b = with;
    struct pollfd until = { .fd = b->stop[0], .events = POLLIN };
    char text[BEAT_DIGITS + 1];
    for (unsigned n = 1; poll(&until, 1, b->pause) <= 0; n++) {
        snprintf(text, sizeof text, "%0*u", BEAT_DIGITS, n);
        if (pwrite(b->lock, text, BEAT_DIGITS, b->at) == BEAT_DIGITS)
            close(dup(b->lock)); /* a disk on the network gets what was written when a descriptor is closed */
    }
    return NULL;
}

static void beat_free(struct lab_beat *b)
{
    if (!b)
        return;
    close(b->stop[0]);
    close(b->stop[1]);
    free(b);
}

static pe_status beat_start(lab_lock *l, const char *text, double silence, pe_error *err)
{
    struct lab_beat *b = calloc(1, sizeof *b);
    if (!b || pipe(b->stop)) {
        free(b);
        return io_fail(err, PE_ERR_NOMEM, "%s: no memory to hold it", l->path);
    }
    b->lock = l->fd;
    b->at = (off_t)strlen(text) - 1 - BEAT_DIGITS;
    b->pause = (int)(1000 * silence / BEATS) + 1;
    if (pthread_create(&b->thread, NULL, beat, b)) {
        beat_free(b);
        return io_fail(err, PE_ERR_NOMEM, "%s: no thread to hold it", l->path);
    }
    l->beat = b;
    return PE_OK;
}

static void beat_end(struct lab_beat *b)
{
    if (!b)
        return;
    if (write(b->stop[1], "", 1) == 1) /* else the pipe is broken, and the thread has ended */
        pthread_join(b->thread, NULL);
    beat_free(b);
}

/* ---------------------------------------------------------------- taking */

/* Signed in a file of its own first: it gets the lock's name whole, with its text and the system's lock. */
static pe_status sign(lab_lock *l, const char *path, char text[LAB_LOCK_TEXT], double silence, pe_error *err)
{
    bool locked = !flock(l->fd, LOCK_EX | LOCK_NB);
    write_owner(text, silence, locked);
    size_t size = strlen(text);
    for (size_t done = 0; done < size;) {
        ssize_t n = write(l->fd, text + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return refuse_lock(path, "cannot be written", err);
        done += (size_t)n;
    }
    return fsync(l->fd) ? refuse_lock(path, "cannot be written", err) : PE_OK;
}

/* Whether the file at temp, open as fd, got the name; errno: why not. */
static bool name_it(int fd, const char *temp, const char *name)
{
    struct stat st;
    if (!link(temp, name))
        return true;
    int error = errno;
    bool done = !fstat(fd, &st) && st.st_nlink == 2; /* a disk on the network may deny what it did */
    errno = error;
    return done;
}

static bool no_links(int error)
{
    return error == EPERM || error == ENOTSUP || error == EOPNOTSUPP || error == ENOSYS || error == EMLINK;
}

/* Where there are no hard links: the name first, then the text. Until it is there others only wait. */
static pe_status sign_in_place(lab_lock *l, char text[LAB_LOCK_TEXT], double silence, bool *taken, pe_error *err)
{
    close(l->fd);
    l->fd = open(l->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    *taken = l->fd >= 0;
    if (l->fd < 0)
        return errno == EEXIST ? PE_OK : refuse_lock(l->path, "cannot be opened", err);
    return sign(l, l->path, text, silence, err);
}

static pe_status take(lab_lock *l, char text[LAB_LOCK_TEXT], double silence, bool *taken, pe_error *err)
{
    char temp[LAB_LOCK_PATH + 40];
    *taken = false;
    l->fd = open_new(temp, l->path);
    if (l->fd < 0)
        return refuse_lock(l->path, "cannot be opened", err);
    pe_status s = sign(l, l->path, text, silence, err);
    *taken = s == PE_OK && name_it(l->fd, temp, l->path);
    int error = errno;
    unlink(temp);
    if (s || *taken || error == EEXIST || error == ENOENT) /* someone came before, or cleared the file away */
        return s;
    errno = error;
    return no_links(error) ? sign_in_place(l, text, silence, taken, err) : refuse_lock(l->path, "cannot be made", err);
}

static void let_go(lab_lock *l)
{
    beat_end(l->beat);
    if (l->fd > 0)
        close(l->fd);
    *l = (lab_lock){ 0 };
}

void lab_lock_release(lab_lock *l)
{
    if (!l->number)
        return;
    beat_end(l->beat);
    l->beat = NULL;
    ssize_t done = pwrite(l->fd, "free", 4, 0);
    (void)done; /* where that failed, those who look find its owner dead */
    let_go(l);
}

pe_status lab_lock_take(lab_lock *out, lab_watch *w, const char *folder, double silence, pe_error *err)
{
    lab_lock l = { 0 };
    struct stat st;
    char text[LAB_LOCK_TEXT];
    bool taken;
    *out = (lab_lock){ 0 };
    TRY(lab_lock_look(w, folder, err));
    if (w->state != LAB_LOCK_FREE)
        return PE_OK;
    l.number = w->number + 1;
    snprintf(l.folder, sizeof l.folder, "%s", folder);
    TRY(lock_path(l.path, folder, l.number, err));
    pe_status s = take(&l, text, silence, &taken, err);
    bool known = !s && taken && !fstat(l.fd, &st); /* as it was made: later it gets signs of life */
    if (!s && taken)
        s = beat_start(&l, text, silence, err);
    if (s && taken)
        lab_lock_release(&l);
    if (s || !taken) {
        let_go(&l);
        w->state = LAB_LOCK_UNSURE; /* who came before is seen by the next look */
        return s;
    }
    *out = l;
    w->state = LAB_LOCK_TAKEN;
    if (known) /* it may come here so late that it lost the lock: what is newer is another process's */
        tidy_folder(folder, &st);
    return PE_OK;
}

bool lab_lock_held(const lab_lock *l)
{
    return lock_is_there(l->folder, l->number) && !lock_is_there(l->folder, l->number + 1);
}

/* In any order, with gaps: a process that came late makes the next one while those before it are removed. */
void lab_lock_remove(const char *folder)
{
    char path[LAB_LOCK_PATH], text[LAB_LOCK_TEXT];
    owner o;
    DIR *d = opendir(folder);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        bool named = !strncmp(e->d_name, "lock-", 5) && e->d_name[5 + strspn(e->d_name + 5, "0123456789")] == '\0';
        int fd = named && snprintf(path, sizeof path, "%s/%s", folder, e->d_name) < LAB_LOCK_PATH ? open_lock(path) : -1;
        if (fd >= 0 && is_lock(fd, read_owner(text, &o, fd)))
            unlink(path);
        if (fd >= 0)
            close(fd);
    }
    if (d)
        closedir(d);
}
