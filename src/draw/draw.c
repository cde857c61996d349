/* SPDX-License-Identifier: MIT
 *
 * The list of shapes: shapes in order, their points and bytes in two pools; what the writers ask of them; the colours.
 */
#include "draw/list.h"

#include "io/checked.h"
#include "io/io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MOST 100000.0 /* pixels of a picture */

pe_status draw_new(draw **out, double width, double height, pe_error *err)
{
    *out = NULL;
    if (!(width > 0 && width <= SIZE_MOST && height > 0 && height <= SIZE_MOST))
        return io_fail(err, PE_ERR_RANGE, "a picture of %g by %g pixels; needs sizes above 0, at most %g", width,
                       height, SIZE_MOST);
    draw *d = calloc(1, sizeof *d);
    if (!d)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a picture");
    d->width = width;
    d->height = height;
    *out = d;
    return PE_OK;
}

void draw_free(draw *d)
{
    if (!d)
        return;
    free(d->shapes);
    free(d->points);
    free(d->bytes);
    free(d);
}

pe_status draw_status(const draw *d, pe_error *err)
{
    if (d->failed)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a picture of more than %zu shapes", d->shape_count);
    return PE_OK;
}

/* Makes room for more elements of unit bytes behind the count that are there. Without memory the list has failed. */
static bool draw_grow(draw *d, void *pool, size_t *room, size_t count, size_t more, size_t unit)
{
    size_t need, bytes;
    void *at;
    memcpy(&at, pool, sizeof at);
    if (d->failed || !io_add(&need, count, more)) {
        d->failed = true;
        return false;
    }
    if (need <= *room)
        return true;
    need = need < 16 ? 16 : need;
    at = io_mul(&need, need, 2) && io_mul(&bytes, need, unit) ? realloc(at, bytes) : NULL;
    if (!at) {
        d->failed = true;
        return false;
    }
    memcpy(pool, &at, sizeof at);
    *room = need;
    return true;
}

static void draw_add_shape(draw *d, draw_shape s)
{
    if (draw_grow(d, &d->shapes, &d->shape_room, d->shape_count, 1, sizeof *d->shapes))
        d->shapes[d->shape_count++] = s;
}

/* Copies bytes into the pool; returns where they are. */
static size_t draw_add_bytes(draw *d, const void *from, size_t size)
{
    size_t at = d->byte_count;
    if (!size || !draw_grow(d, &d->bytes, &d->byte_room, at, size, 1))
        return 0;
    memcpy(d->bytes + at, from, size);
    d->byte_count += size;
    return at;
}

void draw_describe(draw *d, const char *title, const char *description)
{
    if (d->byte_count == 0)
        draw_add_bytes(d, "", 1); /* so that offset 0 means no text */
    d->title = title ? draw_add_bytes(d, title, strlen(title) + 1) : 0;
    d->description = description ? draw_add_bytes(d, description, strlen(description) + 1) : 0;
}

void draw_rename(draw *d, const char *title)
{
    d->title = draw_add_bytes(d, title, strlen(title) + 1);
}

/* ---------------------------------------------------------------- shapes */

static double number_near(double x)
{
    return x > DRAW_FAR ? DRAW_FAR : x < -DRAW_FAR ? -DRAW_FAR : x;
}

static draw_style style_filled_in(draw_style s)
{
    s.width = s.width > 0 && isfinite(s.width) ? number_near(s.width) : 1;
    s.alpha = s.alpha > 0 && s.alpha < 1 ? s.alpha : 1;
    return s;
}

static void path_end(draw *d, size_t first, bool closed, draw_style s)
{
    size_t count = d->point_count - first;
    if (!d->failed && count > 0)
        draw_add_shape(
            d, (draw_shape){ .kind = SHAPE_PATH, .style = s, .closed = closed, .first = first, .count = count });
}

/* An open path breaks where a point is missing; an area goes on without it. */
void draw_path(draw *d, const draw_point *p, int count, bool closed, draw_style s)
{
    size_t first = d->point_count;
    if (count <= 0 || !draw_grow(d, &d->points, &d->point_room, first, (size_t)count, sizeof *p))
        return;
    s = style_filled_in(s);
    for (int i = 0; i < count; i++) {
        if (isfinite(p[i].x) && isfinite(p[i].y)) {
            d->points[d->point_count++] = (draw_point){ number_near(p[i].x), number_near(p[i].y) };
        } else if (!closed) {
            path_end(d, first, false, s);
            first = d->point_count;
        }
    }
    path_end(d, first, closed, s);
}

/* Adds a shape with a place and a size, unless its numbers are not finite or its size is not positive. */
static void draw_add_sized(draw *d, draw_shape s)
{
    bool finite = isfinite(s.x) && isfinite(s.y) && isfinite(s.width) && isfinite(s.height);
    if (!finite || s.width <= 0 || s.height <= 0)
        return;
    s.style = style_filled_in(s.style);
    s.x = number_near(s.x);
    s.y = number_near(s.y);
    s.width = number_near(s.width);
    s.height = number_near(s.height);
    draw_add_shape(d, s);
}

void draw_rect(draw *d, double x, double y, double width, double height, draw_style s)
{
    draw_add_sized(d, (draw_shape){ .kind = SHAPE_RECT, .style = s, .x = x, .y = y, .width = width, .height = height });
}

void draw_circle(draw *d, double x, double y, double radius, draw_style s)
{
    draw_add_sized(d,
                   (draw_shape){ .kind = SHAPE_CIRCLE, .style = s, .x = x, .y = y, .width = radius, .height = radius });
}

void draw_cells(draw *d, double x, double y, double width, double height, int rows, int columns, int zero,
                const uint8_t *heat)
{
    draw_shape s = { .kind = SHAPE_CELLS, .x = x, .y = y, .width = width, .height = height };
    if (rows <= 0 || columns <= 0)
        return;
    if (!io_mul(&s.count, (size_t)rows, (size_t)columns)) {
        d->failed = true;
        return;
    }
    s.rows = rows;
    s.columns = columns;
    s.zero = (uint8_t)zero;
    s.first = draw_add_bytes(d, heat, s.count);
    draw_add_sized(d, s);
}

void draw_text(draw *d, double x, double y, double size, draw_anchor anchor, int ink, bool vertical, const char *text)
{
    if (!text || !*text)
        return;
    draw_shape s = {
        .kind = SHAPE_TEXT, .anchor = anchor, .vertical = vertical, .x = x, .y = y, .count = strlen(text)
    };
    s.style = (draw_style){ .stroke = INK_NONE, .fill = ink };
    s.width = s.height = size;
    s.first = draw_add_bytes(d, text, s.count + 1);
    draw_add_sized(d, s);
}

/* ---------------------------------------------------------------- lists in lists */

static void path_place(draw *d, const draw *from, const draw_shape *s, double x, double y)
{
    size_t first = d->point_count;
    if (!draw_grow(d, &d->points, &d->point_room, first, s->count, sizeof *d->points))
        return;
    for (size_t i = 0; i < s->count; i++) {
        draw_point p = from->points[s->first + i];
        d->points[d->point_count++] = (draw_point){ number_near(p.x + x), number_near(p.y + y) };
    }
    path_end(d, first, s->closed, s->style);
}

void draw_place(draw *d, const draw *from, double x, double y)
{
    d->failed = d->failed || from->failed;
    for (size_t i = 0; i < from->shape_count && !d->failed; i++) {
        draw_shape s = from->shapes[i];
        if (s.kind == SHAPE_PATH) {
            path_place(d, from, &s, x, y);
            continue;
        }
        s.x = number_near(s.x + x);
        s.y = number_near(s.y + y);
        if (s.kind == SHAPE_TEXT || s.kind == SHAPE_CELLS)
            s.first = draw_add_bytes(d, from->bytes + s.first, s.count + (s.kind == SHAPE_TEXT));
        draw_add_shape(d, s);
    }
}

/* ---------------------------------------------------------------- what writers ask of shapes */

/* Narrows [*in, *out] to the t where from + t * step lies between low and high; false where there is none. */
static bool clip_side(double from, double step, double low, double high, double *in, double *out)
{
    if (step == 0)
        return from >= low && from <= high;
    double a = (low - from) / step, b = (high - from) / step;
    double first = a < b ? a : b, last = a < b ? b : a;
    *in = first > *in ? first : *in;
    *out = last < *out ? last : *out;
    return *in <= *out;
}

bool draw_clip(draw_point *a, draw_point *b, draw_point low, draw_point high)
{
    double in = 0, out = 1;
    draw_point from = *a, step = { b->x - a->x, b->y - a->y };
    if (!clip_side(from.x, step.x, low.x, high.x, &in, &out) || !clip_side(from.y, step.y, low.y, high.y, &in, &out))
        return false;
    if (in > 0)
        *a = (draw_point){ from.x + in * step.x, from.y + in * step.y };
    if (out < 1)
        *b = (draw_point){ from.x + out * step.x, from.y + out * step.y };
    return true;
}

/* Finds the cells that the interval from .. to covers, in units of a cell; of a narrow interval the one in its middle.
 */
static void cells_covered(double from, double to, int count, int *first, int *end)
{
    if (to - from < 1.5)
        from = to = (from + to) / 2;
    *first = from < 0 ? 0 : (int)floor(from + 1e-9);
    *end = to > count ? count : (int)ceil(to - 1e-9);
    *first = *first < count ? *first : count - 1;
    *end = *end > *first ? *end : *first + 1;
}

/* Averages the cells that are there, so that a pattern finer than the pixels becomes even and makes no moire. */
uint8_t draw_cells_mean(const draw *d, const draw_shape *s, cells_box box)
{
    const uint8_t *heat = (const uint8_t *)d->bytes + s->first;
    int row[2], column[2];
    cells_covered(box.left, box.right, s->columns, &column[0], &column[1]);
    cells_covered(box.top, box.down, s->rows, &row[0], &row[1]);
    uint64_t sum = 0, count = 0;
    for (int r = row[0]; r < row[1]; r++)
        for (int c = column[0]; c < column[1]; c++) {
            uint8_t h = heat[(size_t)r * (size_t)s->columns + (size_t)c];
            sum += h == DRAW_NOTHING ? 0 : h;
            count += h != DRAW_NOTHING;
        }
    if (!count)
        return DRAW_NOTHING;
    return (uint8_t)((sum + count / 2) / count);
}

/* ---------------------------------------------------------------- inks */

/* Series: hues after Okabe and Ito's set for colour-blind readers, continued, and moved by a search until any two
 * differ by 13 or more (CIE76) for readers with and without colour blindness of each kind (Machado, Oliveira and
 * Fernandes 2009), and small text is readable on its paper (a contrast of 4.5, WCAG 2.2; 3 on a terminal, whose paper
 * is not known). */
const draw_ink_row inks[INK_SLOTS] = {
    { { 0xff, 0xff, 0xff }, { 0x15, 0x18, 0x1d }, { 0x00, 0x00, 0x00 } }, /* paper */
    { { 0x1c, 0x20, 0x26 }, { 0xe9, 0xeb, 0xee }, { 0x80, 0x80, 0x80 } }, /* text */
    { { 0x5f, 0x67, 0x72 }, { 0x9b, 0xa3, 0xae }, { 0x80, 0x86, 0x90 } }, /* faint */
    { { 0xe1, 0xe4, 0xe8 }, { 0x2e, 0x34, 0x3c }, { 0x70, 0x76, 0x80 } }, /* grid */
    { { 0x00, 0x49, 0xa5 }, { 0x00, 0xa0, 0xff }, { 0x00, 0x8c, 0xff } }, /* blue */
    { { 0xc7, 0x19, 0x00 }, { 0xcb, 0x67, 0x05 }, { 0xa8, 0x3c, 0x00 } }, /* vermilion */
    { { 0x48, 0x83, 0x58 }, { 0x48, 0x9d, 0x65 }, { 0x0a, 0x6d, 0x47 } }, /* green */
    { { 0xa6, 0x5e, 0x8f }, { 0xbc, 0x8b, 0xb9 }, { 0x96, 0x44, 0x9a } }, /* purple */
    { { 0x6c, 0x6e, 0x10 }, { 0xff, 0xbc, 0x00 }, { 0xd6, 0x81, 0x00 } }, /* gold */
    { { 0x23, 0x33, 0x3f }, { 0xe1, 0xe1, 0xd5 }, { 0x8e, 0x96, 0x9d } }, /* slate */
    { { 0x02, 0x7e, 0xb2 }, { 0x72, 0xe6, 0xff }, { 0x4d, 0x9c, 0xd1 } }, /* cyan */
    { { 0x6e, 0x00, 0x20 }, { 0xff, 0x90, 0x9a }, { 0xf8, 0x35, 0x74 } }, /* wine */
    { { 0x42, 0x2f, 0xc4 }, { 0x8c, 0x73, 0xcb }, { 0x5a, 0x44, 0xbe } }, /* indigo */
    { { 0x63, 0x7f, 0x3d }, { 0xb9, 0xee, 0x52 }, { 0xa3, 0x95, 0x36 } }, /* olive */
    { { 0x6a, 0x2e, 0x00 }, { 0xff, 0xd0, 0x94 }, { 0x82, 0x4c, 0x22 } }, /* brown */
    { { 0xb0, 0x00, 0x66 }, { 0xe3, 0x42, 0x8d }, { 0xb8, 0x00, 0x72 } }, /* pink */
};

int ink_slot(int ink)
{
    if (ink >= INK_PAPER && ink <= INK_GRID)
        return ink;
    return ink >= INK_SERIES ? INK_PAPERS + (ink - INK_SERIES) % INK_COLOURS : -1;
}

/* How far a level lies from zero, 0 to 255, where the farther end of the scale is 255. */
static int heat_strength(int level, int zero)
{
    const int top = DRAW_LEVELS - 1;
    int most = zero > top - zero ? zero : top - zero, far = abs((level > top ? top : level) - zero);
    return (255 * far + most / 2) / most;
}

/* Orange and blue differ for readers with each kind of colour blindness, and both stand out from white and from black. */
draw_tint heat_tint(int level, int zero)
{
    static const draw_rgb above = { 0xc8, 0x4e, 0x00 }, below = { 0x00, 0x74, 0xb0 };
    return (draw_tint){ level < zero ? below : above, (uint8_t)heat_strength(level, zero) };
}

draw_rgb heat_terminal(int level, int zero)
{
    static const draw_rgb above = { 0xff, 0x9a, 0x3c }, below = { 0x4c, 0xb8, 0xff };
    draw_rgb end = level < zero ? below : above;
    int part = heat_strength(level, zero);
    return (draw_rgb){ (uint8_t)(end.r * part / 255), (uint8_t)(end.g * part / 255), (uint8_t)(end.b * part / 255) };
}
