/* SPDX-License-Identifier: MIT
 *
 * posenc man: manual pages, from the table of verbs. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static const cli_option options[] = {
    { "list", 0, CLI_FLAG, NULL, NULL, 0, 0, "print the names of all manual pages, one per line" },
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc man table > posenc-table.1", "the manual page of a verb; to read it: man ./posenc-table.1" },
    { "posenc man > posenc.1", "the manual page of the tool" },
    { "posenc man --list", "the names of all manual pages: posenc, posenc-list and so on" },
};
static const char notes[] = "make install puts all manual pages where man looks for them.";
static const char prefix[] = "posenc-";

/* One per line. */
static void add_names(result *out)
{
    char name[80] = "posenc";
    for (int i = -1; i < cli_verb_count; i++) {
        if (i >= 0)
            snprintf(name, sizeof name, "%s%.60s", prefix, cli_verbs[i]->name);
        result_code(out, NULL, name);
    }
    result_open(out, RESULT_LIST, "pages", NULL);
    result_text(out, NULL, NULL, "posenc");
    for (int i = 0; i < cli_verb_count; i++)
        result_say(out, NULL, NULL, "%s%s", prefix, cli_verbs[i]->name);
    result_close(out);
}

static cli_exit man_page(const cli_args *a, result *out, const cli_verb *v)
{
    result *page = result_new();
    if (page)
        cli_manual(page, v);
    char *text = cli_text_of(page, RESULT_AS_MAN);
    result_text(out, "verb", NULL, a->verb->name);
    result_say(out, "file", NULL, "posenc%s%s.1", v ? "-" : "", v ? v->name : "");
    result_code(out, "text", text ? text : "");
    bool done = text != NULL;
    free(text);
    return done ? CLI_OK : cli_fail(a, CLI_SYSTEM, "no memory for the page");
}

/* "table", "posenc-table"; "posenc" is the tool's own. */
static cli_exit man_verb(const cli_args *a, result *out)
{
    const char *name = a->operands ? a->operand[0] : "posenc";
    if (cli_given(a, "list") && a->operands)
        return cli_fail(a, CLI_USAGE, "--list lists all pages; leave out the name, %s", name);
    if (cli_given(a, "list")) {
        result_text(out, "verb", NULL, a->verb->name);
        add_names(out);
        return CLI_OK;
    }
    if (!strcmp(name, "posenc"))
        return man_page(a, out, NULL);
    if (!strncmp(name, prefix, strlen(prefix)))
        name += strlen(prefix);
    const cli_verb *verb = cli_find_verb(name);
    return verb ? man_page(a, out, verb) : cli_unknown_verb(name);
}

const cli_verb cli_verb_man = {
    .name = "man",
    .summary = "print the manual page of the tool or of a verb",
    .operands = "[VERB]",
    .operands_max = 1,
    .notes = notes,
    CLI_TABLES(options, examples),
    .run = man_verb,
};
