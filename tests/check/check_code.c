/* SPDX-License-Identifier: MIT
 *
 * Codes added to rows: sums that a float equals, that lie half way between two or beside that, and that leave their
 * range; waves that are added while they are rotated. */
#include "family.h"

static double drawn(const buffer *b, int64_t i, int64_t j)
{
    return num_load(b->data, b->type, i * b->stride + j);
}

/* x + code is next to where roundings change: half way between two floats, or at one. */
static double beside_a_float(problem *p, float x)
{
    float y = draw_finite(p);
    double next = (double)nextafterf(y, INFINITY), middle = draw_bits(p) % 2 ? ((double)y + next) / 2 : y;
    double off = (double)draw_range(p, -2, 2) * ldexp(1, (int)draw_range(p, -56, -44));
    return middle * (1 + off) - (double)x;
}

void make_add_code(problem *p)
{
    p->n = draw_main(p);
    p->elements = (double)p->n;
    p->flip = !p->bench && draw_bits(p) % 2; /* odd */
    draw_out(p, "y", PE_F32, 1, p->n, p->n, false);
    buffer *x = draw_in(p, "x", PE_F32, 1, p->n, p->n), *code = draw_in(p, "code", PE_F64, 1, p->n, p->n);
    for (int64_t j = 0; !p->bench && j < p->n; j++)
        if (draw_bits(p) % 2)
            put(code, 0, j, beside_a_float(p, (float)drawn(x, 0, j)));
}

void call_add_code(const kernels *k, const problem *p, void *const *at)
{
    k->add_code(at[0], at[1], at[2], p->flip, p->n);
}

/* ---------------------------------------------------------------- waves */

static void draw_waves(problem *p, buffer *b)
{
    for (int64_t j = 0; j < p->n; j++) {
        double angle = draw_bits(p) % 16 ? 7 * draw_uniform(p) : 0;
        put(b, 0, j, cos(angle));
        put(b, 1, j, sin(angle));
    }
}

/* Where x takes the sum next to where roundings change, as near as a float can. */
static float beside_a_wave(problem *p, double code)
{
    float y = (float)code;
    double middle = ((double)y + (double)nextafterf(y, draw_bits(p) % 2 ? 2 : -2)) / 2;
    return (float)((p->flip ? y : middle) - code);
}

void make_add_waves(problem *p)
{
    static const double slack[] = { 0, 0x1p-52, 0x1p-48, 0x1p-30 };
    p->n = draw_main(p);
    p->elements = (double)p->n;
    p->stride[0] = draw_stride(p, p->n);
    p->stride[1] = draw_stride(p, p->n);
    p->carry = slack[p->bench ? 2 : draw_bits(p) % COUNT(slack)];
    p->flip = !p->bench && draw_bits(p) % 2; /* odd */
    draw_out(p, "y", PE_F32, 1, p->n, p->n, false);
    draw_out(p, "certain", PE_F32, 1, 1, 1, false);
    buffer *x = draw_in(p, "x", PE_F32, 1, p->n, p->n);
    buffer *base = draw_in(p, "base", PE_F64, 2, p->n, p->stride[0]);
    buffer *step = draw_in(p, "step", PE_F64, 2, p->n, p->stride[1]);
    if (p->bench || (p->values != WIDE && p->values != CANCELLING)) { /* finite numbers, angles or not */
        draw_waves(p, base);
        draw_waves(p, step);
    }
    uint64_t near = draw_bits(p) % 3; /* none, one, half of them */
    int64_t only = draw_range(p, 0, p->n);
    for (int64_t j = 0; !p->bench && j < p->n; j++)
        if ((near == 1 && j == only) || (near == 2 && draw_bits(p) % 2))
            put(x, 0, j,
                (double)beside_a_wave(p,
                                      drawn(base, 0, j) * drawn(step, 0, j) + drawn(base, 1, j) * drawn(step, 1, j)));
}

void call_add_waves(const kernels *k, const problem *p, void *const *at)
{
    *(float *)at[1] = k->add_waves(at[0], at[2], at[3], p->stride[0], at[4], p->stride[1], p->carry, p->flip, p->n);
}

/* Where it is not certain, nothing is said of what it wrote. */
void truth_add_waves(problem *p)
{
    p->free[0] = *(const float *)p->buffer[1].want == 0;
}

void make_rotate_waves(problem *p)
{
    p->n = draw_main(p);
    p->elements = (double)p->n;
    p->stride[0] = draw_stride(p, p->n);
    p->stride[1] = draw_stride(p, p->n);
    draw_out(p, "to", PE_F64, 2, p->n, p->stride[0], false);
    buffer *from = draw_in(p, "from", PE_F64, 2, p->n, p->stride[0]);
    buffer *step = draw_in(p, "step", PE_F64, 2, p->n, p->stride[1]);
    if (p->bench || draw_bits(p) % 2) {
        draw_waves(p, from);
        draw_waves(p, step);
    }
}

void call_rotate_waves(const kernels *k, const problem *p, void *const *at)
{
    k->rotate_waves(at[0], at[1], p->stride[0], at[2], p->stride[1], p->n);
}
