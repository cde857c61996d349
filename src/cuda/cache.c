/* SPDX-License-Identifier: MIT */
#include "cuda/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_ROOM (CACHE_FOLDER_ROOM + 128)
#define SUFFIX ".cubin"
#define CODE_MAX (64 << 20) /* bytes of one kernel; real ones have 1/1000 of it */
/* A kernel has some 50 KB, so this many have some 50 MB. Each that is written beyond it removes the one that was not
 * used for the longest time: those of older versions of the library and of the compiler go in the end. */
#define FILES_MAX 1000

typedef struct file_head {
    char magic[16];
    hash128 program, code; /* code: of the bytes that follow */
    uint32_t capability, compiler;
    uint64_t bytes;
} file_head;

static const char magic[16] = "posenc cubin 1\n";

/* ---------------------------------------------------------------- the folder */

void cache_folder(char out[CACHE_FOLDER_ROOM], const char *given)
{
    const char *own = given ? given : getenv("POSENC_CUDA_CACHE");
    const char *caches = own ? NULL : getenv("XDG_CACHE_HOME"), *home = own ? NULL : getenv("HOME");
    int n = 0;
    if (own)
        n = snprintf(out, CACHE_FOLDER_ROOM, "%s", own);
    else if (caches && *caches == '/') /* others are to be ignored, its definition says */
        n = snprintf(out, CACHE_FOLDER_ROOM, "%s/posenc/cuda", caches);
    else if (home && *home)
        n = snprintf(out, CACHE_FOLDER_ROOM, "%s/.cache/posenc/cuda", home);
    if (n <= 0 || n >= CACHE_FOLDER_ROOM)
        *out = 0;
}

/* And those above it. */
static void make_folder(const char *folder)
{
    char path[CACHE_FOLDER_ROOM];
    snprintf(path, sizeof path, "%s", folder);
    for (char *at = path + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            mkdir(path, 0700);
            *at = '/';
        }
    mkdir(path, 0700);
}

static bool is_kernel(const char *name)
{
    return strstr(name, SUFFIX) != NULL; /* finished, or left behind by a process that died */
}

/* The file that was not used for the longest time, where there are too many. */
static void remove_oldest(const char *folder)
{
    char path[PATH_ROOM], oldest[PATH_ROOM] = "";
    struct stat s;
    time_t when = 0;
    int count = 0;
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));) {
        if (!is_kernel(e->d_name) || snprintf(path, sizeof path, "%s/%s", folder, e->d_name) >= PATH_ROOM ||
            stat(path, &s))
            continue;
        if (!count++ || s.st_mtime < when) {
            when = s.st_mtime;
            memcpy(oldest, path, sizeof oldest);
        }
    }
    if (d)
        closedir(d);
    if (count > FILES_MAX)
        unlink(oldest);
}

/* ---------------------------------------------------------------- names */

/* Up to the compiler's version. */
static void name_begin(char out[80], cache_key key)
{
    char architecture[16];
    program_architecture(architecture, key.capability);
    snprintf(out, 80, "%016" PRIx64 "%016" PRIx64 "-%s-", key.program.a, key.program.b, architecture);
}

static bool path_of(char out[PATH_ROOM], const char *folder, cache_key key)
{
    char begin[80];
    name_begin(begin, key);
    return snprintf(out, PATH_ROOM, "%s/%s%d" SUFFIX, folder, begin, key.compiler) < PATH_ROOM;
}

/* ---------------------------------------------------------------- reading */

static bool read_all(int file, void *to, size_t bytes)
{
    for (char *at = to; bytes;) {
        ssize_t n = read(file, at, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

static bool head_is(const file_head *head, cache_key key)
{
    return !memcmp(head->magic, magic, sizeof magic) && hash_same(head->program, key.program) &&
           head->capability == (uint32_t)key.capability && head->compiler == (uint32_t)key.compiler && head->bytes &&
           head->bytes <= CODE_MAX;
}

static bool read_file(const char *path, cache_key key, blob *out)
{
    file_head head;
    char more;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool well = read_all(file, &head, sizeof head) && head_is(&head, key);
    if (well)
        out->data = malloc((size_t)head.bytes);
    well = out->data && read_all(file, out->data, (size_t)head.bytes) && !read_all(file, &more, 1);
    if (well)
        out->bytes = (size_t)head.bytes;
    well = well && hash_same(head.code, hash_bytes((hash128){ 0 }, out->data, out->bytes));
    if (well)
        futimens(file, NULL); /* it was used; a folder of somebody else does not say so */
    else {
        free(out->data);
        *out = (blob){ 0 };
    }
    close(file);
    return well;
}

/* Without a compiler that of any version is right. */
static bool read_any(const char *folder, cache_key key, blob *out)
{
    char begin[80];
    bool found = false;
    DIR *d = opendir(folder);
    name_begin(begin, key);
    for (struct dirent *e; !found && d && (e = readdir(d));) {
        char path[PATH_ROOM];
        if (strncmp(e->d_name, begin, strlen(begin)))
            continue;
        key.compiler = atoi(e->d_name + strlen(begin));
        found = key.compiler && path_of(path, folder, key) && read_file(path, key, out);
    }
    if (d)
        closedir(d);
    return found;
}

bool cache_read(const char *folder, cache_key key, blob *out)
{
    char path[PATH_ROOM];
    *out = (blob){ 0 };
    if (!*folder)
        return false;
    return key.compiler ? path_of(path, folder, key) && read_file(path, key, out) : read_any(folder, key, out);
}

/* ---------------------------------------------------------------- writing */

static bool write_all(int file, const void *from, size_t bytes)
{
    for (const char *at = from; bytes;) {
        ssize_t n = write(file, at, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* A reader sees a whole file or none: it is written under another name and renamed. After a power cut it may have wrong
 * bytes, which its checksum tells. */
void cache_write(const char *folder, cache_key key, blob code)
{
    char path[PATH_ROOM], other[PATH_ROOM];
    file_head head = { .program = key.program,
                       .code = hash_bytes((hash128){ 0 }, code.data, code.bytes),
                       .capability = (uint32_t)key.capability,
                       .compiler = (uint32_t)key.compiler,
                       .bytes = code.bytes };
    memcpy(head.magic, magic, sizeof magic);
    if (!*folder || code.bytes > CODE_MAX || !path_of(path, folder, key) ||
        snprintf(other, sizeof other, "%s.XXXXXX", path) >= PATH_ROOM)
        return;
    make_folder(folder);
    int file = mkstemp(other);
    if (file < 0)
        return;
    bool well = write_all(file, &head, sizeof head) && write_all(file, code.data, code.bytes);
    well = !close(file) && well;
    if (!well || rename(other, path))
        unlink(other);
    remove_oldest(folder);
}
