/* SPDX-License-Identifier: MIT
 *
 * Without an encoding nothing notices that words changed places: outputs, what is pooled from them, cross-attention. */
#include "prove/order.h"

#include <math.h>
#include <stdlib.h>

#define OTHERS 3 /* words of a second text that looks at the first */

/* Between A' and P A P'. */
static double weight_difference(const order_looked *k)
{
    double most = 0;
    int64_t T = k->l.count;
    for (int64_t i = 0; i < T; i++)
        for (int64_t h = 0; h < k->H; h++)
            for (int64_t j = 0; j < T; j++)
                most = fmax(most, fabs(k->weights[1][(i * k->H + h) * T + j] -
                                       k->weights[0][(k->l.order[i] * k->H + h) * T + k->l.order[j]]));
    return most;
}

static void say_blind(prove_finding *out, double most)
{
    if (most < MEASURE_ROUNDING)
        prove_say(out, PROVE_HOLDS, (words){ "Nothing but rounding changes.", "变化只有舍入误差。" });
    else
        prove_say(out, PROVE_REFUTED,
                  (words){ "With this encoding the order of the words changes the result.",
                           "用了这种编码，词序会改变结果。" });
}

static pe_status blind_of(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    prove_finding *out = with;
    order_looked k;
    pe_status status = order_looked_new(&k, spec, g, false, err);
    if (!status) {
        prove_add(out, order_difference_words, spec, order_difference(&k), "");
        prove_add(out, (words){ "largest element of A' - P A P^T", "A' - P A P^T 的最大元素" }, spec,
                  weight_difference(&k), "");
    }
    order_looked_free(&k);
    return status;
}

pe_status order_blind(prove_finding *out, const prove_given *g, pe_error *err)
{
    PROVE_TRY(measure_each_row(blind_of, out, g, err));
    say_blind(out, order_largest(out));
    return PE_OK;
}

/* ---------------------------------------------------------------- pooled */

enum { POOL_SUM, POOL_MEAN, POOL_ATTENTION, POOL_COUNT };

/* pooled (C) of outputs x (T, C): sum, mean, or weighted by exp(u.x / sqrt C) with one fixed query u. */
static void pool(double *pooled, const double *x, int64_t T, int64_t C, int how, uint64_t seed)
{
    double total = 0;
    for (int64_t c = 0; c < C; c++)
        pooled[c] = 0;
    for (int64_t t = 0; t < T; t++) {
        uint64_t state = seed + 7;
        double score = 0;
        for (int64_t c = 0; c < C; c++)
            score += measure_normal(&state) * x[t * C + c];
        double weight = how == POOL_ATTENTION ? exp(score / sqrt((double)C)) : 1;
        total += weight;
        for (int64_t c = 0; c < C; c++)
            pooled[c] += weight * x[t * C + c];
    }
    for (int64_t c = 0; how != POOL_SUM && c < C; c++)
        pooled[c] /= total;
}

static pe_status pooled_of(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    static const words what[POOL_COUNT] = { { "change of the sum", "求和池化的变化" },
                                            { "change of the mean", "平均池化的变化" },
                                            { "change of attention pooling", "注意力池化的变化" } };
    order_looked k;
    pe_status status = order_looked_new(&k, spec, g, false, err);
    double *pooled = status ? NULL : measure_memory(2, k.C, err);
    status = !status && !pooled ? PE_ERR_NOMEM : status;
    for (int how = 0; !status && how < POOL_COUNT; how++) {
        for (int n = 0; n < 2; n++)
            pool(pooled + n * k.C, k.out[n], k.l.count, k.C, how, g->seed);
        prove_add(with, what[how], spec, measure_difference(pooled, pooled + k.C, k.C), "");
    }
    free(pooled);
    order_looked_free(&k);
    return status;
}

pe_status order_pooled(prove_finding *out, const prove_given *g, pe_error *err)
{
    PROVE_TRY(measure_each_row(pooled_of, out, g, err));
    say_blind(out, order_largest(out));
    return PE_OK;
}

/* ---------------------------------------------------------------- cross-attention */

static pe_status cross_of(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    static const int64_t other[OTHERS] = { 900, 901, 902 };
    scene_text q = { other, NULL, OTHERS };
    order_line l;
    scene s = { 0 };
    int64_t C = g->heads * g->head_dim;
    PROVE_TRY(order_line_make(&l, g, false, err));
    double *out = measure_memory(2 * OTHERS, C, err);
    pe_status status = out ? scene_open(&s, spec, g, err) : PE_ERR_NOMEM;
    status = status ? status : scene_attend(out, NULL, &s, q, (scene_text){ l.word, NULL, l.count }, err);
    status = status ? status : scene_attend(out + OTHERS * C, NULL, &s, q, (scene_text){ l.moved, NULL, l.count }, err);
    if (!status)
        prove_add(with, order_difference_words, spec, measure_difference(out, out + OTHERS * C, OTHERS * C), "");
    scene_close(&s);
    free(out);
    return status;
}

pe_status order_cross(prove_finding *out, const prove_given *g, pe_error *err)
{
    PROVE_TRY(measure_each_row(cross_of, out, g, err));
    say_blind(out, order_largest(out));
    return PE_OK;
}
