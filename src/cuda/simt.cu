/* SPDX-License-Identifier: MIT
 *
 * What the kernels on the ordinary units share: tiles in float32 in shared memory, and products of one warp's 16 rows.
 * DECAYS: elements of queries shrink with their position, those of keys grow. Vectors come without it, as their sizes
 * would overflow far from position 0. A tile of queries or of keys chooses a centre among its positions, and what is
 * loaded into shared memory shrinks and grows from there. */
#ifndef DECAYS
#define DECAYS 0
#endif
#define ROW (D + 4) /* of queries and keys in shared memory: rows start in different banks */
#define ROW_V (DV + 4)
#define NT (BN / 8)

static void load_rows(float *to, int width, int row, const attend_view &v, int type, int batch, int head, int first,
                      int count, int rows)
{
    int64_t base = batch * v.batch + head * v.head;
    for (int n = threadIdx.x; n < rows * row; n += blockDim.x) {
        int r = n / row, d = n % row;
        to[n] = r < count && d < width ? load_number(v.data, base + (int64_t)(first + r) * v.token + d, type) : 0;
    }
}

/* What element d is multiplied by, so far behind the centre: keys are before it, queries after it. */
static float decay_factor(const attend_args &a, int d, int64_t apart)
{
    return exp2_fast(((const float *)a.decay)[d] * (float)apart);
}

/* Rows as load_rows left them, which the same threads change: queries after the centre, keys before it. */
static void decay_rows(const attend_args &a, float *rows, const attend_positions &at, int batch, int first, int count,
                       int64_t centre, bool keys)
{
    for (int n = threadIdx.x; n < count * ROW; n += blockDim.x) {
        int r = n / ROW, d = n % ROW;
        int64_t apart = position_of(at, batch, first + r, 0) - centre;
        if (d < D)
            rows[n] *= decay_factor(a, d, keys ? -apart : apart);
    }
}

static void load_queries(const attend_args &a, const place &p, float *to, int64_t centre)
{
    int first = p.q0 + p.i0, count = min(p.nq - p.i0, BM);
    load_rows(to, D, ROW, a.q, TYPE, p.batch, p.h, first, count, BM);
    if (DECAYS)
        decay_rows(a, to, a.q_at, p.batch, first, count, centre, false);
}

static void load_keys(const attend_args &a, const place &p, float *to, int kt, int64_t centre)
{
    int first = p.k0 + kt * BN, count = min(p.nk - kt * BN, BN);
    load_rows(to, D, ROW, a.k, TYPE, p.key_batch, p.h / a.group, first, count, BN);
    if (DECAYS)
        decay_rows(a, to, a.k_at, p.key_batch, first, count, centre, true);
}

/* The centre of a tile that begins with query i, with key j. */
static int64_t query_centre(const attend_args &a, const place &p, int i)
{
    return DECAYS ? position_of(a.q_at, p.batch, p.q0 + max(min(i, p.nq - 1), 0), 0) : 0;
}
static int64_t key_centre(const attend_args &a, const place &p, int j)
{
    return DECAYS ? position_of(a.k_at, p.key_batch, p.k0 + max(min(j, p.nk - 1), 0), 0) : 0;
}

/* Products of this lane's queries and keys, rows of `width` numbers. */
static void products(float (&s)[NT * 4], const float *q, const float *k, int width)
{
    const int row = width + 4;
    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int n = 0; n < NT * 4; n++)
        s[n] = 0;
    for (int d = 0; d < width; d += 4) {
        float4 a = *(const float4 *)(q + g * row + d), b = *(const float4 *)(q + (g + 8) * row + d);
#pragma unroll
        for (int n = 0; n < NT; n++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                float4 c = *(const float4 *)(k + (8 * n + 2 * t + e) * row + d);
                s[4 * n + e] += a.x * c.x + a.y * c.y + a.z * c.z + a.w * c.w;
                s[4 * n + 2 + e] += b.x * c.x + b.y * c.y + b.z * c.z + b.w * c.w;
            }
    }
}
