/* SPDX-License-Identifier: MIT
 *
 * A JSON text changed where it is to change and nowhere else: order, spacing, line ends, spelling of every other value
 * stay as they were. For a file that a person keeps; what it means is for io_json to say, before and after.
 *
 *     char *new_text;
 *     json_edit e = { { "text_config", "rope_scaling", "factor" }, "8.0" };
 *     json_edit_apply(&new_text, old_text, &e, 1, &err);
 */
#ifndef POSENC_ZOO_JSON_EDIT_H
#define POSENC_ZOO_JSON_EDIT_H

#include "io/io.h"

#define JSON_PATH_MAX 5

typedef struct json_edit {
    const char *path[JSON_PATH_MAX]; /* keys from the root, plain ASCII; NULL after the last                        */
    const char *value;               /* as JSON; NULL: the member goes. Objects on the way are made as needed.      */
} json_edit;

/* Where the value of a path stands, s[from] to before s[to]: false where there is none. "" as path[0]: the root. */
typedef struct json_place {
    size_t from, to;
} json_place;
bool json_edit_find(json_place *out, const char *s, const char *const path[JSON_PATH_MAX]);
bool json_edit_is_object(const char *s, const char *const path[JSON_PATH_MAX]);

/* All edits, in order, on a copy: malloc'ed, the caller's to free; NULL after a failure. A text that is no object, or
 * has a key of a path twice, is PE_ERR_FORMAT. */
pe_status json_edit_apply(char **out, const char *s, const json_edit *edits, int count, pe_error *err);

#endif
