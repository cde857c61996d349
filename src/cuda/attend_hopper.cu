/* SPDX-License-Identifier: MIT
 *
 * Attention on Hopper: one warp copies tiles of keys and values to shared memory by the copy engine, the other
 * warpgroups have 64 queries each and multiply by wgmma. The products of the next tile of scores run while the weights
 * of the last multiply its values; two warpgroups take turns, so that one has the matrix units while the other has the
 * exponentials. D and DV are 64 or 128, TYPE is 1 or 2. Tiles lie in shared memory as parts of 64 columns, rows of 128
 * bytes, swizzled. A bias by distance comes with its keys: the BM + BN entries of the table that the tile needs, twice,
 * so that a pair of floats begins at an even place whatever its distance. The products are added to it. A block
 * computes several tiles of queries, so that the copies of the next run while the last is written; it takes the next
 * one from a counter, the first number of `redo`, whose others are flags of tiles that attend_simt computes again. */
#define GROUPS (BM / 64)          /* computing warpgroups */
#define TURN(group) (1 + (group)) /* named barriers: a warpgroup's turn to multiply; places of keys */
#define FILLED(group) (1 + GROUPS + (group))
#define STAGES ATTEND_STAGES
typedef struct shared_tiles {
    unsigned short q[BM * D], k[STAGES][BN * D], v[STAGES][BN * DV];
    float slice[STAGES][near_biases() + 1][2 * SLICE];
    uint64_t task_full[2], task_empty[2], q_full, q_empty, k_full[STAGES], k_empty[STAGES], v_full[STAGES],
        v_empty[STAGES];
    task next[2];
    key_places places[GROUPS];
} shared_tiles;
static_assert(sizeof(shared_tiles) <= ATTEND_HOPPER_BYTES(BM, BN, D, DV, near_biases()), "what the host gives");

/* ------------------------------------------------ the copying warp */

static void copy_tiles(const attend_mapped &x, shared_tiles *m)
{
    const attend_args &a = x.a;
    place p;
    int met = 0, queries = 0, last = tile_count(a);
    for (int round = 0;;) {
        int number = atomicAdd((int32_t *)a.redo, 1);
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
        barrier_expect(&m->q_full, BM * D * 2);
        for (int d = 0; d < D; d += 64)
            copy_box(m->q + d * BM, x.q, &m->q_full, d, p.q0 + p.i0, p.h, p.batch);
        for (int n = 0; n < t.tiles.count; n++, met++) {
            int stage = met % STAGES, phase = met / STAGES % 2, kt = tile_at(t.tiles, n), token = p.k0 + kt * BN;
            barrier_wait(&m->k_empty[stage], phase ^ 1);
            barrier_expect(&m->k_full[stage], BN * D * 2 + near_biases() * 2 * SLICE_BYTES);
            for (int d = 0; d < D; d += 64)
                copy_box(m->k[stage] + d * BN, x.k, &m->k_full[stage], d, token, p.h / a.group, p.key_batch);
            copy_slices(a, p.h, m->slice[stage], &m->k_full[stage],
                        [&](int e) { return slice_start(a.bias[e], t.corner[e], kt); });
            barrier_wait(&m->v_empty[stage], phase ^ 1);
            barrier_expect(&m->v_full[stage], BN * DV * 2);
            for (int d = 0; d < DV; d += 64)
                copy_box(m->v[stage] + d * BN, x.v, &m->v_full[stage], d, token, p.h / a.group, p.key_batch);
        }
    }
}

/* ------------------------------------------------ the computing warpgroups */

/* What a warpgroup works on. */
typedef struct workplace {
    shared_tiles *m;
    int group, row; /* row: of the tile, the lane's first query */
    int i[2];
} workplace;

static void store_outputs(const attend_args &a, const place &p, const workplace &w, const float (&o)[DV / 2],
                          const float (&by)[2])
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        int token = query_token(a, p, w.i[r]);
        if (token < 0)
            continue;
        int64_t at = p.batch * a.out.batch + token * a.out.token + p.h * a.out.head + threadIdx.x % 4 * 2;
#pragma unroll
        for (int f = 0; f < DV / 8; f++) {
            float x = by[r] == 0 ? 0 : o[4 * f + 2 * r] * by[r], y = by[r] == 0 ? 0 : o[4 * f + 2 * r + 1] * by[r];
            store_pair(a.out.data, at + 8 * f, x, y, OUT_TYPE);
        }
    }
}

/* From products to weights of tile n, the met-th of this block. */
static void weigh(const attend_args &a, const task &t, const workplace &w, float (&s)[NT * 4], sums &st,
                  float (&rescale)[2], bool &odd, int n, int met)
{
    const place &p = t.p;
    int stage = met % STAGES, kt = tile_at(t.tiles, n), slot = 0;
    bool hides = tile_hides(t.tiles, kt);
    const float *near[ATTEND_BIASES_MAX] = {};
    if (!CAP)
        barrier_arrive(&w.m->k_empty[stage]);
    if (CAP)
#pragma unroll
        for (int e = 0; e < ATTEND_BIASES_MAX; e++)
            if (bias_near(e))
                near[e] = slice_pairs(a, t, w.m->slice[stage][slot++], w.row, e, kt);
    if (PLACES) {
        group_meet(FILLED(w.group), 128); /* all have read those of the last tile */
        places_fill(a, p, w.m->places[w.group], kt, threadIdx.x % 128, 128);
        group_meet(FILLED(w.group), 128);
    }
    finish_products<NT>(a, p, s, w.i, kt * BN + threadIdx.x % 4 * 2, w.m->places[w.group]);
    finish_scores<NT>(a, p, s, w.i, kt * BN + threadIdx.x % 4 * 2, hides, near, w.m->places[w.group]);
    if (CAP)
        barrier_arrive(&w.m->k_empty[stage]);
    if (hides) {
        barrier_wait(&w.m->v_full[stage], met / STAGES % 2);
        odd = odd || tile_odd(w.m->v[stage], BN * DV);
    }
    soften<NT>(a, s, st, rescale);
}

/* One tile of queries. met: tiles of keys that this block met before; queries: tiles of queries. */
static void compute_tile(const attend_args &a, const task &t, workplace &w, int met, int queries)
{
    const place &p = t.p;
    const key_tiles &tiles = t.tiles;
    shared_tiles *m = w.m;
    w.i[0] = p.i0 + w.row;
    w.i[1] = w.i[0] + 8;
    float s[NT * 4], o[DV / 2], rescale[2];
    uint32_t weights[NT * 2];
    sums st = { { -INF, -INF }, { 0, 0 } };
    bool odd = false;
#pragma unroll
    for (int e = 0; e < DV / 2; e++)
        o[e] = 0;
    barrier_wait(&m->q_full, queries % 2);
    barrier_wait(&m->k_full[met % STAGES], met / STAGES % 2);
    start_scores(a, t, m->slice[met % STAGES], s, w.row, tile_at(tiles, 0));
    group_meet(TURN(w.group), 256);
    begin_products<D>(s, m->q + w.group * 64 * 64, m->k[met % STAGES], near_first());
    group_signal(TURN((w.group + 1) % GROUPS), 256);
    products_wait<0>();
    hold(s);
    weigh(a, t, w, s, st, rescale, odd, 0, met);
    pack_weights<NT>(s, weights);
    for (int n = 1; n < tiles.count; n++) {
        met++;
        int stage = met % STAGES, last = (met - 1) % STAGES;
        barrier_wait(&m->k_full[stage], met / STAGES % 2);
        start_scores(a, t, m->slice[stage], s, w.row, tile_at(tiles, n));
        barrier_wait(&m->v_full[last], (met - 1) / STAGES % 2);
        group_meet(TURN(w.group), 256);
        begin_products<D>(s, m->q + w.group * 64 * 64, m->k[stage], near_first());
        begin_sums<DV>(o, weights, m->v[last]);
        group_signal(TURN((w.group + 1) % GROUPS), 256);
        products_wait<1>();
        hold(s);
        weigh(a, t, w, s, st, rescale, odd, n, met);
        products_wait<0>();
        hold(o);
        barrier_arrive(&m->v_empty[last]);
#pragma unroll
        for (int e = 0; e < DV / 2; e++)
            o[e] *= rescale[e % 4 / 2];
        pack_weights<NT>(s, weights);
    }
    barrier_arrive(&m->q_empty);
    barrier_wait(&m->v_full[met % STAGES], met / STAGES % 2);
    begin_sums<DV>(o, weights, m->v[met % STAGES]);
    products_wait<0>();
    hold(o);
    barrier_arrive(&m->v_empty[met % STAGES]);
    float by[2];
    close_sums(a, p, st, w.i, by);
    store_outputs(a, p, w, o, by);
    if (odd)
        ((int32_t *)a.redo)[1 + p.tile] = 1;
}

/* Queries that see no key, and padding. */
static void store_nothing(const attend_args &a, const place &p)
{
    int t = threadIdx.x % 4;
    for (int r = threadIdx.x / 4 - 32; r < BM; r += 32 * GROUPS) {
        int token = query_token(a, p, p.i0 + r);
        if (token < 0)
            continue;
        int64_t at = p.batch * a.out.batch + token * a.out.token + p.h * a.out.head;
        for (int d = 2 * t; d < DV; d += 8)
            store_pair(a.out.data, at + d, 0, 0, OUT_TYPE);
        if (t == 0)
            store_lse(a, p, token, p.i0 + r < p.nq && a.sinks ? ((const float *)a.sinks)[p.h] : -INF);
    }
}

static void compute_tiles(const attend_args &a, shared_tiles *m)
{
    int group = threadIdx.x / 128 - 1, met = 0, queries = 0;
    workplace w = { m, group, group * 64 + (int)(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4), { 0, 0 } };
    if (group == GROUPS - 1) /* the first warpgroup begins */
        group_signal(TURN(0), 256);
    for (int round = 0;; round++) {
        barrier_wait(&m->task_full[round % 2], round / 2 % 2);
        const task &t = m->next[round % 2];
        if (t.over)
            break;
        if (t.tiles.count) {
            compute_tile(a, t, w, met, queries++);
            met += t.tiles.count;
        } else {
            store_nothing(a, t.p);
        }
        barrier_arrive(&m->task_empty[round % 2]);
    }
    if (group == 0) /* the last one's signal has nobody else to wait for it */
        group_meet(TURN(0), 256);
}

extern "C" __global__ void __launch_bounds__(128 * (GROUPS + 1), 1)
    attend_hopper(const __grid_constant__ attend_mapped x)
{
    shared_tiles *m = shared_memory<shared_tiles>();
    if (threadIdx.x == 0) {
        for (int n = 0; n < 2; n++) {
            barrier_init(&m->task_full[n], 1);
            barrier_init(&m->task_empty[n], GROUPS * 128);
        }
        barrier_init(&m->q_full, 1);
        barrier_init(&m->q_empty, GROUPS * 128);
        for (int n = 0; n < STAGES; n++) {
            barrier_init(&m->k_full[n], 1);
            barrier_init(&m->v_full[n], 1);
            barrier_init(&m->k_empty[n], GROUPS * 128);
            barrier_init(&m->v_empty[n], GROUPS * 128);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        shared_written();
    }
    __syncthreads();
    if (threadIdx.x < 128) {
        registers_less<GROUPS == 3 ? 32 : 56>();
        if (threadIdx.x == 0)
            copy_tiles(x, m);
    } else {
        registers_more<GROUPS == 3 ? 160 : 224>();
        compute_tiles(x.a, m);
    }
}
