/* SPDX-License-Identifier: MIT
 *
 * Bugs of scaled frequencies, and of the attention factor on cos and sin. */
#include "check/inside.h"

#include <math.h>

static bool is_near(const check_data *d, double x, double y)
{
    return fabs(x / y - 1) < fmax(8 * d->unit, 1e-5);
}

/* ------------------------------------------------ a scaling of the right kind with a wrong number */

/* Another model's, one read from the wrong key, or two swapped. Tried when nothing else fits: there are many. */
typedef struct guess {
    const char *key, *also; /* also: a second key that gets its own value */
    double value, also_value;
} guess;

#define RATIOS 8 /* 2, 1/2, ... 16, 1/16 */
static const char *const numbers[] = { "factor", "alpha", "trained", "beta_fast", "beta_slow", "low", "high" };
static const double lengths[] = { 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144 };

#define KNOWN (2 + CHECK_COUNT(lengths))
#define SWAPPED 3
#define GUESSES (KNOWN + SWAPPED + RATIOS * CHECK_COUNT(numbers))

/* The one that the data shows, the length that is served, lengths that models are trained at. */
static guess guess_known(const check_data *d, int i)
{
    double served = zoo_spec_num_or(d->spec, "trained", 0) * zoo_spec_num_or(d->spec, "factor", 0);
    if (i == 0)
        return (guess){ .key = "factor", .value = d->scaling_factor };
    return (guess){ .key = "trained", .value = i == 1 ? served : lengths[i - 2] };
}

/* low above high is no spec: the engines that let it pass have no ramp then, and cut at the one or the other. */
static guess guess_swapped(const char *spec, int i)
{
    double low = zoo_spec_num_or(spec, "low", 0), high = zoo_spec_num_or(spec, "high", 0);
    if (i == 0)
        return (guess){ "beta_fast", "beta_slow", zoo_spec_num_or(spec, "beta_slow", 0),
                        zoo_spec_num_or(spec, "beta_fast", 0) };
    return i == 1 ? (guess){ "low", "high", high, high } : (guess){ "low", "high", low, low };
}

static guess guess_at(const check_data *d, int i)
{
    if (i < KNOWN)
        return guess_known(d, i);
    i -= KNOWN;
    if (i < SWAPPED)
        return guess_swapped(d->spec, i);
    i -= SWAPPED;
    const char *key = numbers[i / RATIOS];
    double ratio = ldexp(1, 1 + i % RATIOS / 2);
    return (guess){ .key = key, .value = zoo_spec_num_or(d->spec, key, 0) * (i % 2 ? 1 / ratio : ratio) };
}

/* The attention factor may follow the wrong number, be the spec's, or be missing. */
enum { FACTOR_FOLLOWS, FACTOR_OF_SPEC, FACTOR_NONE, FACTORS };

static bool guess_factor(candidate *c, int which)
{
    const check_data *d = c->d;
    double m = spec_magnitude(d->spec, d), to = which == FACTOR_OF_SPEC ? m : 1;
    if (which == FACTOR_FOLLOWS)
        return true;
    if (m == 1 || !zoo_spec_key(c->spec, "magnitude") || fabs(d->factor / to - 1) > fmax(16 * d->unit, 1e-4))
        return false;
    candidate_set_number(c, "magnitude", to);
    return true;
}

static bool is_other(const char *spec, const guess *g)
{
    const pe_key *k = zoo_spec_key(spec, g->key);
    double now = zoo_spec_num_or(spec, g->key, 0);
    return k && zoo_spec_means(spec, k) && now > 0 && g->value > 0 &&
           (g->value != now || (g->also && g->also_value != zoo_spec_num_or(spec, g->also, 0)));
}

static bug_made bug_scaling_number(candidate *c, int variant)
{
    static const char *const said[FACTORS] = { "", "; the attention factor is the spec's",
                                               "; the attention factor is missing" };
    char is[40], says[40];
    if (variant >= GUESSES * FACTORS || !c->d->estimated || !zoo_spec_key(c->spec, "scaling"))
        return BUG_END;
    guess g = guess_at(c->d, variant / FACTORS);
    const char *factor = said[variant % FACTORS];
    if (!is_other(c->spec, &g) || !guess_factor(c, variant % FACTORS))
        return BUG_NO;
    candidate_set_number(c, g.key, g.value);
    io_print_real(is, sizeof is, g.value);
    io_print_real(says, sizeof says, zoo_spec_num_or(c->d->spec, g.key, 0));
    if (g.also) {
        candidate_set_number(c, g.also, g.also_value);
        candidate_say(c, "%s and %s are swapped%s", g.key, g.also, factor);
    } else
        candidate_say(c, "%s is %s; the spec says %s%s", g.key, is, says, factor);
    return BUG_YES;
}

/* ------------------------------------------------ another scaling */

bug_made bug_scaling_ignored(candidate *c, int variant)
{
    char how[24];
    double m = spec_magnitude(c->spec, c->d);
    if (variant > 1 || !zoo_spec_text(how, sizeof how, c->spec, "scaling"))
        return BUG_END;
    if (zoo_spec_is(c->spec, "scaling", "none") || (variant && m == 1))
        return BUG_NO;
    candidate_set(c, "scaling", NULL);
    candidate_set(c, "magnitude", NULL);
    if (variant)
        candidate_set_number(c, "magnitude", m);
    candidate_say(c, "frequencies are not scaled; the spec says scaling=%s%s", how,
                  variant ? " (the attention factor is applied)" : "");
    return BUG_YES;
}

static bug_made as_linear(candidate *c, double factor, const char *how)
{
    if (factor <= 0)
        return BUG_NO;
    candidate_set(c, "scaling", "linear");
    candidate_set_number(c, "factor", factor);
    candidate_say(c, "all frequencies are divided by %g; the spec says scaling=%s", factor, how);
    return BUG_YES;
}

static bug_made as_ntk(candidate *c, double factor)
{
    candidate_set(c, "scaling", "ntk");
    candidate_set(c, "magnitude", NULL);
    candidate_set_number(c, "alpha", factor);
    candidate_say(c, "theta is raised for the factor %g; the spec says scaling=yarn", factor);
    return BUG_YES;
}

static bug_made other_longrope_list(candidate *c)
{
    double trained = zoo_spec_num_or(c->spec, "trained", 1);
    bool is_long = zoo_spec_num_or(c->spec, "length", 0) > trained;
    candidate_set_number(c, "length", is_long ? trained : trained + 1);
    candidate_say(c, "the %s factors are used; the spec says %s", is_long ? "short" : "long",
                  is_long ? "long" : "short");
    return BUG_YES;
}

bug_made bug_scaling_wrong(candidate *c, int variant)
{
    char how[24];
    double factor = zoo_spec_num_or(c->spec, "factor", 0);
    bool yarn = zoo_spec_is(c->spec, "scaling", "yarn");
    if (variant > 3)
        return bug_scaling_number(c, variant - 4);
    if (!zoo_spec_text(how, sizeof how, c->spec, "scaling"))
        return BUG_END;
    if (variant == 0 && !zoo_spec_is(c->spec, "scaling", "none")) /* read as linear, or a linear one applied twice */
        return as_linear(c, zoo_spec_is(c->spec, "scaling", "linear") ? factor * factor : factor, how);
    if (variant == 1 && yarn)
        return bug_choice(c, "truncate", zoo_spec_is(c->spec, "truncate", "yes") ? 0 : 1, "truncate is");
    if (variant == 2 && zoo_spec_is(c->spec, "scaling", "longrope"))
        return other_longrope_list(c);
    return variant == 3 && yarn ? as_ntk(c, factor) : BUG_NO;
}

bug_made bug_scaling_extra(candidate *c, int variant)
{
    static const struct {
        const char *how, *factor, *trained;
    } way[] = {
        { "linear", "2", NULL },  { "linear", "4", NULL },   { "linear", "8", NULL },
        { "linear", "16", NULL }, { "llama3", "8", "8192" }, { "llama3", "32", "8192" },
        { "yarn", "4", "32768" }, { "yarn", "4", "4096" },   { "yarn", "40", "4096" },
    };
    if (variant > CHECK_COUNT(way) || !zoo_spec_is(c->spec, "scaling", "none"))
        return BUG_END;
    if (variant == CHECK_COUNT(way))
        return c->d->scaling_factor > 1 ? as_linear(c, c->d->scaling_factor, "none") : BUG_NO;
    candidate_set(c, "scaling", way[variant].how);
    candidate_set(c, "factor", way[variant].factor);
    if (way[variant].trained)
        candidate_set(c, "trained", way[variant].trained);
    candidate_say(c, "frequencies are scaled: %s, factor %s; the spec has no scaling", way[variant].how,
                  way[variant].factor);
    return BUG_YES;
}

/* ------------------------------------------------ the attention factor */

static bug_made set_factor(candidate *c, double to, double now)
{
    candidate_set_number(c, "magnitude", to);
    candidate_say(c, "cos and sin are multiplied by %.6g; the spec says %.6g", to, now);
    return BUG_YES;
}

/* Whether the spec has a factor other than 1: m. Such a bug comes in one variant. */
static bug_made has_factor(const candidate *c, int variant, double *m)
{
    *m = spec_magnitude(c->spec, c->d);
    if (variant || !zoo_spec_key(c->spec, "magnitude"))
        return BUG_END;
    return *m == 1 ? BUG_NO : BUG_YES;
}

bug_made bug_factor_missing(candidate *c, int variant)
{
    double m;
    bug_made made = has_factor(c, variant, &m);
    if (made == BUG_YES) {
        candidate_set(c, "magnitude", "1");
        candidate_say(c, "the attention factor is missing; the spec says %.6g", m);
    }
    return made;
}

bug_made bug_factor_squared(candidate *c, int variant)
{
    double m;
    bug_made made = has_factor(c, variant, &m);
    if (made == BUG_YES) {
        candidate_set_number(c, "magnitude", m * m);
        candidate_say(c, "the attention factor is applied twice: %.6g; the spec says %.6g", m * m, m);
    }
    return made;
}

bug_made bug_factor_half(candidate *c, int variant)
{
    double m;
    bug_made made = has_factor(c, variant / 2, &m);
    c->factor_on = 1 + variant % 2;
    candidate_say(c, "%s alone is multiplied by the attention factor, %.6g", variant ? "sin" : "cos", m);
    return made;
}

bug_made bug_factor_extra(candidate *c, int variant)
{
    double factor = zoo_spec_num_or(c->spec, "factor", 1);
    if (variant > 2 || !zoo_spec_key(c->spec, "magnitude") || spec_magnitude(c->spec, c->d) != 1)
        return BUG_END;
    double to = variant == 0 ? 0.1 * log(factor) + 1 : c->d->factor; /* YaRN's, or what the data shows */
    if (variant == 1) {                                              /* what the scaling says of itself */
        candidate_set(c, "magnitude", NULL);
        to = spec_magnitude(c->spec, c->d);
    }
    return to <= 0 || is_near(c->d, to, 1) ? BUG_NO : set_factor(c, to, 1);
}

bug_made bug_factor_wrong(candidate *c, int variant)
{
    const check_data *d = c->d;
    double m, shown = d->factor;
    bug_made made = has_factor(c, variant, &m);
    if (made != BUG_YES)
        return made;
    if (shown <= 0 || is_near(d, shown, m) || is_near(d, shown, 1) || is_near(d, shown, m * m))
        return BUG_NO;
    return set_factor(c, shown, m);
}
