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

static range given(const figure *f)
{
    range r = f->kind == FIGURE_CELLS ? (range){ f->low, f->high } : (range){ f->y_min, f->y_max };
    return f->y_log && r.low > 0 ? (range){ log(r.low), log(r.high) } : r;
}

static bool is_given(const figure *f)
{
    return given(f).low < given(f).high;
}

static range range_of(const figure *f)
{
    range r = { INFINITY, -INFINITY };
    if (is_given(f))
        return given(f);
    if (f->kind == FIGURE_CELLS)
        widen(&r, f->value, f->rows * f->columns, false);
    for (int i = 0; i < f->series_count; i++)
        widen(&r, f->series[i].y, f->series[i].count, f->y_log);
    double most = fmax(fabs(r.low), fabs(r.high));
    return f->midpoint && isfinite(most) ? (range){ -most, most } : r;
}

static bool is_alike(const figure *a, const figure *b)
{
    return a->kind == b->kind && a->kind != FIGURE_DIALS && a->y_log == b->y_log && a->title && b->title &&
           !strcmp(a->title, b->title) && a->y_label && b->y_label && !strcmp(a->y_label, b->y_label);
}

static void share(show_sheet *sheet, int first, range all)
{
    for (int i = first; i < sheet->count; i++) {
        figure *f = sheet->figure[i];
        if (!is_alike(sheet->figure[first], f))
            continue;
        *(f->kind == FIGURE_CELLS ? &f->low : &f->y_min) = f->y_log ? exp(all.low) : all.low;
        *(f->kind == FIGURE_CELLS ? &f->high : &f->y_max) = f->y_log ? exp(all.high) : all.high;
    }
}

/* ", in alibi -80 to 0" */
static void say_range(char *out, size_t room, const figure *f, language l, words format)
{
    range r = range_of(f);
    if (f->y_log)
        r = (range){ exp(r.low), exp(r.high) };
    snprintf(out, room, say(format, l), f->group ? f->group : "", r.low, r.high);
}

/* Colours and heights that look alike are not: every one of the figures says so. */
static void tell_scales(show_sheet *sheet, int first)
{
    enum { OTHERS = 3 };
    for (int i = first; i < sheet->count; i++) {
        figure *f = sheet->figure[i];
        char own[120], others[120 * OTHERS] = "";
        int told = 0;
        if (!is_alike(sheet->figure[first], f))
            continue;
        say_range(own, sizeof own, f, sheet->language,
                  (words){ " Scales differ: here%.0s %.3g to %.3g", "各图刻度不同：本图%.0s为 %.3g 至 %.3g" });
        for (int j = first; j < sheet->count && told < OTHERS; j++)
            if (j != i && is_alike(f, sheet->figure[j])) {
                size_t used = strlen(others);
                say_range(others + used, 120, sheet->figure[j], sheet->language,
                          (words){ ", in %.60s %.3g to %.3g", "，%.60s 为 %.3g 至 %.3g" });
                told++;
            }
        figure_text(f, &f->caption, "%s%s%s%s", f->caption ? f->caption : "", own, others,
                    say((words){ ".", "。" }, sheet->language));
    }
}

/* A common scale, unless one of the figures would be left with less than a quarter of it. What has a scale of its own
 * keeps it where all have. */
static void align_with(show_sheet *sheet, int first)
{
    range all = { INFINITY, -INFINITY };
    double least = INFINITY;
    bool fixed = true;
    for (int i = first; i < sheet->count; i++)
        if (is_alike(sheet->figure[first], sheet->figure[i])) {
            range r = range_of(sheet->figure[i]);
            all = (range){ fmin(all.low, r.low), fmax(all.high, r.high) };
            least = r.low < r.high ? fmin(least, r.high - r.low) : least;
            fixed = fixed && is_given(sheet->figure[i]);
        }
    if (!(all.low < all.high))
        return;
    if (least < (all.high - all.low) / 4)
        tell_scales(sheet, first);
    else if (!fixed)
        share(sheet, first, all);
}

static bool is_first(const show_sheet *sheet, int index)
{
    for (int i = 0; i < index; i++)
        if (is_alike(sheet->figure[i], sheet->figure[index]))
            return false;
    return true;
}

void show_align(show_sheet *sheet)
{
    for (int i = 0; i < sheet->count; i++)
        if (is_first(sheet, i))
            align_with(sheet, i);
}
