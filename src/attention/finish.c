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

/* Outputs turn back by the places of their queries: one table of cosines for all heads. */
static void turn_back(const problem *p, const kernels *k, const tile *t, float *O, int64_t width)
{
    pe_view v = { O, PE_F32, t->m, t->heads, p->a.v.dim, width, t->m * width };
    turn_job job = { .k = k, .p = p->turns, .side = PE_OUTPUT, .mode = { true, true }, .y = v, .x = v };
    job.at = query_at(p, t->i);
    job.at.tokens = t->m;
    rotate_tokens(&job, 1, false, NULL);
}

void finish_rows(const problem *p, const kernels *k, const tile *t, float *O, int64_t width, const float *max,
                 const double *sum)
{
    pe_view out = p->a.out;
    for (int64_t r = 0; r < t->heads * t->m; r++)
        divide_row(p, k, t->h + r / t->m, t->i + r % t->m, O + r * width, max[r], sum[r]);
    if (p->turns && p->turns->turns_output)
        turn_back(p, k, t, O, width);
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

static pe_status check_piece(const problem *p, const piece_names *name, pe_partial piece, use how, region s[4],
                             pe_error *err)
{
    int64_t rows, values, bytes;
    if (!checked_mul(&rows, p->a.q.tokens, p->e->shape.heads) || !checked_mul(&values, rows, p->a.v.dim) ||
        !checked_mul(&bytes, values, 8))
        return pe_fail(err, PE_ERR_OVERFLOW, "a piece for %" PRId64 " queries does not fit 64-bit sizes",
                       p->a.q.tokens);
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
    if ((uintptr_t)piece.carry % 8)
        return pe_fail(err, PE_ERR_ALIGN, "%s is not aligned to its 8-byte elements", name->carry);
    s[3] = array_region(name->carry, piece.carry, rows, 8, how);
    return PE_OK;
}

/* Each key counts 1 at most. What is further would be past the rows of the table that are made ready; 1 of it is for
 * sums that were rounded. A piece of no keys looks none up. */
static pe_status check_carry(const problem *p, const double *carry, pe_error *err)
{
    int64_t after = p->a.mask.keys_after;
    for (int64_t r = 0; r < p->a.q.tokens * p->e->shape.heads; r++) {
        if (!(carry[r] >= 0))
            return pe_fail(err, PE_ERR_RANGE,
                           "piece.carry has %s; needs the keys counted so far, 0 before the first piece",
                           text_show(carry[r]).text);
        if (p->a.k.tokens && carry[r] > (double)after + 1)
            return pe_fail(err, PE_ERR_RANGE,
                           "piece.carry has %s, but mask.keys_after says that %" PRId64
                           " keys follow; needs that many at most",
                           text_show(carry[r]).text, after);
    }
    return PE_OK;
}

pe_status partial_check(const problem *p, pe_partial piece, pe_error *err)
{
    region s[4 + PROBLEM_REGIONS];
    if (pe_encoding_carries(p->e) && !piece.carry)
        return pe_fail(err, PE_ERR_NULL, "piece.carry is NULL; %s counts keys from piece to piece", p->e->text);
    TRY(check_piece(p, &in_piece, piece, WRITES, s, err));
    problem_regions(p, s + 4);
    TRY(check_memory(s, COUNT_OF(s), false, err));
    return pe_encoding_carries(p->e) ? check_carry(p, piece.carry, err) : PE_OK;
}

pe_status pe_attention_merge(const pe_encoding *e, const pe_attention *a, pe_partial into, pe_partial from,
                             pe_error *err)
{
    problem p;
    region s[8];
    TRY(problem_check(&p, e, a, err));
    TRY(check_piece(&p, &in_into, into, WRITES, s, err));
    TRY(check_piece(&p, &in_from, from, READS, s + 4, err));
    s[3] = s[7] = array_region("carry", NULL, 0, 8, READS); /* not looked at */
    TRY(check_memory(s, COUNT_OF(s), false, err));
    for (int64_t r = 0; r < a->q.tokens * e->shape.heads; r++) {
        double sum = (double)into.sum[r];
        merge_row(into.out + r * a->v.dim, &into.max[r], &sum, from.out + r * a->v.dim, from.max[r],
                  (double)from.sum[r], a->v.dim);
        into.sum[r] = (float)sum;
    }
    return pe_pass(err);
}

/* As many heads of a query at a time as a row of the stack holds. */
static void finish_token(const problem *p, pe_partial piece, int64_t i)
{
    enum { MOST = 64 };
    float O[PE_HEAD_DIM_MAX];
    double sum[MOST];
    int64_t H = p->e->shape.heads, Dv = p->a.v.dim, fit = Dv ? PE_HEAD_DIM_MAX / Dv : MOST,
            most = fit < MOST ? fit : MOST;
    for (int64_t h = 0, heads; h < H; h += heads) {
        int64_t r = i * H + h;
        heads = H - h < most ? H - h : most;
        p->e->kernels.widen(O, piece.out + r * Dv, PE_F32, heads * Dv);
        for (int64_t n = 0; n < heads; n++)
            sum[n] = (double)piece.sum[r + n];
        finish_rows(p, &p->e->kernels, &(tile){ h, heads, i, 1, 0, 0 }, O, Dv, piece.max + r, sum);
    }
}

pe_status pe_attention_finish(const pe_encoding *e, const pe_attention *a, pe_partial piece, pe_error *err)
{
    problem p;
    region s[5];
    TRY(problem_check(&p, e, a, err));
    TRY(problem_outputs(&p, err));
    TRY(check_piece(&p, &in_piece, piece, READS, s, err));
    s[3] = view_region("lse", p.a.lse, WRITES);
    s[4] = view_region("out", p.a.out, WRITES);
    TRY(check_memory(s, 5, false, err));
    if (p.a.out.dtype == PE_F64)
        return pe_fail(err, PE_ERR_DTYPE, "out is float64; fused attention takes float32, float16 and bfloat16");
    for (int64_t i = 0; i < p.a.q.tokens; i++)
        finish_token(&p, piece, i);
    return pe_pass(err);
}
