/* SPDX-License-Identifier: MIT
 *
 * What an encoding makes of a position, whichever way it enters. */
#include "prove/numbers.h"

#include "zoo/look.h"
#include "zoo/turn_head.h"

#include <stdlib.h>
#include <string.h>

void codes_close(codes *c)
{
    measure_close(&c->m);
    free(c->at), free(c->q), free(c->k), free(c->exact), free(c->kept);
}

/* Place n of all; terms that count keys get neighbours only. */
static int64_t place_of(const codes *c, int64_t n)
{
    int64_t apart = pe_encoding_carries(c->m.e) ? RUN : (c->length - RUN) / (RUNS - 1);
    return n / RUN * apart + n % RUN;
}

static void place_all(const codes *c)
{
    for (int64_t n = 0; n < PLACES; n++)
        measure_place_one(c->at + n * c->axes, place_of(c, n), c->length, c->axes);
}

pe_status codes_open(codes *c, const char *spec, const prove_given *g, int64_t length, pe_error *err)
{
    *c = (codes){ .length = length };
    PROVE_TRY(measure_open(&c->m, spec, g, err));
    int64_t H = g->heads, D = g->head_dim, P = pe_encoding_pair_count(c->m.e);
    bool adds = pe_encoding_hooks(c->m.e) & PE_HOOK_EMBED;
    c->axes = pe_encoding_axes(c->m.e);
    c->step = adds ? measure_width(&c->m) : P ? 2 * P : 1;
    c->size = adds || P ? PLACES * c->step : H * PLACES;
    c->at = calloc((size_t)(PLACES * c->axes), sizeof *c->at);
    c->q = measure_memory(H, D, err);
    c->k = measure_memory(PLACES, H * D, err);
    c->exact = measure_memory(c->size, 1, err);
    c->kept = measure_memory(c->size, 1, err);
    if (!c->at || !c->q || !c->k || !c->exact || !c->kept)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the codes of %d places", PLACES);
    measure_normals(c->q, H * D, 1, g->seed);
    for (int64_t n = 0; n < PLACES * H * D; n++)
        c->k[n] = c->q[n % (H * D)] / 2;
    place_all(c);
    return PE_OK;
}

static pe_positions places(const codes *c)
{
    return pe_positions_of(c->at, PE_I64, 1, PLACES, c->axes);
}

/* out (H, PLACES): what the query behind all places adds to its scores. */
static pe_status score_codes(double *out, const codes *c, pe_error *err)
{
    int64_t H = c->m.shape.heads, D = c->m.shape.head_dim, last[PE_AXES_MAX];
    memcpy(last, c->at + (PLACES - 1) * c->axes, (size_t)c->axes * sizeof *last);
    pe_tile t = { .size = sizeof(pe_tile),
                  .score = pe_view_of(out, PE_F64, 1, 1, H, PLACES),
                  .q = pe_view_of(c->q, PE_F64, 1, 1, H, D),
                  .k = pe_view_of(c->k, PE_F64, 1, PLACES, H, D),
                  .q_at = pe_positions_of(last, PE_I64, 1, 1, c->axes),
                  .k_at = places(c) };
    memset(out, 0, (size_t)c->size * sizeof *out);
    return zoo_look_terms(c->m.e, &t, c->m.w, 1, err);
}

pe_status codes_make(double *out, const codes *c, pe_error *err)
{
    int64_t P = pe_encoding_pair_count(c->m.e);
    if (pe_encoding_hooks(c->m.e) & PE_HOOK_EMBED) {
        pe_view y = pe_view_of(out, PE_F64, 1, PLACES, 1, c->step);
        pe_view x = pe_view_of(NULL, PE_F64, 1, PLACES, 1, c->m.shape.model_dim);
        return pe_embed(c->m.e, y, x, places(c), &PE_MAKE(pe_run, .params = c->m.w), err);
    }
    if (!P)
        return score_codes(out, c, err);
    pe_view cosine = pe_view_of(out, PE_F64, 1, PLACES, 1, P), sine;
    cosine.token_stride = 2 * P;
    sine = cosine;
    sine.data = out + P;
    return zoo_turn_table(cosine, sine, c->m.e, c->m.w, 0, PE_KEY, places(c), err);
}
