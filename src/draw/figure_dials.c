/* SPDX-License-Identifier: MIT
 *
 * Rotating pairs: a dial each, in a grid, with a hand per position. The first and the last hand stand out. Angles grow
 * counter-clockwise, as in mathematics. */
#include "draw/figure_inside.h"

#include "base/try.h"
#include "io/io.h"

#include <math.h>
#include <string.h>

#define DIAL_WIDE 132.0 /* pixels of one, at least, where there are several */
#define DIAL_MOST 170.0 /* across */
#define NAME_MOST 160
#define VALUE_MOST 1e100

static const face *dials_face(figure_place at)
{
    return at.cells ? &face_screen : &face_paper;
}

static const words first_word = { "first position", "第一个位置" }, last_word = { "last position", "最后一个位置" };

/* ---------------------------------------------------------------- room */

/* Puts the title and the key, and returns where they end; d NULL: draws nothing. */
static double dials_put_head(draw *d, const figure *f, figure_place at)
{
    const face *t = dials_face(at);
    face_text title = { t, t->pad, t->pad, at.width - 2 * t->pad, true, INK_TEXT, 0 };
    double top = face_lines(d, title, f->title), x = t->pad, sample = t->cell > 0 ? 2 * t->cell : 22;
    const words key[2] = { first_word, last_word };
    const int ink[2] = { INK_TEXT, INK_SERIES };
    for (int i = 0; i < 2 && d; i++) {
        const char *text = say(key[i], at.language);
        double y = top + t->line / 2;
        draw_point line[2] = { { x + 1, y }, { x + sample - (t->cell > 0 ? 2 : 1), y } };
        draw_path(d, line, 2, false, (draw_style){ .stroke = ink[i], .fill = INK_NONE, .width = 2.25 });
        draw_text(d, x + sample + t->gap, top + 0.8 * t->line, t->size, ANCHOR_START, INK_FAINT, false, text);
        x += sample + 3 * t->gap + face_width(t, text, t->size);
    }
    return top + t->line + (t->cell > 0 ? 0 : 8);
}

/* A long name takes two lines, broken behind a comma. */
static int dials_name_lines(const face *t, const figure *f, double width)
{
    for (int i = 0; i < f->series_count; i++)
        if (face_width(t, f->series[i].name, t->size) > width && strstr(f->series[i].name, ", "))
            return 2;
    return 1;
}

/* The longest hand, at least 1. */
static double dials_longest_hand(const figure *f)
{
    double most = 1;
    for (int i = 0; i < f->series_count; i++)
        for (int k = 0; k < f->series[i].count; k++) {
            double r = hypot(f->series[i].x[k], f->series[i].y[k]);
            most = r > most && r <= VALUE_MOST ? r : most;
        }
    return most;
}

static double dials_below(const face *t, int lines)
{
    return t->line * lines + (t->cell > 0 ? t->line : 14);
}

dials_plan figure_dials_plan(const figure *f, figure_place at)
{
    const face *t = dials_face(at);
    dials_plan p = { .left = t->pad, .top = dials_put_head(NULL, f, at) };
    int count = f->series_count ? f->series_count : 1, fit = (int)fmin(fmax(at.width / DIAL_WIDE, 1), count);
    p.down = (count + fit - 1) / fit;
    p.across = (count + p.down - 1) / p.down;
    p.wide = (at.width - 2 * t->pad) / p.across;
    p.name_lines = dials_name_lines(t, f, p.wide - t->gap);
    double label = f->x_label ? t->line : 0, names = dials_below(t, p.name_lines);
    double size = fmin(fmin(p.wide - 3 * t->gap, DIAL_MOST), (at.height - p.top - label - t->pad) / p.down - names);
    p.radius = t->cell > 0 ? fmax(floor(size / t->line), 1) * t->line / 2 : fmax(size / 2, 4);
    p.high = 2 * p.radius + names;
    p.unit = (p.radius - (t->cell > 0 ? 2 : 4)) / dials_longest_hand(f);
    return p;
}

double figure_dials_height(const figure *f, double width, bool cells)
{
    figure_place at = { .width = width, .height = 1e6, .cells = cells };
    dials_plan p = figure_dials_plan(f, at);
    const face *t = dials_face(at);
    double height = p.top + p.high * p.down + (f->x_label ? t->line : 0) + t->pad;
    return cells ? ceil(height / CELL_HEIGHT) * CELL_HEIGHT : ceil(height);
}

static draw_point dial_middle(const dials_plan *p, int dial)
{
    return (draw_point){ p->left + (dial % p->across + 0.5) * p->wide,
                         p->top + dial / p->across * p->high + p->radius };
}

draw_point figure_dial_tip(const dials_plan *p, const figure *f, int dial, int hand)
{
    const figure_series *s = &f->series[dial];
    draw_point at = dial_middle(p, dial);
    bool fits = hypot(s->x[hand], s->y[hand]) <= VALUE_MOST;
    return (draw_point){ fits ? at.x + p->unit * s->x[hand] : (double)NAN,
                         fits ? at.y - p->unit * s->y[hand] : (double)NAN };
}

/* ---------------------------------------------------------------- drawing */

static void dial_put_hand(draw *d, const dials_plan *p, const figure *f, int dial, int hand)
{
    int last = f->series[dial].count - 1;
    bool stands_out = hand == 0 || hand == last;
    int ink = hand == last ? INK_SERIES : hand == 0 ? INK_TEXT : INK_FAINT;
    draw_point line[2] = { dial_middle(p, dial), figure_dial_tip(p, f, dial, hand) };
    if (!isfinite(line[1].x))
        return;
    draw_path(d, line, 2, false, (draw_style){ .stroke = ink, .fill = INK_NONE, .width = stands_out ? 2.25 : 0.75 });
    draw_circle(d, line[1].x, line[1].y, stands_out ? 3.5 : 1.5, (draw_style){ .stroke = INK_NONE, .fill = ink });
}

static void dial_put_name(draw *d, const face *t, const dials_plan *p, draw_point middle, const char *name)
{
    char part[NAME_MOST];
    const char *comma = strstr(name, ", ");
    double y = middle.y + p->radius + (t->cell > 0 ? 0.8 : 1) * t->line;
    bool two = p->name_lines == 2 && comma;
    face_cut(part, sizeof part, name);
    if (two && (size_t)(comma - name) < strlen(part))
        part[comma - name] = 0;
    face_shorten(t, part, p->wide * 1.15);
    draw_text(d, middle.x, y, t->size, ANCHOR_MIDDLE, INK_TEXT, false, part);
    if (!two)
        return;
    face_cut(part, sizeof part, comma + 2);
    face_shorten(t, part, p->wide * 1.15);
    draw_text(d, middle.x, y + t->line, t->size, ANCHOR_MIDDLE, INK_FAINT, false, part);
}

/* The first and the last hand are drawn on top of the others. */
static void dial_put(draw *d, const face *t, const dials_plan *p, const figure *f, int dial)
{
    draw_point at = dial_middle(p, dial);
    int last = f->series[dial].count - 1;
    draw_circle(d, at.x, at.y, p->radius, (draw_style){ .stroke = INK_GRID, .fill = INK_NONE });
    for (int k = 1; k < last; k++)
        dial_put_hand(d, p, f, dial, k);
    if (last >= 0)
        dial_put_hand(d, p, f, dial, 0);
    if (last > 0)
        dial_put_hand(d, p, f, dial, last);
    dial_put_name(d, t, p, at, f->series[dial].name);
}

/* Names the dials and counts their hands, for readers who do not see them. */
static void dials_describe(draw *d, const figure *f, figure_place at)
{
    static const words many = { "%d dials. ", "%d 个表盘。" }, one = { "%s: %d hands. ", "%s：%d 根指针。" };
    char text[2000], name[61];
    int n = snprintf(text, sizeof text, at.language == CHINESE ? many.zh : many.en, f->series_count);
    for (int i = 0; i < f->series_count && n < (int)sizeof text - 200; i++) {
        face_cut(name, sizeof name, f->series[i].name);
        n += snprintf(text + n, sizeof text - (size_t)n, at.language == CHINESE ? one.zh : one.en, name,
                      f->series[i].count);
    }
    draw_describe(d, f->title, f->description ? f->description : text);
}

pe_status figure_draw_dials(draw **out, const figure *f, figure_place at, pe_error *err)
{
    const face *t = dials_face(at);
    TRY(draw_new(out, at.width, at.height, err));
    dials_plan p = figure_dials_plan(f, at);
    dials_describe(*out, f, at);
    dials_put_head(*out, f, at);
    for (int i = 0; i < f->series_count; i++)
        dial_put(*out, t, &p, f, i);
    if (f->x_label)
        face_centred(*out, t, at.width / 2, p.top + p.high * p.down + 0.5 * t->line, f->x_label);
    return PE_OK;
}
