/* SPDX-License-Identifier: MIT
 *
 * Rotation with NEON. */
#include "base/exact.h"

#include "kernels/rung_neon.h"

#if LADDER_NEON
#include "kernels/simd_neon.h"
#include "kernels/rotate_body.h"

void rotate_neon(kernels *k)
{
    rotate_fill(k);
}
#endif
