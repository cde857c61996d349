/* SPDX-License-Identifier: MIT
 *
 * One sentence through one layer of attention, unmasked. */
#ifndef POSENC_CLI_DOGS_H
#define POSENC_CLI_DOGS_H

#include "cli/job.h"

enum { TOKENS = 6, HEADS = 4, HEAD_DIM = 16, WIDTH = HEADS * HEAD_DIM };
typedef const char *const sentence[TOKENS];

typedef struct scene {
    cli_job job;
    int64_t at[TOKENS * PE_AXES_MAX]; /* (T, axes): token i stands at (0, ..., 0, i) */
    double x[TOKENS * WIDTH];         /* (T, C): same word, same vector */
    double qkv[3][TOKENS * WIDTH];    /* (T, H, D) */
    double out[TOKENS * WIDTH];
    bool out_of_reach; /* the encoding does not serve keys ahead of their query */
    double *embedded;  /* (T, width); freed when played */
} scene;

/* s->out is the output of words under spec; s owns nothing afterwards. */
cli_exit dogs_play(scene *s, const cli_args *a, const char *spec, sentence words);

#endif
