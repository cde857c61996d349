/* SPDX-License-Identifier: MIT
 *
 * A content term that stands for q.k (polar in row.h): of one pair of vectors, and over a tile. */
#include "core/score.h"

#include "kernels/turn.h"

const part *polar_part(const pe_encoding *e)
{
    for (int n = 0; e && n < e->parts; n++)
        if (e->part[n].polar.on)
            return &e->part[n];
    return NULL;
}

/* ln(1 + e^x), without overflow, exact where it is near 0 or near x. */
double polar_size(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

double polar_slope(double x)
{
    return 1 / (1 + exp(-x));
}

void polar_angles(const part *p, double distance, double *c, double *s)
{
    int64_t D = p->shape.head_dim;
    const double *f = p->polar.frequency;
    for (int64_t d = 0; d < D; d++)
        turn_cos_sin(distance, (wide){ { f[d], f[D + d], f[2 * D + d] } }, &c[d], &s[d]);
}

/* cos and sin of element d's angle with the phase of its key head. */
static void phase_on(const part *p, pe_params w, int64_t kv_head, int64_t d, double *c, double *s)
{
    double phase = param(p, w, p->polar.phases, kv_head * p->shape.head_dim + d), x = cos(phase), y = sin(phase);
    double cosine = *c * x - *s * y;
    *s = *s * x + *c * y;
    *c = cosine;
}

double polar_term(const part *p, pe_params w, int64_t kv_head, vec q, vec k, const double *c, const double *s)
{
    double sum = 0;
    for (int64_t d = 0; d < p->shape.head_dim; d++) {
        double x = c[d], y = s[d];
        phase_on(p, w, kv_head, d, &x, &y);
        sum += polar_size(vec_get(q, d)) * polar_size(vec_get(k, d)) * x;
    }
    return sum;
}

typedef struct polar_grad {
    vec dq, dk;
    pe_params dw;
} polar_grad;

static void polar_term_back(const part *p, pe_params w, int64_t kv_head, vec q, vec k, const double *c, const double *s,
                            const polar_grad *g, double ds)
{
    for (int64_t d = 0; d < p->shape.head_dim; d++) {
        double x = c[d], y = s[d], a = vec_get(q, d), b = vec_get(k, d), sizes = polar_size(a) * polar_size(b);
        phase_on(p, w, kv_head, d, &x, &y);
        vec_add(g->dq, d, ds * polar_slope(a) * polar_size(b) * x);
        vec_add(g->dk, d, ds * polar_size(a) * polar_slope(b) * x);
        grad(p, g->dw, p->polar.phases, kv_head * p->shape.head_dim + d, -ds * sizes * y);
    }
}

static bool pair_is_seen(const pe_tile *t, int64_t h, int64_t i, int64_t j)
{
    return !t->seen || t->seen[h * t->seen_head_stride + i * t->k_at.tokens + j];
}

/* One pair of a query and a key: all heads share the angles. */
static void polar_pair(const pe_encoding *e, const part *p, pe_params w, const pe_tile *t, const pe_tile_grad *g,
                       int64_t i, int64_t j)
{
    double c[POLAR_MAX], s[POLAR_MAX];
    int64_t H = e->shape.heads, group = H / e->shape.kv_heads, h = 0;
    while (h < H && !pair_is_seen(t, h, i, j))
        h++;
    if (h < H)
        polar_angles(p, coordinate_real(t->k_at, j, 0) - coordinate_real(t->q_at, i, 0), c, s);
    for (; h < H; h++) {
        vec x = row_vec(t->q, i, h), y = row_vec(t->k, j, h / group);
        if (!pair_is_seen(t, h, i, j))
            continue;
        if (!g)
            vec_add(row_vec(t->score, i, h), j, polar_term(p, w, h / group, x, y, c, s));
        else if (vec_get(row_vec(g->dscore, i, h), j) != 0) {
            polar_grad to = { row_vec(g->dq, i, h), row_vec(g->dk, j, h / group), g->dparams };
            polar_term_back(p, w, h / group, x, y, c, s, &to, vec_get(row_vec(g->dscore, i, h), j));
        }
    }
}

void polar_content(const pe_encoding *e, const part *p, pe_params w, const pe_tile *t, const pe_tile_grad *g)
{
    for (int64_t i = 0; i < t->q_at.tokens; i++)
        for (int64_t j = 0; j < t->k_at.tokens; j++)
            polar_pair(e, p, w, t, g, i, j);
}
