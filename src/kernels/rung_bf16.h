/* SPDX-License-Identifier: MIT
 *
 * From here to rung_end.h functions may use AVX512-BF16, and what AVX-512 has. */
#include "kernels/rung_begin.h"

#if defined __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16"))),   \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")
#endif
