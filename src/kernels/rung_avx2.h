/* SPDX-License-Identifier: MIT
 *
 * How a file of the AVX2 rung is compiled: after exact.h and the library's headers this, at its end rung_end.h, so that
 * no build system has to know. Everything in between may use AVX2, FMA and F16C. */
#include <immintrin.h>

#if defined __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif
