/* SPDX-License-Identifier: MIT
 *
 * Claims: what sinusoidal codes do. Their dot products, a shift as a rotation, their wavelengths, what is new past the
 * trained length. */
#include "prove/measure.h"

#include <math.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- the dot product */

static pe_status sinusoids_symmetric(prove_finding *out, const prove_given *g, pe_error *err)
{
    int64_t d, n = g->length;
    double *p, uneven = 0, drift = 0;
    TRY(measure_code_table(&p, &d, g->spec[0], g, n, err));
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
    prove_judge(
        out, uneven < PROVE_ROUNDING && drift < PROVE_ROUNDING,
        (words){ "It is the sum of cos(k w): a function of |k| alone, so it tells how far but not on which side.",
                 "它等于各 cos(kω) 之和，只是 |k| 的函数：知道多远，却不知道在哪一边。" },
        (words){ "Ahead and back differ, or t matters.", "前后不同，或与 t 有关。" });
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

/* of: the spec and its width. */
static prove_verdict report_decay(prove_finding *out, const decay *s, const double *dot, int64_t n, const char *of)
{
    prove_add(out, (words){ "distance up to which each doubling lowers the mean", "均值逐次下降所到的距离" }, of,
              (double)s->fell, "");
    prove_add(out, (words){ "distances measured", "测量的距离数" }, of, (double)n, "");
    prove_add(out, (words){ "share of steps that rise", "上升步所占比例" }, of,
              100.0 * (double)s->rises / (double)(n - 1), "%");
    prove_add(out, (words){ "first rise, at distance", "第一次上升处的距离" }, of, (double)s->first_rise, "");
    prove_add(out, (words){ "largest rise above an earlier low, of p.p", "相对之前低点的最大回升（占 p·p）" }, of,
              s->ripple, "");
    for (int64_t from = 1; 2 * from <= n; from *= 2) {
        char at[96];
        snprintf(at, sizeof at, "%.60s, k = %lld", of, (long long)from);
        prove_add(out, (words){ "mean of p(t).p(t+k) / p.p from k to 2k", "p(t)·p(t+k) / p·p 在 [k, 2k) 上的均值" }, at,
                  octave(dot, from), "");
    }
    return s->fell < FAR_ENOUGH && s->fell < n / 2 ? PROVE_REFUTED : s->rises ? PROVE_DEPENDS : PROVE_HOLDS;
}

static pe_status decay_at(prove_verdict *v, prove_finding *out, const prove_given *g, pe_error *err)
{
    enum { FROM = 100 };
    char of[96];
    int64_t d, n = g->length;
    double *p, *dot = measure_memory(n, 1, err);
    pe_status status = dot ? measure_code_table(&p, &d, g->spec[0], g, n + FROM, err) : PE_ERR_NOMEM;
    if (status) {
        free(dot);
        return status;
    }
    double one = measure_dot(p + FROM * d, p + FROM * d, d);
    for (int64_t k = 0; k < n; k++)
        dot[k] = measure_dot(p + FROM * d, p + (FROM + k) * d, d) / one;
    decay s = decay_of(dot, n);
    snprintf(of, sizeof of, "%.60s, d = %lld", g->spec[0], (long long)d);
    *v = report_decay(out, &s, dot, n, of);
    free(p), free(dot);
    return PE_OK;
}

/* given: spec, length (distances); model_dim, or none: that of the first Transformer, then others. */
static pe_status sinusoids_decay(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const int64_t widths[] = { 512, 64, 128 };
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Up to the last distance measured it falls with every step.", "直到测量的最远距离，每一步都下降。" },
        { "Its mean rises among near distances already.", "在很近的距离上，均值就已回升。" },
        { "It depends on what is meant: up to the distance of the first number the mean over each doubling is lower "
          "than the one before, but from step to step it ripples.",
          "取决于怎么理解：在第一个数给出的距离以内，距离每加倍一次，均值都比前一段低；但逐步看有波纹，并不单调。" },
    };
    int found[PROVE_VERDICT_COUNT] = { 0 }, count = g->model_dim ? 1 : (int)(sizeof widths / sizeof *widths);
    for (int n = 0; n < count; n++) {
        prove_verdict v;
        prove_given one = measure_at_width(g, g->model_dim ? g->model_dim : widths[n]);
        TRY(decay_at(&v, out, g->model_dim ? g : &one, err));
        found[v]++;
    }
    prove_verdict v = found[PROVE_HOLDS] == count     ? PROVE_HOLDS
                      : found[PROVE_REFUTED] == count ? PROVE_REFUTED
                                                      : PROVE_DEPENDS;
    prove_say(out, v, because[v]);
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
static pe_status sinusoids_coincide(prove_finding *out, const prove_given *g, pe_error *err)
{
    measure_encoding m;
    TRY(measure_open(&m, g->spec[0], g, err));
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
    if (apart < PROVE_ROUNDING)
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

/* ---------------------------------------------------------------- a shift is a rotation: M(k) by least squares */

#define SAMPLES 400

/* Codes of random positions, and of the same shifted by k. */
static pe_status shifted_codes(double *code, double *image, const measure_encoding *m, int64_t limit, int64_t k,
                               uint64_t *state, pe_error *err)
{
    int64_t d = measure_width(m);
    for (int64_t n = 0; n < SAMPLES; n++) {
        int64_t t = measure_range(state, 0, limit);
        TRY(measure_codes(code + n * d, m, t, 1, err));
        TRY(measure_codes(image + n * d, m, t + k, 1, err));
    }
    return PE_OK;
}

typedef struct shift_map {
    double residual;    /* on positions that it was not found with */
    double skew;        /* of M' M - 1 */
    double determinant; /* of M */
    int64_t filled;     /* most elements of a row that are not 0 */
} shift_map;

static int64_t most_filled(const double *M, int64_t d)
{
    int64_t most = 0;
    for (int64_t i = 0; i < d; i++) {
        int64_t n = 0;
        for (int64_t j = 0; j < d; j++)
            n += fabs(M[i * d + j]) > PROVE_ROUNDING;
        most = n > most ? n : most;
    }
    return most;
}

static void shift_properties(shift_map *s, double *M, const double *code, const double *image, int64_t d)
{
    s->residual = 0;
    for (int64_t n = 0; n < SAMPLES; n++)
        for (int64_t i = 0; i < d; i++)
            s->residual = fmax(s->residual, fabs(measure_dot(M + i * d, code + n * d, d) - image[n * d + i]));
    s->skew = measure_skew(M, d);
    s->filled = most_filled(M, d);
    s->determinant = measure_determinant(M, d); /* uses M up */
}

static pe_status shift_of(shift_map *s, const measure_encoding *m, const prove_given *g, int64_t k, pe_error *err)
{
    int64_t d = measure_width(m);
    uint64_t state = g->seed;
    double *M = measure_memory(d, d, err), *code = measure_memory(SAMPLES, d, err),
           *image = measure_memory(SAMPLES, d, err), fitted;
    pe_status status =
        M && code && image ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for %lld codes", SAMPLES * 2LL);
    status = status ? status : shifted_codes(code, image, m, g->length, k, &state, err);
    status = status ? status : measure_map(M, &fitted, code, d, image, d, SAMPLES, err);
    status = status ? status : shifted_codes(code, image, m, g->length, k, &state, err);
    if (!status)
        shift_properties(s, M, code, image, d);
    free(M), free(code), free(image);
    return status;
}

static pe_status sinusoids_shift(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const int64_t shifts[] = { 1, 7, 100 };
    measure_encoding m;
    bool linear = true, rotates = true;
    TRY(measure_open(&m, g->spec[0], g, err));
    pe_status status = PE_OK;
    for (int n = 0; !status && n < 3; n++) {
        shift_map s;
        measure_text of = measure_named("k = ", (double)shifts[n]);
        status = shift_of(&s, &m, g, shifts[n], err);
        if (status)
            break;
        prove_add(out, (words){ "|p(t+k) - M(k) p(t)|, other t", "|p(t+k) - M(k) p(t)|（另取的 t）" }, of.is,
                  s.residual, "");
        prove_add(out, (words){ "distance of M'M from 1", "M'M 与单位阵之差" }, of.is, s.skew, "");
        prove_add(out, (words){ "determinant of M", "M 的行列式" }, of.is, s.determinant, "");
        prove_add(out, (words){ "elements of a row that are not 0", "每行的非零元素个数" }, of.is, (double)s.filled,
                  "");
        linear = linear && s.residual < PROVE_ROUNDING;
        rotates = rotates && s.skew < PROVE_ROUNDING && fabs(s.determinant - 1) < PROVE_ROUNDING;
    }
    measure_close(&m);
    if (linear && rotates)
        prove_say(out, PROVE_HOLDS,
                  (words){ "M depends on k alone, is orthogonal with determinant 1, and rotates one pair at a time.",
                           "M 只依赖 k，正交且行列式为 1，并且每次只旋转一对维度。" });
    else if (linear)
        prove_say(out, PROVE_DEPENDS,
                  (words){ "The shift is linear, but not a rotation.", "平移是线性的，但不是旋转。" });
    else
        prove_say(out, PROVE_REFUTED, (words){ "No one matrix shifts all positions.", "没有一个矩阵能平移所有位置。" });
    return status;
}

/* How long the waves are, which dimensions move, and what is new past the trained length. */

#define PI 3.14159265358979323846

/* ---------------------------------------------------------------- wavelengths */

static pe_status sinusoids_lengths(double *length, const measure_encoding *m, pe_error *err)
{
    int64_t d = measure_width(m);
    double *code = measure_memory(2, d, err);
    pe_status status = code ? measure_codes(code, m, 0, 2, err) : PE_ERR_NOMEM;
    for (int64_t i = 0; !status && i < d / 2; i++) {
        double s0 = code[2 * i], c0 = code[2 * i + 1], s1 = code[d + 2 * i], c1 = code[d + 2 * i + 1];
        length[i] = 2 * PI / atan2(s1 * c0 - c1 * s0, c1 * c0 + s1 * s0);
    }
    free(code);
    return status;
}

static pe_status wavelengths_measured(prove_finding *out, const char *spec, const prove_given *g, bool *reaches,
                                      pe_error *err)
{
    measure_encoding m;
    TRY(measure_open(&m, spec, g, err));
    int64_t d = measure_width(&m), P = d / 2;
    double *length = measure_memory(P, 1, err), uneven = 0;
    pe_status status = length ? sinusoids_lengths(length, &m, err) : PE_ERR_NOMEM;
    if (!status) {
        double ratio = length[1] / length[0], end = length[P - 1] / (2 * PI * g->theta);
        for (int64_t i = 0; i + 1 < P; i++)
            uneven = fmax(uneven, fabs(length[i + 1] / length[i] / ratio - 1));
        prove_add(out, (words){ "longest wavelength / (2 pi theta)", "最长波长 / (2π·θ)" }, spec, end, "");
        prove_add(out, (words){ "longest / (2 pi theta^((d-2)/d))", "最长波长 / (2π·θ^((d-2)/d))" }, spec,
                  length[P - 1] / (2 * PI * pow(g->theta, (double)(d - 2) / (double)d)), "");
        prove_add(out, (words){ "shortest wavelength / (2 pi)", "最短波长 / (2π)" }, spec, length[0] / (2 * PI), "");
        prove_add(out, (words){ "longest wavelength", "最长波长" }, spec, length[P - 1], "");
        prove_add(out, (words){ "unevenness of the ratios", "相邻波长之比的不均匀程度" }, spec, uneven, "");
        *reaches = fabs(end - 1) < PROVE_ROUNDING && uneven < PROVE_ROUNDING;
    }
    free(length);
    measure_close(&m);
    return status;
}

static pe_status sinusoids_wavelengths(prove_finding *out, const prove_given *g, pe_error *err)
{
    int all = 0, reach = 0;
    for (; all < PROVE_SPECS_MAX && g->spec[all]; all++) {
        bool reaches = false;
        TRY(wavelengths_measured(out, g->spec[all], g, &reaches, err));
        reach += reaches;
    }
    if (reach == all)
        prove_say(out, PROVE_HOLDS, (words){ "The last wave is 2 pi theta long.", "最长的波正好是 2π·θ。" });
    else if (reach)
        prove_say(out, PROVE_DEPENDS,
                  (words){ "It depends on the denominator: with the paper's 2i/d they end at 2 pi theta^((d-2)/d), one "
                           "step short; "
                           "with i/(d/2-1), as tensor2tensor and fairseq have it, at 2 pi theta.",
                           "取决于分母：按论文的 2i/d，最长波长是 2π·θ^((d-2)/d)，差一步；按 tensor2tensor、fairseq 的 "
                           "i/(d/2-1)，才正好到 2π·θ。" });
    else
        prove_say(out, PROVE_REFUTED,
                  (words){ "They end one step short, at 2 pi theta^((d-2)/d).", "差一步，止于 2π·θ^((d-2)/d)。" });
    return PE_OK;
}

/* ---------------------------------------------------------------- which dimensions carry it */

/* Share of the variance over positions 0 .. n-1 that lies in the first half of the dimensions. */
static double first_half(const double *p, int64_t n, int64_t d)
{
    double part[2] = { 0, 0 };
    for (int64_t c = 0; c < d; c++) {
        double mean = 0, square = 0;
        for (int64_t t = 0; t < n; t++)
            mean += p[t * d + c] / (double)n;
        for (int64_t t = 0; t < n; t++)
            square += (p[t * d + c] - mean) * (p[t * d + c] - mean);
        part[c >= d / 2] += square;
    }
    return 100 * part[0] / (part[0] + part[1]);
}

static pe_status sinusoids_first_dims(prove_finding *out, const prove_given *g, pe_error *err)
{
    double *p, least = INFINITY, most = 0;
    int64_t d;
    TRY(measure_code_table(&p, &d, g->spec[0], g, g->length, err));
    for (int64_t n = 64; n <= g->length; n *= 4) {
        double share = first_half(p, n, d);
        prove_add_at(out, (words){ "variance in the first half of the dimensions", "前一半维度所占的方差" },
                     (words){ "length %.9g", "长度 %.9g" }, (double)n, share, "%");
        least = fmin(least, share);
        most = fmax(most, share);
    }
    free(p);
    if (least > 90)
        prove_say(
            out, PROVE_HOLDS,
            (words){ "The first half has nearly all of it at every length.", "任何长度下几乎全部方差都在前一半。" });
    else if (most > 90)
        prove_say(
            out, PROVE_DEPENDS,
            (words){
                "It depends on the length: waves longer than the text hardly move, so the shorter the text, the fewer "
                "dimensions carry its positions.",
                "取决于长度：波长超过文本长度的维度几乎不动，文本越短，携带位置信息的维度越少。" });
    else
        prove_say(out, PROVE_REFUTED,
                  (words){ "The other half carries its share at every length.", "任何长度下后一半都有其份额。" });
    return PE_OK;
}

/* ---------------------------------------------------------------- extrapolation */

/* Two elements are a pair where their squares add up to the same at every place. */
static bool is_pair(const double *code, int64_t d, int64_t a, int64_t b, int64_t n)
{
    double first = code[a] * code[a] + code[b] * code[b], most = 0;
    for (int64_t t = 1; t < n; t++)
        most = fmax(most, fabs(code[t * d + a] * code[t * d + a] + code[t * d + b] * code[t * d + b] - first));
    return most < PROVE_ROUNDING;
}

typedef struct waves {
    int64_t pairs, unrotated; /* those that move; of them those that complete no turn within the trained length */
    double within, beyond;    /* the largest element up to it, and past it */
} waves;

/* code: places 0 .. PLACES-1. Pairs stand side by side, or half the width apart. */
static void count_turns(waves *w, const double *code, int64_t places, int64_t d, int64_t trained)
{
    int64_t P = d / 2;
    bool beside = true;
    for (int64_t i = 0; i < P; i++)
        beside = beside && is_pair(code, d, 2 * i, 2 * i + 1, places);
    for (int64_t i = 0; i < P; i++) {
        int64_t a = beside ? 2 * i : i, b = beside ? a + 1 : i + P;
        double s0 = code[a], c0 = code[b], s1 = code[d + a], c1 = code[d + b];
        double angle = fabs(atan2(s1 * c0 - c1 * s0, c1 * c0 + s1 * s0));
        w->pairs += angle > 0;
        w->unrotated += angle > 0 && angle * (double)trained < 2 * PI;
    }
}

/* From the trained length on, by doublings, to 2^30. */
static pe_status reach_of(waves *w, double *code, const measure_encoding *m, int64_t trained, pe_error *err)
{
    enum { PLACES = 64 };
    int64_t d = measure_width(m);
    TRY(measure_codes(code, m, 0, PLACES, err));
    w->within = measure_largest(code, PLACES * d);
    count_turns(w, code, PLACES, d, trained);
    for (int64_t from = trained; from <= INT64_C(1) << 30; from *= 2) {
        TRY(measure_codes(code, m, from, PLACES, err));
        w->beyond = fmax(w->beyond, measure_largest(code, PLACES * d));
    }
    return PE_OK;
}

/* Only codes that a matrix shifts, at any length and within bounds, are waves. */
static pe_status waves_of(waves *w, const prove_given *g, pe_error *err)
{
    measure_encoding m;
    *w = (waves){ 0 };
    TRY(measure_open(&m, g->spec[0], g, err));
    double *code = measure_memory(64, measure_width(&m), err);
    unsigned wave = PE_CLAIM_LINEAR | PE_CLAIM_BOUNDED | PE_CLAIM_ANY_LENGTH;
    bool linear = (pe_encoding_claims(m.e) & wave) == wave && pe_encoding_hooks(m.e) & PE_HOOK_EMBED;
    pe_status status = !code    ? PE_ERR_NOMEM
                       : linear ? reach_of(w, code, &m, g->length, err)
                                : io_fail(err, PE_ERR_UNSUITED, "%s adds no waves to words; needs one that does: %s",
                                          g->spec[0], "sinusoidal");
    free(code);
    measure_close(&m);
    return status;
}

/* given: spec (waves), length (the trained one). HOLDS: no angle past it is new, REFUTED: codes grow. */
static pe_status sinusoids_extrapolate(prove_finding *out, const prove_given *g, pe_error *err)
{
    waves w;
    TRY(waves_of(&w, g, err));
    const words of = { "trained at %.9g", "训练长度 %.9g" };
    double n = (double)g->length;
    prove_add_at(out, (words){ "pairs that reach new angles past it", "超出后遇到新角度的维度对" }, of, n,
                 100 * (double)w.unrotated / (double)w.pairs, "%");
    prove_add_at(out, (words){ "largest element of the first codes", "开头各编码的最大元素" }, of, n, w.within, "");
    prove_add_at(out, (words){ "largest element past it, up to 2^30", "超出后直到 2^30 的最大元素" }, of, n, w.beyond,
                 "");
    bool bounded = w.beyond <= w.within * (1 + PROVE_ROUNDING);
    prove_verdict v = !bounded ? PROVE_REFUTED : w.unrotated ? PROVE_DEPENDS : PROVE_HOLDS;
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Codes stay bounded, and every pair has had every angle in training: only combinations are new.",
          "编码保持有界，且每一对在训练中都转满过一圈，超出后只有组合是新的。" },
        { "Past the trained length codes grow beyond all that training had.",
          "超出训练长度后，编码的数值超过训练中出现过的范围。" },
        { "It depends on what is meant: a code exists at any length tried and stays bounded, but slow waves reach "
          "angles that "
          "training never had. What a model makes of them is no property of the code: docs/results.md has trained "
          "ones.",
          "取决于怎么理解：试过的任意长度都有编码且有界，但慢波会转到训练中从未见过的角度。模型如何对待这些角度，"
          "不是编码本身的性质：训练过的模型见 docs/results.md。" },
    };
    prove_say(out, v, because[v]);
    return PE_OK;
}

/* ---------------------------------------------------------------- the claims */

#define SINUSOID .spec = { "sinusoidal" }
#define WIDTH(n) .heads = 4, .head_dim = (n) / 4, .model_dim = (n), .theta = 10000, .seed = 1

static const prove_claim claims[] = {
    { .name = "shift-rotates",
      .claim = { "p(t + k) is a linear function of p(t), M(k) p(t), and M(k) is a rotation.",
                 "p(t+k) 是 p(t) 的线性函数 M(k) p(t)，且 M(k) 是旋转矩阵。" },
      .put = { "Its code p(t + k) is a linear function of p(t), M(k) p(t), and M(k) is a rotation.",
               "它的编码 p(t+k) 是 p(t) 的线性函数 M(k) p(t)，且 M(k) 是旋转矩阵。" },
      .source = "Vaswani et al. 2017, 3.5 (arXiv:1706.03762)",
      .kind = PROVE_ALGEBRA,
      .given = { WIDTH(32), SINUSOID, .length = 1 << 22 },
      .measure = sinusoids_shift,
      .takes = PE_HOOK_EMBED },
    { .name = "wavelengths",
      .claim = { "The wavelengths form a geometric progression from 2 pi to 10000 * 2 pi.",
                 "波长构成从 2π 到 10000·2π 的等比数列。" },
      .source = "Vaswani et al. 2017, 3.5 (arXiv:1706.03762)",
      .kind = PROVE_ALGEBRA,
      .given = { WIDTH(128), .spec = { "sinusoidal", "sinusoidal:denominator=d-2" } },
      .measure = sinusoids_wavelengths },
    { .name = "symmetric-dot",
      .claim = { "The dot product of two codes depends on their distance alone, and not on its sign.",
                 "两个位置编码的内积只依赖距离，与方向无关。" },
      .put = { "The dot product of two of its codes depends on their distance alone, and not on its sign.",
               "它的两个编码的内积只依赖距离，与方向无关。" },
      .source = "Yan et al. 2019 (arXiv:1911.04474)",
      .kind = PROVE_ALGEBRA,
      .given = { WIDTH(128), SINUSOID, .length = 400 },
      .measure = sinusoids_symmetric,
      .takes = PE_HOOK_EMBED },
    { .name = "decaying-dot",
      .claim = { "The dot product of two codes decays with their distance.",
                 "两个位置编码的内积随距离衰减（远程衰减）。" },
      .put = { "The dot product of two of its codes decays with their distance.",
               "它的两个编码的内积随距离衰减（远程衰减）。" },
      .source = "Yan et al. 2019 (arXiv:1911.04474)",
      .rule = { "It holds if it falls with every step, is refuted if its mean over a doubling of the "
                "distance rises before 256; all distances are summed, none are sampled.",
                "成立的条件：每一步都下降；距离每加倍一段，其均值若在 256 之前回升，则不成立。所有距离逐个求"
                "和，没有抽样。" },
      .sizes = { "Sizes: width 512, 64 and 128.", "尺寸：宽 512、64、128。" },
      .given = { SINUSOID, .length = 1 << 15 },
      .measure = sinusoids_decay,
      .takes = PE_HOOK_EMBED },
    { .name = "1-and-10001",
      .claim = { "With a base of 10000 positions 1 and 10001 coincide.",
                 "底数为 10000 时，位置 1 与 10001 的编码重合。" },
      .put = { "Its codes of positions 1 and 10001 coincide.", "它在位置 1 与 10001 的编码重合。" },
      .source = "a common misreading of Vaswani et al. 2017",
      .rule = { "It holds if the two codes are equal to rounding (1e-9).",
                "成立的条件：两个编码相等（舍入误差 1e-9 以内）。" },
      .given = { WIDTH(64), SINUSOID, .length = 1 << 17 },
      .measure = sinusoids_coincide,
      .takes = PE_HOOK_EMBED },
    { .name = "first-dims",
      .claim = { "Only the first dimensions of a sinusoidal code carry the position.",
                 "正弦编码只有前面的维度携带位置信息。" },
      .put = { "Only the first dimensions of its code carry the position.", "它的编码只有前面的维度携带位置信息。" },
      .source = "Kazemnejad 2019, Transformer Architecture: The Positional Encoding",
      .rule = { "It holds if the first half of the dimensions has 90 % of the variance at every length: "
                "nearly all, where an even share would be 50 %.",
                "成立的条件：在每种长度下，前一半维度都占方差的 90% 以上（几乎全部；均分则为 50%）。" },
      .given = { WIDTH(128), SINUSOID, .length = 1 << 14 },
      .measure = sinusoids_first_dims,
      .takes = PE_HOOK_EMBED },
    { .name = "sinusoids-extrapolate",
      .claim = { "Sinusoids let a model extrapolate to texts longer than those of its training.",
                 "正弦编码能让模型外推到比训练时更长的文本。" },
      .put = { "Past the trained length its waves stay bounded and meet no angle that is new.",
               "超出训练长度后，它的波保持有界，也不会遇到新的角度。" },
      .source = "Vaswani et al. 2017, 3.5 (arXiv:1706.03762); against it Press et al. 2021 (arXiv:2108.12409)",
      .rule = { "It holds if no pair reaches an angle past the trained length that training never had, and "
                "is refuted if codes grow; it says nothing about trained models.",
                "成立的条件：超出训练长度后没有一对遇到新的角度；编码若增大则不成立。这不说明训练后的模型如何"
                "。" },
      .given = { WIDTH(128), SINUSOID, .length = 256 },
      .measure = sinusoids_extrapolate,
      .takes = PE_HOOK_EMBED },
};

const prove_group prove_group_sinusoids = { .name = "sinusoids",
                                            .title = { "Sinusoids", "正弦位置编码" },
                                            .claims = claims,
                                            .count = (int)(sizeof claims / sizeof *claims) };
