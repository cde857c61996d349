/* SPDX-License-Identifier: MIT
 *
 * Rows of numbers: the softmax, and what is done element by element. A product and a sum are rounded apart, as in the
 * definition, so that the bits are the same. */

static float soften_v(float *s, int64_t n, float *max, float *factor)
{
    vf most_0 = vf_set(*max), most_1 = most_0, sum_0 = vf_set(0), sum_1 = sum_0;
    for (int64_t j = 0; j < n; j += LANES) {
        most_0 = vf_max(vf_load(s + j), most_0);
        most_1 = vf_max(vf_load(s + j + LANES - VW), most_1);
        UNROLL
        for (int i = VW; i < LANES - VW; i += VW)
            most_0 = vf_max(vf_load(s + j + i), most_0);
    }
    float most = vf_most(vf_max(most_0, most_1));
    vf from = vf_set(most == -INFINITY ? 0 : most);
    for (int64_t j = 0; j < n; j += LANES) {
        UNROLL
        for (int i = 0; i < LANES; i += VW) {
            vf y = vf_exp(vf_sub(vf_load(s + j + i), from));
            vf_store(s + j + i, y);
            if (i / VW % 2)
                sum_1 = vf_add(sum_1, y);
            else
                sum_0 = vf_add(sum_0, y);
        }
    }
    *factor = *max == -INFINITY || *max == most ? 1 : vf_first(vf_exp(vf_sub(vf_set(*max), from)));
    *max = most;
    return vf_sum(vf_add(sum_0, sum_1));
}

static void weigh_v(float *s, int64_t n, float lse)
{
    for (int64_t j = 0; j < n; j += VW) {
        vf x = vf_load(s + j), y = vf_exp_any(vf_sub(x, vf_set(lse)));
        vf_store(s + j, lse == -INFINITY ? vf_set(0) : vf_unless_less(x, vf_set(-FLT_MAX), y));
    }
}

static void scale_v(float *y, float a, int64_t n)
{
    for (int64_t j = 0; j < n; j += VW)
        vf_put(y + j, vf_mul(vf_get(y + j, n - j), vf_set(a)), n - j);
}

static void add_v(float *y, const float *x, int64_t n)
{
    for (int64_t j = 0; j < n; j += VW)
        vf_put(y + j, vf_add(vf_get(y + j, n - j), vf_get(x + j, n - j)), n - j);
}

static void add_one_v(float *y, float a, int64_t n)
{
    for (int64_t j = 0; j < n; j += VW)
        vf_put(y + j, vf_add(vf_get(y + j, n - j), vf_set(a)), n - j);
}

static void axpy_v(float *y, float a, const float *x, int64_t n)
{
    for (int64_t j = 0; j < n; j += VW) {
        vf ax = vf_mul(vf_set(a), vf_get(x + j, n - j));
        vf_put(y + j, vf_add(vf_get(y + j, n - j), ax), n - j);
    }
}

static void line_v(float *y, const float *x, float a, float b, int64_t n)
{
    for (int64_t j = 0; j < n; j += VW) {
        vf ax = vf_mul(vf_set(a), vf_get(x + j, n - j));
        vf_put(y + j, vf_add(vf_get(y + j, n - j), vf_add(ax, vf_set(b))), n - j);
    }
}

static void score_grad_v(float *ds, const float *p, const float *dp, float mean, int64_t n)
{
    for (int64_t j = 0; j < n; j += VW) {
        vf w = vf_get(p + j, n - j), d = vf_sub(vf_get(dp + j, n - j), vf_set(mean));
        vf_put(ds + j, vf_unless_zero(w, vf_mul(w, d)), n - j);
    }
}

INLINE void widen_from(float *y, const char *x, pe_dtype type, int64_t size, int64_t n)
{
    for (int64_t j = 0; j < n; j += VW)
        vf_put(y + j, vf_get_as(x + j * size, type, n - j), n - j);
}

static void widen_v(float *y, const void *x, pe_dtype type, int64_t n)
{
    if (type == PE_F32 && n > 0)
        memcpy(y, x, (size_t)n * sizeof *y);
    else if (type == PE_F16)
        widen_from(y, x, PE_F16, 2, n);
    else if (type == PE_BF16)
        widen_from(y, x, PE_BF16, 2, n);
    else
        for (int64_t j = 0; j < n; j++)
            y[j] = (float)num_load(x, type, j);
}

INLINE void narrow_to(char *y, pe_dtype type, int64_t size, const float *x, int64_t n)
{
    for (int64_t j = 0; j < n; j += VW)
        vf_put_as(y + j * size, type, vf_get(x + j, n - j), n - j);
}

static void narrow_v(void *y, pe_dtype type, const float *x, int64_t n)
{
    if (type == PE_F32 && n > 0)
        memcpy(y, x, (size_t)n * sizeof *x);
    else if (type == PE_F16)
        narrow_to(y, PE_F16, 2, x, n);
    else if (type == PE_BF16)
        narrow_to(y, PE_BF16, 2, x, n);
    else
        for (int64_t j = 0; j < n; j++)
            num_store(y, type, j, x[j]);
}
