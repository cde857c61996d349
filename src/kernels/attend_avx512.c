/* SPDX-License-Identifier: MIT
 *
 * The loops of attention with AVX-512. */
#include "base/exact.h"

#include "kernels/rung_avx512.h"

#if LADDER_X86
#include "kernels/simd_avx512.h"
#include "kernels/attend_fill.h"

void attend_avx512(kernels *k)
{
    attend_fill(k);
}
#endif

#include "kernels/rung_end.h"
