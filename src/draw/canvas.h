/* SPDX-License-Identifier: MIT
 *
 * A picture as character cells. Lines and areas are dots: 2 x 4 a cell in braille, 1 in ASCII. */
#ifndef POSENC_DRAW_CANVAS_H
#define POSENC_DRAW_CANVAS_H

#include "draw/list.h"

typedef struct canvas_cell {
    unsigned code;   /* a character of a text; 0: none */
    bool is_tail;    /* the second column of a wide one */
    uint8_t dots;    /* braille: bit k is dot k + 1 of Unicode's pattern; ASCII: the glyph */
    bool is_soft;    /* grid and light areas: give way to lines */
    bool is_cells;   /* heat, of its upper and its lower half */
    uint8_t heat[2]; /* DRAW_NOTHING: none */
    bool is_large;   /* its cells are a character high, or more */
    int ink;
} canvas_cell;

typedef struct canvas {
    int columns, rows;
    int across, down;        /* dots of a cell */
    double scale_x, scale_y; /* dots per pixel */
    canvas_cell *cells;      /* (rows, columns) */
    bool *inside;            /* (columns * across + 1): one row of an area */
} canvas;

pe_status canvas_new(canvas *out, const draw *d, const draw_screen *screen, pe_error *err);
void canvas_free(canvas *c); /* zeroed: fine */
void canvas_shape(canvas *c, const draw *d, const draw_shape *s);

#endif
