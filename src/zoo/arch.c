/* SPDX-License-Identifier: MIT
 *
 * The architectures of llama.cpp. Layouts: src/llama-model.cpp, llama_model_rope_type; what else a row says:
 * src/models/ARCHITECTURE.cpp, load_arch_hparams and the graph. All as of commit b21e4de. Where graph and
 * llama_model_rope_type disagree, as for starcoder, bert and deepseek2-ocr, the graph is what runs. */
#include "zoo/gguf.h"
#include "zoo/spec_read.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- what no flag says */

static pe_status rule_baichuan(zoo_gguf *m)
{
    if (m->layers == 32)
        return PE_OK;
    m->arch.layout = LAYOUT_NONE;
    m->alibi = m->layers == 40 ? 8 : 0;
    if (m->layers == 40)
        return PE_OK;
    return zoo_note_add(m->b, ZOO_WARNING, "block_count", GGUF_REF,
                        "llama.cpp knows Baichuan with 32 layers, which rotate, and 40, with ALiBi; with %lld it does "
                        "neither",
                        (long long)m->layers);
}

pe_status zoo_rule_clip(zoo_gguf *m)
{
    return zoo_fail(m->b, PE_ERR_FORMAT,
                    "is the image or sound part of a model, whose positions are not in "
                    "its keys; give the file of the language model");
}

static pe_status rule_cohere2moe(zoo_gguf *m)
{
    return gguf_int(m, &m->lead, "leading_dense_block_count", IO_OPTIONAL, INT32_MAX);
}

/* Mistral 4, and DeepSeek 2. */
static pe_status rule_temperature(zoo_gguf *m)
{
    TRY(gguf_real(m, &m->temperature, "attention.temperature_scale", IO_OPTIONAL));
    return gguf_int(m, &m->floor, "attention.temperature_length", IO_OPTIONAL, INT32_MAX);
}

static pe_status rule_deepseek2(zoo_gguf *m)
{
    if (m->log_mul != 0)
        m->mscale = m->log_mul; /* DeepSeek-V2 and V3 have both alike, and only one is in the file */
    return rule_temperature(m);
}

static pe_status rule_deepseek2_ocr(zoo_gguf *m)
{
    m->yarn = 0;
    m->full.factor = m->magnitude = 1;
    m->full.dims = m->full.head_dim;
    return PE_OK;
}

/* Keys, values and the output rotate; no factor is left on cos and sin. */
static void rotate_as_deepseek4(zoo_gguf *m)
{
    m->turn = "qkvo";
    m->magnitude = m->mscale = m->log_mul = 1;
}

/* Layers that compress have a base of their own, and only they are scaled. */
static pe_status rule_deepseek4(zoo_gguf *m)
{
    io_gguf_list ratios;
    io_gguf_tensor t;
    char name[64];
    rotate_as_deepseek4(m);
    snprintf(name, sizeof name, "blk.%lld.nextn.eh_proj.weight", (long long)m->layers);
    if (!io_gguf_tensor_find(&t, m->g, name))
        m->layers = m->blocks;
    TRY(gguf_real(m, &m->other_theta, "attention.compress_rope_freq_base", IO_REQUIRED));
    TRY(io_gguf_array(&ratios, m->g, gguf_key(m, "attention.compress_ratios"), IO_REQUIRED, m->b->err));
    if (ratios.count < (size_t)m->blocks)
        return zoo_fail(m->b, PE_ERR_FORMAT, "%s holds %zu numbers; needs %lld, one per layer", m->key, ratios.count,
                        (long long)m->blocks);
    for (int64_t n = 0; n < m->blocks; n++) {
        int64_t ratio;
        TRY(io_gguf_list_int(&ratio, &ratios, (size_t)n, (io_int_range){ 0, INT32_MAX }, m->b->err));
        m->layer[n].other_base = ratio != 0;
    }
    return PE_OK;
}

static pe_status rule_dflash(zoo_gguf *m)
{
    int64_t count = 0;
    TRY(gguf_int(m, &count, "hyper_connection.count", IO_OPTIONAL, INT32_MAX));
    if (!count)
        return PE_OK;
    rotate_as_deepseek4(m); /* a draft of DeepSeek-V4: none of its layers compresses */
    m->arch.layout = LAYOUT_ADJACENT;
    m->arch.flags = ARCH_TRAILING | ARCH_SWA | ARCH_SWA_SAME;
    m->arch.period = ARCH_EVERY;
    m->yarn = 0;
    m->full.factor = m->swa.factor = 1;
    return PE_OK;
}

static pe_status rule_exaone4(zoo_gguf *m)
{
    if (m->layers != 64) /* only the 32B has windows */
        return PE_OK;
    m->arch.flags |= ARCH_SWA | ARCH_SWA_SAME | ARCH_NOPE_FULL;
    m->arch.period = 4;
    m->arch.window = 4096;
    m->swa = m->full;
    return PE_OK;
}

static pe_status rule_granite_swa(zoo_gguf *m)
{
    int64_t *rotates = zoo_alloc(m->b, (size_t)m->blocks, sizeof *rotates);
    bool found;
    if (!rotates)
        return PE_ERR_NOMEM;
    TRY(gguf_each(m, rotates, m->blocks, "attention.rope_pattern", IO_OPTIONAL, &found));
    for (int64_t n = 0; found && n < m->blocks; n++)
        m->layer[n].rotates = rotates[n] != 0;
    return PE_OK;
}

static pe_status rule_grok(zoo_gguf *m)
{
    double yarn = -1, factor = 1;
    if (!gguf_has(m, "rope.scaling.yarn_beta_fast"))
        m->beta_fast = 8;
    TRY(gguf_real(m, &yarn, "rope.scaling.yarn_ext_factor", IO_OPTIONAL));
    TRY(gguf_real(m, &factor, "rope.scaling.yarn_attn_factor", IO_OPTIONAL));
    if (yarn >= 0)
        m->yarn = yarn;
    if (m->yarn == 0) /* with YaRN its own factor replaces this one */
        m->magnitude *= factor;
    return PE_OK;
}

static pe_status rule_llama4(zoo_gguf *m)
{
    int64_t window = 1;
    TRY(gguf_int(m, &window, "attention.sliding_window", IO_OPTIONAL, INT32_MAX));
    if (window) {
        m->window = 8192; /* whatever the file says */
        m->temperature = 0.1;
        m->temperature_unrotated = true;
        m->floor = 8192;
        m->shift = 1;
        return PE_OK;
    }
    m->arch.flags &= ~(unsigned)(ARCH_SWA | ARCH_NOPE_4TH);
    m->nope = (int)m->layers;
    return zoo_note_add(m->b, ZOO_WARNING, m->key, GGUF_REF,
                        "attention.sliding_window is 0: llama.cpp then rotates every layer but the last");
}

static pe_status rule_mistral3(zoo_gguf *m)
{
    TRY(gguf_real(m, &m->log_mul, "rope.scaling.yarn_log_multiplier", IO_OPTIONAL)); /* not a tenth of it */
    TRY(gguf_real(m, &m->temperature, "attention.temperature_scale", IO_OPTIONAL));
    m->floor = m->trained;
    return PE_OK;
}

pe_status zoo_rule_phi3(zoo_gguf *m)
{
    int64_t window = 0;
    TRY(gguf_int(m, &window, "attention.sliding_window", IO_OPTIONAL, INT32_MAX));
    if (!window)
        return PE_OK;
    return zoo_note_add(m->b, ZOO_WARNING, m->key, GGUF_REF,
                        "attention.sliding_window is %lld; llama.cpp has Phi's windows switched off",
                        (long long)window);
}

static pe_status rule_plamo(zoo_gguf *m)
{
    m->full.dims = m->full.head_dim; /* rope.dimension_count is not asked */
    return PE_OK;
}

static pe_status rule_smallthinker(zoo_gguf *m)
{
    int64_t window = 0;
    TRY(gguf_int(m, &window, "attention.sliding_window", IO_OPTIONAL, INT32_MAX));
    if (window) {
        m->window = 4096; /* whatever the file says */
        m->nope = 4;
        m->nope_first = true;
    }
    return PE_OK;
}

static pe_status rule_step35(zoo_gguf *m)
{
    m->full.dims /= 2;
    return PE_OK;
}

/* ---------------------------------------------------------------- rows */

/* Nothing but a layout. */
static const struct {
    arch_layout layout;
    const char *names;
} plain[] = {
    { LAYOUT_UNKNOWN, "gptj" },
    { LAYOUT_NONE,
      "mamba mamba2 jamba nemotron_h nemotron_h_moe rwkv6 rwkv6qwen2 rwkv7 arwkv7 wavtokenizer-dec kimi-linear "
      "kimi-k3" },
    { LAYOUT_ADJACENT,
      "neo-bert internlm2 xverse command-r olmo arctic deepseek chatglm chameleon bailingmoe ernie4_5 ernie4_5-moe "
      "llada maincoder pockettts" },
    { LAYOUT_HALF,
      "falcon gptneox nomic-bert nomic-bert-moe jina-bert-v3 eurobert stablelm qwen qwen2 qwen2moe qwen3 qwen3moe "
      "phi2 plamo2 codeshell orion gemma starcoder2 falcon-h1 dbrx olmoe openelm bitnet jais2 nemotron bailingmoe2 "
      "dots1 hunyuan-moe hy_v3 lfm2moe dream llada-moe seed_oss grovemoe minimax-m2 minimax-m3 cogvlm rnd1 "
      "pangu-embedded talkie" },
    { LAYOUT_MROPE, "qwen2vl paddleocr" },
    { LAYOUT_IMROPE, "qwen3vl qwen3vlmoe qwen3tts" },
};

/* clang-format off */
static const zoo_arch archs[] = {
    { "clip", LAYOUT_NONE, .rule = zoo_rule_clip },
    { "llama", LAYOUT_ADJACENT, .flags = ARCH_FREQS | ARCH_LONG },
    { "llama4", LAYOUT_ADJACENT, .flags = ARCH_FREQS | ARCH_NOPE_4TH | ARCH_SWA_LIKE | ARCH_SWA_CHUNKED, .period = 4,
      .window = 8192, .rule = rule_llama4 },
    { "deci", LAYOUT_ADJACENT, .flags = ARCH_FREQS | ARCH_LONG },
    { "grok", LAYOUT_HALF, .flags = ARCH_BETAS, .rule = rule_grok },
    { "gpt2", LAYOUT_NONE, .flags = ARCH_LEARNED },
    { "mpt", LAYOUT_NONE, .flags = ARCH_ALIBI_KEY | ARCH_LEARNED },
    { "baichuan", LAYOUT_ADJACENT, .rule = rule_baichuan },
    { "starcoder", LAYOUT_NONE, .flags = ARCH_LEARNED },
    { "refact", LAYOUT_NONE, .flags = ARCH_ALIBI },
    { "bert", LAYOUT_NONE, .flags = ARCH_LEARNED },
    { "modern-bert", LAYOUT_HALF, .flags = ARCH_SWA | ARCH_SWA_IF | ARCH_SWA_FIRST | ARCH_SWA_CENTRED, .period = 3 },
    { "jina-bert-v2", LAYOUT_NONE, .flags = ARCH_ALIBI },
    { "bloom", LAYOUT_NONE, .flags = ARCH_ALIBI },
    { "qwen3next", LAYOUT_HALF, .interval = 4 },
    { "qwen35", LAYOUT_IMROPE, .interval = 4 },
    { "qwen35moe", LAYOUT_IMROPE, .interval = 4 },
    { "phi3", LAYOUT_HALF, .flags = ARCH_LONG_ANY, .rule = zoo_rule_phi3 },
    { "phimoe", LAYOUT_HALF, .flags = ARCH_LONG_ANY },
    { "plamo", LAYOUT_HALF, .rule = rule_plamo },
    { "plamo3", LAYOUT_HALF, .flags = ARCH_SWA | ARCH_SWA_IF, .period = 8 },
    { "minicpm", LAYOUT_ADJACENT, .flags = ARCH_FREQS | ARCH_LONG },
    { "minicpm3", LAYOUT_HALF, .flags = ARCH_LONG_ANY | ARCH_TRAILING },
    { "gemma2", LAYOUT_HALF, .flags = ARCH_SWA_LIKE, .period = 2, .window = 4096 },
    { "gemma3", LAYOUT_HALF, .flags = ARCH_SWA | ARCH_SWA_IF, .period = 6 },
    { "gemma3n", LAYOUT_HALF, .flags = ARCH_SWA, .period = 5 },
    { "gemma4", LAYOUT_HALF, .flags = ARCH_SWA | ARCH_SWA_ARRAY | ARCH_FREQS | ARCH_FREQS_FULL },
    { "gemma4-assistant", LAYOUT_HALF, .flags = ARCH_SWA | ARCH_SWA_ARRAY | ARCH_FREQS | ARCH_FREQS_FULL },
    { "gemma-embedding", LAYOUT_HALF, .flags = ARCH_SWA | ARCH_SWA_CENTRED, .period = 6 },
    { "cohere2", LAYOUT_ADJACENT, .flags = ARCH_SWA | ARCH_SWA_SAME | ARCH_NOPE_FULL, .period = 4 },
    { "cohere2moe", LAYOUT_ADJACENT,
      .flags = ARCH_SWA | ARCH_SWA_SAME | ARCH_SWA_ARRAY | ARCH_SWA_FIRST | ARCH_NOPE_FULL, .period = 4,
      .rule = rule_cohere2moe },
    { "olmo2", LAYOUT_HALF, .flags = ARCH_SWA | ARCH_SWA_IF | ARCH_SWA_SAME | ARCH_SWA_PLAIN, .period = 4 },
    { "muse-glimmer", LAYOUT_ADJACENT, .flags = ARCH_SWA | ARCH_SWA_ARRAY | ARCH_SWA_BASE | ARCH_NOPE_FULL,
      .period = 4 },
    { "deepseek2", LAYOUT_ADJACENT, .flags = ARCH_TRAILING | ARCH_MLA | ARCH_SOFTMAX | ARCH_LOG_MUL,
      .rule = rule_deepseek2 },
    { "deepseek2-ocr", LAYOUT_HALF, .rule = rule_deepseek2_ocr },
    { "deepseek32", LAYOUT_ADJACENT, .flags = ARCH_TRAILING | ARCH_MLA | ARCH_SOFTMAX | ARCH_LOG_MUL },
    { "deepseek4", LAYOUT_ADJACENT, .flags = ARCH_TRAILING | ARCH_SWA | ARCH_SWA_SAME, .period = ARCH_EVERY,
      .rule = rule_deepseek4 },
    { "glm4", LAYOUT_ADJACENT, .flags = ARCH_MROPE_IF },
    { "glm4moe", LAYOUT_HALF, .flags = ARCH_MROPE_IF },
    { "glm-dsa", LAYOUT_ADJACENT, .flags = ARCH_TRAILING | ARCH_MLA | ARCH_SOFTMAX },
    { "t5", LAYOUT_NONE, .flags = ARCH_T5 },
    { "t5encoder", LAYOUT_NONE, .flags = ARCH_T5 | ARCH_ENCODER },
    { "jais", LAYOUT_NONE, .flags = ARCH_ALIBI_KEY },
    { "exaone", LAYOUT_HALF, .flags = ARCH_FREQS },
    { "exaone4", LAYOUT_HALF, .flags = ARCH_FREQS, .rule = rule_exaone4 },
    { "exaone-moe", LAYOUT_HALF, .flags = ARCH_FREQS | ARCH_SWA | ARCH_SWA_SAME | ARCH_NOPE_FULL, .period = 4 },
    { "granite", LAYOUT_ADJACENT, .flags = ARCH_FREQS | ARCH_LONG | ARCH_FINETUNED },
    { "granitemoe", LAYOUT_ADJACENT, .flags = ARCH_FREQS | ARCH_LONG },
    { "granitehybrid", LAYOUT_ADJACENT, .flags = ARCH_FREQS | ARCH_FINETUNED },
    { "graniteswitch", LAYOUT_ADJACENT, .flags = ARCH_FINETUNED },
    { "granite_swa", LAYOUT_ADJACENT, .flags = ARCH_FREQS | ARCH_LONG | ARCH_SWA | ARCH_SWA_ARRAY | ARCH_SWA_SAME,
      .rule = rule_granite_swa },
    { "plm", LAYOUT_ADJACENT, .flags = ARCH_TRAILING },
    { "bailingmoe3", LAYOUT_ADJACENT, .flags = ARCH_TRAILING | ARCH_MLA },
    { "dots3note", LAYOUT_ADJACENT, .flags = ARCH_TRAILING | ARCH_MLA | ARCH_SWA | ARCH_SWA_ARRAY | ARCH_SWA_SCALE },
    { "arcee", LAYOUT_ADJACENT, .flags = ARCH_FREQS },
    { "afmoe", LAYOUT_HALF, .flags = ARCH_NOPE_4TH | ARCH_SWA_LIKE | ARCH_SWA_IF, .period = 4 },
    { "laguna", LAYOUT_HALF, .flags = ARCH_SWA | ARCH_SWA_IF | ARCH_SWA_FIRST | ARCH_SWA_BASE | ARCH_SWA_PLAIN,
      .period = 4 },
    { "hunyuan-dense", LAYOUT_HALF, .flags = ARCH_ALPHA },
    { "hunyuan_vl", LAYOUT_HALF, .flags = ARCH_MROPE_IF | ARCH_ALPHA },
    { "smollm3", LAYOUT_ADJACENT, .flags = ARCH_NOPE_4TH },
    { "gpt-oss", LAYOUT_HALF, .flags = ARCH_SWA_LIKE, .period = 2 },
    { "lfm2", LAYOUT_HALF, .flags = ARCH_SWA | ARCH_SWA_IF | ARCH_SWA_SAME, .period = ARCH_EVERY },
    { "smallthinker", LAYOUT_HALF, .flags = ARCH_SWA_LIKE | ARCH_SWA_IF | ARCH_SWA_FIRST, .period = 4,
      .rule = rule_smallthinker },
    { "apertus", LAYOUT_HALF, .flags = ARCH_FREQS | ARCH_LONG },
    { "minimax-01", LAYOUT_HALF, .interval = 8 },
    { "mistral3", LAYOUT_ADJACENT, .flags = ARCH_FREQS | ARCH_LONG | ARCH_BETAS, .rule = rule_mistral3 },
    { "eagle3", LAYOUT_ADJACENT, .flags = ARCH_FREQS },
    { "dflash", LAYOUT_HALF, .flags = ARCH_SWA | ARCH_SWA_IF | ARCH_SWA_ARRAY | ARCH_SWA_SAME, .rule = rule_dflash },
    { "mistral4", LAYOUT_ADJACENT, .flags = ARCH_TRAILING | ARCH_MLA | ARCH_SOFTMAX | ARCH_LOG_MUL,
      .rule = rule_temperature },
    { "mimo2", LAYOUT_HALF, .flags = ARCH_SWA | ARCH_SWA_ARRAY },
    { "step35", LAYOUT_HALF, .flags = ARCH_FREQS | ARCH_LONG | ARCH_FREQS_FULL | ARCH_SWA | ARCH_SWA_ARRAY,
      .rule = rule_step35 },
    { "llama-embed", LAYOUT_ADJACENT, .flags = ARCH_FREQS | ARCH_LONG },
    { "mellum", LAYOUT_HALF, .flags = ARCH_SWA | ARCH_SWA_IF | ARCH_SWA_ARRAY | ARCH_SWA_SAME | ARCH_SWA_PLAIN,
      .period = 4 },
    { "nanbeige", LAYOUT_ADJACENT, .flags = ARCH_FREQS },
};
/* clang-format on */

bool zoo_arch_find(zoo_arch *out, const char *name)
{
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
        if (!strcmp(archs[i].name, name)) {
            *out = archs[i];
            return true;
        }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (zoo_has_word(plain[i].names, name)) {
            *out = (zoo_arch){ .name = name, .layout = plain[i].layout };
            return true;
        }
    return false;
}
