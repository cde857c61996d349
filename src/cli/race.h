/* SPDX-License-Identifier: MIT
 *
 * posenc race: from the command line to what the lab takes. */
#ifndef POSENC_CLI_RACE_H
#define POSENC_CLI_RACE_H

#include "cli/cli.h"
#include "lab/race.h"

/* The lists that an asked race points into. */
typedef struct race_words {
    char text[RACE_FOLDER * 8], test[RACE_FOLDER * 2];
    const char *file[RACE_FILES], *tests[RACE_FILES];
} race_words;

/* race_args.c */
cli_exit race_read_args(race_asked *out, race_words *words, const cli_args *a);

/* race_print.c: the table and what it shows, or all of it as JSON; and the report. */
cli_exit race_finish(const cli_args *a, race *r);

#endif
