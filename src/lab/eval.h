/* SPDX-License-Identifier: MIT
 *
 * posenc eval: perplexity of a trained model by length, with each method of src/zoo/extend.h over the same weights.
 *
 *     eval e;
 *     eval_plan(&e, &ask, zoo, &err);             the exact spec of every (method, length), before any work
 *     eval_measure(&e, model, go_on, with, &err); fills e.results
 *     eval_judge(&e);                             what posenc extend recommends, beside what was measured
 *     eval_free(&e);
 *
 * Windows: the text is cut into blocks that every length divides, and each length tiles them: all are asked for the
 * same tokens. Where so long a block is more than there is, or than is asked for, a block is as long as the longest
 * length, and shorter windows tile it from its end: they end at the same places, and a length that does not divide it
 * is asked for fewer tokens. A window of n tokens stands at positions 0 .. n-1 and is asked for n: after each token the
 * next, the last of which lies behind it.
 */
#ifndef POSENC_LAB_EVAL_H
#define POSENC_LAB_EVAL_H

#include "lab/results.h"
#include "model/model.h"
#include "model/tokens.h"
#include "zoo/extend.h"

#define EVAL_METHODS_MAX 16
#define EVAL_NEAR 1.10 /* times the best perplexity: near it */

typedef struct eval_ask {
    const char *path; /* of the model, as zoo_open takes it */
    zoo_options options;
    const int32_t *token; /* of the text */
    int64_t tokens;
    int64_t length[LAB_TESTS_MAX];
    int lengths;
    const extend_method *method[EVAL_METHODS_MAX];
    int methods;
    int64_t windows; /* at most, of the longest length that the text has room for; 0: see most */
    int64_t most;    /* tokens of each length, but one window at least; 0: all there are */
} eval_ask;

/* One method at one length. */
typedef struct eval_cell {
    char *spec; /* NULL: there is none, and cannot says why */
    bool idle;  /* the method changes nothing here */
    char cannot[300];
} eval_cell;

/* A method among those that were measured. */
typedef struct eval_place {
    const extend_method *best;
    int place, of; /* 1: the best; 0: it was not measured */
    double ratio;  /* its perplexity over the best's */
} eval_place;

/* What extend recommends at a length, and what was measured. */
typedef struct eval_choice {
    const extend_method *method; /* NULL: nothing has to be set, or nothing can; why says so */
    char why[400];
    eval_place whole, last; /* by the whole window; by its last quarter */
} eval_choice;

typedef struct eval {
    eval_ask ask;
    const zoo_model *zoo;
    int64_t trained; /* 0: not said */
    int64_t longest; /* length that the text has room for */
    int64_t block, blocks;
    eval_cell cell[EVAL_METHODS_MAX][LAB_TESTS_MAX];
    eval_choice choice[LAB_TESTS_MAX];
    lab_results results; /* entries are the methods */
} eval;

/* ask's texts and the zoo have to outlive it. Lengths are put in order; one that is longer than the text is "cannot";
 * PE_ERR_RANGE where that is true of all. */
pe_status eval_plan(eval *out, const eval_ask *ask, const zoo_model *zoo, pe_error *err);
void eval_free(eval *e);                             /* zeroed or half-built: fine */
int64_t eval_windows(const eval *e, int64_t length); /* 0: the text has no room for one */
bool eval_same_tokens(const eval *e);                /* every length that has windows is asked for the same tokens */

/* Called after each batch, with the part of the work that is done; false: stop, and keep what is whole. */
typedef bool eval_go_on(void *with, const eval *e, int method, int length, double part);
/* PE_ERR_RANGE: no measured loss is finite. */
pe_status eval_measure(eval *e, model *m, eval_go_on *go_on, void *with, pe_error *err);
/* The line of a (method, length); NULL: not measured yet. */
const lab_test_line *eval_line(const eval *e, int method, int length);

void eval_judge(eval *e);
/* "extend recommends yarn at 2048: measured 2nd of 7, 1.03x the best (ntk); over the last quarter the best of 7"; one
 * that is above EVAL_NEAR by either measure is called not near the best; "" while there is nothing to say. */
#define EVAL_SENTENCE 500
void eval_choice_sentence(char out[EVAL_SENTENCE], const eval *e, int length);

/* Before it is written: what it was measured on and with. data: "text story.txt". */
void eval_describe(eval *e, const model *m, const char *command, const char *data, int threads);
/* A folder that has a race is refused: it would lose its race.json. */
pe_status eval_check_folder(const char *folder, pe_error *err);
/* race.json, log.jsonl and the report, into a folder that is made where it is not there. */
pe_status eval_write(const eval *e, const char *folder, pe_error *err);

/* The whole numbers of an .npy, each below vocab; malloc'ed. (Those of a text: tokens_encode.) */
pe_status eval_token_file(int32_t **out, int64_t *count, const io_bytes *file, int64_t vocab, pe_error *err);

/* Token after token. The likeliest each time, as llama2.c's run prints it; or one that is drawn, with the probabilities
 * of the logits over the temperature. */
typedef struct eval_voice {
    const char *prompt; /* "": a text from its start; of a model of bytes, a new line */
    int64_t steps;      /* new tokens: 1 to 2^31; fewer where the text ends */
    double temperature; /* 0: the likeliest */
    uint64_t seed;      /* of what is drawn */
} eval_voice;

/* print: the bytes of each token, the prompt's too. PE_ERR_RANGE where logits are not finite. */
typedef void eval_print(void *with, const uint8_t *bytes, size_t size);
pe_status eval_generate(model *m, const tokens *t, const eval_voice *voice, eval_print *print, void *with,
                        pe_error *err);
/* The one that is drawn, or the likeliest: at is a number from 0 to 1. -1: they are not all finite. */
int32_t eval_choose(const real *logit, int64_t vocab, double temperature, double at);

#endif
