/* SPDX-License-Identifier: MIT
 *
 * From sums to outputs, and sums of pieces to sums of the whole. */
#include "attention/fused.h"

#include <inttypes.h>

/* The sink joins, the division, the turn back; O is used up. */
void finish_row(const problem *p, const kernels *k, int64_t h, int64_t i, float *O, float max, double sum)
{
    const pe_attention *a = &p->a;
    int64_t Dv = a->v.dim;
    double most = (double)max, own = 1;
    if (a->sinks.data) {
        double sink = num_load(a->sinks.data, a->sinks.dtype, h);
        most = sink > most || isnan(sink) ? sink : most;
        own = max == -INFINITY ? 0 : exp((double)max - most);
        sum = sum * own + (sink == -INFINITY ? 0 : exp(sink - most));
    }
    k->scale(O, sum == 0 ? 0 : (float)(own / sum), Dv);
    for (int64_t d = 0; sum == 0 && d < Dv; d++)
        O[d] = 0;
    if (p->turns && p->turns->turns_output) {
        pe_view v = { O, PE_F32, 1, 1, Dv, Dv, Dv };
        rotate_view(p->turns, PE_OUTPUT, (turn_mode){ true, true }, v, v, query_at(p, i), 0);
    }
    k->narrow((char *)a->out.data + row_vec(a->out, i, h).at * (int64_t)pe_dtype_size(a->out.dtype), a->out.dtype, O,
              Dv);
    if (a->lse.data)
        num_store(a->lse.data, a->lse.dtype, row_vec(a->lse, i, h).at, sum == 0 ? -INFINITY : most + log(sum));
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

pe_status partial_check(const problem *p, pe_partial piece, pe_error *err)
{
    region s[4 + PROBLEM_REGIONS];
    if (pe_encoding_carries(p->e) && !piece.carry)
        return pe_fail(err, PE_ERR_NULL, "piece.carry is NULL; %s counts keys from piece to piece", p->e->text);
    TRY(check_piece(p, &in_piece, piece, WRITES, s, err));
    problem_regions(p, s + 4);
    TRY(check_memory(s, COUNT_OF(s), false, err));
    for (int64_t r = 0; pe_encoding_carries(p->e) && r < p->a.q.tokens * p->e->shape.heads; r++)
        if (!(piece.carry[r] >= 0))
            return pe_fail(err, PE_ERR_RANGE,
                           "piece.carry has %s; needs the keys counted so far, 0 before the first piece",
                           text_show(piece.carry[r]).text);
    return PE_OK;
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

pe_status pe_attention_finish(const pe_encoding *e, const pe_attention *a, pe_partial piece, pe_error *err)
{
    problem p;
    region s[5 + PROBLEM_REGIONS];
    float O[PE_HEAD_DIM_MAX];
    TRY(problem_check(&p, e, a, err));
    TRY(problem_outputs(&p, err));
    TRY(check_piece(&p, &in_piece, piece, READS, s, err));
    s[3] = view_region("lse", p.a.lse, WRITES);
    s[4] = view_region("out", p.a.out, WRITES);
    TRY(check_memory(s, 5, false, err));
    if (p.a.out.dtype == PE_F64)
        return pe_fail(err, PE_ERR_DTYPE, "out is float64; fused attention takes float32, float16 and bfloat16");
    for (int64_t i = 0; i < p.a.q.tokens; i++)
        for (int64_t h = 0; h < e->shape.heads; h++) {
            int64_t r = i * e->shape.heads + h;
            for (int64_t d = 0; d < p.a.v.dim; d++)
                O[d] = piece.out[r * p.a.v.dim + d];
            finish_row(&p, &e->kernels, h, i, O, piece.max[r], (double)piece.sum[r]);
        }
    return pe_pass(err);
}
