/* SPDX-License-Identifier: MIT
 *
 * The life of one training: from where it stands to its last step, then the tests of all that use its weights. */
#include "lab/trainer.h"

#include "lab/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>

/* Every encoding that uses these weights, at every length that is not in the log yet. */
static pe_status tests(trainer *t, pe_error *err)
{
    race *r = t->race;
    const lab_setup *s = trainer_setup(t);
    int64_t size;
    lab_test_line line;
    bool done;
    for (int i = 0; i < s->entries; i++)
        for (int k = 0; k < s->tests && race_shares(s, i, trainer_training(t)); k++) {
            double work = race_work(s, race_windows(r, s->test[k]) * s->test[k], s->test[k]), before = r->worked;
            if (lab_find_test(&r->results, i, trainer_training(t)->seed, s->test[k])) {
                race_skip(r, work);
                continue;
            }
            RACE_TRY(race_test(&line, &done, r, t->model, (screen_now){ t->index, k, i, 0, 0, 0, 0 }, err));
            if (!done)
                return PE_OK;
            race_skip(r, before + work - r->worked); /* of what cannot be tested */
            lab_write_test(t->log.to, s, &line);
            RACE_TRY(lab_log_sync(&t->log, &size, err));
            RACE_TRY(lab_keep_test(&r->results, &line, err));
        }
    return PE_OK;
}

/* From the newest good checkpoint, or from the first weights. The log is cut to where that stood, but for the tests
 * after the last step. */
static pe_status begin(trainer *t, pe_error *err)
{
    const lab_setup *s = trainer_setup(t);
    bool found = false;
    char skipped[300] = "", path[RACE_FOLDER + 200];
    RACE_TRY(lab_folder_new(trainer_training(t)->folder, err));
    RACE_TRY(trainer_make(t, err));
    uint64_t config = race_fingerprint(s, trainer_training(t));
    snprintf(path, sizeof path, "%s/log.jsonl", trainer_training(t)->folder);
    checkpoint_wanted want = { config, s->steps, path };
    RACE_TRY(checkpoint_newest(trainer_training(t)->folder, t->model, &t->adam, &t->state, &want, &found, skipped,
                               sizeof skipped, err));
    if (found) /* a kill may have come between a save and this */
        checkpoint_remove_old(trainer_training(t)->folder, t->state.step, t->race->asked.keep);
    if (*skipped)
        race_warn(t->race, "%s", skipped);
    if (!found) {
        t->state = (checkpoint_state){ .seed = trainer_training(t)->seed, .config = config };
        snprintf(t->state.trained, sizeof t->state.trained, "%s", s->entry[trainer_training(t)->entry].trained);
    }
    race_skip(t->race, 3 * race_work(s, t->adam.step * s->batch * s->train_length, s->train_length));
    bool whole = found && t->adam.step == s->steps && trainer_lines(t)->ended;
    if (!whole)
        race_forget(t->race, t->index, t->adam.step);
    t->saved = io_seconds();
    t->begin = t->saved - t->state.seconds;
    return lab_log_open(&t->log, path, whole ? -1 : t->state.log_size, err);
}

/* Nothing left to do; what it was is counted. */
static bool is_done(race *r, int index)
{
    const lab_setup *s = &r->results.setup;
    const race_training *t = &r->training[index];
    double work = 3 * race_work(s, s->steps * s->batch * s->train_length, s->train_length);
    for (int i = 0; i < s->entries; i++)
        for (int k = 0; k < s->tests && race_shares(s, i, t); k++) {
            if (!lab_find_test(&r->results, i, t->seed, s->test[k]))
                return false;
            work += race_work(s, race_windows(r, s->test[k]) * s->test[k], s->test[k]);
        }
    if (r->results.run[index].ended)
        race_skip(r, work);
    return r->results.run[index].ended;
}

pe_status race_train(race *r, int index, pe_error *err)
{
    trainer t = { .race = r, .index = index };
    if (is_done(r, index))
        return PE_OK;
    pe_status status = begin(&t, err);
    if (!status && t.adam.step < trainer_setup(&t)->steps)
        status = trainer_run(&t, err);
    if (!status && t.adam.step == trainer_setup(&t)->steps)
        status = tests(&t, err);
    trainer_free(&t);
    return status;
}
