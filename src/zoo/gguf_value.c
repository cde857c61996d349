/* SPDX-License-Identifier: MIT
 *
 * Values of ARCHITECTURE.suffix. */
#include "zoo/gguf.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---------------------------------------------------------------- one value */

double zoo_written(float x)
{
    char text[40];
    for (int digits = 1; digits <= 9 && isfinite(x); digits++) {
        snprintf(text, sizeof text, "%.*g", digits, (double)x);
        if (strtof(text, NULL) == x)
            return strtod(text, NULL);
    }
    return (double)x;
}

const char *gguf_key(zoo_gguf *m, const char *suffix)
{
    snprintf(m->key, sizeof m->key, "%s.%s", m->prefix, suffix);
    return m->key;
}

bool gguf_has(zoo_gguf *m, const char *suffix)
{
    io_gguf_value v;
    return io_gguf_find(&v, m->g, gguf_key(m, suffix));
}

pe_status gguf_int(zoo_gguf *m, int64_t *out, const char *suffix, io_need need, int64_t max)
{
    return io_gguf_int(out, m->g, gguf_key(m, suffix), need, (io_int_range){ 0, max }, m->b->err);
}

pe_status gguf_real(zoo_gguf *m, double *out, const char *suffix, io_need need)
{
    io_gguf_value v;
    double x = *out;
    ZOO_TRY(io_gguf_real(&x, m->g, gguf_key(m, suffix), need, m->b->err));
    if (io_gguf_find(&v, m->g, m->key))
        *out = v.type == IO_GGUF_F32 ? zoo_written((float)x) : x;
    return PE_OK;
}

/* ---------------------------------------------------------------- one for each layer */

pe_status gguf_element(zoo_gguf *m, int64_t *out, const io_gguf_value *v, size_t index)
{
    if (v->type != IO_GGUF_BOOL)
        return io_gguf_list_int(out, v, index, (io_int_range){ 0, INT32_MAX }, m->b->err);
    bool yes;
    ZOO_TRY(io_gguf_list_bool(&yes, v, index, m->b->err));
    *out = yes;
    return PE_OK;
}

pe_status gguf_each(zoo_gguf *m, int64_t *out, int64_t count, const char *suffix, io_need need, bool *found)
{
    io_gguf_value v;
    bool there = io_gguf_find(&v, m->g, gguf_key(m, suffix));
    if (found)
        *found = there;
    if (!there && need == IO_REQUIRED)
        return io_fail(m->b->err, PE_ERR_FORMAT, "%s: %s is missing", m->b->model.path, m->key);
    if (there && v.array && v.count != (size_t)count && (v.count != (size_t)m->layers || m->layers > count))
        return io_fail(m->b->err, PE_ERR_FORMAT, "%s: %s holds %zu values; needs %lld, one per layer", m->b->model.path,
                       m->key, v.count, (long long)count);
    for (int64_t i = 0; there && i < count; i++)
        if (!v.array || i < (int64_t)v.count)
            ZOO_TRY(gguf_element(m, &out[i], &v, v.array ? (size_t)i : 0));
    return PE_OK;
}
