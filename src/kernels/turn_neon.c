/* SPDX-License-Identifier: MIT
 *
 * Turns and codes with NEON. */
#include "base/exact.h"

#include "kernels/rung_neon.h"

#if LADDER_NEON
#include "kernels/simd_neon.h"
#include "kernels/turn_fill.h"

void turn_neon(kernels *k)
{
    turn_fill(k);
}
#endif
