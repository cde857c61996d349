/* SPDX-License-Identifier: MIT
 *
 * One row per element type: both spellings, the size, and how one element is read.
 */
#ifndef POSENC_IO_TYPES_H
#define POSENC_IO_TYPES_H

#include "io.h"

typedef struct io_type_row {
    const char *name; /* safetensors */
    const char *npy;  /* the descr NumPy writes; "" where NumPy has no such type */
    size_t size;
    double (*real)(const uint8_t *at);                /* a float's value, exact, or NULL */
    bool (*integer)(int64_t *out, const uint8_t *at); /* false: past int64. NULL for floats */
} io_type_row;

const io_type_row *io_type_get(io_type t); /* NULL if unknown */
bool io_type_by_name(io_type *out, const char *name);
bool io_type_by_npy(io_type *out, const char *descr, size_t length);

#endif
