/* SPDX-License-Identifier: MIT
 *
 * posenc eval: its parts. verb_eval.c does it, eval_args.c reads what is asked, eval_page.c and eval_json.c show it;
 * eval_greedy.c prints a text instead. */
#ifndef POSENC_CLI_EVAL_H
#define POSENC_CLI_EVAL_H

#include "cli/job.h"
#include "cli/progress.h"
#include "io/json_out.h"
#include "lab/eval.h"

typedef struct eval_job {
    const cli_args *args;
    eval_ask ask;
    zoo_model *zoo;
    pe_pool *pool;
    model *m;
    tokens *tokens;
    int32_t *token; /* of the text */
    eval e;
    bool stopped; /* by Ctrl-C: what is whole is shown */
} eval_job;

/* Lengths and methods, into j->ask; the model is open. */
cli_exit eval_read_args(eval_job *j);

void eval_page(const eval_job *j);
void eval_json(const eval_job *j);
cli_exit eval_greedy(eval_job *j);

/* Progress on stderr, and whether to go on: eval_go_on. */
typedef struct eval_progress {
    progress signals;
    double next; /* seconds */
    bool stopped;
} eval_progress;
eval_progress eval_progress_start(void);
bool eval_progress_step(void *with, const eval *e, int method, int length, double part);
void eval_progress_end(eval_progress *p);

#endif
