/* SPDX-License-Identifier: MIT
 *
 * An encoding is a list of parts and what they add up to. */
#ifndef PE_ENCODING_H
#define PE_ENCODING_H

#include "core/row.h"
#include "kernels/kernels.h"

#define PARTS_MAX 4

struct pe_encoding {
    pe_shape shape;
    part part[PARTS_MAX];
    int parts;
    char *text;
    uint64_t fingerprint;
    double scale;
    int64_t axes, param_count;
    int64_t relative; /* width of the vector that a term takes of the caller; 0: none */
    unsigned hooks, claims;
    pe_tensor tensor[PARTS_MAX * TENSORS_MAX]; /* as the caller sees them */
    kernels kernels;
};

/* A part from a row, the values of its keys, and a shape; what it has allocated is in it even on failure. */
pe_status part_make(part *p, const row *r, value *values, pe_shape shape, const kernels *k, pe_error *err);
void part_free(part *p);

void params_tell(pe_encoding *e);                                         /* fills e->tensor */
double params_first(const part *p, int tensor, int64_t i, uint64_t seed); /* what an element starts at */

#endif
