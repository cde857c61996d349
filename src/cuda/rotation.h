/* SPDX-License-Identifier: MIT
 *
 * Rotation on the device: what a plan keeps of it (rotation_data.c), and a launch of rotate.cu (rotate.c). */
#ifndef PE_CUDA_ROTATION_H
#define PE_CUDA_ROTATION_H

#include "cuda/cuda.h"
#include "cuda/rotate_args.h"

/* pair to rest and gain.value: in device memory, which is one block */
struct rotation_data {
    device_pointer memory, pair, lanes, rest;
    device_pointer decay; /* (head_dim) float: of each element where it is written, in units of log 2 */
    rotate_gain gain;     /* of queries; count 0: none */
    rotate_pair *pairs;   /* the same on the host, */
    rotate_lane *lane;    /* (count) */
    int64_t count, rests;
    bool exact;   /* angles that are not are in tables only */
    bool trained; /* frequencies are parameters: refused */
    bool decays, rotates_value, rotates_output;
    bool shifted;  /* some pair has a shift */
    bool moves;    /* a pair is not written where it was read */
    bool next[2];  /* the elements of a pair are neighbours where they are read, written */
    int64_t width; /* pairs that may be read and written together; 1, 2, 4 or 8 */
    double magnitude;
    int64_t centre;
};

typedef enum rotate_work {
    ROTATE_ANGLES,
    ROTATE_TABLES,
    ROTATE_SHIFT,
    ROTATE_REBASE,
    ROTATE_DIFFERENCE,
    ROTATE_COPY
} rotate_work;

/* A specialisation of rotate.cu: its #defines. */
typedef struct rotate_variant {
    pe_dtype x, y;
    int width;
    bool x_next, y_next;
    rotate_work work;
    bool decays, gains, fractions, moves;
    int threads;
} rotate_variant;

/* One launch: args' views, positions and work are filled in; the rest follows from data (NULL: a copy) and the
 * variant's types, work, decays, gains and fractions. x and y are the views, dim elements wide. */
typedef struct rotate_call {
    pe_cuda *gpu;
    const struct rotation_data *data;
    rotate_args args;
    rotate_variant as;
    pe_view x[2], y[2];
} rotate_call;
void rotate_add(rotate_call *c, pe_view y, pe_view x);
rotate_positions rotate_positions_of(pe_positions p);
pe_status rotate_launch(rotate_call *c, void *stream, pe_error *err);

/* pe_cuda_rotate and pe_cuda_rotate_back in which no pair decays, whatever the encoding's do. */
pe_status rotate_still(const pe_cuda_plan *plan, pe_side side, pe_view y, pe_view x, pe_positions at, const pe_run *run,
                       void *stream, pe_error *err);
pe_status rotate_still_back(const pe_cuda_plan *plan, pe_side side, pe_view dx, pe_view dy, pe_positions at,
                            const pe_run *run, void *stream, pe_error *err);
/* Positions without memory, where pairs decay: whether both ends are near enough to the centre for this type. */
pe_status rotate_check_ends(const pe_cuda_plan *plan, pe_side side, pe_dtype type, pe_positions at, pe_error *err);
pe_status rotate_check_able(const pe_cuda_plan *plan, bool tables, pe_error *err);

#endif
