/* SPDX-License-Identifier: MIT
 *
 * Numbers as levels of the colour scale. */
#include "draw/figure_inside.h"

#include "io/io.h"

#include <math.h>

#define VALUE_MOST 1e100 /* ranges stay finite; what is larger lies at the end of the scale */

static bool takes(double v)
{
    return fabs(v) <= VALUE_MOST;
}

void figure_range(const figure *f, double *low, double *high)
{
    size_t count = (size_t)f->rows * (size_t)f->columns;
    axis a = { .low = 0, .high = 0 };
    bool any = false;
    for (size_t i = 0; i < count && !(f->low < f->high); i++)
        if (takes(f->value[i])) {
            a.low = !any || f->value[i] < a.low ? f->value[i] : a.low;
            a.high = !any || f->value[i] > a.high ? f->value[i] : a.high;
            any = true;
        }
    if (f->low < f->high && takes(f->low) && takes(f->high)) {
        a.low = f->low;
        a.high = f->high;
    } else if (f->midpoint) {
        a.high = fmax(fabs(a.low), fabs(a.high));
        a.low = -a.high;
    } else if (a.low > 0 && a.low < 0.3 * a.high) {
        a.low = 0; /* as the axis of a chart does it */
    }
    axis_open_up(&a);
    *low = a.low;
    *high = a.high;
}

void figure_levels(const figure *f, uint8_t *levels)
{
    double low, high;
    size_t count = (size_t)f->rows * (size_t)f->columns;
    figure_range(f, &low, &high);
    double scale = DRAW_LEVELS / (high - low);
    for (size_t i = 0; i < count; i++) {
        double at = (f->value[i] - low) * scale;
        at = at < 0 ? 0 : at > DRAW_LEVELS - 1 ? DRAW_LEVELS - 1 : at;
        levels[i] = DRAW_NOTHING;
        if (!isnan(at))
            levels[i] = (uint8_t)at;
    }
}

static const char *name_at(char *number, char *const *names, int count, double first, int i)
{
    if (names && i < count)
        return names[i];
    draw_fixed(number, fabs(first) < 1e9 ? first + i : i, 2, true);
    return number;
}

const char *figure_row_name(char number[FIGURE_NUMBER], const figure *f, int row)
{
    return name_at(number, f->y_names, f->y_name_count, f->y_first, row);
}

const char *figure_column_name(char number[FIGURE_NUMBER], const figure *f, int column)
{
    return name_at(number, f->x_names, f->x_name_count, f->x_first, column);
}
