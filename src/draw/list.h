/* SPDX-License-Identifier: MIT
 *
 * The list behind draw.h, as the writers read it. All numbers in it are finite and at most DRAW_FAR. */
#ifndef POSENC_DRAW_LIST_H
#define POSENC_DRAW_LIST_H

#include "draw/draw.h"

#define DRAW_FAR 1e7   /* pixels; what lies further out is put there */
#define DRAW_BOLD 15.0 /* text of this size or more is a heading */

typedef enum shape_kind { SHAPE_PATH = 0, SHAPE_RECT, SHAPE_CIRCLE, SHAPE_CELLS, SHAPE_TEXT } shape_kind;

typedef struct draw_shape {
    shape_kind kind;
    draw_style style; /* a text: fill is its ink */
    draw_anchor anchor;
    bool closed, vertical;
    double x, y, width, height; /* a circle: both are its radius; a text: both are its size */
    int rows, columns;          /* of cells */
    uint8_t zero;               /* of cells: the level of the paper */
    size_t first, count;        /* of the points of a path, or of the bytes of a text or of cells */
} draw_shape;

struct draw {
    double width, height;
    draw_shape *shapes;
    size_t shape_count, shape_room;
    draw_point *points;
    size_t point_count, point_room;
    char *bytes; /* texts end with 0 */
    size_t byte_count, byte_room;
    size_t title, description; /* in bytes; 0: none */
    bool failed;               /* out of memory: later shapes are missing */
};

/* Gives the picture another title; the description stays. */
void draw_rename(draw *d, const char *title);

/* The part of a to b in a box; false where there is none. */
bool draw_clip(draw_point *a, draw_point *b, draw_point low, draw_point high);

/* A part of cells, in units of a cell. */
typedef struct cells_box {
    double left, right, top, down;
} cells_box;
/* The heat of a part: of the cell in its middle, or the mean if the part covers several cells. */
uint8_t draw_cells_mean(const draw *d, const draw_shape *s, cells_box box);

/* ---------------------------------------------------------------- inks */

#define INK_PAPERS 4   /* paper, text, faint, grid */
#define INK_COLOURS 12 /* series */
#define INK_SLOTS (INK_PAPERS + INK_COLOURS)

typedef struct draw_rgb {
    uint8_t r, g, b;
} draw_rgb;

typedef struct draw_ink_row {
    draw_rgb light, dark;
    draw_rgb terminal; /* on a paper that may be black or white */
} draw_ink_row;
extern const draw_ink_row inks[INK_SLOTS];
int ink_slot(int ink); /* the row of inks; -1: none */

/* The colour of a level of cells: a tint over the paper, whatever that is. */
typedef struct draw_tint {
    draw_rgb rgb;
    uint8_t alpha; /* 0: the paper, 255: the tint */
} draw_tint;
draw_tint heat_tint(int level, int zero);
draw_rgb heat_terminal(int level, int zero); /* over black: the paper of a terminal is not known */

#endif
