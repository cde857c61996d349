/* SPDX-License-Identifier: MIT */
#include "base/exact.h"

#include "kernels/rung_neon.h"

#if LADDER_NEON
#define W 2
typedef float64x2_t vd;
typedef uint64x2_t vq;
typedef float32x2_t vn;
typedef uint32x2_t vb;

INLINE vd all(double x)
{
    return vdupq_n_f64(x);
}

INLINE vd load(const double *x)
{
    return vld1q_f64(x);
}

INLINE void store(double *y, vd x)
{
    vst1q_f64(y, x);
}

INLINE vd fused(vd a, vd b, vd c)
{
    return vfmaq_f64(c, a, b);
}

INLINE vd nearest(vd x)
{
    return vrndnq_f64(x);
}

INLINE vq quarters(vd x)
{
    return vreinterpretq_u64_f64(x + all(0x1.8p52));
}

INLINE vd flip(vd x, vq q)
{
    uint64x2_t sign = vshlq_n_u64(vandq_u64(q, vdupq_n_u64(2)), 62);
    return vreinterpretq_f64_u64(veorq_u64(vreinterpretq_u64_f64(x), sign));
}

INLINE vd choose(vd a, vd b, vq q)
{
    return vbslq_f64(vtstq_u64(q, vdupq_n_u64(1)), b, a);
}

INLINE vn narrow(vd x)
{
    return vcvt_f32_f64(x);
}

INLINE vd widen(const float *x)
{
    return vcvt_f64_f32(vld1_f32(x));
}

INLINE vn narrow_odd(vd x)
{
    return vcvtx_f32_f64(x);
}

INLINE void store_f32(float *y, vn x)
{
    vst1_f32(y, x);
}

INLINE vb differ(vn a, vn b)
{
    return veor_u32(vreinterpret_u32_f32(a), vreinterpret_u32_f32(b));
}

INLINE bool any(vb x)
{
    return vmaxv_u32(x) != 0;
}

INLINE vq bits_of(vd x)
{
    return vreinterpretq_u64_f64(x);
}

INLINE vq words(uint64_t n)
{
    return vdupq_n_u64(n);
}

INLINE vq most(vq a, vq b)
{
    return vreinterpretq_u64_u32(vmaxq_u32(vreinterpretq_u32_u64(a), vreinterpretq_u32_u64(b)));
}

INLINE bool reaches(vq a, vq b)
{
    return vmaxvq_u32(vcgeq_u32(vreinterpretq_u32_u64(a), vreinterpretq_u32_u64(b))) != 0;
}

#include "kernels/turn_body.h"

#include "kernels/code_body.h"

void turn_neon(kernels *k)
{
    k->turns = many;
    k->turn_sums = sums;
    k->add_code = add_code;
    k->add_waves = add_waves;
    k->turn_waves = turn_waves;
}
#endif
