/* SPDX-License-Identifier: MIT
 *
 * The loops of attention: their definitions (kernels.h says what each does). */
#include "base/exact.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/block.h"
#include "base/num.h"
#include "kernels/kernels.h"

void gemm_c(float *C, int64_t c_row, const float *A, int64_t a_row, int64_t a_col, const float *B, int64_t b_row,
            int64_t rows, int64_t cols, int64_t depth, bool add)
{
    for (int64_t i = 0; i < rows; i++) {
        float *c = C + i * c_row;
        for (int64_t j = 0; !add && j < cols; j++)
            c[j] = 0;
        for (int64_t k = 0; k < depth; k++) {
            float a = A[i * a_row + k * a_col];
            for (int64_t j = 0; a != 0 && j < cols; j++)
                c[j] += a * B[k * b_row + j];
        }
    }
}

/* A NaN keeps what it has of its bits, and is quiet. */
static uint32_t bf16_of(const float *x)
{
    uint32_t bits = 0;
    if (x)
        memcpy(&bits, x, sizeof bits);
    if (x && isnan(*x))
        return bits >> 16 | 0x40;
    return x && fabsf(*x) >= FLT_MIN ? num_to_bf16((double)*x) : bits >> 16 & 0x8000;
}

static void pack_bf16_c(float *y, const float *x, const float *z, int64_t step, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits = bf16_of(x + i * step) | bf16_of(z ? z + i * step : NULL) << 16;
        memcpy(y + i, &bits, sizeof bits);
    }
}

/* The first or the second of two. */
static float bf16_get(const float *two, bool second)
{
    uint32_t bits;
    memcpy(&bits, two, sizeof bits);
    float x = (float)num_from_bf16((uint16_t)(second ? bits >> 16 : bits));
    return fabsf(x) < FLT_MIN ? 0 : x;
}

void gemm_bf16_c(float *C, int64_t c_row, const float *A, int64_t a_row, int64_t a_col, const float *B, int64_t b_row,
                  int64_t rows, int64_t cols, int64_t depth, bool add)
{
    for (int64_t i = 0; i < rows; i++) {
        float *c = C + i * c_row;
        for (int64_t j = 0; !add && j < cols; j++)
            c[j] = 0;
        for (int64_t k = 0; k < 2 * depth; k++) {
            float a = bf16_get(A + i * a_row + k / 2 * a_col, k % 2 != 0);
            for (int64_t j = 0; a != 0 && j < cols; j++)
                c[j] += a * bf16_get(B + k / 2 * b_row + j, k % 2 != 0);
        }
    }
}

static float soften_c(float *s, int64_t n, float *max, float *factor)
{
    float most = *max, sum = 0;
    for (int64_t j = 0; j < n; j++)
        most = s[j] > most ? s[j] : most;
    float from = most == -INFINITY ? 0 : most;
    for (int64_t j = 0; j < n; j++)
        sum += s[j] = expf(s[j] - from);
    *factor = *max == -INFINITY ? 1 : expf(*max - from);
    *max = most;
    return sum;
}

static void weigh_c(float *s, int64_t n, float lse)
{
    for (int64_t j = 0; j < n; j++)
        s[j] = s[j] == -INFINITY || lse == -INFINITY ? 0 : expf(s[j] - lse);
}

static void scale_c(float *y, float a, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        y[j] *= a;
}

static void add_c(float *y, const float *x, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        y[j] += x[j];
}

static void add_one_c(float *y, float a, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        y[j] += a;
}

static void axpy_c(float *y, float a, const float *x, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        y[j] += a * x[j];
}

static void line_c(float *y, const float *x, float a, float b, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        y[j] += a * x[j] + b;
}

static void ramp_c(float *y, int64_t x, float a, float b, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        y[j] += a * (float)(x - j) + b;
}

static float sum_c(const float *x, int64_t n)
{
    float sum = 0;
    for (int64_t j = 0; j < n; j++)
        sum += x[j];
    return sum;
}

static float dot_c(const float *x, const float *y, int64_t n)
{
    float sum = 0;
    for (int64_t j = 0; j < n; j++)
        sum += x[j] * y[j];
    return sum;
}

static void cap_c(float *y, float cap, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        y[j] = cap * tanhf(y[j] / cap);
}

static void sigmoid_c(float *y, const float *x, float a, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        y[j] = 1 / (1 + expf(-a * x[j]));
}

static void polar_c(float *y, const float *x, const float *c, const float *s, int64_t n)
{
    for (int64_t j = 0; j < n; j++) {
        float size = x[j] > 0 ? x[j] + log1pf(expf(-x[j])) : log1pf(expf(x[j]));
        y[j] = size * c[j];
        y[n + j] = size * s[j];
    }
}

static void score_grad_c(float *ds, const float *p, const float *dp, float mean, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        ds[j] = p[j] != 0 ? p[j] * (dp[j] - mean) : 0;
}

static void transpose_c(float *y, int64_t y_row, const float *x, int64_t x_row, int64_t rows, int64_t cols, bool add)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            y[j * y_row + i] = add ? y[j * y_row + i] + x[i * x_row + j] : x[i * x_row + j];
}

static void widen_c(float *y, const void *x, pe_dtype type, int64_t n)
{
    for (int64_t j = 0; block_kind(type) && j < n; j += BLOCK_WIDTH)
        block_load(y + j, (const char *)x + j / BLOCK_WIDTH * block_bytes(type), type);
    for (int64_t j = 0; !block_kind(type) && j < n; j++)
        y[j] = (float)num_load(x, type, j);
}

static void narrow_c(void *y, pe_dtype type, const float *x, int64_t n)
{
    for (int64_t j = 0; block_kind(type) && j < n; j += BLOCK_WIDTH)
        block_store((char *)y + j / BLOCK_WIDTH * block_bytes(type), x + j, type);
    for (int64_t j = 0; !block_kind(type) && j < n; j++)
        num_store(y, type, j, x[j]);
}

/* Elements of a row from `at` on, BLOCK_WIDTH or the n that are left: where they lie, or as floats in x. */
static const float *row_next(float x[BLOCK_WIDTH], const void *row, pe_dtype type, int64_t at, int64_t n)
{
    if (type == PE_F32)
        return (const float *)row + at;
    if (block_kind(type))
        block_load(x, (const char *)row + at / BLOCK_WIDTH * block_bytes(type), type);
    else
        for (int64_t j = 0; j < n && j < BLOCK_WIDTH; j++)
            x[j] = (float)num_load(row, type, at + j);
    return x;
}

static void dots_c(float *s, int64_t s_row, const float *q, int64_t q_row, int64_t m, const void *k, pe_dtype type,
                   int64_t k_row, int64_t n, int64_t d, const void *soon)
{
    float buffer[BLOCK_WIDTH];
    (void)soon;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < m; i++)
            s[i * s_row + j] = 0;
        for (int64_t e = 0; e < d; e += BLOCK_WIDTH) {
            const float *x = row_next(buffer, k, type, j * k_row + e, d - e);
            for (int64_t i = 0; i < m; i++) {
                float sum = s[i * s_row + j];
                for (int64_t l = 0; l < BLOCK_WIDTH && e + l < d; l++)
                    sum += q[i * q_row + e + l] * x[l];
                s[i * s_row + j] = sum;
            }
        }
    }
}

static void mix_c(float *o, int64_t o_row, const float *p, int64_t p_row, int64_t m, const void *v, pe_dtype type,
                  int64_t v_row, int64_t n, int64_t d, const void *soon)
{
    float buffer[BLOCK_WIDTH];
    (void)soon;
    for (int64_t j = 0; j < n; j++)
        for (int64_t e = 0; e < d; e += BLOCK_WIDTH) {
            const float *x = row_next(buffer, v, type, j * v_row + e, d - e);
            for (int64_t i = 0; i < m; i++) {
                float a = p[i * p_row + j];
                for (int64_t l = 0; a != 0 && l < BLOCK_WIDTH && e + l < d; l++)
                    o[i * o_row + e + l] += a * x[l];
            }
        }
}

static double count_c(float *s, const float *gate, int64_t n, double carry, const float *line, int64_t last)
{
    for (int64_t j = n - 1; j >= 0; j--) {
        carry += count_step((double)gate[j]);
        double place = carry < (double)last ? carry : (double)last;
        int64_t at = (int64_t)place;
        at -= at == last;
        float t = (float)(place - (double)at);
        s[j] += line[at] + t * (line[at + 1] - line[at]);
    }
    return carry;
}

void attend_c(kernels *k)
{
    k->gemm = gemm_c;
    k->pack_bf16 = pack_bf16_c;
    k->gemm_bf16 = gemm_bf16_c;
    k->soften = soften_c;
    k->weigh = weigh_c;
    k->scale = scale_c;
    k->add = add_c;
    k->add_one = add_one_c;
    k->axpy = axpy_c;
    k->line = line_c;
    k->ramp = ramp_c;
    k->sum = sum_c;
    k->dot = dot_c;
    k->cap = cap_c;
    k->sigmoid = sigmoid_c;
    k->polar = polar_c;
    k->score_grad = score_grad_c;
    k->transpose = transpose_c;
    k->widen = widen_c;
    k->narrow = narrow_c;
    k->dots = dots_c;
    k->mix = mix_c;
    k->count = count_c;
}
