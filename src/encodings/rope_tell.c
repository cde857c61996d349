/* SPDX-License-Identifier: MIT
 *
 * How RoPE's frequencies and magnitude came about, for people: the formulas of rope_scaling.c with numbers in them. */
#include "encodings/rope.h"

#include <inttypes.h>
#include <string.h>

/* "10000^(-2/8)"; its number */
static double tell_power(const part *p, double theta, slot s, tell *out)
{
    int64_t over = rope_denominator(p, s);
    tell_say(out, "%s^(-%" PRId64 "/%" PRId64 ")", tell_number(theta).text, 2 * s.index, over);
    return pow(theta, -2 * (double)s.index / (double)over);
}

/* A line for theta where the NTK forms change it; d/(d-2) has no meaning for one pair. */
static double tell_theta(const part *p, int64_t d, tell *out)
{
    scaling how = (scaling)whole(p, SCALING);
    double theta = num(p, THETA), s = num(p, FACTOR), by;
    if (d <= 2 || (how != NTK && !(how == DYNAMIC && rope_is_long(p))))
        return theta;
    tell_say(out, "theta = %s · ", tell_number(theta).text);
    if (how == NTK) {
        by = num(p, ALPHA);
        tell_say(out, "%s", tell_number(by).text);
    } else {
        by = s * num(p, LENGTH) / num(p, TRAINED) - (s - 1);
        tell_say(out, "(%s · %s / %s - (%s - 1))", tell_number(s).text, tell_number(num(p, LENGTH)).text,
                 tell_number(num(p, TRAINED)).text, tell_number(s).text);
    }
    theta *= pow(by, (double)d / (double)(d - 2));
    tell_say(out, "^(%" PRId64 "/%" PRId64 ") = %s\n", d, d - 2, tell_number(theta).text);
    return theta;
}

/* ------------------------------------------------ kept in part, and divided by the factor in part */

/* One end of YaRN's ramp, a line: the pair that makes beta turns over the trained length. */
static double tell_edge(const part *p, int high, int64_t d, tell *out)
{
    double beta = num(p, high ? BETA_SLOW : BETA_FAST), most = (double)(d - 1);
    double turns = num(p, TRAINED) / (beta * wide_two_pi().part[0]);
    double edge = (double)d * log(turns) / (2 * log(num(p, THETA)));
    bool whole_pairs = num(p, TRUNCATE) != 0;
    if (whole_pairs)
        edge = high ? ceil(edge) : floor(edge);
    edge = high ? fmin(edge, most) : fmax(edge, 0);
    tell_say(out, "%s = %s(%s", high ? "high" : "low", high ? "min" : "max",
             !whole_pairs ? "("
             : high       ? "ceil("
                          : "floor(");
    tell_say(out, "%" PRId64 " · log(%s / (%s · 2π)) / (2 · log(%s))), %s) = %s\n", d,
             tell_number(num(p, TRAINED)).text, tell_number(beta).text, tell_number(num(p, THETA)).text,
             tell_number(high ? most : 0).text, tell_number(edge).text);
    return edge;
}

/* A line: how much of pair n's frequency is kept, from the place of the pair on YaRN's ramp. */
static double keep_yarn(const part *p, int64_t n, slot s, tell *out)
{
    double low = tell_edge(p, 0, s.width, out), high = tell_edge(p, 1, s.width, out);
    double span = high == low ? 0.001 : high - low, ramp = fmin(fmax(((double)s.index - low) / span, 0), 1);
    tell_say(out, "keep_%" PRId64 " = 1 - min(max((%" PRId64 " - %s) / ", n, s.index, tell_number(low).text);
    if (high == low)
        tell_say(out, "0.001");
    else
        tell_say(out, "(%s - %s)", tell_number(high).text, tell_number(low).text);
    tell_say(out, ", 0), 1) = %s\n", tell_number(1 - ramp).text);
    return 1 - ramp;
}

/* The same from the turns that the pair makes over the trained length: Llama 3's three bands. */
static double keep_llama3(const part *p, int64_t n, double f, tell *out)
{
    double turns = num(p, TRAINED) * f / wide_two_pi().part[0], low = num(p, LOW), high = num(p, HIGH);
    double keep = low == high ? turns >= low : fmin(fmax((turns - low) / (high - low), 0), 1);
    tell_say(out, "turns_%" PRId64 " = %s · %s / (2π) = %s\n", n, tell_number(num(p, TRAINED)).text,
             tell_number(f).text, tell_number(turns).text);
    tell_say(out, "low = %s\nhigh = %s\nkeep_%" PRId64 " = ", tell_number(low).text, tell_number(high).text, n);
    if (low != high)
        tell_say(out, "min(max((%s - %s) / (%s - %s), 0), 1) = ", tell_number(turns).text, tell_number(low).text,
                 tell_number(high).text, tell_number(low).text);
    tell_say(out, "%s\n", tell_number(keep).text);
    return keep;
}

static void tell_mixed(const part *p, int64_t n, slot s, const char *open, tell *out)
{
    tell_say(out, "base_%" PRId64 " = ", n);
    double f = tell_power(p, num(p, THETA), s, out);
    tell_say(out, " = %s\n", tell_number(f).text);
    double keep = whole(p, SCALING) == YARN ? keep_yarn(p, n, s, out) : keep_llama3(p, n, f, out);
    number_text base = tell_number(f), part_kept = tell_number(keep);
    tell_say(out, "%s%s · %s + %s / %s · (1 - %s)", open, base.text, part_kept.text, base.text,
             tell_number(num(p, FACTOR)).text, part_kept.text);
}

/* ------------------------------------------------ one divisor or none */

static void tell_divided(const part *p, int64_t n, slot s, const char *open, tell *out)
{
    scaling how = (scaling)whole(p, SCALING);
    if (p->value[FREQUENCIES].given) {
        tell_say(out, "%s%s", open, tell_number(p->value[FREQUENCIES].list[n]).text);
        return;
    }
    double theta = tell_theta(p, s.width, out);
    bool by_factor = how == LINEAR || (how == PROPORTIONAL && p->value[FACTOR].given);
    int key = rope_is_long(p) ? LONG : SHORT;
    double by = how == LONGROPE ? p->value[key].list[n] : by_factor ? num(p, FACTOR) : 1;
    if (how == LONGROPE)
        tell_say(out, "%s[%" PRId64 "] = %s\n", p->row->keys[key].name, n, tell_number(by).text);
    tell_say(out, "%s%s", open, how == PROPORTIONAL && !rope_rotates(p, s) ? "0 · " : "");
    tell_power(p, theta, s, out);
    if (how == LONGROPE || by_factor)
        tell_say(out, " / %s", tell_number(by).text);
}

/* ------------------------------------------------ the magnitude */

/* g(s, m) = 0.1 m ln s + 1 */
static void tell_yarn_gain(double s, double m, bool alone, tell *out)
{
    if (s <= 1) {
        tell_say(out, "1");
        return;
    }
    tell_say(out, "%s0.1 · ", alone ? "" : "(");
    if (m != 1)
        tell_say(out, "%s · ", tell_number(m).text);
    tell_say(out, "log(%s) + 1%s", tell_number(s).text, alone ? "" : ")");
}

static void tell_scaled_magnitude(const part *p, tell *out)
{
    scaling how = (scaling)whole(p, SCALING);
    double s = num(p, FACTOR), all = num(p, MSCALE_ALL_DIM);
    bool own = p->value[MAGNITUDE].given || p->value[rope_is_long(p) ? LONG_MAGNITUDE : SHORT_MAGNITUDE].given;
    if (!own && how == YARN) {
        tell_yarn_gain(s, all != 0 ? num(p, MSCALE) : 1, all == 0 && num(p, TEMPERATURE) == 0, out);
        if (all != 0) {
            tell_say(out, " / ");
            tell_yarn_gain(s, all, false, out);
        }
    } else if (!own && how == LONGROPE && rope_magnitude(p) != 1)
        tell_say(out, "sqrt(1 + log(%s) / log(%s))", tell_number(s).text, tell_number(num(p, TRAINED)).text);
    else
        tell_say(out, "%s", tell_number(rope_magnitude(p)).text);
}

/* "1 + 0.1 · log(1 + max(floor((7 + 1) / 64), 0))" */
void rope_tell_gain(const part *p, const int64_t *at, tell *out)
{
    tell_say(out, "1 + %s · log(1 + max(floor((%" PRId64 " + %s) / %s), 0))", tell_number(num(p, TEMPERATURE)).text,
             at[0], tell_number(num(p, SHIFT)).text, tell_number(num(p, FLOOR)).text);
}

/* A line for what multiplies cos and sin, a query's temperature with it; none where it is 1. */
static void tell_magnitude(const part *p, const pe_question *of, tell *out)
{
    const int64_t *at = of->q_at;
    double m = rope_magnitude(p), b = of->side == PE_QUERY ? num(p, TEMPERATURE) : 0;
    double gain = p->row->gain(p, of->side, at);
    if (m == 1 && b == 0)
        return;
    tell_say(out, "m = ");
    tell_scaled_magnitude(p, out);
    if (b != 0) {
        tell_say(out, " · (");
        rope_tell_gain(p, at, out);
        tell_say(out, ")");
    }
    tell_say(out, " = %s\n", tell_number(m * gain).text);
}

/* ------------------------------------------------ the formula */

/* "theta^(-2i/(d-2))"; where a scaling has more than one case, its name stands for what it does. */
static void tell_spectrum(const part *p, tell *out)
{
    static const char *const over[] = { "d", "(d-2)", "(d-1)" };
    scaling how = (scaling)whole(p, SCALING);
    if (p->value[FREQUENCIES].given)
        tell_say(out, "frequencies[i]");
    else if (how == NTK)
        tell_say(out, "(theta alpha^(d/(d-2)))^(-2i/%s)", over[whole(p, DENOMINATOR)]);
    else if (how == UNSCALED || how == LINEAR)
        tell_say(out, "theta^(-2i/%s)%s", over[whole(p, DENOMINATOR)], how == LINEAR ? " / factor" : "");
    else {
        const char *name = p->row->keys[SCALING].choices;
        for (int n = 0; n < (int)how; n++)
            name = strchr(name, '|') + 1;
        tell_say(out, "%.*s(theta^(-2i/%s))", (int)strcspn(name, "|"), name, over[whole(p, DENOMINATOR)]);
    }
}

void rope_settle_formula(part *p)
{
    const value *steps = &p->value[STEPS];
    tell out = tell_into(p->formula, sizeof p->formula);
    if (!p->value[FREQUENCIES].given && !steps->given && whole(p, SCALING) == UNSCALED && num(p, SIGN) == 0 &&
        num(p, COORDS) == 0 && whole(p, DENOMINATOR) == 0)
        return;
    tell_say(&out, "(x, y) -> m (x cos a - y sin a, x sin a + y cos a), a = %s", num(p, SIGN) != 0 ? "-" : "");
    if (steps->given && steps->count == 1)
        tell_say(&out, "%s ", tell_number(steps->list[0]).text);
    tell_say(&out, "%s%s f_i, f_i = ", steps->given && steps->count > 1 ? "steps[axis] " : "",
             num(p, COORDS) != 0 ? "2π c" : "t");
    tell_spectrum(p, &out);
}

/* ------------------------------------------------ a pair */

void rope_tell_pair(const part *p, const pe_question *of, tell *out)
{
    int64_t n = of->element;
    slot s = rope_slot(p, n);
    scaling how = (scaling)whole(p, SCALING);
    bool negative = num(p, SIGN) != 0, cells = num(p, COORDS) != 0;
    bool sum = how == YARN || how == LLAMA3;
    double by = rope_step(p, s.axis);
    const char *open = negative ? "-(" : (cells || by != 1) && sum ? "(" : "";
    tell_magnitude(p, of, out);
    if (sum)
        tell_mixed(p, n, s, open, out);
    else
        tell_divided(p, n, s, open, out);
    tell_say(out, "%s", *open ? ")" : "");
    if (cells) /* the centre of cell t is (2t + 1 - N)/N, and a whole turn is 2 pi */
        tell_say(out, " · 2 · 2π / %s", tell_number(p->value[EXTENT].list[s.axis]).text);
    if (by != 1)
        tell_say(out, " · %s", tell_number(by).text);
}
