/* SPDX-License-Identifier: MIT
 *
 * Steps of training the lab's model: forward, backward and AdamW, on 8 sequences of 256. Beside PyTorch on the same model.
 * Operations are 6 for each weight and token, and those of causal attention. */
#include "bench.h"

#include <stdlib.h>

#include "model/model.h"

enum { SEQUENCES = 8, LENGTH = 256, VOCAB = 256, LAYERS = 4, WIDTH = 256 };

typedef struct training {
    model *m;
    adam a;
    model_batch batch;
} training;

static void train_step(void *arg)
{
    training *t = arg;
    pe_error err;
    double loss;
    adam_rates rates = ADAM_DEFAULTS;
    must(model_gradients(t->m, &t->batch, &loss, &err), &err, "training");
    adam_step(&t->a, t->m, &rates);
}

static double operations(const training *t)
{
    double tokens = (double)(t->batch.sequences * t->batch.length);
    double attention = 3 * 4 * (double)t->batch.length / 2 * WIDTH * LAYERS; /* forward, and twice that backward */
    return tokens * (6 * (double)model_count(t->m) + attention);
}

static void add_cells(bench *b, const char *spec, const training *t, const contender *c, int thread_index)
{
    cell x = { .kind = CELL_MAIN,
               .table = "train",
               .line = spec,
               .n = t->batch.length,
               .who = "posenc",
               .unit = "tokens/s",
               .threads = threads_at(b, thread_index),
               .value = (double)(t->batch.sequences * t->batch.length) / c->best,
               .seconds = c->best,
               .best_of = c->turns };
    cell_add(b, x);
    x.kind = CELL_SHARE;
    x.who = "of peak";
    x.unit = "%";
    x.value = 100 * operations(t) / c->best / peak_flops(b, thread_index);
    cell_add(b, x);
}

static void measure(bench *b, const char *spec, const int32_t *token, int thread_index)
{
    training t = { 0 };
    pe_error err;
    int64_t length = b->quick ? 16 : LENGTH;
    model_config c = { .vocab = VOCAB, .layers = LAYERS, .width = WIDTH, .heads = 4, .causal = true };
    must(model_new(&t.m, &c, spec, pool_at(b, thread_index), &err), &err, spec);
    must(adam_new(&t.a, t.m, &err), &err, spec);
    model_init(t.m, 1);
    t.batch = (model_batch){ token, token + 1, pe_positions_run(1, length, 0), b->quick ? 1 : SEQUENCES, length };
    contender one = { .run = train_step, .arg = &t };
    race(b, &one, 1);
    add_cells(b, spec, &t, &one, thread_index);
    model_free(t.m);
    adam_free(&t.a);
}

void bench_train(bench *b)
{
    static const char *const specs[] = { "none", "rope", "alibi", "t5", "shaw" };
    int64_t rows = SEQUENCES * LENGTH;
    int32_t *token = buffer((rows + 1) * (int64_t)sizeof *token);
    for (int64_t i = 0; i <= rows; i++)
        token[i] = (int32_t)((i * i * 31 + i) % VOCAB);
    for (int s = 0; s < BENCH_COUNT(specs); s++)
        for (int t = 0; t < thread_counts(b); t++) {
            say(b, "training: %s", specs[s]);
            measure(b, specs[s], token, t);
        }
    free(token);
}
