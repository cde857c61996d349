/* SPDX-License-Identifier: MIT
 *
 * The bugs that posenc check can name: one row each, and a function that plants it into a suspect, variant by variant.
 * Where two explain the data equally well, the earlier row is told first. */
#include "cli/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

plant plant_choice(suspect *s, const char *key, int variant, const char *is)
{
    char item[32], now[32];
    const pe_key *k = zoo_spec_key(s->spec, key);
    if (!k || !k->choices || !cli_item(k->choices, variant, item, sizeof item))
        return PLANT_END;
    if (zoo_spec_is(s->spec, key, item) || !zoo_spec_text(now, sizeof now, s->spec, key))
        return PLANT_NO;
    suspect_say(s, "%s %s; the spec says %s", is, item, now);
    suspect_set(s, key, item);
    return PLANT_YES;
}

/* ------------------------------------------------ how pairs lie */

/* Tables show how they are tiled, [ccss] or [cscs], and that only where they are as wide as the head. */
static plant plant_layout(suspect *s, const check_data *d, int variant)
{
    bool adjacent = zoo_spec_is(s->spec, "pairs", "adjacent");
    double dims = zoo_spec_num_or(s->spec, "dims", (double)d->shape.head_dim);
    if (d->tables && (double)d->width < dims)
        return PLANT_END;
    plant done = plant_choice(s, "pairs", variant, "pairs are");
    if (done == PLANT_YES && d->tables && adjacent == zoo_spec_is(s->spec, "pairs", "adjacent"))
        return PLANT_NO;
    return done;
}

static plant plant_mixed(suspect *s, const check_data *d, int variant)
{
    (void)d;
    if (variant || !zoo_spec_key(s->spec, "pairs"))
        return PLANT_END;
    s->mixed = true;
    suspect_say(s, "elements are paired as the spec says, %s, but cos and sin are tiled for the other layout",
                zoo_spec_is(s->spec, "pairs", "half") ? "half" : "adjacent");
    return PLANT_YES;
}

static plant plant_range(suspect *s, const check_data *d, int variant)
{
    (void)d;
    return plant_choice(s, "range", variant, "the range that turns is");
}

static plant plant_width(suspect *s, const check_data *d, int variant)
{
    const int64_t D = d->shape.head_dim, now = (int64_t)zoo_spec_num_or(s->spec, "dims", (double)D);
    const int64_t to[] = { D, now / 2, 2 * now, D / 2, D / 4, 3 * D / 4, d->tables ? 2 * d->width : 0 };
    if (variant >= CLI_COUNT(to) || !zoo_spec_key(s->spec, "dims"))
        return PLANT_END;
    for (int i = 0; i < variant; i++)
        if (to[i] == to[variant])
            return PLANT_NO;
    if (to[variant] == now || to[variant] > D || to[variant] < 2 || to[variant] % 2)
        return PLANT_NO;
    suspect_set_number(s, "dims", (double)to[variant]);
    suspect_say(s, "%" PRId64 " elements of a head turn; the spec says %" PRId64, to[variant], now);
    return PLANT_YES;
}

/* theta^(-2i/D) is (theta^(dims/D))^(-2i/dims). */
static plant plant_denominator(suspect *s, const check_data *d, int variant)
{
    double D = (double)d->shape.head_dim, dims = zoo_spec_num_or(s->spec, "dims", D);
    if (variant)
        return plant_choice(s, "denominator", variant - 1, "exponents are divided by");
    if (dims == D || dims == 0)
        return PLANT_NO;
    suspect_set_number(s, "theta", pow(zoo_spec_num_or(s->spec, "theta", 10000), dims / D));
    suspect_say(s, "frequencies are theta^(-2i/%g), by the head's width; the spec turns %g elements: theta^(-2i/%g)", D,
                dims, dims);
    return PLANT_YES;
}

/* ------------------------------------------------ which way, and from where */

static plant plant_sign(suspect *s, const check_data *d, int variant)
{
    (void)d;
    return plant_choice(s, "sign", variant, "the turn is");
}

/* With a magnitude of 1 this is the opposite sign. */
static plant plant_inverse(suspect *s, const check_data *d, int variant)
{
    if (variant)
        return PLANT_END;
    if (zoo_spec_key(s->spec, "sign") && check_magnitude(s->spec, d) == 1 &&
        !zoo_spec_is(s->spec, "pairs", "adjacent-half"))
        return PLANT_NO;
    s->inverse = true;
    suspect_say(s, "the vectors are turned back: angle negated, factor divided out");
    return PLANT_YES;
}

static plant shift_by(suspect *s, int64_t by)
{
    s->shift = by;
    suspect_say(s, "every position is %" PRId64 " too %s", by < 0 ? -by : by, by < 0 ? "small" : "large");
    return PLANT_YES;
}

static plant plant_off_by_one(suspect *s, const check_data *d, int variant)
{
    (void)d;
    return variant > 1 ? PLANT_END : shift_by(s, variant ? -1 : 1);
}

#define OFFSETS 14 /* 2, -2, ... 8, -8 */

static plant plant_offset(suspect *s, const check_data *d, int variant)
{
    int64_t start = d->at.at[0];
    if (variant < OFFSETS)
        return shift_by(s, (variant % 2 ? -1 : 1) * (2 + variant / 2));
    if (variant > OFFSETS)
        return PLANT_END;
    if (llabs(start) <= 8)
        return PLANT_NO;
    s->shift = -start;
    suspect_say(s, "positions begin at 0; the first token stands at %" PRId64 " (a cache that is not counted?)", start);
    return PLANT_YES;
}

static plant plant_index(suspect *s, const check_data *d, int variant)
{
    bool same = true;
    for (int64_t i = 0; i < d->tokens * d->at.axes; i++)
        same = same && d->at.at[i] == i / d->at.axes + d->at.at[0];
    if (variant)
        return PLANT_END;
    if (same) /* that would be an offset */
        return PLANT_NO;
    s->walk = WALK_INDEX;
    suspect_say(s, "tokens are counted 0, 1, 2, ...; their positions are not used");
    return PLANT_YES;
}

static plant plant_still(suspect *s, const check_data *d, int variant)
{
    if (variant)
        return PLANT_END;
    s->still = true;
    suspect_say(s, d->tables ? "cos is 1 and sin is 0 everywhere: nothing turns" : "the vectors are not turned at all");
    return PLANT_YES;
}

/* Where position 0 does something: it multiplies, or moves elements. */
static plant plant_zero(suspect *s, const check_data *d, int variant)
{
    bool acts = check_magnitude(s->spec, d) != 1 || zoo_spec_is(s->spec, "pairs", "adjacent-half") ||
                zoo_spec_is(s->spec, "coords", "normalised");
    if (variant)
        return PLANT_END;
    s->walk = WALK_ZERO;
    suspect_say(s, "every token is at position 0");
    return acts ? PLANT_YES : PLANT_NO;
}

/* Where a query's temperature makes the difference, temperature-ignored says so. */
static plant plant_side(suspect *s, const check_data *d, int variant)
{
    if (variant || zoo_spec_key(s->spec, "temperature"))
        return PLANT_END;
    s->other_side = true;
    suspect_say(s, "they are turned as %s are; --side says %s", d->side == PE_KEY ? "queries" : "keys",
                d->side == PE_KEY ? "key" : "query");
    return PLANT_YES;
}

/* ------------------------------------------------ the base */

static plant set_base(suspect *s, double base)
{
    char is[40], says[40];
    double now = zoo_spec_num_or(s->spec, "theta", 0);
    if (!zoo_spec_key(s->spec, "theta"))
        return PLANT_END;
    if (base == now || base <= 1)
        return PLANT_NO;
    cli_print_real(is, sizeof is, base);
    cli_print_real(says, sizeof says, now);
    suspect_set_number(s, "theta", base);
    suspect_say(s, "pairs turn as with theta = %s; the spec says %s", is, says);
    return PLANT_YES;
}

static plant plant_default_base(suspect *s, const check_data *d, int variant)
{
    (void)d;
    return variant ? PLANT_END : set_base(s, 10000);
}

/* Bases of known models, then the one that the data shows. */
static plant plant_base(suspect *s, const check_data *d, int variant)
{
    static const double known[] = { 500000, 1000000, 100000, 5000000, 10000000, 150000, 160000, 2000000, 8000000 };
    if (variant > CLI_COUNT(known))
        return PLANT_END;
    if (variant < CLI_COUNT(known))
        return set_base(s, known[variant]);
    for (int i = 0; i < CLI_COUNT(known); i++)
        if (d->base == known[i] || d->base == 10000)
            return PLANT_NO;
    return fabs(d->base / zoo_spec_num_or(s->spec, "theta", 0) - 1) < 1e-6 ? PLANT_NO : set_base(s, d->base);
}

/* ------------------------------------------------ the table */

const check_bug check_bugs[] = {
    { "pair-layout", "pairs are half, adjacent or adjacent-half, and the spec says another",
      "pair elements as the spec says, or permute the q and k weights: posenc convert", plant_layout, 0, BUG_JOINS },
    { "mixed-layout", "elements are paired in one layout, cos and sin are tiled for another",
      "tile [c c s s] for half (cat), [c s c s] for adjacent (repeat_interleave)", plant_mixed, 0, BUG_NO_TABLE },
    { "opposite-sign", "pairs turn the other way", "negate sin", plant_sign, 0, BUG_JOINS },
    { "inverse", "turned back instead of forth", "turn forth, or check with before and after swapped", plant_inverse, 0,
      BUG_NO_TABLE },
    { "off-by-one", "every position is 1 too large or too small", "count positions from 0", plant_off_by_one, 0,
      BUG_JOINS },
    { "position-offset", "every position is off by the same number",
      "with a cache, the first new token stands at the number of tokens in it", plant_offset, 0, 0 },
    { "positions-ignored", "tokens are counted 0, 1, 2, ..., whatever their positions",
      "look cos and sin up by position, not by index", plant_index, 0, BUG_JOINS },
    { "not-rotated", "nothing was turned", "turn q and k both, in every layer that the spec is of", plant_still, 0, 0 },
    { "positions-zero", "every token was taken to be at position 0", "pass the positions", plant_zero, 0, 0 },
    { "scaling-ignored", "the spec has a scaling, the data has none", "read rope_scaling or rope_parameters",
      plant_scaling_ignored, 0, BUG_JOINS },
    { "scaling-wrong", "scaled in another way than the spec says", "compare with: posenc table SPEC",
      plant_scaling_wrong, 0, 0 },
    { "scaling-extra", "the data is scaled, the spec is not", "leave the scaling out, or check with a spec that has it",
      plant_scaling_extra, 0, 0 },
    { "base-defaulted", "theta is 10000, the spec says another",
      "read rope_theta (rotary_emb_base, rope_parameters.rope_theta)", plant_default_base, 0, BUG_JOINS },
    { "base-wrong", "another theta than the spec's; says which fits", "read rope_theta", plant_base, 0, BUG_JOINS },
    { "attention-factor-missing", "cos and sin are not multiplied by the spec's factor", "multiply cos and sin by it",
      plant_factor_missing, 0, BUG_JOINS },
    { "attention-factor-squared", "the factor is applied twice",
      "multiply cos and sin once; q.k then has the factor's square, as it should", plant_factor_squared, 0, BUG_JOINS },
    { "attention-factor-extra", "there is a factor, the spec has none", "leave the factor out", plant_factor_extra, 0,
      0 },
    { "attention-factor-wrong", "another factor than the spec's", "use the spec's factor", plant_factor_wrong, 0, 0 },
    { "temperature-ignored", "queries are not multiplied by the spec's temperature",
      "multiply queries by 1 + b ln(1 + floor((t + shift)/floor))", plant_temperature, 0, 0 },
    { "rotary-width", "another number of elements turns", "read partial_rotary_factor, rotary_pct or rotary_dim",
      plant_width, 0, BUG_JOINS },
    { "rotary-denominator", "exponents are divided by another width than the spec's",
      "divide by the number of elements that turn", plant_denominator, 0, 0 },
    { "rotary-range", "the other end of the head turns", "turn the end that the spec says", plant_range, 0,
      BUG_JOINS | BUG_NO_TABLE },
    { "mrope-sections", "sections or axes are in another order", "axes go t, h, w; sections in the order of the spec",
      plant_sections, 0, BUG_AXES },
    { "mrope-split", "axes share the pairs in another way: chunked, interleaved, ...",
      "chunked for Qwen2-VL, interleaved for Qwen3-VL", plant_split, 0, BUG_AXES },
    { "mrope-ignored", "every pair follows the same coordinate", "give every section its own coordinate",
      plant_one_axis, 0, BUG_AXES },
    { "other-side", "queries are turned as keys, or keys as queries", "queries and keys differ here: see --side",
      plant_side, 0, 0 },
    { "angles-float32", "angles are formed in float32, at positions where that shows",
      "form angles exactly, or take it as it is: --allow angles-float32, or precision=hf in the spec", plant_float32, 0,
      BUG_ROUNDS },
    { "angles-exact", "angles are exact, the spec says precision=hf or ggml", "check with precision=exact", plant_exact,
      0, BUG_ROUNDS },
    { "tables-bfloat16", "cos and sin are rounded to bfloat16, the vectors are not",
      "keep cos and sin in the type of the vectors", plant_tables, PE_BF16, BUG_ROUNDS },
    { "tables-float16", "cos and sin are rounded to float16, the vectors are not",
      "keep cos and sin in the type of the vectors", plant_tables, PE_F16, BUG_ROUNDS },
    { "frequencies-bfloat16", "inv_freq is rounded to bfloat16", "keep inv_freq in float32 when the model is cast",
      plant_frequencies, PE_BF16, BUG_ROUNDS },
    { "frequencies-float16", "inv_freq is rounded to float16", "keep inv_freq in float32 when the model is cast",
      plant_frequencies, PE_F16, BUG_ROUNDS },
    { "angles-bfloat16", "positions or angles are rounded to bfloat16",
      "form angles in float32 or better, outside autocast", plant_angles, PE_BF16, BUG_ROUNDS },
    { "angles-float16", "positions or angles are rounded to float16",
      "form angles in float32 or better, outside autocast", plant_angles, PE_F16, BUG_ROUNDS },
};
const int check_bug_count = CLI_COUNT(check_bugs);
