/* SPDX-License-Identifier: MIT
 *
 * How long the waves are, which dimensions move, and what is new past the trained length. */
#include "prove/sinusoids.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PI 3.14159265358979323846

/* ---------------------------------------------------------------- wavelengths */

pe_status sinusoids_lengths(double *length, const measure_encoding *m, pe_error *err)
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
        *reaches = fabs(end - 1) < MEASURE_ROUNDING && uneven < MEASURE_ROUNDING;
    }
    free(length);
    measure_close(&m);
    return status;
}

pe_status sinusoids_wavelengths(prove_finding *out, const prove_given *g, pe_error *err)
{
    int all = 0, reach = 0;
    for (; all < PROVE_SPECS_MAX && g->spec[all]; all++) {
        bool reaches = false;
        PROVE_TRY(wavelengths_measured(out, g->spec[all], g, &reaches, err));
        reach += reaches;
    }
    if (reach == all)
        prove_say(out, PROVE_HOLDS, (words){ "The last wave is 2 pi theta long.", "最长的波正好是 2π·θ。" });
    else if (reach)
        prove_say(
            out, PROVE_DEPENDS,
            (words){ "On the denominator: with the paper's 2i/d they end at 2 pi theta^((d-2)/d), one step short; "
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

pe_status sinusoids_first_dims(prove_finding *out, const prove_given *g, pe_error *err)
{
    double *p, least = INFINITY, most = 0;
    int64_t d;
    PROVE_TRY(measure_line(&p, &d, g->spec[0], g, g->length, err));
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
        prove_say(out, PROVE_DEPENDS,
                  (words){ "On the length: waves longer than the text hardly move, so the shorter the text, the fewer "
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
    return most < MEASURE_ROUNDING;
}

typedef struct waves {
    int64_t pairs, unturned; /* those that move; of them those that complete no turn within the trained length */
    double within, beyond;   /* the largest element up to it, and past it */
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
        w->unturned += angle > 0 && angle * (double)trained < 2 * PI;
    }
}

/* From the trained length on, by doublings, to 2^30. */
static pe_status reach_of(waves *w, double *code, const measure_encoding *m, int64_t trained, pe_error *err)
{
    enum { PLACES = 64 };
    int64_t d = measure_width(m);
    PROVE_TRY(measure_codes(code, m, 0, PLACES, err));
    w->within = measure_largest(code, PLACES * d);
    count_turns(w, code, PLACES, d, trained);
    for (int64_t from = trained; from <= INT64_C(1) << 30; from *= 2) {
        PROVE_TRY(measure_codes(code, m, from, PLACES, err));
        w->beyond = fmax(w->beyond, measure_largest(code, PLACES * d));
    }
    return PE_OK;
}

/* Only codes that a matrix shifts are waves. */
static pe_status waves_of(waves *w, const prove_given *g, pe_error *err)
{
    measure_encoding m;
    *w = (waves){ 0 };
    PROVE_TRY(measure_open(&m, g->spec[0], g, err));
    double *code = measure_memory(64, measure_width(&m), err);
    bool linear = pe_encoding_claims(m.e) & PE_CLAIM_LINEAR && pe_encoding_hooks(m.e) & PE_HOOK_EMBED;
    pe_status status = !code    ? PE_ERR_NOMEM
                       : linear ? reach_of(w, code, &m, g->length, err)
                                : io_fail(err, PE_ERR_UNSUITED, "%s adds no waves to words; needs one that does: %s",
                                          g->spec[0], "sinusoidal");
    free(code);
    measure_close(&m);
    return status;
}

/* given: spec (waves), length (the trained one). HOLDS: no angle past it is new, REFUTED: codes grow. */
pe_status sinusoids_extrapolate(prove_finding *out, const prove_given *g, pe_error *err)
{
    waves w;
    PROVE_TRY(waves_of(&w, g, err));
    const words of = { "trained at %.9g", "训练长度 %.9g" };
    double n = (double)g->length;
    prove_add_at(out, (words){ "pairs that meet new angles past it", "超出后遇到新角度的维度对" }, of, n,
                 100 * (double)w.unturned / (double)w.pairs, "%");
    prove_add_at(out, (words){ "largest element of the first codes", "开头各编码的最大元素" }, of, n, w.within, "");
    prove_add_at(out, (words){ "largest element past it, up to 2^30", "超出后直到 2^30 的最大元素" }, of, n, w.beyond,
                 "");
    bool bounded = w.beyond <= w.within * (1 + MEASURE_ROUNDING);
    prove_verdict v = !bounded ? PROVE_REFUTED : w.unturned ? PROVE_DEPENDS : PROVE_HOLDS;
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Codes stay bounded, and every pair has had every angle in training: only combinations are new.",
          "编码保持有界，且每一对在训练中都转满过一圈，超出后只有组合是新的。" },
        { "Past the trained length codes grow beyond all that training had.",
          "超出训练长度后，编码的数值超过训练中出现过的范围。" },
        { "On what is meant: a code exists at any length tried and stays bounded, but slow waves reach angles that "
          "training never had. What a model makes of them is no property of the code: docs/results.md has trained "
          "ones.",
          "取决于怎么理解：试过的任意长度都有编码且有界，但慢波会转到训练中从未见过的角度。模型如何对待这些角度，"
          "不是编码本身的性质：训练过的模型见 docs/results.md。" },
    };
    prove_say(out, v, because[v]);
    return PE_OK;
}
