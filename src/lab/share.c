/* SPDX-License-Identifier: MIT
 *
 * Several processes, on one machine or many, at one race: who begins it, which training is next, who else works.
 *
 * race.json is written once. A training belongs to whoever holds the lock of its folder; what it comes to does not
 * depend on who trains it. A process's share says only where it begins: when nothing of it is left, it takes whatever
 * nobody works at, so that what a dead process left is done. A training without its encoding waits for the one with it,
 * and whoever ends that one looks again. */
#include "lab/race.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAUSE 0.1 /* seconds between two looks at what others do */

static void pause_race(void)
{
    nanosleep(&(struct timespec){ 0, (long)(1e9 * PAUSE) }, NULL);
}

/* ---------------------------------------------------------------- the folder */

static bool race_is_there(const race *r)
{
    char path[RACE_FOLDER + 20];
    snprintf(path, sizeof path, "%s/race.json", r->asked.folder);
    return !access(path, F_OK);
}

pe_status race_hold_folder(race *r, bool *found, pe_error *err)
{
    lab_watch w = { 0 };
    for (bool said = false; !race_asked_to_stop(r); said = true) {
        *found = r->asked.shared && race_is_there(r);
        if (*found)
            return PE_OK;
        TRY(lab_lock_take(&r->lock, &w, r->asked.folder, r->asked.silence, err));
        r->recovered = w.left;
        if (w.state == LAB_LOCK_TAKEN && !(r->asked.shared && race_is_there(r)))
            return PE_OK;
        lab_lock_release(&r->lock);
        if (w.state == LAB_LOCK_HELD && !r->asked.shared)
            return lab_lock_refuse(&w, r->asked.folder, err);
        if (w.state != LAB_LOCK_TAKEN && !said && *w.owner)
            race_warn(r, "waiting for %s", w.owner);
        pause_race();
    }
    return PE_OK;
}

pe_status race_is_alone(race *r, pe_error *err)
{
    for (int i = 0; i < r->trainings; i++) {
        race_training *t = &r->training[i];
        for (bool said = false; !race_asked_to_stop(r); said = true) {
            TRY(lab_lock_look(&t->watch, t->folder, err));
            if (t->watch.state == LAB_LOCK_HELD)
                return lab_lock_refuse(&t->watch, t->folder, err);
            if (t->watch.state == LAB_LOCK_FREE)
                break;
            if (!said)
                race_warn(r, "waiting to see whether %s lives", t->watch.owner);
            pause_race();
        }
    }
    return PE_OK;
}

/* What one race may have otherwise on another machine or another day. */
static void take_free(lab_setup *mine, const lab_setup *there)
{
    memcpy(mine->note, there->note, sizeof mine->note);
    memcpy(mine->command, there->command, sizeof mine->command);
    memcpy(mine->version, there->version, sizeof mine->version);
    memcpy(mine->blas, there->blas, sizeof mine->blas);
    memcpy(mine->cpu, there->cpu, sizeof mine->cpu);
    memcpy(mine->kernels, there->kernels, sizeof mine->kernels);
    memcpy(mine->date, there->date, sizeof mine->date);
    memcpy(mine->calibration, there->calibration, sizeof mine->calibration);
    mine->threads = there->threads;
    mine->step_seconds = there->step_seconds;
    mine->test_seconds = there->test_seconds;
    if (mine->minutes > 0)
        mine->steps = there->steps;
}

char *race_setup_text(const lab_setup *s)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (to)
        lab_write_setup(to, s);
    if (to && fclose(to)) {
        free(text);
        text = NULL;
    }
    return text;
}

static pe_status compare_texts(const race *r, const char *mine, const char *there, pe_error *err)
{
    size_t line = 0;
    for (size_t i = 0; mine[i] == there[i]; i++) {
        if (!mine[i])
            return PE_OK;
        if (mine[i] == '\n')
            line = i + 1;
    }
    line += strspn(mine + line, " \t");
    return io_fail(err, PE_ERR_SPEC,
                   "%s has another race: race.json has %.*s where this process was asked for %.*s; give all processes "
                   "of a race the same options, or take another folder",
                   r->asked.folder, (int)strcspn(there + line, ",\n"), there + line, (int)strcspn(mine + line, ",\n"),
                   mine + line);
}

static pe_status compare_setups(race *r, const lab_setup *there, pe_error *err)
{
    lab_setup *mine = &r->results.setup;
    if (strcmp(mine->blas, there->blas) || strcmp(mine->kernels, there->kernels))
        race_warn(r, "this machine computes with %s (%s), the one that began the race with %s (%s): the last bits differ",
                  mine->blas, mine->kernels, there->blas, there->kernels);
    take_free(mine, there);
    race_fill_dropped(r);
    char *a = race_setup_text(mine), *b = race_setup_text(there);
    pe_status s = a && b ? compare_texts(r, a, b, err) : io_fail(err, PE_ERR_NOMEM, "no memory to compare two races");
    free(a);
    free(b);
    return s;
}

pe_status race_join(race *r, pe_error *err)
{
    lab_setup *there = calloc(1, sizeof *there);
    if (!there)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the settings of %s", r->asked.folder);
    pe_status s = lab_read_setup(there, r->asked.folder, err);
    if (!s)
        s = compare_setups(r, there, err);
    free(there);
    return s;
}

/* ---------------------------------------------------------------- the next training */

bool race_is_own(const race *r, int training)
{
    int shards = r->asked.shards ? r->asked.shards : r->trainings;
    return training % shards == r->asked.shard % shards;
}

static bool is_done(const race *r, int training)
{
    return r->results.run[training].state == LAB_RUN_DONE;
}

/* Its log as it is now. */
static pe_status look_at_log(race *r, int training, pe_error *err)
{
    race_training *t = &r->training[training];
    lab_run *run = &r->results.run[training];
    TRY(race_load_log(r, training, err));
    if (!lab_run_is_done(&r->results, run))
        return PE_OK;
    run->state = LAB_RUN_DONE;
    if (!t->counted && race_is_own(r, training))
        race_skip(r, race_training_work(r, training));
    t->counted = true;
    return PE_OK;
}

static void add_other(race *r, int training)
{
    const race_training *t = &r->training[training];
    size_t used = strlen(r->others), room = sizeof r->others - used;
    int n = snprintf(r->others + used, room, "%s%s, seed %" PRIu64 ": %s", used ? "; " : "",
                     r->results.setup.entry[t->entry].name, t->seed, t->watch.owner);
    if (n >= (int)room)
        io_end_with_dots(r->others, sizeof r->others);
}

/* At all that is not done. *unsure: another look is needed to know who lives. */
static pe_status look_at_all(race *r, bool *unsure, pe_error *err)
{
    r->others[0] = 0;
    r->done = 0;
    for (int i = 0; i < r->trainings; i++) {
        race_training *t = &r->training[i];
        if (!is_done(r, i))
            TRY(lab_lock_look(&t->watch, t->folder, err));
        if (!is_done(r, i) && t->watch.state == LAB_LOCK_FREE)
            TRY(look_at_log(r, i, err));
        r->done += is_done(r, i);
        if (!is_done(r, i) && t->watch.state == LAB_LOCK_HELD)
            add_other(r, i);
        *unsure = *unsure || (!is_done(r, i) && t->watch.state == LAB_LOCK_UNSURE);
    }
    return PE_OK;
}

/* What it goes on from is there, and it did not fail for another process. */
static bool can_begin(const race *r, int training)
{
    const race_training *t = &r->training[training];
    int before = r->results.setup.entry[t->entry].dropped ? race_trained_before(r, t) : -1;
    bool failed = r->asked.shared && r->results.run[training].failure.step;
    return !failed && (before < 0 || is_done(r, before));
}

/* *again: someone was faster, or it is done by now. */
static pe_status take_training(race *r, int training, bool *taken, bool *again, pe_error *err)
{
    race_training *t = &r->training[training];
    TRY(lab_folder_new(t->folder, err));
    TRY(lab_lock_take(&r->held, &t->watch, t->folder, r->asked.silence, err));
    bool left = t->watch.left;
    *taken = t->watch.state == LAB_LOCK_TAKEN;
    if (*taken)
        TRY(look_at_log(r, training, err));
    if (*taken && !is_done(r, training)) {
        if (left)
            screen_say(r->screen, "%s: a lock of a process that is gone was taken over", t->folder);
        return PE_OK;
    }
    lab_lock_release(&r->held);
    *taken = false;
    *again = true;
    return PE_OK;
}

/* Its own share first, then from there on. */
static pe_status take_first(int *training, race *r, bool *again, pe_error *err)
{
    bool taken = false;
    int from = r->asked.shard % r->trainings;
    for (int own = 1; own >= 0; own--)
        for (int k = 0; k < r->trainings; k++) {
            int i = own ? k : (from + k) % r->trainings;
            if (race_is_own(r, i) != own || is_done(r, i) || r->training[i].watch.state != LAB_LOCK_FREE ||
                !can_begin(r, i))
                continue;
            TRY(take_training(r, i, &taken, again, err));
            *training = i;
            if (taken)
                return PE_OK;
        }
    *training = -1;
    return PE_OK;
}

static void say_taken(race *r, int training)
{
    race_training *t = &r->training[training];
    if (!t->counted && !race_is_own(r, training))
        r->work += race_training_work(r, training);
    t->counted = true;
    if (r->asked.shared)
        screen_say(r->screen, "takes %s, seed %" PRIu64 "; %d of %d trainings are done; %s%s",
                   r->results.setup.entry[t->entry].name, t->seed, r->done, r->trainings,
                   *r->others ? "others at work: " : "nobody else is at work", r->others);
}

pe_status race_next(int *training, race *r, pe_error *err)
{
    *training = -1;
    for (bool again = true, said = false; again && *training < 0 && !race_asked_to_stop(r);) {
        bool unsure = false;
        again = false;
        TRY(look_at_all(r, &unsure, err));
        TRY(take_first(training, r, &again, err));
        again = again || unsure;
        if (*training < 0 && unsure && !said)
            screen_say(r->screen, "waiting to see whether all who hold a training live");
        said = said || unsure;
        if (*training < 0 && unsure)
            pause_race();
    }
    if (*training >= 0)
        say_taken(r, *training);
    return PE_OK;
}
