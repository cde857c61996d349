/* SPDX-License-Identifier: MIT
 *
 * posenc help: the table of verbs, for people and for programs (man pages, completion, the tests). */
#include "cli/cli.h"

static const cli_option options[] = {
    { "examples", 0, CLI_FLAG, NULL, NULL, 0, 0, "print the example commands of every verb, one per line" },
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc help table", "the same as posenc table --help" },
    { "posenc help --examples", "every command shown in any help" },
    { "posenc help --json", "verbs and options as JSON, for programs" },
};

static void add_commands(result *out, const cli_verb *only)
{
    result_open(out, RESULT_LIST, "examples", "");
    for (int i = 0; i < cli_verb_count; i++)
        for (int k = 0; k < cli_verbs[i]->example_count && (!only || only == cli_verbs[i]); k++)
            result_code(out, NULL, cli_verbs[i]->examples[k].command);
    result_close(out);
}

static void add_verb_list(result *out, const cli_verb *only)
{
    result_text(out, "version", NULL, pe_version());
    result_open(out, RESULT_LIST, "verbs", NULL);
    for (int i = 0; i < cli_verb_count; i++) {
        if (only && only != cli_verbs[i])
            continue;
        result_open(out, RESULT_RECORD, NULL, NULL);
        cli_help_verb(out, cli_verbs[i]);
        result_close(out);
    }
    result_close(out);
}

static cli_exit help_verb(const cli_args *a, result *out)
{
    const cli_verb *verb = a->operands ? cli_find_verb(a->operand[0]) : NULL;
    if (a->operands && !verb)
        return cli_unknown_verb(a->operand[0]);
    if (cli_given(a, "examples"))
        add_commands(out, verb);
    else if (verb || cli_given(a, "json"))
        add_verb_list(out, verb);
    else
        cli_help(out);
    return CLI_OK;
}

const cli_verb cli_verb_help = {
    .name = "help",
    .summary = "print how to use a verb",
    .operands = "[VERB]",
    .operands_max = 1,
    CLI_TABLES(options, examples),
    .run = help_verb,
};
