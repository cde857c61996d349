/* SPDX-License-Identifier: MIT
 *
 * How loud a code is against the word, and what it does at another length. */
#include "prove/codes.h"

#include "zoo/spec_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- integers drown the word */

static double mean_square(const double *x, int64_t n)
{
    return n ? measure_dot(x, x, n) / (double)n : 0;
}

/* x less its mean, over its deviation. */
static void normalise(double *y, const double *x, int64_t n)
{
    double mean = 0, square = 0;
    for (int64_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (int64_t i = 0; i < n; i++)
        square += (x[i] - mean) * (x[i] - mean) / (double)n;
    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) / sqrt(square);
}

/* How much one word's vector changes between two positions, where a LayerNorm follows. */
static pe_status after_norm(double *out, const double *first, const double *last, int64_t width, uint64_t seed,
                            pe_error *err)
{
    double *x = measure_memory(4, width, err);
    if (!x)
        return PE_ERR_NOMEM;
    measure_normals(x, width, 1, seed);
    for (int64_t c = 0; c < width; c++) {
        x[width + c] = x[c] + first[c];
        x[2 * width + c] = x[c] + last[c];
    }
    normalise(x, x + width, width);
    normalise(x + 3 * width, x + 2 * width, width);
    *out = measure_difference(x, x + 3 * width, width);
    free(x);
    return PE_OK;
}

/* Words have variance 1; the noise is the code's mean square. */
static pe_status snr(prove_finding *out, const char *spec, const prove_given *g, double *last, pe_error *err)
{
    char of[96];
    double *code, change;
    int64_t width;
    PROVE_TRY(measure_line(&code, &width, spec, g, g->length, err));
    *last = 10 * log10(1 / mean_square(code, g->length * width));
    snprintf(of, sizeof of, "%.60s, %lld", spec, (long long)g->length);
    prove_add(out, (words){ "word to code, power", "词向量与编码的功率比（信噪比）" }, of, *last, "dB");
    for (int64_t n = 16; n < g->length; n *= 8) {
        snprintf(of, sizeof of, "%.60s, %lld", spec, (long long)n);
        prove_add(out, (words){ "word to code, power", "词向量与编码的功率比（信噪比）" }, of,
                  10 * log10(1 / mean_square(code, n * width)), "dB");
    }
    pe_status status = after_norm(&change, code, code + (g->length - 1) * width, width, g->seed, err);
    free(code);
    if (!status)
        prove_add(out, (words){ "change from first to last, after LayerNorm", "LayerNorm 之后首尾位置的差异" }, spec,
                  change, "");
    return status;
}

pe_status codes_drown(prove_finding *out, const prove_given *g, pe_error *err)
{
    double first, other;
    PROVE_TRY(snr(out, g->spec[0], g, &first, err));
    for (int i = 1; i < PROVE_SPECS_MAX && g->spec[i]; i++)
        PROVE_TRY(snr(out, g->spec[i], g, &other, err));
    if (first < 0 && g->put)
        prove_say(out, PROVE_HOLDS, (words){ "The code is louder than the word.", "编码的能量盖过了词向量。" });
    else if (first < 0)
        prove_say(
            out, PROVE_HOLDS,
            (words){ "The code is louder than the word, more so with every position; a LayerNorm, which takes the "
                     "mean off, would take an equal number in every element off too, and the position with it.",
                     "编码的能量盖过了词向量，而且位置越靠后越严重；若其后有减均值的 "
                     "LayerNorm，加在每一维上的同一个数会被整个减掉，位置信息也随之消失。" });
    else
        prove_say(out, PROVE_REFUTED, (words){ "The word is louder than the code.", "词向量的能量大于编码。" });
    return PE_OK;
}

/* ---------------------------------------------------------------- fractions */

/* The spec with each row's key for the length, where it has one; malloc'ed, NULL: no memory. */
static char *at_length(const char *spec, int64_t n)
{
    size_t size = strlen(spec) + 1;
    char *out = malloc(size), text[24];
    if (out)
        memcpy(out, spec, size);
    snprintf(text, sizeof text, "%lld", (long long)n);
    for (int i = 0; out && i < zoo_spec_parts(spec); i++) {
        const pe_info *row = zoo_spec_row(zoo_spec_part_at(out, i).text);
        char *old = out;
        if (row && row->key_length) {
            out = measure_with_key(old, i, row->key_length, text);
            free(old);
        }
    }
    return out;
}

static void say_fractions(prove_finding *out, const prove_given *g, double change)
{
    if (change <= MEASURE_ROUNDING)
        prove_say(out, PROVE_REFUTED, (words){ "The code is the same at both lengths.", "两种长度下编码相同。" });
    else if (g->put)
        prove_say(out, PROVE_HOLDS,
                  (words){ "Position 10 has another code in the longer text.", "文本变长后，位置 10 的编码变了。" });
    else
        prove_say(out, PROVE_HOLDS,
                  (words){ "The same place has another code in a longer text, and another place has its code.",
                           "文本变长后，同一位置的编码变了，而另一个位置占用了它的编码。" });
}

#define AT 10 /* the position that is looked at */

/* code[n] (length, width): in a text of length[n]. */
static void compare(prove_finding *out, const prove_given *g, double *const code[2], const int64_t length[2],
                    int64_t width)
{
    static const words of = { "length %.9g", "长度 %.9g" };
    double change = measure_difference(code[0] + AT * width, code[1] + AT * width, width);
    prove_add_at(out, (words){ "change of the code of position 10", "位置 10 的编码的变化" },
                 (words){ "length %.9g, then 8 times that", "长度 %.9g，再放大 8 倍" }, (double)length[0], change, "");
    for (int n = 0; n < 2; n++) {
        prove_add_at(out, (words){ "code of position 10", "位置 10 的编码" }, of, (double)length[n],
                     code[n][AT * width], "");
        prove_add_at(out, (words){ "step between neighbours", "相邻位置的步长" }, of, (double)length[n],
                     measure_difference(code[n], code[n] + width, width), "");
    }
    prove_add(out,
              (words){ "position 10 of the short, 80 of the long: difference", "短序列第 10 位与长序列第 80 位之差" },
              "", measure_difference(code[0] + AT * width, code[1] + 8 * AT * width, width), "");
    say_fractions(out, g, change);
}

pe_status codes_fractions(prove_finding *out, const prove_given *g, pe_error *err)
{
    const int64_t length[2] = { g->length / 8, g->length };
    double *code[2] = { NULL, NULL };
    int64_t width = 0;
    pe_status status = PE_OK;
    for (int n = 0; !status && n < 2; n++) {
        char *spec = at_length(g->spec[0], length[n]);
        status = spec ? measure_line(&code[n], &width, spec, g, g->length, err)
                      : io_fail(err, PE_ERR_NOMEM, "no memory for a spec like %.60s", g->spec[0]);
        free(spec);
    }
    if (!status)
        compare(out, g, code, length, width);
    free(code[0]), free(code[1]);
    return status;
}
