/* SPDX-License-Identifier: MIT
 *
 * A Transformer with random weights, over some random texts: layers of attention and a two-layer map, with
 * normalisation before each, with residual connections or without.
 */
#ifndef POSENC_RELATIVE_STACK_H
#define POSENC_RELATIVE_STACK_H

#include "prove/measures.h"

enum { TEXTS = 24, FITTED = 16, STACK_WEIGHTS = 6 }; /* texts in all; those that a map is fitted on */

typedef struct stack {
    measure_encoding m;
    bool causal, residual;
    int64_t tokens, width;         /* T, C */
    double *x, *y;                 /* (TEXTS T, C): the stream; its normalised copy, then what a branch gives */
    double *part[4];               /* (T, C): q, k, v and the attention's output; the first two hold the map's middle */
    double *weight[STACK_WEIGHTS]; /* (C, C) four times, (C, 2C), (2C, C) */
    double *probe;                 /* (FITTED T + C + 1, C + 1): the stream and a 1, then the ridge */
    double *goal;                  /* (FITTED T + C + 1): the places to be read */
} stack;

pe_status stack_open(stack *s, const prove_given *g, pe_error *err);
void stack_close(stack *s); /* zeroed or half-built: fine */
/* Random words with the codes that the spec adds; each text begins with the same word. */
pe_status stack_fill(stack *s, uint64_t seed, pe_error *err);
pe_status stack_climb(stack *s, uint64_t seed, pe_error *err); /* one layer up */

#endif
