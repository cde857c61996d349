/* SPDX-License-Identifier: MIT
 *
 * A term that stands for q.k (polar in row.h), for tiles: an element becomes two, its magnitude at the angle of its
 * position, so that their products are the term. Keys of a cache stay as the caller has them. */
#include "attention/fused.h"

/* What one token's vectors need. */
typedef struct polar_token {
    double n[POLAR_MAX], c[POLAR_MAX], s[POLAR_MAX];
} polar_token;

static void token_angles(const fused *f, polar_token *o, pe_positions at, int64_t t)
{
    double place = (double)coordinate(at, t, 0);
    for (int64_t d = 0; d < f->raw; d++)
        o->n[d] = place;
    f->k->turns(o->c, o->s, o->n, f->polar->polar.frequency, f->raw, f->raw);
}

void polar_phases(fused *f)
{
    int64_t count = f->G * f->raw;
    for (int64_t n = 0; n < count; n++) {
        double phase = param(f->polar, f->p.w, f->polar->polar.phases, n);
        f->ready.phase[n] = cos(phase);
        f->ready.phase[count + n] = sin(phase);
    }
}

/* cos and sin of element d: keys have their head's phase. */
static void element_angle(const fused *f, const polar_token *o, pe_side side, int64_t head, int64_t d, double *c,
                          double *s)
{
    int64_t n = head * f->raw + d;
    double x = side == PE_KEY ? f->ready.phase[n] : 1, y = side == PE_KEY ? f->ready.phase[f->G * f->raw + n] : 0;
    *c = o->c[d] * x - o->s[d] * y;
    *s = o->s[d] * x + o->c[d] * y;
}

/* From the last vector to the first: what is written is not read any more. */
void polar_ready(const fused *f, pe_side side, float *x, int64_t heads, pe_positions at, int64_t t, int64_t n)
{
    polar_token o;
    float from[POLAR_MAX];
    for (int64_t i = n - 1; i >= 0; i--) {
        token_angles(f, &o, at, t + i);
        for (int64_t h = heads - 1; h >= 0; h--) {
            float *to = x + (i * heads + h) * f->D;
            f->k->widen(from, x + (i * heads + h) * f->raw, PE_F32, f->raw);
            for (int64_t d = 0; d < f->raw; d++) {
                double c, s, size = polar_size((double)from[d]);
                element_angle(f, &o, side, h, d, &c, &s);
                to[d] = (float)(size * c);
                to[f->raw + d] = (float)(size * s);
            }
        }
    }
}

void polar_back(const fused *f, pe_side side, float *x, int64_t head, int64_t heads, pe_positions at, int64_t t,
                int64_t n)
{
    polar_token o;
    float raw[POLAR_MAX];
    for (int64_t i = 0; i < n; i++) {
        token_angles(f, &o, at, t + i);
        for (int64_t h = 0; h < heads; h++) {
            float *g = x + (i * heads + h) * f->D;
            ready_raw(f, raw, side, t + i, head + h);
            for (int64_t d = 0; d < f->raw; d++) {
                double c, s;
                element_angle(f, &o, side, head + h, d, &c, &s);
                double size = (double)g[d] * c + (double)g[f->raw + d] * s;
                g[d] = (float)(size != 0 ? size * polar_slope((double)raw[d]) : 0); /* a hidden key may be NaN */
            }
        }
    }
}

void polar_phases_back(const fused *f, const float *x, int64_t t, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t g = 0; g < f->G; g++) {
            const float *y = f->ready.kr + (g * f->tiles * BK + t + i) * f->Dp, *dy = x + (i * f->G + g) * f->D;
            double *sum = f->back.dphase + (t / LOAD * f->G + g) * f->raw;
            for (int64_t d = 0; d < f->raw; d++) {
                double a = (double)dy[d], b = (double)dy[f->raw + d];
                sum[d] += a == 0 && b == 0 ? 0 : b * (double)y[d] - a * (double)y[f->raw + d];
            }
        }
}

void polar_phases_sum(const fused *f)
{
    int64_t all = f->G * f->raw;
    for (int64_t n = 0; n < up_to(f->Tk, LOAD) / LOAD * all; n++)
        grad(f->polar, f->p.g.dparams, f->polar->polar.phases, n % all, f->back.dphase[n]);
}
