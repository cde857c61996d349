/* SPDX-License-Identifier: MIT
 *
 * Axes with ticks, of charts and figures. */
#ifndef POSENC_DRAW_AXIS_H
#define POSENC_DRAW_AXIS_H

#include "draw/typeset.h"

#define TICKS_MOST 16

typedef struct axis {
    bool log;
    bool binary;      /* ticks at powers of two */
    double low, high; /* values at its ends */
    double from, to;  /* pixels at its ends */
    int count;
    double tick[TICKS_MOST];
    char label[TICKS_MOST][40];
} axis;

/* Where values lie in a picture. */
typedef struct draw_frame {
    draw_point low, high; /* low is the upper left */
    axis x, y;
} draw_frame;

bool axis_takes(const axis *a, double v);
double axis_at(const axis *a, double v); /* pixel; NAN for a value that the axis cannot show */
/* Widens a range that is a point or nearly one. */
void axis_open_up(axis *a);
/* At most so many ticks, with labels; grow: the ends move out to ticks. */
void axis_ticks(axis *a, int most, bool grow, const char *unit);
/* The same for an axis across: as many as have room beside each other. */
void axis_ticks_apart(axis *a, const face *f, int most, const char *unit);
/* A tick at a whole upper end that has none; where the last one is near, in its place or not at all. */
void axis_tick_at_end(axis *a, bool replace);
/* Ticks at the two ends only, to the second digit of the range: used if there is no room for round numbers. */
void axis_ends(axis *a);
double axis_widest(const axis *a, const face *f); /* of its labels */

#endif
