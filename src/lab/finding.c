/* SPDX-License-Identifier: MIT
 *
 * What a race showed, in words. */
#include "lab/results.h"

#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

typedef struct story {
    char *out;
    size_t cap, used;
    const lab_results *r;
    int64_t first, last; /* lengths: the trained one, the longest */
} story;

static void IO_PRINTF(2, 3) finding_say(story *s, const char *format, ...)
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

/* The best (sign 1) or the worst (-1) at a length, of those that learned their encoding if one did; -1: no entry has a
 * number there. */
static int extreme(const story *s, int64_t length, int sign)
{
    int best = -1;
    for (int any = 0; any < 2 && best < 0; any++)
        for (int i = 0; i < s->r->setup.entries; i++) {
            double x = value(s, i, length);
            if (isfinite(x) && (any || lab_learned(s->r, i)) && (best < 0 || sign * x < sign * value(s, best, length)))
                best = i;
        }
    return best;
}

static double chance(const story *s)
{
    return lab_chance(&s->r->setup);
}

/* Whether two differ as they are printed, and by more than their seeds do where there are several. */
static bool told_apart(const story *s, int a, int b, int64_t length)
{
    char x[LAB_VALUE_ROOM], y[LAB_VALUE_ROOM];
    const lab_setup *u = &s->r->setup;
    lab_difference d = lab_compare(s->r, a, b, length, lab_shown(u));
    return isnan(d.p) ? strcmp(lab_value(x, u, value(s, a, length)), lab_value(y, u, value(s, b, length))) != 0
                      : d.larger;
}

/* How many other entries do not differ significantly from an entry at a length; *first is one of them. */
static int count_alike(const story *s, int entry, int64_t length, int *first)
{
    int count = 0;
    for (int i = s->r->setup.entries - 1; i >= 0; i--)
        if (i != entry && isfinite(value(s, i, length)) && !told_apart(s, entry, i, length)) {
            *first = i;
            count++;
        }
    return count;
}

/* Whether the loss at the longest length is at most 5 % (or 0.01) above that at the first, and better than chance. */
static bool loss_holds(const story *s, int entry)
{
    double end = value(s, entry, s->last);
    return s->last > s->first && end < chance(s) && lab_learned(s->r, entry) &&
           end <= 1.05 * value(s, entry, s->first) + 0.01;
}

static void say_winner(story *s, int winner)
{
    char a[LAB_VALUE_ROOM], b[LAB_VALUE_ROOM];
    const lab_setup *u = &s->r->setup;
    bool perplexity = lab_is_eval(u);
    int other = 0, alike = count_alike(s, winner, s->last, &other);
    finding_say(s, "Trained at %" PRId64 ", %s %s at %" PRId64 " (%s%s%s%s", u->train_length, name(s, winner),
                loss_holds(s, winner) ? "holds"
                : u->entries == 1     ? "was tested"
                : alike               ? "has the lowest mean"
                                      : "is best",
                s->last, perplexity ? "perplexity " : "", lab_value(a, u, value(s, winner, s->last)),
                perplexity ? "" : " ", perplexity ? "" : lab_unit(u));
    if (s->last > s->first && isfinite(value(s, winner, s->first)))
        finding_say(s, ", %s at %" PRId64, lab_value(b, u, value(s, winner, s->first)), s->first);
    finding_say(s, ")");
    if (!(value(s, winner, s->last) < chance(s)))
        finding_say(s, ", no better than chance (%s)", lab_value(a, u, chance(s)));
    if (alike)
        finding_say(s, ", not told apart from %s", name(s, other));
    if (alike > 1)
        finding_say(s, " and %d other%s", alike - 1, alike == 2 ? "" : "s");
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
    finding_say(s, "; %s is better %s %" PRId64, name(s, best), up_to > s->first ? "up to" : "at", up_to);
    if (!isfinite(end))
        finding_say(s, " and cannot go to %" PRId64, s->last);
    else if (lab_is_eval(&s->r->setup))
        finding_say(s, " and comes to %s by %" PRId64, lab_value(a, &s->r->setup, end), s->last);
    else if (end - value(s, best, s->first) > 0.05)
        finding_say(s, " and loses %.1f bits by %" PRId64, end - value(s, best, s->first), s->last);
}

static void say_worst(story *s, int worst)
{
    char a[LAB_VALUE_ROOM];
    bool always = s->last > s->first;
    int other;
    for (int i = 0; i < s->r->setup.tests; i++) {
        int64_t length = s->r->setup.test[i];
        if (length > s->first)
            always = always && extreme(s, length, -1) == worst && !count_alike(s, worst, length, &other);
    }
    if (always)
        finding_say(s, "; %s is worst past the trained length", name(s, worst));
    else
        finding_say(s, "; %s is worst at %" PRId64 " (%s)", name(s, worst), s->last,
                    lab_value(a, &s->r->setup, value(s, worst, s->last)));
}

/* ---------------------------------------------------------------- how sure */

/* The size above which all differences at the longest length are larger than the differences between seeds. */
static void say_seeds(story *s)
{
    double not_told = -1;
    char a[LAB_VALUE_ROOM];
    int told = 0, one = 0, most = 0, fewer = 0;
    for (int x = 0; x < s->r->setup.entries; x++) {
        lab_summary v = lab_summarise(s->r, x, s->last, lab_shown(&s->r->setup));
        most = v.seeds > most ? v.seeds : most;
        fewer += v.seeds && v.seeds < v.of;
        for (int y = 0; y < x; y++) {
            lab_difference d = lab_compare(s->r, x, y, s->last, lab_shown(&s->r->setup));
            one += isfinite(d.difference) && isnan(d.p);
            if (!isnan(d.p) && !d.larger)
                not_told = fmax(not_told, fabs(d.difference));
        }
    }
    for (int x = 0; x < s->r->setup.entries && !one; x++)
        for (int y = 0; y < x; y++) {
            lab_difference d = lab_compare(s->r, x, y, s->last, lab_shown(&s->r->setup));
            told += d.larger && fabs(d.difference) > not_told;
        }
    if (fewer)
        finding_say(s, " Means marked * are of fewer seeds than were asked for.");
    if (one)
        finding_say(s, " %s: small differences may be chance.", most < 2 ? "One seed" : "One seed of some");
    else if (told && not_told < 0)
        finding_say(s, " Every difference at %" PRId64 " is larger than the seeds'.", s->last);
    else if (told)
        finding_say(s, " Differences above %s at %" PRId64 " are larger than the seeds'.",
                    lab_value(a, &s->r->setup, ceil(not_told * 100) / 100), s->last);
    else if (not_told >= 0)
        finding_say(s, " No difference at %" PRId64 " is larger than the seeds'.", s->last);
}

static void say_unfinished(story *s)
{
    int left = 0;
    for (int i = 0; i < s->r->runs; i++)
        left += !s->r->run[i].ended || !s->r->run[i].end.finished;
    if (left)
        finding_say(s, " %d of %d runs %s not finished.", left, s->r->runs, left == 1 ? "is" : "are");
}

static void say_cannot(story *s)
{
    int count = 0;
    for (int i = 0; i < s->r->setup.entries; i++) {
        if (!lab_summarise(s->r, i, s->last, lab_shown(&s->r->setup)).cannot)
            continue;
        if (!count++)
            finding_say(s, " Cannot go to %" PRId64 ": ", s->last);
        else
            finding_say(s, ", ");
        finding_say(s, "%s", name(s, i));
    }
    if (count)
        finding_say(s, ".");
}

static void say_not_learned(story *s)
{
    int count = 0;
    for (int i = 0; i < s->r->setup.entries; i++)
        if (!lab_learned(s->r, i)) {
            if (!count++)
                finding_say(s,
                            " Not learned in this time (near chance, or no better than none at %" PRId64
                            " by more than the seeds): ",
                            s->r->setup.train_length);
            finding_say(s, "%s%s", count > 1 ? ", " : "", name(s, i));
        }
    if (count)
        finding_say(s, ".");
}

static void say_failed(story *s)
{
    for (int i = 0; i < s->r->runs; i++)
        if (s->r->run[i].failure.step)
            finding_say(s, "%sStopped: %s.", s->used ? " " : "", s->r->run[i].failure.why);
}

void lab_tested(const lab_results *r, int64_t *first, int64_t *last)
{
    const lab_setup *s = &r->setup;
    *first = *last = 0;
    for (int i = 0; i < s->tests; i++)
        for (int e = 0; e < s->entries; e++) {
            if (!lab_summarise(r, e, s->test[i], lab_shown(s)).seeds)
                continue;
            *last = s->test[i] > *last ? s->test[i] : *last;
            *first = !*first || s->test[i] == s->train_length ? s->test[i] : *first;
        }
}

static void say_nothing_learned(story *s, int best)
{
    char a[LAB_VALUE_ROOM], b[LAB_VALUE_ROOM];
    const lab_setup *u = &s->r->setup;
    finding_say(s, "Nothing was learned yet: %s at %" PRId64 ": %s at best, %s by chance.", lab_unit(u), s->first,
                lab_value(a, u, value(s, best, s->first)), lab_value(b, u, chance(s)));
}

static void say_ranks(story *s, int best)
{
    int winner = extreme(s, s->last, 1), worst = extreme(s, s->last, -1), other;
    say_winner(s, winner);
    bool rival = best != winner && value(s, best, s->first) < value(s, winner, s->first) &&
                 told_apart(s, best, winner, s->first);
    if (rival)
        say_best_at_first(s, best, winner);
    if (worst != winner && !(rival && worst == best) && !count_alike(s, worst, s->last, &other))
        say_worst(s, worst);
    finding_say(s, ".");
}

/* What the numbers say, where there is one. */
static void say_numbers(story *s)
{
    int best = extreme(s, s->first, 1);
    bool learned = value(s, best, s->first) < chance(s) && (lab_is_eval(&s->r->setup) || lab_learned(s->r, best));
    if (learned)
        say_ranks(s, best);
    else
        say_nothing_learned(s, best);
    if (learned)
        say_not_learned(s);
    say_cannot(s);
    if (learned && s->r->setup.entries > 1 && !lab_is_eval(&s->r->setup))
        say_seeds(s);
    say_unfinished(s);
}

void lab_finding(char *out, size_t cap, const lab_results *r)
{
    story s = { .out = out, .cap = cap, .r = r };
    out[0] = 0;
    lab_tested(r, &s.first, &s.last);
    if (s.last)
        say_numbers(&s);
    say_failed(&s);
    if (s.used >= cap)
        io_end_with_dots(out, cap);
}
