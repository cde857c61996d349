/* SPDX-License-Identifier: MIT
 *
 * Pixels. A shape is first a mask (how much of each pixel it covers), then colour: so what a line covers twice is no
 * darker. Coordinates are pixels of the picture times scale. */
#ifndef POSENC_DRAW_PAINT_H
#define POSENC_DRAW_PAINT_H

#include "draw/list.h"

typedef struct paint {
    int width, height;
    double scale;
    bool dark;
    uint8_t *rgb;               /* (height, width, 3) */
    uint8_t *mask;              /* (height, width); 0 where no shape is under way */
    double *row;                /* (width + 2) */
    double *crossing;           /* of a row with the edges of an area */
    size_t crossing_room;       /* of them */
    int left, top, right, down; /* the part of the mask that is in use; right and down are behind it */
    bool failed;
} paint;

pe_status paint_new(paint *out, const draw *d, double scale, bool dark, pe_error *err);
/* Where nobody asks: two pixels a pixel, or what a large picture leaves room for, 1 at least. */
double paint_scale(const draw *d);
void paint_free(paint *p); /* zeroed: fine */

/* Masks: a line with round ends, a disc, a ring, an area (every edge turns inside and outside over). */
void paint_line(paint *p, draw_point a, draw_point b, double width);
void paint_ring(paint *p, draw_point middle, double radius, double width); /* width 0: a disc */
void paint_area(paint *p, const draw_point *corner, size_t count);
/* The mask in a colour; the mask is empty afterwards. */
void paint_ink(paint *p, int ink, double alpha);
draw_rgb paint_colour(const paint *p, int ink);

void paint_shape(paint *p, const draw *d, const draw_shape *s); /* paint_shapes.c */

/* ---------------------------------------------------------------- font.c */

/* One stroke after the other, of a text at the origin with y upwards, in units of its size. */
typedef void font_line(void *with, draw_point a, draw_point b);
void font_strokes(const char *text, font_line *line, void *with);
double font_width(const char *text); /* of its size */
bool font_has(unsigned code);

#endif
