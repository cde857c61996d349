/* SPDX-License-Identifier: MIT
 *
 * A figure on its way out. */
#ifndef POSENC_DRAW_FIGURE_PARTS_H
#define POSENC_DRAW_FIGURE_PARTS_H

#include "draw/face.h"
#include "draw/figure.h"

/* Where it goes: pixels, and whether they are the character cells of a terminal. */
typedef struct figure_place {
    double width, height;
    bool cells;
    language language;
} figure_place;

pe_status figure_draw_at(draw **out, const figure *f, figure_place at, pe_error *err);
/* Its height for a width, by its kind and its numbers. */
double figure_height(const figure *f, double width, bool cells);

/* ---------------------------------------------------------------- cells (figure_cells.c, figure_levels.c) */

/* The ends of the colours. */
void figure_range(const figure *f, double *low, double *high);
/* levels (rows * columns): 0 .. DRAW_LEVELS - 1, DRAW_NOTHING for what is no number. */
void figure_levels(const figure *f, uint8_t *levels);
pe_status figure_draw_cells(draw **out, const figure *f, figure_place at, pe_error *err);

/* What stands at row or column i, by name or number. */
void figure_row_name(char *out, size_t room, const figure *f, int row);
void figure_column_name(char *out, size_t room, const figure *f, int column);

/* ---------------------------------------------------------------- writers */

pe_status figures_csv(FILE *to, figure *const *f, int count, pe_error *err);
pe_status figures_json(FILE *to, figure *const *f, int count, pe_error *err);

#endif
