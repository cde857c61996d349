/* SPDX-License-Identifier: MIT
 *
 * A method's number: that of its formula, or the smallest with which no pair leaves the trained range, by bisection on
 * the pairs that the library makes of the method's spec; and what that costs short prompts. */
#include "zoo/build.h"
#include "zoo/extend_spec.h"
#include "zoo/spec_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 1e-9 /* angles that are equal on paper differ in their last digits */

/* ---------------------------------------------------------------- which pairs leave the trained range */

/* The angle at the target over the largest seen, where that is new; else 0. */
static double excess(const extend_model *x, int64_t n, double frequency)
{
    double angle = fabs(frequency) * (double)x->target, seen = x->pair[n].frequency * (double)x->reach;
    if (x->pair[n].turns >= 1 || angle <= seen * (1 + SLACK))
        return 0;
    return seen > 0 ? angle / seen : INFINITY;
}

static void count_leaving(extend_plan *p, const extend_model *x, const extend_rotation *t)
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

static pe_status spec_with(char **out, const extend_model *x, const extend_method *m, double value, pe_error *err)
{
    char *part;
    *out = NULL;
    pe_status s = extend_make_part(&part, x, m, value, err);
    if (s == PE_OK)
        s = extend_make_spec(out, x, part, x->target, err);
    free(part);
    return s;
}

static pe_status try_value(extend_plan *p, const extend_model *x, double value, pe_error *err)
{
    extend_rotation t = { 0 };
    char *spec;
    pe_status s = spec_with(&spec, x, p->method, value, err);
    if (s == PE_OK)
        s = extend_rotation_of(&t, spec, x->group->shape, err);
    if (s == PE_OK) {
        p->value = value;
        p->magnitude = t.magnitude;
        count_leaving(p, x, &t);
    }
    extend_rotation_free(&t);
    free(spec);
    return s;
}

/* ---------------------------------------------------------------- the smallest number */

/* What the method's formula takes: how many times longer. Dynamic's theta grows with the sequence, and at factor 1 is
 * that of ntk at every length. */
static double nominal(const extend_model *x, const extend_method *m)
{
    double stretch = (double)x->target / (double)x->reach;
    char *part = extend_rope_part(x->own, NULL);
    bool own = extend_is_own(x, m), grows = !strcmp(m->scaling, "dynamic");
    double old = part && own && strcmp(m->key, "long") ? zoo_spec_num_or(part, m->key, 1) : 1;
    free(part);
    if (grows || !strcmp(m->key, "long"))
        return grows ? old : stretch;
    return own ? old * stretch : (double)x->target / (double)x->trained;
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
    TRY(try_value(p, x, 1, err));
    if (p->serves)
        return PE_OK;
    TRY(try_value(p, x, guess, err));
    if (p->serves) {
        TRY(try_value(p, x, below, err));
        return p->serves ? bisect(p, x, 1, below, err) : try_value(p, x, guess, err);
    }
    TRY(try_value(p, x, rounded_up(guess * (1 + 1e-8)), err)); /* lists are written with nine digits */
    if (p->serves)
        return PE_OK;
    TRY(try_value(p, x, p->method->most, err));
    return p->serves ? bisect(p, x, guess, p->method->most, err) : try_value(p, x, guess, err);
}

/* p-RoPE: the pairs that have made a turn go on rotating. Their share has to survive being multiplied by the width. */
static pe_status keep_turned(extend_plan *p, const extend_model *x, pe_error *err)
{
    int64_t rotated = 0;
    for (int64_t n = 0; n < x->pairs; n++)
        rotated += x->pair[n].turns >= 1;
    double share = (double)rotated / (double)x->pairs;
    while ((int64_t)(share * (double)x->pairs) < rotated)
        share = nextafter(share, 1);
    return try_value(p, x, share, err);
}

/* ---------------------------------------------------------------- what it costs short prompts */

static void compare_rotations(extend_plan *p, const extend_rotation *old, const extend_rotation *new)
{
    int64_t rotating = 0;
    for (int64_t n = 0; n < old->count; n++) {
        double f = fabs(old->pair[n].frequency), g = fabs(new->pair[n].frequency), change = f > 0 ? fabs(g - f) / f : 0;
        rotating += f > 0;
        p->cost.mean += change;
        p->cost.angle = fmax(p->cost.angle, fabs(g - f) * EXTEND_NEAR);
        if (change <= SLACK)
            continue;
        if (!p->cost.changed++) {
            p->cost.fastest = n;
            p->cost.slower = g > 0 ? f / g : INFINITY;
        }
    }
    p->cost.mean /= rotating ? (double)rotating : 1;
    p->cost.magnitude = new->magnitude / old->magnitude;
    p->cost.logits = new->logits / old->logits;
    p->cost.same = !p->cost.changed && fabs(p->cost.magnitude - 1) <= SLACK && fabs(p->cost.logits - 1) <= SLACK;
}

static pe_status price(extend_plan *p, const extend_model *x, pe_error *err)
{
    extend_rotation old, new = { 0 };
    TRY(extend_rotation_of(&old, x->own, x->group->shape, err));
    pe_status s = extend_rotation_of(&new, p->brief, x->group->shape, err);
    if (s == PE_OK)
        compare_rotations(p, &old, &new);
    extend_rotation_free(&old);
    extend_rotation_free(&new);
    return s;
}

/* ---------------------------------------------------------------- the plan */

/* A config has no alpha: it has a theta, for which a whole number is taken, the next one up. All frequencies are powers
 * of theta, so that the slowest pair, before and after, says what power of the old theta the new one is. */
static pe_status settle_theta(char **part, const extend_plan *p, const extend_model *x, pe_error *err)
{
    extend_rotation old, new = { 0 };
    if (strcmp(p->method->name, "ntk") || extend_is_own(x, p->method))
        return PE_OK;
    TRY(extend_rotation_of(&old, x->plain, x->group->shape, err));
    pe_status s = extend_rotation_of(&new, *part, x->group->shape, err);
    if (s == PE_OK) {
        int64_t last = old.count - 1;
        double power = log(fabs(new.pair[last].frequency)) / log(fabs(old.pair[last].frequency));
        double theta = ceil(pow(zoo_spec_num_or(*part, "theta", 10000), isfinite(power) ? power : 1));
        if (!zoo_spec_put(part, "scaling", NULL) || !zoo_spec_put_real(part, "theta", theta))
            s = io_fail(err, PE_ERR_NOMEM, "no memory for a spec");
    }
    extend_rotation_free(&old);
    extend_rotation_free(&new);
    return s;
}

static pe_status settle_spec(extend_plan *p, const extend_model *x, pe_error *err)
{
    char *part;
    extend_rotation t = { 0 };
    TRY(extend_make_part(&part, x, p->method, p->value, err));
    pe_status s = settle_theta(&part, p, x, err);
    if (s == PE_OK)
        s = extend_make_spec(&p->spec, x, part, x->target, err);
    if (s == PE_OK)
        s = extend_make_spec(&p->brief, x, part, 0, err);
    if (s == PE_OK)
        s = extend_rotation_of(&t, p->spec, x->group->shape, err);
    if (s == PE_OK) {
        count_leaving(p, x, &t);
        p->magnitude = t.magnitude;
        p->logits = t.logits;
        p->theta = zoo_spec_num_or(part, "theta", 10000);
        s = price(p, x, err);
    }
    extend_rotation_free(&t);
    free(part);
    return s;
}

static void extend_plan_free(extend_plan *p)
{
    free(p->spec);
    free(p->brief);
    *p = (extend_plan){ 0 };
}

static pe_status extend_plan_make(extend_plan *p, const extend_model *x, const extend_method *m, pe_error *err)
{
    pe_error why;
    *p = (extend_plan){ .method = m, .applies = true };
    pe_status s = !m->key                      ? try_value(p, x, 1, &why)
                  : !strcmp(m->key, "turning") ? keep_turned(p, x, &why)
                  : m->stated                  ? try_value(p, x, nominal(x, m), &why)
                                               : search(p, x, &why);
    if (s == PE_OK)
        s = settle_spec(p, x, &why);
    if (s == PE_OK)
        return PE_OK;
    extend_plan_free(p);
    *p = (extend_plan){ .method = m };
    if (s == PE_ERR_NOMEM)
        return io_fail(err, s, "%s", why.text);
    snprintf(p->why, sizeof p->why, "%s", why.text);
    return PE_OK;
}

pe_status extend_plans_new(extend_plan **out, const extend_model *x, pe_error *err)
{
    extend_plan *plans = calloc((size_t)extend_method_count, sizeof *plans);
    pe_status s = plans ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for the plans");
    for (int i = 0; s == PE_OK && i < extend_method_count; i++)
        s = extend_plan_make(&plans[i], x, &extend_methods[i], err);
    *out = s == PE_OK ? plans : NULL;
    if (s != PE_OK)
        extend_plans_free(plans);
    return s;
}

void extend_plans_free(extend_plan *plans)
{
    for (int i = 0; plans && i < extend_method_count; i++)
        extend_plan_free(&plans[i]);
    free(plans);
}
