/* SPDX-License-Identifier: MIT
 *
 * Claims: attention without an encoding ignores word order. Measured on one layer of the library's attention with
 * random words and projections: what changes when words change places? */
#include "prove/measure.h"
#include "zoo/look.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ORDER_WORDS_MAX 64

typedef struct order_text {
    int64_t word[ORDER_WORDS_MAX], moved[ORDER_WORDS_MAX], order[ORDER_WORDS_MAX];
    int64_t count;
} order_text;

/* Both texts through one layer: out[2] (count, C), weights[2] (count, H, count). */
typedef struct order_outputs {
    order_text l;
    int64_t C, H;
    double *out[2], *weights[2];
} order_outputs;

/* Words in two orders, and what attention makes of them. */

static const words DIFFERENCE = { "largest difference of the outputs", "输出的最大差异" };

static pe_status order_text_make(order_text *l, const prove_given *g, bool backwards, pe_error *err)
{
    uint64_t state = g->seed;
    if (g->length < 2 || g->length > ORDER_WORDS_MAX)
        return io_fail(err, PE_ERR_RANGE, "the text has %lld words; needs 2 to %d", (long long)g->length,
                       ORDER_WORDS_MAX);
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

/* after a failure too */
static void order_outputs_free(order_outputs *k)
{
    for (int n = 0; n < 2; n++)
        free(k->out[n]), free(k->weights[n]);
}

static pe_status order_attend(order_outputs *k, const scene *s, pe_error *err)
{
    for (int n = 0; n < 2; n++) {
        scene_text t = { n ? k->l.moved : k->l.word, NULL, k->l.count };
        TRY(scene_attend(k->out[n], k->weights[n], s, t, t, err));
    }
    return PE_OK;
}

static pe_status order_outputs_new(order_outputs *k, const char *spec, const prove_given *g, bool backwards,
                                   pe_error *err)
{
    scene s;
    *k = (order_outputs){ .H = g->heads, .C = g->heads * g->head_dim };
    TRY(order_text_make(&k->l, g, backwards, err));
    TRY(scene_open(&s, spec, g, err));
    bool whole = true;
    for (int n = 0; n < 2; n++) {
        whole = (k->out[n] = measure_memory(k->l.count, k->C, err)) && whole;
        whole = (k->weights[n] = measure_memory(k->l.count * k->H, k->l.count, err)) && whole;
    }
    pe_status status = whole ? order_attend(k, &s, err) : io_fail(err, PE_ERR_NOMEM, "no memory for the outputs");
    scene_close(&s);
    return status;
}

/* Between the outputs of the moved words, and what they were before. */
static double order_difference(const order_outputs *k)
{
    double most = 0;
    for (int64_t t = 0; t < k->l.count; t++)
        most = fmax(most, measure_difference(k->out[1] + t * k->C, k->out[0] + k->l.order[t] * k->C, k->C));
    return most;
}

/* of its numbers */
static double order_largest(const prove_finding *f)
{
    double most = 0;
    for (int n = 0; n < f->count; n++)
        most = fmax(most, fabs(f->number[n].seeds ? f->number[n].most : f->number[n].value));
    return most;
}

/* Without an encoding nothing notices that words changed places: outputs, what is pooled from them, cross-
 * attention. */

#define OTHERS 3 /* words of a second text that attends to the first */

/* Between A' and P A P'. */
static double weight_difference(const order_outputs *k)
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

static void say_blind(prove_finding *out, double most)
{
    prove_judge(
        out, most < PROVE_ROUNDING, (words){ "Nothing but rounding changes.", "变化只有舍入误差。" },
        (words){ "With this encoding the order of the words changes the result.", "用了这种编码，词序会改变结果。" });
}

static pe_status blind_of(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    prove_finding *out = with;
    order_outputs k;
    pe_status status = order_outputs_new(&k, spec, g, false, err);
    if (!status) {
        prove_add(out, DIFFERENCE, spec, order_difference(&k), "");
        prove_add(out, (words){ "largest element of A' - P A P^T", "A' - P A P^T 的最大元素" }, spec,
                  weight_difference(&k), "");
    }
    order_outputs_free(&k);
    return status;
}

static pe_status order_blind(prove_finding *out, const prove_given *g, pe_error *err)
{
    TRY(measure_each_row(blind_of, out, g, err));
    say_blind(out, order_largest(out));
    return PE_OK;
}

/* ---------------------------------------------------------------- pooled */

enum { POOL_SUM, POOL_MEAN, POOL_ATTENTION, POOL_COUNT };

/* pooled (C) of outputs x (T, C): the sum, the mean, or what attention gives one fixed query, without an encoding. */
static pe_status pool(double *pooled, double *x, const order_outputs *k, int how, uint64_t seed, pe_error *err)
{
    int64_t T = k->l.count, H = k->H, D = k->C / H;
    double *query = measure_memory(1, k->C, err);
    pe_encoding *plain = NULL;
    pe_status status =
        query ? pe_encoding_new(&plain, zoo_look_plain(), (pe_shape){ .heads = H, .head_dim = D }, err) : PE_ERR_NOMEM;
    memset(pooled, 0, (size_t)k->C * sizeof *pooled);
    for (int64_t i = 0; how != POOL_ATTENTION && i < T * k->C; i++)
        pooled[i % k->C] += x[i] / (how == POOL_MEAN ? (double)T : 1);
    if (!status && how == POOL_ATTENTION) {
        measure_normals(query, k->C, 1, seed + 7);
        pe_view words_there = pe_view_of(x, PE_F64, 1, T, H, D);
        pe_attention a = PE_MAKE(pe_attention, .out = pe_view_of(pooled, PE_F64, 1, 1, H, D),
                                 .q = pe_view_of(query, PE_F64, 1, 1, H, D), .k = words_there, .v = words_there,
                                 .q_at = pe_positions_run(1, 1, 0), .k_at = pe_positions_run(1, T, 0));
        status = zoo_look(plain, a, (pe_params){ 0 }, err);
    }
    pe_encoding_free(plain);
    free(query);
    return status;
}

static pe_status pooled_of(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    static const words what[POOL_COUNT] = { { "change of the sum", "求和池化的变化" },
                                            { "change of the mean", "平均池化的变化" },
                                            { "change of attention pooling", "注意力池化的变化" } };
    order_outputs k;
    pe_status status = order_outputs_new(&k, spec, g, false, err);
    double *pooled = status ? NULL : measure_memory(2, k.C, err);
    status = !status && !pooled ? PE_ERR_NOMEM : status;
    for (int how = 0; !status && how < POOL_COUNT; how++) {
        for (int n = 0; !status && n < 2; n++)
            status = pool(pooled + n * k.C, k.out[n], &k, how, g->seed, err);
        if (!status)
            prove_add(with, what[how], spec, measure_difference(pooled, pooled + k.C, k.C), "");
    }
    free(pooled);
    order_outputs_free(&k);
    return status;
}

static pe_status order_pooled(prove_finding *out, const prove_given *g, pe_error *err)
{
    TRY(measure_each_row(pooled_of, out, g, err));
    say_blind(out, order_largest(out));
    return PE_OK;
}

/* ---------------------------------------------------------------- cross-attention */

static pe_status cross_of(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    static const int64_t other[OTHERS] = { 900, 901, 902 };
    scene_text q = { other, NULL, OTHERS };
    order_text l;
    scene s = { 0 };
    int64_t C = g->heads * g->head_dim;
    TRY(order_text_make(&l, g, false, err));
    double *out = measure_memory(2 * OTHERS, C, err);
    pe_status status = out ? scene_open(&s, spec, g, err) : PE_ERR_NOMEM;
    status = status ? status : scene_attend(out, NULL, &s, q, (scene_text){ l.word, NULL, l.count }, err);
    status = status ? status : scene_attend(out + OTHERS * C, NULL, &s, q, (scene_text){ l.moved, NULL, l.count }, err);
    if (!status)
        prove_add(with, DIFFERENCE, spec, measure_difference(out, out + OTHERS * C, OTHERS * C), "");
    scene_close(&s);
    free(out);
    return status;
}

static pe_status order_cross(prove_finding *out, const prove_given *g, pe_error *err)
{
    TRY(measure_each_row(cross_of, out, g, err));
    say_blind(out, order_largest(out));
    return PE_OK;
}

typedef struct moved_run {
    const char *spec;
    const prove_given *g;
    bool backwards;
    double difference[MEASURE_RUNS];
} moved_run;

static pe_status moved_seed(void *with, int n, uint64_t seed, pe_error *err)
{
    moved_run *r = with;
    prove_given g = measure_sized(r->g, n);
    order_outputs k;
    g.seed = seed;
    pe_status status = order_outputs_new(&k, r->spec, &g, r->backwards, err);
    r->difference[n] = status ? NAN : order_difference(&k);
    order_outputs_free(&k);
    return status;
}

static pe_status moved_difference(prove_spread *out, const char *spec, const prove_given *g, bool backwards,
                                  pe_error *err)
{
    moved_run r = { .spec = spec, .g = g, .backwards = backwards };
    TRY(measure_each_seed(moved_seed, &r, measure_runs(g), g, err));
    *out = measure_spread_of(r.difference, measure_runs(g));
    return PE_OK;
}

/* ---------------------------------------------------------------- a table over rows */

typedef struct tally {
    prove_finding *f;
    int seen, blind; /* of specs with hooks */
    int wrong;       /* specs without hooks that differ */
    int masked;      /* specs that are made for a mask */
} tally;

static bool needs_mask(const measure_encoding *m, const prove_given *g)
{
    return !g->causal && prove_needs_mask(m->e, m->w);
}

/* It sees order if every seed does; one without hooks is wrong if any seed does. */
static pe_status count(tally *t, const char *spec, prove_spread difference, const prove_given *g, words what,
                       pe_error *err)
{
    measure_encoding m;
    prove_given one = measure_sized(g, 0);
    TRY(measure_open(&m, spec, &one, err));
    bool sees = difference.least >= PROVE_ROUNDING, none = !pe_encoding_hooks(m.e);
    t->wrong += none && difference.most >= PROVE_ROUNDING;
    t->seen += !none && sees;
    t->blind += !none && !sees;
    measure_add_spread(t->f, what, spec, difference, "");
    measure_close(&m);
    return PE_OK;
}

/* Whether a row is left out where nothing is masked; it is counted. */
static pe_status left_out(bool *out, tally *t, const char *spec, const prove_given *g, pe_error *err)
{
    measure_encoding m;
    prove_given one = measure_sized(g, 0);
    TRY(measure_open(&m, spec, &one, err));
    *out = !g->put && needs_mask(&m, g);
    t->masked += *out;
    measure_close(&m);
    return PE_OK;
}

static void add_left_out(const tally *t)
{
    if (t->masked)
        prove_add(t->f, (words){ "left out: made for a causal mask", "未测：为因果掩码而设计的编码" }, "", t->masked,
                  "");
}

/* ---------------------------------------------------------------- a spec of a user's: one number, about it */

static void say_put(prove_finding *out, words holds, words refuted)
{
    if (out->number[0].least >= PROVE_ROUNDING) /* in every seed */
        prove_say(out, PROVE_HOLDS, holds);
    else
        prove_say(out, PROVE_REFUTED, refuted);
}

/* ---------------------------------------------------------------- two dogs */

typedef struct dogs_run {
    const char *spec;
    prove_given g;
    double dogs[MEASURE_RUNS], order[MEASURE_RUNS];
} dogs_run;

static pe_status dogs_seed(void *with, int n, uint64_t seed, pe_error *err)
{
    static const int64_t word[] = { 0, 1, 2, 0, 3, 1 };      /* the dog chased the other dog */
    static const int64_t exchanged[] = { 0, 3, 1, 2, 0, 1 }; /* the other dog chased the dog */
    dogs_run *r = with;
    prove_given g = measure_sized(&r->g, n);
    scene_text t = { word, NULL, 6 }, u = { exchanged, NULL, 6 };
    int64_t C = g.heads * g.head_dim;
    double *y = measure_memory(2 * t.count, C, err), *z = y + t.count * C;
    scene s = { 0 };
    g.seed = seed;
    pe_status status = y ? scene_open(&s, r->spec, &g, err) : PE_ERR_NOMEM;
    status = status ? status : scene_attend(y, NULL, &s, t, t, err);
    status = status ? status : scene_attend(z, NULL, &s, u, u, err);
    if (!status) {
        r->dogs[n] = measure_difference(y + C, y + 5 * C, C);
        r->order[n] = measure_difference(y + 2 * C, z + 3 * C, C);
    }
    scene_close(&s);
    free(y);
    return status;
}

pe_status prove_two_dogs(prove_dogs *out, const char *spec, const prove_given *g, pe_error *err)
{
    dogs_run r = { .spec = spec, .g = *g };
    prove_given one = measure_sized(g, 0);
    measure_encoding m;
    TRY(measure_open(&m, spec, &one, err));
    bool masked = needs_mask(&m, g);
    measure_close(&m);
    r.g.causal = g->causal || masked;
    int runs = measure_runs(g);
    TRY(measure_each_seed(dogs_seed, &r, runs, g, err));
    *out = (prove_dogs){ measure_spread_of(r.dogs, runs), measure_spread_of(r.order, runs), masked };
    return PE_OK;
}

static const words DOGS = { "between the outputs of the two dogs", "两个 dog 的输出之差" };
static const words DOGS_MASKED = { "between the outputs of the two dogs, causal mask",
                                   "两个 dog 的输出之差（因果掩码）" };

static pe_status dogs_of(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    tally *t = with;
    prove_given one = measure_sized(g, 0);
    measure_encoding m;
    prove_dogs d;
    TRY(prove_two_dogs(&d, spec, g, err));
    TRY(measure_open(&m, spec, &one, err));
    bool none = !pe_encoding_hooks(m.e);
    measure_close(&m);
    measure_add_spread(t->f, d.masked ? DOGS_MASKED : DOGS, spec, d.dogs, "");
    t->masked += d.masked;
    t->wrong += none && d.dogs.most >= PROVE_ROUNDING;
    t->seen += !none && !d.masked && d.dogs.least >= PROVE_ROUNDING;
    t->blind += !none && !d.masked && d.dogs.least < PROVE_ROUNDING;
    return PE_OK;
}

/* What the mask does without an encoding. */
static pe_status dogs_control(tally *t, const prove_given *g, pe_error *err)
{
    prove_given masked = *g;
    prove_dogs d;
    masked.causal = true;
    TRY(prove_two_dogs(&d, zoo_look_plain(), &masked, err));
    measure_add_spread(t->f, DOGS_MASKED, zoo_look_plain(), d.dogs, "");
    return PE_OK;
}

static pe_status put_dogs(prove_finding *out, const prove_given *g, pe_error *err)
{
    tally t = { .f = out };
    TRY(dogs_of(&t, g->spec[0], g, err));
    say_put(out,
            (words){ "The two outputs differ: attention distinguishes the same word at two positions.",
                     "两个输出不同：同一个词因位置不同而被区分开。" },
            (words){ "Both places give the word the same output, without a mask.",
                     "不加掩码时，这个词在两个位置上的输出相同。" });
    if (t.masked) {
        TRY(dogs_control(&t, g, err));
        prove_say(out, PROVE_HOLDS,
                  (words){ "It is made for a causal mask and measured with one: the two outputs differ, but the mask "
                           "alone makes them differ, too.",
                           "它为因果掩码而设计，测量时加了掩码：两个输出不同，但仅有掩码也会使它们不同。" });
    }
    return PE_OK;
}

static pe_status order_dogs(prove_finding *out, const prove_given *g, pe_error *err)
{
    tally t = { .f = out };
    if (g->put)
        return put_dogs(out, g, err);
    TRY(measure_each_row(dogs_of, &t, g, err));
    TRY(dogs_control(&t, g, err));
    measure_add_first(out, (words){ "encodings that give the two dogs the same output", "两个 dog 仍然相同的编码数" },
                      measure_named("/ ", t.blind + t.seen).is, t.blind, "");
    static const words because[PROVE_VERDICT_COUNT] = {
        { "Identical without an encoding, different with each, in every seed. Encodings that are made for a causal "
          "mask "
          "are measured with one and not counted: there the mask alone makes the outputs differ.",
          "每个随机种子下都是：没有位置编码时相同，有编码时各不相同。为因果掩码而设计的编码加掩码测量，不计入：仅有掩码"
          "输出就已不同。" },
        { "The outputs of the two dogs differ without an encoding, or no encoding makes them differ.",
          "没有位置编码时两个输出就已不同，或者没有一种编码能让它们不同。" },
        { "Identical without an encoding; different with some encodings only.",
          "没有位置编码时完全相同；只有部分编码能让它们不同。" },
    };
    prove_verdict v = t.wrong || (!t.seen && t.blind) ? PROVE_REFUTED : t.blind ? PROVE_DEPENDS : PROVE_HOLDS;
    prove_say(out, v, because[v]);
    return PE_OK;
}

/* ---------------------------------------------------------------- which encodings break it; the mask */

static pe_status broken_of(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    prove_spread difference;
    bool out;
    TRY(left_out(&out, with, spec, g, err));
    if (out)
        return PE_OK;
    TRY(moved_difference(&difference, spec, g, false, err));
    return count(with, spec, difference, g, DIFFERENCE, err);
}

static pe_status put_seen(prove_finding *out, const prove_given *g, pe_error *err)
{
    TRY(broken_of(&(tally){ .f = out }, g->spec[0], g, err));
    say_put(out, (words){ "Some output changes when the words change places.", "词换了位置，某些输出随之改变。" },
            (words){ "Each word keeps its output wherever it stands.", "每个词无论在哪里，输出都不变。" });
    return PE_OK;
}

static pe_status order_seen(prove_finding *out, const prove_given *g, pe_error *err)
{
    tally t = { .f = out };
    if (g->put)
        return put_seen(out, g, err);
    prove_add(out, (words){ "encodings that do not see order", "仍然看不到顺序的编码数" }, "", 0, "");
    TRY(measure_each_row(broken_of, &t, g, err));
    add_left_out(&t);
    out->number[0].value = t.blind;
    if (t.blind || !t.seen)
        prove_say(out, PROVE_REFUTED,
                  (words){ "An encoding leaves permuted words with permuted outputs.",
                           "有的编码在词序置换后输出也只是随之置换。" });
    else
        prove_say(out, PROVE_HOLDS,
                  (words){ "Every row of the registry that is not made for a causal mask changes some output when the "
                           "words change places.",
                           "收录的编码中，凡不是为因果掩码而设计的，在词序改变后都会改变某些输出。" });
    return PE_OK;
}

static pe_status order_causal(prove_finding *out, const prove_given *g, pe_error *err)
{
    prove_spread masked, open;
    prove_given without = *g;
    const char *spec = g->spec[0] ? g->spec[0] : "none";
    without.causal = false;
    TRY(moved_difference(&masked, spec, g, false, err));
    TRY(moved_difference(&open, spec, &without, false, err));
    const words no_mask = { "no mask", "无掩码" }, mask = { "causal mask", "因果掩码" };
    measure_add_spread_at(out, DIFFERENCE, g->causal ? mask : no_mask, masked, "");
    measure_add_spread_at(out, DIFFERENCE, no_mask, open, "");
    prove_judge(
        out, masked.least >= PROVE_ROUNDING && open.most < PROVE_ROUNDING,
        (words){ "The n-th word attends to n words: the mask alone encodes the position.",
                 "第 n 个词只能看到 n 个词：掩码本身就在数位置。" },
        (words){ "The order is seen without the mask too, or not with it.", "不加掩码也看得到顺序，或加了也看不到。" });
    return PE_OK;
}

/* ---------------------------------------------------------------- backwards */

static const words BACKWARDS = { "largest difference after reversal", "反转后输出的最大差异" };

static pe_status reversed_of(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    prove_spread difference;
    TRY(moved_difference(&difference, spec, g, true, err));
    measure_add_spread(with, BACKWARDS, spec, difference, "");
    return PE_OK;
}

static pe_status order_reversal_blind(prove_finding *out, const prove_given *g, pe_error *err)
{
    TRY(measure_each_row(reversed_of, out, g, err));
    prove_judge(out, order_largest(out) < PROVE_ROUNDING,
                (words){ "Read backwards, each word gets the output it had.", "倒着读，每个词得到的输出不变。" },
                (words){ "Read backwards, words get other outputs.", "倒着读，词得到的输出变了。" });
    return PE_OK;
}

static pe_status reversal_row(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    prove_spread difference;
    bool out;
    TRY(left_out(&out, with, spec, g, err));
    if (out)
        return PE_OK;
    TRY(moved_difference(&difference, spec, g, true, err));
    return count(with, spec, difference, g, BACKWARDS, err);
}

static pe_status put_reversal_seen(prove_finding *out, const prove_given *g, pe_error *err)
{
    TRY(reversal_row(&(tally){ .f = out }, g->spec[0], g, err));
    say_put(out, (words){ "Read backwards, words get other outputs.", "倒着读，词得到的输出变了。" },
            (words){ "Read backwards, each word gets the output it had.", "倒着读，每个词得到的输出不变。" });
    return PE_OK;
}

static pe_status order_reversal_seen(prove_finding *out, const prove_given *g, pe_error *err)
{
    tally t = { .f = out };
    if (g->put)
        return put_reversal_seen(out, g, err);
    prove_add(out, (words){ "encodings that tell a text from its reversal", "能区分正读与倒读的编码数" }, "", 0, "");
    TRY(measure_each_row(reversal_row, &t, g, err));
    add_left_out(&t);
    out->number[0].value = t.seen;
    if (t.blind && t.seen)
        prove_say(out, PROVE_DEPENDS,
                  (words){ "It depends on whether the row sees the sign of i - j: a bias in |i - j| does not.",
                           "取决于该编码是否看得到 i - j 的符号：只含 |i - j| 的偏置看不到。" });
    else if (!t.seen)
        prove_say(out, PROVE_REFUTED, (words){ "None of them sees the direction.", "没有一个看得到方向。" });
    else
        prove_say(out, PROVE_HOLDS, (words){ "All of them see the direction.", "全都看得到方向。" });
    return PE_OK;
}

/* ---------------------------------------------------------------- the claims */

#define SMALL .heads = 4, .head_dim = 16, .model_dim = 64, .length = 7, .seed = 1
#define OWN_SIZES .length = 7, .seed = 1
#define NONE .spec = { "none" }

static const prove_claim claims[] = {
    { .name = "two-dogs",
      .claim = { "Without a mask the same word at two places gets the same attention output without a position "
                 "encoding, and different ones with any.",
                 "不加掩码、也没有位置编码时，同一个词在两个位置上的注意力输出相同；加上任何一种位置编码就不同。" },
      .put = { "With it, the same word at two places gets two different attention outputs.",
               "用了它，同一个词在两个位置上的注意力输出不同。" },
      .source = "Vaswani et al. 2017, 3.5 (arXiv:1706.03762)",
      .rule = { "It holds if, in each seed, the outputs are equal to rounding (1e-9) without an encoding and "
                "differ with each.",
                "成立的条件：每个随机种子下，没有编码时输出都相"
                "等（舍入误差 1e-9 以内），有编码时都不等。" },
      .sizes = MEASURE_SIZES,
      .given = { OWN_SIZES },
      .measure = order_dogs,
      .takes = PROVE_ANY },
    { .name = "order-blind",
      .claim = { "Without a position encoding permuted words give permuted outputs: A' = P A P^T.",
                 "没有位置编码时，打乱词序只会把输出同样打乱：A' = P A P^T（置换等变）。" },
      .put = { "Permuted words give permuted outputs: A' = P A P^T.",
               "打乱词序，输出只是同样打乱：A' = P A P^T（置换等变）。" },
      .source = "Lee et al. 2019 (arXiv:1810.00825)",
      .kind = PROVE_ALGEBRA,
      .given = { SMALL, NONE },
      .measure = order_blind,
      .takes = PROVE_ANY },
    { .name = "pooled-blind",
      .claim = { "What is pooled over the outputs (sum, mean, attention with a fixed query) then does not change at "
                 "all.",
                 "此时对输出做池化（求和、平均、固定查询的注意力池化），结果完全不变（置换不变）。" },
      .put = { "What is pooled over the outputs (sum, mean, attention with a fixed query) does not change when the "
               "words change places.",
               "打乱词序后对输出做池化（求和、平均、固定查询的注意力池化），结果不变（置换不变）。" },
      .source = "Lee et al. 2019 (arXiv:1810.00825)",
      .kind = PROVE_ALGEBRA,
      .given = { SMALL, NONE },
      .measure = order_pooled,
      .takes = PROVE_ANY },
    { .name = "cross-blind",
      .claim = { "Cross-attention does not notice that its keys have changed places.",
                 "交叉注意力的键换了顺序，输出不变。" },
      .put = { "Cross-attention does not notice that its keys have changed places.",
               "交叉注意力的键换了顺序，输出不变。" },
      .source = "Lee et al. 2019 (arXiv:1810.00825)",
      .kind = PROVE_ALGEBRA,
      .given = { SMALL, NONE },
      .measure = order_cross,
      .takes = PROVE_ANY },
    { .name = "order-seen",
      .claim = { "Every position encoding breaks this symmetry, without a mask.",
                 "不加掩码时，每种位置编码都会打破这种对称性。" },
      .put = { "It breaks the symmetry of attention: permuted words give more than permuted outputs, without a mask.",
               "它打破注意力的对称性：不加掩码时，打乱词序后输出不只是随之打乱。" },
      .source = "Dufter et al. 2021 (arXiv:2102.11090)",
      .rule = { "It holds if some output changes by more than rounding (1e-9) in each seed; equality "
                "is exact where it holds, so no other border is needed.",
                "成立的条件：每个随机种子下都有输出的变化大于舍入误差（1e-9）；相等是精确的，不需要别的界限"
                "。" },
      .sizes = MEASURE_SIZES,
      .given = { OWN_SIZES },
      .measure = order_seen,
      .takes = PROVE_ANY },
    { .name = "causal-mask",
      .claim = { "A causal mask alone already breaks it: a decoder needs no encoding to see order.",
                 "仅有因果掩码就已打破对称：解码器不用位置编码也能感知顺序。" },
      .source = "Haviv et al. 2022 (arXiv:2203.16634)",
      .rule = { "It holds if outputs change by more than rounding (1e-9) with the mask in each seed, "
                "and in none without it.",
                "成立的条件：每个随机种子下，加掩码时输出的变化都大于舍入误差（1e-9），不加时都不大于。" },
      .sizes = MEASURE_SIZES,
      .given = { OWN_SIZES, NONE, .causal = true },
      .measure = order_causal },
    { .name = "reversal-blind",
      .claim = { "A bias in |i - j| alone cannot tell a text from the same text read backwards.",
                 "只含 |i - j| 的偏置分不清一段文字是正读还是倒读。" },
      .put = { "It cannot tell a text from the same text read backwards.", "它分不清一段文字是正读还是倒读。" },
      .source = "Yan et al. 2019, on direction (arXiv:1911.04474)",
      .kind = PROVE_ALGEBRA,
      .given = { SMALL, .spec = { "alibi:form=symmetric", "kerple", "sandwich" } },
      .measure = order_reversal_blind,
      .takes = PE_HOOK_BIAS },
    { .name = "reversal-seen",
      .claim = { "A position encoding tells a text from the same text read backwards.", "位置编码能区分正读与倒读。" },
      .put = { "It tells a text from the same text read backwards.", "它能区分一段文字的正读与倒读。" },
      .source = "Yan et al. 2019, on direction (arXiv:1911.04474)",
      .rule = { "It holds if outputs change by more than rounding (1e-9) with every encoding, in each of 20 "
                "seeds.",
                "成立的条件：每个随机种子下，每种编码的输出变化都大于舍入误差（1e-9）。" },
      .sizes = MEASURE_SIZES,
      .given = { OWN_SIZES },
      .measure = order_reversal_seen,
      .takes = PROVE_ANY },
};

pe_status prove_each_two_dogs(prove_dogs_fn *each, void *with, const pe_pool *pool, pe_error *err)
{
    prove_given g = claims[0].given;
    g.pool = pool;
    return measure_each_row(each, with, &g, err);
}

const prove_group prove_group_order = { .name = "order",
                                        .title = { "Does attention see order?", "注意力看得到顺序吗？" },
                                        .claims = claims,
                                        .count = (int)(sizeof claims / sizeof *claims) };
