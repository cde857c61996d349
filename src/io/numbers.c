/* SPDX-License-Identifier: MIT
 *
 * Numbers as text, by the rules that specs follow. */
#include "io/io.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void io_print_real(char *out, size_t cap, double x)
{
    text_print(out, cap, x);
}

void io_print_float(char *out, size_t cap, double x)
{
    double back;
    for (int precision = 6; precision <= 9; precision++) {
        snprintf(out, cap, "%.*g", precision, x);
        for (char *c = out; *c; c++)
            if (!strchr("0123456789+-einfa", *c))
                *c = '.';
        if (!isfinite(x) || (text_number(out, strlen(out), &back) && (float)back == (float)x))
            return;
    }
}
