/* SPDX-License-Identifier: MIT
 *
 * RFC 4180, long form: a line per number. Of cells, the series is the row and x the column; of dials, x is the cosine
 * and y the sine. */
#include "draw/figure_inside.h"

#include "io/io.h"

#include <math.h>

/* What is no UTF-8 becomes U+FFFD. */
void draw_csv_text(FILE *to, const char *text)
{
    putc('"', to);
    while (*text) {
        unsigned code = 0;
        int n = out_character(text, &code);
        if (*text == '"')
            putc('"', to);
        fwrite(n ? text : "\xEF\xBF\xBD", 1, n ? (size_t)n : 3, to);
        text += n ? n : 1;
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
    char row[FIGURE_NUMBER], column[FIGURE_NUMBER];
    for (int r = 0; r < f->rows; r++)
        for (int c = 0; c < f->columns; c++) {
            const char *x = figure_column_name(column, f, c);
            put_start(to, f, figure_row_name(row, f, r));
            if (x == column)
                fputs(x, to);
            else
                draw_csv_text(to, x);
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
