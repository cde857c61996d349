/* SPDX-License-Identifier: MIT
 *
 * Turns and codes on one rung: bodies written in the vocabulary of simd_*.h, and the table they fill. */
#include "kernels/turn_body.h"

#include "kernels/code_body.h"

static void turn_fill(kernels *k)
{
    k->turns = turns_v;
    k->turn_sums = turn_sums_v;
    k->add_code = add_code_v;
    k->add_waves = add_waves_v;
    k->rotate_waves = rotate_waves_v;
}
