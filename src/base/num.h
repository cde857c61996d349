/* SPDX-License-Identifier: MIT
 *
 * One element of any type, as a double in and rounded once out. */
#ifndef PE_NUM_H
#define PE_NUM_H

#include <stdint.h>
#include <string.h>

#include "posenc.h"

/* double to a 16-bit format with `fraction` stored bits of fraction and exponents from `least` (normal) to `most`;
 * nearest, ties to even; overflow gives infinity, as IEEE rounding does. */
uint16_t num_to_16(double x, int fraction, int least, int most);
double num_from_f16(uint16_t h);

static inline double num_from_bf16(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static inline uint16_t num_to_f16(double x)
{
    return num_to_16(x, 10, -14, 15);
}

static inline uint16_t num_to_bf16(double x)
{
    return num_to_16(x, 7, -126, 127);
}

static inline double num_load(const void *data, pe_dtype type, int64_t i)
{
    switch (type) {
    case PE_F32: return ((const float *)data)[i];
    case PE_F64: return ((const double *)data)[i];
    case PE_F16: return num_from_f16(((const uint16_t *)data)[i]);
    default: return num_from_bf16(((const uint16_t *)data)[i]);
    }
}

/* y = elements i .. i + n - 1, or += them; where the type is a constant, by eight, which compilers make vectors of. */
static inline void num_loads(double *y, const void *data, pe_dtype type, int64_t i, int64_t n)
{
    int64_t j = 0;
    for (; j + 8 <= n; j += 8)
        for (int l = 0; l < 8; l++)
            y[j + l] = num_load(data, type, i + j + l);
    for (; j < n; j++)
        y[j] = num_load(data, type, i + j);
}

static inline void num_adds(double *y, const void *data, pe_dtype type, int64_t i, int64_t n)
{
    int64_t j = 0;
    for (; j + 8 <= n; j += 8)
        for (int l = 0; l < 8; l++)
            y[j + l] += num_load(data, type, i + j + l);
    for (; j < n; j++)
        y[j] += num_load(data, type, i + j);
}

static inline void num_store(void *data, pe_dtype type, int64_t i, double x)
{
    switch (type) {
    case PE_F32: ((float *)data)[i] = (float)x; break;
    case PE_F64: ((double *)data)[i] = x; break;
    case PE_F16: ((uint16_t *)data)[i] = num_to_f16(x); break;
    default: ((uint16_t *)data)[i] = num_to_bf16(x); break;
    }
}

static inline void num_add(void *data, pe_dtype type, int64_t i, double x)
{
    num_store(data, type, i, num_load(data, type, i) + x);
}

#endif
