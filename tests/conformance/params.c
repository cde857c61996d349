/* SPDX-License-Identifier: MIT
 *
 * What a runner hands to the library: spec text, parameter blocks, tiles. */
#include "conformance.h"

#include <stdarg.h>
#include <stdio.h>

/* ---------------------------------------------------------------- spec text */

static void spec_add(spec_text *s, const char *fmt, ...) IO_PRINTF(2, 3);
static void spec_add(spec_text *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(s->text + s->used, sizeof s->text - s->used, fmt, args);
    va_end(args);
    s->used += (size_t)n < sizeof s->text - s->used ? (size_t)n : 0; /* too long: the library refuses what is left */
}

void spec_start(spec_text *s, const char *row)
{
    s->used = 0;
    spec_add(s, "%s", row);
}

static void spec_key(spec_text *s, const char *key)
{
    spec_add(s, "%c%s=", strchr(s->text, ':') ? ',' : ':', key);
}

void spec_word(spec_text *s, const char *key, const char *value)
{
    spec_key(s, key);
    spec_add(s, "%s", value);
}

void spec_number(spec_text *s, const char *key, double value)
{
    if (isnan(value))
        return;
    spec_key(s, key);
    spec_add(s, "%.17g", value);
}

pe_status spec_list(spec_text *s, const char *key, golden *c, const io_node *array)
{
    spec_key(s, key);
    for (io_node item = { 0 }; io_json_next(&item, array);) {
        double value = 0;
        TRY(io_json_real(&value, &item, NULL, IO_REQUIRED, &c->err));
        spec_add(s, item.index ? "/%.17g" : "%.17g", value);
    }
    return PE_OK;
}

/* ---------------------------------------------------------------- parameters and tiles */

pe_status params_new(golden *c, const pe_encoding *e, pe_params *out)
{
    int64_t count = pe_encoding_param_count(e);
    *out = (pe_params){ golden_alloc(c, count, sizeof(double)), PE_F64, count };
    return out->data ? PE_OK : PE_ERR_NOMEM;
}

static const pe_tensor *find_tensor(golden *c, const pe_encoding *e, const char *name)
{
    for (int i = 0; i < pe_encoding_tensor_count(e); i++)
        if (!strcmp(pe_encoding_tensor(e, i)->name, name))
            return pe_encoding_tensor(e, i);
    io_fail(&c->err, PE_ERR_UNSUITED, "%s has no tensor %s", pe_encoding_spec(e), name);
    return NULL;
}

double *params_tensor(golden *c, const pe_encoding *e, pe_params w, const char *name, int64_t *rows)
{
    const pe_tensor *t = find_tensor(c, e, name);
    if (!t)
        return NULL;
    *rows = t->shape[0];
    return (double *)w.data + t->offset;
}

pe_status params_set(golden *c, const pe_encoding *e, pe_params w, const char *name, const float *from, int64_t count)
{
    const pe_tensor *t = find_tensor(c, e, name);
    if (!t)
        return PE_ERR_UNSUITED;
    if (t->count != count)
        return golden_fail(c, "the file's %s has %" PRId64 " elements; %s needs %" PRId64, name, count,
                           pe_encoding_spec(e), t->count);
    for (int64_t n = 0; n < count; n++)
        ((double *)w.data)[t->offset + n] = (double)from[n];
    return PE_OK;
}

pe_status params_number_rows(golden *c, const pe_encoding *e, pe_params w, const char *name)
{
    const pe_tensor *t = find_tensor(c, e, name);
    if (!t)
        return PE_ERR_UNSUITED;
    for (int64_t n = 0; n < t->count; n++)
        ((double *)w.data)[t->offset + n] = (double)(n / (t->count / t->shape[0]));
    return PE_OK;
}

pe_status bias_tile(golden *c, const pe_encoding *e, pe_stage stage, pe_params w, pe_positions q_at, pe_positions k_at,
                    double **out)
{
    int64_t H = pe_encoding_shape(e).heads;
    *out = golden_alloc(c, q_at.tokens * H * k_at.tokens, sizeof **out);
    if (!*out)
        return PE_ERR_NOMEM;
    pe_tile t = { .size = sizeof(pe_tile), .score = pe_view_of(*out, PE_F64, 1, q_at.tokens, H, k_at.tokens), .q_at = q_at, .k_at = k_at };
    return pe_encoding_bias(e, stage, w, &t, &c->err);
}
