/* SPDX-License-Identifier: MIT */
#include "zoo/look.h"

#include "base/random.h"
#include "io/checked.h"
#include "io/io.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- inputs per token */

/* Time constants of 2, 4, .. 256 tokens; powers of two, so that the difference of two gates is exact. */
static double alike_gate(double at, int64_t head)
{
    return -ldexp(at, -1 - (int)(head % 8));
}

static void alike_fill_gates(double *to, pe_positions at, int64_t heads)
{
    for (int64_t i = 0; i < at.tokens * heads; i++)
        to[i] = alike_gate(io_position_real(at, i / heads, 0), i % heads);
}

/* The sequences of a batch have the same. */
static pe_view alike_view(double *x, int64_t batch, int64_t tokens, int64_t heads, int64_t dim)
{
    pe_view v = pe_view_of(x, PE_F64, 1, tokens, heads, dim);
    v.batch = batch;
    v.batch_stride = 0;
    return v;
}

pe_status zoo_alike_new(zoo_alike *out, const pe_encoding *e, int64_t batch, pe_positions q, pe_positions k,
                        pe_error *err)
{
    pe_inputs in = pe_encoding_inputs(e);
    int64_t H = pe_encoding_shape(e).heads, gates = 0, vectors = 0, count = 0;
    size_t bytes = 0;
    *out = (zoo_alike){ 0 };
    if (!in.gates && !in.relative)
        return PE_OK;
    bool fits = io_add_i64(&gates, q.tokens, k.tokens) && io_mul_i64(&gates, gates, in.gates ? H : 0) &&
                io_mul_i64(&vectors, q.tokens, H * in.relative) && io_add_i64(&count, gates, vectors) &&
                io_byte_count(&bytes, count, sizeof(double));
    double *at = out->memory = fits ? malloc(bytes ? bytes : 1) : NULL;
    if (!at)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the inputs of %" PRId64 " tokens", q.tokens);
    if (in.gates) {
        alike_fill_gates(at, q, H);
        alike_fill_gates(at + q.tokens * H, k, H);
        out->q_gates = alike_view(at, batch, q.tokens, H, 1);
        out->k_gates = alike_view(at + q.tokens * H, batch, k.tokens, H, 1);
    }
    for (int64_t i = 0; i < vectors; i++)
        at[gates + i] = i < H * in.relative ? random_normal(1, (uint64_t)i) : at[gates + i - H * in.relative];
    if (in.relative)
        out->relative = alike_view(at + gates, batch, q.tokens, H, in.relative);
    return PE_OK;
}

void zoo_alike_free(zoo_alike *a)
{
    free(a->memory);
    *a = (zoo_alike){ 0 };
}

/* ---------------------------------------------------------------- attention */

static pe_status look_attend(const pe_encoding *e, pe_attention a, pe_params w, pe_error *err)
{
    size_t work = 0, bytes = 0, all = 0;
    int64_t count = 0;
    const int64_t shape[] = { a.q.batch, a.q.tokens, a.q.heads, a.v.dim };
    pe_status status = pe_reference_work(e, &a, &work, err);
    if (status)
        return status;
    bool fits = (a.out.data || io_shape_count(&count, shape, 4)) && io_byte_count(&bytes, count, sizeof(double)) &&
                io_add(&all, bytes, work);
    char *memory = fits ? malloc(all ? all : 1) : NULL;
    if (!memory)
        return io_fail(err, PE_ERR_NOMEM, "no memory for attention");
    if (!a.out.data)
        a.out = pe_view_of(memory, PE_F64, a.q.batch, a.q.tokens, a.q.heads, a.v.dim);
    status =
        pe_reference_forward(e, &a, &PE_MAKE(pe_run, .params = w, .work = memory + bytes, .work_bytes = work), err);
    free(memory);
    return status;
}

pe_status zoo_look(const pe_encoding *e, pe_attention a, pe_params w, pe_error *err)
{
    zoo_alike in = { 0 };
    bool given = a.q_gates.data || a.relative.data;
    a.v = a.v.data ? a.v : a.k;
    pe_status status = given ? PE_OK : zoo_alike_new(&in, e, a.q.batch, a.q_at, a.k_at, err);
    if (!given) {
        a.q_gates = in.q_gates;
        a.k_gates = in.k_gates;
        a.relative = in.relative;
    }
    status = status ? status : look_attend(e, a, w, err);
    zoo_alike_free(&in);
    return status;
}

static pe_status look_terms(const pe_encoding *e, const pe_tile *tile, pe_params w, double scale, pe_error *err)
{
    double *score = tile->score.data;
    pe_status status = PE_OK;
    for (int stage = PE_BEFORE_SCALE; !status && stage <= PE_AFTER_SCALE; stage++) {
        status = pe_encoding_content(e, (pe_stage)stage, w, tile, err);
        status = status ? status : pe_encoding_bias(e, (pe_stage)stage, w, tile, err);
        for (int64_t i = 0; stage == PE_BEFORE_SCALE && i < tile->score.tokens * tile->score.heads * tile->score.dim;
             i++)
            score[i] *= scale;
    }
    return status;
}

pe_status zoo_look_terms(const pe_encoding *e, const pe_tile *tile, pe_params w, double scale, pe_error *err)
{
    zoo_alike in;
    pe_tile with = *tile;
    pe_status status = zoo_alike_new(&in, e, 1, tile->q_at, tile->k_at, err);
    with.q_gates = in.q_gates;
    with.k_gates = in.k_gates;
    with.relative = in.relative;
    status = status ? status : look_terms(e, &with, w, scale, err);
    zoo_alike_free(&in);
    return status;
}

const char *zoo_look_plain(void)
{
    int n = 0;
    while (n + 1 < pe_info_count() && pe_info_at(n)->hooks)
        n++;
    return pe_info_at(n)->name;
}
