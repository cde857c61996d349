/* SPDX-License-Identifier: MIT
 *
 * posenc extend: what a longer context needs, and the settings for it. */
#include "cli/extend.h"
#include "cli/job.h"
#include "cli/model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
    "with a larger factor (two are never stacked); llama3 for a Llama 3 (theta 500000); ntk up to 4 times the length, "
    "and beyond it if a head has fewer than 16 pairs; else yarn. If that method still leaves new angles: yarn, "
    "ntk, longrope, linear.\n"
    "The number of ntk and dynamic follows from their formula and the length ratio; that of the others is the "
    "smallest number with which no pair reaches new angles.\n"
    "The limit between ntk and yarn comes from two small models (docs/eval.md). A plan says which angles the "
    "model saw in training, not how well it works: measure with posenc eval before you use it.\n";

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
