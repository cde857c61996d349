/* SPDX-License-Identifier: MIT
 *
 * Gradients of attention on Hopper, all in one kernel. A block has BM = 128 keys, 64 for each of two warpgroups, and
 * meets tiles of BN = 64 queries of all heads that share them, the last queries first: rows of the matrix units are
 * keys, columns are queries. S = K Q^T and dP = V dO^T give weights P, which stay in registers for dV += P dO, and
 * gradients of scores dS, which go to shared memory: each warpgroup reads its own for dK += dS Q, and both read all for
 * dQ = dS^T K, half of the columns each.
 *
 * The dQ of a tile of queries is a sum over tiles of keys. Blocks add to it in memory, in float32, in the order of the
 * keys, so that every run gives the same bits: `turns` has for each tile of queries 1 + the last tile of keys that has
 * been added, and a block waits for the one before its own. A block takes its tiles in the order of their numbers and
 * all blocks are on the device at once (the launch is a cooperative one), so what is waited for always comes.
 *
 * The gradient of a table is the sum of dS along diagonals. The lanes of a warp leave their sums in shared memory, the
 * warp adds them up to one band of 16 keys, and two warps beside the copying one add those of all warps, in one order,
 * to a table in memory that belongs to this block alone. */
#define STAGES ATTEND_STAGES
enum { COMPUTING = 256, TABLE_THREADS = 64 }; /* threads: of both warpgroups; of the warps that add to tables */
#define PART (D / 2)                          /* columns of dQ that a warpgroup has */
/* Sums along diagonals that four lanes of a warp have: 8 for each fragment and the one before; zeros on both sides.
 * Those of a whole warp: BAND, from EDGE before on. */
#define STRIP (BN + 8)
#define EDGE 8
#define BAND (EDGE + STRIP)
static_assert(BM == 128 && BN == 64, "two warpgroups of keys, one tile of queries for the matrix units");

constexpr int gradient_biases()
{
    int count = 0;
    for (int n = 0; n < ATTEND_BIASES_MAX; n++)
        count += (bias_flags(n) & BIAS_GRADIENT) != 0;
    return count;
}

constexpr int DQ_STAGES = ATTEND_DQ_STAGES(BM, BN, D, DV, near_biases(), gradient_biases() > 0);

/* A tile of keys to compute. */
typedef struct key_task {
    bool over; /* there are no more */
    place p;
    int number, first, count;      /* of the tile; tiles of queries of one head */
    int corner[ATTEND_BIASES_MAX]; /* of tables: the entry for query 0 and the tile's first key */
} key_task;

/* ------------------------------------------------ tiles */

/* The n-th tile of keys of this block, longest first, there and back, so that blocks have about equal work. */
static int tile_number(int n)
{
    return n * gridDim.x + (n % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
}

/* The tiles of queries that meet tile j of keys: low .. high - 1. */
static range query_tiles(const attend_args &a, const place &p, int j)
{
    range see = { 0, 0, 0 };
    if (j * BM < p.nk)
        see = queries_of(a, p, j * BM, min(j * BM + BM, p.nk));
    return range{ see.low / BN, see.high > see.low ? (see.high + BN - 1) / BN : see.low / BN, 0 };
}

/* The next task from the n-th tile on. */
static void key_task_set(const attend_args &a, int &n, key_task &t)
{
    int last = key_tile_count(a, BM);
    do
        t.number = tile_number(n++);
    while (t.number < last && !key_place(a, t.number, BM, t.p));
    t.over = t.number >= last;
    if (t.over)
        return;
    range see = query_tiles(a, t.p, t.p.tile);
    t.first = see.low;
    t.count = see.high - see.low;
#pragma unroll
    for (int b = 0; b < ATTEND_BIASES_MAX; b++)
        if (bias_near(b))
            t.corner[b] = corner_of(a, t.p, a.bias[b]) + t.p.tile * BM;
}

/* A tile of queries that the task meets. */
typedef struct query_tile {
    int h, i0;
    bool hides; /* whether some pair of these queries and the keys is hidden */
} query_tile;

static bool queries_hide(const attend_args &a, const place &p, int i0)
{
    if (KEEP || ADDITIVE || i0 + BN > p.nq)
        return true;
    int j0 = p.tile * BM;
    range first = range_of(a, p, i0), end = range_of(a, p, i0 + BN - 1);
    return end.low > j0 || first.high < j0 + BM;
}

/* The n-th one, over all heads. */
static query_tile query_tile_at(const attend_args &a, const key_task &t, int n)
{
    int i0 = (t.first + t.count - 1 - n % t.count) * BN;
    return query_tile{ t.p.h + n / t.count, i0, queries_hide(a, t.p, i0) };
}

typedef struct shared_tiles {
    unsigned short k[BM * D], v[BM * DV], q[STAGES][BN * D], dout[STAGES][BN * DV], ds[2][BM * BN];
    float dq[DQ_STAGES][BN * D];
    float most[STAGES][BN], mean[STAGES][BN]; /* of queries: the log-sum-exp, dout . out */
    float slice[STAGES][near_biases() + 1][2 * SLICE];
    float strip[gradient_biases() ? 8 : 1][8][EDGE + STRIP + EDGE], band[gradient_biases() ? 8 : 1][BAND];
    uint64_t key_full, key_empty, q_full[STAGES], dout_full[STAGES], empty[STAGES];
    uint64_t dq_full[DQ_STAGES], dq_empty[DQ_STAGES], ds_full[2], ds_empty[2], band_full, band_empty, task_full[2],
        task_empty[2];
    key_task next[2];
    query_tile tile[STAGES];
} shared_tiles;
static_assert(sizeof(shared_tiles) <= ATTEND_BACK_HOPPER_BYTES(BM, BN, D, DV, near_biases(), gradient_biases() > 0),
              "what the host gives");

/* ------------------------------------------------ the copying warp */

/* The entry of table n that the slice of the tile of queries from i0 on starts with. */
static int key_slice_start(const attend_bias &b, int corner, int i0)
{
    return max(min(corner - i0 - (BN - 1), (int)b.row - (BM + BN + 4)), 0) & ~3;
}

static void copy_keys(const attend_mapped &x, const place &p, shared_tiles *m)
{
    int head = p.h / x.a.group, token = p.k0 + p.tile * BM;
    barrier_expect(&m->key_full, BM * (D + DV) * 2);
    for (int d = 0; d < D; d += 64)
        copy_box(m->k + d * BM, x.k, &m->key_full, d, token, head, p.key_batch);
    for (int d = 0; d < DV; d += 64)
        copy_box(m->v + d * BM, x.v, &m->key_full, d, token, head, p.key_batch);
}

static void copy_queries(const attend_mapped &x, const key_task &t, shared_tiles *m, int stage)
{
    const place &p = t.p;
    int h = m->tile[stage].h, i0 = m->tile[stage].i0;
    barrier_expect(&m->q_full[stage], BN * D * 2 + near_biases() * 2 * SLICE_BYTES);
    for (int d = 0; d < D; d += 64)
        copy_box(m->q[stage] + d * BN, x.q, &m->q_full[stage], d, p.q0 + i0, h, p.batch);
    copy_slices(x.a, h, m->slice[stage], &m->q_full[stage],
                [&](int b) { return key_slice_start(x.a.bias[b], t.corner[b], i0); });
    barrier_expect(&m->dout_full[stage], BN * DV * 2);
    for (int d = 0; d < DV; d += 64)
        copy_box(m->dout[stage] + d * BN, x.dout, &m->dout_full[stage], d, p.q0 + i0, h, p.batch);
}

/* Lane 0 has the copy engine; all lanes bring the numbers of the queries. */
static void copy_tiles(const attend_mapped &x, shared_tiles *m)
{
    const attend_args &a = x.a;
    int lane = threadIdx.x, met = 0, keys = 0, tile = 0;
    for (int round = 0;; round++) {
        key_task &t = m->next[round % 2];
        barrier_wait(&m->task_empty[round % 2], round / 2 % 2 ^ 1);
        if (lane == 0) {
            key_task_set(a, tile, t);
            barrier_arrive(&m->task_full[round % 2]);
        }
        __syncwarp();
        if (t.over)
            return;
        if (!t.count)
            continue;
        barrier_wait(&m->key_empty, keys++ % 2 ^ 1);
        if (lane == 0)
            copy_keys(x, t.p, m);
        for (int e = 0; e < t.count * a.group; e++, met++) {
            int stage = met % STAGES;
            query_tile next = query_tile_at(a, t, e);
            barrier_wait(&m->empty[stage], met / STAGES % 2 ^ 1);
            if (lane == 0) {
                m->tile[stage] = next;
                copy_queries(x, t, m, stage);
            }
            for (int c = lane; c < BN; c += 32) {
                float2 x = next.i0 + c < t.p.nq ? row_numbers(a, t.p, next.h, next.i0 + c) : float2{ INF, 0 };
                m->most[stage][c] = x.x;
                m->mean[stage][c] = x.y;
            }
            barrier_arrive(&m->dout_full[stage]);
        }
    }
}

/* ------------------------------------------------ the warp that adds to dQ */

/* The tile of keys before this one that meets tile i of queries; -1: there is none. A warp looks at 32 at a time. */
static int tile_before(const attend_args &a, const place &p, int i)
{
    for (int last = p.tile - 1; last >= 0; last -= 32) {
        int j = last - (int)(threadIdx.x % 32);
        range see = query_tiles(a, p, max(j, 0));
        uint32_t found = __ballot_sync(~0u, j >= 0 && see.low <= i && i < see.high);
        if (found)
            return last - (__ffs((int)found) - 1);
    }
    return -1;
}

/* What never comes ends the kernel with an error, not the process in waiting. */
static void turn_wait(const int32_t *turn, int value)
{
    for (int64_t polls = 0; turn_of(turn) != value; polls++)
        if (polls > 1ll << 28)
            __trap();
    turn_come();
}

static void add_queries(const attend_args &a, shared_tiles *m)
{
    int met = 0, lane = threadIdx.x % 32;
    for (int round = 0;; round++) {
        barrier_wait(&m->task_full[round % 2], round / 2 % 2);
        const key_task &t = m->next[round % 2];
        if (t.over)
            return;
        for (int e = 0; e < t.count * a.group; e++, met++) {
            query_tile now = query_tile_at(a, t, e);
            int before = tile_before(a, t.p, now.i0 / BN);
            int64_t slot = query_slot(a, t.p, now.h, now.i0 / BN, BN);
            int32_t *turn = (int32_t *)a.turns + slot;
            float *sum = (float *)a.dq_sum + slot * BN * D;
            int stage = met % DQ_STAGES;
            barrier_wait(&m->dq_full[stage], met / DQ_STAGES % 2);
            if (lane == 0) {
                if (before >= 0) {
                    turn_wait(turn, before + 1);
                    add_bytes(sum, m->dq[stage], BN * D * 4);
                } else {
                    store_bytes(sum, m->dq[stage], BN * D * 4);
                }
                stores_read();
                barrier_arrive(&m->dq_empty[stage]);
                stores_wait();
                turn_give(turn, t.p.tile + 1);
            }
            __syncwarp();
        }
        barrier_arrive(&m->task_empty[round % 2]);
    }
}

/* ------------------------------------------------ the warps that add to tables */

/* The sum of a diagonal of the tile: x, of BM + BN - 1, is key BM - 1 - x at query 0, and so on. */
static float diagonal_sum(const shared_tiles *m, int x)
{
    float sum = 0;
#pragma unroll
    for (int w = 0; w < 8; w++) {
        int at = EDGE + x - (BM - 1) + 16 * w + 8;
        sum += at >= 0 && at < BAND ? m->band[w][at] : 0;
    }
    return sum;
}

/* Thread n of these warps has the entries that are n modulo their number, so no two threads write one. */
typedef struct table_part {
    float *to;       /* entry 0 of the head */
    int base, first; /* the entry of the tile's last query and first key; the thread's first after it */
    float was[(BM + BN - 1 + TABLE_THREADS - 1) / TABLE_THREADS];
} table_part;

static bool part_has(const table_part &p, int e, int row)
{
    int x = p.first + e * TABLE_THREADS;
    return x < BM + BN - 1 && p.base + x >= 0 && p.base + x < row;
}

/* What is there is read before the sums have come. */
static table_part part_read(const attend_args &a, const key_task &t, int thread, int n, query_tile q)
{
    table_part p;
    int row = (int)a.bias[n].row;
    p.to = (float *)a.dtable[n] + ((int64_t)blockIdx.x * a.H + q.h) * row;
    p.base = t.corner[n] - q.i0 - (BN - 1);
    p.first = (thread - p.base % TABLE_THREADS + TABLE_THREADS) % TABLE_THREADS;
#pragma unroll
    for (int e = 0; e < (int)(sizeof p.was / sizeof *p.was); e++)
        p.was[e] = part_has(p, e, row) ? p.to[p.base + p.first + e * TABLE_THREADS] : 0;
    return p;
}

static void part_add(const table_part &p, const shared_tiles *m, int row)
{
#pragma unroll
    for (int e = 0; e < (int)(sizeof p.was / sizeof *p.was); e++) {
        int x = p.first + e * TABLE_THREADS;
        if (part_has(p, e, row))
            p.to[p.base + x] = p.was[e] + diagonal_sum(m, BM + BN - 2 - x);
    }
}

static void add_tables(const attend_args &a, shared_tiles *m)
{
    int met = 0, thread = threadIdx.x - 64;
    for (int round = 0;; round++) {
        barrier_wait(&m->task_full[round % 2], round / 2 % 2);
        const key_task &t = m->next[round % 2];
        if (t.over)
            return;
        for (int e = 0; e < t.count * a.group; e++, met++) {
            query_tile now = query_tile_at(a, t, e);
            table_part part[ATTEND_BIASES_MAX];
#pragma unroll
            for (int n = 0; n < ATTEND_BIASES_MAX; n++)
                if (bias_flags(n) & BIAS_GRADIENT)
                    part[n] = part_read(a, t, thread, n, now);
            barrier_wait(&m->band_full, met % 2);
#pragma unroll
            for (int n = 0; n < ATTEND_BIASES_MAX; n++)
                if (bias_flags(n) & BIAS_GRADIENT)
                    part_add(part[n], m, (int)a.bias[n].row);
            barrier_arrive(&m->band_empty);
        }
        barrier_arrive(&m->task_empty[round % 2]);
    }
}

/* ------------------------------------------------ the computing warpgroups */

/* Biases: pairs of the first row, columns 0 and 1, in falling order. The second row is 8 after it and has the pair of
 * the columns before. */
static void add_key_biases(const attend_args &a, const key_task &t, const float (*slice)[2 * SLICE], float (&s)[NT * 4],
                           int row, int i0)
{
#pragma unroll
    for (int n = 0; n < ATTEND_BIASES_MAX; n++) {
        if (!bias_near(n))
            continue;
        int at = t.corner[n] - i0 - key_slice_start(a.bias[n], t.corner[n], i0) + row - (int)(threadIdx.x % 4) * 2 - 1;
        const float *pairs = slice_pair(*slice++, max(min(at, BM + BN - 8), BN - 8));
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

/* This lane's sums along diagonals: the first key's fragment f lies on the diagonals of the second's fragment f + 1.
 * The diagonals of lanes 4 g .. 4 g + 3 start g after those of lanes 0 .. 3: an even g is made up for here. */
static void leave_strip(float (*strip)[EDGE + STRIP + EDGE], const float (&ds)[NT * 4])
{
    int g = threadIdx.x % 32 / 4;
    float *to = strip[g] + EDGE - g / 2 * 2 + threadIdx.x % 4 * 2;
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

/* The warp's sums along diagonals, of tile `met`: lane l has those from 4 l on. Strips of an odd g are one ahead. */
static void give_band(shared_tiles *m, int met)
{
    int warp = threadIdx.x / 32 - 4, at = min((int)(threadIdx.x % 32) * 4, BAND); /* BAND: zeros */
    float4 even = {}, odd = {};
    __syncwarp();
#pragma unroll
    for (int g = 0; g < 8; g += 2) {
        float4 x = *(const float4 *)(m->strip[warp][g] + at), y = *(const float4 *)(m->strip[warp][g + 1] + at);
        even.x += x.x, even.y += x.y, even.z += x.z, even.w += x.w;
        odd.x += y.x, odd.y += y.y, odd.z += y.z, odd.w += y.w;
    }
    float next = __shfl_down_sync(~0u, odd.x, 1);
    barrier_wait(&m->band_empty, met % 2 ^ 1);
    if (at < BAND)
        *(float4 *)(m->band[warp] + at) = float4{ even.x + odd.y, even.y + odd.z, even.z + odd.w, even.w + next };
    barrier_arrive(&m->band_full);
}

/* dS of this warpgroup to shared memory: rows of 64 queries, swizzled. */
static void leave_scores(unsigned short *ds, const uint32_t (&dscores)[NT * 2], int group)
{
    int lane = threadIdx.x % 32, row = group * 64 + (int)(threadIdx.x % 128 / 32 * 16) + lane % 16;
    uint32_t to = shared_address(ds) + row * 128;
#pragma unroll
    for (int f = 0; f < NT; f += 2)
        store_matrices(to + (((f + lane / 16) ^ row % 8) * 16), dscores + 2 * f);
}

/* dq = dS^T K, the columns of this warpgroup. */
static void begin_queries(float (&dq)[PART / 2], const unsigned short *ds, const shared_tiles *m, int group)
{
    uint64_t x = across(ds, 0), y = across(PART == 64 ? m->k + group * 64 * BM : m->k + group * PART, 0);
    hold(dq);
    products_begin();
#pragma unroll
    for (int n = 0; n < BM / 16; n++)
        multiply_across<PART>(dq, x + n * 2048 / 16, y + n * 2048 / 16, n > 0);
    products_commit();
}

/* dk += dS Q, the keys of this warpgroup. */
static void begin_keys(float (&dk)[D / 2], const shared_tiles *m, int group, int met)
{
    uint64_t x = along(m->ds[met % 2] + group * 64 * BN), y = across(m->q[met % STAGES], BN * 128);
    hold(dk);
    products_begin();
#pragma unroll
    for (int n = 0; n < BN / 16; n++)
        multiply_mixed<D>(dk, x + n * 32 / 16, y + n * 2048 / 16);
    products_commit();
}

/* As attend_dq_finish reads it. */
static void leave_queries(float *to, const float (&dq)[PART / 2], int group)
{
    float4 *at = (float4 *)to + group * (PART / 8) * 128 + threadIdx.x % 128;
#pragma unroll
    for (int f = 0; f < PART / 8; f++)
        at[f * 128] = float4{ dq[4 * f], dq[4 * f + 1], dq[4 * f + 2], dq[4 * f + 3] };
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

/* What a lane of a computing warpgroup works on. */
typedef struct workplace {
    const key_task &t;
    shared_tiles *m;
    int group, row; /* row: of the tile, the lane's first key */
} workplace;

/* From the products s and dp of the met-th tile of queries of this block to the gradients of its scores. dp
 * is still under way. Marks tiles in which a hidden number that is NaN or infinite is multiplied by 0. */
static void weigh_back(const attend_args &a, const workplace &w, float (&s)[NT * 4], float (&dp)[NT * 4],
                       float (&dv)[DV / 2], bool &odd, int met)
{
    const key_task &t = w.t;
    shared_tiles *m = w.m;
    int stage = met % STAGES;
    const query_tile &q = m->tile[stage];
    uint32_t weights[NT * 2], dscores[NT * 2];
    add_key_biases(a, t, m->slice[stage], s, w.row, q.i0);
    if (q.hides) {
        mask_key_scores(a, t.p, s, q.h, t.p.tile * BM + w.row, q.i0 + threadIdx.x % 4 * 2);
        odd = odd || tile_odd(m->q[stage], BN * D) || tile_odd(m->dout[stage], BN * DV);
        if (tile_odd(m->k, BM * D))
            ((int32_t *)a.redo_queries)[1 + query_number(a, t.p, q.h, q.i0 / BM, BM)] = 1;
    }
    const float2 *most = (const float2 *)m->most[stage] + threadIdx.x % 4; /* of queries 2 t and 2 t + 1 */
    const float2 *mean = (const float2 *)m->mean[stage] + threadIdx.x % 4;
#pragma unroll
    for (int f = 0; f < NT; f++) {
        float2 x = most[4 * f];
#pragma unroll
        for (int e = 0; e < 4; e++)
            s[4 * f + e] = exp2_fast(s[4 * f + e] * a.scale_log2 - (e % 2 ? x.y : x.x));
    }
    pack_weights<NT>(s, weights);
    begin_sums<DV>(dv, weights, m->dout[stage]);
    products_wait<gradient_biases() && D == 128 ? 0 : 1>(); /* 0: for want of registers */
    hold(dp);
#pragma unroll
    for (int f = 0; f < NT; f++) {
        float2 x = mean[4 * f];
#pragma unroll
        for (int e = 0; e < 4; e++) { /* a weight of 0 may meet NaN or infinity */
            float &y = s[4 * f + e], d = dp[4 * f + e] - (e % 2 ? x.y : x.x);
            y = y == 0 ? 0 : y * d;
        }
    }
    if (gradient_biases()) {
        __syncwarp();
        leave_strip(m->strip[threadIdx.x / 32 - 4], s);
    }
    pack_weights<NT>(s, dscores);
    products_wait<0>();
    hold(dv);
    barrier_wait(&m->ds_empty[met % 2], met / 2 % 2 ^ 1);
    leave_scores(m->ds[met % 2], dscores, w.group);
    shared_written();
    barrier_arrive(&m->ds_full[met % 2]);
    group_meet(1 + w.group, 128); /* this warpgroup's own rows are there */
}

/* The dQ of tile `met` is in registers; both warpgroups may write another dS where its own was. */
static void give_queries(shared_tiles *m, const float (&dq)[PART / 2], int group, int met)
{
    int stage = met % DQ_STAGES;
    barrier_arrive(&m->ds_empty[met % 2]);
    barrier_wait(&m->dq_empty[stage], met / DQ_STAGES % 2 ^ 1);
    leave_queries(m->dq[stage], dq, group);
    shared_written();
    barrier_arrive(&m->dq_full[stage]);
}

/* One tile of keys. met: tiles of queries that this block met before; keys: tiles of keys. The product dK of a tile of
 * queries runs with those of the next, dQ with those of the one after it: so warpgroups need not keep step. */
static void compute_task(const attend_args &a, const key_task &t, shared_tiles *m, int group, int row, int met,
                         int keys)
{
    const workplace w = { t, m, group, row };
    const unsigned short *own_keys = m->k + group * 64 * 64, *own_values = m->v + group * 64 * 64;
    int total = t.count * a.group;
    float s[NT * 4], dp[NT * 4], dk[D / 2], dv[DV / 2], dq[PART / 2];
    bool odd = false;
#pragma unroll
    for (int e = 0; e < D / 2; e++)
        dk[e] = 0;
#pragma unroll
    for (int e = 0; e < DV / 2; e++)
        dv[e] = 0;
    if (total) {
        barrier_wait(&m->key_full, keys % 2);
        barrier_wait(&m->q_full[met % STAGES], met / STAGES % 2);
        begin_products<D>(s, own_keys, m->q[met % STAGES], false);
        barrier_wait(&m->dout_full[met % STAGES], met / STAGES % 2);
        begin_products<DV>(dp, own_values, m->dout[met % STAGES], false);
        products_wait<1>();
        hold(s);
        weigh_back(a, w, s, dp, dv, odd, met);
        for (int n = 1; n < total; n++) {
            int last = met++, stage = met % STAGES;
            if (n > 1)
                barrier_wait(&m->ds_full[met % 2], met / 2 % 2 ^ 1);
            begin_queries(dq, m->ds[met % 2], m, group); /* of the tile before the last; of none, for nothing */
            begin_keys(dk, m, group, last);
            barrier_wait(&m->q_full[stage], met / STAGES % 2);
            begin_products<D>(s, own_keys, m->q[stage], false);
            if (gradient_biases())
                give_band(m, last);
            products_wait<2>();
            hold(dq);
            if (n > 1)
                give_queries(m, dq, group, met - 2);
            barrier_wait(&m->dout_full[stage], met / STAGES % 2);
            begin_products<DV>(dp, own_values, m->dout[stage], false);
            products_wait<1>();
            hold(s);
            hold(dk);
            barrier_arrive(&m->empty[last % STAGES]);
            weigh_back(a, w, s, dp, dv, odd, met);
        }
        if (total > 1)
            barrier_wait(&m->ds_full[(met - 1) % 2], (met - 1) / 2 % 2);
        begin_queries(dq, m->ds[(met + 1) % 2], m, group);
        begin_keys(dk, m, group, met);
        if (gradient_biases())
            give_band(m, met);
        products_wait<1>();
        hold(dq);
        if (total > 1)
            give_queries(m, dq, group, met - 1);
        barrier_wait(&m->ds_full[met % 2], met / 2 % 2);
        begin_queries(dq, m->ds[met % 2], m, group);
        products_wait<0>();
        hold(dq);
        hold(dk);
        barrier_arrive(&m->empty[met % STAGES]);
        give_queries(m, dq, group, met);
        barrier_arrive(&m->key_empty);
    }
    store_keys(a, t.p, a.dk, dk, D, t.p.tile * BM + row, a.scale);
    store_keys(a, t.p, a.dv, dv, DV, t.p.tile * BM + row, 1);
    if (odd)
        ((int32_t *)a.redo)[1 + t.number] = 1;
}

static void compute_tasks(const attend_args &a, shared_tiles *m)
{
    int group = threadIdx.x / 128 - 1, met = 0, keys = 0;
    int row = group * 64 + (int)(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4);
    for (int round = 0;; round++) {
        barrier_wait(&m->task_full[round % 2], round / 2 % 2);
        const key_task &t = m->next[round % 2];
        if (t.over)
            return;
        compute_task(a, t, m, group, row, met, keys);
        met += t.count * a.group;
        keys += t.count > 0;
        barrier_arrive(&m->task_empty[round % 2]);
    }
}

extern "C" __global__ void __launch_bounds__(384, 1) attend_back_hopper(const __grid_constant__ attend_mapped x)
{
    shared_tiles *m = shared_memory<shared_tiles>();
    if (threadIdx.x == 0) {
        barrier_init(&m->key_full, 1);
        barrier_init(&m->key_empty, COMPUTING);
        for (int n = 0; n < STAGES; n++) {
            barrier_init(&m->q_full[n], 1);
            barrier_init(&m->dout_full[n], 1 + 32);
            barrier_init(&m->empty[n], COMPUTING);
        }
        for (int n = 0; n < DQ_STAGES; n++) {
            barrier_init(&m->dq_full[n], COMPUTING);
            barrier_init(&m->dq_empty[n], 1);
        }
        barrier_init(&m->band_full, COMPUTING);
        barrier_init(&m->band_empty, TABLE_THREADS);
        for (int n = 0; n < 2; n++) {
            barrier_init(&m->ds_full[n], COMPUTING);
            barrier_init(&m->ds_empty[n], COMPUTING);
            barrier_init(&m->task_full[n], 1);
            barrier_init(&m->task_empty[n], COMPUTING + 32 + (gradient_biases() ? TABLE_THREADS : 0));
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        shared_written();
    }
    if (gradient_biases())
        for (int n = threadIdx.x; n < (int)(sizeof m->strip / sizeof(float)); n += blockDim.x)
            (&m->strip[0][0][0])[n] = 0;
    __syncthreads();
    if (threadIdx.x < 128) {
        registers_less<40>();
        if (threadIdx.x < 32)
            copy_tiles(x, m);
        else if (threadIdx.x < 64)
            add_queries(x.a, m);
        else if (gradient_biases())
            add_tables(x.a, m);
    } else {
        registers_more<232>();
        compute_tasks(x.a, m);
    }
}
