/* SPDX-License-Identifier: MIT */
#include "kernels/exact.h"

#include "kernels/rotate.h"

void rotate_f32_c(float *y, const float *x, const lane *to, const lane *from, const float *c, const float *s,
                  int64_t pairs, const int64_t *rest, int64_t rests, float gain)
{
    for (int64_t p = 0; p < pairs; p++) {
        float a = x[from[p].x], b = x[from[p].y];
        y[to[p].x] = a * c[p] - b * s[p];
        y[to[p].y] = a * s[p] + b * c[p];
    }
    for (int64_t r = 0; r < rests; r++)
        y[rest[r]] = x[rest[r]] * gain;
}

void rotate_f64_c(double *y, const double *x, const lane *to, const lane *from, const double *c, const double *s,
                  int64_t pairs, const int64_t *rest, int64_t rests, double gain)
{
    for (int64_t p = 0; p < pairs; p++) {
        double a = x[from[p].x], b = x[from[p].y];
        y[to[p].x] = a * c[p] - b * s[p];
        y[to[p].y] = a * s[p] + b * c[p];
    }
    for (int64_t r = 0; r < rests; r++)
        y[rest[r]] = x[rest[r]] * gain;
}
