/* SPDX-License-Identifier: MIT
 *
 * From here to rung_end.h functions may use AVX2, FMA and F16C. */
#include "kernels/rung_begin.h"

#if LADDER_X86 && defined __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c"))), apply_to = function)
#elif LADDER_X86
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c")
#endif
