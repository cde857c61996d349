/* SPDX-License-Identifier: MIT
 *
 * Random numbers without state: the n-th of a stream, the same bits everywhere (SplitMix64; Steele, Lea and
 * Flood 2014). A number of one stream may be the name of another.
 */
#ifndef POSENC_CORE_RANDOM_H
#define POSENC_CORE_RANDOM_H

#include <stdint.h>

static inline uint64_t random_at(uint64_t stream, uint64_t n)
{
    uint64_t z = stream + (n + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The next of a stream, which moves on: random_at(stream, 0), random_at(stream, 1), ... */
static inline uint64_t random_next(uint64_t *stream)
{
    uint64_t x = random_at(*stream, 0);
    *stream += 0x9e3779b97f4a7c15u;
    return x;
}

/* 0 or more, less than 1. */
static inline double random_uniform(uint64_t stream, uint64_t at)
{
    return (double)(random_at(stream, at) >> 11) * 0x1p-53;
}

/* Twelve uniforms less six: mean 0, deviation 1, no libm, so the same bits everywhere. */
static inline double random_normal(uint64_t stream, uint64_t at)
{
    double sum = -6;
    for (uint64_t k = 0; k < 12; k++)
        sum += random_uniform(stream, at * 12 + k);
    return sum;
}

/* 0 .. n - 1. */
static inline uint32_t random_below(uint64_t stream, uint64_t at, uint32_t n)
{
    return (uint32_t)((random_at(stream, at) >> 32) * n >> 32);
}

/* 1 .. 2^octaves - 1, each octave as likely as any other: log-uniform. */
static inline uint32_t random_octaves(uint64_t stream, uint64_t at, uint32_t octaves)
{
    uint64_t r = random_at(stream, at);
    uint32_t octave = (uint32_t)((r >> 32) * octaves >> 32);
    return (1u << octave) + (uint32_t)(r & ((1u << octave) - 1));
}

#endif
