/* SPDX-License-Identifier: MIT
 *
 * A command as it would be typed: words with signs of the shell are quoted. */
#ifndef POSENC_CLI_COMMAND_H
#define POSENC_CLI_COMMAND_H

#include "cli/cli.h"

/* Behind `used` characters of out; returns how many there are then, or would be: cap and more where it is cut. */
size_t cli_put_word(char *out, size_t cap, size_t used, const char *word);
void cli_command(char *out, size_t cap, const cli_args *a);

#endif
