/* SPDX-License-Identifier: MIT
 *
 * A figure's memory. */
#include "draw/figure.h"

#include "io/checked.h"
#include "io/io.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

pe_status figure_new(figure **out, figure_kind kind, pe_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a figure");
    (*out)->kind = kind;
    return PE_OK;
}

static void free_names(char **names, int count)
{
    for (int i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

void figure_free(figure *f)
{
    if (!f)
        return;
    char *text[] = { f->title, f->x_label, f->y_label, f->group, f->caption, f->description, f->x_mark_label };
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        free(text[i]);
    for (int i = 0; i < f->series_count; i++) {
        free(f->series[i].name);
        free(f->series[i].x);
        free(f->series[i].y);
    }
    free_names(f->x_names, f->x_name_count);
    free_names(f->y_names, f->y_name_count);
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

/* A copy; NULL, and the figure has failed, where there is no memory. */
static char *copy(figure *f, const char *text)
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

static bool grow_series(figure *f)
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

double *figure_line(figure *f, const char *name, const double *x, int count)
{
    if (count < 0 || !grow_series(f)) {
        f->failed = true;
        return NULL;
    }
    figure_series *s = &f->series[f->series_count++];
    *s = (figure_series){ .name = copy(f, name ? name : ""), .count = count };
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
    free_names(*field, *stored);
    *stored = 0;
    *field = count >= 0 ? calloc((size_t)count + 1, sizeof **field) : NULL;
    if (!*field) {
        f->failed = true;
        return false;
    }
    *stored = count;
    for (int i = 0; i < count; i++)
        (*field)[i] = copy(f, names[i] ? names[i] : "");
    return !f->failed;
}
