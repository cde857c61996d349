/* SPDX-License-Identifier: MIT */
#include "base/exact.h"

#include "kernels/rung_avx2.h"

#if LADDER_X86
#define W 8
typedef __m256 vf;

INLINE vf load_f32(const float *x)
{
    return _mm256_loadu_ps(x);
}

INLINE void store_f32(float *y, vf v)
{
    _mm256_storeu_ps(y, v);
}

INLINE vf load_f16(const uint16_t *x)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)x));
}

INLINE void store_f16(uint16_t *y, vf v)
{
    _mm_storeu_si128((__m128i *)(void *)y, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

INLINE vf load_bf16(const uint16_t *x)
{
    __m256i words = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)x));
    return _mm256_castsi256_ps(_mm256_slli_epi32(words, 16));
}

/* The bits of v rounded to its upper 16: half a unit less one, and one more where the kept part is odd, so that ties go
 * to even. A tame NaN is kept. */
INLINE __m256i rounded(vf v)
{
    __m256i bits = _mm256_castps_si256(v), odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
}

INLINE void store_bf16(uint16_t *y, vf v)
{
    __m256i kept = _mm256_srli_epi32(rounded(v), 16);
    __m128i low = _mm256_castsi256_si128(kept), high = _mm256_extracti128_si256(kept, 1);
    _mm_storeu_si128((__m128i *)(void *)y, _mm_packus_epi32(low, high));
}

INLINE void split_bf16(const uint16_t *x, vf *even, vf *odd)
{
    __m256i words = _mm256_loadu_si256((const __m256i *)(const void *)x);
    *even = _mm256_castsi256_ps(_mm256_slli_epi32(words, 16));
    *odd = _mm256_castsi256_ps(_mm256_and_si256(words, _mm256_set1_epi32(-0x10000)));
}

INLINE void join_bf16(uint16_t *y, vf even, vf odd)
{
    __m256i words = _mm256_blend_epi16(_mm256_srli_epi32(rounded(even), 16), rounded(odd), 0xaa);
    _mm256_storeu_si256((__m256i *)(void *)y, words);
}

INLINE vf tame(vf v)
{
    vf cut = _mm256_castsi256_ps(_mm256_set1_epi32(-0x10000)), quiet = _mm256_castsi256_ps(_mm256_set1_epi32(0x400000));
    return _mm256_blendv_ps(v, _mm256_or_ps(_mm256_and_ps(v, cut), quiet), _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
}

/* Pairs 0 1 4 5 2 3 6 7: what needs no crossing of halves. */
INLINE void split(vf low, vf high, vf *even, vf *odd)
{
    *even = _mm256_shuffle_ps(low, high, 0x88);
    *odd = _mm256_shuffle_ps(low, high, 0xdd);
}

INLINE void join(vf even, vf odd, vf *low, vf *high)
{
    *low = _mm256_unpacklo_ps(even, odd);
    *high = _mm256_unpackhi_ps(even, odd);
}

INLINE vf ordered(vf v)
{
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(v), 0xd8));
}

INLINE vf swapped(vf v)
{
    return _mm256_permute_ps(v, 0xb1);
}

static rotate_rows *const *const lower = NULL;

#include "kernels/rotate_body.h"

rotate_rows *const rotate_rows_avx2[3] = { [PE_F32] = rows_f32, [PE_F16] = rows_f16, [PE_BF16] = rows_bf16 };

void rotate_avx2(kernels *k)
{
    memcpy(k->rotate, rotate_rows_avx2, sizeof k->rotate);
}
#endif

#include "kernels/rung_end.h"
