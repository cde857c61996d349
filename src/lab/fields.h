/* SPDX-License-Identifier: MIT
 *
 * The members of a struct as a table, from which they are written as JSON, read back and compared: each word stands in
 * one place (results.c).
 */
#ifndef POSENC_LAB_FIELDS_H
#define POSENC_LAB_FIELDS_H

#include "io/io.h"
#include "io/json_out.h"

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
} field;

void fields_write(json_out *j, const field *f, int count, const void *from);
/* PE_ERR_FORMAT: what is missing or of another type; PE_ERR_RANGE: what is out of its range. */
pe_status fields_read(void *to, const field *f, int count, const io_node *at, pe_error *err);
/* The first member that has to agree and does not; NULL: none. a and b (cap bytes each): its two values, as text. */
const field *fields_differ(const field *f, int count, const void *first, const void *second, char *a, char *b,
                           size_t cap);

#endif
