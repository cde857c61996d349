/* SPDX-License-Identifier: MIT
 *
 * Parts: the points of lines and dials, as numbers and as pixels. A page redraws while a slider moves, so they are
 * printed by hand. */
#include "draw/figure_inside.h"

#include "io/checked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- numbers */

#define DIGITS 9

/* As a whole number and a power of ten, of nine digits: 0.25 is 25e-2. null for what is no number. */
static char *put_number(char *out, double v)
{
    int power = 0;
    if (!isfinite(v))
        return memcpy(out, "null", 4), out + 4;
    if (v != 0 && (fabs(v) >= 1e9 || v != floor(v))) {
        power = (int)floor(log10(fabs(v))) - DIGITS + 1;
        v = power < -300 ? v * 1e300 * pow(10, -power - 300) : v / pow(10, power);
    }
    long long n = llround(v);
    for (; power && n && n % 10 == 0; n /= 10)
        power++;
    draw_fixed(out, (double)n, 0, true);
    out += strlen(out);
    if (power) {
        *out++ = 'e';
        draw_fixed(out, power, 0, true);
        out += strlen(out);
    }
    return out;
}

typedef double number_of(const void *with, int i);

/* An array on one line. */
static bool put_numbers(json_out *j, const char *key, number_of *get, const void *with, int count)
{
    size_t room;
    char *text = io_mul(&room, (size_t)count + 1, 40) ? malloc(room) : NULL, *at = text;
    if (!text)
        return false;
    *at++ = '[';
    for (int i = 0; i < count; i++) {
        if (i)
            *at++ = ',';
        at = put_number(at, get(with, i));
    }
    memcpy(at, "]", 2);
    out_raw(j, key, text);
    free(text);
    return true;
}

/* ---------------------------------------------------------------- points */

static double get_x(const void *with, int i)
{
    return ((const figure_points *)with)->s->x[i];
}

static double get_y(const void *with, int i)
{
    return ((const figure_points *)with)->s->y[i];
}

/* A hundredth of a pixel; nothing where it is not drawn. */
static double pixel(double v, double low, double high)
{
    return v >= low - 0.01 && v <= high + 0.01 ? round(v * 100) / 100 : (double)NAN;
}

static double get_px(const void *with, int i)
{
    const figure_points *p = with;
    if (p->f->kind == FIGURE_DIALS)
        return pixel(figure_dial_tip(&p->dials, p->f, p->dial, i).x, -DRAW_FAR, DRAW_FAR);
    return pixel(axis_at(&p->frame.x, p->s->x[i]), p->frame.low.x, p->frame.high.x);
}

static double get_py(const void *with, int i)
{
    const figure_points *p = with;
    if (p->f->kind == FIGURE_DIALS)
        return pixel(figure_dial_tip(&p->dials, p->f, p->dial, i).y, -DRAW_FAR, DRAW_FAR);
    return pixel(axis_at(&p->frame.y, p->s->y[i]), p->frame.low.y, p->frame.high.y);
}

bool figure_put_points(json_out *j, figure_points *p)
{
    static const struct {
        const char *key;
        number_of *get;
    } part[] = { { "x", get_x }, { "y", get_y }, { "px", get_px }, { "py", get_py } };
    bool done = true;
    out_open(j, "points", '[');
    for (int i = 0; i < p->f->series_count && done; i++) {
        p->s = &p->f->series[i];
        p->dial = i;
        out_open(j, NULL, '{');
        out_text(j, "name", p->s->name);
        out_int(j, "ink", ink_slot(p->f->kind == FIGURE_DIALS ? INK_SERIES : figure_ink(i)));
        for (int k = 0; k < 4 && done; k++)
            done = put_numbers(j, part[k].key, part[k].get, p, p->s->count);
        out_close(j, '}');
    }
    out_close(j, ']');
    return done;
}
