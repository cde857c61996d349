/* SPDX-License-Identifier: MIT */
#include "base/exact.h"

#include "kernels/kernels.h"

/* Where x is no float, the odd one of the two around it. */
static float round_to_odd(double x)
{
    float y = (float)x;
    double back = y;
    uint32_t bits;
    memcpy(&bits, &y, sizeof bits);
    bits -= fabs(back) > fabs(x); /* cut off */
    bits |= back < x || back > x; /* odd; a NaN is neither */
    memcpy(&y, &bits, sizeof bits);
    return y;
}

void add_code_c(float *y, const float *x, const double *code, bool odd, int64_t n)
{
    for (int64_t i = 0; odd && i < n; i++)
        y[i] = round_to_odd((double)x[i] + code[i]);
    for (int64_t i = 0; !odd && i < n; i++)
        y[i] = (float)((double)x[i] + code[i]);
}

bool add_waves_c(float *y, const float *x, const double *base, int64_t base_row, const double *step, int64_t step_row,
                 double slack, bool odd, int64_t n)
{
    uint32_t differ = 0;
    for (int64_t i = 0; i < n; i++) {
        double code = base[i] * step[i] + base[base_row + i] * step[step_row + i];
        double high = (double)x[i] + (code + slack), low = (double)x[i] + (code - slack);
        float to[2] = { odd ? round_to_odd(high) : (float)high, odd ? round_to_odd(low) : (float)low };
        uint32_t bits[2];
        memcpy(bits, to, sizeof bits);
        differ |= bits[0] ^ bits[1];
        y[i] = to[0];
    }
    return !differ;
}

void rotate_waves_c(double *to, const double *from, int64_t row, const double *step, int64_t step_row, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        to[i] = from[i] * step[i] + from[row + i] * step[step_row + i];
        to[row + i] = from[row + i] * step[i] - from[i] * step[step_row + i];
    }
}
