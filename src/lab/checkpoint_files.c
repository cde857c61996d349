/* SPDX-License-Identifier: MIT */
#include "checkpoint.h"
#include "io/checked.h"
#include "io/json_text.h"
#include "io/sort.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "step-"
#define SUFFIX ".safetensors"

void checkpoint_name(char out[CHECKPOINT_NAME_MAX], int64_t step)
{
    snprintf(out, CHECKPOINT_NAME_MAX, PREFIX "%08" PRId64 SUFFIX, step);
}

pe_status checkpoint_path(char *out, size_t cap, const char *folder, int64_t step, pe_error *err)
{
    char name[CHECKPOINT_NAME_MAX];
    checkpoint_name(name, step);
    int length = snprintf(out, cap, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= cap)
        return io_fail(err, PE_ERR_RANGE, "%s: the name is too long; needs %zu bytes or less", folder,
                       cap - CHECKPOINT_NAME_MAX);
    return PE_OK;
}

/* Only names that checkpoint_name makes: step-1 is someone else's. */
static bool step_of(int64_t *step, const char *name)
{
    char again[CHECKPOINT_NAME_MAX];
    size_t digits = strncmp(name, PREFIX, strlen(PREFIX)) == 0 ? strspn(name + strlen(PREFIX), "0123456789") : 0;
    if (digits == 0 || !io_json_whole(step, name + strlen(PREFIX), digits))
        return false;
    checkpoint_name(again, *step);
    return strcmp(again, name) == 0;
}

static int newest_first(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x < y) - (x > y);
}

static pe_status append(int64_t **steps, size_t *count, size_t *room, int64_t step, pe_error *err)
{
    if (*count == *room) {
        size_t more, bytes;
        int64_t *grown =
            io_mul(&more, *room ? *room : 8, 2) && io_mul(&bytes, more, sizeof **steps) ? realloc(*steps, bytes) : NULL;
        if (!grown)
            return io_fail(err, PE_ERR_NOMEM, "no memory for a list of %zu checkpoints", *count);
        *steps = grown;
        *room = more;
    }
    (*steps)[(*count)++] = step;
    return PE_OK;
}

static struct dirent *next_of(DIR *d)
{
    errno = 0; /* the end of the folder and an error are told apart by it */
    return readdir(d);
}

pe_status checkpoint_list(int64_t **steps, size_t *count, const char *folder, pe_error *err)
{
    size_t room = 0;
    int64_t step;
    pe_status s = PE_OK;
    *steps = NULL;
    *count = 0;
    DIR *d = opendir(folder);
    if (!d && errno == ENOENT)
        return PE_OK;
    if (!d)
        return io_fail(err, PE_ERR_IO, "%s: cannot be listed: %s", folder, strerror(errno));
    for (struct dirent *e = next_of(d); s == PE_OK && e; e = next_of(d))
        if (step_of(&step, e->d_name))
            s = append(steps, count, &room, step, err);
    if (s == PE_OK && errno != 0)
        s = io_fail(err, PE_ERR_IO, "%s: cannot be listed: %s", folder, strerror(errno));
    closedir(d);
    if (s == PE_OK) {
        io_sort(*steps, *count, sizeof **steps, newest_first);
    } else {
        free(*steps);
        *steps = NULL;
        *count = 0;
    }
    return s;
}

void checkpoint_remove_old(const char *folder, int64_t step, int keep)
{
    char path[1100];
    int64_t *steps;
    size_t count;
    if (checkpoint_list(&steps, &count, folder, NULL) != PE_OK)
        return;
    keep = keep < 1 ? 1 : keep;
    for (size_t i = 0; i < count; i++)
        if (steps[i] <= step && keep-- <= 0 && checkpoint_path(path, sizeof path, folder, steps[i], NULL) == PE_OK)
            unlink(path);
    free(steps);
}

/* The folder is locked and nothing is being saved, so every temporary checkpoint is a dead one's. */
void checkpoint_remove_temporary(const char *folder)
{
    char path[1100];
    DIR *d = opendir(folder);
    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) != 0 || io_temp_owner(e->d_name) == 0)
            continue;
        int length = snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (length > 0 && (size_t)length < sizeof path)
            unlink(path);
    }
    if (d)
        closedir(d);
}
