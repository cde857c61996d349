/* SPDX-License-Identifier: MIT
 *
 * The files of a report. Each is made in memory and put in its place in one step. */
#include "lab/report.h"
#include "lab/report_parts.h"
#include "lab/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

lab_summary report_value(const report *p, int entry, int64_t length)
{
    return lab_summarise(p->r, entry, length, lab_shown(&p->r->setup));
}

static bool has_value(const report *p, int64_t length)
{
    for (int e = 0; e < p->r->setup.entries; e++)
        if (report_value(p, e, length).seeds)
            return true;
    return false;
}

void report_begin(report *out, FILE *to, const lab_results *r)
{
    *out = (report){ .to = to, .r = r };
    lab_rank(out->order, r);
    for (int i = 0; i < r->setup.tests; i++) {
        int64_t length = r->setup.test[i];
        if (!has_value(out, length))
            continue;
        out->last = length > out->last ? length : out->last;
        if (!out->first || length == r->setup.train_length ||
            (length < out->first && out->first != r->setup.train_length))
            out->first = length;
    }
}

report_runs report_runs_of(const report *p, int entry)
{
    report_runs out = { .finished = true };
    const lab_setup *s = &p->r->setup;
    for (int i = 0; i < p->r->runs; i++) {
        const lab_run *run = &p->r->run[i];
        if (!run->ended || strcmp(s->entry[run->entry].trained, s->entry[entry].trained))
            continue;
        out.finished = out.finished && run->end.finished;
        double n = ++out.runs; /* means, one run at a time */
        out.params += ((double)run->end.params - out.params) / n;
        out.position_params += ((double)run->end.position_params - out.position_params) / n;
        out.tokens += ((double)run->end.tokens - out.tokens) / n;
        out.seconds += (run->end.seconds - out.seconds) / n;
        out.speed += (run->end.tokens_per_second - out.speed) / n;
        out.final_loss += (run->end.final_loss - out.final_loss) / n;
    }
    return out;
}

/* ---------------------------------------------------------------- files */

typedef pe_status (*writer)(const report *p, pe_error *err);

static pe_status all_lines(const report *p, pe_error *err)
{
    (void)err;
    lab_write_all(p->to, p->r);
    return PE_OK;
}

typedef struct page {
    const lab_results *r;
    writer write;
} page;

static pe_status make_page(FILE *to, const void *with, pe_error *err)
{
    const page *made = with;
    report p;
    report_begin(&p, to, made->r);
    return made->write(&p, err);
}

static pe_status make_picture(FILE *to, const void *with, pe_error *err)
{
    return draw_svg(to, with, DRAW_ALONE, err);
}

/* Nothing to draw, no file. */
static pe_status put_picture(const char *folder, const figure *f, const lab_results *r, pe_error *err)
{
    char name[80];
    draw *d;
    report p;
    report_begin(&p, NULL, r);
    pe_status s = report_draw(&d, f, &p, 760, 440, err);
    snprintf(name, sizeof name, "%s.svg", f->id);
    if (d && !s)
        s = io_make_file(folder, name, make_picture, d, err);
    draw_free(d);
    return s;
}

static const struct {
    const char *name;
    writer write;
} file[] = { { "results.jsonl", all_lines }, { "results.csv", report_csv }, { "report.html", report_page } };

pe_status lab_report_lacks(const char *folder, pe_error *err)
{
    pe_status s = PE_OK;
    for (int i = 0; i < (int)(sizeof file / sizeof *file) && !s; i++)
        s = lab_folder_lacks(folder, file[i].name, err);
    for (int i = 0; i < REPORT_FIGURES && !s; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s.svg", report_figures[i].id);
        s = lab_folder_lacks(folder, name, err);
    }
    return s;
}

pe_status lab_report_write(const char *folder, const lab_results *r, pe_error *err)
{
    pe_status s = PE_OK;
    for (int i = 0; i < REPORT_FIGURES && !s; i++)
        s = put_picture(folder, &report_figures[i], r, err);
    for (int i = 0; i < (int)(sizeof file / sizeof *file) && !s; i++)
        s = io_make_file(folder, file[i].name, make_page, &(page){ r, file[i].write }, err);
    return s;
}
