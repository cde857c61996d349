/* SPDX-License-Identifier: MIT
 *
 * A patch as text for a person: every key that changes, whole, so that it can be put in the place of the old one. */
#include "zoo/extend_patch.h"

#include <stdlib.h>
#include <string.h>

/* A JSON value on one line; malloc'ed, NULL: no memory. */
static char *one_line(const char *s, size_t length)
{
    char *out = malloc(2 * length + 1);
    size_t used = 0;
    bool quoted = false;
    for (size_t n = 0; out && n < length; n++) {
        if (!quoted && strchr(" \t\r\n", s[n]))
            continue;
        out[used++] = s[n];
        if (quoted && s[n] == '\\' && n + 1 < length)
            out[used++] = s[++n];
        else if (s[n] == '"')
            quoted = !quoted;
        else if (!quoted && (s[n] == ',' || s[n] == ':'))
            out[used++] = ' ';
    }
    if (out)
        out[used] = 0;
    return out;
}

static bool is_shown(const json_edit *shown, int count, int at, const char *key)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(shown[i].path[at], key))
            return true;
    return false;
}

/* The value of the edit's key in the changed text, under the same path; false: it went, or no memory. */
static bool take(json_edit *out, char **value, const extend_patch *p, const json_edit *e, const char *after)
{
    json_place at;
    *out = (json_edit){ 0 };
    for (int i = 0; i <= p->home; i++)
        out->path[i] = e->path[i];
    if (!json_edit_find(&at, after, out->path))
        return false;
    out->value = *value = one_line(after + at.from, at.to - at.from);
    return *value != NULL;
}

pe_status extend_patch_show(char **out, const extend_patch *p, const char *config, pe_error *err)
{
    json_edit shown[EXTEND_EDITS_MAX];
    char *value[EXTEND_EDITS_MAX], *after;
    int count = 0;
    pe_status s = json_edit_apply(&after, config, p->edit, p->count, err);
    *out = NULL;
    if (s)
        return s;
    for (int i = 0; i < p->count; i++)
        if (!is_shown(shown, count, p->home, p->edit[i].path[p->home]))
            count += take(&shown[count], &value[count], p, &p->edit[i], after);
    s = json_edit_apply(out, EXTEND_NO_CONFIG, shown, count, err);
    while (count > 0)
        free(value[--count]);
    free(after);
    return s;
}
