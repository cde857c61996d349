/* SPDX-License-Identifier: MIT
 *
 * posenc diff on whole models: layers that compare alike share one result. */
#ifndef POSENC_CLI_DIFF_MODEL_H
#define POSENC_CLI_DIFF_MODEL_H

#include "cli/diff.h"

#define DIFF_CLASSES_MAX 64

/* Layers of one part with the same group and window on each side. */
typedef struct diff_class {
    int a, b; /* groups */
    int64_t window_a, window_b;
    bool *in;   /* (layers): which */
    bool again; /* the same two groups as a class before, with other windows: the result is that one's */
    diff_result result;
} diff_class;

typedef struct diff_model {
    const zoo_model *a, *b;
    const zoo_part *part_a, *part_b;
    int64_t layers; /* both have */
    diff_class *class;
    int classes;
    int64_t at[DIFF_AT_MAX];
    int ats;
} diff_model;

/* Of the first parts. at and ats are the caller's; 0 ats: chosen by the lengths. */
pe_status diff_models(diff_model *d, pe_error *err);
void diff_clear(diff_model *d);
bool diff_models_same(const diff_model *d);   /* up to layout, lengths and rounding */
bool diff_models_layout(const diff_model *d); /* pairs lie differently somewhere */
bool diff_models_cache(const diff_model *d);  /* turned keys do */

void diff_text(const diff_model *d);
void diff_json(const diff_model *d, bool same, const char *verdict);

#endif
