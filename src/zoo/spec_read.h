/* SPDX-License-Identifier: MIT
 *
 * Reads and edits canonical specs as text: what a key says, what it says by default, the same spec with one key more or
 * less. Whether a text is a spec at all is for pe_encoding_new to say.
 *
 *     zoo_spec_num(spec, "factor")                       8; NAN: the spec does not say, and there is no default
 *     zoo_spec_meets(spec, "scaling=yarn,truncate=no")   true where all of it holds
 *     zoo_spec_set(spec, "scaling", NULL)                "rope:scaling=linear,factor=4" becomes "rope"
 *
 * A combination such as "sinusoidal+alibi" has several parts: zoo_spec_part takes one out; lookups and edits of keys
 * are those of the first part. */
#ifndef POSENC_ZOO_SPEC_READ_H
#define POSENC_ZOO_SPEC_READ_H

#include "posenc.h"

typedef struct zoo_slice {
    const char *text; /* not ended by a 0; NULL: no value */
    size_t length;
} zoo_slice;

/* ---------------------------------------------------------------- lookups */

int zoo_spec_parts(const char *spec);                          /* how many */
zoo_slice zoo_spec_part_at(const char *spec, int index);       /* where it stands; text NULL: no such part */
const pe_info *zoo_spec_row(const char *spec);                 /* NULL: no such row */
const pe_key *zoo_spec_key(const char *spec, const char *key); /* NULL: the row has no such key */

bool zoo_spec_has(const char *spec, const char *key);      /* the text gives it */
zoo_slice zoo_spec_get(const char *spec, const char *key); /* what is given, else the row's default */
/* The same as a string, "" for no value; false: the row has no such key, or cap is too small. */
bool zoo_spec_text(char *out, size_t cap, const char *spec, const char *key);
double zoo_spec_num(const char *spec, const char *key); /* NAN where it is no number */
double zoo_spec_num_or(const char *spec, const char *key, double fallback);
bool zoo_spec_is(const char *spec, const char *key, const char *value);
/* All of "key=a|b", "key!=a", "key" (given) and "!key" (not given), joined by commas. "" or NULL always holds. */
bool zoo_spec_meets(const char *spec, const char *when);
/* Whether a key has a meaning here: its "when" of the row's table holds. */
bool zoo_spec_means(const char *spec, const pe_key *key);

bool zoo_spec_grows(const char *spec); /* frequencies follow the length of the sequence: "length" has a meaning */

bool zoo_has_word(const char *words, const char *word); /* one of "a b c" */
/* An item of "a|b", a list of which the first length characters count. */
bool zoo_is_one_of(zoo_slice v, const char *list, size_t length);

/* ---------------------------------------------------------------- edits */

/* Texts that are returned are malloc'ed, the caller's to free; NULL: out of memory. They need not be canonical. */

char *zoo_spec_part(const char *spec, int index);                        /* index below the count */
char *zoo_spec_with_part(const char *spec, int index, const char *part); /* the spec with that part replaced */

/* With key=value; value NULL: without the key. Keys that thereby lose their meaning (pe_key.when) go too. */
char *zoo_spec_set(const char *spec, const char *key, const char *value);
/* The same done to *spec, which is malloc'ed. False, and *spec as it was, without memory. */
bool zoo_spec_put(char **spec, const char *key, const char *value);
bool zoo_spec_put_real(char **spec, const char *key, double value);
/* For a sequence of this length, where that matters; 0: up to the trained one. */
char *zoo_spec_at(const char *spec, int64_t length);
/* Before it was changed for longer contexts: no scaling. What a model is born with (p-RoPE's share of pairs) stays. */
char *zoo_spec_unscaled(const char *spec);

#endif
