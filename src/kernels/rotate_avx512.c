/* SPDX-License-Identifier: MIT
 *
 * Rotation with AVX-512. */
#include "base/exact.h"

#include "kernels/rung_avx512.h"

#if LADDER_X86
#include "kernels/simd_avx512.h"
#include "kernels/rotate_body.h"

void rotate_avx512(kernels *k)
{
    rotate_fill(k);
}
#endif

#include "kernels/rung_end.h"
