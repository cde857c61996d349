/* SPDX-License-Identifier: MIT
 *
 * Steps between neighbours, and the bits. */
#include "prove/codes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JUMP 2.0 /* the largest step against the smallest, from which on we call it a jump */

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
    PROVE_TRY(measure_line(&code, &width, spec, g, g->length, err));
    *s = steps_of(code, g->length, width);
    free(code);
    prove_add(out, (words){ "largest step / smallest step", "最大步长与最小步长之比" }, spec,
              s->most > 0 ? s->most / s->least : 1, "");
    prove_add(out, (words){ "largest step between neighbours", "相邻位置的最大步长" }, spec, s->most, "");
    prove_add_at(out, (words){ "elements that change by more than 1/2 there", "该处变化超过 1/2 的维数" },
                 (words){ "from %.9g", "从 %.9g 起" }, (double)s->most_at, (double)s->changed, "");
    return PE_OK;
}

pe_status codes_jump(prove_finding *out, const prove_given *g, pe_error *err)
{
    steps s;
    PROVE_TRY(steps_measured(&s, out, g->spec[0], g, err));
    if (s.most > JUMP * s.least && g->put)
        prove_say(out, PROVE_HOLDS,
                  (words){ "The largest step is more than twice the smallest.", "最大的一步超过最小一步的两倍。" });
    else if (s.most > JUMP * s.least)
        prove_say(
            out, PROVE_HOLDS,
            (words){
                "The largest step is more than twice the smallest: in binary, passing a power of two flips every "
                "bit below it at once, while elsewhere one or two flip.",
                "最大的一步超过最小一步的两倍：二进制跨过 2 的幂时，低位比特全部同时翻转，其他地方只翻转一两个。" });
    else
        prove_say(out, PROVE_REFUTED,
                  (words){ "The largest step is at most twice the smallest.", "最大的一步不超过最小一步的两倍。" });
    return PE_OK;
}

pe_status codes_smooth(prove_finding *out, const prove_given *g, pe_error *err)
{
    steps s;
    PROVE_TRY(steps_measured(&s, out, g->spec[0], g, err));
    bool even = s.most - s.least < MEASURE_ROUNDING * s.most;
    if (even && g->put)
        prove_say(out, PROVE_HOLDS, (words){ "All steps are of one size.", "各步大小一样。" });
    else if (even)
        prove_say(
            out, PROVE_HOLDS,
            (words){ "Every pair turns by its own angle, the same at each position, so that every step is as long "
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
        while (t + p < n && fabs(code[(t + p) * width + c] - code[t * width + c]) < MEASURE_ROUNDING)
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
    if (!strcmp(text, expected) && !wrong)
        prove_say(out, PROVE_HOLDS,
                  (words){ "252 is 11111100, and each bit is a square wave of twice the period of the one before.",
                           "252 即 11111100；每个比特都是方波，周期是前一位的两倍。" });
    else
        prove_say(out, PROVE_REFUTED,
                  (words){ "These elements are no bits of the position.", "这些维不是位置的比特。" });
}

pe_status codes_bits(prove_finding *out, const prove_given *g, pe_error *err)
{
    double *code;
    int64_t width;
    PROVE_TRY(measure_line(&code, &width, g->spec[0], g, g->length, err));
    int64_t wrong = add_periods(out, code, g, width);
    if (g->put)
        say_put_bits(out, wrong);
    else
        say_bits(out, code, g, width, wrong);
    free(code);
    return PE_OK;
}
