/* SPDX-License-Identifier: MIT */
#include "prove/measures.h"

#include <stdio.h>

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
