/* SPDX-License-Identifier: MIT
 *
 * What posenc extend recommends, held against what was measured. */
#include "lab/eval.h"

#include <inttypes.h>
#include <math.h>

static const lab_test_line *measured(const eval *e, int method, int length)
{
    const lab_test_line *l = eval_line(e, method, length);
    return l && !*l->cannot ? l : NULL;
}

typedef double line_bits(const lab_test_line *l);

static double whole_bits(const lab_test_line *l)
{
    return l->bits;
}

static double last_bits(const lab_test_line *l)
{
    return l->last_quarter;
}

static eval_place place_of(const eval *e, int length, line_bits *bits)
{
    eval_place p = { 0 };
    const lab_test_line *chosen = NULL, *best = NULL;
    for (int m = 0; m < e->ask.methods; m++) {
        const lab_test_line *l = measured(e, m, length);
        p.of += l != NULL;
        if (l && (!best || bits(l) < bits(best))) {
            best = l;
            p.best = e->ask.method[m];
        }
        if (l && e->ask.method[m] == e->choice[length].method)
            chosen = l;
    }
    if (!chosen)
        return p;
    p.place = 1;
    for (int m = 0; m < e->ask.methods; m++) {
        const lab_test_line *l = measured(e, m, length);
        p.place += l && bits(l) < bits(chosen);
    }
    p.ratio = exp2(bits(chosen) - bits(best));
    return p;
}

void eval_judge(eval *e)
{
    for (int n = 0; n < e->ask.lengths; n++) {
        e->choice[n].whole = place_of(e, n, whole_bits);
        e->choice[n].last = place_of(e, n, last_bits);
    }
}

/* ---------------------------------------------------------------- in words */

static const char *ending(int n)
{
    static const char *const endings[] = { "th", "st", "nd", "rd" };
    return n % 10 < 4 && (n / 10) % 10 != 1 ? endings[n % 10] : "th";
}

#define LEVEL 1.005 /* times the best: a difference that is not shown */

/* "2nd of 7, 1.03x the best (ntk)" */
static void place_words(char out[120], const eval_place *p)
{
    if (p->place == 1)
        snprintf(out, 120, "the best of %d", p->of);
    else if (p->ratio < LEVEL)
        snprintf(out, 120, "level with the best of %d (%s)", p->of, p->best->name);
    else
        snprintf(out, 120, "%d%s of %d, %.2fx the best (%s)", p->place, ending(p->place), p->of, p->ratio,
                 p->best->name);
}

void eval_choice_words(char out[EVAL_WORDS], const eval *e, int length)
{
    const eval_choice *c = &e->choice[length];
    int64_t n = e->ask.length[length];
    char whole[120], last[120];
    *out = 0;
    if (!c->whole.of)
        return;
    if (!c->method) {
        snprintf(out, EVAL_WORDS, "extend has nothing to recommend at %" PRId64 ": %s", n, c->why);
        return;
    }
    if (!c->whole.place) {
        snprintf(out, EVAL_WORDS, "extend recommends %s at %" PRId64 ", which was not measured; the best of %d is %s",
                 c->method->name, n, c->whole.of, c->whole.best->name);
        return;
    }
    place_words(whole, &c->whole);
    place_words(last, &c->last);
    snprintf(out, EVAL_WORDS, "extend recommends %s at %" PRId64 ": measured %s; over the last quarter %s%s",
             c->method->name, n, whole, last,
             c->whole.ratio > EVAL_NEAR || c->last.ratio > EVAL_NEAR ? ": not near the best on this text" : "");
}
