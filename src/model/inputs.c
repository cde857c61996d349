/* SPDX-License-Identifier: MIT
 *
 * Inputs per token that an encoding takes (pe_encoding_inputs), projected from h1, as queries are:
 *     gates:     c_t = sum of log sigmoid(w_h . h1_l + b_h) over the tokens l = 0..t of a sequence, for each head
 *     relative:  r_t = W h1_t, R numbers for each head
 * c is float64: far from the start of a sequence the difference of two float32 numbers would have lost its digits. */
#include "model/parts.h"

#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- tensors */

static bool inputs_add(model *m, linear *l, int64_t n, const char *part, int64_t out, bool biased)
{
    char name[MODEL_NAME_MAX];
    snprintf(name, sizeof name, "layer.%" PRId64 ".position.%s", n, part);
    model_tensor *t = layout_add_weight(m, name, out, m->c.width);
    if (!t)
        return false;
    t->position = true;
    *l = (linear){ t->offset, -1, out, m->c.width };
    if (!biased)
        return true;
    snprintf(name, sizeof name, "layer.%" PRId64 ".position.%s.bias", n, part);
    const pe_tensor of = { .shape = { out }, .rank = 1, .count = out, .min = -(double)INFINITY, .max = INFINITY };
    t = layout_add(m, name, &of);
    l->bias = t ? t->offset : -1;
    return t;
}

pe_status inputs_layout(model *m, pe_error *err)
{
    pe_inputs in = pe_encoding_inputs(m->at.e);
    bool ok = true;
    for (int64_t n = 0; n < m->c.layers; n++) {
        layer *l = &m->layer[n];
        ok = ok && (!in.gates || inputs_add(m, &l->gates, n, "gates", m->c.heads, true)) &&
             (!in.relative || inputs_add(m, &l->relative, n, "relative", m->c.heads * in.relative, false));
    }
    return ok ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for the projections of the encoding's inputs");
}

/* The bias of gates starts at 0, as its authors have it. */
void inputs_init(model *m, uint64_t seed)
{
    for (int i = 0; i < m->tensors; i++)
        for (int64_t l = 0; l < m->c.layers; l++) {
            const model_tensor *t = &m->tensor[i];
            const linear *gates = &m->layer[l].gates, *relative = &m->layer[l].relative;
            if ((gates->out && (t->offset == gates->weight || t->offset == gates->bias)) ||
                (relative->out && t->offset == relative->weight))
                init_tensor(m, t, seed);
        }
}

pe_status inputs_fit(const model *m, const pe_encoding *e, pe_error *err)
{
    pe_inputs in = pe_encoding_inputs(e);
    if ((in.gates && !m->layer[0].gates.out) || (in.relative && m->layer[0].relative.out != m->c.heads * in.relative))
        return io_fail(err, PE_ERR_UNSUITED,
                       "%s takes %s of each token, which this model has no projection for: train it with this encoding",
                       pe_encoding_spec(e), in.gates ? "a gate" : "a vector");
    return PE_OK;
}

/* ---------------------------------------------------------------- forward */

void inputs_project(const model *m, const layer *l, const trace *t, piece p)
{
    pe_inputs in = pe_encoding_inputs(m->at.e);
    if (in.gates)
        linear_forward(m, l->gates, t->logits, t->h1, p, 0);
    if (in.relative)
        linear_forward(m, l->relative, t->relative, t->h1, p, 0);
}

typedef struct gate_sums {
    const model *m;
    const trace *t;
    const model_batch *b;
    real *dlogits;
} gate_sums;

/* One sequence. */
static void sum_gates(void *arg, piece p)
{
    const gate_sums *s = arg;
    int64_t H = s->m->c.heads, T = s->b->length;
    const real *logit = s->t->logits + p.first * T * H;
    double *c = s->t->gates + p.first * T * H;
    for (int64_t i = 0; i < T * H; i++) /* log sigmoid(x) = min(x, 0) - log(1 + exp(-|x|)) */
        c[i] = (i < H ? 0 : c[i - H]) + fmin((double)logit[i], 0) - log1p(exp(-fabs((double)logit[i])));
}

static pe_view tokens_view(const void *x, pe_dtype type, const model_batch *b, int64_t heads, int64_t dim)
{
    return pe_view_of((void *)(uintptr_t)x, type, b->sequences, b->length, heads, dim);
}

void inputs_give(const model *m, const trace *t, const model_batch *b, pe_attention *a)
{
    pe_inputs in = pe_encoding_inputs(m->at.e);
    if (in.gates)
        a->q_gates = a->k_gates = tokens_view(t->gates, PE_F64, b, m->c.heads, 1);
    if (in.relative)
        a->relative = tokens_view(t->relative, MODEL_TYPE, b, m->c.heads, in.relative);
}

void inputs_forward(const model *m, const trace *t, const model_batch *b)
{
    if (pe_encoding_inputs(m->at.e).gates)
        run_each(m, sum_gates, &(gate_sums){ m, t, b, NULL }, b->sequences);
}

/* ---------------------------------------------------------------- backward */

void inputs_take(const model *m, const model_batch *b, pe_attention_grad *g)
{
    pe_inputs in = pe_encoding_inputs(m->at.e);
    if (in.gates) {
        g->dq_gates = tokens_view(m->d.dq_gates, MODEL_TYPE, b, m->c.heads, 1);
        g->dk_gates = tokens_view(m->d.dk_gates, MODEL_TYPE, b, m->c.heads, 1);
    }
    if (in.relative)
        g->drelative = tokens_view(m->d.drelative, MODEL_TYPE, b, m->c.heads, in.relative);
}

/* One sequence: a gate is in c of its token and of all later ones. dlogits take the place of dq_gates. */
static void sum_gates_back(void *arg, piece p)
{
    const gate_sums *s = arg;
    int64_t H = s->m->c.heads, T = s->b->length, first = p.first * T * H;
    for (int64_t h = 0; h < H; h++) {
        double sum = 0;
        for (int64_t i = first + (T - 1) * H + h; i >= first; i -= H) {
            sum += (double)s->m->d.dq_gates[i] + (double)s->m->d.dk_gates[i];
            s->dlogits[i] = (real)(sum / (1 + exp((double)s->t->logits[i]))); /* 1 - f */
        }
    }
}

void inputs_backward(model *m, const layer *l, const trace *t, const model_batch *b)
{
    if (!pe_encoding_inputs(m->at.e).gates)
        return;
    int64_t H = m->c.heads, rows = b->sequences * b->length;
    real *dlogits = m->d.dq_gates;
    run_each(m, sum_gates_back, &(gate_sums){ m, t, b, dlogits }, b->sequences);
    for (int64_t h = 0; h < H; h++) {
        double sum = 0;
        for (int64_t i = 0; i < rows; i++)
            sum += (double)dlogits[i * H + h];
        m->grads[l->gates.bias + h] = (real)sum;
    }
}

/* dh += what comes back through the projections. */
static void input_back(const model *m, linear l, real *dy, piece p)
{
    gemm_input(rows_at(m->d.dh, l.in, p.first), rows_at(dy, l.out, p.first), weight_of(m, l), p.count, l.out, l.in, 1);
}

void inputs_project_back(const model *m, const layer *l, piece p)
{
    pe_inputs in = pe_encoding_inputs(m->at.e);
    if (in.gates)
        input_back(m, l->gates, m->d.dq_gates, p);
    if (in.relative)
        input_back(m, l->relative, m->d.drelative, p);
}
