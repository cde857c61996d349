/* SPDX-License-Identifier: MIT
 *
 * Which layer is of which kind, which has a window, and which does not rotate. A config lists kinds (layer_types) or
 * the numbers of some layers, or gives a period, or says nothing and the model's code has a pattern (facts). */
#include "zoo/hf.h"
#include "zoo/spec_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- lists with an element for each layer */

static pe_status lists_next(hf_part *h, const io_node *list, io_node *at, int64_t index)
{
    if (io_json_next(at, list))
        return PE_OK;
    return zoo_fail(h->b, PE_ERR_FORMAT, "%s ends at layer %" PRId64 "; the model has %" PRId64, list->key, index,
                    h->layers);
}

/* ---------------------------------------------------------------- kinds */

/* Other names for some of them. */
static const char *const same[][2] = { { "attention", "full_attention" },
                                       { "global", "full_attention" },
                                       { "local", "sliding_attention" } };

static const char known_kinds[] =
    "full_attention sliding_attention chunked_attention linear_attention hybrid hybrid_sliding mamba mamba2 "
    "recurrent conv short_conv moe mlp sparse dense linear gated_delta_net cross_attention window_attention "
    "qwen_sparse_attention deepseek_sparse_attention indexed_attention reference_sliding_attention "
    "minimax_m3_sparse compressed_sparse_attention heavily_compressed_attention";

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
    if (zoo_has_word(known_kinds, *kind) || h->guessed || in_parameters(h, *kind))
        return PE_OK;
    return zoo_unknown(h->b, list,
                       "the config with a known one: full_attention, sliding_attention, linear_attention, ...",
                       "that it is rotated attention without a window", "%s has %.40s, which is unknown", list, *kind);
}

/* Lists of numbers: MiniMax-01's attn_type_list, 1 for attention that sees everything; MiMo's hybrid_layer_pattern, 1
 * for a window (vLLM models/mimo_v2.py); DeepSeek-V4's compress_ratios, 0 for a window. */
static const struct {
    const char *list;
    int64_t number;
    const char *kind;
} numbered[] = {
    { "attn_type_list", 0, "linear_attention" },
    { "attn_type_list", 1, "full_attention" },
    { "hybrid_layer_pattern", 0, "full_attention" },
    { "hybrid_layer_pattern", 1, "sliding_attention" },
    { "compress_ratios", 0, "sliding_attention" },
    { "compress_ratios", 4, "compressed_sparse_attention" },
    { "compress_ratios", 128, "heavily_compressed_attention" },
};

/* *out is left as it was where the list is one of words. */
static pe_status numbered_kind(hf_layers *l, hf_part *h, const char **out)
{
    const char *list = l->types.key;
    bool numbers = false;
    int64_t x = 0;
    for (size_t n = 0; n < sizeof numbered / sizeof *numbered; n++) {
        if (strcmp(numbered[n].list, list))
            continue;
        if (!numbers)
            TRY(io_json_int(&x, &l->type, NULL, IO_REQUIRED, (io_int_range){ 0, INT32_MAX }, h->b->err));
        numbers = true;
        if (numbered[n].number == x) {
            *out = numbered[n].kind;
            return PE_OK;
        }
    }
    return numbers ? zoo_fail(h->b, PE_ERR_FORMAT, "%s has %" PRId64 ", which is unknown", list, x) : PE_OK;
}

static pe_status listed_kind(hf_layers *l, hf_part *h, hf_layer *out)
{
    const char *key = l->types.key;
    bool again = !strcmp(key, "block_types"); /* RecurrentGemma: over and over, and its attention has a window */
    if (again && !io_json_next(&l->type, &l->types)) {
        l->type = (io_node){ 0 };
        TRY(lists_next(h, &l->types, &l->type, out->index));
    } else if (!again)
        TRY(lists_next(h, &l->types, &l->type, out->index));
    TRY(numbered_kind(l, h, &out->kind));
    if (*out->kind)
        return PE_OK;
    TRY(io_json_string(&out->kind, &l->type, NULL, IO_REQUIRED, h->b->err));
    TRY(check_kind(h, key, &out->kind));
    if (again && !strcmp(out->kind, "full_attention"))
        out->kind = "sliding_attention";
    return PE_OK;
}

/* ---------------------------------------------------------------- numbers of layers */

/* Layers whose numbers are in the list; json NULL: none. */
static pe_status mark(bool layer[ZOO_LAYERS_MAX], hf_part *h, const io_node *list)
{
    for (io_node at = { 0 }; list->json && io_json_next(&at, list);) {
        int64_t n = 0;
        TRY(io_json_int(&n, &at, NULL, IO_REQUIRED, (io_int_range){ 0, INT32_MAX }, h->b->err));
        if (n < ZOO_LAYERS_MAX)
            layer[n] = true;
    }
    return PE_OK;
}

/* The row's list of layers with attention. */
static pe_status mark_listed(hf_layers *l, hf_part *h)
{
    const char *key = zoo_fact_word(h->fact, "attention_list");
    io_node list;
    if (!key || l->types.json)
        return PE_OK;
    TRY(io_json_array(&list, h->config, key, IO_OPTIONAL, h->b->err));
    if (!list.json)
        return PE_OK;
    l->others = zoo_fact_word(h->fact, "other_layers");
    return mark(l->listed, h, &list);
}

/* Molmo 2: the numbers of the layers that are scaled. */
static pe_status mark_scaled(hf_layers *l, hf_part *h)
{
    io_node list;
    TRY(io_json_array(&list, h->config, "rope_scaling_layers", IO_OPTIONAL, h->b->err));
    l->some_unscaled = list.json != NULL;
    return mark(l->scaled, h, &list);
}

/* Cohere 2 MoE: the first layers, which are dense, have a period of their own, and where it is 1 they rotate although
 * they see everything (modeling_cohere2_moe.py: force_rope). */
static pe_status mark_dense(hf_layers *l, hf_part *h)
{
    io_node list;
    int64_t n = 0, period = (int64_t)zoo_fact_number(h->fact, "dense_period");
    if (!period)
        return PE_OK;
    TRY(hf_int(h, &l->first, "first_k_dense_replace", 0));
    l->first_period = period;
    TRY(hf_int(h, &l->first_period, "prefix_dense_sliding_window_pattern", 0));
    if (!l->first_period)
        return zoo_fail(h->b, PE_ERR_RANGE, "prefix_dense_sliding_window_pattern is 0; needs 1 or more");
    TRY(io_json_array(&list, h->config, "mlp_layer_types", IO_OPTIONAL, h->b->err));
    for (; !list.json && n < l->first && n < ZOO_LAYERS_MAX; n++)
        l->dense[n] = true;
    for (io_node at = { 0 }; list.json && n < ZOO_LAYERS_MAX && io_json_next(&at, &list); n++) {
        const char *word = "";
        TRY(io_json_string(&word, &at, NULL, IO_REQUIRED, h->b->err));
        l->dense[n] = !strcmp(word, "dense");
    }
    return PE_OK;
}

static pe_status find_kinds(hf_layers *l, hf_part *h)
{
    static const char *const lists[] = {
        "layer_types",    "layers_block_type",    "attention_layers", /* GPT-Neo */
        "attn_type_list", "hybrid_layer_pattern", "block_types",      "compress_ratios"
    };
    io_node at;
    for (size_t n = 0; !l->types.json && n < sizeof lists / sizeof *lists; n++)
        if (io_json_get(&at, h->config, lists[n]) && (n < 3 || io_json_kind_of(&at) == IO_JSON_ARRAY))
            TRY(io_json_array(&l->types, h->config, lists[n], IO_OPTIONAL, h->b->err));
    return PE_OK;
}

static pe_status lists_start(hf_layers *l, hf_part *h)
{
    pe_error *err = h->b->err;
    io_node at;
    TRY(find_kinds(l, h));
    TRY(mark_listed(l, h));
    TRY(mark_dense(l, h));
    TRY(mark_scaled(l, h));
    TRY(io_json_array(&l->no_rope, h->config, "no_rope_layers", IO_OPTIONAL, err));
    TRY(io_json_array(&l->thetas, h->config, "layer_rope_theta", IO_OPTIONAL, err));
    if (!l->thetas.json && io_json_get(&at, h->config, "rope_theta") && io_json_kind_of(&at) == IO_JSON_ARRAY)
        l->thetas = at; /* Step 3.5 */
    TRY(io_json_array(&l->shares, h->config, "partial_rotary_factors", IO_OPTIONAL, err));
    TRY(io_json_array(&l->crossing, h->config, "cross_attention_layers", IO_OPTIONAL, err));
    if (l->crossing.json)
        io_json_next(&l->cross, &l->crossing);
    TRY(io_json_array(&l->blocks, h->config, "block_configs", IO_OPTIONAL, err));
    TRY(io_json_array(&l->kv_counts, h->config, "num_key_value_heads_per_layer", IO_OPTIONAL, err));
    if (l->no_rope.json && io_json_size(&l->no_rope) == 0)
        l->no_rope.json = NULL; /* [] stands for the interval */
    if (l->shares.json && io_json_size(&l->shares) == 0)
        l->shares.json = NULL;
    return PE_OK;
}

/* ---------------------------------------------------------------- patterns, periods and windows */

static const struct {
    char letter;
    const char *kind;
} letters[] = {
    { 's', "sliding_attention" },
    { 'f', "full_attention" },
    { 'l', "linear_attention" },
    { 'c', "chunked_attention" },
    { 'm', "mamba" },
    { 'r', "recurrent" },
    { 'v', "conv" },
    { 'h', "hybrid" },
    { 'S', "hybrid_sliding" },
    { 'C', "compressed_sparse_attention" },
    { 'H', "heavily_compressed_attention" },
    { 'M', "mamba" }, /* Nemotron-H: "M-M*" */
    { '*', "full_attention" },
    { '-', "mlp" },
    { 'E', "moe" },
};

/* Layers of these kinds have no attention, so nothing that looks at positions. */
static const char no_attention[] =
    "linear_attention linear mamba mamba2 recurrent conv short_conv moe mlp gated_delta_net no_op";

/* Layer n by the pattern. A period p in the config stretches it: all but one of p layers are of the pattern's common
 * kind, and the odd one keeps its end. */
static const char *pattern_kind(const hf_layers *l, int64_t n)
{
    const char *first = strchr(l->kinds, '>'), *kinds = first ? first + 1 : l->kinds;
    size_t length = strlen(kinds);
    int64_t period = n < l->first ? l->first_period : l->period;
    n = n < l->first ? n : n - l->first;
    char letter = first && n < first - l->kinds ? l->kinds[n] : kinds[(size_t)n % length];
    if (period > 0) {
        bool odd_first = kinds[0] == 'f' && length > 1;
        int64_t place = n % period;
        letter = place == (odd_first ? 0 : period - 1) ? 'f' : kinds[odd_first ? 1 : 0];
    }
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].letter == letter)
            return letters[i].kind;
    return "";
}

#define WINDOW "sliding_window|sliding_window_size|attention_window_size|attention_chunk_size|local_attention"

static bool is_centred(const hf_part *h)
{
    io_node at;
    if (!io_json_get(&at, h->config, "use_bidirectional_attention"))
        return zoo_fact_word(h->fact, "centred_window") ||
               (hf_has(h, "local_attention") && !hf_has(h, "sliding_window"));
    const char *word = io_json_kind_of(&at) == IO_JSON_STRING ? at.json + 1 : "";
    return io_json_kind_of(&at) == IO_JSON_TRUE || !strcmp(word, "all");
}

/* Which layers a window is for: the sliding ones, where there are kinds; else all from max_window_layers on, if
 * use_sliding_window does not say no. */
static pe_status start_windows(hf_layers *l, hf_part *h)
{
    io_node node;
    bool use = true;
    bool said = io_json_get(&node, h->config, "sliding_window");
    bool null = said && io_json_kind_of(&node) == IO_JSON_NULL;
    const char *by_default = zoo_fact_word(h->fact, "use_window"), *key = zoo_fact_word(h->fact, "window_key");
    int64_t from = (int64_t)zoo_fact_number(h->fact, "window_from_layer");
    TRY(hf_flag(h, &use, "use_sliding_window",
                by_default ? !strcmp(by_default, "yes") : !hf_has(h, "max_window_layers")));
    if (!null && use && (!said || io_json_kind_of(&node) != IO_JSON_ARRAY))
        TRY(hf_int(h, &l->window, key ? key : WINDOW, h->fact->window));
    /* ModernBERT and EmbeddingGemma look half of it back and half ahead; ModernBERT's decoder only back. */
    if (l->window && is_centred(h))
        l->window = l->window / 2 + (strcmp(h->fact->type, "modernbert-decoder") != 0);
    if (l->window && (from || hf_has(h, "max_window_layers")))
        TRY(hf_int(h, &l->first_windowed, "max_window_layers", from));
    const char *before = zoo_fact_word(h->fact, "window_before_key");
    if (l->window && before && hf_has(h, before)) {
        TRY(hf_int(h, &l->window, before, 0));
        l->window++;
    }
    l->any_window = l->window > 0;
    return PE_OK;
}

/* Nemotron-H: a letter for each layer. */
static pe_status hybrid_pattern(hf_layers *l, hf_part *h, const io_node *node)
{
    TRY(io_json_string(&l->kinds, node, NULL, IO_REQUIRED, h->b->err));
    if ((int64_t)strlen(l->kinds) == h->layers && strspn(l->kinds, "M*-E") == strlen(l->kinds))
        return PE_OK;
    return zoo_fail(h->b, PE_ERR_FORMAT,
                    "hybrid_override_pattern is %.80s; needs %" PRId64 " letters, of M, *, - and E", l->kinds,
                    h->layers);
}

pe_status hf_layers_start(hf_layers *l, hf_part *h)
{
    pe_error *err = h->b->err;
    io_node node;
    *l = (hf_layers){ .kinds = h->fact->pattern, .interval = (int64_t)zoo_fact_number(h->fact, "norope_interval") };
    TRY(lists_start(l, h));
    if (hf_has(h, "no_rope_layer_interval"))
        TRY(hf_int(h, &l->interval, "no_rope_layer_interval", 0));
    static const char period[] = "sliding_window_pattern|global_attn_every_n_layers|full_attention_interval";
    if (io_json_get(&node, h->config, "sliding_window_pattern") && io_json_kind_of(&node) == IO_JSON_STRING)
        TRY(io_json_string(&l->kinds, &node, NULL, IO_REQUIRED, err)); /* EXAONE 4's "LLLG" */
    else if (io_json_get(&node, h->config, "hybrid_override_pattern") && io_json_kind_of(&node) == IO_JSON_STRING)
        TRY(hybrid_pattern(l, h, &node));
    else if (l->kinds)
        TRY(hf_int(h, &l->period, period, 0));
    if (l->kinds && !*l->kinds)
        l->kinds = NULL;
    return start_windows(l, h);
}

static pe_status kind_of(hf_layers *l, hf_part *h, hf_layer *out)
{
    out->kind = "";
    if (l->types.json)
        return listed_kind(l, h, out);
    if (l->others)
        out->kind = l->listed[out->index] ? "full_attention" : l->others;
    else if (l->kinds && strchr("LG", l->kinds[0]))
        out->kind = l->kinds[(size_t)out->index % strlen(l->kinds)] == 'G' ? "full_attention" : "sliding_attention";
    else if (l->kinds)
        out->kind = pattern_kind(l, out->index);
    return PE_OK;
}

/* no_rope_layers: 1 has rope, 0 has none. */
static pe_status rotates_by_list(hf_layers *l, hf_part *h, hf_layer *out)
{
    int64_t on = 1;
    TRY(lists_next(h, &l->no_rope, &l->rope, out->index));
    TRY(io_json_int(&on, &l->rope, NULL, IO_REQUIRED, (io_int_range){ 0, 1 }, h->b->err));
    out->rotates = on != 0;
    return PE_OK;
}

/* Layers of Mllama that look at the picture only: it has no positions there. They are listed in rising order. */
static pe_status crosses(hf_layers *l, hf_part *h, hf_layer *out)
{
    int64_t at = -1;
    if (!l->cross.json)
        return PE_OK;
    TRY(io_json_int(&at, &l->cross, NULL, IO_REQUIRED, (io_int_range){ 0, INT32_MAX }, h->b->err));
    if (at != out->index)
        return PE_OK;
    io_json_next(&l->cross, &l->crossing);
    out->kind = "cross_attention";
    out->rotates = false;
    return PE_OK;
}

static pe_status rotates_of(hf_layers *l, hf_part *h, hf_layer *out)
{
    const zoo_fact *f = h->fact;
    const char *norope = zoo_fact_word(f, "norope"), *interval = zoo_fact_word(f, "norope_interval");
    out->rotates = true;
    if (interval && l->no_rope.json)
        return rotates_by_list(l, h, out);
    if (interval && l->interval)
        out->rotates = (out->index + 1) % l->interval != 0;
    if (norope && !strcmp(norope, out->kind) && (!zoo_fact_word(f, "norope_if_window") || l->any_window))
        out->rotates = l->dense[out->index] && l->first_period == 1;
    return PE_OK;
}

/* A base and a share of its own. */
static pe_status own_numbers(hf_layers *l, hf_part *h, hf_layer *out)
{
    h->share = 0;
    if (l->shares.json) {
        TRY(lists_next(h, &l->shares, &l->share, out->index));
        TRY(io_json_real(&out->share, &l->share, NULL, IO_REQUIRED, h->b->err));
        h->share = out->share;
    }
    if (!l->thetas.json)
        return PE_OK;
    TRY(lists_next(h, &l->thetas, &l->theta, out->index));
    TRY(io_json_real(&out->theta, &l->theta, NULL, IO_REQUIRED, h->b->err));
    out->rotates &= out->theta != 0;
    return PE_OK;
}

/* Nemotron-NAS: an object for each layer, which may have no attention, and has its own count of key heads
 * (vLLM models/nemotron_nas.py). */
static pe_status read_block(hf_layers *l, hf_part *h, hf_layer *out)
{
    static const io_int_range counts = { 0, INT32_MAX };
    io_node attention;
    pe_error *err = h->b->err;
    bool none = false, linear = false;
    int64_t shared = 0;
    if (!l->blocks.json)
        return PE_OK;
    TRY(lists_next(h, &l->blocks, &l->block, out->index));
    TRY(io_json_object(&attention, &l->block, "attention", IO_REQUIRED, err));
    TRY(io_json_bool(&none, &attention, "no_op", IO_OPTIONAL, err));
    TRY(io_json_bool(&linear, &attention, "replace_with_linear", IO_OPTIONAL, err));
    TRY(io_json_int(&shared, &attention, "n_heads_in_group", IO_OPTIONAL, counts, err));
    TRY(io_json_int(&out->window, &attention, "window_length", IO_OPTIONAL, counts, err));
    out->kind = none ? "no_op" : linear ? "linear" : "full_attention";
    if (none || linear || !shared)
        return PE_OK;
    out->kv_heads = h->shape.heads / shared;
    if (h->shape.heads % shared)
        return zoo_fail(h->b, PE_ERR_SHAPE,
                        "n_heads_in_group of layer %" PRId64 " is %" PRId64 "; needs a divisor of the %" PRId64
                        " heads",
                        out->index, shared, h->shape.heads);
    return PE_OK;
}

/* DeciLM, Sapiens 2: the number of key heads of each layer. */
static pe_status read_kv_count(hf_layers *l, hf_part *h, hf_layer *out)
{
    if (!l->kv_counts.json)
        return PE_OK;
    TRY(lists_next(h, &l->kv_counts, &l->kv_count, out->index));
    TRY(io_json_int(&out->kv_heads, &l->kv_count, NULL, IO_REQUIRED, (io_int_range){ 1, 65536 }, h->b->err));
    if (h->shape.heads % out->kv_heads)
        return zoo_fail(h->b, PE_ERR_SHAPE,
                        "num_key_value_heads_per_layer has %" PRId64 " at layer %" PRId64
                        "; needs a divisor of the %" PRId64 " heads",
                        out->kv_heads, out->index, h->shape.heads);
    return PE_OK;
}

pe_status hf_layers_next(hf_layers *l, hf_part *h, hf_layer *out)
{
    *out = (hf_layer){ .index = l->next++ };
    TRY(kind_of(l, h, out));
    TRY(read_block(l, h, out));
    TRY(read_kv_count(l, h, out));
    if (h->b->options->rotary) {
        out->kind = *h->b->options->rotary ? h->b->options->rotary : out->kind;
        out->attends = out->rotates = true;
        return PE_OK;
    }
    out->attends = !zoo_has_word(no_attention, out->kind);
    out->unscaled = l->some_unscaled && !l->scaled[out->index];
    TRY(rotates_of(l, h, out));
    TRY(own_numbers(l, h, out));
    TRY(crosses(l, h, out));
    /* Unlimited-OCR's reference_sliding_attention sees all of the prompt beside its window. */
    bool sliding = !*out->kind || strstr(out->kind, "chunked") ||
                   (strstr(out->kind, "sliding") && strncmp(out->kind, "reference", strlen("reference")));
    if (!out->window)
        out->window = sliding && out->attends && out->index >= l->first_windowed ? l->window : 0;
    return PE_OK;
}
