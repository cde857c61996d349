/* SPDX-License-Identifier: MIT
 *
 * What the kernels of attention share: sequences, masks and biases, on the scores that one warp holds. A warp has 16
 * queries and 8 NT keys: element e of fragment n of lane 4 g + t is query g + 8 (e / 2), key 8 n + 2 t + e % 2, the
 * layout of the matrix units. Scores are products q.k: what comes after the scale is divided by it. Only where there is
 * a soft cap are they scaled, in units of log 2.
 *
 * Macros: TYPE, OUT_TYPE (0 float32, 1 float16, 2 bfloat16), D, DV; BM, BN: queries and keys of a tile; CAP; KEEP;
 * ADDITIVE (0: none, else 1 + its type); BY_POSITION; BIAS0 .. BIAS3 (attend_args.h); LSE_DOUBLE; NEAR: entries of
 * tables that a tile needs lie in shared memory. */
#define LOG2_E 1.4426950408889634f
#define LN_2 0.6931471805599453f
#define INF __int_as_float(0x7f800000)
#define FLOAT_MAX __int_as_float(0x7f7fffff)

constexpr int bias_flags(int n)
{
    return n == 0 ? BIAS0 : n == 1 ? BIAS1 : n == 2 ? BIAS2 : BIAS3;
}
/* Whether bias n enters with the products; else after the cap. */
constexpr bool bias_first(int n)
{
    return (bias_flags(n) & BIAS_ON) && (!CAP || (bias_flags(n) & BIAS_BEFORE));
}
/* Whether its entries lie in shared memory. */
constexpr bool bias_near(int n)
{
    return NEAR && (bias_flags(n) & BIAS_ON) && !(bias_flags(n) & (BIAS_SCATTER | BIAS_KNOTS));
}

/* ------------------------------------------------ numbers */

static float half_to_float(uint32_t h)
{
    float x;
    asm("{.reg .f16 h; mov.b16 h, %1; cvt.f32.f16 %0, h;}" : "=f"(x) : "h"((unsigned short)h));
    return x;
}
static float load_number(uint64_t data, int64_t at, int type)
{
    if (type == 0)
        return ((const float *)data)[at];
    uint32_t bits = ((const unsigned short *)data)[at];
    return type == 1 ? half_to_float(bits) : __uint_as_float(bits << 16);
}
/* Two numbers in one register, the first in the low half; rounded to nearest. */
static uint32_t pack_numbers(float low, float high, int type)
{
    uint32_t r;
    if (type == 1)
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    else
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
    return r;
}
/* And back. */
static float2 unpack_numbers(uint32_t both, int type)
{
    if (type == 1)
        return float2{ half_to_float(both & 0xffff), half_to_float(both >> 16) };
    return float2{ __uint_as_float(both << 16), __uint_as_float(both & 0xffff0000) };
}
static void store_pair(uint64_t data, int64_t at, float x, float y, int type)
{
    if (type == 0) {
        ((float *)data)[at] = x;
        ((float *)data)[at + 1] = y;
        return;
    }
    uint32_t both = pack_numbers(x, y, type);
    unsigned short *to = (unsigned short *)data + at;
    if ((uint64_t)to % 4 == 0) {
        *(uint32_t *)to = both;
    } else {
        to[0] = (unsigned short)both;
        to[1] = (unsigned short)(both >> 16);
    }
}
static float exp2_fast(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* ------------------------------------------------ positions */

static int64_t position_of(const attend_positions &p, int batch, int64_t token, int axis)
{
    int64_t at = p.start + token * p.step;
    if (p.type) {
        int64_t n = batch * p.batch + token * p.token + axis * p.axis;
        at += p.type == 1 ? ((const int64_t *)p.data)[n] : ((const int32_t *)p.data)[n];
    }
    return at;
}

/* The sum over axes of weight times position. */
static int64_t weighted(const attend_positions &p, int batch, int64_t token, const int64_t *weight)
{
    int64_t sum = 0;
#pragma unroll 1
    for (int a = 0; a < p.axes; a++)
        if (weight[a])
            sum += weight[a] * position_of(p, batch, token, a);
    return sum;
}

/* ------------------------------------------------ sequences and tiles */

/* Row `batch` of the queries' views and key_batch of the keys', tokens q0 .. q0 + nq - 1 and k0 .. k0 + nk - 1; head h;
 * queries from i0 on. */
typedef struct place {
    int sequence, batch, key_batch, h, i0, tile;
    int q0, nq, k0, nk;
    bool packed, left;
    int64_t offset; /* query i is at key i + offset, for masks by index */
} place;

/* Wrong numbers do not lead out of the view. */
static void stretch(const attend_lengths &l, int s, int tokens, int &first, int &count)
{
    if (l.offset) {
        const int64_t *o = (const int64_t *)l.offset, all = tokens;
        first = (int)min(max(o[s], 0ll), all);
        count = (int)min(max(o[s + 1] - first, 0ll), all - first);
        return;
    }
    count = tokens;
    if (l.length) {
        int64_t n = ((const int64_t *)l.length)[s];
        count = (int)(n < 0 ? 0 : n > tokens ? tokens : n);
    }
    first = l.padded_left ? tokens - count : 0;
}

static void place_offset(const attend_args &a, place &p)
{
    p.offset = a.align == 1 ? -a.keys_before : p.nk + a.keys_after - p.nq;
    if (a.align == 3)
        p.offset = position_of(a.q_at, p.batch, p.q0, 0) - position_of(a.k_at, p.key_batch, p.k0, 0);
}

/* Tiles of queries of all sequences and heads. */
static int tile_count(const attend_args &a)
{
    return a.tiles * a.H * (a.q_lengths.offset ? 1 : a.sequences);
}

/* The sequence of tile n where sequences are packed: those of sequence s are numbered from offset[s] / size + s on. */
static int sequence_of(const int64_t *offset, int sequences, int size, int n)
{
    int low = 0, high = sequences; /* the last sequence whose first tile is at most n */
    while (low + 1 < high) {
        int mid = (low + high) / 2;
        if ((int)(offset[mid] / size) + mid <= n)
            low = mid;
        else
            high = mid;
    }
    return low;
}

/* Tile n of queries. */
static bool place_find(const attend_args &a, int n, int size, place &p)
{
    int group = n / (a.tiles * a.head_group), rest = n % (a.tiles * a.head_group);
    int heads = min(a.head_group, a.H * (a.q_lengths.offset ? 1 : a.sequences) - group * a.head_group);
    int m = a.tiles - 1 - rest / heads, bh = group * a.head_group + rest % heads;
    int s = bh / a.H;
    p.h = bh % a.H;
    p.packed = a.q_lengths.offset != 0;
    p.left = a.q_lengths.padded_left;
    p.batch = p.packed ? 0 : s;
    if (p.packed) {
        s = sequence_of((const int64_t *)a.q_lengths.offset, a.sequences, size, m);
        m -= (int)(((const int64_t *)a.q_lengths.offset)[s] / size) + s;
    }
    p.sequence = s;
    p.tile = n;
    p.i0 = m * size;
    stretch(a.q_lengths, s, a.Tq, p.q0, p.nq);
    stretch(a.k_lengths, s, a.Tk, p.k0, p.nk);
    p.key_batch = a.k_lengths.offset ? 0 : s;
    place_offset(a, p);
    return p.packed ? p.i0 < p.nq : true;
}

/* The token of query i; past the sequence, that of the padding, which is written too. -1: there is none. */
static int query_token(const attend_args &a, const place &p, int i)
{
    if (i < p.nq)
        return p.q0 + i;
    if (p.packed || i >= a.Tq)
        return -1;
    return p.left ? i - p.nq : i;
}

/* ------------------------------------------------ masks */

/* Keys low .. high - 1, and those before first, are seen by query i, as far as ranges tell. */
typedef struct range {
    int low, high, first;
} range;

/* Keys of the sequence before the first one here, for a count from the sequence's start. */
static int64_t keys_before(const attend_args &a, const place &p)
{
    return a.keys_before + (a.align == 3 ? p.k0 : 0);
}

static range range_of(const attend_args &a, const place &p, int i)
{
    range r = { 0, p.nk, 0 };
    if (BY_POSITION)
        return r;
    int64_t at = i + p.offset, high = p.nk, low = 0;
    if (a.causal && at + 1 < high)
        high = at + 1;
    if (a.window) {
        low = max(low, at - a.window + 1);
        high = min(high, at + a.window);
    }
    high = max(high, (int64_t)0);
    r.high = (int)high;
    r.low = (int)min(low, high);
    if (a.window && a.first_keys) {
        int64_t first = min(max(a.first_keys - keys_before(a, p), (int64_t)0), (int64_t)p.nk);
        r.first = (int)(a.causal ? min(first, max(min(at + 1, (int64_t)p.nk), (int64_t)0)) : first);
    }
    return r;
}

/* The tiles of keys that a tile of queries meets: 0 .. before - 1, then from low on; `count` in all. */
typedef struct key_tiles {
    int before, low, count;
    int all_low, all_high; /* keys that all these queries see, as far as ranges tell */
} key_tiles;

static key_tiles tiles_of(const attend_args &a, const place &p, int rows)
{
    key_tiles t = { 0, 0, 0, 0, 0 };
    int last = min(p.i0 + rows, p.nq) - 1;
    if (last < p.i0)
        return t;
    range first = range_of(a, p, p.i0), end = range_of(a, p, last);
    int low = first.low / BN, start = (end.first + BN - 1) / BN, high = max((end.high + BN - 1) / BN, start);
    t.before = min(start, low);
    t.low = low;
    t.count = t.before + max(high - low, 0);
    t.all_low = end.low;
    t.all_high = first.high;
    return t;
}

static int tile_at(const key_tiles &t, int n)
{
    return n < t.before ? n : t.low + n - t.before;
}

/* Whether some pair of these queries and the keys of tile kt is hidden. */
static bool tile_hides(const key_tiles &t, int kt)
{
    return BY_POSITION || KEEP || ADDITIVE || kt * BN < t.all_low || kt * BN + BN > t.all_high;
}

static bool sees_position(const attend_args &a, int64_t q, int64_t k)
{
    int64_t back = q - k;
    if (a.causal && back < 0)
        return false;
    return !a.window || (back < a.window && -back < a.window) || (k >= 0 && k < a.first_keys);
}

/* Positions of a tile's keys, where something else than their index counts: by threads `thread` of `threads`. */
constexpr int scatter_biases()
{
    int count = 0;
    for (int n = 0; n < ATTEND_BIASES_MAX; n++)
        count += (bias_flags(n) & BIAS_SCATTER) != 0;
    return count;
}
constexpr bool PLACES = BY_POSITION || scatter_biases() > 0;
typedef struct key_places {
    int64_t first[PLACES ? BN : 1];                       /* coordinates */
    int64_t entry[scatter_biases() + 1][PLACES ? BN : 1]; /* of tables, for a query at 0 */
} key_places;

static void places_fill(const attend_args &a, const place &p, key_places &to, int kt, int thread, int threads)
{
    for (int c = thread; PLACES && c < BN; c += threads) {
        int token = p.k0 + max(min(kt * BN + c, p.nk - 1), 0), slot = 0;
        to.first[c] = position_of(a.k_at, p.key_batch, token, 0);
#pragma unroll
        for (int n = 0; n < ATTEND_BIASES_MAX; n++)
            if (bias_flags(n) & BIAS_SCATTER)
                to.entry[slot++][c] = a.bias[n].zero + weighted(a.k_at, p.key_batch, token, a.bias[n].weight);
    }
}
constexpr int scatter_slot(int n)
{
    int slot = 0;
    for (int m = 0; m < n; m++)
        slot += (bias_flags(m) & BIAS_SCATTER) != 0;
    return slot;
}

/* Whether query i of head h sees key j by the masks in memory; *x: its score, to which an additive mask adds. */
static bool sees_more(const attend_args &a, const place &p, int h, int i, int j, float *x)
{
    int row = p.q0 + min(i, p.nq - 1), column = p.k0 + min(j, p.nk - 1);
    if (KEEP && !((const uint8_t *)a.keep.data)[p.batch * a.keep.batch + row * a.keep.token + h * a.keep.head + column])
        return false;
    if (!ADDITIVE)
        return true;
    int64_t n = p.batch * a.additive.batch + row * a.additive.token + h * a.additive.head + column;
    float more = load_number(a.additive.data, n, ADDITIVE - 1);
    float add = more * (CAP ? LOG2_E : 1 / a.scale); /* the least number there is hides nothing: only -inf does */
    *x += fabsf(add) == INF && fabsf(more) != INF ? copysignf(FLOAT_MAX, add) : add;
    return more != -INF;
}

/* Scores of keys that a query does not see become -inf. i: the queries of elements 0 and 2; j0: the key of element 0.
 */
template <int NT>
static void mask_scores(const attend_args &a, const place &p, float (&s)[NT * 4], const int (&i)[2], int j0,
                        const key_places &keys)
{
#pragma unroll
    for (int r = 0; r < 2; r++) {
        range see = range_of(a, p, i[r]);
        int low = see.low - j0, high = see.high - j0, first = see.first - j0;
        int64_t at = BY_POSITION ? position_of(a.q_at, p.batch, p.q0 + min(i[r], p.nq - 1), 0) : 0;
#pragma unroll
        for (int n = 0; n < NT; n++)
#pragma unroll
            for (int e = 0; e < 2; e++) {
                float &x = s[4 * n + 2 * r + e];
                int j = 8 * n + e;
                bool seen = (j >= low && j < high) || j < first;
                if (BY_POSITION)
                    seen = seen && sees_position(a, at, keys.first[j0 % BN + j]);
                if ((KEEP || ADDITIVE) && seen)
                    seen = sees_more(a, p, p.h, i[r], j0 + j, &x);
                x = seen ? x : -INF;
            }
    }
}

/* ------------------------------------------------ biases */

/* One query's way along the knots of a bias: between knots it is a line. */
typedef struct knot_walk {
    const float *slope, *level, *knot;
    int at, knots;
    float low, high, a, b;
} knot_walk;

static void knot_move(knot_walk &w, int at)
{
    w.at = at;
    w.low = at ? w.knot[at - 1] : -INF;
    w.high = at < w.knots ? w.knot[at] : INF;
    w.a = w.slope[at];
    w.b = w.level[at];
}

static float knot_value(knot_walk &w, float x)
{
    while (x >= w.high || x < w.low) /* one loop: it is there as often as a lane has keys */
        knot_move(w, w.at + (x < w.low ? -1 : 1));
    return w.a * x + w.b;
}

static int64_t clamp_entry(int64_t e, int64_t row)
{
    return e < 0 ? 0 : e >= row ? row - 1 : e;
}

/* What the entries of bias n are multiplied by. */
static float bias_factor(const attend_args &a, int n)
{
    float after = CAP && !bias_first(n) ? a.scale_log2 : 1;
    return bias_flags(n) & BIAS_SCALED ? a.bias[n].factor * after : after;
}

/* A table by distance whose entries lie in shared memory: pairs of fragment 0, first query. The second query is 8
 * before it and has the pair of the fragment before. first: s is overwritten. */
template <int NT> static void add_near(float (&s)[NT * 4], const float *pairs, float factor, bool first)
{
    float2 last = *(const float2 *)(pairs - 8);
#pragma unroll
    for (int f = 0; f < NT; f++) {
        float2 now = *(const float2 *)(pairs + 8 * f);
        s[4 * f] = first ? now.x * factor : s[4 * f] + now.x * factor;
        s[4 * f + 1] = first ? now.y * factor : s[4 * f + 1] + now.y * factor;
        s[4 * f + 2] = first ? last.x * factor : s[4 * f + 2] + last.x * factor;
        s[4 * f + 3] = first ? last.y * factor : s[4 * f + 3] + last.y * factor;
        last = now;
    }
}

/* One bias, its entries read where they lie. */
template <int NT>
static void add_far(const attend_args &a, const place &p, float (&s)[NT * 4], const int (&i)[2], int j0, int n,
                    const key_places &keys)
{
    const float factor = bias_factor(a, n);
    const attend_bias &b = a.bias[n];
    const int flags = bias_flags(n);
    const float *table = (const float *)b.table + (b.heads > 1 ? p.h * b.row : 0);
    knot_walk walk[2];
    float share[2] = { 1, 1 };
    int64_t query[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        query[r] = weighted(a.q_at, p.batch, p.q0 + max(min(i[r], p.nq - 1), 0), b.weight);
        if (flags & BIAS_KNOTS) {
            int64_t at = query[r];
            share[r] = ((const float *)b.share)[at < 0 ? 0 : at >= b.shares ? b.shares - 1 : at];
            walk[r].slope = (const float *)b.slope + p.h * (b.knots + 1);
            walk[r].level = (const float *)b.level + p.h * (b.knots + 1);
            walk[r].knot = (const float *)b.knot;
            walk[r].knots = b.knots;
            knot_move(walk[r], 0);
        }
    }
    int64_t first = b.zero + (flags & BIAS_SCATTER ? 0 : weighted(a.k_at, p.key_batch, p.k0 + j0, b.weight));
    const int64_t *entry = keys.entry[scatter_slot(n)] + j0 % BN;
#pragma unroll
    for (int f = 0; f < NT; f++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int key = 8 * f + e % 2;
            int64_t at = (flags & BIAS_SCATTER ? entry[key] : first + key) - query[e / 2];
            float x = __ldg(table + clamp_entry(at, b.row));
            s[4 * f + e] += (flags & BIAS_KNOTS ? knot_value(walk[e / 2], x * share[e / 2]) : x) * factor;
        }
}

/* What enters with the products and is not in s already. */
template <int NT>
static void finish_products(const attend_args &a, const place &p, float (&s)[NT * 4], const int (&i)[2], int j0,
                            const key_places &keys)
{
#pragma unroll
    for (int n = 0; n < ATTEND_BIASES_MAX; n++)
        if (bias_first(n) && !bias_near(n))
            add_far<NT>(a, p, s, i, j0, n, keys);
}

/* tanh(s scale / cap) = 1 - 2 / (1 + exp(2 s scale / cap)) */
static float cap_tanh(const attend_args &a, float s)
{
    return 1 - __fdividef(2, 1 + exp2_fast(s * (2 * a.scale_log2 / a.cap)));
}

/* The cap, what comes after it, and the mask; near[n]: as add_near takes it, of biases after the cap. */
template <int NT>
static void finish_scores(const attend_args &a, const place &p, float (&s)[NT * 4], const int (&i)[2], int j0,
                          bool hides, const float *const (&near)[ATTEND_BIASES_MAX], const key_places &keys)
{
    if (CAP) {
#pragma unroll
        for (int n = 0; n < NT * 4; n++)
            s[n] = a.cap * LOG2_E * cap_tanh(a, s[n]);
#pragma unroll
        for (int n = 0; n < ATTEND_BIASES_MAX; n++)
            if ((bias_flags(n) & BIAS_ON) && !bias_first(n)) {
                if (bias_near(n))
                    add_near<NT>(s, near[n], bias_factor(a, n), false);
                else
                    add_far<NT>(a, p, s, i, j0, n, keys);
            }
    }
    if (hides)
        mask_scores<NT>(a, p, s, i, j0, keys);
}

/* ------------------------------------------------ softmax */

/* The sums of two queries, each spread over the four lanes that have their keys. */
typedef struct sums {
    float most[2], sum[2]; /* sum: of this lane's keys */
} sums;

/* From scores to weights; rescale: what earlier weights are multiplied by. */
template <int NT> static void soften(const attend_args &a, float (&s)[NT * 4], sums &st, float (&rescale)[2])
{
    const float factor = CAP ? 1 : a.scale_log2;
    float most[2][2], taken[2], sum[2][2] = {};
#pragma unroll
    for (int r = 0; r < 2; r++)
#pragma unroll
        for (int half = 0; half < 2; half++) {
            most[r][half] = st.most[r];
#pragma unroll
            for (int n = half; n < NT; n += 2)
                most[r][half] = fmaxf(most[r][half], fmaxf(s[4 * n + 2 * r], s[4 * n + 2 * r + 1]));
        }
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float x = fmaxf(most[r][0], most[r][1]);
        x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
        x = fmaxf(x, __shfl_xor_sync(~0u, x, 2));
        taken[r] = x == -INF ? 0 : x * factor; /* nothing is seen yet */
        rescale[r] = exp2_fast(st.most[r] * factor - taken[r]);
        st.most[r] = x;
    }
#pragma unroll
    for (int n = 0; n < NT; n++)
#pragma unroll
        for (int e = 0; e < 4; e++) {
            float &x = s[4 * n + e];
            x = exp2_fast(x * factor - taken[e / 2]);
            sum[e / 2][e % 2] += x;
        }
#pragma unroll
    for (int r = 0; r < 2; r++)
        st.sum[r] = st.sum[r] * rescale[r] + (sum[r][0] + sum[r][1]);
}

static void store_lse(const attend_args &a, const place &p, int token, float lse)
{
    int64_t at = p.batch * a.lse.batch + token * a.lse.token + p.h * a.lse.head;
    if (!a.lse.data)
        return;
    if (LSE_DOUBLE)
        ((double *)a.lse.data)[at] = lse;
    else
        ((float *)a.lse.data)[at] = lse;
}

/* The sink joins; what the outputs are multiplied by; the log-sum-exp is written. */
static void close_sums(const attend_args &a, const place &p, sums &st, const int (&i)[2], float (&by)[2])
{
    const float factor = CAP ? 1 : a.scale_log2;
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float sum = st.sum[r];
        sum += __shfl_xor_sync(~0u, sum, 1);
        sum += __shfl_xor_sync(~0u, sum, 2);
        float most = st.most[r] * factor, own = 1;
        bool real = i[r] < p.nq;
        if (a.sinks) {
            float sink = ((const float *)a.sinks)[p.h] * LOG2_E, top = most > sink ? most : sink;
            own = most == -INF ? 0 : exp2_fast(most - top);
            sum = sum * own + (sink == -INF ? 0 : exp2_fast(sink - top));
            most = top;
        }
        by[r] = !real || sum == 0 ? 0 : own / sum;
        float lse = !real || sum == 0 ? -INF : (most + __log2f(sum)) * LN_2;
        int token = query_token(a, p, i[r]);
        if (token >= 0 && threadIdx.x % 4 == 0)
            store_lse(a, p, token, lse);
        st.most[r] = most;
    }
}
