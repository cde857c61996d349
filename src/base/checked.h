/* SPDX-License-Identifier: MIT
 *
 * Sizes that a caller gave, multiplied and added: false, and *out as it was, if one is negative or the result does not
 * fit. */
#ifndef PE_BASE_CHECKED_H
#define PE_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

static inline bool checked_mul(int64_t *out, int64_t a, int64_t b)
{
    if (a < 0 || b < 0 || (a && b > INT64_MAX / a))
        return false;
    *out = a * b;
    return true;
}

static inline bool checked_add(int64_t *out, int64_t a, int64_t b)
{
    if (a < 0 || b < 0 || b > INT64_MAX - a)
        return false;
    *out = a + b;
    return true;
}

#endif
