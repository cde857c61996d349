/* SPDX-License-Identifier: MIT
 *
 * posenc help: the table of verbs, for people and for programs (man pages, completion, the tests). */
#include "cli/cli.h"
#include "io/json_out.h"

#include <stdlib.h>

static const cli_option options[] = {
    { "examples", 0, CLI_FLAG, NULL, NULL, 0, 0, "the example commands of every verb, one per line" },
    CLI_OPTION_JSON,
};
static const cli_example examples[] = {
    { "posenc help table", "the same as posenc table --help" },
    { "posenc help --examples", "every command shown in any help" },
    { "posenc help --json", "verbs and options as data, for completion and man pages" },
};

static void option_json(json_out *j, const cli_option *o)
{
    static const char *const kind[] = { "flag", "int", "choice", "text", "file-in", "file-out", "path" };
    const char letter[2] = { o->letter, 0 };
    out_open(j, NULL, '{');
    out_text(j, "name", o->name);
    out_text(j, "letter", o->letter ? letter : NULL);
    out_text(j, "kind", kind[o->kind]);
    out_text(j, "value", o->value);
    out_text(j, "default", o->fallback);
    out_text(j, "help", o->help);
    out_close(j, '}');
}

/* What a verb prints from a table of its own, as a text; null where it has none. */
static void more_json(json_out *j, const cli_verb *v)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = v->print_notes ? open_memstream(&text, &size) : NULL;
    if (to)
        v->print_notes(to);
    out_text(j, "more_notes", to && !fclose(to) ? text : NULL);
    free(text);
}

static void verb_json(json_out *j, const cli_verb *v)
{
    out_open(j, NULL, '{');
    out_text(j, "name", v->name);
    out_text(j, "summary", v->summary);
    out_text(j, "operands", v->operands);
    out_text(j, "notes", v->notes);
    more_json(j, v);
    out_open(j, "options", '[');
    for (int i = 0; i < v->option_count; i++)
        option_json(j, &v->options[i]);
    out_close(j, ']');
    out_open(j, "examples", '[');
    for (int i = 0; i < v->example_count; i++) {
        out_open(j, NULL, '{');
        out_text(j, "command", v->examples[i].command);
        out_text(j, "what", v->examples[i].what);
        out_close(j, '}');
    }
    out_close(j, ']');
    out_close(j, '}');
}

static void print_examples(const cli_verb *only)
{
    for (int i = 0; i < cli_verb_count; i++)
        for (int k = 0; k < cli_verbs[i]->example_count && (!only || only == cli_verbs[i]); k++)
            puts(cli_verbs[i]->examples[k].command);
}

static void print_json(const cli_verb *only)
{
    json_out j = out_start(stdout);
    out_open(&j, NULL, '{');
    out_text(&j, "version", pe_version());
    out_open(&j, "verbs", '[');
    for (int i = 0; i < cli_verb_count; i++)
        if (!only || only == cli_verbs[i])
            verb_json(&j, cli_verbs[i]);
    out_close(&j, ']');
    out_close(&j, '}');
}

static cli_exit run(const cli_args *a)
{
    const cli_verb *verb = a->operands ? cli_find_verb(a->operand[0]) : NULL;
    if (a->operands && !verb)
        return cli_unknown_verb(a->operand[0]);
    if (cli_given(a, "json"))
        print_json(verb);
    else if (cli_given(a, "examples"))
        print_examples(verb);
    else if (verb)
        cli_help_verb(stdout, verb);
    else
        cli_help(stdout);
    return CLI_OK;
}

const cli_verb cli_verb_help = {
    .name = "help",
    .summary = "how to use a verb",
    .operands = "[VERB]",
    .operands_max = 1,
    .options = options,
    .option_count = CLI_COUNT(options),
    .examples = examples,
    .example_count = CLI_COUNT(examples),
    .run = run,
};
