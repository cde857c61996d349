/* SPDX-License-Identifier: MIT
 *
 * Text for people with numbers in it: "sin(5 · 0.1)". */
#ifndef PE_TELL_H
#define PE_TELL_H

#include <stdint.h>

#include "base/text.h"

/* Text that grows up to its room, 5 bytes or more; what does not fit is left out and marked. */
typedef struct tell {
    char *text;
    size_t room, used;
} tell;
tell tell_into(char *text, size_t room);
PRINTF(2, 3) void tell_say(tell *t, const char *format, ...);
/* To four digits, whole numbers in full; what is not whole shows a point. */
number_text tell_number(double x);
number_text tell_factor(double x); /* in parentheses where it is negative */
/* a - b of the numbers as they are shown, to the digits that both show: "0.7864 - 0.7874" is -0.001. */
double tell_difference(double a, double b);
/* "0.3 · 0.1 + (-1.2) · 2" */
void tell_products(tell *t, const double *a, const double *b, int64_t count);

#endif
