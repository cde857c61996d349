/* SPDX-License-Identifier: MIT
 *
 * posenc_draw: pictures as a list of shapes, and one writer per format. A picture does not depend on its format.
 *
 *     draw *d;
 *     chart_draw(&d, &(chart){ .title = "...", .series = s, .series_count = n, .width = 720, .height = 420 }, &err);
 *     draw_svg(stdout, d, DRAW_ALONE);          draw_terminal(stdout, d, &(draw_screen){ .columns = 80, .rows = 24 });
 *     draw_free(d);
 *
 * Units are pixels of a 96 dpi screen, y downwards, text sizes too; text of 15 or more is a heading, and bold. Colours
 * are names (inks), not numbers, so that light and dark are the reader's: an SVG carries both as CSS variables, a
 * terminal has its own table. Shapes are kept in order; the later lies on top. Numbers that are not finite are left out
 * where they stand (a line breaks there).
 */
#ifndef POSENC_DRAW_H
#define POSENC_DRAW_H

#include "posenc.h"

#include <stdio.h>

typedef enum draw_ink {
    INK_PAPER = 0, /* the background */
    INK_TEXT,
    INK_FAINT, /* labels, axes */
    INK_GRID,
    INK_NONE,       /* no fill, no line */
    INK_SERIES = 16 /* + n: the n-th colour of a set that colour-blind readers can tell apart; repeats after 12 */
} draw_ink;
#define DRAW_LEVELS 255  /* of cells, from low to high */
#define DRAW_NOTHING 255 /* an empty cell: the background shows */

typedef enum draw_dash { DASH_NONE = 0, DASH_LONG, DASH_DOT } draw_dash;
typedef enum draw_anchor { ANCHOR_START = 0, ANCHOR_MIDDLE, ANCHOR_END } draw_anchor;

typedef struct draw_point {
    double x, y;
} draw_point;

typedef struct draw_style {
    int stroke;   /* ink; INK_NONE: none */
    int fill;     /* ink; INK_NONE: none */
    double width; /* of the stroke; 0: 1 */
    double alpha; /* of the fill; 0: 1 */
    draw_dash dash;
} draw_style;

typedef struct draw draw;

pe_status draw_new(draw **out, double width, double height, pe_error *err);
void draw_free(draw *d); /* NULL is fine */
/* What the picture shows, for readers who do not see it: SVG's <title> and <desc>. Copied. */
void draw_describe(draw *d, const char *title, const char *description);

/* These functions copy their arguments. They return no status: draw_status says whether the list ran out of memory. */
void draw_path(draw *d, const draw_point *p, int count, bool closed, draw_style s);
void draw_rect(draw *d, double x, double y, double width, double height, draw_style s);
void draw_circle(draw *d, double x, double y, double radius, draw_style s);
/* rows x columns cells of one picture, heat[r * columns + c] being a level or DRAW_NOTHING. The level `zero` has the colour
 * of the paper; levels above it are orange and levels below it blue, the stronger the further away. */
void draw_cells(draw *d, double x, double y, double width, double height, int rows, int columns, int zero,
                const uint8_t *heat);
/* vertical: reads upwards. Text is UTF-8; writers escape it. */
void draw_text(draw *d, double x, double y, double size, draw_anchor anchor, int ink, bool vertical, const char *text);
/* All shapes of another list, moved by x and y. */
void draw_place(draw *d, const draw *from, double x, double y);
pe_status draw_status(const draw *d, pe_error *err);

/* ---------------------------------------------------------------- writers */

typedef enum draw_where {
    DRAW_ALONE = 0, /* a file: XML header, its own style with light and dark */
    DRAW_INSIDE,    /* inline in an HTML page, which has draw_css; no style attribute, nothing that is fetched */
    DRAW_HOLLOW     /* DRAW_INSIDE without the cells, which the page paints */
} draw_where;
pe_status draw_svg(FILE *to, const draw *d, draw_where where, pe_error *err);
/* The CSS of the inks, for a page with pictures DRAW_INSIDE: light, and dark by prefers-color-scheme and by
 * :root[data-theme]. The page may use its variables: --paper, --text, --faint, --grid, and --ink-4 .. --ink-15 for the
 * series. */
void draw_css(FILE *to);

/* Escapes text for XML and HTML, in attributes too. */
void draw_escape(FILE *to, const char *text);
/* A field of CSV in quotes (RFC 4180); what a spreadsheet would run as a formula gets an apostrophe in front. */
void draw_csv_text(FILE *to, const char *text);

typedef enum draw_glyphs { GLYPHS_BRAILLE = 0, GLYPHS_ASCII } draw_glyphs;
typedef struct draw_screen {
    int columns, rows;
    draw_glyphs glyphs;
    bool colour; /* 24-bit */
    bool is_few; /* the nearest of 256 colours */
    bool is_terminal;
} draw_screen;
/* Lines and areas as braille dots (or ASCII), cells as half blocks, text in the character cells it falls on. */
pe_status draw_terminal(FILE *to, const draw *d, const draw_screen *screen, pe_error *err);
/* What a stream can show: its size, UTF-8 by the locale, colour by NO_COLOR, TERM, COLORTERM. */
draw_screen draw_screen_of(FILE *stream);

/* ---------------------------------------------------------------- charts (chart.c): lines over axes */

typedef struct chart_series {
    const char *name;
    const double *x, *y;      /* (count); a y that is not finite breaks the line */
    const double *low, *high; /* (count), or NULL: a band, the spread of seeds */
    int count;
    int ink; /* INK_SERIES + n */
    draw_dash dash;
    bool dots;        /* a mark at each point */
    const char *note; /* at the last point: "cannot"; NULL: none */
} chart_series;

typedef struct chart {
    const char *title, *x_label, *y_label;
    const char *mark;        /* a line below the title, such as "untrained"; NULL: none */
    const char *description; /* for readers who do not see it; NULL: made from the data */
    const chart_series *series;
    int series_count;
    bool x_log2; /* ticks at powers of two */
    bool y_log;
    double x_mark; /* a vertical line here, e.g. the trained length; 0: none */
    const char *x_mark_label;
    double y_min, y_max; /* both 0: from the data. Lines leave the frame at its edge. */
    double width, height;
    const char *x_unit; /* "" */
    bool cells;         /* laid out for a terminal, of 8 x 16 pixels a character; chart_terminal sets it */
    int language;       /* of the words that are made here: one of io/words.h; 0: English */
} chart;

/* Names stand at the ends of the lines where they fit, in a legend where they do not. */
pe_status chart_draw(draw **out, const chart *c, pe_error *err);
/* Laid out for the screen and written to it, whatever its width and height are. */
pe_status chart_terminal(FILE *to, const chart *c, const draw_screen *screen, pe_error *err);

#endif
