/* SPDX-License-Identifier: MIT
 *
 * The loops of attention with AVX2. */
#include "base/exact.h"

#include "kernels/rung_avx2.h"

#if LADDER_X86
#include "kernels/simd_avx2.h"
#include "kernels/attend_fill.h"

void attend_avx2(kernels *k)
{
    attend_fill(k);
}
#endif

#include "kernels/rung_end.h"
