/* SPDX-License-Identifier: MIT
 *
 * RoPE's frequencies and the ways to change them for longer contexts. f = theta^(-2i/d) as turns per position, in wide
 * arithmetic throughout: truth is the formula on the spec's numbers.
 *   linear        f / s                                              Chen et al. 2023, 2306.15595
 *   dynamic       theta (s n/L - (s - 1))^(d/(d-2)), n = max(length, L)        transformers, "dynamic NTK"
 *   ntk           theta alpha^(d/(d-2))                                        "NTK-aware"
 *   yarn          f (1 - ramp) + f/s ramp                            Peng et al. 2023, 2309.00071
 *   longrope      f / short_i or f / long_i                          Ding et al. 2024, 2402.13753
 *   llama3        kept, divided by s, or mixed by its turns in L     Llama 3.1
 *   proportional  the first share of the pairs over the whole head's spectrum, the rest at 0; / s
 *                                                                    Barbero et al. 2024, 2410.06205 */
#include "encodings/rope.h"

#include <inttypes.h>

/* factor has no default, but where a scaling can do without. */
static bool needs_factor(const part *p)
{
    const value *v = p->value;
    bool magnitudes = v[MAGNITUDE].given || (v[SHORT_MAGNITUDE].given && v[LONG_MAGNITUDE].given);
    switch ((scaling)whole(p, SCALING)) {
    case LINEAR:
    case DYNAMIC:
    case YARN:
    case LLAMA3: return true;
    case LONGROPE: return !magnitudes; /* they follow from it */
    default: return false;
    }
}

pe_status rope_check_scaling(part *p, pe_error *err)
{
    scaling how = (scaling)whole(p, SCALING);
    if (needs_factor(p) && !p->value[FACTOR].given)
        return pe_fail(err, PE_ERR_SPEC, "rope: factor is missing; %s needs it (%s)", p->row->keys[FACTOR].when,
                       p->row->keys[FACTOR].help);
    if (how == LONGROPE)
        for (int key = SHORT; key <= LONG; key++) {
            if (p->value[key].count != p->pairs)
                return pe_fail(err, PE_ERR_SPEC, "rope: %s holds %" PRId64 " numbers; needs %" PRId64 ", one per pair",
                               p->row->keys[key].name, p->value[key].count, p->pairs);
        }
    if (how == LLAMA3 && num(p, HIGH) < num(p, LOW))
        return pe_fail(err, PE_ERR_RANGE, "rope: high is %s; needs low, %s, or more", text_show(num(p, HIGH)).text,
                       text_show(num(p, LOW)).text);
    if (how == DYNAMIC && num(p, FACTOR) < 1)
        return part_fail(p, err, FACTOR, "needs 1 or more with scaling=dynamic");
    if (how == YARN && num(p, THETA) <= 1)
        return part_fail(p, err, THETA, "needs more than 1 with scaling=yarn");
    if (num(p, MSCALE) == 0 || num(p, MSCALE_ALL_DIM) == 0) /* one canonical form: only both together count */
        p->value[MSCALE] = p->value[MSCALE_ALL_DIM] = (value){ 0 };
    if (p->value[MAGNITUDE].given) {
        p->value[MAGNITUDE].given = false;
        bool follows = !(needs_factor(p) && !p->value[FACTOR].given) && num(p, MAGNITUDE) == rope_magnitude(p);
        p->value[MAGNITUDE].given = !follows; /* one canonical form: what the scaling says anyway is left out */
    }
    if (p->value[LENGTH].given && num(p, LENGTH) <= num(p, TRAINED))
        p->value[LENGTH].given = false; /* one canonical form: up to the trained length nothing changes */
    return PE_OK;
}

/* g(s, m) = 0.1 m ln s + 1, YaRN's temperature as a factor. */
static double yarn_gain(double s, double m)
{
    return s <= 1 ? 1 : 0.1 * m * log(s) + 1;
}

bool rope_is_long(const part *p)
{
    return p->value[LENGTH].given && num(p, LENGTH) > num(p, TRAINED);
}

double rope_magnitude(const part *p)
{
    scaling how = (scaling)whole(p, SCALING);
    double s = num(p, FACTOR);
    if (p->value[MAGNITUDE].given)
        return num(p, MAGNITUDE);
    if (how == YARN && num(p, MSCALE) != 0 && num(p, MSCALE_ALL_DIM) != 0)
        return yarn_gain(s, num(p, MSCALE)) / yarn_gain(s, num(p, MSCALE_ALL_DIM));
    if (how == YARN)
        return yarn_gain(s, 1);
    if (how == LONGROPE) {
        int key = rope_is_long(p) ? LONG_MAGNITUDE : SHORT_MAGNITUDE;
        if (p->value[key].given)
            return num(p, key);
        return s <= 1 || num(p, TRAINED) <= 1 ? 1 : sqrt(1 + log(s) / log(num(p, TRAINED)));
    }
    return 1;
}

/* theta times what the NTK forms multiply it by; d/(d-2) has no meaning for one pair, whose frequency is 1 anyway. */
static wide base(const part *p, int64_t d)
{
    wide theta = wide_from(num(p, THETA)), by = wide_from(1);
    scaling how = (scaling)whole(p, SCALING);
    if (d <= 2 || (how != DYNAMIC && how != NTK))
        return theta;
    if (how == NTK)
        by = wide_from(num(p, ALPHA));
    else if (rope_is_long(p)) {
        wide s = wide_from(num(p, FACTOR));
        by = wide_div(wide_mul(s, wide_from(num(p, LENGTH))), wide_from(num(p, TRAINED)));
        by = wide_sub(by, wide_sub(s, wide_from(1)));
    }
    return wide_mul(theta, wide_pow(by, wide_div(wide_from((double)d), wide_from((double)(d - 2)))));
}

int64_t rope_denominator(const part *p, slot s)
{
    static const int less[] = { 0, 2, 1 }; /* d, d-2, d-1 */
    return s.width > 2 ? s.width - less[whole(p, DENOMINATOR)] : s.width;
}

static wide power(const part *p, wide theta, int64_t index, slot s)
{
    wide exponent = wide_div(wide_from((double)(-2 * index)), wide_from((double)rope_denominator(p, s)));
    return wide_pow(theta, index ? exponent : wide_from(0));
}

/* The pair that makes beta turns over the trained length: d ln(L / (2 pi beta)) / (2 ln theta). */
static wide yarn_edge(const part *p, double beta, int64_t d)
{
    wide turns = wide_div(wide_from(num(p, TRAINED)), wide_mul(wide_from(beta), wide_two_pi()));
    wide theta = wide_log(wide_from(num(p, THETA)));
    return wide_div(wide_mul(wide_from((double)d), wide_log(turns)), wide_scale(theta, 2));
}

static void yarn_edges(const part *p, rope_run *run, slot s)
{
    wide low = yarn_edge(p, num(p, BETA_FAST), s.width), high = yarn_edge(p, num(p, BETA_SLOW), s.width);
    if (num(p, TRUNCATE) != 0) {
        low = wide_floor(low);
        high = wide_scale(wide_floor(wide_scale(high, -1)), -1);
    }
    run->low = wide_clamp(low, 0, INFINITY);
    run->span = wide_sub(wide_clamp(high, -INFINITY, (double)(s.width - 1)), run->low);
    if (run->span.part[0] == 0)
        run->span = wide_from(0.001);
}

static wide yarn(const part *p, const rope_run *run, wide f, slot s)
{
    wide ramp = wide_clamp(wide_div(wide_sub(wide_from((double)s.index), run->low), run->span), 0, 1);
    wide slow = wide_div(f, wide_from(num(p, FACTOR)));
    return wide_add(wide_mul(slow, ramp), wide_mul(f, wide_sub(wide_from(1), ramp)));
}

/* turns: what the pair does over the trained length, L f / (2 pi). */
static wide llama3(const part *p, wide f)
{
    wide turns = wide_div(wide_mul(wide_from(num(p, TRAINED)), f), wide_two_pi());
    wide slow = wide_div(f, wide_from(num(p, FACTOR)));
    double low = num(p, LOW), high = num(p, HIGH);
    if (turns.part[0] < low)
        return slow;
    if (turns.part[0] > high || low == high) /* Llama 4 Scout: 1 and 1, no ramp at all */
        return f;
    wide mix = wide_div(wide_sub(turns, wide_from(low)), wide_sub(wide_from(high), wide_from(low)));
    return wide_add(wide_mul(wide_sub(wide_from(1), mix), slow), wide_mul(mix, f));
}

bool rope_rotates(const part *p, slot s)
{
    return s.index < (int64_t)(num(p, TURNING) * (double)p->shape.head_dim / 2);
}

static wide scaled(const part *p, const rope_run *run, wide f, int64_t n, slot s)
{
    switch ((scaling)whole(p, SCALING)) {
    case LINEAR: return wide_div(f, wide_from(num(p, FACTOR)));
    case YARN: return yarn(p, run, f, s);
    case LONGROPE: return wide_div(f, wide_from(p->value[rope_is_long(p) ? LONG : SHORT].list[n]));
    case LLAMA3: return llama3(p, f);
    case PROPORTIONAL:
        if (!rope_rotates(p, s))
            return wide_from(0);
        return p->value[FACTOR].given ? wide_div(f, wide_from(num(p, FACTOR))) : f;
    default: return f;
    }
}

/* theta^(-2i/d) of this pair. Most pairs follow the one before: a product, which loses 2^-150, in place of a power. */
static wide next_power(const part *p, rope_run *run, slot s)
{
    if (run->width != s.width) {
        *run = (rope_run){ .width = s.width, .index = -1, .theta = base(p, s.width) };
        run->ratio = power(p, run->theta, 1, s);
        if (whole(p, SCALING) == YARN)
            yarn_edges(p, run, s);
    }
    if (s.index != run->index)
        run->power = s.index == run->index + 1 && s.index > 0 ? wide_mul(run->power, run->ratio)
                                                              : power(p, run->theta, s.index, s);
    run->index = s.index;
    return run->power;
}

double rope_step(const part *p, int64_t axis)
{
    const value *v = &p->value[STEPS];
    return v->given ? v->list[v->count > 1 ? axis : 0] : 1;
}

void rope_frequency(const part *p, rope *r, int64_t n, slot s)
{
    wide plain = next_power(p, &r->run, s), f = scaled(p, &r->run, plain, n, s), theta = r->run.theta;
    double sign = num(p, SIGN) != 0 ? -1 : 1;
    r->as_float[n].sign = (float)sign;
    if (r->precision != EXACT)
        (r->precision == HF ? rope_prepare_hf : rope_prepare_ggml)(p, &r->as_float[n], theta.part[0],
                                                                   f.part[0] / plain.part[0], n, s);
    if (num(p, COORDS) != 0) /* whole turns: the 2 pi of the angle is already one */
        f = wide_div(f, wide_from(p->value[EXTENT].list[s.axis]));
    else
        f = wide_div(p->value[FREQUENCIES].given ? wide_from(p->value[FREQUENCIES].list[n]) : f, wide_two_pi());
    if (p->value[STEPS].given)
        f = wide_mul(f, wide_from(rope_step(p, s.axis)));
    r->pair[n].frequency = wide_scale(f, sign);
}
