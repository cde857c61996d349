/* SPDX-License-Identifier: MIT
 *
 * What is left to read when a race is over. */
#include "cli/race.h"

#include "io/json_out.h"
#include "lab/report.h"

#include <inttypes.h>

#define COLUMNS 100

static const struct {
    const char *name;
    lab_measure what;
} measures[] = {
    { "bits", LAB_BITS }, { "last_quarter", LAB_LAST_QUARTER }, { "recall", LAB_RECALL }, { "accuracy", LAB_ACCURACY }
};

static void json_measure(json_out *j, const lab_results *r, int entry, int64_t length, int i)
{
    lab_summary s = lab_summarise(r, entry, length, measures[i].what);
    if (!s.seeds)
        return;
    out_open(j, measures[i].name, '{');
    out_real(j, "mean", s.mean);
    out_real(j, "spread", s.spread);
    out_close(j, '}');
}

static void json_length(json_out *j, const lab_results *r, int entry, int64_t length)
{
    lab_summary s = lab_summarise(r, entry, length, LAB_BITS);
    out_open(j, NULL, '{');
    out_int(j, "length", length);
    out_int(j, "seeds", s.seeds);
    if (!s.seeds)
        out_text(j, "cannot", s.cannot);
    for (int i = 0; i < CLI_COUNT(measures); i++)
        json_measure(j, r, entry, length, i);
    out_close(j, '}');
}

static void json_entry(json_out *j, const lab_results *r, int entry)
{
    const lab_entry *e = &r->setup.entry[entry];
    out_open(j, NULL, '{');
    out_text(j, "name", e->name);
    out_text(j, "spec", e->spec);
    out_text(j, "trained", e->trained);
    out_open(j, "tests", '[');
    for (int i = 0; i < r->setup.tests; i++)
        json_length(j, r, entry, r->setup.test[i]);
    out_close(j, ']');
    out_close(j, '}');
}

static void json_training(json_out *j, const lab_results *r, const lab_run *run)
{
    out_open(j, NULL, '{');
    out_text(j, "trained", r->setup.entry[run->entry].trained);
    out_int(j, "seed", (int64_t)run->seed);
    out_bool(j, "finished", run->ended && run->end.finished);
    if (run->ended) {
        out_int(j, "parameters", run->end.params);
        out_int(j, "steps", run->end.steps);
        out_real(j, "seconds", run->end.seconds);
        out_real(j, "tokens_per_second", run->end.tokens_per_second);
        out_real(j, "final_loss", run->end.final_loss);
    }
    out_close(j, '}');
}

static void print_json(const race *r, const char *finding)
{
    const lab_results *a = &r->results;
    int order[LAB_ENTRIES_MAX], count = lab_rank(order, a);
    json_out j = out_start(stdout);
    out_open(&j, NULL, '{');
    out_text(&j, "folder", r->asked.folder);
    out_bool(&j, "stopped", r->stopped);
    out_int(&j, "steps", a->setup.steps);
    out_text(&j, "calibration", *a->setup.calibration ? a->setup.calibration : NULL);
    out_open(&j, "trainings", '[');
    for (int i = 0; i < a->runs; i++)
        json_training(&j, a, &a->run[i]);
    out_close(&j, ']');
    out_open(&j, "entries", '['); /* best first */
    for (int i = 0; i < count; i++)
        json_entry(&j, a, order[i]);
    out_close(&j, ']');
    out_text(&j, "finding", finding);
    out_close(&j, '}');
}

static cli_exit write_report(const cli_args *a, race *r)
{
    pe_error err = { 0 };
    if (lab_report_write(r->asked.folder, &r->results, &err))
        return cli_fail_from(a, CLI_SYSTEM, NULL, &err);
    if (r->asked.show)
        fprintf(r->asked.show, "report: %s/report.html\n", r->asked.folder);
    return CLI_OK;
}

cli_exit race_finish(const cli_args *a, race *r)
{
    char finding[2000];
    lab_finding(finding, sizeof finding, &r->results);
    if (cli_given(a, "json"))
        print_json(r, finding);
    else if (r->results.tests) {
        lab_print_table(stdout, &r->results, COLUMNS);
        if (*finding)
            putchar('\n');
        lab_print_words(stdout, finding, COLUMNS);
    }
    fflush(stdout);
    return write_report(a, r);
}
