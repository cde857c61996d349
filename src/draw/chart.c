/* SPDX-License-Identifier: MIT
 *
 * A chart: how the room is shared out, and what is drawn in which order. */
#include "draw/chart.h"

#include "io/io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 720.0
#define HEIGHT 420.0
#define MARGIN_MOST 0.34 /* of the width, for names; wider ones go into a legend */
#define MARGIN_CUT 0.45  /* or are cut to this, where there is no room for one */
#define WORDS_MOST 4000

static bool is_given(const char *text)
{
    return text && *text;
}

/* From p->text_top on. */
static void put_lines(chart_plan *p, const char *text, bool is_title, int ink, bool draw_it)
{
    face_text at = { &p->f, p->f.pad, p->text_top, p->c->width - 2 * p->f.pad, is_title, ink, 0 };
    p->text_top = face_lines(draw_it ? p->d : NULL, at, text);
}

/* What stands above the frame; without draw_it only its height is taken. */
static void put_head(chart_plan *p, bool draw_it)
{
    const chart *c = p->c;
    p->text_top = p->f.pad;
    if (p->has_title)
        put_lines(p, c->title, true, INK_TEXT, draw_it);
    if (p->has_labels)
        put_lines(p, c->y_label, false, INK_FAINT, draw_it);
    if (p->has_legend) {
        p->text_top += p->f.cell > 0 ? 0 : 4;
        if (draw_it)
            chart_legend(p, p->text_top);
        p->text_top += chart_legend_rows(p) * p->f.line;
    }
    p->text_top += p->f.cell > 0 ? 0 : 6;
}

/* ---------------------------------------------------------------- the frame */

static bool has_mark(const chart_plan *p)
{
    return p->c->x_mark != 0 && !p->is_empty && axis_takes(&p->x, p->c->x_mark);
}

static void set_heights(chart_plan *p)
{
    const face *f = &p->f;
    put_head(p, false);
    double below = f->line + (p->has_labels && is_given(p->c->x_label) ? f->line : 0) + f->pad;
    double above = has_mark(p) && is_given(p->c->x_mark_label) && p->has_labels ? f->line : 0;
    p->low.y = p->text_top + above + (f->cell > 0 ? 2 : f->size / 2);
    p->high.y = p->c->height - below - (f->cell > 0 ? 2 : 4);
}

/* Gives up legend, labels and title, in that order, until the frame has a few lines of height. */
static void share_height(chart_plan *p)
{
    double names = p->c->series_count * p->f.line, margin = chart_names_width(p);
    p->has_title = p->has_labels = true;
    p->has_legend = false;
    set_heights(p);
    p->has_legend = p->names_meet || margin > MARGIN_MOST * p->c->width || names > p->high.y - p->low.y + p->f.line;
    for (int given_up = 0; given_up < 4; given_up++) {
        p->has_legend = p->has_legend && given_up < 1;
        p->has_labels = given_up < 2;
        p->has_title = given_up < 3;
        set_heights(p);
        if (p->high.y - p->low.y >= 3 * p->f.line)
            break;
    }
    if (p->high.y < p->low.y + 1)
        p->high.y = p->low.y + 1;
    if (!p->has_legend)
        chart_shorten_names(p, MARGIN_CUT * p->c->width);
}

static void share_width(chart_plan *p)
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

static void draw_axes(const chart_plan *p)
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
    if (p->has_labels && is_given(p->c->x_label))
        face_centred(p->d, &p->f, (p->low.x + p->high.x) / 2, p->high.y + (f->cell > 0 ? 2 : 4) + 1.8 * f->line,
                     p->c->x_label);
}

/* The label stands on top of its line. */
static void draw_mark(const chart_plan *p)
{
    const face *f = &p->f;
    double x = axis_at(&p->x, p->c->x_mark), top = p->low.y - (f->cell > 0 ? 2 : f->size / 2);
    if (!has_mark(p))
        return;
    face_rule(p->d, (draw_point){ x, p->low.y - (f->cell > 0 ? 0 : f->size / 2) }, (draw_point){ x, p->high.y },
              INK_FAINT, DASH_LONG);
    if (!p->has_labels || !is_given(p->c->x_mark_label))
        return;
    face_centred(p->d, &p->f, x, top - 0.25 * f->line, p->c->x_mark_label);
}

/* ---------------------------------------------------------------- the chart */

static void draw_all(chart_plan *p)
{
    char text[WORDS_MOST];
    chart_words(text, sizeof text, p);
    draw_describe(p->d, p->c->title, p->c->description ? p->c->description : text);
    put_head(p, true);
    if (p->is_empty) {
        face_rule(p->d, (draw_point){ p->low.x, p->high.y }, (draw_point){ p->high.x, p->high.y }, INK_FAINT,
                  DASH_NONE);
        draw_text(p->d, (p->low.x + p->high.x) / 2, (p->low.y + p->high.y) / 2, p->f.size, ANCHOR_MIDDLE, INK_FAINT,
                  false, say(chart_no_data, (language)p->c->language));
        return;
    }
    draw_axes(p);
    draw_mark(p);
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
        bool any = axis_of_x(&p.x, &c);
        p.is_empty = !axis_of_y(&p.y, &c, &p.x) || !any;
        chart_read_names(&p);
        share_height(&p);
        share_width(&p);
        p.names_meet = !p.has_legend && chart_names_meet(&p);
        if (p.names_meet) {
            share_height(&p);
            share_width(&p);
        }
        draw_all(&p);
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
