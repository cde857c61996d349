/* SPDX-License-Identifier: MIT
 *
 * The charts of a report. */
#include "lab/report_parts.h"

#include "io/checked.h"
#include "io/io.h"
#include "result/result.h"
#include "zoo/spec_read.h"
#include "zoo/zoo.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLOURS 12
#define BUCKETS 160 /* points of a training curve */

/* A chart, and room for its lines of up to `points` points. */
struct curves {
    chart chart;
    const report *p;
    chart_series *series;
    double *number; /* (lines, 4, points): x, y, low, high */
    int points;
    char title[160], mark[60];
};

static pe_status curves_new(curves *out, const report_figure *f, const report *p, pe_error *err)
{
    int lines = p->r->setup.entries + PUBLISHED_ROWS;
    size_t count = 0;
    *out = (curves){ .p = p, .points = f->points, .chart = { .x_unit = "" } };
    if (io_mul(&count, (size_t)lines * 4, (size_t)f->points)) {
        out->series = calloc((size_t)lines, sizeof *out->series);
        out->number = calloc(count, sizeof *out->number);
    }
    out->chart.series = out->series;
    return out->series && out->number ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for a chart of %d lines", lines);
}

static void curves_free(curves *c)
{
    free(c->series);
    free(c->number);
}

int report_ink(int entry)
{
    return INK_SERIES + entry % COLOURS;
}

/* A line for an entry, in its colour; with a band where there are several seeds and `band`. */
static chart_series *curves_add(curves *c, int entry, bool band)
{
    static const draw_dash dash[] = { DASH_NONE, DASH_LONG, DASH_DOT };
    int line = c->chart.series_count++;
    double *x = c->number + (size_t)line * 4 * (size_t)c->points, *y = x + c->points;
    band = band && c->p->r->setup.seeds > 1;
    c->series[line] = (chart_series){
        .name = c->p->r->setup.entry[entry].name,
        .x = x,
        .y = y,
        .low = band ? y + c->points : NULL,
        .high = band ? y + 2 * c->points : NULL,
        .ink = report_ink(entry),
        .dash = dash[entry / COLOURS % 3],
    };
    return &c->series[line];
}

/* One more point of the line that was added last; none where y is not finite. */
static void curves_point(curves *c, double x, double y, double low, double high)
{
    int line = c->chart.series_count - 1;
    chart_series *s = &c->series[line];
    double *at = c->number + (size_t)line * 4 * (size_t)c->points, value[4] = { x, y, low, high };
    if (s->count == c->points || !isfinite(y))
        return;
    for (int k = 0; k < 4; k++)
        at[k * c->points + s->count] = value[k];
    s->count++;
}

/* Drops the line that was added last where no point was put. */
static void curves_keep_if_any(curves *c)
{
    if (c->series[c->chart.series_count - 1].count == 0)
        c->chart.series_count--;
}

/* The frame from the half below the lowest to the half above the highest: 0 bits are out of sight. */
static void curves_fit_bits(curves *c)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < c->chart.series_count; i++)
        for (int n = 0; n < c->series[i].count; n++) {
            low = fmin(low, c->series[i].y[n]);
            high = fmax(high, c->series[i].y[n]);
        }
    if (c->chart.y_log || !isfinite(low) || !isfinite(high) || fabs(low) > 1e6 || fabs(high) > 1e6)
        return;
    c->chart.y_min = floor(2 * low - 0.1) / 2;
    c->chart.y_max = ceil(2 * high + 0.1) / 2;
}

static void mark_trained(curves *c)
{
    c->chart.x_log2 = true;
    c->chart.x_mark = (double)c->p->r->setup.train_length;
    snprintf(c->mark, sizeof c->mark, "trained at %" PRId64, c->p->r->setup.train_length);
}

/* ---------------------------------------------------------------- against length and position */

static void plot_length(curves *c, int entry)
{
    const lab_setup *s = &c->p->r->setup;
    lab_summary last = { 0 };
    chart_series *line = curves_add(c, entry, true);
    line->dots = true;
    for (int i = 0; i < s->tests; i++) {
        last = report_value(c->p, entry, s->test[i]);
        if (last.seeds)
            curves_point(c, (double)s->test[i], last.mean, last.mean - last.spread, last.mean + last.spread);
    }
    line->note = last.cannot ? "cannot" : NULL;
    curves_keep_if_any(c);
}

/* What is shown, over lengths or positions. The title begins with its unit. */
static void set_axes(curves *c, const char *x)
{
    c->title[0] = (char)(c->title[0] - 'a' + 'A');
    c->chart.x_label = x;
    c->chart.y_label = lab_unit(&c->p->r->setup);
    c->chart.y_log = lab_is_eval(&c->p->r->setup);
    mark_trained(c);
    curves_fit_bits(c);
}

static void plot_extrapolation(curves *c)
{
    for (int i = 0; i < c->p->r->setup.entries; i++)
        plot_length(c, c->p->order[i]);
    snprintf(c->title, sizeof c->title, "%s against length", lab_unit(&c->p->r->setup));
    set_axes(c, "length (tokens)");
}

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

static void plot_position(curves *c)
{
    for (int i = 0; i < c->p->r->setup.entries; i++) {
        int entry = c->p->order[i];
        int64_t length = longest_of(c->p, entry);
        curves_add(c, entry, false);
        for (int bin = 0; bin < LAB_BINS && length; bin++)
            curves_point(c, (bin + 0.5) / LAB_BINS * (double)length, by_position(c->p, entry, length, bin), 0, 0);
        curves_keep_if_any(c);
    }
    snprintf(c->title, sizeof c->title, "%s by position in a window of %" PRId64, lab_unit(&c->p->r->setup),
             c->p->last);
    set_axes(c, "position (tokens)");
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

static void plot_recall(curves *c)
{
    for (int i = 0; i < c->p->r->setup.entries; i++) {
        int entry = c->p->order[i];
        int64_t length = longest_of(c->p, entry);
        curves_add(c, entry, false)->dots = true;
        for (int k = 0; k < LAB_DISTANCES; k++)
            curves_point(c, ldexp(1, k), recalled(c->p, entry, length, k), 0, 0);
        curves_keep_if_any(c);
    }
    snprintf(c->title, sizeof c->title, "Recall by distance in a window of %" PRId64, c->p->last);
    c->chart.x_label = "told this many tokens before, or up to twice that";
    c->chart.y_label = "recalled (%)";
    c->chart.y_max = 100;
    mark_trained(c);
}

/* ---------------------------------------------------------------- training */

/* A log may have any number of lines: steps are put into buckets, each run's mean in each. */
typedef struct bucket {
    double sum, low, high;
    double steps; /* sum of the runs' mean steps */
    int runs;
} bucket;

/* Adds a run's mean loss, in bits, of each bucket of steps. */
static void add_run(bucket *to, const lab_run *run, double steps)
{
    double sum[BUCKETS] = { 0 }, step[BUCKETS] = { 0 };
    int count[BUCKETS] = { 0 };
    for (int i = 0; i < run->trains; i++) {
        double part = ((double)run->train[i].step - 1) / steps * BUCKETS;
        int at = part < 0 ? 0 : part < BUCKETS ? (int)part : BUCKETS - 1;
        if (!isfinite(run->train[i].loss))
            continue;
        sum[at] += run->train[i].loss / log(2);
        step[at] += (double)run->train[i].step;
        count[at]++;
    }
    for (int i = 0; i < BUCKETS; i++) {
        double mean = count[i] ? sum[i] / count[i] : 0;
        if (!count[i])
            continue;
        to[i].low = to[i].runs ? fmin(to[i].low, mean) : mean;
        to[i].high = to[i].runs ? fmax(to[i].high, mean) : mean;
        to[i].sum += mean;
        to[i].steps += step[i] / count[i];
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

static void plot_training(curves *c)
{
    const lab_results *r = c->p->r;
    double steps = most_steps(r);
    for (int i = 0; i < r->setup.entries; i++) {
        bucket b[BUCKETS] = { { 0 } };
        for (int n = 0; n < r->runs; n++)
            if (r->run[n].entry == c->p->order[i])
                add_run(b, &r->run[n], steps);
        curves_add(c, c->p->order[i], true);
        for (int n = 0; n < BUCKETS; n++)
            if (b[n].runs)
                curves_point(c, b[n].steps / b[n].runs, b[n].sum / b[n].runs, b[n].low, b[n].high);
        curves_keep_if_any(c);
    }
    snprintf(c->title, sizeof c->title, "Training: loss by step");
    c->chart.x_label = "step";
    c->chart.y_label = lab_unit(&r->setup);
    curves_fit_bits(c);
}

/* ---------------------------------------------------------------- published curves beside ours */

const double published_length[PUBLISHED_LENGTHS] = { 512, 1012, 2512, 3512 };
const report_published published[PUBLISHED_ROWS] = {
    { "sinusoidal", "sinusoidal", { 20.05, 43.54, 132.41, 178.97 } },
    { "rope", "rotary", { 20.07, 21.37, 31.58, 35.54 } },
    { "t5", "T5 bias", { 19.65, 18.79, 20.41, 22.91 } },
    { "alibi", "ALiBi", { 19.73, 18.73, 18.41, 18.40 } },
};

int report_published_entry(const report *p, int row)
{
    const lab_setup *s = &p->r->setup;
    for (int i = 0; i < s->entries; i++) {
        bool plain = zoo_spec_parts(s->entry[i].spec) == 1 && !strcmp(s->entry[i].spec, s->entry[i].trained);
        const pe_info *info = plain ? zoo_spec_row(s->entry[i].spec) : NULL;
        if (info && !strcmp(info->name, published[row].row) && isfinite(report_value(p, i, s->train_length).mean))
            return i;
    }
    return -1;
}

/* Theirs are in perplexity per token of WikiText-103 and ours in bits per byte of something else, so both are drawn as
 * perplexity over perplexity at the trained length: the shape is what compares. */
static void set_published_axes(curves *c, const char *title)
{
    snprintf(c->title, sizeof c->title, "%s", title);
    c->chart.x_label = "length / trained length";
    c->chart.y_label = "perplexity / perplexity at the trained length";
    c->chart.x_log2 = c->chart.y_log = true;
}

static void plot_published(curves *c)
{
    for (int i = 0; i < PUBLISHED_ROWS; i++) {
        int entry = report_published_entry(c->p, i);
        chart_series *line = curves_add(c, entry < 0 ? 0 : entry, false);
        line->name = published[i].name;
        line->dots = true;
        line->dash = DASH_LONG;
        line->ink = entry < 0 ? INK_FAINT : line->ink;
        for (int n = 0; n < PUBLISHED_LENGTHS; n++)
            curves_point(c, published_length[n] / published_length[0],
                         published[i].perplexity[n] / published[i].perplexity[0], 0, 0);
    }
    set_published_axes(c, "Published: per token, trained at 512");
}

static void plot_ours(curves *c)
{
    const lab_setup *s = &c->p->r->setup;
    for (int i = 0; i < PUBLISHED_ROWS; i++) {
        int entry = report_published_entry(c->p, i);
        if (entry < 0)
            continue;
        double at_first = report_value(c->p, entry, s->train_length).mean;
        curves_add(c, entry, false)->dots = true;
        for (int n = 0; n < s->tests; n++)
            if (s->test[n] >= s->train_length)
                curves_point(c, (double)s->test[n] / (double)s->train_length,
                             exp2(report_value(c->p, entry, s->test[n]).mean - at_first), 0, 0);
    }
    set_published_axes(c, "Here: per byte");
}

/* ---------------------------------------------------------------- all of them */

static const char recall_about[] =
    "Facts are stated early in the window and asked for later: the share that is answered "
    "correctly, by the distance in tokens.";

const report_figure report_figures[] = {
    [FIGURE_LENGTH] = { "extrapolation",
                        "Loss against length",
                        { "Each encoding is trained at one length and tested at several. A band shows the standard "
                          "deviation over seeds.",
                          "One trained model, tested at several lengths with each context extension method." },
                        LAB_TESTS_MAX,
                        plot_extrapolation },
    [FIGURE_POSITION] = { "position",
                          "Loss against position",
                          { "The loss in each of 64 parts of the longest window that each encoding can serve; mean "
                            "over "
                            "seeds.",
                            "The loss in each of 64 parts of the longest window that each method can serve." },
                          LAB_BINS,
                          plot_position },
    [FIGURE_RECALL] = { "recall", "Recall by distance", { recall_about, recall_about }, LAB_DISTANCES, plot_recall },
    [FIGURE_TRAINING] = { "training",
                          "Training",
                          { "Training loss, mean over seeds; a band shows their range.", "" },
                          BUCKETS,
                          plot_training },
    [FIGURE_PUBLISHED] = { .points = PUBLISHED_LENGTHS, .plot = plot_published },
    [FIGURE_OURS] = { .points = LAB_TESTS_MAX, .plot = plot_ours },
};

/* The texts of a chart in the language of the report; room: where they lie while it is drawn. */
static void curves_speak(curves *c, words_text room[4])
{
    const char **text[] = { &c->chart.title, &c->chart.x_label, &c->chart.y_label, &c->chart.x_mark_label };
    c->chart.language = (int)c->p->r->language;
    for (int i = 0; i < 4; i++)
        if (*text[i]) {
            room[i] = words_translate(*text[i], c->p->r->language);
            *text[i] = room[i].text;
        }
}

pe_status report_draw(draw **out, const report_figure *f, const report *p, double width, double height, pe_error *err)
{
    curves c;
    words_text room[4];
    *out = NULL;
    pe_status s = curves_new(&c, f, p, err);
    if (!s) {
        f->plot(&c);
        c.chart.title = c.title;
        c.chart.x_mark_label = c.chart.x_mark > 0 ? c.mark : NULL;
        curves_speak(&c, room);
        c.chart.width = width;
        c.chart.height = height;
        c.chart.cells = height == RESULT_TERMINAL_HEIGHT;
    }
    if (!s && c.chart.series_count)
        s = chart_draw(out, &c.chart, err);
    curves_free(&c);
    return s;
}
