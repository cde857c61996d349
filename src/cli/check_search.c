/* SPDX-License-Identifier: MIT
 *
 * The spec against the data; if it does not fit, each bug, then two at a time. Suspects are first tried on a sample of
 * tokens; those that fit it are measured on all. */
#include "cli/check.h"

#include <math.h>
#include <string.h>

#define EXPLAINED 0.5
#define AS_GOOD 2.0 /* a fit this many times worse than the best still counts as one */

typedef struct search {
    check_data *d;
    check_answer *answer;
    check_sample sample;
    bool confirm, failed;
    const check_bug *last; /* that was tried */
} search;

void check_answer_free(check_answer *a)
{
    suspect_free(&a->spec);
    suspect_free(&a->found);
}

static bool is_spec(const suspect *s, const suspect *spec)
{
    bool same_axes = !memcmp(s->axis, spec->axis, sizeof s->axis);
    bool plain = !s->walk && !s->shift && !s->still && !s->inverse && !s->mixed && !s->other_side && !s->rounds;
    return plain && !s->swapped && !s->factor_on && same_axes &&
           pe_encoding_fingerprint(s->e) == pe_encoding_fingerprint(spec->e);
}

/* Every pair where it was, driven by the coordinate it had: sections=12/10/10 and 10/10/12 may share 32 pairs alike. */
static bool same_pairs(const suspect *s, const suspect *spec)
{
    bool same = s->pairs == spec->pairs;
    for (int64_t n = 0; same && n < s->pairs; n++) {
        const pe_pair *a = &s->pair[n], *b = &spec->pair[n];
        same = s->axis[a->axis] == b->axis && !memcmp(&a->frequency, &b->frequency, sizeof a->frequency) &&
               a->x == b->x && a->y == b->y && a->x_out == b->x_out && a->y_out == b->y_out;
    }
    return same;
}

/* What the spec itself does, under another name. A bug of precision may be: the spec with more error granted. */
static bool is_known(const search *q, const suspect *s)
{
    const suspect *spec = &q->answer->spec;
    if (s->bugs == 1 && s->bug[0]->flags & BUG_AXES)
        return same_pairs(s, spec);
    return !(s->bug[0]->flags & BUG_ROUNDS) && is_spec(s, spec);
}

static void remember(check_answer *a, const check_bug *bug)
{
    for (int i = 0; i < a->also_count; i++)
        if (a->also[i] == bug)
            return;
    if (a->also_count < CHECK_ALSO_MAX)
        a->also[a->also_count++] = bug;
}

/* Better than what was found, or as good and another bug: then the data cannot tell. */
static void weigh(search *q, suspect *s, check_fit f)
{
    check_answer *a = q->answer;
    bool better = !a->has_found || f.rms * AS_GOOD < a->found_fit.rms;
    const check_bug *loser = better ? (a->has_found ? a->found.bug[0] : NULL) : s->bug[0];
    bool close = a->has_found && f.rms <= AS_GOOD * a->found_fit.rms;
    /* one more rounding that changes nothing is no other explanation */
    bool same = a->has_found && a->found.rounds && s->rounds && f.rms == a->found_fit.rms;
    if (better) {
        a->also_count = 0;
        suspect_free(&a->found);
        a->found = *s;
        a->found_fit = f;
        a->has_found = true;
        *s = (suspect){ 0 };
    } else if (close && !same && loser != a->found.bug[0])
        remember(a, loser);
}

/* A rounding explains errors by making them: one that leaves most of what the spec leaves is not what was done. */
static bool is_worse_rounding(const search *q, const suspect *s, const check_fit *f)
{
    const check_fit *spec = &q->answer->spec_fit;
    return s->bug[0]->flags & BUG_ROUNDS && spec->count && f->size > (s->rounds ? EXPLAINED : 1) * spec->size;
}

/* The spec fits; so does this bug, or not. */
static void count(search *q, const suspect *s, bool fits)
{
    const check_bug *bug = s->bug[0];
    if (bug->flags & BUG_ROUNDS)
        return;
    q->answer->tried += bug != q->last;
    q->last = bug;
    if (fits)
        remember(q->answer, bug);
    q->answer->fits_still = q->answer->fits_still || (fits && s->still);
}

static void try_suspect(search *q, suspect *s)
{
    bool made = suspect_make(s, q->d);
    q->failed = q->failed || s->failed;
    if (made && !is_known(q, s)) {
        check_fit f = check_measure(s, q->d, &q->sample);
        if (f.fits && q->confirm)
            f = check_measure(s, q->d, NULL);
        if (f.fits && q->confirm && !is_worse_rounding(q, s, &f))
            weigh(q, s, f);
        else if (!q->confirm)
            count(q, s, f.fits);
    }
    suspect_free(s);
}

static plant plant_one(search *q, suspect *s, const check_bug *bug, int variant)
{
    if (q->d->tables && bug->flags & BUG_NO_TABLE)
        return PLANT_END;
    s->bug[s->bugs] = bug;
    plant done = bug->plant(s, q->d, variant);
    s->bugs += done == PLANT_YES;
    return done;
}

static void try_singles(search *q)
{
    for (int i = 0; i < check_bug_count; i++)
        for (int variant = 0;; variant++) {
            suspect s;
            suspect_start(&s, q->d);
            plant done = plant_one(q, &s, &check_bugs[i], variant);
            if (done == PLANT_YES)
                try_suspect(q, &s);
            suspect_free(&s);
            if (done == PLANT_END)
                break;
        }
}

/* Second bug k, in every variant, on top of the first. */
static plant try_second(search *q, int i, int variant, int k)
{
    for (int other = 0;; other++) {
        suspect s;
        suspect_start(&s, q->d);
        plant first = plant_one(q, &s, &check_bugs[i], variant);
        plant second = first == PLANT_YES ? plant_one(q, &s, &check_bugs[k], other) : PLANT_END;
        if (second == PLANT_YES)
            try_suspect(q, &s);
        suspect_free(&s);
        if (second == PLANT_END)
            return first;
    }
}

static void try_doubles(search *q)
{
    for (int i = 0; i < check_bug_count; i++)
        for (int k = i + 1; k < check_bug_count && check_bugs[i].flags & BUG_JOINS; k++)
            for (int variant = 0; check_bugs[k].flags & BUG_JOINS; variant++)
                if (try_second(q, i, variant, k) == PLANT_END)
                    break;
}

/* A spec that names a float32 pipeline means its error too, and what another libm makes of it. */
static double spec_reach(const suspect *s)
{
    return zoo_spec_key(s->spec, "precision") && !zoo_spec_is(s->spec, "precision", "exact") ? INFINITY
                                                                                             : CHECK_FLOAT_REACH;
}

static void add_spots(check_sample *sample, const check_fit *f)
{
    sample->token[sample->tokens++] = f->worst.token;
    sample->token[sample->tokens++] = f->first.token;
}

cli_exit check_search(check_answer *out, check_data *d)
{
    search q = { .d = d, .answer = out, .sample = check_spread(d) };
    *out = (check_answer){ 0 };
    suspect_start(&out->spec, d);
    out->spec.reach = spec_reach(&out->spec);
    bool suits = suspect_make(&out->spec, d);
    if (out->spec.failed || !out->spec.pair)
        return cli_fail(d->args, CLI_SYSTEM, "no memory for a spec");
    d->spec = &out->spec;
    if (suits) {
        out->spec_fit = check_measure(&out->spec, d, NULL);
        add_spots(&q.sample, &out->spec_fit);
    }
    q.confirm = !out->spec_fit.fits;
    try_singles(&q);
    if (suits && q.confirm && !out->has_found) { /* no bug we know by its numbers: then by those of the data */
        check_look(d, &out->spec, &q.sample);
        try_singles(&q);
    }
    if (q.confirm && !out->has_found)
        try_doubles(&q);
    return q.failed ? cli_fail(d->args, CLI_SYSTEM, "no memory for a spec") : CLI_OK;
}
