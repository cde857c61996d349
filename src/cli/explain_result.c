/* SPDX-License-Identifier: MIT
 *
 * A model as a tree of results: its layers, what each group of them computes, notes, and the settings of an engine. */
#include "cli/cli.h"
#include "cli/explain.h"

#include "base/tell.h"
#include "zoo/build.h"
#include "zoo/spec_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROTATIONS_SHOWN 4 /* of more kinds of layers than this, wavelengths are not shown */

/* ---------------------------------------------------------------- keys of a spec, a sentence each */

/* "{key}" becomes the spec's value. */
static const struct {
    const char *label, *when, *text;
} remarks[] = {
    { "scaling", "scaling=none", "none: the frequencies are as trained" },
    { "scaling", "scaling=linear", "linear: every frequency is divided by {factor}" },
    { "scaling", "scaling=dynamic",
      "dynamic NTK: nothing changes up to {trained} positions; for a longer sequence the base grows with the sequence "
      "length, factor {factor}" },
    { "scaling", "scaling=ntk",
      "NTK: the base is multiplied by {alpha}^(d/(d-2)), which lowers the lowest frequencies most" },
    { "scaling", "scaling=yarn",
      "YaRN: pairs with more than {beta_fast} turns in {trained} positions keep their frequency, the frequency of "
      "pairs "
      "with fewer than {beta_slow} is divided by {factor}, and a linear ramp blends both between these" },
    { "ramp", "scaling=yarn,truncate=no", "its ends are not rounded to whole pairs (truncate is false)" },
    { "attention", "scaling=yarn,mscale",
      "the factor is that of mscale {mscale} over mscale_all_dim {mscale_all_dim}" },
    { "scaling", "scaling=longrope",
      "LongRoPE: each pair has its own divisor, the short list up to {trained} positions, the long list beyond" },
    { "scaling", "scaling=llama3",
      "llama3: pairs with more than {high} turns in {trained} positions keep their frequency, the frequency of pairs "
      "with fewer than {low} is divided by {factor}, and those between get a mix of both" },
    { "scaling", "scaling=proportional", "p-RoPE: the first {turning} of the pairs are rotated, the rest are not" },
    { "factor", "scaling=proportional,factor", "every frequency is divided by {factor}" },
    { "sign", "sign=negative", "the rotation is by the negative angle" },
    { "exponent", "denominator=d-2", "2i/(d-2) instead of 2i/d" },
    { "axes", "split=interleaved", "the pairs of the coordinates are interleaved, sections {sections}" },
    { "axes", "sections,split=chunked", "each coordinate has a block of pairs, one after the other: {sections}" },
    { "axes", "axes!=1,split=axial|blocks|oddeven|alternate", "{axes} coordinates per token, split {split}" },
    { "coords", "coords=normalised", "scaled to -1..1 over {extent} cells" },
    { "query", "temperature!=0,temperature",
      "queries are multiplied by 1 + {temperature} ln(1 + floor((t + {shift}) / {floor})) at position t" },
    { "values", "turn=qkv|qkvo", "values are rotated too" },
    { "output", "turn=qko|qkvo", "the attention output is rotated back" },
    { "angles", "precision=hf|ggml", "computed in float32 as {precision} does" },
};

static void add_remark(result *out, const char *label, const char *text, const char *spec)
{
    char said[3000], key[40];
    tell t = tell_into(said, sizeof said);
    while (*text) {
        size_t n = strcspn(text, "{");
        tell_say(&t, "%.*s", (int)n, text);
        text += n;
        if (!*text)
            break;
        n = strcspn(text, "}");
        snprintf(key, sizeof key, "%.*s", (int)n - 1, text + 1);
        zoo_slice v = zoo_spec_get(spec, key);
        tell_say(&t, "%.*s", v.text ? (int)v.length : 1, v.text ? v.text : "?");
        text += n + 1;
    }
    result_text(out, NULL, label, said);
}

/* only: remarks of this label; NULL: all of them. */
static void add_remarks(result *out, const char *spec, const char *only)
{
    for (int i = 0; i < CLI_COUNT(remarks); i++)
        if (zoo_spec_meets(spec, remarks[i].when) && (!only || !strcmp(only, remarks[i].label)))
            add_remark(out, remarks[i].label, remarks[i].text, spec);
}

void explain_shorten(char *out, size_t cap, const char *spec)
{
    size_t used = 0;
    for (int items = 0; *spec && used + 8 < cap; spec++) {
        items = *spec == ',' ? 0 : items + (*spec == '/');
        if (items < 3) {
            out[used++] = *spec;
            continue;
        }
        size_t n = strcspn(spec, ",");
        if (memchr(spec + 1, '/', n - 1)) { /* more than one is left */
            memcpy(out + used, "...", 3);
            used += 3;
            spec += n - 1;
        } else
            out[used++] = *spec;
    }
    out[used] = 0;
}

/* ---------------------------------------------------------------- encodings */

static void add_biases(result *out, const pe_encoding *e)
{
    static const int64_t distances[] = { 1, 100, 10000 };
    int64_t heads = pe_encoding_shape(e).heads;
    double *score = calloc((size_t)heads, sizeof *score), low, high;
    for (int i = 0; score && i < CLI_COUNT(distances) && explain_bias(e, distances[i], score); i++) {
        low = high = score[0];
        for (int64_t h = 1; h < heads; h++) {
            low = fmin(low, score[h]);
            high = fmax(high, score[h]);
        }
        result_say(out, NULL, "bias", "%s to %s over the heads, at distance %" PRId64, result_number(low).text,
                   result_number(high).text, distances[i]);
    }
    free(score);
}

/* "see floor", where there is no floor: the key says nothing. */
static bool leans_on_nothing(const char *spec, const pe_key *k)
{
    const char *other = k->help && !strncmp(k->help, "see ", 4) ? k->help + 4 : "";
    return zoo_spec_key(spec, other) && !zoo_spec_get(spec, other).text;
}

/* An encoding that does not rotate: the keys in force. */
static void add_other(result *out, const char *spec, const explain_facts *f)
{
    const pe_info *info = zoo_spec_row(spec);
    int64_t end = explain_end(spec, f->e);
    for (int i = 0; info && i < info->key_count; i++) {
        const pe_key *k = pe_info_key(info, i);
        zoo_slice v = zoo_spec_get(spec, k->name);
        if (v.text && zoo_spec_means(spec, k) && !leans_on_nothing(spec, k))
            result_say(out, NULL, k->name, "%.*s (%s)", (int)v.length, v.text, k->help);
    }
    add_biases(out, f->e);
    if (end > 0)
        result_say(out, NULL, "end",
                   "the table has %" PRId64 " positions, 0 to %" PRId64
                   "; no engine has an embedding for positions beyond them",
                   end, end - 1);
}

static void add_pair_layout(result *out, const explain_facts *f)
{
    const pe_pair *p = &f->pair[f->pairs > 1].at; /* pair 0 looks alike in all layouts of two elements */
    int64_t head = pe_encoding_shape(f->e).head_dim, rotated = 2 * f->pairs;
    bool reads_adjacent = p->y - p->x == 1 && f->pairs > 1, writes_adjacent = p->y_out - p->x_out == 1 && f->pairs > 1;
    const char *layout = !reads_adjacent   ? "half [ccss]: elements i and i + d/2"
                         : writes_adjacent ? "adjacent [cscs]: elements 2i and 2i + 1"
                                           : "adjacent-half [cscs -> ccss]: elements 2i and 2i + 1, written to i and "
                                             "i + d/2";
    const char *which = rotated == head ? "all" : f->pair[0].at.x ? "the last" : "the first";
    char blocks[120] = "";
    if (!reads_adjacent && p->y - p->x < f->pairs) /* each axis has a block of its own, as in ChatGLM-6B */
        snprintf(blocks, sizeof blocks,
                 "half [ccss] in each block of %" PRId64 " elements: elements i and i + %" PRId64 " of it",
                 2 * (p->y - p->x), p->y - p->x);
    result_say(out, NULL, "pairs", "%s; %" PRId64 " pairs, %s %" PRId64 " of %" PRId64 " elements",
               *blocks ? blocks : layout, f->pairs, which, rotated, head);
}

static void add_rotation_words(result *out, const char *spec, const explain_facts *f)
{
    zoo_slice theta = zoo_spec_get(spec, "theta");
    double magnitude = pe_encoding_magnitude(f->e);
    add_pair_layout(out, f);
    if (theta.text)
        result_say(out, NULL, "base", "%.*s", (int)theta.length, theta.text);
    add_remarks(out, spec, NULL);
    if (magnitude != 1)
        result_say(out, NULL, "attention",
                   "cos and sin are multiplied by %s, and so the rotated part of a score by its square, %s",
                   result_number(magnitude).text, result_number(magnitude * magnitude).text);
}

/* One part of a combination. Layers without a rotation may have a temperature all the same (Llama 4). */
static void add_encoding(result *out, const char *spec, const explain_facts *f)
{
    const pe_info *info = zoo_spec_row(spec);
    bool rotates = zoo_spec_key(spec, "scaling") != NULL;
    if (rotates && !f->pairs) {
        result_text(out, NULL, "encoding", "none: these layers are not rotated");
        add_remarks(out, spec, "query");
        return;
    }
    result_say(out, NULL, "encoding", "%s: %s", info ? info->name : spec, info ? info->summary : "");
    (rotates ? add_rotation_words : add_other)(out, spec, f);
}

static pe_status add_encodings(result *out, const char *spec, const explain_facts *f, pe_error *err)
{
    for (int i = 0; i < zoo_spec_parts(spec); i++) {
        char *part = zoo_spec_part(spec, i);
        if (!part)
            return io_fail(err, PE_ERR_NOMEM, "no memory for a spec");
        add_encoding(out, part, f);
        free(part);
    }
    return PE_OK;
}

/* Only what the encoding asks for: a model may have a scale of its own, which is not read here. */
static void add_softmax(result *out, const pe_encoding *e)
{
    double factor = explain_softmax(e);
    bool unscaled = pe_encoding_scale(e) == 1 && pe_encoding_shape(e).head_dim > 1;
    result_real(out, "softmax_factor", unscaled || fabs(factor - 1) > 1e-12 ? "softmax" : NULL, factor);
    if (unscaled)
        result_shown(out, "scores are not divided by the square root of the head dimension");
    else
        result_shown(out, "the softmax scale is multiplied by %s", result_number(factor).text);
}

/* ---------------------------------------------------------------- groups of layers */

/* Without an encoding there may be no attention at all: a state, a convolution. */
static void add_shape(result *out, const zoo_group *g)
{
    char shared[60] = "";
    if (g->shape.kv_heads != g->shape.heads)
        snprintf(shared, sizeof shared, ", %" PRId64 " for keys and values", g->shape.kv_heads);
    result_int(out, "heads", strcmp(g->spec, "none") ? "heads" : NULL, g->shape.heads);
    result_shown(out, "%" PRId64 " of dimension %" PRId64 "%s", g->shape.heads, g->shape.head_dim, shared);
    result_int(out, "kv_heads", NULL, g->shape.kv_heads);
    result_int(out, "head_dim", NULL, g->shape.head_dim);
    result_int(out, "model_dim", NULL, g->shape.model_dim);
}

static pe_status add_group_facts(result *out, const zoo_group *g, const explain_facts *f, pe_error *err)
{
    char spec[3000];
    int64_t end = explain_end(g->spec, f->e), learned = pe_encoding_param_count(f->e);
    add_shape(out, g);
    TRY(add_encodings(out, g->spec, f, err));
    result_int(out, "parameters", learned ? "learned" : NULL, learned);
    result_unit(out, "numbers");
    if (end > 0)
        result_int(out, "positions", NULL, end);
    add_softmax(out, f->e);
    result_text(out, "spec", "spec", g->spec);
    explain_shorten(spec, sizeof spec, g->spec);
    result_shown(out, "%s", spec);
    return PE_OK;
}

static bool layers_alike(const zoo_layer *a, const zoo_layer *b)
{
    return a->group == b->group && a->window == b->window && !strcmp(a->kind, b->kind);
}

/* For people, all layers like this one, if it is the first of them; where all are alike there is nothing to say. */
static void add_layers_like(result *out, const zoo_part *p, int64_t first)
{
    const zoo_layer *as = &p->layer[first];
    char window[60] = "";
    bool in[ZOO_LAYERS_MAX];
    if (p->groups == 1 && !as->window && !*as->kind)
        return;
    for (int64_t n = 0; n < p->layers; n++) {
        in[n] = layers_alike(as, &p->layer[n]);
        if (in[n] && n < first)
            return;
    }
    if (as->window)
        snprintf(window, sizeof window, ", window of %" PRId64, as->window);
    result_say(out, NULL, "layers", "%s%s%s%s", result_ranges_text(in, p->layers).text, *as->kind ? ": " : "", as->kind,
               window);
}

static void add_group_layers(result *out, const explain_job *job, const zoo_part *p, int group)
{
    bool in[ZOO_LAYERS_MAX];
    for (int64_t n = 0; n < p->layers; n++) {
        in[n] = p->layer[n].group == group && (job->layer < 0 || n == job->layer);
        if (p->layer[n].group == group)
            add_layers_like(out, p, n);
    }
    result_ranges(out, "layers", NULL, in, p->layers);
}

static pe_status add_group(result *out, const explain_job *job, const zoo_part *p, int group, pe_error *err)
{
    explain_facts f;
    char title[60] = "Every layer";
    TRY(explain_group(&f, p, &p->group[group], job->length, err));
    if (p->groups > 1)
        snprintf(title, sizeof title, "Layers of kind %d of %d", group + 1, p->groups);
    result_open(out, RESULT_RECORD, NULL, title);
    add_group_layers(out, job, p, group);
    pe_status s = add_group_facts(out, &p->group[group], &f, err);
    if (!s && f.pairs > 0)
        s = explain_rotation(out, &f, job->layer < 0 && group >= ROTATIONS_SHOWN, err);
    result_close(out);
    explain_clear(&f);
    return s;
}

/* ---------------------------------------------------------------- parts */

/* For programs, layer by layer; group is a place in the list of groups. */
static void add_layers(result *out, const explain_job *job, const zoo_part *p)
{
    result_open(out, RESULT_LIST, "layers", NULL);
    for (int64_t n = 0; n < p->layers; n++) {
        if (job->layer >= 0 && n != job->layer)
            continue;
        result_open(out, RESULT_RECORD, NULL, NULL);
        result_int(out, "group", NULL, job->layer < 0 ? p->layer[n].group : 0);
        result_text(out, "kind", NULL, p->layer[n].kind);
        result_int(out, "window", NULL, p->layer[n].window);
        result_close(out);
    }
    result_close(out);
}

static void add_length(result *out, const char *name, int64_t length, const char *unknown)
{
    if (length > 0) {
        result_int(out, name, name, length);
        result_unit(out, "positions");
        return;
    }
    result_none(out, name);
    result_text(out, NULL, name, unknown);
}

static void add_lengths(result *out, const zoo_part *p)
{
    result_open(out, RESULT_RECORD, NULL, "Lengths");
    add_length(out, "trained", p->trained, "not in the file; --trained N gives it");
    add_length(out, "served", p->served, "not in the file");
    if (p->served > 0 && p->trained > 0 && p->served != p->trained)
        result_shown(out, "%" PRId64 " positions, %s times the trained length", p->served,
                     result_number((double)p->served / (double)p->trained).text);
    result_close(out);
}

static pe_status add_part(result *out, const explain_job *job, const zoo_part *p, pe_error *err)
{
    char title[400] = "";
    pe_status s = PE_OK;
    if (job->m->parts > 1)
        snprintf(title, sizeof title, "%s: %s, %" PRId64 " layers", *p->name ? p->name : "part", p->type, p->layers);
    result_open(out, RESULT_RECORD, NULL, title);
    result_text(out, "name", NULL, p->name);
    result_text(out, "type", NULL, p->type);
    add_lengths(out, p);
    result_open(out, RESULT_LIST, "groups", "");
    for (int g = 0; !s && g < p->groups; g++)
        if (job->layer < 0 || p->layer[job->layer].group == g)
            s = add_group(out, job, p, g, err);
    result_close(out);
    if (job->layer < 0 && p->groups > ROTATIONS_SHOWN)
        result_text(out, NULL, "", "--layer N shows the wavelengths of more layers, --json of all.");
    add_layers(out, job, p);
    result_close(out);
    return s;
}

/* ---------------------------------------------------------------- notes and engines */

static void add_notes(result *out, const zoo_model *m)
{
    static const char *const level[] = { "fact", "warning", "guess" }, *const label[] = { "note", "WARNING", "GUESS" };
    result_open(out, RESULT_LIST, "notes", m->notes ? "Notes" : NULL);
    for (int i = 0; i < m->notes; i++) {
        const zoo_note *n = &m->note[i];
        result_open(out, RESULT_RECORD, NULL, label[n->level]);
        result_shown(out, "%s%s%s%s", n->text, *n->ref ? " (" : "", n->ref, *n->ref ? ")" : "");
        result_text(out, "level", NULL, level[n->level]);
        result_text(out, "key", NULL, n->key);
        result_text(out, "text", NULL, n->text);
        result_text(out, "ref", NULL, n->ref);
        result_close(out);
    }
    result_close(out);
}

/* What an engine cannot be told is only shown beside its settings. */
static void add_quirks(result *out, const zoo_model *m)
{
    static const char *const kind[] = { "ignores", "differs", "cannot" };
    const zoo_quirk *q;
    bool any = false;
    result_open(out, RESULT_LIST, "engines", "Engines that are known to compute something else");
    for (int i = 0; (q = zoo_quirk_at(i)); i++) {
        if (!zoo_quirk_applies(q, &m->part[0]))
            continue;
        result_open(out, RESULT_RECORD, NULL, q->kind == ZOO_CANNOT ? NULL : q->engine);
        result_shown(out, "%s (%s)", q->text, q->source);
        result_text(out, "engine", NULL, q->engine);
        result_text(out, "kind", NULL, kind[q->kind]);
        result_text(out, "text", NULL, q->text);
        result_text(out, "source", NULL, q->source);
        result_close(out);
        any = true;
    }
    result_close(out);
    if (!any)
        result_hide(out);
}

static void add_setting_limits(result *out, const zoo_engine *engine, const zoo_part *p)
{
    const zoo_quirk *q;
    char fixed[600];
    for (int i = 0; (q = zoo_quirk_at(i)); i++)
        if (q->kind == ZOO_CANNOT && !strcmp(q->engine, engine->name) && zoo_quirk_applies(q, p))
            result_say(out, NULL, engine->name, "%s (%s)", q->text, q->source);
    zoo_engine_fixed(fixed, sizeof fixed, engine, p);
    result_text(out, "no_setting", *fixed ? "no setting" : NULL, fixed);
    result_shown(out, "%s: decided by the model's code or its file", fixed);
    result_text(out, "remark", "remark", zoo_engine_remark(engine, p));
    result_text(out, "source", "source", engine->source);
}

static void add_setting_texts(result *out, const explain_job *job, const char *config, const char *command)
{
    const zoo_engine *engine = job->engine;
    const zoo_part *p = &job->m->part[0];
    const char *closed = zoo_engine_closed(engine, p);
    char title[80];
    snprintf(title, sizeof title, "Settings for %s", engine->name);
    result_open(out, RESULT_RECORD, "settings", title);
    result_text(out, "engine", NULL, engine->name);
    result_text(out, "closed", "none", closed);
    result_json(out, "config", config);
    if (!closed && zoo_main_group(p) < 0)
        result_text(out, NULL, "",
                    "No layer is rotated, so only the length can be set: what the model's code adds is fixed.");
    else if (!closed && engine->takes_config && !engine->override) {
        result_text(out, NULL, "", "Replace these keys in config.json:");
        result_code(out, NULL, config);
    }
    if (engine->start)
        result_code(out, "command", command);
    add_setting_limits(out, engine, p);
    result_close(out);
}

static pe_status add_settings(result *out, const explain_job *job, pe_error *err)
{
    char *config = NULL, *command = NULL;
    const zoo_part *p = &job->m->part[0];
    pe_status s = zoo_engine_text(&config, job->engine, job->m, p, false, err);
    if (!s)
        s = zoo_engine_text(&command, job->engine, job->m, p, true, err);
    if (!s)
        add_setting_texts(out, job, config, command);
    free(config);
    free(command);
    return s;
}

/* ---------------------------------------------------------------- a model */

pe_status explain_model(result *out, const explain_job *job, pe_error *err)
{
    const zoo_model *m = job->m;
    const char *type = m->part[0].type;
    pe_status s = PE_OK;
    result_title(out, 0, "%s", m->path);
    result_text(out, "verb", NULL, "explain");
    result_text(out, "file", "file", m->path);
    result_text(out, "format", "format", m->format);
    result_say(out, NULL, "model", "%s, %" PRId64 " layers", *type ? type : "no type in the file", m->part[0].layers);
    result_open(out, RESULT_LIST, "parts", "");
    for (int i = 0; !s && i < (job->layer >= 0 ? 1 : m->parts); i++)
        s = add_part(out, job, &m->part[i], err);
    result_close(out);
    add_notes(out, m);
    add_quirks(out, m);
    return !s && job->engine ? add_settings(out, job, err) : s;
}
