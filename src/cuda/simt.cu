/* SPDX-License-Identifier: MIT
 *
 * What the kernels on the ordinary units share: tiles in float32 in shared memory, and products of one warp's 16 rows.
 */
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
