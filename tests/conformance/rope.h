/* SPDX-License-Identifier: MIT
 *
 * A case about rotation, read and ready to be compared. */
#ifndef CONFORMANCE_ROPE_H
#define CONFORMANCE_ROPE_H

#include "conformance.h"

/* What turns: q, k or v. */
typedef struct rotated {
    const char *field, *out_field;
    pe_side side;
    bool turns;          /* false: this side is left alone */
    pe_view x, y, own;   /* the file's before and after, ours after; all of one shape */
} rotated;

typedef struct rope_case {
    const pe_encoding *e;
    pe_pair *pair;           /* (pairs) */
    int64_t pairs, head_dim;
    pe_positions at;
    double origin[PE_AXES_MAX]; /* what is taken off a position before it is multiplied; the middle of a grid */
    double scaling;          /* the file's factor on cos and sin; 1 where it has none */
    bool halves;             /* the file's tables hold every pair twice, in two halves, however its pairs lie */
    golden_tensor inv_freq, cosine, sine; /* real NULL: not in the file */
} rope_case;

/* q, k and v as far as they are there, before and after. */
pe_status rope_rotated(golden *c, bool rotates_value, rotated s[3], int *count);
/* (n), (n, axes) or (axes, n). Where both fit, sections mean (axes, n). */
pe_status rope_positions(golden *c, int64_t axes, pe_positions *out);
const char *rope_pairs(golden *c); /* meta.layout in our words; NULL: unknown */

/* Steps 1 to 4 of tests/golden/README.md. head_dim, at and origin are set; the rest is filled in. */
pe_status rope_compare(golden *c, rope_case *r, const char *spec, rotated *s, int count);

#endif
