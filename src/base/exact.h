/* SPDX-License-Identifier: MIT
 * Included first by every source of base and of the library: arithmetic means what it says, whatever the caller's compiler flags. */
#ifndef PE_EXACT_H
#define PE_EXACT_H

#if defined __FAST_MATH__
#error "posenc needs IEEE arithmetic: compile without -ffast-math"
#endif
#if defined __FINITE_MATH_ONLY__ && __FINITE_MATH_ONLY__
#error "posenc needs infinities and NaN: compile without -ffinite-math-only"
#endif
#if defined __FLT_EVAL_METHOD__ && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#if defined __i386__
#error "posenc needs float arithmetic in float: compile with -msse2 -mfpmath=sse"
#elif defined __s390__
#error "posenc needs float arithmetic in float: compile with -fexcess-precision=fast"
#else
#error "posenc needs float arithmetic in float: FLT_EVAL_METHOD must be 0"
#endif
#endif

/* A product and a sum stay two roundings: no contraction into one, no reordering. What these cannot undo (clang with
 * -ffp-contract=fast) exact_arithmetic (kernels/exact.c) finds out, and pe_encoding_new refuses. */
#if defined __clang__
#pragma STDC FP_CONTRACT OFF
#elif defined __GNUC__
#pragma GCC optimize("fp-contract=off", "no-unsafe-math-optimizations")
#endif

#endif
