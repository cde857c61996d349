/* SPDX-License-Identifier: MIT
 *
 * posenc check: verb_check.c reads the command and its files, src/check finds the bug, and these print it. */
#ifndef POSENC_CLI_CHECK_H
#define POSENC_CLI_CHECK_H

#include "check/findings.h"
#include "cli/cli.h"

void check_print(const check_findings *f, bool allowed);
void check_print_json(const check_findings *f, bool allowed, const char *given);

#endif
