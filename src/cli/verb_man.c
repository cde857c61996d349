/* SPDX-License-Identifier: MIT
 *
 * posenc man: manual pages, from the table of verbs. */
#include "cli/man.h"
#include "io/json_out.h"
#include "cli/made.h"

#include <string.h>

static const cli_option options[] = {
    { "list", 0, CLI_FLAG, NULL, NULL, 0, 0, "the names of all pages, one per line" },
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc man table > posenc-table.1", "the page of a verb; to read it: man ./posenc-table.1" },
    { "posenc man > posenc.1", "the page of the tool" },
    { "posenc man --list", "posenc, posenc-list, posenc-table and so on: each can be asked for" },
};
static const char notes[] = "  make install puts all of them where man looks.\n";
static const char prefix[] = "posenc-";

static void write(FILE *to, const void *about)
{
    man_page(to, about);
}

static void print_json(const cli_args *a)
{
    char name[80];
    json_out j = out_start(stdout);
    out_open(&j, NULL, '{');
    out_text(&j, "verb", a->verb->name);
    out_open(&j, "pages", '[');
    out_text(&j, NULL, "posenc");
    for (int i = 0; i < cli_verb_count; i++) {
        snprintf(name, sizeof name, "%s%.60s", prefix, cli_verbs[i]->name);
        out_text(&j, NULL, name);
    }
    out_close(&j, ']');
    out_close(&j, '}');
}

static void print_names(void)
{
    puts("posenc");
    for (int i = 0; i < cli_verb_count; i++)
        printf("%s%s\n", prefix, cli_verbs[i]->name);
}

/* "table", "posenc-table"; "posenc" is the tool's own. */
static cli_exit run(const cli_args *a)
{
    const char *name = a->operands ? a->operand[0] : "posenc";
    char file[80];
    if (cli_given(a, "list") && a->operands)
        return cli_fail(a, CLI_USAGE, "--list is of all pages; leave out the name, %s", name);
    if (cli_given(a, "list")) {
        if (cli_given(a, "json"))
            print_json(a);
        else
            print_names();
        return CLI_OK;
    }
    if (!strcmp(name, "posenc"))
        return made_print(a, "posenc.1", write, NULL);
    if (!strncmp(name, prefix, strlen(prefix)))
        name += strlen(prefix);
    const cli_verb *verb = cli_find_verb(name);
    if (!verb)
        return cli_unknown_verb(name);
    snprintf(file, sizeof file, "%s%.60s.1", prefix, verb->name);
    return made_print(a, file, write, verb);
}

const cli_verb cli_verb_man = {
    .name = "man",
    .summary = "the manual page of the tool, or of a verb",
    .operands = "[VERB]",
    .operands_max = 1,
    .notes = notes,
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = run,
};
