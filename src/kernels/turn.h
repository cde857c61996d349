/* SPDX-License-Identifier: MIT */
#ifndef PE_TURN_H
#define PE_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/wide.h"

/* cos and sin of n f turns, each within 2^-51 of itself (2^-1070 where that is less), for n up to 2^37, whole or not,
 * and any f up to 2^9 turns. */
void turn_cos_sin(double n, wide f, double *c, double *s);

/* 1 / (2 pi): turns per radian. */
extern const wide turn_per_radian;

/* Its series, for the variants: of sin(y)/y - 1 and cos(y) - 1 in y*y. */
extern const double turn_sine_term[8], turn_cosine_term[9];

/* kernels.h says what these do. */
typedef void turn_many(double *c, double *s, const double *n, const double *f, int64_t f_row, int64_t count);
typedef bool turn_sums(float *c, float *s, const double *base, const double *step, int64_t row, double slack,
                       int64_t count);
turn_sums turn_sums_c; /* the definition */

#endif
