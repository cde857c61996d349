/* SPDX-License-Identifier: MIT
 *
 * The methods, as specs with one number to find: the smallest with which no pair leaves the trained range, by bisection
 * on the pairs that the library makes of the spec. */
#include "zoo/build.h"
#include "zoo/extend.h"
#include "zoo/extend_spec.h"
#include "zoo/spec_edit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 1e-9    /* angles that are equal on paper differ in their last digits */
#define KEPT_TURNS 32 /* longrope: pairs with more turns than this keep their frequency, as YaRN's beta_fast */

const extend_method extend_methods[] = {
    { "none", "", NULL, "", "only the served length is raised", false, false, 0 },
    { "linear", "linear", "factor", "Chen et al. 2023, 2306.15595",
      "every pair slower, neighbours closer: the paper fine-tunes 1000 steps", false, false, 0x1p20 },
    { "ntk", "ntk", "alpha", "\"NTK-aware\", 2023; see 2309.00071, 3.1",
      "a larger theta: fast pairs almost keep their turn; used without training", false, false, 1e12 },
    { "dynamic", "dynamic", "factor", "\"dynamic NTK\", 2023; see 2309.00071, 3.3",
      "theta grows with the sequence; keys cached before it grows keep their old angles", true, true, 0x1p20 },
    { "yarn", "yarn", "factor", "Peng et al. 2023, 2309.00071",
      "slow pairs interpolated, fast ones kept, logits sharpened; the paper fine-tunes 400 steps", true, false,
      0x1p20 },
    { "longrope", "longrope", "long", "Ding et al. 2024, 2402.13753",
      "a divisor per pair: 1 above 32 turns, the whole factor below 1, geometric in log(turns) between: a start value "
      "for the paper's search, not its result",
      true, true, 0x1p20 },
    { "llama3", "llama3", "factor", "Grattafiori et al. 2024, 2407.21783",
      "slow pairs interpolated, fast ones kept, no temperature; Llama 3.1 was trained with it", true, false, 0x1p20 },
    { "p-rope", "proportional", "turning", "Barbero et al. 2024, 2410.06205",
      "pairs without a whole turn no longer turn: another model, which has to be trained so", false, false, 1 },
};
const int extend_method_count = (int)(sizeof extend_methods / sizeof *extend_methods);

const extend_method *extend_find(const char *name)
{
    for (int i = 0; i < extend_method_count; i++)
        if (!strcmp(extend_methods[i].name, name))
            return &extend_methods[i];
    return NULL;
}

/* ---------------------------------------------------------------- a method's spec */

static bool is_own(const extend_model *x, const extend_method *m)
{
    return !strcmp(x->scaling, m->scaling);
}

/* A divisor per pair, on top of what the model divides by already. */
static double divisor(const extend_pair *p, double most)
{
    if (p->turns < 1)
        return most;
    if (p->turns >= KEPT_TURNS)
        return 1;
    return pow(most, 1 - log(p->turns) / log(KEPT_TURNS));
}

static bool put_list(char **part, const char *key, const double *value, int64_t count)
{
    size_t room = (size_t)count * 26 + 1, used = 0;
    char *text = malloc(room);
    for (int64_t n = 0; text && n < count; n++)
        used += (size_t)snprintf(text + used, room - used, "%s%.9g", n ? "/" : "", value[n]);
    bool fine = text && extend_put(part, key, text);
    free(text);
    return fine;
}

static pe_status put_divisors(char **part, const extend_model *x, double most, pe_error *err)
{
    extend_turns plain;
    pe_status s = extend_turns_of(&plain, x->plain, x->group->shape, err);
    if (s != PE_OK)
        return s;
    double *list = calloc((size_t)x->pairs, sizeof *list);
    bool fine = list != NULL;
    for (int64_t n = 0; fine && n < x->pairs; n++)
        list[n] = 1;
    if (fine && strcmp(x->scaling, "longrope"))
        fine = put_list(part, "short", list, x->pairs);
    for (int64_t n = 0; fine && n < x->pairs; n++)
        list[n] = divisor(&x->pair[n], most) *
                  (x->pair[n].frequency > 0 ? fabs(plain.pair[n].frequency) / x->pair[n].frequency : 1);
    fine = fine && put_list(part, "long", list, x->pairs) &&
           extend_put_real(part, "factor", (double)x->target / (double)x->trained);
    free(list);
    extend_turns_free(&plain);
    return fine ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for a list of divisors");
}

/* DeepSeek's factor on the softmax follows from the factor: g(s, m)^2, g = 0.1 m ln s + 1. */
static bool follow_softmax(char **part, double old, double new)
{
    double m = spec_number(*part, "mscale_all_dim", 0), now = spec_number(*part, "softmax", 1);
    double before = 0.1 * m * log(old) + 1, after = 0.1 * m * log(new) + 1;
    if (m == 0 || old <= 1 || new <= 1 || fabs(now - before * before) > 1e-6)
        return true;
    return extend_put_real(part, "softmax", after * after);
}

static bool put_number(char **part, const extend_method *m, double value)
{
    double old = spec_number(*part, "factor", 0);
    return extend_put_real(part, m->key, value) && (strcmp(m->key, "factor") || follow_softmax(part, old, value));
}

/* "none": the model as it is, at the target. */
static pe_status make_part(char **out, const extend_model *x, const extend_method *m, double value, pe_error *err)
{
    bool own = !m->key || is_own(x, m), fine;
    char trained[24];
    char *part = extend_rope_part(own ? x->own : x->plain, NULL);
    snprintf(trained, sizeof trained, "%" PRId64, x->trained);
    *out = NULL;
    fine = part && (!m->key || extend_put(&part, "scaling", m->scaling));
    fine = fine && (!m->takes_trained || extend_put(&part, "trained", trained));
    fine = fine && (!m->key || !own || extend_put(&part, "magnitude", NULL));
    pe_status s = fine ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for a spec");
    if (s == PE_OK && m->key && !strcmp(m->key, "long"))
        s = put_divisors(&part, x, value, err);
    else if (s == PE_OK && m->key && !put_number(&part, m, value))
        s = io_fail(err, PE_ERR_NOMEM, "no memory for a spec");
    if (s == PE_OK)
        *out = part;
    else
        free(part);
    return s;
}

/* The whole spec with this rope part; length 0: for a prompt within the trained length. */
static pe_status whole_spec(char **out, const extend_model *x, const char *part, int64_t length, pe_error *err)
{
    int at = 0;
    char text[24], *copy = spec_part(part, 0);
    free(extend_rope_part(x->own, &at));
    snprintf(text, sizeof text, "%" PRId64, length);
    bool grows = copy && (spec_is(copy, "scaling", "dynamic") || spec_is(copy, "scaling", "longrope"));
    bool fine = copy && (!grows || extend_put(&copy, "length", length > x->trained ? text : NULL));
    *out = fine ? spec_with_part(x->own, at, copy) : NULL;
    free(copy);
    return *out ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for a spec");
}

static pe_status make_spec(char **out, const extend_model *x, const extend_method *m, double value, pe_error *err)
{
    char *part;
    *out = NULL;
    pe_status s = make_part(&part, x, m, value, err);
    if (s == PE_OK)
        s = whole_spec(out, x, part, x->target, err);
    free(part);
    return s;
}

/* ---------------------------------------------------------------- which pairs leave the trained range */

/* The angle at the target over the largest seen, where that is new; else 0. */
static double excess(const extend_model *x, int64_t n, double frequency)
{
    double angle = fabs(frequency) * (double)x->target, seen = x->pair[n].frequency * (double)x->reach;
    if (x->pair[n].turns >= 1 || angle <= seen * (1 + SLACK))
        return 0;
    return seen > 0 ? angle / seen : INFINITY;
}

static void count_leaving(extend_plan *p, const extend_model *x, const extend_turns *t)
{
    p->leaving = 0;
    p->worst = 0;
    for (int64_t n = 0; n < x->pairs; n++) {
        double over = excess(x, n, t->pair[n].frequency);
        if (over == 0)
            continue;
        if (!p->leaving++)
            p->first = n;
        p->last = n;
        p->worst = over > p->worst ? over : p->worst;
    }
    p->serves = p->leaving == 0;
}

static pe_status try_value(extend_plan *p, const extend_model *x, double value, pe_error *err)
{
    extend_turns t = { 0 };
    char *spec;
    pe_status s = make_spec(&spec, x, p->method, value, err);
    if (s == PE_OK)
        s = extend_turns_of(&t, spec, x->group->shape, err);
    if (s == PE_OK) {
        p->value = value;
        p->magnitude = t.magnitude;
        count_leaving(p, x, &t);
    }
    extend_turns_free(&t);
    free(spec);
    return s;
}

/* ---------------------------------------------------------------- the smallest number */

/* What the method's paper would take. */
static double nominal(const extend_model *x, const extend_method *m)
{
    double stretch = (double)x->target / (double)x->reach;
    char *part = extend_rope_part(x->own, NULL);
    double old = part && is_own(x, m) && strcmp(m->key, "long") ? spec_number(part, m->key, 1) : 1;
    free(part);
    if (!strcmp(m->key, "long"))
        return stretch;
    return is_own(x, m) && strcmp(m->scaling, "dynamic") ? old * stretch : (double)x->target / (double)x->trained;
}

/* Seven digits are enough for a config, and 16 is nicer than 15.99999998. */
static double rounded_up(double x)
{
    double parts = pow(10, 6 - floor(log10(x)));
    return ceil(x * parts) / parts;
}

static pe_status bisect(extend_plan *p, const extend_model *x, double low, double high, pe_error *err)
{
    pe_status s = PE_OK;
    while (s == PE_OK && high / low > 1 + 1e-10) {
        double middle = sqrt(low * high);
        s = try_value(p, x, middle, err);
        *(p->serves ? &high : &low) = middle;
    }
    return s == PE_OK ? try_value(p, x, rounded_up(high), err) : s;
}

static pe_status search(extend_plan *p, const extend_model *x, pe_error *err)
{
    double guess = nominal(x, p->method), below = fmax(1, guess * (1 - 1e-6));
    ZOO_TRY(try_value(p, x, 1, err));
    if (p->serves)
        return PE_OK;
    ZOO_TRY(try_value(p, x, guess, err));
    if (p->serves) {
        ZOO_TRY(try_value(p, x, below, err));
        return p->serves ? bisect(p, x, 1, below, err) : try_value(p, x, guess, err);
    }
    ZOO_TRY(try_value(p, x, p->method->most, err));
    return p->serves ? bisect(p, x, guess, p->method->most, err) : try_value(p, x, guess, err);
}

/* p-RoPE: the pairs that have made a turn go on turning. Their share has to survive being multiplied by the width. */
static pe_status keep_turned(extend_plan *p, const extend_model *x, pe_error *err)
{
    int64_t turned = 0;
    for (int64_t n = 0; n < x->pairs; n++)
        turned += x->pair[n].turns >= 1;
    double share = (double)turned / (double)x->pairs;
    while ((int64_t)(share * (double)x->pairs) < turned)
        share = nextafter(share, 1);
    return try_value(p, x, share, err);
}

/* ---------------------------------------------------------------- what it costs short prompts */

static void compare(extend_plan *p, const extend_turns *old, const extend_turns *new)
{
    int64_t turning = 0;
    for (int64_t n = 0; n < old->count; n++) {
        double f = fabs(old->pair[n].frequency), g = fabs(new->pair[n].frequency), change = f > 0 ? fabs(g - f) / f : 0;
        turning += f > 0;
        p->cost.mean += change;
        p->cost.angle = fmax(p->cost.angle, fabs(g - f) * EXTEND_NEAR);
        if (change <= SLACK)
            continue;
        if (!p->cost.changed++) {
            p->cost.fastest = n;
            p->cost.slower = g > 0 ? f / g : INFINITY;
        }
    }
    p->cost.mean /= turning ? (double)turning : 1;
    p->cost.magnitude = new->magnitude / old->magnitude;
    p->cost.same = !p->cost.changed && fabs(p->cost.magnitude - 1) <= SLACK;
}

static pe_status price(extend_plan *p, const extend_model *x, pe_error *err)
{
    extend_turns old, new = { 0 };
    ZOO_TRY(extend_turns_of(&old, x->own, x->group->shape, err));
    pe_status s = extend_turns_of(&new, p->brief, x->group->shape, err);
    if (s == PE_OK)
        compare(p, &old, &new);
    extend_turns_free(&old);
    extend_turns_free(&new);
    return s;
}

/* ---------------------------------------------------------------- the plan */

/* A config has no alpha: it has a theta, for which a whole number is taken, the next one up. All frequencies are powers
 * of theta, so that the slowest pair, before and after, says what power of the old theta the new one is. */
static pe_status settle_theta(char **part, const extend_plan *p, const extend_model *x, pe_error *err)
{
    extend_turns old, new = { 0 };
    if (strcmp(p->method->name, "ntk") || is_own(x, p->method))
        return PE_OK;
    ZOO_TRY(extend_turns_of(&old, x->plain, x->group->shape, err));
    pe_status s = extend_turns_of(&new, *part, x->group->shape, err);
    if (s == PE_OK) {
        int64_t last = old.count - 1;
        double power = log(fabs(new.pair[last].frequency)) / log(fabs(old.pair[last].frequency));
        double theta = ceil(pow(spec_number(*part, "theta", 10000), isfinite(power) ? power : 1));
        if (!extend_put(part, "scaling", NULL) || !extend_put_real(part, "theta", theta))
            s = io_fail(err, PE_ERR_NOMEM, "no memory for a spec");
    }
    extend_turns_free(&old);
    extend_turns_free(&new);
    return s;
}

static pe_status settle(extend_plan *p, const extend_model *x, pe_error *err)
{
    char *part;
    extend_turns t = { 0 };
    ZOO_TRY(make_part(&part, x, p->method, p->value, err));
    pe_status s = settle_theta(&part, p, x, err);
    if (s == PE_OK)
        s = whole_spec(&p->spec, x, part, x->target, err);
    if (s == PE_OK)
        s = whole_spec(&p->brief, x, part, 0, err);
    if (s == PE_OK)
        s = extend_turns_of(&t, p->spec, x->group->shape, err);
    if (s == PE_OK) {
        count_leaving(p, x, &t);
        p->magnitude = t.magnitude;
        p->theta = spec_number(part, "theta", 10000);
        s = price(p, x, err);
    }
    extend_turns_free(&t);
    free(part);
    return s;
}

pe_status extend_plan_make(extend_plan *p, const extend_model *x, const extend_method *m, pe_error *err)
{
    pe_error why;
    *p = (extend_plan){ .method = m, .applies = true };
    pe_status s = !m->key                      ? try_value(p, x, 1, &why)
                  : !strcmp(m->key, "turning") ? keep_turned(p, x, &why)
                                               : search(p, x, &why);
    if (s == PE_OK)
        s = settle(p, x, &why);
    if (s == PE_OK)
        return PE_OK;
    extend_plan_free(p);
    *p = (extend_plan){ .method = m };
    if (s == PE_ERR_NOMEM)
        return io_fail(err, s, "%s", why.text);
    snprintf(p->why, sizeof p->why, "%s", why.text);
    return PE_OK;
}

void extend_plan_free(extend_plan *p)
{
    free(p->spec);
    free(p->brief);
    *p = (extend_plan){ 0 };
}
