/* SPDX-License-Identifier: MIT
 *
 * What the kernels of attention's gradients share. Macros beside those of attend_common.cu: DOUT_TYPE, DQ_TYPE, DK_TYPE
 * (of dk and dv). */

/* The log-sum-exp, in units of log 2, and dout . out of query i of head h. */
static float2 row_numbers(const attend_args &a, const place &p, int h, int i)
{
    return ((const float2 *)a.rows)[((int64_t)p.batch * a.H + h) * a.Tq + p.q0 + min(i, p.nq - 1)];
}

static void store_gradient(const attend_args &a, const attend_view &v, int64_t at, float x, float y, int type)
{
    if (a.accumulate) {
        x += load_number(v.data, at, type);
        y += load_number(v.data, at + 1, type);
    }
    store_pair(v.data, at, x, y, type);
}

/* Tile n of keys, p.tile of its sequence; p.h is the first query head that reads it. Numbered as tiles of queries are,
 * the first keys first: a causal mask shows them to the most queries. */
static int key_tiles_of_head(const attend_args &a, int size)
{
    return a.k_lengths.offset ? a.Tk / size + a.sequences : (a.Tk + size - 1) / size;
}
static int key_tile_count(const attend_args &a, int size)
{
    return key_tiles_of_head(a, size) * (a.H / a.group) * (a.k_lengths.offset ? 1 : a.sequences);
}
static bool key_place(const attend_args &a, int n, int size, place &p)
{
    bool packed = a.k_lengths.offset != 0;
    int heads = a.H / a.group, all = heads * (packed ? 1 : a.sequences);
    int tiles = key_tiles_of_head(a, size);
    int group = n / (tiles * a.head_group), rest = n % (tiles * a.head_group);
    int width = min(a.head_group, all - group * a.head_group), head = group * a.head_group + rest % width;
    int s = head / heads;
    p.h = head % heads * a.group;
    p.tile = rest / width;
    if (packed) {
        s = sequence_of((const int64_t *)a.k_lengths.offset, a.sequences, size, p.tile);
        p.tile -= (int)(((const int64_t *)a.k_lengths.offset)[s] / size) + s;
    }
    p.sequence = s;
    p.packed = a.q_lengths.offset != 0;
    p.left = a.q_lengths.padded_left;
    p.batch = p.packed ? 0 : s;
    p.key_batch = packed ? 0 : s;
    p.i0 = 0;
    stretch(a.q_lengths, s, a.Tq, p.q0, p.nq);
    stretch(a.k_lengths, s, a.Tk, p.k0, p.nk);
    place_offset(a, p);
    return !packed || p.tile * size < p.nk;
}

/* Tile m of queries of p's sequence: which of its head's it is, over all sequences that are packed together. */
static int tile_of_head(const place &p, int m, int size)
{
    return p.packed ? p.q0 / size + p.sequence + m : m;
}

/* The number that place_find has for tile m of queries of head h. */
static int query_number(const attend_args &a, const place &p, int h, int m, int size)
{
    int head = p.packed ? h : p.sequence * a.H + h, group = head / a.head_group;
    int width = min(a.head_group, a.H * (p.packed ? 1 : a.sequences) - group * a.head_group);
    return group * a.tiles * a.head_group + (a.tiles - 1 - tile_of_head(p, m, size)) * width + head % a.head_group;
}

/* Where dq_sum and turns have tile m of queries of head h. */
static int64_t query_slot(const attend_args &a, const place &p, int h, int m, int size)
{
    int64_t tiles = p.packed ? a.Tq / size + a.sequences : (a.Tq + size - 1) / size;
    return (p.packed ? h : (int64_t)p.sequence * a.H + h) * tiles + tile_of_head(p, m, size);
}

/* The queries that see some of keys j0 .. j1 - 1, as far as ranges tell: low .. high - 1. */
static range queries_of(const attend_args &a, const place &p, int j0, int j1)
{
    range r = { 0, p.nq, 0 };
    if (BY_POSITION)
        return r;
    bool first = a.window && j0 < a.first_keys - keys_before(a, p);
    int64_t low = 0, high = p.nq;
    if (a.causal)
        low = j0 - p.offset;
    else if (a.window && !first)
        low = j0 - p.offset - a.window + 1;
    if (a.window && !first)
        high = min(high, j1 - p.offset + a.window - 1);
    r.low = (int)min(max(low, (int64_t)0), (int64_t)p.nq);
    r.high = (int)max(high, (int64_t)r.low);
    return r;
}

/* The token of key j; past the sequence, that of the padding. -1: there is none. */
static int key_token(const attend_args &a, const place &p, int j)
{
    if (j < p.nk)
        return p.k0 + j;
    if (a.k_lengths.offset || j >= a.Tk)
        return -1;
    return a.k_lengths.padded_left ? j - p.nk : j;
}
