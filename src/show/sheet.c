/* SPDX-License-Identifier: MIT
 *
 * Figures, as they come into being and as they stand beside each other. */
#include "show/views.h"

#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

pe_status show_figure(figure **out, show_sheet *to, figure_kind kind, const show_subject *s, pe_error *err)
{
    *out = NULL;
    if (to->count == SHOW_FIGURES_MAX)
        return io_fail(err, PE_ERR_RANGE, "more than %d pictures; ask for fewer views, or fewer specs",
                       SHOW_FIGURES_MAX);
    SHOW_TRY(figure_new(out, kind, err));
    to->figure[to->count++] = *out;
    figure_text(*out, &(*out)->group, "%s", s->spec);
    return PE_OK;
}

void show_sheet_free(show_sheet *sheet)
{
    for (int i = 0; i < sheet->count; i++)
        figure_free(sheet->figure[i]);
    sheet->count = 0;
}

static void print(char *out, size_t room, const char *format, va_list args)
{
    int length = vsnprintf(out, room, format, args);
    if (length < 0)
        out[0] = 0;
    else if ((size_t)length >= room)
        io_end_with_dots(out, room);
}

void show_say(figure *f, char **field, const show_request *r, words format, ...)
{
    char text[1200];
    va_list args;
    va_start(args, format);
    print(text, sizeof text, say(format, r->language), args);
    va_end(args);
    figure_text(f, field, "%s", text);
}

void show_caption(figure *f, const show_path *p, const show_request *r, words format, ...)
{
    char text[1200];
    va_list args;
    va_start(args, format);
    print(text, sizeof text, say(format, r->language), args);
    va_end(args);
    if (p && p->step > 1)
        show_say(f, &f->caption, r,
                 (words){ "%s One position of %" PRId64 " is drawn.", "%s每 %" PRId64 " 个位置画一个点。" }, text,
                 p->step);
    else
        figure_text(f, &f->caption, "%s", text);
}

void show_mark_trained(figure *f, const show_subject *s, const show_request *r, double from, double to)
{
    if (!s->trained || !(from < (double)s->trained) || !((double)s->trained < to))
        return;
    f->x_mark = (double)s->trained;
    show_say(f, &f->x_mark_label, r, (words){ "trained", "训练长度" });
}

/* Codes, turns and score terms. */
static int kinds_of(const show_subject *s)
{
    return !!(s->hooks & PE_HOOK_EMBED) + !!(s->hooks & PE_HOOK_ROTATE) +
           !!(s->hooks & (PE_HOOK_CONTENT | PE_HOOK_BIAS));
}

void show_title(figure *f, const show_view *v, const show_subject *s, const show_request *r, unsigned hook)
{
    words part = hook == PE_HOOK_EMBED    ? (words){ "codes", "编码" }
                 : hook == PE_HOOK_ROTATE ? (words){ "turns", "旋转" }
                                          : (words){ "score terms", "分数项" };
    const char *title = say(v->title, r->language);
    if (kinds_of(s) > 1)
        figure_text(f, &f->title, "%s: %s", title, say(part, r->language));
    else
        figure_text(f, &f->title, "%s", title);
}

/* ---------------------------------------------------------------- one scale for figures that stand side by side */

typedef struct range {
    double low, high;
} range;

/* On a logarithmic axis the logarithms are what is seen. */
static void widen(range *r, const double *x, int count, bool is_log)
{
    for (int i = 0; i < count; i++) {
        double v = is_log ? log(x[i]) : x[i];
        if (isfinite(v)) {
            r->low = fmin(r->low, v);
            r->high = fmax(r->high, v);
        }
    }
}

static range range_of(const figure *f)
{
    range r = { INFINITY, -INFINITY };
    if (f->kind == FIGURE_CELLS)
        widen(&r, f->value, f->rows * f->columns, false);
    for (int i = 0; i < f->series_count; i++)
        widen(&r, f->series[i].y, f->series[i].count, f->y_log);
    return r;
}

static bool is_alike(const figure *a, const figure *b)
{
    return a->kind == b->kind && a->kind != FIGURE_DIALS && a->y_log == b->y_log && a->title && b->title &&
           !strcmp(a->title, b->title) && a->y_label && b->y_label && !strcmp(a->y_label, b->y_label);
}

/* A common scale, unless one of the figures would be left with less than a quarter of it. */
static void align_with(show_sheet *sheet, int first)
{
    range all = { INFINITY, -INFINITY };
    double least = INFINITY;
    for (int i = first; i < sheet->count; i++)
        if (is_alike(sheet->figure[first], sheet->figure[i])) {
            range r = range_of(sheet->figure[i]);
            all = (range){ fmin(all.low, r.low), fmax(all.high, r.high) };
            least = fmin(least, r.high - r.low);
        }
    if (!(least > 0) || !(least >= (all.high - all.low) / 4))
        return;
    for (int i = first; i < sheet->count; i++) {
        figure *f = sheet->figure[i];
        if (!is_alike(sheet->figure[first], f))
            continue;
        *(f->kind == FIGURE_CELLS ? &f->low : &f->y_min) = f->y_log ? exp(all.low) : all.low;
        *(f->kind == FIGURE_CELLS ? &f->high : &f->y_max) = f->y_log ? exp(all.high) : all.high;
    }
}

/* Its scale is not given, and no figure before it is its like. */
static bool is_first(const show_sheet *sheet, int index)
{
    const figure *f = sheet->figure[index];
    for (int i = 0; i < index; i++)
        if (is_alike(sheet->figure[i], f))
            return false;
    return f->low == 0 && f->high == 0 && f->y_min == 0 && f->y_max == 0;
}

void show_align(show_sheet *sheet)
{
    for (int i = 0; i < sheet->count; i++)
        if (is_first(sheet, i))
            align_with(sheet, i);
}
