/* SPDX-License-Identifier: MIT
 *
 * Gradients of queries on Hopper, and of tables by distance. A block has tiles of BM = 128 queries, 64 for each of two
 * warpgroups, and meets tiles of BN keys: S = Q K^T, dP = dO V^T, dQ += dS K. The gradient of a table is the sum of dS
 * along diagonals. Each warp leaves the sums of its lanes in shared memory, the warps beside the copying one add them
 * up, in one order, to a table in memory that belongs to this block alone. Which block has which tiles of queries is
 * fixed, so every run gives the same bits. */
#define STAGES ATTEND_DQ_STAGES
/* Sums along diagonals that four lanes of a warp have: 8 for each fragment and the one before; zeros on both sides. */
#define STRIP (BN + 8)
#define EDGE 8

constexpr int gradient_biases()
{
    int count = 0;
    for (int n = 0; n < ATTEND_BIASES_MAX; n++)
        count += (bias_flags(n) & BIAS_GRADIENT) != 0;
    return count;
}

typedef struct shared_tiles {
    unsigned short q[BM * D], dout[BM * DV], k[STAGES][BN * D], v[STAGES][BN * DV];
    float slice[STAGES][near_biases() + 1][2 * SLICE];
    float strip[gradient_biases() ? 2 : 1][gradient_biases() ? 8 : 1][8][EDGE + STRIP + EDGE];
    uint64_t q_full, q_empty, k_full[STAGES], k_empty[STAGES], v_full[STAGES], v_empty[STAGES];
    uint64_t strip_full[2], strip_empty[2], task_full[2], task_empty[2];
    task next[2];
} shared_tiles;
static_assert(sizeof(shared_tiles) <= ATTEND_DQ_BYTES(BM, BN, D, DV, near_biases(), gradient_biases() > 0),
              "what the host gives");

/* ------------------------------------------------ the copying warp */

/* The n-th tile of queries of this block, longest first, there and back, so that blocks have about equal work. */
static int tile_number(int n)
{
    return n * gridDim.x + (n % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
}

static void copy_tiles(const attend_mapped &x, shared_tiles *m)
{
    const attend_args &a = x.a;
    place p;
    int met = 0, queries = 0, last = tile_count(a), round = 0;
    for (int n = 0;; n++) {
        int number = tile_number(n);
        if (number < last && !place_find(a, number, BM, p))
            continue;
        task &t = m->next[round % 2];
        barrier_wait(&m->task_empty[round % 2], round / 2 % 2 ^ 1);
        t.over = number >= last;
        if (!t.over)
            task_set(a, p, t);
        barrier_arrive(&m->task_full[round++ % 2]);
        if (t.over)
            return;
        if (!t.tiles.count)
            continue;
        barrier_wait(&m->q_empty, queries++ % 2 ^ 1);
        barrier_expect(&m->q_full, BM * (D + DV) * 2);
        for (int d = 0; d < D; d += 64)
            copy_box(m->q + d * BM, x.q, &m->q_full, d, p.q0 + p.i0, p.h, p.batch);
        for (int d = 0; d < DV; d += 64)
            copy_box(m->dout + d * BM, x.dout, &m->q_full, d, p.q0 + p.i0, p.h, p.batch);
        for (int e = 0; e < t.tiles.count; e++, met++) {
            int stage = met % STAGES, phase = met / STAGES % 2, kt = tile_at(t.tiles, e), token = p.k0 + kt * BN;
            barrier_wait(&m->k_empty[stage], phase ^ 1);
            barrier_expect(&m->k_full[stage], BN * D * 2 + near_biases() * 2 * SLICE_BYTES);
            for (int d = 0; d < D; d += 64)
                copy_box(m->k[stage] + d * BN, x.k, &m->k_full[stage], d, token, p.h / a.group, p.key_batch);
            copy_slices(a, p.h, m->slice[stage], &m->k_full[stage],
                        [&](int b) { return slice_start(a.bias[b], t.corner[b], kt); });
            barrier_wait(&m->v_empty[stage], phase ^ 1);
            barrier_expect(&m->v_full[stage], BN * DV * 2);
            for (int d = 0; d < DV; d += 64)
                copy_box(m->v[stage] + d * BN, x.v, &m->v_full[stage], d, token, p.h / a.group, p.key_batch);
        }
    }
}

/* ------------------------------------------------ the adding warps */

/* The sum of a diagonal of the tile: x, of BM + BN - 1, is query BM - 1 - x at key 0, and so on. Lanes 4 g .. 4 g + 3
 * of warp w have the diagonals of their queries 16 w + g and 16 w + g + 8, from that of the second query and key 0 on.
 */
static float diagonal_sum(const float (*strip)[8][EDGE + STRIP + EDGE], int x)
{
    float even = 0, odd = 0;
#pragma unroll
    for (int w = 0; w < 8; w++) {
        int at = x - (BM - 1) + 16 * w + 8;
        if (at <= -EDGE || at >= STRIP)
            continue;
#pragma unroll
        for (int g = 0; g < 8; g += 2) {
            even += strip[w][g][EDGE + at + g];
            odd += strip[w][g + 1][EDGE + at + g + 1];
        }
    }
    return even + odd;
}

/* Thread n of these warps has the entries that are n modulo their number, so no two threads write one. What is there is
 * read before the sums have come. */
static void add_table(const attend_args &a, const task &t, shared_tiles *m, int n, int met, int kt)
{
    const int threads = 96, each = (BM + BN - 1 + threads - 1) / threads;
    int base = t.corner[n] + kt * BN - (BM - 1), row = (int)a.bias[n].row;
    int first = ((int)threadIdx.x - 32 - base % threads + threads) % threads;
    float *to = (float *)a.dtable[n] + ((int64_t)blockIdx.x * a.H + t.p.h) * row, was[each];
#pragma unroll
    for (int e = 0; e < each; e++) {
        int at = base + first + e * threads;
        was[e] = at >= 0 && at < row ? to[at] : 0;
    }
    barrier_wait(&m->strip_full[met % 2], met / 2 % 2);
#pragma unroll
    for (int e = 0; e < each; e++) {
        int x = first + e * threads, at = base + x;
        if (x < BM + BN - 1 && at >= 0 && at < row)
            to[at] = was[e] + diagonal_sum(m->strip[met % 2], x);
    }
}

static void add_tables(const attend_args &a, shared_tiles *m)
{
    int met = 0;
    for (int round = 0;; round++) {
        barrier_wait(&m->task_full[round % 2], round / 2 % 2);
        const task &t = m->next[round % 2];
        if (t.over)
            return;
        for (int e = 0; e < t.tiles.count; e++, met++) {
#pragma unroll
            for (int n = 0; n < ATTEND_BIASES_MAX; n++)
                if (bias_flags(n) & BIAS_GRADIENT)
                    add_table(a, t, m, n, met, tile_at(t.tiles, e));
            release(&m->strip_empty[met % 2]);
        }
        release(&m->task_empty[round % 2]);
    }
}

/* ------------------------------------------------ the computing warpgroups */

/* This lane's sums along diagonals: the first query's fragment f lies on the diagonals of the second's fragment f + 1.
 */
static void leave_strip(float (*strip)[EDGE + STRIP + EDGE], const float (&ds)[NT * 4])
{
    float *to = strip[threadIdx.x % 32 / 4] + EDGE + threadIdx.x % 4 * 2;
    *(float2 *)to = float2{ ds[2], ds[3] };
#pragma unroll
    for (int f = 0; f < NT; f++) {
        float x = ds[4 * f], y = ds[4 * f + 1];
        if (f + 1 < NT) {
            x += ds[4 * f + 6];
            y += ds[4 * f + 7];
        }
        *(float2 *)(to + 8 * (f + 1)) = float2{ x, y };
    }
}

/* Gradients of scores of the met-th tile of keys of this block. */
static void weigh_back(const attend_args &a, const task &t, shared_tiles *m, float (&s)[NT * 4],
                       const float (&dp)[NT * 4], const float2 (&row)[2], const int (&i)[2], bool &odd, int met, int kt)
{
    bool hides = tile_hides(t.tiles, kt);
    int stage = met % STAGES;
    release(&m->v_empty[stage]);
    if (hides) {
        mask_scores<NT>(a, t.p, s, i, kt * BN + threadIdx.x % 4 * 2, key_places{});
        odd = odd || tile_odd(m->k[stage], BN * D);
    }
#pragma unroll
    for (int e = 0; e < NT * 4; e++) {
        float w = exp2_fast(s[e] * a.scale_log2 - row[e % 4 / 2].x);
        s[e] = hides && w == 0 ? 0 : w * (dp[e] - row[e % 4 / 2].y);
    }
    if (gradient_biases()) {
        barrier_wait(&m->strip_empty[met % 2], met / 2 % 2 ^ 1);
        leave_strip(m->strip[met % 2][threadIdx.x / 32 - 4], s);
        release(&m->strip_full[met % 2]);
    }
}

static void store_dq(const attend_args &a, const place &p, const float *dq, const int (&i)[2])
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int token = query_token(a, p, i[r]);
        if (token < 0 || !a.dq.data || (i[r] >= p.nq && a.accumulate))
            continue;
        int64_t at = p.batch * a.dq.batch + token * a.dq.token + p.h * a.dq.head + threadIdx.x % 4 * 2;
        bool real = i[r] < p.nq && dq;
#pragma unroll
        for (int f = 0; f < D / 8; f++)
            store_gradient(a, a.dq, at + 8 * f, real ? dq[4 * f + 2 * r] * a.scale : 0,
                           real ? dq[4 * f + 2 * r + 1] * a.scale : 0, DQ_TYPE);
    }
}

static void compute_tile(const attend_args &a, const task &t, shared_tiles *m, int group, int row, int met, int queries)
{
    const place &p = t.p;
    int i[2] = { p.i0 + row, p.i0 + row + 8 };
    float s[NT * 4], dp[NT * 4], dq[D / 2];
    uint32_t dscores[NT * 2];
    bool odd = false;
    float2 numbers[2];
#pragma unroll
    for (int r = 0; r < 2; r++)
        numbers[r] = i[r] < p.nq ? row_numbers(a, p, i[r]) : float2{ INF, 0 };
#pragma unroll
    for (int e = 0; e < D / 2; e++)
        dq[e] = 0;
    barrier_wait(&m->q_full, queries % 2);
    barrier_wait(&m->k_full[met % STAGES], met / STAGES % 2);
    start_scores(a, t, m->slice[met % STAGES], s, row, tile_at(t.tiles, 0));
    begin_products<D>(s, m->q + group * 64 * 64, m->k[met % STAGES], near_first());
    barrier_wait(&m->v_full[met % STAGES], met / STAGES % 2);
    begin_products<DV>(dp, m->dout + group * 64 * 64, m->v[met % STAGES], false);
    products_wait<0>();
    hold(s);
    hold(dp);
    weigh_back(a, t, m, s, dp, numbers, i, odd, met, tile_at(t.tiles, 0));
    pack_weights<NT>(s, dscores);
    for (int n = 1; n < t.tiles.count; n++) {
        met++;
        int stage = met % STAGES, last = (met - 1) % STAGES, kt = tile_at(t.tiles, n);
        barrier_wait(&m->k_full[stage], met / STAGES % 2);
        start_scores(a, t, m->slice[stage], s, row, kt);
        begin_products<D>(s, m->q + group * 64 * 64, m->k[stage], near_first());
        barrier_wait(&m->v_full[stage], met / STAGES % 2);
        begin_products<DV>(dp, m->dout + group * 64 * 64, m->v[stage], false);
        begin_sums<D>(dq, dscores, m->k[last]);
        products_wait<1>();
        hold(s);
        hold(dp);
        weigh_back(a, t, m, s, dp, numbers, i, odd, met, kt);
        products_wait<0>();
        hold(dq);
        release(&m->k_empty[last]);
        pack_weights<NT>(s, dscores);
    }
    release(&m->q_empty);
    begin_sums<D>(dq, dscores, m->k[met % STAGES]);
    products_wait<0>();
    hold(dq);
    release(&m->k_empty[met % STAGES]);
    store_dq(a, p, dq, i);
    if (odd)
        ((int32_t *)a.redo)[1 + p.tile] = 1;
}

static void compute_tiles(const attend_args &a, shared_tiles *m)
{
    int group = threadIdx.x / 128 - 1, met = 0, queries = 0;
    int row = group * 64 + (int)(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4);
    for (int round = 0;; round++) {
        barrier_wait(&m->task_full[round % 2], round / 2 % 2);
        const task &t = m->next[round % 2];
        if (t.over)
            return;
        if (t.tiles.count) {
            compute_tile(a, t, m, group, row, met, queries++);
            met += t.tiles.count;
        } else {
            const int i[2] = { t.p.i0 + row, t.p.i0 + row + 8 };
            store_dq(a, t.p, 0, i);
        }
        release(&m->task_empty[round % 2]);
    }
}

extern "C" __global__ void __launch_bounds__(384, 1) attend_dq_hopper(const __grid_constant__ attend_mapped x)
{
    extern __shared__ unsigned char memory[];
    shared_tiles *m = (shared_tiles *)(((uint64_t)memory + 1023) & ~1023ull);
    if (threadIdx.x == 0) {
        barrier_init(&m->q_full, 1);
        barrier_init(&m->q_empty, 8);
        for (int n = 0; n < STAGES; n++) {
            barrier_init(&m->k_full[n], 1);
            barrier_init(&m->v_full[n], 1);
            barrier_init(&m->k_empty[n], 8);
            barrier_init(&m->v_empty[n], 8);
        }
        for (int n = 0; n < 2; n++) {
            barrier_init(&m->strip_full[n], 8);
            barrier_init(&m->strip_empty[n], 3);
            barrier_init(&m->task_full[n], 1);
            barrier_init(&m->task_empty[n], gradient_biases() ? 11 : 8);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
    }
    if (gradient_biases())
        for (int n = threadIdx.x; n < (int)(sizeof m->strip / sizeof(float)); n += blockDim.x)
            (&m->strip[0][0][0][0])[n] = 0;
    __syncthreads();
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 56;");
        if (threadIdx.x == 0)
            copy_tiles(x, m);
        else if (gradient_biases() && threadIdx.x >= 32)
            add_tables(x.a, m);
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 224;");
        compute_tiles(x.a, m);
    }
}
