/* SPDX-License-Identifier: MIT
 *
 * What no config says: one row for each model_type, read in the code of the model.
 *
 *     { "cohere2", "rope", "hidden=8192 heads=64/64 layers=40 length=8k theta=1e4 pairs=adjacent window=4k "
 *                          "pattern=sssf norope=full_attention" },
 *
 * The first column is the model_type, the second the family: the function in hf.c that reads the config. The third are
 * words, key=value or a flag. Sizes are the defaults of the model's config class, for configs that leave them out; a
 * size that is not there has no default, and the config must say it. facts.c lists all keys and what they mean.
 *
 * To add a model:
 * 1. Look at a row of a model that is like it. `make golden` prints the row with the defaults of its config class.
 * 2. Read its code: which elements form a pair (rotate_half: half; x[::2] and x[1::2]: adjacent), which layers rotate,
 *    how much of a head, what multiplies the scores. Write the row into facts_rope.c, facts_other.c (no rotation),
 *    facts_parts.c (a model of models) or facts_remote.c (its code is not in transformers), by the alphabet.
 * 3. A test reads every row and refuses words that it does not know. `make golden` compares with the model itself.
 * A type that cannot be read goes into facts_unread.c, with the reason. */
#ifndef POSENC_ZOO_FACTS_H
#define POSENC_ZOO_FACTS_H

#include "posenc.h"

#define ZOO_TRANSFORMERS_READ "transformers 5.23.0" /* the version that the rows and tests/golden come from */

typedef struct zoo_row {
    const char *type, *family, *words;
} zoo_row;

extern const zoo_row zoo_rows_rope[], zoo_rows_other[], zoo_rows_parts[], zoo_rows_remote[]; /* type NULL: the end */

const zoo_row *zoo_row_find(const char *type); /* NULL: unknown */
/* Where a row was read: "transformers 5.23.0 models/llama" */
const char *zoo_row_source(char out[120], const zoo_row *row);
const char *zoo_unread_reason(const char *type); /* "its buckets depend on ..."; NULL: it is read, or unknown */

/* A row taken apart. What few families ask for stays among the words. A family may change its copy. */
typedef struct zoo_fact {
    const char *type, *family;
    int64_t hidden, heads, kv_heads, head_dim, layers, length, window; /* 0: no default */
    int64_t rope_dim, nope_dim;                                        /* MLA: elements of a head that rotate or not */
    double theta, local_theta; /* base of the frequencies; that of sliding layers, where they have another */
    double rotary_fraction;    /* of a head that rotates, where the config has no key for it; 0: it reads no key */
    const char *pairs;         /* "half" where the row does not say */
    const char *pattern;       /* kinds of layers, a letter each (hf_layers.c), over and over; NULL: one kind */
    const char *spec;          /* what the code adds to the spec, or all of it; NULL: nothing */
    char words[512];           /* each ended by a 0, the last by two */
} zoo_fact;

/* PE_ERR_FORMAT: a word that is unknown, given twice or no number; the row is wrong, not the config. */
pe_status zoo_fact_read(zoo_fact *out, const zoo_row *row, pe_error *err);
/* What the row says: "" for a flag, NULL where it says nothing. Numbers: 0 where it says nothing. */
const char *zoo_fact_word(const zoo_fact *f, const char *key);
double zoo_fact_number(const zoo_fact *f, const char *key);

#endif
