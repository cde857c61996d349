/* SPDX-License-Identifier: MIT
 *
 * The only place in src/io where a number that came from a file meets * or +. True: *out is the exact result.
 * False: it does not fit, and *out is 0, so that a forgotten check allocates nothing useful rather than too little.
 */
#ifndef POSENC_IO_CHECKED_H
#define POSENC_IO_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IO_SIZE_BITS ((int)(8 * sizeof(size_t))) /* what a size in memory has */

static inline bool io_mul(size_t *out, size_t a, size_t b)
{
    size_t wide;
    bool fits = !__builtin_mul_overflow(a, b, &wide);
    *out = fits ? wide : 0;
    return fits;
}

static inline bool io_add(size_t *out, size_t a, size_t b)
{
    size_t wide;
    bool fits = !__builtin_add_overflow(a, b, &wide);
    *out = fits ? wide : 0;
    return fits;
}

static inline bool io_mul_i64(int64_t *out, int64_t a, int64_t b)
{
    int64_t wide;
    bool fits = !__builtin_mul_overflow(a, b, &wide);
    *out = fits ? wide : 0;
    return fits;
}

static inline bool io_add_i64(int64_t *out, int64_t a, int64_t b)
{
    int64_t wide;
    bool fits = !__builtin_add_overflow(a, b, &wide);
    *out = fits ? wide : 0;
    return fits;
}

/* False where n is negative or too large for this machine. */
static inline bool io_to_size(size_t *out, int64_t n)
{
    bool fits = n >= 0 && (uint64_t)n <= SIZE_MAX;
    *out = fits ? (size_t)n : 0;
    return fits;
}

/* Product of rank sizes, each 0 or more, taken in order: a 0 does not excuse an overflow to its left. */
static inline bool io_shape_count(int64_t *out, const int64_t *shape, int rank)
{
    *out = 1;
    for (int i = 0; i < rank; i++)
        if (shape[i] < 0 || !io_mul_i64(out, *out, shape[i]))
            return false;
    return true;
}

/* Bytes of count elements of size bytes each. */
static inline bool io_byte_count(size_t *out, int64_t count, size_t size)
{
    size_t n;
    *out = 0;
    return io_to_size(&n, count) && io_mul(out, n, size);
}

#endif
