/* SPDX-License-Identifier: MIT
 *
 * The tables of results.c, for the readers: results_read.c (a folder), results_log.c (its lines). */
#ifndef POSENC_LAB_RESULTS_WORDS_H
#define POSENC_LAB_RESULTS_WORDS_H

#include "lab/fields.h"
#include "lab/results.h"

typedef struct words {
    const field *field;
    int count;
} words;
extern const words words_setup, words_entry, words_train, words_test, words_run;

/* Adds the lines of one log to r. run: whose "train" and "run" lines they are, an index; -1: a log without any.
 * A file that is not there has no lines. */
pe_status results_read_log(lab_results *r, int run, const char *path, pe_error *err);
/* By name; -1: none. */
int results_entry(const lab_setup *s, const char *name);

#endif
