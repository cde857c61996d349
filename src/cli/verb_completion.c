/* SPDX-License-Identifier: MIT
 *
 * posenc completion: a script for a shell, from the table of verbs. */
#include "cli/cli.h"

#include "prove/prove.h"

#include <stdlib.h>
#include <string.h>

static const cli_option options[] = { CLI_OPTION_JSON };
static const cli_example examples[] = {
    { "posenc completion bash > posenc.bash",
      "then: source posenc.bash; the Tab key completes verbs, options and encodings" },
    { "posenc completion zsh > _posenc", "for a folder of fpath" },
    { "posenc completion fish > posenc.fish", "for ~/.config/fish/completions" },
};
static const char notes[] = "make install puts the three scripts where bash, zsh and fish look for them.";

/* ---------------------------------------------------------------- what may be offered */

static void print_verbs(FILE *to)
{
    for (int i = 0; i < cli_verb_count; i++)
        fprintf(to, "%s%s", i ? " " : "", cli_verbs[i]->name);
}

static void print_encodings(FILE *to)
{
    for (int i = 0; i < pe_info_count(); i++)
        fprintf(to, "%s%s", i ? " " : "", pe_info_at(i)->name);
}

static void print_claims(FILE *to)
{
    print_encodings(to);
    for (int g = 0; g < prove_group_count; g++) {
        fprintf(to, " %s", prove_groups[g]->name);
        for (int c = 0; c < prove_groups[g]->count; c++)
            fprintf(to, " %s", prove_groups[g]->claims[c].name);
    }
}

static void print_words(FILE *to, const char *list)
{
    char item[64];
    for (int i = 0; cli_item(list, i, item, sizeof item); i++)
        fprintf(to, "%s%s", i ? " " : "", item);
}

/* Operands that stand for a list; all others are files. */
static const struct {
    const char *operand;
    void (*print)(FILE *to);
} lists[] = {
    { "CLAIM", print_claims }, { "SPEC", print_encodings }, { "NAME", print_encodings }, { "VERB", print_verbs }
};

/* The row of lists; -1: none. */
static int find_list(const cli_verb *v)
{
    for (int i = 0; i < CLI_COUNT(lists); i++)
        if (strstr(v->operands, lists[i].operand))
            return i;
    return -1;
}

static bool operand_is_file(const cli_verb *v)
{
    return *v->operands && !strchr(v->operands, '|') && find_list(v) < 0;
}

/* What may stand for the operands: names of encodings, verbs, the words of "a|b"; nothing where they are files. */
static void print_operands(FILE *to, const cli_verb *v)
{
    int list = find_list(v);
    if (strchr(v->operands, '|'))
        print_words(to, v->operands);
    else if (list >= 0)
        lists[list].print(to);
}

static bool takes_file(const cli_option *o)
{
    return o->kind == CLI_FILE_IN || o->kind >= CLI_FILE_OUT;
}

/* Text between single quotes; a quote in it becomes escape. Letters of also get a backslash. */
static void print_quoted(FILE *to, const char *text, const char *escape, const char *also)
{
    putc('\'', to);
    for (; *text; text++) {
        if (*text == '\'') {
            fputs(escape, to);
            continue;
        }
        if (strchr(also, *text))
            putc('\\', to);
        putc(*text, to);
    }
    putc('\'', to);
}

/* ---------------------------------------------------------------- bash 3.2 and later, without bash-completion */

static const char bash_head[] = "# bash completion for posenc; made by: posenc completion bash\n"
                                "_posenc_words() { COMPREPLY=($(compgen -W \"$1\" -- \"$cur\")); }\n"
                                "_posenc_files() {\n"
                                "    local IFS=$'\\n'\n"
                                "    compopt -o filenames 2>/dev/null\n"
                                "    COMPREPLY=($(compgen -f -- \"$cur\"))\n"
                                "}\n";

static const char bash_body[] =
    "# $1: a spec so far, such as rope:scaling=yarn,fa; bash cuts words at : and =, but not at the comma.\n"
    "_posenc_spec() {\n"
    "    local part=${1##*+} name last typed words\n"
    "    name=${part%%:*} last=${part#*:} last=${last##*,}\n"
    "    case $last in\n"
    "        *=*) typed=${last#*=} words=$(_posenc_choices \"$name:${last%%=*}\") ;;\n"
    "        *) typed=$last words=$(_posenc_keys \"$name\") ;;\n"
    "    esac\n"
    "    case $cur in : | =) cur= ;; esac\n"
    "    compopt -o nospace 2>/dev/null # a comma may follow\n"
    "    COMPREPLY=($(compgen -P \"${cur%\"$typed\"}\" -W \"$words\" -- \"$typed\"))\n"
    "}\n"
    "_posenc() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}\n"
    "    local whole=${COMP_LINE:0:COMP_POINT}\n"
    "    whole=${whole##* }\n"
    "    COMPREPLY=()\n"
    "    if [ \"$cur\" = = ]; then # --name=value is three words here\n"
    "        cur=\n"
    "    elif [ \"$prev\" = = ] && [ \"$COMP_CWORD\" -gt 2 ]; then\n"
    "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    fi\n";

static void print_bash_keys(FILE *to)
{
    fputs("_posenc_keys() {\n    case $1 in\n", to);
    for (int i = 0; i < pe_info_count(); i++) {
        const pe_info *r = pe_info_at(i);
        fprintf(to, "        %s) echo '", r->name);
        for (int k = 0; k < r->key_count; k++)
            fprintf(to, "%s%s=", k ? " " : "", pe_info_key(r, k)->name);
        fputs("' ;;\n", to);
    }
    fputs("    esac\n}\n", to);
}

static void print_bash_choices(FILE *to)
{
    fputs("_posenc_choices() {\n    case $1 in\n", to);
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; k < pe_info_at(i)->key_count; k++) {
            const pe_key *key = pe_info_key(pe_info_at(i), k);
            if (key->kind != PE_KEY_CHOICE)
                continue;
            fprintf(to, "        %s:%s) echo '", pe_info_at(i)->name, key->name);
            print_words(to, key->choices);
            fputs("' ;;\n", to);
        }
    fputs("    esac\n}\n", to);
}

/* "table:--out|table:-o" */
static void print_bash_pattern(FILE *to, const cli_verb *v, const cli_option *o)
{
    fprintf(to, "        %s:--%s", v->name, o->name);
    if (o->letter)
        fprintf(to, "|%s:-%c", v->name, o->letter);
    fputs(") ", to);
}

static void print_bash_value(FILE *to, const cli_verb *v, const cli_option *o)
{
    if (o->kind == CLI_FLAG)
        return;
    print_bash_pattern(to, v, o);
    if (o->kind == CLI_CHOICE) {
        fputs("_posenc_words '", to);
        print_words(to, o->value);
        fputs("'; ", to);
    } else if (takes_file(o))
        fputs("_posenc_files; ", to);
    fputs("return ;;\n", to);
}

static void print_bash_options(FILE *to, const cli_verb *v)
{
    fprintf(to, "        %s:-*) _posenc_words '", v->name);
    for (int i = 0; i < v->option_count; i++)
        fprintf(to, "--%s ", v->options[i].name);
    fputs("--help' ;;\n", to);
}

static void print_bash_operands(FILE *to, const cli_verb *v)
{
    fprintf(to, "        %s:*) _posenc_words '", v->name);
    print_operands(to, v);
    fprintf(to, "'%s ;;\n", operand_is_file(v) ? "; _posenc_files" : "");
}

static void print_bash(FILE *to)
{
    fputs(bash_head, to);
    print_bash_keys(to);
    print_bash_choices(to);
    fputs(bash_body, to);
    fputs("    if [ \"$COMP_CWORD\" = 1 ]; then\n        _posenc_words '", to);
    print_verbs(to);
    fputs(" --help --version'\n        return\n    fi\n    case $verb:$prev in\n", to);
    for (int i = 0; i < cli_verb_count; i++)
        for (int k = 0; k < cli_verbs[i]->option_count; k++)
            print_bash_value(to, cli_verbs[i], &cli_verbs[i]->options[k]);
    fputs("    esac\n    case $whole in -*) ;; *:*) _posenc_spec \"$whole\"; return ;; esac\n    case $verb:$cur in\n",
          to);
    for (int i = 0; i < cli_verb_count; i++) {
        print_bash_options(to, cli_verbs[i]);
        print_bash_operands(to, cli_verbs[i]);
    }
    fputs("    esac\n}\ncomplete -F _posenc posenc\n", to);
}

/* ---------------------------------------------------------------- zsh's _arguments: '--name[help]:value:what to offer'
 */

static const char zsh_quote[] = "'\\''";

/* The help between brackets, then ":value:(a b c)" or ":value:_files". */
static void print_zsh_option(FILE *to, const cli_option *o)
{
    fputs(" \\\n                ", to);
    if (o->letter)
        fprintf(to, "'(-%c --%s)'{-%c%s,--%s%s}", o->letter, o->name, o->letter, o->value ? "+" : "", o->name,
                o->value ? "=" : "");
    else
        fprintf(to, "--%s%s", o->name, o->value ? "=" : "");
    fputs("'['", to);
    print_quoted(to, o->help, zsh_quote, "[]:\\");
    fputs("']'", to);
    if (o->kind == CLI_CHOICE) {
        fprintf(to, "':%s:(", o->name);
        print_words(to, o->value);
        fputs(")'", to);
    } else if (takes_file(o))
        fputs("':file:_files'", to);
    else if (o->kind != CLI_FLAG)
        fprintf(to, "':%s: '", o->value);
}

static void print_zsh_operands(FILE *to, const cli_verb *v)
{
    if (operand_is_file(v)) {
        fputs(" \\\n                '*:file:_files'", to);
        return;
    }
    if (!*v->operands)
        return;
    fputs(" \\\n                '*:operand:(", to);
    print_operands(to, v);
    fputs(")'", to);
}

static void print_zsh_verb(FILE *to, const cli_verb *v)
{
    fprintf(to, "        %s)\n            _arguments -s", v->name);
    for (int i = 0; i < v->option_count; i++)
        print_zsh_option(to, &v->options[i]);
    print_zsh_option(to, &cli_option_help);
    print_zsh_operands(to, v);
    fputs(" ;;\n", to);
}

static void print_zsh(FILE *to)
{
    fputs("#compdef posenc\n# zsh completion for posenc; made by: posenc completion zsh\n"
          "_posenc() {\n    local -a verbs\n    verbs=(\n",
          to);
    for (int i = 0; i < cli_verb_count; i++) {
        char line[200];
        snprintf(line, sizeof line, "%s:%s", cli_verbs[i]->name, cli_verbs[i]->summary);
        fputs("        ", to);
        print_quoted(to, line, zsh_quote, "");
        putc('\n', to);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe verb verbs\n        return\n    fi\n"
          "    local verb=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $verb in\n",
          to);
    for (int i = 0; i < cli_verb_count; i++)
        print_zsh_verb(to, cli_verbs[i]);
    fputs("    esac\n}\nif [ \"$funcstack[1]\" = _posenc ]; then _posenc \"$@\"; else compdef _posenc posenc; fi\n",
          to);
}

/* ---------------------------------------------------------------- fish */

static void print_fish_help(FILE *to, const char *text)
{
    fputs(" -d ", to);
    print_quoted(to, text, "\\'", "\\");
    putc('\n', to);
}

static void print_fish_when(FILE *to, const cli_verb *v)
{
    fprintf(to, "complete -c posenc -n '__fish_seen_subcommand_from %s'", v->name);
}

/* -x: takes a value that is no file; -rF: takes a file. */
static void print_fish_option(FILE *to, const cli_verb *v, const cli_option *o)
{
    print_fish_when(to, v);
    if (o->letter)
        fprintf(to, " -s %c", o->letter);
    fprintf(to, " -l %s", o->name);
    if (takes_file(o))
        fputs(" -rF", to);
    else if (o->kind != CLI_FLAG)
        fputs(" -x", to);
    if (o->kind == CLI_CHOICE) {
        fputs(" -a '", to);
        print_words(to, o->value);
        putc('\'', to);
    }
    print_fish_help(to, o->help);
}

static void print_fish_operands(FILE *to, const cli_verb *v)
{
    if (!*v->operands)
        return;
    print_fish_when(to, v);
    fputs(" -a '", to);
    print_operands(to, v);
    fprintf(to, "'%s\n", operand_is_file(v) ? " -F" : "");
}

static void print_fish(FILE *to)
{
    fputs("# fish completion for posenc; made by: posenc completion fish\ncomplete -c posenc -f\n", to);
    for (int i = 0; i < cli_verb_count; i++) {
        const cli_verb *v = cli_verbs[i];
        fprintf(to, "complete -c posenc -n __fish_use_subcommand -a %s", v->name);
        print_fish_help(to, v->summary);
        for (int k = 0; k < v->option_count; k++)
            print_fish_option(to, v, &v->options[k]);
        print_fish_option(to, v, &cli_option_help);
        print_fish_operands(to, v);
    }
}

/* ---------------------------------------------------------------- the verb */

typedef struct shell {
    const char *name, *file;
    void (*print)(FILE *to);
} shell;

static const shell shells[] = {
    { "bash", "posenc", print_bash },
    { "zsh", "_posenc", print_zsh },
    { "fish", "posenc.fish", print_fish },
};

static cli_exit add_script(const cli_args *a, result *out, const shell *s)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (to)
        s->print(to);
    bool done = to && !fclose(to);
    result_text(out, "verb", NULL, a->verb->name);
    result_text(out, "file", NULL, s->file);
    result_code(out, "text", done ? text : "");
    free(text);
    return done ? CLI_OK : cli_fail(a, CLI_SYSTEM, "no memory for the script");
}

static cli_exit completion_verb(const cli_args *a, result *out)
{
    const char *names[CLI_COUNT(shells)];
    char hint[80];
    for (int i = 0; i < CLI_COUNT(shells); i++) {
        names[i] = shells[i].name;
        if (!strcmp(names[i], a->operand[0]))
            return add_script(a, out, &shells[i]);
    }
    return cli_fail(a, CLI_USAGE, "the shell is %s; needs one of %s%s", a->operand[0], a->verb->operands,
                    cli_did_you_mean(hint, "", a->operand[0], names, CLI_COUNT(shells)));
}

const cli_verb cli_verb_completion = {
    .name = "completion",
    .summary = "print a shell script with which the Tab key completes verbs, options and encodings",
    .operands = "bash|zsh|fish",
    .operands_min = 1,
    .operands_max = 1,
    .notes = notes,
    CLI_TABLES(options, examples),
    .run = completion_verb,
};
