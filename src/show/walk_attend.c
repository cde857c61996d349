/* SPDX-License-Identifier: MIT
 *
 * Attention of one query, without the encoding and with it, and what has changed. */
#include "show/walk.h"

#include <inttypes.h>
#include <math.h>

#define LARGE 50

static const words none = { NULL, NULL };

static void dot_lines(walk *w, walk_scene *s, const attending *a)
{
    for (int j = 0; j < WORDS; j++) {
        if (!s->seen[j])
            continue;
        tell t = tell_into(s->text, sizeof s->text);
        tell_products(&t, a->q, a->k + j * a->D, a->D);
        walk_equation(w, walk_name("q_%s·k_%s", s->place[s->query], s->place[j]).text, s->text, a->dot[j]);
    }
}

static void score_lines(walk *w, walk_scene *s, const attending *a)
{
    unsigned early = pe_encoding_hooks_at(a->e, PE_BEFORE_SCALE), late = pe_encoding_hooks_at(a->e, PE_AFTER_SCALE);
    for (int i = 0; i < s->formulas; i++)
        if (!s->formula[i].hook)
            walk_equation(w, "scale", s->text, walk_scene_tell(s, i, 0, 0, s->text, sizeof s->text));
    for (int j = 0; j < WORDS; j++) {
        if (!s->seen[j])
            continue;
        tell t = tell_into(s->text, sizeof s->text);
        if (early)
            tell_say(&t, "(%s + %s)", tell_number(a->dot[j]).text, tell_factor(a->before[j]).text);
        else
            tell_say(&t, "%s", tell_number(a->dot[j]).text);
        tell_say(&t, " · %s", tell_number(a->scale).text);
        if (late)
            tell_say(&t, " + %s", tell_factor(a->after[j]).text);
        walk_equation(w, walk_name("score(%s, %s)", s->place[s->query], s->place[j]).text, s->text, a->score[j]);
    }
}

/* Scores as they are, or less the largest where exp of it would be too large to mean anything. */
static void weight_lines(walk *w, walk_scene *s, const attending *a)
{
    static const words why = { "softmax does not change when the same number is taken from every score: the largest is",
                               "softmax 的所有分数减去同一个数，结果不变；这里减去最大值" };
    double top = -INFINITY, low = INFINITY;
    for (int j = 0; j < WORDS; j++)
        if (s->seen[j]) {
            top = fmax(top, a->score[j]);
            low = fmin(low, a->score[j]);
        }
    double less = top > LARGE || low < -LARGE ? top : 0;
    if (less != 0)
        walk_sentence(w, walk_name("%s %s", say(why, w->language), tell_number(less).text).text);
    for (int j = 0; j < WORDS; j++) {
        if (!s->seen[j])
            continue;
        bool first = true;
        tell t = tell_into(s->text, sizeof s->text);
        tell_say(&t, "exp(%s) / (", tell_number(a->score[j] - less).text);
        for (int i = 0; i < WORDS; i++)
            if (s->seen[i]) {
                tell_say(&t, "%sexp(%s)", first ? "" : " + ", tell_number(a->score[i] - less).text);
                first = false;
            }
        tell_say(&t, ")");
        walk_equation(w, walk_name("weight(%s)", walk_word[j]).text, s->text, a->weight[j]);
    }
}

/* Of the vectors that values get: out[d] += weight · table[r][d], told by the library. */
static double value_terms(walk_scene *s, const attending *a, int64_t d, tell *t)
{
    double sum = 0;
    for (int i = 0; a->e == s->e && i < s->formulas; i++)
        for (int j = 0; s->formula[i].hook == PE_HOOK_VALUE && j < WORDS; j++) {
            char unused[200];
            double number = s->seen[j] ? walk_scene_tell(s, i, j, d, unused, sizeof unused) : 0;
            if (s->seen[j])
                tell_say(t, " + %s · %s", tell_number(a->weight[j]).text, tell_factor(number).text);
            sum += a->weight[j] * number;
        }
    return sum;
}

static void sum_lines(walk *w, walk_scene *s, const attending *a)
{
    static const words back = { "The output is turned back at the query's place.", "输出在查询的位置上转回来。" };
    double size = 1, apart = 0;
    for (int64_t d = 0; d < a->D; d++) {
        size += fabs(a->out[d]);
        apart = fmax(apart, fabs(a->sum[d] - a->out[d]));
    }
    for (int64_t d = 0; d < a->D; d++) {
        double sum = 0;
        bool first = true;
        tell t = tell_into(s->text, sizeof s->text);
        for (int j = 0; j < WORDS; j++)
            if (s->seen[j]) {
                tell_say(&t, "%s%s · %s", first ? "" : " + ", tell_number(a->weight[j]).text,
                         tell_factor(a->v[j * a->D + d]).text);
                sum += a->weight[j] * a->v[j * a->D + d];
                first = false;
            }
        sum += value_terms(s, a, d, &t);
        walk_equation(w, walk_name("out[%" PRId64 "]", d).text, s->text, sum);
        if (!s->failed.status)
            walk_scene_hold(s, sum, a->sum[d], size, &s->failed);
    }
    if (apart > 1e-9 * size) {
        walk_sentence(w, say(back, w->language));
        walk_vector(w, "out'", NULL, a->out, a->D);
    }
}

static void attention_step(walk *w, walk_scene *s, const attending *a, words title, const char *formula, words note)
{
    walk_begin(w, title, formula, note);
    dot_lines(w, s, a);
    score_lines(w, s, a);
    weight_lines(w, s, a);
    sum_lines(w, s, a);
}

static const char *score_formula(const pe_encoding *e)
{
    bool early = pe_encoding_hooks_at(e, PE_BEFORE_SCALE), late = pe_encoding_hooks_at(e, PE_AFTER_SCALE);
    return early && late ? "score = (q·k + term) · scale + term; weight = softmax(score); out = sum weight · v"
           : early       ? "score = (q·k + term) · scale; weight = softmax(score); out = sum weight · v"
           : late        ? "score = q·k · scale + term; weight = softmax(score); out = sum weight · v"
                         : "score = q·k · scale; weight = softmax(score); out = sum weight · v";
}

static void change_step(walk *w, walk_scene *s)
{
    static const words title = { "what has changed", "变化" };
    static const words note = { "Without an encoding the words could change places and nothing here would.",
                                "没有位置编码时，词换了位置，上面的结果也不会变。" };
    static const words names[] = { { "without", "无编码" },
                                   { "with", "有编码" },
                                   { "with - without", "有编码 - 无编码" } };
    walk_begin(w, title, NULL, note);
    for (int j = 0; j < WORDS; j++) {
        if (!s->seen[j])
            continue;
        tell t = tell_into(s->text, sizeof s->text);
        tell_say(&t, "%s - %s", tell_number(s->with.weight[j]).text, tell_number(s->plain.weight[j]).text);
        walk_equation(w, walk_name("weight(%s), %s", walk_word[j], say(names[2], w->language)).text, s->text,
                      tell_difference(s->with.weight[j], s->plain.weight[j]));
    }
    walk_vector(w, walk_name("out, %s", say(names[0], w->language)).text, NULL, s->plain.out, s->plain.D);
    walk_vector(w, walk_name("out, %s", say(names[1], w->language)).text, NULL, s->with.out, s->with.D);
}

void walk_attend(walk *w, walk_scene *s)
{
    static const words plain = { "attention without the encoding", "没有位置编码的注意力" };
    static const words with = { "attention with the encoding", "有位置编码的注意力" };
    static const words same = {
        "The scale is the encoding's here too, so that what changes below is what position does.",
        "这里的缩放系数也取该编码自己的，这样后面的变化只来自位置。"
    };
    bool own = pe_encoding_scale(s->e) != pe_encoding_scale(s->none);
    attention_step(w, s, &s->plain, plain, score_formula(s->none), own ? same : none);
    if (!pe_encoding_hooks(s->e))
        return;
    attention_step(w, s, &s->with, with, score_formula(s->e), none);
    change_step(w, s);
}
