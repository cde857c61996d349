/* SPDX-License-Identifier: MIT
 *
 * Published curves beside ours. Theirs are in perplexity per token of WikiText-103 and ours in bits per byte of
 * something else, so both are drawn as perplexity over perplexity at the trained length: the shape is what compares. */
#include "lab/report_parts.h"

#include "zoo/zoo.h"
#include "zoo/spec_read.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LENGTHS 4
#define ROWS ((int)(sizeof rows / sizeof *rows))

/* Press, Smith, Lewis: Train Short, Test Long, arXiv 2108.12409; trained at 512. */
static const double lengths[LENGTHS] = { 512, 1012, 2512, 3512 };
static const struct {
    const char *row, *name;
    double perplexity[LENGTHS];
} rows[] = {
    { "sinusoidal", "sinusoidal", { 20.05, 43.54, 132.41, 178.97 } },
    { "rope", "rotary", { 20.07, 21.37, 31.58, 35.54 } },
    { "t5", "T5 bias", { 19.65, 18.79, 20.41, 22.91 } },
    { "alibi", "ALiBi", { 19.73, 18.73, 18.41, 18.40 } },
};

/* The first entry that is this row and nothing added afterwards; -1: none. */
static int ours(const report *p, const char *row)
{
    const lab_setup *s = &p->r->setup;
    for (int i = 0; i < s->entries; i++) {
        bool plain = zoo_spec_parts(s->entry[i].spec) == 1 && !strcmp(s->entry[i].spec, s->entry[i].trained);
        const pe_info *info = plain ? zoo_spec_row(s->entry[i].spec) : NULL;
        if (info && !strcmp(info->name, row) && isfinite(report_value(p, i, s->train_length).mean))
            return i;
    }
    return -1;
}

static void add_theirs(curves *c, chart *out, const report *p, int row)
{
    int entry = ours(p, rows[row].row);
    chart_series *line = curves_add(c, out, p, entry < 0 ? 0 : entry, false);
    line->name = rows[row].name;
    line->dots = true;
    line->dash = DASH_LONG;
    line->ink = entry < 0 ? INK_FAINT : line->ink;
    for (int n = 0; n < LENGTHS; n++)
        curves_point(c, out, lengths[n] / lengths[0], rows[row].perplexity[n] / rows[row].perplexity[0], 0, 0);
}

static void add_ours(curves *c, chart *out, const report *p, int entry)
{
    const lab_setup *s = &p->r->setup;
    double at_first = report_value(p, entry, s->train_length).mean;
    curves_add(c, out, p, entry, false)->dots = true;
    for (int n = 0; n < s->tests; n++) {
        double bits = report_value(p, entry, s->test[n]).mean;
        if (s->test[n] >= s->train_length && isfinite(bits))
            curves_point(c, out, (double)s->test[n] / (double)s->train_length, exp2(bits - at_first), 0, 0);
    }
}

static pe_status put_chart(const report *p, curves *c, chart *out, const char *title, pe_error *err)
{
    draw *d = NULL;
    out->title = title;
    out->x_label = "length, in trained lengths";
    out->y_label = "perplexity over perplexity at the trained length";
    out->x_log2 = out->y_log = true;
    out->width = 520;
    out->height = 380;
    pe_status s = chart_draw(&d, out, err);
    fputs("<figure>\n", p->to);
    if (!s)
        s = draw_svg(p->to, d, DRAW_INSIDE, err);
    fputs("</figure>\n", p->to);
    draw_free(d);
    curves_free(c);
    return s;
}

static pe_status put_charts(const report *p, pe_error *err)
{
    curves c;
    chart theirs = { .x_unit = "" }, mine = { .x_unit = "" };
    pe_status s = curves_new(&c, ROWS, LENGTHS, err);
    if (s)
        return s;
    for (int i = 0; i < ROWS; i++)
        add_theirs(&c, &theirs, p, i);
    s = put_chart(p, &c, &theirs, "Published: per token, trained at 512", err);
    if (s || (s = curves_new(&c, ROWS, LAB_TESTS_MAX, err)))
        return s;
    for (int i = 0; i < ROWS; i++)
        if (ours(p, rows[i].row) >= 0)
            add_ours(&c, &mine, p, ours(p, rows[i].row));
    return put_chart(p, &c, &mine, "Here: per byte", err);
}

static void put_table(const report *p)
{
    html_table(p, "Perplexity on WikiText-103, trained at 512");
    fputs("<thead><tr><th scope=\"col\" style=\"text-align:left\">encoding</th>", p->to);
    for (int n = 0; n < LENGTHS; n++)
        fprintf(p->to, "<th scope=\"col\">%.0f</th>", lengths[n]);
    fputs("</tr></thead>\n<tbody>\n", p->to);
    for (int i = 0; i < ROWS; i++) {
        fputs("<tr><th scope=\"row\">", p->to);
        html_text(p, rows[i].name);
        fputs("</th>", p->to);
        for (int n = 0; n < LENGTHS; n++)
            fprintf(p->to, "<td>%.2f</td>", rows[i].perplexity[n]);
        fputs("</tr>\n", p->to);
    }
    fputs("</tbody></table></div>\n", p->to);
}

pe_status report_published(const report *p, pe_error *err)
{
    int count = 0;
    for (int i = 0; i < ROWS; i++)
        count += ours(p, rows[i].row) >= 0;
    if (!count || lab_is_eval(&p->r->setup))
        return PE_OK;
    fputs(
        "<section aria-labelledby=\"published\">\n<h2 id=\"published\">Beside published curves</h2>\n"
        "<p>Press, Smith and Lewis, <cite>Train Short, Test Long</cite> (arXiv 2108.12409): a large model on "
        "WikiText-103. Theirs is perplexity per token, ours per byte, of another text and a far smaller model: what "
        "compares is the shape, which rises, which stays, in which order, not the height.</p>\n<div class=\"pair\">\n",
        p->to);
    pe_status s = put_charts(p, err);
    fputs("</div>\n", p->to);
    put_table(p);
    fputs("</section>\n", p->to);
    return s;
}
