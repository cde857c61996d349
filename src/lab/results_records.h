/* SPDX-License-Identifier: MIT
 *
 * The members of a struct as a table, from which they are written as JSON, read back and compared: each word stands in
 * one place. The tables are in results.c; results_read.c reads by them.
 */
#ifndef POSENC_LAB_RESULTS_RECORDS_H
#define POSENC_LAB_RESULTS_RECORDS_H

#include "io/io.h"
#include "io/json_out.h"
#include "lab/results.h"

#include <stddef.h>

typedef enum field_kind {
    FIELD_TEXT = 0, /* char [room] */
    FIELD_INT,      /* int64_t */
    FIELD_COUNT,    /* int */
    FIELD_SEED,     /* uint64_t, below 2^63 */
    FIELD_HEX,      /* uint64_t, in the file a text */
    FIELD_REAL,     /* double; null in the file: NAN */
    FIELD_BOOL
} field_kind;

typedef struct field {
    const char *name;
    field_kind kind;
    size_t at, room; /* offset; bytes */
    int elements;    /* of an array; 0: one value */
    size_t count_at; /* offset of an int: how many of them are there; 0: always all */
    int64_t min, max;
    bool agree; /* folders that are read together must agree in it */
    bool late;  /* files of posenc 0.1 lack it: it is 0 then */
} field;

/* PE_ERR_FORMAT: what is missing or of another type; PE_ERR_RANGE: what is out of its range. */
pe_status fields_read(void *to, const field *f, int count, const io_node *at, pe_error *err);
/* The first member that has to agree and does not; NULL: none. a and b (cap bytes each): its two values, as text. */
const field *fields_differ(const field *f, int count, const void *first, const void *second, char *a, char *b,
                           size_t cap);

typedef struct record {
    const field *field;
    int count;
} record;
extern const record record_setup, record_entry, record_tensor, record_train, record_test, record_run, record_failure;

/* race.json. */
pe_status results_read_setup(lab_setup *out, const io_node *root, pe_error *err);
/* Adds the lines of one log to r. run: whose "train", "run" and "failure" lines they are, an index. */
enum {
    RESULTS_NO_RUN = -1,  /* a log without any */
    RESULTS_ALL_RUNS = -2 /* results.jsonl: each says its entry and seed */
};
pe_status results_read_lines(lab_results *r, int run, const char *path, io_span text, pe_error *err);

#endif
