/* SPDX-License-Identifier: MIT
 *
 * Kernels of src/cuda as C++ on the CPU, for tests: the threads of a block take turns, each until it ends or meets
 * __syncthreads. One program includes this, then the kernels' text. */
#ifndef CUDA_SHIM_H
#define CUDA_SHIM_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <ucontext.h>

#define __device__
#define __global__
#define __grid_constant__
#define __forceinline__ inline
#define __launch_bounds__(threads)
#define __shared__ static

struct shim_index {
    unsigned x, y, z;
};
static shim_index threadIdx, blockIdx;

enum { SHIM_THREADS = 1024, SHIM_STACK = 65536 };
static struct shim_thread {
    ucontext_t at;
    bool ended;
    char *stack;
} shim_thread[SHIM_THREADS];
static ucontext_t shim_turns;
static void (*shim_kernel)(const void *args);
static const void *shim_args;

static void __syncthreads()
{
    swapcontext(&shim_thread[threadIdx.x].at, &shim_turns);
}

static void shim_begin()
{
    shim_kernel(shim_args);
    shim_thread[threadIdx.x].ended = true;
    swapcontext(&shim_thread[threadIdx.x].at, &shim_turns);
}

static void shim_block(int threads)
{
    for (int t = 0; t < threads; t++) {
        struct shim_thread *s = &::shim_thread[t];
        s->stack = s->stack ? s->stack : (char *)malloc(SHIM_STACK);
        s->ended = false;
        getcontext(&s->at);
        s->at.uc_stack.ss_sp = s->stack;
        s->at.uc_stack.ss_size = SHIM_STACK;
        s->at.uc_link = 0;
        makecontext(&s->at, shim_begin, 0);
    }
    for (int left = threads; left;) {
        left = 0;
        for (int t = 0; t < threads; t++)
            if (!shim_thread[t].ended) {
                threadIdx.x = (unsigned)t;
                swapcontext(&shim_turns, &shim_thread[t].at);
                left += !shim_thread[t].ended;
            }
    }
}

/* kernel: takes the address of its arguments. */
extern "C" void shim_run(void (*kernel)(const void *args), const void *args, int64_t blocks, int threads)
{
    shim_kernel = kernel;
    shim_args = args;
    for (int64_t b = 0; b < blocks; b++) {
        blockIdx.x = (unsigned)b;
        shim_block(threads);
    }
}

/* A kernel takes its arguments by value. */
#define SHIM_ENTRY(name)                                                                                               \
    extern "C" void shim_##name(const void *args)                                                                      \
    {                                                                                                                  \
        name(*(const name##_args *)args);                                                                              \
    }

#endif
