/* SPDX-License-Identifier: MIT
 *
 * What emulated_cuda.c puts before the text of a kernel: the device's functions in C++. Threads of a block take turns,
 * each until it meets a barrier or ends. A shuffle is a barrier of the block, which kernels here meet all together. */
#ifndef TESTS_GPU_EMULATED_KERNEL_H
#define TESTS_GPU_EMULATED_KERNEL_H

#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <ucontext.h>

extern "C" {
#include "base/num.c"
}

#define EMULATE_CUDA
#define __device__
#define __forceinline__ inline
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)
#define __log2f log2f
#define pe_params kernel_params /* bias.cu has one of its own */

/* ------------------------------------------------ types and functions */

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
static inline float __int_as_float(int bits)
{
    return __uint_as_float((uint32_t)bits);
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
template <class A, class B> static typename std::common_type<A, B>::type min(A a, B b)
{
    return a < b ? a : b;
}
template <class A, class B> static typename std::common_type<A, B>::type max(A a, B b)
{
    return a < b ? b : a;
}
template <class A> static A __ldg(const A *p)
{
    return *p;
}
static inline float __fdividef(float x, float y)
{
    return x / y;
}

/* ------------------------------------------------ the threads of a block */

enum { THREADS_MOST = 1024, STACK_BYTES = 65536 };

static struct {
    unsigned x;
} threadIdx, blockIdx, blockDim, gridDim;
extern "C" { /* shared memory, whose size the kernel does not say */
alignas(1024) float memory[58 * 1024];
alignas(1024) float4 rotate_memory[14 * 1024];
}

static jmp_buf block_at, thread_at[THREADS_MOST];
static bool began[THREADS_MOST], ended[THREADS_MOST];
static char *stacks;
static void (*thread_body)();

__attribute__((destructor)) static void free_stacks()
{
    free(stacks);
}

static void __syncthreads()
{
    if (!_setjmp(thread_at[threadIdx.x]))
        _longjmp(block_at, 1);
}

/* Of every block that this thread is in. */
static void thread_run()
{
    for (;;) {
        thread_body();
        ended[threadIdx.x] = true;
        __syncthreads();
    }
}

/* swapcontext would ask the system for the signals of each turn. */
__attribute__((noinline)) static void thread_turn(unsigned thread)
{
    ucontext_t first;
    threadIdx.x = thread;
    if (_setjmp(block_at))
        return;
    if (began[thread])
        _longjmp(thread_at[thread], 1);
    began[thread] = true;
    getcontext(&first);
    first.uc_stack.ss_sp = stacks + (size_t)thread * STACK_BYTES;
    first.uc_stack.ss_size = STACK_BYTES;
    first.uc_link = NULL;
    makecontext(&first, thread_run, 0);
    setcontext(&first);
}

/* A thread that has ended beside one that waits is an error. */
static void block_run(unsigned block)
{
    unsigned left = blockDim.x;
    blockIdx.x = block;
    memset(memory, 0xff, sizeof memory); /* a block finds nothing there */
    memset(rotate_memory, 0xff, sizeof rotate_memory);
    memset(ended, 0, sizeof ended);
    while (left) {
        left = 0;
        for (unsigned i = 0; i < blockDim.x; i++) {
            thread_turn(i);
            left += !ended[i];
        }
        if (left && left != blockDim.x)
            abort();
    }
}

static void blocks_run(unsigned blocks, int threads, void (*body)())
{
    if (!stacks)
        stacks = (char *)malloc((size_t)THREADS_MOST * STACK_BYTES);
    if (!stacks || threads > THREADS_MOST)
        abort();
    thread_body = body;
    blockDim.x = (unsigned)threads;
    gridDim.x = blocks;
    for (unsigned b = 0; b < blocks; b++)
        block_run(b);
}

static inline void __syncwarp()
{
    __syncthreads();
}
static inline float __shfl_xor_sync(unsigned, float x, int lane)
{
    static float slot[THREADS_MOST];
    slot[threadIdx.x] = x;
    __syncthreads();
    float y = slot[threadIdx.x ^ (unsigned)lane];
    __syncthreads();
    return y;
}

/* A kernel, before its definition; its arguments are one struct, by value. */
#define EMULATED_ENTRY(kernel, type)                                                                                   \
    extern "C" void kernel(const type a);                                                                              \
    static const type *emulated_args_##kernel;                                                                         \
    static void emulated_body_##kernel()                                                                               \
    {                                                                                                                  \
        kernel(*emulated_args_##kernel);                                                                               \
    }                                                                                                                  \
    extern "C" void emulated_##kernel(unsigned blocks, int threads, const void *args)                                  \
    {                                                                                                                  \
        emulated_args_##kernel = (const type *)args;                                                                   \
        blocks_run(blocks, threads, emulated_body_##kernel);                                                           \
    }

#endif
