/* SPDX-License-Identifier: MIT
 *
 * Every kernel, and how far a variant of it may be from the truth, with the reason. u = eps / 2 is what one rounding
 * costs at most, relative to what is rounded. */
#include "family.h"

#define KERNEL(name) #name, offsetof(kernels, name), make_##name, call_##name

static const char exact[] = "bit for bit: each element by the same roundings";
static const char summed[] =
    "n terms in any order, fused or not: (n + 2) u; a product that underflows loses half of the least number";

const kernel table[] = {
    /* name, truth, k, k per term, least, why, last type, more */
    { KERNEL(gemm), truth_gemm, 1, 0.5, TINY, summed, PE_F32, 0 },
    { KERNEL(pack_bf16), NULL, 0, 0, 0, "bit for bit: rounded once to nearest even, 0 below the least normal", PE_F32,
      0 },
    { KERNEL(gemm_bf16), truth_gemm_bf16, 1, 0.5, NORMAL_MIN,
      "as gemm, with exact products; a sum below the least normal may be 0", PE_F32, 0 },
    { KERNEL(soften), truth_soften, 1.5, 0.5, NORMAL_MIN,
      "x = s - max is rounded, which exp multiplies by |x|; exp within 1 eps; weights below the least normal may be 0",
      PE_F32, 0 },
    { KERNEL(weigh), truth_weigh, 1.5, 0, NORMAL_MIN, "as soften, without the sum", PE_F32, 0 },
    { KERNEL(scale), NULL, 0, 0, 0, exact, PE_F32, 0 },
    { KERNEL(add), NULL, 0, 0, 0, exact, PE_F32, 0 },
    { KERNEL(add_one), NULL, 0, 0, 0, exact, PE_F32, 0 },
    { KERNEL(axpy), NULL, 0, 0, 0, exact, PE_F32, 0 },
    { KERNEL(line), NULL, 0, 0, 0, exact, PE_F32, 0 },
    { KERNEL(ramp), NULL, 0, 0, 0, exact, PE_F32, 0 },
    { KERNEL(sum), truth_sum, 0, 0.5, 0, "n terms in any order: (n - 1) u; sums do not underflow", PE_F32, 0 },
    { KERNEL(dot), truth_dot, 1, 0.5, TINY, summed, PE_F32, 0 },
    { KERNEL(cap), truth_cap, 4, 0, 100 * TINY,
      "y / cap and cap * t are rounded, tanh within 3 eps of itself; cap is up to 100", PE_F32, 0 },
    { KERNEL(sigmoid), truth_sigmoid, 2, 0, NORMAL_MIN,
      "as weigh, with a sum and a quotient: 2 u more, below |x| where exp counts", PE_F32, 0 },
    { KERNEL(polar), truth_polar, 5, 0, NORMAL_MIN,
      "exp and the quotient within 2 eps, a series of eight terms and two sums within 2, a product", PE_F32, 0 },
    { KERNEL(score_grad), NULL, 0, 0, 0, exact, PE_F32, 0 },
    { KERNEL(transpose), NULL, 0, 0, 0, exact, PE_F32, 0 },
    { KERNEL(widen), NULL, 0, 0, 0, "bit for bit: exact, or rounded once to nearest even", PE_Q4_0, 0 },
    { KERNEL(narrow), NULL, 0, 0, 0, "bit for bit: rounded once to nearest even, or a block as block_store has it", PE_Q4_0,
      0 },
    { KERNEL(dots), truth_dots, 1, 0.5, TINY, summed, PE_Q4_0, 0 },
    { KERNEL(mix), truth_mix, 1, 0.5, TINY, summed, PE_Q4_0, 0 },
    { KERNEL(count), truth_count, 2, 0, TINY,
      "gates may be summed in float32, a vector of them at a time: the place is off by 4 u of itself, times the slope "
      "of the line there; then a difference, a product, two sums",
      PE_F32, 0 },
    { KERNEL(rotate), NULL, 0, 0, 0, "bit for bit: each product rounded, then the sum", PE_BF16, 2 },
    { KERNEL(turns), NULL, 0, 0, 0, "bit for bit: every operation is the definition's, fused where it is", PE_F32, 0 },
    { KERNEL(turn_sums), truth_turn_sums, 0, 0, 0, "bit for bit where it is certain, and certain alike", PE_F32, 0 },
    { KERNEL(add_code), NULL, 0, 0, 0, "bit for bit: the sum in double, rounded once", PE_F32, 0 },
    { KERNEL(add_waves), truth_add_waves, 0, 0, 0, "bit for bit where it is certain, and certain alike", PE_F32, 0 },
    { KERNEL(rotate_waves), NULL, 0, 0, 0, "bit for bit: each product rounded, then the sum", PE_F32, 0 },
};
const int table_count = COUNT(table);
