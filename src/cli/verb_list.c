/* SPDX-License-Identifier: MIT */
#include "cli/list.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

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

/* Is name one of the names in a row's models? Names have a capital; the words between them do not. */
static bool is_model(const char *models, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = models; n && *at; at++) {
        bool whole = (at == models || !isalnum((unsigned char)at[-1])) && !strncasecmp(at, name, n) &&
                     !isalnum((unsigned char)at[n]);
        for (size_t i = 0; whole && i < n; i++)
            if (isupper((unsigned char)at[i]))
                return true;
    }
    return false;
}

/* "alibi, rope": the rows that models of this name use; "" for none. */
static void rows_of_model(char *out, size_t cap, const char *name)
{
    size_t used = 0;
    out[0] = 0;
    for (int i = 0; i < pe_info_count(); i++)
        if (is_model(pe_info_at(i)->models, name) && used < cap)
            used += (size_t)snprintf(out + used, cap - used, "%s%s", used ? ", " : "", pe_info_at(i)->name);
}

/* The library knows what a wrong name may have meant. */
static cli_exit unknown(const cli_args *a, const char *name)
{
    char rows[400];
    pe_encoding *e;
    pe_error err;
    rows_of_model(rows, sizeof rows, name);
    if (*rows)
        return cli_fail(a, CLI_USAGE, "no encoding is called %s; models of that name use: %s", name, rows);
    if (pe_encoding_new(&e, name, (pe_shape){ .heads = 8, .head_dim = 64 }, &err))
        return cli_fail(a, CLI_USAGE, "%s", err.text);
    pe_encoding_free(e);
    return cli_fail(a, CLI_USAGE, "%s is a spec; give the name of one encoding", name);
}

static cli_exit list_verb(const cli_args *a, result *out)
{
    (void)out;
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
    .run = list_verb,
};
