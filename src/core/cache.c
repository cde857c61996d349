/* SPDX-License-Identifier: MIT
 *
 * Caches: pe_cache_shift and pe_cache_rebase. Both rotate keys that are rotated already by the difference of two
 * rotations, in the elements that the rotation wrote; here they are checked and made into one kind of move. */
#include "core/encoding.h"
#include "core/place.h"
#include "core/pool.h"
#include "core/rotation.h"

#include <inttypes.h>
#include <string.h>

#define PAIRS_MAX (PE_HEAD_DIM_MAX / 2)

/* Keys rotated by `from` at from_at become keys rotated by `to` at to_at. Either the encoding is one and the positions
 * differ, or the positions are one and the encodings differ in how fast and how large they rotate the same elements. */
typedef struct move {
    const kernels *kernels;
    const part *to, *from;
    pe_params w; /* of frequencies that are trained: to and from are then one */
    pe_positions to_at, from_at;
    pe_view k;                      /* (sequences, tokens, heads, dim), or pages */
    pe_pages pages;                 /* table NULL: none */
    int64_t batch, tokens;          /* of the positions */
    bool blocks;                    /* the keys are quantised */
    int64_t first, last;            /* elements that rotate lie from first to last - 1 */
    double magnitude;               /* of to over that of from, where neither decays */
    bool exact;                     /* the angle is steps times frequency            */
    double frequency[3][PAIRS_MAX]; /* turns per step, as the kernel wants it */
} move;

pe_status check_pages(const pe_pages *p, pe_view k, int64_t batch, int64_t tokens, const int64_t *length, pe_error *err)
{
    TRY(check_page_table(p, k, batch, tokens, err));
    for (int64_t b = 0; b < batch; b++) {
        int64_t used = length ? length[b] : tokens, pages = used > 0 ? (used - 1) / k.tokens + 1 : 0;
        for (int64_t n = 0; n < pages; n++)
            if (p->table[b * p->columns + n] < 0 || p->table[b * p->columns + n] >= k.batch)
                return pe_fail(err, PE_ERR_RANGE,
                               "pages: entry %" PRId64 " of sequence %" PRId64 " is %d; there are %" PRId64 " pages", n,
                               b, (int)p->table[b * p->columns + n], k.batch);
    }
    return PE_OK;
}

/* ---------------------------------------------------------------- the loops */

/* The loops of a cache: cos and sin of the difference of two rotations, made once for tokens in a row that move alike;
 * then every head's row in place, through float32 where it is stored in blocks. */

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

/* ln of what pair n's magnitude is multiplied by, beyond m->magnitude, from one position to the other. */
static double move_decay(const move *m, int64_t to_at, int64_t from_at, int64_t n)
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

/* Blocks first .. end - 1 of a row back to where they came from, those of them that hold something that changes: the
 * others keep their bits. */
static void cache_narrow_changed(const move *m, const factors *f, char *key, const float *x, int64_t first, int64_t end)
{
    int64_t bytes = block_bytes(m->k.dtype);
    for (int64_t b = first, next; b < end; b = next) {
        bool changes = f->blocks >> b & 1;
        for (next = b + 1; next < end && (f->blocks >> next & 1) == changes;)
            next++;
        if (changes)
            m->kernels->narrow(key + b * bytes, m->k.dtype, x + b * BLOCK_WIDTH, (next - b) * BLOCK_WIDTH);
    }
}

/* Rows through float32, as many together as there is room for; those without a gap are one long row to and from it. */
static void cache_rotate_blocks(const move *m, const factors *f, char *key, int64_t rows, int64_t stride)
{
    float x[PE_HEAD_DIM_MAX];
    int64_t dim = m->k.dim, most = PE_HEAD_DIM_MAX / dim, step = dtype_bytes(m->k.dtype, stride);
    int64_t first = m->first / BLOCK_WIDTH, end = (m->last - 1) / BLOCK_WIDTH + 1, blocks = dim / BLOCK_WIDTH;
    bool whole = stride == dim && f->blocks == UINT64_MAX >> (64 - blocks);
    for (int64_t n = 0; n < rows; n += most, key += most * step) {
        int64_t count = rows - n < most ? rows - n : most;
        if (whole)
            m->kernels->widen(x, key, m->k.dtype, count * dim);
        for (int64_t r = 0; !whole && r < count; r++)
            m->kernels->widen(x + r * dim + first * BLOCK_WIDTH, key + r * step + first * block_bytes(m->k.dtype),
                              m->k.dtype, (end - first) * BLOCK_WIDTH);
        cache_rotate_numbers(m, f, PE_F32, x, count, dim);
        if (whole)
            m->kernels->narrow(key, m->k.dtype, x, count * dim);
        for (int64_t r = 0; !whole && r < count; r++)
            cache_narrow_changed(m, f, key + r * step, x + r * dim, first, end);
    }
}

/* Rows of this token and head of a page or sequence and on, each `stride` elements after the last. */
static void cache_rotate_rows(const move *m, const factors *f, pe_view k, int64_t token, int64_t head, int64_t rows,
                              int64_t stride)
{
    const lane *at = m->to->to;
    char *key = (char *)k.data + dtype_bytes(k.dtype, token * k.token_stride + head * k.head_stride);
    if (m->blocks)
        cache_rotate_blocks(m, f, key, rows, stride);
    else if (k.dtype != PE_F64)
        cache_rotate_numbers(m, f, k.dtype, key, rows, stride);
    else
        for (int64_t n = 0; n < rows; n++, key += dtype_bytes(k.dtype, stride))
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

/* ---------------------------------------------------------------- calls */

static pe_status open_cache(move *m, const pe_encoding *e, pe_view k, const pe_pages *pages, pe_positions at,
                            pe_error *err)
{
    if (pages)
        CHECK_POINTER(pe_pages, pages, "pages");
    int64_t dim = rotating_part(e, PE_KEY) ? e->shape.head_dim : -1;
    TRY(check_cache(&k, dim, e->text, &types_cache, pages, at, &m->batch, &m->tokens, err));
    m->k = k;
    m->blocks = block_kind(k.dtype);
    if (pages)
        m->pages = *pages;
    return pages ? check_pages(pages, k, m->batch, m->tokens, NULL, err) : PE_OK;
}

static region table_region(const move *m)
{
    return array_region("pages.table", m->pages.table, m->pages.table ? m->batch * m->pages.columns : 0,
                        sizeof(int32_t), READS);
}

/* How far ln of a factor may go: both ends are served, but from one to the other it may still overflow. */
static pe_status check_decay(const move *m, pe_error *err)
{
    double most = m->k.dtype == PE_F64 ? 600 : 80;
    if (!m->to->decay && !m->from->decay)
        return PE_OK;
    for (int64_t r = 0; r < m->batch * m->tokens; r++) {
        int64_t to[PE_AXES_MAX], from[PE_AXES_MAX], t = r % m->tokens;
        position(positions_at(m->to_at, r / m->tokens), t, to);
        position(positions_at(m->from_at, r / m->tokens), t, from);
        for (int64_t n = 0; n < m->to->pairs; n++)
            if (fabs(move_decay(m, to[0], from[0], n)) > most)
                return pe_fail(err, PE_ERR_POSITION,
                               "token %" PRId64 ": from position %" PRId64 " to %" PRId64
                               " its key would be multiplied by e^%s; needs e^-%s to e^%s: shift it in smaller steps",
                               t, from[0], to[0], text_show(move_decay(m, to[0], from[0], n)).text,
                               text_show(most).text, text_show(most).text);
    }
    return PE_OK;
}

/* What the two rotations have in common, so that their difference is steps times one frequency, if that is so. */
static void settle_move(move *m)
{
    m->exact = m->to->exact && m->from->exact;
    m->first = m->to->shape.head_dim;
    for (int64_t n = 0; n < m->to->pairs; n++) {
        const pair *a = &m->to->pair[n], *b = &m->from->pair[n];
        lane at = m->to->to[n];
        int64_t low = at.x < at.y ? at.x : at.y, high = at.x + at.y - low;
        m->first = low < m->first ? low : m->first;
        m->last = high + 1 > m->last ? high + 1 : m->last;
        m->exact = m->exact && a->axis == b->axis && a->multiplier == b->multiplier && a->shift == b->shift;
        wide f = m->to == m->from ? a->frequency : wide_sub(a->frequency, b->frequency);
        for (int i = 0; i < 3; i++)
            m->frequency[i][n] = f.part[i];
    }
}

static pe_status cache_rotate_keys(move *m, const pe_pool *pool, pe_error *err)
{
    pe_dtype type = m->blocks ? PE_F16 : m->k.dtype; /* the scale of a block */
    TRY(check_rotation(m->from, PE_KEY, type, m->from_at, err));
    TRY(check_rotation(m->to, PE_KEY, type, m->to_at, err));
    TRY(check_decay(m, err));
    if (!m->to->pairs || !m->k.heads || !m->tokens)
        return pe_pass(err);
    settle_move(m);
    pool_run(pool, cache_rotate_tokens, m, m->batch * jobs_of(m));
    return pe_pass(err);
}

pe_status pe_cache_shift(const pe_encoding *e, pe_view k, const pe_pages *pages, pe_positions from, pe_positions to,
                         const pe_run *given, pe_error *err)
{
    pe_run run;
    move m = { .magnitude = 1 };
    CHECK_POINTER(pe_encoding, e, "the encoding");
    TRY(check_run(&run, given, err));
    TRY(open_cache(&m, e, k, pages, from, err));
    TRY(check_positions(&from, "the positions from", m.batch, m.tokens, e->axes, err));
    TRY(check_positions(&to, "the positions to", m.batch, m.tokens, e->axes, err));
    CHECK_MEMORY(false, view_region("the cache", m.k, WRITES), positions_region("the positions from", from),
                 positions_region("the positions to", to), table_region(&m),
                 trained_region(rotating_part(e, PE_KEY), run.params),
                 array_region("the pool", run.pool, 1, sizeof(pe_pool), READS));
    const part *p = rotating_part(e, PE_KEY);
    if (!p)
        return pe_pass(err);
    TRY(check_trained(e, p, run.params, k.heads, err));
    if (p->mix.waves)
        return pe_fail(err, PE_ERR_UNSUITED,
                       "%s rotates keys by more than the difference of positions; use pe_unrotate and pe_rotate",
                       p->row->info.name);
    m.kernels = &e->kernels;
    m.w = run.params;
    m.to = m.from = p;
    m.to_at = to;
    m.from_at = from;
    return cache_rotate_keys(&m, run.pool, err);
}

/* Both rotate the same pairs of elements, or neither rotates any. */
static pe_status check_same_pairs(const pe_encoding *to, const pe_encoding *from, pe_error *err)
{
    const part *a = rotating_part(to, PE_KEY), *b = rotating_part(from, PE_KEY);
    if (!a != !b)
        return pe_fail(err, PE_ERR_UNSUITED, "%.80s rotates and %.80s does not; rotate these keys with pe_%srotate",
                       (a ? to : from)->text, (a ? from : to)->text, a ? "" : "un");
    if (!a)
        return PE_OK;
    if (to->shape.head_dim != from->shape.head_dim || a->pairs != b->pairs)
        return pe_fail(err, PE_ERR_UNSUITED,
                       "%.80s rotates %" PRId64 " pairs of %" PRId64 " elements, %.80s %" PRId64 " of %" PRId64
                       "; both must rotate the same elements",
                       to->text, a->pairs, to->shape.head_dim, from->text, b->pairs, from->shape.head_dim);
    for (int64_t n = 0; n < a->pairs; n++) {
        lane x = a->to[n], y = b->to[n], x_in = a->from[n], y_in = b->from[n];
        if (x.x != y.x || x.y != y.y || x_in.x != y_in.x || x_in.y != y_in.y)
            return pe_fail(err, PE_ERR_UNSUITED,
                           "pair %" PRId64 " of %.60s rotates elements %" PRId64 " and %" PRId64 " into %" PRId64
                           " and %" PRId64 ", of %.60s %" PRId64 " and %" PRId64 " into %" PRId64 " and %" PRId64
                           "; both must rotate the same elements",
                           n, to->text, x_in.x, x_in.y, x.x, x.y, from->text, y_in.x, y_in.y, y.x, y.y);
    }
    return PE_OK;
}

pe_status pe_cache_rebase(const pe_encoding *to, const pe_encoding *from, pe_view k, const pe_pages *pages,
                          pe_positions at, const pe_run *given, pe_error *err)
{
    pe_run run;
    move m = { .magnitude = 1 };
    CHECK_POINTER(pe_encoding, to, "the encoding to");
    CHECK_POINTER(pe_encoding, from, "the encoding from");
    TRY(check_run(&run, given, err));
    if (to->axes != from->axes)
        return pe_fail(err, PE_ERR_UNSUITED, "%.80s has %" PRId64 " axes and %.80s %" PRId64 "; both need the same",
                       to->text, to->axes, from->text, from->axes);
    TRY(check_same_pairs(to, from, err));
    TRY(open_cache(&m, to, k, pages, at, err));
    TRY(check_positions(&at, "positions", m.batch, m.tokens, to->axes, err));
    CHECK_MEMORY(false, view_region("the cache", m.k, WRITES), positions_region("positions", at), table_region(&m),
                 array_region("the pool", run.pool, 1, sizeof(pe_pool), READS));
    m.to = rotating_part(to, PE_KEY);
    m.from = rotating_part(from, PE_KEY);
    if (!m.to)
        return pe_pass(err);
    if (m.to->trained || m.from->trained)
        return pe_fail(err, PE_ERR_UNSUITED,
                       "frequencies that are trained have no other encoding's to go to; use pe_unrotate and pe_rotate");
    m.kernels = &to->kernels;
    m.to_at = m.from_at = at;
    m.magnitude = pe_encoding_magnitude(to) / pe_encoding_magnitude(from);
    return cache_rotate_keys(&m, run.pool, err);
}
