/* SPDX-License-Identifier: MIT
 *
 * A figure: numbers with their names, and the kind of picture that shows them. It owns copies of everything it is
 * given. It does not depend on a format: the same figure becomes shapes (and so SVG or a terminal's text), a page, a
 * table or JSON.
 *
 *     figure *f;
 *     figure_new(&f, FIGURE_LINES, &err);
 *     figure_text(f, &f->title, "rope: score by distance");
 *     double *y = figure_add_series(f, "rope", x, count);      // NULL: no memory, which figure_status says once
 *     ...
 *     figures_write(stdout, figures, count, &(figure_how){ .format = FIGURE_SVG }, &err);
 *     figure_free(f);
 */
#ifndef POSENC_FIGURE_H
#define POSENC_FIGURE_H

#include "draw/draw.h"
#include "io/io.h"
#include "io/words.h"

#define FIGURE_SERIES_MOST 4096
#define FIGURE_CELLS_MOST ((size_t)1 << 26)

typedef enum figure_kind {
    FIGURE_LINES = 0, /* lines over axes */
    FIGURE_CELLS,     /* a matrix as colours, with axes and a scale beside it */
    FIGURE_DIALS      /* rotated pairs: one dial per pair, with a hand per position */
} figure_kind;

typedef struct figure_series {
    char *name;
    double *x, *y; /* (count) */
    int count;
    bool dots, dashed;
} figure_series;

typedef struct figure {
    figure_kind kind;
    char *title, *x_label, *y_label; /* NULL: none */
    char *group;                     /* the spec that it shows; figures of several groups are side by side */
    char *caption;                   /* a sentence or two below: what to look at; NULL: none */
    char *mark;                      /* stands beside y_label: "untrained"; NULL: none */
    bool certain;                    /* chance has no part in it, and it needs no mark */
    char *description;               /* for readers who do not see it; NULL: made from the numbers */
    /* lines */
    figure_series *series;
    int series_count, series_room;
    bool x_log2, y_log;
    double x_mark; /* a vertical line; 0: none */
    char *x_mark_label;
    double y_min, y_max; /* both 0: from the data */
    bool own_scale;      /* also beside figures of its title: x and y are both data, and its shape is what counts */
    /* cells: value[r * columns + c]; NaN: nothing there (masked) */
    double *value;
    int rows, columns;
    double low, high;          /* ends of the colours; both 0: from the data */
    double x_first, y_first;   /* what column 0 and row 0 stand for, in steps of 1 */
    char **x_names, **y_names; /* (columns), (rows): words of a sentence; NULL: numbers */
    int x_name_count, y_name_count;
    bool x_numbered; /* the axis shows numbers: there are too many names to draw, but values are read with them */
    bool midpoint;   /* 0 is the middle of the scale */
    /* dials: each series is one; x the cosine, y the sine of its hands, the first to the last position */
    bool failed; /* no memory */
} figure;

pe_status figure_new(figure **out, figure_kind kind, pe_error *err);
void figure_free(figure *f);                                                        /* NULL is fine */
void figure_text(figure *f, char **field, const char *format, ...) IO_PRINTF(3, 4); /* sets a field such as title */
/* A new series with x copied (NULL: 0, 1, ...) and room for y, which is returned zeroed. NULL: no memory. */
double *figure_add_series(figure *f, const char *name, const double *x, int count);
double *figure_cells(figure *f, int rows, int columns); /* its values, zeroed; NULL: no memory, or too many */
bool figure_names(figure *f, char ***field, const char *const *names, int count);
pe_status figure_status(const figure *f, pe_error *err);

/* ---------------------------------------------------------------- out */

typedef enum figure_format {
    FIGURE_TERMINAL = 0,
    FIGURE_SVG,
    FIGURE_HTML,  /* a page of its own: every figure with its caption and its numbers */
    FIGURE_CSV,   /* long form: group,figure,series,x,value; of cells the row, the column */
    FIGURE_JSON,  /* numbers and names */
    FIGURE_PARTS, /* JSON for a page that paints the cells: SVG without cells, the cells as bytes, the points */
    FIGURE_FORMAT_COUNT
} figure_format;

typedef struct figure_how {
    figure_format format;
    double width;       /* pixels of one figure; 0: 640 */
    double height;      /* 0: by its kind */
    draw_screen screen; /* FIGURE_TERMINAL */
    const char *title;  /* of a page */
    language language;
} figure_how;

/* clang-format off */
/* FIGURE_PARTS, which a page lays over each other by percentages of width and height:
 *
 *     { "figures": [ {
 *         "title", "group", "caption", "mark", "description", "x_label", "y_label": text or null,
 *         "kind": "lines", "cells" or "dials",
 *         "width", "height": pixels,
 *         "svg": "<svg ...>" without style attributes and without the cells' pixels (DRAW_HOLLOW); wants draw_css,
 *         "cells": [ {
 *           "x", "y", "width", "height": pixels,
 *           "rows", "columns",
 *           "heat": base64 of rows * columns levels, 255 being nothing,
 *           and of the matrix, which is the first (the other is the scale beside it):
 *           "low", "high": values at the ends of the scale,
 *           "first_row", "first_column": what they stand for,
 *           "row_names", "column_names": [texts], where there are some,
 *           "names_alone": true where a column's name says all, without x_label,
 *           "values": base64 of rows * columns float32, the least byte first } ],
 *         "points": [ {
 *           "name",
 *           "ink": n of --ink-n,
 *           "x", "y": [numbers],
 *           "px", "py": [pixels], null where it is not drawn } ],
 *         "palette": of cells [255 "#rrggbbaa"] } ] }
 *
 * Numbers have nine digits. Of dials x is the cosine, y the sine, and the point is the tip of the hand. */
/* clang-format on */

/* Figures of different groups stand beside each other, those of one group below each other; a row of the sheet holds
 * figures of the same title. */
pe_status figures_write(FILE *to, figure *const *f, int count, const figure_how *how, pe_error *err);
const char *figure_format_name(figure_format f); /* "svg" */
/* Writes its texts in ASCII where possible (π becomes pi), for a screen that has only ASCII. */
void figure_plain(figure *f);
/* The format by a file name's extension; FIGURE_FORMAT_COUNT: unknown. */
figure_format figure_format_of(const char *file);

#endif
