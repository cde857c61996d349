/* SPDX-License-Identifier: MIT
 *
 * What the files of hf_rope share: the parameters that rotate one kind of layer. */
#ifndef POSENC_ZOO_HF_ROPE_H
#define POSENC_ZOO_HF_ROPE_H

#include "zoo/hf.h"

/* What rotates one kind of layer. */
typedef struct hf_rotation {
    io_node dict;    /* its own parameters; json NULL: there are none */
    char label[64];  /* of the dict among others; "" */
    const char *how; /* scaling, in our words */
    bool local;      /* a sliding layer of a model with two bases */
    bool unscaled;   /* the dict gives the base alone */
    bool off;        /* null in the config: does not rotate */
    int64_t dims;    /* elements that rotate */
    double factor;   /* of a linear scaling that no dict gives; 0: none */
} hf_rotation;

/* hf_scaling.c: which scaling the dict names; what it adds to the spec; how long the model was trained, NAN: not said.
 */
pe_status hf_find_scaling(hf_part *h, hf_rotation *t);
pe_status hf_take_keys(hf_part *h, const hf_rotation *t, zoo_spec *spec);
pe_status hf_scale(hf_part *h, const hf_rotation *t, zoo_spec *spec);
pe_status hf_original_length(hf_part *h, const hf_rotation *t, double *out);

#endif
