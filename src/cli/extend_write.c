/* SPDX-License-Identifier: MIT
 *
 * The plan into a config.json: edited as text, read back, compared with the plan, and only then put in its place. */
#include "cli/extend.h"
#include "cli/model.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SAME 1e-9

static cli_exit edit(char **out, const extend_job *j)
{
    extend_patch p;
    pe_error err;
    if (extend_patch_make(&p, &j->x, &j->plan[j->taken], j->config, EXTEND_AS_FILE, &err))
        return cli_fail_from(j->args, CLI_INPUT, j->zoo->path, &err);
    pe_status s = json_edit_apply(out, j->config, p.edit, p.count, &err);
    extend_patch_free(&p);
    return s ? cli_fail_from(j->args, CLI_INPUT, j->zoo->path, &err) : CLI_OK;
}

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

static cli_exit check(const extend_job *j, const char *text)
{
    zoo_model *again;
    pe_error err;
    zoo_options options;
    CLI_TRY(model_options(&options, j->args));
    options.length = j->x.target;
    options.theta = 0; /* what the plan takes from the command line has to stand in the file by now */
    options.head_dim = 0;
    if (zoo_read_config(&again, j->zoo->path, text, strlen(text), &options, &err))
        return cli_fail(j->args, CLI_INPUT, "the changed config could not be read (%s); nothing was written", err.text);
    const zoo_group *g = group_again(j, again);
    bool same = g && same_pairs(g->spec, j->plan[j->taken].spec, j->x.group->shape);
    cli_exit code = same ? CLI_OK
                         : cli_fail(j->args, CLI_INPUT,
                                    "the changed config reads as %.200s, not as the plan's %.200s; nothing was "
                                    "written: change it by hand",
                                    g ? g->spec : "another model", j->plan[j->taken].spec);
    zoo_free(again);
    return code;
}

/* ---------------------------------------------------------------- in place */

/* The original's other name: at once where none is there; with --force it takes the place of an older one at the end.
 */
typedef struct backup {
    char name[4096], temp[4096];
    bool made, older;
} backup;

static cli_exit name_backup(backup *b, const extend_job *j)
{
    struct stat st;
    int length = snprintf(b->name, sizeof b->name, "%s.bak", j->zoo->path);
    int longer = snprintf(b->temp, sizeof b->temp, "%s.bak.%ld.tmp", j->zoo->path, (long)getpid());
    if (length < 0 || longer < 0 || (size_t)longer >= sizeof b->temp)
        return cli_fail(j->args, CLI_SYSTEM, "%s: its name is too long for a .bak beside it", j->zoo->path);
    b->older = lstat(b->name, &st) == 0;
    if (b->older && !cli_given(j->args, "force"))
        return cli_fail(j->args, CLI_USAGE,
                        "%s is there already, and may be the only original; move it, or pass --force", b->name);
    if (b->older && !S_ISREG(st.st_mode))
        return cli_fail(j->args, CLI_USAGE, "%s is no regular file; move it", b->name);
    return CLI_OK;
}

static cli_exit back_up(backup *b, const extend_job *j)
{
    pe_error err;
    io_span bytes = { j->file.data, j->file.size };
    CLI_TRY(name_backup(b, j));
    if (io_keep_file(j->zoo->path, bytes, b->older ? b->temp : b->name, &err))
        return cli_fail_from(j->args, CLI_SYSTEM, NULL, &err);
    b->made = true;
    return CLI_OK;
}

/* What was planned for is what is kept, and what is replaced. */
static cli_exit compare(const extend_job *j, const char *path)
{
    io_bytes now;
    pe_error err;
    if (io_read_file(&now, path, IO_CAP_TEXT, &err))
        return cli_fail_from(j->args, CLI_SYSTEM, NULL, &err);
    bool same = now.size == j->file.size && !memcmp(now.data, j->file.data, now.size);
    io_bytes_free(&now);
    return same ? CLI_OK
                : cli_fail(j->args, CLI_INPUT, "%s: changed while it was planned; nothing was written: run it again",
                           j->zoo->path);
}

static cli_exit settle(const backup *b, const extend_job *j)
{
    if (b->older && rename(b->temp, b->name) != 0)
        return cli_fail(j->args, CLI_SYSTEM, "%s: cannot be replaced: %s; the original is %s", b->name, strerror(errno),
                        b->temp);
    if (b->older)
        unlink(b->temp); /* rename leaves it where both were one file */
    return CLI_OK;
}

/* The new text lies beside it, and the path may be replaced, before anything else happens. */
static cli_exit replace(const extend_job *j, io_span text)
{
    pe_error err;
    io_writer *w;
    backup b = { .made = false };
    if (io_writer_open(&w, j->zoo->path, &err))
        return cli_fail_from(j->args, CLI_SYSTEM, NULL, &err);
    cli_exit code = io_writer_put(w, text, &err) ? cli_fail_from(j->args, CLI_SYSTEM, NULL, &err) : back_up(&b, j);
    if (!code)
        code = compare(j, b.older ? b.temp : b.name);
    if (!code)
        code = compare(j, j->zoo->path);
    if (code)
        io_writer_abort(w);
    else if (io_writer_commit(w, &err))
        code = cli_fail_from(j->args, CLI_SYSTEM, NULL, &err);
    if (code && b.made)
        unlink(b.older ? b.temp : b.name);
    return code ? code : settle(&b, j);
}

static cli_exit put(const extend_job *j, const char *text)
{
    pe_error err;
    const char *out = cli_text(j->args, "out");
    io_span part = { text, strlen(text) };
    if (out && !strcmp(out, "-"))
        return fwrite(text, 1, part.size, stdout) == part.size ? CLI_OK : CLI_SYSTEM;
    if (!out)
        CLI_TRY(replace(j, part));
    else if (io_write_file(out, &part, 1, &err))
        return cli_fail_from(j->args, CLI_SYSTEM, NULL, &err);
    cli_note(j->args, "wrote %s: %s, %" PRId64 " positions%s", out ? out : j->zoo->path, extend_methods[j->taken].name,
             j->x.target, out ? "" : "; the original is beside it, with .bak after its name");
    return CLI_OK;
}

cli_exit extend_write(const extend_job *j)
{
    char *text = NULL;
    const extend_plan *p = &j->plan[j->taken];
    if (!strcmp(j->config, EXTEND_NO_CONFIG))
        return cli_fail(j->args, CLI_USAGE,
                        "%s is %s; only a config.json can be written: use the settings that are shown", j->zoo->path,
                        j->zoo->format);
    if (!p->applies)
        return cli_fail(j->args, CLI_NO, "%s does not apply: %s", p->method->name, p->why);
    if (j->x.mixed)
        return cli_fail(j->args, CLI_INPUT,
                        "%s: layers that see everything rotate in more than one way; change the config by hand",
                        j->zoo->path);
    cli_exit code = edit(&text, j);
    if (!code)
        code = check(j, text);
    if (!code)
        code = put(j, text);
    free(text);
    return code;
}
