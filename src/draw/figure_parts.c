/* SPDX-License-Identifier: MIT
 *
 * Parts: JSON for a page that paints cells itself and shows the number under the pointer. A page redraws while a slider
 * moves, so cells travel as bytes. */
#include "draw/figure_inside.h"

#include "io/checked.h"
#include "io/io.h"
#include "io/json_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* What the matrix has and the scale has not. */
static bool put_matrix(json_out *j, const figure *f)
{
    double low, high;
    figure_range(f, &low, &high);
    out_real(j, "low", low);
    out_real(j, "high", high);
    out_real(j, "first_row", f->y_first);
    out_real(j, "first_column", f->x_first);
    figure_put_names(j, "row_names", f->y_names, f->y_name_count);
    figure_put_names(j, "column_names", f->x_names, f->x_name_count);
    if (f->x_numbered)
        out_bool(j, "names_alone", true);
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
    figure_points p = { .f = f };
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
    if (!s && !(put_cells(j, f, d) && figure_put_points(j, &p)))
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
