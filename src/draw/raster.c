/* SPDX-License-Identifier: MIT
 *
 * Lines and areas as dots of a canvas. */
#include "draw/raster.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- one dot */

/* What a line looks like in ASCII: a letter for each series, as there is no colour that could tell them apart. */
static uint8_t glyph_of(int ink, bool is_flat)
{
    static const char letters[] = "*o+x#@%&=~$^";
    if (ink == INK_GRID)
        return '.';
    int slot = ink_slot(ink);
    return (uint8_t)(slot >= INK_PAPERS ? letters[slot - INK_PAPERS] : is_flat ? '-' : '|');
}

static uint8_t dot_bit(const canvas *c, int x, int y)
{
    static const uint8_t bits[4][2] = { { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 } };
    return bits[y % c->down][x % c->across];
}

typedef struct pen {
    int ink;
    bool is_soft;
    bool is_flat; /* more across than down */
} pen;

static void put_dot(canvas *c, int x, int y, pen p)
{
    if (x < 0 || y < 0 || x >= c->columns * c->across || y >= c->rows * c->down)
        return;
    canvas_cell *at = &c->cells[y / c->down * c->columns + x / c->across];
    if (at->code || (p.is_soft && at->dots && !at->is_soft))
        return;
    if (at->is_soft && (!p.is_soft || at->ink != p.ink))
        at->dots = 0;
    if (p.ink == INK_PAPER) {
        at->dots = c->across == 1 ? 0 : at->dots & (uint8_t)~dot_bit(c, x, y);
        return;
    }
    at->dots = c->across == 1 ? glyph_of(p.ink, p.is_flat) : at->dots | dot_bit(c, x, y);
    at->is_soft = p.is_soft;
    at->ink = p.ink;
}

/* ---------------------------------------------------------------- lines */

/* Whether the n-th dot of a line is there. */
static bool is_on(const canvas *c, draw_style s, long n, int x, int y)
{
    if (s.line == INK_GRID)
        return (x + y) % 4 == 0;
    if (s.dash == DASH_DOT)
        return n % (c->across == 1 ? 2 : 3) == 0;
    return s.dash != DASH_LONG || n % (c->across == 1 ? 3 : 6) < (c->across == 1 ? 2 : 4);
}

/* Dots lie at the middles of their squares. n: dots of the path before this piece. */
static void draw_piece(canvas *c, draw_point a, draw_point b, draw_style s, long *n)
{
    draw_point low = { 0, 0 }, high = { c->columns * c->across - 0.01, c->rows * c->down - 0.01 };
    if (!draw_clip(&a, &b, low, high))
        return;
    double dx = b.x - a.x, dy = b.y - a.y;
    int steps = (int)fmax(fabs(dx), fabs(dy)) + 1; /* less than a dot each: rounding leaves no gap */
    pen p = { .ink = s.line, .is_soft = s.line == INK_GRID, .is_flat = fabs(dx) > fabs(dy) };
    for (int i = 0; i <= steps; i++) {
        double part = (double)i / steps;
        int x = (int)floor(a.x + part * dx), y = (int)floor(a.y + part * dy);
        if (is_on(c, s, *n + i, x, y))
            put_dot(c, x, y, p);
    }
    *n += steps;
}

static draw_point scaled(const canvas *c, draw_point p)
{
    return (draw_point){ p.x * c->scale_x, p.y * c->scale_y };
}

/* ---------------------------------------------------------------- areas */

/* c->inside for the middles of one row of dots: every edge that crosses the row turns what lies right of it over. */
static void mark_row(canvas *c, const draw_point *p, size_t count, int row)
{
    int width = c->columns * c->across;
    memset(c->inside, 0, (size_t)width + 1);
    for (size_t i = 0; i < count; i++) {
        draw_point a = scaled(c, p[i]), b = scaled(c, p[(i + 1) % count]);
        double y = row + 0.5;
        if ((a.y <= y) == (b.y <= y))
            continue;
        double x = a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x) + 0.5;
        int first = x < 0 ? 0 : x > width ? width : (int)floor(x);
        c->inside[first] = !c->inside[first];
    }
    for (int x = 1; x < width; x++)
        c->inside[x] = c->inside[x] != c->inside[x - 1];
}

/* Light areas are a scatter of dots. */
static void fill_area(canvas *c, const draw_point *p, size_t count, draw_style s)
{
    pen with = { .ink = s.fill, .is_soft = s.alpha < 0.5, .is_flat = true };
    double top = INFINITY, bottom = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        top = fmin(top, p[i].y * c->scale_y);
        bottom = fmax(bottom, p[i].y * c->scale_y);
    }
    int last = c->rows * c->down - 1;
    last = bottom < last ? (int)floor(fmax(bottom, -1)) : last;
    for (int y = top > 0 ? (int)fmin(floor(top), last + 1) : 0; y <= last; y++) {
        mark_row(c, p, count, y);
        for (int x = 0; x < c->columns * c->across; x++)
            if (c->inside[x] && (!with.is_soft || (x + 2 * y) % 4 == 0))
                put_dot(c, x, y, with);
    }
}

void raster_path(canvas *c, const draw_point *p, size_t count, bool closed, draw_style s)
{
    long n = 0;
    if (s.fill != INK_NONE && closed && !(s.fill != INK_PAPER && s.alpha < 0.5 && c->across == 1))
        fill_area(c, p, count, s);
    if (s.line == INK_NONE || s.line == INK_PAPER)
        return;
    for (size_t i = 0; i + 1 < count + (closed || count == 1); i++)
        draw_piece(c, scaled(c, p[i]), scaled(c, p[(i + 1) % count]), s, &n);
}

void raster_circle(canvas *c, double x, double y, double radius, draw_style s)
{
    draw_point p[RASTER_CIRCLE], middle = scaled(c, (draw_point){ x, y });
    for (int i = 0; i < RASTER_CIRCLE; i++) {
        double turn = 2 * 3.14159265358979324 * i / RASTER_CIRCLE;
        p[i] = (draw_point){ x + radius * cos(turn), y + radius * sin(turn) };
    }
    raster_path(c, p, RASTER_CIRCLE, true, s);
    if (s.fill != INK_NONE && fabs(middle.x) < 1e6 && fabs(middle.y) < 1e6)
        put_dot(c, (int)floor(middle.x), (int)floor(middle.y), (pen){ .ink = s.fill, .is_flat = true });
}
