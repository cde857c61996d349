/* SPDX-License-Identifier: MIT
 *
 * The plan as a tree of results: the model, its pairs, every method, the settings. */
#include "cli/cli.h"
#include "cli/explain.h"
#include "cli/extend.h"

#include "zoo/build.h"
#include "zoo/spec_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- settings of engines */

/* What to give an engine: the model with the plan in it, as zoo/engines.h spells it. A config.json is patched, so that
 * it keeps what else it says. Texts are malloc'ed, and NULL after an error. */
typedef struct extend_setting {
    char *text;   /* keys of config.json, or a command; NULL: the engine cannot be told */
    char *older;  /* for older versions, where that differs */
    char *remark; /* sentences, or "" */
} extend_setting;

static const extend_plan *taken_plan(const extend_job *j)
{
    return &j->plan[j->taken];
}

static pe_status patch_keys(char **out, const extend_job *j, const char *config, extend_era era, pe_error *err)
{
    extend_patch p;
    TRY(extend_patch_make(&p, &j->x, taken_plan(j), config, era, err));
    pe_status s = extend_patch_show(out, &p, config, err);
    extend_patch_free(&p);
    return s;
}

/* A config.json in its own spelling; without one, in that of version 5, and in the one before where that is all of it:
 * widths and sections stood elsewhere then. */
static pe_status make_patch(extend_setting *s, const extend_job *j, const zoo_engine *e, const zoo_part *planned,
                            pe_error *err)
{
    if (strcmp(j->config, EXTEND_NO_CONFIG))
        return patch_keys(&s->text, j, j->config, EXTEND_AS_FILE, err);
    TRY(zoo_engine_text(&s->text, e, j->zoo, planned, false, err));
    bool all = zoo_spec_meets(taken_plan(j)->brief, "!dims,!sections,axes=1") && zoo_engine_remark(e, planned);
    return all ? patch_keys(&s->older, j, EXTEND_NO_CONFIG, EXTEND_SCALING, err) : PE_OK;
}

/* ---------------------------------------------------------------- remarks */

/* What a plan adds to the quirks of engines.h; method NULL: any. */
static const struct {
    const char *engine, *method, *text;
} remarks[] = {
    { "transformers", "dynamic", "max_position_embeddings stays: dynamic takes it for the trained length" },
    { "vllm", NULL, "for versions that read rope_scaling, pass the same object under that name" },
    { "vllm", "linear",
      "it makes a table of max_position_embeddings x factor rows: leave that key out where the file "
      "has the trained length" },
    { "vllm", "p-rope", "rope_type proportional is for models that were trained so" },
    { "sglang", "dynamic", "which is the plain base where the factor is 1: take --method ntk" },
    { "llama.cpp", "dynamic", "--method ntk is the same at the full length" },
    { "llama.cpp", "longrope", "convert the changed config.json again" },
    { "llama.cpp", "llama3", "convert the changed config.json again" },
    { "llama.cpp", "p-rope", "convert the changed config.json again, and train the model so" },
};

static void put_remark(FILE *to, const char *text)
{
    fprintf(to, "%s%s", ftell(to) > 0 ? "; " : "", text);
}

static void put_remarks(FILE *to, const extend_job *j, const zoo_engine *e, const zoo_part *planned)
{
    const zoo_quirk *q;
    const char *method = taken_plan(j)->method->name, *closed = zoo_engine_closed(e, planned);
    if (closed) {
        fprintf(to, "none: %s", closed);
        return;
    }
    for (int i = 0; (q = zoo_quirk_at(i)); i++)
        if (!strcmp(q->engine, e->name) && zoo_quirk_applies(q, planned))
            put_remark(to, q->text);
    for (int i = 0; i < CLI_COUNT(remarks); i++)
        if (!strcmp(remarks[i].engine, e->name) && (!remarks[i].method || !strcmp(remarks[i].method, method)))
            put_remark(to, remarks[i].text);
    bool divided = !strcmp(j->x.scaling, "llama3") || !strcmp(j->x.scaling, "longrope");
    if (!e->takes_config && divided && zoo_engine_says(e, planned))
        put_remark(to, "a GGUF of this model has its own divisors, which still apply together with these flags: two "
                       "scalings, stacked");
}

static pe_status make_remarks(extend_setting *s, const extend_job *j, const zoo_engine *e, const zoo_part *planned,
                              pe_error *err)
{
    size_t size = 0;
    FILE *to = open_memstream(&s->remark, &size);
    if (to)
        put_remarks(to, j, e, planned);
    return !to || fclose(to) ? io_fail(err, PE_ERR_NOMEM, "no memory for the remarks on %s", e->name) : PE_OK;
}

static pe_status make_setting(extend_setting *s, const extend_job *j, const zoo_engine *e, const zoo_part *planned,
                              pe_error *err)
{
    bool open = !zoo_engine_closed(e, planned);
    if (open && !e->start)
        TRY(make_patch(s, j, e, planned, err));
    else if (open && zoo_engine_says(e, planned))
        TRY(zoo_engine_text(&s->text, e, j->zoo, planned, true, err));
    return make_remarks(s, j, e, planned, err);
}

static void extend_setting_free(extend_setting *s)
{
    free(s->text);
    free(s->older);
    free(s->remark);
    *s = (extend_setting){ 0 };
}

static pe_status extend_settings(extend_setting *out, const extend_job *j, const zoo_engine *e, pe_error *err)
{
    zoo_part planned = *j->x.part;
    size_t size = (size_t)planned.groups * sizeof *planned.group;
    *out = (extend_setting){ 0 };
    planned.group = malloc(size);
    if (!planned.group)
        return io_fail(err, PE_ERR_NOMEM, "no memory for the settings of %s", e->name);
    memcpy(planned.group, j->x.part->group, size);
    planned.group[j->x.group - j->x.part->group].spec = taken_plan(j)->brief;
    planned.served = j->x.target;
    pe_status s = make_setting(out, j, e, &planned, err);
    free(planned.group);
    if (s)
        extend_setting_free(out);
    return s;
}

/* ---------------------------------------------------------------- the model */

static void add_model_lengths(result *out, const extend_model *x)
{
    int64_t served = x->part->served > 0 ? x->part->served : x->reach;
    result_int(out, "trained", "trained", x->trained);
    result_int(out, "served", "served", served);
    if (served > x->reach)
        result_shown(out, "%" PRId64 " (by a scaling that was not trained)", served);
    else if (x->reach > x->trained)
        result_shown(out, "%" PRId64 " (offered by the model's makers with its own scaling, so it counts as trained)",
                     served);
    result_int(out, "seen", NULL, x->reach);
    result_int(out, "target", "target", x->target);
    if (x->target <= x->reach)
        result_shown(out, "%" PRId64 " (not longer than the %s length)", x->target,
                     x->target <= x->trained ? "trained" : "served");
    else
        result_shown(out, "%" PRId64 " (%.4g x)", x->target, (double)x->target / (double)x->reach);
}

static void add_layer_counts(result *out, const extend_job *j)
{
    const extend_model *x = &j->x;
    result_int(out, "windowed_layers", x->group && x->windowed ? "windows" : NULL, x->windowed);
    if (j->windowed_changed)
        result_shown(out,
                     "%" PRId64 " layers have a window and need no change; this plan changes %" PRId64
                     " of them too, because the config has one rotation for all layers",
                     x->windowed, j->windowed_changed);
    else
        result_shown(out, "%" PRId64 " layers have a window, and stay as they are", x->windowed);
    result_int(out, "windowed_layers_changed", NULL, j->windowed_changed);
    result_int(out, "still_layers", x->group && x->still ? "NoPE" : NULL, x->still);
    result_shown(out, "%" PRId64 " layers are not rotated", x->still);
    if (x->mixed)
        result_text(out, NULL, "others",
                    "other layers without a window rotate differently; the plan covers only layers with this spec");
}

/* The spec that the plan is for; of a model without one, those of all its layers. */
static void add_specs(result *out, const extend_model *x)
{
    const zoo_part *p = x->part;
    const char *first = x->group ? x->group->spec : p->group[p->layer[0].group].spec;
    char text[2000], one[1000];
    size_t used = 0;
    explain_shorten(text, sizeof text, first);
    for (int g = 0; !x->group && p->groups > 1 && g < p->groups && used < sizeof text; g++) {
        explain_shorten(one, sizeof one, p->group[g].spec);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRId64 "x %s", g ? ", " : "",
                                 p->group[g].layers, one);
    }
    result_text(out, "spec", "spec", first);
    result_shown(out, "%s", text);
    result_open(out, RESULT_LIST, "specs", NULL);
    for (int g = 0; g < p->groups; g++)
        result_text(out, NULL, NULL, p->group[g].spec);
    result_close(out);
}

static void add_model(result *out, const extend_job *j)
{
    static const char *const verdicts[] = { "plan", "nothing", "no" };
    const extend_model *x = &j->x;
    result_title(out, 0, "%s, %" PRId64 " positions", x->zoo->path, x->target);
    result_text(out, "verb", NULL, "extend");
    result_text(out, "file", "file", x->zoo->path);
    result_text(out, "type", "model", x->part->type);
    result_shown(out, "%s%s%" PRId64 " layers", x->part->type, *x->part->type ? ", " : "", x->part->layers);
    add_specs(out, x);
    add_model_lengths(out, x);
    add_layer_counts(out, j);
    result_text(out, "verdict", NULL, verdicts[x->verdict]);
}

/* ---------------------------------------------------------------- pairs */

/* 0: less than one turn; 1: up to 32, where scalings change something; 2: more. */
static int turns_class(const extend_pair *p)
{
    return (p->turns >= 1) + (p->turns >= 32);
}

/* People see those between which the turns pass one of these numbers, or all. */
static void add_pairs(result *out, const extend_model *x, bool all)
{
    char title[100];
    snprintf(title, sizeof title, "%" PRId64 " pairs, and their turns over %" PRId64 " positions", x->pairs, x->reach);
    result_open(out, RESULT_TABLE, "pairs", title);
    for (int64_t n = 0; n < x->pairs; n++) {
        const extend_pair *p = &x->pair[n];
        bool ends = n == 0 || n == x->pairs - 1;
        result_open(out, RESULT_RECORD, NULL, "");
        result_int(out, NULL, "pair", n);
        result_real(out, "frequency", NULL, p->frequency);
        result_real(out, "wavelength", "wavelength", p->wavelength);
        result_real(out, "turns", "turns", p->turns);
        result_text(out, NULL, "longer sequences", p->turns > 0 && p->turns < 1 ? "new angles" : "no new angle");
        result_close(out);
        if (!all && !ends && turns_class(p) == turns_class(p - 1) && turns_class(p) == turns_class(p + 1))
            result_hide(out);
    }
    result_close(out);
}

/* ---------------------------------------------------------------- methods */

static void show_cost(result *out, const extend_plan *p)
{
    if (p->cost.same)
        result_shown(out, "short prompts: unchanged");
    else if (!p->cost.changed)
        result_shown(out, "short prompts: the same angles, logits x %.4g", p->cost.logits);
    else if (isinf(p->cost.slower))
        result_shown(out, "short prompts: %" PRId64 " pairs are no longer rotated, from pair %" PRId64, p->cost.changed,
                     p->cost.fastest);
    else
        result_shown(out,
                     "short prompts: %" PRId64 " pairs change, from pair %" PRId64
                     " (frequency x %.3g), by %.3g %% on average, by %.3g rad at distance %d",
                     p->cost.changed, p->cost.fastest, 1 / p->cost.slower, 100 * p->cost.mean, p->cost.angle,
                     EXTEND_NEAR);
}

static void add_cost(result *out, const extend_plan *p)
{
    result_open(out, RESULT_RECORD, "short_prompts", "short prompts");
    show_cost(out, p);
    result_below(out);
    result_flag(out, "same", NULL, p->cost.same);
    result_int(out, "changed_pairs", NULL, p->cost.changed);
    result_int(out, "fastest_changed", NULL, p->cost.changed ? p->cost.fastest : -1);
    result_real(out, "slower", NULL, p->cost.changed ? p->cost.slower : 1);
    result_real(out, "mean_change", NULL, p->cost.mean);
    result_real(out, "angle_at_256", NULL, p->cost.angle);
    result_real(out, "magnitude", NULL, p->cost.magnitude);
    result_real(out, "logits", NULL, p->cost.logits);
    result_close(out);
}

static void add_numbers(result *out, const extend_plan *p)
{
    const char *key = p->method->key;
    result_text(out, "spec", NULL, p->spec);
    result_text(out, "key", NULL, key);
    result_real(out, "value", "number", p->value);
    if (!key)
        result_shown(out, "%s", "");
    else if (!strcmp(key, "long"))
        result_shown(out, "up to %.6g", p->value);
    else
        result_shown(out, "%s %.6g", key, p->value);
    result_real(out, "theta", NULL, p->theta);
    result_flag(out, "serves", NULL, p->serves);
    result_int(out, "leaving_pairs", "pairs with new angles", p->leaving);
    if (p->serves)
        result_shown(out, "none");
    else
        result_shown(out, "%" PRId64 " (%" PRId64 "-%" PRId64 "), %.3g x", p->leaving, p->first, p->last, p->worst);
    result_int(out, "first_leaving", NULL, p->leaving ? p->first : -1);
    result_int(out, "last_leaving", NULL, p->leaving ? p->last : -1);
    result_real(out, "worst_excess", NULL, p->worst);
    result_real(out, "magnitude", NULL, p->magnitude);
    result_real(out, "logits", "logits", p->logits);
    result_shown(out, "x %.4g", p->logits);
    add_cost(out, p);
}

static void add_methods(result *out, const extend_job *j)
{
    result_open(out, RESULT_TABLE, "methods", "Methods (* recommended)");
    for (int i = 0; i < extend_method_count; i++) {
        const extend_plan *p = &j->plan[i];
        result_open(out, RESULT_RECORD, NULL, "");
        result_text(out, "method", "method", p->method->name);
        result_shown(out, "%c %s", i == j->advised ? '*' : ' ', p->method->name);
        result_text(out, "paper", NULL, p->method->paper);
        result_flag(out, "applies", NULL, p->applies);
        if (p->applies)
            add_numbers(out, p);
        else {
            result_text(out, "why", "short prompts", p->why);
            result_shown(out, "does not apply: %s", p->why);
            result_below(out);
        }
        result_close(out);
    }
    result_close(out);
}

/* ---------------------------------------------------------------- the choice */

static void add_choice(result *out, const extend_job *j)
{
    const extend_plan *p = &j->plan[j->taken];
    const char *paper = p->method->paper;
    result_open(out, RESULT_RECORD, NULL, "Choice");
    result_text(out, "recommended", "recommended", extend_methods[j->advised].name);
    result_text(out, "why", "because", j->why);
    result_text(out, "taken", j->taken != j->advised ? "taken" : NULL, p->method->name);
    result_say(out, NULL, "note", "%s%s%s%s", p->method->note, *paper ? " (" : "", paper, *paper ? ")" : "");
    if (strcmp(j->x.scaling, "none") && p->method->key && strcmp(j->x.scaling, p->method->scaling))
        result_say(out, NULL, "note", "it replaces the model's own %s, with which the model was trained", j->x.scaling);
    if (p->applies && !p->serves)
        result_say(out, NULL, "note", "pairs %" PRId64 "-%" PRId64 " still reach new angles, up to %.3g x", p->first,
                   p->last, p->worst);
    if (!p->applies)
        result_say(out, NULL, "note", "does not apply: %s", p->why);
    result_close(out);
}

static void add_setting(result *out, const zoo_engine *e, const extend_setting *s)
{
    result_open(out, RESULT_RECORD, NULL, e->name);
    result_text(out, "engine", NULL, e->name);
    if (e->start) {
        if (s->text)
            result_code(out, "command", s->text);
        else
            result_none(out, "command");
    } else {
        result_json(out, "config", s->text);
        result_json(out, "config_before_5", s->older);
        result_text(out, NULL, "", s->text ? "Replace these keys in config.json:" : NULL);
        if (s->text)
            result_code(out, NULL, s->text);
        result_text(out, NULL, "", s->older ? "Before transformers 5.0:" : NULL);
        if (s->older)
            result_code(out, NULL, s->older);
    }
    result_text(out, "remark", "", *s->remark ? s->remark : NULL);
    result_close(out);
}

static pe_status add_settings(result *out, const extend_job *j, const char *only, pe_error *err)
{
    const zoo_engine *e;
    pe_status status = PE_OK;
    result_open(out, RESULT_LIST, "settings", "");
    for (int i = 0; !status && (e = zoo_engine_at(i)); i++) {
        extend_setting s = { 0 };
        if (only && strcmp(only, e->name))
            continue;
        status = extend_settings(&s, j, e, err);
        if (!status)
            add_setting(out, e, &s);
        extend_setting_free(&s);
    }
    result_close(out);
    return status;
}

pe_status extend_result(result *out, const extend_job *j, const char *engine, bool all_pairs, pe_error *err)
{
    bool plan = j->x.verdict == EXTEND_PLAN;
    result_open(out, RESULT_RECORD, NULL, "");
    add_model(out, j);
    if (!plan) {
        result_open(out, RESULT_RECORD, NULL, "Answer");
        result_text(out, "why", "", j->x.why);
        result_close(out);
    } else {
        add_pairs(out, &j->x, all_pairs);
        add_methods(out, j);
    }
    result_close(out);
    if (!plan)
        return PE_OK;
    if (engine)
        result_hide(out);
    add_choice(out, j);
    return j->plan[j->taken].applies ? add_settings(out, j, engine, err) : PE_OK;
}
