/* SPDX-License-Identifier: MIT */
#include "zoo/extend_spec.h"

#include "core/core.h"
#include "zoo/spec_edit.h"

#include <stdlib.h>
#include <string.h>

char *extend_rope_part(const char *spec, int *index)
{
    for (int i = 0; i < spec_part_count(spec); i++) {
        char *rope = spec_part(spec, i);
        if (index)
            *index = i;
        if (rope && spec_info(rope) && !strcmp(spec_info(rope)->name, "rope"))
            return rope;
        free(rope);
    }
    return NULL;
}

bool extend_put(char **rope, const char *key, const char *to)
{
    char *changed = spec_set(*rope, key, to);
    if (!changed)
        return false;
    free(*rope);
    *rope = changed;
    return true;
}

bool extend_put_real(char **rope, const char *key, double to)
{
    char text[40];
    text_print(text, sizeof text, to);
    return extend_put(rope, key, text);
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
