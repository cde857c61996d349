/* SPDX-License-Identifier: MIT
 *
 * The four terms of a score: content or position on the query's side, content or position on the key's.
 */
#ifndef POSENC_TERMS_H
#define POSENC_TERMS_H

#include "prove/measures.h"

enum { CC, CP, PC, PP, FOUR };
#define HAS(term) (1u << (term))

/* What the terms of one spec are. */
typedef struct terms_found {
    double size[FOUR];        /* root of the mean square */
    unsigned there, position; /* HAS(term): it is there; it changes with the positions */
    bool counts;              /* a term counts keys: by their order, whatever their positions are */
    double moved;             /* the largest change of a term under a common step, in sizes of the score */
} terms_found;

pe_status terms_find(terms_found *f, const char *spec, const prove_given *g, pe_error *err);
void terms_add_sizes(prove_finding *out, const terms_found *f, const char *spec);

#endif
