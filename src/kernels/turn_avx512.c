/* SPDX-License-Identifier: MIT
 *
 * Turns and codes with AVX-512. */
#include "base/exact.h"

#include "kernels/rung_avx512.h"

#if LADDER_X86
#include "kernels/simd_avx512.h"
#include "kernels/turn_fill.h"

void turn_avx512(kernels *k)
{
    turn_fill(k);
}
#endif

#include "kernels/rung_end.h"
