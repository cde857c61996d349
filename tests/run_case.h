/* SPDX-License-Identifier: MIT
 *
 * For tests of runs that last (needs: lab): a model that trains in no time, and the smallest there is, for the fuzzer.
 */
#ifndef POSENC_TESTS_RUN_CASE_H
#define POSENC_TESTS_RUN_CASE_H

#include "base/random.h"
#include "lab/run.h"

#include <math.h>
#include <string.h>

#define RUN_VOCAB 11
#define RUN_LENGTH 12
#define RUN_CONFIG 0xC0FFEE0123456789u
#define RUN_WANTED ((checkpoint_wanted){ .config = RUN_CONFIG })

static inline pe_status run_model(model **m, adam *a, uint64_t seed, pe_error *err)
{
    model_config c = { .vocab = RUN_VOCAB, .layers = 1, .width = 16, .heads = 2, .hidden = 16, .causal = true };
    pe_status s = model_new(m, &c, "t5:buckets=8", NULL, err);
    if (s == PE_OK)
        s = adam_new(a, *m, err);
    if (s == PE_OK)
        model_init(*m, seed);
    return s;
}

/* What fuzz/fuzz_checkpoint.c reads into: its checkpoints have a few thousand bytes. */
static inline pe_status run_smallest(model **m, adam *a, int64_t width, pe_error *err)
{
    model_config c = { .vocab = 3, .layers = 1, .width = width, .heads = 1, .hidden = 2, .causal = true };
    pe_status s = model_new(m, &c, "none", NULL, err);
    if (s == PE_OK)
        s = adam_new(a, *m, err);
    if (s == PE_OK)
        model_init(*m, 1);
    return s;
}

/* One step of training on tokens that depend on the step alone. */
static inline pe_status run_step(model *m, adam *a, double *loss, pe_error *err)
{
    int32_t token[2 * RUN_LENGTH], target[2 * RUN_LENGTH];
    int64_t at[RUN_LENGTH];
    for (int i = 0; i < 2 * RUN_LENGTH; i++) {
        token[i] = (int32_t)random_below((uint64_t)a->step, (uint64_t)i, RUN_VOCAB);
        target[i] = i % RUN_LENGTH > 2 ? token[i - 3] : -1;
    }
    for (int i = 0; i < RUN_LENGTH; i++)
        at[i] = i;
    model_batch b = { .token = token, .target = target, .sequences = 2, .length = RUN_LENGTH };
    b.at = pe_positions_of(at, PE_I64, 1, RUN_LENGTH, 1);
    pe_status s = model_gradients(m, &b, loss, err);
    if (s == PE_OK)
        adam_step(a, m, &ADAM_DEFAULTS);
    return s;
}

#endif
