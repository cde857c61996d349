/* SPDX-License-Identifier: MIT
 *
 * The list of groups of claims: a group is one file. */
#include "prove/prove.h"

#include <string.h>

/* clang-format off */
#define GROUPS(X) \
    X(order) X(codes) X(sinusoids) X(terms) X(rope) X(relative) X(numbers)
/* clang-format on */

#define DECLARE(name) extern const prove_group prove_group_##name;
#define POINT(name) &prove_group_##name,

GROUPS(DECLARE)
const prove_group *const prove_groups[] = { GROUPS(POINT) };
const int prove_group_count = (int)(sizeof prove_groups / sizeof *prove_groups);

const prove_claim *prove_claim_named(const char *name)
{
    for (int g = 0; g < prove_group_count; g++)
        for (int c = 0; c < prove_groups[g]->count; c++)
            if (!strcmp(prove_groups[g]->claims[c].name, name))
                return &prove_groups[g]->claims[c];
    return NULL;
}

const prove_group *prove_group_named(const char *name)
{
    for (int g = 0; g < prove_group_count; g++)
        if (!strcmp(prove_groups[g]->name, name))
            return prove_groups[g];
    return NULL;
}

pe_status prove_measure(prove_finding *out, const prove_claim *c, const char *spec, pe_error *err)
{
    prove_given g = c->given;
    *out = (prove_finding){ 0 };
    if (spec) {
        memset(g.spec, 0, sizeof g.spec);
        g.spec[0] = spec;
    }
    return c->measure(out, &g, err);
}

void prove_say(prove_finding *f, prove_verdict v, words because)
{
    f->verdict = v;
    f->because = because;
}

void prove_add(prove_finding *f, words what, const char *of, double value, const char *unit)
{
    if (f->count == PROVE_NUMBERS_MAX)
        return;
    prove_number *n = &f->number[f->count++];
    *n = (prove_number){ .what = what, .value = value, .unit = unit };
    size_t size = strlen(of);
    size = size < sizeof n->of ? size : sizeof n->of - 1;
    memcpy(n->of, of, size);
}

words prove_verdict_words(prove_verdict v)
{
    static const words all[PROVE_VERDICT_COUNT] = { { "HOLDS", "成立" },
                                                    { "REFUTED", "不成立" },
                                                    { "DEPENDS", "视情况而定" } };
    return all[v];
}
