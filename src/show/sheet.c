/* SPDX-License-Identifier: MIT
 *
 * The sheet: how its figures begin, with title, labels and caption, and one scale for figures side by side. */
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
    TRY(figure_new(out, kind, err));
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

typedef struct said {
    char text[1200];
} said;

static said say_list(const show_request *r, words format, va_list args)
{
    said out;
    int length = vsnprintf(out.text, sizeof out.text, say(format, r->language), args);
    if (length < 0)
        out.text[0] = 0;
    else if ((size_t)length >= sizeof out.text)
        io_end_with_dots(out.text, sizeof out.text);
    return out;
}

void show_say(figure *f, char **field, const show_request *r, words format, ...)
{
    va_list args;
    va_start(args, format);
    figure_text(f, field, "%s", say_list(r, format, args).text);
    va_end(args);
}

void show_caption(figure *f, const show_path *p, const show_request *r, words format, ...)
{
    words steps = { "%s One position of %" PRId64 " is drawn.", "%s每 %" PRId64 " 个位置画一个点。" };
    va_list args;
    va_start(args, format);
    show_say(f, &f->caption, r, p && p->step > 1 ? steps : (words){ "%s", NULL }, say_list(r, format, args).text,
             p ? p->step : 0);
    va_end(args);
}

void show_mark_trained(figure *f, const show_subject *s, const show_request *r, double from, double to)
{
    if (!s->trained || !(from < (double)s->trained) || !((double)s->trained < to))
        return;
    f->x_mark = (double)s->trained;
    show_say(f, &f->x_mark_label, r, (words){ "trained", "训练长度" });
}

/* Counts which of codes, rotations and score terms the subject has. */
static int subject_kinds(const show_subject *s)
{
    return !!(s->hooks & PE_HOOK_EMBED) + !!(s->hooks & PE_HOOK_ROTATE) +
           !!(s->hooks & (PE_HOOK_CONTENT | PE_HOOK_BIAS));
}

void show_title(figure *f, const show_view *v, const show_subject *s, const show_request *r, unsigned hook)
{
    words part = hook == PE_HOOK_EMBED    ? (words){ "codes", "编码" }
                 : hook == PE_HOOK_ROTATE ? (words){ "rotations", "旋转" }
                                          : (words){ "score terms", "分数项" };
    const char *title = say(v->title, r->language);
    if (subject_kinds(s) > 1)
        figure_text(f, &f->title, "%s: %s", title, say(part, r->language));
    else
        figure_text(f, &f->title, "%s", title);
}

/* ---------------------------------------------------------------- one scale for figures that stand side by side */

typedef struct range {
    double low, high;
} range;

/* A logarithmic axis shows logarithms, so these are compared. */
static void range_widen(range *r, const double *x, int count, bool is_log)
{
    for (int i = 0; i < count; i++) {
        double v = is_log ? log(x[i]) : x[i];
        if (isfinite(v)) {
            r->low = fmin(r->low, v);
            r->high = fmax(r->high, v);
        }
    }
}

static range range_given(const figure *f)
{
    range r = f->kind == FIGURE_CELLS ? (range){ f->low, f->high } : (range){ f->y_min, f->y_max };
    return f->y_log && r.low > 0 ? (range){ log(r.low), log(r.high) } : r;
}

static bool range_is_given(const figure *f)
{
    return range_given(f).low < range_given(f).high;
}

static range figure_range_seen(const figure *f)
{
    range r = { INFINITY, -INFINITY };
    if (range_is_given(f))
        return range_given(f);
    if (f->kind == FIGURE_CELLS)
        range_widen(&r, f->value, f->rows * f->columns, false);
    for (int i = 0; i < f->series_count; i++)
        range_widen(&r, f->series[i].y, f->series[i].count, f->y_log);
    double most = fmax(fabs(r.low), fabs(r.high));
    return f->midpoint && isfinite(most) ? (range){ -most, most } : r;
}

static bool figures_are_alike(const figure *a, const figure *b)
{
    return a->kind == b->kind && a->kind != FIGURE_DIALS && !a->own_scale && !b->own_scale && a->y_log == b->y_log &&
           a->title && b->title && !strcmp(a->title, b->title) && a->y_label && b->y_label &&
           !strcmp(a->y_label, b->y_label);
}

static void sheet_share_range(show_sheet *sheet, int first, range all)
{
    for (int i = first; i < sheet->count; i++) {
        figure *f = sheet->figure[i];
        if (!figures_are_alike(sheet->figure[first], f))
            continue;
        *(f->kind == FIGURE_CELLS ? &f->low : &f->y_min) = f->y_log ? exp(all.low) : all.low;
        *(f->kind == FIGURE_CELLS ? &f->high : &f->y_max) = f->y_log ? exp(all.high) : all.high;
    }
}

/* Prints ", in alibi -80 to 0". */
static void range_say(char *out, size_t room, const figure *f, language l, words format)
{
    range r = figure_range_seen(f);
    if (f->y_log)
        r = (range){ exp(r.low), exp(r.high) };
    snprintf(out, room, say(format, l), f->group ? f->group : "", r.low, r.high);
}

/* One figure is small on the scale of another: the caption of every figure tells what it spans. */
static void sheet_tell_scales(show_sheet *sheet, int first)
{
    enum { OTHERS = 3 };
    for (int i = first; i < sheet->count; i++) {
        figure *f = sheet->figure[i];
        char own[120], others[120 * OTHERS] = "";
        int told = 0;
        if (!figures_are_alike(sheet->figure[first], f))
            continue;
        range_say(own, sizeof own, f, sheet->language,
                  (words){ " On one scale: here%.0s %.3g to %.3g", "同一刻度：本图%.0s为 %.3g 至 %.3g" });
        for (int j = first; j < sheet->count && told < OTHERS; j++)
            if (j != i && figures_are_alike(f, sheet->figure[j])) {
                size_t used = strlen(others);
                range_say(others + used, 120, sheet->figure[j], sheet->language,
                          (words){ ", in %.60s %.3g to %.3g", "，%.60s 为 %.3g 至 %.3g" });
                told++;
            }
        figure_text(f, &f->caption, "%s%s%s%s", f->caption ? f->caption : "", own, others,
                    say((words){ ".", "。" }, sheet->language));
    }
}

/* Gives figures alike one scale, and says what each spans where one uses less than a quarter of it. Where all have a
 * given scale, they keep it. */
static void sheet_align_from(show_sheet *sheet, int first)
{
    range all = { INFINITY, -INFINITY };
    double least = INFINITY;
    bool fixed = true;
    for (int i = first; i < sheet->count; i++)
        if (figures_are_alike(sheet->figure[first], sheet->figure[i])) {
            range r = figure_range_seen(sheet->figure[i]);
            all = (range){ fmin(all.low, r.low), fmax(all.high, r.high) };
            least = r.low < r.high ? fmin(least, r.high - r.low) : least;
            fixed = fixed && range_is_given(sheet->figure[i]);
        }
    if (!(all.low < all.high))
        return;
    if (least < (all.high - all.low) / 4)
        sheet_tell_scales(sheet, first);
    if (!fixed || least < (all.high - all.low) / 4)
        sheet_share_range(sheet, first, all);
}

static bool figure_is_first_alike(const show_sheet *sheet, int index)
{
    for (int i = 0; i < index; i++)
        if (figures_are_alike(sheet->figure[i], sheet->figure[index]))
            return false;
    return true;
}

void show_align(show_sheet *sheet)
{
    for (int i = 0; i < sheet->count; i++)
        if (figure_is_first_alike(sheet, i))
            sheet_align_from(sheet, i);
}
