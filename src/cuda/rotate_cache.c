/* SPDX-License-Identifier: MIT
 *
 * Caches on a GPU: keys that are rotated already are rotated by the difference of two rotations (core/cache.c). */
#include "cuda/rotation.h"

#include <inttypes.h>
#include <math.h>

#include "cuda/door.h"

typedef struct move {
    pe_view k;
    pe_pages pages;
    int64_t batch, tokens; /* of the positions */
} move;

static pe_status open_cache(move *m, const pe_cuda_plan *plan, pe_view k, const pe_pages *pages, pe_positions at,
                            pe_error *err)
{
    int64_t dim = pe_encoding_shape(plan->e).head_dim;
    if (k.dtype == PE_Q8_0 || k.dtype == PE_Q4_0)
        return pe_fail(err, PE_ERR_DTYPE,
                       "the cache: quantised keys do not move on a GPU yet; needs PE_F32, PE_F16 or PE_BF16");
    TRY(check_cache(&k, plan->rotation ? dim : -1, pe_encoding_spec(plan->e), &types_vector, pages, at, &m->batch,
                    &m->tokens, err));
    m->k = k;
    m->pages = pages ? *pages : (pe_pages){ 0 };
    return pages ? check_page_table(pages, k, m->batch, m->tokens, err) : PE_OK;
}

static region table_region(const move *m)
{
    return array_region("pages.table", m->pages.table, m->pages.table ? m->batch * m->pages.columns : 0,
                        sizeof(int32_t), READS);
}

static rotate_call move_call(const pe_cuda_plan *plan, const move *m, rotate_work work, pe_positions at)
{
    rotate_call c = { .gpu = plan->gpu, .data = plan->rotation };
    c.args.at = rotate_positions_of(at);
    c.args.batch = m->batch;
    c.args.tokens = m->tokens;
    c.args.axes = pe_encoding_axes(plan->e);
    c.args.sides = 1;
    c.args.magnitude = 1;
    c.args.centre = (double)plan->rotation->centre;
    int64_t size = m->k.tokens < INT32_MAX ? m->k.tokens : INT32_MAX; /* a larger page holds all tokens too */
    c.args.pages = (rotate_pages){ (uintptr_t)m->pages.table, m->pages.columns, m->pages.table ? size : 1, m->k.batch };
    c.as.work = work;
    c.as.decays = plan->rotation->decays;
    rotate_add(&c, m->k, m->k);
    return c;
}

static bool move_empty(const move *m, const struct rotation_data *d)
{
    return !d->count || !m->k.heads || !m->k.batch || !m->tokens || !m->batch;
}

/* How far ln of a factor may go, where positions are known here: both ends tell. */
static pe_status check_decay(const pe_cuda_plan *plan, pe_positions from, pe_positions to, pe_error *err)
{
    const struct rotation_data *d = plan->rotation;
    if (from.data || to.data || !d->decays)
        return PE_OK;
    for (int64_t t = 0; t<to.tokens; t += to.tokens> 1 ? to.tokens - 1 : 1)
        for (int64_t n = 0; n < d->count; n++) {
            int64_t left = from.start + t * from.step, right = to.start + t * to.step;
            if (fabs((double)(right - left) * d->pairs[n].decay) > 80)
                return pe_fail(err, PE_ERR_POSITION,
                               "token %" PRId64 ": from position %" PRId64 " to %" PRId64
                               " its key would be multiplied by more than e^80 or less than e^-80: shift it in "
                               "smaller steps",
                               t, left, right);
        }
    return PE_OK;
}

pe_status pe_cuda_cache_shift(const pe_cuda_plan *plan, pe_view k, const pe_pages *pages, pe_positions from,
                              pe_positions to, const pe_run *run, void *stream, pe_error *err)
{
    move m;
    (void)run;
    if (!plan)
        return pe_fail(err, PE_ERR_NULL, "the plan is NULL");
    TRY(open_cache(&m, plan, k, pages, from, err));
    TRY(check_positions_outside(&from, "the positions from", m.batch, m.tokens, pe_encoding_axes(plan->e), err));
    TRY(check_positions_outside(&to, "the positions to", m.batch, m.tokens, pe_encoding_axes(plan->e), err));
    region s[] = { view_region("the cache", m.k, WRITES), positions_region("the positions from", from),
                   positions_region("the positions to", to), table_region(&m) };
    TRY(check_memory(s, 4, false, err));
    const struct rotation_data *d = plan->rotation;
    if (!d)
        return pe_pass(err);
    TRY(rotate_check_able(plan, false, err));
    TRY(rotate_check_ends(plan, PE_KEY, m.k.dtype, from, err));
    TRY(rotate_check_ends(plan, PE_KEY, m.k.dtype, to, err));
    TRY(check_decay(plan, from, to, err));
    if (move_empty(&m, d))
        return pe_pass(err);
    rotate_call c = move_call(plan, &m, ROTATE_SHIFT, to);
    c.args.from = rotate_positions_of(from);
    return rotate_launch(&c, stream, err);
}

/* ---------------------------------------------------------------- rebase */

/* Both rotate the same pairs of elements, or neither rotates any. */
static pe_status check_same_pairs(const pe_cuda_plan *to, const pe_cuda_plan *from, pe_error *err)
{
    const struct rotation_data *a = to->rotation, *b = from->rotation;
    const char *a_text = pe_encoding_spec(to->e), *b_text = pe_encoding_spec(from->e);
    int64_t a_dim = pe_encoding_shape(to->e).head_dim, b_dim = pe_encoding_shape(from->e).head_dim;
    if (!a != !b)
        return pe_fail(err, PE_ERR_UNSUITED,
                       "%.80s rotates and %.80s does not; rotate these keys with pe_cuda_%srotate", a ? a_text : b_text,
                       a ? b_text : a_text, a ? "" : "un");
    if (!a)
        return PE_OK;
    if (a_dim != b_dim || a->count != b->count)
        return pe_fail(err, PE_ERR_UNSUITED,
                       "%.80s rotates %" PRId64 " pairs of %" PRId64 " elements, %.80s %" PRId64 " of %" PRId64
                       "; both must rotate the same elements",
                       a_text, a->count, a_dim, b_text, b->count, b_dim);
    for (int64_t n = 0; n < a->count; n++) {
        rotate_lane x = a->lane[n], y = b->lane[n];
        if (x.x != y.x || x.y != y.y || x.x_out != y.x_out || x.y_out != y.y_out)
            return pe_fail(err, PE_ERR_UNSUITED,
                           "pair %" PRId64 " of %.60s rotates elements %d and %d into %d and %d, of %.60s %d and %d "
                           "into %d and %d; both must rotate the same elements",
                           n, a_text, x.x, x.y, x.x_out, x.y_out, b_text, y.x, y.y, y.x_out, y.y_out);
    }
    return PE_OK;
}

/* Whether their difference is steps times one frequency. */
static bool same_steps(const struct rotation_data *a, const struct rotation_data *b)
{
    for (int64_t n = 0; n < a->count; n++)
        if (a->pairs[n].axis != b->pairs[n].axis || a->pairs[n].multiplier != b->pairs[n].multiplier ||
            a->pairs[n].shift != b->pairs[n].shift)
            return false;
    return true;
}

static pe_status check_plans(const pe_cuda_plan *to, const pe_cuda_plan *from, pe_error *err)
{
    if (!to || !from)
        return pe_fail(err, PE_ERR_NULL, "the plan %s is NULL", to ? "from" : "to");
    if (to->gpu != from->gpu)
        return pe_fail(err, PE_ERR_UNSUITED, "the plans belong to two pe_cuda; both need the same");
    if (pe_encoding_axes(to->e) != pe_encoding_axes(from->e))
        return pe_fail(err, PE_ERR_UNSUITED, "%.80s has %" PRId64 " axes and %.80s %" PRId64 "; both need the same",
                       pe_encoding_spec(to->e), pe_encoding_axes(to->e), pe_encoding_spec(from->e),
                       pe_encoding_axes(from->e));
    return check_same_pairs(to, from, err);
}

pe_status pe_cuda_cache_rebase(const pe_cuda_plan *to, const pe_cuda_plan *from, pe_view k, const pe_pages *pages,
                               pe_positions at, const pe_run *run, void *stream, pe_error *err)
{
    move m;
    (void)run;
    TRY(check_plans(to, from, err));
    TRY(open_cache(&m, to, k, pages, at, err));
    TRY(check_positions_outside(&at, "positions", m.batch, m.tokens, pe_encoding_axes(to->e), err));
    region s[] = { view_region("the cache", m.k, WRITES), positions_region("positions", at), table_region(&m) };
    TRY(check_memory(s, 3, false, err));
    const struct rotation_data *a = to->rotation, *b = from->rotation;
    if (!a)
        return pe_pass(err);
    TRY(rotate_check_able(to, false, err));
    TRY(rotate_check_able(from, false, err));
    TRY(rotate_check_ends(from, PE_KEY, m.k.dtype, at, err));
    TRY(rotate_check_ends(to, PE_KEY, m.k.dtype, at, err));
    if (move_empty(&m, a) || to->e == from->e)
        return pe_pass(err);
    rotate_call c = move_call(to, &m, same_steps(a, b) ? ROTATE_REBASE : ROTATE_DIFFERENCE, at);
    c.args.pair_from = b->pair;
    c.args.centre_from = (double)b->centre;
    c.args.magnitude = a->magnitude / b->magnitude;
    c.as.decays = a->decays || b->decays;
    return rotate_launch(&c, stream, err);
}
