/* SPDX-License-Identifier: MIT
 *
 * Keys that are already rotated, rotated to other positions. */
#ifndef PE_CACHE_H
#define PE_CACHE_H

#include "core/encoding.h"
#include "core/place.h"
#include "core/pool.h"

#define PAIRS_MAX (PE_HEAD_DIM_MAX / 2)

/* Keys rotated by `from` at from_at become keys rotated by `to` at to_at. Either the encoding is one and the positions
 * differ, or the positions are one and the encodings differ in how fast and how large they rotate the same elements. */
typedef struct move {
    const kernels *kernels;
    const part *to, *from;
    pe_params w; /* of frequencies that are trained: to and from are then one */
    pe_positions to_at, from_at;
    pe_view k;                      /* (sequences, tokens, heads, dim), or pages */
    pe_pages pages;                 /* table NULL: none */
    int64_t batch, tokens;          /* of the positions */
    bool blocks;                    /* the keys are quantised */
    int64_t first, last;            /* elements that rotate lie from first to last - 1 */
    double magnitude;               /* of to over that of from, where neither decays */
    bool exact;                     /* the angle is steps times frequency            */
    double frequency[3][PAIRS_MAX]; /* turns per step, as the kernel wants it */
} move;

/* ln of what pair n's magnitude is multiplied by, beyond m->magnitude, from one position to the other. */
double move_decay(const move *m, int64_t to_at, int64_t from_at, int64_t n);
/* Turns all keys; cannot fail. */
void cache_rotate(move *m, const pe_pool *pool);

#endif
