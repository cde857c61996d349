/* SPDX-License-Identifier: MIT
 *
 * Row by row: two dogs, words in another order, backwards; and the mask alone. */
#include "prove/order.h"

#include <math.h>
#include <stdlib.h>

static pe_status moved_difference(double *out, const char *spec, const prove_given *g, bool backwards, pe_error *err)
{
    order_looked k;
    pe_status status = order_looked_new(&k, spec, g, backwards, err);
    *out = status ? NAN : order_difference(&k);
    order_looked_free(&k);
    return status;
}

/* ---------------------------------------------------------------- a table over rows */

typedef struct tally {
    prove_finding *f;
    int seen, blind; /* of specs with hooks */
    int wrong;       /* specs without hooks that differ */
} tally;

static pe_status count(tally *t, const char *spec, double difference, const prove_given *g, words what, pe_error *err)
{
    measure_encoding m;
    PROVE_TRY(measure_open(&m, spec, g, err));
    bool sees = difference >= MEASURE_ROUNDING, none = !pe_encoding_hooks(m.e);
    t->wrong += none && sees;
    t->seen += !none && sees;
    t->blind += !none && !sees;
    prove_add(t->f, what, spec, difference, "");
    measure_close(&m);
    return PE_OK;
}

/* ---------------------------------------------------------------- a spec of a user's: one number, about it */

static void say_put(prove_finding *out, words holds, words refuted)
{
    if (out->number[0].value >= MEASURE_ROUNDING)
        prove_say(out, PROVE_HOLDS, holds);
    else
        prove_say(out, PROVE_REFUTED, refuted);
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

static pe_status put_dogs(prove_finding *out, const prove_given *g, pe_error *err)
{
    PROVE_TRY(dogs(&(tally){ .f = out }, g->spec[0], g, err));
    say_put(out,
            (words){ "The two outputs differ: the same word is told apart by its place.",
                     "两个输出不同：同一个词因位置不同而被区分开。" },
            (words){ "Both places give the word the same output, without a mask.",
                     "不加掩码时，这个词在两个位置上的输出相同。" });
    return PE_OK;
}

pe_status order_dogs(prove_finding *out, const prove_given *g, pe_error *err)
{
    tally t = { .f = out };
    if (g->put)
        return put_dogs(out, g, err);
    prove_add(out, (words){ "encodings that leave the two dogs alike", "两个 dog 仍然相同的编码数" }, "", 0, "");
    PROVE_TRY(measure_each_row(dogs, &t, g, err));
    out->number[0].value = t.blind;
    if (t.wrong || (!t.seen && t.blind))
        prove_say(out, PROVE_REFUTED,
                  (words){ "The outputs of the two dogs differ without an encoding, or no encoding makes them differ.",
                           "没有位置编码时两个输出就已不同，或者没有一种编码能让它们不同。" });
    else if (t.blind)
        prove_say(out, PROVE_DEPENDS,
                  (words){ "Identical without an encoding; different with every row but those that look at one side: "
                           "unmasked, they add the same to all scores of a query, or count the same keys, wherever it "
                           "stands.",
                           "没有位置编码时完全相同；有编码时除单向的几种外都不同：不加掩码时，单向编码给同一个查询"
                           "的所有分数加上相同的量（或数出相同的键），与它站在哪里无关。" });
    else
        prove_say(
            out, PROVE_HOLDS,
            (words){ "Identical without an encoding, different with each.", "没有位置编码时相同，有编码时各不相同。" });
    return PE_OK;
}

/* ---------------------------------------------------------------- which encodings break it; the mask */

static pe_status broken_of(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    double difference;
    PROVE_TRY(moved_difference(&difference, spec, g, false, err));
    return count(with, spec, difference, g, order_difference_words, err);
}

static pe_status put_seen(prove_finding *out, const prove_given *g, pe_error *err)
{
    PROVE_TRY(broken_of(&(tally){ .f = out }, g->spec[0], g, err));
    say_put(out, (words){ "Some output changes when the words change places.", "词换了位置，某些输出随之改变。" },
            (words){ "Each word keeps its output wherever it stands.", "每个词无论在哪里，输出都不变。" });
    return PE_OK;
}

pe_status order_seen(prove_finding *out, const prove_given *g, pe_error *err)
{
    tally t = { .f = out };
    if (g->put)
        return put_seen(out, g, err);
    prove_add(out, (words){ "encodings that stay blind", "仍然看不到顺序的编码数" }, "", 0, "");
    PROVE_TRY(measure_each_row(broken_of, &t, g, err));
    out->number[0].value = t.blind;
    if (t.blind || !t.seen)
        prove_say(out, PROVE_REFUTED,
                  (words){ "An encoding leaves permuted words with permuted outputs.",
                           "有的编码在词序置换后输出也只是随之置换。" });
    else
        prove_say(
            out, PROVE_HOLDS,
            (words){ "Every row of the registry changes some output when the words change places, without a mask.",
                     "不加掩码时，收录的每种编码在词序改变后都会改变某些输出。" });
    return PE_OK;
}

pe_status order_causal(prove_finding *out, const prove_given *g, pe_error *err)
{
    double masked, open;
    prove_given without = *g;
    const char *spec = g->spec[0] ? g->spec[0] : "none";
    without.causal = false;
    PROVE_TRY(moved_difference(&masked, spec, g, false, err));
    PROVE_TRY(moved_difference(&open, spec, &without, false, err));
    const words no_mask = { "no mask", "无掩码" }, mask = { "causal mask", "因果掩码" };
    prove_add_at(out, order_difference_words, g->causal ? mask : no_mask, 0, masked, "");
    prove_add_at(out, order_difference_words, no_mask, 0, open, "");
    if (masked >= MEASURE_ROUNDING && open < MEASURE_ROUNDING)
        prove_say(out, PROVE_HOLDS,
                  (words){ "The n-th word sees n words: the mask alone counts places.",
                           "第 n 个词只能看到 n 个词：掩码本身就在数位置。" });
    else
        prove_say(out, PROVE_REFUTED,
                  (words){ "The order is seen without the mask too, or not with it.",
                           "不加掩码也看得到顺序，或加了也看不到。" });
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

pe_status order_reversal_blind(prove_finding *out, const prove_given *g, pe_error *err)
{
    PROVE_TRY(measure_each_row(reversed_of, out, g, err));
    if (order_largest(out) < MEASURE_ROUNDING)
        prove_say(out, PROVE_HOLDS,
                  (words){ "Read backwards, each word gets the output it had.", "倒着读，每个词得到的输出不变。" });
    else
        prove_say(out, PROVE_REFUTED,
                  (words){ "Read backwards, words get other outputs.", "倒着读，词得到的输出变了。" });
    return PE_OK;
}

static pe_status reversal_row(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    double difference;
    PROVE_TRY(moved_difference(&difference, spec, g, true, err));
    return count(with, spec, difference, g, BACKWARDS, err);
}

static pe_status put_reversal_seen(prove_finding *out, const prove_given *g, pe_error *err)
{
    PROVE_TRY(reversal_row(&(tally){ .f = out }, g->spec[0], g, err));
    say_put(out, (words){ "Read backwards, words get other outputs.", "倒着读，词得到的输出变了。" },
            (words){ "Read backwards, each word gets the output it had.", "倒着读，每个词得到的输出不变。" });
    return PE_OK;
}

pe_status order_reversal_seen(prove_finding *out, const prove_given *g, pe_error *err)
{
    tally t = { .f = out };
    if (g->put)
        return put_reversal_seen(out, g, err);
    prove_add(out, (words){ "encodings that tell a text from its reversal", "能区分正读与倒读的编码数" }, "", 0, "");
    PROVE_TRY(measure_each_row(reversal_row, &t, g, err));
    out->number[0].value = t.seen;
    if (t.blind && t.seen)
        prove_say(out, PROVE_DEPENDS,
                  (words){ "On whether the row sees the sign of i - j: a bias in |i - j| does not.",
                           "取决于该编码是否看得到 i - j 的符号：只含 |i - j| 的偏置看不到。" });
    else if (!t.seen)
        prove_say(out, PROVE_REFUTED, (words){ "None of them sees the direction.", "没有一个看得到方向。" });
    else
        prove_say(out, PROVE_HOLDS, (words){ "All of them see the direction.", "全都看得到方向。" });
    return PE_OK;
}
