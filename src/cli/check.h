/* SPDX-License-Identifier: MIT
 *
 * posenc check: verb_check.c reads the command and its files, src/check finds the bug, and this says what it found. */
#ifndef POSENC_CLI_CHECK_H
#define POSENC_CLI_CHECK_H

#include "check/findings.h"
#include "cli/cli.h"

void check_result(result *out, const check_findings *f, bool allowed, const char *given);

#endif
