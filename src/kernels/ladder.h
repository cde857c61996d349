/* SPDX-License-Identifier: MIT
 *
 * Which rungs this build has. How a file of one is compiled: rung_avx2.h, rung_avx512.h. */
#ifndef PE_LADDER_H
#define PE_LADDER_H

#if defined __x86_64__ && defined __GNUC__ && !defined POSENC_SCALAR
#define LADDER_X86 1
#else
#define LADDER_X86 0
#endif
/* Compilers learned of AVX512-BF16 later. */
#if LADDER_X86 && (defined __clang__ || __GNUC__ >= 10)
#define LADDER_BF16 1
#else
#define LADDER_BF16 0
#endif
#if defined __aarch64__ && defined __GNUC__ && !defined POSENC_SCALAR
#define LADDER_NEON 1
#else
#define LADDER_NEON 0
#endif

#endif
