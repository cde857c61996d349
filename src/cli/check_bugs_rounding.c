/* SPDX-License-Identifier: MIT
 *
 * Bugs of precision. The spec's own float32 pipelines are tried as they are; any other is known by its error staying
 * within float32's. */
#include "cli/check.h"

static plant say_float32(suspect *s, const char *how)
{
    suspect_say(s, "angles are formed in float32%s, which shows at these positions", how);
    return PLANT_YES;
}

plant plant_float32(suspect *s, const check_data *d, int variant)
{
    (void)d;
    if (variant > 2)
        return PLANT_END;
    if (variant < 2 && !zoo_spec_is(s->spec, "precision", "exact"))
        return PLANT_NO;
    if (variant < 2)
        suspect_set(s, "precision", variant ? "ggml" : "hf");
    return say_float32(s, variant == 0 ? " (as transformers does)" : variant == 1 ? " (as ggml does)" : "");
}

plant plant_exact(suspect *s, const check_data *d, int variant)
{
    char now[16];
    (void)d;
    if (variant || !zoo_spec_text(now, sizeof now, s->spec, "precision"))
        return PLANT_END;
    if (zoo_spec_is(s->spec, "precision", "exact"))
        return PLANT_NO;
    suspect_set(s, "precision", NULL);
    suspect_say(s, "angles are exact; the spec says precision=%s", now);
    return PLANT_YES;
}

static plant round_as(suspect *s, unsigned rounds, const char *what)
{
    s->as = (pe_dtype)s->bug[s->bugs]->with;
    s->rounds = rounds;
    suspect_say(s, "%s rounded to %s", what, array_type_name(s->as));
    return PLANT_YES;
}

plant plant_angles(suspect *s, const check_data *d, int variant)
{
    static const struct {
        unsigned rounds;
        const char *what;
    } way[] = {
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
    (void)d;
    return variant >= CLI_COUNT(way) ? PLANT_END : round_as(s, way[variant].rounds, way[variant].what);
}

plant plant_frequencies(suspect *s, const check_data *d, int variant)
{
    (void)d;
    if (variant > 1)
        return PLANT_END;
    return variant ? round_as(s, ROUND_FREQUENCY | ROUND_TABLE, "inv_freq, cos and sin are")
                   : round_as(s, ROUND_FREQUENCY, "inv_freq is");
}

plant plant_tables(suspect *s, const check_data *d, int variant)
{
    (void)d;
    return variant ? PLANT_END : round_as(s, ROUND_TABLE, "cos and sin are");
}
