/* SPDX-License-Identifier: MIT
 *
 * Attention on the ordinary units, in float32: every type, head width and stride, and what the matrix units cannot do:
 * a key that is hidden takes no part, whatever its value holds. Four warps have 16 queries each; BN keys at a time.
 * Tiles are numbered as those of a kernel with TILE queries each, which this one computes again where it left a flag.
 */
static_assert(4 * (BM * ROW + BN * (ROW + ROW_V) + 4 * 16 * (BN + 1)) == ATTEND_SIMT_BYTES(BM, BN, D, DV),
              "what the host gives");

static void simt_tile(const attend_args &a, int block)
{
    extern __shared__ float memory[];
    __shared__ key_places keys_at;
    float *q = memory, *k = q + BM * ROW, *v = k + BN * ROW, *weights = v + BN * ROW_V;
    place p;
    int tile = block / (TILE / BM);
    if ((a.redo && !((const int32_t *)a.redo)[1 + tile]) || !place_find(a, tile, TILE, p))
        return;
    p.i0 += block % (TILE / BM) * BM;
    int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int i[2] = { p.i0 + 16 * warp + g, p.i0 + 16 * warp + g + 8 };
    float *mine = weights + warp * 16 * (BN + 1);
    const float *const near[ATTEND_BIASES_MAX] = {};
    float o[DV / 8 * 4] = {};
    sums st = { { -INF, -INF }, { 0, 0 } };
    key_tiles tiles = tiles_of(a, p, BM);
    int64_t centre = query_centre(a, p, p.i0);
    load_queries(a, p, q, centre);
    for (int n = 0; n < tiles.count; n++) {
        int kt = tile_at(tiles, n), keys = min(p.nk - kt * BN, BN);
        __syncthreads();
        places_fill(a, p, keys_at, kt, threadIdx.x, blockDim.x);
        load_keys(a, p, k, kt, centre);
        load_rows(v, DV, ROW_V, a.v, TYPE, p.key_batch, p.h / a.group, p.k0 + kt * BN, keys, BN);
        __syncthreads();
        float s[NT * 4], rescale[2];
        products(s, q + 16 * warp * ROW, k, D);
        bool hides = tile_hides(tiles, kt);
        finish_products<NT>(a, p, s, i, kt * BN + 2 * t, keys_at);
        finish_scores<NT>(a, p, s, i, kt * BN + 2 * t, hides, near, keys_at);
        uint32_t hidden[2] = { 0, 0 };
#pragma unroll
        for (int e = 0; e < NT * 4; e++)
            if (s[e] == -INF)
                hidden[e % 4 / 2] |= 1u << (e / 4 * 2 + e % 2);
        soften<NT>(a, s, st, rescale);
#pragma unroll
        for (int e = 0; e < NT * 4; e++) /* -1 marks a key that takes no part */
            mine[(g + 8 * (e % 4 / 2)) * (BN + 1) + e / 4 * 8 + 2 * t + e % 2] =
                hidden[e % 4 / 2] >> (e / 4 * 2 + e % 2) & 1 ? -1 : s[e];
#pragma unroll
        for (int e = 0; e < DV / 8 * 4; e++)
            o[e] *= rescale[e % 4 / 2];
        __syncwarp();
        for (int c = 0; c < BN; c++) {
            float x = mine[g * (BN + 1) + c], y = mine[(g + 8) * (BN + 1) + c];
#pragma unroll
            for (int f = 0; f < DV / 8; f++) {
                float2 value = *(const float2 *)(v + c * ROW_V + 8 * f + 2 * t);
                o[4 * f] = x < 0 ? o[4 * f] : o[4 * f] + x * value.x;
                o[4 * f + 1] = x < 0 ? o[4 * f + 1] : o[4 * f + 1] + x * value.y;
                o[4 * f + 2] = y < 0 ? o[4 * f + 2] : o[4 * f + 2] + y * value.x;
                o[4 * f + 3] = y < 0 ? o[4 * f + 3] : o[4 * f + 3] + y * value.y;
            }
        }
        __syncwarp();
    }
    float by[2];
    close_sums(a, p, st, i, by);
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int token = query_token(a, p, i[r]);
        if (token < 0)
            continue;
        int64_t at = p.batch * a.out.batch + token * a.out.token + p.h * a.out.head + 2 * t;
#pragma unroll
        for (int f = 0; f < DV / 8; f++) {
            float x = by[r] == 0 ? 0 : o[4 * f + 2 * r] * by[r], y = by[r] == 0 ? 0 : o[4 * f + 2 * r + 1] * by[r];
            store_pair(a.out.data, at + 8 * f, x, y, OUT_TYPE);
        }
    }
}

/* Where it looks for flags, some blocks look at all of them. */
extern "C" __global__ void __launch_bounds__(128) attend_simt(const __grid_constant__ attend_args a)
{
    for (int block = blockIdx.x; block < a.blocks; block += gridDim.x) {
        simt_tile(a, block);
        __syncthreads();
    }
}
