/* SPDX-License-Identifier: MIT
 *
 * The numbers of figures and their names, as CSV (RFC 4180, long form: a line per number; of cells the series is the
 * row and x the column, of dials x is the cosine and the value the sine) and as JSON. */
#include "draw/figure_inside.h"

#include "io/checked.h"
#include "io/io.h"

#include <math.h>
#include <stdlib.h>
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

/* names NULL: nothing */
static void figure_put_names(json_out *j, const char *key, char *const *names, int count)
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

/* "lines" */
static const char *figure_kind_name(figure_kind k)
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
    out_text(j, "mark", f->mark);
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

/* ---------------------------------------------------------------- parts */

/* JSON for a page that paints cells itself and shows the number under the pointer. The page redraws while a
 * slider moves, so cells are written as bytes, and the numbers of points are printed by hand for speed. */

/* RFC 4648, with padding. */
static size_t base64_put(char *out, const void *bytes, size_t size)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *b = bytes;
    char *at = out;
    for (size_t i = 0; i < size; i += 3, at += 4) {
        size_t left = size - i;
        unsigned n = (unsigned)b[i] << 16 | (left > 1 ? (unsigned)b[i + 1] << 8 : 0) | (left > 2 ? b[i + 2] : 0);
        at[0] = digit[n >> 18];
        at[1] = digit[n >> 12 & 63];
        at[2] = left > 1 ? digit[n >> 6 & 63] : '=';
        at[3] = left > 2 ? digit[n & 63] : '=';
    }
    return (size_t)(at - out);
}

static bool parts_put_bytes(json_out *j, const char *key, const void *bytes, size_t size)
{
    size_t room;
    bool fits = io_add(&room, size, 2) && io_mul(&room, room / 3, 4) && io_add(&room, room, 3);
    char *text = fits ? malloc(room) : NULL;
    if (!text)
        return false;
    text[0] = '"';
    size_t n = base64_put(text + 1, bytes, size);
    memcpy(text + 1 + n, "\"", 2);
    out_raw(j, key, text);
    free(text);
    return true;
}

/* ---------------------------------------------------------------- cells */

/* Puts the values as float32, little-endian. */
static bool parts_put_values(json_out *j, const figure *f)
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
    bool done = bytes && parts_put_bytes(j, "values", bytes, size);
    free(bytes);
    return done;
}

/* Puts the fields that the matrix has and the colour scale does not have. */
static bool parts_put_matrix(json_out *j, const figure *f)
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
    return parts_put_values(j, f);
}

/* Puts a colour per level, with how much of the paper it covers; DRAW_NOTHING has none, as the page leaves such a cell
 * out. */
static void parts_put_palette(json_out *j, const figure *f)
{
    char text[12];
    int zero = figure_zero(f);
    out_open(j, "palette", '-');
    for (int i = 0; i < DRAW_LEVELS; i++) {
        draw_tint c = heat_tint(i, zero);
        snprintf(text, sizeof text, "#%02x%02x%02x%02x", c.rgb.r, c.rgb.g, c.rgb.b, c.alpha);
        out_text(j, NULL, text);
    }
    out_close(j, '-');
}

/* Puts the cells of a picture, of which the first are the matrix. */
static bool parts_put_cells(json_out *j, const figure *f, const draw *d)
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
        done = parts_put_bytes(j, "heat", d->bytes + s->first, s->count) && (!is_first || parts_put_matrix(j, f));
        is_first = false;
        out_close(j, '}');
    }
    out_close(j, ']');
    return done;
}

/* ---------------------------------------------------------------- numbers */

#define DIGITS 9

/* Prints nine digits as a whole number and a power of ten (0.25 is 25e-2), or null for what is not finite. */
static char *number_put(char *out, double v)
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

/* ---------------------------------------------------------------- points */

/* Where the points of a figure lie. */
typedef struct parts_points {
    const figure *f;
    draw_frame frame;
    dials_plan dials;
} parts_points;

/* Rounds to a hundredth of a pixel; NaN where the point is not drawn. */
static double pixel_or_none(double v, double low, double high)
{
    return v >= low - 0.01 && v <= high + 0.01 ? round(v * 100) / 100 : (double)NAN;
}

static draw_point parts_pixel(const parts_points *p, int series, int i)
{
    const figure_series *s = &p->f->series[series];
    const draw_frame *in = &p->frame;
    draw_point low = { -DRAW_FAR, -DRAW_FAR }, high = { DRAW_FAR, DRAW_FAR }, at;
    if (p->f->kind == FIGURE_DIALS) {
        at = figure_dial_tip(&p->dials, p->f, series, i);
    } else {
        at = (draw_point){ axis_at(&in->x, s->x[i]), axis_at(&in->y, s->y[i]) };
        low = in->low;
        high = in->high;
    }
    return (draw_point){ pixel_or_none(at.x, low.x, high.x), pixel_or_none(at.y, low.y, high.y) };
}

/* Puts x, y, px or py as an array on one line. */
static bool parts_put_numbers(json_out *j, int part, const parts_points *p, int series)
{
    static const char *const keys[] = { "x", "y", "px", "py" };
    const figure_series *s = &p->f->series[series];
    size_t room;
    char *text = io_mul(&room, (size_t)s->count + 1, 40) ? malloc(room) : NULL, *at = text;
    if (!text)
        return false;
    *at++ = '[';
    for (int i = 0; i < s->count; i++) {
        draw_point pixel = part < 2 ? (draw_point){ s->x[i], s->y[i] } : parts_pixel(p, series, i);
        if (i)
            *at++ = ',';
        at = number_put(at, part % 2 ? pixel.y : pixel.x);
    }
    memcpy(at, "]", 2);
    out_raw(j, keys[part], text);
    free(text);
    return true;
}

static bool parts_put_points(json_out *j, const parts_points *p)
{
    bool done = true;
    out_open(j, "points", '[');
    for (int i = 0; i < p->f->series_count && done; i++) {
        out_open(j, NULL, '{');
        out_text(j, "name", p->f->series[i].name);
        out_int(j, "ink", ink_slot(p->f->kind == FIGURE_DIALS ? INK_SERIES : figure_ink(i)));
        for (int part = 0; part < 4 && done; part++)
            done = parts_put_numbers(j, part, p, i);
        out_close(j, '}');
    }
    out_close(j, ']');
    return done;
}

/* ---------------------------------------------------------------- a figure */

static pe_status parts_put_svg(json_out *j, const draw *d, pe_error *err)
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

static pe_status parts_put_figure(json_out *j, const figure *f, const figure_how *how, pe_error *err)
{
    draw *d;
    parts_points p = { .f = f };
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
    out_text(j, "mark", f->mark);
    out_text(j, "description", d->description ? d->bytes + d->description : NULL);
    out_text(j, "kind", figure_kind_name(f->kind));
    out_text(j, "x_label", f->x_label);
    out_text(j, "y_label", f->y_label);
    out_real(j, "width", d->width);
    out_real(j, "height", d->height);
    if (f->kind == FIGURE_CELLS)
        parts_put_palette(j, f);
    s = parts_put_svg(j, d, err);
    if (!s && !(parts_put_cells(j, f, d) && parts_put_points(j, &p)))
        s = io_fail(err, PE_ERR_NOMEM, "no memory for the parts of a figure");
    out_close(j, '}');
    draw_free(d);
    return s;
}

pe_status figures_parts(FILE *to, figure *const *f, int count, const figure_how *how, pe_error *err)
{
    pe_status s = PE_OK;
    json_out j = out_start(to);
    out_open(&j, NULL, '{');
    out_open(&j, "figures", '[');
    for (int i = 0; i < count && !s; i++)
        s = parts_put_figure(&j, f[i], how, err);
    out_close(&j, ']');
    out_close(&j, '}');
    return s;
}
