/* SPDX-License-Identifier: MIT
 *
 * The vocabulary of vectors, 8 floats or 4 doubles wide. The same words with the same meaning are in simd_avx512.h,
 * simd_neon.h. The operators of C are words too: + - * / of vf and vd, each rounded, and + & ^ ~ << of vq. */
#ifndef PE_SIMD_H
#define PE_SIMD_H

#define VW 8         /* floats in a vector                                  */
#define VD 4         /* doubles in one                                      */
#define GEMM_ROWS 6  /* a tile of gemm: 12 of 16 registers hold its sums    */
#define GEMM_WIDE 2  /* in vectors                                          */
#define CACHE_ROWS 2 /* queries that share a key */

typedef __m256 vf;
typedef __m256d vd;
typedef __m256i vq; /* VD whole numbers of 64 bits */
typedef __m128 vh;  /* VD floats: half a vector    */

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

/* The float16 at p in every lane; VW numbers of 8 bits; and the lower or the upper halves of VW bytes, less 8. p needs
 * no alignment. */
INLINE vf vf_set_f16(const void *p)
{
    int16_t bits;
    memcpy(&bits, p, sizeof bits);
    return _mm256_cvtph_ps(_mm_set1_epi16(bits));
}

INLINE vf vf_load_i8(const void *p)
{
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(p)));
}

INLINE vf vf_load_i4(const void *p, bool upper)
{
    __m256i bytes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(p));
    bytes = upper ? _mm256_srli_epi32(bytes, 4) : _mm256_and_si256(bytes, _mm256_set1_epi32(15));
    return _mm256_cvtepi32_ps(_mm256_sub_epi32(bytes, _mm256_set1_epi32(8)));
}

/* Back: VW whole numbers of -128 .. 127; and of 0 .. 15, as the lower and the upper halves of VW bytes. */
INLINE void vf_store_i8(void *p, vf x)
{
    __m256i n = _mm256_cvtps_epi32(x);
    __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(n), _mm256_extracti128_si256(n, 1));
    _mm_storel_epi64(p, _mm_packs_epi16(words, words));
}

INLINE void vf_store_i4(void *p, vf low, vf high)
{
    __m256i n = _mm256_or_si256(_mm256_cvtps_epi32(low), _mm256_slli_epi32(_mm256_cvtps_epi32(high), 4));
    __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(n), _mm256_extracti128_si256(n, 1));
    _mm_storel_epi64(p, _mm_packus_epi16(words, words));
}

/* x, but NaNs quiet and without their lowest 16 bits, so that rounding to bfloat16 leaves them NaN: what is stored as
 * bfloat16 must be tame. */
INLINE vf vf_tame(vf x)
{
    vf cut = _mm256_castsi256_ps(_mm256_set1_epi32(-0x10000)), quiet = _mm256_castsi256_ps(_mm256_set1_epi32(0x400000));
    return _mm256_blendv_ps(x, _mm256_or_ps(_mm256_and_ps(x, cut), quiet), _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

/* The bits of x rounded to its upper 16: half a unit less one, and one more where the kept part is odd, so that ties go
 * to even. */
INLINE __m256i vf_rounded(vf x)
{
    __m256i bits = _mm256_castps_si256(x), odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
}

INLINE void vf_store_bf16(uint16_t *p, vf x)
{
    __m256i kept = _mm256_srli_epi32(vf_rounded(x), 16);
    __m128i low = _mm256_castsi256_si128(kept), high = _mm256_extracti128_si256(kept, 1);
    _mm_storeu_si128((__m128i *)(void *)p, _mm_packus_epi32(low, high));
}

/* The even and the odd ones of 2 VW bfloat16 in memory, and back. */
INLINE void vf_split_bf16(const uint16_t *p, vf *even, vf *odd)
{
    __m256i words = _mm256_loadu_si256((const __m256i *)(const void *)p);
    *even = _mm256_castsi256_ps(_mm256_slli_epi32(words, 16));
    *odd = _mm256_castsi256_ps(_mm256_and_si256(words, _mm256_set1_epi32(-0x10000)));
}

INLINE void vf_join_bf16(uint16_t *p, vf even, vf odd)
{
    __m256i words = _mm256_blend_epi16(_mm256_srli_epi32(vf_rounded(even), 16), vf_rounded(odd), 0xaa);
    _mm256_storeu_si256((__m256i *)(void *)p, words);
}

/* The even and the odd ones of 2 VW elements, in an order of the rung's own: here 0 1 4 5 2 3 6 7, which needs no
 * crossing of halves. vf_join undoes it. */
INLINE void vf_split(vf low, vf high, vf *even, vf *odd)
{
    *even = _mm256_shuffle_ps(low, high, 0x88);
    *odd = _mm256_shuffle_ps(low, high, 0xdd);
}

INLINE void vf_join(vf even, vf odd, vf *low, vf *high)
{
    *low = _mm256_unpacklo_ps(even, odd);
    *high = _mm256_unpackhi_ps(even, odd);
}

/* From that order to the natural one, or back: one word does both. */
INLINE vf vf_ordered(vf x)
{
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(x), 0xd8));
}

/* Each element exchanged with its neighbour. */
INLINE vf vf_swapped(vf x)
{
    return _mm256_permute_ps(x, 0xb1);
}

INLINE vf vf_set(float a)
{
    return _mm256_set1_ps(a);
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

/* Towards 0. */
INLINE vf vf_trunc(vf x)
{
    return _mm256_round_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
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

/* The sums of four vectors: of pairs, then of pairs of pairs. A horizontal addition is three instructions in the CPU. */
INLINE void vf_sum_four(float y[4], const vf x[4])
{
    vf a = _mm256_unpacklo_ps(x[0], x[1]) + _mm256_unpackhi_ps(x[0], x[1]);
    vf b = _mm256_unpacklo_ps(x[2], x[3]) + _mm256_unpackhi_ps(x[2], x[3]);
    vf c = _mm256_shuffle_ps(a, b, 0x44) + _mm256_shuffle_ps(a, b, 0xee);
    _mm_storeu_ps(y, _mm_add_ps(_mm256_castps256_ps128(c), _mm256_extractf128_ps(c, 1)));
}

/* The largest of each of four vectors. */
INLINE void vf_most_four(float y[4], const vf x[4])
{
    __m128 h[4];
    UNROLL
    for (int i = 0; i < 4; i++)
        h[i] = _mm_max_ps(_mm256_castps256_ps128(x[i]), _mm256_extractf128_ps(x[i], 1));
    _MM_TRANSPOSE4_PS(h[0], h[1], h[2], h[3]);
    _mm_storeu_ps(y, _mm_max_ps(_mm_max_ps(h[0], h[1]), _mm_max_ps(h[2], h[3])));
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

/* ---------------------------------------------------------------- doubles */

INLINE vd vd_load(const double *p)
{
    return _mm256_loadu_pd(p);
}

INLINE void vd_store(double *p, vd x)
{
    _mm256_storeu_pd(p, x);
}

/* VD floats, as doubles. */
INLINE vd vd_load_f32(const float *p)
{
    return _mm256_cvtps_pd(_mm_loadu_ps(p));
}

INLINE vd vd_set(double a)
{
    return _mm256_set1_pd(a);
}

/* a b + c, rounded once. */
INLINE vd vd_fma(vd a, vd b, vd c)
{
    return _mm256_fmadd_pd(a, b, c);
}

/* The lower or the upper half of a vector of floats. */
INLINE vd vf_double(vf x, bool upper)
{
    return _mm256_cvtps_pd(upper ? _mm256_extractf128_ps(x, 1) : _mm256_castps256_ps128(x));
}

/* Eight sums p0 .. p7, begun to be added up: a vector that has p_i + p_(i + 4), or the same further on. vd_sum_four ends
 * it for four of them: ((p0 + p4) + (p1 + p5)) + ((p2 + p6) + (p3 + p7)). */
INLINE vd vd_add_eight(const vd p[8 / VD])
{
    return p[0] + p[1];
}

INLINE void vd_sum_four(double y[4], const vd x[4])
{
    __m256d a = _mm256_hadd_pd(x[0], x[1]), b = _mm256_hadd_pd(x[2], x[3]);
    _mm256_storeu_pd(y, _mm256_permute2f128_pd(a, b, 0x20) + _mm256_permute2f128_pd(a, b, 0x31));
}

/* The nearest whole number, ties to even. */
INLINE vd vd_nearest(vd x)
{
    return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* b where bit 0 of q is set, else a. */
INLINE vd vd_choose(vd a, vd b, vq q)
{
    return _mm256_blendv_pd(a, b, _mm256_castsi256_pd(_mm256_slli_epi64(q, 63)));
}

INLINE vq vd_bits(vd x)
{
    return _mm256_castpd_si256(x);
}

INLINE vd vq_double(vq bits)
{
    return _mm256_castsi256_pd(bits);
}

INLINE vq vq_set(uint64_t n)
{
    return _mm256_set1_epi64x((int64_t)n);
}

/* The larger of each half of 32 bits; and whether any of a's is at least b's. */
INLINE vq vq_max(vq a, vq b)
{
    return _mm256_max_epu32(a, b);
}

INLINE bool vq_reaches(vq a, vq b)
{
    return _mm256_movemask_epi8(_mm256_cmpeq_epi32(_mm256_max_epu32(a, b), a)) != 0;
}

/* Rounded to the nearest float; and to the odd one of the two around it, where no float is x. */
INLINE vh vd_float(vd x)
{
    return _mm256_cvtpd_ps(x);
}

INLINE __m128i vd_lower_halves(vd x)
{
    __m256 f = _mm256_castpd_ps(x);
    return _mm_castps_si128(_mm_shuffle_ps(_mm256_castps256_ps128(f), _mm256_extractf128_ps(f, 1), 0x88));
}

/* The nearest float, one less in size where that is too large, then odd where it is not x. */
INLINE vh vd_float_odd(vd x)
{
    __m128 y = _mm256_cvtpd_ps(x);
    __m256d back = _mm256_cvtps_pd(y), sign = vd_set(-0.0);
    __m256d off = _mm256_cmp_pd(back, x, _CMP_NEQ_OQ);
    __m256d over = _mm256_cmp_pd(_mm256_andnot_pd(sign, back), _mm256_andnot_pd(sign, x), _CMP_GT_OQ);
    __m128i bits = _mm_add_epi32(_mm_castps_si128(y), vd_lower_halves(over));
    return _mm_castsi128_ps(_mm_or_si128(bits, _mm_srli_epi32(vd_lower_halves(off), 31)));
}

INLINE void vh_store(float *p, vh x)
{
    _mm_storeu_ps(p, x);
}

/* Whether any bits do. */
INLINE bool vh_differ(vh a, vh b)
{
    __m128i bits = _mm_castps_si128(_mm_xor_ps(a, b));
    return !_mm_testz_si128(bits, bits);
}

#endif
