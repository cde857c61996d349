/* SPDX-License-Identifier: MIT
 *
 * posenc man: manual pages, from the table of verbs. */
#include "cli/cli.h"

#include <stdlib.h>
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
static const char notes[] = "make install puts all of them where man looks.";
static const char prefix[] = "posenc-";

static void add_names(result *out)
{
    result_open(out, RESULT_LIST, "pages", NULL);
    result_code(out, NULL, "posenc");
    for (int i = 0; i < cli_verb_count; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s%.60s", prefix, cli_verbs[i]->name);
        result_code(out, NULL, name);
    }
    result_close(out);
}

/* The page as a text, in a result of its own. */
static cli_exit man_page(const cli_args *a, result *out, const cli_verb *v)
{
    char *text = NULL;
    size_t size = 0;
    pe_error err = { 0 };
    result *page = result_new();
    FILE *to = page ? open_memstream(&text, &size) : NULL;
    bool done = to != NULL;
    if (done) {
        cli_manual(page, v);
        done = !result_write(to, page, RESULT_AS_MAN, NULL, &err);
        done = !fclose(to) && done;
    }
    result_text(out, "verb", NULL, a->verb->name);
    result_say(out, "file", NULL, "posenc%s%s.1", v ? "-" : "", v ? v->name : "");
    result_code(out, "text", done ? text : "");
    free(text);
    result_free(page);
    return done ? CLI_OK : cli_fail(a, CLI_SYSTEM, "no memory for the page");
}

/* "table", "posenc-table"; "posenc" is the tool's own. */
static cli_exit man_verb(const cli_args *a, result *out)
{
    const char *name = a->operands ? a->operand[0] : "posenc";
    if (cli_given(a, "list") && a->operands)
        return cli_fail(a, CLI_USAGE, "--list is of all pages; leave out the name, %s", name);
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
    .summary = "the manual page of the tool, or of a verb",
    .operands = "[VERB]",
    .operands_max = 1,
    .notes = notes,
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = man_verb,
};
