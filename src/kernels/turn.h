/* SPDX-License-Identifier: MIT */
#ifndef PE_TURN_H
#define PE_TURN_H

#include "kernels/wide.h"

/* cos and sin of n f turns, each within 2^-51 of itself, for whole n up to 2^37 and any f below one turn; n may be any
 * double below 2^37 where f is exact enough for it. */
void turn_cos_sin(double n, wide f, double *c, double *s);

/* 1 / (2 pi): turns per radian. */
extern const wide turn_per_radian;

#endif
