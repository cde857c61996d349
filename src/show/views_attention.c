/* SPDX-License-Identifier: MIT
 *
 * The view `attention`: one head on a sentence, without the encoding and with it. words -> contents (+ codes) -> q, k
 * of one head -> the library's attention. */
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

void show_word_vectors(double *x, const show_sentence *w, const show_request *r, int64_t model)
{
    for (int64_t t = 0; t < w->count; t++)
        for (int64_t c = 0; c < model; c++)
            x[t * model + c] = random_normal(word_hash(w->word[t], random_at(r->seed, STREAM_WORDS)), (uint64_t)c);
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

pe_status show_attend(double *prob, const show_sentence *w, bool with, const show_subject *s, const show_request *r,
                      pe_error *err)
{
    layer l = { 0 };
    int64_t T = w->count, H = s->shape.heads;
    TRY(layer_new(&l, s, T, err));
    show_word_vectors(l.x, w, r, s->shape.model_dim);
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

words show_attention_rows(bool causal)
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
    show_say(f, &f->caption, r, show_attention_rows(g->causal), apart < 0 ? "" : text);
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
    TRY(show_attend(p, g, with, s, r, err));
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
