/* SPDX-License-Identifier: MIT
 *
 * posenc explain: what is to be said of a group of layers (explain_facts.c), in words (explain_words.c, explain_text.c)
 * and as data (explain_json.c). Every number comes from the encoding itself. */
#ifndef POSENC_CLI_EXPLAIN_H
#define POSENC_CLI_EXPLAIN_H

#include "cli/cli.h"
#include "zoo/engines.h"
#include "zoo/turns.h"

typedef struct explain_facts {
    pe_encoding *e; /* at the length asked for, else the served one, where frequencies follow the length    */
    int64_t length; /* that length; 0: they do not follow it, or no length is known                         */
    bool as_served; /* none was asked for                                                                   */
    int64_t trained, served;
    int64_t window; /* keys are never further away than this, in all layers of the group; 0: no such bound */
    zoo_turns *pair;
    int64_t pairs;
    bool *unturned; /* (pairs): turned, but less than once in training                                     */
    int64_t unturned_count;
    int64_t first, last;       /* of those, the one that leaves the trained range first, and last; -1: none          */
    int64_t shortest, longest; /* pairs by wavelength, of those that turn; -1: none turns                     */
    bool scaled;               /* some divisor is not 1                                                               */
} explain_facts;

/* The caller's to clear; cleared after an error. */
/* length: of the sequence at hand, where frequencies follow it; 0: the one the model is served at. */
pe_status explain_group(explain_facts *out, const zoo_part *part, const zoo_group *g, int64_t length, pe_error *err);
void explain_clear(explain_facts *f);

/* "{key}" in a sentence becomes the spec's value. */
void explain_expand(char *out, size_t cap, const char *text, const char *spec);
/* Sentences on a part of a spec, one after the other: label and text; false past the end. */
bool explain_remark(const char *spec, int index, const char **label, char *text, size_t cap);
/* The spec with long lists cut: "short=1/1.02/1.04/...". */
void explain_shorten(char *out, size_t cap, const char *spec);
void explain_pairs_words(char *out, size_t cap, const explain_facts *f);
void explain_turns_words(char *out, size_t cap, const explain_facts *f);
void explain_limit_words(char *out, size_t cap, const explain_facts *f);
/* Up to max pairs that tell the story: ends, middle, and where something changes. Returns how many. */
int explain_choose(int64_t *index, int max, const explain_facts *f);
/* "kept", "/8" */
void explain_divisor(char out[40], double divisor);
/* What the encoding itself does to the softmax scale, over 1/sqrt(d); a model may have a scale of its own beside it. */
double explain_softmax(const pe_encoding *e);
/* What is added to the scores (heads) at this distance; false: nothing, or it is learned. */
bool explain_bias(const pe_encoding *e, int64_t distance, double *score);
/* Positions that have a code, where a table ends; 0: no end. */
int64_t explain_end(const char *spec, const pe_encoding *e);

typedef struct explain_job {
    const zoo_model *m;
    const zoo_engine *engine; /* NULL: none asked for */
    int64_t layer;            /* -1: all */
    int64_t length;           /* of the sequence at hand; 0: as served */
} explain_job;

#define EXPLAIN_INDENT 14 /* the column at which texts start */

pe_status explain_encoding(const zoo_group *g, const explain_facts *f, pe_error *err);
void explain_wavelengths(const explain_facts *f);
void explain_notes(const zoo_model *m); /* of the file, then of engines that do otherwise */
pe_status explain_settings(const explain_job *job, pe_error *err);
pe_status explain_text(const explain_job *job, pe_error *err);
pe_status explain_json(const explain_job *job, pe_error *err);

#endif
