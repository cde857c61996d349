/* SPDX-License-Identifier: MIT
 *
 * First weights. A tensor's numbers follow from the seed and its name, so that models which differ in their encoding
 * alone start alike. */
#include "model/parts.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

uint64_t name_seed(const char *name, uint64_t seed)
{
    uint64_t h = seed ^ 0xcbf29ce484222325u; /* FNV-1a */
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * 0x100000001b3u;
    return h;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n >= k && !strcmp(text + n - k, end);
}

/* Rows keep the size of what they read; what is added to the residual stream starts smaller the more layers add to it.
 */
static double deviation(const model *m, const model_tensor *t)
{
    double s = 1 / sqrt((double)t->shape[1]);
    bool adds = ends_with(t->name, ".out") || ends_with(t->name, ".down");
    return adds ? s / sqrt(2 * (double)m->c.layers) : s;
}

void init_tensor(model *m, const model_tensor *t, uint64_t seed)
{
    real *w = m->weights + t->offset;
    uint64_t own = name_seed(t->name, seed);
    double size = t->rank > 1 ? deviation(m, t) : 0, flat = ends_with(t->name, ".bias") ? 0 : 1;
    for (int64_t n = 0; n < t->count; n++)
        w[n] = (real)(t->rank > 1 ? size * random_normal(own, (uint64_t)n) : flat);
}

/* Scores start alike whatever an encoding multiplies them by: a row with a scale of its own (T5's is 1) has its queries
 * made smaller instead, as its authors do. */
static void fit_queries(model *m)
{
    double scale = 1 / (pe_encoding_scale(m->at.e) * sqrt((double)m->c.head_dim));
    for (int64_t l = 0; fabs(scale - 1) > 1e-9 && l < m->c.layers; l++) {
        real *w = m->weights + m->layer[l].qkv.weight;
        for (int64_t i = 0; i < m->c.heads * m->c.head_dim * m->c.width; i++)
            w[i] *= (real)scale;
    }
}

void model_init(model *m, uint64_t seed)
{
    for (int i = 0; i < m->tensors; i++)
        if (!m->tensor[i].position)
            init_tensor(m, &m->tensor[i], seed);
    fit_queries(m);
    position_init(m, seed);
}
