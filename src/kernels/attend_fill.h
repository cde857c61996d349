/* SPDX-License-Identifier: MIT
 *
 * The attention family of one rung: bodies written in the vocabulary of simd_*.h, and the table they fill. */
#include "kernels/simd_each.h"

#include "kernels/attend_gemm.h"
#include "kernels/attend_rows.h"

static void attend_fill(kernels *k)
{
    k->gemm = gemm_v;
    k->soften = soften_v;
    k->weigh = weigh_v;
    k->scale = scale_v;
    k->add = add_v;
    k->add_one = add_one_v;
    k->axpy = axpy_v;
    k->line = line_v;
    k->score_grad = score_grad_v;
    k->widen = widen_v;
    k->narrow = narrow_v;
}
