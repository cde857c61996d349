/* SPDX-License-Identifier: MIT */
#include "base/exact.h"

#include "kernels/rung_avx512.h"

#if LADDER_X86
#define W 16
typedef __m512 vf;

INLINE vf load_f32(const float *x)
{
    return _mm512_loadu_ps(x);
}

INLINE void store_f32(float *y, vf v)
{
    _mm512_storeu_ps(y, v);
}

INLINE vf load_f16(const uint16_t *x)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)x));
}

INLINE void store_f16(uint16_t *y, vf v)
{
    _mm256_storeu_si256((__m256i *)(void *)y, _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

INLINE vf load_bf16(const uint16_t *x)
{
    __m512i words = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)x));
    return _mm512_castsi512_ps(_mm512_slli_epi32(words, 16));
}

/* As AVX2's. AVX512_BF16 has an instruction, but it drops denormals. */
INLINE __m512i rounded(vf v)
{
    __m512i bits = _mm512_castps_si512(v);
    __mmask16 odd = _mm512_test_epi32_mask(bits, _mm512_set1_epi32(0x10000));
    return _mm512_add_epi32(bits, _mm512_mask_blend_epi32(odd, _mm512_set1_epi32(0x7fff), _mm512_set1_epi32(0x8000)));
}

INLINE void store_bf16(uint16_t *y, vf v)
{
    _mm256_storeu_si256((__m256i *)(void *)y, _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded(v), 16)));
}

INLINE void split_bf16(const uint16_t *x, vf *even, vf *odd)
{
    __m512i words = _mm512_loadu_si512(x);
    *even = _mm512_castsi512_ps(_mm512_slli_epi32(words, 16));
    *odd = _mm512_castsi512_ps(_mm512_and_si512(words, _mm512_set1_epi32(-0x10000)));
}

INLINE void join_bf16(uint16_t *y, vf even, vf odd)
{
    __m512i low = _mm512_srli_epi32(rounded(even), 16);
    _mm512_storeu_si512(y, _mm512_mask_blend_epi16(0xaaaaaaaa, low, rounded(odd)));
}

INLINE vf tame(vf v)
{
    __m512i bits = _mm512_castps_si512(v);
    __m512i cut = _mm512_or_si512(_mm512_and_si512(bits, _mm512_set1_epi32(-0x10000)), _mm512_set1_epi32(0x400000));
    return _mm512_castsi512_ps(_mm512_mask_blend_epi32(_mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), bits, cut));
}

INLINE void split(vf low, vf high, vf *even, vf *odd)
{
    const __m512i evens = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    *even = _mm512_permutex2var_ps(low, evens, high);
    *odd = _mm512_permutex2var_ps(low, _mm512_add_epi32(evens, _mm512_set1_epi32(1)), high);
}

INLINE void join(vf even, vf odd, vf *low, vf *high)
{
    const __m512i first = _mm512_set_epi32(23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    *low = _mm512_permutex2var_ps(even, first, odd);
    *high = _mm512_permutex2var_ps(even, _mm512_add_epi32(first, _mm512_set1_epi32(8)), odd);
}

INLINE vf ordered(vf v)
{
    return v;
}

INLINE vf swapped(vf v)
{
    return _mm512_permute_ps(v, 0xb1);
}

static rotate_rows *const *const lower = rotate_rows_avx2;

#include "kernels/rotate_body.h"

void rotate_avx512(kernels *k)
{
    k->rotate[PE_F32] = rows_f32;
    k->rotate[PE_F16] = rows_f16;
    k->rotate[PE_BF16] = rows_bf16;
}
#endif

#include "kernels/rung_end.h"
