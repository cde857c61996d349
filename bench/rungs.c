/* SPDX-License-Identifier: MIT
 *
 * Some encodings by rung, length and type: attention, counted as in attention.c. */
#include "attend.h"

typedef struct more_case {
    const char *spec;
    pe_dtype type;
    int64_t n;
    int rungs; /* so many of the highest */
    bool backward;
} more_case;

static void measure_more(bench *b, const more_case *m, int thread_index)
{
    static const char *const type_name[] = { "f32", "f16", "bf16" };
    attending *a[BENCH_RUNGS_MAX];
    contender c[BENCH_RUNGS_MAX];
    char line[BENCH_LINE_MAX];
    int count = m->rungs < rung_count() ? m->rungs : rung_count(), first = rung_count() - count;
    for (int r = 0; r < count; r++) {
        attend_setting s = { .spec = m->spec,
                             .rung = rung_name(first + r),
                             .shape = attend_shape,
                             .type = m->type,
                             .queries = m->n,
                             .keys = m->n,
                             .backward = m->backward,
                             .pool = pool_at(b, thread_index) };
        a[r] = attend_new(&s);
        c[r] = (contender){ .run = m->backward ? attend_backward : attend_forward, .arg = a[r] };
        if (m->backward) /* which reads what forward leaves */
            attend_forward(a[r]);
    }
    race(b, c, count);
    snprintf(line, sizeof line, "%s, %s%s", m->spec, type_name[m->type], m->backward ? ", backward" : "");
    for (int r = 0; r < count; r++) {
        cell_add(b, (cell){ .kind = r == count - 1 ? CELL_MAIN : CELL_OURS,
                            .table = "rungs",
                            .line = line,
                            .n = m->n,
                            .who = rung_name(first + r),
                            .unit = "GFLOP/s",
                            .threads = threads_at(b, thread_index),
                            .value = attend_operations(m->n, m->backward) / c[r].best * 1e-9,
                            .seconds = c[r].best,
                            .best_of = c[r].turns });
        attend_free(a[r]);
    }
}

void bench_rungs(bench *b)
{
    static const char *const specs[] = { "none", "rope", "alibi", "t5", "shaw" };
    static const struct {
        int64_t n;
        pe_dtype type;
        int rungs;
        bool backward;
    } how[] = { { 512, PE_F32, BENCH_RUNGS_MAX, false },
                { 4096, PE_F32, 1, false },
                { 2048, PE_F16, 1, false },
                { 2048, PE_BF16, 2, false },
                { 2048, PE_BF16, 2, true } };
    for (int h = 0; h < BENCH_COUNT(how); h++)
        for (int i = 0; i < BENCH_COUNT(specs); i++) {
            more_case m = { specs[i], how[h].type, b->quick ? how[h].n / 32 : how[h].n, how[h].rungs,
                            how[h].backward };
            say(b, "rungs: %s, n = %d", m.spec, (int)m.n);
            for (int t = 0; t < thread_counts(b); t++)
                measure_more(b, &m, t);
        }
}
