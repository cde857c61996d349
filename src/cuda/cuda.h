/* SPDX-License-Identifier: MIT
 *
 * libposenc_cuda inside: a device and its kernels. Everything goes through posenc.h and the driver API; no CUDA header
 * is needed to build. Kernel sources (*.cu, *_args.h) are part of the library as text. An *_args.h is read by both
 * compilers: fixed-width types and plain structs only; a kernel takes one such struct by value. */
#ifndef PE_CUDA_INSIDE_H
#define PE_CUDA_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "posenc_cuda.h"

typedef uint64_t device_pointer; /* CUdeviceptr */

/* ------------------------------------------------ text.c: kernel sources as text (made by cmake/cuda.cmake) */
typedef struct cuda_text {
    const char *name; /* "rotate.cu" */
    const char *text;
} cuda_text;
extern const cuda_text cuda_texts[]; /* ends with a name NULL */

/* ------------------------------------------------ kernel.c: from source to function */

/* A kernel of one specialisation: the program is `defines`, then the texts of `sources` in order. Options are fixed:
 * the device's architecture, C++17, no contraction of products (-fmad=false) where `exact` is set. */
typedef struct kernel_source {
    const char *entry;          /* extern "C" name */
    const char *const *sources; /* names of texts, NULL after the last */
    bool exact;
} kernel_source;

typedef struct kernel {
    void *function;                 /* CUfunction */
    int registers, shared, spilled; /* of one thread; static bytes of a block; local bytes of a thread */
} kernel;

/* Finds or makes it: loaded already, built into the library, in the cache folder, compiled. Any thread. The kernel
 * lives as long as gpu. defines: lines of "#define NAME VALUE\n". */
pe_status cuda_kernel(pe_cuda *gpu, const kernel_source *source, const char *defines, kernel *out, pe_error *err);

typedef struct grid {
    int64_t x, y, z; /* blocks */
    int threads;
    size_t shared; /* dynamic bytes; more than 48 KiB is asked of the driver */
    bool together; /* all blocks run at once, because they wait for each other, or the launch fails */
} grid;
/* args: the address of the kernel's argument struct. */
pe_status cuda_launch(pe_cuda *gpu, const kernel *k, grid g, void *stream, const void *args, pe_error *err);

/* ------------------------------------------------ driver.c */

/* Device memory of a plan, filled from the host before the call returns. */
pe_status cuda_upload(pe_cuda *gpu, device_pointer *out, const void *host, size_t bytes, pe_error *err);
void cuda_release(pe_cuda *gpu, device_pointer p); /* 0 is fine */
/* Zeroes device memory, on the stream. */
pe_status cuda_clear(pe_cuda *gpu, device_pointer p, size_t bytes, void *stream, pe_error *err);
int cuda_capability(const pe_cuda *gpu); /* 90 is 9.0 */
int cuda_processors(const pe_cuda *gpu);

/* A tiled tensor map (CUtensorMap, 128 bytes aligned to 64) of `rank` axes, innermost first, 16-bit elements, for boxes
 * with a 128-byte swizzle; strides in bytes of axes 1 ..; false: this memory cannot have one (alignment, sizes). */
bool cuda_tensor_map(const pe_cuda *gpu, void *map, bool bf16, int rank, device_pointer data, const uint64_t *size,
                     const uint64_t *stride, const uint32_t *box);

/* ------------------------------------------------ plan.c: an encoding on the device */
struct pe_cuda_plan {
    pe_cuda *gpu;
    const pe_encoding *e;
    pe_plan *host; /* its lowered form */
    int64_t behind, ahead;
    struct rotation_data *rotation; /* rotate.c's; NULL: the encoding does not rotate */
    struct bias_data *bias;         /* bias.c's; NULL: no bias */
};
struct rotation_data;
struct bias_data;
pe_status rotation_data_new(pe_cuda_plan *plan, pe_error *err);
void rotation_data_free(pe_cuda_plan *plan);
pe_status bias_data_new(pe_cuda_plan *plan, pe_error *err);
void bias_data_free(pe_cuda_plan *plan);

/* ------------------------------------------------ bias.c: biases by distance, as attention reads them */

#define BIAS_PIECES_MAX 4

/* Biases of one stage and one kind of distance, d = sum of weight[a] (q[a] - k[a]), low <= d <= high. Entry zero - d of
 * a row is that of distance d; at least 512 entries before the first and after the last hold finite numbers. Rows are a
 * multiple of 4 floats, tables aligned to 16 bytes (work memory to 256). A copy of the table follows it, shifted by one
 * entry: entry e of the copy is entry e + 1 of the table. Numbers are in units of products: those after the scale are
 * divided by the encoding's scale. With knots, x = table[zero - d] * share[query's position], and the bias of head h is
 * slope[h][s] * x + level[h][s], s the number of knots at or below x. It is continuous: which side of a knot rounding
 * puts x on makes no difference. Shares are of positions 0 .. shares - 1 alone. */
typedef struct bias_piece {
    pe_stage stage;
    int64_t weight[PE_AXES_MAX];
    bool knots;
    device_pointer table;                /* float (2, H, row); with knots (2, 1, row): measures, not divided */
    int64_t row, zero, count, low, high; /* count: high - low + 1 */
    device_pointer slope, level;         /* float (H, knot_count + 1) */
    device_pointer knot;                 /* float (knot_count), rising, some perhaps infinite */
    device_pointer share;                /* float (shares) */
    int64_t knot_count, shares;
    bool learned;     /* it has parameters, and bias_back wants its dtable */
    int64_t gradient; /* floats of a head in dtable */
} bias_piece;

int bias_pieces(const pe_cuda_plan *plan);
size_t bias_work(const pe_cuda_plan *plan);                         /* device bytes for what depends on parameters */
pe_status bias_check_able(const pe_cuda_plan *plan, pe_error *err); /* every piece has its functions for the device */
/* Where bias_fill puts the pieces; returns bias_work. */
size_t bias_lay(const pe_cuda_plan *plan, device_pointer work, bias_piece *out);
/* Enqueues what computes the tables; out: (bias_pieces), each complete once the stream gets there. */
pe_status bias_fill(const pe_cuda_plan *plan, pe_params params, device_pointer work, void *stream, bias_piece *out,
                    pe_error *err);
/* dtable[piece]: float (slots, H, gradient), gradients of the natural score (of what is before the scale: times the
 * scale), of pieces that are learned. Each is a row, whose entries of no distance are not read. With knots three things
 * follow each other: the row, with gradients times slope and share; by the query's position, (shares) rounded up to a
 * multiple of 4, gradients times slope and measure; and pairs of double, (knot_count + 1, 2), the gradients' sum and
 * that of gradients times x. Slopes are those of the piece. filled: memory of bias_fill. Adds to dparams; its data
 * NULL: does nothing. */
typedef struct bias_gradients {
    pe_params params, dparams;
    device_pointer filled, dtable[BIAS_PIECES_MAX];
    int64_t slots;
} bias_gradients;
size_t bias_back_work(const pe_cuda_plan *plan, int64_t slots);
pe_status bias_back(const pe_cuda_plan *plan, const bias_gradients *g, device_pointer work, void *stream,
                    pe_error *err);

#endif
