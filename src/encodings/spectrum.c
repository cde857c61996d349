/* SPDX-License-Identifier: MIT
 *
 * theta^(-2i/d), the one spectrum of the field, as turns per position in three doubles. */
#include "encodings/shared.h"

wide theta_power(double theta, wide exponent)
{
    wide f = wide_pow(wide_from(theta), wide_scale(exponent, -1));
    return wide_div(f, wide_two_pi());
}

void spectrum(wide *out, int64_t count, double theta, int64_t denominator)
{
    wide ratio = wide_pow(wide_from(theta), wide_div(wide_from(-2), wide_from((double)denominator)));
    wide f = wide_div(wide_from(1), wide_two_pi());
    for (int64_t i = 0; i < count; i++) { /* each product loses 2^-150; 2^-130 is enough */
        out[i] = f;
        f = wide_mul(f, ratio);
    }
}
