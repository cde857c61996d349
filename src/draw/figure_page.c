/* SPDX-License-Identifier: MIT
 *
 * Parts: JSON for a page that paints cells itself and shows the number under the pointer. A page redraws while a slider
 * moves, so numbers are printed by hand, and cells travel as bytes. */
#include "draw/figure_parts.h"

#include "io/checked.h"
#include "io/io.h"
#include "io/json_out.h"

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

static bool put_bytes(json_out *j, const char *key, const void *bytes, size_t size)
{
    size_t room;
    char *text = draw_base64_size(&room, size) && io_add(&room, room, 3) ? malloc(room) : NULL;
    if (!text)
        return false;
    text[0] = '"';
    size_t n = draw_base64(text + 1, bytes, size);
    memcpy(text + 1 + n, "\"", 2);
    out_raw(j, key, text);
    free(text);
    return true;
}

/* ---------------------------------------------------------------- cells */

/* float32, the least byte first. */
static bool put_values(json_out *j, const figure *f)
{
    size_t count = (size_t)f->rows * (size_t)f->columns, size;
    uint8_t *bytes = io_mul(&size, count, 4) ? malloc(size) : NULL;
    for (size_t i = 0; bytes && i < count; i++) {
        double v = f->value[i];
        float narrow = (float)(v > 3e38 ? (double)INFINITY : v < -3e38 ? -(double)INFINITY : v);
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        for (int k = 0; k < 4; k++)
            bytes[4 * i + (size_t)k] = (uint8_t)(bits >> 8 * k);
    }
    bool done = bytes && put_bytes(j, "values", bytes, size);
    free(bytes);
    return done;
}

static void put_names(json_out *j, const char *key, char *const *names, int count)
{
    if (!names)
        return;
    out_open(j, key, '-');
    for (int i = 0; i < count; i++)
        out_text(j, NULL, names[i]);
    out_close(j, '-');
}

/* What the matrix has and the scale has not. */
static bool put_matrix(json_out *j, const figure *f)
{
    double low, high;
    figure_range(f, &low, &high);
    out_real(j, "low", low);
    out_real(j, "high", high);
    out_real(j, "first_row", f->y_first);
    out_real(j, "first_column", f->x_first);
    put_names(j, "row_names", f->y_names, f->y_name_count);
    put_names(j, "column_names", f->x_names, f->x_name_count);
    return put_values(j, f);
}

/* The first are the matrix. */
static bool put_cells(json_out *j, const figure *f, const draw *d)
{
    bool done = true, is_first = true;
    out_open(j, "cells", '[');
    for (size_t i = 0; i < d->shape_count && done; i++) {
        const draw_shape *s = &d->shapes[i];
        if (s->kind != SHAPE_CELLS)
            continue;
        out_open(j, NULL, '{');
        out_real(j, "x", s->x);
        out_real(j, "y", s->y);
        out_real(j, "width", s->width);
        out_real(j, "height", s->height);
        out_int(j, "rows", s->rows);
        out_int(j, "columns", s->columns);
        done = put_bytes(j, "heat", d->bytes + s->first, s->count) && (!is_first || put_matrix(j, f));
        is_first = false;
        out_close(j, '}');
    }
    out_close(j, ']');
    return done;
}

/* ---------------------------------------------------------------- points */

typedef struct place {
    const figure *f;
    const figure_series *s;
    int dial;
    draw_frame frame;
    dials_plan dials;
} place;

static double get_x(const void *with, int i)
{
    return ((const place *)with)->s->x[i];
}

static double get_y(const void *with, int i)
{
    return ((const place *)with)->s->y[i];
}

/* A hundredth of a pixel; nothing where it is not drawn. */
static double pixel(double v, double low, double high)
{
    return v >= low - 0.01 && v <= high + 0.01 ? round(v * 100) / 100 : (double)NAN;
}

static double get_px(const void *with, int i)
{
    const place *p = with;
    if (p->f->kind == FIGURE_DIALS)
        return pixel(figure_dial_tip(&p->dials, p->f, p->dial, i).x, -DRAW_FAR, DRAW_FAR);
    return pixel(axis_at(&p->frame.x, p->s->x[i]), p->frame.low.x, p->frame.high.x);
}

static double get_py(const void *with, int i)
{
    const place *p = with;
    if (p->f->kind == FIGURE_DIALS)
        return pixel(figure_dial_tip(&p->dials, p->f, p->dial, i).y, -DRAW_FAR, DRAW_FAR);
    return pixel(axis_at(&p->frame.y, p->s->y[i]), p->frame.low.y, p->frame.high.y);
}

static bool put_points(json_out *j, place *p)
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

/* ---------------------------------------------------------------- a figure */

static pe_status put_svg(json_out *j, const draw *d, pe_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    pe_status s = to ? draw_svg(to, d, DRAW_HOLLOW, err) : PE_OK;
    if (!to || fclose(to))
        s = s ? s : io_fail(err, PE_ERR_NOMEM, "no memory for a picture's SVG");
    if (!s)
        out_text(j, "svg", text);
    free(text);
    return s;
}

static pe_status put_figure(json_out *j, const figure *f, const figure_how *how, pe_error *err)
{
    draw *d;
    place p = { .f = f };
    figure_place at = { .width = how->width, .height = how->height, .language = how->language, .frame = &p.frame };
    pe_status s = figure_draw_at(&d, f, at, err);
    if (s)
        return s;
    at.width = d->width;
    at.height = d->height;
    if (f->kind == FIGURE_DIALS)
        p.dials = figure_dials_plan(f, at);
    out_open(j, NULL, '{');
    out_text(j, "title", f->title);
    out_text(j, "group", f->group);
    out_text(j, "caption", f->caption);
    out_text(j, "description", d->description ? d->bytes + d->description : NULL);
    out_text(j, "kind", figure_kind_name(f->kind));
    out_text(j, "x_label", f->x_label);
    out_text(j, "y_label", f->y_label);
    out_real(j, "width", d->width);
    out_real(j, "height", d->height);
    s = put_svg(j, d, err);
    if (!s && !(put_cells(j, f, d) && put_points(j, &p)))
        s = io_fail(err, PE_ERR_NOMEM, "no memory for the parts of a figure");
    out_close(j, '}');
    draw_free(d);
    return s;
}

/* DRAW_NOTHING has none: the page leaves the cell out. */
static void put_palette(json_out *j)
{
    char text[8];
    out_open(j, "palette", '-');
    for (int i = 0; i < DRAW_LEVELS; i++) {
        draw_rgb c = ink_heat(INK_HEAT + i);
        snprintf(text, sizeof text, "#%02x%02x%02x", c.r, c.g, c.b);
        out_text(j, NULL, text);
    }
    out_close(j, '-');
}

pe_status figures_parts(FILE *to, figure *const *f, int count, const figure_how *how, pe_error *err)
{
    pe_status s = PE_OK;
    json_out j = out_start(to);
    out_open(&j, NULL, '{');
    out_open(&j, "figures", '[');
    for (int i = 0; i < count && !s; i++)
        s = put_figure(&j, f[i], how, err);
    out_close(&j, ']');
    put_palette(&j);
    out_close(&j, '}');
    return s;
}
