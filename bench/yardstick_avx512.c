/* SPDX-License-Identifier: MIT */
#include "bench.h"

#if BENCH_X86
#include <immintrin.h>

#define VEC __m512
#define WIDTH 16
#define SET _mm512_set1_ps
#define LOAD _mm512_loadu_ps
#define STORE _mm512_storeu_ps
#define FMA _mm512_fmadd_ps
#define ADD _mm512_add_ps
#define MUL _mm512_mul_ps
#define FIRST _mm512_cvtss_f32
#define TARGET __attribute__((target("avx512f")))
#define RUNG "avx512"
#define STICK yardstick_avx512
#include "yardstick_body.h"
#endif
