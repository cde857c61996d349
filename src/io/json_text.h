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

/* The keys of the objects that are open, those of the innermost one last. */
typedef union io_key {
    uint64_t hashed;  /* hash, then offset in the text */
    const char *text; /* while keys of one hash are compared */
} io_key;

typedef struct io_keys {
    io_key *all;
    size_t count, room;
    const char *text;
} io_keys;

bool io_keys_new(io_keys *out, const char *text, size_t size); /* room for any text of this size; false: no memory */
void io_keys_add(io_keys *k, const char *key);
/* A key that comes twice from first on, or NULL. Those keys are forgotten. */
const char *io_keys_close(io_keys *k, size_t first);
void io_keys_free(io_keys *k);

#endif
