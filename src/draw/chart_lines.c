/* SPDX-License-Identifier: MIT
 *
 * The data in the frame: bands, lines, dots, and the names of the series. */
#include "draw/chart.h"

#include "io/checked.h"
#include "io/io.h"

#include <math.h>
#include <stdlib.h>

/* Many points look like noise, and are drawn with a finer line. */
static double series_width(const chart_series *s)
{
    return s->count > 100 ? 1.5 : 2.25;
}

/* The seventh series and those after it get a dash, as many hues are hard to tell apart. */
static draw_dash chart_dash(const chart_series *s)
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

/* Lines and bands in a box of the frame, of all series. */
static int chart_crossings(const chart_plan *p, draw_point low, draw_point high)
{
    int count = 0;
    for (int n = 0; n < p->c->series_count; n++)
        for (int i = 1; i < p->c->series[n].count; i++) {
            draw_point a = series_point(p, &p->c->series[n], i - 1), b = series_point(p, &p->c->series[n], i);
            count += point_is_there(a) && point_is_there(b) && draw_clip(&a, &b, low, high);
        }
    return count;
}

/* ---------------------------------------------------------------- the names of the series */

/* Names stand at the ends of their lines (in the margin, moved apart where they would overlap, or inside
 * the frame where a line ends early), or in a legend. */

#define EARLY 0.94 /* of the frame's width */

static void name_print(chart_name *n, language l)
{
    const chart_series *s = n->series;
    const char *what = s->note ? s->note : n->last < 0 ? say(chart_no_data, l) : NULL, *name = s->name ? s->name : "";
    int size = snprintf(n->text, sizeof n->text, "%s%s%s", name, what && *name ? ": " : "", what ? what : "");
    if (size >= (int)sizeof n->text)
        io_end_with_dots(n->text, sizeof n->text);
}

/* Runs before the frame is known: the axes have values, but no pixels yet. */
void chart_read_names(chart_plan *p)
{
    axis whole = p->x;
    whole.from = 0;
    whole.to = 1;
    for (int i = 0; i < p->c->series_count; i++) {
        chart_name *n = &p->names[i];
        n->series = &p->c->series[i];
        n->last = n->series->count - 1;
        while (n->last >= 0 && !(axis_takes(&p->x, n->series->x[n->last]) && axis_takes(&p->y, n->series->y[n->last])))
            n->last--;
        n->is_early = n->last >= 0 && axis_at(&whole, n->series->x[n->last]) < EARLY;
        name_print(n, (language)p->c->language);
    }
}

/* Names are bold. */
static double name_width(const face *f, const char *text)
{
    return face_width(f, text, f->size) * (f->cell > 0 ? 1 : 1.18);
}

/* The distance from the frame to a name: room for a leader, or for a sample of the line. */
static double name_leader(const face *f)
{
    return f->cell > 0 ? 3 * f->cell : 18;
}

void chart_shorten_names(chart_plan *p, double width)
{
    for (int i = 0; i < p->c->series_count; i++)
        face_shorten(&p->f, p->names[i].text, width - name_leader(&p->f));
}

double chart_names_width(const chart_plan *p)
{
    double width = 0;
    for (int i = 0; i < p->c->series_count; i++)
        if (!p->names[i].is_early && p->names[i].text[0])
            width = fmax(width, name_width(&p->f, p->names[i].text) + name_leader(&p->f));
    return width;
}

/* ---------------------------------------------------------------- in the margin */

static int name_compare(const void *a, const void *b)
{
    const chart_name *p = *(chart_name *const *)a, *q = *(chart_name *const *)b;
    if (p->end.y != q->end.y)
        return p->end.y < q->end.y ? -1 : 1;
    return p->series < q->series ? -1 : p->series > q->series;
}

/* Moves names one line apart, as little as possible: neighbours that would overlap become one block around their mean,
 * until no block meets the next. order is sorted by end.y. */
static void names_spread(chart_name **order, int count, double line, double low, double high)
{
    for (int i = 0; i < count; i++) {
        int first = i;
        double sum = 0, top;
        do { /* the block first .. i, and the blocks above it that it meets */
            sum = 0;
            for (int k = first; k <= i; k++)
                sum += order[k]->end.y - (k - first) * line;
            top = sum / (i - first + 1);
            top = fmin(top, high - (i - first) * line);
            top = fmax(top, low);
        } while (first > 0 && order[first - 1]->y + line > top && first--);
        for (int k = first; k <= i; k++)
            order[k]->y = top + (k - first) * line;
    }
}

static void name_put_in_margin(const chart_plan *p, const chart_name *n)
{
    const face *f = &p->f;
    double x = p->high.x + name_leader(f);
    draw_style thin = { .stroke = n->series->ink, .fill = INK_NONE, .width = f->cell > 0 ? 2 : 1 };
    draw_point sample[2] = { { x - 2 * f->cell + 1, n->y }, { x - f->cell - 1, n->y } };
    draw_point bend[3] = { { p->high.x + 5, n->end.y }, { x - 6, n->y }, { x - 3, n->y } };
    if (f->cell > 0)
        draw_path(p->d, sample, 2, false, thin);
    else if (n->last >= 0 && fabs(n->end.y - n->y) > 2)
        draw_path(p->d, bend, 3, false, thin);
    draw_text(p->d, x, n->y + 0.35 * f->size, f->size, ANCHOR_START, n->series->ink, false, n->text);
}

/* ---------------------------------------------------------------- inside the frame */

static bool name_meets(const chart_name *a, draw_point low, draw_point high)
{
    return a->low.x < high.x && a->high.x > low.x && a->low.y < high.y && a->high.y > low.y;
}

static double name_cost(const chart_plan *p, const chart_name *n, draw_point low, draw_point high)
{
    double sum = chart_crossings(p, low, high);
    for (const chart_name *o = p->names; o < n; o++)
        sum += o->is_early && name_meets(o, low, high) ? 20 : 0;
    bool is_out = low.x < p->low.x || high.x > p->high.x || low.y < p->low.y || high.y > p->high.y;
    return sum + (is_out ? 100 : 0);
}

/* Chooses the place beside the end of the line where the name covers least. */
static void name_place_early(const chart_plan *p, chart_name *n, const char *text)
{
    const face *f = &p->f;
    static const double up[] = { 0, -1, 1, -2, 2, -3, 3 };
    double width = name_width(f, text), best = INFINITY;
    for (int i = 0; i < 14; i++) {
        bool left = i >= 7;
        double y = n->end.y + up[i % 7] * f->line * 0.9, x = left ? n->end.x - width - f->gap : n->end.x + f->gap;
        draw_point low = { x - 2, y - f->line / 2 }, high = { x + width + 2, y + f->line / 2 };
        double c = name_cost(p, n, low, high) + fabs(up[i % 7]) * 0.3 + (left ? 2 : 0);
        if (c < best) {
            best = c;
            n->low = low;
            n->high = high;
        }
    }
}

static void name_put_early(const chart_plan *p, chart_name *n, const char *text)
{
    const face *f = &p->f;
    name_place_early(p, n, text);
    draw_rect(p->d, n->low.x, n->low.y, n->high.x - n->low.x, n->high.y - n->low.y,
              (draw_style){ .stroke = INK_NONE, .fill = INK_PAPER, .alpha = 0.75 });
    draw_text(p->d, n->low.x + 2, (n->low.y + n->high.y) / 2 + 0.35 * f->size, f->size, ANCHOR_START, n->series->ink,
              false, text);
}

/* Draws a cross where a series with a note ("cannot") ends. */
static void name_put_cross(const chart_plan *p, const chart_name *n)
{
    const double r = 4;
    draw_style s = { .stroke = n->series->ink, .fill = INK_NONE, .width = 2 };
    draw_point down[2] = { { n->end.x - r, n->end.y - r }, { n->end.x + r, n->end.y + r } };
    draw_point rise[2] = { { n->end.x - r, n->end.y + r }, { n->end.x + r, n->end.y - r } };
    draw_path(p->d, down, 2, false, s);
    draw_path(p->d, rise, 2, false, s);
}

static void name_find_end(const chart_plan *p, chart_name *n)
{
    n->end = (draw_point){ p->high.x, p->high.y };
    if (n->last >= 0) {
        double y = axis_at(&p->y, n->series->y[n->last]);
        n->end.x = axis_at(&p->x, n->series->x[n->last]);
        n->end.y = fmin(fmax(y, p->low.y), p->high.y);
    }
    n->y = n->end.y;
}

static void names_put_in_margin(chart_plan *p)
{
    chart_name **order = calloc((size_t)p->c->series_count + 1, sizeof(chart_name *));
    int count = 0;
    if (!order) {
        p->d->failed = true;
        return;
    }
    for (int i = 0; i < p->c->series_count; i++)
        if (!p->names[i].is_early && p->names[i].text[0])
            order[count++] = &p->names[i];
    qsort(order, (size_t)count, sizeof(chart_name *), name_compare);
    names_spread(order, count, p->f.line, p->low.y + (p->f.cell > 0 ? p->f.line / 2 : 0), p->high.y);
    for (int i = 0; i < count; i++)
        name_put_in_margin(p, order[i]);
    free(order);
}

bool chart_names_meet(chart_plan *p)
{
    bool meet = false;
    for (int i = 0; i < p->c->series_count; i++) {
        chart_name *n = &p->names[i];
        name_find_end(p, n);
        if (!n->is_early || !n->text[0])
            continue;
        name_place_early(p, n, n->text);
        for (const chart_name *o = p->names; o < n; o++)
            meet = meet || (o->is_early && o->text[0] && name_meets(o, n->low, n->high));
    }
    return meet;
}

/* With a legend, only the note of a series stands at the end of its line. */
void chart_names(chart_plan *p)
{
    for (int i = 0; i < p->c->series_count; i++) {
        chart_name *n = &p->names[i];
        name_find_end(p, n);
        const char *text = !p->has_legend ? n->text : n->series->note ? n->series->note : "";
        n->is_early = n->is_early || (p->has_legend && n->last >= 0);
        if (n->is_early && text[0])
            name_put_early(p, n, text);
        if (n->series->note && n->last >= 0)
            name_put_cross(p, n);
    }
    if (!p->has_legend)
        names_put_in_margin(p);
}

/* ---------------------------------------------------------------- the legend */

/* The width of the sample of the line before a name. */
static double legend_sample(const face *f)
{
    return f->cell > 0 ? 2 * f->cell : 22;
}

static void legend_put_entry(const chart_plan *p, const chart_series *s, double x, double top, const char *text)
{
    const face *f = &p->f;
    double middle = top + f->line / 2;
    draw_point line[2] = { { x + 1, middle }, { x + legend_sample(f) * (f->cell > 0 ? 0.9 : 1) - 1, middle } };
    draw_path(p->d, line, 2, false,
              (draw_style){ .stroke = s->ink, .fill = INK_NONE, .width = 2.25, .dash = chart_dash(s) });
    draw_text(p->d, x + legend_sample(f) + f->gap, top + 0.8 * f->line, f->size, ANCHOR_START, INK_TEXT, false, text);
}

int chart_legend(const chart_plan *p, double top, bool draw_it)
{
    const face *f = &p->f;
    double x = f->pad, right = p->c->width - f->pad;
    int rows = p->c->series_count > 0;
    for (int i = 0; i < p->c->series_count; i++) {
        const chart_name *n = &p->names[i];
        char text[NAME_MOST];
        face_cut(text, sizeof text, n->last < 0 ? n->text : n->series->name ? n->series->name : "");
        face_shorten(f, text, right - f->pad - legend_sample(f) - f->gap);
        double width = legend_sample(f) + f->gap + face_width(f, text, f->size);
        if (x > f->pad && x + width > right) {
            x = f->pad;
            rows++;
        }
        if (draw_it)
            legend_put_entry(p, n->series, x, top + (rows - 1) * f->line, text);
        x += width + 2 * f->gap;
    }
    return rows;
}
