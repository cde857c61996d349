/* SPDX-License-Identifier: MIT
 *
 * Lists in a config with an element for each layer, or with the numbers of some layers: what kinds they are of, which
 * of them turn, by which base, how much of a head. */
#include "zoo/hf.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

pe_status hf_lists_next(hf_part *h, const io_node *list, io_node *at, int64_t index)
{
    if (io_json_next(at, list))
        return PE_OK;
    return io_fail(h->b->err, PE_ERR_FORMAT, "%s: %s ends at layer %" PRId64 "; the model has %" PRId64,
                   h->b->model.path, list->key, index, h->layers);
}

/* ---------------------------------------------------------------- kinds */

/* By other names, what hf_layers.c knows. */
static const char *const same[][2] = { { "attention", "full_attention" },
                                       { "global", "full_attention" },
                                       { "local", "sliding_attention" } };

static const char *const kinds[] = { "full_attention",
                                     "sliding_attention",
                                     "chunked_attention",
                                     "linear_attention",
                                     "hybrid",
                                     "hybrid_sliding",
                                     "mamba",
                                     "mamba2",
                                     "recurrent",
                                     "conv",
                                     "short_conv",
                                     "moe",
                                     "mlp",
                                     "sparse",
                                     "dense",
                                     "linear",
                                     "gated_delta_net",
                                     "cross_attention",
                                     "window_attention",
                                     "qwen_sparse_attention",
                                     "deepseek_sparse_attention",
                                     "minimax_m3_sparse",
                                     "compressed_sparse_attention",
                                     "heavily_compressed_attention" };

static bool in_parameters(const hf_part *h, const char *kind)
{
    io_node dict, at;
    return (io_json_get(&dict, h->config, "rope_parameters") && io_json_kind_of(&dict) == IO_JSON_OBJECT &&
            io_json_get(&at, &dict, kind)) ||
           (io_json_get(&dict, h->config, "rope_scaling") && io_json_kind_of(&dict) == IO_JSON_OBJECT &&
            io_json_get(&at, &dict, kind));
}

/* A name that is not known may be of layers without attention, or with a window. */
static pe_status check_kind(hf_part *h, const char *list, const char **kind)
{
    for (size_t n = 0; n < sizeof same / sizeof *same; n++)
        if (!strcmp(*kind, same[n][0]))
            *kind = same[n][1];
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++)
        if (!strcmp(*kind, kinds[n]))
            return PE_OK;
    if (h->guessed || in_parameters(h, *kind))
        return PE_OK;
    return zoo_unknown(h->b, list,
                       "the config with a known one: full_attention, sliding_attention, linear_attention, ...",
                       "it for attention that turns and has no window", "%s has %.40s, which is unknown", list, *kind);
}

/* A letter's worth of a number: MiniMax-01's attn_type_list, 1 for attention that sees everything; MiMo's
 * hybrid_layer_pattern, 1 for a window (vLLM models/mimo_v2.py). */
static pe_status numbered_kind(hf_layers *l, hf_part *h, bool windows, hf_layer *out)
{
    int64_t one = 0;
    ZOO_TRY(io_json_int(&one, &l->type, NULL, IO_REQUIRED, (io_int_range){ 0, 1 }, h->b->err));
    if (windows)
        out->kind = one ? "sliding_attention" : "full_attention";
    else
        out->kind = one ? "full_attention" : "linear_attention";
    return PE_OK;
}

pe_status hf_listed_kind(hf_layers *l, hf_part *h, hf_layer *out)
{
    const char *key = l->types.key;
    bool again = !strcmp(key, "block_types"); /* RecurrentGemma: over and over, and its attention has a window */
    if (again && !io_json_next(&l->type, &l->types)) {
        l->type = (io_node){ 0 };
        ZOO_TRY(hf_lists_next(h, &l->types, &l->type, out->index));
    } else if (!again)
        ZOO_TRY(hf_lists_next(h, &l->types, &l->type, out->index));
    if (!strcmp(key, "attn_type_list") || !strcmp(key, "hybrid_layer_pattern"))
        return numbered_kind(l, h, !strcmp(key, "hybrid_layer_pattern"), out);
    ZOO_TRY(io_json_string(&out->kind, &l->type, NULL, IO_REQUIRED, h->b->err));
    ZOO_TRY(check_kind(h, key, &out->kind));
    if (again && !strcmp(out->kind, "full_attention"))
        out->kind = "sliding_attention";
    return PE_OK;
}

/* ---------------------------------------------------------------- numbers of layers */

/* The row's list of layers: "attn_layer_indices=mamba". */
static pe_status mark_listed(hf_layers *l, hf_part *h)
{
    const char *row = h->fact->listed, *equals = row ? strchr(row, '=') : NULL;
    char key[64];
    io_node list;
    if (!equals || l->types.json)
        return PE_OK;
    snprintf(key, sizeof key, "%.*s", (int)(equals - row), row);
    ZOO_TRY(io_json_array(&list, h->config, key, IO_OPTIONAL, h->b->err));
    if (!list.json)
        return PE_OK;
    l->others = equals + 1;
    for (io_node at = { 0 }; io_json_next(&at, &list);) {
        int64_t n = 0;
        ZOO_TRY(io_json_int(&n, &at, NULL, IO_REQUIRED, (io_int_range){ 0, INT32_MAX }, h->b->err));
        if (n < ZOO_LAYERS_MAX)
            l->listed[n] = true;
    }
    return PE_OK;
}

/* Cohere 2 MoE: the first layers, which are dense, have a period of their own, and where it is 1 they turn although
 * they see everything (modeling_cohere2_moe.py: force_rope). */
static pe_status mark_dense(hf_layers *l, hf_part *h)
{
    io_node list;
    int64_t n = 0;
    if (!h->fact->prefix)
        return PE_OK;
    ZOO_TRY(hf_int(h, &l->first, "first_k_dense_replace", 0));
    l->first_period = h->fact->prefix;
    ZOO_TRY(hf_int(h, &l->first_period, "prefix_dense_sliding_window_pattern", 0));
    if (!l->first_period)
        return io_fail(h->b->err, PE_ERR_RANGE, "%s: prefix_dense_sliding_window_pattern is 0; needs 1 or more",
                       h->b->model.path);
    ZOO_TRY(io_json_array(&list, h->config, "mlp_layer_types", IO_OPTIONAL, h->b->err));
    for (; !list.json && n < l->first && n < ZOO_LAYERS_MAX; n++)
        l->dense[n] = true;
    for (io_node at = { 0 }; list.json && n < ZOO_LAYERS_MAX && io_json_next(&at, &list); n++) {
        const char *word = "";
        ZOO_TRY(io_json_string(&word, &at, NULL, IO_REQUIRED, h->b->err));
        l->dense[n] = !strcmp(word, "dense");
    }
    return PE_OK;
}

/* ---------------------------------------------------------------- all of them */

static pe_status find_kinds(hf_layers *l, hf_part *h)
{
    static const char *const lists[] = { "layer_types",    "layers_block_type",    "attention_layers", /* GPT-Neo */
                                         "attn_type_list", "hybrid_layer_pattern", "block_types" };
    io_node at;
    for (size_t n = 0; !l->types.json && n < sizeof lists / sizeof *lists; n++)
        if (io_json_get(&at, h->config, lists[n]) && (n < 3 || io_json_kind_of(&at) == IO_JSON_ARRAY))
            ZOO_TRY(io_json_array(&l->types, h->config, lists[n], IO_OPTIONAL, h->b->err));
    return PE_OK;
}

pe_status hf_lists_start(hf_layers *l, hf_part *h)
{
    pe_error *err = h->b->err;
    io_node at;
    ZOO_TRY(find_kinds(l, h));
    ZOO_TRY(mark_listed(l, h));
    ZOO_TRY(mark_dense(l, h));
    ZOO_TRY(io_json_array(&l->no_rope, h->config, "no_rope_layers", IO_OPTIONAL, err));
    ZOO_TRY(io_json_array(&l->thetas, h->config, "layer_rope_theta", IO_OPTIONAL, err));
    if (!l->thetas.json && io_json_get(&at, h->config, "rope_theta") && io_json_kind_of(&at) == IO_JSON_ARRAY)
        l->thetas = at; /* Step 3.5 */
    ZOO_TRY(io_json_array(&l->shares, h->config, "partial_rotary_factors", IO_OPTIONAL, err));
    ZOO_TRY(io_json_array(&l->crossing, h->config, "cross_attention_layers", IO_OPTIONAL, err));
    if (l->crossing.json)
        io_json_next(&l->cross, &l->crossing);
    if (l->no_rope.json && io_json_size(&l->no_rope) == 0)
        l->no_rope.json = NULL; /* [] stands for the interval */
    if (l->shares.json && io_json_size(&l->shares) == 0)
        l->shares.json = NULL;
    return PE_OK;
}
