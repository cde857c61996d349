/* SPDX-License-Identifier: MIT
 *
 * Loops over rows: norms, activations, the loss, each with its gradient. */
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

MODEL_LOOP void swiglu_forward(real *act, const real *up, int64_t rows, int64_t hidden)
{
    for (int64_t i = 0; i < rows; i++, act += hidden, up += 2 * hidden)
        for (int64_t j = 0; j < hidden; j++)
            act[j] = up[j] / (1 + lanes_exp(-up[j])) * up[hidden + j];
}

/* silu(g) = g s, s = sigmoid(g);  silu'(g) = s (1 + g (1 - s)). */
MODEL_LOOP void swiglu_backward(real *dup, const real *dact, const real *up, int64_t rows, int64_t hidden)
{
    for (int64_t i = 0; i < rows; i++, dact += hidden, up += 2 * hidden, dup += 2 * hidden)
        for (int64_t j = 0; j < hidden; j++) {
            real g = up[j], s = 1 / (1 + lanes_exp(-g));
            dup[j] = dact[j] * up[hidden + j] * (s * (1 + g * (1 - s)));
            dup[hidden + j] = dact[j] * (g * s);
        }
}

void gelu_forward(real *act, const real *up, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        double x = up[i];
        act[i] = (real)(0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)))); /* sqrt(2/pi) */
    }
}

/* logits[j] - most, and the sum of their exponentials. */
static MODEL_LOOP real soften(real *logits, int64_t vocab)
{
    real most = lanes_max(logits, vocab), lane[LANES] = { 0 }, sum = 0;
    int64_t j = 0;
    for (int64_t i = 0; i < vocab; i++)
        logits[i] -= most;
    for (; j + LANES <= vocab; j += LANES)
        for (int n = 0; n < LANES; n++)
            lane[n] += lanes_exp(logits[j + n]);
    for (; j < vocab; j++)
        lane[0] += lanes_exp(logits[j]);
    for (int n = 0; n < LANES; n++)
        sum += lane[n];
    return sum;
}

real loss_row(real *logits, int64_t vocab, int32_t target, uint8_t *right)
{
    real total = (real)log((double)soften(logits, vocab));
    if (right)
        *right = logits[target] == 0; /* the largest, less itself */
    return total - logits[target];
}

/* After loss_row: softmax_j = e^(l_j - total), and total = loss + l_target. */
MODEL_LOOP void loss_slope(real *logits, int64_t vocab, int32_t target, real loss_of_target, real share)
{
    real total = loss_of_target + logits[target];
    for (int64_t j = 0; j < vocab; j++)
        logits[j] = lanes_exp(logits[j] - total) * share;
    logits[target] -= share;
}
