/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 2 s; needs: lab wrap
 *
 * Trained models from their files: the same weights give the same logits in every format, files that are none are
 * refused, and posenc eval measures what it says.
 */

#include <malloc.h>

#include "heap.h"

#include "lab/eval.h"
#include "model/gemm.h"
#include "model/load.h"

#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

/* A tiny Llama, and where its files go. */
enum { VOCAB = 21, WIDTH = 8, HIDDEN = 12, LAYERS = 2, HEADS = 2, KV_HEADS = 1, HEAD = 4, TRAINED = 16 };
static char folder[64];

static const char *in_folder(const char *name)
{
    static char path[2][160];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

/* ---------------------------------------------------------------- weights: numbers that every type holds exactly */

static float weight(const char *kind, int64_t layer, int64_t n)
{
    bool norm = !strncmp(kind, "norm", 4);
    uint64_t seed = (uint64_t)(layer * 131 + n * 7919);
    for (; *kind; kind++)
        seed = seed * 31 + (uint64_t)*kind;
    float v = (float)test_range(&seed, -12, 12);
    return norm ? 1 + v / 64 : v / 16;
}

/* ---------------------------------------------------------------- llama2.c files */

typedef struct file {
    uint8_t data[1 << 17];
    size_t size;
} file;

static void put(file *f, const void *bytes, size_t size)
{
    assert_true(size <= sizeof f->data - f->size);
    memcpy(f->data + f->size, bytes, size);
    f->size += size;
}

static void put_int(file *f, int32_t v)
{
    put(f, &v, sizeof v);
}

static void put_all(file *f, const char *kind, int64_t layers, int64_t count)
{
    for (int64_t layer = 0; layer < layers; layer++)
        for (int64_t n = 0; n < count; n++) {
            float v = weight(kind, layer, n);
            put(f, &v, sizeof v);
        }
}

static void put_header(file *f, bool shared)
{
    const int32_t numbers[] = { WIDTH, HIDDEN, LAYERS, HEADS, KV_HEADS, shared ? VOCAB : -VOCAB, TRAINED };
    for (int n = 0; n < COUNT(numbers); n++)
        put_int(f, numbers[n]);
}

static void put_matrices(file *f)
{
    put_all(f, "q", LAYERS, WIDTH * WIDTH);
    put_all(f, "k", LAYERS, KV_HEADS * HEAD * WIDTH);
    put_all(f, "v", LAYERS, KV_HEADS * HEAD * WIDTH);
    put_all(f, "o", LAYERS, WIDTH * WIDTH);
}

static void put_mlp(file *f)
{
    put_all(f, "gate", LAYERS, HIDDEN * WIDTH);
    put_all(f, "down", LAYERS, HIDDEN * WIDTH);
    put_all(f, "up", LAYERS, HIDDEN * WIDTH);
}

static void make_version0(file *f, bool shared)
{
    put_header(f, shared);
    put_all(f, "embed", 1, VOCAB * WIDTH);
    put_all(f, "norm_a", LAYERS, WIDTH);
    put_matrices(f);
    put_all(f, "norm_b", LAYERS, WIDTH);
    put_mlp(f);
    put_all(f, "norm_f", 1, WIDTH);
    put_all(f, "tables", 1, TRAINED * HEAD);
    if (!shared)
        put_all(f, "output", 1, VOCAB * WIDTH);
}

static void make_version1(file *f, bool shared)
{
    put_int(f, 0x616b3432);
    put_int(f, 1);
    put_header(f, true);
    put(f, &(uint8_t){ shared }, 1);
    while (f->size < 256)
        put(f, "", 1);
    put_all(f, "norm_a", LAYERS, WIDTH);
    put_all(f, "norm_b", LAYERS, WIDTH);
    put_all(f, "norm_f", 1, WIDTH);
    put_all(f, "embed", 1, VOCAB * WIDTH);
    put_matrices(f);
    put_mlp(f);
    if (!shared)
        put_all(f, "output", 1, VOCAB * WIDTH);
}

static const char *save(const char *name, const void *data, size_t size)
{
    const char *path = in_folder(name);
    assert_ok(io_write_file(path, &(io_span){ data, size }, 1, &err));
    return path;
}

static const char *save_bin(void (*make)(file *f, bool shared), bool shared)
{
    file *f = calloc(1, sizeof *f);
    assert_non_null(f);
    make(f, shared);
    const char *path = save("model.bin", f->data, f->size);
    free(f);
    return path;
}

/* ---------------------------------------------------------------- Hugging Face folders */

/* One tensor of a header: how it differs from what it should be is what the hostile cases are. */
typedef struct tensor {
    const char *name, *kind;
    int64_t rows, columns; /* columns 0: a vector; kind "": % is each layer */
} tensor;

static const tensor llama[] = {
    { "model.embed_tokens.weight", "embed", VOCAB, WIDTH },
    { "model.norm.weight", "norm_f", WIDTH, 0 },
    { "lm_head.weight", "output", VOCAB, WIDTH },
    { "model.layers.%.input_layernorm.weight", "norm_a", WIDTH, 0 },
    { "model.layers.%.self_attn.q_proj.weight", "q", WIDTH, WIDTH },
    { "model.layers.%.self_attn.k_proj.weight", "k", KV_HEADS *HEAD, WIDTH },
    { "model.layers.%.self_attn.v_proj.weight", "v", KV_HEADS *HEAD, WIDTH },
    { "model.layers.%.self_attn.o_proj.weight", "o", WIDTH, WIDTH },
    { "model.layers.%.post_attention_layernorm.weight", "norm_b", WIDTH, 0 },
    { "model.layers.%.mlp.gate_proj.weight", "gate", HIDDEN, WIDTH },
    { "model.layers.%.mlp.up_proj.weight", "up", HIDDEN, WIDTH },
    { "model.layers.%.mlp.down_proj.weight", "down", WIDTH, HIDDEN },
};
static const tensor bloom[] = {
    { "word_embeddings.weight", "embed", VOCAB, WIDTH },
    { "word_embeddings_layernorm.weight", "norm_e", WIDTH, 0 },
    { "word_embeddings_layernorm.bias", "be", WIDTH, 0 },
    { "ln_f.weight", "norm_f", WIDTH, 0 },
    { "ln_f.bias", "bf", WIDTH, 0 },
    { "h.%.input_layernorm.weight", "norm_a", WIDTH, 0 },
    { "h.%.input_layernorm.bias", "ba", WIDTH, 0 },
    { "h.%.self_attention.query_key_value.weight", "qkv", 3 * WIDTH, WIDTH },
    { "h.%.self_attention.query_key_value.bias", "bqkv", 3 * WIDTH, 0 },
    { "h.%.self_attention.dense.weight", "o", WIDTH, WIDTH },
    { "h.%.self_attention.dense.bias", "bo", WIDTH, 0 },
    { "h.%.post_attention_layernorm.weight", "norm_b", WIDTH, 0 },
    { "h.%.post_attention_layernorm.bias", "bb", WIDTH, 0 },
    { "h.%.mlp.dense_h_to_4h.weight", "up", 4 * WIDTH, WIDTH },
    { "h.%.mlp.dense_h_to_4h.bias", "bup", 4 * WIDTH, 0 },
    { "h.%.mlp.dense_4h_to_h.weight", "down", WIDTH, 4 * WIDTH },
    { "h.%.mlp.dense_4h_to_h.bias", "bdown", WIDTH, 0 },
};

typedef struct made {
    const char *type;                      /* "F32", "F16", "BF16", "I64" */
    const char *prefix;                    /* before each name but lm_head's; NULL: none */
    const char *without, *wrong, *integer; /* a tensor that is left out; of another shape; of another type */
    bool flat;                             /* wrong: all elements along one axis */
} made;

/* v as the bits of this type: it has few digits, so that nothing is rounded. */
static size_t bits_of(uint8_t out[8], const char *type, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (!strcmp(type, "F16")) {
        int exponent;
        float part = frexpf(fabsf(v), &exponent); /* v = part 2^exponent, part in [1/2, 1) */
        uint32_t half = part > 0 ? (uint32_t)(exponent + 14) << 10 | ((uint32_t)(part * 2048) & 0x3ff) : 0;
        half |= signbit(v) ? 0x8000u : 0;
        out[0] = (uint8_t)half;
        out[1] = (uint8_t)(half >> 8);
        return 2;
    }
    if (!strcmp(type, "BF16"))
        bits >>= 16;
    memset(out, 0, 8);
    for (int n = 0; n < 4; n++)
        out[n] = (uint8_t)(bits >> 8 * n);
    return !strcmp(type, "BF16") ? 2 : !strcmp(type, "I64") ? 8 : 4;
}

static void put_tensor(file *data, char *head, size_t room, const tensor *t, int64_t layer, const made *m)
{
    char name[120];
    const char *mark = strchr(t->name, '%');
    const char *prefix = m->prefix && strcmp(t->name, "lm_head.weight") ? m->prefix : "";
    const char *type = m->integer && !strcmp(t->name, m->integer) ? "I64" : m->type;
    int64_t rows = t->rows, columns = t->columns, count = rows * (columns ? columns : 1);
    size_t begin = data->size, used = strlen(head);
    uint8_t bytes[8];
    if (m->without && !strcmp(t->name, m->without))
        return;
    if (mark)
        snprintf(name, sizeof name, "%s%.*s%lld%s", prefix, (int)(mark - t->name), t->name, (long long)layer, mark + 1);
    else
        snprintf(name, sizeof name, "%s%s", prefix, t->name);
    for (int64_t n = 0; n < count; n++)
        put(data, bytes, bits_of(bytes, type, weight(t->kind, layer, n)));
    if (m->wrong && !strcmp(t->name, m->wrong)) {
        rows = m->flat ? count : t->columns;
        columns = m->flat ? 0 : t->rows;
    }
    char shape[60];
    snprintf(shape, sizeof shape, columns ? "%lld,%lld" : "%lld", (long long)rows, (long long)columns);
    used += (size_t)snprintf(head + used, room - used,
                             "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
                             used > 1 ? "," : "", name, type, shape, begin, data->size);
    assert_true(used < room);
}

static void save_tensors(const char *name, const tensor *list, int count, const made *m)
{
    static char head[1 << 14];
    static file data, all;
    data.size = all.size = 0;
    snprintf(head, sizeof head, "{");
    for (int i = 0; i < count; i++)
        for (int64_t layer = 0; layer < (strchr(list[i].name, '%') ? LAYERS : 1); layer++)
            put_tensor(&data, head, sizeof head, &list[i], layer, m);
    snprintf(head + strlen(head), sizeof head - strlen(head), "}");
    while (strlen(head) % 8)
        strcat(head, " ");
    uint64_t size = strlen(head);
    put(&all, &size, sizeof size);
    put(&all, head, (size_t)size);
    put(&all, data.data, data.size);
    save(name, all.data, all.size);
}

#define LLAMA_CONFIG                                                                                                   \
    "\"model_type\":\"llama\",\"hidden_size\":8,\"intermediate_size\":12,\"num_hidden_layers\":2,"                     \
    "\"num_attention_heads\":2,\"num_key_value_heads\":1,\"max_position_embeddings\":16,\"rms_norm_eps\":1e-5"

static void save_config(const char *members)
{
    char text[600];
    snprintf(text, sizeof text, "{%s}", members);
    save("config.json", text, strlen(text));
}

static void empty_folder(void)
{
    const char *const names[] = { "model.bin",     "config.json",   "model.safetensors", "model.safetensors.index.json",
                                  "a.safetensors", "b.safetensors", "tokens.npy" };
    for (int n = 0; n < COUNT(names); n++)
        unlink(in_folder(names[n]));
}

static void save_llama(const char *config, const made *m)
{
    empty_folder();
    save_config(config);
    save_tensors("model.safetensors", llama, COUNT(llama), m);
}

static void save_bloom(const char *prefix)
{
    empty_folder();
    save_config("\"model_type\":\"bloom\",\"hidden_size\":8,\"n_layer\":2,\"n_head\":2,\"vocab_size\":21");
    save_tensors("model.safetensors", bloom, COUNT(bloom), &(made){ .type = "F32", .prefix = prefix });
}

/* ---------------------------------------------------------------- logits */

enum { TOKENS = 9 };
static const int32_t text[TOKENS] = { 1, 5, 20, 0, 7, 7, 13, 2, 11 };

static pe_status load(model **m, const char *path, const zoo_options *options, pe_error *why)
{
    zoo_model *zoo;
    *m = NULL;
    pe_status s = zoo_open(&zoo, path, options, why);
    if (s == PE_OK) {
        s = model_load(m, zoo, NULL, why);
        zoo_free(zoo);
    }
    assert_true((s == PE_OK) == (*m != NULL));
    return s;
}

/* Logits (n, V) after each of n tokens. */
static void all_logits(model *m, real *out, const int32_t *token, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        assert_ok(model_logits(m, out + i * VOCAB, token, i + 1, &err));
}

/* Adjacent pairs, as llama2.c has them, so that the formats can hold the same model. */
static void logits_of(real out[TOKENS * VOCAB], const char *path)
{
    model *m;
    assert_ok(load(&m, path, &(zoo_options){ .pairs = "adjacent" }, &err));
    all_logits(m, out, text, TOKENS);
    model_free(m);
}

#define UNTIED LLAMA_CONFIG ",\"vocab_size\":21,\"tie_word_embeddings\":false"
#define TIED LLAMA_CONFIG ",\"vocab_size\":21,\"tie_word_embeddings\":true"

TEST(every_format_gives_the_same_logits)
{
    real want[TOKENS * VOCAB], got[TOKENS * VOCAB];
    static const char *const types[] = { "F32", "F16", "BF16" };
    for (int shared = 0; shared < 2; shared++) {
        logits_of(want, save_bin(make_version0, shared));
        logits_of(got, save_bin(make_version1, shared));
        assert_memory_equal(got, want, sizeof want);
        for (int n = 0; n < COUNT(types); n++) {
            save_llama(shared ? TIED : UNTIED,
                       &(made){ .type = types[n], .without = shared ? "lm_head.weight" : NULL });
            logits_of(got, folder);
            assert_memory_equal(got, want, sizeof want);
        }
    }
    assert_true(fabs((double)want[3]) > 1e-3); /* it is no model of zeros */
}

TEST(shards_are_one_model)
{
    static const char index[] =
        "{\"metadata\":{},\"weight_map\":{\"model.norm.weight\":\"a.safetensors\","
        "\"lm_head.weight\":\"b.safetensors\",\"model.embed_tokens.weight\":\"a.safetensors\"}}";
    real want[TOKENS * VOCAB], got[TOKENS * VOCAB];
    const made f32 = { .type = "F32" };
    save_llama(UNTIED, &f32);
    logits_of(want, folder);
    empty_folder();
    save_config(UNTIED);
    save_tensors("a.safetensors", llama, 5, &f32);
    save_tensors("b.safetensors", llama + 5, COUNT(llama) - 5, &f32);
    save("model.safetensors.index.json", index, strlen(index));
    logits_of(got, folder);
    assert_memory_equal(got, want, sizeof want);
}

/* Files of the bare model have no prefix. (What the logits have to be: conformance, bloom_lm.) */
TEST(bloom_is_read_with_and_without_its_prefix)
{
    real logits[2][TOKENS * VOCAB];
    model *m;
    for (int n = 0; n < 2; n++) {
        save_bloom(n ? "transformer." : NULL);
        assert_ok(load(&m, folder, &(zoo_options){ 0 }, &err));
        all_logits(m, logits[n], text, TOKENS);
        model_free(m);
    }
    assert_memory_equal(logits[0], logits[1], sizeof logits[0]);
}

/* ---------------------------------------------------------------- what is refused */

static void expect_refusal(const char *path, const char *word)
{
    model *m;
    pe_status s = load(&m, path, &(zoo_options){ 0 }, &err);
    if (s == PE_OK || !strstr(err.text, word))
        fail_msg("wanted a refusal with \"%s\"; got %s: %s", word, pe_status_name(s), err.text);
}

TEST(tensors_that_do_not_fit_are_refused)
{
    static const struct {
        made made;
        const char *config, *word;
    } cases[] = {
        { { .type = "F32", .without = "model.layers.%.mlp.up_proj.weight" }, UNTIED, "layers.0.mlp.up_proj.weight" },
        { { .type = "F32", .without = "lm_head.weight" }, UNTIED, "lm_head.weight" },
        { { .type = "F32", .without = "model.embed_tokens.weight" }, UNTIED, "embed_tokens" },
        { { .type = "F32", .wrong = "model.layers.%.mlp.down_proj.weight" }, UNTIED, "(8, 12)" },
        { { .type = "F32", .wrong = "model.layers.%.self_attn.q_proj.weight", .flat = true }, UNTIED, "(8, 8)" },
        { { .type = "F32", .integer = "model.norm.weight" }, UNTIED, "I64; needs F32, F16 or BF16" },
        { { .type = "F32" }, LLAMA_CONFIG ",\"vocab_size\":22", "(22, 8)" },
        { { .type = "F32" }, LLAMA_CONFIG ",\"vocab_size\":200000000", "(200000000, 8)" },
        { { .type = "F32" }, LLAMA_CONFIG ",\"vocab_size\":0", "vocab_size" },
        { { .type = "F32" }, LLAMA_CONFIG ",\"vocab_size\":1152921504606846976", "vocab_size" },
        { { .type = "F32" }, LLAMA_CONFIG, "vocab_size" },
        { { .type = "F32" }, UNTIED ",\"hidden_act\":\"gelu\"", "gelu" },
        { { .type = "F32" }, UNTIED ",\"attention_bias\":true", "q_proj.bias" },
        { { .type = "F32" }, UNTIED ",\"mlp_bias\":true", "gate_proj.bias" },
    };
    for (int n = 0; n < COUNT(cases); n++) {
        save_llama(cases[n].config, &cases[n].made);
        expect_refusal(folder, cases[n].word);
    }
    save_llama("\"model_type\":\"gptj\",\"n_embd\":8,\"n_head\":2,\"n_layer\":2,\"rotary_dim\":4,\"n_positions\":16",
               &(made){ .type = "F32" });
    expect_refusal(folder, "llama or bloom");
}

TEST(folders_that_do_not_fit_are_refused)
{
    static const char up[] = "{\"weight_map\":{\"a\":\"../a.safetensors\"}}",
                      none[] = "{\"weight_map\":{\"a\":\"a.safetensors\"}}";
    save_llama(UNTIED, &(made){ .type = "F32" });
    assert_int_equal(truncate(in_folder("model.safetensors"), 4000), 0);
    expect_refusal(folder, "model.safetensors");
    empty_folder();
    save_config(UNTIED);
    expect_refusal(folder, "neither model.safetensors nor");
    save("model.safetensors.index.json", up, strlen(up));
    expect_refusal(folder, "beside it");
    save("model.safetensors.index.json", none, strlen(none));
    expect_refusal(folder, "a.safetensors");
    save("model.safetensors.index.json", "{}", 2);
    expect_refusal(folder, "weight_map");
}

TEST(cut_llama2c_files_are_refused)
{
    struct stat st;
    const char *path = save_bin(make_version0, true);
    assert_int_equal(stat(path, &st), 0);
    for (off_t size = st.st_size - 1; size > 0; size -= 997) {
        assert_int_equal(truncate(path, size), 0);
        expect_refusal(path, "model.bin");
    }
}

/* ---------------------------------------------------------------- perplexity */

static int32_t story[70]; /* token numbers at random */

typedef struct measured {
    zoo_model *zoo;
    model *m;
    eval e;
} measured;

static void measured_free(measured *r)
{
    eval_free(&r->e);
    model_free(r->m);
    zoo_free(r->zoo);
    *r = (measured){ 0 };
}

static pe_status plan(measured *r, const char *path, eval_ask *ask, pe_error *why)
{
    ask->path = path;
    measured_free(r);
    pe_status s = zoo_open(&r->zoo, path, &ask->options, why);
    if (s == PE_OK)
        s = model_load(&r->m, r->zoo, NULL, why);
    return s == PE_OK ? eval_plan(&r->e, ask, r->zoo, why) : s;
}

/* What was measured last: of a file, or of a llama2.c model where path is NULL. */
static measured run;

static void measure(eval_ask ask, const char *path)
{
    assert_ok(plan(&run, path ? path : save_bin(make_version0, true), &ask, &err));
    assert_ok(eval_measure(&run.e, run.m, NULL, NULL, &err));
    eval_judge(&run.e);
}

static eval_ask with_all_methods(eval_ask ask)
{
    for (int n = 0; n < extend_method_count; n++)
        ask.method[n] = &extend_methods[n];
    ask.methods = extend_method_count;
    return ask;
}

/* -log2 softmax(logits after token n)[the next] */
static double bits_at(const real *logits, const int32_t *token, int64_t n)
{
    double sum = 0;
    for (int v = 0; v < VOCAB; v++)
        sum += exp((double)logits[n * VOCAB + v]);
    return log2(sum) - (double)logits[n * VOCAB + token[n + 1]] / log(2);
}

/* Windows of 2 in 7 tokens: (0 1), (2 3), (4 5), each asked for 2 tokens. Their mean, from the logits, by hand. */
TEST(perplexity_is_the_mean_over_windows_that_start_anew)
{
    real logits[TOKENS * VOCAB];
    double sum = 0, last = 0;
    measure((eval_ask){ .token = text, .tokens = 7, .length = { 2 }, .lengths = 1, .method = { extend_find("none") },
                        .methods = 1 }, NULL);
    for (int64_t start = 0; start < 6; start += 2) {
        all_logits(run.m, logits, text + start, 2);
        sum += bits_at(logits, text + start, 0) + bits_at(logits, text + start, 1);
        last += bits_at(logits, text + start, 1);
    }
    const lab_test_line *l = eval_line(&run.e, 0, 0);
    assert_int_equal(l->windows, 3);
    assert_int_equal(l->asked_all, 6);
    assert_true(fabs(l->bits - sum / 6) < 1e-5); /* float logits of at most 10, and a mean */
    assert_true(fabs(l->last_quarter - last / 3) < 1e-5);
}

/* 70 tokens: one block of 64, four windows of 16, eight of 8; all are asked for tokens 1 .. 64. */
TEST(methods_agree_up_to_the_trained_length_and_differ_past_it)
{
    int differ = 0;
    measure(with_all_methods((eval_ask){ .token = story, .tokens = 70, .length = { 64, 8, 16, 4096 }, .lengths = 4 }),
            NULL);
    assert_int_equal(run.e.ask.length[0], 8);
    assert_int_equal(run.e.longest, 64);
    for (int m = 0; m < run.e.ask.methods; m++) {
        for (int n = 0; n < 2; n++) {
            assert_true(run.e.cell[m][n].idle);
            assert_true(eval_line(&run.e, m, n)->bits == eval_line(&run.e, 0, n)->bits);
        }
        const lab_test_line *l = eval_line(&run.e, m, 2);
        differ += !*l->cannot && l->bits != eval_line(&run.e, 0, 2)->bits;
        assert_non_null(strstr(eval_line(&run.e, m, 3)->cannot, "70 tokens"));
    }
    assert_true(differ >= 5);
    for (int n = 0; n < 3; n++)
        assert_int_equal(eval_line(&run.e, 0, n)->asked_all, 64);
    assert_null(run.e.choice[1].method); /* nothing to recommend within the trained length */
    const eval_choice *c = &run.e.choice[2];
    assert_true(c->method && c->whole.place >= 1 && c->whole.of >= 6 && c->whole.ratio >= 1);
    assert_true((c->whole.place == 1) == (c->whole.best == c->method));
}

TEST(every_window_has_a_last_quarter)
{
    for (int length = 1; length < 50; length++) {
        int count = 0;
        for (int at = 0; at < length; at++)
            count += lab_in_last_quarter(at, length);
        assert_int_equal(count, (int)ceil(length / 4.0));
        assert_true(lab_in_last_quarter(length - 1, length));
    }
}

/* Lengths 8 and 12 share blocks of 24; 1,000 does not fit, so that it counts for nothing. */
TEST(lengths_are_asked_for_the_same_tokens)
{
    static const struct {
        int64_t second, most, windows; /* beside 8; at most so many tokens, windows */
        int64_t asked[2];
        bool same;
    } cases[] = {
        { 12, 0, 0, { 48, 48 }, true }, { 12, 40, 0, { 24, 24 }, true },  { 12, 40, 1, { 8, 12 }, false },
        { 12, 40, 5, { 48, 48 }, true }, { 1000, 40, 0, { 40, 0 }, true },
    };
    for (int i = 0; i < COUNT(cases); i++) {
        measure((eval_ask){ .token = story, .tokens = 70, .length = { 8, cases[i].second }, .lengths = 2,
                            .method = { extend_find("none") }, .methods = 1, .most = cases[i].most,
                            .windows = cases[i].windows }, NULL);
        for (int n = 0; n < 2; n++)
            assert_int_equal(eval_line(&run.e, 0, n)->asked_all, cases[i].asked[n]);
        assert_int_equal(eval_same_tokens(&run.e), cases[i].same);
    }
}

/* The method none is the model as its files have it. */
TEST(none_is_the_plain_model)
{
    real loss[32];
    int64_t at[32];
    double sum = 0;
    model *m;
    measure(with_all_methods((eval_ask){ .token = story, .tokens = 33, .length = { 32 }, .lengths = 1 }), NULL);
    assert_ok(load(&m, in_folder("model.bin"), &(zoo_options){ 0 }, &err));
    for (int n = 0; n < 32; n++)
        at[n] = n;
    model_batch b = { story, story + 1, pe_positions_of(at, PE_I64, 1, 32, 1), 1, 32 };
    assert_ok(model_losses(m, &b, loss, NULL, &err));
    for (int n = 0; n < 32; n++)
        sum += (double)loss[n];
    assert_true(eval_line(&run.e, 0, 0)->bits == sum / 32 / log(2));
    model_free(m);
}

static bool stop_after_one(void *with, const eval *e, int method, int length, double part)
{
    (void)e, (void)method, (void)length;
    assert_true(part > 0 && part <= 1 + 1e-9);
    return ++*(int *)with < 2;
}

TEST(stopped_it_keeps_what_is_whole)
{
    int calls = 0;
    eval_ask ask = with_all_methods((eval_ask){ .token = story, .tokens = 65, .length = { 32 }, .lengths = 1 });
    assert_ok(plan(&run, save_bin(make_version0, true), &ask, &err));
    assert_ok(eval_measure(&run.e, run.m, stop_after_one, &calls, &err));
    assert_int_equal(calls, 2);
    assert_int_equal(run.e.results.tests, 1);
}

/* BLOOM past its length: there is nothing to set, so that every method leaves it as it is. */
TEST(a_model_without_a_rotation_is_measured_as_it_is)
{
    eval_ask ask = { .options = { .trained = 8 }, .token = story, .tokens = 33, .length = { 8, 32 }, .lengths = 2 };
    save_bloom(NULL);
    measure(with_all_methods(ask), folder);
    for (int n = 0; n < 2; n++)
        assert_true(isfinite(eval_line(&run.e, 0, n)->bits) && !*eval_line(&run.e, 0, n)->cannot);
    assert_null(run.e.choice[1].method);
}

/* ---------------------------------------------------------------- token numbers from a file */

static pe_status read_numbers(int32_t **token, int64_t *count, const char *path, int64_t vocab, pe_error *why)
{
    io_bytes npy;
    assert_ok(io_read_file(&npy, path, IO_CAP_DATA, &err));
    pe_status s = eval_token_file(token, count, &npy, vocab, why);
    io_bytes_free(&npy);
    return s;
}

TEST(token_files_are_held_to_the_vocabulary)
{
    int64_t numbers[] = { 1, 2, 20, 0 };
    int32_t *token;
    int64_t count;
    io_array a = { .data = numbers, .type = IO_I64, .rank = 1, .shape = { 4 }, .count = 4 };
    const char *path = in_folder("tokens.npy");
    assert_ok(io_npy_save(path, &a, &err));
    assert_ok(read_numbers(&token, &count, path, VOCAB, &err));
    assert_true(count == 4 && token[2] == 20);
    free(token);
    assert_int_equal(read_numbers(&token, &count, path, 20, &err), PE_ERR_RANGE);
    assert_non_null(strstr(err.text, "token 2 is 20; the model has 0 to 19"));
    numbers[1] = -1;
    assert_ok(io_npy_save(path, &a, &err));
    assert_int_equal(read_numbers(&token, &count, path, VOCAB, &err), PE_ERR_RANGE);
    a.rank = 2;
    a.shape[0] = a.shape[1] = 2;
    assert_ok(io_npy_save(path, &a, &err));
    assert_int_equal(read_numbers(&token, &count, path, VOCAB, &err), PE_ERR_SHAPE);
}

/* ---------------------------------------------------------------- memory */

static pe_status load_and_measure(const char *path, eval_ask *ask)
{
    measured r = { 0 };
    pe_status s = plan(&r, path, ask, &err);
    if (s == PE_OK)
        s = eval_measure(&r.e, r.m, NULL, NULL, &err);
    assert_true(s == PE_OK || *err.text);
    measured_free(&r);
    return s;
}

static pe_status only_load(const char *path, eval_ask *ask)
{
    model *m;
    (void)ask;
    pe_status s = load(&m, path, &(zoo_options){ 0 }, &err);
    assert_true(s == PE_OK || *err.text);
    model_free(m);
    return s;
}

typedef pe_status job(const char *path, eval_ask *ask);

static void fail_each_allocation(job *work, const char *path, eval_ask *ask, bool strict)
{
    assert_int_equal(work(path, ask), PE_OK);
    size_t live = heap.live;
    long before = heap.made;
    assert_int_equal(work(path, ask), PE_OK);
    long count = heap.made - before;
    for (long n = 1; n <= count; n += count / 300 + 1) {
        heap.fail = n;
        pe_status s = work(path, ask);
        heap.fail = 0;
        assert_int_equal(heap.live, live);
        if (strict && s == PE_OK)
            fail_msg("allocation %ld of %ld failed unnoticed", n, count);
    }
}

/* Whichever allocation fails: loading ends with a sentence, and neither it nor the rest leaves anything behind. (A plan
 * that found no memory may say that its method does not apply.) */
TEST(memory_that_runs_out_is_an_error_and_leaves_nothing)
{
    eval_ask ask = { .token = story, .tokens = 20, .length = { 8, 18 }, .lengths = 2,
                     .method = { extend_find("none"), extend_find("yarn") }, .methods = 2 };
    const char *path = save_bin(make_version1, true);
    fail_each_allocation(only_load, path, &ask, true);
    fail_each_allocation(load_and_measure, path, &ask, false);
    save_llama(TIED, &(made){ .type = "BF16" });
    fail_each_allocation(only_load, folder, &ask, true);
    fail_each_allocation(load_and_measure, folder, &ask, false);
}

AROUND(before_all)
{
    uint64_t seed = 3;
    for (int n = 0; n < COUNT(story); n++)
        story[n] = (int32_t)test_range(&seed, 0, VOCAB - 1);
    snprintf(folder, sizeof folder, "/tmp/posenc-eval-XXXXXX");
    gemm_start();
    assert_non_null(mkdtemp(folder));
}

AROUND(after_all)
{
    measured_free(&run);
    empty_folder();
    rmdir(folder);
}

/* ---------------------------------------------------------------- what is said of a recommendation */

/* ntk is recommended, and none measured better by these factors. */
static bool is_called_far(double whole, double last)
{
    eval e = { .ask = { .length = { 1024 }, .lengths = 1, .methods = 2 } };
    char wanted[EVAL_SENTENCE];
    e.ask.method[0] = extend_find("none");
    e.ask.method[1] = e.choice[0].method = extend_find("ntk");
    for (int m = 0; m < 2; m++) {
        lab_test_line l = { .entry = m, .length = 1024, .bits = 2, .last_quarter = 3 };
        l.bits += m * log2(whole);
        l.last_quarter += m * log2(last);
        assert_ok(lab_keep_test(&e.results, &l, &err));
    }
    eval_judge(&e);
    eval_choice_sentence(wanted, &e, 0);
    assert_non_null(strstr(wanted, "extend recommends ntk at 1024: measured "));
    lab_results_free(&e.results);
    return strstr(wanted, "not near the best on this text") != NULL;
}

TEST(a_recommendation_far_from_the_best_is_called_so)
{
    static const struct {
        double whole, last;
        bool far;
    } cases[] = { { 0.9, 0.9, false }, { 1.09, 1.09, false }, { 1.11, 1, true },
                  { 1, 1.11, true },   { 0.5, 1.2, true },    { 2, 2, true } };
    for (int i = 0; i < COUNT(cases); i++)
        assert_int_equal(is_called_far(cases[i].whole, cases[i].last), cases[i].far);
}
