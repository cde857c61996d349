/* SPDX-License-Identifier: MIT
 *
 * What rotate.cu is given. Strides count elements; data are device pointers. */
#ifndef ROTATE_ARGS_H
#define ROTATE_ARGS_H

#include <stdint.h>

#define ROTATE_AXES 8    /* PE_AXES_MAX */
#define ROTATE_TOKENS 32 /* of one block, at most */
#define ROTATE_I64 6     /* PE_I64, PE_I32; all other positions are float64 */
#define ROTATE_I32 7

/* The elements of a pair: read at x and y, written at x_out and y_out. */
typedef struct rotate_lane {
    uint16_t x, y, x_out, y_out;
} rotate_lane;

/* Its angle: (position on axis * multiplier + shift) * frequency, in full turns. */
typedef struct rotate_pair {
    double frequency[3];
    double decay; /* ln of what a query is multiplied by per position from the centre, a key by the inverse */
    double multiplier, shift;
    int64_t axis;
} rotate_pair;

typedef struct rotate_view {
    uint64_t x, y; /* read and written */
    int64_t heads;
    int64_t x_batch, x_token, x_head;
    int64_t y_batch, y_token, y_head;
} rotate_view;

typedef struct rotate_positions {
    uint64_t data; /* 0: none */
    int64_t type;  /* pe_dtype */
    int64_t batch, token, axis;
    int64_t start, step;
} rotate_positions;

/* The caller's cos and sin; row: which row a token has, 0: its own. */
typedef struct rotate_table {
    uint64_t cosine, sine, row;
    int64_t rows;
    int64_t cosine_batch, cosine_token, sine_batch, sine_token;
} rotate_table;

/* A factor on whole vectors that goes by steps of the first coordinate: value[0] before `first`, value[i] from
 * first + (i - 1) * step on; past the last value 1 + slope * ln(1 + i). */
typedef struct rotate_gain {
    uint64_t value;
    int64_t count, first, step;
    double slope;
} rotate_gain;

/* Keys in pages of one pool. */
typedef struct rotate_pages {
    uint64_t table;               /* 0: none */
    int64_t columns, size, count; /* size: tokens of a page, below 2^31 */
} rotate_pages;

/* What a block knows of a token, in its shared memory; a multiple of 16 bytes. */
typedef struct rotate_token {
    double at[ROTATE_AXES]; /* its position; of a shift how far it goes */
    double gain;            /* of the first view */
    int64_t x[2], y[2];     /* where its elements begin in each view */
    int64_t cosine[2], sine[2];
    int32_t moves; /* in a cache: some pair changes */
    int32_t there; /* it is a token, and its page exists */
} rotate_token;

typedef struct rotate_args {
    rotate_view view[2];
    rotate_table table[2];
    rotate_positions at, from; /* from: of a shift */
    rotate_pages pages;
    rotate_gain gain;   /* of the first view */
    uint64_t lanes;     /* (pairs) rotate_lane */
    uint64_t rest;      /* (rests) uint16_t: elements that do not rotate; 0: they are 0, 1, 2 ... */
    uint64_t pair;      /* (pairs) rotate_pair */
    uint64_t pair_from; /* of the encoding that a cache comes from */
    double magnitude;
    double centre, centre_from;
    int64_t batch, tokens, axes; /* batch * tokens is below 2^31 */
    int32_t views, sides;        /* sides: 2 where the two views have cos and sin of their own */
    int32_t pairs, rests;
    int32_t keys;                     /* bit v: view v has keys, whose decay is the inverse */
    int32_t negate, reciprocal, back; /* back: elements are read where they were written */
    int32_t block_tokens;             /* of one block */
    int32_t block_heads;              /* heads of a token that threads work on at the same time */
    int32_t lane_count;               /* threads of a head */
} rotate_args;

#endif
