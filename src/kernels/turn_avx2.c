/* SPDX-License-Identifier: MIT
 *
 * Turns and codes with AVX2. */
#include "base/exact.h"

#include "kernels/rung_avx2.h"

#if LADDER_X86
#include "kernels/simd_avx2.h"
#include "kernels/turn_fill.h"

void turn_avx2(kernels *k)
{
    turn_fill(k);
}
#endif

#include "kernels/rung_end.h"
