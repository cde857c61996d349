/* SPDX-License-Identifier: MIT
 *
 * The bugs that have a name: one row each, and a function that puts it into a candidate, variant by variant. Where two
 * explain the data equally well, the earlier row is reported. */
#include "check/inside.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double spec_magnitude(const char *spec, const check_data *d)
{
    pe_encoding *e;
    if (d->made && !strcmp(spec, d->spec))
        return pe_encoding_magnitude(d->made->e);
    if (pe_encoding_new(&e, spec, d->shape, NULL))
        return 1;
    double m = pe_encoding_magnitude(e);
    pe_encoding_free(e);
    return m;
}

/* Item index of "a|b|c": false past the end. */
static bool choice_at(const char *list, int index, char *out, size_t cap)
{
    for (; index > 0 && list; index--) {
        list = strchr(list, '|');
        list += list ? 1 : 0;
    }
    if (list)
        snprintf(out, cap, "%.*s", (int)strcspn(list, "|"), list);
    return list != NULL;
}

/* The choices of a key, one by one. */
bug_made bug_choice(candidate *c, const char *key, int variant, const char *is)
{
    char item[32], now[32];
    const pe_key *k = zoo_spec_key(c->spec, key);
    if (!k || !k->choices || !choice_at(k->choices, variant, item, sizeof item))
        return BUG_END;
    if (zoo_spec_is(c->spec, key, item) || !zoo_spec_text(now, sizeof now, c->spec, key))
        return BUG_NO;
    candidate_say(c, "%s %s; the spec says %s", is, item, now);
    candidate_set(c, key, item);
    return BUG_YES;
}

/* ------------------------------------------------ how pairs lie in a head */

/* Tables show how they are tiled, [ccss] or [cscs], and that only where they are as wide as the head. */
static bug_made bug_layout(candidate *c, int variant)
{
    bool adjacent = zoo_spec_is(c->spec, "pairs", "adjacent");
    double dims = zoo_spec_num_or(c->spec, "dims", (double)c->d->shape.head_dim);
    if (c->d->tables && (double)c->d->width < dims)
        return BUG_END;
    bug_made made = bug_choice(c, "pairs", variant, "the pair layout is");
    if (made == BUG_YES && c->d->tables && adjacent == zoo_spec_is(c->spec, "pairs", "adjacent"))
        return BUG_NO;
    return made;
}

static bug_made bug_mixed(candidate *c, int variant)
{
    if (variant || !zoo_spec_key(c->spec, "pairs"))
        return BUG_END;
    c->mixed = true;
    candidate_say(c, "elements are paired as the spec says, %s, but cos and sin are tiled for the other layout",
                  zoo_spec_is(c->spec, "pairs", "half") ? "half" : "adjacent");
    return BUG_YES;
}

static bug_made bug_range(candidate *c, int variant)
{
    return bug_choice(c, "range", variant, "the range that is rotated is");
}

/* Each width twice: with its own exponents, and with those of the spec's. */
static bug_made bug_width(candidate *c, int variant)
{
    const int64_t D = c->d->shape.head_dim, now = (int64_t)zoo_spec_num_or(c->spec, "dims", (double)D);
    const int64_t to[] = { D, now / 2, 2 * now, D / 2, D / 4, 3 * D / 4, c->d->tables ? 2 * c->d->width : 0 };
    bool kept = variant >= CHECK_COUNT(to);
    if (variant >= 2 * CHECK_COUNT(to) || !zoo_spec_key(c->spec, "dims"))
        return BUG_END;
    variant %= CHECK_COUNT(to);
    for (int i = 0; i < variant; i++)
        if (to[i] == to[variant])
            return BUG_NO;
    if (to[variant] == now || to[variant] > D || to[variant] < 2 || to[variant] % 2)
        return BUG_NO;
    candidate_set_number(c, "dims", (double)to[variant]);
    if (kept) { /* theta^(-2i/now) is (theta^(to/now))^(-2i/to) */
        double theta = zoo_spec_num_or(c->spec, "theta", 10000);
        candidate_set_number(c, "theta", pow(theta, (double)to[variant] / (double)now));
    }
    candidate_say(c, "%" PRId64 " elements of a head are rotated%s; the spec says %" PRId64, to[variant],
                  kept ? ", with exponents for the spec's width" : "", now);
    return BUG_YES;
}

/* theta^(-2i/D) is (theta^(dims/D))^(-2i/dims). */
static bug_made bug_denominator(candidate *c, int variant)
{
    double D = (double)c->d->shape.head_dim, dims = zoo_spec_num_or(c->spec, "dims", D);
    if (variant)
        return bug_choice(c, "denominator", variant - 1, "exponents are divided by");
    if (dims == D || dims == 0)
        return BUG_NO;
    candidate_set_number(c, "theta", pow(zoo_spec_num_or(c->spec, "theta", 10000), dims / D));
    candidate_say(c,
                  "frequencies are theta^(-2i/%g), by the head dimension; the spec rotates %g elements: "
                  "theta^(-2i/%g)",
                  D, dims, dims);
    return BUG_YES;
}

/* ------------------------------------------------ how far pairs are rotated */

static bug_made bug_sign(candidate *c, int variant)
{
    return bug_choice(c, "sign", variant, "the sign of the angles is");
}

static bug_made bug_swapped(candidate *c, int variant)
{
    c->swapped = true;
    candidate_say(c, "cos and sin are swapped");
    return variant ? BUG_END : BUG_YES;
}

/* With a magnitude of 1 this is the opposite sign. */
static bug_made bug_inverse(candidate *c, int variant)
{
    if (variant)
        return BUG_END;
    if (zoo_spec_key(c->spec, "sign") && spec_magnitude(c->spec, c->d) == 1 &&
        !zoo_spec_is(c->spec, "pairs", "adjacent-half"))
        return BUG_NO;
    c->inverse = true;
    candidate_say(c, "the vectors are rotated backwards: angle negated, factor divided out");
    return BUG_YES;
}

static bug_made shift_by(candidate *c, int64_t by)
{
    c->shift = by;
    candidate_say(c, "every position is %" PRId64 " too %s", by < 0 ? -by : by, by < 0 ? "small" : "large");
    return BUG_YES;
}

static bug_made bug_off_by_one(candidate *c, int variant)
{
    return variant > 1 ? BUG_END : shift_by(c, variant ? -1 : 1);
}

#define OFFSETS 14 /* 2, -2, ... 8, -8 */

static bug_made bug_offset(candidate *c, int variant)
{
    int64_t start = data_position(c->d, 0, 0);
    if (variant < OFFSETS)
        return shift_by(c, (variant % 2 ? -1 : 1) * (2 + variant / 2));
    if (variant > OFFSETS + 1)
        return BUG_END;
    if (variant > OFFSETS)
        return llabs(c->d->offset) <= 8 ? BUG_NO : shift_by(c, c->d->offset);
    if (llabs(start) <= 8)
        return BUG_NO;
    c->shift = -start;
    candidate_say(c, "positions begin at 0; the first token is at %" PRId64 " (are the tokens in the cache counted?)",
                  start);
    return BUG_YES;
}

static bug_made bug_index(candidate *c, int variant)
{
    bool same = true;
    for (int64_t t = 0; t < c->d->length; t++)
        for (int64_t a = 0; a < c->d->at.axes; a++)
            same = same && data_position(c->d, t, a) == t + data_position(c->d, 0, 0);
    if (variant)
        return BUG_END;
    if (same) /* that would be an offset */
        return BUG_NO;
    c->positions = POSITIONS_INDEX;
    candidate_say(c, "tokens are counted 0, 1, 2, ...; their positions are not used");
    return BUG_YES;
}

/* Tokens of several sequences in one array: each that fits position 0, and not the next one, starts a segment. */
static bool find_segments(candidate *c)
{
    const check_data *d = c->d;
    int64_t starts = 0;
    c->start = malloc((size_t)d->tokens * sizeof *c->start);
    c->failed = c->failed || !c->start;
    for (int64_t t = 0; c->start && t < d->tokens; t++) {
        check_sample one = { .token = { t }, .tokens = 1, .heads = 1 };
        candidate here = *d->made;
        bool first = t % d->length == 0;
        c->start[t] = first ? t : c->start[t - 1];
        here.start = c->start;
        here.positions = POSITIONS_RESTART;
        if (first || candidate_fit(&here, d, &one).fits)
            continue;
        c->start[t] = t;
        starts++;
        if (!candidate_fit(&here, d, &one).fits)
            return false;
    }
    return c->start && starts > 0 && 4 * starts < d->tokens;
}

/* Packed sequences: the engine counts each from 0, the positions given go on. Or the other way, in a batch. */
static bug_made bug_restart(candidate *c, int variant)
{
    if (variant > 1 || !c->d->made)
        return BUG_END;
    if (variant == 1 && c->d->tokens == c->d->length)
        return BUG_NO;
    c->positions = variant ? POSITIONS_RUN_ON : POSITIONS_RESTART;
    if (variant)
        candidate_say(c, "positions run on from one sequence of the batch to the next");
    else if (!find_segments(c))
        return BUG_NO;
    else
        candidate_say(c, "positions start again at 0 within the array, as for sequences that are packed");
    return BUG_YES;
}

/* Where heads are taken for tokens: cos and sin of position h for head h. */
static bug_made bug_wrong_axis(candidate *c, int variant)
{
    if (variant || c->d->at.axes > 1)
        return BUG_END;
    if (c->d->heads < 2)
        return BUG_NO;
    c->positions = POSITIONS_HEAD;
    candidate_say(c, "head h is rotated as if at position h, whatever its token: cos and sin go along the heads");
    return BUG_YES;
}

static bug_made bug_heads(candidate *c, int variant)
{
    int64_t groups = variant + 2;
    if (groups >= c->d->heads)
        return BUG_END;
    if (c->d->heads % groups)
        return BUG_NO;
    c->groups = groups;
    candidate_say(c, "heads are out of order: %" PRId64 " groups of %" PRId64 " are read as %" PRId64 " of %" PRId64,
                  c->d->heads / groups, groups, groups, c->d->heads / groups);
    return BUG_YES;
}

static bug_made bug_steps(candidate *c, int variant)
{
    zoo_slice steps = zoo_spec_get(c->spec, "steps");
    if (variant || !steps.text)
        return BUG_END;
    candidate_say(c, "positions are not multiplied by the steps; the spec says steps=%.*s", (int)steps.length,
                  steps.text);
    candidate_set(c, "steps", NULL);
    return BUG_YES;
}

/* A linear scaling of twice the factor looks the same: scaling-wrong says so. Without its steps=0.5 a spec has twice
 * the angle: steps-ignored says so. */
static bug_made bug_twice(candidate *c, int variant)
{
    if (variant)
        return BUG_END;
    if (zoo_spec_is(c->spec, "scaling", "linear") || zoo_spec_is(c->spec, "pairs", "adjacent-half") ||
        zoo_spec_num_or(c->spec, "steps", 1) == 0.5)
        return BUG_NO;
    c->twice = true;
    candidate_say(c, "the vectors are rotated twice: by 2 times the angle");
    return BUG_YES;
}

static bug_made bug_unrotated(candidate *c, int variant)
{
    c->unrotated = true;
    candidate_say(c, c->d->tables ? "cos is 1 and sin is 0 everywhere: nothing is rotated"
                                  : "the vectors are not rotated");
    return variant ? BUG_END : BUG_YES;
}

/* Where position 0 does something: it multiplies, or moves elements. */
static bug_made bug_zero(candidate *c, int variant)
{
    bool acts = spec_magnitude(c->spec, c->d) != 1 || zoo_spec_is(c->spec, "pairs", "adjacent-half") ||
                zoo_spec_is(c->spec, "coords", "normalised");
    c->positions = POSITIONS_ZERO;
    candidate_say(c, "every token is at position 0");
    return variant ? BUG_END : acts ? BUG_YES : BUG_NO;
}

/* Where a query's temperature makes the difference, temperature-ignored says so. */
static bug_made bug_side(candidate *c, int variant)
{
    bool key = c->d->side == PE_KEY;
    c->other_side = true;
    candidate_say(c, "the vectors are rotated as %s; the side given is %s", key ? "queries" : "keys",
                  key ? "key" : "query");
    return variant || zoo_spec_key(c->spec, "temperature") ? BUG_END : BUG_YES;
}

static bug_made bug_temperature(candidate *c, int variant)
{
    double now = zoo_spec_num_or(c->spec, "temperature", 0);
    if (variant || now == 0)
        return BUG_END;
    candidate_set(c, "temperature", NULL);
    candidate_set(c, "floor", NULL);
    candidate_set(c, "shift", NULL);
    candidate_say(c, "queries are not multiplied by the temperature; the spec says it is %g", now);
    return BUG_YES;
}

/* ------------------------------------------------ the base */

static bug_made set_base(candidate *c, double base)
{
    char is[40], says[40];
    double now = zoo_spec_num_or(c->spec, "theta", 0);
    if (!zoo_spec_key(c->spec, "theta"))
        return BUG_END;
    if (base == now || base <= 1)
        return BUG_NO;
    io_print_real(is, sizeof is, base);
    io_print_real(says, sizeof says, now);
    candidate_set_number(c, "theta", base);
    candidate_say(c, "theta is %s; the spec says %s", is, says);
    return BUG_YES;
}

static bug_made bug_default_base(candidate *c, int variant)
{
    return variant ? BUG_END : set_base(c, 10000);
}

/* Bases of known models, then the one that the data shows. */
static bug_made bug_base(candidate *c, int variant)
{
    static const double known[] = { 500000, 1000000, 100000, 5000000, 10000000, 150000, 160000, 2000000, 8000000 };
    if (variant > CHECK_COUNT(known))
        return BUG_END;
    if (variant < CHECK_COUNT(known))
        return set_base(c, known[variant]);
    for (int i = 0; i < CHECK_COUNT(known); i++)
        if (c->d->theta == known[i] || c->d->theta == 10000)
            return BUG_NO;
    return fabs(c->d->theta / zoo_spec_num_or(c->spec, "theta", 0) - 1) < 1e-6 ? BUG_NO : set_base(c, c->d->theta);
}

/* ------------------------------------------------ several coordinates per token: which drives which pairs */

#define AXES_MOST 4 /* 24 orders */

/* Order number index of n things, 0 being the one they have: false past the last. */
static bool permute(int *order, int n, int index)
{
    int left[AXES_MOST] = { 0, 1, 2, 3 };
    for (int i = 0; i < n; i++) {
        int rest = 1;
        for (int k = 2; k < n - i; k++)
            rest *= k;
        int at = index / rest;
        if (at >= n - i)
            return false;
        order[i] = left[at];
        memmove(left + at, left + at + 1, (size_t)(AXES_MOST - 1 - at) * sizeof *left);
        index %= rest;
    }
    return true;
}

/* sections=a/b/c in another order; those of equal length have no key. */
static void reorder_sections(candidate *c, const int *order, int n)
{
    char now[200], to[200] = "", *item[AXES_MOST] = { NULL };
    int count = 0;
    if (!zoo_spec_text(now, sizeof now, c->spec, "sections") || !*now)
        return;
    for (char *p = now; p && count < AXES_MOST; count++) {
        item[count] = p;
        p = strchr(p, '/');
        if (p)
            *p++ = 0;
    }
    for (int i = 0; i < n && count == n; i++)
        snprintf(to + strlen(to), sizeof to - strlen(to), "%s%s", i ? "/" : "", item[order[i]]);
    if (count == n)
        candidate_set(c, "sections", to);
}

/* For each order: other axes drive the sections as they lie; sections of other lengths; or both move together. */
static bug_made bug_sections(candidate *c, int variant)
{
    int order[AXES_MOST], n = (int)c->d->at.axes, how = variant % 3;
    char list[40] = "";
    if (n < 2 || n > AXES_MOST || !permute(order, n, 1 + variant / 3))
        return BUG_END;
    if (how != 1)
        memcpy(c->axis, order, (size_t)n * sizeof *order);
    if (how != 0)
        reorder_sections(c, order, n);
    for (int i = 0; i < n; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%d", i ? ", " : "", order[i]);
    if (how == 1)
        candidate_say(c, "sections have the lengths of sections %s, in this order", list);
    else
        candidate_say(c, "sections follow axes %s, in this order%s", list, how ? ", and have their lengths" : "");
    return BUG_YES;
}

static bug_made bug_split(candidate *c, int variant)
{
    return c->d->at.axes < 2 ? BUG_END : bug_choice(c, "split", variant, "the split of pairs between axes is");
}

static bug_made bug_one_axis(candidate *c, int variant)
{
    if (variant >= c->d->at.axes || c->d->at.axes < 2)
        return BUG_END;
    for (int a = 0; a < PE_AXES_MAX; a++)
        c->axis[a] = variant;
    candidate_say(c, "every pair follows coordinate %d", variant);
    return BUG_YES;
}

/* ------------------------------------------------ precision */

/* The spec's own float32 pipelines are tried as they are; any other is known by its error staying within float32's. */
static bug_made bug_float32(candidate *c, int variant)
{
    static const char *const how[] = { " (as transformers does)", " (as ggml does)", "" };
    if (variant > 2)
        return BUG_END;
    if (variant < 2 && !zoo_spec_is(c->spec, "precision", "exact"))
        return BUG_NO;
    if (variant < 2)
        candidate_set(c, "precision", variant ? "ggml" : "hf");
    candidate_say(c, "angles are formed in float32%s, which shows at these positions", how[variant]);
    return BUG_YES;
}

static bug_made bug_exact(candidate *c, int variant)
{
    char now[16];
    if (variant || !zoo_spec_text(now, sizeof now, c->spec, "precision"))
        return BUG_END;
    if (zoo_spec_is(c->spec, "precision", "exact"))
        return BUG_NO;
    candidate_set(c, "precision", NULL);
    candidate_say(c, "angles are exact; the spec says precision=%s", now);
    return BUG_YES;
}

typedef struct rounding {
    unsigned rounds;
    const char *what;
} rounding;

static bug_made round_as(candidate *c, const rounding *way, int ways, int variant)
{
    if (variant >= ways)
        return BUG_END;
    c->as = (pe_dtype)c->bug[c->bugs]->with;
    c->rounds = way[variant].rounds;
    candidate_say(c, "%s rounded to %s", way[variant].what, c->as == PE_F16 ? "float16" : "bfloat16");
    return BUG_YES;
}

static bug_made bug_angles(candidate *c, int variant)
{
    static const rounding way[] = {
        { ROUND_FREQUENCY | ROUND_POSITION | ROUND_ANGLE, "inv_freq, positions and angles are" },
        { ROUND_FREQUENCY | ROUND_POSITION | ROUND_ANGLE | ROUND_TABLE,
          "inv_freq, positions, angles, cos and sin are" },
        { ROUND_ANGLE, "angles are" },
        { ROUND_ANGLE | ROUND_TABLE, "angles, cos and sin are" },
        { ROUND_POSITION | ROUND_ANGLE, "positions and angles are" },
        { ROUND_POSITION | ROUND_ANGLE | ROUND_TABLE, "positions, angles, cos and sin are" },
        { ROUND_FREQUENCY | ROUND_ANGLE, "inv_freq and angles are" },
        { ROUND_POSITION, "positions are" },
        { ROUND_POSITION | ROUND_TABLE, "positions, cos and sin are" },
        { ROUND_FREQUENCY | ROUND_POSITION, "inv_freq and positions are" },
        { ROUND_FREQUENCY | ROUND_POSITION | ROUND_TABLE, "inv_freq, positions, cos and sin are" },
    };
    return round_as(c, way, CHECK_COUNT(way), variant);
}

static bug_made bug_frequencies(candidate *c, int variant)
{
    static const rounding way[] = { { ROUND_FREQUENCY, "inv_freq is" },
                                    { ROUND_FREQUENCY | ROUND_TABLE, "inv_freq, cos and sin are" } };
    return round_as(c, way, CHECK_COUNT(way), variant);
}

static bug_made bug_tables(candidate *c, int variant)
{
    return round_as(c, &(rounding){ ROUND_TABLE, "cos and sin are" }, 1, variant);
}

/* ------------------------------------------------ the table */

const check_bug check_bugs[] = {
    { "pair-layout", "the pair layout (half, adjacent, adjacent-half) is not the spec's",
      "pair elements as the spec says, or permute the q and k weights: posenc convert", bug_layout, 0, BUG_JOINS },
    { "mixed-layout", "elements are paired in one layout, cos and sin are tiled for another",
      "tile [c c s s] for half (cat), [c s c s] for adjacent (repeat_interleave)", bug_mixed, 0, BUG_NO_TABLE },
    { "opposite-sign", "pairs are rotated in the opposite direction", "negate sin", bug_sign, 0, BUG_JOINS },
    { "tables-swapped", "cos is used in place of sin, and sin in place of cos", "swap them", bug_swapped, 0, 0 },
    { "inverse", "the inverse rotation is applied",
      "rotate by the angle itself, or swap before and after in this check", bug_inverse, 0, BUG_NO_TABLE },
    { "off-by-one", "every position is 1 too large or too small", "count positions from 0", bug_off_by_one, 0,
      BUG_JOINS },
    { "position-offset", "every position is off by the same number",
      "with a KV cache, the first new token's position is the number of tokens in the cache", bug_offset, 0, 0 },
    { "positions-ignored", "positions are ignored: tokens are counted 0, 1, 2, ...",
      "look cos and sin up by position, not by index", bug_index, 0, BUG_JOINS },
    { "positions-restarted", "positions start again at 0 for each packed sequence, or run on where they should",
      "count positions within a sequence or over all of them, as the positions given do", bug_restart, 0,
      BUG_NO_TABLE },
    { "steps-ignored", "positions are not multiplied by the spec's steps", "multiply positions by the spec's steps",
      bug_steps, 0, BUG_JOINS },
    { "rotated-twice", "the rotation is applied twice", "rotate q and k once: in the layer or in the kernel", bug_twice,
      0, BUG_NO_TABLE },
    { "wrong-axis", "heads are rotated by their index, as if they were tokens",
      "cos and sin go along the axis of tokens: unsqueeze the axis of heads", bug_wrong_axis, 0, BUG_NO_TABLE },
    { "heads-mixed", "heads of groups are in another order after the rotation",
      "repeat key heads with repeat_interleave, and reshape in the order of the weights", bug_heads, 0, BUG_NO_TABLE },
    { "not-rotated", "nothing is rotated", "rotate both q and k, in every layer that has this spec", bug_unrotated, 0,
      0 },
    { "positions-zero", "every token is rotated as if at position 0", "pass the positions", bug_zero, 0, 0 },
    { "scaling-ignored", "the spec has a scaling, the data has none", "read rope_scaling or rope_parameters",
      bug_scaling_ignored, 0, BUG_JOINS },
    { "scaling-wrong", "the scaling, or a number in it, is not the spec's",
      "read every key of rope_scaling or rope_parameters", bug_scaling_wrong, 0, 0 },
    { "scaling-extra", "the data is scaled, the spec is not", "leave the scaling out, or check with a spec that has it",
      bug_scaling_extra, 0, 0 },
    { "base-defaulted", "theta is 10000, the spec has a different theta",
      "read rope_theta (rotary_emb_base, rope_parameters.rope_theta)", bug_default_base, 0, BUG_JOINS },
    { "base-wrong", "theta is not the spec's; the theta that fits is reported", "read rope_theta", bug_base, 0,
      BUG_JOINS },
    { "attention-factor-missing", "cos and sin are not multiplied by the spec's factor", "multiply cos and sin by it",
      bug_factor_missing, 0, BUG_JOINS },
    { "attention-factor-squared", "the factor is applied twice",
      "multiply cos and sin once; q.k then has the factor's square, as it should", bug_factor_squared, 0, BUG_JOINS },
    { "attention-factor-half", "only cos, or only sin, has the factor", "multiply both by it", bug_factor_half, 0, 0 },
    { "attention-factor-extra", "the data has a factor, the spec has none", "leave the factor out", bug_factor_extra, 0,
      0 },
    { "attention-factor-wrong", "the factor is not the spec's", "use the spec's factor", bug_factor_wrong, 0, 0 },
    { "temperature-ignored", "queries are not multiplied by the spec's temperature",
      "multiply queries by 1 + b ln(1 + floor((t + shift)/floor))", bug_temperature, 0, 0 },
    { "rotary-width", "too many or few elements are rotated", "read partial_rotary_factor, rotary_pct or rotary_dim",
      bug_width, 0, BUG_JOINS },
    { "rotary-denominator", "exponents are divided by a width that is not the spec's",
      "divide by the number of elements that are rotated", bug_denominator, 0, 0 },
    { "rotary-range", "the other end of the head is rotated", "rotate the end that the spec says", bug_range, 0,
      BUG_JOINS | BUG_NO_TABLE },
    { "mrope-sections", "sections or axes are in the wrong order", "axes go t, h, w; sections in the order of the spec",
      bug_sections, 0, BUG_AXES },
    { "mrope-split", "pairs are not split between axes as in the spec: chunked, interleaved, ...",
      "chunked for Qwen2-VL, interleaved for Qwen3-VL", bug_split, 0, BUG_AXES },
    { "mrope-ignored", "every pair follows the same coordinate", "give every section its own coordinate", bug_one_axis,
      0, BUG_AXES },
    { "other-side", "queries are rotated as keys, or keys as queries", "queries and keys differ here: see --side",
      bug_side, 0, 0 },
    { "angles-float32", "angles are computed in float32, at positions where the error is visible",
      "form angles exactly, or ignore it: --allow angles-float32, or precision=hf in the spec", bug_float32, 0,
      BUG_ROUNDS },
    { "angles-exact", "angles are exact, the spec says precision=hf or ggml", "check with precision=exact", bug_exact,
      0, BUG_ROUNDS },
    { "tables-bfloat16", "cos and sin are rounded to bfloat16, the vectors are not",
      "keep cos and sin in the type of the vectors; where those are bfloat16 too: --allow tables-bfloat16", bug_tables,
      PE_BF16, BUG_ROUNDS },
    { "tables-float16", "cos and sin are rounded to float16, the vectors are not",
      "keep cos and sin in the type of the vectors; where those are float16 too: --allow tables-float16", bug_tables,
      PE_F16, BUG_ROUNDS },
    { "frequencies-bfloat16", "inv_freq is rounded to bfloat16", "keep inv_freq in float32 when the model is cast",
      bug_frequencies, PE_BF16, BUG_ROUNDS },
    { "frequencies-float16", "inv_freq is rounded to float16", "keep inv_freq in float32 when the model is cast",
      bug_frequencies, PE_F16, BUG_ROUNDS },
    { "angles-bfloat16", "positions or angles are rounded to bfloat16",
      "form angles in float32 or better, outside autocast", bug_angles, PE_BF16, BUG_ROUNDS },
    { "angles-float16", "positions or angles are rounded to float16",
      "form angles in float32 or better, outside autocast", bug_angles, PE_F16, BUG_ROUNDS },
};

int check_bug_count(void)
{
    return CHECK_COUNT(check_bugs);
}

const char *check_bug_id(int n)
{
    return check_bugs[n].id;
}

const char *check_bug_about(int n)
{
    return check_bugs[n].about;
}
