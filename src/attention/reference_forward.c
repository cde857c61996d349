/* SPDX-License-Identifier: MIT
 *
 * Reference attention: the definition that fast versions are held to. */
#include "attention/query.h"

#include <inttypes.h>

/* out = sum of p v, the value terms, rotated back where the spec says so. */
static void mix_values(problem *p, int64_t i)
{
    int64_t H = p->e->shape.heads, Dv = p->a.v.dim;
    for (int64_t h = 0; h < H; h++) {
        double *out = cell_of(p->m->out, 0, h), *prob = cell_of(p->m->prob, 0, h);
        for (int64_t d = 0; d < Dv; d++)
            out[d] = 0;
        for (int64_t j = 0; j < p->Tk; j++)
            for (int64_t d = 0; prob[j] != 0 && d < Dv; d++)
                out[d] += prob[j] * cell_of(p->m->v, j, kv_head(p, h))[d];
    }
    value_add(p->e, p->w, p->m->out, p->m->prob, query_at(p, i), p->a.k_at, p->m->seen, p->Tk);
    if (p->rotating && p->rotating->rotates_output)
        rotate_view(p->rotating, p->w, PE_OUTPUT, (rotation_mode){ true, true }, p->m->out, p->m->out, query_at(p, i),
                    0);
}

static void store_rows(pe_view to, int64_t i, pe_view from)
{
    for (int64_t h = 0; to.data && h < to.heads; h++)
        for (int64_t d = 0; d < to.dim; d++)
            num_store(to.data, to.dtype, row_vec(to, i, h).at + d, cell_of(from, 0, h)[d]);
}

static void reference_forward_pass(problem *p)
{
    for (int64_t i = 0; i < p->Tq; i++) {
        query_rotate_keys(p, i);
        query_probabilities(p, i);
        mix_values(p, i);
        store_rows(p->a.out, i, p->m->out);
        store_rows(p->a.scores, i, p->m->score);
        store_rows(p->a.probabilities, i, p->m->prob);
        for (int64_t h = 0; p->a.lse.data && h < p->e->shape.heads; h++)
            num_store(p->a.lse.data, p->a.lse.dtype, row_vec(p->a.lse, i, h).at, p->m->lse[h]);
    }
}

/* The largest sequence's. */
static pe_status measure_call(const call *c, size_t *bytes, pe_error *err)
{
    *bytes = 0;
    for (int64_t s = 0; s < c->sequences; s++) {
        problem p;
        work m;
        call_sequence(c, s, &p);
        p.m = &m;
        if (!problem_cut(&p, NULL))
            return pe_fail(err, PE_ERR_OVERFLOW, "the work memory for %" PRId64 " keys does not fit 64-bit sizes",
                           p.Tk);
        *bytes = p.m->bytes > *bytes ? p.m->bytes : *bytes;
    }
    return PE_OK;
}

pe_status pe_reference_work(const pe_encoding *e, const pe_attention *a, size_t *bytes, pe_error *err)
{
    call c;
    CHECK_POINTER(size_t, bytes, "bytes");
    TRY(call_open(&c, e, a, NULL, err));
    TRY(measure_call(&c, bytes, err));
    return pe_pass(err);
}

pe_status reference_open(call *c, const pe_encoding *e, const pe_attention *a, const pe_run *run, pe_error *err)
{
    size_t bytes;
    TRY(call_open(c, e, a, run, err));
    TRY(measure_call(c, &bytes, err));
    TRY(check_params(e, c->run.params, err));
    TRY(call_work(c, bytes, "pe_reference_work", err));
    c->run.work_bytes = bytes;
    return PE_OK;
}

pe_status reference_reach(const call *c, pe_error *err)
{
    for (int64_t s = 0; s < c->sequences; s++) {
        problem p;
        work m;
        call_sequence(c, s, &p);
        p.m = &m;
        problem_cut(&p, c->run.work);
        TRY(problem_reach(&p, err));
    }
    return PE_OK;
}

pe_status pe_reference_forward(const pe_encoding *e, const pe_attention *a, const pe_run *run, pe_error *err)
{
    call c;
    TRY(reference_open(&c, e, a, run, err));
    TRY(call_outputs(&c, true, err));
    TRY(reference_reach(&c, err));
    for (int64_t s = 0; s < c.sequences; s++) {
        problem p;
        work m;
        call_sequence(&c, s, &p);
        p.m = &m;
        problem_cut(&p, c.run.work);
        reference_forward_pass(&p);
        call_clear_padding(&c, s);
    }
    return pe_pass(err);
}
