/* SPDX-License-Identifier: MIT */
#include "bench.h"

#if BENCH_ARM
#include <arm_neon.h>

#define VEC float32x4_t
#define WIDTH 4
#define SET vdupq_n_f32
#define LOAD vld1q_f32
#define STORE vst1q_f32
#define FMA(a, b, c) vfmaq_f32(c, a, b)
#define ADD vaddq_f32
#define MUL vmulq_f32
#define FIRST(v) vgetq_lane_f32(v, 0)
#define TARGET
#define RUNG "neon"
#define STICK yardstick_neon
#include "yardstick_body.h"
#endif
