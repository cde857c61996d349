/* SPDX-License-Identifier: MIT
 *
 * The plan as data: every pair, every method. */
#include "cli/extend.h"

#include <string.h>

static void model_json(json_out *out, const extend_job *j)
{
    const extend_model *x = &j->x;
    static const char *const verdicts[] = { "plan", "nothing", "no" };
    out_text(out, "verb", "extend");
    out_text(out, "file", x->zoo->path);
    out_text(out, "type", x->part->type);
    out_text(out, "spec", x->group ? x->group->spec : x->part->group[x->part->layer[0].group].spec);
    out_int(out, "trained", x->trained);
    out_int(out, "served", x->part->served > 0 ? x->part->served : x->reach);
    out_int(out, "seen", x->reach);
    out_int(out, "target", x->target);
    out_int(out, "windowed_layers", x->windowed);
    out_int(out, "still_layers", x->still);
    out_text(out, "verdict", verdicts[x->verdict]);
    out_text(out, "why", x->verdict == EXTEND_PLAN ? j->why : x->why);
}

static void pairs_json(json_out *out, const extend_model *x)
{
    out_open(out, "pairs", '[');
    for (int64_t n = 0; n < x->pairs; n++) {
        out_open(out, NULL, '{');
        out_real(out, "frequency", x->pair[n].frequency);
        out_real(out, "wavelength", x->pair[n].wavelength);
        out_real(out, "turns", x->pair[n].turns);
        out_close(out, '}');
    }
    out_close(out, ']');
}

static void cost_json(json_out *out, const extend_plan *p)
{
    out_open(out, "short_prompts", '{');
    out_bool(out, "same", p->cost.same);
    out_int(out, "changed_pairs", p->cost.changed);
    out_int(out, "fastest_changed", p->cost.changed ? p->cost.fastest : -1);
    out_real(out, "slower", p->cost.changed ? p->cost.slower : 1);
    out_real(out, "mean_change", p->cost.mean);
    out_real(out, "angle_at_256", p->cost.angle);
    out_real(out, "magnitude", p->cost.magnitude);
    out_real(out, "logits", p->cost.logits);
    out_close(out, '}');
}

static void plan_json(json_out *out, const extend_plan *p)
{
    out_open(out, NULL, '{');
    out_text(out, "method", p->method->name);
    out_text(out, "paper", p->method->paper);
    out_bool(out, "applies", p->applies);
    if (!p->applies)
        out_text(out, "why", p->why);
    else {
        out_text(out, "spec", p->spec);
        out_text(out, "key", p->method->key);
        out_real(out, "value", p->value);
        out_real(out, "theta", p->theta);
        out_bool(out, "serves", p->serves);
        out_int(out, "leaving_pairs", p->leaving);
        out_int(out, "first_leaving", p->leaving ? p->first : -1);
        out_int(out, "last_leaving", p->leaving ? p->last : -1);
        out_real(out, "worst_excess", p->worst);
        out_real(out, "magnitude", p->magnitude);
        out_real(out, "logits", p->logits);
        cost_json(out, p);
    }
    out_close(out, '}');
}

static void settings_json(json_out *out, const extend_job *j)
{
    const zoo_engine *e;
    out_open(out, "settings", '[');
    for (int i = 0; (e = zoo_engine_at(i)); i++) {
        extend_setting s = { 0 };
        if (extend_wants(j, e) && extend_settings(&s, j, e) == CLI_OK) {
            out_open(out, NULL, '{');
            out_text(out, "engine", e->name);
            if (e->start)
                out_text(out, "command", s.text);
            else {
                out_raw(out, "config", s.text ? s.text : "null");
                out_raw(out, "config_before_5", s.older ? s.older : "null");
            }
            out_text(out, "remark", s.remark && *s.remark ? s.remark : NULL);
            out_close(out, '}');
        }
        extend_setting_free(&s);
    }
    out_close(out, ']');
}

void extend_json(const extend_job *j)
{
    json_out out = out_start(stdout);
    out_open(&out, NULL, '{');
    model_json(&out, j);
    if (j->x.verdict == EXTEND_PLAN) {
        pairs_json(&out, &j->x);
        out_open(&out, "methods", '[');
        for (int i = 0; i < extend_method_count; i++)
            plan_json(&out, &j->plan[i]);
        out_close(&out, ']');
        out_text(&out, "recommended", extend_methods[j->advised].name);
        out_text(&out, "taken", extend_methods[j->taken].name);
        if (j->plan[j->taken].applies)
            settings_json(&out, j);
    }
    out_close(&out, '}');
}
