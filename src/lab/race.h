/* SPDX-License-Identifier: MIT
 *
 * The race: one small model per encoding, all trained in the same way at one length and tested at longer ones.
 *
 *     race *r;
 *     race_open(&r, &asked, &err);   checks everything that was asked
 *     race_start(r, &err);           folder, lock, calibration, race.json; or reads them from a folder to resume
 *     race_run(r, &err);             training and tests, without those that are done or that others do
 *     race_free(r);
 *
 * The same initial weights (by the seed and the names of tensors), the same data in the same order and the same number
 * of steps for each. A training has one seed; entries that are trained alike (lab_trained_alike) share it.
 */
#ifndef POSENC_LAB_RACE_H
#define POSENC_LAB_RACE_H

#include "base/try.h"
#include "io/io.h"
#include "lab/data.h"
#include "lab/results.h"
#include "lab/run.h"

#include <signal.h>

#define RACE_FOLDER 1024
#define RACE_FILES 64 /* of text to train on; of text to test on */

typedef struct race_asked {
    lab_setup setup;   /* entries' names and specs, sizes, schedule, seeds; the rest is filled in by race_open */
    lab_source source; /* its texts outlive the race */
    char folder[RACE_FOLDER];
    /* Of position parameters, times the weights': "10", or "table=10,u=1" for some tensors; NULL: as their rows say.
     * The texts outlive the race. */
    const char *position_rate, *position_decay;
    const char *drop;                  /* names of entries whose encoding is also dropped after training; NULL: none */
    int64_t drop_steps;                /* of training after that; 0: a tenth of the steps */
    const char *sweep;                 /* the file of a sweep, which outlives the race; NULL: none */
    int line[LAB_ENTRIES_MAX];         /* of it, from 1, that an entry stands in; 0: it is from the list */
    bool resume;                       /* the folder says all of the above */
    int64_t checkpoint_every;          /* steps; 0: about half a minute's */
    int keep;                          /* checkpoints of a training */
    bool shared;                       /* other processes work in the folder too: */
    int shard, shards;                 /* begins with trainings shard, shard + shards, ...; shards 0: of each one */
    double silence;                    /* seconds, as lab_lock_take has it */
    int threads;                       /* 0: one per CPU that the process may use */
    FILE *show;                        /* progress; NULL: none */
    bool show_json;                    /* progress is for a program: one JSON object per line */
    FILE *warn;                        /* warnings that are printed even without progress; NULL: none */
    const volatile sig_atomic_t *stop; /* not 0: finish the step, save, return; NULL: never */
} race_asked;

/* One training with one seed. */
typedef struct race_training {
    int entry; /* the first that is trained so */
    uint64_t seed;
    lab_watch watch; /* of who works at it */
    bool counted;    /* its work is part of race.work, and done or being done */
    char folder[RACE_FOLDER + 160];
} race_training;

typedef struct screen screen;

/* What is being done. */
typedef struct screen_now {
    int training, test; /* which of the race's; test: the length's index, -1: it trains */
    int entry;
    int64_t done, of;               /* steps or windows */
    double loss, tokens_per_second; /* loss: nats; NAN: none */
} screen_now;

typedef struct race {
    lab_results results; /* what is known so far: .run[i] is of .training[i] */
    race_asked asked;    /* .setup as it was asked; results.setup is as it is done */
    race_training *training;
    int trainings;
    lab_data *data;
    pe_pool *pool;
    lab_lock lock, held; /* of the folder: a process that is alone, or begins the race; of the training at work */
    screen *screen;
    bool stopped;
    bool recovered;    /* the folder's lock was that of a dead process */
    int done;          /* trainings with all their tests, as far as this process knows */
    char others[1000]; /* who else works: "rope, seed 1: process 12 on a since ...", with commas between; "" */
    bool saved;                         /* there is a race.json to resume from */
    double work, worked, worked_before; /* tokens that go forward: in all, so far, before this process began */
    double begin;                       /* clock, when this process began to work */
    /* The source of a resumed race: */
    char texts[16384];
    const char *file[RACE_FILES], *test[RACE_FILES];
} race;

pe_status race_open(race **out, const race_asked *asked, pe_error *err);
pe_status race_start(race *r, pe_error *err);
/* r->stopped: it was asked to stop, and can be resumed. A loss that is not finite is PE_ERR_RANGE; where the folder is
 * shared the others are trained before. */
pe_status race_run(race *r, pe_error *err);
void race_free(race *r); /* NULL is fine */

/* ---------------------------------------------------------------- entries (race_setup.c) */

/* Adds "rope:theta=10000,scaling=yarn,alibi": a word with = before any : belongs to the spec before it. */
pe_status race_add_list(lab_setup *s, const char *list, pe_error *err);
/* Adds a sweep: a line for each, "spec" or "name = spec"; # starts a comment. */
pe_status race_add_file(race_asked *out, const char *path, pe_error *err);

pe_status race_add_entry(lab_setup *s, const char *name, const char *spec, pe_error *err);
/* The word of such a list at *at, which moves on to the next, NULL after the last. */
#define RACE_WORD 4096 /* a longer word is cut off there, and refused as a spec */
void race_next_word(char out[RACE_WORD], const char **at);

/* ---------------------------------------------------------------- parts of it */

/* The rates of an entry's tensors: what was asked, or what a folder to resume says (rates.c). */
pe_status race_set_rates(const race *r, lab_entry *e, const model *m, pe_error *err);
/* Whether what was asked means something, and each name in it a tensor of some entry (rates.c). */
pe_status race_check_rates(const race *r, pe_error *err);
/* Fills in trained specs and positions; refuses what cannot be trained (race_setup.c). */
pe_status race_check(race *r, pe_error *err);
/* Adds the entries that asked.drop names, without their encodings, and what follows from the steps (drop.c). */
pe_status race_add_dropped(race *r, pe_error *err);
void race_fill_dropped(race *r);
/* The first weights of a training without the encoding: the last of the one with it (drop.c). */
pe_status race_take_dropped(model *m, const race *r, const race_training *t, pe_error *err);
/* All trainings, and room for their lines (race_setup.c). */
pe_status race_plan(race *r, pe_error *err);
/* FOLDER/SLUG-SEED */
void race_training_folder(race_training *t, const char *folder, const lab_setup *s);
bool race_trains_first(const lab_setup *s, int entry); /* no earlier entry is trained alike */
model_config race_model(const lab_setup *s);
/* A model of the training, its first weights set. */
pe_status race_new_model(model **out, const race *r, const race_training *t, pe_error *err);
/* The batch as the model takes it: positions as many as its encoding knows. */
model_batch race_batch(const model *m, const lab_batch *b);
int64_t race_steps(const lab_setup *s, const race_training *t);        /* of this training */
uint64_t race_fingerprint(const lab_setup *s, const race_training *t); /* of all that weights follow from */
bool race_shares(const lab_setup *s, int entry, const race_training *t);
const char *race_spec_at(char out[400], const lab_setup *s, int entry, int64_t length); /* NULL: out of memory */
int64_t race_windows(const race *r, int64_t length);
bool race_asked_to_stop(race *r);
/* Tokens that go forward once, of a model at this length; a step of training is three times that. Attention's part:
 * 24 C^2 + 2 T C multiply-adds for each token. */
double race_work(const lab_setup *s, int64_t tokens, int64_t length);
void race_skip(race *r, double work); /* which need not be done */

/* The lines of all logs, or of one, as they are now; those in memory go (train.c). */
pe_status race_load_lines(race *r, pe_error *err);
pe_status race_load_log(race *r, int training, pe_error *err);
/* The training that this process does next, whose lock r->held is; -1: none is left that nobody works at (share.c). */
pe_status race_next(int *training, race *r, pe_error *err);
char *race_setup_text(const lab_setup *s); /* of race.json; malloc'ed; NULL: no memory (share.c) */
bool race_is_own(const race *r, int training); /* of this process's share (share.c) */
/* PE_ERR_IO where another process works at a training (share.c). */
pe_status race_is_alone(race *r, pe_error *err);
/* Waits until the folder's lock is free, and takes it. *found: a race.json came meanwhile, and nothing is taken; only
 * where the folder is shared, else a process that holds it is PE_ERR_IO. Asked to stop: neither (share.c). */
pe_status race_hold_folder(race *r, bool *found, pe_error *err);
/* Takes the setup of the folder's race.json, which has to be what was asked (share.c). */
pe_status race_join(race *r, pe_error *err);
/* The index of the training that one without its encoding goes on from; -1: none (drop.c). */
int race_trained_before(const race *r, const race_training *t);
/* Of a training and its tests, in all (train.c). */
double race_training_work(const race *r, int training);

/* Turns minutes into steps, once (race_setup.c). */
pe_status race_calibrate(race *r, pe_error *err);

/* One training from where it stands to its end, and its tests (train.c). */
pe_status race_train(race *r, int training, pe_error *err);
/* Seconds of a step (train.c), by `count` of them; the model is the caller's to free, whatever comes of it. */
pe_status race_time_steps(double *seconds, model **out, race *r, int training, int count, pe_error *err);
/* One encoding at one length; *done false: asked to stop before its end (evaluate.c). */
pe_status race_test(lab_test_line *out, bool *done, race *r, model *m, screen_now at, pe_error *err);

/* ---------------------------------------------------------------- what is seen meanwhile (screen.c) */

/* json: JSON lines, three a second. Else on a terminal redrawn in place, or a line every few seconds. to NULL: nothing,
 * and NULL is what comes back. */
screen *screen_new(FILE *to, bool json, language l);
void screen_free(screen *s); /* the last frame stays on the screen, the cursor is visible again; NULL is fine */
/* Drawn when it is time. */
void screen_show(screen *s, const race *r, const screen_now *now);
void screen_say(screen *s, const char *format, ...) IO_PRINTF(2, 3); /* a line that stays */
/* The same as a message of the tool, written to asked.warn if there is no screen. */
void race_warn(const race *r, const char *format, ...) IO_PRINTF(2, 3);

#endif
