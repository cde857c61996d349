/* SPDX-License-Identifier: MIT
 *
 * What attention's kernels are told, read by both compilers. Pointers are device pointers; strides count elements. */
#ifndef ATTEND_ARGS_H
#define ATTEND_ARGS_H

#if defined __CUDACC_RTC__
typedef unsigned char uint8_t;
typedef int int32_t;
typedef unsigned uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif
#if defined __cplusplus
#define ALIGNED(n) alignas(n)
#else
#define ALIGNED(n) _Alignas(n)
#endif

#define ATTEND_BIASES_MAX 4

/* BIAS0 .. BIAS3 of a kernel: 0, or these. */
#define BIAS_ON 1
#define BIAS_BEFORE 2  /* before the scale */
#define BIAS_SCATTER 4 /* distances are not those of indices */
#define BIAS_KNOTS 8
#define BIAS_SCALED 16   /* the tables are multiplied by a factor: the call's scale is not the encoding's */
#define BIAS_GRADIENT 32 /* the gradient of its table is wanted */

/* Shared memory of a block, in bytes: tiles of bm queries and bn keys, heads of d and dv. That of attend_hopper has two
 * tiles of keys and values, and of each of `near` biases the entries that these need. */
#define ATTEND_STAGES 2
#define ATTEND_SLICE(bm, bn) (((bm) + (bn) + 4 + 31) / 32 * 32 + 16) /* floats */
#define ATTEND_PLACES_BYTES(bn) (2 * 8 * (ATTEND_BIASES_MAX + 2) * (bn))
#define ATTEND_HOPPER_BYTES(bm, bn, d, dv, near)                                                                       \
    (2 * ((bm) * (d) + ATTEND_STAGES * (bn) * ((d) + (dv))) +                                                          \
     ATTEND_STAGES * ((near) + 1) * 8 * ATTEND_SLICE(bm, bn) + ATTEND_PLACES_BYTES(bn) + 512)
/* Backward: attend_back_hopper, whose bm are keys and bn queries, with sums along diagonals for gradients of tables,
 * and room for the dq of two tiles where it is there; the kernels on the ordinary units. */
#define ATTEND_SHARED_MOST 232448 /* of a block on Hopper */
#define ATTEND_BACK_LEAST(bm, bn, d, dv, near, gradient)                                                               \
    (2 * (((bm) + ATTEND_STAGES * (bn)) * ((d) + (dv)) + 2 * (bm) * (bn)) + 4 * (bn) * (d) +                           \
     ATTEND_STAGES * (8 * (bn) + ((near) + 1) * 8 * ATTEND_SLICE(bm, bn)) + ((gradient) ? 256 : 32) * ((bn) + 24) +    \
     ((gradient) ? 32 : 4) * ((bn) + 16) + 768)
#define ATTEND_DQ_STAGES(bm, bn, d, dv, near, gradient)                                                                \
    (ATTEND_BACK_LEAST(bm, bn, d, dv, near, gradient) + 4 * (bn) * (d) <= ATTEND_SHARED_MOST ? 2 : 1)
#define ATTEND_BACK_HOPPER_BYTES(bm, bn, d, dv, near, gradient)                                                        \
    (ATTEND_BACK_LEAST(bm, bn, d, dv, near, gradient) +                                                                \
     (ATTEND_DQ_STAGES(bm, bn, d, dv, near, gradient) == 2 ? 4 * (bn) * (d) : 0))
#define ATTEND_BACK_BYTES(bm, bn, d, dv)                                                                               \
    (4 * (((bm) + (bn)) * ((d) + (dv) + 8) + 3 * (bm) * ((bn) + 1)) + 8 * (ATTEND_BIASES_MAX + 2) * (bn))
#define ATTEND_SIMT_BYTES(bm, bn, d, dv) (4 * ((bm) * ((d) + 4) + (bn) * ((d) + (dv) + 8) + 64 * ((bn) + 1)))

typedef struct attend_view {
    uint64_t data;
    int64_t batch, token, head;
} attend_view;

/* As pe_positions. type 0: none in memory, 1: int64, 2: int32. */
typedef struct attend_positions {
    uint64_t data;
    int64_t batch, token, axis, start, step;
    int32_t type, axes;
} attend_positions;

/* As pe_lengths. */
typedef struct attend_lengths {
    uint64_t length, offset;
    int32_t padded_left, unused;
} attend_lengths;

/* A bias by distance, in units of products: head h has table[h * row + zero - distance], of what is after the scale the
 * bias divided by the encoding's scale. With knots, x = table[zero - distance] * share[query's position], and the bias
 * is slope[h][s] * x + level[h][s], s the number of knots at or below x. For kernels that keep entries in shared memory
 * the table is aligned to 16 bytes, rows are multiples of 4 floats with 512 entries before the first distance and after
 * the last, and a copy follows whose entry e is entry e + 1. */
typedef struct attend_bias {
    uint64_t table;
    int64_t row, zero, heads;           /* heads 1: one row for all */
    uint64_t slope, level, knot, share; /* (H, knots + 1), (knots) rising, (shares) */
    int32_t knots, shares;
    float factor; /* on the bias, where the flags have BIAS_SCALED: the encoding's scale divided by the call's */
    int32_t unused;
    int64_t weight[8];
    int64_t gradient; /* floats of a head's gradient, as bias_piece has it */
} attend_bias;

typedef struct attend_args {
    attend_view q, k, v, out, lse; /* lse: data 0, not wanted */
    attend_view keep, additive;
    attend_positions q_at, k_at;
    attend_lengths q_lengths, k_lengths;
    uint64_t sinks; /* (H) float32; 0: none */
    uint64_t
        decay; /* (D) float32: log 2 of what a query's element is multiplied by per position, a key's by the inverse */
    uint64_t redo; /* (1 + tiles) a counter, and flags of tiles that attend_simt computes again; 0: it computes all */
    int64_t keys_after, keys_before, window, first_keys;
    int32_t causal, align; /* align as pe_align, or 3: by position, and positions rise by 1 with each token */
    int32_t sequences, Tq, Tk, H, group; /* group: query heads of a key head */
    int32_t tiles, head_group;           /* of queries in all sequences; heads whose keys share the L2 cache */
    int32_t blocks, unread;              /* of a kernel on the ordinary units, which may have fewer and loop */
    float scale, scale_log2, cap;
    attend_bias bias[ATTEND_BIASES_MAX];
    /* backward */
    attend_view dout, dq, dk, dv;       /* data 0: not wanted */
    uint64_t rows;                      /* (batch, H, Tq) pairs of float32: log-sum-exp in units of log 2, dout . out */
    uint64_t dsinks;                    /* (H) float32, added to; 0: not wanted */
    uint64_t dtable[ATTEND_BIASES_MAX]; /* (slots, H, gradient) float32, added to */
    uint64_t redo_queries;              /* as redo, of tiles of queries, where redo is of tiles of keys */
    uint64_t dq_sum, turns; /* of attend_back_hopper, per tile of queries: sums of dq, tiles of keys that are in them */
    int32_t batch, slots, accumulate;
    int32_t only_sequence, only_head, sums; /* of attend_dadditive: -1 for all; sums: over queries, which share a row */
    attend_view dadditive;
} attend_args;

/* With tensor maps, for the copy engine. */
typedef struct attend_mapped {
    ALIGNED(64) unsigned char q[128], k[128], v[128], dout[128];
    attend_args a;
} attend_mapped;

#endif
