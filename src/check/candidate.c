/* SPDX-License-Identifier: MIT
 *
 * A candidate: an edited spec with ways to use it wrongly; the values it predicts for a token; how well they fit. */
#include "check/inside.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDINGS 6 /* of cos, sin, two products, a sum, the vector itself: each half a unit in the last place */
#define FLOAT_UNIT 0x1p-24
#define FLOAT_STEPS 8   /* roundings of an angle in float32: power, scaling, product */
#define SLACK_MOST 0.05 /* radians; beyond, float32 tells nothing */

void candidate_start(candidate *c, const check_data *d)
{
    *c = (candidate){ .d = d, .reach = INFINITY };
    for (int a = 0; a < PE_AXES_MAX; a++)
        c->axis[a] = a;
    size_t size = strlen(d->spec) + 1;
    c->spec = malloc(size);
    c->failed = !c->spec;
    if (c->spec)
        memcpy(c->spec, d->spec, size);
}

void candidate_set(candidate *c, const char *key, const char *value)
{
    c->failed = c->failed || !zoo_spec_put(&c->spec, key, value);
}

void candidate_set_number(candidate *c, const char *key, double value)
{
    c->failed = c->failed || !zoo_spec_put_real(&c->spec, key, value);
}

void candidate_say(candidate *c, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(c->what[c->bugs], sizeof c->what[0], format, list);
    va_end(list);
}

void candidate_free(candidate *c)
{
    if (!c->shares) {
        pe_encoding_free(c->e);
        free(c->pair);
    }
    free(c->spec);
    free(c->start);
    *c = (candidate){ 0 };
}

/* Tables are as wide as there are pairs, or as elements that are rotated. */
static bool suits(const candidate *c, const check_data *d)
{
    return pe_encoding_axes(c->e) == d->at.axes && (!d->tables || d->width == c->pairs || d->width == 2 * c->pairs);
}

bool candidate_make(candidate *c, const check_data *d)
{
    /* Most of the time goes into making encodings; half of the candidates have the spec's. */
    c->shares = !c->failed && d->made && !strcmp(c->spec, d->spec);
    if (c->shares) {
        c->e = d->made->e;
        c->pair = d->made->pair;
        c->pairs = d->made->pairs;
        c->first = d->made->first;
        return suits(c, d);
    }
    pe_status status = c->failed ? PE_ERR_NOMEM : pe_encoding_new(&c->e, c->spec, d->shape, NULL);
    c->failed = status == PE_ERR_NOMEM;
    if (status)
        return false;
    c->pairs = pe_encoding_pair_count(c->e);
    c->pair = malloc((size_t)c->pairs * sizeof *c->pair + 1);
    c->failed = !c->pair;
    if (c->failed || pe_encoding_pairs(c->e, c->pair, c->pairs, NULL))
        return false;
    c->first = c->pairs ? c->pair[0].x : 0; /* the first pair begins with the first element, whatever the layout */
    return suits(c, d);
}

/* ------------------------------------------------ angles */

static void find_positions(const candidate *c, const check_data *d, int64_t token, int64_t head,
                           int64_t at[PE_AXES_MAX])
{
    for (int64_t a = 0; a < d->at.axes; a++) {
        int64_t given = data_position(d, token, c->axis[a]), steps = 0;
        switch (c->positions) {
        case POSITIONS_GIVEN: steps = given; break;
        case POSITIONS_INDEX: steps = token % d->length; break;
        case POSITIONS_ZERO: break;
        case POSITIONS_HEAD: steps = head; break;
        case POSITIONS_RESTART: steps = given - data_position(d, c->start[token], c->axis[a]); break;
        case POSITIONS_RUN_ON: steps = given + token / d->length * d->length; break;
        }
        at[a] = c->shift + steps;
    }
}

static double rounded(const candidate *c, unsigned what, double x)
{
    return c->rounds & what ? data_rounded(x, c->as) : x;
}

/* The exact rotation again, its angle formed with roundings. Its length is the magnitude. */
static void round_rotation(rotation *r, const candidate *c, const int64_t *at, int64_t n)
{
    const pe_pair *p = &c->pair[n];
    double m = hypot(r->c[n], r->s[n]), angle = atan2(r->s[n], r->c[n]);
    if (c->rounds & ~ROUND_TABLE) {
        double position = rounded(c, ROUND_POSITION, (double)at[p->axis]);
        angle = rounded(c, ROUND_ANGLE, position * rounded(c, ROUND_FREQUENCY, p->frequency) + p->phase);
    }
    r->c[n] = rounded(c, ROUND_TABLE, m * cos(angle));
    r->s[n] = rounded(c, ROUND_TABLE, m * sin(angle));
}

static void rotate_again(rotation *r, int64_t n)
{
    double c = r->c[n] * r->c[n] - r->s[n] * r->s[n], s = 2 * r->c[n] * r->s[n];
    r->c[n] = c;
    r->s[n] = s;
}

static void invert(rotation *r, int64_t n)
{
    double square = r->c[n] * r->c[n] + r->s[n] * r->s[n];
    r->c[n] /= square;
    r->s[n] /= -square;
}

/* Tables that are right, and then taken for one another, or multiplied in part. */
static void misuse_tables(rotation *r, const candidate *c)
{
    double m = c->factor_on ? pe_encoding_magnitude(c->e) : 1;
    for (int64_t n = 0; n < c->pairs; n++) {
        double x = c->factor_on == 2 ? r->c[n] / m : r->c[n], y = c->factor_on == 1 ? r->s[n] / m : r->s[n];
        r->c[n] = c->swapped ? y : x;
        r->s[n] = c->swapped ? x : y;
    }
}

/* What float32 may do to an angle, in radians. ggml multiplies once more for every pair. */
static double float_error(const candidate *c, const int64_t *at, int64_t n)
{
    double angle = fmin(fabs((double)at[c->pair[n].axis]), c->reach) * fabs(c->pair[n].frequency);
    return fmin(angle * FLOAT_UNIT * (double)(FLOAT_STEPS + n), SLACK_MOST);
}

pe_status candidate_rotation(rotation *r, const candidate *c, const check_data *d, int64_t token, int64_t head,
                             pe_error *err)
{
    int64_t at[PE_AXES_MAX];
    pe_side side = c->other_side ? (d->side == PE_KEY ? PE_QUERY : PE_KEY) : d->side;
    find_positions(c, d, token, head, at);
    TRY(pe_rotate_table(c->e, side, pe_view_of(r->c, PE_F64, 1, 1, 1, c->pairs),
                        pe_view_of(r->s, PE_F64, 1, 1, 1, c->pairs), pe_positions_of(at, PE_I64, 1, 1, d->at.axes),
                        NULL, err));
    r->gain = c->unrotated ? 1 : pe_encoding_gain(c->e, side, at[0]);
    for (int64_t n = 0; n < c->pairs; n++) {
        r->slack[n] = float_error(c, at, n);
        if (c->rounds)
            round_rotation(r, c, at, n);
        if (c->twice)
            rotate_again(r, n);
        if (c->inverse)
            invert(r, n);
        if (c->unrotated) {
            r->c[n] = 1;
            r->s[n] = 0;
        }
    }
    if (c->twice)
        r->gain *= r->gain;
    if (c->inverse)
        r->gain = 1 / r->gain;
    misuse_tables(r, c);
    return PE_OK;
}

/* ------------------------------------------------ values */

/* The pair whose cos and sin an element gets: its own, unless tables are tiled for the other layout. */
static int64_t tile_of(const candidate *c, int64_t element, int64_t own)
{
    if (!c->mixed)
        return own;
    bool adjacent = c->pairs && c->pair[0].y_out == c->pair[0].x_out + 1;
    return adjacent ? (element - c->first) % c->pairs : (element - c->first) / 2;
}

static void predict_vector(const candidate *c, const check_data *d, const rotation *r, const double *x,
                           double *expected, double *tolerance)
{
    for (int64_t e = 0; e < d->width; e++) {
        expected[e] = x[e] * r->gain;
        tolerance[e] = ROUNDINGS * d->unit * fabs(expected[e]);
    }
    for (int64_t n = 0; n < c->pairs && !c->unrotated; n++) {
        const pe_pair *p = &c->pair[n];
        int64_t in[2] = { p->x, p->y }, to[2] = { p->x_out, p->y_out };
        if (c->inverse) {
            memcpy(in, to, sizeof in);
            to[0] = p->x;
            to[1] = p->y;
        }
        int64_t i = tile_of(c, to[0], n), k = tile_of(c, to[1], n);
        double a = x[in[0]], b = x[in[1]], length = hypot(a, b) * hypot(r->c[n], r->s[n]);
        expected[to[0]] = a * r->c[i] - b * r->s[i];
        expected[to[1]] = a * r->s[k] + b * r->c[k];
        tolerance[to[0]] = tolerance[to[1]] = length * (ROUNDINGS * d->unit + r->slack[n]);
    }
}

static void predict_tables(const candidate *c, const check_data *d, const rotation *r, double *expected,
                           double *tolerance)
{
    bool full = d->width != c->pairs;
    for (int64_t n = 0; n < c->pairs; n++) {
        int64_t at[2] = { full ? c->pair[n].x_out - c->first : n, full ? c->pair[n].y_out - c->first : n };
        for (int k = 0; k < 2; k++) {
            expected[at[k]] = r->c[n];
            expected[d->width + at[k]] = r->s[n];
            tolerance[at[k]] = tolerance[d->width + at[k]] =
                hypot(r->c[n], r->s[n]) * (ROUNDINGS * d->unit + r->slack[n]);
        }
    }
}

/* Head g * R + r of G groups of R heads, taken for r * G + g. */
static int64_t head_of(const candidate *c, const check_data *d, int64_t head)
{
    int64_t size = c->groups ? d->heads / c->groups : 0;
    return c->groups ? head % size * c->groups + head / size : head;
}

/* The values that should be observed, and how far off each may be. */
static void predict(const candidate *c, const check_data *d, const rotation *r, int64_t token, int64_t head,
                    double *expected, double *tolerance)
{
    double x[PE_HEAD_DIM_MAX];
    /* float16 ends at 2^-24: numbers near it have no relative precision. */
    double least = d->type[0] == PE_F16 || d->type[1] == PE_F16 || d->precision == PE_F16 ? 0x1p-23 : 0x1p-126;
    if (d->tables)
        predict_tables(c, d, r, expected, tolerance);
    else {
        for (int64_t e = 0; e < d->width; e++)
            x[e] = data_before(d, token, head_of(c, d, head), e);
        predict_vector(c, d, r, x, expected, tolerance);
    }
    for (int64_t e = 0; e < data_row(d); e++)
        tolerance[e] += least;
}

/* ------------------------------------------------ fits */

#define SPREAD 64 /* tokens of a sample */
#define SPREAD_HEADS 4
#define TIES 200 /* of so many roundings one may fall the other way */

check_sample check_sample_of(const check_data *d)
{
    check_sample s = { .heads = d->heads < SPREAD_HEADS ? d->heads : SPREAD_HEADS };
    int64_t furthest = 0;
    for (int64_t t = 1; t < d->length; t++)
        if (llabs(data_position(d, t, 0)) > llabs(data_position(d, furthest, 0)))
            furthest = t;
    for (int64_t i = 0; i < SPREAD && i < d->tokens; i++)
        s.token[s.tokens++] = d->tokens <= SPREAD ? i : (int64_t)((double)i * (double)(d->tokens - 1) / (SPREAD - 1));
    /* neighbours near the start tell base and offset apart where the rest has gone round many times */
    for (int64_t t = 1; t <= 8 && t < d->tokens; t++)
        s.token[s.tokens++] = t;
    s.token[s.tokens++] = furthest;
    return s;
}

typedef struct error_sums {
    double square, relative; /* of errors, and of errors over their tolerance */
} error_sums;

static void fit_add(check_fit *f, const check_value *v, error_sums *sum)
{
    /* written so that a NaN is out of tolerance */
    if (!(v->error <= f->worst.error) || !f->count)
        f->worst = *v;
    if (!(v->error <= v->tolerance) && !f->out++)
        f->first = *v;
    sum->square += v->error * v->error;
    sum->relative += v->error * v->error / (v->tolerance * v->tolerance);
    f->count++;
}

static bool fit_token(check_fit *f, const candidate *c, const check_data *d, int64_t token, int64_t heads,
                      error_sums *sum)
{
    rotation r;
    double expected[CHECK_ROW_MAX], tolerance[CHECK_ROW_MAX];
    check_value v = { .token = token };
    if (candidate_rotation(&r, c, d, token, 0, NULL))
        return false;
    for (v.head = 0; v.head < heads; v.head++) {
        if (v.head && c->positions == POSITIONS_HEAD && candidate_rotation(&r, c, d, token, v.head, NULL))
            return false;
        predict(c, d, &r, token, v.head, expected, tolerance);
        for (v.element = 0; v.element < data_row(d); v.element++) {
            v.got = data_observed(d, token, v.head, v.element);
            v.expected = expected[v.element];
            v.error = fabs(v.got - v.expected);
            v.tolerance = tolerance[v.element];
            fit_add(f, &v, sum);
        }
    }
    return true;
}

check_fit candidate_fit(const candidate *c, const check_data *d, const check_sample *sample)
{
    check_fit f = { 0 };
    error_sums sum = { 0 };
    int64_t tokens = sample ? sample->tokens : d->tokens, heads = sample ? sample->heads : d->heads;
    int64_t most = c->rounds ? tokens * heads * data_row(d) / TIES : 0;
    bool served = true;
    for (int64_t i = 0; i < tokens && served && (!sample || f.out <= most); i++)
        served = fit_token(&f, c, d, sample ? sample->token[i] : i, heads, &sum);
    f.rms = f.count && served ? sqrt(sum.relative / (double)f.count) : INFINITY;
    f.size = f.count && served ? sqrt(sum.square / (double)f.count) : INFINITY;
    f.fits = served && f.out <= most;
    return f;
}
