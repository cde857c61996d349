/* SPDX-License-Identifier: MIT
 *
 * A cursor over the text of a header, for the two small grammars (npy, safetensors) that are read without a general
 * parser. Each taker skips white space, then takes what it is named after or leaves the cursor there.
 */
#ifndef POSENC_IO_SCAN_H
#define POSENC_IO_SCAN_H

#include "io.h"

typedef struct io_scan {
    char *at, *end;
    const char *begin;
    const char *name; /* of the file */
    pe_error *err;
} io_scan;

io_scan io_scan_of(uint8_t *text, size_t size, const char *name, pe_error *err);
bool io_scan_end(io_scan *s); /* nothing but white space left */
bool io_scan_char(io_scan *s, char c);
bool io_scan_word(io_scan *s, const char *word);
/* Digits only: 0 to INT64_MAX, no leading zero. */
bool io_scan_count(io_scan *s, int64_t *out);
/* A JSON string, decoded where it stands and ended by 0 in place of its closing quote (or earlier). False: no string
 * here, a bad escape, a control character, U+0000, half a surrogate pair, or not UTF-8. */
bool io_scan_string(io_scan *s, char **out);
/* Bytes of the well-formed UTF-8 character at at, which is before end; 0: it is overlong, a surrogate, past U+10FFFF.
 */
size_t io_utf8_length(const char *at, const char *end);
/* "FILE: header byte N: needs WHAT" */
pe_status io_scan_fail(const io_scan *s, const char *what);

#endif
