/* SPDX-License-Identifier: MIT
 *
 * One training at work (train.c), and its life from one process to the next (training.c). */
#ifndef POSENC_LAB_TRAINER_H
#define POSENC_LAB_TRAINER_H

#include "lab/race.h"

typedef struct trainer {
    race *race;
    int index; /* of the training */
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

static inline lab_run *trainer_lines(const trainer *t)
{
    return &t->race->results.run[t->index];
}

pe_status trainer_make(trainer *t, pe_error *err); /* model, moments, batch: at the first step, without a log */
/* To the last step, which ends with a checkpoint; or to where it is asked to stop, which does too. */
pe_status trainer_run(trainer *t, pe_error *err);
void trainer_free(trainer *t); /* half-built: fine */

#endif
