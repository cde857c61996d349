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

#define INDENT 14
#define TEXT_MAX 3000
#define FULL_GROUPS 4 /* more different layers than this are named, not told in full */

/* ---------------------------------------------------------------- encodings */

/* A row that does not rotate: its own words, and the keys in force. */
static void print_keys(const char *spec)
{
    const pe_info *info = zoo_spec_row(spec);
    for (int i = 0; info && i < info->key_count; i++) {
        const pe_key *k = &info->keys[i];
        zoo_slice v = zoo_spec_get(spec, k->name);
        if (v.text && zoo_spec_means(spec, k))
            page_field(i ? "" : "keys", INDENT, "%s = %.*s: %s", k->name, (int)v.length, v.text, k->help);
    }
}

static void print_bias(const pe_encoding *e)
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
        page_field(i ? "" : "added", INDENT, "%s to %s over the heads at distance %" PRId64, page_number(low).text,
                   page_number(high).text, distances[i]);
    }
    free(score);
}

static void print_learned(const pe_encoding *e)
{
    if (pe_encoding_param_count(e))
        page_field("learned", INDENT, "%" PRId64 " numbers", pe_encoding_param_count(e));
}

static void print_other(const char *spec, const explain_facts *f)
{
    int64_t end = explain_end(spec, f->e);
    print_keys(spec);
    print_bias(f->e);
    print_learned(f->e);
    if (end > 0)
        page_field("ends", INDENT,
                   "the table has %" PRId64 " positions, 0 to %" PRId64
                   ": past them there is no code, whatever the engine",
                   end, end - 1);
}

static void print_rotation(const char *spec, const explain_facts *f)
{
    char text[TEXT_MAX];
    const char *label;
    zoo_slice theta = zoo_spec_get(spec, "theta");
    if (f->pairs) {
        explain_pairs_words(text, sizeof text, f);
        page_field("pairs", INDENT, "%s", text);
    } else
        page_field("pairs", INDENT, "none: nothing turns in these layers");
    if (theta.text && f->pairs)
        page_field("base", INDENT, "%.*s", (int)theta.length, theta.text);
    for (int i = 0; explain_remark(spec, i, &label, text, sizeof text); i++)
        page_field(label, INDENT, "%s", text);
    if (pe_encoding_magnitude(f->e) != 1)
        page_field("attention", INDENT, "cos and sin are multiplied by %s, so what turns of a score by its square, %s",
                   page_number(pe_encoding_magnitude(f->e)).text,
                   page_number(pe_encoding_magnitude(f->e) * pe_encoding_magnitude(f->e)).text);
}

static pe_status print_encoding(const zoo_group *g, const explain_facts *f, pe_error *err)
{
    for (int i = 0; i < zoo_spec_parts(g->spec); i++) {
        char *spec = zoo_spec_part(g->spec, i);
        if (!spec)
            return io_fail(err, PE_ERR_NOMEM, "no memory for a spec");
        const pe_info *info = zoo_spec_row(spec);
        page_field("encoding", INDENT, "%s: %s", info ? info->name : spec, info ? info->summary : "");
        if (zoo_spec_key(spec, "scaling"))
            print_rotation(spec, f);
        else
            print_other(spec, f);
        free(spec);
    }
    page_field("softmax", INDENT, "scores are multiplied by %s", page_number(pe_encoding_scale(f->e)).text);
    page_field("spec", INDENT, "%s", g->spec);
    return PE_OK;
}

/* ---------------------------------------------------------------- wavelengths */

static void print_pair(const explain_facts *f, int64_t n)
{
    const explain_pair *p = &f->pair[n];
    bool still = !isfinite(p->wavelength);
    const char *never = still ? "never" : f->unturned[n] ? "never: the window" : "never: had every angle";
    char how[40];
    explain_divisor(how, p->divisor);
    printf("  %6" PRId64 "  %14s  %14s  %-12s  %s\n", n, still ? "stands still" : page_number(p->wavelength).text,
           isnan(p->turns) ? "?" : page_number(p->turns).text, how,
           isnan(p->leaves)      ? "?"
           : isfinite(p->leaves) ? page_number(p->leaves).text
                                 : never);
}

static void print_wavelengths(const explain_facts *f)
{
    int64_t index[9];
    char text[TEXT_MAX];
    if (f->shortest < 0)
        return;
    page_title("Wavelengths against the trained length");
    if (f->length > 0)
        page_field("", 2, "for a sequence of %" PRId64 " positions:", f->length);
    page_field("shortest", INDENT, "%s positions (pair %" PRId64 ")", page_number(f->pair[f->shortest].wavelength).text,
               f->shortest);
    page_field("longest", INDENT, "%s positions (pair %" PRId64 ")", page_number(f->pair[f->longest].wavelength).text,
               f->longest);
    explain_turns_words(text, sizeof text, f);
    page_field("turns", INDENT, "%s", text);
    printf("\n  %6s  %14s  %14s  %-12s  %s\n", "pair", "wavelength", "trained turns", "scaling", "new angles from");
    int count = explain_choose(index, CLI_COUNT(index), f);
    for (int i = 0; i < count; i++)
        print_pair(f, index[i]);
    explain_limit_words(text, sizeof text, f);
    if (*text) {
        page_title("Where extrapolation starts");
        fputs("  ", stdout);
        page_wrapped(text, 2);
    }
}

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
    char window[60] = "";
    if (as->window)
        snprintf(window, sizeof window, ", window of %" PRId64, as->window);
    fputs("  ", stdout);
    page_wrapped(page_ranges(in, p->layers).text, 2);
    page_field("", 6, "%s%s%s%.400s%s", as->kind, *as->kind ? ": " : "", still ? "nothing turns (NoPE): " : "", spec,
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
        page_field("trained", INDENT, "%" PRId64 " positions", p->trained);
    else
        page_field("trained", INDENT, "not said; --trained N says it");
    if (p->served > 0 && p->trained > 0 && p->served != p->trained)
        page_field("served", INDENT, "%" PRId64 " positions, %s times the trained length", p->served,
                   page_number((double)p->served / (double)p->trained).text);
    else if (p->served > 0)
        page_field("served", INDENT, "%" PRId64 " positions", p->served);
    else
        page_field("served", INDENT, "not said");
}

static pe_status print_group(const zoo_part *p, int group, pe_error *err)
{
    explain_facts f;
    const zoo_group *g = &p->group[group];
    ZOO_TRY(explain_group(&f, p, g, err));
    if (p->groups > 1)
        page_title("Layers of kind %d of %d", group + 1, p->groups);
    else
        page_title("Every layer");
    if (p->groups > 1)
        page_field("layers", INDENT, "%s", layers_of(p, group).text);
    if (g->shape.kv_heads != g->shape.heads)
        page_field("heads", INDENT, "%" PRId64 " of %" PRId64 ", %" PRId64 " for keys and values", g->shape.heads,
                   g->shape.head_dim, g->shape.kv_heads);
    else
        page_field("heads", INDENT, "%" PRId64 " of %" PRId64, g->shape.heads, g->shape.head_dim);
    pe_status s = print_encoding(g, &f, err);
    if (!s)
        print_wavelengths(&f);
    explain_clear(&f);
    return s;
}

static pe_status print_part(const explain_job *job, const zoo_part *p, pe_error *err)
{
    if (job->m->parts > 1)
        page_title("%s: %s, %" PRId64 " layers", *p->name ? p->name : "part", p->type, p->layers);
    print_lengths(p);
    if (job->layer >= 0)
        return print_group(p, p->layer[job->layer].group, err);
    print_layers(p);
    for (int g = 0; g < p->groups && g < FULL_GROUPS; g++)
        ZOO_TRY(print_group(p, g, err));
    if (p->groups > FULL_GROUPS)
        page_field("", 2, "%d more kinds of layers: --layer N tells one in full, --json all", p->groups - FULL_GROUPS);
    return PE_OK;
}

pe_status explain_text(const explain_job *job, pe_error *err)
{
    const zoo_model *m = job->m;
    printf("%s: %s, %s, %" PRId64 " layers\n", m->path, m->format, *m->part[0].type ? m->part[0].type : "type not said",
           m->part[0].layers);
    for (int i = 0; i < (job->layer >= 0 ? 1 : m->parts); i++)
        ZOO_TRY(print_part(job, &m->part[i], err));
    explain_notes(m);
    return job->engine ? explain_settings(job, err) : PE_OK;
}
