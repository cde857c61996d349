/* SPDX-License-Identifier: MIT
 *
 * Positions along one axis of an encoding, as far as it serves them. */
#include "show/views.h"

#include "io/checked.h"
#include "io/io.h"

#include <inttypes.h>
#include <stdlib.h>

static pe_positions one(const show_subject *s, const show_request *r, int64_t *at, int64_t position)
{
    for (int64_t a = 0; a < s->axes; a++)
        at[a] = a == r->axis ? position : 0;
    return (pe_positions){ .at = at, .tokens = 1, .axes = s->axes };
}

/* Whether a query here and a key there meet; of any content. */
static bool meets(const show_subject *s, const show_request *r, int64_t query, int64_t key)
{
    int64_t q_at[PE_AXES_MAX], k_at[PE_AXES_MAX];
    double *term = NULL;
    bool met = !(s->hooks & (PE_HOOK_BIAS | PE_HOOK_CONTENT)) ||
               !show_terms(&term, s, r, one(s, r, q_at, query), one(s, r, k_at, key), false, NULL);
    free(term);
    return met;
}

static bool serves(const show_subject *s, const show_request *r, int64_t length)
{
    int64_t at[PE_AXES_MAX], unused;
    double *code = NULL, *turn = NULL;
    int64_t last = r->start + length - 1;
    pe_positions where = one(s, r, at, last);
    bool served = meets(s, r, last, r->start) &&
                  (!(s->hooks & PE_HOOK_EMBED) || !show_codes(&code, &unused, s, where, NULL)) &&
                  (!(s->hooks & PE_HOOK_ROTATE) || !show_turns(&turn, &unused, s, where, NULL));
    free(code);
    free(turn);
    return served;
}

/* The longest up to own that is served: what a table holds. */
static int64_t own_length(const show_subject *s, const show_request *r, int64_t own)
{
    int64_t low = 1, high = own;
    if (serves(s, r, own))
        return own;
    while (low + 1 < high) {
        int64_t middle = low + (high - low) / 2;
        *(serves(s, r, middle) ? &low : &high) = middle;
    }
    return low;
}

bool show_looks_ahead(const show_subject *s, const show_request *r)
{
    return meets(s, r, r->start, r->start + 1);
}

static pe_status check(const show_subject *s, const show_request *r, int64_t length, pe_error *err)
{
    if (r->axis < 0 || r->axis >= s->axes)
        return io_fail(err, PE_ERR_RANGE, "axis is %" PRId64 "; %.150s has %" PRId64 ", counted from 0", r->axis,
                       s->spec, s->axes);
    if (r->start < -PE_POSITION_MAX || r->start > PE_POSITION_MAX - length + 1)
        return io_fail(err, PE_ERR_RANGE,
                       "%" PRId64 " positions from %" PRId64 " on leave what there is, -2^36 to 2^36", length,
                       r->start);
    return PE_OK;
}

pe_status path_new(show_path *p, const show_subject *s, const show_request *r, int64_t own, int64_t most, pe_error *err)
{
    size_t bytes;
    *p = (show_path){ 0 };
    SHOW_TRY(check(s, r, r->length ? r->length : own, err));
    p->length = r->length ? r->length : own_length(s, r, own);
    p->step = (p->length + most - 1) / most;
    int64_t points = (p->length + p->step - 1) / p->step;
    p->at = io_byte_count(&bytes, points * s->axes, sizeof(int64_t)) ? calloc(1, bytes) : NULL;
    if (!p->at)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %" PRId64 " positions", points);
    for (int64_t i = 0; i < points; i++)
        p->at[i * s->axes + r->axis] = r->start + i * p->step;
    p->where = (pe_positions){ .at = p->at, .tokens = points, .axes = s->axes };
    return PE_OK;
}

pe_status path_new_whole(show_path *p, const show_subject *s, const show_request *r, int64_t own, int64_t most,
                         const char *view, pe_error *err)
{
    *p = (show_path){ 0 };
    if (r->length > most)
        return io_fail(err, PE_ERR_RANGE,
                       "%s: the length is %" PRId64 ", too many rows for one picture; needs %" PRId64
                       " or less (the first position may be any)",
                       view, r->length, most);
    return path_new(p, s, r, own, most, err);
}

void path_free(show_path *p)
{
    free(p->at);
    *p = (show_path){ 0 };
}

int64_t path_at(const show_path *p, const show_request *r, int64_t i)
{
    return r->start + i * p->step;
}

pe_status path_point(int64_t *out, const show_path *p, const show_request *r, int64_t fallback, pe_error *err)
{
    int64_t last = r->start + p->length - 1;
    *out = fallback;
    if (r->position < 0)
        return PE_OK;
    if (r->position < r->start || r->position > last)
        return io_fail(err, PE_ERR_RANGE,
                       "the position that looks around is %" PRId64 "; needs %" PRId64 " to %" PRId64, r->position,
                       r->start, last);
    *out = (r->position - r->start) / p->step;
    return PE_OK;
}

pe_positions path_one(const show_path *p, int64_t i)
{
    return (pe_positions){ .at = p->at + i * p->where.axes, .tokens = 1, .axes = p->where.axes };
}
