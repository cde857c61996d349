/* SPDX-License-Identifier: MIT
 *
 * rope_parameters, or rope_scaling as it was called before: which scaling, by which numbers. The meaning of each key is
 * that of transformers' modeling_rope_utils.py. */
#include "zoo/hf.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ModernBERT's one dict scales both kinds of layers; only the base is another. */
static pe_status share_dict(hf_part *h, hf_rotation *t)
{
    io_node at;
    const char *local_key = zoo_fact_word(h->fact, "local_theta_key");
    if (!t->local || !zoo_fact_word(h->fact, "local_scaled"))
        return PE_OK;
    TRY(io_json_object(&t->dict, h->config, "rope_scaling", IO_OPTIONAL, h->b->err));
    if (!t->dict.json || !io_json_next(&(io_node){ 0 }, &t->dict))
        TRY(io_json_object(&t->dict, h->config, "rope_parameters", IO_OPTIONAL, h->b->err));
    if (t->dict.json && io_json_get(&at, &t->dict, "rope_theta") && io_json_kind_of(&at) != IO_JSON_NULL)
        return zoo_note_add(h->b, ZOO_WARNING, "rope_theta", h->source,
                            "rope_theta is in the one dict of both kinds of layers: it is that of full ones here, and "
                            "%s has that of others",
                            local_key ? local_key : "local_rope_theta");
    return PE_OK;
}

/* Phi-3-small (SGLang models/phi3_small.py). */
static pe_status find_factor(hf_part *h, hf_rotation *t, const char *key)
{
    t->factor = 1;
    TRY(hf_real(h, &t->factor, key, 0));
    t->how = t->factor == 1 ? "none" : "linear";
    return PE_OK;
}

pe_status hf_find_scaling(hf_part *h, hf_rotation *t)
{
    const char *type = NULL, *older = NULL, *factor_key = zoo_fact_word(h->fact, "linear_factor_key");
    io_node n;
    if (zoo_fact_word(h->fact, "fixed_theta"))
        t->dict.json = NULL; /* hf.c says that it is not read */
    TRY(share_dict(h, t));
    TRY(io_json_string(&type, &t->dict, "rope_type", IO_OPTIONAL, h->b->err));
    TRY(io_json_string(&older, &t->dict, "type", IO_OPTIONAL, h->b->err));
    if (type && older && strcmp(type, older) && strcmp(older, "mrope"))
        TRY(zoo_note_add(h->b, ZOO_WARNING, "type", "transformers modeling_rope_utils.py",
                         "rope_type is %.30s and type is %.30s; rope_type counts", type, older));
    type = type ? type : older;
    if (!type && t->dict.json && io_json_get(&n, &t->dict, "factor"))
        TRY(zoo_note_add(h->b, ZOO_WARNING, "rope_type", "transformers modeling_rope_utils.py",
                         "there is a factor but no rope_type: transformers takes default and ignores the factor"));
    if (t->unscaled) {
        t->how = "none";
        return PE_OK;
    }
    if (factor_key && !t->dict.json)
        return find_factor(h, t, factor_key);
    t->how = type ? NULL : "none";
    for (size_t i = 0; type && i < sizeof scalings / sizeof *scalings; i++)
        if (!strcmp(type, scalings[i].theirs))
            t->how = scalings[i].ours;
    if (!t->how)
        return zoo_fail(h->b, PE_ERR_FORMAT,
                        "rope_type is %.40s; needs default, linear, dynamic, yarn, longrope, llama3 or proportional",
                        type);
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
    { "interleaved", NULL, "" }, /* Qwen3-Omni and Qwen3-ASR, beside mrope_interleaved */
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
static pe_status take_key(hf_part *h, const hf_rotation *t, const io_node *child, zoo_spec *spec)
{
    double x = NAN;
    size_t i = 0, count = sizeof keys / sizeof *keys;
    while (i < count && strcmp(keys[i].theirs, child->key))
        i++;
    if (io_json_kind_of(child) == IO_JSON_NULL)
        return PE_OK;
    if (i == count)
        return zoo_unknown(h->b, child->key, "the config without it", "that it does nothing",
                           "rope_parameters has a key %.60s that nothing reads", child->key);
    if (!applies(keys[i].with, t->how))
        return zoo_note_add(h->b, ZOO_WARNING, child->key, "transformers modeling_rope_utils.py",
                            "%s is there, but scaling %s does not read it", child->key, t->how);
    if (!keys[i].ours)
        return PE_OK;
    TRY(io_json_real(&x, child, NULL, IO_REQUIRED, h->b->err));
    if (x != 0 || !strcmp(keys[i].ours, "factor")) /* transformers takes 0 for absent, but not as the factor */
        zoo_spec_real(spec, keys[i].ours, x);
    return PE_OK;
}

pe_status hf_take_keys(hf_part *h, const hf_rotation *t, zoo_spec *spec)
{
    if (t->dict.json)
        for (io_node child = { 0 }; io_json_next(&child, &t->dict);)
            TRY(take_key(h, t, &child, spec));
    return PE_OK;
}

static pe_status take_list(hf_part *h, const hf_rotation *t, const char *theirs, const char *ours, zoo_spec *spec)
{
    io_node list;
    double x[PE_HEAD_DIM_MAX];
    size_t n = 0;
    TRY(io_json_array(&list, &t->dict, theirs, IO_REQUIRED, h->b->err));
    for (io_node child = { 0 }; io_json_next(&child, &list); n++) {
        if (n == PE_HEAD_DIM_MAX)
            return zoo_fail(h->b, PE_ERR_SHAPE, "%s has more than %d numbers", theirs, PE_HEAD_DIM_MAX);
        TRY(io_json_real(&x[n], &child, NULL, IO_REQUIRED, h->b->err));
    }
    zoo_spec_list(spec, ours, x, n);
    return PE_OK;
}

/* The trained length: the part's own key comes first (Phi-3), then the dict's, then the length offered. */
pe_status hf_original_length(hf_part *h, const hf_rotation *t, double *out)
{
    *out = NAN;
    TRY(io_json_real(out, &t->dict, "original_max_position_embeddings", IO_OPTIONAL, h->b->err));
    if (hf_has(h, "original_max_position_embeddings") && !*t->label)
        TRY(hf_real(h, out, "original_max_position_embeddings", 0));
    return PE_OK;
}

/* transformers reads these without a default. */
static pe_status check_llama3(hf_part *h, const hf_rotation *t)
{
    static const char *const needed[] = { "factor", "low_freq_factor", "high_freq_factor" };
    double original = NAN;
    io_node at;
    for (size_t n = 0; n < sizeof needed / sizeof *needed; n++)
        if (!io_json_get(&at, &t->dict, needed[n]) || io_json_kind_of(&at) == IO_JSON_NULL)
            return zoo_fail(h->b, PE_ERR_FORMAT,
                            "%s is missing; llama3 needs factor, low_freq_factor, high_freq_factor and "
                            "original_max_position_embeddings",
                            needed[n]);
    TRY(hf_original_length(h, t, &original));
    if (isnan(original))
        return zoo_fail(h->b, PE_ERR_FORMAT,
                        "original_max_position_embeddings is missing; llama3 needs it, beside factor, "
                        "low_freq_factor and high_freq_factor");
    return PE_OK;
}

static pe_status check_scaling(hf_part *h, const hf_rotation *t, double original)
{
    if (!strcmp(t->how, "llama3"))
        return check_llama3(h, t);
    if (!strcmp(t->how, "yarn") && h->length && original > (double)h->length)
        return zoo_note_add(h->b, ZOO_WARNING, "original_max_position_embeddings",
                            "transformers modeling_rope_utils.py",
                            "original_max_position_embeddings is %s, more than max_position_embeddings, %" PRId64,
                            zoo_number(original).text, h->length);
    return PE_OK;
}

/* DeepSeek-V4's class says 1 for a dict without attention_factor, unless each kind of layer has its own dict. */
static void put_magnitude(hf_part *h, const hf_rotation *t, zoo_spec *spec)
{
    io_node at;
    double own = zoo_fact_number(h->fact, "yarn_magnitude");
    bool said = io_json_get(&at, &t->dict, "attention_factor") && io_json_kind_of(&at) != IO_JSON_NULL;
    if (own != 0 && !said && !*t->label)
        zoo_spec_real(spec, "magnitude", own);
}

pe_status hf_scale(hf_part *h, const hf_rotation *t, zoo_spec *spec)
{
    bool dynamic = !strcmp(t->how, "dynamic"), yarn = !strcmp(t->how, "yarn"), lists = !strcmp(t->how, "longrope");
    double original, factor = NAN, length = h->length ? (double)h->length : NAN;
    bool truncate = true;
    TRY(hf_original_length(h, t, &original));
    TRY(check_scaling(h, t, original));
    double trained = dynamic || isnan(original) ? length : original;
    if (h->b->options->trained)
        trained = (double)h->b->options->trained;
    zoo_spec_word(spec, "scaling", t->how);
    TRY(hf_take_keys(h, t, spec));
    if (dynamic || yarn || lists || !strcmp(t->how, "llama3"))
        zoo_spec_real(spec, "trained", trained);
    if (t->factor != 0)
        zoo_spec_real(spec, "factor", t->factor);
    if ((dynamic || lists) && h->b->options->length)
        zoo_spec_int(spec, "length", h->b->options->length);
    TRY(io_json_real(&factor, &t->dict, "factor", IO_OPTIONAL, h->b->err));
    if ((yarn || lists) && (isnan(factor) || factor == 0))
        zoo_spec_real(spec, "factor", length / trained);
    TRY(io_json_bool(&truncate, &t->dict, "truncate", IO_OPTIONAL, h->b->err));
    if (yarn && !truncate)
        zoo_spec_word(spec, "truncate", "no");
    if (yarn)
        put_magnitude(h, t, spec);
    if (lists) {
        TRY(take_list(h, t, "short_factor", "short", spec));
        TRY(take_list(h, t, "long_factor", "long", spec));
    }
    return PE_OK;
}
