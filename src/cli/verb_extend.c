/* SPDX-License-Identifier: MIT
 *
 * posenc extend: what a longer context needs, and the settings for it. */
#include "cli/extend.h"
#include "cli/job.h"
#include "cli/model.h"

#include "zoo/build.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const cli_option options[] = {
    { "to", 0, CLI_INT, "N", NULL, 1, PE_POSITION_MAX, "the new sequence length; 128k is 131072" },
    { "method", 'm', CLI_CHOICE, "none|linear|ntk|dynamic|yarn|longrope|llama3|p-rope", NULL, 0, 0,
      "use this method instead of the recommended one" },
    { "for", 0, CLI_CHOICE, ZOO_ENGINE_NAMES, NULL, 0, 0, "settings for this engine only" },
    { "all", 0, CLI_FLAG, NULL, NULL, 0, 0, "list every pair" },
    { "write", 0, CLI_FLAG, NULL, NULL, 0, 0, "change config.json; the original is kept as config.json.bak" },
    { "out", 'o', CLI_FILE_OUT, "FILE", NULL, 0, 0, "write the changed config.json to this file instead" },
    { "force", 0, CLI_FLAG, NULL, NULL, 0, 0, "with --write: replace an older .bak" },
    CLI_OPTIONS_MODEL,
    CLI_OPTIONS_FORM,
};
static const cli_example examples[] = {
    { "posenc extend config.json --to 128k", "which pairs reach new angles, what each method does, the settings" },
    { "posenc extend config.json --to 128k --method linear --for vllm", "another method, for one engine" },
    { "posenc extend config.json --to 128k --all", "list every pair: wavelength, full turns in training" },
    { "posenc extend config.json --to 128k -o longer.json", "write a config.json with the plan; other keys stay" },
    { "posenc extend config.json --to 128k --json", "the plan as data" },
};
static const char notes[] =
    "FILE is as for posenc explain; - reads a config.json from stdin.\n"
    "A pair reaches new angles if its angle at the new length exceeds every angle of training, and if it completed "
    "less than one full turn in training: after a full turn no angle is new.\n"
    "The recommended method is the first that applies: none, if no pair reaches new angles; the model's own scaling "
    "with a larger factor (two are never stacked); llama3 for a Llama 3 (theta 500000); yarn for a Qwen, as its makers "
    "say; ntk up to 4 times "
    "the length, and beyond it if a head has fewer than 16 pairs; else yarn. If that method still leaves new angles: "
    "yarn, "
    "ntk, longrope, linear.\n"
    "The number of ntk and dynamic follows from their formula and the length ratio; that of the others is the "
    "smallest number with which no pair reaches new angles.\n"
    "The limit between ntk and yarn comes from two small models (docs/eval.md). A plan says which angles the "
    "model saw in training, not how well it works: measure with posenc eval before you use it.\n";

/* ---------------------------------------------------------------- the changed config.json: edited as text, read back,
 * compared with the plan */

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
    zoo_options with = *given;
    const char *spec = j->plan[j->taken].spec;
    with.length = j->x.target;
    with.theta = 0; /* what the plan takes from the command line has to stand in the file by now */
    with.head_dim = 0;
    if (zoo_read_config(&again, j->zoo->path, text, strlen(text), &with, &inner))
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

/* The changed config.json, malloc'ed, after it was read back (with the options given) as the plan. */
static pe_status extend_changed(char **out, const extend_job *j, const zoo_options *given, pe_error *err)
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

/* Where a config has one rotation for layers with a window and for others, the plan changes both. */
static void count_windowed_changed(extend_job *j, const zoo_options *given)
{
    const zoo_part *old = j->x.part;
    zoo_options with = *given;
    zoo_model *again = NULL;
    char *text;
    if (!strcmp(j->config, EXTEND_NO_CONFIG) || extend_changed(&text, j, given, NULL))
        return;
    with.length = j->x.target;
    if (!zoo_read_config(&again, j->zoo->path, text, strlen(text), &with, NULL))
        for (int64_t n = 0; n < old->layers && n < again->part[0].layers; n++) {
            const zoo_group *g = &old->group[old->layer[n].group];
            const zoo_group *h = &again->part[0].group[again->part[0].layer[n].group];
            j->windowed_changed += old->layer[n].window > 0 && old->layer[n].window <= j->x.trained &&
                                   strcmp(g->spec, h->spec) && !same_pairs(g->spec, h->spec, g->shape);
        }
    zoo_free(again);
    free(text);
}

/* ---------------------------------------------------------------- the changed config.json in its place */

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

/* Puts the text in the place of the file, which is kept beside it as .bak. replace: an older .bak too. PE_ERR_SPEC: the
 * .bak is in the way; PE_ERR_FORMAT: the file was changed meanwhile. The new text lies beside the file, and the path
 * may be replaced, before anything else happens. */
static pe_status extend_replace(const extend_job *j, io_span text, bool replace, pe_error *err)
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

/* ---------------------------------------------------------------- the plan */

static cli_exit check_text(const extend_job *j, const cli_args *a)
{
    if (strlen((const char *)j->file.data) != j->file.size)
        return cli_fail(a, CLI_INPUT, "%s: has a zero byte in it; needs a JSON text", j->zoo->path);
    return CLI_OK;
}

/* The text that is planned for and edited is one text: the model is read again, from these bytes. */
static cli_exit read_text(extend_job *j, const cli_args *a)
{
    pe_error err;
    zoo_options given;
    zoo_model *again;
    CLI_TRY(model_options(&given, a));
    if (io_read_file(&j->file, j->zoo->path, IO_CAP_TEXT, &err))
        return cli_fail_from(a, CLI_SYSTEM, NULL, &err);
    j->config = (const char *)j->file.data;
    CLI_TRY(check_text(j, a));
    if (zoo_read_config(&again, j->zoo->path, j->config, j->file.size, &given, &err))
        return cli_fail_from(a, CLI_INPUT, NULL, &err);
    zoo_free(j->zoo);
    j->zoo = again;
    j->file.name = again->path;
    return CLI_OK;
}

static cli_exit open_model(extend_job *j, const cli_args *a)
{
    pe_error err;
    CLI_TRY(model_open_or_stdin(&j->zoo, &j->file, a, a->operand[0]));
    j->config = j->file.data ? (const char *)j->file.data : EXTEND_NO_CONFIG;
    if (j->file.data)
        CLI_TRY(check_text(j, a));
    else if (!strcmp(j->zoo->format, "config.json"))
        CLI_TRY(read_text(j, a));
    if (extend_open(&j->x, j->zoo, cli_int(a, "to"), cli_int(a, "trained"), &err))
        return cli_fail_from(a, CLI_INPUT, NULL, &err);
    return CLI_OK;
}

static cli_exit make_plans(extend_job *j, const cli_args *a)
{
    pe_error err;
    int method = cli_choice(a, "method");
    CLI_TRY(open_model(j, a));
    if (j->x.verdict != EXTEND_PLAN)
        return CLI_OK;
    if (extend_plans_new(&j->plan, &j->x, &err))
        return cli_fail_from(a, CLI_SYSTEM, NULL, &err);
    j->advised = extend_recommend(&j->x, j->plan, j->why);
    j->taken = method >= 0 ? method : j->advised;
    zoo_options given;
    CLI_TRY(model_options(&given, a));
    if (j->x.windowed && j->plan[j->taken].applies)
        count_windowed_changed(j, &given);
    return CLI_OK;
}

/* ---------------------------------------------------------------- writing it */

static cli_exit check_writable(const extend_job *j, const cli_args *a)
{
    const extend_plan *p = &j->plan[j->taken];
    if (!strcmp(j->config, EXTEND_NO_CONFIG))
        return cli_fail(a, CLI_USAGE, "%s is %s; only a config.json can be written: use the settings that are shown",
                        j->zoo->path, j->zoo->format);
    if (!p->applies)
        return cli_fail(a, CLI_NO, "%s does not apply: %s", p->method->name, p->why);
    if (j->x.mixed)
        return cli_fail(a, CLI_INPUT,
                        "%s: its layers without a window have more than one rotation; change the config by hand",
                        j->zoo->path);
    return CLI_OK;
}

static cli_exit put_text(const extend_job *j, const cli_args *a, const char *text)
{
    pe_error err;
    const char *out = cli_text(a, "out");
    io_span part = { text, strlen(text) };
    if (out && !strcmp(out, "-"))
        return fwrite(text, 1, part.size, stdout) == part.size ? CLI_OK : CLI_SYSTEM;
    pe_status s = out ? io_write_file(out, &part, 1, &err) : extend_replace(j, part, cli_given(a, "force"), &err);
    if (s)
        return cli_fail_from(a, s == PE_ERR_SPEC ? CLI_USAGE : CLI_INPUT, NULL, &err);
    cli_note(a, "wrote %s: %s, %" PRId64 " positions%s", out ? out : j->zoo->path, extend_methods[j->taken].name,
             j->x.target, out ? "" : "; the original is beside it, with .bak after its name");
    return CLI_OK;
}

static cli_exit write_plan(const extend_job *j, const cli_args *a)
{
    char *text;
    zoo_options given;
    pe_error err;
    CLI_TRY(check_writable(j, a));
    CLI_TRY(model_options(&given, a));
    if (extend_changed(&text, j, &given, &err))
        return cli_fail_from(a, CLI_INPUT, j->zoo->path, &err);
    cli_exit code = put_text(j, a, text);
    free(text);
    return code;
}

/* ---------------------------------------------------------------- the verb */

static cli_exit check_options(const cli_args *a)
{
    if (!cli_given(a, "to"))
        return cli_fail(a, CLI_USAGE, "needs --to N, the new sequence length, such as --to 128k");
    if (cli_given(a, "write") && cli_given(a, "out"))
        return cli_fail(a, CLI_USAGE, "give --write (changes the file) or -o FILE (writes a new one), not both");
    if (cli_given(a, "write") && !strcmp(a->operand[0], "-"))
        return cli_fail(a, CLI_USAGE, "--write cannot change stdin; use -o FILE");
    return CLI_OK;
}

static cli_exit answer(const extend_job *j)
{
    bool holds = j->x.verdict ? j->x.verdict != EXTEND_NO : extend_holds(&j->plan[j->taken]);
    return holds ? CLI_OK : CLI_NO;
}

static cli_exit extend_file(extend_job *j, const cli_args *a, result *out)
{
    pe_error err;
    const char *file = cli_text(a, "out");
    CLI_TRY(check_options(a));
    CLI_TRY(make_plans(j, a));
    bool writes = cli_given(a, "write") || file;
    if (writes && j->x.verdict == EXTEND_PLAN)
        CLI_TRY(write_plan(j, a));
    else if (writes)
        cli_note(a, "nothing was written: %s", j->x.why);
    if (file && !strcmp(file, "-"))
        return answer(j);
    if (extend_result(out, j, cli_text(a, "for"), cli_given(a, "all"), &err))
        return cli_fail_from(a, CLI_INPUT, j->zoo->path, &err);
    return answer(j);
}

static cli_exit extend_verb(const cli_args *a, result *out)
{
    extend_job j = { .zoo = NULL };
    cli_exit code = extend_file(&j, a, out);
    extend_plans_free(j.plan);
    io_bytes_free(&j.file);
    extend_close(&j.x);
    zoo_free(j.zoo);
    return code;
}

const cli_verb cli_verb_extend = {
    .name = "extend",
    .summary = "plan a longer context: methods, what they cost, and the settings of engines",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .notes = notes,
    CLI_TABLES(options, examples),
    .run = extend_verb,
};
