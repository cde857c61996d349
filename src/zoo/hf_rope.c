/* SPDX-License-Identifier: MIT
 *
 * The rotary part of a config: rope_parameters, or rope_scaling as it was called before, or keys beside them, as one
 * spec for each layer. The meaning of each key is that of transformers' modeling_rope_utils.py. */
#include "zoo/hf_rope.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- which parameters */

static bool is_dict_of_dicts(const io_node *dict)
{
    io_node n;
    if (io_json_get(&n, dict, "rope_type") || io_json_get(&n, dict, "type") || io_json_get(&n, dict, "factor") ||
        io_json_get(&n, dict, "rope_theta"))
        return false;
    io_node child = { 0 };
    if (!io_json_next(&child, dict))
        return false;
    return io_json_kind_of(&child) == IO_JSON_OBJECT || io_json_kind_of(&child) == IO_JSON_NULL;
}

/* The kind's own name, or the row's: the first for sliding layers, the second for others. */
static void label_of(const zoo_fact *f, const char *kind, char out[64])
{
    const char *cut = f->labels && strstr(kind, "attention") ? strchr(f->labels, '|') : NULL;
    if (!cut)
        snprintf(out, 64, "%s", *kind ? kind : "full_attention");
    else if (strcmp(kind, "sliding_attention"))
        snprintf(out, 64, "%s", cut + 1);
    else
        snprintf(out, 64, "%.*s", (int)(cut - f->labels), f->labels);
}

/* rope_scaling wins over rope_parameters where both say something, as in transformers. */
static pe_status find_dict(hf_part *h, io_node *out)
{
    io_node older;
    ZOO_TRY(io_json_object(out, h->config, "rope_parameters", IO_OPTIONAL, h->b->err));
    ZOO_TRY(io_json_object(&older, h->config, "rope_scaling", IO_OPTIONAL, h->b->err));
    if (!older.json || io_json_next(&(io_node){ 0 }, &older) == false)
        return PE_OK;
    if (out->json)
        ZOO_TRY(zoo_note_add(h->b, ZOO_WARNING, "rope_scaling", "transformers modeling_rope_utils.py",
                             "both rope_scaling and rope_parameters are there; rope_scaling counts"));
    *out = older;
    return PE_OK;
}

static pe_status choose(hf_part *h, const io_node *all, const char *kind, hf_turning *t)
{
    *t = (hf_turning){ .dict = *all, .how = "none" };
    if (all->json && is_dict_of_dicts(all)) {
        label_of(h->fact, kind, t->label);
        if (!io_json_get(&t->dict, all, t->label))
            return io_fail(h->b->err, PE_ERR_FORMAT, "%s: rope_parameters has nothing for %s layers", h->b->model.path,
                           t->label);
        t->off = io_json_kind_of(&t->dict) == IO_JSON_NULL;
        return PE_OK;
    }
    t->local = h->fact->local != 0 && (!strcmp(kind, "sliding_attention") || !strcmp(kind, "hybrid_sliding"));
    if (t->local)
        t->dict.json = NULL; /* one dict for a model with two bases: it is that of the full layers */
    return PE_OK;
}

/* ---------------------------------------------------------------- one layer */

static pe_status put_pairs(hf_part *h, zoo_spec *spec)
{
    const char *pairs = h->fact->pairs ? h->fact->pairs : "half";
    bool interleave, neox;
    ZOO_TRY(hf_flag(h, &interleave, "rope_interleave", true));
    ZOO_TRY(hf_flag(h, &neox, "rope_is_neox_style", true));
    if (!interleave && !strcmp(pairs, "adjacent-half"))
        pairs = "half";
    if (!neox)
        pairs = "adjacent"; /* SGLang models/xverse.py, exaone.py */
    zoo_spec_word(spec, "pairs", h->b->options->pairs ? h->b->options->pairs : pairs);
    return PE_OK;
}

static pe_status write_spec(hf_part *h, const hf_layer *l, hf_turning *t, zoo_spec *spec)
{
    ZOO_TRY(hf_find_scaling(h, t));
    zoo_spec_start(spec, "rope");
    ZOO_TRY(put_pairs(h, spec));
    ZOO_TRY(hf_find_theta(h, t, l->theta, spec));
    ZOO_TRY(hf_find_width(h, t, spec));
    ZOO_TRY(hf_find_axes(h, t, spec));
    if (strcmp(t->how, "none"))
        ZOO_TRY(hf_scale(h, t, spec));
    else
        ZOO_TRY(hf_take_keys(h, t, spec));
    ZOO_TRY(hf_find_gains(h, t, spec));
    zoo_spec_raw(spec, h->fact->keys);
    return PE_OK;
}

/* Llama 4's layers without rotation warm their queries up instead. */
static pe_status still_spec(hf_part *h, zoo_spec *spec)
{
    bool tuned = false;
    double scale_by = 0.1;
    int64_t floor_scale = 8192;
    zoo_spec_start(spec, "none");
    if (!h->fact->warm)
        return PE_OK;
    ZOO_TRY(hf_flag(h, &tuned, "attn_temperature_tuning", true));
    if (!tuned)
        return PE_OK;
    ZOO_TRY(hf_real(h, &scale_by, "attn_scale", 0.1));
    ZOO_TRY(hf_int(h, &floor_scale, "floor_scale", 8192));
    zoo_spec_start(spec, "rope");
    zoo_spec_word(spec, "dims", "0");
    zoo_spec_real(spec, "temperature", scale_by);
    zoo_spec_int(spec, "floor", floor_scale);
    zoo_spec_word(spec, "shift", "1");
    return PE_OK;
}

static pe_status shape_of(hf_part *h, const hf_layer *l, pe_shape *out)
{
    *out = h->shape;
    if (!h->fact->full_head_dim || strcmp(l->kind, "full_attention") || h->b->options->head_dim)
        return PE_OK;
    out->head_dim = h->fact->full_head_dim;
    return hf_int(h, &out->head_dim, "global_head_dim", 0);
}

/* ---------------------------------------------------------------- lengths */

/* Layers that see everything say what the lengths are; where none turns or there is none, those with a window. */
typedef enum settling { NOT_YET = 0, BY_A_WINDOW, BY_A_FULL_LAYER } settling;

static pe_status settle_lengths(hf_part *h, const hf_turning *t)
{
    zoo_part *p = h->part;
    double original = NAN, factor = NAN;
    p->trained = p->served = h->length;
    ZOO_TRY(hf_original_length(h, t, &original));
    ZOO_TRY(io_json_real(&factor, &t->dict, "factor", IO_OPTIONAL, h->b->err));
    bool dynamic = !strcmp(t->how, "dynamic"), linear = !strcmp(t->how, "linear"), ntk = !strcmp(t->how, "ntk");
    if (dynamic && factor >= 1 && factor * (double)h->length < 0x1p36)
        p->served = (int64_t)(factor * (double)h->length);
    if (linear || ntk)
        p->trained = 0;
    if (!isnan(original) && strcmp(t->how, "none") && !dynamic && original >= 1 && original <= 0x1p36)
        p->trained = (int64_t)original;
    if (h->b->options->trained)
        p->trained = h->b->options->trained;
    if ((linear || ntk) && !p->trained)
        return zoo_note_add(
            h->b, ZOO_FACT, "max_position_embeddings", "",
            "no key gives the trained length: with scaling %s max_position_embeddings may be the length "
            "before or after it; --trained N says it",
            t->how);
    if (!strcmp(t->how, "yarn") && factor > 1 && p->trained && p->trained == p->served)
        return zoo_note_add(h->b, ZOO_WARNING, "max_position_embeddings", "transformers modeling_rope_utils.py",
                            "yarn by %s of %" PRId64 " reaches %s, but max_position_embeddings says %" PRId64,
                            zoo_number(factor).text, p->trained, zoo_number(factor * (double)p->trained).text,
                            p->served);
    return PE_OK;
}

/* ---------------------------------------------------------------- all layers */

/* Layers that were given the same spec before. */
typedef struct seen {
    hf_layer layer;
    int64_t first;
} seen;

static bool alike(const hf_layer *a, const hf_layer *b)
{
    return !strcmp(a->kind, b->kind) && a->theta == b->theta && a->share == b->share && a->turns == b->turns &&
           a->attends == b->attends;
}

static pe_status set_layer(hf_part *h, const io_node *all, const hf_layer *l, zoo_spec *spec, settling *settled)
{
    hf_turning t = { .how = "none" };
    pe_shape shape;
    ZOO_TRY(shape_of(h, l, &shape));
    if (l->turns && l->attends)
        ZOO_TRY(choose(h, all, l->kind, &t));
    if (!l->attends || t.off)
        zoo_spec_start(spec, "none");
    else if (!l->turns)
        ZOO_TRY(still_spec(h, spec));
    else
        ZOO_TRY(write_spec(h, l, &t, spec));
    if (l->turns && l->attends && !t.local && (*settled == NOT_YET || (*settled == BY_A_WINDOW && !l->window))) {
        *settled = l->window ? BY_A_WINDOW : BY_A_FULL_LAYER;
        ZOO_TRY(settle_lengths(h, &t));
    }
    if (spec->full)
        return io_fail(h->b->err, PE_ERR_FORMAT, "%s: the parameters of layer %" PRId64 " are too long",
                       h->b->model.path, l->index);
    return zoo_set_layer(h->b, h->part, l->index, spec->text, shape, l->kind, l->window);
}

static pe_status read_layers(hf_part *h, const io_node *all)
{
    seen known[ZOO_GROUPS_MAX];
    int count = 0;
    settling settled = NOT_YET;
    hf_layers layers;
    ZOO_TRY(hf_layers_start(&layers, h));
    for (int64_t n = 0; n < h->part->layers; n++) {
        hf_layer l;
        int i = 0;
        ZOO_TRY(hf_layers_next(&layers, h, &l));
        while (i < count && !alike(&known[i].layer, &l))
            i++;
        if (i < count) {
            zoo_same_layer(h->part, n, known[i].first, l.window);
            continue;
        }
        if (count == ZOO_GROUPS_MAX)
            return io_fail(h->b->err, PE_ERR_FORMAT, "%s: has more than %d kinds of layers", h->b->model.path,
                           ZOO_GROUPS_MAX);
        ZOO_TRY(set_layer(h, all, &l, h->b->spec, &settled));
        known[count++] = (seen){ l, n };
    }
    return PE_OK;
}

/* The default of the config's class, where the config has no parameters at all. */
static pe_status read_default(hf_part *h)
{
    io_node root;
    ZOO_TRY(zoo_note_add(h->b, ZOO_FACT, "rope_parameters", h->source,
                         "rope_parameters is not in the config; %s's default is %s", h->fact->type, h->fact->dict));
    ZOO_TRY(io_json_parse(&root, h->fact->type, h->fact->dict, strlen(h->fact->dict), h->b->err));
    pe_status s = read_layers(h, &root);
    io_json_free(&root);
    return s;
}

pe_status hf_rope(hf_part *h)
{
    io_node all;
    bool on;
    ZOO_TRY(hf_measure(h));
    ZOO_TRY(hf_is_on(h, &on));
    if (!on)
        return hf_all_layers(h, "none");
    ZOO_TRY(find_dict(h, &all));
    return !all.json && h->fact->dict ? read_default(h) : read_layers(h, &all);
}
