/* SPDX-License-Identifier: MIT
 *
 * What the claims about numbers are measured on: numbers kept in few bits, codes of positions, one attention to try
 * kernels on.
 */
#ifndef POSENC_NUMBERS_H
#define POSENC_NUMBERS_H

#include "prove/measures.h"

/* ---------------------------------------------------------------- few bits (numbers_round.c) */

#define ROUND_BLOCK 32 /* numbers that share a scale where the type has one */
typedef void round_fn(double x[ROUND_BLOCK]);
round_fn round_f32, round_bf16, round_f16, round_q8, round_q4; /* q8, q4: the blocks of a quantised cache */
/* n numbers, block by block; the last is filled up with zeros. */
void round_all(double *x, int64_t n, round_fn *round);

/* ---------------------------------------------------------------- codes (numbers_codes.c) */

enum { RUN = ROUND_BLOCK, RUNS = 32, PLACES = RUN * RUNS }; /* runs of neighbours, evenly spread up to the length */

/* What an encoding makes of a position: the vector that it adds, cos and sin of its turns, what it adds to scores. */
typedef struct codes {
    measure_encoding m;
    int64_t length, axes;
    int64_t *at;          /* (PLACES, axes) */
    double *q, *k;        /* (1, H, D), (PLACES, H, D) */
    double *exact, *kept; /* (size), as they are and as they are kept */
    int64_t step, size;   /* from an element to the same of the next place; numbers in all */
} codes;

pe_status codes_open(codes *c, const char *spec, const prove_given *g, int64_t length, pe_error *err);
void codes_close(codes *c);
pe_status codes_make(double *out, const codes *c, pe_error *err); /* out (size) */

/* ---------------------------------------------------------------- attention to try (numbers_trial.c) */

typedef struct trial {
    measure_encoding m, plain;  /* plain: no encoding, the same shape */
    int64_t tokens, axes, size; /* size: T H D */
    int64_t *at;
    double *q, *k, *v, *out, *other; /* (T, H, D) */
    double *bias;                    /* (T, H, T) */
} trial;

pe_status trial_open(trial *t, const char *spec, const prove_given *g, pe_error *err);
void trial_close(trial *t);                    /* zeroed or half-built: fine */
pe_view trial_view(const trial *t, double *x); /* (T, H, D) */
pe_positions trial_places(const trial *t);
/* to (T, H, D): attention by the definition, causal, with m one of the two; scale and bias from a. */
pe_status trial_attend(const trial *t, const measure_encoding *m, pe_attention a, double *to, pe_error *err);

#endif
