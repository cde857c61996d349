/* SPDX-License-Identifier: MIT
 *
 * The four terms of a score, for any encoding, by leaving words out. With s(a, b) the score of words a and b in place:
 *   position-position  s(0, 0)                 content-position  s(a, 0) - s(0, 0)
 *   content-content    the rest of s(a, b)     position-content  s(0, b) - s(0, 0)
 * A term carries position when it changes as all tokens move to one place, and carries i - j only when it stays as all
 * move by the same step. */
#include "prove/measures.h"
#include "prove/scores.h"

#include <math.h>
#include <stdlib.h>

enum { CC, CP, PC, PP, FOUR };
#define HAS(term) (1u << (term))
#define SHIFT 5

static const words name[FOUR] = { { "size of content-content", "“内容-内容”项的大小" },
                                  { "size of content-position", "“内容-位置”项的大小" },
                                  { "size of position-content", "“位置-内容”项的大小" },
                                  { "size of position-position", "“位置-位置”项的大小" } };

typedef pe_status scores_fn(double *out, scores *s, int words_there, pe_error *err);

static pe_status shifted(double *out, scores *s, int words_there, pe_error *err)
{
    return scores_shifted(out, s, words_there, SHIFT, err);
}

/* term (4, size), in the order of the enum. */
static pe_status split(double *term, scores *s, scores_fn *make, pe_error *err)
{
    double *cc = term, *cp = cc + s->size, *pc = cp + s->size, *pp = pc + s->size;
    PROVE_TRY(make(cc, s, SCORES_BOTH, err));
    PROVE_TRY(make(cp, s, SCORES_QUERY, err));
    PROVE_TRY(make(pc, s, SCORES_KEY, err));
    PROVE_TRY(make(pp, s, SCORES_NONE, err));
    for (int64_t n = 0; n < s->size; n++) {
        cp[n] -= pp[n];
        pc[n] -= pp[n];
        cc[n] -= cp[n] + pc[n] + pp[n];
    }
    return PE_OK;
}

/* What the terms of one spec are. */
typedef struct found {
    double size[FOUR];        /* root of the mean square */
    unsigned there, position; /* HAS(term): it is there; it changes with the positions */
    double moved;             /* the largest change of a term under a common step, in sizes of the score */
} found;

static double apart(double *x, const double *y, const scores *s)
{
    for (int64_t n = 0; n < s->size; n++)
        x[n] -= y[n];
    return scores_rms(x, s);
}

static pe_status look_at(found *f, scores *s, double *term, double *other, pe_error *err)
{
    double whole = 0;
    PROVE_TRY(split(term, s, scores_make, err));
    for (int t = 0; t < FOUR; t++)
        whole = hypot(whole, f->size[t] = scores_rms(term + t * s->size, s));
    PROVE_TRY(split(other, s, scores_alike, err));
    for (int t = 0; t < FOUR; t++) {
        f->there |= f->size[t] > MEASURE_ROUNDING * whole ? HAS(t) : 0;
        f->position |= apart(other + t * s->size, term + t * s->size, s) > MEASURE_ROUNDING * whole ? HAS(t) : 0;
    }
    PROVE_TRY(split(other, s, shifted, err));
    for (int t = 0; t < FOUR; t++)
        f->moved = fmax(f->moved, apart(other + t * s->size, term + t * s->size, s) / whole);
    return PE_OK;
}

static pe_status find_terms(found *f, const char *spec, const prove_given *g, pe_error *err)
{
    scores s;
    *f = (found){ 0 };
    PROVE_TRY(scores_open(&s, spec, g, err));
    double *term = measure_memory(2 * FOUR, s.size, err);
    pe_status status = term ? look_at(f, &s, term, term + FOUR * s.size, err) : PE_ERR_NOMEM;
    free(term);
    scores_close(&s);
    return status;
}

static void add_sizes(prove_finding *out, const found *f, const char *spec)
{
    for (int t = 0; t < FOUR; t++)
        prove_add(out, name[t], spec, f->size[t], "");
}

/* ------------------------------------------------ the expansion */

/* The four terms of added codes, by hand: y' W_q' W_k y with a word or a bare code on either side. */
static double by_hand(const scores *s, const double *codes, int64_t i, int64_t j, double *q, double *k)
{
    int64_t D = s->m.shape.head_dim, C = s->m.shape.model_dim, HD = s->m.shape.heads * D;
    double sum = 0;
    for (int term = 0; term < FOUR; term++) {
        const double *a = (term & 2 ? codes : s->x) + i * C, *b = (term & 1 ? codes : s->x) + j * C;
        for (int64_t d = 0; d < D; d++) {
            q[d] = k[d] = 0;
            for (int64_t c = 0; c < C; c++) {
                q[d] += a[c] * s->weight[0][c * HD + d];
                k[d] += b[c] * s->weight[1][c * HD + d];
            }
        }
        sum += measure_dot(q, k, D);
    }
    return sum * pe_encoding_scale(s->m.e);
}

/* Bare codes; zeros where the spec adds none. */
static pe_status bare(double *codes, const scores *s, pe_error *err)
{
    if (!(pe_encoding_hooks(s->m.e) & PE_HOOK_EMBED))
        return PE_OK;
    return measure_codes(codes, &s->m, 0, s->tokens, err);
}

/* The largest difference of head 0 between the score and its four terms by hand, in sizes of the score. */
static pe_status expansion(double *most, scores *s, double *score, double *codes, pe_error *err)
{
    double line[2][MEASURE_HEAD_MAX];
    PROVE_TRY(bare(codes, s, err));
    PROVE_TRY(scores_make(score, s, SCORES_BOTH, err));
    for (int64_t i = 0; i < s->tokens; i += 3)
        for (int64_t j = 0; j <= i; j += 4) {
            double here = score[i * s->m.shape.heads * s->tokens + j];
            *most = fmax(*most, fabs(here - by_hand(s, codes, i, j, line[0], line[1])));
        }
    *most /= scores_rms(score, s);
    return PE_OK;
}

/* given: spec, heads, head_dim, model_dim, length. REFUTED where the score is more than the four: rope, alibi. */
pe_status measure_four_terms(prove_finding *out, const prove_given *g, pe_error *err)
{
    scores s;
    found f;
    double most = 0;
    PROVE_TRY(find_terms(&f, g->spec[0], g, err));
    PROVE_TRY(scores_open(&s, g->spec[0], g, err));
    if (s.width != s.m.shape.model_dim || g->head_dim > MEASURE_HEAD_MAX) {
        scores_close(&s);
        return io_fail(err, PE_ERR_UNSUITED, "%s with head_dim %lld; needs codes that are added and %d at most",
                       g->spec[0], (long long)g->head_dim, MEASURE_HEAD_MAX);
    }
    double *room = measure_memory(s.size + s.tokens * s.width, 1, err);
    pe_status status = room ? expansion(&most, &s, room, room + s.size, err) : PE_ERR_NOMEM;
    free(room);
    scores_close(&s);
    bool equal = most < MEASURE_ROUNDING;
    prove_add(out, (words){ "score less its four terms, largest", "得分与四项之和的最大差" }, g->spec[0], most, "");
    add_sizes(out, &f, g->spec[0]);
    prove_say(out, equal ? PROVE_HOLDS : PROVE_REFUTED,
              equal ? (words){ "The score is the sum of the four products to the last digits.",
                               "得分与四个乘积之和直到最后几位数字都相等。" }
                    : (words){ "The score holds more than the four products of words and added codes.",
                               "得分里有四个乘积之外的东西。" });
    return status;
}

/* ------------------------------------------------ edits of the four */

typedef struct edit {
    unsigned there, position;
    words is, differs;
} edit;

static pe_status measure_edit(prove_finding *out, const prove_given *g, const edit *want, pe_error *err)
{
    found f;
    PROVE_TRY(find_terms(&f, g->spec[0], g, err));
    bool same = f.there == want->there && f.position == want->position, relative = f.moved < MEASURE_ROUNDING;
    prove_add(out, (words){ "change under a common step, of the score", "整体平移时得分的相对变化" }, g->spec[0],
              f.moved, "");
    add_sizes(out, &f, g->spec[0]);
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
       "四项俱全：键的位置以 i - j 出现，查询的位置换成了常向量 u、v，因此“位置-内容”项不含位置。" },
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
static words where(unsigned position)
{
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
    return all[position];
}

typedef struct tally {
    prove_finding *out;
    int relative, absolute;
} tally;

static pe_status tally_row(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    tally *t = with;
    found f;
    PROVE_TRY(find_terms(&f, spec, g, err));
    prove_add(t->out, where(f.position), spec, f.moved, "");
    if (f.moved > MEASURE_ROUNDING)
        t->absolute++;
    else
        t->relative++;
    return PE_OK;
}

/* given: spec (none: every row), heads, head_dim, length. HOLDS: all relative, REFUTED: none. */
pe_status measure_edits(prove_finding *out, const prove_given *g, pe_error *err)
{
    tally t = { .out = out };
    PROVE_TRY(measure_each_row(tally_row, &t, g, err));
    prove_verdict v = !t.absolute ? PROVE_HOLDS : !t.relative ? PROVE_REFUTED : PROVE_DEPENDS;
    static const words because[PROVE_VERDICT_COUNT] = {
        { "No score changes when all tokens move by the same step.", "所有词元一起平移时，得分都不变。" },
        { "Every score changes when all tokens move by the same step.", "所有词元一起平移时，得分全都改变。" },
        { "On the row: codes that are added to words keep i and j apart in the cross terms, the others see i - j only.",
          "取决于编码：加到词向量上的绝对编码在交叉项里分别保留 i 和 j，其余编码只看 i - j。" },
    };
    prove_say(out, v, because[v]);
    return PE_OK;
}
