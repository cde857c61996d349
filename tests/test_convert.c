/* SPDX-License-Identifier: MIT
 *
 * labels: core; tier: quick; cost: 1 s; needs: io
 * A conversion moves numbers and changes none. Rows of weights take the places of the other layout, bit for bit; a
 * vector is rotated to the same bits in either layout: so q, k and their scores keep every bit. */

#include "io/pairs.h"

#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static char folder[] = "/tmp/posenc-convert-XXXXXX";
static char text[4][128];

static const char *in_folder(const char *name)
{
    static int turn;
    char *t = text[turn++ % 4];
    snprintf(t, sizeof text[0], "%s/%s", folder, name);
    return t;
}

AROUND(before_all)
{
    assert_non_null(mkdtemp(folder));
}

AROUND(after_all)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    for (int i = 0; i < COUNT(names); i++)
        unlink(in_folder(names[i]));
    assert_int_equal(rmdir(folder), 0); /* fails where a temporary file stayed behind */
}

/* ---------------------------------------------------------------- files */

typedef struct tensor {
    const char *name;
    io_type type;
    int rank;
    int64_t shape[3];
} tensor;

static int64_t count_of(const tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        n *= t->shape[i];
    return n;
}

/* A file of random tensors. Returns its path. */
static const char *make_file(const char *name, const tensor *t, int count, uint64_t seed)
{
    char json[4000] = "{\"__metadata__\":{\"format\":\"pt\"}";
    size_t used = strlen(json), at = 0, room = 0;
    for (int i = 0; i < count; i++)
        room += (size_t)count_of(&t[i]) * io_type_size(t[i].type);
    uint8_t *data = malloc(room + 1);
    for (int i = 0; i < count; i++) {
        size_t size = (size_t)count_of(&t[i]) * io_type_size(t[i].type);
        used += (size_t)snprintf(json + used, sizeof json - used, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", t[i].name,
                                 io_type_name(t[i].type));
        for (int r = 0; r < t[i].rank; r++)
            used += (size_t)snprintf(json + used, sizeof json - used, "%s%" PRId64, r ? "," : "", t[i].shape[r]);
        used += (size_t)snprintf(json + used, sizeof json - used, "],\"data_offsets\":[%zu,%zu]}", at, at + size);
        for (size_t k = 0; k < size; k++)
            data[at + k] = (uint8_t)test_random(&seed);
        at += size;
    }
    used += (size_t)snprintf(json + used, sizeof json - used, "}");
    uint8_t length[8] = { (uint8_t)used, (uint8_t)(used >> 8) };
    io_span parts[] = { { length, 8 }, { json, used }, { data, at } };
    const char *path = in_folder(name);
    assert_ok(io_write_file(path, parts, 3, &err));
    free(data);
    return path;
}

static pe_status convert(const char *from, const char *to, const io_pairs_facts *f, pe_error *why)
{
    io_safetensors *st;
    io_pairs_plan plan = { 0 };
    pe_status s = io_safetensors_open(&st, from, why);
    if (!s)
        s = io_pairs_plan_new(&plan, st, f, why);
    if (!s)
        s = io_pairs_convert(to, st, &plan, NULL, why);
    io_pairs_plan_free(&plan);
    io_safetensors_free(st);
    return s;
}

/* ---------------------------------------------------------------- rows */

enum { T = 5, C = 24 };

typedef struct form {
    io_fused fused; /* UNSAID: q and k apart */
    io_type type;
    int64_t heads, kv_heads, head_dim, dims;
    bool trailing, bias, norm, wide_norm;
} form;

/* The place of element l of a head, counted in pairs (c0 s0 c1 s1 ..) where it is rotated. */
static int64_t place(const form *c, io_pairs layout, int64_t l)
{
    int64_t first = c->trailing ? c->head_dim - c->dims : 0, i = l - first;
    if (layout == IO_PAIRS_ADJACENT || i < 0 || i >= c->dims)
        return l;
    return first + i / 2 + i % 2 * c->dims / 2;
}

/* The first row of head h of q or k in the tensor that holds both. */
static int64_t fused_row(const form *c, bool key, int64_t h)
{
    int64_t group = c->heads / c->kv_heads, block = group + 2;
    switch (c->fused) {
    case IO_FUSED_QKV: return (h + (key ? c->heads : 0)) * c->head_dim;
    case IO_FUSED_PER_HEAD: return (3 * h + key) * c->head_dim;
    default: return (key ? h * block + group : h / group * block + h % group) * c->head_dim;
    }
}

/* The first row of the head of q or k that a row belongs to; -1: it belongs to none. */
static int64_t head_of(const form *c, const char *name, int64_t row)
{
    if (!strstr(name, ".q_") && !strstr(name, ".k_") && !strstr(name, ".qkv_") && !strstr(name, ".kv_a_"))
        return -1;
    if (!strstr(name, ".qkv_"))
        return row / c->head_dim * c->head_dim;
    for (int key = 0; key < 2; key++)
        for (int64_t h = 0; h < (key ? c->kv_heads : c->heads); h++)
            if (row >= fused_row(c, key, h) && row < fused_row(c, key, h) + c->head_dim)
                return fused_row(c, key, h);
    return -1;
}

/* Every row has the bits of the row whose place it took; those of no q and no k stay where they were. */
static void rows_move(const form *c, const char *name, const char *a, const char *b, io_pairs from, io_pairs to)
{
    io_safetensors *x, *y;
    io_bytes before_bytes, after_bytes;
    assert_ok(io_read_file(&before_bytes, a, IO_CAP_DATA, &err));
    assert_ok(io_read_file(&after_bytes, b, IO_CAP_DATA, &err));
    assert_ok(io_safetensors_parse(&x, &before_bytes, &err)); /* our strict reader */
    assert_ok(io_safetensors_parse(&y, &after_bytes, &err));
    const io_tensor *t = io_safetensors_find(x, name), *u = io_safetensors_find(y, name);
    size_t size = (size_t)(t->rank > 1 ? t->shape[1] : 1) * io_type_size(t->type);
    for (int64_t r = 0; r < t->shape[0]; r++) {
        int64_t head = head_of(c, name, r), l = r - head;
        int64_t before = head < 0 ? r : head + place(c, from, l), after = head < 0 ? r : head + place(c, to, l);
        assert_memory_equal(t->bytes + (size_t)before * size, u->bytes + (size_t)after * size, size);
    }
    io_safetensors_free(x);
    io_safetensors_free(y);
}

#define S "model.layers.0.self_attn."

static int list_tensors(tensor out[10], const form *c)
{
    static const char *const name[][3] = { { S "q_proj.weight", S "q_proj.bias", S "q_norm.weight" },
                                           { S "k_proj.weight", S "k_proj.bias", S "k_norm.weight" },
                                           { S "qkv_proj.weight", S "qkv_proj.bias", NULL } };
    int64_t rows[3] = { c->heads * c->head_dim, c->kv_heads * c->head_dim };
    int n = 0;
    rows[2] = rows[0] + 2 * rows[1];
    out[n++] = (tensor){ "model.embed_tokens.weight", c->type, 2, { 7, 3 } };
    for (int i = 0; i < 3; i++) {
        bool there = (i == 2) == (c->fused != IO_FUSED_UNSAID);
        if (there)
            out[n++] = (tensor){ name[i][0], c->type, 2, { rows[i], C } };
        if (there && c->bias)
            out[n++] = (tensor){ name[i][1], IO_F32, 1, { rows[i] } };
        if (i < 2 && c->norm)
            out[n++] = (tensor){ name[i][2], c->type, 1, { c->wide_norm ? rows[i] : c->head_dim } };
    }
    out[n++] = (tensor){ S "v_proj.weight", c->type, 2, { rows[1], C } };
    return n;
}

static void same_bytes(const char *a, const char *b, bool header_too)
{
    io_bytes x, y;
    uint64_t skip[2] = { 0, 0 };
    assert_ok(io_read_file(&x, a, IO_CAP_TEXT, &err));
    assert_ok(io_read_file(&y, b, IO_CAP_TEXT, &err));
    if (!header_too) {
        memcpy(&skip[0], x.data, 8);
        memcpy(&skip[1], y.data, 8);
    }
    assert_int_equal(x.size - skip[0], y.size - skip[1]);
    assert_memory_equal(x.data + skip[0] + 8, y.data + skip[1] + 8, x.size - (size_t)skip[0] - 8);
    io_bytes_free(&x);
    io_bytes_free(&y);
}

/* There, back, and onto itself, from each layout. What cache_keeps_every_bit says of a vector, that it turns alike in
 * both layouts, then says of scores that they keep every bit. */
static void check_form(const form *c, uint64_t seed)
{
    tensor t[10];
    for (int way = 0; way < 2; way++) {
        io_pairs_facts f = { .from = (io_pairs)way,
                             .to = (io_pairs)!way,
                             .heads = c->heads,
                             .kv_heads = c->kv_heads,
                             .dims = c->dims,
                             .trailing = c->trailing,
                             .fused = c->fused };
        io_pairs_facts back = f;
        back.from = f.to;
        back.to = f.from;
        int count = list_tensors(t, c);
        const char *a = make_file("a", t, count, seed), *b = in_folder("b"), *d = in_folder("c");
        assert_ok(convert(a, b, &f, &err));
        for (int i = 0; i < count; i++)
            rows_move(c, t[i].name, a, b, f.from, f.to);
        assert_ok(convert(b, d, &back, &err));
        same_bytes(a, d, false);
        assert_ok(convert(d, a, &f, &err));
        same_bytes(a, b, true);
        assert_ok(convert(b, b, &back, &err)); /* onto itself */
        same_bytes(b, d, true);
    }
}

TEST(rows_of_q_and_k_take_the_places_of_the_layout)
{
    static const form forms[] = {
        { 0, IO_F32, 4, 4, 16, 16, false, false, false, false },
        { 0, IO_BF16, 8, 2, 16, 16, false, true, false, false }, /* GQA, biases: Qwen2 */
        { 0, IO_F16, 4, 1, 12, 8, false, false, true, false },   /* multi-query, partial, norms of one head */
        { 0, IO_BF16, 4, 2, 10, 4, true, true, true, true },     /* trailing, norms of all heads: OLMo2 */
        { 0, IO_F32, 2, 2, 2, 2, false, true, true, false },
        { IO_FUSED_QKV, IO_BF16, 8, 2, 8, 8, false, true, true, false },
        { IO_FUSED_QKV, IO_F32, 4, 4, 12, 6, true, false, false, false },
        { IO_FUSED_PER_HEAD, IO_F16, 4, 4, 16, 4, false, true, false, false }, /* NeoX */
        { IO_FUSED_GROUPED, IO_BF16, 8, 2, 8, 8, false, true, false, false },  /* InternLM2 */
        { IO_FUSED_GROUPED, IO_F32, 6, 3, 10, 6, true, false, true, true },
    };
    for (int i = 0; i < COUNT(forms); i++)
        check_form(&forms[i], 1000u + (uint64_t)i);
}

/* DeepSeek: q_b_proj is [nope | rope] per head, kv_a_proj_with_mqa [latent | rope]. */
TEST(mla_moves_the_rotated_rows_only)
{
    enum { H = 3, NOPE = 4, ROPE = 8, LATENT = 5 };
    static const tensor t[] = { { "x.q_a_proj.weight", IO_F32, 2, { 6, C } },
                                { "x.q_b_proj.weight", IO_BF16, 2, { H * (NOPE + ROPE), C } },
                                { "x.kv_a_proj_with_mqa.weight", IO_BF16, 2, { LATENT + ROPE, C } },
                                { "x.kv_b_proj.weight", IO_F32, 2, { 30, LATENT } } };
    static const int64_t head_dim[] = { 1, NOPE + ROPE, LATENT + ROPE, 1 };
    io_pairs_facts f = { .from = IO_PAIRS_ADJACENT, .to = IO_PAIRS_HALF, .heads = H, .dims = ROPE, .trailing = true };
    const char *a = make_file("a", t, COUNT(t), 5), *b = in_folder("b");
    assert_ok(convert(a, b, &f, &err));
    for (int i = 0; i < COUNT(t); i++) {
        form c = { .head_dim = head_dim[i], .dims = head_dim[i] > 1 ? ROPE : 0, .trailing = true };
        rows_move(&c, t[i].name, a, b, f.from, f.to);
    }
}

TEST(a_lora_is_permuted_on_its_way_out_only)
{
    static const tensor t[] = {
        { "base_model.model.self_attn.q_proj.lora_A.weight", IO_F32, 2, { 8, 16 } },
        { "base_model.model.self_attn.q_proj.lora_B.weight", IO_F32, 2, { 16, 8 } },
        { "base_model.model.self_attn.k_proj.lora_B.default.weight", IO_F32, 2, { 8, 8 } },
        { "base_model.model.self_attn.q_proj.lora_magnitude_vector", IO_F32, 1, { 16 } },
        { "base_model.model.self_attn.v_proj.lora_B.weight", IO_F32, 2, { 8, 8 } }
    };
    static const bool rotated[] = { false, true, true, true, false };
    io_safetensors *st;
    io_pairs_plan plan;
    io_pairs_facts f = { .from = IO_PAIRS_HALF, .to = IO_PAIRS_ADJACENT, .heads = 2, .kv_heads = 1 };
    assert_ok(io_safetensors_open(&st, make_file("a", t, COUNT(t), 3), &err));
    assert_ok(io_pairs_plan_new(&plan, st, &f, &err));
    for (int i = 0; i < COUNT(t); i++) {
        assert_string_equal(plan.item[i].tensor->name, t[i].name); /* the order of the file */
        assert_int_equal(plan.item[i].map.rows != 0, rotated[i]);
    }
    io_pairs_plan_free(&plan);
    io_safetensors_free(st);
}

/* ---------------------------------------------------------------- K caches */

static uint16_t random_half(uint64_t *seed, bool f16) /* finite, of either sign, around 1 */
{
    uint64_t r = test_random(seed);
    return f16 ? (uint16_t)((r & 0x83FF) | (10 + (r >> 20) % 8) << 10)
               : (uint16_t)((r & 0x807F) | (120 + (r >> 20) % 12) << 7);
}

/* Vectors of every type, all or part of them rotated in either layout: one is the other converted, and they convert to
 * each other. */
static void check_cache(const form *c, pe_dtype type)
{
    enum { H = 3, D = 12, N = T * H * D };
    static const int64_t at[T] = { 0, 3, 4, 1000, 65535 };
    size_t size = pe_dtype_size(type);
    uint64_t seed = 9;
    uint8_t x[2][N * 8] = { { 0 } };
    char spec[80];
    for (int n = 0; n < N; n++) { /* the same vectors in both layouts */
        double d = test_uniform(&seed);
        float v = (float)d;
        uint16_t h = random_half(&seed, type == PE_F16);
        const void *bits = size == 8 ? (void *)&d : size == 4 ? (void *)&v : (void *)&h;
        for (int layout = 0; layout < 2; layout++)
            memcpy(x[layout] + (size_t)(n / D * D + place(c, (io_pairs)layout, n % D)) * size, bits, size);
    }
    for (int layout = 0; layout < 2; layout++) {
        snprintf(spec, sizeof spec, "rope:pairs=%s,dims=%d,range=%s", io_pairs_name((io_pairs)layout), (int)c->dims,
                 c->trailing ? "trailing" : "leading");
        pe_encoding *e = test_encoding(spec, (pe_shape){ .heads = H, .head_dim = D });
        pe_view v = pe_view_of(x[layout], type, 1, T, H, D);
        assert_ok(pe_rotate(e, PE_KEY, v, v, pe_positions_of(at, PE_I64, 1, T, 1), NULL, &err));
        pe_encoding_free(e);
    }
    for (int way = 0; way < 2; way++) {
        io_array a = { x[way], io_type_of(type), 3, { T, H, D }, N }, b;
        io_file in;
        io_pairs_map map;
        uint64_t begin;
        io_pairs_facts f = { .from = (io_pairs)way, .to = (io_pairs)!way, .dims = c->dims, .trailing = c->trailing };
        unsigned flags = type == PE_BF16 ? IO_NPY_BF16 : 0;
        assert_ok(io_npy_save(in_folder("a"), &a, &err));
        assert_ok(io_file_open(&in, in_folder("a"), &err));
        assert_ok(io_npy_open(&a, &begin, &in, flags, &err));
        assert_ok(io_pairs_map_array(&map, &a, &f, &err));
        assert_ok(io_pairs_convert_array(in_folder("b"), &in, &a, begin, &map, NULL, &err));
        io_file_close(&in);
        assert_ok(io_npy_load(&b, in_folder("b"), flags, &err));
        assert_int_equal(b.count, N);
        assert_memory_equal(b.data, x[!way], N * size);
        io_array_free(&b);
    }
}

TEST(cache_keeps_every_bit)
{
    static const pe_dtype types[] = { PE_F32, PE_F16, PE_BF16, PE_F64 };
    static const form forms[] = { { .head_dim = 12, .dims = 8, .trailing = true },
                                  { .head_dim = 12, .dims = 12 },
                                  { .head_dim = 12, .dims = 4 } };
    for (int i = 0; i < COUNT(types); i++)
        for (int k = 0; k < COUNT(forms); k++)
            check_cache(&forms[k], types[i]);
}

/* ---------------------------------------------------------------- names and refusals */

TEST(names_tell_roles)
{
    static const struct {
        const char *name;
        int role; /* -1: none */
        io_fused fused;
    } rows[] = {
        { "model.layers.31.self_attn.q_proj.weight", IO_ROLE_Q, 0 },
        { "layers.0.attention.wk.weight", IO_ROLE_K, 0 },
        { "transformer.h.3.attn.q_proj.weight", IO_ROLE_Q, 0 },
        { "blk.3.attn_k.bias", IO_ROLE_K, 0 },
        { "blk.3.attn_k_norm.weight", IO_ROLE_K_NORM, 0 },
        { "model.layers.0.self_attn.q_layernorm.norms.3.weight", IO_ROLE_Q_NORM, 0 },
        { "gpt_neox.layers.0.attention.query_key_value.weight", IO_ROLE_FUSED, IO_FUSED_PER_HEAD },
        { "transformer.h.0.self_attention.query_key_value.weight", IO_ROLE_FUSED, IO_FUSED_UNSAID },
        { "model.layers.0.attention.wqkv.weight", IO_ROLE_FUSED, IO_FUSED_GROUPED },
        { "transformer.h.0.attn.c_attn.weight", IO_ROLE_FUSED, IO_FUSED_QKV },
        { "transformer.h.0.attn.qkv_proj.weight", IO_ROLE_FUSED, IO_FUSED_STRANGE },
        { "transformer.layers.0.attn.qkv_proj.weight", IO_ROLE_FUSED, IO_FUSED_QKV },
        { "model.layers.0.self_attn.kv_a_proj_with_mqa.weight", IO_ROLE_MLA_K, 0 },
        { "model.layers.0.self_attn.v_proj.weight", -1, 0 },
        { "model.layers.0.self_attn.q_a_proj.weight", -1, 0 },
        { "model.layers.0.self_attn.kv_b_proj.weight", -1, 0 },
        { "model.layers.0.self_attn.xq_proj.weight", -1, 0 },
        { "q_proj", -1, 0 },
        { "model.layers.0.mamba.in_proj.weight", -1, 0 },
    };
    for (int i = 0; i < COUNT(rows); i++) {
        const char *rest;
        const io_pairs_stem *s = io_pairs_find(rows[i].name, &rest);
        if ((s ? (int)s->role : -1) != rows[i].role || (s && s->fused != rows[i].fused))
            fail_msg("%s: role %d", rows[i].name, s ? (int)s->role : -1);
    }
    assert_true(io_pairs_in_tower("vision_tower.encoder.layers.0.self_attn.q_proj.weight"));
    assert_true(io_pairs_in_tower("model.layers.0.self_attn.indexer.k_norm.weight"));
    assert_true(io_pairs_in_tower("v.blk.0.attn_q.weight"));
    assert_false(io_pairs_in_tower("model.layers.0.self_attn.visuals.weight"));
}

#define Q S "q_proj."
#define K S "k_proj."
#define HA IO_PAIRS_HALF
#define AD IO_PAIRS_ADJACENT
#define W(name, rows) { name "weight", IO_F32, 2, { rows, 4 } }
#define FUSED W("x.query_key_value.", 96)

TEST(what_cannot_be_known_is_refused)
{
    static const struct {
        tensor t[3];
        io_pairs_facts f;
        pe_status status;
        const char *words;
    } cases[] = {
        { { W(Q, 32) }, { .from = AD, .to = HA }, PE_ERR_SPEC, "--heads" },
        { { W(Q, 32) }, { AD, AD, .heads = 4 }, PE_ERR_SPEC, "nothing to do" },
        { { W(Q, 32) }, { AD, HA, .heads = 5 }, PE_ERR_SHAPE, "not 5 equal heads" },
        { { W(Q, 32) }, { AD, HA, .heads = 64 }, PE_ERR_SHAPE, "not 64 equal heads" },
        { { W(Q, 32) }, { AD, HA, .heads = 4, .head_dim = 4 }, PE_ERR_SHAPE, "has 32 rows" },
        { { W(Q, 36) }, { AD, HA, .head_dim = 8 }, PE_ERR_SHAPE, "a multiple of --head-dim 8" },
        { { W(Q, 36) }, { AD, HA, .heads = 4 }, PE_ERR_SHAPE, "even number" }, /* of 9 */
        { { W(Q, 32) }, { AD, HA, .heads = 4, .dims = 5 }, PE_ERR_SPEC, "even number" },
        { { W(Q, 32) }, { AD, HA, .heads = 4, .dims = 10 }, PE_ERR_SPEC, "even number" },
        { { W(Q, 32) }, { AD, HA, .heads = -4 }, PE_ERR_SPEC, "is -4" },
        { { W(Q, 0) }, { AD, HA, .heads = 4 }, PE_ERR_SHAPE, "has 0 rows" },
        { { { Q "weight", IO_F32, 0, { 0 } } }, { AD, HA, .heads = 4, .head_dim = 2 }, PE_ERR_SHAPE, "has 0 rows" },
        { { W(Q, 32), W(K, 16) }, { AD, HA, .heads = 4 }, PE_ERR_SHAPE, "--kv-heads missing" },
        { { W(K, 16) }, { AD, HA, .heads = 4 }, PE_ERR_SPEC, "give --head-dim" },
        { { { Q "qweight", IO_I32, 2, { 32, 4 } } }, { AD, HA, .heads = 4 }, PE_ERR_FORMAT, "quantised" },
        { { { Q "weight", IO_U8, 2, { 32, 4 } } }, { AD, HA, .heads = 4 }, PE_ERR_FORMAT, "quantised" },
        { { { Q "weight", IO_F8_E4M3, 2, { 32, 4 } }, { Q "weight_scale_inv", IO_F32, 2, { 1, 1 } } },
          { AD, HA, .heads = 4 }, PE_ERR_FORMAT, "weight_scale_inv" },
        { { W(Q, 32), { K "g_idx", IO_I32, 1, { 4 } } }, { AD, HA, .heads = 4 }, PE_ERR_FORMAT, "g_idx" },
        { { { Q "weight.absmax", IO_F32, 1, { 32 } } }, { AD, HA, .heads = 4 }, PE_ERR_FORMAT, "absmax" },
        { { W(Q, 32), { S "q_norm.weight", IO_F32, 1, { 16 } } }, { AD, HA, .heads = 4 }, PE_ERR_SHAPE,
          "q_norm.weight has 16 rows" },
        { { FUSED }, { AD, HA, .heads = 4 }, PE_ERR_SPEC, "--fused" },
        { { FUSED }, { AD, HA, .head_dim = 8, .fused = IO_FUSED_QKV }, PE_ERR_SPEC, "give --heads" },
        { { FUSED }, { AD, HA, .heads = 4, .kv_heads = 2, .fused = IO_FUSED_PER_HEAD }, PE_ERR_SPEC,
          "as many key heads" },
        { { FUSED }, { AD, HA, .heads = 5, .kv_heads = 2, .fused = IO_FUSED_GROUPED }, PE_ERR_SPEC, "equal groups" },
        { { W("transformer.h.0.attn.qkv_proj.", 96) }, { AD, HA, .heads = 4, .fused = IO_FUSED_QKV }, PE_ERR_FORMAT,
          "CodeGen" },
        { { W(S "q_b_proj.", 96) }, { AD, HA, .heads = 4 }, PE_ERR_SPEC, "qk_rope_head_dim" },
        { { W(S "kv_a_proj_with_mqa.", 9) }, { AD, HA, .dims = 4 }, PE_ERR_SPEC, "trailing" },
        { { W(S "kv_a_proj_with_mqa.", 9) }, { AD, HA, .dims = 10, .trailing = true }, PE_ERR_SPEC, "even number" },
        { { W(Q, 70000) }, { AD, HA, .heads = 1 }, PE_ERR_SHAPE, "1 to 65536" },
        { { W("my.own.", 24) }, { AD, HA, .heads = 4, .kv_heads = 2, .head_dim = 8, .tensors = "my.*" }, PE_ERR_SHAPE,
          "has 24 rows" },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        int count = 0;
        while (count < 3 && cases[i].t[count].name)
            count++;
        pe_status s = convert(make_file("a", cases[i].t, count, 1), in_folder("d"), &cases[i].f, &err);
        if (s != cases[i].status || !strstr(err.text, cases[i].words))
            fail_msg("case %d: %s: %s", i, pe_status_name(s), err.text);
        assert_int_not_equal(access(in_folder("d"), F_OK), 0);
    }
}

TEST(a_pattern_chooses_tensors)
{
    static const tensor t[] = { W(Q, 8), W("vision_tower.q_proj.", 8), W("my.own.", 8) };
    static const char *const patterns[] = { NULL, "vision_tower.*", "my.*", "*", "absent" };
    static const unsigned wanted[] = { 1, 2, 4, 7, 0 };
    io_safetensors *st;
    assert_ok(io_safetensors_open(&st, make_file("a", t, COUNT(t), 3), &err));
    for (int i = 0; i < COUNT(patterns); i++) {
        io_pairs_plan plan;
        io_pairs_facts f = { IO_PAIRS_HALF, IO_PAIRS_ADJACENT, .head_dim = 4, .tensors = patterns[i] };
        unsigned got = 0;
        assert_ok(io_pairs_plan_new(&plan, st, &f, &err));
        for (int k = 0; k < COUNT(t); k++)
            got |= (unsigned)(plan.item[k].map.rows != 0) << k;
        assert_int_equal(got, wanted[i]);
        assert_int_equal(plan.passed_over != NULL, i == 0);
        io_pairs_plan_free(&plan);
    }
    io_safetensors_free(st);
}

TEST(a_conversion_is_recorded_and_not_done_twice)
{
    static const tensor t[] = { W(Q, 8) };
    io_safetensors *st;
    io_pairs_facts f = { IO_PAIRS_HALF, IO_PAIRS_ADJACENT, .head_dim = 4 };
    assert_ok(convert(make_file("a", t, 1, 3), in_folder("b"), &f, &err));
    assert_ok(io_safetensors_open(&st, in_folder("b"), &err));
    assert_string_equal(io_safetensors_meta(st, IO_PAIRS_KEY), "adjacent");
    assert_string_equal(io_safetensors_meta(st, "format"), "pt");
    io_safetensors_free(st);
    assert_int_equal(convert(in_folder("b"), in_folder("c"), &f, &err), PE_ERR_FORMAT);
    assert_non_null(strstr(err.text, "converted before"));
    f.again = true;
    assert_ok(convert(in_folder("b"), in_folder("c"), &f, &err));
}

TEST(a_file_cut_anywhere_is_refused)
{
    static const tensor t[] = { { Q "weight", IO_F32, 2, { 8, 1 } }, { K "weight", IO_F32, 2, { 8, 1 } } };
    io_pairs_facts f = { IO_PAIRS_HALF, IO_PAIRS_ADJACENT, .head_dim = 4 };
    io_bytes whole;
    assert_ok(io_read_file(&whole, make_file("a", t, 2, 3), IO_CAP_TEXT, &err));
    for (size_t size = 0; size < whole.size; size++) {
        io_span part = { whole.data, size };
        assert_ok(io_write_file(in_folder("b"), &part, 1, &err));
        assert_int_equal(convert(in_folder("b"), in_folder("d"), &f, &err), PE_ERR_FORMAT);
        assert_int_not_equal(access(in_folder("d"), F_OK), 0);
    }
    io_bytes_free(&whole);
}

TEST(names_of_no_row_are_told_from_others)
{
    static const char *const alike[] = { "h.0.attn.qkv.weight",           "blocks.1.attn.to_q.weight",
                                         "m.attention.query.weight",      "x.SelfAttention.k.weight",
                                         "x.self_attention.key.2.weight", "x.attn.q_bias",
                                         "x.attn_qkv_fused.weight",       "layers.0.attention.W_k.weight" };
    static const char *const others[] = { "m.self_attn.v_proj.weight",   "m.self_attn.o_proj.weight",
                                          "m.self_attn.q_a_proj.weight", "m.self_attn.k_scale",
                                          "m.mlp.key.weight",            "m.self_attn.kv_b_proj.weight",
                                          "m.attn.keynote.weight",       "m.embed_tokens.weight" };
    for (int i = 0; i < COUNT(alike); i++) {
        assert_true(io_pairs_resembles(alike[i]));
        assert_false(io_pairs_resembles(others[i]));
    }
}
