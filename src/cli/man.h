/* SPDX-License-Identifier: MIT */
#ifndef POSENC_CLI_MAN_H
#define POSENC_CLI_MAN_H

#include "cli/cli.h"

/* A page in roff: of a verb, or of the tool where v is NULL. */
void man_page(FILE *to, const cli_verb *v);

#endif
