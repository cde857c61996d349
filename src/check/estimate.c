/* SPDX-License-Identifier: MIT
 *
 * What the data itself shows: the angle of each pair, the factor on lengths, the base, the offset of positions, the
 * factor of a scaling. */
#include "check/inside.h"

#include <math.h>
#include <string.h>

#define BASE_LEAST 2.0 /* decimal logarithms of the bases looked at */
#define BASE_MOST 9.0
#define BASE_STEPS 168
#define BASE_ALIKE 0.1     /* mean square between rotations observed and predicted; 2 is chance */
#define OFFSET_PAIRS 16    /* looked at; of more, some are left out */
#define OFFSET_ALIKE 0.999 /* cosines of what is left; 16 bits leave that much */
#define SLOWEST_ANGLE 3.0  /* radians: less than half a turn */
#define SLOWEST_BLUR 0.02

/* Sums over the heads of one pair, x and y before, u and v after: the rotation that fits them best has cosine C/L and
 * sine S/L, where C = xu + yv, S = xv - yu, L = x^2 + y^2. */
static bool fitted_rotation(const check_data *d, const candidate *s, int64_t token, int64_t n, double *C, double *S)
{
    const pe_pair *p = &s->pair[n];
    double L = 0;
    *C = *S = 0;
    if (d->tables) {
        int64_t at = d->width == s->pairs ? n : p->x_out - s->first;
        *C = data_observed(d, token, 0, at);
        *S = data_observed(d, token, 0, d->width + at);
        return true;
    }
    for (int64_t h = 0; h < d->heads; h++) {
        double x = data_before(d, token, h, p->x), y = data_before(d, token, h, p->y);
        double u = data_observed(d, token, h, p->x_out), v = data_observed(d, token, h, p->y_out);
        *C += x * u + y * v;
        *S += x * v - y * u;
        L += x * x + y * y;
    }
    *C = L > 0 ? *C / L : 1;
    *S = L > 0 ? *S / L : 0;
    return L > 0;
}

bool estimate_angle(const check_data *d, const candidate *s, int64_t token, int64_t n, double *angle, double *factor)
{
    double C, S;
    if (!fitted_rotation(d, s, token, n, &C, &S))
        return false;
    *angle = atan2(S, C);
    *factor = hypot(C, S);
    return true;
}

/* A rotation keeps lengths, in any layout: what is left is the factor. */
static double estimate_factor(const check_data *d, const candidate *s, const check_sample *sample)
{
    double before = 0, after = 0;
    for (int64_t i = 0; i < sample->tokens; i++)
        for (int64_t h = 0; h < sample->heads; h++)
            for (int64_t n = 0; n < s->pairs; n++) {
                const pe_pair *p = &s->pair[n];
                int64_t t = sample->token[i], at = d->tables ? n : 0;
                double x = d->tables ? 1 : data_before(d, t, h, p->x);
                double y = d->tables ? 0 : data_before(d, t, h, p->y);
                double u = data_observed(d, t, h, d->tables ? at : p->x_out);
                double v = data_observed(d, t, h, d->tables ? d->width + at : p->y_out);
                before += x * x + y * y;
                after += u * u + v * v;
            }
    return before > 0 ? sqrt(after / before) : 0;
}

/* ------------------------------------------------ the base */

typedef struct base_search {
    const check_data *d;
    const candidate *spec;
    check_sample sample; /* tokens at |positions| up to a limit */
} base_search;

static void keep_near(base_search *h, const check_sample *all, double limit)
{
    h->sample.tokens = 0;
    for (int64_t i = 0; i < all->tokens; i++)
        if (fabs((double)data_position(h->d, all->token[i], 0)) <= limit)
            h->sample.token[h->sample.tokens++] = all->token[i];
}

/* Distance of the observed rotations from those that the spec has with another base. */
static double base_distance(const base_search *h, double log_base)
{
    candidate c;
    double sum = 0;
    candidate_start(&c, h->d);
    candidate_set_number(&c, "theta", pow(10, log_base));
    bool made = candidate_make(&c, h->d) && c.pairs == h->spec->pairs;
    for (int64_t i = 0; made && i < h->sample.tokens; i++)
        for (int64_t n = 0; n < c.pairs; n++) {
            double C, S, position = (double)data_position(h->d, h->sample.token[i], c.pair[n].axis);
            double angle = position * c.pair[n].frequency + c.pair[n].phase;
            if (!fitted_rotation(h->d, h->spec, h->sample.token[i], n, &C, &S) || hypot(C, S) == 0)
                continue;
            double m = hypot(C, S), dc = C / m - cos(angle), ds = S / m - sin(angle);
            sum += dc * dc + ds * ds;
        }
    candidate_free(&c);
    return made ? sum : INFINITY;
}

/* Golden section: the least distance between two logarithms. */
static double base_narrow(const base_search *h, double low, double high)
{
    const double golden = 0.6180339887498949;
    double a = high - golden * (high - low), b = low + golden * (high - low);
    double at_a = base_distance(h, a), at_b = base_distance(h, b);
    for (int i = 0; i < 30; i++)
        if (at_a < at_b) {
            high = b;
            b = a;
            at_b = at_a;
            a = high - golden * (high - low);
            at_a = base_distance(h, a);
        } else {
            low = a;
            a = b;
            at_a = at_b;
            b = low + golden * (high - low);
            at_b = base_distance(h, b);
        }
    return (low + high) / 2;
}

/* The number with the fewest digits that is this near, relatively. */
static double plain_number(double x, double near)
{
    for (int digits = 1; x > 0 && digits < 9; digits++) {
        double scale = pow(10, digits - 1 - floor(log10(x))), plain = round(x * scale) / scale;
        if (fabs(plain / x - 1) < near)
            return plain;
    }
    return x;
}

/* Near positions first, where a coarse grid cannot miss a period; then further ones, which are sharper. */
static double estimate_theta(const check_data *d, const candidate *s, const check_sample *sample)
{
    static const double limit[] = { 64, 4096 };
    base_search h = { .d = d, .spec = s, .sample = *sample };
    double step = (BASE_MOST - BASE_LEAST) / BASE_STEPS, best = INFINITY, at = 0;
    if (!zoo_spec_key(s->spec, "theta") || s->pairs < 2)
        return 0;
    keep_near(&h, sample, limit[0]);
    for (int i = 0; h.sample.tokens && i <= BASE_STEPS; i++) {
        double found = base_distance(&h, BASE_LEAST + i * step);
        if (found < best) {
            best = found;
            at = BASE_LEAST + i * step;
        }
    }
    if (at == 0)
        return 0;
    for (int k = 0; k < CHECK_COUNT(limit); k++, step /= 256) {
        keep_near(&h, sample, limit[k]);
        at = base_narrow(&h, at - step, at + step);
    }
    bool alike = base_distance(&h, at) < BASE_ALIKE * (double)(h.sample.tokens * s->pairs);
    return alike ? plain_number(pow(10, at), fmin(16 * d->unit, 1e-2)) : 0;
}

/* ------------------------------------------------ the offset */

typedef struct phase {
    double re, im;                 /* what a pair is ahead by, summed over tokens */
    double step, step_re, step_im; /* what one position takes off */
} phase;

/* Every token says by how much a pair is ahead; with an offset all say the same. */
static double phase_add_token(phase *p, const check_data *d, const candidate *s, int64_t token, int64_t stride)
{
    rotation r;
    double angle, factor, count = 0;
    if (candidate_rotation(&r, s, d, token, 0, NULL))
        return 0;
    for (int64_t n = 0; n * stride < s->pairs; n++)
        if (estimate_angle(d, s, token, n * stride, &angle, &factor) && factor > 0) {
            double ahead = angle - atan2(r.s[n * stride], r.c[n * stride]);
            p[n].re += cos(ahead);
            p[n].im += sin(ahead);
            count++;
        }
    return count;
}

static void phase_rotate(phase *p, double re, double im)
{
    double was = p->re;
    p->re = was * re - p->im * im;
    p->im = was * im + p->im * re;
}

/* Whether all tokens say the same, pair by pair. */
static bool is_same_at_all_tokens(const phase *p, int64_t pairs, double count)
{
    double sum = 0;
    for (int64_t n = 0; n < pairs; n++)
        sum += hypot(p[n].re, p[n].im);
    return count > 0 && sum > OFFSET_ALIKE * count;
}

/* Up to so many steps, the number of them that rotates all phases back to 0 best; best: how well, of 1. */
static int64_t best_offset(const phase *from, int64_t pairs, int64_t most, double *best)
{
    phase p[OFFSET_PAIRS];
    int64_t found = 0;
    memcpy(p, from, sizeof p);
    *best = -INFINITY;
    for (int64_t n = 0; n < pairs; n++)
        phase_rotate(&p[n], cos(p[n].step * (double)most), sin(p[n].step * (double)most));
    for (int64_t offset = -most; offset <= most; offset++) {
        double sum = 0;
        for (int64_t n = 0; n < pairs; n++) {
            sum += p[n].re;
            phase_rotate(&p[n], p[n].step_re, p[n].step_im);
        }
        if (sum > *best) {
            *best = sum;
            found = offset;
        }
    }
    return found;
}

static int64_t estimate_offset(const check_data *d, const candidate *s, const check_sample *sample)
{
    static const int64_t reach[] = { 2048, 131072 };
    phase p[OFFSET_PAIRS] = { { 0 } };
    double count = 0, best;
    int64_t stride = (s->pairs + OFFSET_PAIRS - 1) / OFFSET_PAIRS, pairs = 0;
    if (!s->pairs || zoo_spec_is(s->spec, "coords", "normalised"))
        return 0;
    for (int64_t i = 0; i < sample->tokens; i++)
        count += phase_add_token(p, d, s, sample->token[i], stride);
    for (; pairs * stride < s->pairs; pairs++) {
        p[pairs].step = s->pair[pairs * stride].frequency;
        p[pairs].step_re = cos(p[pairs].step);
        p[pairs].step_im = -sin(p[pairs].step);
    }
    for (int i = 0; i < CHECK_COUNT(reach) && is_same_at_all_tokens(p, pairs, count); i++) {
        int64_t found = best_offset(p, pairs, reach[i], &best);
        if (best > OFFSET_ALIKE * count)
            return found;
    }
    return 0;
}

/* ------------------------------------------------ the factor of a scaling */

static int64_t slowest_pair(const candidate *s)
{
    int64_t found = -1;
    for (int64_t n = 0; n < s->pairs; n++) {
        double f = fabs(s->pair[n].frequency);
        if (f > 0 && (found < 0 || f < fabs(s->pair[found].frequency)))
            found = n;
    }
    return found;
}

/* All scalings divide the slowest pair by their factor: by how much was it, where it has not yet come around? */
static double estimate_scaling_factor(const check_data *d, const candidate *s, const check_sample *sample)
{
    double sum = 0, squares = 0, furthest = 0, angle, factor;
    int64_t n = slowest_pair(s);
    if (n < 0 || !zoo_spec_key(s->spec, "scaling"))
        return 0;
    double plain = s->pair[n].frequency * zoo_spec_num_or(s->spec, "factor", 1);
    for (int64_t i = 0; i < sample->tokens; i++) {
        int64_t token = sample->token[i];
        double steps = (double)data_position(d, token, s->pair[n].axis);
        if (fabs(steps * plain) > SLOWEST_ANGLE || !estimate_angle(d, s, token, n, &angle, &factor))
            continue;
        sum += steps * angle;
        squares += steps * steps;
        furthest = fmax(furthest, fabs(steps));
    }
    double frequency = squares > 0 ? sum / squares : 0, blur = 4 * d->unit / fabs(frequency * furthest);
    return blur < SLOWEST_BLUR && frequency * plain > 0 ? plain_number(plain / frequency, blur) : 0;
}

/* ------------------------------------------------ all of them */

void estimate_all(check_data *d, const candidate *spec, const check_sample *sample)
{
    if (zoo_spec_num_or(spec->spec, "temperature", 0) == 0)
        d->factor = plain_number(estimate_factor(d, spec, sample), d->unit);
    d->offset = estimate_offset(d, spec, sample);
    d->theta = d->offset ? 0 : estimate_theta(d, spec, sample);
    d->scaling_factor = estimate_scaling_factor(d, spec, sample);
    d->estimated = true;
}
