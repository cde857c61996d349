/* SPDX-License-Identifier: MIT
 *
 * Whether two means differ by more than chance (Welch 1947). */
#ifndef POSENC_WELCH_H
#define POSENC_WELCH_H

/* Two-sided: how likely |t| or more is by chance, by Student's t of so many degrees of freedom. */
double welch_t_probability(double t, double degrees);

typedef struct welch_sample {
    double mean, deviation;
    int count;
} welch_sample;
/* How likely means are so far apart by chance; NAN with fewer than two values each. */
double welch_probability(welch_sample x, welch_sample y);

#endif
