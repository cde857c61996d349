/* SPDX-License-Identifier: MIT
 *
 * What is seen while a race runs. */
#include "lab/race.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#define PLAIN_EVERY 5. /* seconds */

struct screen {
    FILE *to;
    double next; /* of the clock */
};

screen *screen_new(FILE *to)
{
    screen *s = to ? calloc(1, sizeof *s) : NULL;
    if (s)
        *s = (screen){ .to = to, .next = race_seconds() + PLAIN_EVERY };
    return s;
}

void screen_free(screen *s)
{
    free(s);
}

void screen_say(screen *s, const char *format, ...)
{
    va_list list;
    if (!s)
        return;
    va_start(list, format);
    vfprintf(s->to, format, list);
    va_end(list);
    putc('\n', s->to);
}

/* "2:31 left", by the work that is left and the pace so far; "" while there is none. */
static void time_left(char *out, size_t cap, const race *r)
{
    double took = race_seconds() - r->begin, done = r->worked - r->worked_before, left = r->work - r->worked;
    *out = 0;
    if (!(done > 0) || !(left >= 0) || !(r->work > 0))
        return;
    double seconds = took / done * left;
    if (seconds < 360000)
        snprintf(out, cap, ", %d:%02d left", (int)seconds / 60, (int)seconds % 60);
}

static void plain_line(FILE *to, const race *r, const screen_now *n)
{
    const lab_setup *s = &r->results.setup;
    char left[40];
    time_left(left, sizeof left, r);
    fprintf(to, "%s, seed %" PRIu64 ", ", s->entry[n->entry].name, r->training[n->training].seed);
    if (n->test >= 0)
        fprintf(to, "test at %" PRId64 ", window %" PRId64 " of %" PRId64, s->test[n->test], n->done, n->of);
    else
        fprintf(to, "step %" PRId64 " of %" PRId64, n->done, n->of);
    if (isfinite(n->loss))
        fprintf(to, ", loss %.3f", n->loss);
    fprintf(to, ", %.0f tokens/s%s\n", n->tokens_per_second, left);
    fflush(to);
}

void screen_show(screen *s, const race *r, const screen_now *now)
{
    double clock = race_seconds();
    if (!s || clock < s->next || !(r->work > 0))
        return;
    s->next = clock + PLAIN_EVERY;
    plain_line(s->to, r, now);
}
