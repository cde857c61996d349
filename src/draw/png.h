/* SPDX-License-Identifier: MIT */
#ifndef POSENC_DRAW_PNG_H
#define POSENC_DRAW_PNG_H

#include "draw/deflate.h"
#include "draw/list.h"

#define PNG_PIXELS_MOST ((size_t)1 << 26)

/* A whole file, into out: pixels of 3 bytes. */
void png_pixels(byte_sink *out, const uint8_t *rgb, int width, int height);
/* Cells of the heat scale, a pixel each; DRAW_NOTHING is transparent. */
void png_cells(byte_sink *out, const uint8_t *heat, int columns, int rows);

#endif
