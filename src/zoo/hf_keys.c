/* SPDX-License-Identifier: MIT
 *
 * A key about positions that no code we know reads is an error: that is how a scaling gets ignored. */
#include "zoo/hf.h"

#include <string.h>

/* What the names of such keys have in them. */
static const char *const signs[] = { "rope",         "rotary",      "alibi",       "yarn",         "ntk",
                                     "mscale",       "theta",       "pos_emb",     "position_emb", "positional",
                                     "relative_att", "long_factor", "short_factor" };

/* Read by some family of ours, or by model code for other things (vision towers, dropout, tokenizers). */
static const char *const known[] = {
    "alibi",
    "alibi_bias_max",
    "offset_alibi",
    "original_rope",
    "rope_freq_constant",
    "rope_is_neox_style",
    "rope_max_length",
    "rotary_emb_dim",
    "axial_pos_embds",
    "axial_pos_embds_dim",
    "axial_pos_shape",
    "compress_rope_theta",
    "decoder_positional_dropout_rate",
    "encoder_positional_dropout_rate",
    "global_rope_theta",
    "has_relative_attention_bias",
    "layer_rope_theta",
    "learned_pos_emb",
    "left_max_position_embeddings",
    "local_rope_theta",
    "max_2d_position_embeddings",
    "max_decoder_position_embeddings",
    "max_encoder_position_embeddings",
    "max_grid_col_position_embeddings",
    "max_grid_row_position_embeddings",
    "max_pos_emb",
    "max_position_embeddings",
    "memory_attention_rope_dropout",
    "memory_attention_rope_feat_sizes",
    "memory_attention_rope_k_sizes",
    "mrope_section",
    "mscale",
    "mscale_all_dim",
    "no_rope_layer_interval",
    "no_rope_layers",
    "num_conv_pos_embedding_groups",
    "num_conv_pos_embeddings",
    "num_position_embeddings",
    "num_spatial_rope_pairs_per_axis",
    "num_uid_rope_pairs",
    "original_max_position_embeddings",
    "partial_rotary_factor",
    "partial_rotary_factors",
    "pos_emb_height",
    "pos_emb_interp_mode",
    "pos_emb_time",
    "pos_emb_width",
    "pos_embed_jitter",
    "pos_embed_rescale",
    "pos_embed_shift",
    "position_embedding_size",
    "position_embedding_type",
    "position_embeddings_type",
    "positional_dropout",
    "positional_dropout_rate",
    "positional_embedding_temperature",
    "positional_encoding_temperature",
    "positional_encoding_type",
    "qk_nope_head_dim",
    "qk_rope_head_dim",
    "relation_bias_theta",
    "relative_attention",
    "relative_attention_max_distance",
    "relative_attention_num_buckets",
    "right_max_position_embeddings",
    "rope",
    "rope_base",
    "rope_full_precision",
    "rope_dim",
    "rope_global_theta",
    "rope_interleave",
    "rope_interleaved",
    "rope_local_base_freq",
    "rope_parameters",
    "rope_pct",
    "rope_percent",
    "rope_ratio",
    "rope_scaling",
    "rope_scaling_factor",
    "rope_swa_theta",
    "rope_theta",
    "rope_theta_global",
    "rope_theta_local",
    "rope_traditional",
    "rope_type",
    "rotary",
    "rotary_base",
    "rotary_dim",
    "rotary_emb_base",
    "rotary_emb_fraction",
    "rotary_emb_interleaved",
    "rotary_emb_scale_base",
    "rotary_embedding_base",
    "rotary_interleaved",
    "rotary_ndims",
    "rotary_pct",
    "rotary_percent",
    "rotary_scaling_factor",
    "rotary_value",
    "sine_position_embedding_scale",
    "sinusoidal_pos_embds",
    "spatial_rope_base_frequency",
    "swa_rope_theta",
    "t2u_max_position_embeddings",
    "type_of_position_embedding",
    "uid_rope_base_frequency",
    "use_absolute_position_embeddings",
    "use_alibi",
    "use_dynamic_ntk",
    "use_learned_position_embeddings",
    "use_mem_rope",
    "use_mid_position_embeddings",
    "use_mrope",
    "use_positional_embedding",
    "use_positional_encoding",
    "use_relative_position_embeddings",
    "use_rotary_embedding",
    "use_rotary_embeddings",
    "window_positional_embedding_background_size",
    "add_position_embedding",
    "use_nope",
    "rotary_compress",
    "rotary_type",
    "rope_3d",
    "pos_emb",
};

static bool is_known(const char *key)
{
    for (size_t n = 0; n < sizeof known / sizeof *known; n++)
        if (!strcmp(known[n], key))
            return true;
    return false;
}

static bool looks_like_one(const char *key)
{
    for (size_t n = 0; n < sizeof signs / sizeof *signs; n++)
        if (strstr(key, signs[n]))
            return true;
    return false;
}

pe_status hf_check_keys(hf_part *h)
{
    for (io_node child = { 0 }; io_json_next(&child, h->config);) {
        io_json_kind kind = io_json_kind_of(&child);
        bool says = kind != IO_JSON_NULL && kind != IO_JSON_FALSE && kind != IO_JSON_OBJECT;
        if (says && looks_like_one(child.key) && !is_known(child.key))
            ZOO_TRY(zoo_unknown(h->b, child.key, "the config without it, if it does nothing",
                                "the config as if it were not there", "there is a key %.60s that nothing here reads",
                                child.key));
    }
    return PE_OK;
}
