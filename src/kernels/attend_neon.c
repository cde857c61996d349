/* SPDX-License-Identifier: MIT
 *
 * The loops of attention with NEON. */
#include "base/exact.h"

#include "kernels/rung_neon.h"

#if LADDER_NEON
#include "kernels/simd_neon.h"
#include "kernels/attend_fill.h"

void attend_neon(kernels *k)
{
    attend_fill(k);
}
#endif
