/* SPDX-License-Identifier: MIT
 *
 * A figure on its way out. */
#ifndef POSENC_DRAW_FIGURE_INSIDE_H
#define POSENC_DRAW_FIGURE_INSIDE_H

#include "draw/face.h"
#include "draw/figure.h"
#include "io/json_out.h"

/* Where it goes: pixels, and whether they are the character cells of a terminal. */
typedef struct figure_place {
    double width, height;
    bool cells;
    bool fits; /* the height may be less */
    language language;
    draw_frame *frame; /* where it lies, for lines; NULL: not asked */
} figure_place;

pe_status figure_draw_at(draw **out, const figure *f, figure_place at, pe_error *err);
int figure_ink(int series);
/* Its height for a width, by its kind and its numbers. */
double figure_height(const figure *f, double width, bool cells);

/* ---------------------------------------------------------------- cells (figure_cells.c, figure_levels.c) */

/* The ends of the colours. */
void figure_range(const figure *f, double *low, double *high);
/* levels (rows * columns): 0 .. DRAW_LEVELS - 1, DRAW_NOTHING for what is no number. */
void figure_levels(const figure *f, uint8_t *levels);
pe_status figure_draw_cells(draw **out, const figure *f, figure_place at, pe_error *err);

/* What stands at row or column i: its name, whole, or its number, which is printed into number. */
#define FIGURE_NUMBER 40
const char *figure_row_name(char number[FIGURE_NUMBER], const figure *f, int row);
const char *figure_column_name(char number[FIGURE_NUMBER], const figure *f, int column);
void figure_put_names(json_out *j, const char *key, char *const *names, int count); /* NULL: nothing (figure_json.c) */

/* ---------------------------------------------------------------- dials (figure_dials.c) */

typedef struct dials_plan {
    int across, down;         /* dials */
    double wide, high;        /* of one with its name */
    double left, top, radius; /* pixels */
    double unit;              /* pixels of a hand of length 1 */
    int name_lines;
} dials_plan;

dials_plan figure_dials_plan(const figure *f, figure_place at);
draw_point figure_dial_middle(const dials_plan *p, const figure *f, int dial);
/* The tip of a hand; not finite where its numbers are not. */
draw_point figure_dial_tip(const dials_plan *p, const figure *f, int dial, int hand);
pe_status figure_draw_dials(draw **out, const figure *f, figure_place at, pe_error *err);
double figure_dials_height(const figure *f, double width, bool cells);

/* ---------------------------------------------------------------- writers */

/* All of them as one picture (sheet.c). */
pe_status figures_sheet(draw **out, figure *const *f, int count, const figure_how *how, pe_error *err);
pe_status figures_parts(FILE *to, figure *const *f, int count, const figure_how *how, pe_error *err);
pe_status figures_html(FILE *to, figure *const *f, int count, const figure_how *how, pe_error *err);
/* Where the points of a figure lie (figure_points.c). */
typedef struct figure_points {
    const figure *f;
    const figure_series *s;
    int dial;
    draw_frame frame;
    dials_plan dials;
} figure_points;
bool figure_put_points(json_out *j, figure_points *p); /* false: no memory */
pe_status figures_csv(FILE *to, figure *const *f, int count, pe_error *err);
pe_status figures_json(FILE *to, figure *const *f, int count, pe_error *err);

#endif
