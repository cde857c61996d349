/* SPDX-License-Identifier: MIT
 *
 * The vocabulary of vectors, 8 floats wide. The same words with the same meaning are in simd_avx512.h, simd_neon.h. */
#ifndef PE_SIMD_H
#define PE_SIMD_H

#define VW 8         /* floats in a vector                                  */
#define GEMM_ROWS 6  /* a tile of gemm: 12 of 16 registers hold its sums    */
#define GEMM_WIDE 2  /* in vectors                                          */
#define CACHE_ROWS 2 /* queries that share a key */

typedef __m256 vf;

INLINE vf vf_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

INLINE void vf_store(float *p, vf x)
{
    _mm256_storeu_ps(p, x);
}

/* The lanes below n, 0 < n < VW. */
INLINE __m256i vf_below(int64_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* The first n elements, the rest 0; nothing behind them is touched. */
INLINE vf vf_load_some(const float *p, int64_t n)
{
    return _mm256_maskload_ps(p, vf_below(n));
}

INLINE void vf_store_some(float *p, vf x, int64_t n)
{
    _mm256_maskstore_ps(p, vf_below(n), x);
}

INLINE vf vf_load_f16(const uint16_t *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
}

INLINE void vf_store_f16(uint16_t *p, vf x)
{
    _mm_storeu_si128((__m128i *)(void *)p, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}

INLINE vf vf_load_bf16(const uint16_t *p)
{
    __m256i bits = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
    return _mm256_castsi256_ps(_mm256_slli_epi32(bits, 16));
}

/* Nearest, ties to even: add half of the last place less what makes an even one round down. A NaN could carry over into
 * the sign, so it is set apart. */
INLINE void vf_store_bf16(uint16_t *p, vf x)
{
    __m256i bits = _mm256_castps_si256(x), high = _mm256_srli_epi32(bits, 16);
    __m256i odd = _mm256_and_si256(high, _mm256_set1_epi32(1));
    __m256i near = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
    __m256i nan = _mm256_or_si256(high, _mm256_set1_epi32(0x7fc0));
    __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
    __m256i y = _mm256_blendv_epi8(_mm256_srli_epi32(near, 16), nan, is_nan);
    y = _mm256_permute4x64_epi64(_mm256_packus_epi32(y, y), 0x08);
    _mm_storeu_si128((__m128i *)(void *)p, _mm256_castsi256_si128(y));
}

INLINE vf vf_set(float a)
{
    return _mm256_set1_ps(a);
}

INLINE vf vf_add(vf a, vf b)
{
    return _mm256_add_ps(a, b);
}

INLINE vf vf_sub(vf a, vf b)
{
    return _mm256_sub_ps(a, b);
}

INLINE vf vf_mul(vf a, vf b)
{
    return _mm256_mul_ps(a, b);
}

INLINE vf vf_div(vf a, vf b)
{
    return _mm256_div_ps(a, b);
}

/* a b + c, rounded once. */
INLINE vf vf_fma(vf a, vf b, vf c)
{
    return _mm256_fmadd_ps(a, b, c);
}

/* b where a is NaN, so that a NaN among the new ones does not become the largest. */
INLINE vf vf_max(vf a, vf b)
{
    return _mm256_max_ps(a, b);
}

/* The larger or the smaller of two, where a NaN in x stays. */
INLINE vf vf_at_least(vf x, vf least)
{
    return _mm256_max_ps(least, x);
}

INLINE vf vf_at_most(vf x, vf most)
{
    return _mm256_min_ps(most, x);
}

/* The smaller; b where a is NaN. */
INLINE vf vf_min(vf a, vf b)
{
    return _mm256_min_ps(a, b);
}

INLINE vf vf_floor(vf x)
{
    return _mm256_floor_ps(x);
}

/* 2^n of x = 1.5 2^23 + 127 + n. */
INLINE vf vf_power(vf x)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(x), 23));
}

/* y, but 0 where x < least. */
INLINE vf vf_unless_less(vf x, vf least, vf y)
{
    return _mm256_and_ps(_mm256_cmp_ps(x, least, _CMP_NLT_UQ), y);
}

/* y, but 0 where x is 0. */
INLINE vf vf_unless_zero(vf x, vf y)
{
    return _mm256_and_ps(_mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_NEQ_UQ), y);
}

/* x < y ? a : b */
INLINE vf vf_if_less(vf x, vf y, vf a, vf b)
{
    return _mm256_blendv_ps(b, a, _mm256_cmp_ps(x, y, _CMP_LT_OQ));
}

INLINE vf vf_abs(vf x)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
}

/* x >= 0 with the sign of y. */
INLINE vf vf_sign(vf x, vf y)
{
    return _mm256_or_ps(x, _mm256_and_ps(y, _mm256_set1_ps(-0.0f)));
}

INLINE float vf_sum(vf x)
{
    __m128 a = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    a = _mm_add_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_add_ss(a, _mm_movehdup_ps(a)));
}

INLINE float vf_most(vf x)
{
    __m128 a = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    a = _mm_max_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_max_ss(a, _mm_movehdup_ps(a)));
}

INLINE float vf_first(vf x)
{
    return _mm256_cvtss_f32(x);
}

/* The sums of four vectors. */
INLINE void vf_sum_four(float y[4], const vf x[4])
{
    vf a = _mm256_hadd_ps(_mm256_hadd_ps(x[0], x[1]), _mm256_hadd_ps(x[2], x[3]));
    _mm_storeu_ps(y, _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1)));
}

/* Element j becomes the sum of those from j on. */
INLINE vf vf_sum_after(vf x)
{
    x = _mm256_add_ps(x, _mm256_castsi256_ps(_mm256_srli_si256(_mm256_castps_si256(x), 4)));
    x = _mm256_add_ps(x, _mm256_castsi256_ps(_mm256_srli_si256(_mm256_castps_si256(x), 8)));
    __m128 upper = _mm256_extractf128_ps(x, 1);
    return _mm256_add_ps(x, _mm256_zextps128_ps256(_mm_shuffle_ps(upper, upper, 0)));
}

/* p[i], p[i + 1], p[j], p[j + 1] */
INLINE __m128 pairs_two(const float *p, int32_t i, int32_t j)
{
    __m128 a = _mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)(const void *)(p + i)));
    return _mm_loadh_pi(a, (const __m64 *)(const void *)(p + j));
}

/* here = p[at], next = p[at + 1], at being whole. Pair by pair, which is faster than to gather. */
INLINE void vf_pairs(vf *here, vf *next, const float *p, vf at)
{
    int32_t i[VW];
    _mm256_storeu_si256((__m256i *)(void *)i, _mm256_cvttps_epi32(at));
    vf a = _mm256_setr_m128(pairs_two(p, i[0], i[1]), pairs_two(p, i[4], i[5]));
    vf b = _mm256_setr_m128(pairs_two(p, i[2], i[3]), pairs_two(p, i[6], i[7]));
    *here = _mm256_shuffle_ps(a, b, 0x88);
    *next = _mm256_shuffle_ps(a, b, 0xdd);
}

/* y[j] = column j of x, a square of VW rows: halves of rows 4 apart are joined as they are read, the rest is within
 * halves. */
INLINE void vf_transpose(vf y[VW], const float *x, int64_t x_row)
{
    UNROLL
    for (int h = 0; h < VW; h += 4) {
        vf r[4];
        UNROLL
        for (int i = 0; i < 4; i++)
            r[i] = _mm256_setr_m128(_mm_loadu_ps(x + i * x_row + h), _mm_loadu_ps(x + (i + 4) * x_row + h));
        vf a = _mm256_unpacklo_ps(r[0], r[1]), b = _mm256_unpackhi_ps(r[0], r[1]);
        vf c = _mm256_unpacklo_ps(r[2], r[3]), d = _mm256_unpackhi_ps(r[2], r[3]);
        y[h] = _mm256_shuffle_ps(a, c, 0x44);
        y[h + 1] = _mm256_shuffle_ps(a, c, 0xee);
        y[h + 2] = _mm256_shuffle_ps(b, d, 0x44);
        y[h + 3] = _mm256_shuffle_ps(b, d, 0xee);
    }
}

#endif
