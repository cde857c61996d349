/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 1 s; needs: zoo
 *
 * What a .safetensors says without its config.json, and that it says no more.
 */

#include "../src/zoo/read.h"

#include "test.h"

static struct {
    char header[4096];
    uint8_t data[1 << 16];
    size_t used, bytes;
} file;
static pe_error err;

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

/* "q_proj.weight=16x4 inv_freq=8@10000/4": names with rows and columns, or with frequencies, as transformers computes
 * them, of a base and a factor. */
static void make(const char *text)
{
    memset(&file, 0, sizeof file);
    for (int used; *text; text += used, text += strspn(text, " ")) {
        char name[100], sizes[60];
        int rows, columns = 0;
        float theta = 0, factor = 1;
        assert_int_equal(sscanf(text, "%99[^=]=%59s%n", name, sizes, &used), 2);
        if (sscanf(sizes, "%d@%f/%f", &rows, &theta, &factor) < 2)
            sscanf(sizes, "%dx%d", &rows, &columns);
        float *f = add(name, rows, columns);
        for (int i = 0; theta > 0 && i < rows; i++)
            f[i] = 1.0F / powf(theta, (float)(2 * i) / (float)(2 * rows)) / factor;
    }
}

/* "decoder 8/8x8 of 16 0/0: 6x t5": heads, width, lengths, layers and spec of each part. */
static const char *summary(const zoo_model *m)
{
    static char text[600];
    size_t used = 0;
    for (int n = 0; n < m->parts; n++) {
        const zoo_part *p = &m->part[n];
        pe_shape s = p->group[0].shape;
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "%s%s%s%" PRId64 "/%" PRId64 "x%" PRId64 " of %" PRId64 " %" PRId64 "/%" PRId64
                                 ": %" PRId64 "x %s",
                                 n ? " | " : "", p->name, *p->name ? " " : "", s.heads, s.kv_heads, s.head_dim,
                                 s.model_dim, p->trained, p->served, p->layers, p->group[0].spec);
    }
    return text;
}

#define Q "model.layers.2.self_attn.q_proj.weight=256x4 model.layers.2.self_attn.k_proj.weight=64x4 inv_freq=32@"
#define T5 "block.0.layer.0.SelfAttention.relative_attention_bias.weight=32x8 "
#define WPE "transformer.wpe.weight=32x16 transformer.h.0.ln_1.weight=16 transformer.h.11.ln_1.weight=16"
#define HALF64 { .head_dim = 64, .pairs = "half" }

static const struct {
    const char *tensors;
    zoo_options options;
    const char *want, *refused;
    int notes; /* how many there are, where it is above 0 */
    bool guess;
} files[] = {
    /* stored frequencies give the base */
    { Q "10000", HALF64, .want = "4/1x64 of 4 0/0: 3x rope" },
    { Q "500000", HALF64, .want = "4/1x64 of 4 0/0: 3x rope:theta=500000" },
    { Q "1000000", HALF64, .want = "4/1x64 of 4 0/0: 3x rope:theta=1000000" },
    { Q "150000", HALF64, .want = "4/1x64 of 4 0/0: 3x rope:theta=150000" },
    { Q "12345", HALF64, .want = "4/1x64 of 4 0/0: 3x rope:theta=12345" },
    { Q "10000000", HALF64, .want = "4/1x64 of 4 0/0: 3x rope:theta=10000000" },
    { Q "10000", { .head_dim = 64 }, .refused = "no tensor says the pair layout; pass --pairs half|adjacent" },
    { Q "10000", { 0 }, .refused = "no tensor says the head dimension; pass --head-dim N, or --lenient to assume 64" },
    { "layers.0.q_proj.weight=16x4 layers.1.k_proj.weight=8x4 inv_freq=32@10000", { .head_dim = 64 },
      .refused = "heads of 64 do not divide" },
    /* a part of the head, and a factor */
    { "gpt_neox.layers.0.attention.rotary_emb.inv_freq=8@10000/4", HALF64,
      .want = "1/1x64 of 64 0/0: 1x rope:dims=16,scaling=linear,factor=4" },
    { "gpt_neox.layers.0.attention.rotary_emb.inv_freq=8@10000/4", { .lenient = true },
      .want = "1/1x16 of 16 0/0: 1x rope:scaling=linear,factor=4", .guess = true },
    /* projections alone leave all open */
    { "model.layers.0.self_attn.q_proj.weight=16x16", { .head_dim = 8 }, .refused = "pass --theta N" },
    { "model.layers.0.self_attn.q_proj.weight=16x16", { .head_dim = 8, .theta = 500, .pairs = "adjacent" },
      .want = "2/2x8 of 16 0/0: 1x rope:theta=500,pairs=adjacent" },
    /* tables are learned positions */
    { WPE, { 0 }, .want = "1/1x1 of 16 32/32: 12x learned:rows=32", .notes = 2 },
    { WPE, { .head_dim = 4 }, .want = "4/4x4 of 16 32/32: 12x learned:rows=32" },
    /* T5 is known by its bias */
    { "encoder." T5 "decoder." T5 "decoder.block.5.layer.0.SelfAttention.q.weight=64x16", { 0 },
      .want = "decoder 8/8x8 of 16 0/0: 6x t5:direction=causal | encoder 8/8x8 of 16 0/0: 6x t5" },
    /* others are refused in words */
    { "base_model.model.layers.0.self_attn.q_proj.lora_A.weight=4x16", { .lenient = true },
      .refused = "belongs to an adapter, which says nothing about positions" },
    { "deberta.encoder.rel_embeddings.weight=16x8", { .lenient = true }, .refused = "is DeBERTa's" },
    { "conv.weight=16x8", { .lenient = true }, .refused = "say nothing about positions" },
    { "model.layers.99999999999999999999.q_proj.weight=16x8", { .head_dim = 8 }, .refused = "pass --theta N" },
};

TEST(tensors_say_what_they_can)
{
    for (int n = 0; n < COUNT(files); n++) {
        zoo_model *m;
        make(files[n].tensors);
        pe_status s = read_with(&m, files[n].options);
        if (files[n].refused ? !s || !strstr(err.text, files[n].refused) : s || strcmp(summary(m), files[n].want))
            fail_msg("%s\nis %s, not %s", files[n].tensors, s ? err.text : summary(m),
                     files[n].refused ? files[n].refused : files[n].want);
        assert_true(!files[n].notes || m->notes == files[n].notes);
        assert_true(!files[n].guess || m->note[0].level == ZOO_GUESS);
        zoo_free(m);
    }
}

TEST(frequencies_of_no_base_are_refused)
{
    zoo_model *m;
    make("layers.0.rotary_emb.inv_freq=8@10000");
    float *f = (float *)(void *)file.data;
    const float wrong[][2] = { { 4, f[4] * 1.00001F }, { 4, 0 }, { 0, NAN } };
    for (int n = 0; n < COUNT(wrong); n++) {
        f[(int)wrong[n][0]] = wrong[n][1];
        assert_int_not_equal(read_with(&m, (zoo_options){ .head_dim = 16, .pairs = "half" }), PE_OK);
        assert_non_null(strstr(err.text, "is no power of a base"));
    }
}
