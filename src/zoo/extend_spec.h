/* SPDX-License-Identifier: MIT
 *
 * What the planner does with spec texts: private to src/zoo/extend_*.c. */
#ifndef POSENC_ZOO_EXTEND_SPEC_H
#define POSENC_ZOO_EXTEND_SPEC_H

#include "zoo/extend.h"

/* The rope part of a spec, malloc'ed, and its index; NULL: none, or no memory. */
char *extend_rope_part(const char *spec, int *index);

/* The pairs of a spec, and what multiplies them. */
typedef struct extend_rotation {
    int64_t count;
    pe_pair *pair;
    double magnitude;
    double logits; /* what multiplies them: the magnitude's square, and the spec's factor on the softmax scale */
} extend_rotation;

/* The rope part that a method makes with this number, as it is up to the trained length; malloc'ed. */
pe_status extend_make_part(char **out, const extend_model *x, const extend_method *m, double value, pe_error *err);
/* The model's spec with that part at a length, 0: up to the trained one; malloc'ed. */
pe_status extend_make_spec(char **out, const extend_model *x, const char *part, int64_t length, pe_error *err);
bool extend_is_own(const extend_model *x, const extend_method *m); /* the model's own scaling is of this kind */

pe_status extend_rotation_of(extend_rotation *out, const char *spec, pe_shape shape, pe_error *err);
void extend_rotation_free(extend_rotation *t);

#endif
