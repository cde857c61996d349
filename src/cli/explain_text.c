/* SPDX-License-Identifier: MIT
 *
 * One page in plain words. */
#include "cli/explain.h"
#include "cli/page.h"

#include "zoo/build.h"
#include "zoo/spec_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FULL_GROUPS 4 /* more different layers than this are named, not told in full */

/* ---------------------------------------------------------------- layers */

static bool alike(const zoo_layer *a, const zoo_layer *b)
{
    return a->group == b->group && a->window == b->window && !strcmp(a->kind, b->kind);
}

/* What these layers do, in a few words. */
static void print_layer_kind(const zoo_part *p, const zoo_layer *as, const bool *in)
{
    const char *spec = p->group[as->group].spec;
    bool still = zoo_spec_is(spec, "dims", "0");
    char window[60] = "", text[1000];
    if (as->window)
        snprintf(window, sizeof window, ", window of %" PRId64, as->window);
    fputs("  ", stdout);
    page_wrapped(page_ranges(in, p->layers).text, 2);
    explain_shorten(text, sizeof text, spec);
    page_field("", 6, "%s%s%s%.400s%s", as->kind, *as->kind ? ": " : "", still ? "nothing turns (NoPE): " : "", text,
               window);
}

/* Is this the first layer of its kind? */
static bool is_first(const zoo_part *p, int64_t layer)
{
    for (int64_t n = 0; n < layer; n++)
        if (alike(&p->layer[n], &p->layer[layer]))
            return false;
    return true;
}

/* Layers that do the same, as ranges. One kind of layer without a window needs no table. */
static void print_layers(const zoo_part *p)
{
    bool in[ZOO_LAYERS_MAX], mixed = p->layer[0].window > 0;
    for (int64_t n = 1; n < p->layers; n++)
        mixed |= !alike(&p->layer[0], &p->layer[n]);
    if (mixed)
        page_title("Layers");
    for (int64_t n = 0; mixed && n < p->layers; n++) {
        if (!is_first(p, n))
            continue;
        for (int64_t k = 0; k < p->layers; k++)
            in[k] = alike(&p->layer[n], &p->layer[k]);
        print_layer_kind(p, &p->layer[n], in);
    }
}

static page_list layers_of(const zoo_part *p, int group)
{
    bool in[ZOO_LAYERS_MAX];
    for (int64_t n = 0; n < p->layers; n++)
        in[n] = p->layer[n].group == group;
    return page_ranges(in, p->layers);
}

/* ---------------------------------------------------------------- parts */

static void print_lengths(const zoo_part *p)
{
    page_title("Lengths");
    if (p->trained > 0)
        page_field("trained", EXPLAIN_INDENT, "%" PRId64 " positions", p->trained);
    else
        page_field("trained", EXPLAIN_INDENT, "not said; --trained N says it");
    if (p->served > 0 && p->trained > 0 && p->served != p->trained)
        page_field("served", EXPLAIN_INDENT, "%" PRId64 " positions, %s times the trained length", p->served,
                   page_number((double)p->served / (double)p->trained).text);
    else if (p->served > 0)
        page_field("served", EXPLAIN_INDENT, "%" PRId64 " positions", p->served);
    else
        page_field("served", EXPLAIN_INDENT, "not said");
}

/* Where nothing enters there may be no attention at all: a state, a convolution. */
static void print_heads(const zoo_group *g)
{
    char shared[60] = "";
    if (!strcmp(g->spec, "none"))
        return;
    if (g->shape.kv_heads != g->shape.heads)
        snprintf(shared, sizeof shared, ", %" PRId64 " for keys and values", g->shape.kv_heads);
    page_field("heads", EXPLAIN_INDENT, "%" PRId64 " of %" PRId64 "%s", g->shape.heads, g->shape.head_dim, shared);
}

static pe_status print_group(const explain_job *job, const zoo_part *p, int group, pe_error *err)
{
    explain_facts f;
    const zoo_group *g = &p->group[group];
    ZOO_TRY(explain_group(&f, p, g, job->length, err));
    if (p->groups > 1)
        page_title("Layers of kind %d of %d", group + 1, p->groups);
    else
        page_title("Every layer");
    if (p->groups > 1)
        page_field("layers", EXPLAIN_INDENT, "%s", layers_of(p, group).text);
    print_heads(g);
    pe_status s = explain_encoding(g, &f, err);
    if (!s)
        explain_wavelengths(&f);
    explain_clear(&f);
    return s;
}

static pe_status print_part(const explain_job *job, const zoo_part *p, pe_error *err)
{
    if (job->m->parts > 1)
        page_title("%s: %s, %" PRId64 " layers", *p->name ? p->name : "part", p->type, p->layers);
    print_lengths(p);
    if (job->layer >= 0)
        return print_group(job, p, p->layer[job->layer].group, err);
    print_layers(p);
    for (int g = 0; g < p->groups && g < FULL_GROUPS; g++)
        ZOO_TRY(print_group(job, p, g, err));
    if (p->groups > FULL_GROUPS)
        page_field("", 2, "%d more kinds of layers: --layer N tells one in full, --json all", p->groups - FULL_GROUPS);
    return PE_OK;
}

pe_status explain_text(const explain_job *job, pe_error *err)
{
    const zoo_model *m = job->m;
    const char *type = *m->part[0].type ? m->part[0].type : "type not said";
    page_print(m->path, (int)strlen(m->path));
    printf(": %s, ", m->format);
    page_print(type, (int)strlen(type));
    printf(", %" PRId64 " layers\n", m->part[0].layers);
    for (int i = 0; i < (job->layer >= 0 ? 1 : m->parts); i++)
        ZOO_TRY(print_part(job, &m->part[i], err));
    explain_notes(m);
    return job->engine ? explain_settings(job, err) : PE_OK;
}
