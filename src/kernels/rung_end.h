/* SPDX-License-Identifier: MIT
 *
 * Ends what rung_avx2.h or rung_avx512.h began. */
#if LADDER_X86 && defined __clang__
#pragma clang attribute pop
#elif LADDER_X86
#pragma GCC pop_options
#endif
