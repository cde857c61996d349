/* SPDX-License-Identifier: MIT
 *
 * RFC 4180, long form: a line per number. Of cells, the series is the row and x the column; of dials, x is the cosine
 * and the value the sine. */
#include "draw/figure_inside.h"

#include "io/checked.h"
#include "io/io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The character at text, as it is written: what is no UTF-8 becomes U+FFFD. How many bytes of text it is. */
static int next_of(const char *text, const char **shown, size_t *size)
{
    unsigned code;
    int n = out_character(text, &code);
    *shown = n ? text : "\xEF\xBF\xBD";
    *size = n ? (size_t)n : 3;
    return n ? n : 1;
}

/* A spreadsheet takes such a text for a formula, quotes or not; a number with its sign is none. */
static bool is_formula(const char *text)
{
    bool signed_number = (*text == '-' || *text == '+') && strpbrk(text, "0123456789") &&
                         strspn(text + 1, "0123456789.") == strlen(text + 1);
    return *text && strchr("=+-@\t\r", *text) && !signed_number;
}

void draw_csv_text(FILE *to, const char *text)
{
    const char *shown;
    size_t size;
    fputs(is_formula(text) ? "\"'" : "\"", to);
    while (*text) {
        if (*text == '"')
            putc('"', to);
        text += next_of(text, &shown, &size);
        fwrite(shown, 1, size, to);
    }
    putc('"', to);
}

/* ---------------------------------------------------------------- numbers */

/* As n / 10^places where n has 15 digits at most: one division of exact numbers, so that it reads back as it is. */
static bool put_short(FILE *to, double v)
{
    char text[40];
    int places = 0;
    double power = 1; /* exact up to 1e22 */
    for (; fabs(v) * power < 1e14; power *= 10)
        places++;
    if (fabs(v) * power >= 1e15 || round(v * power) / power != v)
        return false;
    draw_fixed(text, v, places, true);
    fputs(text, to);
    return true;
}

/* Empty where there is none; else it reads back as it is. */
static void put_real(FILE *to, double v)
{
    char text[40];
    bool common = fabs(v) > 1e-3 && fabs(v) < 1e12;
    if (!isfinite(v) || (common && put_short(to, v)))
        return;
    int size = common ? snprintf(text, sizeof text, "%.16g", v) : 0;
    if (common && strtod(text, NULL) != v)
        size = snprintf(text, sizeof text, "%.17g", v);
    if (size <= 0 || !strchr(text, '.')) /* of another size, or another locale's point */
        io_print_real(text, sizeof text, v);
    fputs(text, to);
}

/* ---------------------------------------------------------------- lines */

/* A field and a comma; its end. */
static char *add_text(char *out, const char *text)
{
    const char *shown;
    size_t size;
    *out++ = '"';
    if (is_formula(text))
        *out++ = '\'';
    for (; *text; out += size) {
        if (*text == '"')
            *out++ = '"';
        text += next_of(text, &shown, &size);
        memcpy(out, shown, size);
    }
    memcpy(out, "\",", 3);
    return out + 2;
}

/* What all lines of a series begin with; malloc'ed, NULL: no memory. */
static char *start_of(const figure *f, const char *series)
{
    const char *part[] = { f->group ? f->group : "", f->title ? f->title : "", series };
    size_t size = 1, each;
    for (int i = 0; i < 3; i++)
        if (!io_mul(&each, strlen(part[i]) + 2, 3) || !io_add(&size, size, each))
            return NULL;
    char *text = malloc(size), *to = text;
    for (int i = 0; to && i < 3; i++)
        to = add_text(to, part[i]);
    return text;
}

static bool put_row(FILE *to, const figure *f, int row)
{
    char number[FIGURE_NUMBER];
    char *start = start_of(f, figure_row_name(number, f, row));
    for (int c = 0; start && c < f->columns; c++) {
        const char *x = figure_column_name(number, f, c);
        fputs(start, to);
        if (x == number)
            fputs(x, to);
        else
            draw_csv_text(to, x);
        putc(',', to);
        put_real(to, f->value[(size_t)row * (size_t)f->columns + (size_t)c]);
        fputs("\r\n", to);
    }
    free(start);
    return start;
}

static bool put_series(FILE *to, const figure *f, const figure_series *s)
{
    char *start = start_of(f, s->name);
    for (int k = 0; start && k < s->count; k++) {
        fputs(start, to);
        put_real(to, s->x[k]);
        putc(',', to);
        put_real(to, s->y[k]);
        fputs("\r\n", to);
    }
    free(start);
    return start;
}

pe_status figures_csv(FILE *to, figure *const *f, int count, pe_error *err)
{
    bool done = true;
    fputs("group,figure,series,x,value\r\n", to);
    for (int i = 0; i < count && done; i++) {
        for (int r = 0; f[i]->kind == FIGURE_CELLS && r < f[i]->rows && done; r++)
            done = put_row(to, f[i], r);
        for (int s = 0; s < f[i]->series_count && done; s++)
            done = put_series(to, f[i], &f[i]->series[s]);
    }
    return done ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for the lines of a table");
}
