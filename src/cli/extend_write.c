/* SPDX-License-Identifier: MIT
 *
 * The plan into a config.json: edited as text, read back, compared with the plan, and only then put in its place. */
#include "cli/extend.h"

#include "zoo/build.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAME 1e-9

static bool same_pairs(const char *a, const char *b, pe_shape shape)
{
    pe_encoding *e[2] = { NULL, NULL };
    pe_pair pair[2][PE_HEAD_DIM_MAX / 2];
    bool same = !pe_encoding_new(&e[0], a, shape, NULL) && !pe_encoding_new(&e[1], b, shape, NULL);
    int64_t n = same ? pe_encoding_pair_count(e[0]) : 0;
    same = same && n == pe_encoding_pair_count(e[1]) && !pe_encoding_pairs(e[0], pair[0], n, NULL) &&
           !pe_encoding_pairs(e[1], pair[1], n, NULL) &&
           fabs(pe_encoding_magnitude(e[0]) - pe_encoding_magnitude(e[1])) <= SAME;
    for (int64_t i = 0; same && i < n; i++)
        same = pair[0][i].x == pair[1][i].x && pair[0][i].y == pair[1][i].y &&
               fabs(pair[0][i].frequency - pair[1][i].frequency) <= SAME * fabs(pair[0][i].frequency);
    pe_encoding_free(e[0]);
    pe_encoding_free(e[1]);
    return same;
}

/* The group that stands where the plan's stood. */
static const zoo_group *group_again(const extend_job *j, const zoo_model *again)
{
    const zoo_part *old = j->x.part, *new = &again->part[0];
    for (int64_t n = 0; n < old->layers && n < new->layers; n++)
        if (&old->group[old->layer[n].group] == j->x.group)
            return &new->group[new->layer[n].group];
    return NULL;
}

static pe_status check_changed(const extend_job *j, const char *text, const zoo_options *given, pe_error *err)
{
    zoo_model *again;
    pe_error inner;
    zoo_options options = *given;
    const char *spec = j->plan[j->taken].spec;
    options.length = j->x.target;
    options.theta = 0; /* what the plan takes from the command line has to stand in the file by now */
    options.head_dim = 0;
    if (zoo_read_config(&again, j->zoo->path, text, strlen(text), &options, &inner))
        return io_fail(err, PE_ERR_FORMAT, "nothing was written: the changed config could not be read (%s)",
                       inner.text);
    const zoo_group *g = group_again(j, again);
    pe_status s = PE_OK;
    if (!g || !same_pairs(g->spec, spec, j->x.group->shape))
        s = io_fail(
            err, PE_ERR_FORMAT,
            "nothing was written: the changed config reads as %.80s, not as the plan's %.80s; change it by hand",
            g ? g->spec : "another model", spec);
    zoo_free(again);
    return s;
}

pe_status extend_changed(char **out, const extend_job *j, const zoo_options *given, pe_error *err)
{
    extend_patch p;
    *out = NULL;
    TRY(extend_patch_make(&p, &j->x, &j->plan[j->taken], j->config, EXTEND_AS_FILE, err));
    pe_status s = json_edit_apply(out, j->config, p.edit, p.count, err);
    extend_patch_free(&p);
    if (!s)
        s = check_changed(j, *out, given, err);
    if (s) {
        free(*out);
        *out = NULL;
    }
    return s;
}

/* ---------------------------------------------------------------- in place */

/* The original's other name: at once where none is there; an older one is replaced at the end. */
typedef struct backup {
    char name[4096], temp[4096];
    bool made, older;
} backup;

static const char *backup_file(const backup *b)
{
    return b->older ? b->temp : b->name;
}

static pe_status make_backup(backup *b, const extend_job *j, bool replace, pe_error *err)
{
    struct stat st;
    const char *path = j->zoo->path;
    int length = snprintf(b->name, sizeof b->name, "%s.bak", path);
    int longer = snprintf(b->temp, sizeof b->temp, "%s.bak.%ld.tmp", path, (long)getpid());
    if (length < 0 || longer < 0 || (size_t)longer >= sizeof b->temp)
        return io_fail(err, PE_ERR_IO, "%.200s...: the name is too long for a .bak beside it", path);
    b->older = lstat(b->name, &st) == 0;
    if (b->older && !replace)
        return io_fail(err, PE_ERR_SPEC, "%s exists and may be the only original; move it, or pass --force", b->name);
    if (b->older && !S_ISREG(st.st_mode))
        return io_fail(err, PE_ERR_SPEC, "%s is no regular file; move it", b->name);
    TRY(io_keep_file(path, (io_span){ j->file.data, j->file.size }, backup_file(b), err));
    b->made = true;
    return PE_OK;
}

/* What was planned for is what is kept, and what is replaced. */
static pe_status check_unchanged(const extend_job *j, const char *path, pe_error *err)
{
    io_bytes now;
    TRY(io_read_file(&now, path, IO_CAP_TEXT, err));
    bool same = now.size == j->file.size && !memcmp(now.data, j->file.data, now.size);
    io_bytes_free(&now);
    if (same)
        return PE_OK;
    return io_fail(err, PE_ERR_FORMAT, "%s: the file changed during this command; nothing was written: run it again",
                   j->zoo->path);
}

static pe_status keep_backup(const backup *b, pe_error *err)
{
    if (b->older && rename(b->temp, b->name) != 0)
        return io_fail(err, PE_ERR_IO, "%s: cannot be replaced: %s; the original is %s", b->name, strerror(errno),
                       b->temp);
    if (b->older)
        unlink(b->temp); /* rename leaves it where both were one file */
    return PE_OK;
}

/* The new text lies beside it, and the path may be replaced, before anything else happens. */
pe_status extend_replace(const extend_job *j, io_span text, bool replace, pe_error *err)
{
    io_writer *w;
    backup b = { .made = false };
    TRY(io_writer_open(&w, j->zoo->path, err));
    pe_status s = io_writer_put(w, text, err);
    if (!s)
        s = make_backup(&b, j, replace, err);
    if (!s)
        s = check_unchanged(j, backup_file(&b), err);
    if (!s)
        s = check_unchanged(j, j->zoo->path, err);
    if (s)
        io_writer_abort(w);
    else
        s = io_writer_commit(w, err);
    if (s && b.made)
        unlink(backup_file(&b));
    return s ? s : keep_backup(&b, err);
}
