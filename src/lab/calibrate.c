/* SPDX-License-Identifier: MIT
 *
 * Minutes into steps, once: some steps of every model and some windows of every length, timed on this machine. Later
 * nothing depends on time any more. */
#include "lab/race.h"

#include <math.h>
#include <stdlib.h>

#define TIMED 3     /* steps, after one that warms up */
#define TOKENS 2048 /* of a test, unless a window is longer */
#define SPARE 0.04  /* of the time: checkpoints, and what is slower later */
#define REPORT 2.   /* seconds */
#define STEPS_MIN 10

/* Seconds that this training's tests will take in all. */
static pe_status time_tests(double *seconds, race *r, model *m, int training, pe_error *err)
{
    lab_setup *s = &r->results.setup;
    int64_t tokens = s->test_tokens;
    pe_status status = PE_OK;
    for (int k = 0; k < s->tests && !status; k++) {
        lab_test_line line;
        bool done;
        int64_t windows = race_windows(r, s->test[k]);
        s->test_tokens = tokens < TOKENS ? tokens : TOKENS;
        status =
            race_test(&line, &done, r, m, (screen_now){ training, k, r->training[training].entry, 0, 0, 0, 0 }, err);
        s->test_tokens = tokens;
        if (!status && done && line.windows)
            *seconds += line.seconds * (double)windows / (double)line.windows;
    }
    return status;
}

static int sharers(const race *r, int training)
{
    int count = 0;
    for (int i = 0; i < r->results.setup.entries; i++)
        count += race_shares(&r->results.setup, i, &r->training[training]);
    return count;
}

static pe_status time_training(race *r, int training, pe_error *err)
{
    lab_setup *s = &r->results.setup;
    model *m = NULL;
    double step = 0, tests = 0;
    pe_status status = race_time_steps(&step, &m, r, training, TIMED, err);
    if (!status)
        status = time_tests(&tests, r, m, training, err);
    model_free(m);
    s->step_seconds += step;
    s->test_seconds += tests * sharers(r, training);
    return status;
}

static void record(lab_setup *s, int trainings, double took)
{
    snprintf(s->calibration, sizeof s->calibration,
             "%.3g minutes: calibration took %.3g s; one step of each of %d models takes %.3g s and the tests of one "
             "seed %.3g s, so %d seed%s %lld steps each",
             s->minutes, took, trainings, s->step_seconds, s->test_seconds, s->seeds, s->seeds == 1 ? " gets" : "s get",
             (long long)s->steps);
}

/* The minutes that the smallest race takes, with as much again of what the clock may vary by. */
static pe_status too_few(const lab_setup *s, double took, pe_error *err)
{
    double train = STEPS_MIN * s->step_seconds * s->seeds, tests = s->test_seconds * s->seeds;
    double needed = (took + (train + tests + REPORT) / (1 - SPARE)) * (1 + SPARE) / 60;
    return io_fail(err, PE_ERR_RANGE,
                   "%.3g minutes are too few: calibration took %.3g s, %d steps of each model take %.3g s, the tests "
                   "%.3g s, the report up to %.3g s; needs %.2f minutes, or fewer encodings, seeds or test tokens",
                   s->minutes, took, STEPS_MIN, train, tests, REPORT, ceil(100 * needed) / 100);
}

pe_status race_calibrate(race *r, pe_error *err)
{
    lab_setup *s = &r->results.setup;
    int models = r->trainings / s->seeds;
    double begin = io_seconds();
    screen_say(r->screen, "calibration: how many steps %.3g minutes are on this machine", s->minutes);
    s->step_seconds = s->test_seconds = 0;
    for (int i = 0; i < models && !race_asked_to_stop(r); i++)
        RACE_TRY(time_training(r, i, err));
    if (r->stopped)
        return PE_OK;
    double took = io_seconds() - begin;
    double left = (60 * s->minutes - took) * (1 - SPARE) - REPORT - s->test_seconds * s->seeds;
    double steps = floor(left / (s->step_seconds * s->seeds));
    if (!(steps >= STEPS_MIN))
        return too_few(s, took, err);
    s->steps = (int64_t)(steps < 1e9 ? steps : 1e9);
    record(s, models, took);
    screen_say(r->screen, "%s", s->calibration);
    return PE_OK;
}
