/* SPDX-License-Identifier: MIT
 *
 * Claims: the codes simpler than sinusoids. Integers are much larger than the word, bits jump, fractions depend on the
 * length. */
#include "prove/measure.h"
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

/* LayerNorm: x minus its mean, divided by its deviation. */
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

/* What one word's vector changes by between two positions, where a LayerNorm follows. */
typedef struct norm_change {
    const double *first, *last; /* codes */
    int64_t width;
    double word; /* deviation */
    double change[PROVE_SEEDS];
} norm_change;

static pe_status after_norm(void *with, int n, uint64_t seed, pe_error *err)
{
    norm_change *a = with;
    int64_t width = a->width;
    double *x = measure_memory(4, width, err);
    if (!x)
        return PE_ERR_NOMEM;
    measure_normals(x, width, a->word, seed);
    for (int64_t c = 0; c < width; c++) {
        x[width + c] = x[c] + a->first[c];
        x[2 * width + c] = x[c] + a->last[c];
    }
    normalise(x, x + width, width);
    normalise(x + 3 * width, x + 2 * width, width);
    a->change[n] = measure_difference(x, x + 3 * width, width);
    free(x);
    return PE_OK;
}

/* Deviations of a word's elements: PyTorch's embeddings start at the first, BERT's and GPT-2's at the second. */
static const double word_size[] = { 1, 0.02 };
enum { WORD_SIZES = sizeof word_size / sizeof *word_size };

/* The signal is the word, the noise the code's mean square. */
static pe_status snr(prove_finding *out, const char *spec, const prove_given *g, int *drowned, pe_error *err)
{
    static const words what = { "word to code, power", "词向量与编码的功率比（信噪比）" };
    char of[96];
    double *code;
    int64_t width;
    TRY(measure_code_table(&code, &width, spec, g, g->length, err));
    pe_status status = PE_OK;
    for (int i = 0; !status && i < WORD_SIZES; i++) {
        norm_change a = { code, code + (g->length - 1) * width, width, word_size[i], { 0 } };
        for (int64_t n = g->length; n >= 8; n /= 8) {
            double power = 10 * log10(word_size[i] * word_size[i] / mean_square(code, n * width));
            snprintf(of, sizeof of, "%.50s, word %g, %lld", spec, word_size[i], (long long)n);
            prove_add(out, what, of, power, "dB");
            *drowned += n == g->length && power < 0;
        }
        status = measure_each_seed(after_norm, &a, PROVE_SEEDS, g, err);
        snprintf(of, sizeof of, "%.50s, word %g", spec, word_size[i]);
        if (!status)
            measure_add_values(out,
                               (words){ "change from first to last, after LayerNorm", "LayerNorm 之后首尾位置的差异" },
                               of, a.change, PROVE_SEEDS, "");
    }
    free(code);
    return status;
}

/* given: specs, of which the first decides, length. HOLDS: its code has more power than words of either size. */
static pe_status codes_drown(prove_finding *out, const prove_given *g, pe_error *err)
{
    int drowned = 0, other = 0;
    TRY(snr(out, g->spec[0], g, &drowned, err));
    for (int i = 1; i < PROVE_SPECS_MAX && g->spec[i]; i++)
        TRY(snr(out, g->spec[i], g, &other, err));
    static const words put = { "The code has more power than the word.", "编码的能量盖过了词向量。" };
    static const words because[PROVE_VERDICT_COUNT] = {
        { "The code has more power than the word, and more with every position; a LayerNorm subtracts the mean, and "
          "with it a number that is equal in every element: the position is lost. Words of deviation 0.02 drown in a "
          "sinusoid as well, so models that add one scale their words first.",
          "编码的能量盖过了词向量，而且位置越靠后越严重；若其后有减均值的 "
          "LayerNorm，加在每一维上的同一个数会被整个减掉，"
          "位置信息也随之消失。标准差为 0.02 的词向量加上正弦编码也会被淹没，所以这样的模型先把词向量放大。" },
        { "The word has more power than the code.", "词向量的能量大于编码。" },
        { "It depends on the word: the code has more power than words of deviation 0.02, with which models start, and "
          "less than words of deviation 1.",
          "取决于词向量的大小：编码的能量大于标准差为 0.02 的词向量（模型的初始值），小于标准差为 1 的词向量。" },
    };
    prove_verdict v = drowned == WORD_SIZES ? PROVE_HOLDS : drowned ? PROVE_DEPENDS : PROVE_REFUTED;
    prove_say(out, v, v == PROVE_HOLDS && g->put ? put : because[v]);
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
    if (change <= PROVE_ROUNDING)
        prove_say(out, PROVE_REFUTED, (words){ "The code is the same at both lengths.", "两种长度下编码相同。" });
    else if (g->put)
        prove_say(out, PROVE_HOLDS,
                  (words){ "Position 10 has another code in the longer text.", "文本变长后，位置 10 的编码变了。" });
    else
        prove_say(
            out, PROVE_HOLDS,
            (words){ "The same position has a different code in a longer text, and a different position has its code.",
                     "文本变长后，同一位置的编码变了，而另一个位置占用了它的编码。" });
}

#define AT 10 /* the position whose codes are compared */

/* code[n] (length, width): in a text of length[n]. */
static void compare_codes(prove_finding *out, const prove_given *g, double *const code[2], const int64_t length[2],
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

static pe_status codes_fractions(prove_finding *out, const prove_given *g, pe_error *err)
{
    const int64_t length[2] = { g->length / 8, g->length };
    double *code[2] = { NULL, NULL };
    int64_t width = 0;
    pe_status status = PE_OK;
    for (int n = 0; !status && n < 2; n++) {
        char *spec = at_length(g->spec[0], length[n]);
        status = spec ? measure_code_table(&code[n], &width, spec, g, g->length, err)
                      : io_fail(err, PE_ERR_NOMEM, "no memory for a spec like %.60s", g->spec[0]);
        free(spec);
    }
    if (!status)
        compare_codes(out, g, code, length, width);
    free(code[0]), free(code[1]);
    return status;
}

#define JUMP 2.0 /* a code jumps if its largest step is this many times its smallest */

/* ---------------------------------------------------------------- steps */

typedef struct steps {
    double least, most;
    int64_t most_at; /* from here to the next */
    int64_t changed; /* elements that this step changes */
} steps;

static steps steps_of(const double *code, int64_t n, int64_t width)
{
    steps s = { .least = INFINITY };
    for (int64_t t = 0; t + 1 < n; t++) {
        double square = 0;
        int64_t changed = 0;
        for (int64_t c = 0; c < width; c++) {
            double d = code[(t + 1) * width + c] - code[t * width + c];
            square += d * d;
            changed += fabs(d) > 0.5;
        }
        s.least = fmin(s.least, sqrt(square));
        if (sqrt(square) > s.most)
            s = (steps){ s.least, sqrt(square), t, changed };
    }
    return s;
}

static pe_status steps_measured(steps *s, prove_finding *out, const char *spec, const prove_given *g, pe_error *err)
{
    double *code;
    int64_t width;
    TRY(measure_code_table(&code, &width, spec, g, g->length, err));
    *s = steps_of(code, g->length, width);
    free(code);
    prove_add(out, (words){ "largest step / smallest step", "最大步长与最小步长之比" }, spec,
              s->most > 0 ? s->most / s->least : 1, "");
    prove_add(out, (words){ "largest step between neighbours", "相邻位置的最大步长" }, spec, s->most, "");
    prove_add_at(out, (words){ "elements that change by more than 1/2 there", "该处变化超过 1/2 的维数" },
                 (words){ "from %.9g", "从 %.9g 起" }, (double)s->most_at, (double)s->changed, "");
    return PE_OK;
}

static pe_status codes_jump(prove_finding *out, const prove_given *g, pe_error *err)
{
    steps s;
    TRY(steps_measured(&s, out, g->spec[0], g, err));
    if (s.most > JUMP * s.least && g->put)
        prove_say(out, PROVE_HOLDS,
                  (words){ "The largest step is more than twice the smallest.", "最大的一步超过最小一步的两倍。" });
    else if (s.most > JUMP * s.least)
        prove_say(
            out, PROVE_HOLDS,
            (words){
                "The largest step is more than twice the smallest: in binary, the step to a power of two flips its "
                "bit and every bit below it at once, while every second step flips one.",
                "最大的一步超过最小一步的两倍：二进制走到 2 的幂时，该位和所有低位同时翻转，而每隔一步只翻转一位。" });
    else
        prove_say(out, PROVE_REFUTED,
                  (words){ "The largest step is at most twice the smallest.", "最大的一步不超过最小一步的两倍。" });
    return PE_OK;
}

static pe_status codes_smooth(prove_finding *out, const prove_given *g, pe_error *err)
{
    steps s;
    TRY(steps_measured(&s, out, g->spec[0], g, err));
    bool even = s.most - s.least < PROVE_ROUNDING * s.most;
    if (even && g->put)
        prove_say(out, PROVE_HOLDS, (words){ "All steps are of one size.", "各步大小一样。" });
    else if (even)
        prove_say(
            out, PROVE_HOLDS,
            (words){ "Every pair rotates by its own angle, the same at each position, so that every step is as long "
                     "as every other.",
                     "每一对维度每步转过固定的角度，因此每一步都一样长。" });
    else
        prove_say(out, PROVE_REFUTED, (words){ "Steps differ in size.", "各步大小不一。" });
    return PE_OK;
}

/* ---------------------------------------------------------------- bits */

enum { SHOWN = 252, BITS = 8 };

/* The smallest p <= n/2 after which element c repeats, over n positions; 0: none. */
static int64_t period(const double *code, int64_t n, int64_t width, int64_t c)
{
    for (int64_t p = 1; p <= n / 2; p++) {
        int64_t t = 0;
        while (t + p < n && fabs(code[(t + p) * width + c] - code[t * width + c]) < PROVE_ROUNDING)
            t++;
        if (t + p == n)
            return p;
    }
    return 0;
}

/* The periods of the first elements; how many are not those of bits. */
static int64_t add_periods(prove_finding *out, const double *code, const prove_given *g, int64_t width)
{
    int64_t wrong = 0;
    for (int64_t c = 0; c < BITS && c < width; c++) {
        int64_t p = period(code, g->length, width, c);
        wrong += p != INT64_C(2) << c;
        prove_add_at(out, (words){ "period (0: none)", "周期（0：没有）" }, (words){ "bit %.9g", "第 %.9g 位" },
                     (double)c, (double)p, "");
    }
    return wrong;
}

static void say_put_bits(prove_finding *out, int64_t wrong)
{
    measure_add_first(out, (words){ "elements with another period", "周期不符的维数" }, "", (double)wrong, "");
    if (wrong)
        prove_say(out, PROVE_REFUTED,
                  (words){ "These elements repeat after other numbers of positions, or do not repeat.",
                           "这些维以别的周期重复，或者不重复。" });
    else
        prove_say(out, PROVE_HOLDS,
                  (words){ "Each element repeats after twice as many positions as the one before.",
                           "每一维的周期都是前一维的两倍。" });
}

static void say_bits(prove_finding *out, const double *code, const prove_given *g, int64_t width, int64_t wrong)
{
    static const char expected[BITS + 1] = "11111100";
    char text[BITS + 1] = "";
    int64_t value = 0;
    for (int64_t c = 0; c < BITS && c < width && SHOWN < g->length; c++) {
        int64_t bit = code[SHOWN * width + c] > 0.5;
        text[BITS - 1 - c] = bit ? '1' : '0';
        value += bit << c;
    }
    measure_add_first(out, (words){ "what the bits of position 252 read", "位置 252 的各比特读作" }, text,
                      (double)value, "");
    prove_judge(out, !strcmp(text, expected) && !wrong,
                (words){ "252 is 11111100, and each bit is a square wave of twice the period of the one before.",
                         "252 即 11111100；每个比特都是方波，周期是前一位的两倍。" },
                (words){ "These elements are no bits of the position.", "这些维不是位置的比特。" });
}

static pe_status codes_bits(prove_finding *out, const prove_given *g, pe_error *err)
{
    double *code;
    int64_t width;
    TRY(measure_code_table(&code, &width, g->spec[0], g, g->length, err));
    int64_t wrong = add_periods(out, code, g, width);
    if (g->put)
        say_put_bits(out, wrong);
    else
        say_bits(out, code, g, width, wrong);
    free(code);
    return PE_OK;
}

/* ---------------------------------------------------------------- the claims */

#define WIDE .heads = 8, .head_dim = 64, .model_dim = 512, .length = 512, .seed = 1

static const prove_claim claims[] = {
    { .name = "integer-drowns",
      .claim = { "Integer codes, added to a word, drown it.", "把整数位置直接加到词向量上，会把词义淹没。" },
      .put = { "Added to a word, its code drowns it.", "加到词向量上，它的编码会把词义淹没。" },
      .source = "folklore; Kazemnejad 2019, Transformer Architecture: The Positional Encoding",
      .rule = { "It holds if the code has more power than the word (below 0 dB), for words of deviation 1, "
                "as PyTorch's embeddings start, and of 0.02, as BERT's and GPT-2's do.",
                "成立的条件：词向量标准差为 1（PyTorch 的初始值）和 0.02（BERT、GPT-2 的初始值）时，编码的功"
                "率都大于词向量（低于 0 dB）。" },
      .given = { WIDE, .spec = { "integer", "normalised", "binary", "sinusoidal" } },
      .measure = codes_drown,
      .takes = PE_HOOK_EMBED },
    { .name = "binary-jumps",
      .claim = { "Binary codes jump from one position to the next.", "二进制编码在相邻位置之间会跳变。" },
      .put = { "Its code jumps from one position to the next.", "它的编码在相邻位置之间会跳变。" },
      .source = "Kazemnejad 2019, Transformer Architecture: The Positional Encoding",
      .kind = PROVE_DEFINITION,
      .given = { WIDE, .spec = { "binary" } },
      .measure = codes_jump,
      .takes = PE_HOOK_EMBED },
    { .name = "sinusoids-smooth",
      .claim = { "Sinusoids do not jump: they are bits made smooth.", "正弦编码不跳变：它相当于平滑的二进制。" },
      .put = { "Its code does not jump: every step to the next position is as long as every other.",
               "它的编码不跳变：到下一个位置的每一步都一样长。" },
      .source = "Kazemnejad 2019, Transformer Architecture: The Positional Encoding",
      .kind = PROVE_ALGEBRA,
      .given = { WIDE, .spec = { "sinusoidal" } },
      .measure = codes_smooth,
      .takes = PE_HOOK_EMBED },
    { .name = "bit-periods",
      .claim = { "252 is 11111100, and bit k of the position has the period 2^(k+1).",
                 "252 写成二进制是 11111100；位置的第 k 位以 2^(k+1) 为周期。" },
      .put = { "Element k of its code has the period 2^(k+1), as bit k of the position has.",
               "它的编码的第 k 维以 2^(k+1) 为周期，如同位置的第 k 个比特。" },
      .source = "arithmetic",
      .kind = PROVE_ALGEBRA,
      .given = { WIDE, .spec = { "binary" } },
      .measure = codes_bits,
      .takes = PE_HOOK_EMBED },
    { .name = "fractions-depend",
      .claim = { "A position divided by the length, t/N, has a different code in a text of another length.",
                 "位置除以长度 t/N：同一位置在不同长度的文本里编码不同。" },
      .put = { "The code of one position is another in a text of another length.",
               "同一位置在不同长度的文本里编码不同。" },
      .source = "Kazemnejad 2019, Transformer Architecture: The Positional Encoding",
      .kind = PROVE_DEFINITION,
      .given = { WIDE, .spec = { "normalised" } },
      .measure = codes_fractions,
      .takes = PE_HOOK_EMBED },
};

const prove_group prove_group_codes = { .name = "codes",
                                        .title = { "From integers to waves", "从整数到波" },
                                        .claims = claims,
                                        .count = (int)(sizeof claims / sizeof *claims) };
