/* SPDX-License-Identifier: MIT
 *
 * Rows of n elements. */
#include "family.h"

/* y and x of n elements, and two numbers. */
static void draw_row(problem *p, bool x)
{
    p->n = draw_main(p);
    p->a = p->bench ? 1 : draw_value(p);
    p->b = p->bench ? 0.5f : draw_value(p);
    draw_out(p, "y", PE_F32, 1, p->n, p->n, true);
    if (x)
        draw_in(p, "x", PE_F32, 1, p->n, p->n);
}

void make_scale(problem *p)
{
    draw_row(p, false);
}

void call_scale(const kernels *k, const problem *p, void *const *at)
{
    k->scale(at[0], p->a, p->n);
}

void make_add(problem *p)
{
    draw_row(p, true);
}

void call_add(const kernels *k, const problem *p, void *const *at)
{
    k->add(at[0], at[1], p->n);
}

void make_add_one(problem *p)
{
    draw_row(p, false);
}

void call_add_one(const kernels *k, const problem *p, void *const *at)
{
    k->add_one(at[0], p->a, p->n);
}

void make_axpy(problem *p)
{
    draw_row(p, true);
}

void call_axpy(const kernels *k, const problem *p, void *const *at)
{
    k->axpy(at[0], p->a, at[1], p->n);
}

void make_line(problem *p)
{
    draw_row(p, true);
}

void call_line(const kernels *k, const problem *p, void *const *at)
{
    k->line(at[0], at[1], p->a, p->b, p->n);
}

/* From a whole number that float32 has exactly, or no longer, or crosses. */
void make_ramp(problem *p)
{
    static const int64_t from[] = { 0, 100, -100, 1 << 24, -(1 << 24), INT64_C(1) << 36, -(INT64_C(1) << 36) };
    draw_row(p, false);
    p->d = from[draw_range(p, 0, COUNT(from) - 1)] + draw_range(p, -40, 40);
}

void call_ramp(const kernels *k, const problem *p, void *const *at)
{
    k->ramp(at[0], p->d, p->a, p->b, p->n);
}

/* ---------------------------------------------------------------- one number of a row */

void make_sum(problem *p)
{
    p->n = draw_main(p);
    draw_out(p, "sum", PE_F32, 1, 1, 1, false)->terms = (double)p->n;
    draw_in(p, "x", PE_F32, 1, p->n, p->n);
}

void call_sum(const kernels *k, const problem *p, void *const *at)
{
    *(float *)at[0] = k->sum(at[1], p->n);
}

void truth_sum(problem *p)
{
    double sum = 0, size = 0;
    for (int64_t j = 0; j < p->n; j++) {
        sum += was(&p->buffer[1], 0, j);
        size += finite_size(was(&p->buffer[1], 0, j));
    }
    expect(&p->buffer[0], 0, 0, sum, size);
}

void make_dot(problem *p)
{
    make_sum(p);
    draw_in(p, "y", PE_F32, 1, p->n, p->n);
    p->flops = 2 * (double)p->n;
}

void call_dot(const kernels *k, const problem *p, void *const *at)
{
    *(float *)at[0] = k->dot(at[1], at[2], p->n);
}

void truth_dot(problem *p)
{
    double sum = 0, size = 0;
    for (int64_t j = 0; j < p->n; j++) {
        double term = was(&p->buffer[1], 0, j) * was(&p->buffer[2], 0, j);
        sum += term;
        size += finite_size(term);
    }
    expect(&p->buffer[0], 0, 0, sum, size);
}

/* ---------------------------------------------------------------- gradients, and rows to columns */

/* Probabilities, many of them 0, beside gradients that may be anything there. */
void make_score_grad(problem *p)
{
    p->n = draw_main(p);
    p->a = p->bench ? 0.5f : draw_value(p);
    draw_out(p, "ds", PE_F32, 1, p->n, p->n, false);
    buffer *weight = draw_in(p, "p", PE_F32, 1, p->n, p->n);
    draw_in(p, "dp", PE_F32, 1, p->n, p->n);
    for (int64_t j = 0; j < p->n; j++)
        if (draw_bits(p) % 3 == 0)
            put(weight, 0, j, draw_bits(p) % 2 ? 0.0 : -0.0);
}

void call_score_grad(const kernels *k, const problem *p, void *const *at)
{
    k->score_grad(at[0], at[1], at[2], p->a, p->n);
}

void make_transpose(problem *p)
{
    bool many = draw_bits(p) % 2;
    int64_t n = p->bench ? p->bench / 64 : draw_main(p), m = p->bench ? 64 : draw_size(p, 67);
    p->n = many ? n : m; /* rows of x */
    p->m = many ? m : n;
    p->add = draw_bits(p) % 2;
    p->stride[0] = draw_stride(p, p->n);
    p->stride[1] = draw_stride(p, p->m);
    draw_out(p, "y", PE_F32, p->m, p->n, p->stride[0], p->add);
    draw_in(p, "x", PE_F32, p->n, p->m, p->stride[1]);
}

void call_transpose(const kernels *k, const problem *p, void *const *at)
{
    k->transpose(at[0], p->stride[0], at[1], p->stride[1], p->n, p->m, p->add);
}
