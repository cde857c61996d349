/* SPDX-License-Identifier: MIT
 *
 * What a pair has seen of its circle in training. Training rotated it by the frequency from before it was changed for
 * longer contexts: a scaled frequency says how far a pair may go, not what it has seen. */
#ifndef POSENC_ZOO_TURNS_H
#define POSENC_ZOO_TURNS_H

#include "posenc.h"

typedef struct zoo_turns {
    pe_pair at;        /* as served                                                                       */
    double wavelength; /* positions per turn, as served; infinite: does not turn                           */
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
