/* SPDX-License-Identifier: MIT
 *
 * Encodings as edits of the four terms: which are there, and which of them carry position. */
#include "prove/terms.h"

typedef struct edit {
    unsigned there, position;
    words is, differs;
} edit;

static pe_status measure_edit(prove_finding *out, const prove_given *g, const edit *want, pe_error *err)
{
    terms_found f;
    PROVE_TRY(terms_find(&f, g->spec[0], g, err));
    bool same = f.there == want->there && f.position == want->position, relative = f.moved < MEASURE_ROUNDING;
    prove_add(out, (words){ "change under a common step, of the score", "整体平移时分数的相对变化" }, g->spec[0],
              f.moved, "");
    terms_add_sizes(out, &f, g->spec[0]);
    prove_say(out, same && relative ? PROVE_HOLDS : PROVE_REFUTED, same && relative ? want->is : want->differs);
    return PE_OK;
}

/* given of each: spec, heads, head_dim, length (tokens). REFUTED where the terms found are others. */
#define EDIT(name, ...)                                                                                                \
    pe_status measure_edit_##name(prove_finding *out, const prove_given *g, pe_error *err)                             \
    {                                                                                                                  \
        static const edit want = { __VA_ARGS__ };                                                                      \
        return measure_edit(out, g, &want, err);                                                                       \
    }

EDIT(shaw, HAS(CC) | HAS(CP), HAS(CP),
     { "Only content-position is left beside content-content, and it sees i - j only.",
       "除“内容-内容”外只剩“内容-位置”一项，且只依赖 i - j。" },
     { "The terms found are not content-content and a relative content-position.",
       "测得的并不是“内容-内容”加一个相对的“内容-位置”项。" })
EDIT(xl, HAS(CC) | HAS(CP) | HAS(PC) | HAS(PP), HAS(CP) | HAS(PP),
     { "All four are there; the key's place enters as i - j, the query's place is a constant vector (u, v).",
       "四项俱全：键的位置以 i - j 出现，查询的位置是常向量 (u, v)。" },
     { "The terms found are not those four.", "测得的并不是这四项。" })
EDIT(t5, HAS(CC) | HAS(PP), HAS(PP),
     { "Content and position do not meet: beside q.k there is one number per distance.",
       "内容与位置不再相乘：q·k 之外，每个距离只加一个数。" },
     { "The terms found are not q.k and one number per distance.", "测得的并不是 q·k 加一个只随距离变化的数。" })
EDIT(deberta, HAS(CC) | HAS(CP) | HAS(PC), HAS(CP) | HAS(PC),
     { "Both cross terms are there and relative; position-position is dropped.",
       "两个交叉项都在，且都是相对的；“位置-位置”项被去掉了。" },
     { "The terms found are not the two relative cross terms.", "测得的并不是两个相对的交叉项。" })
EDIT(rope, HAS(CC), HAS(CC),
     { "One term: content-content, turned by i - j.", "只有一项：“内容-内容”，按 i - j 旋转。" },
     { "The terms found are not one turned content-content.", "测得的并不是单独一个旋转过的“内容-内容”项。" })

/* ------------------------------------------------ all rows */

/* Where position enters, by the terms that change with it. */
static words where(const terms_found *f)
{
    static const words keys = { "change under a common step; position enters: as a count of keys, by content",
                                "平移引起的变化；位置进入：对键的计数（由内容决定）" };
    static const words all[1u << FOUR] = {
        { "change under a common step; position enters: nowhere", "平移引起的变化；位置进入：无" },
        { "change under a common step; position enters: content-content", "平移引起的变化；位置进入：内容-内容" },
        { "change under a common step; position enters: content-position", "平移引起的变化；位置进入：内容-位置" },
        { "change under a common step; position enters: content-content, content-position",
          "平移引起的变化；位置进入：内容-内容、内容-位置" },
        { "change under a common step; position enters: position-content", "平移引起的变化；位置进入：位置-内容" },
        { "change under a common step; position enters: content-content, position-content",
          "平移引起的变化；位置进入：内容-内容、位置-内容" },
        { "change under a common step; position enters: content-position, position-content",
          "平移引起的变化；位置进入：内容-位置、位置-内容" },
        { "change under a common step; position enters: all but position-position",
          "平移引起的变化；位置进入：除位置-位置外各项" },
        { "change under a common step; position enters: position-position", "平移引起的变化；位置进入：位置-位置" },
        { "change under a common step; position enters: content-content, position-position",
          "平移引起的变化；位置进入：内容-内容、位置-位置" },
        { "change under a common step; position enters: content-position, position-position",
          "平移引起的变化；位置进入：内容-位置、位置-位置" },
        { "change under a common step; position enters: all but position-content",
          "平移引起的变化；位置进入：除位置-内容外各项" },
        { "change under a common step; position enters: position-content, position-position",
          "平移引起的变化；位置进入：位置-内容、位置-位置" },
        { "change under a common step; position enters: all but content-position",
          "平移引起的变化；位置进入：除内容-位置外各项" },
        { "change under a common step; position enters: all but content-content",
          "平移引起的变化；位置进入：除内容-内容外各项" },
        { "change under a common step; position enters: all four", "平移引起的变化；位置进入：全部四项" },
    };
    return !f->position && f->counts ? keys : all[f->position];
}

static pe_status tally_row(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    measure_tally *t = with;
    terms_found f;
    PROVE_TRY(terms_find(&f, spec, g, err));
    prove_add(t->out, where(&f), spec, f.moved, "");
    measure_count(t, f.moved < MEASURE_ROUNDING);
    return PE_OK;
}

/* given: spec (none: every row), heads, head_dim, length. HOLDS: all relative, REFUTED: none. */
pe_status measure_edits(prove_finding *out, const prove_given *g, pe_error *err)
{
    measure_tally t = { .out = out };
    PROVE_TRY(measure_each_row(tally_row, &t, g, err));
    static const words because[PROVE_VERDICT_COUNT] = {
        { "No score changes when all tokens move by the same step.", "所有词元一起平移时，分数都不变。" },
        { "Every score changes when all tokens move by the same step.", "所有词元一起平移时，分数全都改变。" },
        { "On the row: codes that are added to words keep i and j apart in the cross terms, and a bias that divides by "
          "the query's place sees it once that is far; those whose change is 0 to rounding see i - j only.",
          "取决于编码：加到词向量上的编码在交叉项里分别保留 i 和 j；除以查询位置的偏置在位置足够远时也能看到位置本身；"
          "变化为零（舍入误差以内）的编码只看 i - j。" },
    };
    measure_conclude(&t, (words){ "rows that see more than i - j", "不只看 i - j 的编码数" }, because);
    return PE_OK;
}
