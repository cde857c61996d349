/* SPDX-License-Identifier: MIT
 *
 * The plan as a tree of results: the model, its pairs, every method, the settings. */
#include "cli/cli.h"
#include "cli/explain.h"
#include "cli/extend.h"

#include "zoo/build.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

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

static void add_layer_counts(result *out, const extend_model *x)
{
    result_int(out, "windowed_layers", x->group && x->windowed ? "windows" : NULL, x->windowed);
    result_shown(out, "%" PRId64 " layers have a window, and stay as they are", x->windowed);
    result_int(out, "still_layers", x->group && x->still ? "NoPE" : NULL, x->still);
    result_shown(out, "%" PRId64 " layers are not rotated", x->still);
    if (x->mixed)
        result_text(out, NULL, "others",
                    "other layers without a window rotate differently; the plan covers only layers with this spec");
}

static void add_model(result *out, const extend_job *j)
{
    static const char *const verdicts[] = { "plan", "nothing", "no" };
    const extend_model *x = &j->x;
    const char *spec = x->group ? x->group->spec : x->part->group[x->part->layer[0].group].spec;
    char text[1000];
    explain_shorten(text, sizeof text, spec);
    result_title(out, 0, "%s, %" PRId64 " positions", x->zoo->path, x->target);
    result_text(out, "verb", NULL, "extend");
    result_text(out, "file", "file", x->zoo->path);
    result_text(out, "type", "model", x->part->type);
    result_shown(out, "%s%s%" PRId64 " layers", x->part->type, *x->part->type ? ", " : "", x->part->layers);
    result_text(out, "spec", "spec", spec);
    result_shown(out, "%s", text);
    add_model_lengths(out, x);
    add_layer_counts(out, x);
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
