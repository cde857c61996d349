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
    /* name, truth, k, k per term, least, why, typed */
    { KERNEL(gemm), truth_gemm, 1, 0.5, TINY, summed, false },
    { KERNEL(soften), truth_soften, 1.5, 0.5, NORMAL_MIN,
      "x = s - max is rounded, which exp multiplies by |x|; exp within 1 eps; weights below the least normal may be 0",
      false },
    { KERNEL(weigh), truth_weigh, 1.5, 0, NORMAL_MIN, "as soften, without the sum", false },
    { KERNEL(scale), NULL, 0, 0, 0, exact, false },
    { KERNEL(add), NULL, 0, 0, 0, exact, false },
    { KERNEL(add_one), NULL, 0, 0, 0, exact, false },
    { KERNEL(axpy), truth_axpy, 1.25, 0, TINY, "a product and a sum, fused or not: 2 u and what they do to each other",
      false },
    { KERNEL(line), truth_line, 1.75, 0, TINY,
      "a product and two sums, fused or not: 3 u and what they do to each other", false },
    { KERNEL(sum), truth_sum, 0, 0.5, 0, "n terms in any order: (n - 1) u; sums do not underflow", false },
    { KERNEL(dot), truth_dot, 1, 0.5, TINY, summed, false },
    { KERNEL(cap), truth_cap, 4, 0, 100 * TINY,
      "y / cap and cap * t are rounded, tanh within 3 eps of itself; cap is up to 100", false },
    { KERNEL(sigmoid), truth_sigmoid, 2, 0, NORMAL_MIN,
      "as weigh, with a sum and a quotient: 2 u more, below |x| where exp counts", false },
    { KERNEL(score_grad), NULL, 0, 0, 0, exact, false },
    { KERNEL(transpose), NULL, 0, 0, 0, exact, false },
    { KERNEL(widen), NULL, 0, 0, 0, "bit for bit: exact, or rounded once to nearest even", true },
    { KERNEL(narrow), NULL, 0, 0, 0, "bit for bit: rounded once to nearest even", true },
    { KERNEL(dots), truth_dots, 1, 0.5, TINY, summed, true },
    { KERNEL(mix), truth_mix, 1, 0.5, TINY, summed, true },
    { KERNEL(count), truth_count, 2, 0, TINY,
      "gates may be summed in float32, a vector of them at a time: the place is off by 4 u of itself, times the slope "
      "of the line there; then a difference, a product, two sums",
      false },
};
const int table_count = COUNT(table);
