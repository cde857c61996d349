/* SPDX-License-Identifier: MIT
 *
 * The same as data, all pairs of it. */
#include "cli/explain.h"
#include "io/json_out.h"

#include "zoo/build.h"
#include "zoo/spec_read.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- groups */

static void pair_json(json_out *j, const explain_facts *f, int64_t n)
{
    const zoo_turns *p = &f->pair[n];
    out_open(j, NULL, '{');
    out_int(j, "pair", n);
    out_ints(j, "elements", (int64_t[]){ p->at.x, p->at.y }, 2);
    out_ints(j, "written", (int64_t[]){ p->at.x_out, p->at.y_out }, 2);
    out_int(j, "axis", p->at.axis);
    out_real(j, "frequency", p->at.frequency);
    out_real(j, "wavelength", p->wavelength);
    out_real(j, "trained_wavelength", p->trained);
    out_real(j, "trained_turns", p->turns);
    out_real(j, "divisor", p->divisor);
    out_real(j, "new_angles_from", p->leaves);
    out_close(j, '}');
}

static void rotation_json(json_out *j, const explain_facts *f)
{
    out_open(j, "rotation", '{');
    out_real(j, "magnitude", pe_encoding_magnitude(f->e));
    out_int(j, "axes", pe_encoding_axes(f->e));
    if (f->length > 0)
        out_int(j, "length", f->length);
    out_bool(j, "scaled", f->scaled);
    if (f->trained > 0) {
        out_int(j, "pairs_without_a_turn", f->unturned_count);
        out_real(j, "extrapolates_from", f->first >= 0 ? f->pair[f->first].leaves : (double)f->trained);
        out_bool(j, "new_angles", f->first >= 0);
    }
    out_open(j, "pairs", '[');
    for (int64_t n = 0; n < f->pairs; n++)
        pair_json(j, f, n);
    out_close(j, ']');
    out_close(j, '}');
}

static void layers_json(json_out *j, const explain_job *job, const zoo_part *p, int group)
{
    out_open(j, "layers", '-');
    for (int64_t n = 0; n < p->layers; n++)
        if (p->layer[n].group == group && (job->layer < 0 || n == job->layer))
            out_int(j, NULL, n);
    out_close(j, '-');
}

static void shape_json(json_out *j, pe_shape s)
{
    out_int(j, "heads", s.heads);
    out_int(j, "kv_heads", s.kv_heads);
    out_int(j, "head_dim", s.head_dim);
    out_int(j, "model_dim", s.model_dim);
}

static pe_status group_json(json_out *j, const explain_job *job, const zoo_part *p, int group, pe_error *err)
{
    explain_facts f;
    const zoo_group *g = &p->group[group];
    ZOO_TRY(explain_group(&f, p, g, job->length, err));
    int64_t end = explain_end(g->spec, f.e);
    out_open(j, NULL, '{');
    out_text(j, "spec", g->spec);
    layers_json(j, job, p, group);
    shape_json(j, g->shape);
    out_real(j, "softmax_factor", explain_softmax(f.e));
    out_int(j, "parameters", pe_encoding_param_count(f.e));
    if (end > 0)
        out_int(j, "positions", end);
    if (f.pairs > 0)
        rotation_json(j, &f);
    out_close(j, '}');
    explain_clear(&f);
    return PE_OK;
}

/* ---------------------------------------------------------------- parts */

/* group: its place in the list. */
static void layer_json(json_out *j, const zoo_layer *l, int group)
{
    out_open(j, NULL, '{');
    out_int(j, "group", group);
    out_text(j, "kind", l->kind);
    out_int(j, "window", l->window);
    out_close(j, '}');
}

static void length_json(json_out *j, const char *key, int64_t length)
{
    if (length > 0)
        out_int(j, key, length);
    else
        out_text(j, key, NULL);
}

static pe_status part_json(json_out *j, const explain_job *job, const zoo_part *p, pe_error *err)
{
    int only = job->layer >= 0 ? p->layer[job->layer].group : -1;
    out_open(j, NULL, '{');
    out_text(j, "name", p->name);
    out_text(j, "type", p->type);
    length_json(j, "trained", p->trained);
    length_json(j, "served", p->served);
    out_open(j, "groups", '[');
    for (int g = 0; g < p->groups; g++)
        if (only < 0 || only == g)
            ZOO_TRY(group_json(j, job, p, g, err));
    out_close(j, ']');
    out_open(j, "layers", '[');
    for (int64_t n = 0; n < p->layers; n++)
        if (only < 0 || n == job->layer)
            layer_json(j, &p->layer[n], only < 0 ? p->layer[n].group : 0);
    out_close(j, ']');
    out_close(j, '}');
    return PE_OK;
}

/* ---------------------------------------------------------------- notes, engines */

static void notes_json(json_out *j, const zoo_model *m)
{
    static const char *const level[] = { "fact", "warning", "guess" };
    out_open(j, "notes", '[');
    for (int i = 0; i < m->notes; i++) {
        out_open(j, NULL, '{');
        out_text(j, "level", level[m->note[i].level]);
        out_text(j, "key", m->note[i].key);
        out_text(j, "text", m->note[i].text);
        out_text(j, "ref", m->note[i].ref);
        out_close(j, '}');
    }
    out_close(j, ']');
}

static void quirks_json(json_out *j, const zoo_model *m)
{
    static const char *const kind[] = { "ignores", "differs", "cannot" };
    const zoo_quirk *q;
    out_open(j, "engines", '[');
    for (int i = 0; (q = zoo_quirk_at(i)); i++) {
        if (!zoo_quirk_applies(q, &m->part[0]))
            continue;
        out_open(j, NULL, '{');
        out_text(j, "engine", q->engine);
        out_text(j, "kind", kind[q->kind]);
        out_text(j, "text", q->text);
        out_text(j, "source", q->source);
        out_close(j, '}');
    }
    out_close(j, ']');
}

static pe_status settings_json(json_out *j, const explain_job *job, pe_error *err)
{
    char fixed[600], *config, *command = NULL;
    const zoo_part *p = &job->m->part[0];
    pe_status s = zoo_engine_text(&config, job->engine, job->m, p, false, err);
    if (!s)
        s = zoo_engine_text(&command, job->engine, job->m, p, true, err);
    if (s) {
        free(config);
        return s;
    }
    zoo_engine_fixed(fixed, sizeof fixed, job->engine, p);
    out_open(j, "settings", '{');
    out_text(j, "engine", job->engine->name);
    out_raw(j, "config", config);
    out_text(j, "closed", zoo_engine_closed(job->engine, p));
    if (job->engine->start)
        out_text(j, "command", command);
    out_text(j, "no_setting", fixed);
    out_text(j, "remark", zoo_engine_remark(job->engine, p));
    out_text(j, "source", job->engine->source);
    out_close(j, '}');
    free(config);
    free(command);
    return PE_OK;
}

pe_status explain_json(const explain_job *job, pe_error *err)
{
    json_out j = out_start(stdout);
    out_open(&j, NULL, '{');
    out_text(&j, "verb", "explain");
    out_text(&j, "file", job->m->path);
    out_text(&j, "format", job->m->format);
    out_open(&j, "parts", '[');
    for (int i = 0; i < (job->layer >= 0 ? 1 : job->m->parts); i++)
        ZOO_TRY(part_json(&j, job, &job->m->part[i], err));
    out_close(&j, ']');
    notes_json(&j, job->m);
    quirks_json(&j, job->m);
    if (job->engine)
        ZOO_TRY(settings_json(&j, job, err));
    out_close(&j, '}');
    return PE_OK;
}
