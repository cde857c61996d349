/* SPDX-License-Identifier: MIT
 *
 * Some random queries, keys and values, and attention over them by the definition, with an encoding or without. */
#include "prove/numbers.h"

#include "zoo/look.h"

#include <stdlib.h>

void trial_close(trial *t)
{
    measure_close(&t->m);
    measure_close(&t->plain);
    free(t->at), free(t->q), free(t->k), free(t->v), free(t->out), free(t->other), free(t->bias);
}

pe_status trial_open(trial *t, const char *spec, const prove_given *g, pe_error *err)
{
    *t = (trial){ .tokens = g->length };
    PROVE_TRY(measure_open(&t->m, spec, g, err));
    PROVE_TRY(measure_open(&t->plain, zoo_look_plain(), g, err));
    int64_t T = t->tokens, H = g->heads;
    t->axes = pe_encoding_axes(t->m.e);
    t->size = T * H * g->head_dim;
    double **all[] = { &t->q, &t->k, &t->v, &t->out, &t->other };
    for (int n = 0; n < 5; n++) {
        if (!(*all[n] = measure_memory(t->size, 1, err)))
            return PE_ERR_NOMEM;
        measure_normals(*all[n], t->size, 1, g->seed + (uint64_t)n);
    }
    t->bias = measure_memory(T * H, T, err);
    t->at = calloc((size_t)(T * t->axes), sizeof *t->at);
    if (!t->bias || !t->at)
        return io_fail(err, PE_ERR_NOMEM, "no memory for %lld tokens", (long long)T);
    measure_place(t->at, T, t->axes);
    return PE_OK;
}

pe_view trial_view(const trial *t, double *x)
{
    return pe_view_of(x, PE_F64, 1, t->tokens, t->m.shape.heads, t->m.shape.head_dim);
}

pe_positions trial_places(const trial *t)
{
    return pe_positions_of(t->at, PE_I64, 1, t->tokens, t->axes);
}

pe_status trial_attend(const trial *t, const measure_encoding *m, pe_attention a, double *to, pe_error *err)
{
    pe_positions one_place = { .batch = 1, .tokens = t->tokens };
    a.out = trial_view(t, to);
    a.q = trial_view(t, t->q);
    a.k = trial_view(t, t->k);
    a.v = trial_view(t, t->v);
    a.q_at = a.k_at = m == &t->m ? trial_places(t) : one_place;
    a.mask.causal = true;
    return zoo_look(m->e, a, m->w, err);
}
