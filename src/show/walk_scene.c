/* SPDX-License-Identifier: MIT
 *
 * The case: three words, where they stand, their vectors, and the encoding. */
#include "show/walk.h"

#include "base/random.h"
#include "zoo/look.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const walk_word[WORDS] = { "dog", "bites", "man" };

#define PARAMS_MAX (INT64_C(1) << 24)

const int64_t *walk_scene_at(const walk_scene *s, int word)
{
    return s->at + word * s->axes;
}

/* ---------------------------------------------------------------- the encoding */

static pe_status make_encoding(walk_scene *s, const char *spec, pe_error *err)
{
    const walk_request *r = s->r;
    pe_shape shape = { .heads = r->heads, .head_dim = r->dim, .model_dim = r->dim };
    SHOW_TRY(pe_encoding_new(&s->e, spec, shape, err));
    s->D = pe_embed_width(s->e, r->dim);
    if (s->D < 0 || s->D > WIDTH_MAX)
        return io_fail(err, PE_ERR_SHAPE, "%s: with its codes a word is %" PRId64 " wide; a walk shows %d at most",
                       spec, s->D, WIDTH_MAX);
    shape.head_dim = s->D;
    if (s->D != r->dim) { /* codes that join make the heads wider */
        pe_encoding_free(s->e);
        SHOW_TRY(pe_encoding_new(&s->e, spec, shape, err));
    }
    shape.head_dim = r->dim;
    return pe_encoding_new(&s->none, zoo_look_plain(), shape, err);
}

static pe_status make_params(walk_scene *s, pe_error *err)
{
    int64_t count = pe_encoding_param_count(s->e);
    if (!count)
        return PE_OK;
    if (count > PARAMS_MAX)
        return io_fail(err, PE_ERR_SHAPE, "%s has %" PRId64 " parameters; a walk takes %" PRId64 " at most",
                       pe_encoding_spec(s->e), count, PARAMS_MAX);
    s->params = (pe_params){ malloc((size_t)count * sizeof(double)), PE_F64, count };
    if (!s->params.data)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %" PRId64 " parameters", count);
    return pe_encoding_init(s->e, s->params, s->r->seed, err);
}

/* ---------------------------------------------------------------- where the words stand */

static pe_status check_count(const char *name, int count, int64_t axes, pe_error *err)
{
    if (count > 1 && count != axes)
        return io_fail(err, PE_ERR_SHAPE, "%s has %d coordinates; this encoding takes %" PRId64, name, count, axes);
    return PE_OK;
}

/* Between the two, or beside them where there is no place between: before rather than ahead, unless that is below 0. */
static int64_t third(int64_t query, int64_t key)
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

/* By the first coordinate: query, key and third, in rising order. */
static void order_words(walk_scene *s, int64_t at[WORDS][PE_AXES_MAX])
{
    int rank[WORDS] = { 0 };
    for (int i = 0; i < WORDS; i++)
        for (int j = 0; j < WORDS; j++)
            rank[i] += at[j][0] < at[i][0] || (at[j][0] == at[i][0] && j > i);
    for (int i = 0; i < WORDS; i++)
        memcpy(s->at + rank[i] * s->axes, at[i], (size_t)s->axes * sizeof *at[i]);
    s->query = rank[0];
    s->key = rank[1];
    for (int i = 0; i < WORDS; i++)
        walk_place(s->place[i], walk_scene_at(s, i), s->axes);
}

static pe_status place_words(walk_scene *s, pe_error *err)
{
    const walk_request *r = s->r;
    int64_t at[WORDS][PE_AXES_MAX] = { 0 };
    SHOW_TRY(check_count("the position", r->position_count, s->axes, err));
    SHOW_TRY(check_count("the key's position", r->other_count, s->axes, err));
    for (int64_t a = 0; a < s->axes; a++) {
        int64_t query = r->position[r->position_count > 1 ? a : 0];
        int64_t step_back = a < s->axes - 1 ? 1 : 2; /* near on all axes but the last: windows may be narrow */
        at[0][a] = query;
        at[1][a] = r->other_count                    ? r->other[r->other_count > 1 ? a : 0]
                   : query >= step_back || query < 0 ? query - step_back
                                                     : query + step_back;
        at[2][a] = a < s->axes - 1 ? query : third(at[0][a], at[1][a]);
    }
    order_words(s, at);
    return PE_OK;
}

/* ---------------------------------------------------------------- their vectors */

/* Numbers with one digit, so that what is shown is what is meant. */
static void draw_words(walk_scene *s)
{
    for (int t = 0; t < WORDS; t++)
        for (int64_t c = 0; c < s->dim; c++) {
            double u = random_uniform(s->r->seed + 1, (uint64_t)(t * WALK_DIM_MAX + c));
            s->x[t * s->dim + c] = floor(u * 31 - 15) / 10;
        }
}

static pe_status embed_words(walk_scene *s, pe_error *err)
{
    return pe_embed(s->e, pe_view_of(s->y, PE_F64, 1, WORDS, 1, s->D), pe_view_of(s->x, PE_F64, 1, WORDS, 1, s->dim),
                    pe_positions_of(s->at, PE_I64, 1, WORDS, s->axes), &PE_MAKE(pe_run, .params = s->params), err);
}

double walk_scene_tell(walk_scene *s, int formula, int key, int64_t element, char *text, size_t room)
{
    pe_question asked = { .size = sizeof asked,
                          .params = s->params,
                          .q_at = walk_scene_at(s, s->query),
                          .k_at = s->at,
                          .q = s->with.q,
                          .k = s->with.k,
                          .seen = s->seen,
                          .keys = WORDS,
                          .key = key,
                          .head = s->head,
                          .element = element };
    double number = NAN;
    if (!s->failed.status)
        pe_encoding_tell(s->e, formula, &asked, &number, text, room, &s->failed);
    return number;
}

/* ---------------------------------------------------------------- all of it */

static pe_status set_up(walk_scene *s, const char *spec, pe_error *err)
{
    const walk_request *r = s->r;
    if (r->dim < 1 || r->dim > WALK_DIM_MAX)
        return io_fail(err, PE_ERR_RANGE, "dim is %" PRId64 "; a walk takes 1 to %d", r->dim, WALK_DIM_MAX);
    if (r->heads < 1 || r->heads > WALK_HEADS_MAX || r->head < 0 || r->head >= r->heads)
        return io_fail(err, PE_ERR_RANGE,
                       "head is %" PRId64 " of %" PRId64 "; a walk takes 0 to heads - 1 of %d at most", r->head,
                       r->heads, WALK_HEADS_MAX);
    SHOW_TRY(make_encoding(s, spec, err));
    s->axes = pe_encoding_axes(s->e);
    s->dim = r->dim;
    s->heads = r->heads;
    s->head = r->head;
    s->formulas = pe_encoding_formulas(s->e, s->formula, PE_FORMULAS_MAX);
    SHOW_TRY(make_params(s, err));
    SHOW_TRY(place_words(s, err));
    draw_words(s);
    return embed_words(s, err);
}

pe_status walk_scene_new(walk_scene **out, const char *spec, const walk_request *r, pe_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a walk");
    (*out)->r = r;
    return set_up(*out, spec, err);
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
