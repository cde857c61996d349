/* SPDX-License-Identifier: MIT */
#ifndef PE_ROTATE_H
#define PE_ROTATE_H

#include <stdint.h>

#include "kernels/wide.h"

/* The two elements that turn together. */
typedef struct lane {
    int64_t x, y;
} lane;

/* Which coordinate drives a pair and how fast, in turns per step of that coordinate; multiplier and shift make the step
 * from it (1 and 0 but for normalised coordinates). */
typedef struct pair {
    int64_t axis;
    wide frequency;
    int64_t multiplier, shift;
} pair;

/* One row: y[to] = x[from] turned by (c, s), y[rest] = x[rest] * gain. y and x do not overlap,
 * or are the same where to is from. */
void rotate_f32_c(float *y, const float *x, const lane *to, const lane *from, const float *c, const float *s,
                  int64_t pairs, const int64_t *rest, int64_t rests, float gain);
void rotate_f64_c(double *y, const double *x, const lane *to, const lane *from, const double *c, const double *s,
                  int64_t pairs, const int64_t *rest, int64_t rests, double gain);

#endif
