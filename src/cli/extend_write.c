/* SPDX-License-Identifier: MIT
 *
 * The plan into a config.json: edited as text, read back, compared with the plan, and only then put in its place. */
#include "cli/extend.h"
#include "cli/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

/* The original beside the new one, before that is there. */
static cli_exit back_up(const extend_job *j)
{
    struct stat st;
    pe_error err;
    size_t room = strlen(j->zoo->path) + 5;
    char *path = malloc(room);
    cli_exit code = CLI_OK;
    if (!path)
        return cli_fail(j->args, CLI_SYSTEM, "no memory for a name");
    snprintf(path, room, "%s.bak", j->zoo->path);
    io_span part = { j->file.data, j->file.size };
    if (!cli_given(j->args, "force") && !lstat(path, &st))
        code = cli_fail(j->args, CLI_USAGE,
                        "%s is there already, and may be the only original; move it, or pass --force", path);
    else if (io_write_file(path, &part, 1, &err))
        code = cli_fail_from(j->args, CLI_SYSTEM, NULL, &err);
    free(path);
    return code;
}

static cli_exit put(const extend_job *j, const char *text)
{
    pe_error err;
    const char *out = cli_text(j->args, "out"), *path = out ? out : j->zoo->path;
    io_span part = { text, strlen(text) };
    if (out && !strcmp(out, "-"))
        return fwrite(text, 1, part.size, stdout) == part.size ? CLI_OK : CLI_SYSTEM;
    if (!out)
        CLI_TRY(back_up(j));
    if (io_write_file(path, &part, 1, &err))
        return cli_fail_from(j->args, CLI_SYSTEM, NULL, &err);
    cli_note(j->args, "wrote %s: %s, %" PRId64 " positions%s", path, extend_methods[j->taken].name, j->x.target,
             out ? "" : "; the original is beside it, with .bak after its name");
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
