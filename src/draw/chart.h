/* SPDX-License-Identifier: MIT
 *
 * The layout of a chart before it becomes shapes. From top to bottom: title, y label, legend, the mark's label, the
 * frame, the ticks of x, the label of x. */
#ifndef POSENC_DRAW_CHART_H
#define POSENC_DRAW_CHART_H

#include "draw/axis.h"
#include "io/words.h"

#define NAME_MOST 120

/* A series and its name. */
typedef struct chart_name {
    const chart_series *series;
    char text[NAME_MOST];
    int last;             /* point that can be drawn; -1: none */
    bool is_early;        /* the line ends well before the frame does: the name stands there, not in the margin */
    draw_point end;       /* of the line, in the frame */
    double y;             /* middle of the name in the margin */
    draw_point low, high; /* box of the name inside the frame */
} chart_name;

typedef struct chart_plan {
    const chart *c;
    draw *d;
    face f;
    axis x, y;
    chart_name *names; /* (series_count) */
    bool is_empty;     /* no point at all */
    bool names_meet;   /* inside the frame: a legend has them instead */
    bool has_legend;
    bool has_title, has_labels; /* false: there is no room for them */
    draw_point low, high;       /* the frame; low is its upper left */
    double text_top;            /* of the next line of text */
} chart_plan;

extern const words chart_no_data;

/* chart_draw that also says where it drew; frame may be NULL. */
pe_status chart_draw_in(draw **out, const chart *c, draw_frame *frame, pe_error *err);

/* ---------------------------------------------------------------- chart_lines.c */

void chart_lines(const chart_plan *p);
void chart_read_names(chart_plan *p);
double chart_names_width(const chart_plan *p); /* of the margin they need */
void chart_shorten_names(chart_plan *p, double width);
void chart_names(chart_plan *p);
bool chart_names_meet(chart_plan *p); /* names of lines that end early cover one another */
/* Samples and names, as many to a row as fit; returns the rows. draw_it false: nothing is drawn. */
int chart_legend(const chart_plan *p, double top, bool draw_it);

#endif
