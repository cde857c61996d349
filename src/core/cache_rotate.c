/* SPDX-License-Identifier: MIT
 *
 * The loops of a cache: cos and sin of the difference of two rotations, made once for tokens in a row that move alike;
 * then every head's row in place, through float32 where it is stored in blocks. */
#include "core/cache.h"
#include "core/rotation.h"

#include <string.h>

#define TOKENS_PER_JOB 128
#define PAIRS_AT_ONCE 64

/* Where a token goes and comes from. */
typedef struct route {
    int64_t to[PE_AXES_MAX], from[PE_AXES_MAX];
} route;

/* What multiplies the pairs of a token. */
typedef struct factors {
    uint64_t blocks; /* bit b: some of the elements 32 b .. 32 b + 31 change */
    union {
        float f32[PAIRS_MAX];
        double f64[PAIRS_MAX];
    } c, s;
} factors;

_Static_assert(PE_HEAD_DIM_MAX / BLOCK_WIDTH <= 64, "a bit per block of a head");

/* One encoding whose angles are exact sees the difference only, so that tokens that move alike have one route. */
static route route_of(const move *m, int64_t sequence, int64_t token)
{
    route r = { { 0 }, { 0 } };
    position(positions_at(m->to_at, sequence), token, r.to);
    position(positions_at(m->from_at, sequence), token, r.from);
    for (int64_t a = 0; m->exact && m->to == m->from && a < m->to_at.axes; a++) {
        r.to[a] -= r.from[a];
        r.from[a] = 0;
    }
    return r;
}

static bool goes_along(const move *m, const route *r, int64_t sequence, int64_t token)
{
    route other = route_of(m, sequence, token);
    return !memcmp(&other, r, sizeof other);
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
    double steps[PAIRS_AT_ONCE];
    for (int64_t i = 0; i < count; i++) {
        const pair *f = &m->to->pair[first + i];
        steps[i] = (double)(r->to[f->axis] * f->multiplier + (m->to == m->from ? 0 : f->shift));
    }
    m->kernels->turns(c, s, steps, m->frequency[0] + first, PAIRS_MAX, count);
}

static void difference(const move *m, const route *r, int64_t first, int64_t count, double *c, double *s)
{
    for (int64_t i = 0; i < count; i++) {
        pair_rotation a = m->to->row->rotate(m->to, PE_KEY, r->to, first + i);
        pair_rotation b = m->from->row->rotate(m->from, PE_KEY, r->from, first + i);
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

/* Of one key head, where frequencies are trained: all that counts is how far it goes; its size stays. */
static void prepare_head(const move *m, const route *r, int64_t head, factors *f)
{
    double by[PE_AXES_MAX] = { 0 };
    for (int64_t a = 0; a < m->to_at.axes; a++)
        by[a] = (double)(r->to[a] - r->from[a]);
    f->blocks = 0;
    for (int64_t n = 0; n < m->to->pairs; n++) {
        double c, s;
        trained_angle(m->to, m->w, head, by, n, &c, &s);
        set_factor(m, f, n, c, s);
    }
}

/* Rows of float32, float16 or bfloat16, in place: runs of pairs as they were written. */
static void cache_rotate_numbers(const move *m, const factors *f, pe_dtype type, void *key, int64_t rows,
                                 int64_t stride)
{
    const rotation_plan *q = m->to->plan;
    for (int i = 0; i < q->runs[0]; i++) {
        pair_run r = q->run[0][i];
        r.from = r.to;
        r.from_step = r.to_step;
        m->kernels->rotate[type](key, stride, key, stride, rows, &r, f->c.f32, f->s.f32, 0);
    }
}

/* Blocks that hold nothing that changes keep their bits. */
static void cache_rotate_blocks(const move *m, const factors *f, unsigned char *key)
{
    float x[PE_HEAD_DIM_MAX];
    int64_t bytes = block_bytes(m->k.dtype), from = m->first / BLOCK_WIDTH, end = (m->last - 1) / BLOCK_WIDTH + 1;
    for (int64_t b = from; b < end; b++)
        block_load(x + b * BLOCK_WIDTH, key + b * bytes, m->k.dtype);
    cache_rotate_numbers(m, f, PE_F32, x, 1, 0);
    for (int64_t b = from; b < end; b++)
        if (f->blocks >> b & 1)
            block_store(key + b * bytes, x + b * BLOCK_WIDTH, m->k.dtype);
}

/* Rows of this token and head of a page or sequence and on, each `stride` elements after the last. */
static void cache_rotate_rows(const move *m, const factors *f, pe_view k, int64_t token, int64_t head, int64_t rows,
                              int64_t stride)
{
    const lane *at = m->to->to;
    char *key = (char *)k.data + dtype_bytes(k.dtype, token * k.token_stride + head * k.head_stride);
    if (!m->blocks && k.dtype != PE_F64) {
        cache_rotate_numbers(m, f, k.dtype, key, rows, stride);
        return;
    }
    for (int64_t n = 0; n < rows; n++, key += dtype_bytes(k.dtype, stride))
        if (m->blocks)
            cache_rotate_blocks(m, f, (unsigned char *)key);
        else
            rotate_f64_c((double *)(void *)key, (double *)(void *)key, at, at, f->c.f64, f->s.f64, m->to->pairs, NULL,
                         0, 1);
}

/* Memory is walked the way it lies: heads of a token, or tokens of a head. */
static void cache_rotate_alike(const move *m, const factors *f, pe_view k, int64_t first, int64_t end)
{
    if (k.token_stride < k.head_stride)
        for (int64_t h = 0; h < k.heads; h++)
            cache_rotate_rows(m, f, k, first, h, end - first, k.token_stride);
    else
        for (int64_t t = first; t < end; t++)
            cache_rotate_rows(m, f, k, t, 0, k.heads, k.head_stride);
}

/* Tokens first .. end - 1 of a sequence, page by page where there are pages. */
static void cache_rotate_stretch(const move *m, const factors *f, pe_view k, int64_t sequence, int64_t first,
                                 int64_t end)
{
    int64_t size = k.tokens;
    if (!m->pages.table) {
        cache_rotate_alike(m, f, view_at(k, sequence), first, end);
        return;
    }
    for (int64_t t = first, last; t < end; t = last) {
        int64_t page = t / size;
        last = (page + 1) * size < end ? (page + 1) * size : end;
        cache_rotate_alike(m, f, view_at(k, m->pages.table[sequence * m->pages.columns + page]), t - page * size,
                           last - page * size);
    }
}

static pe_view head_of(pe_view k, int64_t h)
{
    k.data = (char *)k.data + dtype_bytes(k.dtype, h * k.head_stride);
    k.heads = 1;
    return k;
}

static int64_t jobs_of(const move *m)
{
    return m->tokens / TOKENS_PER_JOB + (m->tokens % TOKENS_PER_JOB != 0);
}

/* Tokens that stay where they are keep their bits. */
static void cache_rotate_tokens(void *arg, int64_t job, int worker)
{
    (void)worker;
    const move *m = arg;
    factors f;
    int64_t b = job / jobs_of(m), first = job % jobs_of(m) * TOKENS_PER_JOB, left = m->tokens - first;
    int64_t end = left < TOKENS_PER_JOB ? m->tokens : first + TOKENS_PER_JOB;
    for (int64_t t = first, next; t < end; t = next) {
        route r = route_of(m, b, t);
        for (next = t + 1; next < end && goes_along(m, &r, b, next);)
            next++;
        for (int64_t h = 0; m->to->trained && h < m->k.heads; h++) {
            prepare_head(m, &r, trained_head(m->to, m->k.heads, h), &f);
            if (f.blocks)
                cache_rotate_stretch(m, &f, head_of(m->k, h), b, t, next);
        }
        if (m->to->trained)
            continue;
        prepare(m, &r, &f);
        if (f.blocks)
            cache_rotate_stretch(m, &f, m->k, b, t, next);
    }
}

void cache_rotate(move *m, const pe_pool *pool)
{
    pool_run(pool, cache_rotate_tokens, m, m->batch * jobs_of(m));
}
