/* SPDX-License-Identifier: MIT
 *
 * Claims: the four terms of a score (word to word, word to position, position to word, position to position), and
 * which of them each encoding keeps. */
#include "prove/measure.h"
#include "prove/scores.h"

#include <math.h>
#include <stdlib.h>

/* The four terms of a score: content or position on the query's side, content or position on the key's. */

enum { CC, CP, PC, PP, FOUR };
#define HAS(term) (1u << (term))

/* What the terms of one spec are. */
typedef struct terms_found {
    double size[FOUR];        /* root of the mean square */
    unsigned there, position; /* HAS(term): it is there; it changes with the positions */
    bool counts;              /* a term counts keys: by their order, whatever their positions are */
    double moved;             /* the largest change of a term under a common step, in sizes of the score */
} terms_found;

/* The four terms of a score, for any encoding, by leaving words out. With s(a, b) the score of words a and b in place:
 *   position-position  s(0, 0)                 content-position  s(a, 0) - s(0, 0)
 *   content-content    the rest of s(a, b)     position-content  s(0, b) - s(0, 0)
 * A term carries position when it changes as all tokens move to one place, and carries i - j only when it stays as all
 * move by the same step: a near one, and the farthest that the row serves, for some depend on the position itself only
 * past a length. */

#define NEAR 5
#define FAR (INT64_C(1) << 20)

static const words name[FOUR] = { { "size of content-content", "“内容-内容”项的大小" },
                                  { "size of content-position", "“内容-位置”项的大小" },
                                  { "size of position-content", "“位置-内容”项的大小" },
                                  { "size of position-position", "“位置-位置”项的大小" } };

typedef pe_status scores_fn(double *out, scores *s, int words_there, int64_t by, pe_error *err);

static pe_status alike_scores(double *out, scores *s, int words_there, int64_t by, pe_error *err)
{
    (void)by;
    return scores_alike(out, s, words_there, err);
}

/* term (4, size), in the order of the enum. */
static pe_status split(double *term, scores *s, scores_fn *make, int64_t by, pe_error *err)
{
    double *cc = term, *cp = cc + s->size, *pc = cp + s->size, *pp = pc + s->size;
    TRY(make(cc, s, SCORES_BOTH, by, err));
    TRY(make(cp, s, SCORES_QUERY, by, err));
    TRY(make(pc, s, SCORES_KEY, by, err));
    TRY(make(pp, s, SCORES_NONE, by, err));
    for (int64_t n = 0; n < s->size; n++) {
        cp[n] -= pp[n];
        pc[n] -= pp[n];
        cc[n] -= cp[n] + pc[n] + pp[n];
    }
    return PE_OK;
}

static double apart(double *x, const double *y, const scores *s)
{
    for (int64_t n = 0; n < s->size; n++)
        x[n] -= y[n];
    return scores_rms(x, s);
}

/* The farthest common step, of FAR and its halves, that has scores: tables end. */
static pe_status farthest(int64_t *by, scores *s, double *room, pe_error *err)
{
    pe_status status = PE_ERR_POSITION;
    for (*by = 2 * FAR; status && status != PE_ERR_NOMEM && *by > NEAR;)
        status = scores_shifted(room, s, SCORES_BOTH, *by /= 2, err);
    return status;
}

/* The largest change of a term under a common step, in sizes of the score. */
static pe_status move(double *moved, scores *s, const double *term, double *other, double whole, pe_error *err)
{
    int64_t by[] = { NEAR, 0 };
    TRY(farthest(&by[1], s, other, err));
    for (int n = 0; n < 2; n++) {
        TRY(split(other, s, scores_shifted, by[n], err));
        for (int t = 0; t < FOUR; t++)
            *moved = fmax(*moved, apart(other + t * s->size, term + t * s->size, s) / whole);
    }
    return PE_OK;
}

static pe_status look_at(terms_found *f, scores *s, double *term, double *other, pe_error *err)
{
    double whole = 0;
    TRY(split(term, s, scores_shifted, 0, err));
    for (int t = 0; t < FOUR; t++)
        whole = hypot(whole, f->size[t] = scores_rms(term + t * s->size, s));
    TRY(split(other, s, alike_scores, 0, err));
    for (int t = 0; t < FOUR; t++) {
        f->there |= f->size[t] > PROVE_ROUNDING * whole ? HAS(t) : 0;
        f->position |= apart(other + t * s->size, term + t * s->size, s) > PROVE_ROUNDING * whole ? HAS(t) : 0;
    }
    f->counts = pe_encoding_carries(s->m.e);
    return move(&f->moved, s, term, other, whole, err);
}

static pe_status terms_find(terms_found *f, const char *spec, const prove_given *g, pe_error *err)
{
    scores s;
    *f = (terms_found){ 0 };
    TRY(scores_open(&s, spec, g, err));
    double *term = measure_memory(2 * FOUR, s.size, err);
    pe_status status = term ? look_at(f, &s, term, term + FOUR * s.size, err) : PE_ERR_NOMEM;
    free(term);
    scores_close(&s);
    return status;
}

static void terms_add_sizes(prove_finding *out, const terms_found *f, const char *spec)
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
    TRY(bare(codes, s, err));
    TRY(scores_make(score, s, SCORES_BOTH, err));
    for (int64_t i = 0; i < s->tokens; i += 3)
        for (int64_t j = 0; j <= i; j += 4) {
            double here = score[i * s->m.shape.heads * s->tokens + j];
            *most = fmax(*most, fabs(here - by_hand(s, codes, i, j, line[0], line[1])));
        }
    *most /= scores_rms(score, s);
    return PE_OK;
}

/* given: spec, heads, head_dim, model_dim, length. REFUTED where the score is more than the four: rope, alibi. */
static pe_status measure_four_terms(prove_finding *out, const prove_given *g, pe_error *err)
{
    scores s;
    terms_found f;
    double most = 0;
    TRY(terms_find(&f, g->spec[0], g, err));
    TRY(scores_open(&s, g->spec[0], g, err));
    if (s.width != s.m.shape.model_dim || g->head_dim > MEASURE_HEAD_MAX) {
        scores_close(&s);
        return io_fail(err, PE_ERR_UNSUITED, "%s with head_dim %lld; needs codes that are added and %d at most",
                       g->spec[0], (long long)g->head_dim, MEASURE_HEAD_MAX);
    }
    double *room = measure_memory(s.size + s.tokens * s.width, 1, err);
    pe_status status = room ? expansion(&most, &s, room, room + s.size, err) : PE_ERR_NOMEM;
    free(room);
    scores_close(&s);
    bool equal = most < PROVE_ROUNDING;
    prove_add(out, (words){ "score less its four terms, largest", "分数与四项之和的最大差" }, g->spec[0], most, "");
    terms_add_sizes(out, &f, g->spec[0]);
    prove_judge(out, equal,
                (words){ "The score is the sum of the four products to the last digits.",
                         "分数与四个乘积之和直到最后几位数字都相等。" },
                (words){ "The score holds more than the four products of words and added codes.",
                         "分数里有四个乘积之外的东西。" });
    return status;
}

/* Encodings as edits of the four terms: which are there, and which of them carry position. */

typedef struct edit {
    unsigned there, position;
    words is, differs;
} edit;

static pe_status measure_edit(prove_finding *out, const prove_given *g, const edit *want, pe_error *err)
{
    terms_found f;
    TRY(terms_find(&f, g->spec[0], g, err));
    bool same = f.there == want->there && f.position == want->position, relative = f.moved < PROVE_ROUNDING;
    prove_add(out, (words){ "change under a common step, of the score", "整体平移时分数的相对变化" }, g->spec[0],
              f.moved, "");
    terms_add_sizes(out, &f, g->spec[0]);
    prove_say(out, same && relative ? PROVE_HOLDS : PROVE_REFUTED, same && relative ? want->is : want->differs);
    return PE_OK;
}

/* given of each: spec, heads, head_dim, length (tokens). REFUTED where the terms found are others. */
#define EDIT(name, ...)                                                                                                \
    static pe_status measure_edit_##name(prove_finding *out, const prove_given *g, pe_error *err)                      \
    {                                                                                                                  \
        static const edit want = { __VA_ARGS__ };                                                                      \
        return measure_edit(out, g, &want, err);                                                                       \
    }

EDIT(shaw, HAS(CC) | HAS(CP), HAS(CP),
     { "Only content-position is left beside content-content, and it depends on i - j only.",
       "除“内容-内容”外只剩“内容-位置”一项，且只依赖 i - j。" },
     { "The terms found are not content-content and a relative content-position.",
       "测得的并不是“内容-内容”加一个相对的“内容-位置”项。" })
EDIT(xl, HAS(CC) | HAS(CP) | HAS(PC) | HAS(PP), HAS(CP) | HAS(PP),
     { "All four are there; the key's place enters as i - j, the query's place is a constant vector (u, v).",
       "四项俱全：键的位置以 i - j 出现，查询的位置是常向量 (u, v)。" },
     { "The terms found are not those four.", "测得的并不是这四项。" })
EDIT(t5, HAS(CC) | HAS(PP), HAS(PP),
     { "No term combines content and position: q.k plus one number per distance.",
       "内容与位置不再相乘：q·k 之外，每个距离只加一个数。" },
     { "The terms found are not q.k and one number per distance.", "测得的并不是 q·k 加一个只随距离变化的数。" })
EDIT(deberta, HAS(CC) | HAS(CP) | HAS(PC), HAS(CP) | HAS(PC),
     { "Both cross terms are there and relative; position-position is dropped.",
       "两个交叉项都在，且都是相对的；“位置-位置”项被去掉了。" },
     { "The terms found are not the two relative cross terms.", "测得的并不是两个相对的交叉项。" })
EDIT(rope, HAS(CC), HAS(CC),
     { "One term: content-content, rotated by i - j.", "只有一项：“内容-内容”，按 i - j 旋转。" },
     { "The terms found are not a single rotated content-content.", "测得的并不是单独一个旋转过的“内容-内容”项。" })

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

typedef struct terms_run {
    const char *spec;
    const prove_given *g;
    terms_found f[MEASURE_RUNS];
} terms_run;

static pe_status terms_seed(void *with, int n, uint64_t seed, pe_error *err)
{
    terms_run *r = with;
    prove_given g = measure_sized(r->g, n);
    g.seed = seed;
    return terms_find(&r->f[n], r->spec, &g, err);
}

/* A term that carries position in any seed carries it; a row is relative if it is in every seed. */
static pe_status tally_row(void *with, const char *spec, const prove_given *g, pe_error *err)
{
    measure_tally *t = with;
    terms_run r = { .spec = spec, .g = g };
    double moved[MEASURE_RUNS];
    int runs = measure_runs(g);
    TRY(measure_each_seed(terms_seed, &r, runs, g, err));
    terms_found any = r.f[0];
    for (int n = 0; n < runs; n++) {
        any.position |= r.f[n].position;
        moved[n] = r.f[n].moved;
    }
    measure_spread s = measure_spread_of(moved, runs);
    measure_add_spread(t->out, where(&any), spec, s, "");
    measure_count(t, s.most < PROVE_ROUNDING);
    return PE_OK;
}

/* given: spec (none: every row), length; heads, head_dim, or neither. HOLDS: all relative, REFUTED: none. */
static pe_status measure_edits(prove_finding *out, const prove_given *g, pe_error *err)
{
    measure_tally t = { .out = out };
    TRY(measure_each_row(tally_row, &t, g, err));
    static const words because[PROVE_VERDICT_COUNT] = {
        { "No score changes when all tokens move by the same step.", "所有词元一起平移时，分数都不变。" },
        { "Every score changes when all tokens move by the same step.", "所有词元一起平移时，分数全都改变。" },
        { "It depends on the row: codes that are added to words keep i and j apart in the cross terms, and a bias that "
          "divides by "
          "the query's place sees it once that is far; those whose change is 0 to rounding depend on i - j only.",
          "取决于编码：加到词向量上的编码在交叉项里分别保留 i 和 j；除以查询位置的偏置在位置足够远时也能看到位置本身；"
          "变化为零（舍入误差以内）的编码只看 i - j。" },
    };
    measure_conclude(&t, (words){ "encodings that depend on more than i - j", "不只看 i - j 的编码数" }, because);
    return PE_OK;
}

/* ---------------------------------------------------------------- the claims */

#define SMALL .heads = 2, .head_dim = 16, .length = 36, .seed = 6

static const prove_claim claims[] = {
    { .name = "four-terms",
      .claim = { "With codes added to words the score (x + e)' Q' K (y + f) is four terms: content-content, "
                 "content-position, position-content and position-position.",
                 "编码加到词向量上之后，分数 (x+e)ᵀQᵀK(y+f) 展开为四项：内容-内容、内容-位置、位置-内容、位置-位置。" },
      .put = { "Its score (x + e)' Q' K (y + f) is four terms: content-content, content-position, position-content and "
               "position-position.",
               "它的分数 (x+e)ᵀQᵀK(y+f) 展开为四项：内容-内容、内容-位置、位置-内容、位置-位置。" },
      .source = "Dai et al. 2019, 3.3 (arXiv:1901.02860)",
      .kind = PROVE_ALGEBRA,
      .given = { .spec = { "sinusoidal" }, .heads = 1, .head_dim = 64, .model_dim = 64, .length = 64, .seed = 6 },
      .measure = measure_four_terms,
      .takes = PE_HOOK_EMBED },
    { .name = "shaw-edit",
      .claim = { "Shaw keeps of the four terms content-content and content-position, with a vector per distance.",
                 "Shaw 等人的方法在四项中只保留“内容-内容”和“内容-位置”，位置换成每个距离一个向量。" },
      .source = "Shaw et al. 2018, 3.1 (arXiv:1803.02155)",
      .kind = PROVE_DEFINITION,
      .given = { .spec = { "shaw" }, SMALL },
      .measure = measure_edit_shaw },
    { .name = "transformer-xl-edit",
      .claim = { "Transformer-XL keeps all four terms: the key's place becomes i - j, the query's a trained vector.",
                 "Transformer-XL 保留四项：键的位置换成 i - j，查询的位置换成可训练的向量。" },
      .source = "Dai et al. 2019, 3.3 (arXiv:1901.02860)",
      .kind = PROVE_DEFINITION,
      .given = { .spec = { "transformer-xl" }, SMALL },
      .measure = measure_edit_xl },
    { .name = "xlnet-edit",
      .claim = { "XLNet takes Transformer-XL's four terms as they are.", "XLNet 原样采用 Transformer-XL 的四项。" },
      .source = "Yang et al. 2019, 2.4 (arXiv:1906.08237)",
      .kind = PROVE_DEFINITION,
      .given = { .spec = { "xlnet" }, SMALL },
      .measure = measure_edit_xl },
    { .name = "t5-edit",
      .claim = { "T5 drops both cross terms and makes of position-position one trained number per distance.",
                 "T5 去掉两个交叉项，把“位置-位置”项变成每个距离一个可训练的数。" },
      .source = "Raffel et al. 2019, 2.1 (arXiv:1910.10683)",
      .kind = PROVE_DEFINITION,
      .given = { .spec = { "t5" }, SMALL },
      .measure = measure_edit_t5 },
    { .name = "deberta-edit",
      .claim = { "DeBERTa keeps the two cross terms, relative, and drops position-position.",
                 "DeBERTa 保留两个（相对的）交叉项，去掉“位置-位置”项。" },
      .source = "He et al. 2020, 3.1 (arXiv:2006.03654)",
      .kind = PROVE_DEFINITION,
      .given = { .spec = { "deberta" }, SMALL },
      .measure = measure_edit_deberta },
    { .name = "rope-edit",
      .claim = { "RoPE adds no term: it rotates content-content by i - j.",
                 "RoPE 不增加任何一项，只把“内容-内容”项按 i - j 旋转。" },
      .source = "Su et al. 2021, 3.2 (arXiv:2104.09864)",
      .kind = PROVE_DEFINITION,
      .given = { .spec = { "rope" }, SMALL },
      .measure = measure_edit_rope },
    { .name = "only-the-distance",
      .claim = { "Whatever the encoding, position enters the score only as i - j.",
                 "无论哪种编码，位置都只以 i - j 的形式进入分数。" },
      .put = { "Position enters its score only as i - j.", "位置只以 i - j 的形式进入它的分数。" },
      .source = "Shaw et al. 2018 (arXiv:1803.02155); Su et al. 2021, 2.3 (arXiv:2104.09864)",
      .rule = { "It holds if no score changes by more than rounding (1e-9 of its size) as all tokens move by "
                "one step, near or far, in each seed.",
                "成立的条件：每个随机种子下，所有词元一起平移（近处或远处）时，分数的变化都不超过舍入误差（其大小的 1e-9）。" },
      .sizes = MEASURE_SIZES,
      .given = { .length = 16, .seed = 6, .causal = true },
      .measure = measure_edits,
      .takes = PROVE_ANY },
    { .name = "orthogonal",
      .claim = { "In a wide space words and position codes are nearly orthogonal.",
                 "高维空间里词向量与位置编码近似正交。" },
      .put = { "In a wide space words and its codes are nearly orthogonal.", "高维空间里词向量与它的编码近似正交。" },
      .source = "Kazemnejad 2019 (kazemnejad.com/blog/transformer_architecture_positional_encoding)",
      .kind = PROVE_ALGEBRA,
      .rule = { "It holds if the mean |cos| at the model's width, 512 where none is given, is below 0.1 in each of 20 "
                "seeds, so that 1 % of the power of one lies along the other, and is refuted if it is so in none; width 8 is "
                "the control.",
                "成立的条件：在模型宽度下（未给出时为 512），20 个随机种子下 |cos| 的均值都小于 0.1，即一方功率的 1% 落在另一方"
                "的方向上；没有一个种子如此则不成立。宽度 8 作对照。" },
      .given = { .spec = { "sinusoidal" }, .model_dim = 512, .length = 64, .seed = 6 },
      .measure = measure_orthogonal,
      .takes = PE_HOOK_EMBED },
    { .name = "adding-is-concatenating",
      .claim = { "Adding is a concatenation whose two halves share one projection: (x + p) W = [x, p] [W; W].",
                 "相加等价于两半共用投影的拼接：(x+p)W = [x,p][W;W]。" },
      .source = "Ke et al. 2020, 3.1 (arXiv:2006.15595), where the projections are untied",
      .kind = PROVE_ALGEBRA,
      .given = { .spec = { "sinusoidal", "sinusoidal:join=concat,width=64" },
                 .model_dim = 64,
                 .length = 64,
                 .seed = 6 },
      .measure = measure_tied },
    { .name = "concatenating-costs",
      .claim = { "Concatenating codes to words costs parameters that adding does not.",
                 "把编码拼接到词向量上要多花参数，相加则不用。" },
      .source = "Vaswani et al. 2017, 3.5 (arXiv:1706.03762): codes as wide as words, so that they can be summed",
      .kind = PROVE_DEFINITION,
      .given = { .spec = { "sinusoidal:join=concat,width=512", "sinusoidal:join=concat,width=256",
                           "sinusoidal:join=concat,width=128", "sinusoidal:join=concat,width=64",
                           "binary:join=concat,width=16" },
                 .model_dim = 512 },
      .measure = measure_concat_cost },
    { .name = "adding-loses-nothing",
      .claim = { "Adding loses nothing: a linear map can read both the word and the place from their sum.",
                 "相加没有损失：线性映射能从和里同时读出词和位置。" },
      .put = { "Adding it loses nothing: a linear map can read both the word and the place from the sum.",
               "加上它没有损失：线性映射能从和里同时读出词和位置。" },
      .source = "Kazemnejad 2019 (kazemnejad.com/blog/transformer_architecture_positional_encoding)",
      .rule = { "It holds at a width and a vocabulary if all 256 sums that are asked for are read right, "
                "word and place, in each of 20 seeds: nothing lost means all.",
                "在某个宽度和词表上成立的条件：20 个随机种子下，所问的 256 个和的词与位置全部读对；“没有损失"
                "”就是全部。" },
      .given = { .spec = { "sinusoidal" }, .length = 128, .seed = 1 }, /* widths: its own, from 512 down */
      .measure = measure_adding_loses,
      .takes = PE_HOOK_EMBED },
};

const prove_group prove_group_terms = { .name = "terms",
                                        .title = { "The four terms, and adding", "四个项，以及相加" },
                                        .claims = claims,
                                        .count = sizeof claims / sizeof *claims };
