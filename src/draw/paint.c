/* SPDX-License-Identifier: MIT
 *
 * Masks with smooth edges, and colour. */
#include "draw/paint.h"

#include "draw/png.h"
#include "io/checked.h"
#include "io/io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SUBROWS 4 /* of a row, where an area is measured */

double paint_scale(const draw *d)
{
    double scale = 2;
    while (scale > 1 && ceil(d->width * scale) * ceil(d->height * scale) > (double)PNG_PIXELS_MOST)
        scale -= 0.25;
    return scale;
}

pe_status paint_new(paint *out, const draw *d, double scale, bool dark, pe_error *err)
{
    size_t pixels, bytes;
    double width = ceil(d->width * scale), height = ceil(d->height * scale);
    *out = (paint){ .scale = scale, .dark = dark };
    if (!(scale > 0 && scale <= 16))
        return io_fail(err, PE_ERR_RANGE, "a PNG at scale %g; needs one above 0, at most 16", scale);
    if (width * height > (double)PNG_PIXELS_MOST)
        return io_fail(err, PE_ERR_RANGE,
                       "a PNG of %g by %g pixels, more than %zu in all; needs fewer views or specs, or .svg or .html",
                       width, height, PNG_PIXELS_MOST);
    out->width = (int)width;
    out->height = (int)height;
    if (io_mul(&pixels, (size_t)out->width, (size_t)out->height) && io_mul(&bytes, pixels, 3)) {
        out->rgb = malloc(bytes);
        out->mask = calloc(pixels, 1);
        out->row = calloc((size_t)out->width + 2, sizeof *out->row);
    }
    if (!out->rgb || !out->mask || !out->row) {
        paint_free(out);
        return io_fail(err, PE_ERR_NOMEM, "no memory for a picture of %g by %g pixels", width, height);
    }
    draw_rgb paper = paint_colour(out, INK_PAPER);
    for (size_t i = 0; i < pixels; i++)
        memcpy(out->rgb + 3 * i, (uint8_t[3]){ paper.r, paper.g, paper.b }, 3);
    out->left = out->width;
    out->top = out->height;
    return PE_OK;
}

void paint_free(paint *p)
{
    free(p->rgb);
    free(p->mask);
    free(p->row);
    free(p->crossing);
    *p = (paint){ 0 };
}

draw_rgb paint_colour(const paint *p, int ink)
{
    int slot = ink_slot(ink);
    if (slot < 0)
        return ink_heat(ink);
    return p->dark ? ink_dark(slot) : ink_light(slot);
}

/* ---------------------------------------------------------------- the mask */

static int limited(double x, int low, int high)
{
    return x <= low ? low : x >= high ? high : (int)x;
}

/* At least so much of the pixel is covered. */
static void cover(paint *p, int x, int y, double part)
{
    uint8_t *at = &p->mask[(size_t)y * (size_t)p->width + (size_t)x];
    int level = limited(part * 255 + 0.5, 0, 255);
    *at = level > *at ? (uint8_t)level : *at;
}

static void use(paint *p, int left, int top, int right, int down)
{
    p->left = left < p->left ? left : p->left;
    p->top = top < p->top ? top : p->top;
    p->right = right > p->right ? right : p->right;
    p->down = down > p->down ? down : p->down;
}

static double distance(draw_point a, draw_point step, double square, double x, double y)
{
    double t = square > 0 ? ((x - a.x) * step.x + (y - a.y) * step.y) / square : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return hypot(x - a.x - t * step.x, y - a.y - t * step.y);
}

/* Of each row, only the pixels near the part of the line that is near the row. */
void paint_line(paint *p, draw_point a, draw_point b, double width)
{
    double r = width / 2 + 1;
    draw_point step = { b.x - a.x, b.y - a.y };
    double square = step.x * step.x + step.y * step.y;
    int top = limited(fmin(a.y, b.y) - r, 0, p->height), down = limited(fmax(a.y, b.y) + r + 1, 0, p->height);
    for (int y = top; y < down; y++) {
        draw_point in = a, out = b;
        if (!draw_clip(&in, &out, (draw_point){ -DRAW_FAR * 32, y + 0.5 - r },
                       (draw_point){ DRAW_FAR * 32, y + 0.5 + r }))
            continue;
        int left = limited(fmin(in.x, out.x) - r, 0, p->width), right = limited(fmax(in.x, out.x) + r + 1, 0, p->width);
        for (int x = left; x < right; x++)
            cover(p, x, y, width / 2 + 0.5 - distance(a, step, square, x + 0.5, y + 0.5));
        use(p, left, y, right, y + 1);
    }
}

void paint_ring(paint *p, draw_point middle, double radius, double width)
{
    double r = radius + width / 2 + 1;
    int left = limited(middle.x - r, 0, p->width), right = limited(middle.x + r + 1, 0, p->width);
    int top = limited(middle.y - r, 0, p->height), down = limited(middle.y + r + 1, 0, p->height);
    for (int y = top; y < down; y++)
        for (int x = left; x < right; x++) {
            double from = hypot(x + 0.5 - middle.x, y + 0.5 - middle.y) - radius;
            cover(p, x, y, width > 0 ? width / 2 + 0.5 - fabs(from) : 0.5 - from);
        }
    use(p, left, top, right, down);
}

/* ---------------------------------------------------------------- areas */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* From a to b, a part of one row. */
static void add_span(paint *p, double a, double b)
{
    a = a < 0 ? 0 : a;
    b = b > p->width ? p->width : b;
    if (a >= b)
        return;
    int first = (int)a, last = limited(b, 0, p->width - 1);
    for (int x = first; x <= last; x++)
        p->row[x] += (fmin(b, x + 1) - fmax(a, x)) / SUBROWS;
    use(p, first, p->height, last + 1, 0);
}

static void add_subrow(paint *p, const draw_point *corner, size_t count, double y)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        draw_point a = corner[i], b = corner[(i + 1) % count];
        if ((a.y <= y) != (b.y <= y))
            p->crossing[found++] = a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x);
    }
    qsort(p->crossing, found, sizeof *p->crossing, by_size);
    for (size_t i = 0; i + 1 < found; i += 2)
        add_span(p, p->crossing[i], p->crossing[i + 1]);
}

static bool room_for(paint *p, size_t count)
{
    size_t bytes;
    if (count <= p->crossing_room)
        return true;
    double *more = io_mul(&bytes, count, sizeof *more) ? realloc(p->crossing, bytes) : NULL;
    p->failed = p->failed || !more;
    p->crossing = more ? more : p->crossing;
    p->crossing_room = more ? count : p->crossing_room;
    return more != NULL;
}

void paint_area(paint *p, const draw_point *corner, size_t count)
{
    double low = INFINITY, high = -INFINITY;
    if (!room_for(p, count))
        return;
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, corner[i].y);
        high = fmax(high, corner[i].y);
    }
    int top = limited(low, 0, p->height), down = limited(high + 1, 0, p->height);
    for (int y = top; y < down; y++) {
        memset(p->row, 0, (size_t)p->width * sizeof *p->row);
        for (int k = 0; k < SUBROWS; k++)
            add_subrow(p, corner, count, y + (k + 0.5) / SUBROWS);
        for (int x = p->left; x < p->right; x++)
            if (p->row[x] > 0)
                cover(p, x, y, p->row[x]);
        use(p, p->width, y, 0, y + 1);
    }
}

/* ---------------------------------------------------------------- colour */

static uint8_t mixed(uint8_t below, uint8_t above, int part)
{
    return (uint8_t)((below * (255 - part) + above * part + 127) / 255);
}

void paint_ink(paint *p, int ink, double alpha)
{
    draw_rgb c = paint_colour(p, ink);
    for (int y = p->top; y < p->down; y++)
        for (int x = p->left; x < p->right; x++) {
            size_t i = (size_t)y * (size_t)p->width + (size_t)x;
            if (!p->mask[i])
                continue;
            int part = limited(p->mask[i] * alpha + 0.5, 0, 255);
            uint8_t *at = p->rgb + 3 * i;
            at[0] = mixed(at[0], c.r, part);
            at[1] = mixed(at[1], c.g, part);
            at[2] = mixed(at[2], c.b, part);
            p->mask[i] = 0;
        }
    p->left = p->width;
    p->top = p->height;
    p->right = p->down = 0;
}
