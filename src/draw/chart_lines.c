/* SPDX-License-Identifier: MIT
 *
 * The data in the frame: bands, lines, dots. */
#include "draw/chart.h"

#include "io/checked.h"

#include <math.h>
#include <stdlib.h>

/* Many points look like noise, and are drawn with a finer line. */
static double series_width(const chart_series *s)
{
    return s->count > 100 ? 1.5 : 2.25;
}

/* The seventh series and those after it get a dash, as many hues are hard to tell apart. */
draw_dash chart_dash(const chart_series *s)
{
    int n = s->ink - INK_SERIES;
    return s->dash != DASH_NONE || n < 6 ? s->dash : n < INK_COLOURS ? DASH_LONG : DASH_DOT;
}

static draw_point series_point(const chart_plan *p, const chart_series *s, int i)
{
    return (draw_point){ axis_at(&p->x, s->x[i]), axis_at(&p->y, s->y[i]) };
}

static bool point_is_there(draw_point at)
{
    return !isnan(at.x) && !isnan(at.y);
}

static bool point_is_inside(const chart_plan *p, draw_point at)
{
    const double slack = 0.01;
    return at.x >= p->low.x - slack && at.x <= p->high.x + slack && at.y >= p->low.y - slack &&
           at.y <= p->high.y + slack;
}

/* ---------------------------------------------------------------- lines */

static bool points_share_column(draw_point a, draw_point b)
{
    return point_is_there(a) && point_is_there(b) && fabs(a.x - b.x) < 0.5;
}

/* Keeps, of the points within half a pixel, the first, the lowest, the highest and the last, in their order, so that
 * the line looks the same. Works in place; returns how many are left. */
static int points_thin(draw_point *p, int count)
{
    int kept = 0;
    for (int first = 0, next; first < count; first = next) {
        int low = first, high = first;
        for (next = first + 1; next < count && points_share_column(p[first], p[next]); next++) {
            low = p[next].y < p[low].y ? next : low;
            high = p[next].y > p[high].y ? next : high;
        }
        int keep[4] = { first, low < high ? low : high, low < high ? high : low, next - 1 };
        for (int k = 0; k < 4; k++)
            if (k == 0 || keep[k] != keep[k - 1])
                p[kept++] = p[keep[k]];
    }
    return kept;
}

/* Draws the pieces of a line that lie in the frame, each as one path. room holds twice the series' points, and two. */
static void series_put_line(const chart_plan *p, const chart_series *s, draw_point *room)
{
    draw_style style = { .stroke = s->ink, .fill = INK_NONE, .width = series_width(s), .dash = chart_dash(s) };
    draw_point *at = room, *path = room + s->count;
    for (int i = 0; i < s->count; i++)
        at[i] = series_point(p, s, i);
    int all = points_thin(at, s->count), count = 0;
    for (int i = 1; i < all; i++) {
        draw_point a = at[i - 1], b = at[i];
        bool seen = point_is_there(a) && point_is_there(b) && draw_clip(&a, &b, p->low, p->high);
        if (seen && count == 0)
            path[count++] = a;
        if (seen)
            path[count++] = b;
        if (!seen || b.x != at[i].x || b.y != at[i].y) {
            draw_path(p->d, path, count, false, style);
            count = 0;
        }
    }
    draw_path(p->d, path, count, false, style);
}

/* A point without neighbours makes no line, so it gets a dot. */
static bool series_point_is_alone(const chart_plan *p, const chart_series *s, int i)
{
    return (i == 0 || !point_is_there(series_point(p, s, i - 1))) &&
           (i + 1 == s->count || !point_is_there(series_point(p, s, i + 1)));
}

static void series_put_dots(const chart_plan *p, const chart_series *s)
{
    draw_style style = { .stroke = INK_PAPER, .fill = s->ink, .width = 1.25 };
    for (int i = 0; i < s->count; i++) {
        draw_point at = series_point(p, s, i);
        if (point_is_there(at) && point_is_inside(p, at) && (s->dots || series_point_is_alone(p, s, i)))
            draw_circle(p->d, at.x, at.y, s->dots ? 3.5 : 4, style);
    }
}

/* ---------------------------------------------------------------- bands */

static double frame_clamp_y(const chart_plan *p, double y)
{
    return y < p->low.y ? p->low.y : y > p->high.y ? p->high.y : y;
}

/* A log axis has no place for a bound of 0 or less: it lies below the frame. */
static double band_bound_at(const chart_plan *p, double v)
{
    return p->y.log && v <= 0 ? p->high.y + DRAW_FAR : axis_at(&p->y, v);
}

/* Follows a bound from point i to point k, clamped to the frame, with the points where it leaves and returns. */
static int band_bound_path(const chart_plan *p, const chart_series *s, const double *bound, int i, int k,
                           draw_point *out)
{
    draw_point a = { axis_at(&p->x, s->x[i]), band_bound_at(p, bound[i]) };
    draw_point b = { axis_at(&p->x, s->x[k]), band_bound_at(p, bound[k]) }, in = a, leave = b;
    int count = 0;
    out[count++] = (draw_point){ a.x, frame_clamp_y(p, a.y) };
    if (draw_clip(&in, &leave, (draw_point){ -DRAW_FAR, p->low.y }, (draw_point){ DRAW_FAR, p->high.y })) {
        if (in.y != a.y)
            out[count++] = in;
        if (leave.y != b.y)
            out[count++] = leave;
    }
    return count;
}

static bool series_has_band(const chart_plan *p, const chart_series *s, int i)
{
    return point_is_there(series_point(p, s, i)) && !isnan(band_bound_at(p, s->low[i])) &&
           !isnan(band_bound_at(p, s->high[i]));
}

/* Fills the area of points first .. last: along the upper bound, and back along the lower. */
static void series_put_band(const chart_plan *p, const chart_series *s, int first, int last, draw_point *path)
{
    int count = 0;
    for (int i = first; i < last; i++)
        count += band_bound_path(p, s, s->high, i, i + 1, path + count);
    count += band_bound_path(p, s, s->high, last, last, path + count);
    for (int i = last; i > first; i--)
        count += band_bound_path(p, s, s->low, i, i - 1, path + count);
    count += band_bound_path(p, s, s->low, first, first, path + count);
    if (first < last)
        draw_path(p->d, path, count, true, (draw_style){ .stroke = INK_NONE, .fill = s->ink, .alpha = 0.15 });
}

static void series_put_bands(const chart_plan *p, const chart_series *s, draw_point *path)
{
    if (!s->low || !s->high)
        return;
    for (int first = 0, last; first < s->count; first = last + 1) {
        for (last = first; last < s->count && series_has_band(p, s, last);)
            last++;
        if (last > first)
            series_put_band(p, s, first, last - 1, path);
    }
}

#define BAND_POINTS 6 /* of each point of a series, at most: three on either bound */

void chart_lines(const chart_plan *p)
{
    const chart *c = p->c;
    size_t most = 1, room;
    for (int n = 0; n < c->series_count; n++)
        most = (size_t)c->series[n].count > most ? (size_t)c->series[n].count : most;
    draw_point *path = io_mul(&room, most, BAND_POINTS) ? calloc(room, sizeof *path) : NULL;
    if (!path) {
        p->d->failed = true;
        return;
    }
    for (int n = 0; n < c->series_count; n++)
        series_put_bands(p, &c->series[n], path);
    for (int n = c->series_count - 1; n >= 0; n--) { /* the first on top */
        series_put_line(p, &c->series[n], path);
        series_put_dots(p, &c->series[n]);
    }
    free(path);
}

int chart_crossings(const chart_plan *p, draw_point low, draw_point high)
{
    int count = 0;
    for (int n = 0; n < p->c->series_count; n++)
        for (int i = 1; i < p->c->series[n].count; i++) {
            draw_point a = series_point(p, &p->c->series[n], i - 1), b = series_point(p, &p->c->series[n], i);
            count += point_is_there(a) && point_is_there(b) && draw_clip(&a, &b, low, high);
        }
    return count;
}
