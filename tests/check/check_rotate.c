/* SPDX-License-Identifier: MIT
 *
 * Runs of pairs: every layout that a run can have, in and out of place, a table row for each row or one for all. */
#include "family.h"

enum { Y, X, C, S };

/* Where pair i's elements lie: side by side, or in two halves with a gap between; elements before them stay. */
static lane draw_lane(problem *p, int64_t step)
{
    int64_t start = p->bench ? 0 : draw_range(p, 0, 5), gap = p->bench || draw_bits(p) % 2 ? 0 : draw_range(p, 1, 7);
    lane two = step == 2 ? (lane){ start, start + 1 } : (lane){ start, start + p->run.count + gap };
    return step == 1 && !p->bench && draw_bits(p) % 4 == 0 ? (lane){ two.y, two.x } : two;
}

/* The last element of a row is one of the run, so that the guard page follows. */
static int64_t width(const pair_run *r, lane at, int64_t step)
{
    return r->count ? (at.x > at.y ? at.x : at.y) + (r->count - 1) * step + 1 : 0;
}

static void draw_run(problem *p)
{
    static const int64_t steps[4][2] = { { 1, 1 }, { 2, 2 }, { 2, 1 }, { 1, 2 } }; /* from, to */
    const int64_t *step = steps[p->bench ? 0 : draw_bits(p) % 4];
    p->run.count = p->bench ? 64 : p->flip ? draw_main(p) : draw_size(p, 40);
    p->run.first = p->bench ? 0 : draw_range(p, 0, 3);
    p->run.from_step = step[0];
    p->run.to_step = step[1];
    p->run.from = draw_lane(p, step[0]);
    p->add = !p->bench && step[0] == step[1] && draw_bits(p) % 2; /* in place */
    p->run.to = p->add ? p->run.from : draw_lane(p, step[1]);
}

void make_rotate(problem *p)
{
    p->type = p->bench ? p->type : (pe_dtype)(draw_bits(p) % 3);
    p->flip = draw_bits(p) % 2; /* many pairs, or many rows */
    draw_run(p);
    p->n = p->bench ? p->bench / 64 : p->flip ? draw_range(p, 0, 6) : draw_main(p) % 70;
    int64_t from = width(&p->run, p->run.from, p->run.from_step), to = width(&p->run, p->run.to, p->run.to_step);
    int64_t pairs = p->run.first + p->run.count, shared = draw_bits(p) % 4 == 0;
    p->stride[0] = draw_stride(p, to);
    p->stride[1] = p->add ? p->stride[0] : draw_stride(p, from);
    p->stride[2] = shared && !p->bench ? 0 : draw_stride(p, pairs);
    int64_t tables = p->stride[2] ? p->n : 1;
    draw_out(p, "y", p->type, p->n, to, p->stride[0], true)->read = p->add;
    draw_in(p, "x", p->type, p->add ? 0 : p->n, from, p->stride[1]);
    draw_in(p, "c", PE_F32, tables, pairs, p->stride[2]);
    draw_in(p, "s", PE_F32, tables, pairs, p->stride[2]);
    p->flops = 6 * (double)(p->n * p->run.count);
}

void call_rotate(const kernels *k, const problem *p, void *const *at)
{
    k->rotate[p->type](at[Y], p->stride[0], p->add ? at[Y] : at[X], p->stride[1], p->n, &p->run, at[C], at[S],
                       p->stride[2]);
}
