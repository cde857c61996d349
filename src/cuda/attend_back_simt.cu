/* SPDX-License-Identifier: MIT
 *
 * Gradients of attention on the ordinary units, in float32. Weights are computed again from scores and the log-sum-exp.
 * attend_dq has a tile of queries and meets all its keys; attend_dkv has a tile of keys and meets all their queries, of
 * all heads that share them; attend_dadditive the same, of one head. So every sum has one order. A key that is hidden
 * takes no part, whatever the numbers there are. */

/* ------------------------------------------------ one tile of queries and keys */

typedef struct back_memory {
    float q[BM * ROW], dout[BM * ROW_V], k[BN * ROW], v[BN * ROW_V];
    float weight[BM * (BN + 1)], dscore[BM * (BN + 1)]; /* weight -inf: takes no part */
    int entry[BM * (BN + 1)];
    key_places keys_at;
} back_memory;
static_assert(sizeof(back_memory) <= ATTEND_BACK_BYTES(BM, BN, D, DV), "what the host gives");

/* Weights and gradients of scores of the tile, to shared memory. */
static void back_tile(const attend_args &a, const place &p, back_memory *m, const int (&i)[2], int kt, bool hides)
{
    int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const float *const near[ATTEND_BIASES_MAX] = {};
    const float factor = CAP ? 1 : a.scale_log2;
    float s[NT * 4], dp[NT * 4], slope[NT * 4];
    products(s, m->q + 16 * warp * ROW, m->k, D);
    products(dp, m->dout + 16 * warp * ROW_V, m->v, DV);
    finish_products<NT>(a, p, s, i, kt * BN + 2 * t, m->keys_at);
#pragma unroll
    for (int e = 0; e < NT * 4; e++) {
        float x = CAP ? cap_tanh(a, s[e]) : 0;
        slope[e] = 1 - x * x;
    }
    finish_scores<NT>(a, p, s, i, kt * BN + 2 * t, hides, near, m->keys_at);
    float2 row[2] = { row_numbers(a, p, p.h, i[0]), row_numbers(a, p, p.h, i[1]) };
#pragma unroll
    for (int e = 0; e < NT * 4; e++) {
        int r = e % 4 / 2, at = (16 * warp + g + 8 * r) * (BN + 1) + e / 4 * 8 + 2 * t + e % 2;
        bool seen = s[e] != -INF && i[r] < p.nq;
        float w = seen ? exp2_fast(s[e] * factor - row[r].x) : -INF;
        m->weight[at] = w;
        m->dscore[at] = seen ? w * (dp[e] - row[r].y) : 0; /* of the score after the cap */
        if (CAP)
            m->entry[at] = (int)__float_as_uint(slope[e]);
    }
}

/* ------------------------------------------------ gradients of tables */

/* Which entry of table n each pair of the tile reads; -1: none. */
static void table_entries(const attend_args &a, const place &p, back_memory *m, int n, int kt)
{
    const attend_bias &b = a.bias[n];
    for (int at = threadIdx.x; at < BM * BN; at += blockDim.x) {
        int r = at / BN, c = at % BN, i = p.i0 + r, j = kt * BN + c;
        int64_t e = -1;
        if (i < p.nq && j < p.nk && m->weight[r * (BN + 1) + c] != -INF)
            e = clamp_entry(b.zero - weighted(a.q_at, p.batch, p.q0 + i, b.weight) +
                                weighted(a.k_at, p.key_batch, p.k0 + j, b.weight),
                            b.row);
        m->entry[r * (BN + 1) + c] = (int)e;
    }
}

/* Each thread owns the entries that are its number modulo the threads: one order for every sum. by: what the gradients
 * of a row are multiplied by beside `weight`; none: by nothing. */
static void table_add(const attend_args &a, const place &p, const back_memory *m, int n, int slot, const float *by)
{
    float *to = (float *)a.dtable[n] + ((int64_t)slot * a.H + p.h) * a.bias[n].gradient;
    for (int r = 0; r < BM; r++)
        for (int c = 0; c < BN; c++) {
            int at = r * (BN + 1) + c, e = m->entry[at];
            if (e >= 0 && e % blockDim.x == threadIdx.x)
                to[e] += by ? m->dscore[at] * m->weight[at] * by[r] : m->dscore[at];
        }
}

/* ------------------------------------------------ gradients of a bias with knots */

#define BACK_THREADS 128

typedef struct knot_memory {
    float share[BM], sum[BM];
    int at[BM]; /* which share a query has; -1: there is no query */
    int least[BACK_THREADS], most[BACK_THREADS];
    double sums[BACK_THREADS][2];
} knot_memory;

/* The number of knots at or below x. */
static int knots_below(const attend_bias &b, float x)
{
    int low = 0, high = b.knots;
    while (low < high) {
        int mid = (low + high) / 2;
        if (((const float *)b.knot)[mid] <= x)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void knot_queries(const attend_args &a, const place &p, knot_memory *k, int n)
{
    const attend_bias &b = a.bias[n];
    for (int r = threadIdx.x; r < BM; r += blockDim.x) {
        int i = p.i0 + r;
        k->at[r] = i < p.nq ? (int)clamp_entry(weighted(a.q_at, p.batch, p.q0 + i, b.weight), b.shares) : -1;
        k->share[r] = i < p.nq ? ((const float *)b.share)[k->at[r]] : 0;
    }
}

/* After table_entries. weight becomes, of each pair that takes part, the slope there; with `lines` x, and its entry the
 * number of knots below. */
static void knot_pairs(const attend_args &a, const place &p, back_memory *m, const knot_memory *k, int n, bool lines)
{
    const attend_bias &b = a.bias[n];
    const float *slope = (const float *)b.slope + p.h * (b.knots + 1);
    for (int pair = threadIdx.x; pair < BM * BN; pair += blockDim.x) {
        int r = pair / BN, at = r * (BN + 1) + pair % BN;
        if (m->entry[at] < 0)
            continue;
        float x = __ldg((const float *)b.table + m->entry[at]) * k->share[r];
        int below = knots_below(b, x);
        m->weight[at] = lines ? x : slope[below];
        m->entry[at] = lines ? below : m->entry[at];
    }
}

/* Gradients of shares: a thread sums a query's, and each owns shares as it owns entries. */
static void share_add(const attend_args &a, const place &p, const back_memory *m, knot_memory *k, int n, int slot)
{
    const attend_bias &b = a.bias[n];
    float *to = (float *)a.dtable[n] + ((int64_t)slot * a.H + p.h) * b.gradient + b.row;
    for (int r = threadIdx.x; r < BM; r += blockDim.x) {
        float sum = 0;
        for (int at = r * (BN + 1); at < r * (BN + 1) + BN; at++)
            if (m->entry[at] >= 0)
                sum += m->dscore[at] * m->weight[at] * __ldg((const float *)b.table + m->entry[at]);
        k->sum[r] = sum;
    }
    __syncthreads();
    for (int r = 0; r < BM; r++)
        if (k->at[r] >= 0 && k->at[r] % blockDim.x == threadIdx.x)
            to[k->at[r]] += k->sum[r];
}

/* The stretches between knots that the tile has: least .. most. */
static range stretches_of(const back_memory *m, knot_memory *k)
{
    range all = { 0x7fffffff, -1, 0 };
    for (int pair = threadIdx.x; pair < BM * BN; pair += blockDim.x) {
        int s = m->entry[pair / BN * (BN + 1) + pair % BN];
        all.low = s >= 0 ? min(all.low, s) : all.low;
        all.high = max(all.high, s);
    }
    k->least[threadIdx.x] = all.low;
    k->most[threadIdx.x] = all.high;
    __syncthreads();
    for (int t = 0; t < blockDim.x; t++) {
        all.low = min(all.low, k->least[t]);
        all.high = max(all.high, k->most[t]);
    }
    return all;
}

/* Sums of gradients, and of gradients times x. Most tiles have a few stretches: then some threads share one, and the
 * first of them adds up what they have, in order. */
static void lines_add(const attend_args &a, const place &p, const back_memory *m, knot_memory *k, int n, int slot)
{
    const attend_bias &b = a.bias[n];
    double *to = (double *)((float *)a.dtable[n] + ((int64_t)slot * a.H + p.h + 1) * b.gradient) - 2 * (b.knots + 1);
    range all = stretches_of(m, k);
    int count = all.high - all.low + 1, parts = count < 1 ? 1 : max((int)blockDim.x / count, 1);
    int part = threadIdx.x % parts, together = blockDim.x / parts, own = threadIdx.x / parts;
    for (int first = all.low; first <= all.high; first += together) {
        int s = first + own;
        bool takes = own < together && s <= all.high;
        double sum = 0, moment = 0;
        for (int pair = takes ? part : BM * BN; pair < BM * BN; pair += parts) {
            int at = pair / BN * (BN + 1) + pair % BN;
            if (m->entry[at] == s) {
                sum += m->dscore[at];
                moment += (double)m->dscore[at] * m->weight[at];
            }
        }
        k->sums[threadIdx.x][0] = sum;
        k->sums[threadIdx.x][1] = moment;
        __syncthreads();
        for (int t = 1; takes && part == 0 && t < parts; t++) {
            sum += k->sums[threadIdx.x + t][0];
            moment += k->sums[threadIdx.x + t][1];
        }
        if (takes && part == 0) {
            to[2 * s] += sum;
            to[2 * s + 1] += moment;
        }
        __syncthreads();
    }
}

static void knots_add(const attend_args &a, const place &p, back_memory *m, int n, int kt, int slot)
{
    __shared__ knot_memory k;
    knot_queries(a, p, &k, n);
    table_entries(a, p, m, n, kt);
    __syncthreads();
    knot_pairs(a, p, m, &k, n, false);
    __syncthreads();
    table_add(a, p, m, n, slot, k.share);
    share_add(a, p, m, &k, n, slot);
    __syncthreads();
    knot_pairs(a, p, m, &k, n, true);
    __syncthreads();
    lines_add(a, p, m, &k, n, slot);
}

/* ------------------------------------------------ queries */

/* A vector's gradient, pairs of elements from d on, 8 apart: as the vector itself, so far from the centre. */
template <int COUNT> static void decay_gradient(const attend_args &a, float *gradient, int stride, int d, int64_t apart)
{
#pragma unroll
    for (int f = 0; f < COUNT; f++) {
        gradient[stride * f] *= decay_factor(a, d + 8 * f, apart);
        gradient[stride * f + 1] *= decay_factor(a, d + 8 * f + 1, apart);
    }
}

static void dq_tile(const attend_args &a, place &p, back_memory *m, int slot)
{
    int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    int i[2] = { p.i0 + 16 * warp + g, p.i0 + 16 * warp + g + 8 };
    float dq[D / 8 * 4] = {};
    key_tiles tiles = tiles_of(a, p, BM);
    int64_t centre = query_centre(a, p, p.i0);
    __syncthreads();
    load_queries(a, p, m->q, centre);
    load_rows(m->dout, DV, ROW_V, a.dout, DOUT_TYPE, p.batch, p.h, p.q0 + p.i0, min(p.nq - p.i0, BM), BM);
    for (int n = 0; n < tiles.count; n++) {
        int kt = tile_at(tiles, n), keys = min(p.nk - kt * BN, BN);
        __syncthreads();
        places_fill(a, p, m->keys_at, kt, threadIdx.x, blockDim.x);
        load_keys(a, p, m->k, kt, centre);
        load_rows(m->v, DV, ROW_V, a.v, TYPE, p.key_batch, p.h / a.group, p.k0 + kt * BN, keys, BN);
        __syncthreads();
        back_tile(a, p, m, i, kt, tile_hides(tiles, kt));
        __syncwarp();
        for (int c = 0; c < BN && a.dq.data; c++) {
            int x_at = (16 * warp + g) * (BN + 1) + c, y_at = x_at + 8 * (BN + 1);
            float x = m->dscore[x_at], y = m->dscore[y_at];
            if (CAP) {
                x *= __uint_as_float((uint32_t)m->entry[x_at]);
                y *= __uint_as_float((uint32_t)m->entry[y_at]);
            }
            bool skip_x = m->weight[x_at] < 0, skip_y = m->weight[y_at] < 0;
#pragma unroll
            for (int f = 0; f < D / 8; f++) {
                float2 key = *(const float2 *)(m->k + c * ROW + 8 * f + 2 * t);
                dq[4 * f] = skip_x ? dq[4 * f] : dq[4 * f] + x * key.x;
                dq[4 * f + 1] = skip_x ? dq[4 * f + 1] : dq[4 * f + 1] + x * key.y;
                dq[4 * f + 2] = skip_y ? dq[4 * f + 2] : dq[4 * f + 2] + y * key.x;
                dq[4 * f + 3] = skip_y ? dq[4 * f + 3] : dq[4 * f + 3] + y * key.y;
            }
        }
#pragma unroll
        for (int b = 0; b < ATTEND_BIASES_MAX; b++)
            if ((bias_flags(b) & BIAS_GRADIENT) && (bias_flags(b) & BIAS_KNOTS)) {
                __syncthreads();
                knots_add(a, p, m, b, kt, slot);
            } else if (bias_flags(b) & BIAS_GRADIENT) {
                __syncthreads();
                table_entries(a, p, m, b, kt);
                __syncthreads();
                table_add(a, p, m, b, slot, nullptr);
            }
    }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int token = query_token(a, p, i[r]);
        if (token < 0 || !a.dq.data || (i[r] >= p.nq && a.accumulate))
            continue;
        int64_t at = p.batch * a.dq.batch + token * a.dq.token + p.h * a.dq.head + 2 * t;
        float by = i[r] < p.nq ? a.scale : 0;
        if (DECAYS && by != 0)
            decay_gradient<D / 8>(a, dq + 2 * r, 4, 2 * t, position_of(a.q_at, p.batch, token, 0) - centre);
#pragma unroll
        for (int f = 0; f < D / 8; f++)
            store_gradient(a, a.dq, at + 8 * f, by == 0 ? 0 : dq[4 * f + 2 * r] * by,
                           by == 0 ? 0 : dq[4 * f + 2 * r + 1] * by, DQ_TYPE);
    }
}

/* With gradients of tables a block has a slot of its own, and takes every slots-th tile of one head. */
extern "C" __global__ void __launch_bounds__(128) attend_dq(const __grid_constant__ attend_args a)
{
    extern __shared__ float memory[];
    back_memory *m = (back_memory *)memory;
    place p;
    for (int block = blockIdx.x; !a.slots && block < a.blocks; block += gridDim.x) {
        int tile = block / (TILE / BM);
        if ((a.redo && !((const int32_t *)a.redo)[1 + tile]) || !place_find(a, tile, TILE, p))
            continue;
        p.i0 += block % (TILE / BM) * BM;
        dq_tile(a, p, m, 0);
    }
    if (!a.slots)
        return;
    for (int tile = 0; tile < tile_count(a); tile++)
        if (place_find(a, tile, TILE, p) && p.h == blockIdx.x % a.H && tile / a.H % a.slots == blockIdx.x / a.H)
            dq_tile(a, p, m, blockIdx.x / a.H);
}

/* ------------------------------------------------ keys */

static void dkv_tile(const attend_args &a, int block)
{
    extern __shared__ float memory[];
    back_memory *m = (back_memory *)memory;
    place p;
    int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, c = 8 * warp + g;
    int tile = block / (TILE / BN);
    if ((a.redo && !((const int32_t *)a.redo)[1 + tile]) || !key_place(a, tile, TILE, p))
        return;
    int kt = p.tile * (TILE / BN) + block % (TILE / BN), keys = min(p.nk - kt * BN, BN), head = p.h;
    float dk[D / 8 * 2] = {}, dv[DV / 8 * 2] = {};
    int64_t centre = key_centre(a, p, kt * BN);
    if (keys > 0) {
        places_fill(a, p, m->keys_at, kt, threadIdx.x, blockDim.x);
        load_keys(a, p, m->k, kt, centre);
        load_rows(m->v, DV, ROW_V, a.v, TYPE, p.key_batch, head / a.group, p.k0 + kt * BN, keys, BN);
        range see = queries_of(a, p, kt * BN, kt * BN + keys);
        for (p.h = head; p.h < head + a.group; p.h++)
            for (p.i0 = see.low / BM * BM; p.i0 < see.high; p.i0 += BM) {
                int i[2] = { p.i0 + 16 * warp + g, p.i0 + 16 * warp + g + 8 };
                __syncthreads();
                load_queries(a, p, m->q, centre);
                load_rows(m->dout, DV, ROW_V, a.dout, DOUT_TYPE, p.batch, p.h, p.q0 + p.i0, min(p.nq - p.i0, BM), BM);
                __syncthreads();
                back_tile(a, p, m, i, kt, true);
                __syncthreads();
                for (int r = 0; r < BM; r++) {
                    float w = m->weight[r * (BN + 1) + c], ds = m->dscore[r * (BN + 1) + c];
                    if (CAP)
                        ds *= __uint_as_float((uint32_t)m->entry[r * (BN + 1) + c]);
                    if (w < 0)
                        continue;
#pragma unroll
                    for (int f = 0; f < D / 8; f++) {
                        float2 x = *(const float2 *)(m->q + r * ROW + 8 * f + 2 * t);
                        dk[2 * f] += ds * x.x;
                        dk[2 * f + 1] += ds * x.y;
                    }
#pragma unroll
                    for (int f = 0; f < DV / 8; f++) {
                        float2 x = *(const float2 *)(m->dout + r * ROW_V + 8 * f + 2 * t);
                        dv[2 * f] += w * x.x;
                        dv[2 * f + 1] += w * x.y;
                    }
                }
            }
    }
    int j = kt * BN + c, token = key_token(a, p, j);
    if (token < 0 || (j >= p.nk && a.accumulate))
        return;
    int64_t at_k = p.key_batch * a.dk.batch + token * a.dk.token + head / a.group * a.dk.head + 2 * t;
    int64_t at_v = p.key_batch * a.dv.batch + token * a.dv.token + head / a.group * a.dv.head + 2 * t;
    if (DECAYS && j < p.nk)
        decay_gradient<D / 8>(a, dk, 2, 2 * t, centre - position_of(a.k_at, p.key_batch, token, 0));
#pragma unroll
    for (int f = 0; f < D / 8 && a.dk.data; f++)
        store_gradient(a, a.dk, at_k + 8 * f, dk[2 * f] * a.scale, dk[2 * f + 1] * a.scale, DK_TYPE);
#pragma unroll
    for (int f = 0; f < DV / 8 && a.dv.data; f++)
        store_gradient(a, a.dv, at_v + 8 * f, dv[2 * f], dv[2 * f + 1], DK_TYPE);
}

extern "C" __global__ void __launch_bounds__(128) attend_dkv(const __grid_constant__ attend_args a)
{
    for (int block = blockIdx.x; block < a.blocks; block += gridDim.x) {
        dkv_tile(a, block);
        __syncthreads();
    }
}

#if ADDITIVE
/* ------------------------------------------------ additive masks */

static void add_number(const attend_view &v, int64_t at, float x, int type)
{
    x += load_number(v.data, at, type);
    if (type == 0)
        ((float *)v.data)[at] = x;
    else
        ((unsigned short *)v.data)[at] = (unsigned short)pack_numbers(x, 0, type);
}

/* The gradient of a mask, whose type is DQ_TYPE: that of the score after the cap. A block has a tile of keys and one
 * head of one sequence. Where heads or sequences share numbers, the host launches one after the other. */
extern "C" __global__ void __launch_bounds__(128) attend_dadditive(const __grid_constant__ attend_args a)
{
    extern __shared__ float memory[];
    back_memory *m = (back_memory *)memory;
    place p;
    if (!key_place(a, blockIdx.x / a.group, BN, p))
        return;
    p.h += blockIdx.x % a.group;
    int kt = p.tile, keys = min(p.nk - kt * BN, BN), head = p.h / a.group;
    if ((a.only_sequence >= 0 && p.sequence != a.only_sequence) || (a.only_head >= 0 && p.h != a.only_head))
        return;
    if (keys <= 0)
        return;
    int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4;
    int64_t centre = key_centre(a, p, kt * BN),
            to = p.batch * a.dadditive.batch + p.h * a.dadditive.head + p.k0 + kt * BN;
    places_fill(a, p, m->keys_at, kt, threadIdx.x, blockDim.x);
    load_keys(a, p, m->k, kt, centre);
    load_rows(m->v, DV, ROW_V, a.v, TYPE, p.key_batch, head, p.k0 + kt * BN, keys, BN);
    range see = queries_of(a, p, kt * BN, kt * BN + keys);
    float sum = 0;
    for (p.i0 = see.low / BM * BM; p.i0 < see.high; p.i0 += BM) {
        int i[2] = { p.i0 + 16 * warp + g, p.i0 + 16 * warp + g + 8 };
        __syncthreads();
        load_queries(a, p, m->q, centre);
        load_rows(m->dout, DV, ROW_V, a.dout, DOUT_TYPE, p.batch, p.h, p.q0 + p.i0, min(p.nq - p.i0, BM), BM);
        __syncthreads();
        back_tile(a, p, m, i, kt, true);
        __syncthreads();
        for (int r = 0; a.sums && threadIdx.x < BN && r < BM; r++)
            sum += m->dscore[r * (BN + 1) + threadIdx.x];
        for (int n = threadIdx.x; !a.sums && n < BM * BN; n += blockDim.x) {
            int r = n / BN, c = n % BN;
            if (m->weight[r * (BN + 1) + c] != -INF && c < keys)
                add_number(a.dadditive, to + (int64_t)(p.q0 + p.i0 + r) * a.dadditive.token + c,
                           m->dscore[r * (BN + 1) + c], DQ_TYPE);
        }
    }
    if (a.sums && threadIdx.x < keys)
        add_number(a.dadditive, to + threadIdx.x, sum, DQ_TYPE);
}
#endif
