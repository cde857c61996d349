/* SPDX-License-Identifier: MIT
 *
 * How the claims of claims_codes.c are measured: codes_*.c. */
#ifndef POSENC_CODES_H
#define POSENC_CODES_H

#include "prove/measures.h"

/* codes_size.c */
prove_measure_fn codes_drown, codes_fractions;
/* codes_steps.c */
prove_measure_fn codes_jump, codes_smooth, codes_bits;

#endif
