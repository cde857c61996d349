/* SPDX-License-Identifier: MIT
 *
 * What this machine allows: bandwidth at the sizes of its caches and beyond, multiply-adds on every rung. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const yardstick *const sticks[] = {
    &yardstick_scalar,
#if BENCH_X86
    &yardstick_avx2,
    &yardstick_avx512,
#endif
#if BENCH_ARM
    &yardstick_neon,
#endif
};

/* Asked once: in a virtual machine the question takes microseconds. */
static const char *rungs[BENCH_RUNGS_MAX + 1];

static void find_rungs(void)
{
    const char *name;
    pe_encoding *e = encoding(pe_info_at(0)->name, (pe_shape){ .heads = 8, .head_dim = 64 }, NULL);
    int count = 0;
    for (int i = 0; (name = pe_kernels_name(i)) && count < BENCH_RUNGS_MAX; i++)
        if (!pe_encoding_set_kernels(e, name, NULL))
            rungs[count++] = name;
    pe_encoding_free(e);
}

const char *rung_name(int index)
{
    if (!rungs[0])
        find_rungs();
    return index < BENCH_RUNGS_MAX ? rungs[index] : NULL;
}

int rung_count(void)
{
    int count = 0;
    while (rung_name(count))
        count++;
    return count;
}

const yardstick *yardstick_at(int rung)
{
    for (; rung > 0; rung--)
        for (int i = 0; i < BENCH_COUNT(sticks); i++)
            if (!strcmp(sticks[i]->rung, rung_name(rung)))
                return sticks[i];
    return &yardstick_scalar;
}

/* ---------------------------------------------------------------- multiply-adds */

typedef struct peak_job {
    const yardstick *stick;
    int64_t rounds;
    const pe_pool *pool;
} peak_job;

static void peak_piece(void *arg, int64_t n, int worker)
{
    const peak_job *j = arg;
    volatile float sink = j->stick->peak(j->rounds);
    (void)sink;
    (void)n;
    (void)worker;
}

#define PEAK_PIECES 8 /* per worker */

static void peak_run(void *arg)
{
    const peak_job *j = arg;
    int64_t pieces = PEAK_PIECES * (j->pool ? j->pool->workers : 1);
    if (j->pool)
        j->pool->run(j->pool->self, peak_piece, arg, pieces);
    for (int64_t i = 0; !j->pool && i < pieces; i++)
        peak_piece(arg, i, 0);
}

static contender race_peak(const bench *b, int thread_index, int rung, double *flops)
{
    peak_job j = { yardstick_at(rung), b->quick ? 1000 : 100000, pool_at(b, thread_index) };
    contender c = { .run = peak_run, .arg = &j };
    race(b, &c, 1);
    *flops = (double)j.stick->flops * (double)j.rounds * PEAK_PIECES * threads_at(b, thread_index) / c.best;
    return c;
}

double peak_flops(const bench *b, int thread_index)
{
    static double known[2];
    if (known[thread_index] <= 0)
        race_peak(b, thread_index, rung_count() - 1, &known[thread_index]);
    return known[thread_index];
}

static void peaks(bench *b)
{
    for (int r = 0; r < rung_count(); r++)
        for (int t = 0; t < thread_counts(b); t++) {
            double flops;
            contender c = race_peak(b, t, r, &flops);
            cell_add(b, (cell){ .kind = CELL_LIMIT,
                                .table = "peak",
                                .line = "multiply-add, float32",
                                .who = rung_name(r),
                                .unit = "GFLOP/s",
                                .threads = threads_at(b, t),
                                .value = flops * 1e-9,
                                .seconds = c.best,
                                .best_of = c.turns });
        }
}

/* ---------------------------------------------------------------- bandwidth */

#define BUSY (INT64_C(64) << 20) /* bytes that a call goes over, so that waking threads does not count */

static void bandwidth(bench *b, const char *line, int64_t bytes, int thread_index)
{
    const int rounds = bytes < BUSY ? (int)(BUSY / bytes) : 1;
    static const char *const who[] = { "memcpy", "in-place scale", "read" };
    memory_job j[3];
    contender c[3];
    float *to = buffer(bytes), *from = buffer(bytes);
    fill(to, PE_F32, bytes / 4, 1);
    fill(from, PE_F32, bytes / 4, 2);
    for (int i = 0; i < 3; i++) {
        j[i] = (memory_job){ (memory_kind)i, to, from, bytes, pool_at(b, thread_index), rounds };
        c[i] = (contender){ .run = memory_run, .arg = &j[i] };
    }
    race(b, c, 3);
    for (int i = 0; i < 3; i++)
        cell_add(b, (cell){ .kind = CELL_LIMIT,
                            .table = "bandwidth",
                            .line = line,
                            .who = who[i],
                            .unit = "GB/s",
                            .threads = threads_at(b, thread_index),
                            .value = (double)bytes * rounds * (j[i].kind == MEMORY_READ ? 1 : 2) / c[i].best * 1e-9,
                            .seconds = c[i].best,
                            .best_of = c[i].turns });
    free(to);
    free(from);
}

/* ---------------------------------------------------------------- threads */

static void empty_job(void *arg, int64_t n, int worker)
{
    (void)arg;
    (void)n;
    (void)worker;
}

/* Calls by themselves: a race would keep the threads awake. */
static void waking(bench *b, bool asleep, int thread_index)
{
    const pe_pool *pool = pool_at(b, thread_index);
    const int turns = b->quick ? 20 : 400;
    double best = INFINITY;
    for (int i = 0; i < turns; i++) {
        if (asleep)
            nanosleep(&(struct timespec){ .tv_nsec = 300000 }, NULL);
        double start = bench_now();
        pool->run(pool->self, empty_job, NULL, pool->workers);
        best = fmin(best, bench_now() - start);
    }
    cell_add(b, (cell){ .kind = CELL_LIMIT,
                        .table = "waking",
                        .line = asleep ? "asleep" : "awake",
                        .who = "a call",
                        .unit = "us",
                        .threads = threads_at(b, thread_index),
                        .value = best * 1e6,
                        .seconds = best,
                        .best_of = turns });
}

void bench_limits(bench *b)
{
    static const struct {
        const char *line;
        int64_t bytes;
    } size[] = { { "16 KiB", 16 << 10 }, { "256 KiB", 256 << 10 }, { "8 MiB", 8 << 20 }, { "256 MiB", 256 << 20 } };
    for (int i = 0; i < BENCH_COUNT(size) - (b->quick ? 2 : 0); i++)
        for (int t = 0; t < thread_counts(b); t++) {
            say(b, "limits: memory, %s, %d threads", size[i].line, threads_at(b, t));
            bandwidth(b, size[i].line, size[i].bytes, t);
        }
    say(b, "limits: multiply-adds");
    peaks(b);
    for (int t = 0; t < thread_counts(b); t++)
        for (int asleep = 0; pool_at(b, t) && asleep < 2; asleep++)
            waking(b, asleep, t);
}
