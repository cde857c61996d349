/* SPDX-License-Identifier: MIT */
#include "zoo/extend_patch.h"

#include "zoo/build.h"
#include "zoo/extend_spec.h"
#include "zoo/spec_read.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* transformers modeling_rope_utils.py: which keys a rope_type has. always: also where the spec leaves the default. */
typedef enum form { NUMBER, WHOLE, LIST, YES_NO } form;
static const struct row {
    const char *key, *name, *scalings;
    form form;
    bool always;
} rows[] = {
    { "factor", "factor", "|linear|dynamic|yarn|longrope|llama3|proportional|", NUMBER, true },
    { "alpha", "alpha", "|ntk|", NUMBER, true },
    { "trained", "original_max_position_embeddings", "|yarn|longrope|llama3|", WHOLE, true },
    { "low", "low_freq_factor", "|llama3|", NUMBER, true },
    { "high", "high_freq_factor", "|llama3|", NUMBER, true },
    { "beta_fast", "beta_fast", "|yarn|", NUMBER, false },
    { "beta_slow", "beta_slow", "|yarn|", NUMBER, false },
    { "truncate", "truncate", "|yarn|", YES_NO, false },
    { "mscale", "mscale", "|yarn|", NUMBER, false },
    { "mscale_all_dim", "mscale_all_dim", "|yarn|", NUMBER, false },
    { "magnitude", "attention_factor", "|yarn|longrope|", NUMBER, false },
    { "short", "short_factor", "|longrope|", LIST, true },
    { "long", "long_factor", "|longrope|", LIST, true },
    { "short_magnitude", "short_mscale", "|longrope|", NUMBER, false },
    { "long_magnitude", "long_mscale", "|longrope|", NUMBER, false },
    { "turning", "partial_rotary_factor", "|proportional|", NUMBER, true },
};
#define ROWS (sizeof rows / sizeof *rows)

/* ---------------------------------------------------------------- where the keys stand */

/* Configs of models that are made of models hold the text model's keys one or two objects down. */
static const char *const homes[][3] = {
    { "thinker_config", "text_config" }, { "text_config" }, { "llm_config" }, { "language_config" }, { NULL }
};
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
    int home = p->depth;
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
static pe_status put(extend_patch *p, int depth, const char *key, pe_error *err, const char *format, ...)
    IO_PRINTF(5, 6);
static pe_status put(extend_patch *p, int depth, const char *key, pe_error *err, const char *format, ...)
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

/* A spec's value in JSON's form: numbers as floats, for transformers tells 8 from 8.0. */
static pe_status put_row(extend_patch *p, const struct row *r, const char *spec, pe_error *err)
{
    size_t room = strlen(spec) + 64;
    char *text = malloc(room);
    if (!text)
        return io_fail(err, PE_ERR_NOMEM, "no memory for a patch");
    zoo_spec_text(text, room, spec, r->key);
    for (char *c = text; *c; c++) /* a list's */
        *c = *c == '/' ? ',' : *c;
    pe_status s = r->form == LIST     ? put(p, p->depth, r->name, err, "[%s]", text)
                  : r->form == WHOLE  ? put(p, p->depth, r->name, err, "%.0f", strtod(text, NULL))
                  : r->form == YES_NO ? put(p, p->depth, r->name, err, "%s", strcmp(text, "no") ? "true" : "false")
                                      : put(p, p->depth, r->name, err, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
    free(text);
    return s;
}

static bool is_said(const struct row *r, const char *spec)
{
    const pe_key *key = zoo_spec_key(spec, r->key);
    return zoo_spec_get(spec, r->key).text && (r->always || !zoo_spec_is(spec, r->key, key->fallback));
}

static bool belongs(const struct row *r, const char *scaling)
{
    char word[40];
    snprintf(word, sizeof word, "|%s|", scaling);
    return strstr(r->scalings, word) != NULL;
}

static const char *type_word(const char *scaling)
{
    if (!strcmp(scaling, "none"))
        return "default";
    return strcmp(scaling, "ntk") ? scaling : "dynamic"; /* with alpha: HunYuan's */
}

/* The model's own method: its keys stay, those that hold the plan's number change. */
static pe_status put_changes(extend_patch *p, const char *spec, const char *scaling, const char *config, int home,
                             pe_error *err)
{
    static const char *const moved[] = { "factor", "alpha", "long" };
    for (size_t i = 0; i < ROWS; i++) {
        const struct row *r = &rows[i];
        bool there = has(config, p->at, p->depth, r->name), moves = false;
        for (size_t k = 0; k < sizeof moved / sizeof *moved; k++)
            moves |= !strcmp(moved[k], r->key);
        bool length = !strcmp(r->key, "trained") && !there && !has(config, p->at, home, r->name);
        if (!belongs(r, scaling))
            continue;
        if ((moves && there) || length)
            ZOO_TRY(put_row(p, r, spec, err));
        else if (there && !strcmp(r->key, "magnitude"))
            ZOO_TRY(put(p, p->depth, r->name, err, NULL));
    }
    return PE_OK;
}

/* Another method: all its keys, and none of the one before. */
static pe_status put_all(extend_patch *p, const char *spec, const char *scaling, const char *config, bool legacy,
                         pe_error *err)
{
    bool old = has(config, p->at, p->depth, "type");
    if (legacy || old)
        ZOO_TRY(put(p, p->depth, "type", err, "\"%s\"", type_word(scaling)));
    ZOO_TRY(put(p, p->depth, "rope_type", err, "\"%s\"", type_word(scaling)));
    for (size_t i = 0; i < ROWS; i++)
        if (belongs(&rows[i], scaling) && is_said(&rows[i], spec))
            ZOO_TRY(put_row(p, &rows[i], spec, err));
        else if (strcmp(rows[i].key, "turning") && has(config, p->at, p->depth, rows[i].name))
            ZOO_TRY(put(p, p->depth, rows[i].name, err, NULL));
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
        ZOO_TRY(put_changes(p, spec, scaling, config, home, err));
    else if (box || strcmp(scaling, "none"))
        ZOO_TRY(put_all(p, spec, scaling, config, legacy, err));
    bool moved = strtod(theta, NULL) != extend_theta(x), bare = !strcmp(config, EXTEND_NO_CONFIG);
    if (!moved && (has(config, p->at, p->depth, "rope_theta") || (legacy && !bare)))
        return PE_OK;
    const char *name = legacy ? first_of(config, p, home, thetas, sizeof thetas / sizeof *thetas) : "rope_theta";
    if (legacy && has(config, p->at, p->depth, "rope_theta"))
        legacy = false;
    return put(p, legacy ? home : p->depth, name, err, "%s%s", theta, strpbrk(theta, ".e") ? "" : ".0");
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
        s = put(p, home, first_of(config, p, home, lengths, sizeof lengths / sizeof *lengths), err, "%" PRId64,
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

pe_status extend_patch_merge(char **out, const extend_patch *p, pe_error *err)
{
    json_edit shown[EXTEND_EDITS_MAX];
    for (int i = 0; i < p->count; i++) {
        shown[i] = p->edit[i];
        shown[i].value = p->edit[i].value ? p->edit[i].value : "null";
    }
    return json_edit_apply(out, "{}", shown, p->count, err);
}
