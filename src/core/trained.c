/* SPDX-License-Identifier: MIT
 *
 * Rotations whose frequencies are parameters, per head: pair n of head h at position t rotates by the sum over axes of
 * t[a] w[h][a][n] radians. Angles are formed as exactly as fixed ones; the gradient of an angle follows from the
 * rotated vector and its gradient alone. */
#include "core/rotation.h"

#include <inttypes.h>

#include "kernels/turn.h"

int64_t trained_heads(const part *p)
{
    return p && p->trained ? p->tensor[p->frequencies].shape[0] : 1;
}

/* Query heads of a group share the frequencies of their key head. */
int64_t trained_head(const part *p, int64_t heads, int64_t h)
{
    return trained_heads(p) == 1 ? 0 : heads == p->shape.kv_heads ? h : h / (p->shape.heads / p->shape.kv_heads);
}

static int64_t frequency_element(const part *p, int64_t head, int64_t axis, int64_t n)
{
    return (head * p->axes + axis) * p->pairs + n;
}

/* Turns per position. */
static wide frequency(const part *p, pe_params w, int64_t head, int64_t axis, int64_t n)
{
    return wide_mul(wide_from(param(p, w, p->frequencies, frequency_element(p, head, axis, n))), turn_per_radian);
}

void trained_angle(const part *p, pe_params w, int64_t head, const double *at, int64_t n, double *c, double *s)
{
    wide turns = wide_from(0);
    for (int64_t a = 0; p->axes > 1 && a < p->axes; a++)
        turns = wide_add(turns, wide_mul(frequency(p, w, head, a, n), wide_from(at[a])));
    if (p->axes > 1)
        turn_cos_sin(1, turns, c, s);
    else
        turn_cos_sin(at[0], frequency(p, w, head, 0, n), c, s);
}

void trained_row(const part *p, pe_params w, int64_t head, pe_side side, rotation_mode mode, const spot *at, double *c,
                 double *s)
{
    double size = p->magnitude * gain_at(p, side, at->at), real[PE_AXES_MAX];
    for (int64_t a = 0; a < p->axes; a++)
        real[a] = spot_real(at, a);
    for (int64_t n = 0; n < p->pairs; n++) {
        trained_angle(p, w, head, real, n, &c[n], &s[n]);
        c[n] = mode.reciprocal ? c[n] / size : c[n] * size;
        s[n] = mode.reciprocal ? s[n] / size : s[n] * size;
        s[n] = mode.negate ? -s[n] : s[n];
    }
}

/* What has no gradient may be anything: a hidden key that is NaN. */
static double angle_grad(lane l, vec y, vec dy)
{
    double dx = vec_get(dy, l.x), dz = vec_get(dy, l.y);
    return dx == 0 && dz == 0 ? 0 : dz * vec_get(y, l.x) - dx * vec_get(y, l.y);
}

void trained_grad(const part *p, const spot *at, vec y, vec dy, double *sum)
{
    for (int64_t n = 0; n < p->pairs; n++) {
        double d = angle_grad(p->to[n], y, dy);
        for (int64_t a = 0; a < p->axes; a++)
            sum[a * p->pairs + n] += d * spot_real(at, a);
    }
}

void trained_back(const part *p, pe_params dw, int64_t head, const spot *at, vec y, vec dy)
{
    for (int64_t n = 0; n < p->pairs; n++) {
        double d = angle_grad(p->to[n], y, dy);
        for (int64_t a = 0; a < p->axes; a++)
            grad(p, dw, p->frequencies, frequency_element(p, head, a, n), d * spot_real(at, a));
    }
}

void trained_store(const part *p, pe_params dw, int64_t head, const double *sum)
{
    for (int64_t n = 0; n < p->axes * p->pairs; n++)
        grad(p, dw, p->frequencies, head * p->axes * p->pairs + n, sum[n]);
}

region trained_region(const part *p, pe_params w)
{
    return params_region("params", p && p->trained ? w : (pe_params){ 0 }, READS);
}

pe_status check_trained(const pe_encoding *e, const part *p, pe_params w, int64_t heads, pe_error *err)
{
    if (!p || !p->trained)
        return PE_OK;
    if (trained_heads(p) > 1 && heads != e->shape.heads && heads != e->shape.kv_heads)
        return pe_fail(err, PE_ERR_SHAPE,
                       "%s has frequencies per head; the view has %" PRId64 " heads and needs %" PRId64 " or %" PRId64
                       "",
                       p->row->info.name, heads, e->shape.heads, e->shape.kv_heads);
    return check_params(e, w, err);
}

/* ------------------------------------------------ pe_rotate_grad */

static void head_grad(const part *p, pe_params w, pe_params dw, pe_side side, pe_view dy, pe_view x, pe_positions where,
                      int64_t h)
{
    double y[PE_HEAD_DIM_MAX], c[PE_HEAD_DIM_MAX / 2], s[PE_HEAD_DIM_MAX / 2];
    int64_t head = trained_head(p, x.heads, h);
    for (int64_t t = 0; t < x.tokens; t++) {
        spot at;
        spot_find(&at, where, t);
        trained_row(p, w, head, side, (rotation_mode){ false, false }, &at, c, s);
        vec vx = row_vec(x, t, h), vdy = row_vec(dy, t, h);
        for (int64_t n = 0; n < p->pairs; n++) {
            double a = vec_get(vx, p->from[n].x), b = vec_get(vx, p->from[n].y);
            y[p->to[n].x] = a * c[n] - b * s[n];
            y[p->to[n].y] = a * s[n] + b * c[n];
        }
        trained_back(p, dw, head, &at, (vec){ y, PE_F64, 0 }, vdy);
    }
}

pe_status pe_rotate_grad(const pe_encoding *e, pe_params dw, pe_side side, pe_view dy, pe_view x, pe_positions where,
                         const pe_run *given, pe_error *err)
{
    pe_run run;
    CHECK_POINTER(pe_encoding, e, "the encoding");
    TRY(check_run(&run, given, err));
    if ((int)side < PE_QUERY || side > PE_KEY)
        return pe_fail(err, PE_ERR_RANGE, "side is %d; needs PE_QUERY or PE_KEY", (int)side);
    const part *p = rotating_part(e, side);
    TRY(check_view(&x, "x", (extent){ -1, -1, -1, p ? e->shape.head_dim : -1 }, READS, err));
    TRY(check_view(&dy, "dy", (extent){ x.batch, x.tokens, x.heads, x.dim }, READS, err));
    TRY(check_positions_real(&where, "positions", x.batch, x.tokens, e->axes, rotates_between(p), err));
    TRY(check_trained(e, p, run.params, x.heads, err));
    TRY(check_grads(e, dw, err));
    CHECK_MEMORY(false, params_region("dparams", dw, WRITES), params_region("params", run.params, READS),
                 view_region("x", x, READS), view_region("dy", dy, READS), positions_region("positions", where));
    for (int64_t b = 0; p && p->trained && dw.data && b < x.batch; b++)
        for (int64_t h = 0; h < x.heads; h++)
            head_grad(p, run.params, dw, side, view_at(dy, b), view_at(x, b), positions_at(where, b), h);
    return pe_pass(err);
}
