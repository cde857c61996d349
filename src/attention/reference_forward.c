/* SPDX-License-Identifier: MIT
 *
 * Reference attention: the definition that fast versions are held to. */
#include "attention/query.h"

pe_status pe_reference_work(const pe_encoding *e, const pe_attention *a, size_t *bytes, pe_error *err)
{
    CHECK_POINTER(size_t, bytes, "bytes");
    TRY(problem_size(e, a, bytes, err));
    return pe_pass(err);
}

/* out = sum of p v, the value terms, turned back where the spec says so. */
static void mix_values(problem *p, int64_t i)
{
    int64_t H = p->e->shape.heads, Dv = p->a.v.dim;
    for (int64_t h = 0; h < H; h++) {
        double *out = cell_of(p->m.out, 0, h), *prob = cell_of(p->m.prob, 0, h);
        for (int64_t d = 0; d < Dv; d++)
            out[d] = 0;
        for (int64_t j = 0; j < p->a.k.tokens; j++)
            for (int64_t d = 0; prob[j] != 0 && d < Dv; d++)
                out[d] += prob[j] * cell_of(p->m.v, j, kv_head(p, h))[d];
    }
    value_add(p->e, p->w, p->m.out, p->m.prob, query_at(p, i), p->a.k_at, p->m.seen, p->a.k.tokens);
    if (p->turns && p->turns->turns_output)
        rotate_view(p->turns, PE_OUTPUT, (turn_mode){ true, true }, p->m.out, p->m.out, query_at(p, i), 0);
}

pe_status pe_reference_forward(const pe_encoding *e, pe_params w, const pe_attention *a, void *memory, size_t bytes,
                               pe_error *err)
{
    problem p;
    TRY(problem_open(&p, e, w, a, memory, bytes, err));
    TRY(problem_outputs(&p, err));
    TRY(problem_reach(&p, err));
    for (int64_t i = 0; i < p.a.q.tokens; i++) {
        query_turn_keys(&p, i);
        query_probabilities(&p, i);
        mix_values(&p, i);
        for (int64_t h = 0; h < e->shape.heads; h++) {
            vec out = row_vec(p.a.out, i, h);
            for (int64_t d = 0; d < p.a.v.dim; d++)
                num_store(out.data, out.type, out.at + d, cell_of(p.m.out, 0, h)[d]);
            if (p.a.lse.data)
                num_store(p.a.lse.data, p.a.lse.dtype, row_vec(p.a.lse, i, h).at, p.m.lse[h]);
        }
    }
    return pe_pass(err);
}
