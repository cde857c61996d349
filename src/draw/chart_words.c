/* SPDX-License-Identifier: MIT
 *
 * The chart in words, for readers who do not see it. */
#include "draw/chart.h"

#include "io/io.h"

#include <math.h>
#include <string.h>

static void add(char *out, size_t room, const char *text)
{
    size_t n = strlen(out);
    if (n + strlen(text) >= room)
        return;
    memcpy(out + n, text, strlen(text) + 1);
}

/* Digits after the point so that three or more are there in all: enough for words. */
static int decimals_of(double v)
{
    int n = 0;
    for (double size = fabs(v); n < 6 && size < 100 && size > 0; size *= 10)
        n++;
    return n;
}

static void add_number(char *out, size_t room, double v)
{
    char text[40];
    if (v == 0 || (fabs(v) < 1e9 && fabs(v) >= 1e-4))
        draw_fixed(text, v, decimals_of(v), true);
    else
        io_print_real(text, sizeof text, v);
    add(out, room, text);
}

static int first_point(const chart_plan *p, const chart_series *s)
{
    int i = 0;
    while (!axis_takes(&p->x, s->x[i]) || !axis_takes(&p->y, s->y[i]))
        i++;
    return i;
}

static void add_series(char *out, size_t room, const chart_plan *p, const chart_name *n)
{
    const chart_series *s = n->series;
    add(out, room, s->name ? s->name : "a line");
    int ends[2] = { n->last >= 0 ? first_point(p, s) : 0, n->last };
    for (int i = 0; i < 2 && n->last >= 0; i++) {
        add(out, room, i == 0 ? ": " : ", then ");
        add_number(out, room, s->y[ends[i]]);
        add(out, room, " at ");
        add_number(out, room, s->x[ends[i]]);
        if (ends[0] == ends[1])
            break;
    }
    add(out, room, n->last < 0 ? ": no data" : "");
    add(out, room, s->note ? ", then " : "");
    add(out, room, s->note ? s->note : "");
    add(out, room, ". ");
}

void chart_words(char *out, size_t room, const chart_plan *p)
{
    const chart *c = p->c;
    out[0] = 0;
    add(out, room, "Line chart: ");
    add(out, room, c->y_label && *c->y_label ? c->y_label : "y");
    add(out, room, " over ");
    add(out, room, c->x_label && *c->x_label ? c->x_label : "x");
    add(out, room, p->is_empty ? ". No data." : ". ");
    for (int i = 0; i < c->series_count && !p->is_empty; i++)
        add_series(out, room, p, &p->names[i]);
}
