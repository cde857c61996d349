/* SPDX-License-Identifier: MIT
 *
 * The shapes of a list as masks. */
#include "draw/paint.h"

#include "draw/png.h"
#include "io/checked.h"
#include "io/io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_inked(int ink)
{
    return ink_slot(ink) >= 0 || ink_is_heat(ink);
}

static draw_point scaled(const paint *p, draw_point at)
{
    return (draw_point){ at.x * p->scale, at.y * p->scale };
}

/* ---------------------------------------------------------------- lines */

/* A dash that goes on from piece to piece. */
typedef struct dash {
    double on, off; /* 0: no dash */
    double done;    /* of the pattern */
} dash;

static void put_piece(paint *p, draw_point a, draw_point b, double width, dash *d)
{
    double length = hypot(b.x - a.x, b.y - a.y), at = 0;
    if (d->on + d->off <= 0 || length == 0) {
        paint_line(p, a, b, width);
        return;
    }
    while (at < length) {
        bool on = d->done < d->on;
        double step = fmin((on ? d->on : d->on + d->off) - d->done, length - at);
        double from = at / length, to = (at + step) / length;
        if (on)
            paint_line(p, (draw_point){ a.x + from * (b.x - a.x), a.y + from * (b.y - a.y) },
                       (draw_point){ a.x + to * (b.x - a.x), a.y + to * (b.y - a.y) }, width);
        at += fmax(step, 1e-3);
        d->done = d->done + step >= d->on + d->off - 1e-9 ? 0 : d->done + step;
    }
}

/* A line along the rows or columns of pixels lies on whole ones. */
static double on_pixels(double at, double width)
{
    double whole = fmax(round(width), 1);
    return round(at - whole / 2) + whole / 2;
}

static void straighten(draw_point *a, draw_point *b, double width)
{
    if (a->y == b->y)
        a->y = b->y = on_pixels(a->y, width);
    else if (a->x == b->x)
        a->x = b->x = on_pixels(a->x, width);
}

static void put_line(paint *p, const draw_point *at, size_t count, bool closed, draw_style s)
{
    static const double on[] = { 0, 4, 0.01 }, off[] = { 0, 3, 2.2 }; /* as svg.c has them */
    double width = s.width * p->scale;
    dash d = { .on = on[s.dash] * width, .off = off[s.dash] * width };
    for (size_t i = 0; i + 1 < count + (closed || count == 1); i++) {
        draw_point a = scaled(p, at[i]), b = scaled(p, at[(i + 1) % count]);
        draw_point low = { -2 * width, -2 * width }, high = { p->width + 2 * width, p->height + 2 * width };
        if (count == 2 || closed)
            straighten(&a, &b, width);
        if (draw_clip(&a, &b, low, high)) /* dashes far outside are many, and nobody sees them */
            put_piece(p, a, b, width, &d);
    }
    paint_ink(p, s.line, 1);
}

static void put_area(paint *p, const draw_point *at, size_t count, draw_style s)
{
    size_t bytes;
    draw_point *corner = io_mul(&bytes, count, sizeof *corner) ? malloc(bytes) : NULL;
    if (!corner) {
        p->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        corner[i] = scaled(p, at[i]);
    paint_area(p, corner, count);
    paint_ink(p, s.fill, s.alpha);
    free(corner);
}

static void put_path(paint *p, const draw_point *at, size_t count, bool closed, draw_style s)
{
    if (is_inked(s.fill))
        put_area(p, at, count, s);
    if (is_inked(s.line))
        put_line(p, at, count, closed, s);
}

static void put_rect(paint *p, const draw_shape *s)
{
    draw_point corner[4] = {
        { s->x, s->y }, { s->x + s->width, s->y }, { s->x + s->width, s->y + s->height }, { s->x, s->y + s->height }
    };
    put_path(p, corner, 4, true, s->style);
}

static void put_circle(paint *p, const draw_shape *s)
{
    draw_point middle = scaled(p, (draw_point){ s->x, s->y });
    if (is_inked(s->style.fill)) {
        paint_ring(p, middle, s->width * p->scale, 0);
        paint_ink(p, s->style.fill, s->style.alpha);
    }
    if (is_inked(s->style.line)) {
        paint_ring(p, middle, s->width * p->scale, s->style.width * p->scale);
        paint_ink(p, s->style.line, 1);
    }
}

/* ---------------------------------------------------------------- cells */

static void put_pixel(paint *p, int x, int y, uint8_t heat)
{
    draw_rgb c = ink_heat(INK_HEAT + heat);
    if (heat != DRAW_NOTHING)
        memcpy(p->rgb + 3 * ((size_t)y * (size_t)p->width + (size_t)x), (uint8_t[3]){ c.r, c.g, c.b }, 3);
}

static void put_cells(paint *p, const draw *d, const draw_shape *s)
{
    double wide = s->columns / (s->width * p->scale), high = s->rows / (s->height * p->scale);
    double left = round(s->x * p->scale), top = round(s->y * p->scale);
    double right = left + round(s->width * p->scale), down = top + round(s->height * p->scale);
    int x0 = (int)fmin(fmax(left, 0), p->width), x1 = (int)fmin(fmax(right, 0), p->width);
    int y0 = (int)fmin(fmax(top, 0), p->height), y1 = (int)fmin(fmax(down, 0), p->height);
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            cells_box box = { (x - left) * wide, (x + 1 - left) * wide, (y - top) * high, (y + 1 - top) * high };
            put_pixel(p, x, y, draw_cells_mean(d, s, box));
        }
}

/* ---------------------------------------------------------------- text */

typedef struct pen {
    paint *p;
    draw_point at; /* where the text begins, on its line */
    double size, width;
    bool turned;
} pen;

static draw_point place(const pen *n, draw_point a)
{
    double x = a.x * n->size, y = a.y * n->size;
    return n->turned ? (draw_point){ n->at.x - y, n->at.y - x } : (draw_point){ n->at.x + x, n->at.y - y };
}

static void stroke(void *with, draw_point a, draw_point b)
{
    const pen *n = with;
    paint_line(n->p, place(n, a), place(n, b), n->width);
}

static void put_text(paint *p, const draw *d, const draw_shape *s)
{
    const char *text = d->bytes + s->first;
    bool bold = s->height >= DRAW_BOLD || s->style.fill >= INK_SERIES;
    double size = s->height * p->scale, back = s->anchor == ANCHOR_END ? 1 : s->anchor == ANCHOR_MIDDLE ? 0.5 : 0;
    pen n = { .p = p, .at = scaled(p, (draw_point){ s->x, s->y }), .size = size, .turned = s->turned };
    if (!is_inked(s->style.fill))
        return;
    n.width = size * (bold ? 0.118 : 0.084);
    back *= font_width(text) * size;
    if (s->turned)
        n.at = (draw_point){ round(n.at.x), n.at.y + back };
    else
        n.at = (draw_point){ n.at.x - back, round(n.at.y) };
    font_strokes(text, stroke, &n);
    paint_ink(p, s->style.fill, 1);
}

void paint_shape(paint *p, const draw *d, const draw_shape *s)
{
    switch (s->kind) {
    case SHAPE_PATH: put_path(p, d->points + s->first, s->count, s->closed, s->style); break;
    case SHAPE_RECT: put_rect(p, s); break;
    case SHAPE_CIRCLE: put_circle(p, s); break;
    case SHAPE_CELLS: put_cells(p, d, s); break;
    case SHAPE_TEXT: put_text(p, d, s); break;
    }
}

/* ---------------------------------------------------------------- the picture */

pe_status draw_png(FILE *to, const draw *d, bool dark, double scale, pe_error *err)
{
    paint p;
    byte_sink file = { 0 };
    pe_status s = draw_status(d, err);
    s = s ? s : paint_new(&p, d, scale > 0 ? scale : paint_scale(d), dark, err);
    if (s)
        return s;
    for (size_t i = 0; i < d->shape_count; i++)
        paint_shape(&p, d, &d->shapes[i]);
    png_pixels(&file, p.rgb, p.width, p.height);
    if (p.failed || file.failed)
        s = io_fail(err, PE_ERR_NOMEM, "no memory for a picture of %d by %d pixels", p.width, p.height);
    else if (fwrite(file.at, 1, file.size, to) != file.size)
        s = io_fail(err, PE_ERR_IO, "the picture could not be written");
    free(file.at);
    paint_free(&p);
    return s;
}
