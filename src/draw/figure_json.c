/* SPDX-License-Identifier: MIT
 *
 * The numbers of figures and their names, as JSON and as CSV. */
#include "draw/figure_inside.h"

#include "io/io.h"
#include "io/json_out.h"

#include <math.h>

/* ---------------------------------------------------------------- JSON */

static void put_reals(json_out *j, const char *key, const double *v, int count)
{
    out_open(j, key, '-');
    for (int i = 0; i < count; i++)
        out_real(j, NULL, v[i]);
    out_close(j, '-');
}

void figure_put_names(json_out *j, const char *key, char *const *names, int count)
{
    if (!names)
        return;
    out_open(j, key, '-');
    for (int i = 0; i < count; i++)
        out_text(j, NULL, names[i]);
    out_close(j, '-');
}

static void put_series(json_out *j, const figure *f)
{
    out_open(j, "series", '[');
    for (int i = 0; i < f->series_count; i++) {
        const figure_series *s = &f->series[i];
        out_open(j, NULL, '{');
        out_text(j, "name", s->name);
        put_reals(j, f->kind == FIGURE_DIALS ? "cos" : "x", s->x, s->count);
        put_reals(j, f->kind == FIGURE_DIALS ? "sin" : "y", s->y, s->count);
        out_close(j, '}');
    }
    out_close(j, ']');
}

static void put_cells(json_out *j, const figure *f)
{
    out_int(j, "rows", f->rows);
    out_int(j, "columns", f->columns);
    out_real(j, "first_row", f->y_first);
    out_real(j, "first_column", f->x_first);
    figure_put_names(j, "row_names", f->y_names, f->y_name_count);
    figure_put_names(j, "column_names", f->x_names, f->x_name_count);
    out_open(j, "values", '[');
    for (int r = 0; r < f->rows; r++)
        put_reals(j, NULL, f->value + (size_t)r * (size_t)f->columns, f->columns);
    out_close(j, ']');
}

const char *figure_kind_name(figure_kind k)
{
    static const char *const names[] = { "lines", "cells", "dials" };
    return names[k];
}

static void put_figure(json_out *j, const figure *f)
{
    out_open(j, NULL, '{');
    out_text(j, "kind", figure_kind_name(f->kind));
    out_text(j, "title", f->title);
    out_text(j, "group", f->group);
    out_text(j, "caption", f->caption);
    out_text(j, "x", f->x_label);
    out_text(j, "y", f->y_label);
    if (f->kind == FIGURE_CELLS)
        put_cells(j, f);
    else
        put_series(j, f);
    out_close(j, '}');
}

pe_status figures_json(FILE *to, figure *const *f, int count, pe_error *err)
{
    (void)err;
    json_out j = out_start(to);
    out_open(&j, NULL, '{');
    out_open(&j, "figures", '[');
    for (int i = 0; i < count; i++)
        put_figure(&j, f[i]);
    out_close(&j, ']');
    out_close(&j, '}');
    return PE_OK;
}
