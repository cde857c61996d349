/* SPDX-License-Identifier: MIT
 *
 * Claims: attention takes a set. One layer, random words, random projections; what changes when the words change
 * places? */
#include "prove/measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WORDS_MAX 64
#define OTHERS 3 /* words of a second text that looks at the first */

static const words DIFFERENCE = { "largest difference of the outputs", "输出的最大差异" };

/* Random words, some of them twice; the same in another order, or backwards. */
typedef struct line {
    int64_t word[WORDS_MAX], moved[WORDS_MAX], order[WORDS_MAX];
    int64_t count;
} line;

static pe_status line_make(line *l, const prove_given *g, bool backwards, pe_error *err)
{
    uint64_t state = g->seed;
    if (g->length < 2 || g->length > WORDS_MAX)
        return io_fail(err, PE_ERR_RANGE, "the text has %lld words; needs 2 to %d", (long long)g->length, WORDS_MAX);
    l->count = g->length;
    measure_shuffle(l->order, l->count, &state);
    for (int64_t t = 0; t < l->count; t++) {
        l->order[t] = backwards ? l->count - 1 - t : l->order[t];
        l->word[t] = t % (l->count - l->count / 4);
    }
    for (int64_t t = 0; t < l->count; t++)
        l->moved[t] = l->word[l->order[t]];
    return PE_OK;
}

static scene_text as_it_was(const line *l)
{
    return (scene_text){ l->word, NULL, l->count };
}

static scene_text as_moved(const line *l)
{
    return (scene_text){ l->moved, NULL, l->count };
}

/* Both texts through one layer: out[2] (count, C), weights[2] (count, H, count). */
typedef struct looked {
    line l;
    int64_t C, H;
    double *out[2], *weights[2];
    bool weighed; /* the weights are there: a row that acts on values has none of its own width */
} looked;

static void looked_free(looked *k)
{
    for (int n = 0; n < 2; n++)
        free(k->out[n]), free(k->weights[n]);
}

static pe_status look(looked *k, const scene *s, pe_error *err)
{
    k->weighed = true;
    for (int n = 0; n < 2; n++) {
        scene_text t = n ? as_moved(&k->l) : as_it_was(&k->l);
        PROVE_TRY(scene_attend(k->out[n], NULL, s, t, t, err));
        k->weighed = k->weighed && !scene_attend(NULL, k->weights[n], s, t, t, NULL);
    }
    return PE_OK;
}

static pe_status looked_new(looked *k, const char *spec, const prove_given *g, bool backwards, pe_error *err)
{
    scene s;
    *k = (looked){ .H = g->heads, .C = g->heads * g->head_dim };
    PROVE_TRY(line_make(&k->l, g, backwards, err));
    PROVE_TRY(scene_open(&s, spec, g, err));
    bool whole = true;
    for (int n = 0; n < 2; n++) {
        whole = (k->out[n] = measure_memory(k->l.count, k->C, err)) && whole;
        whole = (k->weights[n] = measure_memory(k->l.count * k->H, k->l.count, err)) && whole;
    }
    pe_status status = whole ? look(k, &s, err) : io_fail(err, PE_ERR_NOMEM, "no memory for the outputs");
    scene_close(&s);
    return status;
}

/* Between the outputs of the moved words, and what they were before. */
static double output_difference(const looked *k)
{
    double most = 0;
    for (int64_t t = 0; t < k->l.count; t++)
        most = fmax(most, measure_difference(k->out[1] + t * k->C, k->out[0] + k->l.order[t] * k->C, k->C));
    return most;
}

/* Between A' and P A P'. */
static double weight_difference(const looked *k)
{
    double most = 0;
    int64_t T = k->l.count;
    for (int64_t i = 0; i < T; i++)
        for (int64_t h = 0; h < k->H; h++)
            for (int64_t j = 0; j < T; j++)
                most = fmax(most, fabs(k->weights[1][(i * k->H + h) * T + j] -
                                       k->weights[0][(k->l.order[i] * k->H + h) * T + k->l.order[j]]));
    return most;
}

static pe_status moved_difference(double *out, const char *spec, const prove_given *g, bool backwards, pe_error *err)
{
    looked k;
    pe_status status = looked_new(&k, spec, g, backwards, err);
    *out = status ? NAN : output_difference(&k);
    looked_free(&k);
    return status;
}

/* ---------------------------------------------------------------- a table over rows */

typedef struct tally {
    prove_finding *f;
    int seen, blind;  /* of specs with hooks */
    int wrong;        /* specs without hooks that differ */
    double least;     /* of those that see */
    double most_none; /* of those without hooks */
} tally;

static pe_status count(tally *t, const char *spec, double difference, const prove_given *g, words what, pe_error *err)
{
    measure_encoding m;
    PROVE_TRY(measure_open(&m, spec, g, err));
    bool sees = difference >= MEASURE_ROUNDING;
    if (!pe_encoding_hooks(m.e)) {
        t->wrong += sees;
        t->most_none = fmax(t->most_none, difference);
    } else {
        t->seen += sees;
        t->blind += !sees;
        t->least = sees ? fmin(t->least, difference) : t->least;
    }
    prove_add(t->f, what, spec, difference, "");
    measure_close(&m);
    return PE_OK;
}

/* ---------------------------------------------------------------- two dogs */

static const words DOGS = { "between the outputs of the two dogs", "两个 dog 的输出之差" };

/* the dog chased the other dog */
static pe_status dogs(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    static const int64_t word[] = { 0, 1, 2, 0, 3, 1 };
    scene_text t = { word, NULL, 6 };
    int64_t C = g->heads * g->head_dim;
    double *out = measure_memory(t.count, C, err);
    scene s = { 0 };
    pe_status status = out ? scene_open(&s, spec, g, err) : PE_ERR_NOMEM;
    status = status ? status : scene_attend(out, NULL, &s, t, t, err);
    double difference = status ? NAN : measure_difference(out + C, out + 5 * C, C);
    scene_close(&s);
    free(out);
    return status ? status : count(with, spec, difference, g, DOGS, err);
}

static pe_status two_dogs(prove_finding *out, const prove_given *g, pe_error *err)
{
    tally t = { .f = out, .least = INFINITY };
    PROVE_TRY(measure_each_row(dogs, &t, g, err));
    if (t.wrong || (!t.seen && t.blind))
        prove_say(out, PROVE_REFUTED, (words){ "the outputs do not do what the sentence says", "输出与该说法不符" });
    else if (t.blind)
        prove_say(out, PROVE_DEPENDS,
                  (words){ "identical without an encoding; different with every row but those that look at one side: "
                           "unmasked, they add the same to all scores of a query, or count the same keys, wherever it "
                           "stands",
                           "没有位置编码时完全相同；有编码时除单向的几种外都不同：不加掩码时，单向编码给同一个 query "
                           "的所有分数加上相同的量（或数出相同的 key），与它站在哪里无关" });
    else
        prove_say(
            out, PROVE_HOLDS,
            (words){ "identical without an encoding, different with each", "没有位置编码时相同，有编码时各不相同" });
    return PE_OK;
}

/* ---------------------------------------------------------------- blind to order */

static void say_blind(prove_finding *out, double most)
{
    if (most < MEASURE_ROUNDING)
        prove_say(out, PROVE_HOLDS, (words){ "nothing but rounding changes", "变化只有舍入误差" });
    else
        prove_say(
            out, PROVE_REFUTED,
            (words){ "with this encoding the order of the words changes the result", "用了这种编码，词序会改变结果" });
}

static pe_status blind_of(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    prove_finding *out = with;
    looked k;
    pe_status status = looked_new(&k, spec, g, false, err);
    if (!status)
        prove_add(out, DIFFERENCE, spec, output_difference(&k), "");
    if (!status && k.weighed)
        prove_add(out, (words){ "largest element of A' - P A P^T", "A' - P A P^T 的最大元素" }, spec,
                  weight_difference(&k), "");
    looked_free(&k);
    return status;
}

static double largest_number(const prove_finding *f)
{
    double most = 0;
    for (int n = 0; n < f->count; n++)
        most = fmax(most, fabs(f->number[n].value));
    return most;
}

static pe_status order_blind(prove_finding *out, const prove_given *g, pe_error *err)
{
    PROVE_TRY(measure_each_row(blind_of, out, g, err));
    say_blind(out, largest_number(out));
    return PE_OK;
}

/* ---------------------------------------------------------------- pooled */

enum { POOL_SUM, POOL_MEAN, POOL_ATTENTION, POOL_COUNT };

/* pooled (C) of outputs x (T, C): sum, mean, or weighted by exp(u.x / sqrt C) with one fixed query u. */
static void pool(double *pooled, const double *x, int64_t T, int64_t C, int how, uint64_t seed)
{
    double total = 0;
    for (int64_t c = 0; c < C; c++)
        pooled[c] = 0;
    for (int64_t t = 0; t < T; t++) {
        uint64_t state = seed + 7;
        double score = 0;
        for (int64_t c = 0; c < C; c++)
            score += measure_normal(&state) * x[t * C + c];
        double weight = how == POOL_ATTENTION ? exp(score / sqrt((double)C)) : 1;
        total += weight;
        for (int64_t c = 0; c < C; c++)
            pooled[c] += weight * x[t * C + c];
    }
    for (int64_t c = 0; how != POOL_SUM && c < C; c++)
        pooled[c] /= total;
}

static pe_status pooled_of(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    static const words what[POOL_COUNT] = { { "change of the sum", "求和池化的变化" },
                                            { "change of the mean", "平均池化的变化" },
                                            { "change of attention pooling", "注意力池化的变化" } };
    looked k;
    pe_status status = looked_new(&k, spec, g, false, err);
    double *pooled = status ? NULL : measure_memory(2, k.C, err);
    status = !status && !pooled ? PE_ERR_NOMEM : status;
    for (int how = 0; !status && how < POOL_COUNT; how++) {
        for (int n = 0; n < 2; n++)
            pool(pooled + n * k.C, k.out[n], k.l.count, k.C, how, g->seed);
        prove_add(with, what[how], spec, measure_difference(pooled, pooled + k.C, k.C), "");
    }
    free(pooled);
    looked_free(&k);
    return status;
}

static pe_status pooled_blind(prove_finding *out, const prove_given *g, pe_error *err)
{
    PROVE_TRY(measure_each_row(pooled_of, out, g, err));
    say_blind(out, largest_number(out));
    return PE_OK;
}

/* ---------------------------------------------------------------- cross-attention */

static pe_status cross_of(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    static const int64_t other[OTHERS] = { 900, 901, 902 };
    scene_text q = { other, NULL, OTHERS };
    line l;
    scene s = { 0 };
    int64_t C = g->heads * g->head_dim;
    PROVE_TRY(line_make(&l, g, false, err));
    double *out = measure_memory(2 * OTHERS, C, err);
    pe_status status = out ? scene_open(&s, spec, g, err) : PE_ERR_NOMEM;
    status = status ? status : scene_attend(out, NULL, &s, q, as_it_was(&l), err);
    status = status ? status : scene_attend(out + OTHERS * C, NULL, &s, q, as_moved(&l), err);
    if (!status)
        prove_add(with, DIFFERENCE, spec, measure_difference(out, out + OTHERS * C, OTHERS * C), "");
    scene_close(&s);
    free(out);
    return status;
}

static pe_status cross_blind(prove_finding *out, const prove_given *g, pe_error *err)
{
    PROVE_TRY(measure_each_row(cross_of, out, g, err));
    say_blind(out, largest_number(out));
    return PE_OK;
}

/* ---------------------------------------------------------------- which encodings break it; the mask */

static pe_status broken_of(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    double difference;
    PROVE_TRY(moved_difference(&difference, spec, g, false, err));
    return count(with, spec, difference, g, DIFFERENCE, err);
}

static pe_status order_seen(prove_finding *out, const prove_given *g, pe_error *err)
{
    tally t = { .f = out, .least = INFINITY };
    prove_add(out, (words){ "encodings that stay blind", "仍然看不到顺序的编码数" }, "", 0, "");
    PROVE_TRY(measure_each_row(broken_of, &t, g, err));
    out->number[0].value = t.blind;
    if (t.blind || !t.seen)
        prove_say(out, PROVE_REFUTED,
                  (words){ "an encoding leaves permuted words with permuted outputs",
                           "有的编码在词序置换后输出也只是随之置换" });
    else
        prove_say(out, PROVE_HOLDS,
                  (words){ "every row of the registry changes some output when the words change places, without a mask",
                           "不加掩码时，登记表里的每种编码在词序改变后都会改变某些输出" });
    return PE_OK;
}

static pe_status causal_sees(prove_finding *out, const prove_given *g, pe_error *err)
{
    double masked, open;
    prove_given without = *g;
    const char *spec = g->spec[0] ? g->spec[0] : "none";
    without.causal = false;
    PROVE_TRY(moved_difference(&masked, spec, g, false, err));
    PROVE_TRY(moved_difference(&open, spec, &without, false, err));
    prove_add(out, DIFFERENCE, g->causal ? "causal mask" : "no mask", masked, "");
    prove_add(out, DIFFERENCE, "no mask", open, "");
    if (masked >= MEASURE_ROUNDING && open < MEASURE_ROUNDING)
        prove_say(out, PROVE_HOLDS,
                  (words){ "the n-th word sees n words: the mask alone counts places",
                           "第 n 个词只能看到 n 个词：掩码本身就在数位置" });
    else
        prove_say(out, PROVE_REFUTED,
                  (words){ "the order is seen without the mask too, or not with it",
                           "不加掩码也看得到顺序，或加了也看不到" });
    return PE_OK;
}

/* ---------------------------------------------------------------- backwards */

static const words BACKWARDS = { "largest difference after reversal", "反转后输出的最大差异" };

static pe_status reversed_of(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    double difference;
    PROVE_TRY(moved_difference(&difference, spec, g, true, err));
    prove_add(with, BACKWARDS, spec, difference, "");
    return PE_OK;
}

static pe_status reversal_blind(prove_finding *out, const prove_given *g, pe_error *err)
{
    PROVE_TRY(measure_each_row(reversed_of, out, g, err));
    if (largest_number(out) < MEASURE_ROUNDING)
        prove_say(out, PROVE_HOLDS,
                  (words){ "read backwards, each word gets the output it had", "倒着读，每个词得到的输出不变" });
    else
        prove_say(out, PROVE_REFUTED, (words){ "this encoding tells left from right", "这种编码能区分左右" });
    return PE_OK;
}

static pe_status reversal_row(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    double difference;
    PROVE_TRY(moved_difference(&difference, spec, g, true, err));
    return count(with, spec, difference, g, BACKWARDS, err);
}

static pe_status reversal_seen(prove_finding *out, const prove_given *g, pe_error *err)
{
    tally t = { .f = out, .least = INFINITY };
    prove_add(out, (words){ "encodings that tell a text from its reversal", "能区分正读与倒读的编码数" }, "", 0, "");
    PROVE_TRY(measure_each_row(reversal_row, &t, g, err));
    out->number[0].value = t.seen;
    if (t.blind && t.seen)
        prove_say(out, PROVE_DEPENDS,
                  (words){ "on whether the row sees the sign of i - j: a bias in |i - j| does not",
                           "取决于该编码是否看得到 i - j 的符号：只含 |i - j| 的偏置看不到" });
    else if (!t.seen)
        prove_say(out, PROVE_REFUTED, (words){ "none of them sees the direction", "没有一个看得到方向" });
    else
        prove_say(out, PROVE_HOLDS, (words){ "all of them see the direction", "全都看得到方向" });
    return PE_OK;
}

/* ---------------------------------------------------------------- the table */

#define SMALL .heads = 4, .head_dim = 16, .model_dim = 64, .length = 7, .seed = 1
#define NONE .spec = { "none" }

static const prove_claim claims[] = {
    { .name = "two-dogs",
      .claim = { "The same word at two places gets the same attention output without a position encoding, and "
                 "different "
                 "ones with any.",
                 "没有位置编码时，同一个词在两个位置上的注意力输出相同；加上任何一种位置编码就不同。" },
      .source = "Vaswani et al. 2017, 3.5 (arXiv:1706.03762)",
      .given = { SMALL },
      .measure = two_dogs,
      .takes = PROVE_ANY },
    { .name = "order-blind",
      .claim = { "Without a position encoding permuted words give permuted outputs: A' = P A P^T.",
                 "没有位置编码时，打乱词序只会把输出同样打乱：A' = P A P^T（置换等变）。" },
      .source = "Lee et al. 2019 (arXiv:1810.00825)",
      .given = { SMALL, NONE },
      .measure = order_blind,
      .takes = PROVE_ANY },
    { .name = "pooled-blind",
      .claim = { "What is pooled over the outputs (sum, mean, attention with a fixed query) then does not change at "
                 "all.",
                 "此时对输出做池化（求和、平均、固定 query 的注意力池化），结果完全不变（置换不变）。" },
      .source = "Lee et al. 2019 (arXiv:1810.00825)",
      .given = { SMALL, NONE },
      .measure = pooled_blind,
      .takes = PROVE_ANY },
    { .name = "cross-blind",
      .claim = { "Cross-attention does not notice that its keys have changed places.",
                 "交叉注意力的 key 换了顺序，输出不变。" },
      .source = "Lee et al. 2019 (arXiv:1810.00825)",
      .given = { SMALL, NONE },
      .measure = cross_blind,
      .takes = PROVE_ANY },
    { .name = "order-seen",
      .claim = { "Every position encoding breaks this symmetry, without a mask.",
                 "不加掩码时，每种位置编码都会打破这种对称性。" },
      .source = "Dufter et al. 2021 (arXiv:2102.11090)",
      .given = { SMALL },
      .measure = order_seen,
      .takes = PROVE_ANY },
    { .name = "causal-mask",
      .claim = { "A causal mask alone already breaks it: a decoder needs no encoding to see order.",
                 "仅有因果掩码就已打破对称：解码器不用位置编码也能感知顺序。" },
      .source = "Haviv et al. 2022 (arXiv:2203.16634)",
      .given = { SMALL, NONE, .causal = true },
      .measure = causal_sees },
    { .name = "reversal-blind",
      .claim = { "A bias in |i - j| alone cannot tell a text from the same text read backwards.",
                 "只含 |i - j| 的偏置分不清一段文字是正读还是倒读。" },
      .source = "Yan et al. 2019, on direction (arXiv:1911.04474)",
      .given = { SMALL, .spec = { "alibi:form=symmetric", "kerple", "sandwich" } },
      .measure = reversal_blind,
      .takes = PROVE_ANY },
    { .name = "reversal-seen",
      .claim = { "A position encoding tells a text from the same text read backwards.", "位置编码能区分正读与倒读。" },
      .source = "Yan et al. 2019, on direction (arXiv:1911.04474)",
      .given = { SMALL },
      .measure = reversal_seen,
      .takes = PROVE_ANY },
};

const prove_group prove_group_order = { .name = "order",
                                        .title = { "Does attention see order?", "注意力看得到顺序吗？" },
                                        .claims = claims,
                                        .count = (int)(sizeof claims / sizeof *claims) };
