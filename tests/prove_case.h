/* SPDX-License-Identifier: MIT
 *
 * A claim by its name, measured, and its numbers by theirs. */
#ifndef TESTS_PROVE_CASE_H
#define TESTS_PROVE_CASE_H

#include "common.h"
#include "prove/measure.h"

static inline const prove_claim *claim_of(const char *name)
{
    const prove_claim *c = prove_claim_named(name);
    if (!c)
        fail_msg("no claim is called %s", name);
    return c;
}

/* g NULL: as the claim has it. */
static inline prove_finding measured(const char *name, const prove_given *g)
{
    pe_error err = { 0 };
    prove_finding f = { 0 };
    if (claim_of(name)->measure(&f, g ? g : &claim_of(name)->given, &err))
        fail_msg("%s: %s", name, err.text);
    return f;
}

/* Measured on a spec, with sizes. */
static inline pe_status put_to(prove_finding *f, const char *claim, const char *spec, pe_shape shape, pe_error *err)
{
    *err = (pe_error){ 0 };
    return prove_measure(f, claim_of(claim), spec, shape, (prove_means){ 0 }, err);
}

/* The number called what, of `of` (NULL: any). */
static inline double number(const prove_finding *f, const char *what, const char *of)
{
    for (int n = 0; n < f->count; n++)
        if (!strcmp(f->number[n].what.en, what) && (!of || !strcmp(f->number[n].of, of)))
            return f->number[n].value;
    fail_msg("no number is called %s of %s", what, of ? of : "any");
    return NAN;
}

#endif
