/* SPDX-License-Identifier: MIT
 *
 * A figure as shapes. */
#include "draw/chart.h"
#include "draw/figure_inside.h"

#include "io/io.h"

#include <math.h>
#include <stdlib.h>

#define WIDTH 640.0
#define CELL_MOST 56.0 /* pixels of a row of cells */

static chart chart_of(const figure *f, figure_place at)
{
    return (chart){ .title = f->title,
                    .x_label = f->x_label,
                    .y_label = f->y_label,
                    .description = f->description,
                    .series_count = f->series_count,
                    .x_log2 = f->x_log2,
                    .y_log = f->y_log,
                    .x_mark = f->x_mark,
                    .x_mark_label = f->x_mark_label,
                    .y_min = f->y_min,
                    .y_max = f->y_max,
                    .width = at.width,
                    .height = at.height,
                    .x_unit = "",
                    .cells = at.cells,
                    .language = (int)at.language };
}

int figure_ink(int series)
{
    return INK_SERIES + series % INK_COLOURS;
}

static pe_status draw_lines(draw **out, const figure *f, figure_place at, pe_error *err)
{
    chart c = chart_of(f, at);
    chart_series *series = calloc((size_t)f->series_count + 1, sizeof *series);
    if (!series)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a chart of %d lines", f->series_count);
    for (int i = 0; i < f->series_count; i++)
        series[i] = (chart_series){ .name = f->series[i].name,
                                    .x = f->series[i].x,
                                    .y = f->series[i].y,
                                    .count = f->series[i].count,
                                    .ink = figure_ink(i),
                                    .dash = f->series[i].dashed ? DASH_LONG : DASH_NONE,
                                    .dots = f->series[i].dots };
    c.series = series;
    pe_status s = chart_draw_in(out, &c, at.frame, err);
    free(series);
    return s;
}

/* Of a terminal, where a row of cells is a half of a character, or several are one: as a whole number of them. */
static double screen_height(const figure *f, double height)
{
    const int most = 40; /* halves */
    int each = (f->rows + most - 1) / most;
    if (f->rows > 10)
        height = (f->rows + each - 1) / each * CELL_HEIGHT / 2;
    return ceil(fmin(height, most * CELL_HEIGHT / 2) / CELL_HEIGHT + 4) * CELL_HEIGHT;
}

double figure_height(const figure *f, double width, bool cells)
{
    if (f->kind == FIGURE_DIALS)
        return figure_dials_height(f, width, cells);
    double frame = width - 110, height = cells ? 20 * CELL_HEIGHT : 380;
    if (f->kind != FIGURE_CELLS || f->columns == 0)
        return height;
    height = fmin(frame * f->rows / f->columns, CELL_MOST * f->rows);
    height = fmin(fmax(height, fmin(160, 28.0 * f->rows)), frame);
    return cells ? screen_height(f, height) : ceil(height + 90);
}

pe_status figure_draw_at(draw **out, const figure *f, figure_place at, pe_error *err)
{
    *out = NULL;
    pe_status s = figure_status(f, err);
    if (s)
        return s;
    at.width = at.width > 0 ? at.width : WIDTH;
    at.fits = !(at.height > 0);
    at.height = at.height > 0 ? at.height : figure_height(f, at.width, at.cells);
    switch (f->kind) {
    case FIGURE_CELLS: s = figure_draw_cells(out, f, at, err); break;
    case FIGURE_DIALS: s = figure_draw_dials(out, f, at, err); break;
    default: s = draw_lines(out, f, at, err); break;
    }
    s = s ? s : draw_status(*out, err);
    if (s) {
        draw_free(*out);
        *out = NULL;
    }
    return s;
}

pe_status figure_draw(draw **out, const figure *f, double width, double height, pe_error *err)
{
    return figure_draw_at(out, f, (figure_place){ .width = width, .height = height }, err);
}
