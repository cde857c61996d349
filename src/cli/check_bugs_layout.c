/* SPDX-License-Identifier: MIT
 *
 * Bugs in how pairs lie in a head: which elements, how many, and by what width exponents are divided. */
#include "cli/check.h"

#include <inttypes.h>
#include <math.h>

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

/* Tables show how they are tiled, [ccss] or [cscs], and that only where they are as wide as the head. */
plant plant_layout(suspect *s, const check_data *d, int variant)
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

plant plant_mixed(suspect *s, const check_data *d, int variant)
{
    (void)d;
    if (variant || !zoo_spec_key(s->spec, "pairs"))
        return PLANT_END;
    s->mixed = true;
    suspect_say(s, "elements are paired as the spec says, %s, but cos and sin are tiled for the other layout",
                zoo_spec_is(s->spec, "pairs", "half") ? "half" : "adjacent");
    return PLANT_YES;
}

plant plant_range(suspect *s, const check_data *d, int variant)
{
    (void)d;
    return plant_choice(s, "range", variant, "the range that turns is");
}

plant plant_width(suspect *s, const check_data *d, int variant)
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
plant plant_denominator(suspect *s, const check_data *d, int variant)
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
