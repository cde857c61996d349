/* SPDX-License-Identifier: MIT
 *
 * The attention family of one rung: bodies written in the vocabulary of simd_*.h, and the table they fill. */
#include "kernels/simd_each.h"

#include "kernels/attend_gemm.h"
#include "kernels/attend_blocks.h"
#include "kernels/attend_rows.h"
#include "kernels/attend_cache.h"
#include "kernels/attend_count.h"
#if VW < 16 /* wider squares are no faster */
#include "kernels/attend_transpose.h"
#endif

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
    k->ramp = ramp_v;
    k->sum = sum_v;
    k->dot = dot_v;
    k->cap = cap_v;
    k->sigmoid = sigmoid_v;
    k->polar = polar_v;
    k->score_grad = score_grad_v;
    k->widen = widen_v;
    k->narrow = narrow_v;
    k->dots = dots_v;
    k->mix = mix_v;
    k->count = count_v;
#if VW < 16
    k->transpose = transpose_v;
#endif
}
