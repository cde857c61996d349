/* SPDX-License-Identifier: MIT
 *
 * Codes against each other. The view `products`: p_i . p_j; `path`: two dimensions of the code, position by position;
 * `shift`: whether one matrix moves every code on, with sines and cosines and with sines alone. */
#include "show/views.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- products */

enum { PRODUCTS_LENGTH = 64, PRODUCTS_MAX = 1024 };

static pe_status products_make(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    show_path path;
    figure *f;
    double *code, low = 0;
    int64_t width;
    TRY(path_new_whole(&path, s, r, PRODUCTS_LENGTH, PRODUCTS_MAX, "products", err));
    TRY(show_codes(&code, &width, s, path.where, err));
    int n = (int)path.where.tokens;
    TRY(show_figure(&f, to, FIGURE_CELLS, s, err));
    double *v = figure_cells(f, n, n);
    for (int i = 0; v && i < n * n; i++) {
        v[i] = show_dot(code + i / n * width, code + i % n * width, width);
        low = fmin(low, v[i]);
    }
    f->midpoint = low < 0;
    f->x_first = f->y_first = (double)r->start;
    show_title(f, &show_view_products, s, r, PE_HOOK_EMBED);
    show_say(f, &f->x_label, r, (words){ "position j", "位置 j" });
    show_say(f, &f->y_label, r, (words){ "position i", "位置 i" });
    show_caption(f, &path, r,
                 (words){ "p_i . p_j of %" PRId64
                          " dimensions: where a diagonal has one colour, the product depends on the "
                          "distance alone.",
                          "%" PRId64 " 维编码的 p_i . p_j：同一条对角线上颜色相同，说明点积只与距离有关。" },
                 width);
    return PE_OK;
}

const show_view show_view_products = {
    .name = "products",
    .title = { "Codes multiplied with each other", "编码两两的点积" },
    .about = { "The dot product of every two codes, p_i . p_j, as a heat map.",
               "以热图显示每两个位置编码的点积 p_i . p_j。" },
    .hooks = PE_HOOK_EMBED,
    .asks = "length|start|axis",
    .make = products_make,
};

/* ---------------------------------------------------------------- path */

enum { PATH_LENGTH = 32 };

static pe_status dimensions_draw(show_sheet *to, const show_path *p, const double *code, int64_t width,
                                 const int64_t two[2], const show_subject *s, const show_request *r, pe_error *err)
{
    figure *f;
    int n = (int)p->where.tokens, jumps = 0;
    double *x, least[2] = { INFINITY, INFINITY }, most[2] = { -INFINITY, -INFINITY };
    TRY(show_memory(&x, s, n, 1, err));
    TRY(show_figure(&f, to, FIGURE_LINES, s, err));
    f->own_scale = true;
    for (int t = 0; t < n; t++)
        x[t] = code[t * width + two[0]];
    double *y = figure_add_series(f, NULL, x, n);
    for (int t = 0; y && t < n; t++) {
        y[t] = code[t * width + two[1]];
        for (int i = 0; i < 2; i++) {
            least[i] = fmin(least[i], code[t * width + two[i]]);
            most[i] = fmax(most[i], code[t * width + two[i]]);
        }
        jumps += t && x[t] != x[t - 1] && y[t] != y[t - 1];
    }
    if (y)
        f->series[0].dots = true;
    show_title(f, &show_view_path, s, r, PE_HOOK_EMBED);
    figure_text(f, &f->x_label, "p[%" PRId64 "]", two[0]);
    figure_text(f, &f->y_label, "p[%" PRId64 "]", two[1]);
    show_caption(f, p, r,
                 (words){ "A dot per position, %d of them, joined in order; in %d steps both numbers change. The axes "
                          "are those of this code alone: p[%" PRId64 "] goes from %.3g to %.3g, p[%" PRId64
                          "] from %.3g to %.3g.",
                          "每个位置一个点，共 %d 个，按顺序相连；其中 %d 步两个数都改变。坐标轴只按这种编码取："
                          "p[%" PRId64 "] 从 %.3g 到 %.3g，p[%" PRId64 "] 从 %.3g 到 %.3g。" },
                 n, jumps, two[0], least[0], most[0], two[1], least[1], most[1]);
    return PE_OK;
}

static pe_status dimensions_make(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    show_path path;
    double *code;
    int64_t width, picked[SHOW_LINES_MAX], two[2] = { 0, 1 };
    int count;
    TRY(path_new(&path, s, r, PATH_LENGTH, SHOW_POINTS_MAX, err));
    TRY(show_codes(&code, &width, s, path.where, err));
    if (r->pick_count) {
        TRY(show_pick(picked, &count, r, width, 2, true, "dimensions", err));
        two[0] = picked[0];
        two[1] = picked[count > 1];
    }
    two[1] = two[1] < width ? two[1] : width - 1;
    return dimensions_draw(to, &path, code, width, two, s, r, err);
}

const show_view show_view_path = {
    .name = "path",
    .title = { "The path of two dimensions", "两个维度的轨迹" },
    .about = { "The first two dimensions of the code, one against the other: integers go straight on, bits jump "
               "between corners, sinusoids go round a circle.",
               "编码的前两维，一维对另一维：整数沿直线前进，二进制在四个角之间跳动，正弦编码沿圆周前进。" },
    .hooks = PE_HOOK_EMBED,
    .asks = "length|start|axis|pairs",
    .make = dimensions_make,
};

/* ---------------------------------------------------------------- shift */

enum { SHIFT_POSITIONS = 512, SHIFT_MOST = 32, SHIFT_COLUMNS = 16 };

/* Columns of a matrix by rows of positions, made orthonormal in place; those that follow from others are dropped. */
static int basis_make(double *b, int columns, int rows)
{
    int kept = 0;
    for (int c = 0; c < columns; c++) {
        double *x = b + kept * rows;
        memmove(x, b + c * rows, (size_t)rows * sizeof *x);
        double before = sqrt(show_dot(x, x, rows));
        for (int again = 0; again < 2; again++)
            for (int k = 0; k < kept; k++) {
                double share = show_dot(x, b + k * rows, rows);
                for (int i = 0; i < rows; i++)
                    x[i] -= share * b[k * rows + i];
            }
        double size = sqrt(show_dot(x, x, rows));
        for (int i = 0; i < rows; i++)
            x[i] /= size > 0 ? size : 1;
        kept += size > 1e-9 * before;
    }
    return kept;
}

/* What the best matrix leaves of the codes k further on, of their size. */
static double shift_left(const double *code, int64_t width, const int64_t *column, int columns, int k, double *b,
                         double *y)
{
    double left = 0, all = 0;
    for (int c = 0; c < columns; c++)
        for (int t = 0; t < SHIFT_POSITIONS; t++)
            b[c * SHIFT_POSITIONS + t] = code[t * width + column[c]];
    int kept = basis_make(b, columns, SHIFT_POSITIONS);
    for (int c = 0; c < columns; c++) {
        for (int t = 0; t < SHIFT_POSITIONS; t++)
            y[t] = code[(t + k) * width + column[c]];
        all += show_dot(y, y, SHIFT_POSITIONS);
        for (int n = 0; n < kept; n++) {
            double share = show_dot(y, b + n * SHIFT_POSITIONS, SHIFT_POSITIONS);
            for (int t = 0; t < SHIFT_POSITIONS; t++)
                y[t] -= share * b[n * SHIFT_POSITIONS + t];
        }
        left += show_dot(y, y, SHIFT_POSITIONS);
    }
    return all > 0 ? sqrt(left / all) : 0;
}

static bool same_wave(double a, double b) /* they are measured */
{
    return fabs(a - b) < 1e-3 * a;
}

/* The fast dimensions, two of each wavelength, and of each two the sine: the one that is nearer to 0 at position 0. */
static void shift_columns(int64_t both[SHIFT_COLUMNS], int *all, int64_t sines[SHIFT_COLUMNS], int *sine_count,
                          const double *code, const double *wave, int64_t width)
{
    *all = *sine_count = 0;
    for (int64_t c = 0; c < width && *all < SHIFT_COLUMNS; c++) {
        int64_t other = c + 1;
        bool taken = false;
        for (int i = 0; i < *all; i++)
            taken = taken || same_wave(wave[both[i]], wave[c]);
        while (other < width && !same_wave(wave[other], wave[c]))
            other++;
        if (taken || other == width || !(wave[c] < SHIFT_POSITIONS))
            continue;
        both[(*all)++] = c;
        both[(*all)++] = other;
        sines[(*sine_count)++] = fabs(code[c]) < fabs(code[other]) ? c : other;
    }
}

static pe_status shift_make(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    static const words names[] = { { "sine and cosine", "正弦和余弦" }, { "sine alone", "只有正弦" } };
    int64_t width, waves, column[2][SHIFT_COLUMNS];
    int count[2];
    double *code, *wave, *b, *y, most[2] = { 0, 0 }, x[SHIFT_MOST];
    figure *f;
    TRY(show_codes(&code, &width, s, pe_positions_run(1, SHIFT_POSITIONS + SHIFT_MOST, 0), err));
    TRY(show_code_waves(&wave, &waves, s, r, err));
    TRY(show_memory(&b, s, SHIFT_COLUMNS, SHIFT_POSITIONS, err));
    TRY(show_memory(&y, s, SHIFT_POSITIONS, 1, err));
    shift_columns(column[0], &count[0], column[1], &count[1], code, wave, width);
    TRY(show_figure(&f, to, FIGURE_LINES, s, err));
    for (int k = 0; k < SHIFT_MOST; k++)
        x[k] = k + 1;
    for (int i = 0; i < 2; i++) {
        double *line = figure_add_series(f, say(names[i], r->language), x, SHIFT_MOST);
        for (int k = 0; line && k < SHIFT_MOST; k++) {
            line[k] = shift_left(code, width, column[i], count[i], k + 1, b, y);
            most[i] = fmax(most[i], line[k]);
        }
    }
    show_title(f, &show_view_shift, s, r, PE_HOOK_EMBED);
    show_say(f, &f->x_label, r, (words){ "k", "k" });
    show_say(f, &f->y_label, r, (words){ "left over, of the code", "剩余误差（相对编码大小）" });
    show_say(f, &f->caption, r,
             (words){ "The best matrix from p(t) to p(t + k), over %d positions and %d dimensions that turn within "
                      "them, leaves up "
                      "to %.2g with sine and cosine, and up to %.2g with the %d sines alone.",
                      "在 %d 个位置、%d 个转得满一圈的维度上，从 p(t) 到 p(t + k) 的最佳矩阵：用正弦和余弦最多剩 %.2g；"
                      "只用正弦最多剩 %.2g（共 %d 维）。" },
             SHIFT_POSITIONS, count[0], most[0] < 1e-9 ? 0 : most[0], most[1], count[1]);
    return PE_OK;
}

static bool shift_fits(const show_subject *s)
{
    return s->waves && s->axes == 1;
}

const show_view show_view_shift = {
    .name = "shift",
    .title = { "Does one matrix move every code on?", "一个矩阵能否平移所有编码" },
    .about = { "What the best linear map from the code of t to that of t + k leaves over: nothing with sine and "
               "cosine, much with sine alone.",
               "从位置 t 的编码到 t + k 的编码，最佳线性映射剩下的误差：有正弦和余弦时为零，只有正弦时很大。" },
    .hooks = PE_HOOK_EMBED,
    .fits = shift_fits,
    .asks = "",
    .make = shift_make,
};
