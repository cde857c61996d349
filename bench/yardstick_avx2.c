/* SPDX-License-Identifier: MIT */
#include "bench.h"

#if BENCH_X86
#include <immintrin.h>

#define VEC __m256
#define WIDTH 8
#define SET _mm256_set1_ps
#define LOAD _mm256_loadu_ps
#define STORE _mm256_storeu_ps
#define FMA _mm256_fmadd_ps
#define ADD _mm256_add_ps
#define MUL _mm256_mul_ps
#define FIRST _mm256_cvtss_f32
#define TARGET __attribute__((target("avx2,fma")))
#define RUNG "avx2"
#define STICK yardstick_avx2
#include "yardstick_body.h"
#endif
