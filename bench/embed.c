/* SPDX-License-Identifier: MIT
 *
 * Codes added to rows of 1024: every row that has them, and one in every type, in place, out of place, in a batch whose
 * sequences stand at the same places and at scattered ones; beside it memcpy or an in-place scale of the same bytes. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "attend.h"

enum { WIDTH = 1024 };
#define SPEC "sinusoidal"
static const char *const type_name[] = { "f32", "f16", "bf16" };

typedef struct embed_case {
    const char *spec, *how; /* how: what the line says beside the type */
    pe_dtype type;
    int64_t n, batch; /* n: tokens of all sequences */
    bool in_place, scattered;
} embed_case;

typedef struct adding {
    pe_encoding *e;
    pe_view y, x;
    pe_positions at;
    pe_run run;
} adding;

static void add_codes(void *arg)
{
    const adding *a = arg;
    pe_error err;
    must(pe_embed(a->e, a->y, a->x, a->at, &a->run, &err), &err, pe_encoding_spec(a->e));
}

/* What all contenders of one case share. */
typedef struct stage {
    const embed_case *k;
    char line[BENCH_LINE_MAX];
    pe_view y, x;
    int64_t *scattered;
    pe_positions at;
    pe_params w;
    int64_t bytes; /* of x */
    float *copy;   /* the yardstick's own */
} stage;

static stage stage_new(const embed_case *k)
{
    int64_t count = k->n * WIDTH, tokens = k->n / k->batch;
    stage s = { .k = k, .at = pe_positions_run(k->batch, tokens, 0) };
    s.bytes = count * (int64_t)pe_dtype_size(k->type);
    s.x = pe_view_of(buffer(s.bytes), k->type, k->batch, tokens, 1, WIDTH);
    fill(s.x.data, k->type, count, 3);
    s.y = k->in_place ? s.x : pe_view_of(buffer(s.bytes), k->type, k->batch, tokens, 1, WIDTH);
    s.copy = buffer(2 * s.bytes);
    fill(s.copy, PE_F32, 2 * s.bytes / 4, 4);
    if (k->scattered) {
        s.scattered = buffer(k->n * 8);
        for (int64_t t = 0; t < k->n; t++)
            s.scattered[t] = t * 7919 % 1048573;
        s.at = pe_positions_of(s.scattered, PE_I64, 1, k->n, 1);
    }
    pe_encoding *e = encoding(k->spec, (pe_shape){ 1, 0, 64, WIDTH }, NULL);
    s.w = (pe_params){ NULL, PE_F32, pe_encoding_param_count(e) };
    if (s.w.count) {
        s.w.data = buffer(s.w.count * 4);
        fill(s.w.data, PE_F32, s.w.count, 5);
    }
    pe_encoding_free(e);
    snprintf(s.line, sizeof s.line, "%s, %s%s", k->spec, type_name[k->type], k->how);
    return s;
}

static void stage_free(stage *s)
{
    if (!s->k->in_place)
        free(s->y.data);
    free(s->x.data);
    free(s->scattered);
    free(s->w.data);
    free(s->copy);
}

static void add_cells(bench *b, const stage *s, const contender *c, int rungs, int threads)
{
    cell base = { .table = "embed", .line = s->line, .n = s->k->n, .threads = threads };
    for (int r = 0; r < rungs; r++) {
        cell x = base;
        x.kind = r == rungs - 1 ? CELL_MAIN : CELL_OURS;
        x.who = rung_name(r);
        x.unit = "ns/element";
        x.value = c[r].best / ((double)s->k->n * WIDTH) * 1e9;
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
    adding a[BENCH_RUNGS_MAX];
    contender c[BENCH_RUNGS_MAX + 1];
    const pe_pool *pool = pool_at(b, thread_index);
    memory_job limit = { .kind = s->k->in_place ? MEMORY_SCALE : MEMORY_COPY,
                         .to = s->copy,
                         .from = s->copy + s->bytes / 4,
                         .bytes = s->bytes,
                         .pool = pool };
    for (int r = 0; r < rungs; r++) {
        a[r] = (adding){ encoding(s->k->spec, (pe_shape){ 1, 0, 64, WIDTH }, rung_name(r)), s->y, s->x, s->at,
                         PE_MAKE(pe_run, .params = s->w, .pool = pool) };
        c[r] = (contender){ .run = add_codes, .arg = &a[r] };
    }
    c[rungs] = (contender){ .run = memory_run, .arg = &limit };
    race(b, c, rungs + 1);
    add_cells(b, s, c, rungs, threads_at(b, thread_index));
    for (int r = 0; r < rungs; r++)
        pe_encoding_free(a[r].e);
}

static void run_case(bench *b, const embed_case *k)
{
    stage s = stage_new(k);
    say(b, "embed: %s, n = %d", s.line, (int)k->n);
    for (int t = 0; t < thread_counts(b); t++)
        measure(b, &s, t);
    if (!strcmp(k->spec, SPEC) && k->type == PE_F32 && k->n >= 512 && !k->scattered)
        cell_add(b, (cell){ .kind = CELL_GOAL,
                            .table = "embed",
                            .line = s.line,
                            .n = k->n,
                            .who = "goal",
                            .text = "80 % of limit" });
    stage_free(&s);
}

void bench_embed(bench *b)
{
    static const int64_t sizes[] = { 1, 512, 16384 };
    for (int n = 0; n < BENCH_COUNT(sizes) - (b->quick ? 1 : 0); n++)
        run_case(b, &(embed_case){ SPEC, ", out of place", PE_F32, sizes[n], 1, false, false });
    run_case(b, &(embed_case){ SPEC, ", batch of 32", PE_F32, b->quick ? 32 : 4096, 32, false, false });
    for (int type = 0; type < BENCH_COUNT(type_name); type++)
        run_case(b, &(embed_case){ SPEC, ", in place", (pe_dtype)type, b->quick ? 16 : 512, 1, true, false });
    run_case(b, &(embed_case){ SPEC, ", scattered", PE_F32, b->quick ? 16 : 512, 1, false, true });
    for (int i = 0; i < pe_info_count(); i++)
        if (pe_info_at(i)->hooks & PE_HOOK_EMBED && strcmp(pe_info_at(i)->name, SPEC))
            run_case(b, &(embed_case){ pe_info_at(i)->name, ", out of place", PE_F32, b->quick ? 16 : 512, 1, false,
                                       false });
}
