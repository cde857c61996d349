/* SPDX-License-Identifier: MIT
 *
 * The methods, as specs with one number to find (extend_plan.c), and which to take: rules in the order of extend.h. */
#include "zoo/build.h"
#include "zoo/extend.h"
#include "zoo/extend_spec.h"
#include "zoo/spec_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_TURNS 32 /* longrope: pairs with more turns than this keep their frequency, as YaRN's beta_fast */

const extend_method extend_methods[] = {
    { "none", "", NULL, "", "only the served length is raised", false, false, false, 0 },
    { "linear", "linear", "factor", "Chen et al. 2023, 2306.15595",
      "divides every frequency: neighbours get closer; the paper fine-tunes 1000 steps", false, false, false, 0x1p20 },
    { "ntk", "ntk", "alpha", "\"NTK-aware\", 2023; see 2309.00071, 3.1",
      "a larger theta: fast pairs almost keep their frequency; used without training", false, false, true, 0 },
    { "dynamic", "dynamic", "factor", "\"dynamic NTK\", 2023; see 2309.00071, 3.3",
      "theta grows with the sequence; keys cached before it grows keep their old angles", true, true, true, 0 },
    { "yarn", "yarn", "factor", "Peng et al. 2023, 2309.00071",
      "interpolates slow pairs, keeps fast ones, scales logits up; the paper fine-tunes 400 steps", true, false, false,
      0x1p20 },
    { "longrope", "longrope", "long", "Ding et al. 2024, 2402.13753",
      "a divisor per pair: 1 above 32 turns, the whole factor below 1, geometric in log(turns) between: a start value "
      "for the paper's search, not its result",
      true, true, false, 0x1p20 },
    { "llama3", "llama3", "factor", "Grattafiori et al. 2024, 2407.21783",
      "interpolates slow pairs, keeps fast ones, no temperature; Llama 3.1 was trained with it", true, false, false,
      0x1p20 },
    { "p-rope", "proportional", "turning", "Barbero et al. 2024, 2410.06205",
      "pairs without a full turn are no longer rotated; the model must be trained with this", false, false, false, 1 },
};
const int extend_method_count = (int)(sizeof extend_methods / sizeof *extend_methods);

const extend_method *extend_find(const char *name)
{
    for (int i = 0; i < extend_method_count; i++)
        if (!strcmp(extend_methods[i].name, name))
            return &extend_methods[i];
    return NULL;
}

char *extend_rope_part(const char *spec, int *index)
{
    for (int i = 0; i < zoo_spec_parts(spec); i++) {
        char *rope = zoo_spec_part(spec, i);
        if (index)
            *index = i;
        if (rope && zoo_spec_row(rope) && !strcmp(zoo_spec_row(rope)->name, "rope"))
            return rope;
        free(rope);
    }
    return NULL;
}

pe_status extend_rotation_of(extend_rotation *out, const char *spec, pe_shape shape, pe_error *err)
{
    pe_encoding *e;
    *out = (extend_rotation){ 0 };
    pe_status s = pe_encoding_new(&e, spec, shape, err);
    if (s != PE_OK)
        return s;
    out->count = pe_encoding_pair_count(e);
    out->magnitude = pe_encoding_magnitude(e);
    out->logits = out->magnitude * out->magnitude * pe_encoding_scale(e) * sqrt((double)shape.head_dim);
    out->pair = calloc((size_t)out->count + 1, sizeof *out->pair);
    s = out->pair ? pe_encoding_pairs(e, out->pair, out->count, err)
                  : io_fail(err, PE_ERR_NOMEM, "no memory for pairs");
    pe_encoding_free(e);
    if (s != PE_OK)
        extend_rotation_free(out);
    return s;
}

void extend_rotation_free(extend_rotation *t)
{
    free(t->pair);
    *t = (extend_rotation){ 0 };
}

/* ---------------------------------------------------------------- a method's spec */

bool extend_is_own(const extend_model *x, const extend_method *m)
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
    bool fine = text && zoo_spec_put(part, key, text);
    free(text);
    return fine;
}

static pe_status put_divisors(char **part, const extend_model *x, double most, pe_error *err)
{
    extend_rotation plain;
    pe_status s = extend_rotation_of(&plain, x->plain, x->group->shape, err);
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
           zoo_spec_put_real(part, "factor", (double)x->target / (double)x->trained);
    free(list);
    extend_rotation_free(&plain);
    return fine ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for a list of divisors");
}

/* DeepSeek's factor on the softmax follows from the factor: g(s, m)^2, g = 0.1 m ln s + 1. */
static bool follow_softmax(char **part, double old, double new)
{
    double m = zoo_spec_num_or(*part, "mscale_all_dim", 0), now = zoo_spec_num_or(*part, "softmax", 1);
    double before = 0.1 * m * log(old) + 1, after = 0.1 * m * log(new) + 1;
    if (m == 0 || old <= 1 || new <= 1 || fabs(now - before * before) > 1e-6)
        return true;
    return zoo_spec_put_real(part, "softmax", after * after);
}

static bool put_number(char **part, const extend_method *m, double value)
{
    double old = zoo_spec_num_or(*part, "factor", 0);
    return zoo_spec_put_real(part, m->key, value) && (strcmp(m->key, "factor") || follow_softmax(part, old, value));
}

/* "none": the model as it is, at the target. */
pe_status extend_make_part(char **out, const extend_model *x, const extend_method *m, double value, pe_error *err)
{
    bool own = !m->key || extend_is_own(x, m), fine;
    char trained[24];
    char *part = extend_rope_part(own ? x->own : x->plain, NULL);
    snprintf(trained, sizeof trained, "%" PRId64, x->trained);
    *out = NULL;
    fine = part && (!m->key || zoo_spec_put(&part, "scaling", m->scaling));
    fine = fine && (!m->takes_trained || zoo_spec_put(&part, "trained", trained));
    fine = fine && (!m->key || !own || zoo_spec_put(&part, "magnitude", NULL));
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

pe_status extend_make_spec(char **out, const extend_model *x, const char *part, int64_t length, pe_error *err)
{
    int at = 0;
    char *copy = zoo_spec_at(part, length > x->trained ? length : 0);
    free(extend_rope_part(x->own, &at));
    *out = copy ? zoo_spec_with_part(x->own, at, copy) : NULL;
    free(copy);
    return *out ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for a spec");
}

/* ---------------------------------------------------------------- which to take */

#define LLAMA3_THETA 500000

static int index_of(const char *name)
{
    return (int)(extend_find(name) - extend_methods);
}

bool extend_holds(const extend_plan *p)
{
    return p->applies && (p->serves || p->method->stated);
}

static int own_method(const extend_model *x)
{
    for (int i = 0; i < extend_method_count; i++)
        if (*extend_methods[i].scaling && !strcmp(extend_methods[i].scaling, x->scaling))
            return i;
    return -1;
}

static int first_good(const extend_plan *plans)
{
    static const char *const order[] = { "yarn", "ntk", "longrope", "linear" };
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (extend_holds(&plans[index_of(order[i])]))
            return index_of(order[i]);
    return index_of("none");
}

static bool is_llama3(const extend_model *x, const extend_plan *plans)
{
    return !strcmp(x->part->type, "llama") && plans[index_of("none")].theta == LLAMA3_THETA;
}

/* Qwen 2.5 and 3: their cards prescribe YaRN. */
static bool is_qwen(const extend_model *x)
{
    return !strncmp(x->part->type, "qwen2", strlen("qwen2")) || !strncmp(x->part->type, "qwen3", strlen("qwen3"));
}

static int pick_own(const extend_model *x, int own, char why[400])
{
    if (extend_methods[own].by_length && extend_methods[own].stated)
        snprintf(why, 400,
                 "the model is set to %s, which grows with the sequence: its factor stays, and it is never "
                 "stacked with a second scaling",
                 x->scaling);
    else
        snprintf(why, 400, "the model was trained with %s: raise its factor; two scalings are never stacked",
                 x->scaling);
    return own;
}

/* For a model that nobody has extended yet: what was the best, or near it, for the small models of docs/eval.md. */
static int pick_measured(const extend_model *x, char why[400])
{
    static const char rests[] = "this was measured on two small models (docs/eval.md); measure yours with posenc eval";
    if ((double)x->target <= EXTEND_NTK_MOST * (double)x->reach) {
        snprintf(why, 400,
                 "up to %d times the length a larger theta was the best measured, or near it, and every "
                 "engine can set it; %s",
                 EXTEND_NTK_MOST, rests);
        return index_of("ntk");
    }
    if (x->pairs < EXTEND_YARN_PAIRS) {
        snprintf(why, 400,
                 "past %d times the length a larger theta was the best where a head has 4 pairs, for which "
                 "YaRN's ramp is coarse, but it still lost much quality; %s",
                 EXTEND_NTK_MOST, rests);
        return index_of("ntk");
    }
    snprintf(why, 400,
             "past %d times the length YaRN was the best where a head has 16 pairs, and lost much all the "
             "same without training; %s",
             EXTEND_NTK_MOST, rests);
    return index_of("yarn");
}

int extend_recommend(const extend_model *x, const extend_plan *plans, char why[400])
{
    int own = own_method(x), pick;
    if (extend_holds(&plans[index_of("none")])) {
        snprintf(why, 400,
                 "every pair completed a full turn, so only distances are new, not angles; raise the length, "
                 "and measure");
        return index_of("none");
    }
    if (own >= 0)
        pick = pick_own(x, own, why);
    else if (is_llama3(x, plans)) {
        pick = index_of("llama3");
        snprintf(why, 400, "it is a Llama 3 (theta 500000): its successors were extended this way");
    } else if (is_qwen(x)) {
        pick = index_of("yarn");
        snprintf(why, 400, "it is a Qwen: its makers prescribe YaRN (factor 4 of 32768 for Qwen2.5 and Qwen3)");
    } else
        pick = pick_measured(x, why);
    if (extend_holds(&plans[pick]))
        return pick;
    int other = first_good(plans);
    if (!extend_holds(&plans[other]))
        snprintf(why, 400,
                 "no method keeps every pair within the range it has seen; the model has to be trained longer");
    else
        snprintf(why, 400, "%s, the usual choice here, %s; this is the next that does", plans[pick].method->name,
                 plans[pick].applies ? "leaves pairs outside the trained range" : "does not apply to this model");
    return other;
}
