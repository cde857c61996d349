/* SPDX-License-Identifier: MIT
 *
 * Rows of numbers: the softmax, and what is done element by element. A product and a sum are rounded apart, as in the
 * definition, so that the bits are the same. */

INLINE float row_most(const float *s, int64_t n, float most)
{
    vf a = vf_set(most), b = a;
    int64_t j = 0;
    for (; j + 2 * VW <= n; j += 2 * VW) {
        a = vf_max(vf_load(s + j), a);
        b = vf_max(vf_load(s + j + VW), b);
    }
    for (; j < n; j += VW)
        a = vf_max(vf_load(s + j), a);
    return vf_most(vf_max(a, b));
}

static float soften_v(float *s, int64_t n, float *max, float *factor)
{
    float before = *max, most = row_most(s, n, before);
    vf from = vf_set(most == -INFINITY ? 0 : most), sum[2] = { vf_set(0), vf_set(0) };
    for (int64_t j = 0; j < n; j += LANES) {
        UNROLL
        for (int i = 0; i < LANES; i += VW) {
            vf y = vf_exp(vf_load(s + j + i) - from);
            vf_store(s + j + i, y);
            sum[i / VW % 2] += y;
        }
    }
    *factor = before == -INFINITY || before == most ? 1 : vf_first(vf_exp(vf_set(before) - from));
    *max = most;
    return vf_sum(sum[0] + sum[1]);
}

static void weigh_v(float *s, int64_t n, float lse)
{
    bool none = lse == -INFINITY || isnan(lse);
    for (int64_t j = 0; none && j < n; j += VW)
        vf_store(s + j, vf_unless_less(vf_load(s + j), vf_set(-FLT_MAX), vf_set(isnan(lse) ? lse : 0)));
    for (int64_t j = 0; !none && j < n; j += VW)
        vf_store(s + j, vf_exp_any(vf_load(s + j) - vf_set(lse)));
}

static void scale_v(float *y, float a, int64_t n)
{
    for (int64_t j = 0; j < n; j += VW)
        vf_put(y + j, vf_get(y + j, n - j) * vf_set(a), n - j);
}

static void add_v(float *y, const float *x, int64_t n)
{
    for (int64_t j = 0; j < n; j += VW)
        vf_put(y + j, vf_get(y + j, n - j) + vf_get(x + j, n - j), n - j);
}

static void add_one_v(float *y, float a, int64_t n)
{
    for (int64_t j = 0; j < n; j += VW)
        vf_put(y + j, vf_get(y + j, n - j) + vf_set(a), n - j);
}

static void axpy_v(float *y, float a, const float *x, int64_t n)
{
    for (int64_t j = 0; j < n; j += VW) {
        vf ax = vf_set(a) * vf_get(x + j, n - j);
        vf_put(y + j, vf_get(y + j, n - j) + ax, n - j);
    }
}

static void line_v(float *y, const float *x, float a, float b, int64_t n)
{
    for (int64_t j = 0; j < n; j += VW) {
        vf ax = vf_set(a) * vf_get(x + j, n - j);
        vf_put(y + j, vf_get(y + j, n - j) + (ax + vf_set(b)), n - j);
    }
}

/* Below 2^24 a whole number less a each's is a float; beyond it each is converted. */
static void ramp_v(float *y, int64_t x, float a, float b, int64_t n)
{
    float each[VW];
    bool near = x < 1 << 24 && x - n > -(1 << 24);
    for (int l = 0; l < VW; l++)
        each[l] = (float)l;
    for (int64_t j = 0; j < n; j += VW) {
        for (int l = 0; !near && l < VW; l++)
            each[l] = (float)(x - j - l);
        vf at = vf_load(each);
        if (near)
            at = vf_set((float)(x - j)) - at;
        vf_put(y + j, vf_get(y + j, n - j) + (vf_set(a) * at + vf_set(b)), n - j);
    }
}

static void score_grad_v(float *ds, const float *p, const float *dp, float mean, int64_t n)
{
    for (int64_t j = 0; j < n; j += VW) {
        vf w = vf_get(p + j, n - j), d = vf_get(dp + j, n - j) - vf_set(mean);
        vf_put(ds + j, vf_unless_zero(w, w * d), n - j);
    }
}

static float sum_v(const float *x, int64_t n)
{
    vf sum[4] = { vf_set(0), vf_set(0), vf_set(0), vf_set(0) };
    int64_t j = 0;
    for (; j + 4 * VW <= n; j += 4 * VW) {
        UNROLL
        for (int i = 0; i < 4; i++)
            sum[i] += vf_load(x + j + i * VW);
    }
    for (; j < n; j += VW)
        sum[0] += vf_get(x + j, n - j);
    return vf_sum((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

static float dot_v(const float *x, const float *y, int64_t n)
{
    vf sum[4] = { vf_set(0), vf_set(0), vf_set(0), vf_set(0) };
    int64_t j = 0;
    for (; j + 4 * VW <= n; j += 4 * VW) {
        UNROLL
        for (int i = 0; i < 4; i++)
            sum[i] = vf_fma(vf_load(x + j + i * VW), vf_load(y + j + i * VW), sum[i]);
    }
    for (; j < n; j += VW)
        sum[0] = vf_fma(vf_get(x + j, n - j), vf_get(y + j, n - j), sum[0]);
    return vf_sum((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

/* tanh: below 0.55 x + x^3 (c1 + ... + c5 x^8), the best c (off by 2^-29); from there on 1 - 2 / (exp(2 x) + 1), which
 * is 1 from 10 on. */
INLINE vf vf_tanh(vf x)
{
    vf a = vf_abs(x), b = a * a;
    vf p = vf_fma(vf_set(-0x1.9b304ap-8f), b, vf_set(0x1.593d08p-6f));
    p = vf_fma(p, b, vf_set(-0x1.b9287ap-5f));
    p = vf_fma(p, b, vf_set(0x1.110d26p-3f));
    p = vf_fma(p, b, vf_set(-0x1.55554ap-2f));
    vf near = vf_fma(p * b, a, a);
    vf e = vf_exp(vf_at_most(a + a, vf_set(20)));
    vf far = vf_set(1) - vf_set(2) / (e + vf_set(1));
    return vf_sign(vf_if_less(a, vf_set(0.55f), near, far), x);
}

static void cap_v(float *y, float cap, int64_t n)
{
    for (int64_t j = 0; j < n; j += VW) {
        vf x = vf_get(y + j, n - j) / vf_set(cap);
        vf_put(y + j, vf_set(cap) * vf_tanh(x), n - j);
    }
}

static void sigmoid_v(float *y, const float *x, float a, int64_t n)
{
    for (int64_t j = 0; j < n; j += VW) {
        vf e = vf_exp_any(vf_set(-a) * vf_get(x + j, n - j));
        vf_put(y + j, vf_set(1) / (vf_set(1) + e), n - j);
    }
}

/* ln(1 + exp(x)) = max(x, 0) + ln(1 + y), y = exp(-|x|); ln(1 + y) = 2 atanh(z), z = y / (2 + y) at most 1/3, of which
 * eight terms of the series leave 2^-28. */
INLINE vf vf_softplus(vf x)
{
    vf y = vf_exp(vf_set(0) - vf_abs(x)), z = y / (y + vf_set(2)), w = z * z;
    vf p = vf_fma(vf_set(2.0f / 15), w, vf_set(2.0f / 13));
    p = vf_fma(p, w, vf_set(2.0f / 11));
    p = vf_fma(p, w, vf_set(2.0f / 9));
    p = vf_fma(p, w, vf_set(2.0f / 7));
    p = vf_fma(p, w, vf_set(2.0f / 5));
    p = vf_fma(p, w, vf_set(2.0f / 3));
    p = vf_fma(p * w, z, z + z);
    return p + vf_max(x, vf_set(0));
}

static void polar_v(float *y, const float *x, const float *c, const float *s, int64_t n)
{
    for (int64_t j = 0; j < n; j += VW) {
        vf size = vf_softplus(vf_get(x + j, n - j));
        vf_put(y + j, size * vf_get(c + j, n - j), n - j);
        vf_put(y + n + j, size * vf_get(s + j, n - j), n - j);
    }
}

INLINE void widen_from(float *y, const char *x, pe_dtype type, int64_t n)
{
    int64_t j = 0;
    for (; j + WIDE * VW <= n; j += WIDE * VW) {
        const char *from = x + row_bytes(type, j);
        vf a[WIDE];
        UNROLL
        for (int c = 0; c < WIDE; c++)
            a[c] = vf_get_as(from, type, c * VW, VW);
        UNROLL
        for (int c = 0; c < WIDE; c++)
            vf_store(y + j + c * VW, a[c]);
    }
    for (; j < n; j += VW)
        vf_put(y + j, vf_get_as(x, type, j, n - j), n - j);
}

static void widen_v(float *y, const void *x, pe_dtype type, int64_t n)
{
    if (type == PE_F32 && n > 0)
        memcpy(y, x, (size_t)n * sizeof *y);
    else if (type == PE_F16)
        widen_from(y, x, PE_F16, n);
    else if (type == PE_BF16)
        widen_from(y, x, PE_BF16, n);
    else if (type == PE_Q8_0)
        widen_from(y, x, PE_Q8_0, n);
    else if (type == PE_Q4_0)
        widen_from(y, x, PE_Q4_0, n);
    else
        for (int64_t j = 0; j < n; j++)
            y[j] = (float)num_load(x, type, j);
}

INLINE void narrow_to(char *y, pe_dtype type, const float *x, int64_t n)
{
    const int64_t size = type_size(type);
    for (int64_t j = 0; j < n; j += VW) {
        vf a = vf_get(x + j, n - j);
        vf_put_as(y + j * size, type, type == PE_BF16 ? vf_tame(a) : a, n - j);
    }
}

static void narrow_v(void *y, pe_dtype type, const float *x, int64_t n)
{
    if (type == PE_F32 && n > 0)
        memcpy(y, x, (size_t)n * sizeof *x);
    else if (type == PE_F16)
        narrow_to(y, PE_F16, x, n);
    else if (type == PE_BF16)
        narrow_to(y, PE_BF16, x, n);
    else if (type == PE_Q8_0)
        blocks_from(y, PE_Q8_0, x, n / BLOCK_WIDTH);
    else if (type == PE_Q4_0)
        blocks_from(y, PE_Q4_0, x, n / BLOCK_WIDTH);
    else
        for (int64_t j = 0; j < n; j++)
            num_store(y, type, j, x[j]);
}
