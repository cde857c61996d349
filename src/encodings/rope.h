/* SPDX-License-Identifier: MIT */
#ifndef PE_ROPE_H
#define PE_ROPE_H

#include "encodings/shared.h"

enum {
    THETA,
    PAIRS,
    DIMS,
    FRACTION,
    RANGE,
    SIGN,
    DENOMINATOR,
    SCALING,
    FACTOR,
    ALPHA,
    TRAINED,
    LENGTH,
    BETA_FAST,
    BETA_SLOW,
    TRUNCATE,
    MSCALE,
    MSCALE_ALL_DIM,
    LOW,
    HIGH,
    TURNING,
    SHORT,
    LONG,
    SHORT_MAGNITUDE,
    LONG_MAGNITUDE,
    AXES,
    SPLIT,
    SECTIONS,
    COORDS,
    EXTENT,
    MAGNITUDE,
    SOFTMAX,
    TEMPERATURE,
    FLOOR,
    SHIFT,
    TURN,
    PRECISION,
    FREQUENCIES,
    STEPS,
    LEARNED,
    START,
    ROPE_KEYS
};

_Static_assert(ROPE_KEYS <= KEYS_MAX, "raise KEYS_MAX in core/row.h");

/* In the order of the keys' choices. */
typedef enum scaling { UNSCALED, LINEAR, DYNAMIC, NTK, YARN, LONGROPE, LLAMA3, PROPORTIONAL } scaling;
enum { EXACT, HF, GGML };
typedef enum split { CHUNKED, INTERLEAVED, AXIAL, BLOCKS, ODDEVEN, ALTERNATE, TAIL } split;

/* Where a pair stands: its axis, its place in a spectrum of `width` elements, the first pair of its axis. */
typedef struct slot {
    int64_t axis, index, width, start;
} slot;

/* What precision=hf and precision=ggml keep of a pair (rope_float.c). */
typedef struct float_pair {
    float inverse; /* hf: its frequency                                                            */
    int64_t index; /* ggml: multiplications by step, then its frequency factor, freq_scale and ramp */
    float step, divisor, scale, mix;
    float sign; /* of the angle, for both */
} float_pair;

/* What pairs of one spectrum share while frequencies are formed, pair after pair. */
typedef struct rope_run {
    int64_t width, index;     /* of the last pair; 0, -1: none yet */
    wide theta, ratio, power; /* theta, theta^(-2/d), theta^(-2 index/d) */
    wide low, span;           /* YaRN's ramp */
} rope_run;

typedef struct rope {
    rope_run run;
    double magnitude;
    int precision;
    lane *from, *to;      /* (pairs) */
    pair *pair;           /* (pairs) */
    float_pair *as_float; /* (pairs) */
    int64_t *rest;        /* (head_dim) */
} rope;

slot rope_slot(const part *p, int64_t n);
pe_status rope_check_scaling(part *p, pe_error *err);
double rope_magnitude(const part *p);
bool rope_is_long(const part *p);         /* the sequence exceeds the trained length */
bool rope_rotates(const part *p, slot s); /* proportional: this pair rotates at all */
int64_t rope_denominator(const part *p, slot s);
double rope_step(const part *p, int64_t axis); /* what a coordinate is multiplied by */
void rope_frequency(const part *p, rope *r, int64_t n, slot s); /* fills pair n's frequency */

/* theta with what NTK multiplies it by; ratio: scaled over plain frequency. */
void rope_prepare_hf(const part *p, float_pair *f, double theta, double ratio, int64_t n, slot s);
void rope_prepare_ggml(const part *p, float_pair *f, double theta, double ratio, int64_t n, slot s);
float rope_angle_hf(const float_pair *f, int64_t steps);
float rope_angle_ggml(const float_pair *f, int64_t steps);

/* Where the numbers come from, for people (rope_tell.c). */
void rope_tell_pair(const part *p, const pe_question *of, tell *out);
void rope_tell_gain(const part *p, const int64_t *at, tell *out);
void rope_settle_formula(part *p); /* the row's formula as the keys change it */

#endif
