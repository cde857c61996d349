/* SPDX-License-Identifier: MIT
 *
 * Claims that two kinds of models are equally good: codes that are added against codes that are concatenated, a table
 * that is learned against a fixed code. */
#include "base/welch.h"
#include "prove/trained.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTHS = 3, PARTS = 4, BATCH = 4096 };

/* How many windows of so many tokens the text has, as many in each quarter; each is followed by one byte more. */
static int64_t windows_of(const prove_models *from, int64_t tokens)
{
    return (from->bytes - 1) / tokens / PARTS * PARTS;
}

/* Bits per byte of the text, over all windows of `times` the trained length, side by side, and over each quarter of
 * them. PE_ERR_POSITION: the model cannot read as far. */
static pe_status bits_of(double bits[1 + PARTS], const trained_model *t, const prove_models *from, int times,
                         pe_error *err)
{
    int64_t T = times * from->length, windows = windows_of(from, T), batch = BATCH / T;
    if (windows < PARTS)
        return io_fail(err, PE_ERR_SHAPE, "the text has %lld bytes; needs more than %lld", (long long)from->bytes,
                       (long long)(PARTS * T));
    real *loss = calloc((size_t)(batch * T), sizeof *loss);
    pe_status s = loss ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for a window of %d bytes", (int)T);
    memset(bits, 0, (1 + PARTS) * sizeof *bits);
    for (int64_t w = 0; !s && w < windows; w += batch) {
        int64_t n = w + batch < windows ? batch : windows - w;
        const int32_t *token = from->text + w * T; /* the text itself, one byte on, is what follows */
        model_batch b = { token, token + 1, pe_positions_run(1, T, 0), n, T };
        s = model_losses(t->m, &b, loss, NULL, err);
        for (int64_t i = 0; !s && i < n * T; i++) {
            double one = (double)loss[i] / log(2) / (double)(windows * T);
            bits[0] += one;
            bits[1 + (w + i / T) * PARTS / windows] += PARTS * one;
        }
    }
    free(loss);
    return s;
}

/* The models of one kind at one length: bits of each over the whole text and over its quarters. */
typedef struct kind {
    trained_group group;
    double bits[TRAINED_SEEDS][1 + PARTS];
    bool reads; /* they can read as far */
} kind;

static pe_status kind_at(kind *k, int times, pe_error *err)
{
    k->reads = true;
    for (int n = 0; n < k->group.count && k->reads; n++) {
        pe_status s = bits_of(k->bits[n], k->group.one[n], k->group.from, times, err);
        k->reads = s != PE_ERR_POSITION;
        TRY(k->reads ? s : PE_OK);
    }
    return PE_OK;
}

static const char *spec_of(const kind *k)
{
    return pe_encoding_spec(model_encoding(k->group.one[0]->m));
}

static void add_kind(prove_finding *out, words what, const kind *k, int times)
{
    char of[96];
    double all[TRAINED_SEEDS];
    for (int n = 0; n < k->group.count; n++)
        all[n] = k->bits[n][0];
    snprintf(of, sizeof of, "%.60s, n = %lld", spec_of(k), (long long)(times * k->group.from->length));
    measure_add_values(out, what, of, all, k->group.count, "");
}

/* Over the models of a kind: the whole text, or quarter part - 1. */
static welch_sample sample_of(const kind *k, int part)
{
    welch_sample s = { .count = k->group.count };
    double squares = 0;
    for (int n = 0; n < s.count; n++)
        s.mean += k->bits[n][part] / s.count;
    for (int n = 0; n < s.count; n++)
        squares += (k->bits[n][part] - s.mean) * (k->bits[n][part] - s.mean);
    s.deviation = s.count > 1 ? sqrt(squares / (s.count - 1)) : 0;
    return s;
}

#define CHANCE 0.05 /* as in posenc race: a difference that seeds alone make more often than that is none */

/* Whether one kind is better by more than seeds make it: -1 the first, 1 the second, 0 neither. */
static int better(const kind *a, const kind *b)
{
    welch_sample x = sample_of(a, 0), y = sample_of(b, 0);
    return !(welch_probability(x, y) < CHANCE) ? 0 : x.mean < y.mean ? -1 : 1;
}

/* Every model of one kind is better than every one of the other, or there are too few for chance to be known: then that
 * neither is better is not known either. */
static bool undecided(const kind *a, const kind *b)
{
    int first = 0, pairs = a->group.count * b->group.count;
    for (int n = 0; n < pairs; n++)
        first += a->bits[n % a->group.count][0] < b->bits[n / a->group.count][0];
    return !better(a, b) && (first == 0 || first == pairs || a->group.count < 2 || b->group.count < 2);
}

static void add_difference(prove_finding *out, const kind *a, const kind *b, int times)
{
    char of[96];
    long long n = (long long)(times * a->group.from->length);
    for (int part = 0; part <= PARTS; part++) {
        snprintf(of, sizeof of, "%.40s, n = %lld", spec_of(a), n);
        if (part)
            snprintf(of, sizeof of, "%.40s, n = %lld, %d/%d", spec_of(a), n, part, PARTS);
        prove_add(out,
                  part ? (words){ "the same, of a quarter of the text", "同上，文本的四分之一" }
                       : (words){ "bits per byte less those of the second kind", "每字节比特数减去第二类的" },
                  of, sample_of(a, part).mean - sample_of(b, part).mean, "");
    }
    double p = welch_probability(sample_of(a, 0), sample_of(b, 0));
    snprintf(of, sizeof of, "%.40s, n = %lld", spec_of(a), n);
    prove_add(out, (words){ "probability that seeds alone make that difference (Welch)",
                            "仅随机种子造成该差异的概率（Welch）" },
              of, isnan(p) ? 100 : 100 * p, "%");
}

/* What is said: HOLDS, REFUTED with the first kind or the second better everywhere. */
typedef struct told {
    words alike, first, second;
} told;

enum { KINDS = 4 };

/* Kinds that are compared with the last of them, and models without a code, which both must beat, or what they make of
 * their codes at this length serves nobody. */
typedef struct contest {
    measure_tally all;
    kind kind[KINDS], none;
    int kinds, counted[LENGTHS], best[KINDS][LENGTHS]; /* of each first kind: as better() says */
    int wins[2];
    bool open, turns; /* turns: one length of a first kind has another winner than a length before */
} contest;

static pe_status contest_open(contest *c, prove_finding *out, const prove_given *g, pe_error *err)
{
    int specs = 0;
    memset(c, 0, sizeof *c);
    c->all.out = out;
    while (specs <= KINDS && g->spec[specs])
        specs++;
    c->kinds = specs - 1;
    for (int i = 0; i < c->kinds; i++)
        TRY(trained_find(&c->kind[i].group, g, g->spec[i], err));
    return trained_find(&c->none.group, g, g->spec[c->kinds], err);
}

static void contest_pair(contest *c, int first, int length)
{
    const kind *a = &c->kind[first], *b = &c->kind[c->kinds - 1];
    bool both = better(a, &c->none) < 0 && better(b, &c->none) < 0;
    if (!both)
        return;
    int best = better(a, b);
    measure_count(&c->all, !best);
    c->counted[length]++;
    c->best[first][length] = best;
    c->turns = c->turns || (length && best != c->best[first][length - 1]);
    if (best)
        c->wins[best > 0]++;
    c->open = c->open || undecided(a, b);
    add_difference(c->all.out, a, b, 1 << length);
}

/* All kinds at one length. *ends: one of them cannot read as far, or none is better there than without an encoding. */
static pe_status contest_length(contest *c, int length, bool *ends, pe_error *err)
{
    static const words bits = { "bits per byte, windows of n", "每字节比特数，窗口长 n" };
    static const words control = { "control: bits per byte, windows of n", "对照：每字节比特数，窗口长 n" };
    for (int i = 0; i < c->kinds; i++) {
        TRY(kind_at(&c->kind[i], 1 << length, err));
        *ends = !c->kind[i].reads;
        if (*ends)
            return PE_OK;
    }
    TRY(kind_at(&c->none, 1 << length, err));
    for (int i = 0; i < c->kinds; i++)
        add_kind(c->all.out, bits, &c->kind[i], 1 << length);
    add_kind(c->all.out, control, &c->none, 1 << length);
    for (int i = 0; i < c->kinds - 1; i++)
        contest_pair(c, i, length);
    *ends = !c->counted[length];
    return PE_OK;
}

/* What decides, of what was varied. */
static words contest_depends(const contest *c)
{
    static const words untold = { "It depends on whether the code has been learned: no kind of models that is compared is "
                                  "better than models without an encoding, so there is nothing to compare.",
                                  "取决于编码是否学会：没有一类模型比没有位置编码的更好，无从比较。" };
    static const words undecided = { "It depends on the models: every one of one kind is better than every one of the "
                                     "other, or there is one of a kind, so few do not decide it.",
                                     "取决于模型：一类的每个模型都好于另一类的每个模型，或某类只有一个模型，这么少的模型无法定论。" };
    static const words first = { "It depends on the spec of the first kind: the evidence says with which of them it is "
                                 "better than the second kind, or worse.",
                                 "取决于第一类的写法：数据中列出了其中哪些比第二类更好或更差。" };
    static const words length = { "It depends on the length: the evidence says at which one of the two is better.",
                                  "取决于长度：数据中列出了在哪些长度上其中之一更好。" };
    return !c->all.good && !c->all.bad ? untold : !c->all.bad ? undecided : c->turns ? length : first;
}

/* given: specs of the first kind, one of the second, and one of models that a code must have made better. */
static pe_status measure_kinds(prove_finding *out, const prove_given *g, const told *say, pe_error *err)
{
    contest c;
    bool ends = false;
    TRY(contest_open(&c, out, g, err));
    const prove_models *from = c.none.group.from;
    prove_add(out, (words){ "bytes of the text that each model is asked about", "每个模型被问到的文本字节数" }, "",
              (double)(windows_of(from, from->length) * from->length), "");
    for (int n = 0; n < LENGTHS && !ends; n++)
        TRY(contest_length(&c, n, &ends, err));
    const measure_tally *t = &c.all;
    const words because[PROVE_VERDICT_COUNT] = { say->alike, c.wins[0] ? say->first : say->second, contest_depends(&c) };
    prove_verdict v = t->good && !t->bad && !c.open                      ? PROVE_HOLDS
                      : t->bad && !t->good && (!c.wins[0] || !c.wins[1]) ? PROVE_REFUTED
                                                                         : PROVE_DEPENDS;
    measure_add_first(out, (words){ "comparisons in which one kind is better", "其中一类更好的比较数" },
                      measure_named("/ ", t->good + t->bad).is, t->bad, "");
    prove_say(out, v, because[v]);
    return PE_OK;
}

/* given: specs of models that add codes, one of models that concatenate them, and none. */
pe_status measure_trained_concatenating(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const told say = {
        { "In no comparison are models that add and models that concatenate farther apart than seeds make them.",
          "在任何一次比较中，相加与拼接的模型之差都不超过随机种子造成的差异。" },
        { "In every comparison models that add are better by more than seeds make them.",
          "在每次比较中，相加的模型都更好，且差距超过随机种子造成的差异。" },
        { "At every amplitude of the code that is added, models that concatenate are better by more than seeds make them, "
          "though their words are narrower.",
          "无论相加的编码振幅多大，拼接的模型都更好，且差距超过随机种子造成的差异，虽然其词向量更窄。" },
    };
    return measure_kinds(out, g, &say, err);
}

/* given: specs of models with a table that is learned and of models with a fixed code, and none. */
pe_status measure_trained_learned(prove_finding *out, const prove_given *g, pe_error *err)
{
    static const told say = {
        { "Models with a table that is learned and with sinusoids are no farther apart than seeds make them.",
          "可学习位置表与正弦编码的模型之差不超过随机种子造成的差异。" },
        { "Models with a table that is learned are better by more than seeds make them.",
          "可学习位置表的模型更好，且差距超过随机种子造成的差异。" },
        { "Models with sinusoids are better by more than seeds make them.",
          "正弦编码的模型更好，且差距超过随机种子造成的差异。" },
    };
    return measure_kinds(out, g, &say, err);
}

