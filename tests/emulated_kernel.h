/* SPDX-License-Identifier: MIT
 *
 * What emulated_cuda.c puts before the text of a kernel: the device's functions in C++. gpu/emulate_cuda.h has the
 * threads of a block take turns; a shuffle is a barrier of the block, which kernels here meet all together. */
#ifndef TESTS_EMULATED_KERNEL_H
#define TESTS_EMULATED_KERNEL_H

#include <type_traits>

#include "gpu/emulate_cuda.h"

extern "C" {
#include "base/num.c"
}

#define __forceinline__ inline
#define __log2f log2f
#define pe_params kernel_params /* bias.cu has one of its own */

static struct {
    unsigned x;
} blockDim, gridDim;
alignas(1024) float memory[58 * 1024]; /* shared memory, whose size the kernel does not say */
alignas(1024) float4 rotate_memory[14 * 1024];

template <class A, class B> static typename std::common_type<A, B>::type min(A a, B b)
{
    return a < b ? a : b;
}
template <class A, class B> static typename std::common_type<A, B>::type max(A a, B b)
{
    return a < b ? b : a;
}
static inline float __int_as_float(int bits)
{
    return __uint_as_float((uint32_t)bits);
}
template <class A> static A __ldg(const A *p)
{
    return *p;
}
static inline float __fdividef(float x, float y)
{
    return x / y;
}
static inline void __syncwarp()
{
    __syncthreads();
}
static inline float __shfl_xor_sync(unsigned, float x, int lane)
{
    static float slot[EMULATE_THREADS];
    slot[threadIdx.x] = x;
    __syncthreads();
    float y = slot[threadIdx.x ^ (unsigned)lane];
    __syncthreads();
    return y;
}

/* A kernel, before its definition; its arguments are one struct, by value. */
#define EMULATED_ENTRY(kernel, type)                                                                                   \
    extern "C" void kernel(const type a);                                                                              \
    alignas(64) static char emulated_args_##kernel[sizeof(type)];                                                      \
    static void emulated_body_##kernel()                                                                               \
    {                                                                                                                  \
        kernel(*(const type *)emulated_args_##kernel);                                                                 \
    }                                                                                                                  \
    extern "C" void emulated_##kernel(unsigned blocks, int threads, const void *args)                                  \
    {                                                                                                                  \
        memcpy(emulated_args_##kernel, args, sizeof(type));                                                            \
        blockDim.x = (unsigned)threads, gridDim.x = blocks;                                                            \
        for (unsigned b = 0; b < blocks; b++) {                                                                        \
            memset(memory, 0xff, sizeof memory); /* a block finds nothing there */                                     \
            memset(rotate_memory, 0xff, sizeof rotate_memory);                                                         \
            emulate_block(b, threads, emulated_body_##kernel);                                                         \
        }                                                                                                              \
    }

#endif
