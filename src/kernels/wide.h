/* SPDX-License-Identifier: MIT
 *
 * Numbers wider than a double, by sums of doubles that do not overlap.
 *   dd    two doubles, about 106 bits: what a sum or a product of two doubles is exactly
 *   wide  three doubles, about 150 bits: a frequency in turns per position
 */
#ifndef PE_WIDE_H
#define PE_WIDE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

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

/* x as a sum of two numbers of 26 bits (Veltkamp), |x| < 2^996. */
static inline dd dd_halves(double x)
{
    double t = x * 0x1.0000002p+27, hi = t - (t - x);
    return (dd){ hi, x - hi };
}

/* dd_product without fma (Dekker): the products of halves are exact. So is lo, between the ends of the exponents. */
static inline dd dd_product_by_halves(double a, double b)
{
    double hi = a * b, size = fabs(hi);
    if (!(fabs(a) < 0x1p+900 && fabs(b) < 0x1p+900 && size > 0x1p-900 && size < 0x1p+900))
        return (dd){ hi, fma(a, b, -hi) };
    dd x = dd_halves(a), y = dd_halves(b);
    return (dd){ hi, ((x.hi * y.hi - hi) + x.hi * y.lo + x.lo * y.hi) + x.lo * y.lo };
}

/* The double next to the exact sum a + b, of the two around it the odd one: a later sum rounds it as if it were exact.
 */
static inline double dd_sum_to_odd(double a, double b)
{
    dd s = dd_sum(a, b);
    int64_t bits;
    memcpy(&bits, &s.hi, sizeof bits);
    bits += s.lo == 0 || bits & 1 ? 0 : (s.lo > 0) == (s.hi > 0) ? 1 : -1;
    memcpy(&s.hi, &bits, sizeof bits);
    return s.hi;
}

/* fma(a, b, c) without one (Boldo and Melquiond 2008). */
static inline double dd_fma_by_halves(double a, double b, double c)
{
    double size = fabs(a * b);
    if (!(fabs(a) < 0x1p+900 && fabs(b) < 0x1p+900 && size > 0x1p-800 && size < 0x1p+900 && fabs(c) < 0x1p+900 &&
          fabs(c) > 0x1p-800))
        return fma(a, b, c);
    dd p = dd_product_by_halves(a, b), low = dd_sum(c, p.lo), high = dd_sum(p.hi, low.hi);
    return high.hi + dd_sum_to_odd(low.lo, high.lo);
}

/* a * b + c, rounded once. */
static inline double dd_fma(double a, double b, double c)
{
#if defined __wasm__
    return dd_fma_by_halves(a, b, c);
#else
    return fma(a, b, c);
#endif
}

/* a * b = hi + lo exactly. */
static inline dd dd_product(double a, double b)
{
#if defined __wasm__ /* no fma there: libc's works bit by bit, for 4 times as long */
    return dd_product_by_halves(a, b);
#else
    double hi = a * b;
    return (dd){ hi, fma(a, b, -hi) };
#endif
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
