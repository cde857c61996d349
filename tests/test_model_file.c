/* SPDX-License-Identifier: MIT
 * labels: core; tier: quick; cost: 2 s; needs: lab wrap wrapio
 *
 * Models in one file: what is written is what is read, and what is no such file is refused; looking into a model; text
 * that it generates. */
#include "io/safetensors.h"
#include "lab/eval.h"
#include "model/file.h"

#include "io_test.h"

#include <math.h>

#define VOCAB 256
#define TOKENS 12

static const model_config small = { .vocab = VOCAB, .layers = 2, .width = 16, .heads = 2, .hidden = 16, .causal = true,
                                    .embed_scale = 4 };
static const io_model about = { .trained = 128, .steps = 7, .seed = 3, .data = "text: \"a book\"" };
static int32_t text[TOKENS];
static pe_error err;

static model *trained(const char *spec)
{
    model *m;
    expect(spec, model_new(&m, &small, spec, NULL, &err), PE_OK, &err);
    model_init(m, 5);
    for (int n = 0; n < TOKENS; n++)
        text[n] = (n * 31) % 97;
    return m;
}

static io_bytes saved(model *m, int bits)
{
    io_bytes file;
    expect("save", model_save(in_folder("m.safetensors"), m, &about, bits, &err), PE_OK, &err);
    expect("read", io_read_file(&file, path_text, IO_CAP_DATA, &err), PE_OK, &err);
    file.name = "file";
    return file;
}

static model *parsed(io_bytes file)
{
    model *m;
    expect("parse", model_parse(&m, NULL, &file, NULL, &err), PE_OK, &err);
    assert_null(file.data);
    return m;
}

static float row_step(const model *m, const model_tensor *t, int64_t row)
{
    float most = 0;
    for (int64_t n = 0; n < t->shape[1]; n++)
        most = fmaxf(most, fabsf(model_weights((model *)(uintptr_t)m)[t->offset + row * t->shape[1] + n]));
    return most / 127;
}

static void must_be_near(model *m, model *got)
{
    for (int i = 0; i < model_tensor_count(m); i++) {
        const model_tensor *t = model_tensor_at(m, i);
        bool rounded = t->rank == 2 && !t->position;
        for (int64_t n = 0; n < t->count; n++) {
            double off = fabs((double)model_weights(m)[t->offset + n] - (double)model_weights(got)[t->offset + n]);
            double most = rounded ? 0.5001 * (double)row_step(m, t, n / t->shape[1]) : 0; /* half a step, rounded */
            if (off > most)
                fail_msg("%s of %s: number %lld is off by %g", t->name, pe_encoding_spec(model_encoding(m)),
                         (long long)n, off);
        }
    }
}

/* ---------------------------------------------------------------- out and in */

TEST(what_every_encoding_trains_comes_back)
{
    int rows = 0;
    for (int i = 0; i < pe_info_count(); i++) {
        model *m;
        if (model_new(&m, &small, pe_info_at(i)->name, NULL, NULL)) /* more axes than a text has, or another width */
            continue;
        model_free(m);
        m = trained(pe_info_at(i)->name);
        model *exact_one = parsed(saved(m, 32)), *near_one = parsed(saved(m, 8));
        assert_memory_equal(model_weights(m), model_weights(exact_one), (size_t)model_count(m) * sizeof(real));
        assert_string_equal(pe_encoding_spec(model_encoding(m)), pe_encoding_spec(model_encoding(near_one)));
        assert_memory_equal(model_settings(m), model_settings(near_one), sizeof small);
        must_be_near(m, near_one);
        model_free(m);
        model_free(exact_one);
        model_free(near_one);
        rows++;
    }
    assert_true(rows > 15);
    assert_int_equal(heap.live, 0);
}

TEST(a_weight_takes_one_byte)
{
    model *m = trained("rope");
    io_bytes file = saved(m, 8), whole = saved(m, 32);
    assert_true(whole.size > (size_t)model_count(m) * 4);
    assert_true(file.size < whole.size / 2); /* names and scales are much of so small a model */
    io_bytes_free(&file);
    io_bytes_free(&whole);
    model_free(m);
}

TEST(its_header_says_how_it_was_trained)
{
    model *m = trained("alibi");
    io_bytes file = saved(m, 8);
    io_safetensors *st;
    io_model got;
    expect("parse", io_safetensors_parse(&st, &file, &err), PE_OK, &err);
    assert_true(io_is_model(st));
    expect("header", io_model_read(&got, st, "file", &err), PE_OK, &err);
    assert_string_equal(got.spec, "alibi");
    assert_string_equal(got.data, about.data);
    assert_true(got.trained == 128 && got.steps == 7 && got.seed == 3 && got.width == 16 && got.embed_scale == 4);
    io_safetensors_free(st);
    model_free(m);
}

TEST(zero_rows_stay_zero)
{
    model *m = trained("none");
    const model_tensor *t = model_tensor_find(m, "layer.1.out");
    memset(model_weights(m) + t->offset, 0, (size_t)t->shape[1] * sizeof(real));
    model *got = parsed(saved(m, 8));
    for (int64_t n = 0; n < t->shape[1]; n++)
        assert_true(model_weights(got)[t->offset + n] == 0);
    model_free(m);
    model_free(got);
}

TEST(a_model_that_cannot_be_read_again_is_not_written)
{
    model *m = trained("rope");
    model_weights(m)[3] = (real)NAN;
    expect("NaN", model_save(in_folder("m.safetensors"), m, &about, 8, &err), PE_ERR_RANGE, &err);
    model_weights(m)[3] = 0;
    expect("bits", model_save(path_text, m, &about, 4, &err), PE_ERR_RANGE, &err);
    model_free(m);
    model_config c = small;
    c.untied = true;
    expect("model", model_new(&m, &c, "rope", NULL, &err), PE_OK, &err);
    expect("untied", model_save(path_text, m, &about, 8, &err), PE_ERR_UNSUITED, &err);
    model_free(m);
}

/* ---------------------------------------------------------------- files that mean harm */

static void must_refuse(const char *claim, io_bytes file, const char *says)
{
    model *m;
    size_t size = file.size;
    size_t before = heap.peak = heap.live;
    if (model_parse(&m, NULL, &file, NULL, &err) == PE_OK)
        fail_msg("%s: was read", claim);
    if (!strstr(err.text, says))
        fail_msg("%s: \"%s\" does not say %s", claim, err.text, says);
    assert_null(m);
    assert_null(file.data);
    if (heap.peak - before > 4 * size + ((size_t)1 << 20))
        fail_msg("%s: %zu bytes of heap for a file of %zu", claim, heap.peak - before, size);
}

TEST(a_cut_file_and_a_changed_byte_are_refused)
{
    model *m = trained("t5:direction=causal");
    io_bytes file = saved(m, 8);
    for (size_t size = 0; size < file.size; size += size < 400 ? 7 : 1009)
        must_refuse("cut", exact(file.data, size), "file: ");
    for (size_t at = 0; at < file.size; at += at < 400 ? 7 : 509) {
        io_bytes changed = exact(file.data, file.size);
        changed.data[at] ^= 0x10;
        must_refuse("changed", changed, "file: ");
    }
    io_bytes_free(&file);
    model_free(m);
}

/* The same text, of the same length, elsewhere in the header; the seal is made good. */
static io_bytes altered(const io_bytes *file, const char *from, const char *to)
{
    io_bytes b = exact(file->data, file->size);
    size_t n = strlen(from);
    assert_int_equal(n, strlen(to));
    for (size_t at = 8; at + n <= b.size; at++)
        if (!memcmp(b.data + at, from, n)) {
            memcpy(b.data + at, to, n);
            assert_true(io_safetensors_seal(&b, NULL, 0));
            return b;
        }
    fail_msg("%s is not in the header", from);
    return b;
}

TEST(what_a_good_seal_hides_is_refused)
{
    static const char *const cases[][3] = {
        { "posenc model 1", "posenc model 2", "its format is \"posenc model 2\"" },
        { "\"vocab\":\"256\"", "\"vocab\":\"255\"", "embed has another shape" },
        { "\"vocab\":\"256\"", "\"vocab\":\"2.6\"", "vocab is 2.6; needs a whole number" },
        { "\"vocab\":\"256\"", "\"vokab\":\"256\"", "its metadata has no vocab" },
        { "\"width\":\"16\"", "\"width\":\"99\"", "less than its metadata says" },
        { "\"layers\":\"2\"", "\"layers\":\"9\"", "less than its metadata says" },
        { "\"layers\":\"2\"", "\"layers\":\"1\"", "has" },
        { "\"heads\":\"2\"", "\"heads\":\"0\"", "heads is 0; needs 1 to" },
        { "\"hidden\":\"16\"", "\"hidden\":\"17\"", "has another shape" },
        { "\"spec\":\"learned:rows=16\"", "\"spec\":\"learned:rows=17\"", "position.table has another shape" },
        { "\"spec\":\"learned:rows=16\"", "\"spec\":\"learned:rows=9k\"", "less than its metadata says" },
        { "\"spec\":\"learned:rows=16\"", "\"spec\":\"learned:rowz=16\"", "rowz" },
        { "\"layer.1.out\":{\"dtype\":\"I8\"", "\"layer.1.out\":{\"dtype\":\"U8\"", "layer.1.out is U8" },
        { "\"layer.1.out.scale\"", "\"layer.1.out.scald\"", "has no tensor layer.1.out.scale" },
        { "\"layer.1.norm1\"", "\"layer.1.norm9\"", "has no tensor layer.1.norm1" },
    };
    model *m = trained("learned:rows=16");
    io_bytes file = saved(m, 8);
    for (size_t n = 0; n < COUNT(cases); n++)
        must_refuse(cases[n][1], altered(&file, cases[n][0], cases[n][1]), cases[n][2]);
    io_bytes_free(&file);
    model_free(m);
}

TEST(numbers_that_are_not_finite_are_refused)
{
    static const uint8_t nan_bytes[4] = { 0, 0, 0xc0, 0x7f };
    model *m = trained("none");
    io_bytes file = saved(m, 8);
    io_safetensors *st;
    io_bytes copy = exact(file.data, file.size);
    expect("parse", io_safetensors_parse(&st, &copy, &err), PE_OK, &err);
    uint64_t at = io_safetensors_find(st, "layer.0.up.scale")->offset;
    io_safetensors_free(st);
    memcpy(file.data + at, nan_bytes, sizeof nan_bytes);
    assert_true(io_safetensors_seal(&file, NULL, 0));
    must_refuse("NaN", file, "a number of layer.0.up is not finite");
    model_free(m);
}

static io_bytes kept;

static pe_status read_kept(pe_error *why)
{
    model *m;
    io_bytes copy = exact(kept.data, kept.size);
    pe_status s = model_parse(&m, NULL, &copy, NULL, why);
    model_free(m);
    return s;
}

static pe_status write_kept(pe_error *why)
{
    static model *m;
    if (!m)
        m = trained("rope"); /* outlives the test, and its heap is not counted */
    return model_save(in_folder("m.safetensors"), m, &about, 8, why);
}

TEST(memory_that_runs_out_is_said)
{
    model *m = trained("learned:rows=16");
    kept = saved(m, 8);
    model_free(m);
    uint8_t *own = kept.data;
    size_t live = heap.live;
    faults_reset();
    any_failed_allocation_of(read_kept, "read");
    heap.live = live;
    io_bytes_free(&(io_bytes){ own, kept.size, "file" });
    expect("once", write_kept(&err), PE_OK, &err);
    faults_reset();
    any_failed_allocation_of(write_kept, "write");
    empty_folder();
}

/* ---------------------------------------------------------------- looking */

TEST(looking_changes_nothing_and_shows_attention)
{
    enum { LAYERS = 2, HEADS = 2, WIDTH = 16, WIDE = 48, MAP = TOKENS * HEADS * TOKENS };
    static real stream[(LAYERS + 1) * TOKENS * WIDTH], qkv[LAYERS * TOKENS * WIDE];
    static real scores[LAYERS * MAP], p[LAYERS * MAP];
    real plain[VOCAB], after[VOCAB];
    model *m = trained("rope");
    const real *embed = model_weights(m) + model_tensor_find(m, "embed")->offset;
    expect("plain", model_logits(m, plain, text, TOKENS, &err), PE_OK, &err);
    expect("look", model_look(m, &(model_inside){ stream, qkv, scores, p }, text, TOKENS, &err), PE_OK, &err);
    expect("after", model_logits(m, after, text, TOKENS, &err), PE_OK, &err);
    assert_memory_equal(plain, after, sizeof plain);
    for (int n = 0; n < TOKENS * WIDTH; n++) /* no code is added: what enters is the embedding */
        assert_true(stream[n] == embed[text[n / WIDTH] * WIDTH + n % WIDTH] * 4);
    for (int row = 0; row < LAYERS * TOKENS * HEADS; row++) {
        int query = row / HEADS % TOKENS;
        double sum = 0, all = 0;
        for (int k = 0; k <= query; k++)
            all += exp((double)scores[row * TOKENS + k]);
        for (int k = 0; k < TOKENS; k++) {
            double share = k <= query ? exp((double)scores[row * TOKENS + k]) / all : 0;
            assert_true(fabs((double)p[row * TOKENS + k] - share) < 1e-6); /* float32 */
            sum += (double)p[row * TOKENS + k];
        }
        assert_true(fabs(sum - 1) < 1e-6);
    }
    assert_true(memcmp(stream, stream + TOKENS * WIDTH, TOKENS * WIDTH * sizeof(real)) != 0);
    expect("other settings", model_use(m, "rope:scaling=ntk,alpha=4", &err), PE_OK, &err);
    expect("other", model_logits(m, after, text, TOKENS, &err), PE_OK, &err);
    assert_true(memcmp(plain, after, sizeof plain) != 0);
    model_free(m);
}

/* ---------------------------------------------------------------- text */

typedef struct heard {
    char text[200];
    size_t size;
} heard;

static void hear(void *with, const uint8_t *bytes, size_t size)
{
    heard *h = with;
    assert_true(h->size + size < sizeof h->text);
    memcpy(h->text + h->size, bytes, size);
    h->size += size;
}

static heard said(model *m, const eval_voice *voice)
{
    heard h = { 0 };
    tokens *t;
    expect("bytes", tokens_of_bytes(&t, &err), PE_OK, &err);
    expect("generate", eval_generate(m, t, voice, hear, &h, &err), PE_OK, &err);
    tokens_free(t);
    return h;
}

TEST(bytes_are_generated_after_the_prompt)
{
    model *m = trained("rope");
    heard a = said(m, &(eval_voice){ .prompt = "It is", .steps = 20 });
    heard b = said(m, &(eval_voice){ .prompt = "It is", .steps = 20, .seed = 9 });
    assert_int_equal(a.size, 25);
    assert_memory_equal(a.text, "It is", 5);
    assert_memory_equal(a.text, b.text, 25); /* the likeliest: nothing is drawn */
    heard c = said(m, &(eval_voice){ .prompt = "It is", .steps = 20, .temperature = 3, .seed = 9 });
    heard d = said(m, &(eval_voice){ .prompt = "It is", .steps = 20, .temperature = 3, .seed = 9 });
    heard e = said(m, &(eval_voice){ .prompt = "It is", .steps = 20, .temperature = 3, .seed = 10 });
    assert_memory_equal(c.text, d.text, 25);
    assert_true(memcmp(c.text, e.text, 25) != 0);
    heard none = said(m, &(eval_voice){ .prompt = "", .steps = 3 });
    assert_true(none.size == 4 && none.text[0] == '\n');
    model_free(m);
}

TEST(what_is_drawn_follows_the_probabilities)
{
    static const real logit[3] = { 0, (real)0.6931471805599453, -100 }; /* 1 : 2 : almost nothing */
    int count[3] = { 0 };
    for (int n = 0; n < 3000; n++)
        count[eval_choose(logit, 3, 1, (n + 0.5) / 3000)]++;
    assert_int_equal(count[0], 1000);
    assert_int_equal(count[1], 2000);
    assert_int_equal(eval_choose(logit, 3, 0, 0), 1);
    assert_int_equal(eval_choose(logit, 3, 1e-3, 0.999), 1);
    assert_int_equal(eval_choose((const real[]){ 0, (real)INFINITY, 0 }, 3, 1, 0.5), -1);
}
