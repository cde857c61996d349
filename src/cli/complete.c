/* SPDX-License-Identifier: MIT */
#include "cli/complete.h"

#include "prove/prove.h"

#include <string.h>

void complete_verbs(FILE *to)
{
    for (int i = 0; i < cli_verb_count; i++)
        fprintf(to, "%s%s", i ? " " : "", cli_verbs[i]->name);
}

static void encodings(FILE *to)
{
    for (int i = 0; i < pe_info_count(); i++)
        fprintf(to, "%s%s", i ? " " : "", pe_info_at(i)->name);
}

static void claims(FILE *to)
{
    encodings(to);
    for (int g = 0; g < prove_group_count; g++) {
        fprintf(to, " %s", prove_groups[g]->name);
        for (int c = 0; c < prove_groups[g]->count; c++)
            fprintf(to, " %s", prove_groups[g]->claims[c].name);
    }
}

void complete_words(FILE *to, const char *list)
{
    char item[64];
    for (int i = 0; cli_item(list, i, item, sizeof item); i++)
        fprintf(to, "%s%s", i ? " " : "", item);
}

/* Operands that stand for a list; all others are files. */
static const struct {
    const char *operand;
    void (*write)(FILE *to);
} lists[] = { { "CLAIM", claims }, { "SPEC", encodings }, { "NAME", encodings }, { "VERB", complete_verbs } };

/* The row of lists; -1: none. */
static int find_list(const cli_verb *v)
{
    for (int i = 0; i < CLI_COUNT(lists); i++)
        if (strstr(v->operands, lists[i].operand))
            return i;
    return -1;
}

bool complete_operand_is_file(const cli_verb *v)
{
    return *v->operands && !strchr(v->operands, '|') && find_list(v) < 0;
}

void complete_operands(FILE *to, const cli_verb *v)
{
    int list = find_list(v);
    if (strchr(v->operands, '|'))
        complete_words(to, v->operands);
    else if (list >= 0)
        lists[list].write(to);
}

bool complete_takes_file(const cli_option *o)
{
    return o->kind == CLI_FILE_IN || o->kind >= CLI_FILE_OUT;
}

void complete_quoted(FILE *to, const char *text, const char *escape, const char *also)
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
