/* SPDX-License-Identifier: MIT
 *
 * Encodings and attention calls, made ready to be timed. */
#include "attend.h"

#include <stdlib.h>
#include <string.h>

void must(pe_status s, const pe_error *err, const char *what)
{
    if (!s)
        return;
    fprintf(stderr, "\nposenc-bench: %s: %s\n", what, err->text);
    exit(1);
}

pe_encoding *encoding(const char *spec, pe_shape shape, const char *rung)
{
    pe_encoding *e = NULL;
    pe_error err;
    must(pe_encoding_new(&e, spec, shape, &err), &err, spec);
    if (rung)
        must(pe_encoding_set_kernels(e, rung, &err), &err, spec);
    return e;
}

/* ---------------------------------------------------------------- positions */

/* The least side whose power axes covers count tokens. */
int64_t grid_side(int64_t count, int64_t axes)
{
    if (axes == 1)
        return count;
    for (int64_t side = 1;; side++) {
        int64_t cells = 1;
        for (int64_t a = 0; a < axes && cells < count; a++)
            cells *= side;
        if (cells >= count)
            return side;
    }
}

/* Tokens 0, 1, ... along one axis, or in the rows of a grid. data is the caller's to free. */
static pe_positions positions(int64_t tokens, int64_t axes, int64_t first)
{
    if (axes == 1)
        return pe_positions_run(1, tokens, first);
    int64_t side = grid_side(first + tokens, axes), *at = buffer(tokens * axes * 8);
    for (int64_t t = 0; t < tokens; t++) {
        int64_t rest = first + t;
        for (int64_t a = axes - 1; a >= 0; a--) {
            at[t * axes + a] = rest % side;
            rest /= side;
        }
    }
    return pe_positions_of(at, PE_I64, 1, tokens, axes);
}

/* ---------------------------------------------------------------- attention */

const pe_shape attend_shape = { 8, 0, 64, 0 };

double attend_operations(int64_t n, bool backward)
{
    double forward = 4 * (double)n * (double)n * (double)(attend_shape.head_dim * attend_shape.heads) / 2;
    return backward ? 2.5 * forward : forward;
}

static pe_params learned(const pe_encoding *e, bool zero)
{
    pe_error err;
    int64_t count = pe_encoding_param_count(e);
    pe_params p = { count ? buffer(count * 4) : NULL, PE_F32, count };
    if (count && !zero)
        must(pe_encoding_init(e, p, 1, &err), &err, pe_encoding_spec(e));
    return p;
}

static pe_view vectors(pe_dtype type, int64_t tokens, const pe_shape *s, int64_t heads, uint64_t seed)
{
    int64_t count = tokens * heads * s->head_dim;
    void *data = buffer(count * (int64_t)pe_dtype_size(type));
    fill(data, type, count, seed);
    return pe_view_of(data, type, 1, tokens, heads, s->head_dim);
}

/* Numbers per token that the encoding takes; dim 0: none. */
static pe_view inputs(const attending *c, int64_t tokens, int64_t dim, uint64_t seed)
{
    return dim ? vectors(PE_F32, tokens, &(pe_shape){ .head_dim = dim }, c->shape.heads, seed) : (pe_view){ 0 };
}

static void add_gradients(attending *c, const attend_setting *s)
{
    pe_inputs in = pe_encoding_inputs(c->e);
    pe_attention_grad *g = &c->g;
    g->size = sizeof *g;
    g->dout = vectors(s->type, s->queries, &c->shape, c->shape.heads, 4);
    g->dq = vectors(s->type, s->queries, &c->shape, c->shape.heads, 5);
    g->dk = vectors(s->type, s->keys, &c->shape, c->shape.kv_heads, 6);
    g->dv = vectors(s->type, s->keys, &c->shape, c->shape.kv_heads, 7);
    g->dparams = learned(c->e, true);
    g->dq_gates = inputs(c, s->queries, in.gates, 8);
    g->dk_gates = inputs(c, s->keys, in.gates, 9);
    g->drelative = inputs(c, s->queries, in.relative, 10);
}

pe_status attend_size(attending *c, bool backward, pe_error *err)
{
    pe_status s = pe_attention_work(c->e, &c->a, &c->run, &c->forward_bytes, err);
    if (!s && backward)
        s = pe_attention_backward_work(c->e, &c->a, &c->run, &c->backward_bytes, err);
    c->run.work_bytes = c->forward_bytes > c->backward_bytes ? c->forward_bytes : c->backward_bytes;
    free(c->run.work);
    c->run.work = buffer((int64_t)c->run.work_bytes);
    return s;
}

attending *attend_new(const attend_setting *s)
{
    pe_error err;
    attending *c = buffer(sizeof *c);
    c->e = encoding(s->spec, s->shape, s->rung);
    c->shape = pe_encoding_shape(c->e);
    c->run = PE_MAKE(pe_run, .params = learned(c->e, false), .pool = s->pool);
    int64_t axes = pe_encoding_axes(c->e);
    c->borrowed = s->k.data != NULL;
    c->a = (pe_attention){
        .size = sizeof c->a,
        .q = vectors(s->type == PE_F64 ? PE_F32 : s->type, s->queries, &c->shape, c->shape.heads, 1),
        .k = s->k.data ? s->k : vectors(s->type, s->keys, &c->shape, c->shape.kv_heads, 2),
        .v = s->k.data ? s->v : vectors(s->type, s->keys, &c->shape, c->shape.kv_heads, 3),
        .out = vectors(s->type, s->queries, &c->shape, c->shape.heads, 0),
        .q_at = positions(s->queries, axes, s->keys - s->queries),
        .k_at = positions(s->keys, axes, 0),
        .mask = { .causal = true },
        .rotated = s->rotated,
    };
    pe_inputs in = pe_encoding_inputs(c->e);
    c->a.q_gates = inputs(c, s->queries, in.gates, 8);
    c->a.k_gates = inputs(c, s->keys, in.gates, 9);
    c->a.relative = inputs(c, s->queries, in.relative, 10);
    c->a.lse = pe_view_of(buffer(s->queries * c->shape.heads * 4), PE_F32, 1, s->queries, c->shape.heads, 1);
    if (s->backward)
        add_gradients(c, s);
    if (s->planned)
        must(pe_plan_new(&c->plan, c->e, s->keys, 0, &c->run, &err), &err, s->spec);
    c->run.plan = c->plan;
    must(attend_size(c, s->backward, &err), &err, s->spec);
    return c;
}

void attend_free(attending *c)
{
    if (!c->borrowed) {
        free(c->a.k.data);
        free(c->a.v.data);
    }
    void *const owned[] = { c->run.params.data,
                            c->a.q.data,
                            c->a.out.data,
                            c->a.lse.data,
                            (void *)(uintptr_t)c->a.q_at.data,
                            c->g.dout.data,
                            c->g.dq.data,
                            c->g.dk.data,
                            c->g.dv.data,
                            (void *)(uintptr_t)c->a.k_at.data,
                            c->run.work,
                            c->g.dparams.data,
                            c->a.q_gates.data,
                            c->a.k_gates.data,
                            c->a.relative.data,
                            c->g.dq_gates.data,
                            c->g.dk_gates.data,
                            c->g.drelative.data };
    for (int i = 0; i < BENCH_COUNT(owned); i++)
        free(owned[i]);
    pe_plan_free(c->plan);
    pe_encoding_free(c->e);
    free(c);
}

void attend_forward(void *arg)
{
    attending *c = arg;
    pe_error err;
    must(pe_attention_forward(c->e, &c->a, &c->run, &err), &err, pe_encoding_spec(c->e));
}

void attend_backward(void *arg)
{
    attending *c = arg;
    pe_error err;
    must(pe_attention_backward(c->e, &c->a, &c->g, &c->run, &err), &err, pe_encoding_spec(c->e));
}
