/* SPDX-License-Identifier: MIT
 *
 * Help, from the table of verbs: examples first, then options, notes and exit codes. The same tree makes the manual
 * page, and what posenc help --json prints. */
#include "cli/cli.h"

#include "io/columns.h"

#include <stdlib.h>
#include <string.h>

const cli_option cli_option_help = { "help", 'h', CLI_FLAG, NULL, NULL, 0, 0, "print this text" };

/* The only list of the exit codes. */
static const char *const exit_text[CLI_EXIT_COUNT] = {
    [CLI_OK] = "success",
    [CLI_NO] = "success, but the answer is no: a difference, a failed check or a refuted property",
    [CLI_USAGE] = "the command line or the spec is wrong",
    [CLI_INPUT] = "an input file is wrong: its format, shape or values",
    [CLI_SYSTEM] = "a file cannot be read or written, or memory ran out",
    [CLI_STOPPED] = "stopped by Ctrl-C; finished work was saved or shown (race, eval)",
};

static void add_exit_codes(result *out, const char *title)
{
    char code[12];
    result_open(out, RESULT_RECORD, NULL, title);
    for (int i = 0; i < CLI_EXIT_COUNT; i++) {
        snprintf(code, sizeof code, "%d", i);
        result_text(out, NULL, code, exit_text[i]);
    }
    result_close(out);
}

/* ---------------------------------------------------------------- a verb */

static void add_example(result *out, const cli_example *e)
{
    result_open(out, RESULT_RECORD, NULL, e->command);
    result_shown(out, "%s", e->what);
    result_below(out);
    result_text(out, "command", NULL, e->command);
    result_text(out, "what", NULL, e->what);
    result_close(out);
}

static void add_examples(result *out, const cli_verb *v)
{
    result_open(out, RESULT_LIST, "examples", "Examples");
    for (int i = 0; i < v->example_count; i++)
        add_example(out, &v->examples[i]);
    result_close(out);
}

/* For people "-n, --count N"; choices as they are. */
static void add_option(result *out, const cli_option *o)
{
    static const char *const kind[] = { "flag", "int", "choice", "text", "file-in", "file-out", "path", "file-out" };
    const char letter[2] = { o->letter, 0 };
    char dash[8] = "", label[400];
    if (o->letter)
        snprintf(dash, sizeof dash, "-%s, ", letter);
    snprintf(label, sizeof label, "%s--%s%s%s", dash, o->name, o->value ? " " : "", o->value ? o->value : "");
    result_open(out, RESULT_RECORD, NULL, label);
    if (o->fallback)
        result_shown(out, "%s (default: %s)", o->help, o->fallback);
    else
        result_shown(out, "%s", o->help);
    result_text(out, "name", NULL, o->name);
    result_text(out, "letter", NULL, o->letter ? letter : NULL);
    result_text(out, "kind", NULL, kind[o->kind]);
    result_text(out, "value", NULL, o->value);
    result_text(out, "default", NULL, o->fallback);
    result_text(out, "help", NULL, o->help);
    result_close(out);
}

static bool verb_takes(const cli_verb *v, cli_kind kind)
{
    for (int i = 0; i < v->option_count; i++)
        if (v->options[i].kind == kind)
            return true;
    return false;
}

static void add_options(result *out, const cli_verb *v)
{
    result_open(out, RESULT_RECORD, NULL, "Options");
    result_open(out, RESULT_LIST, "options", NULL);
    for (int i = 0; i < v->option_count; i++)
        add_option(out, &v->options[i]);
    add_option(out, &cli_option_help);
    result_close(out);
    if (verb_takes(v, CLI_INT))
        result_text(out, NULL, "", "N may have a unit: 32k is 32768, 1M is 1048576, 1G is 2^30.");
    if (verb_takes(v, CLI_FILE_IN))
        result_text(out, NULL, "", "FILE may be - for stdin (in one option) or for stdout.");
    result_close(out);
}

/* Frees the tree, which may be NULL. malloc'ed; NULL: no memory. */
static char *cli_text_of(result *tree, result_form form)
{
    char *text = NULL;
    size_t size = 0;
    pe_error err;
    FILE *to = tree ? open_memstream(&text, &size) : NULL;
    bool done = to && !result_write(to, tree, form, &(result_screen){ 0 }, &err);
    done = to && !fclose(to) && done;
    result_free(tree);
    if (done)
        return text;
    free(text);
    return NULL;
}

/* What comes from a table is one text for programs. */
static void add_notes(result *out, const cli_verb *v)
{
    result *more = v->add_notes ? result_new() : NULL;
    result_open(out, RESULT_RECORD, NULL, v->notes ? "Notes" : NULL);
    result_text(out, "notes", "", v->notes);
    result_close(out);
    if (v->add_notes)
        v->add_notes(out);
    if (more)
        v->add_notes(more);
    char *text = cli_text_of(more, RESULT_AS_TEXT);
    result_text(out, "more_notes", NULL, text);
    free(text);
}

static void add_usage(result *out, const char *name, const char *operands, const char *summary)
{
    result_open(out, RESULT_RECORD, NULL, "Usage");
    result_say(out, NULL, "", "posenc %s%s%s [options]", name, *operands ? " " : "", operands);
    result_say(out, NULL, "", "%s", summary);
    result_close(out);
}

static void cli_help_verb(result *out, const cli_verb *v)
{
    result_text(out, "name", NULL, v->name);
    result_text(out, "summary", NULL, v->summary);
    result_text(out, "operands", NULL, v->operands);
    add_examples(out, v);
    add_usage(out, v->name, v->operands, v->summary);
    add_options(out, v);
    add_notes(out, v);
    add_exit_codes(out, "Exit codes");
}

/* ---------------------------------------------------------------- the tool */

static const char about[] = "every position encoding for Transformers, exact and fast";

static void add_first_examples(result *out)
{
    result_open(out, RESULT_LIST, NULL, "Examples");
    for (int i = 0; i < cli_verb_count; i++)
        add_example(out, &cli_verbs[i]->examples[0]);
    result_close(out);
}

static void add_verbs(result *out)
{
    result_open(out, RESULT_RECORD, NULL, "Verbs");
    for (int i = 0; i < cli_verb_count; i++) {
        result_text(out, NULL, cli_verbs[i]->name, cli_verbs[i]->summary);
        result_named(out);
    }
    result_close(out);
    result_open(out, RESULT_RECORD, NULL, "Options");
    result_text(out, NULL, "VERB --help", "print the examples and options of a verb");
    result_text(out, NULL, "--version", "print the version");
    result_close(out);
}

static void cli_help(result *out)
{
    add_first_examples(out);
    add_usage(out, "VERB", "", about);
    add_verbs(out);
    add_exit_codes(out, "Exit codes");
}

cli_exit cli_print_help(FILE *to, const cli_verb *v, language l)
{
    pe_error err = { 0 };
    result *tree = result_new();
    if (tree && v)
        cli_help_verb(tree, v);
    else if (tree)
        cli_help(tree);
    if (tree && l == CHINESE)
        result_to_chinese(tree);
    bool failed = !tree || result_write(to, tree, RESULT_AS_TEXT, &(result_screen){ 0 }, &err);
    result_free(tree);
    if (failed)
        fputs("posenc: no memory for the help\n", stderr);
    return failed ? CLI_SYSTEM : CLI_OK;
}

/* ---------------------------------------------------------------- verbs by name */

const cli_verb *cli_find_verb(const char *name)
{
    for (int i = 0; i < cli_verb_count; i++)
        if (!strcmp(cli_verbs[i]->name, name))
            return cli_verbs[i];
    return NULL;
}

cli_exit cli_unknown_verb(const char *name)
{
    const char *names[32];
    char hint[80];
    int count = cli_verb_count < 32 ? cli_verb_count : 32;
    for (int i = 0; i < count; i++)
        names[i] = cli_verbs[i]->name;
    cli_did_you_mean(hint, "", name, names, count);
    fputs("posenc: unknown verb ", stderr);
    columns_print(&(columns_out){ stderr, 0, false }, name);
    fprintf(stderr, "%s (see posenc --help)\n", hint);
    return CLI_USAGE;
}

/* ---------------------------------------------------------------- posenc help */

static const cli_option help_options[] = {
    { "examples", 0, CLI_FLAG, NULL, NULL, 0, 0, "print the example commands of every verb, one per line" },
    CLI_OPTION_LANG,
    CLI_OPTION_JSON,
};
static const cli_example help_examples[] = {
    { "posenc help table", "the same as posenc table --help" },
    { "posenc help race --lang zh", "in Chinese; --help --lang zh does the same" },
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
    CLI_TABLES(help_options, help_examples),
    .run = help_verb,
};

/* ---------------------------------------------------------------- posenc man: manual pages, from the table of verbs */

static void add_name(result *out, const char *name, const char *summary)
{
    result_open(out, RESULT_RECORD, NULL, "Name");
    result_say(out, NULL, "", "%s - %s", name, summary);
    result_close(out);
}

static void cli_manual(result *out, const cli_verb *v)
{
    char name[80];
    snprintf(name, sizeof name, "posenc%s%.60s", v ? "-" : "", v ? v->name : "");
    result_title(out, 0, "%s %s", name, pe_version());
    add_name(out, name, v ? v->summary : about);
    result_open(out, RESULT_RECORD, NULL, "Synopsis");
    result_say(out, NULL, "", "posenc %s%s%s [options]", v ? v->name : "VERB", v && *v->operands ? " " : "",
               v ? v->operands : "");
    result_close(out);
    if (v) {
        add_options(out, v);
        add_notes(out, v);
        add_examples(out, v);
    } else {
        add_verbs(out);
        add_first_examples(out);
    }
    add_exit_codes(out, "Exit status"); /* as manual pages call them */
    result_open(out, RESULT_RECORD, NULL, "See also");
    for (int i = -1; i < cli_verb_count; i++)
        if (i < 0 ? v != NULL : !v)
            result_say(out, NULL, "", "posenc%s%s(1)", i < 0 ? "" : "-", i < 0 ? "" : cli_verbs[i]->name);
    result_close(out);
}

static const cli_option man_options[] = {
    { "list", 0, CLI_FLAG, NULL, NULL, 0, 0, "print the names of all manual pages, one per line" },
    CLI_OPTION_JSON,
};
static const cli_example man_examples[] = {
    { "posenc man table > posenc-table.1", "the manual page of a verb; to read it: man ./posenc-table.1" },
    { "posenc man > posenc.1", "the manual page of the tool" },
    { "posenc man --list", "the names of all manual pages: posenc, posenc-list and so on" },
};
static const char man_notes[] = "make install puts all manual pages where man looks for them.";
static const char man_prefix[] = "posenc-";

/* One per line. */
static void add_manual_names(result *out)
{
    char name[80] = "posenc";
    for (int i = -1; i < cli_verb_count; i++) {
        if (i >= 0)
            snprintf(name, sizeof name, "%s%.60s", man_prefix, cli_verbs[i]->name);
        result_code(out, NULL, name);
    }
    result_open(out, RESULT_LIST, "pages", NULL);
    result_text(out, NULL, NULL, "posenc");
    for (int i = 0; i < cli_verb_count; i++)
        result_say(out, NULL, NULL, "%s%s", man_prefix, cli_verbs[i]->name);
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
        add_manual_names(out);
        return CLI_OK;
    }
    if (!strcmp(name, "posenc"))
        return man_page(a, out, NULL);
    if (!strncmp(name, man_prefix, strlen(man_prefix)))
        name += strlen(man_prefix);
    const cli_verb *verb = cli_find_verb(name);
    return verb ? man_page(a, out, verb) : cli_unknown_verb(name);
}

const cli_verb cli_verb_man = {
    .name = "man",
    .summary = "print the manual page of the tool or of a verb",
    .operands = "[VERB]",
    .operands_max = 1,
    .notes = man_notes,
    CLI_TABLES(man_options, man_examples),
    .run = man_verb,
};
