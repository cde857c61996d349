/* SPDX-License-Identifier: MIT
 *
 * Claims that two kinds of models are equally good: codes that are added against codes that are concatenated, a table
 * that is learned against a fixed code. */
#include "prove/trained.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TOKENS_ASKED = 8192, LENGTHS = 3 };

/* Bits per byte of the text, over windows of `times` the trained length that are spread over it. PE_ERR_POSITION: the
 * model cannot read as far. */
static pe_status bits_of(double *bits, const trained_model *t, const prove_models *from, int times, pe_error *err)
{
    int64_t T = times * from->length, last = from->bytes - T - 1, windows = TOKENS_ASKED / T;
    if (last < 0 || windows < 1)
        return io_fail(err, PE_ERR_SHAPE, "the text has %lld bytes; needs more than %lld", (long long)from->bytes,
                       (long long)T);
    int32_t *target = calloc((size_t)T, sizeof *target);
    real *loss = calloc((size_t)T, sizeof *loss);
    pe_status s = target && loss ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for a window of %d bytes", (int)T);
    *bits = 0;
    for (int64_t w = 0; !s && w < windows; w++) {
        const int32_t *token = from->text + (windows > 1 ? last / (windows - 1) * w : 0);
        for (int64_t i = 0; i < T; i++)
            target[i] = token[i + 1];
        model_batch b = { token, target, pe_positions_run(1, T, 0), 1, T };
        s = model_losses(t->m, &b, loss, NULL, err);
        for (int64_t i = 0; !s && i < T; i++)
            *bits += (double)loss[i] / log(2) / (double)(windows * T);
    }
    free(target), free(loss);
    return s;
}

/* The models of one kind at one length. */
typedef struct kind {
    trained_group group;
    double bits[TRAINED_SEEDS];
    bool reads; /* they can read as far */
} kind;

static pe_status kind_at(kind *k, int times, pe_error *err)
{
    k->reads = true;
    for (int n = 0; n < k->group.count && k->reads; n++) {
        pe_status s = bits_of(&k->bits[n], k->group.one[n], k->group.from, times, err);
        k->reads = s != PE_ERR_POSITION;
        TRY(k->reads ? s : PE_OK);
    }
    return PE_OK;
}

static void add_kind(prove_finding *out, words what, const kind *k, int times)
{
    char of[96];
    snprintf(of, sizeof of, "%.60s, n = %lld", pe_encoding_spec(model_encoding(k->group.one[0]->m)),
             (long long)(times * k->group.from->length));
    if (k->reads)
        measure_add_values(out, what, of, k->bits, k->group.count, "");
}

/* Whether every model of one kind is better than every model of the other, by more than those of either kind are apart:
 * -1 the first kind, 1 the second, 0 neither. */
static int better(const kind *a, const kind *b)
{
    measure_spread x = measure_spread_of(a->bits, a->group.count), y = measure_spread_of(b->bits, b->group.count);
    double apart = fmax(x.most - x.least, y.most - y.least);
    return y.least - x.most > apart ? -1 : x.least - y.most > apart ? 1 : 0;
}

/* Every model of one kind is better than every one of the other, by however little. */
static bool parted(const kind *a, const kind *b)
{
    measure_spread x = measure_spread_of(a->bits, a->group.count), y = measure_spread_of(b->bits, b->group.count);
    return x.most < y.least || y.most < x.least;
}

/* What is said: HOLDS, REFUTED with the first kind or the second better everywhere, DEPENDS. */
typedef struct told {
    words alike, first, second, depends;
} told;

/* given: names of both kinds, and of models that a code must have made better, or it was not learned. */
static pe_status measure_kinds(prove_finding *out, const prove_given *g, const told *say, pe_error *err)
{
    static const words untold = { "A kind of models is no better than models without an encoding: it has not learned to "
                                  "use its codes, and there is nothing to compare.",
                                  "有一类模型并不比没有位置编码的更好：它没有学会使用编码，无从比较。" };
    static const words undecided = { "Every model of one kind is better than every one of the other, by less than seeds "
                                     "are apart: so few do not decide it.",
                                     "一类的每个模型都好于另一类的每个模型，但差距小于随机种子之间的差异：这么少的模型无法定论。" };
    static const words what[] = { { "bits per byte, windows of n", "每字节比特数，窗口长 n" },
                                  { "control: bits per byte, windows of n", "对照：每字节比特数，窗口长 n" } };
    measure_tally tally = { .out = out };
    kind k[3] = { 0 };
    int wins[2] = { 0, 0 };
    bool learned = true, open = false;
    for (int i = 0; i < 3; i++)
        TRY(trained_find(&k[i].group, g, g->spec[i], err));
    for (int n = 0, times = 1; n < LENGTHS; n++, times *= 2) {
        for (int i = 0; i < 3; i++)
            TRY(kind_at(&k[i], times, err));
        if (!k[0].reads || !k[1].reads)
            continue;
        for (int i = 0; i < 3; i++)
            add_kind(out, what[i == 2], &k[i], times);
        int best = better(&k[0], &k[1]);
        measure_count(&tally, !best);
        open = open || (!best && parted(&k[0], &k[1]));
        if (best)
            wins[best > 0]++;
        learned = learned && (n || (better(&k[2], &k[0]) > 0 && better(&k[2], &k[1]) > 0));
    }
    const words because[PROVE_VERDICT_COUNT] = {
        say->alike, wins[0] && wins[1] ? say->depends : wins[0] ? say->first : say->second,
        tally.bad ? say->depends : undecided
    };
    measure_add_first(out, (words){ "lengths at which one kind is better", "其中一类更好的长度数" },
                      measure_named("/ ", tally.good + tally.bad).is, tally.bad, "");
    prove_verdict v = PROVE_REFUTED;
    if (!tally.bad)
        v = open ? PROVE_DEPENDS : PROVE_HOLDS;
    else if (tally.good || (wins[0] && wins[1]))
        v = PROVE_DEPENDS;
    prove_say(out, learned ? v : PROVE_REFUTED, learned ? because[v] : untold);
    return PE_OK;
}

/* given: specs of models that add codes and of models that concatenate them, and none. */
pe_status measure_trained_concatenating(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const told say = {
        { "At no length are models that add and models that concatenate farther apart than seeds make either.",
          "在任何长度上，相加与拼接的模型之差都不超过随机种子造成的差异。" },
        { "At every length models that add are better, with every seed, by more than seeds are apart.",
          "在每个长度上，无论随机种子，相加的模型都更好，且差距大于随机种子之间的差异。" },
        { "At every length models that concatenate are better, with every seed, by more than seeds are apart, though "
          "their words are narrower. Both have sinusoids of amplitude 1.",
          "在每个长度上，无论随机种子，拼接的模型都更好，且差距大于随机种子之间的差异，虽然其词向量更窄。两者的正弦振幅都是 1。" },
        { "It depends on the length: the evidence says at which one of the two is better.",
          "取决于长度：数据中列出了在哪些长度上其中之一更好。" },
    };
    return measure_kinds(out, g, &say, err);
}

/* given: specs of models with a table that is learned and of models with a fixed code, and none. */
pe_status measure_trained_learned(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const told say = {
        { "Models with a table that is learned and with sinusoids are no farther apart than seeds make either.",
          "可学习位置表与正弦编码的模型之差不超过随机种子造成的差异。" },
        { "Models with a table that is learned are better, with every seed, by more than seeds are apart.",
          "可学习位置表的模型更好，无论随机种子，且差距大于随机种子之间的差异。" },
        { "Models with sinusoids are better, with every seed, by more than seeds are apart.",
          "正弦编码的模型更好，无论随机种子，且差距大于随机种子之间的差异。" },
        { "It depends on the length: the evidence says at which one of the two is better.",
          "取决于长度：数据中列出了在哪些长度上其中之一更好。" },
    };
    return measure_kinds(out, g, &say, err);
}
