/* SPDX-License-Identifier: MIT
 *
 * A report on its way to its files. report.c: the files; report_figures.c, report_training.c, report_curves.c: what is
 * drawn; report_page.c, report_css.c: the HTML; report_table.c, report_fit.c, report_published.c, report_made.c: its
 * sections; report_csv.c. Every text from a run goes through html_text, and no other way. */
#ifndef POSENC_LAB_REPORT_PARTS_H
#define POSENC_LAB_REPORT_PARTS_H

#include "draw/page.h"
#include "io/io.h"
#include "lab/results.h"

typedef struct report {
    FILE *to;
    const lab_results *r;
    int order[LAB_ENTRIES_MAX]; /* best first */
    int64_t first, last;        /* lengths with a number: the trained one, else the shortest; the longest */
} report;

void report_begin(report *out, FILE *to, const lab_results *r);
/* What is shown of an entry at a length, over seeds. */
lab_summary report_value(const report *p, int entry, int64_t length);

/* ---------------------------------------------------------------- curves */

/* Room for a chart's lines: `lines` of up to `points` each, NAN where nothing is put. */
typedef struct curves {
    chart_series *series;
    double *number; /* (lines, 4, points): x, y, low, high */
    int lines, points;
    char title[160], x_label[80], y_label[80], mark[60], description[400]; /* what the chart points to */
} curves;

pe_status curves_new(curves *out, int lines, int points, pe_error *err);
void curves_free(curves *c);
/* A line for an entry, in its colour; with a band where `band`. */
chart_series *curves_add(curves *c, chart *to, const report *p, int entry, bool band);
/* One more point of the line that was added last. */
void curves_point(curves *c, const chart *to, double x, double y, double low, double high);
/* Drops the line that was added last where no point was put. */
void curves_keep_if_any(curves *c, chart *out);
void curves_axes(curves *c, const char *x, const char *y);
/* The frame from the half below the lowest to the half above the highest: 0 bits are out of sight. */
void curves_fit_bits(chart *out);
int report_ink(int entry);
draw_dash report_dash(int entry);

typedef struct figure {
    const char *id, *heading;
    const char *words[2];                                 /* a paragraph below the heading: of a race, of an eval */
    int points;                                           /* of a line, at most */
    void (*plot)(curves *c, chart *out, const report *p); /* no series: nothing to draw */
} figure;
extern const figure report_figures[]; /* extrapolation, position, recall, training */
#define REPORT_FIGURES 4
#define REPORT_BUCKETS 160 /* points of a training curve */
void report_plot_training(curves *c, chart *out, const report *p);
pe_status report_is_empty(bool *out, const figure *f, const report *p, pe_error *err); /* nothing to draw */
/* *out is NULL where it is empty. */
pe_status report_draw(draw **out, const figure *f, const report *p, double width, double height, pe_error *err);

/* ---------------------------------------------------------------- HTML */

const char *report_noun(const report *p);          /* what an entry is: "encoding", "method" */
void html_text(const report *p, const char *text); /* escaped */
void html_swatch(const report *p, int entry);      /* a dot in the entry's colour */
/* A heading cell with an entry's dot and name. */
void html_entry(const report *p, int entry);
/* Its caption, and a table that scrolls by itself where it is too wide; </table></div> closes it. */
void html_table(const report *p, const char *caption);
void html_time(const report *p, double seconds);

extern const char report_css[];
pe_status report_page(const report *p, pe_error *err);
void report_ranked(const report *p);
void report_fit(const report *p);
pe_status report_published(const report *p, pe_error *err);
void report_made(const report *p);
pe_status report_csv(const report *p, pe_error *err);

/* Over the runs of the weights an entry uses: their number and means. */
typedef struct report_runs {
    int runs;
    double params, position_params, tokens, seconds, speed, final_loss; /* nats */
    bool finished;
} report_runs;
report_runs report_runs_of(const report *p, int entry);

#endif
