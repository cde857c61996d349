/* SPDX-License-Identifier: MIT */
#ifndef PE_ROTATE_H
#define PE_ROTATE_H

#include <stdint.h>

#include "kernels/wide.h"
#include "posenc.h"

/* The two elements of a pair, which rotate together. */
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

/* Pairs first .. first + count - 1, whose elements lie regularly: pair i of them reads x and y at from + i * from_step
 * and writes at to + i * to_step. A step of 2 means adjacent pairs, y = x + 1; all else has 1. */
typedef struct pair_run {
    int64_t first, count;
    lane from, to;
    int64_t from_step, to_step;
} pair_run;

/* A run of every row (kernels.h says more). One function per type, by pe_dtype. */
typedef void rotate_rows(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows, const pair_run *r,
                         const float *c, const float *s, int64_t table_stride);
extern rotate_rows *const *const rotate_rows_avx2; /* AVX-512's too, for short runs */

/* One row: y[to] = x[from] rotated by (c, s), y[rest] = x[rest] * gain. y and x do not overlap,
 * or are the same where to is from. */
void rotate_f32_c(float *y, const float *x, const lane *to, const lane *from, const float *c, const float *s,
                  int64_t pairs, const int64_t *rest, int64_t rests, float gain);
void rotate_f64_c(double *y, const double *x, const lane *to, const lane *from, const double *c, const double *s,
                  int64_t pairs, const int64_t *rest, int64_t rests, double gain);

#endif
