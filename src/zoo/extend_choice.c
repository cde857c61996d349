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

static bool is_good(const extend_plan *plans, int i)
{
    return plans[i].applies && plans[i].serves;
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
    static const char *const order[] = { "yarn", "linear", "ntk", "longrope" };
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (is_good(plans, index_of(order[i])))
            return index_of(order[i]);
    return index_of("none");
}

static bool is_llama3(const extend_model *x, const extend_plan *plans)
{
    return !strcmp(x->part->type, "llama") && plans[index_of("none")].theta == LLAMA3_THETA;
}

int extend_recommend(const extend_model *x, const extend_plan *plans, char why[400])
{
    int own = own_method(x), pick = -1;
    double stretch = (double)x->target / (double)x->reach;
    if (is_good(plans, index_of("none"))) {
        snprintf(why, 400,
                 "every pair has turned at least once, so no angle is new, only the distances are; raise the length, "
                 "and measure");
        return index_of("none");
    }
    if (own >= 0) {
        pick = own;
        snprintf(why, 400, "the model was made with %s: it is raised, and never stacked with a second scaling",
                 x->scaling);
    } else if (is_llama3(x, plans)) {
        pick = index_of("llama3");
        snprintf(why, 400, "it is a Llama 3 (theta 500000): its successors were extended this way");
    } else if (stretch <= 2) {
        pick = index_of("ntk");
        snprintf(why, 400, "up to twice the length a larger theta does, which every engine can set; no temperature");
    } else {
        pick = index_of("yarn");
        snprintf(why, 400, "%s",
                 "fast pairs keep their turn, slow ones stay within what they have seen, and the logits "
                 "are sharpened for the longer sum");
    }
    if (is_good(plans, pick))
        return pick;
    int other = first_good(plans);
    if (!is_good(plans, other))
        snprintf(why, 400,
                 "no method keeps every pair within the range it has seen; the model has to be trained longer");
    else
        snprintf(why, 400, "%s, the usual choice here, %s; this is the next that does", plans[pick].method->name,
                 plans[pick].applies ? "leaves pairs outside the trained range" : "does not apply to this model");
    return other;
}
