/* SPDX-License-Identifier: MIT
 *
 * Queries against keys and values as a cache holds them, in five types; and keys counted from right to left. */
#include "family.h"

static void draw_cache(problem *p)
{
    static const pe_dtype types[] = { PE_F32, PE_F16, PE_BF16, PE_Q8_0, PE_Q4_0 };
    int64_t main = draw_main(p);
    bool keys = draw_bits(p) % 2;
    p->m = p->bench ? 1 : draw_range(p, 0, 9);
    p->n = p->bench ? p->bench / 32 : keys ? main : draw_size(p, 23);
    p->type = p->bench ? p->type : types[draw_bits(p) % COUNT(types)];
    p->d = draw_blocks(p, p->bench ? 128 : keys ? draw_size(p, 40) : main);
    for (int i = 0; i < 3; i++)
        p->stride[i] = draw_stride(p, i == 0 ? p->n : p->d);
    p->stride[2] = draw_blocks(p, p->stride[2]);
    p->flops = 2 * (double)(p->m * p->n * p->d);
}

void make_dots(problem *p)
{
    draw_cache(p);
    draw_out(p, "s", PE_F32, p->m, p->n, p->stride[0], false)->terms = (double)p->d;
    draw_in(p, "q", PE_F32, p->m, p->d, p->stride[1]);
    draw_in(p, "k", p->type, p->n, p->d, p->stride[2]);
}

void call_dots(const kernels *k, const problem *p, void *const *at)
{
    k->dots(at[0], p->stride[0], at[1], p->stride[1], p->m, at[2], p->type, p->stride[2], p->n, p->d, at[2]);
}

void truth_dots(problem *p)
{
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            double sum = 0, size = 0;
            for (int64_t e = 0; e < p->d; e++) {
                double term = was(&p->buffer[1], i, e) * was(&p->buffer[2], j, e);
                sum += term;
                size += finite_size(term);
            }
            expect(&p->buffer[0], i, j, sum, size);
        }
}

/* A value whose weight is 0 for all queries may be anything: it is left out. */
static void hide(problem *p, buffer *weight, buffer *v)
{
    for (int64_t j = 0; j < p->n && !p->bench; j++)
        if (draw_bits(p) % 4 == 0) {
            for (int64_t i = 0; i < p->m; i++)
                put(weight, i, j, draw_bits(p) % 2 ? 0.0 : -0.0);
            for (int64_t e = 0; e < p->d; e++)
                put(v, j, e, (double)(draw_bits(p) % 2 ? NAN : INFINITY));
        }
}

void make_mix(problem *p)
{
    draw_cache(p);
    draw_out(p, "o", PE_F32, p->m, p->d, p->stride[1], true)->terms = (double)p->n;
    buffer *weight = draw_in(p, "p", PE_F32, p->m, p->n, p->stride[0]);
    buffer *v = draw_in(p, "v", p->type, p->n, p->d, p->stride[2]);
    hide(p, weight, v);
}

void call_mix(const kernels *k, const problem *p, void *const *at)
{
    k->mix(at[0], p->stride[1], at[1], p->stride[0], p->m, at[2], p->type, p->stride[2], p->n, p->d, at[2]);
}

void truth_mix(problem *p)
{
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t e = 0; e < p->d; e++) {
            double sum = was(&p->buffer[0], i, e), size = finite_size(sum);
            for (int64_t j = 0; j < p->n; j++) {
                double weight = was(&p->buffer[1], i, j);
                double term = weight != 0 ? weight * was(&p->buffer[2], j, e) : 0;
                sum += term;
                size += finite_size(term);
            }
            expect(&p->buffer[0], i, e, sum, size);
        }
}

/* ---------------------------------------------------------------- count */

/* Gates of 0 .. 1; now and then one that is no number, which must not lead outside the line. */
void make_count(problem *p)
{
    p->n = draw_main(p);
    p->d = p->bench ? 64 : draw_range(p, 1, 40); /* last */
    p->carry = p->bench || draw_bits(p) % 3 ? 0 : fabs(draw_uniform(p)) * (double)(p->d + 3);
    draw_out(p, "s", PE_F32, 1, p->n, p->n, true);
    draw_out(p, "carry", PE_F64, 1, 1, 1, false);
    buffer *gate = draw_in(p, "gate", PE_F32, 1, p->n, p->n);
    draw_in(p, "line", PE_F32, 1, p->d + 1, p->d + 1);
    for (int64_t j = 0; j < p->n; j++) {
        uint64_t kind = p->bench ? 0 : draw_bits(p) % 8;
        bool poison = p->values == SPECIAL && draw_bits(p) % 16 == 0;
        put(gate, 0, j, poison ? (double)NAN : kind == 1 ? 0 : kind == 2 ? 1 : fabs(draw_uniform(p)));
    }
}

void call_count(const kernels *k, const problem *p, void *const *at)
{
    *(double *)at[1] = k->count(at[0], at[2], p->n, p->carry, at[3], p->d);
}

/* The steepest of the line's pieces here and next to here, as a place that is a little off may meet them. */
static double slope(const buffer *line, int64_t at)
{
    double most = 0;
    for (int64_t i = at - 1; i <= at + 1; i++)
        if (i >= 0 && i + 1 < line->cols)
            most = fmax(most, finite_size(was(line, 0, i + 1) - was(line, 0, i)));
    return most;
}

void truth_count(problem *p)
{
    double carry = p->carry, total = carry;
    for (int64_t j = p->n - 1; j >= 0; j--) {
        carry += was(&p->buffer[2], 0, j);
        total += fabs(was(&p->buffer[2], 0, j));
        double place_at = carry < (double)p->d ? carry : (double)p->d;
        int64_t at = (int64_t)place_at;
        at -= at == p->d;
        double t = place_at - (double)at, low = was(&p->buffer[3], 0, at), high = was(&p->buffer[3], 0, at + 1);
        double s = was(&p->buffer[0], 0, j), size = finite_size(s) + 2 * finite_size(low) + finite_size(high);
        expect(&p->buffer[0], 0, j, s + (low + t * (high - low)), size + place_at * slope(&p->buffer[3], at));
    }
    p->free[0] = isnan(carry) || p->values >= SPECIAL;
    expect(&p->buffer[1], 0, 0, carry, total);
}
