/* SPDX-License-Identifier: MIT
 *
 * Exponentials of rows. An argument x is a difference rounded in float32, so that the bound of exp(x) grows with |x|.
 */
#include "family.h"

#include <float.h>

/* Scores as softmax meets them: some hidden, some far below the largest. */
static void draw_scores(problem *p, buffer *s)
{
    for (int64_t j = 0; j < p->n; j++)
        if (p->values <= WIDE)
            put(s, 0, j, draw_bits(p) % 5 == 0 ? (double)-INFINITY : 100 * draw_uniform(p));
}

static int64_t lanes(problem *p)
{
    return p->bench ? p->bench / LANES * LANES : LANES * (draw_main(p) % 80);
}

void make_soften(problem *p)
{
    p->n = lanes(p);
    buffer *s = draw_out(p, "s", PE_F32, 1, p->n, p->n, true);
    draw_scores(p, s);
    buffer *max = draw_out(p, "max", PE_F32, 1, 1, 1, true);
    if (p->bench || draw_bits(p) % 2)
        put(max, 0, 0, p->bench || draw_bits(p) % 2 ? (double)-INFINITY : 50 * draw_uniform(p));
    draw_out(p, "factor", PE_F32, 1, 1, 1, false);
    draw_out(p, "sum", PE_F32, 1, 1, 1, false)->terms = (double)p->n;
}

void call_soften(const kernels *k, const problem *p, void *const *at)
{
    *(float *)at[3] = k->soften(at[0], p->n, at[1], at[2]);
}

static void expect_exp(buffer *b, int64_t j, double x)
{
    double y = exp(x);
    bool over = y > 1.01 * FLT_MAX;
    expect(b, 0, j, over ? (double)INFINITY : y, over || y == 0 ? 0 : y * (1 + fabs(x)));
}

/* A NaN or +inf among the scores, or before them, makes the sum NaN; nothing else is said of such a row. */
static bool is_lost(problem *p)
{
    bool lost = !(was(&p->buffer[1], 0, 0) < (double)INFINITY);
    for (int64_t j = 0; j < p->n; j++)
        lost |= !(was(&p->buffer[0], 0, j) < (double)INFINITY);
    return lost;
}

void truth_soften(problem *p)
{
    buffer *s = &p->buffer[0];
    double old = was(&p->buffer[1], 0, 0), most = old, sum = 0, size = 0;
    if (is_lost(p)) {
        p->free[0] = p->free[1] = p->free[2] = true;
        p->free[3] = !(old < (double)INFINITY);
        expect(&p->buffer[3], 0, 0, (double)NAN, 0);
        return;
    }
    for (int64_t j = 0; j < p->n; j++)
        most = fmax(most, was(s, 0, j));
    double from = most == (double)-INFINITY ? 0 : most;
    for (int64_t j = 0; j < p->n; j++) {
        expect_exp(s, j, was(s, 0, j) - from);
        sum += s->truth[j];
        size += s->size[j];
    }
    expect(&p->buffer[1], 0, 0, most, 0);
    expect_exp(&p->buffer[2], 0, old == (double)-INFINITY ? 0 : old - from);
    expect(&p->buffer[3], 0, 0, sum, size);
}

void make_weigh(problem *p)
{
    p->n = lanes(p);
    buffer *s = draw_out(p, "s", PE_F32, 1, p->n, p->n, true);
    draw_scores(p, s);
    uint64_t kind = draw_bits(p) % 4;
    p->a = p->bench ? 1 : kind == 0 ? draw_value(p) : kind == 1 ? -INFINITY : (float)(60 * draw_uniform(p));
}

void call_weigh(const kernels *k, const problem *p, void *const *at)
{
    k->weigh(at[0], p->n, p->a);
}

void truth_weigh(problem *p)
{
    for (int64_t j = 0; j < p->n; j++) {
        double s = was(&p->buffer[0], 0, j), lse = (double)p->a, none = (double)-INFINITY;
        expect_exp(&p->buffer[0], j, s == none || lse == none ? none : s - lse);
    }
}

void make_cap(problem *p)
{
    p->n = draw_main(p);
    p->a = p->bench ? 30 : (float)(0.01 + 100 * fabs(draw_uniform(p)));
    draw_out(p, "y", PE_F32, 1, p->n, p->n, true);
}

void call_cap(const kernels *k, const problem *p, void *const *at)
{
    k->cap(at[0], p->a, p->n);
}

void truth_cap(problem *p)
{
    for (int64_t j = 0; j < p->n; j++) {
        double y = (double)p->a * tanh(was(&p->buffer[0], 0, j) / (double)p->a);
        expect(&p->buffer[0], 0, j, y, fabs(y));
    }
}

/* Where x is large the size is x; where it is far below 0, exp(x). c and s are a cosine and a sine. */
void make_polar(problem *p)
{
    p->n = draw_main(p);
    draw_out(p, "y", PE_F32, 1, 2 * p->n, 2 * p->n, false);
    buffer *x = draw_in(p, "x", PE_F32, 1, p->n, p->n);
    for (int64_t j = 0; j < p->n && p->values == WIDE; j++)
        put(x, 0, j, 150 * draw_uniform(p));
    for (int i = 0; i < 2; i++) {
        buffer *turn = draw_in(p, i ? "s" : "c", PE_F32, 1, p->n, p->n);
        for (int64_t j = 0; j < p->n; j++)
            put(turn, 0, j, draw_uniform(p));
    }
}

void call_polar(const kernels *k, const problem *p, void *const *at)
{
    k->polar(at[0], at[1], at[2], at[3], p->n);
}

void truth_polar(problem *p)
{
    for (int64_t j = 0; j < 2 * p->n; j++) {
        double x = was(&p->buffer[1], 0, j % p->n), turn = was(&p->buffer[j < p->n ? 2 : 3], 0, j % p->n);
        double y = (x > 0 ? x + log1p(exp(-x)) : log1p(exp(x))) * turn;
        expect(&p->buffer[0], 0, j, y, fabs(y));
    }
}

void make_sigmoid(problem *p)
{
    p->n = draw_main(p);
    p->a = p->bench ? 0.125f : draw_bits(p) % 4 ? (float)draw_uniform(p) : draw_finite(p);
    draw_out(p, "y", PE_F32, 1, p->n, p->n, false);
    buffer *x = draw_in(p, "x", PE_F32, 1, p->n, p->n);
    for (int64_t j = 0; j < p->n && p->values == WIDE; j++)
        put(x, 0, j, 150 * draw_uniform(p));
}

void call_sigmoid(const kernels *k, const problem *p, void *const *at)
{
    k->sigmoid(at[0], at[1], p->a, p->n);
}

void truth_sigmoid(problem *p)
{
    for (int64_t j = 0; j < p->n; j++) {
        double x = (double)p->a * was(&p->buffer[1], 0, j), y = 1 / (1 + exp(-x));
        expect(&p->buffer[0], 0, j, y, y == 0 ? 0 : y * (1 + fmin(fabs(x), 1000)));
    }
}
