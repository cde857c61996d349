/* SPDX-License-Identifier: MIT
 *
 * From a config to its parts, and from a part to the family that reads it. A key about positions that the model's code
 * does not read gets a warning, and one that no code we know reads is an error: that is how a scaling gets ignored. */
#include "zoo/hf.h"
#include "zoo/spec_read.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- keys about positions */

/* What the names of such keys have in them. */
static const char *const signs[] = { "rope",         "rotary",      "alibi",        "yarn",         "ntk",
                                     "mscale",       "theta",       "pos_emb",      "position_emb", "positional",
                                     "relative_att", "long_factor", "short_factor", "logn_attn",    "dual_chunk" };

#define ROTATE "rope falcon baichuan chatglm qwen roformer dbrx mla nomic internlm gte openelm dinov3 fope "
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
    { "shaw conformer", "position_embeddings_type left_max_position_embeddings right_max_position_embeddings" },
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
        return zoo_unknown(h->b, key, "the config without it, if it does nothing", "that it does nothing",
                           "there is a key %.60s that posenc does not know", key);
    if (!known[n].readers || is_read(h, key, known[n].readers))
        return PE_OK;
    return zoo_note_add(h->b, ZOO_WARNING, key, h->source, "%s is there, but %s's code does not read it", key,
                        h->fact->type);
}

static pe_status check_keys(hf_part *h)
{
    for (io_node child = { 0 }; io_json_next(&child, h->config);)
        if (looks_like_one(child.key) && !says_nothing(&child))
            TRY(check_key(h, child.key));
    return PE_OK;
}

/* ---------------------------------------------------------------- families */

static const struct {
    const char *name;
    hf_family *read;
} families[] = {
    { "rope", hf_rope },
    { "spec", hf_spec },
    { "sines", hf_sines },
    { "patches", hf_patches },
    { "films", hf_films },
    { "spectrogram", hf_spectrogram },
    { "seq2seq", hf_seq2seq },
    { "t5", hf_t5 },
    { "deberta", hf_deberta },
    { "xlnet", hf_xlnet },
    { "transfo-xl", hf_transfo_xl },
    { "bert", hf_bert },
    { "mpnet", hf_mpnet },
    { "falcon", hf_falcon },
    { "mpt", hf_mpt },
    { "baichuan", hf_baichuan },
    { "chatglm", hf_chatglm },
    { "qwen", hf_qwen },
    { "roformer", hf_roformer },
    { "esm", hf_esm },
    { "recurrent", hf_recurrent },
    { "dinov3", hf_dinov3 },
    { "shaw", hf_shaw },
    { "conformer", hf_conformer },
    { "inkling", hf_inkling },
    { "dbrx", hf_dbrx },
    { "mla", hf_mla },
    { "nomic", hf_nomic },
    { "internlm", hf_internlm },
    { "jais", hf_jais },
    { "openelm", hf_openelm },
    { "gte", hf_gte },
    { "fope", hf_fope },
};

static pe_status read_family(hf_part *h)
{
    for (size_t n = 0; n < sizeof families / sizeof *families; n++)
        if (!strcmp(families[n].name, h->fact->family))
            return families[n].read(h);
    return zoo_fail(h->b, PE_ERR_UNSUITED, "no reader for %s", h->fact->family);
}

/* ---------------------------------------------------------------- parts */

/* The row of this type. An unknown one is an error, unless options say what it cannot. */
static pe_status find_fact(hf_part *h, const char *type)
{
    static const zoo_row guess = { "unknown", "rope", "rotary_fraction=1" };
    const zoo_row *row = zoo_row_find(type);
    const zoo_options *o = h->b->options;
    const char *reason = row ? NULL : zoo_unread_reason(type);
    if (reason)
        return zoo_fail(h->b, PE_ERR_UNSUITED, "model_type %s is known, but %s", type, reason);
    h->fact = zoo_alloc(h->b, 1, sizeof *h->fact);
    if (!h->fact)
        return PE_ERR_NOMEM;
    TRY(zoo_fact_read(h->fact, row ? row : &guess, h->b->err));
    if (row) {
        zoo_row_source(h->source, row);
        return PE_OK;
    }
    h->guessed = true;
    if (o->pairs)
        return zoo_note_add(h->b, ZOO_FACT, "model_type", "", "model_type %.60s is unknown; pairs=%s as you say", type,
                            o->pairs);
    return zoo_unknown(h->b, "model_type", "--pairs half (or adjacent), or --type llama and the like", "pairs=half",
                       "model_type %.60s is unknown, and a config does not say the pair layout", type);
}

static pe_status read_one(zoo_builder *b, const io_node *config, const char *name, const char *type)
{
    hf_part h = { .b = b, .config = config, .name = name };
    TRY(find_fact(&h, type));
    TRY(check_keys(&h));
    return read_family(&h);
}

static const char *part_name(const char *key, char out[64])
{
    snprintf(out, 64, "%s", key);
    char *tail = strstr(out, "_config");
    if (!tail)
        tail = strstr(out, "_cfg"); /* VILA */
    if (tail)
        *tail = 0;
    if (!strcmp(out, "llm") || !strcmp(out, "language") || !strcmp(out, "lm"))
        return "text";
    return out;
}

/* Older configs of such models have the keys of the part that speaks at the top. */
static bool is_flat(const io_node *config)
{
    static const char *const keys[] = { "num_hidden_layers", "hidden_size", "n_layer" };
    io_node at;
    for (size_t n = 0; n < sizeof keys / sizeof *keys; n++)
        if (io_json_get(&at, config, keys[n]) && io_json_kind_of(&at) == IO_JSON_INT)
            return true;
    return false;
}

/* Whether the config says how many layers a model has, and so is one. */
static bool has_layers(const io_node *config)
{
    static const char *const keys[] = { "num_hidden_layers", "n_layer", "n_layers", "num_layers" };
    io_node at;
    for (size_t n = 0; n < sizeof keys / sizeof *keys; n++)
        if (io_json_get(&at, config, keys[n]) && io_json_kind_of(&at) == IO_JSON_INT)
            return true;
    return false;
}

static bool is_model_of_models(const char *type)
{
    const zoo_row *row = zoo_row_find(type);
    return row && !strcmp(row->family, "parts");
}

static pe_status zoo_hf_read(zoo_builder *b, const io_node *config, const char *name, const char *type);

/* A part beside the first that cannot be read is left out, with a note: people ask for the language model. */
static pe_status read_aside(zoo_builder *b, const io_node *sub, const char *key, const char *name, const char *type)
{
    zoo_mark mark = zoo_mark_here(b);
    pe_error why = { 0 }, *err = b->err;
    const char *reason = zoo_unread_reason(type);
    if (!zoo_row_find(type))
        return zoo_note_add(b, ZOO_FACT, key, "", "%s (%.60s) is not read%s%s", key, type, reason ? ": " : "",
                            reason ? reason : "");
    b->err = &why;
    pe_status s = zoo_hf_read(b, sub, name, type);
    b->err = err;
    if (s == PE_ERR_NOMEM)
        return io_fail(err, s, "%s", why.text);
    if (s == PE_OK)
        return s;
    zoo_undo(b, mark);
    return zoo_note_add(b, ZOO_WARNING, key, "", "%s is not read: %s", key, why.text);
}

/* The objects that hold the language model in a config of a type that has no row, or of another row's type. */
static const char *const homes[] = { "text_config", "llm_config", "language_config", "llm_cfg", "thinker_config" };

static const char *find_home(io_node *sub, const io_node *config)
{
    for (size_t n = 0; n < sizeof homes / sizeof *homes; n++)
        if (io_json_get(sub, config, homes[n]) && io_json_kind_of(sub) == IO_JSON_OBJECT)
            return homes[n];
    return NULL;
}

/* "text_config=llama": the part's own model_type counts where it has one, and what the options say before all, if that
 * is no model of models itself. */
static pe_status read_part(zoo_builder *b, const io_node *config, const char *entry, int nth)
{
    char key[64], name[64];
    const char *equals = strchr(entry, '='), *type, *forced = nth > 0 ? NULL : b->options->type;
    io_node sub;
    snprintf(key, sizeof key, "%.*s", (int)(equals ? equals - entry : 0), entry);
    type = equals ? equals + 1 : "";
    TRY(io_json_object(&sub, config, key, IO_OPTIONAL, b->err));
    if (!sub.json && nth > 0)
        return PE_OK;
    if (!sub.json && is_flat(config))
        return zoo_hf_read(b, config, part_name(key, name), type);
    if (!sub.json)
        return zoo_fail(b, PE_ERR_FORMAT, "%s is missing", key);
    const char *whole = "", *own = "";
    TRY(io_json_string(&whole, config, "model_type", IO_OPTIONAL, b->err));
    TRY(io_json_string(&own, &sub, "model_type", IO_OPTIONAL, b->err));
    if (*own && (strcmp(own, whole) || !*type)) /* the first Qwen2-VL called its picture part by its own name */
        type = own;
    if (forced && !is_model_of_models(forced))
        type = forced;
    return nth > 0 ? read_aside(b, &sub, key, part_name(key, name), type)
                   : zoo_hf_read(b, &sub, part_name(key, name), type);
}

/* list: the words of the row, or one home. */
static pe_status read_parts(zoo_builder *b, const io_node *config, const char *list)
{
    int n = 0;
    for (; *list && strncmp(list, "source=", strlen("source=")); list += strspn(list, " ")) {
        char entry[64];
        snprintf(entry, sizeof entry, "%.*s", (int)strcspn(list, " "), list);
        list += strcspn(list, " ");
        if (strncmp(entry, "folder=", strlen("folder=")))
            TRY(read_part(b, config, entry, n++));
    }
    return PE_OK;
}

/* Keys of the nested language model that nobody would read, because the type's own keys are at the top. */
static pe_status check_nested(zoo_builder *b, const io_node *sub, const char *home, const char *type)
{
    for (io_node child = { 0 }; io_json_next(&child, sub);)
        if (looks_like_one(child.key) && !says_nothing(&child))
            return zoo_unknown(b, home, "the config without it, or with its keys alone", "that it says nothing",
                               "%s has %.60s, but a %s has its layers outside of it", home, child.key, type);
    return PE_OK;
}

/* The parts of a config that the row does not list: those of the config's own type, or its language model. NULL: it is
 * one model. */
static pe_status find_parts(zoo_builder *b, const io_node *config, const char *type, const char **out)
{
    io_node sub;
    const char *home = find_home(&sub, config), *own = "";
    bool has_row = zoo_row_find(type);
    *out = NULL;
    if (!home || zoo_unread_reason(type))
        return PE_OK;
    TRY(io_json_string(&own, config, "model_type", IO_OPTIONAL, b->err));
    if (has_row && has_layers(config))
        return check_nested(b, &sub, home, type);
    *out =
        has_row && is_model_of_models(own) ? zoo_row_find(own)->words : zoo_text(b, "%s=%s", home, has_row ? type : "");
    return *out ? PE_OK : PE_ERR_NOMEM;
}

/* Qwen3-ASR as published has all its parts in thinker_config, as its class does not. */
static bool is_wrapped(io_node *sub, const io_node *config, const char *words)
{
    char first[64];
    if (!strncmp(words, "folder=", strlen("folder=")))
        words += strcspn(words, " ") + 1;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(words, "="), words);
    return !io_json_get(sub, config, first) && !has_layers(config) && find_home(sub, config);
}

/* A config, or a part of one, of this model_type. name is the part's. */
static pe_status zoo_hf_read(zoo_builder *b, const io_node *config, const char *name, const char *type)
{
    const char *parts = is_model_of_models(type) ? zoo_row_find(type)->words : NULL;
    io_node sub;
    if (b->depth > 4)
        return zoo_fail(b, PE_ERR_FORMAT, "configs in configs, five deep");
    b->depth++;
    bool wrapped = parts && is_wrapped(&sub, config, parts);
    pe_status s = parts ? PE_OK : find_parts(b, config, type, &parts);
    if (s == PE_OK)
        s = wrapped ? zoo_hf_read(b, &sub, name, type)
            : parts ? read_parts(b, config, parts)
                    : read_one(b, config, name, type);
    b->depth--;
    return s;
}

/* The model_type of a config: as the options say, its own, or what an old config shows in other ways. */
static pe_status type_of(zoo_builder *b, const io_node *config, const char **out)
{
    io_node list, name;
    *out = b->options->type;
    if (*out)
        return PE_OK;
    TRY(io_json_string(out, config, "model_type", IO_OPTIONAL, b->err));
    if (*out)
        return PE_OK;
    TRY(io_json_array(&list, config, "architectures", IO_OPTIONAL, b->err));
    name = (io_node){ 0 };
    if (list.json && io_json_next(&name, &list) && io_json_kind_of(&name) == IO_JSON_STRING) {
        TRY(io_json_string(out, &name, NULL, IO_REQUIRED, b->err));
        if (zoo_row_find(*out))
            return PE_OK;
    }
    *out = "";
    return zoo_unknown(b, "model_type", "--type llama (or what it is)", "what its keys say", "model_type is missing");
}

pe_status zoo_read_node(zoo_model **out, const char *name, const io_node *config, const zoo_options *options,
                        pe_error *err)
{
    const char *type;
    *out = NULL;
    zoo_builder *b = zoo_begin(name, "config.json", options, err);
    if (!b)
        return PE_ERR_NOMEM;
    pe_status s = type_of(b, config, &type);
    return zoo_finish(out, b, s == PE_OK ? zoo_hf_read(b, config, "", type) : s);
}

pe_status zoo_read_config(zoo_model **out, const char *name, const char *json, size_t size, const zoo_options *options,
                          pe_error *err)
{
    io_node root;
    *out = NULL;
    TRY(io_json_parse(&root, name, json, size, err));
    pe_status s = zoo_read_node(out, name, &root, options, err);
    io_json_free(&root);
    return s;
}
