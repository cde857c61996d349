/* SPDX-License-Identifier: MIT
 *
 * The kernels of code.c on vectors, operation by operation. Beside what turn_body.h lists, the file that includes this
 * has defined
 *   widen(x)        W floats in memory, as doubles
 *   narrow_odd(x)   W floats, those that no float equals rounded to the odd one of the two around them */

INLINE vn round_sum(vd x, bool odd)
{
    return odd ? narrow_odd(x) : narrow(x);
}

INLINE int64_t add_codes(float *y, const float *x, const double *code, bool odd, int64_t n)
{
    int64_t i = 0;
    for (; i + W <= n; i += W)
        store_f32(y + i, round_sum(widen(x + i) + load(code + i), odd));
    return i;
}

static void add_code(float *y, const float *x, const double *code, bool odd, int64_t n)
{
    int64_t i = odd ? add_codes(y, x, code, true, n) : add_codes(y, x, code, false, n);
    add_code_c(y + i, x + i, code + i, odd, n - i);
}

/* W waves and what they are added to. */
typedef struct wave_sum {
    vd x, code;
} wave_sum;

INLINE wave_sum sum_at(const float *x, const double *base, int64_t base_row, const double *step, int64_t step_row)
{
    return (wave_sum){ widen(x), load(base) * load(step) + load(base + base_row) * load(step + step_row) };
}

/* nearness of turn_body.h; an odd float is in doubt beside each float, not half way between two. */
INLINE vq sum_nearness(vd x, bool odd)
{
    if (!odd)
        return nearness(x);
    return ~(bits_of(x) + words(0x10000)) & words(0x7fffffff1ffe0000);
}

/* As the definition has it: true where both ends are the same float. */
INLINE bool sum_both(float *y, wave_sum v, vd slack, bool odd)
{
    vn high = round_sum(v.x + (v.code + slack), odd), low = round_sum(v.x + (v.code - slack), odd);
    store_f32(y, high);
    return !any(differ(high, low));
}

/* Two vectors at a time: what is out of doubt is rounded once. Sums of x with numbers within slack of the code are, as
 * doubles, within slack and two units of each other, and 2^15 + 2 units are less than the 2^16 that nearness asks for.
 */
INLINE bool add_vectors(float *y, const float *x, const double *base, int64_t base_row, const double *step,
                        int64_t step_row, double slack, bool odd, int64_t n)
{
    const vq limit = nearness_limit(slack);
    bool certain = true;
    for (int64_t i = 0; i < n; i += 2 * W) {
        wave_sum a = sum_at(x + i, base + i, base_row, step + i, step_row);
        wave_sum b = sum_at(x + i + W, base + i + W, base_row, step + i + W, step_row);
        vd p = a.x + a.code, q = b.x + b.code;
        store_f32(y + i, round_sum(p, odd));
        store_f32(y + i + W, round_sum(q, odd));
        if (reaches(most(sum_nearness(p, odd), sum_nearness(q, odd)), limit))
            certain = sum_both(y + i, a, all(slack), odd) && sum_both(y + i + W, b, all(slack), odd) && certain;
    }
    return certain;
}

static bool add_waves(float *y, const float *x, const double *base, int64_t base_row, const double *step,
                      int64_t step_row, double slack, bool odd, int64_t n)
{
    int64_t i = n / (2 * W) * (2 * W);
    bool certain = odd ? add_vectors(y, x, base, base_row, step, step_row, slack, true, i)
                       : add_vectors(y, x, base, base_row, step, step_row, slack, false, i);
    return (i == n || add_waves_c(y + i, x + i, base + i, base_row, step + i, step_row, slack, odd, n - i)) && certain;
}

static void turn_waves(double *to, const double *from, int64_t row, const double *step, int64_t step_row, int64_t n)
{
    int64_t i = 0;
    for (; i + W <= n; i += W) {
        vd a = load(from + i), b = load(from + row + i), c = load(step + i), s = load(step + step_row + i);
        store(to + i, a * c + b * s);
        store(to + row + i, b * c - a * s);
    }
    turn_waves_c(to + i, from + i, row, step + i, step_row, n - i);
}
