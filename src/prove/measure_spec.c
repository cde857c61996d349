/* SPDX-License-Identifier: MIT
 *
 * A spec with one key changed. */
#include "prove/measure.h"

#include "zoo/spec_read.h"

#include <stdlib.h>

char *measure_with_key(const char *spec, int index, const char *key, const char *value)
{
    char *part = zoo_spec_part(spec, index), *out = NULL;
    const pe_key *k = part ? zoo_spec_key(part, key) : NULL;
    bool meant = k && zoo_spec_means(part, k);
    if (part && (!meant || zoo_spec_put(&part, key, value)))
        out = zoo_spec_with_part(spec, index, part);
    free(part);
    return out;
}
