/* SPDX-License-Identifier: MIT
 *
 * What a race (or an eval) writes down and a report reads: one JSON object per line, one struct per line here, one
 * place that knows the words (results.c). Files from a run are untrusted like any other.
 *
 *     RUNS/NAME/race.json           what was asked: command, versions, data, model, schedule, entries, calibration
 *     RUNS/NAME/SLUG-SEED/log.jsonl lines "train", "test", "run", "failure"
 *     RUNS/NAME/SLUG-SEED/step-00000400.safetensors                           checkpoints (run.h)
 *     RUNS/NAME/log.jsonl           an eval's lines "test"
 *
 * SLUG is that of the first entry that is trained so. */
#ifndef POSENC_LAB_RESULTS_H
#define POSENC_LAB_RESULTS_H

#include "io/words.h"
#include "posenc.h"

#include <stdio.h>

#define LAB_BINS 64      /* of the loss by position: equal parts of the window */
#define LAB_DISTANCES 20 /* of recall: 2^k .. 2^(k+1) - 1 tokens, k = 0 .. 19 */
#define LAB_ENTRIES_MAX 64
#define LAB_TESTS_MAX 16
#define LAB_SEEDS_MAX 64
#define LAB_TENSORS_MAX 32 /* learned tensors of an encoding */

/* How a learned tensor of an encoding is trained: its learning rate and weight decay, times those of the weights. */
typedef struct lab_tensor {
    char name[40];
    double rate, decay;
} lab_tensor;

/* One encoding of the race. Entries that are trained alike share the weights (lab_trained_alike). */
typedef struct lab_entry {
    char name[64];     /* no two alike. What people call it: the spec, or "name = spec" of a sweep's file */
    char spec[400];    /* as asked */
    char trained[400]; /* the spec that was trained: spec without what is added afterwards */
    char slug[64];     /* of its folder: letters, digits, - _ and . (not first) */
    lab_tensor tensor[LAB_TENSORS_MAX];
    int tensors;
    int64_t dropped; /* steps of training with spec, none, after the encoding of trained was dropped; 0: not dropped */
} lab_entry;

typedef struct lab_setup {
    char kind[8];       /* "race"; "eval": entries are methods, nothing is trained, perplexity is shown */
    char model[200];    /* an eval's: its file */
    char note[600];     /* a sentence that the report prints below the finding; "" */
    char command[2000]; /* as typed */
    char version[32], blas[80], cpu[80], kernels[16], date[32]; /* date: UTC, ISO 8601 */
    int threads;
    char data[400]; /* "stories", "text: 7 files, test 1342-0.txt" */
    uint64_t data_fingerprint;
    int64_t data_size; /* bytes to train on; 0: endless */
    int64_t layers, width, heads, kv_heads, hidden, vocab;
    bool causal;
    int64_t train_length, batch, steps, warmup;
    double rate, decay, clip;
    int64_t test[LAB_TESTS_MAX]; /* lengths in tokens */
    int tests;
    int64_t test_tokens;          /* of each length */
    uint64_t seed[LAB_SEEDS_MAX]; /* up to 2^63 - 1; an eval has one, 0 */
    int seeds;
    lab_entry entry[LAB_ENTRIES_MAX];
    int entries;
    double minutes;      /* asked for; 0: steps were */
    double step_seconds; /* measured by the calibration; 0: none */
    double test_seconds;
    char calibration[300]; /* in words */
} lab_setup;

typedef struct lab_train_line {
    int64_t step;               /* steps done */
    double loss;                /* nats per token, mean since the line before */
    double rate, norm, seconds; /* seconds of training so far, over all resumes */
} lab_train_line;

typedef struct lab_test_line {
    int entry; /* index; in the file its name */
    uint64_t seed;
    int64_t length, windows;
    double bits;                  /* per token (a race's are bytes), whole window; perplexity is 2 to this */
    double last_quarter;          /* the same, its last quarter */
    double by_position[LAB_BINS]; /* the same; NAN where a part has no target */
    int64_t asked[LAB_DISTANCES], right[LAB_DISTANCES]; /* recall by distance */
    int64_t asked_all, right_all;                       /* every target: accuracy, for tasks */
    double seconds;
    char spec[400];   /* the exact encoding at this length */
    char cannot[300]; /* why there is no number; "" where there is */
} lab_test_line;

typedef struct lab_run_line { /* at the end of training */
    int64_t params, position_params, tokens, steps;
    double seconds, tokens_per_second, final_loss; /* nats: mean of the last twentieth */
    bool finished;                                 /* false: stopped early */
} lab_run_line;

typedef struct lab_failure_line { /* where a training broke off */
    int64_t step;                 /* that could not be done; 0: none failed */
    char why[500];
} lab_failure_line;

typedef enum lab_run_state {
    LAB_RUN_UNKNOWN, /* nobody has looked */
    LAB_RUN_NOT_STARTED,
    LAB_RUN_RUNNING, /* a process holds its folder */
    LAB_RUN_STOPPED, /* and goes on when a process comes back */
    LAB_RUN_FAILED,
    LAB_RUN_DONE /* with all its tests */
} lab_run_state;

/* One training with one seed. */
typedef struct lab_run {
    int entry; /* the first that is trained so */
    uint64_t seed;
    char *folder; /* malloc'ed; NULL: not known */
    lab_run_state state;
    char owner[360]; /* of one that is running: its process, and since when */
    lab_train_line *train;
    int trains;
    lab_run_line end;
    bool ended;
    lab_failure_line failure;
} lab_run;

typedef struct lab_results {
    lab_setup setup;
    lab_run *run;
    int runs;
    lab_test_line *test;
    int tests;
    language language; /* of reports; in no file */
} lab_results;

bool lab_is_eval(const lab_setup *s);
/* The same spec, its tensors at the same rates, dropped for the same number of steps or not. */
bool lab_trained_alike(const lab_entry *a, const lab_entry *b);
/* Whether position at is in the last quarter of a window, rounded up: one position at least. */
bool lab_in_last_quarter(int64_t at, int64_t length);

/* Writers: one line each, flushed by the caller; but lab_write_setup writes race.json for people, on many. */
void lab_write_setup(FILE *to, const lab_setup *s);
void lab_write_train(FILE *to, const lab_train_line *l);
void lab_write_test(FILE *to, const lab_setup *s, const lab_test_line *l);
void lab_write_run(FILE *to, const lab_run_line *l);
void lab_write_failure(FILE *to, const lab_failure_line *l);
/* All of it as lines: "setup", then "run", "failure", "train" and "test" with their entry and seed. */
void lab_write_all(FILE *to, const lab_results *r);

pe_status lab_save_setup(const char *folder, const lab_setup *s, pe_error *err); /* race.json */
pe_status lab_read_setup(lab_setup *out, const char *folder, pe_error *err);
/* Of one or several folders, or files results.jsonl, whose settings agree in all that makes them comparable (else an
 * error that says what differs): entries, seeds and lengths are united. A last line that is cut short is left out; a
 * line of another kind is passed over; of two tests of the same (entry, seed, length) the later counts. */
pe_status lab_read_results(lab_results *out, const char *const *from, int count, pe_error *err);
/* Adds the lines that a training's log, at path, has by now to r->run[run] and r->test; none where it is not there. */
pe_status lab_read_log(lab_results *r, int run, const char *path, pe_error *err);
/* Whether it is trained and each entry that uses its weights is tested at each length. */
bool lab_run_is_done(const lab_results *r, const lab_run *run);
/* Sets the state of every run (missing.c). Waits some seconds where only that can tell whether a process lives. */
pe_status lab_find_missing(lab_results *r, pe_error *err);
int lab_missing(const lab_results *r); /* runs that are not done, as lab_find_missing found them */
/* Keeps the entries with these names or specs, separated by commas, in the order they have. */
pe_status lab_keep_only(lab_results *r, const char *names, pe_error *err);
void lab_results_free(lab_results *r);
void lab_run_free(lab_run *run); /* what it holds */

void lab_set_machine(lab_setup *s); /* version, BLAS, CPU and date: of this machine, now */

/* One line more; lists have room for the next power of two. */
pe_status lab_keep_train(lab_run *run, const lab_train_line *l, pe_error *err);
pe_status lab_keep_test(lab_results *r, const lab_test_line *l, pe_error *err);
lab_test_line *lab_find_test(const lab_results *r, int entry, uint64_t seed, int64_t length); /* NULL: none */

/* ---------------------------------------------------------------- what it says (statistics.c) */

typedef struct lab_summary { /* over seeds */
    int seeds;               /* with a number; 0 where one of them cannot: a mean without it would be too good */
    int of;                  /* seeds that there should be */
    double mean, spread;     /* spread: sample deviation; 0 where there is one seed */
    const char *cannot;      /* in words; NULL: there is a number, or nothing was tested yet */
} lab_summary;
typedef enum lab_measure {
    LAB_BITS = 0,
    LAB_LAST_QUARTER, /* bits */
    LAB_PERPLEXITY,
    LAB_LAST_PERPLEXITY, /* of the last quarter */
    LAB_RECALL,          /* 0 .. 1: of all that was told before and asked for */
    LAB_ACCURACY         /* 0 .. 1: of every target */
} lab_measure;
/* What results of this kind are ranked by and show, and its unit: LAB_BITS, "bits per byte", of a task "bits per
 * answer byte"; LAB_PERPLEXITY. */
lab_measure lab_shown(const lab_setup *s);
const char *lab_unit(const lab_setup *s);
#define LAB_VALUE_ROOM 16
const char *lab_value(char out[LAB_VALUE_ROOM], const lab_setup *s, double value); /* at most 7 characters */
double lab_measured(const lab_test_line *l, lab_measure what);                     /* NAN: not asked */
lab_summary lab_summarise(const lab_results *r, int entry, int64_t length, lab_measure what);
/* Whether the difference of two entries is larger than the seeds': Welch's t, two-sided p below 0.05. */
typedef struct lab_difference {
    double difference, p; /* p is NAN with fewer than two seeds each */
    bool larger;
} lab_difference;
lab_difference lab_compare(const lab_results *r, int a, int b, int64_t length, lab_measure what);
double lab_chance(const lab_setup *s); /* the loss of a model that knows nothing; INFINITY: not known */
/* Whether its loss at the trained length is below chance by more than 5 % and the seeds, and better than that of the
 * entry without an encoding, by more than the seeds; the latter is true where there is no such entry or no second seed,
 * and of what was dropped. If not, its other lengths say nothing about the encoding. */
bool lab_learned(const lab_results *r, int entry);
/* Entries by what is shown at the longest length they have a number for, best first; a longer length comes before a
 * shorter, those without a number last. Returns how many there are. */
int lab_rank(int order[LAB_ENTRIES_MAX], const lab_results *r);
bool lab_has_rank(const lab_results *r, int entry); /* it has a number at some length */
/* Lengths with a number: the trained one, else the shortest; the longest. 0: none. */
void lab_tested(const lab_results *r, int64_t *first, int64_t *last);
/* One or two sentences: what this race showed. "" while there is nothing to say. */
void lab_finding(char *out, size_t cap, const lab_results *r);

#endif
