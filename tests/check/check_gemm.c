/* SPDX-License-Identifier: MIT
 *
 * C = A B, or += : A read along its rows or its columns, rows apart, B finite. */
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

void make_gemm(problem *p)
{
    draw_sizes(p);
    p->add = draw_bits(p) % 2;
    p->flip = !p->bench && draw_bits(p) % 2; /* A transposed */
    int64_t rows = p->flip ? p->d : p->m, cols = p->flip ? p->m : p->d;
    p->stride[0] = draw_stride(p, p->n);
    p->stride[1] = draw_stride(p, cols);
    p->stride[2] = draw_stride(p, p->n);
    draw_out(p, "C", PE_F32, p->m, p->n, p->stride[0], p->add)->terms = (double)p->d;
    buffer *a = draw_in(p, "A", PE_F32, rows, cols, p->stride[1]);
    buffer *b = draw_in(p, "B", PE_F32, p->d, p->n, p->stride[2]);
    for (int64_t i = 0; i < b->rows; i++)
        for (int64_t j = 0; j < b->cols; j++)
            put(b, i, j, (double)draw_finite(p));
    for (int64_t i = 0; i < a->rows && !p->bench; i++)
        for (int64_t j = 0; j < a->cols; j++)
            if (draw_bits(p) % 4 == 0)
                put(a, i, j, 0);
    p->flops = 2 * (double)(p->m * p->n * p->d);
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
