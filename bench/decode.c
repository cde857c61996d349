/* SPDX-License-Identifier: MIT
 *
 * One query against a long cache of rotated keys, 8 heads of 64: what it costs per key, beside reading K and V.
 * Rows that add a bias or a content term cost more here than in prefill, where a tile of queries shares them.
 */
#include "attend.h"

#include <stdlib.h>

#include "base/block.h"

#define BYTES (3 * 8 * 2 * 64) /* of a key and value, in all types together: at most */

typedef struct decode_row {
    const char *line, *spec;
    int64_t kv_heads;
    pe_dtype type; /* of keys and values */
    bool always;   /* false: at two lengths only */
} decode_row;
static const decode_row rows[] = {
    { "none", "none", 8, PE_F16, true },
    { "none, q8_0", "none", 8, PE_Q8_0, true },
    { "none, q4_0", "none", 8, PE_Q4_0, true },
    { "rope", "rope", 8, PE_F16, true },
    { "alibi", "alibi", 8, PE_F16, true },
    { "t5", "t5", 8, PE_F16, true },
    { "kerple", "kerple", 8, PE_F16, false },
    { "fire", "fire", 8, PE_F16, false },
    { "sandwich", "sandwich", 8, PE_F16, false },
    { "shaw", "shaw", 8, PE_F16, false },
    { "deberta", "deberta", 8, PE_F16, false },
    { "cope", "cope", 8, PE_F16, false },
    { "rope, 2 kv heads", "rope", 2, PE_F16, false },
};

/* Keys and values, a buffer of each per type. */
typedef struct decode_cache {
    void *k[PE_Q4_0 + 1], *v[PE_Q4_0 + 1];
} decode_cache;

/* Of a row's keys, or of its values. */
static int64_t row_bytes(const decode_row *row, int64_t keys)
{
    return dtype_bytes(row->type, keys * row->kv_heads * attend_shape.head_dim);
}

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
    x.value = 2 * (double)row_bytes(row, keys) / c->best * 1e-9;
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
    if (row->kv_heads == attend_shape.heads && row->type == PE_F16)
        cell_add(b, x);
}

static bool is_raced(const decode_row *row, int64_t keys, bool quick)
{
    return row->always || quick || keys == 4096 || keys == 32768;
}

static attending *attend_row(const decode_row *row, int64_t keys, const decode_cache *d, bool planned,
                             const pe_pool *pool)
{
    attend_setting s = { .spec = row->spec, .shape = attend_shape, .type = PE_F16, .queries = 1, .keys = keys };
    s.shape.kv_heads = row->kv_heads;
    s.k = pe_view_of(d->k[row->type], row->type, 1, keys, row->kv_heads, attend_shape.head_dim);
    s.v = pe_view_of(d->v[row->type], row->type, 1, keys, row->kv_heads, attend_shape.head_dim);
    s.rotated = true;
    s.planned = planned;
    s.pool = pool;
    return attend_new(&s);
}

static reading read_row(const decode_row *row, int64_t keys, const decode_cache *d, const pe_pool *pool)
{
    int64_t bytes = row_bytes(row, keys) / 64 * 64; /* the loop reads whole vectors */
    return (reading){ .k = { .kind = MEMORY_READ, .from = d->k[row->type], .bytes = bytes, .pool = pool },
                      .v = { .kind = MEMORY_READ, .from = d->v[row->type], .bytes = bytes, .pool = pool } };
}

/* The first of the rows that read as many bytes. */
static int reads_like(const decode_row *const row[], int i)
{
    int first = 0;
    while (row_bytes(row[first], 64) != row_bytes(row[i], 64))
        first++;
    return first;
}

/* By turns: the rows, and loops that only read what these read. */
static void measure(bench *b, int64_t keys, const decode_cache *d, int thread_index)
{
    enum { ROWS = BENCH_COUNT(rows) };
    const decode_row *row[ROWS];
    attending *a[2 * ROWS]; /* each row without a plan, and with one */
    reading r[ROWS];
    contender c[3 * ROWS];
    const pe_pool *pool = pool_at(b, thread_index);
    int count = 0, read_at[ROWS], racing;
    for (int i = 0; i < ROWS; i++)
        if (is_raced(&rows[i], keys, b->quick))
            row[count++] = &rows[i];
    for (int i = 0; i < 2 * count; i++) {
        a[i] = attend_row(row[i / 2], keys, d, i % 2, pool);
        c[i] = (contender){ .run = attend_forward, .arg = a[i] };
    }
    racing = 2 * count;
    for (int i = 0; i < count; i++) {
        int like = reads_like(row, i);
        read_at[i] = like < i ? read_at[like] : racing++;
        if (like == i) {
            r[i] = read_row(row[i], keys, d, pool);
            c[read_at[i]] = (contender){ .run = read_both, .arg = &r[i] };
        }
    }
    race(b, c, racing);
    for (int i = 0; i < count; i++) {
        add_cells(b, row[i], keys, &c[2 * i], c[read_at[i]].best, c[1].best, threads_at(b, thread_index));
        attend_free(a[2 * i]);
        attend_free(a[2 * i + 1]);
    }
}

static void fill_cache(decode_cache *d, int64_t keys)
{
    static const pe_dtype types[] = { PE_F16, PE_Q8_0, PE_Q4_0 };
    int64_t count = keys * attend_shape.heads * attend_shape.head_dim;
    for (int i = 0; i < BENCH_COUNT(types); i++) {
        d->k[types[i]] = buffer(dtype_bytes(types[i], count));
        d->v[types[i]] = buffer(dtype_bytes(types[i], count));
        fill(d->k[types[i]], types[i], count, 1);
        fill(d->v[types[i]], types[i], count, 2);
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
        decode_cache d = { 0 };
        fill_cache(&d, keys);
        for (int t = 0; t < thread_counts(b); t++) {
            say(b, "decode: %lld keys, %d threads", (long long)keys, threads_at(b, t));
            measure(b, keys, &d, t);
        }
        for (int i = 0; i <= PE_Q4_0; i++) {
            free(d.k[i]);
            free(d.v[i]);
        }
    }
}
