/* SPDX-License-Identifier: MIT
 *
 * How the claims of claims_sinusoids.c are measured: sinusoids_*.c. */
#ifndef POSENC_SINUSOIDS_H
#define POSENC_SINUSOIDS_H

#include "prove/measures.h"

/* What each pair (2i, 2i+1) turns from position 0 to 1, as positions per turn: length (width / 2). */
pe_status sinusoids_lengths(double *length, const measure_encoding *m, pe_error *err);

/* sinusoids_shift.c */
prove_measure_fn sinusoids_shift;
/* sinusoids_waves.c */
prove_measure_fn sinusoids_wavelengths, sinusoids_first_dims, sinusoids_extrapolate;
/* sinusoids_dot.c */
prove_measure_fn sinusoids_symmetric, sinusoids_decay, sinusoids_coincide;

#endif
