/* SPDX-License-Identifier: MIT */
#include "base/exact.h"

#include "kernels/rung_avx512.h"

#if LADDER_X86
#define W 8
typedef __m512d vd;
typedef __m512i vq;
typedef __m256 vn;
typedef __m256i vb;

INLINE vd all(double x)
{
    return _mm512_set1_pd(x);
}

INLINE vd load(const double *x)
{
    return _mm512_loadu_pd(x);
}

INLINE void store(double *y, vd x)
{
    _mm512_storeu_pd(y, x);
}

INLINE vd fused(vd a, vd b, vd c)
{
    return _mm512_fmadd_pd(a, b, c);
}

INLINE vd nearest(vd x)
{
    return _mm512_roundscale_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

INLINE vq quarters(vd x)
{
    return _mm512_castpd_si512(x + all(0x1.8p52));
}

INLINE vd flip(vd x, vq q)
{
    __m512i sign = _mm512_slli_epi64(_mm512_and_si512(q, _mm512_set1_epi64(2)), 62);
    return _mm512_xor_pd(x, _mm512_castsi512_pd(sign));
}

INLINE vd choose(vd a, vd b, vq q)
{
    return _mm512_mask_blend_pd(_mm512_test_epi64_mask(q, _mm512_set1_epi64(1)), a, b);
}

INLINE vn narrow(vd x)
{
    return _mm512_cvtpd_ps(x);
}

INLINE vd widen(const float *x)
{
    return _mm512_cvtps_pd(_mm256_loadu_ps(x));
}

/* Cut off, then odd where that is not x. */
INLINE vn narrow_odd(vd x)
{
    __m256 y = _mm512_cvt_roundpd_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    __mmask8 off = _mm512_cmp_pd_mask(_mm512_cvtps_pd(y), x, _CMP_NEQ_OQ);
    __m256i bits = _mm256_castps_si256(y);
    return _mm256_castsi256_ps(_mm256_mask_or_epi32(bits, off, bits, _mm256_set1_epi32(1)));
}

INLINE void store_f32(float *y, vn x)
{
    _mm256_storeu_ps(y, x);
}

INLINE vb differ(vn a, vn b)
{
    return _mm256_castps_si256(_mm256_xor_ps(a, b));
}

INLINE bool any(vb x)
{
    return !_mm256_testz_si256(x, x);
}

INLINE vq bits_of(vd x)
{
    return _mm512_castpd_si512(x);
}

INLINE vq words(uint64_t n)
{
    return _mm512_set1_epi64((int64_t)n);
}

INLINE vq most(vq a, vq b)
{
    return _mm512_max_epu32(a, b);
}

INLINE bool reaches(vq a, vq b)
{
    return _mm512_cmpge_epu32_mask(a, b) != 0;
}

#include "kernels/turn_body.h"

#include "kernels/code_body.h"

void turn_avx512(kernels *k)
{
    k->turns = many;
    k->turn_sums = sums;
    k->add_code = add_code;
    k->add_waves = add_waves;
    k->turn_waves = turn_waves;
}
#endif

#include "kernels/rung_end.h"
