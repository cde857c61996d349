/* SPDX-License-Identifier: MIT
 *
 * A key about positions that the model's code does not read gets a warning, and one that no code we know reads is an
 * error: that is how a scaling gets ignored. */
#include "zoo/hf.h"
#include "zoo/spec_read.h"

#include <stdio.h>
#include <string.h>

/* What the names of such keys have in them. */
static const char *const signs[] = { "rope",         "rotary",      "alibi",        "yarn",         "ntk",
                                     "mscale",       "theta",       "pos_emb",      "position_emb", "positional",
                                     "relative_att", "long_factor", "short_factor", "logn_attn",    "dual_chunk" };

#define ROTATE "rope falcon baichuan chatglm qwen roformer dbrx mla nomic internlm gte openelm dinov3 "
#define LOCAL "local"       /* rows with a base for sliding layers */
#define INTERVAL "interval" /* rows with norope_interval */

/* Who reads keys: families, rows by what they say (LOCAL, INTERVAL), model types; "": code elsewhere, but none that is
 * read here; NULL: they change nothing that a spec says (dropout, sizes of pictures, how a model was trained), or are
 * read where they say something. */
static const struct {
    const char *readers, *keys;
} known[] = {
    { ROTATE, "rope_theta rope_parameters rope_scaling rotary_emb_base rotary_base rope_base rotary_embedding_base "
              "global_rope_theta rope_global_theta rope_theta_global partial_rotary_factor partial_rotary_factors "
              "rotary_pct rope_pct rope_percent rotary_percent rotary_emb_fraction rope_is_neox_style layer_rope_theta "
              "original_max_position_embeddings rope_scaling_layers" },
    { NULL,
      "rope_interleave indexer_rope_interleave qk_rope_head_dim qk_nope_head_dim yarn_only_types use_mrope "
      "offset_alibi "
      "use_absolute_position_embeddings use_relative_position_embeddings use_mid_position_embeddings "
      "use_rotary_embedding use_rotary_embeddings add_position_embedding static_position_embeddings "
      "extra_pos_embeddings has_relative_attention_bias max_position_embeddings max_pos_emb "
      "max_2d_position_embeddings max_decoder_position_embeddings max_encoder_position_embeddings "
      "max_grid_col_position_embeddings max_grid_row_position_embeddings t2u_max_position_embeddings "
      "axial_pos_embds axial_pos_embds_dim axial_pos_shape decoder_positional_dropout_rate "
      "encoder_positional_dropout_rate memory_attention_rope_dropout memory_attention_rope_feat_sizes "
      "memory_attention_rope_k_sizes num_conv_pos_embedding_groups num_conv_pos_embeddings num_position_embeddings "
      "num_spatial_rope_pairs_per_axis num_uid_rope_pairs spatial_rope_base_frequency uid_rope_base_frequency "
      "pos_emb pos_emb_height pos_emb_interp_mode pos_emb_time pos_emb_width pos_embed_jitter pos_embed_rescale "
      "pos_embed_shift position_embedding_size positional_dropout positional_dropout_rate "
      "positional_embedding_temperature positional_encoding_temperature relation_bias_theta rope_full_precision "
      "sine_position_embedding_scale window_positional_embedding_background_size" },
    { INTERVAL, "no_rope_layers no_rope_layer_interval" },
    { LOCAL, "rope_local_base_freq local_rope_theta swa_rope_theta rope_theta_local rope_swa_theta" },
    { "", "compress_rope_theta use_rope_layers rotary_dim rotary_ndims rope_dim rotary_emb_scale_base "
          "rope_embedding_base rope_position_scale dual_chunk_attention_config rope_interleaved rotary_interleaved "
          "rope_traditional rotary_type rotary_compress mscale mscale_all_dim mrope_section theta rope_3d use_alibi "
          "positional_encoding_type type_of_position_embedding sinusoidal_pos_embds use_learned_position_embeddings "
          "use_mem_rope use_nope use_positional_embedding use_positional_encoding" },
    { "gte", "rotary_emb_dim" },
    { "nomic", "rotary_emb_interleaved rotary_scaling_factor" },
    { "openelm", "rope_freq_constant rope_max_length" },
    { "chatglm", "rope_ratio original_rope" },
    { "qwen", "use_dynamic_ntk use_logn_attn" },
    { "internlm gptj", "rotary" },
    { "roformer", "rotary_value" },
    { "llada", "rope" },
    { "falcon mpt llada", "alibi" },
    { "mpt", "alibi_bias_max learned_pos_emb" },
    { "bert esm jais gte mpnet", "position_embedding_type" },
    { "shaw", "position_embeddings_type left_max_position_embeddings right_max_position_embeddings" },
    { "deberta", "relative_attention" },
    { "t5", "relative_attention_max_distance" },
    { "t5 mpnet", "relative_attention_num_buckets" },
};

static bool looks_like_one(const char *key)
{
    for (size_t n = 0; n < sizeof signs / sizeof *signs; n++)
        if (strstr(key, signs[n]))
            return true;
    return false;
}

/* Whether word is one of those in list, between "|", "!" and "=". */
static bool names_key(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at && (at = strstr(at, word)); at += length)
        if ((at == list || strchr("|!=", at[-1])) && (!at[length] || strchr("|!=", at[length])))
            return true;
    return false;
}

/* Keys that the row names. */
static bool row_names(const zoo_fact *f, const char *key)
{
    for (const char *at = f->words; *at; at += strlen(at) + 1) {
        const char *value = strchr(at, '=');
        bool names = value && (!strncmp(value - 4, "_key", 4) || !strncmp(at, "only_if=", strlen("only_if=")));
        if (names && names_key(value + 1, key))
            return true;
    }
    return false;
}

/* BERT's and ESM's rows rotate where position_embedding_type says so. */
static const char *family_of(hf_part *h)
{
    const char *family = h->fact->family;
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
    bool rotates = !strncmp(readers, "rope", strlen("rope"));
    if (zoo_fact_word(f, "fixed_theta") && rotates)
        return false;
    if (h->guessed || row_names(f, key) || zoo_has_word(readers, f->type))
        return true;
    return zoo_has_word(readers, family_of(h)) || (f->local_theta > 0 && zoo_has_word(readers, LOCAL)) ||
           (zoo_fact_word(f, "norope_interval") && zoo_has_word(readers, INTERVAL));
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
    while (n < count && !zoo_has_word(known[n].keys, key))
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
    for (io_node child = { 0 }; io_json_next(&child, h->config);)
        if (looks_like_one(child.key) && !says_nothing(&child))
            ZOO_TRY(check_key(h, child.key));
    return PE_OK;
}
