/* SPDX-License-Identifier: MIT
 *
 * The files of a report. Each is made in memory and put in its place in one step. */
#include "lab/report.h"

#include "io/io.h"
#include "lab/report_parts.h"
#include "lab/run.h"

#include <stdio.h>

static pe_status write_lines(FILE *to, const void *with, pe_error *err)
{
    (void)err;
    lab_write_all(to, with);
    return PE_OK;
}

static pe_status write_tree(FILE *to, result *tree, result_form form, pe_error *err)
{
    pe_status s = tree ? result_write(to, tree, form, &(result_screen){ 0 }, err)
                       : io_fail(err, PE_ERR_NOMEM, "no memory for a report");
    result_free(tree);
    return s;
}

static void add_test(result *out, const lab_setup *s, const lab_test_line *l)
{
    result_open(out, RESULT_RECORD, NULL, NULL);
    result_int(out, "seed", NULL, (int64_t)l->seed);
    result_int(out, "length", NULL, l->length);
    result_int(out, "windows", NULL, l->windows);
    result_text(out, "entry", NULL, s->entry[l->entry].name);
    result_real(out, "bits", NULL, l->bits);
    result_real(out, "last_quarter", NULL, l->last_quarter);
    result_text(out, "unit", NULL, lab_is_eval(s) ? "bits per token" : lab_unit(s));
    result_real(out, "recall", NULL, lab_measured(l, LAB_RECALL));
    result_real(out, "accuracy", NULL, lab_measured(l, LAB_ACCURACY));
    result_real(out, "seconds", NULL, l->seconds);
    result_text(out, "spec", NULL, l->spec);
    result_text(out, "cannot", NULL, l->cannot);
    result_close(out);
}

static pe_status write_tests(FILE *to, const void *with, pe_error *err)
{
    const lab_results *r = with;
    result *tree = result_new();
    if (tree) {
        result_open(tree, RESULT_TABLE, "tests", NULL);
        for (int i = 0; i < r->tests; i++)
            add_test(tree, &r->setup, &r->test[i]);
        result_close(tree);
    }
    return write_tree(to, tree, RESULT_AS_CSV, err);
}

static pe_status write_html(FILE *to, const void *with, pe_error *err)
{
    result *tree = result_new();
    if (tree)
        lab_add_report(tree, with);
    if (tree && ((const lab_results *)with)->language == CHINESE)
        result_to_chinese(tree);
    return write_tree(to, tree, RESULT_AS_HTML, err);
}

static pe_status write_picture(FILE *to, const void *with, pe_error *err)
{
    return draw_svg(to, with, DRAW_ALONE, err);
}

static pe_status put_picture(const char *folder, const report_figure *f, const report *p, pe_error *err)
{
    char name[80];
    draw *d;
    pe_status s = report_draw(&d, f, p, 760, 440, err);
    snprintf(name, sizeof name, "%s.svg", f->id);
    if (d && !s)
        s = io_make_file(folder, name, write_picture, d, err);
    draw_free(d);
    return s;
}

static const struct {
    const char *name;
    pe_status (*write)(FILE *to, const void *with, pe_error *err);
} file[] = { { "results.jsonl", write_lines }, { "report.html", write_html }, { "results.csv", write_tests } };
#define FILES ((int)(sizeof file / sizeof *file))

pe_status lab_report_lacks(const char *folder, pe_error *err)
{
    pe_status s = PE_OK;
    for (int i = 0; i < FILES && !s; i++)
        s = lab_folder_lacks(folder, file[i].name, err);
    for (int i = 0; i < REPORT_FILES && !s; i++) {
        char name[80];
        snprintf(name, sizeof name, "%s.svg", report_figures[i].id);
        s = lab_folder_lacks(folder, name, err);
    }
    return s;
}

pe_status lab_report_write(const char *folder, const lab_results *r, pe_error *err)
{
    pe_status s = PE_OK;
    report p = report_of(r);
    for (int i = 0; i < REPORT_FILES && !s; i++)
        s = put_picture(folder, &report_figures[i], &p, err);
    for (int i = 0; i < FILES - !r->tests && !s; i++)
        s = io_make_file(folder, file[i].name, file[i].write, r, err);
    return s;
}
