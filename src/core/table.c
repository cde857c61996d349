/* SPDX-License-Identifier: MIT
 *
 * Tables of cos and sin, row by row.
 *
 * Where the angle is exact and one magnitude does for all, positions are split into n = steps b + r: cos and sin of the
 * base steps b are made once for steps positions, those of r are in the plan, and one complex product in double gives
 * those of n. The result is that of rotation_factors bit for bit. Let m be the size, or its reciprocal: turn_cos_sin is
 * within 2^-51 of the truth, so the product of base and step is within 2^-50 + 2^-53 (two errors on terms whose sizes
 * add up to 1 at most, two roundings); sizing the base by m adds 2^-52 m; rotation_factors is within (2^-51 + 2^-53) m.
 * They differ by less than 2^-49 m. Where every number within 2^-48 m of the product has the same float, it is the one;
 * elsewhere the row is made by turn_cos_sin itself, and so is one between whole positions. */
#include "core/pool.h"
#include "core/rotation.h"

#include "kernels/turn.h"

/* Sized and signed as the mode says. */
static void size_rotation(rotation_mode mode, double size, double *c, double *s)
{
    *c = mode.reciprocal ? *c / size : *c * size;
    *s = mode.reciprocal ? *s / size : *s * size;
    if (mode.negate)
        *s = -*s;
}

/* The signed and sized cos and sin of pair n at this position: the definition. */
static void rotation_factors(const part *p, pe_side side, rotation_mode mode, const int64_t *at, int64_t n, double gain,
                             double *c, double *s)
{
    pair_rotation t = p->row->rotate(p, side, at, n);
    *c = t.cosine;
    *s = t.sine;
    size_rotation(mode, t.magnitude * gain, c, s);
}

void table_start(table_maker *m, double *base, const kernels *k, const part *p, pe_side side, rotation_mode mode)
{
    m->base = base;
    m->k = k;
    m->p = p;
    m->side = side;
    m->mode = mode;
    for (int i = 0; i < SPANS_MAX; i++)
        m->at[i].made = false;
}

#define CHUNK 64 /* pairs at a time */

/* What a pair so far from the centre is multiplied by, where that differs from pair to pair. */
static double decayed(const table_maker *m, double far, int64_t n, double size)
{
    double e = far * m->p->decay[n];
    return exp(m->side == PE_KEY ? -e : e) * size;
}

/* Turns between whole positions. A fraction and its shift may be more than one double holds. */
static void between_chunk(const table_maker *m, double *c, double *s, const double *at, int64_t first, int64_t count)
{
    const part *p = m->p;
    double n[CHUNK] = { 0 }, low[CHUNK];
    for (int64_t i = 0; i < count; i++) {
        const pair *f = &p->pair[first + i];
        dd steps = dd_sum(at[f->axis] * (double)f->multiplier, (double)f->shift);
        n[i] = steps.hi;
        low[i] = steps.lo;
    }
    m->k->turns(c, s, n, p->plan->frequency + first, p->pairs, count);
    for (int64_t i = 0; i < count; i++)
        if (low[i] != 0) {
            wide f = p->pair[first + i].frequency;
            wide turns = wide_add(wide_mul(f, wide_from(n[i])), wide_mul(f, wide_from(low[i])));
            turn_cos_sin(1, turns, &c[i], &s[i]);
        }
}

static void whole_chunk(const table_maker *m, double *c, double *s, const int64_t *at, int64_t first, int64_t count)
{
    const part *p = m->p;
    double n[CHUNK] = { 0 };
    for (int64_t i = 0; i < count; i++) {
        const pair *f = &p->pair[first + i];
        n[i] = (double)(at[f->axis] * f->multiplier + f->shift);
    }
    m->k->turns(c, s, n, p->plan->frequency + first, p->pairs, count);
}

/* Up to CHUNK pairs of an exact row from `first` on, at their own positions. */
static void plain_chunk(const table_maker *m, double *c, double *s, const spot *where, int64_t first, int64_t count,
                        double size)
{
    const part *p = m->p;
    double far = spot_real(where, 0) - (double)p->centre;
    if (where->between)
        between_chunk(m, c, s, where->real, first, count);
    else
        whole_chunk(m, c, s, where->at, first, count);
    for (int64_t i = 0; i < count; i++)
        size_rotation(m->mode, p->decay ? decayed(m, far, first + i, size) : size, &c[i], &s[i]);
}

/* Pairs first .. end - 1 without the product. */
static void plain_f32(const table_maker *m, float *c, float *s, const spot *where, int64_t first, int64_t end,
                      double size)
{
    for (; first < end; first += CHUNK) {
        double cosine[CHUNK], sine[CHUNK];
        int64_t count = end - first < CHUNK ? end - first : CHUNK;
        plain_chunk(m, cosine, sine, where, first, count, size);
        for (int64_t i = 0; i < count; i++) {
            c[first + i] = (float)cosine[i];
            s[first + i] = (float)sine[i];
        }
    }
}

static void make_base(table_maker *m, const rotation_span *a, int64_t block, double size)
{
    const part *p = m->p;
    double *c = m->base + a->first, *s = c + p->pairs, n[CHUNK];
    for (int i = 0; i < CHUNK; i++)
        n[i] = (double)(block * p->plan->steps);
    for (int64_t i = 0; i < a->count; i += CHUNK)
        m->k->turns(c + i, s + i, n, p->plan->frequency + a->first + i, p->pairs,
                    a->count - i < CHUNK ? a->count - i : CHUNK);
    for (int64_t i = 0; i < a->count && size != 1; i++) {
        c[i] *= size;
        s[i] *= size;
    }
}

/* A pair that stands still has cos 1 and sin 0 everywhere. */
static void fill_still(const table_maker *m, float *c, float *s, const rotation_span *a, double size)
{
    double cosine = 1, sine = 0;
    size_rotation(m->mode, size, &cosine, &sine);
    for (int64_t i = a->first; i < a->first + a->count; i++) {
        c[i] = (float)cosine;
        s[i] = (float)sine;
    }
}

static void span_f32(table_maker *m, float *c, float *s, const spot *where, int index, double size)
{
    const part *p = m->p;
    const rotation_span *a = &p->plan->span[index];
    double factor = m->mode.reciprocal ? 1 / size : size;
    if (a->still) {
        fill_still(m, c, s, a, size);
        return;
    }
    int64_t n = where->at[a->axis] * a->multiplier + a->shift, r = n & (p->plan->steps - 1);
    int64_t block = (n - r) / p->plan->steps;
    if (!m->at[index].made || m->at[index].block != block || m->at[index].size != factor) {
        make_base(m, a, block, factor);
        m->at[index].made = true;
        m->at[index].block = block;
        m->at[index].size = factor;
    }
    const double *near = p->plan->step + 2 * p->pairs * r, slack = 0x1p-48 * factor;
    if (!m->k->turn_sums(c + a->first, s + a->first, m->base + a->first, near + a->first, p->pairs, slack, a->count))
        plain_f32(m, c, s, where, a->first, a->first + a->count, size);
    else if (m->mode.negate)
        for (int64_t i = a->first; i < a->first + a->count; i++)
            s[i] = -s[i];
}

void table_row_f32(table_maker *m, float *c, float *s, const spot *where)
{
    const part *p = m->p;
    double gain = gain_at(p, m->side, where->at), size = p->magnitude * gain;
    if (p->plan->spans && !where->between)
        for (int i = 0; i < p->plan->spans; i++)
            span_f32(m, c, s, where, i, size);
    else if (p->exact)
        plain_f32(m, c, s, where, 0, p->pairs, size);
    else
        for (int64_t n = 0; n < p->pairs; n++) {
            double cosine, sine;
            rotation_factors(p, m->side, m->mode, where->at, n, gain, &cosine, &sine);
            c[n] = (float)cosine;
            s[n] = (float)sine;
        }
}

void table_row_f64(table_maker *m, double *c, double *s, const spot *where)
{
    const part *p = m->p;
    double gain = gain_at(p, m->side, where->at), size = p->magnitude * gain;
    if (p->exact)
        for (int64_t n = 0; n < p->pairs; n += CHUNK)
            plain_chunk(m, c + n, s + n, where, n, p->pairs - n < CHUNK ? p->pairs - n : CHUNK, size);
    else
        for (int64_t n = 0; n < p->pairs; n++)
            rotation_factors(p, m->side, m->mode, where->at, n, gain, &c[n], &s[n]);
}

/* ------------------------------------------------ pe_rotate_table */

#define PIECE 64 /* tokens of one job: some microseconds */

typedef struct table_call {
    const pe_encoding *e;
    const part *p;
    pe_side side;
    pe_view cosine, sine;
    pe_positions where;
    pe_params w;
    int64_t pieces; /* of a sequence */
} table_call;

static void store_row(vec to, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        num_store(to.data, to.type, to.at + i, x[i]);
}

/* Rows of float32 in both. */
static void make_f32(table_maker *m, pe_view cosine, pe_view sine, pe_positions where, int64_t first, int64_t end)
{
    for (int64_t t = first; t < end; t++) {
        spot at;
        spot_find(&at, where, t);
        table_row_f32(m, (float *)cosine.data + t * cosine.token_stride, (float *)sine.data + t * sine.token_stride,
                      &at);
    }
}

/* Rows of other types, and those of every head, where frequencies are trained. */
static void make_any(const table_call *g, table_maker *m, pe_view cosine, pe_view sine, pe_positions where,
                     int64_t first, int64_t end)
{
    double c[PE_HEAD_DIM_MAX / 2], s[PE_HEAD_DIM_MAX / 2];
    for (int64_t t = first; t < end; t++) {
        spot at;
        spot_find(&at, where, t);
        for (int64_t h = 0; h < cosine.heads; h++) {
            if (g->p->trained)
                trained_row(g->p, g->w, h, g->side, m->mode, &at, c, s);
            else
                table_row_f64(m, c, s, &at);
            store_row(row_vec(cosine, t, h), c, cosine.dim);
            store_row(row_vec(sine, t, h), s, sine.dim);
        }
    }
}

static void make_piece(void *arg, int64_t n, int worker)
{
    const table_call *t = arg;
    _Alignas(64) double base[PE_HEAD_DIM_MAX];
    table_maker m;
    pe_view cosine = view_at(t->cosine, n / t->pieces), sine = view_at(t->sine, n / t->pieces);
    pe_positions where = positions_at(t->where, n / t->pieces);
    int64_t first = n % t->pieces * PIECE, end = first + PIECE < cosine.tokens ? first + PIECE : cosine.tokens;
    (void)worker;
    table_start(&m, base, &t->e->kernels, t->p, t->side, (rotation_mode){ false, false });
    if (cosine.dtype == PE_F32 && sine.dtype == PE_F32 && !t->p->trained)
        make_f32(&m, cosine, sine, where, first, end);
    else
        make_any(t, &m, cosine, sine, where, first, end);
}

pe_status pe_rotate_table(const pe_encoding *e, pe_side side, pe_view cosine, pe_view sine, pe_positions where,
                          const pe_run *given, pe_error *err)
{
    pe_run run;
    CHECK_POINTER(pe_encoding, e, "the encoding");
    TRY(check_run(&run, given, err));
    TRY(check_side(side, PE_KEY, err));
    const part *p = rotating_part(e, PE_QUERY);
    if (!p)
        return pe_fail(err, PE_ERR_UNSUITED, "%s does not rotate; it has no table of cos and sin", e->text);
    TRY(check_view(&cosine, "cosine", (extent){ -1, -1, trained_heads(p), p->pairs }, WRITES, err));
    TRY(check_view(&sine, "sine", (extent){ cosine.batch, cosine.tokens, trained_heads(p), p->pairs }, WRITES, err));
    TRY(check_positions_real(&where, "positions", cosine.batch, cosine.tokens, e->axes, rotates_between(p), err));
    CHECK_MEMORY(false, view_region("cosine", cosine, WRITES), view_region("sine", sine, WRITES),
                 positions_region("positions", where), trained_region(p, run.params));
    TRY(check_rotation(p, side, cosine.dtype, where, err)); /* both types have their own limit */
    TRY(check_rotation(p, side, sine.dtype, where, err));
    TRY(check_trained(e, p, run.params, e->shape.heads, err));
    table_call call = { e, p, side, cosine, sine, where, run.params, (cosine.tokens + PIECE - 1) / PIECE };
    if (p->pairs && cosine.tokens)
        pool_run(run.pool, make_piece, &call, cosine.batch * call.pieces);
    return pe_pass(err);
}
