/* SPDX-License-Identifier: MIT
 *
 * A kernel as C++ on the CPU: include this, define the specialisation as variables, include the .cu. emulate_launch
 * runs a block's threads as fibers, each up to the next __syncthreads. Compile with -ffp-contract=off, and with
 * -fsanitize=alignment: a GPU needs vectors aligned. */
#ifndef TESTS_EMULATE_CUDA_H
#define TESTS_EMULATE_CUDA_H

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>

extern "C" {
#include "base/num.h"
}

#define EMULATE_CUDA
#define __device__
#define __global__
#define __shared__
#define __grid_constant__
#define __launch_bounds__(...)

struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(8) uint2 {
    uint32_t x, y;
};
struct alignas(16) uint4 {
    uint32_t x, y, z, w;
};
static inline float2 make_float2(float x, float y)
{
    return { x, y };
}
static inline float4 make_float4(float x, float y, float z, float w)
{
    return { x, y, z, w };
}
static inline uint2 make_uint2(uint32_t x, uint32_t y)
{
    return { x, y };
}
static inline uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
    return { x, y, z, w };
}
static inline float __uint_as_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline uint32_t __float_as_uint(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline int atomicOr(int *p, int bits)
{
    int was = *p;
    *p |= bits;
    return was;
}
static inline float float_of_f16(uint32_t bits)
{
    return (float)num_from_f16((uint16_t)bits);
}
static inline uint32_t f16_pair(float x, float y)
{
    return num_to_f16(x) | (uint32_t)num_to_f16(y) << 16;
}
static inline uint32_t bf16_pair(float x, float y)
{
    return num_to_bf16(x) | (uint32_t)num_to_bf16(y) << 16;
}

/* ------------------------------------------------ fibers */

#define EMULATE_THREADS 1024
#define EMULATE_STACK 65536

static struct {
    unsigned x;
} threadIdx, blockIdx;
static ucontext_t emulate_main, emulate_fiber[EMULATE_THREADS];
static bool emulate_done[EMULATE_THREADS];
static char *emulate_stacks;
static void (*emulate_body)(void);

static void emulate_run(void)
{
    emulate_body();
    emulate_done[threadIdx.x] = true;
    swapcontext(&emulate_fiber[threadIdx.x], &emulate_main);
}

static inline void __syncthreads(void)
{
    swapcontext(&emulate_fiber[threadIdx.x], &emulate_main);
}

static void emulate_block(unsigned block, int threads, void (*body)(void))
{
    int left = threads;
    if (!emulate_stacks)
        emulate_stacks = (char *)malloc((size_t)EMULATE_THREADS * EMULATE_STACK);
    emulate_body = body;
    blockIdx.x = block;
    for (int i = 0; i < threads; i++) {
        ucontext_t *c = &emulate_fiber[i];
        getcontext(c);
        c->uc_stack.ss_sp = emulate_stacks + (size_t)i * EMULATE_STACK;
        c->uc_stack.ss_size = EMULATE_STACK;
        c->uc_link = NULL;
        makecontext(c, emulate_run, 0);
        emulate_done[i] = false;
    }
    while (left) /* every thread up to its next barrier; a thread that has ended beside one that waits is an error */
        for (int i = 0, waiting = left; i < threads; i++) {
            if (emulate_done[i])
                abort();
            threadIdx.x = (unsigned)i;
            swapcontext(&emulate_main, &emulate_fiber[i]);
            left -= emulate_done[i];
            if (i == threads - 1 && left && left != waiting)
                abort();
        }
}

#endif
