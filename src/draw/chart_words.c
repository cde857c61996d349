/* SPDX-License-Identifier: MIT
 *
 * The chart in words, for readers who do not see it. */
#include "draw/chart.h"

#include "io/io.h"

#include <math.h>
#include <string.h>

const words chart_no_data = { "no data", "没有数据" };

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
    static const words line = { "a line", "一条线" }, first = { ": ", "：" }, then = { ", then ", "，然后" };
    static const words at = { " at ", "，在 " }, end = { ". ", "。" };
    language l = (language)p->c->language;
    const chart_series *s = n->series;
    add(out, room, s->name ? s->name : say(line, l));
    int ends[2] = { n->last >= 0 ? first_point(p, s) : 0, n->last };
    for (int i = 0; i < 2 && n->last >= 0; i++) {
        add(out, room, say(i == 0 ? first : then, l));
        add_number(out, room, s->y[ends[i]]);
        add(out, room, say(at, l));
        add_number(out, room, s->x[ends[i]]);
        add(out, room, l == CHINESE ? " 处" : "");
        if (ends[0] == ends[1])
            break;
    }
    add(out, room, n->last < 0 ? say(first, l) : "");
    add(out, room, n->last < 0 ? say(chart_no_data, l) : "");
    add(out, room, s->note ? say(then, l) : "");
    add(out, room, s->note ? s->note : "");
    add(out, room, say(end, l));
}

void chart_words(char *out, size_t room, const chart_plan *p)
{
    static const words kind = { "Line chart: ", "折线图：" }, over = { " over ", "，横轴为 " };
    static const words end = { ". ", "。" }, empty = { ". No data.", "。没有数据。" };
    const chart *c = p->c;
    language l = (language)c->language;
    out[0] = 0;
    add(out, room, say(kind, l));
    add(out, room, c->y_label && *c->y_label ? c->y_label : "y");
    add(out, room, say(over, l));
    add(out, room, c->x_label && *c->x_label ? c->x_label : "x");
    add(out, room, say(p->is_empty ? empty : end, l));
    for (int i = 0; i < c->series_count && !p->is_empty; i++)
        add_series(out, room, p, &p->names[i]);
}
