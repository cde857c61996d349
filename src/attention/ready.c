/* SPDX-License-Identifier: MIT
 *
 * Queries, keys and values: to float32, turned, and laid out for tiles. */
#include "attention/fused.h"

#include "kernels/turn.h"

static const turn_mode forward = { false, false };

/* (n, heads, dim) of a view from token t on. */
void ready_load(const fused *f, float *to, pe_view from, int64_t t, int64_t n)
{
    bool packed = from.head_stride == from.dim || from.heads == 1;
    int64_t size = (int64_t)pe_dtype_size(from.dtype), heads = packed ? 1 : from.heads;
    int64_t dim = packed ? from.heads * from.dim : from.dim;
    for (int64_t i = 0; i < n; i++)
        for (int64_t h = 0; h < heads; h++) {
            const char *at = (const char *)from.data + row_vec(from, t + i, h).at * size;
            f->k->widen(to + (i * heads + h) * dim, at, from.dtype, dim);
        }
}

/* Every vector on by the angle of `shift`, or back. */
static void turn_on(const fused *f, float *x, int64_t vectors, int64_t shift, bool back)
{
    const part *p = f->p.turns;
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
void ready_turn(const fused *f, pe_side side, turn_mode mode, float *x, int64_t heads, int64_t dim, pe_positions at,
                int64_t t, int64_t n, int64_t shift)
{
    pe_view v = { x, PE_F32, n, heads, dim, heads * dim, dim };
    turn_job job = { .k = f->k, .p = f->p.turns, .side = side, .mode = mode, .y = v, .x = v, .shift = shift };
    job.at = at;
    job.at.at += t * at.token_stride;
    job.at.tokens = n;
    if (shift && mode.negate)
        turn_on(f, x, n * heads, shift, true);
    rotate_tokens(&job, 1, false, NULL);
    if (shift && !mode.negate)
        turn_on(f, x, n * heads, shift, false);
}

static void ready_queries(const fused *f, scratch *s, int64_t t, int64_t n)
{
    ready_load(f, s->load, f->p.a.q, t, n);
    if (f->p.turns)
        ready_turn(f, PE_QUERY, forward, s->load, f->H, f->D, f->p.a.q_at, t, n, f->q_shift[t / BQ]);
    for (int64_t i = 0; i < n; i++)
        for (int64_t h = 0; h < f->H; h++)
            f->k->widen(f->q + (h * f->Tq + t + i) * f->D, s->load + (i * f->H + h) * f->D, PE_F32, f->D);
}

bool ready_odd(const float *x, int64_t rows, int64_t stride, int64_t n)
{
    float sum = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t d = 0; d < n; d++)
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

static void pack_keys(const fused *f, scratch *s, int64_t t, int64_t n)
{
    ready_load(f, s->load, f->p.a.k, t, n);
    if (f->p.turns && !f->p.a.turned)
        ready_turn(f, PE_KEY, forward, s->load, f->G, f->D, f->p.a.k_at, t, n, f->k_shift[t / BK]);
    for (int64_t g = 0; g < f->G; g++) {
        const float *x = s->load + g * f->D;
        ready_panel(f, f->kt + (g * f->tiles * BK + t) * f->D, x, f->G * f->D, n, f->D);
        for (int64_t i = 0; f->kr && i < n; i++)
            ready_pad(f, f->kr + (g * f->tiles * BK + t + i) * f->Dp, x + i * f->G * f->D, f->D, f->Dp);
        f->k_odd[(g * f->tiles * BK + t) / LOAD] = ready_odd(x, n, f->G * f->D, f->D);
    }
}

static void pack_values(const fused *f, scratch *s, int64_t t, int64_t n)
{
    ready_load(f, s->load, f->p.a.v, t, n);
    if (f->p.turns && f->p.turns->turns_value && !f->p.a.turned)
        ready_turn(f, PE_VALUE, forward, s->load, f->G, f->Dv, f->p.a.k_at, t, n, 0);
    for (int64_t g = 0; g < f->G; g++) {
        const float *x = s->load + g * f->Dv;
        for (int64_t i = 0; i < n; i++) {
            ready_pad(f, f->v + (g * f->tiles * BK + t + i) * f->Dw, x + i * f->G * f->Dv, f->Dv, f->Dw);
        }
        if (f->vt)
            ready_panel(f, f->vt + (g * f->tiles * BK + t) * f->Dv, x, f->G * f->Dv, n, f->Dv);
        f->v_odd[(g * f->tiles * BK + t) / LOAD] = ready_odd(x, n, f->G * f->Dv, f->Dv);
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
    const uint8_t *used = f->p.a.mask.key_used;
    int64_t j = b * BK, end = j + BK < f->Tk ? j + BK : f->Tk;
    while (used && j < end - 1 && !used[j])
        j++;
    return f->p.a.k_at.at[j * f->p.a.k_at.token_stride];
}

void ready_tokens(fused *f)
{
    int64_t centre = f->p.recentres ? f->p.turns->centre : 0;
    for (int64_t i = 0; i < fused_queries(f); i++)
        f->q_shift[i] = f->p.recentres ? f->p.a.q_at.at[i * BQ * f->p.a.q_at.token_stride] - centre : 0;
    for (int64_t j = 0; j < f->tiles; j++)
        f->k_shift[j] = f->p.recentres ? ready_place(f, j) - centre : 0;
    for (int64_t n = 0; f->v_odd && n < f->G * f->tiles * BK / LOAD; n++)
        f->v_odd[n] = f->k_odd[n] = 0;
    pool_run(f->p.a.pool, ready_block, f, up_to(f->Tq, LOAD) / LOAD + (f->direct ? 0 : up_to(f->Tk, LOAD) / LOAD));
}

void ready_keys(const fused *f, scratch *s, int64_t j, int64_t n)
{
    if (f->load_k)
        ready_load(f, s->load, f->p.a.k, j, n);
    if (f->load_k && f->p.turns && !f->p.a.turned)
        ready_turn(f, PE_KEY, forward, s->load, f->G, f->D, f->p.a.k_at, j, n, f->k_shift[j / BK]);
    if (!f->load_v)
        return;
    ready_load(f, s->load_v, f->p.a.v, j, n);
    ready_turn(f, PE_VALUE, forward, s->load_v, f->G, f->Dv, f->p.a.k_at, j, n, 0);
}

static const void *element(pe_view v, int64_t t, int64_t h)
{
    return (const char *)v.data + row_vec(v, t, h).at * (int64_t)pe_dtype_size(v.dtype);
}

/* Rows of many heads lie far apart where one head reads them, too far for a CPU to foresee: read once in the order of
 * memory, which it does, they are near when their heads come. Asking for them ahead by prefetches was slower. */
static void touch(pe_view v, int64_t from, int64_t to)
{
    bool packed = v.head_stride == v.dim;
    int64_t size = (int64_t)pe_dtype_size(v.dtype), bytes = (packed ? v.heads * v.dim : v.dim) * size;
    for (int64_t t = from; t < to; t++)
        for (int64_t h = 0; h < (packed ? 1 : v.heads); h++) {
            const volatile char *at = (const char *)v.data + (t * v.token_stride + h * v.head_stride) * size;
            for (int64_t b = 0; b < bytes; b += 64)
                (void)at[b];
        }
}

void ready_touch(const fused *f, int64_t j, int64_t n)
{
    if (f->G == 1)
        return;
    touch(f->p.a.k, j, j + n);
    touch(f->p.a.v, j, j + n);
}

keys ready_tile(const fused *f, scratch *s, int64_t g, int64_t j, int64_t n)
{
    int64_t at = g * f->tiles * BK + j;
    keys k = { 0 };
    if (!f->direct) {
        k.kt = f->kt + at * f->D;
        k.v = f->v + at * f->Dw;
        for (int64_t i = 0; i < n; i += LOAD)
            k.odd = k.odd || f->v_odd[(at + i) / LOAD];
        return k;
    }
    k.k = f->load_k ? s->load + g * f->D : element(f->p.a.k, j, g);
    k.k_type = f->load_k ? PE_F32 : f->p.a.k.dtype;
    k.k_row = f->load_k ? f->G * f->D : f->p.a.k.token_stride;
    k.v_raw = f->load_v ? s->load_v + g * f->Dv : element(f->p.a.v, j, g);
    k.v_type = f->load_v ? PE_F32 : f->p.a.v.dtype;
    k.v_row = f->load_v ? f->G * f->Dv : f->p.a.v.token_stride;
    for (int64_t i = 0; f->load_panel && i < n; i += PANEL)
        ready_panel(f, s->panel + i * f->D, s->load + (i * f->G + g) * f->D, f->G * f->D, n - i < PANEL ? n - i : PANEL,
                    f->D);
    k.kt = f->load_panel ? s->panel : NULL;
    return k;
}
