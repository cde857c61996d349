/* SPDX-License-Identifier: MIT
 *
 * A page of figures: a section for each title, with the groups beside each other, and the numbers where they are few.
 */
#include "draw/figure_inside.h"

#include "base/try.h"
#include "draw/html_frame.h"
#include "io/io.h"

#include <math.h>

#define NUMBERS_MOST 600 /* of a table */
#define WIDE 720.0
#define PAIRED 560.0 /* beside another */
#define THIRD 380.0  /* beside two others, or more */
#define PHONE 360.0

static const words numbers_word = { "The numbers", "数据" };
static const words page_word = { "Position encodings", "位置编码" };

/* ---------------------------------------------------------------- tables */

static void html_put_number(FILE *to, double v)
{
    char text[40] = "";
    if (isfinite(v))
        io_print_float(text, sizeof text, v);
    fprintf(to, "<td>%s</td>", text);
}

static void html_put_head_cell(FILE *to, const char *scope, const char *text)
{
    fprintf(to, "<th scope=\"%s\">", scope);
    draw_escape(to, text);
    fputs("</th>", to);
}

static void html_put_matrix(FILE *to, const figure *f)
{
    char number[FIGURE_NUMBER];
    fputs("<thead><tr><td></td>", to);
    for (int c = 0; c < f->columns; c++)
        html_put_head_cell(to, "col", figure_column_name(number, f, c));
    fputs("</tr></thead><tbody>\n", to);
    for (int r = 0; r < f->rows; r++) {
        fputs("<tr>", to);
        html_put_head_cell(to, "row", figure_row_name(number, f, r));
        for (int c = 0; c < f->columns; c++)
            html_put_number(to, f->value[(size_t)r * (size_t)f->columns + (size_t)c]);
        fputs("</tr>\n", to);
    }
    fputs("</tbody>\n", to);
}

static void html_put_points(FILE *to, const figure *f)
{
    bool dials = f->kind == FIGURE_DIALS;
    fputs("<thead><tr><td></td>", to);
    html_put_head_cell(to, "col", dials ? "cos" : f->x_label ? f->x_label : "x");
    html_put_head_cell(to, "col", dials ? "sin" : f->y_label ? f->y_label : "y");
    fputs("</tr></thead><tbody>\n", to);
    for (int i = 0; i < f->series_count; i++)
        for (int k = 0; k < f->series[i].count; k++) {
            fputs("<tr>", to);
            html_put_head_cell(to, "row", f->series[i].name);
            html_put_number(to, f->series[i].x[k]);
            html_put_number(to, f->series[i].y[k]);
            fputs("</tr>\n", to);
        }
    fputs("</tbody>\n", to);
}

static int64_t figure_number_count(const figure *f)
{
    int64_t count = (int64_t)f->rows * f->columns;
    for (int i = 0; i < f->series_count; i++)
        count += 2 * (int64_t)f->series[i].count;
    return count;
}

static void html_put_table(FILE *to, const figure *f, language l)
{
    if (figure_number_count(f) > NUMBERS_MOST)
        return;
    fputs("<details><summary>", to);
    draw_escape(to, say(numbers_word, l));
    fputs("</summary>\n", to);
    html_frame_table(to, text_or_empty(f->title), "numbers");
    if (f->kind == FIGURE_CELLS)
        html_put_matrix(to, f);
    else
        html_put_points(to, f);
    html_frame_table_end(to);
    fputs("</details>\n", to);
}

/* ---------------------------------------------------------------- figures */

typedef struct drawing {
    const figure *f;
    const figure_how *how;
} drawing;

/* The section's heading shows the title, so the picture shows the group instead. */
static pe_status html_draw_figure(draw **out, const void *with, html_frame_size size, pe_error *err)
{
    const drawing *g = with;
    char title[400];
    figure f = *g->f;
    figure_place at = { .width = size.width, .height = size.height, .language = g->how->language };
    f.title = f.group;
    TRY(figure_draw_at(out, &f, at, err));
    if (snprintf(title, sizeof title, "%s%s%s", text_or_empty(g->f->title), f.group ? ": " : "",
                 text_or_empty(f.group)) >= (int)sizeof title)
        io_end_with_dots(title, sizeof title);
    draw_rename(*out, title);
    return draw_status(*out, err);
}

/* The column of a figure's group, from 1, and how many groups there are. */
typedef struct column {
    int at, count;
} column;

static column figure_column(figure *const *f, int count, int index)
{
    column c = { 0, 0 };
    for (int i = 0; i < count; i++) {
        int k = 0;
        while (!figures_share_group(f[k], f[i]))
            k++;
        c.count += k == i;
        if (k == i && figures_share_group(f[i], f[index]))
            c.at = c.count;
    }
    return c;
}

static pe_status html_put_figure(FILE *to, const figure *f, const figure_how *how, column c, bool is_alone,
                                 pe_error *err)
{
    double width = how->width > 0 ? how->width : is_alone ? WIDE : c.count > 2 ? THIRD : PAIRED;
    fprintf(to, "<figure class=\"at-%d\">\n", c.at);
    TRY(html_frame_picture(to, html_draw_figure, &(drawing){ f, how }, (html_frame_size){ width, how->height },
                           (html_frame_size){ PHONE, how->height }, err));
    if (f->caption) {
        fputs("<figcaption>", to);
        draw_escape(to, f->caption);
        fputs("</figcaption>\n", to);
    }
    html_put_table(to, f, how->language);
    fputs("</figure>\n", to);
    return PE_OK;
}

static pe_status html_put_section(FILE *to, figure *const *f, int count, int first, const figure_how *how,
                                  pe_error *err)
{
    int many = 0;
    pe_status s = PE_OK;
    for (int i = first; i < count; i++)
        many += figures_share_title(f[i], f[first]);
    fputs("<section>\n<h2>", to);
    draw_escape(to, text_or_empty(f[first]->title));
    int groups = figure_column(f, count, first).count;
    fprintf(to, "</h2>\n<div class=\"%s\">\n",
            many < 2     ? "single"
            : groups > 3 ? "sheet many"
            : groups > 2 ? "sheet many three"
                         : "sheet");
    for (int i = first; i < count && !s; i++)
        if (figures_share_title(f[i], f[first]))
            s = html_put_figure(to, f[i], how, figure_column(f, count, i), many == 1, err);
    fputs("</div>\n</section>\n", to);
    return s;
}

pe_status figures_html(FILE *to, figure *const *f, int count, const figure_how *how, pe_error *err)
{
    pe_status s = PE_OK;
    html_frame_begin(to, &(html_frame_head){ .title = how->title ? how->title : say(page_word, how->language),
                                             .language = how->language });
    for (int i = 0; i < count && !s; i++) {
        int k = 0;
        while (!figures_share_title(f[k], f[i]))
            k++;
        if (k == i)
            s = html_put_section(to, f, count, i, how, err);
    }
    html_frame_end(to);
    return s;
}
