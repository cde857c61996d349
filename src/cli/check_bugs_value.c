/* SPDX-License-Identifier: MIT
 *
 * A scaling of the right kind with a wrong number: another model's, one read from the wrong key, or two swapped. Tried
 * when nothing else fits: there are many. */
#include "cli/check.h"

#include <math.h>

#define RATIOS 8 /* 2, 1/2, ... 16, 1/16 */

typedef struct guess {
    const char *key, *also; /* also: a second key that gets its own value */
    double value, also_value;
} guess;

static const char *const numbers[] = { "factor", "alpha", "trained", "beta_fast", "beta_slow", "low", "high" };
static const double lengths[] = { 2048, 4096, 8192, 16384, 32768, 65536, 131072, 262144 };

static bool is_used(const char *spec, const char *key)
{
    const pe_key *k = zoo_spec_key(spec, key);
    return k && zoo_spec_means(spec, k) && zoo_spec_num_or(spec, key, 0) > 0;
}

/* The one that the data shows, the length that is served, lengths that models are trained at. */
static guess guess_known(const char *spec, const check_data *d, int i)
{
    if (i == 0)
        return (guess){ .key = "factor", .value = d->stretch };
    if (i == 1)
        return (guess){ .key = "trained",
                        .value = zoo_spec_num_or(spec, "trained", 0) * zoo_spec_num_or(spec, "factor", 0) };
    return (guess){ .key = "trained", .value = lengths[i - 2] };
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

static guess guess_ratio(const char *spec, int i)
{
    const char *key = numbers[i / RATIOS];
    double ratio = ldexp(1, 1 + i % RATIOS / 2);
    return (guess){ .key = key, .value = zoo_spec_num_or(spec, key, 0) * (i % 2 ? 1 / ratio : ratio) };
}

#define KNOWN (2 + CLI_COUNT(lengths))
#define SWAPPED 3
#define GUESSES (KNOWN + SWAPPED + RATIOS * CLI_COUNT(numbers))

static guess guess_at(const char *spec, const check_data *d, int i)
{
    if (i < KNOWN)
        return guess_known(spec, d, i);
    i -= KNOWN;
    return i < SWAPPED ? guess_swapped(spec, i) : guess_ratio(spec, i - SWAPPED);
}

/* The attention factor may follow the wrong number, be the spec's, or be missing. */
enum { FACTOR_FOLLOWS, FACTOR_OF_SPEC, FACTOR_NONE, FACTORS };

static bool set_factor(suspect *s, const check_data *d, int which, const char **words)
{
    static const char *const said[FACTORS] = { "", "; the attention factor is the spec's",
                                               "; the attention factor is missing" };
    double m = check_magnitude(d->part, d), to = which == FACTOR_OF_SPEC ? m : 1;
    *words = said[which];
    if (which == FACTOR_FOLLOWS)
        return true;
    if (m == 1 || !zoo_spec_key(s->spec, "magnitude") || fabs(d->factor / to - 1) > fmax(16 * d->unit, 1e-4))
        return false;
    suspect_set_number(s, "magnitude", to);
    return true;
}

static void say_guess(suspect *s, const guess *g, const check_data *d, const char *factor)
{
    char is[40], says[40];
    io_print_real(is, sizeof is, g->value);
    io_print_real(says, sizeof says, zoo_spec_num_or(d->part, g->key, 0));
    if (g->also)
        suspect_say(s, "%s and %s are swapped%s", g->key, g->also, factor);
    else
        suspect_say(s, "%s is %s; the spec says %s%s", g->key, is, says, factor);
}

static bool is_other(const char *spec, const guess *g)
{
    return is_used(spec, g->key) && g->value > 0 &&
           (g->value != zoo_spec_num_or(spec, g->key, 0) ||
            (g->also && g->also_value != zoo_spec_num_or(spec, g->also, 0)));
}

plant plant_scaling_value(suspect *s, const check_data *d, int variant)
{
    const char *words;
    if (variant >= GUESSES * FACTORS || !d->looked || !zoo_spec_key(s->spec, "scaling"))
        return PLANT_END;
    guess g = guess_at(d->part, d, variant / FACTORS);
    if (!is_other(s->spec, &g) || !set_factor(s, d, variant % FACTORS, &words))
        return PLANT_NO;
    suspect_set_number(s, g.key, g.value);
    if (g.also)
        suspect_set_number(s, g.also, g.also_value);
    say_guess(s, &g, d, words);
    return PLANT_YES;
}
