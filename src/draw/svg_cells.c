/* SPDX-License-Identifier: MIT
 *
 * Cells in SVG: rectangles where there are few, else a PNG of a pixel per cell inside the file. Browsers keep its edges
 * sharp by image-rendering: pixelated, which librsvg knows too; older viewers by optimizeSpeed; one that knows neither
 * blurs between cells. */
#include "draw/svg.h"

#include "draw/png.h"
#include "io/checked.h"

#include <stdlib.h>

#define RECT_BYTES 62 /* of one rectangle, about */

/* Neighbours of one heat are one rectangle; how many there are. */
static size_t put_rects(FILE *to, const draw *d, const draw_shape *s)
{
    const uint8_t *heat = (const uint8_t *)d->bytes + s->first;
    double w = s->width / s->columns, h = s->height / s->rows;
    size_t count = 0;
    for (int r = 0; r < s->rows; r++, heat += s->columns)
        for (int c = 0, end; c < s->columns; c = end) {
            for (end = c + 1; end < s->columns && heat[end] == heat[c];)
                end++;
            if (heat[c] == DRAW_NOTHING)
                continue;
            count++;
            if (!to)
                continue;
            svg_box(to, "rect", s->x + c * w, s->y + r * h, (end - c) * w, h);
            fputs(" fill=\"", to);
            svg_colour(to, ink_heat(INK_HEAT + heat[c]));
            fputs("\"/>\n", to);
        }
    return count;
}

static bool put_image(FILE *to, const draw_shape *s, const byte_sink *png)
{
    size_t size;
    char *text = draw_base64_size(&size, png->size) ? malloc(size ? size : 1) : NULL;
    if (!text)
        return false;
    svg_box(to, "image", s->x, s->y, s->width, s->height);
    fputs(" preserveAspectRatio=\"none\" image-rendering=\"optimizeSpeed\" href=\"data:image/png;base64,", to);
    fwrite(text, 1, draw_base64(text, png->at, png->size), to);
    fputs("\"/>\n", to);
    free(text);
    return true;
}

/* Without memory for the image it is rectangles again. */
void svg_cells(FILE *to, const draw *d, const draw_shape *s)
{
    byte_sink png = { 0 };
    size_t rects = put_rects(NULL, d, s), text;
    if (rects > 16)
        png_cells(&png, (const uint8_t *)d->bytes + s->first, s->columns, s->rows);
    bool is_small = rects > 16 && !png.failed && draw_base64_size(&text, png.size) && text < rects * RECT_BYTES;
    if (!is_small || !put_image(to, s, &png)) {
        fputs("<g shape-rendering=\"crispEdges\">\n", to);
        put_rects(to, d, s);
        fputs("</g>\n", to);
    }
    free(png.at);
}
