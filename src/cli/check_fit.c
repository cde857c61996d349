/* SPDX-License-Identifier: MIT
 *
 * How well what a suspect foretells fits what is seen. */
#include "cli/check.h"

#include "base/num.h"

#include <stdlib.h>
#include <math.h>

#define SPREAD 64 /* tokens of a sample */
#define SPREAD_HEADS 4
#define TIES 200 /* of so many roundings one may fall the other way */

int64_t check_position(const check_data *d, int64_t token, int64_t axis)
{
    return io_position(d->at, token % d->length, axis);
}

/* The first element of a vector. */
static int64_t vector_at(const check_data *d, int64_t token, int64_t head)
{
    int64_t sequence = token / d->length;
    if (!d->heads_first)
        return (token * d->heads + head) * d->width;
    return ((sequence * d->heads + head) * d->length + token % d->length) * d->width;
}

double check_before(const check_data *d, int64_t token, int64_t head, int64_t e)
{
    return num_load(d->data[0], d->type[0], vector_at(d, token, head) + e);
}

int64_t check_row(const check_data *d)
{
    return d->tables ? 2 * d->width : d->width;
}

double check_seen(const check_data *d, int64_t token, int64_t head, int64_t e)
{
    if (!d->tables)
        return num_load(d->data[1], d->type[1], vector_at(d, token, head) + e);
    int which = e >= d->width;
    return num_load(d->data[which], d->type[which], token * d->width + e - (which ? d->width : 0));
}

static bool is_further(const check_data *d, int64_t a, int64_t b)
{
    return llabs(check_position(d, a, 0)) > llabs(check_position(d, b, 0));
}

check_sample check_spread(const check_data *d)
{
    check_sample s = { .heads = d->heads < SPREAD_HEADS ? d->heads : SPREAD_HEADS };
    int64_t furthest = 0;
    for (int64_t t = 1; t < d->length; t++)
        furthest = is_further(d, t, furthest) ? t : furthest;
    for (int64_t i = 0; i < SPREAD && i < d->tokens; i++)
        s.token[s.tokens++] = d->tokens <= SPREAD ? i : (int64_t)((double)i * (double)(d->tokens - 1) / (SPREAD - 1));
    /* neighbours near the start tell base and offset apart where the rest has turned many times */
    for (int64_t t = 1; t <= 8 && t < d->tokens; t++)
        s.token[s.tokens++] = t;
    s.token[s.tokens++] = furthest;
    return s;
}

typedef struct sums {
    double square, relative; /* of errors, and of errors over their tolerance */
} sums;

static void note(check_fit *f, check_spot at, sums *sum)
{
    /* written so that a NaN is out of tolerance */
    if (!(at.error <= f->worst.error) || !f->count)
        f->worst = at;
    if (!(at.error <= at.tolerance) && !f->out++)
        f->first = at;
    sum->square += at.error * at.error;
    sum->relative += at.error * at.error / (at.tolerance * at.tolerance);
    f->count++;
}

static bool measure_token(check_fit *f, const suspect *s, const check_data *d, int64_t token, int64_t heads, sums *sum)
{
    check_turns turns;
    double expected[CHECK_ROW_MAX], tolerance[CHECK_ROW_MAX];
    if (!suspect_turns(s, d, token, &turns))
        return false;
    for (int64_t h = 0; h < heads; h++) {
        suspect_foretell(s, d, &turns, token, h, expected, tolerance);
        for (int64_t e = 0; e < check_row(d); e++) {
            double got = check_seen(d, token, h, e);
            note(f, (check_spot){ token, h, e, got, expected[e], fabs(got - expected[e]), tolerance[e] }, sum);
        }
    }
    return true;
}

static bool may_tie(const suspect *s)
{
    return s->rounds != 0;
}

check_fit check_measure(const suspect *s, const check_data *d, const check_sample *sample)
{
    check_fit f = { 0 };
    sums sum = { 0 };
    int64_t tokens = sample ? sample->tokens : d->tokens, heads = sample ? sample->heads : d->heads;
    int64_t most = may_tie(s) ? tokens * heads * check_row(d) / TIES : 0;
    bool served = true;
    for (int64_t i = 0; i < tokens && served && (!sample || f.out <= most); i++)
        served = measure_token(&f, s, d, sample ? sample->token[i] : i, heads, &sum);
    f.rms = f.count && served ? sqrt(sum.relative / (double)f.count) : INFINITY;
    f.size = f.count && served ? sqrt(sum.square / (double)f.count) : INFINITY;
    f.fits = served && f.out <= most;
    return f;
}
