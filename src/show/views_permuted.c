/* SPDX-License-Identifier: MIT
 *
 * Words that change places. The view `permuted`: the attention of the permuted words beside P S P^T; `pooled`: what a
 * classifier or a decoder gets of both orders. */
#include "show/views.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- permuted: P, S and P S P^T */

/* The word that comes to position i: the last one comes first, and the others move on by one. From three words on that
 * is not its own inverse, so that P and P^T differ. */
static int permuted_from(int i, int n)
{
    return (i + n - 1) % n;
}

static show_sentence sentence_permuted(const show_sentence *g)
{
    show_sentence moved = *g;
    for (int i = 0; i < g->count; i++)
        moved.word[i] = g->word[permuted_from(i, g->count)];
    return moved;
}

/* P S P^T of that P. */
static void matrix_permute(double *out, const double *in, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            out[i * n + j] = in[permuted_from(i, n) * n + permuted_from(j, n)];
}

/* The largest difference; rounding counts as none. */
static double numbers_apart(const double *a, const double *b, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most < 1e-9 ? 0 : most;
}

/* Figures that do not depend on the encoding stand once on a sheet. */
static bool permuted_is_drawn(const show_sheet *to, words title, const show_request *r)
{
    for (int i = 0; i < to->count; i++)
        if (to->figure[i]->title && !strcmp(to->figure[i]->title, say(title, r->language)))
            return true;
    return false;
}

static pe_status permuted_draw(figure **out, show_sheet *to, const show_subject *s, const show_request *r,
                               const double *value, const show_sentence *rows, const show_sentence *columns,
                               words title, pe_error *err)
{
    int n = rows->count;
    TRY(show_figure(out, to, FIGURE_CELLS, s, err));
    double *p = figure_cells(*out, n, n);
    if (p)
        memcpy(p, value, (size_t)n * (size_t)n * sizeof *p);
    (*out)->high = 1;
    show_say(*out, &(*out)->title, r, title);
    figure_names(*out, &(*out)->x_names, columns->word, n);
    figure_names(*out, &(*out)->y_names, rows->word, n);
    return PE_OK;
}

/* Leaves out what the mask of S hides; moved: where P S P^T has it. */
static void permuted_hide(figure *f, bool moved)
{
    int n = f->rows;
    for (int i = 0; i < n; i++)
        for (int j = 0; f->value && j < n; j++)
            if ((moved ? permuted_from(j, n) : j) > (moved ? permuted_from(i, n) : i))
                f->value[i * n + j] = NAN;
}

static pe_status permuted_draw_p(show_sheet *to, const show_subject *s, const show_request *r, const show_sentence *g,
                                 const show_sentence *moved, pe_error *err)
{
    static const words title = { "P: the last word comes first", "P：最后一个词移到最前" };
    figure *f;
    double *p;
    int n = g->count;
    if (permuted_is_drawn(to, title, r))
        return PE_OK;
    TRY(show_memory(&p, s, n, n, err));
    for (int i = 0; i < n; i++)
        p[i * n + permuted_from(i, n)] = 1;
    TRY(permuted_draw(&f, to, s, r, p, moved, g, title, err));
    f->certain = true;
    show_say(f, &f->caption, r,
             (words){ "Row i has its 1 at the word that comes to position i: the last one to the first position, each "
                      "other one a position on.",
                      "第 i 行的 1 在换到位置 i 的词上：最后一个词移到最前，其余各词后移一位。" });
    return PE_OK;
}

/* S in order, and P S P^T. */
static pe_status permuted_draw_s(show_sheet *to, const show_subject *s, const show_request *r, const show_sentence *g,
                                 const show_sentence *moved, const double *in_order, const double *expected,
                                 pe_error *err)
{
    static const words titles[] = { { "S: attention without the encoding", "S：不加编码的注意力" },
                                    { "P S P^T", "P S P^T：置换后的 S" } };
    figure *f;
    if (permuted_is_drawn(to, titles[0], r))
        return PE_OK;
    TRY(permuted_draw(&f, to, s, r, in_order, g, g, titles[0], err));
    show_say(f, &f->caption, r, show_attention_rows(g->causal), "");
    if (g->causal)
        permuted_hide(f, false);
    TRY(permuted_draw(&f, to, s, r, expected, moved, moved, titles[1], err));
    show_say(f, &f->caption, r,
             g->causal ? (words){ "S with its rows and its columns permuted, and so with its mask.",
                                  "行和列都置换后的 S，掩码也跟着换了位置。" }
                       : (words){ "S with its rows and its columns permuted.", "行和列都置换后的 S。" });
    if (g->causal)
        permuted_hide(f, true);
    return PE_OK;
}

/* The attention of the permuted words, which is or is not P S P^T. */
static pe_status permuted_draw_moved(show_sheet *to, const show_subject *s, const show_request *r,
                                     const show_sentence *moved, const double *value, bool with, double apart,
                                     pe_error *err)
{
    static const words titles[] = { { "Without the encoding, words permuted", "不加编码，词置换后" },
                                    { "With the encoding, words permuted", "加上编码，词置换后" } };
    static const words same = { "It is P S P^T: attention takes a set, and the words only change places.",
                                "它就是 P S P^T：注意力看到的是集合，词只是换了位置。" };
    static const words mask = { "It is not P S P^T: they are up to %.3g apart. The causal mask alone breaks the symmetry, "
                                "as each word sees other words.",
                                "它不是 P S P^T：两者最多相差 "
                                "%.3g。仅因果掩码就打破了对称：每个词看到的词变了。" };
    static const words other = { "It is not P S P^T of the attention with the encoding: they are up to %.3g apart.",
                                 "它不是加上编码后的 P S P^T：两者最多相差 %.3g。" };
    figure *f;
    if (!with && permuted_is_drawn(to, titles[0], r))
        return PE_OK;
    TRY(permuted_draw(&f, to, s, r, value, moved, moved, titles[with], err));
    if (apart > 0)
        show_say(f, &f->caption, r, with ? other : mask, apart);
    else
        show_say(f, &f->caption, r, same);
    if (moved->causal)
        permuted_hide(f, false);
    return PE_OK;
}

/* With no encoding, attention with it would be the same once more. */
static pe_status permuted_make(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    show_sentence g;
    double *m;
    TRY(sentence_new(&g, s, r, err));
    show_sentence moved = sentence_permuted(&g);
    int n = g.count;
    TRY(show_memory(&m, s, 3 * n, n, err)); /* S, S of the permuted words, P S P^T */
    double *in_order = m, *permuted = m + n * n, *expected = permuted + n * n;
    TRY(permuted_draw_p(to, s, r, &g, &moved, err));
    for (int with = 0; with < (s->hooks ? 2 : 1); with++) {
        TRY(show_attend(in_order, &g, with, s, r, err));
        TRY(show_attend(permuted, &moved, with, s, r, err));
        matrix_permute(expected, in_order, n);
        if (!with)
            TRY(permuted_draw_s(to, s, r, &g, &moved, in_order, expected, err));
        TRY(permuted_draw_moved(to, s, r, &moved, permuted, with, numbers_apart(permuted, expected, (int64_t)n * n),
                                err));
    }
    return PE_OK;
}

const show_view show_view_permuted = {
    .name = "permuted",
    .title = { "Words that change places", "词换了位置" },
    .about = { "The permutation P of a sentence (its last word comes first), its attention S without the encoding, "
               "P S P^T, and the attention of the permuted words: without an encoding and a mask both are the same.",
               "一句话的置换 P（最后一个词移到最前）、不加编码的注意力 S、P S "
               "P^T，以及置换后的词的注意力：没有位置编码和掩码时后两者相同。" },
    .random = true,
    .asks = "sentence|head|causal",
    .make = permuted_make,
};

/* ---------------------------------------------------------------- pooled: what reaches a classifier or a decoder */

enum { POOLED_SHOWN = 32 };

/* out (C): the mean of all outputs; or, cross, the output of the last word as a query that attends to the others. The
 * value of a word is its vector. */
static void pool_outputs(double *out, const double *prob, const double *x, int n, int64_t C, bool cross)
{
    int keys = cross ? n - 1 : n;
    memset(out, 0, (size_t)C * sizeof *out);
    for (int i = cross ? n - 1 : 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < keys; j++)
            sum += prob[i * n + j];
        for (int j = 0; j < keys; j++)
            for (int64_t c = 0; c < C; c++)
                out[c] += prob[i * n + j] / sum * x[j * C + c] / (cross ? 1 : n);
    }
}

/* The words in reverse order, at the same positions. */
static show_sentence sentence_reversed(const show_sentence *g)
{
    show_sentence back = *g;
    for (int i = 0; i < g->count; i++)
        back.word[i] = g->word[g->count - 1 - i];
    return back;
}

/* Keys in reverse order; the query of cross-attention, which is the last word, stays. */
static show_sentence pooled_reversed(const show_sentence *g, bool cross)
{
    show_sentence keys = *g, back;
    keys.count -= cross;
    back = sentence_reversed(&keys);
    back.count = g->count;
    if (cross)
        back.word[g->count - 1] = g->word[g->count - 1];
    return back;
}

static pe_status pooled_line(figure *f, double *out, const show_sentence *g, bool with, bool cross, words name,
                             const show_subject *s, const show_request *r, pe_error *err)
{
    int64_t C = s->shape.model_dim;
    double *prob, *x;
    TRY(show_memory(&prob, s, g->count, g->count, err));
    TRY(show_memory(&x, s, g->count, C, err));
    show_word_vectors(x, g, r, C);
    TRY(show_attend(prob, g, with, s, r, err));
    pool_outputs(out, prob, x, g->count, C, cross);
    double *y = figure_add_series(f, say(name, r->language), NULL, C < POOLED_SHOWN ? (int)C : POOLED_SHOWN);
    for (int64_t c = 0; y && c < C && c < POOLED_SHOWN; c++)
        y[c] = out[c];
    return PE_OK;
}

static pe_status pooled_figure(show_sheet *to, const show_sentence *g, bool cross, const show_subject *s,
                               const show_request *r, pe_error *err)
{
    static const words names[2][2] = {
        { { "without, in order", "不加编码，原顺序" }, { "without, reversed", "不加编码，倒过来" } },
        { { "with, in order", "加上编码，原顺序" }, { "with, reversed", "加上编码，倒过来" } }
    };
    figure *f;
    int64_t C = s->shape.model_dim;
    double *out, apart[2];
    show_sentence back = pooled_reversed(g, cross);
    TRY(show_figure(&f, to, FIGURE_LINES, s, err));
    TRY(show_memory(&out, s, 2, C, err));
    for (int with = 0; with < 2; with++) {
        TRY(pooled_line(f, out, g, with, cross, names[with][0], s, r, err));
        TRY(pooled_line(f, out + C, &back, with, cross, names[with][1], s, r, err));
        f->series[f->series_count - 1].dashed = true;
        apart[with] = numbers_apart(out, out + C, C);
    }
    show_say(f, &f->title, r,
             cross ? (words){ "Cross-attention: the output of one query", "交叉注意力：一个查询的输出" }
                   : (words){ "Pooling: the mean of all outputs", "池化：所有输出的平均" });
    show_say(f, &f->x_label, r, (words){ "dimension", "维度" });
    show_say(f, &f->caption, r,
             g->causal
                 ? (words){ "Under a causal mask, when the words are reversed it changes by up to %.3g without the "
                            "encoding, and by up to %.3g with it.",
                            "在因果掩码下，词倒过来时，不加编码最多改变 %.3g，加上编码最多改变 %.3g。" }
                 : (words){ "When the words are reversed it changes by up to %.3g without the encoding, and by up to "
                            "%.3g with it.",
                            "词倒过来时，不加编码最多改变 %.3g，加上编码最多改变 %.3g。" },
             apart[0], apart[1]);
    return PE_OK;
}

static pe_status pooled_make(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    show_sentence g;
    TRY(sentence_new(&g, s, r, err));
    TRY(pooled_figure(to, &g, false, s, r, err));
    return g.count > 1 ? pooled_figure(to, &g, true, s, r, err) : PE_OK;
}

const show_view show_view_pooled = {
    .name = "pooled",
    .title = { "Pooling and cross-attention", "池化与交叉注意力" },
    .about = { "What a classifier or a decoder gets of a sentence, in order and reversed: the mean of all outputs, and "
               "the "
               "output of one query, the last word, that attends to the others.",
               "分类器或解码器从一句话得到的向量，原顺序与倒过来：所有输出的平均，以及一个查询（最后一个词）对其余词的"
               "输出。" },
    .random = true,
    .asks = "sentence|head|causal",
    .make = pooled_make,
};
