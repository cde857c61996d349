/* SPDX-License-Identifier: MIT
 *
 * pe_cache_shift on (n, 8, 128): bytes of K read and written, beside an in-place scale of as many bytes. */
#include "attend.h"

#include <stdlib.h>

#include "base/block.h"

enum { HEADS = 8, DIM = 128 };

typedef struct cache_case {
    const char *line, *spec;
    pe_dtype type;
} cache_case;
static const cache_case cases[] = {
    { "f32 half", "rope", PE_F32 },   { "f32 adjacent", "rope:pairs=adjacent", PE_F32 },
    { "f16 half", "rope", PE_F16 },   { "bf16 half", "rope", PE_BF16 },
    { "q8_0 half", "rope", PE_Q8_0 }, { "q4_0 half", "rope", PE_Q4_0 },
};

typedef struct shifting {
    const pe_encoding *e;
    pe_view k;
    pe_positions from, to;
    pe_run run;
} shifting;

static void shift(void *arg)
{
    const shifting *s = arg;
    pe_error err;
    must(pe_cache_shift(s->e, s->k, NULL, s->from, s->to, &s->run, &err), &err, pe_encoding_spec(s->e));
}

static void add_cells(bench *b, const char *line, int64_t n, const contender *c, int64_t bytes, int threads)
{
    cell x = { .kind = CELL_MAIN,
               .table = "cache",
               .line = line,
               .n = n,
               .who = "posenc",
               .unit = "GB/s",
               .threads = threads,
               .value = 2 * (double)bytes / c[0].best * 1e-9,
               .seconds = c[0].best,
               .best_of = c[0].turns };
    cell_add(b, x);
    x.kind = CELL_OURS;
    x.who = "per element";
    x.unit = "ns";
    x.value = c[0].best / (double)(n * HEADS * DIM) * 1e9;
    cell_add(b, x);
    x.kind = CELL_SHARE;
    x.who = "of in-place scale";
    x.unit = "%";
    x.value = 100 * c[1].best / c[0].best;
    cell_add(b, x);
}

static void measure(bench *b, const cache_case *k, int64_t n, int thread_index)
{
    int64_t elements = n * HEADS * DIM, bytes = dtype_bytes(k->type, elements);
    const pe_pool *pool = pool_at(b, thread_index);
    pe_encoding *e = encoding(k->spec, (pe_shape){ HEADS, 0, DIM, 0 }, NULL);
    shifting s = { e, pe_view_of(buffer(bytes), k->type, 1, n, HEADS, DIM), pe_positions_run(1, n, 100),
                   pe_positions_run(1, n, 0), PE_MAKE(pe_run, .pool = pool) };
    memory_job limit = { .kind = MEMORY_SCALE, .to = buffer(bytes), .bytes = bytes, .pool = pool };
    contender c[] = { { .run = shift, .arg = &s }, { .run = memory_run, .arg = &limit } };
    fill(s.k.data, k->type, elements, 1);
    race(b, c, 2);
    add_cells(b, k->line, n, c, bytes, threads_at(b, thread_index));
    free(s.k.data);
    free(limit.to);
    pe_encoding_free(e);
}

void bench_cache(bench *b)
{
    static const int64_t sizes[] = { 1024, 65536 };
    for (int i = 0; i < (b->quick ? 1 : BENCH_COUNT(sizes)); i++)
        for (int k = 0; k < BENCH_COUNT(cases); k++)
            for (int t = 0; t < thread_counts(b); t++) {
                say(b, "cache: %s, %d tokens", cases[k].line, (int)sizes[i]);
                measure(b, &cases[k], b->quick ? 64 : sizes[i], t);
            }
}
