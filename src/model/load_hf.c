/* SPDX-License-Identifier: MIT
 *
 * What the architectures call their weights, and where they go: two tables. */
#include "model/load_hf.h"

#include <stdlib.h>
#include <string.h>

static const place llama[] = {
    { "embed", "embed_tokens", VOCAB, WIDTH, NEVER, false },
    { "final", "norm", WIDTH, ONE, NEVER, false },
    { "layer.%.norm1", "layers.%.input_layernorm", WIDTH, ONE, NEVER, false },
    { "layer.%.qkv", "layers.%.self_attn.q_proj", QUERIES, WIDTH, ATTENTION, false },
    { "layer.%.qkv", "layers.%.self_attn.k_proj", KEYS, WIDTH, ATTENTION, false },
    { "layer.%.qkv", "layers.%.self_attn.v_proj", KEYS, WIDTH, ATTENTION, false },
    { "layer.%.out", "layers.%.self_attn.o_proj", WIDTH, QUERIES, ATTENTION, false },
    { "layer.%.norm2", "layers.%.post_attention_layernorm", WIDTH, ONE, NEVER, false },
    { "layer.%.up", "layers.%.mlp.gate_proj", HIDDEN, WIDTH, MLP, false },
    { "layer.%.up", "layers.%.mlp.up_proj", HIDDEN, WIDTH, MLP, false },
    { "layer.%.down", "layers.%.mlp.down_proj", WIDTH, HIDDEN, MLP, false },
};
static const place bloom[] = {
    { "embed", "word_embeddings", VOCAB, WIDTH, NEVER, false },
    { "embed_norm", "word_embeddings_layernorm", WIDTH, ONE, ALWAYS, false },
    { "final", "ln_f", WIDTH, ONE, ALWAYS, false },
    { "layer.%.norm1", "h.%.input_layernorm", WIDTH, ONE, ALWAYS, false },
    { "layer.%.qkv", "h.%.self_attention.query_key_value", FUSED, WIDTH, ALWAYS, true },
    { "layer.%.out", "h.%.self_attention.dense", WIDTH, QUERIES, ALWAYS, false },
    { "layer.%.norm2", "h.%.post_attention_layernorm", WIDTH, ONE, ALWAYS, false },
    { "layer.%.up", "h.%.mlp.dense_h_to_4h", HIDDEN, WIDTH, ALWAYS, false },
    { "layer.%.down", "h.%.mlp.dense_4h_to_h", WIDTH, HIDDEN, ALWAYS, false },
};
#define PLACES(list) list, (int)(sizeof(list) / sizeof *(list))
static const architecture known[] = {
    { "llama", "model.", "embed_tokens.weight", PLACES(llama), false },
    { "bloom", "transformer.", "word_embeddings.weight", PLACES(bloom), true },
};
/* ---------------------------------------------------------------- the config */

static pe_status read_llama(loading *l, const io_node *config)
{
    pe_error *err = l->err;
    const char *act = "silu";
    bool attention = false, mlp = false;
    l->c.eps = 1e-6;
    LOAD_TRY(io_json_int(&l->c.hidden, config, "intermediate_size", IO_REQUIRED, LOAD_SIZE, err));
    LOAD_TRY(io_json_real(&l->c.eps, config, "rms_norm_eps", IO_OPTIONAL, err));
    LOAD_TRY(io_json_string(&act, config, "hidden_act", IO_OPTIONAL, err));
    LOAD_TRY(io_json_bool(&attention, config, "attention_bias", IO_OPTIONAL, err));
    LOAD_TRY(io_json_bool(&mlp, config, "mlp_bias", IO_OPTIONAL, err));
    if (strcmp(act, "silu"))
        return io_fail(err, PE_ERR_FORMAT, "%s: hidden_act is %s; needs silu", l->name, act);
    l->c.biases = attention || mlp;
    l->bias[ATTENTION] = attention;
    l->bias[MLP] = mlp;
    return PE_OK;
}

static pe_status read_bloom(loading *l, const io_node *config)
{
    bool after = false;
    l->c.norm = MODEL_LAYER;
    l->c.mlp = MODEL_GELU;
    l->c.embed_norm = l->c.biases = true;
    l->c.hidden = 4 * l->c.width;
    l->c.eps = 1e-5;
    LOAD_TRY(io_json_real(&l->c.eps, config, "layer_norm_epsilon", IO_OPTIONAL, l->err));
    LOAD_TRY(io_json_bool(&after, config, "apply_residual_connection_post_layernorm", IO_OPTIONAL, l->err));
    if (l->c.kv_heads != l->c.heads)
        return io_fail(l->err, PE_ERR_FORMAT,
                       "%s: has %lld key heads for %lld query heads; needs as many, as BLOOM has", l->name,
                       (long long)l->c.kv_heads, (long long)l->c.heads);
    if (after)
        return io_fail(l->err, PE_ERR_FORMAT,
                       "%s: apply_residual_connection_post_layernorm is true; needs false, which BLOOM's models have",
                       l->name);
    return PE_OK;
}

static pe_status read_config(loading *l, const io_node *config, const zoo_group *group, int64_t layers)
{
    bool tied = l->a->tied;
    pe_shape s = group->shape;
    l->c = (model_config){ .layers = layers,
                           .width = s.model_dim,
                           .heads = s.heads,
                           .kv_heads = s.kv_heads,
                           .head_dim = s.head_dim,
                           .causal = true };
    l->bias[ALWAYS] = true;
    if (s.model_dim < 1 || s.model_dim > LOAD_SIZE_MAX)
        return io_fail(l->err, PE_ERR_FORMAT, "%s: the width of the embedding is not said; needs hidden_size", l->name);
    LOAD_TRY(io_json_int(&l->c.vocab, config, "vocab_size", IO_REQUIRED, LOAD_SIZE, l->err));
    LOAD_TRY(io_json_bool(&tied, config, "tie_word_embeddings", IO_OPTIONAL, l->err));
    l->c.untied = !tied;
    LOAD_TRY(l->a->place == llama ? read_llama(l, config) : read_bloom(l, config));
    if (!(l->c.eps > 0 && l->c.eps < 1))
        return io_fail(l->err, PE_ERR_FORMAT, "%s: the epsilon of its norms is %g; needs a number above 0 and below 1",
                       l->name, l->c.eps);
    return PE_OK;
}

/* ---------------------------------------------------------------- the model */

static pe_status find_architecture(loading *l, const zoo_model *zoo)
{
    const char *type = zoo->part[0].type;
    for (size_t n = 0; n < sizeof known / sizeof *known; n++)
        if (!strcmp(known[n].type, type)) {
            l->a = &known[n];
            return PE_OK;
        }
    return io_fail(l->err, PE_ERR_FORMAT, "%s: is a %s; needs a model of the llama or bloom architecture", zoo->path,
                   type);
}

static pe_status load(loading *l, const io_node *config, const zoo_model *zoo, const pe_pool *pool)
{
    const zoo_group *group;
    LOAD_TRY(find_architecture(l, zoo));
    LOAD_TRY(model_load_group(&group, zoo, l->err));
    LOAD_TRY(read_config(l, config, group, zoo->part[0].layers));
    LOAD_TRY(load_places(l));
    LOAD_TRY(model_new(&l->m, &l->c, group->spec, pool, l->err));
    l->piece = malloc((size_t)MODEL_LOAD_PIECE * sizeof(float));
    return l->piece ? load_places(l) : io_fail(l->err, PE_ERR_NOMEM, "%s: no memory", l->name);
}

pe_status model_load_hf(model **out, const io_node *config, const zoo_model *zoo, const model_shards *from,
                        const pe_pool *pool, pe_error *err)
{
    loading l = { .from = from, .name = zoo->path, .err = err };
    pe_status s = load(&l, config, zoo, pool);
    free(l.piece);
    *out = s == PE_OK ? l.m : NULL;
    if (s != PE_OK)
        model_free(l.m);
    return s;
}
