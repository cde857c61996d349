/* SPDX-License-Identifier: MIT
 *
 * The case of a walk in numbers: three words, where they stand, their vectors, the encoding; and the attention of one
 * query, whose scores, weights and output are the library's, as are the steps that lead to the scores. */
#include "show/walk.h"

#include "base/random.h"
#include "zoo/look.h"
#include "zoo/rotation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *walk_word(const walk_scene *s, int word)
{
    static const words all[TOKENS] = { { "dog", "狗" }, { "bites", "咬" }, { "man", "人" } };
    return say(all[word], s->r->language);
}

#define PARAMS_MAX (INT64_C(1) << 24)

const int64_t *walk_scene_at(const walk_scene *s, int word)
{
    return s->at + word * s->axes;
}

/* ---------------------------------------------------------------- the encoding */

static pe_status scene_make_encoding(walk_scene *s, const char *spec, pe_error *err)
{
    const walk_request *r = s->r;
    pe_shape shape = { .heads = r->heads, .head_dim = r->dim, .model_dim = r->dim };
    TRY(pe_encoding_new(&s->e, spec, shape, err));
    s->D = pe_embed_width(s->e, r->dim);
    if (s->D < 0 || s->D > WIDTH_MAX)
        return io_fail(err, PE_ERR_SHAPE, "%s: with its codes a word is %" PRId64 " wide; a walk shows %d at most",
                       spec, s->D, WIDTH_MAX);
    shape.head_dim = s->D;
    if (s->D != r->dim) { /* codes that join make the heads wider */
        pe_encoding_free(s->e);
        TRY(pe_encoding_new(&s->e, spec, shape, err));
    }
    shape.head_dim = r->dim;
    return pe_encoding_new(&s->none, zoo_look_plain(), shape, err);
}

static pe_status scene_make_params(walk_scene *s, pe_error *err)
{
    int64_t count = pe_encoding_param_count(s->e);
    TRY(show_params_fit(s->e, s->r->params, err));
    if (!count)
        return PE_OK;
    if (count > PARAMS_MAX)
        return io_fail(err, PE_ERR_SHAPE, "%s has %" PRId64 " parameters; a walk takes %" PRId64 " at most",
                       pe_encoding_spec(s->e), count, PARAMS_MAX);
    s->params = (pe_params){ malloc((size_t)count * sizeof(double)), PE_F64, count };
    if (!s->params.data)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %" PRId64 " parameters", count);
    if (!s->r->params.count)
        return pe_encoding_init(s->e, s->params, s->r->seed, err);
    memcpy(s->params.data, s->r->params.data, (size_t)count * sizeof(double));
    return PE_OK;
}

/* ---------------------------------------------------------------- where the words stand */

static pe_status scene_check_count(const char *name, int count, int64_t axes, pe_error *err)
{
    if (count > 1 && count != axes)
        return io_fail(err, PE_ERR_SHAPE, "%s has %d coordinates; this encoding takes %" PRId64, name, count, axes);
    return PE_OK;
}

/* The third word stands between the two, or beside them where they are neighbours: before them unless that is below 0.
 */
static int64_t scene_third_place(int64_t query, int64_t key)
{
    int64_t low = query < key ? query : key, high = query < key ? key : query;
    if (high - low > 1)
        return low + (high - low) / 2;
    return low > 0 || low < -1 ? low - 1 : high + 1;
}

void walk_place(char text[PLACE_ROOM], const int64_t *at, int64_t axes)
{
    tell t = tell_into(text, PLACE_ROOM);
    for (int64_t a = 0; a < axes; a++)
        tell_say(&t, "%s%" PRId64, a ? "," : axes > 1 ? "(" : "", at[a]);
    tell_say(&t, "%s", axes > 1 ? ")" : "");
}

/* Sorts query, key and third word by their first coordinate. */
static void scene_order_tokens(walk_scene *s, int64_t at[TOKENS][PE_AXES_MAX])
{
    int rank[TOKENS] = { 0 };
    for (int i = 0; i < TOKENS; i++)
        for (int j = 0; j < TOKENS; j++)
            rank[i] += at[j][0] < at[i][0] || (at[j][0] == at[i][0] && j > i);
    for (int i = 0; i < TOKENS; i++)
        memcpy(s->at + rank[i] * s->axes, at[i], (size_t)s->axes * sizeof *at[i]);
    s->query = rank[0];
    s->key = rank[1];
    for (int i = 0; i < TOKENS; i++)
        walk_place(s->place[i], walk_scene_at(s, i), s->axes);
}

static pe_status scene_place_tokens(walk_scene *s, pe_error *err)
{
    const walk_request *r = s->r;
    int64_t at[TOKENS][PE_AXES_MAX] = { 0 };
    TRY(scene_check_count("the position", r->position_count, s->axes, err));
    TRY(scene_check_count("the key's position", r->other_count, s->axes, err));
    for (int64_t a = 0; a < s->axes; a++) {
        int64_t query = r->position[r->position_count > 1 ? a : 0];
        int64_t step_back = a < s->axes - 1 ? 1 : 2; /* near on all axes but the last: windows may be narrow */
        at[0][a] = query;
        at[1][a] = r->other_count                    ? r->other[r->other_count > 1 ? a : 0]
                   : query >= step_back || query < 0 ? query - step_back
                                                     : query + step_back;
        at[2][a] = a < s->axes - 1 ? query : scene_third_place(at[0][a], at[1][a]);
    }
    scene_order_tokens(s, at);
    return PE_OK;
}

/* ---------------------------------------------------------------- their vectors */

/* Draws numbers with one digit after the point, so that they are shown in full. */
static void scene_draw_tokens(walk_scene *s)
{
    for (int t = 0; t < TOKENS; t++)
        for (int64_t c = 0; c < s->dim; c++) {
            double u = random_uniform(s->r->seed + 1, (uint64_t)(t * WALK_DIM_MAX + c));
            s->x[t * s->dim + c] = floor(u * 31 - 15) / 10;
        }
}

/* What the encoding takes beside the words: numbers with one digit too. A gate forgets up to 1.5 of a score. */
static pe_status scene_draw_inputs(walk_scene *s, pe_error *err)
{
    s->R = pe_encoding_inputs(s->e).relative;
    if (s->R > WIDTH_MAX)
        return io_fail(err, PE_ERR_SHAPE, "%s: its input is %" PRId64 " wide; a walk shows %d at most",
                       pe_encoding_spec(s->e), s->R, WIDTH_MAX);
    for (int t = 0; t < TOKENS; t++) {
        double forgets = floor(1 + 15 * random_uniform(s->r->seed + 2, (uint64_t)t));
        s->gate[t] = (t ? round(s->gate[t - 1] * 10) : 0) / 10 - forgets / 10;
    }
    for (int64_t d = 0; d < s->R; d++)
        s->relative[d] = floor(random_uniform(s->r->seed + 3, (uint64_t)d) * 31 - 15) / 10;
    return PE_OK;
}

static pe_status scene_embed_tokens(walk_scene *s, pe_error *err)
{
    return pe_embed(s->e, pe_view_of(s->y, PE_F64, 1, TOKENS, 1, s->D), pe_view_of(s->x, PE_F64, 1, TOKENS, 1, s->dim),
                    pe_positions_of(s->at, PE_I64, 1, TOKENS, s->axes), &PE_MAKE(pe_run, .params = s->params), err);
}

/* What every question has. */
static pe_question scene_question(const walk_scene *s, int64_t element)
{
    return (pe_question){ .size = sizeof(pe_question),
                          .params = s->params,
                          .q_at = walk_scene_at(s, s->query),
                          .k_at = s->at,
                          .q = s->with.q,
                          .k = s->with.k,
                          .seen = s->seen,
                          .keys = TOKENS,
                          .head = s->head,
                          .element = element,
                          .q_gates = &s->gate[s->query],
                          .k_gates = s->gate,
                          .relative = s->relative };
}

static double scene_ask(walk_scene *s, int formula, const pe_question *asked, char *text, size_t room)
{
    double number = NAN;
    if (!s->failed.status)
        pe_encoding_tell(s->e, formula, asked, &number, text, room, &s->failed);
    return number;
}

double walk_scene_tell(walk_scene *s, int formula, int key, int64_t element, char *text, size_t room)
{
    pe_question asked = scene_question(s, element);
    asked.key = key;
    return scene_ask(s, formula, &asked, text, room);
}

double walk_scene_tell_pair(walk_scene *s, int formula, pe_side side, int word, int64_t pair, char *text, size_t room)
{
    pe_question asked = scene_question(s, pair);
    asked.q_at = walk_scene_at(s, word);
    asked.side = side;
    return scene_ask(s, formula, &asked, text, room);
}

/* ---------------------------------------------------------------- attention */

/* All heads get the same vectors; one head is followed. */
static pe_view scene_same_for_heads(const walk_scene *s, const double *data, int64_t tokens, int64_t D)
{
    pe_view v = pe_view_of((void *)(uintptr_t)data, PE_F64, 1, tokens, 1, D);
    v.heads = s->heads;
    v.head_stride = 0;
    return v;
}

static pe_status attending_rotate(attending *a, const walk_scene *s, pe_error *err)
{
    size_t bytes = (size_t)a->D * sizeof *a->q;
    memcpy(a->q, a->from + s->query * a->D, bytes);
    for (int64_t t = 0; t < TOKENS; t++) {
        memcpy(a->k + t * a->D, a->from + t * a->D, bytes);
        memcpy(a->v + t * a->D, a->from + t * a->D, bytes);
    }
    pe_view q = pe_view_of(a->q, PE_F64, 1, 1, 1, a->D), k = pe_view_of(a->k, PE_F64, 1, TOKENS, 1, a->D), v = k;
    v.data = a->v;
    TRY(zoo_rotate_head(q, q, a->e, a->params, s->head, PE_QUERY, a->q_at, err));
    TRY(zoo_rotate_head(k, k, a->e, a->params, s->head, PE_KEY, a->k_at, err));
    return zoo_rotate_head(v, v, a->e, a->params, s->head, PE_VALUE, a->k_at, err);
}

/* Asks what a stage adds to the scores of the head that is followed. */
static pe_status attending_add_terms(double out[TOKENS], attending *a, const walk_scene *s, pe_stage stage,
                                     pe_error *err)
{
    double score[WALK_HEADS_MAX * TOKENS] = { 0 }; /* (H, T) */
    pe_inputs in = pe_encoding_inputs(a->e);
    pe_tile tile = { .size = sizeof(pe_tile),
                     .score = pe_view_of(score, PE_F64, 1, 1, s->heads, TOKENS),
                     .q = scene_same_for_heads(s, a->q, 1, a->D),
                     .k = scene_same_for_heads(s, a->k, TOKENS, a->D),
                     .q_at = a->q_at,
                     .k_at = a->k_at,
                     .seen = s->seen };
    if (in.gates) {
        tile.q_gates = scene_same_for_heads(s, &s->gate[s->query], 1, 1);
        tile.k_gates = scene_same_for_heads(s, s->gate, TOKENS, 1);
    }
    if (in.relative)
        tile.relative = scene_same_for_heads(s, s->relative, 1, s->R);
    TRY(pe_encoding_content(a->e, stage, a->params, &tile, err));
    TRY(pe_encoding_bias(a->e, stage, a->params, &tile, err));
    memcpy(out, score + s->head * TOKENS, TOKENS * sizeof *out);
    return PE_OK;
}

static pe_status attending_both_stages(attending *a, const walk_scene *s, pe_error *err)
{
    TRY(attending_add_terms(a->before, a, s, PE_BEFORE_SCALE, err));
    return attending_add_terms(a->after, a, s, PE_AFTER_SCALE, err);
}

/* Takes all keys; where the encoding does not support keys ahead of the query, those up to it. */
static pe_status attending_terms(attending *a, walk_scene *s, pe_error *err)
{
    memset(s->seen, 1, sizeof s->seen);
    pe_status status = attending_both_stages(a, s, err);
    if (status != PE_ERR_POSITION || s->query == TOKENS - 1)
        return status;
    s->hidden = true;
    for (int j = s->query + 1; j < TOKENS; j++)
        s->seen[j] = 0;
    return attending_both_stages(a, s, err);
}

static pe_status attending_ask_library(attending *a, walk_scene *s, pe_error *err)
{
    double score[WALK_HEADS_MAX * TOKENS], weight[WALK_HEADS_MAX * TOKENS];
    pe_attention call = PE_MAKE(pe_attention, .out = pe_view_of(s->wide, PE_F64, 1, 1, s->heads, a->D),
                                .q = scene_same_for_heads(s, a->from + s->query * a->D, 1, a->D),
                                .k = scene_same_for_heads(s, a->from, TOKENS, a->D),
                                .v = scene_same_for_heads(s, a->from, TOKENS, a->D), .q_at = a->q_at, .k_at = a->k_at,
                                .mask.keep = pe_view_of(s->seen, PE_BOOL, 1, 1, 1, TOKENS), .scale = a->scale,
                                .scores = pe_view_of(score, PE_F64, 1, 1, s->heads, TOKENS),
                                .probabilities = pe_view_of(weight, PE_F64, 1, 1, s->heads, TOKENS));
    pe_inputs in = pe_encoding_inputs(a->e);
    if (in.gates) {
        call.q_gates = scene_same_for_heads(s, &s->gate[s->query], 1, 1);
        call.k_gates = scene_same_for_heads(s, s->gate, TOKENS, 1);
    }
    if (in.relative)
        call.relative = scene_same_for_heads(s, s->relative, 1, s->R);
    TRY(zoo_look(a->e, call, a->params, err));
    memcpy(a->score, score + s->head * TOKENS, sizeof a->score);
    memcpy(a->weight, weight + s->head * TOKENS, sizeof a->weight);
    memcpy(a->out, s->wide + s->head * a->D, (size_t)a->D * sizeof *a->out);
    return pe_unrotate(a->e, PE_OUTPUT, pe_view_of(a->sum, PE_F64, 1, 1, 1, a->D),
                       pe_view_of(a->out, PE_F64, 1, 1, 1, a->D), a->q_at, NULL, err);
}

/* Sums of up to 128 products round by 1e-13 of their largest. */
pe_status walk_scene_hold(const walk_scene *s, double shown, double library, double size, pe_error *err)
{
    if (fabs(shown - library) <= 1e-12 * size)
        return PE_OK;
    return io_fail(err, PE_ERR_UNSUITED, "%s: the steps lead to %s where the library has %s: please report this",
                   pe_encoding_spec(s->e), text_show(shown).text, text_show(library).text);
}

/* Computes q.k of a key, unless a term stands for it, and checks that the terms add up to the library's score. */
static pe_status attending_hold_score(attending *a, const walk_scene *s, int j, pe_error *err)
{
    double size = 1 + fabs(a->before[j]) * a->scale + fabs(a->after[j]);
    for (int64_t d = 0; !pe_encoding_replaces(a->e) && d < a->D; d++) {
        double product = a->q[d] * a->k[j * a->D + d];
        a->dot[j] += product;
        size += fabs(product) * a->scale;
    }
    double score = (a->dot[j] + a->before[j]) * a->scale + a->after[j];
    return s->seen[j] ? walk_scene_hold(s, score, a->score[j], size, err) : PE_OK;
}

static pe_status attending_attend(attending *a, walk_scene *s, pe_error *err)
{
    a->scale = pe_encoding_scale(s->e); /* without the encoding too: what differs is what position does */
    TRY(attending_ask_library(a, s, err));
    for (int j = 0; j < TOKENS; j++)
        TRY(attending_hold_score(a, s, j, err));
    return PE_OK;
}

/* An encoding of one axis takes the first coordinate of words that have more. */
static void attending_begin(attending *a, const walk_scene *s, const pe_encoding *e, pe_params params,
                            const double *from, int64_t D)
{
    *a = (attending){ .e = e, .params = params, .from = from, .D = D };
    a->q_at = pe_positions_of(walk_scene_at(s, s->query), PE_I64, 1, 1, s->axes);
    a->k_at = pe_positions_of(s->at, PE_I64, 1, TOKENS, s->axes);
    a->q_at.axes = a->k_at.axes = pe_encoding_axes(e);
}

static void scene_move_row(const walk_scene *s, double *x, int64_t width)
{
    double from[TOKENS * WIDTH_MAX];
    memcpy(from, x, (size_t)(TOKENS * width) * sizeof *x);
    for (int j = 0; j < TOKENS; j++)
        memcpy(x + j * width, from + s->moved[j] * width, (size_t)width * sizeof *x);
}

/* The output of the query where the other two words have changed places. */
static pe_status scene_attend_moved(double out[WIDTH_MAX], walk_scene *s, const attending *was, pe_error *err)
{
    attending a;
    attending_begin(&a, s, was->e, was->params, was->from, was->D);
    a.scale = was->scale;
    TRY(attending_ask_library(&a, s, err));
    memcpy(out, a.out, sizeof a.out);
    return PE_OK;
}

/* A gate is the sum of what the words up to it forget, which words take with them. */
static void scene_move_gates(walk_scene *s)
{
    double own[TOKENS];
    for (int j = 0; j < TOKENS; j++)
        own[j] = s->gate[j] - (j ? s->gate[j - 1] : 0);
    scene_move_row(s, own, 1);
    for (int j = 0; j < TOKENS; j++)
        s->gate[j] = own[j] + (j ? s->gate[j - 1] : 0);
}

static pe_status scene_attend_exchanged(walk_scene *s, pe_error *err)
{
    int other = s->query == 0 ? 1 : 0, last = s->query == TOKENS - 1 ? TOKENS - 2 : TOKENS - 1;
    for (int j = 0; j < TOKENS; j++)
        s->moved[j] = j == other ? last : j == last ? other : j;
    double gate[TOKENS];
    memcpy(gate, s->gate, sizeof gate);
    scene_move_row(s, s->x, s->dim);
    scene_move_gates(s);
    pe_status status = scene_embed_tokens(s, err);
    status = status ? status : scene_attend_moved(s->with_moved, s, &s->with, err);
    status = status ? status : scene_attend_moved(s->plain_moved, s, &s->plain, err);
    scene_move_row(s, s->x, s->dim); /* an exchange undoes itself */
    memcpy(s->gate, gate, sizeof gate);
    return status ? status : scene_embed_tokens(s, err);
}

/* Fills in plain and with, and their outputs after an exchange. */
static pe_status scene_attend(walk_scene *s, pe_error *err)
{
    attending_begin(&s->with, s, s->e, s->params, s->y, s->D);
    attending_begin(&s->plain, s, s->none, (pe_params){ 0 }, s->x, s->dim);
    TRY(attending_rotate(&s->with, s, err));
    TRY(attending_terms(&s->with, s, err)); /* which finds out what is seen */
    TRY(attending_rotate(&s->plain, s, err));
    TRY(attending_attend(&s->with, s, err));
    TRY(attending_attend(&s->plain, s, err));
    return scene_attend_exchanged(s, err);
}

/* ---------------------------------------------------------------- all of it */

static pe_status scene_set_up(walk_scene *s, const char *spec, pe_error *err)
{
    const walk_request *r = s->r;
    if (r->dim < 1 || r->dim > WALK_DIM_MAX)
        return io_fail(err, PE_ERR_RANGE, "dim is %" PRId64 "; a walk takes 1 to %d", r->dim, WALK_DIM_MAX);
    if (r->heads < 1 || r->heads > WALK_HEADS_MAX || r->head < 0 || r->head >= r->heads)
        return io_fail(err, PE_ERR_RANGE,
                       "head is %" PRId64 " of %" PRId64 "; a walk takes 0 to heads - 1 of %d at most", r->head,
                       r->heads, WALK_HEADS_MAX);
    TRY(scene_make_encoding(s, spec, err));
    s->axes = pe_encoding_axes(s->e);
    s->dim = r->dim;
    s->heads = r->heads;
    s->head = r->head;
    s->formulas = pe_encoding_formulas(s->e, s->formula, PE_FORMULAS_MAX);
    TRY(scene_make_params(s, err));
    TRY(scene_place_tokens(s, err));
    scene_draw_tokens(s);
    TRY(scene_draw_inputs(s, err));
    TRY(scene_embed_tokens(s, err));
    return scene_attend(s, err);
}

pe_status walk_scene_new(walk_scene **out, const char *spec, const walk_request *r, pe_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a walk");
    (*out)->r = r;
    return scene_set_up(*out, spec, err);
}

void walk_scene_free(walk_scene *s)
{
    if (s) {
        pe_encoding_free(s->e);
        pe_encoding_free(s->none);
        free(s->params.data);
    }
    free(s);
}
