/* SPDX-License-Identifier: MIT
 *
 * For zsh's _arguments: '--name[help]:value:what to offer'. */
#include "cli/complete.h"

#include <string.h>

static const char quote[] = "'\\''";

/* The help between brackets, then ":value:(a b c)" or ":value:_files". */
static void write_option(FILE *to, const cli_option *o)
{
    fputs(" \\\n                ", to);
    if (o->letter)
        fprintf(to, "'(-%c --%s)'{-%c%s,--%s%s}", o->letter, o->name, o->letter, o->value ? "+" : "", o->name,
                o->value ? "=" : "");
    else
        fprintf(to, "--%s%s", o->name, o->value ? "=" : "");
    fputs("'['", to);
    complete_quoted(to, o->help, quote, "[]:\\");
    fputs("']'", to);
    if (o->kind == CLI_CHOICE) {
        fprintf(to, "':%s:(", o->name);
        complete_words(to, o->value);
        fputs(")'", to);
    } else if (complete_takes_file(o))
        fputs("':file:_files'", to);
    else if (o->kind != CLI_FLAG)
        fprintf(to, "':%s: '", o->value);
}

static void write_operands(FILE *to, const cli_verb *v)
{
    if (complete_operand_is_file(v)) {
        fputs(" \\\n                '*:file:_files'", to);
        return;
    }
    if (!*v->operands)
        return;
    fputs(" \\\n                '*:operand:(", to);
    complete_operands(to, v);
    fputs(")'", to);
}

static void write_verb(FILE *to, const cli_verb *v)
{
    fprintf(to, "        %s)\n            _arguments -s", v->name);
    for (int i = 0; i < v->option_count; i++)
        write_option(to, &v->options[i]);
    write_option(to, &cli_option_help);
    write_operands(to, v);
    fputs(" ;;\n", to);
}

void complete_zsh(FILE *to)
{
    fputs("#compdef posenc\n# zsh completion for posenc; made by: posenc completion zsh\n"
          "_posenc() {\n    local -a verbs\n    verbs=(\n",
          to);
    for (int i = 0; i < cli_verb_count; i++) {
        char line[200];
        snprintf(line, sizeof line, "%s:%s", cli_verbs[i]->name, cli_verbs[i]->summary);
        fputs("        ", to);
        complete_quoted(to, line, quote, "");
        putc('\n', to);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe verb verbs\n        return\n    fi\n"
          "    local verb=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $verb in\n",
          to);
    for (int i = 0; i < cli_verb_count; i++)
        write_verb(to, cli_verbs[i]);
    fputs("    esac\n}\nif [ \"$funcstack[1]\" = _posenc ]; then _posenc \"$@\"; else compdef _posenc posenc; fi\n",
          to);
}
