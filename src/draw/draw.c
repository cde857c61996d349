/* SPDX-License-Identifier: MIT
 *
 * The list: shapes in order, their points and bytes in two pools. */
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

/* Room for more elements of unit bytes behind the count there are; false, and the list has failed, where there is none.
 */
static bool grow(draw *d, void *pool, size_t *room, size_t count, size_t more, size_t unit)
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

static void add_shape(draw *d, draw_shape s)
{
    if (grow(d, &d->shapes, &d->shape_room, d->shape_count, 1, sizeof *d->shapes))
        d->shapes[d->shape_count++] = s;
}

/* Where the copy stands. */
static size_t add_bytes(draw *d, const void *from, size_t size)
{
    size_t at = d->byte_count;
    if (!size || !grow(d, &d->bytes, &d->byte_room, at, size, 1))
        return 0;
    memcpy(d->bytes + at, from, size);
    d->byte_count += size;
    return at;
}

void draw_describe(draw *d, const char *title, const char *description)
{
    if (d->byte_count == 0)
        add_bytes(d, "", 1); /* so that 0 is no place of a text */
    d->title = title ? add_bytes(d, title, strlen(title) + 1) : 0;
    d->description = description ? add_bytes(d, description, strlen(description) + 1) : 0;
}

void draw_rename(draw *d, const char *title)
{
    d->title = add_bytes(d, title, strlen(title) + 1);
}

/* ---------------------------------------------------------------- shapes */

static double near_by(double x)
{
    return x > DRAW_FAR ? DRAW_FAR : x < -DRAW_FAR ? -DRAW_FAR : x;
}

static draw_style plain_style(draw_style s)
{
    s.width = s.width > 0 && isfinite(s.width) ? near_by(s.width) : 1;
    s.alpha = s.alpha > 0 && s.alpha < 1 ? s.alpha : 1;
    return s;
}

static bool is_point(draw_point p)
{
    return isfinite(p.x) && isfinite(p.y);
}

static void end_path(draw *d, size_t first, bool closed, draw_style s)
{
    size_t count = d->point_count - first;
    if (!d->failed && count > 0)
        add_shape(d, (draw_shape){ .kind = SHAPE_PATH, .style = s, .closed = closed, .first = first, .count = count });
}

/* An open path breaks where a point is missing; an area goes on without it. */
void draw_path(draw *d, const draw_point *p, int count, bool closed, draw_style s)
{
    size_t first = d->point_count;
    if (count <= 0 || !grow(d, &d->points, &d->point_room, first, (size_t)count, sizeof *p))
        return;
    s = plain_style(s);
    for (int i = 0; i < count; i++) {
        if (is_point(p[i])) {
            d->points[d->point_count++] = (draw_point){ near_by(p[i].x), near_by(p[i].y) };
        } else if (!closed) {
            end_path(d, first, false, s);
            first = d->point_count;
        }
    }
    end_path(d, first, closed, s);
}

void draw_rect(draw *d, double x, double y, double width, double height, draw_style s)
{
    if (isfinite(x) && isfinite(y) && width > 0 && height > 0 && isfinite(width) && isfinite(height))
        add_shape(d, (draw_shape){ .kind = SHAPE_RECT,
                                   .style = plain_style(s),
                                   .x = near_by(x),
                                   .y = near_by(y),
                                   .width = near_by(width),
                                   .height = near_by(height) });
}

void draw_circle(draw *d, double x, double y, double radius, draw_style s)
{
    if (isfinite(x) && isfinite(y) && radius > 0 && isfinite(radius))
        add_shape(d, (draw_shape){ .kind = SHAPE_CIRCLE,
                                   .style = plain_style(s),
                                   .x = near_by(x),
                                   .y = near_by(y),
                                   .width = near_by(radius) });
}

void draw_cells(draw *d, double x, double y, double width, double height, int rows, int columns, const uint8_t *heat)
{
    size_t size;
    bool finite = isfinite(x) && isfinite(y) && isfinite(width) && isfinite(height);
    if (!finite || width <= 0 || height <= 0 || rows <= 0 || columns <= 0)
        return;
    if (!io_mul(&size, (size_t)rows, (size_t)columns)) {
        d->failed = true;
        return;
    }
    size_t first = add_bytes(d, heat, size);
    add_shape(d, (draw_shape){ .kind = SHAPE_CELLS,
                               .x = near_by(x),
                               .y = near_by(y),
                               .width = near_by(width),
                               .height = near_by(height),
                               .rows = rows,
                               .columns = columns,
                               .first = first,
                               .count = size });
}

void draw_text(draw *d, double x, double y, double size, draw_anchor anchor, int ink, bool turned, const char *text)
{
    if (!isfinite(x) || !isfinite(y) || !(size > 0) || !isfinite(size) || !text || !*text)
        return;
    size_t count = strlen(text), first = add_bytes(d, text, count + 1);
    draw_style s = plain_style((draw_style){ .line = INK_NONE, .fill = ink });
    add_shape(d, (draw_shape){ .kind = SHAPE_TEXT,
                               .style = s,
                               .anchor = anchor,
                               .turned = turned,
                               .x = near_by(x),
                               .y = near_by(y),
                               .height = near_by(size),
                               .first = first,
                               .count = count });
}

/* ---------------------------------------------------------------- lists in lists */

static void place_path(draw *d, const draw *from, const draw_shape *s, double x, double y)
{
    size_t first = d->point_count;
    if (!grow(d, &d->points, &d->point_room, first, s->count, sizeof *d->points))
        return;
    for (size_t i = 0; i < s->count; i++) {
        draw_point p = from->points[s->first + i];
        d->points[d->point_count++] = (draw_point){ near_by(p.x + x), near_by(p.y + y) };
    }
    end_path(d, first, s->closed, s->style);
}

void draw_place(draw *d, const draw *from, double x, double y)
{
    d->failed = d->failed || from->failed;
    for (size_t i = 0; i < from->shape_count && !d->failed; i++) {
        draw_shape s = from->shapes[i];
        if (s.kind == SHAPE_PATH) {
            place_path(d, from, &s, x, y);
            continue;
        }
        s.x = near_by(s.x + x);
        s.y = near_by(s.y + y);
        if (s.kind == SHAPE_TEXT || s.kind == SHAPE_CELLS)
            s.first = add_bytes(d, from->bytes + s.first, s.count + (s.kind == SHAPE_TEXT));
        add_shape(d, s);
    }
}
