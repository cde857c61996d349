/* SPDX-License-Identifier: MIT
 *
 * The end of what rung_avx2.h and rung_avx512.h began. */
#if defined __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
