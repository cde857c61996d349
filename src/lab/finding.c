/* SPDX-License-Identifier: MIT
 *
 * What a race showed, in words. */
#include "lab/results.h"

#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

typedef struct story {
    char *out;
    size_t cap, used;
    const lab_results *r;
    int64_t first, last; /* lengths: the trained one, the longest */
} story;

static void IO_PRINTF(2, 3) say(story *s, const char *format, ...)
{
    va_list list;
    if (s->used >= s->cap)
        return;
    va_start(list, format);
    int n = vsnprintf(s->out + s->used, s->cap - s->used, format, list);
    va_end(list);
    s->used += n > 0 ? (size_t)n : 0;
}

static double value(const story *s, int entry, int64_t length)
{
    return lab_summarise(s->r, entry, length, lab_shown(&s->r->setup)).mean;
}

static const char *name(const story *s, int entry)
{
    return s->r->setup.entry[entry].name;
}

/* The best (sign 1) or the worst (-1) at a length; -1: no entry has a number there. */
static int extreme(const story *s, int64_t length, int sign)
{
    int best = -1;
    for (int i = 0; i < s->r->setup.entries; i++) {
        double x = value(s, i, length);
        if (isfinite(x) && (best < 0 || sign * x < sign * value(s, best, length)))
            best = i;
    }
    return best;
}

/* A loss that grows by less than a twentieth is held: what lengths do to a model that holds is of that order. */
static bool holds(const story *s, int entry)
{
    return value(s, entry, s->last) <= 1.05 * value(s, entry, s->first);
}

static void say_winner(story *s, int winner)
{
    char a[LAB_VALUE_ROOM], b[LAB_VALUE_ROOM];
    const lab_setup *u = &s->r->setup;
    bool perplexity = lab_is_eval(u);
    say(s, "Trained at %" PRId64 ", %s %s at %" PRId64 " (%s%s%s%s", u->train_length, name(s, winner),
        holds(s, winner) ? "holds" : "is best", s->last, perplexity ? "perplexity " : "",
        lab_value(a, u, value(s, winner, s->last)), perplexity ? "" : " ", perplexity ? "" : lab_unit(u));
    if (isfinite(value(s, winner, s->first)))
        say(s, ", %s at %" PRId64, lab_value(b, u, value(s, winner, s->first)), s->first);
    say(s, ")");
}

/* The longest tested length up to which a is not worse than b. */
static int64_t better_up_to(const story *s, int a, int b)
{
    int64_t up_to = s->first;
    for (int i = 0; i < s->r->setup.tests; i++) {
        int64_t length = s->r->setup.test[i];
        if (length > s->first && !(value(s, a, length) <= value(s, b, length)))
            break;
        if (length > s->first)
            up_to = length;
    }
    return up_to;
}

static void say_best_at_first(story *s, int best, int winner)
{
    char a[LAB_VALUE_ROOM];
    int64_t up_to = better_up_to(s, best, winner);
    double end = value(s, best, s->last);
    say(s, "; %s is better %s %" PRId64, name(s, best), up_to > s->first ? "up to" : "at", up_to);
    if (!isfinite(end))
        say(s, " and cannot go to %" PRId64, s->last);
    else if (lab_is_eval(&s->r->setup))
        say(s, " and comes to %s by %" PRId64, lab_value(a, &s->r->setup, end), s->last);
    else if (end - value(s, best, s->first) > 0.05)
        say(s, " and loses %.1f bits by %" PRId64, end - value(s, best, s->first), s->last);
}

static void say_worst(story *s, int worst)
{
    char a[LAB_VALUE_ROOM];
    bool always = true;
    for (int i = 0; i < s->r->setup.tests; i++)
        if (s->r->setup.test[i] > s->first)
            always = always && extreme(s, s->r->setup.test[i], -1) == worst;
    if (always)
        say(s, "; %s is worst past the trained length", name(s, worst));
    else
        say(s, "; %s is worst at %" PRId64 " (%s)", name(s, worst), s->last,
            lab_value(a, &s->r->setup, value(s, worst, s->last)));
}

/* ---------------------------------------------------------------- how sure */

/* Above which size every difference at the longest length is larger than the seeds'. */
static void say_seeds(story *s)
{
    double not_told = -1;
    char a[LAB_VALUE_ROOM];
    int told = 0, one = 0;
    for (int x = 0; x < s->r->setup.entries; x++)
        for (int y = 0; y < x; y++) {
            lab_difference d = lab_compare(s->r, x, y, s->last, lab_shown(&s->r->setup));
            one += isfinite(d.difference) && isnan(d.p);
            if (!isnan(d.p) && !d.larger)
                not_told = fmax(not_told, fabs(d.difference));
        }
    for (int x = 0; x < s->r->setup.entries && !one; x++)
        for (int y = 0; y < x; y++) {
            lab_difference d = lab_compare(s->r, x, y, s->last, lab_shown(&s->r->setup));
            told += d.larger && fabs(d.difference) > not_told;
        }
    if (one)
        say(s, " One seed: small differences may be chance.");
    else if (told && not_told < 0)
        say(s, " Every difference at %" PRId64 " is larger than the seeds'.", s->last);
    else if (told)
        say(s, " Differences above %s at %" PRId64 " are larger than the seeds'.",
            lab_value(a, &s->r->setup, ceil(not_told * 100) / 100), s->last);
    else if (not_told >= 0)
        say(s, " No difference at %" PRId64 " is larger than the seeds'.", s->last);
}

static void say_unfinished(story *s)
{
    int left = 0;
    for (int i = 0; i < s->r->runs; i++)
        left += !s->r->run[i].ended || !s->r->run[i].end.finished;
    if (left)
        say(s, " %d of %d runs %s not finished.", left, s->r->runs, left == 1 ? "is" : "are");
}

static void say_cannot(story *s)
{
    int count = 0;
    for (int i = 0; i < s->r->setup.entries; i++) {
        if (!lab_summarise(s->r, i, s->last, lab_shown(&s->r->setup)).cannot)
            continue;
        if (!count++)
            say(s, " Cannot go to %" PRId64 ": ", s->last);
        else
            say(s, ", ");
        say(s, "%s", name(s, i));
    }
    if (count)
        say(s, ".");
}

/* The trained length, or the shortest that was tested; and the longest at which anyone has a number. */
static void find_lengths(story *s)
{
    const lab_setup *u = &s->r->setup;
    for (int i = 0; i < u->tests; i++) {
        if (extreme(s, u->test[i], 1) < 0)
            continue;
        if (u->test[i] > s->last)
            s->last = u->test[i];
        if (!s->first || u->test[i] == u->train_length)
            s->first = u->test[i];
    }
}

void lab_finding(char *out, size_t cap, const lab_results *r)
{
    story s = { .out = out, .cap = cap, .r = r };
    out[0] = 0;
    find_lengths(&s);
    if (!s.last)
        return;
    int winner = extreme(&s, s.last, 1), best = extreme(&s, s.first, 1), worst = extreme(&s, s.last, -1);
    say_winner(&s, winner);
    if (best >= 0 && best != winner && value(&s, best, s.first) < value(&s, winner, s.first))
        say_best_at_first(&s, best, winner);
    if (worst != winner && worst != best)
        say_worst(&s, worst);
    say(&s, ".");
    say_cannot(&s);
    if (r->setup.entries > 1 && !lab_is_eval(&r->setup))
        say_seeds(&s);
    say_unfinished(&s);
    if (s.used >= cap)
        io_end_with_dots(out, cap);
}
