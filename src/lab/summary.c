/* SPDX-License-Identifier: MIT
 *
 * What results come to, over seeds, as data: what --json of the verbs prints. */
#include "lab/summary.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

static const struct {
    const char *name;
    lab_measure what;
} measures[] = {
    { "bits", LAB_BITS },
    { "last_quarter", LAB_LAST_QUARTER },
    { "perplexity", LAB_PERPLEXITY },
    { "last_quarter_perplexity", LAB_LAST_PERPLEXITY },
    { "recall", LAB_RECALL },
    { "accuracy", LAB_ACCURACY },
};

static void write_measure(json_out *j, const lab_results *r, int entry, int64_t length, int i)
{
    lab_summary s = lab_summarise(r, entry, length, measures[i].what);
    if (!s.seeds)
        return;
    out_open(j, measures[i].name, '{');
    out_real(j, "mean", s.mean);
    if (s.seeds > 1)
        out_real(j, "spread", s.spread);
    out_close(j, '}');
}

static void write_length(json_out *j, const lab_results *r, int entry, int64_t length)
{
    lab_summary s = lab_summarise(r, entry, length, LAB_BITS);
    out_open(j, NULL, '{');
    out_int(j, "length", length);
    out_int(j, "seeds", s.seeds);
    out_int(j, "seeds_asked", s.of);
    if (!s.seeds)
        out_text(j, "cannot", s.cannot); /* null: not tested yet */
    for (int i = 0; i < COUNT(measures); i++)
        write_measure(j, r, entry, length, i);
    out_close(j, '}');
}

static void write_entry(json_out *j, const lab_results *r, int entry)
{
    const lab_entry *e = &r->setup.entry[entry];
    out_open(j, NULL, '{');
    out_text(j, "name", e->name);
    out_text(j, "spec", e->spec);
    out_text(j, "trained", e->trained);
    out_open(j, "tests", '[');
    for (int i = 0; i < r->setup.tests; i++)
        write_length(j, r, entry, r->setup.test[i]);
    out_close(j, ']');
    out_close(j, '}');
}

static void write_training(json_out *j, const lab_results *r, const lab_run *run)
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
    if (run->failure.step) {
        out_int(j, "failed_step", run->failure.step);
        out_text(j, "failed", run->failure.why);
    }
    out_close(j, '}');
}

void lab_write_summary(json_out *j, const lab_results *r)
{
    char finding[2000];
    int order[LAB_ENTRIES_MAX], count = lab_rank(order, r);
    lab_finding(finding, sizeof finding, r);
    out_text(j, "kind", r->setup.kind);
    out_int(j, "train_length", r->setup.train_length);
    out_int(j, "steps", r->setup.steps);
    out_text(j, "calibration", r->setup.calibration[0] ? r->setup.calibration : NULL);
    out_open(j, "trainings", '[');
    for (int i = 0; i < r->runs; i++)
        write_training(j, r, &r->run[i]);
    out_close(j, ']');
    out_open(j, "entries", '[');
    for (int i = 0; i < count; i++)
        write_entry(j, r, order[i]);
    out_close(j, ']');
    out_text(j, "finding", finding);
}
