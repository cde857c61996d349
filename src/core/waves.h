/* SPDX-License-Identifier: MIT
 *
 * Codes of waves, for the loops of embed. */
#ifndef PE_WAVES_H
#define PE_WAVES_H

#include "core/encoding.h"

#define WAVES 512 /* at a time */

pe_status part_waves(part *p, const kernels *k, pe_error *err); /* for parts that have waves, after init */

/* Elements first .. first + count - 1 of the code, as the row's embed makes them. */
void waves_code(const kernels *k, const part *p, const double *at, int64_t first, int64_t count, double *code);

/* Adds the same elements of the code to one token after another: what it remembers from one to the next. */
typedef struct wave_maker {
    const kernels *k;
    const part *p;
    int64_t axis, first, count; /* of the axis' waves */
    bool made[2];
    int64_t at[2];                          /* which block of positions, and which of its parts */
    _Alignas(64) double base[2][2 * WAVES]; /* waves where these begin, and the same a quarter turn on */
} wave_maker;
/* Elements from `first` on, at most so many; returns how many. */
int64_t waves_start(wave_maker *m, const kernels *k, const part *p, int64_t first, int64_t most);
/* y = x + code, rounded once, or to odd (kernels.h). False where that takes waves_code, or would not be faster. next:
 * the place of the token after this; NULL: none. */
bool waves_add(wave_maker *m, float *y, const float *x, bool odd, const double *at, const double *next);

#endif
