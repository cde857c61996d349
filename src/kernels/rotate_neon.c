/* SPDX-License-Identifier: MIT */
#include "base/exact.h"

#include "kernels/rung_neon.h"

#if LADDER_NEON
#define W 4
typedef float32x4_t vf;

INLINE vf load_f32(const float *x)
{
    return vld1q_f32(x);
}

INLINE void store_f32(float *y, vf v)
{
    vst1q_f32(y, v);
}

INLINE vf load_f16(const uint16_t *x)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(x)));
}

INLINE void store_f16(uint16_t *y, vf v)
{
    vst1_u16(y, vreinterpret_u16_f16(vcvt_f16_f32(v)));
}

INLINE vf load_bf16(const uint16_t *x)
{
    return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(x), 16));
}

/* The bits of v rounded to its upper 16: half a unit less one, and one more where the kept part is odd, so that ties go
 * to even. A tame NaN is kept. */
INLINE uint32x4_t rounded(vf v)
{
    uint32x4_t bits = vreinterpretq_u32_f32(v), odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    return vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd);
}

INLINE void store_bf16(uint16_t *y, vf v)
{
    vst1_u16(y, vshrn_n_u32(rounded(v), 16));
}

INLINE void split_bf16(const uint16_t *x, vf *even, vf *odd)
{
    uint32x4_t words = vreinterpretq_u32_u16(vld1q_u16(x));
    *even = vreinterpretq_f32_u32(vshlq_n_u32(words, 16));
    *odd = vreinterpretq_f32_u32(vandq_u32(words, vdupq_n_u32(0xffff0000)));
}

INLINE void join_bf16(uint16_t *y, vf even, vf odd)
{
    vst1q_u16(y, vreinterpretq_u16_u32(vsriq_n_u32(rounded(odd), rounded(even), 16)));
}

INLINE vf tame(vf v)
{
    uint32x4_t bits = vreinterpretq_u32_f32(v);
    uint32x4_t cut = vorrq_u32(vandq_u32(bits, vdupq_n_u32(0xffff0000)), vdupq_n_u32(0x400000));
    return vreinterpretq_f32_u32(vbslq_u32(vceqq_f32(v, v), bits, cut));
}

INLINE void split(vf low, vf high, vf *even, vf *odd)
{
    *even = vuzp1q_f32(low, high);
    *odd = vuzp2q_f32(low, high);
}

INLINE void join(vf even, vf odd, vf *low, vf *high)
{
    *low = vzip1q_f32(even, odd);
    *high = vzip2q_f32(even, odd);
}

INLINE vf ordered(vf v)
{
    return v;
}

INLINE vf swapped(vf v)
{
    return vrev64q_f32(v);
}

static rotate_rows *const *const lower = NULL;

#include "kernels/rotate_body.h"

void rotate_neon(kernels *k)
{
    k->rotate[PE_F32] = rows_f32;
    k->rotate[PE_F16] = rows_f16;
    k->rotate[PE_BF16] = rows_bf16;
}
#endif
