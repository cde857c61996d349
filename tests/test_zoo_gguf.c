/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: zoo wrap
 *
 * What a GGUF file means: each expected spec is written down from llama.cpp's code (b21e4de), not from ours.
 */
#include "gguf_build.h"
#include "heap.h"

#include "../src/zoo/arch.h"
#include "../src/zoo/read.h"

#include "test.h"

/* ---------------------------------------------------------------- making models */

static gguf_build file;
static pe_error err;

static void begin(const char *arch, uint32_t layers, uint32_t width, uint32_t heads, uint32_t kv_heads, uint32_t length)
{
    memset(&file, 0, sizeof file);
    file.arch = arch;
    build_text(&file, "general.architecture", arch);
    build_int(&file, ".block_count", layers);
    build_int(&file, ".embedding_length", width);
    build_int(&file, ".context_length", length);
    if (heads)
        build_int(&file, ".attention.head_count", heads);
    if (kv_heads)
        build_int(&file, ".attention.head_count_kv", kv_heads);
}

/* "1/1.25", "1*16/1e30*48": a tensor of one axis. */
static void add_factors(const char *name, const char *text)
{
    double x[64];
    int count = 0;
    for (char *end; *text; text = *end == '/' ? end + 1 : end) {
        double value = strtod(text, &end);
        long times = *end == '*' ? strtol(end + 1, &end, 10) : 1;
        while (times-- > 0)
            x[count++] = value;
    }
    build_floats(&file, name, x, count);
}

/* "[1,2]" is a list of integers, "b[1,0]" one of truths. */
static void add_list(const char *key, const char *text)
{
    int x[8], count = 0;
    io_gguf_type type = *text == 'b' ? IO_GGUF_BOOL : IO_GGUF_I32;
    for (char *end = strchr(text, '['); *end != ']';)
        x[count++] = (int)strtol(end + 1, &end, 10);
    build_list(&file, key, type, x, count);
}

/* 8 is an integer, 8. a real, 4x2 a table, 'x a text whatever it looks like. */
static void add_value(const char *key, const char *text)
{
    if (strstr(key, ".weight") && strchr(text, 'x'))
        build_table(&file, key, (uint64_t)strtol(text, NULL, 10), (uint64_t)strtol(strchr(text, 'x') + 1, NULL, 10));
    else if (strstr(key, ".weight"))
        add_factors(key, text);
    else if (strchr(text, '['))
        add_list(key, text);
    else if (!strcmp(text, "false"))
        build_bool(&file, key, false);
    else if (!strchr("0123456789", *text))
        build_text(&file, key, text + (*text == '\''));
    else if (strchr(text, '.'))
        build_real(&file, key, strtod(text, NULL));
    else
        build_int(&file, key, (uint32_t)strtoul(text, NULL, 10));
}

/* "llama 4 512 8 2 2048 .rope.freq_base=10000.": architecture, layers, width, heads, key heads, length; then keys. */
static void make(const char *text)
{
    static char words[600], arch[64];
    unsigned n[5];
    int used = 0;
    memset(&file, 0, sizeof file);
    if (sscanf(text, "%63s %u %u %u %u %u%n", arch, &n[0], &n[1], &n[2], &n[3], &n[4], &used) == 6)
        begin(arch, n[0], n[1], n[2], n[3], n[4]);
    snprintf(words, sizeof words, "%s", text + used);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        assert_non_null(value);
        *value = 0;
        if (strcmp(word, "yarn")) {
            add_value(word, value + 1);
            continue;
        }
        build_text(&file, ".rope.scaling.type", "yarn"); /* yarn=4/32768: factor and trained length */
        build_real(&file, ".rope.scaling.factor", strtod(value + 1, NULL));
        add_value(".rope.scaling.original_context_length", strchr(value + 1, '/') + 1);
    }
}

static pe_status read_with(zoo_model **m, zoo_options options)
{
    io_gguf *g;
    *m = NULL;
    err.text[0] = 0;
    assert_ok(build_open(&g, &file, &err));
    zoo_builder *b = zoo_begin("model.gguf", "GGUF", &options, &err);
    assert_non_null(b);
    pe_status s = zoo_finish(m, b, zoo_read_gguf(b, g));
    io_gguf_free(g);
    return s;
}

static zoo_model *read_model(void)
{
    zoo_model *m;
    assert_ok(read_with(&m, (zoo_options){ 0 }));
    return m;
}

/* ---------------------------------------------------------------- what is expected */

/* "gemma3 4/1x256 of 1152 0/32768: 5x rope sliding_attention 512, 1x rope:theta=1000000 full_attention": type, heads,
 * key heads, head dimension and width of the first layer, trained and served length; spec, kind and window by layer. */
static const char *summary(const zoo_model *m)
{
    static char text[4096];
    size_t used = 0;
    for (int n = 0; n < m->parts; n++) {
        const zoo_part *p = &m->part[n];
        pe_shape s = p->group[p->layer[0].group].shape;
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%s%s%s%s %" PRId64 "/%" PRId64 "x%" PRId64 " of %" PRId64 " %" PRId64 "/%" PRId64 ":",
                                 n ? " | " : "", p->name, *p->name ? " " : "", p->type, s.heads, s.kv_heads, s.head_dim,
                                 s.model_dim, p->trained, p->served);
        for (int64_t from = 0, to; from < p->layers; from = to) {
            const zoo_layer *l = &p->layer[from];
            for (to = from; to < p->layers && p->layer[to].group == l->group && p->layer[to].window == l->window &&
                            !strcmp(p->layer[to].kind, l->kind);)
                to++;
            used += (size_t)snprintf(text + used, sizeof text - used, "%s %" PRId64 "x %s%s%s", from ? "," : "",
                                     to - from, p->group[l->group].spec, *l->kind ? " " : "", l->kind);
            if (l->window)
                used += (size_t)snprintf(text + used, sizeof text - used, " %" PRId64, l->window);
        }
    }
    return text;
}

static void reads_as(const char *want)
{
    zoo_model *m = read_model();
    assert_string_equal(summary(m), want);
    zoo_free(m);
}

static bool noted(const zoo_model *m, const char *text)
{
    for (int i = 0; i < m->notes; i++)
        if (strstr(m->note[i].text, text))
            return true;
    return false;
}

/* ---------------------------------------------------------------- files */

static const struct {
    const char *claim, *file, *want, *note; /* notes: "a|b" */
    zoo_options options;
    const char *refused;
    bool no_notes, guess;
} files[] = {
    { "Llama rotates adjacent pairs", "llama 4 512 8 2 2048 .rope.dimension_count=64",
      .want = "llama 8/2x64 of 512 2048/2048: 4x rope:pairs=adjacent", .note = "freq_base is absent" },
    { "a linear scaling divides",
      "llama 2 512 8 8 16384 .rope.freq_base=10000. .rope.scaling.type=linear .rope.scaling.factor=4.",
      .want = "llama 8/8x64 of 512 0/16384: 2x rope:pairs=adjacent,scaling=linear,factor=4",
      .note = "no key gives the trained length" },
    { "unless a key or an option says the length before it",
      "llama 2 512 8 8 16384 .rope.scaling.type=linear .rope.scaling.factor=4. "
      ".rope.scaling.original_context_length=4096",
      .want = "llama 8/8x64 of 512 4096/16384: 2x rope:pairs=adjacent,scaling=linear,factor=4" },
    { "an option says it", "llama 2 512 8 8 16384 .rope.scaling.type=linear .rope.scaling.factor=4.",
      .options = { .trained = 8192 },
      .want = "llama 8/8x64 of 512 8192/16384: 2x rope:pairs=adjacent,scaling=linear,factor=4" },
    { "its old key; the type is linear unless said otherwise", "llama 2 512 8 8 16384 .rope.scale_linear=2.5",
      .want = "llama 8/8x64 of 512 0/16384: 2x rope:pairs=adjacent,scaling=linear,factor=2.5" },
    { "the new key counts", "llama 2 512 8 8 16384 .rope.scale_linear=2.5 .rope.scaling.factor=4.",
      .want = "llama 8/8x64 of 512 0/16384: 2x rope:pairs=adjacent,scaling=linear,factor=4",
      .note = "rope.scale_linear is 2.5 and rope.scaling.factor 4" },
    { "a scaling of type none is none", "hunyuan-moe 2 512 8 8 32768 .rope.scaling.type=none .rope.scaling.factor=8.",
      .want = "hunyuan-moe 8/8x64 of 512 32768/32768: 2x rope",
      .note = "rope.scaling.factor is 8 but rope.scaling.type none" },
    { "factors of no formula are kept", "llama 2 32 4 4 4096 rope_freqs.weight=1/1.25/2.1/7",
      .want = "llama 4/4x8 of 32 4096/4096: 2x rope:pairs=adjacent,scaling=longrope,trained=4096,short=1/1.25/2.1/7,"
      "long=1/1.25/2.1/7,magnitude=1" },
    { "factors of 1 are none", "llama 2 32 4 4 4096 rope_freqs.weight=1/1/1/1",
      .want = "llama 4/4x8 of 32 4096/4096: 2x rope:pairs=adjacent" },
    { "factors are multiplied by a linear scaling",
      "llama 2 32 4 4 4096 rope_freqs.weight=1/1.25/2.1/7 .rope.scaling.factor=2.",
      .want = "llama 4/4x8 of 32 4096/4096: 2x rope:pairs=adjacent,scaling=longrope,trained=4096,short=2/2.5/4.2/14,"
      "long=2/2.5/4.2/14,magnitude=1" },
    { "Qwen 2's graph passes no factors", "qwen2 2 32 4 4 4096 rope_freqs.weight=1/1.25/2.1/7",
      .want = "qwen2 4/4x8 of 32 4096/4096: 2x rope",
      .note = "rope_freqs.weight is there; llama.cpp does not use it for 'qwen2'" },
    { "factors have to fit", "llama 2 32 4 4 4096 rope_freqs.weight=1/2/3", .refused = "3 factors for 4 pairs" },
    { "factors divide", "llama 2 32 4 4 4096 rope_freqs.weight=1/0/1/1", .refused = "rope_freqs.weight holds 0 at 1" },
    { "Qwen 2 rotates halves", "qwen2 2 896 14 2 32768 .rope.freq_base=1000000.",
      .want = "qwen2 14/2x64 of 896 32768/32768: 2x rope:theta=1000000" },
    { "sections in chunks", "qwen2vl 2 1536 12 2 32768 .rope.freq_base=1000000. .rope.dimension_sections=[16,24,24,0]",
      .want = "qwen2vl 12/2x128 of 1536 32768/32768: 2x rope:theta=1000000,axes=3,sections=16/24/24" },
    { "sections interleaved: ggml_mrope_cache_init gives pairs 61 and 62 theta_e",
      "qwen3vl 2 4096 32 8 262144 .rope.freq_base=5000000. .rope.dimension_sections=[24,20,20,0]",
      .want = "qwen3vl 32/8x128 of 4096 262144/262144: 2x rope:theta=5000000,axes=3,split=interleaved,"
      "sections=24/20/20", .note = "the 2 slowest pairs" },
    { "sections have to be there", "qwen2vl 2 1536 12 2 32768",
      .refused = "qwen2vl.rope.dimension_sections is missing" },
    { "sections are four", "qwen2vl 2 1536 12 2 32768 .rope.dimension_sections=[16,24,24]",
      .refused = "holds 3 numbers; needs 4" },
    { "GLM-4 without sections", "glm4 2 512 4 4 32768 .rope.dimension_count=64",
      .want = "glm4 4/4x128 of 512 32768/32768: 2x rope:pairs=adjacent,dims=64" },
    { "GLM-4 rotates by axes only with sections",
      "glm4 2 512 4 4 32768 .rope.dimension_count=64 .rope.dimension_sections=[8,12,12,0]",
      .want = "glm4 4/4x128 of 512 32768/32768: 2x rope:dims=64,axes=3,sections=8/12/12" },
    { "Phi-3 has factors for two lengths",
      "phi3 2 32 4 4 131072 .rope.scaling.original_context_length=4096 .rope.scaling.attn_factor=1.19023811817169 "
      ".attention.sliding_window=262144 rope_factors_long.weight=1.08/2.5/30/64 "
      "rope_factors_short.weight=1/1.05/1.1/2",
      .want = "phi3 4/4x8 of 32 4096/131072: 2x rope:scaling=longrope,trained=4096,short=1/1.05/1.1/2,"
      "long=1.08/2.5/30/64,magnitude=1.1902381", .note = "windows switched off|started with a context above 4096" },
    { "... and the length at hand says which",
      "phi3 2 32 4 4 131072 .rope.scaling.original_context_length=4096 .rope.scaling.attn_factor=1.19023811817169 "
      ".attention.sliding_window=262144 rope_factors_long.weight=1.08/2.5/30/64 "
      "rope_factors_short.weight=1/1.05/1.1/2",
      .want = "phi3 4/4x8 of 32 4096/131072: 2x rope:scaling=longrope,trained=4096,length=9000,short=1/1.05/1.1/2,"
      "long=1.08/2.5/30/64,magnitude=1.1902381", .options = { .length = 9000 } },
    { "GPT-NeoX rotates a part", "gptneox 2 512 8 8 2048 .rope.dimension_count=16",
      .want = "gptneox 8/8x64 of 512 2048/2048: 2x rope:dims=16" },
    { "ChatGLM rotates a part", "chatglm 2 4096 32 2 32768 .rope.dimension_count=64 .rope.freq_base=500000.",
      .want = "chatglm 32/2x128 of 4096 32768/32768: 2x rope:theta=500000,pairs=adjacent,dims=64" },
    { "Falcon rotates all", "falcon 2 4544 71 1 2048", .want = "falcon 71/1x64 of 4544 2048/2048: 2x rope" },
    { "PLaMo's graph rotates the whole head", "plamo 2 512 8 8 2048 .rope.dimension_count=16",
      .want = "plamo 8/8x64 of 512 2048/2048: 2x rope" },
    { "yarn: the magnitude is cancelled in the context, put back by ggml",
      "qwen3 2 512 4 4 131072 .rope.freq_base=1000000. yarn=4/32768",
      .want = "qwen3 4/4x128 of 512 32768/131072: 2x rope:theta=1000000,scaling=yarn,factor=4,trained=32768" },
    { "yarn with an attn_factor",
      "qwen3 2 512 4 4 131072 .rope.freq_base=1000000. yarn=4/32768 .rope.scaling.attn_factor=0.5",
      .want = "qwen3 4/4x128 of 512 32768/131072: 2x rope:theta=1000000,scaling=yarn,factor=4,trained=32768,"
      "magnitude=0.5693147180559945" },
    { "yarn with a beta that Qwen 3's code does not read",
      "qwen3 2 512 4 4 131072 .rope.freq_base=1000000. yarn=4/32768 .rope.scaling.attn_factor=0.5 "
      ".rope.scaling.yarn_beta_fast=16.",
      .want = "qwen3 4/4x128 of 512 32768/131072: 2x rope:theta=1000000,scaling=yarn,factor=4,trained=32768,"
      "magnitude=0.5693147180559945",
      .note = "rope.scaling.yarn_beta_fast is 16; llama.cpp does not read it for 'qwen3'" },
    { "DeepSeek 2 rotates the end of a head; softmax is (0.0707 ln 40 + 1)^2",
      "deepseek2 3 2048 16 1 163840 .attention.key_length=576 .attention.key_length_mla=192 "
      ".rope.dimension_count=64 yarn=40/4096 .rope.scaling.yarn_log_multiplier=0.0707",
      .want = "deepseek2 16/16x192 of 2048 4096/163840: 3x rope:pairs=adjacent,dims=64,range=trailing,scaling=yarn,"
      "factor=40,trained=4096,mscale=0.707,mscale_all_dim=0.707,softmax=1.5896261651208736" },
    { "a layer that predicts the next but one is not counted",
      "deepseek2 3 2048 16 1 163840 .attention.key_length=576 .attention.key_length_mla=192 "
      ".rope.dimension_count=64 yarn=40/4096 .rope.scaling.yarn_log_multiplier=0.0707 .nextn_predict_layers=1",
      .want = "deepseek2 16/16x192 of 2048 4096/163840: 2x rope:pairs=adjacent,dims=64,range=trailing,scaling=yarn,"
      "factor=40,trained=4096,mscale=0.707,mscale_all_dim=0.707,softmax=1.5896261651208736" },
    { "Mistral 3 has a temperature",
      "mistral3 2 512 4 4 262144 yarn=16/16384 .rope.scaling.yarn_beta_fast=24. "
      ".rope.scaling.yarn_log_multiplier=1. .attention.temperature_scale=0.1",
      .want = "mistral3 4/4x128 of 512 16384/262144: 2x rope:pairs=adjacent,scaling=yarn,factor=16,trained=16384,"
      "beta_fast=24,mscale=1,mscale_all_dim=1,temperature=0.1,floor=16384" },
    { "DeepSeek 4 rotates values and output",
      "deepseek4 3 512 4 1 131072 .attention.key_length=512 .rope.dimension_count=64 .attention.sliding_window=128 "
      ".attention.compress_rope_freq_base=160000. .attention.compress_ratios=[0,4,128] yarn=16/65536",
      .want = "deepseek4 4/1x512 of 512 65536/131072: 1x rope:pairs=adjacent,dims=64,range=trailing,turn=qkvo "
      "sliding_attention 128, 2x rope:theta=160000,pairs=adjacent,dims=64,range=trailing,scaling=yarn,factor=16,"
      "trained=65536,mscale=1,mscale_all_dim=1,turn=qkvo sliding_attention 128" },
    { "HunYuan-VL multiplies its base", "hunyuan_vl 2 512 4 4 32768 .rope.scaling.alpha=1000. .rope.scaling.type=none",
      .want = "hunyuan_vl 4/4x128 of 512 0/32768: 2x rope:scaling=ntk,alpha=1000" },
    { "HunYuan-VL with sections",
      "hunyuan_vl 2 512 4 4 32768 .rope.scaling.alpha=1000. .rope.scaling.type=none .rope.dimension_sections=[16,16,"
      "16,16]", .want = "hunyuan_vl 4/4x128 of 512 0/32768: 2x rope:scaling=ntk,alpha=1000,axes=4" },
    { "Gemma 3 has two bases",
      "gemma3 8 1152 4 1 32768 .attention.key_length=256 .rope.freq_base=1000000. .attention.sliding_window=512 "
      ".rope.scaling.type=linear .rope.scaling.factor=8.",
      .want = "gemma3 4/1x256 of 1152 0/32768: 5x rope sliding_attention 512, 1x rope:theta=1000000,"
      "scaling=linear,factor=8 full_attention, 2x rope sliding_attention 512" },
    { "Gemma 3 by its own pattern",
      "gemma3 8 1152 4 1 32768 .attention.key_length=256 .rope.freq_base=1000000. .attention.sliding_window=512 "
      ".rope.scaling.type=linear .rope.scaling.factor=8. .attention.sliding_window_pattern=2",
      .want = "gemma3 4/1x256 of 1152 0/32768: 1x rope sliding_attention 512, 1x rope:theta=1000000,"
      "scaling=linear,factor=8 full_attention, 1x rope sliding_attention 512, 1x rope:theta=1000000,scaling=linear,"
      "factor=8 full_attention, 1x rope sliding_attention 512, 1x rope:theta=1000000,scaling=linear,factor=8 "
      "full_attention, 1x rope sliding_attention 512, 1x rope:theta=1000000,scaling=linear,factor=8 full_attention" },
    { "Gemma 2 scales all layers", "gemma2 4 512 4 4 8192 .rope.scaling.factor=2.",
      .want = "gemma2 4/4x128 of 512 0/8192: 1x rope:scaling=linear,factor=2 sliding_attention 4096, 1x "
      "rope:scaling=linear,factor=2 full_attention, 1x rope:scaling=linear,factor=2 sliding_attention 4096, 1x "
      "rope:scaling=linear,factor=2 full_attention" },
    { "Gemma 4 rotates a share of its full layers",
      "gemma4 3 512 4 2 131072 .attention.key_length=128 .attention.key_length_swa=64 .rope.dimension_count_swa=64 "
      ".attention.sliding_window=512 .rope.freq_base=1000000. .attention.sliding_window_pattern=b[1,1,0] "
      "rope_freqs.weight=1*16/1e30*48",
      .want = "gemma4 4/2x64 of 512 131072/131072: 2x rope sliding_attention 512, 1x rope:theta=1000000,"
      "scaling=proportional,turning=0.25 full_attention" },
    { "Llama 4 does not rotate every fourth layer", "llama4 8 5120 40 8 1048576 .rope.freq_base=500000.",
      .want = "llama4 40/8x128 of 5120 1048576/1048576: 3x rope:theta=500000,pairs=adjacent chunked_attention 8192, "
      "1x rope:dims=0,temperature=0.1,shift=1 full_attention, 3x rope:theta=500000,pairs=adjacent "
      "chunked_attention 8192, 1x rope:dims=0,temperature=0.1,shift=1 full_attention" },
    { "... and without chunks every eighth: use_rope is false there",
      "llama4 8 5120 40 8 1048576 .rope.freq_base=500000. .attention.sliding_window=0",
      .want = "llama4 40/8x128 of 5120 1048576/1048576: 7x rope:theta=500000,pairs=adjacent, 1x none" },
    { "SmolLM 3 does not rotate every fourth layer", "smollm3 4 512 8 8 65536",
      .want = "smollm3 8/8x64 of 512 65536/65536: 3x rope:pairs=adjacent, 1x none" },
    { "Cohere 2's full layers do not rotate", "cohere2 4 512 8 8 8192 .attention.sliding_window=4096",
      .want = "cohere2 8/8x64 of 512 8192/8192: 3x rope:pairs=adjacent sliding_attention 4096, 1x none "
      "full_attention" },
    { "SmallThinker's full layers do not rotate, and its window is 4096",
      "smallthinker 4 512 8 8 8192 .attention.sliding_window=2000",
      .want = "smallthinker 8/8x64 of 512 8192/8192: 1x none full_attention, 3x rope sliding_attention 4096" },
    { "Granite can switch the rotation off", "granite 2 512 8 8 8192 .rope.scaling.finetuned=false",
      .want = "granite 8/8x64 of 512 8192/8192: 2x none" },
    { "gpt-oss alternates",
      "gpt-oss 4 2880 64 8 131072 .attention.key_length=64 .attention.sliding_window=128 .rope.freq_base=150000. "
      "yarn=32/4096",
      .want = "gpt-oss 64/8x64 of 2880 4096/131072: 1x rope:theta=150000,scaling=yarn,factor=32,trained=4096 "
      "sliding_attention 128, 1x rope:theta=150000,scaling=yarn,factor=32,trained=4096 full_attention, 1x "
      "rope:theta=150000,scaling=yarn,factor=32,trained=4096 sliding_attention 128, 1x rope:theta=150000,"
      "scaling=yarn,factor=32,trained=4096 full_attention", .note = "truncate false" },
    { "OLMo 3 scales only full layers",
      "olmo2 4 512 4 4 65536 .attention.sliding_window=4096 .rope.freq_base=500000. yarn=8/8192",
      .want = "olmo2 4/4x128 of 512 8192/65536: 3x rope:theta=500000 sliding_attention 4096, 1x rope:theta=500000,"
      "scaling=yarn,factor=8,trained=8192 full_attention" },
    { "Step 3.5 rotates half of a head in full layers",
      "step35 2 512 4 4 65536 .attention.sliding_window=512 .rope.freq_base=5000000. "
      ".attention.sliding_window_pattern=b[0,1]",
      .want = "step35 4/4x128 of 512 65536/65536: 1x rope:theta=5000000,dims=64 full_attention, 1x rope "
      "sliding_attention 512" },
    { "windows of encoders are centred: 64 places on each side",
      "modern-bert 4 768 12 12 8192 .attention.sliding_window=128 .rope.freq_base=160000. .rope.freq_base_swa=10000.",
      .want = "modern-bert 12/12x64 of 768 8192/8192: 1x rope:theta=160000 full_attention, 2x rope "
      "sliding_attention 65, 1x rope:theta=160000 full_attention" },
    { "layers that recur have no positions",
      "qwen3next 4 2048 16 2 262144 .attention.key_length=256 .rope.dimension_count=64",
      .want = "qwen3next 1/1x1 of 2048 262144/262144: 3x none linear_attention, 1x rope:dims=64 full_attention" },
    { "Jamba's layers without key heads recur", "jamba 2 512 8 0 262144 .attention.head_count_kv=[0,8]",
      .want = "jamba 1/1x1 of 512 262144/262144: 1x none linear_attention, 1x none full_attention" },
    { "Mamba has no attention", "mamba 2 512 0 0 1048576 .attention.head_count=0",
      .want = "mamba 1/1x1 of 512 1048576/1048576: 2x none linear_attention" },
    { "ALiBi", "bloom 2 512 8 8 2048", .want = "bloom 8/8x64 of 512 2048/2048: 2x alibi" },
    { "ALiBi of another maximum", "mpt 2 512 8 8 2048 .attention.max_alibi_bias=16.",
      .want = "mpt 8/8x64 of 512 2048/2048: 2x alibi:max=16" },
    { "ALiBi by Press, for 12 heads too", "mpt 2 480 12 12 2048 .attention.max_alibi_bias=8.",
      .want = "mpt 12/12x40 of 480 2048/2048: 2x alibi", .note = "no power of two" },
    { "ALiBi of an encoder", "jina-bert-v2 2 768 12 12 8192 .attention.causal=false",
      .want = "jina-bert-v2 12/12x64 of 768 8192/8192: 2x alibi:form=symmetric" },
    { "Baichuan of 32 layers", "baichuan 32 512 8 8 4096",
      .want = "baichuan 8/8x64 of 512 4096/4096: 32x rope:pairs=adjacent" },
    { "Baichuan of 40 layers", "baichuan 40 512 8 8 4096", .want = "baichuan 8/8x64 of 512 4096/4096: 40x alibi" },
    { "Baichuan of other layers", "baichuan 41 512 8 8 4096", .want = "baichuan 8/8x64 of 512 4096/4096: 41x none" },
    { "a table has as many rows as the context", "gpt2 2 768 12 12 1024 position_embd.weight=1024x768",
      .want = "gpt2 12/12x64 of 768 1024/1024: 2x learned:rows=1024", .no_notes = true },
    { "a table with more rows", "bert 2 768 12 12 512 position_embd.weight=514x768",
      .want = "bert 12/12x64 of 768 512/512: 2x learned:rows=514", .note = "has 514 rows" },
    { "a table that is not in the file", "starcoder 2 768 12 1 8192",
      .want = "starcoder 12/1x64 of 768 8192/8192: 2x learned:rows=8192" },
    { "MPT with a table", "mpt 2 512 8 8 2048 position_embd.weight=2048x512",
      .want = "mpt 8/8x64 of 512 2048/2048: 2x learned:rows=2048" },
    { "T5 has two parts",
      "t5 3 512 8 8 512 .attention.key_length=64 .attention.relative_buckets_count=32 .decoder_block_count=2",
      .want = "decoder t5 8/8x64 of 512 512/512: 2x t5:direction=causal | encoder t5 8/8x64 of 512 512/512: 3x t5" },
    { "T5's encoder alone", "t5encoder 3 512 8 8 512 .attention.relative_buckets_count=64",
      .want = "t5encoder 8/8x64 of 512 512/512: 3x t5:buckets=64" },
    { "T5 without buckets", "t5encoder 3 512 8 8 512",
      .refused = "t5encoder.attention.relative_buckets_count is missing" },
    { "an unknown architecture needs a layout", "madeup 2 512 8 8 4096 .rope.freq_base=20000.",
      .refused = "pass --pairs half|adjacent, or --lenient" },
    { "... from an option", "madeup 2 512 8 8 4096 .rope.freq_base=20000.",
      .want = "madeup 8/8x64 of 512 4096/4096: 2x rope:theta=20000,pairs=adjacent",
      .options = { .pairs = "adjacent" } },
    { "... or a guess", "madeup 2 512 8 8 4096 .rope.freq_base=20000.",
      .want = "madeup 8/8x64 of 512 4096/4096: 2x rope:theta=20000", .guess = true, .options = { .lenient = true } },
    { "... or another type's", "madeup 2 512 8 8 4096 .rope.freq_base=20000.",
      .want = "madeup 8/8x64 of 512 4096/4096: 2x rope:theta=20000,pairs=adjacent", .options = { .type = "llama" } },
    { "llama.cpp lists GPT-J and has no code for it", "gptj 2 512 8 8 2048", .refused = "pass --pairs" },
    { "options come first", "llama 2 512 8 8 4096", .want = "llama 8/8x64 of 512 100/4096: 2x rope:theta=777",
      .options = { .pairs = "half", .theta = 777, .trained = 100, .head_dim = 64 } },
    { "no layers", "llama 0 512 8 8 4096", .refused = "llama.block_count is 0" },
    { "too many layers", "llama 5000 512 8 8 4096", .refused = "llama.block_count is 5000" },
    { "a base that is text", "llama 2 512 8 8 4096 .rope.freq_base='10000",
      .refused = "llama.rope.freq_base is string; needs a real number" },
    { "a scaling that nobody has", "llama 2 512 8 8 4096 .rope.scaling.type=cubic",
      .refused = "'cubic'; llama.cpp knows none, linear, yarn and longrope" },
    { "heads of another number of layers", "llama 2 512 0 0 4096 .attention.head_count=[8,8,8]",
      .refused = "llama.attention.head_count holds 3 values; needs 2" },
    { "heads below 0", "llama 2 512 0 0 4096 .attention.head_count=[8,-8]", .refused = "llama.attention.head_count" },
    { "key heads that do not divide", "llama 2 512 8 3 4096", .refused = "kv_heads is 3" },
    { "a window that is missing", "gemma3n 2 512 8 8 4096", .refused = "gemma3n.attention.sliding_window is missing" },
    { "a pattern that is missing", "muse-glimmer 2 512 8 8 4096 .attention.sliding_window=512",
      .refused = "muse-glimmer.attention.sliding_window_pattern is missing" },
    { "an odd number of elements", "llama 2 512 8 8 4096 .rope.dimension_count=65",
      .refused = "65 elements rotate" },
    { "an adapter", "llama 2 512 8 8 4096 general.type=adapter", .refused = "says nothing about positions" },
    { "a picture part", "clip 2 512 8 8 4096", .refused = "give the file of the language model" },
    { "one file of several", "split.no=2", .refused = "is part 3 of several" },
    { "no architecture", "", .refused = "general.architecture is missing" },
    { "nothing but an architecture", "general.architecture=llama", .refused = "llama.block_count is missing" },
};

static void check_notes(int n, const zoo_model *m)
{
    char notes[200];
    snprintf(notes, sizeof notes, "%s", files[n].note ? files[n].note : "");
    for (char *note = strtok(notes, "|"); note; note = strtok(NULL, "|"))
        if (!noted(m, note))
            fail_msg("%s: no note says '%s'", files[n].claim, note);
    assert_true(!files[n].no_notes || m->notes == 0);
    assert_true(!files[n].guess || m->note[0].level == ZOO_GUESS);
}

TEST(files_mean_what_llama_cpp_computes)
{
    for (int n = 0; n < COUNT(files); n++) {
        const char *refused = files[n].refused;
        zoo_model *m;
        make(files[n].file);
        pe_status s = read_with(&m, files[n].options);
        if (refused ? !s || m || !strstr(err.text, refused) || strncmp(err.text, "model.gguf: ", 12) : s != PE_OK)
            fail_msg("%s: %s", files[n].claim, s ? err.text : "is read");
        if (!refused && strcmp(summary(m), files[n].want))
            fail_msg("%s is\n  %s, not\n  %s", files[n].claim, summary(m), files[n].want);
        if (!refused)
            check_notes(n, m);
        zoo_free(m);
    }
}

/* ---------------------------------------------------------------- factors */

/* As convert_hf_to_gguf writes them: computed in double, stored in float32. */
static void llama3_freqs(double *out, int pairs, double theta, double factor, double trained)
{
    for (int i = 0; i < pairs; i++) {
        double wavelength = 2 * 3.14159265358979323846 * pow(theta, (double)i / pairs);
        double mix = (trained / wavelength - 1) / (4 - 1);
        out[i] = wavelength < trained / 4 ? 1 : wavelength > trained ? factor : 1 / ((1 - mix) / factor + mix);
    }
}

TEST(llama3_is_known_by_its_factors)
{
    double x[64];
    begin("llama", 2, 4096, 32, 8, 131072);
    build_real(&file, ".rope.freq_base", 500000);
    llama3_freqs(x, 64, 500000, 8, 8192);
    build_floats(&file, "rope_freqs.weight", x, 64);
    reads_as("llama 32/8x128 of 4096 8192/131072: 2x rope:theta=500000,pairs=adjacent,"
             "scaling=llama3,factor=8,trained=8192");
    begin("llama", 2, 2048, 32, 8, 131072);
    build_real(&file, ".rope.freq_base", 500000);
    llama3_freqs(x, 32, 500000, 32, 8192);
    build_floats(&file, "rope_freqs.weight", x, 32);
    reads_as("llama 32/8x64 of 2048 8192/131072: 2x rope:theta=500000,pairs=adjacent,"
             "scaling=llama3,factor=32,trained=8192");
}

TEST(almost_llama3_is_not_llama3)
{
    double x[64];
    begin("llama", 2, 4096, 32, 8, 131072);
    build_real(&file, ".rope.freq_base", 500000);
    llama3_freqs(x, 64, 500000, 8, 8192);
    x[40] *= 1.001;
    build_floats(&file, "rope_freqs.weight", x, 64);
    zoo_model *m = read_model();
    assert_non_null(strstr(m->part->group[0].spec, "scaling=longrope"));
    zoo_free(m);
}

/* ggml divides by the factors first and mixes then; with factors of 1 that is YaRN itself. */
TEST(factors_and_yarn_together)
{
    double one[32], a[64], b[64];
    begin("llama", 1, 64, 1, 1, 16384);
    build_text(&file, ".rope.scaling.type", "yarn");
    build_real(&file, ".rope.scaling.factor", 4);
    build_int(&file, ".rope.scaling.original_context_length", 4096);
    for (int i = 0; i < 64; i++) {
        one[i % 32] = 1;
        a[i] = b[i] = 1 + i;
    }
    build_floats(&file, "rope_freqs.weight", one, 32);
    zoo_model *m = read_model();
    assert_non_null(strstr(m->part->group[0].spec, "scaling=longrope"));
    const char *specs[] = { m->part->group[0].spec, "rope:pairs=adjacent,scaling=yarn,factor=4,trained=4096" };
    for (int i = 0; i < 2; i++) {
        pe_encoding *e;
        pe_view x = pe_view_of(i ? b : a, PE_F64, 1, 1, 1, 64);
        assert_ok(pe_encoding_new(&e, specs[i], m->part->group[0].shape, &err));
        assert_ok(pe_rotate(e, PE_QUERY, x, x, pe_positions_of(&(int64_t){ 1000 }, PE_I64, 1, 1, 1), NULL, &err));
        pe_encoding_free(e);
    }
    for (int i = 0; i < 64; i++)
        assert_true(fabs(a[i] - b[i]) < 1e-9); /* divisors are doubles: 1000 turns of 2^-53 each, times 64 */
    zoo_free(m);
}

TEST(deepseek32_keeps_mscale_at_one)
{
    begin("deepseek32", 2, 2048, 16, 1, 163840);
    build_int(&file, ".attention.key_length_mla", 192);
    build_int(&file, ".rope.dimension_count", 64);
    build_text(&file, ".rope.scaling.type", "yarn");
    build_real(&file, ".rope.scaling.factor", 40);
    build_int(&file, ".rope.scaling.original_context_length", 4096);
    build_real(&file, ".rope.scaling.yarn_log_multiplier", 0.0707);
    double ratio = (0.1 * log(40) + 1) / (0.1 * 0.707 * log(40) + 1), all = ratio * (0.1 * 0.707 * log(40) + 1);
    zoo_model *m = read_model();
    const char *spec = m->part->group[0].spec;
    assert_non_null(strstr(spec, "mscale=1,mscale_all_dim=0.707"));
    const char *softmax = strstr(spec, "softmax=");
    assert_non_null(softmax);
    assert_true(fabs(strtod(softmax + 8, NULL) - all * all) < 1e-12);
    zoo_free(m);
}

/* Every architecture of the table, with the keys most have, gives a model or a sentence. */
TEST(every_architecture_is_read)
{
    static const char *const names[] = {
        "llama", "llama4", "deci", "falcon", "grok", "gptneox", "nomic-bert", "neo-bert", "eurobert", "stablelm",
        "phi2", "codeshell", "orion", "internlm2", "minicpm", "minicpm3", "gemma", "starcoder2", "falcon-h1", "xverse",
        "command-r", "dbrx", "olmo", "olmoe", "openelm", "arctic", "deepseek", "bitnet", "nemotron", "exaone",
        "chameleon", "plm", "bailingmoe", "bailingmoe2", "dots1", "arcee", "ernie4_5", "hunyuan-dense", "lfm2", "dream",
        "llada", "seed_oss", "grovemoe", "apertus", "cogvlm", "rnd1", "pangu-embedded", "maincoder", "kimi-linear",
        "talkie", "nanbeige", "pockettts", "wavtokenizer-dec", "rwkv7", "nemotron_h", "granitehybrid", "minimax-01",
    };
    for (int i = 0; i < COUNT(names); i++) {
        assert_true(zoo_arch_find(&(zoo_arch){ 0 }, names[i]));
        begin(names[i], 8, 512, 8, 8, 4096);
        zoo_free(read_model());
    }
    assert_false(zoo_arch_find(&(zoo_arch){ 0 }, "(unknown)") || zoo_arch_find(&(zoo_arch){ 0 }, "bert llama"));
}

/* Values at random, now and then of the wrong type: a model or a sentence, and nothing that a sanitizer sees. */
static uint64_t seed;

static uint32_t some_int(void)
{
    static const uint32_t ints[] = { 0, 1, 2, 3, 4, 4, 8, 8, 16, 64, 1000, 65535, INT32_MAX, UINT32_MAX };
    return ints[test_random(&seed) % (uint64_t)COUNT(ints)];
}

static double some_real(void)
{
    static const double reals[] = { 0, -1, 1e-30, 0.1, 0.5, 1, 1, 2, 4, 8, 40, 10000, 1e30, -0.0 };
    return reals[test_random(&seed) % (uint64_t)COUNT(reals)];
}

static void some_value(const char *key, bool real)
{
    unsigned how = test_random(&seed) % 16;
    if (how == 0)
        build_text(&file, key, "yarn");
    else if (how == 1)
        build_list(&file, key, IO_GGUF_I32, (int[]){ 1, 0, 1, 4, -1 }, (int)(test_random(&seed) % 6));
    else if (real && how > 6)
        build_real(&file, key, some_real());
    else if (how > 6)
        build_int(&file, key, some_int());
}

TEST(any_values_give_a_model_or_a_sentence)
{
    static const char *const names[] = { "gemma4", "deepseek4", "qwen3vl", "phi3", "llama4", "t5", "mpt", "granite_swa",
                                         "grok", "hunyuan_vl", "deepseek2", "llama", "madeup", "qwen35", "step35" };
    static const char *const ints[] = { ".attention.sliding_window", ".rope.scaling.original_context_length",
                                        ".rope.dimension_count", ".attention.key_length", ".attention.key_length_swa",
                                        ".attention.key_length_mla", ".attention.relative_buckets_count",
                                        ".nextn_predict_layers", ".decoder_block_count", ".full_attention_interval",
                                        ".rope.dimension_sections", ".attention.sliding_window_pattern",
                                        ".attention.compress_ratios", ".attention.temperature_length" };
    static const char *const reals[] = { ".rope.freq_base", ".rope.freq_base_swa", ".rope.scaling.factor",
                                         ".rope.scaling.attn_factor", ".rope.scaling.yarn_log_multiplier",
                                         ".rope.scaling.yarn_ext_factor", ".rope.scaling.yarn_beta_fast",
                                         ".rope.scaling.alpha", ".attention.max_alibi_bias",
                                         ".attention.compress_rope_freq_base", ".attention.temperature_scale" };
    int models = 0;
    seed = 1;
    for (int i = 0; i < 6000; i++) {
        zoo_model *m;
        bool mild = i % 2; /* most values as they should be */
        begin(names[i % COUNT(names)], mild ? 3 : some_int() % 9, 32, 4, 4, mild ? 4096 : some_int());
        if (i % 3)
            build_text(&file, ".rope.scaling.type", i % 3 == 1 ? "yarn" : "longrope");
        for (int k = 0; k < COUNT(ints); k++)
            if (!mild || test_random(&seed) % 8 == 0)
                some_value(ints[k], false);
        for (int k = 0; k < COUNT(reals); k++)
            if (!mild || test_random(&seed) % 3 == 0)
                some_value(reals[k], true);
        const double x[4] = { some_real(), 1, some_real(), 4 };
        if (i % 5 == 0)
            build_floats(&file, "rope_freqs.weight", x, 4);
        if (i % 5 == 1)
            build_floats(&file, "rope_factors_long.weight", x, 4);
        if (read_with(&m, (zoo_options){ .lenient = true }) == PE_OK)
            models++;
        else if (strncmp(err.text, "model.gguf: ", 12) != 0 || strlen(err.text) < 24)
            fail_msg("'%s'", err.text);
        zoo_free(m);
    }
    assert_true(models > 500);
}

/* An allocation after the other fails: PE_ERR_NOMEM, and nothing is left. */
TEST(out_of_memory_leaves_nothing)
{
    const double x[8] = { 1, 1.5, 2, 3, 4, 5, 6, 7 };
    io_gguf *g;
    begin("gemma4", 6, 64, 4, 4, 4096);
    build_int(&file, ".attention.sliding_window", 16);
    build_list(&file, ".attention.sliding_window_pattern", IO_GGUF_BOOL, (int[]){ 1, 0, 1, 1, 0, 0 }, 6);
    build_floats(&file, "rope_freqs.weight", x, 8);
    assert_ok(build_open(&g, &file, &err));
    bool done = false;
    for (long n = 1; !done && n < 1000; n++) {
        zoo_model *m = NULL;
        size_t live = heap.live;
        heap.fail = n;
        zoo_builder *b = zoo_begin("model.gguf", "GGUF", NULL, &err);
        pe_status s = b ? zoo_finish(&m, b, zoo_read_gguf(b, g)) : PE_ERR_NOMEM;
        done = heap.fail > 0;
        heap.fail = 0;
        assert_int_equal(s, done ? PE_OK : PE_ERR_NOMEM);
        zoo_free(m);
        assert_int_equal(heap.live, live);
    }
    assert_true(done);
    io_gguf_free(g);
}

TEST(many_layers_of_many_factors_end_soon)
{
    double x[1024];
    for (int i = 0; i < 1024; i++)
        x[i] = 1.1 + i / 900.0;
    begin("llama", ZOO_LAYERS_MAX, 2048, 1, 1, 4096);
    build_floats(&file, "rope_freqs.weight", x, 1024);
    zoo_free(read_model()); /* ctest's time limit ends what does not */
}

TEST(llama2c_rotates_as_its_code)
{
    io_llama2c h = { .dim = 288, .layers = 6, .heads = 6, .kv_heads = 6, .head_size = 48, .seq_len = 256 };
    zoo_model *m;
    zoo_builder *b = zoo_begin("stories.bin", "llama2.c", NULL, &err);
    assert_non_null(b);
    assert_ok(zoo_finish(&m, b, zoo_read_llama2c(b, &h)));
    assert_string_equal(summary(m), "llama2.c 6/6x48 of 288 256/256: 6x rope:pairs=adjacent");
    zoo_free(m);
}
