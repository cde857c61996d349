/* SPDX-License-Identifier: MIT
 *
 * How the claims of claims_order.c are measured: order_*.c. Random words, some of them twice, and the same in another
 * order, through one layer of attention. */
#ifndef POSENC_ORDER_H
#define POSENC_ORDER_H

#include "prove/measure.h"

#define ORDER_WORDS_MAX 64

typedef struct order_line {
    int64_t word[ORDER_WORDS_MAX], moved[ORDER_WORDS_MAX], order[ORDER_WORDS_MAX];
    int64_t count;
} order_line;

/* Both texts through one layer: out[2] (count, C), weights[2] (count, H, count). */
typedef struct order_looked {
    order_line l;
    int64_t C, H;
    double *out[2], *weights[2];
} order_looked;

pe_status order_line_make(order_line *l, const prove_given *g, bool backwards, pe_error *err);
pe_status order_looked_new(order_looked *k, const char *spec, const prove_given *g, bool backwards, pe_error *err);
void order_looked_free(order_looked *k); /* after a failure too */
/* Between the outputs of the moved words, and what they were before. */
double order_difference(const order_looked *k);

extern const words order_difference_words;
double order_largest(const prove_finding *f); /* of its numbers */

/* order_blind.c */
prove_measure_fn order_blind, order_pooled, order_cross;
/* order_rows.c */
prove_measure_fn order_dogs, order_seen, order_causal, order_reversal_blind, order_reversal_seen;

#endif
