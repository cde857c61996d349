/* SPDX-License-Identifier: MIT
 *
 * What the families of kernels give to the table. */
#ifndef CHECK_FAMILY_H
#define CHECK_FAMILY_H

#include "check.h"

#define FAMILY(name)                                                                                                   \
    void make_##name(problem *p);                                                                                      \
    void call_##name(const kernels *k, const problem *p, void *const *at);                                             \
    void truth_##name(problem *p) /* of those that have one */

FAMILY(gemm);
FAMILY(pack_bf16);
FAMILY(gemm_bf16);
FAMILY(soften);
FAMILY(weigh);
FAMILY(scale);
FAMILY(add);
FAMILY(add_one);
FAMILY(axpy);
FAMILY(line);
FAMILY(ramp);
FAMILY(sum);
FAMILY(dot);
FAMILY(cap);
FAMILY(sigmoid);
FAMILY(polar);
FAMILY(score_grad);
FAMILY(transpose);
FAMILY(widen);
FAMILY(narrow);
FAMILY(dots);
FAMILY(mix);
FAMILY(count);
FAMILY(rotate);
FAMILY(turns);
FAMILY(turn_sums);
FAMILY(add_code);
FAMILY(add_waves);
FAMILY(rotate_waves);

float beside_a_tie(problem *p, pe_dtype type); /* half of a family's values, where it rounds */

/* What a term adds to sum|terms|: nothing where it is infinite or NaN, for then the value decides. */
static inline double finite_size(double term)
{
    return isfinite(term) ? fabs(term) : 0;
}

#endif
