/* SPDX-License-Identifier: MIT
 *
 * What a writer owes the folder: its names are on the disk when the call returns, and a temporary file tells who left
 * it.
 */
#include "checked.h"
#include "io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
