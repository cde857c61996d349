/* SPDX-License-Identifier: MIT
 *
 * The list behind draw.h, as the writers read it. All numbers in it are finite and at most DRAW_FAR. */
#ifndef POSENC_DRAW_LIST_H
#define POSENC_DRAW_LIST_H

#include "draw/draw.h"

#define DRAW_FAR 1e7   /* pixels; what lies further out is put there */
#define DRAW_BOLD 15.0 /* text of this size or more is a heading */
#define CELL_WIDTH 8.0 /* pixels of a character of a terminal, in a chart for one */
#define CELL_HEIGHT 16.0

typedef enum shape_kind { SHAPE_PATH = 0, SHAPE_RECT, SHAPE_CIRCLE, SHAPE_CELLS, SHAPE_TEXT } shape_kind;

typedef struct draw_shape {
    shape_kind kind;
    draw_style style; /* a text: fill is its ink */
    draw_anchor anchor;
    bool closed, turned;
    double x, y, width, height; /* a circle: width is its radius; a text: height is its size */
    int rows, columns;          /* of cells */
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
    bool failed;               /* no memory: what was drawn since is not there */
};

/* Another title; the description stays. */
void draw_rename(draw *d, const char *title);

/* The part of a to b in a box; false where there is none. */
bool draw_clip(draw_point *a, draw_point *b, draw_point low, draw_point high);

/* A part of cells, in units of a cell. */
typedef struct cells_box {
    double left, right, top, down;
} cells_box;
/* Its heat: of the cell in its middle, or the mean where it covers several. */
uint8_t draw_cells_mean(const draw *d, const draw_shape *s, cells_box box);

/* ---------------------------------------------------------------- numbers and text (number.c, width.c) */

/* x with so many digits after a point, whatever the locale; short: without zeros at the end. |x| is at most 1e12. */
void draw_fixed(char out[40], double x, int decimals, bool is_short);
/* Pixels of a text in the common sans-serif faces, a little generous: which of them it is, is the reader's. */
double draw_text_width(const char *text, double size);
/* Columns of a terminal. */
int draw_text_columns(const char *text);
/* Columns of one character: 0 (it combines with the one before), 1 or 2. */
int draw_code_columns(unsigned code);
/* The character at text, U+FFFD for what is none or is an order to a terminal; its bytes. */
int draw_next_code(const char *text, unsigned *code);

/* ASCII for a sign; NULL: there is none. */
const char *draw_plain(unsigned code);

/* Bytes of the text, and the text, which has no end; false where there is no such size. */
bool draw_base64_size(size_t *out, size_t size);
size_t draw_base64(char *out, const void *bytes, size_t size);

extern const char page_css[]; /* page_css.c */

/* ---------------------------------------------------------------- inks (ink.c) */

#define INK_PAPERS 4   /* paper, text, faint, grid */
#define INK_COLOURS 12 /* series */
#define INK_SLOTS (INK_PAPERS + INK_COLOURS)

typedef struct draw_rgb {
    uint8_t r, g, b;
} draw_rgb;

/* The row of the tables below; -1: none, or one of INK_HEAT. */
int ink_slot(int ink);
bool ink_is_heat(int ink);
draw_rgb ink_heat(int ink);
draw_rgb ink_light(int slot);
draw_rgb ink_dark(int slot);
draw_rgb ink_terminal(int slot); /* on a paper that may be black or white */

#endif
