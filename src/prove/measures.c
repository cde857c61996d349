/* SPDX-License-Identifier: MIT */
#include "prove/measures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

pe_status measure_open_head(measure_encoding *m, const char *spec, const prove_given *g, pe_error *err)
{
    prove_given one = *g;
    one.heads = 1;
    one.model_dim = g->head_dim;
    if (g->head_dim < 1 || g->head_dim > MEASURE_HEAD_MAX)
        return io_fail(err, PE_ERR_SHAPE, "head_dim is %lld; needs 1 to %d", (long long)g->head_dim, MEASURE_HEAD_MAX);
    return measure_open(m, spec, &one, err);
}

measure_text measure_named(const char *before, double n)
{
    measure_text t;
    snprintf(t.is, sizeof t.is, "%s%.9g", before, n);
    return t;
}

/* The key that makes a row reach further, where it has a meaning without others. */
static const pe_key *reach_key(const pe_info *row)
{
    const char *name = row ? row->key_length ? row->key_length : row->key_trained : NULL;
    for (int n = 0; name && n < row->key_count; n++)
        if (!strcmp(row->keys[n].name, name))
            return row->keys[n].when ? NULL : &row->keys[n];
    return NULL;
}

measure_text measure_reaching(const char *spec, int64_t length)
{
    measure_text t;
    const pe_key *k = strchr(spec, ':') || strchr(spec, '+') ? NULL : reach_key(measure_row(spec));
    long long side = (long long)ceil(sqrt((double)length));
    if (!k)
        snprintf(t.is, sizeof t.is, "%s", spec);
    else if (k->kind == PE_KEY_LIST && strchr(k->fallback, '/'))
        snprintf(t.is, sizeof t.is, "%s:%s=%lld/%lld", spec, k->name, side, side);
    else
        snprintf(t.is, sizeof t.is, "%s:%s=%lld", spec, k->name, (long long)length);
    return t;
}

void measure_place(int64_t *at, int64_t tokens, int64_t axes)
{
    int64_t side = 1;
    while (axes > 1 && pow((double)side, (double)axes) < (double)tokens)
        side++;
    for (int64_t t = 0; t < tokens; t++)
        for (int64_t a = axes, rest = t; a-- > 0; rest /= side)
            at[t * axes + a] = axes > 1 ? rest % side : rest;
}
