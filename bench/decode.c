/* SPDX-License-Identifier: MIT
 *
 * One query against a long cache of turned float16 keys, 8 heads of 64: what it costs per key, beside reading K and V.
 */
#include "attend.h"

#include <stdlib.h>

#define BYTES (2 * 2 * 8 * 64) /* of a key and its value */

typedef struct reading {
    memory_job k, v;
} reading;

static void read_both(void *arg)
{
    reading *r = arg;
    memory_run(&r->k);
    memory_run(&r->v);
}

static void add_cells(bench *b, const char *spec, int64_t keys, const contender *c, double read, int threads)
{
    cell x = { .kind = CELL_MAIN,
               .table = "decode",
               .line = spec,
               .n = keys,
               .who = "posenc",
               .unit = "ns/key",
               .threads = threads,
               .value = c->best / (double)keys * 1e9,
               .seconds = c->best,
               .best_of = c->turns };
    cell_add(b, x);
    x.kind = CELL_SHARE;
    x.who = x.unit = "GB/s";
    x.value = (double)keys * BYTES / c->best * 1e-9;
    cell_add(b, x);
    x.who = "of reading";
    x.unit = "%";
    x.value = 100 * read / c->best;
    cell_add(b, x);
}

static void measure(bench *b, int64_t keys, pe_view k, pe_view v, int thread_index)
{
    static const char *const specs[] = { "none", "rope", "alibi", "t5" };
    enum { SPECS = BENCH_COUNT(specs) };
    attending *a[SPECS];
    contender c[SPECS + 1];
    const pe_pool *pool = pool_at(b, thread_index);
    reading r = { .k = { .kind = MEMORY_READ, .from = k.data, .bytes = keys * BYTES / 2, .pool = pool },
                  .v = { .kind = MEMORY_READ, .from = v.data, .bytes = keys * BYTES / 2, .pool = pool } };
    for (int i = 0; i < SPECS; i++) {
        attend_setting s = { .spec = specs[i],
                             .shape = attend_shape,
                             .type = PE_F16,
                             .queries = 1,
                             .keys = keys,
                             .k = k,
                             .v = v,
                             .turned = true,
                             .pool = pool };
        a[i] = attend_new(&s);
        c[i] = (contender){ .run = attend_forward, .arg = a[i] };
    }
    c[SPECS] = (contender){ .run = read_both, .arg = &r };
    race(b, c, SPECS + 1);
    for (int i = 0; i < SPECS; i++) {
        add_cells(b, specs[i], keys, &c[i], c[SPECS].best, threads_at(b, thread_index));
        attend_free(a[i]);
    }
}

void bench_decode(bench *b)
{
    for (int64_t keys = 1024; keys <= (b->quick ? 1024 : 1 << 20); keys *= 4) {
        if (memory_left() / 2 < keys * BYTES) {
            say(b, "decode: %lld keys need %lld MiB, which are not free", (long long)keys,
                (long long)keys * BYTES >> 20);
            break;
        }
        int64_t count = keys * attend_shape.heads * attend_shape.head_dim;
        pe_view k = pe_view_packed(buffer(2 * count), PE_F16, keys, attend_shape.heads, attend_shape.head_dim), v = k;
        v.data = buffer(2 * count);
        fill(k.data, PE_F16, count, 1);
        fill(v.data, PE_F16, count, 2);
        for (int t = 0; t < thread_counts(b); t++) {
            say(b, "decode: %lld keys, %d threads", (long long)keys, threads_at(b, t));
            measure(b, keys, k, v, t);
        }
        free(k.data);
        free(v.data);
    }
}
