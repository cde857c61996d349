/* SPDX-License-Identifier: MIT
 *
 * Codes added to rows; kernels.h says what these do. */
#ifndef PE_CODE_H
#define PE_CODE_H

#include <stdbool.h>
#include <stdint.h>

typedef void code_add(float *y, const float *x, const double *code, bool odd, int64_t n);
typedef bool wave_add(float *y, const float *x, const double *base, int64_t base_row, const double *step,
                      int64_t step_row, double slack, bool odd, int64_t n);
typedef void wave_rotate(double *to, const double *from, int64_t row, const double *step, int64_t step_row, int64_t n);

/* The definitions. */
code_add add_code_c;
wave_add add_waves_c;
wave_rotate rotate_waves_c;

/* Loops over codes, by eight, which compilers make vectors of. */
static inline void code_fill(double *code, double x, int64_t n)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++)
            code[i + l] = x;
    for (; i < n; i++)
        code[i] = x;
}

static inline void code_sum(double *restrict code, const double *restrict x, int64_t n)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++)
            code[i + l] += x[i + l];
    for (; i < n; i++)
        code[i] += x[i];
}

#endif
