/* SPDX-License-Identifier: MIT
 *
 * Sums and exponentials that vectors of any width do with the same bits. */
#ifndef POSENC_MODEL_LANES_H
#define POSENC_MODEL_LANES_H

#include "model/model.h"

#include <math.h>
#include <string.h>

#define LANES 16

/* sum of x y: 16 sums side by side, then one after the other. */
static inline real lanes_dot(const real *x, const real *y, int64_t count)
{
    real lane[LANES] = { 0 }, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int n = 0; n < LANES; n++)
            lane[n] += x[i + n] * y[i + n];
    for (; i < count; i++)
        lane[0] += x[i] * y[i];
    for (int n = 0; n < LANES; n++)
        sum += lane[n];
    return sum;
}

static inline real lanes_max(const real *x, int64_t count)
{
    real lane[LANES], most = x[0];
    int64_t i = 0;
    for (int n = 0; n < LANES; n++)
        lane[n] = x[0];
    for (; i + LANES <= count; i += LANES)
        for (int n = 0; n < LANES; n++)
            lane[n] = x[i + n] > lane[n] ? x[i + n] : lane[n];
    for (; i < count; i++)
        lane[0] = x[i] > lane[0] ? x[i] : lane[0];
    for (int n = 0; n < LANES; n++)
        most = lane[n] > most ? lane[n] : most;
    return most;
}

static inline real lanes_sum(const real *x, int64_t count)
{
    real lane[LANES] = { 0 }, sum = 0;
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (int n = 0; n < LANES; n++)
            lane[n] += x[i + n];
    for (; i < count; i++)
        lane[0] += x[i];
    for (int n = 0; n < LANES; n++)
        sum += lane[n];
    return sum;
}

#ifdef MODEL_DOUBLE
static inline real lanes_exp(real x)
{
    return exp(x);
}
#else
/* e^x = 2^n e^r, |r| <= ln 2 / 2, e^r by its Taylor series: within 2 ulp. Below -87 it is as at -87, above 88 as at 88;
 * a NaN stays one. */
static inline real lanes_exp(real x)
{
    float y = x < -87.0f ? -87.0f : x > 88.0f ? 88.0f : x;
    float n = (y * 0x1.715476p+0f + 0x1.8p23f) - 0x1.8p23f;
    float r = (y - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    p = (p * r) * r + r + 1.0f;
    int32_t bits;
    memcpy(&bits, &p, sizeof bits);
    bits += (int32_t)(n == n ? n : 0) * (1 << 23);
    memcpy(&p, &bits, sizeof p);
    return p;
}
#endif

#endif
