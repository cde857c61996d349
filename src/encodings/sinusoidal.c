/* SPDX-License-Identifier: MIT
 *
 * sinusoidal: sines and cosines of the position at geometrically falling frequencies; several axes share the width
 * equally, one block after the other.
 *   p_t[2i] = s sin(u f_i), p_t[2i+1] = s cos(u f_i),  u = steps (t + offset)
 *   f_i = m (theta/m)^(-2i/d),  m = min_timescale                                           (Vaswani et al. 2017)
 * or f_i as given: frequencies in radians per position, or 2 pi / periods. An odd width ends with a wave whose partner
 * is missing, or, where all sines come before all cosines, with a 0 (tensor2tensor, fairseq, diffusers). */
#include "encodings/shared.h"

#include <inttypes.h>
#include <string.h>

enum { THETA, LAYOUT, ORDER, DENOMINATOR, OFFSET, AXES, MIN, FREQUENCIES, PERIODS, STEPS, SCALE, JOIN, WIDTH };
static const pe_key keys[] = {
    { "theta", PE_KEY_REAL, "10000", 1, 1e15, NULL, NULL, "base of the wavelengths", "max_timescale|max_period",
      false },
    { "layout", PE_KEY_CHOICE, "interleaved", 0, 0, "interleaved|halves", NULL,
      "sin and cos interleaved, or all sines and then all cosines", NULL, false },
    { "order", PE_KEY_CHOICE, "sin-cos", 0, 0, "sin-cos|cos-sin", NULL, "whether sin or cos comes first",
      "flip_sin_to_cos", false },
    { "denominator", PE_KEY_CHOICE, "d", 0, 0, "d|d-2", NULL, "exponent 2i/d, or 2i/(d-2) = i/(d/2-1)",
      "downscale_freq_shift", false },
    { "offset", PE_KEY_INT, "0", -1048576, 1048576, NULL, NULL, "added to every position (fairseq: 2)", NULL, false },
    { "axes", PE_KEY_INT, "1", 1, PE_AXES_MAX, NULL, NULL, "coordinates per token", NULL, false },
    { "min_timescale", PE_KEY_REAL, "1", 0x1p-10, 0x1p10, NULL, NULL,
      "m: the first frequency; the others are m (theta/m)^(-2i/d) (tensor2tensor, flax, TimesFM)", "min_scale", false },
    { "frequencies", PE_KEY_LIST, "", 0, FREQUENCY_MAX, NULL, NULL,
      "radians per position, for each sine and cosine of a coordinate; replaces theta", "freqs", false },
    { "periods", PE_KEY_LIST, "", 0x1p-8, 0x1p60, NULL, NULL,
      "positions per turn, for each sine and cosine of a coordinate; replaces theta", "wavelengths", false },
    { "steps", PE_KEY_LIST, "", 0x1p-20, 0x1p20, NULL, NULL,
      "what coordinates are multiplied by: one number, or one per axis (diffusers: scale)", NULL, false },
    { "scale", PE_KEY_REAL, "1", 0x1p-20, 0x1p20, NULL, NULL, "s: factor on the code (x-transformers: d^-0.5)",
      "amplitude", false },
    EMBED_KEYS,
};
static const char *const examples[] = {
    "sinusoidal",
    "sinusoidal:layout=halves",
    "sinusoidal:layout=halves,denominator=d-2,offset=2",
    "sinusoidal:axes=2",
    "sinusoidal:order=cos-sin,axes=4,theta=100",
    "sinusoidal:join=concat,width=64",
    "sinusoidal:join=concat,width=9",
    "sinusoidal:layout=halves,join=concat,width=9,scale=0.5",
    "sinusoidal:layout=halves,denominator=d-2,min_timescale=2,theta=5000",
    "sinusoidal:periods=4/12,join=concat,width=4",
    "sinusoidal:frequencies=1/0.5/0.3/0.01,join=concat,width=8",
    "sinusoidal:axes=2,steps=1/0.25",
};

/* ------------------------------------------------ frequencies */

/* Waves of one coordinate with frequencies of their own: of an odd width the last has no partner, or there is a 0. */
static int64_t wave_count(const part *p)
{
    int64_t d = p->width / p->axes;
    return num(p, LAYOUT) != 0 ? d / 2 : (d + 1) / 2;
}

/* What 2i is divided by. */
static int64_t denominator(const part *p)
{
    int64_t d = p->width / p->axes;
    d -= num(p, LAYOUT) != 0 ? d % 2 : 0; /* without the 0 */
    return num(p, DENOMINATOR) != 0 && d > 2 ? d - 2 : d;
}

static double step(const part *p, int64_t axis)
{
    const value *v = &p->value[STEPS];
    return v->given ? v->list[v->count > 1 ? axis : 0] : 1;
}

static pe_status check_lists(const part *p, pe_error *err)
{
    for (int key = FREQUENCIES; key <= PERIODS; key++) {
        const value *v = &p->value[key];
        if (!v->given)
            continue;
        if (v->count != wave_count(p))
            return pe_fail(err, PE_ERR_SPEC,
                           "sinusoidal: %s holds %" PRId64 " numbers; needs one per sine and cosine, %" PRId64,
                           keys[key].name, v->count, wave_count(p));
        if (p->value[THETA].given || p->value[MIN].given || p->value[DENOMINATOR].given ||
            (key == PERIODS && p->value[FREQUENCIES].given))
            return part_fail(p, err, key, "goes without theta, denominator, min_timescale and the other list");
    }
    if (p->value[STEPS].given && p->value[STEPS].count > 1 && p->value[STEPS].count != p->axes)
        return part_fail(p, err, STEPS, "needs one number, or one per axis");
    return PE_OK;
}

/* Turns per position of one coordinate's waves, for steps of 1. */
static void fill_frequencies(const part *p, wide *f, int64_t count)
{
    const value *given = &p->value[FREQUENCIES], *periods = &p->value[PERIODS];
    wide m = wide_from(num(p, MIN)), ratio = wide_div(wide_from(num(p, THETA)), m);
    bool plain = num(p, MIN) == 1;
    if (!given->given && !periods->given && plain)
        spectrum(f, count, num(p, THETA), denominator(p));
    for (int64_t i = 0; i < count; i++)
        if (given->given)
            f[i] = wide_div(wide_from(given->list[i]), wide_two_pi());
        else if (periods->given)
            f[i] = wide_div(wide_from(1), wide_from(periods->list[i]));
        else if (!plain) {
            wide exponent = wide_div(wide_from((double)(-2 * i)), wide_from((double)denominator(p)));
            f[i] = wide_div(wide_mul(m, wide_pow(ratio, i ? exponent : wide_from(0))), wide_two_pi());
        }
}

/* ------------------------------------------------ the formula */

/* "(t + 2)", "0.5 t"; with a step for each coordinate, "steps[axis] t". */
static void tell_coordinate(const part *p, tell *out)
{
    const value *steps = &p->value[STEPS];
    int64_t offset = whole(p, OFFSET);
    if (steps->given)
        tell_say(out, "%s ", steps->count > 1 ? "steps[axis]" : tell_number(steps->list[0]).text);
    if (offset)
        tell_say(out, "(t %c %" PRId64 ")", offset < 0 ? '-' : '+', offset < 0 ? -offset : offset);
    else
        tell_say(out, "t");
}

static void tell_wave(const part *p, bool second, tell *out)
{
    int64_t d = p->width / p->axes;
    if (num(p, LAYOUT) == 0)
        tell_say(out, "p_t[2i%s] = ", second ? "+1" : "");
    else
        tell_say(out, "p_t[i%s] = ", !second ? "" : d % 2 ? " + (d-1)/2" : " + d/2");
    if (num(p, SCALE) != 1)
        tell_say(out, "%s ", tell_number(num(p, SCALE)).text);
    tell_say(out, "%s(", second == (num(p, ORDER) != 0) ? "sin" : "cos");
    tell_coordinate(p, out);
    tell_say(out, " f_i)");
}

/* The row's formula as the keys change it. */
static void settle_formula(part *p)
{
    int64_t less = p->width / p->axes - denominator(p);
    double m = num(p, MIN);
    bool lists = p->value[FREQUENCIES].given || p->value[PERIODS].given;
    tell out = tell_into(p->formula, sizeof p->formula);
    if (!lists && m == 1 && num(p, SCALE) == 1 && !p->value[STEPS].given && whole(p, OFFSET) == 0 &&
        num(p, LAYOUT) == 0 && num(p, ORDER) == 0 && less == 0)
        return;
    tell_wave(p, false, &out);
    tell_say(&out, ", ");
    tell_wave(p, true, &out);
    tell_say(&out, ", f_i = ");
    if (lists)
        tell_say(&out, p->value[PERIODS].given ? "2π / periods[i]" : "frequencies[i]");
    else if (m != 1)
        tell_say(&out, "%s (theta/%s)^(-2i/", tell_number(m).text, tell_number(m).text);
    else
        tell_say(&out, "theta^(-2i/");
    if (!lists && less)
        tell_say(&out, "(d-%" PRId64 "))", less);
    else if (!lists)
        tell_say(&out, "d)");
}

/* ------------------------------------------------ making it */

static pe_status init(part *p, pe_error *err)
{
    embed_init(p, JOIN);
    p->axes = whole(p, AXES);
    if (p->width % p->axes)
        return pe_fail(err, PE_ERR_SHAPE, "sinusoidal: the width is %" PRId64 "; needs a multiple of axes, %" PRId64,
                       p->width, p->axes);
    TRY(check_lists(p, err));
    int64_t d = p->width / p->axes, count = wave_count(p);
    wide *f = part_alloc(p, p->axes * count, sizeof *f, err);
    if (!f)
        return PE_ERR_NOMEM;
    fill_frequencies(p, f, count);
    bool alike = true, ones = true, moves = false;
    for (int64_t n = p->axes * count - 1; n >= 0; n--) { /* from the end: the first axis is read by all */
        alike = alike && step(p, n / count) == step(p, 0);
        f[n] = wide_mul(f[n % count], wide_from(step(p, n / count)));
        if (!(f[n].part[0] <= FREQUENCY_MAX / 6.28))
            return pe_fail(err, PE_ERR_SPEC,
                           "sinusoidal: wave %" PRId64 " of axis %" PRId64 " has more than 2^11 radians per position",
                           n % count, n / count);
        ones = ones && step(p, n / count) == 1;
        moves = moves || f[n].part[0] > 0;
    }
    p->value[STEPS].given = !ones;                 /* one canonical form */
    settle_formula(p);
    if (d % 2 == 0 && alike && num(p, SCALE) == 1) /* others have no loops of their own */
        p->waves = (waves){ f, count, num(p, OFFSET), num(p, LAYOUT) != 0, num(p, ORDER) != 0, NULL };
    if (p->axes > 1)
        p->claims |= PE_CLAIM_AXES;
    if (d % 2 && num(p, LAYOUT) == 0) /* a wave without its partner */
        p->claims &= ~(PE_CLAIM_LINEAR | PE_CLAIM_SYMMETRIC);
    if (p->value[PERIODS].given || !moves) /* periods have a common multiple, or are none */
        p->claims &= ~PE_CLAIM_UNIQUE;
    return PE_OK;
}

/* ------------------------------------------------ the code */

/* Which wave element r of a coordinate's d is, and whether it is the second of its pair; -1: it is 0. */
static int64_t wave_of(const part *p, int64_t r, bool *second)
{
    int64_t count = wave_count(p);
    bool halves = num(p, LAYOUT) != 0;
    *second = halves ? r >= count : r % 2;
    return !halves ? r / 2 : r < 2 * count ? r % count : -1;
}

static void embed(const part *p, pe_params w, const double *at, int64_t first, int64_t count, double *code)
{
    (void)w;
    int64_t d = p->width / p->axes;
    for (int64_t c = first; c < first + count; c++) {
        bool second;
        int64_t axis = c / d, i = wave_of(p, c % d, &second);
        double cosine = 0, sine = 0;
        if (i >= 0)
            turn_cos_sin(at[axis] + num(p, OFFSET), ((const wide *)p->state)[axis * wave_count(p) + i], &cosine, &sine);
        code[c - first] = num(p, SCALE) * (second == (num(p, ORDER) != 0) ? sine : cosine);
    }
}

/* ------------------------------------------------ for people */

/* "10000^(-2/8)"; its number in radians. */
static double tell_frequency(const part *p, int64_t i, tell *out)
{
    double m = num(p, MIN), theta = num(p, THETA), exponent = -2 * (double)i / (double)denominator(p);
    if (p->value[FREQUENCIES].given) {
        tell_say(out, "%s", tell_number(p->value[FREQUENCIES].list[i]).text);
        return p->value[FREQUENCIES].list[i];
    }
    if (p->value[PERIODS].given) {
        tell_say(out, "2π / %s", tell_number(p->value[PERIODS].list[i]).text);
        return wide_two_pi().part[0] / p->value[PERIODS].list[i];
    }
    if (m != 1)
        tell_say(out, "%s · (%s / %s)", tell_number(m).text, tell_number(theta).text, tell_number(m).text);
    else
        tell_say(out, "%s", tell_number(theta).text);
    tell_say(out, "^(-%" PRId64 "/%" PRId64 ")", 2 * i, denominator(p));
    return m * pow(theta / m, exponent);
}

static void tell_code(const part *p, pe_params w, const int64_t *at, int64_t c, tell *out)
{
    (void)w;
    bool second;
    int64_t d = p->width / p->axes, axis = c / d, i = wave_of(p, c % d, &second), t = at[axis] + whole(p, OFFSET);
    const char *name = second == (num(p, ORDER) != 0) ? "sin" : "cos";
    double u = step(p, axis), s = num(p, SCALE);
    number_text by = tell_number(u), factor = tell_number(s);
    if (i < 0) {
        tell_say(out, "0");
        return;
    }
    char room[200];
    tell formula = tell_into(room, sizeof room);
    number_text frequency = tell_number(tell_frequency(p, i, &formula));
    bool alone = !strcmp(room, frequency.text); /* given as a number */
    for (int pass = 0; pass < 2 - alone; pass++) { /* the formula, then its numbers */
        tell_say(out, "%s%s%s%s(%" PRId64 " · ", pass ? " = " : "", s != 1 ? factor.text : "", s != 1 ? " · " : "",
                 name, t);
        if (u != 1)
            tell_say(out, "%s · ", by.text);
        tell_say(out, "%s)", pass ? frequency.text : room);
    }
}

const row pe_row_sinusoidal = {
    .keys = keys,
    .info = { .name = "sinusoidal",
              .summary = "Adds sines and cosines of the position, at decreasing frequencies, to the embedding (or "
                         "concatenates them).",
              .formula = "p_t[2i] = sin(t theta^(-2i/d)), p_t[2i+1] = cos(t theta^(-2i/d))",
              .paper = "Vaswani et al. 2017",
              .arxiv = "1706.03762",
              .models = "Transformer|Marian|XLM|Whisper encoder|M2M-100|MAE (axes=2, layout=halves, (x, y))|"
                        "DETR (axes=2, coordinates scaled to 2 pi)",
              .idea = PE_IDEA_ABSOLUTE,
              .hooks = PE_HOOK_EMBED,
              .claims = PE_CLAIM_UNIQUE | PE_CLAIM_ANY_LENGTH | PE_CLAIM_BOUNDED | PE_CLAIM_LINEAR |
                        PE_CLAIM_SYMMETRIC | PE_CLAIM_ENDLESS,
              .key_count = COUNT_OF(keys),
              .examples = examples,
              .example_count = COUNT_OF(examples),
              .also = "sinusoid|sincos|sin|absolute|fixed|timestep" },
    .init = init,
    .embed = embed,
    .fractional = true,
    .tell_embed = tell_code,
};
