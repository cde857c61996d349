/* SPDX-License-Identifier: MIT
 *
 * ggml's CPU kernels at the same work, as JSON lines for posenc-bench --peers. scripts/bench.sh compiles it against the
 * copy that GGML= names:  cc -Ibench -Isrc -Iinclude -I<ggml>/include bench/peer_ggml.c bench/time.c -lggml-cpu ... */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ggml-cpu.h"
#include "ggml.h"

enum { HEADS = 32, DIM = 128, A_HEADS = 8, A_DIM = 64 };

typedef struct graph {
    struct ggml_context *context;
    struct ggml_cgraph *graph;
    struct ggml_cplan plan;
} graph;

static void compute(void *arg)
{
    graph *g = arg;
    ggml_graph_compute(g->graph, &g->plan);
}

static graph graph_new(size_t bytes)
{
    struct ggml_init_params p = { .mem_size = bytes + (16u << 20) };
    graph g = { .context = ggml_init(p) };
    g.graph = ggml_new_graph(g.context);
    return g;
}

/* Seconds of one of the graph's `copies` equal operations. */
static contender graph_time(const bench *b, graph *g, struct ggml_threadpool *pool, int threads, int copies)
{
    contender c = { .run = compute, .arg = g };
    g->plan = ggml_graph_plan(g->graph, threads, pool);
    g->plan.work_data = malloc(g->plan.work_size + 64);
    race(b, &c, 1);
    free(g->plan.work_data);
    ggml_free(g->context);
    c.best /= copies;
    return c;
}

static void emit(const char *table, const char *line, const char *who, const char *unit, int64_t n, int threads,
                 double value, int turns)
{
    printf("{\"table\": \"%s\", \"line\": \"%s\", \"who\": \"%s\", \"unit\": \"%s\", \"n\": %lld, \"threads\": %d, "
           "\"value\": %.9g, \"best_of\": %d}\n",
           table, line, who, unit, (long long)n, threads, value, turns);
    fflush(stdout);
}

static void fill_tensor(struct ggml_tensor *t)
{
    int64_t count = ggml_nelements(t);
    for (int64_t i = 0; i < count; i++) {
        float x = (float)((i * 37 + i / 251) % 199) / 100 - 1;
        if (t->type == GGML_TYPE_F32)
            ((float *)t->data)[i] = x;
        else
            ((ggml_fp16_t *)t->data)[i] = ggml_fp32_to_fp16(x);
    }
}

/* ---------------------------------------------------------------- rotation */

static void rotate(const bench *b, struct ggml_threadpool *pool, int threads, int64_t n, enum ggml_type type, bool half)
{
    int copies = n <= 16 ? 32 : 1; /* a graph's launch is shared by a model's many operations */
    graph g = graph_new((size_t)(n * HEADS * DIM * copies) * ggml_type_size(type) + (size_t)n * 4);
    struct ggml_tensor *at = ggml_new_tensor_1d(g.context, GGML_TYPE_I32, n);
    for (int64_t i = 0; i < n; i++)
        ((int32_t *)at->data)[i] = (int32_t)i;
    for (int k = 0; k < copies; k++) {
        struct ggml_tensor *q = ggml_new_tensor_3d(g.context, type, DIM, HEADS, n);
        fill_tensor(q);
        ggml_build_forward_expand(g.graph,
                                  ggml_rope_ext_inplace(g.context, q, at, NULL, DIM, half ? GGML_ROPE_TYPE_NEOX : 0,
                                                        4096, 10000, 1, 0, 1, 32, 1));
    }
    contender c = graph_time(b, &g, pool, threads, copies);
    for (int how = 0; how < 2; how++) {
        char line[BENCH_LINE_MAX];
        snprintf(line, sizeof line, "%s %s, in place, %s", type == GGML_TYPE_F32 ? "f32" : "f16",
                 half ? "half" : "adjacent", how ? "no table" : "table");
        emit("rotate", line, "ggml", "ns/element", n, threads, c.best / (double)(n * HEADS * DIM) * 1e9, c.turns);
    }
}

/* ---------------------------------------------------------------- attention, keys and values in float16 */

static struct ggml_tensor *mask_new(const graph *g, int64_t queries, int64_t keys, bool alibi)
{
    struct ggml_tensor *mask = ggml_new_tensor_2d(g->context, GGML_TYPE_F16, keys, queries);
    for (int64_t i = 0; i < queries; i++)
        for (int64_t j = 0; j < keys; j++) {
            int64_t distance = i + keys - queries - j;
            float x = distance < 0 ? -INFINITY : alibi ? -(float)distance : 0;
            ((ggml_fp16_t *)mask->data)[i * keys + j] = ggml_fp32_to_fp16(x);
        }
    return mask;
}

static contender attend(const bench *b, struct ggml_threadpool *pool, int threads, int64_t queries, int64_t keys,
                        bool alibi)
{
    graph g = graph_new((size_t)(A_HEADS * A_DIM) * (size_t)(8 * queries + 4 * keys) + (size_t)(2 * queries * keys));
    struct ggml_tensor *q = ggml_new_tensor_3d(g.context, GGML_TYPE_F32, A_DIM, queries, A_HEADS);
    struct ggml_tensor *k = ggml_new_tensor_3d(g.context, GGML_TYPE_F16, A_DIM, keys, A_HEADS);
    struct ggml_tensor *v = ggml_new_tensor_3d(g.context, GGML_TYPE_F16, A_DIM, keys, A_HEADS);
    fill_tensor(q);
    fill_tensor(k);
    fill_tensor(v);
    struct ggml_tensor *mask = queries > 1 || alibi ? mask_new(&g, queries, keys, alibi) : NULL;
    struct ggml_tensor *out = ggml_flash_attn_ext(g.context, q, k, v, mask, 0.125f, alibi ? 8.0f : 0, 0);
    ggml_flash_attn_ext_set_prec(out, GGML_PREC_F32);
    ggml_build_forward_expand(g.graph, out);
    return graph_time(b, &g, pool, threads, 1);
}

static void attention(const bench *b, struct ggml_threadpool *pool, int threads, bool alibi)
{
    int64_t n = b->quick ? 64 : 2048;
    contender c = attend(b, pool, threads, n, n, alibi);
    double operations = 4.0 * (double)(n * n) * A_DIM * A_HEADS / 2;
    emit("forward", alibi ? "alibi" : "none", "ggml flash (f16 K, V)", "GFLOP/s", n, threads,
         operations / c.best * 1e-9, c.turns);
    for (int64_t keys = 1024; keys <= (b->quick ? 1024 : 1 << 18); keys *= 4) {
        c = attend(b, pool, threads, 1, keys, alibi);
        emit("decode", alibi ? "alibi" : "none", "ggml flash", "ns/key", keys, threads, c.best / (double)keys * 1e9,
             c.turns);
    }
}

static bool wanted(const bench *b, const char *topic)
{
    return !b->only || strstr(b->only, topic);
}

static bench options(int argc, char **argv)
{
    bench b = { .threads = 2 };
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        b.quick |= !strcmp(argv[i], "--quick");
        if (!strcmp(argv[i], "--only"))
            b.only = value;
        if (!strcmp(argv[i], "--threads"))
            b.threads = atoi(value);
    }
    return b;
}

static void with_threads(const bench *b, int threads)
{
    static const int64_t sizes[] = { 1, 16, 512, 4096 };
    struct ggml_threadpool_params p = ggml_threadpool_params_default(threads);
    struct ggml_threadpool *pool = ggml_threadpool_new(&p);
    say(b, "peers: ggml, %d threads", threads);
    for (int i = 0; i < BENCH_COUNT(sizes) && wanted(b, "rotate"); i++)
        for (int kind = 0; kind < 4 && (!b->quick || sizes[i] == 16); kind++)
            rotate(b, pool, threads, sizes[i], kind < 2 ? GGML_TYPE_F32 : GGML_TYPE_F16, kind % 2 == 0);
    for (int alibi = 0; alibi < 2; alibi++)
        if (wanted(b, "attention") || wanted(b, "decode"))
            attention(b, pool, threads, alibi);
    ggml_threadpool_free(pool);
}

int main(int argc, char **argv)
{
    bench b = options(argc, argv);
    ggml_cpu_init();
    printf("{\"present\": \"ggml %s\"}\n", ggml_version());
    with_threads(&b, 1);
    if (b.threads > 1)
        with_threads(&b, b.threads);
    return 0;
}
