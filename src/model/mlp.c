/* SPDX-License-Identifier: MIT */
#include "model/lanes.h"
#include "model/parts.h"

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
