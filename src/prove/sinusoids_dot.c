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
    bool octaves;  /* the mean over [2^j, 2^(j+1)) falls with every j */
} decay;

static decay decay_of(const double *dot, int64_t n)
{
    decay s = { .octaves = true };
    double low = dot[0], before = INFINITY;
    for (int64_t k = 1; k < n; k++) {
        s.rises += dot[k] > dot[k - 1];
        s.first_rise = s.first_rise || dot[k] <= dot[k - 1] ? s.first_rise : k;
        s.ripple = fmax(s.ripple, dot[k] - low);
        low = fmin(low, dot[k]);
    }
    for (int64_t from = 1; 2 * from <= n; from *= 2) {
        double mean = 0;
        for (int64_t k = from; k < 2 * from; k++)
            mean += dot[k] / (double)from;
        s.octaves = s.octaves && mean < before;
        before = mean;
    }
    return s;
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
    prove_add(out, (words){ "share of steps that rise", "上升步所占比例" }, g->spec[0],
              100.0 * (double)s.rises / (double)(n - 1), "%");
    prove_add(out, (words){ "first rise, at distance", "第一次上升处的距离" }, g->spec[0], (double)s.first_rise, "");
    prove_add(out, (words){ "largest rise above an earlier low, of p.p", "相对之前低点的最大回升（占 p·p）" },
              g->spec[0], s.ripple, "");
    for (int64_t k = 1; k < n; k *= 10) {
        prove_add(out, (words){ "p(t).p(t+k) / p.p", "p(t)·p(t+k) / p·p" }, measure_named("k = ", (double)k).is, dot[k],
                  "");
    }
    free(p), free(dot);
    if (!s.octaves)
        prove_say(out, PROVE_REFUTED,
                  (words){ "Its mean does not fall as the distance doubles.", "距离加倍时，平均值并不下降。" });
    else if (s.rises)
        prove_say(
            out, PROVE_DEPENDS,
            (words){ "On what is meant: the mean over each doubling of the distance falls every time, but from step "
                     "to step it ripples.",
                     "取决于怎么理解：距离每加倍一次，平均值都下降（远程衰减）；但逐步看有波纹，并不单调。" });
    else
        prove_say(out, PROVE_HOLDS, (words){ "It falls with every step.", "每一步都下降。" });
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
        prove_add(out, (words){ "nearest two positions, up to 2^17 apart", "相距不超过 2^17 的位置中最近的两个" },
                  measure_named("0 and ", (double)nearest).is, least, "");
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
