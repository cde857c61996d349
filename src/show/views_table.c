/* SPDX-License-Identifier: MIT
 *
 * Codes and rotations of every position: as colours (table), as curves (curves), and which numbers differ between
 * positions (variance). */
#include "show/views.h"

#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_LENGTH 64
#define CURVE_LENGTH 128
#define CURVES 4
#define VARIANCE_LENGTH 512

/* Codes (points, width), or cos and sin side by side (points, 2 * pairs). */
typedef struct block {
    show_path path;
    unsigned hook;
    double *value;
    int rows, columns;
} block;

/* cos | sin, row by row. */
static pe_status block_rotations(block *b, const show_subject *s, pe_error *err)
{
    double *rotations;
    int64_t pairs, n = b->path.where.tokens;
    TRY(show_rotations(&rotations, &pairs, s, b->path.where, err));
    TRY(show_memory(&b->value, s, n, 2 * pairs, err));
    for (int64_t t = 0; t < n; t++)
        for (int64_t p = 0; p < 2 * pairs; p++)
            b->value[t * 2 * pairs + p] = rotations[p < pairs ? t * pairs + p : (n + t - 1) * pairs + p];
    b->columns = (int)(2 * pairs);
    return PE_OK;
}

static pe_status block_fill(block *b, const show_subject *s, unsigned hook, pe_error *err)
{
    int64_t width;
    b->hook = hook;
    b->rows = (int)b->path.where.tokens;
    if (hook == PE_HOOK_ROTATE)
        return block_rotations(b, s, err);
    TRY(show_codes(&b->value, &width, s, b->path.where, err));
    b->columns = (int)width;
    return PE_OK;
}

typedef pe_status draw_block(show_sheet *to, const block *b, const show_subject *s, const show_request *r,
                             pe_error *err);

/* Draws the subject's codes and rotations. length: the view's own; whole: the name of a view that samples nothing. */
static pe_status blocks_draw(show_sheet *to, const show_subject *s, const show_request *r, int64_t length,
                             const char *whole, draw_block *make, pe_error *err)
{
    static const unsigned hooks[] = { PE_HOOK_EMBED, PE_HOOK_ROTATE };
    for (int i = 0; i < 2; i++) {
        block b = { .hook = 0 };
        if (!(s->hooks & hooks[i]))
            continue;
        TRY(whole ? path_new_whole(&b.path, s, r, length, SHOW_CELLS_MAX, whole, err)
                  : path_new(&b.path, s, r, length, SHOW_POINTS_MAX, err));
        TRY(block_fill(&b, s, hooks[i], err));
        TRY(make(to, &b, s, r, err));
    }
    return PE_OK;
}

static const words position = { "position", "位置" };
static const words dimension = { "dimension", "维度" };

/* ---------------------------------------------------------------- table */

static double block_largest(const block *b)
{
    double most = 0;
    for (int64_t i = 0; i < (int64_t)b->rows * b->columns; i++)
        most = fmax(most, fabs(b->value[i]));
    return most;
}

/* Names columns "cos 3", for readers of single values. */
static pe_status table_name_columns(figure *f, int pairs, const show_subject *s, pe_error *err)
{
    enum { NAME = 24 };
    char *text = show_scratch(s, pairs * INT64_C(2), NAME);
    const char **name = show_scratch(s, pairs * INT64_C(2), sizeof *name);
    for (int i = 0; text && name && i < 2 * pairs; i++) {
        name[i] = text + i * NAME;
        snprintf(text + i * NAME, NAME, "%s %d", i < pairs ? "cos" : "sin", i % pairs);
    }
    f->x_numbered = true;
    if (text && name && figure_names(f, &f->x_names, name, 2 * pairs))
        return PE_OK;
    return io_fail(err, PE_ERR_NOMEM, "no memory for the names of %d pairs", pairs);
}

static pe_status table_draw(show_sheet *to, const block *b, const show_subject *s, const show_request *r, pe_error *err)
{
    figure *f;
    TRY(show_figure(&f, to, FIGURE_CELLS, s, err));
    double *v = figure_cells(f, b->rows, b->columns), most = block_largest(b);
    if (v)
        memcpy(v, b->value, (size_t)b->rows * (size_t)b->columns * sizeof *v);
    show_title(f, &show_view_table, s, r, b->hook);
    f->y_first = (double)r->start;
    f->midpoint = true;
    bool drawn = s->params.count > 0;                  /* by the seed, and far below 1 */
    f->low = most > 0 && most <= 1 && !drawn ? -1 : 0; /* sines and the like: one scale for all of them */
    f->high = -f->low;
    figure_text(f, &f->y_label, "%s", say(position, r->language));
    if (b->hook == PE_HOOK_EMBED) {
        figure_text(f, &f->x_label, "%s", say(dimension, r->language));
        static const words added = {
            "Each row is what one position adds to its word: %d positions, %d numbers each, none beyond ±%.3g.",
            "每一行是一个位置加到词向量上的内容：%d 个位置，每个 %d 个数，绝对值不超过 %.3g。"
        };
        static const words joined = {
            "Each row is what one position appends to its word: %d positions, %d numbers each, none beyond ±%.3g.",
            "每一行是一个位置拼接在词向量之后的内容：%d 个位置，每个 %d 个数，绝对值不超过 %.3g。"
        };
        show_caption(f, &b->path, r, pe_embed_width(s->e, 0) > 0 ? joined : added, b->rows, b->columns, most);
        return PE_OK;
    }
    int pairs = b->columns / 2;
    show_say(f, &f->x_label, r,
             (words){ "cos of pairs 0 to %d | sin of pairs 0 to %d", "第 0 至 %d 对的 cos | 第 0 至 %d 对的 sin" },
             pairs - 1, pairs - 1);
    show_caption(
        f, &b->path, r,
        (words){ "Each row is the rotation of a query at one position: left the cosines, right the sines "
                 "of %d angles. Fast pairs come first.",
                 "每一行是一个位置对查询的旋转，逐对给出：左半为 %d 个角度的余弦，右半为正弦；转得快的在前。" },
        pairs);
    return table_name_columns(f, pairs, s, err);
}

static pe_status table_make(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    return blocks_draw(to, s, r, TABLE_LENGTH, "table", table_draw, err);
}

const show_view show_view_table = {
    .name = "table",
    .title = { "What every position gets", "每个位置得到的编码" },
    .about = { "The codes that are added, or the cos and sin of the rotation, as a heat map: one row per position.",
               "以热图显示加上的编码，或旋转角的 cos 与 sin：每个位置一行。" },
    .hooks = PE_HOOK_EMBED | PE_HOOK_ROTATE,
    .first = true,
    .asks = "length|start|axis",
    .make = table_make,
};

/* ---------------------------------------------------------------- curves */

static pe_status curves_draw(show_sheet *to, const block *b, const show_subject *s, const show_request *r,
                             pe_error *err)
{
    figure *f;
    int64_t pick[SHOW_LINES_MAX];
    int picked;
    bool codes = b->hook == PE_HOOK_EMBED;
    words name = codes ? (words){ "dimension %d", "第 %d 维" } : (words){ "cos, pair %d", "第 %d 对的 cos" };
    TRY(show_pick(pick, &picked, r, codes ? b->columns : b->columns / 2, CURVES, true, codes ? "dimension" : "pair",
                  err));
    TRY(show_figure(&f, to, FIGURE_LINES, s, err));
    for (int i = 0; i < picked; i++) {
        char text[80];
        snprintf(text, sizeof text, say(name, r->language), (int)pick[i]);
        double *y = figure_add_series(f, text, NULL, b->rows);
        for (int t = 0; y && t < b->rows; t++) {
            f->series[f->series_count - 1].x[t] = (double)(r->start + t * b->path.step);
            y[t] = b->value[(int64_t)t * b->columns + pick[i]];
        }
    }
    show_title(f, &show_view_curves, s, r, b->hook);
    show_mark_trained(f, s, r, (double)r->start, (double)(r->start + b->path.length - 1));
    figure_text(f, &f->x_label, "%s", say(position, r->language));
    show_say(f, &f->y_label, r, (words){ "value", "值" });
    show_caption(
        f, &b->path, r,
        codes ? (words){ "One line per dimension: how its number changes from position to position.",
                         "每条线是一个维度：它的值如何随位置变化。" }
              : (words){ "One line per pair: the cosine of its angle. Early pairs swing fast, late ones hardly move.",
                         "每条线是一对：其角度的余弦。靠前的对摆动快，靠后的几乎不动。" });
    return PE_OK;
}

static pe_status curves_make(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    return blocks_draw(to, s, r, CURVE_LENGTH, NULL, curves_draw, err);
}

const show_view show_view_curves = {
    .name = "curves",
    .title = { "Numbers along the positions", "数值随位置的变化" },
    .about = { "A few dimensions, or pairs, as curves over the position.",
               "取几个维度（或几对）画成随位置变化的曲线。" },
    .hooks = PE_HOOK_EMBED | PE_HOOK_ROTATE,
    .asks = "length|start|axis|pairs",
    .make = curves_make,
};

/* ---------------------------------------------------------------- variance */

static double column_variance(const block *b, int column)
{
    double mean = 0, sum = 0;
    for (int64_t t = 0; t < b->rows; t++)
        mean += b->value[t * b->columns + column] / b->rows;
    for (int64_t t = 0; t < b->rows; t++)
        sum += pow(b->value[t * b->columns + column] - mean, 2);
    return sum / b->rows;
}

static int compare_falling(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

/* Counts the fewest columns that hold nine tenths of the variance. */
static pe_status variance_nine_tenths(int *out, const double *v, int count, const show_subject *s, pe_error *err)
{
    double *sorted, all = 0, sum = 0;
    TRY(show_memory(&sorted, s, count, 1, err));
    for (int i = 0; i < count; i++)
        all += sorted[i] = v[i];
    qsort(sorted, (size_t)count, sizeof *sorted, compare_falling);
    for (*out = 0; *out < count && sum < 0.9 * all; ++*out)
        sum += sorted[*out];
    return PE_OK;
}

/* all: of every column; wave: of every dimension of a code of sines, or NULL. */
static pe_status variance_put(show_sheet *to, const block *b, const double *all, const double *wave,
                              const show_subject *s, const show_request *r, pe_error *err)
{
    figure *f;
    bool codes = b->hook == PE_HOOK_EMBED;
    int lines = codes ? 1 : 2, width = b->columns / lines, most;
    const char *name[2] = { codes ? say((words){ "variance", "方差" }, r->language) : "cos", "sin" };
    TRY(show_figure(&f, to, FIGURE_LINES, s, err));
    for (int n = 0; n < lines; n++)
        show_put_broken(f, name[n], all + n * width, wave, width);
    show_title(f, &show_view_variance, s, r, b->hook);
    figure_text(f, &f->x_label, "%s", say(codes ? dimension : (words){ "pair", "对" }, r->language));
    show_say(f, &f->y_label, r, (words){ "variance over the positions", "在各位置上的方差" });
    TRY(variance_nine_tenths(&most, all, b->columns, s, err));
    show_caption(f, &b->path, r,
                 (words){ "Over %" PRId64 " positions, %d of %d numbers hold nine tenths of all the variance; the "
                          "rest are nearly the same at every position.",
                          "在 %" PRId64 " 个位置上，方差的九成集中在 %d 个数（共 %d 个）；其余几乎不区分位置。" },
                 b->path.length, most, b->columns);
    return PE_OK;
}

static pe_status variance_draw(show_sheet *to, const block *b, const show_subject *s, const show_request *r,
                               pe_error *err)
{
    double *all, *wave = NULL;
    int64_t count;
    TRY(show_memory(&all, s, b->columns, 1, err));
    for (int i = 0; i < b->columns; i++)
        all[i] = column_variance(b, i);
    if (s->waves && b->hook == PE_HOOK_EMBED)
        TRY(show_code_waves(&wave, &count, s, r, err));
    return variance_put(to, b, all, wave, s, r, err);
}

static pe_status variance_make(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    return blocks_draw(to, s, r, VARIANCE_LENGTH, NULL, variance_draw, err);
}

const show_view show_view_variance = {
    .name = "variance",
    .title = { "Which numbers carry position", "哪些维度携带位置" },
    .about = { "The variance of each number over the positions: where it is 0, all positions look alike.",
               "每个数在各位置上的方差：方差为 0 处，所有位置看起来都一样。" },
    .hooks = PE_HOOK_EMBED | PE_HOOK_ROTATE,
    .asks = "length|start|axis",
    .make = variance_make,
};
