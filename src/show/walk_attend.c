/* SPDX-License-Identifier: MIT
 *
 * What is added to the scores of one query and to the values, then attention without the encoding and with it, and what
 * has changed. */
#include "show/walk.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- terms */

static const words before_note = { "Added before the scale: the scale multiplies it too.",
                                   "在缩放之前相加：它也会被缩放。" };
static const words instead_note = { "It stands for q·k: the scale multiplies it.", "它代替 q·k，会被缩放。" };
static const words after_note = { "Added after the scale, as it is.", "在缩放之后相加，原样进入分数。" };

static void terms_score_step(walk *w, walk_scene *s, int formula, double sum[2][TOKENS])
{
    static const words title = { "what is added to each score", "每个分数加上的项" };
    static const words other = { "what stands for q·k", "代替 q·k 的项" };
    const pe_formula *what = &s->formula[formula];
    bool instead = pe_encoding_replaces(s->e) && what->hook == PE_HOOK_CONTENT;
    walk_begin(w, instead ? other : title, what->text,
               instead                          ? instead_note
               : what->stage == PE_BEFORE_SCALE ? before_note
                                                : after_note);
    for (int j = 0; j < TOKENS; j++) {
        if (!s->seen[j])
            continue;
        double number = walk_scene_tell(s, formula, j, 0, s->text, sizeof s->text);
        walk_equation(w, walk_name("term(%s, %s)", s->place[s->query], s->place[j]).text, s->text, number);
        sum[what->stage == PE_AFTER_SCALE][j] += number;
    }
}

/* Says why keys ahead of the query are missing. */
static void terms_put_hidden(walk *w, const walk_scene *s)
{
    static const words why = { "This spec does not support keys ahead of the query; they are hidden.",
                               "这个 spec 不支持排在查询之后的键，这里把它们遮住。" };
    if (s->hidden)
        walk_sentence(w, say(why, w->language));
}

/* Shows a vector for each key. The text of its element 0, "value_table[14][0]", names its row. */
static void terms_value_step(walk *w, walk_scene *s, int formula)
{
    static const words title = { "what is added to each value", "每个值加上的向量" };
    static const words note = { "Added to the output by the weight of its key.", "按该键的权重加到输出上。" };
    walk_begin(w, title, s->formula[formula].text, note);
    for (int j = 0; j < TOKENS; j++) {
        double vector[WIDTH_MAX];
        for (int64_t d = s->D - 1; s->seen[j] && d >= 0; d--)
            vector[d] = walk_scene_tell(s, formula, j, d, s->text, sizeof s->text);
        char *end = strrchr(s->text, '[');
        if (!s->seen[j] || !end)
            continue;
        *end = 0;
        const char *row = walk_lines_before(w, s->text);
        walk_vector(w, walk_name("V(%s, %s) = %s", s->place[s->query], s->place[j], row).text, NULL, vector, s->D);
    }
}

/* Checks that the terms that are shown add up to what the library added. */
static pe_status terms_hold(const walk_scene *s, double sum[2][TOKENS], pe_error *err)
{
    for (int j = 0; j < TOKENS; j++) {
        TRY(walk_scene_hold(s, sum[0][j], s->with.before[j], 1 + fabs(sum[0][j]), err));
        TRY(walk_scene_hold(s, sum[1][j], s->with.after[j], 1 + fabs(sum[1][j]), err));
    }
    return PE_OK;
}

/* Shows a word's gate f, its logarithm, and the sum of the logarithms so far. */
static void terms_put_gate(walk *w, const walk_scene *s, int t)
{
    double own = s->gate[t] - (t ? s->gate[t - 1] : 0);
    walk_equation(w, walk_name("log f_%s", s->place[t]).text, NULL, own);
    walk_equation(w, walk_name("f_%s", s->place[t]).text, walk_name("exp(%s)", tell_number(own).text).text, exp(own));
    name_text before = t ? walk_name("c_%s", s->place[t - 1]) : walk_name("0");
    name_text text = walk_name("%s + log f_%s = %s + %s", before.text, s->place[t],
                               tell_number(t ? s->gate[t - 1] : 0).text, tell_factor(own).text);
    walk_equation(w, walk_name("c_%s", s->place[t]).text, text.text, s->gate[t]);
}

/* Shows what the encoding takes from the words beside queries, keys and values. */
static void terms_input_step(walk *w, const walk_scene *s)
{
    static const words title = { "what a model computes from each word", "模型由每个词算出的量" };
    static const words note = {
        "A trained projection of the word gives these numbers; here they are drawn with the seed.",
        "这些数由词的训练投影得到；这里由种子随机给出。"
    };
    pe_inputs in = pe_encoding_inputs(s->e);
    if (!in.gates && !in.relative)
        return;
    walk_begin(w, title, in.gates ? "c_t = c_(t-1) + log f_t" : NULL, note);
    for (int t = 0; in.gates && t < TOKENS; t++)
        terms_put_gate(w, s, t);
    if (in.relative)
        walk_vector(w, walk_name("r_%s", s->place[s->query]).text, NULL, s->relative, s->R);
}

pe_status walk_terms(walk *w, walk_scene *s, pe_error *err)
{
    double sum[2][TOKENS] = { { 0 } };
    terms_input_step(w, s);
    for (int i = 0; i < s->formulas; i++)
        if (s->formula[i].hook & (PE_HOOK_CONTENT | PE_HOOK_BIAS)) {
            terms_score_step(w, s, i, sum);
            terms_put_hidden(w, s);
        }
    for (int i = 0; i < s->formulas; i++)
        if (s->formula[i].hook == PE_HOOK_VALUE)
            terms_value_step(w, s, i);
    return terms_hold(s, sum, err);
}

/* ---------------------------------------------------------------- attention */

#define LARGE 50

static const words none = { NULL, NULL };

static void attend_put_dots(walk *w, walk_scene *s, const attending *a)
{
    for (int j = 0; j < TOKENS && !pe_encoding_replaces(a->e); j++) {
        if (!s->seen[j])
            continue;
        tell t = tell_into(s->text, sizeof s->text);
        tell_products(&t, a->q, a->k + j * a->D, a->D);
        walk_equation(w, walk_name("q_%s·k_%s", s->place[s->query], s->place[j]).text, s->text, a->dot[j]);
    }
}

static void attend_put_scores(walk *w, walk_scene *s, const attending *a)
{
    unsigned early = pe_encoding_hooks_at(a->e, PE_BEFORE_SCALE), late = pe_encoding_hooks_at(a->e, PE_AFTER_SCALE);
    for (int i = 0; i < s->formulas; i++)
        if (!s->formula[i].hook)
            walk_equation(w, "scale", s->text, walk_scene_tell(s, i, 0, 0, s->text, sizeof s->text));
    for (int j = 0; j < TOKENS; j++) {
        if (!s->seen[j])
            continue;
        tell t = tell_into(s->text, sizeof s->text);
        if (pe_encoding_replaces(a->e))
            tell_say(&t, "%s", tell_number(a->before[j]).text);
        else if (early)
            tell_say(&t, "(%s + %s)", tell_number(a->dot[j]).text, tell_factor(a->before[j]).text);
        else
            tell_say(&t, "%s", tell_number(a->dot[j]).text);
        tell_say(&t, " · %s", tell_number(a->scale).text);
        if (late)
            tell_say(&t, " + %s", tell_factor(a->after[j]).text);
        walk_equation(w, walk_name("score(%s, %s)", s->place[s->query], s->place[j]).text, s->text, a->score[j]);
    }
}

/* Subtracts the largest score where exp of the scores would be too large or too small to show. */
static void attend_put_weights(walk *w, walk_scene *s, const attending *a)
{
    static const words why = {
        "softmax does not change when the same number is subtracted from every score, here the largest:",
        "softmax 的所有分数减去同一个数，结果不变；这里减去最大值"
    };
    double top = -INFINITY, low = INFINITY;
    for (int j = 0; j < TOKENS; j++)
        if (s->seen[j]) {
            top = fmax(top, a->score[j]);
            low = fmin(low, a->score[j]);
        }
    double less = top > LARGE || low < -LARGE ? top : 0;
    if (less != 0)
        walk_sentence(w, walk_name("%s %s", say(why, w->language), tell_number(less).text).text);
    for (int j = 0; j < TOKENS; j++) {
        if (!s->seen[j])
            continue;
        bool first = true;
        tell t = tell_into(s->text, sizeof s->text);
        tell_say(&t, "exp(%s) / (", tell_number(a->score[j] - less).text);
        for (int i = 0; i < TOKENS; i++)
            if (s->seen[i]) {
                tell_say(&t, "%sexp(%s)", first ? "" : " + ", tell_number(a->score[i] - less).text);
                first = false;
            }
        tell_say(&t, ")");
        walk_equation(w, walk_name("weight(%s)", walk_word(s, j)).text, s->text, a->weight[j]);
    }
}

/* Adds what value tables contribute: out[d] += weight · table[r][d]. */
static double attend_value_terms(walk_scene *s, const attending *a, int64_t d, tell *t)
{
    double sum = 0;
    for (int i = 0; a->e == s->e && i < s->formulas; i++)
        for (int j = 0; s->formula[i].hook == PE_HOOK_VALUE && j < TOKENS; j++) {
            char unused[200];
            double number = s->seen[j] ? walk_scene_tell(s, i, j, d, unused, sizeof unused) : 0;
            if (s->seen[j])
                tell_say(t, " + %s · %s", tell_number(a->weight[j]).text, tell_factor(number).text);
            sum += a->weight[j] * number;
        }
    return sum;
}

static void attend_put_sums(walk *w, walk_scene *s, const attending *a)
{
    static const words back = { "The output is rotated back at the query's position.", "输出在查询的位置上转回来。" };
    double size = 1, apart = 0;
    for (int64_t d = 0; d < a->D; d++) {
        size += fabs(a->out[d]);
        apart = fmax(apart, fabs(a->sum[d] - a->out[d]));
    }
    for (int64_t d = 0; d < a->D; d++) {
        double sum = 0;
        bool first = true;
        tell t = tell_into(s->text, sizeof s->text);
        for (int j = 0; j < TOKENS; j++)
            if (s->seen[j]) {
                tell_say(&t, "%s%s · %s", first ? "" : " + ", tell_number(a->weight[j]).text,
                         tell_factor(a->v[j * a->D + d]).text);
                sum += a->weight[j] * a->v[j * a->D + d];
                first = false;
            }
        sum += attend_value_terms(s, a, d, &t);
        walk_equation(w, walk_name("out[%" PRId64 "]", d).text, s->text, sum);
        if (!s->failed.status)
            walk_scene_hold(s, sum, a->sum[d], size, &s->failed);
    }
    if (apart > 1e-9 * size) {
        walk_sentence(w, say(back, w->language));
        walk_vector(w, "out'", NULL, a->out, a->D);
    }
}

static void attend_step(walk *w, walk_scene *s, const attending *a, words title, const char *formula, words note)
{
    walk_begin(w, title, formula, note);
    attend_put_dots(w, s, a);
    attend_put_scores(w, s, a);
    attend_put_weights(w, s, a);
    attend_put_sums(w, s, a);
}

static const char *attend_formula(const pe_encoding *e)
{
    bool early = pe_encoding_hooks_at(e, PE_BEFORE_SCALE), late = pe_encoding_hooks_at(e, PE_AFTER_SCALE);
    if (pe_encoding_replaces(e))
        return late ? "score = term · scale + term; weight = softmax(score); out = sum weight · v"
                    : "score = term · scale; weight = softmax(score); out = sum weight · v";
    return early && late ? "score = (q·k + term) · scale + term; weight = softmax(score); out = sum weight · v"
           : early       ? "score = (q·k + term) · scale; weight = softmax(score); out = sum weight · v"
           : late        ? "score = q·k · scale + term; weight = softmax(score); out = sum weight · v"
                         : "score = q·k · scale; weight = softmax(score); out = sum weight · v";
}

static void attend_change_step(walk *w, walk_scene *s)
{
    static const words title = { "what has changed", "变化" };
    static const words names[] = { { "without", "无编码" },
                                   { "with", "有编码" },
                                   { "with - without", "有编码 - 无编码" } };
    walk_begin(w, title, NULL, none);
    for (int j = 0; j < TOKENS; j++) {
        if (!s->seen[j])
            continue;
        tell t = tell_into(s->text, sizeof s->text);
        tell_say(&t, "%s - %s", tell_number(s->with.weight[j]).text, tell_number(s->plain.weight[j]).text);
        walk_equation(w, walk_name("weight(%s), %s", walk_word(s, j), say(names[2], w->language)).text, s->text,
                      tell_difference(s->with.weight[j], s->plain.weight[j]));
    }
    walk_vector(w, walk_name("out, %s", say(names[0], w->language)).text, NULL, s->plain.out, s->plain.D);
    walk_vector(w, walk_name("out, %s", say(names[1], w->language)).text, NULL, s->with.out, s->with.D);
}

/* "bites dog man": who stands at each place. */
static const char *attend_order(walk_scene *s, const int *order)
{
    tell t = tell_into(s->text, sizeof s->text);
    for (int j = 0; j < TOKENS; j++)
        tell_say(&t, "%s%s", j ? " " : "", walk_word(s, order ? order[j] : j));
    return s->text;
}

/* Where a word is not seen, an exchange would change who is seen. */
static void attend_exchange_step(walk *w, walk_scene *s)
{
    static const words title = { "the other two words change places", "另外两个词交换位置" };
    static const words note = { "Without an encoding the query gets what it got before; what differs with it is what "
                                "the encoding makes of the places.",
                                "没有位置编码时，查询得到的与交换前相同；有编码时的差别就是编码对位置的区分。" };
    static const words same = { "The query gets what it got before: without an encoding attention is blind to order.",
                                "查询得到的与交换前相同：没有位置编码的注意力看不到顺序。" };
    static const words names[] = { { "before", "交换前" },
                                   { "after", "交换后" },
                                   { "out, without", "out, 无编码" },
                                   { "out, with", "out, 有编码" } };
    bool encoded = pe_encoding_hooks(s->e) != 0;
    walk_begin(w, title, NULL, encoded ? note : same);
    walk_sentence(w, walk_name("%s: %s", say(names[0], w->language), attend_order(s, NULL)).text);
    walk_sentence(w, walk_name("%s: %s", say(names[1], w->language), attend_order(s, s->moved)).text);
    for (int n = 0; n < (encoded ? 2 : 1); n++)
        for (int after = 0; after < 2; after++) {
            const attending *a = n ? &s->with : &s->plain;
            const double *moved = n ? s->with_moved : s->plain_moved;
            name_text name = walk_name("%s, %s", say(names[2 + n], w->language), say(names[after], w->language));
            walk_vector(w, name.text, NULL, after ? moved : a->out, a->D);
        }
}

void walk_attend(walk *w, walk_scene *s)
{
    static const words plain = { "attention without the encoding", "没有位置编码的注意力" };
    static const words with = { "attention with the encoding", "有位置编码的注意力" };
    static const words same = {
        "This uses the encoding's scale too, so that only the positions make a difference below.",
        "这里的缩放系数也取该编码自己的，这样后面的变化只来自位置。"
    };
    bool own = pe_encoding_scale(s->e) != pe_encoding_scale(s->none);
    attend_step(w, s, &s->plain, plain, attend_formula(s->none), own ? same : none);
    if (pe_encoding_hooks(s->e)) {
        attend_step(w, s, &s->with, with, attend_formula(s->e), none);
        attend_change_step(w, s);
    }
    if (!s->hidden)
        attend_exchange_step(w, s);
}
