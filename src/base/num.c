/* SPDX-License-Identifier: MIT */
#include "base/exact.h"

#include <math.h>

#include "base/num.h"

uint16_t num_to_16(double x, int fraction, int least, int most)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    unsigned sign = (unsigned)(bits >> 63) << 15;
    unsigned infinity = (unsigned)(most - least + 2) << fraction;
    if (isnan(x))
        return (uint16_t)(sign | infinity | 1u << (fraction - 1));
    if (isinf(x))
        return (uint16_t)(sign | infinity);
    if (x == 0)
        return (uint16_t)sign;
    int exponent = ilogb(x);
    if (exponent < least)
        exponent = least; /* subnormal: the unit stays that of the least normal */
    uint64_t n = (uint64_t)rint(ldexp(fabs(x), fraction - exponent)); /* ties to even; a carry is fine */
    uint64_t code = ((uint64_t)(exponent - least) << fraction) + n;   /* n's leading bit counts one into the exponent */
    return (uint16_t)(sign | (code > infinity ? infinity : code));
}

double num_from_f16(uint16_t h)
{
    uint64_t exponent = h >> 10 & 31, fraction = h & 1023, sign = (uint64_t)(h >> 15) << 63;
    uint64_t bits = sign | (exponent == 31 ? 2047 : exponent + 1008) << 52 | fraction << 42;
    double x, least = sign ? -0x1p-24 : 0x1p-24;
    bits |= exponent == 31 && fraction ? UINT64_C(1) << 51 : 0; /* a quiet NaN */
    memcpy(&x, &bits, sizeof x);
    return exponent ? x : least * (double)fraction;
}
