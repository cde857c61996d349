/* SPDX-License-Identifier: MIT */
#ifndef PE_SPEC_H
#define PE_SPEC_H

#include "core/row.h"

#define ROWS_MAX 64
extern const row *const pe_rows[]; /* encodings/registry.c */
extern const int pe_row_count;

/* Reads one part's values from the text at *cursor and moves it behind the part; *row and *values are set. The values
 * (and their lists) are the caller's, freed with spec_free. */
pe_status spec_read(const char **cursor, const row **row, value **values, pe_error *err);
void spec_free(const row *row, const value *values);

/* Whether a row has no more keys and choices than spec_read has room for. */
pe_status spec_row_fits(const row *row, pe_error *err);

/* The canonical text of a part: only keys that differ from their default. Returns the length it needs, as snprintf. */
size_t spec_print(char *out, size_t cap, const part *p);

#endif
