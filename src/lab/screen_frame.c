/* SPDX-License-Identifier: MIT
 *
 * What a frame shows: how far, how fast, the table as it fills in, the losses. */
#include "lab/screen.h"

#include "lab/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define CHART_ROWS_MIN 7
#define CHART_ROWS 14
#define CHART_POINTS 160 /* of a line: as many as a wide terminal has dots */

/* ", 2:31 left" by the work that is left and the pace so far; "" while there is none. */
static void time_left(char *out, size_t cap, const race *r)
{
    double took = io_seconds() - r->begin, done = r->worked - r->worked_before, left = r->work - r->worked;
    *out = 0;
    if (!(done > 0) || !(left >= 0))
        return;
    double seconds = took / done * left;
    if (seconds < 36000)
        snprintf(out, cap, ", %d:%02d left", (int)seconds / 60, (int)seconds % 60);
    else if (seconds < 1e8)
        snprintf(out, cap, ", %.0f hours left", seconds / 3600);
}

void frame_line(FILE *to, const race *r, const screen_now *n)
{
    const lab_setup *s = &r->results.setup;
    char left[40];
    time_left(left, sizeof left, r);
    fprintf(to, "%s", s->entry[n->entry].name);
    if (s->seeds > 1)
        fprintf(to, ", seed %" PRIu64 " (%d of %d)", r->training[n->training].seed,
                1 + n->training / (r->trainings / s->seeds), s->seeds);
    if (n->test >= 0)
        fprintf(to, ", test at %" PRId64 ": window %" PRId64 " of %" PRId64, s->test[n->test], n->done, n->of);
    else
        fprintf(to, ", step %" PRId64 " of %" PRId64, n->done, n->of);
    fputs(left, to);
    if (isfinite(n->loss))
        fprintf(to, ", %.3f bits", n->loss / log(2));
    fprintf(to, ", %.0f tokens/s\n", n->tokens_per_second);
}

static void bar(FILE *to, const race *r, const draw_screen *place)
{
    double part = r->work > 0 ? r->worked / r->work : 0;
    int width = place->columns < 70 ? place->columns - 10 : 60;
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    for (int i = 0; i < width; i++)
        fputs(i < part * width ? (place->glyphs == GLYPHS_ASCII ? "#" : "\u2588")
                               : (place->glyphs == GLYPHS_ASCII ? "." : "\u2591"),
              to);
    fprintf(to, " %3.0f %%\n", 100 * part);
}

static void thin(chart_series *out, double *x, double *y, const lab_run *run)
{
    int points = run->trains < CHART_POINTS ? run->trains : CHART_POINTS;
    for (int i = 0; i < points; i++) { /* the mean of its part of the lines */
        int from = (int)((int64_t)i * run->trains / points), to = (int)((int64_t)(i + 1) * run->trains / points);
        x[i] = (double)run->train[to - 1].step;
        y[i] = 0;
        for (int k = from; k < to; k++)
            y[i] += run->train[k].loss / log(2) / (to - from);
    }
    out->x = x;
    out->y = y;
    out->count = points;
}

/* Of the seed that is being trained. */
static int series(chart_series *out, double *room, const race *r, uint64_t seed)
{
    int count = 0;
    for (int i = 0; i < r->trainings; i++) {
        const lab_run *run = &r->results.run[i];
        if (run->seed != seed || run->trains < 2)
            continue;
        double *x = room + 2 * CHART_POINTS * count;
        out[count] = (chart_series){ .name = r->results.setup.entry[run->entry].name, .ink = INK_SERIES + run->entry };
        thin(&out[count++], x, x + CHART_POINTS, run);
    }
    return count;
}

static void losses(FILE *to, const race *r, uint64_t seed, draw_screen place)
{
    chart_series *s = calloc(LAB_ENTRIES_MAX, sizeof *s);
    double *room = calloc((size_t)LAB_ENTRIES_MAX * CHART_POINTS, 2 * sizeof *room);
    int count = s && room ? series(s, room, r, seed) : 0;
    if (count)
        chart_terminal(to,
                       &(chart){ .title = "",
                                 .x_label = "step",
                                 .y_label = "bits per byte in training",
                                 .series = s,
                                 .series_count = count },
                       &place, NULL);
    free(room);
    free(s);
}

void frame_all(FILE *to, const race *r, const screen_now *n, const draw_screen *place)
{
    int used = r->results.setup.entries + 10; /* with a caption of two lines */
    draw_screen rest = *place;
    rest.columns = place->columns > 100 ? 100 : place->columns - 1;
    rest.rows = place->rows - used < CHART_ROWS ? place->rows - used : CHART_ROWS;
    bar(to, r, place);
    frame_line(to, r, n);
    putc('\n', to);
    lab_print_table(to, &r->results, rest.columns);
    if (rest.rows >= CHART_ROWS_MIN) {
        putc('\n', to);
        losses(to, r, r->training[n->training].seed, rest);
    }
}
