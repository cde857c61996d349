/* SPDX-License-Identifier: MIT
 *
 * What the kernels of attention's gradients share. Macros beside those of attend_common.cu: DOUT_TYPE, DQ_TYPE, DK_TYPE
 * (of dk and dv). */

/* The log-sum-exp, in units of log 2, and dout . out of query i. */
static float2 row_numbers(const attend_args &a, const place &p, int i)
{
    return ((const float2 *)a.rows)[((int64_t)p.batch * a.H + p.h) * a.Tq + p.q0 + min(i, p.nq - 1)];
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
static bool key_place(const attend_args &a, int n, int size, place &p)
{
    bool packed = a.k_lengths.offset != 0;
    int heads = a.H / a.group, all = heads * (packed ? 1 : a.sequences);
    int tiles = packed ? a.Tk / size + a.sequences : (a.Tk + size - 1) / size;
    int group = n / (tiles * a.head_group), rest = n % (tiles * a.head_group);
    int width = min(a.head_group, all - group * a.head_group), head = group * a.head_group + rest % width;
    int s = head / heads;
    p.h = head % heads * a.group;
    p.tile = rest / width;
    if (packed) {
        s = sequence_of((const int64_t *)a.k_lengths.offset, a.sequences, size, p.tile);
        p.tile -= (int)(((const int64_t *)a.k_lengths.offset)[s] / size) + s;
    }
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
