/* SPDX-License-Identifier: MIT
 *
 * The text is the tree: a document is checked once, its strings are decoded where they stand, and from then on a value
 * is a pointer to its first character. A hostile text costs what its bytes cost, whatever they spell.
 *
 *     {"a\u0062": [1, "x"]}        as it came
 *     {"ab000000: [1, "x0]}        as it is kept: 0 stands for a NUL; the quote in front stays
 */
#ifndef POSENC_IO_JSON_TEXT_H
#define POSENC_IO_JSON_TEXT_H

#include "io.h"

/* Checks text[0..size-1], changing it into the form above; *first becomes the place of its object or array. */
pe_status io_json_check(char *text, size_t size, size_t *first, const char *name, pe_error *err);

/* A numeral, exactly as RFC 8259 has it: its characters, 0 where there is none. */
size_t io_json_numeral(const char *at, const char *end, bool *real);
/* Of a numeral; false where it does not fit. */
bool io_json_whole(int64_t *out, const char *at, size_t size);
bool io_json_double(double *out, const char *at, size_t size);

#endif
