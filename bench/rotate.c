/* SPDX-License-Identifier: MIT
 *
 * Rotation of (n, 32, 128): every type, pair layout and rung, in place and out of place, with a table and without. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "attend.h"

enum { HEADS = 32, DIM = 128 };
static const char *const type_name[] = { "f32", "f16", "bf16" };
static const char *const layouts[] = { "half", "adjacent", "adjacent-half" };

typedef struct rotate_case {
    pe_dtype type;
    const char *layout;
    int64_t n;
    bool in_place, table;
} rotate_case;

typedef struct rotation_case {
    pe_encoding *e;
    pe_rotation r;
    pe_run run;
} rotation_case;

static void rotate_once(void *arg)
{
    const rotation_case *t = arg;
    pe_error err;
    must(pe_rotate_qk(t->e, &t->r, &t->run, &err), &err, pe_encoding_spec(t->e));
}

/* What all contenders of one case share. */
typedef struct stage {
    const rotate_case *k;
    char line[BENCH_LINE_MAX], spec[60];
    pe_view q, out;
    pe_positions at;
    pe_table table;
    int64_t bytes; /* of q */
    float *copy;   /* the yardstick's own, as numbers of q's type would be denormals to it */
} stage;

static void make_table(stage *s)
{
    pe_error err;
    pe_encoding *e = encoding(s->spec, (pe_shape){ HEADS, 0, DIM, 0 }, NULL);
    int64_t pairs = pe_encoding_pair_count(e), n = s->k->n;
    s->table.cosine = pe_view_of(buffer(n * pairs * 4), PE_F32, 1, n, 1, pairs);
    s->table.sine = pe_view_of(buffer(n * pairs * 4), PE_F32, 1, n, 1, pairs);
    must(pe_rotate_table(e, PE_QUERY, s->table.cosine, s->table.sine, s->at, NULL, &err), &err, s->spec);
    pe_encoding_free(e);
}

static stage stage_new(const rotate_case *k)
{
    stage s = { .k = k, .at = pe_positions_run(1, k->n, 0) };
    int64_t count = k->n * HEADS * DIM;
    s.bytes = count * (int64_t)pe_dtype_size(k->type);
    s.q = pe_view_of(buffer(s.bytes), k->type, 1, k->n, HEADS, DIM);
    fill(s.q.data, k->type, count, 3);
    if (!k->in_place)
        s.out = pe_view_of(buffer(s.bytes), k->type, 1, k->n, HEADS, DIM);
    s.copy = buffer(2 * s.bytes);
    fill(s.copy, PE_F32, 2 * s.bytes / 4, 4);
    snprintf(s.spec, sizeof s.spec, "rope:pairs=%s", k->layout);
    snprintf(s.line, sizeof s.line, "%s %s, %s, %s", type_name[k->type], k->layout,
             k->in_place ? "in place" : "out of place", k->table ? "table" : "no table");
    if (k->table)
        make_table(&s);
    return s;
}

static void stage_free(stage *s)
{
    free(s->q.data);
    free(s->out.data);
    free(s->table.cosine.data);
    free(s->table.sine.data);
    free(s->copy);
}

static void add_cells(bench *b, const stage *s, const contender *c, int rungs, int threads)
{
    double elements = (double)s->k->n * HEADS * DIM;
    cell base = { .table = "rotate", .line = s->line, .n = s->k->n, .threads = threads };
    for (int r = 0; r < rungs; r++) {
        cell x = base;
        x.kind = r == rungs - 1 ? CELL_MAIN : CELL_OURS;
        x.who = rung_name(r);
        x.unit = "ns/element";
        x.value = c[r].best / elements * 1e9;
        x.seconds = c[r].best;
        x.best_of = c[r].turns;
        cell_add(b, x);
    }
    base.kind = CELL_SHARE;
    base.who = "GB/s";
    base.unit = "GB/s";
    base.value = 2 * (double)s->bytes / c[rungs - 1].best * 1e-9;
    cell_add(b, base);
    base.who = "of limit";
    base.unit = "%";
    base.value = 100 * c[rungs].best / c[rungs - 1].best;
    cell_add(b, base);
}

static void measure(bench *b, const stage *s, int thread_index)
{
    int rungs = rung_count();
    rotation_case t[BENCH_RUNGS_MAX];
    contender c[BENCH_RUNGS_MAX + 1];
    const pe_pool *pool = pool_at(b, thread_index);
    memory_job limit = { .kind = s->k->in_place ? MEMORY_SCALE : MEMORY_COPY,
                         .to = s->copy,
                         .from = s->copy + s->bytes / 4,
                         .bytes = s->bytes,
                         .pool = pool };
    for (int r = 0; r < rungs; r++) {
        t[r].e = encoding(s->spec, (pe_shape){ HEADS, 0, DIM, 0 }, rung_name(r));
        t[r].r = PE_MAKE(pe_rotation, .q = s->q, .q_out = s->out, .at = s->at, .q_table = s->table);
        t[r].run = PE_MAKE(pe_run, .pool = pool);
        c[r] = (contender){ .run = rotate_once, .arg = &t[r] };
    }
    c[rungs] = (contender){ .run = memory_run, .arg = &limit };
    race(b, c, rungs + 1);
    add_cells(b, s, c, rungs, threads_at(b, thread_index));
    for (int r = 0; r < rungs; r++)
        pe_encoding_free(t[r].e);
}

/* What the project asks of itself; ratios only, for they travel between machines. */
static const char *goal(const rotate_case *k)
{
    if (k->n == 4096 && k->type == PE_F32 && k->in_place && k->table)
        return "90 % of limit";
    if (k->n != 512 || !k->in_place || !k->table)
        return NULL;
    if (k->type == PE_F16 && strcmp(k->layout, "adjacent-half"))
        return "28x ggml";
    if (k->type == PE_F32 && !strcmp(k->layout, "half"))
        return "6x ggml, 25x PyTorch";
    return k->type == PE_F32 && !strcmp(k->layout, "adjacent") ? "2.5x ggml" : NULL;
}

static void run_case(bench *b, const rotate_case *k)
{
    stage s = stage_new(k);
    say(b, "rotate: %s, n = %d", s.line, (int)k->n);
    for (int t = 0; t < thread_counts(b); t++)
        measure(b, &s, t);
    if (goal(k))
        cell_add(
            b,
            (cell){ .kind = CELL_GOAL, .table = "rotate", .line = s.line, .n = k->n, .who = "goal", .text = goal(k) });
    stage_free(&s);
}

/* A table of all of them would be read by nobody: every type and layout at one size, every size and manner for one. */
static bool chosen(const bench *b, const rotate_case *k, int layout)
{
    bool plain = k->in_place && k->table, usual = k->type == PE_F32 && layout == 0;
    if (b->quick)
        return k->n == 16 && (plain || usual);
    return b->full || usual || (plain && (k->n == 512 || layout == 0)) || (k->n == 512 && k->table && layout < 2);
}

void bench_rotate(bench *b)
{
    static const int64_t sizes[] = { 1, 16, 512, 4096 };
    for (int n = 0; n < BENCH_COUNT(sizes); n++)
        for (int type = 0; type < BENCH_COUNT(type_name); type++)
            for (int l = 0; l < BENCH_COUNT(layouts); l++)
                for (int how = 0; how < 4; how++) {
                    rotate_case k = { (pe_dtype)type, layouts[l], sizes[n], how < 2, how % 2 == 0 };
                    if (chosen(b, &k, l))
                        run_case(b, &k);
                }
}
