/* SPDX-License-Identifier: MIT
 *
 * Claims on attention in trained models: how far queries look; a rotation's scores by distance, and in bfloat16. */
#include "prove/trained.h"
#include "zoo/look.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------ how far queries look */

enum { WINDOWS_LOOKED = 8 };

/* Of a layer: the mean over its heads, and the head that looks farthest. */
typedef struct reach {
    double mean, farthest; /* tokens */
    double entropy;        /* bits */
} reach;

/* Of queries in the second half of the window: earlier ones have few keys to choose from. */
static void add_reach(reach *r, double *farthest, const real *share, int64_t T, int64_t H, int64_t head)
{
    double far = 0, entropy = 0;
    for (int64_t i = T / 2; i < T; i++)
        for (int64_t j = 0; j <= i; j++) {
            double p = (double)share[(i * H + head) * T + j];
            far += p * (double)(i - j);
            entropy -= p > 0 ? p * log2(p) : 0;
        }
    int64_t queries = T - T / 2;
    r->mean += far / (double)(queries * H * WINDOWS_LOOKED);
    r->entropy += entropy / (double)(queries * H * WINDOWS_LOOKED);
    farthest[head] += far / (double)(queries * WINDOWS_LOOKED);
}

static pe_status reach_of(reach out[TRAINED_LAYERS], model *m, const prove_models *from, pe_error *err)
{
    trained_look l;
    memset(out, 0, TRAINED_LAYERS * sizeof *out);
    TRY(trained_look_new(&l, from, m, LOOK_SHARES, err));
    double *farthest = measure_memory(TRAINED_LAYERS, l.heads, err);
    pe_status s = farthest ? PE_OK : PE_ERR_NOMEM;
    for (int w = 0; !s && w < WINDOWS_LOOKED; w++) {
        s = model_look(m, &l.in, trained_window(from, w, WINDOWS_LOOKED), l.tokens, err);
        for (int64_t n = 0; !s && n < l.layers * l.heads && n < TRAINED_LAYERS * l.heads; n++)
            add_reach(&out[n / l.heads], farthest + n / l.heads * l.heads,
                      l.in.probabilities + n / l.heads * l.tokens * l.heads * l.tokens, l.tokens, l.heads, n % l.heads);
    }
    for (int64_t n = 0; !s && n < l.layers * l.heads && n < TRAINED_LAYERS * l.heads; n++)
        out[n / l.heads].farthest = fmax(out[n / l.heads].farthest, farthest[n]);
    free(farthest);
    trained_look_free(&l);
    return s;
}

/* What attention that takes the same of each key would have. */
static reach even_reach(int64_t T)
{
    reach r = { 0 };
    for (int64_t i = T / 2; i < T; i++) {
        r.mean += (double)i / 2 / (double)(T - T / 2);
        r.entropy += log2((double)i + 1) / (double)(T - T / 2);
    }
    r.farthest = r.mean;
    return r;
}

static void add_reaches(prove_finding *out, const trained_group *group, reach r[TRAINED_SEEDS][TRAINED_LAYERS],
                        int layers)
{
    for (int l = 0; l < layers; l++) {
        char of[96];
        double mean[TRAINED_SEEDS], farthest[TRAINED_SEEDS], entropy[TRAINED_SEEDS];
        for (int n = 0; n < group->count; n++) {
            mean[n] = r[n][l].mean;
            farthest[n] = r[n][l].farthest;
            entropy[n] = r[n][l].entropy;
        }
        snprintf(of, sizeof of, "%.30s, %d", group->name, l);
        measure_add_values(out, (words){ "mean distance of attention, tokens; layer",
                                  "注意力的平均距离（词元）；层" }, of, mean, group->count, "");
        measure_add_values(out, (words){ "of the head that looks farthest; layer",
                                  "看得最远的头；层" }, of, farthest, group->count, "");
        measure_add_values(out, (words){ "entropy of attention, bits; layer",
                                  "注意力的熵（比特）；层" }, of, entropy, group->count, "");
    }
}

/* Of a model as it was before training. */
static pe_status add_untrained(prove_finding *out, const trained_group *group, reach even, pe_error *err)
{
    trained_model first;
    reach r[TRAINED_LAYERS];
    TRY(trained_first(&first, group->one[0], 1, err));
    pe_status s = reach_of(r, first.m, group->from, err);
    if (!s)
        prove_add(out, (words){ "control: mean distance before training, of even attention's; first layer",
                                "对照：训练前的平均距离与均匀注意力之比；第一层" },
                  group->name, 100 * r[0].mean / even.mean, "%");
    model_free(first.m);
    return s;
}

static int layers_of(const trained_group *group)
{
    int64_t layers = model_settings(group->one[0]->m)->layers;
    return (int)(layers < TRAINED_LAYERS ? layers : TRAINED_LAYERS); /* fits: TRAINED_LAYERS */
}

/* Layers in all, by encoding, by layer, and by both. */
typedef struct reach_tally {
    measure_tally all, encoding[PROVE_SPECS_MAX], layer[TRAINED_LAYERS], both[PROVE_SPECS_MAX * TRAINED_LAYERS];
} reach_tally;

static void count_reach(reach_tally *t, int encoding, int layer, bool near)
{
    measure_tally *each[] = { &t->all, &t->encoding[encoding], &t->layer[layer],
                              &t->both[encoding * TRAINED_LAYERS + layer] };
    for (int n = 0; n < 4; n++)
        measure_count(each[n], near);
}

/* What decides, of what was varied. */
static words reach_depends_on(const reach_tally *t)
{
    static const words encoding = { "It depends on the encoding: with some every layer looks at near keys, with the "
                                    "others none does.",
                                    "取决于编码：有的编码每一层都看邻近的键，其余的没有一层如此。" };
    static const words layer = { "It depends on the layer, in every encoding alike.",
                                 "取决于层，各种编码都一样。" };
    static const words both = { "It depends on the layer and the encoding, together: with one encoding some layers "
                                "look at near keys and others do not, in every seed.",
                                "同时取决于层和编码：同一编码有的层看邻近的键，有的层不看，每个随机种子都一样。" };
    static const words seed = { "It depends on the layer and the encoding, together, and in some of those on the seed: "
                                "with one encoding some layers look at near keys and others do not.",
                                "同时取决于层和编码，有的还取决于随机种子：同一编码有的层看邻近的键，有的层不看。" };
    return measure_decides(t->encoding, PROVE_SPECS_MAX)                ? encoding
           : measure_decides(t->layer, TRAINED_LAYERS)                  ? layer
           : measure_decides(t->both, PROVE_SPECS_MAX * TRAINED_LAYERS) ? both
                                                                        : seed;
}

/* given: names of encodings. */
pe_status measure_trained_reach(prove_finding *out, const prove_given *g, pe_error *err)
{
    reach_tally tally = { .all.out = out };
    reach even = { 0 };
    for (int i = 0; g->spec[i]; i++) {
        reach r[TRAINED_SEEDS][TRAINED_LAYERS];
        trained_group group;
        TRY(trained_find(&group, g, g->spec[i], err));
        even = even_reach(group.from->length);
        for (int n = 0; n < group.count; n++) {
            TRY(reach_of(r[n], group.one[n]->m, group.from, err));
            for (int l = 0; l < layers_of(&group); l++)
                count_reach(&tally, i, l, r[n][l].mean < even.mean / 2);
        }
        add_reaches(out, &group, r, layers_of(&group));
        TRY(add_untrained(out, &group, even, err));
    }
    prove_add(out, (words){ "mean distance of even attention, tokens",
                            "均匀注意力的平均距离（词元）" }, "", even.mean, "");
    prove_add(out, (words){ "entropy of even attention, bits", "均匀注意力的熵（比特）" }, "", even.entropy, "");
    const words because[PROVE_VERDICT_COUNT] = {
        { "In every layer of every model attention looks less than half as far as even attention would.",
          "在每个模型的每一层，注意力看得都不到均匀注意力的一半远。" },
        { "In no layer of any model attention looks less than half as far as even attention would.",
          "没有任何模型的任何一层，注意力看得不到均匀注意力的一半远。" },
        reach_depends_on(&tally),
    };
    measure_conclude(&tally.all, (words){ "layers that look half as far as even attention, or farther",
                                          "看得不近于均匀注意力一半的层数" },
                     because);
    return PE_OK;
}

/* ------------------------------------------------ RoPE's scores by distance, with trained queries and keys */

enum { HEADS_MAX = 64 };

/* Mean score of each layer and head over distances 2^k .. 2^(k+1) - 1, less its mean over all of them. */
typedef struct decay {
    double score[HEADS_MAX][DOUBLINGS];
    int heads, doublings; /* heads: of all layers */
} decay;

static void add_scores(decay *d, double *count, const real *score, int64_t T, int64_t H, int64_t head, int row)
{
    for (int64_t i = 1; i < T; i++)
        for (int64_t j = 0; j < i; j++) {
            int k = 0;
            while ((i - j) >> (k + 1))
                k++;
            if (k < d->doublings) {
                d->score[row][k] += (double)score[(i * H + head) * T + j];
                count[row * DOUBLINGS + k]++;
            }
        }
}

static pe_status decay_of(decay *d, model *m, const prove_models *from, pe_error *err)
{
    trained_look l;
    double count[HEADS_MAX * DOUBLINGS] = { 0 };
    memset(d, 0, sizeof *d);
    TRY(trained_look_new(&l, from, m, LOOK_SCORES, err));
    int64_t all = l.layers * l.heads;
    d->heads = (int)(all < HEADS_MAX ? all : HEADS_MAX); /* fits: HEADS_MAX */
    d->doublings = doublings_of(l.tokens);
    pe_status s = PE_OK;
    for (int w = 0; !s && w < WINDOWS_LOOKED; w++) {
        s = model_look(m, &l.in, trained_window(from, w, WINDOWS_LOOKED), l.tokens, err);
        for (int n = 0; !s && n < d->heads; n++)
            add_scores(d, count, l.in.scores + n / l.heads * l.tokens * l.heads * l.tokens, l.tokens, l.heads,
                       n % l.heads, n);
    }
    for (int n = 0; n < d->heads * DOUBLINGS; n++)
        if (count[n] > 0)
            d->score[n / DOUBLINGS][n % DOUBLINGS] /= count[n];
    trained_look_free(&l);
    return s;
}

/* Heads whose mean score falls with each doubling of the distance. */
static int falling(const decay *d)
{
    int found = 0;
    for (int n = 0; n < d->heads; n++) {
        bool falls = true;
        for (int k = 1; k < d->doublings; k++)
            falls = falls && d->score[n][k] < d->score[n][k - 1];
        found += falls;
    }
    return found;
}

/* The mean over all heads. */
static double mean_score(const decay *d, int k)
{
    double sum = 0;
    for (int n = 0; n < d->heads; n++)
        sum += d->score[n][k] / d->heads;
    return sum;
}

/* The same weights without the rotation: what contents alone say of the distance. */
static pe_status decay_without(decay *d, const trained_model *t, const prove_models *from, pe_error *err)
{
    char spec[400];
    snprintf(spec, sizeof spec, "%s", pe_encoding_spec(model_encoding(t->m)));
    TRY(model_use(t->m, zoo_look_plain(), err));
    pe_status s = decay_of(d, t->m, from, err);
    pe_status back = model_use(t->m, spec, s ? NULL : err);
    return s ? s : back;
}

/* Of each model of a group: the share of heads whose mean score falls with each doubling. */
static pe_status add_falling(prove_finding *out, words what, const trained_group *group, pe_error *err)
{
    double share[TRAINED_SEEDS];
    decay d;
    for (int n = 0; n < group->count; n++) {
        TRY(decay_of(&d, group->one[n]->m, group->from, err));
        share[n] = 100.0 * falling(&d) / d.heads;
    }
    measure_add_values(out, what, group->name, share, group->count, "%");
    return PE_OK;
}

/* given: the name of a rotation, and of a bias that falls with the distance, which is the control. */
pe_status measure_trained_decay(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const words because[PROVE_VERDICT_COUNT] = {
        { "In every head of every model the mean score falls with each doubling of the distance.",
          "在每个模型的每个头里，距离每翻一倍，平均分数都下降。" },
        { "In no head of any model the mean score falls with each doubling of the distance: what trained queries and "
          "keys make of the rotation is no decay.",
          "没有任何模型的任何头，平均分数随距离每翻一倍而下降：训练出的 q 和 k 并没有让旋转变成衰减。" },
        { "It depends on the head: in some the mean score falls with each doubling of the distance, in others it does "
          "not. Trained heads use the rotation for what they need.",
          "取决于头：有的头平均分数随距离每翻一倍而下降，有的不是。训练出的头各取所需地使用旋转。" },
    };
    measure_tally tally = { .out = out };
    double share[TRAINED_SEEDS], plain[TRAINED_SEEDS], column[TRAINED_SEEDS];
    decay d[TRAINED_SEEDS], without;
    trained_group group, bias;
    TRY(trained_find(&group, g, g->spec[0], err));
    TRY(trained_find(&bias, g, g->spec[1], err));
    for (int n = 0; n < group.count; n++) {
        TRY(decay_of(&d[n], group.one[n]->m, group.from, err));
        TRY(decay_without(&without, group.one[n], group.from, err));
        share[n] = 100.0 * falling(&d[n]) / d[n].heads;
        plain[n] = 100.0 * falling(&without) / without.heads;
        for (int h = 0; h < d[n].heads; h++)
            measure_count(&tally, h < falling(&d[n]));
    }
    measure_add_values(out, (words){ "heads whose mean score falls with each doubling of the distance",
                              "平均分数随距离每翻一倍而下降的头" },
                group.name, share, group.count, "%");
    measure_add_values(out, (words){ "control: the same weights without the rotation",
                              "对照：同样的权重，不旋转" }, group.name, plain,
                group.count, "%");
    TRY(add_falling(out, (words){ "heads that have a bias by distance", "带距离偏置的头" }, &bias, err));
    for (int k = 0; k < d[0].doublings; k++) {
        char of[96];
        for (int n = 0; n < group.count; n++)
            column[n] = mean_score(&d[n], k);
        snprintf(of, sizeof of, "%.30s, %d-%d", group.name, 1 << k, (2 << k) - 1);
        measure_add_values(out, (words){ "mean score of all heads; distance",
                                  "所有头的平均分数；距离" }, of, column, group.count, "");
    }
    measure_conclude(&tally, (words){ "heads whose score does not fall with each doubling",
                                      "分数不随距离每翻一倍而下降的头数" },
                     because);
    return PE_OK;
}

/* ------------------------------------------------ bfloat16, with trained queries and keys */

enum { VECTORS = 2048 };

/* Queries and keys of all layers and heads at places of the text: qk (VECTORS, 2, D). */
static pe_status take_vectors(double *qk, const trained_group *group, pe_error *err)
{
    int each = VECTORS / group->count;
    for (int n = 0; n < group->count; n++) {
        trained_look l;
        TRY(trained_look_new(&l, group->from, group->one[n]->m, LOOK_QKV, err));
        pe_status s = model_look(group->one[n]->m, &l.in, trained_window(group->from, n, group->count), l.tokens, err);
        for (int v = 0; !s && v < each; v++) {
            uint64_t at = 4 * (uint64_t)v;
            int64_t layer = random_below(23, at, (uint32_t)l.layers), head = random_below(23, at + 1,
                                         (uint32_t)l.heads);
            int64_t i = random_below(23, at + 2, (uint32_t)l.tokens), j = random_below(23, at + 3, (uint32_t)i + 1);
            const real *x = l.in.qkv + layer * l.tokens * l.wide;
            double *to = qk + (n * each + v) * 2 * l.dim;
            for (int64_t c = 0; c < l.dim; c++) {
                to[c] = (double)x[i * l.wide + head * l.dim + c];
                to[l.dim + c] = (double)x[j * l.wide + (l.heads + head) * l.dim + c];
            }
        }
        trained_look_free(&l);
        TRY(s);
    }
    return PE_OK;
}

/* given: the name of a rotation; length (the farthest step). */
pe_status measure_trained_bf16(prove_finding *out, const prove_given *g, pe_error *err)
{
    trained_group group;
    prove_given one = *g;
    TRY(trained_find(&group, g, g->spec[0], err));
    const model_config *c = model_settings(group.one[0]->m);
    if (c->kv_heads != c->heads || c->head_dim > MEASURE_HEAD_MAX)
        return io_fail(err, PE_ERR_UNSUITED, "%s: needs as many heads of keys as of queries", group.one[0]->name);
    double *qk = measure_memory(VECTORS, 2 * c->head_dim, err);
    pe_status s = qk ? take_vectors(qk, &group, err) : PE_ERR_NOMEM;
    one.spec[0] = pe_encoding_spec(model_encoding(group.one[0]->m));
    one.head_dim = c->head_dim;
    one.qk = qk;
    one.qks = VECTORS / group.count * group.count;
    s = s ? s : measure_moved_bf16(out, &one, err);
    free(qk);
    return s;
}
