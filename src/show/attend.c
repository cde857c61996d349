/* SPDX-License-Identifier: MIT
 *
 * words -> contents (+ codes) -> q, k of one head -> turned -> scores -> softmax, by the library's hooks. */
#include "show/attend.h"

#include "base/random.h"
#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WEIGHTS_MAX (1 << 21) /* of one projection */

enum { STREAM_WORDS = 2, STREAM_Q, STREAM_K };

typedef struct layer {
    double *x, *embedded; /* (T, C), (T, width) */
    double *q, *k;        /* (T, H, D), (T, Hkv, D): zero but for the one head */
    double *score;        /* (T, H, T) */
    uint8_t *seen;        /* (T, T) */
    int64_t width;
} layer;

static void layer_free(layer *l)
{
    free(l->x);
    free(l->embedded);
    free(l->q);
    free(l->k);
    free(l->score);
    free(l->seen);
}

static pe_status layer_new(layer *l, const show_subject *s, int64_t T, pe_error *err)
{
    int64_t H = s->shape.heads, Hkv = s->shape.kv_heads, D = s->shape.head_dim;
    l->width = pe_embed_width(s->e, s->shape.model_dim);
    if (l->width > WEIGHTS_MAX / D)
        return io_fail(err, PE_ERR_RANGE,
                       "attention: random projections of %" PRId64 " times %" PRId64
                       " are too many numbers for a picture; needs %d or less",
                       l->width, D, WEIGHTS_MAX);
    SHOW_TRY(show_memory(&l->x, T, s->shape.model_dim, err));
    SHOW_TRY(show_memory(&l->embedded, T, l->width, err));
    SHOW_TRY(show_memory(&l->q, T, H * D, err));
    SHOW_TRY(show_memory(&l->k, T, Hkv * D, err));
    SHOW_TRY(show_memory(&l->score, T * H, T, err));
    l->seen = malloc(SHOW_WORDS_MAX * SHOW_WORDS_MAX);
    return l->seen ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for a sentence");
}

static uint64_t name_of(const char *word, uint64_t seed)
{
    io_hash h = io_hash_start(seed);
    io_hash_add(&h, word, strlen(word));
    return io_hash_end(&h);
}

static void fill(layer *l, const show_sentence *w, const show_request *r, int64_t model, bool causal)
{
    for (int64_t t = 0; t < w->count; t++)
        for (int64_t c = 0; c < model; c++)
            l->x[t * model + c] = random_normal(name_of(w->word[t], random_at(r->seed, STREAM_WORDS)), (uint64_t)c);
    for (int i = 0; i < w->count; i++)
        for (int j = 0; j < w->count; j++)
            l->seen[i * w->count + j] = !causal || j <= i;
}

/* Without the encoding what it would join is 0, so that the projections are the same. */
static pe_status embed(layer *l, const show_subject *s, pe_positions where, bool with, pe_error *err)
{
    int64_t T = where.tokens, C = s->shape.model_dim;
    for (int64_t t = 0; t < T; t++)
        memcpy(l->embedded + t * l->width, l->x + t * C, (size_t)C * sizeof *l->x);
    if (!with)
        return PE_OK;
    return pe_embed(s->e, pe_view_of(l->embedded, PE_F64, 1, T, 1, l->width), pe_view_of(l->x, PE_F64, 1, T, 1, C),
                    where, &PE_MAKE(pe_run, .params = s->params), err);
}

/* An encoding that wants its scores as they are has the usual scale in its projections. */
static double factor_of_queries(const show_subject *s)
{
    return pe_encoding_scale(s->e) == 1 ? 1 / sqrt((double)s->shape.head_dim) : 1;
}

static double scale_without(const show_subject *s)
{
    return pe_encoding_scale(s->e) == 1 ? 1 : 1 / sqrt((double)s->shape.head_dim);
}

/* y (T, heads, D) of one head = x (T, width) times a random matrix of variance factor^2/C. */
static void project(double *y, const double *x, const show_subject *s, int64_t T, int64_t width, int64_t heads,
                    int64_t head, uint64_t stream, double factor)
{
    int64_t D = s->shape.head_dim;
    double scale = factor / sqrt((double)s->shape.model_dim);
    for (int64_t c = 0; c < width; c++)
        for (int64_t d = 0; d < D; d++) {
            double weight = scale * random_normal(random_at(stream, (uint64_t)head), (uint64_t)(c * D + d));
            for (int64_t t = 0; t < T; t++)
                y[(t * heads + head) * D + d] += x[t * width + c] * weight;
        }
}

static pe_status turn(layer *l, const show_subject *s, pe_positions where, pe_error *err)
{
    int64_t T = where.tokens, D = s->shape.head_dim;
    pe_view q = pe_view_of(l->q, PE_F64, 1, T, s->shape.heads, D);
    pe_view k = pe_view_of(l->k, PE_F64, 1, T, s->shape.kv_heads, D);
    SHOW_TRY(pe_rotate(s->e, PE_QUERY, q, q, where, NULL, err));
    return pe_rotate(s->e, PE_KEY, k, k, where, NULL, err);
}

static pe_status score(layer *l, const show_subject *s, const show_request *r, pe_positions where, bool with,
                       pe_error *err)
{
    int64_t T = where.tokens, H = s->shape.heads, Hkv = s->shape.kv_heads, D = s->shape.head_dim;
    int64_t kv = r->head / (H / Hkv);
    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j < T; j++)
            l->score[(i * H + r->head) * T + j] =
                show_dot(l->q + (i * H + r->head) * D, l->k + (j * Hkv + kv) * D, D) * (with ? 1 : scale_without(s));
    if (!with)
        return PE_OK;
    return show_scores(s,
                       &(pe_tile){ .size = sizeof(pe_tile), .score = pe_view_of(l->score, PE_F64, 1, T, H, T),
                                   .q = pe_view_of(l->q, PE_F64, 1, T, H, D),
                                   .k = pe_view_of(l->k, PE_F64, 1, T, Hkv, D),
                                   .q_at = where,
                                   .k_at = where,
                                   .seen = l->seen },
                       err);
}

static void soften(double *prob, const double *score, const uint8_t *seen, int64_t n)
{
    double most = -INFINITY, sum = 0;
    for (int64_t j = 0; j < n; j++)
        most = seen[j] ? fmax(most, score[j]) : most;
    for (int64_t j = 0; j < n; j++)
        sum += prob[j] = seen[j] ? exp(score[j] - most) : 0;
    for (int64_t j = 0; j < n; j++)
        prob[j] /= sum;
}

static pe_status attend(double *prob, layer *l, const show_sentence *w, const show_subject *s, const show_request *r,
                        pe_positions where, bool with, pe_error *err)
{
    int64_t T = where.tokens, H = s->shape.heads, Hkv = s->shape.kv_heads;
    SHOW_TRY(embed(l, s, where, with, err));
    project(l->q, l->embedded, s, T, l->width, H, r->head, random_at(r->seed, STREAM_Q), factor_of_queries(s));
    project(l->k, l->embedded, s, T, l->width, Hkv, r->head / (H / Hkv), random_at(r->seed, STREAM_K), 1);
    if (with)
        SHOW_TRY(turn(l, s, where, err));
    SHOW_TRY(score(l, s, r, where, with, err));
    for (int64_t i = 0; i < T; i++)
        soften(prob + i * T, l->score + (i * H + r->head) * T, l->seen + i * w->count, T);
    return PE_OK;
}

pe_status attend_words(double *prob, const show_sentence *w, const show_subject *s, const show_request *r,
                       pe_positions where, bool with, bool causal, pe_error *err)
{
    layer l = { 0 };
    pe_status status = layer_new(&l, s, w->count, err);
    if (!status) {
        fill(&l, w, r, s->shape.model_dim, causal);
        status = attend(prob, &l, w, s, r, where, with, err);
    }
    layer_free(&l);
    return status;
}
