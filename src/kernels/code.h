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
typedef void wave_turn(double *to, const double *from, int64_t row, const double *step, int64_t step_row, int64_t n);

/* The definitions. */
code_add add_code_c;
wave_add add_waves_c;
wave_turn turn_waves_c;

#endif
