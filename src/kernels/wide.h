/* SPDX-License-Identifier: MIT
 *
 * Numbers wider than a double, by sums of doubles that do not overlap.
 *   dd    two doubles, about 106 bits: what a sum or a product of two doubles is exactly
 *   wide  three doubles, about 150 bits: a frequency in turns per position
 */
#ifndef PE_WIDE_H
#define PE_WIDE_H

#include <math.h>

typedef struct dd {
    double hi, lo;
} dd;

typedef struct wide {
    double part[3]; /* largest first */
} wide;

/* a + b = hi + lo exactly. */
static inline dd dd_sum(double a, double b)
{
    double hi = a + b, t = hi - a;
    return (dd){ hi, (a - (hi - t)) + (b - t) };
}

/* a * b = hi + lo exactly. */
static inline dd dd_product(double a, double b)
{
    double hi = a * b;
    return (dd){ hi, fma(a, b, -hi) };
}

wide wide_from(double x);
wide wide_add(wide a, wide b);
wide wide_sub(wide a, wide b);
wide wide_mul(wide a, wide b);
wide wide_div(wide a, wide b);
wide wide_scale(wide a, double power_of_two);
wide wide_exp(wide x);
wide wide_log(wide x);         /* x > 0 */
wide wide_pow(wide x, wide y); /* x > 0 */
wide wide_floor(wide x);
wide wide_clamp(wide x, double low, double high);
wide wide_two_pi(void);

#endif
