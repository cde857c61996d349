/* SPDX-License-Identifier: MIT
 *
 * What a file of any rung starts with: headers before the compiler is told of new instructions, and two words. */
#ifndef PE_RUNG_BEGIN_H
#define PE_RUNG_BEGIN_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/block.h"
#include "base/num.h"
#include "kernels/kernels.h"
#include "kernels/ladder.h"

#if LADDER_X86
#include <immintrin.h>
#elif LADDER_NEON
#include <arm_neon.h>
#endif

#define INLINE static inline __attribute__((always_inline)) /* so that constant arguments become constants */

/* Before a loop of few, constantly many rounds: its array becomes registers. */
#if defined __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* a loop of one round is gone before it could be unrolled */
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

#endif
