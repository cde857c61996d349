/* SPDX-License-Identifier: MIT
 *
 * An attention call with all it needs. */
#ifndef POSENC_BENCH_ATTEND_H
#define POSENC_BENCH_ATTEND_H

#include "bench.h"

typedef struct attend_setting {
    const char *spec, *rung; /* rung NULL: the highest */
    pe_shape shape;
    pe_dtype type; /* of q, k, v and out */
    int64_t queries, keys;
    pe_view k, v; /* data NULL: made here */
    bool rotated, backward;
    bool planned; /* with a plan for as many keys */
    const pe_pool *pool;
} attend_setting;

typedef struct attending {
    pe_encoding *e;
    pe_shape shape;
    pe_attention a; /* causal */
    pe_attention_grad g;
    pe_run run;
    pe_plan *plan;
    size_t forward_bytes, backward_bytes;
    bool borrowed; /* k and v are the caller's */
} attending;

extern const pe_shape attend_shape;                 /* of the tables of attention: 8 heads of 64 */
double attend_operations(int64_t n, bool backward); /* of plain causal attention with it */

attending *attend_new(const attend_setting *s);
void attend_free(attending *c);
pe_status attend_size(attending *c, bool backward, pe_error *err); /* once more, where positions have changed */
void attend_forward(void *arg);                                    /* contenders */
void attend_backward(void *arg);

int64_t grid_side(int64_t count, int64_t axes);

#endif
