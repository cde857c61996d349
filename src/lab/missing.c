/* SPDX-License-Identifier: MIT
 *
 * What is missing of a race, and which processes work at it. */
#include "base/try.h"
#include "io/io.h"
#include "lab/results.h"
#include "lab/run.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PAUSE 0.05 /* seconds between two looks */
#define WAIT 0.2   /* of the silence after which a process is taken for dead: some signs of life */

bool lab_run_is_done(const lab_results *r, const lab_run *run)
{
    const lab_setup *s = &r->setup;
    bool done = run->ended;
    for (int i = 0; i < s->entries; i++)
        for (int k = 0; done && k < s->tests && lab_trained_alike(&s->entry[i], &s->entry[run->entry]); k++)
            done = lab_find_test(r, i, run->seed, s->test[k]) != NULL;
    return done;
}

int lab_missing(const lab_results *r)
{
    int count = 0;
    for (int i = 0; i < r->runs; i++)
        count += r->run[i].state != LAB_RUN_UNKNOWN && r->run[i].state != LAB_RUN_DONE;
    return count;
}

static lab_run_state state_of(const lab_run *run, const lab_watch *w)
{
    bool begun = run->trains || run->ended;
    if (w->state != LAB_LOCK_FREE)
        return w->state == LAB_LOCK_HELD ? LAB_RUN_RUNNING : LAB_RUN_STOPPED;
    return run->failure.step ? LAB_RUN_FAILED : begun ? LAB_RUN_STOPPED : LAB_RUN_NOT_STARTED;
}

/* *unsure: another look is needed. */
static pe_status look_once(lab_results *r, lab_watch *watch, bool *unsure, pe_error *err)
{
    *unsure = false;
    for (int i = 0; i < r->runs; i++) {
        lab_run *run = &r->run[i];
        run->state = LAB_RUN_DONE;
        if (lab_run_is_done(r, run))
            continue;
        if (run->folder) /* else it is of a file, and free */
            TRY(lab_lock_look(&watch[i], run->folder, err));
        *unsure = *unsure || watch[i].state == LAB_LOCK_UNSURE;
        run->state = state_of(run, &watch[i]);
        if (run->state == LAB_RUN_RUNNING)
            snprintf(run->owner, sizeof run->owner, "%s", watch[i].owner);
    }
    return PE_OK;
}

pe_status lab_find_missing(lab_results *r, pe_error *err)
{
    bool unsure = true;
    double begin = io_seconds();
    lab_watch *watch = calloc(r->runs ? (size_t)r->runs : 1, sizeof *watch);
    pe_status s = watch ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory to look at %d runs", r->runs);
    while (!s && unsure && io_seconds() - begin < WAIT * LAB_SILENCE) {
        s = look_once(r, watch, &unsure, err);
        if (!s && unsure)
            nanosleep(&(struct timespec){ 0, (long)(1e9 * PAUSE) }, NULL);
    }
    free(watch);
    return s;
}
