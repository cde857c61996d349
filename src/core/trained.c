/* SPDX-License-Identifier: MIT
 *
 * Rotations whose frequencies are parameters, per head: pair n of head h at position t rotates by the sum over axes of
 * t[a] w[h][a][n] radians. Angles are formed as exactly as fixed ones; the gradient of an angle follows from the
 * rotated vector and its gradient alone. Or rotations whose cos and sin are sums of waves (mixing in row.h): these are
 * any two numbers c and s, and (x, y) -> (x c - y s, x s + y c). */
#include "core/rotation.h"

#include <inttypes.h>

#include "kernels/turn.h"

int64_t trained_heads(const part *p)
{
    return p && p->trained ? p->tensor[p->mix.waves ? p->mix.cosines : p->frequencies].shape[0] : 1;
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

int64_t trained_ledger(const part *p)
{
    return !p || !p->trained ? 0 : p->mix.waves ? 2 * p->mix.waves * p->mix.pairs : p->axes * p->pairs;
}

/* ------------------------------------------------ sums of waves */

static void wave_at(const part *p, double at, int64_t f, double *c, double *s)
{
    const double *x = p->mix.frequency;
    int64_t F = p->mix.waves;
    turn_cos_sin(at, (wide){ { x[f], x[F + f], x[2 * F + f] } }, c, s);
}

/* Where the shares of wave f in this head's pairs begin. */
static int64_t share_at(const part *p, int64_t head, int64_t f)
{
    return (head * p->mix.waves + f) * p->mix.pairs;
}

/* y += x times the pairs' shares. */
static void add_shares(const part *p, pe_params w, int shares, int64_t from, double x, double *y)
{
    for (int64_t n = 0; n < p->mix.pairs; n++)
        y[n] += x * param(p, w, shares, from + n);
}

static void mixed_row(const part *p, pe_params w, int64_t head, double at, double *c, double *s)
{
    for (int64_t n = 0; n < p->pairs; n++) {
        c[n] = n < p->mix.pairs ? 0 : 1;
        s[n] = n < p->mix.pairs ? 0 : p->mix.still;
    }
    for (int64_t f = 0; f < p->mix.waves; f++) {
        double x, y;
        wave_at(p, at, f, &x, &y);
        add_shares(p, w, p->mix.cosines, share_at(p, head, f), x, c);
        add_shares(p, w, p->mix.sines, share_at(p, head, f), y, s);
    }
}

/* The gradients of cos and sin of pair n, from the vector before it was rotated and the gradient after. */
static void mixed_pair_grad(const part *p, int64_t n, vec x, vec dy, double *dc, double *ds)
{
    double a = vec_get(dy, p->to[n].x), b = vec_get(dy, p->to[n].y);
    bool none = a == 0 && b == 0; /* a hidden key may be NaN */
    double u = none ? 0 : vec_get(x, p->from[n].x), v = none ? 0 : vec_get(x, p->from[n].y);
    *dc = p->magnitude * (a * u + b * v);
    *ds = p->magnitude * (b * u - a * v);
}

/* sum (2, waves, pairs) */
static void mixed_grad(const part *p, double at, vec x, vec dy, double *sum)
{
    double dc[PE_HEAD_DIM_MAX / 2], ds[PE_HEAD_DIM_MAX / 2];
    int64_t P = p->mix.pairs, half = p->mix.waves * P;
    for (int64_t n = 0; n < P; n++)
        mixed_pair_grad(p, n, x, dy, &dc[n], &ds[n]);
    for (int64_t f = 0; f < p->mix.waves; f++) {
        double c, s;
        wave_at(p, at, f, &c, &s);
        for (int64_t n = 0; n < P; n++) {
            sum[f * P + n] += dc[n] * c;
            sum[half + f * P + n] += ds[n] * s;
        }
    }
}

static void mixed_back(const part *p, pe_params dw, int64_t head, double at, vec x, vec dy)
{
    for (int64_t f = 0; f < p->mix.waves; f++) {
        double c, s, dc, ds;
        wave_at(p, at, f, &c, &s);
        for (int64_t n = 0; n < p->mix.pairs; n++) {
            mixed_pair_grad(p, n, x, dy, &dc, &ds);
            grad(p, dw, p->mix.cosines, share_at(p, head, f) + n, dc * c);
            grad(p, dw, p->mix.sines, share_at(p, head, f) + n, ds * s);
        }
    }
}

/* ------------------------------------------------ both */

void trained_row(const part *p, pe_params w, int64_t head, pe_side side, rotation_mode mode, const spot *at, double *c,
                 double *s)
{
    double size = p->magnitude * gain_at(p, side, at->at), real[PE_AXES_MAX];
    for (int64_t a = 0; a < p->axes; a++)
        real[a] = spot_real(at, a);
    if (p->mix.waves)
        mixed_row(p, w, head, real[0], c, s);
    for (int64_t n = 0; n < p->pairs; n++) {
        if (!p->mix.waves)
            trained_angle(p, w, head, real, n, &c[n], &s[n]);
        else if (mode.reciprocal) {
            double square = c[n] * c[n] + s[n] * s[n];
            c[n] /= square;
            s[n] /= square;
        }
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

bool trained_wants_x(const part *p)
{
    return p->mix.waves > 0;
}

void trained_grad(const part *p, const spot *at, vec x, vec y, vec dy, double *sum)
{
    if (p->mix.waves) {
        mixed_grad(p, spot_real(at, 0), x, dy, sum);
        return;
    }
    for (int64_t n = 0; n < p->pairs; n++) {
        double d = angle_grad(p->to[n], y, dy);
        for (int64_t a = 0; a < p->axes; a++)
            sum[a * p->pairs + n] += d * spot_real(at, a);
    }
}

void trained_back(const part *p, pe_params dw, int64_t head, const spot *at, vec x, vec y, vec dy)
{
    if (p->mix.waves) {
        mixed_back(p, dw, head, spot_real(at, 0), x, dy);
        return;
    }
    for (int64_t n = 0; n < p->pairs; n++) {
        double d = angle_grad(p->to[n], y, dy);
        for (int64_t a = 0; a < p->axes; a++)
            grad(p, dw, p->frequencies, frequency_element(p, head, a, n), d * spot_real(at, a));
    }
}

void trained_store(const part *p, pe_params dw, int64_t head, const double *sum)
{
    int64_t half = p->mix.waves * p->mix.pairs;
    for (int64_t n = 0; n < half; n++) {
        grad(p, dw, p->mix.cosines, head * half + n, sum[n]);
        grad(p, dw, p->mix.sines, head * half + n, sum[half + n]);
    }
    for (int64_t n = 0; !half && n < p->axes * p->pairs; n++)
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
                       "%s has parameters per head; the view has %" PRId64 " heads and needs %" PRId64 " or %" PRId64
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
        trained_back(p, dw, head, &at, vx, (vec){ y, PE_F64, 0 }, vdy);
    }
}

pe_status pe_rotate_grad(const pe_encoding *e, pe_params dw, pe_side side, pe_view dy, pe_view x, pe_positions where,
                         const pe_run *given, pe_error *err)
{
    pe_run run;
    CHECK_POINTER(pe_encoding, e, "the encoding");
    TRY(check_run(&run, given, err));
    TRY(check_side(side, PE_KEY, err));
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
