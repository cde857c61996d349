/* SPDX-License-Identifier: MIT
 *
 * An encoding with its parameters, and its codes. */
#include "prove/measure.h"

#include <stdlib.h>
#include <string.h>

pe_status measure_open(measure_encoding *m, const char *spec, const prove_given *g, pe_error *err)
{
    pe_shape shape = { .heads = g->heads, .head_dim = g->head_dim, .model_dim = g->model_dim };
    *m = (measure_encoding){ 0 };
    PROVE_TRY(pe_encoding_new(&m->e, spec, shape, err));
    m->shape = pe_encoding_shape(m->e);
    m->w = (pe_params){ .dtype = PE_F64, .count = pe_encoding_param_count(m->e) };
    m->w.data = measure_memory(m->w.count, 1, err);
    pe_status s = m->w.data ? pe_encoding_init(m->e, m->w, g->seed, err) : PE_ERR_NOMEM;
    if (s)
        measure_close(m);
    return s;
}

void measure_close(measure_encoding *m)
{
    pe_encoding_free(m->e);
    free(m->w.data);
    *m = (measure_encoding){ 0 };
}

int64_t measure_width(const measure_encoding *m)
{
    return pe_embed_width(m->e, m->shape.model_dim);
}

pe_status measure_added(const measure_encoding *m, int64_t width, pe_error *err)
{
    if (measure_width(m) != width)
        return io_fail(err, PE_ERR_UNSUITED, "%s makes %lld numbers of %lld; needs a code that is added to the word",
                       pe_encoding_spec(m->e), (long long)measure_width(m), (long long)width);
    return PE_OK;
}

pe_status measure_codes(double *out, const measure_encoding *m, int64_t first, int64_t n, pe_error *err)
{
    int64_t width = measure_width(m), axes = pe_encoding_axes(m->e);
    if (!(pe_encoding_hooks(m->e) & PE_HOOK_EMBED))
        return io_fail(err, PE_ERR_UNSUITED, "%s adds no code to a word; needs one that does, such as sinusoidal",
                       pe_encoding_spec(m->e));
    for (int64_t t = 0; t < n; t++) {
        int64_t at[PE_AXES_MAX] = { 0 };
        at[axes - 1] = first + t;
        pe_view y = pe_view_of(out + t * width, PE_F64, 1, 1, 1, width);
        pe_view x = pe_view_of(NULL, PE_F64, 1, 1, 1, m->shape.model_dim);
        PROVE_TRY(pe_embed(m->e, y, x, pe_positions_of(at, PE_I64, 1, 1, axes), &PE_MAKE(pe_run, .params = m->w), err));
    }
    return PE_OK;
}

pe_status measure_line(double **code, int64_t *width, const char *spec, const prove_given *g, int64_t n, pe_error *err)
{
    measure_encoding m;
    *code = NULL;
    PROVE_TRY(measure_open(&m, spec, g, err));
    *width = measure_width(&m);
    *code = measure_memory(n, *width, err);
    pe_status status = *code ? measure_codes(*code, &m, 0, n, err) : PE_ERR_NOMEM;
    measure_close(&m);
    if (status) {
        free(*code);
        *code = NULL;
    }
    return status;
}

const pe_info *measure_row(const char *spec)
{
    size_t n = strcspn(spec, ":");
    for (int i = 0; i < pe_info_count(); i++)
        if (strlen(pe_info_at(i)->name) == n && !memcmp(pe_info_at(i)->name, spec, n))
            return pe_info_at(i);
    return NULL;
}
