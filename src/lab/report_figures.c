/* SPDX-License-Identifier: MIT
 *
 * The four pictures of a report. */
#include "lab/report.h"
#include "lab/report_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define BUCKETS 160 /* points of a training curve */

static void mark_trained(curves *c, chart *out, const report *p)
{
    out->x_mark = (double)p->r->setup.train_length;
    snprintf(c->mark, sizeof c->mark, "trained at %" PRId64, p->r->setup.train_length);
}

static void name_axes(curves *c, const char *x, const char *y)
{
    snprintf(c->x_label, sizeof c->x_label, "%s", x);
    snprintf(c->y_label, sizeof c->y_label, "%s", y);
}

/* Drops the line that was added last where no point was put. */
static void keep_if_any(curves *c, chart *out)
{
    if (c->series[out->series_count - 1].count == 0)
        out->series_count--;
}

/* From the half below the lowest to the half above the highest: 0 bits are out of sight. */
static void fit_bits(chart *out)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < out->series_count; i++)
        for (int n = 0; n < out->series[i].count; n++) {
            low = fmin(low, out->series[i].y[n]);
            high = fmax(high, out->series[i].y[n]);
        }
    if (out->y_log || !isfinite(low) || !isfinite(high) || fabs(low) > 1e6 || fabs(high) > 1e6)
        return;
    out->y_min = floor(2 * low - 0.1) / 2;
    out->y_max = ceil(2 * high + 0.1) / 2;
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
    keep_if_any(c, out);
}

static void plot_extrapolation(curves *c, chart *out, const report *p)
{
    const lab_setup *s = &p->r->setup;
    for (int i = 0; i < s->entries; i++)
        plot_length(c, out, p, p->order[i]);
    snprintf(c->title, sizeof c->title, "%s against length", lab_unit(s));
    c->title[0] = (char)(c->title[0] - 'a' + 'A');
    name_axes(c, "length (tokens)", lab_unit(s));
    mark_trained(c, out, p);
    out->x_log2 = true;
    out->y_log = lab_is_eval(s);
    fit_bits(out);
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
        keep_if_any(c, out);
    }
    snprintf(c->title, sizeof c->title, "%s by position in a window of %" PRId64, lab_unit(s), p->last);
    c->title[0] = (char)(c->title[0] - 'a' + 'A');
    name_axes(c, "position (tokens)", lab_unit(s));
    mark_trained(c, out, p);
    out->x_log2 = true;
    out->y_log = lab_is_eval(s);
    fit_bits(out);
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
        keep_if_any(c, out);
    }
    snprintf(c->title, sizeof c->title, "Recall by distance in a window of %" PRId64, p->last);
    name_axes(c, "told this many tokens before, or up to twice that", "recalled (%)");
    mark_trained(c, out, p);
    out->x_log2 = true;
    out->y_max = 100;
}

/* ---------------------------------------------------------------- training */

typedef struct bucket {
    double sum, low, high;
    int runs;
} bucket;

/* Adds a run's mean loss, in bits, of each bucket of steps. */
static void add_run(bucket *to, const lab_run *run, double steps)
{
    double sum[BUCKETS] = { 0 };
    int count[BUCKETS] = { 0 };
    for (int i = 0; i < run->trains; i++) {
        double part = ((double)run->train[i].step - 1) / steps * BUCKETS;
        int at = part < 0 ? 0 : part < BUCKETS ? (int)part : BUCKETS - 1;
        if (!isfinite(run->train[i].loss))
            continue;
        sum[at] += run->train[i].loss / log(2);
        count[at]++;
    }
    for (int i = 0; i < BUCKETS; i++) {
        double mean = count[i] ? sum[i] / count[i] : 0;
        if (!count[i])
            continue;
        to[i].low = to[i].runs ? fmin(to[i].low, mean) : mean;
        to[i].high = to[i].runs ? fmax(to[i].high, mean) : mean;
        to[i].sum += mean;
        to[i].runs++;
    }
}

static double most_steps(const lab_results *r)
{
    double most = 1;
    for (int i = 0; i < r->runs; i++)
        if (r->run[i].trains)
            most = fmax(most, (double)r->run[i].train[r->run[i].trains - 1].step);
    return most;
}

static void plot_training(curves *c, chart *out, const report *p)
{
    double steps = most_steps(p->r);
    for (int i = 0; i < p->r->setup.entries; i++) {
        bucket b[BUCKETS] = { { 0 } };
        for (int n = 0; n < p->r->runs; n++)
            if (p->r->run[n].entry == p->order[i])
                add_run(b, &p->r->run[n], steps);
        curves_add(c, out, p, p->order[i], p->r->setup.seeds > 1);
        for (int n = 0; n < BUCKETS; n++)
            if (b[n].runs)
                curves_point(c, out, (n + 1.0) / BUCKETS * steps, b[n].sum / b[n].runs, b[n].low, b[n].high);
        keep_if_any(c, out);
    }
    snprintf(c->title, sizeof c->title, "Training: loss by step");
    name_axes(c, "step", lab_unit(&p->r->setup));
    fit_bits(out);
}

/* ---------------------------------------------------------------- all of them */

const figure report_figures[REPORT_FIGURES] = {
    { "extrapolation", "Against length",
      "Each encoding is trained at one length and asked at others. A band is the spread of the seeds.", LAB_TESTS_MAX,
      plot_extrapolation },
    { "position", "Where it breaks",
      "The same windows, position by position: the longest each encoding can serve, in 64 parts, mean of the seeds.",
      LAB_BINS, plot_position },
    { "recall", "Recall by distance",
      "Of facts told earlier in the window, how many are known when they are asked for, by how far back they were "
      "told.",
      LAB_DISTANCES, plot_recall },
    { "training", "Training", "Loss on what was trained on, mean of the seeds; a band is their range.", BUCKETS,
      plot_training },
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
