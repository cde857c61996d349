/* SPDX-License-Identifier: MIT
 *
 * What the files of hf_rope share: the parameters that turn one kind of layer. */
#ifndef POSENC_ZOO_HF_ROPE_H
#define POSENC_ZOO_HF_ROPE_H

#include "zoo/hf.h"

/* What turns one kind of layer. */
typedef struct hf_turning {
    io_node dict;    /* its own parameters; json NULL: there are none */
    char label[64];  /* of the dict among others; "" */
    const char *how; /* scaling, in our words */
    bool local;      /* a sliding layer of a model with two bases */
    bool unscaled;   /* the dict gives the base alone */
    bool off;        /* null in the config: does not turn */
    int64_t dims;    /* elements that turn */
    double factor;   /* of a linear scaling that no dict gives; 0: none */
} hf_turning;

/* hf_scaling.c: which scaling the dict names; what it adds to the spec; how long the model was trained, NAN: not said.
 */
pe_status hf_find_scaling(hf_part *h, hf_turning *t);
pe_status hf_take_keys(hf_part *h, const hf_turning *t, zoo_spec *spec);
pe_status hf_scale(hf_part *h, const hf_turning *t, zoo_spec *spec);
pe_status hf_original_length(hf_part *h, const hf_turning *t, double *out);

#endif
