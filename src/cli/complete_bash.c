/* SPDX-License-Identifier: MIT
 *
 * Plain bash, 3.2 and later; the bash-completion package is not needed. */
#include "cli/complete.h"

static const char head[] = "# bash completion for posenc; made by: posenc completion bash\n"
                           "_posenc_words() { COMPREPLY=($(compgen -W \"$1\" -- \"$cur\")); }\n"
                           "_posenc_files() {\n"
                           "    local IFS=$'\\n'\n"
                           "    compopt -o filenames 2>/dev/null\n"
                           "    COMPREPLY=($(compgen -f -- \"$cur\"))\n"
                           "}\n";

static const char body[] =
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

static void write_keys(FILE *to)
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

static void write_choices(FILE *to)
{
    fputs("_posenc_choices() {\n    case $1 in\n", to);
    for (int i = 0; i < pe_info_count(); i++)
        for (int k = 0; k < pe_info_at(i)->key_count; k++) {
            const pe_key *key = pe_info_key(pe_info_at(i), k);
            if (key->kind != PE_KEY_CHOICE)
                continue;
            fprintf(to, "        %s:%s) echo '", pe_info_at(i)->name, key->name);
            complete_words(to, key->choices);
            fputs("' ;;\n", to);
        }
    fputs("    esac\n}\n", to);
}

/* "table:--out|table:-o" */
static void write_pattern(FILE *to, const cli_verb *v, const cli_option *o)
{
    fprintf(to, "        %s:--%s", v->name, o->name);
    if (o->letter)
        fprintf(to, "|%s:-%c", v->name, o->letter);
    fputs(") ", to);
}

static void write_value(FILE *to, const cli_verb *v, const cli_option *o)
{
    if (o->kind == CLI_FLAG)
        return;
    write_pattern(to, v, o);
    if (o->kind == CLI_CHOICE) {
        fputs("_posenc_words '", to);
        complete_words(to, o->value);
        fputs("'; ", to);
    } else if (complete_takes_file(o))
        fputs("_posenc_files; ", to);
    fputs("return ;;\n", to);
}

static void write_options(FILE *to, const cli_verb *v)
{
    fprintf(to, "        %s:-*) _posenc_words '", v->name);
    for (int i = 0; i < v->option_count; i++)
        fprintf(to, "--%s ", v->options[i].name);
    fputs("--help' ;;\n", to);
}

static void write_operands(FILE *to, const cli_verb *v)
{
    fprintf(to, "        %s:*) _posenc_words '", v->name);
    complete_operands(to, v);
    fprintf(to, "'%s ;;\n", complete_operand_is_file(v) ? "; _posenc_files" : "");
}

void complete_bash(FILE *to)
{
    fputs(head, to);
    write_keys(to);
    write_choices(to);
    fputs(body, to);
    fputs("    if [ \"$COMP_CWORD\" = 1 ]; then\n        _posenc_words '", to);
    complete_verbs(to);
    fputs(" --help --version'\n        return\n    fi\n    case $verb:$prev in\n", to);
    for (int i = 0; i < cli_verb_count; i++)
        for (int k = 0; k < cli_verbs[i]->option_count; k++)
            write_value(to, cli_verbs[i], &cli_verbs[i]->options[k]);
    fputs("    esac\n    case $whole in -*) ;; *:*) _posenc_spec \"$whole\"; return ;; esac\n    case $verb:$cur in\n",
          to);
    for (int i = 0; i < cli_verb_count; i++) {
        write_options(to, cli_verbs[i]);
        write_operands(to, cli_verbs[i]);
    }
    fputs("    esac\n}\ncomplete -F _posenc posenc\n", to);
}
