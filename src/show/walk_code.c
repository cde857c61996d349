/* SPDX-License-Identifier: MIT
 *
 * The first steps: the case, and the code that joins a word. */
#include "show/walk.h"

#include <inttypes.h>

void walk_case(walk *w, walk_scene *s)
{
    static const words title = { "the case", "例子" };
    static const words note = {
        "The vectors are drawn by the seed, with one digit. To keep every number in sight W_Q, W_K "
        "and W_V are the identity: a word is its own query, key and value.",
        "向量由随机种子生成，只保留一位小数。为了让每个数都看得见，取 W_Q、W_K、W_V "
        "为单位矩阵：词向量本身就是它的查询、键和值。"
    };
    walk_begin(w, title, NULL, note);
    for (int t = 0; t < WORDS; t++)
        walk_vector(w, walk_name("x_%s (%s)", s->place[t], walk_word[t]).text, NULL, s->x + t * s->dim, s->dim);
    tell t = tell_into(s->text, sizeof s->text);
    if (w->language == CHINESE)
        tell_say(&t,
                 "查询：位置 %s 的“%s”；键：位置 %s 的“%s”；第 %" PRId64 " 个头（从 0 数，共 %" PRId64
                 " 个），宽度 %" PRId64,
                 s->place[s->query], walk_word[s->query], s->place[s->key], walk_word[s->key], s->head, s->heads, s->D);
    else
        tell_say(&t, "query: \"%s\" at %s; key: \"%s\" at %s; head %" PRId64 " (from 0) of %" PRId64 ", width %" PRId64,
                 walk_word[s->query], s->place[s->query], walk_word[s->key], s->place[s->key], s->head, s->heads, s->D);
    walk_sentence(w, s->text);
}

/* Element by element, of one part. */
static void code_of(walk *w, walk_scene *s, int formula)
{
    static const words title = { "the code of a position", "位置的编码" };
    walk_begin(w, title, s->formula[formula].info->formula, (words){ NULL, NULL });
    for (int64_t c = 0; c < s->formula[formula].count; c++) {
        double number = walk_scene_tell(s, formula, s->key, c, s->text, sizeof s->text);
        walk_equation(w, walk_name("p_%s[%" PRId64 "]", s->place[s->query], c).text, s->text, number);
    }
}

void walk_code(walk *w, walk_scene *s)
{
    static const words title = { "the word gets its code", "词向量加上编码" };
    static const words note = { "Attention sees y in place of x from here on: as query, key and value.",
                                "此后注意力看到的是 y 而不是 x：查询、键、值都由它而来。" };
    bool joins = s->D > s->dim, any = false;
    for (int i = 0; i < s->formulas; i++)
        if (s->formula[i].hook == PE_HOOK_EMBED) {
            code_of(w, s, i);
            any = true;
        }
    if (!any)
        return;
    walk_begin(w, title, joins ? "y = [x, p]" : "y = x + p", note);
    const double *x = s->x + s->query * s->dim, *y = s->y + s->query * s->D;
    for (int64_t c = 0; !joins && c < s->dim; c++) {
        tell t = tell_into(s->text, sizeof s->text);
        tell_say(&t, "%s + %s", tell_factor(x[c]).text, tell_factor(y[c] - x[c]).text);
        walk_equation(w, walk_name("y_%s[%" PRId64 "]", s->place[s->query], c).text, s->text, y[c]);
    }
    for (int t = 0; t < WORDS; t++)
        walk_vector(w, walk_name("y_%s (%s)", s->place[t], walk_word[t]).text, NULL, s->y + t * s->D, s->D);
}
