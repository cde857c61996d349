/* SPDX-License-Identifier: MIT */
#ifndef PE_DECIMAL_H
#define PE_DECIMAL_H

#include <stdint.h>

/* digits[0] to digits[count - 1], the first of them not 0, times 10^exponent: the nearest double; infinity past the
 * largest. */
double decimal_value(const char *digits, int count, int64_t exponent);

#endif
