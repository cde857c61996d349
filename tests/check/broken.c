/* SPDX-License-Identifier: MIT
 *
 * Kernels that are wrong in the ways that kernels are: the check must see each of them. */
#include "check.h"

static kernels right; /* the definitions */

static void scale_off_by_one_ulp(float *y, float a, int64_t n)
{
    right.scale(y, a, n);
    if (n > 0 && isfinite(y[n - 1]))
        y[n - 1] = nextafterf(y[n - 1], INFINITY);
}

static void add_ignores_the_tail(float *y, const float *x, int64_t n)
{
    right.add(y, x, n / 8 * 8);
}

static void add_reads_past_the_end(float *y, const float *x, int64_t n)
{
    volatile float next = n > 0 ? x[n] : 0;
    (void)next;
    right.add(y, x, n);
}

static void add_reads_before_the_start(float *y, const float *x, int64_t n)
{
    volatile float last = n > 0 ? x[-1] : 0;
    (void)last;
    right.add(y, x, n);
}

static void add_one_writes_past_the_end(float *y, float a, int64_t n)
{
    right.add_one(y, a, n);
    if (n % 4 == 1)
        y[n] = 0;
}

static void add_one_writes_before_the_start(float *y, float a, int64_t n)
{
    right.add_one(y, a, n);
    if (n % 4 == 1)
        y[-1] = 0;
}

static void add_writes_its_input(float *y, const float *x, int64_t n)
{
    right.add(y, x, n);
    if (n == 67)
        ((float *)(uintptr_t)x)[3] = 1;
}

static void axpy_wants_alignment(float *y, float a, const float *x, int64_t n)
{
    right.axpy(y, a, x, (uintptr_t)x % 16 && n > 32 ? n - 1 : n);
}

static void axpy_fuses(float *y, float a, const float *x, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        y[j] = fmaf(a, x[j], y[j]);
}

static void line_fuses(float *y, const float *x, float a, float b, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        y[j] += fmaf(a, x[j], b);
}

static void line_forgets_b(float *y, const float *x, float a, float b, int64_t n)
{
    right.line(y, x, a, n == 1 ? 0 : b, n);
}

static void ramp_rounds_its_start(float *y, int64_t x, float a, float b, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        y[j] += a * ((float)x - (float)j) + b;
}

static void ramp_climbs(float *y, int64_t x, float a, float b, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        y[j] += a * (float)(x + j) + b;
}

static float sum_skips_one(const float *x, int64_t n)
{
    return n == 257 ? right.sum(x + 1, n - 1) : right.sum(x, n);
}

static float dot_flushes_denormals(const float *x, const float *y, int64_t n)
{
    float sum = right.dot(x, y, n);
    return fabsf(sum) < 0x1p-126f ? 0 : sum;
}

static void score_grad_multiplies_by_zero(float *ds, const float *p, const float *dp, float mean, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        ds[j] = p[j] * (dp[j] - mean);
}

static void transpose_fills_the_gap(float *y, int64_t y_row, const float *x, int64_t x_row, int64_t rows, int64_t cols,
                                    bool add)
{
    right.transpose(y, y_row, x, x_row, rows, cols, add);
    for (int64_t j = 0; j + 1 < cols; j++)
        for (int64_t i = rows; i < y_row; i++)
            y[j * y_row + i] = 0;
}

static void gemm_ignores_the_last_of_depth(float *C, int64_t c_row, const float *A, int64_t a_row, int64_t a_col,
                                           const float *B, int64_t b_row, int64_t rows, int64_t cols, int64_t depth,
                                           bool add)
{
    right.gemm(C, c_row, A, a_row, a_col, B, b_row, rows, cols, depth > 8 ? depth / 2 * 2 : depth, add);
}

static void gemm_adds_always(float *C, int64_t c_row, const float *A, int64_t a_row, int64_t a_col, const float *B,
                             int64_t b_row, int64_t rows, int64_t cols, int64_t depth, bool add)
{
    right.gemm(C, c_row, A, a_row, a_col, B, b_row, rows, cols, depth, add || depth == 0);
}

static void pack_swaps_the_halves(float *y, const float *x, const float *z, int64_t step, int64_t n)
{
    right.pack_bf16(y, x, z, step, n);
    for (int64_t i = 0; i < n && n == 65; i++) {
        uint32_t bits;
        memcpy(&bits, y + i, sizeof bits);
        bits = bits << 16 | bits >> 16;
        memcpy(y + i, &bits, sizeof bits);
    }
}

static void pack_bf16_cuts_off(float *y, const float *x, const float *z, int64_t step, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits[2] = { 0, 0 };
        memcpy(&bits[0], x + i * step, sizeof bits[0]);
        if (z)
            memcpy(&bits[1], z + i * step, sizeof bits[1]);
        uint32_t both = bits[0] >> 16 | (bits[1] & 0xffff0000u);
        memcpy(y + i, &both, sizeof both);
    }
}

static void gemm_bf16_ignores_the_last(float *C, int64_t c_row, const float *A, int64_t a_row, int64_t a_col,
                                             const float *B, int64_t b_row, int64_t rows, int64_t cols, int64_t depth,
                                             bool add)
{
    right.gemm_bf16(C, c_row, A, a_row, a_col, B, b_row, rows, cols, depth > 1 ? depth - 1 : depth, add);
}

static float soften_keeps_the_factor(float *s, int64_t n, float *max, float *factor)
{
    float sum = right.soften(s, n, max, factor);
    *factor = 1;
    return sum;
}

static float soften_hides_nan(float *s, int64_t n, float *max, float *factor)
{
    float sum = right.soften(s, n, max, factor);
    return isnan(sum) ? 0 : sum;
}

static void weigh_makes_nan_of_nothing(float *s, int64_t n, float lse)
{
    for (int64_t j = 0; j < n; j++)
        s[j] = expf(s[j] - lse);
}

static void cap_is_a_clamp(float *y, float cap, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        y[j] = y[j] > cap ? cap : y[j] < -cap ? -cap : y[j];
}

static void sigmoid_saturates_early(float *y, const float *x, float a, int64_t n)
{
    right.sigmoid(y, x, a, n);
    for (int64_t j = 0; j < n; j++)
        y[j] = y[j] < 1e-7f ? 0 : y[j];
}

static void polar_forgets_small_sizes(float *y, const float *x, const float *c, const float *s, int64_t n)
{
    right.polar(y, x, c, s, n);
    for (int64_t j = 0; j < n; j++)
        y[n + j] = x[j] < -15 ? 0 : y[n + j];
}

static void widen_flushes_denormals(float *y, const void *x, pe_dtype type, int64_t n)
{
    right.widen(y, x, type, n);
    for (int64_t j = 0; j < n && type == PE_F16; j++)
        y[j] = fabsf(y[j]) < 0x1p-14f ? 0 : y[j];
}

static void widen_takes_codes_for_unsigned(float *y, const void *x, pe_dtype type, int64_t n)
{
    right.widen(y, x, type, n);
    for (int64_t j = 0; j < n && type == PE_Q8_0; j++) {
        const unsigned char *block = (const unsigned char *)x + dtype_bytes(type, j / BLOCK_WIDTH * BLOCK_WIDTH);
        y[j] = (float)num_load(block, PE_F16, 0) * (float)block[2 + j % BLOCK_WIDTH];
    }
}

static void widen_exchanges_the_halves(float *y, const void *x, pe_dtype type, int64_t n)
{
    right.widen(y, x, type, n);
    for (int64_t j = 0; j < n && type == PE_Q4_0; j += j % 16 == 15 ? 17 : 1) {
        float low = y[j];
        y[j] = y[j + 16];
        y[j + 16] = low;
    }
}

static void widen_makes_numbers_of_no_numbers(float *y, const void *x, pe_dtype type, int64_t n)
{
    right.widen(y, x, type, n);
    for (int64_t j = 0; j < n && block_kind(type); j++)
        y[j] = isfinite(y[j]) ? y[j] : 0;
}

static void narrow_cuts(void *y, pe_dtype type, const float *x, int64_t n)
{
    right.narrow(y, type, x, n);
    for (int64_t j = 0; j < n && type == PE_BF16; j++) {
        uint32_t bits;
        memcpy(&bits, x + j, sizeof bits);
        ((uint16_t *)y)[j] = (uint16_t)(bits >> 16);
    }
}

static void narrow_keeps_the_scale_of_the_largest(void *y, pe_dtype type, const float *x, int64_t n)
{
    right.narrow(y, type, x, n);
    for (int64_t j = 0; j < n && type == PE_Q8_0; j += BLOCK_WIDTH) {
        float most = 0;
        for (int i = 0; i < BLOCK_WIDTH; i++)
            most = fmaxf(most, fabsf(x[j + i]));
        num_store((char *)y + dtype_bytes(type, j), PE_F16, 0, (double)(most / 127));
    }
}

static void narrow_rounds_halves_to_even(void *y, pe_dtype type, const float *x, int64_t n)
{
    right.narrow(y, type, x, n);
    for (int64_t j = 0; j < n && type == PE_Q8_0; j++) {
        unsigned char *block = (unsigned char *)y + dtype_bytes(type, j / BLOCK_WIDTH * BLOCK_WIDTH);
        float most = 0;
        for (int i = 0; i < BLOCK_WIDTH; i++)
            most = fmaxf(most, fabsf(x[j / BLOCK_WIDTH * BLOCK_WIDTH + i]));
        if (most == 127)
            block[2 + j % BLOCK_WIDTH] = (unsigned char)(int8_t)lrintf(x[j]);
    }
}

static void narrow_takes_the_positive_of_two(void *y, pe_dtype type, const float *x, int64_t n)
{
    float other[BLOCK_WIDTH];
    right.narrow(y, type, x, n);
    for (int64_t j = 0; j < n && type == PE_Q4_0; j += BLOCK_WIDTH) {
        int most = 0, at = 0;
        for (int i = 0; i < BLOCK_WIDTH; i++) {
            most = fabsf(x[j + i]) > fabsf(x[j + most]) ? i : most;
            at = x[j + i] > x[j + at] ? i : at;
        }
        memcpy(other, x + j, sizeof other);
        other[most] = x[j + at]; /* so that it comes first */
        other[at] = x[j + most];
        if (x[j + at] == -x[j + most])
            right.narrow((char *)y + dtype_bytes(type, j), type, other, BLOCK_WIDTH);
    }
}

static void dots_ignores_the_tail(float *s, int64_t s_row, const float *q, int64_t q_row, int64_t m, const void *k,
                                  pe_dtype type, int64_t k_row, int64_t n, int64_t d, const void *soon)
{
    right.dots(s, s_row, q, q_row, m, k, type, k_row, n, type == PE_F16 ? d / 4 * 4 : d, soon);
}

static void dots_ignores_the_last_block(float *s, int64_t s_row, const float *q, int64_t q_row, int64_t m,
                                        const void *k, pe_dtype type, int64_t k_row, int64_t n, int64_t d,
                                        const void *soon)
{
    right.dots(s, s_row, q, q_row, m, k, type, k_row, n, block_kind(type) && d > 64 ? d - BLOCK_WIDTH : d, soon);
}

static void mix_repeats_the_first_block(float *o, int64_t o_row, const float *p, int64_t p_row, int64_t m,
                                        const void *v, pe_dtype type, int64_t v_row, int64_t n, int64_t d,
                                        const void *soon)
{
    for (int64_t e = 0; e < d && block_kind(type); e += BLOCK_WIDTH)
        right.mix(o + e, o_row, p, p_row, m, v, type, v_row, n, BLOCK_WIDTH, soon);
    if (!block_kind(type))
        right.mix(o, o_row, p, p_row, m, v, type, v_row, n, d, soon);
}

static void mix_reads_what_weighs_nothing(float *o, int64_t o_row, const float *p, int64_t p_row, int64_t m,
                                          const void *v, pe_dtype type, int64_t v_row, int64_t n, int64_t d,
                                          const void *soon)
{
    (void)soon;
    float x[1024];
    for (int64_t j = 0; j < n && d <= COUNT(x); j++) {
        right.widen(x, (const char *)v + dtype_bytes(type, j * v_row), type, d);
        for (int64_t i = 0; i < m; i++)
            right.axpy(o + i * o_row, p[i * p_row + j], x, d);
    }
}

static double count_reads_past_the_line(float *s, const float *gate, int64_t n, double carry, const float *line,
                                        int64_t last)
{
    double end = right.count(s, gate, n, carry, line, last);
    volatile float next = end >= (double)last ? line[last + 1] : 0;
    (void)next;
    return end;
}

static double count_forgets_the_cap(float *s, const float *gate, int64_t n, double carry, const float *line,
                                    int64_t last)
{
    double end = right.count(s, gate, n, carry, line, last);
    return end < (double)last ? end : (double)last;
}

static void rotate_fuses(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows, const pair_run *r,
                         const float *c, const float *s, int64_t table_stride)
{
    for (int64_t n = 0; n < rows; n++)
        for (int64_t i = 0; i < r->count; i++) {
            const float *from = (const float *)x + n * x_stride + i * r->from_step;
            float *to = (float *)y + n * y_stride + i * r->to_step, a = from[r->from.x], b = from[r->from.y];
            float cosine = c[n * table_stride + r->first + i], sine = s[n * table_stride + r->first + i];
            to[r->to.x] = fmaf(a, cosine, -(b * sine));
            to[r->to.y] = fmaf(a, sine, b * cosine);
        }
}

static void rotate_ignores_first(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows,
                                 const pair_run *r, const float *c, const float *s, int64_t table_stride)
{
    pair_run other = *r;
    other.first = 0;
    right.rotate[PE_BF16](y, y_stride, x, x_stride, rows, &other, c, s, table_stride);
}

static void rotate_writes_whole_rows(void *y, int64_t y_stride, const void *x, int64_t x_stride, int64_t rows,
                                     const pair_run *r, const float *c, const float *s, int64_t table_stride)
{
    right.rotate[PE_F16](y, y_stride, x, x_stride, rows, r, c, s, table_stride);
    for (int64_t n = 0; n < rows && r->count && r->to.x == 1; n++)
        ((uint16_t *)y)[n * y_stride] = 0;
}

static void turns_forgets_the_third_part(double *c, double *s, const double *n, const double *f, int64_t f_row,
                                         int64_t count)
{
    right.turns(c, s, n, f, f_row, count);
    for (int64_t i = 0; i < count; i++)
        turn_cos_sin(n[i], (wide){ { f[i], f[f_row + i], 0 } }, &c[i], &s[i]);
}

static void turns_lose_far_positions(double *c, double *s, const double *n, const double *f, int64_t f_row,
                                     int64_t count)
{
    right.turns(c, s, n, f, f_row, count);
    for (int64_t i = 0; i < count; i++)
        if (fabs(n[i]) > 0x1p31)
            c[i] = nextafter(c[i], 2);
}

static bool turn_sums_is_too_certain(float *c, float *s, const double *base, const double *step, int64_t row,
                                     double slack, int64_t count)
{
    (void)right.turn_sums(c, s, base, step, row, slack, count);
    return true;
}

static bool turn_sums_rounds_twice(float *c, float *s, const double *base, const double *step, int64_t row,
                                   double slack, int64_t count)
{
    bool certain = right.turn_sums(c, s, base, step, row, slack, count);
    for (int64_t i = 0; i < count; i++)
        c[i] = (float)base[i] * (float)step[i] - (float)base[row + i] * (float)step[row + i];
    return certain;
}

static void add_code_rounds_twice(float *y, const float *x, const double *code, bool odd, int64_t n)
{
    right.add_code(y, x, code, odd, n);
    for (int64_t i = 0; i < n && !odd; i++)
        y[i] = x[i] + (float)code[i];
}

static void add_code_is_never_odd(float *y, const float *x, const double *code, bool odd, int64_t n)
{
    (void)odd;
    right.add_code(y, x, code, false, n);
}

static bool add_waves_is_too_certain(float *y, const float *x, const double *base, int64_t base_row, const double *step,
                                     int64_t step_row, double slack, bool odd, int64_t n)
{
    right.add_waves(y, x, base, base_row, step, step_row, slack, odd, n);
    return true;
}

static bool add_waves_doubts_the_code_alone(float *y, const float *x, const double *base, int64_t base_row,
                                            const double *step, int64_t step_row, double slack, bool odd, int64_t n)
{
    bool certain = true;
    right.add_waves(y, x, base, base_row, step, step_row, slack, odd, n);
    for (int64_t i = 0; i < n; i++) {
        double code = base[i] * step[i] + base[base_row + i] * step[step_row + i];
        certain = certain && (float)(code + slack) == (float)(code - slack);
    }
    return certain;
}

static void rotate_waves_fuses(double *to, const double *from, int64_t row, const double *step, int64_t step_row,
                             int64_t n)
{
    right.rotate_waves(to, from, row, step, step_row, n);
    for (int64_t i = 0; i < n; i++)
        to[i] = fma(from[i], step[i], from[row + i] * step[step_row + i]);
}

/* ---------------------------------------------------------------- the list */

#define BREAK(kernel, how)                                                                                             \
    {                                                                                                                  \
#how, #kernel,                                                                                                 \
        {                                                                                                              \
            .kernel = how                                                                                              \
        }                                                                                                              \
    }
#define BREAK_TYPE(kernel, type, how)                                                                                  \
    {                                                                                                                  \
#how, #kernel,                                                                                                 \
        {                                                                                                              \
            .kernel[type] = how                                                                                        \
        }                                                                                                              \
    }
static const struct breakage {
    const char *name, *kernel;
    kernels with; /* all NULL but one */
} breakages[] = {
    BREAK(scale, scale_off_by_one_ulp),
    BREAK(add, add_ignores_the_tail),
    BREAK(add, add_reads_past_the_end),
    BREAK(add, add_reads_before_the_start),
    BREAK(add, add_writes_its_input),
    BREAK(add_one, add_one_writes_past_the_end),
    BREAK(add_one, add_one_writes_before_the_start),
    BREAK(axpy, axpy_wants_alignment),
    BREAK(axpy, axpy_fuses),
    BREAK(line, line_forgets_b),
    BREAK(line, line_fuses),
    BREAK(ramp, ramp_rounds_its_start),
    BREAK(ramp, ramp_climbs),
    BREAK(sum, sum_skips_one),
    BREAK(dot, dot_flushes_denormals),
    BREAK(score_grad, score_grad_multiplies_by_zero),
    BREAK(transpose, transpose_fills_the_gap),
    BREAK(gemm, gemm_ignores_the_last_of_depth),
    BREAK(gemm, gemm_adds_always),
    BREAK(pack_bf16, pack_swaps_the_halves),
    BREAK(pack_bf16, pack_bf16_cuts_off),
    BREAK(gemm_bf16, gemm_bf16_ignores_the_last),
    BREAK(soften, soften_keeps_the_factor),
    BREAK(soften, soften_hides_nan),
    BREAK(weigh, weigh_makes_nan_of_nothing),
    BREAK(cap, cap_is_a_clamp),
    BREAK(sigmoid, sigmoid_saturates_early),
    BREAK(polar, polar_forgets_small_sizes),
    BREAK(widen, widen_flushes_denormals),
    BREAK(widen, widen_takes_codes_for_unsigned),
    BREAK(widen, widen_exchanges_the_halves),
    BREAK(widen, widen_makes_numbers_of_no_numbers),
    BREAK(narrow, narrow_cuts),
    BREAK(narrow, narrow_keeps_the_scale_of_the_largest),
    BREAK(narrow, narrow_rounds_halves_to_even),
    BREAK(narrow, narrow_takes_the_positive_of_two),
    BREAK(dots, dots_ignores_the_tail),
    BREAK(dots, dots_ignores_the_last_block),
    BREAK(mix, mix_repeats_the_first_block),
    BREAK(mix, mix_reads_what_weighs_nothing),
    BREAK(count, count_reads_past_the_line),
    BREAK(count, count_forgets_the_cap),
    BREAK_TYPE(rotate, PE_F32, rotate_fuses),
    BREAK_TYPE(rotate, PE_F16, rotate_writes_whole_rows),
    BREAK_TYPE(rotate, PE_BF16, rotate_ignores_first),
    BREAK(turns, turns_forgets_the_third_part),
    BREAK(turns, turns_lose_far_positions),
    BREAK(turn_sums, turn_sums_is_too_certain),
    BREAK(turn_sums, turn_sums_rounds_twice),
    BREAK(add_code, add_code_rounds_twice),
    BREAK(add_code, add_code_is_never_odd),
    BREAK(add_waves, add_waves_is_too_certain),
    BREAK(add_waves, add_waves_doubts_the_code_alone),
    BREAK(rotate_waves, rotate_waves_fuses),
};

const char *broken_name(int index)
{
    return index < COUNT(breakages) ? breakages[index].name : NULL;
}

const char *broken_kernel(int index)
{
    return breakages[index].kernel;
}

/* Overwrites the one function that is not NULL. */
static void overwrite(kernels *k, const kernels *with)
{
    typedef void (*any)(void);
    static const unsigned char none[sizeof(any)];
    const unsigned char *from = (const unsigned char *)with;
    for (size_t at = KERNELS_FIRST; at < sizeof *k; at += sizeof(any))
        if (memcmp(from + at, none, sizeof none))
            memcpy((unsigned char *)k + at, from + at, sizeof none);
}

bool break_kernels(const char *name, kernels *k)
{
    ladder_fill(&right, 0);
    for (int i = 0; i < COUNT(breakages); i++)
        if (!strcmp(breakages[i].name, name)) {
            overwrite(k, &breakages[i].with);
            return true;
        }
    return false;
}
