/* SPDX-License-Identifier: MIT
 *
 * Reads and edits canonical specs as text: what a key says, what it says by default, the same spec with one key more or
 * less. Whether a text is a spec at all is for pe_encoding_new to say.
 *
 *     zoo_spec_num(spec, "factor")                       8; NAN: the spec does not say, and there is no default
 *     zoo_spec_meets(spec, "scaling=yarn,truncate=no")   true where all of it holds
 *
 * A combination such as "sinusoidal+alibi" has several parts: zoo_spec_part takes one out; the rest of these look at
 * the first part only. */
#ifndef POSENC_ZOO_SPEC_READ_H
#define POSENC_ZOO_SPEC_READ_H

#include "posenc.h"

typedef struct zoo_slice {
    const char *text; /* not ended by a 0; NULL: no value */
    size_t length;
} zoo_slice;

bool zoo_spec_part(char *out, size_t cap, const char *spec, int index); /* false: no such part, or cap is too small */
const pe_info *zoo_spec_row(const char *spec);                          /* NULL: no such row */
const pe_key *zoo_spec_key(const char *spec, const char *key);          /* NULL: the row has no such key */

bool zoo_spec_has(const char *spec, const char *key);      /* the text gives it */
zoo_slice zoo_spec_get(const char *spec, const char *key); /* what is given, else the row's default */
double zoo_spec_num(const char *spec, const char *key);    /* NAN where it is no number */
bool zoo_spec_is(const char *spec, const char *key, const char *value);
/* All of "key=a|b", "key!=a", "key" (given) and "!key" (not given), joined by commas. "" or NULL always holds. */
bool zoo_spec_meets(const char *spec, const char *when);
/* Whether a key has a meaning here: its "when" of the row's table holds. */
bool zoo_spec_means(const char *spec, const pe_key *key);

/* Edits: false where cap is too small. The result need not be canonical. */
bool zoo_spec_without(char *out, size_t cap, const char *spec, const char *key);
bool zoo_spec_with(char *out, size_t cap, const char *spec, const char *key, const char *value);
/* Before it was changed for longer contexts: no scaling. What a model is born with (p-RoPE's share of pairs) stays. */
bool zoo_spec_unscaled(char *out, size_t cap, const char *spec);

/* Numbers by the rules of specs, whatever the locale: the shortest text that reads back. */
void zoo_print_real(char *out, size_t cap, double x);

#endif
