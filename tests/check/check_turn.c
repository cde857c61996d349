/* SPDX-License-Identifier: MIT
 *
 * cos and sin of any number of steps, whole or not: bit for bit, and next to quarter turns too. */
#include "family.h"

static double draw_position(problem *p)
{
    static const double far[] = { 0, 1, -1, 0x1p31, 0x1p36, -0x1p36, 0x1p37, 0x1p36 - 1, 0.5, -0x1p-30, 0x1p-1000 };
    uint64_t kind = p->bench ? 2 : draw_bits(p) % 4;
    if (kind == 0)
        return far[draw_bits(p) % COUNT(far)];
    if (kind == 3)
        return ldexp(draw_uniform(p), (int)draw_range(p, -60, 36));
    return (double)draw_range(p, kind == 1 ? -(INT64_C(1) << 36) : 0, kind == 1 ? INT64_C(1) << 36 : 1 << 20);
}

/* Turns per step: below one, down to 2^-40; some that end at eighths of a turn after n steps, or beside them. */
static wide draw_frequency(problem *p, double n)
{
    double f = draw_uniform(p);
    uint64_t kind = p->bench ? 3 : draw_bits(p) % 6;
    if (kind == 0)
        return wide_from((double)draw_range(p, -8, 8) / 8 * (draw_bits(p) % 2 ? 1 : 0x1p-12));
    if (kind == 1 && fabs(n) > 8)
        f = ((double)draw_range(p, 0, 7) / 8 + (double)draw_range(p, 0, 7)) / n;
    if (kind == 2)
        f = ldexp(f, (int)draw_range(p, -40, 0));
    return (wide){ { f, f * 0x1p-54 * draw_uniform(p), f * 0x1p-108 * draw_uniform(p) } };
}

void make_turns(problem *p)
{
    p->n = draw_main(p);
    p->elements = (double)p->n;
    p->stride[0] = draw_stride(p, p->n);
    draw_out(p, "c", PE_F64, 1, p->n, p->n, false);
    draw_out(p, "s", PE_F64, 1, p->n, p->n, false);
    buffer *n = draw_in(p, "n", PE_F64, 1, p->n, p->n), *f = draw_in(p, "f", PE_F64, 3, p->n, p->stride[0]);
    for (int64_t j = 0; j < p->n; j++) {
        double steps = draw_position(p);
        wide turns = draw_frequency(p, steps);
        put(n, 0, j, steps);
        for (int i = 0; i < 3; i++)
            put(f, i, j, turns.part[i]);
    }
}

void call_turns(const kernels *k, const problem *p, void *const *at)
{
    k->turns(at[0], at[1], at[2], at[3], p->stride[0], p->n);
}

/* ---------------------------------------------------------------- the sum of two angles */

static void draw_angles(problem *p, buffer *b)
{
    for (int64_t j = 0; j < p->n; j++) {
        double angle = draw_bits(p) % 16 ? 7 * draw_uniform(p) : 0;
        put(b, 0, j, cos(angle));
        put(b, 1, j, sin(angle));
    }
}

void make_turn_sums(problem *p)
{
    static const double slack[] = { 0, 0x1p-52, 0x1p-48, 0x1p-30 };
    p->n = draw_main(p);
    p->elements = (double)p->n;
    p->stride[0] = draw_stride(p, p->n);
    p->carry = slack[p->bench ? 1 : draw_bits(p) % COUNT(slack)];
    draw_out(p, "c", PE_F32, 1, p->n, p->n, false);
    draw_out(p, "s", PE_F32, 1, p->n, p->n, false);
    draw_out(p, "certain", PE_F32, 1, 1, 1, false);
    buffer *base = draw_in(p, "base", PE_F64, 2, p->n, p->stride[0]);
    buffer *step = draw_in(p, "step", PE_F64, 2, p->n, p->stride[0]);
    if (p->bench || (p->values != WIDE && p->values != CANCELLING)) { /* finite numbers, angles or not */
        draw_angles(p, base);
        draw_angles(p, step);
    }
}

void call_turn_sums(const kernels *k, const problem *p, void *const *at)
{
    *(float *)at[2] = k->turn_sums(at[0], at[1], at[3], at[4], p->stride[0], p->carry, p->n);
}

/* Where it is not certain, nothing is said of what it wrote. */
void truth_turn_sums(problem *p)
{
    p->free[0] = p->free[1] = *(const float *)p->buffer[2].want == 0;
}
