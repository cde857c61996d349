/* SPDX-License-Identifier: MIT
 *
 * What is added to the scores of one query, key by key, and to the values. */
#include "show/walk.h"

#include <math.h>
#include <string.h>

static const words before_note = { "Added before the scale: the scale multiplies it too.",
                                   "在缩放之前相加：它也会被缩放。" };
static const words after_note = { "Added after the scale, as it is.", "在缩放之后相加，原样进入分数。" };

static void score_step(walk *w, walk_scene *s, int formula, double sum[2][WORDS])
{
    static const words title = { "what each score gets", "每个分数加上的项" };
    const pe_formula *what = &s->formula[formula];
    walk_begin(w, title, what->info->formula, what->stage == PE_BEFORE_SCALE ? before_note : after_note);
    for (int j = 0; j < WORDS; j++) {
        if (!s->seen[j])
            continue;
        double number = walk_scene_tell(s, formula, j, 0, s->text, sizeof s->text);
        walk_equation(w, walk_name("term(%s, %s)", s->place[s->query], s->place[j]).text, s->text, number);
        sum[what->stage == PE_AFTER_SCALE][j] += number;
    }
}

/* Where keys ahead are not served, say why they are missing. */
static void hidden_line(walk *w, const walk_scene *s)
{
    static const words why = { "Keys ahead of the query are not served by this spec, and are hidden.",
                               "这个 spec 不支持排在查询之后的键，这里把它们遮住。" };
    if (s->hidden)
        walk_sentence(w, say(why, w->language));
}

/* A vector for each key: tell of its element 0 names its row, "value_table[14][0]". */
static void value_step(walk *w, walk_scene *s, int formula)
{
    static const words title = { "what each value gets", "每个值加上的向量" };
    static const words note = { "Added to the output by the weight of its key.", "按该键的权重加到输出上。" };
    walk_begin(w, title, s->formula[formula].info->formula, note);
    for (int j = 0; j < WORDS; j++) {
        double vector[WIDTH_MAX];
        for (int64_t d = s->D - 1; s->seen[j] && d >= 0; d--)
            vector[d] = walk_scene_tell(s, formula, j, d, s->text, sizeof s->text);
        char *end = strrchr(s->text, '[');
        if (!s->seen[j] || !end)
            continue;
        *end = 0;
        walk_vector(w, walk_name("V(%s, %s) = %s", s->place[s->query], s->place[j], s->text).text, NULL, vector, s->D);
    }
}

/* Terms that are shown one by one are together what the library added. */
static pe_status hold(const walk_scene *s, double sum[2][WORDS], pe_error *err)
{
    for (int j = 0; j < WORDS; j++) {
        SHOW_TRY(walk_scene_hold(s, sum[0][j], s->with.before[j], 1 + fabs(sum[0][j]), err));
        SHOW_TRY(walk_scene_hold(s, sum[1][j], s->with.after[j], 1 + fabs(sum[1][j]), err));
    }
    return PE_OK;
}

pe_status walk_terms(walk *w, walk_scene *s, pe_error *err)
{
    double sum[2][WORDS] = { { 0 } };
    for (int i = 0; i < s->formulas; i++)
        if (s->formula[i].hook & (PE_HOOK_CONTENT | PE_HOOK_BIAS)) {
            score_step(w, s, i, sum);
            hidden_line(w, s);
        }
    for (int i = 0; i < s->formulas; i++)
        if (s->formula[i].hook == PE_HOOK_VALUE)
            value_step(w, s, i);
    return hold(s, sum, err);
}
