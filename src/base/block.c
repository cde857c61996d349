/* SPDX-License-Identifier: MIT */
#include "base/exact.h"

#include <math.h>
#include <string.h>

#include "base/block.h"
#include "base/num.h"

#define HALF (BLOCK_WIDTH / 2)

void block_load(float x[BLOCK_WIDTH], const void *block, pe_dtype kind)
{
    const unsigned char *code = (const unsigned char *)block + 2;
    uint16_t bits;
    memcpy(&bits, block, 2);
    float d = (float)num_from_f16(bits);
    if (kind == PE_Q8_0)
        for (int n = 0; n < BLOCK_WIDTH; n++)
            x[n] = d * (float)(signed char)code[n];
    else
        for (int n = 0; n < HALF; n++) {
            x[n] = d * (float)((code[n] & 15) - 8);
            x[n + HALF] = d * (float)((code[n] >> 4) - 8);
        }
}

/* The number of the largest size, the first of equals; NaN where there is one: sizes compare as their bits do. */
static float extreme(const float x[BLOCK_WIDTH])
{
    int32_t size[BLOCK_WIDTH], most = 0;
    memcpy(size, x, sizeof size);
    for (int n = 0; n < BLOCK_WIDTH; n++) {
        size[n] &= INT32_MAX;
        most = size[n] > most ? size[n] : most;
    }
    int at = 0;
    while (size[at] != most)
        at++;
    return x[at];
}

/* Nearest whole number, halves away from 0, |x| < 2^31. */
static int nearest(float x)
{
    int t = (int)x;
    float rest = x - (float)t;
    return t + (rest >= 0.5f) - (rest <= -0.5f);
}

/* Codes for scale 1 / inverse, less their zero. */
static void encode(int q[BLOCK_WIDTH], const float x[BLOCK_WIDTH], float inverse, pe_dtype kind)
{
    if (kind == PE_Q8_0)
        for (int n = 0; n < BLOCK_WIDTH; n++)
            q[n] = nearest(x[n] * inverse);
    else
        for (int n = 0; n < BLOCK_WIDTH; n++) {
            int up = (int)(x[n] * inverse + 8.5f);
            q[n] = (up > 15 ? 15 : up) - 8;
        }
}

/* The scale with which these codes come closest to x; eight sums at a time, added as vectors of all widths can. */
static double fit(const float x[BLOCK_WIDTH], const int q[BLOCK_WIDTH])
{
    double part[8] = { 0 };
    int squares = 0;
    for (int n = 0; n < BLOCK_WIDTH; n++)
        squares += q[n] * q[n];
    for (int n = 0; n < BLOCK_WIDTH; n += 8)
        for (int i = 0; i < 8; i++)
            part[i] += (double)x[n + i] * q[n + i];
    for (int i = 0; i < 4; i++)
        part[i] += part[i + 4];
    return ((part[0] + part[1]) + (part[2] + part[3])) / squares;
}

void block_store(void *block, const float x[BLOCK_WIDTH], pe_dtype kind)
{
    unsigned char *code = (unsigned char *)block + 2;
    float most = extreme(x), d = kind == PE_Q8_0 ? fabsf(most) / 127 : most / -8, inverse = 1 / d;
    int q[BLOCK_WIDTH];
    bool holds = isfinite(most) && isfinite(inverse); /* else no numbers, or none that a scale is small enough for */
    if (holds)
        encode(q, x, inverse, kind);
    else
        memset(q, 0, sizeof q);
    uint16_t bits = num_to_f16(holds ? fit(x, q) : (double)d);
    memcpy(block, &bits, 2);
    if (kind == PE_Q8_0)
        for (int n = 0; n < BLOCK_WIDTH; n++)
            code[n] = (unsigned char)q[n];
    else
        for (int n = 0; n < HALF; n++)
            code[n] = (unsigned char)((q[n] + 8) | (q[n + HALF] + 8) << 4);
}
