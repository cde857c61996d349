/* SPDX-License-Identifier: MIT
 *
 * A Hugging Face config as a spec. */
#include "conformance.h"

static double real_of(golden *c, const io_node *at, const char *key)
{
    double x = NAN;
    io_json_kind kind = golden_kind(at, key);
    if (kind == IO_JSON_INT || kind == IO_JSON_REAL)
        io_json_real(&x, at, key, IO_OPTIONAL, &c->err);
    return x;
}

static double either(double a, double b)
{
    return isnan(a) ? b : a;
}

/* rope_parameters, or rope_scaling as it was called before; {} where there is neither. */
static pe_status parameters(golden *c, const io_node *config, io_node *out)
{
    const char *layer = NULL;
    TRY(io_json_object(out, config, "rope_parameters", IO_OPTIONAL, &c->err));
    if (!out->json)
        TRY(io_json_object(out, config, "rope_scaling", IO_OPTIONAL, &c->err));
    TRY(io_json_string(&layer, &c->meta, "layer_type", IO_OPTIONAL, &c->err));
    if (layer && golden_kind(out, layer) == IO_JSON_OBJECT) {
        io_node all = *out;
        io_json_get(out, &all, layer);
        out->up = config;
    }
    return PE_OK;
}

static const char *scaling_of(const io_node *p)
{
    static const char *const names[][2] = {
        { "default", "none" },   { "mrope", "none" },  { "linear", "linear" },
        { "dynamic", "dynamic" }, { "yarn", "yarn" },   { "longrope", "longrope" },
        { "su", "longrope" },     { "llama3", "llama3" }, { "proportional", "proportional" },
    };
    const char *type = golden_word(p, "rope_type");
    if (!type)
        type = golden_word(p, "type");
    for (int n = 0; type && n < COUNT(names); n++)
        if (!strcmp(type, names[n][0]))
            return names[n][1];
    return type ? NULL : "none";
}

/* Keys that only change their name. */
static void rename_keys(golden *c, const io_node *p, const char *scaling, spec_text *out)
{
    static const char *const keys[][3] = {
        { "linear dynamic llama3 proportional", "factor", "factor" },
        { "yarn", "beta_fast", "beta_fast" },
        { "yarn", "beta_slow", "beta_slow" },
        { "yarn", "mscale", "mscale" },
        { "yarn", "mscale_all_dim", "mscale_all_dim" },
        { "yarn longrope", "attention_factor", "magnitude" },
        { "llama3", "low_freq_factor", "low" },
        { "llama3", "high_freq_factor", "high" },
    };
    for (int n = 0; n < COUNT(keys); n++) {
        double x = real_of(c, p, keys[n][1]);
        if (strstr(keys[n][0], scaling) && x != 0) /* transformers takes 0 for absent */
            spec_number(out, keys[n][2], x);
    }
}

static pe_status scale_keys(golden *c, const io_node *config, const io_node *p, const char *scaling, int64_t length,
                            spec_text *out)
{
    bool dynamic = !strcmp(scaling, "dynamic"), yarn = !strcmp(scaling, "yarn"), lists = !strcmp(scaling, "longrope");
    double most = real_of(c, config, "max_position_embeddings");
    double trained = either(real_of(c, p, "original_max_position_embeddings"),
                            either(real_of(c, config, "original_max_position_embeddings"), most));
    spec_word(out, "scaling", scaling);
    rename_keys(c, p, scaling, out);
    if (dynamic || yarn || lists || !strcmp(scaling, "llama3"))
        spec_number(out, "trained", dynamic ? most : trained);
    if ((dynamic || lists) && length > 0)
        spec_number(out, "length", (double)length);
    if (yarn || lists)
        spec_number(out, "factor", either(real_of(c, p, "factor"), most / trained));
    if (yarn && golden_kind(p, "truncate") == IO_JSON_FALSE)
        spec_word(out, "truncate", "no");
    for (int n = 0; lists && n < 2; n++) {
        io_node list;
        TRY(io_json_array(&list, p, n ? "long_factor" : "short_factor", IO_REQUIRED, &c->err));
        TRY(spec_list(out, n ? "long" : "short", c, &list));
    }
    return PE_OK;
}

pe_status rope_config_spec(golden *c, const io_node *config, int64_t length, spec_text *out, int64_t *head_dim)
{
    io_node p = { 0 };
    TRY(parameters(c, config, &p));
    const char *scaling = scaling_of(&p);
    if (!scaling)
        return golden_skip(c, "its rope_type is not one that this program knows");
    double heads = real_of(c, config, "num_attention_heads"), hidden = real_of(c, config, "hidden_size");
    double width = either(real_of(c, config, "head_dim"), floor(hidden / heads));
    double share = either(real_of(c, &p, "partial_rotary_factor"), real_of(c, config, "partial_rotary_factor"));
    bool proportional = !strcmp(scaling, "proportional");
    if (!(width >= 1 && width <= PE_HEAD_DIM_MAX))
        return golden_fail(c, "config: head_dim is %g; needs 1 to %d", width, PE_HEAD_DIM_MAX);
    *head_dim = (int64_t)width;
    spec_start(out, "rope");
    spec_number(out, "theta", either(real_of(c, &p, "rope_theta"), real_of(c, config, "rope_theta")));
    if (proportional || !isnan(share))
        spec_number(out, proportional ? "turning" : "fraction", either(share, 1));
    return strcmp(scaling, "none") ? scale_keys(c, config, &p, scaling, length, out) : PE_OK;
}
