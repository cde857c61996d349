/* SPDX-License-Identifier: MIT
 *
 * Help, from the table of verbs: examples first, then options, then exit codes. */
#include "cli/cli.h"

#include <string.h>

static const char *const exit_text[CLI_EXIT_COUNT] = {
    [CLI_OK] = "done",
    [CLI_NO] = "done, and the answer is no",
    [CLI_USAGE] = "the command line or the spec is wrong",
    [CLI_INPUT] = "an input file is wrong: its format, shape or values",
    [CLI_SYSTEM] = "a file cannot be read or written, or memory is short",
    [CLI_STOPPED] = "stopped by Ctrl-C, and what there is was saved or shown (race, eval)",
};

static void print_exit_codes(FILE *to)
{
    fputs("\nExit codes\n", to);
    for (int i = 0; i < CLI_EXIT_COUNT; i++)
        fprintf(to, "  %d  %s\n", i, exit_text[i]);
}

static void print_example(FILE *to, const cli_example *e)
{
    fprintf(to, "  %s\n      %s\n", e->command, e->what);
}

#define HELP_COLUMN 26
#define HELP_MARGIN 98

/* What an option takes: choices go on in further lines, below the first. Returns the column after it. */
static int print_value(FILE *to, const char *value, int column)
{
    int indent = column;
    while (*value) {
        int n = (int)strcspn(value, "|");
        n += value[n] == '|';
        if (column > indent && column + n > HELP_MARGIN) {
            fprintf(to, "\n%*s", indent, "");
            column = indent;
        }
        column += fprintf(to, "%.*s", n, value);
        value += n;
    }
    return column;
}

static void print_option(FILE *to, const cli_option *o)
{
    char dash[] = "-?, ";
    dash[1] = o->letter;
    int column = fprintf(to, "  %s--%s%s", o->letter ? dash : "    ", o->name, o->value ? " " : "");
    if (o->value)
        column = print_value(to, o->value, column);
    if (column >= HELP_COLUMN) {
        putc('\n', to);
        column = 0;
    }
    fprintf(to, "%*s%s", HELP_COLUMN - column, "", o->help);
    if (o->fallback)
        fprintf(to, " (%s)", o->fallback);
    putc('\n', to);
}

const char *cli_exit_text(cli_exit code)
{
    return exit_text[code];
}

static bool takes(const cli_verb *v, cli_kind kind)
{
    for (int i = 0; i < v->option_count; i++)
        if (v->options[i].kind == kind)
            return true;
    return false;
}

int cli_value_notes(const cli_verb *v, const char *out[CLI_VALUE_NOTES_MAX])
{
    int count = 0;
    if (takes(v, CLI_INT))
        out[count++] = "N may have a unit: 32k is 32768, 1M is 1048576, 1G is 2^30";
    if (takes(v, CLI_FILE_IN))
        out[count++] = "FILE may be -: stdin (for one option), or stdout";
    return count;
}

const cli_option cli_option_help = { "help", 'h', CLI_FLAG, NULL, NULL, 0, 0, "this text" };

void cli_help_verb(FILE *to, const cli_verb *v)
{
    const char *note[CLI_VALUE_NOTES_MAX];
    int note_count = cli_value_notes(v, note);
    fputs("Examples\n", to);
    for (int i = 0; i < v->example_count; i++)
        print_example(to, &v->examples[i]);
    fprintf(to, "\nposenc %s%s%s [options]\n  %s\n\nOptions\n", v->name, *v->operands ? " " : "", v->operands,
            v->summary);
    for (int i = 0; i < v->option_count; i++)
        print_option(to, &v->options[i]);
    print_option(to, &cli_option_help);
    for (int i = 0; i < note_count; i++)
        fprintf(to, "  %s\n", note[i]);
    if (v->notes)
        fprintf(to, "\n%s", v->notes);
    if (v->print_notes) {
        putc('\n', to);
        v->print_notes(to);
    }
    print_exit_codes(to);
}

void cli_help(FILE *to)
{
    fputs("Examples\n", to);
    for (int i = 0; i < cli_verb_count; i++)
        print_example(to, &cli_verbs[i]->examples[0]);
    fputs("\nposenc VERB [options]\n  Every position encoding for Transformers.\n\nVerbs\n", to);
    for (int i = 0; i < cli_verb_count; i++)
        fprintf(to, "  %-12s%s\n", cli_verbs[i]->name, cli_verbs[i]->summary);
    fputs("\nOptions\n  VERB --help  examples and options of a verb\n  --version    the version\n", to);
    print_exit_codes(to);
}

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
    fprintf(stderr, "posenc: unknown verb %s%s (see posenc --help)\n", name, hint);
    return CLI_USAGE;
}
