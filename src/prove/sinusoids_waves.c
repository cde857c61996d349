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
        prove_add(out, (words){ "variance in the first half of the dimensions", "前一半维度所占的方差" },
                  measure_named("length ", (double)n).is, share, "%");
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

/* Whether pair i meets an angle past the trained length that it did not have within it: it never completed a turn. */
static pe_status unturned(double *share, const measure_encoding *m, int64_t trained, pe_error *err)
{
    int64_t P = measure_width(m) / 2, n = 0;
    double *length = measure_memory(P, 1, err);
    pe_status status = length ? sinusoids_lengths(length, m, err) : PE_ERR_NOMEM;
    for (int64_t i = 0; !status && i < P; i++)
        n += length[i] > (double)trained;
    free(length);
    *share = 100.0 * (double)n / (double)P;
    return status;
}

pe_status sinusoids_extrapolate(prove_finding *out, const prove_given *g, pe_error *err)
{
    enum { TIMES = 16 };
    measure_encoding m;
    double share = 0, most = 0;
    PROVE_TRY(measure_open(&m, g->spec[0], g, err));
    double *p = measure_memory(1, measure_width(&m), err);
    pe_status status = p ? unturned(&share, &m, g->length, err) : PE_ERR_NOMEM;
    pe_status far = status ? status : measure_codes(p, &m, TIMES * g->length, 1, err);
    most = far ? NAN : measure_largest(p, measure_width(&m));
    free(p);
    measure_close(&m);
    if (status || (far && far != PE_ERR_POSITION))
        return status ? status : far;
    measure_text of = measure_named("trained at ", (double)g->length);
    prove_add(out, (words){ "pairs that meet new angles past it", "超出后遇到新角度的维度对" }, of.is, share, "%");
    prove_add(out, (words){ "largest element at 16 times the length", "16 倍长度处的最大元素" }, of.is, most, "");
    if (far)
        prove_say(out, PROVE_REFUTED, (words){ "There is no code past the trained length.", "训练长度之外没有编码。" });
    else if (share > 0)
        prove_say(
            out, PROVE_DEPENDS,
            (words){
                "On what is meant: a code exists at any length and stays bounded, but slow waves reach angles "
                "never seen in training, and models fail there: 2.64 bits a byte at 256, 4.39 at 4096 in the "
                "race (docs/results.md).",
                "取决于怎么理解：任意长度都有编码且有界，但慢波会转到训练中从未见过的角度，模型在那里失效："
                "实测（posenc race）从每字节 2.64 比特（长度 256）升到 4.39 比特（长度 4096），见 docs/results.md。" });
    else
        prove_say(out, PROVE_HOLDS,
                  (words){ "Every pair has had every angle in training: only combinations are new.",
                           "每一对在训练中都转满过一圈，超出后只有组合是新的。" });
    return PE_OK;
}
