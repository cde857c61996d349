/* SPDX-License-Identifier: MIT
 *
 * The rotate hook: one loop for every rotation, its transpose and its inverse. */
#include "core/rotation.h"

#include <inttypes.h>

void rotate_view(const part *p, pe_params w, pe_side side, rotation_mode mode, pe_view y, pe_view x, pe_positions where,
                 int64_t shift)
{
    kernels k;
    ladder_fill(&k, 0);
    rotate_tokens(&(rotation_job){ &k, p, side, mode, y, x, where, w, 0, 0, shift, { .row = NULL } }, 1, false, NULL);
}

static void copy_sequence(pe_view y, pe_view x)
{
    for (int64_t t = 0; t < x.tokens; t++)
        for (int64_t h = 0; h < x.heads; h++) {
            vec vx = row_vec(x, t, h), vy = row_vec(y, t, h);
            for (int64_t d = 0; d < x.dim; d++)
                num_store(vy.data, vy.type, vy.at + d, vec_get(vx, d));
        }
}

void copy_view(pe_view y, pe_view x)
{
    for (int64_t b = 0; b < x.batch && y.data != x.data; b++)
        copy_sequence(view_at(y, b), view_at(x, b));
}

const part *rotating_part(const pe_encoding *e, pe_side side)
{
    for (int i = 0; i < e->parts; i++) {
        const part *p = &e->part[i];
        if (p->hooks & PE_HOOK_ROTATE && (side == PE_VALUE    ? p->rotates_value
                                          : side == PE_OUTPUT ? p->rotates_output
                                                              : true))
            return p;
    }
    return NULL;
}

/* Between two positions is served where both are. */
static pe_status check_spot(const part *p, pe_side side, pe_dtype type, spot *o, pe_error *err)
{
    TRY(p->row->check(p, side, type, o->at, err));
    for (int64_t a = 0; o->between && a < p->axes; a++)
        o->at[a] += (double)o->at[a] < o->real[a];
    return o->between ? p->row->check(p, side, type, o->at, err) : PE_OK;
}

pe_status check_rotation(const part *p, pe_side side, pe_dtype type, pe_positions where, pe_error *err)
{
    for (int64_t b = 0; p && p->row->check && b < where.batch; b++)
        for (int64_t t = 0; t < where.tokens; t++) {
            spot at;
            spot_find(&at, positions_at(where, b), t);
            TRY(check_spot(p, side, type, &at, err));
        }
    return PE_OK;
}

/* An angle that is rounded on its way is so from a whole number, and a gain goes by steps of positions. */
bool rotates_between(const part *p)
{
    return !p || ((p->exact || p->trained) && !p->gains);
}

static pe_status rotate_side(const pe_encoding *e, pe_side side, rotation_mode mode, pe_view y, pe_view x,
                             pe_positions where, const pe_run *given, pe_error *err)
{
    pe_run run;
    CHECK_POINTER(pe_encoding, e, "the encoding");
    TRY(check_run(&run, given, err));
    TRY(check_side(side, PE_OUTPUT, err));
    const part *p = rotating_part(e, side);
    TRY(check_view(&x, "the input", (extent){ -1, -1, -1, p ? e->shape.head_dim : -1 }, READS, err));
    TRY(check_view(&y, "the output", (extent){ x.batch, x.tokens, x.heads, x.dim }, WRITES, err));
    TRY(check_positions_real(&where, "positions", x.batch, x.tokens, e->axes, rotates_between(p), err));
    CHECK_MEMORY(true, view_region("the output", y, WRITES), view_region("the input", x, READS),
                 positions_region("positions", where), trained_region(p, run.params));
    if ((x.dtype == PE_F64) != (y.dtype == PE_F64))
        return pe_fail(err, PE_ERR_DTYPE, "the input and the output must both be PE_F64, or neither");
    if (!x.batch || !x.heads || !x.dim)
        return pe_pass(err);
    TRY(check_rotation(p, side, y.dtype, where, err));
    TRY(check_trained(e, p, run.params, x.heads, err));
    if (!p)
        copy_view(y, x);
    else {
        if (side == PE_OUTPUT) /* the output is rotated back */
            mode = (rotation_mode){ !mode.negate, !mode.reciprocal };
        rotate_tokens(&(rotation_job){ &e->kernels, p, side, mode, y, x, where, run.params, 0, 0, 0, { .row = NULL } },
                      1, false, run.pool);
    }
    return pe_pass(err);
}

pe_status pe_rotate(const pe_encoding *e, pe_side side, pe_view y, pe_view x, pe_positions at, const pe_run *run,
                    pe_error *err)
{
    return rotate_side(e, side, (rotation_mode){ false, false }, y, x, at, run, err);
}

pe_status pe_unrotate(const pe_encoding *e, pe_side side, pe_view x, pe_view y, pe_positions at, const pe_run *run,
                      pe_error *err)
{
    return rotate_side(e, side, (rotation_mode){ true, true }, x, y, at, run, err);
}

pe_status pe_rotate_back(const pe_encoding *e, pe_side side, pe_view dx, pe_view dy, pe_positions at, const pe_run *run,
                         pe_error *err)
{
    return rotate_side(e, side, (rotation_mode){ true, false }, dx, dy, at, run, err);
}

static const part *rotation(const pe_encoding *e)
{
    return e ? rotating_part(e, PE_QUERY) : NULL;
}

int64_t pe_encoding_pair_count(const pe_encoding *e)
{
    const part *p = rotation(e);
    return p ? p->pairs : 0;
}

double pair_frequency(const pair *p)
{
    return wide_scale(p->frequency, (double)p->multiplier).part[0] * wide_two_pi().part[0];
}

pe_status pe_encoding_pairs(const pe_encoding *e, pe_pair *pairs, int64_t count, pe_error *err)
{
    CHECK_POINTER(pe_encoding, e, "the encoding");
    const part *p = rotation(e);
    if (!p)
        return pe_fail(err, PE_ERR_UNSUITED, "%s does not rotate; it has no pairs", e->text);
    if (count != p->pairs)
        return pe_fail(err, PE_ERR_SHAPE, "count is %" PRId64 "; this encoding has %" PRId64 " pairs", count, p->pairs);
    if (count)
        CHECK_POINTER(pe_pair, pairs, "pairs");
    for (int64_t n = 0; n < count; n++) {
        const pair *q = &p->pair[n];
        const double two_pi = wide_two_pi().part[0];
        wide f = wide_scale(q->frequency, (double)q->multiplier);
        pairs[n] = (pe_pair){ p->from[n].x,
                              p->from[n].y,
                              p->to[n].x,
                              p->to[n].y,
                              q->axis,
                              pair_frequency(q),
                              (double)q->shift * q->frequency.part[0] * two_pi,
                              { f.part[0], f.part[1], f.part[2] },
                              p->decay ? p->decay[n] : 0 };
    }
    return pe_pass(err);
}

double pe_encoding_magnitude(const pe_encoding *e)
{
    const part *p = rotation(e);
    return p && p->pairs ? p->row->rotate(p, PE_KEY, (int64_t[PE_AXES_MAX]){ p->centre }, 0).magnitude : 1;
}

double pe_encoding_gain(const pe_encoding *e, pe_side side, int64_t at)
{
    const part *p = rotation(e);
    return p ? gain_at(p, side, (int64_t[PE_AXES_MAX]){ at }) : 1;
}
