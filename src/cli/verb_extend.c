/* SPDX-License-Identifier: MIT
 *
 * posenc extend: what a longer context needs, and the settings for it. */
#include "cli/extend.h"
#include "cli/model.h"

#include <string.h>

static const cli_option options[] = {
    { "to", 0, CLI_INT, "N", NULL, 1, PE_POSITION_MAX, "length to serve: 128k is 131072" },
    { "method", 'm', CLI_CHOICE, "none|linear|ntk|dynamic|yarn|longrope|llama3|p-rope", NULL, 0, 0,
      "settings of this method, whatever is recommended" },
    { "for", 0, CLI_CHOICE, ZOO_ENGINE_NAMES, NULL, 0, 0, "settings for this engine only" },
    { "all", 0, CLI_FLAG, NULL, NULL, 0, 0, "list every pair" },
    { "write", 0, CLI_FLAG, NULL, NULL, 0, 0, "change config.json; the original is kept as config.json.bak" },
    { "out", 'o', CLI_FILE_OUT, "FILE", NULL, 0, 0, "write the changed config.json to this file instead" },
    { "force", 0, CLI_FLAG, NULL, NULL, 0, 0, "with --write: replace an older .bak" },
    CLI_OPTIONS_MODEL,
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc extend config.json --to 128k",
      "which pairs leave the trained range, what each method does, the settings" },
    { "posenc extend config.json --to 128k --method linear --for vllm", "another method, for one engine" },
    { "posenc extend config.json --to 128k --all", "every pair: wavelength, turns in training" },
    { "posenc extend config.json --to 128k -o longer.json", "the config with the plan in it; all else as it was" },
    { "posenc extend config.json --to 128k --json", "the plan as data" },
};
static const char notes[] =
    "FILE is as for posenc explain; - is a config.json on stdin.\n"
    "\n"
    "A pair leaves the trained range where its angle at the new length is larger than any it has\n"
    "seen, and it had not made a whole turn: after a whole turn every angle has been seen.\n"
    "\n"
    "Recommended, the first that holds: none, where no pair leaves the range; the model's own\n"
    "scaling with a larger factor (two are never stacked); llama3 for a Llama 3 (theta 500000);\n"
    "ntk up to 4 times the length, and beyond it where a head has fewer than 16 pairs; else yarn.\n"
    "Where that does not serve: yarn, ntk, longrope, linear. The number of ntk and dynamic is that of\n"
    "their formula, how many times longer; of others, the smallest that keeps every pair in range.\n"
    "Where ntk ends and yarn begins was measured on two small models only (docs/eval.md). A plan says\n"
    "what angles are seen, not what a model can do with them: measure before use, with posenc eval.\n";

static cli_exit check_text(const extend_job *j)
{
    if (strlen((const char *)j->file.data) != j->file.size)
        return cli_fail(j->args, CLI_INPUT, "%s: has a zero byte in it; needs a JSON text", j->zoo->path);
    return CLI_OK;
}

/* The text that is planned for and edited is one text: the model is read again, from these bytes. */
static cli_exit read_text(extend_job *j)
{
    pe_error err;
    zoo_options given;
    zoo_model *again;
    CLI_TRY(model_options(&given, j->args));
    if (io_read_file(&j->file, j->zoo->path, IO_CAP_TEXT, &err))
        return cli_fail_from(j->args, CLI_SYSTEM, NULL, &err);
    j->config = (const char *)j->file.data;
    CLI_TRY(check_text(j));
    if (zoo_read_config(&again, j->zoo->path, j->config, j->file.size, &given, &err))
        return cli_fail_from(j->args, CLI_INPUT, NULL, &err);
    zoo_free(j->zoo);
    j->zoo = again;
    j->file.name = again->path;
    return CLI_OK;
}

static cli_exit open_file(extend_job *j)
{
    const cli_args *a = j->args;
    pe_error err;
    CLI_TRY(model_open_or_stdin(&j->zoo, &j->file, a, a->operand[0]));
    j->config = j->file.data ? (const char *)j->file.data : EXTEND_NO_CONFIG;
    if (j->file.data)
        CLI_TRY(check_text(j));
    else if (!strcmp(j->zoo->format, "config.json"))
        CLI_TRY(read_text(j));
    if (extend_open(&j->x, j->zoo, cli_int(a, "to"), cli_int(a, "trained"), &err))
        return cli_fail_from(a, CLI_INPUT, NULL, &err);
    return CLI_OK;
}

static cli_exit make_plans(extend_job *j)
{
    pe_error err;
    if (extend_plans_new(&j->plan, &j->x, &err))
        return cli_fail_from(j->args, CLI_SYSTEM, NULL, &err);
    j->advised = extend_recommend(&j->x, j->plan, j->why);
    j->taken = cli_choice(j->args, "method") >= 0 ? cli_choice(j->args, "method") : j->advised;
    return CLI_OK;
}

static void show(const extend_job *j)
{
    const char *out = cli_text(j->args, "out");
    if (out && !strcmp(out, "-"))
        return;
    if (cli_given(j->args, "json"))
        extend_json(j);
    else
        extend_page(j);
}

static cli_exit answer(const extend_job *j)
{
    if (j->x.verdict)
        return j->x.verdict == EXTEND_NO ? CLI_NO : CLI_OK;
    return extend_holds(&j->plan[j->taken]) ? CLI_OK : CLI_NO;
}

static cli_exit work(extend_job *j)
{
    const cli_args *a = j->args;
    if (!cli_given(a, "to"))
        return cli_fail(a, CLI_USAGE, "needs --to N, the length to serve, such as --to 128k");
    if (cli_given(a, "write") && cli_given(a, "out"))
        return cli_fail(a, CLI_USAGE, "give --write, which changes the file, or -o FILE, which leaves it; not both");
    if (cli_given(a, "write") && !strcmp(a->operand[0], "-"))
        return cli_fail(a, CLI_USAGE, "--write changes a file, and stdin is none; use -o FILE");
    CLI_TRY(open_file(j));
    if (j->x.verdict == EXTEND_PLAN)
        CLI_TRY(make_plans(j));
    bool writes = cli_given(a, "write") || cli_given(a, "out");
    if (writes && j->x.verdict == EXTEND_PLAN)
        CLI_TRY(extend_write(j));
    else if (writes)
        cli_note(a, "nothing was written: %s", j->x.why);
    show(j);
    return answer(j);
}

static cli_exit extend_verb(const cli_args *a, result *out)
{
    (void)out;
    extend_job j = { .args = a };
    cli_exit code = work(&j);
    extend_plans_free(j.plan);
    io_bytes_free(&j.file);
    extend_close(&j.x);
    zoo_free(j.zoo);
    return code;
}

const cli_verb cli_verb_extend = {
    .name = "extend",
    .summary = "plan a longer context: turns seen, methods, their cost, and the settings of engines",
    .operands = "FILE",
    .operands_min = 1,
    .operands_max = 1,
    .notes = notes,
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = extend_verb,
};
