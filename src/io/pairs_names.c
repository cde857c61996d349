/* SPDX-License-Identifier: MIT
 *
 * The names under which models keep what becomes q and k, with the source of each fact. First match wins.
 */
#include "pairs.h"

#include <string.h>
#include <strings.h>

/* HF: huggingface/transformers, src/transformers/models/NAME/modeling_NAME.py.  GGUF: ggml-org/llama.cpp,
 * gguf-py/gguf/constants.py.  "remote": modeling code in the model's own repository. */
static const io_pairs_stem names[] = {
    /* HF llama, mistral, qwen2, qwen3, gemma to gemma3, olmo2, cohere, phi, stablelm, gptj, ...: one Linear each */
    { "q_proj", NULL, IO_ROLE_Q, 0 },
    { "k_proj", NULL, IO_ROLE_K, 0 },
    /* meta-llama/llama, llama/model.py: layers.N.attention.wq; mistralai's consolidated files */
    { "wq", NULL, IO_ROLE_Q, 0 },
    { "wk", NULL, IO_ROLE_K, 0 },
    /* GGUF: MODEL_TENSOR.ATTN_Q = blk.N.attn_q */
    { "attn_q", NULL, IO_ROLE_Q, 0 },
    { "attn_k", NULL, IO_ROLE_K, 0 },
    /* HF roformer, esm: encoder.layer.N.attention.self.query */
    { "attention.self.query", NULL, IO_ROLE_Q, 0 },
    { "attention.self.key", NULL, IO_ROLE_K, 0 },

    /* HF deepseek_v2, deepseek_v3: each head of q_b_proj is [nope | rope]; kv_a_proj_with_mqa is [latent | rope] */
    { "q_b_proj", NULL, IO_ROLE_MLA_Q, 0 },
    { "kv_a_proj_with_mqa", NULL, IO_ROLE_MLA_K, 0 },
    /* deepseek-ai/DeepSeek-V3, inference/model.py: class MLA */
    { "wq_b", NULL, IO_ROLE_MLA_Q, 0 },
    { "wkv_a", NULL, IO_ROLE_MLA_K, 0 },
    /* GGUF: ATTN_Q_B, ATTN_KV_A_MQA */
    { "attn_q_b", NULL, IO_ROLE_MLA_Q, 0 },
    { "attn_kv_a_mqa", NULL, IO_ROLE_MLA_K, 0 },

    /* HF qwen3, gemma3: (head_dim,); olmo2: (heads * head_dim,); cohere: (heads, head_dim) */
    { "q_norm", NULL, IO_ROLE_Q_NORM, 0 },
    { "k_norm", NULL, IO_ROLE_K_NORM, 0 },
    /* HF phi, persimmon: (head_dim,); stablelm: q_layernorm.norms.H */
    { "q_layernorm", NULL, IO_ROLE_Q_NORM, 0 },
    { "k_layernorm", NULL, IO_ROLE_K_NORM, 0 },
    /* HF hunyuan_v1_dense: after the rotation, element by element all the same */
    { "query_layernorm", NULL, IO_ROLE_Q_NORM, 0 },
    { "key_layernorm", NULL, IO_ROLE_K_NORM, 0 },
    /* GGUF: ATTN_Q_NORM, ATTN_K_NORM */
    { "attn_q_norm", NULL, IO_ROLE_Q_NORM, 0 },
    { "attn_k_norm", NULL, IO_ROLE_K_NORM, 0 },

    /* HF codegen: four parts of [q v k], from its training on four TPU cores */
    { "attn.qkv_proj", "transformer.h.", IO_ROLE_FUSED, IO_FUSED_STRANGE },
    /* HF phi3: query_pos, then keys, then values; remote OpenELM: the same under attn. */
    { "self_attn.qkv_proj", NULL, IO_ROLE_FUSED, IO_FUSED_QKV },
    { "attn.qkv_proj", "transformer.layers.", IO_ROLE_FUSED, IO_FUSED_QKV },
    { "qkv_proj", NULL, IO_ROLE_FUSED, IO_FUSED_UNSAID },
    /* HF gpt_neox: view(heads, 3 * head_dim), chunk(3) */
    { "attention.query_key_value", "gpt_neox.", IO_ROLE_FUSED, IO_FUSED_PER_HEAD },
    /* HF falcon has all three, by new_decoder_architecture and multi_query; ChatGLM and Ling (remote) are [q|k|v] */
    { "query_key_value", NULL, IO_ROLE_FUSED, IO_FUSED_UNSAID },
    /* remote Qwen-7B (the first): split(split_size, dim=2) */
    { "attn.c_attn", NULL, IO_ROLE_FUSED, IO_FUSED_QKV },
    /* HF dbrx: split; modernbert, remote nomic-bert, phi-1: view(3, heads, head_dim) */
    { "Wqkv", NULL, IO_ROLE_FUSED, IO_FUSED_QKV },
    /* remote InternLM2: rearrange "(h gs d)", gs = 2 + queries per key head */
    { "attention.wqkv", NULL, IO_ROLE_FUSED, IO_FUSED_GROUPED },
    /* remote Baichuan-7B: unflatten(-1, (3, hidden_size)) */
    { "self_attn.W_pack", NULL, IO_ROLE_FUSED, IO_FUSED_QKV },
    /* NVIDIA/Megatron-LM, core/transformer/attention.py: (groups, (queries per group + 2) * head_dim) */
    { "self_attention.linear_qkv", NULL, IO_ROLE_FUSED, IO_FUSED_GROUPED },
    /* GGUF: ATTN_QKV; convert_hf_to_gguf.py reorders the others to [q|k|v] */
    { "attn_qkv", NULL, IO_ROLE_FUSED, IO_FUSED_QKV },
    { "attn.in_proj", NULL, IO_ROLE_FUSED, IO_FUSED_UNSAID },
    { "self_attn.in_proj", NULL, IO_ROLE_FUSED, IO_FUSED_UNSAID },
};
#define NAMES (sizeof names / sizeof names[0])

/* Parts of a name that say: another attention, which has positions of its own or none. HF llava, qwen2_vl, mllama,
 * qwen2_audio, gemma3; deepseek_v32's indexer, whose pairs are laid out apart from MLA's; GGUF: v.blk, a.blk. */
static const char *const towers[] = {
    "vision_tower",  "vision_model", "vision_encoder", "visual", "vit", "image_encoder",  "audio_tower", "audio_model",
    "audio_encoder", "cross_attn",   "encoder_attn",   "v",      "a",   "crossattention", "indexer"
};

const char *io_role_name(io_role r)
{
    static const char *const text[] = {
        [IO_ROLE_Q] = "q",           [IO_ROLE_K] = "k",           [IO_ROLE_FUSED] = "qkv",
        [IO_ROLE_Q_NORM] = "q norm", [IO_ROLE_K_NORM] = "k norm", [IO_ROLE_MLA_Q] = "q of MLA",
        [IO_ROLE_MLA_K] = "k of MLA"
    };
    return text[r];
}

/* Does name, up to its byte length, end with the parts of stem? */
static bool ends_with(const char *name, size_t length, const char *stem)
{
    size_t n = strlen(stem);
    return n <= length && !memcmp(name + length - n, stem, n) && (n == length || name[length - n - 1] == '.');
}

const io_pairs_stem *io_pairs_find(const char *name, const char **rest)
{
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.'))
        for (size_t i = 0; i < NAMES; i++)
            if (ends_with(name, (size_t)(dot - name), names[i].stem) &&
                (!names[i].within || strstr(name, names[i].within))) {
                *rest = dot + 1;
                return &names[i];
            }
    *rest = "";
    return NULL;
}

bool io_pairs_in_tower(const char *name)
{
    for (const char *part = name; part; part = strchr(part, '.')) {
        part += *part == '.';
        size_t length = strcspn(part, ".");
        for (size_t i = 0; i < sizeof towers / sizeof towers[0]; i++)
            if (strlen(towers[i]) == length && !memcmp(part, towers[i], length))
                return true;
    }
    return false;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_word(const char *at, size_t length, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == length && !strncasecmp(at, *list, length))
            return true;
    return false;
}

/* Its words, the letters between dots, digits and underscores: one of q and k, in attention. Not MLA's latent (q_a) and
 * not what a cache is scaled by (k_scale). */
bool io_pairs_resembles(const char *name)
{
    static const char *const ours[] = {
        "q", "k", "qk", "qkv", "wq", "wk", "wqkv", "query", "key", "queries", "keys", 0
    };
    static const char *const others[] = { "a", "scale", "zero", "cache", "lora", 0 };
    bool attention = false, found = false;
    for (const char *at = name; *at;) {
        size_t n = 0;
        while (is_letter(at[n]))
            n++;
        if (is_word(at, n, others))
            return false;
        attention =
            attention || (n >= 3 && !strncasecmp(at, "att", 3)) || (n > 9 && !strncasecmp(at + n - 9, "attention", 9));
        found = found || is_word(at, n, ours);
        at += n ? n : 1;
    }
    return attention && found;
}

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

/* rest: after the stem. huggingface/peft: lora_A.NAME.weight maps in, lora_B.NAME.weight maps to the rows of q;
 * lora_magnitude_vector (DoRA) has one number per row. */
io_part io_pairs_part(io_role role, const char *rest)
{
    static const struct {
        const char *start;
        io_part part;
    } known[] = { { "base_layer.", IO_PART_TURN },
                  { "lora_A.", IO_PART_LEAVE },
                  { "lora_B.", IO_PART_TURN },
                  { "lora_magnitude_vector", IO_PART_TURN },
                  { "norms.", IO_PART_TURN } };
    if (!strcmp(rest, "weight") || !strcmp(rest, "bias"))
        return IO_PART_TURN;
    bool norm = role == IO_ROLE_Q_NORM || role == IO_ROLE_K_NORM;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strncmp(rest, known[i].start, strlen(known[i].start)) && norm == !strcmp(known[i].start, "norms."))
            return ends_in(rest, "weight") || ends_in(rest, "bias") || ends_in(rest, "vector") ? known[i].part
                                                                                               : IO_PART_REFUSE;
    return IO_PART_REFUSE;
}
