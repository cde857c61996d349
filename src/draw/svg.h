/* SPDX-License-Identifier: MIT */
#ifndef POSENC_DRAW_SVG_H
#define POSENC_DRAW_SVG_H

#include "draw/list.h"

void svg_number(FILE *to, double x);
void svg_attribute(FILE *to, const char *name, double x);
void svg_colour(FILE *to, draw_rgb c);
/* <tag x y width height, left open. */
void svg_box(FILE *to, const char *tag, double x, double y, double width, double height);
void svg_cells(FILE *to, const draw *d, const draw_shape *s);

#endif
