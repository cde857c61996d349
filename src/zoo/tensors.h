/* SPDX-License-Identifier: MIT
 *
 * Between the files of the reader of bare .safetensors. */
#ifndef POSENC_ZOO_TENSORS_H
#define POSENC_ZOO_TENSORS_H

#include "zoo/read.h"

typedef struct zoo_tensors {
    zoo_builder *b;
    const io_safetensors *st;
    int64_t layers;           /* by the highest number in a name; 0: none has one */
    const io_tensor *table;   /* learned positions */
    const io_tensor *bias;    /* T5's */
    const io_tensor *freqs;   /* inv_freq */
    const io_tensor *q, *k;   /* projections of some layer */
    const io_tensor *strange; /* a name that says: not with these tensors alone */
    const char *why;
    zoo_spec *spec;
} zoo_tensors;

bool zoo_ends_with(const char *text, const char *end);
pe_status zoo_add_stored_rope(zoo_tensors *t); /* tensors_rope.c: with or without stored frequencies */

#endif
