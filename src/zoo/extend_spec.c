/* SPDX-License-Identifier: MIT */
#include "zoo/extend_spec.h"

#include "zoo/spec_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

char *extend_rope_part(const char *spec, int *index)
{
    for (int i = 0; i < zoo_spec_parts(spec); i++) {
        char *rope = zoo_spec_part(spec, i);
        if (index)
            *index = i;
        if (rope && zoo_spec_row(rope) && !strcmp(zoo_spec_row(rope)->name, "rope"))
            return rope;
        free(rope);
    }
    return NULL;
}

pe_status extend_turns_of(extend_turns *out, const char *spec, pe_shape shape, pe_error *err)
{
    pe_encoding *e;
    *out = (extend_turns){ 0 };
    pe_status s = pe_encoding_new(&e, spec, shape, err);
    if (s != PE_OK)
        return s;
    out->count = pe_encoding_pair_count(e);
    out->magnitude = pe_encoding_magnitude(e);
    out->logits = out->magnitude * out->magnitude * pe_encoding_scale(e) * sqrt((double)shape.head_dim);
    out->pair = calloc((size_t)out->count + 1, sizeof *out->pair);
    s = out->pair ? pe_encoding_pairs(e, out->pair, out->count, err)
                  : io_fail(err, PE_ERR_NOMEM, "no memory for pairs");
    pe_encoding_free(e);
    if (s != PE_OK)
        extend_turns_free(out);
    return s;
}

void extend_turns_free(extend_turns *t)
{
    free(t->pair);
    *t = (extend_turns){ 0 };
}
