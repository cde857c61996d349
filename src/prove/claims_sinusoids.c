/* SPDX-License-Identifier: MIT
 *
 * Claims: sinusoids. A shift is a rotation; how long their waves are, what the dot product does with the distance, and
 * where the position sits. */
#include "prove/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

/* ---------------------------------------------------------------- a shift is a rotation */

#define SAMPLES 400

/* Codes of random positions, and of the same shifted by k. */
static pe_status shifted_codes(double *code, double *image, const measure_encoding *m, int64_t limit, int64_t k,
                               uint64_t *state, pe_error *err)
{
    int64_t d = measure_width(m);
    for (int64_t n = 0; n < SAMPLES; n++) {
        int64_t t = measure_range(state, 0, limit);
        PROVE_TRY(measure_codes(code + n * d, m, t, 1, err));
        PROVE_TRY(measure_codes(image + n * d, m, t + k, 1, err));
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
            n += fabs(M[i * d + j]) > MEASURE_ROUNDING;
        most = n > most ? n : most;
    }
    return most;
}

static void shift_look(shift_map *s, double *M, const double *code, const double *image, int64_t d)
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
        shift_look(s, M, code, image, d);
    free(M), free(code), free(image);
    return status;
}

static pe_status shift_rotates(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const int64_t shifts[] = { 1, 7, 100 };
    measure_encoding m;
    bool linear = true, turns = true;
    PROVE_TRY(measure_open(&m, g->spec[0], g, err));
    pe_status status = PE_OK;
    for (int n = 0; !status && n < 3; n++) {
        shift_map s;
        char of[32];
        status = shift_of(&s, &m, g, shifts[n], err);
        if (status)
            break;
        snprintf(of, sizeof of, "k = %lld", (long long)shifts[n]);
        prove_add(out, (words){ "|p(t+k) - M(k) p(t)|, other t", "|p(t+k) - M(k) p(t)|（另取的 t）" }, of, s.residual,
                  "");
        prove_add(out, (words){ "|M'M - 1|", NULL }, of, s.skew, "");
        prove_add(out, (words){ "det M", NULL }, of, s.determinant, "");
        prove_add(out, (words){ "elements of a row that are not 0", "每行的非零元素个数" }, of, (double)s.filled, "");
        linear = linear && s.residual < MEASURE_ROUNDING;
        turns = turns && s.skew < MEASURE_ROUNDING && fabs(s.determinant - 1) < MEASURE_ROUNDING;
    }
    measure_close(&m);
    if (linear && turns)
        prove_say(out, PROVE_HOLDS,
                  (words){ "M depends on k alone, is orthogonal with determinant 1, and turns one pair at a time",
                           "M 只依赖 k，正交且行列式为 1，并且每次只旋转一对维度" });
    else if (linear)
        prove_say(out, PROVE_DEPENDS, (words){ "the shift is linear, but not a rotation", "平移是线性的，但不是旋转" });
    else
        prove_say(out, PROVE_REFUTED, (words){ "no one matrix shifts all positions", "没有一个矩阵能平移所有位置" });
    return status;
}

/* ---------------------------------------------------------------- wavelengths */

/* What each pair (2i, 2i+1) turns from position 0 to 1, as positions per turn. */
static pe_status wavelengths_of(double *length, const measure_encoding *m, pe_error *err)
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
    PROVE_TRY(measure_open(&m, spec, g, err));
    int64_t d = measure_width(&m), P = d / 2;
    double *length = measure_memory(P, 1, err), uneven = 0;
    pe_status status = length ? wavelengths_of(length, &m, err) : PE_ERR_NOMEM;
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
        *reaches = fabs(end - 1) < MEASURE_ROUNDING && uneven < MEASURE_ROUNDING;
    }
    free(length);
    measure_close(&m);
    return status;
}

static pe_status wavelengths(prove_finding *out, const prove_given *g, pe_error *err)
{
    int all = 0, reach = 0;
    for (; all < PROVE_SPECS_MAX && g->spec[all]; all++) {
        bool reaches = false;
        PROVE_TRY(wavelengths_measured(out, g->spec[all], g, &reaches, err));
        reach += reaches;
    }
    if (reach == all)
        prove_say(out, PROVE_HOLDS, (words){ "the last wave is 2 pi theta long", "最长的波正好是 2π·θ" });
    else if (reach)
        prove_say(
            out, PROVE_DEPENDS,
            (words){ "on the denominator: with the paper's 2i/d they end at 2 pi theta^((d-2)/d), one step short; "
                     "with i/(d/2-1), as tensor2tensor and fairseq have it, at 2 pi theta",
                     "取决于分母：按论文的 2i/d，最长波长是 2π·θ^((d-2)/d)，差一步；按 tensor2tensor、fairseq 的 "
                     "i/(d/2-1)，才正好到 2π·θ" });
    else
        prove_say(out, PROVE_REFUTED,
                  (words){ "they end one step short, at 2 pi theta^((d-2)/d)", "差一步，止于 2π·θ^((d-2)/d)" });
    return PE_OK;
}

/* ---------------------------------------------------------------- the dot product */

/* Codes of 0 .. n-1 of the first spec; the caller frees. */
static pe_status line_of_codes(double **code, int64_t *d, const prove_given *g, int64_t n, pe_error *err)
{
    measure_encoding m;
    PROVE_TRY(measure_open(&m, g->spec[0], g, err));
    *d = measure_width(&m);
    *code = measure_memory(n, *d, err);
    pe_status status = *code ? measure_codes(*code, &m, 0, n, err) : PE_ERR_NOMEM;
    measure_close(&m);
    if (status)
        free(*code);
    return status;
}

static pe_status symmetric_dot(prove_finding *out, const prove_given *g, pe_error *err)
{
    int64_t d, n = g->length;
    double *p, uneven = 0, drift = 0;
    PROVE_TRY(line_of_codes(&p, &d, g, n, err));
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
            (words){ "it is the sum of cos(k w): a function of |k| alone, so it tells how far but not on which side",
                     "它等于各 cos(kω) 之和，只是 |k| 的函数：知道多远，却不知道在哪一边" });
    else
        prove_say(out, PROVE_REFUTED, (words){ "ahead and back differ, or t matters", "前后不同，或与 t 有关" });
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

static pe_status decaying_dot(prove_finding *out, const prove_given *g, pe_error *err)
{
    enum { FROM = 100 };
    int64_t d, n = g->length;
    double *p, *dot = measure_memory(n, 1, err);
    pe_status status = dot ? line_of_codes(&p, &d, g, n + FROM, err) : PE_ERR_NOMEM;
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
        char of[32];
        snprintf(of, sizeof of, "k = %lld", (long long)k);
        prove_add(out, (words){ "p(t).p(t+k) / p.p", "p(t)·p(t+k) / p·p" }, of, dot[k], "");
    }
    free(p), free(dot);
    if (!s.octaves)
        prove_say(out, PROVE_REFUTED,
                  (words){ "its mean does not fall as the distance doubles", "距离加倍时，平均值并不下降" });
    else if (s.rises)
        prove_say(
            out, PROVE_DEPENDS,
            (words){ "on what is meant: the mean over each doubling of the distance falls every time, but from step "
                     "to step it ripples",
                     "取决于怎么理解：距离每加倍一次，平均值都下降（远程衰减）；但逐步看有波纹，并不单调" });
    else
        prove_say(out, PROVE_HOLDS, (words){ "it falls with every step", "每一步都下降" });
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
static pe_status coincide(prove_finding *out, const prove_given *g, pe_error *err)
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
        char of[32];
        prove_add(out, (words){ "|p(1) - p(10001)|", NULL }, g->spec[0], apart, "");
        prove_add(out, (words){ "|p|", NULL }, g->spec[0], sqrt(measure_dot(p, p, d)), "");
        snprintf(of, sizeof of, "0 and %lld", (long long)nearest);
        prove_add(out, (words){ "nearest two positions, up to 2^17 apart", "相距不超过 2^17 的位置中最近的两个" }, of,
                  least, "");
    }
    free(p);
    if (apart < MEASURE_ROUNDING)
        prove_say(out, PROVE_HOLDS, (words){ "the two codes are the same", "两个编码相同" });
    else if (nearest == 1)
        prove_say(
            out, PROVE_REFUTED,
            (words){ "10000 is the base of the wavelengths and no period; nothing up to 2^17 apart comes closer than "
                     "direct neighbours do",
                     "10000 是波长的底数，不是周期；相距 2^17 以内，没有比相邻位置更近的两个编码" });
    else
        prove_say(out, PROVE_REFUTED, (words){ "the two codes differ", "两个编码不同" });
    return status;
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

static pe_status first_dims(prove_finding *out, const prove_given *g, pe_error *err)
{
    double *p, least = INFINITY, most = 0;
    int64_t d;
    PROVE_TRY(line_of_codes(&p, &d, g, g->length, err));
    for (int64_t n = 64; n <= g->length; n *= 4) {
        char of[32];
        double share = first_half(p, n, d);
        snprintf(of, sizeof of, "length %lld", (long long)n);
        prove_add(out, (words){ "variance in the first half of the dimensions", "前一半维度所占的方差" }, of, share,
                  "%");
        least = fmin(least, share);
        most = fmax(most, share);
    }
    free(p);
    if (least > 90)
        prove_say(out, PROVE_HOLDS,
                  (words){ "the first half has nearly all of it at every length", "任何长度下几乎全部方差都在前一半" });
    else if (most > 90)
        prove_say(out, PROVE_DEPENDS,
                  (words){ "on the length: waves longer than the text hardly move, so the shorter the text, the fewer "
                           "dimensions carry its positions",
                           "取决于长度：波长超过文本长度的维度几乎不动，文本越短，携带位置信息的维度越少" });
    else
        prove_say(out, PROVE_REFUTED,
                  (words){ "the other half carries its share at every length", "任何长度下后一半都有其份额" });
    return PE_OK;
}

/* ---------------------------------------------------------------- extrapolation */

/* Whether pair i meets an angle past the trained length that it did not have within it: it never completed a turn. */
static pe_status unturned(double *share, const measure_encoding *m, int64_t trained, pe_error *err)
{
    int64_t P = measure_width(m) / 2, n = 0;
    double *length = measure_memory(P, 1, err);
    pe_status status = length ? wavelengths_of(length, m, err) : PE_ERR_NOMEM;
    for (int64_t i = 0; !status && i < P; i++)
        n += length[i] > (double)trained;
    free(length);
    *share = 100.0 * (double)n / (double)P;
    return status;
}

static pe_status extrapolate(prove_finding *out, const prove_given *g, pe_error *err)
{
    enum { TIMES = 16 };
    measure_encoding m;
    double share = 0, most = 0;
    char of[32];
    PROVE_TRY(measure_open(&m, g->spec[0], g, err));
    double *p = measure_memory(1, measure_width(&m), err);
    pe_status status = p ? unturned(&share, &m, g->length, err) : PE_ERR_NOMEM;
    pe_status far = status ? status : measure_codes(p, &m, TIMES * g->length, 1, err);
    most = far ? NAN : measure_largest(p, measure_width(&m));
    free(p);
    measure_close(&m);
    if (status || (far && far != PE_ERR_POSITION))
        return status ? status : far;
    snprintf(of, sizeof of, "trained at %lld", (long long)g->length);
    prove_add(out, (words){ "pairs that meet new angles past it", "超出后遇到新角度的维度对" }, of, share, "%");
    prove_add(out, (words){ "largest element at 16 times the length", "16 倍长度处的最大元素" }, of, most, "");
    if (far)
        prove_say(out, PROVE_REFUTED, (words){ "there is no code past the trained length", "训练长度之外没有编码" });
    else if (share > 0)
        prove_say(
            out, PROVE_DEPENDS,
            (words){ "on what is meant: a code exists at any length and stays bounded, but slow waves reach angles "
                     "never seen in training, and models fail there: 2.64 bits a byte at 256, 4.39 at 4096 in the "
                     "race (docs/results.md)",
                     "取决于怎么理解：任意长度都有编码且有界，但慢波会转到训练中从未见过的角度，模型在那里失效："
                     "比赛中每字节 2.64 比特（长度 256）升到 4.39（长度 4096），见 docs/results.md" });
    else
        prove_say(out, PROVE_HOLDS,
                  (words){ "every pair has had every angle in training: only combinations are new",
                           "每一对在训练中都转满过一圈，超出后只有组合是新的" });
    return PE_OK;
}

/* ---------------------------------------------------------------- the table */

#define SINUSOID .spec = { "sinusoidal" }
#define WIDTH(n) .heads = 4, .head_dim = (n) / 4, .model_dim = (n), .theta = 10000, .seed = 1

static const prove_claim claims[] = {
    { .name = "shift-rotates",
      .claim = { "p(t + k) is a linear function of p(t), M(k) p(t), and M(k) is a rotation.",
                 "p(t+k) 是 p(t) 的线性函数 M(k) p(t)，且 M(k) 是旋转矩阵。" },
      .source = "Vaswani et al. 2017, 3.5 (arXiv:1706.03762)",
      .given = { WIDTH(32), SINUSOID, .length = 1 << 22 },
      .measure = shift_rotates,
      .takes = PE_HOOK_EMBED },
    { .name = "wavelengths",
      .claim = { "The wavelengths form a geometric progression from 2 pi to 10000 * 2 pi.",
                 "波长构成从 2π 到 10000·2π 的几何级数。" },
      .source = "Vaswani et al. 2017, 3.5 (arXiv:1706.03762)",
      .given = { WIDTH(128), .spec = { "sinusoidal", "sinusoidal:denominator=d-2" } },
      .measure = wavelengths },
    { .name = "symmetric-dot",
      .claim = { "The dot product of two codes depends on their distance alone, and not on its sign.",
                 "两个位置编码的内积只依赖距离，与方向无关。" },
      .source = "Yan et al. 2019 (arXiv:1911.04474)",
      .given = { WIDTH(128), SINUSOID, .length = 400 },
      .measure = symmetric_dot,
      .takes = PE_HOOK_EMBED },
    { .name = "decaying-dot",
      .claim = { "The dot product of two codes decays with their distance.",
                 "两个位置编码的内积随距离衰减（远程衰减）。" },
      .source = "Yan et al. 2019 (arXiv:1911.04474)",
      .given = { WIDTH(128), SINUSOID, .length = 4096 },
      .measure = decaying_dot,
      .takes = PE_HOOK_EMBED },
    { .name = "1-and-10001",
      .claim = { "With a base of 10000 positions 1 and 10001 coincide.",
                 "底数为 10000 时，位置 1 与 10001 的编码重合。" },
      .source = "a common misreading of Vaswani et al. 2017",
      .given = { WIDTH(64), SINUSOID, .length = 1 << 17 },
      .measure = coincide,
      .takes = PE_HOOK_EMBED },
    { .name = "first-dims",
      .claim = { "Only the first dimensions of a sinusoidal code carry the position.",
                 "正弦编码只有前面的维度携带位置信息。" },
      .source = "Kazemnejad 2019, Transformer Architecture: The Positional Encoding",
      .given = { WIDTH(128), SINUSOID, .length = 1 << 14 },
      .measure = first_dims,
      .takes = PE_HOOK_EMBED },
    { .name = "sinusoids-extrapolate",
      .claim = { "Sinusoids let a model extrapolate to texts longer than those of its training.",
                 "正弦编码能让模型外推到比训练时更长的文本。" },
      .source = "Vaswani et al. 2017, 3.5 (arXiv:1706.03762); against it Press et al. 2021 (arXiv:2108.12409)",
      .given = { WIDTH(128), SINUSOID, .length = 256 },
      .measure = extrapolate,
      .takes = PE_HOOK_EMBED },
};

const prove_group prove_group_sinusoids = { .name = "sinusoids",
                                            .title = { "Sinusoids", "正弦位置编码" },
                                            .claims = claims,
                                            .count = (int)(sizeof claims / sizeof *claims) };
