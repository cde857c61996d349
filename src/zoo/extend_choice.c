/* SPDX-License-Identifier: MIT
 *
 * Which method to take: rules in the order of extend.h. */
#include "zoo/extend.h"

#include <stdio.h>
#include <string.h>

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

static int pick_own(const extend_model *x, int own, char why[400])
{
    if (extend_methods[own].by_length && extend_methods[own].stated)
        snprintf(why, 400,
                 "the model is set to %s, which grows with the sequence: its factor stays, and it is never "
                 "stacked with a second scaling",
                 x->scaling);
    else
        snprintf(why, 400, "the model was made with %s: it is raised, and never stacked with a second scaling",
                 x->scaling);
    return own;
}

/* For a model that nobody has extended yet: what was the best, or near it, for the small models of docs/eval.md. */
static int pick_measured(const extend_model *x, char why[400])
{
    static const char rests[] = "this rests on two small models (docs/eval.md): measure yours with posenc eval";
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
                 "YaRN's ramp is coarse, and lost much all the same; %s",
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
                 "every pair has turned at least once, so no angle is new, only the distances are; raise the length, "
                 "and measure");
        return index_of("none");
    }
    if (own >= 0)
        pick = pick_own(x, own, why);
    else if (is_llama3(x, plans)) {
        pick = index_of("llama3");
        snprintf(why, 400, "it is a Llama 3 (theta 500000): its successors were extended this way");
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
