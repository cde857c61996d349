/* SPDX-License-Identifier: MIT
 *
 * words -> contents (+ codes) -> q, k of one head -> the library's attention. */
#include "show/attend.h"

#include "base/random.h"
#include "io/io.h"
#include "zoo/look.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WEIGHTS_MAX (1 << 21) /* of one projection */

enum { STREAM_WORDS = 2, STREAM_Q, STREAM_K };

typedef struct layer {
    double *x, *embedded; /* (T, C), (T, width) */
    double *q, *k;        /* (T, H, D), (T, Hkv, D): zero but for the one head */
    double *prob;         /* (T, H, T) */
    int64_t width;
} layer;

static void layer_free(layer *l)
{
    free(l->x);
    free(l->embedded);
    free(l->q);
    free(l->k);
    free(l->prob);
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
    return show_memory(&l->prob, T * H, T, err);
}

static uint64_t name_of(const char *word, uint64_t seed)
{
    io_hash h = io_hash_start(seed);
    io_hash_add(&h, word, strlen(word));
    return io_hash_end(&h);
}

static void fill(layer *l, const show_sentence *w, const show_request *r, int64_t model)
{
    for (int64_t t = 0; t < w->count; t++)
        for (int64_t c = 0; c < model; c++)
            l->x[t * model + c] = random_normal(name_of(w->word[t], random_at(r->seed, STREAM_WORDS)), (uint64_t)c);
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

static void project_words(layer *l, const show_subject *s, const show_request *r, int64_t T)
{
    int64_t H = s->shape.heads, Hkv = s->shape.kv_heads;
    project(l->q, l->embedded, s, T, l->width, H, r->head, random_at(r->seed, STREAM_Q), factor_of_queries(s));
    project(l->k, l->embedded, s, T, l->width, Hkv, r->head / (H / Hkv), random_at(r->seed, STREAM_K), 1);
}

/* prob (T, H, T), with the encoding or with none of the same shape. */
static pe_status attend(const layer *l, const show_subject *s, pe_positions where, bool with, bool causal,
                        pe_error *err)
{
    int64_t T = where.tokens, H = s->shape.heads, D = s->shape.head_dim;
    pe_attention a = PE_MAKE(pe_attention, .q = pe_view_of(l->q, PE_F64, 1, T, H, D),
                             .k = pe_view_of(l->k, PE_F64, 1, T, s->shape.kv_heads, D), .q_at = where, .k_at = where,
                             .mask.causal = causal, .probabilities = pe_view_of(l->prob, PE_F64, 1, T, H, T));
    if (with)
        return zoo_look(s->e, a, s->params, err);
    pe_encoding *none;
    SHOW_TRY(pe_encoding_new(&none, zoo_look_plain(), s->shape, err));
    a.q_at = a.k_at = pe_positions_run(1, T, 0);
    a.scale = scale_without(s);
    pe_status status = zoo_look(none, a, (pe_params){ 0 }, err);
    pe_encoding_free(none);
    return status;
}

pe_status attend_words(double *prob, const show_sentence *w, const show_subject *s, const show_request *r,
                       pe_positions where, bool with, bool causal, pe_error *err)
{
    layer l = { 0 };
    int64_t T = w->count, H = s->shape.heads;
    pe_status status = layer_new(&l, s, T, err);
    if (!status) {
        fill(&l, w, r, s->shape.model_dim);
        status = embed(&l, s, where, with, err);
    }
    if (!status) {
        project_words(&l, s, r, T);
        status = attend(&l, s, where, with, causal, err);
    }
    for (int64_t i = 0; !status && i < T; i++)
        memcpy(prob + i * T, l.prob + (i * H + r->head) * T, (size_t)T * sizeof *prob);
    layer_free(&l);
    return status;
}
