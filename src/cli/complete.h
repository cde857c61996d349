/* SPDX-License-Identifier: MIT
 *
 * posenc completion: what a shell may offer, from the table of verbs.
 */
#ifndef POSENC_CLI_COMPLETE_H
#define POSENC_CLI_COMPLETE_H

#include "cli/cli.h"

/* One script each, for bash, zsh and fish. */
void complete_bash(FILE *to);
void complete_zsh(FILE *to);
void complete_fish(FILE *to);

/* Shared (complete.c). */

void complete_verbs(FILE *to); /* names, a space between them */
/* What may stand for the operands: names of encodings, verbs, the words of "a|b"; nothing where they are files. */
void complete_operands(FILE *to, const cli_verb *v);
bool complete_operand_is_file(const cli_verb *v);
void complete_words(FILE *to, const char *list); /* "a|b|c" as "a b c" */
bool complete_takes_file(const cli_option *o);
/* Text between single quotes; a quote in it becomes escape. Letters of also get a backslash. */
void complete_quoted(FILE *to, const char *text, const char *escape, const char *also);

#endif
