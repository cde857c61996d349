/* SPDX-License-Identifier: MIT
 *
 * Rotation with AVX2. */
#include "base/exact.h"

#include "kernels/rung_avx2.h"

#if LADDER_X86
#include "kernels/simd_avx2.h"
#include "kernels/rotate_body.h"

rotate_rows *const *const rotate_rows_avx2 = rotate_v;

void rotate_avx2(kernels *k)
{
    rotate_fill(k);
}
#endif

#include "kernels/rung_end.h"
