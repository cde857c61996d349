/* SPDX-License-Identifier: MIT
 *
 * Positions along one axis of an encoding, as many as it supports. */
#include "show/views.h"

#include "io/checked.h"
#include "io/io.h"

#include <inttypes.h>
#include <math.h>

static pe_positions position_alone(const show_subject *s, const show_request *r, int64_t *at, int64_t position)
{
    for (int64_t a = 0; a < s->axes; a++)
        at[a] = a == r->axis ? position : 0;
    return pe_positions_of(at, PE_I64, 1, 1, s->axes);
}

/* Whether the subject serves a query here and a key there, as far as these hooks go. It refuses by a status, so only
 * running out of memory is an error. */
static pe_status position_is_served(bool *out, const show_subject *s, const show_request *r, int64_t query, int64_t key,
                                    unsigned hooks, pe_error *err)
{
    double *number;
    int64_t count, q_at[PE_AXES_MAX], k_at[PE_AXES_MAX];
    pe_positions q = position_alone(s, r, q_at, query), k = position_alone(s, r, k_at, key);
    pe_status status = PE_OK;
    hooks &= s->hooks;
    if (hooks & SHOW_HOOKS_SCORE)
        status = show_terms(&number, s, r, q, k, false, NULL);
    if (!status && hooks & PE_HOOK_EMBED)
        status = show_codes(&number, &count, s, q, NULL);
    if (!status && hooks & PE_HOOK_ROTATE)
        status = show_rotations(&number, &count, s, q, NULL);
    *out = !status;
    return status == PE_ERR_NOMEM ? io_fail(err, status, "no memory to try a position") : PE_OK;
}

static pe_status length_is_served(bool *out, const show_subject *s, const show_request *r, int64_t length,
                                  pe_error *err)
{
    return position_is_served(out, s, r, r->start + length - 1, r->start, s->hooks, err);
}

/* Finds the longest length up to own that is supported, such as the rows of a learned table. */
static pe_status length_of_view(int64_t *out, const show_subject *s, const show_request *r, int64_t own, pe_error *err)
{
    bool served;
    int64_t low = 1, high = own;
    TRY(length_is_served(&served, s, r, own, err));
    while (!served && low + 1 < high) {
        bool reached;
        int64_t middle = low + (high - low) / 2;
        TRY(length_is_served(&reached, s, r, middle, err));
        *(reached ? &low : &high) = middle;
    }
    *out = served ? own : low;
    return PE_OK;
}

/* A bias that penalises keys behind and rewards keys ahead by as much, in every head, is made for a causal mask. */
static pe_status bias_rewards_ahead(bool *out, const show_subject *s, const show_request *r, pe_error *err)
{
    int64_t q_at[PE_AXES_MAX], k_at[2][PE_AXES_MAX], H = s->shape.heads;
    double *back, *ahead = NULL;
    pe_positions q = position_alone(s, r, q_at, r->start + 1);
    *out = s->hooks & PE_HOOK_BIAS && !(s->hooks & PE_HOOK_CONTENT);
    if (!*out)
        return PE_OK;
    pe_status status = show_terms(&back, s, r, q, position_alone(s, r, k_at[0], r->start), false, err);
    if (!status)
        status = show_terms(&ahead, s, r, q, position_alone(s, r, k_at[1], r->start + 2), false, err);
    for (int64_t h = 0; !status && h < H; h++)
        *out = *out && back[h] < 0 && fabs(ahead[h] + back[h]) <= 1e-12 * fabs(back[h]);
    return status == PE_ERR_NOMEM ? status : PE_OK;
}

pe_status show_is_causal(bool *out, const show_subject *s, const show_request *r, pe_error *err)
{
    bool ahead;
    TRY(position_is_served(&ahead, s, r, r->start, r->start + 1, SHOW_HOOKS_SCORE, err));
    *out = r->causal || !ahead || pe_encoding_carries(s->e); /* keys are counted back from the query */
    return *out ? PE_OK : bias_rewards_ahead(out, s, r, err);
}

pe_status show_one_mask(show_request *r, show_subject *const *s, int count, pe_error *err)
{
    pe_status status = PE_OK;
    for (int i = 0; i < count && !r->causal && !status; i++) {
        struct show_block *mark = s[i]->blocks;
        if (r->axis < s[i]->axes)
            status = show_is_causal(&r->causal, s[i], r, err);
        show_release(s[i], mark);
    }
    return status;
}

/* Estimates the steps that one position takes: the numbers of its code and rotation, its scores with one query. Shapes
 * and keys are bounded, so that no sum overflows. */
static int64_t position_work(const show_subject *s)
{
    int64_t joined = pe_embed_width(s->e, 0), H = s->shape.heads, work = 0;
    if (s->hooks & PE_HOOK_EMBED)
        work += SHOW_SINE * (joined > 0 ? joined : pe_embed_width(s->e, s->shape.model_dim));
    if (s->hooks & PE_HOOK_ROTATE)
        work += SHOW_SINE * 2 * pe_encoding_pair_count(s->e);
    if (s->hooks & PE_HOOK_BIAS)
        work += H * s->work;
    if (s->hooks & PE_HOOK_CONTENT)
        work += H * s->shape.head_dim;
    return work > 0 ? work : 1;
}

static pe_status path_check(const show_subject *s, const show_request *r, int64_t length, pe_error *err)
{
    if (position_work(s) > SHOW_WORK_MAX / SHOW_WORDS_MAX)
        return io_fail(err, PE_ERR_RANGE,
                       "%.150s takes about %" PRId64 " steps for one position, too many for a picture; needs %" PRId64
                       " or less: give it a smaller width",
                       s->spec, position_work(s), SHOW_WORK_MAX / SHOW_WORDS_MAX);
    if (r->axis < 0 || r->axis >= s->axes)
        return io_fail(err, PE_ERR_RANGE, "axis is %" PRId64 "; %.150s has %" PRId64 ", counted from 0", r->axis,
                       s->spec, s->axes);
    if (r->start < -PE_POSITION_MAX || r->start > PE_POSITION_MAX - length + 1)
        return io_fail(err, PE_ERR_RANGE,
                       "%" PRId64 " positions from %" PRId64 " on exceed the range of positions, -2^36 to 2^36", length,
                       r->start);
    return PE_OK;
}

pe_status path_new(show_path *p, const show_subject *s, const show_request *r, int64_t own, int64_t most, pe_error *err)
{
    *p = (show_path){ 0 };
    TRY(path_check(s, r, r->length ? r->length : own, err));
    p->length = r->length;
    if (!r->length)
        TRY(length_of_view(&p->length, s, r, own, err));
    int64_t allowed = SHOW_WORK_MAX / position_work(s);
    most = most < allowed ? most : allowed;
    p->step = (p->length + most - 1) / most;
    int64_t points = (p->length + p->step - 1) / p->step;
    p->at = show_scratch(s, points * s->axes, sizeof *p->at);
    if (!p->at)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %" PRId64 " positions", points);
    for (int64_t i = 0; i < points; i++)
        p->at[i * s->axes + r->axis] = r->start + i * p->step;
    p->where = pe_positions_of(p->at, PE_I64, 1, points, s->axes);
    return PE_OK;
}

pe_status path_new_whole(show_path *p, const show_subject *s, const show_request *r, int64_t own, int64_t most,
                         const char *view, pe_error *err)
{
    int64_t allowed = SHOW_WORK_MAX / position_work(s);
    *p = (show_path){ 0 };
    if (allowed >= SHOW_WORDS_MAX && allowed < most)
        most = allowed;
    if (r->length > most)
        return io_fail(err, PE_ERR_RANGE,
                       "%s: the length is %" PRId64 ", too many rows for one picture; needs %" PRId64
                       " or less (the first position may be any)",
                       view, r->length, most);
    return path_new(p, s, r, own < most ? own : most, most, err);
}

pe_status path_point(int64_t *out, const show_path *p, const show_request *r, int64_t fallback, pe_error *err)
{
    int64_t last = r->start + p->length - 1;
    *out = fallback;
    if (r->position < 0)
        return PE_OK;
    if (r->position < r->start || r->position > last)
        return io_fail(err, PE_ERR_RANGE, "the position of the query is %" PRId64 "; needs %" PRId64 " to %" PRId64,
                       r->position, r->start, last);
    *out = (r->position - r->start) / p->step;
    return PE_OK;
}

pe_positions path_one(const show_path *p, int64_t i)
{
    return pe_positions_of(p->at + i * p->where.axes, PE_I64, 1, 1, p->where.axes);
}
