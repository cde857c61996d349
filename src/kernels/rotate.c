/* SPDX-License-Identifier: MIT */
#include "base/exact.h"

#include "base/num.h"
#include "kernels/kernels.h"

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

/* ------------------------------------------------ runs: the definition */

static inline void rows_of(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows, const pair_run *r,
                           const float *c, const float *s, int64_t table_stride, pe_dtype type)
{
    for (int64_t n = 0; n < rows; n++)
        for (int64_t i = 0; i < r->count; i++) {
            int64_t from = n * x_stride + i * r->from_step, to = n * y_stride + i * r->to_step;
            float a = (float)num_load(x, type, from + r->from.x), b = (float)num_load(x, type, from + r->from.y);
            float cosine = c[n * table_stride + r->first + i], sine = s[n * table_stride + r->first + i];
            num_store(y, type, to + r->to.x, a * cosine - b * sine);
            num_store(y, type, to + r->to.y, a * sine + b * cosine);
        }
}

static void f32_c(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows, const pair_run *r,
                  const float *c, const float *s, int64_t table_stride)
{
    rows_of(y, y_stride, x, x_stride, rows, r, c, s, table_stride, PE_F32);
}

static void f16_c(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows, const pair_run *r,
                  const float *c, const float *s, int64_t table_stride)
{
    rows_of(y, y_stride, x, x_stride, rows, r, c, s, table_stride, PE_F16);
}

static void bf16_c(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows, const pair_run *r,
                   const float *c, const float *s, int64_t table_stride)
{
    rows_of(y, y_stride, x, x_stride, rows, r, c, s, table_stride, PE_BF16);
}

void rotate_c(kernels *k)
{
    k->rotate[PE_F32] = f32_c;
    k->rotate[PE_F16] = f16_c;
    k->rotate[PE_BF16] = bf16_c;
}
