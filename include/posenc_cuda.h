/* SPDX-License-Identifier: MIT
 *
 * posenc on NVIDIA GPUs: libposenc_cuda. The structs are those of posenc.h; every data pointer in them (views, positions,
 * lengths, tables, parameters, work memory) is a device pointer, and the calls take a stream.
 *
 *     pe_cuda *gpu;
 *     pe_cuda_new(&gpu, NULL, &err);
 *     pe_cuda_plan *plan;
 *     pe_cuda_plan_new(&plan, gpu, encoding, 8192, 0, &err);          // keys up to 8192 positions before their query
 *     pe_cuda_attention_forward(plan, &attention, &run, stream, &err);
 *
 * Rules, beside those of posenc.h
 *  - The driver (libcuda) and the run-time compiler (libnvrtc) are opened by pe_cuda_new and by the first call that needs a
 *    kernel. Neither is needed to link. A machine without the compiler uses the kernels that are built into the library.
 *  - A call enqueues its work on the stream and returns. It does not synchronise and allocates no device memory, so it can be
 *    captured into a CUDA graph once its kernels are loaded (a first call outside the capture loads them).
 *  - Numbers in device memory cannot be checked before the work is enqueued: positions must lie within PE_POSITION_MAX and
 *    within the plan's distances, lengths within the view. Wrong ones give wrong numbers, and no access outside the buffers.
 *  - The same call gives the same bits on the same kind of GPU, in every run. A sequence's result does not depend on the other
 *    sequences of its batch. Rotations have the bits of the CPU.
 *  - Any number of threads may use a pe_cuda and its plans.
 */
#ifndef POSENC_CUDA_H
#define POSENC_CUDA_H

#include "posenc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pe_cuda pe_cuda; /* a device: its driver, its context, the kernels that were loaded */

typedef struct pe_cuda_options {
    size_t size;          /* sizeof(pe_cuda_options)                                                         */
    int device;           /* CUDA's number of the device; its primary context is used                        */
    const char *cache;    /* folder of compiled kernels; NULL: POSENC_CUDA_CACHE, or posenc/cuda in the user's
                             cache folder; "": none                                                          */
    const char *compiler; /* path of libnvrtc; NULL: POSENC_NVRTC, or where the loader finds it              */
    const char *driver;   /* path of libcuda; NULL: where the loader finds it                                */
} pe_cuda_options;

PE_API pe_status pe_cuda_new(pe_cuda **out, const pe_cuda_options *options, pe_error *err);
PE_API void pe_cuda_free(pe_cuda *gpu); /* after its plans; NULL is fine */

/* What there is on this machine, for people and tools. Nothing is missing if `missing` is "".                         */
typedef struct pe_cuda_facts {
    size_t size;           /* sizeof(pe_cuda_facts)                                                          */
    char device[100];      /* "NVIDIA H200"; "": no device                                                   */
    int capability;        /* 90 is 9.0                                                                      */
    int driver, compiler;  /* versions, 13020 is 13.2; 0: none                                               */
    int64_t memory;        /* bytes of the device                                                            */
    int processors;        /* multiprocessors                                                                */
    int built_in;          /* kernels that are part of the library                                           */
    char cache[300];       /* folder of compiled kernels; "": none                                           */
    char missing[300];     /* what is missing and what to do about it                                        */
} pe_cuda_facts;
PE_API void pe_cuda_look(pe_cuda_facts *facts, const pe_cuda_options *options);

/* An encoding on a device, for keys up to `behind` positions before their query and up to `ahead` after it: what pe_plan is
 * on the CPU. Parameters are not part of it: calls read them from run->params, in device memory, float32. The encoding must
 * outlive the plan.                                                                                                   */
typedef struct pe_cuda_plan pe_cuda_plan;
PE_API pe_status pe_cuda_plan_new(pe_cuda_plan **out, pe_cuda *gpu, const pe_encoding *e, int64_t behind, int64_t ahead,
                                  pe_error *err);
PE_API void pe_cuda_plan_free(pe_cuda_plan *plan); /* after the work that uses it; NULL is fine */

/* ---------------------------------------------------------------- rotation */

/* As pe_rotate, pe_unrotate, pe_rotate_back, pe_rotate_qk, pe_cache_shift and pe_cache_rebase. Views are float32, float16 or
 * bfloat16. pe_cuda_rotate_qk_back takes the gradients of the rotated q and k as r's q and k. Of run they use nothing, and
 * it may be NULL. Quantised caches and trained frequencies are refused; precision=hf and precision=ggml need tables, made
 * by pe_rotate_table. Results have the bits of the CPU. Two things are up to the last bit of the GPU's exp and log1p, which
 * a result rounded to float32 rarely shows: pairs that decay (xpos), and a temperature from its 65536th step on.      */
PE_API pe_status pe_cuda_rotate(const pe_cuda_plan *plan, pe_side side, pe_view y, pe_view x, pe_positions at,
                                const pe_run *run, void *stream, pe_error *err);
PE_API pe_status pe_cuda_unrotate(const pe_cuda_plan *plan, pe_side side, pe_view x, pe_view y, pe_positions at,
                                  const pe_run *run, void *stream, pe_error *err);
PE_API pe_status pe_cuda_rotate_back(const pe_cuda_plan *plan, pe_side side, pe_view dx, pe_view dy, pe_positions at,
                                     const pe_run *run, void *stream, pe_error *err);
PE_API pe_status pe_cuda_rotate_qk(const pe_cuda_plan *plan, const pe_rotation *r, const pe_run *run, void *stream,
                                   pe_error *err);
PE_API pe_status pe_cuda_rotate_qk_back(const pe_cuda_plan *plan, const pe_rotation *r, const pe_run *run, void *stream,
                                        pe_error *err);
PE_API pe_status pe_cuda_cache_shift(const pe_cuda_plan *plan, pe_view k, const pe_pages *pages, pe_positions from,
                                     pe_positions to, const pe_run *run, void *stream, pe_error *err);
PE_API pe_status pe_cuda_cache_rebase(const pe_cuda_plan *to, const pe_cuda_plan *from, pe_view k, const pe_pages *pages,
                                      pe_positions at, const pe_run *run, void *stream, pe_error *err);

/* ---------------------------------------------------------------- attention */

/* As pe_attention_forward and pe_attention_backward. Products are computed in the type of q, k and v on the matrix units
 * (float32: in float32), everything else in float32. An encoding whose score has more than a rotation and biases by distance
 * is refused until its kernel exists; so are pages and quantised keys. Where pairs decay (xpos) and positions lie in memory,
 * queries that follow each other must be as near as the CPU asks for; nobody looks. Work memory is device memory.     */
PE_API pe_status pe_cuda_attention_work(const pe_cuda_plan *plan, const pe_attention *a, size_t *bytes, pe_error *err);
PE_API pe_status pe_cuda_attention_forward(const pe_cuda_plan *plan, const pe_attention *a, const pe_run *run, void *stream,
                                           pe_error *err);
PE_API pe_status pe_cuda_attention_backward_work(const pe_cuda_plan *plan, const pe_attention *a,
                                                 const pe_attention_grad *g, size_t *bytes, pe_error *err);
PE_API pe_status pe_cuda_attention_backward(const pe_cuda_plan *plan, const pe_attention *a, const pe_attention_grad *g,
                                            const pe_run *run, void *stream, pe_error *err);

#ifdef __cplusplus
}
#endif
#endif
