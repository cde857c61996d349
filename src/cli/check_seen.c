/* SPDX-License-Identifier: MIT
 *
 * What the data shows of itself: how far each pair turned, by what it was multiplied, which base its angles have. */
#include "cli/check.h"

#include "base/num.h"

#include <math.h>

#define BASE_LEAST 2.0 /* decimal logarithms of the bases looked at */
#define BASE_MOST 9.0
#define BASE_STEPS 168
#define BASE_ALIKE 0.1 /* mean square between turns seen and made; 2 is chance */

/* Sums over the heads of one pair, x and y before, u and v after: the turn that fits them best has cosine C/L and sine
 * S/L, where C = xu + yv, S = xv - yu, L = x^2 + y^2. */
static bool turned(const check_data *d, const suspect *s, int64_t token, int64_t n, double *C, double *S)
{
    const pe_pair *p = &s->pair[n];
    double L = 0;
    *C = *S = 0;
    if (d->tables) {
        int64_t at = d->width == s->pairs ? n : p->x_out - s->first;
        *C = check_seen(d, token, 0, at);
        *S = check_seen(d, token, 0, d->width + at);
        return true;
    }
    for (int64_t h = 0; h < d->heads; h++) {
        double x = check_before(d, token, h, p->x), y = check_before(d, token, h, p->y);
        double u = check_seen(d, token, h, p->x_out), v = check_seen(d, token, h, p->y_out);
        *C += x * u + y * v;
        *S += x * v - y * u;
        L += x * x + y * y;
    }
    *C = L > 0 ? *C / L : 1;
    *S = L > 0 ? *S / L : 0;
    return L > 0;
}

bool check_angle(const check_data *d, const suspect *s, int64_t token, int64_t n, double *angle, double *factor)
{
    double C, S;
    if (!turned(d, s, token, n, &C, &S))
        return false;
    *angle = atan2(S, C);
    *factor = hypot(C, S);
    return true;
}

/* Turning keeps lengths, in any layout: what is left is the factor. */
static double seen_factor(const check_data *d, const suspect *s, const check_sample *sample)
{
    double before = 0, after = 0;
    for (int64_t i = 0; i < sample->tokens; i++)
        for (int64_t h = 0; h < sample->heads; h++)
            for (int64_t n = 0; n < s->pairs; n++) {
                const pe_pair *p = &s->pair[n];
                int64_t t = sample->token[i], at = d->tables ? n : 0;
                double x = d->tables ? 1 : check_before(d, t, h, p->x);
                double y = d->tables ? 0 : check_before(d, t, h, p->y);
                double u = check_seen(d, t, h, d->tables ? at : p->x_out);
                double v = check_seen(d, t, h, d->tables ? d->width + at : p->y_out);
                before += x * x + y * y;
                after += u * u + v * v;
            }
    return before > 0 ? sqrt(after / before) : 0;
}

/* ------------------------------------------------ the base */

typedef struct hunt {
    const check_data *d;
    const suspect *spec;
    check_sample sample; /* tokens at |positions| up to a limit */
} hunt;

static void keep_near(hunt *h, const check_sample *all, double limit)
{
    h->sample.tokens = 0;
    for (int64_t i = 0; i < all->tokens; i++)
        if (fabs((double)check_position(h->d, all->token[i], 0)) <= limit)
            h->sample.token[h->sample.tokens++] = all->token[i];
}

/* Mean distance of the turns seen from those that the spec with another base makes. */
static double distance(const hunt *h, double log_base)
{
    suspect s;
    double sum = 0;
    suspect_start(&s, h->d);
    suspect_set_number(&s, "theta", pow(10, log_base));
    bool made = suspect_make(&s, h->d) && s.pairs == h->spec->pairs;
    for (int64_t i = 0; made && i < h->sample.tokens; i++)
        for (int64_t n = 0; n < s.pairs; n++) {
            double C, S, steps = (double)check_position(h->d, h->sample.token[i], s.pair[n].axis);
            double angle = steps * s.pair[n].frequency + s.pair[n].phase;
            if (!turned(h->d, h->spec, h->sample.token[i], n, &C, &S) || hypot(C, S) == 0)
                continue;
            double m = hypot(C, S), dc = C / m - cos(angle), ds = S / m - sin(angle);
            sum += dc * dc + ds * ds;
        }
    suspect_free(&s);
    return made ? sum : INFINITY;
}

/* Golden section: the least distance between two logarithms. */
static double narrow(const hunt *h, double low, double high)
{
    const double golden = 0.6180339887498949;
    double a = high - golden * (high - low), b = low + golden * (high - low);
    double at_a = distance(h, a), at_b = distance(h, b);
    for (int i = 0; i < 30; i++)
        if (at_a < at_b) {
            high = b;
            b = a;
            at_b = at_a;
            a = high - golden * (high - low);
            at_a = distance(h, a);
        } else {
            low = a;
            a = b;
            at_a = at_b;
            b = low + golden * (high - low);
            at_b = distance(h, b);
        }
    return (low + high) / 2;
}

double check_plain(double x, double near)
{
    for (int digits = 1; x > 0 && digits < 9; digits++) {
        double scale = pow(10, digits - 1 - floor(log10(x))), plain = round(x * scale) / scale;
        if (fabs(plain / x - 1) < near)
            return plain;
    }
    return x;
}

/* Near positions first, where a coarse grid cannot miss a turn; then further ones, which are sharper. */
static double seen_base(const check_data *d, const suspect *s, const check_sample *sample)
{
    static const double limit[] = { 64, 4096 };
    hunt h = { .d = d, .spec = s, .sample = *sample };
    double step = (BASE_MOST - BASE_LEAST) / BASE_STEPS, best = INFINITY, at = 0;
    if (!zoo_spec_key(s->spec, "theta") || s->pairs < 2)
        return 0;
    keep_near(&h, sample, limit[0]);
    for (int i = 0; h.sample.tokens && i <= BASE_STEPS; i++) {
        double found = distance(&h, BASE_LEAST + i * step);
        if (found < best) {
            best = found;
            at = BASE_LEAST + i * step;
        }
    }
    if (at == 0)
        return 0;
    for (int k = 0; k < CLI_COUNT(limit); k++, step /= 256) {
        keep_near(&h, sample, limit[k]);
        at = narrow(&h, at - step, at + step);
    }
    bool alike = distance(&h, at) < BASE_ALIKE * (double)(h.sample.tokens * s->pairs);
    return alike ? check_plain(pow(10, at), fmin(16 * d->unit, 1e-2)) : 0;
}

void check_look(check_data *d, const suspect *spec, const check_sample *sample)
{
    if (zoo_spec_num_or(spec->spec, "temperature", 0) == 0)
        d->factor = check_plain(seen_factor(d, spec, sample), d->unit);
    d->offset = check_seen_offset(d, spec, sample);
    d->base = d->offset ? 0 : seen_base(d, spec, sample);
    d->stretch = check_seen_stretch(d, spec, sample);
    d->looked = true;
}
