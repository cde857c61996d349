/* SPDX-License-Identifier: MIT
 *
 * Models that rotate, and keep some of what says how in places of their own. */
#include "zoo/hf.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The base and the key heads are in attn_config; transformers 5 takes the base from rope_parameters where it has them.
 */
pe_status hf_dbrx(hf_part *h)
{
    io_node attention, at;
    zoo_fact *own = hf_own_fact(h);
    double theta = h->fact->theta;
    if (!own)
        return PE_ERR_NOMEM;
    ZOO_TRY(io_json_object(&attention, h->config, "attn_config", IO_OPTIONAL, h->b->err));
    ZOO_TRY(io_json_real(&theta, &attention, "rope_theta", IO_OPTIONAL, h->b->err));
    ZOO_TRY(io_json_int(&h->kv_heads, &attention, "kv_n_heads", IO_OPTIONAL, (io_int_range){ 0, 65536 }, h->b->err));
    if (attention.json && io_json_get(&at, &attention, "rope_theta"))
        ZOO_TRY(
            zoo_note_add(h->b, ZOO_WARNING, "attn_config.rope_theta", "vLLM models/dbrx.py",
                         "the base is attn_config.rope_theta, %s; transformers 5.17.0 does not look there and takes "
                         "10000",
                         zoo_number(theta).text));
    own->theta = theta;
    return hf_rope(h);
}

/* DeepSeek-VL2 and OCR have small ones without MLA, which turn like Llama (vLLM models/deepseek_v2.py: use_mha). */
pe_status hf_mla(hf_part *h)
{
    int64_t nope = h->fact->nope_dim, rope = h->fact->rope_dim;
    bool mla;
    ZOO_TRY(hf_flag(h, &mla, "use_mla", true));
    ZOO_TRY(io_json_int(&nope, h->config, "qk_nope_head_dim", IO_OPTIONAL, (io_int_range){ 0, 1 << 20 }, h->b->err));
    ZOO_TRY(io_json_int(&rope, h->config, "qk_rope_head_dim", IO_OPTIONAL, (io_int_range){ 0, 1 << 20 }, h->b->err));
    if (mla && (nope || rope))
        return hf_rope(h);
    zoo_fact *own = hf_own_fact(h);
    if (!own)
        return PE_ERR_NOMEM;
    own->pairs = NULL;
    own->rope_dim = own->nope_dim = 0;
    own->mscale = false;
    return hf_rope(h);
}

/* Nomic's own code, beside the class of transformers, has keys for pairs and for a base that grows with the length. */
pe_status hf_nomic(hf_part *h)
{
    bool adjacent;
    double factor = 0;
    zoo_fact *own = hf_own_fact(h);
    if (!own)
        return PE_ERR_NOMEM;
    ZOO_TRY(hf_flag(h, &adjacent, "rotary_emb_interleaved", false));
    own->pairs = adjacent ? "adjacent" : own->pairs;
    own->partial = true;
    ZOO_TRY(hf_real(h, &factor, "rotary_scaling_factor", 0));
    if (factor != 0)
        ZOO_TRY(zoo_note_add(
            h->b, ZOO_WARNING, "rotary_scaling_factor", "nomic-ai/nomic-bert-2048 modeling_hf_nomic_bert.py",
            "rotary_scaling_factor %s makes the base grow with sequences past max_trained_positions in "
            "Nomic's own code; the spec is that of sequences up to there",
            zoo_number(factor).text));
    ZOO_TRY(hf_rope(h));
    return hf_int(h, &h->part->trained, "max_trained_positions", 0);
}

/* InternLM 1 says its scaling in an object of its own. */
pe_status hf_internlm(hf_part *h)
{
    io_node rotary;
    const char *how = "origin";
    zoo_fact *own = hf_own_fact(h);
    if (!own)
        return PE_ERR_NOMEM;
    ZOO_TRY(io_json_object(&rotary, h->config, "rotary", IO_OPTIONAL, h->b->err));
    ZOO_TRY(io_json_string(&how, &rotary, "type", IO_OPTIONAL, h->b->err));
    ZOO_TRY(io_json_real(&own->theta, &rotary, "base", IO_OPTIONAL, h->b->err));
    if (strcmp(how, "origin"))
        ZOO_TRY(
            zoo_note_add(h->b, ZOO_WARNING, "rotary.type", h->source,
                         "rotary.type is %.20s: past max_position_embeddings InternLM's own code lets the base grow; "
                         "the spec is that of sequences up to there",
                         how));
    return hf_rope(h);
}

/* Some Jais divide scores by the head's width, not by its root. */
pe_status hf_jais(hf_part *h)
{
    bool by_width, older;
    ZOO_TRY(hf_flag(h, &older, "scale_qk_dot_by_d", false));
    ZOO_TRY(hf_flag(h, &by_width, "mup_scale_qk_dot_by_d", older));
    if (by_width)
        ZOO_TRY(
            zoo_note_add(h->b, ZOO_WARNING, "mup_scale_qk_dot_by_d", h->source,
                         "mup_scale_qk_dot_by_d: scores are scaled by 1/d, not 1/sqrt(d); the spec does not say so"));
    return hf_still(h);
}

/* ---------------------------------------------------------------- OpenELM */

/* The next number of a list with as many as layers. */
static pe_status next_heads(hf_part *h, const io_node *list, io_node *at, int64_t *out)
{
    if (!io_json_next(at, list))
        return io_fail(h->b->err, PE_ERR_FORMAT, "%s: %s has fewer numbers than there are layers, %" PRId64,
                       h->b->model.path, list->key, h->layers);
    return io_json_int(out, at, NULL, IO_REQUIRED, (io_int_range){ 1, 65536 }, h->b->err);
}

/* Layers differ in their heads, not in how they turn. */
pe_status hf_openelm(hf_part *h)
{
    double theta = 10000;
    io_node queries, keys, query = { 0 }, key = { 0 };
    ZOO_TRY(io_json_array(&queries, h->config, "num_query_heads", IO_REQUIRED, h->b->err));
    ZOO_TRY(io_json_array(&keys, h->config, "num_kv_heads", IO_REQUIRED, h->b->err));
    ZOO_TRY(hf_int(h, &h->shape.model_dim, "model_dim", 0));
    ZOO_TRY(hf_int(h, &h->shape.head_dim, "head_dim", 0));
    ZOO_TRY(hf_int(h, &h->layers, "num_transformer_layers", 0));
    ZOO_TRY(hf_int(h, &h->length, "max_context_length", 0));
    ZOO_TRY(hf_real(h, &theta, h->fact->theta_key, h->fact->theta));
    ZOO_TRY(zoo_add_part(h->b, &h->part, h->name, h->fact->type, h->layers));
    h->part->trained = h->part->served = h->length;
    const char *text = zoo_text(h->b, "rope:theta=%s", zoo_number(theta).text);
    for (int64_t n = 0; text && n < h->layers; n++) {
        pe_shape shape = h->shape;
        ZOO_TRY(next_heads(h, &queries, &query, &shape.heads));
        ZOO_TRY(next_heads(h, &keys, &key, &shape.kv_heads));
        ZOO_TRY(zoo_set_layer(h->b, h->part, n, text, shape, "", 0));
    }
    return text ? PE_OK : PE_ERR_NOMEM;
}

/* GTE's ntk (vLLM layers/rotary_embedding/ntk_scaling_rope.py): the base times the factor s, and all frequencies
 * divided by s^(2/d), which is a linear scaling. */
pe_status hf_gte(hf_part *h)
{
    io_node dict, mixed;
    const char *how = "";
    double factor = 1, theta = 10000;
    ZOO_TRY(io_json_object(&dict, h->config, "rope_scaling", IO_OPTIONAL, h->b->err));
    ZOO_TRY(io_json_string(&how, &dict, "type", IO_OPTIONAL, h->b->err));
    if (!dict.json || strcmp(how, "ntk"))
        return hf_rope(h);
    ZOO_TRY(io_json_real(&factor, &dict, "factor", IO_REQUIRED, h->b->err));
    if (!(factor >= 1 && factor <= 1024) ||
        (io_json_get(&mixed, &dict, "mixed_b") && io_json_kind_of(&mixed) != IO_JSON_NULL))
        return io_fail(h->b->err, PE_ERR_UNSUITED,
                       "%s: rope_scaling is ntk with factor %s; needs 1 to 1024 and no mixed_b", h->b->model.path,
                       zoo_number(factor).text);
    ZOO_TRY(hf_measure(h));
    ZOO_TRY(hf_real(h, &theta, "rope_theta", h->fact->theta));
    const char *text = zoo_text(h->b, "rope:theta=%s,scaling=linear,factor=%s", zoo_number(theta * factor).text,
                                zoo_number(pow(factor, 2 / (double)h->shape.head_dim)).text);
    return text ? hf_all_layers(h, text) : PE_ERR_NOMEM;
}
