/* SPDX-License-Identifier: MIT
 *
 * Inside of a report. report_tree.c fills the tree of results; report_charts.c draws; report.c writes the files. */
#ifndef POSENC_LAB_REPORT_PARTS_H
#define POSENC_LAB_REPORT_PARTS_H

#include "draw/draw.h"
#include "lab/results.h"

typedef struct report {
    const lab_results *r;
    int order[LAB_ENTRIES_MAX]; /* best first */
    int64_t first, last;        /* of lab_tested */
} report;

report report_of(const lab_results *r);
/* What is shown of an entry at a length, over seeds. */
lab_summary report_value(const report *p, int entry, int64_t length);
int report_ink(int entry);

typedef struct curves curves;
typedef struct report_figure {
    const char *id; /* its file is ID.svg */
    const char *heading;
    const char *about[2]; /* of a race, of an eval */
    int points;           /* of a line, at most */
    void (*plot)(curves *c);
} report_figure;
/* Those that have a file, and two that stand side by side. */
enum {
    FIGURE_LENGTH,
    FIGURE_POSITION,
    FIGURE_RECALL,
    FIGURE_TRAINING,
    REPORT_FILES,
    FIGURE_PUBLISHED = REPORT_FILES,
    FIGURE_OURS
};
extern const report_figure report_figures[];
/* *out is NULL where there is nothing to draw. */
pe_status report_draw(draw **out, const report_figure *f, const report *p, double width, double height, pe_error *err);

/* Press, Smith, Lewis: Train Short, Test Long, arXiv 2108.12409; WikiText-103, trained at 512. */
#define PUBLISHED_LENGTHS 4
#define PUBLISHED_ROWS 4
typedef struct report_published {
    const char *row, *name; /* of the registry; as the paper calls it */
    double perplexity[PUBLISHED_LENGTHS];
} report_published;
extern const double published_length[PUBLISHED_LENGTHS];
extern const report_published published[PUBLISHED_ROWS];
int report_published_entry(const report *p, int row); /* the entry that is this row and nothing else; -1: none */

#endif
