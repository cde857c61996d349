/* SPDX-License-Identifier: MIT
 *
 * What attention's kernels on Hopper share: tiles of queries to compute, slices of tables, weights for the matrix
 * units. */
#define NT (BN / 8)
#define SLICE ATTEND_SLICE(BM, BN) /* the second copy starts in another half of the banks */
#define SLICE_BYTES ((BM + BN + 4) * 4)

constexpr int near_biases()
{
    int count = 0;
    for (int n = 0; n < ATTEND_BIASES_MAX; n++)
        count += bias_near(n);
    return count;
}
constexpr bool near_first()
{
    for (int n = 0; n < ATTEND_BIASES_MAX; n++)
        if (bias_near(n) && bias_first(n))
            return true;
    return false;
}

/* A tile of queries to compute. */
typedef struct task {
    bool over; /* there are no more */
    place p;
    key_tiles tiles;
    int corner[ATTEND_BIASES_MAX]; /* of tables: the entry for the tile's first query and key 0 */
} task;

static int corner_of(const attend_args &a, const place &p, const attend_bias &b)
{
    int64_t at = b.zero - position_of(a.q_at, p.batch, p.q0 + p.i0, 0) + position_of(a.k_at, p.key_batch, p.k0, 0);
    return (int)max(min(at, 1ll << 30), -1ll << 30);
}

/* The entry that the slice of tile kt starts with, a multiple of 4. */
static int slice_start(const attend_bias &b, int corner, int kt)
{
    return max(min(corner + kt * BN - (BM - 1), (int)b.row - (BM + BN + 4)), 0) & ~3;
}

static void task_set(const attend_args &a, const place &p, task &t)
{
    t.p = p;
    t.tiles = tiles_of(a, p, BM);
#pragma unroll
    for (int n = 0; n < ATTEND_BIASES_MAX; n++)
        if (bias_near(n))
            t.corner[n] = corner_of(a, p, a.bias[n]);
}

/* A slice of each table, twice, one entry apart; `full` is told when they are there. */
template <typename START>
static void copy_slices(const attend_args &a, int head, float (*slice)[2 * SLICE], uint64_t *full, START start)
{
#pragma unroll
    for (int n = 0; n < ATTEND_BIASES_MAX; n++) {
        if (!bias_near(n))
            continue;
        const attend_bias &b = a.bias[n];
        const float *table = (const float *)b.table + head * b.row + start(n);
        copy_bytes(*slice, table, SLICE_BYTES, full);
        copy_bytes(*slice + SLICE, table + a.H * b.row, SLICE_BYTES, full);
        slice++;
    }
}

/* The pair of floats at a place of a slice. */
static const float *slice_pair(const float *slice, int at)
{
    return at % 2 ? slice + SLICE + at - 1 : slice + at;
}

/* Where add_near finds its pairs: row is the lane's first query, of the tile. Distances outside the plan read something
 * of the slice. */
static const float *slice_pairs(const attend_args &a, const task &t, const float *slice, int row, int n, int kt)
{
    int at = t.corner[n] + kt * BN - slice_start(a.bias[n], t.corner[n], kt) - row + (int)(threadIdx.x % 4) * 2;
    return slice_pair(slice, max(min(at, BM + 8), 8));
}

/* What products are added to: biases that enter with them. */
static void start_scores(const attend_args &a, const task &t, const float (*slice)[2 * SLICE], float (&s)[NT * 4],
                         int row, int kt)
{
    bool first = true;
#pragma unroll
    for (int n = 0; n < ATTEND_BIASES_MAX; n++) {
        if (!bias_near(n))
            continue;
        if (bias_first(n)) {
            add_near<NT>(s, slice_pairs(a, t, *slice, row, n, kt), bias_factor(a, n), first);
            first = false;
        }
        slice++;
    }
}

/* s = or += 64 rows of A, of a tile of BM, times the BN rows of B: tiles along the head, WIDTH wide. */
template <int WIDTH>
static void begin_products(float (&s)[NT * 4], const unsigned short *A, const unsigned short *B, bool add)
{
    uint64_t x = along(A), y = along(B);
    hold(s);
    products_begin();
#pragma unroll
    for (int d = 0; d < WIDTH / 16; d++)
        multiply<BN>(s, x + (d / 4 * BM * 128 + d % 4 * 32) / 16, y + (d / 4 * BN * 128 + d % 4 * 32) / 16,
                     add || d > 0);
    products_commit();
}

/* x += weights times the BN rows of B, across the head. */
template <int WIDTH>
static void begin_sums(float (&x)[WIDTH / 2], const uint32_t (&weights)[NT * 2], const unsigned short *B)
{
    uint64_t y = across(B, BN * 128);
    hold(x);
    products_begin();
#pragma unroll
    for (int n = 0; n < BN / 16; n++)
        multiply_values<WIDTH>(x, weights + 4 * n, y + n * 2048 / 16);
    products_commit();
}

/* Whether one of `count` numbers of a tile is NaN or infinite: where keys are hidden, its product with 0 would spread.
 * The threads of a warpgroup share the work. */
static bool tile_odd(const void *tile, int count)
{
    const uint4 *v = (const uint4 *)tile;
    uint32_t bits = TYPE == 1 ? 0x7c007c00u : 0x7f807f80u;
    bool odd = false;
    for (int n = threadIdx.x % 128; n < count / 8; n += 128) {
        uint4 x = v[n];
        const uint32_t part[4] = { x.x, x.y, x.z, x.w };
#pragma unroll
        for (int e = 0; e < 4; e++)
            odd = odd || (part[e] & bits & 0xffff) == (bits & 0xffff) ||
                  (part[e] & bits & 0xffff0000) == (bits & 0xffff0000);
    }
    return odd;
}

/* As the matrix units take them from registers. */
template <int N> static void pack_weights(const float (&s)[N * 4], uint32_t (&weights)[N * 2])
{
#pragma unroll
    for (int n = 0; n < N * 2; n++)
        weights[n] = pack_numbers(s[2 * n], s[2 * n + 1], TYPE);
}
