/* SPDX-License-Identifier: MIT
 *
 * The view `attention`: one head on a sentence, without the encoding and with it; `permuted` and `pooled`: the same
 * when the words change places. words -> contents (+ codes) -> q, k of one head -> the library's attention. */
#include "show/views.h"

#include "base/random.h"
#include "io/io.h"
#include "zoo/look.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define WEIGHTS_MAX (1 << 21) /* of one projection */

enum { STREAM_WORDS = 2, STREAM_Q, STREAM_K, STREAM_GATES, STREAM_RELATIVE };

#define GATE_BIAS 2 /* a word of average size forgets an eighth */

typedef struct layer {
    double *x, *embedded; /* (T, C), (T, width) */
    double *q, *k;        /* (T, H, D), (T, Hkv, D): zero but for the one head */
    double *gates;        /* (T, H): c, where the encoding takes gates */
    double *relative;     /* (T, H, R), where it takes vectors */
    double *prob;         /* (T, H, T) */
    int64_t width;
} layer;

static pe_status layer_new(layer *l, const show_subject *s, int64_t T, pe_error *err)
{
    int64_t H = s->shape.heads, Hkv = s->shape.kv_heads, D = s->shape.head_dim;
    l->width = pe_embed_width(s->e, s->shape.model_dim);
    if (l->width > WEIGHTS_MAX / D)
        return io_fail(err, PE_ERR_RANGE,
                       "attention: random projections of %" PRId64 " times %" PRId64
                       " are too many numbers for a picture; needs %d or less",
                       l->width, D, WEIGHTS_MAX);
    TRY(show_memory(&l->x, s, T, s->shape.model_dim, err));
    TRY(show_memory(&l->embedded, s, T, l->width, err));
    TRY(show_memory(&l->q, s, T, H * D, err));
    TRY(show_memory(&l->k, s, T, Hkv * D, err));
    TRY(show_memory(&l->gates, s, T, H, err));
    TRY(show_memory(&l->relative, s, T, H * pe_encoding_inputs(s->e).relative, err));
    return show_memory(&l->prob, s, T * H, T, err);
}

static uint64_t word_hash(const char *word, uint64_t seed)
{
    io_hash h = io_hash_start(seed);
    io_hash_add(&h, word, strlen(word));
    return io_hash_end(&h);
}

static void layer_fill(layer *l, const show_sentence *w, const show_request *r, int64_t model)
{
    for (int64_t t = 0; t < w->count; t++)
        for (int64_t c = 0; c < model; c++)
            l->x[t * model + c] = random_normal(word_hash(w->word[t], random_at(r->seed, STREAM_WORDS)), (uint64_t)c);
}

/* Without the encoding, zeros stand where it would concatenate its code, so that the projections are the same. */
static pe_status layer_embed(layer *l, const show_subject *s, pe_positions where, bool with, pe_error *err)
{
    int64_t T = where.tokens, C = s->shape.model_dim;
    for (int64_t t = 0; t < T; t++)
        memcpy(l->embedded + t * l->width, l->x + t * C, (size_t)C * sizeof *l->x);
    if (!with)
        return PE_OK;
    return pe_embed(s->e, pe_view_of(l->embedded, PE_F64, 1, T, 1, l->width), pe_view_of(l->x, PE_F64, 1, T, 1, C),
                    where, &PE_MAKE(pe_run, .params = s->params), err);
}

/* Where an encoding does not scale scores, the usual scale is part of the query projection. */
static double layer_query_factor(const show_subject *s)
{
    return pe_encoding_scale(s->e) == 1 ? 1 / sqrt((double)s->shape.head_dim) : 1;
}

static double layer_scale_without(const show_subject *s)
{
    return pe_encoding_scale(s->e) == 1 ? 1 : 1 / sqrt((double)s->shape.head_dim);
}

/* y (T, heads, D) of one head = x (T, width) times a random matrix of variance factor^2/C. */
static void layer_project_head(double *y, const double *x, const show_subject *s, int64_t T, int64_t width,
                               int64_t heads, int64_t D, int64_t head, uint64_t stream, double factor)
{
    double scale = factor / sqrt((double)s->shape.model_dim);
    for (int64_t c = 0; c < width; c++)
        for (int64_t d = 0; d < D; d++) {
            double weight = scale * random_normal(random_at(stream, (uint64_t)head), (uint64_t)(c * D + d));
            for (int64_t t = 0; t < T; t++)
                y[(t * heads + head) * D + d] += x[t * width + c] * weight;
        }
}

static void layer_project(layer *l, const show_subject *s, const show_request *r, int64_t T)
{
    int64_t H = s->shape.heads, Hkv = s->shape.kv_heads, D = s->shape.head_dim, R = pe_encoding_inputs(s->e).relative;
    layer_project_head(l->q, l->embedded, s, T, l->width, H, D, r->head, random_at(r->seed, STREAM_Q),
                       layer_query_factor(s));
    layer_project_head(l->k, l->embedded, s, T, l->width, Hkv, D, r->head / (H / Hkv), random_at(r->seed, STREAM_K), 1);
    layer_project_head(l->gates, l->embedded, s, T, l->width, H, 1, r->head, random_at(r->seed, STREAM_GATES), 1);
    layer_project_head(l->relative, l->embedded, s, T, l->width, H, R, r->head, random_at(r->seed, STREAM_RELATIVE), 1);
    for (int64_t t = 0; t < T; t++) /* log sigmoid, summed up */
        l->gates[t * H + r->head] =
            (t ? l->gates[(t - 1) * H + r->head] : 0) - log1p(exp(-GATE_BIAS - l->gates[t * H + r->head]));
}

/* prob (T, H, T), with the encoding or with none of the same shape. */
static pe_status layer_attend(const layer *l, const show_sentence *w, bool with, const show_subject *s, pe_error *err)
{
    pe_positions where = w->path.where;
    int64_t T = where.tokens, H = s->shape.heads, D = s->shape.head_dim;
    pe_attention a = PE_MAKE(pe_attention, .q = pe_view_of(l->q, PE_F64, 1, T, H, D),
                             .k = pe_view_of(l->k, PE_F64, 1, T, s->shape.kv_heads, D), .q_at = where, .k_at = where,
                             .mask.causal = w->causal, .probabilities = pe_view_of(l->prob, PE_F64, 1, T, H, T));
    pe_inputs in = pe_encoding_inputs(s->e);
    if (with && in.gates)
        a.q_gates = a.k_gates = pe_view_of(l->gates, PE_F64, 1, T, H, 1);
    if (with && in.relative)
        a.relative = pe_view_of(l->relative, PE_F64, 1, T, H, in.relative);
    if (with)
        return zoo_look(s->e, a, s->params, err);
    pe_encoding *none;
    TRY(pe_encoding_new(&none, zoo_look_plain(), s->shape, err));
    a.q_at = a.k_at = pe_positions_run(1, T, 0);
    a.scale = layer_scale_without(s);
    pe_status status = zoo_look(none, a, (pe_params){ 0 }, err);
    pe_encoding_free(none);
    return status;
}

/* prob (T, T): what each word attends to, by the request's head, whose projections are drawn with the seed. Equal words
 * have equal contents. with: with the encoding. */
static pe_status attend_sentence(double *prob, const show_sentence *w, bool with, const show_subject *s,
                                 const show_request *r, pe_error *err)
{
    layer l = { 0 };
    int64_t T = w->count, H = s->shape.heads;
    TRY(layer_new(&l, s, T, err));
    layer_fill(&l, w, r, s->shape.model_dim);
    TRY(layer_embed(&l, s, w->path.where, with, err));
    layer_project(&l, s, r, T);
    TRY(layer_attend(&l, w, with, s, err));
    for (int64_t i = 0; i < T; i++)
        memcpy(prob + i * T, l.prob + (i * H + r->head) * T, (size_t)T * sizeof *prob);
    return PE_OK;
}

/* ---------------------------------------------------------------- the view */

/* The largest difference between what two equal words attend to; -1: no word comes twice. */
static double attention_between_equals(const double *p, const show_sentence *w)
{
    double most = -1;
    for (int a = 0; a < w->count; a++)
        for (int b = a + 1; b < w->count; b++)
            for (int j = 0; !strcmp(w->word[a], w->word[b]) && j < w->count; j++)
                most = fmax(most, fabs(p[a * w->count + j] - p[b * w->count + j]));
    return most;
}

/* Equal words may attend differently by the mask alone, as each of them sees other words; the caption tells which. */
static words attention_of_equals(double apart, bool with, bool causal)
{
    if (!(apart > 0))
        return (words){ " Equal words attend alike: nothing tells them apart.", "相同的词注意力完全一样：无法区分。" };
    if (causal && !with)
        return (words){ " Equal words attend differently, by up to %.3g, by the mask alone: each sees other words.",
                        "相同的词注意力不同，最多相差 %.3g，这只来自掩码：它们各自看到的词不同。" };
    return (words){ " Equal words attend differently, by up to %.3g.", "相同的词注意力不同，最多相差 %.3g。" };
}

/* What a row is, before what is said of them. */
static words attention_rows(bool causal)
{
    return causal ? (words){ "Causal mask: each row is one word's attention to itself and the words before it, and sums "
                             "to 1.%s",
                             "因果掩码：每一行是一个词对自己和前面各词的注意力，和为 1。%s" }
                  : (words){ "Each row is one word's attention, and sums to 1.%s",
                             "每一行是一个词的注意力，和为 1。%s" };
}

static void attention_caption(figure *f, const double *p, const show_sentence *g, bool with, const show_request *r)
{
    double apart = attention_between_equals(p, g);
    apart = apart >= 0 && apart < 1e-9 ? 0 : apart; /* without the rounding */
    char text[200];
    snprintf(text, sizeof text, say(attention_of_equals(apart, with, g->causal), r->language), apart);
    show_say(f, &f->caption, r, attention_rows(g->causal), apart < 0 ? "" : text);
}

static pe_status attention_draw(show_sheet *to, const show_sentence *g, bool with, const show_subject *s,
                                const show_request *r, pe_error *err)
{
    figure *f;
    int n = g->count;
    TRY(show_figure(&f, to, FIGURE_CELLS, s, err));
    double *p = figure_cells(f, n, n);
    show_say(f, &f->title, r,
             with ? (words){ "Attention with the encoding, head %" PRId64, "加上编码的注意力（第 %" PRId64 " 头）" }
                  : (words){ "Attention without it, head %" PRId64, "不加编码的注意力（第 %" PRId64 " 头）" },
             r->head);
    show_say(f, &f->x_label, r, (words){ "key", "键" });
    show_say(f, &f->y_label, r, (words){ "query", "查询" });
    figure_names(f, &f->x_names, g->word, n);
    figure_names(f, &f->y_names, g->word, n);
    if (!p)
        return PE_OK; /* show_add asks the figure */
    TRY(attend_sentence(p, g, with, s, r, err));
    attention_caption(f, p, g, with, r);
    for (int i = 0; i < n * n; i++)
        f->high = fmax(f->high, p[i]);
    for (int i = 0; g->causal && i < n; i++)
        for (int j = i + 1; j < n; j++)
            p[i * n + j] = NAN;
    return PE_OK;
}

/* One scale for both, up to a quarter, a half, three quarters or 1, so that it seldom differs between encodings. */
static void attention_share_scale(figure *without, figure *with)
{
    double most = fmax(without->high, with->high);
    without->high = with->high = ceil(most * 4) / 4;
}

static pe_status attention_make(show_sheet *to, const show_subject *s, const show_request *r, pe_error *err)
{
    show_sentence g;
    TRY(sentence_new(&g, s, r, err));
    TRY(attention_draw(to, &g, false, s, r, err));
    TRY(attention_draw(to, &g, true, s, r, err));
    attention_share_scale(to->figure[to->count - 2], to->figure[to->count - 1]);
    return PE_OK;
}

const show_view show_view_attention = {
    .name = "attention",
    .title = { "Attention on a sentence", "一句话上的注意力" },
    .about = { "One head with random projections, without the encoding and with it: without, equal words attend alike "
               "at every position.",
               "一个随机投影的头，不加与加上编码的对比：不加编码时，相同的词无论在哪里注意力都一样。" },
    .random = true,
    .asks = "sentence|head|causal",
    .make = attention_make,
};

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
    show_say(f, &f->caption, r, attention_rows(g->causal), "");
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
        TRY(attend_sentence(in_order, &g, with, s, r, err));
        TRY(attend_sentence(permuted, &moved, with, s, r, err));
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
    double *prob;
    layer l = { 0 };
    TRY(show_memory(&prob, s, g->count, g->count, err));
    TRY(show_memory(&l.x, s, g->count, C, err));
    layer_fill(&l, g, r, C);
    TRY(attend_sentence(prob, g, with, s, r, err));
    pool_outputs(out, prob, l.x, g->count, C, cross);
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
