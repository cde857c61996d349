/* SPDX-License-Identifier: MIT
 *
 * What the planner does with spec texts: private to src/zoo/extend_*.c. */
#ifndef POSENC_ZOO_EXTEND_SPEC_H
#define POSENC_ZOO_EXTEND_SPEC_H

#include "zoo/extend.h"

/* The rope part of a spec, malloc'ed, and its index; NULL: none, or no memory. */
char *extend_rope_part(const char *spec, int *index);
/* *part with key=value, NULL: without the key. False, and *part as it was, without memory. */
bool extend_put(char **part, const char *key, const char *value);
bool extend_put_real(char **part, const char *key, double value);

/* The pairs of a spec, and what multiplies them. */
typedef struct extend_turns {
    int64_t count;
    pe_pair *pair;
    double magnitude;
} extend_turns;

pe_status extend_turns_of(extend_turns *out, const char *spec, pe_shape shape, pe_error *err);
void extend_turns_free(extend_turns *t);

#endif
