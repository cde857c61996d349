/* SPDX-License-Identifier: MIT
 *
 * The page in the user's cache: one file for each version of it, and one for each link that was asked for. */
#include "cli/explore.h"
#include "cli/job.h"

#include "draw/draw.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_ROOM 4096

static uint64_t hash_of(const void *data, size_t size)
{
    io_hash h = io_hash_start(0);
    io_hash_add(&h, data, size);
    return io_hash_end(&h);
}

/* The XDG Base Directory Specification: a relative path counts as not set. */
static cli_exit find_folder(char *out, const cli_args *a)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool own = cache && cache[0] == '/';
    int length = own ? snprintf(out, PATH_ROOM, "%s/posenc", cache)
                     : snprintf(out, PATH_ROOM, "%s/.cache/posenc", home ? home : "");
    if (!own && (!home || home[0] != '/'))
        return cli_fail(a, CLI_SYSTEM, "neither XDG_CACHE_HOME nor HOME is set; say where the page goes: -o FILE");
    if (length < 0 || length >= PATH_ROOM - 64)
        return cli_fail(a, CLI_SYSTEM, "the path of the cache is too long; say where the page goes: -o FILE");
    return CLI_OK;
}

/* It and the folders above it, for the user alone. */
static cli_exit make_folder(char *path, const cli_args *a)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(path, 0700); /* what is in the way is found below */
        *slash = '/';
    }
    if (mkdir(path, 0700) && errno != EEXIST)
        return cli_fail(a, CLI_SYSTEM, "%s: cannot be made: %s; say where the page goes: -o FILE", path,
                        strerror(errno));
    return CLI_OK;
}

static cli_exit write_page(char **out, const cli_args *a, const char *folder, uint64_t hash)
{
    pe_error err;
    char path[PATH_ROOM];
    io_span page = explore_page();
    snprintf(path, sizeof path, "%.4000s/explore-%016" PRIx64 ".html", folder, hash);
    if (io_write_file(path, &page, 1, &err))
        return cli_fail_from(a, CLI_SYSTEM, NULL, &err);
    *out = strdup(path);
    return *out ? CLI_OK : cli_fail(a, CLI_SYSTEM, "no memory for a name");
}

typedef struct lead {
    uint64_t hash;
    const char *fragment;
} lead;

static pe_status write_lead(FILE *to, const void *with, pe_error *err)
{
    const lead *l = with;
    (void)err;
    fprintf(to, "<!doctype html>\n<meta charset=\"utf-8\">\n<title>posenc</title>\n");
    fprintf(to, "<meta http-equiv=\"refresh\" content=\"0; url=explore-%016" PRIx64 ".html", l->hash);
    draw_escape(to, l->fragment);
    fprintf(to, "\">\n");
    return PE_OK;
}

static cli_exit write_link(char **out, const cli_args *a, const char *folder, const lead *l)
{
    pe_error err;
    char name[64], path[PATH_ROOM];
    snprintf(name, sizeof name, "link-%016" PRIx64 ".html", hash_of(l->fragment, strlen(l->fragment)) ^ l->hash);
    snprintf(path, sizeof path, "%.4000s/%s", folder, name);
    if (io_make_file(folder, name, write_lead, l, &err))
        return cli_fail_from(a, CLI_SYSTEM, NULL, &err);
    *out = strdup(path);
    return *out ? CLI_OK : cli_fail(a, CLI_SYSTEM, "no memory for a name");
}

cli_exit explore_keep(char **page, char **link, const cli_args *a, const char *fragment)
{
    char folder[PATH_ROOM];
    io_span bytes = explore_page();
    lead l = { hash_of(bytes.data, bytes.size), fragment };
    *page = *link = NULL;
    CLI_TRY(find_folder(folder, a));
    CLI_TRY(make_folder(folder, a));
    CLI_TRY(write_page(page, a, folder, l.hash));
    return *fragment ? write_link(link, a, folder, &l) : CLI_OK;
}
