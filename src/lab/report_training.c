/* SPDX-License-Identifier: MIT
 *
 * Training curves. A log may have any number of lines: steps are put into buckets, each run's mean in each. */
#include "lab/report_parts.h"

#include <math.h>

typedef struct bucket {
    double sum, low, high;
    double steps; /* sum of the runs' mean steps */
    int runs;
} bucket;

/* Adds a run's mean loss, in bits, of each bucket of steps. */
static void add_run(bucket *to, const lab_run *run, double steps)
{
    double sum[REPORT_BUCKETS] = { 0 }, step[REPORT_BUCKETS] = { 0 };
    int count[REPORT_BUCKETS] = { 0 };
    for (int i = 0; i < run->trains; i++) {
        double part = ((double)run->train[i].step - 1) / steps * REPORT_BUCKETS;
        int at = part < 0 ? 0 : part < REPORT_BUCKETS ? (int)part : REPORT_BUCKETS - 1;
        if (!isfinite(run->train[i].loss))
            continue;
        sum[at] += run->train[i].loss / log(2);
        step[at] += (double)run->train[i].step;
        count[at]++;
    }
    for (int i = 0; i < REPORT_BUCKETS; i++) {
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

void report_plot_training(curves *c, chart *out, const report *p)
{
    double steps = most_steps(p->r);
    for (int i = 0; i < p->r->setup.entries; i++) {
        bucket b[REPORT_BUCKETS] = { { 0 } };
        for (int n = 0; n < p->r->runs; n++)
            if (p->r->run[n].entry == p->order[i])
                add_run(b, &p->r->run[n], steps);
        curves_add(c, out, p, p->order[i], p->r->setup.seeds > 1);
        for (int n = 0; n < REPORT_BUCKETS; n++)
            if (b[n].runs)
                curves_point(c, out, b[n].steps / b[n].runs, b[n].sum / b[n].runs, b[n].low, b[n].high);
        curves_keep_if_any(c, out);
    }
    snprintf(c->title, sizeof c->title, "Training: loss by step");
    curves_axes(c, "step", lab_unit(&p->r->setup));
    curves_fit_bits(out);
}
