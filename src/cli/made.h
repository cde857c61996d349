/* SPDX-License-Identifier: MIT
 *
 * Texts that are made from the table and go to stdout, or into JSON.
 */
#ifndef POSENC_CLI_MADE_H
#define POSENC_CLI_MADE_H

#include "cli/cli.h"

/* A text is written by write(to, about). With --json: { "verb": ..., "file": file, "text": ... }, where file is the
 * name that it is usually kept under. */
cli_exit made_print(const cli_args *a, const char *file, void (*write)(FILE *to, const void *about), const void *about);

#endif
