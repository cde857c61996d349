/* SPDX-License-Identifier: MIT
 *
 * C = A B, or += : A read along its rows or its columns, rows apart, B finite; of float32, or of two
 * bfloat16 in the place of each. */
#include "family.h"

/* One of the three sizes is this case's, the others are small. */
static void draw_sizes(problem *p)
{
    int64_t main = draw_main(p), which = (int64_t)(draw_bits(p) % 3);
    p->m = which == 0 ? main : draw_size(p, 19);
    p->n = LANES * (which == 1 ? main % 12 : draw_range(p, 0, 3));
    p->d = which == 2 ? main : draw_size(p, 40);
    if (p->bench)
        p->m = 64, p->n = 64, p->d = 128;
}

/* Of a buffer with two bfloat16 in the place of a float32: twice as many in a row. */
static int64_t half_at(const buffer *b, int64_t i, int64_t j)
{
    return 2 * i * b->stride + j;
}

/* An input of which all is finite, or of A a quarter is 0. */
static void fill_factor(problem *p, buffer *b, bool two, bool zeros)
{
    for (int64_t i = 0; i < b->rows; i++)
        for (int64_t j = 0; j < (two ? 2 : 1) * b->cols; j++) {
            bool zero = zeros && !p->bench && draw_bits(p) % 4 == 0;
            double x = zero ? 0 : (double)(zeros ? draw_value(p) : draw_finite(p));
            if (two && isfinite(x)) /* and stays so */
                x = fmin(fmax(x, -0x1.fep127), 0x1.fep127);
            if (two)
                num_store(b->data, PE_BF16, half_at(b, i, j), x);
            else
                put(b, i, j, x);
        }
}

static void make_product(problem *p, bool two)
{
    const int64_t each = two ? 2 : 1;
    draw_sizes(p);
    p->add = draw_bits(p) % 2;
    p->flip = !p->bench && draw_bits(p) % 2; /* A transposed */
    int64_t rows = p->flip ? p->d : p->m, cols = p->flip ? p->m : p->d;
    p->stride[0] = draw_stride(p, p->n);
    p->stride[1] = draw_stride(p, cols);
    p->stride[2] = draw_stride(p, p->n);
    draw_out(p, "C", PE_F32, p->m, p->n, p->stride[0], p->add)->terms = (double)(each * p->d);
    fill_factor(p, draw_in(p, "A", PE_F32, rows, cols, p->stride[1]), two, true);
    fill_factor(p, draw_in(p, "B", PE_F32, p->d, p->n, p->stride[2]), two, false);
    p->flops = 2 * (double)(p->m * p->n * p->d * each);
}

void make_gemm(problem *p)
{
    make_product(p, false);
}

void make_gemm_bf16(problem *p)
{
    make_product(p, true);
}

void call_gemm(const kernels *k, const problem *p, void *const *at)
{
    k->gemm(at[0], p->stride[0], at[1], p->flip ? 1 : p->stride[1], p->flip ? p->stride[1] : 1, at[2], p->stride[2],
            p->m, p->n, p->d, p->add);
}

void truth_gemm(problem *p)
{
    const buffer *a = &p->buffer[1], *b = &p->buffer[2];
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            double sum = p->add ? was(&p->buffer[0], i, j) : 0, size = finite_size(sum);
            for (int64_t e = 0; e < p->d; e++) {
                double term = (p->flip ? was(a, e, i) : was(a, i, e)) * was(b, e, j);
                sum += term;
                size += finite_size(term);
            }
            expect(&p->buffer[0], i, j, sum, size);
        }
}

void call_gemm_bf16(const kernels *k, const problem *p, void *const *at)
{
    k->gemm_bf16(at[0], p->stride[0], at[1], p->flip ? 1 : p->stride[1], p->flip ? p->stride[1] : 1, at[2],
                  p->stride[2], p->m, p->n, p->d, p->add);
}

/* Half h of element (i, j): numbers below the least normal count as 0. */
static double half_was(const buffer *b, int64_t i, int64_t j, int64_t h)
{
    double x = num_load(b->was, PE_BF16, half_at(b, i, 2 * j + h));
    return fabs(x) < NORMAL_MIN ? 0 : x;
}

void truth_gemm_bf16(problem *p)
{
    const buffer *a = &p->buffer[1], *b = &p->buffer[2];
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            double sum = p->add ? was(&p->buffer[0], i, j) : 0, size = finite_size(sum);
            for (int64_t e = 0; e < 2 * p->d; e++) {
                double x = p->flip ? half_was(a, e / 2, i, e % 2) : half_was(a, i, e / 2, e % 2);
                double term = x * half_was(b, e / 2, j, e % 2);
                sum += term;
                size += finite_size(term);
            }
            expect(&p->buffer[0], i, j, sum, size);
        }
}

/* Along a row, or of two rows, the second perhaps missing; in place or not. */
void make_pack_bf16(problem *p)
{
    p->n = draw_main(p);
    p->flip = p->bench || draw_bits(p) % 2;          /* along a row */
    p->add = !p->bench && draw_bits(p) % 2;          /* in place   */
    p->m = p->flip ? 1 : (int64_t)(draw_bits(p) % 2); /* whether there is a second row */
    int64_t row = p->flip ? 2 * p->n : p->n;
    draw_out(p, "y", PE_F32, 1, p->add ? row : p->n, row, p->add);
    draw_in(p, "x", PE_F32, p->add ? 0 : 1, row, row);
    draw_in(p, "z", PE_F32, !p->flip && p->m, p->n, p->n);
    for (int i = p->add ? 0 : 1; i < 3; i++)
        for (int64_t j = 0; j < p->buffer[i].rows * p->buffer[i].cols; j++)
            if (!p->bench && draw_bits(p) % 2)
                put(&p->buffer[i], 0, j, (double)beside_a_tie(p, PE_BF16));
}

void call_pack_bf16(const kernels *k, const problem *p, void *const *at)
{
    const float *x = p->add ? at[0] : at[1];
    k->pack_bf16(at[0], x, p->flip ? x + 1 : p->m ? at[2] : NULL, p->flip ? 2 : 1, p->n);
}
