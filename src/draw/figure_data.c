/* SPDX-License-Identifier: MIT
 *
 * The numbers of figures and their names, as CSV (RFC 4180, long form: a line per number; of cells the series is the
 * row and x the column, of dials x is the cosine and the value the sine) and as JSON. */
#include "draw/figure_inside.h"

#include "io/io.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- CSV */

/* Whether a spreadsheet would run the text as a formula, quoted or not; it does not run a signed number. */
static bool csv_is_formula(const char *text)
{
    bool signed_number = (*text == '-' || *text == '+') && strpbrk(text, "0123456789") &&
                         strspn(text + 1, "0123456789.") == strlen(text + 1);
    return *text && strchr("=+-@\t\r", *text) && !signed_number;
}

/* Invalid UTF-8 becomes U+FFFD. */
void draw_csv_text(FILE *to, const char *text)
{
    unsigned code;
    fputs(csv_is_formula(text) ? "\"'" : "\"", to);
    for (int n; *text; text += n ? n : 1) {
        n = out_character(text, &code);
        if (*text == '"')
            putc('"', to);
        fwrite(n ? text : "\xEF\xBF\xBD", 1, n ? (size_t)n : 3, to);
    }
    putc('"', to);
}

/* Prints a number that reads back as it is; nothing for one that is not finite. */
static void csv_put_real(FILE *to, double v)
{
    char text[40] = "";
    if (isfinite(v))
        io_print_real(text, sizeof text, v);
    fputs(text, to);
}

/* Puts the first three fields of a line. */
static void csv_put_start(FILE *to, const figure *f, const char *series)
{
    const char *part[] = { f->group ? f->group : "", f->title ? f->title : "", series };
    for (int i = 0; i < 3; i++) {
        draw_csv_text(to, part[i]);
        putc(',', to);
    }
}

static void csv_put_row(FILE *to, const figure *f, int row)
{
    char row_number[FIGURE_NUMBER], number[FIGURE_NUMBER];
    for (int c = 0; c < f->columns; c++) {
        const char *x = figure_column_name(number, f, c);
        csv_put_start(to, f, figure_row_name(row_number, f, row));
        if (x == number)
            fputs(x, to);
        else
            draw_csv_text(to, x);
        putc(',', to);
        csv_put_real(to, f->value[(size_t)row * (size_t)f->columns + (size_t)c]);
        fputs("\r\n", to);
    }
}

static void csv_put_series(FILE *to, const figure *f, const figure_series *s)
{
    for (int k = 0; k < s->count; k++) {
        csv_put_start(to, f, s->name);
        csv_put_real(to, s->x[k]);
        putc(',', to);
        csv_put_real(to, s->y[k]);
        fputs("\r\n", to);
    }
}

void figures_csv(FILE *to, figure *const *f, int count)
{
    fputs("group,figure,series,x,value\r\n", to);
    for (int i = 0; i < count; i++) {
        for (int r = 0; f[i]->kind == FIGURE_CELLS && r < f[i]->rows; r++)
            csv_put_row(to, f[i], r);
        for (int s = 0; s < f[i]->series_count; s++)
            csv_put_series(to, f[i], &f[i]->series[s]);
    }
}

/* ---------------------------------------------------------------- JSON */

static void json_put_reals(json_out *j, const char *key, const double *v, int count)
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

static void json_put_series(json_out *j, const figure *f)
{
    out_open(j, "series", '[');
    for (int i = 0; i < f->series_count; i++) {
        const figure_series *s = &f->series[i];
        out_open(j, NULL, '{');
        out_text(j, "name", s->name);
        json_put_reals(j, f->kind == FIGURE_DIALS ? "cos" : "x", s->x, s->count);
        json_put_reals(j, f->kind == FIGURE_DIALS ? "sin" : "y", s->y, s->count);
        out_close(j, '}');
    }
    out_close(j, ']');
}

static void json_put_cells(json_out *j, const figure *f)
{
    out_int(j, "rows", f->rows);
    out_int(j, "columns", f->columns);
    out_real(j, "first_row", f->y_first);
    out_real(j, "first_column", f->x_first);
    figure_put_names(j, "row_names", f->y_names, f->y_name_count);
    figure_put_names(j, "column_names", f->x_names, f->x_name_count);
    out_open(j, "values", '[');
    for (int r = 0; r < f->rows; r++)
        json_put_reals(j, NULL, f->value + (size_t)r * (size_t)f->columns, f->columns);
    out_close(j, ']');
}

const char *figure_kind_name(figure_kind k)
{
    static const char *const names[] = { "lines", "cells", "dials" };
    return names[k];
}

static void json_put_figure(json_out *j, const figure *f)
{
    out_open(j, NULL, '{');
    out_text(j, "kind", figure_kind_name(f->kind));
    out_text(j, "title", f->title);
    out_text(j, "group", f->group);
    out_text(j, "caption", f->caption);
    out_text(j, "x", f->x_label);
    out_text(j, "y", f->y_label);
    if (f->kind == FIGURE_CELLS)
        json_put_cells(j, f);
    else
        json_put_series(j, f);
    out_close(j, '}');
}

void figures_json(FILE *to, figure *const *f, int count)
{
    json_out j = out_start(to);
    out_open(&j, NULL, '{');
    out_open(&j, "figures", '[');
    for (int i = 0; i < count; i++)
        json_put_figure(&j, f[i]);
    out_close(&j, ']');
    out_close(&j, '}');
}
