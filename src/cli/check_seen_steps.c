/* SPDX-License-Identifier: MIT
 *
 * What the data shows of how far it went: the same number of steps too many at every token, or steps of another size.
 */
#include "cli/check.h"

#include <math.h>
#include <string.h>

#define OFFSET_PAIRS 16    /* looked at; of more, some are left out */
#define OFFSET_ALIKE 0.999 /* cosines of what is left; 16 bits leave that much */
#define STRETCH_TURN 3.0   /* radians: less than half a turn */
#define STRETCH_BLUR 0.02

/* ------------------------------------------------ the offset */

typedef struct phase {
    double re, im;                 /* what a pair is ahead by, summed over tokens */
    double step, step_re, step_im; /* what one position takes off */
} phase;

/* Every token says by how much a pair is ahead; with an offset all say the same. */
static double add_token(phase *p, const check_data *d, const suspect *s, int64_t token, int64_t stride)
{
    check_turns t;
    double angle, factor, heard = 0;
    if (!suspect_turns(s, d, token, &t))
        return 0;
    for (int64_t n = 0; n * stride < s->pairs; n++)
        if (check_angle(d, s, token, n * stride, &angle, &factor) && factor > 0) {
            double ahead = angle - atan2(t.s[n * stride], t.c[n * stride]);
            p[n].re += cos(ahead);
            p[n].im += sin(ahead);
            heard++;
        }
    return heard;
}

static void turn_phase(phase *p, double re, double im)
{
    double was = p->re;
    p->re = was * re - p->im * im;
    p->im = was * im + p->im * re;
}

/* Whether all tokens say the same, pair by pair. */
static bool is_steady(const phase *p, int64_t pairs, double heard)
{
    double sum = 0;
    for (int64_t n = 0; n < pairs; n++)
        sum += hypot(p[n].re, p[n].im);
    return heard > 0 && sum > OFFSET_ALIKE * heard;
}

/* Up to so many steps, the number of them that turns all phases back to 0 best; best: how well, of 1. */
static int64_t best_offset(const phase *from, int64_t pairs, int64_t most, double *best)
{
    phase p[OFFSET_PAIRS];
    int64_t found = 0;
    memcpy(p, from, sizeof p);
    *best = -INFINITY;
    for (int64_t n = 0; n < pairs; n++)
        turn_phase(&p[n], cos(p[n].step * (double)most), sin(p[n].step * (double)most));
    for (int64_t offset = -most; offset <= most; offset++) {
        double sum = 0;
        for (int64_t n = 0; n < pairs; n++) {
            sum += p[n].re;
            turn_phase(&p[n], p[n].step_re, p[n].step_im);
        }
        if (sum > *best) {
            *best = sum;
            found = offset;
        }
    }
    return found;
}

int64_t check_seen_offset(const check_data *d, const suspect *s, const check_sample *sample)
{
    static const int64_t reach[] = { 2048, 131072 };
    phase p[OFFSET_PAIRS] = { { 0 } };
    double heard = 0, best;
    int64_t stride = (s->pairs + OFFSET_PAIRS - 1) / OFFSET_PAIRS, pairs = 0;
    if (!s->pairs || zoo_spec_is(s->spec, "coords", "normalised"))
        return 0;
    for (int64_t i = 0; i < sample->tokens; i++)
        heard += add_token(p, d, s, sample->token[i], stride);
    for (; pairs * stride < s->pairs; pairs++) {
        p[pairs].step = s->pair[pairs * stride].frequency;
        p[pairs].step_re = cos(p[pairs].step);
        p[pairs].step_im = -sin(p[pairs].step);
    }
    for (int i = 0; i < CLI_COUNT(reach) && is_steady(p, pairs, heard); i++) {
        int64_t found = best_offset(p, pairs, reach[i], &best);
        if (best > OFFSET_ALIKE * heard)
            return found;
    }
    return 0;
}

/* ------------------------------------------------ the factor of a scaling */

static int64_t slowest(const suspect *s)
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
double check_seen_stretch(const check_data *d, const suspect *s, const check_sample *sample)
{
    double sum = 0, squares = 0, furthest = 0, angle, factor;
    int64_t n = slowest(s);
    if (n < 0 || !zoo_spec_key(s->spec, "scaling"))
        return 0;
    double plain = s->pair[n].frequency * zoo_spec_num_or(s->spec, "factor", 1);
    for (int64_t i = 0; i < sample->tokens; i++) {
        int64_t token = sample->token[i];
        double steps = (double)check_position(d, token, s->pair[n].axis);
        if (fabs(steps * plain) > STRETCH_TURN || !check_angle(d, s, token, n, &angle, &factor))
            continue;
        sum += steps * angle;
        squares += steps * steps;
        furthest = fmax(furthest, fabs(steps));
    }
    double frequency = squares > 0 ? sum / squares : 0, blur = 4 * d->unit / fabs(frequency * furthest);
    return blur < STRETCH_BLUR && frequency * plain > 0 ? check_plain(plain / frequency, blur) : 0;
}
