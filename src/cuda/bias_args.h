/* SPDX-License-Identifier: MIT
 *
 * Arguments of the kernels in bias.cu. An address is a uint64_t, 0: none. Entry e of a table is distance zero - e. */
#ifndef PE_BIAS_ARGS_H
#define PE_BIAS_ARGS_H

#include <stdint.h>

#define BIAS_THREADS 256 /* of a block, in all of them */
#define BIAS_EXTREMES 64 /* blocks that fold shares, at most */
#define BIAS_PARTS 4     /* of an encoding, at most */
#define BIAS_TENSORS 8   /* of a part, at most */
#define BIAS_KEYS 40

typedef struct bias_block {
    uint64_t data; /* parameters or their gradients */
    int64_t f64;   /* 0: float32 */
} bias_block;

/* What a row's functions see of their part (pe_lowered_bias.numbers). */
typedef struct bias_part {
    struct {
        int64_t heads;
    } shape;
    int64_t tensors;
    struct {
        int64_t shape[3], offset, count;
    } tensor[BIAS_TENSORS];
    double value[BIAS_KEYS];
    uint64_t state; /* 0: rows use it where there are no parameters */
} bias_part;

/* bias_fill: (H * ceil(row / BIAS_THREADS)) blocks */
typedef struct bias_fill_args {
    bias_block params;
    bias_part part[BIAS_PARTS];
    uint64_t base;  /* float (H, row): what parts without parameters add */
    uint64_t table; /* float (2, H, row): the table, and its copy shifted by one entry */
    int64_t heads, row, zero, low, high;
    double factor;
} bias_fill_args;

/* knots_measure: max(ceil(row / BIAS_THREADS), extremes) blocks; knots_sort: ceil(knots / BIAS_THREADS); knots_fill:
 * ceil(H (knots + 1) / BIAS_THREADS) */
typedef struct bias_knots_args {
    bias_block params;
    bias_part part;
    uint64_t table;   /* float (2, row): measures */
    uint64_t share;   /* float (shares) of queries at 0, 1, ... */
    uint64_t extreme; /* double (extremes, 2): least and largest share of a block */
    uint64_t sorted;  /* double (knots) */
    uint64_t knot;    /* float (knots) */
    uint64_t slope;   /* float (H, knots + 1) */
    uint64_t level;
    int64_t heads, row, zero, low, high, shares, extremes, knots;
    double factor;
} bias_knots_args;

/* bias_back: (H * workers) blocks */
typedef struct bias_back_args {
    bias_block params;
    bias_part part;
    uint64_t dtable; /* float (slots, H, row) */
    uint64_t ledger; /* double (workers, count), 0 before */
    int64_t slots, heads, row, zero, low, high;
    int64_t chunk;        /* distances of a worker */
    int64_t first, count; /* parameters */
} bias_back_args;

/* knots_back: (workers) blocks, a stretch of lines, of distances or of shares each */
typedef struct knots_back_args {
    bias_knots_args form;
    uint64_t dtable;         /* float (slots, H, gradient), as bias_gradients has it */
    uint64_t ledger;         /* double (workers, count), 0 before */
    int64_t slots, gradient; /* gradient: floats of a head */
    struct {
        int64_t workers, chunk, count;
    } line, distance, share;
    int64_t first, count; /* parameters */
} knots_back_args;

/* bias_sum: ceil(count / BIAS_THREADS) blocks */
typedef struct bias_sum_args {
    bias_block dparams;
    uint64_t ledger;
    int64_t workers, first, count;
} bias_sum_args;

#endif
