/* SPDX-License-Identifier: MIT
 *
 * The legend: samples and names, as many to a row as fit. */
#include "draw/chart.h"

/* Pixels of the sample that stands before a name. */
static double sample(const face *f)
{
    return f->cell > 0 ? 2 * f->cell : 22;
}

static void draw_entry(const chart_plan *p, const chart_series *s, double x, double top, const char *text)
{
    const face *f = &p->f;
    double middle = top + f->line / 2;
    draw_point line[2] = { { x + 1, middle }, { x + sample(f) * (f->cell > 0 ? 0.9 : 1) - 1, middle } };
    draw_path(p->d, line, 2, false,
              (draw_style){ .line = s->ink, .fill = INK_NONE, .width = 2.25, .dash = chart_dash(s) });
    draw_text(p->d, x + sample(f) + f->gap, top + 0.8 * f->line, f->size, ANCHOR_START, INK_TEXT, false, text);
}

/* Rows that it takes; drawn where draw is true. */
static int flow(const chart_plan *p, double top, bool draw_it)
{
    const face *f = &p->f;
    double x = f->pad, right = p->c->width - f->pad;
    int rows = p->c->series_count > 0;
    for (int i = 0; i < p->c->series_count; i++) {
        const chart_name *n = &p->names[i];
        char text[NAME_MOST];
        face_cut(text, sizeof text, n->last < 0 ? n->text : n->series->name ? n->series->name : "");
        face_shorten(f, text, right - f->pad - sample(f) - f->gap);
        double width = sample(f) + f->gap + face_width(f, text, f->size);
        if (x > f->pad && x + width > right) {
            x = f->pad;
            rows++;
        }
        if (draw_it)
            draw_entry(p, n->series, x, top + (rows - 1) * f->line, text);
        x += width + 2 * f->gap;
    }
    return rows;
}

int chart_legend_rows(const chart_plan *p)
{
    return flow(p, 0, false);
}

void chart_legend(const chart_plan *p, double top)
{
    flow(p, top, true);
}
