/* SPDX-License-Identifier: MIT */
#ifndef POSENC_DRAW_RASTER_H
#define POSENC_DRAW_RASTER_H

#include "draw/canvas.h"

#define RASTER_CIRCLE 16 /* corners of a circle */

void raster_path(canvas *c, const draw_point *p, size_t count, bool closed, draw_style s);
void raster_circle(canvas *c, double x, double y, double radius, draw_style s);

#endif
