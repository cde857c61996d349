/* SPDX-License-Identifier: MIT
 *
 * Products of bfloat16 with AVX512-BF16: the loop of gemm in a vocabulary in which a float of A and B is two
 * bfloat16. The instruction adds their products one after the other, each sum rounded to nearest; numbers below the
 * least normal count as 0, sums there become 0. */
#include "base/exact.h"

#include "kernels/ladder.h"

#if LADDER_BF16
#include "kernels/rung_bf16.h"

#define VW 16
#define GEMM_ROWS 8
#define GEMM_WIDE 2

typedef __m512 vf;

INLINE vf vf_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

INLINE void vf_store(float *p, vf x)
{
    _mm512_storeu_ps(p, x);
}

INLINE vf vf_set(float a)
{
    return _mm512_set1_ps(a);
}

INLINE vf vf_fma(vf a, vf b, vf c)
{
    return _mm512_dpbf16_ps(c, (__m512bh)a, (__m512bh)b);
}

#include "kernels/attend_gemm.h"

/* The elements from x on, left or VW of them, every `step`th. */
INLINE vf packed_load(const float *x, int64_t step, int64_t left)
{
    const __m512i evens = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    if (!x)
        return vf_set(0);
    if (step == 1)
        return _mm512_maskz_loadu_ps((__mmask16)(left < VW ? (1u << left) - 1 : 0xffff), x);
    uint32_t seen = left < VW ? (1u << (2 * left - 1)) - 1 : 0x7fffffff;
    vf low = _mm512_maskz_loadu_ps((__mmask16)seen, x), high = _mm512_maskz_loadu_ps((__mmask16)(seen >> 16), x + VW);
    return _mm512_permutex2var_ps(low, evens, high);
}

INLINE __m512i packed_halves(vf x)
{
    return _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(x));
}

/* Elements of a row, side by side, stay in order. */
static void pack_bf16_v(float *y, const float *x, const float *z, int64_t step, int64_t n)
{
    int64_t i = 0;
    for (; step == 2 && z == x + 1 && i + VW <= n; i += VW) {
        vf low = vf_load(x + 2 * i), high = vf_load(x + 2 * i + VW);
        _mm512_storeu_si512(y + i, (__m512i)_mm512_cvtne2ps_pbh(high, low));
    }
    for (; i < n; i += VW) {
        __m512i first = packed_halves(packed_load(x + step * i, step, n - i));
        __m512i second = packed_halves(packed_load(z ? z + step * i : NULL, step, n - i));
        __m512i both = _mm512_or_si512(first, _mm512_slli_epi32(second, 16));
        _mm512_mask_storeu_epi32(y + i, (__mmask16)(n - i < VW ? (1u << (n - i)) - 1 : 0xffff), both);
    }
}

void attend_bf16(kernels *k)
{
    k->pack_bf16 = pack_bf16_v;
    k->gemm_bf16 = gemm_v;
}
#include "kernels/rung_end.h"
#endif
