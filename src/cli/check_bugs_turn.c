/* SPDX-License-Identifier: MIT
 *
 * Bugs in how far pairs turn: which way, from where, by what base, or not at all. */
#include "cli/check.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

plant plant_sign(suspect *s, const check_data *d, int variant)
{
    (void)d;
    return plant_choice(s, "sign", variant, "the turn is");
}

plant plant_swapped(suspect *s, const check_data *d, int variant)
{
    (void)d;
    if (variant)
        return PLANT_END;
    s->swapped = true;
    suspect_say(s, "cos and sin are swapped");
    return PLANT_YES;
}

/* With a magnitude of 1 this is the opposite sign. */
plant plant_inverse(suspect *s, const check_data *d, int variant)
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

plant plant_off_by_one(suspect *s, const check_data *d, int variant)
{
    (void)d;
    return variant > 1 ? PLANT_END : shift_by(s, variant ? -1 : 1);
}

#define OFFSETS 14 /* 2, -2, ... 8, -8 */

plant plant_offset(suspect *s, const check_data *d, int variant)
{
    int64_t start = check_position(d, 0, 0);
    if (variant < OFFSETS)
        return shift_by(s, (variant % 2 ? -1 : 1) * (2 + variant / 2));
    if (variant > OFFSETS + 1)
        return PLANT_END;
    if (variant > OFFSETS) /* the one that the data shows */
        return llabs(d->offset) <= 8 ? PLANT_NO : shift_by(s, d->offset);
    if (llabs(start) <= 8)
        return PLANT_NO;
    s->shift = -start;
    suspect_say(s, "positions begin at 0; the first token stands at %" PRId64 " (a cache that is not counted?)", start);
    return PLANT_YES;
}

plant plant_index(suspect *s, const check_data *d, int variant)
{
    bool same = true;
    for (int64_t t = 0; t < d->length; t++)
        for (int64_t a = 0; a < d->at.axes; a++)
            same = same && check_position(d, t, a) == t + check_position(d, 0, 0);
    if (variant)
        return PLANT_END;
    if (same) /* that would be an offset */
        return PLANT_NO;
    s->walk = WALK_INDEX;
    suspect_say(s, "tokens are counted 0, 1, 2, ...; their positions are not used");
    return PLANT_YES;
}

plant plant_still(suspect *s, const check_data *d, int variant)
{
    if (variant)
        return PLANT_END;
    s->still = true;
    suspect_say(s, d->tables ? "cos is 1 and sin is 0 everywhere: nothing turns" : "the vectors are not turned at all");
    return PLANT_YES;
}

/* Where position 0 does something: it multiplies, or moves elements. */
plant plant_zero(suspect *s, const check_data *d, int variant)
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
plant plant_side(suspect *s, const check_data *d, int variant)
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
    io_print_real(is, sizeof is, base);
    io_print_real(says, sizeof says, now);
    suspect_set_number(s, "theta", base);
    suspect_say(s, "pairs turn as with theta = %s; the spec says %s", is, says);
    return PLANT_YES;
}

plant plant_default_base(suspect *s, const check_data *d, int variant)
{
    (void)d;
    return variant ? PLANT_END : set_base(s, 10000);
}

/* Bases of known models, then the one that the data shows. */
plant plant_base(suspect *s, const check_data *d, int variant)
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
