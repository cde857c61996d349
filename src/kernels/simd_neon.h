/* SPDX-License-Identifier: MIT
 *
 * The vocabulary of vectors, 4 floats or 2 doubles wide; simd_avx2.h says what the words mean. */
#ifndef PE_SIMD_H
#define PE_SIMD_H

#define VW 4
#define VD 2
#define GEMM_ROWS 6 /* 24 of 32 registers hold sums */
#define GEMM_WIDE 4
#define CACHE_ROWS 4

typedef float32x4_t vf;
typedef float64x2_t vd;
typedef uint64x2_t vq;
typedef float32x2_t vh;

INLINE vf vf_load(const float *p)
{
    return vld1q_f32(p);
}

INLINE void vf_store(float *p, vf x)
{
    vst1q_f32(p, x);
}

INLINE vf vf_load_some(const float *p, int64_t n)
{
    float part[VW] = { 0 };
    for (int64_t i = 0; i < n; i++)
        part[i] = p[i];
    return vld1q_f32(part);
}

INLINE void vf_store_some(float *p, vf x, int64_t n)
{
    float part[VW];
    vst1q_f32(part, x);
    for (int64_t i = 0; i < n; i++)
        p[i] = part[i];
}

INLINE vf vf_load_f16(const uint16_t *p)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}

INLINE void vf_store_f16(uint16_t *p, vf x)
{
    vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32(x)));
}

INLINE vf vf_load_bf16(const uint16_t *p)
{
    return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16));
}

INLINE vf vf_set_f16(const void *p)
{
    uint16_t bits;
    memcpy(&bits, p, sizeof bits);
    return vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(bits)));
}

INLINE uint32x2_t vf_bytes(const void *p)
{
    uint32_t bytes;
    memcpy(&bytes, p, sizeof bytes);
    return vdup_n_u32(bytes);
}

INLINE vf vf_load_i8(const void *p)
{
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(vreinterpret_s8_u32(vf_bytes(p))))));
}

INLINE vf vf_load_i4(const void *p, bool upper)
{
    uint8x8_t bytes = vreinterpret_u8_u32(vf_bytes(p));
    int8x8_t half = vreinterpret_s8_u8(upper ? vshr_n_u8(bytes, 4) : vand_u8(bytes, vdup_n_u8(15)));
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(vmovl_s8(vsub_s8(half, vdup_n_s8(8))))));
}

INLINE void vf_store_bytes(void *p, int32x4_t x)
{
    int16x4_t words = vmovn_s32(x);
    uint32_t bytes = vget_lane_u32(vreinterpret_u32_s8(vmovn_s16(vcombine_s16(words, words))), 0);
    memcpy(p, &bytes, sizeof bytes);
}

INLINE void vf_store_i8(void *p, vf x)
{
    vf_store_bytes(p, vcvtq_s32_f32(x));
}

INLINE void vf_store_i4(void *p, vf low, vf high)
{
    vf_store_bytes(p, vorrq_s32(vcvtq_s32_f32(low), vshlq_n_s32(vcvtq_s32_f32(high), 4)));
}

INLINE vf vf_tame(vf x)
{
    uint32x4_t bits = vreinterpretq_u32_f32(x);
    uint32x4_t cut = vorrq_u32(vandq_u32(bits, vdupq_n_u32(0xffff0000)), vdupq_n_u32(0x400000));
    return vreinterpretq_f32_u32(vbslq_u32(vceqq_f32(x, x), bits, cut));
}

INLINE uint32x4_t vf_rounded(vf x)
{
    uint32x4_t bits = vreinterpretq_u32_f32(x), odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    return vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd);
}

INLINE void vf_store_bf16(uint16_t *p, vf x)
{
    vst1_u16(p, vshrn_n_u32(vf_rounded(x), 16));
}

INLINE void vf_split_bf16(const uint16_t *p, vf *even, vf *odd)
{
    uint32x4_t words = vreinterpretq_u32_u16(vld1q_u16(p));
    *even = vreinterpretq_f32_u32(vshlq_n_u32(words, 16));
    *odd = vreinterpretq_f32_u32(vandq_u32(words, vdupq_n_u32(0xffff0000)));
}

INLINE void vf_join_bf16(uint16_t *p, vf even, vf odd)
{
    vst1q_u16(p, vreinterpretq_u16_u32(vsriq_n_u32(vf_rounded(odd), vf_rounded(even), 16)));
}

/* In the natural order. */
INLINE void vf_split(vf low, vf high, vf *even, vf *odd)
{
    *even = vuzp1q_f32(low, high);
    *odd = vuzp2q_f32(low, high);
}

INLINE void vf_join(vf even, vf odd, vf *low, vf *high)
{
    *low = vzip1q_f32(even, odd);
    *high = vzip2q_f32(even, odd);
}

INLINE vf vf_ordered(vf x)
{
    return x;
}

INLINE vf vf_swapped(vf x)
{
    return vrev64q_f32(x);
}

INLINE vf vf_set(float a)
{
    return vdupq_n_f32(a);
}

INLINE vf vf_fma(vf a, vf b, vf c)
{
    return vfmaq_f32(c, a, b);
}

INLINE vf vf_max(vf a, vf b)
{
    return vmaxnmq_f32(a, b);
}

INLINE vf vf_min(vf a, vf b)
{
    return vminnmq_f32(a, b);
}

INLINE vf vf_at_least(vf x, vf least)
{
    return vmaxq_f32(least, x);
}

INLINE vf vf_at_most(vf x, vf most)
{
    return vminq_f32(most, x);
}

INLINE vf vf_floor(vf x)
{
    return vrndmq_f32(x);
}

INLINE vf vf_trunc(vf x)
{
    return vrndq_f32(x);
}

INLINE vf vf_power(vf x)
{
    return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_f32(x), 23));
}

INLINE vf vf_unless_less(vf x, vf least, vf y)
{
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(y), vcltq_f32(x, least)));
}

INLINE vf vf_unless_zero(vf x, vf y)
{
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(y), vceqzq_f32(x)));
}

INLINE vf vf_if_less(vf x, vf y, vf a, vf b)
{
    return vbslq_f32(vcltq_f32(x, y), a, b);
}

INLINE vf vf_abs(vf x)
{
    return vabsq_f32(x);
}

INLINE vf vf_sign(vf x, vf y)
{
    return vbslq_f32(vdupq_n_u32(0x80000000u), y, x);
}

INLINE float vf_sum(vf x)
{
    return vaddvq_f32(x);
}

INLINE float vf_most(vf x)
{
    return vmaxnmvq_f32(x);
}

INLINE float vf_first(vf x)
{
    return vgetq_lane_f32(x, 0);
}

INLINE void vf_sum_four(float y[4], const vf x[4])
{
    vst1q_f32(y, vpaddq_f32(vpaddq_f32(x[0], x[1]), vpaddq_f32(x[2], x[3])));
}

INLINE void vf_most_four(float y[4], const vf x[4])
{
    vst1q_f32(y, vpmaxnmq_f32(vpmaxnmq_f32(x[0], x[1]), vpmaxnmq_f32(x[2], x[3])));
}

INLINE vf vf_sum_after(vf x)
{
    x = vaddq_f32(x, vextq_f32(x, vdupq_n_f32(0), 1));
    return vaddq_f32(x, vextq_f32(x, vdupq_n_f32(0), 2));
}

INLINE void vf_pairs(vf *here, vf *next, const float *p, vf at)
{
    int32_t i[VW];
    vst1q_s32(i, vcvtq_s32_f32(at));
    vf a = vcombine_f32(vld1_f32(p + i[0]), vld1_f32(p + i[1]));
    vf b = vcombine_f32(vld1_f32(p + i[2]), vld1_f32(p + i[3]));
    *here = vuzp1q_f32(a, b);
    *next = vuzp2q_f32(a, b);
}

INLINE void vf_transpose(vf y[VW], const float *x, int64_t x_row)
{
    float32x4x2_t a = vtrnq_f32(vld1q_f32(x), vld1q_f32(x + x_row));
    float32x4x2_t b = vtrnq_f32(vld1q_f32(x + 2 * x_row), vld1q_f32(x + 3 * x_row));
    y[0] = vcombine_f32(vget_low_f32(a.val[0]), vget_low_f32(b.val[0]));
    y[1] = vcombine_f32(vget_low_f32(a.val[1]), vget_low_f32(b.val[1]));
    y[2] = vcombine_f32(vget_high_f32(a.val[0]), vget_high_f32(b.val[0]));
    y[3] = vcombine_f32(vget_high_f32(a.val[1]), vget_high_f32(b.val[1]));
}

/* ---------------------------------------------------------------- doubles */

INLINE vd vd_load(const double *p)
{
    return vld1q_f64(p);
}

INLINE void vd_store(double *p, vd x)
{
    vst1q_f64(p, x);
}

INLINE vd vd_load_f32(const float *p)
{
    return vcvt_f64_f32(vld1_f32(p));
}

INLINE vd vd_set(double a)
{
    return vdupq_n_f64(a);
}

INLINE vd vd_fma(vd a, vd b, vd c)
{
    return vfmaq_f64(c, a, b);
}

INLINE vd vf_double(vf x, bool upper)
{
    return upper ? vcvt_high_f64_f32(x) : vcvt_f64_f32(vget_low_f32(x));
}

INLINE vd vd_add_eight(const vd p[4])
{
    return vpaddq_f64(p[0] + p[2], p[1] + p[3]);
}

INLINE void vd_sum_four(double y[4], const vd x[4])
{
    vst1q_f64(y, vpaddq_f64(x[0], x[1]));
    vst1q_f64(y + 2, vpaddq_f64(x[2], x[3]));
}

INLINE vd vd_nearest(vd x)
{
    return vrndnq_f64(x);
}

INLINE vd vd_choose(vd a, vd b, vq q)
{
    return vbslq_f64(vtstq_u64(q, vdupq_n_u64(1)), b, a);
}

INLINE vq vd_bits(vd x)
{
    return vreinterpretq_u64_f64(x);
}

INLINE vd vq_double(vq bits)
{
    return vreinterpretq_f64_u64(bits);
}

INLINE vq vq_set(uint64_t n)
{
    return vdupq_n_u64(n);
}

INLINE vq vq_max(vq a, vq b)
{
    return vreinterpretq_u64_u32(vmaxq_u32(vreinterpretq_u32_u64(a), vreinterpretq_u32_u64(b)));
}

INLINE bool vq_reaches(vq a, vq b)
{
    return vmaxvq_u32(vcgeq_u32(vreinterpretq_u32_u64(a), vreinterpretq_u32_u64(b))) != 0;
}

INLINE vh vd_float(vd x)
{
    return vcvt_f32_f64(x);
}

INLINE vh vd_float_odd(vd x)
{
    return vcvtx_f32_f64(x);
}

INLINE void vh_store(float *p, vh x)
{
    vst1_f32(p, x);
}

INLINE bool vh_differ(vh a, vh b)
{
    return vmaxv_u32(veor_u32(vreinterpret_u32_f32(a), vreinterpret_u32_f32(b))) != 0;
}

#endif
