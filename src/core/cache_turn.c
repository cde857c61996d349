/* SPDX-License-Identifier: MIT
 *
 * The loops of a cache: cos and sin of the difference of two turns, made once per token and kept while tokens move
 * alike; then every head's row in place, through float32 where it is stored in less. */
#include "core/cache.h"

#include <string.h>

#include "kernels/block.h"
#include "kernels/turn.h"

#define TOKENS_PER_JOB 128
#define PAIRS_AT_ONCE 64

/* Where a token goes and comes from. */
typedef struct route {
    int64_t to[PE_AXES_MAX], from[PE_AXES_MAX];
} route;

/* What multiplies the pairs of a token. */
typedef struct factors {
    route route; /* that they were made for */
    bool made;
    uint64_t blocks; /* bit b: some of the elements 32 b .. 32 b + 31 change */
    union {
        float f32[PAIRS_MAX];
        double f64[PAIRS_MAX];
    } c, s;
} factors;

_Static_assert(PE_HEAD_DIM_MAX / BLOCK_WIDTH <= 64, "a bit per block of a head");

/* One encoding whose angles are exact sees the difference only, so that tokens that move alike have one route. */
static route route_of(const move *m, int64_t token)
{
    route r = { { 0 }, { 0 } };
    position(m->to_at, token, r.to);
    position(m->from_at, token, r.from);
    for (int64_t a = 0; m->exact && m->to == m->from && a < m->to_at.axes; a++) {
        r.to[a] -= r.from[a];
        r.from[a] = 0;
    }
    return r;
}

double move_decay(const move *m, int64_t to_at, int64_t from_at, int64_t n)
{
    if (m->to == m->from)
        return m->to->decay ? -(double)(to_at - from_at) * m->to->decay[n] : 0;
    double to = m->to->decay ? (double)(to_at - m->to->centre) * m->to->decay[n] : 0;
    double from = m->from->decay ? (double)(from_at - m->from->centre) * m->from->decay[n] : 0;
    return from - to;
}

/* cos and sin of the second angle less the first, for pairs first .. first + count - 1. */
static void exact_difference(const move *m, const route *r, int64_t first, int64_t count, double *c, double *s)
{
    for (int64_t i = 0; i < count; i++) {
        const pair *f = &m->to->pair[first + i];
        int64_t steps = r->to[f->axis] * f->multiplier + (m->to == m->from ? 0 : f->shift);
        turn_cos_sin((double)steps, m->frequency[first + i], &c[i], &s[i]);
    }
}

static void difference(const move *m, const route *r, int64_t first, int64_t count, double *c, double *s)
{
    for (int64_t i = 0; i < count; i++) {
        turn a = m->to->row->turn(m->to, PE_KEY, r->to, first + i);
        turn b = m->from->row->turn(m->from, PE_KEY, r->from, first + i);
        bool same = a.cosine == b.cosine && a.sine == b.sine;
        c[i] = same ? 1 : a.cosine * b.cosine + a.sine * b.sine;
        s[i] = same ? 0 : a.sine * b.cosine - a.cosine * b.sine;
    }
}

static void set_factor(const move *m, factors *f, int64_t n, double c, double s)
{
    lane at = m->to->to[n];
    if (m->k.dtype == PE_F64) {
        f->c.f64[n] = c;
        f->s.f64[n] = s;
    } else {
        f->c.f32[n] = (float)c;
        f->s.f32[n] = (float)s;
    }
    if (c != 1 || s != 0)
        f->blocks |= UINT64_C(1) << at.x / BLOCK_WIDTH | UINT64_C(1) << at.y / BLOCK_WIDTH;
}

static void prepare(const move *m, const route *r, factors *f)
{
    double c[PAIRS_AT_ONCE], s[PAIRS_AT_ONCE];
    if (f->made && !memcmp(&f->route, r, sizeof *r))
        return;
    f->route = *r;
    f->made = true;
    f->blocks = 0;
    for (int64_t n = 0; n < m->to->pairs; n += PAIRS_AT_ONCE) {
        int64_t count = m->to->pairs - n < PAIRS_AT_ONCE ? m->to->pairs - n : PAIRS_AT_ONCE;
        (m->exact ? exact_difference : difference)(m, r, n, count, c, s);
        for (int64_t i = 0; i < count; i++) {
            double decay = move_decay(m, r->to[0], r->from[0], n + i);
            double size = decay != 0 ? m->magnitude * exp(decay) : m->magnitude;
            set_factor(m, f, n + i, c[i] * size, s[i] * size);
        }
    }
}

/* A head's row in float32, in place. */
static void turn_row(const move *m, const factors *f, float *x)
{
    rotate_f32_c(x, x, m->to->to, m->to->to, f->c.f32, f->s.f32, m->to->pairs, NULL, 0, 1);
}

static void turn_row_f64(const move *m, const factors *f, double *x)
{
    rotate_f64_c(x, x, m->to->to, m->to->to, f->c.f64, f->s.f64, m->to->pairs, NULL, 0, 1);
}

static void turn_halves(const move *m, const factors *f, uint16_t *key)
{
    float x[PE_HEAD_DIM_MAX];
    m->kernels->widen(x + m->first, key + m->first, m->k.dtype, m->last - m->first);
    turn_row(m, f, x);
    m->kernels->narrow(key + m->first, m->k.dtype, x + m->first, m->last - m->first);
}

/* Blocks that hold nothing that changes keep their bits. */
static void turn_blocks(const move *m, const factors *f, unsigned char *key)
{
    float x[PE_HEAD_DIM_MAX];
    int64_t bytes = block_bytes(m->block), from = m->first / BLOCK_WIDTH, end = (m->last - 1) / BLOCK_WIDTH + 1;
    for (int64_t b = from; b < end; b++)
        block_load(x + b * BLOCK_WIDTH, key + b * bytes, m->block);
    turn_row(m, f, x);
    for (int64_t b = from; b < end; b++)
        if (f->blocks >> b & 1)
            block_store(key + b * bytes, x + b * BLOCK_WIDTH, m->block);
}

static void turn_token(const move *m, const factors *f, int64_t token)
{
    for (int64_t h = 0; h < m->k.heads; h++) {
        int64_t at = token * m->k.token_stride + h * m->k.head_stride;
        if (m->block)
            turn_blocks(m, f, (unsigned char *)((uint16_t *)m->k.data + at));
        else if (m->k.dtype == PE_F64)
            turn_row_f64(m, f, (double *)m->k.data + at);
        else if (m->k.dtype == PE_F32)
            turn_row(m, f, (float *)m->k.data + at);
        else
            turn_halves(m, f, (uint16_t *)m->k.data + at);
    }
}

/* Tokens that stay where they are keep their bits. */
static void turn_tokens(void *arg, int64_t job, int worker)
{
    (void)worker;
    const move *m = arg;
    factors f;
    f.made = false;
    int64_t end = m->k.tokens - job * TOKENS_PER_JOB < TOKENS_PER_JOB ? m->k.tokens : (job + 1) * TOKENS_PER_JOB;
    for (int64_t t = job * TOKENS_PER_JOB; t < end; t++) {
        route r = route_of(m, t);
        prepare(m, &r, &f);
        if (f.blocks)
            turn_token(m, &f, t);
    }
}

void cache_turn(move *m, const pe_pool *pool)
{
    pool_run(pool, turn_tokens, m, m->k.tokens / TOKENS_PER_JOB + (m->k.tokens % TOKENS_PER_JOB != 0));
}
