/* SPDX-License-Identifier: MIT
 *
 * What the dot product and the difference of two codes do with their distance. */
#include "prove/sinusoids.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- the dot product */

pe_status sinusoids_symmetric(prove_finding *out, const prove_given *g, pe_error *err)
{
    int64_t d, n = g->length;
    double *p, uneven = 0, drift = 0;
    PROVE_TRY(measure_line(&p, &d, g->spec[0], g, n, err));
    double one = measure_dot(p + n / 2 * d, p + n / 2 * d, d);
    for (int64_t t = n / 4; t < 3 * n / 4; t += 3)
        for (int64_t k = 1; k < n / 4; k++) {
            double ahead = measure_dot(p + t * d, p + (t + k) * d, d),
                   back = measure_dot(p + t * d, p + (t - k) * d, d);
            uneven = fmax(uneven, fabs(ahead - back) / one);
            drift = fmax(drift, fabs(ahead - measure_dot(p + n / 4 * d, p + (n / 4 + k) * d, d)) / one);
        }
    free(p);
    prove_add(out, (words){ "p(t).p(t+k) - p(t).p(t-k), of p.p", "p(t)·p(t+k) - p(t)·p(t-k)，相对 p·p" }, g->spec[0],
              uneven, "");
    prove_add(out, (words){ "change of p(t).p(t+k) with t", "p(t)·p(t+k) 随 t 的变化" }, g->spec[0], drift, "");
    if (uneven < MEASURE_ROUNDING && drift < MEASURE_ROUNDING)
        prove_say(
            out, PROVE_HOLDS,
            (words){ "It is the sum of cos(k w): a function of |k| alone, so it tells how far but not on which side.",
                     "它等于各 cos(kω) 之和，只是 |k| 的函数：知道多远，却不知道在哪一边。" });
    else
        prove_say(out, PROVE_REFUTED, (words){ "Ahead and back differ, or t matters.", "前后不同，或与 t 有关。" });
    return PE_OK;
}

typedef struct decay {
    int64_t rises, first_rise;
    double ripple; /* the largest rise from a low to a later value */
    int64_t fell;  /* the mean over [k, 2k) falls with every doubling up to this distance */
} decay;

static double octave(const double *dot, int64_t from)
{
    double mean = 0;
    for (int64_t k = from; k < 2 * from; k++)
        mean += dot[k] / (double)from;
    return mean;
}

static decay decay_of(const double *dot, int64_t n)
{
    decay s = { 0 };
    double low = dot[0];
    for (int64_t k = 1; k < n; k++) {
        s.rises += dot[k] > dot[k - 1];
        s.first_rise = s.first_rise || dot[k] <= dot[k - 1] ? s.first_rise : k;
        s.ripple = fmax(s.ripple, dot[k] - low);
        low = fmin(low, dot[k]);
    }
    for (int64_t from = 2; 2 * from <= n && octave(dot, from) < octave(dot, from / 2); from *= 2)
        s.fell = 2 * from;
    return s;
}

#define FAR_ENOUGH 256 /* a mean that rises before this distance does not decay */

static void tell_decay(prove_finding *out, const decay *s, const double *dot, const prove_given *g)
{
    int64_t n = g->length;
    prove_add(out, (words){ "distance up to which each doubling lowers the mean", "均值逐次下降所到的距离" },
              g->spec[0], (double)s->fell, "");
    prove_add(out, (words){ "distances measured", "测量的距离数" }, g->spec[0], (double)n, "");
    prove_add(out, (words){ "share of steps that rise", "上升步所占比例" }, g->spec[0],
              100.0 * (double)s->rises / (double)(n - 1), "%");
    prove_add(out, (words){ "first rise, at distance", "第一次上升处的距离" }, g->spec[0], (double)s->first_rise, "");
    prove_add(out, (words){ "largest rise above an earlier low, of p.p", "相对之前低点的最大回升（占 p·p）" },
              g->spec[0], s->ripple, "");
    for (int64_t from = 1; 2 * from <= n; from *= 2)
        prove_add(out, (words){ "mean of p(t).p(t+k) / p.p from k to 2k", "p(t)·p(t+k) / p·p 在 [k, 2k) 上的均值" },
                  measure_named("k = ", (double)from).is, octave(dot, from), "");
    prove_verdict v = s->fell < FAR_ENOUGH && s->fell < n / 2 ? PROVE_REFUTED : s->rises ? PROVE_DEPENDS : PROVE_HOLDS;
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Up to the last distance measured it falls with every step.", "直到测量的最远距离，每一步都下降。" },
        { "Its mean rises among near distances already.", "在很近的距离上，均值就已回升。" },
        { "On what is meant: up to the distance of the first number the mean over each doubling is lower than the one "
          "before, but from step to step it ripples.",
          "取决于怎么理解：在第一个数给出的距离以内，距离每加倍一次，均值都比前一段低；但逐步看有波纹，并不单调。" },
    };
    prove_say(out, v, because[v]);
}

pe_status sinusoids_decay(prove_finding *out, const prove_given *g, pe_error *err)
{
    enum { FROM = 100 };
    int64_t d, n = g->length;
    double *p, *dot = measure_memory(n, 1, err);
    pe_status status = dot ? measure_line(&p, &d, g->spec[0], g, n + FROM, err) : PE_ERR_NOMEM;
    if (status) {
        free(dot);
        return status;
    }
    double one = measure_dot(p + FROM * d, p + FROM * d, d);
    for (int64_t k = 0; k < n; k++)
        dot[k] = measure_dot(p + FROM * d, p + (FROM + k) * d, d) / one;
    decay s = decay_of(dot, n);
    tell_decay(out, &s, dot, g);
    free(p), free(dot);
    return PE_OK;
}

/* ---------------------------------------------------------------- 1 and 10001 */

static double distance(const double *x, const double *y, int64_t d)
{
    double square = 0;
    for (int64_t c = 0; c < d; c++)
        square += (x[c] - y[c]) * (x[c] - y[c]);
    return sqrt(square);
}

/* Only the distance counts: the nearest of position 0 stands for the nearest two. */
pe_status sinusoids_coincide(prove_finding *out, const prove_given *g, pe_error *err)
{
    measure_encoding m;
    PROVE_TRY(measure_open(&m, g->spec[0], g, err));
    int64_t d = measure_width(&m), nearest = 0;
    double *p = measure_memory(4, d, err), least = INFINITY, apart = NAN;
    pe_status status = p ? measure_codes(p, &m, 1, 1, err) : PE_ERR_NOMEM;
    status = status ? status : measure_codes(p + d, &m, 10001, 1, err);
    status = status ? status : measure_codes(p + 2 * d, &m, 0, 1, err);
    if (!status)
        apart = distance(p, p + d, d);
    for (int64_t k = 1; !status && k <= g->length; k++) {
        status = measure_codes(p + 3 * d, &m, k, 1, err);
        double at = distance(p + 2 * d, p + 3 * d, d);
        if (at < least)
            least = at, nearest = k;
    }
    measure_close(&m);
    if (!status) {
        prove_add(out, (words){ "|p(1) - p(10001)|", "|p(1) - p(10001)|" }, g->spec[0], apart, "");
        prove_add(out, (words){ "length of a code, |p|", "编码的模长 |p|" }, g->spec[0], sqrt(measure_dot(p, p, d)),
                  "");
        prove_add_at(out, (words){ "nearest two positions, up to 2^17 apart", "相距不超过 2^17 的位置中最近的两个" },
                     (words){ "0 and %.9g", "0 与 %.9g" }, (double)nearest, least, "");
    }
    free(p);
    if (apart < MEASURE_ROUNDING)
        prove_say(out, PROVE_HOLDS, (words){ "The two codes are the same.", "两个编码相同。" });
    else if (nearest == 1)
        prove_say(
            out, PROVE_REFUTED,
            (words){ "10000 is the base of the wavelengths and no period; nothing up to 2^17 apart comes closer than "
                     "direct neighbours do.",
                     "10000 是波长的底数，不是周期；相距 2^17 以内，没有比相邻位置更近的两个编码。" });
    else
        prove_say(out, PROVE_REFUTED, (words){ "The two codes differ.", "两个编码不同。" });
    return status;
}
