/* SPDX-License-Identifier: MIT
 *
 * relative_attention: q, k, v from x, attention with an encoding, output. Plain loops over doubles. */
#include "conformance.h"

#include <stdio.h>

pe_status module_linear(golden *c, const char *name, const double *x, int64_t tokens, int64_t width, double **out,
                        int64_t *rows)
{
    char field[2][80];
    golden_tensor weight, bias = { 0 };
    snprintf(field[0], sizeof field[0], "%s_weight", name);
    snprintf(field[1], sizeof field[1], "%s_bias", name);
    TRY(golden_real(c, field[0], &weight));
    TRY(golden_fits(c, field[0], &weight, 2, -1, width, 0));
    *rows = weight.shape[0];
    if (golden_has(c, field[1])) {
        TRY(golden_real(c, field[1], &bias));
        TRY(golden_fits(c, field[1], &bias, 1, *rows, 0, 0));
    }
    *out = golden_alloc(c, tokens * *rows, sizeof **out);
    if (!*out)
        return PE_ERR_NOMEM;
    for (int64_t n = 0; n < tokens * *rows; n++) {
        int64_t t = n / *rows, r = n % *rows;
        double sum = bias.real ? (double)bias.real[r] : 0;
        for (int64_t d = 0; d < width; d++)
            sum += x[t * width + d] * (double)weight.real[r * width + d];
        (*out)[n] = sum;
    }
    return PE_OK;
}

pe_status module_read(golden *c, module *m, const char *q, const char *k, const char *v)
{
    golden_tensor t;
    int64_t rows[3];
    TRY(golden_size(c, "heads", IO_REQUIRED, &m->heads));
    TRY(golden_size(c, "head_dim", IO_REQUIRED, &m->head_dim));
    TRY(golden_real(c, "x", &t));
    TRY(golden_fits(c, "x", &t, 2, -1, -1, 0));
    m->queries = m->keys = t.shape[0];
    double *x = golden_alloc(c, t.count, sizeof *x);
    if (!x)
        return PE_ERR_NOMEM;
    for (int64_t n = 0; n < t.count; n++)
        x[n] = (double)t.real[n];
    TRY(module_linear(c, q, x, m->queries, t.shape[1], &m->q, &rows[0]));
    TRY(module_linear(c, k, x, m->keys, t.shape[1], &m->k, &rows[1]));
    TRY(module_linear(c, v, x, m->keys, t.shape[1], &m->v, &rows[2]));
    m->kv_heads = rows[1] / m->head_dim;
    if (rows[0] != m->heads * m->head_dim || rows[1] != m->kv_heads * m->head_dim || rows[1] != rows[2])
        return golden_fail(c, "the projections have %" PRId64 ", %" PRId64 ", %" PRId64 " rows; need %" PRId64
                           " heads of %" PRId64, rows[0], rows[1], rows[2], m->heads, m->head_dim);
    return PE_OK;
}

pe_encoding *module_encoding(golden *c, const module *m, const char *spec)
{
    return golden_encoding(c, spec, (pe_shape){ .heads = m->heads, .kv_heads = m->kv_heads, .head_dim = m->head_dim });
}

/* Keys count from 0; the last query stands at the last key. */
void module_positions(const module *m, pe_positions *q_at, pe_positions *k_at)
{
    *q_at = pe_positions_run(1, m->queries, m->keys - m->queries);
    *k_at = pe_positions_run(1, m->keys, 0);
}

/* out (queries, heads, head_dim) for any v (keys, kv_heads, head_dim). */
static pe_attention problem(const module *m, const pe_encoding *e, double *v, double *out)
{
    pe_positions q_at, k_at;
    module_positions(m, &q_at, &k_at);
    pe_attention a = { .size = sizeof(pe_attention), .out = pe_view_of(out, PE_F64, 1, m->queries, m->heads, m->head_dim),
                       .q = pe_view_of(m->q, PE_F64, 1, m->queries, m->heads, m->head_dim),
                       .k = pe_view_of(m->k, PE_F64, 1, m->keys, m->kv_heads, m->head_dim),
                       .v = pe_view_of(v, PE_F64, 1, m->keys, m->kv_heads, m->head_dim),
                       .q_at = q_at, .k_at = k_at, .mask = { .causal = m->causal } };
    pe_inputs in = pe_encoding_inputs(e);
    if (in.gates)
        a.q_gates = a.k_gates = pe_view_of(m->gates, PE_F64, 1, m->keys, m->heads, 1);
    if (in.relative)
        a.relative = pe_view_of(m->relative, PE_F64, 1, m->queries, m->heads, in.relative);
    return a;
}

/* With g: the gradients. */
static pe_status attend(golden *c, const pe_encoding *e, pe_params w, const pe_attention *a, const pe_attention_grad *g)
{
    size_t bytes = 0;
    TRY(pe_reference_work(e, a, &bytes, &c->err));
    void *work = golden_alloc(c, (int64_t)bytes, 1);
    if (!work)
        return PE_ERR_NOMEM;
    pe_run run = PE_MAKE(pe_run, .params = w, .work = work, .work_bytes = bytes);
    return g ? pe_reference_backward(e, a, g, &run, &c->err) : pe_reference_forward(e, a, &run, &c->err);
}

/* Probabilities are what attention makes of unit vectors: out_i = sum_j p_ij e_j, head_dim keys at a time. */
static pe_status probabilities(golden *c, const module *m, const pe_encoding *e, pe_params w, double *prob)
{
    int64_t D = m->head_dim, row = m->kv_heads * D;
    double *v = golden_alloc(c, m->keys * row, sizeof *v);
    double *out = golden_alloc(c, m->queries * m->heads * D, sizeof *out);
    if (!v || !out)
        return PE_ERR_NOMEM;
    pe_attention a = problem(m, e, v, out);
    for (int64_t first = 0; first < m->keys; first += D) {
        for (int64_t n = 0; n < m->keys * row; n++)
            v[n] = n / row == first + n % D;
        TRY(attend(c, e, w, &a, NULL));
        for (int64_t n = 0; n < m->queries * m->heads * D; n++)
            if (first + n % D < m->keys)
                prob[n / D * m->keys + first + n % D] = out[n];
    }
    return PE_OK;
}

/* probs is (heads, queries, keys), or (queries, keys, heads) as XLNet has it. */
static pe_status compare_probabilities(golden *c, const module *m, const pe_encoding *e, pe_params w)
{
    golden_tensor t;
    int64_t H = m->heads, Tq = m->queries, Tk = m->keys;
    if (!golden_has(c, "probs"))
        return PE_OK;
    TRY(golden_real(c, "probs", &t));
    bool heads_last = golden_has(c, "k_rel") && t.rank >= 3 && t.shape[t.rank - 1] == H && t.shape[t.rank - 2] == Tk;
    TRY(golden_fits(c, "probs", &t, 3, heads_last ? Tq : H, heads_last ? Tk : Tq, heads_last ? H : Tk));
    double *own = golden_alloc(c, Tq * H * Tk, sizeof *own);
    if (!own)
        return PE_ERR_NOMEM;
    TRY(probabilities(c, m, e, w, own));
    for (int64_t n = 0; n < Tq * H * Tk; n++) {
        int64_t j = n % Tk, h = n / Tk % H, i = n / Tk / H;
        double want = (double)t.real[heads_last ? (i * Tk + j) * H + h : (h * Tq + i) * Tk + j];
        golden_compare(c, own[n], want, TOL_PROBABILITY, "probs of head %" PRId64 ", query %" PRId64 ", key %" PRId64,
                       h, i, j);
    }
    return PE_OK;
}

pe_status module_compare(golden *c, const module *m, const pe_encoding *e, pe_params w)
{
    golden_tensor t;
    int64_t width = m->heads * m->head_dim;
    double *own = golden_alloc(c, m->queries * width, sizeof *own);
    if (!own)
        return PE_ERR_NOMEM;
    pe_attention a = problem(m, e, m->v, own);
    TRY(compare_probabilities(c, m, e, w));
    TRY(attend(c, e, w, &a, NULL));
    if (m->output)
        TRY(module_linear(c, m->output, own, m->queries, width, &own, &width));
    TRY(golden_real(c, "out", &t));
    if (t.count != m->queries * width)
        return golden_fail(c, "out has %" PRId64 " elements; needs %" PRId64, t.count, m->queries * width);
    double tolerance = TOL_OUTPUT * golden_largest(&t);
    for (int64_t n = 0; n < t.count; n++)
        golden_compare(c, own[n], (double)t.real[n], tolerance, "out[token %" PRId64 "][%" PRId64 "]", n / width,
                       n % width);
    return PE_OK;
}

pe_status module_compare_grad(golden *c, const char *field, const double *own, int64_t count)
{
    golden_tensor t;
    TRY(golden_real(c, field, &t));
    if (t.count != count)
        return golden_fail(c, "%s has %" PRId64 " elements; needs %" PRId64, field, t.count, count);
    double tolerance = TOL_OUTPUT * golden_largest(&t);
    for (int64_t n = 0; n < count; n++)
        golden_compare(c, own[n], (double)t.real[n], tolerance, "%s[%" PRId64 "]", field, n);
    return PE_OK;
}

pe_status module_compare_grads(golden *c, const module *m, const pe_encoding *e, pe_params w, double **dgates)
{
    golden_tensor t;
    int64_t nq = m->queries * m->heads * m->head_dim, nk = m->keys * m->kv_heads * m->head_dim, gates = m->keys * m->heads;
    TRY(golden_real(c, "dout", &t));
    TRY(golden_fits(c, "dout", &t, 3, m->queries, m->heads, m->head_dim));
    double *d = golden_alloc(c, 2 * nq + 2 * nk + 2 * gates, sizeof *d);
    if (!d)
        return PE_ERR_NOMEM;
    double *dout = d, *dq = dout + nq, *dk = dq + nq, *dv = dk + nk, *dk_gates = dv + nk;
    *dgates = dk_gates + gates;
    for (int64_t n = 0; n < nq; n++)
        dout[n] = (double)t.real[n];
    pe_attention a = problem(m, e, m->v, NULL);
    pe_attention_grad g = { .size = sizeof g, .dout = pe_view_of(dout, PE_F64, 1, m->queries, m->heads, m->head_dim),
                            .dq = pe_view_of(dq, PE_F64, 1, m->queries, m->heads, m->head_dim),
                            .dk = pe_view_of(dk, PE_F64, 1, m->keys, m->kv_heads, m->head_dim),
                            .dv = pe_view_of(dv, PE_F64, 1, m->keys, m->kv_heads, m->head_dim),
                            .dq_gates = pe_view_of(*dgates, PE_F64, 1, m->keys, m->heads, 1),
                            .dk_gates = pe_view_of(dk_gates, PE_F64, 1, m->keys, m->heads, 1) };
    TRY(attend(c, e, w, &a, &g));
    for (int64_t n = 0; n < gates; n++)
        (*dgates)[n] += dk_gates[n];
    TRY(module_compare_grad(c, "dq", dq, nq));
    TRY(module_compare_grad(c, "dk", dk, nk));
    return module_compare_grad(c, "dv", dv, nk);
}
