/* SPDX-License-Identifier: MIT */
#include "base/exact.h"

#include "kernels/rung_avx2.h"

#if LADDER_X86
#define W 4
typedef __m256d vd;
typedef __m256i vq;
typedef __m128 vn;
typedef __m128i vb;

INLINE vd all(double x)
{
    return _mm256_set1_pd(x);
}

INLINE vd load(const double *x)
{
    return _mm256_loadu_pd(x);
}

INLINE void store(double *y, vd x)
{
    _mm256_storeu_pd(y, x);
}

INLINE vd fused(vd a, vd b, vd c)
{
    return _mm256_fmadd_pd(a, b, c);
}

INLINE vd nearest(vd x)
{
    return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

INLINE vq quarters(vd x)
{
    return _mm256_castpd_si256(x + all(0x1.8p52));
}

INLINE vd flip(vd x, vq q)
{
    __m256i sign = _mm256_slli_epi64(_mm256_and_si256(q, _mm256_set1_epi64x(2)), 62);
    return _mm256_xor_pd(x, _mm256_castsi256_pd(sign));
}

INLINE vd choose(vd a, vd b, vq q)
{
    return _mm256_blendv_pd(a, b, _mm256_castsi256_pd(_mm256_slli_epi64(q, 63)));
}

INLINE vn narrow(vd x)
{
    return _mm256_cvtpd_ps(x);
}

INLINE vd widen(const float *x)
{
    return _mm256_cvtps_pd(_mm_loadu_ps(x));
}

INLINE __m128i lower_halves(vd x)
{
    __m256 f = _mm256_castpd_ps(x);
    return _mm_castps_si128(_mm_shuffle_ps(_mm256_castps256_ps128(f), _mm256_extractf128_ps(f, 1), 0x88));
}

/* The nearest float, one less in size where that is too large, then odd where it is not x. */
INLINE vn narrow_odd(vd x)
{
    __m128 y = _mm256_cvtpd_ps(x);
    __m256d back = _mm256_cvtps_pd(y), sign = all(-0.0);
    __m256d off = _mm256_cmp_pd(back, x, _CMP_NEQ_OQ);
    __m256d over = _mm256_cmp_pd(_mm256_andnot_pd(sign, back), _mm256_andnot_pd(sign, x), _CMP_GT_OQ);
    __m128i bits = _mm_add_epi32(_mm_castps_si128(y), lower_halves(over));
    return _mm_castsi128_ps(_mm_or_si128(bits, _mm_srli_epi32(lower_halves(off), 31)));
}

INLINE void store_f32(float *y, vn x)
{
    _mm_storeu_ps(y, x);
}

INLINE vb differ(vn a, vn b)
{
    return _mm_castps_si128(_mm_xor_ps(a, b));
}

INLINE bool any(vb x)
{
    return !_mm_testz_si128(x, x);
}

INLINE vq bits_of(vd x)
{
    return _mm256_castpd_si256(x);
}

INLINE vq words(uint64_t n)
{
    return _mm256_set1_epi64x((int64_t)n);
}

INLINE vq most(vq a, vq b)
{
    return _mm256_max_epu32(a, b);
}

INLINE bool reaches(vq a, vq b)
{
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(a, b), a)) != 0;
}

#include "kernels/turn_body.h"

#include "kernels/code_body.h"

void turn_avx2(kernels *k)
{
    k->turns = many;
    k->turn_sums = sums;
    k->add_code = add_code;
    k->add_waves = add_waves;
    k->turn_waves = turn_waves;
}
#endif

#include "kernels/rung_end.h"
