/* SPDX-License-Identifier: MIT */
#include "kernels/exact.h"

#include <string.h>

#include "kernels/ladder.h"
#include "kernels/rotate.h"

#if LADDER_NEON
#include <arm_neon.h>

#define W 4
typedef float32x4_t vf;

RUNG_INLINE vf load_f32(const float *x)
{
    return vld1q_f32(x);
}

RUNG_INLINE void store_f32(float *y, vf v)
{
    vst1q_f32(y, v);
}

RUNG_INLINE vf load_f16(const uint16_t *x)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(x)));
}

RUNG_INLINE void store_f16(uint16_t *y, vf v)
{
    vst1_u16(y, vreinterpret_u16_f16(vcvt_f16_f32(v)));
}

RUNG_INLINE vf load_bf16(const uint16_t *x)
{
    return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(x), 16));
}

/* Half a unit less one, and one more where the kept part is odd: ties go to even. NaN is kept a NaN. */
RUNG_INLINE void store_bf16(uint16_t *y, vf v)
{
    uint32x4_t bits = vreinterpretq_u32_f32(v), odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    uint32x4_t near = vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd);
    uint32x4_t quiet = vorrq_u32(bits, vdupq_n_u32(0x400000));
    vst1_u16(y, vshrn_n_u32(vbslq_u32(vceqq_f32(v, v), near, quiet), 16));
}

RUNG_INLINE void split(vf low, vf high, vf *even, vf *odd)
{
    *even = vuzp1q_f32(low, high);
    *odd = vuzp2q_f32(low, high);
}

RUNG_INLINE void join(vf even, vf odd, vf *low, vf *high)
{
    *low = vzip1q_f32(even, odd);
    *high = vzip2q_f32(even, odd);
}

RUNG_INLINE vf ordered(vf v)
{
    return v;
}

#include "kernels/rotate_body.h"

rotate_rows *const rotate_rows_neon[3] = { [PE_F32] = rows_f32, [PE_F16] = rows_f16, [PE_BF16] = rows_bf16 };
#endif
