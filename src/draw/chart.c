/* SPDX-License-Identifier: MIT
 *
 * A chart: its axes, how the room is shared out, what is drawn in which order, and its description in words. */
#include "draw/chart.h"

#include "base/tell.h"
#include "io/io.h"

#include <math.h>
#include <stdlib.h>

#define WIDTH 720.0
#define HEIGHT 420.0
#define MARGIN_MOST 0.34 /* of the width, for names; wider ones go into a legend */
#define MARGIN_CUT 0.45  /* or are cut to this, where there is no room for one */
#define DESCRIPTION_MOST 4000

const words chart_no_data = { "no data", "没有数据" };

/* ---------------------------------------------------------------- the range of the axes */

static void axis_take(axis *a, double v, bool *any)
{
    if (!axis_takes(a, v))
        return;
    a->low = !*any || v < a->low ? v : a->low;
    a->high = !*any || v > a->high ? v : a->high;
    *any = true;
}

/* The range of all points, bands and the mark; false where there is none. */
static bool chart_axis_x(axis *a, const chart *c)
{
    bool any = false;
    *a = (axis){ .log = c->x_log2, .binary = c->x_log2, .low = 1, .high = 2 };
    for (int s = 0; s < c->series_count; s++)
        for (int i = 0; i < c->series[s].count; i++)
            if (!isnan(c->series[s].y[i])) /* a point without a value does not extend the axis */
                axis_take(a, c->series[s].x[i], &any);
    bool found = any;
    if (any && c->x_mark != 0)
        axis_take(a, c->x_mark, &any);
    axis_open_up(a);
    return found;
}

static void axis_take_series(axis *a, const chart_series *s, const axis *x, bool *any)
{
    for (int i = 0; i < s->count; i++)
        if (axis_takes(x, s->x[i])) {
            axis_take(a, s->y[i], any);
            if (s->low && s->high && axis_takes(a, s->y[i])) {
                axis_take(a, s->low[i], any);
                axis_take(a, s->high[i], any);
            }
        }
}

static bool chart_axis_y(axis *a, const chart *c, const axis *x)
{
    bool any = false;
    *a = (axis){ .log = c->y_log, .low = 1, .high = 2 };
    for (int s = 0; s < c->series_count; s++)
        axis_take_series(a, &c->series[s], x, &any);
    if (c->y_min < c->y_max && axis_takes(a, c->y_min) && axis_takes(a, c->y_max)) {
        a->low = c->y_min;
        a->high = c->y_max;
    } else if (!a->log && a->low > 0 && a->low < 0.3 * a->high) {
        a->low = 0; /* 0 is near: an axis without it would exaggerate differences */
    }
    axis_open_up(a);
    return any;
}

/* ---------------------------------------------------------------- the description, for readers who do not see it */

typedef struct description_number {
    char text[40];
} description_number;

/* Prints three digits or more, which is enough for a sentence. */
static description_number describe_number(double v)
{
    description_number out;
    int decimals = 0;
    for (double size = fabs(v); decimals < 6 && size < 100 && size > 0; size *= 10)
        decimals++;
    if (v == 0 || (fabs(v) < 1e9 && fabs(v) >= 1e-4))
        draw_fixed(out.text, v, decimals, true);
    else
        io_print_real(out.text, sizeof out.text, v);
    return out;
}

static void describe_series(tell *t, const chart_plan *p, const chart_name *n)
{
    static const words line = { "a line", "一条线" }, none = { ": %s", "：%s" }, note = { ", then %s", "，然后%s" };
    static const words first = { ": %s at %s", "：%s，在 %s 处" }, last = { ", then %s at %s", "，然后%s，在 %s 处" };
    language l = (language)p->c->language;
    const chart_series *s = n->series;
    int i = 0;
    tell_say(t, "%s", s->name ? s->name : say(line, l));
    while (i < n->last && !(axis_takes(&p->x, s->x[i]) && axis_takes(&p->y, s->y[i])))
        i++;
    if (n->last < 0)
        tell_say(t, say(none, l), say(chart_no_data, l));
    else
        tell_say(t, say(first, l), describe_number(s->y[i]).text, describe_number(s->x[i]).text);
    if (i < n->last)
        tell_say(t, say(last, l), describe_number(s->y[n->last]).text, describe_number(s->x[n->last]).text);
    if (s->note)
        tell_say(t, say(note, l), s->note);
    tell_say(t, "%s", say((words){ ". ", "。" }, l));
}

static void chart_describe(const chart_plan *p)
{
    static const words all = { "Line chart: %s over %s", "折线图：%s，横轴为 %s" };
    static const words end = { ". ", "。" }, empty = { ". No data.", "。没有数据。" };
    const chart *c = p->c;
    language l = (language)c->language;
    char text[DESCRIPTION_MOST];
    tell t = tell_into(text, sizeof text);
    tell_say(&t, say(all, l), text_is_given(c->y_label) ? c->y_label : "y",
             text_is_given(c->x_label) ? c->x_label : "x");
    tell_say(&t, "%s", say(p->is_empty ? empty : end, l));
    for (int i = 0; i < c->series_count && !p->is_empty; i++)
        describe_series(&t, p, &p->names[i]);
    draw_describe(p->d, c->title, c->description ? c->description : text);
}

/* ---------------------------------------------------------------- what stands above the frame */

/* Puts title, y label and legend above the frame; without draw_it only p->text_top moves. */
static void chart_put_head(chart_plan *p, bool draw_it)
{
    const chart *c = p->c;
    p->text_top = p->f.pad;
    draw *d = draw_it ? p->d : NULL;
    face_text at = { &p->f, p->f.pad, p->f.pad, c->width - 2 * p->f.pad, true, INK_TEXT, 0 };
    if (p->has_title)
        p->text_top = face_lines(d, at, c->title);
    if (p->has_labels) {
        at = (face_text){ &p->f, at.left, p->text_top, at.width, false, INK_FAINT, 0 };
        p->text_top = face_label(d, at, c->y_label, c->mark);
    }
    if (p->has_legend) {
        p->text_top += p->f.cell > 0 ? 0 : 4;
        p->text_top += chart_legend(p, p->text_top, draw_it) * p->f.line;
    }
    p->text_top += p->f.cell > 0 ? 0 : 6;
}

/* ---------------------------------------------------------------- the frame */

static bool chart_has_mark(const chart_plan *p)
{
    return p->c->x_mark != 0 && !p->is_empty && axis_takes(&p->x, p->c->x_mark);
}

static void chart_set_heights(chart_plan *p)
{
    const face *f = &p->f;
    chart_put_head(p, false);
    double below = f->line + (p->has_labels && text_is_given(p->c->x_label) ? f->line : 0) + f->pad;
    double above = chart_has_mark(p) && text_is_given(p->c->x_mark_label) && p->has_labels ? f->line : 0;
    p->low.y = p->text_top + above + (f->cell > 0 ? 2 : f->size / 2);
    p->high.y = p->c->height - below - (f->cell > 0 ? 2 : 4);
}

/* Drops the legend, the labels and the title, in this order, until the frame is a few lines high. */
static void chart_share_height(chart_plan *p)
{
    double names = p->c->series_count * p->f.line, margin = chart_names_width(p);
    p->has_title = p->has_labels = true;
    p->has_legend = false;
    chart_set_heights(p);
    p->has_legend = p->names_meet || margin > MARGIN_MOST * p->c->width || names > p->high.y - p->low.y + p->f.line;
    for (int given_up = 0; given_up < 4; given_up++) {
        p->has_legend = p->has_legend && given_up < 1;
        p->has_labels = given_up < 2;
        p->has_title = given_up < 3;
        chart_set_heights(p);
        if (p->high.y - p->low.y >= 3 * p->f.line)
            break;
    }
    if (p->high.y < p->low.y + 1)
        p->high.y = p->low.y + 1;
    if (!p->has_legend)
        chart_shorten_names(p, MARGIN_CUT * p->c->width);
}

static void chart_share_width(chart_plan *p)
{
    const face *f = &p->f;
    bool fixed = p->c->y_min < p->c->y_max;
    double height = p->high.y - p->low.y, margin = p->has_legend ? 0 : chart_names_width(p);
    axis_ticks(&p->y, (int)(height / (f->cell > 0 ? 3 * f->line : 44)) + 1, !fixed, NULL);
    p->low.x = f->pad + axis_widest(&p->y, f) + f->gap;
    if (f->cell <= 0)
        p->low.x = fmax(p->low.x, f->pad + 20);
    p->high.x = p->c->width - f->pad - fmax(margin, f->cell > 0 ? f->cell : 14);
    if (p->high.x < p->low.x + p->c->width / 4)
        p->high.x = p->low.x + p->c->width / 4;
    p->x.from = p->low.x;
    p->x.to = p->high.x;
    p->y.from = p->high.y;
    p->y.to = p->low.y;
    axis_ticks_apart(&p->x, f, 10, p->c->x_unit);
}

static void chart_put_axes(const chart_plan *p)
{
    const face *f = &p->f;
    for (int i = 0; i < p->y.count; i++) {
        double y = axis_at(&p->y, p->y.tick[i]);
        if (fabs(y - p->high.y) > 1)
            face_rule(p->d, (draw_point){ p->low.x, y }, (draw_point){ p->high.x, y }, INK_GRID, DASH_NONE);
        draw_text(p->d, p->low.x - f->gap, y + 0.35 * f->size, f->size, ANCHOR_END, INK_FAINT, false, p->y.label[i]);
    }
    for (int i = 0; i < p->x.count; i++) {
        double x = axis_at(&p->x, p->x.tick[i]);
        if (f->cell <= 0)
            face_rule(p->d, (draw_point){ x, p->high.y }, (draw_point){ x, p->high.y + 4 }, INK_FAINT, DASH_NONE);
        face_centred(p->d, &p->f, x, p->high.y + (f->cell > 0 ? 2 : 4) + 0.8 * f->line, p->x.label[i]);
    }
    face_rule(p->d, (draw_point){ p->low.x, p->high.y }, (draw_point){ p->high.x, p->high.y }, INK_FAINT, DASH_NONE);
    if (p->has_labels && text_is_given(p->c->x_label))
        face_centred(p->d, &p->f, (p->low.x + p->high.x) / 2, p->high.y + (f->cell > 0 ? 2 : 4) + 1.8 * f->line,
                     p->c->x_label);
}

/* The label stands on top of its line. */
static void chart_put_mark(const chart_plan *p)
{
    const face *f = &p->f;
    double x = axis_at(&p->x, p->c->x_mark), top = p->low.y - (f->cell > 0 ? 2 : f->size / 2);
    if (!chart_has_mark(p))
        return;
    face_rule(p->d, (draw_point){ x, p->low.y - (f->cell > 0 ? 0 : f->size / 2) }, (draw_point){ x, p->high.y },
              INK_FAINT, DASH_LONG);
    if (!p->has_labels || !text_is_given(p->c->x_mark_label))
        return;
    face_centred(p->d, &p->f, x, top - 0.25 * f->line, p->c->x_mark_label);
}

/* ---------------------------------------------------------------- the chart */

static void chart_put_all(chart_plan *p)
{
    chart_describe(p);
    chart_put_head(p, true);
    if (p->is_empty) {
        face_rule(p->d, (draw_point){ p->low.x, p->high.y }, (draw_point){ p->high.x, p->high.y }, INK_FAINT,
                  DASH_NONE);
        draw_text(p->d, (p->low.x + p->high.x) / 2, (p->low.y + p->high.y) / 2, p->f.size, ANCHOR_MIDDLE, INK_FAINT,
                  false, say(chart_no_data, (language)p->c->language));
        return;
    }
    chart_put_axes(p);
    chart_put_mark(p);
    chart_lines(p);
    chart_names(p);
}

pe_status chart_draw_in(draw **out, const chart *given, draw_frame *frame, pe_error *err)
{
    chart c = *given;
    c.width = c.width > 0 ? c.width : WIDTH;
    c.height = c.height > 0 ? c.height : HEIGHT;
    chart_plan p = { .c = &c, .f = c.cells ? face_screen : face_paper };
    pe_status s = draw_new(out, c.width, c.height, err);
    if (s)
        return s;
    p.d = *out;
    p.names = calloc((size_t)c.series_count + 1, sizeof *p.names);
    p.d->failed = !p.names;
    if (p.names) {
        bool any = chart_axis_x(&p.x, &c);
        p.is_empty = !chart_axis_y(&p.y, &c, &p.x) || !any;
        chart_read_names(&p);
        chart_share_height(&p);
        chart_share_width(&p);
        p.names_meet = !p.has_legend && chart_names_meet(&p);
        if (p.names_meet) {
            chart_share_height(&p);
            chart_share_width(&p);
        }
        chart_put_all(&p);
    }
    free(p.names);
    if (frame)
        *frame = (draw_frame){ p.low, p.high, p.x, p.y };
    s = draw_status(p.d, err);
    if (s) {
        draw_free(p.d);
        *out = NULL;
    }
    return s;
}

pe_status chart_draw(draw **out, const chart *c, pe_error *err)
{
    return chart_draw_in(out, c, NULL, err);
}

pe_status chart_terminal(FILE *to, const chart *c, const draw_screen *screen, pe_error *err)
{
    draw *d;
    chart wide = *c;
    wide.cells = true;
    wide.width = CELL_WIDTH * screen->columns;
    wide.height = CELL_HEIGHT * screen->rows;
    pe_status s = chart_draw(&d, &wide, err);
    if (s)
        return s;
    s = draw_terminal(to, d, screen, err);
    draw_free(d);
    return s;
}
