/* SPDX-License-Identifier: MIT
 *
 * Spec text as verbs change it: name:key=value,...+name... What a text means is for pe_encoding_new to say; these only
 * cut and join, so that they take canonical text best, in which every value is spelled out once.
 *
 *     char *plain = spec_set("rope:scaling=linear,factor=4", "scaling", NULL);   // "rope": factor had no more meaning
 */
#ifndef POSENC_ZOO_SPEC_EDIT_H
#define POSENC_ZOO_SPEC_EDIT_H

#include "posenc.h"

/* Texts that are returned are malloc'ed, the caller's to free; NULL: out of memory. */

int spec_part_count(const char *spec);
char *spec_part(const char *spec, int index);                        /* index below the count */
char *spec_with_part(const char *spec, int index, const char *part); /* the spec with that part replaced */

const pe_info *spec_info(const char *part);                 /* NULL: an unknown name */
const pe_key *spec_key(const char *part, const char *name); /* NULL: this encoding has no such key */

/* A key's value as text: what the part says, else the key's default; false: no such key, or no room. */
bool spec_value(char *out, size_t cap, const char *part, const char *name);
bool spec_is(const char *part, const char *name, const char *value); /* that value is this word */
double spec_number(const char *part, const char *name, double fallback);

/* The part with key=value; value NULL: without the key. Keys that have a meaning only with another value of this one
 * (pe_key.when) are left out. */
char *spec_set(const char *part, const char *name, const char *value);

#endif
