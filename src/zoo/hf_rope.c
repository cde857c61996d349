/* SPDX-License-Identifier: MIT
 *
 * The rotary part of a config: rope_parameters, or rope_scaling as it was called before, or keys beside them, as one
 * spec for each layer. The meaning of each key is that of transformers' modeling_rope_utils.py. */
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

/* What turns one kind of layer. */
typedef struct turning {
    io_node dict;    /* its own parameters; json NULL: there are none */
    char label[64];  /* of the dict among others; "" */
    const char *how; /* scaling, in our words */
    bool local;      /* a sliding layer of a model with two bases */
    bool off;        /* null in the config: does not turn */
    int64_t dims;    /* elements that turn */
} turning;

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

static pe_status choose(hf_part *h, const io_node *all, const char *kind, turning *t)
{
    *t = (turning){ .dict = *all, .how = "none" };
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

/* ---------------------------------------------------------------- scaling */

static const struct {
    const char *theirs, *ours;
} scalings[] = {
    { "default", "none" },
    { "mrope", "none" },
    { "axial", "none" },
    { "none", "none" },
    { "linear", "linear" },
    { "dynamic", "dynamic" },
    { "ntk", "ntk" },
    { "yarn", "yarn" },
    { "deepseek_yarn", "yarn" },
    { "longrope", "longrope" },
    { "su", "longrope" },
    { "llama3", "llama3" },
    { "proportional", "proportional" },
    { "xdrope", "ntk" },
};

static pe_status find_scaling(hf_part *h, turning *t)
{
    const char *type = NULL, *older = NULL;
    io_node n;
    ZOO_TRY(io_json_string(&type, &t->dict, "rope_type", IO_OPTIONAL, h->b->err));
    ZOO_TRY(io_json_string(&older, &t->dict, "type", IO_OPTIONAL, h->b->err));
    if (type && older && strcmp(type, older) && strcmp(older, "mrope"))
        ZOO_TRY(zoo_note_add(h->b, ZOO_WARNING, "type", "transformers modeling_rope_utils.py",
                             "rope_type is %.30s and type is %.30s; rope_type counts", type, older));
    type = type ? type : older;
    if (!type && t->dict.json && io_json_get(&n, &t->dict, "factor"))
        ZOO_TRY(zoo_note_add(h->b, ZOO_WARNING, "rope_type", "transformers modeling_rope_utils.py",
                             "there is a factor but no rope_type: transformers takes default and ignores the factor"));
    t->how = type ? NULL : "none";
    for (size_t i = 0; type && i < sizeof scalings / sizeof *scalings; i++)
        if (!strcmp(type, scalings[i].theirs))
            t->how = scalings[i].ours;
    if (!t->how)
        return io_fail(h->b->err, PE_ERR_FORMAT,
                       "%s: rope_type is %.40s; needs default, linear, dynamic, yarn, longrope, llama3 or proportional",
                       h->b->model.path, type);
    if (!strcmp(t->how, "dynamic") && io_json_get(&n, &t->dict, "alpha") && io_json_kind_of(&n) != IO_JSON_NULL)
        t->how = "ntk"; /* HunYuan */
    return PE_OK;
}

/* Keys of the dict: what they become, and with which scaling. NULL: read elsewhere in this file. */
static const struct {
    const char *theirs, *ours, *with;
} keys[] = {
    { "factor", "factor", "linear dynamic yarn longrope llama3 proportional" },
    { "alpha", "alpha", "ntk" },
    { "beta_fast", "beta_fast", "yarn" },
    { "beta_slow", "beta_slow", "yarn" },
    { "mscale", "mscale", "yarn" },
    { "mscale_all_dim", "mscale_all_dim", "yarn" },
    { "attention_factor", "magnitude", "yarn longrope" },
    { "low_freq_factor", "low", "llama3" },
    { "high_freq_factor", "high", "llama3" },
    { "short_mscale", "short_magnitude", "longrope" },
    { "long_mscale", "long_magnitude", "longrope" },
    { "rope_type", NULL, "" },
    { "type", NULL, "" },
    { "rope_theta", NULL, "" },
    { "partial_rotary_factor", NULL, "" },
    { "original_max_position_embeddings", NULL, "" },
    { "max_position_embeddings", NULL, "" },
    { "short_factor", NULL, "longrope" },
    { "long_factor", NULL, "longrope" },
    { "truncate", NULL, "yarn" },
    { "mrope_section", NULL, "" },
    { "mrope_interleaved", NULL, "" },
    { "xdrope_section", NULL, "" },
    { "llama_4_scaling_beta", NULL, "" },
    { "finetuned", NULL, "" },
};

static bool applies(const char *with, const char *how)
{
    const char *at = *with ? strstr(with, how) : with;
    return at != NULL;
}

/* One key of the dict: renamed, read elsewhere, without effect here, or unknown. */
static pe_status take_key(hf_part *h, const turning *t, const io_node *child, zoo_spec *spec)
{
    double x = NAN;
    size_t i = 0, count = sizeof keys / sizeof *keys;
    while (i < count && strcmp(keys[i].theirs, child->key))
        i++;
    if (io_json_kind_of(child) == IO_JSON_NULL)
        return PE_OK;
    if (i == count)
        return zoo_unknown(h->b, child->key, "the config without it", "it as if it were not there",
                           "rope_parameters has a key %.60s that nothing reads", child->key);
    if (!applies(keys[i].with, t->how))
        return zoo_note_add(h->b, ZOO_WARNING, child->key, "transformers modeling_rope_utils.py",
                            "%s is there, but scaling %s does not read it", child->key, t->how);
    if (!keys[i].ours)
        return PE_OK;
    ZOO_TRY(io_json_real(&x, child, NULL, IO_REQUIRED, h->b->err));
    if (x != 0) /* transformers takes 0 for absent */
        zoo_spec_real(spec, keys[i].ours, x);
    return PE_OK;
}

static pe_status take_keys(hf_part *h, const turning *t, zoo_spec *spec)
{
    if (t->dict.json)
        for (io_node child = { 0 }; io_json_next(&child, &t->dict);)
            ZOO_TRY(take_key(h, t, &child, spec));
    return PE_OK;
}

static pe_status take_list(hf_part *h, const turning *t, const char *theirs, const char *ours, zoo_spec *spec)
{
    io_node list;
    double x[PE_HEAD_DIM_MAX];
    size_t n = 0;
    ZOO_TRY(io_json_array(&list, &t->dict, theirs, IO_REQUIRED, h->b->err));
    for (io_node child = { 0 }; io_json_next(&child, &list); n++) {
        if (n == PE_HEAD_DIM_MAX)
            return io_fail(h->b->err, PE_ERR_SHAPE, "%s: %s has more than %d numbers", h->b->model.path, theirs,
                           PE_HEAD_DIM_MAX);
        ZOO_TRY(io_json_real(&x[n], &child, NULL, IO_REQUIRED, h->b->err));
    }
    zoo_spec_list(spec, ours, x, n);
    return PE_OK;
}

/* The trained length: the part's own key comes first (Phi-3), then the dict's, then the length offered. */
static pe_status original_length(hf_part *h, const turning *t, double *out)
{
    *out = NAN;
    ZOO_TRY(io_json_real(out, &t->dict, "original_max_position_embeddings", IO_OPTIONAL, h->b->err));
    if (hf_has(h, "original_max_position_embeddings") && !*t->label)
        ZOO_TRY(hf_real(h, out, "original_max_position_embeddings", 0));
    return PE_OK;
}

static pe_status scale(hf_part *h, const turning *t, zoo_spec *spec)
{
    bool dynamic = !strcmp(t->how, "dynamic"), yarn = !strcmp(t->how, "yarn"), lists = !strcmp(t->how, "longrope");
    double original, factor = NAN, length = h->length ? (double)h->length : NAN;
    bool truncate = true;
    ZOO_TRY(original_length(h, t, &original));
    double trained = dynamic || isnan(original) ? length : original;
    if (h->b->options->trained)
        trained = (double)h->b->options->trained;
    zoo_spec_word(spec, "scaling", t->how);
    ZOO_TRY(take_keys(h, t, spec));
    if (dynamic || yarn || lists || !strcmp(t->how, "llama3"))
        zoo_spec_real(spec, "trained", trained);
    if ((dynamic || lists) && h->b->options->length)
        zoo_spec_int(spec, "length", h->b->options->length);
    ZOO_TRY(io_json_real(&factor, &t->dict, "factor", IO_OPTIONAL, h->b->err));
    if ((yarn || lists) && (isnan(factor) || factor == 0))
        zoo_spec_real(spec, "factor", length / trained);
    ZOO_TRY(io_json_bool(&truncate, &t->dict, "truncate", IO_OPTIONAL, h->b->err));
    if (yarn && !truncate)
        zoo_spec_word(spec, "truncate", "no");
    if (lists) {
        ZOO_TRY(take_list(h, t, "short_factor", "short", spec));
        ZOO_TRY(take_list(h, t, "long_factor", "long", spec));
    }
    return PE_OK;
}

/* ---------------------------------------------------------------- width */

/* Elements that turn: a count, a share, or all. transformers truncates; an odd count makes one element more turn, its
 * exponents still over the odd number. */
static pe_status find_width(hf_part *h, turning *t, zoo_spec *spec)
{
    const zoo_fact *f = h->fact;
    int64_t head = h->shape.head_dim, dims = head, count = 0;
    double share = NAN, fallback = t->local && f->local_fraction != 0 ? f->local_fraction : f->fraction;
    ZOO_TRY(io_json_real(&share, &t->dict, "partial_rotary_factor", IO_OPTIONAL, h->b->err));
    if (isnan(share))
        ZOO_TRY(hf_real(h, &share, SHARE, fallback != 1 ? fallback : 0));
    if (f->width_key || h->guessed)
        ZOO_TRY(hf_int(h, &count, f->width_key ? f->width_key : WIDTH, f->width));
    else if (hf_has(h, "rotary_dim"))
        ZOO_TRY(zoo_note_add(h->b, ZOO_WARNING, "rotary_dim", h->source,
                             "rotary_dim is there, but %s's code in transformers does not read it", f->type));
    if (f->rope_dim)
        ZOO_TRY(hf_int(h, &count, "qk_rope_head_dim", f->rope_dim));
    bool reads = f->partial || f->fraction != 0;
    if (count)
        dims = count < head ? count : head;
    else if (!isnan(share) && reads && strcmp(t->how, "proportional"))
        dims = (int64_t)((double)head * share);
    else if (!isnan(share) && share != 1 && !reads)
        ZOO_TRY(zoo_note_add(h->b, ZOO_WARNING, "partial_rotary_factor", h->source,
                             "partial_rotary_factor is %g, but %s's code does not read it: the whole head turns", share,
                             f->type));
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

static pe_status find_theta(hf_part *h, const turning *t, double own, zoo_spec *spec)
{
    const zoo_fact *f = h->fact;
    double theta = NAN;
    ZOO_TRY(io_json_real(&theta, &t->dict, "rope_theta", IO_OPTIONAL, h->b->err));
    if (isnan(theta) && t->local && f->local > 0)
        ZOO_TRY(hf_real(h, &theta, f->local_key ? f->local_key : LOCAL, f->local));
    if (isnan(theta))
        ZOO_TRY(hf_real(h, &theta, f->theta_key ? f->theta_key : THETA, f->theta));
    if (own > 0)
        theta = own;
    if (h->b->options->theta > 0)
        theta = h->b->options->theta;
    if (isnan(theta)) {
        ZOO_TRY(zoo_unknown(h->b, "rope_theta", "--theta 10000 (or what it is)", "10000", "no key gives the base"));
        theta = 10000;
    }
    zoo_spec_real(spec, "theta", theta);
    return PE_OK;
}

/* ---------------------------------------------------------------- axes */

static pe_status read_sections(hf_part *h, const turning *t, double x[PE_AXES_MAX], size_t *count)
{
    io_node list;
    *count = 0;
    ZOO_TRY(io_json_array(&list, &t->dict, "mrope_section", IO_OPTIONAL, h->b->err));
    if (!list.json)
        ZOO_TRY(io_json_array(&list, &t->dict, "xdrope_section", IO_OPTIONAL, h->b->err));
    for (io_node child = { 0 }; list.json && io_json_next(&child, &list); ++*count) {
        if (*count == PE_AXES_MAX)
            return io_fail(h->b->err, PE_ERR_SHAPE, "%s: mrope_section has more than %d axes", h->b->model.path,
                           PE_AXES_MAX);
        ZOO_TRY(io_json_real(&x[*count], &child, NULL, IO_REQUIRED, h->b->err));
    }
    for (const char *s = *count ? NULL : h->fact->sections; s && *count < PE_AXES_MAX;) {
        x[(*count)++] = strtod(s, NULL);
        s = strchr(s, '/');
        if (s)
            s++;
    }
    return PE_OK;
}

/* Interleaved sections leave the first axis what is left over; the spec wants them to add up. */
static pe_status find_axes(hf_part *h, const turning *t, zoo_spec *spec)
{
    double x[PE_AXES_MAX], rest = 0;
    size_t count;
    bool interleaved = h->fact->split && !strcmp(h->fact->split, "interleaved");
    ZOO_TRY(read_sections(h, t, x, &count));
    if (!count || (!h->fact->sections && !h->guessed))
        return count ? zoo_note_add(h->b, ZOO_WARNING, "mrope_section", h->source,
                                    "mrope_section is there, but %s's code does not read it", h->fact->type)
                     : PE_OK;
    ZOO_TRY(io_json_bool(&interleaved, &t->dict, "mrope_interleaved", IO_OPTIONAL, h->b->err));
    int64_t pairs = t->dims / 2, axes = (int64_t)count;
    for (int64_t n = 1; interleaved && n < axes; n++) {
        double most = (double)((pairs - n + axes - 1) / axes); /* places n, n + axes, ... below pairs */
        x[n] = x[n] < most ? x[n] : most;
        rest += x[n];
    }
    if (interleaved)
        x[0] = (double)pairs - rest;
    zoo_spec_word(spec, "split", interleaved ? "interleaved" : h->fact->split ? h->fact->split : "chunked");
    zoo_spec_int(spec, "axes", (int64_t)count);
    zoo_spec_list(spec, "sections", x, count);
    return PE_OK;
}

/* ---------------------------------------------------------------- what multiplies */

static pe_status find_gains(hf_part *h, const turning *t, zoo_spec *spec)
{
    double all = 0, factor = NAN, beta = 0, original;
    ZOO_TRY(io_json_real(&all, &t->dict, "mscale_all_dim", IO_OPTIONAL, h->b->err));
    ZOO_TRY(io_json_real(&factor, &t->dict, "factor", IO_OPTIONAL, h->b->err));
    ZOO_TRY(io_json_real(&beta, &t->dict, "llama_4_scaling_beta", IO_OPTIONAL, h->b->err));
    if (h->fact->mscale && all != 0 && factor > 1 && strcmp(t->how, "none")) {
        double g = 0.1 * all * log(factor) + 1;
        zoo_spec_real(spec, "softmax", g * g);
    }
    if (beta == 0)
        return PE_OK;
    ZOO_TRY(original_length(h, t, &original));
    zoo_spec_real(spec, "temperature", beta);
    zoo_spec_real(spec, "floor", original);
    return PE_OK;
}

/* ---------------------------------------------------------------- one layer */

static const char *pairs_of(hf_part *h, bool *interleave)
{
    const zoo_fact *f = h->fact;
    bool neox = true;
    *interleave = true;
    hf_flag(h, interleave, "rope_interleave", true);
    hf_flag(h, &neox, "rope_is_neox_style", true);
    if (h->b->options->pairs)
        return h->b->options->pairs;
    if (!neox)
        return "adjacent"; /* SGLang models/xverse.py, exaone.py */
    if (f->pairs && !strcmp(f->pairs, "adjacent-half") && !*interleave)
        return "half";
    return f->pairs ? f->pairs : "half";
}

static pe_status write_spec(hf_part *h, const hf_layer *l, turning *t, zoo_spec *spec)
{
    bool interleave;
    ZOO_TRY(find_scaling(h, t));
    zoo_spec_start(spec, "rope");
    zoo_spec_word(spec, "pairs", pairs_of(h, &interleave));
    ZOO_TRY(find_theta(h, t, l->theta, spec));
    ZOO_TRY(find_width(h, t, spec));
    ZOO_TRY(find_axes(h, t, spec));
    if (strcmp(t->how, "none"))
        ZOO_TRY(scale(h, t, spec));
    else
        ZOO_TRY(take_keys(h, t, spec));
    ZOO_TRY(find_gains(h, t, spec));
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
    if (!h->fact->interval || strcmp(h->fact->type, "llama4_text"))
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

static pe_shape shape_of(const hf_part *h, const hf_layer *l)
{
    pe_shape s = h->shape;
    if (h->fact->full_head_dim && !strcmp(l->kind, "full_attention") && !h->b->options->head_dim) {
        int64_t wide = h->fact->full_head_dim;
        hf_int((hf_part *)h, &wide, "global_head_dim", 0);
        s.head_dim = wide;
    }
    return s;
}

/* ---------------------------------------------------------------- lengths */

/* Layers that see everything say what the lengths are; where none turns or there is none, those with a window. */
typedef enum settling { NOT_YET = 0, BY_A_WINDOW, BY_A_FULL_LAYER } settling;

static pe_status settle_lengths(hf_part *h, const turning *t)
{
    zoo_part *p = h->part;
    double original = NAN, factor = NAN;
    p->trained = p->served = h->length;
    ZOO_TRY(original_length(h, t, &original));
    ZOO_TRY(io_json_real(&factor, &t->dict, "factor", IO_OPTIONAL, h->b->err));
    bool dynamic = !strcmp(t->how, "dynamic"), linear = !strcmp(t->how, "linear"), ntk = !strcmp(t->how, "ntk");
    if (dynamic && factor * (double)h->length < 0x1p36)
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
                            "yarn by %g of %" PRId64 " reaches %.0f, but max_position_embeddings says %" PRId64, factor,
                            p->trained, factor * (double)p->trained, p->served);
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
    return !strcmp(a->kind, b->kind) && a->theta == b->theta && a->turns == b->turns && a->attends == b->attends;
}

static pe_status set_layer(hf_part *h, const io_node *all, const hf_layer *l, zoo_spec *spec, settling *settled)
{
    turning t = { .how = "none" };
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
    return zoo_set_layer(h->b, h->part, l->index, spec->text, shape_of(h, l), l->kind, l->window);
}

static pe_status read_layers(hf_part *h, const io_node *all)
{
    seen known[ZOO_GROUPS_MAX];
    int count = 0;
    settling settled = NOT_YET;
    hf_layers layers;
    zoo_spec *spec = zoo_alloc(h->b, 1, sizeof *spec);
    if (!spec)
        return PE_ERR_NOMEM;
    ZOO_TRY(hf_layers_start(&layers, h));
    for (int64_t n = 0; n < h->part->layers; n++) {
        hf_layer l;
        int i = 0;
        ZOO_TRY(hf_layers_next(&layers, h, &l));
        while (i < count && !alike(&known[i].layer, &l))
            i++;
        if (i < count) {
            ZOO_TRY(zoo_same_layer(h->b, h->part, n, known[i].first, l.window));
            continue;
        }
        if (count == ZOO_GROUPS_MAX)
            return io_fail(h->b->err, PE_ERR_FORMAT, "%s: has more than %d kinds of layers", h->b->model.path,
                           ZOO_GROUPS_MAX);
        ZOO_TRY(set_layer(h, all, &l, spec, &settled));
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
