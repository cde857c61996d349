/* SPDX-License-Identifier: MIT
 *
 * What verbs ask of a rotation: one head of it in float64, and which angles its pairs had in training. */
#ifndef POSENC_ZOO_ROTATION_H
#define POSENC_ZOO_ROTATION_H

#include "posenc.h"

/* ---------------------------------------------------------------- one head, frequencies fixed or trained */

const pe_tensor *zoo_trained_rotation(const pe_encoding *e); /* (sets, axes, pairs) of frequencies; NULL: fixed */
/* Radians per position of a pair on an axis, of this query head; w is float64. */
double zoo_trained_frequency(const pe_encoding *e, pe_params w, int64_t head, int64_t axis, int64_t pair);
int64_t zoo_rotating_heads(const pe_encoding *e); /* key heads that rotate each in their own way; 1: all alike */

/* cosine and sine (1, tokens, 1, pairs), or y and x (1, tokens, 1, head_dim), of a query head or its key head. */
pe_status zoo_rotate_table(pe_view cosine, pe_view sine, const pe_encoding *e, pe_params w, int64_t head, pe_side side,
                           pe_positions at, pe_error *err);
pe_status zoo_rotate_head(pe_view y, pe_view x, const pe_encoding *e, pe_params w, int64_t head, pe_side side,
                          pe_positions at, pe_error *err);

/* ---------------------------------------------------------------- angles in training */

/* Training rotated a pair by the frequency that it had before a scaling for longer contexts. */
typedef struct zoo_turns {
    pe_pair at;        /* as served                                                                       */
    double wavelength; /* positions per turn, as served; infinite: does not rotate                         */
    double trained;    /* the same as trained                                                             */
    double turns;      /* in training; NAN: the trained length is not known                                 */
    double divisor;    /* served over trained wavelength; 1: kept                                           */
    double leaves;     /* first position with an angle it never had in training; infinite: it had them all    */
} zoo_turns;

/* born: the pair of the same spec without its scaling (zoo_spec_unscaled). trained: positions, 0 where they are not
 * known. window: keys are never further away; 0: no such bound. */
void zoo_turns_measure(zoo_turns *out, const pe_pair *at, const pe_pair *born, int64_t trained, int64_t window);
bool zoo_turns_unturned(const zoo_turns *p); /* it rotated, but less than once in training */

#endif
