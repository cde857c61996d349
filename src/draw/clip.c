/* SPDX-License-Identifier: MIT */
#include "draw/list.h"

/* Of from + t * step, t in [*in, *out], the part with low <= . <= high. */
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
