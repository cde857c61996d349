/* SPDX-License-Identifier: MIT */
#include "io/checked.h"
#include "lab/report_parts.h"

#include <math.h>
#include <stdlib.h>

#define COLOURS 12

pe_status curves_new(curves *out, int lines, int points, pe_error *err)
{
    size_t count = 0;
    *out = (curves){ .lines = lines, .points = points };
    if (io_mul(&count, (size_t)lines * 4, (size_t)points)) {
        out->series = calloc((size_t)lines + 1, sizeof *out->series);
        out->number = calloc(count + 1, sizeof *out->number);
    }
    if (out->series && out->number)
        return PE_OK;
    curves_free(out);
    return io_fail(err, PE_ERR_NOMEM, "no memory for a chart of %d lines", lines);
}

void curves_free(curves *c)
{
    free(c->series);
    free(c->number);
    *c = (curves){ 0 };
}

int report_ink(int entry)
{
    return INK_SERIES + entry % COLOURS;
}

draw_dash report_dash(int entry)
{
    static const draw_dash dash[] = { DASH_NONE, DASH_LONG, DASH_DOT };
    return dash[entry / COLOURS % 3];
}

chart_series *curves_add(curves *c, chart *to, const report *p, int entry, bool band)
{
    int line = to->series_count++;
    double *x = c->number + (size_t)line * 4 * (size_t)c->points, *y = x + c->points;
    c->series[line] = (chart_series){
        .name = p->r->setup.entry[entry].name,
        .x = x,
        .y = y,
        .low = band ? y + c->points : NULL,
        .high = band ? y + 2 * c->points : NULL,
        .ink = report_ink(entry),
        .dash = report_dash(entry),
    };
    to->series = c->series;
    return &c->series[line];
}

void curves_point(curves *c, const chart *to, double x, double y, double low, double high)
{
    int line = to->series_count - 1;
    chart_series *s = &c->series[line];
    double *at = c->number + (size_t)line * 4 * (size_t)c->points;
    if (s->count == c->points)
        return;
    double value[4] = { x, y, low, high };
    for (int k = 0; k < 4; k++)
        at[k * c->points + s->count] = value[k];
    s->count++;
}
