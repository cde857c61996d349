/* SPDX-License-Identifier: MIT */
#include "model/lanes.h"
#include "model/parts.h"

MODEL_LOOP void rms_forward(real *y, real *size, const real *x, const real *w, int64_t rows, int64_t width, double eps)
{
    for (int64_t i = 0; i < rows; i++, x += width, y += width) {
        real s = (real)(1 / sqrt((double)lanes_dot(x, x, width) / (double)width + eps));
        size[i] = s;
        for (int64_t j = 0; j < width; j++)
            y[j] = x[j] * s * w[j];
    }
}

/* y = x s w, s = (mean x^2 + eps)^-1/2:  dx = s (w dy) - x s^3 / C * sum(x w dy),  dw = sum of dy x s. */
MODEL_LOOP void rms_backward(real *dx, real *dw, const real *add, const real *dy, const real *x, const real *size,
                             const real *w, int64_t rows, int64_t width)
{
    memset(dw, 0, (size_t)width * sizeof *dw);
    for (int64_t i = 0; i < rows; i++, dx += width, add += width, dy += width, x += width) {
        real s = size[i], lane[LANES] = { 0 }, sum = 0;
        int64_t j = 0;
        for (; j + LANES <= width; j += LANES)
            for (int n = 0; n < LANES; n++)
                lane[n] += x[j + n] * w[j + n] * dy[j + n];
        for (; j < width; j++)
            lane[0] += x[j] * w[j] * dy[j];
        for (int n = 0; n < LANES; n++)
            sum += lane[n];
        real pull = sum * s * s * s / (real)width;
        for (j = 0; j < width; j++) {
            dw[j] += dy[j] * x[j] * s;
            dx[j] = add[j] + (s * w[j] * dy[j] - x[j] * pull);
        }
    }
}

MODEL_LOOP void layer_forward(real *y, const real *x, const real *w, const real *b, int64_t rows, int64_t width,
                              double eps)
{
    for (int64_t i = 0; i < rows; i++, x += width, y += width) {
        real mean = lanes_sum(x, width) / (real)width;
        for (int64_t j = 0; j < width; j++)
            y[j] = x[j] - mean;
        real s = (real)(1 / sqrt((double)lanes_dot(y, y, width) / (double)width + eps));
        for (int64_t j = 0; j < width; j++)
            y[j] = y[j] * s * w[j] + b[j];
    }
}
