/* SPDX-License-Identifier: MIT
 *
 * Model types that turn or not, or turn this way or that, as the rest of the config says. Each settles what its row
 * leaves open and goes on as one of the other families. */
#include "zoo/hf.h"

#include <inttypes.h>
#include <string.h>

/* ---------------------------------------------------------------- Falcon */

/* FalconAttention: one key head where multi_query is set, unless the new architecture is. */
static pe_status falcon_heads(hf_part *h)
{
    bool newer, one;
    ZOO_TRY(hf_flag(h, &newer, "new_decoder_architecture", false));
    ZOO_TRY(hf_flag(h, &one, "multi_query", !hf_has(h, "n_head_kv")));
    if (one && !newer)
        h->kv_heads = 1;
    else if (!hf_has(h, "num_kv_heads") && !hf_has(h, "n_head_kv"))
        ZOO_TRY(hf_int(h, &h->kv_heads, HF_HEADS, h->fact->heads));
    return PE_OK;
}

pe_status hf_falcon(hf_part *h)
{
    bool alibi;
    ZOO_TRY(falcon_heads(h));
    ZOO_TRY(hf_flag(h, &alibi, "alibi", false));
    return alibi && !h->b->options->rotary ? hf_read_spec(h, "alibi:convention=falcon", 0) : hf_rope(h);
}

/* ---------------------------------------------------------------- MPT */

pe_status hf_mpt(hf_part *h)
{
    io_node attention;
    bool alibi = true, rope = false, learned;
    double most = 8;
    pe_error *err = h->b->err;
    ZOO_TRY(io_json_object(&attention, h->config, "attn_config", IO_OPTIONAL, err));
    ZOO_TRY(io_json_bool(&alibi, &attention, "alibi", IO_OPTIONAL, err));
    ZOO_TRY(io_json_bool(&rope, &attention, "rope", IO_OPTIONAL, err));
    ZOO_TRY(io_json_real(&most, &attention, "alibi_bias_max", IO_OPTIONAL, err));
    ZOO_TRY(io_json_int(&h->kv_heads, &attention, "kv_n_heads", IO_OPTIONAL, (io_int_range){ 0, 65536 }, err));
    ZOO_TRY(hf_flag(h, &learned, "learned_pos_emb", true));
    if (rope)
        return io_fail(err, PE_ERR_UNSUITED,
                       "%s: attn_config.rope is true: its code is LLM Foundry's, which is not read", h->b->model.path);
    if (!alibi)
        return hf_read_spec(h, learned ? "learned" : "none", 0);
    const char *text = zoo_text(h->b, "alibi:convention=mpt,max=%s", zoo_number(most).text);
    return text ? hf_read_spec(h, text, 0) : PE_ERR_NOMEM;
}

/* ---------------------------------------------------------------- Baichuan */

/* 7B turns, 13B has ALiBi, under one name. Baichuan's own code, vLLM and SGLang tell them by the class and hidden_size,
 * llama.cpp by the layers. */
pe_status hf_baichuan(hf_part *h)
{
    int64_t hidden = 0, layers = 0;
    ZOO_TRY(hf_int(h, &hidden, HF_HIDDEN, 0));
    ZOO_TRY(hf_int(h, &layers, HF_LAYERS, 0));
    bool large = hidden == 5120 && layers == 40, small = hidden == 4096 && layers == 32;
    if (!large && !small && !h->b->options->rotary)
        ZOO_TRY(zoo_unknown(h->b, "hidden_size", "--type llama for the 7B's way, or --type bloom for the 13B's",
                            "the 7B's way, rope",
                            "hidden_size %" PRId64 " with %" PRId64 " layers is neither Baichuan 7B (4096, 32), which "
                            "turns, nor 13B (5120, 40), which has ALiBi",
                            hidden, layers));
    h->length_keys = hf_first_there(h, "max_position_embeddings|model_max_length");
    if (!h->length_keys)
        return PE_ERR_NOMEM;
    return large ? hf_read_spec(h, "alibi", 0) : hf_rope(h);
}

/* ---------------------------------------------------------------- ChatGLM */

/* The first turns the front half of a head by the place and the back half by the place in the block. */
static pe_status chatglm_first(hf_part *h, zoo_fact *own)
{
    own->pairs = "half";
    own->keys = "axes=2,split=blocks";
    own->fraction = 0;
    return hf_rope(h);
}

pe_status hf_chatglm(hf_part *h)
{
    bool flat, shared, adjacent;
    double ratio = 1;
    zoo_fact *own = hf_own_fact(h);
    if (!own)
        return PE_ERR_NOMEM;
    ZOO_TRY(hf_flag(h, &flat, "position_encoding_2d", false));
    if (flat)
        return chatglm_first(h, own);
    ZOO_TRY(hf_flag(h, &adjacent, "original_rope", true));
    own->pairs = adjacent ? own->pairs : "half";
    ZOO_TRY(hf_flag(h, &shared, "multi_query_attention", false));
    if (!shared)
        ZOO_TRY(hf_int(h, &h->kv_heads, HF_HEADS, h->fact->heads));
    ZOO_TRY(hf_real(h, &ratio, "rope_ratio", 0));
    if (ratio != 1)
        ZOO_TRY(zoo_note_add(h->b, ZOO_FACT, "rope_ratio", h->source, "rope_ratio %s multiplies the base of 10000",
                             zoo_number(ratio).text));
    own->theta *= ratio;
    return hf_rope(h);
}

/* ---------------------------------------------------------------- Qwen, the first */

/* Past seq_length its code steps the base up with the length at hand and multiplies queries by log(t) / log(length). */
pe_status hf_qwen(hf_part *h)
{
    bool stepped, logn;
    int64_t trained = 0;
    ZOO_TRY(hf_flag(h, &stepped, "use_dynamic_ntk", false));
    ZOO_TRY(hf_flag(h, &logn, "use_logn_attn", false));
    ZOO_TRY(hf_int(h, &trained, "seq_length", 0));
    h->length_keys = hf_first_there(h, "max_position_embeddings|seq_length");
    if (!h->length_keys)
        return PE_ERR_NOMEM;
    if (stepped || logn)
        ZOO_TRY(zoo_note_add(h->b, ZOO_WARNING, stepped ? "use_dynamic_ntk" : "use_logn_attn", h->source,
                             "past seq_length %" PRId64
                             " its own code also has%s%s%s; the spec is that of sequences up "
                             "to there, and what vLLM, SGLang and llama.cpp do at any length",
                             trained, stepped ? " a base that grows with the length" : "",
                             stepped && logn ? " and" : "", logn ? " queries times log t / log seq_length" : ""));
    ZOO_TRY(hf_rope(h));
    if (trained && !h->b->options->trained)
        h->part->trained = trained;
    return PE_OK;
}

/* ---------------------------------------------------------------- encoders */

pe_status hf_roformer(hf_part *h)
{
    bool values;
    zoo_fact *own = hf_own_fact(h);
    if (!own)
        return PE_ERR_NOMEM;
    ZOO_TRY(hf_flag(h, &values, "rotary_value", false));
    own->keys = values ? "turn=qkv" : NULL;
    return hf_rope(h);
}

pe_status hf_esm(hf_part *h)
{
    const char *how = "absolute";
    ZOO_TRY(hf_word(h, &how, "position_embedding_type"));
    return !strcmp(how, "rotary") ? hf_rope(h) : hf_bert(h);
}
