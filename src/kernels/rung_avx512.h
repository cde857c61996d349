/* SPDX-License-Identifier: MIT
 *
 * From here to rung_end.h functions may use AVX-512 F, BW, DQ and VL, and what AVX2 has. */
#include "kernels/rung_begin.h"

#if LADDER_X86 && defined __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl"))),              \
                             apply_to = function)
#elif LADDER_X86
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")
#endif
