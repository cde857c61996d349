/* SPDX-License-Identifier: MIT
 *
 * Gradients of keys and values on Hopper. A block has BM = 128 keys, 64 for each of two warpgroups, and meets tiles of
 * BN queries of all heads that share them: rows of the matrix units are keys, columns are queries. So S = K Q^T and
 * dP = V dO^T, and with weights P and gradients of scores dS, which stay in registers, dV += P dO and dK += dS Q. */
#define STAGES ATTEND_STAGES

typedef struct shared_tiles {
    unsigned short k[BM * D], v[BM * DV], q[STAGES][BN * D], dout[STAGES][BN * DV];
    float2 rows[STAGES][BN];
    float slice[STAGES][near_biases() + 1][2 * SLICE];
    uint64_t key_full, q_full[STAGES], dout_full[STAGES], empty[STAGES];
    task t;
    int first, count; /* tiles of queries of one head */
} shared_tiles;
static_assert(sizeof(shared_tiles) <= ATTEND_DKV_BYTES(BM, BN, D, DV, near_biases()), "what the host gives");

/* ------------------------------------------------ the copying warps */

/* The entry of table n that the slice of the tile of queries from i0 on starts with: corner is that of query 0 and the
 * first key. */
static int key_slice_start(const attend_bias &b, int corner, int i0)
{
    return max(min(corner - i0 - (BN - 1), (int)b.row - (BM + BN + 4)), 0) & ~3;
}

static void copy_queries(const attend_mapped &x, shared_tiles *m)
{
    const attend_args &a = x.a;
    const place &p = m->t.p;
    barrier_expect(&m->key_full, BM * (D + DV) * 2);
    for (int d = 0; d < D; d += 64)
        copy_box(m->k + d * BM, x.k, &m->key_full, d, p.k0 + p.tile * BM, p.h / a.group, p.key_batch);
    for (int d = 0; d < DV; d += 64)
        copy_box(m->v + d * BM, x.v, &m->key_full, d, p.k0 + p.tile * BM, p.h / a.group, p.key_batch);
    for (int n = 0; n < m->count * a.group; n++) {
        int stage = n % STAGES, h = p.h + n / m->count, i0 = (m->first + n % m->count) * BN;
        barrier_wait(&m->empty[stage], n / STAGES % 2 ^ 1);
        barrier_expect(&m->q_full[stage], BN * D * 2 + near_biases() * 2 * SLICE_BYTES);
        for (int d = 0; d < D; d += 64)
            copy_box(m->q[stage] + d * BN, x.q, &m->q_full[stage], d, p.q0 + i0, h, p.batch);
        copy_slices(a, h, m->slice[stage], &m->q_full[stage],
                    [&](int b) { return key_slice_start(a.bias[b], m->t.corner[b], i0); });
        barrier_expect(&m->dout_full[stage], BN * DV * 2);
        for (int d = 0; d < DV; d += 64)
            copy_box(m->dout[stage] + d * BN, x.dout, &m->dout_full[stage], d, p.q0 + i0, h, p.batch);
    }
}

/* The second warp brings the numbers of the queries. */
static void copy_rows(const attend_args &a, shared_tiles *m)
{
    place p = m->t.p;
    int head = p.h;
    for (int n = 0; n < m->count * a.group; n++) {
        int stage = n % STAGES, i0 = (m->first + n % m->count) * BN;
        p.h = head + n / m->count;
        barrier_wait(&m->empty[stage], n / STAGES % 2 ^ 1);
        for (int c = threadIdx.x % 32; c < BN; c += 32)
            m->rows[stage][c] = i0 + c < p.nq ? row_numbers(a, p, i0 + c) : float2{ INF, 0 };
        barrier_arrive(&m->dout_full[stage]);
    }
}

/* ------------------------------------------------ the computing warpgroups */

/* Biases: pairs of the first row, columns 0 and 1, in falling order. The second row is 8 after it and has the pair of
 * the columns before. */
static void add_key_biases(const attend_args &a, const shared_tiles *m, float (&s)[NT * 4], int stage, int row, int i0)
{
    int slot = 0;
#pragma unroll
    for (int n = 0; n < ATTEND_BIASES_MAX; n++) {
        if (!bias_near(n))
            continue;
        int start = key_slice_start(a.bias[n], m->t.corner[n], i0);
        int at = m->t.corner[n] - i0 - start + row - (int)(threadIdx.x % 4) * 2 - 1;
        at = max(min(at, BM + BN - 8), BN - 8);
        const float *pairs = slice_pair(m->slice[stage][slot++], at);
        const float factor = bias_factor(a, n);
        float2 last = *(const float2 *)(pairs + 8);
#pragma unroll
        for (int f = 0; f < NT; f++) {
            float2 now = *(const float2 *)(pairs - 8 * f);
            s[4 * f] += now.y * factor;
            s[4 * f + 1] += now.x * factor;
            s[4 * f + 2] += last.y * factor;
            s[4 * f + 3] += last.x * factor;
            last = now;
        }
    }
}

/* Hidden scores become -inf. h: the head of the queries, j: the keys of the rows, i0: the query of element 0. */
static void mask_key_scores(const attend_args &a, const place &p, float (&s)[NT * 4], int h, int j, int i0)
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int key = j + 8 * r;
        range see = { 0, 0, 0 };
        if (key < p.nk)
            see = queries_of(a, p, key, key + 1);
        int low = see.low - i0, high = see.high - i0;
#pragma unroll
        for (int n = 0; n < NT; n++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                float &x = s[4 * n + 2 * r + e];
                int i = 8 * n + e;
                bool seen = i >= low && i < high;
                if ((KEEP || ADDITIVE) && seen)
                    seen = sees_more(a, p, h, i0 + i, key, &x);
                x = seen ? x : -INF;
            }
    }
}

static bool queries_hide(const attend_args &a, const place &p, int i0)
{
    if (KEEP || ADDITIVE || i0 + BN > p.nq)
        return true;
    int j0 = p.tile * BM;
    range first = range_of(a, p, i0), end = range_of(a, p, i0 + BN - 1);
    return end.low > j0 || first.high < j0 + BM;
}

static void store_keys(const attend_args &a, const place &p, const attend_view &v, const float *x, int width, int j,
                       float by)
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int key = j + 8 * r, token = key_token(a, p, key);
        if (token < 0 || !v.data || (key >= p.nk && a.accumulate))
            continue;
        int64_t at = p.key_batch * v.batch + token * v.token + p.h / a.group * v.head + threadIdx.x % 4 * 2;
#pragma unroll
        for (int f = 0; f < width / 8; f++) {
            float y = key < p.nk ? x[4 * f + 2 * r] * by : 0, z = key < p.nk ? x[4 * f + 2 * r + 1] * by : 0;
            store_gradient(a, v, at + 8 * f, y, z, DK_TYPE);
        }
    }
}

static void compute_keys(const attend_args &a, shared_tiles *m)
{
    int group = threadIdx.x / 128 - 1, row = group * 64 + (int)(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4);
    const place &p = m->t.p;
    int j = p.tile * BM + row, total = m->count * a.group;
    float s[NT * 4], dp[NT * 4], dk[D / 2], dv[DV / 2];
    uint32_t weights[NT * 2], dscores[NT * 2];
    bool odd = false;
#pragma unroll
    for (int e = 0; e < D / 2; e++)
        dk[e] = 0;
#pragma unroll
    for (int e = 0; e < DV / 2; e++)
        dv[e] = 0;
    barrier_wait(&m->key_full, 0);
    for (int n = 0; n < total; n++) {
        int stage = n % STAGES, phase = n / STAGES % 2, i0 = (m->first + n % m->count) * BN;
        bool hides = queries_hide(a, p, i0);
        barrier_wait(&m->q_full[stage], phase);
        begin_products<D>(s, m->k + group * 64 * 64, m->q[stage], false);
        barrier_wait(&m->dout_full[stage], phase);
        begin_products<DV>(dp, m->v + group * 64 * 64, m->dout[stage], false);
        products_wait<1>();
        hold(s);
        add_key_biases(a, m, s, stage, row, i0);
        if (hides) {
            mask_key_scores(a, p, s, p.h + n / m->count, j, i0 + threadIdx.x % 4 * 2);
            odd = odd || tile_odd(m->q[stage], BN * D) || tile_odd(m->dout[stage], BN * DV);
        }
        const float4 *rows = (const float4 *)m->rows[stage] + threadIdx.x % 4; /* of queries 2 t and 2 t + 1 */
#pragma unroll
        for (int f = 0; f < NT; f++) {
            float4 both = rows[4 * f];
#pragma unroll
            for (int e = 0; e < 4; e++)
                s[4 * f + e] = exp2_fast(s[4 * f + e] * a.scale_log2 - (e % 2 ? both.z : both.x));
        }
        pack_weights<NT>(s, weights);
        begin_sums<DV>(dv, weights, m->dout[stage]);
        products_wait<1>();
        hold(dp);
#pragma unroll
        for (int f = 0; f < NT; f++) {
            float4 both = rows[4 * f];
#pragma unroll
            for (int e = 0; e < 4; e++) {
                float &x = s[4 * f + e], d = dp[4 * f + e] - (e % 2 ? both.w : both.y);
                x = hides && x == 0 ? 0 : x * d;
            }
        }
        pack_weights<NT>(s, dscores);
        begin_sums<D>(dk, dscores, m->q[stage]);
        products_wait<0>();
        hold(dk);
        hold(dv);
        release(&m->empty[stage]);
    }
    store_keys(a, p, a.dk, dk, D, j, a.scale);
    store_keys(a, p, a.dv, dv, DV, j, 1);
    if (odd)
        ((int32_t *)a.redo)[1 + blockIdx.x] = 1;
}

static void set_keys(const attend_args &a, shared_tiles *m)
{
    place p;
    m->t.over = !key_place(a, blockIdx.x, BM, p);
    m->first = m->count = 0;
    if (m->t.over)
        return;
    int j0 = p.tile * BM, j1 = min(j0 + BM, p.nk);
    m->t.p = p;
    if (j0 < j1) {
        range see = queries_of(a, p, j0, j1);
        m->first = see.low / BN;
        m->count = max((see.high + BN - 1) / BN - m->first, 0);
    }
#pragma unroll
    for (int n = 0; n < ATTEND_BIASES_MAX; n++)
        if (bias_near(n))
            m->t.corner[n] = corner_of(a, p, a.bias[n]) + j0;
}

extern "C" __global__ void __launch_bounds__(384, 1) attend_dkv_hopper(const __grid_constant__ attend_mapped x)
{
    extern __shared__ unsigned char memory[];
    shared_tiles *m = (shared_tiles *)(((uint64_t)memory + 1023) & ~1023ull);
    if (threadIdx.x == 0) {
        set_keys(x.a, m);
        barrier_init(&m->key_full, 1);
        for (int n = 0; n < STAGES; n++) {
            barrier_init(&m->q_full[n], 1);
            barrier_init(&m->dout_full[n], 1 + 32);
            barrier_init(&m->empty[n], 8);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
    }
    __syncthreads();
    if (m->t.over)
        return;
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(D + DV > 128 ? 24 : 40));
        if (threadIdx.x == 0)
            copy_queries(x, m);
        else if (threadIdx.x >= 32 && threadIdx.x < 64)
            copy_rows(x.a, m);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(D + DV > 128 ? 240 : 232));
        compute_keys(x.a, m);
    }
}
