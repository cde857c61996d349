/* SPDX-License-Identifier: MIT
 *
 * One training: w <- AdamW(w, d mean(-ln p(target)) / dw), step by step, with a log and checkpoints that it can be
 * resumed from. Batches follow from (seed, step), the rate from the step; hence the same bits whenever it was cut. */
#include "lab/trainer.h"

#include <inttypes.h>
#include <math.h>

#define LINES 1000           /* of the log, about: a line for every step up to that many */
#define CHECKPOINT_EVERY 30. /* seconds, unless told in steps */

pe_status trainer_make(trainer *t, pe_error *err)
{
    const lab_setup *s = trainer_setup(t);
    RACE_TRY(race_new_model(&t->model, t->race, trainer_training(t), err));
    RACE_TRY(adam_new(&t->adam, t->model, err));
    return lab_batch_new(&t->batch, t->race->data, LAB_TRAIN, s->batch, s->train_length, err);
}

void trainer_free(trainer *t)
{
    lab_log_close(&t->log);
    lab_batch_free(&t->batch);
    adam_free(&t->adam);
    model_free(t->model);
}

static pe_status step(trainer *t, lab_train_line *line, pe_error *err)
{
    const lab_setup *s = trainer_setup(t);
    adam_rates rates = ADAM_DEFAULTS;
    int64_t n = t->adam.step;
    lab_data_train(t->race->data, &t->batch, trainer_training(t)->seed, n);
    model_batch b = race_batch(t->model, &t->batch);
    RACE_TRY(model_gradients(t->model, &b, &line->loss, err));
    rates.rate = adam_rate_at(s->rate, n, s->steps, s->warmup);
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
    int64_t every = 1 + (trainer_setup(t)->steps - 1) / LINES;
    t->state.loss_sum += line.loss;
    t->state.losses++;
    if (line.step % every && line.step < trainer_setup(t)->steps)
        return PE_OK;
    line.loss = t->state.loss_sum / (double)t->state.losses;
    t->state.loss_sum = 0;
    t->state.losses = 0;
    lab_write_train(t->log.to, &line);
    return lab_keep_train(trainer_lines(t), &line, err);
}

static void show(trainer *t, double loss)
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
                               .of = s->steps,
                               .loss = loss,
                               .tokens_per_second = took > 0 ? (double)(t->adam.step * tokens) / took : 0 });
}

static pe_status save(trainer *t, pe_error *err)
{
    t->saved = io_seconds();
    t->state.step = t->adam.step;
    t->state.seconds = t->saved - t->begin;
    RACE_TRY(lab_log_sync(&t->log, &t->state.log_size, err));
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
    int64_t tokens = s->steps * s->batch * s->train_length;
    r->ended = true;
    r->end = (lab_run_line){ .params = model_count(t->model),
                             .position_params = model_position_count(t->model),
                             .tokens = tokens,
                             .steps = s->steps,
                             .seconds = seconds,
                             .tokens_per_second = seconds > 0 ? (double)tokens / seconds : 0,
                             .final_loss = final_loss(r, s->steps),
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

pe_status trainer_run(trainer *t, pe_error *err)
{
    lab_train_line line = { 0 };
    pe_error why = { 0 };
    while (t->adam.step < trainer_setup(t)->steps) {
        if (race_asked_to_stop(t->race))
            return save(t, err);
        int64_t n = t->adam.step + 1;
        pe_status status = step(t, &line, &why);
        if (status)
            return fail(t, n, status, why.text, err);
        RACE_TRY(note(t, line, err));
        show(t, line.loss);
        if (t->adam.step < trainer_setup(t)->steps && save_is_due(t))
            RACE_TRY(save(t, err));
    }
    return end(t, err);
}

pe_status race_time_steps(double *seconds, model **out, race *r, int index, int count, pe_error *err)
{
    trainer t = { .race = r, .index = index };
    lab_train_line line = { 0 };
    int64_t steps_asked = r->results.setup.steps;
    r->results.setup.steps = 1000; /* of a schedule that is as good as any */
    pe_status status = trainer_make(&t, err);
    for (int i = 0; i <= count && !status; i++) { /* the first warms up */
        if (i == 1)
            t.begin = io_seconds();
        status = step(&t, &line, err);
    }
    *seconds = (io_seconds() - t.begin) / count;
    r->results.setup.steps = steps_asked;
    *out = t.model;
    t.model = NULL;
    trainer_free(&t);
    return status;
}
