/* SPDX-License-Identifier: MIT
 *
 * A term that stands for q.k (polar in row.h), for tiles: an element becomes two, its magnitude at the angle of its
 * position, so that their products are the term. Keys of a cache stay as the caller has them. */
#include "attention/fused.h"

/* One token's angles, without phases. */
typedef struct polar_token {
    double n[POLAR_MAX], c[POLAR_MAX], s[POLAR_MAX];
} polar_token;

static void token_angles(const fused *f, polar_token *o, pe_positions at, int64_t t)
{
    double place = coordinate_real(at, t, 0);
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

/* cos and sin of element d. A key's phase is taken from its queries instead: these are fewer, where there are few. */
static void element_angle(const fused *f, const polar_token *o, pe_side side, int64_t head, int64_t d, double *c,
                          double *s)
{
    int64_t n = head / f->group * f->raw + d;
    double x = side == PE_QUERY ? f->ready.phase[n] : 1, y = side == PE_QUERY ? f->ready.phase[f->G * f->raw + n] : 0;
    *c = o->c[d] * x + o->s[d] * y;
    *s = o->s[d] * x - o->c[d] * y;
}

/* From the last vector to the first: what is written is not read any more. */
void polar_ready(const fused *f, pe_side side, float *x, int64_t heads, pe_positions at, int64_t t, int64_t n)
{
    polar_token o;
    float from[POLAR_MAX], cosine[POLAR_MAX], sine[POLAR_MAX];
    for (int64_t i = n - 1; i >= 0; i--) {
        token_angles(f, &o, at, t + i);
        for (int64_t h = heads - 1; h >= 0; h--) {
            for (int64_t d = 0; (side == PE_QUERY || h == heads - 1) && d < f->raw; d++) { /* keys' heads have one */
                double c, s;
                element_angle(f, &o, side, h, d, &c, &s);
                cosine[d] = (float)c;
                sine[d] = (float)s;
            }
            f->k->widen(from, x + (i * heads + h) * f->raw, PE_F32, f->raw);
            f->k->polar(x + (i * heads + h) * f->D, from, cosine, sine, f->raw);
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

void polar_phases_back(const fused *f, const float *x, const tile *t, int64_t item)
{
    double *sum = f->back.dphase + (item / f->G * f->H + t->h) * f->raw;
    for (int64_t r = 0; r < t->m; r++) {
        const float *y = f->ready.q + (t->h * f->Tq + t->i + r) * f->D, *dy = x + r * f->D;
        for (int64_t d = 0; d < f->raw; d++) {
            double a = (double)dy[d], b = (double)dy[f->raw + d];
            sum[d] += a == 0 && b == 0 ? 0 : a * (double)y[f->raw + d] - b * (double)y[d];
        }
    }
}

void polar_phases_sum(const fused *f)
{
    for (int64_t n = 0; n < f->back.splits * f->H * f->raw; n++)
        grad(f->polar, f->p.g.dparams, f->polar->polar.phases, n / f->raw % f->H / f->group * f->raw + n % f->raw,
             f->back.dphase[n]);
}
