/* SPDX-License-Identifier: MIT
 *
 * share.c: which tokens a rank has, and the problems that a call is cut into. tour.c: messages. door.c: checks, sizes and
 * memory. forward.c and backward.c: the calls.
 *
 * A block is what goes round: all keys and values of a rank, or one of its chunks where keys are counted. Each problem, a
 * unit, is a slice of the queries of one chunk and one sequence, with the keys of one chunk. */
#ifndef MPI_RING_H
#define MPI_RING_H

#include "base/door.h"
#include "posenc_mpi.h"

enum { SLICE = 1024 }; /* queries of a unit: after each, messages can move on */

/* ------------------------------------------------ share.c */

typedef struct share {
    pe_ring_order order;
    int ranks, chunks;       /* of a rank */
    int64_t tokens, each, per; /* of the sequence, a rank, a chunk */
} share;

typedef struct span { /* tokens of a rank */
    int64_t batch, first, count;
} span;

share share_of(pe_ring_order order, int ranks, int64_t each);
int64_t share_token(const share *s, int rank, int64_t i);

/* ------------------------------------------------ tour.c */

/* Messages under way. */
enum { KV_IN, KV_OUT, SUM_IN, SUM_OUT, SUM_OUT_2, HOME, HOME_2, CAME, CAME_2, COMES, COMES_2, OTHER, SLOTS };
#define SLOT(n) (1u << (n))
enum { TAG_KV = 1, TAG_SUM, TAG_HOME, TAG_PARAMS, TAG_HERE };

typedef struct tour {
    MPI_Comm comm;
    int rank, ranks, next, before;
    double patience;
    pe_ring_count *count;
    MPI_Request request[SLOTS];
    int peer[SLOTS]; /* -1: all */
    int64_t problem[3]; /* what ranks tell each other */
} tour;

pe_status tour_open(tour *t, const pe_ring *ring, pe_error *err);
pe_status tour_send(tour *t, int slot, int tag, const void *data, int64_t bytes, int to, pe_error *err);
pe_status tour_receive(tour *t, int slot, int tag, void *data, int64_t bytes, int from, pe_error *err);
void tour_poke(tour *t); /* lets messages move */
pe_status tour_wait(tour *t, unsigned slots, pe_error *err);
/* What a rank found, and whether all have the same problem: PE_OK if every rank is fine. */
pe_status tour_agree(tour *t, pe_status own, uint64_t hash, pe_error *err);
/* x = its sum over all ranks, in the order of ranks. */
pe_status tour_sum(tour *t, double *x, double *other, int64_t count, pe_error *err);
int64_t tour_sum_bytes(int rank, int ranks, int64_t count);

/* ------------------------------------------------ door.c */

typedef struct block { /* what of a block lies where, in bytes */
    int64_t k, v, gates, bytes;
} block;

typedef struct ring_call {
    tour t;
    share s;
    const pe_encoding *e;
    pe_attention a;
    pe_attention_grad g;
    pe_run run;
    pe_shape shape;
    bool back, counts;
    int steps, parts; /* blocks that a rank sees; chunks of a block */
    int64_t sequences, Dv;
    block kv, dkv;
    /* the work memory */
    char *block[2], *sum[2], *arriving, *home, *homing; /* of a block; home and homing of a rank */
    pe_partial all, one;                                /* of a rank, of a unit */
    double *carry, *carry_before, *dcarry;              /* (rows of a rank) in pieces by unit; (rows of a unit) */
    double *params, *params_other;                      /* of the encoding, then of the sinks */
    void *unit;
    size_t unit_bytes, bytes;
} ring_call;

/* Everything but the work memory, which *c says the size of. */
pe_status ring_open(ring_call *c, const pe_ring *ring, const pe_encoding *e, const pe_attention *a,
                    const pe_attention_grad *g, const pe_run *run, pe_error *err);
/* Cuts the work memory, after all ranks have agreed. */
pe_status ring_begin(ring_call *c, pe_status opened, const char *asked, pe_error *err);

/* ------------------------------------------------ share.c: units */

typedef struct unit {
    span q, k;     /* of this rank, of the owner */
    int64_t row;   /* the first of its rows (queries and heads) in arrays of the rank */
    int64_t rows;
    pe_attention a;
    bool own;      /* the keys are those of the queries' chunk */
} unit;

typedef pe_status unit_visit(ring_call *c, const unit *u, void *arg, pe_error *err);

/* Visits each unit of keys from `part` of `owner` on, c->parts of them, whose views of k, v and gates are cut from kv. */
pe_status share_units(ring_call *c, int owner, int part, const char *kv, unit_visit *visit, void *arg, pe_error *err);
/* Visits the slices of this rank's queries, with keys of their own chunk that nobody reads. */
pe_status share_slices(ring_call *c, unit_visit *visit, void *arg, pe_error *err);
bool share_has(const ring_call *c, int64_t batch, int64_t i); /* token i of this rank is not padding */
pe_view view_cut(pe_view v, span s);

/* ------------------------------------------------ forward.c */

/* The block that this rank sees in a step: of which rank, and its first chunk. */
void ring_block(const ring_call *c, int step, bool rising, int *owner, int *part);
/* Moves on: at the start of a step its block is here, at the end that of the next. */
pe_status ring_start(ring_call *c, bool rising, pe_error *err);
pe_status ring_step(ring_call *c, int step, bool rising, pe_error *err);
pe_status ring_forward_pass(ring_call *c, pe_status *own, pe_error *err);

#endif
