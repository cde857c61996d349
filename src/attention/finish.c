/* SPDX-License-Identifier: MIT
 *
 * From sums to outputs, and sums of pieces to sums of the whole. */
#include "attention/fused.h"

#include <inttypes.h>

/* The sink joins, the division, the log-sum-exp. */
static void divide_row(const problem *p, const kernels *k, int64_t h, int64_t i, float *O, float max, double sum)
{
    const pe_attention *a = &p->a;
    double most = (double)max, own = 1;
    if (a->sinks.data) {
        double sink = num_load(a->sinks.data, a->sinks.dtype, h);
        most = sink > most || isnan(sink) ? sink : most;
        own = max == -INFINITY ? 0 : exp((double)max - most);
        sum = sum * own + (sink == -INFINITY ? 0 : exp(sink - most));
    }
    k->scale(O, sum == 0 ? 0 : (float)(own / sum), a->v.dim);
    for (int64_t d = 0; sum == 0 && d < a->v.dim; d++)
        O[d] = 0;
    if (a->lse.data)
        num_store(a->lse.data, a->lse.dtype, row_vec(a->lse, i, h).at, sum == 0 ? -INFINITY : most + log(sum));
}

/* Outputs rotate back by the places of their queries: one table of cosines for all heads. */
static void rotate_output_back(const problem *p, const kernels *k, const tile *t, float *O, int64_t width)
{
    pe_view v = { O, PE_F32, 1, t->m, t->heads, p->a.v.dim, 0, width, t->m * width };
    rotation_job job = { .k = k, .p = p->rotating, .side = PE_OUTPUT, .mode = { true, true }, .y = v, .x = v };
    job.at = positions_from(p->a.q_at, t->i, t->m);
    rotate_tokens(&job, 1, false, NULL);
}

void finish_rows(const problem *p, const kernels *k, const tile *t, float *O, int64_t width, const float *max,
                 const double *sum)
{
    pe_view out = p->a.out;
    for (int64_t r = 0; r < t->heads * t->m; r++)
        divide_row(p, k, t->h + r / t->m, t->i + r % t->m, O + r * width, max[r], sum[r]);
    if (p->rotating && p->rotating->rotates_output)
        rotate_output_back(p, k, t, O, width);
    for (int64_t r = 0; r < t->heads * t->m; r++)
        k->narrow((char *)out.data +
                      row_vec(out, t->i + r % t->m, t->h + r / t->m).at * (int64_t)pe_dtype_size(out.dtype),
                  out.dtype, O + r * width, out.dim);
}

void merge_row(float *O, float *max, double *sum, const float *from_O, float from_max, double from_sum, int64_t width)
{
    float most = from_max > *max || isnan(from_max) ? from_max : *max;
    float mine = *max == most ? 1 : expf(*max - most), theirs = from_max == most ? 1 : expf(from_max - most);
    for (int64_t d = 0; d < width; d++)
        O[d] = O[d] * mine + from_O[d] * theirs; /* a NaN stays, however little it would weigh */
    *sum = *sum * (double)mine + from_sum * (double)theirs;
    *max = most;
}

/* ------------------------------------------------ pieces in the caller's hands */

typedef struct piece_names {
    const char *out, *max, *sum, *carry;
} piece_names;
static const piece_names in_piece = { "piece.out", "piece.max", "piece.sum", "piece.carry" },
                         in_into = { "into.out", "into.max", "into.sum", "into.carry" },
                         in_from = { "from.out", "from.max", "from.sum", "from.carry" };

static pe_status check_piece(int64_t rows, int64_t dim, const piece_names *name, pe_partial piece, use how, region s[4],
                             pe_error *err)
{
    int64_t values, bytes;
    if (!checked_mul(&values, rows, dim) || !checked_mul(&bytes, values, 8))
        return pe_fail(err, PE_ERR_OVERFLOW, "a piece of %" PRId64 " rows of %" PRId64 " does not fit 64-bit sizes",
                       rows, dim);
    const struct {
        const char *name;
        const void *data;
        int64_t count;
        size_t size;
    } all[] = { { name->out, piece.out, values, 4 },
                { name->max, piece.max, rows, 4 },
                { name->sum, piece.sum, rows, 4 } };
    for (int i = 0; i < COUNT_OF(all); i++) {
        if (!all[i].data && all[i].count)
            return pe_fail(err, PE_ERR_NULL, "%s is NULL", all[i].name);
        if ((uintptr_t)all[i].data % 4)
            return pe_fail(err, PE_ERR_ALIGN, "%s is not aligned to its 4-byte elements", all[i].name);
        s[i] = array_region(all[i].name, all[i].data, all[i].count, all[i].size, how);
    }
    if ((uintptr_t)piece.carry % _Alignof(double))
        return pe_fail(err, PE_ERR_ALIGN, "%s is not aligned to its 8-byte elements", name->carry);
    s[3] = array_region(name->carry, piece.carry, rows, 8, how);
    return PE_OK;
}

/* Queries and heads of a call; its views are checked. */
static pe_status rows_of(const call *c, int64_t *rows, pe_error *err)
{
    if (!checked_mul(rows, c->a.q.batch, c->a.q.tokens) || !checked_mul(rows, *rows, c->e->shape.heads))
        return pe_fail(err, PE_ERR_OVERFLOW, "a piece for %" PRId64 " queries does not fit 64-bit sizes",
                       c->a.q.tokens);
    return PE_OK;
}

/* Each key counts 1 at most. What is further would be past the rows of the table that are made ready; 1 of it is for
 * sums that were rounded. A piece of no keys looks none up. */
pe_status carry_check(const call *c, const char *name, const double *carry, pe_error *err)
{
    int64_t after = c->a.mask.keys_after, rows;
    TRY(rows_of(c, &rows, err));
    for (int64_t r = 0; r < rows; r++) {
        if (!(carry[r] >= 0))
            return pe_fail(err, PE_ERR_RANGE, "%s has %s; needs the keys counted so far, 0 before the first piece",
                           name, text_show(carry[r]).text);
        if (c->Tk && carry[r] > (double)after + 1)
            return pe_fail(err, PE_ERR_RANGE,
                           "%s has %s, but mask.keys_after says that %" PRId64 " keys follow; needs that many at most",
                           name, text_show(carry[r]).text, after);
    }
    return PE_OK;
}

pe_status partial_check(const call *c, pe_partial piece, pe_error *err)
{
    region s[4];
    int64_t rows;
    if (pe_encoding_carries(c->e) && !piece.carry)
        return pe_fail(err, PE_ERR_NULL, "piece.carry is NULL; %s counts keys from piece to piece", c->e->text);
    TRY(rows_of(c, &rows, err));
    TRY(check_piece(rows, c->a.v.dim, &in_piece, piece, WRITES, s, err));
    TRY(call_apart(c, s, 4, true, err));
    return pe_encoding_carries(c->e) ? carry_check(c, "piece.carry", piece.carry, err) : PE_OK;
}

pe_status pe_attention_merge(pe_partial into, pe_partial from, int64_t rows, int64_t dim, pe_error *err)
{
    region s[8];
    if (rows < 0 || dim < 0 || dim > PE_HEAD_DIM_MAX)
        return pe_fail(err, PE_ERR_SHAPE, "rows is %" PRId64 " and dim %" PRId64 "; need 0 or more, and dim %d at most",
                       rows, dim, PE_HEAD_DIM_MAX);
    TRY(check_piece(rows, dim, &in_into, into, WRITES, s, err));
    TRY(check_piece(rows, dim, &in_from, from, READS, s + 4, err));
    s[3] = s[7] = array_region("carry", NULL, 0, 8, READS); /* not looked at */
    TRY(check_memory(s, COUNT_OF(s), false, err));
    for (int64_t r = 0; r < rows; r++) {
        double sum = (double)into.sum[r];
        merge_row(into.out + r * dim, &into.max[r], &sum, from.out + r * dim, from.max[r], (double)from.sum[r], dim);
        into.sum[r] = (float)sum;
    }
    return pe_pass(err);
}

/* As many heads of a query at a time as a row of the stack holds. */
static void finish_token(const problem *p, int64_t i)
{
    enum { MOST = 16 };
    float O[PE_HEAD_DIM_MAX];
    double sum[MOST];
    int64_t H = p->e->shape.heads, Dv = p->a.v.dim, fit = Dv ? PE_HEAD_DIM_MAX / Dv : MOST,
            most = fit < MOST ? fit : MOST;
    for (int64_t h = 0, heads; h < H; h += heads) {
        int64_t r = i * H + h;
        heads = H - h < most ? H - h : most;
        p->e->kernels.widen(O, p->piece.out + r * Dv, PE_F32, heads * Dv);
        for (int64_t n = 0; n < heads; n++)
            sum[n] = (double)p->piece.sum[r + n];
        finish_rows(p, &p->e->kernels, &(tile){ h, heads, i, 1, 0, 0 }, O, Dv, p->piece.max + r, sum);
    }
}

pe_status pe_attention_finish(const pe_encoding *e, const pe_attention *a, pe_partial piece, const pe_run *run,
                              pe_error *err)
{
    call c;
    region s[6];
    int64_t rows;
    TRY(call_open(&c, e, a, run, err));
    c.run.work = NULL;
    c.a.scores = c.a.probabilities = (pe_view){ 0 };
    TRY(call_outputs(&c, true, err));
    TRY(rows_of(&c, &rows, err));
    TRY(check_piece(rows, c.a.v.dim, &in_piece, piece, READS, s, err));
    s[3] = view_region("lse", c.a.lse, WRITES);
    s[4] = view_region("out", c.a.out, WRITES);
    TRY(check_memory(s, 5, false, err));
    if (c.a.out.dtype == PE_F64)
        return pe_fail(err, PE_ERR_DTYPE, "out is float64; fused attention takes float32, float16 and bfloat16");
    for (int64_t n = 0; n < c.sequences; n++) {
        problem p;
        c.piece = piece;
        call_sequence(&c, n, &p);
        for (int64_t i = 0; i < p.Tq; i++)
            finish_token(&p, i);
        c.piece = (pe_partial){ 0 };
        call_clear_padding(&c, n);
    }
    return pe_pass(err);
}
