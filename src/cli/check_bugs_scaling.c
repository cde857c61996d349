/* SPDX-License-Identifier: MIT
 *
 * Bugs of scaled frequencies and of what multiplies. */
#include "cli/check.h"

#include <math.h>
#include <string.h>

double check_magnitude(const char *spec, const check_data *d)
{
    pe_encoding *e;
    if (d->spec && !strcmp(spec, d->part))
        return pe_encoding_magnitude(d->spec->e);
    if (pe_encoding_new(&e, spec, d->shape, NULL))
        return 1;
    double m = pe_encoding_magnitude(e);
    pe_encoding_free(e);
    return m;
}

static bool is_near(const check_data *d, double x, double y)
{
    return fabs(x / y - 1) < fmax(8 * d->unit, 1e-5);
}

/* ------------------------------------------------ scaling */

plant plant_scaling_ignored(suspect *s, const check_data *d, int variant)
{
    char how[24];
    double m = check_magnitude(s->spec, d);
    if (variant > 1 || !zoo_spec_text(how, sizeof how, s->spec, "scaling"))
        return PLANT_END;
    if (zoo_spec_is(s->spec, "scaling", "none") || (variant && m == 1))
        return PLANT_NO;
    suspect_set(s, "scaling", NULL);
    suspect_set(s, "magnitude", NULL);
    if (variant)
        suspect_set_number(s, "magnitude", m);
    suspect_say(s, "frequencies are not scaled; the spec says scaling=%s%s", how,
                variant ? " (the attention factor is there)" : "");
    return PLANT_YES;
}

static plant as_linear(suspect *s, double factor, const char *how)
{
    if (factor <= 0)
        return PLANT_NO;
    suspect_set(s, "scaling", "linear");
    suspect_set_number(s, "factor", factor);
    suspect_say(s, "frequencies are divided by %g throughout; the spec says scaling=%s", factor, how);
    return PLANT_YES;
}

plant plant_scaling_wrong(suspect *s, const check_data *d, int variant)
{
    char how[24];
    double factor = zoo_spec_num_or(s->spec, "factor", 0);
    if (variant > 3)
        return plant_scaling_value(s, d, variant - 4);
    if (!zoo_spec_text(how, sizeof how, s->spec, "scaling"))
        return PLANT_END;
    if (variant == 0) /* another scaling read as linear, or a linear one applied twice */
        return zoo_spec_is(s->spec, "scaling", "none")     ? PLANT_NO
               : zoo_spec_is(s->spec, "scaling", "linear") ? as_linear(s, factor * factor, how)
                                                           : as_linear(s, factor, how);
    if (variant == 1 && zoo_spec_is(s->spec, "scaling", "yarn"))
        return plant_choice(s, "truncate", zoo_spec_is(s->spec, "truncate", "yes") ? 0 : 1, "truncate is");
    if (variant == 2 && zoo_spec_is(s->spec, "scaling", "longrope")) {
        double trained = zoo_spec_num_or(s->spec, "trained", 1);
        bool is_long = zoo_spec_num_or(s->spec, "length", 0) > trained;
        suspect_set_number(s, "length", is_long ? trained : trained + 1);
        suspect_say(s, "the %s factors are used; the spec says %s", is_long ? "short" : "long",
                    is_long ? "long" : "short");
        return PLANT_YES;
    }
    if (variant == 3 &&
        zoo_spec_is(s->spec, "scaling", "yarn")) { /* the ramp is there, the interpolation is not YaRN's */
        suspect_set(s, "scaling", "ntk");
        suspect_set(s, "magnitude", NULL);
        suspect_set_number(s, "alpha", factor);
        suspect_say(s, "theta is raised for the factor %g; the spec says scaling=%s", factor, how);
        return PLANT_YES;
    }
    return PLANT_NO;
}

plant plant_scaling_extra(suspect *s, const check_data *d, int variant)
{
    static const struct {
        const char *how, *key, *value, *key2, *value2;
    } way[] = {
        { "linear", "factor", "2", NULL, NULL },        { "linear", "factor", "4", NULL, NULL },
        { "linear", "factor", "8", NULL, NULL },        { "linear", "factor", "16", NULL, NULL },
        { "llama3", "factor", "8", "trained", "8192" }, { "llama3", "factor", "32", "trained", "8192" },
        { "yarn", "factor", "4", "trained", "32768" },  { "yarn", "factor", "4", "trained", "4096" },
        { "yarn", "factor", "40", "trained", "4096" },
    };
    if (variant > CLI_COUNT(way) || !zoo_spec_is(s->spec, "scaling", "none"))
        return PLANT_END;
    if (variant == CLI_COUNT(way)) /* what the data shows */
        return d->stretch > 1 ? as_linear(s, d->stretch, "none") : PLANT_NO;
    suspect_set(s, "scaling", way[variant].how);
    suspect_set(s, way[variant].key, way[variant].value);
    if (way[variant].key2)
        suspect_set(s, way[variant].key2, way[variant].value2);
    suspect_say(s, "frequencies are scaled: %s, factor %s; the spec has no scaling", way[variant].how,
                way[variant].value);
    return PLANT_YES;
}

/* ------------------------------------------------ factors */

static plant set_factor(suspect *s, double to, double now)
{
    suspect_set_number(s, "magnitude", to);
    suspect_say(s, "cos and sin are multiplied by %.6g; the spec says %.6g", to, now);
    return PLANT_YES;
}

/* Whether the spec has a factor other than 1: m. Such a bug comes in one variant. */
static plant has_factor(const suspect *s, const check_data *d, int variant, double *m)
{
    *m = check_magnitude(s->spec, d);
    if (variant || !zoo_spec_key(s->spec, "magnitude"))
        return PLANT_END;
    return *m == 1 ? PLANT_NO : PLANT_YES;
}

plant plant_factor_missing(suspect *s, const check_data *d, int variant)
{
    double m;
    plant done = has_factor(s, d, variant, &m);
    if (done == PLANT_YES) {
        suspect_set(s, "magnitude", "1");
        suspect_say(s, "the attention factor is missing; the spec says %.6g", m);
    }
    return done;
}

plant plant_factor_squared(suspect *s, const check_data *d, int variant)
{
    double m;
    plant done = has_factor(s, d, variant, &m);
    if (done == PLANT_YES) {
        suspect_set_number(s, "magnitude", m * m);
        suspect_say(s, "the attention factor is applied twice: %.6g; the spec says %.6g", m * m, m);
    }
    return done;
}

plant plant_factor_half(suspect *s, const check_data *d, int variant)
{
    double m;
    plant done = has_factor(s, d, variant / 2, &m);
    s->factor_on = 1 + variant % 2;
    if (done == PLANT_YES)
        suspect_say(s, "%s alone is multiplied by the attention factor, %.6g", variant ? "sin" : "cos", m);
    return done;
}

plant plant_factor_extra(suspect *s, const check_data *d, int variant)
{
    double factor = zoo_spec_num_or(s->spec, "factor", 1);
    if (variant > 2 || !zoo_spec_key(s->spec, "magnitude") || check_magnitude(s->spec, d) != 1)
        return PLANT_END;
    double to = variant == 0 ? 0.1 * log(factor) + 1 : d->factor; /* YaRN's, or what is seen */
    if (variant == 1) {                                           /* what the scaling says of itself */
        suspect_set(s, "magnitude", NULL);
        to = check_magnitude(s->spec, d);
    }
    if (to <= 0 || is_near(d, to, 1))
        return PLANT_NO;
    return set_factor(s, to, 1);
}

plant plant_factor_wrong(suspect *s, const check_data *d, int variant)
{
    double m, seen = d->factor;
    plant done = has_factor(s, d, variant, &m);
    if (done != PLANT_YES)
        return done;
    if (seen <= 0 || is_near(d, seen, m) || is_near(d, seen, 1) || is_near(d, seen, m * m))
        return PLANT_NO;
    return set_factor(s, seen, m);
}

plant plant_temperature(suspect *s, const check_data *d, int variant)
{
    (void)d;
    if (variant || zoo_spec_num_or(s->spec, "temperature", 0) == 0)
        return PLANT_END;
    suspect_set(s, "temperature", NULL);
    suspect_set(s, "floor", NULL);
    suspect_set(s, "shift", NULL);
    suspect_say(s, "queries are not multiplied by the temperature; the spec says it is %g",
                zoo_spec_num_or(d->part, "temperature", 0));
    return PLANT_YES;
}
