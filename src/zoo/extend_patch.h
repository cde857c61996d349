/* SPDX-License-Identifier: MIT
 *
 * A plan as the keys of a config.json: edits of the text that is there (extend_patch_make), or, on "{}", the patch to
 * show. The file's own spelling is kept: rope_parameters (transformers 5) where it has that, else rope_scaling, which
 * every version reads. */
#ifndef POSENC_ZOO_EXTEND_PATCH_H
#define POSENC_ZOO_EXTEND_PATCH_H

#include "zoo/extend.h"
#include "zoo/json_edit.h"

#define EXTEND_EDITS_MAX 40
#define EXTEND_NO_CONFIG "{}" /* for a model that has none: every key is written */

typedef enum extend_era { EXTEND_AS_FILE = 0, EXTEND_PARAMETERS, EXTEND_SCALING } extend_era;

typedef struct extend_patch {
    json_edit edit[EXTEND_EDITS_MAX];
    char *text[EXTEND_EDITS_MAX]; /* what the edits' values point into */
    int count;
    const char *at[JSON_PATH_MAX]; /* the object with the scaling: "text_config", "rope_parameters", "full_attention" */
    int depth;
    int home; /* so many of those lead to the text model's own object */
} extend_patch;

/* config: the file's text, or EXTEND_NO_CONFIG. */
pe_status extend_patch_make(extend_patch *out, const extend_model *x, const extend_plan *p, const char *config,
                            extend_era era, pe_error *err);
void extend_patch_free(extend_patch *p);

/* The keys that change, each whole and as it then stands, on one line: to be replaced. malloc'ed. */
pe_status extend_patch_show(char **out, const extend_patch *p, const char *config, pe_error *err);

#endif
