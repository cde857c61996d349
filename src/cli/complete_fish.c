/* SPDX-License-Identifier: MIT */
#include "cli/complete.h"

static void write_help(FILE *to, const char *text)
{
    fputs(" -d ", to);
    complete_quoted(to, text, "\\'", "\\");
    putc('\n', to);
}

static void when(FILE *to, const cli_verb *v)
{
    fprintf(to, "complete -c posenc -n '__fish_seen_subcommand_from %s'", v->name);
}

/* -x: takes a value that is no file; -rF: takes a file. */
static void write_option(FILE *to, const cli_verb *v, const cli_option *o)
{
    when(to, v);
    if (o->letter)
        fprintf(to, " -s %c", o->letter);
    fprintf(to, " -l %s", o->name);
    if (complete_takes_file(o))
        fputs(" -rF", to);
    else if (o->kind != CLI_FLAG)
        fputs(" -x", to);
    if (o->kind == CLI_CHOICE) {
        fputs(" -a '", to);
        complete_words(to, o->value);
        putc('\'', to);
    }
    write_help(to, o->help);
}

static void write_operands(FILE *to, const cli_verb *v)
{
    if (!*v->operands)
        return;
    when(to, v);
    fputs(" -a '", to);
    complete_operands(to, v);
    fprintf(to, "'%s\n", complete_operand_is_file(v) ? " -F" : "");
}

void complete_fish(FILE *to)
{
    fputs("# fish completion for posenc; made by: posenc completion fish\ncomplete -c posenc -f\n", to);
    for (int i = 0; i < cli_verb_count; i++) {
        const cli_verb *v = cli_verbs[i];
        fprintf(to, "complete -c posenc -n __fish_use_subcommand -a %s", v->name);
        write_help(to, v->summary);
        for (int k = 0; k < v->option_count; k++)
            write_option(to, v, &v->options[k]);
        write_option(to, v, &cli_option_help);
        write_operands(to, v);
    }
}
