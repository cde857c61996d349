/* SPDX-License-Identifier: MIT
 *
 * Rotation with AVX-512. */
#include "base/exact.h"

#include "kernels/rung_avx512.h"

#if LADDER_X86
#include "kernels/simd_avx512.h"
#include "kernels/rotate_body.h"

void rotate_avx512(kernels *k)
{
    rotate_fill(k);
}

/* Zen 4 computes vectors of 512 bits in halves, so AVX2 is as fast, and faster where words cross the halves or much is
 * stored. Measured on it with 512 tokens of 32 heads of 128, ns per element with AVX2 and AVX-512: float32 adjacent pairs
 * in place .076 and .091, out of place .106 and .118; halves out of place .104 and .111, but in place .064 and .059;
 * adjacent to halves .138 and .134. float16 halves .082 and .084, adjacent to halves .156 and .139. */
static void rotate_f32_zen4(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows, const pair_run *r,
                            const float *c, const float *s, int64_t table_stride)
{
    bool adjacent = r->from_step == 2 && r->to_step == 2, halves = r->from_step == 1 && r->to_step == 1;
    rotate_rows *const *by = adjacent || (halves && y != x) ? rotate_rows_avx2 : rotate_v;
    by[PE_F32](y, y_stride, x, x_stride, rows, r, c, s, table_stride);
}

static void rotate_f16_zen4(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows, const pair_run *r,
                            const float *c, const float *s, int64_t table_stride)
{
    rotate_rows *const *by = r->from_step == 1 && r->to_step == 1 ? rotate_rows_avx2 : rotate_v;
    by[PE_F16](y, y_stride, x, x_stride, rows, r, c, s, table_stride);
}

void rotate_zen4(kernels *k)
{
    k->rotate[PE_F32] = rotate_f32_zen4;
    k->rotate[PE_F16] = rotate_f16_zen4;
}
#endif

#include "kernels/rung_end.h"
