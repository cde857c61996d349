/* SPDX-License-Identifier: MIT
 *
 * The four pictures of a report. */
#include "lab/report.h"
#include "lab/report_parts.h"

#include <inttypes.h>
#include <math.h>

static void mark_trained(curves *c, chart *out, const report *p)
{
    out->x_mark = (double)p->r->setup.train_length;
    snprintf(c->mark, sizeof c->mark, "trained at %" PRId64, p->r->setup.train_length);
}

/* ---------------------------------------------------------------- against length */

static void plot_length(curves *c, chart *out, const report *p, int entry)
{
    const lab_setup *s = &p->r->setup;
    lab_summary last = { 0 };
    chart_series *line = curves_add(c, out, p, entry, s->seeds > 1);
    line->dots = true;
    for (int i = 0; i < s->tests; i++) {
        last = report_value(p, entry, s->test[i]);
        if (last.seeds)
            curves_point(c, out, (double)s->test[i], last.mean, last.mean - last.spread, last.mean + last.spread);
    }
    line->note = last.cannot ? "cannot" : NULL;
    curves_keep_if_any(c, out);
}

/* What is shown, over lengths or positions. The title begins with its unit. */
static void set_axes(curves *c, chart *out, const report *p, const char *x)
{
    c->title[0] = (char)(c->title[0] - 'a' + 'A');
    curves_axes(c, x, lab_unit(&p->r->setup));
    mark_trained(c, out, p);
    out->x_log2 = true;
    out->y_log = lab_is_eval(&p->r->setup);
    curves_fit_bits(out);
}

static void plot_extrapolation(curves *c, chart *out, const report *p)
{
    const lab_setup *s = &p->r->setup;
    for (int i = 0; i < s->entries; i++)
        plot_length(c, out, p, p->order[i]);
    snprintf(c->title, sizeof c->title, "%s against length", lab_unit(s));
    set_axes(c, out, p, "length (tokens)");
}

/* ---------------------------------------------------------------- against position */

/* The longest length at which an entry has a number; 0: none. */
static int64_t longest_of(const report *p, int entry)
{
    int64_t longest = 0;
    for (int i = 0; i < p->r->setup.tests; i++)
        if (p->r->setup.test[i] > longest && report_value(p, entry, p->r->setup.test[i]).seeds)
            longest = p->r->setup.test[i];
    return longest;
}

/* The mean over seeds of what is shown in one part of the window. */
static double by_position(const report *p, int entry, int64_t length, int bin)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < p->r->tests; i++) {
        const lab_test_line *l = &p->r->test[i];
        if (l->entry != entry || l->length != length || !isfinite(l->by_position[bin]))
            continue;
        sum += lab_is_eval(&p->r->setup) ? exp2(l->by_position[bin]) : l->by_position[bin];
        count++;
    }
    return count ? sum / count : (double)NAN;
}

static void plot_position(curves *c, chart *out, const report *p)
{
    const lab_setup *s = &p->r->setup;
    for (int i = 0; i < s->entries; i++) {
        int64_t length = longest_of(p, p->order[i]);
        curves_add(c, out, p, p->order[i], false);
        for (int bin = 0; bin < LAB_BINS && length; bin++) {
            double y = by_position(p, p->order[i], length, bin);
            if (isfinite(y))
                curves_point(c, out, (bin + 0.5) / LAB_BINS * (double)length, y, 0, 0);
        }
        curves_keep_if_any(c, out);
    }
    snprintf(c->title, sizeof c->title, "%s by position in a window of %" PRId64, lab_unit(s), p->last);
    set_axes(c, out, p, "position (tokens)");
}

/* ---------------------------------------------------------------- recall */

/* Percent right over all seeds at the entry's longest length; NAN: never asked. */
static double recalled(const report *p, int entry, int64_t length, int k)
{
    double asked = 0, right = 0;
    for (int i = 0; i < p->r->tests; i++) {
        const lab_test_line *l = &p->r->test[i];
        if (l->entry != entry || l->length != length || l->cannot[0])
            continue;
        asked += (double)l->asked[k];
        right += (double)l->right[k];
    }
    return asked > 0 ? 100 * right / asked : (double)NAN;
}

static void plot_recall(curves *c, chart *out, const report *p)
{
    for (int i = 0; i < p->r->setup.entries; i++) {
        int64_t length = longest_of(p, p->order[i]);
        curves_add(c, out, p, p->order[i], false)->dots = true;
        for (int k = 0; k < LAB_DISTANCES; k++) {
            double y = recalled(p, p->order[i], length, k);
            if (isfinite(y))
                curves_point(c, out, ldexp(1, k), y, 0, 0);
        }
        curves_keep_if_any(c, out);
    }
    snprintf(c->title, sizeof c->title, "Recall by distance in a window of %" PRId64, p->last);
    curves_axes(c, "told this many tokens before, or up to twice that", "recalled (%)");
    mark_trained(c, out, p);
    out->x_log2 = true;
    out->y_max = 100;
}

/* ---------------------------------------------------------------- all of them */

const figure report_figures[REPORT_FIGURES] = {
    { "extrapolation",
      "Against length",
      { "Each encoding is trained at one length and asked at others. A band is the spread of the seeds.",
        "One trained model, and what each way of extending it makes of lengths it was not trained at." },
      LAB_TESTS_MAX,
      plot_extrapolation },
    { "position",
      "Where it breaks",
      { "The same windows, position by position: the longest each encoding can serve, in 64 parts, mean of the seeds.",
        "The same windows, position by position: the longest that each way can serve, in 64 parts." },
      LAB_BINS,
      plot_position },
    { "recall",
      "Recall by distance",
      { "Of facts told earlier in the window, how many are known when they are asked for, by how far back they were "
        "told.",
        "Of what was told earlier in the window, how much is known when it is asked for." },
      LAB_DISTANCES,
      plot_recall },
    { "training",
      "Training",
      { "Loss on what was trained on, mean of the seeds; a band is their range.", "" },
      REPORT_BUCKETS,
      report_plot_training },
};

static void point_to(chart *out, const curves *c)
{
    out->title = c->title;
    out->x_label = c->x_label;
    out->y_label = c->y_label;
    out->x_mark_label = out->x_mark > 0 ? c->mark : NULL;
}

/* The chart, in what c holds; no series: nothing to draw. */
static pe_status plot(chart *out, curves *c, const figure *f, const report *p, pe_error *err)
{
    pe_status s = curves_new(c, p->r->setup.entries, f->points, err);
    *out = (chart){ .x_unit = "" };
    if (s)
        return s;
    f->plot(c, out, p);
    point_to(out, c);
    return PE_OK;
}

pe_status report_is_empty(bool *out, const figure *f, const report *p, pe_error *err)
{
    curves c;
    chart made;
    pe_status s = plot(&made, &c, f, p, err);
    *out = !made.series_count;
    curves_free(&c);
    return s;
}

pe_status report_draw(draw **out, const figure *f, const report *p, double width, double height, pe_error *err)
{
    curves c;
    chart made;
    *out = NULL;
    pe_status s = plot(&made, &c, f, p, err);
    made.width = width;
    made.height = height;
    if (!s && made.series_count)
        s = chart_draw(out, &made, err);
    curves_free(&c);
    return s;
}

pe_status lab_report_chart(FILE *to, const lab_results *r, const draw_screen *screen, pe_error *err)
{
    curves c;
    chart made;
    report p;
    report_begin(&p, to, r);
    pe_status s = plot(&made, &c, &report_figures[0], &p, err);
    if (!s && made.series_count)
        s = chart_terminal(to, &made, screen, err);
    curves_free(&c);
    return s;
}
