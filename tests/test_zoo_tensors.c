/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: zoo
 *
 * What a .safetensors says without its config.json, and that it says no more.
 */
#include "common.h"

#include "../src/zoo/read.h"

static struct {
    char header[4096];
    uint8_t data[1 << 16];
    size_t used, bytes;
} file;
static pe_error err;

static void begin(void)
{
    memset(&file, 0, sizeof file);
}

static float *add(const char *name, int rows, int columns) /* columns 0: rank 1 */
{
    size_t size = (size_t)rows * (size_t)(columns ? columns : 1) * 4;
    char shape[40];
    snprintf(shape, sizeof shape, columns ? "%d,%d" : "%d", rows, columns);
    float *at = (float *)(void *)(file.data + file.bytes);
    assert_true(file.bytes + size <= sizeof file.data);
    file.used += (size_t)snprintf(file.header + file.used, sizeof file.header - file.used,
                                  "%s\"%s\":{\"dtype\":\"F32\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
                                  file.used ? "," : "{", name, shape, file.bytes, file.bytes + size);
    file.bytes += size;
    return at;
}

static pe_status read_with(zoo_model **m, zoo_options options)
{
    size_t n = file.used + 1;
    io_bytes bytes = { calloc(1, 8 + n + file.bytes), 8 + n + file.bytes, "model.safetensors" };
    io_safetensors *st;
    assert_non_null(bytes.data);
    for (int i = 0; i < 8; i++)
        bytes.data[i] = (uint8_t)((uint64_t)n >> 8 * i);
    memcpy(bytes.data + 8, file.header, file.used);
    bytes.data[8 + file.used] = '}';
    memcpy(bytes.data + 8 + n, file.data, file.bytes);
    assert_ok(io_safetensors_parse(&st, &bytes, &err));
    zoo_builder *b = zoo_begin("model.safetensors", "safetensors", &options, &err);
    assert_non_null(b);
    pe_status s = zoo_finish(m, b, zoo_read_tensors(b, st));
    io_safetensors_free(st);
    return s;
}

static zoo_model *read_model(zoo_options options)
{
    zoo_model *m;
    assert_ok(read_with(&m, options));
    return m;
}

static void refused(zoo_options options, const char *text)
{
    zoo_model *m;
    assert_int_not_equal(read_with(&m, options), PE_OK);
    if (!strstr(err.text, text))
        fail_msg("'%s' does not hold '%s'", err.text, text);
}

/* As transformers computes it. */
static void put_frequencies(float *f, int n, double theta, double factor)
{
    for (int i = 0; i < n; i++)
        f[i] = 1.0F / powf((float)theta, (float)(2 * i) / (float)(2 * n)) / (float)factor;
}

/* ---------------------------------------------------------------- tests */

static void stored_frequencies_give_the_base(void **state)
{
    (void)state;
    static const double thetas[] = { 10000, 500000, 1e6, 150000, 12345, 1e7 };
    for (int i = 0; i < COUNT(thetas); i++) {
        begin();
        add("model.layers.0.self_attn.q_proj.weight", 16, 4);
        add("model.layers.1.self_attn.k_proj.weight", 8, 4);
        put_frequencies(add("model.layers.0.self_attn.rotary_emb.inv_freq", 32, 0), 32, thetas[i], 1);
        refused((zoo_options){ 0 }, "the width of a head is in no tensor; pass --head-dim N, or --lenient to take 64");
        refused((zoo_options){ .head_dim = 64 }, "heads of 64 do not divide");
    }
    for (int i = 0; i < COUNT(thetas); i++) {
        char expected[60];
        begin();
        add("model.layers.2.self_attn.q_proj.weight", 256, 4);
        add("model.layers.2.self_attn.k_proj.weight", 64, 4);
        put_frequencies(add("model.layers.0.self_attn.rotary_emb.inv_freq", 32, 0), 32, thetas[i], 1);
        refused((zoo_options){ .head_dim = 64 }, "how pairs lie is in no tensor; pass --pairs half|adjacent");
        zoo_model *m = read_model((zoo_options){ .head_dim = 64, .pairs = "half" });
        snprintf(expected, sizeof expected, thetas[i] == 10000 ? "rope" : "rope:theta=%.17g", thetas[i]);
        assert_string_equal(m->part->group[0].spec, expected);
        assert_int_equal(m->part->layers, 3);
        assert_int_equal(m->part->group[0].shape.heads, 4);
        assert_int_equal(m->part->group[0].shape.kv_heads, 1);
        zoo_free(m);
    }
}

static void a_part_of_the_head_and_a_factor(void **state)
{
    (void)state;
    begin();
    put_frequencies(add("gpt_neox.layers.0.attention.rotary_emb.inv_freq", 8, 0), 8, 10000, 4);
    zoo_model *m = read_model((zoo_options){ .head_dim = 64, .pairs = "half" });
    assert_string_equal(m->part->group[0].spec, "rope:dims=16,scaling=linear,factor=4");
    zoo_free(m);
    m = read_model((zoo_options){ .lenient = true });
    assert_string_equal(m->part->group[0].spec, "rope:scaling=linear,factor=4");
    assert_int_equal(m->note[0].level, ZOO_GUESS);
    zoo_free(m);
}

static void frequencies_of_no_base_are_refused(void **state)
{
    (void)state;
    begin();
    float *f = add("layers.0.rotary_emb.inv_freq", 8, 0);
    put_frequencies(f, 8, 10000, 1);
    f[4] *= 1.00001F;
    refused((zoo_options){ .head_dim = 16, .pairs = "half" }, "is no power of a base");
    f[4] = 0;
    refused((zoo_options){ .head_dim = 16, .pairs = "half" }, "is no power of a base");
    f[0] = NAN;
    refused((zoo_options){ .head_dim = 16, .pairs = "half" }, "is no power of a base");
}

static void projections_alone_leave_all_open(void **state)
{
    (void)state;
    begin();
    add("model.layers.0.self_attn.q_proj.weight", 16, 16);
    refused((zoo_options){ .head_dim = 8 }, "pass --theta N");
    zoo_model *m = read_model((zoo_options){ .head_dim = 8, .theta = 500, .pairs = "adjacent" });
    assert_string_equal(m->part->group[0].spec, "rope:theta=500,pairs=adjacent");
    zoo_free(m);
}

static void tables_are_learned_positions(void **state)
{
    (void)state;
    begin();
    add("transformer.wpe.weight", 32, 16);
    add("transformer.h.0.ln_1.weight", 16, 0);
    add("transformer.h.11.ln_1.weight", 16, 0);
    zoo_model *m = read_model((zoo_options){ 0 });
    assert_string_equal(m->part->group[0].spec, "learned:rows=32");
    assert_int_equal(m->part->layers, 12);
    assert_int_equal(m->part->served, 32);
    assert_int_equal(m->part->group[0].shape.model_dim, 16);
    assert_true(m->notes == 2);
    zoo_free(m);
    m = read_model((zoo_options){ .head_dim = 4 });
    assert_int_equal(m->part->group[0].shape.heads, 4);
    zoo_free(m);
}

static void t5_is_known_by_its_bias(void **state)
{
    (void)state;
    begin();
    add("encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", 32, 8);
    add("decoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight", 32, 8);
    add("decoder.block.5.layer.0.SelfAttention.q.weight", 64, 16);
    zoo_model *m = read_model((zoo_options){ 0 });
    assert_int_equal(m->parts, 2);
    assert_string_equal(m->part[0].group[0].spec, "t5:direction=causal");
    assert_string_equal(m->part[1].name, "encoder");
    assert_string_equal(m->part[1].group[0].spec, "t5");
    assert_int_equal(m->part[1].group[0].shape.head_dim, 8);
    assert_int_equal(m->part[0].layers, 6);
    zoo_free(m);
}

static void others_are_refused_in_words(void **state)
{
    (void)state;
    begin();
    add("base_model.model.layers.0.self_attn.q_proj.lora_A.weight", 4, 16);
    refused((zoo_options){ .lenient = true }, "belongs to an adapter, which says nothing about positions");
    begin();
    add("deberta.encoder.rel_embeddings.weight", 16, 8);
    refused((zoo_options){ .lenient = true }, "is DeBERTa's");
    begin();
    add("conv.weight", 16, 8);
    refused((zoo_options){ .lenient = true }, "say nothing about positions");
    begin();
    add("model.layers.99999999999999999999.q_proj.weight", 16, 8);
    refused((zoo_options){ .head_dim = 8 }, "pass --theta N");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_frequencies_give_the_base),  cmocka_unit_test(a_part_of_the_head_and_a_factor),
        cmocka_unit_test(frequencies_of_no_base_are_refused), cmocka_unit_test(projections_alone_leave_all_open),
        cmocka_unit_test(tables_are_learned_positions),      cmocka_unit_test(t5_is_known_by_its_bias),
        cmocka_unit_test(others_are_refused_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
