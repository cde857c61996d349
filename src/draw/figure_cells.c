/* SPDX-License-Identifier: MIT
 *
 * A matrix as colours: title and y label above, rows downwards, the scale at the right. */
#include "draw/figure_inside.h"

#include "base/try.h"
#include "io/checked.h"
#include "io/io.h"

#include <math.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- numbers as levels of the scale, and the names of
 * rows and columns */

#define VALUE_MOST 1e100 /* ranges stay finite; what is larger lies at the end of the scale */

static bool level_takes(double v)
{
    return fabs(v) <= VALUE_MOST;
}

void figure_range(const figure *f, double *low, double *high)
{
    size_t count = (size_t)f->rows * (size_t)f->columns;
    axis a = { .low = 0, .high = 0 };
    bool any = false;
    for (size_t i = 0; i < count && !(f->low < f->high); i++)
        if (level_takes(f->value[i])) {
            a.low = !any || f->value[i] < a.low ? f->value[i] : a.low;
            a.high = !any || f->value[i] > a.high ? f->value[i] : a.high;
            any = true;
        }
    if (f->low < f->high && level_takes(f->low) && level_takes(f->high)) {
        a.low = f->low;
        a.high = f->high;
    } else if (f->midpoint) {
        a.high = fmax(fabs(a.low), fabs(a.high));
        a.low = -a.high;
    } else if (a.low > 0 && a.low < 0.3 * a.high) {
        a.low = 0; /* as the axis of a chart does it */
    }
    axis_open_up(&a);
    *low = a.low;
    *high = a.high;
}

int figure_zero(const figure *f)
{
    double low, high;
    figure_range(f, &low, &high);
    double at = -low / (high - low) * (DRAW_LEVELS - 1);
    return at < 0 ? 0 : at > DRAW_LEVELS - 1 ? DRAW_LEVELS - 1 : (int)lround(at);
}

void figure_levels(const figure *f, uint8_t *levels)
{
    double low, high;
    size_t count = (size_t)f->rows * (size_t)f->columns;
    figure_range(f, &low, &high);
    double scale = DRAW_LEVELS / (high - low);
    for (size_t i = 0; i < count; i++) {
        double at = (f->value[i] - low) * scale;
        at = at < 0 ? 0 : at > DRAW_LEVELS - 1 ? DRAW_LEVELS - 1 : at;
        levels[i] = DRAW_NOTHING;
        if (!isnan(at))
            levels[i] = (uint8_t)at;
    }
}

static const char *name_or_number(char *number, char *const *names, int count, double first, int i)
{
    if (names && i < count)
        return names[i];
    draw_fixed(number, fabs(first) < 1e9 ? first + i : i, 2, true);
    return number;
}

const char *figure_row_name(char number[FIGURE_NUMBER], const figure *f, int row)
{
    return name_or_number(number, f->y_names, f->y_name_count, f->y_first, row);
}

const char *figure_column_name(char number[FIGURE_NUMBER], const figure *f, int column)
{
    return name_or_number(number, f->x_names, f->x_name_count, f->x_first, column);
}

/* ---------------------------------------------------------------- the plan */

#define NAME_MOST 120   /* bytes of a word beside a row or below a column */
#define NAMES_SHARE 0.3 /* of the width or height, that names may take */
#define SCALE_STEPS 128

typedef struct cells_plan {
    const figure *f;
    const face *face;
    draw *d;
    figure_place at;
    axis x, y, scale;
    bool names_stand;       /* the columns' names read upwards */
    double below;           /* height of the columns' names or ticks */
    double end;             /* where these begin */
    draw_point low, high;   /* the cells; low is their upper left */
    double bar, bar_labels; /* widths of the scale and its numbers */
} cells_plan;

static bool cells_name_columns(const figure *f)
{
    return f->x_names && !f->x_numbered;
}

static double cells_put_head(const cells_plan *p, draw *d)
{
    const face *f = p->face;
    face_text title = { f, f->pad, f->pad, p->at.width - 2 * f->pad, true, INK_TEXT, 0 };
    face_text label = { f, f->pad, face_lines(d, title, p->f->title), title.width, false, INK_FAINT, 0 };
    return face_label(d, label, p->f->y_label, p->f->mark) + (f->cell > 0 ? 0 : 6);
}

/* ---------------------------------------------------------------- room */

static double names_widest(const cells_plan *p, char *const *names, int count)
{
    double width = 0;
    for (int i = 0; i < count; i++)
        width = fmax(width, face_width(p->face, names[i], p->face->size));
    return width;
}

/* Rounds the room for n cells so that a cell takes whole units (half pixels, or characters), or, where there are more
 * cells than units, a unit takes whole cells: an even pattern stays even. */
static double room_snapped(double room, int n, double unit)
{
    double units = fmax(floor(room / unit), 1), each = floor(units / n);
    return each >= 1 ? each * n * unit : n / ceil(n / units) * unit;
}

static void cells_plan_scale(cells_plan *p, double height)
{
    const face *f = p->face;
    figure_range(p->f, &p->scale.low, &p->scale.high);
    axis_ticks(&p->scale, (int)(height / (f->cell > 0 ? 2 * f->line : 36)) + 1, false, NULL);
    if (p->scale.count < 3)
        axis_ends(&p->scale);
    p->bar = f->cell > 0 ? 2 * f->cell : 12;
    p->bar_labels = axis_widest(&p->scale, f);
}

static void cells_plan_rows(cells_plan *p, double height)
{
    const figure *f = p->f;
    int most = (int)(height / (p->face->cell > 0 ? 2 * p->face->line : 30)) + 1;
    p->y = (axis){ .low = f->y_first, .high = f->y_first + f->rows - 1 };
    if (f->rows == 1)
        axis_open_up(&p->y);
    axis_ticks(&p->y, most < f->rows ? most : f->rows, false, NULL);
    axis_tick_at_end(&p->y, true);
}

/* The distance from the left edge to the first column. */
static double cells_left(const cells_plan *p)
{
    const face *f = p->face;
    double names = f->cell > 0 ? 0 : 20;
    if (p->f->y_names)
        names = fmin(names_widest(p, p->f->y_names, p->f->y_name_count), NAMES_SHARE * p->at.width);
    else
        names = fmax(names, axis_widest(&p->y, f));
    return f->cell > 0 ? ceil((names + f->gap) / f->cell) * f->cell : ceil(f->pad + names + f->gap);
}

static void cells_plan_columns(cells_plan *p)
{
    const figure *f = p->f;
    double half = (p->high.x - p->low.x) / f->columns / 2;
    p->x = (axis){
        .low = f->x_first, .high = f->x_first + f->columns - 1, .from = p->low.x + half, .to = p->high.x - half
    };
    if (f->columns == 1)
        axis_open_up(&p->x);
    axis_ticks_apart(&p->x, p->face, f->columns < 10 ? f->columns : 10, NULL);
    axis_tick_at_end(&p->x, true);
}

static void cells_plan_names(cells_plan *p, double width)
{
    const face *f = p->face;
    p->below = f->line;
    p->names_stand = false;
    if (!cells_name_columns(p->f))
        return;
    double widest = names_widest(p, p->f->x_names, p->f->x_name_count);
    p->names_stand = f->cell <= 0 && widest + f->gap > width / p->f->columns;
    if (p->names_stand)
        p->below = fmin(widest, NAMES_SHARE * p->at.height) + f->gap;
}

static void cells_plan_frame(cells_plan *p)
{
    const face *f = p->face;
    double top = cells_put_head(p, NULL), unit = f->cell > 0 ? f->cell : 0.5;
    double height = p->at.height - top - 2 * f->line - f->pad;
    cells_plan_scale(p, height);
    cells_plan_rows(p, height);
    p->low.x = cells_left(p);
    double width = p->at.width - p->low.x - 2 * f->gap - p->bar - p->bar_labels - f->gap - f->pad;
    width = fmax(width, p->at.width / 8);
    cells_plan_names(p, width);
    double label = text_is_given(p->f->x_label) ? f->line : 0;
    height = fmax(p->at.height - top - p->below - label - f->pad - (f->cell > 0 ? 0 : 6), f->line);
    p->low.y = f->cell > 0 ? ceil(top / f->line) * f->line : floor(top);
    p->high.x = p->low.x + room_snapped(width, p->f->columns, unit);
    p->high.y = p->low.y + room_snapped(height, p->f->rows, f->cell > 0 ? f->line / 2 : 0.5);
    p->end = f->cell > 0 ? ceil(p->high.y / f->line) * f->line : p->high.y;
    double half = (p->high.y - p->low.y) / p->f->rows / 2;
    p->y.from = p->low.y + half;
    p->y.to = p->high.y - half;
    p->scale.from = p->high.y;
    p->scale.to = p->low.y;
    cells_plan_columns(p);
}

/* ---------------------------------------------------------------- drawing */

static void cells_put_rows(const cells_plan *p)
{
    const face *f = p->face;
    char name[NAME_MOST], number[FIGURE_NUMBER];
    double step = (p->high.y - p->low.y) / p->f->rows;
    int stride = step >= f->line * 0.9 ? 1 : (int)ceil(f->line / step);
    for (int i = 0; p->f->y_names && i < p->f->rows; i += stride) {
        face_cut(name, sizeof name, figure_row_name(number, p->f, i));
        face_shorten(f, name, p->low.x - f->gap - f->pad + 0.2 * p->at.width);
        draw_text(p->d, p->low.x - f->gap, p->low.y + (i + 0.5) * step + 0.35 * f->size, f->size, ANCHOR_END, INK_FAINT,
                  false, name);
    }
    for (int i = 0; !p->f->y_names && i < p->y.count; i++)
        draw_text(p->d, p->low.x - f->gap, axis_at(&p->y, p->y.tick[i]) + 0.35 * f->size, f->size, ANCHOR_END,
                  INK_FAINT, false, p->y.label[i]);
}

static void cells_put_column_names(const cells_plan *p)
{
    const face *f = p->face;
    char name[NAME_MOST], number[FIGURE_NUMBER];
    double step = (p->high.x - p->low.x) / p->f->columns, widest = 0;
    for (int i = 0; i < p->f->x_name_count; i++)
        widest = fmax(widest, face_width(f, p->f->x_names[i], f->size));
    double need = p->names_stand ? f->line * 0.9 : fmin(widest + f->gap, p->at.width / 3);
    int stride = step >= need ? 1 : (int)ceil(need / step);
    for (int i = 0; i < p->f->columns; i += stride) {
        double x = p->low.x + (i + 0.5) * step;
        face_cut(name, sizeof name, figure_column_name(number, p->f, i));
        if (p->names_stand) {
            face_shorten(f, name, p->below * 1.2);
            draw_text(p->d, x + 0.35 * f->size, p->end + f->gap, f->size, ANCHOR_END, INK_FAINT, true, name);
        } else {
            face_shorten(f, name, stride * step * 1.2);
            face_centred(p->d, f, x, p->end + 0.8 * f->line + (f->cell > 0 ? 0 : 2), name);
        }
    }
}

static void cells_put_columns(const cells_plan *p)
{
    const face *f = p->face;
    double gap = f->cell > 0 ? 0 : 4;
    if (cells_name_columns(p->f))
        cells_put_column_names(p);
    for (int i = 0; !cells_name_columns(p->f) && i < p->x.count; i++) {
        double x = axis_at(&p->x, p->x.tick[i]);
        if (f->cell <= 0)
            face_rule(p->d, (draw_point){ x, p->end }, (draw_point){ x, p->end + 4 }, INK_FAINT, DASH_NONE);
        face_centred(p->d, f, x, p->end + gap + 0.8 * f->line, p->x.label[i]);
    }
    if (text_is_given(p->f->x_label))
        face_centred(p->d, f, (p->low.x + p->high.x) / 2, p->end + gap + p->below + 0.8 * f->line, p->f->x_label);
}

static void cells_put_scale(const cells_plan *p)
{
    const face *f = p->face;
    uint8_t level[SCALE_STEPS];
    double x = p->high.x + 2 * f->gap;
    for (int i = 0; i < SCALE_STEPS; i++)
        level[i] = (uint8_t)((SCALE_STEPS - 1 - i) * (DRAW_LEVELS - 1) / (SCALE_STEPS - 1));
    draw_cells(p->d, x, p->low.y, p->bar, p->high.y - p->low.y, SCALE_STEPS, 1, figure_zero(p->f), level);
    for (int i = 0; i < p->scale.count; i++) {
        double y = fmin(fmax(axis_at(&p->scale, p->scale.tick[i]), p->low.y + 1), p->high.y - 1);
        draw_text(p->d, x + p->bar + f->gap, y + 0.35 * f->size, f->size, ANCHOR_START, INK_FAINT, false,
                  p->scale.label[i]);
    }
}

/* Thin lines at 45 degrees where there is no number: paper alone would read as zero. */
static void cells_put_hatching(const cells_plan *p, const uint8_t *level)
{
    const double apart = 7, step = 1;
    double width = p->high.x - p->low.x, height = p->high.y - p->low.y;
    for (double sum = apart; p->face->cell <= 0 && sum < width + height; sum += apart) {
        double from = fmax(0, sum - width), to = fmin(height, sum), begin = -1;
        for (double y = from; y < to + step; y += step) {
            int row = (int)(y / height * p->f->rows), column = (int)((sum - y) / width * p->f->columns);
            bool is_empty = y < to && row < p->f->rows && column < p->f->columns && column >= 0 &&
                            level[(size_t)row * (size_t)p->f->columns + (size_t)column] == DRAW_NOTHING;
            if (is_empty && begin < 0)
                begin = y;
            if (!is_empty && begin >= 0) {
                draw_point a = { p->low.x + sum - begin, p->low.y + begin }, b = { p->low.x + sum - y, p->low.y + y };
                face_rule(p->d, a, b, INK_GRID, DASH_NONE);
                begin = -1;
            }
        }
    }
}

static void cells_describe(const cells_plan *p)
{
    char text[400], low[40], high[40];
    io_print_float(low, sizeof low, p->scale.low);
    io_print_float(high, sizeof high, p->scale.high);
    static const words map = { "Heat map: %d rows (%s) by %d columns (%s), colours from %s to %s.",
                               "热图：%d 行（%s），%d 列（%s），颜色从 %s 到 %s。" };
    snprintf(text, sizeof text, p->at.language == CHINESE ? map.zh : map.en, p->f->rows,
             text_is_given(p->f->y_label) ? p->f->y_label : "y", p->f->columns,
             text_is_given(p->f->x_label) ? p->f->x_label : "x", low, high);
    draw_describe(p->d, p->f->title, p->f->description ? p->f->description : text);
}

/* Cells of whole pixels may not fill the height. Where nobody asked for a height, the picture ends below its text. */
static void cells_fit_height(const cells_plan *p)
{
    const face *f = p->face;
    double end = p->end + p->below + (text_is_given(p->f->x_label) ? f->line : 0) + f->pad + (f->cell > 0 ? 0 : 6);
    if (p->at.fits)
        p->d->height = fmin(p->d->height, f->cell > 0 ? ceil(end / f->line) * f->line : ceil(end));
}

static void cells_put_all(cells_plan *p, uint8_t *level)
{
    cells_plan_frame(p);
    cells_fit_height(p);
    cells_describe(p);
    cells_put_head(p, p->d);
    figure_levels(p->f, level);
    if (p->face->cell <= 0)
        draw_rect(p->d, p->low.x - 0.5, p->low.y - 0.5, p->high.x - p->low.x + 1, p->high.y - p->low.y + 1,
                  (draw_style){ .stroke = INK_GRID, .fill = INK_NONE });
    cells_put_hatching(p, level);
    draw_cells(p->d, p->low.x, p->low.y, p->high.x - p->low.x, p->high.y - p->low.y, p->f->rows, p->f->columns,
               figure_zero(p->f), level);
    cells_put_rows(p);
    cells_put_columns(p);
    cells_put_scale(p);
}

pe_status figure_draw_cells(draw **out, const figure *f, figure_place at, pe_error *err)
{
    cells_plan p = { .f = f, .face = at.cells ? &face_screen : &face_paper, .at = at };
    size_t count;
    if (!f->value)
        return io_fail(err, PE_ERR_SHAPE, "a figure of cells without cells; needs figure_cells");
    TRY(draw_new(out, at.width, at.height, err));
    p.d = *out;
    uint8_t *level = io_mul(&count, (size_t)f->rows, (size_t)f->columns) ? malloc(count) : NULL;
    if (level)
        cells_put_all(&p, level);
    p.d->failed = p.d->failed || !level;
    free(level);
    return PE_OK;
}
