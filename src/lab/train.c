/* SPDX-License-Identifier: MIT
 *
 * One training: its steps, checkpoints and resumption. */
#include "lab/checkpoint.h"
#include "lab/race.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>

typedef struct trainer {
    race *race;
    int index;     /* of the training */
    int64_t steps; /* of it in all */
    model *model;
    adam adam;
    lab_batch batch;
    lab_log log;
    checkpoint_state state;
    double begin; /* of the clock, less the seconds of training before */
    double saved; /* of the clock: the last checkpoint */
} trainer;

static inline const lab_setup *trainer_setup(const trainer *t)
{
    return &t->race->results.setup;
}

static inline const race_training *trainer_training(const trainer *t)
{
    return &t->race->training[t->index];
}

static inline bool trainer_is_dropped(const trainer *t)
{
    return trainer_setup(t)->entry[trainer_training(t)->entry].dropped;
}

static trainer trainer_of(race *r, int index)
{
    return (trainer){ .race = r, .index = index, .steps = race_steps(&r->results.setup, &r->training[index]) };
}

static inline lab_run *trainer_lines(const trainer *t)
{
    return &t->race->results.run[t->index];
}

/* One training: w <- AdamW(w, d mean(-ln p(target)) / dw), step by step, with a log and checkpoints that it can
 * be resumed from. Batches depend on (seed, step), the rate on the step; so the bits are the same wherever it was
 * cut. */

#define LINES 1000           /* of the log, about: a line for every step up to that many */
#define CHECKPOINT_EVERY 30. /* seconds, unless told in steps */
#define DROPPED_WARMUP 0.03  /* of the steps after an encoding was dropped */

static pe_status trainer_make(trainer *t, pe_error *err)
{
    const lab_setup *s = trainer_setup(t);
    TRY(race_new_model(&t->model, t->race, trainer_training(t), err));
    TRY(adam_new(&t->adam, t->model, err));
    return lab_batch_new(&t->batch, t->race->data, LAB_TRAIN, s->batch, s->train_length, err);
}

/* half-built: fine */
static void trainer_free(trainer *t)
{
    lab_log_close(&t->log);
    lab_batch_free(&t->batch);
    adam_free(&t->adam);
    model_free(t->model);
}

static int64_t trainer_warmup(const trainer *t)
{
    return trainer_is_dropped(t) ? (int64_t)(DROPPED_WARMUP * (double)t->steps) : trainer_setup(t)->warmup;
}

static pe_status train_step(trainer *t, lab_train_line *line, pe_error *err)
{
    const lab_setup *s = trainer_setup(t);
    adam_rates rates = ADAM_DEFAULTS;
    int64_t n = t->adam.step, before = trainer_is_dropped(t) ? s->steps : 0; /* what the encoding has seen */
    lab_data_train(t->race->data, &t->batch, trainer_training(t)->seed, before + n);
    model_batch b = race_batch(t->model, &t->batch);
    TRY(model_gradients(t->model, &b, &line->loss, err));
    rates.rate = adam_rate_at(s->rate, n, t->steps, trainer_warmup(t));
    rates.decay = s->decay;
    rates.clip = s->clip;
    line->rate = rates.rate;
    line->norm = adam_step(&t->adam, t->model, &rates);
    line->step = t->adam.step;
    line->seconds = io_seconds() - t->begin;
    if (isfinite(line->norm))
        return PE_OK;
    const char *where = model_broken(t->model);
    return io_fail(err, PE_ERR_RANGE, "the gradient of %s is not finite", where ? where : "all weights together");
}

/* A line for every so many steps, with their mean loss. */
static pe_status note(trainer *t, lab_train_line line, pe_error *err)
{
    int64_t every = 1 + (t->steps - 1) / LINES;
    t->state.loss_sum += line.loss;
    t->state.losses++;
    if (line.step % every && line.step < t->steps)
        return PE_OK;
    line.loss = t->state.loss_sum / (double)t->state.losses;
    t->state.loss_sum = 0;
    t->state.losses = 0;
    lab_write_train(t->log.to, &line);
    return lab_keep_train(trainer_lines(t), &line, err);
}

static void show_progress(trainer *t, double loss)
{
    race *r = t->race;
    const lab_setup *s = trainer_setup(t);
    int64_t tokens = s->batch * s->train_length;
    double took = io_seconds() - t->begin;
    r->worked += 3 * race_work(s, tokens, s->train_length);
    screen_show(r->screen, r,
                &(screen_now){ .training = t->index,
                               .test = -1,
                               .entry = trainer_training(t)->entry,
                               .done = t->adam.step,
                               .of = t->steps,
                               .loss = loss,
                               .tokens_per_second = took > 0 ? (double)(t->adam.step * tokens) / took : 0 });
}

/* Before anything is written that others read. */
static pe_status check_held(const trainer *t, pe_error *err)
{
    if (lab_lock_held(&t->race->held))
        return PE_OK;
    return io_fail(err, PE_ERR_IO, "%s: another process took it over, because this one gave no sign of life for %g s",
                   trainer_training(t)->folder, t->race->asked.silence);
}

static pe_status save(trainer *t, pe_error *err)
{
    TRY(check_held(t, err));
    t->saved = io_seconds();
    t->state.step = t->adam.step;
    t->state.seconds = t->saved - t->begin;
    TRY(lab_log_sync(&t->log, &t->state.log_size, err));
    return checkpoint_save(trainer_training(t)->folder, t->model, &t->adam, &t->state, t->race->asked.keep, err);
}

static bool save_is_due(const trainer *t)
{
    int64_t every = t->race->asked.checkpoint_every;
    if (every)
        return t->adam.step % every == 0;
    return io_seconds() - t->saved > CHECKPOINT_EVERY;
}

/* Mean of the last twentieth, by the lines of the log. */
static double final_loss(const lab_run *r, int64_t steps)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < r->trains; i++)
        if (r->train[i].step > steps - (steps + 19) / 20) {
            sum += r->train[i].loss;
            count++;
        }
    return count ? sum / count : NAN;
}

static pe_status end(trainer *t, pe_error *err)
{
    const lab_setup *s = trainer_setup(t);
    lab_run *r = trainer_lines(t);
    double seconds = io_seconds() - t->begin;
    int64_t tokens = t->steps * s->batch * s->train_length;
    r->ended = true;
    r->end = (lab_run_line){ .params = model_count(t->model),
                             .position_params = model_position_count(t->model),
                             .tokens = tokens,
                             .steps = t->steps,
                             .seconds = seconds,
                             .tokens_per_second = seconds > 0 ? (double)tokens / seconds : 0,
                             .final_loss = final_loss(r, t->steps),
                             .finished = true };
    lab_write_run(t->log.to, &r->end);
    return save(t, err);
}

/* In the log too: the report says it. */
static pe_status fail(const trainer *t, int64_t at, pe_status status, const char *why, pe_error *err)
{
    lab_failure_line *f = &trainer_lines(t)->failure;
    f->step = at;
    snprintf(f->why, sizeof f->why, "%s, seed %" PRIu64 ", step %" PRId64 ": %s",
             trainer_setup(t)->entry[trainer_training(t)->entry].name, trainer_training(t)->seed, at, why);
    lab_write_failure(t->log.to, f);
    return io_fail(err, status, "%s", f->why);
}

/* To the last step, which ends with a checkpoint; or to where it is asked to stop, which does too. */
static pe_status trainer_run(trainer *t, pe_error *err)
{
    lab_train_line line = { 0 };
    pe_error why = { 0 };
    while (t->adam.step < t->steps) {
        if (race_asked_to_stop(t->race))
            return save(t, err);
        int64_t n = t->adam.step + 1;
        pe_status status = train_step(t, &line, &why);
        if (status)
            return fail(t, n, status, why.text, err);
        TRY(note(t, line, err));
        show_progress(t, line.loss);
        if (t->adam.step < t->steps && save_is_due(t))
            TRY(save(t, err));
    }
    return end(t, err);
}

pe_status race_time_steps(double *seconds, model **out, race *r, int index, int count, pe_error *err)
{
    trainer t = { .race = r, .index = index, .steps = 1000 }; /* any schedule will do for timing */
    lab_train_line line = { 0 };
    pe_status status = trainer_make(&t, err);
    for (int i = 0; i <= count && !status; i++) { /* the first warms up */
        if (i == 1)
            t.begin = io_seconds();
        status = train_step(&t, &line, err);
    }
    *seconds = (io_seconds() - t.begin) / count;
    *out = t.model;
    t.model = NULL;
    trainer_free(&t);
    return status;
}

/* ---------------------------------------------------------------- lines of earlier processes */

static void race_forget(race *r, int training, int64_t step)
{
    lab_results *a = &r->results;
    lab_run *run = &a->run[training];
    const race_training *t = &r->training[training];
    int kept = 0;
    while (run->trains && run->train[run->trains - 1].step > step)
        run->trains--;
    run->ended = false;
    run->failure = (lab_failure_line){ 0 };
    for (int i = 0; i < a->tests; i++)
        if (a->test[i].seed != t->seed || !race_shares(&a->setup, a->test[i].entry, t))
            a->test[kept++] = a->test[i];
    a->tests = kept;
}

pe_status race_load_log(race *r, int training, pe_error *err)
{
    char path[RACE_FOLDER + 200];
    race_forget(r, training, 0);
    snprintf(path, sizeof path, "%s/log.jsonl", r->training[training].folder);
    return lab_read_log(&r->results, training, path, err);
}

pe_status race_load_lines(race *r, pe_error *err)
{
    for (int i = 0; i < r->trainings; i++)
        TRY(race_load_log(r, i, err));
    return PE_OK;
}

/* One training from its current step to its last, then the tests of all entries that use its weights. */

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
            TRY(race_test(&line, &done, r, t->model, (screen_now){ t->index, k, i, 0, 0, 0, 0 }, err));
            if (!done)
                return PE_OK;
            race_skip(r, before + work - r->worked); /* of what cannot be tested */
            TRY(check_held(t, err));
            lab_write_test(t->log.to, s, &line);
            TRY(lab_log_sync(&t->log, &size, err));
            TRY(lab_keep_test(&r->results, &line, err));
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
    TRY(trainer_make(t, err));
    uint64_t config = race_fingerprint(s, trainer_training(t));
    snprintf(path, sizeof path, "%s/log.jsonl", trainer_training(t)->folder);
    checkpoint_wanted want = { config, t->steps, path };
    TRY(checkpoint_newest(trainer_training(t)->folder, t->model, &t->adam, &t->state, &want, &found, skipped,
                          sizeof skipped, err));
    if (found) /* the process may have been killed between a save and this */
        checkpoint_remove_old(trainer_training(t)->folder, t->state.step, t->race->asked.keep);
    if (*skipped)
        race_warn(t->race, "%s: %s; training %s from step %" PRId64, trainer_training(t)->folder, skipped,
                  found ? "continues" : "starts again", found ? t->state.step : 0);
    if (!found) {
        t->state = (checkpoint_state){ .seed = trainer_training(t)->seed, .config = config };
        snprintf(t->state.trained, sizeof t->state.trained, "%s", pe_encoding_spec(model_encoding(t->model)));
    }
    if (!found && trainer_is_dropped(t))
        TRY(race_take_dropped(t->model, t->race, trainer_training(t), err));
    race_skip(t->race, 3 * race_work(s, t->adam.step * s->batch * s->train_length, s->train_length));
    bool whole = found && t->adam.step == t->steps && trainer_lines(t)->ended;
    if (!whole)
        race_forget(t->race, t->index, t->adam.step);
    t->saved = io_seconds();
    t->begin = t->saved - t->state.seconds;
    TRY(check_held(t, err));
    TRY(lab_log_open(&t->log, path, whole ? -1 : t->state.log_size, err));
    return check_held(t, err);
}

double race_training_work(const race *r, int index)
{
    const lab_setup *s = &r->results.setup;
    const race_training *t = &r->training[index];
    double work = 3 * race_work(s, race_steps(s, t) * s->batch * s->train_length, s->train_length);
    for (int i = 0; i < s->entries; i++)
        for (int k = 0; k < s->tests && race_shares(s, i, t); k++)
            work += race_work(s, race_windows(r, s->test[k]) * s->test[k], s->test[k]);
    return work;
}

pe_status race_train(race *r, int index, pe_error *err)
{
    trainer t = trainer_of(r, index);
    pe_status status = begin(&t, err);
    if (!status && t.adam.step < t.steps)
        status = trainer_run(&t, err);
    if (!status && t.adam.step == t.steps)
        status = tests(&t, err);
    trainer_free(&t);
    return status;
}
