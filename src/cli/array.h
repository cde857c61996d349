/* SPDX-License-Identifier: MIT
 *
 * Arrays: memory that is checked first, names of types and shapes, the first elements for people. */
#ifndef POSENC_CLI_ARRAY_H
#define POSENC_CLI_ARRAY_H

#include "cli/cli.h"
#include "io/io.h"

/* count * size bytes, never NULL on success. What neither a file nor this machine can hold is refused before it is
 * asked for, since a system that overcommits would say yes and then end the process. */
cli_exit array_memory(const cli_args *a, void **out, const char *what, int64_t count, size_t size);
cli_exit array_new(const cli_args *a, io_array *out, pe_dtype type, int rank, const int64_t *shape);
bool array_type(const io_array *a, pe_dtype *out);  /* false: not a float */
const char *array_type_name(pe_dtype type);         /* "float32" */
void array_shape(char out[160], const io_array *a); /* "(2, 512, 32)" */

#define ARRAY_PREVIEW_ROWS 16

/* The first rows and columns of a (rows, columns) block that begins at element first; later rows are not read. */
typedef struct array_block {
    int64_t first, rows, columns;
    const pe_positions *row_at, *column_at; /* column_at NULL: columns count from 0 */
} array_block;
void array_preview(result *out, const io_array *a, pe_dtype type, array_block b);

#endif
