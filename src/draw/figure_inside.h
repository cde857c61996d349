/* SPDX-License-Identifier: MIT
 *
 * How figures of each kind become shapes. */
#ifndef POSENC_DRAW_FIGURE_INSIDE_H
#define POSENC_DRAW_FIGURE_INSIDE_H

#include "draw/axis.h"
#include "draw/figure.h"
#include "io/json_out.h"

#include <string.h>

static inline const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

static inline bool figures_share_group(const figure *a, const figure *b)
{
    return !strcmp(text_or_empty(a->group), text_or_empty(b->group));
}

static inline bool figures_share_title(const figure *a, const figure *b)
{
    return !strcmp(text_or_empty(a->title), text_or_empty(b->title));
}

/* The size of a figure in pixels, and whether it is laid out for the character cells of a terminal. */
typedef struct figure_place {
    double width, height;
    bool cells;
    bool fits; /* the height may be less */
    language language;
    draw_frame *frame; /* where it lies, for lines; NULL: not asked */
} figure_place;

pe_status figure_draw_at(draw **out, const figure *f, figure_place at, pe_error *err);
int figure_ink(int series);

/* ---------------------------------------------------------------- cells (figure_cells.c) */

/* The ends of the colours. */
void figure_range(const figure *f, double *low, double *high);
/* The level that has the colour of the paper: that of 0, or of the end of the scale that is nearer to it. */
int figure_zero(const figure *f);
/* levels (rows * columns): 0 .. DRAW_LEVELS - 1, DRAW_NOTHING for what is no number. */
void figure_levels(const figure *f, uint8_t *levels);
pe_status figure_draw_cells(draw **out, const figure *f, figure_place at, pe_error *err);

/* The label of row or column i: its name, or its number, which is printed into number. */
#define FIGURE_NUMBER 40
const char *figure_row_name(char number[FIGURE_NUMBER], const figure *f, int row);
const char *figure_column_name(char number[FIGURE_NUMBER], const figure *f, int column);

/* ---------------------------------------------------------------- dials (figure_dials.c) */

typedef struct dials_plan {
    int across, down;         /* dials */
    double wide, high;        /* of one with its name */
    double left, top, radius; /* pixels */
    double unit;              /* pixels of a hand of length 1 */
    int name_lines;
} dials_plan;

dials_plan figure_dials_plan(const figure *f, figure_place at);
/* The tip of a hand; not finite where its numbers are not. */
draw_point figure_dial_tip(const dials_plan *p, const figure *f, int dial, int hand);
pe_status figure_draw_dials(draw **out, const figure *f, figure_place at, pe_error *err);
double figure_dials_height(const figure *f, double width, bool cells);

/* ---------------------------------------------------------------- writers */

/* All of them as one picture (panels.c). */
pe_status figures_panels(draw **out, figure *const *f, int count, const figure_how *how, pe_error *err);
pe_status figures_parts(FILE *to, figure *const *f, int count, const figure_how *how, pe_error *err);
pe_status figures_html(FILE *to, figure *const *f, int count, const figure_how *how, pe_error *err);
void figures_csv(FILE *to, figure *const *f, int count);
void figures_json(FILE *to, figure *const *f, int count);

#endif
