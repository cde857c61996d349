/* SPDX-License-Identifier: MIT
 *
 * A figure: its memory, its words, how it becomes shapes by its kind, and how figures are written by format. */
#include "draw/chart.h"
#include "draw/figure_inside.h"
#include "io/columns.h"

#include "io/checked.h"
#include "io/io.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

pe_status figure_new(figure **out, figure_kind kind, pe_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a figure");
    (*out)->kind = kind;
    return PE_OK;
}

static void names_free(char **names, int count)
{
    for (int i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

void figure_free(figure *f)
{
    if (!f)
        return;
    char *text[] = { f->title, f->x_label, f->y_label, f->group, f->caption, f->mark, f->description, f->x_mark_label };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        free(text[i]);
    for (int i = 0; i < f->series_count; i++) {
        free(f->series[i].name);
        free(f->series[i].x);
        free(f->series[i].y);
    }
    names_free(f->x_names, f->x_name_count);
    names_free(f->y_names, f->y_name_count);
    free(f->series);
    free(f->value);
    free(f);
}

pe_status figure_status(const figure *f, pe_error *err)
{
    if (f->failed)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the numbers of a figure%s%.200s", f->title ? ": " : "",
                       f->title ? f->title : "");
    return PE_OK;
}

/* Copies text. Without memory the figure has failed, and it returns NULL. */
static char *figure_copy(figure *f, const char *text)
{
    size_t size;
    char *out = io_add(&size, strlen(text), 1) ? malloc(size) : NULL;
    if (out)
        memcpy(out, text, size);
    else
        f->failed = true;
    return out;
}

void figure_text(figure *f, char **field, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, again);
    char *text = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (text)
        vsnprintf(text, (size_t)size + 1, format, args);
    else
        f->failed = true;
    va_end(again);
    va_end(args);
    free(*field);
    *field = text;
}

/* ---------------------------------------------------------------- numbers */

static bool figure_grow(figure *f)
{
    size_t bytes;
    if (f->series_count < f->series_room)
        return true;
    if (f->series_room > FIGURE_SERIES_MOST)
        return false;
    int room = f->series_room ? 2 * f->series_room : 8;
    figure_series *more = io_mul(&bytes, (size_t)room, sizeof *more) ? realloc(f->series, bytes) : NULL;
    if (!more)
        return false;
    f->series = more;
    f->series_room = room;
    return true;
}

double *figure_add_series(figure *f, const char *name, const double *x, int count)
{
    if (count < 0 || !figure_grow(f)) {
        f->failed = true;
        return NULL;
    }
    figure_series *s = &f->series[f->series_count++];
    *s = (figure_series){ .name = figure_copy(f, name ? name : ""), .count = count };
    s->x = calloc((size_t)count + 1, sizeof *s->x);
    s->y = calloc((size_t)count + 1, sizeof *s->y);
    if (!s->x || !s->y) {
        f->failed = true;
        s->count = 0;
        return NULL;
    }
    for (int i = 0; i < count; i++)
        s->x[i] = x ? x[i] : i;
    return s->y;
}

double *figure_cells(figure *f, int rows, int columns)
{
    size_t count;
    free(f->value);
    bool fits = rows > 0 && columns > 0 && io_mul(&count, (size_t)rows, (size_t)columns) && count <= FIGURE_CELLS_MOST;
    f->value = fits ? calloc(count, sizeof *f->value) : NULL;
    f->rows = f->value ? rows : 0;
    f->columns = f->value ? columns : 0;
    f->failed = f->failed || !f->value;
    return f->value;
}

bool figure_names(figure *f, char ***field, const char *const *names, int count)
{
    int *stored = field == &f->x_names ? &f->x_name_count : &f->y_name_count;
    names_free(*field, *stored);
    *stored = 0;
    *field = count >= 0 ? calloc((size_t)count + 1, sizeof **field) : NULL;
    if (!*field) {
        f->failed = true;
        return false;
    }
    *stored = count;
    for (int i = 0; i < count; i++)
        (*field)[i] = figure_copy(f, names[i] ? names[i] : "");
    return !f->failed;
}

/* ---------------------------------------------------------------- words in ASCII, for a terminal whose locale is not
 * UTF-8 */

/* Replaces the signs of a text that can be written in ASCII. */
static void text_make_plain(figure *f, char **text)
{
    size_t room;
    unsigned code;
    if (!*text)
        return;
    char *out = io_mul(&room, strlen(*text) + 1, 4) ? malloc(room) : NULL, *to = out; /* no sign is over 4 a byte */
    f->failed = f->failed || !out;
    if (!out)
        return;
    for (const char *at = *text; *at;) {
        int bytes = draw_next_code(at, &code);
        const char *other = columns_ascii(code);
        size_t size = other ? strlen(other) : (size_t)bytes;
        memcpy(to, other ? other : at, size);
        to += size;
        at += bytes;
    }
    *to = 0;
    free(*text);
    *text = out;
}

void figure_plain(figure *f)
{
    char **text[] = { &f->group, &f->title, &f->x_label, &f->y_label, &f->caption, &f->mark, &f->x_mark_label };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        text_make_plain(f, text[i]);
    for (int i = 0; i < f->series_count; i++)
        text_make_plain(f, &f->series[i].name);
    for (int i = 0; f->x_names && i < f->x_name_count; i++)
        text_make_plain(f, &f->x_names[i]);
    for (int i = 0; f->y_names && i < f->y_name_count; i++)
        text_make_plain(f, &f->y_names[i]);
}

/* ---------------------------------------------------------------- as shapes */

#define WIDTH 640.0
#define CELL_MOST 56.0 /* pixels of a row of cells */

static chart figure_chart(const figure *f, figure_place at)
{
    return (chart){ .title = f->title,
                    .mark = f->mark,
                    .x_label = f->x_label,
                    .y_label = f->y_label,
                    .description = f->description,
                    .series_count = f->series_count,
                    .x_log2 = f->x_log2,
                    .y_log = f->y_log,
                    .x_mark = f->x_mark,
                    .x_mark_label = f->x_mark_label,
                    .y_min = f->y_min,
                    .y_max = f->y_max,
                    .width = at.width,
                    .height = at.height,
                    .x_unit = "",
                    .cells = at.cells,
                    .language = (int)at.language };
}

int figure_ink(int series)
{
    return INK_SERIES + series % INK_COLOURS;
}

static pe_status figure_draw_lines(draw **out, const figure *f, figure_place at, pe_error *err)
{
    chart c = figure_chart(f, at);
    chart_series *series = calloc((size_t)f->series_count + 1, sizeof *series);
    if (!series)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a chart of %d lines", f->series_count);
    for (int i = 0; i < f->series_count; i++)
        series[i] = (chart_series){ .name = f->series[i].name,
                                    .x = f->series[i].x,
                                    .y = f->series[i].y,
                                    .count = f->series[i].count,
                                    .ink = figure_ink(i),
                                    .dash = f->series[i].dashed ? DASH_LONG : DASH_NONE,
                                    .dots = f->series[i].dots };
    c.series = series;
    pe_status s = chart_draw_in(out, &c, at.frame, err);
    free(series);
    return s;
}

/* On a terminal a row of cells takes half a character, or several rows share one: rounds the height accordingly. */
static double cells_screen_height(const figure *f, double height)
{
    const int most = 40; /* halves */
    int each = (f->rows + most - 1) / most;
    if (f->rows > 10)
        height = (f->rows + each - 1) / each * CELL_HEIGHT / 2;
    return ceil(fmin(height, most * CELL_HEIGHT / 2) / CELL_HEIGHT + 4) * CELL_HEIGHT;
}

static double figure_height(const figure *f, double width, bool cells)
{
    if (f->kind == FIGURE_DIALS)
        return figure_dials_height(f, width, cells);
    double frame = width - 110, height = cells ? 20 * CELL_HEIGHT : 380;
    if (f->kind != FIGURE_CELLS || f->columns == 0)
        return height;
    height = fmin(frame * f->rows / f->columns, CELL_MOST * f->rows);
    height = fmin(fmax(height, fmin(160, 28.0 * f->rows)), frame);
    return cells ? cells_screen_height(f, height) : ceil(height + 90);
}

pe_status figure_draw_at(draw **out, const figure *f, figure_place at, pe_error *err)
{
    *out = NULL;
    pe_status s = figure_status(f, err);
    if (s)
        return s;
    at.width = at.width > 0 ? at.width : WIDTH;
    at.fits = !(at.height > 0);
    at.height = at.height > 0 ? at.height : figure_height(f, at.width, at.cells);
    switch (f->kind) {
    case FIGURE_CELLS: s = figure_draw_cells(out, f, at, err); break;
    case FIGURE_DIALS: s = figure_draw_dials(out, f, at, err); break;
    default: s = figure_draw_lines(out, f, at, err); break;
    }
    s = s ? s : draw_status(*out, err);
    if (s) {
        draw_free(*out);
        *out = NULL;
    }
    return s;
}

/* ---------------------------------------------------------------- to a stream */

static const char *const format_names[FIGURE_FORMAT_COUNT] = { "terminal", "svg", "html", "csv", "json", "parts" };

const char *figure_format_name(figure_format f)
{
    return f < FIGURE_FORMAT_COUNT ? format_names[f] : "none";
}

figure_format figure_format_of(const char *file)
{
    const char *end = strrchr(file, '.');
    for (int i = FIGURE_SVG; end && i <= FIGURE_JSON; i++)
        if (!strcasecmp(end + 1, format_names[i]))
            return (figure_format)i;
    return FIGURE_FORMAT_COUNT;
}

static pe_status figures_write_drawing(FILE *to, const draw *d, const figure_how *how, pe_error *err)
{
    draw_screen screen = how->screen;
    screen.columns = (int)(d->width / CELL_WIDTH + 0.5);
    screen.rows = (int)(d->height / CELL_HEIGHT + 0.5);
    return how->format == FIGURE_TERMINAL ? draw_terminal(to, d, &screen, err) : draw_svg(to, d, DRAW_ALONE, err);
}

static pe_status figures_write_panels(FILE *to, figure *const *f, int count, const figure_how *how, pe_error *err)
{
    draw *d;
    pe_status s = figures_panels(&d, f, count, how, err);
    s = s ? s : figures_write_drawing(to, d, how, err);
    draw_free(d);
    return s;
}

pe_status figures_write(FILE *to, figure *const *f, int count, const figure_how *how, pe_error *err)
{
    pe_status s = PE_OK;
    for (int i = 0; i < count && !s; i++)
        s = figure_status(f[i], err);
    if (s)
        return s;
    switch (how->format) {
    case FIGURE_TERMINAL:
    case FIGURE_SVG: s = figures_write_panels(to, f, count, how, err); break;
    case FIGURE_PARTS: s = figures_parts(to, f, count, how, err); break;
    case FIGURE_HTML: s = figures_html(to, f, count, how, err); break;
    case FIGURE_CSV: figures_csv(to, f, count); break;
    case FIGURE_JSON: figures_json(to, f, count); break;
    default:
        return io_fail(err, PE_ERR_RANGE, "figures in format %d; needs 0 to %d", (int)how->format,
                       FIGURE_FORMAT_COUNT - 1);
    }
    if (!s && ferror(to))
        s = io_fail(err, PE_ERR_IO, "the figures could not be written");
    return s;
}
