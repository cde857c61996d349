/* SPDX-License-Identifier: MIT */
#include "model/lanes.h"
#include "model/parts.h"

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
