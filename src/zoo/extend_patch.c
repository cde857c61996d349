/* SPDX-License-Identifier: MIT */
#include "zoo/extend_patch.h"

#include "zoo/build.h"
#include "zoo/engine_keys.h"
#include "zoo/extend_spec.h"
#include "zoo/spec_read.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- where the keys stand */

/* Configs of models that are made of models hold the text model's keys one or two objects down. */
static const char *const homes[][3] = { { "thinker_config", "text_config" },
                                        { "text_config" },
                                        { "llm_config" },
                                        { "language_config" },
                                        { "llm_cfg" },
                                        { NULL } };
static const char *const lengths[] = { "max_position_embeddings", "n_positions", "max_seq_len",   "seq_length",
                                       "max_sequence_length",     "n_ctx",       "max_seq_length" };
static const char *const thetas[] = { "rope_theta", "rotary_emb_base", "global_rope_theta", "rope_global_theta" };

typedef const char *path[JSON_PATH_MAX];

static bool has(const char *config, const char *const *head, int depth, const char *key)
{
    json_place at;
    path full = { 0 };
    for (int i = 0; i < depth; i++)
        full[i] = head[i];
    full[depth] = key;
    return json_edit_find(&at, config, full);
}

static const char *first_of(const char *config, const extend_patch *p, int depth, const char *const *names,
                            size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (has(config, p->at, depth, names[i]))
            return names[i];
    return names[0];
}

/* Fills p->at; returns how many of it lead to the text model's own object. */
static int find_home(extend_patch *p, const extend_model *x, const char *config, extend_era era)
{
    path probe = { 0 };
    size_t h = 0;
    while (homes[h][0] && !json_edit_is_object(config, (path){ homes[h][0], homes[h][1] }))
        h++;
    for (; p->depth < 3 && homes[h][p->depth]; p->depth++)
        p->at[p->depth] = homes[h][p->depth];
    int home = p->home = p->depth;
    memcpy(probe, p->at, sizeof probe);
    probe[home] = "rope_parameters";
    bool parameters = era == EXTEND_PARAMETERS || (era == EXTEND_AS_FILE && json_edit_is_object(config, probe));
    p->at[p->depth++] = probe[home] = parameters ? "rope_parameters" : "rope_scaling";
    probe[home + 1] = *x->kind ? x->kind : "full_attention";
    if (json_edit_is_object(config, probe))
        p->at[p->depth++] = probe[home + 1];
    return home;
}

/* ---------------------------------------------------------------- edits */

/* head[0..depth) and key; format NULL: the key goes. */
static pe_status patch_put(extend_patch *p, int depth, const char *key, pe_error *err, const char *format, ...)
    IO_PRINTF(5, 6);
static pe_status patch_put(extend_patch *p, int depth, const char *key, pe_error *err, const char *format, ...)
{
    json_edit *e = &p->edit[p->count];
    if (p->count == EXTEND_EDITS_MAX || depth >= JSON_PATH_MAX)
        return io_fail(err, PE_ERR_RANGE, "the patch has more than %d keys", EXTEND_EDITS_MAX);
    va_list list;
    int n = 0;
    if (format) {
        va_start(list, format);
        n = vsnprintf(NULL, 0, format, list);
        va_end(list);
    }
    char *text = p->text[p->count] = malloc((size_t)n + 1);
    if (!text)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a patch");
    if (format) {
        va_start(list, format);
        vsnprintf(text, (size_t)n + 1, format, list);
        va_end(list);
    }
    for (int i = 0; i < depth; i++)
        e->path[i] = p->at[i];
    e->path[depth] = key;
    e->value = format ? text : NULL;
    p->count++;
    return PE_OK;
}

/* ---------------------------------------------------------------- the scaling's keys */

/* transformers' names. A fixed NTK base with alpha is HunYuan's own code, which vLLM's names are those of. */
static const zoo_engine *speaker_of(const char *spec)
{
    return zoo_engine_at(zoo_spec_is(spec, "scaling", "ntk") ? ZOO_VLLM : ZOO_TRANSFORMERS);
}

/* Whether a row of engines.c is a key of some scaling, and not of the rotation itself, as a base is. */
static bool is_of_scaling(const zoo_spelling *r, const char *spec)
{
    const pe_key *k = zoo_spec_key(spec, r->key);
    bool ours =
        zoo_spelling_is_of(r, zoo_engine_at(ZOO_TRANSFORMERS)) || zoo_spelling_is_of(r, zoo_engine_at(ZOO_VLLM));
    return ours && k && r->form != FORM_BASE &&
           (k->when ? !strncmp(k->when, "scaling=", 8) : !strcmp(r->key, "magnitude"));
}

/* A spec's value in JSON's form: numbers as floats, for transformers tells 8 from 8.0. */
static pe_status put_row(extend_patch *p, const zoo_spelling *r, const char *spec, pe_error *err)
{
    bool whole = zoo_spec_key(spec, r->key)->kind == PE_KEY_INT;
    size_t room = strlen(spec) + 64;
    char *text = malloc(room);
    if (!text)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a patch");
    zoo_spec_text(text, room, spec, r->key);
    for (char *c = text; *c; c++) /* a list's */
        *c = *c == '/' ? ',' : *c;
    pe_status s = r->form == FORM_LIST ? patch_put(p, p->depth, r->name, err, "[%s]", text)
                  : r->form == FORM_YES
                      ? patch_put(p, p->depth, r->name, err, "%s", strcmp(text, "no") ? "true" : "false")
                  : whole ? patch_put(p, p->depth, r->name, err, "%.0f", zoo_spec_num(spec, r->key))
                          : patch_put(p, p->depth, r->name, err, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
    free(text);
    return s;
}

/* The model's own method: its keys stay, those that hold the plan's number change. */
static pe_status put_changes(extend_patch *p, const char *spec, const char *config, int home, pe_error *err)
{
    const zoo_spelling *r;
    for (int i = 0; (r = zoo_spelling_at(i)); i++) {
        bool there = has(config, p->at, p->depth, r->name), trained = !strcmp(r->key, "trained");
        bool moved = !strcmp(r->key, "factor") || !strcmp(r->key, "alpha") || !strcmp(r->key, "long");
        if (!zoo_spelling_is_of(r, speaker_of(spec)))
            continue;
        if (there && !strcmp(r->key, "magnitude"))
            TRY(patch_put(p, p->depth, r->name, err, NULL));
        else if (zoo_spelling_speaks(r, speaker_of(spec), spec) &&
                 ((moved && there) || (trained && !there && !has(config, p->at, home, r->name))))
            TRY(put_row(p, r, spec, err));
    }
    return PE_OK;
}

/* A name may stand in several rows, for several scalings: the one that speaks; else any row of a scaling. */
static const zoo_spelling *row_of(const char *name, const char *spec, bool speaks)
{
    const zoo_spelling *r;
    for (int i = 0; (r = zoo_spelling_at(i)); i++)
        if (!strcmp(r->name, name) && is_of_scaling(r, spec) &&
            (!speaks || zoo_spelling_speaks(r, speaker_of(spec), spec)))
            return r;
    return NULL;
}

/* Another method: all its keys, and none of the one before. */
static pe_status put_all(extend_patch *p, const char *spec, const char *config, bool legacy, pe_error *err)
{
    const zoo_spelling *r, *said;
    const char *word = zoo_type_word(speaker_of(spec), spec);
    if (legacy || has(config, p->at, p->depth, "type"))
        TRY(patch_put(p, p->depth, "type", err, "\"%s\"", word));
    TRY(patch_put(p, p->depth, "rope_type", err, "\"%s\"", word));
    for (int i = 0; (r = zoo_spelling_at(i)); i++) {
        if (row_of(r->name, spec, false) != r)
            continue;
        if ((said = row_of(r->name, spec, true)))
            TRY(put_row(p, said, spec, err));
        else if (strcmp(r->key, "turning") && has(config, p->at, p->depth, r->name))
            TRY(patch_put(p, p->depth, r->name, err, NULL));
    }
    return PE_OK;
}

static pe_status put_scaling(extend_patch *p, const extend_model *x, const extend_plan *plan, const char *spec,
                             const char *config, int home, pe_error *err)
{
    char scaling[24], theta[40];
    bool legacy = !strcmp(p->at[home], "rope_scaling"), box = json_edit_is_object(config, p->at);
    if (!zoo_spec_text(scaling, sizeof scaling, spec, "scaling") || !zoo_spec_text(theta, sizeof theta, spec, "theta"))
        return io_fail(err, PE_ERR_SPEC, "the plan's spec is too long");
    if (!plan->method->key)
        return PE_OK;
    if (box && !strcmp(scaling, x->scaling) && strcmp(scaling, "none"))
        TRY(put_changes(p, spec, config, home, err));
    else if (box || strcmp(scaling, "none"))
        TRY(put_all(p, spec, config, legacy, err));
    bool moved = strtod(theta, NULL) != extend_theta(x), bare = !strcmp(config, EXTEND_NO_CONFIG);
    if (!moved && (has(config, p->at, p->depth, "rope_theta") || (legacy && !bare)))
        return PE_OK;
    const char *name = legacy ? first_of(config, p, home, thetas, sizeof thetas / sizeof *thetas) : "rope_theta";
    if (legacy && has(config, p->at, p->depth, "rope_theta"))
        legacy = false;
    return patch_put(p, legacy ? home : p->depth, name, err, "%s%s", theta, strpbrk(theta, ".e") ? "" : ".0");
}

pe_status extend_patch_make(extend_patch *p, const extend_model *x, const extend_plan *plan, const char *config,
                            extend_era era, pe_error *err)
{
    *p = (extend_patch){ 0 };
    int home = find_home(p, x, config, era);
    char *spec = extend_rope_part(plan->brief, NULL);
    pe_status s = spec ? PE_OK : io_fail(err, PE_ERR_NOMEM, "no memory for a patch");
    bool dynamic = !strcmp(plan->method->name, "dynamic"); /* takes this key for the trained length */
    if (s == PE_OK && (!dynamic || x->part->served != x->trained))
        s = patch_put(p, home, first_of(config, p, home, lengths, sizeof lengths / sizeof *lengths), err, "%" PRId64,
                      dynamic ? x->trained : x->target);
    if (s == PE_OK)
        s = put_scaling(p, x, plan, spec, config, home, err);
    free(spec);
    if (s != PE_OK)
        extend_patch_free(p);
    return s;
}

void extend_patch_free(extend_patch *p)
{
    for (int i = 0; i < EXTEND_EDITS_MAX; i++)
        free(p->text[i]);
    *p = (extend_patch){ 0 };
}

/* ---------------------------------------------------------------- as text for a person */

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
static bool take_value(json_edit *out, char **value, const extend_patch *p, const json_edit *e, const char *after)
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
            count += take_value(&shown[count], &value[count], p, &p->edit[i], after);
    s = json_edit_apply(out, EXTEND_NO_CONFIG, shown, count, err);
    while (count > 0)
        free(value[--count]);
    free(after);
    return s;
}
