/* SPDX-License-Identifier: MIT
 *
 * RFC 4180, long form: a line per number. Of cells, the series is the row and x the column; of dials, x is the cosine
 * and y the sine. */
#include "draw/figure_inside.h"

#include "io/io.h"

#include <math.h>

void draw_csv_text(FILE *to, const char *text)
{
    putc('"', to);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', to);
        putc(*text, to);
    }
    putc('"', to);
}

/* Empty where there is none. */
static void put_real(FILE *to, double v)
{
    char number[40] = "";
    if (isfinite(v))
        io_print_real(number, sizeof number, v);
    fputs(number, to);
}

static void put_start(FILE *to, const figure *f, const char *series)
{
    draw_csv_text(to, f->group ? f->group : "");
    putc(',', to);
    draw_csv_text(to, f->title ? f->title : "");
    putc(',', to);
    draw_csv_text(to, series);
    putc(',', to);
}

static void put_end(FILE *to, double y)
{
    putc(',', to);
    put_real(to, y);
    fputs("\r\n", to);
}

static void put_cells(FILE *to, const figure *f)
{
    char row[200], column[200];
    for (int r = 0; r < f->rows; r++)
        for (int c = 0; c < f->columns; c++) {
            figure_row_name(row, sizeof row, f, r);
            figure_column_name(column, sizeof column, f, c);
            put_start(to, f, row);
            if (f->x_names)
                draw_csv_text(to, column);
            else
                fputs(column, to);
            put_end(to, f->value[(size_t)r * (size_t)f->columns + (size_t)c]);
        }
}

pe_status figures_csv(FILE *to, figure *const *f, int count, pe_error *err)
{
    (void)err;
    fputs("group,figure,series,x,y\r\n", to);
    for (int i = 0; i < count; i++) {
        if (f[i]->kind == FIGURE_CELLS)
            put_cells(to, f[i]);
        for (int s = 0; s < f[i]->series_count; s++)
            for (int k = 0; k < f[i]->series[s].count; k++) {
                put_start(to, f[i], f[i]->series[s].name);
                put_real(to, f[i]->series[s].x[k]);
                put_end(to, f[i]->series[s].y[k]);
            }
    }
    return PE_OK;
}
