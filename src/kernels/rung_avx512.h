/* SPDX-License-Identifier: MIT
 *
 * As rung_avx2.h, for AVX-512 F, BW, DQ and VL. */
#include <immintrin.h>

#if defined __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl"))),              \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")
#endif
