/* SPDX-License-Identifier: MIT
 * labels: core; needs: zoo wrap
 *
 * What a GGUF file means: each expected spec is written down from llama.cpp's code (b21e4de), not from ours.
 */
#include "gguf_build.h"
#include "heap.h"

#include "../src/zoo/arch.h"
#include "../src/zoo/read.h"

#include <time.h>

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

static void refused(const char *text)
{
    zoo_model *m;
    assert_int_not_equal(read_with(&m, (zoo_options){ 0 }), PE_OK);
    assert_null(m);
    if (!strstr(err.text, text) || strncmp(err.text, "model.gguf: ", 12) != 0)
        fail_msg("'%s' does not hold '%s'", err.text, text);
}

/* ---------------------------------------------------------------- what is expected */

static void is_spec(const zoo_part *p, int64_t layer, const char *expected)
{
    const zoo_group *g = &p->group[p->layer[layer].group];
    pe_encoding *e;
    assert_ok(pe_encoding_new(&e, expected, g->shape, &err));
    if (strcmp(g->spec, pe_encoding_spec(e)) != 0)
        fail_msg("layer %d is\n  %s, not\n  %s", (int)layer, g->spec, pe_encoding_spec(e));
    pe_encoding_free(e);
}

static void is_shape(const zoo_part *p, int64_t heads, int64_t kv_heads, int64_t head_dim)
{
    pe_shape s = p->group[0].shape;
    assert_int_equal(s.heads, heads);
    assert_int_equal(s.kv_heads, kv_heads);
    assert_int_equal(s.head_dim, head_dim);
}

static bool noted(const zoo_model *m, const char *text)
{
    for (int i = 0; i < m->notes; i++)
        if (strstr(m->note[i].text, text))
            return true;
    return false;
}

/* All layers alike. */
static void reads_as(const char *expected)
{
    zoo_model *m = read_model();
    assert_int_equal(m->parts, 1);
    assert_int_equal(m->part->groups, 1);
    is_spec(m->part, 0, expected);
    zoo_free(m);
}

/* ---------------------------------------------------------------- rotations */

static void llama_turns_adjacent_pairs(void **state)
{
    (void)state;
    begin("llama", 4, 512, 8, 2, 2048);
    build_int(&file, ".rope.dimension_count", 64);
    zoo_model *m = read_model();
    is_spec(m->part, 3, "rope:pairs=adjacent");
    is_shape(m->part, 8, 2, 64);
    assert_int_equal(m->part->layers, 4);
    assert_int_equal(m->part->trained, 2048);
    assert_int_equal(m->part->served, 2048);
    assert_string_equal(m->part->type, "llama");
    assert_string_equal(m->part->layer[0].kind, "");
    assert_true(noted(m, "freq_base is absent"));
    zoo_free(m);
}

static void linear_scaling_divides(void **state)
{
    (void)state;
    begin("llama", 2, 512, 8, 8, 16384);
    build_real(&file, ".rope.freq_base", 10000);
    build_text(&file, ".rope.scaling.type", "linear");
    build_real(&file, ".rope.scaling.factor", 4);
    reads_as("rope:pairs=adjacent,scaling=linear,factor=4");
    begin("llama", 2, 512, 8, 8, 16384);
    build_real(&file, ".rope.scale_linear", 2.5); /* the old key; the type is linear unless said otherwise */
    reads_as("rope:pairs=adjacent,scaling=linear,factor=2.5");
    build_real(&file, ".rope.scaling.factor", 4);
    zoo_model *m = read_model();
    is_spec(m->part, 0, "rope:pairs=adjacent,scaling=linear,factor=4");
    assert_true(noted(m, "rope.scale_linear is 2.5 and rope.scaling.factor 4"));
    zoo_free(m);
}

static void scaling_of_type_none_is_none(void **state)
{
    (void)state;
    begin("hunyuan-moe", 2, 512, 8, 8, 32768);
    build_text(&file, ".rope.scaling.type", "none");
    build_real(&file, ".rope.scaling.factor", 8);
    zoo_model *m = read_model();
    is_spec(m->part, 0, "rope");
    assert_true(noted(m, "rope.scaling.factor is 8 but rope.scaling.type none"));
    zoo_free(m);
}

/* As convert_hf_to_gguf writes them: computed in double, stored in float32. */
static void llama3_freqs(double *out, int pairs, double theta, double factor, double trained)
{
    for (int i = 0; i < pairs; i++) {
        double wavelength = 2 * 3.14159265358979323846 * pow(theta, (double)i / pairs);
        double mix = (trained / wavelength - 1) / (4 - 1);
        out[i] = wavelength < trained / 4 ? 1 : wavelength > trained ? factor : 1 / ((1 - mix) / factor + mix);
    }
}

static void llama3_is_known_by_its_factors(void **state)
{
    (void)state;
    double x[64];
    begin("llama", 2, 4096, 32, 8, 131072);
    build_real(&file, ".rope.freq_base", 500000);
    llama3_freqs(x, 64, 500000, 8, 8192);
    build_floats(&file, "rope_freqs.weight", x, 64);
    reads_as("rope:theta=500000,pairs=adjacent,scaling=llama3,factor=8,trained=8192");
    zoo_model *m = read_model(); /* context_length is what it is served at */
    assert_int_equal(m->part->trained, 8192);
    assert_int_equal(m->part->served, 131072);
    zoo_free(m);
    begin("llama", 2, 2048, 32, 8, 131072);
    build_real(&file, ".rope.freq_base", 500000);
    llama3_freqs(x, 32, 500000, 32, 8192);
    build_floats(&file, "rope_freqs.weight", x, 32);
    reads_as("rope:theta=500000,pairs=adjacent,scaling=llama3,factor=32,trained=8192");
}

static void factors_of_no_formula_are_kept(void **state)
{
    (void)state;
    const double x[4] = { 1, 1.25, 2.1, 7 }, one[4] = { 1, 1, 1, 1 };
    begin("llama", 2, 32, 4, 4, 4096);
    build_floats(&file, "rope_freqs.weight", x, 4);
    reads_as("rope:pairs=adjacent,scaling=longrope,trained=4096,short=1/1.25/2.1/7,long=1/1.25/2.1/7,magnitude=1");
    begin("llama", 2, 32, 4, 4, 4096);
    build_floats(&file, "rope_freqs.weight", one, 4);
    reads_as("rope:pairs=adjacent");
    begin("llama", 2, 32, 4, 4, 4096);
    build_floats(&file, "rope_freqs.weight", x, 4);
    build_real(&file, ".rope.scaling.factor", 2);
    reads_as("rope:pairs=adjacent,scaling=longrope,trained=4096,short=2/2.5/4.2/14,long=2/2.5/4.2/14,magnitude=1");
    begin("qwen2", 2, 32, 4, 4, 4096); /* its graph passes no factors */
    build_floats(&file, "rope_freqs.weight", x, 4);
    zoo_model *m = read_model();
    is_spec(m->part, 0, "rope");
    assert_true(noted(m, "rope_freqs.weight is there; llama.cpp does not use it for 'qwen2'"));
    zoo_free(m);
}

static void almost_llama3_is_not_llama3(void **state)
{
    (void)state;
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
static void factors_and_yarn_together(void **state)
{
    (void)state;
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

static void factors_have_to_fit(void **state)
{
    (void)state;
    const double few[3] = { 1, 2, 3 }, zero[4] = { 1, 0, 1, 1 };
    begin("llama", 2, 32, 4, 4, 4096);
    build_floats(&file, "rope_freqs.weight", few, 3);
    refused("3 factors for 4 pairs");
    begin("llama", 2, 32, 4, 4, 4096);
    build_floats(&file, "rope_freqs.weight", zero, 4);
    refused("rope_freqs.weight holds 0 at 1");
}

static void qwen2_turns_halves(void **state)
{
    (void)state;
    begin("qwen2", 2, 896, 14, 2, 32768);
    build_real(&file, ".rope.freq_base", 1000000);
    reads_as("rope:theta=1e6");
}

static void sections_in_chunks_and_in_turns(void **state)
{
    (void)state;
    begin("qwen2vl", 2, 1536, 12, 2, 32768);
    build_real(&file, ".rope.freq_base", 1000000);
    build_list(&file, ".rope.dimension_sections", IO_GGUF_I32, (int[]){ 16, 24, 24, 0 }, 4);
    reads_as("rope:theta=1e6,sections=16/24/24");
    begin("qwen3vl", 2, 4096, 32, 8, 262144);
    build_real(&file, ".rope.freq_base", 5000000);
    build_list(&file, ".rope.dimension_sections", IO_GGUF_I32, (int[]){ 24, 20, 20, 0 }, 4);
    zoo_model *m = read_model();
    is_spec(m->part, 0, "rope:theta=5e6,sections=24/20/20,split=interleaved");
    assert_true(noted(m, "the 2 slowest pairs")); /* 61 and 62: ggml_mrope_cache_init gives them theta_e */
    zoo_free(m);
    begin("qwen2vl", 2, 1536, 12, 2, 32768);
    refused("qwen2vl.rope.dimension_sections is missing");
    build_list(&file, ".rope.dimension_sections", IO_GGUF_I32, (int[]){ 16, 24, 24 }, 3);
    refused("holds 3 numbers; needs 4");
}

static void glm4_turns_by_axes_only_with_sections(void **state)
{
    (void)state;
    begin("glm4", 2, 512, 4, 4, 32768);
    build_int(&file, ".rope.dimension_count", 64);
    reads_as("rope:pairs=adjacent,dims=64");
    build_list(&file, ".rope.dimension_sections", IO_GGUF_I32, (int[]){ 8, 12, 12, 0 }, 4);
    reads_as("rope:dims=64,sections=8/12/12");
}

static void phi3_has_factors_for_two_lengths(void **state)
{
    (void)state;
    const double near[4] = { 1, 1.05, 1.1, 2 }, far[4] = { 1.08, 2.5, 30, 64 };
    begin("phi3", 2, 32, 4, 4, 131072);
    build_int(&file, ".rope.scaling.original_context_length", 4096);
    build_real(&file, ".rope.scaling.attn_factor", 1.19023811817169);
    build_int(&file, ".attention.sliding_window", 262144);
    build_floats(&file, "rope_factors_long.weight", far, 4);
    build_floats(&file, "rope_factors_short.weight", near, 4);
    zoo_model *m = read_model();
    is_spec(m->part, 1, "rope:scaling=longrope,trained=4096,short=1/1.05/1.1/2,long=1.08/2.5/30/64,magnitude=1.1902381");
    assert_int_equal(m->part->trained, 4096);
    assert_int_equal(m->part->served, 131072);
    assert_true(noted(m, "windows switched off"));
    assert_true(noted(m, "started with a context above 4096"));
    zoo_free(m);
    assert_ok(read_with(&m, (zoo_options){ .length = 9000 }));
    is_spec(m->part, 1,
            "rope:scaling=longrope,trained=4096,length=9000,short=1/1.05/1.1/2,long=1.08/2.5/30/64,magnitude=1.1902381");
    zoo_free(m);
}

static void gptneox_and_chatglm_turn_a_part(void **state)
{
    (void)state;
    begin("gptneox", 2, 512, 8, 8, 2048);
    build_int(&file, ".rope.dimension_count", 16);
    reads_as("rope:dims=16");
    begin("chatglm", 2, 4096, 32, 2, 32768);
    build_int(&file, ".rope.dimension_count", 64);
    build_real(&file, ".rope.freq_base", 500000);
    reads_as("rope:theta=500000,pairs=adjacent,dims=64");
    begin("falcon", 2, 4544, 71, 1, 2048);
    reads_as("rope");
    begin("plamo", 2, 512, 8, 8, 2048); /* its graph turns the whole head */
    build_int(&file, ".rope.dimension_count", 16);
    reads_as("rope");
}

static void yarn_by_factor_and_attn_factor(void **state)
{
    (void)state;
    begin("qwen3", 2, 512, 4, 4, 131072);
    build_real(&file, ".rope.freq_base", 1000000);
    build_text(&file, ".rope.scaling.type", "yarn");
    build_real(&file, ".rope.scaling.factor", 4);
    build_int(&file, ".rope.scaling.original_context_length", 32768);
    reads_as("rope:theta=1e6,scaling=yarn,factor=4,trained=32768"); /* cancelled in the context, put back by ggml */
    build_real(&file, ".rope.scaling.attn_factor", 0.5);
    reads_as("rope:theta=1e6,scaling=yarn,factor=4,trained=32768,magnitude=0.56931471805599454");
    build_real(&file, ".rope.scaling.yarn_beta_fast", 16);
    zoo_model *m = read_model();
    assert_true(noted(m, "rope.scaling.yarn_beta_fast is 16; llama.cpp does not read it for 'qwen3'"));
    zoo_free(m);
}

static void deepseek2_turns_the_end_of_a_head(void **state)
{
    (void)state;
    begin("deepseek2", 3, 2048, 16, 1, 163840);
    build_int(&file, ".attention.key_length", 576);
    build_int(&file, ".attention.key_length_mla", 192);
    build_int(&file, ".rope.dimension_count", 64);
    build_text(&file, ".rope.scaling.type", "yarn");
    build_real(&file, ".rope.scaling.factor", 40);
    build_int(&file, ".rope.scaling.original_context_length", 4096);
    build_real(&file, ".rope.scaling.yarn_log_multiplier", 0.0707);
    double g = 0.1 * 0.707 * log(40) + 1;
    char expected[300];
    snprintf(expected, sizeof expected,
             "rope:pairs=adjacent,dims=64,range=trailing,scaling=yarn,factor=40,trained=4096,mscale=0.707,"
             "mscale_all_dim=0.707,softmax=%.17g",
             g * g);
    zoo_model *m = read_model();
    is_spec(m->part, 2, expected);
    is_shape(m->part, 16, 16, 192);
    zoo_free(m);
    build_int(&file, ".nextn_predict_layers", 1);
    m = read_model();
    assert_int_equal(m->part->layers, 2);
    zoo_free(m);
}

static void deepseek32_keeps_mscale_at_one(void **state)
{
    (void)state;
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

static void mistral3_has_a_temperature(void **state)
{
    (void)state;
    begin("mistral3", 2, 512, 4, 4, 262144);
    build_text(&file, ".rope.scaling.type", "yarn");
    build_real(&file, ".rope.scaling.factor", 16);
    build_real(&file, ".rope.scaling.yarn_beta_fast", 24);
    build_int(&file, ".rope.scaling.original_context_length", 16384);
    build_real(&file, ".rope.scaling.yarn_log_multiplier", 1);
    build_real(&file, ".attention.temperature_scale", 0.1);
    reads_as("rope:pairs=adjacent,scaling=yarn,factor=16,trained=16384,beta_fast=24,mscale=1,mscale_all_dim=1,"
             "temperature=0.1,floor=16384");
}

static void deepseek4_turns_values_and_output(void **state)
{
    (void)state;
    begin("deepseek4", 3, 512, 4, 1, 131072);
    build_int(&file, ".attention.key_length", 512);
    build_int(&file, ".rope.dimension_count", 64);
    build_int(&file, ".attention.sliding_window", 128);
    build_real(&file, ".attention.compress_rope_freq_base", 160000);
    build_list(&file, ".attention.compress_ratios", IO_GGUF_I32, (int[]){ 0, 4, 128 }, 3);
    build_text(&file, ".rope.scaling.type", "yarn");
    build_real(&file, ".rope.scaling.factor", 16);
    build_int(&file, ".rope.scaling.original_context_length", 65536);
    zoo_model *m = read_model();
    is_spec(m->part, 0, "rope:pairs=adjacent,dims=64,range=trailing,turn=qkvo");
    is_spec(m->part, 1, "rope:theta=160000,pairs=adjacent,dims=64,range=trailing,scaling=yarn,factor=16,trained=65536,"
                        "mscale=1,mscale_all_dim=1,turn=qkvo");
    assert_int_equal(m->part->layer[2].window, 128);
    zoo_free(m);
}

static void hunyuan_vl_multiplies_its_base(void **state)
{
    (void)state;
    begin("hunyuan_vl", 2, 512, 4, 4, 32768);
    build_real(&file, ".rope.scaling.alpha", 1000);
    build_text(&file, ".rope.scaling.type", "none");
    reads_as("rope:scaling=ntk,alpha=1000");
    build_list(&file, ".rope.dimension_sections", IO_GGUF_I32, (int[]){ 16, 16, 16, 16 }, 4);
    reads_as("rope:sections=16/16/16/16,scaling=ntk,alpha=1000");
}

/* ---------------------------------------------------------------- layers that differ */

static void gemma3_has_two_bases(void **state)
{
    (void)state;
    begin("gemma3", 8, 1152, 4, 1, 32768);
    build_int(&file, ".attention.key_length", 256);
    build_real(&file, ".rope.freq_base", 1000000);
    build_int(&file, ".attention.sliding_window", 512);
    build_text(&file, ".rope.scaling.type", "linear");
    build_real(&file, ".rope.scaling.factor", 8);
    zoo_model *m = read_model();
    for (int n = 0; n < 8; n++) {
        bool window = n != 5;
        is_spec(m->part, n, window ? "rope" : "rope:theta=1e6,scaling=linear,factor=8");
        assert_int_equal(m->part->layer[n].window, window ? 512 : 0);
        assert_string_equal(m->part->layer[n].kind, window ? "sliding_attention" : "full_attention");
    }
    is_shape(m->part, 4, 1, 256);
    zoo_free(m);
    build_int(&file, ".attention.sliding_window_pattern", 2);
    m = read_model();
    assert_int_equal(m->part->layer[1].window, 0);
    assert_int_equal(m->part->layer[2].window, 512);
    zoo_free(m);
}

static void gemma2_scales_all_layers(void **state)
{
    (void)state;
    begin("gemma2", 4, 512, 4, 4, 8192);
    build_real(&file, ".rope.scaling.factor", 2);
    zoo_model *m = read_model();
    is_spec(m->part, 0, "rope:scaling=linear,factor=2");
    assert_int_equal(m->part->groups, 1);
    assert_int_equal(m->part->layer[0].window, 4096);
    assert_int_equal(m->part->layer[1].window, 0);
    zoo_free(m);
}

static void gemma4_turns_a_share_of_its_full_layers(void **state)
{
    (void)state;
    double x[64];
    for (int i = 0; i < 64; i++)
        x[i] = i < 16 ? 1 : 1e30;
    begin("gemma4", 3, 512, 4, 2, 131072);
    build_int(&file, ".attention.key_length", 128);
    build_int(&file, ".attention.key_length_swa", 64);
    build_int(&file, ".rope.dimension_count_swa", 64);
    build_int(&file, ".attention.sliding_window", 512);
    build_real(&file, ".rope.freq_base", 1000000);
    build_list(&file, ".attention.sliding_window_pattern", IO_GGUF_BOOL, (int[]){ 1, 1, 0 }, 3);
    build_floats(&file, "rope_freqs.weight", x, 64);
    zoo_model *m = read_model();
    is_spec(m->part, 0, "rope");
    is_spec(m->part, 2, "rope:theta=1e6,scaling=proportional,turning=0.25");
    is_shape(m->part, 4, 2, 64);
    zoo_free(m);
}

static void llama4_does_not_turn_every_fourth(void **state)
{
    (void)state;
    begin("llama4", 8, 5120, 40, 8, 1048576);
    build_real(&file, ".rope.freq_base", 500000);
    zoo_model *m = read_model();
    for (int n = 0; n < 8; n++) {
        bool turns = n % 4 != 3;
        is_spec(m->part, n,
                turns ? "rope:theta=500000,pairs=adjacent" : "rope:dims=0,temperature=0.1,floor=8192,shift=1");
        assert_int_equal(m->part->layer[n].window, turns ? 8192 : 0);
        assert_string_equal(m->part->layer[n].kind, turns ? "chunked_attention" : "full_attention");
    }
    zoo_free(m);
    build_int(&file, ".attention.sliding_window", 0);
    m = read_model();
    is_spec(m->part, 6, "rope:theta=500000,pairs=adjacent");
    is_spec(m->part, 7, "none"); /* 8 % 8 == 0: llama4.cpp's use_rope is false there */
    assert_int_equal(m->part->layer[0].window, 0);
    zoo_free(m);
}

static void layers_that_stand_still(void **state)
{
    (void)state;
    begin("smollm3", 4, 512, 8, 8, 65536);
    zoo_model *m = read_model();
    is_spec(m->part, 2, "rope:pairs=adjacent");
    is_spec(m->part, 3, "none");
    zoo_free(m);
    begin("cohere2", 4, 512, 8, 8, 8192);
    build_int(&file, ".attention.sliding_window", 4096);
    m = read_model();
    is_spec(m->part, 0, "rope:pairs=adjacent");
    is_spec(m->part, 3, "none");
    assert_int_equal(m->part->layer[3].window, 0);
    zoo_free(m);
    begin("smallthinker", 4, 512, 8, 8, 8192);
    build_int(&file, ".attention.sliding_window", 2000);
    m = read_model();
    is_spec(m->part, 0, "none");
    is_spec(m->part, 1, "rope");
    assert_int_equal(m->part->layer[1].window, 4096);
    zoo_free(m);
    begin("granite", 2, 512, 8, 8, 8192);
    build_bool(&file, ".rope.scaling.finetuned", false);
    reads_as("none");
}

static void gpt_oss_alternates(void **state)
{
    (void)state;
    begin("gpt-oss", 4, 2880, 64, 8, 131072);
    build_int(&file, ".attention.key_length", 64);
    build_int(&file, ".attention.sliding_window", 128);
    build_real(&file, ".rope.freq_base", 150000);
    build_text(&file, ".rope.scaling.type", "yarn");
    build_real(&file, ".rope.scaling.factor", 32);
    build_int(&file, ".rope.scaling.original_context_length", 4096);
    zoo_model *m = read_model();
    is_spec(m->part, 0, "rope:theta=150000,scaling=yarn,factor=32,trained=4096");
    assert_int_equal(m->part->groups, 1);
    for (int n = 0; n < 4; n++)
        assert_int_equal(m->part->layer[n].window, n % 2 ? 0 : 128);
    assert_true(noted(m, "truncate false"));
    zoo_free(m);
}

static void olmo3_scales_only_full_layers(void **state)
{
    (void)state;
    begin("olmo2", 4, 512, 4, 4, 65536);
    build_int(&file, ".attention.sliding_window", 4096);
    build_real(&file, ".rope.freq_base", 500000);
    build_text(&file, ".rope.scaling.type", "yarn");
    build_real(&file, ".rope.scaling.factor", 8);
    build_int(&file, ".rope.scaling.original_context_length", 8192);
    zoo_model *m = read_model();
    is_spec(m->part, 0, "rope:theta=500000");
    is_spec(m->part, 3, "rope:theta=500000,scaling=yarn,factor=8,trained=8192");
    zoo_free(m);
}

static void step35_halves_its_full_layers(void **state)
{
    (void)state;
    begin("step35", 2, 512, 4, 4, 65536);
    build_int(&file, ".attention.sliding_window", 512);
    build_real(&file, ".rope.freq_base", 5000000);
    build_list(&file, ".attention.sliding_window_pattern", IO_GGUF_BOOL, (int[]){ 0, 1 }, 2);
    zoo_model *m = read_model();
    is_spec(m->part, 0, "rope:theta=5e6,dims=64");
    is_spec(m->part, 1, "rope");
    zoo_free(m);
}

static void windows_of_encoders_are_centred(void **state)
{
    (void)state;
    begin("modern-bert", 4, 768, 12, 12, 8192);
    build_int(&file, ".attention.sliding_window", 128);
    build_real(&file, ".rope.freq_base", 160000);
    build_real(&file, ".rope.freq_base_swa", 10000);
    zoo_model *m = read_model();
    is_spec(m->part, 0, "rope:theta=160000");
    is_spec(m->part, 1, "rope");
    assert_int_equal(m->part->layer[0].window, 0);
    assert_int_equal(m->part->layer[1].window, 65); /* 64 places on each side are seen */
    assert_int_equal(m->part->layer[3].window, 0);
    zoo_free(m);
}

static void layers_that_recur_have_no_positions(void **state)
{
    (void)state;
    begin("qwen3next", 4, 2048, 16, 2, 262144);
    build_int(&file, ".attention.key_length", 256);
    build_int(&file, ".rope.dimension_count", 64);
    zoo_model *m = read_model();
    is_spec(m->part, 3, "rope:dims=64");
    assert_string_equal(m->part->layer[2].kind, "linear_attention");
    assert_string_equal(m->part->layer[3].kind, "full_attention");
    zoo_free(m);
    begin("jamba", 2, 512, 8, 0, 262144);
    build_list(&file, ".attention.head_count_kv", IO_GGUF_I32, (int[]){ 0, 8 }, 2);
    m = read_model();
    is_spec(m->part, 0, "none");
    is_spec(m->part, 1, "none");
    assert_string_equal(m->part->layer[0].kind, "linear_attention");
    assert_string_equal(m->part->layer[1].kind, "full_attention");
    zoo_free(m);
    begin("mamba", 2, 512, 0, 0, 1048576);
    build_int(&file, ".attention.head_count", 0);
    reads_as("none");
}

/* ---------------------------------------------------------------- no rotation */

static void alibi_has_presss_slopes(void **state)
{
    (void)state;
    begin("bloom", 2, 512, 8, 8, 2048);
    reads_as("alibi");
    begin("mpt", 2, 512, 8, 8, 2048);
    build_real(&file, ".attention.max_alibi_bias", 16);
    reads_as("alibi:max=16");
    begin("mpt", 2, 480, 12, 12, 2048);
    build_real(&file, ".attention.max_alibi_bias", 8);
    zoo_model *m = read_model();
    is_spec(m->part, 0, "alibi"); /* press, for 12 heads too */
    assert_true(noted(m, "no power of two"));
    zoo_free(m);
    begin("jina-bert-v2", 2, 768, 12, 12, 8192);
    build_bool(&file, ".attention.causal", false);
    reads_as("alibi:form=symmetric");
}

static void baichuan_is_told_by_its_layers(void **state)
{
    (void)state;
    begin("baichuan", 32, 512, 8, 8, 4096);
    reads_as("rope:pairs=adjacent");
    begin("baichuan", 40, 512, 8, 8, 4096);
    reads_as("alibi");
    begin("baichuan", 41, 512, 8, 8, 4096);
    reads_as("none");
}

static void tables_have_as_many_rows_as_the_context(void **state)
{
    (void)state;
    begin("gpt2", 2, 768, 12, 12, 1024);
    build_table(&file, "position_embd.weight", 1024, 768);
    zoo_model *m = read_model();
    is_spec(m->part, 0, "learned:rows=1024");
    assert_int_equal(m->part->group[0].shape.model_dim, 768);
    assert_int_equal(m->notes, 0);
    zoo_free(m);
    begin("bert", 2, 768, 12, 12, 512);
    build_table(&file, "position_embd.weight", 514, 768);
    m = read_model();
    is_spec(m->part, 0, "learned:rows=514");
    assert_true(noted(m, "has 514 rows"));
    zoo_free(m);
    begin("starcoder", 2, 768, 12, 1, 8192);
    reads_as("learned:rows=8192");
    begin("mpt", 2, 512, 8, 8, 2048);
    build_table(&file, "position_embd.weight", 2048, 512);
    reads_as("learned:rows=2048");
}

static void t5_has_two_parts(void **state)
{
    (void)state;
    begin("t5", 3, 512, 8, 8, 512);
    build_int(&file, ".attention.key_length", 64);
    build_int(&file, ".attention.relative_buckets_count", 32);
    build_int(&file, ".decoder_block_count", 2);
    zoo_model *m = read_model();
    assert_int_equal(m->parts, 2);
    assert_string_equal(m->part[0].name, "decoder");
    is_spec(&m->part[0], 1, "t5:direction=causal");
    assert_int_equal(m->part[0].layers, 2);
    assert_string_equal(m->part[1].name, "encoder");
    is_spec(&m->part[1], 2, "t5");
    assert_int_equal(m->part[1].layers, 3);
    zoo_free(m);
    begin("t5encoder", 3, 512, 8, 8, 512);
    build_int(&file, ".attention.relative_buckets_count", 64);
    reads_as("t5:buckets=64");
    begin("t5encoder", 3, 512, 8, 8, 512);
    refused("t5encoder.attention.relative_buckets_count is missing");
}

/* ---------------------------------------------------------------- what is not known, and what is wrong */

static void unknown_architectures_need_a_layout(void **state)
{
    (void)state;
    zoo_model *m;
    begin("madeup", 2, 512, 8, 8, 4096);
    build_real(&file, ".rope.freq_base", 20000);
    refused("pass --pairs half|adjacent, or --lenient");
    assert_ok(read_with(&m, (zoo_options){ .pairs = "adjacent" }));
    is_spec(m->part, 0, "rope:theta=20000,pairs=adjacent");
    zoo_free(m);
    assert_ok(read_with(&m, (zoo_options){ .lenient = true }));
    is_spec(m->part, 0, "rope:theta=20000");
    assert_int_equal(m->note[0].level, ZOO_GUESS);
    zoo_free(m);
    assert_ok(read_with(&m, (zoo_options){ .type = "llama" }));
    is_spec(m->part, 0, "rope:theta=20000,pairs=adjacent");
    zoo_free(m);
    begin("gptj", 2, 512, 8, 8, 2048); /* llama.cpp lists it and has no code for it */
    refused("pass --pairs");
}

static void options_come_first(void **state)
{
    (void)state;
    zoo_model *m;
    begin("llama", 2, 512, 8, 8, 4096);
    assert_ok(read_with(&m, (zoo_options){ .pairs = "half", .theta = 777, .trained = 100, .head_dim = 64 }));
    is_spec(m->part, 0, "rope:theta=777");
    assert_int_equal(m->part->trained, 100);
    assert_int_equal(m->part->served, 4096);
    zoo_free(m);
}

static void keys_that_are_wrong(void **state)
{
    (void)state;
    begin("llama", 0, 512, 8, 8, 4096);
    refused("llama.block_count is 0");
    begin("llama", 5000, 512, 8, 8, 4096);
    refused("llama.block_count is 5000");
    begin("llama", 2, 512, 8, 8, 4096);
    build_text(&file, ".rope.freq_base", "10000");
    refused("llama.rope.freq_base is string; needs a real number");
    begin("llama", 2, 512, 8, 8, 4096);
    build_text(&file, ".rope.scaling.type", "cubic");
    refused("'cubic'; llama.cpp knows none, linear, yarn and longrope");
    begin("llama", 2, 512, 0, 0, 4096);
    build_list(&file, ".attention.head_count", IO_GGUF_I32, (int[]){ 8, 8, 8 }, 3);
    refused("llama.attention.head_count holds 3 values; needs 2");
    begin("llama", 2, 512, 0, 0, 4096);
    build_list(&file, ".attention.head_count", IO_GGUF_I32, (int[]){ 8, -8 }, 2);
    refused("llama.attention.head_count");
    begin("llama", 2, 512, 8, 3, 4096);
    refused("kv_heads is 3");
    begin("gemma3n", 2, 512, 8, 8, 4096);
    refused("gemma3n.attention.sliding_window is missing");
    begin("muse-glimmer", 2, 512, 8, 8, 4096);
    build_int(&file, ".attention.sliding_window", 512);
    refused("muse-glimmer.attention.sliding_window_pattern is missing");
    begin("llama", 2, 512, 8, 8, 4096);
    build_int(&file, ".rope.dimension_count", 65);
    refused("65 elements would turn");
}

static void files_of_other_kinds(void **state)
{
    (void)state;
    begin("llama", 2, 512, 8, 8, 4096);
    build_text(&file, "general.type", "adapter");
    refused("says nothing about positions");
    begin("clip", 2, 512, 8, 8, 4096);
    refused("give the file of the language model");
    memset(&file, 0, sizeof file);
    build_int(&file, "split.no", 2);
    refused("is part 3 of several");
    memset(&file, 0, sizeof file);
    refused("general.architecture is missing");
    memset(&file, 0, sizeof file);
    build_text(&file, "general.architecture", "llama");
    refused("llama.block_count is missing");
}

/* Every architecture of the table, with the keys most have, gives a model or a sentence. */
static void every_architecture_is_read(void **state)
{
    (void)state;
    static const char *const names[] = {
        "llama", "llama4", "deci", "falcon", "grok", "gptneox", "nomic-bert", "neo-bert", "eurobert", "stablelm", "phi2",
        "codeshell", "orion", "internlm2", "minicpm", "minicpm3", "gemma", "starcoder2", "falcon-h1", "xverse",
        "command-r", "dbrx", "olmo", "olmoe", "openelm", "arctic", "deepseek", "bitnet", "nemotron", "exaone",
        "chameleon", "plm", "bailingmoe", "bailingmoe2", "dots1", "arcee", "ernie4_5", "hunyuan-dense", "lfm2", "dream",
        "llada", "seed_oss", "grovemoe", "apertus", "cogvlm", "rnd1", "pangu-embedded", "maincoder", "kimi-linear",
        "talkie", "nanbeige", "pockettts", "wavtokenizer-dec", "rwkv7", "nemotron_h", "granitehybrid", "minimax-01",
    };
    for (int i = 0; i < COUNT(names); i++) {
        assert_non_null(zoo_arch_find(names[i]));
        begin(names[i], 8, 512, 8, 8, 4096);
        zoo_free(read_model());
    }
    assert_null(zoo_arch_find("(unknown)"));
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

static void any_values_give_a_model_or_a_sentence(void **state)
{
    (void)state;
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
static void out_of_memory_leaves_nothing(void **state)
{
    (void)state;
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

static void many_layers_of_many_factors_end_soon(void **state)
{
    (void)state;
    double x[1024];
    for (int i = 0; i < 1024; i++)
        x[i] = 1.1 + i / 900.0;
    begin("llama", ZOO_LAYERS_MAX, 2048, 1, 1, 4096);
    build_floats(&file, "rope_freqs.weight", x, 1024);
    clock_t from = clock();
    zoo_free(read_model());
    assert_true((double)(clock() - from) / CLOCKS_PER_SEC < 5);
}

static void llama2c_turns_as_its_code(void **state)
{
    (void)state;
    io_llama2c h = { .dim = 288, .layers = 6, .heads = 6, .kv_heads = 6, .head_size = 48, .seq_len = 256 };
    zoo_model *m;
    zoo_builder *b = zoo_begin("stories.bin", "llama2.c", NULL, &err);
    assert_non_null(b);
    assert_ok(zoo_finish(&m, b, zoo_read_llama2c(b, &h)));
    is_spec(m->part, 5, "rope:pairs=adjacent");
    is_shape(m->part, 6, 6, 48);
    assert_int_equal(m->part->trained, 256);
    assert_int_equal(m->part->layers, 6);
    zoo_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama_turns_adjacent_pairs),
        cmocka_unit_test(linear_scaling_divides),
        cmocka_unit_test(scaling_of_type_none_is_none),
        cmocka_unit_test(llama3_is_known_by_its_factors),
        cmocka_unit_test(factors_of_no_formula_are_kept),
        cmocka_unit_test(almost_llama3_is_not_llama3),
        cmocka_unit_test(factors_and_yarn_together),
        cmocka_unit_test(factors_have_to_fit),
        cmocka_unit_test(qwen2_turns_halves),
        cmocka_unit_test(sections_in_chunks_and_in_turns),
        cmocka_unit_test(glm4_turns_by_axes_only_with_sections),
        cmocka_unit_test(phi3_has_factors_for_two_lengths),
        cmocka_unit_test(gptneox_and_chatglm_turn_a_part),
        cmocka_unit_test(yarn_by_factor_and_attn_factor),
        cmocka_unit_test(deepseek2_turns_the_end_of_a_head),
        cmocka_unit_test(deepseek32_keeps_mscale_at_one),
        cmocka_unit_test(mistral3_has_a_temperature),
        cmocka_unit_test(deepseek4_turns_values_and_output),
        cmocka_unit_test(hunyuan_vl_multiplies_its_base),
        cmocka_unit_test(gemma3_has_two_bases),
        cmocka_unit_test(gemma2_scales_all_layers),
        cmocka_unit_test(gemma4_turns_a_share_of_its_full_layers),
        cmocka_unit_test(llama4_does_not_turn_every_fourth),
        cmocka_unit_test(layers_that_stand_still),
        cmocka_unit_test(gpt_oss_alternates),
        cmocka_unit_test(olmo3_scales_only_full_layers),
        cmocka_unit_test(step35_halves_its_full_layers),
        cmocka_unit_test(windows_of_encoders_are_centred),
        cmocka_unit_test(layers_that_recur_have_no_positions),
        cmocka_unit_test(alibi_has_presss_slopes),
        cmocka_unit_test(baichuan_is_told_by_its_layers),
        cmocka_unit_test(tables_have_as_many_rows_as_the_context),
        cmocka_unit_test(t5_has_two_parts),
        cmocka_unit_test(unknown_architectures_need_a_layout),
        cmocka_unit_test(options_come_first),
        cmocka_unit_test(keys_that_are_wrong),
        cmocka_unit_test(files_of_other_kinds),
        cmocka_unit_test(every_architecture_is_read),
        cmocka_unit_test(any_values_give_a_model_or_a_sentence),
        cmocka_unit_test(out_of_memory_leaves_nothing),
        cmocka_unit_test(many_layers_of_many_factors_end_soon),
        cmocka_unit_test(llama2c_turns_as_its_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
