/* SPDX-License-Identifier: MIT
 *
 * A key about positions that the model's code does not read gets a warning, and one that no code we know reads is an
 * error: that is how a scaling gets ignored. */
#include "zoo/hf.h"

#include <stdio.h>
#include <string.h>

/* What the names of such keys have in them. */
static const char *const signs[] = { "rope",         "rotary",      "alibi",        "yarn",         "ntk",
                                     "mscale",       "theta",       "pos_emb",      "position_emb", "positional",
                                     "relative_att", "long_factor", "short_factor", "logn_attn",    "dual_chunk" };

#define TURN "rope falcon baichuan chatglm qwen roformer dbrx mla nomic internlm gte openelm dinov3 "
#define LOCAL "local" /* rows with a base for sliding layers */

/* Who reads a key: families, and rows by what they say (row_says); "": code elsewhere, but none that is read here;
 * NULL: it changes nothing that a spec says (dropout, sizes of pictures, how it was trained). */
static const struct {
    const char *key, *readers;
} known[] = {
    { "rope_theta", TURN },
    { "rope_parameters", TURN },
    { "rope_scaling", TURN },
    { "rotary_emb_base", TURN },
    { "rotary_base", TURN },
    { "rope_base", TURN },
    { "rotary_embedding_base", TURN },
    { "global_rope_theta", TURN },
    { "rope_global_theta", TURN },
    { "rope_theta_global", TURN },
    { "partial_rotary_factor", TURN },
    { "partial_rotary_factors", TURN },
    { "rotary_pct", TURN },
    { "rope_pct", TURN },
    { "rope_percent", TURN },
    { "rotary_percent", TURN },
    { "rotary_emb_fraction", TURN },
    { "rope_is_neox_style", TURN },
    { "layer_rope_theta", TURN },
    { "original_max_position_embeddings", TURN },
    { "rope_interleave", NULL }, /* read where it says something: rows with adjacent-half */
    { "qk_rope_head_dim", NULL },
    { "qk_nope_head_dim", NULL },
    { "no_rope_layers", "interval" },
    { "no_rope_layer_interval", "interval" },
    { "rope_local_base_freq", LOCAL },
    { "local_rope_theta", LOCAL },
    { "swa_rope_theta", LOCAL },
    { "rope_theta_local", LOCAL },
    { "rope_swa_theta", LOCAL },
    { "compress_rope_theta", "" },
    { "yarn_only_types", NULL }, /* Step 3.5: full layers, as in its class */
    { "use_rope_layers", "" },
    { "rotary_dim", "" },
    { "rotary_ndims", "" },
    { "rope_dim", "" },
    { "rotary_emb_dim", "gte" },
    { "rotary_emb_interleaved", "nomic" },
    { "rotary_scaling_factor", "nomic" },
    { "rotary_emb_scale_base", "" },
    { "rope_freq_constant", "openelm" },
    { "rope_max_length", "openelm" },
    { "rope_ratio", "chatglm" },
    { "original_rope", "chatglm" },
    { "rope_embedding_base", "" },
    { "rope_position_scale", "" },
    { "use_dynamic_ntk", "qwen" },
    { "use_logn_attn", "qwen" },
    { "dual_chunk_attention_config", "" },
    { "rotary", "internlm gptj" },
    { "rotary_value", "roformer" },
    { "rope_interleaved", "" },
    { "rotary_interleaved", "" },
    { "rope_traditional", "" },
    { "rotary_type", "" },
    { "rotary_compress", "" },
    { "mscale", "" },
    { "mscale_all_dim", "" },
    { "mrope_section", "" },
    { "use_mrope", NULL },
    { "theta", "" },
    { "rope", "llada" },
    { "rope_3d", "" },
    { "alibi", "falcon mpt llada" },
    { "use_alibi", "" },
    { "alibi_bias_max", "mpt" },
    { "offset_alibi", NULL },
    { "position_embedding_type", "bert esm jais gte mpnet" },
    { "position_embeddings_type", "shaw" },
    { "positional_encoding_type", "" },
    { "type_of_position_embedding", "" },
    { "learned_pos_emb", "mpt" },
    { "sinusoidal_pos_embds", "" },
    { "use_learned_position_embeddings", "" },
    { "use_mem_rope", "" },
    { "use_nope", "" },
    { "use_positional_embedding", "" },
    { "use_positional_encoding", "" },
    { "use_absolute_position_embeddings", NULL },
    { "use_relative_position_embeddings", NULL },
    { "use_mid_position_embeddings", NULL },
    { "use_rotary_embedding", NULL },
    { "use_rotary_embeddings", NULL },
    { "add_position_embedding", NULL },
    { "static_position_embeddings", NULL }, /* Marian */
    { "extra_pos_embeddings", NULL },       /* BART, Pegasus */
    { "relative_attention", "deberta" },
    { "has_relative_attention_bias", NULL },
    { "relative_attention_max_distance", "t5" },
    { "relative_attention_num_buckets", "t5 mpnet" },
    { "left_max_position_embeddings", "shaw" },
    { "right_max_position_embeddings", "shaw" },
    { "max_position_embeddings", NULL },
    { "max_pos_emb", NULL },
    { "max_2d_position_embeddings", NULL },
    { "max_decoder_position_embeddings", NULL },
    { "max_encoder_position_embeddings", NULL },
    { "max_grid_col_position_embeddings", NULL },
    { "max_grid_row_position_embeddings", NULL },
    { "t2u_max_position_embeddings", NULL },
    { "axial_pos_embds", NULL },
    { "axial_pos_embds_dim", NULL },
    { "axial_pos_shape", NULL },
    { "decoder_positional_dropout_rate", NULL },
    { "encoder_positional_dropout_rate", NULL },
    { "memory_attention_rope_dropout", NULL },
    { "memory_attention_rope_feat_sizes", NULL },
    { "memory_attention_rope_k_sizes", NULL },
    { "num_conv_pos_embedding_groups", NULL },
    { "num_conv_pos_embeddings", NULL },
    { "num_position_embeddings", NULL },
    { "num_spatial_rope_pairs_per_axis", NULL },
    { "num_uid_rope_pairs", NULL },
    { "spatial_rope_base_frequency", NULL },
    { "uid_rope_base_frequency", NULL },
    { "pos_emb", NULL },
    { "pos_emb_height", NULL },
    { "pos_emb_interp_mode", NULL },
    { "pos_emb_time", NULL },
    { "pos_emb_width", NULL },
    { "pos_embed_jitter", NULL },
    { "pos_embed_rescale", NULL },
    { "pos_embed_shift", NULL },
    { "position_embedding_size", NULL },
    { "positional_dropout", NULL },
    { "positional_dropout_rate", NULL },
    { "positional_embedding_temperature", NULL },
    { "positional_encoding_temperature", NULL },
    { "relation_bias_theta", NULL },
    { "rope_full_precision", NULL },
    { "sine_position_embedding_scale", NULL },
    { "window_positional_embedding_background_size", NULL },
};

static bool looks_like_one(const char *key)
{
    for (size_t n = 0; n < sizeof signs / sizeof *signs; n++)
        if (strstr(key, signs[n]))
            return true;
    return false;
}

/* Whether word is one of those in list, between separators. */
static bool has_word(const char *list, const char *word, const char *separators)
{
    size_t length = strlen(word);
    for (const char *at = list; at && (at = strstr(at, word)); at += length)
        if ((at == list || strchr(separators, at[-1])) && (!at[length] || strchr(separators, at[length])))
            return true;
    return false;
}

/* Keys that the row names. */
static bool row_names(const zoo_fact *f, const char *key)
{
    const char *const named[] = { f->theta_key, f->local_key,  f->width_key, f->scale_key,
                                  f->only_if,   f->window_key, f->hidden_key };
    for (size_t n = 0; n < sizeof named / sizeof *named; n++)
        if (named[n] && has_word(named[n], key, "|!="))
            return true;
    return false;
}

/* BERT's and ESM's rows turn where position_embedding_type says so. */
static const char *family_of(hf_part *h)
{
    const char *family = h->fact->family ? h->fact->family : "rope";
    io_node at;
    const char *how = "";
    bool either = !strcmp(family, "bert") || !strcmp(family, "esm");
    if (either && io_json_get(&at, h->config, "position_embedding_type") && io_json_kind_of(&at) == IO_JSON_STRING)
        io_json_string(&how, &at, NULL, IO_REQUIRED, NULL);
    return !strcmp(how, "rotary") ? "rope" : family;
}

static bool is_read(hf_part *h, const char *key, const char *readers)
{
    const zoo_fact *f = h->fact;
    bool turns = !strncmp(readers, "rope", strlen("rope"));
    if (f->fixed_theta && turns)
        return false;
    if (h->guessed || row_names(f, key) || has_word(readers, f->type, " "))
        return true;
    return has_word(readers, family_of(h), " ") || (f->local > 0 && has_word(readers, LOCAL, " ")) ||
           (f->interval && has_word(readers, "interval", " "));
}

/* A word that says what is done anyway. */
static bool says_nothing(const io_node *child)
{
    static const char *const words[] = { "absolute", "rope", "rotary", "default" };
    const char *word = "";
    if (io_json_kind_of(child) == IO_JSON_OBJECT || io_json_kind_of(child) == IO_JSON_ARRAY)
        return !io_json_next(&(io_node){ 0 }, child);
    if (io_json_kind_of(child) != IO_JSON_STRING || io_json_string(&word, child, NULL, IO_REQUIRED, NULL))
        return io_json_kind_of(child) == IO_JSON_NULL || io_json_kind_of(child) == IO_JSON_FALSE;
    for (size_t n = 0; n < sizeof words / sizeof *words; n++)
        if (!strcmp(word, words[n]))
            return true;
    return false;
}

static pe_status check_key(hf_part *h, const char *key)
{
    size_t n = 0, count = sizeof known / sizeof *known;
    while (n < count && strcmp(known[n].key, key))
        n++;
    if (n == count && row_names(h->fact, key))
        return PE_OK;
    if (n == count)
        return zoo_unknown(h->b, key, "the config without it, if it does nothing", "the config as if it were not there",
                           "there is a key %.60s that nothing here reads", key);
    if (!known[n].readers || is_read(h, key, known[n].readers))
        return PE_OK;
    return zoo_note_add(h->b, ZOO_WARNING, key, h->source, "%s is there, but %s's code does not read it", key,
                        h->fact->type);
}

pe_status hf_check_keys(hf_part *h)
{
    bool beyond = h->fact->family && !strcmp(h->fact->family, "beyond");
    for (io_node child = { 0 }; !beyond && io_json_next(&child, h->config);)
        if (looks_like_one(child.key) && !says_nothing(&child))
            ZOO_TRY(check_key(h, child.key));
    return PE_OK;
}
