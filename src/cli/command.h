/* SPDX-License-Identifier: MIT
 *
 * A command as it would be typed: words with signs of the shell are quoted. */
#ifndef POSENC_CLI_COMMAND_H
#define POSENC_CLI_COMMAND_H

#include "cli/cli.h"

void cli_command(char *out, size_t cap, const cli_args *a);

#endif
