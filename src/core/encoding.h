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
    unsigned hooks, claims;
    pe_tensor tensor[PARTS_MAX * TENSORS_MAX]; /* as the caller sees them */
    kernels kernels;
};

void params_tell(pe_encoding *e); /* fills e->tensor */

#endif
