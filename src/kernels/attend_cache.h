/* SPDX-License-Identifier: MIT
 *
 * Keys and values as they lie in a cache: a few queries, many keys, each key's row read from memory once. Several
 * queries share what was converted; if there are more than share it in registers, rows are converted into a buffer
 * first. */

#define CACHE_FLOATS 4096 /* of the buffer: what fits beside the rest in the first cache */

/* Asks for memory that will be needed soon: where rows are blocks, which wait for arithmetic more than for memory. */
INLINE void ask(const char *soon, pe_dtype type, int64_t from, int64_t bytes)
{
    for (int64_t b = from; block_kind(type) && soon && b < from + bytes; b += 64)
        __builtin_prefetch(soon + b);
}

/* sums (queries, keys) += q . k over one vector of the rows, from element e on. */
INLINE void dots_step(vf sums[][4], const float *q, int64_t q_row, const char *k, pe_dtype type, int64_t k_bytes,
                      int64_t e, int64_t left, const int queries, const int keys)
{
    vf a[4];
    UNROLL
    for (int j = 0; j < keys; j++)
        a[j] = vf_get_as(k + j * k_bytes, type, e, left);
    UNROLL
    for (int i = 0; i < queries; i++) {
        vf b = vf_get(q + i * q_row + e, left);
        UNROLL
        for (int j = 0; j < keys; j++)
            sums[i][j] = vf_fma(a[j], b, sums[i][j]);
    }
}

/* s (queries, keys) for 4 keys or 1; queries and keys are constants of the caller. */
INLINE void dots_tile(float *s, int64_t s_row, const float *q, int64_t q_row, const char *k, pe_dtype type,
                      int64_t k_bytes, int64_t d, const int queries, const int keys)
{
    vf sums[4][4];
    int64_t e = 0;
    UNROLL
    for (int i = 0; i < queries; i++) {
        UNROLL
        for (int j = 0; j < keys; j++)
            sums[i][j] = vf_set(0);
    }
    for (; e + VW <= d; e += VW)
        dots_step(sums, q, q_row, k, type, k_bytes, e, VW, queries, keys);
    if (e < d)
        dots_step(sums, q, q_row, k, type, k_bytes, e, d - e, queries, keys);
    UNROLL
    for (int i = 0; i < queries; i++)
        if (keys == 4)
            vf_sum_four(s + i * s_row, sums[i]);
        else
            s[i * s_row] = vf_sum(sums[i][0]);
}

/* One query and 4 keys or 1, over WIDE vectors of their rows. */
INLINE void dots_wide(vf sums[4], const float *q, const char *k, pe_dtype type, int64_t k_bytes, const int keys)
{
    UNROLL
    for (int j = 0; j < keys; j++) {
        UNROLL
        for (int c = 0; c < WIDE; c++)
            sums[j] = vf_fma(vf_get_as(k + j * k_bytes, type, c * VW, VW), vf_load(q + c * VW), sums[j]);
    }
}

/* One query: what is converted serves it alone, and adding up costs as much as the products of a short row. */
INLINE void dots_single(float *s, const float *q, const char *k, pe_dtype type, int64_t k_bytes, int64_t d,
                        const int keys)
{
    vf sums[4] = { vf_set(0), vf_set(0), vf_set(0), vf_set(0) };
    int64_t e = 0;
    for (; e + WIDE * VW <= d; e += WIDE * VW)
        dots_wide(sums, q + e, k + row_bytes(type, e), type, k_bytes, keys);
    for (; e < d; e += VW) {
        UNROLL
        for (int j = 0; j < keys; j++)
            sums[j] = vf_fma(vf_get_as(k + j * k_bytes, type, e, d - e), vf_get(q + e, d - e), sums[j]);
    }
    if (keys == 4)
        vf_sum_four(s, sums);
    else
        *s = vf_sum(sums[0]);
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

/* Several queries: 4 keys at a time, converted once. */
INLINE void dots_several(float *s, int64_t s_row, const float *q, int64_t q_row, int64_t m, const char *k,
                         pe_dtype type, int64_t k_bytes, int64_t n, int64_t d, const char *soon)
{
    float buffer[CACHE_FLOATS];
    const int64_t bytes = row_bytes(type, d);
    bool convert = type != PE_F32 && (m > CACHE_ROWS || block_kind(type)) && d <= CACHE_FLOATS / 4;
    int64_t j = 0;
    for (; j + 4 <= n; j += 4) {
        const char *rows = k + j * k_bytes;
        ask(soon, type, j * bytes, 4 * bytes);
        for (int l = 0; convert && l < 4; l++)
            widen_from(buffer + l * d, rows + l * k_bytes, type, d);
        if (convert)
            dots_keys(s + j, s_row, q, q_row, m, (const char *)buffer, PE_F32, 4 * d, d, 4);
        else
            dots_keys(s + j, s_row, q, q_row, m, rows, type, k_bytes, d, 4);
    }
    for (; j < n; j++)
        dots_keys(s + j, s_row, q, q_row, m, k + j * k_bytes, type, k_bytes, d, 1);
}

INLINE void dots_as(float *s, int64_t s_row, const float *q, int64_t q_row, int64_t m, const char *k, pe_dtype type,
                    int64_t k_bytes, int64_t n, int64_t d, const char *soon)
{
    const int64_t bytes = row_bytes(type, d);
    int64_t j = 0;
    if (m != 1) {
        dots_several(s, s_row, q, q_row, m, k, type, k_bytes, n, d, soon);
        return;
    }
    for (; j + 4 <= n; j += 4) {
        ask(soon, type, j * bytes, 4 * bytes);
        dots_single(s + j, q, k + j * k_bytes, type, k_bytes, d, 4);
    }
    for (; j < n; j++)
        dots_single(s + j, q, k + j * k_bytes, type, k_bytes, d, 1);
}

static void dots_v(float *s, int64_t s_row, const float *q, int64_t q_row, int64_t m, const void *k, pe_dtype type,
                   int64_t k_row, int64_t n, int64_t d, const void *soon)
{
    const int64_t k_bytes = row_bytes(type, k_row);
    switch (type) {
    case PE_F32: dots_as(s, s_row, q, q_row, m, k, PE_F32, k_bytes, n, d, soon); break;
    case PE_F16: dots_as(s, s_row, q, q_row, m, k, PE_F16, k_bytes, n, d, soon); break;
    case PE_Q8_0: dots_as(s, s_row, q, q_row, m, k, PE_Q8_0, k_bytes, n, d, soon); break;
    case PE_Q4_0: dots_as(s, s_row, q, q_row, m, k, PE_Q4_0, k_bytes, n, d, soon); break;
    default: dots_as(s, s_row, q, q_row, m, k, PE_BF16, k_bytes, n, d, soon); break;
    }
}

/* o (across vectors) += p (n) v (n, across vectors). */
INLINE void mix_tile(float *o, const float *p, const char *v, pe_dtype type, int64_t v_bytes, int64_t n,
                     const int across, const char *soon)
{
    const int64_t bytes = row_bytes(type, across * VW);
    vf sum[8];
    UNROLL
    for (int c = 0; c < across; c++)
        sum[c] = vf_load(o + c * VW);
    for (int64_t j = 0; j < n; j++) {
        if (block_kind(type) && j % 4 == 0)
            ask(soon, type, j * bytes, (n - j < 4 ? n - j : 4) * bytes);
        if (p[j] == 0)
            continue;
        vf w = vf_set(p[j]);
        UNROLL
        for (int c = 0; c < across; c++)
            sum[c] = vf_fma(w, vf_get_as(v + j * v_bytes, type, c * VW, VW), sum[c]);
    }
    UNROLL
    for (int c = 0; c < across; c++)
        vf_store(o + c * VW, sum[c]);
}

/* o (d) += w v (d) */
INLINE void mix_one(float *o, float w, const char *v, pe_dtype type, int64_t d)
{
    int64_t e = 0;
    for (; e + WIDE * VW <= d; e += WIDE * VW) {
        const char *from = v + row_bytes(type, e);
        UNROLL
        for (int c = 0; c < WIDE; c++) {
            vf a = vf_get_as(from, type, c * VW, VW);
            vf_store(o + e + c * VW, vf_fma(vf_set(w), a, vf_load(o + e + c * VW)));
        }
    }
    for (; e < d; e += VW) {
        vf a = vf_get_as(v, type, e, d - e);
        vf_put(o + e, vf_fma(vf_set(w), a, vf_get(o + e, d - e)), d - e);
    }
}

/* Row after row, as memory likes it; one query: o stays in registers, as much of it as fits. */
INLINE void mix_rows(float *o, int64_t o_row, const float *p, int64_t p_row, int64_t m, const char *v, pe_dtype type,
                     int64_t v_bytes, int64_t n, int64_t d, const char *soon)
{
    const int64_t bytes = row_bytes(type, d);
    if (m == 1 && d % (8 * VW) == 0)
        for (int64_t e = 0; e < d; e += 8 * VW)
            mix_tile(o + e, p, v + row_bytes(type, e), type, v_bytes, n, 8,
                     soon ? soon + n * row_bytes(type, e) : NULL);
    else if (m == 1 && d == 4 * VW)
        mix_tile(o, p, v, type, v_bytes, n, 4, soon);
    else
        for (int64_t j = 0; j < n; j++) {
            ask(soon, type, j * bytes, bytes);
            for (int64_t i = 0; i < m; i++)
                if (p[i * p_row + j] != 0)
                    mix_one(o + i * o_row, p[i * p_row + j], v + j * v_bytes, type, d);
        }
}

static bool any_zero(const float *p, int64_t p_row, int64_t m, int64_t n)
{
    vf least = vf_set(1);
    bool any = false;
    for (int64_t i = 0; i < m; i++, p += p_row) {
        int64_t j = 0;
        for (; j + VW <= n; j += VW)
            least = vf_min(vf_abs(vf_load(p + j)), least);
        for (; j < n; j++)
            any |= p[j] == 0;
    }
    return any || vf_most(vf_set(0) - least) >= 0;
}

/* Many queries, values in float32: a product of matrices, if no value is to be left out. */
static void mix_many(float *o, int64_t o_row, const float *p, int64_t p_row, int64_t m, const float *v, int64_t v_row,
                     int64_t n, int64_t d)
{
    int64_t done = any_zero(p, p_row, m, n) ? 0 : d - d % LANES;
    if (done > 0)
        gemm_v(o, o_row, p, p_row, 1, v, v_row, m, done, n, true);
    if (done < d)
        mix_rows(o + done, o_row, p, p_row, m, (const char *)(v + done), PE_F32, 4 * v_row, n, d - done, NULL);
}

/* Keys in groups that stay in a near cache while the queries go by. */
INLINE void mix_as(float *o, int64_t o_row, const float *p, int64_t p_row, int64_t m, const char *v, pe_dtype type,
                   int64_t v_bytes, int64_t n, int64_t d, const char *soon)
{
    float buffer[CACHE_FLOATS];
    if (m < 3 || d > CACHE_FLOATS / 4 || d < LANES) {
        mix_rows(o, o_row, p, p_row, m, v, type, v_bytes, n, d, soon);
        return;
    }
    int64_t group = CACHE_FLOATS / d, asked = 0;
    for (; n > 0; n -= group, v += group * v_bytes, p += group) {
        int64_t keys = n < group ? n : group;
        const float *from = type == PE_F32 ? (const void *)v : buffer;
        ask(soon, type, asked, keys * row_bytes(type, d));
        asked += keys * row_bytes(type, d);
        for (int64_t l = 0; type != PE_F32 && l < keys; l++)
            widen_from(buffer + l * d, v + l * v_bytes, type, d);
        mix_many(o, o_row, p, p_row, m, from, type == PE_F32 ? v_bytes / 4 : d, keys, d);
    }
}

static void mix_v(float *o, int64_t o_row, const float *p, int64_t p_row, int64_t m, const void *v, pe_dtype type,
                  int64_t v_row, int64_t n, int64_t d, const void *soon)
{
    const int64_t v_bytes = row_bytes(type, v_row);
    switch (type) {
    case PE_F32: mix_as(o, o_row, p, p_row, m, v, PE_F32, v_bytes, n, d, soon); break;
    case PE_F16: mix_as(o, o_row, p, p_row, m, v, PE_F16, v_bytes, n, d, soon); break;
    case PE_Q8_0: mix_as(o, o_row, p, p_row, m, v, PE_Q8_0, v_bytes, n, d, soon); break;
    case PE_Q4_0: mix_as(o, o_row, p, p_row, m, v, PE_Q4_0, v_bytes, n, d, soon); break;
    default: mix_as(o, o_row, p, p_row, m, v, PE_BF16, v_bytes, n, d, soon); break;
    }
}
