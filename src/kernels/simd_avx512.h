/* SPDX-License-Identifier: MIT
 *
 * The vocabulary of vectors, 16 floats or 8 doubles wide; simd_avx2.h says what the words mean. */
#ifndef PE_SIMD_H
#define PE_SIMD_H

#define VW 16
#define VD 8
#define GEMM_ROWS 8 /* 16 of 32 registers hold sums */
#define GEMM_WIDE 2
#define CACHE_ROWS 4

typedef __m512 vf;
typedef __m512d vd;
typedef __m512i vq;
typedef __m256 vh;

INLINE vf vf_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

INLINE void vf_store(float *p, vf x)
{
    _mm512_storeu_ps(p, x);
}

INLINE __mmask16 vf_below(int64_t n)
{
    return (__mmask16)((1u << n) - 1);
}

INLINE vf vf_load_some(const float *p, int64_t n)
{
    return _mm512_maskz_loadu_ps(vf_below(n), p);
}

INLINE void vf_store_some(float *p, vf x, int64_t n)
{
    _mm512_mask_storeu_ps(p, vf_below(n), x);
}

INLINE vf vf_load_f16(const uint16_t *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
}

INLINE void vf_store_f16(uint16_t *p, vf x)
{
    _mm256_storeu_si256((__m256i *)(void *)p, _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}

INLINE vf vf_load_bf16(const uint16_t *p)
{
    __m512i bits = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(bits, 16));
}

INLINE vf vf_set_f16(const void *p)
{
    int16_t bits;
    memcpy(&bits, p, sizeof bits);
    return _mm512_cvtph_ps(_mm256_set1_epi16(bits));
}

INLINE vf vf_load_i8(const void *p)
{
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(p)));
}

/* Out of a list, by the lowest 4 bits. */
INLINE vf vf_load_i4(const void *p, bool upper)
{
    __m512i bytes = _mm512_cvtepu8_epi32(_mm_loadu_si128(p));
    return _mm512_permutexvar_ps(upper ? _mm512_srli_epi32(bytes, 4) : bytes,
                                 _mm512_setr_ps(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7));
}

INLINE void vf_store_i8(void *p, vf x)
{
    _mm_storeu_si128(p, _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(x)));
}

INLINE void vf_store_i4(void *p, vf low, vf high)
{
    __m512i upper = _mm512_slli_epi32(_mm512_cvtps_epi32(high), 4);
    _mm_storeu_si128(p, _mm512_cvtepi32_epi8(_mm512_or_si512(_mm512_cvtps_epi32(low), upper)));
}

INLINE vf vf_tame(vf x)
{
    __m512i bits = _mm512_castps_si512(x);
    __m512i cut = _mm512_or_si512(_mm512_and_si512(bits, _mm512_set1_epi32(-0x10000)), _mm512_set1_epi32(0x400000));
    return _mm512_castsi512_ps(_mm512_mask_blend_epi32(_mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), bits, cut));
}

/* AVX512_BF16 has an instruction, but it drops denormals. */
INLINE __m512i vf_rounded(vf x)
{
    __m512i bits = _mm512_castps_si512(x);
    __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
    return _mm512_add_epi32(bits, _mm512_mask_blend_epi32(odd, _mm512_set1_epi32(0x7fff), _mm512_set1_epi32(0x8000)));
}

INLINE void vf_store_bf16(uint16_t *p, vf x)
{
    _mm256_storeu_si256((__m256i *)(void *)p, _mm512_cvtepi32_epi16(_mm512_srli_epi32(vf_rounded(x), 16)));
}

INLINE void vf_split_bf16(const uint16_t *p, vf *even, vf *odd)
{
    __m512i words = _mm512_loadu_si512(p);
    *even = _mm512_castsi512_ps(_mm512_slli_epi32(words, 16));
    *odd = _mm512_castsi512_ps(_mm512_and_si512(words, _mm512_set1_epi32(-0x10000)));
}

INLINE void vf_join_bf16(uint16_t *p, vf even, vf odd)
{
    __m512i low = _mm512_srli_epi32(vf_rounded(even), 16);
    _mm512_storeu_si512(p, _mm512_mask_blend_epi16(0xaaaaaaaa, low, vf_rounded(odd)));
}

/* In the natural order. */
INLINE void vf_split(vf low, vf high, vf *even, vf *odd)
{
    const __m512i evens = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    *even = _mm512_permutex2var_ps(low, evens, high);
    *odd = _mm512_permutex2var_ps(low, _mm512_add_epi32(evens, _mm512_set1_epi32(1)), high);
}

INLINE void vf_join(vf even, vf odd, vf *low, vf *high)
{
    const __m512i first = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    *low = _mm512_permutex2var_ps(even, first, odd);
    *high = _mm512_permutex2var_ps(even, _mm512_add_epi32(first, _mm512_set1_epi32(8)), odd);
}

INLINE vf vf_ordered(vf x)
{
    return x;
}

INLINE vf vf_swapped(vf x)
{
    return _mm512_permute_ps(x, 0xb1);
}

INLINE vf vf_set(float a)
{
    return _mm512_set1_ps(a);
}

INLINE vf vf_fma(vf a, vf b, vf c)
{
    return _mm512_fmadd_ps(a, b, c);
}

INLINE vf vf_max(vf a, vf b)
{
    return _mm512_max_ps(a, b);
}

INLINE vf vf_at_least(vf x, vf least)
{
    return _mm512_max_ps(least, x);
}

INLINE vf vf_at_most(vf x, vf most)
{
    return _mm512_min_ps(most, x);
}

INLINE vf vf_min(vf a, vf b)
{
    return _mm512_min_ps(a, b);
}

INLINE vf vf_floor(vf x)
{
    return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}

INLINE vf vf_trunc(vf x)
{
    return _mm512_roundscale_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

INLINE vf vf_power(vf x)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(x), 23));
}

INLINE vf vf_unless_less(vf x, vf least, vf y)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, least, _CMP_NLT_UQ), y);
}

INLINE vf vf_unless_zero(vf x, vf y)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, _mm512_setzero_ps(), _CMP_NEQ_UQ), y);
}

INLINE vf vf_if_less(vf x, vf y, vf a, vf b)
{
    return _mm512_mask_mov_ps(b, _mm512_cmp_ps_mask(x, y, _CMP_LT_OQ), a);
}

INLINE vf vf_abs(vf x)
{
    return _mm512_abs_ps(x);
}

INLINE vf vf_sign(vf x, vf y)
{
    return _mm512_or_ps(x, _mm512_and_ps(y, _mm512_set1_ps(-0.0f)));
}

INLINE __m256 vf_upper(vf x)
{
    return _mm512_extractf32x8_ps(x, 1);
}

INLINE float vf_sum(vf x)
{
    __m256 h = _mm256_add_ps(_mm512_castps512_ps256(x), vf_upper(x));
    __m128 a = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    a = _mm_add_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_add_ss(a, _mm_movehdup_ps(a)));
}

INLINE float vf_most(vf x)
{
    __m256 h = _mm256_max_ps(_mm512_castps512_ps256(x), vf_upper(x));
    __m128 a = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    a = _mm_max_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_max_ss(a, _mm_movehdup_ps(a)));
}

INLINE float vf_first(vf x)
{
    return _mm512_cvtss_f32(x);
}

/* Pairs of vectors, then pairs of pairs; a horizontal addition would be three instructions inside the CPU. */
INLINE void vf_sum_four(float y[4], const vf x[4])
{
    vf a = _mm512_unpacklo_ps(x[0], x[1]) + _mm512_unpackhi_ps(x[0], x[1]);
    vf b = _mm512_unpacklo_ps(x[2], x[3]) + _mm512_unpackhi_ps(x[2], x[3]);
    vf c = _mm512_shuffle_ps(a, b, 0x44) + _mm512_shuffle_ps(a, b, 0xee);
    __m256 h = _mm256_add_ps(_mm512_castps512_ps256(c), vf_upper(c));
    _mm_storeu_ps(y, _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1)));
}

INLINE void vf_most_four(float y[4], const vf x[4])
{
    __m128 h[4];
    UNROLL
    for (int i = 0; i < 4; i++) {
        __m256 a = _mm256_max_ps(_mm512_castps512_ps256(x[i]), vf_upper(x[i]));
        h[i] = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    }
    _MM_TRANSPOSE4_PS(h[0], h[1], h[2], h[3]);
    _mm_storeu_ps(y, _mm_max_ps(_mm_max_ps(h[0], h[1]), _mm_max_ps(h[2], h[3])));
}

INLINE vf vf_sum_after(vf x)
{
    const __m512i zero = _mm512_setzero_si512();
    x = _mm512_add_ps(x, _mm512_castsi512_ps(_mm512_alignr_epi32(zero, _mm512_castps_si512(x), 1)));
    x = _mm512_add_ps(x, _mm512_castsi512_ps(_mm512_alignr_epi32(zero, _mm512_castps_si512(x), 2)));
    x = _mm512_add_ps(x, _mm512_castsi512_ps(_mm512_alignr_epi32(zero, _mm512_castps_si512(x), 4)));
    return _mm512_add_ps(x, _mm512_castsi512_ps(_mm512_alignr_epi32(zero, _mm512_castps_si512(x), 8)));
}

INLINE __m128 pairs_two(const float *p, int32_t i, int32_t j)
{
    __m128 a = _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)(p + i)));
    return _mm_loadh_pi(a, (const __m64 *)(const void *)(p + j));
}

INLINE __m256 pairs_four(const float *p, const int32_t i[VW], int at)
{
    return _mm256_setr_m128(pairs_two(p, i[at], i[at + 1]), pairs_two(p, i[at + 4], i[at + 5]));
}

INLINE void vf_pairs(vf *here, vf *next, const float *p, vf at)
{
    int32_t i[VW];
    _mm512_storeu_si512(i, _mm512_cvttps_epi32(at));
    vf a = _mm512_insertf32x8(_mm512_zextps256_ps512(pairs_four(p, i, 0)), pairs_four(p, i, 8), 1);
    vf b = _mm512_insertf32x8(_mm512_zextps256_ps512(pairs_four(p, i, 2)), pairs_four(p, i, 10), 1);
    *here = _mm512_shuffle_ps(a, b, 0x88);
    *next = _mm512_shuffle_ps(a, b, 0xdd);
}

/* ---------------------------------------------------------------- doubles */

INLINE vd vd_load(const double *p)
{
    return _mm512_loadu_pd(p);
}

INLINE void vd_store(double *p, vd x)
{
    _mm512_storeu_pd(p, x);
}

INLINE vd vd_load_f32(const float *p)
{
    return _mm512_cvtps_pd(_mm256_loadu_ps(p));
}

INLINE vd vd_set(double a)
{
    return _mm512_set1_pd(a);
}

INLINE vd vd_fma(vd a, vd b, vd c)
{
    return _mm512_fmadd_pd(a, b, c);
}

INLINE vd vf_double(vf x, bool upper)
{
    return _mm512_cvtps_pd(upper ? vf_upper(x) : _mm512_castps512_ps256(x));
}

INLINE vd vd_add_eight(const vd p[1])
{
    return p[0];
}

INLINE void vd_sum_four(double y[4], const vd x[4])
{
    __m256d h[4];
    UNROLL
    for (int i = 0; i < 4; i++)
        h[i] = _mm512_castpd512_pd256(x[i]) + _mm512_extractf64x4_pd(x[i], 1);
    __m256d a = _mm256_hadd_pd(h[0], h[1]), b = _mm256_hadd_pd(h[2], h[3]);
    _mm256_storeu_pd(y, _mm256_permute2f128_pd(a, b, 0x20) + _mm256_permute2f128_pd(a, b, 0x31));
}

INLINE vd vd_nearest(vd x)
{
    return _mm512_roundscale_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

INLINE vd vd_choose(vd a, vd b, vq q)
{
    return _mm512_mask_blend_pd(_mm512_test_epi64_mask(q, _mm512_set1_epi64(1)), a, b);
}

INLINE vq vd_bits(vd x)
{
    return _mm512_castpd_si512(x);
}

INLINE vd vq_double(vq bits)
{
    return _mm512_castsi512_pd(bits);
}

INLINE vq vq_set(uint64_t n)
{
    return _mm512_set1_epi64((int64_t)n);
}

INLINE vq vq_max(vq a, vq b)
{
    return _mm512_max_epu32(a, b);
}

INLINE bool vq_reaches(vq a, vq b)
{
    return _mm512_cmpge_epu32_mask(a, b) != 0;
}

INLINE vh vd_float(vd x)
{
    return _mm512_cvtpd_ps(x);
}

/* Cut off, then odd where that is not x. */
INLINE vh vd_float_odd(vd x)
{
    __m256 y = _mm512_cvt_roundpd_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    __mmask8 off = _mm512_cmp_pd_mask(_mm512_cvtps_pd(y), x, _CMP_NEQ_OQ);
    __m256i bits = _mm256_castps_si256(y);
    return _mm256_castsi256_ps(_mm256_mask_or_epi32(bits, off, bits, _mm256_set1_epi32(1)));
}

INLINE void vh_store(float *p, vh x)
{
    _mm256_storeu_ps(p, x);
}

INLINE bool vh_differ(vh a, vh b)
{
    __m256i bits = _mm256_castps_si256(_mm256_xor_ps(a, b));
    return !_mm256_testz_si256(bits, bits);
}

#endif
