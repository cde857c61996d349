/* SPDX-License-Identifier: MIT
 *
 * Plain C: a multiplication and an addition, as the definitions of the kernels have them. */
#include "bench.h"

#define VEC float
#define WIDTH 1
#define SET(a) (a)
#define LOAD(p) (*(p))
#define STORE(p, v) (*(p) = (v))
#define FMA(a, b, c) ((a) * (b) + (c))
#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define FIRST(v) (v)
#define TARGET
#define RUNG "scalar"
#define STICK yardstick_scalar
#include "yardstick_body.h"
