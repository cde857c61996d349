/* SPDX-License-Identifier: MIT
 *
 * Work in pieces. How many there are follows from the shapes, never from the workers, so that sums over pieces have the
 * same bits for any number of them. */
#include "model/parts.h"

#include <math.h>

typedef struct task {
    piece_job job;
    void *arg;
    int64_t rows, size;
} task;

static void run_piece(void *arg, int64_t n, int worker)
{
    const task *t = arg;
    int64_t first = n * t->size, left = t->rows - first;
    t->job(t->arg, (piece){ first, left < t->size ? left : t->size, n, worker });
}

static void run_task(const model *m, task t)
{
    int64_t pieces = (t.rows + t.size - 1) / t.size;
    if (m->pool)
        m->pool->run(m->pool->self, run_piece, &t, pieces);
    for (int64_t n = 0; !m->pool && n < pieces; n++)
        run_piece(&t, n, 0);
}

void run_rows(const model *m, piece_job job, void *arg, int64_t rows)
{
    run_task(m, (task){ job, arg, rows, CHUNK });
}

void run_each(const model *m, piece_job job, void *arg, int64_t count)
{
    run_task(m, (task){ job, arg, count, 1 });
}

static void add_bias(real *y, const real *bias, int64_t rows, int64_t width)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < width; j++)
            y[i * width + j] += bias[j];
}

void linear_forward(const model *m, linear l, real *y, real *x, piece p, real keep)
{
    gemm_forward(rows_at(y, l.out, p.first), rows_at(x, l.in, p.first), weight_of(m, l), p.count, l.out, l.in, keep);
    if (l.bias >= 0)
        add_bias(y + p.first * l.out, m->weights + l.bias, p.count, l.out);
}

void linear_input(const model *m, linear l, real *dx, real *dy, piece p)
{
    gemm_input(rows_at(dx, l.in, p.first), rows_at(dy, l.out, p.first), weight_of(m, l), p.count, l.out, l.in, 0);
}

bool finite_all(const real *x, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}
