/* SPDX-License-Identifier: MIT
 *
 * What a config.json says of the heads of its model and of the layout of their pairs, for converting the weights that
 * lie beside it (io/pairs.h). */
#ifndef POSENC_CLI_CONVERT_H
#define POSENC_CLI_CONVERT_H

#include "posenc.h"

typedef struct convert_config {
    bool alike; /* all layers that are rotated are rotated alike, and there are such; else the rest is not filled */
    pe_shape shape;
    int64_t dims; /* elements of a head that are rotated */
    bool trailing;
    int layout; /* of CLI_PAIRS; -1: pairs lie otherwise, as no permutation of ours moves them */
} convert_config;

pe_status convert_read_config(convert_config *out, const char *path, pe_error *err);

#endif
