/* SPDX-License-Identifier: MIT
 *
 * Queries, keys and values: to float32, rotated, and laid out for tiles. */
#include "attention/fused.h"

#include "kernels/turn.h"

static const rotation_mode forward = { false, false };

/* (n, heads, dim) of a view from token t on; keys and values may lie in pages. */
void ready_load(const fused *f, float *to, pe_view from, int64_t t, int64_t n, bool cached)
{
    bool packed = from.head_stride == from.dim || from.heads == 1;
    int64_t heads = packed ? 1 : from.heads, dim = packed ? from.heads * from.dim : from.dim;
    for (int64_t i = 0; i < n; i++)
        for (int64_t h = 0; h < heads; h++) {
            const char *at = cached ? problem_row(&f->p, from, t + i, h)
                                    : (const char *)from.data + dtype_bytes(from.dtype, row_vec(from, t + i, h).at);
            f->k->widen(to + (i * heads + h) * dim, at, from.dtype, dim);
        }
}

void ready_raw(const fused *f, float *to, pe_side side, int64_t t, int64_t h)
{
    pe_view q = f->p.a.q, k = f->p.a.k;
    if (side == PE_QUERY)
        f->k->widen(to, (const char *)q.data + dtype_bytes(q.dtype, row_vec(q, t, h).at), q.dtype, f->raw);
    else
        f->k->widen(to, problem_row(&f->p, k, t, h), k.dtype, f->raw);
}

/* Every vector on by the angle of `shift`, or back. */
static void rotate_on(const fused *f, float *x, int64_t vectors, int64_t shift, bool back)
{
    const part *p = f->p.rotating;
    for (int64_t n = 0; n < p->pairs; n++) {
        double cosine, sine;
        turn_cos_sin((double)shift, p->pair[n].frequency, &cosine, &sine);
        float c = (float)cosine, w = back ? -(float)sine : (float)sine;
        for (int64_t r = 0; r < vectors; r++) {
            float *a = x + r * f->D + p->to[n].x, *b = x + r * f->D + p->to[n].y, old = *a;
            *a = old * c - *b * w;
            *b = old * w + *b * c;
        }
    }
}

/* A shift is meant for the magnitude, which attention centres per tile; the angle stays that of the position itself. */
void ready_rotate(const fused *f, pe_side side, rotation_mode mode, float *x, int64_t head, int64_t heads, int64_t dim,
                  pe_positions at, int64_t t, int64_t n, int64_t shift)
{
    pe_view v = pe_view_of(x, PE_F32, 1, n, heads, dim);
    rotation_job job = {
        .k = f->k, .p = f->p.rotating, .side = side, .mode = mode, .y = v, .x = v, .w = f->p.w, .shift = shift
    };
    job.at = positions_from(at, t, n);
    job.head = head;
    job.heads = side == PE_QUERY || side == PE_OUTPUT ? f->H : f->G;
    if (shift && mode.negate)
        rotate_on(f, x, n * heads, shift, true);
    rotate_tokens(&job, 1, false, NULL);
    if (shift && !mode.negate)
        rotate_on(f, x, n * heads, shift, false);
}

/* A query's gain, on what the caller gives beside it. */
void ready_gain(const fused *f, float *x, int64_t i, int64_t n)
{
    int64_t at[PE_AXES_MAX];
    if (f->p.rotating && f->p.rotating->gains)
        f->k->scale(x, (float)gain_at(f->p.rotating, PE_QUERY, position(f->p.a.q_at, i, at)), n);
}

static void ready_queries(const fused *f, scratch *s, int64_t t, int64_t n)
{
    ready_load(f, s->load, f->p.a.q, t, n, false);
    if (f->p.rotating)
        ready_rotate(f, PE_QUERY, forward, s->load, 0, f->H, f->D, f->p.a.q_at, t, n, f->ready.q_shift[t / BQ]);
    if (f->polar)
        polar_ready(f, PE_QUERY, s->load, f->H, f->p.a.q_at, t, n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t h = 0; h < f->H; h++)
            f->k->widen(f->ready.q + (h * f->Tq + t + i) * f->D, s->load + (i * f->H + h) * f->D, PE_F32, f->D);
    const pe_view r = f->p.a.relative;
    for (int64_t i = t; f->R && i < t + n; i++)
        for (int64_t h = 0; h < f->H; h++) {
            float *to = f->ready.relative + (h * f->Tq + i) * f->R;
            f->k->widen(to, (const char *)r.data + dtype_bytes(r.dtype, row_vec(r, i, h).at), r.dtype, f->R);
            ready_gain(f, to, i, f->R);
        }
}

/* (rows, width) of a tile: vectors from (H, Tq, dim), and extra (H, width) where it is given, times a factor. */
void ready_raise(const fused *f, float *to, const tile *t, const float *from, int64_t dim, int64_t width,
                 const float *extra, double factor)
{
    for (int64_t r = 0; r < t->heads * t->m; r++, to += width) {
        int64_t h = t->h + r / t->m;
        ready_pad(f, to, from + (h * f->Tq + t->i + r % t->m) * dim, dim, width);
        if (extra)
            f->k->add(to, extra + h * width, dim);
        if (factor != 1)
            f->k->scale(to, (float)factor, dim);
    }
}

/* A row of a table of parameters, (rows, heads, dims). */
void ready_param(const fused *f, const part *p, int table, int64_t at, int64_t h, float *to, int64_t dims)
{
    const tensor *x = &p->tensor[table];
    int64_t first = x->offset + (at * x->shape[1] + h) * x->shape[2];
    f->k->widen(to, (const char *)f->p.w.data + first * (int64_t)pe_dtype_size(f->p.w.dtype), f->p.w.dtype, dims);
}

/* A sum that is finite has seen neither. */
bool ready_odd(const fused *f, const float *x, int64_t rows, int64_t stride, int64_t n)
{
    float sum = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t d = isfinite(f->k->sum(x + i * stride, n)) ? n : 0; d < n; d++)
            sum += x[i * stride + d] * 0;
    return sum != 0;
}

/* Rows from token t on, of one head: transposed into its panel. */
void ready_panel(const fused *f, float *panel, const float *x, int64_t stride, int64_t n, int64_t dim)
{
    for (int64_t d = 0; n < PANEL && d < dim; d++)
        for (int64_t i = n; i < PANEL; i++)
            panel[d * PANEL + i] = 0;
    f->k->transpose(panel, PANEL, x, stride, n, dim, false);
}

void ready_pad(const fused *f, float *to, const float *x, int64_t dim, int64_t padded)
{
    f->k->widen(to, x, PE_F32, dim);
    for (int64_t d = dim; d < padded; d++)
        to[d] = 0;
}

void ready_along(const fused *f, float *to, const float *x, int64_t m, int64_t n, int64_t apart)
{
    for (int64_t r = 0; r < m; r++)
        f->k->pack_bf16(to + r * apart, x + r * apart, x + r * apart + 1, 2, (n + 1) / 2);
}

void ready_down(const fused *f, float *to, const float *x, int64_t m, int64_t n, int64_t apart)
{
    for (int64_t r = 0; r < m; r += 2, to += apart, x += 2 * apart)
        f->k->pack_bf16(to, x, r + 1 < m ? x + apart : NULL, 1, n);
}

/* Tokens of one head, `stride` apart: as a panel and as rows, where these are wanted. even (BQ, padded) is free. */
static void pack_head(const fused *f, float *panel, float *rows, const float *x, int64_t stride, int64_t n, int64_t dim,
                      int64_t padded, float *even)
{
    float *to = f->bf16 ? even : rows;
    for (int64_t i = 0; to && i < n; i++)
        ready_pad(f, to + i * padded, x + i * stride, dim, padded);
    if (rows && f->bf16)
        ready_down(f, rows, even, n, padded, padded);
    if (panel && f->bf16) {
        ready_along(f, even, even, n, padded, padded);
        ready_panel(f, panel, even, padded, n, fused_places(f, dim));
    } else if (panel)
        ready_panel(f, panel, x, stride, n, dim);
}

static void pack_keys(const fused *f, scratch *s, int64_t t, int64_t n)
{
    ready_load(f, s->load, f->p.a.k, t, n, true);
    if (f->ready.rotate_k)
        ready_rotate(f, PE_KEY, forward, s->load, 0, f->G, f->D, f->p.a.k_at, t, n, f->ready.k_shift[t / BK]);
    if (f->polar)
        polar_ready(f, PE_KEY, s->load, f->G, f->p.a.k_at, t, n);
    for (int64_t g = 0; g < f->G; g++) {
        const float *x = s->load + g * f->D;
        int64_t at = g * f->tiles * BK + t;
        float *rows = f->ready.kr ? f->ready.kr + fused_places(f, at) * f->Dp : NULL;
        pack_head(f, f->ready.kt + at * fused_places(f, f->D), rows, x, f->G * f->D, n, f->D, f->Dp, s->qa);
        f->ready.k_odd[at / LOAD] = ready_odd(f, x, n, f->G * f->D, f->D);
    }
}

static void pack_values(const fused *f, scratch *s, int64_t t, int64_t n)
{
    ready_load(f, s->load, f->p.a.v, t, n, true);
    if (f->ready.rotate_v)
        ready_rotate(f, PE_VALUE, forward, s->load, 0, f->G, f->Dv, f->p.a.k_at, t, n, 0);
    for (int64_t g = 0; g < f->G; g++) {
        const float *x = s->load + g * f->Dv;
        int64_t at = g * f->tiles * BK + t;
        float *panel = f->ready.vt ? f->ready.vt + at * fused_places(f, f->Dv) : NULL;
        pack_head(f, panel, f->ready.v + fused_places(f, at) * f->Dw, x, f->G * f->Dv, n, f->Dv, f->Dw, s->O);
        f->ready.v_odd[at / LOAD] = ready_odd(f, x, n, f->G * f->Dv, f->Dv);
    }
}

static void ready_block(void *arg, int64_t n, int worker)
{
    const fused *f = arg;
    scratch *s = &f->scratch[worker];
    int64_t queries = up_to(f->Tq, LOAD) / LOAD, t = n < queries ? n * LOAD : (n - queries) * LOAD;
    int64_t left = (n < queries ? f->Tq : f->Tk) - t, count = left < LOAD ? left : LOAD;
    if (n < queries) {
        ready_queries(f, s, t, count);
        return;
    }
    pack_keys(f, s, t, count);
    pack_values(f, s, t, count);
}

int64_t ready_place(const fused *f, int64_t b)
{
    const uint8_t *used = f->p.used;
    int64_t j = b * BK, end = j + BK < f->Tk ? j + BK : f->Tk;
    while (used && j < end - 1 && !used[j])
        j++;
    return coordinate(f->p.a.k_at, j, 0);
}

void ready_tokens(fused *f)
{
    int64_t centre = f->p.recentres ? f->p.rotating->centre : 0;
    for (int64_t i = 0; i < fused_queries(f); i++)
        f->ready.q_shift[i] = f->p.recentres ? coordinate(f->p.a.q_at, i * BQ, 0) - centre : 0;
    for (int64_t j = 0; j < f->tiles; j++)
        f->ready.k_shift[j] = f->p.recentres ? ready_place(f, j) - centre : 0;
    if (f->polar)
        polar_phases(f);
    for (int64_t n = 0; f->ready.v_odd && n < f->G * f->tiles * BK / LOAD; n++)
        f->ready.v_odd[n] = f->ready.k_odd[n] = 0;
    pool_run(f->p.pool, ready_block, f, up_to(f->Tq, LOAD) / LOAD + (f->direct ? 0 : up_to(f->Tk, LOAD) / LOAD));
}

/* Rows of many heads lie far apart where one head reads them, too far for a CPU to foresee: read once in the order of
 * memory, which it does, they are near when their heads come. Blocks wait for arithmetic more than for memory: while a head
 * computes, it asks for a share of the next tile's (kernels.h, soon), in order, where they lie side by side. */
static const char *foreseen(const fused *f, pe_view v, int64_t t, int64_t n)
{
    bool side_by_side = v.head_stride == v.dim && v.token_stride == v.heads * v.dim;
    if (!problem_blocks(v) || !side_by_side || t < 0 || t + n > f->Tk || problem_stretch(&f->p, t, n) < n)
        return NULL;
    return problem_row(&f->p, v, t, 0);
}

static void touch(const fused *f, pe_view v, int64_t from, int64_t to, bool first)
{
    bool packed = v.head_stride == v.dim;
    if (!first && to - from == BK && foreseen(f, v, from, BK))
        return;
    int64_t bytes = dtype_bytes(v.dtype, packed ? v.heads * v.dim : v.dim);
    for (int64_t t = from; t < to; t++)
        for (int64_t h = 0; h < (packed ? 1 : v.heads); h++) {
            const volatile char *at = problem_row(&f->p, v, t, h);
            for (int64_t b = 0; b < bytes; b += 64)
                (void)at[b];
        }
}

void ready_keys(const fused *f, scratch *s, const tile *t, bool first)
{
    const term_kind *kind;
    int64_t j = t->j, n = t->n;
    if (!f->direct)
        return;
    s->panels = false;
    for (int i = 0; (kind = kind_next(f, &i));)
        s->panels = s->panels || (kind->panels && kind->panels(f, t));
    s->loaded = f->ready.load_k || s->panels;
    if (f->G > 1 && !s->loaded)
        touch(f, f->p.a.k, j, j + n, first);
    if (f->G > 1 && !f->ready.load_v)
        touch(f, f->p.a.v, j, j + n, first);
    if (s->loaded)
        ready_load(f, s->load, f->p.a.k, j, n, true);
    if (f->ready.rotate_k && s->loaded)
        ready_rotate(f, PE_KEY, forward, s->load, 0, f->G, f->D, f->p.a.k_at, j, n, f->ready.k_shift[j / BK]);
    if (f->polar)
        polar_ready(f, PE_KEY, s->load, f->G, f->p.a.k_at, j, n);
    if (f->ready.load_v)
        ready_load(f, s->load_v, f->p.a.v, j, n, true);
    if (f->ready.rotate_v && f->ready.load_v)
        ready_rotate(f, PE_VALUE, forward, s->load_v, 0, f->G, f->Dv, f->p.a.k_at, j, n, 0);
}

kv_rows ready_rows(const fused *f, const scratch *s, bool values, const keys *k, int64_t j, int64_t *n)
{
    pe_view v = values ? f->p.a.v : f->p.a.k;
    if (values ? f->ready.load_v : s->loaded) {
        const float *from = values ? s->load_v : s->load;
        int64_t dim = values ? f->Dv : f->D;
        return (kv_rows){ from + (j * f->G + k->g) * dim, PE_F32, f->G * dim, NULL };
    }
    *n = problem_stretch(&f->p, k->j + j, *n);
    const char *soon = foreseen(f, v, k->j + j + (f->carries ? -BK : BK), *n);
    return (kv_rows){ problem_row(&f->p, v, k->j + j, k->g), v.dtype, v.token_stride,
                      soon ? soon + k->g * dtype_bytes(v.dtype, *n * v.dim) : NULL };
}

keys ready_tile(const fused *f, scratch *s, int64_t g, int64_t j, int64_t n)
{
    int64_t at = g * f->tiles * BK + j;
    keys k = { .g = g, .j = j };
    if (!f->direct) {
        k.kt = f->ready.kt + at * fused_places(f, f->D);
        k.v = f->ready.v + fused_places(f, at) * f->Dw;
        for (int64_t i = 0; i < n; i += LOAD)
            k.odd = k.odd || f->ready.v_odd[(at + i) / LOAD];
        return k;
    }
    for (int64_t i = 0; s->panels && i < n; i += PANEL)
        ready_panel(f, s->panel + i * f->D, s->load + (i * f->G + g) * f->D, f->G * f->D, n - i < PANEL ? n - i : PANEL,
                    f->D);
    k.kt = s->panels ? s->panel : NULL;
    return k;
}
