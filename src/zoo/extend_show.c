/* SPDX-License-Identifier: MIT
 *
 * A patch as text: to merge into a config, or whole, for an engine that replaces what it is given. */
#include "zoo/extend_patch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef const char *path[JSON_PATH_MAX];

pe_status extend_patch_merge(char **out, const extend_patch *p, pe_error *err)
{
    json_edit shown[EXTEND_EDITS_MAX];
    for (int i = 0; i < p->count; i++) {
        shown[i] = p->edit[i];
        shown[i].value = p->edit[i].value ? p->edit[i].value : "null";
    }
    return json_edit_apply(out, "{}", shown, p->count, err);
}

/* On one line: white space outside strings becomes one blank, none after an opening bracket. */
static void flatten(char *s)
{
    char *to = s;
    for (bool quoted = false; *s; s++) {
        if (*s == '"')
            quoted = !quoted;
        if (quoted && *s == '\\' && s[1])
            *to++ = *s++;
        if (quoted || !strchr(" \t\r\n", *s))
            *to++ = *s;
        else if (strchr(",:", to[-1]))
            *to++ = ' ';
        while (!quoted && strchr(" \t\r\n", *s) && s[1] && strchr(" \t\r\n", s[1]))
            s++;
    }
    *to = 0;
}

/* A copy of the text at a path, malloc'ed; "{}" where there is no object. */
static char *object_text(const char *config, const path at)
{
    json_place place;
    bool there = json_edit_is_object(config, at) && json_edit_find(&place, config, at);
    size_t n = there ? place.to - place.from : 2;
    char *out = malloc(n + 1);
    if (out) {
        memcpy(out, there ? config + place.from : "{}", n);
        out[n] = 0;
    }
    return out;
}

/* The config as transformers 5 would write it: rope_parameters holds what rope_scaling and rope_theta held. */
static pe_status modernise(char **out, const extend_model *x, const char *config, pe_error *err)
{
    extend_patch p = { 0 };
    char theta[40], *box;
    int home = extend_patch_home(&p, x, config, EXTEND_AS_FILE);
    bool legacy = !strcmp(p.at[home], "rope_scaling");
    snprintf(theta, sizeof theta, "%.17g", extend_theta(x));
    path old = { 0 }, new = { 0 };
    memcpy(old, p.at, (size_t)(home + 1) * sizeof *old);
    memcpy(new, old, sizeof new);
    new[home] = "rope_parameters";
    if (!(box = object_text(config, old)))
        return io_fail(err, PE_ERR_NOMEM, "no memory for a patch");
    json_edit e[3] = { { .value = box }, { .value = theta }, { .value = NULL } };
    memcpy(e[0].path, new, sizeof new);
    memcpy(e[1].path, new, sizeof new);
    e[1].path[home + 1] = "rope_theta";
    memcpy(e[2].path, old, sizeof old);
    pe_status s = json_edit_apply(out, config, e, legacy ? 3 : 0, err);
    free(box);
    return s;
}

pe_status extend_patch_whole(char **out, const extend_model *x, const extend_plan *plan, const char *config,
                             pe_error *err)
{
    extend_patch p = { 0 };
    char *modern = NULL, *box = NULL, *start = NULL;
    *out = NULL;
    pe_status s = modernise(&modern, x, config, err);
    if (s == PE_OK)
        s = extend_patch_make(&p, x, plan, modern, EXTEND_PARAMETERS, err);
    if (s == PE_OK) {
        json_edit keep = { .value = NULL };
        for (int i = 0; i < p.depth && (!i || strcmp(p.at[i - 1], "rope_parameters")); i++)
            keep.path[i] = p.at[i];
        keep.value = box = object_text(modern, keep.path);
        s = box ? json_edit_apply(&start, "{}", &keep, 1, err) : io_fail(err, PE_ERR_NOMEM, "no memory for a patch");
    }
    if (s == PE_OK)
        s = json_edit_apply(out, start, p.edit, p.count, err);
    if (s == PE_OK)
        flatten(*out);
    extend_patch_free(&p);
    free(modern);
    free(box);
    free(start);
    return s;
}
