/* SPDX-License-Identifier: MIT
 *
 * Whether this build computes as written: a caller who compiles the files may have flags that we cannot undo. */
#include "base/exact.h"

#include <stddef.h>

#include "kernels/kernels.h"

/* 1 + 2^-60 keeps its second part; nothing is left of it when sums are reordered. */
static bool sums_keep_their_errors(void)
{
    volatile double one = 1, small = 0x1p-60;
    return wide_add(wide_from(one), wide_from(small)).part[1] == small;
}

/* (1 + 2^-12)^2 - (1 + 2^-11) is 0 when the product is rounded and 2^-24 when it is not. */
static bool products_are_rounded(void)
{
    volatile float a = 1 + 0x1p-12f, b = 1 + 0x1p-11f, one = 1;
    const float x[2] = { a, b }, c[1] = { a }, s[1] = { one };
    const lane pair_0[1] = { { 0, 1 } };
    float y[2];
    rotate_f32_c(y, x, pair_0, pair_0, c, s, 1, NULL, 0, 1);
    return y[0] == 0;
}

/* 1/4 + 2^-70 turns: the cosine is -2 pi 2^-70 and nothing but the third part of the frequency says so. */
static bool turns_keep_their_fraction(void)
{
    volatile double quarter = 0.25, far = 0x1p-70;
    double c, s;
    turn_cos_sin(1, (wide){ { quarter, 0, far } }, &c, &s);
    return s == 1 && (float)c == (float)(-0x1.921fb54442d18p+2 * 0x1p-70);
}

bool exact_arithmetic(void)
{
    return sums_keep_their_errors() && products_are_rounded() && turns_keep_their_fraction();
}
