/* SPDX-License-Identifier: MIT */
#ifndef PE_ROPE_H
#define PE_ROPE_H

#include "encodings/shared.h"

enum {
    THETA, PAIRS, DIMS, FRACTION, RANGE, SIGN, DENOMINATOR, SCALING, FACTOR, ALPHA, TRAINED, LENGTH, BETA_FAST, BETA_SLOW,
    TRUNCATE, MSCALE, MSCALE_ALL_DIM, LOW, HIGH, TURNING, SHORT, LONG, SHORT_MAGNITUDE, LONG_MAGNITUDE, AXES, SPLIT, SECTIONS,
    COORDS, EXTENT, MAGNITUDE, SOFTMAX, TEMPERATURE, FLOOR, SHIFT, TURN, PRECISION, ROPE_KEYS
};

/* In the order of the keys' choices. */
typedef enum scaling { UNSCALED, LINEAR, DYNAMIC, NTK, YARN, LONGROPE, LLAMA3, PROPORTIONAL } scaling;
typedef enum split { CHUNKED, INTERLEAVED, AXIAL, BLOCKS, ODDEVEN, ALTERNATE } split;

/* Where a pair stands: its axis, its place in a spectrum of `width` elements, the first pair of its axis. */
typedef struct slot {
    int64_t axis, index, width, start;
} slot;

typedef struct rope {
    double magnitude;
    int precision;
    bool negative;
    lane *from, *to;       /* (pairs) */
    pair *pair;            /* (pairs) */
    int64_t *index;        /* (pairs) place in the spectrum; precision=ggml */
    int64_t *rest;         /* (head_dim) */
    float *inverse;        /* (pairs) float32 frequency as transformers forms it */
    float *ratio, *step;   /* (pairs) scaled over unscaled frequency; theta^(-2/d) as ggml forms it */
} rope;

pe_status rope_check_scaling(part *p, pe_error *err);
double rope_magnitude(const part *p);
void rope_frequency(const part *p, rope *r, int64_t n, slot s); /* fills pair n's frequency */

#endif
