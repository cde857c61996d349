/* SPDX-License-Identifier: MIT
 *
 * Model types that rotate or not, or this way or that, as the rest of the config says, and those that keep what says
 * how under keys of their own. Each settles what its row leaves open and goes on as one of the other families. */
#include "zoo/hf.h"
#include "zoo/spec_read.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- Falcon */

/* FalconAttention: one key head where multi_query is set, unless the new architecture is. */
static pe_status falcon_heads(hf_part *h)
{
    bool newer, one;
    TRY(hf_flag(h, &newer, "new_decoder_architecture", false));
    TRY(hf_flag(h, &one, "multi_query", !hf_has(h, "n_head_kv")));
    if (one && !newer)
        h->kv_heads = 1;
    else if (!hf_has(h, "num_kv_heads") && !hf_has(h, "n_head_kv"))
        TRY(hf_int(h, &h->kv_heads, HF_HEADS, h->fact->heads));
    return PE_OK;
}

pe_status hf_falcon(hf_part *h)
{
    bool alibi;
    TRY(falcon_heads(h));
    TRY(hf_flag(h, &alibi, "alibi", false));
    return alibi && !h->b->options->rotary ? hf_read_spec(h, "alibi:convention=falcon", 0) : hf_rope(h);
}

/* ---------------------------------------------------------------- MPT */

pe_status hf_mpt(hf_part *h)
{
    io_node attention;
    bool alibi = true, rope = false, learned;
    double most = 8;
    pe_error *err = h->b->err;
    TRY(io_json_object(&attention, h->config, "attn_config", IO_OPTIONAL, err));
    TRY(io_json_bool(&alibi, &attention, "alibi", IO_OPTIONAL, err));
    TRY(io_json_bool(&rope, &attention, "rope", IO_OPTIONAL, err));
    TRY(io_json_real(&most, &attention, "alibi_bias_max", IO_OPTIONAL, err));
    TRY(io_json_int(&h->kv_heads, &attention, "kv_n_heads", IO_OPTIONAL, (io_int_range){ 0, 65536 }, err));
    TRY(hf_flag(h, &learned, "learned_pos_emb", true));
    if (rope)
        return io_fail(err, PE_ERR_UNSUITED,
                       "%s: attn_config.rope is true: its code is LLM Foundry's, which is not read", h->b->model.path);
    if (!alibi)
        return hf_read_spec(h, learned ? "learned" : "none", 0);
    TRY(hf_measure(h));
    return hf_all_layers(h, "alibi:convention=mpt,max=%s", zoo_number(most).text);
}

/* ---------------------------------------------------------------- Baichuan */

/* 7B rotates, 13B has ALiBi, under one name. Baichuan's own code, vLLM and SGLang tell them by the class and
 * hidden_size, llama.cpp by the layers. */
pe_status hf_baichuan(hf_part *h)
{
    int64_t hidden = 0, layers = 0;
    TRY(hf_int(h, &hidden, HF_HIDDEN, 0));
    TRY(hf_int(h, &layers, HF_LAYERS, 0));
    bool large = hidden == 5120 && layers == 40, small = hidden == 4096 && layers == 32;
    if (!large && !small && !h->b->options->rotary)
        TRY(zoo_unknown(h->b, "hidden_size", "--type llama for the 7B's way, or --type bloom for the 13B's",
                        "the 7B's way, rope",
                        "hidden_size %" PRId64 " with %" PRId64 " layers is neither Baichuan 7B (4096, 32), which "
                        "rotates, nor 13B (5120, 40), which has ALiBi",
                        hidden, layers));
    h->length_keys = hf_first_there(h, "max_position_embeddings|model_max_length");
    if (!h->length_keys)
        return PE_ERR_NOMEM;
    return large ? hf_read_spec(h, "alibi", 0) : hf_rope(h);
}

/* ---------------------------------------------------------------- ChatGLM */

/* The first rotates the front half of a head by the place and the back half by the place in the block. */
static pe_status chatglm_first(hf_part *h)
{
    h->fact->pairs = "half";
    h->fact->spec = "axes=2,split=blocks";
    h->fact->rotary_fraction = 0;
    return hf_rope(h);
}

pe_status hf_chatglm(hf_part *h)
{
    bool flat, shared, adjacent;
    double ratio = 1;
    TRY(hf_flag(h, &flat, "position_encoding_2d", false));
    if (flat)
        return chatglm_first(h);
    TRY(hf_flag(h, &adjacent, "original_rope", true));
    h->fact->pairs = adjacent ? h->fact->pairs : "half";
    TRY(hf_flag(h, &shared, "multi_query_attention", false));
    if (!shared)
        TRY(hf_int(h, &h->kv_heads, HF_HEADS, h->fact->heads));
    TRY(hf_real(h, &ratio, "rope_ratio", 0));
    if (ratio != 1)
        TRY(zoo_note_add(h->b, ZOO_FACT, "rope_ratio", h->source, "rope_ratio %s multiplies the base of 10000",
                         zoo_number(ratio).text));
    h->fact->theta *= ratio;
    return hf_rope(h);
}

/* ---------------------------------------------------------------- Qwen, the first */

/* Past seq_length its code steps the base up with the length at hand and multiplies queries by log(t) / log(length). */
pe_status hf_qwen(hf_part *h)
{
    bool stepped, logn;
    int64_t trained = 0;
    TRY(hf_flag(h, &stepped, "use_dynamic_ntk", false));
    TRY(hf_flag(h, &logn, "use_logn_attn", false));
    TRY(hf_int(h, &trained, "seq_length", 0));
    h->length_keys = hf_first_there(h, "max_position_embeddings|seq_length");
    if (!h->length_keys)
        return PE_ERR_NOMEM;
    if (stepped || logn)
        TRY(zoo_note_add(h->b, ZOO_WARNING, stepped ? "use_dynamic_ntk" : "use_logn_attn", h->source,
                         "past seq_length %" PRId64 " its own code also has%s%s%s; the spec is that of sequences up "
                         "to there, and what vLLM, SGLang and llama.cpp do at any length",
                         trained, stepped ? " a base that grows with the length" : "", stepped && logn ? " and" : "",
                         logn ? " queries times log t / log seq_length" : ""));
    TRY(hf_rope(h));
    if (trained && !h->b->options->trained)
        h->part->trained = trained;
    return PE_OK;
}

/* ---------------------------------------------------------------- encoders */

pe_status hf_roformer(hf_part *h)
{
    bool values;
    TRY(hf_flag(h, &values, "rotary_value", false));
    h->fact->spec = values ? "turn=qkv" : NULL;
    return hf_rope(h);
}

pe_status hf_esm(hf_part *h)
{
    const char *how = "absolute";
    TRY(hf_word(h, &how, "position_embedding_type"));
    return !strcmp(how, "rotary") ? hf_rope(h) : hf_bert(h);
}

/* ---------------------------------------------------------------- keys of their own */

/* The base and the key heads are in attn_config; transformers 5 takes the base from rope_parameters where it has them.
 */
pe_status hf_dbrx(hf_part *h)
{
    io_node attention, at;
    double theta = h->fact->theta;
    TRY(io_json_object(&attention, h->config, "attn_config", IO_OPTIONAL, h->b->err));
    TRY(io_json_real(&theta, &attention, "rope_theta", IO_OPTIONAL, h->b->err));
    TRY(io_json_int(&h->kv_heads, &attention, "kv_n_heads", IO_OPTIONAL, (io_int_range){ 0, 65536 }, h->b->err));
    if (attention.json && io_json_get(&at, &attention, "rope_theta"))
        TRY(zoo_note_add(h->b, ZOO_WARNING, "attn_config.rope_theta", "vLLM models/dbrx.py",
                         "the base is attn_config.rope_theta, %s; " ZOO_TRANSFORMERS_READ
                         " does not look there and takes "
                         "10000",
                         zoo_number(theta).text));
    h->fact->theta = theta;
    return hf_rope(h);
}

/* DeepSeek-VL2 and OCR have small ones without MLA, which rotate like Llama (vLLM models/deepseek_v2.py: use_mha). */
pe_status hf_mla(hf_part *h)
{
    int64_t nope = h->fact->nope_dim, rope = h->fact->rope_dim;
    bool mla;
    TRY(hf_flag(h, &mla, "use_mla", true));
    TRY(io_json_int(&nope, h->config, "qk_nope_head_dim", IO_OPTIONAL, (io_int_range){ 0, 1 << 20 }, h->b->err));
    TRY(io_json_int(&rope, h->config, "qk_rope_head_dim", IO_OPTIONAL, (io_int_range){ 0, 1 << 20 }, h->b->err));
    if (mla && (nope || rope))
        return hf_rope(h);
    h->fact->pairs = "half";
    h->fact->rope_dim = h->fact->nope_dim = 0;
    return hf_rope(h);
}

/* Nomic's own code, beside the class of transformers, has keys for pairs and for a base that grows with the length. */
pe_status hf_nomic(hf_part *h)
{
    bool adjacent;
    double factor = 0;
    TRY(hf_flag(h, &adjacent, "rotary_emb_interleaved", false));
    h->fact->pairs = adjacent ? "adjacent" : h->fact->pairs;
    TRY(hf_real(h, &factor, "rotary_scaling_factor", 0));
    if (factor != 0)
        TRY(zoo_note_add(h->b, ZOO_WARNING, "rotary_scaling_factor",
                         "nomic-ai/nomic-bert-2048 modeling_hf_nomic_bert.py",
                         "rotary_scaling_factor %s makes the base grow with sequences past max_trained_positions in "
                         "Nomic's own code; the spec is that of sequences up to there",
                         zoo_number(factor).text));
    TRY(hf_rope(h));
    return hf_int(h, &h->part->trained, "max_trained_positions", 0);
}

/* InternLM 1 says its scaling in an object of its own. */
pe_status hf_internlm(hf_part *h)
{
    io_node rotary;
    const char *how = "origin";
    TRY(io_json_object(&rotary, h->config, "rotary", IO_OPTIONAL, h->b->err));
    TRY(io_json_string(&how, &rotary, "type", IO_OPTIONAL, h->b->err));
    TRY(io_json_real(&h->fact->theta, &rotary, "base", IO_OPTIONAL, h->b->err));
    if (strcmp(how, "origin"))
        TRY(zoo_note_add(h->b, ZOO_WARNING, "rotary.type", h->source,
                         "rotary.type is %.20s: past max_position_embeddings InternLM's own code lets the base grow; "
                         "the spec is that of sequences up to there",
                         how));
    return hf_rope(h);
}

/* Some Jais divide scores by the head's width, not by its root. */
pe_status hf_jais(hf_part *h)
{
    bool by_width, older;
    TRY(hf_flag(h, &older, "scale_qk_dot_by_d", false));
    TRY(hf_flag(h, &by_width, "mup_scale_qk_dot_by_d", older));
    if (by_width)
        TRY(zoo_note_add(h->b, ZOO_WARNING, "mup_scale_qk_dot_by_d", h->source,
                         "mup_scale_qk_dot_by_d: scores are scaled by 1/d, not 1/sqrt(d); the spec does not say so"));
    return hf_spec(h);
}

/* ---------------------------------------------------------------- OpenELM */

/* The next number of a list with as many as layers. */
static pe_status next_heads(hf_part *h, const io_node *list, io_node *at, int64_t *out)
{
    if (!io_json_next(at, list))
        return zoo_fail(h->b, PE_ERR_FORMAT, "%s has fewer numbers than there are layers, %" PRId64, list->key,
                        h->layers);
    return io_json_int(out, at, NULL, IO_REQUIRED, (io_int_range){ 1, 65536 }, h->b->err);
}

/* Layers differ in their heads, not in how they rotate. */
pe_status hf_openelm(hf_part *h)
{
    double theta = 10000;
    io_node queries, keys, query = { 0 }, key = { 0 };
    TRY(io_json_array(&queries, h->config, "num_query_heads", IO_REQUIRED, h->b->err));
    TRY(io_json_array(&keys, h->config, "num_kv_heads", IO_REQUIRED, h->b->err));
    TRY(hf_int(h, &h->shape.model_dim, "model_dim", 0));
    TRY(hf_int(h, &h->shape.head_dim, "head_dim", 0));
    TRY(hf_int(h, &h->layers, "num_transformer_layers", 0));
    TRY(hf_int(h, &h->length, "max_context_length", 0));
    TRY(hf_real(h, &theta, zoo_fact_word(h->fact, "theta_key"), h->fact->theta));
    TRY(zoo_add_part(h->b, &h->part, h->name, h->fact->type, h->layers));
    h->part->trained = h->part->served = h->length;
    const char *text = zoo_text(h->b, "rope:theta=%s", zoo_number(theta).text);
    for (int64_t n = 0; text && n < h->layers; n++) {
        pe_shape shape = h->shape;
        TRY(next_heads(h, &queries, &query, &shape.heads));
        TRY(next_heads(h, &keys, &key, &shape.kv_heads));
        TRY(zoo_set_layer(h->b, h->part, n, text, shape, "", 0));
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
    TRY(io_json_object(&dict, h->config, "rope_scaling", IO_OPTIONAL, h->b->err));
    TRY(io_json_string(&how, &dict, "type", IO_OPTIONAL, h->b->err));
    if (!dict.json || strcmp(how, "ntk"))
        return hf_rope(h);
    TRY(io_json_real(&factor, &dict, "factor", IO_REQUIRED, h->b->err));
    if (!(factor >= 1 && factor <= 1024) ||
        (io_json_get(&mixed, &dict, "mixed_b") && io_json_kind_of(&mixed) != IO_JSON_NULL))
        return zoo_fail(h->b, PE_ERR_UNSUITED, "rope_scaling is ntk with factor %s; needs 1 to 1024 and no mixed_b",
                        zoo_number(factor).text);
    TRY(hf_measure(h));
    TRY(hf_real(h, &theta, "rope_theta", h->fact->theta));
    return hf_all_layers(h, "rope:theta=%s,scaling=linear,factor=%s", zoo_number(theta * factor).text,
                         zoo_number(pow(factor, 2 / (double)h->shape.head_dim)).text);
}

/* ---------------------------------------------------------------- Intern-S1-Pro */

/* What FourierRotaryEmbedding reads of the dict (vLLM layers/rotary_embedding/fope.py, SGLang). */
static pe_status check_fope_keys(hf_part *h, const io_node *dict)
{
    const char *how = "default";
    TRY(io_json_string(&how, dict, "rope_type", IO_OPTIONAL, h->b->err));
    if (strcmp(how, "default") != 0)
        return zoo_fail(h->b, PE_ERR_UNSUITED, "rope_type is %.30s beside FoPE's keys; needs default", how);
    for (io_node child = { 0 }; io_json_next(&child, dict);)
        if (io_json_kind_of(&child) != IO_JSON_NULL &&
            !zoo_has_word("fope_init_factor fope_sep_head num_inv_freq rope_type type rope_theta", child.key))
            TRY(zoo_unknown(h->b, child.key, "the config without it", "that it does nothing",
                            "rope_parameters has a key %.60s that nothing reads", child.key));
    return PE_OK;
}

/* Frequencies that complete a turn within the length, which are the ones that are mixed. */
static int64_t turning_frequencies(double theta, int64_t D, int64_t length)
{
    int64_t n = 0;
    while (n < D / 2 && pow(theta, -2 * (double)n / (double)D) * (double)length > 2 * acos(-1))
        n++;
    return n;
}

/* FoPE where the dict has one of its keys. The engines pad the sines of the pairs that do not rotate with 1. */
pe_status hf_fope(hf_part *h)
{
    static const char *const own[] = { "fope_init_factor", "fope_sep_head", "num_inv_freq" };
    io_node dict, at;
    bool mixes = false, heads = true;
    double theta = h->fact->theta, spread = 0.1;
    int64_t count = 0;
    pe_error *err = h->b->err;
    TRY(io_json_object(&dict, h->config, hf_has(h, "rope_parameters") ? "rope_parameters" : "rope_scaling",
                       IO_OPTIONAL, err));
    for (int i = 0; dict.json && i < 3; i++)
        mixes = mixes || (io_json_get(&at, &dict, own[i]) && io_json_kind_of(&at) != IO_JSON_NULL);
    if (!mixes)
        return hf_rope(h);
    TRY(check_fope_keys(h, &dict));
    TRY(hf_measure(h));
    TRY(hf_real(h, &theta, "rope_theta", 0));
    TRY(io_json_real(&theta, &dict, "rope_theta", IO_OPTIONAL, err));
    TRY(io_json_bool(&heads, &dict, "fope_sep_head", IO_OPTIONAL, err));
    TRY(io_json_real(&spread, &dict, "fope_init_factor", IO_OPTIONAL, err));
    int64_t turning = turning_frequencies(theta, h->shape.head_dim, h->length);
    TRY(io_json_int(&count, &dict, "num_inv_freq", IO_OPTIONAL, (io_int_range){ 1, PE_HEAD_DIM_MAX }, err));
    if (count && count != turning)
        return zoo_fail(h->b, PE_ERR_UNSUITED,
                        "num_inv_freq is %" PRId64 "; specs can say %" PRId64
                        ", the frequencies that complete a turn within %" PRId64 " positions",
                        count, turning, h->length);
    TRY(zoo_note_add(h->b, ZOO_FACT, "fope_init_factor", h->source,
                     "the shares of the frequencies are trained: the checkpoint's sin_coef and cos_coef have them"));
    return hf_all_layers(h, "fope:theta=%s,trained=%" PRId64 ",heads=%s,spread=%s,still=1", zoo_number(theta).text,
                         h->length, heads ? "own" : "shared", zoo_number(spread).text);
}
