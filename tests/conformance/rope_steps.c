/* SPDX-License-Identifier: MIT
 *
 * rope_types and rope_layouts, in the README's steps: frequencies, tables, layout, end to end. */
#include "rope.h"

static double coordinate(const rope_case *r, int64_t t, int64_t p)
{
    const pe_positions *at = &r->at;
    return (double)((const int64_t *)at->data)[t * at->token_stride + r->pair[p].axis * at->axis_stride] - r->origin[r->pair[p].axis];
}

/* Files hold frequencies and tables of the plain turn, whichever way the model's code turns (nanochat: the other). */
static double own_frequency(const rope_case *r, int64_t p)
{
    return fabs(r->pair[p].frequency);
}

static double direction(const rope_case *r, int64_t p)
{
    return r->pair[p].frequency < 0 ? -1 : 1;
}

/* The file's; ours where it has none. A spectrum per axis is stored once. */
static double file_frequency(const rope_case *r, int64_t p)
{
    return r->inv_freq.real ? (double)r->inv_freq.real[p % r->inv_freq.count] : own_frequency(r, p);
}

/* How far apart two correct implementations may be in the angle's cos and sin, when each forms its own frequency. */
static double apart(double angle)
{
    return TOL_FREQUENCY * fabs(angle) + TOL_ANGLE * (1 + fabs(angle));
}

/* ---------------------------------------------------------------- step 1: the spec's frequencies */

static pe_status compare_frequencies(golden *c, const rope_case *r)
{
    double scaling = NAN;
    TRY(io_json_real(&scaling, &c->meta, "attention_scaling", IO_OPTIONAL, &c->err));
    if (!isnan(scaling))
        golden_compare(c, pe_encoding_magnitude(r->e), scaling, TOL_SCALING * scaling, "attention_scaling");
    if (!r->inv_freq.real)
        return PE_OK;
    if (r->inv_freq.count < 1 || r->pairs % r->inv_freq.count)
        return golden_fail(c, "inv_freq has %" PRId64 " elements; %s turns %" PRId64 " pairs", r->inv_freq.count,
                           pe_encoding_spec(r->e), r->pairs);
    for (int64_t p = 0; p < r->pairs; p++) {
        double want = file_frequency(r, p);
        golden_compare(c, own_frequency(r, p), want, TOL_FREQUENCY * fabs(want), "frequency of pair %" PRId64, p);
    }
    return PE_OK;
}

/* ---------------------------------------------------------------- step 2: tables */

/* A table as wide as two elements per pair whose halves are the same: cos and sin of all pairs, twice. */
static bool has_equal_halves(const rope_case *r, const golden_tensor *table)
{
    int64_t P = r->pairs, width = table->shape[1];
    bool equal = width == 2 * P;
    for (int64_t n = 0; equal && n < table->shape[0] * P; n++)
        equal = table->real[n / P * width + n % P] == table->real[n / P * width + n % P + P];
    return equal;
}

/* Where pair p's cos and sin stand in a row of the file's tables: at both of its elements, in both halves, or once. */
static int64_t column(const rope_case *r, int64_t p, bool second)
{
    int64_t width = r->cosine.shape[1], first = width == r->head_dim ? 0 : r->pair[0].x_out;
    if (width == r->pairs)
        return p;
    if (r->halves)
        return second ? p + r->pairs : p;
    return (second ? r->pair[p].y_out : r->pair[p].x_out) - first;
}

static double entry(const rope_case *r, const golden_tensor *table, int64_t t, int64_t p, bool second)
{
    return (double)table->real[t * table->shape[1] + column(r, p, second)];
}

static pe_status compare_tables(golden *c, rope_case *r)
{
    if (!r->cosine.real)
        return PE_OK;
    int64_t n = r->at.tokens, P = r->pairs, width = r->cosine.shape[r->cosine.rank - 1];
    if (width != P && width != 2 * P && width != r->head_dim)
        return golden_fail(c, "cos is %" PRId64 " wide; needs %" PRId64 " or %" PRId64, width, P, 2 * P);
    TRY(golden_fits(c, "cos", &r->cosine, 2, n, width, 0));
    TRY(golden_fits(c, "sin", &r->sine, 2, n, width, 0));
    r->halves = has_equal_halves(r, &r->cosine) && has_equal_halves(r, &r->sine);
    double *own = golden_alloc(c, 2 * n * P, sizeof *own);
    if (!own)
        return PE_ERR_NOMEM;
    TRY(pe_rotate_table(r->e, PE_KEY, pe_view_of(own, PE_F64, 1, n, 1, P), pe_view_of(own + n * P, PE_F64, 1, n, 1, P), r->at, NULL, &c->err));
    for (int64_t i = 0; i < n * P * 4; i++) {
        int64_t t = i / 4 / P, p = i / 4 % P;
        bool second = i & 1, sines = i & 2;
        double angle = coordinate(r, t, p) * file_frequency(r, p);
        double want = entry(r, sines ? &r->sine : &r->cosine, t, p, second);
        double loose = apart(angle) * r->scaling, tight = TOL_ANGLE * (1 + fabs(angle)) * r->scaling;
        const char *what = sines ? "sin" : "cos";
        golden_compare(c, (sines ? sin(angle) : cos(angle)) * r->scaling, want, r->inv_freq.real ? tight : loose,
                       "%s of token %" PRId64 ", pair %" PRId64 ", from the file's inv_freq", what, t, p);
        golden_compare(c, own[(sines ? n * P : 0) + t * P + p] * (sines ? direction(r, p) : 1), want, loose, "%s of token %" PRId64 ", pair %" PRId64,
                       what, t, p);
    }
    return PE_OK;
}

/* ---------------------------------------------------------------- steps 3 and 4: rotated values */

static double cell(pe_view v, int64_t t, int64_t h, int64_t d)
{
    return (double)((const float *)v.data)[t * v.token_stride + h * v.head_stride + d];
}

/* With the file's own cos and sin what is left is the layout. */
static void compare_layout(golden *c, const rope_case *r, const rotated *s, int64_t t, int64_t h, int64_t p)
{
    const pe_pair *f = &r->pair[p];
    double x = cell(s->x, t, h, f->x), y = cell(s->x, t, h, f->y), tolerance = TOL_ROTATED * (fabs(x) + fabs(y));
    double way = direction(r, p);
    double first = x * entry(r, &r->cosine, t, p, false) - way * y * entry(r, &r->sine, t, p, false);
    double second = y * entry(r, &r->cosine, t, p, true) + way * x * entry(r, &r->sine, t, p, true);
    static const char where[] = "%s[token %" PRId64 "][head %" PRId64 "][%" PRId64 "] from the file's cos and sin";
    golden_compare(c, first, cell(s->y, t, h, f->x_out), tolerance, where, s->out_field, t, h, f->x_out);
    golden_compare(c, second, cell(s->y, t, h, f->y_out), tolerance, where, s->out_field, t, h, f->y_out);
}

static void compare_end_to_end(golden *c, const rope_case *r, const rotated *s, int64_t t, int64_t h, int64_t p)
{
    const pe_pair *f = &r->pair[p];
    double at = coordinate(r, t, p), size = fabs(cell(s->x, t, h, f->x)) + fabs(cell(s->x, t, h, f->y));
    bool near = fabs(at) < END_TO_END_POSITIONS; /* further out each step adds its own */
    double tolerance = near ? TOL_END_TO_END : TOL_ROTATED + apart(at * f->frequency) * r->scaling;
    for (int second = 0; second < 2; second++) {
        int64_t d = second ? f->y_out : f->x_out;
        golden_compare(c, cell(s->own, t, h, d), cell(s->y, t, h, d), tolerance * size,
                       "%s[token %" PRId64 "][head %" PRId64 "][%" PRId64 "] end to end", s->out_field, t, h, d);
    }
}

static pe_status compare_rest(golden *c, const rope_case *r, const rotated *s)
{
    uint8_t *touched = golden_alloc(c, r->head_dim, 1);
    if (!touched)
        return PE_ERR_NOMEM;
    for (int64_t p = 0; p < r->pairs; p++)
        touched[r->pair[p].x_out] = touched[r->pair[p].y_out] = 1;
    for (int64_t n = 0; n < s->x.tokens * s->x.heads * r->head_dim; n++) {
        int64_t d = n % r->head_dim, h = n / r->head_dim % s->x.heads, t = n / r->head_dim / s->x.heads;
        if (!touched[d])
            golden_compare(c, cell(s->own, t, h, d), cell(s->y, t, h, d), 0,
                           "%s[token %" PRId64 "][head %" PRId64 "][%" PRId64 "], which does not turn", s->out_field, t,
                           h, d);
    }
    return PE_OK;
}

static pe_status compare_rotated(golden *c, const rope_case *r, rotated *s)
{
    int64_t T = s->x.tokens, H = s->x.heads;
    s->own = pe_view_of(golden_alloc(c, T * H * r->head_dim, sizeof(float)), PE_F32, 1, T, H, r->head_dim);
    if (!s->own.data)
        return PE_ERR_NOMEM;
    s->own.token_stride = H * r->head_dim;
    s->own.head_stride = r->head_dim;
    TRY(pe_rotate(r->e, s->side, s->own, s->x, r->at, NULL, &c->err));
    for (int64_t n = 0; n < T * H * r->pairs; n++) {
        int64_t p = n % r->pairs, h = n / r->pairs % H, t = n / r->pairs / H;
        if (r->cosine.real && s->turns)
            compare_layout(c, r, s, t, h, p);
        compare_end_to_end(c, r, s, t, h, p);
    }
    return compare_rest(c, r, s);
}

/* ---------------------------------------------------------------- all of it */

static pe_shape shape_of(const rotated *s, int count, int64_t head_dim)
{
    pe_shape shape = { .heads = 1, .head_dim = head_dim };
    for (int n = 0; n < count; n++)
        if (s[n].side == PE_QUERY || n == 0)
            shape.heads = s[n].x.heads;
        else
            shape.kv_heads = s[n].x.heads;
    return shape;
}

static pe_status read_tables(golden *c, rope_case *r)
{
    if (golden_has(c, "inv_freq"))
        TRY(golden_real(c, "inv_freq", &r->inv_freq));
    if (golden_has(c, "cos")) {
        TRY(golden_real(c, "cos", &r->cosine));
        TRY(golden_real(c, "sin", &r->sine));
    }
    r->scaling = 1;
    return io_json_real(&r->scaling, &c->meta, "attention_scaling", IO_OPTIONAL, &c->err);
}

static int falling(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

/* ERNIE 4.5 VL lists the frequencies of its axes one after the other; its pairs, like ours, fall from fast to slow. */
static void sort_frequencies(rope_case *r)
{
    bool ours_fall = r->inv_freq.real && r->inv_freq.count == r->pairs;
    for (int64_t p = 1; ours_fall && p < r->pairs; p++)
        ours_fall = own_frequency(r, p) <= own_frequency(r, p - 1);
    if (ours_fall)
        qsort(r->inv_freq.real, (size_t)r->pairs, sizeof *r->inv_freq.real, falling);
}

pe_status rope_compare(golden *c, rope_case *r, const char *spec, rotated *s, int count)
{
    r->e = golden_encoding(c, spec, shape_of(s, count, r->head_dim));
    if (!r->e)
        return c->err.status;
    r->pairs = pe_encoding_pair_count(r->e);
    r->pair = golden_alloc(c, r->pairs, sizeof *r->pair);
    if (!r->pair)
        return PE_ERR_NOMEM;
    TRY(pe_encoding_pairs(r->e, r->pair, r->pairs, &c->err));
    TRY(read_tables(c, r));
    sort_frequencies(r);
    TRY(compare_frequencies(c, r));
    TRY(compare_tables(c, r));
    for (int n = 0; n < count; n++)
        TRY(compare_rotated(c, r, &s[n]));
    return PE_OK;
}
