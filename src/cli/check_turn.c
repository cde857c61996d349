/* SPDX-License-Identifier: MIT
 *
 * A suspect: an edited spec, and what it foretells for a token. */
#include "cli/check.h"

#include "base/num.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDINGS 6 /* of cos, sin, two products, a sum, the vector itself: each half a unit in the last place */
#define FLOAT_UNIT 0x1p-24
#define FLOAT_STEPS 8   /* roundings of an angle in float32: power, scaling, product */
#define SLACK_MOST 0.05 /* radians; beyond, float32 tells nothing */

void suspect_start(suspect *s, const check_data *d)
{
    *s = (suspect){ .reach = INFINITY };
    for (int a = 0; a < PE_AXES_MAX; a++)
        s->axis[a] = a;
    size_t size = strlen(d->part) + 1;
    s->spec = malloc(size);
    s->failed = !s->spec;
    if (s->spec)
        memcpy(s->spec, d->part, size);
}

void suspect_set(suspect *s, const char *key, const char *value)
{
    s->failed = s->failed || !zoo_spec_put(&s->spec, key, value);
}

void suspect_set_number(suspect *s, const char *key, double value)
{
    s->failed = s->failed || !zoo_spec_put_real(&s->spec, key, value);
}

void suspect_say(suspect *s, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(s->what[s->bugs], sizeof s->what[0], format, list);
    va_end(list);
}

void suspect_free(suspect *s)
{
    if (!s->shares) {
        pe_encoding_free(s->e);
        free(s->pair);
    }
    free(s->spec);
    *s = (suspect){ 0 };
}

/* Tables are as wide as there are pairs, or as elements that turn. */
static bool suits(const suspect *s, const check_data *d)
{
    return pe_encoding_axes(s->e) == d->at.axes && (!d->tables || d->width == s->pairs || d->width == 2 * s->pairs);
}

/* Most of the time goes into making encodings; half of the suspects differ from the spec in other things. */
static void share(suspect *s, const suspect *spec)
{
    s->e = spec->e;
    s->pair = spec->pair;
    s->pairs = spec->pairs;
    s->first = spec->first;
    s->shares = true;
}

bool suspect_make(suspect *s, const check_data *d)
{
    if (!s->failed && d->spec && !strcmp(s->spec, d->part)) {
        share(s, d->spec);
        return suits(s, d);
    }
    if (s->failed || pe_encoding_new(&s->e, s->spec, d->shape, NULL))
        return false;
    s->pairs = pe_encoding_pair_count(s->e);
    s->pair = malloc((size_t)s->pairs * sizeof *s->pair + 1);
    s->failed = !s->pair;
    if (s->failed || pe_encoding_pairs(s->e, s->pair, s->pairs, NULL))
        return false;
    s->first = s->pairs ? s->pair[0].x : 0; /* the first pair begins with the first element, whatever the layout */
    return suits(s, d);
}

/* ------------------------------------------------ angles */

static void positions(const suspect *s, const check_data *d, int64_t token, int64_t at[PE_AXES_MAX])
{
    for (int64_t a = 0; a < d->at.axes; a++) {
        int64_t given = check_position(d, token, s->axis[a]);
        at[a] = s->shift + (s->walk == WALK_GIVEN ? given : s->walk == WALK_INDEX ? token % d->length : 0);
    }
}

static double rounded(const suspect *s, unsigned what, double x)
{
    double wide;
    if (!(s->rounds & what))
        return x;
    if (s->as == PE_F16)
        wide = num_from_f16(num_to_f16(x));
    else
        wide = num_from_bf16(num_to_bf16(x));
    return wide;
}

/* The exact turn again, its angle formed with roundings. Its length is the magnitude. */
static void round_turn(const suspect *s, const int64_t *at, int64_t n, double *c, double *sine)
{
    const pe_pair *p = &s->pair[n];
    double m = hypot(*c, *sine), angle = atan2(*sine, *c);
    if (s->rounds & ~ROUND_TABLE)
        angle = rounded(s, ROUND_ANGLE,
                        rounded(s, ROUND_POSITION, (double)at[p->axis]) * rounded(s, ROUND_FREQUENCY, p->frequency) +
                            p->phase);
    *c = rounded(s, ROUND_TABLE, m * cos(angle));
    *sine = rounded(s, ROUND_TABLE, m * sin(angle));
}

static void invert(check_turns *t, int64_t n)
{
    double square = t->c[n] * t->c[n] + t->s[n] * t->s[n];
    t->c[n] /= square;
    t->s[n] /= -square;
}

/* Tables that are right, and then taken for one another, or multiplied in part. */
static void misuse(const suspect *s, check_turns *t)
{
    double m = s->factor_on ? pe_encoding_magnitude(s->e) : 1;
    for (int64_t n = 0; n < s->pairs; n++) {
        double c = s->factor_on == 2 ? t->c[n] / m : t->c[n], sine = s->factor_on == 1 ? t->s[n] / m : t->s[n];
        t->c[n] = s->swapped ? sine : c;
        t->s[n] = s->swapped ? c : sine;
    }
}

/* What float32 may do to an angle, in radians. ggml multiplies once more for every pair. */
static double float_error(const suspect *s, const int64_t *at, int64_t n)
{
    double angle = fmin(fabs((double)at[s->pair[n].axis]), s->reach) * fabs(s->pair[n].frequency);
    return fmin(angle * FLOAT_UNIT * (double)(FLOAT_STEPS + n), SLACK_MOST);
}

bool suspect_turns(const suspect *s, const check_data *d, int64_t token, check_turns *out)
{
    int64_t at[PE_AXES_MAX];
    pe_side side = s->other_side ? (d->side == PE_KEY ? PE_QUERY : PE_KEY) : d->side;
    positions(s, d, token, at);
    if (pe_rotate_table(s->e, side, pe_view_of(out->c, PE_F64, 1, 1, 1, s->pairs),
                        pe_view_of(out->s, PE_F64, 1, 1, 1, s->pairs), pe_positions_of(at, PE_I64, 1, 1, d->at.axes),
                        NULL, NULL))
        return false;
    out->gain = s->still ? 1 : pe_encoding_gain(s->e, side, at[0]);
    for (int64_t n = 0; n < s->pairs; n++) {
        out->slack[n] = float_error(s, at, n);
        if (s->rounds)
            round_turn(s, at, n, &out->c[n], &out->s[n]);
        if (s->inverse)
            invert(out, n);
        if (s->still) {
            out->c[n] = 1;
            out->s[n] = 0;
        }
    }
    if (s->inverse)
        out->gain = 1 / out->gain;
    misuse(s, out);
    return true;
}

/* ------------------------------------------------ numbers */

/* The pair whose cos and sin an element gets: its own, unless tables are tiled for the other layout. */
static int64_t tile(const suspect *s, int64_t element, int64_t own)
{
    if (!s->mixed)
        return own;
    bool adjacent = s->pairs && s->pair[0].y_out == s->pair[0].x_out + 1;
    return adjacent ? (element - s->first) % s->pairs : (element - s->first) / 2;
}

static void foretell_vector(const suspect *s, const check_data *d, const check_turns *t, const double *x,
                            double *expected, double *tolerance)
{
    for (int64_t e = 0; e < d->width; e++) {
        expected[e] = x[e] * t->gain;
        tolerance[e] = ROUNDINGS * d->unit * fabs(expected[e]);
    }
    for (int64_t n = 0; n < s->pairs && !s->still; n++) {
        const pe_pair *p = &s->pair[n];
        int64_t in[2] = { p->x, p->y }, to[2] = { p->x_out, p->y_out };
        if (s->inverse) {
            memcpy(in, to, sizeof in);
            to[0] = p->x;
            to[1] = p->y;
        }
        int64_t i = tile(s, to[0], n), k = tile(s, to[1], n);
        double a = x[in[0]], b = x[in[1]], length = hypot(a, b) * hypot(t->c[n], t->s[n]);
        expected[to[0]] = a * t->c[i] - b * t->s[i];
        expected[to[1]] = a * t->s[k] + b * t->c[k];
        tolerance[to[0]] = tolerance[to[1]] = length * (ROUNDINGS * d->unit + t->slack[n]);
    }
}

static void foretell_tables(const suspect *s, const check_data *d, const check_turns *t, double *expected,
                            double *tolerance)
{
    bool full = d->width != s->pairs;
    for (int64_t n = 0; n < s->pairs; n++) {
        int64_t at[2] = { full ? s->pair[n].x_out - s->first : n, full ? s->pair[n].y_out - s->first : n };
        for (int k = 0; k < 2; k++) {
            expected[at[k]] = t->c[n];
            expected[d->width + at[k]] = t->s[n];
            tolerance[at[k]] = tolerance[d->width + at[k]] =
                hypot(t->c[n], t->s[n]) * (ROUNDINGS * d->unit + t->slack[n]);
        }
    }
}

void suspect_foretell(const suspect *s, const check_data *d, const check_turns *t, int64_t token, int64_t head,
                      double *expected, double *tolerance)
{
    double x[PE_HEAD_DIM_MAX];
    /* float16 ends at 2^-24: numbers near it have no relative precision. */
    double least = d->type[0] == PE_F16 || d->type[1] == PE_F16 || d->grain == PE_F16 ? 0x1p-23 : 0x1p-126;
    if (d->tables)
        foretell_tables(s, d, t, expected, tolerance);
    else {
        for (int64_t e = 0; e < d->width; e++)
            x[e] = check_before(d, token, head, e);
        foretell_vector(s, d, t, x, expected, tolerance);
    }
    for (int64_t e = 0; e < check_row(d); e++)
        tolerance[e] += least;
}
