/* SPDX-License-Identifier: MIT
 *
 * The tables of results.c, for the reader, results_read.c.
 */
#ifndef POSENC_LAB_RESULTS_RECORDS_H
#define POSENC_LAB_RESULTS_RECORDS_H

#include "lab/fields.h"
#include "lab/results.h"

typedef struct record {
    const field *field;
    int count;
} record;
extern const record record_setup, record_entry, record_train, record_test, record_run, record_failure;

/* race.json. */
pe_status results_read_setup(lab_setup *out, const io_node *root, pe_error *err);
/* Adds the lines of one log to r. run: whose "train", "run" and "failure" lines they are, an index; -1: a log without
 * any. A file that is not there has no lines. */
pe_status results_read_lines(lab_results *r, int run, const char *path, io_span text, pe_error *err);

#endif
