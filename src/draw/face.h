/* SPDX-License-Identifier: MIT
 *
 * Text as a writer will set it, and axes with ticks: what charts and figures are laid out with. */
#ifndef POSENC_DRAW_FACE_H
#define POSENC_DRAW_FACE_H

#include "draw/list.h"

#define TICKS_MOST 16

/* Text as the writer will set it: in pixels, or in the character cells of a terminal. */
typedef struct face {
    double size, line, title_size, title_line;
    double gap;  /* between text and what it stands beside */
    double pad;  /* around all */
    double cell; /* a column of a terminal; 0: none */
} face;

extern const face face_paper, face_screen;

double face_width(const face *f, const char *text, double size);
/* Cut at a character, with two points for what is missing, until it fits. */
void face_shorten(const face *f, char *text, double width);
/* As much of a text as there is room for, in whole characters. */
void face_cut(char *out, size_t room, const char *text);

typedef struct face_text {
    const face *f;
    double left, top, width;
    bool is_title;
    int ink;
    int most; /* lines; 0: 3 */
} face_text;
/* Text in lines; their lower end. d NULL: nothing is drawn. */
double face_lines(draw *d, face_text at, const char *text);

void face_rule(draw *d, draw_point from, draw_point to, int ink, draw_dash dash);
/* A label centred at x, but inside the picture. */
void face_centred(draw *d, const face *f, double x, double y, const char *text);

/* ---------------------------------------------------------------- axes (chart_axis.c, chart_ticks.c) */

typedef struct axis {
    bool log;
    bool binary;      /* ticks at powers of two */
    double low, high; /* values at its ends */
    double from, to;  /* pixels at its ends */
    int count;
    double tick[TICKS_MOST];
    char label[TICKS_MOST][40];
} axis;

bool axis_takes(const axis *a, double v);
double axis_at(const axis *a, double v); /* pixel; NAN for what it does not take */
void axis_take(axis *a, double v, bool *any);
/* A range that is a point, or nearly one, becomes one with room around it. */
void axis_open_up(axis *a);
/* At most so many ticks, with labels; grow: the ends move out to ticks. */
void axis_ticks(axis *a, int most, bool grow, const char *unit);
/* The same for an axis across: as many as have room beside each other. */
void axis_ticks_apart(axis *a, const face *f, int most, const char *unit);
/* At its two ends, to the second digit of the range: where there is no room for round numbers. */
void axis_ends(axis *a);
/* Where values lie in a picture. */
typedef struct draw_frame {
    draw_point low, high; /* low is the upper left */
    axis x, y;
} draw_frame;

double axis_widest(const axis *a, const face *f); /* of its labels */

#endif
