/* SPDX-License-Identifier: MIT
 *
 * The range of an axis, and where a value lies on it. */
#include "draw/chart.h"

#include <math.h>

#define VALUE_MOST 1e100 /* larger is not drawn: ranges and steps stay finite */

bool axis_takes(const axis *a, double v)
{
    return isfinite(v) && fabs(v) <= VALUE_MOST && (!a->log || v >= 1 / VALUE_MOST);
}

double axis_at(const axis *a, double v)
{
    if (!axis_takes(a, v))
        return NAN;
    double part = a->log ? log2(v / a->low) / log2(a->high / a->low) : (v - a->low) / (a->high - a->low);
    return a->from + part * (a->to - a->from);
}

void axis_take(axis *a, double v, bool *any)
{
    if (!axis_takes(a, v))
        return;
    a->low = !*any || v < a->low ? v : a->low;
    a->high = !*any || v > a->high ? v : a->high;
    *any = true;
}

void axis_open_up(axis *a)
{
    double size = fmax(fabs(a->low), fabs(a->high));
    if (a->high - a->low > 1e-9 * size)
        return;
    if (a->log) {
        a->low /= 2;
        a->high *= 2;
    } else {
        a->low -= size > 0 ? size / 10 : 1;
        a->high += size > 0 ? size / 10 : 1;
    }
}

bool axis_of_x(axis *a, const chart *c)
{
    bool any = false;
    *a = (axis){ .log = c->x_log2, .binary = c->x_log2, .low = 1, .high = 2 };
    for (int s = 0; s < c->series_count; s++)
        for (int i = 0; i < c->series[s].count; i++)
            if (!isnan(c->series[s].y[i])) /* a place without a value is no reason for a longer axis */
                axis_take(a, c->series[s].x[i], &any);
    bool found = any;
    if (any && c->x_mark != 0)
        axis_take(a, c->x_mark, &any);
    axis_open_up(a);
    return found;
}

static void take_series(axis *a, const chart_series *s, const axis *x, bool *any)
{
    for (int i = 0; i < s->count; i++)
        if (axis_takes(x, s->x[i])) {
            axis_take(a, s->y[i], any);
            if (s->low && s->high && axis_takes(a, s->y[i])) {
                axis_take(a, s->low[i], any);
                axis_take(a, s->high[i], any);
            }
        }
}

bool axis_of_y(axis *a, const chart *c, const axis *x)
{
    bool any = false;
    *a = (axis){ .log = c->y_log, .low = 1, .high = 2 };
    for (int s = 0; s < c->series_count; s++)
        take_series(a, &c->series[s], x, &any);
    if (c->y_min < c->y_max && axis_takes(a, c->y_min) && axis_takes(a, c->y_max)) {
        a->low = c->y_min;
        a->high = c->y_max;
    } else if (!a->log && a->low > 0 && a->low < 0.3 * a->high) {
        a->low = 0; /* so near that leaving it out would only exaggerate */
    }
    axis_open_up(a);
    return any;
}
