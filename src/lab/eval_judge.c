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

static void judge(eval *e, int length)
{
    eval_choice *c = &e->choice[length];
    const lab_test_line *chosen = NULL, *best = NULL;
    c->place = c->of = 0;
    for (int m = 0; m < e->ask.methods; m++) {
        const lab_test_line *l = measured(e, m, length);
        c->of += l != NULL;
        if (l && (!best || l->bits < best->bits)) {
            best = l;
            c->best = e->ask.method[m];
        }
        if (l && e->ask.method[m] == c->method)
            chosen = l;
    }
    if (!chosen)
        return;
    c->place = 1;
    for (int m = 0; m < e->ask.methods; m++) {
        const lab_test_line *l = measured(e, m, length);
        c->place += l && l->bits < chosen->bits;
    }
    c->ratio = exp2(chosen->bits - best->bits);
}

void eval_judge(eval *e)
{
    for (int n = 0; n < e->ask.lengths; n++)
        judge(e, n);
}

static const char *ending(int n)
{
    static const char *const endings[] = { "th", "st", "nd", "rd" };
    return n % 10 < 4 && (n / 10) % 10 != 1 ? endings[n % 10] : "th";
}

void eval_choice_words(char out[400], const eval *e, int length)
{
    const eval_choice *c = &e->choice[length];
    int64_t n = e->ask.length[length];
    *out = 0;
    if (!c->of)
        return;
    if (!c->method)
        snprintf(out, 400, "extend has nothing to recommend at %" PRId64 ": %.300s", n, c->why);
    else if (!c->place)
        snprintf(out, 400, "extend recommends %s at %" PRId64 ", which was not measured; the best of %d is %s",
                 c->method->name, n, c->of, c->best->name);
    else if (c->place == 1)
        snprintf(out, 400, "extend recommends %s at %" PRId64 ": measured best of %d", c->method->name, n, c->of);
    else
        snprintf(out, 400, "extend recommends %s at %" PRId64 ": measured %d%s of %d, %.2fx the best (%s)%s",
                 c->method->name, n, c->place, ending(c->place), c->of, c->ratio, c->best->name,
                 c->ratio > EVAL_NEAR ? ": not near the best on this text" : "");
}
