/* SPDX-License-Identifier: MIT
 *
 * The view `around`: what one word of a sentence is told about the places of the others. */
#include "show/views.h"

#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Cuts a word to what a label has room for, in whole characters. */
typedef struct short_word {
    char text[61];
} short_word;

static short_word word_shorten(const char *word)
{
    short_word out;
    if ((size_t)snprintf(out.text, sizeof out.text, "%s", word) >= sizeof out.text)
        io_end_with_dots(out.text, sizeof out.text);
    return out;
}

/* Names columns by word and distance: "dog +4". */
static void around_name_columns(figure *f, const show_sentence *g, int64_t query)
{
    char text[SHOW_WORDS_MAX][90];
    const char *name[SHOW_WORDS_MAX];
    for (int i = 0; i < g->count; i++) {
        int64_t d = query - i;
        snprintf(text[i], sizeof text[i], d ? "%s %+" PRId64 : "%s %" PRId64, word_shorten(g->word[i]).text, d);
        name[i] = text[i];
    }
    figure_names(f, &f->x_names, name, g->count);
}

static void around_name_rows(figure *f, const show_request *r, words format, const int64_t *pick, int count)
{
    char text[SHOW_WORDS_MAX][40];
    const char *name[SHOW_WORDS_MAX];
    for (int i = 0; i < count; i++) {
        snprintf(text[i], sizeof text[i], say(format, r->language), (int)pick[i]);
        name[i] = text[i];
    }
    figure_names(f, &f->y_names, name, count);
}

static pe_status around_begin(figure **f, show_sheet *to, const show_sentence *g, int64_t query, const show_subject *s,
                              const show_request *r, unsigned hook, pe_error *err)
{
    TRY(show_figure(f, to, FIGURE_CELLS, s, err));
    show_title(*f, &show_view_around, s, r, hook);
    around_name_columns(*f, g, query);
    show_say(*f, &(*f)->x_label, r, (words){ "key and its distance", "键及其距离" });
    return PE_OK;
}

/* Blanks what a causal mask hides from the query. */
static void around_hide_ahead(double *v, int rows, const show_sentence *g, int64_t query)
{
    for (int i = 0; v && g->causal && i < rows; i++)
        for (int64_t j = query + 1; j < g->count; j++)
            v[i * g->count + j] = NAN;
}

static void around_caption(figure *f, const show_sentence *g, int64_t query, const show_request *r, words what)
{
    show_say(f, &f->caption, r,
             g->causal ? (words){ "Seen from “%s”, word %" PRId64 " counted from 0, under a causal mask: %s.",
                                  "加因果掩码，从“%s”（第 %" PRId64 " 个词，从 0 数）看：%s。" }
                       : (words){ "Seen from “%s”, word %" PRId64 " counted from 0: %s.",
                                  "从“%s”（第 %" PRId64 " 个词，从 0 数）看：%s。" },
             word_shorten(g->word[query]).text, query, say(what, r->language));
}

static pe_status around_codes(show_sheet *to, const show_sentence *g, int64_t query, const show_subject *s,
                              const show_request *r, pe_error *err)
{
    figure *f;
    double *code;
    int64_t width;
    TRY(show_codes(&code, &width, s, g->path.where, err));
    TRY(around_begin(&f, to, g, query, s, r, PE_HOOK_EMBED, err));
    const double *own = code + query * width;
    double norm = show_dot(own, own, width), *v = figure_cells(f, 1, g->count);
    for (int i = 0; v && i < g->count; i++)
        v[i] = show_dot(own, code + i * width, width) / (norm != 0 ? norm : 1);
    around_hide_ahead(v, 1, g, query);
    figure_names(f, &f->y_names, (const char *[]){ "p(i)·p(j)" }, 1);
    around_caption(f, g, query, r,
                   norm != 0 ? (words){ "the similarity of its code to the code of every word, 1 at itself",
                                        "每个词处与自身编码的相似程度，自身处为 1" }
                             : (words){ "the dot product of its code and every other; its own is zero",
                                        "自身编码与各词编码的点积；自身编码为零" });
    return PE_OK;
}

/* cos of the angle between the query's rotation and the key's, pair by pair, magnitudes included. */
static pe_status around_rotations(show_sheet *to, const show_sentence *g, int64_t query, const show_subject *s,
                                  const show_request *r, pe_error *err)
{
    figure *f;
    double *rotations;
    int64_t pairs, pick[SHOW_LINES_MAX], n = g->count;
    int picked;
    TRY(show_rotations(&rotations, &pairs, s, g->path.where, err));
    TRY(show_pick(pick, &picked, r, pairs, SHOW_LINES_MAX, true, "pair", err));
    TRY(around_begin(&f, to, g, query, s, r, PE_HOOK_ROTATE, err));
    double *sine = rotations + n * pairs, *v = figure_cells(f, picked, (int)n);
    for (int i = 0; v && i < picked; i++)
        for (int64_t j = 0; j < n; j++)
            v[i * n + j] = rotations[query * pairs + pick[i]] * rotations[j * pairs + pick[i]] +
                           sine[query * pairs + pick[i]] * sine[j * pairs + pick[i]];
    around_hide_ahead(v, picked, g, query);
    f->midpoint = true;
    around_name_rows(f, r, (words){ "pair %d", "第 %d 对" }, pick, picked);
    around_caption(f, g, query, r,
                   (words){ "the cosine of the angle between the rotation of each pair here and at every word",
                            "每一对相对于各词处同一对所转角度的余弦" });
    return PE_OK;
}

/* With values above and below 0, the middle of the colours is 0. */
static bool has_both_signs(const double *v, int64_t count)
{
    bool above = false, below = false;
    for (int64_t i = 0; v && i < count; i++) {
        above = above || v[i] > 0;
        below = below || v[i] < 0;
    }
    return above && below;
}

static pe_status around_terms(show_sheet *to, const show_sentence *g, int64_t query, const show_subject *s,
                              const show_request *r, pe_error *err)
{
    figure *f;
    double *term;
    int64_t n = g->count, pick[SHOW_LINES_MAX];
    int heads = show_pick_heads(pick, SHOW_LINES_MAX, s->shape.heads);
    TRY(show_terms(&term, s, r, path_one(&g->path, query), g->path.where, g->causal, err));
    TRY(around_begin(&f, to, g, query, s, r, PE_HOOK_BIAS, err));
    double *v = figure_cells(f, heads, (int)n);
    for (int i = 0; v && i < heads; i++)
        memcpy(v + i * n, term + pick[i] * n, (size_t)n * sizeof *v);
    f->midpoint = has_both_signs(v, heads * n);
    around_name_rows(f, r, (words){ "head %d", "第 %d 头" }, pick, heads);
    around_caption(f, g, query, r,
                   (words){ "what each head adds to the score of every word", "每个头给各词的分数加多少" });
    return PE_OK;
}

static pe_status around_make(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    show_sentence g;
    int64_t query;
    TRY(sentence_new(&g, s, r, err));
    TRY(path_point(&query, &g.path, r, g.causal ? g.count - 1 : g.count / 2, err));
    if (s->hooks & PE_HOOK_EMBED)
        TRY(around_codes(to, &g, query, s, r, err));
    if (s->hooks & PE_HOOK_ROTATE)
        TRY(around_rotations(to, &g, query, s, r, err));
    return s->hooks & SHOW_HOOKS_SCORE ? around_terms(to, &g, query, s, r, err) : PE_OK;
}

const show_view show_view_around = {
    .name = "around",
    .title = { "Seen from one word", "从一个词看出去" },
    .about = { "What the encoding tells one word of a sentence about the positions of the others.",
               "编码告诉句中一个词的、关于其他词位置的信息。" },
    .hooks = PE_HOOK_EMBED | PE_HOOK_ROTATE | PE_HOOK_CONTENT | PE_HOOK_BIAS,
    .asks = "sentence|at|pairs|causal",
    .make = around_make,
};
