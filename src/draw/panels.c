/* SPDX-License-Identifier: MIT
 *
 * Several figures as one picture: a column for each group, a row for figures of one title. Where there is no room for
 * columns, all stand below each other, figures of one title together. */
#include "draw/figure_inside.h"

#include "io/io.h"

#include <math.h>
#include <stdlib.h>

#define WIDTH 640.0
#define COLUMN_LEAST (56 * CELL_WIDTH) /* of a terminal */
#define CAPTION_LINES 6
#define DESCRIPTION_MOST 8000

typedef struct slot {
    int column, row;
    draw *d;
    double caption; /* its height */
} slot;

typedef struct panels {
    figure *const *f;
    int count;
    const figure_how *how;
    const face *face;
    bool cells;
    int columns, rows;
    bool is_stacked; /* one column for all groups: each figure names its group */
    double width;    /* of a column */
    double gap;      /* between columns */
    slot *slot;      /* (count) */
    double *height;  /* (rows) */
} panels;

/* ---------------------------------------------------------------- places */

static void panels_find_columns(panels *s)
{
    for (int i = 0; i < s->count; i++) {
        int k = 0;
        while (k < i && !figures_share_group(s->f[k], s->f[i]))
            k++;
        s->slot[i].column = k < i ? s->slot[k].column : s->columns++;
    }
}

/* Counts the figures of the same group and title before figure i. */
static int panels_nth(const panels *s, int i)
{
    int nth = 0;
    for (int k = 0; k < i; k++)
        nth += figures_share_group(s->f[k], s->f[i]) && figures_share_title(s->f[k], s->f[i]);
    return nth;
}

/* Figures of one title share a row; a title that comes again in its group gets another row. */
static void panels_find_rows(panels *s)
{
    for (int i = 0; i < s->count; i++) {
        int k = 0, nth = panels_nth(s, i);
        while (k < i && (!figures_share_title(s->f[k], s->f[i]) || panels_nth(s, k) != nth))
            k++;
        s->slot[i].row = k < i ? s->slot[k].row : s->rows++;
    }
}

/* Puts all figures into one column, in the order of the rows. */
static void panels_stack(panels *s)
{
    int next = 0;
    for (int row = 0; row < s->rows; row++)
        for (int column = 0; column < s->columns; column++)
            for (int i = 0; i < s->count; i++)
                if (s->slot[i].row == row && s->slot[i].column == column) {
                    s->slot[i].row = -1 - next++;
                    s->slot[i].column = -1;
                }
    for (int i = 0; i < s->count; i++) {
        s->slot[i].row = -1 - s->slot[i].row;
        s->slot[i].column = 0;
    }
    s->is_stacked = s->columns > 1;
    s->columns = 1;
    s->rows = next;
}

static void panels_place(panels *s)
{
    panels_find_columns(s);
    panels_find_rows(s);
    s->gap = s->columns > 1 ? (s->cells ? 2 * CELL_WIDTH : 24) : 0;
    s->width = s->how->width > 0 ? s->how->width : WIDTH;
    if (!s->cells)
        return;
    int across = s->columns > 0 ? s->columns : 1, each = (s->how->screen.columns + 2) / across - 2;
    s->width = each * CELL_WIDTH;
    if (across > 1 && s->width < COLUMN_LEAST) {
        panels_stack(s);
        s->width = s->how->screen.columns * CELL_WIDTH;
    }
}

/* ---------------------------------------------------------------- drawing */

static face_text panels_text_at(const panels *s, double left, double top, bool is_title)
{
    return (face_text){ .f = s->face,
                        .left = left + s->face->pad,
                        .top = top,
                        .width = s->width - 2 * s->face->pad,
                        .is_title = is_title,
                        .ink = is_title ? INK_TEXT : INK_FAINT,
                        .most = is_title ? 0 : CAPTION_LINES };
}

/* Puts the name of a group above a figure or a column; returns its height. */
static double panels_heading(const panels *s, draw *d, double left, double top, const char *group)
{
    double bottom = face_lines(d, panels_text_at(s, left, top, true), group);
    if (d && bottom > top && !s->cells)
        face_rule(d, (draw_point){ left + s->face->pad, bottom + 2 }, (draw_point){ left + s->width, bottom + 2 },
                  INK_GRID, DASH_NONE);
    return bottom > top ? bottom - top + (s->cells ? 0 : 10) : 0;
}

static pe_status panels_draw(panels *s, pe_error *err)
{
    figure_place at = { .width = s->width, .height = s->how->height, .cells = s->cells, .language = s->how->language };
    for (int i = 0; i < s->count; i++) {
        slot *p = &s->slot[i];
        pe_status status = figure_draw_at(&p->d, s->f[i], at, err);
        if (status)
            return status;
        p->caption = face_lines(NULL, panels_text_at(s, 0, 0, false), s->f[i]->caption);
        p->caption += p->caption > 0 && !s->cells ? 6 : 0;
        double group = s->is_stacked ? panels_heading(s, NULL, 0, 0, s->f[i]->group) : 0;
        s->height[p->row] = fmax(s->height[p->row], p->d->height + p->caption + group);
    }
    return PE_OK;
}

static double panels_gap(const panels *s)
{
    return s->cells ? CELL_HEIGHT : 18;
}

static double panels_height(const panels *s)
{
    double height = 0;
    for (int row = 0; row < s->rows; row++)
        height += s->height[row] + (row ? panels_gap(s) : 0);
    return height;
}

static void panels_put_one(const panels *s, draw *d, int i, double top)
{
    const slot *p = &s->slot[i];
    double left = p->column * (s->width + s->gap);
    if (s->is_stacked)
        top += panels_heading(s, d, left, top, s->f[i]->group);
    draw_place(d, p->d, left, top);
    face_lines(d, panels_text_at(s, left, top + p->d->height, false), s->f[i]->caption);
}

/* Puts a heading above each column, named by its first figure; returns the height of the highest. */
static double panels_put_groups(const panels *s, draw *d)
{
    double most = 0;
    for (int column = 0, i = 0; column < s->columns && !s->is_stacked; column++) {
        for (i = 0; s->slot[i].column != column;)
            i++;
        most = fmax(most, panels_heading(s, d, column * (s->width + s->gap), s->face->pad, s->f[i]->group));
    }
    return most > 0 ? most + s->face->pad : 0;
}

/* Joins the descriptions of all figures. */
static void panels_describe(const panels *s, draw *d)
{
    char text[DESCRIPTION_MOST] = "";
    size_t n = 0;
    for (int i = 0; i < s->count && s->count > 1; i++) {
        const draw *part = s->slot[i].d;
        const char *said = part->description ? part->bytes + part->description : "";
        int size = snprintf(text + n, sizeof text - n, "%s%s%s: %s ", text_or_empty(s->f[i]->group),
                            s->f[i]->group ? ", " : "", text_or_empty(s->f[i]->title), said);
        if (size < 0 || n + (size_t)size >= sizeof text - 1)
            break;
        n += (size_t)size;
    }
    text[n] = 0;
    const draw *one = s->count == 1 ? s->slot[0].d : NULL;
    const char *title = s->how->title ? s->how->title : s->count ? s->f[0]->title : NULL;
    draw_describe(d, one ? s->f[0]->title : title, one && one->description ? one->bytes + one->description : text);
}

static pe_status panels_join(draw **out, const panels *s, pe_error *err)
{
    double top = panels_put_groups(s, NULL), width = s->columns * (s->width + s->gap) - s->gap;
    double height = top + panels_height(s);
    pe_status status = draw_new(out, width, height > 0 ? height : 1, err);
    if (status)
        return status;
    panels_describe(s, *out);
    panels_put_groups(s, *out);
    for (int row = 0; row < s->rows; row++) {
        for (int i = 0; i < s->count; i++)
            if (s->slot[i].row == row)
                panels_put_one(s, *out, i, top);
        top += s->height[row] + panels_gap(s);
    }
    return draw_status(*out, err);
}

pe_status figures_panels(draw **out, figure *const *f, int count, const figure_how *how, pe_error *err)
{
    bool cells = how->format == FIGURE_TERMINAL;
    panels s = { .f = f, .count = count, .how = how, .face = cells ? &face_screen : &face_paper, .cells = cells };
    *out = NULL;
    if (count < 1)
        return io_fail(err, PE_ERR_RANGE, "a picture of no figure; needs 1 or more");
    s.slot = calloc((size_t)count, sizeof *s.slot);
    s.height = calloc((size_t)count, sizeof *s.height);
    pe_status status = PE_OK;
    if (!s.slot || !s.height)
        status = io_fail(err, PE_ERR_NOMEM, "no memory for a picture of %d figures", count);
    if (!status) {
        panels_place(&s);
        status = panels_draw(&s, err);
    }
    status = status ? status : panels_join(out, &s, err);
    for (int i = 0; s.slot && i < count; i++)
        draw_free(s.slot[i].d);
    free(s.slot);
    free(s.height);
    if (status) {
        draw_free(*out);
        *out = NULL;
    }
    return status;
}
