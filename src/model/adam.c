/* SPDX-License-Identifier: MIT
 *
 * AdamW (Loshchilov and Hutter 2017), with gradients clipped by their length. */
#include "model/lanes.h"
#include "model/parts.h"

#include "io/io.h"

#include <stdlib.h>

#define SLAB 65536 /* weights of a piece; part of the definition */
#define SLABS(count) (((count) + SLAB - 1) / SLAB)

pe_status adam_new(adam *out, const model *m, pe_error *err)
{
    *out = (adam){ .count = m->count };
    out->first = calloc((size_t)m->count, sizeof(real));
    out->second = calloc((size_t)m->count, sizeof(real));
    out->sums = calloc((size_t)SLABS(m->count), sizeof(double));
    if (out->first && out->second && out->sums)
        return PE_OK;
    adam_free(out);
    return io_fail(err, PE_ERR_NOMEM, "no memory for the moments of %lld weights", (long long)m->count);
}

void adam_free(adam *a)
{
    free(a->first);
    free(a->second);
    free(a->sums);
    *a = (adam){ 0 };
}

/* One tensor's part of a step: moment of the gradient g, of g^2, and the weight. */
typedef struct update {
    real beta1, beta2, clip, rate, eps, decay, right1, right2;
} update;

static MODEL_LOOP void move(real *w, real *first, real *second, const real *grad, int64_t count, update u)
{
    for (int64_t i = 0; i < count; i++) {
        real g = grad[i] * u.clip;
        first[i] = u.beta1 * first[i] + (1 - u.beta1) * g;
        second[i] = u.beta2 * second[i] + (1 - u.beta2) * (g * g);
        real root = (real)sqrt((double)(second[i] * u.right2));
        w[i] -= u.rate * (first[i] * u.right1 / (root + u.eps) + u.decay * w[i]);
    }
}

static void keep_within(real *w, const model_tensor *t)
{
    for (int64_t i = 0; i < t->count; i++)
        w[i] = w[i] < (real)t->min ? (real)t->min : w[i] > (real)t->max ? (real)t->max : w[i];
}

typedef struct step {
    adam *a;
    model *m;
    double *sums; /* (slabs) */
    update u;
} step;

static void square_slab(void *arg, piece p)
{
    const step *s = arg;
    int64_t first = p.first * SLAB, left = s->m->count - first;
    const real *g = s->m->grads + first;
    double sum = 0;
    for (int64_t i = 0, n = left < SLAB ? left : SLAB; i < n; i += 1024)
        sum += (double)lanes_dot(g + i, g + i, n - i < 1024 ? n - i : 1024);
    s->sums[p.first] = sum;
}

static void move_tensor(void *arg, piece p)
{
    const step *s = arg;
    const model_tensor *t = &s->m->tensor[p.first];
    update u = s->u;
    u.rate *= (real)t->rate;
    u.decay *= (real)t->decay;
    move(s->m->weights + t->offset, s->a->first + t->offset, s->a->second + t->offset, s->m->grads + t->offset,
         t->count, u);
    if (isfinite(t->min) || isfinite(t->max))
        keep_within(s->m->weights + t->offset, t);
}

static double gradient_length(step *s)
{
    double sum = 0;
    run_each(s->m, square_slab, s, SLABS(s->m->count));
    for (int64_t i = 0; i < SLABS(s->m->count); i++)
        sum += s->sums[i];
    return sqrt(sum);
}

double adam_step(adam *a, model *m, const adam_rates *r)
{
    step s = { .a = a, .m = m, .sums = a->sums };
    double length = gradient_length(&s);
    if (!isfinite(length))
        return length;
    a->step++;
    s.u = (update){ .beta1 = (real)r->beta1,
                    .beta2 = (real)r->beta2,
                    .clip = (real)(r->clip > 0 && length > r->clip ? r->clip / length : 1),
                    .rate = (real)r->rate,
                    .eps = (real)r->eps,
                    .decay = (real)r->decay,
                    .right1 = (real)(1 / (1 - pow(r->beta1, (double)a->step))),
                    .right2 = (real)(1 / (1 - pow(r->beta2, (double)a->step))) };
    run_each(m, move_tensor, &s, m->tensors);
    return length;
}

double adam_rate_at(double peak, int64_t step_at, int64_t steps, int64_t warmup)
{
    const double pi = 3.14159265358979323846;
    if (step_at < warmup)
        return peak * (double)(step_at + 1) / (double)warmup;
    double part = steps > warmup + 1 ? (double)(step_at - warmup) / (double)(steps - 1 - warmup) : 1;
    return peak * (0.1 + 0.45 * (1 + cos(pi * (part < 1 ? part : 1))));
}
