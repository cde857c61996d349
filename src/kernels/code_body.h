/* SPDX-License-Identifier: MIT
 *
 * The kernels of code.c on vectors, operation by operation. */

INLINE vh round_sum(vd x, bool odd)
{
    return odd ? vd_float_odd(x) : vd_float(x);
}

INLINE int64_t add_codes(float *y, const float *x, const double *code, bool odd, int64_t n)
{
    int64_t i = 0;
    for (; i + VD <= n; i += VD)
        vh_store(y + i, round_sum(vd_load_f32(x + i) + vd_load(code + i), odd));
    return i;
}

static void add_code_v(float *y, const float *x, const double *code, bool odd, int64_t n)
{
    int64_t i = odd ? add_codes(y, x, code, true, n) : add_codes(y, x, code, false, n);
    add_code_c(y + i, x + i, code + i, odd, n - i);
}

/* VD waves and what they are added to. */
typedef struct wave_sum {
    vd x, code;
} wave_sum;

INLINE wave_sum sum_at(const float *x, const double *base, int64_t base_row, const double *step, int64_t step_row)
{
    return (wave_sum){ vd_load_f32(x),
                       vd_load(base) * vd_load(step) + vd_load(base + base_row) * vd_load(step + step_row) };
}

/* nearness of turn_body.h; an odd float is in doubt beside each float, not half way between two. */
INLINE vq sum_nearness(vd x, bool odd)
{
    if (!odd)
        return nearness(x);
    return ~(vd_bits(x) + vq_set(0x10000)) & vq_set(0x7fffffff1ffe0000);
}

/* As the definition has it: true where both ends are the same float. */
INLINE bool sum_both(float *y, wave_sum v, vd slack, bool odd)
{
    vh high = round_sum(v.x + (v.code + slack), odd), low = round_sum(v.x + (v.code - slack), odd);
    vh_store(y, high);
    return !vh_differ(high, low);
}

/* Two vectors at a time: what is out of doubt is rounded once. Sums of x with numbers within slack of the code are, as
 * doubles, within slack and two units of each other, and 2^15 + 2 units are less than the 2^16 that nearness asks for.
 */
INLINE bool add_vectors(float *y, const float *x, const double *base, int64_t base_row, const double *step,
                        int64_t step_row, double slack, bool odd, int64_t n)
{
    const vq limit = nearness_limit(slack);
    bool certain = true;
    for (int64_t i = 0; i < n; i += 2 * VD) {
        wave_sum a = sum_at(x + i, base + i, base_row, step + i, step_row);
        wave_sum b = sum_at(x + i + VD, base + i + VD, base_row, step + i + VD, step_row);
        vd p = a.x + a.code, q = b.x + b.code;
        vh_store(y + i, round_sum(p, odd));
        vh_store(y + i + VD, round_sum(q, odd));
        if (vq_reaches(vq_max(sum_nearness(p, odd), sum_nearness(q, odd)), limit))
            certain = sum_both(y + i, a, vd_set(slack), odd) && sum_both(y + i + VD, b, vd_set(slack), odd) && certain;
    }
    return certain;
}

static bool add_waves_v(float *y, const float *x, const double *base, int64_t base_row, const double *step,
                        int64_t step_row, double slack, bool odd, int64_t n)
{
    int64_t i = n / (2 * VD) * (2 * VD);
    bool certain = odd ? add_vectors(y, x, base, base_row, step, step_row, slack, true, i)
                       : add_vectors(y, x, base, base_row, step, step_row, slack, false, i);
    return (i == n || add_waves_c(y + i, x + i, base + i, base_row, step + i, step_row, slack, odd, n - i)) && certain;
}

static void rotate_waves_v(double *to, const double *from, int64_t row, const double *step, int64_t step_row, int64_t n)
{
    int64_t i = 0;
    for (; i + VD <= n; i += VD) {
        vd a = vd_load(from + i), b = vd_load(from + row + i), c = vd_load(step + i), s = vd_load(step + step_row + i);
        vd_store(to + i, a * c + b * s);
        vd_store(to + row + i, b * c - a * s);
    }
    rotate_waves_c(to + i, from + i, row, step + i, step_row, n - i);
}
