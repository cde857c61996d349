/* SPDX-License-Identifier: MIT
 *
 * The rotary part of a config: rope_parameters, or rope_scaling as it was called before, or keys beside them, as one
 * spec for each layer. The meaning of each key is that of transformers' modeling_rope_utils.py; hf_scaling.c reads the
 * scaling. */
#include "zoo/hf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THETA                                                                                                          \
    "rope_theta|rotary_emb_base|global_rope_theta|rope_global_theta|rope_theta_global|rotary_base|rope_base|rotary_"   \
    "embedding_base"
#define LOCAL "rope_local_base_freq|local_rope_theta|swa_rope_theta|rope_theta_local|rope_swa_theta"
#define SHARE "partial_rotary_factor|rotary_pct|rope_pct|rope_percent|rotary_percent|rotary_emb_fraction"
#define WIDTH "rotary_dim|rotary_ndims|rope_dim"

/* ---------------------------------------------------------------- width */

static pe_status find_share(hf_part *h, const hf_rotation *t, double *share)
{
    const zoo_fact *f = h->fact;
    double local = t->local ? zoo_fact_number(f, "local_rotary_fraction") : 0;
    double fallback = local != 0 ? local : f->rotary_fraction;
    *share = NAN;
    TRY(io_json_real(share, &t->dict, "partial_rotary_factor", IO_OPTIONAL, h->b->err));
    if (h->share != 0)
        *share = h->share;
    if (isnan(*share))
        TRY(hf_real(h, share, SHARE, fallback != 1 ? fallback : 0));
    if (!isnan(*share) && !(*share > 0 && *share <= 1))
        return zoo_fail(
            h->b, PE_ERR_RANGE,
            "partial_rotary_factor is %s; needs more than 0 and at most 1, the share of a head that rotates",
            zoo_number(*share).text);
    return PE_OK;
}

/* The row's count of elements that rotate. */
static pe_status find_count(hf_part *h, int64_t *count)
{
    const zoo_fact *f = h->fact;
    const char *key = zoo_fact_word(f, "rotary_dims_key");
    if (key || h->guessed)
        TRY(hf_int(h, count, key ? key : WIDTH, (int64_t)zoo_fact_number(f, "rotary_dims")));
    if (f->rope_dim)
        TRY(hf_int(h, count, "qk_rope_head_dim", f->rope_dim));
    return PE_OK;
}

/* Elements that rotate: a count, a share, or all. transformers truncates; an odd count makes one element more rotate,
 * its exponents still over the odd number. */
static pe_status find_width(hf_part *h, hf_rotation *t, zoo_spec *spec)
{
    const zoo_fact *f = h->fact;
    int64_t head = h->shape.head_dim, dims = head, count = 0;
    double share;
    TRY(find_share(h, t, &share));
    TRY(find_count(h, &count));
    bool reads = f->rotary_fraction != 0;
    if (count)
        dims = count < head ? count : head;
    else if (!isnan(share) && reads && strcmp(t->how, "proportional"))
        dims = (int64_t)((double)head * share);
    else if (!isnan(share) && share != 1 && !reads && strcmp(t->how, "proportional"))
        TRY(zoo_note_add(h->b, ZOO_WARNING, "partial_rotary_factor", h->source,
                         "partial_rotary_factor is %s, but %s's code does not read it: the whole head rotates",
                         zoo_number(share).text, f->type));
    if (!strcmp(t->how, "proportional"))
        zoo_spec_real(spec, "turning", isnan(share) ? 1 : share);
    t->dims = dims + dims % 2;
    if (dims % 2)
        zoo_spec_word(spec, "denominator", "d-1");
    if (t->dims != head)
        zoo_spec_int(spec, "dims", t->dims);
    if (t->dims != head && f->rope_dim)
        zoo_spec_word(spec, "range", "trailing"); /* MLA: [nope | rope] */
    return PE_OK;
}

/* ---------------------------------------------------------------- base */

/* The base in the dict counts, whatever stands beside it. */
static pe_status check_theta(hf_part *h, double theta)
{
    double beside = theta;
    const char *own = zoo_fact_word(h->fact, "theta_key"), *key = own ? own : "rope_theta";
    TRY(hf_real(h, &beside, key, 0));
    if (beside == theta)
        return PE_OK;
    return zoo_note_add(h->b, ZOO_WARNING, key, "transformers modeling_rope_utils.py",
                        "%s is %s, but rope_parameters has rope_theta %s, which counts", key, zoo_number(beside).text,
                        zoo_number(theta).text);
}

static pe_status find_theta(hf_part *h, const hf_rotation *t, double own, zoo_spec *spec)
{
    const zoo_fact *f = h->fact;
    const char *theta_key = zoo_fact_word(f, "theta_key"), *local_key = zoo_fact_word(f, "local_theta_key");
    bool fixed = zoo_fact_word(f, "fixed_theta");
    double theta = own > 0 ? own : NAN;
    if (fixed)
        theta = f->theta;
    else if (isnan(theta) && !t->local)
        TRY(io_json_real(&theta, &t->dict, "rope_theta", IO_OPTIONAL, h->b->err));
    if (!isnan(theta) && !*t->label && own == 0 && !fixed)
        TRY(check_theta(h, theta));
    if (isnan(theta) && t->local && f->local_theta > 0)
        TRY(hf_real(h, &theta, local_key ? local_key : LOCAL, f->local_theta));
    if (isnan(theta))
        TRY(hf_real(h, &theta, theta_key ? theta_key : THETA, f->theta));
    if (h->b->options->theta > 0)
        theta = h->b->options->theta;
    if (isnan(theta)) {
        TRY(zoo_unknown(h->b, "rope_theta", "--theta 10000 (or what it is)", "10000", "no key gives the base"));
        theta = 10000;
    }
    zoo_spec_real(spec, "theta", theta);
    return PE_OK;
}

/* ---------------------------------------------------------------- axes */

static pe_status read_sections(hf_part *h, const hf_rotation *t, double x[PE_AXES_MAX], size_t *count)
{
    io_node list;
    *count = 0;
    TRY(io_json_array(&list, &t->dict, "mrope_section", IO_OPTIONAL, h->b->err));
    if (!list.json)
        TRY(io_json_array(&list, &t->dict, "xdrope_section", IO_OPTIONAL, h->b->err));
    for (io_node child = { 0 }; list.json && io_json_next(&child, &list); ++*count) {
        if (*count == PE_AXES_MAX)
            return zoo_fail(h->b, PE_ERR_SHAPE, "mrope_section has more than %d axes", PE_AXES_MAX);
        TRY(io_json_real(&x[*count], &child, NULL, IO_REQUIRED, h->b->err));
    }
    for (const char *s = *count ? NULL : zoo_fact_word(h->fact, "sections"); s && *s && *count < PE_AXES_MAX;) {
        x[(*count)++] = strtod(s, NULL);
        s = strchr(s, '/');
        if (s)
            s++;
    }
    return PE_OK;
}

/* Interleaved sections leave the first axis what is left over; the spec wants them to add up. */
static pe_status find_axes(hf_part *h, const hf_rotation *t, zoo_spec *spec)
{
    double x[PE_AXES_MAX], rest = 0;
    size_t count;
    const char *sections = zoo_fact_word(h->fact, "sections"), *split = zoo_fact_word(h->fact, "split");
    bool interleaved = split && !strcmp(split, "interleaved");
    TRY(read_sections(h, t, x, &count));
    if (!count || (!sections && !h->guessed))
        return count ? zoo_note_add(h->b, ZOO_WARNING, "mrope_section", h->source,
                                    "mrope_section is there, but %s's code does not read it", h->fact->type)
                     : PE_OK;
    TRY(io_json_bool(&interleaved, &t->dict, "mrope_interleaved", IO_OPTIONAL, h->b->err));
    int64_t pairs = t->dims / 2, axes = (int64_t)count;
    for (int64_t n = 1; interleaved && n < axes; n++) {
        double most = (double)((pairs - n + axes - 1) / axes); /* places n, n + axes, ... below pairs */
        x[n] = x[n] < most ? x[n] : most;
        rest += x[n];
    }
    if (interleaved)
        x[0] = (double)pairs - rest;
    zoo_spec_word(spec, "split", interleaved ? "interleaved" : split ? split : "chunked");
    zoo_spec_int(spec, "axes", (int64_t)count);
    zoo_spec_list(spec, "sections", x, count);
    if (sections && !*sections) /* HunYuan-VL */
        return zoo_note_add(h->b, ZOO_WARNING, "mrope_section", h->source,
                            ZOO_TRANSFORMERS_READ
                            " doubles each section and so takes the two elements of a pair from "
                            "different axes, which is no rotation; the spec is what vLLM does (layers/rotary_embedding/"
                            "xdrope.py), and for text both are the same");
    return PE_OK;
}

/* ---------------------------------------------------------------- what multiplies */

static pe_status find_gains(hf_part *h, const hf_rotation *t, zoo_spec *spec)
{
    double all = 0, factor = NAN, beta = 0, original;
    TRY(io_json_real(&all, &t->dict, "mscale_all_dim", IO_OPTIONAL, h->b->err));
    TRY(io_json_real(&factor, &t->dict, "factor", IO_OPTIONAL, h->b->err));
    TRY(io_json_real(&beta, &t->dict, "llama_4_scaling_beta", IO_OPTIONAL, h->b->err));
    if (h->fact->rope_dim && zoo_fact_word(h->fact, "softmax_mscale") && all != 0 && factor > 1 &&
        strcmp(t->how, "none")) {
        double g = 0.1 * all * log(factor) + 1;
        zoo_spec_real(spec, "softmax", g * g);
    }
    if (beta == 0)
        return PE_OK;
    TRY(hf_original_length(h, t, &original));
    zoo_spec_real(spec, "temperature", beta);
    zoo_spec_real(spec, "floor", original);
    return PE_OK;
}

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
    const char *labels = zoo_fact_word(f, "labels");
    const char *cut = labels && strstr(kind, "attention") ? strchr(labels, '|') : NULL;
    if (!cut)
        snprintf(out, 64, "%s", *kind ? kind : "full_attention");
    else if (strcmp(kind, "sliding_attention"))
        snprintf(out, 64, "%s", cut + 1);
    else
        snprintf(out, 64, "%.*s", (int)(cut - labels), labels);
}

/* rope_scaling wins over rope_parameters where both say something, as in transformers. */
static pe_status find_dict(hf_part *h, io_node *out)
{
    io_node older;
    TRY(io_json_object(out, h->config, "rope_parameters", IO_OPTIONAL, h->b->err));
    TRY(io_json_object(&older, h->config, "rope_scaling", IO_OPTIONAL, h->b->err));
    if (!older.json || io_json_next(&(io_node){ 0 }, &older) == false)
        return PE_OK;
    if (out->json)
        TRY(zoo_note_add(h->b, ZOO_WARNING, "rope_scaling", "transformers modeling_rope_utils.py",
                         "both rope_scaling and rope_parameters are there; rope_scaling counts"));
    *out = older;
    return PE_OK;
}

static pe_status choose(hf_part *h, const io_node *all, const char *kind, hf_rotation *t)
{
    *t = (hf_rotation){ .dict = *all, .how = "none" };
    if (all->json && is_dict_of_dicts(all)) {
        label_of(h->fact, kind, t->label);
        if (!io_json_get(&t->dict, all, t->label))
            return zoo_fail(h->b, PE_ERR_FORMAT, "rope_parameters has nothing for %s layers", t->label);
        t->off = io_json_kind_of(&t->dict) == IO_JSON_NULL;
        return PE_OK;
    }
    bool two = h->fact->local_theta > 0 || zoo_fact_word(h->fact, "local_unscaled");
    t->local = two && (!strcmp(kind, "sliding_attention") || !strcmp(kind, "hybrid_sliding"));
    if (t->local)
        t->dict.json = NULL; /* one dict for a model with two bases: it is that of the full layers */
    return PE_OK;
}

/* ---------------------------------------------------------------- one layer */

static pe_status put_pairs(hf_part *h, zoo_spec *spec)
{
    const char *pairs = h->fact->pairs;
    bool interleave, neox;
    TRY(hf_flag(h, &interleave, "rope_interleave", true));
    TRY(hf_flag(h, &neox, "rope_is_neox_style", true));
    if (!interleave && !strcmp(pairs, "adjacent-half"))
        pairs = "half";
    if (!neox)
        pairs = "adjacent"; /* SGLang models/xverse.py, exaone.py */
    zoo_spec_word(spec, "pairs", h->b->options->pairs ? h->b->options->pairs : pairs);
    return PE_OK;
}

static pe_status write_spec(hf_part *h, const hf_layer *l, hf_rotation *t, zoo_spec *spec)
{
    TRY(hf_find_scaling(h, t));
    zoo_spec_start(spec, "rope");
    TRY(put_pairs(h, spec));
    TRY(find_theta(h, t, l->theta, spec));
    TRY(find_width(h, t, spec));
    TRY(find_axes(h, t, spec));
    if (strcmp(t->how, "none"))
        TRY(hf_scale(h, t, spec));
    else if (!t->unscaled)
        TRY(hf_take_keys(h, t, spec));
    TRY(find_gains(h, t, spec));
    zoo_spec_raw(spec, h->fact->spec);
    return PE_OK;
}

/* Llama 4's layers without rotation warm their queries up instead. */
static pe_status unrotated_spec(hf_part *h, zoo_spec *spec)
{
    bool tuned = false;
    double scale_by = 0.1;
    int64_t floor_scale = 8192;
    zoo_spec_start(spec, "none");
    if (!zoo_fact_word(h->fact, "query_temperature"))
        return PE_OK;
    TRY(hf_flag(h, &tuned, "attn_temperature_tuning", true));
    if (!tuned)
        return PE_OK;
    TRY(hf_real(h, &scale_by, "attn_scale", 0.1));
    TRY(hf_int(h, &floor_scale, "floor_scale", 8192));
    zoo_spec_start(spec, "rope");
    zoo_spec_word(spec, "dims", "0");
    zoo_spec_real(spec, "temperature", scale_by);
    zoo_spec_int(spec, "floor", floor_scale);
    zoo_spec_word(spec, "shift", "1");
    return PE_OK;
}

static pe_status shape_of(hf_part *h, const hf_layer *l, pe_shape *out)
{
    int64_t full = (int64_t)zoo_fact_number(h->fact, "full_head_dim");
    *out = h->shape;
    if (l->kv_heads)
        out->kv_heads = l->kv_heads;
    if (!full || strcmp(l->kind, "full_attention") || h->b->options->head_dim)
        return PE_OK;
    out->head_dim = full;
    return hf_int(h, &out->head_dim, "global_head_dim", 0);
}

/* ---------------------------------------------------------------- lengths */

/* Layers that see everything say what the lengths are; where none rotates or there is none, those with a window. */
typedef enum settling { NOT_YET = 0, BY_A_WINDOW, BY_A_FULL_LAYER } settling;

/* Qwen2.5-1M: max_position_embeddings is what dual chunk attention serves; training had the length beside the chunks. */
static pe_status settle_chunks(hf_part *h)
{
    io_node chunks;
    double trained = NAN;
    if (!io_json_get(&chunks, h->config, "dual_chunk_attention_config") ||
        io_json_kind_of(&chunks) != IO_JSON_OBJECT)
        return PE_OK;
    TRY(io_json_real(&trained, &chunks, "original_max_position_embeddings", IO_OPTIONAL, h->b->err));
    if (!(trained >= 1 && trained < (double)h->length))
        return PE_OK;
    h->part->trained = (int64_t)trained;
    return zoo_note_add(h->b, ZOO_WARNING, "dual_chunk_attention_config",
                        "Qwen/Qwen3-235B-A22B-Instruct-2507 README.md",
                        "trained at %" PRId64
                        " positions, and served at more only with dual chunk attention, which no spec says: sglang "
                        "--attention-backend dual_chunk_flash_attn; in vllm VLLM_ATTENTION_BACKEND="
                        "DUAL_CHUNK_FLASH_ATTN, where VLLM_USE_V1=0 still works",
                        h->part->trained);
}

static pe_status settle_lengths(hf_part *h, const hf_rotation *t)
{
    zoo_part *p = h->part;
    double original = NAN, factor = NAN;
    p->trained = p->served = h->length;
    TRY(hf_original_length(h, t, &original));
    TRY(io_json_real(&factor, &t->dict, "factor", IO_OPTIONAL, h->b->err));
    bool dynamic = !strcmp(t->how, "dynamic"), linear = !strcmp(t->how, "linear"), ntk = !strcmp(t->how, "ntk");
    if (dynamic && factor >= 1 && factor * (double)h->length < 0x1p36)
        p->served = (int64_t)(factor * (double)h->length);
    if (linear || ntk)
        p->trained = 0;
    if (!isnan(original) && strcmp(t->how, "none") && !dynamic && original >= 1 && original <= 0x1p36)
        p->trained = (int64_t)original;
    if (!strcmp(t->how, "none"))
        TRY(settle_chunks(h));
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

static bool alike_layers(const hf_layer *a, const hf_layer *b)
{
    return !strcmp(a->kind, b->kind) && a->theta == b->theta && a->share == b->share && a->unscaled == b->unscaled &&
           a->kv_heads == b->kv_heads && a->rotates == b->rotates && a->attends == b->attends;
}

static pe_status set_layer(hf_part *h, const io_node *all, const hf_layer *l, zoo_spec *spec, settling *settled)
{
    hf_rotation t = { .how = "none" };
    pe_shape shape;
    TRY(shape_of(h, l, &shape));
    if (l->rotates && l->attends)
        TRY(choose(h, all, l->kind, &t));
    t.unscaled = l->unscaled;
    if (!l->attends || t.off)
        zoo_spec_start(spec, "none");
    else if (!l->rotates)
        TRY(unrotated_spec(h, spec));
    else
        TRY(write_spec(h, l, &t, spec));
    if (l->rotates && l->attends && !t.local && !t.unscaled &&
        (*settled == NOT_YET || (*settled == BY_A_WINDOW && !l->window))) {
        *settled = l->window ? BY_A_WINDOW : BY_A_FULL_LAYER;
        TRY(settle_lengths(h, &t));
    }
    if (spec->full)
        return zoo_fail(h->b, PE_ERR_FORMAT, "the parameters of layer %" PRId64 " are too long", l->index);
    return zoo_set_layer(h->b, h->part, l->index, spec->text, shape, l->kind, l->window);
}

static pe_status read_layers(hf_part *h, const io_node *all)
{
    seen known[ZOO_GROUPS_MAX];
    int count = 0;
    settling settled = NOT_YET;
    hf_layers layers;
    TRY(hf_layers_start(&layers, h));
    for (int64_t n = 0; n < h->part->layers; n++) {
        hf_layer l;
        int i = 0;
        TRY(hf_layers_next(&layers, h, &l));
        while (i < count && !alike_layers(&known[i].layer, &l))
            i++;
        if (i < count) {
            zoo_same_layer(h->part, n, known[i].first, l.window);
            continue;
        }
        if (count == ZOO_GROUPS_MAX)
            return zoo_fail(h->b, PE_ERR_FORMAT, "has more than %d kinds of layers", ZOO_GROUPS_MAX);
        TRY(set_layer(h, all, &l, h->b->spec, &settled));
        known[count++] = (seen){ l, n };
    }
    return PE_OK;
}

/* "{rope_type:yarn,factor:32}" as JSON: its words in quotes. */
static const char *quote_words(zoo_builder *b, const char *text)
{
    char json[512];
    size_t used = 0;
    for (size_t n; *text; text += n) {
        n = strspn(text, "abcdefghijklmnopqrstuvwxyz_0123456789.");
        bool quoted = n && strchr("0123456789", *text) == NULL && strncmp(text, "true", n) && strncmp(text, "false", n);
        n = n ? n : 1;
        if (used + n + 3 > sizeof json)
            return NULL;
        used += (size_t)snprintf(json + used, sizeof json - used, quoted ? "\"%.*s\"" : "%.*s", (int)n, text);
    }
    return zoo_text(b, "%s", json);
}

/* The default of the config's class, where the config has no parameters at all. */
static pe_status read_default(hf_part *h, const char *words)
{
    io_node root;
    const char *json = quote_words(h->b, words);
    if (!json)
        return PE_ERR_NOMEM;
    TRY(zoo_note_add(h->b, ZOO_FACT, "rope_parameters", h->source,
                     "rope_parameters is not in the config; %s's default is %s", h->fact->type, json));
    TRY(io_json_parse(&root, h->fact->type, json, strlen(json), h->b->err));
    pe_status s = read_layers(h, &root);
    io_json_free(&root);
    return s;
}

pe_status hf_rope(hf_part *h)
{
    io_node all;
    bool on;
    TRY(hf_measure(h));
    const char *sinks = zoo_fact_word(h->fact, "sinks");
    if (sinks)
        TRY(zoo_note_add(h->b, ZOO_FACT, "", h->source,
                         "heads of %s have a trained sink, a logit of the softmax that belongs to no key, which the "
                         "spec does not say",
                         strcmp(sinks, "all") ? "layers with a window" : "all layers"));
    if (zoo_fact_word(h->fact, "unit_scale"))
        TRY(zoo_note_add(h->b, ZOO_FACT, "", h->source,
                         "its scores are not divided by the square root of the head dimension: their scale is 1, "
                         "which the spec does not say"));
    TRY(hf_is_on(h, &on));
    if (!on)
        return hf_all_layers(h, "none");
    TRY(hf_tower_table(h));
    TRY(find_dict(h, &all));
    const char *parameters = zoo_fact_word(h->fact, "rope_parameters");
    return !all.json && parameters ? read_default(h, parameters) : read_layers(h, &all);
}
