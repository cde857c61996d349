/* SPDX-License-Identifier: MIT
 *
 * Over seeds: means, deviations, and whether two differ by more than chance. */
#include "base/welch.h"
#include "lab/data.h"
#include "lab/results.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- what is measured */

lab_measure lab_shown(const lab_setup *s)
{
    return lab_is_eval(s) ? LAB_PERPLEXITY : LAB_BITS;
}

const char *lab_unit(const lab_setup *s)
{
    if (lab_is_eval(s))
        return "perplexity";
    if (!s->causal)
        return "bits per token asked";
    return lab_source_asks_answers(s->data) ? "bits per answer byte" : "bits per byte";
}

const char *lab_value(char out[LAB_VALUE_ROOM], const lab_setup *s, double value)
{
    int digits = !lab_is_eval(s) || value < 100 ? 2 : value < 1000 ? 1 : 0;
    if (!isfinite(value))
        snprintf(out, LAB_VALUE_ROOM, "-");
    else if (value < 1e6)
        snprintf(out, LAB_VALUE_ROOM, "%.*f", digits, value);
    else
        snprintf(out, LAB_VALUE_ROOM, "%.1e", value);
    return out;
}

static double recall(const lab_test_line *l)
{
    double asked = 0, right = 0; /* sums of untrusted whole numbers: no overflow */
    for (int i = 0; i < LAB_DISTANCES; i++) {
        asked += (double)l->asked[i];
        right += (double)l->right[i];
    }
    return asked > 0 ? right / asked : (double)NAN;
}

double lab_measured(const lab_test_line *l, lab_measure what)
{
    switch (what) {
    case LAB_BITS: return l->bits;
    case LAB_LAST_QUARTER: return l->last_quarter;
    case LAB_PERPLEXITY: return exp2(l->bits);
    case LAB_LAST_PERPLEXITY: return exp2(l->last_quarter);
    case LAB_RECALL: return recall(l);
    case LAB_ACCURACY: return l->asked_all > 0 ? (double)l->right_all / (double)l->asked_all : (double)NAN;
    }
    return (double)NAN;
}

/* ---------------------------------------------------------------- over seeds */

/* Why an entry has no number at any length; NULL: it may have one. */
static const char *why_none(const lab_results *r, int entry)
{
    const lab_entry *e = &r->setup.entry[entry];
    for (int i = 0; i < r->runs; i++)
        if (r->run[i].failure.step && lab_trained_alike(&r->setup.entry[r->run[i].entry], e))
            return r->run[i].failure.why;
    return NULL;
}

lab_summary lab_summarise(const lab_results *r, int entry, int64_t length, lab_measure what)
{
    const char *cannot = why_none(r, entry);
    double sum = 0, squares = 0;
    int seeds = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < r->tests; i++) {
            const lab_test_line *l = &r->test[i];
            if (l->entry != entry || l->length != length)
                continue;
            double x = l->cannot[0] ? (double)NAN : lab_measured(l, what);
            if (l->cannot[0])
                cannot = l->cannot;
            else if (!isfinite(x))
                cannot = what < LAB_RECALL ? "the loss is not a finite number" : cannot;
            else if (pass == 0)
                sum += x, seeds++;
            else
                squares += (x - sum / seeds) * (x - sum / seeds);
        }
    int of = seeds > r->setup.seeds ? seeds : r->setup.seeds;
    if (!seeds || cannot)
        return (lab_summary){ .of = of, .mean = (double)NAN, .cannot = cannot };
    return (lab_summary){
        .seeds = seeds, .of = of, .mean = sum / seeds, .spread = seeds > 1 ? sqrt(squares / (seeds - 1)) : 0
    };
}

lab_difference lab_compare(const lab_results *r, int a, int b, int64_t length, lab_measure what)
{
    lab_summary x = lab_summarise(r, a, length, what), y = lab_summarise(r, b, length, what);
    lab_difference out = { .difference = x.mean - y.mean };
    out.p = welch_probability((welch_sample){ x.mean, x.spread, x.seeds }, (welch_sample){ y.mean, y.spread, y.seeds });
    out.larger = out.p < 0.05;
    return out;
}

double lab_chance(const lab_setup *s)
{
    double vocab = (double)s->vocab;
    return vocab < 2 ? (double)INFINITY : lab_is_eval(s) ? vocab : log2(vocab);
}

/* Nearer to chance than to nothing left to learn by this share, a model has learned the letters' frequencies at most.
 */
#define NEAR_CHANCE 0.05

bool lab_learned(const lab_results *r, int entry)
{
    const lab_setup *s = &r->setup;
    const lab_entry *e = &s->entry[entry];
    lab_summary here = lab_summarise(r, entry, s->train_length, lab_shown(s));
    if (!lab_is_eval(s) && here.seeds && here.mean + here.spread > (1 - NEAR_CHANCE) * lab_chance(s))
        return false;
    for (int i = 0; i < s->entries; i++) {
        if (s->entry[i].dropped || strcmp(s->entry[i].spec, "none") || e->dropped || i == entry)
            continue;
        lab_difference d = lab_compare(r, entry, i, s->train_length, lab_shown(s));
        if (!isnan(d.p) && !(d.larger && d.difference < 0))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------- ranking */

typedef struct rank_key {
    int64_t length; /* the longest with a number; 0: none */
    double value;
} rank_key;

static rank_key key_of(const lab_results *r, int entry)
{
    rank_key k = { 0, 0 };
    for (int i = 0; i < r->setup.tests; i++) {
        lab_summary s = lab_summarise(r, entry, r->setup.test[i], lab_shown(&r->setup));
        if (s.seeds && r->setup.test[i] > k.length)
            k = (rank_key){ r->setup.test[i], s.mean };
    }
    return k;
}

static bool before(rank_key a, rank_key b)
{
    return a.length != b.length ? a.length > b.length : a.value < b.value;
}

int lab_rank(int order[LAB_ENTRIES_MAX], const lab_results *r)
{
    rank_key key[LAB_ENTRIES_MAX];
    for (int i = 0; i < r->setup.entries; i++) {
        int at = i;
        key[i] = key_of(r, i);
        for (; at > 0 && before(key[i], key[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return r->setup.entries;
}

bool lab_has_rank(const lab_results *r, int entry)
{
    return key_of(r, entry).length > 0;
}
