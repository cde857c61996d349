/* SPDX-License-Identifier: MIT
 *
 * Attention of one query: scores, weights and output by the library, and the steps that lead to the scores, each by the
 * library's own hook. */
#include "show/walk.h"
#include "zoo/turn_head.h"

#include "zoo/look.h"

#include <math.h>
#include <string.h>

/* Every head is given the same vectors; one of them is looked at. */
static pe_view same_for_heads(const walk_scene *s, const double *data, int64_t tokens, int64_t D)
{
    pe_view v = pe_view_of((void *)(uintptr_t)data, PE_F64, 1, tokens, 1, D);
    v.heads = s->heads;
    v.head_stride = 0;
    return v;
}

/* An encoding of one axis takes the first coordinate of words that have more. */
static pe_positions at_words(const walk_scene *s, const attending *a, int64_t first, int64_t count)
{
    pe_positions at = pe_positions_of(s->at + first * s->axes, PE_I64, 1, count, s->axes);
    at.axes = pe_encoding_axes(a->e);
    return at;
}

static pe_positions at_query(const walk_scene *s, const attending *a)
{
    return at_words(s, a, s->query, 1);
}

static pe_positions at_keys(const walk_scene *s, const attending *a)
{
    return at_words(s, a, 0, WORDS);
}

static pe_params params_of(const walk_scene *s, const attending *a)
{
    return a->e == s->e ? s->params : (pe_params){ 0 };
}

static pe_status turn_all(attending *a, const walk_scene *s, pe_error *err)
{
    size_t bytes = (size_t)a->D * sizeof *a->q;
    memcpy(a->q, a->from + s->query * a->D, bytes);
    for (int64_t t = 0; t < WORDS; t++) {
        memcpy(a->k + t * a->D, a->from + t * a->D, bytes);
        memcpy(a->v + t * a->D, a->from + t * a->D, bytes);
    }
    pe_view q = pe_view_of(a->q, PE_F64, 1, 1, 1, a->D), k = pe_view_of(a->k, PE_F64, 1, WORDS, 1, a->D), v = k;
    v.data = a->v;
    pe_params w = params_of(s, a);
    SHOW_TRY(zoo_turn_head(q, q, a->e, w, s->head, PE_QUERY, at_query(s, a), err));
    SHOW_TRY(zoo_turn_head(k, k, a->e, w, s->head, PE_KEY, at_keys(s, a), err));
    return zoo_turn_head(v, v, a->e, w, s->head, PE_VALUE, at_keys(s, a), err);
}

/* What a stage adds to the scores of the head that is followed. */
static pe_status add_terms(double out[WORDS], attending *a, const walk_scene *s, pe_stage stage, pe_error *err)
{
    double score[WALK_HEADS_MAX * WORDS] = { 0 }; /* (H, T) */
    pe_tile tile = { .size = sizeof(pe_tile),
                     .score = pe_view_of(score, PE_F64, 1, 1, s->heads, WORDS),
                     .q = same_for_heads(s, a->q, 1, a->D),
                     .k = same_for_heads(s, a->k, WORDS, a->D),
                     .q_at = at_query(s, a),
                     .k_at = at_keys(s, a),
                     .seen = s->seen };
    SHOW_TRY(pe_encoding_content(a->e, stage, params_of(s, a), &tile, err));
    SHOW_TRY(pe_encoding_bias(a->e, stage, params_of(s, a), &tile, err));
    memcpy(out, score + s->head * WORDS, WORDS * sizeof *out);
    return PE_OK;
}

static pe_status both_stages(attending *a, const walk_scene *s, pe_error *err)
{
    SHOW_TRY(add_terms(a->before, a, s, PE_BEFORE_SCALE, err));
    return add_terms(a->after, a, s, PE_AFTER_SCALE, err);
}

/* All keys; where the encoding has nothing for those ahead of the query, those up to it. */
static pe_status terms(attending *a, walk_scene *s, pe_error *err)
{
    memset(s->seen, 1, sizeof s->seen);
    pe_status status = both_stages(a, s, err);
    if (status != PE_ERR_POSITION || s->query == WORDS - 1)
        return status;
    s->hidden = true;
    for (int j = s->query + 1; j < WORDS; j++)
        s->seen[j] = 0;
    return both_stages(a, s, err);
}

static pe_status ask_library(attending *a, walk_scene *s, pe_error *err)
{
    double score[WALK_HEADS_MAX * WORDS], weight[WALK_HEADS_MAX * WORDS];
    pe_attention call = PE_MAKE(pe_attention, .out = pe_view_of(s->wide, PE_F64, 1, 1, s->heads, a->D),
                                .q = same_for_heads(s, a->from + s->query * a->D, 1, a->D),
                                .k = same_for_heads(s, a->from, WORDS, a->D),
                                .v = same_for_heads(s, a->from, WORDS, a->D), .q_at = at_query(s, a),
                                .k_at = at_keys(s, a), .mask.keep = pe_view_of(s->seen, PE_BOOL, 1, 1, 1, WORDS),
                                .scale = a->scale, .scores = pe_view_of(score, PE_F64, 1, 1, s->heads, WORDS),
                                .probabilities = pe_view_of(weight, PE_F64, 1, 1, s->heads, WORDS));
    SHOW_TRY(zoo_look(a->e, call, params_of(s, a), err));
    memcpy(a->score, score + s->head * WORDS, sizeof a->score);
    memcpy(a->weight, weight + s->head * WORDS, sizeof a->weight);
    memcpy(a->out, s->wide + s->head * a->D, (size_t)a->D * sizeof *a->out);
    return pe_unrotate(a->e, PE_OUTPUT, pe_view_of(a->sum, PE_F64, 1, 1, 1, a->D),
                       pe_view_of(a->out, PE_F64, 1, 1, 1, a->D), at_query(s, a), NULL, err);
}

/* Sums of up to 128 products round by 1e-13 of their largest. */
pe_status walk_scene_hold(const walk_scene *s, double shown, double library, double size, pe_error *err)
{
    if (fabs(shown - library) <= 1e-12 * size)
        return PE_OK;
    return io_fail(err, PE_ERR_UNSUITED, "%s: the steps lead to %s where the library has %s: please report this",
                   pe_encoding_spec(s->e), text_show(shown).text, text_show(library).text);
}

/* q.k of a key, and that the terms make the library's score of it. */
static pe_status hold_score(attending *a, const walk_scene *s, int j, pe_error *err)
{
    double size = 1 + fabs(a->before[j]) * a->scale + fabs(a->after[j]);
    for (int64_t d = 0; d < a->D; d++) {
        double product = a->q[d] * a->k[j * a->D + d];
        a->dot[j] += product;
        size += fabs(product) * a->scale;
    }
    double score = (a->dot[j] + a->before[j]) * a->scale + a->after[j];
    return s->seen[j] ? walk_scene_hold(s, score, a->score[j], size, err) : PE_OK;
}

static pe_status attend(attending *a, walk_scene *s, pe_error *err)
{
    a->scale = pe_encoding_scale(s->e); /* without the encoding too: what differs is what position does */
    SHOW_TRY(ask_library(a, s, err));
    for (int j = 0; j < WORDS; j++)
        SHOW_TRY(hold_score(a, s, j, err));
    return PE_OK;
}

pe_status walk_scene_attend(walk_scene *s, pe_error *err)
{
    s->with.e = s->e, s->with.from = s->y, s->with.D = s->D;
    s->plain.e = s->none, s->plain.from = s->x, s->plain.D = s->dim;
    SHOW_TRY(turn_all(&s->with, s, err));
    SHOW_TRY(terms(&s->with, s, err)); /* which finds out what is seen */
    SHOW_TRY(turn_all(&s->plain, s, err));
    SHOW_TRY(attend(&s->with, s, err));
    return attend(&s->plain, s, err);
}
