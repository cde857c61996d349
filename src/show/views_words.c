/* SPDX-License-Identifier: MIT
 *
 * A sentence: its other words as one of them sees them (around), and the attention of one head on it, with the encoding
 * and without (attention). Equal words have equal contents. */
#include "show/views.h"
#include "show/attend.h"

#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sentence on its positions. */
typedef struct stage {
    show_sentence words;
    show_path path;
    bool causal;
} stage;

static void stage_free(stage *g)
{
    sentence_free(&g->words);
    path_free(&g->path);
}

static pe_status stage_new(stage *g, const show_subject *s, const show_request *r, pe_error *err)
{
    show_request all = *r;
    *g = (stage){ 0 };
    SHOW_TRY(show_head(s, r, err));
    SHOW_TRY(sentence_new(&g->words, r, err));
    all.length = r->sentence ? g->words.count : 0; /* the words that nobody asked for: as many as there is room for */
    SHOW_TRY(path_new(&g->path, s, &all, g->words.count, SHOW_WORDS_MAX, err));
    g->words.count = (int)g->path.where.tokens;
    return show_is_causal(&g->causal, s, r, err);
}

/* ---------------------------------------------------------------- around */

/* As much of a word as a label has room for, in whole characters. */
typedef struct short_word {
    char text[61];
} short_word;

static short_word shorten(const char *word)
{
    short_word out;
    if ((size_t)snprintf(out.text, sizeof out.text, "%s", word) >= sizeof out.text)
        io_end_with_dots(out.text, sizeof out.text);
    return out;
}

/* "dog +4": a word and its distance. */
static void name_columns(figure *f, const stage *g, int64_t query)
{
    char text[SHOW_WORDS_MAX][90];
    const char *name[SHOW_WORDS_MAX];
    for (int i = 0; i < g->words.count; i++) {
        int64_t d = query - i;
        snprintf(text[i], sizeof text[i], d ? "%s %+" PRId64 : "%s %" PRId64, shorten(g->words.word[i]).text, d);
        name[i] = text[i];
    }
    figure_names(f, &f->x_names, name, g->words.count);
}

static void name_rows(figure *f, const show_request *r, words format, const int64_t *pick, int count)
{
    char text[SHOW_WORDS_MAX][40];
    const char *name[SHOW_WORDS_MAX];
    for (int i = 0; i < count; i++) {
        snprintf(text[i], sizeof text[i], say(format, r->language), (int)pick[i]);
        name[i] = text[i];
    }
    figure_names(f, &f->y_names, name, count);
}

static pe_status begin(figure **f, show_sheet *to, const stage *g, int64_t query, const show_subject *s,
                       const show_request *r, unsigned hook, pe_error *err)
{
    SHOW_TRY(show_figure(f, to, FIGURE_CELLS, s, err));
    show_title(*f, &show_view_around, s, r, hook);
    name_columns(*f, g, query);
    show_say(*f, &(*f)->x_label, r, (words){ "key and its distance", "键及其距离" });
    return PE_OK;
}

/* What a causal mask hides from the query. */
static void hide_ahead(double *v, int rows, const stage *g, int64_t query)
{
    for (int i = 0; v && g->causal && i < rows; i++)
        for (int64_t j = query + 1; j < g->words.count; j++)
            v[i * g->words.count + j] = NAN;
}

static void caption(figure *f, const stage *g, int64_t query, const show_request *r, words what)
{
    show_say(f, &f->caption, r,
             g->causal ? (words){ "Seen from “%s”, word %" PRId64 " counted from 0, under a causal mask: %s.",
                                  "加因果掩码，从“%s”（第 %" PRId64 " 个词，从 0 数）看：%s。" }
                       : (words){ "Seen from “%s”, word %" PRId64 " counted from 0: %s.",
                                  "从“%s”（第 %" PRId64 " 个词，从 0 数）看：%s。" },
             shorten(g->words.word[query]).text, query, say(what, r->language));
}

static pe_status around_codes(show_sheet *to, const stage *g, int64_t query, const show_subject *s,
                              const show_request *r, pe_error *err)
{
    figure *f;
    double *code;
    int64_t width;
    SHOW_TRY(show_codes(&code, &width, s, g->path.where, err));
    const double *own = code + query * width;
    double norm = show_dot(own, own, width);
    pe_status status = begin(&f, to, g, query, s, r, PE_HOOK_EMBED, err);
    double *v = status ? NULL : figure_cells(f, 1, g->words.count);
    for (int i = 0; v && i < g->words.count; i++)
        v[i] = show_dot(own, code + i * width, width) / (norm != 0 ? norm : 1);
    hide_ahead(v, 1, g, query);
    free(code);
    if (status)
        return status;
    figure_names(f, &f->y_names, (const char *[]){ "p(i)·p(j)" }, 1);
    caption(f, g, query, r,
            norm != 0 ? (words){ "how much of its own code it finds at every word, 1 at itself",
                                 "每个词处与自身编码的相似程度，自身处为 1" }
                      : (words){ "the dot product of its code and every other; its own is zero",
                                 "自身编码与各词编码的点积；自身编码为零" });
    return PE_OK;
}

/* cos of the angle between the query's turn and the key's, pair by pair, magnitudes included. */
static pe_status around_turns(show_sheet *to, const stage *g, int64_t query, const show_subject *s,
                              const show_request *r, pe_error *err)
{
    figure *f = NULL;
    double *turn;
    int64_t pairs, pick[SHOW_LINES_MAX], n = g->words.count;
    int picked;
    SHOW_TRY(show_turns(&turn, &pairs, s, g->path.where, err));
    const double *sine = turn + n * pairs;
    pe_status status = show_pick(pick, &picked, r, pairs, SHOW_LINES_MAX, true, "pair", err);
    if (!status)
        status = begin(&f, to, g, query, s, r, PE_HOOK_ROTATE, err);
    double *v = status ? NULL : figure_cells(f, picked, (int)n);
    for (int i = 0; v && i < picked; i++)
        for (int64_t j = 0; j < n; j++)
            v[i * n + j] = turn[query * pairs + pick[i]] * turn[j * pairs + pick[i]] +
                           sine[query * pairs + pick[i]] * sine[j * pairs + pick[i]];
    hide_ahead(v, picked, g, query);
    free(turn);
    if (status)
        return status;
    f->midpoint = true;
    name_rows(f, r, (words){ "pair %d", "第 %d 对" }, pick, picked);
    caption(f, g, query, r,
            (words){ "the cosine of the angle by which each pair is turned against the same pair at every word",
                     "每一对相对于各词处同一对所转角度的余弦" });
    return PE_OK;
}

/* Above and below 0: then it is the middle of the colours. */
static bool has_both_signs(const double *v, int64_t count)
{
    bool above = false, below = false;
    for (int64_t i = 0; v && i < count; i++) {
        above = above || v[i] > 0;
        below = below || v[i] < 0;
    }
    return above && below;
}

static pe_status around_terms(show_sheet *to, const stage *g, int64_t query, const show_subject *s,
                              const show_request *r, pe_error *err)
{
    figure *f;
    double *term;
    int64_t n = g->words.count, pick[SHOW_LINES_MAX];
    int heads = show_pick_heads(pick, SHOW_LINES_MAX, s->shape.heads);
    SHOW_TRY(show_terms(&term, s, r, path_one(&g->path, query), g->path.where, g->causal, err));
    pe_status status = begin(&f, to, g, query, s, r, PE_HOOK_BIAS, err);
    double *v = status ? NULL : figure_cells(f, heads, (int)n);
    for (int i = 0; v && i < heads; i++)
        memcpy(v + i * n, term + pick[i] * n, (size_t)n * sizeof *v);
    free(term);
    if (status)
        return status;
    f->midpoint = has_both_signs(v, heads * n);
    name_rows(f, r, (words){ "head %d", "第 %d 头" }, pick, heads);
    caption(f, g, query, r, (words){ "what each head adds to the score of every word", "每个头给各词的分数加多少" });
    return PE_OK;
}

static pe_status draw_around(show_sheet *to, const stage *g, const show_subject *s, const show_request *r,
                             pe_error *err)
{
    int64_t query;
    SHOW_TRY(path_point(&query, &g->path, r, g->causal ? g->words.count - 1 : g->words.count / 2, err));
    if (s->hooks & PE_HOOK_EMBED)
        SHOW_TRY(around_codes(to, g, query, s, r, err));
    if (s->hooks & PE_HOOK_ROTATE)
        SHOW_TRY(around_turns(to, g, query, s, r, err));
    if (s->hooks & SHOW_HOOKS_SCORE)
        SHOW_TRY(around_terms(to, g, query, s, r, err));
    return PE_OK;
}

static pe_status make_around(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    stage g;
    pe_status status = stage_new(&g, s, r, err);
    if (!status)
        status = draw_around(to, &g, s, r, err);
    stage_free(&g);
    return status;
}

const show_view show_view_around = {
    .name = "around",
    .title = { "Seen from one word", "从一个词看出去" },
    .about = { "What the encoding tells one word of a sentence about the places of the others.",
               "编码告诉句中一个词的、关于其他词位置的信息。" },
    .hooks = PE_HOOK_EMBED | PE_HOOK_ROTATE | PE_HOOK_CONTENT | PE_HOOK_BIAS,
    .asks = "sentence|at|pairs|causal",
    .make = make_around,
};

/* ---------------------------------------------------------------- attention */

/* The largest difference between what two equal words attend to; -1: no word comes twice. */
static double between_equals(const double *p, const show_sentence *w)
{
    double most = -1;
    for (int a = 0; a < w->count; a++)
        for (int b = a + 1; b < w->count; b++)
            for (int j = 0; !strcmp(w->word[a], w->word[b]) && j < w->count; j++)
                most = fmax(most, fabs(p[a * w->count + j] - p[b * w->count + j]));
    return most;
}

/* What is said of equal words: a mask alone shows each of them other words. */
static words said_of_equals(double apart, bool with, bool causal)
{
    if (!(apart > 0))
        return (words){ " Equal words attend alike: nothing tells them apart.", "相同的词注意力完全一样：无法区分。" };
    if (causal && !with)
        return (words){ " Equal words attend differently, by up to %.3g, by the mask alone: each sees other words.",
                        "相同的词注意力不同，最多相差 %.3g，这只来自掩码：它们各自看到的词不同。" };
    return (words){ " Equal words attend differently, by up to %.3g.", "相同的词注意力不同，最多相差 %.3g。" };
}

static void caption_attention(figure *f, const double *p, const stage *g, bool with, const show_request *r)
{
    double apart = between_equals(p, &g->words);
    apart = apart >= 0 && apart < 1e-9 ? 0 : apart; /* without the rounding */
    char text[200];
    snprintf(text, sizeof text, say(said_of_equals(apart, with, g->causal), r->language), apart);
    show_say(
        f, &f->caption, r,
        g->causal
            ? (words){ "Causal mask: each row is one word's attention to itself and the words before it, and sums to "
                       "1.%s",
                       "因果掩码：每一行是一个词对自己和前面各词的注意力，和为 1。%s" }
            : (words){ "Each row is one word's attention, and sums to 1.%s", "每一行是一个词的注意力，和为 1。%s" },
        apart < 0 ? "" : text);
}

static pe_status draw_attention(show_sheet *to, const stage *g, bool with, const show_subject *s, const show_request *r,
                                pe_error *err)
{
    figure *f;
    int n = g->words.count;
    SHOW_TRY(show_figure(&f, to, FIGURE_CELLS, s, err));
    double *p = figure_cells(f, n, n);
    show_say(f, &f->title, r,
             with ? (words){ "Attention with the encoding, head %" PRId64, "加上编码的注意力（第 %" PRId64 " 头）" }
                  : (words){ "Attention without it, head %" PRId64, "不加编码的注意力（第 %" PRId64 " 头）" },
             r->head);
    show_say(f, &f->x_label, r, (words){ "key", "键" });
    show_say(f, &f->y_label, r, (words){ "query", "查询" });
    figure_names(f, &f->x_names, g->words.word, n);
    figure_names(f, &f->y_names, g->words.word, n);
    if (!p)
        return PE_OK; /* show_add asks the figure */
    SHOW_TRY(attend_words(p, &g->words, s, r, g->path.where, with, g->causal, err));
    caption_attention(f, p, g, with, r);
    for (int i = 0; i < n * n; i++)
        f->high = fmax(f->high, p[i]);
    for (int i = 0; g->causal && i < n; i++)
        for (int j = i + 1; j < n; j++)
            p[i * n + j] = NAN;
    return PE_OK;
}

/* One scale for both, up to a quarter, a half, three quarters or 1, so that it seldom differs between encodings. */
static void share_scale(figure *without, figure *with)
{
    double most = fmax(without->high, with->high);
    without->high = with->high = ceil(most * 4) / 4;
}

static pe_status make_attention(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    stage g;
    pe_status status = stage_new(&g, s, r, err);
    if (!status)
        status = draw_attention(to, &g, false, s, r, err);
    if (!status)
        status = draw_attention(to, &g, true, s, r, err);
    if (!status)
        share_scale(to->figure[to->count - 2], to->figure[to->count - 1]);
    stage_free(&g);
    return status;
}

const show_view show_view_attention = {
    .name = "attention",
    .title = { "Attention on a sentence", "一句话上的注意力" },
    .about = { "One head with random projections, without the encoding and with it: without, equal words attend alike "
               "wherever they stand.",
               "一个随机投影的头，不加与加上编码的对比：不加编码时，相同的词无论在哪里注意力都一样。" },
    .asks = "sentence|head|causal",
    .make = make_attention,
};
