/* SPDX-License-Identifier: MIT
 *
 * Shapes into character cells: text stands on its cells, heat is sampled, the rest is dots (raster.c). */
#include "draw/raster.h"

#include "io/checked.h"
#include "io/io.h"

#include <math.h>
#include <stdlib.h>

#define SCREEN_MOST 2000 /* columns, rows */

pe_status canvas_new(canvas *out, const draw *d, const draw_screen *screen, pe_error *err)
{
    size_t cells;
    *out = (canvas){ .columns = screen->columns, .rows = screen->rows };
    if (out->columns < 1 || out->columns > SCREEN_MOST || out->rows < 1 || out->rows > SCREEN_MOST)
        return io_fail(err, PE_ERR_RANGE, "a screen of %d columns and %d rows; needs 1 to %d", screen->columns,
                       screen->rows, SCREEN_MOST);
    bool braille = screen->glyphs == GLYPHS_BRAILLE;
    out->across = braille ? 2 : 1;
    out->down = braille ? 4 : 1;
    out->scale_x = out->columns * out->across / d->width;
    out->scale_y = out->rows * out->down / d->height;
    if (io_mul(&cells, (size_t)out->columns, (size_t)out->rows))
        out->cells = calloc(cells, sizeof *out->cells);
    out->inside = calloc((size_t)(out->columns * out->across) + 1, sizeof *out->inside);
    if (out->cells && out->inside)
        return PE_OK;
    canvas_free(out);
    return io_fail(err, PE_ERR_NOMEM, "no memory for a screen of %d columns and %d rows", screen->columns,
                   screen->rows);
}

void canvas_free(canvas *c)
{
    free(c->cells);
    free(c->inside);
    *c = (canvas){ 0 };
}

/* ---------------------------------------------------------------- text */

static bool put_code(canvas *c, int column, int row, unsigned code, int ink)
{
    int wide = draw_code_columns(code);
    if (column < 0 || row < 0 || column + wide > c->columns || row >= c->rows)
        return false;
    canvas_cell *at = &c->cells[row * c->columns + column];
    at[0] = (canvas_cell){ .code = code, .ink = ink };
    if (wide == 2)
        at[1] = (canvas_cell){ .code = code, .is_tail = true, .ink = ink };
    return true;
}

/* Half of a wide character that another text covers goes too. */
static void mend_row(canvas *c, int row)
{
    canvas_cell *at = &c->cells[row * c->columns];
    for (int i = 0; i < c->columns; i++) {
        bool is_head = at[i].code && !at[i].is_tail && draw_code_columns(at[i].code) == 2;
        if (is_head && (i + 1 == c->columns || !at[i + 1].is_tail))
            at[i].code = ' ';
        if (at[i].is_tail && (i == 0 || at[i - 1].is_tail || at[i - 1].code != at[i].code))
            at[i] = (canvas_cell){ .code = ' ' };
    }
}

/* The letters of a turned text stand on one another and read downwards. */
static void put_text(canvas *c, const draw *d, const draw_shape *s)
{
    const char *text = d->bytes + s->first;
    int size = draw_text_columns(text), back = s->anchor == ANCHOR_END ? 2 : s->anchor == ANCHOR_MIDDLE ? 1 : 0;
    double column = s->x * c->columns / d->width,
           row = (s->y - (s->turned ? 0 : 0.35 * s->height)) * c->rows / d->height;
    if (fabs(column) > 1e6 || fabs(row) > 1e6)
        return;
    int x = (int)floor(column + 0.5 - (s->turned ? 0.5 : size * back / 2.0));
    int y = (int)floor(row + (s->turned ? size * (back - 2) / 2.0 : 0));
    for (unsigned code; *text;) {
        text += draw_next_code(text, &code);
        int wide = draw_code_columns(code);
        if (wide == 0)
            continue;
        put_code(c, x, y, code, s->style.fill);
        x += s->turned ? 0 : wide;
        y += s->turned ? 1 : 0;
    }
    if (!s->turned && y >= 0 && y < c->rows)
        mend_row(c, y);
}

/* ---------------------------------------------------------------- heat */

static void put_half(canvas *c, const draw *d, const draw_shape *s, int half, int column)
{
    double x = d->width / c->columns, y = d->height / (2 * c->rows);
    double at_x = ((column + 0.5) * x - s->x) / s->width, at_y = ((half + 0.5) * y - s->y) / s->height;
    canvas_cell *at = &c->cells[half / 2 * c->columns + column];
    if (at_x < 0 || at_x >= 1 || at_y < 0 || at_y >= 1 || at->code)
        return;
    if (!at->is_cells)
        at->heat[0] = at->heat[1] = DRAW_NOTHING;
    double wide = x / s->width * s->columns / 2, high = y / s->height * s->rows / 2;
    at_x *= s->columns;
    at_y *= s->rows;
    at->heat[half % 2] = draw_cells_mean(d, s, (cells_box){ at_x - wide, at_x + wide, at_y - high, at_y + high });
    at->is_cells = true;
    at->is_large = s->height / s->rows >= 2 * y * (1 - 1e-9);
}

static void put_cells(canvas *c, const draw *d, const draw_shape *s)
{
    for (int half = 0; half < 2 * c->rows; half++)
        for (int column = 0; column < c->columns; column++)
            put_half(c, d, s, half, column);
}

void canvas_shape(canvas *c, const draw *d, const draw_shape *s)
{
    draw_point p[RASTER_CIRCLE];
    switch (s->kind) {
    case SHAPE_PATH: raster_path(c, d->points + s->first, s->count, s->closed, s->style); break;
    case SHAPE_RECT:
        p[0] = (draw_point){ s->x, s->y };
        p[1] = (draw_point){ s->x + s->width, s->y };
        p[2] = (draw_point){ s->x + s->width, s->y + s->height };
        p[3] = (draw_point){ s->x, s->y + s->height };
        raster_path(c, p, 4, true, s->style);
        break;
    case SHAPE_CIRCLE: raster_circle(c, s->x, s->y, s->width, s->style); break;
    case SHAPE_CELLS: put_cells(c, d, s); break;
    case SHAPE_TEXT: put_text(c, d, s); break;
    }
}
