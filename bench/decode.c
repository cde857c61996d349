/* SPDX-License-Identifier: MIT
 *
 * One query against a long cache of rotated float16 keys, 8 heads of 64: what it costs per key, beside reading K and V.
 * Rows that add a bias or a content term cost more here than in prefill, where a tile of queries shares them.
 */
#include "attend.h"

#include <stdlib.h>

#define HEAD_BYTES (2 * 2 * 64) /* of a head's key and value */
#define BYTES (8 * HEAD_BYTES)

typedef struct decode_row {
    const char *line, *spec;
    int64_t kv_heads;
    bool always; /* false: at two lengths only */
} decode_row;
static const decode_row rows[] = {
    { "none", "none", 8, true },
    { "rope", "rope", 8, true },
    { "alibi", "alibi", 8, true },
    { "t5", "t5", 8, true },
    { "kerple", "kerple", 8, false },
    { "fire", "fire", 8, false },
    { "sandwich", "sandwich", 8, false },
    { "shaw", "shaw", 8, false },
    { "deberta", "deberta", 8, false },
    { "cope", "cope", 8, false },
    { "rope, 2 kv heads", "rope", 2, false },
};

typedef struct reading {
    memory_job k, v;
} reading;

static void read_both(void *arg)
{
    reading *r = arg;
    memory_run(&r->k);
    memory_run(&r->v);
}

/* c: without a plan, with one; none: what the same costs without an encoding. */
static void add_cells(bench *b, const decode_row *row, int64_t keys, const contender *c, double read, double none,
                      int threads)
{
    cell x = { .kind = CELL_MAIN,
               .table = "decode",
               .line = row->line,
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
    x.value = (double)(keys * row->kv_heads * HEAD_BYTES) / c->best * 1e-9;
    cell_add(b, x);
    x.who = "of reading";
    x.unit = "%";
    x.value = 100 * read / c->best;
    cell_add(b, x);
    x.who = "with a plan";
    x.unit = "ns/key";
    x.value = c[1].best / (double)keys * 1e9;
    cell_add(b, x);
    x.who = "plan, on top of none";
    x.unit = "%";
    x.value = 100 * (c[1].best / none - 1);
    if (row->kv_heads == attend_shape.heads)
        cell_add(b, x);
}

static bool is_raced(const decode_row *row, int64_t keys, bool quick)
{
    return row->always || quick || keys == 4096 || keys == 32768;
}

static attending *attend_row(const decode_row *row, int64_t keys, void *k, void *v, bool planned, const pe_pool *pool)
{
    attend_setting s = { .spec = row->spec, .shape = attend_shape, .type = PE_F16, .queries = 1, .keys = keys };
    s.shape.kv_heads = row->kv_heads;
    s.k = pe_view_of(k, PE_F16, 1, keys, row->kv_heads, attend_shape.head_dim);
    s.v = pe_view_of(v, PE_F16, 1, keys, row->kv_heads, attend_shape.head_dim);
    s.rotated = true;
    s.planned = planned;
    s.pool = pool;
    return attend_new(&s);
}

static reading read_row(const decode_row *row, int64_t keys, const void *k, const void *v, const pe_pool *pool)
{
    int64_t bytes = keys * row->kv_heads * HEAD_BYTES / 2;
    return (reading){ .k = { .kind = MEMORY_READ, .from = k, .bytes = bytes, .pool = pool },
                      .v = { .kind = MEMORY_READ, .from = v, .bytes = bytes, .pool = pool } };
}

/* By turns: the rows, and loops that only read what these read. */
static void measure(bench *b, int64_t keys, void *k, void *v, int thread_index)
{
    enum { ROWS = BENCH_COUNT(rows) };
    const decode_row *row[ROWS];
    attending *a[2 * ROWS]; /* each row without a plan, and with one */
    reading r[2];           /* the first row's, and the last one's with its fewer heads */
    contender c[2 * ROWS + 2];
    const pe_pool *pool = pool_at(b, thread_index);
    int count = 0;
    for (int i = 0; i < ROWS; i++)
        if (is_raced(&rows[i], keys, b->quick))
            row[count++] = &rows[i];
    for (int i = 0; i < 2 * count; i++) {
        a[i] = attend_row(row[i / 2], keys, k, v, i % 2, pool);
        c[i] = (contender){ .run = attend_forward, .arg = a[i] };
    }
    for (int i = 0; i < 2; i++) {
        r[i] = read_row(row[i ? count - 1 : 0], keys, k, v, pool);
        c[2 * count + i] = (contender){ .run = read_both, .arg = &r[i] };
    }
    race(b, c, 2 * count + 2);
    for (int i = 0; i < count; i++) {
        double read = c[2 * count + (row[i]->kv_heads != row[0]->kv_heads)].best;
        add_cells(b, row[i], keys, &c[2 * i], read, c[1].best, threads_at(b, thread_index));
        attend_free(a[2 * i]);
        attend_free(a[2 * i + 1]);
    }
}

void bench_decode(bench *b)
{
    for (int64_t keys = b->quick ? 1024 : 4096; keys <= (b->quick ? 1024 : 1 << 20); keys *= keys < 32768 ? 8 : 32) {
        if (memory_left() / 2 < keys * BYTES) {
            say(b, "decode: %lld keys need %lld MiB, which are not free", (long long)keys,
                (long long)keys * BYTES >> 20);
            break;
        }
        int64_t count = keys * attend_shape.heads * attend_shape.head_dim;
        void *k = buffer(2 * count), *v = buffer(2 * count);
        fill(k, PE_F16, count, 1);
        fill(v, PE_F16, count, 2);
        for (int t = 0; t < thread_counts(b); t++) {
            say(b, "decode: %lld keys, %d threads", (long long)keys, threads_at(b, t));
            measure(b, keys, k, v, t);
        }
        free(k);
        free(v);
    }
}
