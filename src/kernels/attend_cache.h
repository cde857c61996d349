/* SPDX-License-Identifier: MIT
 *
 * Keys and values as they lie in a cache: a few queries, many keys, each key's row read from memory once. Several
 * queries share what was converted; if there are more than share it in registers, rows are converted into a buffer
 * first. */

#define CACHE_FLOATS 4096 /* of the buffer: what fits beside the rest in the first cache */

INLINE int64_t type_size(pe_dtype type)
{
    return type == PE_F32 ? 4 : 2;
}

/* sums (queries, keys) += q . k over one vector of the rows. */
INLINE void dots_step(vf sums[][4], const float *q, int64_t q_row, const char *k, pe_dtype type, int64_t k_bytes,
                      int64_t left, const int queries, const int keys)
{
    vf a[4];
    UNROLL
    for (int j = 0; j < keys; j++)
        a[j] = vf_get_as(k + j * k_bytes, type, left);
    UNROLL
    for (int i = 0; i < queries; i++) {
        vf b = vf_get(q + i * q_row, left);
        UNROLL
        for (int j = 0; j < keys; j++)
            sums[i][j] = vf_fma(a[j], b, sums[i][j]);
    }
}

/* s (queries, keys) for 4 keys or 1; queries and keys are constants of the caller. */
INLINE void dots_tile(float *s, int64_t s_row, const float *q, int64_t q_row, const char *k, pe_dtype type,
                      int64_t k_bytes, int64_t d, const int queries, const int keys)
{
    const int64_t size = type_size(type);
    vf sums[4][4];
    int64_t e = 0;
    UNROLL
    for (int i = 0; i < queries; i++) {
        UNROLL
        for (int j = 0; j < keys; j++)
            sums[i][j] = vf_set(0);
    }
    for (; e + VW <= d; e += VW)
        dots_step(sums, q + e, q_row, k + e * size, type, k_bytes, VW, queries, keys);
    if (e < d)
        dots_step(sums, q + e, q_row, k + e * size, type, k_bytes, d - e, queries, keys);
    UNROLL
    for (int i = 0; i < queries; i++)
        if (keys == 4)
            vf_sum_four(s + i * s_row, sums[i]);
        else
            s[i * s_row] = vf_sum(sums[i][0]);
}

/* All queries with the same 4 keys or 1. */
INLINE void dots_keys(float *s, int64_t s_row, const float *q, int64_t q_row, int64_t m, const char *k, pe_dtype type,
                      int64_t k_bytes, int64_t d, const int keys)
{
    int64_t i = 0;
    for (; i + CACHE_ROWS <= m; i += CACHE_ROWS)
        dots_tile(s + i * s_row, s_row, q + i * q_row, q_row, k, type, k_bytes, d, CACHE_ROWS, keys);
    for (; i + 2 <= m; i += 2)
        dots_tile(s + i * s_row, s_row, q + i * q_row, q_row, k, type, k_bytes, d, 2, keys);
    if (i < m)
        dots_tile(s + i * s_row, s_row, q + i * q_row, q_row, k, type, k_bytes, d, 1, keys);
}

INLINE void dots_as(float *s, int64_t s_row, const float *q, int64_t q_row, int64_t m, const char *k, pe_dtype type,
                    int64_t k_bytes, int64_t n, int64_t d)
{
    float buffer[CACHE_FLOATS];
    bool convert = type != PE_F32 && m > CACHE_ROWS && d <= CACHE_FLOATS / 4;
    int64_t j = 0;
    for (; convert && j + 4 <= n; j += 4) {
        for (int l = 0; l < 4; l++)
            widen_from(buffer + l * d, k + (j + l) * k_bytes, type, 2, d);
        dots_keys(s + j, s_row, q, q_row, m, (const char *)buffer, PE_F32, 4 * d, d, 4);
    }
    for (; j + 4 <= n; j += 4)
        dots_keys(s + j, s_row, q, q_row, m, k + j * k_bytes, type, k_bytes, d, 4);
    for (; j < n; j++)
        dots_keys(s + j, s_row, q, q_row, m, k + j * k_bytes, type, k_bytes, d, 1);
}

static void dots_v(float *s, int64_t s_row, const float *q, int64_t q_row, int64_t m, const void *k, pe_dtype type,
                   int64_t k_row, int64_t n, int64_t d)
{
    if (type == PE_F32)
        dots_as(s, s_row, q, q_row, m, k, PE_F32, 4 * k_row, n, d);
    else if (type == PE_F16)
        dots_as(s, s_row, q, q_row, m, k, PE_F16, 2 * k_row, n, d);
    else
        dots_as(s, s_row, q, q_row, m, k, PE_BF16, 2 * k_row, n, d);
}

/* o (queries, across vectors) += p (queries, n) v (n, across vectors), of which left elements are there. */
INLINE void mix_tile(float *o, int64_t o_row, const float *p, int64_t p_row, const char *v, pe_dtype type,
                     int64_t v_bytes, int64_t n, int64_t left, const int queries, const int across)
{
    const int64_t size = type_size(type);
    vf sums[4][8];
    UNROLL
    for (int i = 0; i < queries; i++) {
        UNROLL
        for (int c = 0; c < across; c++)
            sums[i][c] = vf_get(o + i * o_row + c * VW, left);
    }
    for (int64_t j = 0; j < n; j++) {
        vf a[8];
        UNROLL
        for (int c = 0; c < across; c++)
            a[c] = vf_get_as(v + j * v_bytes + c * VW * size, type, left);
        UNROLL
        for (int i = 0; i < queries; i++) {
            float w = p[i * p_row + j];
            if (w == 0)
                continue;
            vf b = vf_set(w);
            UNROLL
            for (int c = 0; c < across; c++)
                sums[i][c] = vf_fma(a[c], b, sums[i][c]);
        }
    }
    UNROLL
    for (int i = 0; i < queries; i++) {
        UNROLL
        for (int c = 0; c < across; c++)
            vf_put(o + i * o_row + c * VW, sums[i][c], left);
    }
}

/* The whole width for a few queries. */
INLINE void mix_rows(float *o, int64_t o_row, const float *p, int64_t p_row, const char *v, pe_dtype type,
                     int64_t v_bytes, int64_t n, int64_t d, const int queries)
{
    const int64_t size = type_size(type);
    int64_t e = 0;
    for (; queries == 1 && e + 8 * VW <= d; e += 8 * VW)
        mix_tile(o + e, o_row, p, p_row, v + e * size, type, v_bytes, n, VW, queries, 8);
    for (; e + 4 * VW <= d; e += 4 * VW)
        mix_tile(o + e, o_row, p, p_row, v + e * size, type, v_bytes, n, VW, queries, 4);
    for (; e + VW <= d; e += VW)
        mix_tile(o + e, o_row, p, p_row, v + e * size, type, v_bytes, n, VW, queries, 1);
    if (e < d)
        mix_tile(o + e, o_row, p, p_row, v + e * size, type, v_bytes, n, d - e, queries, 1);
}

INLINE void mix_keys(float *o, int64_t o_row, const float *p, int64_t p_row, int64_t m, const char *v, pe_dtype type,
                     int64_t v_bytes, int64_t n, int64_t d)
{
    int64_t i = 0;
    for (; i + CACHE_ROWS <= m; i += CACHE_ROWS)
        mix_rows(o + i * o_row, o_row, p + i * p_row, p_row, v, type, v_bytes, n, d, CACHE_ROWS);
    for (; i + 2 <= m; i += 2)
        mix_rows(o + i * o_row, o_row, p + i * p_row, p_row, v, type, v_bytes, n, d, 2);
    if (i < m)
        mix_rows(o + i * o_row, o_row, p + i * p_row, p_row, v, type, v_bytes, n, d, 1);
}

/* Keys in groups that stay in the first cache while the width and the queries go by. */
INLINE void mix_as(float *o, int64_t o_row, const float *p, int64_t p_row, int64_t m, const char *v, pe_dtype type,
                   int64_t v_bytes, int64_t n, int64_t d)
{
    float buffer[CACHE_FLOATS];
    bool convert = type != PE_F32 && m > CACHE_ROWS && d <= CACHE_FLOATS / 4;
    int64_t group = d <= CACHE_FLOATS / 4 ? CACHE_FLOATS / (d > 0 ? d : 1) : 4;
    for (int64_t j = 0; j < n; j += group) {
        int64_t keys = n - j < group ? n - j : group;
        for (int64_t l = 0; convert && l < keys; l++)
            widen_from(buffer + l * d, v + (j + l) * v_bytes, type, 2, d);
        if (convert)
            mix_keys(o, o_row, p + j, p_row, m, (const char *)buffer, PE_F32, 4 * d, keys, d);
        else
            mix_keys(o, o_row, p + j, p_row, m, v + j * v_bytes, type, v_bytes, keys, d);
    }
}

static void mix_v(float *o, int64_t o_row, const float *p, int64_t p_row, int64_t m, const void *v, pe_dtype type,
                  int64_t v_row, int64_t n, int64_t d)
{
    if (type == PE_F32)
        mix_as(o, o_row, p, p_row, m, v, PE_F32, 4 * v_row, n, d);
    else if (type == PE_F16)
        mix_as(o, o_row, p, p_row, m, v, PE_F16, 2 * v_row, n, d);
    else
        mix_as(o, o_row, p, p_row, m, v, PE_BF16, 2 * v_row, n, d);
}
