/* SPDX-License-Identifier: MIT */
#include "cli/list.h"

#include <string.h>

static const cli_option options[] = {
    { "markdown", 0, CLI_FLAG, NULL, NULL, 0, 0, "print the Markdown table of README.md" },
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc list", "every encoding: what it does, where it acts, what it claims, who published it" },
    { "posenc list rope", "one encoding in full: keys with ranges and defaults, formula, models, examples" },
    { "posenc list --json", "all of it as data" },
    { "posenc list --markdown", "the table of README.md" },
};

static const pe_info *find(const char *name)
{
    for (int i = 0; i < pe_info_count(); i++)
        if (!strcmp(pe_info_at(i)->name, name))
            return pe_info_at(i);
    return NULL;
}

static cli_exit unknown(const cli_args *a, const char *name)
{
    const char *names[256];
    char hint[80];
    int count = pe_info_count() < 256 ? pe_info_count() : 256;
    for (int i = 0; i < count; i++)
        names[i] = pe_info_at(i)->name;
    return cli_fail(a, CLI_USAGE, "no encoding is called %s%s (see posenc list)", name,
                    cli_did_you_mean(hint, "", name, names, count));
}

static cli_exit run(const cli_args *a)
{
    const pe_info *only = a->operands ? find(a->operand[0]) : NULL;
    if (a->operands && !only)
        return unknown(a, a->operand[0]);
    if (cli_given(a, "json"))
        list_json(only);
    else if (cli_given(a, "markdown"))
        list_markdown(only);
    else if (only)
        list_row(only);
    else
        list_rows();
    return CLI_OK;
}

const cli_verb cli_verb_list = {
    .name = "list",
    .summary = "the encodings there are",
    .operands = "[NAME]",
    .operands_max = 1,
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = run,
};
