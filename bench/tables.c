/* SPDX-License-Identifier: MIT
 *
 * Tables of cos and sin, 64 pairs: ns per value on every rung; beside it libm in float64, as a caller would write it.
 */
#include "attend.h"

#include <math.h>
#include <stdlib.h>

enum { PAIRS = 64, CHUNK = 1024 };
#define SPEC "rope:theta=10000"

typedef struct making {
    const pe_encoding *e; /* NULL: libm */
    pe_view cosine, sine;
    int64_t tokens;
    const int64_t *at; /* NULL: 0, 1, ... */
    const pe_pool *pool;
} making;

static pe_view rows(pe_view v, int64_t from, int64_t to)
{
    v.data = (float *)v.data + from * PAIRS;
    v.tokens = to - from;
    return v;
}

static void by_libm(const making *m, int64_t from, int64_t to)
{
    float *c = m->cosine.data, *s = m->sine.data;
    double frequency[PAIRS];
    for (int i = 0; i < PAIRS; i++)
        frequency[i] = pow(10000, -(double)i / PAIRS);
    for (int64_t t = from; t < to; t++)
        for (int i = 0; i < PAIRS; i++) {
            double angle = (double)(m->at ? m->at[t] : t) * frequency[i];
            c[t * PAIRS + i] = (float)cos(angle);
            s[t * PAIRS + i] = (float)sin(angle);
        }
}

static void make_chunk(void *arg, int64_t n, int worker)
{
    const making *m = arg;
    int64_t from = n * CHUNK, to = from + CHUNK < m->tokens ? from + CHUNK : m->tokens;
    pe_positions at =
        m->at ? pe_positions_of(m->at + from, PE_I64, 1, to - from, 1) : pe_positions_run(1, to - from, from);
    pe_error err;
    (void)worker;
    if (!m->e)
        by_libm(m, from, to);
    else
        must(pe_rotate_table(m->e, PE_QUERY, rows(m->cosine, from, to), rows(m->sine, from, to), at, NULL, &err), &err,
             SPEC);
}

static void make(void *arg)
{
    const making *m = arg;
    int64_t chunks = (m->tokens + CHUNK - 1) / CHUNK;
    if (m->pool)
        m->pool->run(m->pool->self, make_chunk, arg, chunks);
    for (int64_t n = 0; !m->pool && n < chunks; n++)
        make_chunk(arg, n, 0);
}

static void measure(bench *b, const char *line, making base, int thread_index)
{
    int rungs = rung_count();
    making m[BENCH_RUNGS_MAX + 1];
    contender c[BENCH_RUNGS_MAX + 1];
    double values = 2.0 * PAIRS * (double)base.tokens;
    for (int r = 0; r <= rungs; r++) {
        m[r] = base;
        m[r].e = r < rungs ? encoding(SPEC, (pe_shape){ 1, 0, 2 * PAIRS, 0 }, rung_name(r)) : NULL;
        m[r].pool = pool_at(b, thread_index);
        c[r] = (contender){ .run = make, .arg = &m[r] };
    }
    race(b, c, rungs + 1);
    for (int r = 0; r <= rungs; r++) {
        cell_add(b, (cell){ .kind = r < rungs - 1 ? CELL_OURS
                                    : r < rungs   ? CELL_MAIN
                                                  : CELL_PEER,
                            .table = "tables",
                            .line = line,
                            .n = base.tokens,
                            .who = r < rungs ? rung_name(r) : "libm, float64",
                            .unit = "ns/value",
                            .threads = threads_at(b, thread_index),
                            .value = c[r].best / values * 1e9,
                            .seconds = c[r].best,
                            .best_of = c[r].turns });
        pe_encoding_free((pe_encoding *)(uintptr_t)m[r].e);
    }
}

void bench_table(bench *b)
{
    int64_t n = b->quick ? 2048 : 131072, bytes = n * PAIRS * 4;
    making m = { .tokens = n };
    int64_t *scattered = buffer(n * 8);
    for (int64_t t = 0; t < n; t++)
        scattered[t] = t * 7919 % 1048573;
    m.cosine = pe_view_of(buffer(bytes), PE_F32, 1, n, 1, PAIRS);
    m.sine = pe_view_of(buffer(bytes), PE_F32, 1, n, 1, PAIRS);
    for (int t = 0; t < thread_counts(b); t++) {
        say(b, "tables: %d positions, %d threads", (int)n, threads_at(b, t));
        m.at = NULL;
        measure(b, "positions in order", m, t);
        m.at = scattered;
        measure(b, "positions up to 2^20, scattered", m, t);
    }
    cell_add(b, (cell){ .kind = CELL_GOAL,
                        .table = "tables",
                        .line = "positions in order",
                        .n = n,
                        .who = "goal",
                        .text = "6x NumPy, exact" });
    free(m.cosine.data);
    free(m.sine.data);
    free(scattered);
}
