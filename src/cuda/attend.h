/* SPDX-License-Identifier: MIT
 *
 * Attention on the device: what forward and backward share. A call is checked (attend_check.c), its work memory laid
 * out, its vectors rotated, its biases filled and its kernels' arguments written (attend.c). */
#ifndef PE_CUDA_ATTEND_H
#define PE_CUDA_ATTEND_H

#include "cuda/attend_args.h"
#include "cuda/cuda.h"
#include "cuda/door.h"

/* A call that was checked. */
typedef struct attend_call {
    const pe_cuda_plan *plan;
    pe_attention a;
    pe_run run;
    double scale;
    int64_t sequences;
    bool rotates_q, rotates_k, rotates_v, rotates_out; /* what is rotated here */
    bool by_position;                                  /* the mask compares positions of each pair, not indices */
    bool decays; /* kernels make vectors shrink and grow, which are only rotated before */
} attend_call;

pe_status attend_open(attend_call *c, const pe_cuda_plan *plan, const pe_attention *a, const pe_run *run,
                      pe_error *err);
/* out and lse; written: they overlap nothing that is read. */
pe_status attend_outputs(attend_call *c, bool written, pe_error *err);
/* Nothing that is written, of `more`, overlaps what is read or the work memory. */
pe_status attend_apart(const attend_call *c, const region *more, int count, pe_error *err);
/* Positions rise by 1 from token to token. */
bool attend_even(pe_positions p);

/* Work memory. A first pass with `at` 0 counts the bytes. */
typedef struct attend_memory {
    device_pointer at;
    size_t used;
} attend_memory;
device_pointer attend_take(attend_memory *m, int64_t count, size_t size);
pe_view attend_take_like(attend_memory *m, pe_view v); /* memory for a copy of v, contiguous */
/* run.work, from an aligned address on, if it has what the pass counted. asked: the function that says how much. */
pe_status attend_memory_open(const attend_call *c, size_t counted, attend_memory *m, const char *asked, pe_error *err);
size_t attend_memory_bytes(size_t counted); /* what the caller is told */

/* q, k and v as they enter the products: rotated copies, or the caller's own. */
typedef struct attend_inputs {
    pe_view q, k, v;
    device_pointer bias; /* memory of bias_fill */
    bias_piece piece[BIAS_PIECES_MAX];
} attend_inputs;
void attend_lay(const attend_call *c, attend_memory *m, attend_inputs *in);
/* Enqueues what fills them. */
pe_status attend_fill(const attend_call *c, attend_inputs *in, void *stream, pe_error *err);

/* A specialisation: the #defines of a kernel. */
typedef struct attend_variant {
    pe_dtype type, out;
    int d, dv, bm, bn, tile; /* tile 0: not defined */
    bool cap, keep, by_position, lse_double, near, decays;
    int additive; /* 0: none; else 1 + its type */
    int bias[ATTEND_BIASES_MAX];
} attend_variant;
#define ATTEND_DEFINES 600 /* bytes */
void attend_defines(const attend_variant *v, char *out);
/* That of a call, for tiles of bm queries and bn keys. */
attend_variant attend_variant_of(const attend_call *c, const attend_inputs *in, int bm, int bn);

attend_view attend_view_of(pe_view v);
/* What kernels are told, but for redo, maps and what is backward's. Tiles have bm queries. */
attend_args attend_args_of(const attend_call *c, const attend_inputs *in, const attend_variant *v);
/* The blocks of a kernel on the ordinary units; redo: it only looks for flags, for which a few are enough. */
void attend_blocks(const attend_call *c, attend_args *a, grid *g, bool redo);
/* Query heads of all sequences; where these are packed, of the one row. */
int64_t attend_heads(const attend_call *c);
/* Tiles of queries of all sequences and heads, as tile_count in attend_common.cu. */
int64_t attend_tiles(const attend_call *c, int bm);
/* A view of 16-bit vectors for the copy engine, in boxes of `rows` tokens and 64 elements; false: it cannot have it. */
bool attend_map(const attend_call *c, void *map, pe_view v, int rows);
/* Biases whose entries attend_hopper keeps in shared memory; -1: a table is too long for it. */
int attend_near(const attend_variant *v, const attend_inputs *in, int biases);

#endif
