/* SPDX-License-Identifier: MIT
 *
 * What a model's files say about positions: facts of a group of layers (explain_facts.c), its rotation
 * (explain_rotation.c) and all of the model (explain_result.c) as a tree of results. Every number comes from the
 * encoding itself. */
#ifndef POSENC_CLI_EXPLAIN_H
#define POSENC_CLI_EXPLAIN_H

#include "result/result.h"
#include "zoo/engines.h"
#include "zoo/rotation.h"

typedef struct explain_facts {
    pe_encoding *e; /* at the length asked for, else the served one, where frequencies depend on the length */
    int64_t length; /* that length; 0: frequencies do not depend on it, or no length is known */
    bool as_served; /* none was asked for */
    int64_t trained, served;
    int64_t window; /* keys are never further away than this, in all layers of the group; 0: no such bound */
    zoo_turns *pair;
    int64_t pairs;
    bool *unturned; /* (pairs): rotated, but by less than one turn in training */
    int64_t unturned_count;
    int64_t first, last;       /* of those, the one that reaches new angles first, and last; -1: none */
    int64_t shortest, longest; /* rotated pairs by wavelength; -1: none is rotated */
    bool scaled;               /* some divisor is not 1 */
} explain_facts;

/* The caller's to clear; cleared after an error. length: of the sequence at hand, where frequencies depend on it; 0:
 * the one the model is served at. */
pe_status explain_group(explain_facts *out, const zoo_part *part, const zoo_group *g, int64_t length, pe_error *err);
void explain_clear(explain_facts *f);
/* What the encoding itself does to the softmax scale, over 1/sqrt(d); a model may have a scale of its own beside it. */
double explain_softmax(const pe_encoding *e);
/* What is added to the scores (heads) at this distance; false: nothing, or it is learned. */
bool explain_bias(const pe_encoding *e, int64_t distance, double *score);
/* Positions that have an embedding, where a table ends; 0: no end. */
int64_t explain_end(const char *spec, const pe_encoding *e);

typedef struct explain_job {
    const zoo_model *m;
    const zoo_engine *engine; /* the one whose settings are wanted; NULL: none */
    int64_t layer;            /* -1: all */
    int64_t length;           /* of the sequence at hand; 0: as served */
} explain_job;

/* The rotation of a group of layers; hidden: from people. */
pe_status explain_rotation(result *out, const explain_facts *f, bool hidden, pe_error *err);
pe_status explain_model(result *out, const explain_job *job, pe_error *err);
/* The spec with long lists cut: "short=1/1.02/1.04/...". */
void explain_shorten(char *out, size_t cap, const char *spec);

#endif
